// SPDX-License-Identifier: MIT
// The colours of the picture and the plots, by theme. Each stands out from what is behind it, and those that mean
// something beside each other are told apart with any of the common kinds of colour blindness (tests/palette.test.ts
// measures both); shape, dash, stripes or a word say the same again.

export type Hue = "grey" | "blue" | "sky" | "green" | "amber" | "red" | "pink" | "brown";
export const CURVE_HUES: Hue[] = ["blue", "amber", "green", "pink", "red", "sky", "brown"]; // in their order; grey is of what they are measured by
export const DASHES: Record<Hue, number[]> = {
    blue: [], amber: [6, 3], green: [1.5, 2.5], pink: [9, 3, 2, 3], red: [3, 2], sky: [9, 3, 2, 3, 2, 3], brown: [12, 4], grey: [1.5, 5],
};
export const STATE_HUES: Hue[] = ["grey", "blue", "amber"]; // open, stick, slide
export const STATE_MARKS = ["○", "■", "▲"];

export const BODY_COLORS = ["#7fb8da", "#e8b04a", "#4fb59a", "#d69ac0", "#e2865a", "#b9c46a", "#9aa7d8", "#c9a27e"];
export const STATIC_COLOR = "#9a9a9a";
/** Of what surfaces are made of beside their own material, in a scene's order; striped besides (instances.ts). */
export const PATCH_COLORS = ["#5f7fb4", "#d8c26a", "#7d5a44", "#a9d3c4", "#59606a", "#c98fa6"];
export const SECOND_COLOR = "#cc79a7"; // the episode beside

export interface Theme {
    background: string;
    plane: string;
    line: string;
    text: string;
    dim: string;
    shadow: number; // how much of the light what lies near takes
    picked: string;
    hue: Record<Hue, string>;
}

export const THEMES: Record<"light" | "dark", Theme> = {
    light: {
        background: "#f4f5f6", plane: "#e3e5e8", line: "#b8bcc2", text: "#1b1e22", dim: "#5d646d", shadow: 0.5, picked: "#e04a00",
        hue: { grey: "#7d828a", blue: "#0058a8", sky: "#2f89bd", green: "#00785a", amber: "#a87600", red: "#b83200", pink: "#b5558f", brown: "#5c3d14" },
    },
    dark: {
        background: "#16181b", plane: "#22262b", line: "#3d444c", text: "#e6e8ea", dim: "#9aa2ab", shadow: 0.75, picked: "#ff6a1f",
        hue: { grey: "#9aa0a6", blue: "#4593dd", sky: "#9bd8ff", green: "#2fc79a", amber: "#f5bd3d", red: "#ff7f45", pink: "#e58fc3", brown: "#a8845a" },
    },
};

/** What a style sheet calls it: elements follow the theme by themselves. */
export const styleOf = (hue: Hue) => `var(--${hue})`;
