// SPDX-License-Identifier: MIT
// The laws of law.h for the cells of a bed (solve/descent/bed.h), four at a time:
//
//     bed_law_simd.h     the loops
//     bed_law_avx2.c     four side by side, where the machine has AVX2
//     bed_law.c          two, which every machine has; the choice
#pragma once

#include "solve/compliant/law.h"
#include "solve/descent/bed.h"

typedef enum BedLawKind {
    BED_LAW_IMPULSE,   // impulse = P(x), and its wrench
    BED_LAW_REST,      // rest = e, the largest of its numbers, and e . S^-1 e
    BED_LAW_START,     // change = x of gamma as the natural map has it
    BED_LAW_LINEARISE, // slope and inverse at x, and the block of slopes
} BedLawKind;

// What a cell obeys, with R at least this share of its w.
void bed_law_set(Bed *bed, const CompliantLaw *const *law, double share);

// Friction of a sweep: within the bounds of the impulses at hand.
void bed_law_bound(Bed *bed, const double *gamma);

void bed_law_pass(Bed *bed, BedLawKind kind, BedPass *pass);

// The same, for machines with AVX2 only.
void bed_law_pass_avx2(Bed *bed, BedLawKind kind, BedPass *pass);
