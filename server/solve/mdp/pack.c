// SPDX-License-Identifier: MIT
#include "solve/mdp/pack.h"

#include "base/assert.h"
#include "solve/dense/dense.h"
#include "solve/mdp/point_fill.h"

#include <string.h>

#define BALL_TOLERANCE 1e-11 // how far arms may leave the normal, and inertia isotropy, by rounding
#define REGULAR_SHARE                                                                              \
    1e-9 // what a singular block is given, times w; it vanishes at the fixed point

static Status no_memory(Error *error) {
    return error_set(error, STATUS_RESOURCE_EXHAUSTED, NULL,
                     "The solver's memory is too small for this problem.");
}

static uint32_t static_of_group(const MdpPack *pack, const MdpGroup *group) {
    return pack->problem->tree_count + (uint32_t)(group - pack->group);
}

static uint32_t static_of_stretch(const MdpPack *pack, uint32_t stretch) {
    return pack->problem->tree_count + pack->group_count + stretch;
}

double *mdp_pack_velocity(const MdpPack *pack, uint32_t tree) {
    VALIDATE(tree < pack->problem->tree_count);
    return problem_is_free(pack->problem, tree) ? pack->body[tree].v
                                                : pack->dense_v + pack->problem->tree[tree].first;
}

static bool is_isotropic(const Sym3 *m) {
    double rounding = BALL_TOLERANCE * m->xx;
    return fabs(m->yy - m->xx) <= rounding && fabs(m->zz - m->xx) <= rounding &&
           fabs(m->xy) <= rounding && fabs(m->xz) <= rounding && fabs(m->yz) <= rounding;
}

// Whether a round body, or the ground, is touched in line with its centre.
static bool is_in_line(const ContactSide *side, Vec3 normal) {
    if (side->tree == PROBLEM_NO_TREE) {
        return true;
    }
    Vec3 off = vec3_cross(normal, side->arm);
    double arm_square = vec3_dot(side->arm, side->arm);
    return vec3_dot(off, off) <= BALL_TOLERANCE * BALL_TOLERANCE * arm_square;
}

static MdpKind kind_of_side(const uint8_t *kind_of_tree, uint32_t tree) {
    return tree == PROBLEM_NO_TREE ? MDP_BALL : (MdpKind)kind_of_tree[tree];
}

// Of a contact that moves something.
static MdpKind kind_of(const uint8_t *kind_of_tree, const ProblemContact *c) {
    const ContactSide *a = &c->side[0], *b = &c->side[1];
    const MdpKind of_a = kind_of_side(kind_of_tree, a->tree),
                  of_b = kind_of_side(kind_of_tree, b->tree);
    if (of_a != MDP_BALL || of_b != MDP_BALL) {
        return of_a > of_b ? of_a : of_b;
    }
    bool moves_along = c->motion[1] != 0.0 || c->motion[2] != 0.0;
    return !moves_along && a->tree != b->tree && is_in_line(a, c->normal) &&
                   is_in_line(b, c->normal)
               ? MDP_BALL
               : MDP_POINT;
}

// ---- blocks

// Whether the smallest eigenvalue is surely above the floor: it is the determinant over the product
// of the other two, which is at most (trace / 2)^2 = 2.25 w^2.
static bool is_surely_regular(const MassBlock *a, double w) {
    double determinant = a->nn * (a->tt * a->oo - a->to * a->to) -
                         a->nt * (a->nt * a->oo - a->to * a->no) +
                         a->no * (a->nt * a->to - a->tt * a->no);
    return determinant > MDP_REGULAR_SHARE * w * w * w;
}

static bool is_singular(const MassBlock *a, double w) {
    double floor = MDP_SINGULAR_SHARE * w, factor[9];
    const double shifted[9] = {a->nn - floor, a->nt,         a->no, //
                               a->nt,         a->tt - floor, a->to, //
                               a->no,         a->to,         a->oo - floor};
    return !dense_factor(3, shifted, 0.0, factor);
}

// mdp.md 1.1: a singular block is made regular in the sweep
MdpBlock mdp_pack_block(const MassBlock *a, double mu) {
    double w = mass_block_weight(a);
    double extra = is_surely_regular(a, w) || !is_singular(a, w) ? 0.0 : REGULAR_SHARE * w;
    return (MdpBlock){.nn = a->nn + extra,
                      .nt = a->nt,
                      .no = a->no,
                      .tt = a->tt + extra,
                      .to = a->to,
                      .oo = a->oo + extra,
                      .mu = mu};
}

