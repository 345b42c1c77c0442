// SPDX-License-Identifier: MIT
// The episodes of a recording of a group: hundreds of thousands, page by page, in any order. Rows that nobody has checked; one is opened by stepping it.
import type { Client } from "./store/client";
import { EpisodeRow, GROUP_ORDERS, GROUP_PAGE, GroupRow } from "./store/messages";
import { count, el, num } from "./ui/dom";

export class Groups {
    onOpen: (row: EpisodeRow) => void = () => undefined;
    private groups: GroupRow[] = [];
    private group: GroupRow | null = null;
    private order = 0;
    private from = 0;
    private rows: EpisodeRow[] = [];
    private selected = "";
    private token = 0;
    private said = "";

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
            this.from = 0;
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
            const rows = await this.client.call("group", this.group.recording, this.order, this.from);
            if (token !== this.token) {
                return;
            }
            this.rows = rows;
            this.said = "";
        } catch (error) {
            this.rows = [];
            this.said = (error as Error).message;
        }
        this.draw();
    }

    private goTo(from: number): void {
        this.from = Math.max(0, Math.min(from, Math.floor(((this.group?.episodes ?? 1) - 1) / GROUP_PAGE) * GROUP_PAGE));
        void this.read();
    }

    private draw(): void {
        const { group } = this;
        if (group === null) {
            return;
        }
        const order = el("select", { id: "group-order", onchange: (event: globalThis.Event) => {
            this.order = Number((event.target as HTMLSelectElement).value);
            this.goTo(0);
        } }, ...GROUP_ORDERS.map((name, i) => el("option", { value: i, selected: i === this.order }, name)));
        const turn = (text: string, from: number, isOff: boolean) => el("button", { disabled: isOff, onclick: () => this.goTo(from) }, text);
        const last = this.from + GROUP_PAGE >= group.episodes;
        const head = ["world", "turn", "seed", "steps", "return", "open", "state"];
        const row = (one: EpisodeRow) => el("tr", { class: one.uid === this.selected ? "selected" : "", "data-episode": one.uid, onclick: () => this.onOpen(one) },
            ...[count(one.worldIndex), String(one.turn), String(one.seed ?? "–"), one.length === null ? "–" : count(one.length), one.returnSum === null ? "–" : num(one.returnSum, 6),
                one.unconverged === null ? "–" : count(one.unconverged)].map((text) => el("td", { class: "number" }, text)), el("td", {}, one.state));
        this.place.replaceChildren(
            el("p", {}, el("strong", {}, group.name || group.uid.slice(0, 8)), ` ${count(group.episodes)} episodes of a group of ${count(group.worlds)} worlds, ${group.state}`),
            el("p", {}, order, " ", turn("|◀", 0, this.from === 0), turn("◀", this.from - GROUP_PAGE, this.from === 0),
                ` ${count(this.from + 1)} … ${count(Math.min(this.from + GROUP_PAGE, group.episodes))} `,
                turn("▶", this.from + GROUP_PAGE, last), turn("▶|", Infinity, last), this.said === "" ? null : el("span", { class: "dim" }, ` ${this.said}`)),
            el("table", { id: "group-episodes" }, el("thead", {}, el("tr", {}, ...head.map((name) => el("th", { title: name === "open" ? "steps that did not converge" : "" }, name)))), el("tbody", {}, ...this.rows.map(row))),
            el("p", { class: "note" }, "Rows as they stand in the file: nobody has checked them. An episode is stepped again from its calls when it is opened; “prove” compares the hashes on its way."));
    }
}
