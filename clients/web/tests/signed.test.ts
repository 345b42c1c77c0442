// SPDX-License-Identifier: MIT
// Whom the page calls a signer: recordings made here byte by byte as server/log/format/signature.h describes them, and
// signed by node's own Ed25519, which is OpenSSL's, as the server's is. Then the same, forged by somebody who makes all
// but the signatures right again. What the server itself judges of forgeries, and the page of the same ones, is
// tests/forgeries.mjs'.
import assert from "node:assert/strict";
import { createHash, generateKeyPairSync, sign } from "node:crypto";
import { test } from "node:test";
import { Kind, openChunk } from "../src/log/chunk";
import { hashOf } from "../src/log/hash";
import { keyOf, readSealKey } from "../src/log/seal_key";
import { How, readSignature } from "../src/log/signature";
import { Signed, SignedCheck, SignedRange } from "../src/log/signed";

const HEADER = 192, AT_KIND = 12, AT_SEQUENCE = 32, AT_WORLD = 40, AT_STEPS = 48, AT_WRITTEN = 72, AT_PREDECESSOR = 168, AT_BODY = 176, AT_CHECKSUM = 184;
const SEAL_CHECKSUM = HEADER + 264; // of the chain of all
const UID = "00112233445566778899aabb00000000";
const DOMAIN = Buffer.from("Moreau signature of a recording\0");

const sha = (...parts: Uint8Array[]) => parts.reduce((hash, part) => hash.update(part), createHash("sha256")).digest();
const u32 = (bytes: Uint8Array, at: number, value: number) => new DataView(bytes.buffer).setUint32(at, value, true);
const u64 = (bytes: Uint8Array, at: number, value: bigint) => new DataView(bytes.buffer).setBigUint64(at, value, true);
const get64 = (bytes: Uint8Array, at: number) => new DataView(bytes.buffer).getBigUint64(at, true);
const kindOf = (bytes: Uint8Array) => new DataView(bytes.buffer).getUint32(AT_KIND, true) as Kind;

function makePair() {
    const { publicKey, privateKey } = generateKeyPairSync("ed25519");
    const pem = publicKey.export({ type: "spki", format: "pem" }).toString(), der = publicKey.export({ type: "spki", format: "der" });
    return { pem, privateKey, key: new Uint8Array(der.subarray(der.length - 32)) };
}
const mine = makePair(), other = makePair();

function make(kind: Kind, firstStep: number, lastStep: number, bodyBytes = 40, world = 0): Uint8Array {
    const bytes = new Uint8Array(HEADER + bodyBytes).map((_, i) => (i < HEADER ? 0 : (31 * i + kind) & 255));
    bytes.set(new TextEncoder().encode("MOREAUCK"));
    u32(bytes, 8, 11);
    u32(bytes, AT_KIND, kind);
    bytes.set(Buffer.from(UID, "hex"), 16);
    u32(bytes, AT_WORLD, world);
    u32(bytes, AT_WORLD + 4, 1);
    u64(bytes, AT_STEPS, BigInt(firstStep));
    u64(bytes, AT_STEPS + 8, BigInt(lastStep));
    u64(bytes, AT_BODY, BigInt(bodyBytes));
    return bytes;
}

/** Numbers, predecessors and checksums are right again. */
function mend(chain: Uint8Array[]): Uint8Array[] {
    let before = 0n;
    chain.forEach((bytes, i) => {
        u64(bytes, AT_SEQUENCE, BigInt(i));
        u64(bytes, AT_PREDECESSOR, before);
        if (kindOf(bytes) === Kind.Seal && bytes.length > SEAL_CHECKSUM) {
            u64(bytes, SEAL_CHECKSUM, before);
        }
        before = hashOf(bytes.subarray(0, AT_CHECKSUM), bytes.subarray(HEADER));
        u64(bytes, AT_CHECKSUM, before);
    });
    return chain;
}

