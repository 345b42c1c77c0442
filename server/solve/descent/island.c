// SPDX-License-Identifier: MIT
#include "solve/descent/island.h"

#include "base/assert.h"
#include "solve/descent/island_parts.h"

#include <string.h>

// What the gradient is by rounding alone, as a share of the momenta that it is the difference of,
// which no unit changes.
#define GRADIENT_ROUNDING 1e-14
// The cost stands still when it falls by no more than this share, at no less than this step.
#define COST_ROUNDING 1e-15
#define STEP_LARGE    0.5
// A factor of so many numbers takes a gigabyte.
#define FACTOR_NUMBERS_MAX ((size_t)1 << 27)

static Status no_memory(Error *error) {
    return error_set(error, STATUS_RESOURCE_EXHAUSTED, NULL,
                     "The solver's memory is too small for Newton's method.");
}

void sap_island_spend(SapIsland *s, double operations) {
    ASSERT(!(operations < 0.0));
    s->is_stopped = asker_spend(&s->asker, operations) || s->is_stopped;
}

// ---- sums over the island

static double dot(const double *a, const double *b, size_t count) {
    double sum = 0.0;
    for (size_t k = 0; k < count; k++) {
        sum += a[k] * b[k];
    }
    return sum;
}

// |D x|
static double scaled_norm(const SapIsland *s, const double *x) {
    double sum = 0.0;
    for (size_t k = 0; k < s->island.velocity_count; k++) {
        double scaled = s->scale[k] * x[k];
        sum += scaled * scaled;
    }
    return sqrt(sum);
}

// ---- the iterate

void sap_island_beds(SapIsland *s, BedKind kind, BedPass *pass, double *p) {
    ASSERT(s->bed_count == 0 || s->next != NULL);
    double cost = 0.0, first = 0.0, second = 0.0, size = 0.0;
    for (uint32_t i = 0; i < s->bed_count; i++) {
        bed_pass(&s->bed[i], kind, pass);
        cost += pass->cost;
        first += pass->first;
        second += pass->second;
        size += pass->size;
        if (p != NULL) {
            bed_add_momentum(&s->bed[i], pass, p);
        }
        sap_island_spend(s, BED_OPERATIONS * BED_PLACES * s->bed[i].count);
    }
    pass->cost = cost;
    pass->first = first;
    pass->second = second;
    pass->size = size;
}

// All that follows from v.
static void look(SapIsland *s) {
    const NewtonIsland *n = &s->island;
    size_t count = n->velocity_count;
    sap_island_spend(s, SAP_OPERATIONS_VELOCITY * (double)count);
    for (size_t k = 0; k < count; k++) {
        s->work[k] = s->v[k] - n->v_free[k];
    }
    newton_masses(n, s->work, s->p);
    s->cost = 0.5 * dot(s->work, s->p, count);
    memset(s->push, 0, count * sizeof(double));
    for (uint32_t i = sap_island_next(s, 0); i < n->constraint_count;
         i = sap_island_next(s, i + 1)) {
        const NewtonConstraint *c = &n->constraint[i];
        if (s->law[i] == NULL) {
            continue;
        }
        double *u = s->u + c->first, *y = s->y + c->first, *gamma = s->gamma + c->first;
        newton_product(n, c, s->v, u);
        sap_law_ask(s->law[i], u, y);
        sap_law_impulse(s->law[i], y, gamma);
        newton_momentum(n, c, gamma, s->push);
        s->cost += sap_law_potential(s->law[i], y, gamma);
        sap_island_spend(s, SAP_OPERATIONS_LOOK);
    }
    BedPass pass = {.v = s->v, .u = s->u, .y = s->y, .impulse = s->gamma};
    sap_island_beds(s, BED_LOOK, &pass, s->push);
    s->cost += pass.cost;
}

void sap_island_velocities(SapIsland *s, const double *gamma, double *v) {
    ASSERT(s->island.tree_count > 0);
    const NewtonIsland *n = &s->island;
    if (s->bed_count == 0) {
        newton_velocities(n, gamma, v);
        return;
    }
    memset(v, 0, n->velocity_count * sizeof(double));
    for (uint32_t i = sap_island_next(s, 0); i < n->constraint_count;
         i = sap_island_next(s, i + 1)) {
        newton_momentum(n, &n->constraint[i], gamma + n->constraint[i].first, v);
    }
    BedPass pass = {.gamma = gamma};
    sap_island_beds(s, BED_MOMENTUM, &pass, v);
    for (uint32_t i = 0; i < n->tree_count; i++) {
        mass_solve_tree(n->mass, n->tree[i], v + n->velocity[i]);
    }
    for (size_t k = 0; k < n->velocity_count; k++) {
        v[k] += n->v_free[k];
    }
}

