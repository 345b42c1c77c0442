// SPDX-License-Identifier: MIT
// The page's side of its workers: one promise per call. What they run stands behind the page's own script, which shows
// a running world without any of it.
import type { Calls, ProverCalls } from "./messages";

interface Waiting {
    resolve(value: unknown): void;
    reject(error: Error): void;
}

// All of the page is there.
const parsed = document.readyState === "loading"
    ? new Promise<void>((resolve) => document.addEventListener("DOMContentLoaded", () => resolve(), { once: true })) : Promise.resolve();

/** Bytes that stand in the page as text, compressed by gzip. */
export async function embedded(id: string): Promise<ArrayBuffer | null> {
    await parsed;
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

// What it must have.
async function part(id: string, what: string): Promise<ArrayBuffer> {
    const bytes = await embedded(id);
    if (bytes === null) {
        throw new Error(`this page came without ${what}`);
    }
    return bytes;
}

type Callable<C> = { [K in keyof C]: (...parts: never[]) => unknown };

/** A worker that answers calls one by one, and begins with the first; its first message is the module that it runs. */
class Remote<C extends Callable<C>> {
    private worker: Promise<Worker> | null = null;
    private readonly waiting = new Map<number, Waiting>();
    private last = 0;

    constructor(private readonly code: () => Promise<ArrayBuffer>, private readonly module: () => Promise<ArrayBuffer>) {}

    private async begin(): Promise<Worker> {
        const [code, module] = await Promise.all([this.code(), this.module()]);
        const worker = new Worker(URL.createObjectURL(new Blob([code], { type: "text/javascript" })));
        worker.onmessage = (event) => {
            const { id, result, error } = event.data;
            const call = this.waiting.get(id);
            this.waiting.delete(id);
            if (error !== undefined) {
                call?.reject(new Error(error));
            } else {
                call?.resolve(result);
            }
        };
        worker.onerror = (event) => {
            this.waiting.forEach((call) => call.reject(new Error(`The page's worker failed: ${event.message}`)));
            this.waiting.clear();
        };
        worker.postMessage(module);
        return worker;
    }

    call<K extends keyof C>(name: K, ...parts: Parameters<C[K]>): Promise<ReturnType<C[K]>> {
        const id = ++this.last;
        return new Promise((resolve, reject) => {
            this.waiting.set(id, { resolve, reject });
            this.worker ??= this.begin();
            this.worker.then((worker) => worker.postMessage({ id, call: name, parts }), reject);
        });
    }

    close(): void {
        this.worker?.then((worker) => worker.terminate(), () => undefined);
    }
}

/** Reads the file. */
export class Client extends Remote<Calls> {
    constructor() {
        super(() => part("reader", "what reads files"), () => part("sqlite3-wasm", "SQLite"));
    }
}

const proverCode = () => part("prover", "what steps again");

/** Steps an episode again. */
export class ProverClient extends Remote<ProverCalls> {
    constructor(dynamics: ArrayBuffer) {
        super(proverCode, () => Promise.resolve(dynamics));
    }
}

/** The dynamics that the page brought along, if it did, and their version. */
export interface Brought {
    dynamics: ArrayBuffer | null;
    version: number;
}

export async function bring(): Promise<Brought> {
    const dynamics = await embedded("moreau-proof-wasm");
    if (dynamics === null) {
        return { dynamics, version: 0 };
    }
    const client = new ProverClient(dynamics);
    try {
        return { dynamics, version: await client.call("version") };
    } finally {
        client.close();
    }
}
