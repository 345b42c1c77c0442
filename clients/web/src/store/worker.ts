// SPDX-License-Identifier: MIT
// The page's worker: reads the episode file, in place, and gives the page what it asks for. Whatever comes out of
// chunks has passed their checksums (log/chunk.ts); what is only a row of a table is said to be one.
import { Damage } from "../log/bytes";
import { bodyOffset, Chunk, Kind, KIND_NAMES, openChunk } from "../log/chunk";
import { Link, SignedCheck } from "../log/signed";
import { readDefinition, readEntries, readGeometries, readHighlights, readSeal, Seal, STATES, CONTENTS } from "../log/sealed";
import { nth } from "../nth";
import { BytesStore, Cached, FileStore, openUrl, Store } from "./bytes_of";
import { identify, isInUse } from "./identify";
import { callOf, CallTable, Checked, ChunkRef, Course, EpisodeHead, EpisodeRow, Geometries, GROUP_ALL, GROUP_PAGE, GroupFilter, GroupPage, GroupRow, Listing, Opened, SceneText, SignedSoFar } from "./messages";
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

// CROSS: recordings first, or SQLite reads an index of all episodes where it thinks them few
const EPISODE_SQL = `SELECT lower(hex(substr(r.uid, 1, 12))) || printf('%08x', e.number) AS uid, r.id AS recording, e.world_index, r.world_range,
    r.world_count > 1 OR r.world_range > 1 AS is_of_group, OF_GROUPS r.name, e.state, r.content, e.first_step, e.last_step, e.simulated_s, e.seed, e.return_sum,
    r.solver, r.body_count, e.unconverged, e.begun_ns, lower(hex(e.parent)) AS parent, e.parent_step
  FROM recording r CROSS JOIN episode e ON e.id BETWEEN r.id * 4294967296 AND r.id * 4294967296 + 4294967295`; // its id begins with its recording's
const OF_RECORDING = "id BETWEEN ?1 * 4294967296 AND ?1 * 4294967296 + 4294967295";
const GROUP_SQL = "SELECT lower(hex(r.uid)) AS uid, id AS recording, name, state, world_count, begun_ns FROM recording r WHERE world_count > 1 OR world_range > 1";
const SHARE_SQL = "return_doubtful / max(abs(return_doubtful) + abs(return_sum - return_doubtful), 1e-300)";
// one signed number has all 64 bits of a seed
const ORDER_SQL = [
    "id DESC", "id", "return_sum DESC, id", "return_sum IS NULL, return_sum, id", "length DESC, id", "length, id", "unconverged DESC, id", "world_index, first_step",
    "seed < 0, seed, id", "seed < 0 DESC, seed DESC, id", "DOUBTFUL DESC, id", "SHARE DESC, id", "GAP DESC, id",
];

// files from before groups were recorded, or before they had opinions, or gains were told, have no columns for them
let hasGroups = true, hasOpinions = true, hasGains = true;
const columnsOf = (has: boolean, names: string) => names.split(" ").map((name) => `${has ? "e." : "NULL AS "}${name}, `).join("");
const episodeSql = () => EPISODE_SQL.replace("OF_GROUPS", columnsOf(hasGroups, "length turn") + columnsOf(hasOpinions, "doubtful_steps return_doubtful opinions opinion_gap_max") +
    columnsOf(hasGains, "gain gain_scale gain_step"));