void sap_island_follow(SapIsland *s) {
    ASSERT(s->island.tree_count > 0);
    const NewtonIsland *n = &s->island;
    sap_island_spend(s, SAP_OPERATIONS_VELOCITY * (double)n->velocity_count);
    memcpy(s->p, s->push, n->velocity_count * sizeof(double));
    memcpy(s->v, s->push, n->velocity_count * sizeof(double));
    for (uint32_t i = 0; i < n->tree_count; i++) {
        mass_solve_tree(n->mass, n->tree[i], s->v + n->velocity[i]);
    }
    for (size_t k = 0; k < n->velocity_count; k++) {
        s->v[k] += n->v_free[k];
    }
}

bool sap_island_is_small(const SapIsland *s, const double *gradient, double tolerance) {
    ASSERT(!(tolerance <= 0.0));
    double momentum = 0.0;
    for (size_t k = 0; k < s->island.velocity_count; k++) {
        double m = s->scale[k] * (s->p[k] + s->p_free[k]);
        momentum += m * m;
    }
    double size = relation_max(sqrt(momentum), scaled_norm(s, s->push));
    return scaled_norm(s, gradient) <= (GRADIENT_ROUNDING + tolerance) * size;
}

// ---- a step

LdltOutcome sap_island_factor(SapIsland *s) {
    sap_island_spend(s, SAP_OPERATIONS_VELOCITY * (double)s->island.velocity_count);
    bool is_begun = asker_affords(&s->asker, s->plan.operations);
    LdltOutcome outcome = is_begun ? ldlt_factor(&s->ldlt, s->asker.stop) : LDLT_STOPPED;
    s->is_stopped = s->is_stopped || outcome == LDLT_STOPPED;
    sap_island_spend(s, s->plan.operations);
    return outcome;
}

void sap_island_solve(SapIsland *s, double *x) {
    ASSERT(x != s->v);
    ldlt_solve(&s->ldlt, x);
    sap_island_spend(s, 2.0 * (double)(s->plan.lower_count + s->plan.diagonal_count));
}

// The Hessian where y is, factored.
static LdltOutcome factor(SapIsland *s) {
    const NewtonIsland *n = &s->island;
    newton_begin_matrix(n, &s->ldlt);
    for (uint32_t i = sap_island_next(s, 0); i < n->constraint_count && !s->is_stopped;
         i = sap_island_next(s, i + 1)) {
        const NewtonConstraint *c = &n->constraint[i];
        if (s->law[i] == NULL) {
            continue;
        }
        double gamma[NEWTON_ROWS_MAX], h[NEWTON_ROWS_MAX * NEWTON_ROWS_MAX];
        sap_law_slope(s->law[i], s->y + c->first, gamma, h);
        newton_add_matrix(n, &s->ldlt, c, h);
        sap_island_spend(s, SAP_OPERATIONS_STEP);
    }
    for (uint32_t i = 0; i < s->bed_count && !s->is_stopped; i++) {
        BedPass pass = {.y = s->y};
        bed_pass(&s->bed[i], BED_SLOPE, &pass);
        bed_add_matrix(&s->bed[i], &pass, &s->ldlt);
        sap_island_spend(s, 2.0 * BED_OPERATIONS * BED_PLACES * s->bed[i].count);
    }
    return sap_island_factor(s);
}

// d_v = -Hessian^-1 gradient
static LdltOutcome find_step(SapIsland *s) {
    LdltOutcome outcome = factor(s);
    for (size_t k = 0; k < s->island.velocity_count; k++) {
        s->d_v[k] = s->push[k] - s->p[k];
    }
    if (outcome == LDLT_FINITE) {
        sap_island_solve(s, s->d_v);
    }
    return outcome;
}

// v += alpha d_v; returns alpha
static double walk(SapIsland *s) {
    const NewtonIsland *n = &s->island;
    size_t count = n->velocity_count;
    for (uint32_t i = sap_island_next(s, 0); i < n->constraint_count;
         i = sap_island_next(s, i + 1)) {
        newton_product(n, &n->constraint[i], s->d_v, s->d_u + n->constraint[i].first);
    }
    BedPass pass = {.v = s->d_v, .d_u = s->d_u};
    sap_island_beds(s, BED_PRODUCT, &pass, NULL);
    newton_masses(n, s->d_v, s->work);
    double alpha = sap_search(s, dot(s->d_v, s->p, count), dot(s->d_v, s->work, count));
    for (size_t k = 0; k < count; k++) {
        s->v[k] += alpha * s->d_v[k];
    }
    return alpha;
}

