// SPDX-License-Identifier: MIT
// The cone S = {(s, t): |t| <= s} of three numbers, its own dual, and what an interior-point method
// does with it. A contact's cone of friction K_mu is S in other units,
//
//     z = (mu gamma_n, gamma_t) in S,   s = (u_n / mu, u_t) in S,   z . s = gamma . u.
//
// The Jordan product is a o b = (a . b, a_0 b_1 + b_0 a_1) with unit e = (1, 0, 0). Nesterov and
// Todd's scaling of z and s inside is the symmetric W that maps S onto itself with
//
//     W z = W^-1 s = lambda,   W = beta (2 v v^T - J),   W^2 = beta^2 (2 q q^T - J),
//
// J = diag(1, -1, -1), q and v of v^T J v = q^T J q = 1. Everything near the boundary is made of
// differences that were never rounded: W^2 has the eigenvalues beta^2 (q_0 +- |q_1|)^2 and beta^2.
#pragma once

#include <stdbool.h>

typedef struct CcpScaling {
    double beta;
    double q[3], v[3];
    double lambda[3];
} CcpScaling;

// a^T J a of what is inside or on the boundary, and 0 of what is not: (a_0 - |a_1|) (a_0 + |a_1|).
double ccp_cone_square(const double a[3]);

// a_0 - |a_1|: how far inside
double ccp_cone_depth(const double a[3]);

// The nearest point of K_mu, in place.
void ccp_cone_project(double mu, double gamma[3]);

void ccp_cone_product(const double a[3], const double b[3], double product[3]);

// x of lambda o x = d; lambda inside.
void ccp_cone_divide(const double lambda[3], const double d[3], double x[3]);

// z and s are inside.
CcpScaling ccp_cone_scaling(const double z[3], const double s[3]);
void ccp_cone_multiply(const CcpScaling *w, const double x[3], double product[3]);         // W x
void ccp_cone_multiply_inverse(const CcpScaling *w, const double x[3], double product[3]); // W^-1 x

// (W^2 + diag(extra))^-1 between the axes of W^2, which are rows.
typedef struct CcpInverse {
    double axis[3][3], inner[3][3];
} CcpInverse;

// extra > 0; h := the inverse, row by row. Near the boundary the largest number of the inverse is
// 1e20 times the least, which is lost in the rounding of h.
CcpInverse ccp_cone_invert(const CcpScaling *w, const double extra[3], double h[9]);

// The inverse by x, along each axis with the rounding of its own size.
void ccp_cone_multiply_inverted(const CcpInverse *inverse, const double x[3], double product[3]);

// The largest alpha <= 1 with a + alpha d in S; a inside.
double ccp_cone_step(const double a[3], const double d[3]);
