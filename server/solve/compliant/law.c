// SPDX-License-Identifier: MIT
#include "solve/compliant/law.h"

#include "base/assert.h"

#include <math.h>
#include <string.h>

// Comparisons let what is not a number through, so that it shows.

static bool is_off(const double *x) {
    return x[0] <= 0.0;
}

static double clip(double x, double low, double high) {
    return x < low ? low : x > high ? high : x;
}

void compliant_law_impulse(const CompliantLaw *law, const double *x, double *gamma) {
    VALIDATE(x != gamma);
    if (law->is_row) {
        gamma[0] = clip(x[0], law->low, law->high);
        return;
    }
    if (is_off(x)) {
        gamma[0] = gamma[1] = gamma[2] = 0.0;
        return;
    }
    double size = sqrt(x[1] * x[1] + x[2] * x[2]), bound = law->mu * x[0];
    double share = bound < size ? bound / size : 1.0;
    gamma[0] = x[0];
    gamma[1] = share * x[1];
    gamma[2] = share * x[2];
}

static void linearise_row(const CompliantLaw *law, double w, double x, double *inverse,
                          double *slope) {
    bool is_free = !(x < law->low || x > law->high);
    inverse[0] = 1.0 / (is_free ? law->normal : law->normal + w);
    slope[0] = is_free ? inverse[0] : 0.0;
}

// `along` and `across` the direction (t, o): along d d^T + across (I - d d^T)
static void put_tangents(double t, double o, double along, double across, double *m) {
    m[4] = along * t * t + across * o * o;
    m[5] = m[7] = (along - across) * t * o;
    m[8] = along * o * o + across * t * t;
}

// It slides: with d = x_t / |x_t|, k = mu x_n / |x_t|
//     T = [ 1 0 ; mu d  k (I - d d^T) ]
static void linearise_sliding(const CompliantLaw *law, double w, const double *x, double size,
                              double *inverse, double *slope) {
    VALIDATE(!(size <= 0.0));
    double t = x[1] / size, o = x[2] / size, k = law->mu * x[0] / size;
    double beside = law->mu / law->normal, s_t = law->tangent + w;
    double across = 1.0 / (law->tangent + w * (1.0 - k));
    inverse[0] = slope[0] = 1.0 / law->normal;
    inverse[3] = beside * w / s_t * t;
    inverse[6] = beside * w / s_t * o;
    put_tangents(t, o, 1.0 / s_t, across, inverse);
    slope[3] = beside * t;
    slope[6] = beside * o;
    put_tangents(t, o, 0.0, k * across, slope);
}

void compliant_law_linearise(const CompliantLaw *law, double w, const double *x, double *inverse,
                             double *slope) {
    VALIDATE(inverse != slope);
    if (law->is_row) {
        linearise_row(law, w, x[0], inverse, slope);
        return;
    }
    memset(inverse, 0, 9 * sizeof(double));
    memset(slope, 0, 9 * sizeof(double));
    if (is_off(x)) {
        inverse[0] = 1.0 / (law->normal + w);
        inverse[4] = inverse[8] = 1.0 / (law->tangent + w);
        return;
    }
    double size = sqrt(x[1] * x[1] + x[2] * x[2]);
    if (law->mu * x[0] < size) {
        linearise_sliding(law, w, x, size, inverse, slope);
        return;
    }
    // it holds; without friction nothing does, also where nothing slides yet
    bool holds = law->mu != 0.0;
    inverse[0] = slope[0] = 1.0 / law->normal;
    inverse[4] = inverse[8] = 1.0 / (holds ? law->tangent : law->tangent + w);
    slope[4] = slope[8] = holds ? inverse[4] : 0.0;
}