const MASK = (1n << 64n) - 1n, KEYS = [0x6a09e667f3bcc909n, 0xbb67ae8584caa73bn], BEGIN = 0x510e527fade682d1n; // of lane 0 of server/base/hash.c
const fold = (a: bigint, b: bigint) => ((a * b) & MASK) ^ ((a * b) >> 64n);

/** Other bytes of a body with the same checksum, which is no cryptographic one: 16 bytes whose product is what it was. */
function collide(bytes: Uint8Array): void {
    const before = get64(bytes, AT_CHECKSUM), stream = new Uint8Array([...bytes.subarray(0, AT_CHECKSUM), ...bytes.subarray(HEADER)]);
    const [first, second] = KEYS as [bigint, bigint];
    const product = (at: number, state: bigint) => fold(get64(stream, at) ^ first, get64(stream, at + 8) ^ second ^ state);
    const state = [0, 64, 128].reduce((sum, at) => (((sum << 29n) & MASK | sum >> 35n) + product(at, sum)) & MASK, BEGIN);
    u64(bytes, HEADER + 8, first ^ 1n);
    u64(bytes, HEADER + 16, product(192, state) ^ second ^ state);
    assert.equal(hashOf(bytes.subarray(0, AT_CHECKSUM), bytes.subarray(HEADER)), before);
}

const digestOf = (chain: Uint8Array[]) => chain.reduce((digest, bytes) => sha(digest, sha(bytes)), Buffer.alloc(32));

function addSignature(chain: Uint8Array[], how: How, seal: Uint8Array | null, pair = mine, ranges: Uint8Array[][] = []): void {
    mend(chain);
    const chains = [chain, ...ranges], bytes = make(Kind.Signature, 0, 0, 40 + 48 * chains.length + 96);
    bytes.set(pair.key, HEADER);
    u32(bytes, HEADER + 32, how);
    u32(bytes, HEADER + 36, chains.length);
    chains.forEach((links, i) => {
        const at = HEADER + 40 + 48 * i;
        u32(bytes, at, i);
        u32(bytes, at + 4, 0);
        u64(bytes, at + 8, BigInt(links.length));
        bytes.set(digestOf(links), at + 16);
    });
    const tail = bytes.length - 96;
    bytes.fill(0, tail);
    if (seal !== null) { // of which three numbers follow from what is here
        const copy = seal.slice();
        u64(copy, AT_SEQUENCE, BigInt(chain.length + 1));
        [AT_PREDECESSOR, AT_CHECKSUM, SEAL_CHECKSUM].forEach((at) => u64(copy, at, 0n));
        bytes.set(sha(copy), tail);
    }
    chain.push(bytes);
    mend(chain);
    bytes.set(sign(null, Buffer.concat([DOMAIN, sha(bytes.subarray(0, AT_CHECKSUM)), sha(bytes.subarray(HEADER, bytes.length - 64))]), pair.privateKey), bytes.length - 64);
    mend(chain);
}

const SEAL_BYTES = 400;

function record(how: How, pair = mine): Uint8Array[] {
    const chain = [make(Kind.Definition, 0, 0), make(Kind.Scene, 0, 0)];
    for (const step of [0, 16, 32]) {
        chain.push(make(Kind.KeyFrame, step, step));
        addSignature(chain, How.Live, null, pair);
        chain.push(make(Kind.Inputs, step, step + 16), make(Kind.Frames, step, step + 16));
    }
    const seal = make(Kind.Seal, 0, 48, SEAL_BYTES);
    addSignature(chain, how, seal, pair);
    chain.push(seal);
    return mend(chain);
}

function judge(chain: Uint8Array[], key: Uint8Array | null, own: { links: Uint8Array[]; begunCall: number; steps: number; chain: number } | null = null): Signed {
    const all = [...chain, ...own?.links ?? []];
    const link = (bytes: Uint8Array, id: number) => ({ id, kind: kindOf(bytes), firstStep: Number(get64(bytes, AT_STEPS)), sequence: Number(get64(bytes, AT_SEQUENCE)) });
    const range: SignedRange | null = own === null ? null : { ...own, links: own.links.map((bytes, i) => link(bytes, chain.length + i)) };
    const check = new SignedCheck(key, chain.map(link), range, ({ id }) => {
        try {
            return openChunk(all[id]!, UID);
        } catch {
            return null;
        }
    });
    while (!check.isOver) {
        check.work();
    }
    return check.result;
}

