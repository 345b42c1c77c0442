// SPDX-License-Identifier: MIT
// The picture: a camera around the bodies, the ground, contacts, and a second episode as a ghost.
import { Box3, Color, PerspectiveCamera, Raycaster, Scene, Spherical, Vector2, Vector3, WebGLRenderer } from "three";
import { OrbitControls } from "three/addons/controls/OrbitControls.js";
import type { Contacts, Frame } from "../log/frames";
import { nth } from "../nth";
import { Instances } from "./instances";
import { Joints } from "./joints";
import { Marks } from "./marks";
import { SECOND_COLOR, Theme } from "./palette";
import { pickBody } from "./pick";
import { Planes } from "./planes";
import { Shadows } from "./shadows";
import { Cast, Slots } from "./slots";
import { BALL_ON_GROUND } from "./warm";

export interface Picture {
    episode: Cast;
    frame: Frame;
    contacts: Contacts | null;
    second: { episode: Cast; frame: Frame } | null;
    selected: number; // body; 0: none
    contact: number; // in contacts; -1: none
    hidden: ReadonlySet<number>;
    showContacts: boolean;
}

const PICK_PIXELS = 12;

const FAR_SHARE = 0.06; // of places, at either end of an axis

// Of bodies with shapes that end somewhere, or none: joints lead to those.
function boundsOf(episode: Cast, frames: Frame[]): Box3 {
    const axes: number[][] = [[], [], []];
    let reach = 0.02;
    for (const frame of frames) {
        frame.ids.forEach((id, i) => {
            const body = episode.bodies.get(id);
            const shapes = body?.shapes.filter((s) => s.kind !== "plane") ?? [];
            if (body === undefined || shapes.length > 0 || body.shapes.length === 0) {
                axes.forEach((axis, k) => axis.push(nth(frame.pose, 7 * i + k)));
                reach = Math.max(reach, ...shapes.map((s) => Math.hypot(...s.position) + Math.hypot(...s.size)));
            }
        });
    }
    if (nth(axes, 0).length === 0) {
        return new Box3(new Vector3(-1, -1, -1), new Vector3(1, 1, 1));
    }
    axes.forEach((axis) => axis.sort((a, b) => a - b));
    const far = Math.floor(FAR_SHARE * nth(axes, 0).length);
    const corner = (at: (axis: number[]) => number) => new Vector3(at(nth(axes, 0)), at(nth(axes, 1)), at(nth(axes, 2)));
    return new Box3(corner((axis) => nth(axis, far) - reach), corner((axis) => nth(axis, axis.length - 1 - far) + reach));
}

// Between our axes, where z is up, and those of three's spheres, where y is.
const toSphere = (v: Vector3) => v.set(v.y, v.z, v.x);
const fromSphere = (v: Vector3) => v.set(v.z, v.x, v.y);

export class Stage {
    readonly camera = new PerspectiveCamera(45, 1, 0.01, 1000);
    readonly controls: OrbitControls;
    /** Script of the last frame [ms], and draw calls. */
    scriptMs = 0;
    drawCalls = 0;
    radius = 1;
    onMove: () => void = () => undefined;
    private readonly renderer: WebGLRenderer;
    private readonly scene = new Scene();
    private readonly first = new Instances(this.scene, null);
    private readonly ghost = new Instances(this.scene, SECOND_COLOR);
    private readonly slots = new Slots();
    private readonly ghostSlots = new Slots();
    private readonly planes = new Planes(this.scene);
    private readonly shadows = new Shadows(this.scene);
    private readonly joints = new Joints(this.scene);
    private readonly marks = new Marks(this.scene);
    private readonly center = new Vector3();
    private reference = 0;
    private picture: Picture | null = null;
    private asked = false;
    private isWarm = false;
    private recolor = true;

