// SPDX-License-Identifier: MIT
// Drives the built page in headless Chromium as a person would. tests/web.sh prepares the folder and says what is to be
// seen.
//
//   node browser.mjs FOLDER [--smoke|--all]     MOREAU_SHOTS=DIR keeps a picture of every part; MOREAU_ONLY=TEXT runs
//                                               what has it in its name
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { copyFileSync, readFileSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";
import { groupTests } from "./groups.mjs";

const [folder, all] = process.argv.slice(2);
const viewer = join(dirname(fileURLToPath(import.meta.url)), "../page/moreau-viewer.html");
const expected = JSON.parse(readFileSync(join(folder, "expected.json"), "utf8"));
const log = join(folder, "log.db");
const LIE_STEP = 77; // as tests/web.sh has it
// there is no graphics processor where tests run
const browser = await chromium.launch({
    executablePath: "/usr/bin/chromium",
    args: ["--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--ignore-gpu-blocklist"],
});

async function open(file, hash = "", path = viewer) {
    const context = await browser.newContext({ viewport: { width: 1300, height: 820 } });
    await context.setOffline(true); // nothing of it may need a network
    const page = await context.newPage();
    page.problems = [];
    page.on("pageerror", (error) => page.problems.push(error.stack));
    page.on("console", (message) => message.type() === "error" && page.problems.push(message.text()));
    await page.goto(`file://${path}${hash}`);
    await page.waitForFunction(() => window.moreau !== undefined);
    if (file !== null) {
        await page.setInputFiles("#file", file);
    }
    return page;
}

async function close(page) {
    assert.deepEqual(page.problems, []);
    await page.context().close();
}

const shot = async (page, name) => process.env.MOREAU_SHOTS && page.screenshot({ path: join(process.env.MOREAU_SHOTS, `${name}.png`) });
const facts = (page) => page.evaluate(() => window.moreau.facts());
const text = (page, selector) => page.locator(selector).first().textContent();
const atStep = (page, step) => page.waitForFunction((s) => window.moreau.facts().step === s && window.moreau.facts().isShown, step);

async function choose(page, name) {
    const value = await page.locator("#episodes option", { hasText: new RegExp(` ${name} ·`) }).getAttribute("value");
    await page.selectOption("#episodes", value);
    await page.waitForFunction((uid) => window.moreau.facts().episode === uid && window.moreau.facts().isReadWhole, value);
    return value;
}

// a number as shown, against the file's own: as many digits as the page shows
function near(shown, value, digits) {
    assert.ok(Math.abs(shown - value) <= Math.abs(value) * 10 ** (1 - digits) + 1e-300, `${shown} is shown instead of ${value}`);
}

const tests = {
    async "lists the episodes that the server recorded"() {
        const page = await open(log);
        await page.waitForSelector("#main:not([hidden])");
        const shown = await page.locator("#episodes option").allTextContents();
        assert.deepEqual(shown.map((t) => t.split(" ")[1]), expected.episodes);
        await close(page);
    },

    async "shows the numbers of the file at the step that is scrubbed to"() {
        const page = await open(log);
        await choose(page, "slides");
        await page.locator("#stage").waitFor();
        const box = await page.locator("#timeline").boundingBox();
        await page.mouse.move(box.x + box.width * 0.1, box.y + 28);
        await page.mouse.down();
        await page.mouse.move(box.x + box.width * 0.3, box.y + 28, { steps: 4 });
        await page.mouse.move(box.x + (box.width * expected.step) / expected.last_step, box.y + 28, { steps: 4 });
        await page.mouse.up();
        await atStep(page, expected.step);
        assert.equal(await page.inputValue("#step"), String(expected.step));
        assert.match(await text(page, "#stage-text"), new RegExp(`step ${expected.step} of ${expected.last_step}`));
        await page.click('[data-tab="body"]');
        for (const [id, pose] of Object.entries(expected.bodies)) {
            await page.click(`tr[data-body="${id}"] td:first-child`);
            const position = (await text(page, '[data-fact="position"]')).replace(" m", "").split(", ").map(Number);
            const turn = (await text(page, '[data-fact="orientation"]')).split(", ").map(Number);
            [...position, ...turn].forEach((value, k) => near(value, pose[k], 6));
        }
        await shot(page, "bodies");
        await close(page);
    },

    async "picks the body that is clicked on"() {
        const page = await open(log);
        await choose(page, "slides");
        await page.uncheck("#show-contacts"); // contacts lie over bodies
        await page.fill("#step", "60");
        await page.press("#step", "Enter");
        await atStep(page, 60);
        const moving = Object.keys(expected.bodies).map(Number).slice(1);
        for (const id of moving) {
            const at = await page.evaluate((body) => window.moreau.screenOf(body), id);
            await page.mouse.click(at.x, at.y);
            await page.waitForFunction((body) => document.querySelector('#tab-body [data-fact="id"]')?.textContent === String(body), id);
        }
        await page.keyboard.press("h");
        assert.equal(await page.evaluate(() => window.moreau.hidden.size), 1);
        const gone = await page.evaluate((body) => window.moreau.screenOf(body), moving.at(-1));
        await page.mouse.click(gone.x, gone.y);
        await page.waitForFunction((body) => window.moreau.selected !== body, moving.at(-1));
        await close(page);
    },

    async "what lies on the ground darkens it around itself, and nowhere else"() {
        const page = await open(log);
        await choose(page, "slides");
        await page.uncheck("#show-contacts");
        const lights = () => page.evaluate(async () => {
            await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
            const { moreau } = window, view = document.querySelector("#view"), box = view.getBoundingClientRect();
            const body = [...moreau.episode.bodies.values()].find(({ name }) => name === "stays"), o = 7 * moreau.frame.ids.indexOf(body.id);
            const [x, y, z, w, a, b, c] = moreau.frame.pose.subarray(o, o + 7), [hx, hy, hz] = body.shapes[0].size;
            const light = (px, py, pz) => { // of a point of the cube's frame
                const [tx, ty, tz] = [2 * (b * pz - c * py), 2 * (c * px - a * pz), 2 * (a * py - b * px)];
                const at = moreau.stage.screenOf([x + px + w * tx + b * tz - c * ty, y + py + w * ty + c * tx - a * tz, z + pz + w * tz + a * ty - b * tx], 0);
                const pixel = new OffscreenCanvas(1, 1).getContext("2d"), scale = view.width / box.width;
                pixel.drawImage(view, (at.x - box.left) * scale, (at.y - box.top) * scale, 1, 1, 0, 0, 1, 1);
                return pixel.getImageData(0, 0, 1, 1).data[1];
            };
            return { near: light(0, -hy - 0.02, -hz), far: light(hx, -hy - 0.4, -hz) };
        });
        const shown = await lights();
        await page.evaluate(() => window.moreau.toggleHidden([...window.moreau.episode.bodies.values()].find(({ name }) => name === "stays").id));
        const hidden = await lights();
        assert.ok(shown.near < 0.9 * hidden.near, `${shown.near} beside the cube, ${hidden.near} without it`);
        assert.equal(shown.far, hidden.far);
        await close(page);
    },

    async "shows every contact with the numbers of the file"() {
        const page = await open(log);
        await choose(page, "slides");
        await page.evaluate((step) => window.moreau.seek(step), expected.step);
        await atStep(page, expected.step);
        await page.click('[data-tab="contacts"]');
        assert.equal(await page.locator("table.contacts tbody tr").count(), expected.contacts.length);
        const order = await page.locator("table.contacts tbody tr").evaluateAll((rows) => rows.map((r) => r.dataset.contact));
        const sorted = [...expected.contacts].sort((a, b) => b.impulse[0] - a.impulse[0]).map((c) => `${c.a}-${c.b}-${c.feature}`);
        assert.equal(order[0], sorted[0]);
        for (const one of expected.contacts) {
            await page.click(`tr[data-contact="${one.a}-${one.b}-${one.feature}"]`);
            const number = async (name) => parseFloat(await text(page, `[data-number="${name}"]`));
            const tangent = Math.hypot(one.impulse[1], one.impulse[2]);
            near(await number("λn"), one.impulse[0], 4);
            near(await number("|λt|"), tangent, 4);
            near(await number("μ"), one.friction, 4);
            near(await number("|λt| / μλn"), tangent / (one.friction * one.impulse[0]), 4);
            near(await number("gap"), one.gap * 1000, 4);
            near(await number("vn"), one.velocity[0], 4);
        }
        await page.waitForTimeout(200);
        await shot(page, "contacts");
        await close(page);
    },

    async "names states as Coulomb's law has them"() {
        const page = await open(log);
        await choose(page, "slides");
        await page.evaluate(() => window.moreau.seek(200));
        await atStep(page, 200);
        await page.click('[data-tab="contacts"]');
        // in scene incline one cube stays (steeper friction than slope) and one, smooth, slides
        const states = await page.locator("table.contacts tbody tr").evaluateAll((rows) => rows.map((r) => [r.children[1].textContent, r.children[0].title]));
        assert.ok(states.some(([who, what]) => who.includes("stays") && what === "stick"), "the cube that stays sticks");
        assert.ok(states.every(([who, what]) => !who.includes("stays") || what !== "slide"), "and does not slide");
        assert.ok(states.some(([who, what]) => who.includes("slides") && what === "slide"), "the smooth cube slides");
        await close(page);
    },

    async "two episodes on one clock part where the file says"() {
        const page = await open(log);
        await choose(page, "slides");
        const value = await page.locator("#second option", { hasText: " glides " }).getAttribute("value");
        await page.selectOption("#second", value);
        await page.waitForFunction(() => window.moreau.facts().firstDivergent >= 0);
        assert.equal((await facts(page)).firstDivergent, expected.differs);
        await page.waitForFunction(() => window.moreau.facts().isCompared);
        assert.equal(await page.locator(".events li", { hasText: "from glides first at step" }).getAttribute("data-step"), String(expected.differs));
        await page.evaluate(() => window.moreau.seek(200));
        await page.click('[data-tab="plots"]');
        await page.waitForTimeout(300);
        await shot(page, "two");
        // an episode beside itself does not differ
        const same = await page.locator("#second option", { hasText: " slides " }).getAttribute("value");
        await page.selectOption("#second", same);
        await page.waitForFunction(() => window.moreau.facts().isCompared);
        assert.equal((await facts(page)).firstDivergent, -1);
        await close(page);
    },

    async "two episodes of different time steps are matched by time"() {
        const page = await open(log);
        await choose(page, "slides");
        const value = await page.locator("#second option", { hasText: " Half " }).getAttribute("value");
        await page.selectOption("#second", value);
        await page.waitForFunction(() => window.moreau.facts().isCompared);
        const { steps, distance } = await page.evaluate(() => ({ steps: window.moreau.beside.steps, distance: window.moreau.beside.distance }));
        assert.deepEqual(steps, Array.from({ length: expected.last_step + 1 }, (_, i) => i)); // every step has one of the other's beside it
        assert.equal(distance[0], 0);
        assert.equal((await facts(page)).firstDivergent, 1); // what falls a step at a time is elsewhere after half a step more
        for (const step of [60, 61]) {
            await page.evaluate((s) => window.moreau.seek(s), step);
            await atStep(page, step);
            await page.waitForFunction((s) => window.moreau.second?.step === s, 2 * step);
            assert.ok(Math.abs(await page.evaluate(() => window.moreau.second.time - window.moreau.frame.time)) < 1e-9);
        }
        // and the other way round: every other step has one
        await choose(page, "Half");
        await page.selectOption("#second", await page.locator("#second option", { hasText: " slides " }).getAttribute("value"));
        await page.waitForFunction(() => window.moreau.facts().isCompared);
        assert.deepEqual(await page.evaluate(() => window.moreau.beside.steps), steps.map((step) => 2 * step));
        await close(page);
    },

    async "what moreau compare made of an episode's end stands beside its end"() {
        const page = await open(log);
        const first = await page.locator("#episodes option", { hasText: / parts ·/ }).getAttribute("value");
        await page.selectOption("#episodes", first);
        await page.waitForFunction((uid) => window.moreau.facts().episode === uid && window.moreau.facts().isReadWhole, first);
        await page.selectOption("#second", await page.locator("#second option", { hasText: " parts-sap " }).getAttribute("value"));
        await page.waitForFunction(() => window.moreau.facts().isCompared);
        const { steps, distance } = await page.evaluate(() => ({ steps: window.moreau.beside.steps, distance: window.moreau.beside.distance }));
        assert.deepEqual(steps, Array.from({ length: 81 }, (_, i) => 120 + i));
        assert.equal(distance[0], 0);
        assert.ok(distance.at(-1) > 0);
        assert.equal((await facts(page)).firstDivergent, 121);
        await page.evaluate(() => window.moreau.seek(60));
        await atStep(page, 60);
        await page.waitForFunction(() => window.moreau.second === null); // it had not begun
        await page.evaluate(() => window.moreau.seek(150));
        await page.waitForFunction(() => window.moreau.second?.step === 30);
        await close(page);
    },

    async "plays forward and backward"() {
        const page = await open(log);
        await choose(page, "slides");
        await page.evaluate(() => window.moreau.seek(100));
        await atStep(page, 100);
        await page.evaluate(() => {
            const { moreau } = window, seek = moreau.seek.bind(moreau);
            moreau.setSpeed(0.1); // so slow that it has several pictures on a busy machine, too
            window.seen = [];
            moreau.seek = (step) => (window.seen.push(step), seek(step));
        });
        await page.keyboard.press("r");
        await page.waitForFunction(() => window.moreau.facts().step === 0 && window.moreau.playing === 0);
        const back = await page.evaluate(() => window.seen.splice(0));
        assert.ok(back.length > 2 && back.every((step, i) => i === 0 || step < back[i - 1]), `each step before the one before it: ${back}`);
        await page.keyboard.press(" ");
        await page.waitForFunction((last) => window.moreau.facts().step === last && window.moreau.playing === 0, expected.last_step);
        const on = await page.evaluate(() => window.seen);
        assert.ok(on.length > 2 && on.every((step, i) => i === 0 || step > on[i - 1]), `each step behind the one before it: ${on}`);
        await close(page);
    },

    async "a link leads to the same moment"() {
        const page = await open(log);
        const uid = await choose(page, "slides");
        await page.evaluate((step) => window.moreau.seek(step), expected.step);
        await atStep(page, expected.step);
        await page.click('[data-tab="contacts"]');
        await page.click("table.contacts tbody tr:nth-child(2)");
        const box = await page.locator("#view").boundingBox();
        await page.mouse.move(box.x + 200, box.y + 200);
        await page.mouse.down();
        await page.mouse.move(box.x + 320, box.y + 240, { steps: 5 });
        await page.mouse.up();
        await page.waitForTimeout(600);
        const before = await page.evaluate(() => window.moreau.moment());
        const hash = new URL(page.url()).hash;
        await close(page);
        const other = await open(null, hash);
        assert.match(await text(other, "#notes"), new RegExp(`link is to episode ${uid.slice(0, 8)}`));
        await other.setInputFiles("#file", log);
        await atStep(other, expected.step);
        await other.waitForFunction(() => window.moreau.facts().isReadWhole);
        const after = await other.evaluate(() => window.moreau.moment());
        after.camera.forEach((v, k) => assert.ok(Math.abs(v - before.camera[k]) < 1e-4 * Math.max(1, Math.abs(v)), "the camera is where it was"));
        assert.deepEqual({ ...after, camera: [] }, { ...before, camera: [] });
        await close(other);
        const named = await open(log, "#episode=Half&step=3"); // capitals and all
        await atStep(named, 3);
        assert.match(await named.locator("#episodes option:checked").textContent(), / Half /);
        await close(named);
    },

    async "checks every chunk and never says proven of what was not"() {
        const page = await open(log);
        await choose(page, "slides");
        assert.equal(await text(page, "#badge"), "not proven");
        await page.click("#check");
        await page.waitForFunction(() => /All \d+ chunks are as they were sealed/.test(document.querySelector("#proof").textContent));
        assert.equal(await text(page, "#badge"), "not proven");
        await close(page);
    },

    async "proves an episode by stepping it again"() {
        const page = await open(log);
        await choose(page, "slides");
        await page.click("#prove");
        await page.waitForFunction(() => document.querySelector("#badge").textContent === "proven against the file itself");
        assert.match(await text(page, "#proof"), new RegExp(`Proven against the file itself: ${expected.last_step} steps were taken again`));
        await page.click("#worst"); // now every step has its certificate
        await page.waitForFunction(() => window.moreau.facts().step > 0 && document.querySelector("#stage-text").textContent.includes("proven"));
        await shot(page, "proven");
        await close(page);
    },

    async "says who signed a recording, once it is told whose signatures are wanted"() {
        const signed = (page, sentence) => page.waitForFunction((s) => new RegExp(s).test(document.querySelector("#signed")?.textContent), sentence);
        const prove = async (page, badge) => {
            await page.click("#prove");
            await page.waitForFunction((said) => document.querySelector("#badge").textContent === said, badge);
        };
        const keyOf = (owner) => Buffer.from(readFileSync(join(folder, owner, "seal.pub"), "utf8").split("\n")[1], "base64").subarray(-32).toString("hex");
        const key = { mine: keyOf("mine"), other: keyOf("other") };
        const page = await open(join(folder, "signed.db"));
        await choose(page, "sealed");
        await signed(page, "^It holds \\d+ signatures, which nobody has checked here");
        await prove(page, "proven against the file itself");
        await page.click("#look-signed");
        await signed(page, `^Signed from its beginning to its end, step 200, by ${key.mine}, which was compared with no key that you gave`);
        assert.equal(await text(page, "#badge"), "proven against the file itself");
        await page.fill("#seal-key", key.other);
        await page.press("#seal-key", "Enter");
        await signed(page, `^Signed by another \\(${key.mine}\\), and not by the key ${key.other}`);
        assert.equal(await text(page, "#badge"), "proven against the file itself, not signed by the key given");
        await page.setInputFiles("#file", join(folder, "mine/seal.pub"));
        await signed(page, `^Signed from its beginning to its end, step 200, by ${key.mine}, the key that you gave`);
        assert.equal(await text(page, "#badge"), `proven, and signed by ${key.mine.slice(0, 8)}`);
        assert.match(await text(page, "#proof"), new RegExp(`^Proven, and signed by ${key.mine.slice(0, 8)}: 200 steps`));
        await shot(page, "signed");
        await page.fill("#seal-key", "seal.pub");
        await page.press("#seal-key", "Enter");
        assert.match(await page.locator("#seal-key").evaluate((input) => input.validationMessage), /is no public Ed25519 key/);
        await page.setInputFiles("#file", join(folder, "resealed.db")); // whose key is still wanted
        await signed(page, "^Unsigned by .* What it has of signatures is of other bytes");
        await prove(page, "proven against the file itself, not signed by the key given");
        await page.setInputFiles("#file", log);
        await signed(page, "^Unsigned by ");
        await close(page);
        const merged = await open(join(folder, "merged.db")); // of two servers, each with its key
        await choose(merged, "sealed");
        await merged.setInputFiles("#file", join(folder, "mine/seal.pub"));
        await signed(merged, `^Signed from its beginning to its end, step 200, by ${key.mine}, the key that you gave`);
        await choose(merged, "theirs");
        await signed(merged, `^Signed by another \\(${key.other}\\), and not by the key ${key.mine}`);
        await prove(merged, "proven against the file itself, not signed by the key given");
        await merged.setInputFiles("#file", join(folder, "other/seal.pub"));
        await signed(merged, `^Signed from its beginning to its end, step 90, by ${key.other}, the key that you gave`);
        await merged.waitForFunction((said) => document.querySelector("#badge").textContent === said, `proven, and signed by ${key.other.slice(0, 8)}`);
        await choose(merged, "sealed");
        await signed(merged, `^Signed by another \\(${key.mine}\\), and not by the key ${key.other}`);
        await close(merged);
        const exported = await open(null, "", join(folder, "sealed.html"));
        await signed(exported, `^Signed from its beginning to its end, step 200, by ${key.mine}, the key that came with this page: whoever made the page chose it`);
        await prove(exported, `proven, and signed by ${key.mine.slice(0, 8)}, a key that this page brought`);
        await close(exported);
    },

    async "shows what a recording of inputs did not store"() {
        const page = await open(log);
        await choose(page, "inputs");
        await page.evaluate(() => window.moreau.seek(40));
        await atStep(page, 40);
        assert.match(await text(page, "#stage-text"), /stepped again by this page/);
        assert.equal(await text(page, "#badge"), "not proven");
        await page.click('[data-tab="contacts"]');
        assert.equal(await page.locator("table.contacts tbody tr").count(), 40); // ten boxes, four corners each
        await page.keyboard.press("ArrowLeft");
        await atStep(page, 39);
        await close(page);
    },

    async "solves a step again under the other solvers"() {
        const page = await open(log);
        await choose(page, "slides");
        await page.evaluate((step) => window.moreau.seek(step), expected.step);
        await atStep(page, expected.step);
        await page.click('[data-tab="again"]');
        const done = () => page.waitForFunction(() => document.querySelector("#again-solve")?.textContent === "solve again" && document.querySelectorAll("table.trials thead th").length > 0);
        await done();
        const row = (name) => page.locator(`[data-result="${name}"] td`).allTextContents();
        const names = await page.locator("#tab-again table.trials >> nth=0 >> th").allTextContents();
        assert.deepEqual([...names.slice(1)].sort(), ["ccp", "compliant", "lcp", "mdp", "sap"]);
        assert.equal(names[1], "mdp"); // the one that it was recorded with comes first, and comes to the same bits
        assert.deepEqual((await row("recorded")).slice(1), ["the same", "another", "another", "another", "another"]);
        assert.deepEqual((await row("converged")).slice(1), ["yes", "yes", "yes", "yes", "yes"]);
        const table = await page.locator("#again-contacts tbody tr").evaluateAll((rows) => rows.map((r) => [r.dataset.contact, r.children[0].textContent, ...[...r.children].slice(1).map((c) => [parseFloat(c.firstChild.textContent) || 0, parseFloat(c.children[0].textContent) || 0])]));
        for (const one of expected.contacts) {
            const [, , [normal, tangent]] = table.find(([key]) => key === `${one.a}-${one.b}-${one.feature}`);
            near(normal, one.impulse[0], 3);
            near(tangent, Math.hypot(one.impulse[1], one.impulse[2]), 3);
        }
        // whoever solves it, the corners of a cube that lies on a slope bear it together: three digits are shown of
        // each
        const bear = (solver, k) => table.filter(([, who]) => who.includes("stays")).reduce((sum, r) => sum + r[2 + solver][k], 0);
        for (let solver = 1; solver < 5; solver++) {
            assert.ok(Math.abs(bear(solver, 0) / bear(0, 0) - 1) < 0.02, `${names[1 + solver]} bears ${bear(solver, 0)} instead of ${bear(0, 0)}`);
        }
        // a parameter that the solver refuses is named; one that it takes changes what comes out
        await page.click('[data-way="sap"] summary');
        await page.fill('[data-way="sap"] [data-parameter="max_iterations"]', "0");
        await page.click("#again-solve");
        await page.waitForFunction(() => /sap: max_iterations must be a whole number between 1/.test(document.querySelector("#tab-again").textContent));
        await page.click('[data-way="sap"] summary');
        await page.fill('[data-way="sap"] [data-parameter="max_iterations"]', "1");
        await page.click("#again-solve");
        await page.waitForFunction(() => !/must be/.test(document.querySelector("#tab-again").textContent));
        await done();
        await page.waitForTimeout(300);
        await shot(page, "again");
        await page.click("#again-contacts tbody tr:nth-child(2)");
        assert.equal(await page.locator("table.contacts tr.selected").getAttribute("data-contact"), table[1][0]);
        await close(page);
    },

    async "what moreau compare made of an episode of a group stands beside it"() {
        const { limit, episode } = JSON.parse(readFileSync(join(folder, "group.json"), "utf8"));
        const { runs: [, run], substeps } = JSON.parse(readFileSync(join(folder, "pushed.json"), "utf8"));
        const page = await open(join(folder, "pushed.db"), `#episode=${episode}&with=${run.episode.slice(0, 8)}`); // as its table says
        await page.waitForFunction((id) => window.moreau.facts().episode === id && window.moreau.facts().isReadWhole, episode);
        await page.waitForFunction(() => window.moreau.facts().isCompared);
        const { steps, distance } = await page.evaluate(() => ({ steps: window.moreau.beside.steps, distance: window.moreau.beside.distance }));
        assert.deepEqual(steps, Array.from({ length: limit - 10 + 1 }, (_, i) => 10 + i));
        assert.equal(distance[0], 0);
        assert.ok(run.sample_distance.at(-1) > 0);
        run.sample_distance.forEach((was, i) => near(distance[i], was, 9));
        await page.evaluate(() => window.moreau.seek(30));
        await atStep(page, 30);
        await page.waitForFunction((step) => window.moreau.second?.step === step, 2 * substeps * (30 - 10)); // at half the time step
        await close(page);
    },

    async "names the first step that differs"() {
        // one hash was changed, and the checksum of its chunk made right again (tests/web/lie.py): only stepping finds
        // that
        const page = await open(join(folder, "lies.db"));
        await choose(page, "slides");
        await page.click("#prove");
        await page.waitForFunction(() => document.querySelector("#badge").textContent.startsWith("difference"));
        assert.match(await text(page, "#badge"), new RegExp(`difference behind step ${LIE_STEP - 1}`));
        assert.match(await text(page, "#proof"), new RegExp(`behind step ${LIE_STEP} the state's hash is 0x`));
        await shot(page, "difference");
        await close(page);
    },

    async "says what energy an episode gained, beside what did not converge"() {
        const page = await open(join(folder, "log.db"));
        await choose(page, "rod");
        await page.click('[data-tab="episode"]');
        const { joules, step, told } = expected.gained;
        await page.waitForFunction(() => document.querySelector('[data-fact="gained"]').textContent !== "…");
        const sum = await text(page, '[data-fact="gained"]');
        if (told > 0) {
            near(Number(/^(\S+) J that nothing gave$/.exec(sum)[1].replace("\u2212", "-")), told, 3);
        } else {
            assert.equal(sum, "nothing");
        }
        const said = /^(\S+) J at most in one step, (\d+), that no force explains$/.exec(await text(page, '[data-fact="energy gain"]'));
        near(Number(said[1].replace("\u2212", "-")), joules, 3);
        assert.equal(Number(said[2]), step);
        await choose(page, "slides");
        await page.waitForFunction(() => document.querySelector('[data-fact="gained"]').textContent === "nothing");
        await shot(page, "gained");
        await close(page);
    },

    async "what is said of a beginning, and a group's list, are compared with what they follow from"() {
        // and all checksums are right (tests/web/forge.py)
        const { episode } = JSON.parse(readFileSync(join(folder, "group.json"), "utf8"));
        const scene = /the scene in the file is not that of the state that the recording begins with/, length = /the definition's recording.time_step is not that of the state/;
        for (const [name, of, sentence] of [
            ["settings", "slides", scene], ["material", "slides", scene], ["body", "slides", scene], ["number", "slides", length],
            ["template", episode, scene], ["length", episode, length],
            ["list", episode, /the episode of world 70 from call \d+ to \d+ stands in the list of episodes, and the calls know none or only one/],
        ]) {
            const page = await open(join(folder, `forged-${name}.db`), `#episode=${of}`);
            await page.waitForFunction(() => window.moreau.facts()?.isReadWhole);
            await page.click('[data-tab="episode"]');
            await page.locator("#prove").click({ timeout: 1000 }).catch(() => {}); // short ones are proven at once
            await page.waitForFunction(() => document.querySelector("#badge").textContent.startsWith("difference"), null, { timeout: 20000 });
            assert.match(await text(page, "#proof"), sentence, name);
            await close(page);
        }
    },

    async "an exported page has its episode inside"() {
        const page = await open(null, `#step=${expected.step}`, join(folder, "slides.html"));
        await atStep(page, expected.step);
        assert.deepEqual((await page.locator("#episodes option").allTextContents()).map((t) => t.split(" ")[1]), ["slides"]);
        const [id, pose] = Object.entries(expected.bodies).at(-1);
        await page.evaluate((body) => window.moreau.pickBody(body), Number(id));
        const shown = (await text(page, '[data-fact="position"]')).replace(" m", "").split(", ").map(Number);
        shown.forEach((value, k) => near(value, pose[k], 6));
        await page.click('[data-tab="episode"]');
        await page.click("#check");
        await page.waitForFunction(() => /All \d+ chunks are as they were sealed/.test(document.querySelector("#proof").textContent));
        await page.click("#prove");
        await page.waitForFunction(() => document.querySelector("#badge").textContent === "proven against the file itself");
        await close(page);
    },

    async "bad files are named for what they are"() {
        const write = (name, bytes) => (writeFileSync(join(folder, name), bytes), join(folder, name));
        const changed = (name, change) => {
            const bytes = readFileSync(log);
            change(bytes);
            return write(name, bytes);
        };
        const cases = [
            [write("empty.db", ""), /empty: 0 bytes/],
            [write("photo.db", Buffer.from([0xff, 0xd8, 0xff, 0xe0, 0, 16, 74, 70, 73, 70])), /it is a JPEG picture/],
            [write("noise.db", Buffer.alloc(5000, "noise")), /no SQLite database/],
            [write("head.db", readFileSync(log).subarray(0, 60)), /cut short: 60 bytes/],
            [changed("newer.db", (b) => b.writeUInt32BE(99, 60)), /version 99 of the log's format, and this page reads versions 2 to \d+: use a newer page/],
            [changed("other.db", (b) => b.writeUInt32BE(7, 68)), /SQLite database of another program/],
            [changed("schema.db", (b) => b.fill(0xaa, 100, 4000)), /cannot be read: the database is damaged there/],
        ];
        const page = await open(null);
        for (const [file, message] of cases) {
            await page.setInputFiles("#file", file);
            // not the one before
            await page.waitForFunction((name) => document.querySelector("#notes .error")?.textContent.includes(name) && document.querySelector("#file-name").textContent === "", file.slice(folder.length + 1));
            assert.match(await text(page, "#notes"), message);
        }
        await close(page);
    },

    async "what is left of a damaged file is shown"() {
        // in the middle of an episode's contacts: SQLite sees nothing, the chunk's checksum does
        const bytes = readFileSync(log);
        const isLong = (place) => bytes.readUInt32LE(place + 12) === 4 && bytes.readBigUInt64LE(place + 176) > 500n;
        let at = bytes.indexOf("MOREAUCK");
        while (at >= 0 && !isLong(at)) {
            at = bytes.indexOf("MOREAUCK", at + 1);
        }
        assert.ok(at >= 0);
        bytes[at + 600] ^= 4;
        writeFileSync(join(folder, "flipped.db"), bytes);
        const flipped = await open(join(folder, "flipped.db"));
        await flipped.waitForSelector("#main:not([hidden])");
        let found = 0;
        for (const name of expected.episodes) {
            await choose(flipped, name);
            found += /its checksum is wrong/.test(await text(flipped, "#tab-episode")) ? 1 : 0;
            if (/its checksum is wrong/.test(await text(flipped, "#tab-episode"))) {
                assert.equal(await text(flipped, "#badge"), "damaged; not proven");
                await shot(flipped, "damaged");
            }
        }
        assert.equal(found, 1);
        await close(flipped);
        copyFileSync(log, join(folder, "cut.db"));
        truncateSync(join(folder, "cut.db"), Math.floor(statSync(log).size * 0.7));
        const cut = await open(join(folder, "cut.db"));
        await cut.waitForFunction(() => /is cut short: \d+ of \d+ bytes. What is left is shown/.test(document.querySelector("#notes").textContent));
        await close(cut);
    },

    async "what is missing is said, and the rest is shown"() {
        const prove = async (page) => {
            await page.click("#prove");
            await page.waitForFunction(() => !/^(proving|not proven)/.test(document.querySelector("#badge").textContent));
            return text(page, "#proof");
        };
        const shows = async (page, step) => {
            await page.evaluate((s) => window.moreau.seek(s), step);
            await page.waitForFunction((s) => window.moreau.facts().step === s, step);
            await page.waitForTimeout(100);
            return (await facts(page)).isShown;
        };
        const looked = async (name, look) => {
            const page = await open(join(folder, `no-${name}.db`));
            await page.waitForSelector("#main:not([hidden])");
            await look(page);
            assert.doesNotMatch(await text(page, "#badge"), /^proven/);
            await close(page);
        };
        const whole = (page) => page.waitForFunction(() => window.moreau.facts().isReadWhole);
        await looked("definition", async (page) => {
            await page.waitForFunction(() => /has no sound definition, so nothing says what it is: it is missing/.test(document.querySelector("#notes").textContent));
        });
        await looked("scene", async (page) => {
            await whole(page);
            assert.match(await text(page, "#tab-episode"), /no scene is there that could be read/);
            assert.ok(await shows(page, 700));
            assert.match(await prove(page), /Not proven as a whole, as parts are missing or damaged: 1,?.?400 steps were taken again/);
        });
        await looked("keyframe", async (page) => {
            await whole(page);
            assert.ok(await shows(page, 300));
            assert.match(await prove(page), /there was no key-frame/);
        });
        await looked("inputs", async (page) => {
            await whole(page);
            assert.ok(await shows(page, 700));
            assert.match(await prove(page), /up to step 500 every hash is the same; then/);
        });
        await looked("frames", async (page) => {
            await whole(page);
            assert.ok(await shows(page, 300) && !(await shows(page, 700)));
            assert.match(await text(page, "#overlay"), /Step 700 has no frame that could be read: it is damaged or missing/);
            assert.ok(await shows(page, 1200));
            await page.check("#fills-in"); // stepping it again makes it
            await page.waitForFunction(() => window.moreau.prover.fillsIn);
            assert.ok(await shows(page, 701) || await shows(page, 700));
            assert.match(await text(page, "#stage-text"), /stepped again by this page/);
            assert.match(await prove(page), /Not proven as a whole[^]*1 of its chunks are missing/);
            await page.click("#check");
            await page.waitForFunction(() => /chunks before it are missing/.test(document.querySelector("#proof").textContent));
        });
        const page = await open(join(folder, "no-seal.db"));
        await whole(page);
        assert.match(await text(page, "#tab-episode"), /not ended: it is still being recorded, or its end is missing/);
        assert.ok(await shows(page, 1400));
        await close(page);
    },

    async "the keyboard reaches what a mouse does, and everything has a name"() {
        const page = await open(log);
        await choose(page, "slides");
        const nameless = await page.evaluate(() => [...document.querySelectorAll("button, select, input, canvas, [role=tab]")]
            .filter((e) => !(e.getAttribute("aria-label") || e.labels?.length || e.hidden || e.id === "again-always" || (/[a-z]/i.test(e.textContent) && e.tagName !== "SELECT")))
            .map((e) => e.outerHTML));
        assert.deepEqual(nameless, []);
        const focus = () => page.evaluate(() => document.activeElement.id || document.activeElement.dataset.body || document.activeElement.tagName);
        await page.focus("#open");
        const order = [];
        for (let i = 0; i < 40 && order.at(-1) !== "timeline"; i++) {
            await page.keyboard.press("Tab");
            order.push(await focus());
        }
        const seen = (id) => assert.ok(order.includes(id), `${id} among ${order}`);
        ["episodes", "second", "badge", "theme", "help", "of-episode", "prove", "check", "start", "play", "speed", "step", "worst", "home", "timeline"].forEach(seen);
        assert.deepEqual(order.indexOf("of-episode") < order.indexOf("prove") && order.indexOf("prove") < order.indexOf("start"), true, `as they stand: ${order}`);
        // tabs and rows: arrows go on, Enter picks, and the focus stays though the table is drawn anew
        await page.focus("#of-episode");
        await page.keyboard.press("ArrowRight");
        assert.equal(await focus(), "of-body");
        await page.waitForSelector("#tab-body.shown tr[data-body]");
        const ids = await page.locator("#tab-body tr[data-body]").evaluateAll((all) => all.map((row) => row.dataset.body));
        await page.focus(`tr[data-body="${ids[0]}"]`);
        await page.keyboard.press("ArrowDown");
        await page.keyboard.press("Enter");
        await page.waitForFunction((id) => String(window.moreau.selected) === id, ids[1]);
        assert.equal(await focus(), ids[1]);
        // space presses the button that the keyboard came to, and plays everywhere else
        await page.focus("#start");
        await page.keyboard.press("Shift+Tab");
        await page.keyboard.press("Tab");
        await page.keyboard.press(" ");
        assert.equal(await page.evaluate(() => window.moreau.playing), 0);
        await page.click("#forward");
        await page.keyboard.press(" ");
        assert.equal(await page.evaluate(() => window.moreau.playing), 1);
        await page.keyboard.press(" ");
        // the picture
        const camera = () => page.evaluate(() => window.moreau.stage.cameraNumbers());
        const distance = ([x, y, z, a, b, c]) => Math.hypot(x - a, y - b, z - c);
        const before = await camera();
        await page.keyboard.press("ArrowUp");
        const nearer = await camera();
        assert.ok(Math.abs(distance(nearer) / distance(before) - 0.9) < 1e-6);
        await page.keyboard.press(".");
        await page.keyboard.press("PageUp");
        const turned = await camera();
        assert.ok(Math.abs(distance(turned) - distance(nearer)) < 1e-6 && turned[2] > nearer[2] && Math.abs(turned[0] - nearer[0]) > 1e-3);
        await page.keyboard.press("?");
        await page.waitForSelector("#keys[open]");
        assert.match(await text(page, "#keys"), /the worst step there is[^]*did not converge[^]*picked/);
        await shot(page, "help");
        await page.keyboard.press("Escape");
        await page.waitForSelector("#keys:not([open])", { state: "attached" });
        await close(page);
    },

    async "a small window shows all of it, and long names are cut"() {
        const page = await open(log);
        await choose(page, "slides");
        await page.evaluate(() => window.moreau.episode.bodies.forEach((body) => (body.name = `${body.name} ${"of a very long name ".repeat(8)}`)));
        for (const [width, height] of [[800, 600], [1024, 640], [1300, 820]]) {
            await page.setViewportSize({ width, height });
            for (const tab of ["episode", "body", "contacts", "plots", "again"]) {
                await page.click(`[data-tab="${tab}"]`);
                const seen = await page.evaluate(() => ({
                    wide: document.documentElement.scrollWidth, tall: document.documentElement.scrollHeight, foot: document.querySelector("footer").getBoundingClientRect().bottom,
                    picture: document.querySelector("#stage").getBoundingClientRect().toJSON(), home: document.querySelector("#home").getBoundingClientRect().toJSON(),
                }));
                assert.ok(seen.wide <= width && seen.tall <= height && seen.foot <= height + 1, `${width} × ${height}, ${tab}: ${JSON.stringify(seen)}`);
                assert.ok(seen.picture.width >= 0.5 * width && seen.picture.height >= 0.5 * height, `the picture: ${JSON.stringify(seen.picture)}`);
                assert.ok(seen.home.right <= width && seen.home.height > 0);
            }
            await shot(page, `small-${width}`);
        }
        await close(page);
    },

    async "a server's open file is read with its write-ahead log, and not without a word"() {
        const alone = await open(join(folder, "open.db"));
        await alone.waitForFunction(() => /A server has this file open|no episode file, or one that a server is just beginning|holds no episodes/.test(document.querySelector("#notes").textContent));
        await close(alone);
        const both = await open([join(folder, "open.db"), join(folder, "open.db-wal")]);
        await both.waitForSelector("#main:not([hidden])");
        const shown = await both.locator("#episodes option").allTextContents();
        assert.deepEqual(shown.map((t) => t.split(" ")[1]), expected.episodes);
        await choose(both, "slides");
        await close(both);
    },
};

const longTests = {
    async "opens a gigabyte without reading it"() {
        const large = join(folder, "large.db");
        for (const bodies of [1000, 10000]) {
            const page = await open(large, `#episode=bodies-${bodies}`);
            await page.waitForFunction(() => window.moreau.facts().firstPicture.ms > 0, null, { timeout: 60000 });
            const { firstPicture } = await facts(page);
            console.log(`     ${(statSync(large).size / 1e9).toFixed(2)} GB, ${bodies} bodies: first picture after ${Math.round(firstPicture.ms)} ms and ${(firstPicture.bytes / 1e6).toFixed(2)} MB read`);
            assert.ok(firstPicture.bytes <= 2e6, "little is read before the first picture");
            await page.waitForFunction(() => window.moreau.episode.hasScenes && window.moreau.episode.bodies.size > 0); // their shapes come behind it
            assert.equal(await page.evaluate(() => window.moreau.episode.bodies.size), bodies);
            await shot(page, `gigabyte-${bodies}`);
            await close(page);
        }
    },

    async "draws each kind of shape at once, whatever the number of bodies"() {
        const page = await open(join(folder, "large.db"));
        for (const bodies of [100, 1000, 10000]) {
            await page.waitForSelector("#main:not([hidden])");
            const value = await page.locator("#episodes option", { hasText: new RegExp(` bodies-${bodies} ·`) }).getAttribute("value");
            await page.selectOption("#episodes", value);
            await page.waitForFunction((uid) => window.moreau.facts().episode === uid && window.moreau.facts().isShown, value);
            const times = [];
            const last = bodies === 10000 ? 8 : 30; // software takes seconds to draw so many
            for (let step = 1; step <= last; step++) {
                await page.evaluate((s) => window.moreau.seek(s), step);
                await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));
                times.push((await facts(page)).scriptMs);
            }
            assert.equal((await facts(page)).drawCalls, 3);
            console.log(`     ${bodies} bodies: ${times.sort((a, b) => a - b)[last >> 1].toFixed(2)} ms of script a frame (median of ${last})`);
        }
        await close(page);
    },

    async "reads a URL by ranges, and says where there are none"() {
        let sent = 0;
        const bytes = readFileSync(log);
        const server = createServer((request, response) => {
            const range = /bytes=(\d+)-(\d+)/.exec(request.headers.range ?? "");
            const headers = { "Access-Control-Allow-Origin": "*", "Access-Control-Allow-Headers": "Range", "Access-Control-Expose-Headers": "Content-Range" };
            if (request.method === "OPTIONS") {
                response.writeHead(204, headers).end();
            } else if (range !== null && request.url === "/ranges/log.db") {
                const part = bytes.subarray(Number(range[1]), Number(range[2]) + 1);
                sent += part.length;
                response.writeHead(206, { ...headers, "Content-Range": `bytes ${range[1]}-${Number(range[1]) + part.length - 1}/${bytes.length}` }).end(part);
            } else if (request.url === "/whole/log.db") {
                response.writeHead(200, headers).end(bytes);
            } else {
                response.writeHead(404, headers).end();
            }
        });
        await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
        const at = `http://127.0.0.1:${server.address().port}`;
        const page = await open(null);
        await page.context().setOffline(false);
        await page.evaluate((url) => (location.hash = `#url=${encodeURIComponent(url)}&step=50&episode=slides`), `${at}/ranges/log.db`);
        await atStep(page, 50);
        const { firstPicture } = await facts(page);
        assert.ok(firstPicture.bytes < bytes.length / 2, `${firstPicture.bytes} of ${bytes.length} bytes were read before the first picture`);
        await page.evaluate((url) => (location.hash = `#url=${encodeURIComponent(url)}&step=60&episode=slides`), `${at}/whole/log.db`);
        await atStep(page, 60);
        assert.match(await text(page, "#notes"), /knows no ranges, so the whole file was fetched/);
        await page.evaluate((url) => (location.hash = `#url=${encodeURIComponent(url)}`), `${at}/nothing.db`);
        await page.waitForFunction(() => /answers 404/.test(document.querySelector("#notes").textContent));
        page.problems = page.problems.filter((problem) => !problem.includes("404"));
        await close(page);
        server.close();
    },
};
// ---- a running server

