// SPDX-License-Identifier: MIT
// The page: one file, one or two episodes, one step that everything shows.
import { Vector3 } from "three";
import { Again } from "./again";
import { Beside, Source } from "./compare";
import { Episode } from "./episode";
import { Groups } from "./groups";
import { Moment, readLink, writeLink } from "./link";
import type { Contacts, Frame } from "./log/frames";
import { contactKey, judge, scaleOf } from "./measures";
import { nth } from "./nth";
import { plotsOf, showBodies, showEpisode } from "./panels";
import type { SealKey } from "./log/seal_key";
import { Prover } from "./prove";
import { emptySeries, Series, walk } from "./series";
import { Signing } from "./signing";
import type { Brought, Client } from "./store/client";
import type { Course, EpisodeRow, Opened } from "./store/messages";
import { $, bytes, count, el, num } from "./ui/dom";
import { Inspector } from "./ui/inspector";
import { Plots } from "./ui/plots";
import { Event, eventsOf, Timeline } from "./ui/timeline";
import { THEMES, Theme } from "./view/palette";
import { Picture, Stage } from "./view/stage";

export const SPEEDS = [0.01, 0.03, 0.1, 0.25, 0.5, 1, 2, 4, 10];
const BODIES_SEEN_TWICE = 3000; // at the end as well, to place the camera; frames of more are too much to read for that
const UNASKED_MS = 20_000; // of stepping a group's episode again, in a worker
const TABS = ["episode", "body", "contacts", "plots", "again", "group"];

const sourceOf = (episode: Episode, prover: Prover): Source => ({ episode, frameOf: (step) => prover.frameOf(step) });

export class App {
    opened: Opened | null = null;
    episode: Episode | null = null;
    beside: Beside | null = null;
    frame: Frame | null = null;
    contacts: Contacts | null = null;
    step = 0;
    selected = 0;
    contactName = "";
    readonly hidden = new Set<number>();
    playing = 0; // 1: forward, -1: backward
    speed = 1;
    course: Course | null = null;
    events: Event[] = [];
    private told: Event[] = []; // by the file
    prover: Prover | null = null;
    signing: Signing | null = null;
    private brought: Brought = { dynamics: null, version: 0 };
    private sealKey: SealKey | null = null; // whose signatures are wanted
    private others: Prover[] = []; // of the episode beside it, and that walk both
    private url = "";
    private filled = false;
    private openedAt = 0;
    private firstPicture = { ms: 0, bytes: 0 }; // how long it took, and how much was read for it
    private isReadWhole = false; // all that is read before anybody asks for more
    private isCompared = false;
    private series: Series = emptySeries();
    private tab = "episode";
    private token = 0; // of what was opened last; what comes for an older one is late
    private seekToken = 0;
    private theme: Theme = THEMES.light;
    private playedFrom = { step: 0, at: 0 };
    private linkTimer = 0;
    stage: Stage | null = null;
    onOpen: () => void = () => undefined;
    private readonly timeline = new Timeline($("timeline"), $("tip"));
    private readonly plots = new Plots($("tab-plots"));
    private readonly inspector = new Inspector($("tab-contacts"));
    private readonly again = new Again($("tab-again"));
    private readonly groups: Groups;

    constructor(readonly client: Client, private readonly bring: () => Promise<Brought>) {
        try {
            this.stage = new Stage($("view"));
            this.stage.onMove = () => this.keepLink();
        } catch (error) {
            // not in the overlay, whose words change with what is opened
            $("lacking").textContent = `There is no picture: this browser gives no WebGL (${(error as Error).message}). ` +
                "Turn hardware acceleration on in its settings, or open this page in another browser; Chromium without a graphics card " +
                "draws with --enable-unsafe-swiftshader, and chrome://gpu says what it lacks. Tables, plots and proofs work as they are.";
        }
        this.timeline.onSeek = this.plots.onSeek = (step) => void this.seek(step);
        this.timeline.onStrip = (first, last) => void this.seekWorst(first, last);
        this.inspector.onPick = (index) => this.pickContact(index);
        this.inspector.onSort = () => this.showInspector();
        this.groups = new Groups($("tab-group"), client);
        this.groups.onOpen = (row) => void this.choose(row, null);
        this.groups.onBeside = (row) => void this.chooseSecond(row.uid);
        this.again.onPick = (key) => this.pickNamed(key);
    }

