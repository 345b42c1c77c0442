// SPDX-License-Identifier: MIT
// The scenes of a recording (message Scene as JSON) and which body of the frames is which of them.
import { nth } from "../nth";

export type ShapeKind = "sphere" | "box" | "capsule" | "cylinder" | "hull" | "plane";
export const SHAPE_KINDS: ShapeKind[] = ["sphere", "box", "capsule", "cylinder", "hull", "plane"];

/** A convex polyhedron, or a surface; one of several shapes that wear the same. */
export interface Hull {
    points: number[]; // 3 each
    faces: number[][]; // points, counter-clockwise seen from outside
    isSurface: boolean; // of triangles, with nothing inside
    patches: number[]; // of each face of a surface; none: all are of patch 0
}

export interface Shape {
    kind: ShapeKind;
    size: [number, number, number]; // radius | half extents | radius, half length | half the box around a hull
    hull: Hull | null;
    position: number[];
    orientation: number[]; // w x y z
    material: string;
    patchMaterials: string[]; // of patches 1, 2 …; "", or none: its material
}

export interface Body {
    id: number;
    index: number; // in its scene
    name: string;
    kind: string;
    position: number[];
    orientation: number[];
    mass: number; // [kg]; 0: none
    inertia: number[]; // xx yy zz xy xz yz, about the centre of mass [kg m²]
    center: number[]; // of mass, in the body's frame
    shapes: Shape[];
}

export interface Joint {
    kind: string;
    name: string;
    a: number; // index of a body in its scene; -1: the world
    b: number;
    frameA: number[];
    frameB: number[];
    asRows: boolean;
}

export interface Scene {
    step: number;
    settings: Record<string, unknown>;
    bodies: Body[];
    joints: Joint[];
    geometries: ReadonlyMap<string, Hull>; // by name
}

type Json = any;

function numbers(value: Json, standard: number[]): number[] {
    const ok = Array.isArray(value) && value.length >= standard.length &&
        value.every((v: Json) => typeof v === "number" && Number.isFinite(v));
    return ok ? value : standard;
}

function readHull(json: Json): Hull {
    const points = numbers(json?.points, []), count = Math.floor(points.length / 3);
    const faces: number[][] = (Array.isArray(json?.faces) ? json.faces : []).map((face: Json) => numbers(face?.points, []));
    return { points, isSurface: false, patches: [], faces: faces.filter((face) => face.length > 2 && face.every((i) => Number.isInteger(i) && i >= 0 && i < count)) };
}

function readMesh(json: Json): Hull {
    const points = numbers(json?.points, []), corners = numbers(json?.triangles, []), count = Math.floor(points.length / 3);
    const triangles = Array.from({ length: Math.floor(corners.length / 3) }, (_, i) => corners.slice(3 * i, 3 * i + 3));
    const isThere = (face: number[]) => face.every((i) => Number.isInteger(i) && i >= 0 && i < count), patches = numbers(json?.patches, []);
    return {
        points, isSurface: true, faces: triangles.filter(isThere),
        patches: patches.length === triangles.length ? patches.filter((_, i) => isThere(nth(triangles, i))) : [],
    };
}

// Over a grid whose middle is the origin; each cell is two triangles, cut from its lowest corner on.
function readHeights(json: Json): Hull {
    const columns = Number(json?.columns ?? 0), rows = Number(json?.rows ?? 0), heights = numbers(json?.heights, []);
    const [x = 0, y = 0] = numbers(json?.spacing, [0, 0]), faces: number[][] = [];
    const points = heights.length !== columns * rows ? [] : heights.flatMap((z, i) =>
        [(i % columns - 0.5 * (columns - 1)) * x, (Math.floor(i / columns) - 0.5 * (rows - 1)) * y, z]);
    for (let i = 0; points.length > 0 && i + columns + 1 < columns * rows; i++) {
        if (i % columns < columns - 1) {
            faces.push([i, i + 1, i + columns + 1], [i, i + columns + 1, i + columns]);
        }
    }
    const patches = numbers(json?.patches, []);
    return { points, faces, isSurface: true, patches: 2 * patches.length === faces.length ? patches.flatMap((patch) => [patch, patch]) : [] };
}

const FORMS: Readonly<Record<string, (json: Json) => Hull>> = { hull: readHull, mesh: readMesh, height_field: readHeights };
const formOf = (json: Json) => Object.keys(FORMS).find((key) => json?.[key] !== undefined);

type Hulls = ReadonlyMap<string, Hull>;

function readHulls(json: Json): Hulls {
    return new Map((Array.isArray(json) ? json : []).map((g: Json) => {
        const form = formOf(g) ?? "hull";
        return [String(g?.name), (FORMS[form] ?? readHull)(g?.[form])];
    }));
}

// Half of the box about its origin that holds it.
function extentOf({ points }: Hull): [number, number, number] {
    const most = (axis: number) => points.reduce((m, v, i) => (i % 3 === axis ? Math.max(m, Math.abs(v)) : m), 0);
    return [most(0), most(1), most(2)];
}

