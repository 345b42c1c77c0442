// SPDX-License-Identifier: MIT
#include "support/surface_build.h"

#include "base/assert.h"

#include <stdlib.h>

enum { SIDE = 70, POINTS = (SIDE + 1) * (SIDE + 1), TRIANGLES = 2 * SIDE * SIDE };

Id surface_floor(Lab *lab, double bump, Id material) {
    Vec3 *point = malloc(POINTS * sizeof(*point));
    uint32_t *corner = malloc(3 * TRIANGLES * sizeof(*corner)), *at = corner;
    uint64_t seed = 7;
    ASSERT(point != NULL && corner != NULL);
    for (uint32_t k = 0; k < POINTS; k++) {
        const uint32_t i = k % (SIDE + 1), j = k / (SIDE + 1);
        const double shift = i > 0 && i < SIDE && j > 0 && j < SIDE ? 0.3 : 0.0;
        const double x = i + lab_random(&seed, -shift, shift);
        const double y = j + lab_random(&seed, -shift, shift);
        point[k] =
            vec3(10.0 * x / SIDE - 5.0, 10.0 * y / SIDE - 5.0, bump * lab_random(&seed, -1.0, 1.0));
    }
    for (uint32_t k = 0; k < SIDE * SIDE; k++) {
        const uint32_t low = k / SIDE * (SIDE + 1) + k % SIDE, high = low + SIDE + 2;
        const uint32_t cell[6] = {low, low + 1, high, low, high, low + SIDE + 1};
        for (int i = 0; i < 6; i++) {
            *at++ = cell[i];
        }
    }
    const MeshForm form = {point, POINTS, corner, TRIANGLES, false, NULL};
    const Id shape = lab_mesh(lab, &form, material);
    free(point);
    free(corner);
    return shape;
}

Id surface_slope(Lab *lab, double slope, Id material) {
    enum { COLUMNS = 41, ROWS = 25 };
    double *height = malloc(COLUMNS * ROWS * sizeof(*height));
    ASSERT(height != NULL);
    const HeightForm form = {COLUMNS, ROWS, {0.3, 0.5}, height, NULL};
    for (uint32_t k = 0; k < COLUMNS * ROWS; k++) {
        height[k] = slope * 0.3 * (k % COLUMNS - 0.5 * (COLUMNS - 1));
    }
    const Id shape = lab_heights(lab, &form, material);
    free(height);
    return shape;
}
