// SPDX-License-Identifier: MIT
// A file and the write-ahead log of a server that has it open, or died with it: the pages that were committed, over
// those of the file. The format is SQLite's own (its page "WAL-mode File Format"); frames behind the last sound commit
// do not count.
import { Store } from "./bytes_of";

const HEADER_BYTES = 32, FRAME_HEAD_BYTES = 24;
const MAGIC = 0x377f0682;

// SQLite's running checksum over pairs of words, of the byte order that the magic number says.
function sum(bytes: Uint8Array, big: boolean, s: [number, number]): void {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    for (let at = 0; at + 8 <= bytes.length; at += 8) {
        s[0] = (s[0] + view.getUint32(at, !big) + s[1]) >>> 0;
        s[1] = (s[1] + view.getUint32(at + 4, !big) + s[0]) >>> 0;
    }
}

export class WithLog implements Store {
    private readonly page = new Map<number, number>(); // its number, from 1 -> where it stands in the log
    private readonly pageBytes: number;
    readonly size: number;
    readonly notes: string[] = [];

    constructor(private readonly file: Store, private readonly log: Store) {
        const head = log.size >= HEADER_BYTES ? log.read(0, HEADER_BYTES) : new Uint8Array(HEADER_BYTES);
        const view = new DataView(head.buffer, head.byteOffset, head.byteLength);
        this.pageBytes = view.getUint32(8);
        const pages = this.readFrames(head, view);
        this.size = pages > 0 ? pages * this.pageBytes : file.size;
        this.notes.push(`${log.name} was read with it: ${this.page.size} pages that are not in the file yet.`);
    }

    get name() { return this.file.name; }
    get fetched() { return this.file.fetched + this.log.fetched; }

    // Returns the number of pages that the last commit left; 0: there was none.
    private readFrames(head: Uint8Array, view: DataView): number {
        const magic = view.getUint32(0);
        const big = magic === MAGIC + 1;
        const s: [number, number] = [0, 0];
        sum(head.subarray(0, 24), big, s);
        if ((magic !== MAGIC && !big) || s[0] !== view.getUint32(24) || s[1] !== view.getUint32(28)) {
            return 0;
        }
        let pages = 0;
        let open = new Map<number, number>();
        const each = FRAME_HEAD_BYTES + this.pageBytes;
        for (let at = HEADER_BYTES; at + each <= this.log.size; at += each) {
            const bytes = this.log.read(at, each);
            const frame = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
            sum(bytes.subarray(0, 8), big, s);
            sum(bytes.subarray(FRAME_HEAD_BYTES), big, s);
            const isOurs = frame.getUint32(8) === view.getUint32(16) && frame.getUint32(12) === view.getUint32(20);
            if (!isOurs || s[0] !== frame.getUint32(16) || s[1] !== frame.getUint32(20)) {
                break;
            }
            open.set(frame.getUint32(0), at + FRAME_HEAD_BYTES);
            if (frame.getUint32(4) > 0) {
                pages = frame.getUint32(4);
                open.forEach((where, number) => this.page.set(number, where));
                open = new Map();
            }
        }
        return pages;
    }

    read(at: number, count: number): Uint8Array {
        const into = new Uint8Array(count);
        for (let done = 0; done < count;) {
            const index = Math.floor((at + done) / this.pageBytes), from = (at + done) % this.pageBytes;
            const piece = Math.min(this.pageBytes - from, count - done);
            const where = this.page.get(index + 1);
            into.set(where === undefined ? this.file.read(at + done, piece) : this.log.read(where + from, piece), done);
            done += piece;
        }
        return into;
    }
}
