// SPDX-License-Identifier: MIT
#include "solve/ccp/interior.h"

#include "base/assert.h"
#include "solve/ccp/cone.h"

#include <string.h>

// What is added to W^2, as a share of w: at the end less than W^2 has of what holds, which is about
// m / V^2. And how often what that leaves is solved again.
#define REGULAR_SHARE 1e-9
#define REGULAR_OF_M  1e-3
enum { REFINEMENTS = 2 };
// how much of the way to the boundary a step goes
#define STEP_SHARE 0.995
// Where it begins is so many times deeper than what is to be mended: impulses are large under what
// is heavy, and from too near the boundary no step is long.
#define EASE 10.0
// No step aims at less of m: what is not on the path has an error of the root of m.
#define AIM_MIN 1e-2
// a corrector that leads no further than this is left out
#define STEP_SMALL 0.1
#define STEP_NONE  1e-9
// Impulses that are so many times V / w have run away: targets contradict each other.
#define AWAY 1e8
// It has stalled when m has not fallen to a half for so many iterations.
enum { PATIENCE = 15 };

// What one constraint has of the barrier. A cone: z and s, scaled. A line: z are the distances of
// its impulse from its bounds, s the velocities that they bear; an infinite bound has neither.
struct CcpBarrier {
    CcpKind kind;
    bool has[2];   // a line's bounds
    bool is_fixed; // … and they are one
    double omega;
    double z[3], s[3], d_z[3], d_s[3];
    CcpScaling scaling;
    CcpInverse inverse; // of a cone: H in z, along the axes of W^2
    double u[3];        // J v + offset + R gamma
    double h[9];        // (W^2 + R)^-1 of impulses
    double b[3];        // right side: of H^-1 d gamma + J dv
    double borne[2];    // the velocities that a line's bounds bear where their distances stay
};

Status ccp_interior_init(CcpInterior *p, CcpIsland *island, Ldlt *ldlt, Arena *arena,
                         Error *error) {
    ASSERT(ldlt != NULL);
    ASSERT(island->island.constraint_count > 0);
    const NewtonIsland *n = &island->island;
    *p = (CcpInterior){.of = island, .ldlt = ldlt};
    double **velocity[] = {&p->v, &p->d_v, &p->p, &p->rest, &p->work};
    bool is_taken = true;
    for (size_t k = 0; k < sizeof(velocity) / sizeof(velocity[0]); k++) {
        *velocity[k] = arena_take_zeroed(arena, n->velocity_count, sizeof(double));
        is_taken = is_taken && *velocity[k] != NULL;
    }
    p->gamma = arena_take_zeroed(arena, n->impulse_count, sizeof(double));
    p->d_gamma = arena_take_zeroed(arena, n->impulse_count, sizeof(double));
    p->barrier = arena_take_zeroed(arena, n->constraint_count, sizeof(*p->barrier));
    return is_taken && p->gamma != NULL && p->d_gamma != NULL && p->barrier != NULL
               ? STATUS_OK
               : error_set(error, STATUS_RESOURCE_EXHAUSTED, NULL,
                           "The solver's memory is too small for the interior-point method.");
}

// ---- where it begins

// Inside by `depth`, along the axis.
static void push_inside(double a[3], double depth) {
    double missing = depth - ccp_cone_depth(a);
    a[0] += missing > 0.0 ? missing : 0.0;
}

// A cone, `ease` [m/s] inside its laws: as deep as a velocity and as an impulse.
static void begin_cone(CcpBarrier *b, const NewtonConstraint *c, double *gamma, double ease) {
    // of the units of z and s: of impulses and velocities of that size, neither is large
    double share = c->mu < 1.0 ? c->mu : 1.0;
    b->s[0] = b->u[0] / c->mu;
    b->s[1] = b->u[1];
    b->s[2] = b->u[2];
    push_inside(b->s, ease / share);
    b->z[0] = c->mu * gamma[0];
    b->z[1] = gamma[1];
    b->z[2] = gamma[2];
    push_inside(b->z, share * ease / c->w);
    gamma[0] = b->z[0] / c->mu;
}

