// SPDX-License-Identifier: MIT
// Numbers that come back as the same bits when they are read: unit quaternions, which reading
// normalises, and places, to which it adds an arm.
#pragma once

#include "base/vec.h"

// A quaternion that is `unit` once it is normalised.
Quat unit_inverse(Quat unit);

// A place that is `sum` once `arm` is added to it, as far as there is one.
Vec3 unit_place_before(Vec3 sum, Vec3 arm);