    /** Throws where there is no WebGL. */
    constructor(private readonly canvas: HTMLCanvasElement) {
        canvas.style.visibility = "hidden"; // what shows nothing is not to be put together with the page, which waits for that
        this.renderer = new WebGLRenderer({ canvas, antialias: true, preserveDrawingBuffer: true });
        this.renderer.setPixelRatio(Math.min(devicePixelRatio, 2));
        this.camera.up.set(0, 0, 1);
        this.camera.position.set(3, -4, 2.5);
        this.controls = new OrbitControls(this.camera, canvas);
        this.controls.addEventListener("change", () => {
            this.ask();
            this.onMove();
        });
        new ResizeObserver(() => this.resize()).observe(canvas.parentElement as HTMLElement);
        this.resize();
    }

    private resize(): void {
        const { clientWidth, clientHeight } = this.canvas.parentElement as HTMLElement;
        this.renderer.setSize(clientWidth, clientHeight, false);
        this.camera.aspect = clientWidth / Math.max(1, clientHeight);
        this.camera.updateProjectionMatrix();
        this.ask();
    }

    paint(theme: Theme): void {
        this.scene.background = new Color(theme.background);
        this.planes.paint(theme);
        this.shadows.paint(theme);
        this.joints.paint(theme);
        this.marks.paint(theme);
        this.first.color(theme);
        this.recolor = true;
        this.ask();
    }

    /** Measures where nearly all bodies are in these frames; what flies far away does not make the rest small. */
    fit(episode: Cast, frames: Frame[]): void {
        const box = boundsOf(episode, frames);
        box.getCenter(this.center);
        this.radius = Math.max(1e-3, box.getSize(new Vector3()).length() / 2);
        let weight = 0, moving = 0;
        for (const { kind, mass } of episode.bodies.values()) {
            weight += mass;
            moving += kind === "DYNAMIC" ? 1 : 0;
        }
        this.reference = (weight / Math.max(1, moving)) * episode.fall;
    }

    /** Puts the camera where it sees everything. */
    home(): void {
        this.camera.near = this.radius / 200;
        this.camera.far = this.radius * 60;
        this.camera.updateProjectionMatrix();
        this.controls.target.copy(this.center);
        this.camera.position.copy(this.center).add(new Vector3(1.2, -1.9, 0.9).multiplyScalar((1.2 * this.radius) / Math.min(1, this.camera.aspect)));
        this.controls.update();
    }

    place(camera: number[]): void {
        this.home();
        this.camera.position.set(nth(camera, 0), nth(camera, 1), nth(camera, 2));
        this.controls.target.set(nth(camera, 3), nth(camera, 4), nth(camera, 5));
        this.controls.update();
    }

    cameraNumbers(): number[] {
        return [...this.camera.position.toArray(), ...this.controls.target.toArray()];
    }

    /** Turns around what is looked at [rad], and goes to `share` of the distance from it. */
    orbit(around: number, down: number, share: number): void {
        const { camera, controls } = this, arm = new Spherical().setFromVector3(toSphere(camera.position.clone().sub(controls.target)));
        arm.theta += around;
        arm.phi = Math.max(0.01, Math.min(Math.PI - 0.01, arm.phi + down));
        arm.radius *= share;
        camera.position.copy(controls.target).add(fromSphere(new Vector3().setFromSpherical(arm)));
        controls.update();
    }

    /** Keeps the same view of what moves along. */
    follow(from: Vector3, to: Vector3): void {
        const moved = to.clone().sub(from);
        this.camera.position.add(moved);
        this.controls.target.add(moved);
        this.controls.update();
    }

    /** Makes ready what draws, and shows nothing. */
    warm(): void {
        if (this.isWarm) {
            return;
        }
        this.isWarm = true;
        this.fit(BALL_ON_GROUND.episode, [BALL_ON_GROUND.frame]);
        this.home();
        this.picture = BALL_ON_GROUND;
        this.draw();
        this.show(null, true);
    }

