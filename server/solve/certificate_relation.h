// SPDX-License-Identifier: MIT
// The residual of one contact in one of the five relations that a solver may claim, in m/s.
// certificate.md gives the formulas; every function lets NaN through, so that a lost digit never
// looks like a small residual.
#pragma once

#include "solve/certificate.h"
#include "solve/pair.h"

// One contact as the certificate sees it.
typedef struct ContactState {
    double block[9]; // A_ii, row by row
    double w;        // trace / 3
    double mu;
    double u[3]; // J v + motion + bias e_n
    double gamma[3];
} ContactState;

// Two of them, lane by lane.
typedef struct ContactStates {
    Pair nn, nt, no, tt, to, oo; // A_ii
    Pair w, mu;
    Pair u[3], gamma[3];
} ContactStates;

// the larger and the smaller of two numbers; NaN when either is
static inline double relation_max(double a, double b) {
    return a > b || a != a ? a : b;
}

static inline double relation_min(double a, double b) {
    return a < b || a != a ? a : b;
}

// The residual of the relation of `answer`.
double relation_residual(const Answer *answer, const ContactRelation *relation,
                         const ContactState *state, double time_step);

// ---- for two contacts at once

static inline Pair relation_norm2(Pair x, Pair y) {
    return pair_root(x * x + y * y);
}

static inline Pair relation_norm3(const Pair x[3]) {
    return pair_root(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]);
}

// Where x lies: in the cone K_mu, which is where its projection is itself, or in the polar cone,
// whose projection is zero. At mu = 0, t = 0, n < 0 it is the second.
static inline void relation_locate(Pair mu, const Pair x[3], PairMask *is_inside,
                                   PairMask *is_polar) {
    Pair n = x[0], square = x[1] * x[1] + x[2] * x[2];
    *is_polar = (n <= 0.0) & (mu * mu * square <= n * n);
    *is_inside = (n >= 0.0) & (square <= mu * mu * n * n) & ~*is_polar;
}

// Projection on the boundary of K_mu, of what lies outside both.
static inline void relation_project(Pair mu, const Pair x[3], Pair projection[3]) {
    Pair t = relation_norm2(x[1], x[2]);
    Pair n = (x[0] + mu * t) / (1.0 + mu * mu);
    Pair scale = mu * n / t;
    projection[0] = n;
    projection[1] = scale * x[1];
    projection[2] = scale * x[2];
}

// w |gamma - Proj_K(gamma - z / w)|. Both maps work with w gamma instead of gamma: a cone does not
// mind, and nothing is divided. What stays where it is gives |z| without the rounding of a
// difference.
static inline Pair relation_cone_maps(const ContactStates *state, const Pair z[3]) {
    const Pair g[3] = {state->w * state->gamma[0], state->w * state->gamma[1],
                       state->w * state->gamma[2]};
    const Pair x[3] = {g[0] - z[0], g[1] - z[1], g[2] - z[2]};
    PairMask is_inside, is_polar;
    relation_locate(state->mu, x, &is_inside, &is_polar);
    Pair projection[3];
    relation_project(state->mu, x, projection);
    const Pair rest[3] = {
        pair_choose(is_inside, z[0], pair_choose(is_polar, g[0], g[0] - projection[0])),
        pair_choose(is_inside, z[1], pair_choose(is_polar, g[1], g[1] - projection[1])),
        pair_choose(is_inside, z[2], pair_choose(is_polar, g[2], g[2] - projection[2]))};
    return relation_norm3(rest);
}

// w |gamma_t - Disc_bound(gamma_t - z_t / w)|
static inline Pair relation_disc_maps(const ContactStates *state, Pair bound, const Pair z_t[2]) {
    Pair gx = state->w * state->gamma[1], gy = state->w * state->gamma[2];
    Pair x = gx - z_t[0], y = gy - z_t[1];
    Pair square = x * x + y * y, radius = state->w * bound;
    PairMask is_inside = square <= radius * radius;
    Pair scale = radius / pair_root(square);
    return relation_norm2(pair_choose(is_inside, z_t[0], gx - scale * x),
                          pair_choose(is_inside, z_t[1], gy - scale * y));
}

// The third choice of the friction part of (D): |u_t + nu N| + min(nu |N|, w slack).
static inline Pair relation_angles(const ContactStates *state, Pair ut, Pair gt) {
    const Pair *u = state->u, *gamma = state->gamma;
    const Pair zero = pair_both(0.0);
    PairMask has_no_force = gt == zero, slips = ut > zero;
    Pair t1 = pair_choose(has_no_force, pair_choose(slips, -u[1] / ut, zero), gamma[1] / gt);
    Pair t2 = pair_choose(has_no_force, pair_choose(slips, -u[2] / ut, zero), gamma[2] / gt);
    // the outward normal of the friction cone's section with the plane of maximum compression
    Pair kap = pair_choose(state->nn > zero, state->mu / state->nn, zero);
    Pair n1 = t1 + kap * state->nt, n2 = t2 + kap * state->no;
    Pair square = n1 * n1 + n2 * n2;
    Pair along = pair_positive(-(n1 * u[1] + n2 * u[2]) / square);
    Pair nu = pair_choose(square > zero, along, zero);
    Pair slack = pair_positive(state->mu * gamma[0] - gt);
    return relation_norm2(u[1] + nu * n1, u[2] + nu * n2) +
           pair_min(nu * pair_root(square), state->w * slack);
}

// The residual of (D); its friction part is min(w |gamma|, |u_t|, angle).
static inline Pair relation_dissipations(const ContactStates *state) {
    const Pair *u = state->u, *gamma = state->gamma;
    Pair gt = relation_norm2(gamma[1], gamma[2]), ut = relation_norm2(u[1], u[2]);
    Pair closing = state->nn * gamma[0] + state->nt * gamma[1] + state->no * gamma[2];
    Pair residual = pair_abs(pair_min(state->w * gamma[0], u[0]));
    residual = pair_max(residual, state->w * pair_positive(gt - state->mu * gamma[0]));
    residual = pair_max(residual, pair_positive(-closing));
    Pair friction = pair_min(state->w * relation_norm3(gamma), ut);
    Pair with_friction = pair_max(residual, pair_min(friction, relation_angles(state, ut, gt)));
    // where friction alone is less, a third choice could only make it less still
    return pair_choose((state->mu == 0.0) | (friction <= residual), residual, with_friction);
}
