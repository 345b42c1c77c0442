// SPDX-License-Identifier: MIT
// Contacts of free bodies, of whatever inertia and arms, four at a time. A *quad of points* holds
// contacts that share no moving body, place by place, as one of balls does (ball.h): a unit stands
// in one place of quads that follow each other, and the units beside it in the others. What a place
// computes is what it would compute alone, bit by bit, on every machine:
//
//   point_simd.h        the loop, for vectors of SIMD_COUNT numbers
//   point_avx2.c        four of them, where the machine has AVX2
//   point.c             two of them, which every machine has; the choice; what slides
//
// Most contacts open or stick; those that slide, where only one slide can be, are found side by
// side, and what is rare is solved by itself (solve/block.h). What changes stands in the quad, and
// is added to the sums of islands in the order of the contacts, whatever places they are in:
// nothing depends on who stands beside whom.
#pragma once

#include "solve/block.h"
#include "solve/mdp/body.h"

// The inverse inertia of a body: xx yy zz xy xz yz, in world axes; the rest is nothing.
typedef struct MdpInertia {
    alignas(64) double at[8];
} MdpInertia;

// In the order nn nt no tt to oo of a block.
enum { MDP_BLOCK_NUMBERS = 6 };

// The normals point from a to b; the impulses act with + on b. Numbers of three parts are along the
// frame: normal, tangents.
typedef struct MdpPointQuad {
    uint32_t a[MDP_QUAD], b[MDP_QUAD], island[MDP_QUAD]; // islands are counted in the group
    bool has_plan[MDP_QUAD]; // what did neither open nor stick was planned for
    bool is_mixed;           // not all places are of one island
    bool has_own;            // a contact is between two points of one body
    MdpFour3 frame[3];
    MdpFour3 arm_a, arm_b;
    MdpFour impulse[3];
    MdpFour before[3]; // the impulse of one sweep earlier
    MdpFour offset[3];
    MdpFour mu;
    MdpFour weight; // (w / V)^2
    MdpFour block[MDP_BLOCK_NUMBERS], inverse[MDP_BLOCK_NUMBERS];
} MdpPointQuad;

// What a sweep over quads of points works on.
typedef struct MdpPoints {
    MdpPointQuad *quad;
    double *square, *along; // of each place of a quad: what the last sweep adds to the sums
    MdpPlan *plan;          // of each place of a quad; made where it is needed
    MdpBody *body;
    const MdpInertia *inertia;
} MdpPoints;

// What is being solved of the places of a quad: at b, from where momentum carried the impulses. x
// starts as that, and becomes the answer.
typedef struct MdpPointTrial {
    MdpFour carried[3], b[3], x[3];
} MdpPointTrial;

// What follows from the blocks of quads [begin, end) is made.
void mdp_point_close(MdpPointQuad *quad, uint32_t begin, uint32_t end);

// One sweep over quads [begin, end) in their order; `sum` is of the islands, and only read.
void mdp_point_sweep(const MdpPoints *points, uint32_t begin, uint32_t end, bool is_coulomb,
                     const MdpSum *sum);

// A place of quads, in the order in which sums are taken; and whether the contact before it is of
// another island, or there is none.
typedef uint32_t MdpNote;
#define MDP_NOTE_BEGINS 0x80000000u

static inline uint32_t mdp_note_slot(MdpNote note) {
    return note & ~MDP_NOTE_BEGINS;
}

// Adds what it changed to the sums of the islands: of `count` contacts.
void mdp_point_note(const MdpPoints *points, const MdpNote *note, uint32_t count, MdpSum *sum);

// Adds the impulses of quads [begin, end) to the velocities of their bodies.
void mdp_point_push(const MdpPoints *points, uint32_t begin, uint32_t end);

// The places of a quad whose bit is set, which are neither of what all quads solve.
void mdp_point_solve(const MdpPoints *points, uint32_t quad, unsigned places, bool is_coulomb,
                     MdpPointTrial *trial);

// As above, for machines with AVX2 only.
void mdp_point_close_avx2(MdpPointQuad *quad, uint32_t begin, uint32_t end);
void mdp_point_sweep_avx2(const MdpPoints *points, uint32_t begin, uint32_t end, bool is_coulomb,
                          const MdpSum *sum);
void mdp_point_push_avx2(const MdpPoints *points, uint32_t begin, uint32_t end);
