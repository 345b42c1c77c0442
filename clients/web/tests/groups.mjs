// SPDX-License-Identifier: MIT
// Episodes of groups in the page: those that tests/web/group.py and farm.py have recorded, with the numbers that they
// saw.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { copyFileSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const change = (file, sql) => assert.equal(spawnSync(fileURLToPath(new URL("../../../tests/web/change.py", import.meta.url)), [file, sql]).status, 0, sql);
const json = (folder, name) => JSON.parse(readFileSync(join(folder, name), "utf8"));

/** What the client of the farm saw of the episode in which the server was killed: of each of its steps, and of those behind that alone. */
function farmOf(folder) {
    const farm = json(folder, "farm.json"), { limit } = farm;
    const whole = [...farm.first.seen, ...farm.then];
    const before = farm.first.seen.length % limit; // steps of it that were taken before
    return { ...farm, before, begun: whole.slice(0, limit), split: whole.slice(limit, 2 * limit), rest: whole.slice(limit + before, 2 * limit) };
}

const opened = (page, uid) => page.waitForFunction((id) => window.moreau.facts().episode === id && window.moreau.facts().isReadWhole, uid);
const isProven = (page) => page.waitForFunction(() => document.querySelector("#badge").textContent === "proven against the file itself");
const seek = async (page, step, atStep) => {
    await page.evaluate((s) => window.moreau.seek(s), step);
    await atStep(page, step);
};
const boxAt = (page) => page.evaluate(() => window.moreau.frame.pose[7]); // x of the second body
const steps = (seen) => seen.flatMap((one, i) => (one.doubtful ? [i + 1] : []));
const marked = (page) => page.evaluate(() => window.moreau.events.filter((e) => e.kind === "doubtful")
    .flatMap((e) => Array.from({ length: e.lastStep - e.firstStep + 1 }, (_, i) => e.firstStep + i)));

