// SPDX-License-Identifier: MIT
// Takes the pictures of the viewer that the READMEs show: tests/web.sh --pictures records what is in them.
//
//   node pictures.mjs FOLDER OUT_FOLDER
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";

const BYTES_MAX = 60_000; // of a picture
const QUALITY = 0.76;
const [folder, out] = process.argv.slice(2);
const viewer = join(dirname(fileURLToPath(import.meta.url)), "../page/moreau-viewer.html");
const browser = await chromium.launch({
    executablePath: "/usr/bin/chromium",
    args: ["--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--ignore-gpu-blocklist"],
});

// what is picked: a body by name, or the contact of the step with the largest number of the table's column
const pictures = [
    { name: "falling", step: 95, tab: "plots", zoom: 1.15 },
    { name: "stack", step: 80, tab: "again", zoom: 1.0, contact: 0 },
    { name: "heap", step: 115, tab: "contacts", zoom: 1.25, contact: 1, hidesWalls: true },
    { name: "slides", step: 60, tab: "contacts", zoom: 1.7, contact: 4 },
    { name: "humanoid", step: 130, tab: "body", zoom: 1.5, theme: "dark", body: "chest" },
];

async function take({ name, step, tab, zoom, theme = "light", contact = -1, body = "", hidesWalls = false }) {
    const context = await browser.newContext({ viewport: { width: 1040, height: 650 }, colorScheme: theme });
    const page = await context.newPage();
    await page.goto(`file://${viewer}#episode=${name}&tab=${tab}`);
    await page.waitForFunction(() => window.moreau !== undefined);
    await page.setInputFiles("#file", join(folder, "pictures.db"));
    await page.waitForFunction(() => window.moreau.facts().isReadWhole);
    await page.evaluate((s) => window.moreau.seek(s), step);
    await page.waitForFunction((s) => window.moreau.facts().step === s && window.moreau.facts().isShown, step);
    if (hidesWalls) { // planes that stand upright
        await page.evaluate(() => {
            const { moreau } = window;
            for (const body of moreau.episode.bodies.values()) {
                const [w, x, y, z] = body.orientation, up = w * w - x * x - y * y + z * z;
                if (body.shapes.some((shape) => shape.kind === "plane") && up < 0.9) {
                    moreau.toggleHidden(body.id);
                }
            }
        });
    }
    await page.evaluate((z) => { // as after the key 0, and nearer
        window.moreau.home();
        const at = window.moreau.moment().camera;
        window.moreau.stage.place([...at.slice(0, 3).map((v, k) => at[3 + k] + (v - at[3 + k]) / z), ...at.slice(3)]);
    }, zoom);
    if (contact >= 0) {
        await page.evaluate((i) => window.moreau.pickContact(i), contact);
        await page.evaluate((t) => window.moreau.showTab(t), tab);
    }
    if (body !== "") {
        await page.evaluate((n) => window.moreau.pickBody([...window.moreau.episode.bodies.values()].find((b) => b.name === n)?.id ?? 0), body);
    }
    if (tab === "again") {
        await page.waitForFunction(() => document.querySelector("#again-solve")?.textContent === "solve again");
    }
    await page.evaluate(() => window.moreau.prover.prove());
    await page.waitForFunction(() => document.querySelector("#badge").textContent === "proven against the file itself");
    await page.waitForTimeout(500);
    const png = (await page.screenshot()).toString("base64");
    const webp = await page.evaluate(async ([data, quality]) => {
        const image = await createImageBitmap(await (await fetch(`data:image/png;base64,${data}`)).blob());
        const canvas = new OffscreenCanvas(image.width, image.height);
        canvas.getContext("2d").drawImage(image, 0, 0);
        const bytes = new Uint8Array(await (await canvas.convertToBlob({ type: "image/webp", quality })).arrayBuffer());
        return Array.from(bytes);
    }, [png, QUALITY]);
    if (process.env.MOREAU_SHOTS) {
        writeFileSync(join(process.env.MOREAU_SHOTS, `${name}.png`), Buffer.from(png, "base64"));
    }
    writeFileSync(join(out, `${name}.webp`), Buffer.from(webp));
    console.log(`${name}.webp: ${(webp.length / 1000).toFixed(1)} kB`);
    await context.close();
    return webp.length;
}

mkdirSync(out, { recursive: true });
let largest = 0;
for (const picture of pictures) {
    largest = Math.max(largest, await take(picture));
}
await browser.close();
if (largest > BYTES_MAX) {
    console.error(`A picture is to have at most ${BYTES_MAX / 1000} kB.`);
    process.exit(1);
}
