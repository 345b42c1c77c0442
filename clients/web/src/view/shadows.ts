// SPDX-License-Identifier: MIT
// What lies near the ground darkens it, so that one sees how high things are: on every plane that faces up, each shape
// takes light away where it is near, by its distance from the plane's points. One draw call; bodies stand nothing in
// each other's light.
import { DoubleSide, Float32BufferAttribute, InstancedBufferGeometry, Mesh, Quaternion, Scene, ShaderMaterial, Vector3, Vector4 } from "three";
import { first, nth } from "../nth";
import { PLACES, Share } from "./instances";
import type { Theme } from "./palette";
import type { Slot } from "./slots";

const PLANES_MAX = 4; // that get shadows
const FACES_UP = 0.3; // of a normal's height

const VERTEX = `${PLACES}
#define PLANES ${PLANES_MAX}
attribute vec3 edge; // where on the square; which plane
uniform vec4 planes[PLANES]; uniform int count; // normal and offset
varying vec3 vAt; varying vec4 vSize; varying float vReach;
vec4 conjugate(vec4 q) { return vec4(q.x, -q.yzw); }
void main() {
  vec4 plane = planes[int(edge.z)];
  vec3 c = center();
  float around = length(size.xyz) + size.w, height = dot(plane.xyz, c) - plane.w;
  vReach = 0.9 * (size.w + 0.4 * (size.x + size.y + size.z));
  vSize = size;
  vec3 u = normalize(abs(plane.z) > 0.5 ? cross(plane.xyz, vec3(0.0, 1.0, 0.0)) : cross(plane.xyz, vec3(0.0, 0.0, 1.0)));
  vec3 p = c - height * plane.xyz + (around + vReach) * (edge.x * u + edge.y * cross(plane.xyz, u));
  vAt = turned(conjugate(ownTurn), turned(conjugate(turn), p - c));
  bool isNear = int(edge.z) < count && tint.a > 0.5 && height < around + vReach && height > -around;
  gl_Position = isNear ? projectionMatrix * modelViewMatrix * vec4(p, 1.0) : vec4(2.0, 2.0, 2.0, 1.0);
}`;

const FRAGMENT = `
varying vec3 vAt; varying vec4 vSize; varying float vReach; uniform float strength;
void main() {
  float far = length(max(abs(vAt) - vSize.xyz, 0.0)) - vSize.w, near = 1.0 - clamp(far / vReach, 0.0, 1.0);
  gl_FragColor = vec4(0.0, 0.0, 0.0, strength * near * near);
}`;

export class Shadows {
    private mesh: Mesh | null = null;
    private readonly planes = Array.from({ length: PLANES_MAX }, () => new Vector4());
    private readonly turn = new Quaternion();
    private readonly normal = new Vector3();
    private readonly uniforms = { planes: { value: this.planes }, count: { value: 0 }, strength: { value: 0 } };
    private readonly material = new ShaderMaterial({
        vertexShader: VERTEX, fragmentShader: FRAGMENT, transparent: true, depthWrite: false, side: DoubleSide, uniforms: this.uniforms,
    });

    constructor(private readonly scene: Scene) {}

    paint(theme: Theme): void {
        this.uniforms.strength.value = theme.shadow;
    }

    arrange(share: Share, count: number): void {
        if (this.mesh !== null) {
            this.scene.remove(this.mesh);
            this.mesh.geometry.dispose();
        }
        const square = [-1, -1, 1, -1, 1, 1, -1, -1, 1, 1, -1, 1], edge: number[] = [];
        for (let plane = 0; plane < PLANES_MAX; plane++) {
            for (let i = 0; i < square.length; i += 2) {
                edge.push(nth(square, i), nth(square, i + 1), plane);
            }
        }
        const geometry = share(new InstancedBufferGeometry(), 0, count);
        geometry.setAttribute("edge", new Float32BufferAttribute(edge, 3));
        geometry.setAttribute("position", geometry.getAttribute("edge")); // which the renderer counts
        this.mesh = new Mesh(geometry, this.material);
        this.mesh.frustumCulled = false;
        this.mesh.renderOrder = -0.5; // on planes, below all else that is seen through
        this.scene.add(this.mesh);
    }

    show(pose: Float64Array, planes: readonly Slot[], isHidden: (id: number) => boolean): void {
        let count = 0;
        for (const { column, shape, body } of planes) {
            const o = 7 * column, [w, x, y, z] = first(shape.orientation, 4), { turn, normal } = this;
            turn.set(nth(pose, o + 4), nth(pose, o + 5), nth(pose, o + 6), nth(pose, o + 3));
            const offset = normal.set(nth(shape.position, 0), nth(shape.position, 1), nth(shape.position, 2)).applyQuaternion(turn);
            const at = [nth(pose, o) + offset.x, nth(pose, o + 1) + offset.y, nth(pose, o + 2) + offset.z];
            normal.set(0, 0, 1).applyQuaternion(turn.multiply(TURN.set(x, y, z, w)));
            if (count < PLANES_MAX && normal.z > FACES_UP && !isHidden(body.id)) {
                nth(this.planes, count++).set(normal.x, normal.y, normal.z, normal.x * nth(at, 0) + normal.y * nth(at, 1) + normal.z * nth(at, 2));
            }
        }
        this.uniforms.count.value = count;
        if (this.mesh !== null) {
            this.mesh.visible = count > 0;
        }
    }
}

const TURN = new Quaternion();
