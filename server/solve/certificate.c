// SPDX-License-Identifier: MIT
#include "solve/certificate.h"

#include "solve/certificate_relation.h"

#include <string.h>

// What a report calls converged, beside the solver's own tolerance: momentum is arithmetic, the
// cone is a projection.
#define MOMENTUM_TOLERANCE 1e-10
#define CONE_TOLERANCE     1e-12
// no island is measured against a slower velocity than this [m/s]
#define SCALE_MIN 1e-9
// the share of a body's own momentum below which a momentum error drowns in the rounding of v
#define OWN_MOMENTUM_SHARE 1e-4

static Status no_memory(Error *error) {
    return error_set(error, STATUS_RESOURCE_EXHAUSTED, NULL,
                     "The solver's memory is too small for the certificate.");
}

// ---- islands: a forest over the trees whose roots are the smallest members

static uint32_t find_root(uint32_t *parent, uint32_t tree) {
    while (parent[tree] != tree) {
        parent[tree] = parent[parent[tree]];
        tree = parent[tree];
    }
    return tree;
}

static void join(uint32_t *parent, uint32_t a, uint32_t b) {
    uint32_t root_a = find_root(parent, a), root_b = find_root(parent, b);
    if (root_a < root_b) {
        parent[root_b] = root_a;
    } else {
        parent[root_a] = root_b;
    }
}

// after this, parent[tree] is the island of the tree; islands are numbered by their first tree
static uint32_t number_islands(uint32_t *parent, uint32_t tree_count) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < tree_count; i++) {
        // a parent comes before its child, so it carries its island's number already
        parent[i] = parent[i] == i ? count++ : parent[parent[i]];
    }
    return count;
}

static void join_rows(const ContactProblem *problem, uint32_t *parent) {
    for (uint32_t i = 0; i < problem->row_count; i++) {
        const ProblemRow *row = &problem->row[i];
        const RowBlock *block = problem->row_block + row->block_first;
        for (uint32_t b = 1; b < row->block_count; b++) {
            join(parent, block[0].tree, block[b].tree);
        }
    }
}

uint32_t certificate_island_of_contact(const ContactProblem *problem, const CertificateScale *scale,
                                       uint32_t contact) {
    const ContactSide *side = problem->contact[contact].side;
    uint32_t tree = side[0].tree != PROBLEM_NO_TREE ? side[0].tree : side[1].tree;
    return tree == PROBLEM_NO_TREE ? PROBLEM_NO_TREE : scale->island_of_tree[tree];
}

uint32_t certificate_island_of_row(const ContactProblem *problem, const CertificateScale *scale,
                                   uint32_t row) {
    const ProblemRow *r = &problem->row[row];
    return r->block_count == 0 ? PROBLEM_NO_TREE
                               : scale->island_of_tree[problem->row_block[r->block_first].tree];
}

// ---- scale

static double contact_speed(const ContactProblem *problem, const Answer *answer, uint32_t contact) {
    double u[3];
    problem_contact_velocity(problem, contact, problem->v_free, u);
    return relation_max(sqrt(u[0] * u[0] + u[1] * u[1] + u[2] * u[2]),
                        -certificate_bias(problem, answer, contact));
}

static double row_speed(const ContactProblem *problem, const Answer *answer, uint32_t row) {
    const RowRelation *relation = &answer->row[row];
    bool has_low = isfinite(relation->low), has_high = isfinite(relation->high);
    double target = fabs(relation->bias);
    if (has_low != has_high) {
        target =
            has_low ? -relation->bias : relation->bias; // a limit asks only while it is overrun
    }
    return relation_max(fabs(problem_row_product(problem, row, problem->v_free)), target);
}

// until the end, `island_of_tree` is the forest and `v_scale` is of single trees
Status certificate_scale_begin(const ContactProblem *problem, Arena *arena, CertificateScale *scale,
                               Error *error) {
    *scale = (CertificateScale){
        .island_of_tree = arena_take_array(arena, problem->tree_count, sizeof(uint32_t)),
        .v_scale = arena_take_array(arena, problem->tree_count, sizeof(double))};
    if (scale->island_of_tree == NULL || scale->v_scale == NULL) {
        return no_memory(error);
    }
    double least = relation_max(problem->gravity * problem->time_step, SCALE_MIN);
    for (uint32_t i = 0; i < problem->tree_count; i++) {
        scale->island_of_tree[i] = i;
        scale->v_scale[i] = least;
    }
    return STATUS_OK;
}