    // ---- opening

    async open(what: File | string | ArrayBuffer, log: File | null, moment: Moment): Promise<void> {
        this.onOpen();
        const token = ++this.token;
        this.openedAt = performance.now();
        this.close();
        this.note([]);
        this.stage?.warm();
        this.url = typeof what === "string" ? what : "";
        $("file-name").textContent = "opening…";
        try {
            this.opened = await this.client.call("open", what, log);
        } catch (error) {
            this.opened = null;
            $("file-name").textContent = "";
            this.note([{ text: (error as Error).message, isError: true }]);
            return;
        }
        if (token !== this.token) {
            return;
        }
        const { name, size, notes, episodes, groups } = this.opened;
        $("file-name").textContent = $("file-name").title = `${name}, ${bytes(size)}`;
        this.note(notes.map((text) => ({ text, isError: false })));
        this.listEpisodes(this.opened);
        const wanted = await this.wanted(moment);
        if (wanted !== undefined) {
            // of a damaged file, the first that can be shown
            const others = moment.episode === "" ? episodes.slice(1) : [];
            for (let next: EpisodeRow | undefined = wanted; next !== undefined && !(await this.choose(next, moment)); next = others.shift()) {
                continue;
            }
        } else if (episodes.length + groups.length === 0) {
            this.note([...notes.map((text) => ({ text, isError: false })), { text: `${name} holds no episodes: nothing was recorded into it yet.`, isError: true }]);
        } else {
            this.note([{ text: `${name} has no episode ${moment.episode}; choose another.`, isError: true }]);
        }
    }

    // What a link says, or the newest.
    private async wanted(moment: Moment): Promise<EpisodeRow | undefined> {
        const { episodes, groups } = this.opened as Opened;
        if (moment.episode !== "") {
            return this.named(moment.episode);
        }
        return episodes[0] ?? (groups.length > 0 ? (await this.groups.show(nth(groups, 0).recording))[0] : undefined);
    }

    private async named(text: string): Promise<EpisodeRow | undefined> {
        return this.opened?.episodes.find((e) => e.name === text || e.uid.startsWith(text.toLowerCase())) ?? (await this.client.call("find", text)) ?? undefined;
    }

    /** The table of a group's episodes, and one of them. */
    async showGroup(recording: number): Promise<void> {
        const rows = await this.groups.show(recording, this.episode?.row.uid);
        if (rows.length > 0 && this.episode?.row.recording !== recording) {
            await this.choose(nth(rows, 0), null);
        }
        this.showTab("group");
    }

    /** No file is shown any more: something else has the page. */
    leave(): void {
        this.token++;
        this.close();
        this.note([]);
        this.opened = null;
        this.url = "";
        $("file-name").textContent = "";
        $("episodes").hidden = $("second").hidden = $("badge").hidden = true;
    }

    get colors(): Theme {
        return this.theme;
    }

    private close(): void {
        this.stop();
        this.isReadWhole = this.isCompared = false;
        this.prover?.close();
        this.signing?.close();
        this.prover = this.signing = null;
        this.endBeside();
        this.episode = this.beside = this.frame = this.contacts = this.course = null;
        this.events = this.told = [];
        this.hidden.clear();
        this.selected = 0;
        this.contactName = "";
        this.stage?.show(null, false);
    }

