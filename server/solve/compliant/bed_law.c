// SPDX-License-Identifier: MIT
#include "solve/compliant/bed_law.h"

#include "base/assert.h"

#define SIMD_COUNT 2
#include "solve/compliant/bed_law_simd.h"

static double at_least(double r, double least) {
    VALIDATE(!(r <= 0.0));
    return r < least ? least : r;
}

void bed_law_set(Bed *bed, const CompliantLaw *const *law, double share) {
    ASSERT(!(share < 0.0));
    for (uint32_t i = 0; i < BED_PLACES * bed->count; i++) {
        BedCells *c = &bed->cells[i / BED_PLACES];
        const uint32_t place = i % BED_PLACES;
        const CompliantLaw *of = law[c->constraint[place]];
        const double w = c->w.at[place];
        for (int k = 0; k < 3; k++) {
            c->target[k].at[place] = of->target[k];
        }
        c->normal.at[place] = at_least(of->normal, share * w);
        c->tangent.at[place] = at_least(of->tangent, share * w);
        c->off[0].at[place] = 1.0 / (c->normal.at[place] + w);
        c->off[1].at[place] = 1.0 / (c->tangent.at[place] + w);
    }
}

void bed_law_bound(Bed *bed, const double *gamma) {
    ASSERT(bed->count > 0);
    for (uint32_t i = 0; i < BED_PLACES * bed->count; i++) {
        BedCells *c = &bed->cells[i / BED_PLACES];
        const uint32_t place = i % BED_PLACES;
        c->bound.at[place] = c->mu.at[place] * gamma[c->first[place]];
    }
}

static void pass_all(Bed *bed, BedLawKind kind, BedPass *pass) {
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2")) {
        bed_law_pass_avx2(bed, kind, pass);
        return;
    }
#endif
    law_pass_all(bed, kind, pass);
}

// Of all places; not a number where one is.
static double largest_of(const BedFour *of) {
    double largest = of->at[0];
    for (int place = 1; place < BED_PLACES; place++) {
        largest = relation_max(largest, of->at[place]);
    }
    return largest;
}

void bed_law_pass(Bed *bed, BedLawKind kind, BedPass *pass) {
    ASSERT(bed->count > 0);
    ASSERT((unsigned)kind <= BED_LAW_LINEARISE);
    bed_begin(bed, pass);
    pass_all(bed, kind, pass);
    if (kind == BED_LAW_REST) {
        pass->largest = largest_of(&pass->sum[0]);
        pass->merit =
            pass->sum[1].at[0] + pass->sum[1].at[1] + pass->sum[1].at[2] + pass->sum[1].at[3];
    } else if (kind != BED_LAW_START) {
        bed_end(pass, kind == BED_LAW_LINEARISE);
    }
}