void certificate_scale_add(const ContactProblem *problem, const Answer *answer, uint32_t begin,
                           uint32_t end, CertificateScale *scale) {
    for (uint32_t i = begin; i < end; i++) {
        uint32_t a = problem->contact[i].side[0].tree, b = problem->contact[i].side[1].tree;
        uint32_t tree = a != PROBLEM_NO_TREE ? a : b;
        if (a != PROBLEM_NO_TREE && b != PROBLEM_NO_TREE) {
            join(scale->island_of_tree, a, b);
        }
        if (tree != PROBLEM_NO_TREE) {
            scale->v_scale[tree] =
                relation_max(scale->v_scale[tree], contact_speed(problem, answer, i));
        }
    }
}

void certificate_scale_end(const ContactProblem *problem, const Answer *answer,
                           CertificateScale *scale) {
    join_rows(problem, scale->island_of_tree);
    scale->island_count = number_islands(scale->island_of_tree, problem->tree_count);
    uint32_t known = 0;
    for (uint32_t i = 0; i < problem->tree_count; i++) {
        // an island's number is not above its first tree's, so what is overwritten has been read
        uint32_t of = scale->island_of_tree[i];
        double of_tree = scale->v_scale[i];
        scale->v_scale[of] = of == known ? of_tree : relation_max(scale->v_scale[of], of_tree);
        known += of == known ? 1 : 0;
    }
    for (uint32_t i = 0; i < problem->row_count; i++) {
        uint32_t of = certificate_island_of_row(problem, scale, i);
        if (of != PROBLEM_NO_TREE) {
            scale->v_scale[of] = relation_max(scale->v_scale[of], row_speed(problem, answer, i));
        }
    }
}

// ---- measure

void certificate_momentum_begin(const ContactProblem *problem, Answer *answer) {
    memset(answer->momentum, 0, problem->velocity_count * sizeof(double));
}

void certificate_momentum_add(const ContactProblem *problem, uint32_t begin, uint32_t end,
                              Answer *answer) {
    for (uint32_t i = begin; i < end; i++) {
        problem_contact_momentum(problem, i, answer->contact_impulse + 3 * (size_t)i,
                                 answer->momentum);
    }
}

void certificate_momentum_end(const ContactProblem *problem, Answer *answer) {
    for (uint32_t i = 0; i < problem->row_count; i++) {
        problem_row_momentum(problem, i, answer->row_impulse[i], answer->momentum);
    }
}

// What one island has come to. Maxima are taken here, so that V divides once per island.
typedef struct IslandMeasure {
    double velocity[CERTIFICATE_ENTRY_COUNT]; // [m/s], the largest so far
    double cone;                              // the largest share outside the cone
    // the momentum balance, in the norm of M^-1
    double residual_square; // |M (v - v*) - J^T gamma - G^T r|^2
    double change_square;   // |M (v - v*)|^2
    double free_square;     // |M v*|^2
    double impulse_square;  // the largest single |J_i^T gamma_i|^2 or |G_j^T r_j|^2
} IslandMeasure;

typedef struct Measure {
    const ContactProblem *problem;
    const ProblemMass *mass;
    const CertificateScale *scale;
    const Answer *answer;
    double *scratch; // [3 width_max]
    IslandMeasure *island;
    Certificate *certificate;
} Measure;

static void note(IslandMeasure *island, CertificateEntry entry, double velocity) {
    island->velocity[entry] = relation_max(island->velocity[entry], velocity);
}

// The square of the momentum that an impulse is to its bodies, in the norm of M^-1.
static Pair impulse_square(const ContactStates *state) {
    const Pair *g = state->gamma;
    return g[0] * (state->nn * g[0] + state->nt * g[1] + state->no * g[2]) +
           g[1] * (state->nt * g[0] + state->tt * g[1] + state->to * g[2]) +
           g[2] * (state->no * g[0] + state->to * g[1] + state->oo * g[2]);
}

