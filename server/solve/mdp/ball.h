// SPDX-License-Identifier: MIT
// Balls, four at a time: the contacts of a pile of spheres, swept side by side. A *quad* holds four
// contacts that share no moving body, place by place, so that one vector instruction does the same
// to several. What a place computes is what it would compute alone, bit by bit, on every machine:
//
//   ball_simd.h        the loop, for vectors of SIMD_COUNT numbers
//   ball_avx2.c        four of them, where the machine has AVX2
//   ball.c             two of them, which every machine has; the choice
//
// Places that no contact fills stand between the static body and itself and push nothing.
#pragma once

#include "solve/mdp/body.h"

// the normals point from a to b; the impulses act with + on b
typedef struct MdpQuad {
    uint32_t a[MDP_QUAD], b[MDP_QUAD], island[MDP_QUAD]; // islands are counted in the group
    bool is_mixed;                                       // not all places are of one island
    MdpFour3 normal;
    MdpFour3 impulse;               // world axes [N s]
    MdpFour3 before;                // the impulse of one sweep earlier
    MdpFour arm_a, arm_b;           // the arms are these times the normal [m]
    MdpFour inverse_nn, inverse_tt; // A is diagonal
    MdpFour mu;
    MdpFour offset; // bias + normal motion [m/s]
    MdpFour weight; // (w / V)^2: turns an impulse's change into a share of V
} MdpQuad;

// One sweep over quads [begin, end) in their order, which is added to the sums of their islands.
void mdp_ball_sweep(MdpQuad *quad, uint32_t begin, uint32_t end, MdpBody *body, MdpSum *sum);

// Adds the impulses of quads [begin, end) to the velocities of their bodies.
void mdp_ball_push(const MdpQuad *quad, uint32_t begin, uint32_t end, MdpBody *body);

// The same, for machines with AVX2 only.
void mdp_ball_sweep_avx2(MdpQuad *quad, uint32_t begin, uint32_t end, MdpBody *body, MdpSum *sum);
void mdp_ball_push_avx2(const MdpQuad *quad, uint32_t begin, uint32_t end, MdpBody *body);
