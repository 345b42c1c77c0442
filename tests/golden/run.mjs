// SPDX-License-Identifier: MIT
// Runs a WebAssembly program under node's own WASI, as a command of the shell: what it prints, its
// exit code, the environment, and the files below the current folder.
//
//   node tests/golden/run.mjs PROGRAM [ARGUMENT ...]
import { readFile } from "node:fs/promises";
import { argv, env, exit, stderr } from "node:process";

process.removeAllListeners("warning"); // that WASI is an experimental feature, on every run
const { WASI } = await import("node:wasi");

if (argv.length < 3) {
    stderr.write("usage: node tests/golden/run.mjs PROGRAM [ARGUMENT ...]\n");
    exit(2);
}
const wasi = new WASI({
    version: "preview1",
    args: argv.slice(2),
    env,
    preopens: { ".": "." },
    returnOnExit: true,
});
const program = await WebAssembly.compile(await readFile(argv[2]));
const instance = await WebAssembly.instantiate(program, {
    wasi_snapshot_preview1: wasi.wasiImport,
});
exit(wasi.start(instance));
