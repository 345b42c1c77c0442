// SPDX-License-Identifier: MIT
// Coulomb's law of one contact as a smooth equation, and the same of a row. With
//
//     g = (mu gamma_n, gamma_t),   z = (u_n / mu + |u_t|, u_t)
//
// the law is that g and z are orthogonal members of one cone, |t| <= s, which is its own dual:
// g = P(g - z / c) with P the projection and any c > 0; here c = w. Smoothed by kappa, P takes each
// of the two spectral values l = s -+ |t| to (l + sqrt(l^2 + 4 e^2)) / 2, e = kappa V / c, which
// makes the product of g and z / c, in the algebra of that cone, e^2 instead of 0. The equation is
//
//     Phi = g - P(g - z / c) = 0.
//
// |u_t| is not smoothed: with a share of kappa in it, sqrt(|u_t|^2 + d^2) - d, the way to small
// kappa takes up to ten times as many steps, or ends in a fold.
//
// Without friction, and for rows, the same of numbers instead of cones.
//
// Maximum dissipation is the same law of another velocity where k |a| < 1 (k = mu / A_nn, a =
// (A_nt, A_no)): u_t + nu k a, whose size is nu.
#pragma once

#include "solve/newton/island.h"

// One constraint, linearised: d impulse = -phi - h du, the change that makes Phi = 0 where the
// velocity changes by du. With the damping 0 < eta < 1 of P' it exists wherever P' does.
typedef struct NewtonLaw {
    double size; // |c Phi / V|
    double phi[NEWTON_ROWS_MAX];
    double fall[NEWTON_ROWS_MAX]; // where log kappa changes too, d impulse has -fall d log kappa
    double h[NEWTON_ROWS_MAX * NEWTON_ROWS_MAX]; // row by row
} NewtonLaw;

// With a center the law is compliant, and eta is no damping but what belongs to it.
typedef struct NewtonSmoothing {
    double kappa, eta;
    const double *center; // Nullable: impulses of the island; z / c gains eta (g - g of the center)
    const double *weight; // Nullable: [constraint_count] each has so many kappa
    double close;         // a law is met when its size is no more than this share of kappa
} NewtonSmoothing;

// `u` with its offset, without R gamma.
NewtonLaw newton_law(const NewtonIsland *n, const NewtonConstraint *c,
                     const NewtonSmoothing *smoothing, const double *gamma, const double *u);

// |c Phi / V| alone
double newton_law_size(const NewtonIsland *n, const NewtonConstraint *c,
                       const NewtonSmoothing *smoothing, const double *gamma, const double *u);

// The impulse of the law's own cone or bounds that is nearest to `gamma`, in place.
void newton_project(const NewtonConstraint *c, double *gamma);

// Maximum dissipation: the tangential velocity u_t of Coulomb's law and, Nullable, its derivative,
// row by row. Coulomb: itself.
void newton_turn(const NewtonConstraint *c, const double u[3], double turned[2],
                 double derivative[4]);
