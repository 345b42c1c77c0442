// SPDX-License-Identifier: MIT
// Height fields while they are derived, and asked what is near and what a ray meets: the same as
// of a mesh of their triangles, to the bit, as it is the least of what is tested alike.
#include "geometry/grid.h"

#include "base/assert.h"
#include "geometry/mesh_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// ---- whom a point has around it

uint32_t grid_ring(const Grid *grid, uint32_t point, uint32_t ring[GRID_RING_MAX]) {
    const uint32_t row = point / grid->columns, column = point - row * grid->columns;
    ASSERT(row < grid->rows);
    uint32_t count = 0;
    for (uint32_t up = 0; up < 2; up++) { // cells of the row below, then of its own
        if (up == 0 ? row == 0 : row + 1 == grid->rows) {
            continue;
        }
        const uint32_t first = 2 * ((row + up - 1) * (grid->columns - 1) + column);
        if (column > 0) { // of the cell to its left it is the highest corner, or the second
            ring[count++] = first - 2;
            if (up == 0) {
                ring[count++] = first - 1;
            }
        }
        if (column + 1 < grid->columns) { // of that to its right the last one, or the lowest
            if (up == 1) {
                ring[count++] = first;
            }
            ring[count++] = first + 1;
        }
    }
    return count;
}

// ---- ranges

// The cell of a coordinate, or one beside it.
static uint32_t cell_near(double x, uint32_t cells) {
    return !(x > 0.0) ? 0 : x >= cells - 1 ? cells - 1 : (uint32_t)x;
}

static double line_at(const Grid *grid, int axis, uint32_t line) {
    return line * grid->spacing[axis] - grid->half[axis];
}

bool grid_range(const Grid *grid, const double low[2], const double high[2], GridRange *range) {
    for (int axis = 0; axis < 2; axis++) {
        const uint32_t cells = (axis == 0 ? grid->columns : grid->rows) - 1;
        uint32_t first =
            cell_near((low[axis] + grid->half[axis]) / grid->spacing[axis] - 1.0, cells);
        uint32_t last =
            cell_near((high[axis] + grid->half[axis]) / grid->spacing[axis] + 1.0, cells);
        while (first < last && line_at(grid, axis, first + 1) < low[axis]) {
            first++;
        }
        while (last > first && line_at(grid, axis, last) > high[axis]) {
            last--;
        }
        if (!(line_at(grid, axis, first) <= high[axis]) ||
            !(line_at(grid, axis, last + 1) >= low[axis])) {
            return false;
        }
        range->first[axis] = first;
        range->last[axis] = last;
    }
    return true;
}

// ---- deriving

static uint32_t blocks_over(uint32_t count, uint32_t side) {
    return (count + side - 1) / side;
}

static void lay_out_levels(Grid *grid, GridBlock *level[GRID_LEVELS_MAX], Block *block) {
    uint32_t columns = blocks_over(grid->columns - 1, GRID_BLOCK),
             rows = blocks_over(grid->rows - 1, GRID_BLOCK), k = 0;
    for (;; k++, columns = blocks_over(columns, 2), rows = blocks_over(rows, 2)) {
        ASSERT(k < GRID_LEVELS_MAX);
        grid->level_columns[k] = columns;
        grid->level_rows[k] = rows;
        grid->level[k] = level[k] = block_take(block, (size_t)columns * rows, sizeof(GridBlock));
        if (columns == 1 && rows == 1) {
            break;
        }
    }
    grid->level_count = k + 1;
}

// Of the heights of the lowest blocks' corners.
static void fill_lowest(const Grid *grid, GridBlock *lowest) {
    for (uint32_t row = 0; row < grid->level_rows[0]; row++) {
        for (uint32_t column = 0; column < grid->level_columns[0]; column++) {
            double low = HUGE_VAL, high = -HUGE_VAL;
            const uint32_t right = GRID_BLOCK * (column + 1), top = GRID_BLOCK * (row + 1);
            for (uint32_t j = GRID_BLOCK * row; j <= top && j < grid->rows; j++) {
                for (uint32_t i = GRID_BLOCK * column; i <= right && i < grid->columns; i++) {
                    const double height = grid->height[(size_t)j * grid->columns + i];
                    low = fmin(low, height);
                    high = fmax(high, height);
                }
            }
            lowest[(size_t)row * grid->level_columns[0] + column] =
                (GridBlock){mesh_round_down(low), mesh_round_up(high)};
        }
    }
}

