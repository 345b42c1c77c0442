// SPDX-License-Identifier: MIT
// Bodies as instances: one draw call for each kind of shape, whatever their number. A frame's poses are copied into one
// buffer as they are, and the vertex shader turns and places: script does seven numbers per shape and frame, and
// nothing else.
import {
    BoxGeometry, BufferAttribute, BufferGeometry, Color, CylinderGeometry, DynamicDrawUsage, Float32BufferAttribute, InstancedBufferGeometry,
    InstancedInterleavedBuffer, InterleavedBufferAttribute, Mesh, Scene, ShaderMaterial, SphereGeometry, Vector3,
} from "three";
import { patchesOf, type Hull, type ShapeKind } from "../log/scene";
import { nth } from "../nth";
import { BODY_COLORS, PATCH_COLORS, STATIC_COLOR, Theme } from "./palette";
import type { Slot } from "./slots";

type Solid = Exclude<ShapeKind, "plane" | "hull">;
const SOLIDS: Solid[] = ["sphere", "box", "capsule", "cylinder"];
const GHOST_OPACITY = 0.55;
const MANY = 2000; // shapes: balls of fewer triangles, as each is small then

// Every solid is a box of half extents `span` with a ball of radius `round` moved over it. A vertex is a point of the
// unit ball, and a corner.
export const PLACES = `
attribute vec3 at, ownAt; attribute vec4 turn, ownTurn, size, tint; // turns are w x y z; size: span and round
vec3 turned(vec4 q, vec3 v) {
  vec3 t = 2.0 * cross(q.yzw, v);
  return v + q.x * t + cross(q.yzw, t);
}
vec3 center() { return at + turned(turn, ownAt); }`;

// tint.a: 0 hidden, 1 shown, 2 picked
const VERTEX = `${PLACES}
attribute vec3 corner; attribute float tone, mark; varying vec3 vColor; varying float vPicked, vMark;
uniform vec3 marks[PATCHES];
void main() {
  vec3 n = turned(turn, turned(ownTurn, normal));
  float sun = max(dot(n, vec3(0.303, -0.505, 0.808)), 0.0);
  vec3 sky = mix(vec3(0.094, 0.094, 0.125), vec3(0.509), 0.5 + 0.5 * n.z);
  vec3 own = mark > 0.5 && tint.a < 1.5 ? marks[int(mark - 0.5)] : tint.rgb;
  vColor = own * tone * (0.637 * sun + sky);
  vMark = mark;
  vPicked = tint.a - 1.0;
  vec3 p = turned(ownTurn, position * size.w + corner * size.xyz);
  gl_Position = tint.a > 0.5 ? projectionMatrix * modelViewMatrix * vec4(at + turned(turn, ownAt + p), 1.0) : vec4(2.0, 2.0, 2.0, 1.0);
}`;

// patches have stripes, each material's leaning its own way, what is picked has wider ones, and a ghost is a screen
// that one looks through: none is known by its colour alone
const FRAGMENT = `
varying vec3 vColor; varying float vPicked, vMark; uniform float opacity, ratio;
void main() {
  float across = (gl_FragCoord.x + gl_FragCoord.y) / ratio, lean = 0.5236 * vMark;
  float along = dot(gl_FragCoord.xy, vec2(sin(lean), cos(lean))) / ratio;
  vec3 color = vColor * (vMark > 0.5 && opacity == 1.0 && fract(along / 7.0) < 0.2 ? 0.8 : 1.0);
  gl_FragColor = vec4(mix(color, vec3(1.0), vPicked > 0.5 && fract(across / 11.0) < 0.27 ? 0.5 : 0.0), opacity);
  if (opacity < 1.0 && fract(across / 6.0) < 0.34) discard;
  #include <colorspace_fragment>
}`;

// Octants of two tones, so that one sees a ball turn; of what is long, quadrants along it.
function addTones(geometry: BufferGeometry, kind: Solid): void {
    const p = geometry.getAttribute("position") as BufferAttribute, tone = new Float32Array(p.count).fill(1);
    for (let i = 0; i < p.count && kind !== "box"; i += 3) {
        const middle = (k: "getX" | "getY" | "getZ") => p[k](i) + p[k](i + 1) + p[k](i + 2);
        const isLight = middle("getX") > 0 !== middle("getY") > 0 !== (kind === "sphere" && middle("getZ") > 0);
        tone.fill(isLight ? 1 : 0.72, i, i + 3);
    }
    geometry.setAttribute("tone", new Float32BufferAttribute(tone, 1));
}

