// SPDX-License-Identifier: MIT
// The bodies of frame and contact chunks, as server/log/format/frames.h has them: columns, read in place.
import { nth } from "../nth";
import { Damage, Source, doubles, wholes } from "./bytes";
import { JointList, jointNumbers } from "./joints";

export interface Frame {
    step: number;
    worldStep: number;
    time: number; // [s]
    ids: number[];
    pose: Float64Array; // 7 per body: x y z, quaternion w x y z
    velocity: Float64Array; // 6 per body: of the centre of mass, angular; world axes
    joints: JointList | null; // null: there are none, or nothing says which
    jointPosition: Float64Array;
    jointVelocity: Float64Array;
    jointOrders: Float64Array; // targets, target velocities, efforts, of frames that have them
    worn?: number[]; // ids of geometries, per body, of frames that were stepped to; 0: none, or several
}

function readFrame(body: Uint8Array, at: number, ids: number[], p: number, q: number, orders: number, joints: JointList | null): Frame {
    const n = ids.length;
    const head = new Source(body.subarray(at, at + 24));
    const columns = at + 24;
    return {
        step: head.whole(),
        worldStep: head.whole(),
        time: head.f64(),
        ids,
        joints,
        pose: doubles(body, columns, 7 * n),
        velocity: doubles(body, columns + 56 * n, 6 * n),
        jointPosition: doubles(body, columns + 104 * n, p),
        jointVelocity: doubles(body, columns + 104 * n + 8 * p, q),
        jointOrders: doubles(body, columns + 104 * n + 8 * (p + q), orders),
    };
}

export function readFrames(body: Uint8Array): Frame[] {
    const source = new Source(body);
    const n = source.whole(), count = source.whole(), p = source.whole(), q = source.whole();
    if (n > source.left / 8 || p > source.left / 8 || q > source.left / 8) {
        throw new Damage(`it claims ${n} bodies, which is not what ${body.length} bytes hold`);
    }
    const ids = wholes(source.part(8 * n), 0, n);
    let frameBytes = 24 + 104 * n + 8 * (p + q), orders = 0, joints: JointList | null = null;
    if (source.left !== count * frameBytes) {
        // of version 5: which joints, and in every frame their targets and efforts as well. The length tells: 24 q
        // bytes of a frame are added
        const j = source.count(16);
        joints = { ids: wholes(source.part(8 * j), 0, j), axes: wholes(source.part(8 * j), 0, j) };
        orders = 3 * q;
        frameBytes += 8 * orders;
    }
    if (count === 0 || source.left !== count * frameBytes) {
        throw new Damage(`it claims ${count} frames of ${n} bodies, which is not what ${body.length} bytes hold`);
    }
    if (joints !== null) {
        jointNumbers(joints, new Float64Array(p), new Float64Array(q)); // as many as their axes say
    }
    const frames: Frame[] = [];
    for (let i = 0; i < count; i++) {
        const frame = readFrame(body, source.at + i * frameBytes, ids, p, q, orders, joints);
        if (i > 0 && frame.step <= nth(frames, i - 1).step) {
            throw new Damage(`its frame ${i} is of step ${frame.step}, the one before of step ${nth(frames, i - 1).step}`);
        }
        frames.push(frame);
    }
    return frames;
}

export interface Contacts {
    step: number;
    count: number;
    bodyA: number[];
    bodyB: number[];
    feature: string[]; // which primitives of their shapes touch, and where: a name, the same while the same ones do
    point: Float64Array; // 3 each [m]
    frame: Float64Array; // 9 each: normal from a to b, tangents
    gap: Float64Array; // [m]
    impulse: Float64Array; // 3 each [N s]: on b along the frame
    velocity: Float64Array; // 3 each [m/s]: of b against a after the step, along the frame
    friction: Float64Array;
}

const CONTACT_BYTES = 192;
const FORMAT_PARTS = 9; // since when contacts say which parts touch; before, the feature did

const u32s = (source: Source | null, count: number) => Array.from({ length: source === null ? 0 : count }, () => (source as Source).u32());

export function featureName(partA: number | undefined, partB: number | undefined, feature: bigint): string {
    return (partA === undefined || partB === undefined ? "" : `${partA}.${partB}.`) + feature.toString(16);
}

function readList(source: Source, version: number): Contacts {
    const hasParts = version >= FORMAT_PARTS;
    const step = source.whole();
    const c = source.count(hasParts ? CONTACT_BYTES : CONTACT_BYTES - 8);
    const bodyA = wholes(source.part(8 * c), 0, c);
    const bodyB = wholes(source.part(8 * c), 0, c);
    const parts = hasParts ? new Source(source.part(8 * c)) : null;
    const partA = u32s(parts, c), partB = u32s(parts, c);
    const features = new Source(source.part(8 * c));
    const feature = Array.from({ length: c }, (_, i) => featureName(partA[i], partB[i], features.u64()));
    const take = (k: number) => doubles(source.part(8 * k * c), 0, k * c);
    return {
        step, count: c, bodyA, bodyB, feature,
        point: take(3), frame: take(9), gap: take(1), impulse: take(3), velocity: take(3), friction: take(1),
    };
}

export function readContacts(body: Uint8Array, version: number): Contacts[] {
    const source = new Source(body);
    const count = source.whole();
    const lists: Contacts[] = [];
    while (source.left > 0) {
        const list = readList(source, version);
        if (lists.length > 0 && list.step <= nth(lists, lists.length - 1).step) {
            throw new Damage(`its list of step ${list.step} comes behind the one of step ${nth(lists, lists.length - 1).step}`);
        }
        lists.push(list);
    }
    if (lists.length !== count) {
        throw new Damage(`it holds ${lists.length} lists of contacts instead of ${count}`);
    }
    return lists;
}