// what every kind of contact is made of
typedef struct Common {
    uint32_t contact, slot;
    uint32_t a, b;          // bodies; of a tree that is dense they say nothing
    uint32_t island;        // counted in the group
    const MassBlock *block; // A_ii
    double w, weight;
    double offset[3];
    double impulse[3];
} Common;

static void fill_common(const MdpPack *pack, const MdpGroup *group, uint32_t nobody, uint32_t place,
                        Common *common) {
    const Judge *judge = pack->judge;
    const Answer *answer = &judge->result->answer;
    uint32_t contact = judge->islands.contact[place];
    uint32_t island = islands_of_contact(pack->problem, judge->islands.of_tree, contact);
    const ProblemContact *c = &pack->problem->contact[contact];
    common->contact = contact;
    common->slot = pack->slot[place];
    common->a = c->side[0].tree == PROBLEM_NO_TREE ? nobody : c->side[0].tree;
    common->b = c->side[1].tree == PROBLEM_NO_TREE ? nobody : c->side[1].tree;
    common->block = mass_contact_block(&judge->mass, contact);
    common->w = mass_block_weight(common->block);
    common->island = island - group->island_begin;
    double share = common->w / judge->scale.v_scale[island];
    common->weight = share * share;
    common->offset[0] = c->motion[0] + certificate_bias(pack->problem, answer, contact);
    common->offset[1] = c->motion[1];
    common->offset[2] = c->motion[2];
    memcpy(common->impulse, answer->contact_impulse + 3 * (size_t)contact, sizeof(common->impulse));
}

static double arm_along(const ContactSide *side, Vec3 normal) {
    return side->tree == PROBLEM_NO_TREE ? 0.0 : vec3_dot(side->arm, normal);
}

static void set_place(MdpFour3 *places, uint32_t place, Vec3 vector) {
    places->x.at[place] = vector.x;
    places->y.at[place] = vector.y;
    places->z.at[place] = vector.z;
}

static void add_ball(MdpPack *pack, const Common *common) {
    const ProblemContact *c = &pack->problem->contact[common->contact];
    uint32_t place = common->slot % MDP_QUAD;
    MdpQuad *quad = &pack->quad[common->slot / MDP_QUAD];
    quad->a[place] = common->a;
    quad->b[place] = common->b;
    quad->island[place] = common->island;
    quad->arm_a.at[place] = arm_along(&c->side[0], c->normal);
    quad->arm_b.at[place] = arm_along(&c->side[1], c->normal);
    quad->inverse_nn.at[place] = 1.0 / common->block->nn;
    quad->inverse_tt.at[place] = 1.0 / (0.5 * (common->block->tt + common->block->oo));
    quad->mu.at[place] = c->mu;
    quad->offset.at[place] = common->offset[0];
    quad->weight.at[place] = common->weight;
    Vec3 impulse = vec3_scale(common->impulse[0], c->normal);
    impulse = vec3_add_scaled(impulse, common->impulse[1], c->tangent[0]);
    impulse = vec3_add_scaled(impulse, common->impulse[2], c->tangent[1]);
    set_place(&quad->normal, place, c->normal);
    set_place(&quad->impulse, place, impulse);
}

// ---- wide contacts

// the 3 x 6 block of a free side, as a dense one would be stored
static void write_free_jacobian(const ProblemContact *contact, int s, double *jacobian) {
    const Vec3 frame[3] = {contact->normal, contact->tangent[0], contact->tangent[1]};
    double sign = s == 0 ? -1.0 : 1.0;
    for (size_t k = 0; k < 3; k++) {
        vec3_store(jacobian + 6 * k, vec3_scale(sign, frame[k]));
        vec3_store(jacobian + 6 * k + 3,
                   vec3_scale(sign, vec3_cross(contact->side[s].arm, frame[k])));
    }
}

// `numbers` are 6 times the width of the side
static MdpSide make_side(const MdpPack *pack, uint32_t contact, int s, double *numbers) {
    const ProblemContact *c = &pack->problem->contact[contact];
    uint32_t tree = c->side[s].tree;
    if (tree == PROBLEM_NO_TREE) {
        return (MdpSide){.width = 0};
    }
    const ProblemTree *t = &pack->problem->tree[tree];
    size_t width = t->width;
    double *jacobian = numbers, *response = numbers + 3 * width;
    if (t->is_free) {
        write_free_jacobian(c, s, jacobian);
        memcpy(response, jacobian, 3 * width * sizeof(double));
        for (size_t k = 0; k < 3; k++) {
            mass_solve_tree(&pack->judge->mass, tree, response + k * width);
        }
    } else {
        memcpy(jacobian, pack->problem->number + c->side[s].jacobian, 3 * width * sizeof(double));
        memcpy(response, mass_response(&pack->judge->mass, contact, s), 3 * width * sizeof(double));
    }
    return (MdpSide){.v = mdp_pack_velocity(pack, tree),
                     .jacobian = jacobian,
                     .response = response,
                     .width = t->width};
}

