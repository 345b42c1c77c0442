// SPDX-License-Identifier: MIT
#include "solve/descent/law.h"

#include "base/assert.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

SapLaw sap_law_cone(const double target[3], double normal, double tangent, double mu) {
    VALIDATE(!(normal <= 0.0));
    VALIDATE(!(tangent <= 0.0));
    SapLaw law = {.kind = SAP_LAW_CONE, .normal = normal, .tangent = tangent, .mu = mu};
    memcpy(law.target, target, sizeof(law.target));
    law.normal_off = mu * (tangent / normal);
    law.share = 1.0 / (1.0 + mu * law.normal_off);
    return law;
}

SapLaw sap_law_lagged(const double target[3], double normal, double tangent, double bound) {
    VALIDATE(!(normal <= 0.0));
    VALIDATE(!(tangent <= 0.0));
    SapLaw law = {.kind = SAP_LAW_LAGGED, .normal = normal, .tangent = tangent, .bound = bound};
    memcpy(law.target, target, sizeof(law.target));
    return law;
}

SapLaw sap_law_row(double target, double compliance, double low, double high) {
    return (SapLaw){
        .kind = SAP_LAW_ROW, .target = {target}, .normal = compliance, .low = low, .high = high};
}

SapLaw sap_law_with(const SapLaw *law, double normal, double tangent) {
    VALIDATE((unsigned)law->kind <= SAP_LAW_ROW);
    switch (law->kind) {
    case SAP_LAW_CONE:
        return sap_law_cone(law->target, normal, tangent, law->mu);
    case SAP_LAW_LAGGED:
        return sap_law_lagged(law->target, normal, tangent, law->bound);
    case SAP_LAW_ROW:
        return sap_law_row(law->target[0], normal, law->low, law->high);
    }
    return *law;
}

// y of a contact
typedef struct Asked {
    double n, t, o;
    double size; // |(t, o)|
} Asked;

static Asked load(const double *y) {
    return (Asked){y[0], y[1], y[2], sqrt(y[1] * y[1] + y[2] * y[2])};
}

// ---- the friction cone: stick, slide or off; not a number is stick, so that it shows

typedef enum Region { STICK, SLIDE, OFF } Region;

static Region region_of(const SapLaw *law, const Asked *y) {
    // at mu = 0 a contact that separates must not stick
    if (y->n <= 0.0 && y->n <= -law->normal_off * y->size) {
        return OFF;
    }
    return law->mu * y->n < y->size ? SLIDE : STICK;
}

static Region cone_impulse(const SapLaw *law, const Asked *y, double *gamma) {
    Region region = region_of(law, y);
    if (region == OFF) {
        gamma[0] = gamma[1] = gamma[2] = 0.0;
        return region;
    }
    gamma[0] = y->n;
    gamma[1] = y->t;
    gamma[2] = y->o;
    if (region == SLIDE) {
        gamma[0] = law->share * (y->n + law->normal_off * y->size);
        double tangential = law->mu * gamma[0] / y->size;
        gamma[1] = tangential * y->t;
        gamma[2] = tangential * y->o;
    }
    return region;
}

// dP/dy R^-1 of a sliding contact:
//     f [ 1 , mu t^T ; mu t , mu (gamma_n / (f y_r) (R_n/R_t) (I - t t^T) + ...) ] / R_n
static void slide_slope(const SapLaw *law, const Asked *y, const double *gamma, double *slope) {
    double t = y->t / y->size, o = y->o / y->size;
    double normal = law->share / law->normal; // f / R_n
    double beside = law->mu * normal;         // f mu^ / R_t
    double along = law->mu * beside;          // f mu mu^ / R_t
    double across = law->mu * gamma[0] / y->size / law->tangent;
    slope[0] = normal;
    slope[1] = slope[3] = beside * t;
    slope[2] = slope[6] = beside * o;
    slope[4] = across * o * o + along * t * t;
    slope[5] = slope[7] = (along - across) * t * o;
    slope[8] = across * t * t + along * o * o;
}

