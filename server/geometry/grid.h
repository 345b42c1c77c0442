// SPDX-License-Identifier: MIT
// A height field as what it is: heights over a grid, of which all else that a surface has follows.
// Points are numbered as the heights are, and the two triangles of cell k 2 k and 2 k + 1:
//
//     low + columns ── high          low = row columns + column; 2 k: low, low + 1, high,
//            │  2k+1  ╱ │            2 k + 1: low, high, low + columns
//            │     ╱  2k│
//           low ──── low + 1
//
// Kept beside the heights, which are borrowed: which triangles lie in one plane with others, told
// by a bit and, of those, a number each; and the lowest and highest of blocks of cells, of blocks
// of blocks, and so on. Rough terrain takes a byte a height besides. (mesh_grid.c)
#pragma once

#include "base/vec.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { GRID_BLOCK = 4, GRID_LEVELS_MAX = 20, GRID_RING_MAX = 6 };

// The heights of all corners of a block of GRID_BLOCK by GRID_BLOCK cells, or of two by two blocks
// of the level below; rounded outwards.
typedef struct GridBlock {
    float low, high;
} GridBlock;

typedef struct Grid {
    const double *height; // NULL: a mesh
    uint32_t columns, rows;
    double spacing[2];             // along x, along y [m]
    double half[2];                // of its sides: where the first height is, negated [m]
    const uint64_t *joined;        // a bit of each triangle: it is of another's face
    const uint32_t *joined_before; // of each 64 of them: how many such there are before
    const uint32_t *joined_face;   // of each such one
    uint32_t level_count;
    uint32_t level_columns[GRID_LEVELS_MAX]; // blocks along x; the last level has one
    uint32_t level_rows[GRID_LEVELS_MAX];
    const GridBlock *level[GRID_LEVELS_MAX];
} Grid;

static inline Vec3 grid_point(const Grid *grid, uint32_t column, uint32_t row) {
    return vec3(column * grid->spacing[0] - grid->half[0], row * grid->spacing[1] - grid->half[1],
                grid->height[(size_t)row * grid->columns + column]);
}

// Where a triangle's cell is.
typedef struct GridPlace {
    uint32_t column, row;
} GridPlace;
static inline GridPlace grid_place(const Grid *grid, uint32_t triangle) {
    const uint32_t cell = triangle / 2, row = cell / (grid->columns - 1);
    return (GridPlace){cell - row * (grid->columns - 1), row};
}

// How far from its cell's lowest corner a triangle's corner is, along x and along y.
static inline uint32_t grid_right(uint32_t triangle, uint32_t i) {
    return ((triangle & 1) == 0 ? 0x6u : 0x2u) >> i & 1;
}
static inline uint32_t grid_up(uint32_t triangle, uint32_t i) {
    return ((triangle & 1) == 0 ? 0x4u : 0x6u) >> i & 1;
}

static inline uint32_t grid_corner_number(const Grid *grid, uint32_t triangle, uint32_t i) {
    const GridPlace at = grid_place(grid, triangle);
    return (at.row + grid_up(triangle, i)) * grid->columns + at.column + grid_right(triangle, i);
}

static inline Vec3 grid_corner(const Grid *grid, uint32_t triangle, uint32_t i) {
    const GridPlace at = grid_place(grid, triangle);
    return grid_point(grid, at.column + grid_right(triangle, i), at.row + grid_up(triangle, i));
}

// The triangle beyond the edge from a corner to its next; UINT32_MAX: there is none.
static inline uint32_t grid_beyond(const Grid *grid, uint32_t triangle, uint32_t i) {
    const GridPlace at = grid_place(grid, triangle);
    const uint32_t across = 2 * (grid->columns - 1);
    if ((triangle & 1) == 0) { // below, right, over the diagonal
        return i == 0   ? at.row == 0 ? UINT32_MAX : triangle + 1 - across
               : i == 1 ? at.column + 2 == grid->columns ? UINT32_MAX : triangle + 3
                        : triangle + 1;
    }
    return i == 0           ? triangle - 1
           : i == 1         ? at.row + 2 == grid->rows ? UINT32_MAX : triangle - 1 + across
           : at.column == 0 ? UINT32_MAX
                            : triangle - 3;
}

static inline uint32_t grid_face(const Grid *grid, uint32_t triangle) {
    const uint64_t word = grid->joined[triangle / 64], bit = (uint64_t)1 << triangle % 64;
    if ((word & bit) == 0) {
        return triangle;
    }
    return grid->joined_face[grid->joined_before[triangle / 64] +
                             (uint32_t)__builtin_popcountll(word & (bit - 1))];
}

// The triangles at a point, in their order. Returns how many.
uint32_t grid_ring(const Grid *grid, uint32_t point, uint32_t ring[GRID_RING_MAX]);

// Cells whose columns and rows come within so much of a box, from the first to the last.
typedef struct GridRange {
    uint32_t first[2], last[2];
} GridRange;
// false: none.
bool grid_range(const Grid *grid, const double low[2], const double high[2], GridRange *range);
