// SPDX-License-Identifier: MIT
// Reading little-endian numbers from bytes that may be anybody's. What is not there is damage.

/** Bytes that are not what they should be; the message says what is wrong in half a sentence. */
export class Damage extends Error {}

export class Source {
    readonly bytes: Uint8Array;
    private readonly view: DataView;
    at = 0;

    constructor(bytes: Uint8Array) {
        this.bytes = bytes;
        this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    }

    get left(): number {
        return this.bytes.length - this.at;
    }

    private take(count: number): number {
        if (count > this.left) {
            throw new Damage(`it is cut short: ${count} bytes wanted, ${this.left} left`);
        }
        const at = this.at;
        this.at += count;
        return at;
    }

    u32(): number {
        return this.view.getUint32(this.take(4), true);
    }

    u64(): bigint {
        return this.view.getBigUint64(this.take(8), true);
    }

    /** A count, step or id: a u64 that a double holds exactly. */
    whole(): number {
        const value = Number(this.u64());
        if (!Number.isSafeInteger(value)) {
            throw new Damage(`it has a number beyond 2^53 at byte ${this.at - 8}`);
        }
        return value;
    }

    /** How many things of so many bytes each follow: never more than there is room for. */
    count(bytesEach: number): number {
        const value = this.whole();
        if (value > this.left / bytesEach) {
            throw new Damage(`it claims ${value} items, and ${this.left} bytes are left`);
        }
        return value;
    }

    f64(): number {
        return this.view.getFloat64(this.take(8), true);
    }

    part(count: number): Uint8Array {
        const at = this.take(count);
        return this.bytes.subarray(at, at + count);
    }

    text(): string {
        return new TextDecoder().decode(this.part(this.count(1)));
    }

    pad(): void {
        this.take((8 - (this.at % 8)) % 8);
    }

    /** The whole of it was read. */
    end(what: string): void {
        if (this.left !== 0) {
            throw new Damage(`its ${this.bytes.length} bytes are no ${what}`);
        }
    }
}

export function hex(bytes: Uint8Array): string {
    return Array.from(bytes, (b) => b.toString(16).padStart(2, "0")).join("");
}

/** Doubles as a view where the bytes lie well for one, else as a copy. */
export function doubles(bytes: Uint8Array, at: number, count: number): Float64Array {
    const start = bytes.byteOffset + at;
    if (start % 8 === 0) {
        return new Float64Array(bytes.buffer, start, count);
    }
    return new Float64Array(bytes.slice(at, at + 8 * count).buffer);
}

export function wholes(bytes: Uint8Array, at: number, count: number): number[] {
    const source = new Source(bytes.subarray(at, at + 8 * count));
    return Array.from({ length: count }, () => source.whole());
}
