// SPDX-License-Identifier: MIT
// Hulls of scenes: named ones are one, and a ray finds the face that it comes through.
import assert from "node:assert/strict";
import test from "node:test";
import { Ray, Vector3 } from "three";
import type { Frame } from "../src/log/frames";
import { readScene } from "../src/log/scene";
import { pickBody } from "../src/view/pick";

const FACES = [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
const box = (x: number, y: number, z: number) => ({
    points: Array.from({ length: 8 }, (_, i) => [i & 1 ? x : -x, i & 2 ? y : -y, i & 4 ? z : -z]).flat(), faces: FACES.map((points) => ({ points })),
});

test("a hull that several name is one, and has the size of the box around it", () => {
    const named = { shapes: [{ hull: { geometry: "crate" } }] };
    const scene = readScene(JSON.stringify({ geometries: [{ name: "crate", hull: box(1, 2, 2) }], bodies: [named, named, { shapes: [{ hull: box(3, 4, 0.5) }] }] }), 0);
    const [first, second, own] = scene.bodies.map((b) => b.shapes[0]);
    assert.equal(first?.hull, second?.hull);
    assert.deepEqual([first?.kind, first?.size, own?.hull?.faces.length], ["hull", [1, 2, 2], 6]);
});

test("what is no hull has no faces", () => {
    const scene = readScene(JSON.stringify({ bodies: [{ shapes: [{ hull: { points: [0, 0, 0], faces: [{ points: [0, 1, 2] }, {}] } }, { hull: { geometry: "none" } }] }] }), 0);
    assert.deepEqual(scene.bodies[0]?.shapes.map((s) => s.hull?.faces), [[], []]);
});

test("a ray meets a hull where it meets the box that it is", () => {
    const scene = readScene(JSON.stringify({ bodies: [{ shapes: [{ hull: box(1, 2, 3) }] }] }), 0);
    const frame = { ids: [7], pose: Float64Array.from([0, 0, 0, 1, 0, 0, 0]) } as unknown as Frame;
    const bodies = new Map(scene.bodies.map((b) => [7, b]));
    const pick = (from: number[], to: number[]) => pickBody(new Ray(new Vector3(...from), new Vector3(...to).normalize()), frame, bodies, () => false);
    assert.equal(pick([5, 1.9, 2.9], [-1, 0, 0]), 7);
    assert.equal(pick([5, 2.1, 2.9], [-1, 0, 0]), 0);
    assert.equal(pick([5, 0, 0], [1, 0, 0]), 0);
    assert.equal(pick([0, 0, 9], [0.1, 0.1, -1]), 7);
});