static void begin_line(CcpBarrier *b, const NewtonConstraint *c, double *gamma, double ease) {
    double least = ease / c->w, width = c->high - c->low;
    b->has[0] = c->low > -HUGE_VAL;
    b->has[1] = c->high < HUGE_VAL;
    b->is_fixed = !(width > 0.0);
    if (b->is_fixed) {
        gamma[0] = c->low;
        b->has[0] = b->has[1] = false;
        return;
    }
    least = least < 0.5 * width ? least : 0.5 * width;
    double r = gamma[0];
    if (b->has[0]) {
        r = relation_max(r, c->low + least);
    }
    if (b->has[1]) {
        r = relation_min(r, c->high - least);
    }
    gamma[0] = r;
    b->z[0] = relation_max(r - c->low, least);
    b->z[1] = relation_max(c->high - r, least);
    b->s[0] = relation_max(b->u[0], ease);
    b->s[1] = relation_max(-b->u[0], ease);
}

static double degree_of(const CcpBarrier *b) {
    return b->kind == CCP_CONE ? 1.0 : b->kind == CCP_LINE ? (double)b->has[0] + b->has[1] : 0.0;
}

// z . s
static double product_of(const CcpBarrier *b) {
    if (b->kind == CCP_CONE) {
        return b->z[0] * b->s[0] + b->z[1] * b->s[1] + b->z[2] * b->s[2];
    }
    return (b->has[0] ? b->z[0] * b->s[0] : 0.0) + (b->has[1] ? b->z[1] * b->s[1] : 0.0);
}

// Whether some impulse has run away.
static bool has_run_away(const CcpInterior *p) {
    const NewtonIsland *n = &p->of->island;
    for (uint32_t i = 0; i < n->constraint_count; i++) {
        const NewtonConstraint *c = &n->constraint[i];
        if (p->barrier[i].kind != CCP_IDLE && c->w * fabs(p->gamma[c->first]) > AWAY * n->v_scale) {
            return true;
        }
    }
    return false;
}

// m of the iterate: z . s of cone i is omega_i m on the path
static void measure(CcpInterior *p) {
    const NewtonIsland *n = &p->of->island;
    double product = 0.0, weight = 0.0;
    for (uint32_t i = 0; i < n->constraint_count; i++) {
        const CcpBarrier *b = &p->barrier[i];
        if (degree_of(b) > 0.0) {
            product += product_of(b);
            weight += degree_of(b) * b->omega;
        }
    }
    p->m = weight > 0.0 ? product / weight : 0.0;
}

// u of all constraints, and what is left of the balance of momentum.
static void look(CcpInterior *p) {
    const NewtonIsland *n = &p->of->island;
    ccp_island_spend(p->of, CCP_OPERATIONS_VELOCITY * (double)n->velocity_count);
    for (size_t k = 0; k < n->velocity_count; k++) {
        p->work[k] = n->v_free[k] - p->v[k];
    }
    newton_masses(n, p->work, p->p);
    for (uint32_t i = 0; i < n->constraint_count; i++) {
        const NewtonConstraint *c = &n->constraint[i];
        CcpBarrier *b = &p->barrier[i];
        const double *gamma = p->gamma + c->first;
        if (b->kind == CCP_IDLE) {
            continue;
        }
        newton_product(n, c, p->v, b->u);
        for (uint32_t r = 0; r < c->rows; r++) {
            b->u[r] += c->offset[r] + c->compliance * gamma[r];
        }
        newton_momentum(n, c, gamma, p->p);
        ccp_island_spend(p->of, CCP_OPERATIONS_LOOK);
    }
}

void ccp_interior_begin(CcpInterior *p, double residual) {
    const NewtonIsland *n = &p->of->island;
    double *gamma = p->gamma;
    double ease = EASE * (residual < n->v_scale ? residual : n->v_scale);
    if (residual < n->v_scale) {
        memcpy(gamma, p->of->gamma, n->impulse_count * sizeof(double));
    } else {
        memset(gamma, 0, n->impulse_count * sizeof(double));
    }
    ccp_island_spend(p->of, CCP_OPERATIONS_LOOK * (double)n->constraint_count);
    newton_velocities(n, gamma, p->v);
    ccp_island_spend(p->of, CCP_OPERATIONS_LOOK * (double)n->constraint_count);
    for (uint32_t i = 0; i < n->constraint_count; i++) {
        p->barrier[i] = (CcpBarrier){.kind = p->of->kind[i], .omega = 1.0 / n->constraint[i].w};
    }
    look(p);
    for (uint32_t i = 0; i < n->constraint_count; i++) {
        const NewtonConstraint *c = &n->constraint[i];
        CcpBarrier *b = &p->barrier[i];
        if (b->kind == CCP_CONE) {
            begin_cone(b, c, gamma + c->first, ease);
        } else if (b->kind == CCP_LINE) {
            begin_line(b, c, gamma + c->first, ease);
        }
    }
    measure(p);
    p->best = HUGE_VAL;
    p->best_at = p->of->iterations;
}

