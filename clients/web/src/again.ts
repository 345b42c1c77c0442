// SPDX-License-Identifier: MIT
// "Solve this step again": the step that is shown, taken by other solvers or with other parameters from the same state,
// side by side.
import type { Episode } from "./episode";
import { contactKey } from "./measures";
import { nth } from "./nth";
import type { Prover } from "./prove";
import { ENTRY_NAMES } from "./store/dynamics";
import { Choice, ParameterKind, Parameter, Solver, Trial } from "./store/trial";
import { el, num } from "./ui/dom";
import { Plots, sample } from "./ui/plots";
import { keepFocus, rows as reachable } from "./ui/reach";
import { CURVE_HUES, Hue, styleOf, Theme } from "./view/palette";

const CONTACTS_SHOWN = 200;
const WAYS_MAX = CURVE_HUES.length; // the first is of the way that was recorded
const WAIT_MS = 250; // with every step: how long it rests there first
// a difference of this share of the step's largest impulse is shown in full colour
const DIFFERENCE_FULL = 0.1;

interface Way {
    choice: Choice;
    isOn: boolean;
    isOwn: boolean; // as the world had it
    trial: Trial | null;
}

export interface AgainPanel {
    episode: Episode;
    prover: Prover;
    step: number;
    contact: string; // name of the one that is picked
    theme: Theme;
}

export class Again {
    onPick: (key: string) => void = () => undefined;
    private panel: AgainPanel | null = null;
    private solvers: Solver[] = [];
    private ways: Way[] = [];
    private ownOf = ""; // the world's choice that the ways were laid out for
    private solvedStep = -1;
    private substep = -1; // of a group's step, from 0; -1: the worst
    private solvedIn: Episode | null = null;
    private token = 0;
    private timer = 0;
    private failure = "";
    private isRunning = false;
    private readonly head = el("p", {});
    private readonly waysPlace = el("div", { class: "ways" });
    private readonly results = el("div", { class: "scroll" });
    private readonly plotPlace = el("div", {});
    private readonly contactsPlace = el("div", { class: "scroll" });
    private readonly plots = new Plots(this.plotPlace);
    private readonly always = el("input", { type: "checkbox", id: "again-always", onchange: () => this.due() });

    constructor(place: HTMLElement) {
        place.append(this.head, this.waysPlace, this.results, this.plotPlace, this.contactsPlace);
    }

    show(panel: AgainPanel): void {
        const isNew = this.panel === null || panel.episode !== this.panel.episode || panel.step !== this.panel.step;
        const isFirst = this.panel?.episode !== panel.episode;
        this.panel = panel;
        if (isFirst) {
            this.ownOf = "";
            this.solvedStep = -1;
        }
        this.substep = isNew ? -1 : this.substep;
        if (isNew && !this.isShown()) {
            this.token++; // what is on its way is of another step
            this.failure = "";
            clearTimeout(this.timer);
            this.timer = window.setTimeout(() => this.due(), isFirst ? 0 : WAIT_MS);
        }
        this.draw();
    }

    private isShown(): boolean {
        return this.panel !== null && this.solvedIn === this.panel.episode && this.solvedStep === this.panel.step;
    }

    // The first step that is looked at here is solved without being asked for.
    private due(): void {
        if (!this.isShown() && (this.solvedStep < 0 || this.always.checked)) {
            void this.solve();
        }
    }

    private async solve(): Promise<void> {
        const panel = this.panel;
        if (panel === null || !panel.prover.canProve || panel.step === 0) {
            return;
        }
        const token = ++this.token;
        this.isRunning = true;
        this.failure = "";
        let running: Way[] = [];
        this.draw();
        try {
            this.solvers = this.solvers.length > 0 ? this.solvers : await panel.prover.solvers();
            await panel.prover.tryStep(panel.step, this.substepOf(panel), (own) => {
                this.layOut(own);
                this.ways.forEach((way) => (way.trial = null));
                running = token === this.token ? this.ways.filter((way) => way.isOn) : [];
                return running.map((way) => way.choice);
            }, (index, trial) => {
                if (token !== this.token) {
                    return false;
                }
                nth(running, index).trial = trial;
                this.solvedStep = panel.step;
                this.solvedIn = panel.episode;
                this.draw();
                return true;
            });
        } catch (error) {
            this.failure = token === this.token ? (error as Error).message : this.failure;
        }
        if (token === this.token) {
            this.isRunning = false;
            this.draw();
        }
    }

