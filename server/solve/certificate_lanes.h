// SPDX-License-Identifier: MIT
// The maps of the certificate for LANES contacts at once, see lanes.h. Every function lets NaN
// through.
#pragma once

#include "solve/lanes.h"

// LANES contacts as the certificate sees them.
typedef struct ContactStates {
    Lanes nn, nt, no, tt, to, oo; // A_ii
    Lanes w, mu;
    Lanes u[3], gamma[3];
} ContactStates;

INLINE Lanes relation_norm2(Lanes x, Lanes y) {
    return lanes_root(x * x + y * y);
}

INLINE Lanes relation_norm3(const Lanes x[3]) {
    return lanes_root(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]);
}

// Where x lies: in the cone K_mu, which is where its projection is itself, or in the polar cone,
// whose projection is zero. At mu = 0, t = 0, n < 0 it is the second.
INLINE void relation_locate(Lanes mu, const Lanes x[3], Mask *is_inside, Mask *is_polar) {
    Lanes n = x[0], square = x[1] * x[1] + x[2] * x[2];
    *is_polar = (n <= 0.0) & (mu * mu * square <= n * n);
    *is_inside = (n >= 0.0) & (square <= mu * mu * n * n) & ~*is_polar;
}

// Projection on the boundary of K_mu, of what lies outside both.
INLINE void relation_project(Lanes mu, const Lanes x[3], Lanes projection[3]) {
    Lanes t = relation_norm2(x[1], x[2]);
    Lanes n = (x[0] + mu * t) / (1.0 + mu * mu);
    Lanes scale = mu * n / t;
    projection[0] = n;
    projection[1] = scale * x[1];
    projection[2] = scale * x[2];
}

// w |gamma - Proj_K(gamma - z / w)|. Both maps work with w gamma instead of gamma: a cone does not
// mind, and nothing is divided. What stays where it is gives |z| without the rounding of a
// difference.
INLINE Lanes relation_cone_maps(const ContactStates *state, const Lanes z[3]) {
    const Lanes g[3] = {state->w * state->gamma[0], state->w * state->gamma[1],
                        state->w * state->gamma[2]};
    const Lanes x[3] = {g[0] - z[0], g[1] - z[1], g[2] - z[2]};
    Mask is_inside, is_polar;
    relation_locate(state->mu, x, &is_inside, &is_polar);
    Lanes projection[3];
    relation_project(state->mu, x, projection);
    const Lanes rest[3] = {
        lanes_choose(is_inside, z[0], lanes_choose(is_polar, g[0], g[0] - projection[0])),
        lanes_choose(is_inside, z[1], lanes_choose(is_polar, g[1], g[1] - projection[1])),
        lanes_choose(is_inside, z[2], lanes_choose(is_polar, g[2], g[2] - projection[2]))};
    return relation_norm3(rest);
}

// w |gamma_t - Disc_bound(gamma_t - z_t / w)|
INLINE Lanes relation_disc_maps(const ContactStates *state, Lanes bound, const Lanes z_t[2]) {
    Lanes gx = state->w * state->gamma[1], gy = state->w * state->gamma[2];
    Lanes x = gx - z_t[0], y = gy - z_t[1];
    Lanes square = x * x + y * y, radius = state->w * bound;
    Mask is_inside = square <= radius * radius;
    Lanes scale = radius / lanes_root(square);
    return relation_norm2(lanes_choose(is_inside, z_t[0], gx - scale * x),
                          lanes_choose(is_inside, z_t[1], gy - scale * y));
}

// The third choice of the friction part of (D): |u_t + nu N| + min(nu |N|, w slack).
INLINE Lanes relation_angles(const ContactStates *state, Lanes ut, Lanes gt) {
    const Lanes *u = state->u, *gamma = state->gamma;
    const Lanes zero = lanes_all(0.0);
    Mask has_no_force = gt == zero, slips = ut > zero;
    Lanes t1 = lanes_choose(has_no_force, lanes_choose(slips, -u[1] / ut, zero), gamma[1] / gt);
    Lanes t2 = lanes_choose(has_no_force, lanes_choose(slips, -u[2] / ut, zero), gamma[2] / gt);
    // the outward normal of the friction cone's section with the plane of maximum compression
    Lanes kap = lanes_choose(state->nn > zero, state->mu / state->nn, zero);
    Lanes n1 = t1 + kap * state->nt, n2 = t2 + kap * state->no;
    Lanes square = n1 * n1 + n2 * n2;
    Lanes along = lanes_positive(-(n1 * u[1] + n2 * u[2]) / square);
    Lanes nu = lanes_choose(square > zero, along, zero);
    Lanes slack = lanes_positive(state->mu * gamma[0] - gt);
    return relation_norm2(u[1] + nu * n1, u[2] + nu * n2) +
           lanes_min(nu * lanes_root(square), state->w * slack);
}

// The residual of (D); its friction part is min(w |gamma|, |u_t|, angle).
INLINE Lanes relation_dissipations(const ContactStates *state) {
    const Lanes *u = state->u, *gamma = state->gamma;
    Lanes gt = relation_norm2(gamma[1], gamma[2]), ut = relation_norm2(u[1], u[2]);
    Lanes closing = state->nn * gamma[0] + state->nt * gamma[1] + state->no * gamma[2];
    Lanes residual = lanes_abs(lanes_min(state->w * gamma[0], u[0]));
    residual = lanes_max(residual, state->w * lanes_positive(gt - state->mu * gamma[0]));
    residual = lanes_max(residual, lanes_positive(-closing));
    Lanes friction = lanes_min(state->w * relation_norm3(gamma), ut);
    Lanes with_friction = lanes_max(residual, lanes_min(friction, relation_angles(state, ut, gt)));
    // where friction alone is less, a third choice could only make it less still
    return lanes_choose((state->mu == 0.0) | (friction <= residual), residual, with_friction);
}
