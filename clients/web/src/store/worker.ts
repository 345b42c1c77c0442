// SPDX-License-Identifier: MIT
// The page's worker: reads the episode file, in place, and gives the page what it asks for. Whatever comes out of chunks has passed their
// checksums (log/chunk.ts); what is only a row of a table is said to be one.
import { Damage } from "../log/bytes";
import { Chunk, CHUNK_HEADER_BYTES, Kind, KIND_NAMES, openChunk } from "../log/chunk";
import { readDefinition, readEntries, readHighlights, readSeal, STATES, CONTENTS } from "../log/sealed";
import { BytesStore, Cached, FileStore, openUrl, Store } from "./bytes_of";
import { identify, isInUse } from "./identify";
import { Checked, ChunkRef, Course, EpisodeHead, EpisodeRow, GROUP_PAGE, GroupRow, Opened, SceneText } from "./messages";
import { Database, Row, Value } from "./sqlite";
import { WithLog } from "./wal";

const ROWS_MAX = 1000;
const SCENE_BYTES_FIRST = 400_000, SCENES_MAX = 64; // read before the first picture: a thousand bodies
const SLICE = 48; // chunks that are read before others may ask

let sqlite: WebAssembly.Module | null = null;
let store: Store | null = null;
let db: Database | null = null;

function database(): Database {
    if (db === null) {
        throw new Error("No file is open.");
    }
    return db;
}

// ---- the table of episodes

const EPISODE_SQL = `SELECT lower(hex(substr(r.uid, 1, 12))) || printf('%08x', e.number) AS uid, r.id AS recording, e.world_index, r.world_range,
    r.world_count > 1 OR r.world_range > 1 AS is_of_group, HAS_GROUPS r.name, e.state, r.content, e.first_step, e.last_step, e.simulated_s, e.seed, e.return_sum,
    r.solver, r.body_count, e.unconverged, e.begun_ns
  FROM recording r JOIN episode e ON e.id BETWEEN r.id * 4294967296 AND r.id * 4294967296 + 4294967295`; // its id begins with its recording's
const GROUP_SQL = "SELECT lower(hex(r.uid)) AS uid, id AS recording, name, state, world_count, begun_ns FROM recording r WHERE world_count > 1 OR world_range > 1";
const ORDER_SQL = ["e.id DESC", "e.id", "e.return_sum DESC, e.id", "e.return_sum IS NULL, e.return_sum, e.id", "e.length DESC, e.id", "e.length, e.id", "e.unconverged DESC, e.id", "e.world_index, e.first_step"];

// files from before groups were recorded have no columns for them
let hasGroups = true;
const episodeSql = () => EPISODE_SQL.replace("HAS_GROUPS", hasGroups ? "e.length, e.turn," : "NULL AS length, NULL AS turn,");

function toRow(row: Row): EpisodeRow {
    const nullable = (value: Value) => (value === null ? null : Number(value));
    return {
        uid: String(row.uid), recording: Number(row.recording), worldIndex: Number(row.world_index), worldRange: Number(row.world_range),
        isOfGroup: Number(row.is_of_group) !== 0, seed: row.seed === null ? null : BigInt.asUintN(64, BigInt(row.seed as bigint)),
        turn: BigInt((row.turn ?? 0) as bigint), length: nullable(row.length), returnSum: nullable(row.return_sum),
        name: String(row.name), state: STATES[Number(row.state)] ?? "unknown", content: CONTENTS[Number(row.content)] ?? "unknown",
        firstStep: Number(row.first_step), lastStep: nullable(row.last_step), simulated: nullable(row.simulated_s),
        solver: String(row.solver), bodies: Number(row.body_count), unconverged: nullable(row.unconverged), begunNs: BigInt(row.begun_ns as bigint),
    };
}

// The newest recordings, and no more of the file than that takes.
function listRecordings(): { episodes: EpisodeRow[]; groups: GroupRow[]; hasMore: boolean } {
    const newest = database().run(`SELECT id FROM recording ORDER BY id DESC LIMIT ${ROWS_MAX + 1}`);
    const least = newest.length > ROWS_MAX ? Number(newest[ROWS_MAX - 1].id) : 0;
    const episodes = database().run(`${episodeSql()} WHERE r.id >= ${least} AND r.world_count = 1 AND r.world_range = 1 ORDER BY r.id DESC, e.id DESC`).map(toRow);
    const groups = database().run(`${GROUP_SQL} AND id >= ${least} ORDER BY id DESC`).map((row): GroupRow => {
        const last = database().run("SELECT max(id) AS id FROM episode WHERE id BETWEEN ?1 * 4294967296 AND ?1 * 4294967296 + 4294967295", [row.recording])[0].id;
        return {
            uid: String(row.uid), recording: Number(row.recording), name: String(row.name), state: STATES[Number(row.state)] ?? "unknown", worlds: Number(row.world_count),
            episodes: last === null ? 0 : Number(BigInt(last as bigint) & 0xffffffffn) + 1, begunNs: BigInt(row.begun_ns as bigint),
        };
    });
    return { episodes, groups, hasMore: newest.length > ROWS_MAX };
}

