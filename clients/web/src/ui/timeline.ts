// SPDX-License-Identifier: MIT
// The timeline: events above, the strip of the certificate below. The file keeps the certificate by stretches of steps,
// and every step that did not converge; where the dynamics have stepped the episode again in this page, the strip has
// every step.
import type { Course, Stretch } from "../store/messages";
import { Highlight, HIGHLIGHTS, HIGHLIGHT_UNITS, REASONS } from "../log/sealed";
import { nth } from "../nth";
import type { Hue, Theme } from "../view/palette";
import { fitCanvas, num } from "./dom";

export interface Event {
    step: number;
    firstStep: number;
    lastStep: number;
    kind: "unconverged" | "impact" | "energy_gain" | "launch" | "broken" | "fault" | "solver" | "gap" | "change" | "divergence" | "doubtful";
    text: string;
    value: number;
}

// each has a letter, as colours alone are not for everybody
const EVENT_LOOKS: Record<Event["kind"], { letter: string; hue: Hue; title: string }> = {
    unconverged: { letter: "✕", hue: "red", title: "did not converge" },
    impact: { letter: "▼", hue: "blue", title: "hardest impact of a stretch" },
    energy_gain: { letter: "▲", hue: "amber", title: "gained energy" },
    launch: { letter: "↑", hue: "pink", title: "launched by convex friction" },
    broken: { letter: "⌇", hue: "red", title: "joints broke" },
    fault: { letter: "!", hue: "red", title: "fault" },
    solver: { letter: "S", hue: "green", title: "change of solver" },
    gap: { letter: "…", hue: "grey", title: "not recorded" },
    change: { letter: "·", hue: "green", title: "a change by the client" },
    doubtful: { letter: "?", hue: "pink", title: "doubtful: not to be trusted" },
    divergence: { letter: "≠", hue: "pink", title: "the two episodes part" },
};
export const EVENT_KINDS = Object.keys(EVENT_LOOKS) as Event["kind"][];
export const lookOf = (kind: Event["kind"]) => EVENT_LOOKS[kind];

const ORDER_OF_STEPS = 5;

function eventOf(h: Highlight, bodyName: (id: number) => string): Event {
    const kind = (HIGHLIGHTS[h.kind] ?? "change") as Event["kind"];
    const range = h.firstStep === h.lastStep ? `step ${h.firstStep}` : `steps ${h.firstStep}–${h.lastStep}, worst ${h.step}`;
    const more = h.kind === 1 && h.reason > 0
        ? `: ${REASONS[h.reason] ?? "?"}, island of ${h.contacts} contacts with ${bodyName(h.body)}`
        : h.kind === 4 ? `: ${bodyName(h.body)} and ${bodyName(h.other)}, gliding ${num(h.height)} m high`
        : h.kind === 5 ? `: joint ${h.joint}` : "";
    const value = h.kind === 1 ? `e_own ${num(h.value)}` : `${num(h.value)} ${HIGHLIGHT_UNITS[h.kind] ?? ""}`;
    return { step: h.step, firstStep: h.firstStep, lastStep: h.lastStep, kind, value: h.value, text: `${EVENT_LOOKS[kind].title}: ${value} (${range})${more}` };
}

export function eventsOf(course: Course, bodyName: (id: number) => string): Event[] {
    const events = course.highlights.map((h) => eventOf(h, bodyName));
    const at = (step: number, kind: Event["kind"], text: string) => events.push({ step, firstStep: step, lastStep: step, kind, text, value: 0 });
    let solver = "";
    for (const stretch of [...course.stretches].sort((a, b) => a.firstStep - b.firstStep)) {
        if (solver !== "" && stretch.solver !== solver) {
            at(stretch.firstStep, "solver", `solver ${stretch.solver} from step ${stretch.firstStep} on, ${solver} before`);
        }
        solver = stretch.solver;
        for (const entry of stretch.entries) {
            if (entry.faulted) {
                at(entry.step + entry.steps, "fault", `the step behind ${entry.step + entry.steps} failed and left the world faulted`);
            } else if (entry.kind !== ORDER_OF_STEPS) {
                at(entry.step, "change", `the client changed the world behind step ${entry.step}`);
            }
        }
    }
    for (const gap of course.gaps) {
        events.push({ step: gap.firstStep, firstStep: gap.firstStep, lastStep: gap.lastStep, kind: "gap", value: 0, text: `steps ${gap.firstStep}–${gap.lastStep} were dropped while the disk was slow` });
    }
    return events.sort((a, b) => a.step - b.step);
}