// ---- the linear system

// W^2 d gamma of one constraint, in velocities
static void multiply_square(const CcpBarrier *b, const NewtonConstraint *c, const double *d_gamma,
                            double product[3]) {
    if (b->kind == CCP_CONE) {
        const double d_z[3] = {c->mu * d_gamma[0], d_gamma[1], d_gamma[2]};
        ccp_cone_multiply(&b->scaling, d_z, product);
        ccp_cone_multiply(&b->scaling, product, product);
        product[0] *= c->mu;
        return;
    }
    product[1] = product[2] = 0.0;
    product[0] = ((b->has[0] ? b->s[0] / b->z[0] : 0.0) + (b->has[1] ? b->s[1] / b->z[1] : 0.0)) *
                 d_gamma[0];
}

// H
static void invert(CcpBarrier *b, const NewtonConstraint *c, double regular) {
    bool has_none = b->kind == CCP_LINE && !b->has[0] && !b->has[1];
    double extra = c->compliance + (has_none ? REGULAR_SHARE : regular) * c->w;
    memset(b->h, 0, sizeof(b->h));
    if (b->kind == CCP_CONE) {
        double mu = c->mu;
        const double scaled[3] = {extra / (mu * mu), extra, extra};
        b->scaling = ccp_cone_scaling(b->z, b->s);
        b->inverse = ccp_cone_invert(&b->scaling, scaled, b->h);
        b->h[0] /= mu * mu;
        b->h[1] /= mu;
        b->h[2] /= mu;
        b->h[3] /= mu;
        b->h[6] /= mu;
    } else if (!b->is_fixed) {
        const double one[3] = {1.0};
        double square[3];
        multiply_square(b, c, one, square);
        b->h[0] = 1.0 / (square[0] + extra);
    }
}

static LdltOutcome factor(CcpInterior *p) {
    const NewtonIsland *n = &p->of->island;
    double v2 = n->v_scale * n->v_scale;
    double regular = relation_min(REGULAR_SHARE, REGULAR_OF_M * p->m / v2);
    newton_begin_matrix(n, p->ldlt);
    for (uint32_t i = 0; i < n->constraint_count; i++) {
        if (p->barrier[i].kind != CCP_IDLE) {
            invert(&p->barrier[i], &n->constraint[i], regular);
            newton_add_matrix(n, p->ldlt, &n->constraint[i], p->barrier[i].h);
            ccp_island_spend(p->of, CCP_OPERATIONS_STEP);
        }
    }
    if (p->of->asker.is_stopped || !asker_affords(&p->of->asker, p->ldlt->plan->operations)) {
        return LDLT_STOPPED;
    }
    LdltOutcome outcome = ldlt_factor(p->ldlt, p->of->asker.stop);
    p->of->asker.is_stopped = outcome == LDLT_STOPPED;
    ccp_island_spend(p->of, p->ldlt->plan->operations);
    return outcome;
}

// product := h x
static void multiply(const double *h, const double *x, uint32_t rows, double *product) {
    for (uint32_t r = 0; r < rows; r++) {
        product[r] = 0.0;
        for (uint32_t q = 0; q < rows; q++) {
            product[r] += h[r * rows + q] * x[q];
        }
    }
}

// H x of one constraint
static void multiply_inverted(const CcpBarrier *b, const NewtonConstraint *c, const double *x,
                              double *product) {
    if (b->kind != CCP_CONE) {
        multiply(b->h, x, c->rows, product);
        return;
    }
    const double scaled[3] = {x[0] / c->mu, x[1], x[2]};
    ccp_cone_multiply_inverted(&b->inverse, scaled, product);
    product[0] /= c->mu;
}

