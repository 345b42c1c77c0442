// SPDX-License-Identifier: MIT
// What a file is, judged by its first bytes, before SQLite sees it.
import { Store } from "./bytes_of";

const APPLICATION_ID = 1297044053; // "MORU"
const VERSION_OLDEST = 2, VERSION_NEWEST = 11;
const HEADER_BYTES = 100;

const SIGNATURES: [string, string][] = [
    ["\xff\xd8\xff", "a JPEG picture"], ["\x89PNG", "a PNG picture"], ["PK\x03\x04", "a ZIP archive"], ["\x1f\x8b", "compressed by gzip"],
    ["%PDF", "a PDF"], ["<!DOCTYPE", "a web page"], ["<html", "a web page"], ["{", "JSON"],
    ["7\x7f\x06\x82", "the write-ahead log of a file: open that file, or both together"],
    ["7\x7f\x06\x83", "the write-ahead log of a file: open that file, or both together"],
];

export interface Identity {
    notes: string[];
    claimedBytes: number; // as its header says
}

/** Throws a sentence when it is none of ours, or of a version that this page does not read. */
export function identify(store: Store): Identity {
    const name = store.name;
    if (store.size === 0) {
        throw new Error(`${name} is empty: 0 bytes. Nothing was recorded into it, or it was not copied whole.`);
    }
    const head = store.read(0, Math.min(HEADER_BYTES, store.size));
    const text = new TextDecoder("latin1").decode(head);
    if (!text.startsWith("SQLite format 3\0")) {
        const known = SIGNATURES.find(([start]) => text.startsWith(start));
        throw new Error(`${name} is no episode file: it is ${known === undefined ? "no SQLite database" : known[1]}. ` +
            "Open the file that a server has as its --db.");
    }
    if (head.length < HEADER_BYTES) {
        throw new Error(`${name} is cut short: ${head.length} bytes, less than an SQLite database begins with.`);
    }
    const view = new DataView(head.buffer, head.byteOffset, head.byteLength);
    const version = view.getUint32(60), application = view.getUint32(68);
    if (application !== APPLICATION_ID) {
        throw new Error(application === 0 && version === 0
            ? `${name} is an SQLite database, but no episode file, or one that a server is just beginning: nothing in it says so.`
            : `${name} is an SQLite database of another program.`);
    }
    if (version < VERSION_OLDEST || version > VERSION_NEWEST) {
        throw new Error(`${name} has version ${version} of the log's format, and this page reads versions ${VERSION_OLDEST} to ` +
            `${VERSION_NEWEST}: use ${version > VERSION_NEWEST ? "a newer page" : "a file of a released server"}.`);
    }
    const pageBytes = view.getUint16(16) === 1 ? 65536 : view.getUint16(16);
    const claimed = view.getUint32(28) * pageBytes;
    const notes: string[] = [];
    if (store.size < claimed) {
        notes.push(`${name} is cut short: ${store.size} of ${claimed} bytes. What is left is shown.`);
    }
    return { notes, claimedBytes: claimed };
}

/** Whether a server has the file open, or died with it: the newest may then lie in the file's write-ahead log. */
export function isInUse(store: Store): boolean {
    return store.size >= HEADER_BYTES && store.read(18, 1)[0] === 2;
}