function toRow(row: Row): EpisodeRow {
    const nullable = (value: Value | undefined) => (value === null || value === undefined ? null : Number(value));
    return {
        uid: String(row.uid), recording: Number(row.recording), worldIndex: Number(row.world_index), worldRange: Number(row.world_range),
        isOfGroup: Number(row.is_of_group) !== 0, seed: row.seed === null ? null : BigInt.asUintN(64, BigInt(row.seed as bigint)),
        turn: BigInt((row.turn ?? 0) as bigint), length: nullable(row.length), returnSum: nullable(row.return_sum),
        name: String(row.name), state: STATES[Number(row.state)] ?? "unknown", content: CONTENTS[Number(row.content)] ?? "unknown",
        firstStep: Number(row.first_step), lastStep: nullable(row.last_step), simulated: nullable(row.simulated_s),
        solver: String(row.solver), bodies: Number(row.body_count), unconverged: nullable(row.unconverged),
        gain: row.gain === null ? null : { sum: Number(row.gain), scale: Number(row.gain_scale), step: Number(row.gain_step) }, begunNs: BigInt(row.begun_ns as bigint),
        parent: row.parent === null || row.parent === "" ? null : String(row.parent), parentStep: Number(row.parent_step ?? 0),
        doubtfulSteps: nullable(row.doubtful_steps), returnDoubtful: nullable(row.return_doubtful), opinions: nullable(row.opinions), opinionGap: nullable(row.opinion_gap_max),
    };
}

// The newest recordings, and no more of the file than that takes.
function listRecordings(): { episodes: EpisodeRow[]; groups: GroupRow[]; hasMore: boolean } {
    const newest = database().run(`SELECT id FROM recording ORDER BY id DESC LIMIT ${ROWS_MAX + 1}`);
    const least = newest.length > ROWS_MAX ? Number(nth(newest, ROWS_MAX - 1).id) : 0;
    const episodes = database().run(`${episodeSql()} WHERE r.id >= ${least} AND r.world_count = 1 AND r.world_range = 1 ORDER BY r.id DESC, e.id DESC`).map(toRow);
    const groups = database().run(`${GROUP_SQL} AND id >= ${least} ORDER BY id DESC`).map((row): GroupRow => {
        const [newest] = database().run(`SELECT number, ${hasOpinions ? "doubtful_steps" : "NULL AS doubtful_steps"} FROM episode WHERE ${OF_RECORDING} ORDER BY id DESC LIMIT 1`, [row.recording ?? null]);
        return {
            uid: String(row.uid), recording: Number(row.recording), name: String(row.name), state: STATES[Number(row.state)] ?? "unknown", worlds: Number(row.world_count),
            episodes: newest === undefined ? 0 : Number(newest.number) + 1, begunNs: BigInt(row.begun_ns as bigint), hasOpinion: newest !== undefined && newest.doubtful_steps !== null,
        };
    });
    return { episodes, groups, hasMore: newest.length > ROWS_MAX };
}

const NEWEST = 0, OLDEST = 1; // of the orders: those that rows stand in
const SORTED_MAX = 2_000_000; // episodes
let sorted = { name: "", numbers: [] as number[] }; // what was asked for last, for its other pages

// All rows of the recording are read, by their ids, which begin with its own: no index is asked for.
function sort(recording: number, order: number, filter: GroupFilter): number[] {
    const name = [recording, order, ...Object.values(filter)].join();
    if (sorted.name !== name) {
        const bind: Value[] = [recording];
        const limit = (column: string, relation: string, value: number | bigint | null) => {
            if (value === null) {
                return "";
            }
            bind.push(value);
            return ` AND ${column} ${relation} ?${bind.length}`;
        };
        const which = limit("world_index", "=", filter.world) + limit("seed", "=", filter.seed === null ? null : BigInt.asIntN(64, filter.seed)) +
            limit("return_sum", ">=", filter.returnLeast) + limit("return_sum", "<=", filter.returnMost) + limit("length", ">=", filter.lengthLeast) +
            limit("length", "<=", filter.lengthMost) + (filter.isDoubtful ? hasOpinions ? " AND doubtful_steps > 0" : " AND 0" : "");
        const by = (ORDER_SQL[order] ?? nth(ORDER_SQL, NEWEST)).replace("DOUBTFUL", hasOpinions ? "doubtful_steps" : "id").replace("SHARE", hasOpinions ? SHARE_SQL : "id").replace("GAP", hasOpinions ? "opinion_gap_max" : "id");
        sorted = { name, numbers: database().column(`SELECT number FROM episode WHERE ${OF_RECORDING}${which} ORDER BY ${by} LIMIT ${SORTED_MAX}`, bind).map(Number) };
    }
    return sorted.numbers;
}

