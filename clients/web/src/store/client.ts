// SPDX-License-Identifier: MIT
// The page's side of its worker: one promise per call.
import workerCode from "virtual:worker";
import type { Calls } from "./messages";

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

export class Client {
    private readonly worker: Worker;
    private readonly waiting = new Map<number, Waiting>();
    private last = 0;

    constructor(sqlite: ArrayBuffer) {
        this.worker = new Worker(URL.createObjectURL(new Blob([workerCode], { type: "text/javascript" })));
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
        this.worker.postMessage(sqlite);
    }

    call<K extends keyof Calls>(name: K, ...parts: Parameters<Calls[K]>): Promise<ReturnType<Calls[K]>> {
        const id = ++this.last;
        return new Promise((resolve, reject) => {
            this.waiting.set(id, { resolve: resolve as (value: unknown) => void, reject });
            this.worker.postMessage({ id, call: name, parts });
        });
    }

    close(): void {
        this.worker.terminate();
    }
}
