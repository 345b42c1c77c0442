// SPDX-License-Identifier: MIT
// The server's dynamics, compiled to WebAssembly, with the functions of clients/web/prove.h: one world per instance.
import type { Gain } from "../log/chunk";
import { type Contacts, featureName, type Frame } from "../log/frames";
import { contactName } from "../measures";
import { first, nth } from "../nth";
import type { GroupEpisode, GroupNumbers } from "./messages";
import type { Choice, Trial } from "./trial";

interface Exports {
    memory: WebAssembly.Memory;
    _initialize(): void;
    prove_version(): number;
    prove_buffer(count: number): number;
    prove_geometry(count: number): number;
    prove_keyframe(count: number): number;
    prove_inputs(count: number): number;
    prove_compare(count: number): number;
    prove_group(count: number, world: number): number;
    prove_episode(seed: bigint, turn: bigint, begunCall: bigint, endedCall: bigint, before: bigint): void;
    prove_group_numbers(): number;
    prove_definition(count: number): number;
    prove_scene(count: number): number;
    prove_list(firstWorld: number, worldRange: number): number;
    prove_list_chunk(count: number, kind: number): number;
    prove_list_end(isWhole: number): number;
    prove_place(): number;
    prove_gain(): number;
    prove_compared(): number;
    prove_worst(): number;
    prove_next(): number;
    prove_step(): number;
    prove_message(): number;
    prove_report(): number;
    prove_frame(): number;
    prove_contacts(): number;
    prove_solvers(): number;
    prove_hold(substep: number): number;
    prove_own(): number;
    prove_parameters(): number;
    prove_try(solver: number): number;
    prove_history(): number;
}

export enum Next { Failed = -1, End = 0, Step = 1, Fault = 2, Same = 3 }

export const ENTRY_NAMES = ["e_mom", "e_pen", "e_comp", "e_cone", "e_mdp", "e_DS", "e_own", "e_row"];
export const OWN = 6; // among them
export const REPORT_COUNT = 23;
export const REPORT = { converged: 8, penetration: 9, iterations: 12, tolerance: 13, energy: 14, solverNs: 18, unconverged: 20, worstSubstep: 21, doubtful: 22 };

export const PARAMETERS_MAX = 24; // of a solver

export class Dynamics {
    private readonly e: Exports;
    private said = "";

    constructor(module: WebAssembly.Module) {
        // nothing of a system: what an assertion prints before it traps is kept as the reason
        const wasi = {
            fd_close: () => 0, fd_seek: () => 70,
            clock_time_get: (_id: number, _precision: bigint, time: number) => {
                new DataView(this.e.memory.buffer).setBigUint64(time, BigInt(Math.round(1e6 * performance.now())), true);
                return 0;
            },
            fd_write: (_fd: number, parts: number, count: number, written: number) => {
                const view = new DataView(this.e.memory.buffer);
                let total = 0;
                for (let i = 0; i < count; i++) {
                    const at = view.getUint32(parts + 8 * i, true), length = view.getUint32(parts + 8 * i + 4, true);
                    this.said += new TextDecoder().decode(new Uint8Array(this.e.memory.buffer, at, length));
                    total += length;
                }
                view.setUint32(written, total, true);
                return 0;
            },
        };
        this.e = new WebAssembly.Instance(module, { wasi_snapshot_preview1: wasi }).exports as unknown as Exports;
        this.e._initialize();
    }

    get version(): number { return this.e.prove_version(); }
    get step(): number { return this.e.prove_step(); }

    get message(): string { return this.text(this.e.prove_message()); }
    get solvers(): string { return this.text(this.e.prove_solvers()); }

    private text(at: number): string {
        const bytes = new Uint8Array(this.e.memory.buffer, at);
        return new TextDecoder().decode(bytes.subarray(0, bytes.indexOf(0)));
    }

    // Throws a sentence.
    private give(chunk: ArrayBuffer, then: (count: number) => number): void {
        const at = this.e.prove_buffer(chunk.byteLength);
        if (at === 0) {
            throw new Error("memory ended");
        }
        new Uint8Array(this.e.memory.buffer, at).set(new Uint8Array(chunk));
        if (this.guard(() => then(chunk.byteLength)) !== 0) {
            throw new Error(this.message);
        }
    }

    // An assertion that fails traps.
    private guard(call: () => number): number {
        try {
            return call();
        } catch (error) {
            throw new Error(`the dynamics stopped: ${this.said.trim() || (error as Error).message}`);
        }
    }

    geometry(chunk: ArrayBuffer): void { this.give(chunk, (n) => this.e.prove_geometry(n)); }
    keyframe(chunk: ArrayBuffer): void { this.give(chunk, (n) => this.e.prove_keyframe(n)); }

    group(chunk: ArrayBuffer, of: GroupEpisode): void {
        this.give(chunk, (n) => this.e.prove_group(n, of.world));
        this.episode(of);
    }

    /** Of the group that is at hand, from its beginning. */
    episode(of: GroupEpisode): void {
        this.e.prove_episode(of.seed, of.turn, BigInt(of.begunCall), BigInt(of.endedCall), BigInt(of.before));
    }

    get groupNumbers(): GroupNumbers {
        const numbers = this.numbers(this.e.prove_group_numbers(), 7);
        const [substeps, timeStep, hasOpinion, share, tolerance, doubt, hashSteps] = first(numbers, 7);
        return { substeps, timeStep, opinion: hasOpinion === 0 ? null : { share, tolerance, doubt }, hashSteps };
    }

    // ---- how the recording begins, and which episodes there are