    private listEpisodes({ episodes, groups, hasMore }: Opened): void {
        const option = (row: EpisodeRow) => el("option", { value: row.uid },
            `${row.uid.slice(0, 8)} ${row.name || "–"} · ${row.content}, ${row.lastStep === null ? "open" : count(row.lastStep - row.firstStep) + " steps"}, ${row.solver}`);
        $("episodes").replaceChildren(...episodes.map(option), ...groups.map((group) => el("option", { value: `group:${group.recording}` },
            `${group.uid.slice(0, 8)} ${group.name || "–"} · ${count(group.episodes)} episodes of ${count(group.worlds)} worlds`)));
        $("second").replaceChildren(el("option", { value: "" }, "beside it: none"), ...episodes.map(option));
        if (hasMore) {
            $("episodes").append(el("option", { disabled: true }, "the newest recordings; a link with episode=ID opens any"));
        }
        const isEmpty = episodes.length + groups.length === 0;
        this.groups.take(groups);
        document.querySelector("[data-tab=group]")?.toggleAttribute("hidden", groups.length === 0);
        $("episodes").hidden = $("second").hidden = isEmpty;
        $("welcome").hidden = !isEmpty;
        $("main").hidden = isEmpty;
    }

    note(notes: { text: string; isError: boolean }[]): void {
        $("notes").replaceChildren(...notes.map(({ text, isError }) => {
            const line = el("p", { class: isError ? "error" : "", role: isError ? "alert" : "status" }, el("button", { title: "away", onclick: (): void => line.remove() }, "×"), text);
            return line;
        }));
    }

    addNote(text: string): void {
        const line = el("p", { class: "error", role: "alert" }, el("button", { title: "away", onclick: (): void => line.remove() }, "×"), text);
        $("notes").append(line);
    }

    row(uid: string): EpisodeRow | undefined {
        return this.opened?.episodes.find((e) => e.uid === uid);
    }

    /** False: it cannot be opened, and a note says why. */
    async choose(row: EpisodeRow, moment: Moment | null): Promise<boolean> {
        const token = ++this.token;
        this.close();
        $<HTMLSelectElement>("episodes").value = row.isOfGroup ? `group:${row.recording}` : row.uid;
        if (row.isOfGroup) {
            void this.groups.show(row.recording, row.uid);
        }
        $<HTMLSelectElement>("second").value = "";
        $("episodes").title = $<HTMLSelectElement>("episodes").selectedOptions[0]?.textContent ?? "";
        try {
            const [head, brought] = await Promise.all([this.client.call("episode", row.uid), this.bring()]);
            if (token !== this.token) {
                return true;
            }
            this.brought = brought;
            this.episode = new Episode(this.client, row, head);
        } catch (error) {
            this.addNote((error as Error).message);
            this.say("There is no picture of this episode.");
            return false;
        }
        const episode = this.episode;
        if (episode.head.scenes?.length === 0) {
            episode.damage.push("no scene is there that could be read: bodies are drawn without their shapes, as small balls");
        }
        episode.onDamage = () => this.showPanels();
        this.series = emptySeries();
        this.timeline.data = {
            lastStep: episode.lastStep, timeStep: episode.timeStep, tolerance: episode.tolerance, stretches: [], events: [], perStep: null, provenTo: -1, differsAt: -1,
        };
        $<HTMLInputElement>("step").max = String(episode.lastStep);
        this.prover = this.newProver(episode, () => this.onProof());
        this.newSigning();
        await this.first(moment, token);
        if (token === this.token) {
            this.filled = this.prover.fillsIn;
            await this.readOn(token, moment);
        }
        return true;
    }

    private newProver(episode: Episode, onChange: () => void = () => undefined): Prover {
        return new Prover(this.brought.dynamics, this.brought.version, episode, onChange);
    }

    private newSigning(): void {
        this.signing?.close();
        this.signing = new Signing(this.episode as Episode, this.sealKey, (key) => this.giveKey(key), () => $("file").click(), () => this.showPanels());
        (this.prover as Prover).signing = this.signing;
    }

    /** Signatures are compared with this key from now on. */
    giveKey(key: SealKey): void {
        this.sealKey = key;
        if (this.episode !== null) {
            this.newSigning();
            this.showTab("episode");
            void this.signing?.look();
        }
    }

    private endBeside(): void {
        this.others.forEach((prover) => prover.close());
        this.others = [];
    }

