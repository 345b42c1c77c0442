// SPDX-License-Identifier: MIT
// The axes of box_axes.h, with vectors of four. Numbers are those of the formulas there one by one:
// no sum is taken in another order than by hand.
#pragma once

#include "base/simd.h"
#include "collide/box/box_axes.h"

static_assert(SIMD_COUNT == BOX_LANES, "axes are side by side");

// Squared sine below which two edges span no axis: their cross product has lost half its digits
#define EDGE_SINE_SQUARED_MIN 1e-12

INLINE Simd all_of(double x) {
    return (Simd){x, x, x, x};
}

// The axes of a box, and the offset.
INLINE Simd3 axes_of(const Box *box, Vec3 offset) {
    const Vec3 *axis = box->axis;
    return (Simd3){{axis[0].x, axis[1].x, axis[2].x, offset.x},
                   {axis[0].y, axis[1].y, axis[2].y, offset.y},
                   {axis[0].z, axis[1].z, axis[2].z, offset.z}};
}

INLINE Simd on_axes(Vec3 a, Simd3 axes) {
    return all_of(a.x) * axes.x + all_of(a.y) * axes.y + all_of(a.z) * axes.z;
}

// Along the normals of a box, whose axes the others' are seen on: how far it is to the other.
INLINE Simd part_faces(Simd t, const double half[3], const double other[3], const Simd seen[3]) {
    const Simd own = {half[0], half[1], half[2], 0.0};
    const Simd extent = own + all_of(other[0]) * simd_abs(seen[0]) +
                        all_of(other[1]) * simd_abs(seen[1]) + all_of(other[2]) * simd_abs(seen[2]);
    return simd_abs(t) - extent;
}

// The next of three, and the one after it.
INLINE Simd next_of(Simd x) {
    return (Simd){x[1], x[2], x[0], x[3]};
}

INLINE Simd last_of(Simd x) {
    return (Simd){x[2], x[0], x[1], x[3]};
}

// One edge of the first with all three of the second: how far apart they are.
INLINE Simd part_edges(const Box box[2], const Simd row[3], int i, BoxAxes *axes) {
    const int i1 = (i + 1) % 3, i2 = (i + 2) % 3;
    const double *a = box[0].half;
    const Simd b = {box[1].half[0], box[1].half[1], box[1].half[2], 0.0};
    const Simd p = row[i1], q = row[i2], r = row[i];
    const Simd squared = p * p + q * q;
    const Simd extent = all_of(a[i1]) * simd_abs(q) + all_of(a[i2]) * simd_abs(p) +
                        next_of(b) * simd_abs(last_of(r)) + last_of(b) * simd_abs(next_of(r));
    const Simd along = all_of(axes->t[0][i2]) * p - all_of(axes->t[0][i1]) * q;
    const Simd sine = simd_root(squared);
    const Simd apart = (simd_abs(along) - extent) / sine;
    simd_store(axes->along[i], along);
    simd_store(axes->sine[i], sine);
    const Simd edge =
        simd_choose(squared < all_of(EDGE_SINE_SQUARED_MIN), all_of(-HUGE_VAL), apart);
    simd_store(axes->edge[i], edge);
    return edge;
}

INLINE bool find_axes(const Box box[2], Vec3 offset, double reach, BoxAxes *axes) {
    const Simd3 first = axes_of(&box[0], offset), second = axes_of(&box[1], offset);
    const Simd row[3] = {on_axes(box[0].axis[0], second), on_axes(box[0].axis[1], second),
                         on_axes(box[0].axis[2], second)};
    const Simd column[3] = {on_axes(box[1].axis[0], first), on_axes(box[1].axis[1], first),
                            on_axes(box[1].axis[2], first)};
    const Simd t0 = {row[0][3], row[1][3], row[2][3], 0.0};
    const Simd t1 = {column[0][3], column[1][3], column[2][3], 0.0};
    const Simd of_first = part_faces(t0, box[0].half, box[1].half, column);
    const Simd of_second = part_faces(t1, box[1].half, box[0].half, row);
    simd_store(axes->face[0], of_first);
    simd_store(axes->face[1], of_second);
    if (simd_any((of_first > all_of(reach)) | (of_second > all_of(reach)))) {
        return false;
    }
    simd_store(axes->t[0], t0);
    simd_store(axes->t[1], t1);
    simd_store(axes->R[0], row[0]);
    simd_store(axes->R[1], row[1]);
    simd_store(axes->R[2], row[2]);
    const Simd of_two_edges =
        simd_max(part_edges(box, row, 0, axes), part_edges(box, row, 1, axes));
    const Simd most = simd_max(of_two_edges, part_edges(box, row, 2, axes));
    const double of_two = most[0] > most[1] ? most[0] : most[1];
    axes->edge_most = of_two > most[2] ? of_two : most[2];
    return true;
}