let striped: { hue: string; pattern: CanvasPattern | null } = { hue: "", pattern: null };

/** Of what did not converge: seen to be that without its colour as well. */
export function stripes(c: CanvasRenderingContext2D, theme: Theme): CanvasPattern | string {
    const hue = theme.hue.red;
    if (striped.hue !== hue) {
        const tile = new OffscreenCanvas(6, 6), t = tile.getContext("2d") as OffscreenCanvasRenderingContext2D;
        t.fillStyle = hue;
        t.fillRect(0, 0, 6, 6);
        t.strokeStyle = theme.background;
        t.lineWidth = 1.5;
        for (const x of [-6, 0, 6]) {
            t.moveTo(x, 6);
            t.lineTo(x + 6, 0);
        }
        t.stroke();
        striped = { hue, pattern: c.createPattern(tile, "repeat") };
    }
    return striped.pattern ?? hue;
}

export interface TimelineData {
    lastStep: number;
    timeStep: number;
    tolerance: number;
    stretches: Stretch[];
    events: Event[];
    /** e_own of every step from 0 on, where the page has stepped it again. */
    perStep: Float64Array | null;
    provenTo: number; // step; -1: nothing was stepped again
    differsAt: number; // step; -1: nowhere
}

const EVENTS_HEIGHT = 20, AXIS_HEIGHT = 16, DECADES = 8; // of the strip: from 1e-6 to 1e2 tolerances

export class Timeline {
    step = 0;
    data: TimelineData | null = null;
    theme: Theme | null = null;
    onSeek: (step: number) => void = () => undefined;
    onStrip: (firstStep: number, lastStep: number) => void = () => undefined;
    private hover = "";

    constructor(private readonly canvas: HTMLCanvasElement, private readonly tip: HTMLElement) {
        let isDragging = false;
        canvas.addEventListener("pointerdown", (event) => {
            const zone = this.zone(event);
            if (zone === "strip") {
                const [first, last] = this.cell(this.stepAt(event));
                this.onStrip(first, last);
                return;
            }
            const near = zone === "events" ? this.eventAt(event) : null;
            isDragging = near === null;
            canvas.setPointerCapture(event.pointerId);
            this.onSeek(near?.step ?? this.stepAt(event));
        });
        canvas.addEventListener("pointermove", (event) => {
            if (isDragging) {
                this.onSeek(this.stepAt(event));
            }
            this.showTip(event);
        });
        canvas.addEventListener("pointerup", () => (isDragging = false));
        canvas.addEventListener("pointerleave", () => (tip.hidden = true));
        new ResizeObserver(() => this.draw()).observe(canvas);
    }

    private zone(event: PointerEvent): "events" | "axis" | "strip" {
        return event.offsetY < EVENTS_HEIGHT ? "events" : event.offsetY < EVENTS_HEIGHT + AXIS_HEIGHT ? "axis" : "strip";
    }

    private stepAt(event: PointerEvent): number {
        const last = this.data?.lastStep ?? 0;
        return Math.max(0, Math.min(last, Math.round((event.offsetX / Math.max(1, this.canvas.clientWidth)) * last)));
    }

    private x(step: number): number {
        return (step / Math.max(1, this.data?.lastStep ?? 1)) * this.canvas.clientWidth;
    }

