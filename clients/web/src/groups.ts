// SPDX-License-Identifier: MIT
// The episodes of a recording of a group: hundreds of thousands, page by page, in any order. Rows that nobody has
// checked; one is opened by stepping it.
import { toldGain } from "./log/chunk";
import { nth } from "./nth";
import type { Client } from "./store/client";
import { doubtfulShare, EpisodeRow, GROUP_ALL, GROUP_ORDERS, GROUP_PAGE, GroupFilter, GroupRow } from "./store/messages";
import { count, el, num } from "./ui/dom";

interface Column {
    name: string;
    tip: string;
    text: (row: EpisodeRow) => string;
    orders: string[]; // that a click on its head takes, one after the other
    isOfOpinion?: boolean;
}

const orNone = (value: number | null, text: (value: number) => string) => (value === null ? "–" : text(value));

const COLUMNS: Column[] = [
    { name: "world", tip: "", text: (row) => count(row.worldIndex), orders: ["world, then turn"] },
    { name: "turn", tip: "which episode of its seed and world it was", text: (row) => String(row.turn), orders: [] },
    { name: "seed", tip: "", text: (row) => String(row.seed ?? "–"), orders: ["lowest seed", "highest seed"] },
    { name: "steps", tip: "", text: (row) => orNone(row.length, count), orders: ["longest", "shortest"] },
    { name: "return", tip: "what the client counted", text: (row) => orNone(row.returnSum, (v) => num(v, 6)), orders: ["highest return", "lowest return"] },
    { name: "open", tip: "substeps that did not converge", text: (row) => orNone(row.unconverged, count), orders: ["most unconverged"] },
    { name: "gained", tip: "energy that nothing gave [J]", text: (row) => orNone(toldGain(row.gain), (v) => num(v, 3)), orders: [] },
    { name: "doubtful", tip: "steps with bad certificates", text: (row) => orNone(row.doubtfulSteps, count), orders: ["most doubtful steps"], isOfOpinion: true },
    { name: "share", tip: "what of the return was earned in doubtful steps", text: (row) => orNone(doubtfulShare(row), (v) => num(v, 3)), orders: ["largest doubtful share"], isOfOpinion: true },
    { name: "gap", tip: "of the worst second opinion, as a share of V", text: (row) => orNone(row.opinionGap, (v) => num(v, 2)), orders: ["largest gap of an opinion"], isOfOpinion: true },
];

type Limit = Exclude<keyof GroupFilter, "isDoubtful">;
const LIMITS: { label: string; of: { name: Limit; tip: string }[] }[] = [
    { label: "return", of: [{ name: "returnLeast", tip: "at least" }, { name: "returnMost", tip: "at most" }] },
    { label: "steps", of: [{ name: "lengthLeast", tip: "at least" }, { name: "lengthMost", tip: "at most" }] },
    { label: "seed", of: [{ name: "seed", tip: "this one" }] }, { label: "world", of: [{ name: "world", tip: "this one" }] },
];

// undefined: it is no such number.
function readLimit(name: Limit, text: string): number | bigint | null | undefined {
    if (text.trim() === "") {
        return null;
    }
    if (name === "seed") {
        return /^\d{1,20}$/.test(text.trim()) ? BigInt.asUintN(64, BigInt(text.trim())) : undefined;
    }
    const value = Number(text);
    return Number.isFinite(value) ? value : undefined;
}

export class Groups {
    onOpen: (row: EpisodeRow) => void = () => undefined;
    onBeside: (row: EpisodeRow) => void = () => undefined;
    private groups: GroupRow[] = [];
    private group: GroupRow | null = null;
    private order = 0;
    private filter: GroupFilter = { ...GROUP_ALL };
    private from = 0;
    private rows: EpisodeRow[] = [];
    private total = 0;
    private selected = "";
    private token = 0;
    private said = "";
    private readonly head = el("p", {});
    private readonly limits = el("p", { id: "group-filter" });
    private readonly pages = el("p", {});
    private readonly table = el("table", { id: "group-episodes" });

    constructor(private readonly place: HTMLElement, private readonly client: Client) {}

    take(groups: GroupRow[]): void {
        this.groups = groups;
        this.group = null;
        this.selected = "";
        this.place.replaceChildren();
    }

    of(recording: number): GroupRow | null {
        return this.groups.find((group) => group.recording === recording) ?? null;
    }

    /** The page of episodes that is shown then; empty: there are none, or they could not be read. */
    async show(recording: number, selected = ""): Promise<EpisodeRow[]> {
        this.selected = selected;
        if (this.group?.recording !== recording) {
            this.group = this.of(recording);
            this.order = this.from = 0;
            this.filter = { ...GROUP_ALL };
            this.lay();
            await this.read();
        } else {
            this.draw();
        }
        return this.rows;
    }

