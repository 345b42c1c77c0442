// SPDX-License-Identifier: MIT
// Newton's method for slides, of several contacts side by side: one step waits for roots and
// divisions more than it computes, so that four take hardly longer than one. Each slide takes the
// way that it would take alone, bit by bit, on every machine:
//
//   block_slide_simd.h  the loop, for vectors of SIMD_COUNT slides
//   block_slide_avx2.c  four of them, where the machine has AVX2
//   block_slide.c       two of them, which every machine has; the choice
#pragma once

#include "solve/block_plan.h"

#include <stdint.h>

#define MDP_SLIDE_TOLERANCE 3e-13 // scaled residual of a certified slide

enum {
    MDP_SLIDE_LANES = 4,  // as many are found at once
    MDP_SLIDE_STEPS = 12, // of one that goes on from the slide before
};

// Newton from where each slide stands, until it is certified and gets no better, or has taken so
// many steps. The best point met on the way is the result.
void mdp_slide_converge(MdpSlide *slide, uint32_t count, int steps);

// The same, for machines with AVX2 only.
void mdp_slide_converge_avx2(MdpSlide *slide, uint32_t count, int steps);