    /** Steps that one column of the strip stands for. */
    private cell(step: number): [number, number] {
        const data = this.data;
        if (data?.perStep && step < data.perStep.length) {
            const half = Math.ceil(data.lastStep / Math.max(1, this.canvas.clientWidth));
            return [Math.max(1, step - half), Math.min(data.perStep.length - 1, step + half)];
        }
        const stretch = data?.stretches.find((s) => step >= s.firstStep && step <= s.lastStep);
        return stretch === undefined ? [step, step] : [stretch.firstStep, stretch.lastStep];
    }

    private eventAt(event: PointerEvent): Event | null {
        const near = (this.data?.events ?? []).map((e) => ({ e, d: Math.abs(this.x(e.step) - event.offsetX) })).sort((a, b) => a.d - b.d)[0];
        return near !== undefined && near.d < 7 ? near.e : null;
    }

    private showTip(event: PointerEvent): void {
        const step = this.stepAt(event), zone = this.zone(event);
        let text = `step ${step}, ${num(step * (this.data?.timeStep ?? 0))} s`;
        if (zone === "events") {
            text = this.eventAt(event)?.text ?? text;
        } else if (zone === "strip") {
            text = this.stripText(step);
        }
        this.tip.hidden = this.data === null;
        this.tip.textContent = text;
        this.tip.style.left = `${Math.min(event.offsetX + 12, this.canvas.clientWidth - this.tip.offsetWidth - 4)}px`;
        if (this.hover !== text) {
            this.hover = text;
        }
    }

    private stripText(step: number): string {
        const data = this.data;
        if (data?.perStep && step > 0 && step < data.perStep.length) {
            return `step ${step}: e_own ${num(nth(data.perStep, step))} (tolerance ${num(data.tolerance)}), stepped again by this page`;
        }
        const s = data?.stretches.find((one) => step >= one.firstStep && step <= one.lastStep);
        if (s === undefined) {
            return `step ${step}: nothing is recorded of its certificate`;
        }
        const open = s.figures.unconverged > 0 ? `${s.figures.unconverged} steps did not converge` : "all steps converged";
        return `steps ${s.firstStep + 1}–${s.lastStep}, ${s.solver}: ${open}; worst e_own ${num(s.figures.worstOwn)}, deepest overlap ` +
            `${num(s.figures.worstPenetration * 1000)} mm, at most ${s.figures.contactsMax} contacts`;
    }

    draw(): void {
        const { context: c, width, height } = fitCanvas(this.canvas);
        const data = this.data, theme = this.theme;
        if (data === null || theme === null) {
            return;
        }
        this.drawAxis(c, width, theme, data);
        this.drawStrip(c, width, height, theme, data);
        this.drawEvents(c, theme, data);
        const x = this.x(this.step);
        c.fillStyle = theme.text;
        c.fillRect(x - 1, 0, 2, height);
        for (const [name, value] of [["max", data.lastStep], ["now", this.step], ["text", `step ${this.step} of ${data.lastStep}, ${num(this.step * data.timeStep)} s`]]) {
            this.canvas.setAttribute(`aria-value${name}`, String(value));
        }
    }

    private drawAxis(c: CanvasRenderingContext2D, width: number, theme: Theme, data: TimelineData): void {
        const seconds = data.lastStep * data.timeStep;
        const rough = (80 / Math.max(80, width)) * seconds, power = 10 ** Math.floor(Math.log10(Math.max(rough, 1e-12)));
        const tick = power * ([1, 2, 5, 10].find((k) => k * power >= rough) ?? 10);
        c.fillStyle = theme.dim;
        c.font = "10px system-ui, sans-serif";
        c.textAlign = "left";
        const top = EVENTS_HEIGHT;
        for (let k = 0; k * tick <= seconds && k < 1000; k++) {
            const x = (k * tick * width) / Math.max(seconds, 1e-12);
            c.fillRect(x, top, 1, 4);
            if (x < width - 30) {
                c.fillText(`${num(k * tick)} s`, x + 3, top + 11);
            }
        }
        c.fillStyle = theme.line;
        c.fillRect(0, top, width, 1);
    }

