// SPDX-License-Identifier: MIT
#include "solve/mdp_pack.h"

#include "solve/dense.h"

#include <string.h>

#define BALL_TOLERANCE 1e-11 // how far arms may leave the normal, and inertia isotropy, by rounding
#define SINGULAR_SHARE 1e-10 // smallest eigenvalue over w below which a block counts as singular
#define REGULAR_SHARE                                                                              \
    1e-9 // what a singular block is given, times w; it vanishes at the fixed point

typedef enum ContactKind { KIND_NONE, KIND_BALL, KIND_POINT, KIND_WIDE } ContactKind;

static Status no_memory(Error *error) {
    return error_set(error, STATUS_RESOURCE_EXHAUSTED, NULL,
                     "The solver's memory is too small for this problem.");
}

static uint32_t body_of(const ContactProblem *problem, const ContactSide *side) {
    return side->tree == PROBLEM_NO_TREE ? problem->tree_count : side->tree;
}

double *mdp_pack_velocity(const MdpPack *pack, uint32_t tree) {
    const ProblemTree *t = &pack->problem->tree[tree];
    return t->is_free ? pack->body[tree].v : pack->dense_v + t->first;
}

static bool is_isotropic(const Sym3 *m) {
    double rounding = BALL_TOLERANCE * m->xx;
    return fabs(m->yy - m->xx) <= rounding && fabs(m->zz - m->xx) <= rounding &&
           fabs(m->xy) <= rounding && fabs(m->xz) <= rounding && fabs(m->yz) <= rounding;
}

static bool is_ball_side(const ContactProblem *problem, const ProblemContact *contact, int s) {
    const ContactSide *side = &contact->side[s];
    if (side->tree == PROBLEM_NO_TREE) {
        return true;
    }
    Vec3 off = vec3_cross(contact->normal, side->arm);
    double arm_square = vec3_dot(side->arm, side->arm);
    return is_isotropic(&problem->free[side->tree].inverse_inertia) &&
           vec3_dot(off, off) <= BALL_TOLERANCE * BALL_TOLERANCE * arm_square;
}

static ContactKind kind_of(const ContactProblem *problem, uint32_t contact) {
    const ProblemContact *c = &problem->contact[contact];
    uint32_t moving = 0;
    for (int s = 0; s < 2; s++) {
        if (c->side[s].tree == PROBLEM_NO_TREE) {
            continue;
        }
        moving++;
        if (!problem->tree[c->side[s].tree].is_free) {
            return KIND_WIDE;
        }
    }
    if (moving == 0) {
        return KIND_NONE;
    }
    bool moves_along = c->motion[1] != 0.0 || c->motion[2] != 0.0;
    return !moves_along && is_ball_side(problem, c, 0) && is_ball_side(problem, c, 1) ? KIND_BALL
                                                                                      : KIND_POINT;
}

// ---- blocks

// mdp.md 1.1: a singular block is made regular in the sweep
static MdpBlock regular_block(const double a[9], double w, double mu) {
    double shifted[9], factor[9];
    memcpy(shifted, a, sizeof(shifted));
    for (size_t k = 0; k < 3; k++) {
        shifted[4 * k] -= SINGULAR_SHARE * w;
    }
    double extra = dense_factor(3, shifted, 0.0, factor) ? 0.0 : REGULAR_SHARE * w;
    return (MdpBlock){.nn = a[0] + extra,
                      .nt = a[1],
                      .no = a[2],
                      .tt = a[4] + extra,
                      .to = a[5],
                      .oo = a[8] + extra,
                      .mu = mu};
}

// what every kind of contact is made of
typedef struct Common {
    uint32_t contact, island;
    const double *block; // A_ii
    double w, weight;
    double offset[3];
    double impulse[3];
} Common;

static void fill_common(const MdpPack *pack, const CertificateScale *scale, const Answer *answer,
                        uint32_t contact, Common *common) {
    const ProblemContact *c = &pack->problem->contact[contact];
    common->contact = contact;
    common->block = mass_contact_block(pack->mass, contact);
    common->w = (common->block[0] + common->block[4] + common->block[8]) / 3.0;
    common->island = certificate_island_of_contact(pack->problem, scale, contact);
    double share = common->w / scale->v_scale[common->island];
    common->weight = share * share;
    for (int k = 0; k < 3; k++) {
        common->offset[k] = c->motion[k] + (k == 0 ? answer->contact[contact].bias : 0.0);
        common->impulse[k] = answer->contact_impulse[3 * (size_t)contact + (size_t)k];
    }
}

static double arm_along(const ContactSide *side, Vec3 normal) {
    return side->tree == PROBLEM_NO_TREE ? 0.0 : vec3_dot(side->arm, normal);
}

