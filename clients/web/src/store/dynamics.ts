// SPDX-License-Identifier: MIT
// The server's dynamics, compiled to WebAssembly, with the functions of clients/web/prove.h: one world per instance.
import type { Contacts, Frame } from "../log/frames";

interface Exports {
    memory: WebAssembly.Memory;
    _initialize(): void;
    prove_version(): number;
    prove_buffer(count: number): number;
    prove_keyframe(count: number): number;
    prove_inputs(count: number): number;
    prove_compare(count: number): number;
    prove_next(): number;
    prove_step(): number;
    prove_message(): number;
    prove_report(): number;
    prove_frame(): number;
    prove_contacts(): number;
}

export enum Next { Failed = -1, End = 0, Step = 1, Fault = 2 }

export const ENTRY_NAMES = ["e_mom", "e_pen", "e_comp", "e_cone", "e_mdp", "e_DS", "e_own", "e_row"];
export const OWN = 6; // among them
export const REPORT_COUNT = 18;
export const REPORT = { converged: 8, penetration: 9, contacts: 10, worstContact: 17 };

export class Dynamics {
    private readonly e: Exports;
    private said = "";

    constructor(module: WebAssembly.Module) {
        // nothing of a system: what an assertion prints before it traps is kept as the reason
        const wasi = {
            fd_close: () => 0, fd_seek: () => 70,
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

    get message(): string {
        const bytes = new Uint8Array(this.e.memory.buffer, this.e.prove_message());
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

    keyframe(chunk: ArrayBuffer): void { this.give(chunk, (n) => this.e.prove_keyframe(n)); }
    inputs(chunk: ArrayBuffer): void { this.give(chunk, (n) => this.e.prove_inputs(n)); }
    compare(chunk: ArrayBuffer): void { this.give(chunk, (n) => this.e.prove_compare(n)); }
    next(): Next { return this.guard(() => this.e.prove_next()); }

    report(): Float64Array {
        return new Float64Array(this.e.memory.buffer, this.e.prove_report(), REPORT_COUNT);
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
        const [n, ids, pose, velocity, time, p, q, ...joints] = new Uint32Array(this.e.memory.buffer, at, 12);
        const [jointPosition, jointVelocity, ...orders] = joints.map((column, k) => this.numbers(column, k === 0 ? p : q));
        return {
            step: this.step, worldStep: 0, time: this.numbers(time, 1)[0], ids: this.ids(ids, n), pose: this.numbers(pose, 7 * n),
            velocity: this.numbers(velocity, 6 * n), jointPosition, jointVelocity, jointOrders: Float64Array.from(orders.flatMap((o) => [...o])),
        };
    }

    contacts(): Contacts | null {
        const at = this.e.prove_contacts();
        if (at === 0) {
            return null;
        }
        const [c, a, b, feature, point, frame, gap, impulse, velocity, friction] = new Uint32Array(this.e.memory.buffer, at, 10);
        return {
            step: this.step, count: c, bodyA: this.ids(a, c), bodyB: this.ids(b, c),
            feature: Array.from(new BigUint64Array(this.e.memory.buffer, feature, c)), point: this.numbers(point, 3 * c), frame: this.numbers(frame, 9 * c),
            gap: this.numbers(gap, c), impulse: this.numbers(impulse, 3 * c), velocity: this.numbers(velocity, 3 * c), friction: this.numbers(friction, c),
        };
    }
}
