// SPDX-License-Identifier: MIT
// What lines are drawn with: over everything, in one ink or, with `areColored`, in the colours of their ends as well.
import { Color, ShaderMaterial } from "three";

const VERTEX = `
uniform vec3 ink; varying vec3 vInk;
void main() {
  vInk = ink;
  #ifdef USE_COLOR
  vInk *= color;
  #endif
  gl_Position = projectionMatrix * modelViewMatrix * vec4(position, 1.0);
}`;

const FRAGMENT = `
varying vec3 vInk;
void main() {
  gl_FragColor = vec4(vInk, 1.0);
  #include <colorspace_fragment>
}`;

export function lineMaterial(areColored: boolean): { material: ShaderMaterial; ink: Color } {
    const ink = new Color(1, 1, 1);
    const material = new ShaderMaterial({
        vertexShader: VERTEX, fragmentShader: FRAGMENT, vertexColors: areColored, depthTest: false, transparent: true, uniforms: { ink: { value: ink } },
    });
    return { material, ink };
}
