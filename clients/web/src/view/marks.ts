// SPDX-License-Identifier: MIT
// Contacts in the picture: a mark at each point whose shape and colour say whether it is open, sticks or slides, a line
// for its impulse, and the friction cone of the one that is looked at. Two draw calls.
import { BufferGeometry, Color, DynamicDrawUsage, Float32BufferAttribute, LineSegments, Points, Scene, ShaderMaterial } from "three";
import type { Contacts } from "../log/frames";
import { judge, scaleOf, State } from "../measures";
import { first, nth } from "../nth";
import { lineMaterial } from "./lines";
import { STATE_HUES, Theme } from "./palette";

const POINT_VERTEX = `
attribute vec3 tint; attribute float form; attribute float size; varying vec3 vTint; varying float vForm;
void main() {
  vTint = tint; vForm = form;
  gl_Position = projectionMatrix * modelViewMatrix * vec4(position, 1.0);
  gl_PointSize = size;
}`;
// open: a ring; stick: a square; slide: a triangle; with an edge of the background's colour, as bodies have any
const POINT_FRAGMENT = `
varying vec3 vTint; varying float vForm; uniform vec3 edge;
float outside(vec2 p) { // how far from the shape's outline, of half the point's size; inside negative
  float r = length(p);
  return vForm < 0.5 ? abs(r - 0.55) - 0.18 : vForm < 1.5 ? max(abs(p.x), abs(p.y)) - 0.6 : max(0.9 * abs(p.x) - 0.45 * (p.y + 0.65), p.y - 0.6);
}
void main() {
  float d = outside(2.0 * gl_PointCoord - 1.0);
  if (d > 0.22) discard;
  gl_FragColor = vec4(d > 0.0 ? edge : vTint, 1.0);
  #include <colorspace_fragment>
}`;

const CONE_SIDES = 24, CONE_LINES = CONE_SIDES + CONE_SIDES / 3;
const MANY = 60; // contacts: smaller marks

// Columns of a geometry, with room for what comes; what is behind the last number written is not drawn.
class Columns<Name extends string> {
    private readonly names: Name[];
    private readonly of: Record<Name, Float32Array>;
    private room = 0;

    constructor(readonly geometry: BufferGeometry, private readonly widths: Record<Name, number>) {
        this.names = Object.keys(widths) as Name[];
        this.of = Object.fromEntries(this.names.map((name) => [name, new Float32Array(0)])) as Record<Name, Float32Array>;
    }

    reserve(count: number): Record<Name, Float32Array> {
        if (count > this.room) {
            this.room = 2 * count;
            this.geometry.dispose();
            for (const name of this.names) {
                const width = this.widths[name], attribute = new Float32BufferAttribute(this.room * width, width).setUsage(DynamicDrawUsage);
                this.of[name] = attribute.array as Float32Array;
                this.geometry.setAttribute(name, attribute);
            }
        }
        return this.of;
    }

    finish(count: number): void {
        if (this.room > 0) {
            this.names.forEach((name) => (this.geometry.getAttribute(name).needsUpdate = count > 0));
        }
        this.geometry.setDrawRange(0, count);
    }
}

class Lines {
    private readonly columns = new Columns(new BufferGeometry(), { position: 3, color: 3 });
    private readonly object = new LineSegments(this.columns.geometry, lineMaterial(true).material);
    private place: Float32Array = new Float32Array(0);
    private tint: Float32Array = new Float32Array(0);
    private at = 0;

    constructor(scene: Scene) {
        this.object.frustumCulled = false;
        this.object.renderOrder = 5;
        scene.add(this.object);
    }

    begin(linesMax: number): void {
        ({ position: this.place, color: this.tint } = this.columns.reserve(2 * linesMax));
        this.at = 0;
    }

    add(ax: number, ay: number, az: number, bx: number, by: number, bz: number, { r, g, b }: Color): void {
        const { place, tint, at } = this;
        place[at] = ax;
        place[at + 1] = ay;
        place[at + 2] = az;
        place[at + 3] = bx;
        place[at + 4] = by;
        place[at + 5] = bz;
        tint[at] = tint[at + 3] = r;
        tint[at + 1] = tint[at + 4] = g;
        tint[at + 2] = tint[at + 5] = b;
        this.at += 6;
    }