// What is left of a constraint's equation: b - J dv - (W^2 + R) d gamma.
static void find_rest(const CcpInterior *p, uint32_t i, double rest[3]) {
    const NewtonIsland *n = &p->of->island;
    const NewtonConstraint *c = &n->constraint[i];
    const CcpBarrier *b = &p->barrier[i];
    const double *d_gamma = p->d_gamma + c->first;
    double moved[NEWTON_ROWS_MAX], square[NEWTON_ROWS_MAX];
    newton_product(n, c, p->d_v, moved);
    multiply_square(b, c, d_gamma, square);
    for (uint32_t r = 0; r < c->rows; r++) {
        rest[r] = b->b[r] - moved[r] - square[r] - c->compliance * d_gamma[r];
    }
}

static bool takes_part(const CcpBarrier *b) {
    return b->kind != CCP_IDLE && !b->is_fixed;
}

// Corrects d v and d gamma by what they leave: of momentum in `rest`, of each constraint its own.
static void correct(CcpInterior *p) {
    const NewtonIsland *n = &p->of->island;
    size_t count = n->velocity_count;
    memcpy(p->work, p->rest, count * sizeof(double));
    for (uint32_t i = 0; i < n->constraint_count; i++) {
        const NewtonConstraint *c = &n->constraint[i];
        double rest[NEWTON_ROWS_MAX], push[NEWTON_ROWS_MAX];
        if (takes_part(&p->barrier[i])) {
            find_rest(p, i, rest);
            multiply(p->barrier[i].h, rest, c->rows, push);
            newton_momentum(n, c, push, p->work);
            ccp_island_spend(p->of, CCP_OPERATIONS_LOOK);
        }
    }
    ldlt_solve(p->ldlt, p->work);
    ccp_island_spend(p->of,
                     2.0 * (double)(p->ldlt->plan->lower_count + p->ldlt->plan->diagonal_count));
    for (uint32_t i = 0; i < n->constraint_count; i++) {
        const NewtonConstraint *c = &n->constraint[i];
        double rest[NEWTON_ROWS_MAX] = {0.0}, change[NEWTON_ROWS_MAX] = {0.0};
        double moved[NEWTON_ROWS_MAX];
        if (takes_part(&p->barrier[i])) {
            find_rest(p, i, rest);
            newton_product(n, c, p->work, moved);
            for (uint32_t r = 0; r < c->rows; r++) {
                rest[r] -= moved[r];
            }
            multiply_inverted(&p->barrier[i], c, rest, change);
            for (uint32_t r = 0; r < c->rows; r++) {
                p->d_gamma[c->first + r] += change[r];
            }
            ccp_island_spend(p->of, CCP_OPERATIONS_LOOK);
        }
    }
    for (size_t k = 0; k < count; k++) {
        p->d_v[k] += p->work[k];
    }
}

// rest := p - M dv + J^T d gamma
static void find_momentum_rest(CcpInterior *p) {
    const NewtonIsland *n = &p->of->island;
    newton_masses(n, p->d_v, p->rest);
    for (size_t k = 0; k < n->velocity_count; k++) {
        p->rest[k] = p->p[k] - p->rest[k];
    }
    for (uint32_t i = 0; i < n->constraint_count; i++) {
        if (takes_part(&p->barrier[i])) {
            newton_momentum(n, &n->constraint[i], p->d_gamma + n->constraint[i].first, p->rest);
            ccp_island_spend(p->of, CCP_OPERATIONS_LOOK);
        }
    }
}

// M dv - J^T d gamma = p,   J dv + (W^2 + R) d gamma = b
static void solve(CcpInterior *p) {
    const NewtonIsland *n = &p->of->island;
    memset(p->d_v, 0, n->velocity_count * sizeof(double));
    memset(p->d_gamma, 0, n->impulse_count * sizeof(double));
    memcpy(p->rest, p->p, n->velocity_count * sizeof(double));
    correct(p);
    for (int k = 0; k < REFINEMENTS && !p->of->asker.is_stopped; k++) {
        find_momentum_rest(p);
        correct(p);
    }
}

// ---- directions

