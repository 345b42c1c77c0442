// SPDX-License-Identifier: MIT
// What the page and its worker say to each other.
import type { Figures, Gain, Kind } from "../log/chunk";
import type { Contacts, Frame } from "../log/frames";
import type { Signed } from "../log/signed";
import type { Definition, EntryMark, Highlight, Seal } from "../log/sealed";
import type { Next } from "./dynamics";
import type { Choice, Trial } from "./trial";

export interface Opened {
    name: string;
    size: number; // [bytes]
    notes: string[];
    episodes: EpisodeRow[]; // the newest first, of single worlds
    groups: GroupRow[]; // likewise
    hasMore: boolean; // recordings that are older than these
}

/** A recording of a group: nobody has checked it. */
export interface GroupRow {
    uid: string; // of its first episode
    recording: number;
    name: string;
    state: string;
    worlds: number;
    episodes: number; // that it has, or had before some were deleted
    begunNs: bigint;
    hasOpinion: boolean; // its episodes have doubtful steps counted
}

export const GROUP_ORDERS = [
    "newest", "oldest", "highest return", "lowest return", "longest", "shortest", "most unconverged", "world, then turn", "lowest seed", "highest seed",
    "most doubtful steps", "largest doubtful share", "largest gap of an opinion",
];
export const GROUP_PAGE = 100; // episodes

/** Which of a group's episodes; null: any. */
export interface GroupFilter {
    world: number | null;
    seed: bigint | null;
    returnLeast: number | null;
    returnMost: number | null;
    lengthLeast: number | null;
    lengthMost: number | null;
    isDoubtful: boolean; // with at least one doubtful step
}

export const GROUP_ALL: GroupFilter = { world: null, seed: null, returnLeast: null, returnMost: null, lengthLeast: null, lengthMost: null, isDoubtful: false };

export interface GroupPage {
    rows: EpisodeRow[];
    total: number; // that pass the filter; of all without one, as many as there are or were
}

/** A row of the table: nobody has checked it. */
export interface EpisodeRow {
    uid: string;
    recording: number;
    worldIndex: number;
    worldRange: number;
    isOfGroup: boolean;
    seed: bigint | null; // of a group's, as what follows
    turn: bigint;
    length: number | null; // steps of the group
    returnSum: number | null;
    name: string;
    state: string;
    content: string;
    firstStep: number;
    lastStep: number | null;
    simulated: number | null; // [s]
    solver: string;
    bodies: number;
    unconverged: number | null; // steps; of a group's: substeps
    gain: Gain | null; // of its steps; null: not known
    begunNs: bigint;
    parent: string | null; // id; of a group's: of the recording in which it began …
    parentStep: number; // … and how many of its steps are there
    doubtfulSteps: number | null; // of a group's with an opinion, as what follows
    returnDoubtful: number | null; // what of the return was earned in them
    opinions: number | null; // steps that were solved again, exactly
    opinionGap: number | null; // of the worst of them, as a share of V
}

/** What of an episode's return was earned in doubtful steps, -1 … 1; as doubtful_share in the file. */
export function doubtfulShare({ returnSum, returnDoubtful: d }: EpisodeRow): number | null {
    return d === null || returnSum === null ? null : d / Math.max(Math.abs(d) + Math.abs(returnSum - d), 1e-300);
}

export type CallTable = Record<string, (...parts: never[]) => unknown>;

export function callOf(calls: CallTable, name: string): (...parts: never[]) => unknown {
    const found = calls[name];
    if (found === undefined) {
        throw new Error(`there is no call ${name}`);
    }
    return found;
}

export interface ChunkRef {
    id: number;
    kind: Kind;
    firstStep: number; // of a group's inputs: of calls on the range of worlds
    sequence: number;
}

export interface SceneText {
    step: number;
    text: string;
}

/** From chunks whose checksums fit. */
export interface EpisodeHead {
    definition: Definition;
    seal: Seal | null;
    chunks: ChunkRef[]; // in the order of kinds and steps
    signatures: number; // that it holds: what they are worth nobody has seen
    scenes: SceneText[] | null; // null: they are long, and asked for behind the first picture
    lastStep: number;
    damage: string[];
}

export interface Stretch {
    firstStep: number;
    lastStep: number;
    solver: string;
    time: number; // [s]
    figures: Figures;
    entries: EntryMark[];
}

export interface Course {
    stretches: Stretch[];
    highlights: Highlight[];
    gaps: { firstStep: number; lastStep: number }[];
    damage: string[];
    next: number | null; // where to go on; null: this was the end
}

