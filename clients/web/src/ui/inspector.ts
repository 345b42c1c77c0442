// SPDX-License-Identifier: MIT
// All contacts of the step as a table, and the one that is looked at as pictures and numbers.
import type { Episode } from "../episode";
import type { Contacts } from "../log/frames";
import { contactKey, judge, Judged, scaleOf, State, STATE_NAMES } from "../measures";
import { nth } from "../nth";
import { STATE_HUES, STATE_MARKS, styleOf, Theme } from "../view/palette";
import { drawCone, drawDisc, TrailPoint } from "./disc";
import { el, num } from "./dom";
import { keepFocus, rows as reachable } from "./reach";

const ROWS_MAX = 400; // shown at once
const TRAIL_STEPS = 240;

interface Column {
    key: string;
    title: string;
    tip: string;
    value: (one: Judged, list: Contacts, i: number) => number;
    digits: number;
}

const COLUMNS: Column[] = [
    { key: "normal", title: "λn [N s]", tip: "normal impulse", value: (one) => one.normal, digits: 4 },
    { key: "ratio", title: "λt/μλn", tip: "friction impulse against what the cone allows: 1 on its edge", value: (one) => one.ratio, digits: 3 },
    { key: "slip", title: "slip [m/s]", tip: "tangential speed after the step", value: (one) => one.slip, digits: 2 },
    { key: "approach", title: "vn [m/s]", tip: "normal velocity after the step; negative: they approach", value: (one) => one.approach, digits: 2 },
    { key: "gap", title: "gap [m]", tip: "negative: they overlap", value: (_one, list, i) => nth(list.gap, i), digits: 2 },
    { key: "defect", title: "defect [J]", tip: "μλn·slip + λt·vt: 0 where friction opposes slip as hard as it may", value: (one) => one.defect, digits: 2 },
];

const between = (episode: Episode, list: Contacts, i: number) => `${episode.bodyName(nth(list.bodyA, i))} – ${episode.bodyName(nth(list.bodyB, i))}`;

export class Inspector {
    onPick: (index: number) => void = () => undefined;
    private sort = "normal";
    private falling = true;
    private token = 0;
    private readonly table = el("table", { class: "contacts" });
    private readonly head = el("div", { class: "contact-head" });
    private readonly disc = el("canvas", { class: "disc", role: "img", "aria-label": "friction disc" });
    private readonly cone = el("canvas", { class: "cone", role: "img", "aria-label": "friction cone" });
    private readonly pictures = el("div", { class: "pictures" }, this.disc, this.cone);
    private readonly numbers = el("dl", { class: "numbers" });
    private readonly summary = el("p", { class: "note" });

    constructor(place: HTMLElement) {
        place.append(this.head, this.pictures, this.numbers, this.summary, el("div", { class: "scroll" }, this.table));
    }

    say(text: string): void {
        this.head.replaceChildren(el("p", { class: "note" }, text));
        this.pictures.hidden = this.numbers.hidden = true;
        this.summary.textContent = "";
        this.table.replaceChildren();
    }

    show(episode: Episode, list: Contacts, selected: number, theme: Theme): void {
        const scale = scaleOf(list, episode.fall);
        const judged = Array.from({ length: list.count }, (_, i) => judge(list, i, scale));
        const counts = [0, 0, 0];
        judged.forEach((one) => (counts[one.state] = nth(counts, one.state) + 1));
        this.summary.replaceChildren(`${list.count} contacts of step ${list.step}: `, ...STATE_NAMES.map((name, s) =>
            el("span", { class: "state" }, el("i", { style: `color:${styleOf(nth(STATE_HUES, s))}` }, nth(STATE_MARKS, s)), ` ${counts[s]} ${name}  `)));
        this.showTable(episode, list, judged, selected);
        const isPicked = selected >= 0 && selected < list.count;
        this.pictures.hidden = this.numbers.hidden = !isPicked;
        if (!isPicked) {
            this.head.replaceChildren(el("p", { class: "note" }, "Pick a contact: in the picture, in the table, or with the key C."));
            return;
        }
        this.showOne(episode, list, selected, nth(judged, selected), theme);
    }

