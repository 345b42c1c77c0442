// SPDX-License-Identifier: MIT
// What the picture draws, without a picture.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Frame } from "../src/log/frames";
import type { Body, Shape } from "../src/log/scene";
import { Cast, Slots } from "../src/view/slots";

const still = { position: [0, 0, 0], orientation: [1, 0, 0, 0], material: "" };
const ball: Shape = { ...still, kind: "sphere", size: [0.1, 0, 0] }, box: Shape = { ...still, kind: "box", size: [1, 2, 3] };
const ground: Shape = { ...still, kind: "plane", size: [0, 0, 0] };

function bodyOf(id: number, ...shapes: Shape[]): Body {
    return { id, index: id, name: "", kind: "DYNAMIC", position: [], orientation: [], mass: 1, inertia: [], center: [], shapes };
}

const castOf = (...bodies: Body[]): Cast => ({ bodies: new Map(bodies.map((b) => [b.id, b])), joints: [], fall: 0, scenesMet: 1 });

function frameOf(...ids: number[]): Frame {
    const pose = Float64Array.from(ids.flatMap((id) => [id, 0, 0, 1, 0, 0, 0])), none = new Float64Array(0);
    return { step: 0, worldStep: 0, time: 0, ids, pose, velocity: none, joints: null, jointPosition: none, jointVelocity: none, jointOrders: none };
}

test("shapes find their bodies' columns, and are looked for only where bodies are others", () => {
    const slots = new Slots(), cast = castOf(bodyOf(3, ball, box), bodyOf(7, ground), bodyOf(9));
    assert.ok(slots.take(frameOf(3, 7, 9), cast));
    assert.deepEqual(slots.solids.map((s) => [s.column, s.shape.kind]), [[0, "sphere"], [0, "box"]]);
    assert.deepEqual(slots.planes.map((s) => s.column), [1]);
    assert.ok(!slots.take(frameOf(3, 7, 9), cast));
    assert.ok(slots.take(frameOf(7, 3, 9), cast)); // the same bodies in other places
    assert.deepEqual(slots.solids.map((s) => s.column), [1, 1]);
    assert.ok(slots.take(frameOf(7, 9), cast)); // one is gone
    assert.deepEqual(slots.solids, []);
});

test("bodies of another episode are others, whatever their ids", () => {
    const slots = new Slots();
    slots.take(frameOf(1, 2), castOf(bodyOf(1, ball), bodyOf(2, ball)));
    assert.ok(slots.take(frameOf(1, 2), castOf(bodyOf(1, box), bodyOf(2, ball))));
    assert.deepEqual(slots.solids.map((s) => s.shape.kind), ["box", "sphere"]);
});

test("a body whose scene is not known is a ball", () => {
    const slots = new Slots();
    slots.take(frameOf(1, 2), castOf(bodyOf(1, box)));
    assert.deepEqual(slots.solids.map((s) => [s.body.id, s.shape.kind]), [[1, "box"], [2, "sphere"]]);
});

test("joints hold bodies that are there", () => {
    const slots = new Slots(), joint = { kind: "HINGE", name: "", a: 0, b: 1, frameA: [1, 0, 0], frameB: [-1, 0, 0], asRows: false };
    slots.take(frameOf(5, 6), { ...castOf(bodyOf(5, ball), bodyOf(6, ball)), joints: [{ joint, a: 6, b: 5 }, { joint, a: 0, b: 6 }, { joint, a: 4, b: 6 }] });
    assert.deepEqual(slots.holds.map((h) => [h.column, h.id, h.frame[0]]), [[1, 6, 1], [0, 5, -1], [1, 6, -1], [1, 6, -1]]);
});
