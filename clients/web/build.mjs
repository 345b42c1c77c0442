// SPDX-License-Identifier: MIT
// Builds one page with everything in it, which opens from a disk without a network.
//
//   node build.mjs MODULE PAGE     the dynamics for WebAssembly, which deploy/web makes; the file to write
import { execFileSync } from "node:child_process";
import { gzipSync } from "node:zlib";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "vite";

const [module, page] = process.argv.slice(2);
const here = dirname(fileURLToPath(import.meta.url));
const PAGE_GZIP_BYTES_MAX = 1_100_000; // a page that comes in a second over 10 Mbit/s

// one script in one piece; `plugins` see what it is made of
async function bundle(entry, name, plugins) {
    const result = await build({
        root: here, configFile: false, logLevel: "warn", plugins,
        resolve: { alias: [{ find: /^three$/, replacement: join(here, "node_modules/three/src/Three.js") }] }, // file by file, for withoutShaders
        // the package looks for its code beside its script; it is handed over instead
        define: { "import.meta.url": "self.location.href", "process.env.NODE_ENV": '"production"' },
        build: {
            write: false, minify: "esbuild", target: "es2022", cssCodeSplit: false, assetsInlineLimit: 0, reportCompressedSize: false,
            lib: { entry: join(here, entry), formats: ["iife"], name, fileName: name, cssFileName: name },
        },
    });
    const [{ output }] = Array.isArray(result) ? result : [result];
    const script = output.find((o) => o.type === "chunk").code;
    const style = output.filter((o) => o.fileName.endsWith(".css")).map((o) => o.source).join("");
    return { script, style };
}

// SQLite's storage in the browser's own file system, its key-value storage and its second worker are of no use here,
// and a quarter of its script
const withoutAssets = {
    name: "without-assets",
    enforce: "pre",
    transform(code, id) {
        return id.includes("sqlite-wasm") ? code.replace(/new URL\("[^"]*", import\.meta\.url\)/g, '""') : null;
    },
};

// Every shader of the page is its own (src/view): of three's, a fifth of its script, it needs what ends them.
const SHADERS_KEPT = /colorspace_(pars_)?fragment/;
const withoutShaders = {
    name: "without-shaders",
    transform(code, id) {
        return /three\/src\/renderers\/shaders\/Shader(Chunk|Lib)\/.*\.glsl\.js$/.test(id) && !SHADERS_KEPT.test(id)
            ? code.replace(/`[^`]*`/g, '""') : null;
    },
};

const inScript = (code) => code.replace(/<\/script/gi, "<\\/script").replace(/<!--/g, "<\\!--");
// as gzip does it, and smaller by a twentieth
const zopfli = (file) => execFileSync("zopfli", ["-c", file], { maxBuffer: 1 << 30 }).toString("base64");
const data = (id, file) => `<script type="application/octet-stream;base64" id="${id}">${zopfli(file)}</script>`;
const folder = mkdtempSync(join(tmpdir(), "moreau-page-"));
function code(id, { script }) {
    const file = join(folder, id);
    writeFileSync(file, script);
    return data(id, file);
}

const worker = await bundle("src/store/worker.ts", "worker", [withoutAssets]);
const prover = await bundle("src/store/prover.ts", "prover", []);
const main = await bundle("src/main.ts", "viewer", [withoutShaders]);
const sqlite = join(here, "node_modules/@sqlite.org/sqlite-wasm/dist/sqlite3.wasm");
const parts = [code("reader", worker), data("sqlite3-wasm", sqlite), code("prover", prover), data("moreau-proof-wasm", module)];
rmSync(folder, { recursive: true });
const text = readFileSync(join(here, "src/page.html"), "utf8")
    .replace("/* style */", () => main.style)
    .replace("<!-- data -->", () => parts.join("\n"))
    .replace("/* script */", () => inScript(main.script));
writeFileSync(page, text);

const size = gzipSync(text, { level: 9 }).length;
const kb = (bytes) => `${Math.round(bytes / 1000)} kB`;
console.log(`${page}: ${kb(text.length)}, ${kb(size)} by gzip -9 (worker ${kb(worker.script.length)}, script ${kb(main.script.length)})`);
if (size >= PAGE_GZIP_BYTES_MAX) {
    console.error(`The page is to stay below ${kb(PAGE_GZIP_BYTES_MAX)}.`);
    process.exit(1);
}
