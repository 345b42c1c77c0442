// SPDX-License-Identifier: MIT
#include "solve/certificate_relation.h"

#include "base/assert.h"
#include "solve/direction.h"

#define SIMD_COUNT 2
#include "solve/certificate_relation_simd.h"

static double norm2(double x, double y) {
    return sqrt(x * x + y * y);
}

// a contact in both places
static ContactStates twice(const ContactState *state) {
    const double *a = state->block;
    ContactStates both = {.nn = simd_all(a[0]),
                          .nt = simd_all(a[1]),
                          .no = simd_all(a[2]),
                          .tt = simd_all(a[4]),
                          .to = simd_all(a[5]),
                          .oo = simd_all(a[8]),
                          .w = simd_all(state->w),
                          .c = simd_all(state->c),
                          .mu = simd_all(state->mu)};
    for (int k = 0; k < 3; k++) {
        both.u[k] = simd_all(state->u[k]);
        both.gamma[k] = simd_all(state->gamma[k]);
    }
    return both;
}

static double cone_map(const ContactState *state, const double z[3]) {
    ContactStates both = twice(state);
    const Simd z_both[3] = {simd_all(z[0]), simd_all(z[1]), simd_all(z[2])};
    return relation_cone_maps(&both, z_both)[0];
}

static double disc_map(const ContactState *state, double bound, const double z_t[2]) {
    ContactStates both = twice(state);
    const Simd z_both[2] = {simd_all(z_t[0]), simd_all(z_t[1])};
    return relation_disc_maps(&both, simd_all(bound), z_both)[0];
}

// (*)
static double cone_residual(const ContactRelation *r, const ContactState *state) {
    double z[3];
    z[1] = state->u[1] + r->tangent_compliance * state->gamma[1];
    z[2] = state->u[2] + r->tangent_compliance * state->gamma[2];
    z[0] = state->u[0] - r->shift + r->normal_compliance * state->gamma[0];
    // the De Saxce term
    z[0] += r->s * state->mu *
            norm2(state->u[1] + r->tangent_compliance * state->gamma[1],
                  state->u[2] + r->tangent_compliance * state->gamma[2]);
    return cone_map(state, z);
}

// (D)
static double dissipation_residual(const ContactState *state) {
    ContactStates both = twice(state);
    return relation_dissipations(&both)[0];
}

// (P): beta is gamma_t on the two directions next to it
static double polyhedral_residual(uint32_t directions, const ContactState *state) {
    const double *u = state->u, *gamma = state->gamma;
    const Direction turn = direction_turn(directions);
    Direction d = direction_first();
    double lam = 0.0;
    for (uint32_t j = 0; j < directions; j++) {
        lam = relation_max(lam, -(d.c * u[1] + d.s * u[2]));
        d = direction_next(d, turn);
    }
    double residual = fabs(relation_min(state->w * gamma[0], u[0]));
    double beta_sum = 0.0;
    d = direction_first();
    for (uint32_t j = 0; j < directions; j++) {
        const Direction next = direction_next(d, turn);
        // gamma_t = beta d_j + beta_next d_{j+1}; half open, so that one sector takes it
        double beta = (gamma[1] * next.s - gamma[2] * next.c) / turn.s;
        double beta_next = (d.c * gamma[2] - d.s * gamma[1]) / turn.s;
        if (!(beta <= 0.0) && !(beta_next < 0.0)) {
            double rate = d.c * u[1] + d.s * u[2] + lam;
            double rate_next = next.c * u[1] + next.s * u[2] + lam;
            residual = relation_max(residual, fabs(relation_min(state->w * beta, rate)));
            residual = relation_max(residual, fabs(relation_min(state->w * beta_next, rate_next)));
            beta_sum = beta + beta_next;
        }
        d = next;
    }
    double slack = state->w * (state->mu * gamma[0] - beta_sum);
    return relation_max(residual, fabs(relation_min(lam, slack)));
}

// (L)
static double lagged_residual(const ContactRelation *r, const ContactState *state) {
    const double *u = state->u, *gamma = state->gamma;
    const double z_t[2] = {u[1] + r->tangent_compliance * gamma[1],
                           u[2] + r->tangent_compliance * gamma[2]};
    double normal =
        relation_min(state->c * gamma[0], u[0] - r->shift + r->normal_compliance * gamma[0]);
    return relation_max(fabs(normal), disc_map(state, r->bound, z_t));
}

// (Q)
static double program_residual(const ContactRelation *r, const ContactState *state,
                               double time_step) {
    double c = r->program_curvature, gradient[3];
    ContactState scaled = *state; // x in the place of c gamma
    scaled.c = 1.0;
    for (int k = 0; k < 3; k++) {
        scaled.gamma[k] = state->gamma[k] / time_step;
        gradient[k] = r->program_gradient[k] / c;
    }
    double row = relation_min(r->program_multiplier / c, r->program_slack);
    return time_step * state->w * relation_max(cone_map(&scaled, gradient), fabs(row));
}

double relation_residual(const Answer *answer, const ContactRelation *relation,
                         const ContactState *state, double time_step) {
    VALIDATE(!(time_step <= 0.0));
    switch (answer->relation) {
    case RELATION_CONE:
        return cone_residual(relation, state);
    case RELATION_DISSIPATION:
        return dissipation_residual(state);
    case RELATION_POLYHEDRAL:
        return polyhedral_residual(answer->directions, state);
    case RELATION_LAGGED:
        return lagged_residual(relation, state);
    case RELATION_PROGRAM:
        // Coulomb's law, where no program was made as its limit was met before
        return relation->program_curvature > 0.0 ? program_residual(relation, state, time_step)
                                                 : cone_residual(relation, state);
    }
    return HUGE_VAL;
}
