// SPDX-License-Identifier: MIT
// What the page works out itself from frames and contacts that were recorded. It is said to be the page's wherever it
// is shown.
import type { Contacts, Frame } from "./log/frames";
import type { Body } from "./log/scene";
import { first, nth } from "./nth";

export interface Energy {
    kinetic: number; // [J]
    potential: number; // [J] in the scene's gravity; springs are not in it
}

// v rotated by the unit quaternion w x y z
function rotate(w: number, x: number, y: number, z: number, v: readonly number[]): [number, number, number] {
    const tx = 2 * (y * nth(v, 2) - z * nth(v, 1)), ty = 2 * (z * nth(v, 0) - x * nth(v, 2)), tz = 2 * (x * nth(v, 1) - y * nth(v, 0));
    return [nth(v, 0) + w * tx + y * tz - z * ty, nth(v, 1) + w * ty + z * tx - x * tz, nth(v, 2) + w * tz + x * ty - y * tx];
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
        const [w, x, y, z] = first(p.subarray(o + 3, o + 7), 4);
        const c = rotate(w, x, y, z, body.center);
        const s = rotate(w, -x, -y, -z, [nth(v, u + 3), nth(v, u + 4), nth(v, u + 5)]); // spin in the body's axes
        const [xx, yy, zz, xy, xz, yz] = first(body.inertia, 6);
        const spin = s[0] * (xx * s[0] + xy * s[1] + xz * s[2]) + s[1] * (xy * s[0] + yy * s[1] + yz * s[2]) +
            s[2] * (xz * s[0] + yz * s[1] + zz * s[2]);
        kinetic += 0.5 * (body.mass * (nth(v, u) * nth(v, u) + nth(v, u + 1) * nth(v, u + 1) + nth(v, u + 2) * nth(v, u + 2)) + spin);
        potential -= body.mass * (nth(gravity, 0) * (nth(p, o) + c[0]) + nth(gravity, 1) * (nth(p, o + 1) + c[1]) + nth(gravity, 2) * (nth(p, o + 2) + c[2]));
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
        largest = Math.max(largest, nth(list.impulse, 3 * i));
    }
    return { largest, still: STILL_SHARE * fall };
}

/** A contact sticks that lies on its cone's edge and does not slip: redundant ones often do. */
export function judge(list: Contacts, i: number, { largest, still }: Scale): Judged {
    const l = list.impulse, v = list.velocity, o = 3 * i;
    const normal = nth(l, o), tangent = Math.hypot(nth(l, o + 1), nth(l, o + 2)), slip = Math.hypot(nth(v, o + 1), nth(v, o + 2));
    const limit = nth(list.friction, i) * Math.max(0, normal);
    const pushes = normal > PUSH_SHARE * largest;
    const ratio = limit > 0 ? tangent / limit : 0;
    return {
        normal, tangent, ratio, slip, approach: nth(v, o),
        state: !pushes ? State.Open : slip > still && (limit === 0 || ratio >= 1 - EDGE_SHARE) ? State.Slide : State.Stick,
        excess: Math.max(0, tangent - limit),
        defect: limit * slip + nth(l, o + 1) * nth(v, o + 1) + nth(l, o + 2) * nth(v, o + 2),
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
        summary.deepest = Math.max(summary.deepest, -nth(list.gap, i));
        summary.defect = Math.max(summary.defect, one.defect);
        summary.excess = Math.max(summary.excess, one.excess);
    }
    return summary;
}

/** A contact's name over time: whose it is, and which feature. */
export function contactKey(list: Contacts, i: number): string {
    return contactName(nth(list.bodyA, i), nth(list.bodyB, i), nth(list.feature, i));
}

export const contactName = (a: number, b: number, feature: string) => `${a}-${b}-${feature}`;

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
        const distance = Math.hypot(nth(a.pose, 7 * i) - nth(b.pose, 7 * j), nth(a.pose, 7 * i + 1) - nth(b.pose, 7 * j + 1), nth(a.pose, 7 * i + 2) - nth(b.pose, 7 * j + 2));
        if (distance > result.distance) {
            result.distance = distance;
            result.body = id;
        }
    });
    return result;
}
