// SPDX-License-Identifier: MIT
#include "solve/newton/cone.h"

#include "base/assert.h"

// max(l, 0), smoothed, with what its derivatives are made of; nothing of it cancels.
typedef struct Plus {
    double root;  // sqrt(l^2 + 4 e^2)
    double rise;  // 2 e^2 / root, the derivative of the value by log e
    double value; // (l + root) / 2
    double other; // (root - l) / 2, that of -l
} Plus;

static Plus plus(double l, double e) {
    double root = sqrt(l * l + 4.0 * e * e), larger = 0.5 * (root + fabs(l));
    double smaller = larger > 0.0 ? e * (e / larger) : 0.0;
    double rise = root > 0.0 ? 2.0 * e * (e / root) : 0.0;
    return l >= 0.0 ? (Plus){root, rise, larger, smaller} : (Plus){root, rise, smaller, larger};
}

// p' and 1 - p'
static double slope(Plus p) {
    return p.root > 0.0 ? p.value / p.root : 0.5;
}

static double missing(Plus p) {
    return p.root > 0.0 ? p.other / p.root : 0.5;
}

static double norm2(double x, double y) {
    return sqrt(x * x + y * y);
}

// ---- maximum dissipation

void newton_turn(const NewtonConstraint *c, const double u[3], double turned[2],
                 double derivative[4]) {
    double a = c->turn[0], b = c->turn[1], rest = 1.0 - a * a - b * b;
    double along = a * u[1] + b * u[2];
    double root = sqrt(along * along + rest * (u[1] * u[1] + u[2] * u[2]));
    double nu = (along + root) / rest;
    turned[0] = u[1] + nu * a;
    turned[1] = u[2] + nu * b;
    if (derivative == NULL) {
        return;
    }
    // at rest the derivative jumps; there its mean
    double x = a / rest, y = b / rest;
    if (root > 0.0) {
        x += (along * a / rest + u[1]) / root;
        y += (along * b / rest + u[2]) / root;
    }
    derivative[0] = 1.0 + a * x;
    derivative[1] = a * y;
    derivative[2] = b * x;
    derivative[3] = 1.0 + b * y;
}

// ---- smoothing

// e of a constraint
static double smooth_width(const NewtonIsland *n, const NewtonConstraint *c,
                           const NewtonSmoothing *smoothing) {
    double weight = smoothing->weight == NULL ? 1.0 : smoothing->weight[c - n->constraint];
    return weight * smoothing->kappa * n->v_scale / c->w;
}

// ---- contacts

// x = g - z / c, and all that is made of it
typedef struct Cone {
    double g[3], z[3];
    double turn[4];    // derivative of the turned velocity
    double slip;       // |u_t|
    double tangent[2]; // of x; (1, 0) where it has none
    double projection[3];
    Plus low, high; // of s - |t| and s + |t|
} Cone;

static Cone look(const NewtonIsland *n, const NewtonConstraint *c, const NewtonSmoothing *smoothing,
                 const double *gamma, const double *u) {
    Cone cone;
    newton_turn(c, u, &cone.z[1], cone.turn);
    cone.slip = norm2(cone.z[1], cone.z[2]);
    cone.z[0] = u[0] / c->mu + cone.slip;
    cone.g[0] = c->mu * gamma[0];
    cone.g[1] = gamma[1];
    cone.g[2] = gamma[2];
    double x[3] = {cone.g[0] - cone.z[0] / c->w, cone.g[1] - cone.z[1] / c->w,
                   cone.g[2] - cone.z[2] / c->w};
    if (smoothing->center != NULL) {
        const double *center = smoothing->center + c->first;
        x[0] -= smoothing->eta * c->mu * (gamma[0] - center[0]);
        x[1] -= smoothing->eta * (gamma[1] - center[1]);
        x[2] -= smoothing->eta * (gamma[2] - center[2]);
    }
    double t = norm2(x[1], x[2]), e = smooth_width(n, c, smoothing);
    cone.tangent[0] = t > 0.0 ? x[1] / t : 1.0;
    cone.tangent[1] = t > 0.0 ? x[2] / t : 0.0;
    cone.low = plus(x[0] - t, e);
    cone.high = plus(x[0] + t, e);
    double across = 0.5 * (cone.high.value - cone.low.value);
    cone.projection[0] = 0.5 * (cone.high.value + cone.low.value);
    cone.projection[1] = across * cone.tangent[0];
    cone.projection[2] = across * cone.tangent[1];
    return cone;
}