/** A page of a group's episodes. As rows stand it is found at once; any other order or choice of them is made once, for all its pages. */
function group(recording: number, order: number, filter: GroupFilter, from: number): GroupPage {
    const rowsOf = (numbers: number[]) => database().run(`${episodeSql()} WHERE r.id = ?1 AND e.id IN (${numbers.map((n) => `?1 * 4294967296 + ${n}`).join()})`, [recording]).map(toRow);
    const page = (all: number[], total: number) => {
        const place = new Map(all.map((number, i) => [number, i]));
        const at = (row: EpisodeRow) => place.get(parseInt(row.uid.slice(24), 16)) ?? 0;
        return { rows: rowsOf(all).sort((a, b) => at(a) - at(b)), total };
    };
    const isAll = Object.entries(filter).every(([key, value]) => value === GROUP_ALL[key as keyof GroupFilter]);
    if (isAll && (order === NEWEST || order === OLDEST)) {
        const last = database().run(`SELECT number FROM episode WHERE ${OF_RECORDING} ORDER BY id DESC LIMIT 1`, [recording])[0], total = last === undefined ? 0 : Number(last.number) + 1;
        const numbers = Array.from({ length: Math.max(0, Math.min(GROUP_PAGE, total - from)) }, (_, i) => (order === OLDEST ? from + i : total - 1 - from - i));
        return page(numbers, total);
    }
    const all = sort(recording, order, filter);
    return page(all.slice(from, from + GROUP_PAGE), all.length);
}

async function openFile(what: File | string | ArrayBuffer, log: File | null): Promise<Opened> {
    db?.close();
    db = null;
    sorted = { name: "", numbers: [] };
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
        const has = (column: string) => (db as Database).run("SELECT 1 FROM pragma_table_info('episode') WHERE name = ?", [column]).length > 0;
        hasGroups = has("turn");
        hasOpinions = has("doubtful_steps");
        hasGains = has("gain");
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
        ? database().run(`${episodeSql()} WHERE r.id = ?1 AND e.id = ?1 * 4294967296 + ?2`, [nth(recordings, 0).id ?? null, number])
        : database().run(`${episodeSql()} WHERE r.name = ? ORDER BY e.id DESC LIMIT 1`, [text]);
    return rows.length > 0 ? toRow(nth(rows, 0)) : null;
}

function bytesOf(digits: string): Uint8Array {
    return Uint8Array.from(digits.match(/../g) ?? [], (pair) => parseInt(pair, 16));
}

// ---- chunks

interface Open {
    row: EpisodeRow;
    recordingUid: string;
    chunks: ChunkRef[];
    listed: ChunkRef[]; // of a group's: what its list of episodes is compared by
    seal: Seal | null; // of a group's
    checked: { sequence: number; checksum: bigint }; // of the last chunk that check() saw
    signed: SignedCheck | null; // that signed() is at
}
const opened = new Map<string, Open>();

