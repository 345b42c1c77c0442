// SPDX-License-Identifier: MIT
#include "solve/mdp_direct.h"

#include "base/assert.h"

#include <string.h>

// R over w. The square root of the rounding unit: the system's condition grows with its inverse, so
// what R leaves and what rounding leaves are alike.
#define COMPLIANCE 1e-8
// a reaction so far within the friction cone sticks: sliding ones are on it but for rounding
#define STICK_SHARE (1.0 - 1e-9)
// an open contact that closes no faster than this, over V, is rounding
#define CLOSING 1e-9
// a contact without friction that slides no faster than this, over V, is held by its neighbours,
// of whose velocity R leaves a share
#define SLIPPING 1e-6

enum {
    ROUND_MAX = 4, // of states changed and the system solved anew
    WORK_MAX = 8,  // products of blocks per contact in the factor: the time of some twenty sweeps
    TREE_MAX = 64  // of an island
};

enum { SIDE = MDP_BLOCK_SIDE };

// How a contact is held: not at all, along its normal without friction, or fast.
typedef enum HoldState { HOLD_OPEN, HOLD_NORMAL, HOLD_STICK } HoldState;

// A contact of the island.
struct MdpHold {
    HoldState state;
    uint32_t place[2];      // of the sides' trees; PROBLEM_NO_TREE: static
    double row[2][3][SIDE]; // J: of both sides, along normal and tangents
    double mu;
    double stiffness; // 1 / R
    double v_scale;   // [m/s] V
    double u[3];      // offset included [m/s]
    double impulse[3];
    double change[3]; // d gamma
    bool slips;       // without the friction that it might have
};

// ---- islands

static uint32_t tree_of(const ProblemContact *contact) {
    return contact->side[0].tree != PROBLEM_NO_TREE ? contact->side[0].tree : contact->side[1].tree;
}

// counts at [i + 1] to where each begins
static void sum_up(uint32_t *first, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        first[i + 1] += first[i];
    }
}

// Counts trees, and tells which islands may be worth an aim; whether any is.
static bool count_trees(const MdpPack *pack, double floor, uint32_t *tree_first, bool *fits) {
    for (uint32_t i = 0; i < pack->problem->tree_count; i++) {
        tree_first[pack->island_of_tree[i] + 1]++;
    }
    bool is_any = false;
    for (uint32_t i = 0; i < pack->island_count; i++) {
        fits[i] = tree_first[i + 1] <= TREE_MAX && pack->island[i].residual > floor;
        is_any = is_any || fits[i];
    }
    sum_up(tree_first, pack->island_count);
    return is_any;
}

static void group_trees(const MdpPack *pack, MdpDirect *direct, uint32_t *filled) {
    memset(filled, 0, pack->island_count * sizeof(*filled));
    for (uint32_t i = 0; i < pack->problem->tree_count; i++) {
        uint32_t island = pack->island_of_tree[i];
        uint32_t place = filled[island]++, at = direct->tree_first[island] + place;
        direct->place[i] = place;
        direct->tree[at] = i;
        direct->first[at] = place;
    }
}

// UINT32_MAX: the contact moves nothing, or its island is too large
static uint32_t island_of(const MdpPack *pack, const MdpDirect *direct, uint32_t contact) {
    if (pack->kind[contact] == MDP_NONE) {
        return UINT32_MAX;
    }
    uint32_t island = pack->island_of_tree[tree_of(&pack->problem->contact[contact])];
    return direct->fits[island] ? island : UINT32_MAX;
}

// the lowest place that a tree shares a contact with
static void note_neighbours(const MdpPack *pack, MdpDirect *direct, uint32_t island,
                            uint32_t contact) {
    const ContactSide *side = pack->problem->contact[contact].side;
    if (side[0].tree == PROBLEM_NO_TREE || side[1].tree == PROBLEM_NO_TREE) {
        return;
    }
    uint32_t a = direct->place[side[0].tree], b = direct->place[side[1].tree];
    uint32_t low = a < b ? a : b, high = a < b ? b : a;
    uint32_t *first = &direct->first[direct->tree_first[island] + high];
    *first = low < *first ? low : *first;
}