/** A page of a group's episodes. Sorting by what no index knows reads all their rows. */
function group(recording: number, order: number, from: number): EpisodeRow[] {
    return database().run(`${episodeSql()} WHERE r.id = ? ORDER BY ${ORDER_SQL[order] ?? ORDER_SQL[0]} LIMIT ${GROUP_PAGE} OFFSET ?`, [recording, from]).map(toRow);
}

async function openFile(what: File | string | ArrayBuffer, log: File | null): Promise<Opened> {
    db?.close();
    db = null;
    const plain: Store = typeof what === "string" ? openUrl(what) : what instanceof File ? new FileStore(what) : new BytesStore("this page", new Uint8Array(what));
    const cached = new Cached(plain);
    const whole: Store = log === null ? cached : new WithLog(cached, new FileStore(log));
    const identity = identify(whole);
    const notes = [...whole.notes, ...identity.notes];
    if (log === null && isInUse(whole)) {
        notes.push("A server has this file open, or died with it: its newest steps may still lie in the write-ahead log beside it. Open both " +
            `files together, or make a whole one: sqlite3 ${plain.name} ".backup copy.db".`);
    }
    store = whole;
    try {
        db = await Database.open(sqlite as WebAssembly.Module, whole, identity.claimedBytes);
        hasGroups = db.run("SELECT 1 FROM pragma_table_info('episode') WHERE name = 'turn'").length > 0;
        return { name: whole.name, size: whole.size, notes, ...listRecordings() };
    } catch (error) {
        throw new Error(`${whole.name} cannot be read: ${(error as Error).message}. moreau-server --recover copies what can be read.`);
    }
}

/** By its id, the first digits of a recording's, or a name: what a link may say. The rows of one recording are looked up, and no others. */
function find(text: string): EpisodeRow | null {
    const digits = /^[0-9a-f]{4,32}$/i.test(text) ? text.toLowerCase() : "";
    const first = digits.slice(0, 24), recordings = digits === "" ? [] : database().run("SELECT id FROM recording WHERE uid BETWEEN ?1 AND ?2 LIMIT 1", [bytesOf(first.padEnd(32, "0")), bytesOf(first.padEnd(32, "f"))]);
    const number = digits.length === 32 ? parseInt(digits.slice(24), 16) : 0;
    const rows = recordings.length > 0
        ? database().run(`${episodeSql()} WHERE r.id = ?1 AND e.id = ?1 * 4294967296 + ?2`, [recordings[0].id, number])
        : database().run(`${episodeSql()} WHERE r.name = ? ORDER BY e.id DESC LIMIT 1`, [text]);
    return rows.length > 0 ? toRow(rows[0]) : null;
}

function bytesOf(digits: string): Uint8Array {
    return Uint8Array.from(digits.match(/../g) ?? [], (pair) => parseInt(pair, 16));
}

// ---- chunks

interface Open {
    row: EpisodeRow;
    recordingUid: string;
    chunks: ChunkRef[];
    checked: { sequence: number; checksum: bigint }; // of the last chunk that check() saw
}
const opened = new Map<string, Open>();

function readBytes(id: number): Uint8Array {
    const rows = database().run("SELECT bytes FROM chunk WHERE id = ?", [id]);
    if (rows.length === 0 || !(rows[0].bytes instanceof Uint8Array)) {
        throw new Damage("its row is gone");
    }
    return rows[0].bytes;
}

function name(ref: ChunkRef): string {
    return `chunk ${ref.id} (${KIND_NAMES[ref.kind] ?? "unknown"}, from step ${ref.firstStep})`;
}

// NULL, and a sentence among the damage, when it is not as it was sealed.
function readChunk(open: Open, ref: ChunkRef, damage: string[]): Chunk | null {
    try {
        const chunk = openChunk(readBytes(ref.id), open.recordingUid);
        if (chunk.kind !== ref.kind || chunk.firstStep !== ref.firstStep || chunk.sequence !== ref.sequence) {
            throw new Damage("its row says otherwise than what was sealed");
        }
        return chunk;
    } catch (error) {
        damage.push(`${name(ref)}: ${(error as Error).message}`);
        return null;
    }
}