static SapOutcome take_step(SapIsland *s) {
    double before = s->cost;
    LdltOutcome outcome = find_step(s);
    if (s->is_stopped) {
        return SAP_STOPPED;
    }
    if (outcome != LDLT_FINITE || !numbers_are_finite(s->d_v, s->island.velocity_count)) {
        return SAP_NOT_FINITE;
    }
    double alpha = walk(s);
    look(s);
    s->iterations++;
    bool stands = !(before - s->cost > COST_ROUNDING * 0.5 * (fabs(before) + fabs(s->cost)));
    return stands && alpha >= STEP_LARGE ? SAP_STALLED : SAP_SPENT;
}

SapOutcome sap_island_minimise(SapIsland *s, double tolerance, uint32_t iterations_max) {
    ASSERT(!(tolerance <= 0.0));
    SapOutcome outcome = SAP_SPENT;
    while (outcome == SAP_SPENT) {
        for (size_t k = 0; k < s->island.velocity_count; k++) {
            s->work[k] = s->p[k] - s->push[k];
        }
        if (sap_island_is_small(s, s->work, tolerance)) {
            return SAP_MET;
        }
        if (s->iterations >= iterations_max) {
            return SAP_SPENT;
        }
        outcome = take_step(s);
    }
    return outcome;
}

// ---- steps in impulses

static void block_product(const double *m, const double *x, uint32_t rows, double *product) {
    for (uint32_t r = 0; r < rows; r++) {
        product[r] = 0.0;
        for (uint32_t q = 0; q < rows; q++) {
            product[r] += m[r * rows + q] * x[q];
        }
    }
}

// e + J d_v of a constraint; d_v is none at first.
static void left_after(const SapIsland *s, const NewtonConstraint *c, const double *e,
                       bool is_first, double left[NEWTON_ROWS_MAX]) {
    if (is_first) {
        memset(left, 0, NEWTON_ROWS_MAX * sizeof(double));
    } else {
        newton_product(&s->island, c, s->d_v, left);
    }
    for (uint32_t r = 0; r < c->rows; r++) {
        left[r] += e[c->first + r];
    }
}

void sap_island_remainder(SapIsland *s, const double *slope, const double *e, bool is_first) {
    ASSERT(slope != e);
    const NewtonIsland *n = &s->island;
    memset(s->work, 0, n->velocity_count * sizeof(double));
    if (!is_first) {
        newton_masses(n, s->d_v, s->work);
    }
    for (uint32_t i = sap_island_next(s, 0); i < n->constraint_count;
         i = sap_island_next(s, i + 1)) {
        const NewtonConstraint *c = &n->constraint[i];
        if (s->law[i] != NULL) {
            double left[NEWTON_ROWS_MAX], push[NEWTON_ROWS_MAX];
            left_after(s, c, e, is_first, left);
            block_product(slope + (size_t)SAP_BLOCK * i, left, c->rows, push);
            newton_momentum(n, c, push, s->work);
            sap_island_spend(s, SAP_OPERATIONS_LOOK);
        }
    }
    BedPass pass = {.v = is_first ? NULL : s->d_v, .e = e};
    sap_island_beds(s, BED_REST, &pass, s->work);
    for (size_t k = 0; k < n->velocity_count; k++) {
        s->work[k] = -s->work[k];
    }
}

bool sap_island_change(SapIsland *s, uint32_t constraint, const double *inverse, const double *e,
                       double change[NEWTON_ROWS_MAX]) {
    ASSERT(constraint < s->island.constraint_count);
    if (s->law[constraint] == NULL) {
        return false;
    }
    const NewtonConstraint *c = &s->island.constraint[constraint];
    double left[NEWTON_ROWS_MAX];
    left_after(s, c, e, false, left);
    block_product(inverse + (size_t)SAP_BLOCK * constraint, left, c->rows, change);
    sap_island_spend(s, SAP_OPERATIONS_LOOK);
    return true;
}

void sap_nearest_forget(SapNearest *nearest, const SapIsland *s, const double *x) {
    ASSERT(nearest->x != x);
    memcpy(nearest->x, x, s->island.impulse_count * sizeof(double));
    nearest->residual = nearest->mark = HUGE_VAL;
    nearest->marked_at = s->iterations;
}

bool sap_nearest_keep(SapNearest *nearest, const SapIsland *s, const double *x, double residual,
                      uint32_t patience) {
    ASSERT(nearest->x != x);
    if (residual <= 0.5 * nearest->mark) {
        nearest->mark = residual;
        nearest->marked_at = s->iterations;
    }
    if (residual < nearest->residual) {
        nearest->residual = residual;
        memcpy(nearest->x, x, s->island.impulse_count * sizeof(double));
    }
    return s->iterations < nearest->marked_at + patience;
}

// ---- in and out