    // The first picture, before anything else is read.
    private async first(moment: Moment | null, token: number): Promise<void> {
        const episode = this.episode as Episode;
        this.selected = moment?.body ?? 0;
        this.contactName = moment?.contact ?? "";
        const begin = await (this.prover as Prover).frameOf(0);
        const isSmall = begin !== null && begin.ids.length <= BODIES_SEEN_TWICE;
        const end = episode.hasFrames && isSmall ? await episode.frameAt(episode.lastStep) : null;
        if (token !== this.token) {
            return;
        }
        if (begin !== null) {
            this.stage?.fit(episode, end === null ? [begin] : [begin, end]);
            this.stage?.home();
        }
        await this.seek(moment !== null && moment.step >= 0 ? moment.step : 0);
        if (moment !== null && moment.camera.length === 6) {
            this.stage?.place(moment.camera);
        }
        if (this.frame === null && !episode.hasFrames) {
            this.say(`This episode holds ${episode.group === null ? "inputs" : "calls"} and no frames, and cannot be stepped again here: ${this.prover?.obstacle || "it has no sound key-frame"}. ` +
                "Record with --record=frames or --record=contacts.");
        }
        this.showTab(moment?.tab && TABS.includes(moment.tab) ? moment.tab : this.tab);
        this.firstPicture = { ms: performance.now() - this.openedAt, bytes: await this.client.call("fetched") };
    }

    // Everything else, while the first picture is looked at.
    private async readOn(token: number, moment: Moment | null): Promise<void> {
        const episode = this.episode as Episode;
        if (!episode.hasScenes) {
            await episode.readScenes();
            if (token !== this.token) {
                return;
            }
            if (this.timeline.data !== null) {
                this.timeline.data.tolerance = episode.tolerance;
            }
            await this.seek(this.step);
            if (this.frame !== null) {
                this.stage?.fit(episode, [this.frame]);
            }
            this.draw(true);
        }
        const course: Course = { stretches: [], highlights: [], gaps: [], damage: episode.damage, next: 0 };
        while (course.next !== null) {
            const part = await this.client.call("course", episode.row.uid, course.next);
            if (token !== this.token) {
                return;
            }
            course.stretches.push(...part.stretches);
            course.highlights.push(...part.highlights);
            course.gaps.push(...part.gaps);
            course.damage.push(...part.damage);
            course.next = part.next;
        }
        this.course = course;
        this.told = eventsOf(course, (id) => episode.bodyName(id));
        this.placeEvents();
        if (this.timeline.data !== null) {
            this.timeline.data.stretches = course.stretches;
        }
        this.showPanels();
        if (moment?.with) {
            void this.chooseSecond(moment.with);
        }
        await walk(episode, this.series, null, () => {
            this.showPlots();
            return token === this.token;
        });
        this.isReadWhole = token === this.token;
        this.showPanels();
        if (this.sealKey !== null && token === this.token) {
            void this.signing?.look();
        }
        if (episode.group !== null && token === this.token) { // of its steps the file knows no certificates
            void this.prover?.prove(UNASKED_MS);
        }
    }

    async chooseSecond(uid: string): Promise<void> {
        const first = this.episode, token = this.token;
        this.endBeside();
        this.beside = null;
        this.isCompared = false;
        const row = uid === "" ? undefined : await this.named(uid);
        if (token !== this.token) {
            return;
        }
        if (first === null || row === undefined) {
            this.onBeside();
            return;
        }
        const second = $<HTMLSelectElement>("second");
        if (row.isOfGroup && ![...second.options].some((option) => option.value === row.uid)) {
            second.append(el("option", { value: row.uid }, `${row.name || row.uid.slice(0, 8)} · world ${row.worldIndex}, turn ${row.turn}`));
        }
        second.value = row.uid;
        try {
            const head = await this.client.call("episode", row.uid);
            if (token !== this.token) {
                return;
            }
            const second = new Episode(this.client, row, head);
            await second.readScenes();
            if (token !== this.token) {
                return;
            }
            const shown = this.newProver(second), walkers = [first, second].map((episode) => this.newProver(episode));
            this.others = [shown, ...walkers];
            if (!second.hasFrames && !shown.fillsIn) {
                this.addNote(`${row.name || row.uid.slice(0, 8)} holds no frames, so there is nothing of it to show beside this one: ${shown.obstacle}. Record with --record=frames.`);
            }
            const beside = new Beside(sourceOf(first, this.prover as Prover), sourceOf(second, shown));
            this.beside = beside;
            await this.seek(this.step);
            await beside.run(sourceOf(first, nth(walkers, 0)), sourceOf(second, nth(walkers, 1)), () => {
                this.onBeside();
                return this.beside === beside;
            });
            walkers.forEach((prover) => prover.close());
            this.isCompared = this.beside === beside;
        } catch (error) {
            this.addNote((error as Error).message);
        }
        this.onBeside();
    }

