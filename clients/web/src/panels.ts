// SPDX-License-Identifier: MIT
// What stands beside the picture: what the episode is and what happened in it; its bodies.
import type { Episode } from "./episode";
import { addGain, Figures, Gain, toldGain } from "./log/chunk";
import type { Frame } from "./log/frames";
import { CONTENTS, STATES } from "./log/sealed";
import { nth } from "./nth";
import type { PerStep } from "./prove";
import type { Series } from "./series";
import { Course, doubtfulShare } from "./store/messages";
import { bytes, count, el, num } from "./ui/dom";
import { jointTable } from "./ui/joints";
import { keepFocus, rows as reachable } from "./ui/reach";
import { Event, lookOf } from "./ui/timeline";
import type { Plot } from "./ui/plots";
import { Hue, styleOf } from "./view/palette";

const EVENTS_SHOWN = 300, BODIES_SHOWN = 2000;

export function entries(pairs: [string, string | Node][]): HTMLDListElement {
    return el("dl", {}, ...pairs.flatMap(([k, v]) => [el("dt", {}, k), el("dd", { "data-fact": k }, v)]));
}

const when = (ns: bigint) => new Date(Number(ns / 1000000n)).toISOString().replace("T", " ").slice(0, 19) + " UTC";

// As the row says.
function doubts({ row }: Episode): [string, string][] {
    const share = doubtfulShare(row);
    return [
        ...(row.parent === null ? [] : [["began in", `recording ${row.parent.slice(0, 8)}, where ${count(row.parentStep)} of its steps are`] as [string, string]]),
        ...(row.doubtfulSteps === null ? [] : [
            ["doubtful", `${count(row.doubtfulSteps)} of ${count(row.length ?? 0)} steps`],
            ["return in them", row.returnDoubtful === null ? "–" : `${num(row.returnDoubtful, 8)}${share === null ? "" : `, a share of ${num(share, 3)}`}`],
            ["opinions", row.opinions ? `${count(row.opinions)} steps solved again exactly, the worst off by ${row.opinionGap === null ? "–" : num(row.opinionGap, 3)} V` : "none"]] as [string, string][]),
    ];
}

// Of all stretches; null: not known of one.
function gainOf(figures: Figures[]): number | null {
    return toldGain(figures.reduce((sum, f) => (sum === null || f.gain === null ? null : addGain(sum, f.gain)), { sum: 0, scale: 0, step: 0 } as Gain | null));
}

const gainedText = (gained: number | null) => (gained === null ? "not known: an older server recorded it" : gained === 0 ? "nothing" : `${num(gained)} J that nothing gave`);

