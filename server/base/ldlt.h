// SPDX-License-Identifier: MIT
// Sparse systems of blocks, solved at once: L D L^T of a symmetric matrix, or L U of one whose
// pattern alone is symmetric, both under one plan and in one layout.
//
// A matrix has a graph (base/order.h): every vertex is a diagonal block of `width` unknowns, every
// edge joins two vertices with a block above the diagonal and one below it. The *plan* is a
// function of the graph: the order of elimination, which blocks fill in, and the supernodes: runs
// of vertices eliminated one after the other that (almost) share what is below them, so that all of
// it is dense work. It is good as long as the graph stays; factors are made under it again and
// again.
//
//   supernode s, `columns` unknowns,     D  columns x columns   (symmetric: lower triangle)
//   `rows` unknowns below it:            L  rows x columns      what is below the diagonal
//                                        U  rows x columns      what is beside it, transposed;
//                                                               a symmetric matrix has none
//   all column by column; a column of L or U is `rows` long.
//
// Pivots. Nothing is searched for beyond a supernode's own diagonal block, where rows of an
// unsymmetric matrix are exchanged for the largest of a column; a symmetric one takes its pivots as
// they come. A pivot that is no more than LDLT_PIVOT_MIN of the diagonal number that stood there in
// the matrix (of 1, if that was 0) is rounding: that share takes its place, with the pivot's sign
// when unsymmetric, and is counted. A number that is not finite spreads and is reported.
//
// Every sum is made in one order that depends on the plan alone, of + - * / only: the bits are the
// same on every machine, whatever its vectors.
#pragma once

#include "base/order.h"
#include "base/stop.h"

#define LDLT_PIVOT_MIN 0x1p-52

typedef struct LdltNode {
    uint32_t first;      // of its unknowns, in the order of elimination
    uint32_t columns;    // unknowns
    uint32_t rows;       // unknowns below
    uint32_t vertex_end; // its vertices, as places in the order, end here
    size_t below;        // of its rows in `below`
    uint32_t below_count;
    size_t diagonal; // of D in `number`
    size_t lower;    // of L in `number`; U is `upper` numbers further on
} LdltNode;

// A vertex below a supernode, and where its unknowns begin among the rows.
typedef struct LdltBelow {
    uint32_t vertex; // its place in the order
    uint32_t row;
} LdltBelow;

typedef struct LdltPlan {
    Graph graph;       // borrowed
    uint32_t size;     // unknowns
    uint32_t *place;   // [vertex_count] of a vertex in the order
    uint32_t *vertex;  // [vertex_count] the vertex at a place
    uint32_t *first;   // [vertex_count + 1] unknowns before a place
    uint32_t *offset;  // [vertex_count] unknowns before a vertex, in the order of the graph
    uint32_t *node_of; // [vertex_count] the supernode of a place
    LdltNode *node;    // [node_count] in the order of elimination
    LdltBelow *below;
    uint32_t node_count;
    uint32_t columns_max, rows_max;
    size_t diagonal_count; // numbers of all D …
    size_t lower_count;    // … and of all L
    size_t fill;           // numbers of L with its diagonal, without those that supernodes add
    double operations;     // multiplications of a symmetric factor, about
} LdltPlan;

// What a plan may come to.
typedef struct LdltLimits {
    size_t number_max;     // numbers of a symmetric factor
    double operations_max; // multiplications of one: what takes more is given up on the way
    Asker *asker;          // Nullable: who may stop it
} LdltLimits;

#define LDLT_UNLIMITED ((LdltLimits){.number_max = SIZE_MAX, .operations_max = HUGE_VAL})

// Plans for a graph, which stays the caller's and must outlive the plan. RESOURCE_EXHAUSTED, naming
// what is too little, beyond a limit (plan->operations is more than `operations_max` where it is
// that one, or the plan is whole), or when the arena ends; ABORTED when it was asked to stop.
Status ldlt_plan(const Graph *graph, LdltLimits limits, Arena *arena, LdltPlan *plan, Error *error);

typedef struct Ldlt {
    const LdltPlan *plan; // borrowed
    bool is_symmetric;
    size_t upper; // from L to U in `number`; 0: symmetric
    size_t number_count;
    double *number;    // D of all supernodes, then L, then U
    double *scale;     // [size] diagonal of the matrix, in the order of elimination
    uint32_t *pivot;   // [size] unsymmetric: with which row of its block a row was exchanged
    double *product;   // scratch
    double *beside;    // scratch: a symmetric supernode's L D
    double *solution;  // [size + rows_max] scratch
    uint32_t replaced; // pivots of the newest factor
} Ldlt;

// Memory for the factors of one plan. Arena ends: RESOURCE_EXHAUSTED.
Status ldlt_init(Ldlt *ldlt, const LdltPlan *plan, bool is_symmetric, Arena *arena, Error *error);

// The matrix becomes zero; then blocks are added, in any order, before the factor takes its place.
void ldlt_clear(Ldlt *ldlt);
// width x width, row by row; of a symmetric one only the lower triangle counts.
void ldlt_add_vertex(Ldlt *ldlt, uint32_t vertex, const double *block);
// The block in the rows of the edge's first end and the columns of its second, row by row; of an
// unsymmetric matrix also the one in the rows of the second and columns of the first.
void ldlt_add_edge(Ldlt *ldlt, size_t edge, const double *block, const double *opposite);

typedef enum LdltOutcome { LDLT_FINITE, LDLT_NOT_FINITE, LDLT_STOPPED } LdltOutcome;

// The factor takes the place of the matrix. `stop` (Nullable) is asked every 10^6 multiplications.
LdltOutcome ldlt_factor(Ldlt *ldlt, const Stop *stop);

// Of a finite factor: the sign of the matrix's determinant, 1 or -1.
int ldlt_sign(const Ldlt *ldlt);

// In place: x becomes the solution for the right side x, unknowns in the order of the graph.
void ldlt_solve(const Ldlt *ldlt, double *x);
// The same, counted; it is solved to the end whatever is answered.
void ldlt_solve_asking(const Ldlt *ldlt, double *x, Asker *asker);
