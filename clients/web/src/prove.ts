// SPDX-License-Identifier: MIT
// How much of an episode this page has checked. Bytes are checked against their checksums whenever they are read; that
// they follow from the inputs is proven only by stepping the episode again, from its first key-frame to its end, with
// the server's own dynamics.
import { Episode, lastAt } from "./episode";
import { isSameGain, Kind, toldGain } from "./log/chunk";
import type { Contacts, Frame } from "./log/frames";
import { first, nth } from "./nth";
import type { Signing } from "./signing";
import { addContacts, emptySeries, Series } from "./series";
import { ProverClient } from "./store/client";
import { ENTRY_NAMES, Next, OWN } from "./store/dynamics";
import { Checked, ChunkRef, CONTACT_NUMBERS, GroupNumbers, Listing, Proven, Shown } from "./store/messages";
import { Choice, readSolvers, Solver, Trial } from "./store/trial";
import { count, el, num } from "./ui/dom";
import { releaseOf } from "./releases";
import type { Event } from "./ui/timeline";

const SHOWN_MAX = 600; // frames that are kept of what was stepped on the side
const STEPPED_KINDS: Kind[] = [Kind.KeyFrame, Kind.Inputs, Kind.Frames, Kind.Contacts, Kind.Gap];
const TOLD_MS = 400; // between two words about how far it is

type State = "none" | "running" | "paused" | "done";

/** What is stepped is told step by step from 0 on. */
interface Columns {
    entries: number[][];
    ms: number[];
    worst: string[];
    unconverged: number[];
    doubtful: boolean[];
    worstSubstep: number[];
    energy: number[]; // [J]
    applied: number[]; // [J] so far
}

const emptyColumns = (): Columns => ({
    entries: ENTRY_NAMES.map(() => [NaN]), ms: [NaN], worst: [""], unconverged: [0], doubtful: [false], worstSubstep: [-1], energy: [NaN], applied: [0],
});

/** Where the world on the side can begin. */
interface Beginning {
    keyframe: ChunkRef | null; // null: the call that began a group's episode
    place: number; // steps, or of a group calls on the range, that are behind
}

export interface PerStep {
    own: Float64Array;
    names: string[];
    entries: Float64Array[];
    ms: Float64Array;
    energy: Float64Array; // [J] behind the step
    applied: Float64Array; // [J] by wrenches, since the beginning
}

interface Stretch {
    step: number; // the worst of them
    firstStep: number;
    lastStep: number;
    value: number;
}

/** Of steps from 1 on, those in a row of which `is` says so. */
function stretches(last: number, is: (step: number) => boolean, value: (step: number) => number): Stretch[] {
    const found: Stretch[] = [];
    for (let step = 1; step <= last; step++) {
        const before = found[found.length - 1];
        if (!is(step)) {
            continue;
        }
        if (before !== undefined && before.lastStep === step - 1) {
            before.lastStep = step;
            if (value(step) > before.value) {
                before.step = step;
                before.value = value(step);
            }
        } else {
            found.push({ step, firstStep: step, lastStep: step, value: value(step) });
        }
    }
    return found;
}

const rangeText = ({ step, firstStep, lastStep }: Stretch) => (firstStep === lastStep ? `step ${step}` : `steps ${firstStep}–${lastStep}, worst ${step}`);

