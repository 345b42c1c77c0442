// SPDX-License-Identifier: MIT
// How a quad of points is filled: number by number from contacts of the problem and their blocks,
// four at a time, or two where the machine has no more.
#pragma once

#include "solve/mass.h"
#include "solve/mdp/point.h"

// What the places of a quad are filled from, as the numbers that they are; borrowed.
typedef struct MdpPointSource {
    const double *contact[MDP_QUAD]; // a ProblemContact
    const double *block[MDP_QUAD];   // a MassBlock
    const double *impulse[MDP_QUAD]; // in the frame of the contact
    MdpFour v_scale;                 // V of its island
} MdpPointSource;

// The smallest eigenvalue over w below which a block counts as singular; and the determinant over
// w^3 above which none is: it is that eigenvalue times the product of the other two, which is at
// most (trace / 2)^2 = 2.25 w^2. Twice, for rounding.
#define MDP_SINGULAR_SHARE 1e-10
#define MDP_REGULAR_SHARE  (2.0 * MDP_SINGULAR_SHARE * 2.25)

// Fills the numbers of a quad, and returns the places, bit by bit, whose blocks are not surely
// regular.
unsigned mdp_point_fill(const MdpPointSource *from, MdpPointQuad *quad);

// The same, for machines with AVX2 only.
unsigned mdp_point_fill_avx2(const MdpPointSource *from, MdpPointQuad *quad);
