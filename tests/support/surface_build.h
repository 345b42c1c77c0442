// SPDX-License-Identifier: MIT
// Ground of triangles, for tests.
#pragma once

#include "support/lab.h"

// A floor of 10 m by 10 m about the origin, of 9,800 triangles whose corners lie anywhere; flat, or
// with bumps of so many metres.
Id surface_floor(Lab *lab, double bump, Id material);

// A height field, z = slope x over 12 m by 12 m.
Id surface_slope(Lab *lab, double slope, Id material);