export class Prover {
    /** Steps that are not stored are stepped on the side when they are shown. */
    fillsIn: boolean;
    /** Why the episode cannot be stepped again here; "": it can. */
    readonly obstacle: string;
    /** Contacts of what was stepped in the chain and is not stored. */
    readonly series: Series = emptySeries();
    groupNumbers: GroupNumbers | null = null;
    private client: ProverClient | null = null;
    private checking: State = "none";
    private proving: State = "none";
    private checked = { done: 0, total: 0 };
    private damage: string[] = [];
    private isOpen = true;
    private provenTo = -1; // the last step behind which a hash was the same
    private steppedTo = 0;
    private difference = "";
    private faults = 0;
    private hadGap = false;
    private columns = emptyColumns();
    private took = 0;
    private next = 0; // of the chunks to be stepped, and then of those that the list of a group's episodes is compared by
    private listing: Listing | null | undefined; // undefined: nobody has asked
    private begins = true; // behind a gap a key-frame begins anew
    private isInside = false; // the inputs at hand go on
    private told = 0;
    // on the side
    private readonly shown = new Map<number, Shown>();
    private sideStep = -1; // -1: it stands nowhere
    private sidePlace = -1;
    private sideNext = 0; // index of the inputs to feed next
    private sideFed = false;
    private sideCompared = { from: 0, to: -1 }; // steps between which it has compared hashes
    private held: { step: number; substep: number; own: Choice } | null = null; // changes before that step are carried out
    private readonly unusable = new Set<number>(); // key-frames
    private sideDifference = "";
    private queue: Promise<unknown> = Promise.resolve();
    private worn: Promise<void> | null = null; // null: nobody has asked for its geometries
    private lacks: string[] = []; // of these
    /** Who vouches for the file; null: it is asked of nobody. */
    signing: Signing | null = null;

    constructor(private readonly dynamics: ArrayBuffer | null, version: number, private readonly episode: Episode, private readonly onChange: () => void) {
        const { dynamicsVersion } = episode.head.definition;
        this.obstacle = dynamics === null ? "this page was built without the dynamics"
            : BigInt(version) !== dynamicsVersion ? `it was made by version ${dynamicsVersion} of the dynamics, and this page has version ${version}${releaseOf(dynamicsVersion)}`
            : "";
        this.fillsIn = this.canProve && !episode.hasFrames;
    }

    get canProve(): boolean {
        return this.obstacle === "";
    }

    close(): void {
        this.isOpen = false;
        this.client?.close();
    }

    private get remote(): ProverClient {
        if (!this.isOpen) {
            throw new Error("something else is shown by now");
        }
        this.client ??= new ProverClient(this.dynamics as ArrayBuffer);
        return this.client;
    }

    // Its geometries come before whatever names them. What is missing or damaged may never be asked for.
    private wear(): Promise<void> {
        this.worn ??= (async () => {
            const { chunks, lacks } = await this.episode.client.call("geometries", this.episode.row.uid);
            this.lacks = lacks;
            for (const chunk of chunks) {
                const damage = await this.remote.call("geometry", chunk);
                if (damage !== null) {
                    this.lacks.push(`a geometry is damaged: ${damage}`);
                }
            }
            this.damage.push(...this.lacks);
        })();
        return this.worn;
    }

    private explain(difference: string): string {
        return / is not here/.test(difference) && this.lacks.length > 0 ? nth(this.lacks, 0) : difference;
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
        const known = this.shown.get(step);
        return known !== undefined || !this.isOpen ? known ?? null : await this.reach(step) ? this.shown.get(step) ?? null : null;
    }

    // Where it could begin on the way to a step, the nearest last. A key-frame knows no contacts: one in front of the
    // step is better.
    private beginnings(step: number): Beginning[] {
        const { group } = this.episode;
        const all = this.refs(Kind.KeyFrame).filter((ref) => !this.unusable.has(ref.id)).map((keyframe): Beginning => ({ keyframe, place: keyframe.firstStep }));
        if (group === null) {
            const before = all.filter(({ place }) => place < step);
            return before.length > 0 ? before : all.filter(({ place }) => place <= step);
        }
        // a world that was left out of some calls is behind a call in fewer steps
        const least = group.begunCall, most = least + Math.max(0, step - 1);
        const inside = all.filter(({ place }) => place <= most);
        return least > 0 ? [{ keyframe: null, place: least }, ...inside] : inside;
    }

