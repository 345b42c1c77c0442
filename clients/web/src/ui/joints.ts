// SPDX-License-Identifier: MIT
// The joints of a frame as a table.
import type { Frame } from "../log/frames";
import { JointNumbers, jointNumbers } from "../log/joints";
import { nth } from "../nth";
import type { Cast } from "../view/slots";
import { el, num } from "./dom";

const JOINTS_SHOWN = 500;

function text(one: JointNumbers, values: number[], per: string): string {
    const moves = one.axes.filter((axis) => axis.length === 1).length, isQuaternion = values.length > one.axes.length;
    const some = (from: number, to: number) => values.slice(from, to).map((v) => num(v)).join(", ");
    const parts = [moves > 0 ? `${some(0, moves)} m${per}` : "", values.length > moves ? some(moves, values.length) + (isQuaternion ? "" : ` rad${per}`) : ""];
    return parts.filter((part) => part !== "").join("; ");
}

/** null: it has none that move, or does not say which. */
export function jointTable(frame: Frame, cast: Cast): HTMLElement | null {
    const all = frame.joints === null ? [] : jointNumbers(frame.joints, frame.jointPosition, frame.jointVelocity);
    if (frame.joints === null || all.length === 0) {
        return null;
    }
    const { ids } = frame.joints, isNamed = cast.joints.length === ids.length; // some broke or were removed: nothing says which
    const nameOf = (id: number) => (isNamed && nth(cast.joints, ids.indexOf(id)).joint.name) || `#${id}`;
    const rows = all.slice(0, JOINTS_SHOWN).map((one) => el("tr", { "data-joint": one.id },
        el("td", { class: "name", title: nameOf(one.id) }, nameOf(one.id)), el("td", { class: "dim" }, one.axes.join(" ")),
        el("td", { class: "number" }, text(one, one.position, "")), el("td", { class: "number" }, text(one, one.velocity, "/s"))));
    return el("table", { class: "joints", "aria-label": "joints" },
        el("thead", {}, el("tr", {}, ...([["joint", ""], ["axes", "x: along it; ∠x: about it"], ["position", "of three turns a quaternion w x y z"], ["velocity", ""]] as const)
            .map(([name, title]) => el("th", { title }, name)))), el("tbody", {}, ...rows),
        all.length > JOINTS_SHOWN ? el("caption", {}, `the first ${JOINTS_SHOWN} of ${all.length}`) : null);
}
