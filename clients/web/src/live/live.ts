// SPDX-License-Identifier: MIT
// Watching a running server: which worlds it has, and one of them as it moves. The token stays in memory, and is taken out of the page's address.
import { $, count, el, num } from "../ui/dom";
import type { App } from "../app";
import { LiveCast, contactsOf } from "./cast";
import { Connection, Refused } from "./connection";
import { CALL, CODE } from "./messages";
import { Strip } from "./strip";
import { Message, write } from "./wire";

const WAIT_MS = [500, 1000, 2000, 4000, 8000]; // before the next try to come back
const RATE_MS = 1000; // over which frames per second are counted
const ENTRIES = ["e_own", "e_mom", "e_pen", "e_comp", "e_cone", "e_mdp", "e_DS", "e_row", "penetration"];

interface Aim {
    address: string;
    token: string;
    world: string; // id; "": the first that there is
}

/** What the address says of a server; null: nothing. The token does not stay in it. */
export function readAim(hash: string): Aim | null {
    const parts = new URLSearchParams(hash.replace(/^#/, "")), address = parts.get("live");
    if (address === null) {
        return null;
    }
    const aim = { address, token: parts.get("token") ?? "", world: parts.get("world") ?? "" };
    parts.delete("token");
    history.replaceState(null, "", "#" + parts.toString().replace(/%3A/g, ":").replace(/%2F/g, "/"));
    return aim;
}

/** Of the server that has served the page, if one has. */
export function ownAddress(): string {
    return location.protocol === "http:" ? `ws://${location.host}/v1/live` : "";
}

export class Live {
    /** For tests: what was seen last. */
    step = -1;
    frames = 0;
    skipped = 0;
    state = ""; // "": not live; connecting, watching, waiting, choosing
    private aim: Aim = { address: "", token: "", world: "" };
    private connection: Connection | null = null;
    private cast = new LiveCast();
    private subscription = 0;
    private tries = 0;
    private timer = 0;
    private turn = 0; // of what was begun last; what comes for an older one is late
    private event: Message = {};
    private arrivals: number[] = [];
    private isAsked = false;
    private readonly strip = new Strip($<HTMLCanvasElement>("live-strip"));

    constructor(private readonly app: App) {
        $("live-form").addEventListener("submit", (event) => {
            event.preventDefault();
            const box = $<HTMLInputElement>("live-token");
            void this.begin({ address: $<HTMLInputElement>("live-address").value.trim(), token: box.value, world: "" });
            box.value = "";
        });
        $<HTMLInputElement>("live-address").value = ownAddress();
        $("live-world").addEventListener("change", () => void this.watch($<HTMLSelectElement>("live-world").value, true));
        $("live-refresh").addEventListener("click", () => void this.list());
        $("live-contacts").addEventListener("change", () => void this.watch(this.aim.world, false));
        $("live-end").addEventListener("click", () => this.end());
        app.onOpen = () => this.end();
    }

    async begin(aim: Aim): Promise<void> {
        this.end();
        this.aim = aim;
        this.app.leave();
        document.body.classList.add("live");
        $("welcome").hidden = true;
        $("main").hidden = false;
        $<HTMLInputElement>("live-address").value = aim.address;
        this.tries = 0;
        await this.connect();
    }

    end(): void {
        this.turn++;
        clearTimeout(this.timer);
        this.connection?.close();
        this.connection = null;
        if (this.state !== "") {
            this.state = "";
            document.body.classList.remove("live");
            this.app.stage?.show(null, false);
            $("stage-text").textContent = $("overlay").textContent = "";
            $("main").hidden = true;
            $("welcome").hidden = false;
        }
    }

    private say(text: string): void {
        $("overlay").textContent = text;
    }

    private async connect(): Promise<void> {
        const turn = ++this.turn;
        this.state = "connecting";
        this.say(`connecting to ${this.aim.address} …`);
        try {
            const connection = await Connection.open(this.aim.address, this.aim.token);
            if (turn !== this.turn) {
                connection.close();
                return;
            }
            this.connection = connection;
            connection.onLost = () => turn === this.turn && this.retry("The connection to the server was lost.");
            this.tries = 0;
            this.say("");
            await this.list();
        } catch (error) {
            if (turn === this.turn) {
                this.fail(error as Error);
            }
        }
    }

    // What the server has refused with a sentence is not tried again.
    private fail(error: Error): void {
        if (error instanceof Refused || error instanceof SyntaxError || error instanceof DOMException) {
            this.end();
            this.app.note([{ text: `${this.aim.address}: ${error.message}`, isError: true }]);
        } else if (this.connection === null && this.tries === 0) {
            this.end();
            this.app.note([{ text: `${error.message} Is its server running, with --http at this address? One that demands a token wants it here; one that demands none lets no page in but its own: ` +
                "start it with --viewer FILE, and open its address in the browser.", isError: true }]);
        } else {
            this.retry(error.message);
        }
    }

    private retry(why: string): void {
        const wait = WAIT_MS[Math.min(this.tries++, WAIT_MS.length - 1)];
        this.connection = null;
        this.turn++;
        this.state = "waiting";
        this.say(`${why} Trying again in ${wait / 1000} s …`);
        this.timer = window.setTimeout(() => void this.connect(), wait);
    }

    /** Asks which worlds there are, and watches the one that is wanted. */
    private async list(): Promise<void> {
        const connection = this.connection;
        if (connection === null) {
            return;
        }
        const worlds: Message[] = (await connection.call(CALL.worldList, write({}))).world_list?.worlds ?? [];
        const box = $<HTMLSelectElement>("live-world");
        box.replaceChildren(...worlds.map((w) => el("option", { value: w.world }, `${w.name ?? w.world} · ${count(w.bodies ?? 0)} bodies, step ${count(w.step ?? 0)}`)));
        if (worlds.length === 0) {
            this.state = "choosing";
            this.say("The server has no worlds now.");
            return;
        }
        const wanted = worlds.find((w) => String(w.world) === this.aim.world);
        if (wanted === undefined && this.aim.world !== "") {
            this.state = "choosing";
            box.value = "";
            this.say(`The server has no world ${this.aim.world} now: choose another.`);
        } else {
            await this.watch(String((wanted ?? worlds[0]).world), this.state !== "watching" || String(box.dataset.watched) !== this.aim.world);
        }
    }

    private async watch(world: string, isNew: boolean): Promise<void> {
        const connection = this.connection, turn = ++this.turn;
        if (connection === null || world === "") {
            return;
        }
        connection.onLost = () => turn === this.turn && this.retry("The connection to the server was lost.");
        if (this.subscription !== 0) {
            connection.cancel(this.subscription);
        }
        this.aim.world = $<HTMLSelectElement>("live-world").value = world;
        history.replaceState(null, "", `#live=${this.aim.address}&world=${world}`);
        this.state = "watching";
        this.say("");
        this.cast = new LiveCast();
        this.arrivals = [];
        if (isNew) {
            this.strip.clear();
            this.step = -1;
            this.frames = this.skipped = 0;
        }
        const wantsContacts = $<HTMLInputElement>("live-contacts").checked;
        const subscribe = write({ 1: BigInt(world), 8: wantsContacts, 10: true });
        let isFirst = isNew;
        const take = (reply: Message) => {
            if (turn === this.turn) {
                this.take(reply.live_frame ?? {}, isFirst);
                isFirst = false;
            }
        };
        try {
            await connection.call(CALL.subscribe, subscribe, take, (id) => (this.subscription = id));
        } catch (error) {
            if (turn === this.turn && error instanceof Refused) {
                this.subscription = 0;
                this.state = "choosing";
                this.say(error.code === CODE.notFound ? error.message : `The server ended it: ${error.message}`);
                this.app.stage?.show(null, false);
            }
        }
    }

    private take(event: Message, isFirst: boolean): void {
        let frame;
        try {
            frame = this.cast.take(event);
            this.event = event;
            const contacts = contactsOf(event, frame.step);
            this.frames++;
            this.skipped += event.skipped ?? 0;
            this.step = frame.step;
            const stage = this.app.stage;
            if (isFirst) {
                stage?.fit(this.cast, [frame]);
                stage?.home();
            }
            stage?.show({
                episode: this.cast, frame, contacts, second: null, selected: 0, contact: -1, hidden: new Set(),
                showContacts: contacts !== null, showJoints: this.cast.joints.length > 0,
            }, isFirst);
        } catch (error) {
            this.retry(`The server sent what this page does not understand (${(error as Error).message}).`);
            return;
        }
        const now = performance.now(), last = event.reports?.last;
        this.arrivals = [...this.arrivals.filter((at) => at > now - RATE_MS), now];
        if (last !== undefined) {
            this.strip.add({ step: frame.step, residual: last.e_own?.[0] ?? NaN, tolerance: event.reports.tolerance?.[0] ?? 0, converged: event.reports.converged?.[0] === 1 });
        }
        $("stage-text").textContent = `step ${count(frame.step)}   ${num(frame.time, 6)} s   ${this.arrivals.length} frames a second`;
        if (!this.isAsked) {
            this.isAsked = true;
            requestAnimationFrame(() => this.showFacts());
        }
    }

    private showFacts(): void {
        this.isAsked = false;
        const { reports, faulted, frames } = this.event, last = reports?.last;
        const rows: [string, string][] = [
            ["bodies", count(frames?.body_count?.[0] ?? 0)], ["frames seen", count(this.frames)], ["left out", count(this.skipped)],
            ["state", faulted === true ? "faulted: it must be set before it steps again" : "sound"],
        ];
        if (reports !== undefined) {
            rows.push(["contacts", count(reports.contacts?.[0] ?? 0)], ["rows", count(reports.rows?.[0] ?? 0)], ["iterations", count(reports.iterations?.[0] ?? 0)],
                ["converged", reports.converged?.[0] === 1 ? "yes" : "no"], ["solver time", `${num((reports.solver_time?.[0] ?? 0) * 1000, 3)} ms`],
                ["energy", `${num(reports.energy?.after?.[0] ?? NaN, 6)} J`], ...ENTRIES.map((name): [string, string] => [name, num(last?.[name]?.[0] ?? NaN)]));
        }
        $("live-facts").replaceChildren(...rows.flatMap(([name, value]) => [el("dt", {}, name), el("dd", { "data-live": name }, value)]));
        this.strip.draw(this.app.colors);
    }
}
