// SPDX-License-Identifier: MIT
// Colours that people with any of the common kinds of colour blindness tell apart (after Okabe and Ito); shapes of marks say the same again.

export const STATE_COLORS = ["#8c8c8c", "#0072b2", "#e69f00"]; // open, stick, slide
export const BODY_COLORS = ["#7fb8da", "#e8b04a", "#4fb59a", "#d69ac0", "#e2865a", "#b9c46a", "#9aa7d8", "#c9a27e"];
export const STATIC_COLOR = "#9a9a9a";
export const SELECTED_COLOR = "#ff5c00";
export const SECOND_COLOR = "#cc79a7"; // the episode beside

export interface Theme {
    background: string;
    plane: string;
    line: string;
    text: string;
    dim: string;
    shadow: number; // how much of the light what lies near takes
}

export const THEMES: Record<"light" | "dark", Theme> = {
    light: { background: "#f4f5f6", plane: "#e3e5e8", line: "#b8bcc2", text: "#1b1e22", dim: "#5d646d", shadow: 0.5 },
    dark: { background: "#16181b", plane: "#22262b", line: "#3d444c", text: "#e6e8ea", dim: "#9aa2ab", shadow: 0.75 },
};
