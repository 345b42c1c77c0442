// SPDX-License-Identifier: MIT
#include "solve/ccp/local.h"

#include "base/assert.h"
#include "base/power.h"

#include <math.h>
#include <stdbool.h>

// Secants, among which there is a bisection now and then; and where they end.
enum { SECANTS = 100, BISECT_EVERY = 4 };
#define ROUNDING 1e-16
// Nearer to the pole than this, as a share of what it is away from 0 or 2, an impulse has less
// digits than where the pole is left out.
#define AT_POLE 1e-3

// N, its unknown being sigma N + tau Q
typedef struct Local {
    double nn, nt, no, tt, to, oo;
    double mu;
    const double *b;
} Local;

static double size2(double x, double y) {
    return sqrt(x * x + y * y);
}

typedef struct Matrix {
    double nn, nt, no, tt, to, oo;
} Matrix;

// sigma N + tau Q
static Matrix shifted(const Local *l, double sigma, double tau) {
    return (Matrix){sigma * l->nn - tau * l->mu * l->mu,
                    sigma * l->nt,
                    sigma * l->no,
                    sigma * l->tt + tau,
                    sigma * l->to,
                    sigma * l->oo + tau};
}

// The adjugate of a matrix applied to -b, and the determinant.
static double solve_matrix(const Matrix *a, const double b[3], double x[3]) {
    double c00 = a->tt * a->oo - a->to * a->to, c01 = a->to * a->no - a->nt * a->oo,
           c02 = a->nt * a->to - a->tt * a->no;
    double c11 = a->nn * a->oo - a->no * a->no, c12 = a->nt * a->no - a->nn * a->to,
           c22 = a->nn * a->tt - a->nt * a->nt;
    x[0] = -(c00 * b[0] + c01 * b[1] + c02 * b[2]);
    x[1] = -(c01 * b[0] + c11 * b[1] + c12 * b[2]);
    x[2] = -(c02 * b[0] + c12 * b[1] + c22 * b[2]);
    return a->nn * c00 + a->nt * c01 + a->no * c02;
}

static double solve_with(const Local *l, double sigma, double tau, double x[3]) {
    const Matrix a = shifted(l, sigma, tau);
    return solve_matrix(&a, l->b, x);
}

// At a place t of (0, 2): N + t Q up to 1, then (2 - t) N + Q.
static double solve_at(const Local *l, double t, double x[3]) {
    return t < 1.0 ? solve_with(l, 1.0, t, x) : solve_with(l, 2.0 - t, 1.0, x);
}

// How far inside its cone the solution at t is, as a number of that sign alone.
static double inside_at(const Local *l, double t) {
    double x[3];
    double determinant = solve_at(l, t, x);
    double n = determinant < 0.0 ? -x[0] : x[0];
    return l->mu * n - size2(x[1], x[2]);
}

// Positive below the pole, where the matrix turns singular, and negative above.
static double determinant_at(const Local *l, double t) {
    double x[3];
    return solve_at(l, t, x);
}

// Where f is 0 between `low`, where it is not positive, and `high`, where it is: by secants, with
// the end that stays halved (Illinois).
static double find_zero(double (*f)(const Local *, double), const Local *l, double low,
                        double high) {
    double f_low = f(l, low), f_high = f(l, high);
    int last = 0;
    for (int i = 0; i < SECANTS; i++) {
        double t = high - f_high * ((high - low) / (f_high - f_low));
        bool is_between = (t > low && t < high) || (t < low && t > high);
        t = is_between && i % BISECT_EVERY != BISECT_EVERY - 1 ? t : 0.5 * (low + high);
        if (t == low || t == high) {
            break;
        }
        double f_t = f(l, t);
        bool is_high = f_t > 0.0;
        *(is_high ? &high : &low) = t;
        *(is_high ? &f_high : &f_low) = f_t;
        if (f_t == 0.0) {
            return t;
        }
        if (last == (is_high ? 1 : -1)) {
            *(is_high ? &f_low : &f_high) *= 0.5;
        }
        last = is_high ? 1 : -1;
        if (fabs(high - low) <= ROUNDING * fabs(high)) {
            break;
        }
    }
    return high;
}

