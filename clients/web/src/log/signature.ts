// SPDX-License-Identifier: MIT
// A chunk of a signature and what it is of, as server/log/format/signature.h has them. SHA-256 and Ed25519 are those of
// @noble/hashes and @noble/ed25519: browsers give theirs (WebCrypto) to no page that came by plain HTTP from elsewhere.
import { hashes, verify } from "@noble/ed25519";
import { sha256, sha512 } from "@noble/hashes/sha2.js";
import { Damage, Source } from "./bytes";
import { CHUNK_HEADER_BYTES } from "./chunk";

hashes.sha512 = sha512;

export const DIGEST_BYTES = 32;
const KEY_BYTES = 32, VALUE_BYTES = 64, CHAIN_BYTES = 16 + DIGEST_BYTES;
const SEALED_HEADER_BYTES = CHUNK_HEADER_BYTES - 8; // all of it but the checksum
const AT_PREDECESSOR = 168, SEAL_AT_CHECKSUM = 264; // of the chain of all, in the body of a seal
const DOMAIN = new TextEncoder().encode("Moreau signature of a recording\0");

export enum How { Live = 1, Last, Found }

export interface Signature {
    key: Uint8Array;
    how: How;
    chains: { chain: number; chunkCount: bigint; digest: Uint8Array }[];
    seal: Uint8Array; // digest of the one behind it
    value: Uint8Array;
}

/** Any body. */
export function readSignature(body: Uint8Array): Signature {
    const s = new Source(body), key = s.part(KEY_BYTES), how = s.u32() as How, count = s.u32();
    if (count > s.left / CHAIN_BYTES || how < How.Live || how > How.Found) {
        throw new Damage(`its ${body.length} bytes are no signature`);
    }
    const chains = Array.from({ length: count }, () => {
        const chain = s.u32();
        s.u32();
        return { chain, chunkCount: s.u64(), digest: s.part(DIGEST_BYTES) };
    });
    const signature = { key, how, chains, seal: s.part(DIGEST_BYTES), value: s.part(VALUE_BYTES) };
    s.end("signature");
    return signature;
}

export const isSame = (a: Uint8Array, b: Uint8Array) => a.length === b.length && a.every((byte, i) => byte === b[i]);

function joined(...parts: Uint8Array[]): Uint8Array {
    const all = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
    parts.reduce((at, part) => (all.set(part, at), at + part.length), 0);
    return all;
}

/** Whether the key in it made it, of the bytes of its whole chunk. What it says of chains may be untrue all the same. */
export function isRight({ key, value }: Signature, bytes: Uint8Array): boolean {
    const message = joined(DOMAIN, sha256(bytes.subarray(0, SEALED_HEADER_BYTES)), sha256(bytes.subarray(CHUNK_HEADER_BYTES, bytes.length - VALUE_BYTES)));
    return verify(value, message, key, { zip215: false });
}

/** The digest of a chain of one chunk more. */
export const extend = (digest: Uint8Array, bytes: Uint8Array) => sha256(joined(digest, sha256(bytes)));

/** Of a seal, without what follows from the signature in front of it; null: it is too short to stand behind one. */
export function hashSeal(bytes: Uint8Array): Uint8Array | null {
    if (bytes.length < CHUNK_HEADER_BYTES + SEAL_AT_CHECKSUM + 8) {
        return null;
    }
    const copy = bytes.slice();
    for (const at of [AT_PREDECESSOR, SEALED_HEADER_BYTES, CHUNK_HEADER_BYTES + SEAL_AT_CHECKSUM]) {
        copy.fill(0, at, at + 8);
    }
    return sha256(copy);
}