    // Of the file, of what was stepped again, and where the two episodes part.
    private placeEvents(): void {
        const { beside } = this, step = beside?.firstDivergent ?? -1;
        const parts = beside === null || step < 0 ? []
            : [{ step, firstStep: step, lastStep: step, kind: "divergence" as const, value: 0, text: `from ${beside.second.row.name} first at step ${step}, among the times at which both have a frame` }];
        this.events = [...this.told, ...this.prover?.events() ?? [], ...parts].sort((a, b) => a.step - b.step);
        if (this.timeline.data !== null) {
            this.timeline.data.events = this.events;
        }
    }

    private onBeside(): void {
        this.placeEvents();
        this.showPanels();
        this.draw(false);
    }

    // ---- the step

    async seek(step: number): Promise<void> {
        const episode = this.episode;
        if (episode === null) {
            return;
        }
        const token = ++this.seekToken;
        const prover = this.prover?.fillsIn ? this.prover : null;
        episode.shownStride = prover === null ? episode.stride : 1;
        this.step = episode.snap(step);
        const [frame, contacts] = await Promise.all([this.prover?.frameOf(this.step) ?? null, this.contactsOf(this.step)]);
        const beside = (await this.beside?.frameAt(frame?.step === this.step ? frame : null, this.step)) ?? null;
        if (token !== this.seekToken || episode !== this.episode) {
            return;
        }
        this.follow(frame);
        this.frame = frame !== null && frame.step === this.step ? frame : null;
        this.contacts = contacts !== null && contacts.step === this.step ? contacts : null;
        this.second = beside;
        this.draw(false);
        this.showStep();
        this.keepLink();
    }

    private second: Frame | null = null;

    private async contactsOf(step: number): Promise<Contacts | null> {
        const { contacts, hasContacts } = this.episode as Episode;
        const stored = hasContacts ? await contacts.at(step) : null;
        return stored?.step === step || !this.prover?.fillsIn || step === 0 ? stored : this.prover.contactsAt(step);
    }

    private follow(frame: Frame | null): void {
        const before = this.frame;
        if (!$<HTMLInputElement>("follow").checked || before === null || frame === null || this.selected === 0) {
            return;
        }
        const at = (f: Frame) => {
            const i = f.ids.indexOf(this.selected);
            return i < 0 ? null : new Vector3(f.pose[7 * i], f.pose[7 * i + 1], f.pose[7 * i + 2]);
        };
        const from = at(before), to = at(frame);
        if (from !== null && to !== null) {
            this.stage?.follow(from, to);
        }
    }

    contactIndex(): number {
        const list = this.contactName === "" ? null : this.contacts;
        for (let i = 0; list !== null && i < list.count; i++) {
            if (contactKey(list, i) === this.contactName) {
                return i;
            }
        }
        return -1;
    }

    private say(text: string): void {
        $("overlay").textContent = text;
    }