// A ball whose halves its corners move apart, with a wall between.
function capsuleGeometry(ball: BufferGeometry, sides: number): BufferGeometry {
    const wall = new CylinderGeometry(1, 1, 2e-6, sides, 1, true).rotateX(Math.PI / 2).toNonIndexed();
    const join = (name: string) => Float32Array.from([...ball.getAttribute(name).array, ...wall.getAttribute(name).array]);
    const geometry = new BufferGeometry();
    geometry.setAttribute("position", new Float32BufferAttribute(join("position"), 3));
    geometry.setAttribute("normal", new Float32BufferAttribute(join("normal"), 3));
    const p = geometry.getAttribute("position"), corner = new Float32Array(3 * p.count);
    for (let i = 0; i < p.count; i += 3) {
        const side = Math.sign(p.getZ(i) + p.getZ(i + 1) + p.getZ(i + 2));
        for (let k = i; k < i + 3; k++) {
            corner[3 * k + 2] = i < ball.getAttribute("position").count ? side : Math.sign(p.getZ(k));
        }
    }
    geometry.setAttribute("corner", new Float32BufferAttribute(corner, 3));
    return geometry;
}

// A disc that its corners draw out along its axis.
function cylinderGeometry(sides: number): BufferGeometry {
    const geometry = new CylinderGeometry(1, 1, 2, sides).rotateX(Math.PI / 2).toNonIndexed();
    const p = geometry.getAttribute("position"), corner = new Float32Array(3 * p.count);
    for (let i = 0; i < p.count; i++) {
        corner[3 * i + 2] = p.getZ(i);
        p.setZ(i, 0);
    }
    return geometry.setAttribute("corner", new Float32BufferAttribute(corner, 3));
}

function instancedOf(geometry: BufferGeometry): InstancedBufferGeometry {
    const instanced = new InstancedBufferGeometry();
    Object.entries(geometry.attributes).forEach(([name, values]) => instanced.setAttribute(name, values));
    return instanced;
}

// Its corners as parts of that box; every other face a little darker, so that one sees it turn. Of each face its mark;
// 0, or none: no patch.
function hullGeometry({ points, faces }: Hull, size: readonly number[], marks: readonly number[]): InstancedBufferGeometry {
    const corner: number[] = [], normal: number[] = [], tone: number[] = [], mark: number[] = [];
    const at = (i: number) => new Vector3(nth(points, 3 * i), nth(points, 3 * i + 1), nth(points, 3 * i + 2));
    faces.forEach((face, index) => {
        const first = at(nth(face, 0)), out = at(nth(face, 1)).sub(first).cross(at(nth(face, 2)).sub(first)).normalize();
        for (let k = 1; k + 1 < face.length; k++) {
            for (const i of [0, k, k + 1]) {
                corner.push(...at(nth(face, i)).toArray().map((v, axis) => v / (nth(size, axis) || 1)));
                normal.push(...out.toArray());
                tone.push(index % 2 === 0 ? 1 : 0.9);
                mark.push(marks[index] ?? 0);
            }
        }
    });
    return instancedOf(new BufferGeometry()
        .setAttribute("position", new Float32BufferAttribute(new Float32Array(corner.length), 3))
        .setAttribute("normal", new Float32BufferAttribute(normal, 3))
        .setAttribute("corner", new Float32BufferAttribute(corner, 3))
        .setAttribute("tone", new Float32BufferAttribute(tone, 1))
        .setAttribute("mark", new Float32BufferAttribute(mark, 1)));
}

/** A hull as some of its shapes wear it: which they are, and the mark of each of its faces. */
export interface WornHull {
    hull: Hull;
    slots: Slot[];
    marks: number[];
}

/** Shapes of one hull are apart where they wear other materials. */
export function wornHulls(solids: readonly Slot[]): WornHull[] {
    const order: string[] = [], worn = new Map<Hull, Map<string, WornHull>>();
    for (const slot of solids.filter(({ shape }) => shape.hull !== null)) {
        const hull = slot.shape.hull as Hull, { materials, faces } = patchesOf(slot.shape), ways = worn.get(hull) ?? new Map<string, WornHull>();
        order.push(...materials.filter((name) => !order.includes(name)));
        const key = JSON.stringify(materials.length === 0 ? [] : [slot.shape.material, ...slot.shape.patchMaterials]);
        const way = ways.get(key) ?? {
            hull, slots: [], marks: faces.map((face) => (face === 0 ? 0 : 1 + (order.indexOf(nth(materials, face - 1)) % PATCH_COLORS.length))),
        };
        way.slots.push(slot);
        worn.set(hull, ways.set(key, way));
    }
    return [...worn.values()].flatMap((ways) => [...ways.values()]);
}

function geometryOf(kind: Solid, count: number): InstancedBufferGeometry {
    const sides = count > MANY ? 12 : 20, ball = new SphereGeometry(1, sides, count > MANY ? 8 : 14).rotateX(Math.PI / 2).toNonIndexed();
    const geometry = kind === "box" ? new BoxGeometry(2, 2, 2).toNonIndexed() : kind === "sphere" ? ball
        : kind === "cylinder" ? cylinderGeometry(2 * sides) : capsuleGeometry(ball, sides);
    const p = geometry.getAttribute("position"), none = new Float32BufferAttribute(new Float32Array(3 * p.count), 3);
    addTones(geometry, kind);
    geometry.setAttribute("mark", new Float32BufferAttribute(new Float32Array(p.count), 1));
    if (kind === "box") {
        geometry.setAttribute("corner", p);
        geometry.setAttribute("position", none);
    } else if (kind === "sphere") {
        geometry.setAttribute("corner", none);
    }
    return instancedOf(geometry);
}

