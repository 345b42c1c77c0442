// SPDX-License-Identifier: MIT
// Where the cells of an elastic foundation meet a plane, or a face of a box: one point for each, in
// the middle of the cell, along the normal of what it meets.
#pragma once

#include "collide/narrow.h"

#define FOUNDATION_CELL (UINT64_C(1) << 31) // feature of a cell, with its number; others are below

// The face of a base that a foundation stands on, and the cells' points.
typedef struct FoundationGrid {
    Vec3 normal;    // of the base, out of it
    Vec3 point;     // of the base's face; of a box its middle
    Vec3 side[2];   // of a box's face, unit
    double half[2]; // how far it reaches along them; infinite: a plane
    Vec3 corner;    // of the cells' grid: the middle of the first one
    Vec3 step[2];   // from one cell to the next
    uint32_t cells[2];
    uint32_t count;
} FoundationGrid;

// Whether the face with the foundation looks at the base: else the box meets it with what it has
// on its other sides.
bool foundation_faces(const Primitive *box, const Pose *pose, const Primitive *base,
                      const Pose *base_pose);

FoundationGrid foundation_grid(const Primitive *box, const Pose *pose, const Primitive *base,
                               const Pose *base_pose);

// The point of one cell; its feature tells the cell. false: it is beside the base's face.
bool foundation_cell(const FoundationGrid *grid, uint32_t cell, ManifoldPoint *point);
