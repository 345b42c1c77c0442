// SPDX-License-Identifier: MIT
// A second episode on the clock of the first: where it is, how far its bodies are, and since when. The clock is
// simulated time since each recording began, whatever the time steps are; of what was made of the first (fork,
// compare), since the first began.
import type { Episode } from "./episode";
import type { Frame } from "./log/frames";
import { differenceOf } from "./measures";
import { emptySeries, Series, walk } from "./series";

const SAME_TIME = 1e-6; // of a time step
const TOLD_MS = 200; // between two words about how far it is

/** An episode, and where its frames come from: the file, or being stepped again. */
export interface Source {
    episode: Episode;
    frameOf(step: number): Promise<Frame | null>;
}

/** When the frame is, since the episode began [s]. */
const timeOf = (episode: Episode, frame: Frame) => frame.time - episode.begun;

/** The frame that stands at this time, or the last one before it. Where time steps were all alike, the first look finds it. */
async function frameAtTime(source: Source, time: number): Promise<Frame | null> {
    const { episode } = source, nearly = SAME_TIME * episode.timeStep;
    let frame = await source.frameOf(Math.floor(time / episode.timeStep + SAME_TIME));
    if (frame === null || Math.abs(timeOf(episode, frame) - frame.step * episode.timeStep) <= nearly) {
        return frame;
    }
    for (let low = 0, high = episode.lastStep; low < high;) {
        const middle = Math.ceil((low + high) / 2), at = await source.frameOf(middle);
        if (at !== null && timeOf(episode, at) <= time + nearly) {
            frame = at;
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    return frame;
}

export class Beside {
    readonly series: Series = emptySeries();
    readonly steps: number[] = []; // of the first episode, at which the second has a frame at the same time
    readonly distance: number[] = []; // [m]
    /** The first step whose poses are not the same bit by bit; -1: none so far. */
    firstDivergent = -1;
    isComparable = true;

    private readonly begun: number; // the second, on the first's clock [s]

    readonly first: Episode;
    readonly second: Episode;

    constructor(from: Source, private readonly other: Source) {
        this.first = from.episode;
        this.second = other.episode;
        const isChild = this.second.head.definition.parent === this.first.row.uid;
        this.begun = isChild ? this.second.begun - this.first.begun : 0;
    }

    /** Of the second, when the first shows this frame; null before it began. */
    async frameAt(frame: Frame | null, step: number): Promise<Frame | null> {
        const time = (frame === null ? step * this.first.timeStep : timeOf(this.first, frame)) - this.begun;
        return time < -SAME_TIME * this.second.timeStep ? null : frameAtTime(this.other, Math.max(time, 0));
    }

    /** Walks both, from sources that nobody else steps; `onPart` says whether to go on. */
    async run(first: Source, second: Source, onPart: () => boolean): Promise<void> {
        const nearly = SAME_TIME * Math.min(this.first.timeStep, this.second.timeStep);
        const compare = async (frame: Frame) => {
            const time = timeOf(this.second, frame) + this.begun, beside = await frameAtTime(first, time);
            if (beside === null || Math.abs(timeOf(this.first, beside) - time) > nearly) {
                return; // the first has none at that time
            }
            const difference = differenceOf(beside, frame);
            this.isComparable &&= difference.isComparable;
            this.steps.push(beside.step);
            this.distance.push(difference.distance);
            if (!difference.isSame && this.firstDivergent < 0) {
                this.firstDivergent = beside.step;
            }
        };
        if (this.second.hasFrames) {
            await walk(this.second, this.series, compare, onPart);
            return;
        }
        for (let step = 0, told = performance.now(); step <= this.second.lastStep; step++) {
            const frame = await second.frameOf(step);
            if (frame === null) {
                break;
            }
            await compare(frame);
            if (performance.now() - told > TOLD_MS) {
                told = performance.now();
                if (!onPart()) {
                    return;
                }
            }
        }
        onPart();
    }
}
