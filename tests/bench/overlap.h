// SPDX-License-Identifier: MIT
// How deep bodies lie in each other at given poses: our own geometry, whoever moved them there.
#pragma once

#include "base/arena.h"
#include "world/world.h"

typedef struct Overlap {
    double sum, touching; // of the contact points whose surfaces touch or overlap: depths, number
    double deepest;       // [m]
} Overlap;

// Adds the contact points of the world's bodies, were they at `pose`: seven numbers for each, in
// the order of the world's, whose centres of mass are their origins. The world stays as it is.
// false: memory ended, and nothing was added.
bool overlap_add(const World *world, const double *pose, Arena *scratch, Overlap *overlap);