    private async read(): Promise<void> {
        if (this.group === null) {
            return;
        }
        const token = ++this.token;
        this.said = "reading…";
        this.draw();
        try {
            const { rows, total } = await this.client.call("group", this.group.recording, this.order, this.filter, this.from);
            if (token !== this.token) {
                return;
            }
            this.rows = rows;
            this.total = total;
            this.said = "";
        } catch (error) {
            this.rows = [];
            this.said = (error as Error).message;
        }
        this.draw();
    }

    private goTo(from: number): void {
        this.from = Math.max(0, Math.min(from, Math.floor((Math.max(1, this.total) - 1) / GROUP_PAGE) * GROUP_PAGE));
        void this.read();
    }

    private orderBy(name: string): void {
        this.order = Math.max(0, GROUP_ORDERS.indexOf(name));
        this.goTo(0);
    }

    private limit(name: Limit, field: HTMLInputElement): void {
        const value = readLimit(name, field.value);
        field.setCustomValidity(value === undefined ? "That is no such number." : "");
        field.reportValidity();
        if (value !== undefined) {
            this.filter = { ...this.filter, [name]: value };
            this.goTo(0);
        }
    }

    // What stays while pages are turned, as somebody may be writing there.
    private lay(): void {
        const { group } = this;
        if (group === null) {
            return;
        }
        const fields = LIMITS.map(({ label, of }) => el("span", {}, label, ...of.map(({ name, tip }) => el("input", { "data-limit": name, placeholder: tip, title: `${label}: ${tip}`, inputmode: "decimal",
            onchange: (event: globalThis.Event) => this.limit(name, event.target as HTMLInputElement) }))));
        const doubtful = el("label", {}, el("input", { type: "checkbox", id: "group-doubtful", onchange: (event: globalThis.Event) => {
            this.filter = { ...this.filter, isDoubtful: (event.target as HTMLInputElement).checked };
            this.goTo(0);
        } }), " doubtful");
        this.limits.replaceChildren(...fields, ...(group.hasOpinion ? [doubtful] : []));
        this.head.replaceChildren(el("strong", {}, group.name || group.uid.slice(0, 8)), ` ${count(group.episodes)} episodes of a group of ${count(group.worlds)} worlds, ${group.state}`);
        this.place.replaceChildren(this.head, this.limits, this.pages, this.table,
            el("p", { class: "note" }, "Rows as they stand in the file: nobody has checked them. An episode is stepped again from its calls when it is opened, and the hashes on its way compared." +
                (group.hasOpinion ? " Its doubtful steps are counted again by that; what was earned in them, and how far second opinions were off, is read and not recomputed." : "")));
    }

    private draw(): void {
        const { group, total } = this;
        if (group === null) {
            return;
        }
        const orders = GROUP_ORDERS.filter((name) => group.hasOpinion || !COLUMNS.some((column) => column.isOfOpinion && column.orders.includes(name)));
        const order = el("select", { id: "group-order", onchange: (event: globalThis.Event) => this.orderBy((event.target as HTMLSelectElement).value) },
            ...orders.map((name) => el("option", { value: name, selected: name === GROUP_ORDERS[this.order] }, name)));
        const turn = (text: string, from: number, isOff: boolean) => el("button", { disabled: isOff, onclick: () => this.goTo(from) }, text);
        const last = this.from + GROUP_PAGE >= total;
        this.pages.replaceChildren(order, " ", turn("|◀", 0, this.from === 0), turn("◀", this.from - GROUP_PAGE, this.from === 0),
            total === 0 ? " none " : ` ${count(this.from + 1)} … ${count(Math.min(this.from + GROUP_PAGE, total))} of ${count(total)} `,
            turn("▶", this.from + GROUP_PAGE, last), turn("▶|", Infinity, last), this.said === "" ? "" : el("span", { class: "dim" }, ` ${this.said}`));
        const columns = COLUMNS.filter((column) => group.hasOpinion || !column.isOfOpinion);
        const head = columns.map(({ name, tip, orders: by }) => el("th", { title: by.length > 0 ? `${tip}${tip === "" ? "" : "; "}click: ${by.join(", ")}` : tip, class: by.length > 0 ? "sortable" : "",
            onclick: () => by.length > 0 && this.orderBy(nth(by, (by.indexOf(nth(GROUP_ORDERS, this.order)) + 1) % by.length)) }, name));
        const row = (one: EpisodeRow) => el("tr", { class: one.uid === this.selected ? "selected" : "", "data-episode": one.uid, onclick: () => this.onOpen(one) },
            ...columns.map(({ text }) => el("td", { class: "number" }, text(one))), el("td", {}, one.state),
            el("td", {}, el("button", { class: "beside", title: "beside the one that is shown", onclick: (event: globalThis.Event) => {
                event.stopPropagation();
                this.onBeside(one);
            } }, "⧉")));
        this.table.replaceChildren(el("thead", {}, el("tr", {}, ...head, el("th", {}, "state"), el("th", {}))), el("tbody", {}, ...this.rows.map(row)));
    }
}