static void group_contacts(const MdpPack *pack, MdpDirect *direct, uint32_t *filled) {
    for (uint32_t i = 0; i < pack->problem->contact_count; i++) {
        uint32_t island = island_of(pack, direct, i);
        if (island != UINT32_MAX) {
            direct->contact_first[island + 1]++;
            note_neighbours(pack, direct, island, i);
        }
    }
    sum_up(direct->contact_first, pack->island_count);
    memset(filled, 0, pack->island_count * sizeof(*filled));
    for (uint32_t i = 0; i < pack->problem->contact_count; i++) {
        uint32_t island = island_of(pack, direct, i);
        if (island != UINT32_MAX) {
            direct->contact[direct->contact_first[island] + filled[island]++] = i;
        }
    }
}

// What the largest aim needs.
typedef struct Needs {
    uint32_t trees, contacts, blocks;
} Needs;

static uint32_t larger(uint32_t a, uint32_t b) {
    return a > b ? a : b;
}

// Lays out the envelope of an island, and whether it is worth its work.
static void lay_out(MdpDirect *direct, uint32_t island, Needs *needs) {
    uint32_t first = direct->tree_first[island];
    uint32_t trees = direct->tree_first[island + 1] - first;
    uint32_t contacts = direct->contact_first[island + 1] - direct->contact_first[island];
    uint32_t blocks = 0, work = 0;
    for (uint32_t i = 0; i < trees; i++) {
        uint32_t width = i - direct->first[first + i] + 1;
        direct->begin[first + i] = blocks;
        blocks += width;
        work += width * width;
    }
    direct->fits[island] = work <= WORK_MAX * contacts;
    if (direct->fits[island]) {
        *needs = (Needs){.trees = larger(needs->trees, trees),
                         .contacts = larger(needs->contacts, contacts),
                         .blocks = larger(needs->blocks, blocks)};
    }
}

static Status no_memory(Error *error) {
    return error_set(error, STATUS_RESOURCE_EXHAUSTED, NULL,
                     "The solver's memory is too small to solve small islands at once.");
}

static bool take_lists(const MdpPack *pack, Arena *arena, MdpDirect *direct) {
    uint32_t trees = pack->problem->tree_count, islands = pack->island_count;
    direct->tree = arena_take_array(arena, trees, sizeof(*direct->tree));
    direct->place = arena_take_array(arena, trees, sizeof(*direct->place));
    direct->first = arena_take_array(arena, trees, sizeof(*direct->first));
    direct->begin = arena_take_array(arena, trees, sizeof(*direct->begin));
    direct->contact_first =
        arena_take_zeroed(arena, (size_t)islands + 1, sizeof(*direct->contact_first));
    direct->contact =
        arena_take_array(arena, pack->problem->contact_count, sizeof(*direct->contact));
    return direct->tree != NULL && direct->place != NULL && direct->first != NULL &&
           direct->begin != NULL && direct->contact_first != NULL && direct->contact != NULL;
}

static bool take_work(const Needs *needs, Arena *arena, MdpDirect *direct) {
    direct->number = arena_take_array(arena, needs->blocks, MDP_BLOCK_SIZE * sizeof(double));
    direct->change = arena_take_array(arena, needs->trees, SIDE * sizeof(double));
    direct->hold = arena_take_array(arena, needs->contacts, sizeof(*direct->hold));
    return direct->number != NULL && direct->change != NULL && direct->hold != NULL;
}

Status mdp_direct_plan(MdpPack *pack, double floor, Arena *arena, Error *error) {
    ASSERT(floor >= 0.0);
    const ContactProblem *problem = pack->problem;
    if (!problem->all_free || problem->row_count > 0) {
        return STATUS_OK;
    }
    uint32_t islands = pack->island_count;
    MdpDirect *direct = arena_take_zeroed(arena, 1, sizeof(*direct));
    uint32_t *filled = arena_take_array(arena, islands, sizeof(*filled));
    uint32_t *tree_first = arena_take_zeroed(arena, (size_t)islands + 1, sizeof(*tree_first));
    bool *fits = arena_take_array(arena, islands, sizeof(*fits));
    if (direct == NULL || filled == NULL || tree_first == NULL || fits == NULL) {
        return no_memory(error);
    }
    if (!count_trees(pack, floor, tree_first, fits)) {
        return STATUS_OK;
    }
    direct->tree_first = tree_first;
    direct->fits = fits;
    if (!take_lists(pack, arena, direct)) {
        return no_memory(error);
    }
    group_trees(pack, direct, filled);
    group_contacts(pack, direct, filled);
    Needs needs = {0};
    for (uint32_t i = 0; i < islands; i++) {
        if (direct->fits[i]) {
            lay_out(direct, i, &needs);
        }
    }
    if (!take_work(&needs, arena, direct)) {
        return no_memory(error);
    }
    pack->direct = direct;
    return STATUS_OK;
}