    // Its height grows with the decades of e_own beside the tolerance; what did not converge is striped.
    private bar(c: CanvasRenderingContext2D, theme: Theme, x: number, w: number, own: number, isOpen: boolean, height: number, tolerance: number): void {
        const base = EVENTS_HEIGHT + AXIS_HEIGHT, room = height - base;
        const decades = own > 0 && tolerance > 0 ? Math.log10(own / tolerance) : own > 0 ? 0 : -Infinity;
        const share = Math.max(0.06, Math.min(1, (decades + 6) / DECADES));
        c.fillStyle = isOpen ? stripes(c, theme) : theme.hue.blue;
        c.fillRect(x, height - share * room, Math.max(1, w), share * room);
    }

    private drawStrip(c: CanvasRenderingContext2D, width: number, height: number, theme: Theme, data: TimelineData): void {
        const base = EVENTS_HEIGHT + AXIS_HEIGHT;
        c.fillStyle = theme.plane;
        c.fillRect(0, base, width, height - base);
        for (const s of data.stretches) {
            this.bar(c, theme, this.x(s.firstStep), this.x(s.lastStep) - this.x(s.firstStep) - 1, s.figures.worstOwn, false, height, data.tolerance);
        }
        // what did not converge the file names by steps
        for (const e of data.events.filter((one) => one.kind === "unconverged")) {
            this.bar(c, theme, this.x(e.firstStep - 1), this.x(e.lastStep) - this.x(e.firstStep - 1), e.value, true, height, data.tolerance);
        }
        if (data.perStep !== null) {
            this.drawSteps(c, width, height, theme, data, data.perStep);
        }
        c.fillStyle = theme.dim;
        const tolerance = height - (6 / DECADES) * (height - base);
        for (let x = 0; x < width; x += 6) {
            c.fillRect(x, tolerance, 3, 1);
        }
        const text = `e_own; dashes: tolerance${Number.isFinite(data.tolerance) ? " " + num(data.tolerance) : ""}`;
        c.font = "10px system-ui, sans-serif";
        c.textAlign = "right";
        c.fillStyle = theme.background;
        c.fillRect(width - c.measureText(text).width - 8, EVENTS_HEIGHT + 1, width, AXIS_HEIGHT - 1);
        c.fillStyle = theme.dim;
        c.fillText(text, width - 4, EVENTS_HEIGHT + 11);
    }

    private drawSteps(c: CanvasRenderingContext2D, width: number, height: number, theme: Theme, data: TimelineData, own: Float64Array): void {
        const base = EVENTS_HEIGHT + AXIS_HEIGHT;
        c.fillStyle = theme.plane;
        c.fillRect(0, base, this.x(own.length - 1), height - base);
        const columns = Math.min(own.length - 1, Math.ceil(width));
        for (let k = 0; k < columns; k++) {
            const from = 1 + Math.floor((k * (own.length - 1)) / columns), to = Math.max(from + 1, 1 + Math.floor(((k + 1) * (own.length - 1)) / columns));
            let worst = 0;
            for (let i = from; i < to; i++) {
                worst = Math.max(worst, nth(own, i));
            }
            this.bar(c, theme, this.x(from - 1), this.x(to - 1) - this.x(from - 1), worst, worst > data.tolerance, height, data.tolerance);
        }
    }

    private drawEvents(c: CanvasRenderingContext2D, theme: Theme, data: TimelineData): void {
        c.font = "11px system-ui, sans-serif";
        c.textAlign = "center";
        if (data.provenTo >= 0) {
            c.fillStyle = theme.hue.green;
            c.fillRect(0, EVENTS_HEIGHT - 2, this.x(data.provenTo), 3);
        }
        if (data.differsAt >= 0) {
            c.fillStyle = theme.hue.red;
            c.fillRect(this.x(data.differsAt) - 1, 0, 3, EVENTS_HEIGHT);
        }
        for (const event of data.events) {
            const look = EVENT_LOOKS[event.kind];
            c.fillStyle = event.kind === "change" ? theme.dim : theme.hue[look.hue];
            c.fillText(look.letter, Math.max(5, Math.min(this.canvas.clientWidth - 5, this.x(event.step))), 14);
        }
    }
}
