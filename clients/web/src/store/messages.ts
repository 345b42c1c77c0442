// SPDX-License-Identifier: MIT
// What the page and its worker say to each other.
import type { Figures } from "../log/chunk";
import type { Contacts, Frame } from "../log/frames";
import type { Definition, EntryMark, Highlight, Seal } from "../log/sealed";
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
}

export const GROUP_ORDERS = ["newest", "oldest", "highest return", "lowest return", "longest", "shortest", "most unconverged", "world, then turn"];
export const GROUP_PAGE = 100; // episodes

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
    unconverged: number | null;
    begunNs: bigint;
}

export interface ChunkRef {
    id: number;
    kind: number;
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

/** Steps that were stepped again. */
export interface Proven {
    firstStep: number; // the step before them
    entries: number[]; // of certificates, eight a step
    converged: boolean[];
    ms: number[]; // how long each took here
    worst: string[]; // name of the worst contact; "": none
    faults: number;
    difference: string | null; // behind the last of them, in half a sentence
}

/** Which episode of which world, as its row says; what is otherwise differs when it is stepped again. */
export interface GroupEpisode {
    world: number;
    seed: bigint;
    turn: bigint;
    begunCall: number; // on the world's range
    endedCall: number;
}

export interface Shown {
    frame: Frame;
    contacts: Contacts | null;
}

export interface ProverCalls {
    version(): number;
    group(chunk: ArrayBuffer, of: GroupEpisode): string | null;
    keyframe(chunk: ArrayBuffer, begins: boolean): string | null;
    inputs(chunk: ArrayBuffer): Proven;
    store(kind: "frames" | "contacts", chunk: ArrayBuffer): string | null;
    end(): string | null;
    sideBegin(chunk: ArrayBuffer, of: GroupEpisode | null): number;
    sideInputs(chunk: ArrayBuffer): void;
    sideTo(step: number): { at: number; shown: Shown[]; difference: string | null };
    solvers(): string;
    hold(): { next: number; own: Choice };
    trial(choice: Choice): Trial;
}

export interface Calls {
    open(what: File | string | ArrayBuffer, log: File | null): Opened;
    find(text: string): EpisodeRow | null;
    group(recording: number, order: number, from: number): EpisodeRow[];
    episode(uid: string): EpisodeHead;
    scenes(uid: string): { scenes: SceneText[]; damage: string[] };
    course(uid: string, from: number): Course;
    chunk(uid: string, id: number): ArrayBuffer; // its body
    whole(uid: string, id: number): ArrayBuffer; // with its header
    check(uid: string, from: number): Checked;
    fetched(): number;
}