// ---- contacts

// of a contact that pushes, as long as nothing is known against it
static HoldState held_fast(double mu) {
    return mu == 0.0 ? HOLD_NORMAL : HOLD_STICK;
}

// The impulse, in the frame of the contact whatever it is swept as. Sweeps take long to tell
// whether a contact slides; the linear system knows at once.
static void load_impulse(const MdpPack *pack, uint32_t contact, MdpHold *hold) {
    const ProblemContact *c = &pack->problem->contact[contact];
    uint32_t slot = pack->slot[contact];
    double weight;
    if (pack->kind[contact] == MDP_BALL) {
        const MdpQuad *quad = &pack->quad[slot / MDP_QUAD];
        uint32_t place = slot % MDP_QUAD;
        mdp_pack_store_ball(c, quad, place, hold->impulse);
        weight = quad->weight.at[place];
    } else {
        memcpy(hold->impulse, pack->point[slot].impulse, sizeof(hold->impulse));
        weight = pack->point[slot].weight;
    }
    double w = mass_block_weight(mass_contact_block(pack->mass, contact));
    hold->stiffness = 1.0 / (COMPLIANCE * w);
    hold->v_scale = w / sqrt(weight);
    hold->mu = c->mu;
    hold->state = hold->impulse[0] > 0.0 ? held_fast(c->mu) : HOLD_OPEN;
}

// J and u
static void load_rows(const MdpPack *pack, uint32_t contact, MdpHold *hold) {
    const ProblemContact *c = &pack->problem->contact[contact];
    const Vec3 frame[3] = {c->normal, c->tangent[0], c->tangent[1]};
    Vec3 relative = vec3(0.0, 0.0, 0.0);
    memset(hold->row, 0, sizeof(hold->row));
    for (int s = 0; s < 2; s++) {
        const ContactSide *side = &c->side[s];
        hold->place[s] = PROBLEM_NO_TREE;
        if (side->tree == PROBLEM_NO_TREE) {
            continue;
        }
        // a body against itself has one side, of both
        int to = s == 1 && side->tree == c->side[0].tree ? 0 : s;
        hold->place[to] = pack->direct->place[side->tree];
        const double *v = pack->body[side->tree].v;
        double sign = s == 0 ? -1.0 : 1.0;
        Vec3 point = vec3_add(vec3_load(v), vec3_cross(vec3_load(v + 3), side->arm));
        relative = vec3_add_scaled(relative, sign, point);
        for (int k = 0; k < 3; k++) {
            double *row = hold->row[to][k];
            Vec3 turn = vec3_cross(side->arm, frame[k]);
            vec3_store(row, vec3_add_scaled(vec3_load(row), sign, frame[k]));
            vec3_store(row + 3, vec3_add_scaled(vec3_load(row + 3), sign, turn));
        }
    }
    for (int k = 0; k < 3; k++) {
        hold->u[k] = vec3_dot(frame[k], relative) + c->motion[k] + (k == 0 ? c->bias : 0.0);
    }
}

static int held_rows(const MdpHold *hold) {
    return hold->state == HOLD_STICK ? 3 : hold->state == HOLD_NORMAL ? 1 : 0;
}

// What the solution says of a contact: it may have to open or to close; one that would slide does
// without friction, which its neighbours may take over.
static HoldState next_state(const MdpHold *hold, const double u[3], const double impulse[3]) {
    if (hold->state == HOLD_OPEN) {
        return u[0] < -CLOSING * hold->v_scale ? held_fast(hold->mu) : HOLD_OPEN;
    }
    if (!(impulse[0] > 0.0)) {
        return HOLD_OPEN;
    }
    double bound = STICK_SHARE * hold->mu * impulse[0];
    bool fits = impulse[1] * impulse[1] + impulse[2] * impulse[2] < bound * bound;
    return hold->state == HOLD_STICK && fits ? HOLD_STICK : HOLD_NORMAL;
}

