// SPDX-License-Identifier: MIT
// The strip of a running world: of each of the last frames, how far its step was from what the solver's model asks for.
import { fitCanvas } from "../ui/dom";
import { stripes } from "../ui/timeline";
import type { Theme } from "../view/palette";

const FRAMES_MAX = 600;
const LEAST = -16, MOST = 0; // powers of ten

interface Bar {
    step: number;
    residual: number;
    tolerance: number;
    converged: boolean;
}

export class Strip {
    readonly bars: Bar[] = [];

    constructor(private readonly canvas: HTMLCanvasElement) {}

    clear(): void {
        this.bars.length = 0;
    }

    add(bar: Bar): void {
        this.bars.push(bar);
        if (this.bars.length > FRAMES_MAX) {
            this.bars.shift();
        }
    }

    draw(theme: Theme): void {
        const { context, width, height } = fitCanvas(this.canvas);
        const tall = (value: number) => (Math.max(0, Math.min(1, (Math.log10(Math.max(value, 1e-300)) - LEAST) / (MOST - LEAST))) || 0) * (height - 14);
        const wide = width / FRAMES_MAX;
        this.bars.forEach((bar, i) => {
            const top = Math.max(2, tall(bar.residual));
            context.fillStyle = bar.converged ? theme.hue.blue : stripes(context, theme);
            context.fillRect((FRAMES_MAX - this.bars.length + i) * wide, height - top, Math.max(1, wide), top);
        });
        const last = this.bars[this.bars.length - 1];
        context.fillStyle = theme.dim;
        context.font = "11px system-ui, sans-serif";
        context.fillText(`residual of the solver's model, the last ${this.bars.length} frames; ${this.bars.filter((b) => !b.converged).length} did not converge`, 4, 10);
        if (last !== undefined && last.tolerance > 0) {
            context.fillRect(0, height - tall(last.tolerance), width, 1);
        }
    }
}
