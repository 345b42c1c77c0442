// SPDX-License-Identifier: MIT
// Plots over steps, whose cursor is that of the picture.
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { nth } from "../nth";
import { DASHES, Hue, styleOf, Theme } from "../view/palette";
import { el, num } from "./dom";

export interface Curve {
    label: string;
    hue: Hue;
    values: (number | null)[];
    paths?: "steps" | "bars";
}

export interface Plot {
    title: string;
    note: string; // where the numbers come from
    unit: string;
    log: boolean;
    steps: number[];
    curves: Curve[];
    isJoined?: boolean; // points are joined where a curve lacks some
}

const HEIGHT = 150;

/** A piece of a curve, as a legend shows it. */
export function sample(hue: Hue): SVGElement {
    const part = (name: string, attributes: Record<string, string>) => {
        const made = document.createElementNS("http://www.w3.org/2000/svg", name);
        Object.entries(attributes).forEach(([key, value]) => made.setAttribute(key, value));
        return made;
    };
    const picture = part("svg", { class: "sample", viewBox: "0 0 26 4", "aria-hidden": "true" });
    picture.append(part("path", { d: "M0 2H26", style: `stroke:${styleOf(hue)}`, "stroke-width": "2", "stroke-dasharray": DASHES[hue].join(" ") || "none" }));
    return picture;
}

// Powers of ten, and no more of them than there is room for.
function decades(low: number, high: number): number[] {
    const first = Math.floor(Math.log10(low)), last = Math.ceil(Math.log10(high)), every = Math.max(1, Math.ceil((last - first) / 5));
    return Array.from({ length: Math.floor((last - first) / every) + 1 }, (_, i) => 10 ** (first + i * every));
}

export class Plots {
    onSeek: (step: number) => void = () => undefined;
    private charts: { chart: uPlot; steps: number[]; values: HTMLElement; plot: Plot }[] = [];
    private step = 0;
    private key = "";

    constructor(private readonly place: HTMLElement) {
        new ResizeObserver(() => this.charts.forEach(({ chart }) => chart.setSize({ width: this.width(), height: HEIGHT }))).observe(place);
    }

    private width(): number {
        return Math.max(120, this.place.clientWidth - 4);
    }

    /** Where the same plots have more data, the charts stay. */
    show(plots: Plot[], theme: Theme): void {
        const key = plots.map((p) => p.title + p.curves.map((c) => c.label).join()).join("|") + theme.text;
        if (key === this.key) {
            plots.forEach((plot, i) => {
                nth(this.charts, i).steps = plot.steps;
                nth(this.charts, i).plot = plot;
                nth(this.charts, i).chart.setData([plot.steps, ...plot.curves.map((c) => c.values)]);
            });
        } else {
            this.charts.forEach(({ chart }) => chart.destroy());
            this.place.replaceChildren();
            this.charts = plots.map((plot) => this.make(plot, theme));
            this.key = key;
        }
        this.setStep(this.step);
    }

    private make(plot: Plot, theme: Theme) {
        const holder = el("div", { class: "plot" });
        const values = el("div", { class: "plot-values" });
        this.place.append(el("h3", {}, plot.title, el("span", { class: "dim" }, plot.unit ? ` [${plot.unit}]` : "")), holder, values, el("p", { class: "note" }, plot.note));
        const axis = { stroke: theme.dim, grid: { stroke: theme.line, width: 0.5 }, ticks: { stroke: theme.line, width: 0.5 }, font: "10px system-ui, sans-serif" };
        const options: uPlot.Options = {
            width: this.width(), height: HEIGHT, legend: { show: false },
            cursor: { y: false, drag: { x: false, y: false }, points: { size: 6 } },
            scales: { x: { time: false }, y: plot.log ? { distr: 3 } : {} },
            axes: [{ ...axis, size: 28 }, {
                ...axis, size: 52, values: (_u, ticks) => ticks.map((t) => (t === null ? "" : num(t, 3))),
                ...(plot.log ? { splits: (_u: uPlot, _axis: number, low: number, high: number) => decades(low, high) } : {}),
            }],
            series: [{}, ...plot.curves.map((c): uPlot.Series => ({
                label: c.label, stroke: theme.hue[c.hue], width: 1.5, dash: DASHES[c.hue], spanGaps: plot.isJoined === true, points: { show: plot.isJoined === true || plot.steps.length < 3 },
                paths: c.paths === "steps" ? uPlot.paths.stepped?.({ align: 1 }) : undefined,
            }))],
        };
        const chart = new uPlot(options, [plot.steps, ...plot.curves.map((c) => c.values)] as uPlot.AlignedData, holder);
        chart.over.addEventListener("click", (event) => {
            const index = chart.posToIdx(event.offsetX);
            const step = chart.data[0][index];
            if (step !== undefined) {
                this.onSeek(step);
            }
        });
        return { chart, steps: plot.steps, values, plot };
    }

    setStep(step: number): void {
        this.step = step;
        for (const { chart, steps, values, plot } of this.charts) {
            let index = -1;
            for (let low = 0, high = steps.length; low < high;) {
                const middle = (low + high) >> 1;
                if (nth(steps, middle) <= step) {
                    index = middle;
                    low = middle + 1;
                } else {
                    high = middle;
                }
            }
            chart.setCursor({ left: index < 0 ? -10 : chart.valToPos(step, "x"), top: 0 }, false);
            values.replaceChildren(...plot.curves.map((c) => {
                const value = index < 0 ? null : c.values[index];
                return el("span", {}, sample(c.hue), ` ${c.label} ${value === null || value === undefined ? "–" : num(value)}`);
            }));
        }
    }
}
