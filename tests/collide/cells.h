// SPDX-License-Identifier: MIT
// Surfaces of cells, for tests of what lies on many triangles.
#pragma once

#include "geometry/mesh.h"
#include "support/suite.h"

// A surface of two sides over the corners of side by side cells, row by row.
static inline Mesh *make_cells(const Vec3 *point, uint32_t side) {
    const uint32_t points = (side + 1) * (side + 1), triangles = 2 * side * side;
    uint32_t *corner = malloc((size_t)3 * triangles * sizeof(*corner)), *at = corner;
    for (uint32_t k = 0; k < side * side; k++) {
        const uint32_t low = k / side * (side + 1) + k % side, high = low + side + 2;
        const uint32_t cell[6] = {low, low + 1, high, low, high, low + side + 1};
        for (int i = 0; i < 6; i++) {
            *at++ = cell[i];
        }
    }
    const MeshForm form = {point, points, corner, triangles, true, NULL};
    const MeshNames names = {"points", "triangles", "patches"};
    Error error = {0};
    Mesh *mesh = malloc(mesh_bytes(points, triangles));
    ck_assert_int_eq(mesh_open(&form, &names, mesh, &error), STATUS_OK);
    free(corner);
    return mesh;
}
