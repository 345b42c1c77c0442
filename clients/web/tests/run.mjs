// SPDX-License-Identifier: MIT
// Runs the tests of what the page reads, in plain node: bundles each, then node's own test runner.
//
//   node tests/run.mjs
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "moreau-web-"));
const entryPoints = readdirSync(here).filter((name) => name.endsWith(".test.ts")).map((name) => join(here, name));
await build({ entryPoints, bundle: true, platform: "node", format: "esm", outdir: folder, outExtension: { ".js": ".mjs" }, logLevel: "warning" });
const files = readdirSync(folder).map((name) => join(folder, name));
const { status } = spawnSync(process.execPath, ["--test", ...files], { stdio: "inherit", env: { ...process.env, MOREAU_WEB: join(here, "..") } });
rmSync(folder, { recursive: true });
process.exit(status ?? 1);