static void fill_level(const Grid *grid, uint32_t k, GridBlock *level) {
    ASSERT(k > 0 && k < grid->level_count);
    const uint32_t columns = grid->level_columns[k - 1], rows = grid->level_rows[k - 1];
    for (uint32_t row = 0; row < grid->level_rows[k]; row++) {
        for (uint32_t column = 0; column < grid->level_columns[k]; column++) {
            GridBlock all = {HUGE_VALF, -HUGE_VALF};
            for (uint32_t j = 2 * row; j < 2 * row + 2 && j < rows; j++) {
                for (uint32_t i = 2 * column; i < 2 * column + 2 && i < columns; i++) {
                    const GridBlock *part = &grid->level[k - 1][(size_t)j * columns + i];
                    all.low = part->low < all.low ? part->low : all.low;
                    all.high = part->high > all.high ? part->high : all.high;
                }
            }
            level[(size_t)row * grid->level_columns[k] + column] = all;
        }
    }
}

static uint32_t words_of(const Grid *grid) {
    return (2 * (grid->columns - 1) * (grid->rows - 1) + 63) / 64;
}

void grid_lay_out(Grid *grid, GridDraft *draft, size_t joined_count, Block *block) {
    ASSERT(grid->columns >= 2 && grid->rows >= 2);
    draft->joined = block_take(block, words_of(grid), sizeof(uint64_t));
    draft->joined_before = block_take(block, words_of(grid), sizeof(uint32_t));
    draft->joined_face = block_take(block, joined_count, sizeof(uint32_t));
    grid->joined = draft->joined;
    grid->joined_before = draft->joined_before;
    grid->joined_face = draft->joined_face;
    lay_out_levels(grid, draft->level, block);
}

void grid_fill(const Grid *grid, GridDraft *draft, const uint32_t *face) {
    const uint32_t count = 2 * (grid->columns - 1) * (grid->rows - 1);
    uint32_t joined = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (i % 64 == 0) {
            draft->joined[i / 64] = 0;
            draft->joined_before[i / 64] = joined;
        }
        if (face[i] != i) {
            draft->joined[i / 64] |= (uint64_t)1 << i % 64;
            draft->joined_face[joined++] = face[i];
        }
    }
    fill_lowest(grid, draft->level[0]);
    for (uint32_t k = 1; k < grid->level_count; k++) {
        fill_level(grid, k, draft->level[k]);
    }
}

// ---- blocks, from above

// Of a level, or, where it is `level_count`, of nothing yet.
typedef struct GridAt {
    uint32_t level, column, row;
} GridAt;

enum { STACK_MAX = 4 * GRID_LEVELS_MAX };

// Cells of a block, from the first to the last, that are in a range. false: none.
static bool cells_of(const Grid *grid, const GridAt *at, const GridRange *range, GridRange *cells) {
    const uint32_t shift = 2 + at->level; // GRID_BLOCK is 4
    const uint32_t place[2] = {at->column, at->row}, count[2] = {grid->columns - 1, grid->rows - 1};
    for (int axis = 0; axis < 2; axis++) {
        const uint32_t first = place[axis] << shift;
        const uint32_t end =
            first + (1u << shift) < count[axis] ? first + (1u << shift) : count[axis];
        cells->first[axis] = first > range->first[axis] ? first : range->first[axis];
        cells->last[axis] = end - 1 < range->last[axis] ? end - 1 : range->last[axis];
        if (cells->first[axis] > cells->last[axis]) {
            return false;
        }
    }
    return true;
}

static const GridBlock *block_at(const Grid *grid, const GridAt *at) {
    ASSERT(at->level < grid->level_count && at->column < grid->level_columns[at->level]);
    return &grid->level[at->level][(size_t)at->row * grid->level_columns[at->level] + at->column];
}

