// SPDX-License-Identifier: MIT
// The order in which to eliminate the unknowns of a sparse symmetric system, so that little fills
// in: approximate minimum degree on a quotient graph (Amestoy, Davis and Duff 1996, "An approximate
// minimum degree ordering algorithm"), written for blocks: a vertex is a block of `width` unknowns,
// and degrees count unknowns.
//
// What has been eliminated is kept as elements, each a list of the vertices that it joined, instead
// of the cliques that it made of them: no list grows, and memory is known beforehand. Vertices that
// became alike are one from then on, elements whose vertices are all in a newer one are absorbed.
// Ties go to the smaller index, so the order is a function of the graph alone.
#pragma once

#include "base/arena.h"
#include "base/status.h"
#include "base/stop.h"

#include <math.h>

// Undirected. Edge e joins end[2 e] and end[2 e + 1], which differ; an edge may be named twice.
typedef struct Graph {
    uint32_t vertex_count;
    const uint32_t *width; // [vertex_count], > 0
    size_t edge_count;     // < 2^31
    const uint32_t *end;   // [2 edge_count]
} Graph;

// The neighbours of vertex i are neighbour[first[i]] … neighbour[first[i + 1] - 1], in the order of
// the edges, each as often as it is named.
typedef struct Neighbours {
    size_t *first;       // [vertex_count + 1]
    uint32_t *neighbour; // [2 edge_count]
} Neighbours;

// All memory is the arena's. RESOURCE_EXHAUSTED when it ends.
Status order_neighbours(const Graph *graph, Arena *arena, Neighbours *out, Error *error);

// What the elimination of a graph may cost, and who may stop it being ordered.
typedef struct OrderLimit {
    double operations_max; // multiplications of a symmetric factor
    Asker *asker;          // Nullable
} OrderLimit;

#define ORDER_UNLIMITED ((OrderLimit){.operations_max = HUGE_VAL})

// Multiplications that columns of a symmetric factor take, with rows below them.
static inline double order_operations(double columns, double rows) {
    return columns * (rows * rows + rows * columns + columns * columns / 3.0) / 2;
}

// order[k] is the vertex that is eliminated as number k; *operations what all of it costs, at
// least, as a symmetric factor. Scratch is given back to the arena. RESOURCE_EXHAUSTED when the
// arena ends, or as soon as it is known to cost more than it may: then *operations says more than
// that. ABORTED when it was asked to stop.
Status order_minimum_degree(const Graph *graph, OrderLimit limit, Arena *arena, uint32_t *order,
                            double *operations, Error *error);
