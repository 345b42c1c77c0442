// SPDX-License-Identifier: MIT
// Signed recordings, forged by somebody who knows the format, as the page judges them: its own worker, in plain node.
// It comes to what the server comes to (server/replay/verify/signed.c), of each episode of each file: who signed it,
// and up to which step; without a key, too, and with another one.
//
//   MOREAU_FORGERIES=FOLDER build/release/tests/system-check_signed_forged     writes them, and what was judged there
//   node tests/forgeries.mjs FOLDER
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { gunzipSync } from "node:zlib";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url)), web = join(here, "..");
const FORGED_MIN = 200; // files

/** The page's worker, which asks what a browser gives: a function that calls it. */
async function startWorker(folder) {
    const file = join(folder, "worker.cjs");
    await build({
        entryPoints: [join(web, "src/store/worker.ts")], bundle: true, platform: "browser", format: "cjs", outfile: file, logLevel: "error",
        define: { "import.meta.url": "self.location.href" },
    });
    const waiting = new Map();
    const self = Object.assign(globalThis, {
        self: globalThis, location: { href: "file:///worker.js" }, WorkerGlobalScope: class {}, importScripts: () => undefined,
        postMessage: ({ id, result, error }) => {
            const call = waiting.get(id);
            waiting.delete(id);
            return error === undefined ? call.resolve(result) : call.reject(new Error(error));
        },
    });
    createRequire(import.meta.url)(file);
    const send = (data) => self.onmessage({ data });
    const wasm = readFileSync(join(web, "node_modules/@sqlite.org/sqlite-wasm/dist/sqlite3.wasm"));
    send(wasm.buffer.slice(wasm.byteOffset, wasm.byteOffset + wasm.length));
    let last = 0;
    return (call, ...parts) => new Promise((resolve, reject) => {
        waiting.set(++last, { resolve, reject });
        send({ id: last, call, parts });
    });
}

async function judge(call, uid, key) {
    for (let begins = true; ; begins = false) {
        const { result } = await call("signed", uid, key, begins);
        if (result !== null) {
            return result;
        }
    }
}

const bytesOf = (digits) => Uint8Array.from(digits.match(/../g), (pair) => parseInt(pair, 16));

async function judgeAll(folder, call) {
    const seen = { files: new Set(), genuine: new Set(), episodes: 0, unreadable: 0 };
    let opened = "";
    for (const line of readFileSync(join(folder, "verdicts"), "utf8").trim().split("\n")) {
        const [file, key, uid, by, step] = line.split(" "), what = `${file}, episode ${uid}`;
        if (file !== opened) {
            const bytes = gunzipSync(readFileSync(join(folder, file)));
            await call("open", bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length), null);
            opened = file;
        }
        const isOpen = await call("episode", uid).then(() => true, (error) => {
            assert.match(error.message, /no sound definition/, what);
            return false;
        });
        if (!isOpen) {
            seen.unreadable++; // nothing is shown of it, nor said
            continue;
        }
        const found = await judge(call, uid, bytesOf(key));
        assert.deepEqual([found.by, found.step], [by, Number(step)], what);
        if (!seen.files.has(file)) {
            const other = await judge(call, uid, bytesOf(key).reverse()), unasked = await judge(call, uid, null);
            assert.ok(other.by === "another" || other.by === "nobody", `${what}: ${other.by} for a key that signed nothing`);
            assert.ok(unasked.by !== "wholly" || by === "wholly", `${what}: ${unasked.by}, without a key`);
        }
        (by === "wholly" ? seen.genuine : seen.files).add(file);
        seen.episodes++;
    }
    return seen;
}

const packed = mkdtempSync(join(tmpdir(), "moreau-forgeries-"));
try {
    const begun = performance.now(), seen = await judgeAll(process.argv[2], await startWorker(packed));
    const forged = [...seen.files].length;
    assert.ok(forged >= FORGED_MIN, `${forged} forgeries of at least ${FORGED_MIN}`);
    assert.ok(seen.genuine.size >= 3, `${seen.genuine.size} files with an episode that is signed`);
    console.log(`forgeries: ${forged} files judged as the server does, ${seen.episodes} episodes (${seen.unreadable} cannot be opened), in ${((performance.now() - begun) / 1000).toFixed(1)} s`);
} finally {
    rmSync(packed, { recursive: true });
}
