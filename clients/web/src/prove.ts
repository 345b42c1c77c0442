// SPDX-License-Identifier: MIT
// How much of an episode this page has checked. Bytes are checked against their checksums whenever they are read; that they follow from the
// inputs is proven only by stepping the episode again, from its first key-frame to its end, with the server's own dynamics.
import { Episode, lastAt } from "./episode";
import { Kind } from "./log/chunk";
import type { Contacts, Frame } from "./log/frames";
import { ProverClient } from "./store/client";
import { ENTRY_NAMES, Next, OWN } from "./store/dynamics";
import type { Checked, ChunkRef, Proven, Shown } from "./store/messages";
import { Choice, readSolvers, Solver, Trial } from "./store/trial";
import { count, el, num } from "./ui/dom";

const SHOWN_MAX = 600; // frames that are kept of what was stepped on the side
const STEPPED_KINDS: Kind[] = [Kind.KeyFrame, Kind.Inputs, Kind.Frames, Kind.Contacts, Kind.Gap];

type State = "none" | "running" | "done";

export class Prover {
    /** Steps that are not stored are stepped on the side when they are shown. */
    fillsIn: boolean;
    /** Why the episode cannot be stepped again here; "": it can. */
    readonly obstacle: string;
    private readonly client: ProverClient | null = null;
    private checking: State = "none";
    private proving: State = "none";
    private checked = { done: 0, total: 0 };
    private damage: string[] = [];
    private isOpen = true;
    private provenTo = -1;
    private difference = "";
    private faults = 0;
    private unconverged = 0;
    private hadGap = false;
    private readonly columns: number[][] = ENTRY_NAMES.map(() => [NaN]); // by step, from 0 on
    private readonly ms: number[] = [NaN];
    private readonly worst: string[] = [""];
    private begun = 0;
    private took = 0;
    // on the side
    private readonly shown = new Map<number, Shown>();
    private keyframeAt = -1; // id of the chunk that the world on the side began with
    private sideStep = -1;
    private sideNext = 0; // index of the inputs to feed next
    private sideFed = false;
    private isHeld = false; // changes before its next step are carried out
    private sideDifference = "";
    private queue: Promise<unknown> = Promise.resolve();

    constructor(dynamics: ArrayBuffer | null, version: number, private readonly episode: Episode, private readonly onChange: () => void) {
        const { dynamicsVersion } = episode.head.definition;
        this.obstacle = dynamics === null ? "this page was built without the dynamics"
            : BigInt(version) !== dynamicsVersion ? `it was made by version ${dynamicsVersion} of the dynamics, and this page has version ${version}`
            : "";
        if (this.obstacle === "") {
            this.client = new ProverClient(dynamics as ArrayBuffer);
        }
        this.fillsIn = this.canProve && !episode.hasFrames;
    }

    get canProve(): boolean {
        return this.client !== null;
    }

    close(): void {
        this.isOpen = false;
        this.client?.close();
    }

    // ---- single steps

    private refs(...kinds: Kind[]): ChunkRef[] {
        return this.episode.head.chunks.filter((c) => kinds.includes(c.kind)).sort((a, b) => a.sequence - b.sequence);
    }

    /** A step that is not stored; null: it is not to be had. */
    stepTo(step: number): Promise<Shown | null> {
        const known = this.shown.get(step);
        if (known !== undefined || !this.canProve) {
            return Promise.resolve(known ?? null);
        }
        const result = this.queue.then(() => this.walkTo(step)).catch((error: Error) => {
            this.sideDifference = error.message;
            this.sideStep = -1;
            return null;
        });
        this.queue = result;
        return result;
    }

    private async walkTo(step: number): Promise<Shown | null> {
        const client = this.client as ProverClient;
        const known = this.shown.get(step);
        return known !== undefined || !this.isOpen ? known ?? null : await this.reach(client, step) ? this.shown.get(step) ?? null : null;
    }

