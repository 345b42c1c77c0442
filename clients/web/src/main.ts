// SPDX-License-Identifier: MIT
// Where the page begins: files that are dropped, chosen, named by the address or brought along; buttons and keys.
import { App, SPEEDS } from "./app";
import { readLink } from "./link";
import { Connection } from "./live/connection";
import { Live, ownAddress, readAim } from "./live/live";
import { KEY_FILE_BYTES_MAX, keyOf, readSealKey } from "./log/seal_key";
import { nth } from "./nth";
import { NO_KEY } from "./signing";
import { bring, Brought, Client, embedded } from "./store/client";
import "./style.css";
import { $, el } from "./ui/dom";
import { help } from "./ui/help";
import { takeKey, watchPointer } from "./ui/reach";

const KEYS: [string, string, (app: App) => void][] = [
    [" ", "play, pause", (app) => app.play(1)],
    ["r", "play backward", (app) => app.play(-1)],
    ["ArrowRight", "a step; with Shift ten", (app) => app.stepBy(1)],
    ["ArrowLeft", "a step back; with Shift ten", (app) => app.stepBy(-1)],
    ["Home", "first step", (app) => app.stepBy(-Infinity)],
    ["End", "last step", (app) => app.stepBy(Infinity)],
    ["+", "faster", (app) => changeSpeed(app, 1)],
    ["-", "slower", (app) => changeSpeed(app, -1)],
    ["n", "the next event", (app) => toEvent(app, 1)],
    ["p", "the event before", (app) => toEvent(app, -1)],
    ["w", "the worst step there is, and its worst contact", (app) => worst(app)],
    ["c", "the next contact", (app) => app.pickContact((app.contactIndex() + 1) % Math.max(1, app.contacts?.count ?? 1))],
    ["b", "the next body", (app) => nextBody(app)],
    ["f", "follow the picked body", () => toggle("follow")],
    ["h", "hide the picked body", (app) => app.selected !== 0 && app.toggleHidden(app.selected)],
    ["u", "show all bodies", (app) => showAll(app)],
    ["0", "see everything", (app) => app.home()],
    ["ArrowUp", "nearer", (app) => app.stage?.orbit(0, 0, 0.9)],
    ["ArrowDown", "farther", (app) => app.stage?.orbit(0, 0, 1 / 0.9)],
    [",", "turn the view", (app) => app.stage?.orbit(-0.15, 0, 1)],
    [".", "turn it the other way", (app) => app.stage?.orbit(0.15, 0, 1)],
    ["PageUp", "see it from higher", (app) => app.stage?.orbit(0, -0.15, 1)],
    ["PageDown", "see it from lower", (app) => app.stage?.orbit(0, 0.15, 1)],
    ["1", "the episode", (app) => app.showTab("episode")],
    ["2", "bodies", (app) => app.showTab("body")],
    ["3", "contacts", (app) => app.showTab("contacts")],
    ["4", "plots", (app) => app.showTab("plots")],
    ["5", "solve the step again", (app) => app.showTab("again")],
    ["6", "the episodes of a group", (app) => app.opened !== null && app.opened.groups.length > 0 && app.showTab("group")],
    ["d", "light or dark", (app) => flipTheme(app)],
    ["Escape", "pick nothing", (app) => app.pickBody(0)],
    ["?", "these keys", () => $<HTMLDialogElement>("keys").showModal()],
];

function toggle(id: string): void {
    const box = $<HTMLInputElement>(id);
    box.checked = !box.checked;
}

function changeSpeed(app: App, by: number): void {
    const index = SPEEDS.indexOf(app.speed) + by;
    app.setSpeed(nth(SPEEDS, Math.max(0, Math.min(SPEEDS.length - 1, index))));
}

function worst(app: App): void {
    void app.seekWorst(0, app.episode?.lastStep ?? 0);
}

function toEvent(app: App, direction: number): void {
    const steps = app.events.map(({ step }) => step).filter((step) => (step - app.step) * direction > 0);
    if (steps.length > 0) {
        app.stop();
        void app.seek(direction > 0 ? Math.min(...steps) : Math.max(...steps));
    }
}

function nextBody(app: App): void {
    const ids = app.frame?.ids ?? [];
    app.pickBody(ids[(ids.indexOf(app.selected) + 1) % Math.max(1, ids.length)] ?? 0);
}

function showAll(app: App): void {
    app.hidden.clear();
    app.draw(true);
    app.showPanels();
}

function flipTheme(app: App): void {
    app.setTheme(document.documentElement.dataset.theme === "dark" ? "light" : "dark");
}

// Keys among them are given to the app; the others are left.
async function takeKeys(app: App, files: File[]): Promise<File[]> {
    const others: File[] = [];
    for (const file of files) {
        const key = file.size <= KEY_FILE_BYTES_MAX ? readSealKey(await file.text()) : null;
        if (key !== null) {
            app.giveKey(key);
        } else if (file.name.endsWith(".pub")) {
            app.addNote(`${file.name} ${NO_KEY}.`);
        } else {
            others.push(file);
        }
    }
    return others;
}

async function openFiles(app: App, files: FileList | null): Promise<void> {
    const all = await takeKeys(app, Array.from(files ?? []));
    const log = all.find((f) => f.name.endsWith("-wal")) ?? null;
    const file = all.find((f) => f !== log && !f.name.endsWith("-shm") && !f.name.endsWith("-reserve")) ?? log;
    if (file !== null && file !== undefined) {
        void app.open(file, file === log ? null : log, { ...readLink(location.hash), url: "" });
    }
}