// The change of the impulse at the solution, and the state that follows; true: it is the same.
static bool judge_hold(MdpHold *hold, const double *change) {
    double u[3] = {hold->u[0], hold->u[1], hold->u[2]};
    for (int s = 0; s < 2; s++) {
        if (hold->place[s] == PROBLEM_NO_TREE) {
            continue;
        }
        const double *dv = change + SIDE * (size_t)hold->place[s];
        for (int k = 0; k < 3; k++) {
            for (int m = 0; m < SIDE; m++) {
                u[k] += hold->row[s][k][m] * dv[m];
            }
        }
    }
    int rows = held_rows(hold);
    double after[3];
    for (int k = 0; k < 3; k++) {
        hold->change[k] = k < rows ? -hold->stiffness * u[k] : -hold->impulse[k];
        after[k] = hold->impulse[k] + hold->change[k];
    }
    HoldState before = hold->state;
    hold->state = next_state(hold, u, after);
    double slow = SLIPPING * hold->v_scale;
    hold->slips =
        hold->state == HOLD_NORMAL && hold->mu > 0.0 && u[1] * u[1] + u[2] * u[2] > slow * slow;
    return hold->state == before;
}

// ---- the system

// to += scale a b^T
static void add_product(double *restrict to, double scale, const double *a, const double *b) {
    for (int i = 0; i < SIDE; i++) {
        double factor = scale * a[i];
        for (int k = 0; k < SIDE; k++) {
            to[SIDE * i + k] += factor * b[k];
        }
    }
}

static void add_mass(const FreeMass *mass, double *block) {
    const Sym3 *inertia = &mass->inertia;
    for (int k = 0; k < 3; k++) {
        block[SIDE * k + k] = mass->mass;
    }
    double *x = block + 21, *y = x + SIDE, *z = y + SIDE; // the lower triangle's last three rows
    x[0] = inertia->xx;
    y[0] = inertia->xy;
    y[1] = inertia->yy;
    z[0] = inertia->xz;
    z[1] = inertia->yz;
    z[2] = inertia->zz;
}

// J^T gamma of one row, at the places of the sides
static void add_momentum(const MdpHold *hold, int k, double gamma, double *momentum) {
    for (int s = 0; s < 2; s++) {
        if (hold->place[s] != PROBLEM_NO_TREE) {
            double *to = momentum + SIDE * (size_t)hold->place[s];
            for (int m = 0; m < SIDE; m++) {
                to[m] += gamma * hold->row[s][k][m];
            }
        }
    }
}

// Its part of J^T R^-1 J and of -J^T R^-1 u; what is not held loses the impulse that it has.
static void add_hold(const MdpHold *hold, const MdpEnvelope *matrix, double *right) {
    uint32_t a = hold->place[0], b = hold->place[1];
    int high = a != PROBLEM_NO_TREE && (b == PROBLEM_NO_TREE || a > b) ? 0 : 1;
    int rows = held_rows(hold);
    for (int k = rows; k < 3; k++) {
        add_momentum(hold, k, -hold->impulse[k], right);
    }
    for (int k = 0; k < rows; k++) {
        add_momentum(hold, k, -hold->stiffness * hold->u[k], right);
        for (int s = 0; s < 2; s++) {
            if (hold->place[s] != PROBLEM_NO_TREE) {
                double *block = mdp_envelope_block(matrix, hold->place[s], hold->place[s]);
                add_product(block, hold->stiffness, hold->row[s][k], hold->row[s][k]);
            }
        }
        if (a != PROBLEM_NO_TREE && b != PROBLEM_NO_TREE) {
            double *block = mdp_envelope_block(matrix, hold->place[high], hold->place[1 - high]);
            add_product(block, hold->stiffness, hold->row[high][k], hold->row[1 - high][k]);
        }
    }
}

// dv; false: no number
static bool solve_system(const MdpPack *pack, uint32_t island, uint32_t contact_count) {
    const MdpDirect *direct = pack->direct;
    uint32_t first = direct->tree_first[island];
    MdpEnvelope matrix = {.count = direct->tree_first[island + 1] - first,
                          .first = direct->first + first,
                          .begin = direct->begin + first,
                          .number = direct->number};
    uint32_t last = matrix.count - 1;
    size_t blocks = (size_t)matrix.begin[last] + (last - matrix.first[last]) + 1;
    memset(matrix.number, 0, blocks * MDP_BLOCK_SIZE * sizeof(double));
    memset(direct->change, 0, SIDE * (size_t)matrix.count * sizeof(double));
    for (uint32_t i = 0; i < matrix.count; i++) {
        add_mass(&pack->problem->free[direct->tree[first + i]], mdp_envelope_block(&matrix, i, i));
    }
    for (uint32_t i = 0; i < contact_count; i++) {
        add_hold(&direct->hold[i], &matrix, direct->change);
    }
    if (!mdp_envelope_factor(&matrix)) {
        return false;
    }
    mdp_envelope_solve(&matrix, direct->change);
    return true;
}