static void cone_slope(const SapLaw *law, const Asked *y, double *gamma, double *slope) {
    Region region = cone_impulse(law, y, gamma);
    memset(slope, 0, 9 * sizeof(double));
    if (region == SLIDE) {
        slide_slope(law, y, gamma, slope);
    } else if (region == STICK) {
        slope[0] = 1.0 / law->normal;
        // without friction nothing holds, also where nothing slides yet
        slope[4] = slope[8] = law->mu == 0.0 ? 0.0 : 1.0 / law->tangent;
    }
}

// ---- lagged friction: a ray, and a disc of its own

static bool lagged_impulse(const SapLaw *law, const Asked *y, double *gamma) {
    VALIDATE(law->kind == SAP_LAW_LAGGED);
    bool slides = law->bound < y->size;
    double share = slides ? law->bound / y->size : 1.0;
    gamma[0] = y->n <= 0.0 ? 0.0 : y->n;
    gamma[1] = share * y->t;
    gamma[2] = share * y->o;
    return slides;
}

static void lagged_slope(const SapLaw *law, const Asked *y, double *gamma, double *slope) {
    bool slides = lagged_impulse(law, y, gamma);
    memset(slope, 0, 9 * sizeof(double));
    slope[0] = y->n <= 0.0 ? 0.0 : 1.0 / law->normal;
    if (!slides) {
        slope[4] = slope[8] = law->bound == 0.0 ? 0.0 : 1.0 / law->tangent;
        return;
    }
    // b / y_r (I - t t^T) / R_t
    double across = law->bound / y->size / law->tangent;
    double t = y->t / y->size, o = y->o / y->size;
    slope[4] = across * o * o;
    slope[5] = slope[7] = -across * t * o;
    slope[8] = across * t * t;
}

// ---- rows

static bool row_impulse(const SapLaw *law, double y, double *r) {
    bool is_free = !(y < law->low || y > law->high);
    *r = is_free ? y : y < law->low ? law->low : law->high;
    return is_free;
}

// ---- all kinds

void sap_law_ask(const SapLaw *law, const double *u, double *y) {
    VALIDATE(!(law->normal <= 0.0));
    y[0] = (law->target[0] - u[0]) / law->normal;
    for (uint32_t k = 1; k < sap_law_size(law); k++) {
        y[k] = (law->target[k] - u[k]) / law->tangent;
    }
}

void sap_law_impulse(const SapLaw *law, const double *y, double *gamma) {
    VALIDATE((unsigned)law->kind <= SAP_LAW_ROW);
    if (law->kind == SAP_LAW_ROW) {
        row_impulse(law, y[0], gamma);
        return;
    }
    Asked asked = load(y);
    if (law->kind == SAP_LAW_CONE) {
        cone_impulse(law, &asked, gamma);
    } else {
        lagged_impulse(law, &asked, gamma);
    }
}

void sap_law_slope(const SapLaw *law, const double *y, double *gamma, double *slope) {
    VALIDATE((unsigned)law->kind <= SAP_LAW_ROW);
    VALIDATE(gamma != slope);
    if (law->kind == SAP_LAW_ROW) {
        slope[0] = row_impulse(law, y[0], gamma) ? 1.0 / law->normal : 0.0;
        return;
    }
    Asked asked = load(y);
    if (law->kind == SAP_LAW_CONE) {
        cone_slope(law, &asked, gamma, slope);
    } else {
        lagged_slope(law, &asked, gamma, slope);
    }
}

double sap_law_potential(const SapLaw *law, const double *y, const double *gamma) {
    double potential = law->normal * gamma[0] * (y[0] - 0.5 * gamma[0]);
    for (uint32_t k = 1; k < sap_law_size(law); k++) {
        potential += law->tangent * gamma[k] * (y[k] - 0.5 * gamma[k]);
    }
    return potential;
}
