// SPDX-License-Identifier: MIT
// The worker that steps an episode again: once along the whole chain, comparing all that is stored, and on the side to
// any step that somebody wants to look at and that was not stored.
import { bareBody, versionOf } from "../log/chunk";
import { Contacts, Frame, readContacts, readFrames } from "../log/frames";
import { summarise } from "../measures";
import { nth } from "../nth";
import { Dynamics, ENTRY_NAMES, Next, PARAMETERS_MAX, REPORT } from "./dynamics";
import { callOf, CallTable, GroupEpisode, GroupNumbers, Proven, Shown } from "./messages";
import type { Choice, Trial } from "./trial";

const SLICE_MS = 100; // of the chain, before others may ask
const SHOWN_BYTES_MAX = 32 << 20; // of frames on the way to one that is asked for, which are shown next when playing backward

let chain: Dynamics | null = null; // along all chunks
let side: Dynamics | null = null; // to single steps
let module: WebAssembly.Module | null = null;
const worn: ArrayBuffer[] = []; // chunks of geometries, each of which is its own name's proof

function fresh(): Dynamics {
    const made = new Dynamics(module as WebAssembly.Module);
    worn.forEach((chunk) => made.geometry(chunk));
    return made;
}

function geometry(chunk: ArrayBuffer): string | null {
    try {
        (chain ??= fresh()).geometry(chunk);
        side?.geometry(chunk);
        worn.push(chunk);
        return null;
    } catch (error) {
        return (error as Error).message;
    }
}


// ---- the chain

let begun = false;
const frames = new Map<number, Frame>(), contacts = new Map<number, Contacts>(); // stored, and to be compared

function sameBits(a: Float64Array, b: Float64Array): boolean {
    const x = new BigInt64Array(a.buffer, a.byteOffset, a.length), y = new BigInt64Array(b.buffer, b.byteOffset, b.length);
    return x.length === y.length && x.every((v, i) => v === y[i]);
}

function compareFrame(step: number): string | null {
    const stored = frames.get(step), live = stored === undefined ? null : (chain as Dynamics).frame();
    frames.delete(step);
    if (stored === undefined) {
        return null;
    }
    const same = live !== null && stored.time === live.time && stored.ids.length === live.ids.length && stored.ids.every((id, i) => id === live.ids[i]) &&
        sameBits(stored.pose, live.pose) && sameBits(stored.velocity, live.velocity) && sameBits(stored.jointPosition, live.jointPosition) &&
        sameBits(stored.jointVelocity, live.jointVelocity) && (stored.jointOrders.length === 0 || sameBits(stored.jointOrders, live.jointOrders));
    return same ? null : `the frame of step ${step} is not what was stepped to`;
}

function compareContacts(step: number): string | null {
    const stored = contacts.get(step), live = stored === undefined ? null : (chain as Dynamics).contacts();
    contacts.delete(step);
    if (stored === undefined) {
        return null;
    }
    const columns = ["point", "frame", "gap", "impulse", "velocity", "friction"] as const;
    const same = live !== null && stored.count === live.count && columns.every((c) => sameBits(stored[c], live[c])) &&
        stored.bodyA.every((id, i) => id === live.bodyA[i]) && stored.bodyB.every((id, i) => id === live.bodyB[i]) &&
        stored.feature.every((f, i) => f === live.feature[i]);
    return same ? null : `the contacts of step ${step} are not those that were stepped to`;
}

function differs(does: (live: Dynamics) => void): string | null {
    try {
        does((chain ??= fresh()));
        return null;
    } catch (error) {
        return (error as Error).message;
    }
}

const definition = (chunk: ArrayBuffer) => differs((live) => live.definition(chunk));
const scene = (chunk: ArrayBuffer) => differs((live) => live.scene(chunk));
const list = (firstWorld: number, worldRange: number) => differs((live) => live.list(firstWorld, worldRange));
const listChunk = (chunk: ArrayBuffer, kind: number) => differs((live) => live.listChunk(chunk, kind));
const listEnd = (isWhole: boolean) => differs((live) => live.listEnd(isWhole));

const keyframe = (chunk: ArrayBuffer, begins: boolean) => differs((live) => {
    if (begun && !begins) {
        live.compare(chunk);
    } else {
        live.keyframe(chunk);
        begun = true;
    }
});

// In the place of a key-frame.
const group = (chunk: ArrayBuffer, of: GroupEpisode) => differs((live) => {
    live.group(chunk, of);
    begun = true;
});

// A chunk of inputs, or some time of what is left of it: a report for each of its steps.
function inputs(chunk: ArrayBuffer | null, fall: number | null): Proven {
    const live = (chain ??= fresh()), begun = performance.now();
    const proven: Proven = {
        firstStep: live.step, entries: [], ms: [], worst: [], unconverged: [], doubtful: [], worstSubstep: [], energy: [], contacts: [], faults: 0,
        compared: live.compared, isMore: false, difference: null,
    };
    try {
        if (chunk !== null) {
            live.inputs(chunk);
        }
        for (;;) {
            const at = performance.now();
            if (at - begun > SLICE_MS) {
                proven.isMore = true;
                return proven;
            }
            const next = live.next();
            if (next === Next.Failed) {
                throw new Error(live.message);
            }
            if (next === Next.End) {
                return proven;
            }
            if (next === Next.Fault) {
                proven.faults++;
                continue;
            }
            proven.ms.push(performance.now() - at);
            note(live, proven, fall);
            const difference = compareFrame(live.step) ?? compareContacts(live.step);
            if (difference !== null) {
                throw new Error(difference);
            }
        }
    } catch (error) {
        proven.difference = (error as Error).message;
        return proven;
    }
}

