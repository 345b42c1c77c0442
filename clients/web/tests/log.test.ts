// SPDX-License-Identifier: MIT
// What the page reads is what the server wrote: chunks made here byte by byte as server/log's headers describe them,
// and a hash whose values come from the server's own.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Damage } from "../src/log/bytes";
import { CHUNK_HEADER_BYTES, Kind, openChunk, toldGain } from "../src/log/chunk";
import { readContacts, readFrames } from "../src/log/frames";
import { hashOf } from "../src/log/hash";
import { jointNumbers } from "../src/log/joints";
import { nameBodies, readScene } from "../src/log/scene";
import { readDefinition, readEntries, readHighlights, readSeal } from "../src/log/sealed";

class Sink {
    private parts: number[] = [];
    u32(...values: number[]) { values.forEach((v) => this.put(4, (d) => d.setUint32(0, v, true))); return this; }
    u64(...values: (number | bigint)[]) { values.forEach((v) => this.put(8, (d) => d.setBigUint64(0, BigInt(v), true))); return this; }
    f64(...values: number[]) { values.forEach((v) => this.put(8, (d) => d.setFloat64(0, v, true))); return this; }
    raw(bytes: Uint8Array | number[]) { this.parts.push(...bytes); return this; }
    text(text: string) { const b = new TextEncoder().encode(text); return this.u64(b.length).raw(b); }
    pad() { while (this.parts.length % 8) this.parts.push(0); return this; }
    bytes() { return new Uint8Array(this.parts); }
    private put(n: number, set: (d: DataView) => void) { const b = new Uint8Array(n); set(new DataView(b.buffer)); this.raw(b); }
}

const UID = "00112233445566778899aabb00000000";
const uidBytes = Uint8Array.from(UID.match(/../g)!, (h) => parseInt(h, 16));

function seal(kind: number, first: number, last: number, body: Uint8Array, flags = 0, version = 4): Uint8Array {
    const head = new Sink().raw(new TextEncoder().encode("MOREAUCK")).u32(version, kind).raw(uidBytes).u64(7).u32(0, 1).u64(first, last)
        .f64(1.25).u64(5n).u64(3).f64(1e-3, 2e-3).u64(4).f64(5).u64(6).f64(7).u64(8).raw(new TextEncoder().encode("mdp")).raw(new Array(13).fill(0))
        .u32(flags, 0).u64(9, body.length).bytes();
    assert.equal(head.length, CHUNK_HEADER_BYTES - 8);
    return new Sink().raw(head).u64(hashOf(head, body)).raw(body).bytes();
}

test("the hash is the server's", () => { // values from server/base/hash.c
    const bytes = Uint8Array.from({ length: 1000 }, (_, i) => (i * 37 + (i >> 3)) & 255);
    const values: [number, bigint][] = [
        [0, 0xf0f2cf229be01d88n],
        [1, 0x5452c9fcb1d2498cn],
        [63, 0xd9d70127c2401e7cn],
        [64, 0x3454365d6e803ee9n],
        [65, 0xca471346e9b0c820n],
        [1000, 0x1db2b4b1f28c573an],
    ];
    for (const [count, value] of values) {
        assert.equal(hashOf(bytes.subarray(0, count)), value, `of ${count} bytes`);
    }
});

test("the hash does not depend on the pieces and changes with every bit", () => {
    const bytes = Uint8Array.from({ length: 1000 }, (_, i) => (i * 37 + (i >> 3)) & 255);
    const whole = hashOf(bytes);
    for (const cut of [0, 1, 63, 64, 65, 128, 500, 999, 1000]) {
        assert.equal(hashOf(bytes.subarray(0, cut), bytes.subarray(cut)), whole, `cut at ${cut}`);
    }
    for (let i = 0; i < 8 * bytes.length; i += 13) {
        const other = bytes.slice();
        other[i >> 3] ^= 1 << (i & 7);
        assert.notEqual(hashOf(other), whole, `bit ${i}`);
    }
});