function readShape(json: Json, hulls: Hulls): Shape | null {
    const form = json !== null && typeof json === "object" ? formOf(json) : undefined;
    const kind = form !== undefined ? "hull" : SHAPE_KINDS.find((k) => json !== null && typeof json === "object" && json[k] !== undefined);
    if (kind === undefined) {
        return null;
    }
    const of = json[form ?? kind];
    const hull = form === undefined ? null : hulls.get(String(of.geometry ?? "")) ?? (FORMS[form] ?? readHull)(of);
    const size: [number, number, number] =
        kind === "sphere" ? [Number(of.radius), 0, 0]
        : hull !== null ? extentOf(hull)
        : kind === "capsule" || kind === "cylinder" ? [Number(of.radius), Number(of.half_length), 0]
        : kind === "box" ? (numbers(of.half_extents, [0, 0, 0]).slice(0, 3) as [number, number, number])
        : [0, 0, 0];
    return {
        kind, size, hull, position: numbers(json.position, [0, 0, 0]),
        orientation: numbers(json.orientation, [1, 0, 0, 0]), material: String(json.material ?? ""),
        patchMaterials: (Array.isArray(json.patch_materials) ? json.patch_materials : []).map(String),
    };
}

function readBody(json: Json, index: number, hulls: Hulls): Body {
    return {
        id: 0, index, name: String(json.name ?? ""), kind: String(json.kind ?? "DYNAMIC"),
        position: numbers(json.position, [0, 0, 0]), orientation: numbers(json.orientation, [1, 0, 0, 0]),
        mass: Number(json.mass ?? 0), inertia: numbers(json.inertia, [0, 0, 0, 0, 0, 0]),
        center: numbers(json.center_of_mass, [0, 0, 0]),
        shapes: (Array.isArray(json.shapes) ? json.shapes : []).map((s: Json) => readShape(s, hulls)).filter((s: Shape | null) => s !== null),
    };
}

function readJoints(json: Json, bodies: Body[]): Joint[] {
    const find = (name: Json) => {
        if (name === undefined) {
            return -1;
        }
        const named = bodies.findIndex((b) => b.name === name);
        return named >= 0 ? named : /^#\d+$/.test(String(name)) ? Number(String(name).slice(1)) : -1;
    };
    const nowhere = [0, 0, 0, 1, 0, 0, 0];
    return (Array.isArray(json) ? json : []).map((j: Json) => ({
        kind: String(j.kind), name: String(j.name ?? ""), a: find(j.body_a), b: find(j.body_b),
        frameA: numbers(j.frame_a, nowhere), frameB: numbers(j.frame_b, nowhere), asRows: j.as_rows === true,
    }));
}

/** Throws a sentence when the text is no scene. */
export function readScene(text: string, step: number): Scene {
    let json: Json;
    try {
        json = JSON.parse(text);
    } catch (error) {
        throw new Error(`its text is no JSON (${(error as Error).message})`);
    }
    if (json === null || typeof json !== "object" || !Array.isArray(json.bodies)) {
        throw new Error("its JSON has no bodies");
    }
    return sceneOf(json, step);
}

/** Of message Scene, as JSON has it. */
export function sceneOf(json: Json, step: number): Scene {
    const hulls = readHulls(json.geometries), bodies: Body[] = json.bodies.map((b: Json, i: number) => readBody(b, i, hulls));
    return { step, settings: json.settings ?? {}, bodies, joints: readJoints(json.joints, bodies), geometries: hulls };
}

/** The materials that a shape wears beside its own, and of each of its faces which of them, from 1 on; 0: its own. */
export function patchesOf({ hull, material, patchMaterials }: Shape): { materials: string[]; faces: number[] } {
    const ofPatch = (patch: number) => patchMaterials[patch - 1] || material;
    const materials = [...new Set((hull?.patches ?? []).map(ofPatch))].filter((name) => name !== material);
    return { materials, faces: materials.length === 0 ? [] : (hull?.patches ?? []).map((patch) => materials.indexOf(ofPatch(patch)) + 1) };
}

/** The body on another geometry than the one that its one hull or surface is of; itself, if that is the same. */
export function wearing(body: Body, hull: Hull): Body {
    const worn = body.shapes.filter((shape) => shape.hull !== null);
    if (worn.length !== 1 || worn[0]?.hull === hull) {
        return body;
    }
    return { ...body, shapes: body.shapes.map((shape) => (shape.hull === null ? shape : { ...shape, hull, size: extentOf(hull) })) };
}

/**
 * Gives the bodies of a scene their ids: `ids` are those of the first frame from its step on, `known` those that had one before. A scene at a
 * recording's start, or behind a snapshot, has all bodies; any other what was added. False: they do not fit, as some are gone already.
 */
export function nameBodies(scene: Scene, ids: number[], known: ReadonlySet<number>): boolean {
    const added = ids.filter((id) => !known.has(id));
    const whose = added.length === scene.bodies.length ? added : ids.length === scene.bodies.length ? ids : null;
    if (whose === null) {
        return false;
    }
    scene.bodies.forEach((body, i) => (body.id = nth(whose, i)));
    return true;
}
