// SPDX-License-Identifier: MIT
// How far two worlds are apart, body by body. Pure.
#pragma once

#include "world/world.h"

typedef struct Distance {
    bool has_other_bodies; // some are in one of them only; the rest is of those in both
    bool has_other_bits;   // of a pose or velocity
    double distance;       // [m] the largest between two centres of mass …
    Id distance_body;      // … of this one; 0: none is apart
    double angle;          // [rad] the largest turn from one orientation to the other, 0 … pi
    Id angle_body;
} Distance;

Distance distance_of(const World *was, const World *is);