// A symmetric matrix that has (1, -t), (1, t) and what is across t as its eigenvectors.
static void make_spectral(double low, double high, double across, const double t[2],
                          double matrix[9]) {
    double mean = 0.5 * (low + high), half = 0.5 * (high - low);
    matrix[0] = mean;
    matrix[1] = matrix[3] = half * t[0];
    matrix[2] = matrix[6] = half * t[1];
    matrix[4] = mean * t[0] * t[0] + across * t[1] * t[1];
    matrix[5] = matrix[7] = (mean - across) * t[0] * t[1];
    matrix[8] = mean * t[1] * t[1] + across * t[0] * t[0];
}

static void multiply3(const double a[9], const double b[9], double product[9]) {
    for (size_t i = 0; i < 3; i++) {
        for (size_t j = 0; j < 3; j++) {
            product[3 * i + j] =
                a[3 * i] * b[j] + a[3 * i + 1] * b[3 + j] + a[3 * i + 2] * b[6 + j];
        }
    }
}

static void multiply_vector(const double a[9], const double x[3], double product[3]) {
    for (size_t i = 0; i < 3; i++) {
        product[i] = a[3 * i] * x[0] + a[3 * i + 1] * x[1] + a[3 * i + 2] * x[2];
    }
}

// dz / du, row by row
static void differentiate(const NewtonConstraint *c, const Cone *cone, double s[9]) {
    // at rest, where |u_t| has a kink, the mean
    double x = cone->slip > 0.0 ? cone->z[1] / cone->slip : 0.0;
    double y = cone->slip > 0.0 ? cone->z[2] / cone->slip : 0.0;
    const double *turn = cone->turn;
    s[0] = 1.0 / c->mu;
    s[1] = x * turn[0] + y * turn[2];
    s[2] = x * turn[1] + y * turn[3];
    s[3] = s[6] = 0.0;
    s[4] = turn[0];
    s[5] = turn[1];
    s[7] = turn[2];
    s[8] = turn[3];
}

static double cone_size(const NewtonIsland *n, const NewtonConstraint *c, const Cone *cone,
                        double phi[3]) {
    double square = 0.0;
    for (int k = 0; k < 3; k++) {
        phi[k] = cone->g[k] - cone->projection[k];
        square += phi[k] * phi[k];
    }
    return sqrt(square) * c->w / n->v_scale;
}

// P' / (1 - (1 - eta) P') and 1 / (1 - (1 - eta) P') of a spectral value
static double gain(double slope_of, double missing_of, double eta) {
    return slope_of / (missing_of + eta * slope_of);
}

static double stretch(double slope_of, double missing_of, double eta) {
    return 1.0 / (missing_of + eta * slope_of);
}

static NewtonLaw contact_law(const NewtonIsland *n, const NewtonConstraint *c,
                             const NewtonSmoothing *smoothing, const double *gamma,
                             const double *u) {
    NewtonLaw law;
    Cone cone = look(n, c, smoothing, gamma, u);
    double phi[3], matrix[9], s[9], eta = smoothing->eta;
    double rise = 0.5 * (cone.high.rise + cone.low.rise),
           rise_across = 0.5 * (cone.high.rise - cone.low.rise);
    const double fall[3] = {-rise, -rise_across * cone.tangent[0], -rise_across * cone.tangent[1]};
    law.size = cone_size(n, c, &cone, phi);
    double roots = cone.low.root + cone.high.root;
    double across = roots > 0.0 ? (cone.low.value + cone.high.value) / roots : 0.5;
    double not_across = roots > 0.0 ? (cone.low.other + cone.high.other) / roots : 0.5;
    make_spectral(stretch(slope(cone.low), missing(cone.low), eta),
                  stretch(slope(cone.high), missing(cone.high), eta),
                  stretch(across, not_across, eta), cone.tangent, matrix);
    multiply_vector(matrix, phi, law.phi);
    multiply_vector(matrix, fall, law.fall);
    law.phi[0] /= c->mu;
    law.fall[0] /= c->mu;
    make_spectral(gain(slope(cone.low), missing(cone.low), eta),
                  gain(slope(cone.high), missing(cone.high), eta), gain(across, not_across, eta),
                  cone.tangent, matrix);
    differentiate(c, &cone, s);
    multiply3(matrix, s, law.h);
    for (int k = 0; k < 9; k++) {
        law.h[k] /= k < 3 ? c->mu * c->w : c->w;
    }
    return law;
}