static void add_wide(MdpPack *pack, const Common *common, double *numbers) {
    MdpWide *wide = &pack->wide[common->slot];
    *wide = (MdpWide){.island = common->island, .weight = common->weight};
    memcpy(wide->impulse, common->impulse, sizeof(wide->impulse));
    memcpy(wide->offset, common->offset, sizeof(wide->offset));
    MdpBlock block = mdp_pack_block(common->block, pack->problem->contact[common->contact].mu);
    mdp_block_plan(&block, &wide->plan);
    wide->side[0] = make_side(pack, common->contact, 0, numbers);
    numbers += (size_t)6 * wide->side[0].width;
    wide->side[1] = make_side(pack, common->contact, 1, numbers);
}

// ---- begin

static bool take_places(MdpPack *pack, Arena *arena) {
    size_t count = pack->problem->contact_count;
    pack->pair = arena_take_array(arena, count, sizeof(*pack->pair));
    pack->kind = arena_take_array(arena, count, sizeof(*pack->kind));
    pack->colour = arena_take_array(arena, count, sizeof(*pack->colour));
    pack->order = arena_take_array(arena, count, sizeof(*pack->order));
    pack->slot = arena_take_array(arena, count, sizeof(*pack->slot));
    pack->note = arena_take_array(arena, count, sizeof(*pack->note));
    pack->used = arena_take_zeroed(arena, pack->problem->tree_count, sizeof(*pack->used));
    pack->kind_of_tree =
        arena_take_array(arena, pack->problem->tree_count, sizeof(*pack->kind_of_tree));
    bool may_be_wide = pack->is_plain || !pack->problem->all_free || pack->problem->row_count > 0;
    if (may_be_wide) {
        pack->number_at = arena_take_array(arena, count, sizeof(*pack->number_at));
    }
    return pack->pair != NULL && pack->kind != NULL && pack->colour != NULL &&
           pack->order != NULL && pack->slot != NULL && pack->note != NULL && pack->used != NULL &&
           pack->kind_of_tree != NULL && (!may_be_wide || pack->number_at != NULL);
}

enum { TREES = 512 }; // of a block of work

static MdpKind kind_of_free(const FreeMass *mass) {
    return is_isotropic(&mass->inverse_inertia) ? MDP_BALL : MDP_POINT;
}

static void find_kinds(void *work, uint32_t block) {
    const MdpPack *pack = work;
    const ContactProblem *problem = pack->problem;
    uint32_t begin = block * TREES, count = problem->tree_count;
    uint32_t end = count - begin > TREES ? begin + TREES : count;
    for (uint32_t i = begin; i < end; i++) {
        bool is_wide = pack->is_plain || !problem_is_free(problem, i);
        pack->kind_of_tree[i] = (uint8_t)(is_wide ? MDP_WIDE : kind_of_free(&problem->free[i]));
    }
}

// Trees that bilateral rows of several trees hold are wide.
static void find_joined(const MdpPack *pack) {
    const ContactProblem *problem = pack->problem;
    const RowRelation *relation = pack->judge->result->answer.row;
    for (uint32_t i = 0; i < problem->row_count; i++) {
        const ProblemRow *row = &problem->row[i];
        bool joins = row->block_count > 1 && isinf(relation[i].low) && isinf(relation[i].high);
        for (uint32_t b = 0; b < row->block_count && joins; b++) {
            pack->kind_of_tree[problem->row_block[row->block_first + b].tree] = MDP_WIDE;
        }
    }
}

Status mdp_pack_begin(Judge *judge, bool is_plain, MdpPack *pack) {
    ASSERT(judge->problem->contact_count + judge->problem->row_count > 0);
    *pack = (MdpPack){.problem = judge->problem, .judge = judge, .is_plain = is_plain};
    if (!take_places(pack, judge->arena)) {
        return no_memory(judge->error);
    }
    tasks_run(judge->context->tasks, find_kinds, pack,
              tasks_blocks(judge->problem->tree_count, TREES));
    find_joined(pack);
    return STATUS_OK;
}

