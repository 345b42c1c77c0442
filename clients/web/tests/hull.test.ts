// SPDX-License-Identifier: MIT
// Hulls of scenes: named ones are one, and a ray finds the face that it comes through.
import assert from "node:assert/strict";
import test from "node:test";
import { Ray, Vector3 } from "three";
import type { Frame } from "../src/log/frames";
import { patchesOf, readScene } from "../src/log/scene";
import { wornHulls } from "../src/view/instances";
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

const GRID = { columns: 3, rows: 2, spacing: [1, 1], heights: [0, 0, 0, 0, 0, 0], patches: [0, 2] };
const ROOF = { points: [0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0], triangles: [0, 1, 2, 0, 7, 2, 0, 2, 3], patches: [1, 2, 2] };

test("patches have the materials that their shape wears, cell by cell and triangle by triangle", () => {
    const shapes = [
        { height_field: GRID, material: "road", patch_materials: ["", "ice"] }, { height_field: GRID, material: "ice", patch_materials: ["", "ice"] },
        { mesh: ROOF, material: "tin", patch_materials: ["moss"] }, { mesh: { ...ROOF, patches: [1] }, material: "tin", patch_materials: ["moss"] },
    ];
    const [body] = readScene(JSON.stringify({ bodies: [{ shapes }] }), 0).bodies;
    assert.deepEqual(body?.shapes.map(patchesOf), [
        { materials: ["ice"], faces: [0, 0, 1, 1] }, { materials: [], faces: [] },
        { materials: ["moss"], faces: [1, 0] }, // the triangle that names no point is left out, with its patch
        { materials: [], faces: [] },
    ]);
});

test("a material has one mark in all of a scene, and who wears a surface in another way is drawn in another", () => {
    const ground = (material: string, patch: string) => ({ shapes: [{ height_field: { geometry: "grid" }, material, patch_materials: ["", patch] }] });
    const bodies = [ground("road", "ice"), ground("road", "ice"), ground("road", "mud"), ground("ice", "ice"), ground("mud", "ice")];
    const scene = readScene(JSON.stringify({ geometries: [{ name: "grid", height_field: GRID }], bodies }), 0);
    const slots = scene.bodies.flatMap((body, column) => body.shapes.map((shape) => ({ column, shape, body })));
    assert.deepEqual(wornHulls(slots).map((worn) => [worn.slots.length, worn.marks]),
        [[2, [0, 0, 1, 1]], [1, [0, 0, 2, 2]], [1, []], [1, [0, 0, 1, 1]]]);
});
