// SPDX-License-Identifier: MIT
// Graphs of sparse systems, for tests: known shapes and random ones.
#pragma once

#include "base/order.h"

enum { GRAPH_VERTICES = 4096, GRAPH_EDGES = 16384 };

typedef enum GraphShape {
    GRAPH_SINGLE, // one vertex
    GRAPH_CHAIN,  // each vertex beside the next
    GRAPH_ARROW,  // the first vertex beside all others
    GRAPH_GRID,   // a square
    GRAPH_PARTS,  // chains of five that nothing joins
    GRAPH_RANDOM, // some edges named twice
    GRAPH_DENSE,  // every vertex beside every other
    GRAPH_SHAPES
} GraphShape;

typedef struct GraphBuild {
    uint32_t width[GRAPH_VERTICES];
    uint32_t end[2 * GRAPH_EDGES];
    Graph graph; // its arrays are those above
} GraphBuild;

// About so many vertices, each `width` unknowns wide, or from 1 to 7 where it is 0. The state of
// the random numbers must not be 0.
void graph_build(GraphBuild *build, GraphShape shape, uint32_t vertices, uint32_t width,
                 uint64_t *state);
