// SPDX-License-Identifier: MIT
// Which shapes a frame shows, and where in the frame each finds its body: worked out when bodies become others, so that
// a frame looks nothing up.
import type { Frame } from "../log/frames";
import type { Body, Joint, Shape } from "../log/scene";
import { nth } from "../nth";

/** What the bodies of a frame are: of an episode, or of a world that runs. */
export interface Cast {
    readonly bodies: ReadonlyMap<number, Body>;
    readonly joints: readonly { joint: Joint; a: number; b: number }[]; // with ids of bodies; 0: the world
    readonly fall: number; // [m/s] that gravity adds in a step
    readonly scenesMet: number; // rises when bodies become others
}

export interface Slot {
    column: number; // of the body in the frame
    shape: Shape;
    body: Body;
}

/** Where a joint holds a body. */
export interface Hold {
    column: number;
    id: number;
    frame: readonly number[]; // in the body's: x y z, quaternion w x y z
}

// The shape that a body without a known one gets: small beside the room that each has.
function unknownShape(frame: Frame): Shape {
    const low = [Infinity, Infinity, Infinity], high = [-Infinity, -Infinity, -Infinity], n = frame.ids.length;
    for (let i = 0; i < n; i++) {
        for (let k = 0; k < 3; k++) {
            low[k] = Math.min(nth(low, k), nth(frame.pose, 7 * i + k));
            high[k] = Math.max(nth(high, k), nth(frame.pose, 7 * i + k));
        }
    }
    const room = Math.cbrt(low.reduce((product, v, k) => product * Math.max(0.1, nth(high, k) - v), 1) / Math.max(1, n));
    return { kind: "sphere", size: [Math.max(0.02, 0.15 * room), 0, 0], hull: null, position: [0, 0, 0], orientation: [1, 0, 0, 0], material: "", patchMaterials: [] };
}

const nobody = (id: number): Body =>
    ({ id, index: -1, name: "", kind: "DYNAMIC", position: [], orientation: [], mass: 0, inertia: [], center: [], shapes: [] });

export class Slots {
    solids: Slot[] = [];
    planes: Slot[] = [];
    holds: Hold[] = [];
    private cast: Cast | null = null;
    private ids: number[] = [];
    private met = 0;
    private known = 0;

    /** True: bodies or shapes are others than those of the frame before. */
    take(frame: Frame, cast: Cast): boolean {
        const isOther = cast !== this.cast || cast.scenesMet !== this.met || cast.bodies.size !== this.known || !areSame(frame.ids, this.ids);
        this.ids = frame.ids;
        if (isOther) {
            this.cast = cast;
            this.met = cast.scenesMet;
            this.known = cast.bodies.size;
            this.arrange(frame, cast);
        }
        return isOther;
    }

    forget(): void {
        this.cast = null;
        this.solids = this.planes = [];
        this.holds = [];
    }

    private arrange(frame: Frame, { bodies, joints }: Cast): void {
        const unknown = unknownShape(frame), all: Slot[] = [];
        frame.ids.forEach((id, column) => {
            const body = bodies.get(id);
            for (const shape of body === undefined ? [unknown] : body.shapes) {
                all.push({ column, shape, body: body ?? nobody(id) });
            }
        });
        this.solids = all.filter(({ shape }) => shape.kind !== "plane");
        this.planes = all.filter(({ shape }) => shape.kind === "plane");
        const columns = new Map(frame.ids.map((id, i) => [id, i]));
        this.holds = joints.flatMap(({ joint, a, b }) => [[a, joint.frameA], [b, joint.frameB]] as const)
            .flatMap(([id, frameOf]) => (columns.has(id) ? [{ column: columns.get(id) as number, id, frame: frameOf }] : []));
    }
}

function areSame(ids: number[], before: number[]): boolean {
    return ids === before || (ids.length === before.length && ids.every((id, i) => id === before[i]));
}