test("a chunk says what was sealed", () => {
    const chunk = openChunk(seal(Kind.Inputs, 10, 20, new Sink().u64(1, 2, 3).bytes()), UID);
    assert.deepEqual({ ...chunk, body: chunk.body.length, checksum: 0n }, {
        kind: Kind.Inputs, version: 4, uid: UID, sequence: 7, firstWorld: 0, worldCount: 1, firstStep: 10, lastStep: 20, time: 1.25, writtenNs: 5n,
        figures: { unconverged: 3, worstOwn: 1e-3, worstPenetration: 2e-3, contactsMax: 4, hardestImpact: 5, hardestImpactStep: 6, energyGain: 7, energyGainStep: 8, gain: null },
        solver: "mdp", predecessor: 9n, checksum: 0n, body: 24,
    });
});

test("inputs say what energy was gained since version 7, in front of their body", () => {
    const body = new Sink().f64(0.5, 20, 0.25).u64(1, 2, 3).bytes();
    const chunk = openChunk(seal(Kind.Inputs, 10, 20, body, 0, 7), UID);
    assert.deepEqual(chunk.figures.gain, { sum: 0.5, scale: 20, step: 0.25 });
    assert.equal(chunk.body.length, 24);
    assert.equal(toldGain(chunk.figures.gain), 0.5);
    assert.equal(toldGain({ sum: 0.1, scale: 20, step: 0 }), 0); // less than 1 % of the scale
    assert.equal(toldGain(null), null);
    assert.deepEqual(openChunk(seal(Kind.Inputs, 10, 20, body), UID).body.length, 48);
    assert.throws(() => openChunk(seal(Kind.Inputs, 10, 20, new Uint8Array(16), 0, 7), UID), /what energy was gained: its body has 16 bytes/);
});

test("no flipped bit and no cut passes", () => {
    const bytes = seal(Kind.Gap, 1, 2, new Uint8Array(0));
    for (let bit = 0; bit < 8 * bytes.length; bit++) {
        const other = bytes.slice();
        other[bit >> 3] ^= 1 << (bit & 7);
        assert.throws(() => openChunk(other, UID), Damage, `bit ${bit}`);
    }
    const long = seal(Kind.Inputs, 1, 2, new Uint8Array(40));
    for (let cut = 0; cut < long.length; cut++) {
        assert.throws(() => openChunk(long.subarray(0, cut), UID), Damage, `cut at ${cut}`);
    }
});

test("what is sealed and makes no sense is refused and named", () => {
    const body = new Uint8Array(0);
    assert.throws(() => openChunk(seal(Kind.Gap, 3, 2, body), UID), /first step, 3, comes after its last, 2/);
    assert.throws(() => openChunk(seal(99, 1, 2, body), UID), /kind, 99, is unknown/);
    assert.throws(() => openChunk(seal(Kind.Gap, 1, 2, body, 1), UID), /newer program/);
    assert.throws(() => openChunk(seal(Kind.Gap, 1, 2, body, 0, 99), UID), /format version is 99/);
    assert.throws(() => openChunk(seal(Kind.Gap, 1, 2, body), "ff".repeat(16)), /another recording/);
});

