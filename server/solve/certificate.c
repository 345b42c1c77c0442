// SPDX-License-Identifier: MIT
#include "solve/certificate.h"

#include "base/assert.h"
#include "solve/certificate_contacts.h"

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
    ASSERT(contact < problem->contact_count);
    const ContactSide *side = problem->contact[contact].side;
    uint32_t tree = side[0].tree != PROBLEM_NO_TREE ? side[0].tree : side[1].tree;
    return tree == PROBLEM_NO_TREE ? PROBLEM_NO_TREE : scale->island_of_tree[tree];
}

uint32_t certificate_island_of_row(const ContactProblem *problem, const CertificateScale *scale,
                                   uint32_t row) {
    ASSERT(row < problem->row_count);
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

// What an island is measured against where nothing in it is faster.
static double least_scale(const ContactProblem *problem) {
    return relation_max(problem->gravity * problem->time_step, SCALE_MIN);
}

Certificate certificate_of_nothing(const ContactProblem *problem, double tolerance) {
    ASSERT(problem->contact_count == 0);
    ASSERT(problem->row_count == 0);
    double scale = problem->tree_count == 0 ? 0.0 : least_scale(problem);
    return (Certificate){
        .scale = scale, .worst_contact = -1, .tolerance = tolerance, .converged = isfinite(scale)};
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
    double least = least_scale(problem);
    for (uint32_t i = 0; i < problem->tree_count; i++) {
        scale->island_of_tree[i] = i;
        scale->v_scale[i] = least;
    }
    return STATUS_OK;
}

void certificate_scale_add(const ContactProblem *problem, const Answer *answer, uint32_t begin,
                           uint32_t end, CertificateScale *scale) {
    ASSERT(begin <= end);
    ASSERT(end <= problem->contact_count);
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
    ASSERT(scale->v_scale != NULL || problem->tree_count == 0);
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
    ASSERT(begin <= end);
    ASSERT(end <= problem->contact_count);
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

static void measure_rows(CertificateMeasure *m) {
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
        // the scale of relation_scale
        double most = CERTIFICATE_IMPULSE_MAX * m->scale->v_scale[of];
        double c = w * fabs(r) > most ? most / fabs(r) : w;
        double clipped = relation_max(relation_min(r - y / c, relation->high), relation->low);
        // unbounded rows spare themselves the rounding of r - (r - y / w)
        bool bilateral = !isfinite(relation->low) && !isfinite(relation->high);
        double velocity = bilateral ? fabs(y) : c * fabs(r - clipped);
        IslandMeasure *island = &m->island[of];
        certificate_note(island, CERTIFICATE_ROW, velocity);
        certificate_note(island, CERTIFICATE_OWN, velocity);
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

static void measure_dense(CertificateMeasure *m, uint32_t tree, IslandMeasure *island) {
    size_t first = m->problem->tree[tree].first, width = m->problem->tree[tree].width;
    const double *v = m->answer->v + first, *v_free = m->problem->v_free + first,
                 *momentum = m->answer->momentum + first;
    double *change = m->scratch, *product = m->scratch + width, *solved = m->scratch + 2 * width;

    mass_dense_multiply(m->mass, tree, v_free, product);
    island->free_square += dot(v_free, product, width);
    for (size_t k = 0; k < width; k++) {
        change[k] = v[k] - v_free[k];
    }
    mass_dense_multiply(m->mass, tree, change, product);
    island->change_square += dot(change, product, width);

    for (size_t k = 0; k < width; k++) {
        product[k] -= momentum[k];
        solved[k] = product[k];
    }
    mass_dense_solve(m->mass, tree, solved);
    island->residual_square += dot(product, solved, width);
}

// linear and angular
typedef struct Six {
    Vec3 l, a;
} Six;

static inline Six load_six(const double *at) {
    return (Six){vec3_load(at), vec3_load(at + 3)};
}

static inline Six subtract_six(Six x, Six y) {
    return (Six){vec3_sub(x.l, y.l), vec3_sub(x.a, y.a)};
}

static inline double dot_six(Six x, Six y) {
    return vec3_dot(x.l, y.l) + vec3_dot(x.a, y.a);
}

static inline Six multiply_six(double mass, Sym3 inertia, Six v) {
    return (Six){vec3_scale(mass, v.l), sym3_mul_vec(inertia, v.a)};
}

// the same of a free body, without a detour through memory
static void measure_free(const CertificateMeasure *m, uint32_t tree, IslandMeasure *island) {
    const FreeMass *of = &m->problem->free[tree];
    size_t first = problem_first(m->problem, tree);
    Six v_free = load_six(m->problem->v_free + first);
    Six change = subtract_six(load_six(m->answer->v + first), v_free);
    Six product = multiply_six(of->mass, of->inertia, change);
    Six rest = subtract_six(product, load_six(m->answer->momentum + first));

    island->free_square += dot_six(v_free, multiply_six(of->mass, of->inertia, v_free));
    island->change_square += dot_six(change, product);
    island->residual_square +=
        dot_six(rest, multiply_six(of->inverse_mass, of->inverse_inertia, rest));
}

static void measure_tree(CertificateMeasure *m, uint32_t tree) {
    IslandMeasure *island = &m->island[m->scale->island_of_tree[tree]];
    if (problem_is_free(m->problem, tree)) {
        measure_free(m, tree, island);
    } else {
        measure_dense(m, tree, island);
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
static void gather_islands(CertificateMeasure *m) {
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
    ASSERT(problem->tree_count == 0 || scale->island_count > 0);
    ASSERT(scale->island_count <= problem->tree_count);
    ASSERT(tolerance > 0.0);
    CertificateMeasure m = {
        .problem = problem,
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
    certificate_contacts(&m, residual);
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
