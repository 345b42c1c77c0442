// SPDX-License-Identifier: MIT
// Watching a running server: which worlds it has, and one of them as it moves. The token stays in memory, and is taken
// out of the page's address.
import { $, count, el, num } from "../ui/dom";
import { jointTable } from "../ui/joints";
import type { App } from "../app";
import type { Frame } from "../log/frames";
import { nth } from "../nth";
import { LiveCast, contactsOf } from "./cast";
import { Connection, Refused } from "./connection";
import { CALL, CODE } from "./messages";
import { Strip } from "./strip";
import { Message, write } from "./wire";

const WAIT_MS = [500, 1000, 2000, 4000, 8000]; // before the next try to come back
const RATE_MS = 1000; // over which frames per second are counted
const ENTRIES = ["e_own", "e_mom", "e_pen", "e_comp", "e_cone", "e_mdp", "e_DS", "e_row", "penetration"];

/** What is watched: a world, or a world of a group, by ids; "": none. */
interface Place {
    world: string;
    group: string;
    index: number; // in the group
}

/** No world and no group: the first that there is. */
interface Aim extends Place {
    address: string;
    token: string;
}

const NOWHERE: Place = { world: "", group: "", index: 0 };

/** As it stands in the page's address. */
function linkOf(place: Place): string {
    return place.group !== "" ? `group=${place.group}&index=${place.index}` : `world=${place.world}`;
}

const keyOf = (place: Place): string => (place.group !== "" ? `group ${place.group}` : place.world);

