// SPDX-License-Identifier: MIT
// Elements and numbers as text.

export function $<T extends HTMLElement = HTMLElement>(id: string): T {
    const found = document.getElementById(id);
    if (found === null) {
        throw new Error(`the page has no ${id}`);
    }
    return found as T;
}

type Child = Node | string | number | null;
type Attribute = string | number | boolean | null | undefined | ((event: never) => unknown); // a function: of `on…`

/** An element with attributes, handlers (`on…`) and children. Text is text: what a file says never becomes markup. */
export function el<K extends keyof HTMLElementTagNameMap>(tag: K, attributes: Record<string, Attribute>, ...children: Child[]): HTMLElementTagNameMap[K] {
    const made = document.createElement(tag);
    for (const [key, value] of Object.entries(attributes)) {
        if (typeof value === "function") {
            made.addEventListener(key.slice(2), value as EventListener);
        } else if (value !== null && value !== undefined && value !== false) {
            made.setAttribute(key, value === true ? "" : String(value));
        }
    }
    made.append(...children.filter((c): c is Node | string | number => c !== null).map((c) => (typeof c === "number" ? String(c) : c)));
    return made;
}

/** Few digits that are read easily. */
export function num(value: number, digits = 4): string {
    if (!Number.isFinite(value)) {
        return "–";
    }
    const size = Math.abs(value);
    if (size !== 0 && (size < 1e-3 || size >= 1e6)) {
        return value.toExponential(digits - 1).replace(/\.?0*e\+?/, "e");
    }
    return String(+value.toPrecision(digits));
}

export function count(value: number): string {
    return value.toLocaleString("en").replace(/,/g, "\u202f");
}

export function bytes(value: number): string {
    const units = ["B", "kB", "MB", "GB", "TB"];
    const k = Math.min(units.length - 1, Math.max(0, Math.floor(Math.log10(Math.max(1, value)) / 3)));
    return `${+(value / 1000 ** k).toPrecision(3)} ${units[k]}`;
}

/** A canvas as large as its place, in the screen's own pixels. */
export function fitCanvas(canvas: HTMLCanvasElement): { context: CanvasRenderingContext2D; width: number; height: number } {
    const width = canvas.clientWidth, height = canvas.clientHeight, ratio = devicePixelRatio;
    if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
        canvas.width = Math.round(width * ratio);
        canvas.height = Math.round(height * ratio);
    }
    const context = canvas.getContext("2d") as CanvasRenderingContext2D;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, height);
    return { context, width, height };
}