    // The world on the side stands behind that step; false: the inputs end before it.
    private async reach(client: ProverClient, step: number): Promise<boolean> {
        const { group } = this.episode;
        const keyframes = this.refs(group === null ? Kind.KeyFrame : Kind.Definition), key = keyframes[lastAt(keyframes, group === null ? step : Infinity, (r) => r.firstStep)];
        if (key === undefined) {
            return false;
        }
        if (this.sideStep < (group === null ? key.firstStep : 0) || this.sideStep + (this.isHeld ? 1 : 0) > step || this.keyframeAt < 0) {
            this.sideStep = await client.call("sideBegin", await this.whole(key), group);
            this.keyframeAt = key.id;
            this.sideNext = group === null ? this.refs(Kind.Inputs).findIndex((r) => r.sequence > key.sequence) : 0;
            this.sideFed = false;
            if (group !== null && !(await this.feed(client))) { // with the call that begins it
                return false;
            }
        }
        this.isHeld = false;
        for (;;) {
            if (this.sideStep < step && !this.sideFed && !(await this.feed(client))) {
                return false;
            }
            const { at, shown, difference } = await client.call("sideTo", step);
            this.sideStep = at;
            shown.forEach((one) => this.keep(one));
            if (difference !== null) {
                throw new Error(difference);
            }
            if (at >= step) {
                return true;
            }
            this.sideFed = false;
        }
    }

    private async feed(client: ProverClient): Promise<boolean> {
        const next = this.refs(Kind.Inputs)[this.sideNext++];
        this.sideFed = next !== undefined && this.sideNext > 0;
        if (this.sideFed) {
            await client.call("sideInputs", await this.whole(next));
        }
        return this.sideFed;
    }

    /** Of the dynamics that the page brought along. */
    async solvers(): Promise<Solver[]> {
        return this.client === null ? [] : readSolvers(await this.client.call("solvers"));
    }

    /** Tries a step in each of these ways, after asking `choices` for them, which is told the recorded one; throws a sentence. */
    tryStep(step: number, choices: (own: Choice) => Choice[], onTrial: (index: number, trial: Trial) => boolean): Promise<void> {
        const result = this.queue.then(async () => {
            const client = this.client as ProverClient;
            const own = await this.hold(client, step);
            const all = choices(own);
            for (let i = 0; i < all.length && this.isOpen; i++) {
                if (!onTrial(i, await client.call("trial", all[i]))) {
                    return;
                }
            }
        });
        this.queue = result.catch(() => {
            this.sideStep = -1;
        });
        return result;
    }

    private async hold(client: ProverClient, step: number): Promise<Choice> {
        let isThere = await this.reach(client, step - 1);
        while (isThere) {
            this.isHeld = true;
            const { next, own } = await client.call("hold");
            if (next === Next.Step) {
                return own;
            }
            isThere = await this.feed(client);
        }
        throw new Error(`no input that is there leads to step ${step}`);
    }

    private keep(one: Shown): void {
        this.shown.set(one.frame.step, one);
        while (this.shown.size > SHOWN_MAX) {
            this.shown.delete(this.shown.keys().next().value as number);
        }
    }

    private whole(ref: ChunkRef): Promise<ArrayBuffer> {
        return this.episode.client.call("whole", this.episode.row.uid, ref.id);
    }

    async frameAt(step: number): Promise<Frame | null> {
        return (await this.stepTo(step))?.frame ?? null;
    }

    async contactsAt(step: number): Promise<Contacts | null> {
        return (await this.stepTo(step))?.contacts ?? null;
    }

    // ---- the whole chain