function readBytes(id: number): Uint8Array {
    const rows = database().run("SELECT bytes FROM chunk WHERE id = ?", [id]);
    const bytes = rows[0]?.bytes;
    if (!(bytes instanceof Uint8Array)) {
        throw new Damage("its row is gone");
    }
    return bytes;
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

// One index serves, and has all that is asked for: the rows themselves lie far apart. Where that is damaged, the table
// itself.
function listChunks(row: EpisodeRow, damage: string[]): ChunkRef[] {
    const columns = "SELECT id, kind, first_step, sequence FROM chunk";
    // of a group, what is of all worlds and what is of the range that the world is in
    const range = Math.floor(row.worldIndex / row.worldRange) * row.worldRange;
    const which = row.isOfGroup ? ` AND (first_world = ${range} AND kind IN (${Kind.Inputs}, ${Kind.KeyFrame}) OR first_world = 0 AND kind IN (${Kind.Definition}, ${Kind.Seal}, ${Kind.Episodes}, ${Kind.Scene}, ${Kind.Geometries}, ${Kind.Signature}))` : "";
    let rows: Row[] = [];
    try {
        rows = database().run(`${columns} INDEXED BY chunk_by_step WHERE recording = ?${which}`, [row.recording ?? null]);
    } catch (error) {
        damage.push(`the list of chunks: ${(error as Error).message}`);
        try {
            rows = database().run(`${columns} NOT INDEXED WHERE recording = ?${which}`, [row.recording ?? null]);
        } catch {
            rows = [];
        }
    }
    return rows.map((r) => ({ id: Number(r.id), kind: Number(r.kind), firstStep: Number(r.first_step), sequence: Number(r.sequence) }))
        .sort((a, b) => a.kind - b.kind || a.firstStep - b.firstStep || a.sequence - b.sequence);
}

// SQLite knows how long a BLOB is without reading it.
function isLong(refs: ChunkRef[], countMax: number, bytesMax: number): boolean {
    const ids = refs.map((c) => c.id);
    const rows = ids.length === 0 ? [] : database().run(`SELECT sum(length(bytes)) AS bytes FROM chunk WHERE id IN (${ids.slice(0, countMax).join()})`);
    return ids.length > countMax || Number(rows[0]?.bytes ?? 0) > bytesMax;
}

const hasLongScenes = (open: Open) => isLong(open.chunks.filter((c) => c.kind === Kind.Scene), SCENES_MAX, SCENE_BYTES_FIRST);

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
        row, recordingUid: uid.slice(0, 24) + "00000000", chunks: listChunks(row, damage), listed: [], seal: null, checked: { sequence: -1, checksum: 0n }, signed: null,
    };
    opened.set(uid, open);
    const definition = parse(open, Kind.Definition, damage, readDefinition);
    if (definition === null) {
        throw new Error(`Episode ${uid.slice(0, 8)} ${row.name} has no sound definition, so nothing says what it is: ` +
            `${damage[0] ?? "it is missing"}. moreau-server --recover may find it.`);
    }
    const signatures = open.chunks.filter((c) => c.kind === Kind.Signature).length;
    if (row.isOfGroup) {
        // the inputs from the call that began it to the one that ended it, and the key-frames between
        const inputs = open.chunks.filter((c) => c.kind === Kind.Inputs), end = row.lastStep ?? 0;
        const of = (kind: Kind) => open.chunks.filter((c) => c.kind === kind);
        open.listed = [...of(Kind.Episodes), ...of(Kind.KeyFrame).filter((c) => c.firstStep === 0).slice(0, 1), ...inputs];
        open.seal = parse(open, Kind.Seal, damage, readSeal);
        open.chunks = open.chunks.filter((c) => c.kind !== Kind.Episodes);
        const its = new Set(inputs.filter((c, i) => (inputs[i + 1]?.firstStep ?? Infinity) >= row.firstStep && c.firstStep < end));
        open.chunks = open.chunks.filter((c) => (c.kind === Kind.Inputs ? its.has(c) : c.kind !== Kind.KeyFrame || (c.firstStep >= row.firstStep && c.firstStep < end)));
        return { definition, seal: null, chunks: open.chunks, signatures, scenes: hasLongScenes(open) ? null : readScenes(open, damage), lastStep: row.length ?? 0, damage };
    }
    const seal = parse(open, Kind.Seal, damage, readSeal);
    return { definition, seal, chunks: open.chunks, signatures, scenes: hasLongScenes(open) ? null : readScenes(open, damage), lastStep: seal?.lastStep ?? lastStepOf(open, damage), damage };
}

function openOf(uid: string): Open {
    const open = opened.get(uid);
    if (open === undefined) {
        throw new Error(`Episode ${uid} is not open.`);
    }
    return open;
}

const LISTED_MAX = 32, LISTED_BYTES_FIRST = 1 << 18; // what a list of episodes is compared by, without being asked
const COMPLETE = 1, WORLD_DESTROYED = 2; // states of a recording

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
    const ref = open.chunks.find((c) => c.id === id) ?? open.listed.find((c) => c.id === id);
    if (ref === undefined) {
        throw new Error(`Episode ${uid} has no chunk ${id}.`);
    }
    const damage: string[] = [];
    const chunk = readChunk(open, ref, damage);
    if (chunk === null) {
        throw new Damage(damage[0]);
    }
    const { buffer, byteOffset, byteLength } = chunk.body;
    return buffer.slice(byteOffset - bodyOffset(chunk), byteOffset + byteLength) as ArrayBuffer;
}

