// SPDX-License-Identifier: MIT
// Hulls for tests, built the slow and obvious way: a plane through three points that has all others
// behind it is a face's.
#pragma once

#include "collide/geometry.h"
#include "geometry/hull.h"

// Corners of the hull of up to HULL_VERTICES_MAX points, of which those are left out that are none
// of its corners. Owned by the caller: hull_free.
const Hull *hull_of_points(const Vec3 *point, uint32_t count);
const Hull *hull_of_box(Vec3 half);
const Hull *hull_of_prism(uint32_t sides, double radius, double half_length);
// `count` points on an ellipsoid.
const Hull *hull_of_dice(Dice *dice, uint32_t count, Vec3 half);
void hull_free(const Hull *hull);

// The form as hull_check takes it, which the hull has passed.
HullForm hull_form_of_points(const Vec3 *point, uint32_t count);
void hull_form_free(HullForm *form);