    async prove(): Promise<void> {
        const client = this.client;
        if (client === null || this.proving !== "none") {
            return;
        }
        this.proving = "running";
        this.begun = performance.now();
        const missing = this.missing();
        if (missing > 0) {
            this.damage.push(`${missing} of its chunks are missing`);
        }
        this.provenTo = 0;
        let begins = true; // behind a gap a key-frame begins anew
        const { group } = this.episode;
        for (const ref of group === null ? this.refs(...STEPPED_KINDS) : [...this.refs(Kind.Definition), ...this.refs(Kind.Inputs)]) {
            if (!this.isOpen) {
                return;
            }
            const difference = await this.proveChunk(client, ref, begins).catch((error: Error) => error.message);
            begins = ref.kind === Kind.Gap || (begins && ref.kind !== Kind.KeyFrame);
            this.hadGap ||= ref.kind === Kind.Gap;
            if (difference !== null) {
                this.difference = difference;
                break;
            }
            this.onChange();
        }
        this.difference ||= (await client.call("end")) ?? "";
        if (this.difference === "" && this.provenTo < this.episode.lastStep) {
            this.difference = `the inputs end behind step ${this.provenTo}, and the episode at ${this.episode.lastStep}`;
        }
        const open = this.episode.row.unconverged;
        if (this.difference === "" && group !== null && open !== this.unconverged) {
            this.difference = `${this.unconverged} of its steps did not converge, and its row says ${open}`;
        }
        this.took = performance.now() - this.begun;
        this.proving = "done";
        this.onChange();
    }

    // Chunks are numbered; a group's stand in chains with those of other episodes.
    private missing(): number {
        const { chunks } = this.episode.head;
        return this.episode.group !== null ? 0 : Math.max(...chunks.map((c) => c.sequence)) + 1 - chunks.length;
    }

    private async proveChunk(client: ProverClient, ref: ChunkRef, begins: boolean): Promise<string | null> {
        if (ref.kind === Kind.Gap) {
            return null;
        }
        const chunk = await this.whole(ref);
        if (ref.kind === Kind.Definition && this.episode.group !== null) {
            return client.call("group", chunk, this.episode.group);
        }
        if (ref.kind === Kind.KeyFrame) {
            return client.call("keyframe", chunk, begins);
        }
        if (ref.kind === Kind.Inputs) {
            return this.take(await client.call("inputs", chunk));
        }
        return client.call("store", ref.kind === Kind.Frames ? "frames" : "contacts", chunk);
    }

    private take(proven: Proven): string | null {
        proven.converged.forEach((_, i) => {
            const step = proven.firstStep + 1 + i;
            this.columns.forEach((column, k) => (column[step] = proven.entries[ENTRY_NAMES.length * i + k]));
            this.ms[step] = proven.ms[i];
            this.worst[step] = proven.worst[i];
        });
        this.provenTo = proven.firstStep + proven.converged.length;
        this.faults += proven.faults;
        this.unconverged += proven.converged.filter((c) => !c).length;
        return proven.difference;
    }

    get isProven(): boolean {
        return this.proving === "done" && this.difference === "" && !this.hadGap && this.episode.damage.length === 0 && this.damage.length === 0;
    }

    // ---- every chunk's checksum

    private async check(): Promise<void> {
        this.checking = "running";
        this.damage = [];
        let next: number | null = 0;
        while (next !== null && this.isOpen) {
            const part: Checked = await this.episode.client.call("check", this.episode.row.uid, next);
            this.checked = part;
            this.damage.push(...part.damage);
            next = part.next;
            this.onChange();
        }
        const { seal } = this.episode.head;
        if (seal !== null && (seal.chains[0]?.chunkCount ?? 0) + 1 !== this.checked.total) {
            this.damage.push(`its seal counts ${seal.chains[0]?.chunkCount ?? 0} chunks before itself, and ${this.checked.total - 1} are there`);
        }
        this.checking = "done";
        this.onChange();
    }

    // ---- what is shown of it

    stepText(step: number): string {
        const isStored = this.shown.has(step) && this.fillsIn;
        return step <= this.provenTo && step > 0 ? "   proven" : isStored ? "   stepped again by this page" : "";
    }

    worstOf(first: number, last: number): { step: number; contact: string } | null {
        if (this.episode.group !== null) {
            return null;
        }
        const own = this.columns[OWN];
        let step = -1;
        for (let i = Math.max(1, first); i <= Math.min(last, own.length - 1); i++) {
            step = step < 0 || own[i] > own[step] ? i : step;
        }
        return step < 0 ? null : { step, contact: this.worst[step] };
    }

