// SPDX-License-Identifier: MIT
#include "collide/foundation.h"

#include "base/assert.h"

#include <math.h>

// A face that is turned further away than this from what it stands on (60 degrees) is none of it.
#define FACING_MIN 0.5

static Vec3 axis_of(Mat3 turn, uint32_t axis) {
    return axis == 0 ? turn.c0 : axis == 1 ? turn.c1 : turn.c2;
}

// The normal of the foundation's face, out of the box.
static Vec3 face_normal(const Primitive *box, Mat3 turn) {
    ASSERT(box->foundation.face >= 1 && box->foundation.face <= 6);
    uint32_t face = box->foundation.face - 1;
    Vec3 axis = axis_of(turn, face / 2);
    return face % 2 == 0 ? axis : vec3_neg(axis);
}

// The axis of a base box's face that looks most against `out`, and whether it is the negative one.
static uint32_t find_base_axis(Mat3 turn, Vec3 out, bool *is_negative) {
    uint32_t best = 0;
    double most = -1.0;
    for (uint32_t axis = 0; axis < 3; axis++) {
        double along = vec3_dot(axis_of(turn, axis), out);
        if (fabs(along) > most) {
            most = fabs(along);
            best = axis;
            *is_negative = along > 0.0;
        }
    }
    return best;
}

static void set_base(FoundationGrid *grid, const Primitive *base, const Pose *pose, Vec3 out) {
    ASSERT(base->kind == PRIMITIVE_PLANE || base->kind == PRIMITIVE_BOX);
    Mat3 turn = quat_to_mat3(pose->orientation);
    if (base->kind == PRIMITIVE_PLANE) {
        grid->normal = turn.c2;
        grid->point = pose->position;
        grid->side[0] = turn.c0;
        grid->side[1] = turn.c1;
        grid->half[0] = grid->half[1] = HUGE_VAL;
        return;
    }
    bool is_negative = false;
    uint32_t axis = find_base_axis(turn, out, &is_negative);
    Vec3 normal = axis_of(turn, axis);
    grid->normal = is_negative ? vec3_neg(normal) : normal;
    grid->point = vec3_add_scaled(pose->position, vec3_get(base->size, (int)axis), grid->normal);
    for (uint32_t k = 0; k < 2; k++) {
        uint32_t side = (axis + 1 + k) % 3;
        grid->side[k] = axis_of(turn, side);
        grid->half[k] = vec3_get(base->size, (int)side);
    }
}

bool foundation_faces(const Primitive *box, const Pose *pose, const Primitive *base,
                      const Pose *base_pose) {
    FoundationGrid grid;
    Vec3 out = face_normal(box, quat_to_mat3(pose->orientation));
    set_base(&grid, base, base_pose, out);
    return vec3_dot(out, grid.normal) < -FACING_MIN;
}

FoundationGrid foundation_grid(const Primitive *box, const Pose *pose, const Primitive *base,
                               const Pose *base_pose) {
    const Foundation *foundation = &box->foundation;
    Mat3 turn = quat_to_mat3(pose->orientation);
    Vec3 out = face_normal(box, turn);
    uint32_t axis = (foundation->face - 1) / 2;
    FoundationGrid grid;
    set_base(&grid, base, base_pose, out);
    grid.corner = vec3_add_scaled(pose->position, vec3_get(box->size, (int)axis), out);
    for (uint32_t k = 0; k < 2; k++) {
        uint32_t side = (axis + 1 + k) % 3;
        double half = vec3_get(box->size, (int)side), cells = (double)foundation->cells[k];
        grid.cells[k] = foundation->cells[k];
        grid.step[k] = vec3_scale(2.0 * half / cells, axis_of(turn, side));
        grid.corner = vec3_add_scaled(grid.corner, half / cells - half, axis_of(turn, side));
    }
    grid.count = grid.cells[0] * grid.cells[1];
    ASSERT(grid.count > 0);
    return grid;
}

bool foundation_cell(const FoundationGrid *grid, uint32_t cell, ManifoldPoint *point) {
    ASSERT(cell < grid->count);
    const uint32_t column = cell % grid->cells[0], row = cell / grid->cells[0];
    Vec3 at = vec3_add_scaled(grid->corner, (double)column, grid->step[0]);
    at = vec3_add_scaled(at, (double)row, grid->step[1]);
    Vec3 from = vec3_sub(at, grid->point);
    for (int k = 0; k < 2; k++) {
        if (fabs(vec3_dot(from, grid->side[k])) > grid->half[k]) {
            return false;
        }
    }
    double gap = vec3_dot(from, grid->normal);
    *point = (ManifoldPoint){.position = vec3_add_scaled(at, -0.5 * gap, grid->normal),
                             .gap = gap,
                             .feature = FOUNDATION_CELL | cell};
    return true;
}