void mdp_pack_survey(void *solver, uint32_t begin, uint32_t end) {
    ASSERT(begin <= end);
    const MdpPack *pack = solver;
    const ProblemContact *contact = pack->problem->contact;
    const uint32_t *list = pack->judge->islands.contact;
    const MassBlock *block = mass_contact_block(&pack->judge->mass, 0);
    const uint8_t *kind_of_tree = pack->kind_of_tree;
    uint8_t *kind = pack->kind;
    MdpPair *pair = pack->pair;
    for (uint32_t i = begin; i < end; i++) {
        const ProblemContact *c = &contact[list[i]];
        bool moves = mass_block_weight(&block[list[i]]) != 0.0;
        kind[i] = (uint8_t)(moves ? kind_of(kind_of_tree, c) : MDP_NONE);
        pair[i] = (MdpPair){{c->side[0].tree, c->side[1].tree}};
    }
}

// ---- end

static bool take_bodies(MdpPack *pack, Arena *arena) {
    const ContactProblem *problem = pack->problem;
    size_t count = static_of_stretch(pack, pack->stretch_count);
    pack->body = arena_take_array(arena, count, sizeof(*pack->body));
    pack->inverse_inertia = arena_take_array(arena, count, sizeof(*pack->inverse_inertia));
    pack->v_before = arena_take_array(arena, problem->velocity_count, sizeof(*pack->v_before));
    pack->dense_v = arena_take_array(arena, problem->all_free ? 0 : problem->velocity_count,
                                     sizeof(*pack->dense_v));
    return pack->body != NULL && pack->inverse_inertia != NULL && pack->v_before != NULL &&
           pack->dense_v != NULL;
}

static void fill_body(const MdpPack *pack, uint32_t index, const FreeMass *mass) {
    const Sym3 *of = &mass->inverse_inertia;
    pack->inverse_inertia[index] =
        (MdpInertia){{of->xx, of->yy, of->zz, of->xy, of->xz, of->yz, 0.0, 0.0}};
    pack->body[index] =
        (MdpBody){.inverse_mass = mass->inverse_mass, .inverse_inertia = mass->inverse_inertia.xx};
}

// what is no free body, and what is static
static const FreeMass no_mass = {.mass = 0.0};

static void fill_statics(const MdpPack *pack) {
    for (uint32_t i = pack->problem->tree_count; i < static_of_stretch(pack, pack->stretch_count);
         i++) {
        fill_body(pack, i, &no_mass);
    }
}

static void fill_bodies(const MdpPack *pack, uint32_t begin, uint32_t end) {
    for (uint32_t i = begin; i < end; i++) {
        uint32_t tree = pack->judge->islands.tree[i];
        bool is_free = problem_is_free(pack->problem, tree);
        fill_body(pack, tree, is_free ? &pack->problem->free[tree] : &no_mass);
    }
}

static bool take_contacts(MdpPack *pack, Arena *arena) {
    static const MdpGroup none = {.share = 0}; // of a problem that has no tree
    const MdpGroup *last = pack->group_count == 0 ? &none : &pack->group[pack->group_count - 1];
    pack->quad = arena_take_array(arena, (size_t)last->first[MDP_BALL] + last->count[MDP_BALL],
                                  sizeof(*pack->quad));
    size_t points = (size_t)last->first[MDP_POINT] + last->count[MDP_POINT];
    pack->points =
        (MdpPoints){.quad = arena_take_array(arena, points, sizeof(*pack->points.quad)),
                    .square = arena_take_array(arena, points, MDP_QUAD * sizeof(double)),
                    .along = arena_take_array(arena, points, MDP_QUAD * sizeof(double)),
                    .plan = arena_take_array(arena, points, MDP_QUAD * sizeof(*pack->points.plan)),
                    .body = pack->body,
                    .inertia = pack->inverse_inertia};
    pack->point_contact = arena_take_array(arena, points, MDP_QUAD * sizeof(*pack->point_contact));
    pack->wide = arena_take_array(arena, (size_t)last->first[MDP_WIDE] + last->count[MDP_WIDE],
                                  sizeof(*pack->wide));
    pack->number =
        arena_take_array(arena, last->number_first + last->number_count, sizeof(*pack->number));
    return pack->quad != NULL && pack->points.quad != NULL && pack->points.square != NULL &&
           pack->points.along != NULL && pack->points.plan != NULL && pack->point_contact != NULL &&
           pack->wide != NULL && pack->number != NULL;
}