    // The way that was recorded, and the other solvers as they are by default. What somebody chose stays while the
    // world's own does.
    private layOut(own: Choice): void {
        const name = JSON.stringify(own);
        if (name === this.ownOf) {
            return;
        }
        this.ownOf = name;
        const standard = (index: number): Choice => ({ solver: index, parameters: own.parameters.map((_, k) => nth(this.solvers, index).parameters[k]?.standard ?? 0) });
        const others = this.solvers.map((_, index) => index).filter((index) => index !== own.solver).map(standard);
        this.ways = [own, ...others].map((choice, i) => ({ choice, isOn: true, isOwn: i === 0, trial: null }));
    }

    // ---- what is chosen

    private nameOf(way: Way): string {
        const name = nth(this.solvers, way.choice.solver).name, same = this.ways.filter((w) => w.choice.solver === way.choice.solver);
        return same.length > 1 ? `${name} ${same.indexOf(way) + 1}` : name;
    }

    private draw(): void {
        const panel = this.panel;
        if (panel === null) {
            return;
        }
        if (!panel.prover.canProve || panel.step === 0) {
            this.head.replaceChildren(panel.step === 0 ? "Nothing has been stepped at step 0: choose another one." : `No step can be solved again here: ${panel.prover.obstacle}.`);
            [this.waysPlace, this.results, this.plotPlace, this.contactsPlace].forEach((place) => (place.hidden = true));
            return;
        }
        [this.waysPlace, this.results, this.plotPlace, this.contactsPlace].forEach((place) => (place.hidden = false));
        const isDone = this.isShown();
        this.head.replaceChildren(`Step ${panel.step}, from the state behind step ${panel.step - 1}: `, this.substepField(panel),
            el("button", { id: "again-solve", disabled: this.isRunning, onclick: () => void this.solve() }, this.isRunning ? "solving…" : isDone ? "solve again" : "solve"), " ",
            el("label", {}, this.always, " with every step"), this.failure === "" ? "" : el("span", { class: "damage" }, ` ${this.failure}.`));
        if (this.waysPlace.contains(document.activeElement) && document.activeElement?.tagName !== "BUTTON") {
            // somebody is writing a number there
        } else {
            this.waysPlace.replaceChildren(...this.ways.map((way) => this.wayRow(way)));
        }
        const shown = isDone ? this.ways.filter((way) => way.trial !== null) : [];
        this.showResults(shown);
        this.showCurves(shown, panel.theme);
        this.showContacts(shown, panel);
    }

    private substepOf({ prover, step }: AgainPanel): number {
        return this.substep >= 0 ? this.substep : prover.worstSubstep(step);
    }

    // A step of a group has several solves: the one that went worst is tried, or another one.
    private substepField(panel: AgainPanel): HTMLElement | string {
        const substeps = panel.prover.groupNumbers?.substeps ?? 1, now = this.substepOf(panel);
        return substeps <= 1 ? "" : el("label", {}, "substep ", el("input", { type: "number", id: "again-substep", min: 1, max: substeps, value: now + 1, onchange: (event: globalThis.Event) => {
            const value = Number((event.target as HTMLInputElement).value);
            this.substep = Math.max(0, Math.min(substeps, Number.isInteger(value) ? value : 1) - 1);
            void this.solve();
        } }), ` of ${substeps} `);
    }