// One index serves, and has all that is asked for: the rows themselves lie far apart. Where that is damaged, the table itself.
function listChunks(row: EpisodeRow, damage: string[]): ChunkRef[] {
    const columns = "SELECT id, kind, first_step, sequence FROM chunk";
    // of a group, what is of all worlds and what is of the range that the world is in
    const range = Math.floor(row.worldIndex / row.worldRange) * row.worldRange;
    const which = row.isOfGroup ? ` AND (first_world = ${range} AND kind = ${Kind.Inputs} OR first_world = 0 AND kind IN (${Kind.Definition}, ${Kind.Seal}, ${Kind.Scene}))` : "";
    let rows: Row[] = [];
    try {
        rows = database().run(`${columns} INDEXED BY chunk_by_step WHERE recording = ?${which}`, [row.recording]);
    } catch (error) {
        damage.push(`the list of chunks: ${(error as Error).message}`);
        try {
            rows = database().run(`${columns} NOT INDEXED WHERE recording = ?${which}`, [row.recording]);
        } catch {
            rows = [];
        }
    }
    return rows.map((r) => ({ id: Number(r.id), kind: Number(r.kind), firstStep: Number(r.first_step), sequence: Number(r.sequence) }))
        .sort((a, b) => a.kind - b.kind || a.firstStep - b.firstStep || a.sequence - b.sequence);
}

// SQLite knows how long a BLOB is without reading it.
function hasLongScenes(open: Open): boolean {
    const ids = open.chunks.filter((c) => c.kind === Kind.Scene).map((c) => c.id);
    const rows = ids.length === 0 ? [] : database().run(`SELECT sum(length(bytes)) AS bytes FROM chunk WHERE id IN (${ids.slice(0, SCENES_MAX).join()})`);
    return ids.length > SCENES_MAX || Number(rows[0]?.bytes ?? 0) > SCENE_BYTES_FIRST;
}

function readScenes(open: Open, damage: string[]): SceneText[] {
    const scenes: SceneText[] = [];
    for (const ref of open.chunks.filter((c) => c.kind === Kind.Scene)) {
        const chunk = readChunk(open, ref, damage);
        if (chunk !== null) {
            scenes.push({ step: chunk.firstStep, text: new TextDecoder().decode(chunk.body) });
        }
    }
    return scenes;
}

function scenes(uid: string): { scenes: SceneText[]; damage: string[] } {
    const damage: string[] = [];
    return { scenes: readScenes(openOf(uid), damage), damage };
}

function parse<T>(open: Open, kind: Kind, damage: string[], read: (body: Uint8Array, version: number) => T): T | null {
    const ref = open.chunks.find((c) => c.kind === kind);
    const chunk = ref === undefined ? null : readChunk(open, ref, damage);
    try {
        return chunk === null ? null : read(chunk.body, chunk.version);
    } catch (error) {
        damage.push(`${name(ref as ChunkRef)}: ${(error as Error).message}`);
        return null;
    }
}

function lastStepOf(open: Open, damage: string[]): number {
    const known = open.chunks.filter((c) => c.kind === Kind.Inputs || c.kind === Kind.Gap);
    const last = known.sort((a, b) => a.firstStep - b.firstStep).pop();
    const chunk = last === undefined ? null : readChunk(open, last, damage);
    return chunk?.lastStep ?? Math.max(0, ...open.chunks.map((c) => c.firstStep));
}

function openEpisode(uid: string): EpisodeHead {
    const row = find(uid);
    if (row === null) {
        throw new Error(`${store?.name} has no episode ${uid}.`);
    }
    const damage: string[] = [];
    const open: Open = {
        row, recordingUid: uid.slice(0, 24) + "00000000", chunks: listChunks(row, damage), checked: { sequence: -1, checksum: 0n },
    };
    opened.set(uid, open);
    const definition = parse(open, Kind.Definition, damage, readDefinition);
    if (definition === null) {
        throw new Error(`Episode ${uid.slice(0, 8)} ${row.name} has no sound definition, so nothing says what it is: ` +
            `${damage[0] ?? "it is missing"}. moreau-server --recover may find it.`);
    }
    if (row.isOfGroup) {
        const parent = database().run("SELECT parent FROM episode WHERE id = ?1 * 4294967296 + ?2", [row.recording, parseInt(uid.slice(24), 16)])[0]?.parent;
        if (parent !== null && parent !== undefined) {
            throw new Error(`Episode ${uid} began in another recording, and its group went on from a key-frame in this one: moreau verify steps it again, this page does not yet.`);
        }
        // the inputs from the call that began it to the one that ended it
        const inputs = open.chunks.filter((c) => c.kind === Kind.Inputs), end = row.lastStep ?? 0;
        const its = new Set(inputs.filter((c, i) => (inputs[i + 1]?.firstStep ?? Infinity) >= row.firstStep && c.firstStep < end));
        open.chunks = open.chunks.filter((c) => c.kind !== Kind.Inputs || its.has(c));
        return { definition, seal: null, chunks: open.chunks, scenes: hasLongScenes(open) ? null : readScenes(open, damage), lastStep: row.length ?? 0, damage };
    }
    const seal = parse(open, Kind.Seal, damage, readSeal);
    return { definition, seal, chunks: open.chunks, scenes: hasLongScenes(open) ? null : readScenes(open, damage), lastStep: seal?.lastStep ?? lastStepOf(open, damage), damage };
}