static bool take(SapIsland *s, Arena *arena) {
    const NewtonIsland *n = &s->island;
    double **velocity[] = {&s->v, &s->d_v, &s->p, &s->push, &s->p_free, &s->scale, &s->work};
    double **impulse[] = {&s->u, &s->d_u, &s->y, &s->gamma};
    bool is_taken = true;
    for (size_t k = 0; k < sizeof(velocity) / sizeof(velocity[0]); k++) {
        *velocity[k] = arena_take_array(arena, n->velocity_count, sizeof(double));
        is_taken = is_taken && *velocity[k] != NULL;
    }
    for (size_t k = 0; k < sizeof(impulse) / sizeof(impulse[0]); k++) {
        *impulse[k] = arena_take_zeroed(arena, n->impulse_count, sizeof(double));
        is_taken = is_taken && *impulse[k] != NULL;
    }
    s->law = arena_take_array(arena, n->constraint_count, sizeof(*s->law));
    return is_taken && s->law != NULL;
}

static void make_scale(SapIsland *s) {
    const NewtonIsland *n = &s->island;
    newton_masses(n, n->v_free, s->p_free);
    for (uint32_t i = 0; i < n->tree_count; i++) {
        size_t width = n->velocity[i + 1] - n->velocity[i];
        mass_tree_matrix(n->mass, n->tree[i], n->piece);
        for (size_t k = 0; k < width; k++) {
            s->scale[n->velocity[i] + k] = 1.0 / sqrt(n->piece[k * (width + 1)]);
        }
    }
}

// Whether an impulse may be any but 0.
static bool is_moved(const SapIsland *s, uint32_t constraint) {
    return s->law[constraint] != NULL || sap_island_next(s, constraint) != constraint;
}

void sap_island_load(SapIsland *s, const double *contact_impulse, const double *row_impulse) {
    ASSERT(s->island.contact_count <= s->island.constraint_count);
    const NewtonIsland *n = &s->island;
    for (uint32_t i = 0; i < n->constraint_count; i++) {
        const NewtonConstraint *c = &n->constraint[i];
        const double *from =
            c->rows == 3 ? contact_impulse + 3 * (size_t)c->index : row_impulse + c->index;
        for (uint32_t r = 0; r < c->rows; r++) {
            s->gamma[c->first + r] = is_moved(s, i) ? from[r] : 0.0;
        }
    }
}

void sap_island_start(SapIsland *s) {
    ASSERT(s->island.velocity_count > 0);
    const NewtonIsland *n = &s->island;
    size_t bytes = n->velocity_count * sizeof(double);
    sap_island_velocities(s, s->gamma, s->v);
    look(s);
    double warm = s->cost;
    memcpy(s->d_v, s->v, bytes);
    memcpy(s->v, n->v_free, bytes);
    look(s);
    if (warm < s->cost) {
        memcpy(s->v, s->d_v, bytes);
        look(s);
    }
}

Status sap_island_lay_out(SapIsland *s, const NewtonIsland *island, const Stop *stop, Arena *arena,
                          Error *error) {
    ASSERT(island->tree_count > 0);
    *s = (SapIsland){.island = *island, .asker = {.stop = stop}};
    const LdltLimits limits = {FACTOR_NUMBERS_MAX, HUGE_VAL, &s->asker};
    Status status = ldlt_plan(&s->island.graph, limits, arena, &s->plan, error);
    status = STATUS_THEN(status, ldlt_init(&s->ldlt, &s->plan, true, arena, error));
    status = STATUS_THEN_IF(status, !take(s, arena), no_memory(error));
    if (status == STATUS_OK) {
        memset(s->law, 0, island->constraint_count * sizeof(*s->law));
        make_scale(s);
    }
    return status;
}

Status sap_island_init(SapIsland *s, const NewtonIsland *island, const SapLaw *contact_law,
                       const SapLaw *row_law, const Stop *stop, Arena *arena, Error *error) {
    Status status = sap_island_lay_out(s, island, stop, arena, error);
    for (uint32_t i = 0; i < island->constraint_count && status == STATUS_OK; i++) {
        const NewtonConstraint *c = &island->constraint[i];
        const SapLaw *law = c->rows == 3 ? contact_law : row_law;
        s->law[i] = c->w == 0.0 ? NULL : law + c->index;
    }
    return status;
}

void sap_island_store(const SapIsland *s, double *contact_impulse, double *row_impulse) {
    ASSERT(s->island.contact_count <= s->island.constraint_count);
    const NewtonIsland *n = &s->island;
    for (uint32_t i = 0; i < n->constraint_count; i++) {
        const NewtonConstraint *c = &n->constraint[i];
        double *to = c->rows == 3 ? contact_impulse + 3 * (size_t)c->index : row_impulse + c->index;
        for (uint32_t r = 0; r < c->rows; r++) {
            to[r] = is_moved(s, i) ? s->gamma[c->first + r] : 0.0;
        }
    }
}