    show(picture: Picture | null, recolor: boolean): void {
        this.picture = picture;
        this.recolor ||= recolor;
        this.canvas.style.visibility = picture === null ? "hidden" : "";
        this.ask();
    }

    private ask(): void {
        if (!this.asked && this.picture !== null) {
            this.asked = true;
            requestAnimationFrame(() => this.draw());
        }
    }

    private draw(): void {
        this.asked = false;
        const begun = performance.now();
        if (this.picture === null) {
            return;
        }
        this.pose(this.picture);
        this.renderer.render(this.scene, this.camera);
        this.scriptMs = performance.now() - begun;
        this.drawCalls = this.renderer.info.render.calls;
    }

    private pose(picture: Picture): void {
        const { episode, frame, second } = picture, { slots, ghostSlots } = this;
        const isHidden = (id: number) => picture.hidden.has(id), isOther = slots.take(frame, episode);
        if (isOther) {
            this.shadows.arrange(this.first.arrange(slots.solids), slots.solids.length);
            this.joints.arrange(slots.holds);
        }
        if (isOther || this.recolor) {
            this.first.paint(picture.selected, isHidden);
        }
        this.first.show(frame.pose);
        this.planes.show(frame.pose, slots.planes, this.center, this.radius, isHidden);
        this.shadows.show(frame.pose, slots.planes, isHidden);
        this.joints.show(frame.pose, slots.holds, isHidden);
        this.marks.show(picture.showContacts ? picture.contacts : null,
            { selected: picture.contact, fall: episode.fall, isStatic: (id) => episode.bodies.get(id)?.kind === "STATIC", radius: this.radius, reference: this.reference });
        if (second === null) {
            this.ghost.dispose();
            ghostSlots.forget();
        } else {
            const isNew = ghostSlots.take(second.frame, second.episode);
            if (isNew) {
                this.ghost.arrange(ghostSlots.solids);
            }
            if (isNew || this.recolor) {
                this.ghost.paint(0, isHidden);
            }
            this.ghost.show(second.frame.pose);
        }
        this.recolor = false;
    }

    private pointer(x: number, y: number): Vector2 {
        const box = this.canvas.getBoundingClientRect();
        return new Vector2((2 * (x - box.left)) / box.width - 1, 1 - (2 * (y - box.top)) / box.height);
    }

    /** A contact whose mark is under the pointer, else a body. */
    pick(x: number, y: number): { body: number; contact: number } {
        const picture = this.picture;
        if (picture === null) {
            return { body: 0, contact: -1 };
        }
        const at = this.pointer(x, y);
        const contact = picture.showContacts ? this.pickContact(at, picture.contacts) : -1;
        if (contact >= 0) {
            return { body: 0, contact };
        }
        const ray = new Raycaster();
        ray.setFromCamera(at, this.camera);
        return { body: pickBody(ray.ray, picture.frame, picture.episode.bodies, (id) => picture.hidden.has(id)), contact: -1 };
    }

    private pickContact(at: Vector2, list: Contacts | null): number {
        const box = this.canvas.getBoundingClientRect();
        let nearest = PICK_PIXELS, found = -1;
        for (let i = 0; list !== null && i < list.count; i++) {
            const p = this.project(list.point, 3 * i);
            const distance = Math.hypot(((p.x - at.x) * box.width) / 2, ((p.y - at.y) * box.height) / 2);
            if (p.z < 1 && distance < nearest) {
                nearest = distance;
                found = i;
            }
        }
        return found;
    }

    private project(place: Float64Array, o: number): Vector3 {
        return new Vector3(place[o], place[o + 1], place[o + 2]).project(this.camera);
    }

    /** Where in the window a body's origin is; for tests and labels. */
    screenOf(place: Float64Array, o: number): { x: number; y: number } {
        const box = this.canvas.getBoundingClientRect(), p = this.project(place, o);
        return { x: box.left + ((p.x + 1) / 2) * box.width, y: box.top + ((1 - p.y) / 2) * box.height };
    }
}