    private showTable(episode: Episode, list: Contacts, judged: Judged[], selected: number): void {
        const column = COLUMNS.find((c) => c.key === this.sort) ?? nth(COLUMNS, 0);
        const order = judged.map((one, i) => ({ i, value: column.value(one, list, i) })).sort((a, b) => (this.falling ? b.value - a.value : a.value - b.value));
        const head = el("tr", {}, el("th", {}, ""), el("th", {}, "between"), ...COLUMNS.map((c) =>
            el("th", { title: c.tip, class: "sortable", "data-press": "", "data-sort": c.key, tabindex: 0, "aria-sort": c === column ? (this.falling ? "descending" : "ascending") : "none", onclick: () => this.sortBy(c.key) },
                c.title, c === column ? (this.falling ? " ▾" : " ▴") : "")));
        const rows = reachable(order.slice(0, ROWS_MAX).map(({ i }) => el("tr", {
            class: i === selected ? "selected" : "", "data-contact": contactKey(list, i), onclick: () => this.onPick(i),
        },
        el("td", { style: `color:${styleOf(nth(STATE_HUES, nth(judged, i).state))}`, title: STATE_NAMES[nth(judged, i).state] }, nth(STATE_MARKS, nth(judged, i).state)),
        el("td", { title: between(episode, list, i) }, between(episode, list, i)),
        ...COLUMNS.map((c) => el("td", { class: "number" }, num(c.value(nth(judged, i), list, i), c.digits))))));
        keepFocus(this.table, () => this.table.replaceChildren(el("thead", {}, head), el("tbody", {}, ...rows)));
        if (order.length > ROWS_MAX) {
            this.table.append(el("caption", {}, `the first ${ROWS_MAX} of ${order.length}`));
        }
    }

    onSort: () => void = () => undefined;
    private sortBy(key: string): void {
        this.falling = key === this.sort ? !this.falling : key !== "gap" && key !== "approach";
        this.sort = key;
        this.onSort();
    }

    private showOne(episode: Episode, list: Contacts, i: number, one: Judged, theme: Theme): void {
        this.head.replaceChildren(el("strong", {}, between(episode, list, i)),
            el("span", { class: "state" }, " ", el("i", { style: `color:${styleOf(nth(STATE_HUES, one.state))}` }, nth(STATE_MARKS, one.state)), ` ${STATE_NAMES[one.state]}`));
        const entries: [string, string][] = [
            ["λn", `${num(one.normal)} N s`], ["|λt|", `${num(one.tangent)} N s`], ["μ", num(nth(list.friction, i))], ["|λt| / μλn", num(one.ratio)],
            ["slip", `${num(one.slip)} m/s`], ["vn", `${num(one.approach)} m/s`], ["gap", `${num(nth(list.gap, i) * 1000)} mm`],
            ["defect", `${num(one.defect)} J`], ["outside", `${num(one.excess)} N s`], ["feature", nth(list.feature, i)],
        ];
        this.numbers.replaceChildren(...entries.flatMap(([k, v]) => [el("dt", {}, k), el("dd", { "data-number": k }, v)]));
        drawCone(this.cone, one, nth(list.friction, i), theme);
        void this.showTrail(episode, list, i, theme);
    }

    // The same contact in the steps before; what is not at hand comes a moment later.
    private async showTrail(episode: Episode, list: Contacts, i: number, theme: Theme): Promise<void> {
        const token = ++this.token;
        const key = contactKey(list, i), trail: TrailPoint[] = [];
        const first = Math.max(0, list.step - TRAIL_STEPS * episode.stride);
        for (let step = list.step; step >= first; step -= episode.stride) {
            const found = episode.contacts.now(step);
            const at = found === undefined ? await episode.contacts.at(step) : found;
            if (token !== this.token) {
                return;
            }
            if (at !== null && at.step === step) {
                addPoint(trail, at, key, episode.fall);
            }
        }
        drawDisc(this.disc, trail.reverse(), theme);
    }
}

function addPoint(trail: TrailPoint[], list: Contacts, key: string, fall: number): void {
    const scale = scaleOf(list, fall);
    for (let i = 0; i < list.count; i++) {
        if (contactKey(list, i) !== key) {
            continue;
        }
        const one = judge(list, i, scale), limit = nth(list.friction, i) * one.normal;
        const share = one.state === State.Open || limit <= 0 ? 0 : 1 / limit;
        trail.push({
            step: list.step, state: one.state, x: nth(list.impulse, 3 * i + 1) * share, y: nth(list.impulse, 3 * i + 2) * share,
            slip: [nth(list.velocity, 3 * i + 1), nth(list.velocity, 3 * i + 2)],
        });
        return;
    }
}