// d z, and d s: of cones, s comes to u; of lines, whose bounds share one u, as linearised.
static void make_changes(CcpInterior *p) {
    const NewtonIsland *n = &p->of->island;
    for (uint32_t i = 0; i < n->constraint_count; i++) {
        const NewtonConstraint *c = &n->constraint[i];
        CcpBarrier *b = &p->barrier[i];
        const double *d_gamma = p->d_gamma + c->first;
        double moved[NEWTON_ROWS_MAX];
        if (!takes_part(b)) {
            continue;
        }
        newton_product(n, c, p->d_v, moved);
        for (uint32_t r = 0; r < c->rows; r++) {
            moved[r] += b->u[r] + c->compliance * d_gamma[r];
        }
        if (b->kind == CCP_CONE) {
            b->d_z[0] = c->mu * d_gamma[0];
            b->d_z[1] = d_gamma[1];
            b->d_z[2] = d_gamma[2];
            b->d_s[0] = moved[0] / c->mu - b->s[0];
            b->d_s[1] = moved[1] - b->s[1];
            b->d_s[2] = moved[2] - b->s[2];
        } else {
            b->d_z[0] = d_gamma[0];
            b->d_z[1] = -d_gamma[0];
            for (int k = 0; k < 2; k++) {
                b->d_s[k] = b->has[k] ? b->borne[k] - b->s[k] - b->s[k] / b->z[k] * b->d_z[k] : 0.0;
            }
        }
        ccp_island_spend(p->of, CCP_OPERATIONS_LOOK);
    }
}

// The largest step, of 1, of all distances and velocities.
static double longest_step(const CcpInterior *p) {
    const NewtonIsland *n = &p->of->island;
    double alpha = 1.0;
    for (uint32_t i = 0; i < n->constraint_count; i++) {
        const CcpBarrier *b = &p->barrier[i];
        if (b->kind == CCP_CONE) {
            double scaled[3];
            ccp_cone_multiply(&b->scaling, b->d_z, scaled);
            alpha = relation_min(alpha, ccp_cone_step(b->scaling.lambda, scaled));
            ccp_cone_multiply_inverse(&b->scaling, b->d_s, scaled);
            alpha = relation_min(alpha, ccp_cone_step(b->scaling.lambda, scaled));
        }
        for (int k = 0; k < 2 && b->kind == CCP_LINE; k++) {
            if (b->has[k] && b->d_z[k] < 0.0) {
                alpha = relation_min(alpha, -b->z[k] / b->d_z[k]);
            }
            if (b->has[k] && b->d_s[k] < 0.0) {
                alpha = relation_min(alpha, -b->s[k] / b->d_s[k]);
            }
        }
    }
    return alpha;
}

// z . s after a step, of all.
static double product_after(const CcpInterior *p, double alpha) {
    const NewtonIsland *n = &p->of->island;
    double sum = 0.0;
    for (uint32_t i = 0; i < n->constraint_count; i++) {
        CcpBarrier after = p->barrier[i];
        if (!takes_part(&after)) {
            continue;
        }
        for (int k = 0; k < 3; k++) {
            after.z[k] += alpha * after.d_z[k];
            after.s[k] += alpha * after.d_s[k];
        }
        sum += product_of(&after);
    }
    return sum;
}

// What a cone's right side gains, in velocities: W (lambda \ (aim e - (W^-1 d s) o (W d z))).
static void aim_cone(CcpBarrier *b, double mu, double aim, bool is_second) {
    double d[3] = {aim, 0.0, 0.0}, gain[3];
    if (is_second) {
        double of_s[3], of_z[3], both[3];
        ccp_cone_multiply_inverse(&b->scaling, b->d_s, of_s);
        ccp_cone_multiply(&b->scaling, b->d_z, of_z);
        ccp_cone_product(of_s, of_z, both);
        for (int k = 0; k < 3; k++) {
            d[k] -= both[k];
        }
    }
    ccp_cone_divide(b->scaling.lambda, d, gain);
    ccp_cone_multiply(&b->scaling, gain, gain);
    b->b[0] = -b->u[0] + mu * gain[0];
    b->b[1] = -b->u[1] + gain[1];
    b->b[2] = -b->u[2] + gain[2];
}

