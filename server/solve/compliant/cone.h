// SPDX-License-Identifier: MIT
// What keeps the numbers of the printed program's optimiser inside of their bounds: of a contact
// the cone |x_t| <= mu x_n, of the rest a bound of one number. Interior points x and z of the cone
// and its dual have one symmetric scaling Theta with Theta x = z (Nesterov and Todd); a step of
// both is
//
//     dz = sigma x^-1 - z - Theta dx,
//
// x^-1 the inverse of the cone's algebra, x . x^-1 = 1. Without friction the cone is a ray, and
// friction's numbers stay 0.
#pragma once

#include <stdbool.h>

// Near its side Theta is huge across the cone and nothing along it, which is where what decides is:
// it is told in a basis along the side, across it, and beside, where nothing of it is lost.
typedef struct CompliantScaling {
    double theta[9];   // in that basis: basis^T Theta basis
    double basis[9];   // x of the basis' numbers, row by row
    double inverse[3]; // x^-1
} CompliantScaling;

// Of points inside; of a ray the first number alone counts.
void compliant_cone_scale(double mu, const double *x, const double *z, CompliantScaling *scaling);

// The largest alpha <= 1 for which x + alpha dx is in the cone, or in its dual.
double compliant_cone_reach(double mu, const double *x, const double *dx);
double compliant_cone_reach_dual(double mu, const double *z, const double *dz);

// The same of a number that is to stay positive.
double compliant_bound_reach(double x, double dx);