function listen(app: App): void {
    const click = (id: string, act: () => void) => $(id).addEventListener("click", act);
    const pick = () => $("file").click();
    click("open", pick);
    click("open-large", pick);
    $<HTMLInputElement>("file").addEventListener("change", (event) => {
        const input = event.target as HTMLInputElement;
        void openFiles(app, input.files).then(() => (input.value = "")); // the same may be chosen again
    });
    $("url-form").addEventListener("submit", (event) => {
        event.preventDefault();
        void app.open(new URL($<HTMLInputElement>("url").value, location.href).href, null, readLink(""));
    });
    click("play", () => app.play(1));
    click("reverse", () => app.play(-1));
    click("back", () => app.stepBy(-1));
    click("forward", () => app.stepBy(1));
    click("start", () => app.stepBy(-Infinity));
    click("end", () => app.stepBy(Infinity));
    click("worst", () => worst(app));
    click("home", () => app.home());
    click("theme", () => flipTheme(app));
    click("help", () => $<HTMLDialogElement>("keys").showModal());
    click("badge", () => app.showTab("episode"));
    click("show-contacts", () => app.draw(false));
    $("step").addEventListener("change", () => void app.seek(Number($<HTMLInputElement>("step").value)));
    $("episodes").addEventListener("change", () => {
        const value = $<HTMLSelectElement>("episodes").value, row = app.row(value);
        if (value.startsWith("group:")) {
            void app.showGroup(Number(value.slice(6)));
        } else if (row !== undefined) {
            void app.choose(row, null);
        }
    });
    $("second").addEventListener("change", () => void app.chooseSecond($<HTMLSelectElement>("second").value));
    $("speed").replaceChildren(...SPEEDS.map((s) => el("option", { value: s }, `${s}×`)));
    $("speed").addEventListener("change", () => app.setSpeed(Number($<HTMLSelectElement>("speed").value)));
    app.setSpeed(1);
    for (const button of document.querySelectorAll<HTMLElement>("[data-tab]")) {
        button.addEventListener("click", () => app.showTab(button.dataset.tab ?? "episode"));
    }
    help($("keys"), KEYS);
}

function listenToKeys(app: App): void {
    window.addEventListener("keydown", (event) => {
        const isTyping = event.target instanceof HTMLInputElement && event.target.type !== "checkbox";
        if (!isTyping && !event.ctrlKey && !event.metaKey && !event.altKey && takeKey(event)) {
            return;
        }
        if (isTyping || event.target instanceof HTMLSelectElement || event.ctrlKey || event.metaKey || event.altKey || $<HTMLDialogElement>("keys").open) {
            return;
        }
        const found = KEYS.find(([key]) => key === event.key || key === event.key.toLowerCase());
        if (found === undefined) {
            return;
        }
        event.preventDefault();
        if (event.shiftKey && (event.key === "ArrowRight" || event.key === "ArrowLeft")) {
            app.stepBy(event.key === "ArrowRight" ? 10 : -10);
        } else {
            found[2](app);
        }
    });
}

function listenToPointer(app: App): void {
    watchPointer();
    const view = $("view");
    let at = { x: 0, y: 0 };
    view.addEventListener("pointerdown", (event) => (at = { x: event.clientX, y: event.clientY }));
    view.addEventListener("click", (event) => {
        if (Math.hypot(event.clientX - at.x, event.clientY - at.y) < 4) { // else it turned the camera
            app.pickAt(event.clientX, event.clientY);
        }
    });
    window.addEventListener("dragover", (event) => {
        event.preventDefault();
        document.body.classList.add("dropping");
    });
    window.addEventListener("dragleave", () => document.body.classList.remove("dropping"));
    window.addEventListener("drop", (event) => {
        event.preventDefault();
        document.body.classList.remove("dropping");
        void openFiles(app, event.dataTransfer?.files ?? null);
    });
}

// What a running world is shown without is not looked at before somebody asks for it.
function bringOnce(): () => Promise<Brought> {
    let brought: Promise<Brought> | null = null;
    return () => (brought ??= bring());
}

async function begin(): Promise<void> {
    const aim = readAim(location.hash);
    // the server is asked while the picture's shaders are made
    const opening = aim === null ? null : Connection.open(aim.address, aim.token);
    opening?.catch(() => undefined); // said by who waits for it
    const dynamics = bringOnce(), app = new App(new Client(), dynamics);
    const live = new Live(app);
    Object.assign(window, { moreau: app, live });
    listen(app);
    listenToKeys(app);
    listenToPointer(app);
    app.setTheme(matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
    window.addEventListener("hashchange", () => void app.go(location.hash));
    if (aim !== null) {
        await live.begin(aim, opening);
        return;
    }
    dynamics().catch(() => undefined); // they are made ready while the file is opened, which says what fails
    const data = await embedded("episode"), brought = await embedded("seal-pub"), moment = readLink(location.hash);
    const key = brought === null ? null : keyOf(new Uint8Array(brought), true);
    if (key !== null) {
        app.giveKey(key);
    }
    if (data !== null) {
        await app.open(data, null, moment);
    } else if (moment.url !== "") {
        await app.open(moment.url, null, moment);
    } else if (moment.episode !== "") {
        app.note([{ text: `This link is to episode ${moment.episode.slice(0, 8)}: open the file that has it.`, isError: false }]);
    } else if (ownAddress() !== "") {
        await live.begin({ address: ownAddress(), token: "", world: "" });
    }
}

begin().catch((error: Error) => {
    $("notes").replaceChildren(el("p", { class: "error", role: "alert" }, `The page could not start: ${error.message}`));
});
