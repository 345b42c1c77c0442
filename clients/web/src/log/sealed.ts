// SPDX-License-Identifier: MIT
// What a recording is, how it ended, which of its steps somebody will want to look at: the bodies
// that server/log/format/definition.h describes. And the faults among its entries (log/format/entries.h).
import { Damage, Source, hex } from "./bytes";
import { Chunk, Figures, WITH_GAINS, WITH_GEOMETRIES, WITH_SIGNATURES, readFigures, readGain } from "./chunk";

export const CONTENTS = ["inputs", "frames", "contacts"];
export const STATES = ["recording", "complete", "world_destroyed", "interrupted"];

export interface Definition {
    content: number;
    stride: number;
    keyframeSteps: number;
    lossy: boolean;
    worldCount: number;
    worldRange: number;
    dynamicsVersion: bigint;
    worldStep: number;
    worldTime: number; // [s]
    timeStep: number; // [s]
    bodyCount: number;
    begunNs: bigint;
    seed: bigint | null;
    parent: string | null;
    parentStep: number;
    name: string;
    solver: string;
    client: string;
    worldName: string;
    serverVersion: string;
    build: string;
    labels: string[];
    hasEvents: boolean; // who touches whom is recorded
}

const WITH_EVENTS = 6; // version of a chunk's format

export function readDefinition(body: Uint8Array, version = 4): Definition {
    const s = new Source(body);
    const content = s.whole(), stride = s.whole(), keyframeSteps = s.whole(), lossy = s.u64() !== 0n;
    const worldCount = s.whole(), worldRange = s.whole(), dynamicsVersion = s.u64(), worldStep = s.whole();
    const worldTime = s.f64(), timeStep = s.f64(), bodyCount = s.whole(), begunNs = s.u64();
    const hasSeed = s.u64() !== 0n, seed = s.u64(), hasParent = s.u64() !== 0n;
    const parent = hex(s.part(16)), parentStep = Number(s.u64());
    const name = s.text(), solver = s.text(), client = s.text(), worldName = s.text(), serverVersion = s.text(),
        build = s.text();
    const labels = Array.from({ length: s.count(8) }, () => s.text());
    s.pad();
    if (worldCount > 1 || worldRange > 1) {
        s.part(s.count(1)); // what the group is, which the dynamics read
        s.pad();
    }
    const hasEvents = version >= WITH_EVENTS && s.u64() !== 0n;
    s.end("definition");
    if (content >= CONTENTS.length || stride === 0 || worldCount === 0 || worldRange === 0) {
        throw new Damage("what it defines cannot be");
    }
    return {
        content, stride, keyframeSteps, lossy, worldCount, worldRange, dynamicsVersion, worldStep, worldTime,
        timeStep, bodyCount, begunNs, seed: hasSeed ? seed : null, parent: hasParent ? parent : null, parentStep,
        name, solver, client, worldName, serverVersion, build, labels, hasEvents,
    };
}

export interface Seal {
    state: number;
    lastStep: number;
    time: number; // [s]
    droppedSteps: number;
    endedNs: bigint;
    isFound: boolean; // nobody ended it: somebody who came later says what was there
    episodeCount: number;
    figures: Figures;
    chunkCount: number[]; // by kind
    chains: { firstWorld: number; worldCount: number; chunkCount: number; checksum: bigint }[];
    why: string;
}

const NAME_BYTES = 32;

/** The names of geometries (SHA-256), in hexadecimal. */
export function readGeometries(body: Uint8Array): string[] {
    const s = new Source(body);
    const names = Array.from({ length: s.count(NAME_BYTES + 8) }, () => {
        const name = hex(s.part(NAME_BYTES));
        s.u64(); // how many bytes it has
        return name;
    });
    s.end("names of geometries");
    return names;
}

const KIND_COUNT = 11, KIND_COUNT_WITH_EVENTS = 12, KIND_COUNT_WITH_GEOMETRIES = 14, KIND_COUNT_WITH_SIGNATURES = 15;
const kindsOf = (version: number) => (version >= WITH_SIGNATURES ? KIND_COUNT_WITH_SIGNATURES : version >= WITH_GEOMETRIES ? KIND_COUNT_WITH_GEOMETRIES : version >= WITH_EVENTS ? KIND_COUNT_WITH_EVENTS : KIND_COUNT);

export function readSeal(body: Uint8Array, version = 4): Seal {
    const s = new Source(body);
    const seal: Seal = {
        state: s.whole(), lastStep: s.whole(), time: s.f64(), droppedSteps: s.whole(), endedNs: s.u64(),
        isFound: s.u64() !== 0n, episodeCount: s.whole(), figures: readFigures(s),
        chunkCount: Array.from({ length: kindsOf(version) }, () => s.whole()), chains: [], why: "",
    };
    seal.chains = Array.from({ length: s.count(24) }, () => ({
        firstWorld: s.u32(), worldCount: s.u32(), chunkCount: s.whole(), checksum: s.u64(),
    }));
    seal.why = s.text();
    s.pad();
    if (version >= WITH_GAINS && (version < WITH_GEOMETRIES || s.left > 0)) {
        seal.figures.gain = readGain(s);
    }
    s.end("seal");
    if (seal.state >= STATES.length) {
        throw new Damage("its state is unknown");
    }
    return seal;
}

export const HIGHLIGHTS = ["unknown", "unconverged", "impact", "energy_gain", "launch", "broken"];
export const HIGHLIGHT_UNITS = ["", "", "m/s", "J", "m/s", "joints"];
export const REASONS = ["", "iterations ended", "budget ended", "stalled", "diverged", "time limit", "not finite"];

export interface Highlight {
    kind: number;
    firstStep: number;
    lastStep: number;
    step: number; // the worst of them
    value: number;
    reason: number;
    body: number;
    contacts: number;
    other: number;
    height: number; // [m]
    joint: number;
}

export function readHighlights(chunk: Chunk): Highlight[] {
    const s = new Source(chunk.body);
    const hasReasons = chunk.version >= 3, hasLaunches = chunk.version >= 4, hasJoints = chunk.version >= 5;
    const count = s.count(hasJoints ? 88 : hasLaunches ? 80 : hasReasons ? 64 : 40);
    const highlights = Array.from({ length: count }, () => ({
        kind: s.whole(), firstStep: s.whole(), lastStep: s.whole(), step: s.whole(), value: s.f64(),
        reason: hasReasons ? s.whole() : 0, body: hasReasons ? s.whole() : 0, contacts: hasReasons ? s.whole() : 0,
        other: hasLaunches ? s.whole() : 0, height: hasLaunches ? s.f64() : 0,
        joint: hasJoints ? s.whole() : 0,
    }));
    s.end("highlights");
    return highlights;
}

export interface EntryMark {
    step: number; // before it
    kind: number; // of the input (run/worlds/input.h): 5 is an order of steps
    faulted: boolean;
    steps: number; // taken
}

const INPUT_STEP = 5, ENTRY_FAULTED = 1;

/** The entries of an inputs chunk, without what stands in the inputs. */
export function readEntries(body: Uint8Array): EntryMark[] {
    const s = new Source(body);
    const marks: EntryMark[] = [];
    while (s.left > 0) {
        const step = s.whole(), flags = s.u32(), hashes = s.u32();
        const input = s.part(s.count(1));
        s.part(8 * hashes);
        const kind = new Source(input).u32();
        const faulted = (flags & ENTRY_FAULTED) !== 0;
        marks.push({ step, kind, faulted, steps: kind === INPUT_STEP ? hashes - (faulted ? 1 : 0) : 0 });
    }
    return marks;
}