/** Gives a geometry the numbers of `count` shapes from number `first` on. */
export type Share = (geometry: InstancedBufferGeometry, first: number, count: number) => InstancedBufferGeometry;

const buffer = (width: number, count: number) => new InstancedInterleavedBuffer(new Float32Array(width * count), width);

export class Instances {
    private meshes: Mesh[] = [];
    private slots: Slot[] = [];
    private columns = new Uint32Array(0);
    private place = buffer(7, 0);
    private tint = buffer(4, 0);
    private readonly material: ShaderMaterial;
    private readonly colors: { picked: Color; still: Color; moving: Color[] };

    constructor(private readonly scene: Scene, ghostColor: string | null) {
        const isGhost = ghostColor !== null;
        this.material = new ShaderMaterial({
            vertexShader: VERTEX, fragmentShader: FRAGMENT, defines: { PATCHES: PATCH_COLORS.length }, transparent: isGhost, depthWrite: !isGhost,
            uniforms: {
                opacity: { value: isGhost ? GHOST_OPACITY : 1 }, ratio: { value: Math.min(devicePixelRatio, 2) },
                marks: { value: PATCH_COLORS.map((c) => new Color(ghostColor ?? c)) },
            },
            polygonOffset: isGhost, polygonOffsetFactor: 2, polygonOffsetUnits: 2, // where both are the same, the first is seen
        });
        this.colors = {
            picked: new Color(), still: new Color(ghostColor ?? STATIC_COLOR),
            moving: (ghostColor === null ? BODY_COLORS : [ghostColor]).map((c) => new Color(c)),
        };
    }

    color(theme: Theme): void {
        this.colors.picked.set(theme.picked);
    }

    dispose(): void {
        for (const mesh of this.meshes) {
            this.scene.remove(mesh);
            mesh.geometry.dispose();
        }
        this.meshes = [];
        this.slots = [];
    }

    /** Other bodies: new instances. */
    arrange(solids: readonly Slot[]): Share {
        this.dispose();
        const hulls = wornHulls(solids);
        const groups = [...SOLIDS.map((kind) => solids.filter(({ shape }) => shape.kind === kind)),
            ...hulls.map(({ slots }) => slots)];
        this.slots = groups.flat();
        this.columns = Uint32Array.from(this.slots, ({ column }) => column);
        const n = this.slots.length, own = buffer(11, n), place = buffer(7, n), tint = buffer(4, n);
        this.slots.forEach(({ shape: { kind, size, position, orientation } }, i) => {
            const span = kind === "box" || kind === "hull" ? size : [0, 0, kind === "sphere" ? 0 : size[1]];
            (own.array as Float32Array).set([...span, kind === "box" || kind === "hull" ? 0 : size[0], ...position.slice(0, 3), ...orientation.slice(0, 4)], 11 * i);
        });
        this.place = place.setUsage(DynamicDrawUsage);
        this.tint = tint;
        const share: Share = (geometry, first, count) => {
            const give = (name: string, from: InstancedInterleavedBuffer, width: number, offset: number) =>
                geometry.setAttribute(name, new InterleavedBufferAttribute(from, width, from.stride * first + offset));
            give("at", place, 3, 0);
            give("turn", place, 4, 3);
            give("size", own, 4, 0);
            give("ownAt", own, 3, 4);
            give("ownTurn", own, 4, 7);
            give("tint", tint, 4, 0);
            geometry.instanceCount = count;
            return geometry;
        };
        let first = 0;
        groups.forEach(({ length }, k) => {
            if (length > 0) {
                const worn = hulls[k - SOLIDS.length];
                this.add(share(worn === undefined ? geometryOf(nth(SOLIDS, k), length)
                    : hullGeometry(worn.hull, worn.slots[0]?.shape.size ?? [], worn.marks), first, length));
            }
            first += length;
        });
        return share;
    }

    private add(geometry: InstancedBufferGeometry): void {
        const mesh = new Mesh(geometry, this.material);
        mesh.frustumCulled = false;
        this.meshes.push(mesh);
        this.scene.add(mesh);
    }

    /** Poses of a frame. */
    show(pose: Float64Array): void {
        const out = this.place.array as Float32Array, { columns } = this;
        for (let i = 0, to = 0; i < columns.length; i++) {
            const from = 7 * nth(columns, i);
            for (let k = 0; k < 7; k++) {
                out[to++] = nth(pose, from + k);
            }
        }
        this.place.needsUpdate = true;
    }

    /** Colours, and what is hidden: where they may have changed. */
    paint(selected: number, isHidden: (id: number) => boolean): void {
        const out = this.tint.array as Float32Array, { picked, still, moving } = this.colors;
        this.slots.forEach(({ body: { id, kind } }, i) => {
            const { r, g, b } = id === selected ? picked : kind === "STATIC" ? still : nth(moving, id % moving.length);
            out.set([r, g, b, isHidden(id) ? 0 : id === selected ? 2 : 1], 4 * i);
        });
        this.tint.needsUpdate = true;
    }
}
