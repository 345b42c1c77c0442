// SPDX-License-Identifier: MIT
#include "solve/block_roots.h"

#include "base/assert.h"
#include "base/vec.h"

#define STRIP_SHARE  1e-14 // leading coefficients below this share of the largest are rounding
#define CIRCLE_WIDTH 1e-3  // how far from the unit circle a root may lie before it is polished
#define ROOT_RESIDUAL                                                                              \
    1e-7 // what a polished root may leave of G, as a share of the largest coefficient
#define TURN_MAX    0.1 // [rad] the longest polishing step
#define ABERTH_DONE 1e-15

enum { ABERTH_ROUND_MAX = 60, POLISH_STEPS = 3 };

typedef struct Complex {
    double re, im;
} Complex;

static Complex complex_add(Complex a, Complex b) {
    return (Complex){a.re + b.re, a.im + b.im};
}

static Complex complex_sub(Complex a, Complex b) {
    return (Complex){a.re - b.re, a.im - b.im};
}

static Complex complex_mul(Complex a, Complex b) {
    return (Complex){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

// division by zero gives something that is not finite, and that root is dropped
static Complex complex_div(Complex a, Complex b) {
    double scale = 1.0 / (b.re * b.re + b.im * b.im);
    return (Complex){scale * (a.re * b.re + a.im * b.im), scale * (a.im * b.re - a.re * b.im)};
}

static double largest(const MdpTrigonometric *g) {
    const double sizes[5] = {2.0 * fabs(g->k0), fabs(g->c1), fabs(g->s1), fabs(g->c2), fabs(g->s2)};
    double max = 0.0;
    for (int k = 0; k < 5; k++) {
        max = sizes[k] > max ? sizes[k] : max;
    }
    return max;
}

// one simultaneous correction of all roots of sum p[k] y^k; returns the size of the largest
static double aberth_round(int degree, const Complex *p, Complex *root) {
    double moved = 0.0;
    for (int i = 0; i < degree; i++) {
        Complex value = p[degree], slope = {0.0, 0.0};
        for (int k = degree; k-- > 0;) {
            slope = complex_add(complex_mul(slope, root[i]), value);
            value = complex_add(complex_mul(value, root[i]), p[k]);
        }
        Complex newton = complex_div(value, slope), pull = {0.0, 0.0};
        for (int j = 0; j < degree; j++) {
            if (j != i) {
                pull = complex_add(pull,
                                   complex_div((Complex){1.0, 0.0}, complex_sub(root[i], root[j])));
            }
        }
        Complex damping = complex_sub((Complex){1.0, 0.0}, complex_mul(newton, pull));
        Complex step = complex_div(newton, damping);
        root[i] = complex_sub(root[i], step);
        double size = fabs(step.re) + fabs(step.im);
        moved = size > moved ? size : moved;
    }
    return moved;
}

static void find_complex_roots(int degree, const Complex *p, Complex *root) {
    ASSERT(degree == 2 || degree == MDP_ROOT_MAX);
    // exp(i (2 pi k / degree + 0.4))
    const Complex start = {0.9210609940028851, 0.3894183423086505};
    const Complex turn = degree == 4 ? (Complex){0.0, 1.0} : (Complex){-1.0, 0.0};
    root[0] = start;
    for (int k = 1; k < degree; k++) {
        root[k] = complex_mul(root[k - 1], turn);
    }
    for (int round = 0; round < ABERTH_ROUND_MAX; round++) {
        if (aberth_round(degree, p, root) <= ABERTH_DONE) {
            break;
        }
    }
}

static double value_at(const MdpTrigonometric *g, MdpDirection u, double *slope) {
    double c2 = u.c * u.c - u.s * u.s, s2 = 2.0 * u.c * u.s;
    *slope = -g->c1 * u.s + g->s1 * u.c + 2.0 * (g->s2 * c2 - g->c2 * s2);
    return g->k0 + g->c1 * u.c + g->s1 * u.s + g->c2 * c2 + g->s2 * s2;
}

// Newton on the angle, the turn taken as the rational rotation (1 + i d/2) / (1 - i d/2)
static bool polish(const MdpTrigonometric *g, double size, MdpDirection *u) {
    double slope, value = value_at(g, *u, &slope);
    for (int step = 0; step < POLISH_STEPS; step++) {
        double turn = -value / slope;
        if (!(fabs(turn) <= TURN_MAX)) {
            break;
        }
        double half = 0.5 * turn, scale = 1.0 / (1.0 + half * half);
        double c = scale * (1.0 - half * half), s = scale * turn;
        MdpDirection next = {u->c * c - u->s * s, u->s * c + u->c * s};
        double norm = 1.0 / sqrt(next.c * next.c + next.s * next.s);
        *u = (MdpDirection){norm * next.c, norm * next.s};
        value = value_at(g, *u, &slope);
    }
    return fabs(value) <= ROOT_RESIDUAL * size;
}

int mdp_roots_find(const MdpTrigonometric *g, MdpDirection direction[MDP_ROOT_MAX]) {
    double size = largest(g);
    if (!(size > 0.0 && isfinite(size))) {
        return 0;
    }
    double scale = 1.0 / size;
    Complex p[5] = {{scale * g->c2, scale * g->s2},
                    {scale * g->c1, scale * g->s1},
                    {scale * 2.0 * g->k0, 0.0},
                    {scale * g->c1, -scale * g->s1},
                    {scale * g->c2, -scale * g->s2}};
    int degree = 4, low = 0;
    while (degree > 0 && fabs(p[low].re) + fabs(p[low].im) < STRIP_SHARE) {
        degree -= 2;
        low++;
    }
    if (degree <= 0) {
        return 0;
    }
    Complex root[MDP_ROOT_MAX];
    find_complex_roots(degree, p + low, root);
    int count = 0;
    for (int i = 0; i < degree; i++) {
        double norm = sqrt(root[i].re * root[i].re + root[i].im * root[i].im);
        if (fabs(norm - 1.0) < CIRCLE_WIDTH) {
            MdpDirection u = {root[i].re / norm, root[i].im / norm};
            if (polish(g, size, &u)) {
                direction[count++] = u;
            }
        }
    }
    ASSERT(count <= degree);
    return count;
}