// The lowest level of which a range lies in few blocks, from which on they are asked.
static uint32_t level_over(const Grid *grid, const GridRange *range) {
    ASSERT(range->last[0] >= range->first[0] && range->last[1] >= range->first[1]);
    const uint32_t wide = range->last[0] - range->first[0], deep = range->last[1] - range->first[1];
    uint32_t level = 0;
    while (level + 1 < grid->level_count && (wide | deep) >> (2 + level) != 0) {
        level++;
    }
    return level;
}

// Puts those blocks of a level that a range is in there; how many: at most four.
static uint32_t push_range(const GridRange *range, uint32_t level, GridAt *stack) {
    const uint32_t shift = 2 + level;
    uint32_t count = 0;
    for (uint32_t row = range->first[1] >> shift; row <= range->last[1] >> shift; row++) {
        for (uint32_t column = range->first[0] >> shift; column <= range->last[0] >> shift;
             column++) {
            ASSERT(count < 4);
            stack[count++] = (GridAt){level, column, row};
        }
    }
    return count;
}

// Those below a block, so that what is nearer along a way comes first from the top of the stack.
static uint32_t push_below(const Grid *grid, const GridAt *at, const bool is_back[2],
                           GridAt *stack) {
    ASSERT(at->level > 0);
    const uint32_t level = at->level - 1;
    uint32_t count = 0;
    for (uint32_t k = 4; k-- > 0;) {
        const GridAt below = {level, 2 * at->column + ((k & 1) ^ (is_back[0] ? 1 : 0)),
                              2 * at->row + ((k >> 1) ^ (is_back[1] ? 1 : 0))};
        if (below.column < grid->level_columns[level] && below.row < grid->level_rows[level]) {
            stack[count++] = below;
        }
    }
    return count;
}

// ---- what is near

static void offer_cell(const Grid *grid, uint32_t column, uint32_t row, const GridNear *near) {
    ASSERT(column + 1 < grid->columns && row + 1 < grid->rows);
    Vec3 corner[2][2]; // along y, along x
    double low = HUGE_VAL, high = -HUGE_VAL;
    for (uint32_t j = 0; j < 2; j++) {
        for (uint32_t i = 0; i < 2; i++) {
            corner[j][i] = grid_point(grid, column + i, row + j);
            low = fmin(low, corner[j][i].z);
            high = fmax(high, corner[j][i].z);
        }
    }
    if (!(low <= near->high.z && near->low.z <= high)) {
        return;
    }
    const uint32_t first = 2 * (row * (grid->columns - 1) + column);
    for (uint32_t k = 0; k < 2; k++) {
        const double third = k == 0 ? corner[0][1].z : corner[1][0].z;
        const double least = fmin(fmin(corner[0][0].z, corner[1][1].z), third),
                     most = fmax(fmax(corner[0][0].z, corner[1][1].z), third);
        const uint64_t key = (uint64_t)grid_face(grid, first + k) << 32 | (first + k);
        if (least <= near->high.z && near->low.z <= most && (near->is_first || key > near->after)) {
            mesh_offer(near->keys, key);
        }
    }
}

void grid_near(const Grid *grid, const GridNear *near) {
    const double low[2] = {near->low.x, near->low.y}, high[2] = {near->high.x, near->high.y};
    static const bool is_back[2] = {false, false};
    GridRange range, cells;
    if (!grid_range(grid, low, high, &range)) {
        return;
    }
    GridAt stack[STACK_MAX];
    uint32_t count = push_range(&range, level_over(grid, &range), stack);
    while (count > 0) {
        const GridAt at = stack[--count];
        const GridBlock *block = block_at(grid, &at);
        if (!((double)block->low <= near->high.z && near->low.z <= (double)block->high) ||
            !cells_of(grid, &at, &range, &cells)) {
            continue;
        }
        if (at.level > 0) {
            count += push_below(grid, &at, is_back, stack + count);
            ASSERT(count <= STACK_MAX);
            continue;
        }
        for (uint32_t row = cells.first[1]; row <= cells.last[1]; row++) {
            for (uint32_t column = cells.first[0]; column <= cells.last[0]; column++) {
                offer_cell(grid, column, row, near);
            }
        }
    }
}

