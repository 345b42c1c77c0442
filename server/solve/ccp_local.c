// SPDX-License-Identifier: MIT
#include "solve/ccp_local.h"

#include <math.h>
#include <stdbool.h>

// Secants, among which there is a bisection now and then; and where they end.
enum { SECANTS = 100, BISECT_EVERY = 4 };
#define ROUNDING 1e-16

// N, its unknown being sigma N + tau Q
typedef struct Local {
    double nn, nt, no, tt, to, oo;
    double mu;
    const double *b;
} Local;

static double size2(double x, double y) {
    return sqrt(x * x + y * y);
}

// The adjugate of sigma N + tau Q applied to -b, and the determinant.
static double solve_with(const Local *l, double sigma, double tau, double x[3]) {
    double nn = sigma * l->nn - tau * l->mu * l->mu, nt = sigma * l->nt, no = sigma * l->no;
    double tt = sigma * l->tt + tau, to = sigma * l->to, oo = sigma * l->oo + tau;
    double c00 = tt * oo - to * to, c01 = to * no - nt * oo, c02 = nt * to - tt * no;
    double c11 = nn * oo - no * no, c12 = nt * no - nn * to, c22 = nn * tt - nt * nt;
    const double *b = l->b;
    x[0] = -(c00 * b[0] + c01 * b[1] + c02 * b[2]);
    x[1] = -(c01 * b[0] + c11 * b[1] + c12 * b[2]);
    x[2] = -(c02 * b[0] + c12 * b[1] + c22 * b[2]);
    return nn * c00 + nt * c01 + no * c02;
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

static void slide(const Local *l, double gamma[3]) {
    double x[3], pole = find_zero(determinant_at, l, 2.0, 0.0);
    // next to the pole, the sign says on which side of it impulses press
    solve_at(l, pole, x);
    double root =
        x[0] > 0.0 ? find_zero(inside_at, l, 0.0, pole) : find_zero(inside_at, l, 2.0, pole);
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
    const Local l = {block->nn + regular, block->nt,           block->no, block->tt + regular,
                     block->to,           block->oo + regular, mu,        b};
    if (b[0] >= mu * size2(b[1], b[2])) {
        gamma[0] = gamma[1] = gamma[2] = 0.0;
        return;
    }
    double x[3];
    double determinant = solve_with(&l, 1.0, 0.0, x);
    for (int k = 0; k < 3; k++) {
        gamma[k] = x[k] / determinant;
    }
    if (!(gamma[0] > 0.0 && size2(gamma[1], gamma[2]) <= mu * gamma[0])) {
        slide(&l, gamma);
    }
}