static const MdpGroup *group_of(const MdpPack *pack, uint32_t share) {
    return &pack->group[pack->group_of_share[share]];
}

// The quads of a group, or of a large one the part that is this share's.
static void clear_quads(const MdpPack *pack, const MdpGroup *group, uint32_t share) {
    uint64_t count = group->count[MDP_BALL], piece = share - group->share;
    uint32_t begin = (uint32_t)(count * piece / group->share_count),
             end = (uint32_t)(count * (piece + 1) / group->share_count);
    for (uint32_t i = begin; i < end; i++) {
        MdpQuad *quad = &pack->quad[group->first[MDP_BALL] + i];
        memset(quad, 0, sizeof(*quad));
        for (int place = 0; place < MDP_QUAD; place++) {
            quad->a[place] = quad->b[place] = static_of_group(pack, group);
        }
    }
}

static void fill_contacts(MdpPack *pack, const MdpGroup *group, uint32_t share) {
    const IslandRange *range = &pack->judge->islands.share[share].range;
    for (uint32_t i = range->contact_begin; i < range->contact_end; i++) {
        MdpKind kind = (MdpKind)pack->kind[i];
        if (kind == MDP_NONE || kind == MDP_POINT) {
            continue;
        }
        pack->slot[i] += group->first[kind] * (kind == MDP_BALL ? MDP_QUAD : 1);
        Common common;
        fill_common(pack, group, static_of_group(pack, group), i, &common);
        if (kind == MDP_BALL) {
            add_ball(pack, &common);
        } else {
            add_wide(pack, &common, pack->number + group->number_first + pack->number_at[i]);
        }
    }
}

// Places without a contact are of the island of the place before them, so that sums go on.
static void close_quads(const MdpPack *pack, const MdpGroup *group) {
    uint32_t nobody = static_of_group(pack, group);
    for (uint32_t i = 0; i < group->count[MDP_BALL]; i++) {
        MdpQuad *quad = &pack->quad[group->first[MDP_BALL] + i];
        for (int place = 1; place < MDP_QUAD; place++) {
            bool is_empty = quad->a[place] == nobody && quad->b[place] == nobody;
            quad->island[place] = is_empty ? quad->island[place - 1] : quad->island[place];
            quad->is_mixed |= quad->island[place] != quad->island[0];
        }
    }
}

// ---- shares

static void clear_share(void *work, uint32_t share) {
    const MdpPack *pack = work;
    const IslandRange *range = &pack->judge->islands.share[share].range;
    fill_bodies(pack, range->tree_begin, range->tree_end);
    clear_quads(pack, group_of(pack, share), share);
}

static void fill_share(void *work, uint32_t share) {
    MdpPack *pack = work;
    const MdpGroup *group = group_of(pack, share);
    fill_contacts(pack, group, share);
    if (group->is_large) {
        return;
    }
    close_quads(pack, group);
    for (uint32_t i = group->stage_begin; i < group->stage_end; i++) {
        const MdpStage *stage = &pack->stage[i];
        if (stage->kind == MDP_POINT) {
            mdp_pack_fill_points(pack, group, &stage->span, static_of_group(pack, group));
        }
    }
}

static void change_static(uint32_t *index, uint32_t from, uint32_t to) {
    *index = *index == from ? to : *index;
}

// A stage of a large island, whose stretches get a static body each.
typedef struct Split {
    const MdpPack *pack;
    const MdpGroup *group;
} Split;

static void split_stage(void *work, uint32_t block) {
    const Split *split = work;
    const MdpPack *pack = split->pack;
    const MdpStage *stage = &pack->stage[split->group->stage_begin + block];
    uint32_t from = static_of_group(pack, split->group);
    for (uint32_t k = stage->stretch_begin; k < stage->stretch_end; k++) {
        const MdpStretch *stretch = &pack->stretch[k];
        uint32_t to = static_of_stretch(pack, k);
        const MdpSpan *span = &stretch->span;
        for (uint32_t i = span->begin; i < span->end && stage->kind == MDP_BALL; i++) {
            for (int place = 0; place < MDP_QUAD; place++) {
                change_static(&pack->quad[i].a[place], from, to);
                change_static(&pack->quad[i].b[place], from, to);
            }
        }
        if (stage->kind == MDP_POINT) {
            mdp_pack_fill_points(pack, split->group, span, to);
        }
    }
}

