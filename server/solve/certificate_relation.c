// SPDX-License-Identifier: MIT
#include "solve/certificate_relation.h"

static double norm2(double x, double y) {
    return sqrt(x * x + y * y);
}

static double norm3(const double x[3]) {
    return sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]);
}

static double positive(double x) {
    return relation_max(x, 0.0);
}

typedef enum ConePart { CONE_INSIDE, CONE_POLAR, CONE_BOUNDARY } ConePart;

// Projection on K_mu, and where x lies. The order of the tests matters: at mu = 0, t = 0 the second
// one holds for n < 0 too. Squares are compared, so that the root is taken on the boundary only.
static ConePart project_cone(double mu, const double x[3], double projection[3]) {
    double n = x[0], square = x[1] * x[1] + x[2] * x[2];
    if (n <= 0.0 && mu * mu * square <= n * n) {
        projection[0] = projection[1] = projection[2] = 0.0;
        return CONE_POLAR;
    }
    if (n >= 0.0 && square <= mu * mu * n * n) {
        projection[0] = n;
        projection[1] = x[1];
        projection[2] = x[2];
        return CONE_INSIDE;
    }
    double t = sqrt(square);
    double n_new = (n + mu * t) / (1.0 + mu * mu);
    double scale = mu * n_new / t;
    projection[0] = n_new;
    projection[1] = scale * x[1];
    projection[2] = scale * x[2];
    return CONE_BOUNDARY;
}

// Both maps work with w gamma instead of gamma: a cone does not mind, and nothing is divided. What
// stays where it is gives |z| without the rounding of a difference.
double relation_cone_map(const ContactState *state, const double z[3]) {
    double x[3], projection[3];
    for (int k = 0; k < 3; k++) {
        x[k] = state->w * state->gamma[k] - z[k];
    }
    if (project_cone(state->mu, x, projection) == CONE_INSIDE) {
        return norm3(z);
    }
    for (int k = 0; k < 3; k++) {
        x[k] = state->w * state->gamma[k] - projection[k];
    }
    return norm3(x);
}

double relation_disc_map(const ContactState *state, double bound, const double z_t[2]) {
    double gx = state->w * state->gamma[1], gy = state->w * state->gamma[2];
    double x = gx - z_t[0], y = gy - z_t[1];
    double square = x * x + y * y, radius = state->w * bound;
    if (square <= radius * radius) {
        return norm2(z_t[0], z_t[1]);
    }
    double scale = radius / sqrt(square);
    return norm2(gx - scale * x, gy - scale * y);
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
    return relation_cone_map(state, z);
}

// The third choice of the friction part of (D): |u_t + nu N| + min(nu |N|, w slack).
static double dissipation_angle(const ContactState *state, double ut, double gt) {
    const double *u = state->u, *gamma = state->gamma, *block = state->block;
    double t1 = gamma[1] / gt, t2 = gamma[2] / gt;
    if (gt == 0.0) {
        t1 = ut > 0.0 ? -u[1] / ut : 0.0;
        t2 = ut > 0.0 ? -u[2] / ut : 0.0;
    }
    // the outward normal of the friction cone's section with the plane of maximum compression
    double kap = block[0] > 0.0 ? state->mu / block[0] : 0.0;
    double n1 = t1 + kap * block[1], n2 = t2 + kap * block[2];
    double square = n1 * n1 + n2 * n2;
    double nu = square > 0.0 ? positive(-(n1 * u[1] + n2 * u[2]) / square) : 0.0;
    double slack = positive(state->mu * gamma[0] - gt);
    return norm2(u[1] + nu * n1, u[2] + nu * n2) +
           relation_min(nu * sqrt(square), state->w * slack);
}

// (D); its friction part is min(w |gamma|, |u_t|, angle)
static double dissipation_residual(const ContactState *state) {
    const double *u = state->u, *gamma = state->gamma, *block = state->block;
    double gt = norm2(gamma[1], gamma[2]);
    double closing = block[0] * gamma[0] + block[1] * gamma[1] + block[2] * gamma[2];
    double residual = fabs(relation_min(state->w * gamma[0], u[0]));
    residual = relation_max(residual, state->w * positive(gt - state->mu * gamma[0]));
    residual = relation_max(residual, positive(-closing));
    if (state->mu == 0.0) {
        return residual;
    }
    double ut = norm2(u[1], u[2]);
    double friction = relation_min(state->w * norm3(gamma), ut);
    if (friction <= residual) {
        return residual; // a third choice could only make it less
    }
    return relation_max(residual, relation_min(friction, dissipation_angle(state, ut, gt)));
}

// exp(i angle) by its power series; |angle| <= 2 pi / 3 takes 30 terms to rounding
static void unit_direction(double angle, double *c, double *s) {
    double term = 1.0;
    *c = *s = 0.0;
    for (int k = 0; k < 32; k++) {
        double value = k % 4 < 2 ? term : -term;
        if (k % 2 == 0) {
            *c += value;
        } else {
            *s += value;
        }
        term *= angle / (k + 1);
    }
}

// (P): beta is gamma_t on the two directions next to it
static double polyhedral_residual(uint32_t directions, const ContactState *state) {
    const double *u = state->u, *gamma = state->gamma;
    double step_c, step_s, c = 1.0, s = 0.0, lam = 0.0;
    unit_direction(6.283185307179586 / directions, &step_c, &step_s);
    for (uint32_t j = 0; j < directions; j++) {
        lam = relation_max(lam, -(c * u[1] + s * u[2]));
        double next = c * step_c - s * step_s;
        s = s * step_c + c * step_s;
        c = next;
    }
    double residual = fabs(relation_min(state->w * gamma[0], u[0]));
    double beta_sum = 0.0;
    c = 1.0;
    s = 0.0;
    for (uint32_t j = 0; j < directions; j++) {
        double c_next = c * step_c - s * step_s, s_next = s * step_c + c * step_s;
        // gamma_t = beta d_j + beta_next d_{j+1}; half open, so that one sector takes it
        double beta = (gamma[1] * s_next - gamma[2] * c_next) / step_s;
        double beta_next = (c * gamma[2] - s * gamma[1]) / step_s;
        if (!(beta <= 0.0) && !(beta_next < 0.0)) {
            double rate = c * u[1] + s * u[2] + lam;
            double rate_next = c_next * u[1] + s_next * u[2] + lam;
            residual = relation_max(residual, fabs(relation_min(state->w * beta, rate)));
            residual = relation_max(residual, fabs(relation_min(state->w * beta_next, rate_next)));
            beta_sum = beta + beta_next;
        }
        c = c_next;
        s = s_next;
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
        relation_min(state->w * gamma[0], u[0] - r->shift + r->normal_compliance * gamma[0]);
    return relation_max(fabs(normal), relation_disc_map(state, r->bound, z_t));
}

// (Q)
static double program_residual(const ContactRelation *r, const ContactState *state,
                               double time_step) {
    double c = r->program_curvature;
    double x[3], trial[3], projection[3];
    for (int k = 0; k < 3; k++) {
        x[k] = state->gamma[k] / time_step;
        trial[k] = x[k] - r->program_gradient[k] / c;
    }
    project_cone(state->mu, trial, projection);
    for (int k = 0; k < 3; k++) {
        x[k] -= projection[k];
    }
    double row = relation_min(r->program_multiplier / c, r->program_slack);
    return time_step * state->w * relation_max(norm3(x), fabs(row));
}

double relation_residual(const Answer *answer, const ContactRelation *relation,
                         const ContactState *state, double time_step) {
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
        return program_residual(relation, state, time_step);
    }
    return HUGE_VAL;
}