    draw(recolor: boolean): void {
        const { episode, frame } = this;
        if (episode === null) {
            return;
        }
        if (frame === null) {
            this.stage?.show(null, false);
            if (episode.hasFrames || this.prover?.fillsIn) {
                this.say(`Step ${this.step} has no frame that could be read: it is damaged or missing.`);
            }
            return;
        }
        this.say("");
        const second = this.beside !== null && this.second !== null ? { episode: this.beside.second, frame: this.second } : null;
        const picture: Picture = {
            episode, frame, contacts: this.contacts, second, selected: this.selected, contact: this.contactIndex(), hidden: this.hidden,
            showContacts: $<HTMLInputElement>("show-contacts").checked,
        };
        this.stage?.show(picture, recolor);
    }

    private showStep(): void {
        const episode = this.episode as Episode;
        const time = this.frame?.time ?? this.step * episode.timeStep;
        $<HTMLInputElement>("step").value = String(this.step);
        $("time").textContent = `${num(time, 5)} s`;
        const stretch = this.course?.stretches.find((s) => this.step > s.firstStep && this.step <= s.lastStep);
        $("stage-text").textContent = `step ${this.step} of ${episode.lastStep}   ${num(time, 5)} s   ${stretch?.solver ?? episode.row.solver}` +
            (this.contacts === null ? "" : `   ${this.contacts.count} contacts`) + (this.prover?.stepText(this.step) ?? "") + (episode.hasScenes ? "" : "   reading the shapes of bodies…");
        this.timeline.step = this.step;
        this.timeline.draw();
        this.plots.setStep(this.step);
        if (this.tab === "body") {
            this.showBodyPanel();
        } else if (this.tab === "contacts") {
            this.showInspector();
        } else if (this.tab === "again") {
            this.showAgain();
        }
    }

    /** To the step of the worst certificate among these, and its worst contact. */
    async seekWorst(first: number, last: number): Promise<void> {
        const worst = this.prover?.worstOf(first, last);
        if (worst !== undefined && worst !== null) {
            await this.seek(worst.step);
            this.contactName = worst.contact || this.contactName;
            this.pickWorstContact(0);
            return;
        }
        const inside = this.events.filter((e) => e.step >= first && e.step <= last);
        const open = inside.filter((e) => e.kind === "unconverged").sort((a, b) => b.value - a.value)[0];
        const event = open ?? inside.filter((e) => e.kind === "launch" || e.kind === "energy_gain" || e.kind === "impact")[0];
        if (event === undefined) {
            await this.seek(Math.min(last, this.episode?.lastStep ?? last));
            $("stage-text").textContent += "   (the file does not say which of these steps was the worst)";
            return;
        }
        await this.seek(event.step);
        const highlight = this.course?.highlights.find((h) => h.step === event.step && h.kind === 1);
        this.pickWorstContact(highlight?.body ?? 0);
    }

    /** The contact whose friction is furthest from what it should be, of a body where one is given. */
    private pickWorstContact(body: number): void {
        const list = this.contacts;
        if (list === null || list.count === 0) {
            return;
        }
        const scale = scaleOf(list, this.episode?.fall ?? 0);
        const worth = (i: number) => (body === 0 || list.bodyA[i] === body || list.bodyB[i] === body ? 1 + Math.abs(judge(list, i, scale).defect) : 0);
        let worst = 0;
        for (let i = 1; i < list.count; i++) {
            worst = worth(i) > worth(worst) ? i : worst;
        }
        this.pickContact(worst);
    }

    // ---- picking

    pickAt(x: number, y: number): void {
        const found = this.stage?.pick(x, y);
        if (found === undefined) {
            return;
        }
        if (found.contact >= 0) {
            this.pickContact(found.contact);
        } else {
            this.pickBody(found.body);
        }
    }

    pickBody(id: number): void {
        this.selected = id;
        if (id !== 0) {
            this.showTab("body");
        }
        this.draw(true);
        this.keepLink();
    }

    pickContact(index: number): void {
        const list = this.contacts;
        this.contactName = list !== null && index >= 0 && index < list.count ? contactKey(list, index) : "";
        this.showTab("contacts");
        this.draw(false);
        this.keepLink();
    }

