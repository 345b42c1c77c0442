// SPDX-License-Identifier: MIT
#include "solve/mdp_pack.h"

#include "base/assert.h"
#include "solve/dense.h"

#include <string.h>

#define BALL_TOLERANCE 1e-11 // how far arms may leave the normal, and inertia isotropy, by rounding
#define SINGULAR_SHARE 1e-10 // smallest eigenvalue over w below which a block counts as singular
#define REGULAR_SHARE                                                                              \
    1e-9 // what a singular block is given, times w; it vanishes at the fixed point

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

static bool is_ball_side(const MdpPack *pack, const ProblemContact *contact, int s) {
    const ContactSide *side = &contact->side[s];
    if (side->tree == PROBLEM_NO_TREE) {
        return true;
    }
    Vec3 off = vec3_cross(contact->normal, side->arm);
    double arm_square = vec3_dot(side->arm, side->arm);
    return pack->is_round[side->tree] &&
           vec3_dot(off, off) <= BALL_TOLERANCE * BALL_TOLERANCE * arm_square;
}

static MdpKind kind_of(const MdpPack *pack, uint32_t contact) {
    const ContactProblem *problem = pack->problem;
    const ProblemContact *c = &problem->contact[contact];
    uint32_t moving = 0;
    for (int s = 0; s < 2; s++) {
        if (c->side[s].tree == PROBLEM_NO_TREE) {
            continue;
        }
        moving++;
        if (!problem_is_free(problem, c->side[s].tree)) {
            return MDP_WIDE;
        }
    }
    if (moving == 0) {
        return MDP_NONE;
    }
    bool moves_along = c->motion[1] != 0.0 || c->motion[2] != 0.0;
    bool is_own = c->side[0].tree == c->side[1].tree;
    return !moves_along && !is_own && is_ball_side(pack, c, 0) && is_ball_side(pack, c, 1)
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
    return determinant > 2.0 * SINGULAR_SHARE * 2.25 * w * w * w; // twice: rounding
}

static bool is_singular(const MassBlock *a, double w) {
    double floor = SINGULAR_SHARE * w, factor[9];
    const double shifted[9] = {a->nn - floor, a->nt,         a->no, //
                               a->nt,         a->tt - floor, a->to, //
                               a->no,         a->to,         a->oo - floor};
    return !dense_factor(3, shifted, 0.0, factor);
}

// mdp.md 1.1: a singular block is made regular in the sweep
static MdpBlock regular_block(const MassBlock *a, double w, double mu) {
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
    uint32_t contact, island;
    const MassBlock *block; // A_ii
    double w, weight;
    double offset[3];
    double impulse[3];
} Common;

