// SPDX-License-Identifier: MIT
// Judges the numbers of forms from outside. How triangles hang together is judged where that is
// derived (mesh.c).
#include "base/assert.h"
#include "geometry/mesh.h"

#include <stdarg.h>
#include <stdio.h>

static const double high_part = 1e-6; // as mesh.h has it

__attribute__((format(printf, 4, 5))) static Status refuse(Error *error, const char *column,
                                                           size_t index, const char *format, ...) {
    char field[160], message[384];
    snprintf(field, sizeof(field), "%s[%zu]", column, index);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof(message), format, arguments);
    va_end(arguments);
    return error_set(error, STATUS_INVALID_ARGUMENT, field, "%s", message);
}

static Status check_counts(const MeshForm *form, const MeshNames *names, Error *error) {
    if (form->point_count < 3 || form->point_count > MESH_POINTS_MAX) {
        return error_set(error, STATUS_INVALID_ARGUMENT, names->points,
                         "A mesh has 3 to %d points, not %u.", MESH_POINTS_MAX, form->point_count);
    }
    if (form->triangle_count < 1 || form->triangle_count > MESH_TRIANGLES_MAX) {
        return error_set(error, STATUS_INVALID_ARGUMENT, names->triangles,
                         "A mesh has 1 to %d triangles, not %u.", MESH_TRIANGLES_MAX,
                         form->triangle_count);
    }
    return STATUS_OK;
}

static bool is_place(Vec3 p) {
    return fabs(p.x) <= MESH_COORDINATE_MAX && fabs(p.y) <= MESH_COORDINATE_MAX &&
           fabs(p.z) <= MESH_COORDINATE_MAX;
}

static Status check_points(const MeshForm *form, const MeshNames *names, Error *error) {
    Vec3 low = form->point[0], high = low;
    for (uint32_t i = 0; i < form->point_count; i++) {
        const Vec3 p = form->point[i];
        if (!is_place(p)) {
            return refuse(error, names->points, i,
                          "Each coordinate of a point must be between %g and %g m.",
                          -MESH_COORDINATE_MAX, MESH_COORDINATE_MAX);
        }
        low = vec3_min(low, p);
        high = vec3_max(high, p);
    }
    const Vec3 sides = vec3_sub(high, low);
    return fmax(sides.x, fmax(sides.y, sides.z)) >= MESH_SIZE_MIN
               ? STATUS_OK
               : error_set(error, STATUS_INVALID_ARGUMENT, names->points,
                           "A mesh is at least %g m long along one axis.", MESH_SIZE_MIN);
}

static Status check_triangle(const MeshForm *form, uint32_t triangle, const MeshNames *names,
                             Error *error) {
    const uint32_t *corner = &form->corner[3 * (size_t)triangle];
    Vec3 p[3];
    for (uint32_t i = 0; i < 3; i++) {
        if (corner[i] >= form->point_count) {
            return refuse(error, names->triangles, 3 * (size_t)triangle + i,
                          "There is no point %u: points are numbered from 0 and there are %u.",
                          corner[i], form->point_count);
        }
        p[i] = form->point[corner[i]];
    }
    double longest = 0.0;
    for (uint32_t i = 0; i < 3; i++) {
        longest = fmax(longest, vec3_norm(vec3_sub(p[(i + 1) % 3], p[i])));
    }
    const double twice_area = vec3_norm(vec3_cross(vec3_sub(p[1], p[0]), vec3_sub(p[2], p[0])));
    return twice_area > high_part * longest * longest
               ? STATUS_OK
               : refuse(error, names->triangles, triangle,
                        "A sliver or no triangle at all: %.3g m over its longest edge of %.3g m, "
                        "where a part in a million is the least. Leave it out.",
                        longest > 0.0 ? twice_area / longest : 0.0, longest);
}

static Status check_patches(const uint8_t *patch, uint32_t count, const MeshNames *names,
                            Error *error) {
    for (uint32_t i = 0; patch != NULL && i < count; i++) {
        if (patch[i] >= MESH_PATCHES_MAX) {
            return refuse(error, names->patches, i, "Patches are numbered from 0 to %d, not %u.",
                          MESH_PATCHES_MAX - 1, patch[i]);
        }
    }
    return STATUS_OK;
}

Status mesh_check(const MeshForm *form, const MeshNames *names, Error *error) {
    Status status = check_counts(form, names, error);
    status = STATUS_THEN(status, check_points(form, names, error));
    for (uint32_t i = 0; status == STATUS_OK && i < form->triangle_count; i++) {
        status = check_triangle(form, i, names, error);
    }
    return STATUS_THEN(status, check_patches(form->patch, form->triangle_count, names, error));
}

static Status check_grid(const HeightForm *form, const MeshNames *names, Error *error) {
    const uint64_t points = (uint64_t)form->columns * form->rows;
    if (form->columns < HEIGHTS_SIDE_MIN || form->rows < HEIGHTS_SIDE_MIN ||
        points > MESH_POINTS_MAX) {
        return error_set(error, STATUS_INVALID_ARGUMENT, names->points,
                         "A height field has at least %d columns and rows, and at most %d heights, "
                         "not %u x %u.",
                         HEIGHTS_SIDE_MIN, MESH_POINTS_MAX, form->columns, form->rows);
    }
    for (int axis = 0; axis < 2; axis++) {
        const double spacing = form->spacing[axis];
        const double side = spacing * ((axis == 0 ? form->columns : form->rows) - 1.0);
        if (!(spacing >= MESH_SIZE_MIN) || !(side <= MESH_COORDINATE_MAX)) {
            return refuse(error, names->triangles, (size_t)axis,
                          "Between two heights are at least %g m, and between the first and the "
                          "last at most %g m.",
                          MESH_SIZE_MIN, MESH_COORDINATE_MAX);
        }
    }
    return STATUS_OK;
}

// Over a cell of such sides; a taller step would be a wall of slivers.
static Status check_steps(const HeightForm *form, const MeshNames *names, Error *error) {
    const double least = fmin(form->spacing[0], form->spacing[1]);
    const uint32_t count = form->columns * form->rows;
    double low = HUGE_VAL, high = -HUGE_VAL;
    for (uint32_t i = 0; i < count; i++) {
        const double height = form->height[i];
        if (!(fabs(height) <= MESH_COORDINATE_MAX)) {
            return refuse(error, names->points, i, "A height is between %g and %g m.",
                          -MESH_COORDINATE_MAX, MESH_COORDINATE_MAX);
        }
        low = fmin(low, height);
        high = fmax(high, height);
    }
    const double across = fmax(form->spacing[0], form->spacing[1]);
    const double longest = 2.0 * fmax(high - low, across);
    return least > 2.0 * high_part * longest
               ? STATUS_OK
               : error_set(error, STATUS_INVALID_ARGUMENT, names->triangles,
                           "Cells of %.3g m under heights that differ by %.3g m would be slivers: "
                           "space them at least a part in 250,000 of that.",
                           least, high - low);
}

Status mesh_check_heights(const HeightForm *form, const MeshNames *names, Error *error) {
    Status status = check_grid(form, names, error);
    status = STATUS_THEN(status, check_steps(form, names, error));
    return STATUS_THEN(status, check_patches(form->patch, heights_cells(form), names, error));
}
