// SPDX-License-Identifier: MIT
// A second episode on the clock of the first: where it is, how far its bodies are, and since when.
import type { Episode } from "./episode";
import type { Frame } from "./log/frames";
import { differenceOf } from "./measures";
import { emptySeries, Series, walk } from "./series";

export class Beside {
    readonly series: Series = emptySeries();
    readonly steps: number[] = []; // of the first episode
    readonly distance: number[] = []; // [m]
    /** The first step whose poses are not the same bit by bit; -1: none so far. */
    firstDivergent = -1;
    isComparable = true;

    constructor(readonly first: Episode, readonly second: Episode) {}

    /** The same simulated time; where both have the same time step, the same step. */
    stepOf(step: number): number {
        return this.second.snap((step * this.first.timeStep) / this.second.timeStep);
    }

    frameAt(step: number): Promise<Frame | null> {
        return this.second.frameAt(this.stepOf(step));
    }

    /** Walks both; `onPart` says whether to go on. */
    async run(onPart: () => boolean): Promise<void> {
        const ratio = this.second.timeStep / this.first.timeStep;
        const compare = async (frame: Frame) => {
            const step = Math.round(frame.step * ratio);
            const isOnClock = Math.abs(step - frame.step * ratio) < 1e-6 && step % this.first.stride === 0 && step <= this.first.lastStep;
            const beside = isOnClock ? await this.first.frameAt(step) : null;
            if (beside === null || beside.step !== step) {
                return;
            }
            const difference = differenceOf(beside, frame);
            this.isComparable &&= difference.isComparable;
            this.steps.push(step);
            this.distance.push(difference.distance);
            if (!difference.isSame && this.firstDivergent < 0) {
                this.firstDivergent = step;
            }
        };
        await walk(this.second, this.series, compare, onPart);
    }
}