function facts(episode: Episode, course: Course | null): [string, string][] {
    const { definition: d, seal } = episode.head;
    const steps = episode.lastStep;
    const unconverged = course === null ? 0 : episode.group !== null ? episode.row.unconverged ?? 0 : course.stretches.reduce((sum, s) => sum + s.figures.unconverged, 0);
    const worst = course === null ? 0 : Math.max(0, ...course.stretches.map((s) => s.figures.worstOwn));
    const deepest = course === null ? 0 : Math.max(0, ...course.stretches.map((s) => s.figures.worstPenetration));
    const gain = course === null ? null : course.stretches.map((s) => s.figures).reduce((most, f) => (f.energyGain > (most?.energyGain ?? 0) ? f : most), null as Figures | null);
    const most = gain === null ? "none" : `${num(gain.energyGain)} J at most in one step, ${count(gain.energyGainStep)}, that no force explains`;
    const state = episode.group !== null ? episode.row.state : seal === null ? "not ended: it is still being recorded, or its end is missing" : STATES[seal.state] + (seal.why ? ` (${seal.why})` : "");
    return [
        ["name", d.name || "–"], ["id", episode.row.uid], ["state", state + (seal?.isFound ? "; the end was found by a later start" : "")],
        ["labels", d.labels.join(", ") || "–"], ["content", `${CONTENTS[d.content]}${d.stride > 1 && d.content > 0 ? `, every ${d.stride} steps` : ""}`],
        ["steps", `${count(steps)} of ${num(episode.timeStep)} s`], ["bodies", `${count(d.bodyCount)} at the start`], ["solver", d.solver],
        ["unconverged", course === null ? "…" : `${count(unconverged)} ${episode.group === null ? "steps" : "substeps"}`],
        ["gained", course === null ? "…" : gainedText(episode.group !== null ? toldGain(episode.row.gain) : gainOf(course.stretches.map((s) => s.figures)))],
        ["energy gain", episode.group !== null ? "not kept of groups: see the plots" : course === null ? "…" : most],
        ["worst e_own", episode.group !== null ? "not kept of groups: see the plots" : course === null ? "…" : `${num(worst)} (tolerance ${num(episode.tolerance)})`],
        ["deepest overlap", episode.group !== null ? "not kept of groups: see the plots" : course === null ? "…" : `${num(deepest * 1000)} mm`],
        ["recorded", when(d.begunNs)], ["by", `${d.client || "?"}, world ${d.worldName || "–"}`],
        ["server", `${d.serverVersion}, dynamics ${d.dynamicsVersion}`], ["build", d.build],
        ...(episode.group === null ? [] : [["of a group", `world ${count(episode.group.world)} of ${count(d.worldCount)}, seed ${episode.group.seed}, its turn ${episode.group.turn}`],
            ["return", episode.row.returnSum === null ? "–" : num(episode.row.returnSum, 8)], ...doubts(episode)] as [string, string][]),
        ...(d.seed === null ? [] : [["seed", String(d.seed)] as [string, string]]),
        ...(d.parent === null ? [] : [["parent", `${d.parent.slice(0, 8)} behind step ${d.parentStep}`] as [string, string]]),
        ...(seal !== null && seal.droppedSteps > 0 ? [["dropped", `${count(seal.droppedSteps)} steps`] as [string, string]] : []),
    ];
}

function eventItem(event: Event, onSeek: (step: number) => void): HTMLElement {
    const look = lookOf(event.kind);
    return el("li", { onclick: () => onSeek(event.step), "data-step": event.step }, el("i", { style: `color:${styleOf(look.hue)}` }, look.letter), el("span", {}, `${event.step}: ${event.text}`));
}

export interface EpisodePanel {
    episode: Episode;
    course: Course | null;
    events: Event[];
    fetched: number;
    onSeek: (step: number) => void;
    proof: Node;
}

export function showEpisode(place: HTMLElement, panel: EpisodePanel): void {
    keepFocus(place, () => fillEpisode(place, panel));
}

function fillEpisode(place: HTMLElement, panel: EpisodePanel): void {
    const { episode, events } = panel;
    place.replaceChildren(entries(facts(episode, panel.course)), panel.proof);
    if (episode.damage.length > 0) {
        place.append(el("h3", { class: "damage" }, `Damaged: ${episode.damage.length}`), el("ul", { class: "damage" }, ...episode.damage.slice(0, 50).map((d) => el("li", {}, d))));
    }
    place.append(el("h3", {}, `Events: ${events.length}`),
        el("ul", { class: "events" }, ...reachable(events.slice(0, EVENTS_SHOWN).map((e) => eventItem(e, panel.onSeek)))));
    if (events.length > EVENTS_SHOWN) {
        place.append(el("p", { class: "note" }, `the first ${EVENTS_SHOWN} of ${events.length}`));
    }
    place.append(el("p", { class: "note", id: "fetched" }, `${bytes(panel.fetched)} of the file were read so far.`));
}

export interface BodyPanel {
    episode: Episode;
    frame: Frame;
    selected: number;
    hidden: ReadonlySet<number>;
    onPick: (id: number) => void;
    onHide: (id: number) => void;
}

