// SPDX-License-Identifier: MIT
// Joints: a line from either body's origin to where it is held. One draw call.
import { BufferGeometry, DynamicDrawUsage, Float32BufferAttribute, LineSegments, Scene } from "three";
import { nth } from "../nth";
import { lineMaterial } from "./lines";
import type { Theme } from "./palette";
import type { Hold } from "./slots";

export class Joints {
    private readonly drawn = lineMaterial(false);
    private readonly lines = new LineSegments(new BufferGeometry(), this.drawn.material);

    constructor(scene: Scene) {
        this.lines.frustumCulled = false;
        this.lines.renderOrder = 5;
        scene.add(this.lines);
    }

    paint(theme: Theme): void {
        this.drawn.ink.set(theme.text);
    }

    arrange(holds: readonly Hold[]): void {
        this.lines.geometry.dispose();
        this.lines.geometry = new BufferGeometry();
        this.lines.geometry.setAttribute("position", new Float32BufferAttribute(6 * holds.length, 3).setUsage(DynamicDrawUsage));
        this.lines.visible = holds.length > 0;
    }

    show(pose: Float64Array, holds: readonly Hold[], isHidden: (id: number) => boolean): void {
        const position = this.lines.geometry.getAttribute("position"), out = position.array as Float32Array;
        for (let i = 0; i < holds.length; i++) {
            const { column, id, frame } = nth(holds, i), o = 7 * column, to = 6 * i;
            const share = isHidden(id) ? 0 : 1; // of no length: not drawn
            const w = nth(pose, o + 3), x = nth(pose, o + 4), y = nth(pose, o + 5), z = nth(pose, o + 6);
            const tx = 2 * (y * nth(frame, 2) - z * nth(frame, 1)), ty = 2 * (z * nth(frame, 0) - x * nth(frame, 2)), tz = 2 * (x * nth(frame, 1) - y * nth(frame, 0));
            for (let k = 0; k < 3; k++) {
                out[to + k] = nth(pose, o + k);
            }
            out[to + 3] = nth(pose, o) + share * (nth(frame, 0) + w * tx + y * tz - z * ty);
            out[to + 4] = nth(pose, o + 1) + share * (nth(frame, 1) + w * ty + z * tx - x * tz);
            out[to + 5] = nth(pose, o + 2) + share * (nth(frame, 2) + w * tz + x * ty - y * tx);
        }
        position.needsUpdate = holds.length > 0;
    }
}
