// SPDX-License-Identifier: MIT
#include "solve/lcp/system.h"

#include "base/assert.h"

#include <float.h>
#include <math.h>

// of the sum of a row's terms, absolutely: what is left of them is rounding
#define ROUNDING (16.0 * DBL_EPSILON)

double lcp_dot(const double *a, const double *x, size_t count) {
    double sum[4] = {0.0, 0.0, 0.0, 0.0};
    size_t i = 0;
    for (; i + 4 <= count; i += 4) {
        sum[0] += a[i] * x[i];
        sum[1] += a[i + 1] * x[i + 1];
        sum[2] += a[i + 2] * x[i + 2];
        sum[3] += a[i + 3] * x[i + 3];
    }
    for (; i < count; i++) {
        sum[0] += a[i] * x[i];
    }
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

double lcp_residual(const LcpSystem *system, const double *z, double *w, LcpCount *count) {
    ASSERT(z != w);
    double worst = 0.0;
    for (uint32_t i = 0; i < system->count; i++) {
        w[i] = lcp_dot(system->matrix + (size_t)i * system->count, z, system->count) + system->b[i];
        double away = fabs(z[i] < w[i] ? z[i] : w[i]);
        // a sum, so that what is not a number in either stays
        worst = away <= worst && w[i] - z[i] == w[i] - z[i] ? worst : away;
        worst = worst == worst ? worst : HUGE_VAL;
        lcp_count(count, system->count);
    }
    return worst;
}

bool lcp_is_rounding(const LcpSystem *system, const double *z, uint32_t i, double value) {
    VALIDATE(i < system->count);
    const double *row = system->matrix + (size_t)i * system->count;
    double terms = fabs(system->b[i]);
    for (uint32_t j = 0; j < system->count; j++) {
        terms += fabs(row[j] * z[j]);
    }
    return fabs(value) <= ROUNDING * terms;
}

bool lcp_is_answer(const LcpSystem *system, const double *z, const double *w, double enough,
                   LcpCount *count) {
    ASSERT(z != w);
    for (uint32_t i = 0; i < system->count; i++) {
        double away = z[i] < w[i] ? z[i] : w[i];
        if (!(fabs(away) <= enough)) {
            lcp_count(count, system->count);
            if (!lcp_is_rounding(system, z, i, away)) {
                return false;
            }
        }
    }
    return true;
}
