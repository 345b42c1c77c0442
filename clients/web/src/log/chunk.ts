// SPDX-License-Identifier: MIT
// A chunk's header and checksum, as server/log/format/chunk.h has them.
import { Damage, Source, hex } from "./bytes";
import { hashOf } from "./hash";

export const CHUNK_HEADER_BYTES = 192;
const VERSION_OLDEST = 2, VERSION_NEWEST = 11;
export const WITH_GEOMETRIES = 10; // version of seals that count them
export const WITH_SIGNATURES = 11; // version of seals that count them
export const WITH_GAINS = 7; // version of a chunk's format that tells what energy was gained
const GAIN_BYTES = 24;
const UINT32_MAX = 0xffffffff;

export enum Kind {
    KeyFrame = 1, Inputs, Frames, Contacts, Gap, Definition, Seal, Episodes, Scene, Highlights, Events, Geometries, Geometry,
    Signature,
}
export const KIND_NAMES = ["unknown", "key-frame", "inputs", "frames", "contacts", "gap", "definition", "seal",
    "episodes", "scene", "highlights", "events", "geometries", "geometry", "signature"];

/** The energy that scheme and rows gained, as server/base/gain.h has it. */
export interface Gain {
    sum: number; // [J] of all steps
    scale: number; // [J] the largest of a step
    step: number; // [J] the most of a step beyond its own share
}

const GAIN_SHARE = 0.01;

export function addGain(gain: Gain, more: Gain): Gain {
    return { sum: gain.sum + more.sum, scale: Math.max(gain.scale, more.scale), step: Math.max(gain.step, more.step) };
}

/** To the bit. */
export const isSameGain = (a: Gain, b: Gain) => Object.is(a.sum, b.sum) && Object.is(a.scale, b.scale) && Object.is(a.step, b.step);

/** [J] What is to be told of it; null: it is not known. */
export function toldGain(gain: Gain | null): number | null {
    return gain === null ? null : Math.max(gain.step, gain.sum > GAIN_SHARE * gain.scale ? gain.sum : 0);
}

export interface Figures {
    unconverged: number;
    worstOwn: number;
    worstPenetration: number; // [m]
    contactsMax: number;
    hardestImpact: number; // [m/s]
    hardestImpactStep: number;
    energyGain: number; // [J]
    energyGainStep: number;
    gain: Gain | null; // null: not known, as of what was recorded before version 7
}

export interface Chunk {
    kind: Kind;
    version: number;
    uid: string; // of its recording, in hexadecimal
    sequence: number;
    firstWorld: number;
    worldCount: number;
    firstStep: number;
    lastStep: number;
    time: number; // [s] at the last step
    writtenNs: bigint;
    figures: Figures;
    solver: string;
    predecessor: bigint;
    checksum: bigint;
    body: Uint8Array;
}

export function readFigures(source: Source): Figures {
    return {
        unconverged: source.whole(),
        worstOwn: source.f64(),
        worstPenetration: source.f64(),
        contactsMax: source.whole(),
        hardestImpact: source.f64(),
        hardestImpactStep: source.whole(),
        energyGain: source.f64(),
        energyGainStep: source.whole(),
        gain: null,
    };
}

export function readGain(source: Source): Gain {
    return { sum: source.f64(), scale: source.f64(), step: source.f64() };
}

function text16(bytes: Uint8Array): string {
    const end = bytes.indexOf(0);
    return new TextDecoder().decode(end < 0 ? bytes : bytes.subarray(0, end));
}

const hasGain = ({ kind, version }: Chunk) => kind === Kind.Inputs && version >= WITH_GAINS;

/** Where the body of a chunk like this stands. */
export const versionOf = (chunk: ArrayBuffer) => new DataView(chunk).getUint32(8, true);

/** Of a chunk of a kind without gains. */
export const bareBody = (chunk: ArrayBuffer) => new Uint8Array(chunk, CHUNK_HEADER_BYTES);

export const bodyOffset = (chunk: Chunk) => CHUNK_HEADER_BYTES + (hasGain(chunk) ? GAIN_BYTES : 0);

