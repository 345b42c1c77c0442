// SPDX-License-Identifier: MIT
// A ball above the ground, which is drawn before there is anything to be seen, and never seen itself: a driver makes a
// program ready when something is drawn by it for the first time, which takes it a tenth of a second where it draws in
// software. So it does that while the scene is on its way.
import type { Body, Shape } from "../log/scene";
import type { Picture } from "./stage";

const shape = (kind: Shape["kind"], radius: number): Shape =>
    ({ kind, size: [radius, 0, 0], hull: null, position: [0, 0, 0], orientation: [1, 0, 0, 0], material: "", patchMaterials: [] });

const body = (id: number, kind: string, of: Shape): [number, Body] => [id,
    { id, index: id - 1, name: "", kind, position: [0, 0, 0], orientation: [1, 0, 0, 0], mass: 0, inertia: [], center: [], shapes: [of] }];

const none = new Float64Array(0);

export const BALL_ON_GROUND: Picture = {
    episode: { bodies: new Map([body(1, "STATIC", shape("plane", 0)), body(2, "DYNAMIC", shape("sphere", 1))]), joints: [], fall: 0, scenesMet: 0 },
    frame: {
        step: 0, worldStep: 0, time: 0, ids: [1, 2], pose: Float64Array.of(0, 0, 0, 1, 0, 0, 0, 0, 0, 1, 1, 0, 0, 0), velocity: none,
        joints: null, jointPosition: none, jointVelocity: none, jointOrders: none,
    },
    contacts: null, second: null, selected: 0, contact: -1, hidden: new Set(), showContacts: false,
};