static void aim_line(CcpBarrier *b, double aim, bool is_second) {
    b->b[0] = -b->u[0];
    b->b[1] = b->b[2] = 0.0;
    for (int k = 0; k < 2; k++) {
        double both = is_second ? b->d_z[k] * b->d_s[k] : 0.0;
        b->borne[k] = b->has[k] ? (aim - both) / b->z[k] : 0.0;
        b->b[0] += k == 0 ? b->borne[k] : -b->borne[k];
    }
}

// Solves for the change that leads to z o s = omega m e, to second order with the changes at hand.
static void find_change(CcpInterior *p, double m, bool is_second) {
    const NewtonIsland *n = &p->of->island;
    for (uint32_t i = 0; i < n->constraint_count; i++) {
        CcpBarrier *b = &p->barrier[i];
        if (b->kind == CCP_CONE) {
            aim_cone(b, n->constraint[i].mu, b->omega * m, is_second);
        } else if (takes_part(b)) {
            aim_line(b, b->omega * m, is_second);
        }
    }
    ccp_island_spend(p->of, CCP_OPERATIONS_LOOK * (double)n->constraint_count);
    solve(p);
    make_changes(p);
    ccp_island_spend(p->of, CCP_OPERATIONS_LOOK * (double)n->constraint_count);
}

// ---- a step

static void walk(CcpInterior *p, double alpha) {
    const NewtonIsland *n = &p->of->island;
    for (size_t k = 0; k < n->velocity_count; k++) {
        p->v[k] += alpha * p->d_v[k];
    }
    for (uint32_t i = 0; i < n->constraint_count; i++) {
        const NewtonConstraint *c = &n->constraint[i];
        CcpBarrier *b = &p->barrier[i];
        double *gamma = p->gamma + c->first;
        if (!takes_part(b)) {
            continue;
        }
        for (int k = 0; k < 3; k++) {
            b->z[k] += alpha * b->d_z[k];
            b->s[k] += alpha * b->d_s[k];
        }
        if (b->kind == CCP_CONE) {
            gamma[0] = b->z[0] / c->mu;
            gamma[1] = b->z[1];
            gamma[2] = b->z[2];
        } else {
            gamma[0] += alpha * p->d_gamma[c->first];
        }
    }
}

static double size_of_path(const CcpInterior *p) {
    const NewtonIsland *n = &p->of->island;
    double weight = 0.0;
    for (uint32_t i = 0; i < n->constraint_count; i++) {
        weight += degree_of(&p->barrier[i]) * p->barrier[i].omega;
    }
    return weight;
}

CcpOutcome ccp_interior_step(CcpInterior *p) {
    CcpIsland *s = p->of;
    LdltOutcome outcome = factor(p);
    if (s->asker.is_stopped) {
        return CCP_STOPPED;
    }
    s->iterations++;
    if (outcome != LDLT_FINITE) {
        return CCP_NOT_FINITE;
    }
    find_change(p, 0.0, false);
    double weight = size_of_path(p), alpha = 1.0;
    if (weight > 0.0) {
        double after = product_after(p, longest_step(p)) / weight;
        double share = after / p->m;
        double m = p->m * relation_max(share * share * share, AIM_MIN);
        find_change(p, m, true);
        alpha = relation_min(1.0, STEP_SHARE * longest_step(p));
        if (alpha < STEP_SMALL) {
            find_change(p, 0.5 * p->m, false);
            alpha = relation_min(1.0, STEP_SHARE * longest_step(p));
        }
    }
    if (!numbers_are_finite(p->d_v, s->island.velocity_count) || !(alpha == alpha)) {
        return CCP_NOT_FINITE;
    }
    walk(p, alpha);
    if (has_run_away(p)) {
        memset(s->gamma, 0, s->island.impulse_count * sizeof(double));
        return CCP_STALLED;
    }
    memcpy(s->gamma, p->gamma, s->island.impulse_count * sizeof(double));
    look(p);
    measure(p);
    if (s->asker.is_stopped) {
        return CCP_STOPPED;
    }
    if (p->m < 0.5 * p->best) {
        p->best = p->m;
        p->best_at = s->iterations;
    }
    bool is_slow = s->iterations > p->best_at + PATIENCE;
    return is_slow || alpha < STEP_NONE ? CCP_STALLED : CCP_GOES_ON;
}
