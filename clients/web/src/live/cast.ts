// SPDX-License-Identifier: MIT
// What a running world's events say, as the picture wants it.
import type { Contacts, Frame } from "../log/frames";
import { Damage } from "../log/bytes";
import { JointList, jointNumbers } from "../log/joints";
import { Body, Joint, nameBodies, sceneOf } from "../log/scene";
import type { Cast } from "../view/slots";
import { BODY_KINDS, JOINT_KINDS } from "./messages";
import { Garbled, Message } from "./wire";

// as JSON would have it: lists for columns, names for enums
function plain(value: any): any {
    if (value instanceof Float64Array || value instanceof Float32Array) {
        return Array.from(value);
    }
    if (Array.isArray(value)) {
        return value.map(plain);
    }
    return typeof value === "object" ? Object.fromEntries(Object.entries(value).map(([key, of]) => [key, plain(of)])) : value;
}

const none = new Float64Array(0);

/** The bodies of a world, and its latest frame. */
export class LiveCast implements Cast {
    readonly bodies = new Map<number, Body>();
    joints: { joint: Joint; a: number; b: number }[] = [];
    fall = 0;
    scenesMet = 0;
    private ids: number[] = [];
    private jointList: JointList = { ids: [], axes: [] };

    /** Takes an event's scene, if it has one, and returns its frame. Throws Garbled. */
    take(event: Message): Frame {
        const frames = event.frames ?? {}, count = frames.body_count?.[0] ?? 0;
        if ((frames.ids_count?.[0] ?? 0) > 0 || count === 0) {
            this.ids = frames.ids ?? [];
        }
        const pose = frames.pose ?? [];
        if (this.ids.length !== count || pose.length !== 7 * count) {
            throw new Garbled(`a frame of ${count} bodies names ${this.ids.length}, and has ${pose.length} numbers`);
        }
        if ((frames.joints_count?.[0] ?? 0) > 0 || (frames.joint_position ?? none).length === 0) {
            this.jointList = { ids: frames.joints ?? [], axes: frames.joint_axes ?? [] };
        }
        const jointPosition = Float64Array.from(frames.joint_position ?? none), jointVelocity = Float64Array.from(frames.joint_velocity ?? none);
        this.checkJoints(jointPosition, jointVelocity);
        const step = frames.step?.[0] ?? 0;
        if (event.scene !== undefined) {
            this.meet(event.scene, step);
        }
        return {
            step, worldStep: step, time: frames.time?.[0] ?? 0, ids: this.ids, pose: Float64Array.from(pose),
            velocity: Float64Array.from(frames.velocity ?? none), joints: this.jointList, jointPosition, jointVelocity, jointOrders: none,
        };
    }

    private checkJoints(position: Float64Array, velocity: Float64Array): void {
        try {
            jointNumbers(this.jointList, position, velocity);
        } catch (error) {
            throw error instanceof Damage ? new Garbled(error.message) : error;
        }
    }

    private meet(message: Message, step: number): void {
        const json = plain(message);
        json.bodies = (json.bodies ?? []).map((body: any) => ({ ...body, kind: BODY_KINDS[body.kind ?? 0] }));
        json.joints = (json.joints ?? []).map((joint: any) => ({ ...joint, kind: JOINT_KINDS[joint.kind ?? 0] }));
        const scene = sceneOf(json, step), id = (index: number) => scene.bodies[index]?.id ?? 0;
        if (!nameBodies(scene, this.ids, new Set())) {
            throw new Garbled(`a scene of ${scene.bodies.length} bodies comes with ${this.ids.length}`);
        }
        this.bodies.clear();
        scene.bodies.forEach((body) => this.bodies.set(body.id, body));
        this.joints = scene.joints.map((joint) => ({ joint, a: id(joint.a), b: id(joint.b) }));
        const gravity: number[] = json.settings?.gravity ?? [];
        this.fall = Math.hypot(...gravity) * Number(json.settings?.time_step ?? 0);
        this.scenesMet++;
    }
}

/** null: the world has not stepped since it was changed, or nobody asked for contacts. */
export function contactsOf(event: Message, step: number): Contacts | null {
    const list = event.frames?.contacts, count = list?.gap?.length ?? 0;
    if (count === 0) {
        return null;
    }
    const column = (name: string, stride: number): Float64Array => {
        if (list[name]?.length !== stride * count) {
            throw new Garbled(`the contacts' ${name} has ${list[name]?.length ?? 0} numbers for ${count} of them`);
        }
        return list[name];
    };
    return {
        step, count, bodyA: list.body_a ?? [], bodyB: list.body_b ?? [], feature: [], point: column("point", 3), frame: column("frame", 9), gap: column("gap", 1),
        impulse: column("impulse", 3), velocity: column("velocity", 3), friction: column("friction", 1),
    };
}