static Pair cone_error(const ContactStates *state, Pair v_scale) {
    const Pair *g = state->gamma, zero = pair_both(0.0);
    Pair square = g[1] * g[1] + g[2] * g[2];
    Pair out = pair_root(square) - state->mu * pair_positive(g[0]);
    out = pair_positive(pair_max(out, -g[0]));
    Pair size = pair_max(pair_root(g[0] * g[0] + square), v_scale / state->w);
    return pair_choose(out == zero, zero, out / size);
}

// What two contacts add to the measures of their islands.
typedef struct PairMeasure {
    Pair pen, comp, mdp, ds, own; // [m/s]
    Pair cone, impulse_square;
} PairMeasure;

// everything but the own residual
static void measure_pair(const ContactStates *state, Pair v_scale, PairMeasure *measure) {
    const Pair *u = state->u;
    measure->pen = pair_positive(-u[0]);
    measure->comp = pair_abs(pair_min(state->w * state->gamma[0], u[0]));
    Pair bound = state->mu * pair_positive(state->gamma[0]);
    measure->mdp = relation_disc_maps(state, bound, u + 1);
    const Pair lifted[3] = {u[0] + state->mu * relation_norm2(u[1], u[2]), u[1], u[2]};
    measure->ds = relation_cone_maps(state, lifted);
    measure->cone = cone_error(state, v_scale);
    measure->impulse_square = impulse_square(state);
}

static void note_contact(IslandMeasure *island, const PairMeasure *measure, int lane) {
    note(island, CERTIFICATE_PEN, measure->pen[lane]);
    note(island, CERTIFICATE_COMP, measure->comp[lane]);
    note(island, CERTIFICATE_MDP, measure->mdp[lane]);
    note(island, CERTIFICATE_DS, measure->ds[lane]);
    note(island, CERTIFICATE_OWN, measure->own[lane]);
    island->cone = relation_max(island->cone, measure->cone[lane]);
    island->impulse_square = relation_max(island->impulse_square, measure->impulse_square[lane]);
}

static void load_pair(const Measure *m, const uint32_t contact[PAIR_LANES], ContactStates *state) {
    uint32_t i = contact[0], j = contact[1];
    const MassBlock *a = mass_contact_block(m->mass, i), *b = mass_contact_block(m->mass, j);
    state->nn = (Pair){a->nn, b->nn};
    state->nt = (Pair){a->nt, b->nt};
    state->no = (Pair){a->no, b->no};
    state->tt = (Pair){a->tt, b->tt};
    state->to = (Pair){a->to, b->to};
    state->oo = (Pair){a->oo, b->oo};
    state->w = (state->nn + state->tt + state->oo) / 3.0;
    state->mu = (Pair){m->problem->contact[i].mu, m->problem->contact[j].mu};
    double u[3], v[3];
    problem_contact_velocity(m->problem, i, m->answer->v, u);
    problem_contact_velocity(m->problem, j, m->answer->v, v);
    state->u[0] = (Pair){u[0] + certificate_bias(m->problem, m->answer, i),
                         v[0] + certificate_bias(m->problem, m->answer, j)};
    state->u[1] = (Pair){u[1], v[1]};
    state->u[2] = (Pair){u[2], v[2]};
    const double *g = m->answer->contact_impulse + 3 * (size_t)i,
                 *h = m->answer->contact_impulse + 3 * (size_t)j;
    state->gamma[0] = (Pair){g[0], h[0]};
    state->gamma[1] = (Pair){g[1], h[1]};
    state->gamma[2] = (Pair){g[2], h[2]};
}

// one of two
static ContactState part(const ContactStates *both, int lane) {
    double nt = both->nt[lane], no = both->no[lane], to = both->to[lane];
    return (ContactState){
        .block = {both->nn[lane], nt, no, nt, both->tt[lane], to, no, to, both->oo[lane]},
        .w = both->w[lane],
        .mu = both->mu[lane],
        .u = {both->u[0][lane], both->u[1][lane], both->u[2][lane]},
        .gamma = {both->gamma[0][lane], both->gamma[1][lane], both->gamma[2][lane]}};
}

