// SPDX-License-Identifier: MIT
// Colours are seen, and told apart: contrast as WCAG 2 reckons it, colour blindness by the matrices of Machado,
// Oliveira and Fernandes (2009), differences in CIE Lab.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { CURVE_HUES, DASHES, Hue, STATE_HUES, STATE_MARKS, Theme, THEMES } from "../src/view/palette";
import { EVENT_KINDS, lookOf } from "../src/ui/timeline";

type Triple = [number, number, number];

const SIGHTS: Record<string, Triple[]> = { // of linear RGB, complete
    full: [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
    protanopia: [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    deuteranopia: [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]],
    tritanopia: [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.3039]],
};

function linear(color: string): Triple {
    const full = color.length === 4 ? color.replace(/[0-9a-f]/g, "$&$&") : color;
    assert.match(full, /^#[0-9a-f]{6}$/);
    return [1, 3, 5].map((i) => parseInt(full.slice(i, i + 2), 16) / 255).map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)) as Triple;
}

function contrast(a: string, b: string): number {
    const [high, low] = [a, b].map(linear).map(([r, g, bl]) => 0.2126 * r + 0.7152 * g + 0.0722 * bl).sort((x, y) => y - x);
    return (high + 0.05) / (low + 0.05);
}

function lab(color: string, sight: string): Triple {
    const seen = linear(color);
    const [r, g, b] = SIGHTS[sight].map((row) => Math.max(0, Math.min(1, row.reduce((sum, k, i) => sum + k * seen[i], 0))));
    const [x, y, z] = [(0.4124 * r + 0.3576 * g + 0.1805 * b) / 0.9505, 0.2126 * r + 0.7152 * g + 0.0722 * b, (0.0193 * r + 0.1192 * g + 0.9505 * b) / 1.089]
        .map((t) => (t > 216 / 24389 ? Math.cbrt(t) : (24389 / 27 * t + 16) / 116));
    return [116 * y - 16, 500 * (x - y), 200 * (y - z)];
}

function difference(a: string, b: string, sight: string): number {
    const p = lab(a, sight), q = lab(b, sight);
    return Math.hypot(p[0] - q[0], p[1] - q[1], p[2] - q[2]);
}

const style = readFileSync(`${process.env.MOREAU_WEB}/src/style.css`, "utf8");
const variables = (selector: string) =>
    Object.fromEntries([...style.slice(style.indexOf(selector + " {")).split("}")[0].matchAll(/--(\w+): (#\w+)/g)].map(([, name, value]) => [name, value]));

const NAMES = ["light", "dark"] as const;
const TEXT = 4.5, GRAPHIC = 3; // WCAG 2: success criteria 1.4.3 (AA) and 1.4.11
const APART = 20; // of Lab; 2 is what one can just see side by side, and marks here are small and far from each other

const behind = (theme: Theme) => [theme.background, theme.plane];

test("the measures measure", () => {
    assert.equal(contrast("#000", "#fff"), 21);
    assert.ok(Math.abs(contrast("#777777", "#fff") - 4.48) < 0.01); // WCAG's own example of a grey that is not enough
    assert.ok(difference("#000", "#fff", "full") > 99);
    // what deuteranopes are known to confuse, and what they are not
    assert.ok(difference("#a0522d", "#5a7a1e", "deuteranopia") < difference("#a0522d", "#5a7a1e", "full") / 2);
    assert.ok(difference("#0000ff", "#ffff00", "deuteranopia") > 100);
});

for (const name of NAMES) {
    const theme = THEMES[name], page = variables(name === "light" ? ":root" : ':root[data-theme="dark"]');

    test(`${name}: words are read on whatever is behind them`, () => {
        for (const back of [page.back, page.panel, page.select]) {
            for (const word of ["text", "dim", "bad", "good"]) {
                assert.ok(contrast(page[word], back) >= TEXT, `--${word} on ${back}: ${contrast(page[word], back).toFixed(2)}`);
            }
        }
        for (const back of behind(theme)) {
            for (const word of [theme.text, theme.dim]) {
                assert.ok(contrast(word, back) >= TEXT, `${word} on ${back}: ${contrast(word, back).toFixed(2)}`);
            }
        }
        assert.ok(contrast(page.text, page.back) >= 7);
    });

    test(`${name}: marks, curves and edges of what has the focus stand out`, () => {
        for (const [hue, color] of [...Object.entries(theme.hue), ["picked", theme.picked], ["accent", page.accent]]) {
            for (const back of [...behind(theme), page.back]) {
                assert.ok(contrast(color, back) >= GRAPHIC, `${hue} on ${back}: ${contrast(color, back).toFixed(2)}`);
            }
        }
    });

    test(`${name}: what means something else looks different to everybody`, () => {
        const groups: Hue[][] = [STATE_HUES, ["red", "blue"], ["red", "green"]]; // contacts; bars that did or did not converge; differs and proven
        for (const sight of Object.keys(SIGHTS)) {
            for (const group of groups) {
                group.forEach((a, i) => group.slice(0, i).forEach((b) => {
                    const apart = difference(theme.hue[a], theme.hue[b], sight);
                    assert.ok(apart >= APART, `${a} and ${b} with ${sight}: ${apart.toFixed(1)}`);
                }));
            }
        }
    });
}

test("nothing is told by its colour alone", () => {
    const areDistinct = (values: string[]) => assert.equal(new Set(values).size, values.length, values.join(" "));
    areDistinct(STATE_MARKS);
    areDistinct(EVENT_KINDS.map((kind) => lookOf(kind).letter));
    areDistinct([...CURVE_HUES, "grey" as Hue].map((hue) => DASHES[hue].join()));
});
