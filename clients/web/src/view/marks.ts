// SPDX-License-Identifier: MIT
// Contacts in the picture: a mark at each point whose shape and colour say whether it is open, sticks or slides, a line for its impulse, and the
// friction cone of the one that is looked at. Two draw calls.
import { BufferGeometry, Color, DynamicDrawUsage, Float32BufferAttribute, LineBasicMaterial, LineSegments, Points, Scene, ShaderMaterial } from "three";
import type { Contacts } from "../log/frames";
import { judge, scaleOf, State } from "../measures";
import { SELECTED_COLOR, STATE_COLORS } from "./palette";

const POINT_VERTEX = `
attribute vec3 tint; attribute float form; attribute float size; varying vec3 vTint; varying float vForm;
void main() {
  vTint = tint; vForm = form;
  gl_Position = projectionMatrix * modelViewMatrix * vec4(position, 1.0);
  gl_PointSize = size;
}`;
// open: a ring; stick: a square; slide: a triangle
const POINT_FRAGMENT = `
varying vec3 vTint; varying float vForm;
void main() {
  vec2 p = 2.0 * gl_PointCoord - 1.0;
  float r = length(p);
  bool inside = vForm < 0.5 ? r < 0.9 && r > 0.5 : vForm < 1.5 ? max(abs(p.x), abs(p.y)) < 0.75 : abs(p.x) < 0.5 * (p.y + 0.9) && p.y < 0.8;
  if (!inside) discard;
  gl_FragColor = vec4(vTint, 1.0);
  #include <colorspace_fragment>
}`;

const CONE_SIDES = 24;
const MANY = 60; // contacts: smaller marks

class Lines {
    readonly object: LineSegments;
    private place: number[] = [];
    private tint: number[] = [];

    constructor(scene: Scene) {
        const material = new LineBasicMaterial({ vertexColors: true, depthTest: false, transparent: true });
        this.object = new LineSegments(new BufferGeometry(), material);
        this.object.frustumCulled = false;
        this.object.renderOrder = 5;
        scene.add(this.object);
    }

    clear(): void {
        this.place = [];
        this.tint = [];
    }

    add(a: readonly number[], b: readonly number[], color: Color): void {
        this.place.push(a[0], a[1], a[2], b[0], b[1], b[2]);
        this.tint.push(color.r, color.g, color.b, color.r, color.g, color.b);
    }

    finish(): void {
        setColumns(this.object.geometry, { position: [this.place, 3], color: [this.tint, 3] });
        this.object.visible = this.place.length > 0;
    }
}

function setColumns(geometry: BufferGeometry, columns: Record<string, [number[], number]>): void {
    for (const [name, [values, width]] of Object.entries(columns)) {
        const old = geometry.getAttribute(name);
        if (old !== undefined && old.array.length >= values.length) {
            (old.array as Float32Array).set(values);
            old.needsUpdate = true;
        } else {
            const attribute = new Float32BufferAttribute(new Float32Array(2 * values.length), width);
            (attribute.array as Float32Array).set(values);
            attribute.setUsage(DynamicDrawUsage);
            geometry.setAttribute(name, attribute);
        }
        if (name === "position") {
            geometry.setDrawRange(0, values.length / width);
        }
    }
}

export interface MarkOptions {
    selected: number; // contact; -1: none
    fall: number; // what gravity gives in one step [m/s]
    isStatic: (id: number) => boolean;
    radius: number; // of the scene [m]
    reference: number; // [N s] an impulse that is drawn an eighth of the radius long
}

export class Marks {
    private readonly points: Points;
    private readonly lines: Lines;
    private readonly colors = STATE_COLORS.map((c) => new Color(c));
    private readonly selectedColor = new Color(SELECTED_COLOR);

    constructor(scene: Scene) {
        const material = new ShaderMaterial({ vertexShader: POINT_VERTEX, fragmentShader: POINT_FRAGMENT, depthTest: false, transparent: true });
        this.points = new Points(new BufferGeometry(), material);
        this.points.frustumCulled = false;
        this.points.renderOrder = 6;
        scene.add(this.points);
        this.lines = new Lines(scene);
    }

    show(list: Contacts | null, options: MarkOptions): void {
        const place: number[] = [], tint: number[] = [], form: number[] = [], size: number[] = [];
        this.lines.clear();
        const scale = list === null ? null : scaleOf(list, options.fall);
        const pixels = (list?.count ?? 0) > MANY ? 7 : 11;
        for (let i = 0; list !== null && scale !== null && i < list.count; i++) {
            const { state } = judge(list, i, scale);
            const isSelected = i === options.selected;
            const color = isSelected ? this.selectedColor : this.colors[state];
            const at = list.point.subarray(3 * i, 3 * i + 3);
            place.push(at[0], at[1], at[2]);
            tint.push(color.r, color.g, color.b);
            form.push(state);
            size.push((isSelected ? 18 : pixels) * devicePixelRatio);
            if (state !== State.Open) {
                this.lines.add([...at], tip(list, i, options), color);
            }
            if (isSelected) {
                this.cone(list, i, options);
            }
        }
        setColumns(this.points.geometry, { position: [place, 3], tint: [tint, 3], form: [form, 1], size: [size, 1] });
        this.points.visible = place.length > 0;
        this.lines.finish();
    }

    // around the normal, as wide as friction allows at the height of this impulse
    private cone(list: Contacts, i: number, options: MarkOptions): void {
        const f = list.frame.subarray(9 * i, 9 * i + 9), p = list.point.subarray(3 * i, 3 * i + 3);
        const tall = Math.max(lengthOf(options) * list.impulse[3 * i], 0.03 * options.radius), width = list.friction[i] * tall;
        const height = options.isStatic(list.bodyB[i]) ? -tall : tall;
        const rim = (k: number) => {
            const a = (2 * Math.PI * k) / CONE_SIDES, c = width * Math.cos(a), s = width * Math.sin(a);
            return [0, 1, 2].map((d) => p[d] + height * f[d] + c * f[3 + d] + s * f[6 + d]);
        };
        for (let k = 0; k < CONE_SIDES; k++) {
            this.lines.add(rim(k), rim(k + 1), this.selectedColor);
            if (k % 3 === 0) {
                this.lines.add([...p], rim(k), this.selectedColor);
            }
        }
    }
}

function lengthOf(options: MarkOptions): number {
    return options.reference > 0 ? (0.125 * options.radius) / options.reference : 0;
}

// The end of the line of an impulse, as the body feels it that can move; longer than the scene it helps nobody.
function tip(list: Contacts, i: number, options: MarkOptions): number[] {
    const f = list.frame, l = list.impulse, p = list.point, o = 3 * i, m = 9 * i;
    const length = Math.hypot(l[o], l[o + 1], l[o + 2]);
    const scale = Math.min(lengthOf(options), options.radius / length) * (options.isStatic(list.bodyB[i]) ? -1 : 1);
    return [0, 1, 2].map((d) => p[o + d] + scale * (l[o] * f[m + d] + l[o + 1] * f[m + 3 + d] + l[o + 2] * f[m + 6 + d]));
}