    definition(chunk: ArrayBuffer): void { this.give(chunk, (n) => this.e.prove_definition(n)); }
    scene(chunk: ArrayBuffer): void { this.give(chunk, (n) => this.e.prove_scene(n)); }
    listChunk(chunk: ArrayBuffer, kind: number): void { this.give(chunk, (n) => this.e.prove_list_chunk(n, kind)); }

    list(firstWorld: number, worldRange: number): void {
        if (this.guard(() => this.e.prove_list(firstWorld, worldRange)) !== 0) {
            throw new Error(this.message);
        }
    }

    listEnd(isWhole: boolean): void {
        if (this.guard(() => this.e.prove_list_end(isWhole ? 1 : 0)) !== 0) {
            throw new Error(this.message);
        }
    }

    /** Of a group's episode, of its substeps so far; null: it is none. */
    get gain(): Gain | null {
        const at = this.e.prove_gain();
        if (at === 0) {
            return null;
        }
        const [sum, scale, step] = first(this.numbers(at, 3), 3);
        return { sum, scale, step };
    }

    get place(): number { return this.e.prove_place(); }
    get compared(): number { return this.e.prove_compared(); }

    /** Name of the worst contact; "": none. */
    worst(): string {
        const at = this.e.prove_worst();
        if (at === 0) {
            return "";
        }
        const [a, b, partA, partB, feature] = first(new BigUint64Array(this.e.memory.buffer, at, 5), 5);
        return contactName(Number(a), Number(b), featureName(Number(partA), Number(partB), feature));
    }

    inputs(chunk: ArrayBuffer): void { this.give(chunk, (n) => this.e.prove_inputs(n)); }
    compare(chunk: ArrayBuffer): void { this.give(chunk, (n) => this.e.prove_compare(n)); }
    next(): Next { return this.guard(() => this.e.prove_next()); }

    /** A copy: the memory moves where it grows. */
    report(): Float64Array {
        return new Float64Array(this.e.memory.buffer, this.e.prove_report(), REPORT_COUNT).slice();
    }

    private ids(at: number, count: number): number[] {
        return Array.from(new BigUint64Array(this.e.memory.buffer, at, count), Number);
    }

    private numbers(at: number, count: number): Float64Array {
        return count === 0 ? new Float64Array(0) : new Float64Array(this.e.memory.buffer, at, count).slice();
    }

    frame(): Frame | null {
        const at = this.e.prove_frame();
        if (at === 0) {
            return null;
        }
        const [n, ids, pose, velocity, time, p, q, position, rate, target, targetRate, effort, worn] = first(new Uint32Array(this.e.memory.buffer, at, 13), 13);
        return {
            step: this.step, worldStep: 0, time: nth(this.numbers(time, 1), 0), ids: this.ids(ids, n), pose: this.numbers(pose, 7 * n),
            velocity: this.numbers(velocity, 6 * n), joints: null, jointPosition: this.numbers(position, p), jointVelocity: this.numbers(rate, q),
            jointOrders: Float64Array.from([target, targetRate, effort].flatMap((column) => [...this.numbers(column, q)])),
            worn: this.ids(worn, n),
        };
    }

    contacts(): Contacts | null {
        const at = this.e.prove_contacts();
        if (at === 0) {
            return null;
        }
        const columns = new Uint32Array(this.e.memory.buffer, at, 12);
        const [c, a, b, partA, partB, feature, point, frame, gap, impulse, velocity, friction] = first(columns, 12);
        const partsA = new Uint32Array(this.e.memory.buffer, partA, c), partsB = new Uint32Array(this.e.memory.buffer, partB, c);
        return {
            step: this.step, count: c, bodyA: this.ids(a, c), bodyB: this.ids(b, c),
            feature: Array.from(new BigUint64Array(this.e.memory.buffer, feature, c), (f, i) => featureName(partsA[i], partsB[i], f)), point: this.numbers(point, 3 * c), frame: this.numbers(frame, 9 * c),
            gap: this.numbers(gap, c), impulse: this.numbers(impulse, 3 * c), velocity: this.numbers(velocity, 3 * c), friction: this.numbers(friction, c),
        };
    }

    // ---- the next step, tried

    hold(substep: number): Next { return this.guard(() => this.e.prove_hold(substep)); }

    own(count: number): Choice {
        const own = this.numbers(this.e.prove_own(), 1 + count);
        return { solver: nth(own, 0), parameters: Array.from(own.subarray(1)) };
    }

    /** Of the held step; what cannot be tried is said in `failure`. */
    try(choice: Choice): Trial {
        const room = new Float64Array(this.e.memory.buffer, this.e.prove_parameters(), PARAMETERS_MAX);
        room.fill(0);
        room.set(choice.parameters);
        const next: Next = this.guard(() => this.e.prove_try(choice.solver));
        const isTaken = next === Next.Step || next === Next.Same, report = this.report(), contacts = isTaken ? this.contacts() : null;
        const [count, stride, at] = first(this.numbers(this.e.prove_history(), 3), 3);
        return {
            failure: isTaken ? "" : this.message, isRecorded: next === Next.Same, isConverged: isTaken && nth(report, REPORT.converged) !== 0,
            entries: Array.from(report.subarray(0, ENTRY_NAMES.length)), penetration: nth(report, REPORT.penetration), iterations: nth(report, REPORT.iterations),
            tolerance: nth(report, REPORT.tolerance), ms: nth(report, REPORT.solverNs) / 1e6, contacts,
            history: isTaken ? Array.from(this.numbers(at, count)) : [], stride,
        };
    }
}