static Pair own_residual(const Measure *m, const uint32_t contact[PAIR_LANES],
                         const ContactStates *states) {
    if (m->answer->relation == RELATION_DISSIPATION) {
        return relation_dissipations(states);
    }
    Pair own;
    for (int lane = 0; lane < PAIR_LANES; lane++) {
        ContactState state = part(states, lane);
        ContactRelation rigid = {.bias = m->problem->contact[contact[lane]].bias, .s = 1.0};
        const ContactRelation *declared = m->answer->contact;
        own[lane] =
            relation_residual(m->answer, declared == NULL ? &rigid : &declared[contact[lane]],
                              &state, m->problem->time_step);
    }
    return own;
}

static double scale_of(const Measure *m, uint32_t island) {
    return island == PROBLEM_NO_TREE ? 1.0 : m->scale->v_scale[island];
}

// Two contacts: their own residuals over V, 0 of one that moves nothing, which is not measured.
static Pair measure_contacts_at(Measure *m, const uint32_t contact[PAIR_LANES]) {
    const uint32_t of[PAIR_LANES] = {
        certificate_island_of_contact(m->problem, m->scale, contact[0]),
        certificate_island_of_contact(m->problem, m->scale, contact[1])};
    Pair v_scale = {scale_of(m, of[0]), scale_of(m, of[1])};
    ContactStates states;
    load_pair(m, contact, &states);
    PairMeasure measure;
    measure_pair(&states, v_scale, &measure);
    Pair own = own_residual(m, contact, &states);
    measure.own = own;
    PairMask moves = states.w != 0.0;
    if (moves[0]) {
        note_contact(&m->island[of[0]], &measure, 0);
    }
    if (moves[1]) {
        note_contact(&m->island[of[1]], &measure, 1);
    }
    return pair_choose(moves, own / v_scale, pair_both(0.0));
}

static void note_worst(Measure *m, uint32_t contact, double own, double *worst) {
    // the first that is not a number is the worst of all
    if (own > *worst || (own != own && *worst == *worst)) {
        *worst = own;
        m->certificate->worst_contact = contact;
    }
}

static void measure_contacts(Measure *m, double *residual) {
    double worst = -1.0, penetration = 0.0;
    uint32_t count = m->problem->contact_count;
    for (uint32_t i = 0; i < count; i += PAIR_LANES) {
        // the last one alone is measured twice
        const uint32_t contact[PAIR_LANES] = {i, i + 1 < count ? i + 1 : i};
        Pair own = measure_contacts_at(m, contact);
        for (int lane = 0; lane < PAIR_LANES; lane++) {
            note_worst(m, contact[lane], own[lane], &worst);
            penetration = relation_max(penetration, -m->problem->contact[contact[lane]].gap);
            if (residual != NULL) {
                residual[contact[lane]] = own[lane];
            }
        }
    }
    m->certificate->penetration = penetration;
}

static void measure_rows(Measure *m) {
    for (uint32_t i = 0; i < m->problem->row_count; i++) {
        const RowRelation *relation = &m->answer->row[i];
        double w = mass_row_weight(m->mass, i, m->scratch);
        if (w == 0.0) {
            continue;
        }
        uint32_t of = certificate_island_of_row(m->problem, m->scale, i);
        double r = m->answer->row_impulse[i];
        double y = problem_row_product(m->problem, i, m->answer->v) + relation->bias +
                   relation->compliance * r;
        double clipped = relation_max(relation_min(r - y / w, relation->high), relation->low);
        // unbounded rows spare themselves the rounding of r - (r - y / w)
        bool bilateral = !isfinite(relation->low) && !isfinite(relation->high);
        double velocity = bilateral ? fabs(y) : w * fabs(r - clipped);
        IslandMeasure *island = &m->island[of];
        note(island, CERTIFICATE_ROW, velocity);
        note(island, CERTIFICATE_OWN, velocity);
        island->impulse_square = relation_max(island->impulse_square, r * r * w);
    }
}

