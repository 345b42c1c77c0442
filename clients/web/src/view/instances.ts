// SPDX-License-Identifier: MIT
// Bodies as instances: one draw call for each kind of shape, whatever their number.
import {
    BoxGeometry, BufferAttribute, BufferGeometry, Color, CylinderGeometry, Float32BufferAttribute, InstancedBufferAttribute, InstancedMesh, Material,
    MeshLambertMaterial, Scene, SphereGeometry,
} from "three";
import type { Frame } from "../log/frames";
import type { Body, Shape, ShapeKind } from "../log/scene";
import { BODY_COLORS, SELECTED_COLOR, STATIC_COLOR } from "./palette";

type Solid = Exclude<ShapeKind, "plane">;
const SOLIDS: Solid[] = ["sphere", "box", "capsule"];

// Octants of two tones, so that one sees a ball turn; of what is long, quadrants along it.
function twoTones(geometry: BufferGeometry, isRound: boolean): BufferGeometry {
    const plain = geometry.index === null ? geometry : geometry.toNonIndexed();
    const p = plain.getAttribute("position") as BufferAttribute;
    const tone = new Float32Array(3 * p.count);
    for (let i = 0; i < p.count; i += 3) {
        const middle = (k: "getX" | "getY" | "getZ") => p[k](i) + p[k](i + 1) + p[k](i + 2);
        const isLight = middle("getX") > 0 !== middle("getY") > 0 !== (isRound && middle("getZ") > 0);
        tone.fill(isLight ? 1 : 0.72, 3 * i, 3 * i + 9);
    }
    plain.setAttribute("color", new Float32BufferAttribute(tone, 3));
    return plain;
}

// A unit ball cut at its equator, with a wall between: `end` says which half a point belongs to, and the shader moves the halves apart.
function capsuleGeometry(): BufferGeometry {
    const ball = new SphereGeometry(1, 20, 12).rotateX(Math.PI / 2).toNonIndexed();
    const wall = new CylinderGeometry(1, 1, 2e-6, 20, 1, true).rotateX(Math.PI / 2).toNonIndexed();
    const join = (name: string) => {
        const a = ball.getAttribute(name).array, b = wall.getAttribute(name).array;
        const all = new Float32Array(a.length + b.length);
        all.set(a);
        all.set(b, a.length);
        return all;
    };
    const geometry = new BufferGeometry();
    geometry.setAttribute("position", new Float32BufferAttribute(join("position"), 3));
    geometry.setAttribute("normal", new Float32BufferAttribute(join("normal"), 3));
    const p = geometry.getAttribute("position");
    const end = new Float32Array(p.count);
    for (let i = 0; i < p.count; i += 3) {
        const isOfBall = i < ball.getAttribute("position").count;
        const side = Math.sign(p.getZ(i) + p.getZ(i + 1) + p.getZ(i + 2));
        for (let k = i; k < i + 3; k++) {
            end[k] = isOfBall ? side : Math.sign(p.getZ(k));
        }
    }
    geometry.setAttribute("end", new Float32BufferAttribute(end, 1));
    return twoTones(geometry, false);
}

function geometryOf(kind: Solid): BufferGeometry {
    return kind === "sphere" ? twoTones(new SphereGeometry(1, 20, 14).rotateX(Math.PI / 2), true) : kind === "box" ? new BoxGeometry(2, 2, 2) : capsuleGeometry();
}

function materialOf(kind: Solid, ghost: boolean): Material {
    const material = new MeshLambertMaterial({ vertexColors: kind !== "box", transparent: ghost, opacity: ghost ? 0.35 : 1, depthWrite: !ghost });
    material.polygonOffset = ghost; // where both are the same, the first is seen
    material.polygonOffsetFactor = material.polygonOffsetUnits = 2;
    if (kind === "capsule") {
        material.onBeforeCompile = (shader) => {
            shader.vertexShader = "attribute float end;\nattribute float stretch;\n" +
                shader.vertexShader.replace("#include <begin_vertex>", "#include <begin_vertex>\ntransformed.z += end * stretch;");
        };
    }
    return material;
}

