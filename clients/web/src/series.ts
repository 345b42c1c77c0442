// SPDX-License-Identifier: MIT
// What the plots show: walks an episode's chunks while nobody waits for anything else. A large episode is walked in
// leaps, so that no more than a share of it is read.
import type { Episode } from "./episode";
import { energyOf, summarise } from "./measures";
import type { Frame } from "./log/frames";
import { first, nth } from "./nth";
import { CONTACT_NUMBERS } from "./store/messages";

const CHUNKS_MAX = 160; // read for plots at most: about 40 MB

export interface Series {
    step: number[];
    time: number[]; // [s]
    kinetic: number[];
    potential: number[];
    contactStep: number[];
    open: number[];
    stick: number[];
    slide: number[];
    deepest: number[]; // [m]
    defect: number[]; // [J]
    isWhole: boolean; // no chunk was leapt over
    done: number; // share
}

export function emptySeries(): Series {
    return { step: [], time: [], kinetic: [], potential: [], contactStep: [], open: [], stick: [], slide: [], deepest: [], defect: [], isWhole: true, done: 0 };
}

/** `numbers`: CONTACT_NUMBERS of them. */
export function addContacts(series: Series, step: number, numbers: readonly number[]): void {
    const [open, stick, slide, deepest, defect] = first(numbers, CONTACT_NUMBERS);
    series.contactStep.push(step);
    series.open.push(open);
    series.stick.push(stick);
    series.slide.push(slide);
    series.deepest.push(deepest);
    series.defect.push(defect);
}

const pause = () => new Promise<void>((resolve) => setTimeout(resolve, 0));

/** Fills the series; `onPart` is told now and then, and says whether to go on. */
export async function walk(episode: Episode, series: Series, onFrame: ((frame: Frame) => Promise<void>) | null, onPart: () => boolean): Promise<void> {
    const { frames, contacts } = episode;
    const leap = Math.max(1, Math.ceil((frames.refs.length + contacts.refs.length) / CHUNKS_MAX));
    series.isWhole = leap === 1;
    const chosen = (count: number) => Math.ceil(count / leap);
    const total = chosen(frames.refs.length) + chosen(contacts.refs.length);
    let done = 0, told = performance.now();
    const part = async (): Promise<boolean> => {
        series.done = ++done / total;
        await pause();
        if (performance.now() - told < 200 && done < total) {
            return true;
        }
        told = performance.now();
        return onPart();
    };
    for (let i = 0; i < frames.refs.length; i += leap) {
        for (const frame of (await frames.load(nth(frames.refs, i))) ?? []) {
            episode.meet(frame);
            const energy = energyOf(frame, episode.bodies, episode.gravity);
            series.step.push(frame.step);
            series.time.push(frame.time);
            series.kinetic.push(energy.kinetic);
            series.potential.push(energy.potential);
            await onFrame?.(frame);
        }
        if (!(await part())) {
            return;
        }
    }
    for (let i = 0; i < contacts.refs.length; i += leap) {
        for (const list of (await contacts.load(nth(contacts.refs, i))) ?? []) {
            const { states, deepest, defect } = summarise(list, episode.fall);
            addContacts(series, list.step, [...states, deepest, defect]);
        }
        if (!(await part())) {
            return;
        }
    }
}