test("frames are columns", () => {
    const body = (count: number, second: number) => new Sink().u64(2, count, 1, 1, 5, 6)
        .u64(0, 100).f64(0.5).f64(...Array.from({ length: 26 }, (_, i) => i)).f64(70, 71)
        .u64(second, 101).f64(0.6).f64(...Array.from({ length: 26 }, (_, i) => -i)).f64(80, 81).bytes();
    const [first, second] = readFrames(body(2, 4));
    assert.deepEqual([first.step, first.worldStep, first.time, first.ids], [0, 100, 0.5, [5, 6]]);
    assert.deepEqual([...second.pose].slice(7, 9), [-7, -8]);
    assert.deepEqual([second.velocity[0], second.velocity[11], second.jointPosition[0], second.jointVelocity[0]], [-14, -25, 80, 81]);
    // version 5: a joint, and behind its velocity what it is to do
    const [joined] = readFrames(new Sink().u64(2, 1, 1, 1, 5, 6).u64(1, 9, 32)
        .u64(4, 100).f64(0.5).f64(...Array.from({ length: 26 }, (_, i) => i)).f64(70, 71, 72, 73, 74).bytes());
    assert.deepEqual([joined.step, joined.velocity[11], joined.jointPosition[0], joined.jointVelocity[0]], [4, 25, 70, 71]);
    assert.deepEqual([first.joints, joined.joints], [null, { ids: [9], axes: [32] }]);
    assert.throws(() => readFrames(new Sink().u64(2, 1, 1, 1, 5, 6).u64(1, 9, 48)
        .u64(4, 100).f64(0.5).f64(...Array.from({ length: 26 }, (_, i) => i)).f64(70, 71, 72, 73, 74).bytes()), /joints of 2 positions and 2 velocities have 1 and 1/);
    assert.throws(() => readFrames(body(3, 4)), /claims 3 frames/);
    assert.throws(() => readFrames(body(2, 0)), /frame 1 is of step 0/);
    assert.throws(() => readFrames(body(2, 4).subarray(0, 100)), Damage);
    assert.throws(() => readFrames(new Sink().u64(1n << 60n, 1, 0, 0).bytes()), Damage);
});

test("joints have as many numbers as their axes say", () => {
    const list = { ids: [3, 5, 8, 9], axes: [32, 0, 56, 5] }; // a hinge, what leaves nothing free, a ball, moves along x and z
    const [hinge, ball, moves] = jointNumbers(list, Float64Array.from([1, 2, 3, 4, 5, 6, 7]), Float64Array.from([10, 20, 30, 40, 50, 60]));
    assert.deepEqual(hinge, { id: 3, axes: ["∠z"], position: [1], velocity: [10] });
    assert.deepEqual(ball, { id: 8, axes: ["∠x", "∠y", "∠z"], position: [2, 3, 4, 5], velocity: [20, 30, 40] });
    assert.deepEqual(moves, { id: 9, axes: ["x", "z"], position: [6, 7], velocity: [50, 60] });
    assert.throws(() => jointNumbers(list, new Float64Array(8), new Float64Array(6)), /7 positions and 6 velocities have 8 and 6/);
});

test("contacts are columns, list by list", () => {
    const one = new Sink().u64(3, 1, 8, 9, 5n << 32n | 2n, 77).f64(1, 2, 3).f64(0, 0, 1, 1, 0, 0, 0, 1, 0).f64(-1e-6).f64(4, 3, 0).f64(0, 0.5, 0).f64(0.75).bytes();
    const lists = readContacts(new Sink().u64(2).raw(one).u64(5, 0).bytes(), 9);
    assert.equal(lists.length, 2);
    assert.deepEqual([lists[0].bodyA, lists[0].bodyB, lists[0].feature, lists[0].gap[0], lists[0].friction[0]], [[8], [9], ["2.5.4d"], -1e-6, 0.75]);
    assert.deepEqual([[...lists[0].impulse], [...lists[0].velocity], [...lists[0].frame].slice(0, 3)], [[4, 3, 0], [0, 0.5, 0], [0, 0, 1]]);
    assert.equal(lists[1].count, 0);
    assert.throws(() => readContacts(new Sink().u64(1).raw(one).raw(one).bytes(), 9), /behind the one/);
    assert.throws(() => readContacts(new Sink().u64(3).raw(one).bytes(), 9), /1 lists of contacts instead of 3/);
    assert.throws(() => readContacts(new Sink().u64(1).raw(one.subarray(0, 190)).bytes(), 9), Damage);
});

