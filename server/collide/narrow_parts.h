// SPDX-License-Identifier: MIT
// What narrow.c's table is made of: one function per pair of primitive kinds, the smaller kind
// first. Each adds the points with gap <= reach to a manifold whose count is 0 and sets the normal,
// from a to b; it leaves the count at 0 when there are none.
#pragma once

#include "collide/narrow.h"

typedef void NarrowProc(const Primitive *a, const Pose *pose_a, const Primitive *b,
                        const Pose *pose_b, double reach, Manifold *manifold);

NarrowProc sphere_sphere;
NarrowProc sphere_box;
NarrowProc sphere_plane;
NarrowProc box_box;
NarrowProc box_plane;
NarrowProc sphere_capsule;
NarrowProc box_capsule;
NarrowProc plane_capsule;
NarrowProc capsule_capsule;
NarrowProc sphere_cylinder;
NarrowProc plane_convex;
NarrowProc convex_convex; // any two that are bounded

// Negative, zero or positive, in a fixed order of all that makes two primitives of one kind differ,
// so that their pair can be put in an order of its own. First their sizes, then how they lie to
// each other, seen along a direction that turns with both: the order is theirs, wherever the
// world's axes are, and resting bodies do not change places. Two that see of each other what the
// other sees, as where one lies upside down on another, are told by a direction of the world.
double pair_order(const Primitive *a, const Pose *pose_a, const Primitive *b, const Pose *pose_b);

// The same, for who has the axes of both at hand.
double pair_order_seen(const Primitive *a, const Pose *pose_a, const Mat3 *axes_a,
                       const Primitive *b, const Pose *pose_b, const Mat3 *axes_b);