    private wayRow(way: Way): HTMLElement {
        const solver = nth(this.solvers, way.choice.solver);
        const turn = el("input", { type: "checkbox", checked: way.isOn, title: "is tried", onchange: (event: globalThis.Event) => {
            way.isOn = (event.target as HTMLInputElement).checked;
        } });
        const more = el("button", { title: "the same once more, to change its parameters", disabled: this.ways.length >= WAYS_MAX, onclick: () => {
            const copy: Way = { choice: { ...way.choice, parameters: [...way.choice.parameters] }, isOn: true, isOwn: false, trial: null };
            this.ways.splice(this.ways.indexOf(way) + 1, 0, copy);
            this.draw();
        } }, "+");
        const away = el("button", { title: "away", hidden: way.isOwn, onclick: () => {
            this.ways = this.ways.filter((w) => w !== way);
            this.draw();
        } }, "×");
        const parameters = solver.parameters.flatMap((parameter, k) => this.parameterField(way, parameter, k));
        return el("div", { "data-way": this.nameOf(way) }, turn,
            el("details", {}, el("summary", { title: solver.meaning }, this.nameOf(way), way.isOwn ? el("span", { class: "dim" }, " as recorded") : ""),
                el("div", { class: "parameters" }, ...parameters)), more, away);
    }

    private parameterField(way: Way, parameter: Parameter, k: number): HTMLElement[] {
        const value = way.choice.parameters[k];
        const set = (text: string) => {
            if (text.trim() !== "" && Number.isFinite(Number(text))) {
                way.choice.parameters[k] = Number(text);
            }
        };
        const onchange = (event: globalThis.Event) => set((event.target as HTMLInputElement).value);
        const names = parameter.kind === ParameterKind.Bool ? ["off", "on"] : parameter.choices;
        // what was recorded is what the others are compared with
        const field = names.length > 0
            ? el("select", { disabled: way.isOwn, onchange }, ...names.map((name, i) => el("option", { value: i, selected: i === value }, name)))
            : el("input", { value, disabled: way.isOwn, "data-parameter": parameter.name, onchange, inputmode: "decimal" });
        const tip = `${parameter.meaning}${parameter.unit === "" ? "" : ` [${parameter.unit}]`}; ${names.length > 0 ? "" : `${parameter.least} … ${parameter.most}, `}default ${names[parameter.standard] ?? parameter.standard}`;
        return [el("label", { title: tip, class: value === parameter.standard ? "" : "changed" }, parameter.name), field];
    }

    // ---- what became of it

    private headRow(ways: Way[], first: string): HTMLElement {
        return el("tr", {}, el("th", {}, first), ...ways.map((way) => el("th", { title: nth(this.solvers, way.choice.solver).meaning },
            sample(this.hueOf(way)), this.nameOf(way))));
    }

    private hueOf(way: Way): Hue {
        return nth(CURVE_HUES, this.ways.indexOf(way) % WAYS_MAX);
    }

    private showResults(ways: Way[]): void {
        const row = (name: string, tip: string, value: (trial: Trial) => string, isBad: (trial: Trial) => boolean = () => false) =>
            el("tr", { "data-result": name }, el("td", { title: tip }, name), ...ways.map(({ trial }) =>
                el("td", { class: trial !== null && trial.failure === "" && isBad(trial) ? "bad" : "" }, trial === null || trial.failure !== "" ? "–" : value(trial))));
        const failed = ways.filter((way) => way.trial !== null && way.trial.failure !== "");
        this.results.replaceChildren(...ways.length === 0 ? [] : [
            el("table", { class: "trials" }, el("thead", {}, this.headRow(ways, "")), el("tbody", {},
                row("converged", "whether it reached its tolerance", (t) => (t.isConverged ? "yes" : "no"), (t) => !t.isConverged),
                row("iterations", "of the island that took most", (t) => String(t.iterations)),
                row("time [ms]", "of the solver, in this page, the mean of up to 30", (t) => num(t.ms, 3)),
                ...ENTRY_NAMES.map((name, k) => row(name, "entry of the certificate", (t) => num(nth(t.entries, k), 2))),
                row("overlap [mm]", "the deepest after the step", (t) => num(t.penetration * 1000, 3)),
                row("recorded", "whether the state behind the step is the recorded one, or, of a group's substep, the one stepped to, bit by bit", (t) => (t.isRecorded ? "the same" : "another")))),
            ...failed.map((way) => el("p", { class: "damage" }, `${this.nameOf(way)}: ${way.trial?.failure}`)),
        ]);
    }