// ---- the aim

// what was before an impulse, so that going on as far again makes the change
static void aim_contact(MdpPack *pack, uint32_t contact, const double change[3]) {
    const ProblemContact *c = &pack->problem->contact[contact];
    uint32_t slot = pack->slot[contact];
    if (pack->kind[contact] == MDP_BALL) {
        MdpQuad *quad = &pack->quad[slot / MDP_QUAD];
        uint32_t place = slot % MDP_QUAD;
        Vec3 d = vec3_scale(change[0], c->normal);
        d = vec3_add_scaled(d, change[1], c->tangent[0]);
        d = vec3_add_scaled(d, change[2], c->tangent[1]);
        quad->before.x.at[place] = quad->impulse.x.at[place] - d.x;
        quad->before.y.at[place] = quad->impulse.y.at[place] - d.y;
        quad->before.z.at[place] = quad->impulse.z.at[place] - d.z;
        return;
    }
    MdpPoint *point = &pack->point[slot];
    for (int k = 0; k < 3; k++) {
        point->before[k] = point->impulse[k] - change[k];
    }
}

static void aim_tree(MdpPack *pack, uint32_t tree, const double *change) {
    const double *v = pack->body[tree].v;
    double *before = pack->v_before + pack->problem->tree[tree].first;
    for (int k = 0; k < SIDE; k++) {
        before[k] = v[k] - change[k];
    }
}

// Whether states were found that hold at the solution that goes with them.
static bool find_states(const MdpPack *pack, uint32_t island, uint32_t contact_count) {
    MdpHold *hold = pack->direct->hold;
    for (int round = 0; round < ROUND_MAX; round++) {
        if (!solve_system(pack, island, contact_count)) {
            return false;
        }
        bool all_hold = true, any_slips = false;
        for (uint32_t i = 0; i < contact_count; i++) {
            all_hold = judge_hold(&hold[i], pack->direct->change) && all_hold;
            any_slips = any_slips || hold[i].slips;
        }
        if (all_hold) {
            return !any_slips;
        }
    }
    return false;
}

// dv = M^-1 J^T d gamma: what the solution gives differs by its rounding, and the sweeps would
// never tell that velocities and impulses no longer belong together.
static void match_velocities(const MdpPack *pack, uint32_t island, uint32_t contact_count) {
    const MdpDirect *direct = pack->direct;
    uint32_t first = direct->tree_first[island], end = direct->tree_first[island + 1];
    memset(direct->change, 0, SIDE * (size_t)(end - first) * sizeof(double));
    for (uint32_t i = 0; i < contact_count; i++) {
        for (int k = 0; k < 3; k++) {
            add_momentum(&direct->hold[i], k, direct->hold[i].change[k], direct->change);
        }
    }
    for (uint32_t i = first; i < end; i++) {
        mass_solve_tree(pack->mass, direct->tree[i], direct->change + SIDE * (size_t)(i - first));
    }
}

bool mdp_direct_aim(MdpPack *pack, uint32_t island) {
    const MdpDirect *direct = pack->direct;
    if (direct == NULL || !direct->fits[island]) {
        return false;
    }
    const uint32_t *contact = direct->contact + direct->contact_first[island];
    uint32_t count = direct->contact_first[island + 1] - direct->contact_first[island];
    for (uint32_t i = 0; i < count; i++) {
        load_impulse(pack, contact[i], &direct->hold[i]);
        load_rows(pack, contact[i], &direct->hold[i]);
    }
    if (!find_states(pack, island, count)) {
        return false;
    }
    match_velocities(pack, island, count);
    for (uint32_t i = 0; i < count; i++) {
        aim_contact(pack, contact[i], direct->hold[i].change);
    }
    uint32_t first = direct->tree_first[island], end = direct->tree_first[island + 1];
    for (uint32_t i = first; i < end; i++) {
        aim_tree(pack, direct->tree[i], direct->change + SIDE * (size_t)(i - first));
    }
    return true;
}