function note(live: Dynamics, proven: Proven, fall: number | null): void {
    const report = live.report();
    proven.entries.push(...report.subarray(0, ENTRY_NAMES.length));
    proven.energy.push(...report.subarray(REPORT.energy, REPORT.energy + 3));
    proven.unconverged.push(nth(report, REPORT.unconverged));
    proven.doubtful.push(report[REPORT.doubtful] !== 0);
    proven.worstSubstep.push(nth(report, REPORT.worstSubstep));
    proven.worst.push(live.worst());
    proven.compared = live.compared;
    const list = fall === null ? null : live.contacts();
    if (list !== null && fall !== null) {
        const { states, deepest, defect } = summarise(list, fall);
        proven.contacts.push(...states, deepest, defect);
    }
}


function store(kind: "frames" | "contacts", chunk: ArrayBuffer): string | null {
    try {
        if (kind === "frames") {
            readFrames(bareBody(chunk)).forEach((f) => frames.set(f.step, f));
        } else {
            readContacts(bareBody(chunk), versionOf(chunk)).forEach((c) => contacts.set(c.step, c));
        }
        return begun ? compareFrame((chain as Dynamics).step) : null; // of the state that it begins with
    } catch (error) {
        return (error as Error).message;
    }
}

const gain = () => chain?.gain ?? null;

// Frames without steps that lead to them prove nothing.
function end(): string | null {
    const left = [...frames.keys(), ...contacts.keys()].sort((a, b) => a - b);
    return left.length === 0 ? null : `${left.length} frames or lists of contacts, from step ${left[0]} on, stand for steps that no input leads to`;
}

// ---- on the side

let sideOf: GroupEpisode | null = null;

function sideGroup(definition: ArrayBuffer, of: GroupEpisode): GroupNumbers {
    side ??= fresh();
    side.group(definition, of);
    sideOf = of;
    return side.groupNumbers;
}

function sideBegin(keyframe: ArrayBuffer | null): number {
    side ??= fresh();
    if (sideOf !== null) {
        side.episode(sideOf);
    }
    if (keyframe !== null) {
        side.keyframe(keyframe);
    }
    return side.step;
}

function sideInputs(chunk: ArrayBuffer): void {
    (side as Dynamics).inputs(chunk);
}

// Up to a step, or to the end of these inputs; what is passed on the way is kept while there is room.
function sideTo(step: number): { at: number; place: number; compared: number; shown: Shown[]; difference: string | null } {
    const live = side as Dynamics, shown: Shown[] = [];
    const result = (difference: string | null) => ({ at: live.step, place: live.place, compared: live.compared, shown, difference });
    let room = SHOWN_BYTES_MAX;
    const keep = () => {
        const frame = live.frame();
        if (frame !== null && (room > 0 || live.step === step)) {
            const list = live.contacts();
            room -= 104 * frame.ids.length + 184 * (list?.count ?? 0);
            const worst = nth(live.report(), REPORT.worstSubstep);
            shown.push({ frame, contacts: list, worstSubstep: Number.isFinite(worst) ? worst : -1 });
        }
    };
    if (live.step === step) {
        keep();
    }
    while (live.step < step) {
        const next = live.next();
        if (next === Next.Failed) {
            return result(live.message);
        }
        if (next === Next.End) {
            break;
        }
        keep();
    }
    return result(null);
}

// The step behind the one that the side is at; Next.End: the inputs have ended before it.
function hold(substep: number): { next: Next; own: Choice } {
    const live = side as Dynamics, next = live.hold(substep);
    if (next === Next.Failed) {
        throw new Error(live.message);
    }
    return { next, own: live.own(PARAMETERS_MAX) };
}

const TRIES = 30, TRIES_MS = 30; // a page's clock ticks every 0.1 ms: the mean of some counts, where they are short

function trial(choice: Choice): Trial {
    const begun = performance.now(), first = (side as Dynamics).try(choice);
    let tries = 1, ms = first.ms;
    for (; tries < TRIES && first.failure === "" && performance.now() - begun < TRIES_MS; tries++) {
        ms += (side as Dynamics).try(choice).ms;
    }
    return { ...first, ms: ms / tries };
}

const any = () => side ?? (chain ??= fresh());

const calls: CallTable = {
    version: () => any().version, solvers: () => any().solvers, group, geometry, keyframe, definition, scene, list, listChunk, listEnd, inputs, store, gain, end, sideGroup, sideBegin, sideInputs, sideTo, hold, trial,
};

self.onmessage = (event: MessageEvent) => {
    if (event.data instanceof ArrayBuffer) {
        module = new WebAssembly.Module(event.data);
        return;
    }
    const { id, call, parts } = event.data;
    try {
        self.postMessage({ id, result: callOf(calls, call)(...(parts as never[])) });
    } catch (error) {
        self.postMessage({ id, error: (error as Error).message });
    }
};