// At the pole itself, where b is across from the null vector e, or so nearly that no root can be
// told from the pole: the equation has solutions p + k e, and one of them is on the cone. With
// e e^T added to the matrix, which changes none of them but for k, nothing is singular:
//
//     gamma = p + k q,   p = -A^-1 b,   q = A^-1 e,   A = sigma N + tau Q + c e e^T.
static void slide_at_pole(const Local *l, double sigma, double tau, double gamma[3]) {
    Matrix a = shifted(l, sigma, tau);
    const double normal[3] = {-1.0, 0.0, 0.0};
    double e[3], p[3], q[3];
    solve_matrix(&a, normal, e);
    double size = sqrt(e[0] * e[0] + e[1] * e[1] + e[2] * e[2]);
    double c = a.tt + a.oo, share = c / (size * size);
    a.nn += share * e[0] * e[0];
    a.nt += share * e[0] * e[1];
    a.no += share * e[0] * e[2];
    a.tt += share * e[1] * e[1];
    a.to += share * e[1] * e[2];
    a.oo += share * e[2] * e[2];
    double determinant = solve_matrix(&a, l->b, p);
    solve_matrix(&a, e, q);
    // q as e, which points into the cone
    double scale = (q[0] < 0.0 ? -1.0 : 1.0) / size, m = l->mu * l->mu;
    for (int k = 0; k < 3; k++) {
        p[k] /= determinant;
        q[k] *= scale / determinant;
    }
    // m (p_n + k q_n)^2 = |p_t + k q_t|^2, where the line comes into the cone
    double two = m * q[0] * q[0] - (q[1] * q[1] + q[2] * q[2]);
    double one = m * p[0] * q[0] - (p[1] * q[1] + p[2] * q[2]);
    double none = m * p[0] * p[0] - (p[1] * p[1] + p[2] * p[2]);
    double root = one * one - two * none;
    double k = (sqrt(root > 0.0 ? root : 0.0) - one) / two;
    double t = sigma * size2(p[1] + k * q[1], p[2] + k * q[2]);
    gamma[0] = t / l->mu;
    gamma[1] = sigma * (p[1] + k * q[1]);
    gamma[2] = sigma * (p[2] + k * q[2]);
}

static void slide(const Local *l, double gamma[3]) {
    double x[3], pole = find_zero(determinant_at, l, 2.0, 0.0);
    // next to the pole, the sign says on which side of it impulses press
    solve_at(l, pole, x);
    double root =
        x[0] > 0.0 ? find_zero(inside_at, l, 0.0, pole) : find_zero(inside_at, l, 2.0, pole);
    if (fabs(root - pole) <= AT_POLE * (pole < 1.0 ? pole : 2.0 - pole)) {
        slide_at_pole(l, root < 1.0 ? 1.0 : 2.0 - root, root < 1.0 ? root : 1.0, gamma);
        return;
    }
    double determinant = solve_at(l, root, x);
    // (sigma N + Q) x' = -b has gamma = sigma x'
    double scale = (root < 1.0 ? 1.0 : 2.0 - root) / determinant;
    double n = scale * x[0], t = fabs(scale) * size2(x[1], x[2]);
    gamma[0] = n > 0.0 ? n : 0.0;
    double share = t > 0.0 ? l->mu * gamma[0] / t * scale : 0.0;
    gamma[1] = share * x[1];
    gamma[2] = share * x[2];
}

void ccp_local_solve(const MassBlock *block, double regular, double mu, const double b[3],
                     double gamma[3]) {
    ASSERT(!(regular < 0.0));
    if (b[0] >= mu * size2(b[1], b[2])) {
        gamma[0] = gamma[1] = gamma[2] = 0.0;
        return;
    }
    // Q, which has no unit, stands beside N
    const double s = power_inverse(block->nn + block->tt + block->oo);
    const double of_b[3] = {s * b[0], s * b[1], s * b[2]};
    const Local l = {s * (block->nn + regular),
                     s * block->nt,
                     s * block->no,
                     s * (block->tt + regular),
                     s * block->to,
                     s * (block->oo + regular),
                     mu,
                     of_b};
    double x[3];
    double determinant = solve_with(&l, 1.0, 0.0, x);
    for (int k = 0; k < 3; k++) {
        gamma[k] = x[k] / determinant;
    }
    if (!(gamma[0] > 0.0 && size2(gamma[1], gamma[2]) <= mu * gamma[0])) {
        slide(&l, gamma);
    }
    ASSERT(!(gamma[0] < 0.0));
}