interface Kind {
    mesh: InstancedMesh;
    stretch: InstancedBufferAttribute;
    count: number;
}

// What of a body is drawn: its place in the frame, and the shape.
interface Slot {
    column: number;
    kind: Solid;
    index: number;
    shape: Shape;
    isTurned: boolean; // the shape has a pose of its own
    body: Body;
}

/** The shape that a body without a known one gets: small beside the room that each has. */
function unknownShape(frame: Frame): Shape {
    const low = [Infinity, Infinity, Infinity], high = [-Infinity, -Infinity, -Infinity], n = frame.ids.length;
    for (let i = 0; i < n; i++) {
        for (let k = 0; k < 3; k++) {
            low[k] = Math.min(low[k], frame.pose[7 * i + k]);
            high[k] = Math.max(high[k], frame.pose[7 * i + k]);
        }
    }
    const room = Math.cbrt(low.reduce((product, v, k) => product * Math.max(0.1, high[k] - v), 1) / Math.max(1, n));
    return { kind: "sphere", size: [Math.max(0.02, 0.15 * room), 0, 0], position: [0, 0, 0], orientation: [1, 0, 0, 0], material: "" };
}

export class Instances {
    private readonly kinds = new Map<Solid, Kind>();
    private slots: Slot[] = [];
    private ids: number[] = [];
    private met = -1;
    private known = 0;

    constructor(private readonly scene: Scene, private readonly ghostColor: string | null) {}

    dispose(): void {
        for (const { mesh } of this.kinds.values()) {
            this.scene.remove(mesh);
            mesh.geometry.dispose();
            (mesh.material as Material).dispose();
            mesh.dispose();
        }
        this.kinds.clear();
    }

    private makeKind(kind: Solid, count: number): Kind {
        const mesh = new InstancedMesh(geometryOf(kind), materialOf(kind, this.ghostColor !== null), count);
        mesh.frustumCulled = false;
        const stretch = new InstancedBufferAttribute(new Float32Array(count), 1);
        if (kind === "capsule") {
            mesh.geometry.setAttribute("stretch", stretch);
        }
        this.scene.add(mesh);
        return { mesh, stretch, count };
    }

    // New bodies, or other ones: new instances.
    private arrange(frame: Frame, bodies: ReadonlyMap<number, Body>): void {
        this.dispose();
        const counts: Record<Solid, number> = { sphere: 0, box: 0, capsule: 0 };
        this.slots = [];
        const unknown = unknownShape(frame);
        frame.ids.forEach((id, column) => {
            const body = bodies.get(id);
            const shapes = body === undefined ? [unknown] : body.shapes;
            for (const shape of shapes) {
                if (shape.kind === "plane") {
                    continue;
                }
                const isTurned = shape.position.some((v) => v !== 0) || shape.orientation[0] !== 1;
                const nobody: Body = { id, index: -1, name: "", kind: "DYNAMIC", position: [], orientation: [], mass: 0, inertia: [], center: [], shapes: [] };
                this.slots.push({ column, kind: shape.kind, index: counts[shape.kind]++, shape, isTurned, body: body ?? nobody });
            }
        });
        for (const kind of SOLIDS) {
            if (counts[kind] > 0) {
                this.kinds.set(kind, this.makeKind(kind, counts[kind]));
            }
        }
    }

