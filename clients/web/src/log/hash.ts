// SPDX-License-Identifier: MIT
// base/hash of the server, with its seed 0: 64-bit words in halves, as a page has no fast 64-bit
// product. A chunk of 260 KB takes about a millisecond.
import { nth } from "../nth";

const KEY = [
    0x6a09e667f3bcc909n, 0xbb67ae8584caa73bn, 0x3c6ef372fe94f82bn, 0xa54ff53a5f1d36f1n,
    0x510e527fade682d1n, 0x9b05688c2b3e6c1fn, 0x1f83d9abfb41bd6bn, 0x5be0cd19137e2179n,
];
const KEY_LOW = KEY.map((k) => Number(k & 0xffffffffn) | 0);
const KEY_HIGH = KEY.map((k) => Number(k >> 32n) | 0);
const BLOCK_BYTES = 64;
const MASK = (1n << 64n) - 1n;

// The high half of a product of two 32-bit numbers.
function mulHigh(a: number, b: number): number {
    const a0 = a & 0xffff, a1 = a >>> 16, b0 = b & 0xffff, b1 = b >>> 16;
    const low = Math.imul(a0, b0) >>> 0;
    const mid = (Math.imul(a1, b0) >>> 0) + (low >>> 16);
    const cross = (Math.imul(a0, b1) >>> 0) + (mid & 0xffff);
    return ((Math.imul(a1, b1) >>> 0) + Math.floor(mid / 65536) + Math.floor(cross / 65536)) >>> 0;
}

function foldBig(a: bigint, b: bigint): bigint {
    const product = a * b;
    return (product & MASK) ^ (product >> 64n);
}

class Mixer {
    readonly low = new Int32Array(4);
    readonly high = new Int32Array(4);

    constructor() {
        for (let i = 0; i < 4; i++) {
            this.low[i] = nth(KEY_LOW, i + 4);
            this.high[i] = nth(KEY_HIGH, i + 4);
        }
    }

    mix(view: DataView, at: number): void {
        const low = this.low, high = this.high;
        for (let i = 0; i < 4; i++) {
            const o = at + 16 * i;
            const al = view.getInt32(o, true) ^ nth(KEY_LOW, 2 * i);
            const ah = view.getInt32(o + 4, true) ^ nth(KEY_HIGH, 2 * i);
            const bl = view.getInt32(o + 8, true) ^ nth(KEY_LOW, 2 * i + 1) ^ nth(low, i);
            const bh = view.getInt32(o + 12, true) ^ nth(KEY_HIGH, 2 * i + 1) ^ nth(high, i);
            // 128 bits in four words of 32
            const w0 = Math.imul(al, bl) >>> 0;
            const s1 = mulHigh(al, bl) + (Math.imul(ah, bl) >>> 0) + (Math.imul(al, bh) >>> 0);
            const w1 = s1 >>> 0;
            const s2 = mulHigh(ah, bl) + mulHigh(al, bh) + (Math.imul(ah, bh) >>> 0) +
                Math.floor(s1 / 4294967296);
            const w2 = s2 >>> 0;
            const w3 = (mulHigh(ah, bh) + Math.floor(s2 / 4294967296)) >>> 0;
            const l = nth(low, i), h = nth(high, i);
            const sum = (((l << 29) | (h >>> 3)) >>> 0) + ((w0 ^ w2) >>> 0);
            low[i] = sum | 0;
            high[i] = (((h << 29) | (l >>> 3)) + (w1 ^ w3) + (sum > 0xffffffff ? 1 : 0)) | 0;
        }
    }

    value(i: number): bigint {
        return (BigInt(nth(this.high, i) >>> 0) << 32n) | BigInt(nth(this.low, i) >>> 0);
    }
}

/** The hash of these pieces, one behind the other. */
export function hashOf(...pieces: Uint8Array[]): bigint {
    const mixer = new Mixer();
    const block = new Uint8Array(BLOCK_BYTES);
    const blockView = new DataView(block.buffer);
    let held = 0, total = 0;
    for (const piece of pieces) {
        total += piece.length;
        let at = 0;
        if (held > 0) {
            at = Math.min(BLOCK_BYTES - held, piece.length);
            block.set(piece.subarray(0, at), held);
            held += at;
            if (held < BLOCK_BYTES) {
                continue;
            }
            mixer.mix(blockView, 0);
            held = 0;
        }
        const view = new DataView(piece.buffer, piece.byteOffset, piece.byteLength);
        for (; at + BLOCK_BYTES <= piece.length; at += BLOCK_BYTES) {
            mixer.mix(view, at);
        }
        held = piece.length - at;
        block.set(piece.subarray(at), 0);
    }
    if (held > 0) {
        block.fill(0, held);
        mixer.mix(blockView, 0);
    }
    let value = BigInt(total) ^ nth(KEY, 0);
    for (let i = 0; i < 4; i++) {
        const a = mixer.value(i);
        const turned = ((a << 17n) & MASK) | (a >> 47n);
        value = (foldBig(value ^ nth(KEY, i + 1), a ^ nth(KEY, 7 - i)) + turned) & MASK;
    }
    value ^= value >> 32n;
    value = (value * nth(KEY, 3)) & MASK;
    return value ^ (value >> 29n);
}