static void split_statics(const Judge *judge, const MdpPack *pack) {
    for (uint32_t i = 0; i < pack->group_count; i++) {
        const MdpGroup *group = &pack->group[i];
        if (group->is_large) {
            Split split = {pack, group};
            tasks_run(judge->context->tasks, split_stage, &split,
                      group->stage_end - group->stage_begin);
        }
    }
}

Status mdp_pack_end(Judge *judge, MdpPack *pack) {
    ASSERT(pack->judge == judge);
    Status status = mdp_pack_order(judge, pack);
    if (status != STATUS_OK) {
        return status;
    }
    uint32_t islands = judge->islands.count, shares = judge->islands.share_count;
    pack->island = arena_take_zeroed(judge->arena, islands, sizeof(*pack->island));
    pack->sum = arena_take_zeroed(judge->arena, islands, sizeof(*pack->sum));
    if (pack->island == NULL || pack->sum == NULL || !take_bodies(pack, judge->arena) ||
        !take_contacts(pack, judge->arena)) {
        return no_memory(judge->error);
    }
    fill_statics(pack);
    status = judge_shares(judge, clear_share, pack, 0, shares);
    status = STATUS_THEN(status, judge_shares(judge, fill_share, pack, 0, shares));
    if (status != STATUS_OK) {
        return status;
    }
    split_statics(judge, pack);
    return mdp_pack_rows(judge, pack);
}

double mdp_pack_points(const MdpPack *pack, uint32_t island) {
    ASSERT(island < pack->judge->islands.count);
    IslandRange range = islands_range(&pack->judge->islands, island, island + 1);
    uint32_t balls = 0;
    for (uint32_t k = range.contact_begin; k < range.contact_end; k++) {
        balls += pack->kind[k] == MDP_BALL;
    }
    return (double)(range.contact_end - range.contact_begin) +
           (double)(range.row_end - range.row_begin) - (1.0 - 1.0 / MDP_BALLS_PER_POINT) * balls;
}

// ---- in and out

void mdp_pack_load(const MdpPack *pack, const double *v, uint32_t begin, uint32_t end) {
    ASSERT(begin <= end);
    ASSERT(end <= pack->problem->tree_count);
    for (uint32_t i = begin; i < end; i++) {
        uint32_t tree = pack->judge->islands.tree[i];
        const ProblemTree *of = &pack->problem->tree[tree];
        memcpy(mdp_pack_velocity(pack, tree), v + of->first, of->width * sizeof(double));
    }
}

void mdp_pack_store_contacts(const MdpPack *pack, uint32_t begin, uint32_t end) {
    ASSERT(end <= pack->problem->contact_count);
    ASSERT(begin <= end);
    for (uint32_t i = begin; i < end; i++) {
        uint32_t contact = pack->judge->islands.contact[i], slot = pack->slot[i];
        double *at = pack->judge->result->answer.contact_impulse + 3 * (size_t)contact;
        if (pack->kind[i] == MDP_BALL) {
            mdp_pack_store_ball(&pack->problem->contact[contact], &pack->quad[slot / MDP_QUAD],
                                slot % MDP_QUAD, at);
        } else if (pack->kind[i] == MDP_POINT) {
            mdp_pack_store_point(&pack->points.quad[slot / MDP_QUAD], slot % MDP_QUAD, at);
        } else if (pack->kind[i] == MDP_WIDE) {
            memcpy(at, pack->wide[slot].impulse, 3 * sizeof(double));
        } else {
            memset(at, 0, 3 * sizeof(double));
        }
    }
}

void mdp_pack_store_rows(const MdpPack *pack, const MdpGroup *group, uint32_t begin, uint32_t end) {
    ASSERT(begin >= group->island_begin && begin <= end);
    ASSERT(end <= group->island_end);
    const Islands *islands = &pack->judge->islands;
    double *impulse = pack->judge->result->answer.row_impulse;
    for (uint32_t i = islands->row_first[begin]; i < islands->row_first[end]; i++) {
        impulse[islands->row[i]] = 0.0; // of what moves nothing, which is not swept
    }
    for (uint32_t i = group->joint_begin; i < group->joint_end; i++) {
        const MdpJoint *joint = &pack->joint[i];
        uint32_t island = group->island_begin + pack->row[joint->first].island;
        for (uint32_t k = 0; k < joint->count && island >= begin && island < end; k++) {
            const MdpRow *row = &pack->row[joint->first + k];
            impulse[row->row] = row->impulse;
        }
    }
}
