// SPDX-License-Identifier: MIT
// The page's side of its worker: one promise per call.
import proverCode from "virtual:prover";
import workerCode from "virtual:worker";
import type { Calls, ProverCalls } from "./messages";

interface Waiting {
    resolve(value: unknown): void;
    reject(error: Error): void;
}

/** Bytes that stand in the page as text, compressed by gzip. */
export async function embedded(id: string): Promise<ArrayBuffer | null> {
    const text = document.getElementById(id)?.textContent?.trim();
    if (!text) {
        return null;
    }
    const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
    if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) {
        return bytes.buffer;
    }
    return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).arrayBuffer();
}

type Callable<C> = { [K in keyof C]: (...parts: never[]) => unknown };

/** A worker that answers calls one by one; its first message is the code that it runs. */
class Remote<C extends Callable<C>> {
    private readonly worker: Worker;
    private readonly waiting = new Map<number, Waiting>();
    private last = 0;

    constructor(code: string, module: ArrayBuffer) {
        this.worker = new Worker(URL.createObjectURL(new Blob([code], { type: "text/javascript" })));
        this.worker.onmessage = (event) => {
            const { id, result, error } = event.data;
            const call = this.waiting.get(id);
            this.waiting.delete(id);
            if (error !== undefined) {
                call?.reject(new Error(error));
            } else {
                call?.resolve(result);
            }
        };
        this.worker.onerror = (event) => {
            this.waiting.forEach((call) => call.reject(new Error(`The page's worker failed: ${event.message}`)));
            this.waiting.clear();
        };
        this.worker.postMessage(module);
    }

    call<K extends keyof C>(name: K, ...parts: Parameters<C[K]>): Promise<ReturnType<C[K]>> {
        const id = ++this.last;
        return new Promise((resolve, reject) => {
            this.waiting.set(id, { resolve, reject });
            this.worker.postMessage({ id, call: name, parts });
        });
    }

    close(): void {
        this.worker.terminate();
    }
}

/** Reads the file. */
export class Client extends Remote<Calls> {
    constructor(sqlite: ArrayBuffer) {
        super(workerCode, sqlite);
    }
}

/** Steps an episode again. */
export class ProverClient extends Remote<ProverCalls> {
    constructor(dynamics: ArrayBuffer) {
        super(proverCode, dynamics);
    }
}
