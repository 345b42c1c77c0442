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

static void join_all(const ContactProblem *problem, uint32_t *parent) {
    for (uint32_t i = 0; i < problem->contact_count; i++) {
        const ContactSide *side = problem->contact[i].side;
        if (side[0].tree != PROBLEM_NO_TREE && side[1].tree != PROBLEM_NO_TREE) {
            join(parent, side[0].tree, side[1].tree);
        }
    }
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
                        -answer->contact[contact].bias);
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

Status certificate_scale(const ContactProblem *problem, const ProblemMass *mass,
                         const Answer *answer, Arena *arena, CertificateScale *scale,
                         Error *error) {
    (void)mass;
    uint32_t *island = arena_take_array(arena, problem->tree_count, sizeof(*island));
    double *v_scale = arena_take_array(arena, problem->tree_count, sizeof(*v_scale));
    if (island == NULL || v_scale == NULL) {
        return no_memory(error);
    }
    for (uint32_t i = 0; i < problem->tree_count; i++) {
        island[i] = i;
    }
    join_all(problem, island);
    uint32_t count = number_islands(island, problem->tree_count);
    *scale = (CertificateScale){island, count, v_scale};

    for (uint32_t i = 0; i < count; i++) {
        v_scale[i] = relation_max(problem->gravity * problem->time_step, SCALE_MIN);
    }
    for (uint32_t i = 0; i < problem->contact_count; i++) {
        uint32_t of = certificate_island_of_contact(problem, scale, i);
        if (of != PROBLEM_NO_TREE) {
            v_scale[of] = relation_max(v_scale[of], contact_speed(problem, answer, i));
        }
    }
    for (uint32_t i = 0; i < problem->row_count; i++) {
        uint32_t of = certificate_island_of_row(problem, scale, i);
        if (of != PROBLEM_NO_TREE) {
            v_scale[of] = relation_max(v_scale[of], row_speed(problem, answer, i));
        }
    }
    return STATUS_OK;
}

// ---- measure

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
    double *momentum; // [velocity_count] sum of J^T gamma and G^T r
    double *scratch;  // [3 width_max]
    IslandMeasure *island;
    Certificate *certificate;
} Measure;

static void note(IslandMeasure *island, CertificateEntry entry, double velocity) {
    island->velocity[entry] = relation_max(island->velocity[entry], velocity);
}

static double impulse_square(const ContactState *state) {
    const double *a = state->block, *g = state->gamma;
    return g[0] * (a[0] * g[0] + a[1] * g[1] + a[2] * g[2]) +
           g[1] * (a[3] * g[0] + a[4] * g[1] + a[5] * g[2]) +
           g[2] * (a[6] * g[0] + a[7] * g[1] + a[8] * g[2]);
}

static double cone_error(const ContactState *state, double v_scale) {
    const double *g = state->gamma;
    double normal = relation_max(g[0], 0.0), square = g[1] * g[1] + g[2] * g[2];
    double out = relation_max(relation_max(sqrt(square) - state->mu * normal, -g[0]), 0.0);
    if (out == 0.0) {
        return 0.0;
    }
    return out / relation_max(sqrt(g[0] * g[0] + square), v_scale / state->w);
}

// everything but the own residual, which the caller wants by itself
static void note_contact(IslandMeasure *island, const ContactState *state, double v_scale) {
    const double *u = state->u;
    note(island, CERTIFICATE_PEN, relation_max(-u[0], 0.0));
    note(island, CERTIFICATE_COMP, fabs(relation_min(state->w * state->gamma[0], u[0])));
    double bound = state->mu * relation_max(state->gamma[0], 0.0);
    note(island, CERTIFICATE_MDP, relation_disc_map(state, bound, u + 1));
    const double lifted[3] = {u[0] + state->mu * sqrt(u[1] * u[1] + u[2] * u[2]), u[1], u[2]};
    note(island, CERTIFICATE_DS, relation_cone_map(state, lifted));
    island->cone = relation_max(island->cone, cone_error(state, v_scale));
    island->impulse_square = relation_max(island->impulse_square, impulse_square(state));
}

// false: the contact moves nothing, so that there is nothing to measure
static bool load_contact(const Measure *m, uint32_t i, ContactState *state) {
    memcpy(state->block, mass_contact_block(m->mass, i), sizeof(state->block));
    state->w = (state->block[0] + state->block[4] + state->block[8]) / 3.0;
    state->mu = m->problem->contact[i].mu;
    problem_contact_velocity(m->problem, i, m->answer->v, state->u);
    state->u[0] += m->answer->contact[i].bias;
    for (int k = 0; k < 3; k++) {
        state->gamma[k] = m->answer->contact_impulse[3 * (size_t)i + (size_t)k];
    }
    return state->w != 0.0;
}

// the own residual over V
static double measure_contact(Measure *m, uint32_t i) {
    ContactState state;
    if (!load_contact(m, i, &state)) {
        return 0.0;
    }
    uint32_t of = certificate_island_of_contact(m->problem, m->scale, i);
    double v_scale = m->scale->v_scale[of];
    IslandMeasure *island = &m->island[of];
    note_contact(island, &state, v_scale);
    double velocity =
        relation_residual(m->answer, &m->answer->contact[i], &state, m->problem->time_step);
    note(island, CERTIFICATE_OWN, velocity);
    problem_contact_momentum(m->problem, i, state.gamma, m->momentum);
    return velocity / v_scale;
}

static void measure_contacts(Measure *m, double *residual) {
    double worst = -1.0, penetration = 0.0;
    for (uint32_t i = 0; i < m->problem->contact_count; i++) {
        penetration = relation_max(penetration, -m->problem->contact[i].gap);
        double own = measure_contact(m, i);
        if (residual != NULL) {
            residual[i] = own;
        }
        // the first that is not a number is the worst of all
        if (own > worst || (own != own && worst == worst)) {
            worst = own;
            m->certificate->worst_contact = i;
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
        problem_row_momentum(m->problem, i, r, m->momentum);
    }
}

static double dot(const double *a, const double *b, uint32_t count) {
    double sum = 0.0;
    for (uint32_t k = 0; k < count; k++) {
        sum += a[k] * b[k];
    }
    return sum;
}

static void measure_tree(Measure *m, uint32_t tree) {
    const ProblemTree *t = &m->problem->tree[tree];
    const double *v = m->answer->v + t->first, *v_free = m->problem->v_free + t->first;
    IslandMeasure *island = &m->island[m->scale->island_of_tree[tree]];
    uint32_t width = t->width;
    double *change = m->scratch, *product = m->scratch + width,
           *solved = m->scratch + 2 * (size_t)width;

    mass_multiply_tree(m->mass, tree, v_free, product);
    island->free_square += dot(v_free, product, width);
    for (uint32_t k = 0; k < width; k++) {
        change[k] = v[k] - v_free[k];
    }
    mass_multiply_tree(m->mass, tree, change, product);
    island->change_square += dot(change, product, width);

    for (uint32_t k = 0; k < width; k++) {
        product[k] -= m->momentum[t->first + k];
        solved[k] = product[k];
    }
    mass_solve_tree(m->mass, tree, solved);
    island->residual_square += dot(product, solved, width);
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
                 .momentum = arena_take_zeroed(arena, problem->velocity_count, sizeof(double)),
                 .scratch = arena_take_array(arena, mass->width_max, 3 * sizeof(double)),
                 .island = arena_take_zeroed(arena, scale->island_count, sizeof(IslandMeasure)),
                 .certificate = certificate};
    if (m.momentum == NULL || m.scratch == NULL || m.island == NULL) {
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
