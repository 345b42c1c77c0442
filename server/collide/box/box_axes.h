// SPDX-License-Identifier: MIT
// The fifteen axes of two boxes, all of which are asked of nearly every pair, several at a time:
//
//   box_axes_simd.h    three axes side by side, in a vector of four
//   box_axes_avx2.c    where the machine has AVX2 and that is one register
//   box_axes.c         where it is two; the choice
//
// Every number is computed in one order, wherever it stands in a vector: all machines give the same
// bits.
#pragma once

#include "base/vec.h"

typedef struct Box {
    Vec3 center;
    Vec3 axis[3];
    double half[3];
} Box;

enum { BOX_LANES = 4 }; // three that count, and one that does not

typedef struct BoxAxes {
    // Axis i of the first on axis j of the second.
    _Alignas(BOX_LANES * sizeof(double)) double R[3][BOX_LANES];
    double t[2][BOX_LANES]; // the offset, from the first centre to the second, on each one's axes

    // How far apart they are along a face's normal; of each box.
    double face[2][BOX_LANES];

    // Of edge i of the first with edge j of the second: the sine between them; the offset along
    // what stands on both, times the sine; and how far apart they are along it, -HUGE_VAL where the
    // two span no axis.
    double sine[3][BOX_LANES], along[3][BOX_LANES], edge[3][BOX_LANES];
    double edge_most; // the largest of the nine
} BoxAxes;

// false: a face's axis knows that they are farther apart than the reach, and no edge was asked.
bool box_axes_find(const Box box[2], Vec3 offset, double reach, BoxAxes *axes);

// The same, for machines with AVX2 only.
bool box_axes_find_avx2(const Box box[2], Vec3 offset, double reach, BoxAxes *axes);
