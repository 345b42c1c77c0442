// SPDX-License-Identifier: MIT
// One episode: its bodies, and the frames and contacts of any step, read when they are asked for and kept for a while.
import { Kind } from "./log/chunk";
import { bareBody, versionOf } from "./log/chunk";
import { Contacts, Frame, readContacts, readFrames } from "./log/frames";
import { Body, Joint, nameBodies, readScene, Scene, wearing } from "./log/scene";
import { nth } from "./nth";
import type { Client } from "./store/client";
import type { ChunkRef, EpisodeHead, EpisodeRow, GroupEpisode, SceneText } from "./store/messages";

const CHUNKS_KEPT = 96; // of about 260 KB each

/** The last of rising `items` whose step is not behind `step`; -1: none. */
export function lastAt<T>(items: readonly T[], step: number, of: (item: T) => number): number {
    let low = 0, high = items.length;
    while (low < high) {
        const middle = (low + high) >> 1;
        if (of(nth(items, middle)) <= step) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low - 1;
}

/** Chunks of one kind, decoded when they are wanted. */
class Shelf<T extends { step: number }> {
    private readonly kept = new Map<number, T[]>();
    private readonly coming = new Map<number, Promise<T[] | null>>();

    constructor(readonly refs: ChunkRef[], private readonly fetch: (ref: ChunkRef) => Promise<T[] | null>) {}

    private find(step: number): ChunkRef | null {
        return this.refs[lastAt(this.refs, step, (r) => r.firstStep)] ?? null;
    }

    load(ref: ChunkRef): Promise<T[] | null> {
        const kept = this.kept.get(ref.id);
        if (kept !== undefined) {
            this.kept.delete(ref.id);
            this.kept.set(ref.id, kept);
            return Promise.resolve(kept);
        }
        let promise = this.coming.get(ref.id);
        if (promise === undefined) {
            promise = this.fetch(ref).then((items) => {
                this.coming.delete(ref.id);
                if (items !== null) {
                    this.kept.set(ref.id, items);
                }
                while (this.kept.size > CHUNKS_KEPT) {
                    this.kept.delete(this.kept.keys().next().value as number);
                }
                return items;
            });
            this.coming.set(ref.id, promise);
        }
        return promise;
    }

    /** undefined: it has to be fetched first. */
    now(step: number): T | null | undefined {
        const ref = this.find(step);
        const items = ref === null ? null : this.kept.get(ref.id);
        return items === null ? null : items === undefined ? undefined : items[lastAt(items, step, (i) => i.step)] ?? null;
    }

    async at(step: number): Promise<T | null> {
        const ref = this.find(step);
        const items = ref === null ? null : await this.load(ref);
        return items === null ? null : items[lastAt(items, step, (i) => i.step)] ?? null;
    }

    /** Fetches what comes next, in either direction, so that playing does not wait for it. */
    prefetch(step: number, forward: boolean): void {
        const next = lastAt(this.refs, step, (r) => r.firstStep) + (forward ? 1 : -1);
        if (next >= 0 && next < this.refs.length && this.coming.size < 2) {
            void this.load(nth(this.refs, next));
        }
    }
}

export class Episode {
    readonly bodies = new Map<number, Body>();
    joints: { joint: Joint; a: number; b: number }[] = []; // with ids of bodies; 0: the world
    settings: Record<string, unknown> = {};
    hasScenes: boolean; // else bodies are drawn without their shapes
    readonly timeStep: number; // [s] with all substeps
    substepTime = 0; // [s] of a group's, once its definition was read; 0: that is the time step
    readonly stride: number;
    shownStride: number; // steps from one that can be shown to the next
    readonly frames: Shelf<Frame>;
    readonly contacts: Shelf<Contacts>;
    /** What was damaged or does not fit, in sentences. */
    readonly damage: string[];
    chunksRead = 0;
    scenesMet = 0;
    onDamage: () => void = () => undefined;
    private readonly scenes: Scene[] = [];
    private unnamed: Scene[] = [];

    constructor(readonly client: Client, readonly row: EpisodeRow, readonly head: EpisodeHead) {
        this.damage = head.damage;
        this.hasScenes = head.scenes !== null;
        this.take(head.scenes ?? []);
        const length = row.isOfGroup && row.simulated !== null && row.length !== null && row.length > 0 ? row.simulated / row.length : 0; // with all substeps
        this.timeStep = length > 0 ? length : head.definition.timeStep > 0 ? head.definition.timeStep : 1 / 240;
        this.stride = this.shownStride = head.definition.stride;
        const refs = (kind: Kind) => head.chunks.filter((c) => c.kind === kind);
        this.frames = new Shelf(refs(Kind.Frames), (ref) => this.fetch(ref, readFrames));
        this.contacts = new Shelf(refs(Kind.Contacts), (ref) => this.fetch(ref, readContacts));
    }

    private take(scenes: SceneText[]): void {
        for (const { step, text } of scenes) {
            try {
                this.scenes.push(readScene(text, step));
            } catch (error) {
                this.damage.push(`the scene of step ${step}: ${(error as Error).message}`);
            }
        }
        this.unnamed = [...this.scenes];
        this.settings = this.scenes[0]?.settings ?? {};
    }

    /** Long scenes, behind the first picture. */
    async readScenes(): Promise<void> {
        if (!this.hasScenes) {
            const { scenes, damage } = await this.client.call("scenes", this.row.uid);
            this.damage.push(...damage);
            this.hasScenes = true;
            this.take(scenes);
        }
    }

    /** Of a group's: which; its steps are those of the group. null: of a single world. */
    get group(): GroupEpisode | null {
        const { row } = this;
        return !row.isOfGroup ? null : {
            world: row.worldIndex, seed: row.seed ?? 0n, turn: row.turn, begunCall: row.firstStep, endedCall: row.lastStep ?? 0,
            before: row.parent === null ? 0 : row.parentStep,
        };
    }

    /** Of the world's clock, at step 0 [s]: each episode of a group begins with the template's. */
    get begun(): number {
        return this.head.definition.worldTime + (this.group?.before ?? 0) * this.timeStep;
    }

    get lastStep(): number {
        return this.head.lastStep;
    }

    get hasFrames(): boolean {
        return this.frames.refs.length > 0;
    }

    get hasContacts(): boolean {
        return this.contacts.refs.length > 0;
    }

    get gravity(): number[] {
        const gravity = this.settings.gravity;
        return Array.isArray(gravity) && gravity.length === 3 ? gravity.map(Number) : [0, 0, 0];
    }

    /** What gravity gives from one solve to the next [m/s]. */
    get fall(): number {
        return Math.hypot(...this.gravity) * (this.substepTime || this.timeStep);
    }

    get tolerance(): number {
        const solver = String(this.settings.solver);
        const all = this.settings.parameters as Record<string, Record<string, number>> | undefined;
        return Number(all?.[solver]?.tolerance ?? NaN);
    }

    /** To a step that has a frame. */
    snap(step: number): number {
        const stride = this.shownStride, last = Math.floor(this.lastStep / stride) * stride;
        return Math.max(0, Math.min(last, Math.round(step / stride) * stride));
    }

    bodyName(id: number): string {
        const name = this.bodies.get(id)?.name;
        return name ? name : `#${id}`;
    }

    private async fetch<T>(ref: ChunkRef, read: (body: Uint8Array, version: number) => T[]): Promise<T[] | null> {
        try {
            const chunk = await this.client.call("whole", this.row.uid, ref.id);
            const items = read(bareBody(chunk), versionOf(chunk));
            this.chunksRead++;
            return items;
        } catch (error) {
            this.damage.push((error as Error).message);
            this.onDamage();
            return null;
        }
    }

    // The first scene is of the state that the recording began with; what others add comes in behind the frame of their
    // step.
    private isIn(scene: Scene, step: number): boolean {
        return scene === this.scenes[0] ? scene.step <= step : scene.step < step;
    }

    /** Which bodies a frame shows: scenes up to its step get their ids. */
    meet(frame: Frame): void {
        this.name(frame);
        this.dress(frame);
    }

    // The world of a group may wear another ground in each episode, and each that is shown says which.
    private dress({ ids, worn }: Frame): void {
        let isOther = false;
        worn?.forEach((geometry, i) => {
            const body = this.bodies.get(nth(ids, i)), hull = geometry === 0 ? undefined : this.scenes[0]?.geometries.get(`geometry-${geometry}`);
            const dressed = body === undefined || hull === undefined ? body : wearing(body, hull);
            if (body !== undefined && dressed !== undefined && dressed !== body) {
                this.bodies.set(body.id, dressed);
                isOther = true;
            }
        });
        this.scenesMet += isOther ? 1 : 0;
    }

    private name(frame: Frame): void {
        const due = this.unnamed.filter((scene) => this.isIn(scene, frame.step));
        if (due.length === 0) {
            return;
        }
        this.unnamed = this.unnamed.filter((scene) => !due.includes(scene));
        for (const scene of due) {
            if (!nameBodies(scene, frame.ids, new Set(this.bodies.keys()))) {
                this.damage.push(`the scene of step ${scene.step}: its bodies are not those of the frame of step ${frame.step}, and are drawn as points`);
                this.onDamage();
                continue;
            }
            scene.bodies.forEach((body) => this.bodies.set(body.id, body));
            const id = (index: number) => scene.bodies[index]?.id ?? 0;
            this.joints = this.joints.concat(scene.joints.map((joint) => ({ joint, a: id(joint.a), b: id(joint.b) })));
        }
        this.scenesMet++;
    }

    /** Scenes before a frame are met in their order, each with the first frame that has its bodies. */
    async meetBefore(frame: Frame, frameOf: (step: number) => Promise<Frame | null>, stride = 1): Promise<void> {
        for (const scene of this.unnamed.filter((s) => this.isIn(s, frame.step))) {
            const after = scene === this.scenes[0] ? Math.ceil(scene.step / stride) : Math.floor(scene.step / stride) + 1;
            const first = after * stride < frame.step ? await frameOf(after * stride) : frame;
            if (first !== null) {
                this.meet(first);
            }
        }
    }

    /** The frame of a step, or the last one before it; null: there is none, or it is damaged. */
    async frameAt(step: number): Promise<Frame | null> {
        const frame = await this.frames.at(step);
        if (frame !== null) {
            await this.meetBefore(frame, (first) => this.frames.at(first), this.stride);
        }
        return frame;
    }
}