// Each stands once in the file, for all recordings: its name alone proves its bytes, to whoever steps them again.
function geometries(uid: string): Geometries {
    const open = openOf(uid), result: Geometries = { chunks: [], lacks: [] };
    for (const ref of open.chunks.filter((c) => c.kind === Kind.Geometries)) {
        const chunk = readChunk(open, ref, result.lacks);
        for (const geometry of chunk === null ? [] : readGeometries(chunk.body)) {
            const bytes = database().run("SELECT bytes FROM geometry WHERE name = ?", [bytesOf(geometry)])[0]?.bytes;
            if (bytes instanceof Uint8Array) {
                result.chunks.push(bytes.slice().buffer);
            } else {
                result.lacks.push(`geometry ${geometry} is not in this file`);
            }
        }
    }
    return result;
}

// Sealed by whoever recorded it, and ended: by nobody's failure.
function listing(uid: string): Listing | null {
    const { row, seal, listed } = openOf(uid);
    return seal === null ? null : {
        firstWorld: row.worldIndex - (row.worldIndex % row.worldRange), worldRange: row.worldRange, chunks: listed,
        isWhole: !seal.isFound && (seal.state === COMPLETE || seal.state === WORLD_DESTROYED), isLong: isLong(listed, LISTED_MAX, LISTED_BYTES_FIRST),
    };
}

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

// ---- who signed it

const COMMON_KINDS = [Kind.Definition, Kind.Seal, Kind.Episodes, Kind.Scene, Kind.Geometries, Kind.Signature]; // of a group: of all its worlds
const SIGNED_MS = 50; // before others may ask

// A chain in its order, as its rows say; that these are right is seen when they are read.
function chainOf({ row }: Open, isCommon: boolean): Link[] {
    const world = row.isOfGroup && !isCommon ? Math.floor(row.worldIndex / row.worldRange) * row.worldRange : 0;
    const kinds = row.isOfGroup ? `kind ${isCommon ? "" : "NOT "}IN (${COMMON_KINDS.join()})` : "1";
    return database().run(`SELECT id, kind, first_step, sequence FROM chunk WHERE recording = ? AND first_world = ${world} AND kind BETWEEN ${Kind.KeyFrame} AND ${Kind.Signature} AND ${kinds} ` +
        "ORDER BY sequence, id", [row.recording]).map((r) => ({ id: Number(r.id), kind: Number(r.kind), firstStep: Number(r.first_step), sequence: Number(r.sequence) }));
}

function signedCheck(open: Open, key: Uint8Array | null): SignedCheck {
    const { row } = open;
    const range = row.isOfGroup ? { chain: 1 + Math.floor(row.worldIndex / row.worldRange), links: chainOf(open, false), begunCall: row.firstStep, steps: row.length ?? 0 } : null;
    return new SignedCheck(key, chainOf(open, true), range, (link) => readChunk(open, link, []));
}

/** Some chunks more; `begins`: from the first on. */
function signed(uid: string, key: Uint8Array | null, begins: boolean): SignedSoFar {
    const open = openOf(uid), until = performance.now() + SIGNED_MS;
    const at = begins || open.signed === null ? signedCheck(open, key) : open.signed;
    open.signed = at;
    while (!at.isOver && performance.now() < until) {
        at.work();
    }
    return { done: at.done, total: at.total, result: at.isOver ? at.result : null };
}

// ---- calls

const calls: CallTable = { open: openFile, find, group, episode: openEpisode, scenes, course, whole: wholeChunk, geometries, listing, check, signed, fetched: () => store?.fetched ?? 0 };
let queue: Promise<void> = Promise.resolve();

async function answer(id: number, call: string, parts: never[]): Promise<void> {
    try {
        const result = await callOf(calls, call)(...parts);
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
