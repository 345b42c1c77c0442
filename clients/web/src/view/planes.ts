// SPDX-License-Identifier: MIT
// Half-spaces, as a grid on their surface, seen from the free side: one draw call for all of them.
import { Color, InstancedMesh, Matrix4, PlaneGeometry, Quaternion, Scene, ShaderMaterial, Vector3 } from "three";
import { nth } from "../nth";
import type { Theme } from "./palette";
import type { Slot } from "./slots";

const VERTEX = `
varying vec2 place; varying vec2 corner; uniform float extent;
void main() {
  corner = position.xy; place = position.xy * extent;
  gl_Position = projectionMatrix * modelViewMatrix * instanceMatrix * vec4(position, 1.0);
}`;

// lines a cell apart, every fifth stronger; all of it fades towards the edge
const FRAGMENT = `
varying vec2 place; varying vec2 corner; uniform vec3 plane, line; uniform float cell;
float lines(vec2 at, float width) {
  vec2 d = abs(fract(at - 0.5) - 0.5) / fwidth(at);
  return 1.0 - min(min(d.x, d.y) / width, 1.0);
}
void main() {
  float grid = max(0.55 * lines(place / cell, 1.0), lines(place / (5.0 * cell), 1.4));
  float fade = 1.0 - smoothstep(0.35, 1.0, length(corner));
  gl_FragColor = vec4(mix(plane, line, grid), fade * 0.85);
  #include <colorspace_fragment>
}`;

export class Planes {
    private mesh: InstancedMesh | null = null;
    private readonly uniforms = { extent: { value: 1 }, cell: { value: 1 }, plane: { value: new Color() }, line: { value: new Color() } };
    private readonly material = new ShaderMaterial({
        vertexShader: VERTEX, fragmentShader: FRAGMENT, transparent: true, depthWrite: false, uniforms: this.uniforms,
    });

    constructor(private readonly scene: Scene) {}

    paint(theme: Theme): void {
        this.uniforms.plane.value.set(theme.plane);
        this.uniforms.line.value.set(theme.line);
    }

    /** `radius` of the scene, around `center`. */
    show(pose: Float64Array, planes: readonly Slot[], center: Vector3, radius: number, isHidden: (id: number) => boolean): void {
        const extent = 12 * radius;
        const matrices = planes.filter(({ body }) => !isHidden(body.id))
            .map(({ column, shape }) => placeOf(pose, 7 * column, shape.position, shape.orientation, center, extent));
        if (this.mesh === null || this.mesh.count !== matrices.length) {
            if (this.mesh !== null) {
                this.scene.remove(this.mesh);
                this.mesh.dispose();
            }
            this.mesh = new InstancedMesh(new PlaneGeometry(2, 2), this.material, matrices.length);
            this.mesh.frustumCulled = false;
            this.mesh.renderOrder = -1;
            this.scene.add(this.mesh);
        }
        matrices.forEach((matrix, i) => this.mesh?.setMatrixAt(i, matrix));
        this.mesh.instanceMatrix.needsUpdate = true;
        this.uniforms.extent.value = extent;
        this.uniforms.cell.value = 10 ** Math.floor(Math.log10(radius));
    }
}

// The part of the plane that is nearest to the middle of the scene, moved by whole cells so that the grid stands still.
function placeOf(pose: Float64Array, o: number, position: number[], orientation: number[], center: Vector3, extent: number): Matrix4 {
    const quaternion = (w: number, x: number, y: number, z: number) => new Quaternion(x, y, z, w);
    const body = quaternion(nth(pose, o + 3), nth(pose, o + 4), nth(pose, o + 5), nth(pose, o + 6));
    const turn = body.clone().multiply(quaternion(nth(orientation, 0), nth(orientation, 1), nth(orientation, 2), nth(orientation, 3)));
    const origin = new Vector3(...(position as [number, number, number])).applyQuaternion(body).add(new Vector3(pose[o], pose[o + 1], pose[o + 2]));
    const cell = 5 * 10 ** Math.floor(Math.log10(extent / 12));
    const local = center.clone().sub(origin).applyQuaternion(turn.clone().invert());
    local.set(Math.round(local.x / cell) * cell, Math.round(local.y / cell) * cell, 0);
    return new Matrix4().compose(origin.add(local.applyQuaternion(turn)), turn, new Vector3(extent, extent, 1));
}