function bodyFacts(panel: BodyPanel): HTMLElement {
    const { episode, frame, selected } = panel;
    const i = frame.ids.indexOf(selected), body = episode.bodies.get(selected);
    if (i < 0) {
        return el("p", { class: "note" }, `${episode.bodyName(selected)} is not there at this step: it came later, or is gone.`);
    }
    const list = (values: Float64Array, from: number, to: number) => Array.from(values.subarray(from, to), (v) => num(v, 6)).join(", ");
    const speed = Math.hypot(...frame.velocity.subarray(6 * i, 6 * i + 3));
    return entries([
        ["name", episode.bodyName(selected)], ["id", String(selected)], ["kind", body?.kind.toLowerCase() ?? "unknown"],
        ["shapes", body?.shapes.map((s) => `${s.kind} ${s.kind === "box" ? s.size.map((v) => num(v)).join(" × ") : s.kind === "plane" ? "" : num(s.size[0])}`).join("; ") || "–"],
        ["mass", body === undefined || body.mass === 0 ? "–" : `${num(body.mass)} kg`],
        ["position", list(frame.pose, 7 * i, 7 * i + 3) + " m"], ["orientation", list(frame.pose, 7 * i + 3, 7 * i + 7)],
        ["velocity", list(frame.velocity, 6 * i, 6 * i + 3) + " m/s"], ["speed", `${num(speed)} m/s`],
        ["spin", list(frame.velocity, 6 * i + 3, 6 * i + 6) + " rad/s"],
    ]);
}

export function showBodies(place: HTMLElement, panel: BodyPanel): void {
    const { episode, frame, selected, hidden } = panel;
    const scroll = place.scrollTop;
    const top = selected === 0 ? el("p", { class: "note" }, "Pick a body, here or in the picture.") : bodyFacts(panel);
    const rows = reachable(frame.ids.slice(0, BODIES_SHOWN).map((id) => el("tr", { class: id === selected ? "selected" : "", "data-body": id, onclick: () => panel.onPick(id) },
        el("td", { class: "name", title: episode.bodyName(id) }, episode.bodyName(id)), el("td", { class: "dim name" }, episode.bodies.get(id)?.shapes.map((s) => s.kind).join(" ") ?? "?"),
        el("td", { class: "number" }, el("label", { onclick: (e: globalThis.Event) => e.stopPropagation() },
            el("input", { type: "checkbox", checked: !hidden.has(id), title: "shown", "aria-label": `${episode.bodyName(id)} is shown`, tabindex: -1, onchange: () => panel.onHide(id) }))))));
    keepFocus(place, () => place.replaceChildren(top, el("table", { "aria-label": "bodies" }, el("tbody", {}, ...rows)), ...[jointTable(frame, episode)].filter((table) => table !== null)));
    if (frame.ids.length > BODIES_SHOWN) {
        place.append(el("p", { class: "note" }, `the first ${BODIES_SHOWN} of ${frame.ids.length}`));
    }
    place.scrollTop = scroll;
}

export interface PlotData {
    episode: Episode;
    series: Series;
    course: Course | null;
    second: { name: string; series: Series; steps: number[]; distance: number[] } | null;
    perStep: PerStep | null;
    stepped: Series; // contacts of what is not stored
}

function energyPlot(data: PlotData): Plot {
    const { series: s, second } = data;
    const curves: Plot["curves"] = [
        { label: "total", hue: "blue", values: s.kinetic.map((k, i) => k + nth(s.potential, i)) },
        { label: "kinetic", hue: "amber", values: s.kinetic }, { label: "potential", hue: "grey", values: s.potential },
    ];
    if (second !== null && second.series.step.length === s.step.length && second.series.step.every((v, i) => v === s.step[i])) {
        curves.push({ label: `total of ${second.name}`, hue: "pink", values: second.series.kinetic.map((k, i) => k + nth(second.series.potential, i)) });
    }
    const leap = s.isWhole ? "" : " Some chunks were leapt over, as the file is large.";
    return { title: "Energy", unit: "J", log: false, steps: s.step, curves, note: `By this page, from the frames and the scene's masses and gravity; springs are not in it.${leap}` };
}

const positive = (values: readonly number[]) => values.map((v) => (v > 0 ? v : null));

