// SPDX-License-Identifier: MIT
// What the picture draws, without a picture.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Episode } from "../src/episode";
import type { Frame } from "../src/log/frames";
import type { Body, Shape } from "../src/log/scene";
import type { Client } from "../src/store/client";
import type { EpisodeHead, EpisodeRow } from "../src/store/messages";
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

// ---- the ground of a world of a group

const level = (name: string, z: number) => ({ name, mesh: { points: [-1, -1, z, 1, -1, z, 0, 2, z], triangles: [0, 1, 2] } });
const hilly = {
    geometries: [level("geometry-1", 0), level("geometry-2", 3)],
    bodies: [{ name: "ground", kind: "STATIC", shapes: [{ mesh: { geometry: "geometry-1" }, material: "ice" }] }, { name: "ball", shapes: [{ sphere: { radius: 1 } }] }],
};

test("an episode shows the ground that its world wears", () => {
    const head = {
        damage: [], scenes: [{ step: 0, text: JSON.stringify(hilly) }], chunks: [], definition: { timeStep: 0.01, stride: 1 },
    } as unknown as EpisodeHead;
    const episode = new Episode({} as Client, { uid: "", isOfGroup: true } as EpisodeRow, head);
    const heights = () => episode.bodies.get(1)?.shapes.map((shape) => [shape.hull?.points[2], shape.size[2], shape.material]);
    episode.meet(frameOf(1, 2)); // one that was stored says nothing of it
    assert.deepEqual(heights(), [[0, 0, "ice"]]);
    episode.meet({ ...frameOf(1, 2), worn: [1, 0] });
    const met = episode.scenesMet;
    episode.meet({ ...frameOf(1, 2), worn: [2, 0] });
    assert.deepEqual(heights(), [[3, 3, "ice"]]);
    assert.equal(episode.scenesMet, met + 1); // who draws looks again
    episode.meet({ ...frameOf(1, 2), worn: [2, 0] });
    episode.meet({ ...frameOf(1, 2), worn: [7, 7] }); // what no scene has changes nothing
    assert.equal(episode.scenesMet, met + 1);
    assert.equal(episode.bodies.get(2)?.shapes[0]?.kind, "sphere");
});
