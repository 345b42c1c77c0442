// SPDX-License-Identifier: MIT
// A link to a moment: what the page shows, in the part of its address behind the #.

export interface Moment {
    url: string; // of the episode file; "": it was opened from a disk, or is in the page
    episode: string;
    with: string; // the episode beside it
    step: number;
    body: number;
    contact: string;
    camera: number[]; // where it is, what it looks at
    tab: string;
}

const NOWHERE: Moment = { url: "", episode: "", with: "", step: -1, body: 0, contact: "", camera: [], tab: "" };

export function readLink(hash: string): Moment {
    const parts = new URLSearchParams(hash.replace(/^#/, ""));
    const text = (key: string) => parts.get(key) ?? "";
    const number = (key: string, standard: number) => (/^\d+$/.test(text(key)) ? Number(text(key)) : standard);
    const camera = text("camera").split(",").map(Number);
    return {
        url: text("url"), episode: text("episode"), with: text("with").toLowerCase(), step: number("step", -1), body: number("body", 0),
        contact: text("contact"), camera: camera.length === 6 && camera.every(Number.isFinite) ? camera : [], tab: text("tab"),
    };
}

export function writeLink(moment: Moment): string {
    const parts = new URLSearchParams();
    for (const key of Object.keys(NOWHERE) as (keyof Moment)[]) {
        const value = moment[key], text = Array.isArray(value) ? value.map((v) => +v.toPrecision(6)).join(",") : String(value);
        if (text !== "" && text !== String(NOWHERE[key])) {
            parts.set(key, text);
        }
    }
    return "#" + parts.toString().replace(/%2C/g, ",");
}
