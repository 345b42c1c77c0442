// SPDX-License-Identifier: MIT
// Positions and velocities of joints, joint by joint in the order of their ids: so many of each as their free axes say.
import { nth } from "../nth";
import { Damage } from "./bytes";

/** Which joints a frame has. */
export interface JointList {
    ids: number[];
    axes: number[]; // of each the axes that it leaves free, a sum of 2^axis: moves along x y z, turns about x y z
}

export interface JointNumbers {
    id: number;
    axes: string[]; // "x" a move along x, "∠x" a turn about it
    position: number[]; // [m, rad]; of three turns the unit quaternion w x y z
    velocity: number[]; // [m/s, rad/s]
}

const AXES = ["x", "y", "z", "∠x", "∠y", "∠z"], TURNS = 56;

/** Of the joints that leave anything free. Throws where the numbers are not as many as the axes say. */
export function jointNumbers({ ids, axes }: JointList, position: Float64Array, velocity: Float64Array): JointNumbers[] {
    let p = 0, q = 0;
    const all = ids.map((id, i): JointNumbers => {
        const free = AXES.filter((_, bit) => (nth(axes, i) >> bit) & 1), isTurned = (nth(axes, i) & TURNS) === TURNS;
        return { id, axes: free, position: [...position.subarray(p, (p += free.length + (isTurned ? 1 : 0)))], velocity: [...velocity.subarray(q, (q += free.length))] };
    });
    if (p !== position.length || q !== velocity.length) {
        throw new Damage(`joints of ${p} positions and ${q} velocities have ${position.length} and ${velocity.length}`);
    }
    return all.filter((one) => one.axes.length > 0);
}