// ---- rays

static const double slack_part = 1e-9; // of all sizes: more than roundings make

// Where a way is at all over the box of a grid.
static bool find_range(const Grid *grid, const MeshWay *way, double slack, GridRange *range) {
    const GridBlock *all = grid->level[grid->level_count - 1];
    double in = 0.0, out = 1.0;
    mesh_pass_axis(way->origin.z, way->inverse.z, (double)all->low - slack,
                   (double)all->high + slack, &in, &out);
    if (in > out + slack_part) {
        return false;
    }
    double low[2], high[2];
    for (int axis = 0; axis < 2; axis++) {
        const double from =
            vec3_get(way->origin, axis) + (in - slack_part) * vec3_get(way->way, axis);
        const double to =
            vec3_get(way->origin, axis) + (out + slack_part) * vec3_get(way->way, axis);
        low[axis] = fmin(from, to) - slack;
        high[axis] = fmax(from, to) + slack;
    }
    return grid_range(grid, low, high, range);
}

static bool passes(const Grid *grid, const GridRange *cells, const GridBlock *block,
                   const MeshWay *way, double slack, double reach) {
    const Vec3 low = vec3(line_at(grid, 0, cells->first[0]) - slack,
                          line_at(grid, 1, cells->first[1]) - slack, (double)block->low);
    const Vec3 high = vec3(line_at(grid, 0, cells->last[0] + 1) + slack,
                           line_at(grid, 1, cells->last[1] + 1) + slack, (double)block->high);
    return mesh_passes(low, high, way, reach);
}

static void meet_cell(const Grid *grid, uint32_t column, uint32_t row, const MeshWay *way,
                      MeshHit *hit) {
    ASSERT(column + 1 < grid->columns && row + 1 < grid->rows);
    const uint32_t first = 2 * (row * (grid->columns - 1) + column);
    const Vec3 low = grid_point(grid, column, row), high = grid_point(grid, column + 1, row + 1);
    const Vec3 right = grid_point(grid, column + 1, row), left = grid_point(grid, column, row + 1);
    mesh_meet(low, right, high, first, false, way, hit);
    mesh_meet(low, high, left, first + 1, false, way, hit);
}

static void meet_cells(const Grid *grid, const GridRange *cells, const MeshWay *way, MeshHit *hit) {
    for (uint32_t row = cells->first[1]; row <= cells->last[1]; row++) {
        for (uint32_t column = cells->first[0]; column <= cells->last[0]; column++) {
            meet_cell(grid, column, row, way, hit);
        }
    }
}

void grid_enters(const Grid *grid, const MeshWay *way, MeshHit *hit) {
    const bool is_back[2] = {way->way.x < 0.0, way->way.y < 0.0};
    GridRange range, cells;
    const double slack =
        slack_part * (grid->half[0] + grid->half[1] + vec3_norm(way->origin) + vec3_norm(way->way));
    if (!find_range(grid, way, slack, &range)) {
        return;
    }
    if (range.last[0] - range.first[0] < 2 && range.last[1] - range.first[1] < 2) {
        meet_cells(grid, &range, way, hit); // so few, as below what is vertical: no block is asked
        return;
    }
    GridAt stack[STACK_MAX];
    uint32_t count = push_range(&range, level_over(grid, &range), stack);
    while (count > 0) {
        const GridAt at = stack[--count];
        const double reach = hit->fraction < 1.0 ? hit->fraction : 1.0;
        if (!cells_of(grid, &at, &range, &cells) ||
            !passes(grid, &cells, block_at(grid, &at), way, slack, reach)) {
            continue;
        }
        if (at.level > 0) {
            count += push_below(grid, &at, is_back, stack + count);
            ASSERT(count <= STACK_MAX);
            continue;
        }
        meet_cells(grid, &cells, way, hit);
    }
}
