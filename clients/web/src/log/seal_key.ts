// SPDX-License-Identifier: MIT
// The public half of a server's --seal-key, as who looks at the page has it: seal.pub in PEM, or 64 hexadecimal digits.
import { hex } from "./bytes";

export interface SealKey {
    bytes: Uint8Array;
    digits: string;
    isBrought: boolean; // by the page itself, so that who made that chose it
}

const SPKI = "302a300506032b6570032100"; // what stands in front of the bytes of a key of Ed25519
const KEY_BYTES = 32;
export const KEY_FILE_BYTES_MAX = 16384;

export const keyOf = (bytes: Uint8Array, isBrought: boolean): SealKey | null =>
    bytes.length === KEY_BYTES ? { bytes, digits: hex(bytes), isBrought } : null;

/** null: it is none. */
export function readSealKey(text: string): SealKey | null {
    const digits = /^\s*([0-9a-f]{64})(\s|$)/i.exec(text)?.[1];
    if (digits !== undefined) {
        return keyOf(Uint8Array.from(digits.match(/../g) ?? [], (pair) => parseInt(pair, 16)), false);
    }
    const pem = /-----BEGINPUBLICKEY-----([A-Za-z0-9+/]+=*)-----ENDPUBLICKEY-----/.exec(text.replace(/\s/g, ""))?.[1];
    try {
        const der = Uint8Array.from(atob(pem ?? ""), (letter) => letter.charCodeAt(0)), begin = SPKI.length / 2;
        return hex(der.subarray(0, begin)) === SPKI ? keyOf(der.slice(begin), false) : null;
    } catch {
        return null; // no base64
    }
}