    // One that may be there only under another solver.
    private pickNamed(key: string): void {
        this.contactName = key;
        this.showTab(this.contactIndex() >= 0 ? "contacts" : this.tab);
        this.draw(false);
        this.keepLink();
    }

    toggleHidden(id: number): void {
        if (!this.hidden.delete(id)) {
            this.hidden.add(id);
        }
        this.draw(true);
        this.showBodyPanel();
    }

    home(): void {
        if (this.episode !== null && this.frame !== null) {
            this.stage?.fit(this.episode, [this.frame]);
            this.stage?.home();
            this.draw(false);
        }
    }

    // ---- panels

    showTab(tab: string): void {
        this.tab = tab;
        for (const name of TABS) {
            $(`tab-${name}`).classList.toggle("shown", name === tab);
            document.querySelector(`[data-tab=${name}]`)?.setAttribute("aria-selected", String(name === tab));
            document.querySelector(`[data-tab=${name}]`)?.setAttribute("tabindex", name === tab ? "0" : "-1");
        }
        this.showPanels();
        this.keepLink();
    }

    showPanels(): void {
        if (this.episode === null) {
            return;
        }
        if (this.tab === "episode") {
            void this.showEpisodePanel();
        } else if (this.tab === "body") {
            this.showBodyPanel();
        } else if (this.tab === "contacts") {
            this.showInspector();
        } else if (this.tab === "again") {
            this.showAgain();
        } else if (this.tab === "plots") {
            this.showPlots();
        }
        this.prover?.showBadge($("badge"));
        this.timeline.draw();
    }

    private async showEpisodePanel(): Promise<void> {
        const episode = this.episode, fetched = await this.client.call("fetched");
        if (this.episode !== null && this.episode === episode) {
            showEpisode($("tab-episode"), {
                episode, course: this.course, events: this.events, fetched, onSeek: (step) => void this.seek(step), proof: el("div", {}, this.prover?.panel() ?? null, this.signing?.panel() ?? null),
            });
        }
    }

    private showBodyPanel(): void {
        if (this.episode !== null && this.frame !== null) {
            showBodies($("tab-body"), {
                episode: this.episode, frame: this.frame, selected: this.selected, hidden: this.hidden, onPick: (id) => this.pickBody(id), onHide: (id) => this.toggleHidden(id),
            });
        }
    }

    private showInspector(): void {
        const episode = this.episode;
        if (episode === null) {
            return;
        }
        if (this.contacts !== null) {
            this.inspector.show(episode, this.contacts, this.contactIndex(), this.theme);
        } else if (!episode.hasContacts && !this.prover?.fillsIn) {
            this.inspector.say(this.prover?.canProve ? "This recording stores no contacts: “step again what was not stored”, on the page of the episode, makes them." : "This recording stores no contacts. Record with --record=contacts.");
        } else {
            this.inspector.say(`Step ${this.step} has no contacts stored${this.step === 0 ? ": nothing has been stepped yet" : ", or they could not be read"}.`);
        }
    }

    private showAgain(): void {
        if (this.episode !== null && this.prover !== null) {
            this.again.show({ episode: this.episode, prover: this.prover, step: this.step, contact: this.contactName, theme: this.theme });
        }
    }

    private showPlots(): void {
        if (this.tab !== "plots" || this.episode === null) {
            return;
        }
        const beside = this.beside;
        const second = beside === null ? null : { name: beside.second.row.name, series: beside.series, steps: beside.steps, distance: beside.distance };
        this.plots.show(plotsOf({ episode: this.episode, series: this.series, course: this.course, second, perStep: this.prover?.perStep() ?? null, stepped: this.prover?.series ?? emptySeries() }), this.theme);
    }

    private onProof(): void {
        if (this.timeline.data !== null && this.prover !== null) {
            Object.assign(this.timeline.data, this.prover.timeline());
            this.placeEvents();
        }
        this.showPanels();
        if (this.prover !== null && this.prover.fillsIn !== this.filled) {
            this.filled = this.prover.fillsIn;
            void this.seek(this.step);
        }
    }

    // ---- playing

