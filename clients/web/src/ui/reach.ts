// SPDX-License-Identifier: MIT
// What a mouse clicks on, a keyboard reaches: rows of tables and lists take the focus one at a time, arrows go from one
// to the next, Enter and the space bar press; and what is drawn anew keeps the focus where it was.

/** Rows that can be pressed: Tab comes to the one that is selected, or the first. */
export function rows<T extends HTMLElement>(all: T[]): T[] {
    const selected = Math.max(0, all.findIndex((row) => row.classList.contains("selected")));
    all.forEach((row, i) => {
        row.tabIndex = i === selected ? 0 : -1;
        row.dataset.press = "";
        if (row.classList.contains("selected")) {
            row.setAttribute("aria-current", "true");
        }
    });
    return all;
}

// By what the same element is found again.
function nameOf(element: Element): string {
    if (element.id !== "") {
        return `#${element.id}`;
    }
    const data = [...element.attributes].filter(({ name, value }) => name.startsWith("data-") && value !== "");
    return data.map(({ name, value }) => `[${name}="${CSS.escape(value)}"]`).join("");
}

/** Runs what draws a place anew; the focus goes back to the element of the same name. */
export function keepFocus(place: HTMLElement, draw: () => void): void {
    const focus = document.activeElement, name = focus !== null && place.contains(focus) && focus !== place ? nameOf(focus) : "";
    draw();
    if (name !== "") {
        place.querySelector<HTMLElement>(name)?.focus({ preventScroll: true });
    }
}

function neighbour(of: HTMLElement, key: string): HTMLElement | null {
    const side = key === "ArrowDown" || key === "ArrowRight" ? "nextElementSibling" : "previousElementSibling";
    let next = of[side];
    while (next instanceof HTMLElement && next.hidden) {
        next = next[side];
    }
    return next instanceof HTMLElement ? next : null;
}

// What the pointer pressed: as long as that has the focus, the keys are the player's. (:focus-visible forgets it with
// the first key.)
let pointed: EventTarget | null = null;
const wasPointed = (target: HTMLElement) => pointed instanceof Node && target.contains(pointed);

export function watchPointer(): void {
    window.addEventListener("pointerup", (event) => (pointed = event.target), { capture: true }); // behind the change of the focus
    window.addEventListener("focusout", () => (pointed = null));
}

/** True: the key was for the element that has the focus. */
export function takeKey(event: KeyboardEvent): boolean {
    const target = event.target, { key } = event;
    if (!(target instanceof HTMLElement)) {
        return false;
    }
    const isTab = target.matches("[role=tab]") && !wasPointed(target), isRow = target.matches("[data-press]");
    if ((isTab && (key === "ArrowLeft" || key === "ArrowRight")) || (isRow && (key === "ArrowDown" || key === "ArrowUp"))) {
        const next = neighbour(target, key);
        next?.focus();
        if (isTab) {
            next?.click();
        } else if (next !== null) {
            target.tabIndex = -1;
            next.tabIndex = 0;
        }
        event.preventDefault();
        return true;
    }
    if ((key === "Enter" || key === " ") && target.matches("button, summary, input, a, [data-press]") && !wasPointed(target)) {
        if (isRow) {
            target.click();
            event.preventDefault();
        }
        return true;
    }
    return false;
}