/** What the address says of a server; null: nothing. The token does not stay in it. */
export function readAim(hash: string): Aim | null {
    const parts = new URLSearchParams(hash.replace(/^#/, "")), address = parts.get("live");
    if (address === null) {
        return null;
    }
    const index = Number(parts.get("index") ?? 0), isIndex = Number.isSafeInteger(index) && index >= 0;
    const aim = { address, token: parts.get("token") ?? "", world: parts.get("world") ?? "", group: parts.get("group") ?? "", index: isIndex ? index : 0 };
    parts.delete("token");
    history.replaceState(null, "", "#" + parts.toString().replace(/%3A/g, ":").replace(/%2F/g, "/"));
    return aim;
}

/** Of the server that has served the page, if one has. */
export function ownAddress(): string {
    const scheme = { "http:": "ws:", "https:": "wss:" }[location.protocol];
    return scheme === undefined ? "" : `${scheme}//${location.host}/v1/live`;
}

export class Live {
    /** For tests: what was seen last. */
    step = -1;
    episode = -1; // of a world of a group; -1: none has begun
    episodeStep = 0;
    frames = 0;
    skipped = 0;
    state = ""; // "": not live; connecting, watching, waiting, choosing
    private aim: Aim = { address: "", token: "", ...NOWHERE };
    private worldsOf = new Map<string, number>(); // of groups: how many they have
    private failure = ""; // of a world of a group: why the last row that failed did so
    private connection: Connection | null = null;
    private cast = new LiveCast();
    private subscription = 0;
    private tries = 0;
    private timer = 0;
    private turn = 0; // of what was begun last; what comes for an older one is late
    private event: Message = {};
    private frame: Frame | null = null;
    private arrivals: number[] = [];
    private isAsked = false;
    private readonly strip = new Strip($<HTMLCanvasElement>("live-strip"));

    constructor(private readonly app: App) {
        $("live-form").addEventListener("submit", (event) => {
            event.preventDefault();
            const box = $<HTMLInputElement>("live-token");
            void this.begin({ address: $<HTMLInputElement>("live-address").value.trim(), token: box.value });
            box.value = "";
        });
        $<HTMLInputElement>("live-address").value = ownAddress();
        $("live-world").addEventListener("change", () => {
            const key = $<HTMLSelectElement>("live-world").value, isGroup = this.worldsOf.has(key);
            void this.watch(isGroup ? { ...NOWHERE, group: key.replace("group ", "") } : { ...NOWHERE, world: key }, true);
        });
        $("live-index").addEventListener("change", () => this.turnTo(Number($<HTMLInputElement>("live-index").value)));
        $("live-previous").addEventListener("click", () => this.turnTo(this.aim.index - 1));
        $("live-next").addEventListener("click", () => this.turnTo(this.aim.index + 1));
        $("live-refresh").addEventListener("click", () => void this.list());
        $("live-contacts").addEventListener("change", () => void this.watch(this.aim, false));
        $("live-end").addEventListener("click", () => this.end());
        app.onOpen = () => this.end();
    }

    /** `opening`: a connection to there that was begun already. */
    async begin(aim: Partial<Aim> & { address: string; token: string }, opening: Promise<Connection> | null = null): Promise<void> {
        this.end();
        this.aim = { ...NOWHERE, ...aim };
        this.app.leave();
        document.body.classList.add("live");
        $("welcome").hidden = true;
        $("main").hidden = false;
        this.app.stage?.warm();
        $<HTMLInputElement>("live-address").value = aim.address;
        this.tries = 0;
        await this.connect(opening);
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

    private async connect(opening: Promise<Connection> | null = null): Promise<void> {
        const turn = ++this.turn;
        this.state = "connecting";
        this.say(`connecting to ${this.aim.address} …`);
        try {
            const connection = await (opening ?? Connection.open(this.aim.address, this.aim.token));
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
        const wait = nth(WAIT_MS, Math.min(this.tries++, WAIT_MS.length - 1));
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
        const groups: Message[] = (await connection.call(CALL.groupList, write({}))).group_list?.groups ?? [];
        const places: { place: Place; text: string }[] = [
            ...worlds.map((w) => ({
                place: { ...NOWHERE, world: String(w.world) }, text: `${w.name ?? w.world} · ${count(w.bodies ?? 0)} bodies, step ${count(w.step ?? 0)}`,
            })),
            ...groups.map((g) => ({
                place: { ...NOWHERE, group: String(g.group) }, text: `group ${g.name ?? g.group} · ${count(g.count ?? 0)} worlds of ${count(g.bodies ?? 0)} ${g.bodies === 1 ? "body" : "bodies"}`,
            })),
        ];
        this.worldsOf = new Map(groups.map((g) => [`group ${g.group}`, g.count ?? 0]));
        const box = $<HTMLSelectElement>("live-world");
        box.replaceChildren(...places.map((p) => el("option", { value: keyOf(p.place) }, p.text)));
        if (places.length === 0) {
            this.state = "choosing";
            this.say("The server has no worlds now.");
            return;
        }
        const isAnywhere = keyOf(this.aim) === "", isThere = places.some((p) => keyOf(p.place) === keyOf(this.aim));
        if (!isThere && !isAnywhere) {
            this.state = "choosing";
            box.value = "";
            this.say(`The server has no ${this.aim.group !== "" ? "" : "world "}${keyOf(this.aim)} now: choose another.`);
        } else {
            await this.watch(isAnywhere ? nth(places, 0).place : this.aim, this.state !== "watching");
        }
    }

    // To another world of the group, seen from the same side.
    private turnTo(index: number): void {
        const last = (this.worldsOf.get(keyOf(this.aim)) ?? 0) - 1;
        if (this.aim.group !== "" && Number.isFinite(index)) {
            void this.watch({ ...this.aim, index: Math.max(0, Math.min(last, Math.round(index))) }, false);
        }
    }

    private showPlace(): void {
        const { group, index } = this.aim, total = this.worldsOf.get(keyOf(this.aim)) ?? 0;
        $<HTMLSelectElement>("live-world").value = keyOf(this.aim);
        $("live-place").hidden = group === "";
        const box = $<HTMLInputElement>("live-index");
        box.value = String(index);
        box.max = String(total - 1);
        $("live-count").textContent = `of 0 … ${total - 1}`;
        $<HTMLButtonElement>("live-previous").disabled = index === 0;
        $<HTMLButtonElement>("live-next").disabled = index >= total - 1;
        history.replaceState(null, "", `#live=${this.aim.address}&${linkOf(this.aim)}`);
    }

    // `isNew`: seen as a whole, from in front
    private async watch(place: Place, isNew: boolean): Promise<void> {
        const connection = this.connection, turn = ++this.turn;
        if (connection === null || keyOf(place) === "") {
            return;
        }
        connection.onLost = () => turn === this.turn && this.retry("The connection to the server was lost.");
        if (this.subscription !== 0) {
            connection.cancel(this.subscription);
        }
        const isElsewhere = isNew || linkOf(place) !== linkOf(this.aim);
        this.aim = { ...this.aim, world: place.world, group: place.group, index: place.index };
        this.showPlace();
        this.state = "watching";
        this.say("");
        this.cast = new LiveCast();
        this.arrivals = [];
        if (isElsewhere) {
            this.strip.clear();
            this.step = this.episode = -1;
            this.frames = this.skipped = this.episodeStep = 0;
            this.failure = "";
        }
        const wantsContacts = $<HTMLInputElement>("live-contacts").checked, inGroup = place.group !== "";
        const subscribe = write({
            1: inGroup ? undefined : BigInt(place.world), 7: true, 8: wantsContacts, 10: true, 11: inGroup ? BigInt(place.group) : undefined, 12: inGroup ? place.index : undefined,
        });
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
            this.frame = frame;
            const contacts = contactsOf(event, frame.step);
            this.frames++;
            this.skipped += event.skipped ?? 0;
            this.step = frame.step;
            this.episode = event.episode ?? -1;
            this.episodeStep = event.episode_step ?? 0;
            this.failure = event.failure?.message ?? this.failure;
            const stage = this.app.stage;
            if (isFirst) {
                stage?.fit(this.cast, [frame]);
                stage?.home();
            }
            stage?.show({
                episode: this.cast, frame, contacts, second: null, selected: 0, contact: -1, hidden: new Set(),
                showContacts: contacts !== null,
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
        const when = this.aim.group === "" ? `step ${count(frame.step)}`
            : this.episode < 0 ? "no episode has begun" : `episode ${count(this.episode)}, step ${count(this.episodeStep)}${event.episode_over === true ? ", over" : ""}`;
        $("stage-text").textContent = `${when}   ${num(frame.time, 6)} s   ${this.arrivals.length} frames a second`;
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
            ["state", faulted !== true ? "sound" : this.aim.group === "" ? "faulted: it must be set before it steps again" : "faulted: its episode is over"],
        ];
        if (this.aim.group !== "") {
            rows.push(["episode", this.episode < 0 ? "none has begun" : count(this.episode)], ["step in it", count(this.episodeStep)]);
        }
        if (this.failure !== "") {
            rows.push(["failed", this.failure]);
        }
        if (reports !== undefined) {
            const solver = reports.solver_time?.[0] ?? 0;
            rows.push(["contacts", count(reports.contacts?.[0] ?? 0)], ["rows", count(reports.rows?.[0] ?? 0)], ["iterations", count(reports.iterations?.[0] ?? 0)],
                ["converged", reports.converged?.[0] === 1 ? "yes" : "no"], ["solver time", solver > 0 ? `${num(solver * 1000, 3)} ms` : "not taken"],
                ["energy", `${num(reports.energy?.after?.[0] ?? NaN, 6)} J`], ...ENTRIES.map((name): [string, string] => [name, num(last?.[name]?.[0] ?? NaN)]));
        }
        $("live-joints").replaceChildren(...(this.frame === null ? [] : [jointTable(this.frame, this.cast)]).filter((table) => table !== null));
        $("live-facts").replaceChildren(...rows.flatMap(([name, value]) => [el("dt", {}, name), el("dd", { "data-live": name }, value)]));
        this.strip.draw(this.app.colors);
    }
}
