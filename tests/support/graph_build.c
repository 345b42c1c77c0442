// SPDX-License-Identifier: MIT
#include "support/graph_build.h"

#include "support/problem_build.h"
#include "support/suite.h"

static void join(GraphBuild *build, uint32_t a, uint32_t b) {
    size_t edge = build->graph.edge_count++;
    ck_assert_uint_lt(edge, GRAPH_EDGES);
    build->end[2 * edge] = a;
    build->end[2 * edge + 1] = b;
}

static uint32_t random_below(uint64_t *state, uint32_t limit) {
    return (uint32_t)((problem_build_random(state) + 1.0) * 0.5 * limit);
}

static void join_grid(GraphBuild *build, uint32_t side) {
    for (uint32_t i = 0; i < side * side; i++) {
        if (i % side + 1 < side) {
            join(build, i, i + 1);
        }
        if (i + side < side * side) {
            join(build, i, i + side);
        }
    }
}

static void join_random(GraphBuild *build, uint64_t *state) {
    uint32_t count = build->graph.vertex_count;
    for (uint32_t k = 0; k < 3 * count; k++) {
        uint32_t a = random_below(state, count), b = random_below(state, count);
        if (a != b) {
            join(build, a, b);
        }
    }
}

static void join_shape(GraphBuild *build, GraphShape shape, uint64_t *state) {
    uint32_t count = build->graph.vertex_count;
    for (uint32_t i = 1; i < count; i++) {
        if (shape == GRAPH_CHAIN || (shape == GRAPH_PARTS && i % 5 != 0)) {
            join(build, i, i - 1);
        } else if (shape == GRAPH_ARROW) {
            join(build, 0, i);
        }
        for (uint32_t j = 0; shape == GRAPH_DENSE && j < i; j++) {
            join(build, i, j);
        }
    }
    if (shape == GRAPH_RANDOM) {
        join_random(build, state);
    }
}

void graph_build(GraphBuild *build, GraphShape shape, uint32_t vertices, uint32_t width,
                 uint64_t *state) {
    uint32_t side = 1;
    while ((side + 1) * (side + 1) <= vertices) {
        side++;
    }
    uint32_t count = shape == GRAPH_SINGLE ? 1 : shape == GRAPH_GRID ? side * side : vertices;
    ck_assert_uint_le(count, GRAPH_VERTICES);
    build->graph = (Graph){.vertex_count = count, .width = build->width, .end = build->end};
    for (uint32_t i = 0; i < count; i++) {
        build->width[i] = width != 0 ? width : 1 + random_below(state, 7);
    }
    if (shape == GRAPH_GRID) {
        join_grid(build, side);
    } else {
        join_shape(build, shape, state);
    }
}
