// SPDX-License-Identifier: MIT
// Which body a ray hits first, in closed forms over the frame's own doubles.
import { Quaternion, Ray, Vector3 } from "three";
import type { Frame } from "../log/frames";
import type { Body, Hull, Shape } from "../log/scene";
import { nth } from "../nth";

// Distances along the ray, in the shape's own frame; Infinity: it misses.

function sphere(origin: Vector3, direction: Vector3, radius: number): number {
    const b = origin.dot(direction), c = origin.lengthSq() - radius * radius, root = b * b - c;
    return root < 0 || -b + Math.sqrt(root) < 0 ? Infinity : -b - Math.sqrt(root);
}

function box(origin: Vector3, direction: Vector3, half: readonly number[]): number {
    let near = -Infinity, far = Infinity;
    for (let k = 0; k < 3; k++) {
        const o = origin.getComponent(k), d = direction.getComponent(k);
        const t1 = (-nth(half, k) - o) / d, t2 = (nth(half, k) - o) / d; // of a ray along the slab infinities, or NaN on its face
        near = Math.max(near, Math.min(t1, t2));
        far = Math.min(far, Math.max(t1, t2));
    }
    return far >= Math.max(near, 0) ? near : Infinity;
}

function capsule(origin: Vector3, direction: Vector3, radius: number, half: number): number {
    const a = direction.x ** 2 + direction.y ** 2, b = origin.x * direction.x + origin.y * direction.y;
    const root = b * b - a * (origin.x ** 2 + origin.y ** 2 - radius * radius);
    const wall = a > 0 && root >= 0 ? (-b - Math.sqrt(root)) / a : Infinity;
    const isOnWall = wall > 0 && Math.abs(origin.z + wall * direction.z) <= half;
    const end = (side: number) => sphere(new Vector3(origin.x, origin.y, origin.z - side * half), direction, radius);
    return Math.min(isOnWall ? wall : Infinity, end(1), end(-1));
}

function cylinder(origin: Vector3, direction: Vector3, radius: number, half: number): number {
    const a = direction.x ** 2 + direction.y ** 2, b = origin.x * direction.x + origin.y * direction.y;
    const c = origin.x ** 2 + origin.y ** 2 - radius * radius, root = b * b - a * c;
    if (root < 0 || (a === 0 && c > 0)) {
        return Infinity;
    }
    const wall = a > 0 ? [(-b - Math.sqrt(root)) / a, (-b + Math.sqrt(root)) / a] : [-Infinity, Infinity];
    const caps = [(-half - origin.z) / direction.z, (half - origin.z) / direction.z];
    const near = Math.max(Math.min(...wall), Math.min(...caps)), far = Math.min(Math.max(...wall), Math.max(...caps));
    return far >= Math.max(near, 0) ? near : Infinity;
}

// The nearest of its triangles, from either side.
function surfaceHit(origin: Vector3, direction: Vector3, { points, faces }: Hull): number {
    const at = (i: number) => new Vector3(nth(points, 3 * i), nth(points, 3 * i + 1), nth(points, 3 * i + 2)).sub(origin);
    let nearest = Infinity;
    for (const face of faces) {
        const a = at(nth(face, 0)), b = at(nth(face, 1)), c = at(nth(face, 2));
        const sides = [a.clone().cross(b).dot(direction), b.clone().cross(c).dot(direction), c.clone().cross(a).dot(direction)];
        const normal = b.clone().sub(a).cross(c.clone().sub(a)), distance = a.dot(normal) / direction.dot(normal);
        if ((sides.every((side) => side <= 0) || sides.every((side) => side >= 0)) && distance >= 0 && distance < nearest) {
            nearest = distance;
        }
    }
    return nearest;
}

// In through the last plane that it comes through, before it goes out of any.
function hullHit(origin: Vector3, direction: Vector3, { points, faces }: Hull): number {
    const at = (i: number) => new Vector3(nth(points, 3 * i), nth(points, 3 * i + 1), nth(points, 3 * i + 2));
    let near = -Infinity, far = Infinity;
    for (const face of faces) {
        const first = at(nth(face, 0)), normal = at(nth(face, 1)).sub(first).cross(at(nth(face, 2)).sub(first));
        const height = first.sub(origin).dot(normal), rate = direction.dot(normal);
        near = rate < 0 ? Math.max(near, height / rate) : near;
        far = rate > 0 ? Math.min(far, height / rate) : rate === 0 && height < 0 ? -Infinity : far;
    }
    return far >= Math.max(near, 0) ? near : Infinity;
}

function hit(shape: Shape, origin: Vector3, direction: Vector3): number {
    switch (shape.kind) {
    case "sphere": return sphere(origin, direction, shape.size[0]);
    case "box": return box(origin, direction, shape.size);
    case "capsule": return capsule(origin, direction, shape.size[0], shape.size[1]);
    case "cylinder": return cylinder(origin, direction, shape.size[0], shape.size[1]);
    case "hull": return shape.hull === null ? Infinity : (shape.hull.isSurface ? surfaceHit : hullHit)(origin, direction, shape.hull);
    case "plane": return Infinity; // the ground behind everything is not what people point at
    }
}

/** The id; 0: none. */
export function pickBody(ray: Ray, frame: Frame, bodies: ReadonlyMap<number, Body>, isHidden: (id: number) => boolean): number {
    let nearest = Infinity, found = 0;
    const turn = new Quaternion(), place = new Vector3(), origin = new Vector3(), direction = new Vector3();
    frame.ids.forEach((id, i) => {
        if (isHidden(id)) {
            return;
        }
        const p = frame.pose, o = 7 * i;
        for (const shape of bodies.get(id)?.shapes ?? []) {
            turn.set(nth(p, o + 4), nth(p, o + 5), nth(p, o + 6), nth(p, o + 3));
            place.set(nth(shape.position, 0), nth(shape.position, 1), nth(shape.position, 2)).applyQuaternion(turn);
            place.add(origin.set(nth(p, o), nth(p, o + 1), nth(p, o + 2)));
            const [w, x, y, z] = shape.orientation;
            turn.multiply(new Quaternion(x, y, z, w)).invert();
            origin.copy(ray.origin).sub(place).applyQuaternion(turn);
            direction.copy(ray.direction).applyQuaternion(turn);
            const distance = hit(shape, origin, direction);
            if (distance > 0 && distance < nearest) {
                nearest = distance;
                found = id;
            }
        }
    });
    return found;
}