static void add_ball(MdpPack *pack, const Common *common) {
    const ProblemContact *c = &pack->problem->contact[common->contact];
    double tt = 0.5 * (common->block[4] + common->block[8]);
    MdpBall ball = {.a = body_of(pack->problem, &c->side[0]),
                    .b = body_of(pack->problem, &c->side[1]),
                    .island = common->island,
                    .arm_a = arm_along(&c->side[0], c->normal),
                    .arm_b = arm_along(&c->side[1], c->normal),
                    .inverse_nn = 1.0 / common->block[0],
                    .inverse_tt = 1.0 / tt,
                    .mu = c->mu,
                    .offset = common->offset[0],
                    .weight = common->weight};
    Vec3 impulse = vec3_scale(common->impulse[0], c->normal);
    impulse = vec3_add_scaled(impulse, common->impulse[1], c->tangent[0]);
    impulse = vec3_add_scaled(impulse, common->impulse[2], c->tangent[1]);
    vec3_store(ball.normal, c->normal);
    vec3_store(ball.impulse, impulse);
    pack->ball_contact[pack->ball_count] = common->contact;
    pack->ball[pack->ball_count++] = ball;
}

static void add_point(MdpPack *pack, const Common *common) {
    const ProblemContact *c = &pack->problem->contact[common->contact];
    MdpPoint *point = &pack->point[pack->point_count];
    *point = (MdpPoint){.a = body_of(pack->problem, &c->side[0]),
                        .b = body_of(pack->problem, &c->side[1]),
                        .island = common->island,
                        .frame = {c->normal, c->tangent[0], c->tangent[1]},
                        .arm_a = c->side[0].arm,
                        .arm_b = c->side[1].arm,
                        .weight = common->weight};
    memcpy(point->impulse, common->impulse, sizeof(point->impulse));
    memcpy(point->offset, common->offset, sizeof(point->offset));
    MdpBlock block = regular_block(common->block, common->w, c->mu);
    mdp_block_plan(&block, &point->plan);
    pack->point_contact[pack->point_count++] = common->contact;
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

static bool fill_side(const MdpPack *pack, uint32_t contact, int s, Arena *arena, MdpSide *side) {
    const ProblemContact *c = &pack->problem->contact[contact];
    uint32_t tree = c->side[s].tree;
    *side = (MdpSide){.width = 0};
    if (tree == PROBLEM_NO_TREE) {
        return true;
    }
    const ProblemTree *t = &pack->problem->tree[tree];
    size_t width = t->width;
    double *numbers = arena_take_array(arena, 6 * width, sizeof(double));
    if (numbers == NULL) {
        return false;
    }
    double *jacobian = numbers, *response = numbers + 3 * width;
    if (t->is_free) {
        write_free_jacobian(c, s, jacobian);
    } else {
        memcpy(jacobian, pack->problem->number + c->side[s].jacobian, 3 * width * sizeof(double));
    }
    memcpy(response, jacobian, 3 * width * sizeof(double));
    for (size_t k = 0; k < 3; k++) {
        mass_solve_tree(pack->mass, tree, response + k * width);
    }
    *side = (MdpSide){mdp_pack_velocity(pack, tree), jacobian, response, t->width};
    return true;
}

static bool add_wide(MdpPack *pack, const Common *common, Arena *arena) {
    MdpWide *wide = &pack->wide[pack->wide_count];
    *wide = (MdpWide){.island = common->island, .weight = common->weight};
    memcpy(wide->impulse, common->impulse, sizeof(wide->impulse));
    memcpy(wide->offset, common->offset, sizeof(wide->offset));
    MdpBlock block =
        regular_block(common->block, common->w, pack->problem->contact[common->contact].mu);
    mdp_block_plan(&block, &wide->plan);
    pack->wide_contact[pack->wide_count++] = common->contact;
    return fill_side(pack, common->contact, 0, arena, &wide->side[0]) &&
           fill_side(pack, common->contact, 1, arena, &wide->side[1]);
}

// ---- the whole

static bool take_bodies(MdpPack *pack, Arena *arena) {
    const ContactProblem *problem = pack->problem;
    size_t count = (size_t)problem->tree_count + 1;
    pack->body = arena_take_zeroed(arena, count, sizeof(*pack->body));
    pack->inverse_inertia = arena_take_zeroed(arena, count, sizeof(*pack->inverse_inertia));
    pack->dense_v = arena_take_array(arena, problem->all_free ? 0 : problem->velocity_count,
                                     sizeof(*pack->dense_v));
    if (pack->body == NULL || pack->inverse_inertia == NULL || pack->dense_v == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < problem->tree_count; i++) {
        if (problem->tree[i].is_free) {
            pack->body[i].inverse_mass = problem->free[i].inverse_mass;
            pack->body[i].inverse_inertia = problem->free[i].inverse_inertia.xx;
            pack->inverse_inertia[i] = problem->free[i].inverse_inertia;
        }
    }
    return true;
}

static bool take_islands(MdpPack *pack, const CertificateScale *scale, Arena *arena) {
    pack->island_of_tree = scale->island_of_tree;
    pack->island_count = scale->island_count;
    pack->island = arena_take_zeroed(arena, scale->island_count, sizeof(*pack->island));
    pack->v_before =
        arena_take_array(arena, pack->problem->velocity_count, sizeof(*pack->v_before));
    return pack->island != NULL && pack->v_before != NULL;
}

// `kind` is filled: what every contact is [contact_count]
static bool take_contacts(MdpPack *pack, Arena *arena, uint8_t *kind) {
    size_t count[4] = {0, 0, 0, 0};
    for (uint32_t i = 0; i < pack->problem->contact_count; i++) {
        ContactKind is = kind_of(pack->problem, i);
        kind[i] = (uint8_t)is;
        count[is]++;
    }
    pack->ball = arena_take_array(arena, count[KIND_BALL], sizeof(*pack->ball));
    pack->point = arena_take_array(arena, count[KIND_POINT], sizeof(*pack->point));
    pack->wide = arena_take_array(arena, count[KIND_WIDE], sizeof(*pack->wide));
    pack->ball_contact = arena_take_array(arena, count[KIND_BALL], sizeof(uint32_t));
    pack->point_contact = arena_take_array(arena, count[KIND_POINT], sizeof(uint32_t));
    pack->wide_contact = arena_take_array(arena, count[KIND_WIDE], sizeof(uint32_t));
    return pack->ball != NULL && pack->point != NULL && pack->wide != NULL &&
           pack->ball_contact != NULL && pack->point_contact != NULL && pack->wide_contact != NULL;
}

static bool add_contact(MdpPack *pack, const CertificateScale *scale, const Answer *answer,
                        uint32_t contact, ContactKind kind, Arena *arena) {
    Common common;
    if (kind == KIND_NONE) {
        return true;
    }
    fill_common(pack, scale, answer, contact, &common);
    if (common.w == 0.0) {
        return true; // moves nothing
    }
    if (kind == KIND_BALL) {
        add_ball(pack, &common);
    } else if (kind == KIND_POINT) {
        add_point(pack, &common);
    } else {
        return add_wide(pack, &common, arena);
    }
    return true;
}

static bool add_contacts(MdpPack *pack, const MdpOrder *order, const CertificateScale *scale,
                         const Answer *answer, const uint8_t *kind, Arena *arena) {
    pack->colour_count = order->colour_count;
    for (uint32_t colour = 0; colour < order->colour_count; colour++) {
        for (uint32_t k = order->first[colour]; k < order->first[colour + 1]; k++) {
            uint32_t contact = order->contact[k];
            if (!add_contact(pack, scale, answer, contact, (ContactKind)kind[contact], arena)) {
                return false;
            }
        }
        pack->range[colour + 1] = (MdpRange){pack->ball_count, pack->point_count, pack->wide_count};
    }
    return true;
}

Status mdp_pack(const ContactProblem *problem, const ProblemMass *mass,
                const CertificateScale *scale, const Answer *answer, Arena *arena, MdpPack *pack,
                Error *error) {
    memset(pack, 0, sizeof(*pack));
    pack->problem = problem;
    pack->mass = mass;
    MdpOrder order;
    Status status = mdp_colour(problem, arena, &order, error);
    if (status != STATUS_OK) {
        return status;
    }
    uint8_t *kind = arena_take_array(arena, problem->contact_count, sizeof(*kind));
    if (kind == NULL || !take_bodies(pack, arena) || !take_islands(pack, scale, arena) ||
        !take_contacts(pack, arena, kind) ||
        !add_contacts(pack, &order, scale, answer, kind, arena)) {
        return no_memory(error);
    }
    return mdp_pack_rows(scale, answer, arena, pack, error);
}

void mdp_pack_load(MdpPack *pack, const double *v) {
    for (uint32_t i = 0; i < pack->problem->tree_count; i++) {
        const ProblemTree *tree = &pack->problem->tree[i];
        memcpy(mdp_pack_velocity(pack, i), v + tree->first, tree->width * sizeof(double));
    }
}

void mdp_pack_store(const MdpPack *pack, Answer *answer) {
    for (uint32_t i = 0; i < pack->ball_count; i++) {
        const ProblemContact *c = &pack->problem->contact[pack->ball_contact[i]];
        Vec3 impulse = vec3_load(pack->ball[i].impulse);
        double *at = answer->contact_impulse + 3 * (size_t)pack->ball_contact[i];
        at[0] = vec3_dot(c->normal, impulse);
        // without friction the tangential part is zero, not rounding
        at[1] = c->mu == 0.0 ? 0.0 : vec3_dot(c->tangent[0], impulse);
        at[2] = c->mu == 0.0 ? 0.0 : vec3_dot(c->tangent[1], impulse);
    }
    for (uint32_t i = 0; i < pack->point_count; i++) {
        memcpy(answer->contact_impulse + 3 * (size_t)pack->point_contact[i], pack->point[i].impulse,
               3 * sizeof(double));
    }
    for (uint32_t i = 0; i < pack->wide_count; i++) {
        memcpy(answer->contact_impulse + 3 * (size_t)pack->wide_contact[i], pack->wide[i].impulse,
               3 * sizeof(double));
    }
    for (uint32_t i = 0; i < pack->row_count; i++) {
        answer->row_impulse[pack->row[i].row] = pack->row[i].impulse;
    }
}