    // e_own by iteration. Iterations of different solvers are different things: it is the shapes that are compared.
    private showCurves(ways: Way[], theme: Theme): void {
        const curves = ways.filter((way) => (way.trial?.history.length ?? 0) > 0);
        this.plotPlace.hidden = curves.length === 0;
        if (curves.length === 0) {
            return;
        }
        const points = curves.map((way) => new Map((way.trial as Trial).history.map((value, i) => [(i + 1) * (way.trial as Trial).stride, value])));
        const steps = [...new Set(points.flatMap((of) => [...of.keys()]))].sort((a, b) => a - b);
        const tolerance = nth(ways, 0).trial?.tolerance ?? NaN;
        this.plots.show([{
            title: "Convergence", unit: "", log: true, steps, isJoined: true,
            note: "e_own after each iteration (a sweep, a factorisation, a Newton step, a pivot); of lcp what Lemke's algorithm still covers. A solver without a curve had nothing to iterate.",
            curves: [
                ...curves.map((way, c) => ({ label: this.nameOf(way), hue: this.hueOf(way), values: steps.map((i) => nth(points, c).get(i) ?? null).map((v) => (v !== null && v > 0 ? v : null)) })),
                { label: "tolerance", hue: "grey", values: steps.map(() => (tolerance > 0 ? tolerance : null)) },
            ],
        }], theme);
        this.plots.setStep(steps[steps.length - 1] ?? 0);
    }

    private showContacts(ways: Way[], panel: AgainPanel): void {
        const found = new Map<string, { name: string; of: ([number, number] | null)[] }>();
        let largest = 0;
        ways.forEach(({ trial }, w) => {
            const list = trial?.contacts ?? null;
            for (let i = 0; list !== null && i < list.count; i++) {
                const key = contactKey(list, i);
                const one = found.get(key) ?? { name: `${panel.episode.bodyName(nth(list.bodyA, i))} – ${panel.episode.bodyName(nth(list.bodyB, i))}`, of: ways.map(() => null) };
                one.of[w] = [nth(list.impulse, 3 * i), Math.hypot(nth(list.impulse, 3 * i + 1), nth(list.impulse, 3 * i + 2))];
                largest = Math.max(largest, nth(list.impulse, 3 * i));
                found.set(key, one);
            }
        });
        const most = (of: ([number, number] | null)[]) => Math.max(...of.map((pair) => pair?.[0] ?? 0));
        const rows = [...found.entries()].sort((a, b) => most(b[1].of) - most(a[1].of));
        const cell = (pair: [number, number] | null, first: [number, number] | null) => {
            const change = (pair?.[0] ?? 0) - (first?.[0] ?? 0), share = largest > 0 ? Math.min(1, Math.abs(change) / (DIFFERENCE_FULL * largest)) : 0;
            const isOther = share > 0.01, hue = change > 0 ? "amber" : "blue";
            return el("td", { style: isOther ? `background:color-mix(in srgb, ${styleOf(hue)} ${(45 * share).toFixed(0)}%, transparent)` : "", title: pair === null ? "no such contact" : `${change >= 0 ? "+" : ""}${num(change)} N s` },
                pair === null ? "–" : num(pair[0], 3) + (isOther ? (change > 0 ? " ▴" : " ▾") : ""), el("small", {}, pair === null ? "" : num(pair[1], 3)));
        };
        keepFocus(this.contactsPlace, () => this.contactsPlace.replaceChildren(...rows.length === 0 ? [] : [
            el("h3", {}, "Impulses", el("span", { class: "dim" }, " λn, and |λt| below it [N s]")),
            el("table", { class: "trials", id: "again-contacts" }, el("thead", {}, this.headRow(ways, "between")), el("tbody", {}, ...reachable(rows.slice(0, CONTACTS_SHOWN).map(([key, { name, of }]) =>
                el("tr", { class: key === panel.contact ? "selected" : "", "data-contact": key, onclick: () => this.onPick(key) }, el("td", { title: name }, name), ...of.map((pair) => cell(pair, nth(of, 0)))))))),
            el("p", { class: "note" }, `${rows.length > CONTACTS_SHOWN ? `The hardest ${CONTACTS_SHOWN} of ${rows.length}. ` : ""}▴ pushes harder than ${this.nameOf(nth(ways, 0))}, ▾ less. What other solvers push is only one of many answers where contacts are redundant.`),
        ]));
    }
}
