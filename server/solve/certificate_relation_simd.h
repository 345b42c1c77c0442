// SPDX-License-Identifier: MIT
// The maps of the certificate for SIMD_COUNT contacts at once, see base/simd.h. Every function lets
// NaN through.
#pragma once

#include "base/simd.h"
#include "solve/certificate_relation.h"

// SIMD_COUNT contacts as the certificate sees them.
typedef struct ContactStates {
    Simd nn, nt, no, tt, to, oo; // A_ii
    Simd w, c, mu;
    Simd u[3], gamma[3];
} ContactStates;

INLINE Simd relation_norm2(Simd x, Simd y) {
    return simd_root(x * x + y * y);
}

INLINE Simd relation_norm3(const Simd x[3]) {
    return simd_root(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]);
}

// The scale c of a natural map: w, as long as c |gamma| is no more than CERTIFICATE_IMPULSE_MAX V,
// or gamma - z / c would round to gamma, and a residual of any size to nothing. Any c > 0 is valid.
// Of an impulse whose square is beyond all numbers it is not a number.
INLINE Simd relation_scale(Simd w, const Simd gamma[3], Simd v_scale) {
    Simd size = relation_norm3(gamma), most = CERTIFICATE_IMPULSE_MAX * v_scale;
    return simd_choose(w * size > most, most / size + 0.0 * size, w);
}

// Where x lies: in the cone K_mu, which is where its projection is itself, or in the polar cone,
// whose projection is zero. At mu = 0, t = 0, n < 0 it is the second.
INLINE void relation_locate(Simd mu, const Simd x[3], SimdMask *is_inside, SimdMask *is_polar) {
    Simd n = x[0], square = x[1] * x[1] + x[2] * x[2];
    *is_polar = (n <= 0.0) & (mu * mu * square <= n * n);
    *is_inside = (n >= 0.0) & (square <= mu * mu * n * n) & ~*is_polar;
}

// Projection on the boundary of K_mu, of what lies outside both.
INLINE void relation_project(Simd mu, const Simd x[3], Simd projection[3]) {
    Simd t = relation_norm2(x[1], x[2]);
    Simd n = (x[0] + mu * t) / (1.0 + mu * mu);
    Simd scale = mu * n / t;
    projection[0] = n;
    projection[1] = scale * x[1];
    projection[2] = scale * x[2];
}

// c |gamma - Proj_K(gamma - z / c)|. Both maps work with c gamma instead of gamma: a cone does not
// mind, and nothing is divided. What stays where it is gives |z| without the rounding of a
// difference.
INLINE Simd relation_cone_maps(const ContactStates *state, const Simd z[3]) {
    const Simd g[3] = {state->c * state->gamma[0], state->c * state->gamma[1],
                       state->c * state->gamma[2]};
    const Simd x[3] = {g[0] - z[0], g[1] - z[1], g[2] - z[2]};
    SimdMask is_inside, is_polar;
    relation_locate(state->mu, x, &is_inside, &is_polar);
    Simd projection[3];
    relation_project(state->mu, x, projection);
    const Simd rest[3] = {
        simd_choose(is_inside, z[0], simd_choose(is_polar, g[0], g[0] - projection[0])),
        simd_choose(is_inside, z[1], simd_choose(is_polar, g[1], g[1] - projection[1])),
        simd_choose(is_inside, z[2], simd_choose(is_polar, g[2], g[2] - projection[2]))};
    return relation_norm3(rest);
}

// c |gamma_t - Disc_bound(gamma_t - z_t / c)|
INLINE Simd relation_disc_maps(const ContactStates *state, Simd bound, const Simd z_t[2]) {
    Simd gx = state->c * state->gamma[1], gy = state->c * state->gamma[2];
    Simd x = gx - z_t[0], y = gy - z_t[1];
    Simd square = x * x + y * y, radius = state->c * bound;
    SimdMask is_inside = square <= radius * radius;
    Simd scale = radius / simd_root(square);
    return relation_norm2(simd_choose(is_inside, z_t[0], gx - scale * x),
                          simd_choose(is_inside, z_t[1], gy - scale * y));
}

// The third choice of the friction part of (D): |u_t + nu N| + min(nu |N|, w slack).
INLINE Simd relation_angles(const ContactStates *state, Simd ut, Simd gt) {
    const Simd *u = state->u, *gamma = state->gamma;
    const Simd zero = simd_all(0.0);
    SimdMask has_no_force = gt == zero, slips = ut > zero;
    Simd t1 = simd_choose(has_no_force, simd_choose(slips, -u[1] / ut, zero), gamma[1] / gt);
    Simd t2 = simd_choose(has_no_force, simd_choose(slips, -u[2] / ut, zero), gamma[2] / gt);
    // the outward normal of the friction cone's section with the plane of maximum compression
    Simd kap = simd_choose(state->nn > zero, state->mu / state->nn, zero);
    Simd n1 = t1 + kap * state->nt, n2 = t2 + kap * state->no;
    Simd square = n1 * n1 + n2 * n2;
    Simd along = simd_positive(-(n1 * u[1] + n2 * u[2]) / square);
    Simd nu = simd_choose(square > zero, along, zero);
    Simd slack = simd_positive(state->mu * gamma[0] - gt);
    return relation_norm2(u[1] + nu * n1, u[2] + nu * n2) +
           simd_min(nu * simd_root(square), state->w * slack);
}

// The residual of (D); its friction part is min(w |gamma|, |u_t|, angle).
INLINE Simd relation_dissipations(const ContactStates *state) {
    const Simd *u = state->u, *gamma = state->gamma;
    Simd gt = relation_norm2(gamma[1], gamma[2]), ut = relation_norm2(u[1], u[2]);
    Simd closing = state->nn * gamma[0] + state->nt * gamma[1] + state->no * gamma[2];
    Simd residual = simd_abs(simd_min(state->w * gamma[0], u[0]));
    residual = simd_max(residual, state->w * simd_positive(gt - state->mu * gamma[0]));
    residual = simd_max(residual, simd_positive(-closing));
    Simd friction = simd_min(state->w * relation_norm3(gamma), ut);
    Simd with_friction = simd_max(residual, simd_min(friction, relation_angles(state, ut, gt)));
    // where friction alone is less, a third choice could only make it less still
    return simd_choose((state->mu == 0.0) | (friction <= residual), residual, with_friction);
}
