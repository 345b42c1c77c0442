// SPDX-License-Identifier: MIT
// What the page works out itself from frames and contacts that were recorded. It is said to be the page's wherever it
// is shown.
import type { Contacts, Frame } from "./log/frames";
import type { Body } from "./log/scene";

export interface Energy {
    kinetic: number; // [J]
    potential: number; // [J] in the scene's gravity; springs are not in it
}

// v rotated by the unit quaternion w x y z
function rotate(w: number, x: number, y: number, z: number, v: readonly number[]): [number, number, number] {
    const tx = 2 * (y * v[2] - z * v[1]), ty = 2 * (z * v[0] - x * v[2]), tz = 2 * (x * v[1] - y * v[0]);
    return [v[0] + w * tx + y * tz - z * ty, v[1] + w * ty + z * tx - x * tz, v[2] + w * tz + x * ty - y * tx];
}

/** Of the bodies whose scene is known; velocities are those of centres of mass, in world axes. */
export function energyOf(frame: Frame, bodies: ReadonlyMap<number, Body>, gravity: readonly number[]): Energy {
    let kinetic = 0, potential = 0;
    frame.ids.forEach((id, i) => {
        const body = bodies.get(id);
        if (body === undefined || body.mass === 0 || body.kind !== "DYNAMIC") {
            return;
        }
        const p = frame.pose, v = frame.velocity, o = 7 * i, u = 6 * i;
        const [w, x, y, z] = [p[o + 3], p[o + 4], p[o + 5], p[o + 6]];
        const c = rotate(w, x, y, z, body.center);
        const s = rotate(w, -x, -y, -z, [v[u + 3], v[u + 4], v[u + 5]]); // spin in the body's axes
        const [xx, yy, zz, xy, xz, yz] = body.inertia;
        const spin = s[0] * (xx * s[0] + xy * s[1] + xz * s[2]) + s[1] * (xy * s[0] + yy * s[1] + yz * s[2]) +
            s[2] * (xz * s[0] + yz * s[1] + zz * s[2]);
        kinetic += 0.5 * (body.mass * (v[u] * v[u] + v[u + 1] * v[u + 1] + v[u + 2] * v[u + 2]) + spin);
        potential -= body.mass * (gravity[0] * (p[o] + c[0]) + gravity[1] * (p[o + 1] + c[1]) + gravity[2] * (p[o + 2] + c[2]));
    });
    return { kinetic, potential };
}

export enum State { Open, Stick, Slide }
export const STATE_NAMES = ["open", "stick", "slide"];

// A contact pushes when its impulse is more than rounding beside the step's largest.
const PUSH_SHARE = 1e-9;
// On the cone's edge to this share: what solvers leave at their usual tolerance of 1e-6, with room.
const EDGE_SHARE = 1e-3;

export interface Judged {
    normal: number; // [N s]
    tangent: number; // [N s] length of the friction impulse
    ratio: number; // tangent / (friction * normal): 1 on the cone's edge; 0 where nothing pushes
    slip: number; // [m/s] tangential speed after the step
    approach: number; // [m/s] normal velocity after the step; negative: they approach
    state: State;
    excess: number; // [N s] by which friction lies outside of its cone
    defect: number; // [J] friction·normal·slip + λ_t·v_t: 0 where friction opposes slip as hard as it may
}

/** What is much and what is little in a step. */
export interface Scale {
    largest: number; // [N s] normal impulse
    still: number; // [m/s] slip that is none
}

// Of the speed that gravity gives in one step: far above what a solver's tolerance of 1e-6 leaves, far below what is
// seen.
const STILL_SHARE = 1e-3;

/** `fall` is the speed that gravity gives in one step [m/s]; without gravity any slip counts. */
export function scaleOf(list: Contacts, fall: number): Scale {
    let largest = 0;
    for (let i = 0; i < list.count; i++) {
        largest = Math.max(largest, list.impulse[3 * i]);
    }
    return { largest, still: STILL_SHARE * fall };
}

/** A contact sticks that lies on its cone's edge and does not slip: redundant ones often do. */
export function judge(list: Contacts, i: number, { largest, still }: Scale): Judged {
    const l = list.impulse, v = list.velocity, o = 3 * i;
    const normal = l[o], tangent = Math.hypot(l[o + 1], l[o + 2]), slip = Math.hypot(v[o + 1], v[o + 2]);
    const limit = list.friction[i] * Math.max(0, normal);
    const pushes = normal > PUSH_SHARE * largest;
    const ratio = limit > 0 ? tangent / limit : 0;
    return {
        normal, tangent, ratio, slip, approach: v[o],
        state: !pushes ? State.Open : slip > still && (limit === 0 || ratio >= 1 - EDGE_SHARE) ? State.Slide : State.Stick,
        excess: Math.max(0, tangent - limit),
        defect: limit * slip + l[o + 1] * v[o + 1] + l[o + 2] * v[o + 2],
    };
}

export interface ContactSummary {
    states: [number, number, number];
    deepest: number; // [m] overlap; 0: none
    defect: number; // [J] the largest
    excess: number; // [N s] the largest
}

export function summarise(list: Contacts, fall: number): ContactSummary {
    const scale = scaleOf(list, fall);
    const summary: ContactSummary = { states: [0, 0, 0], deepest: 0, defect: 0, excess: 0 };
    for (let i = 0; i < list.count; i++) {
        const one = judge(list, i, scale);
        summary.states[one.state]++;
        summary.deepest = Math.max(summary.deepest, -list.gap[i]);
        summary.defect = Math.max(summary.defect, one.defect);
        summary.excess = Math.max(summary.excess, one.excess);
    }
    return summary;
}

/** A contact's name over time: whose it is, and which feature. */
export function contactKey(list: Contacts, i: number): string {
    return contactName(list.bodyA[i], list.bodyB[i], list.feature[i]);
}

export const contactName = (a: number, b: number, feature: bigint) => `${a}-${b}-${feature.toString(16)}`;

export interface Difference {
    distance: number; // [m] the largest between a body here and there
    body: number; // whose it is
    isSame: boolean; // every bit of every pose
    isComparable: boolean; // the same bodies
}

/** Bodies of the same id, as a fork or another run of the same inputs has them. */
export function differenceOf(a: Frame, b: Frame): Difference {
    const result: Difference = { distance: 0, body: 0, isSame: a.ids.length === b.ids.length, isComparable: a.ids.length === b.ids.length };
    const where = a.ids.every((id, i) => b.ids[i] === id) ? null : new Map(b.ids.map((id, i) => [id, i]));
    a.ids.forEach((id, i) => {
        const j = where === null ? i : where.get(id);
        if (j === undefined) {
            result.isSame = result.isComparable = false;
            return;
        }
        for (let k = 0; k < 7; k++) {
            result.isSame = result.isSame && Object.is(a.pose[7 * i + k], b.pose[7 * j + k]);
        }
        const distance = Math.hypot(a.pose[7 * i] - b.pose[7 * j], a.pose[7 * i + 1] - b.pose[7 * j + 1], a.pose[7 * i + 2] - b.pose[7 * j + 2]);
        if (distance > result.distance) {
            result.distance = distance;
            result.body = id;
        }
    });
    return result;
}
