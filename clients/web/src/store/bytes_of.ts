// SPDX-License-Identifier: MIT
// Where an episode file's bytes come from: a file that was dropped, a URL, or the page itself. All of them are read in
// place, in a worker, where reading may wait.

export interface Store {
    readonly name: string;
    readonly size: number;
    /** Bytes that were fetched so far. */
    fetched: number;
    /** Sentences about how it is read, worth knowing. */
    readonly notes: string[];
    /** Exactly these bytes; they lie within its size. Throws a sentence. */
    read(at: number, count: number): Uint8Array;
}

declare class FileReaderSync {
    readAsArrayBuffer(blob: Blob): ArrayBuffer;
}

export class FileStore implements Store {
    fetched = 0;
    readonly notes: string[] = [];
    readonly name: string;
    private readonly reader = new FileReaderSync();

    constructor(private readonly file: File) {
        this.name = file.name;
    }

    get size(): number {
        return this.file.size;
    }

    read(at: number, count: number): Uint8Array {
        try {
            const bytes = new Uint8Array(this.reader.readAsArrayBuffer(this.file.slice(at, at + count)));
            this.fetched += bytes.length;
            return bytes;
        } catch {
            throw new Error(`${this.name} cannot be read any more: it has changed, moved or gone since it was opened. Open it again.`);
        }
    }
}

export class BytesStore implements Store {
    readonly notes: string[] = [];
    fetched = 0;

    constructor(readonly name: string, private readonly bytes: Uint8Array) {}

    get size(): number {
        return this.bytes.length;
    }

    read(at: number, count: number): Uint8Array {
        return this.bytes.subarray(at, at + count);
    }
}

function request(url: string, range: string): XMLHttpRequest {
    const xhr = new XMLHttpRequest();
    xhr.open("GET", url, false);
    xhr.responseType = "arraybuffer";
    xhr.setRequestHeader("Range", range);
    try {
        xhr.send();
    } catch {
        throw new Error(`${url} cannot be fetched: the page may not ask there, or nobody answers. Download the file and open it.`);
    }
    return xhr;
}

class UrlStore implements Store {
    readonly notes: string[] = [];
    fetched = 0;

    constructor(readonly name: string, private readonly url: string, readonly size: number) {}

    read(at: number, count: number): Uint8Array {
        const xhr = request(this.url, `bytes=${at}-${at + count - 1}`);
        const bytes = new Uint8Array((xhr.response as ArrayBuffer | null) ?? new ArrayBuffer(0));
        if (xhr.status !== 206 || bytes.length !== count) {
            throw new Error(`${this.url} gave ${bytes.length} bytes with status ${xhr.status} instead of the ${count} asked for.`);
        }
        this.fetched += bytes.length;
        return bytes;
    }
}

/** Asks for the first bytes: who answers with all of them knows no ranges, and has sent the whole. */
export function openUrl(url: string): Store {
    const xhr = request(url, "bytes=0-99");
    const bytes = new Uint8Array((xhr.response as ArrayBuffer | null) ?? new ArrayBuffer(0));
    const name = decodeURIComponent(new URL(url).pathname.split("/").pop() || url);
    if (xhr.status === 206) {
        const total = /\/(\d+)$/.exec(xhr.getResponseHeader("Content-Range") ?? "");
        if (total === null) {
            throw new Error(`${url} does not say how large it is (no Content-Range that a page may read).`);
        }
        return new UrlStore(name, url, Number(total[1]));
    }
    if (xhr.status !== 200) {
        throw new Error(`${url} answers ${xhr.status} ${xhr.statusText}.`);
    }
    const whole = new BytesStore(name, bytes);
    whole.fetched = bytes.length;
    whole.notes.push("That server knows no ranges, so the whole file was fetched.");
    return whole;
}

const BLOCK_BYTES = 32768; // a page of the file
const BLOCKS_KEPT = 1024;
const RUN_MAX = 6; // blocks read at once where reading goes straight on

/** A store behind a cache, that reads ahead where it is read straight on. */
export class Cached implements Store {
    private readonly blocks = new Map<number, Uint8Array>(); // the first is the one that was used longest ago
    private next = -1;
    private run = 1;

    constructor(private readonly store: Store) {}

    get name() { return this.store.name; }
    get size() { return this.store.size; }
    get fetched() { return this.store.fetched; }
    get notes() { return this.store.notes; }

    private fetch(block: number): Uint8Array {
        this.run = block === this.next ? Math.min(2 * this.run, RUN_MAX) : 1;
        const at = block * BLOCK_BYTES;
        const bytes = this.store.read(at, Math.min(this.run * BLOCK_BYTES, this.size - at));
        const count = Math.ceil(bytes.length / BLOCK_BYTES);
        for (let i = 0; i < count; i++) {
            this.blocks.set(block + i, bytes.subarray(i * BLOCK_BYTES, (i + 1) * BLOCK_BYTES));
        }
        this.next = block + count;
        while (this.blocks.size > BLOCKS_KEPT) {
            this.blocks.delete(this.blocks.keys().next().value as number);
        }
        return this.blocks.get(block) as Uint8Array;
    }

    private block(index: number): Uint8Array {
        const found = this.blocks.get(index);
        if (found === undefined) {
            return this.fetch(index);
        }
        this.blocks.delete(index);
        this.blocks.set(index, found);
        return found;
    }

    read(at: number, count: number): Uint8Array {
        const into = new Uint8Array(count);
        for (let done = 0; done < count;) {
            const block = this.block(Math.floor((at + done) / BLOCK_BYTES));
            const from = (at + done) % BLOCK_BYTES;
            const piece = block.subarray(from, Math.min(block.length, from + count - done));
            into.set(piece, done);
            done += piece.length;
        }
        return into;
    }
}