function openOf(uid: string): Open {
    const open = opened.get(uid);
    if (open === undefined) {
        throw new Error(`Episode ${uid} is not open.`);
    }
    return open;
}

const COURSE_KINDS = [Kind.Inputs, Kind.Highlights, Kind.Gap];

function course(uid: string, from: number): Course {
    const open = openOf(uid);
    const refs = open.row.isOfGroup ? [] : open.chunks.filter((c) => COURSE_KINDS.includes(c.kind)); // a group's count calls
    const slice = refs.slice(from, from + SLICE);
    const result: Course = { stretches: [], highlights: [], gaps: [], damage: [], next: from + SLICE < refs.length ? from + SLICE : null };
    for (const ref of slice) {
        const chunk = readChunk(open, ref, result.damage);
        if (chunk === null) {
            continue;
        }
        const { firstStep, lastStep, solver, time, figures } = chunk;
        try {
            if (chunk.kind === Kind.Inputs) {
                result.stretches.push({ firstStep, lastStep, solver, time, figures, entries: readEntries(chunk.body) });
            } else if (chunk.kind === Kind.Highlights) {
                result.highlights.push(...readHighlights(chunk));
            } else {
                result.gaps.push({ firstStep, lastStep });
            }
        } catch (error) {
            result.damage.push(`${name(ref)}: ${(error as Error).message}`);
        }
    }
    return result;
}

function wholeChunk(uid: string, id: number): ArrayBuffer {
    const open = openOf(uid);
    const ref = open.chunks.find((c) => c.id === id);
    if (ref === undefined) {
        throw new Error(`Episode ${uid} has no chunk ${id}.`);
    }
    const damage: string[] = [];
    const chunk = readChunk(open, ref, damage);
    if (chunk === null) {
        throw new Damage(damage[0]);
    }
    const { buffer, byteOffset, byteLength } = chunk.body;
    return buffer.slice(byteOffset - CHUNK_HEADER_BYTES, byteOffset + byteLength) as ArrayBuffer;
}

const chunkBody = (uid: string, id: number) => wholeChunk(uid, id).slice(CHUNK_HEADER_BYTES);

// ---- the whole chain

function check(uid: string, from: number): Checked {
    const open = openOf(uid);
    const refs = [...open.chunks].sort((a, b) => a.sequence - b.sequence);
    if (from === 0) {
        open.checked = { sequence: -1, checksum: 0n };
    }
    const result: Checked = { done: Math.min(from + SLICE, refs.length), total: refs.length, damage: [], next: from + SLICE < refs.length ? from + SLICE : null };
    for (const ref of refs.slice(from, from + SLICE)) {
        const before = open.checked;
        const chunk = readChunk(open, ref, result.damage);
        if (open.row.isOfGroup) {
            continue; // its chunks stand in chains with those of other episodes
        }
        if (ref.sequence !== before.sequence + 1) {
            result.damage.push(`${name(ref)}: ${ref.sequence - before.sequence - 1} chunks before it are missing`);
        } else if (chunk !== null && before.checksum !== 0n && chunk.predecessor !== before.checksum) {
            result.damage.push(`${name(ref)}: it stood behind another chunk`);
        }
        open.checked = { sequence: ref.sequence, checksum: chunk?.checksum ?? 0n };
    }
    return result;
}

// ---- calls

const calls: Record<string, (...parts: never[]) => unknown> = { open: openFile, find, group, episode: openEpisode, scenes, course, chunk: chunkBody, whole: wholeChunk, check, fetched: () => store?.fetched ?? 0 };
let queue: Promise<void> = Promise.resolve();

async function answer(id: number, call: string, parts: never[]): Promise<void> {
    try {
        const result = await calls[call](...parts);
        self.postMessage({ id, result }, { transfer: result instanceof ArrayBuffer ? [result] : [] });
    } catch (error) {
        self.postMessage({ id, error: (error as Error).message, isDamage: error instanceof Damage });
    }
}

// one after the other; the first message is SQLite's own code
self.onmessage = (event: MessageEvent) => {
    if (event.data instanceof ArrayBuffer) {
        queue = WebAssembly.compile(event.data).then((module) => {
            sqlite = module;
        });
        return;
    }
    const { id, call, parts } = event.data;
    queue = queue.then(() => answer(id, call, parts));
};