    finish(): void {
        this.columns.finish(this.at / 3);
        this.object.visible = this.at > 0;
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
    private readonly columns = new Columns(new BufferGeometry(), { position: 3, tint: 3, form: 1, size: 1 });
    private readonly uniforms = { edge: { value: new Color() } };
    private readonly material = new ShaderMaterial({
        vertexShader: POINT_VERTEX, fragmentShader: POINT_FRAGMENT, depthTest: false, transparent: true, uniforms: this.uniforms,
    });
    private readonly points = new Points(this.columns.geometry, this.material);
    private readonly lines: Lines;
    private readonly colors = STATE_HUES.map(() => new Color());
    private readonly picked = new Color();

    constructor(scene: Scene) {
        this.points.frustumCulled = false;
        this.points.renderOrder = 6;
        scene.add(this.points);
        this.lines = new Lines(scene);
    }

    paint(theme: Theme): void {
        STATE_HUES.forEach((hue, state) => nth(this.colors, state).set(theme.hue[hue]));
        this.picked.set(theme.picked);
        this.uniforms.edge.value.set(theme.background);
    }

    show(list: Contacts | null, options: MarkOptions): void {
        const count = list?.count ?? 0, { position, tint, form, size } = this.columns.reserve(count);
        this.lines.begin(count + CONE_LINES);
        if (list !== null && count > 0) {
            const scale = scaleOf(list, options.fall), pixels = count > MANY ? 9 : 13;
            const picked = options.selected >= 0 && options.selected < count ? options.selected : count;
            for (let i = 0; i < count; i++) {
                const { state } = judge(list, i, scale), isPicked = i === picked, color = isPicked ? this.picked : nth(this.colors, state);
                const to = isPicked ? count - 1 : i > picked ? i - 1 : i; // the last lies over all others
                for (let k = 0; k < 3; k++) {
                    position[3 * to + k] = nth(list.point, 3 * i + k);
                }
                tint[3 * to] = color.r;
                tint[3 * to + 1] = color.g;
                tint[3 * to + 2] = color.b;
                form[to] = state;
                size[to] = (isPicked ? 20 : pixels) * devicePixelRatio;
                if (state !== State.Open) {
                    this.push(list, i, options, color);
                }
                if (isPicked) {
                    this.cone(list, i, options);
                }
            }
        }
        this.columns.finish(count);
        this.points.visible = count > 0;
        this.lines.finish();
    }

    // A line for the impulse, as the body feels it that can move; longer than the scene it helps nobody.
    private push(list: Contacts, i: number, options: MarkOptions, color: Color): void {
        const f = list.frame, l = list.impulse, p = list.point, o = 3 * i, m = 9 * i;
        const length = Math.hypot(nth(l, o), nth(l, o + 1), nth(l, o + 2));
        const scale = Math.min(lengthOf(options), options.radius / length) * (options.isStatic(nth(list.bodyB, i)) ? -1 : 1);
        const to = (d: number) => nth(p, o + d) + scale * (nth(l, o) * nth(f, m + d) + nth(l, o + 1) * nth(f, m + 3 + d) + nth(l, o + 2) * nth(f, m + 6 + d));
        this.lines.add(nth(p, o), nth(p, o + 1), nth(p, o + 2), to(0), to(1), to(2), color);
    }

    // around the normal, as wide as friction allows at the height of this impulse
    private cone(list: Contacts, i: number, options: MarkOptions): void {
        const f = list.frame.subarray(9 * i, 9 * i + 9), [px, py, pz] = first(list.point.subarray(3 * i, 3 * i + 3), 3);
        const tall = Math.max(lengthOf(options) * nth(list.impulse, 3 * i), 0.03 * options.radius), width = nth(list.friction, i) * tall;
        const height = options.isStatic(nth(list.bodyB, i)) ? -tall : tall;
        const rim = (k: number) => {
            const a = (2 * Math.PI * k) / CONE_SIDES, c = width * Math.cos(a), s = width * Math.sin(a);
            const along = (p: number, d: number) => p + height * nth(f, d) + c * nth(f, 3 + d) + s * nth(f, 6 + d);
            return [along(px, 0), along(py, 1), along(pz, 2)] as const;
        };
        for (let k = 0; k < CONE_SIDES; k++) {
            const [ax, ay, az] = rim(k), [bx, by, bz] = rim(k + 1);
            this.lines.add(ax, ay, az, bx, by, bz, this.picked);
            if (k % 3 === 0) {
                this.lines.add(px, py, pz, ax, ay, az, this.picked);
            }
        }
    }
}

function lengthOf(options: MarkOptions): number {
    return options.reference > 0 ? (0.125 * options.radius) / options.reference : 0;
}