function certificatePlot(data: PlotData): Plot {
    const stretches = [...(data.course?.stretches ?? [])].sort((a, b) => a.firstStep - b.firstStep);
    const steps = stretches.flatMap((s) => [s.firstStep + 1, Math.max(s.firstStep + 1, s.lastStep)]).filter((v, i, all) => i === 0 || v > nth(all, i - 1));
    const of = (step: number) => stretches.find((s) => step > s.firstStep && step <= s.lastStep);
    return {
        title: "Certificate by stretches", unit: "", log: true, steps, note: "e_own, the residual of the solver's own model, worst of each stretch as the file keeps it; with its tolerance.",
        curves: [{ label: "e_own, worst", hue: "blue", values: positive(steps.map((v) => of(v)?.figures.worstOwn ?? 0)) },
            { label: "tolerance", hue: "grey", values: positive(steps.map(() => data.episode.tolerance)) }],
    };
}

const ENTRY_HUES: Hue[] = ["grey", "green", "sky", "amber", "pink", "red", "blue", "brown"];

function provenPlots(data: PlotData): Plot[] {
    if (data.perStep === null) {
        return [];
    }
    const { entries: columns, names, ms, energy, applied } = data.perStep;
    const steps = Array.from(data.perStep.own.subarray(1), (_, i) => i + 1);
    const tail = (values: Float64Array) => positive(Array.from(values.subarray(1)));
    const from = Array.from(energy, (_, i) => i);
    return [{
        title: "Energy, by the dynamics", unit: "J", log: false, steps: from, note: "Kinetic and potential, of springs too, behind each step; and what wrenches have added since the beginning. Stepped again by this page.",
        curves: [{ label: "energy", hue: "blue", values: Array.from(energy) }, { label: "by wrenches", hue: "amber", values: Array.from(applied) }],
    }, {
        title: "Certificate of every step", unit: "", log: true, steps, note: "Stepped again by this page, with the server's own code.",
        curves: columns.map((values, k) => ({ label: nth(names, k), hue: nth(ENTRY_HUES, k % ENTRY_HUES.length), values: tail(values) })),
    }, { title: "Time of a step, here", unit: "ms", log: true, steps, note: "How long this page took for it: the file keeps no times.", curves: [{ label: "step", hue: "green", values: tail(ms) }] }];
}

export function plotsOf(data: PlotData): Plot[] {
    const { second } = data, s = data.series.contactStep.length > 0 ? data.series : { ...data.stepped, step: data.series.step };
    const plots: Plot[] = [];
    if (second !== null) {
        plots.push({
            title: `Difference from ${second.name}`, unit: "m", log: true, steps: second.steps, note: "The largest distance between a body here and there; zero is not drawn.",
            curves: [{ label: "distance", hue: "pink", values: positive(second.distance) }],
        });
    }
    if (s.step.length > 0) {
        plots.push(energyPlot(data));
    }
    plots.push(...provenPlots(data), certificatePlot(data));
    if (s.contactStep.length > 0) {
        plots.push({
            title: "Contacts", unit: "", log: false, steps: s.contactStep, note: "By this page: open pushes nothing, slide is on the cone's edge.",
            curves: [{ label: "stick", hue: "blue", values: s.stick }, { label: "slide", hue: "amber", values: s.slide }, { label: "open", hue: "grey", values: s.open }],
        }, {
            title: "Penetration", unit: "mm", log: false, steps: s.contactStep, note: "The deepest overlap at the beginning of the step.",
            curves: [{ label: "deepest", hue: "red", values: s.deepest.map((v) => v * 1000) }],
        }, {
            title: "Friction's defect", unit: "J", log: true, steps: s.contactStep, note: "By this page: the largest μλn·slip + λt·vt; 0 where friction opposes slip as hard as it may.",
            curves: [{ label: "largest", hue: "green", values: positive(s.defect) }],
        });
    }
    if (data.perStep === null) {
        plots.push({ title: "Time of the solver", unit: "", log: false, steps: [], curves: [], note: "The file keeps no times of steps." });
    }
    return plots.filter((p) => p.curves.length > 0);
}
