// SPDX-License-Identifier: MIT
#include "solve/mdp/direct.h"

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

// more than TREE_MAX bodies that all touch each other fill
#define NUMBERS_MAX ((size_t)1 << 18)
// multiplications per contact in the factor: the time of some three sweeps
#define WORK_MAX 300.0
// the same of a contact that sticks into three blocks of the matrix, of six by six each
#define HOLD_MULTIPLICATIONS (3.0 * 3.0 * 36.0)

enum {
    ROUND_MAX = 4, // of states changed and the system solved anew
    TREE_MAX = 64  // of an island
};

enum { SIDE = 6, SIZE = SIDE * SIDE }; // of a free body's block

// How a contact is held: not at all, along its normal without friction, or fast.
typedef enum HoldState { HOLD_OPEN, HOLD_NORMAL, HOLD_STICK } HoldState;

// A contact of the island.
struct MdpHold {
    HoldState state;
    uint32_t edge;          // where both sides move
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

static uint32_t larger(uint32_t a, uint32_t b) {
    return a > b ? a : b;
}

static bool is_candidate(const MdpPack *pack, uint32_t island) {
    IslandRange range = islands_range(&pack->judge->islands, island, island + 1);
    if (pack->sum[island].is_done || pack->island[island].has_no_aim ||
        range.tree_end - range.tree_begin > TREE_MAX || range.row_end > range.row_begin) {
        return false;
    }
    for (uint32_t i = range.tree_begin; i < range.tree_end; i++) {
        if (!problem_is_free(pack->problem, pack->judge->islands.tree[i])) {
            return false;
        }
    }
    return true;
}

static Status no_memory(Error *error) {
    return error_set(error, STATUS_RESOURCE_EXHAUSTED, NULL,
                     "The solver's memory is too small to solve small islands at once.");
}

Status mdp_direct_begin(Judge *judge, MdpPack *pack) {
    ASSERT(pack->direct == NULL);
    const ContactProblem *problem = pack->problem;
    MdpDirect *direct = arena_take(judge->arena, sizeof(*direct));
    uint32_t *numbers = arena_take_array(
        judge->arena, (size_t)problem->tree_count + problem->contact_count + TREE_MAX,
        sizeof(*numbers));
    MdpSystem **system = arena_take_zeroed(judge->arena, judge->islands.count, sizeof(*system));
    if (direct == NULL || numbers == NULL || system == NULL) {
        return no_memory(judge->error);
    }
    *direct = (MdpDirect){.width = numbers,
                          .place = numbers + TREE_MAX,
                          .edge = numbers + TREE_MAX + problem->tree_count,
                          .system = system};
    for (uint32_t i = 0; i < TREE_MAX; i++) {
        direct->width[i] = SIDE;
    }
    pack->direct = direct;
    return STATUS_OK;
}

// The edges of an island's graph, as pairs of places: one for each run of contacts of one pair.
// Returns how many contacts move anything.
static uint32_t list_edges(const MdpPack *pack, IslandRange range, Graph *graph, uint32_t *end) {
    const MdpDirect *direct = pack->direct;
    uint32_t contacts = 0;
    *graph = (Graph){
        .vertex_count = range.tree_end - range.tree_begin, .width = direct->width, .end = end};
    for (uint32_t i = range.contact_begin; i < range.contact_end; i++) {
        if (pack->kind[i] == MDP_NONE) {
            continue;
        }
        contacts++;
        const uint32_t *tree = pack->pair[i].tree;
        if (tree[0] == PROBLEM_NO_TREE || tree[1] == PROBLEM_NO_TREE || tree[0] == tree[1]) {
            continue;
        }
        uint32_t a = direct->place[tree[0]], b = direct->place[tree[1]];
        size_t count = graph->edge_count;
        if (count == 0 || end[2 * count - 2] != a || end[2 * count - 1] != b) {
            end[2 * count] = a;
            end[2 * count + 1] = b;
            graph->edge_count++;
        }
        direct->edge[i] = (uint32_t)(graph->edge_count - 1);
    }
    return contacts;
}

// The plan of an island's system, if it is worth its work.
static Status lay_out(Judge *judge, MdpPack *pack, uint32_t island, MdpAim *aim) {
    IslandRange range = islands_range(&judge->islands, island, island + 1);
    uint32_t trees = range.tree_end - range.tree_begin;
    ArenaMark mark = arena_mark(judge->arena);
    MdpSystem *system = arena_take(judge->arena, sizeof(*system));
    size_t ends = 2 * ((size_t)range.contact_end - range.contact_begin);
    uint32_t *end = arena_take_array(judge->arena, ends, sizeof(uint32_t));
    if (system == NULL || end == NULL) {
        return no_memory(judge->error);
    }
    for (uint32_t i = 0; i < trees; i++) {
        pack->direct->place[judge->islands.tree[range.tree_begin + i]] = i;
    }
    Graph graph;
    uint32_t contacts = list_edges(pack, range, &graph, end);
    system->sweep = MDP_SWEEP_MULTIPLICATIONS * mdp_pack_points(pack, island);
    const LdltLimits limits = {NUMBERS_MAX, WORK_MAX * contacts, NULL};
    Error refusal;
    Status status = ldlt_plan(&graph, limits, judge->arena, &system->plan, &refusal);
    if (system->plan.operations > limits.operations_max) { // which is no error
        arena_reset_to(judge->arena, mark);
        return STATUS_OK;
    }
    if (status != STATUS_OK) {
        if (judge->error != NULL) {
            *judge->error = refusal;
        }
        return status;
    }
    aim->trees = larger(aim->trees, trees);
    aim->contacts = larger(aim->contacts, contacts);
    aim->edges = larger(aim->edges, (uint32_t)graph.edge_count);
    pack->direct->system[island] = system;
    return ldlt_init(&system->ldlt, &system->plan, true, judge->arena, judge->error);
}

static Status plan_group(Judge *judge, MdpPack *pack, MdpGroup *group, MdpAim *aim) {
    group->aim = NULL;
    for (uint32_t i = group->island_begin; i < group->island_end; i++) {
        pack->direct->system[i] = NULL;
        Status status = is_candidate(pack, i) ? lay_out(judge, pack, i, aim) : STATUS_OK;
        if (status != STATUS_OK) {
            return status;
        }
    }
    if (aim->contacts == 0) {
        return STATUS_OK;
    }
    aim->change = arena_take_array(judge->arena, aim->trees, SIDE * sizeof(double));
    aim->block =
        arena_take_array(judge->arena, (size_t)aim->trees + aim->edges, SIZE * sizeof(double));
    aim->hold = arena_take_array(judge->arena, aim->contacts, sizeof(*aim->hold));
    group->aim = aim;
    bool is_taken = aim->change != NULL && aim->block != NULL && aim->hold != NULL;
    return is_taken ? STATUS_OK : no_memory(judge->error);
}

Status mdp_direct_plan(Judge *judge, MdpPack *pack, uint32_t begin, uint32_t end) {
    ASSERT(end <= judge->islands.count);
    ASSERT(begin < end);
    ASSERT(pack->direct != NULL);
    MdpAim *aim = arena_take_zeroed(judge->arena, end - begin, sizeof(*aim));
    if (aim == NULL) {
        return no_memory(judge->error);
    }
    Status status = STATUS_OK;
    for (uint32_t i = begin; i < end && status == STATUS_OK; i++) {
        status = plan_group(judge, pack, &pack->group[i], &aim[i - begin]);
    }
    return status;
}

// ---- contacts

// of a contact that pushes, as long as nothing is known against it
static HoldState held_fast(double mu) {
    return mu == 0.0 ? HOLD_NORMAL : HOLD_STICK;
}

// The impulse, in the frame of the contact whatever it is swept as. Sweeps take long to tell
// whether a contact slides; the linear system knows at once.
static void load_impulse(const MdpPack *pack, uint32_t place, MdpHold *hold) {
    uint32_t contact = pack->judge->islands.contact[place], slot = pack->slot[place];
    const ProblemContact *c = &pack->problem->contact[contact];
    double weight;
    if (pack->kind[place] == MDP_BALL) {
        const MdpQuad *quad = &pack->quad[slot / MDP_QUAD];
        mdp_pack_store_ball(c, quad, slot % MDP_QUAD, hold->impulse);
        weight = quad->weight.at[slot % MDP_QUAD];
    } else {
        const MdpPointQuad *quad = &pack->points.quad[slot / MDP_QUAD];
        mdp_pack_store_point(quad, slot % MDP_QUAD, hold->impulse);
        weight = quad->weight.at[slot % MDP_QUAD];
    }
    double w = mass_block_weight(mass_contact_block(&pack->judge->mass, contact));
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

// sum + a . b, from the left
static double add_dot(double sum, const double *a, const double *b) {
    return sum + a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3] + a[4] * b[4] + a[5] * b[5];
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
            u[k] = add_dot(u[k], hold->row[s][k], dv);
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

// to += factor b. Written out, here and in add_dot: as loops both would take twice as many
// instructions, and are what most of a system is made with.
static inline void add_numbers(double *restrict to, double factor, const double *restrict b) {
    to[0] += factor * b[0];
    to[1] += factor * b[1];
    to[2] += factor * b[2];
    to[3] += factor * b[3];
    to[4] += factor * b[4];
    to[5] += factor * b[5];
}

// to += scale a b^T
static void add_product(double *restrict to, double scale, const double *a, const double *b) {
    for (size_t i = 0; i < SIDE; i++) {
        add_numbers(to + SIDE * i, scale * a[i], b);
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
            add_numbers(momentum + SIDE * (size_t)hold->place[s], gamma, hold->row[s][k]);
        }
    }
}

// Its part of J^T R^-1 J, of whose diagonal blocks only the lower triangle counts, and of
// -J^T R^-1 u; what is not held loses the impulse that it has.
static void add_hold(const MdpHold *hold, double *vertex, double *edge, double *right) {
    uint32_t a = hold->place[0], b = hold->place[1];
    int rows = held_rows(hold);
    for (int k = rows; k < 3; k++) {
        add_momentum(hold, k, -hold->impulse[k], right);
    }
    for (int k = 0; k < rows; k++) {
        add_momentum(hold, k, -hold->stiffness * hold->u[k], right);
        for (int s = 0; s < 2; s++) {
            if (hold->place[s] != PROBLEM_NO_TREE) {
                double *block = vertex + SIZE * (size_t)hold->place[s];
                add_product(block, hold->stiffness, hold->row[s][k], hold->row[s][k]);
            }
        }
        if (a != PROBLEM_NO_TREE && b != PROBLEM_NO_TREE) {
            double *block = edge + SIZE * (size_t)hold->edge;
            add_product(block, hold->stiffness, hold->row[0][k], hold->row[1][k]);
        }
    }
}

// Trees of the island at places [first, end) of the list, and how many contacts are held or open.
typedef struct System {
    const MdpPack *pack;
    const MdpAim *aim;
    Ldlt *ldlt;
    uint32_t first, end;
    uint32_t contact_count;
    bool is_hurried; // what slips once is taken to slip to the end, as what is on the move does
} System;

// The matrix, and the right side into the change.
static void make_system(const System *system) {
    const MdpPack *pack = system->pack;
    const MdpAim *aim = system->aim;
    Ldlt *ldlt = system->ldlt;
    uint32_t count = system->end - system->first;
    size_t edges = ldlt->plan->graph.edge_count;
    double *edge = aim->block + SIZE * (size_t)count;
    memset(aim->block, 0, (count + edges) * SIZE * sizeof(double));
    memset(aim->change, 0, SIDE * (size_t)count * sizeof(double));
    for (uint32_t i = 0; i < count; i++) {
        uint32_t tree = pack->judge->islands.tree[system->first + i];
        add_mass(&pack->problem->free[tree], aim->block + SIZE * (size_t)i);
    }
    for (uint32_t i = 0; i < system->contact_count; i++) {
        add_hold(&aim->hold[i], aim->block, edge, aim->change);
    }
    ldlt_clear(ldlt);
    for (uint32_t i = 0; i < count; i++) {
        ldlt_add_vertex(ldlt, i, aim->block + SIZE * (size_t)i);
    }
    for (size_t i = 0; i < edges; i++) {
        ldlt_add_edge(ldlt, i, edge + SIZE * i, NULL);
    }
}

// dv; false: no number, or one that is rounding
static bool solve_system(const System *system) {
    make_system(system);
    // small enough that nobody waits for it
    if (ldlt_factor(system->ldlt, NULL) != LDLT_FINITE || system->ldlt->replaced > 0) {
        return false;
    }
    ldlt_solve(system->ldlt, system->aim->change);
    return true;
}

// ---- the aim

// what was before an impulse, so that going on as far again makes the change
static void aim_contact(MdpPack *pack, uint32_t at, const double change[3]) {
    const ProblemContact *c = &pack->problem->contact[pack->judge->islands.contact[at]];
    uint32_t slot = pack->slot[at];
    if (pack->kind[at] == MDP_BALL) {
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
    MdpPointQuad *quad = &pack->points.quad[slot / MDP_QUAD];
    uint32_t place = slot % MDP_QUAD;
    for (int k = 0; k < 3; k++) {
        quad->before[k].at[place] = quad->impulse[k].at[place] - change[k];
    }
}

static void aim_tree(MdpPack *pack, uint32_t tree, const double *change) {
    const double *v = pack->body[tree].v;
    double *before = pack->v_before + pack->problem->tree[tree].first;
    for (int k = 0; k < SIDE; k++) {
        before[k] = v[k] - change[k];
    }
}

// Whether states were found that hold at the solution that goes with them; `systems` counts how
// often it was solved.
static bool find_states(const System *system, uint32_t *systems) {
    MdpHold *hold = system->aim->hold;
    for (*systems = 0; *systems < ROUND_MAX;) {
        ++*systems;
        if (!solve_system(system)) {
            return false;
        }
        bool all_hold = true, any_slips = false;
        for (uint32_t i = 0; i < system->contact_count; i++) {
            all_hold = judge_hold(&hold[i], system->aim->change) && all_hold;
            any_slips = any_slips || hold[i].slips;
        }
        if (all_hold || (any_slips && system->is_hurried)) {
            return !any_slips;
        }
    }
    return false;
}

// dv = M^-1 J^T d gamma: what the solution gives differs by its rounding, and the sweeps would
// never tell that velocities and impulses no longer belong together.
static void match_velocities(const System *system) {
    const MdpAim *aim = system->aim;
    const Judge *judge = system->pack->judge;
    uint32_t count = system->end - system->first;
    memset(aim->change, 0, SIDE * (size_t)count * sizeof(double));
    for (uint32_t i = 0; i < system->contact_count; i++) {
        for (int k = 0; k < 3; k++) {
            add_momentum(&aim->hold[i], k, aim->hold[i].change[k], aim->change);
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        mass_solve_tree(&judge->mass, judge->islands.tree[system->first + i],
                        aim->change + SIDE * (size_t)i);
    }
}

bool mdp_direct_can_aim(const MdpPack *pack, const MdpGroup *group, uint32_t island) {
    ASSERT(island < pack->judge->islands.count);
    return group->aim != NULL && pack->direct->system[island] != NULL;
}

bool mdp_direct_aim(MdpPack *pack, const MdpGroup *group, uint32_t island, double *took) {
    *took = 0.0;
    if (!mdp_direct_can_aim(pack, group, island)) {
        return false;
    }
    const Islands *islands = &pack->judge->islands;
    IslandRange range = islands_range(islands, island, island + 1);
    System system = {.pack = pack,
                     .aim = group->aim,
                     .ldlt = &pack->direct->system[island]->ldlt,
                     .first = range.tree_begin,
                     .end = range.tree_end,
                     .is_hurried = pack->island[island].wait_first > 0};
    for (uint32_t i = range.contact_begin; i < range.contact_end; i++) {
        if (pack->kind[i] != MDP_NONE) {
            MdpHold *hold = &group->aim->hold[system.contact_count++];
            hold->edge = pack->direct->edge[i];
            load_impulse(pack, i, hold);
            load_rows(pack, islands->contact[i], hold);
        }
    }
    uint32_t systems;
    const bool are_found = find_states(&system, &systems);
    const double multiplications =
        system.ldlt->plan->operations + HOLD_MULTIPLICATIONS * system.contact_count;
    *took = systems * multiplications / pack->direct->system[island]->sweep;
    if (!are_found) {
        return false;
    }
    match_velocities(&system);
    uint32_t held = 0;
    for (uint32_t i = range.contact_begin; i < range.contact_end; i++) {
        if (pack->kind[i] != MDP_NONE) {
            aim_contact(pack, i, group->aim->hold[held++].change);
        }
    }
    for (uint32_t i = system.first; i < system.end; i++) {
        aim_tree(pack, islands->tree[i], group->aim->change + SIDE * (size_t)(i - system.first));
    }
    ASSERT(held == system.contact_count);
    return true;
}
