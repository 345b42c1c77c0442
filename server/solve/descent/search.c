// SPDX-License-Identifier: MIT
#include "solve/descent/island_parts.h"

#include "base/assert.h"

#include <math.h>

#define ALPHA_MAX 1.5
// The derivative is this share of what it was, or rounding: then it is 0.
#define CLOSE    1e-8
#define ROUNDING 0x1p-52
// halvings from 1.5 to the last digit
enum { LOOKS_MAX = 60 };
#define OPERATIONS_PER_LOOK 80.0

// The derivatives of l along the line.
typedef struct Slope {
    double first, second;
    double size; // the sum of what was added up to the first
} Slope;

static Slope slope_at(SapIsland *s, double linear, double quadratic, double alpha) {
    const NewtonIsland *n = &s->island;
    Slope at = {.first = linear + alpha * quadratic,
                .second = quadratic,
                .size = fabs(linear) + alpha * quadratic};
    for (uint32_t i = sap_island_next(s, 0); i < n->constraint_count;
         i = sap_island_next(s, i + 1)) {
        const NewtonConstraint *c = &n->constraint[i];
        if (s->law[i] == NULL) {
            continue;
        }
        const double *u = s->u + c->first, *d_u = s->d_u + c->first;
        double moved[NEWTON_ROWS_MAX], y[NEWTON_ROWS_MAX], gamma[NEWTON_ROWS_MAX],
            h[NEWTON_ROWS_MAX * NEWTON_ROWS_MAX];
        for (uint32_t r = 0; r < c->rows; r++) {
            moved[r] = u[r] + alpha * d_u[r];
        }
        sap_law_ask(s->law[i], moved, y);
        sap_law_slope(s->law[i], y, gamma, h);
        for (uint32_t r = 0; r < c->rows; r++) {
            double along = 0.0;
            for (uint32_t q = 0; q < c->rows; q++) {
                along += h[r * c->rows + q] * d_u[q];
            }
            at.first -= d_u[r] * gamma[r];
            at.second += d_u[r] * along;
            at.size += fabs(d_u[r] * gamma[r]);
        }
        sap_island_spend(s, OPERATIONS_PER_LOOK);
    }
    BedPass pass = {.u = s->u, .d_u = s->d_u, .alpha = alpha};
    sap_island_beds(s, BED_SEARCH, &pass, NULL);
    at.first -= pass.first;
    at.second += pass.second;
    at.size += pass.size;
    return at;
}

// Newton's next alpha, or the middle of what is left, where that is outside or the last step has
// not even halved the derivative.
static double next_alpha(const Slope *at, double alpha, double low, double high, double before) {
    double next = alpha - at->first / at->second;
    bool is_slow = fabs(at->first) > 0.5 * before;
    return next > low && next < high && !is_slow ? next : 0.5 * (low + high);
}

double sap_search(SapIsland *s, double linear, double quadratic) {
    ASSERT(s->island.velocity_count > 0);
    Slope start = slope_at(s, linear, quadratic, 0.0);
    double low = 0.0, high = ALPHA_MAX, alpha = 1.0, before = fabs(start.first);
    for (int look = 0; look < LOOKS_MAX && !s->is_stopped; look++) {
        Slope at = slope_at(s, linear, quadratic, alpha);
        // not a number ends it, too
        if (!(fabs(at.first) > CLOSE * fabs(start.first) + ROUNDING * at.size)) {
            return alpha;
        }
        bool falls = at.first < 0.0;
        if (falls && alpha == ALPHA_MAX) {
            return alpha;
        }
        low = falls ? alpha : low;
        high = falls ? high : alpha;
        // where it falls still at 1, the end is looked at
        alpha = look == 0 && falls ? ALPHA_MAX : next_alpha(&at, alpha, low, high, before);
        before = fabs(at.first);
    }
    return alpha;
}
