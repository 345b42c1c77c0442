// SPDX-License-Identifier: MIT
#include "solve/certificate.h"

#include "base/assert.h"
#include "solve/certificate_parts.h"

// What a report calls converged, beside the solver's own tolerance: momentum is arithmetic, the
// cone is a projection.
#define MOMENTUM_TOLERANCE 1e-10
#define CONE_TOLERANCE     1e-12
// no island is measured against a slower velocity than this [m/s]
#define SCALE_MIN 1e-9
// the share of a body's own momentum below which a momentum error drowns in the rounding of v
#define OWN_MOMENTUM_SHARE 1e-4

// ---- scale

static double contact_speed(const ContactProblem *problem, const Answer *answer, uint32_t contact) {
    double u[3];
    problem_contact_velocity(problem, contact, problem->v_free, u);
    return relation_max(sqrt(u[0] * u[0] + u[1] * u[1] + u[2] * u[2]),
                        -certificate_bias(problem, answer, contact));
}

double certificate_scale_contacts(const ContactProblem *problem, const Islands *islands,
                                  const Answer *answer, uint32_t begin, uint32_t end, double most) {
    ASSERT(end <= problem->contact_count);
    ASSERT(begin <= end);
    if (problem->all_free && answer->contact == NULL) {
        const uint32_t count = (end - begin) / CERTIFICATE_LANES * CERTIFICATE_LANES;
        most = certificate_scale_free(problem, islands->contact + begin, count, most);
        begin += count;
    }
    for (uint32_t i = begin; i < end; i++) {
        most = relation_max(most, contact_speed(problem, answer, islands->contact[i]));
    }
    return most;
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

double certificate_scale_rows(const ContactProblem *problem, const Islands *islands,
                              const Answer *answer, uint32_t begin, uint32_t end, double most) {
    ASSERT(end <= problem->row_count);
    ASSERT(begin <= end);
    for (uint32_t i = begin; i < end; i++) {
        most = relation_max(most, row_speed(problem, answer, islands->row[i]));
    }
    return most;
}

// What an island is measured against where nothing in it is faster.
double certificate_scale_least(const ContactProblem *problem) {
    ASSERT(!(problem->time_step <= 0.0));
    return relation_max(problem->gravity * problem->time_step, SCALE_MIN);
}

static const OpenIsland no_open_island = {.tree = -1, .contact = -1};

Certificate certificate_of_nothing(const ContactProblem *problem, double tolerance) {
    ASSERT(problem->contact_count == 0);
    ASSERT(problem->row_count == 0);
    double scale = problem->tree_count == 0
                       ? 0.0
                       : relation_max(certificate_scale_least(problem), problem->told_over);
    return (Certificate){.scale = scale,
                         .worst_contact = -1,
                         .tolerance = tolerance,
                         .converged = isfinite(scale),
                         .islands = problem->tree_count,
                         .islands_open = isfinite(scale) ? 0 : problem->tree_count,
                         .worst_tree = problem->tree_count == 0 ? -1 : 0,
                         .worst_open = isfinite(scale)
                                           ? no_open_island
                                           : (OpenIsland){.contact = -1, .reason = END_NOT_FINITE}};
}

// ---- measure

void certificate_add_momenta(const ContactProblem *problem, const Islands *islands,
                             const Answer *answer, uint32_t begin, uint32_t end) {
    ASSERT(end <= problem->contact_count);
    ASSERT(begin <= end);
    if (problem->all_free) {
        const uint32_t count = (end - begin) / CERTIFICATE_LANES * CERTIFICATE_LANES;
        certificate_add_free_momenta(problem, islands->contact + begin, count,
                                     answer->contact_impulse, answer->momentum);
        begin += count;
    }
    for (uint32_t i = begin; i < end; i++) {
        uint32_t contact = islands->contact[i];
        problem_contact_momentum(problem, contact, answer->contact_impulse + 3 * (size_t)contact,
                                 answer->momentum);
    }
}

IslandMeasure certificate_measure_none(void) {
    return (IslandMeasure){.worst_own = -1.0, .worst_contact = -1};
}

// (Q), of a row that the program has
static double program_row(const RowRelation *of, double w, double r, double time_step) {
    double x = r / time_step, c = of->program_curvature;
    double to = x - of->program_gradient / c;
    to = relation_max(relation_min(to, of->high / time_step), of->low / time_step);
    double row = relation_min(of->program_multiplier / c, of->program_slack);
    return time_step * w * relation_max(fabs(x - to), fabs(row));
}

static void measure_row(CertificateMeasure *m, uint32_t row) {
    const RowRelation *relation = &m->answer->row[row];
    double w = mass_row_weight(m->mass, row, m->scratch);
    if (w == 0.0) {
        return;
    }
    uint32_t of = islands_of_row(m->problem, m->scale->islands->of_tree, row);
    double r = m->answer->row_impulse[row];
    double y = problem_row_product(m->problem, row, m->answer->v) + relation->bias +
               relation->compliance * r;
    // the scale of relation_scale
    double most = CERTIFICATE_IMPULSE_MAX * m->scale->v_scale[of];
    double c = w * fabs(r) > most ? most / fabs(r) : w;
    double clipped = relation_max(relation_min(r - y / c, relation->high), relation->low);
    // unbounded rows spare themselves the rounding of r - (r - y / c)
    bool bilateral = !isfinite(relation->low) && !isfinite(relation->high);
    double velocity = relation->program_curvature > 0.0
                          ? program_row(relation, w, r, m->problem->time_step)
                      : bilateral ? fabs(y)
                                  : c * fabs(r - clipped);
    IslandMeasure *island = &m->island[of - m->island_begin];
    certificate_note(island, CERTIFICATE_ROW, velocity);
    certificate_note(island, CERTIFICATE_OWN, velocity);
    island->impulse_square = relation_max(island->impulse_square, r * r * w);
}

void certificate_measure_rows(CertificateMeasure *m, uint32_t begin, uint32_t end) {
    ASSERT(begin <= end);
    for (uint32_t i = begin; i < end; i++) {
        measure_row(m, m->scale->islands->row[i]);
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
    IslandMeasure *island = &m->island[m->scale->islands->of_tree[tree] - m->island_begin];
    if (problem_is_free(m->problem, tree)) {
        measure_free(m, tree, island);
    } else {
        measure_dense(m, tree, island);
    }
}

void certificate_measure_trees(CertificateMeasure *m, uint32_t begin, uint32_t end) {
    ASSERT(begin <= end);
    for (uint32_t i = begin; i < end; i++) {
        measure_tree(m, m->scale->islands->tree[i]);
    }
}

void certificate_measure_add(IslandMeasure *island, const IslandMeasure *piece) {
    ASSERT(island != piece);
    for (int k = 0; k < CERTIFICATE_ENTRY_COUNT; k++) {
        certificate_note(island, (CertificateEntry)k, piece->velocity[k]);
    }
    island->cone = relation_max(island->cone, piece->cone);
    island->cone_claimed = relation_max(island->cone_claimed, piece->cone_claimed);
    island->impulse_square = relation_max(island->impulse_square, piece->impulse_square);
    island->penetration = relation_max(island->penetration, piece->penetration);
    island->residual_square += piece->residual_square;
    island->change_square += piece->change_square;
    island->free_square += piece->free_square;
    if (certificate_is_worse(piece->worst_own, island->worst_own)) {
        island->worst_own = piece->worst_own;
        island->worst_contact = piece->worst_contact;
    }
}

// ---- the certificate

static double momentum_error(const IslandMeasure *island) {
    double size =
        sqrt(relation_max(relation_max(island->change_square, island->impulse_square), 0.0));
    size = relation_max(size, OWN_MOMENTUM_SHARE * sqrt(island->free_square));
    double error = sqrt(island->residual_square);
    return error == 0.0 && size == 0.0 ? 0.0 : error / size;
}

double certificate_measure_own(const IslandMeasure *island, double v_scale) {
    return island->velocity[CERTIFICATE_OWN] / v_scale;
}

static bool is_met(const IslandMeasure *island, double momentum, double v_scale, double tolerance) {
    return momentum <= MOMENTUM_TOLERANCE && island->cone_claimed <= CONE_TOLERANCE &&
           certificate_measure_own(island, v_scale) <= tolerance && isfinite(v_scale);
}

bool certificate_measure_is_met(const IslandMeasure *island, double v_scale, double tolerance) {
    VALIDATE(!(tolerance <= 0.0));
    return is_met(island, momentum_error(island), v_scale, tolerance);
}

// the largest so far
typedef struct Worst {
    double own, contact_own;
} Worst;

static void gather_open(const CertificateScale *scale, const IslandMeasure *island, uint32_t i,
                        double own, Certificate *c) {
    const Islands *islands = scale->islands;
    c->islands_open++;
    if (c->worst_open.tree >= 0 && !certificate_is_worse(own, c->worst_open.residual)) {
        return;
    }
    c->worst_open =
        (OpenIsland){.island = i,
                     .tree = islands->tree[islands->tree_first[i]],
                     .contact = island->worst_contact,
                     .contacts = islands->contact_first[i + 1] - islands->contact_first[i],
                     .residual = own,
                     .reason = isfinite(own) ? END_ITERATIONS : END_NOT_FINITE};
}

static void gather(const ContactProblem *problem, const CertificateScale *scale,
                   const IslandMeasure *island, uint32_t i, Worst *worst, Certificate *c) {
    const double v_scale = scale->v_scale[i], told_over = relation_max(v_scale, problem->told_over);
    double own = certificate_measure_own(island, v_scale);
    double momentum = momentum_error(island);
    for (int k = 0; k < CERTIFICATE_ENTRY_COUNT; k++) {
        c->velocity[k] = relation_max(c->velocity[k], island->velocity[k]);
        c->entry[k] = relation_max(c->entry[k], island->velocity[k] / told_over);
    }
    c->entry[CERTIFICATE_CONE] = relation_max(c->entry[CERTIFICATE_CONE], island->cone);
    c->entry[CERTIFICATE_MOM] = relation_max(c->entry[CERTIFICATE_MOM], momentum);
    c->scale = relation_max(c->scale, told_over);
    c->penetration = relation_max(c->penetration, island->penetration);
    if (!is_met(island, momentum, v_scale, c->tolerance)) {
        gather_open(scale, island, i, own, c);
    }
    if (certificate_is_worse(own, worst->own)) {
        worst->own = own;
        c->worst_tree = scale->islands->tree[scale->islands->tree_first[i]];
    }
    double contact_own = island->worst_own / v_scale;
    if (certificate_is_worse(contact_own, worst->contact_own)) {
        worst->contact_own = contact_own;
        c->worst_contact = island->worst_contact;
    }
}

Certificate certificate_of_islands(const ContactProblem *problem, const CertificateScale *scale,
                                   const IslandMeasure *island, double tolerance) {
    ASSERT(!(tolerance <= 0.0));
    const Islands *islands = scale->islands;
    ASSERT(problem->tree_count == 0 || islands->count > 0);
    Certificate c = {.worst_contact = -1,
                     .worst_tree = -1,
                     .worst_open = no_open_island,
                     .tolerance = tolerance,
                     .islands = islands->count};
    Worst worst = {-1.0, -HUGE_VAL};
    for (uint32_t i = 0; i < islands->count; i++) {
        gather(problem, scale, &island[i], i, &worst, &c);
    }
    for (uint32_t k = islands->contact_first[islands->count]; k < problem->contact_count; k++) {
        c.penetration =
            relation_max(c.penetration, 0.0 - problem->contact[islands->contact[k]].gap);
    }
    c.converged = c.islands_open == 0;
    return c;
}