const build = process.env.MOREAU_BUILD;

// Its addresses: of the protocol, of --http. `stop` ends it.
async function serve(...options) {
    const child = spawn(join(build, "moreau-server"), ["--listen", "127.0.0.1:0", "--ready-fd", "3", "--workers", "2", "--log-file", "/dev/null", ...options],
        { stdio: ["ignore", "ignore", "inherit", "pipe"] });
    let told = "";
    await new Promise((resolve) => child.stdio[3].on("data", (data) => (told += data)).on("end", resolve));
    const [address, http] = told.trim().split("\n");
    const stop = () => new Promise((resolve) => child.once("exit", resolve) && child.kill());
    return { address, http, stop };
}

function call(server, method, message, ...options) {
    const done = spawnSync(join(build, "clients/moreau"), ["call", "--server", server.address, ...options, method, JSON.stringify(message)], { encoding: "utf8" });
    assert.equal(done.status, 0, done.stdout + done.stderr);
    return JSON.parse(done.stdout);
}

function makeWorld(server, name = "stack10", ...options) {
    const scene = JSON.parse(readFileSync(join(dirname(fileURLToPath(import.meta.url)), `../../../tests/scenes/${name}.json`), "utf8"));
    return call(server, "WorldCreate", { name: "tower", lifetime: "SERVER", scene }, ...options).world;
}