const hexOf = (key: Uint8Array) => Buffer.from(key).toString("hex");

test("what was signed is, by whose key it was, from its beginning to its end", () => {
    assert.deepEqual(judge(record(How.Last), mine.key), { by: "wholly", step: 48, key: hexOf(mine.key) });
    assert.deepEqual(judge(record(How.Found), mine.key), { by: "found", step: 32, key: hexOf(mine.key) });
    assert.deepEqual(judge(record(How.Last).slice(0, 9), mine.key), { by: "part", step: 16, key: hexOf(mine.key) });
});

test("another key's are another's, and without a key it is said who has signed", () => {
    assert.deepEqual(judge(record(How.Last), other.key), { by: "another", step: 0, key: hexOf(mine.key) });
    assert.deepEqual(judge(record(How.Last), null), { by: "wholly", step: 48, key: hexOf(mine.key) });
    const unsigned = mend(record(How.Last).filter((bytes) => kindOf(bytes) !== Kind.Signature));
    assert.deepEqual(judge(unsigned, mine.key), { by: "nobody", step: 0, key: "" });
    assert.deepEqual(judge(unsigned, null), { by: "nobody", step: 0, key: "" });
});

test("a group's episode is signed where the chain of its range is, too", () => {
    const ranges = [0, 1].map((world) => mend([make(Kind.KeyFrame, 0, 0, 40, world), make(Kind.Inputs, 0, 20, 40, world), make(Kind.Inputs, 20, 50, 40, world)]));
    const chain = [make(Kind.Definition, 0, 0)];
    addSignature(chain, How.Live, null, mine, ranges.map((links) => links.slice(0, 2)));
    const seal = make(Kind.Seal, 0, 50, SEAL_BYTES);
    addSignature(chain, How.Last, seal, mine, ranges);
    chain.push(seal);
    mend(chain);
    const of = (links: Uint8Array[], which = 2) => judge(chain, mine.key, { links, begunCall: 10, steps: 35, chain: which });
    assert.deepEqual(of(ranges[1]!), { by: "wholly", step: 35, key: hexOf(mine.key) });
    assert.equal(of(ranges[0]!).by, "part"); // of another range
    assert.deepEqual(of(ranges[1]!.slice(0, 2)), { by: "part", step: 10, key: hexOf(mine.key) });
    const late = ranges[1]!.map((bytes) => bytes.slice());
    late[2]![HEADER] ^= 1;
    assert.deepEqual(of(mend(late)), { by: "part", step: 10, key: hexOf(mine.key) });
    const same = ranges[1]!.map((bytes) => bytes.slice());
    collide(same[2]!);
    assert.deepEqual(of(same), { by: "part", step: 10, key: hexOf(mine.key) });
    assert.equal(of([...ranges[1]!, make(Kind.Inputs, 50, 60, 40, 1)]).by, "part");
});

