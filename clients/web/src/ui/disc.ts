// SPDX-License-Identifier: MIT
// One contact as pictures: the friction disc with the way that λ_t / (μ λ_n) went over time, and the cone from the side
// with the impulse in it.
import { Judged, State } from "../measures";
import { nth } from "../nth";
import { STATE_HUES, Theme } from "../view/palette";
import { fitCanvas, num } from "./dom";

export interface TrailPoint {
    step: number;
    x: number; // λ_t / (μ λ_n), along the two tangents
    y: number;
    slip: [number, number]; // [m/s]
    state: State;
}

/** `trail` rises in steps; the last is the step that is shown. */
export function drawDisc(canvas: HTMLCanvasElement, trail: TrailPoint[], theme: Theme): void {
    const { context: c, width, height } = fitCanvas(canvas);
    const r = Math.min(width, height) / 2 - 22, cx = width / 2, cy = height / 2;
    const at = (p: TrailPoint): [number, number] => {
        const length = Math.hypot(p.x, p.y), share = length > 1.25 ? 1.25 / length : 1; // what is far outside stays in the picture
        return [cx + r * p.x * share, cy - r * p.y * share];
    };
    c.strokeStyle = theme.line;
    c.lineWidth = 1;
    for (const part of [0.25, 0.5, 0.75]) {
        c.beginPath();
        c.arc(cx, cy, r * part, 0, 2 * Math.PI);
        c.stroke();
    }
    c.beginPath();
    c.moveTo(cx - r, cy);
    c.lineTo(cx + r, cy);
    c.moveTo(cx, cy - r);
    c.lineTo(cx, cy + r);
    c.stroke();
    c.strokeStyle = theme.text;
    c.lineWidth = 1.5;
    c.beginPath();
    c.arc(cx, cy, r, 0, 2 * Math.PI);
    c.stroke();
    trail.forEach((p, i) => {
        const age = (i + 1) / trail.length;
        c.globalAlpha = 0.15 + 0.6 * age * age;
        c.strokeStyle = c.fillStyle = theme.hue[nth(STATE_HUES, p.state)];
        const [x, y] = at(p);
        if (i > 0 && p.state !== State.Open && nth(trail, i - 1).state !== State.Open) {
            c.beginPath();
            c.moveTo(...at(nth(trail, i - 1)));
            c.lineTo(x, y);
            c.stroke();
        }
        c.fillRect(x - 1, y - 1, 2, 2);
    });
    c.globalAlpha = 1;
    const last = trail[trail.length - 1];
    if (last !== undefined) {
        drawNow(c, at(last), last, r, theme);
    }
    c.fillStyle = theme.dim;
    c.font = "10px system-ui, sans-serif";
    c.textAlign = "center";
    c.fillText("t₁", cx + r + 11, cy + 3);
    c.fillText("t₂", cx, cy - r - 6);
    c.fillText("edge: slides", cx, cy + r + 14);
}

function drawNow(c: CanvasRenderingContext2D, [x, y]: [number, number], p: TrailPoint, r: number, theme: Theme): void {
    const speed = Math.hypot(...p.slip);
    if (speed > 0 && p.state !== State.Open) { // which way it slips; friction should point the other way
        const share = Math.min(1, speed) ** 0.25 * 0.5 * r / speed;
        arrow(c, x, y, x + p.slip[0] * share, y - p.slip[1] * share, theme.hue[nth(STATE_HUES, State.Slide)]);
    }
    c.fillStyle = theme.picked;
    c.beginPath();
    c.arc(x, y, 5, 0, 2 * Math.PI);
    c.fill();
}

function arrow(c: CanvasRenderingContext2D, x0: number, y0: number, x1: number, y1: number, color: string): void {
    const length = Math.hypot(x1 - x0, y1 - y0);
    if (length < 4) {
        return;
    }
    const ux = (x1 - x0) / length, uy = (y1 - y0) / length;
    c.strokeStyle = c.fillStyle = color;
    c.lineWidth = 2;
    c.beginPath();
    c.moveTo(x0, y0);
    c.lineTo(x1, y1);
    c.stroke();
    c.beginPath();
    c.moveTo(x1 + 3 * ux, y1 + 3 * uy);
    c.lineTo(x1 - 5 * ux - 4 * uy, y1 - 5 * uy + 4 * ux);
    c.lineTo(x1 - 5 * ux + 4 * uy, y1 - 5 * uy - 4 * ux);
    c.fill();
}

/** In the plane of the impulse: the cone's two edges, and the impulse between them. */
export function drawCone(canvas: HTMLCanvasElement, one: Judged, mu: number, theme: Theme): void {
    const { context: c, width, height } = fitCanvas(canvas);
    const cx = width / 2, floor = height - 26, top = 16;
    const tall = floor - top, half = Math.min(mu * tall, width / 2 - 14), high = mu > 0 ? Math.min(tall, half / mu) : tall;
    c.fillStyle = theme.plane;
    c.beginPath();
    c.moveTo(cx, floor);
    c.lineTo(cx - half, floor - high);
    c.lineTo(cx + half, floor - high);
    c.fill();
    c.strokeStyle = theme.text;
    c.lineWidth = 1.5;
    c.beginPath();
    c.moveTo(cx - half, floor - high);
    c.lineTo(cx, floor);
    c.lineTo(cx + half, floor - high);
    c.stroke();
    c.strokeStyle = theme.line;
    c.beginPath();
    c.moveTo(14, floor);
    c.lineTo(width - 14, floor);
    c.moveTo(cx, floor);
    c.lineTo(cx, top);
    c.stroke();
    if (one.state !== State.Open) {
        const reach = 0.85 * high, side = mu > 0 ? Math.min(1.2, one.ratio) * 0.85 * half : 0;
        arrow(c, cx, floor, cx + side, floor - reach, theme.picked);
    }
    c.fillStyle = theme.dim;
    c.font = "10px system-ui, sans-serif";
    c.textAlign = "center";
    c.fillText(one.state === State.Open ? "open: nothing pushes" : `|λt| ${num(one.tangent, 3)} of μ λn ${num(mu * one.normal, 3)} N s`, cx, height - 8, width - 4);
    c.fillText("n", cx + 8, top + 4);
}