async function watchPage(address) {
    const page = await (await browser.newContext({ viewport: { width: 1300, height: 820 } })).newPage();
    page.problems = [];
    page.on("pageerror", (error) => page.problems.push(error.stack));
    await page.goto(address);
    await page.waitForFunction(() => window.live !== undefined);
    return page;
}

const isAt = (page, step) => page.waitForFunction((s) => window.live.state === "watching" && window.live.step === s, step);
const isSaid = (page, selector, words) => page.waitForFunction(([s, w]) => document.querySelector(s).textContent.includes(w), [selector, words]);

Object.assign(longTests, {
    async "watches a running world on the page that its server shows"() {
        const server = await serve("--http", "127.0.0.1:0", "--viewer", viewer);
        const world = makeWorld(server), page = await watchPage(`http://${server.http}/`);
        await isAt(page, 0);
        assert.match(await text(page, "#live-world option"), /tower · 11 bodies/);
        for (let step = 1; step <= 30; step++) {
            const { reports } = call(server, "WorldStep", { worlds: [world], steps: 1 });
            await isAt(page, step);
            await page.waitForFunction((n) => document.querySelector('[data-live="contacts"]')?.textContent === String(n), reports.contacts[0]);
            near(Number((await text(page, '[data-live="energy"]')).replace(" J", "")), reports.energy.after[0], 6);
        }
        await page.check("#live-contacts");
        call(server, "WorldStep", { worlds: [world], steps: 100 });
        await isAt(page, 130);
        await shot(page, "live");
        call(server, "WorldDestroy", { world });
        await isSaid(page, "#overlay", "was destroyed");
        const next = makeWorld(server);
        await page.click("#live-refresh");
        await page.selectOption("#live-world", String(next));
        await isAt(page, 0);
        await close(page);
        await server.stop();
    },

    async "watches a world of a group while it learns, and turns to another one"() {
        const server = await serve("--http", "127.0.0.1:0", "--viewer", viewer), address = `http://${server.http}/#live=ws://${server.http}/v1/live`;
        const scene = {
            settings: { time_step: 0.02 }, bodies: [{ name: "block", mass: 1, position: [0, 0, 0.5], shapes: [{ box: { half_extents: [0.5, 0.5, 0.5] } }] }],
            joints: [{ name: "rail", kind: "SLIDER", body_b: "block", axis: [1, 0, 0] }],
        };
        const { group } = call(server, "GroupCreate", {
            name: "blocks", lifetime: "SERVER", scene, count: 40, step_limit: 5, autoreset: "SAME_STEP",
            action: [{ kind: "JOINT_EFFORT", joint: "rail" }], observation: [{ kind: "JOINT_POSITION", joint: "rail" }],
        });
        const page = await watchPage(`${address}&group=${group}&index=17`), fact = (name) => text(page, `[data-live="${name}"]`);
        const isIn = (episode, step) => page.waitForFunction(([e, s]) => window.live.episode === e && window.live.episodeStep === s, [episode, step]);
        await isIn(-1, 0);
        call(server, "GroupReset", { group });
        for (let step = 1; step <= 12; step++) {
            call(server, "GroupStep", { group, action: Array(40).fill(1) });
            await isIn(Math.floor(step / 5), step % 5);
        }
        await page.waitForFunction(() => document.querySelector('[data-live="step in it"]')?.textContent === "2");
        assert.equal(await fact("episode"), "2");
        await shot(page, "live-group");
        await page.click("#live-next");
        await page.waitForFunction(() => location.hash.endsWith("index=18"));
        await page.fill("#live-index", "500"); // there are 40
        await page.press("#live-index", "Enter");
        await page.waitForFunction(() => location.hash.endsWith("index=39"));
        await isIn(2, 2);
        assert.ok(await page.isDisabled("#live-next"));
        call(server, "GroupDestroy", { group });
        await isSaid(page, "#overlay", "is gone: it was destroyed");
        await close(page);
        await server.stop();
    },

    async "shows the joints of a running world"() {
        const server = await serve("--http", "127.0.0.1:0", "--viewer", viewer);
        const world = makeWorld(server, "joints/double_pendulum"), page = await watchPage(`http://${server.http}/`);
        await isAt(page, 0);
        call(server, "WorldStep", { worlds: [world], steps: 40 });
        await isAt(page, 40);
        const got = call(server, "WorldGet", { world, joints: true });
        await page.waitForFunction((n) => document.querySelectorAll("#live-joints tbody tr").length === n, got.joints.length);
        const shown = await page.locator("#live-joints tbody tr").evaluateAll((rows) => rows.map((row) => [...row.children].map((cell) => cell.textContent)));
        shown.forEach(([name, axes, position, velocity], i) => { // hinges all: a number each
            assert.equal(name, ["shoulder", "elbow"][i]);
            assert.equal(axes, "∠z");
            assert.match(position + velocity, / rad.* rad\/s$/);
            near(parseFloat(position), got.joint_position[i], 4);
            near(parseFloat(velocity), got.joint_velocity[i], 4);
        });
        assert.ok(got.joint_velocity.some((v) => Math.abs(v) > 1e-3), "something moved");
        await shot(page, "live-joints");
        await close(page);
        await server.stop();
    },

    async "a page from a disk is let in by the token alone, and comes back when the server does"() {
        writeFileSync(join(folder, "token"), "open sesame\n", { mode: 0o600 });
        const open = await serve("--http", "127.0.0.1:0");
        let page = await watchPage(`file://${viewer}#live=ws://${open.http}/v1/live`);
        await isSaid(page, "#notes", "--viewer FILE");
        await close(page);
        await open.stop();

        const file = ["--token-file", join(folder, "token")], closed = await serve("--http", open.http, ...file);
        const world = makeWorld(closed, undefined, ...file);
        page = await watchPage(`file://${viewer}#live=ws://${closed.http}/v1/live&token=open%20sesam`);
        await isSaid(page, "#notes", "token");
        await close(page);
        page = await watchPage(`file://${viewer}#live=ws://${closed.http}/v1/live&token=open%20sesame&world=${world}`);
        await isAt(page, 0);
        assert.ok(!page.url().includes("sesame"), page.url());
        await closed.stop();
        await isSaid(page, "#overlay", "Trying again");
        const again = await serve("--http", open.http, ...file);
        makeWorld(again, undefined, ...file);
        await isAt(page, 0);
        await close(page);
        await again.stop();
    },
});
Object.assign(tests, groupTests({ folder, open, close, facts, shot, text, atStep, near }));
if (all === "--all") {
    Object.assign(tests, longTests);
}
const smoke = ["shows the numbers of the file", "picks the body", "shows every contact", "proves an episode", "lists the episodes of a group"];
const isWanted = (name) => (all !== "--smoke" || smoke.some((begin) => name.startsWith(begin))) && name.includes(process.env.MOREAU_ONLY ?? "");
const wanted = Object.entries(tests).filter(([name]) => isWanted(name));

let failed = 0;
for (const [name, test] of wanted) {
    const begun = performance.now();
    try {
        await test();
        console.log(`ok   ${name} (${Math.round(performance.now() - begun)} ms)`);
    } catch (error) {
        failed++;
        console.log(`FAIL ${name}\n${error.stack}`);
        for (const page of browser.contexts().flatMap((context) => context.pages())) { // what it left open
            const said = await page.evaluate(() => ["#badge", "#stage-text", "#overlay", "#notes", "#proof"].map((id) => document.querySelector(id)?.textContent ?? "").concat(JSON.stringify(window.moreau?.facts()))).catch((why) => [why.message]);
            console.log([...page.problems ?? [], ...said].map((line) => `  | ${line}`).join("\n"));
            await page.context().close();
        }
    }
}
await browser.close();
console.log(`${wanted.length - failed} passed, ${failed} failed`);
process.exit(failed > 0 ? 1 : 0);