    // A key-frame that is damaged is in nobody's way: the one before it serves.
    private async begin(step: number): Promise<boolean> {
        const client = this.remote, { group } = this.episode;
        await this.wear();
        if (group !== null && this.groupNumbers === null) {
            const definition = nth(this.refs(Kind.Definition), 0);
            this.groupNumbers = await client.call("sideGroup", await this.whole(definition), group);
            this.episode.substepTime = this.groupNumbers.timeStep;
        }
        const inputs = this.refs(Kind.Inputs);
        for (const { keyframe, place } of this.beginnings(step).reverse()) {
            try {
                this.sideStep = await client.call("sideBegin", keyframe === null ? null : await this.whole(keyframe));
            } catch (error) {
                this.unusable.add(keyframe?.id ?? -1);
                this.damage.push(`the key-frame from step ${place}: ${(error as Error).message}`);
                continue;
            }
            this.sidePlace = place;
            this.sideCompared = { from: this.sideStep, to: this.sideStep };
            this.sideNext = group === null ? inputs.findIndex((ref) => ref.sequence > (keyframe?.sequence ?? -1))
                : lastAt(inputs, keyframe === null ? place - 1 : place, (ref) => ref.firstStep);
            this.sideFed = false;
            return keyframe !== null || this.feed(); // with the call that begins it
        }
        this.sideStep = -1;
        return false;
    }

