// SPDX-License-Identifier: MIT
// What stands under the question mark: keys, and what the marks mean.
import { STATE_NAMES } from "../measures";
import { nth } from "../nth";
import { STATE_HUES, STATE_MARKS, styleOf } from "../view/palette";
import { el } from "./dom";
import { EVENT_KINDS, lookOf } from "./timeline";

const KEY_NAMES: Record<string, string> = { " ": "space", ArrowRight: "→", ArrowLeft: "←", ArrowUp: "↑", ArrowDown: "↓", Escape: "Esc", PageUp: "Page ↑", PageDown: "Page ↓" };

export function help(dialog: HTMLElement, keys: readonly (readonly [string, string, ...unknown[]])[]): void {
    const mark = (letter: string, hue: string, what: string) => [el("dt", { style: `color:${hue}` }, letter), el("dd", {}, what)];
    dialog.replaceChildren(
        el("form", { method: "dialog" }, el("h2", { id: "keys-title" }, "Keys and marks"), el("button", { autofocus: true }, "Close")),
        el("dl", { class: "keys" }, ...keys.flatMap(([key, what]) => [el("dt", {}, el("kbd", {}, KEY_NAMES[key] ?? key)), el("dd", {}, what)])),
        el("p", { class: "note" }, "Tab goes from part to part; in tables and lists ↑ and ↓ go from row to row, and Enter picks one."),
        el("div", { class: "marks" },
            el("div", {}, el("h3", {}, "Contacts"), el("dl", {}, ...STATE_NAMES.flatMap((name, state) => mark(nth(STATE_MARKS, state), styleOf(nth(STATE_HUES, state)), name)))),
            el("div", {}, el("h3", {}, "Timeline"), el("dl", {}, ...EVENT_KINDS.flatMap((kind) => mark(lookOf(kind).letter, styleOf(lookOf(kind).hue), lookOf(kind).title)),
                ...mark("▨", styleOf("red"), "bars with stripes: the step did not converge"))),
            el("div", {}, el("h3", {}, "Bodies"), el("dl", {}, el("dt", {}, "stripes"), el("dd", {}, "picked"), el("dt", {}, "a screen"), el("dd", {}, "of the episode beside"),
                el("dt", {}, "grey"), el("dd", {}, "stands still for good")))));
}