static void fill_common(const MdpPack *pack, const CertificateScale *scale, const Answer *answer,
                        uint32_t contact, Common *common) {
    const ProblemContact *c = &pack->problem->contact[contact];
    common->contact = contact;
    common->block = mass_contact_block(pack->mass, contact);
    common->w = mass_block_weight(common->block);
    common->island = certificate_island_of_contact(pack->problem, scale, contact);
    double share = common->w / scale->v_scale[common->island];
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
    uint32_t slot = pack->slot[common->contact], place = slot % MDP_QUAD;
    MdpQuad *quad = &pack->quad[slot / MDP_QUAD];
    quad->a[place] = body_of(pack->problem, &c->side[0]);
    quad->b[place] = body_of(pack->problem, &c->side[1]);
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

static void add_point(MdpPack *pack, const Common *common) {
    const ProblemContact *c = &pack->problem->contact[common->contact];
    MdpPoint *point = &pack->point[pack->slot[common->contact]];
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
    MdpWide *wide = &pack->wide[pack->slot[common->contact]];
    *wide = (MdpWide){.island = common->island, .weight = common->weight};
    memcpy(wide->impulse, common->impulse, sizeof(wide->impulse));
    memcpy(wide->offset, common->offset, sizeof(wide->offset));
    MdpBlock block =
        regular_block(common->block, common->w, pack->problem->contact[common->contact].mu);
    mdp_block_plan(&block, &wide->plan);
    return fill_side(pack, common->contact, 0, arena, &wide->side[0]) &&
           fill_side(pack, common->contact, 1, arena, &wide->side[1]);
}

// ---- the whole

static bool take_bodies(MdpPack *pack, Arena *arena) {
    const ContactProblem *problem = pack->problem;
    size_t count = (size_t)problem->tree_count + 1;
    pack->body = arena_take_zeroed(arena, count, sizeof(*pack->body));
    pack->inverse_inertia = arena_take_zeroed(arena, count, sizeof(*pack->inverse_inertia));
    pack->is_round = arena_take_zeroed(arena, count, sizeof(*pack->is_round));
    pack->dense_v = arena_take_array(arena, problem->all_free ? 0 : problem->velocity_count,
                                     sizeof(*pack->dense_v));
    if (pack->body == NULL || pack->inverse_inertia == NULL || pack->is_round == NULL ||
        pack->dense_v == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < problem->tree_count; i++) {
        if (problem->tree[i].is_free) {
            pack->body[i].inverse_mass = problem->free[i].inverse_mass;
            pack->body[i].inverse_inertia = problem->free[i].inverse_inertia.xx;
            pack->inverse_inertia[i] = problem->free[i].inverse_inertia;
            pack->is_round[i] = is_isotropic(&problem->free[i].inverse_inertia);
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

static bool take_places(MdpPack *pack, Arena *arena) {
    uint32_t contact_count = pack->problem->contact_count;
    pack->kind = arena_take_array(arena, contact_count, sizeof(*pack->kind));
    pack->slot = arena_take_array(arena, contact_count, sizeof(*pack->slot));
    return pack->kind != NULL && pack->slot != NULL;
}

// The next place, or the first of the next quad where the contact shares a body with the one
// before: of one colour, only contacts of one unit do, and those of the last colour.
static uint32_t next_place(const MdpPack *pack, const MdpOrder *order, uint32_t place,
                           uint32_t contact, uint32_t contact_before) {
    bool begins =
        contact_before == UINT32_MAX ||
        (order->goes_on[contact] && mdp_colour_is_unit(pack->problem, contact_before, contact));
    return begins ? (place + MDP_QUAD - 1) / MDP_QUAD * MDP_QUAD : place;
}

// Places in the order of the sweep. Filling them contact by contact afterwards reads the problem,
// which is larger, in a straight line.
static void find_slots(MdpPack *pack) {
    const MdpOrder *order = &pack->order;
    uint32_t count[MDP_KIND_COUNT] = {0}; // of balls: places
    pack->colour_count = order->colour_count;
    for (uint32_t colour = 0; colour < order->colour_count; colour++) {
        uint32_t ball_before = UINT32_MAX;
        for (uint32_t k = order->first[colour]; k < order->first[colour + 1]; k++) {
            uint32_t contact = order->contact[k], kind = pack->kind[contact];
            if (kind == MDP_BALL) {
                count[MDP_BALL] = next_place(pack, order, count[MDP_BALL], contact, ball_before);
                ball_before = colour == MDP_COLOUR_MAX - 1 ? UINT32_MAX : contact;
            }
            pack->slot[contact] = count[kind]++;
        }
        uint32_t quad = (count[MDP_BALL] + MDP_QUAD - 1) / MDP_QUAD;
        pack->range[colour + 1] = (MdpRange){quad, count[MDP_POINT], count[MDP_WIDE]};
    }
}

static bool take_contacts(MdpPack *pack, Arena *arena) {
    const MdpRange *count = &pack->range[pack->colour_count];
    pack->quad = arena_take_array(arena, count->quad, sizeof(*pack->quad));
    pack->point = arena_take_array(arena, count->point, sizeof(*pack->point));
    pack->wide = arena_take_array(arena, count->wide, sizeof(*pack->wide));
    if (pack->quad == NULL || pack->point == NULL || pack->wide == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < count->quad; i++) {
        memset(&pack->quad[i], 0, sizeof(pack->quad[i]));
        for (int place = 0; place < MDP_QUAD; place++) {
            pack->quad[i].a[place] = pack->quad[i].b[place] = pack->problem->tree_count;
        }
    }
    return true;
}

// Places without a contact are of the island of the place before them, so that sums go on.
static void close_quads(MdpPack *pack) {
    uint32_t nobody = pack->problem->tree_count;
    for (uint32_t i = 0; i < pack->range[pack->colour_count].quad; i++) {
        MdpQuad *quad = &pack->quad[i];
        for (int place = 1; place < MDP_QUAD; place++) {
            bool is_empty = quad->a[place] == nobody && quad->b[place] == nobody;
            quad->island[place] = is_empty ? quad->island[place - 1] : quad->island[place];
            quad->is_mixed |= quad->island[place] != quad->island[0];
        }
    }
}

static bool add_contacts(MdpPack *pack, const CertificateScale *scale, const Answer *answer,
                         double *momentum, Arena *arena) {
    for (uint32_t i = 0; i < pack->problem->contact_count; i++) {
        Common common;
        if (pack->kind[i] == MDP_NONE) {
            continue;
        }
        fill_common(pack, scale, answer, i, &common);
        problem_contact_momentum(pack->problem, i, common.impulse, momentum);
        if (pack->kind[i] == MDP_BALL) {
            add_ball(pack, &common);
        } else if (pack->kind[i] == MDP_POINT) {
            add_point(pack, &common);
        } else if (!add_wide(pack, &common, arena)) {
            return false;
        }
    }
    return true;
}

Status mdp_pack_begin(const ContactProblem *problem, const ProblemMass *mass, Arena *arena,
                      MdpPack *pack, Error *error) {
    memset(pack, 0, sizeof(*pack));
    pack->problem = problem;
    pack->mass = mass;
    Status status = mdp_colour_begin(problem, arena, &pack->order, error);
    if (status != STATUS_OK) {
        return status;
    }
    return take_bodies(pack, arena) && take_places(pack, arena) ? STATUS_OK : no_memory(error);
}

void mdp_pack_survey(MdpPack *pack, uint32_t begin, uint32_t end) {
    ASSERT(begin <= end);
    ASSERT(end <= pack->problem->contact_count);
    mdp_colour_add(pack->problem, begin, end, &pack->order);
    for (uint32_t i = begin; i < end; i++) {
        bool moves = mass_block_weight(mass_contact_block(pack->mass, i)) != 0.0;
        pack->kind[i] = (uint8_t)(moves ? kind_of(pack, i) : MDP_NONE);
    }
}

Status mdp_pack_end(const CertificateScale *scale, const Answer *answer, double *momentum,
                    Arena *arena, MdpPack *pack, Error *error) {
    mdp_colour_end(pack->problem, &pack->order);
    find_slots(pack);
    if (!take_islands(pack, scale, arena) || !take_contacts(pack, arena) ||
        !add_contacts(pack, scale, answer, momentum, arena)) {
        return no_memory(error);
    }
    close_quads(pack);
    return mdp_pack_rows(scale, answer, arena, pack, error);
}

void mdp_pack_load(MdpPack *pack, const double *v) {
    for (uint32_t i = 0; i < pack->problem->tree_count; i++) {
        const ProblemTree *tree = &pack->problem->tree[i];
        memcpy(mdp_pack_velocity(pack, i), v + tree->first, tree->width * sizeof(double));
    }
}

void mdp_pack_store_contacts(const MdpPack *pack, uint32_t begin, uint32_t end, Answer *answer) {
    ASSERT(begin <= end);
    ASSERT(end <= pack->problem->contact_count);
    for (uint32_t i = begin; i < end; i++) {
        double *at = answer->contact_impulse + 3 * (size_t)i;
        uint32_t slot = pack->slot[i];
        if (pack->kind[i] == MDP_BALL) {
            mdp_pack_store_ball(&pack->problem->contact[i], &pack->quad[slot / MDP_QUAD],
                                slot % MDP_QUAD, at);
        } else if (pack->kind[i] == MDP_POINT) {
            memcpy(at, pack->point[slot].impulse, 3 * sizeof(double));
        } else if (pack->kind[i] == MDP_WIDE) {
            memcpy(at, pack->wide[slot].impulse, 3 * sizeof(double));
        } else {
            memset(at, 0, 3 * sizeof(double));
        }
    }
}

void mdp_pack_store_rows(const MdpPack *pack, Answer *answer) {
    memset(answer->row_impulse, 0, pack->problem->row_count * sizeof(double));
    for (uint32_t i = 0; i < pack->row_count; i++) {
        answer->row_impulse[pack->row[i].row] = pack->row[i].impulse;
    }
}