// ---- numbers

// Bounds [low, high], smoothed: low + (x - low)+ - (x - high)+. A bound that is not there adds
// nothing; without both, x.
typedef struct Clip {
    double value, slope, missing, rise;
} Clip;

static Clip clip(double x, double low, double high, double e) {
    Clip result = {x, 1.0, 0.0, 0.0};
    if (isfinite(low)) {
        Plus p = plus(x - low, e);
        result = (Clip){low + p.value, slope(p), missing(p), p.rise};
    }
    if (isfinite(high)) {
        Plus p = plus(x - high, e);
        result.value -= p.value;
        result.slope -= slope(p);
        result.missing += slope(p);
        result.rise -= p.rise;
    }
    return result;
}

// d r = -(phi + slope/c du) / (1 - (1 - eta) slope + slope R / c)
static NewtonLaw scalar_law(const NewtonIsland *n, const NewtonConstraint *c, double low,
                            double high, const NewtonSmoothing *smoothing, double r, double u) {
    double y = u + c->compliance * r;
    if (smoothing->center != NULL) {
        y += c->w * smoothing->eta * (r - smoothing->center[c->first]);
    }
    double e = smooth_width(n, c, smoothing);
    Clip clipped = clip(r - y / c->w, low, high, e);
    double keep = clipped.missing + clipped.slope * (smoothing->eta + c->compliance / c->w);
    double phi = isfinite(low) || isfinite(high) ? r - clipped.value : y / c->w;
    return (NewtonLaw){.size = fabs(phi) * c->w / n->v_scale,
                       .phi = {phi / keep},
                       .fall = {-clipped.rise / keep},
                       .h = {clipped.slope / (keep * c->w)}};
}

NewtonLaw newton_law(const NewtonIsland *n, const NewtonConstraint *c,
                     const NewtonSmoothing *smoothing, const double *gamma, const double *u) {
    VALIDATE(c->rows == 1 || c->rows == NEWTON_ROWS_MAX);
    VALIDATE(!(smoothing->kappa < 0.0));
    if (c->rows == 1) {
        return scalar_law(n, c, c->low, c->high, smoothing, gamma[0], u[0]);
    }
    if (c->mu > 0.0) {
        return contact_law(n, c, smoothing, gamma, u);
    }
    return scalar_law(n, c, 0.0, HUGE_VAL, smoothing, gamma[0], u[0]);
}

double newton_law_size(const NewtonIsland *n, const NewtonConstraint *c,
                       const NewtonSmoothing *smoothing, const double *gamma, const double *u) {
    VALIDATE(c->rows == 1 || c->rows == NEWTON_ROWS_MAX);
    if (c->rows == 1 || c->mu == 0.0) {
        return newton_law(n, c, smoothing, gamma, u).size;
    }
    double phi[3];
    Cone cone = look(n, c, smoothing, gamma, u);
    return cone_size(n, c, &cone, phi);
}

void newton_project(const NewtonConstraint *c, double *gamma) {
    VALIDATE(c->rows == 1 || c->rows == NEWTON_ROWS_MAX);
    VALIDATE(!(c->mu < 0.0));
    if (c->rows == 1) {
        gamma[0] = relation_max(relation_min(gamma[0], c->high), c->low);
        return;
    }
    gamma[0] = relation_max(gamma[0], 0.0);
    double t = norm2(gamma[1], gamma[2]), bound = c->mu * gamma[0];
    if (!(t <= bound)) {
        gamma[1] *= bound / t;
        gamma[2] *= bound / t;
    }
}