    play(direction: number): void {
        this.playing = this.playing === direction ? 0 : direction;
        const last = this.episode?.lastStep ?? 0;
        if (this.playing > 0 && this.step >= (this.episode?.snap(last) ?? 0)) {
            this.step = 0;
        }
        this.playedFrom = { step: this.step, at: performance.now() };
        this.showPlaying();
        if (this.playing !== 0) {
            requestAnimationFrame(() => void this.tick());
        }
    }

    stop(): void {
        this.playing = 0;
        this.showPlaying();
    }

    private showPlaying(): void {
        $("play").textContent = this.playing > 0 ? "❚❚" : "▶";
        $("reverse").textContent = this.playing < 0 ? "❚❚" : "◀";
    }

    setSpeed(speed: number): void {
        this.speed = speed;
        this.playedFrom = { step: this.step, at: performance.now() };
        $<HTMLSelectElement>("speed").value = String(speed);
    }

    private async tick(): Promise<void> {
        const episode = this.episode;
        if (this.playing === 0 || episode === null) {
            return;
        }
        const seconds = ((performance.now() - this.playedFrom.at) / 1000) * this.speed * this.playing;
        const wanted = this.playedFrom.step + seconds / episode.timeStep;
        const step = episode.snap(Math.floor(wanted / episode.shownStride) * episode.shownStride);
        if (step !== this.step) {
            await this.seek(step);
            episode.frames.prefetch(step, this.playing > 0);
            episode.contacts.prefetch(step, this.playing > 0);
        }
        if (wanted > episode.lastStep || wanted < 0) {
            this.stop();
            return;
        }
        requestAnimationFrame(() => void this.tick());
    }

    stepBy(steps: number): void {
        this.stop();
        void this.seek(this.step + steps * (this.episode?.shownStride ?? 1));
    }

    // ---- looks and links

    setTheme(name: "light" | "dark"): void {
        this.theme = THEMES[name];
        document.documentElement.dataset.theme = name;
        Object.entries(this.theme.hue).forEach(([hue, color]) => document.documentElement.style.setProperty(`--${hue}`, color));
        this.timeline.theme = this.theme;
        this.stage?.paint(this.theme);
        this.showPanels();
    }

    moment(): Moment {
        return {
            url: this.url, episode: this.episode?.row.uid ?? "", with: this.beside?.second.row.uid ?? "", step: this.step, body: this.selected, contact: this.contactName,
            camera: this.stage?.cameraNumbers() ?? [], tab: this.tab,
        };
    }

    // The address follows what is shown, though not with every frame.
    keepLink(): void {
        clearTimeout(this.linkTimer);
        this.linkTimer = window.setTimeout(() => {
            if (this.episode !== null) {
                history.replaceState(null, "", writeLink(this.moment()));
            }
        }, 300);
    }

    /** Somebody changed the address, or followed a link in the same page. */
    async go(hash: string): Promise<void> {
        const moment = readLink(hash);
        const row = this.opened !== null && moment.episode !== "" ? await this.named(moment.episode) : undefined;
        if (moment.url !== "" && moment.url !== this.url) {
            await this.open(moment.url, null, moment);
        } else if (row !== undefined) {
            await this.choose(row, moment);
        }
    }

    /** What scripts may wait for: nothing that a person does not see. */
    facts() {
        return {
            episode: this.episode?.row.uid ?? "", step: this.step, isShown: this.frame !== null && this.frame.step === this.step, isReadWhole: this.isReadWhole,
            firstPicture: this.firstPicture, isProven: this.prover?.isProven ?? false, signed: this.signing?.said ?? null, scriptMs: this.stage?.scriptMs, drawCalls: this.stage?.drawCalls, firstDivergent: this.beside?.firstDivergent ?? -1, isCompared: this.isCompared,
        };
    }

    screenOf(id: number): { x: number; y: number } | null {
        const i = this.frame?.ids.indexOf(id) ?? -1;
        return i < 0 || this.frame === null || this.stage === null ? null : this.stage.screenOf(this.frame.pose, 7 * i);
    }
}
