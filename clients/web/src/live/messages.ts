// SPDX-License-Identifier: MIT
// What of moreau.proto the page knows of a running server, with the protocol's field numbers.
import type { Table } from "./wire";

const FACE: Table = { 1: ["points", "wholes"] };

// A shape has the name of one of the scene's besides, as its first field, and all others one later.
const HULL: Table = { 1: ["points", "reals"], 2: ["faces", [FACE]] };
const MESH: Table = { 1: ["points", "reals"], 2: ["triangles", "wholes"], 4: ["patches", "wholes"] };
const HEIGHTS: Table = { 1: ["columns", "whole"], 2: ["rows", "whole"], 3: ["spacing", "reals"], 4: ["heights", "reals"], 5: ["patches", "wholes"] };
function named(form: Table): Table {
    const table: Table = { 1: ["geometry", "text"] };
    for (const [field, of] of Object.entries(form) as [string, Table[number]][]) {
        table[Number(field) + 1] = of;
    }
    return table;
}

const SHAPE: Table = {
    1: ["sphere", { 1: ["radius", "real"] }],
    2: ["box", { 1: ["half_extents", "reals"] }],
    3: ["plane", { 1: ["normal", "reals"], 2: ["offset", "real"] }],
    4: ["capsule", { 1: ["radius", "real"], 2: ["half_length", "real"] }],
    5: ["cylinder", { 1: ["radius", "real"], 2: ["half_length", "real"] }],
    6: ["hull", named(HULL)], 7: ["mesh", named(MESH)], 8: ["height_field", named(HEIGHTS)],
    10: ["position", "reals"], 11: ["orientation", "reals"], 12: ["material", "text"], 17: ["patch_materials", "texts"],
};

const BODY: Table = {
    1: ["name", "text"], 2: ["kind", "whole"], 3: ["position", "reals"], 4: ["orientation", "reals"], 7: ["mass", "real"], 8: ["inertia", "reals"],
    9: ["center_of_mass", "reals"], 10: ["shapes", [SHAPE]],
};

const JOINT: Table = {
    1: ["name", "text"], 2: ["kind", "whole"], 3: ["body_a", "text"], 4: ["body_b", "text"], 9: ["frame_a", "reals"], 10: ["frame_b", "reals"],
    12: ["as_rows", "flag"],
};

const SCENE: Table = {
    1: ["name", "text"], 3: ["settings", { 1: ["gravity", "reals"], 2: ["time_step", "real"] }], 5: ["bodies", [BODY]], 6: ["joints", [JOINT]],
    7: ["geometries", [{ 1: ["name", "text"], 2: ["hull", HULL], 3: ["mesh", MESH], 4: ["height_field", HEIGHTS] }]],
};

const CONTACTS: Table = {
    1: ["total", "whole"], 2: ["body_a", "wholes"], 3: ["body_b", "wholes"], 5: ["point", "reals"], 6: ["frame", "reals"], 7: ["gap", "reals"],
    8: ["impulse", "reals"], 9: ["velocity", "reals"], 10: ["friction", "reals"],
};

const FRAMES: Table = {
    1: ["step", "wholes"], 3: ["time", "reals"], 4: ["body_count", "wholes"], 5: ["ids", "wholes"], 8: ["pose", "floats"], 9: ["velocity", "floats"],
    11: ["contacts", CONTACTS], 13: ["ids_count", "wholes"], 15: ["joints_count", "wholes"], 16: ["joints", "wholes"], 17: ["joint_axes", "wholes"],
    22: ["joint_position", "floats"], 23: ["joint_velocity", "floats"],
};

const CERTIFICATE: Table = {
    1: ["e_mom", "reals"], 2: ["e_pen", "reals"], 3: ["e_comp", "reals"], 4: ["e_cone", "reals"], 5: ["e_mdp", "reals"], 6: ["e_DS", "reals"],
    7: ["e_own", "reals"], 8: ["e_row", "reals"], 9: ["penetration", "reals"],
};

const REPORTS: Table = {
    1: ["contacts", "wholes"], 2: ["rows", "wholes"], 3: ["iterations", "wholes"], 4: ["converged", "wholes"], 5: ["unconverged", "wholes"],
    6: ["tolerance", "reals"], 7: ["solver_time", "reals"], 10: ["last", CERTIFICATE], 13: ["energy", { 2: ["after", "reals"] }],
};

const WORLD: Table = { 1: ["world", "id"], 2: ["name", "text"], 5: ["bodies", "whole"], 7: ["step", "whole"] };

const GROUP: Table = { 1: ["group", "id"], 2: ["name", "text"], 5: ["count", "whole"], 6: ["bodies", "whole"] };

const STATUS: Table = { 1: ["code", "whole"], 2: ["message", "text"] };

export const REPLY: Table = {
    1: ["id", "whole"],
    2: ["status", STATUS],
    4: ["event", "flag"],
    10: ["welcome", { 1: ["version", "text"] }],
    32: ["world_list", { 1: ["total", "whole"], 2: ["worlds", [WORLD]] }],
    96: ["group_list", { 1: ["groups", [GROUP]] }],
    170: ["live_frame", {
        1: ["frames", FRAMES], 2: ["reports", REPORTS], 3: ["scene", SCENE], 4: ["skipped", "whole"], 5: ["faulted", "flag"],
        6: ["episode", "whole"], 7: ["episode_step", "whole"], 8: ["episode_over", "flag"], 9: ["failure", STATUS],
    }],
};

/** Where calls stand in Request. */
export const CALL = { hello: 10, cancel: 14, worldList: 32, groupList: 96, subscribe: 160 } as const;
export const CODE = { ok: 0, cancelled: 1, notFound: 5, unauthenticated: 16 } as const;
export const BODY_KINDS = ["DYNAMIC", "KINEMATIC", "STATIC"];
export const JOINT_KINDS = ["HINGE", "SLIDER", "BALL", "UNIVERSAL", "FIXED", "FREE", "GENERIC", "DISTANCE", "GEAR", "TENDON"];