static inline double dot(const double *a, const double *b, size_t count) {
    double sum = 0.0;
    for (size_t k = 0; k < count; k++) {
        sum += a[k] * b[k];
    }
    return sum;
}

// `width` and `first` are the tree's
static inline void measure_numbers(Measure *m, uint32_t tree, size_t first, size_t width) {
    const double *v = m->answer->v + first, *v_free = m->problem->v_free + first,
                 *momentum = m->answer->momentum + first;
    IslandMeasure *island = &m->island[m->scale->island_of_tree[tree]];
    double *change = m->scratch, *product = m->scratch + width, *solved = m->scratch + 2 * width;

    mass_multiply_tree(m->mass, tree, v_free, product);
    island->free_square += dot(v_free, product, width);
    for (size_t k = 0; k < width; k++) {
        change[k] = v[k] - v_free[k];
    }
    mass_multiply_tree(m->mass, tree, change, product);
    island->change_square += dot(change, product, width);

    for (size_t k = 0; k < width; k++) {
        product[k] -= momentum[k];
        solved[k] = product[k];
    }
    mass_solve_tree(m->mass, tree, solved);
    island->residual_square += dot(product, solved, width);
}

static void measure_tree(Measure *m, uint32_t tree) {
    if (problem_is_free(m->problem, tree)) {
        measure_numbers(m, tree, problem_first(m->problem, tree), 6); // unrolled
    } else {
        const ProblemTree *of = &m->problem->tree[tree];
        measure_numbers(m, tree, of->first, of->width);
    }
}

static double momentum_error(const IslandMeasure *island) {
    double size =
        sqrt(relation_max(relation_max(island->change_square, island->impulse_square), 0.0));
    size = relation_max(size, OWN_MOMENTUM_SHARE * sqrt(island->free_square));
    double error = sqrt(island->residual_square);
    return error == 0.0 && size == 0.0 ? 0.0 : error / size;
}

// the largest over islands
static void gather_islands(Measure *m) {
    Certificate *c = m->certificate;
    for (uint32_t i = 0; i < m->scale->island_count; i++) {
        const IslandMeasure *island = &m->island[i];
        double v_scale = m->scale->v_scale[i];
        for (int k = 0; k < CERTIFICATE_ENTRY_COUNT; k++) {
            c->velocity[k] = relation_max(c->velocity[k], island->velocity[k]);
            c->entry[k] = relation_max(c->entry[k], island->velocity[k] / v_scale);
        }
        c->entry[CERTIFICATE_CONE] = relation_max(c->entry[CERTIFICATE_CONE], island->cone);
        c->entry[CERTIFICATE_MOM] = relation_max(c->entry[CERTIFICATE_MOM], momentum_error(island));
        c->scale = relation_max(c->scale, v_scale);
    }
}

Status certificate_measure(const ContactProblem *problem, const ProblemMass *mass,
                           const CertificateScale *scale, const Answer *answer, double tolerance,
                           Arena *arena, double *residual, Certificate *certificate, Error *error) {
    Measure m = {.problem = problem,
                 .mass = mass,
                 .scale = scale,
                 .answer = answer,
                 .scratch = arena_take_array(arena, mass->width_max, 3 * sizeof(double)),
                 .island = arena_take_zeroed(arena, scale->island_count, sizeof(IslandMeasure)),
                 .certificate = certificate};
    if (m.scratch == NULL || m.island == NULL) {
        return no_memory(error);
    }
    *certificate = (Certificate){.worst_contact = -1, .tolerance = tolerance};
    measure_contacts(&m, residual);
    measure_rows(&m);
    for (uint32_t i = 0; i < problem->tree_count; i++) {
        measure_tree(&m, i);
    }
    gather_islands(&m);

    const double *entry = certificate->entry;
    certificate->converged = entry[CERTIFICATE_MOM] <= MOMENTUM_TOLERANCE &&
                             entry[CERTIFICATE_CONE] <= CONE_TOLERANCE &&
                             entry[CERTIFICATE_OWN] <= tolerance && isfinite(certificate->scale);
    return STATUS_OK;
}