    /** Poses of a frame; colours only where they may have changed. */
    show(frame: Frame, bodies: ReadonlyMap<number, Body>, met: number, isHidden: (id: number) => boolean, selected: number, recolor: boolean): void {
        const isOther = this.kinds.size === 0 || (frame.ids !== this.ids && (frame.ids.length !== this.ids.length || frame.ids.some((id, i) => id !== this.ids[i])));
        const isNew = isOther || met !== this.met || bodies.size !== this.known;
        if (isNew) {
            this.arrange(frame, bodies);
            this.met = met;
            this.known = bodies.size;
        }
        this.ids = frame.ids;
        for (const slot of this.slots) {
            const kind = this.kinds.get(slot.kind) as Kind;
            place(kind, slot, frame.pose, isHidden(slot.body.id));
        }
        if (isNew || recolor) {
            this.color(selected);
        }
        for (const { mesh, stretch } of this.kinds.values()) {
            mesh.instanceMatrix.needsUpdate = true;
            stretch.needsUpdate = isNew;
        }
    }

    private color(selected: number): void {
        const color = new Color();
        for (const slot of this.slots) {
            const isStatic = slot.body.kind === "STATIC";
            const own = this.ghostColor ?? (isStatic ? STATIC_COLOR : BODY_COLORS[slot.body.id % BODY_COLORS.length]);
            color.set(slot.body.id === selected ? SELECTED_COLOR : own);
            (this.kinds.get(slot.kind) as Kind).mesh.setColorAt(slot.index, color);
        }
        for (const { mesh } of this.kinds.values()) {
            if (mesh.instanceColor !== null) {
                mesh.instanceColor.needsUpdate = true;
            }
        }
    }
}

// The matrix of one instance, written without any object in between: there may be ten thousand in a frame.
function place(kind: Kind, slot: Slot, pose: Float64Array, isHidden: boolean): void {
    const out = kind.mesh.instanceMatrix.array as Float32Array;
    const to = 16 * slot.index, o = 7 * slot.column;
    const { size, position: sp, orientation: so } = slot.shape;
    let x = pose[o], y = pose[o + 1], z = pose[o + 2], qw = pose[o + 3], qx = pose[o + 4], qy = pose[o + 5], qz = pose[o + 6];
    if (slot.isTurned) {
        const tx = 2 * (qy * sp[2] - qz * sp[1]), ty = 2 * (qz * sp[0] - qx * sp[2]), tz = 2 * (qx * sp[1] - qy * sp[0]);
        x += sp[0] + qw * tx + qy * tz - qz * ty;
        y += sp[1] + qw * ty + qz * tx - qx * tz;
        z += sp[2] + qw * tz + qx * ty - qy * tx;
        const [w, a, b, c] = [qw, qx, qy, qz];
        qw = w * so[0] - a * so[1] - b * so[2] - c * so[3];
        qx = w * so[1] + a * so[0] + b * so[3] - c * so[2];
        qy = w * so[2] - a * so[3] + b * so[0] + c * so[1];
        qz = w * so[3] + a * so[2] - b * so[1] + c * so[0];
    }
    const r = isHidden ? 0 : size[0];
    const isBox = slot.kind === "box";
    const sx = r, sy = isHidden ? 0 : isBox ? size[1] : r, sz = isHidden ? 0 : isBox ? size[2] : r;
    out[to] = (1 - 2 * (qy * qy + qz * qz)) * sx;
    out[to + 1] = 2 * (qx * qy + qw * qz) * sx;
    out[to + 2] = 2 * (qx * qz - qw * qy) * sx;
    out[to + 4] = 2 * (qx * qy - qw * qz) * sy;
    out[to + 5] = (1 - 2 * (qx * qx + qz * qz)) * sy;
    out[to + 6] = 2 * (qy * qz + qw * qx) * sy;
    out[to + 8] = 2 * (qx * qz + qw * qy) * sz;
    out[to + 9] = 2 * (qy * qz - qw * qx) * sz;
    out[to + 10] = (1 - 2 * (qx * qx + qy * qy)) * sz;
    out[to + 12] = x;
    out[to + 13] = y;
    out[to + 14] = z;
    out[to + 15] = 1;
    if (slot.kind === "capsule") {
        (kind.stretch.array as Float32Array)[slot.index] = size[1] / size[0];
    }
}