test("nothing that was forged is signed, at the chunk that was or behind it", () => {
    const genuine = record(How.Last), ends = genuine.map((_, i) => Math.max(0, ...genuine.slice(0, i).filter((b) => kindOf(b) === Kind.Inputs).map((b) => Number(get64(b, AT_STEPS + 8)))));
    let forged = 0;
    const refuse = (chain: Uint8Array[], step: number, what: string) => {
        const { by, step: signed } = judge(mend(chain), mine.key);
        assert.ok(by !== "wholly" && by !== "found" && signed <= step, `${what}: ${by}, up to ${signed}`);
        forged++;
    };
    const copy = () => genuine.map((bytes) => bytes.slice());
    genuine.forEach((bytes, i) => {
        const places = [AT_KIND, AT_STEPS, AT_STEPS + 8, AT_WRITTEN, AT_WORLD + 4, 80, HEADER, HEADER + 37, bytes.length - 1, bytes.length - 70];
        for (const at of places) {
            const chain = copy();
            chain[i]![at]! ^= 1;
            refuse(chain, ends[i]!, `chunk ${i}, byte ${at}`);
        }
        const same = copy();
        collide(same[i]!);
        refuse(same, ends[i]!, `chunk ${i}, with the checksum that it had`);
        for (const [what, cut] of [["is missing", [] as Uint8Array[]], ["is there twice", [bytes.slice(), bytes.slice()]]] as const) {
            const chain = copy();
            chain.splice(i, 1, ...cut);
            refuse(chain, Math.max(...ends.slice(0, i + 2)), `chunk ${i} ${what}`);
        }
        if (i > 0) {
            refuse([...copy().slice(0, i), make(Kind.Seal, 0, ends[i]!, SEAL_BYTES + 8)], ends[i]!, `cut off before ${i}, and sealed`);
            const chain = copy();
            [chain[i - 1], chain[i]] = [chain[i]!, chain[i - 1]!];
            refuse(chain, ends[i]!, `${i - 1} and ${i} are swapped`);
        }
    });
    const foreign = record(How.Last);
    foreign.forEach((_, i) => {
        if (kindOf(foreign[i]!) === Kind.Signature) { // of the same key and another recording
            const chain = copy();
            foreign[i]!.fill(7, HEADER + 40 + 16, HEADER + 40 + 48);
            chain[i] = foreign[i]!;
            refuse(chain, ends[i]!, `signature ${i} says another digest`);
        }
    });
    for (let i = 0; i < 64; i++) { // of the seal, all that does not follow from the signature before it
        const at = HEADER + 6 * i;
        if (at < SEAL_CHECKSUM - 7 || at > SEAL_CHECKSUM + 7) {
            const chain = copy();
            chain[chain.length - 1]![at]! ^= 1;
            refuse(chain, 48, `the seal's byte ${at - HEADER}`);
        }
    }
    const last = genuine[genuine.length - 1]!; // which says that it stood behind another chunk
    u64(last, AT_PREDECESSOR, 1n);
    u64(last, AT_CHECKSUM, hashOf(last.subarray(0, AT_CHECKSUM), last.subarray(HEADER)));
    assert.equal(judge(genuine, mine.key).by, "part");
    assert.ok(forged >= 200, `${forged} forgeries`);
});

test("any bytes are a signature or damage", () => {
    const body = record(How.Last)[3]!.subarray(HEADER);
    assert.equal(readSignature(body).how, How.Live);
    for (let cut = 0; cut < body.length; cut++) {
        assert.throws(() => readSignature(body.subarray(0, cut)), /cut short|no signature/);
    }
    for (const [at, value] of [[32, 0], [32, 4], [36, 2], [36, 0xffffffff]] as const) {
        const wrong = body.slice();
        u32(wrong, at, value);
        assert.throws(() => readSignature(wrong), /cut short|no signature/, `${value} at ${at}`);
    }
});

test("a key is given as seal.pub has it, or as its digits, and nothing else is one", () => {
    const digits = hexOf(mine.key);
    for (const text of [mine.pem, mine.pem.replace(/\n/g, ""), digits, ` ${digits.toUpperCase()}\n`, `${digits} of the lab`]) {
        assert.equal(readSealKey(text)?.digits, digits, text);
    }
    const rsa = generateKeyPairSync("rsa", { modulusLength: 1024 }).publicKey.export({ type: "spki", format: "pem" }).toString();
    const secret = mine.privateKey.export({ type: "pkcs8", format: "pem" }).toString();
    for (const text of ["", digits.slice(1), `${digits}0`, mine.pem.slice(0, 50), mine.pem.replace(/[A-Z]/, "="), rsa, secret, "SQLite format 3\0"]) {
        assert.equal(readSealKey(text), null, text);
    }
    assert.equal(keyOf(new Uint8Array(31), true), null);
});