    perStep(): { own: Float64Array; names: string[]; entries: Float64Array[]; ms: Float64Array } | null {
        if (this.columns[OWN].length < 2 || this.episode.group !== null) { // nobody tells certificates of a group's steps
            return null;
        }
        const entries = this.columns.map((column) => Float64Array.from(column));
        return { own: entries[OWN], names: ENTRY_NAMES, entries, ms: Float64Array.from(this.ms) };
    }

    timeline() {
        return { perStep: this.perStep()?.own ?? null, provenTo: this.provenTo, differsAt: this.difference === "" ? -1 : this.provenTo };
    }

    showBadge(badge: HTMLElement): void {
        const hasDamage = this.damage.length > 0 || this.episode.damage.length > 0;
        badge.hidden = false;
        badge.classList.toggle("good", this.isProven);
        badge.textContent = this.difference !== "" ? `difference behind step ${this.provenTo}` : this.isProven ? "proven"
            : this.proving === "running" ? `proving: step ${count(this.provenTo)} of ${count(this.episode.lastStep)}`
            : hasDamage ? "damaged; not proven" : "not proven";
        badge.title = this.isProven ? "Every step was taken again in this page, and every hash, frame, contact and key-frame is the same."
            : "What is shown has passed its checksums; that it follows from the inputs is not proven.";
    }

    private checkText(): string {
        const { done, total } = this.checked;
        if (this.checking === "none") {
            return "What is shown has passed its checksums.";
        }
        if (this.checking === "running") {
            return `checking: ${done} of ${total} chunks…`;
        }
        return this.damage.length > 0 ? `${this.damage.length} of ${total} chunks are not as they were sealed.`
            : `All ${total} chunks are as they were sealed, each behind the one that it stood behind` + (this.episode.head.seal === null ? "; no seal says how many there were." : ".");
    }

    private proofText(): string {
        if (!this.canProve) {
            return `Not proven: ${this.obstacle}.`;
        }
        const speed = `${num(this.took / 1000, 3)} s, ${count(Math.round((1000 * this.provenTo) / Math.max(1, this.took)))} steps a second`;
        return this.proving === "none" ? "Not proven: nobody has stepped it again here."
            : this.proving === "running" ? `Stepping again: ${count(this.provenTo)} of ${count(this.episode.lastStep)} steps…`
            : this.difference !== "" ? `Difference: up to step ${count(this.provenTo)} every hash is the same; then ${this.difference}.`
            : `${this.isProven ? "Proven" : "Not proven as a whole, as parts are missing or damaged"}: ${count(this.provenTo)} steps were taken again in this page (${speed}), and every hash, frame, contact and ` +
              `key-frame that is stored is the same${this.faults > 0 ? ", with the step that failed" : ""}.`;
    }

    panel(): Node {
        const fill = el("input", { type: "checkbox", id: "fills-in", checked: this.fillsIn, onchange: (event: globalThis.Event) => {
            this.fillsIn = (event.target as HTMLInputElement).checked;
            this.onChange();
        } });
        return el("div", { id: "proof" },
            el("p", { class: "note" }, this.proofText(), " ", this.canProve && this.proving === "none" ? el("button", { id: "prove", onclick: () => void this.prove() }, "prove") : null),
            el("p", { class: "note" }, this.checkText(), " ", this.checking === "running" ? null : el("button", { id: "check", onclick: () => void this.check() }, "check every chunk")),
            this.canProve ? el("p", { class: "note" }, el("label", {}, fill, " step again what was not stored: frames between strides, contacts")) : null,
            this.sideDifference === "" ? null : el("p", { class: "damage" }, `Stepping to this step: ${this.sideDifference}.`),
            this.damage.length > 0 ? el("ul", { class: "damage" }, ...this.damage.slice(0, 50).map((d) => el("li", {}, d))) : null);
    }
}