export const groupTests = ({ folder, open, close, facts, shot, text, atStep, near }) => ({
    async "lists the episodes of a group, and steps one from its calls"() {
        const seen = JSON.parse(readFileSync(join(folder, "group.json"), "utf8"));
        const page = await open(join(folder, "group.db"));
        await page.waitForFunction(() => window.moreau.facts().isShown);
        await page.click('[data-tab="group"]');
        const rows = () => page.locator("#group-episodes tbody tr").evaluateAll((all) => all.map((row) => [...row.children].map((cell) => cell.textContent)));
        const ordered = async (name) => {
            await page.selectOption("#group-order", { label: name });
            await page.waitForFunction(() => !document.querySelector("#tab-group").textContent.includes("reading"));
            return rows();
        };
        const highest = await ordered("highest return"), lowest = await ordered("lowest return");
        assert.equal(highest.length, 100);
        const returns = (all) => all.map((cells) => Number(cells[4]));
        assert.deepEqual(returns(highest), returns(highest).sort((a, b) => b - a));
        assert.deepEqual(returns(lowest), returns(lowest).sort((a, b) => a - b));
        assert.ok(returns(highest)[0] > returns(lowest)[0]);
        await ordered("oldest");
        const found = [];
        for (let from = 0; from < 400; from += 100) {
            found.push(...await rows());
            await page.click("#tab-group button:has-text('▶') >> nth=0");
            await page.waitForFunction(() => !document.querySelector("#tab-group").textContent.includes("reading"));
        }
        const one = found.filter((cells) => Number(cells[0]) === seen.world && Number(cells[1]) === seen.turn);
        assert.equal(one.length, 1, "each episode stands on one page");
        near(Number(one[0][4]), seen.return, 6);
        assert.equal(Number(one[0][3]), seen.limit);
        // the same episode, its steps made of the calls that the group took
        await page.click("#tab-group button:has-text('◀') >> nth=1");
        await ordered("world, then turn");
        for (let from = 0; from < 500 && (await page.locator("#group-episodes tbody tr", { has: page.locator(`td:nth-child(1):text-is("${seen.world}")`) }).count()) === 0; from += 100) {
            await page.click("#tab-group button:has-text('▶') >> nth=0");
            await page.waitForFunction(() => !document.querySelector("#tab-group").textContent.includes("reading"));
        }
        const row = page.locator("#group-episodes tbody tr", { has: page.locator(`td:nth-child(1):text-is("${seen.world}")`) }).filter({ has: page.locator(`td:nth-child(2):text-is("${seen.turn}")`) });
        const uid = await row.getAttribute("data-episode");
        await row.click();
        await page.waitForFunction((id) => window.moreau.facts().episode === id && window.moreau.facts().isReadWhole, uid);
        for (const step of [0, 1, 25, seen.limit, 7]) {
            await page.evaluate((s) => window.moreau.seek(s), step);
            await atStep(page, step);
            const x = await page.evaluate(() => window.moreau.frame.jointPosition[0]);
            assert.equal(x, seen.cart[step], `the cart behind step ${step}`);
        }
        await shot(page, "group");
        await page.click('[data-tab="episode"]');
        await page.waitForFunction(() => document.querySelector("#badge").textContent === "proven against the file itself");
        await page.waitForFunction((steps) => document.querySelector("#proof").textContent.startsWith(`Proven against the file itself: ${steps} steps were taken again`), seen.limit);
        await close(page);
        // the row says that it was another turn: another start was drawn for that
        const other = await open(join(folder, "turned.db"), `#episode=${uid}`);
        await other.waitForFunction((id) => window.moreau.facts().episode === id && window.moreau.facts().isReadWhole, uid);
        await other.waitForFunction(() => document.querySelector("#badge").textContent.startsWith("difference"));
        assert.match(await text(other, "#proof"), /Step 0: the state has the hash 0x/);
        await close(other);
    },


    async "goes on with an episode where a group was resumed, from its key-frame"() {
        const { recording, rest, before, x, world } = farmOf(folder);
        const uid = recording.slice(0, 24) + world.toString(16).padStart(8, "0");
        const page = await open(join(folder, "farm.db"), `#episode=${uid}`);
        await opened(page, uid);
        for (const step of [0, 1, rest.length, 7]) {
            await seek(page, step, atStep);
            assert.equal(await boxAt(page), step === 0 ? x : rest[step - 1].x, `the box behind step ${step}`);
        }
        await isProven(page);
        await page.click('[data-tab="episode"]');
        assert.match(await text(page, '[data-fact="began in"]'), new RegExp(`where ${before} of its steps are`));
        await page.waitForFunction((steps) => document.querySelector("#proof").textContent.startsWith(`Proven against the file itself: ${steps} steps were taken again`), rest.length);
        assert.deepEqual(await marked(page), steps(rest));
        await close(page);
        // rows that say otherwise: how many of its steps were before, and which episode it is
        const shorter = join(folder, "shorter.db");
        copyFileSync(join(folder, "farm.db"), shorter);
        change(shorter, `UPDATE episode SET parent_step = parent_step - 1 WHERE world_index = ${world} AND parent IS NOT NULL`);
        const lying = await open(shorter, `#episode=${uid}`);
        await lying.waitForFunction(() => document.querySelector("#badge").textContent.startsWith("difference"));
        await lying.waitForFunction((step) => document.querySelector("#proof").textContent.includes(`lead to step ${step},`), rest.length + 1);
        await close(lying);
        const changed = join(folder, "changed.db");
        copyFileSync(join(folder, "farm.db"), changed);
        change(changed, `UPDATE episode SET seed = seed + 1 WHERE world_index = ${world} AND parent IS NOT NULL`);
        const other = await open(changed, `#episode=${uid}`);
        await other.waitForFunction(() => /it shows another episode/.test(document.querySelector("#tab-episode").textContent));
        assert.doesNotMatch(await text(other, "#badge"), /^proven/);
        await close(other);
        // what energy it gained from nothing, in its sum, its scale or one step of it
        for (const column of ["gain", "gain_scale", "gain_step"]) {
            const gained = join(folder, `${column}.db`);
            copyFileSync(join(folder, "farm.db"), gained);
            change(gained, `UPDATE episode SET ${column} = ${column} + 0.001 WHERE world_index = ${world} AND parent IS NOT NULL`);
            const claiming = await open(gained, `#episode=${uid}`);
            await claiming.waitForFunction(() => document.querySelector("#badge").textContent.startsWith("difference"));
            assert.match(await text(claiming, "#tab-episode"), /gained other energy than its row says/);
            await close(claiming);
        }
    },

    async "steps a long episode of a group from the key-frame before, and without one that is damaged"() {
        const { of, begun } = farmOf(folder);
        const chunk = (kind, step) => `SELECT id FROM chunk WHERE recording = 1 AND first_world = 63 AND kind = ${kind} AND first_step = ${step}`;
        const broken = join(folder, "broken.db");
        copyFileSync(join(folder, "farm.db"), broken);
        change(broken, `DELETE FROM chunk WHERE id = (${chunk(2, 0)})`); // with the call that began it
        const page = await open(broken, `#episode=${of}&step=55`);
        await atStep(page, 55); // calls on the range are one more than steps: the key-frame of call 50 is that of step 49
        assert.equal(await boxAt(page), begun[54].x);
        await seek(page, 30, atStep);
        assert.equal(await boxAt(page), begun[29].x, "from the key-frame of call 25");
        await page.waitForFunction(() => document.querySelector("#badge").textContent.startsWith("difference"));
        await page.evaluate(() => window.moreau.seek(3));
        await page.waitForFunction(() => /has no frame that could be read/.test(document.querySelector("#overlay").textContent));
        await close(page);
        const damaged = join(folder, "damaged.db");
        copyFileSync(join(folder, "farm.db"), damaged);
        change(damaged, `UPDATE chunk SET bytes = CAST(substr(bytes, 1, 400) || x'00010203' || substr(bytes, 405) AS BLOB) WHERE id = (${chunk(1, 50)})`);
        const around = await open(damaged, `#episode=${of}&step=55`);
        await atStep(around, 55);
        assert.equal(await boxAt(around), begun[54].x);
        await around.waitForFunction(() => document.querySelector("#badge").textContent.startsWith("difference behind step 48"));
        await around.click('[data-tab="episode"]');
        assert.match(await text(around, "#proof"), /the key-frame from step 50/);
        await close(around);
    },

    async "shows certificates, energies and contacts of a group's steps as the server steps them"() {
        const { of, begun, replayed, limit } = farmOf(folder);
        const page = await open(join(folder, "farm.db"), `#episode=${of}`);
        await opened(page, of);
        await isProven(page);
        const told = await page.evaluate((step) => {
            const { energy, names, entries } = window.moreau.prover.perStep();
            return { energy: [...energy], certificate: Object.fromEntries(names.map((name, k) => [name, entries[k][step]])) };
        }, replayed.step);
        assert.deepEqual(told.energy.slice(1), replayed.energy);
        assert.equal(told.energy.length, limit + 1);
        assert.ok(told.certificate.e_DS >= replayed.e_ds && told.certificate.e_own >= replayed.e_own, "the worst of the substeps, of which the server tells the last");
        await seek(page, replayed.step, atStep);
        await page.click('[data-tab="contacts"]');
        const list = await page.evaluate(() => ({ gap: [...window.moreau.contacts.gap], impulse: [...window.moreau.contacts.impulse] }));
        assert.deepEqual(list, { gap: replayed.gap, impulse: replayed.impulse.flat() });
        assert.equal(await page.locator("table.contacts tbody tr").count(), replayed.gap.length);
        assert.deepEqual(await marked(page), steps(begun));
        // a click on a mark goes to its worst step, one on the strip to the worst step there
        const mark = await page.evaluate(() => window.moreau.events.find((e) => e.kind === "doubtful"));
        const box = await page.locator("#timeline").boundingBox();
        await page.mouse.click(box.x + (box.width * mark.step) / limit, box.y + 10);
        await atStep(page, mark.step);
        await page.waitForFunction(() => /doubtful/.test(document.querySelector("#stage-text").textContent));
        const worst = await page.evaluate((last) => window.moreau.prover.worstOf(1, last).step, limit);
        await page.mouse.click(box.x + (box.width * worst) / limit, box.y + 60);
        await atStep(page, worst);
        await page.click('[data-tab="plots"]');
        await page.waitForFunction(() => /Energy, by the dynamics/.test(document.querySelector("#tab-plots").textContent) && /Penetration/.test(document.querySelector("#tab-plots").textContent));
        await shot(page, "group-plots");
        await page.click('[data-tab="episode"]');
        assert.match(await text(page, "#doubt"), /counted again by this page.*read from the file, not recomputed/);
        await shot(page, "group-episode");
        await close(page);
    },

    async "solves a substep of a group's step again, and goes on as if it had not"() {
        const { of, begun } = farmOf(folder);
        const step = steps(begun)[0] + 1;
        const page = await open(join(folder, "farm.db"), `#episode=${of}`);
        await opened(page, of);
        await seek(page, step, atStep);
        await page.click('[data-tab="again"]');
        const result = (name) => page.locator(`tr[data-result="${name}"] td:not(:first-child)`).allTextContents();
        const done = () => page.waitForFunction(() => document.querySelectorAll('tr[data-result="recorded"] td').length === 6 && !document.querySelector("#again-solve").disabled);
        await done();
        assert.equal((await result("recorded"))[0], "the same", "ccp, as it was recorded");
        const ways = await page.locator("table.trials thead th").allTextContents();
        const exact = Number((await result("e_DS"))[ways.indexOf("mdp") - 1]), convex = Number((await result("e_DS"))[0]);
        assert.ok(exact < 1e-6 && convex > 1e-3, `e_DS of mdp ${exact}, of ccp ${convex}`);
        assert.equal(await page.getAttribute("#again-substep", "max"), "3");
        const worst = await page.inputValue("#again-substep"), other = worst === "1" ? "2" : "1", own = (await result("e_DS"))[0];
        await page.fill("#again-substep", other);
        await page.press("#again-substep", "Enter");
        await page.waitForFunction((was) => document.querySelector('tr[data-result="e_DS"] td:nth-child(2)')?.textContent !== was, own);
        await done();
        assert.equal((await result("recorded"))[0], "the same");
        await shot(page, "group-again");
        for (const next of [step + 1, step]) {
            await seek(page, next, atStep);
            assert.equal(await boxAt(page), begun[next - 1].x);
        }
        await close(page);
    },

    async "sorts and chooses the episodes of a group as the file has them"() {
        const rows = json(folder, "rows.json");
        const page = await open(join(folder, "farm.db"), `#episode=${rows[0].uid}`);
        await opened(page, rows[0].uid);
        await page.click('[data-tab="group"]');
        const read = () => page.waitForFunction(() => !document.querySelector("#tab-group").textContent.includes("reading"));
        const shown = () => page.locator("#group-episodes tbody tr").evaluateAll((all) => all.map((row) => row.dataset.episode));
        const is = async (expected, what) => {
            await read();
            assert.deepEqual(await shown(), expected.slice(0, 100).map((row) => row.uid), what);
            assert.ok((await text(page, "#tab-group")).includes(expected.length === 0 ? "none" : `of ${expected.length} `), `${what}: ${expected.length} are counted`);
        };
        const by = (...keys) => [...rows].sort((a, b) => keys.map((key) => key(a) - key(b)).find((d) => d !== 0) ?? a.number - b.number);
        const low = (value) => value ?? -Infinity; // NULL comes first
        const share = ({ return_doubtful: d, return_sum: r }) => (d === null || r === null ? -Infinity : d / Math.max(Math.abs(d) + Math.abs(r - d), 1e-300));
        const orders = {
            newest: by((r) => -r.number), oldest: rows, "highest return": by((r) => -low(r.return_sum)), longest: by((r) => -r.length), shortest: by((r) => r.length),
            "most doubtful steps": by((r) => -low(r.doubtful_steps)), "largest doubtful share": by((r) => -share(r)), "largest gap of an opinion": by((r) => -low(r.opinion_gap_max)),
            "world, then turn": by((r) => r.world_index, (r) => r.turn), "lowest return": by((r) => r.return_sum ?? Infinity),
        };
        for (const [name, expected] of Object.entries(orders)) {
            await page.selectOption("#group-order", name);
            await is(expected, name);
        }
        await page.click("#tab-group button:has-text('▶|')");
        await read();
        assert.deepEqual(await shown(), orders["lowest return"].slice(100 * Math.floor((rows.length - 1) / 100)).map((row) => row.uid));
        await page.click('#group-episodes th:has-text("steps")');
        await is(orders.longest, "a click on the head");
        await page.selectOption("#group-order", "oldest");
        const limit = async (name, value) => {
            await page.fill(`[data-limit="${name}"]`, value);
            await page.press(`[data-limit="${name}"]`, "Enter");
        };
        await limit("world", "66");
        await is(rows.filter((r) => r.world_index === 66), "of a world");
        await limit("world", "");
        await limit("returnLeast", "5.5");
        await is(rows.filter((r) => r.return_sum !== null && r.return_sum >= 5.5), "of a return");
        await limit("lengthMost", "59");
        await is(rows.filter((r) => r.return_sum !== null && r.return_sum >= 5.5 && r.length <= 59), "and shorter");
        await limit("returnLeast", "");
        await limit("seed", String(BigInt.asUintN(64, BigInt(rows[3].seed))));
        await is(rows.filter((r) => r.length <= 59 && r.seed === rows[3].seed), "of a seed");
        await limit("seed", "12345678901234567890");
        await is([], "of none");
        await limit("seed", "");
        await limit("lengthMost", "");
        await page.check("#group-doubtful");
        await is(rows.filter((r) => r.doubtful_steps > 0), "doubtful ones");
        await shot(page, "group-list");
        await limit("world", "none");
        assert.ok(await page.locator('[data-limit="world"]').evaluate((field) => !field.validity.valid));
        await close(page);
    },

    async "lays an episode over a group's, matched by time"() {
        const { of, begun, limit } = farmOf(folder);
        const page = await open(join(folder, "farm.db"), `#episode=${of}`);
        await opened(page, of);
        const compared = () => page.waitForFunction(() => window.moreau.facts().isCompared);
        // a world with the same bodies, whose box nobody pushes: three of its steps are one of the group's
        await page.selectOption("#second", { label: (await page.locator("#second option").allTextContents()).find((t) => t.includes("resting")) });
        await compared();
        const { steps: at, distance } = await page.evaluate(() => ({ steps: window.moreau.beside.steps, distance: window.moreau.beside.distance }));
        assert.deepEqual(at, Array.from({ length: limit + 1 }, (_, i) => i));
        for (const step of [1, 20, limit]) { // they differ in height by what solvers leave of a resting weight
            near(distance[step], Math.abs(begun[step - 1].x), 4);
        }
        // what moreau compare made of it, from step 20 on
        await page.selectOption("#second", { label: (await page.locator("#second option").allTextContents()).find((t) => t.includes("farm-mdp")) });
        await page.waitForFunction(() => window.moreau.facts().isCompared && window.moreau.beside.second.row.name.includes("mdp"));
        const made = await page.evaluate(() => ({ steps: window.moreau.beside.steps, distance: window.moreau.beside.distance }));
        assert.deepEqual(made.steps, at.slice(20));
        const [, run] = json(folder, "compared.json").runs;
        assert.equal((await facts(page)).firstDivergent, run.differs_step);
        assert.deepEqual(made.steps, run.sample_step);
        made.distance.forEach((distance, i) => near(distance, run.sample_distance[i], 9));
        await seek(page, 10, atStep);
        await page.waitForFunction(() => window.moreau.second === null); // it had not begun
        // another episode of the group, stepped again as well
        await page.click('[data-tab="group"]');
        await page.click("#group-episodes tbody tr:nth-child(2) .beside");
        await compared();
        const two = await page.evaluate(() => ({ steps: window.moreau.beside.steps, distance: window.moreau.beside.distance, last: window.moreau.beside.second.lastStep }));
        assert.deepEqual(two.steps, Array.from({ length: Math.min(two.last, limit) + 1 }, (_, i) => i));
        await seek(page, 5, atStep);
        const apart = await page.evaluate(() => Math.hypot(...[7, 8, 9].map((k) => window.moreau.frame.pose[k] - window.moreau.second.pose[k])));
        assert.equal(apart, two.distance[5]);
        await shot(page, "group-beside");
        await close(page);
    },

    async "turns the pages of a hundred thousand episodes, and sorts them"() {
        const many = json(folder, "many.json");
        const page = await open(join(folder, "many.db"));
        await page.waitForFunction(() => window.moreau.facts().isReadWhole);
        const fetched = () => page.evaluate(() => window.moreau.client.call("fetched"));
        const { firstPicture } = await facts(page);
        assert.ok(firstPicture.bytes <= 2e6, `${firstPicture.bytes} bytes were read before the first picture`);
        await page.click('[data-tab="group"]');
        const read = async () => {
            const begun = performance.now();
            await page.waitForFunction(() => !document.querySelector("#tab-group").textContent.includes("reading"));
            return Math.round(performance.now() - begun);
        };
        await read();
        const shown = () => page.locator("#group-episodes tbody tr").evaluateAll((all) => all.map((row) => [row.dataset.episode, ...[...row.children].map((cell) => cell.textContent)]));
        const before = await fetched();
        await page.click("#tab-group button:has-text('▶|')");
        const turned = await read(), rows = await shown();
        assert.equal(rows.length, 100);
        assert.equal(parseInt(rows[99][0].slice(24), 16), 0, "the newest first: the first one last");
        assert.ok((await fetched()) - before < 5e5, "a page is found without those before it");
        await page.selectOption("#group-order", "highest return");
        const sorted = await read();
        (await shown()).slice(0, 5).forEach((row, i) => near(Number(row[5]), many.highest[i], 6));
        const whole = await fetched();
        await page.click("#tab-group button:has-text('▶|')");
        const again = await read();
        assert.ok((await fetched()) - whole < 5e5, "its other pages are known by then");
        await page.fill('[data-limit="returnLeast"]', "0.9");
        await page.press('[data-limit="returnLeast"]', "Enter");
        await read();
        assert.ok((await text(page, "#tab-group")).includes(`of ${many.above.toLocaleString("en").replace(/,/g, "\u202f")} `));
        console.log(`     ${many.episodes} episodes: first picture ${Math.round(firstPicture.ms)} ms, ${firstPicture.bytes} bytes; last page ${turned} ms; sorted ${sorted} ms, its last page ${again} ms; ` +
            `${whole} bytes of ${statSync(join(folder, "many.db")).size} read to sort them`);
        await close(page);
    },
});
