// SPDX-License-Identifier: MIT
// Beds: many contacts of one free body with what does not move, all in one frame, as the cells of
// an elastic foundation are. In the frame n, t, o a cell differs from the next by its arm r alone:
//
//     J = [ 1  -[r] ],    J^T D J = [ sum D , -sum D [r] ; sum [r] D , -sum [r] D [r] ]
//
// so what a bed adds to momenta and to the matrix is one wrench and one 6 x 6 block, which are
// summed in the frame and turned out of it once. Cells stand four side by side, number by number:
//
//     bed_simd.h         the loops, for vectors of SIMD_COUNT numbers
//     bed_avx2.c         four of them, where the machine has AVX2
//     bed.c              two of them, which every machine has; the choice; what is done once
//
// Each place sums what it would alone, and places are added in their order: the same bits
// everywhere.
#pragma once

#include "solve/newton/island.h"

#include <stdalign.h>

enum { BED_PLACES = 4, BED_TWIST = 6 };

// Fewer contacts than this are no bed. No two bodies that are no foundation have as many contacts
// in one frame, but for bodies of many parts.
enum { BED_CELLS_MIN = 16 };

// A look at a cell, about, in the operations of solve/descent/island.h.
#define BED_OPERATIONS 20.0

// one number of each of four cells
typedef struct BedFour {
    alignas(32) double at[BED_PLACES];
} BedFour;

// Of a block of a cell's in which pushing along the normal may move tangents, but not the other way
// round: nn, tn, on, tt, to, oo.
enum { BED_NN, BED_TN, BED_ON, BED_TT, BED_TO, BED_OO, BED_BLOCK };

typedef struct BedCells {
    uint32_t constraint[BED_PLACES]; // of the island
    uint32_t first[BED_PLACES];      // of their impulses in the island's
    BedFour arm[3];
    BedFour target[3];                            // of u, what moves by itself taken off [m/s]
    BedFour normal, tangent;                      // R [1/kg]
    BedFour w, mu, bound;                         // bound: of lagged friction [N s]
    BedFour off[2];                               // 1 / (R + w), of the normal and of tangents
    BedFour slope[BED_BLOCK], inverse[BED_BLOCK]; // of the newest linearisation
} BedCells;

typedef struct Bed {
    uint32_t tree;   // of the island
    size_t velocity; // of its velocities in the island's
    double sign;     // of the body's side: 1 where the normal points at it, else -1
    Vec3 axis[3];    // the frame
    BedCells *cells; // [count]
    uint32_t count;
} Bed;

// What a pass over a bed reads and leaves. Arrays are the island's, of impulses.
enum { BED_SUMS = 33 };

typedef struct BedPass {
    const double *v; // of the island: whose velocities move cells; NULL: none
    const double *gamma, *x, *e;
    double *u, *d_u, *y;
    double *impulse, *rest, *change; // gamma, e and a change of x where they are made
    double alpha;
    double twist[BED_TWIST];             // v of the bed, in its frame
    BedFour sum[BED_SUMS];               // of each place
    double first, second, size;          // sums of all places: of a search
    double cost, largest, merit;         // of looks
    double wrench[BED_TWIST];            // in the frame
    double block[BED_TWIST * BED_TWIST]; // in the frame
} BedPass;

typedef enum BedKind {
    BED_MOMENTUM, // wrench of gamma
    BED_PRODUCT,  // d_u = J v
    BED_LOOK,     // lagged friction: u = J v, y, impulse; its wrench, and cost
    BED_SLOPE,    // of lagged friction at y: its block
    BED_SEARCH,   // first, second and size of its cost along d_u, after alpha of it
    BED_REST,     // wrench of slope (e + J v)
    BED_CHANGE    // change = -inverse (e + J v)
} BedKind;

// Whether constraint number i may be a cell: a contact whose law is that of law.h or lagged.
typedef bool BedMay(const void *context, uint32_t constraint);

// Finds the beds of an island among those that may be cells. `next` [constraint_count + 1]
// becomes the first, from each on, that is none. What laws say is for the caller to fill in.
// RESOURCE_EXHAUSTED when the arena ends.
Status bed_find(const NewtonIsland *n, BedMay *may, const void *context, Arena *arena, Bed **bed,
                uint32_t *bed_count, uint32_t *next, Error *error);

// The pass of one bed.
void bed_pass(Bed *bed, BedKind kind, BedPass *pass);

// v into the frame; the sums of all places, as a wrench and as a block of it: for whoever has
// passes of its own.
void bed_begin(const Bed *bed, BedPass *pass);
void bed_end(BedPass *pass, bool has_block);

// p += the pass's wrench; the matrix += its block.
void bed_add_momentum(const Bed *bed, const BedPass *pass, double *p);
void bed_add_matrix(const Bed *bed, const BedPass *pass, Ldlt *ldlt);

// The same, for machines with AVX2 only.
void bed_pass_avx2(Bed *bed, BedKind kind, BedPass *pass);