    // The world on the side stands behind that step; false: the inputs end before it.
    private async reach(step: number): Promise<boolean> {
        const nearest = this.beginnings(step).pop();
        if (this.sideStep < 0 || this.sideStep + (this.held === null ? 0 : 1) > step || (nearest !== undefined && nearest.place > this.sidePlace)) {
            this.held = null;
            if (!(await this.begin(step))) {
                return false;
            }
        }
        this.held = null;
        for (;;) {
            if (this.sideStep < step && !this.sideFed && !(await this.feed())) {
                return false;
            }
            const { at, place, compared, shown, difference } = await this.remote.call("sideTo", step);
            this.sideStep = at;
            this.sidePlace = place;
            this.sideCompared.to = compared;
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

    private async feed(): Promise<boolean> {
        const next = this.refs(Kind.Inputs)[this.sideNext++];
        this.sideFed = next !== undefined && this.sideNext > 0;
        if (next !== undefined && this.sideFed) {
            await this.remote.call("sideInputs", await this.whole(next));
        }
        return this.sideFed;
    }

    /** Of the dynamics that the page brought along. */
    async solvers(): Promise<Solver[]> {
        return this.canProve ? readSolvers(await this.remote.call("solvers")) : [];
    }

    /** Tries a step, or of a group one of its substeps, in each of these ways, after asking `choices` for them, which is told the recorded one; throws a sentence. */
    tryStep(step: number, substep: number, choices: (own: Choice) => Choice[], onTrial: (index: number, trial: Trial) => boolean): Promise<void> {
        const result = this.queue.then(async () => {
            const own = await this.hold(step, substep);
            const all = choices(own);
            for (let i = 0; i < all.length && this.isOpen; i++) {
                if (!onTrial(i, await this.remote.call("trial", nth(all, i)))) {
                    return;
                }
            }
        });
        this.queue = result.catch(() => {
            this.sideStep = -1;
            this.held = null;
        });
        return result;
    }

    private async hold(step: number, substep: number): Promise<Choice> {
        if (this.held?.step === step && this.held.substep === substep) {
            return this.held.own;
        }
        let isThere = await this.reach(step - 1);
        while (isThere) {
            const { next, own } = await this.remote.call("hold", substep);
            if (next === Next.Step) {
                this.held = { step, substep, own };
                return own;
            }
            isThere = await this.feed();
        }
        throw new Error(`no input that is there leads to step ${step}`);
    }

    // Of one that was stepped to it knows more than of one that began there.
    private keep(one: Shown): void {
        if (one.contacts === null && this.shown.has(one.frame.step)) {
            return;
        }
        this.shown.set(one.frame.step, one);
        while (this.shown.size > SHOWN_MAX) {
            this.shown.delete(this.shown.keys().next().value as number);
        }
    }

    private whole(ref: ChunkRef): Promise<ArrayBuffer> {
        return this.episode.client.call("whole", this.episode.row.uid, ref.id);
    }

    /** What is stored, else what stepping again gives. */
    async frameOf(step: number): Promise<Frame | null> {
        const { episode } = this;
        const stored = episode.hasFrames ? await episode.frameAt(step) : null;
        if (stored?.step === step || !this.fillsIn) {
            return stored;
        }
        const frame = (await this.stepTo(step))?.frame ?? null;
        if (frame !== null) {
            await episode.meetBefore(frame, async (first) => (await this.stepTo(first))?.frame ?? null);
        }
        return frame;
    }

    async contactsAt(step: number): Promise<Contacts | null> {
        return (await this.stepTo(step))?.contacts ?? null;
    }

    /** Which substep of a group's step left the largest residual, as far as that is known. */
    worstSubstep(step: number): number {
        return Math.max(0, this.columns.worstSubstep[step] ?? this.shown.get(step)?.worstSubstep ?? 0);
    }

    // ---- the whole chain

    /** Steps again as much as that takes no longer than this, and what was left the next time. */
    async prove(budgetMs = Infinity): Promise<void> {
        if (!this.canProve || this.proving === "running" || this.proving === "done") {
            return;
        }
        const begun = performance.now();
        if (this.proving === "none") {
            const missing = this.missing();
            if (missing > 0) {
                this.damage.push(`${missing} of its chunks are missing`);
            }
            this.provenTo = 0;
        }
        this.proving = "running";
        this.onChange();
        await this.wear();
        if (this.listing === undefined) {
            this.listing = this.episode.group === null ? null : await this.episode.client.call("listing", this.episode.row.uid);
        }
        const chunks = this.chain(), all = chunks.length + (this.listing?.chunks.length ?? 0);
        while (this.difference === "" && this.isOpen && (this.isInside || this.next < all)) {
            const at = performance.now(), waits = !this.isInside && this.next >= chunks.length && (this.listing?.isLong ?? false);
            if (at - begun > budgetMs || (waits && budgetMs < Infinity)) {
                this.proving = "paused";
                this.onChange();
                return;
            }
            await (this.isInside || this.next < chunks.length ? this.proveOn(chunks) : this.listOn(this.next++ - chunks.length));
            this.took += performance.now() - at;
            this.tell();
        }
        if (this.isOpen) {
            await this.endProof();
        }
    }

    // Definition and first scene stand behind what they are compared with.
    private chain(): ChunkRef[] {
        const definition = this.refs(Kind.Definition), scene = this.refs(Kind.Scene).filter((ref) => ref.firstStep === 0).slice(0, 1);
        if (this.episode.group !== null) {
            return [...definition, ...scene, ...this.refs(Kind.KeyFrame, Kind.Inputs)];
        }
        const stepped = this.refs(...STEPPED_KINDS), first = stepped.findIndex((ref) => ref.kind === Kind.KeyFrame);
        return first < 0 || nth(stepped, first).firstStep !== 0 ? stepped : [...stepped.slice(0, first + 1), ...definition, ...scene, ...stepped.slice(first + 1)];
    }

    // The list of a group's episodes, one to one with the calls on the range.
    private async listOn(index: number): Promise<void> {
        const { remote } = this, { firstWorld, worldRange, isWhole, chunks } = this.listing as Listing, ref = nth(chunks, index);
        const prove = async () => {
            const begun = index === 0 ? await remote.call("list", firstWorld, worldRange) : null;
            const found = begun ?? (await remote.call("listChunk", await this.whole(ref), ref.kind));
            return found ?? (index + 1 === chunks.length ? await remote.call("listEnd", isWhole) : null);
        };
        this.difference ||= (await prove().catch((error: Error) => error.message)) ?? "";
    }

    private tell(): void {
        if (performance.now() - this.told > TOLD_MS) {
            this.told = performance.now();
            this.onChange();
        }
    }

    // A chunk, or a part of one that takes long.
    private async proveOn(chunks: ChunkRef[]): Promise<void> {
        const ref = this.isInside ? null : nth(chunks, this.next++);
        const difference = await this.proveChunk(ref).catch((error: Error) => error.message);
        if (ref !== null) {
            this.begins = ref.kind === Kind.Gap || (this.begins && ref.kind !== Kind.KeyFrame && !(ref.kind === Kind.Definition && (this.episode.group?.begunCall ?? 0) > 0));
            this.hadGap ||= ref.kind === Kind.Gap;
        }
        this.difference ||= this.explain(difference ?? "");
    }

    private async endProof(): Promise<void> {
        const { group, row, lastStep } = this.episode;
        this.difference ||= (await this.remote.call("end")) ?? "";
        if (this.difference === "" && group !== null && this.steppedTo > lastStep) {
            this.difference = `its inputs lead to step ${this.steppedTo}, and its row says that it ended at ${lastStep}`;
        }
        if (this.difference === "" && this.steppedTo < lastStep) {
            this.difference = `the inputs end behind step ${this.steppedTo}, and the episode at ${lastStep}`;
        }
        const said = (what: string, found: number, expected: number | null) => {
            if (this.difference === "" && group !== null && expected !== null && found !== expected) {
                this.difference = `${found} of its ${what}, and its row says ${expected}`;
            }
        };
        said("substeps did not converge", this.unconverged, row.unconverged);
        said("steps are doubtful", this.doubtful, row.doubtfulSteps);
        const gain = this.difference === "" && group !== null && row.gain !== null ? await this.remote.call("gain") : null;
        if (gain !== null && row.gain !== null && !isSameGain(gain, row.gain)) {
            this.difference = `its steps gained other energy than its row says: ${num(toldGain(gain) ?? 0)} J, and not ${num(toldGain(row.gain) ?? 0)} J`;
        }
        this.proving = "done";
        this.onChange();
    }

    private get unconverged(): number {
        return this.columns.unconverged.reduce((sum, n) => sum + n, 0);
    }

    private get doubtful(): number {
        return this.columns.doubtful.filter(Boolean).length;
    }

    // Chunks are numbered; a group's stand in chains with those of other episodes.
    private missing(): number {
        const { chunks } = this.episode.head;
        return this.episode.group !== null ? 0 : Math.max(...chunks.map((c) => c.sequence)) + 1 - chunks.length;
    }

    // null: the inputs at hand go on.
    private async proveChunk(ref: ChunkRef | null): Promise<string | null> {
        const client = this.remote, { group, hasContacts, fall } = this.episode;
        if (ref === null || ref.kind === Kind.Inputs) {
            return this.take(await client.call("inputs", ref === null ? null : await this.whole(ref), hasContacts ? null : fall));
        }
        if (ref.kind === Kind.Gap) {
            return null;
        }
        const chunk = await this.whole(ref);
        if (ref.kind === Kind.Definition) {
            return (group === null ? null : await client.call("group", chunk, group)) ?? (await client.call("definition", chunk));
        }
        if (ref.kind === Kind.Scene) {
            return client.call("scene", chunk);
        }
        if (ref.kind === Kind.KeyFrame) {
            return client.call("keyframe", chunk, this.begins);
        }
        return client.call("store", ref.kind === Kind.Frames ? "frames" : "contacts", chunk);
    }

    private take(proven: Proven): string | null {
        const { columns } = this;
        proven.ms.forEach((ms, i) => {
            const step = proven.firstStep + 1 + i, [before, after, applied] = first(proven.energy.slice(3 * i, 3 * i + 3), 3);
            columns.entries.forEach((column, k) => (column[step] = nth(proven.entries, ENTRY_NAMES.length * i + k)));
            columns.ms[step] = ms;
            columns.worst[step] = nth(proven.worst, i);
            columns.unconverged[step] = nth(proven.unconverged, i);
            columns.doubtful[step] = nth(proven.doubtful, i);
            columns.worstSubstep[step] = nth(proven.worstSubstep, i);
            columns.energy[step - 1] ||= before;
            columns.energy[step] = after;
            columns.applied[step] = (columns.applied[step - 1] ?? 0) + applied;
            if (proven.contacts.length > 0) {
                addContacts(this.series, step, proven.contacts.slice(CONTACT_NUMBERS * i, CONTACT_NUMBERS * (i + 1)));
            }
        });
        this.isInside = proven.isMore;
        this.steppedTo = proven.firstStep + proven.ms.length;
        this.provenTo = Math.max(this.provenTo, proven.compared);
        this.faults += proven.faults;
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

    private against(step: number): string {
        return this.signing?.against(step) ?? " against the file itself";
    }

    stepText(step: number): string {
        const isStepped = this.shown.has(step) && this.fillsIn, isCompared = step >= this.sideCompared.from && step <= this.sideCompared.to;
        return (step <= this.provenTo && step > 0 ? `   proven${this.against(step)}`
            : !isStepped ? ""
            : isCompared ? "   stepped again by this page" : "   stepped again by this page, and not yet compared with a hash") +
            (this.columns.doubtful[step] ? "   doubtful" : "");
    }

    worstOf(first: number, last: number): { step: number; contact: string } | null {
        const own = nth(this.columns.entries, OWN);
        let step = -1;
        for (let i = Math.max(1, first); i <= Math.min(last, own.length - 1); i++) {
            const here = own[i]; // undefined: not stepped
            if (here !== undefined && (step < 0 || here > nth(own, step))) {
                step = i;
            }
        }
        return step < 0 ? null : { step, contact: this.columns.worst[step] ?? "" };
    }

    perStep(): PerStep | null {
        if (this.columns.ms.length < 2) {
            return null;
        }
        const entries = this.columns.entries.map((column) => Float64Array.from(column));
        const { energy, applied } = this.columns;
        return { own: nth(entries, OWN), names: ENTRY_NAMES, entries, ms: Float64Array.from(this.columns.ms), energy: Float64Array.from(energy), applied: Float64Array.from(applied) };
    }

    /** Of a group's episode, whose file tells how many they are and not which. */
    events(): Event[] {
        if (this.episode.group === null) {
            return [];
        }
        const { doubtful, unconverged, entries } = this.columns, last = this.steppedTo;
        const doubt = this.groupNumbers?.opinion?.doubt ?? NaN, own = nth(entries, OWN), ds = nth(entries, ENTRY_NAMES.indexOf("e_DS"));
        return [
            ...stretches(last, (step) => (unconverged[step] ?? 0) > 0, (step) => nth(own, step)).map((s): Event => ({
                ...s, kind: "unconverged", text: `did not converge: e_own ${num(s.value)} (${rangeText(s)}), stepped again by this page` })),
            ...stretches(last, (step) => doubtful[step] === true, (step) => nth(ds, step)).map((s): Event => ({
                ...s, kind: "doubtful", text: `doubtful: e_DS ${num(s.value)}${Number.isFinite(doubt) ? ` where ${num(doubt)} is trusted` : ""}${(unconverged[s.step] ?? 0) > 0 ? ", not converged" : ""} ` +
                    `(${rangeText(s)}), stepped again by this page` })),
        ];
    }

    timeline() {
        return { perStep: this.perStep()?.own ?? null, provenTo: this.provenTo, differsAt: this.difference === "" ? -1 : this.provenTo };
    }

    /** Who says how doubtful the episode is, and what of it was counted again. */
    doubtText(): string {
        const { doubtfulSteps, opinions } = this.episode.row;
        const counted = this.proving !== "done" || this.difference !== "" || doubtfulSteps === null ? "Nobody has counted doubtful steps again here."
            : `The ${count(this.doubtful)} doubtful steps were counted again by this page.`;
        return doubtfulSteps === null ? ""
            : `${counted} What was earned in them the client said${(opinions ?? 0) > 0 ? ", and second opinions the server gave when it was recorded" : ""}: read from the file, not recomputed.`;
    }

    showBadge(badge: HTMLElement): void {
        const hasDamage = this.damage.length > 0 || this.episode.damage.length > 0;
        badge.hidden = false;
        badge.classList.toggle("good", this.isProven && this.signing?.isWanting !== true);
        badge.textContent = this.difference !== "" ? `difference behind step ${this.provenTo}` : this.isProven ? `proven${this.against(this.episode.lastStep)}`
            : this.proving === "running" ? `proving: step ${count(this.provenTo)} of ${count(this.episode.lastStep)}`
            : this.proving === "paused" ? `proven to step ${count(this.provenTo)}${this.against(this.provenTo)}`
            : hasDamage ? "damaged; not proven" : "not proven";
        badge.title = this.isProven ? "Every step was taken again in this page, and every hash, frame, contact and key-frame is the same. Against the file that is: who signed that, the page of the episode says."
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
        const speed = `${num(this.took / 1000, 3)} s, ${count(Math.round((1000 * this.steppedTo) / Math.max(1, this.took)))} steps a second`;
        return this.proving === "none" ? "Not proven: nobody has stepped it again here."
            : this.proving === "running" ? `Stepping again: ${count(this.provenTo)} of ${count(this.episode.lastStep)} steps…`
            : this.proving === "paused" && this.next >= this.chain().length ? `Proven${this.against(this.provenTo)} up to its last step, ${count(this.provenTo)}; the list of the group's episodes, to be compared with its calls, is long, and waits.`
            : this.proving === "paused" ? `Proven${this.against(this.provenTo)} up to step ${count(this.provenTo)} of ${count(this.episode.lastStep)}; the rest is long, and waits.`
            : this.difference !== "" ? `Difference: up to step ${count(this.provenTo)} every hash is the same; then ${this.difference}.`
            : `${this.isProven ? `Proven${this.against(this.episode.lastStep)}` : "Not proven as a whole, as parts are missing or damaged"}: ${count(this.steppedTo)} steps were taken again in this page (${speed}), and every hash, frame, contact and ` +
              `key-frame that is stored is the same${this.faults > 0 ? ", with the step that failed" : ""}.`;
    }

    panel(): Node {
        const fill = el("input", { type: "checkbox", id: "fills-in", checked: this.fillsIn, onchange: (event: globalThis.Event) => {
            this.fillsIn = (event.target as HTMLInputElement).checked;
            this.onChange();
        } });
        return el("div", { id: "proof" },
            el("p", { class: "note" }, this.proofText(), " ", this.canProve && (this.proving === "none" || this.proving === "paused") ? el("button", { id: "prove", onclick: () => void this.prove() }, this.proving === "none" ? "prove" : "prove the rest") : null),
            this.doubtText() === "" ? null : el("p", { class: "note", id: "doubt" }, this.doubtText()),
            el("p", { class: "note" }, this.checkText(), " ", this.checking === "running" ? null : el("button", { id: "check", onclick: () => void this.check() }, "check every chunk")),
            this.canProve ? el("p", { class: "note" }, el("label", {}, fill, " step again what was not stored: frames between strides, contacts")) : null,
            this.sideDifference === "" ? null : el("p", { class: "damage" }, `Stepping to this step: ${this.sideDifference}.`),
            this.damage.length > 0 ? el("ul", { class: "damage" }, ...this.damage.slice(0, 50).map((d) => el("li", {}, d))) : null);
    }
}
