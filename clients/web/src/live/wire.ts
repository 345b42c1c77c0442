// SPDX-License-Identifier: MIT
// The few messages of moreau.proto that watching a world takes, read and written by hand. A table says of each field
// what it is called and what it holds; what no table names is passed over, as the protocol wants it.

/** Not what a server sends. */
export class Garbled extends Error {}

export type Value = number | bigint | boolean | string | Message | Value[] | Float64Array | Float32Array | number[] | undefined;
export interface Message {
    [name: string]: any;
}

// What a field holds: numbers (a list where a name ends in []), texts, or messages by their own table. "id" is a 64-bit
// number kept whole.
type Kind = "whole" | "id" | "flag" | "real" | "text" | "wholes" | "reals" | "floats" | "texts" | Table | [Table];
export interface Table {
    [field: number]: [string, Kind];
}

class Bytes {
    at = 0;

    constructor(readonly bytes: Uint8Array) {}

    id(): bigint {
        let value = 0n;
        for (let shift = 0n; shift < 70n; shift += 7n) {
            const byte = this.bytes[this.at++];
            if (byte === undefined) {
                break;
            }
            value |= BigInt(byte & 127) << shift;
            if (byte < 128) {
                return value;
            }
        }
        throw new Garbled("a number has no end");
    }

    /** Exact up to 2^53. */
    whole(): number {
        let value = 0;
        for (let scale = 1; scale < 2 ** 70; scale *= 128) {
            const byte = this.bytes[this.at++];
            if (byte === undefined) {
                break;
            }
            value += (byte & 127) * scale;
            if (byte < 128) {
                return value;
            }
        }
        throw new Garbled("a number has no end");
    }

    part(): Uint8Array {
        const length = this.whole();
        if (length > this.bytes.length - this.at) {
            throw new Garbled(`a part of ${length} bytes is cut off`);
        }
        this.at += length;
        return this.bytes.subarray(this.at - length, this.at);
    }

    skip(wire: number): void {
        if (wire === 0) {
            this.id();
        } else if (wire === 1 || wire === 5) {
            this.at += wire === 1 ? 8 : 4;
        } else if (wire === 2) {
            this.part();
        } else {
            throw new Garbled(`a field has wire type ${wire}`);
        }
    }
}

// a copy, as numbers stand at any byte
function columns<T>(part: Uint8Array, size: number, make: (buffer: ArrayBuffer) => T): T {
    if (part.length % size !== 0) {
        throw new Garbled(`a column of ${size}-byte numbers has ${part.length} bytes`);
    }
    return make(part.slice().buffer);
}

function wholes(part: Uint8Array): number[] {
    const source = new Bytes(part), all: number[] = [];
    while (source.at < part.length) {
        all.push(source.whole());
    }
    return all;
}

const texts = new TextDecoder();

function readField(source: Bytes, kind: Kind, wire: number, before: any): any {
    if (kind === "whole" || kind === "id" || kind === "flag") {
        return kind === "id" ? source.id() : kind === "whole" ? source.whole() : source.whole() !== 0;
    }
    if (kind === "real") {
        const at = source.at;
        source.at += 8;
        return new DataView(source.bytes.buffer, source.bytes.byteOffset).getFloat64(at, true);
    }
    if (wire !== 2) {
        throw new Garbled("a field is of another type");
    }
    const part = source.part();
    switch (kind) {
    case "text": return texts.decode(part);
    case "texts": return [...(before ?? []), texts.decode(part)];
    case "wholes": return wholes(part);
    case "reals": return columns(part, 8, (buffer) => new Float64Array(buffer));
    case "floats": return columns(part, 4, (buffer) => new Float32Array(buffer));
    default: break;
    }
    if (Array.isArray(kind)) {
        const list = before ?? [];
        list.push(read(part, kind[0]));
        return list;
    }
    return read(part, kind);
}

const WIRE: Record<string, number> = { whole: 0, id: 0, flag: 0, real: 1 };

export function read(bytes: Uint8Array, table: Table): Message {
    const source = new Bytes(bytes), message: Message = {};
    while (source.at < bytes.length) {
        const key = source.whole(), wire = key & 7, row = table[Math.floor(key / 8)];
        if (row === undefined || wire !== (typeof row[1] === "string" ? WIRE[row[1]] ?? 2 : 2)) {
            source.skip(wire);
        } else {
            message[row[0]] = readField(source, row[1], wire, message[row[0]]);
        }
    }
    if (source.at > bytes.length) {
        throw new Garbled("a message is cut off");
    }
    return message;
}

// ---- writing

function varint(value: number | bigint): number[] {
    const out: number[] = [];
    let rest = BigInt(value);
    for (; rest > 127n; rest >>= 7n) {
        out.push(Number(rest & 127n) | 128);
    }
    return [...out, Number(rest)];
}

/** Fields by their numbers: whole numbers and flags, texts, and messages that are written already. Nothing: left out. */
export function write(fields: Record<number, number | bigint | boolean | string | Uint8Array | undefined>): Uint8Array {
    const out: number[] = [];
    for (const [field, value] of Object.entries(fields)) {
        if (typeof value === "string" || value instanceof Uint8Array) {
            const bytes = typeof value === "string" ? new TextEncoder().encode(value) : value;
            out.push(...varint((Number(field) << 3) | 2), ...varint(bytes.length), ...bytes);
        } else if (value !== undefined) {
            out.push(...varint(Number(field) << 3), ...varint(typeof value === "boolean" ? Number(value) : value));
        }
    }
    return Uint8Array.from(out);
}