const hex64 = (value: bigint) => "0x" + value.toString(16).padStart(16, "0");

// Whether these are the bytes that somebody sealed.
function checkBytes(bytes: Uint8Array, bodyBytes: number, checksum: bigint): void {
    const there = bytes.length - CHUNK_HEADER_BYTES;
    if (bodyBytes !== there) {
        throw new Damage(`it is ${bodyBytes > there ? "cut short" : "too long"}: its body has ` +
            `${there} bytes instead of ${bodyBytes}`);
    }
    const found = hashOf(bytes.subarray(0, CHUNK_HEADER_BYTES - 8), bytes.subarray(CHUNK_HEADER_BYTES));
    if (found !== checksum) {
        throw new Damage(`its checksum is wrong: ${hex64(found)} instead of ${hex64(checksum)}`);
    }
}

// Whether what was sealed makes sense, and here.
function checkPlace(chunk: Chunk, flags: number, uid: string | null): void {
    if (uid !== null && chunk.uid !== uid) {
        throw new Damage("it belongs to another recording");
    }
    if (chunk.kind < Kind.KeyFrame || chunk.kind > Kind.Signature) {
        throw new Damage(`its kind, ${chunk.kind}, is unknown`);
    }
    if (flags !== 0) {
        throw new Damage(`it has flags that this page does not know (0x${flags.toString(16)}): a newer program wrote it`);
    }
    if (chunk.worldCount === 0 || chunk.firstWorld > UINT32_MAX - chunk.worldCount) {
        throw new Damage(`its range of worlds, ${chunk.worldCount} from ${chunk.firstWorld} on, cannot be`);
    }
    if (chunk.firstStep > chunk.lastStep) {
        throw new Damage(`its first step, ${chunk.firstStep}, comes after its last, ${chunk.lastStep}`);
    }
}

/** Any bytes, with everything checked that can be without the chunks beside it; `uid` null: of any recording. */
export function openChunk(bytes: Uint8Array, uid: string | null): Chunk {
    if (bytes.length < CHUNK_HEADER_BYTES) {
        throw new Damage(`it is cut short: ${bytes.length} bytes of a header of ${CHUNK_HEADER_BYTES}`);
    }
    const source = new Source(bytes.subarray(0, CHUNK_HEADER_BYTES));
    if (new TextDecoder("latin1").decode(source.part(8)) !== "MOREAUCK") {
        throw new Damage("it does not begin as a chunk does");
    }
    const version = source.u32();
    if (version < VERSION_OLDEST || version > VERSION_NEWEST) {
        throw new Damage(`its format version is ${version}, and this page reads versions ${VERSION_OLDEST} to ${VERSION_NEWEST}`);
    }
    // the checksum comes before any other number is believed
    const sealed = new Source(bytes.subarray(176, CHUNK_HEADER_BYTES));
    const bodyBytes = sealed.whole();
    const checksum = sealed.u64();
    checkBytes(bytes, bodyBytes, checksum);
    const kind = source.u32() as Kind;
    const chunk: Chunk = {
        kind, version,
        uid: hex(source.part(16)),
        sequence: source.whole(),
        firstWorld: source.u32(),
        worldCount: source.u32(),
        firstStep: source.whole(),
        lastStep: source.whole(),
        time: source.f64(),
        writtenNs: source.u64(),
        figures: readFigures(source),
        solver: text16(source.part(16)),
        predecessor: 0n, checksum,
        body: bytes.subarray(CHUNK_HEADER_BYTES),
    };
    const flags = source.u32();
    source.u32();
    chunk.predecessor = source.u64();
    checkPlace(chunk, flags, uid);
    if (hasGain(chunk)) {
        if (chunk.body.length < GAIN_BYTES) {
            throw new Damage(`it does not say what energy was gained: its body has ${chunk.body.length} bytes`);
        }
        chunk.figures.gain = readGain(new Source(chunk.body.subarray(0, GAIN_BYTES)));
        chunk.body = chunk.body.subarray(GAIN_BYTES);
    }
    return chunk;
}