/** Of some chunks in their order: whether each is as it was sealed, and stands behind the one that it stood behind. */
export interface Checked {
    done: number;
    total: number;
    damage: string[];
    next: number | null;
}

/** Who signed an episode, once all of it was read. */
export interface SignedSoFar {
    done: number; // chunks
    total: number;
    result: Signed | null;
}

/** Steps that were stepped again. */
export interface Proven {
    firstStep: number; // the step before them
    entries: number[]; // of certificates, eight a step
    ms: number[]; // how long each took here
    worst: string[]; // name of the worst contact; "": none
    unconverged: number[]; // substeps of each; of a single world's 0 or 1
    doubtful: boolean[];
    worstSubstep: number[];
    energy: number[]; // before, after, applied [J], three a step
    contacts: number[]; // CONTACT_NUMBERS a step, where nothing is stored of them
    faults: number;
    compared: number; // the last step behind which a hash was the same
    isMore: boolean; // these inputs go on
    difference: string | null; // behind the last of them, in half a sentence
}

export const CONTACT_NUMBERS = 5; // open, stick, slide, the deepest overlap [m], the largest defect [J]

/** Which episode of which world, as its row says; what is otherwise differs when it is stepped again. */
export interface GroupEpisode {
    world: number;
    seed: bigint;
    turn: bigint;
    begunCall: number; // on the world's range
    endedCall: number;
    before: number; // steps that were taken before the recording began
}

/** What the definition of a group says. */
export interface GroupNumbers {
    substeps: number;
    timeStep: number; // [s] of a substep
    opinion: { share: number; tolerance: number; doubt: number } | null;
    hashSteps: number; // states are hashed behind so many steps
}

export interface Shown {
    frame: Frame;
    contacts: Contacts | null;
    worstSubstep: number; // -1: nothing was stepped
}

/** What the list of a group's episodes is compared with the calls by: chunks of finished episodes, perhaps a key-frame in front of all calls, and all calls on the range, in this order. */
export interface Listing {
    firstWorld: number; // of the range
    worldRange: number;
    isWhole: boolean; // by the seal: nothing may be missing at its end
    isLong: boolean; // it is read when somebody asks for it
    chunks: ChunkRef[];
}

/** The chunks of geometries that are there, and a sentence for each that is not. */
export interface Geometries {
    chunks: ArrayBuffer[];
    lacks: string[];
}

export interface ProverCalls {
    version(): number;
    group(chunk: ArrayBuffer, of: GroupEpisode): string | null;
    geometry(chunk: ArrayBuffer): string | null; // in front of whatever names it
    keyframe(chunk: ArrayBuffer, begins: boolean): string | null;
    definition(chunk: ArrayBuffer): string | null; // against the state that the recording begins with, as the scene
    scene(chunk: ArrayBuffer): string | null;
    list(firstWorld: number, worldRange: number): string | null;
    listChunk(chunk: ArrayBuffer, kind: number): string | null;
    listEnd(isWhole: boolean): string | null;
    inputs(chunk: ArrayBuffer | null, fall: number | null): Proven; // null: those at hand go on; contacts are judged by what gravity gives in a step [m/s]
    store(kind: "frames" | "contacts", chunk: ArrayBuffer): string | null;
    gain(): Gain | null; // of what was stepped of a group's episode
    end(): string | null;
    sideGroup(definition: ArrayBuffer, of: GroupEpisode): GroupNumbers;
    sideBegin(keyframe: ArrayBuffer | null): number; // null: a group's, by the call that began it
    sideInputs(chunk: ArrayBuffer): void;
    sideTo(step: number): { at: number; place: number; compared: number; shown: Shown[]; difference: string | null };
    solvers(): string;
    hold(substep: number): { next: Next; own: Choice };
    trial(choice: Choice): Trial;
}

export interface Calls {
    open(what: File | string | ArrayBuffer, log: File | null): Opened;
    find(text: string): EpisodeRow | null;
    group(recording: number, order: number, filter: GroupFilter, from: number): GroupPage;
    episode(uid: string): EpisodeHead;
    scenes(uid: string): { scenes: SceneText[]; damage: string[] };
    course(uid: string, from: number): Course;
    whole(uid: string, id: number): ArrayBuffer; // with its header
    geometries(uid: string): Geometries; // that its recording names
    listing(uid: string): Listing | null; // of a group's episode; null: no seal says how many there are
    check(uid: string, from: number): Checked;
    signed(uid: string, key: Uint8Array | null, begins: boolean): SignedSoFar; // null: whoever signed it first
    fetched(): number;
}