test("a definition and a seal are read to their last byte", () => {
    const definition = new Sink().u64(2, 5, 500, 0, 1, 1, 7, 0).f64(0, 0.01).u64(12, 99n, 1, 42, 0).raw(new Array(16).fill(0)).u64(0)
        .text("demo").text("mdp").text("cli").text("w").text("0.1").text("gcc").u64(2).text("a").text("bb").pad().bytes();
    const read = readDefinition(definition);
    assert.deepEqual([read.content, read.stride, read.seed, read.parent, read.name, read.labels, read.timeStep], [2, 5, 42n, null, "demo", ["a", "bb"], 0.01]);
    assert.throws(() => readDefinition(new Sink().raw(definition).u64(0).bytes()), Damage);
    const ending = new Sink().u64(3, 720).f64(3).u64(0, 9n, 1, 1).u64(0).f64(0, 0).u64(0).f64(0).u64(0).f64(0).u64(0)
        .u64(...Array.from({ length: 11 }, (_, i) => i)).u64(1).u32(0, 1).u64(20, 77).text("killed").pad().bytes();
    const seal = readSeal(ending);
    assert.deepEqual([seal.state, seal.lastStep, seal.isFound, seal.why, seal.chunkCount[10], seal.chains[0].checksum], [3, 720, true, "killed", 10, 77n]);
});

test("highlights of every version are read", () => {
    const launch = new Sink().u64(4, 1, 2, 2).f64(0.5).u64(0, 8, 0, 9).f64(0.01).bytes();
    const [four] = readHighlights(openChunk(seal(Kind.Highlights, 0, 2, new Sink().u64(1).raw(launch).bytes()), UID));
    assert.deepEqual(four, { kind: 4, firstStep: 1, lastStep: 2, step: 2, value: 0.5, reason: 0, body: 8, contacts: 0, other: 9, height: 0.01, joint: 0 });
    const broken = new Sink().u64(5, 1, 2, 2).f64(3).u64(0, 0, 0, 0).f64(0).u64(12).bytes();
    const [five] = readHighlights(openChunk(seal(Kind.Highlights, 0, 2, new Sink().u64(1).raw(broken).bytes(), 0, 5), UID));
    assert.deepEqual([five.kind, five.value, five.joint], [5, 3, 12]);
    const three = readHighlights(openChunk(seal(Kind.Highlights, 0, 2, new Sink().u64(1, 1, 1, 2, 2).f64(0.5).u64(3, 8, 40).bytes(), 0, 3), UID))[0];
    assert.deepEqual([three.reason, three.contacts, three.other], [3, 40, 0]);
    const two = readHighlights(openChunk(seal(Kind.Highlights, 0, 2, new Sink().u64(1, 1, 1, 2, 2).f64(0.5).bytes(), 0, 2), UID))[0];
    assert.deepEqual([two.step, two.reason], [2, 0]);
});

test("entries tell changes, steps and faults", () => {
    const input = (kind: number) => new Sink().u32(kind, 1).u64(0).bytes();
    const body = new Sink().u64(0).u32(0, 1).u64(16).raw(input(1)).u64(11).u64(0).u32(1, 3).u64(16).raw(input(5)).u64(1, 2, 3).bytes();
    assert.deepEqual(readEntries(body), [{ step: 0, kind: 1, faulted: false, steps: 0 }, { step: 0, kind: 5, faulted: true, steps: 2 }]);
});

test("bodies of later scenes are those that were not there before", () => {
    const scene = (n: number) => readScene(JSON.stringify({ bodies: Array.from({ length: n }, (_, i) => ({ name: `b${i}`, shapes: [{ sphere: { radius: 1 } }] })) }), 0);
    const first = scene(2);
    assert.ok(nameBodies(first, [1, 2], new Set()));
    assert.deepEqual(first.bodies.map((b) => b.id), [1, 2]);
    const added = scene(1);
    assert.ok(nameBodies(added, [1, 2, 4294967299], new Set([1, 2])));
    assert.equal(added.bodies[0].id, 4294967299);
    const restored = scene(3);
    assert.ok(nameBodies(restored, [1, 2, 3], new Set([1, 2, 3])));
    assert.equal(nameBodies(scene(2), [1], new Set([1])), false);
    assert.throws(() => readScene("{", 0), /no JSON/);
    assert.throws(() => readScene("[]", 0), /no bodies/);
});
