// SPDX-License-Identifier: MIT
// Where the contacts of a problem are when its trees have moved: what a solver asks that is to meet
// gaps at the end of the step, not at its begin. A problem that comes without a world has none.
#pragma once

#include "solve/problem.h"

// What a contact is like elsewhere.
typedef struct GeometryContact {
    bool is_found;    // its feature is there; else the rest says nothing
    Vec3 normal;      // from a to b
    Vec3 tangent[2];  // tangent[1] = normal x tangent[0]
    Vec3 arm[2];      // of sides that are free: from the centre of mass to the contact point [m]
    double gap;       // [m]
    double motion[3]; // known surface velocity [m/s]
} GeometryContact;

// For `count` contacts of the problem, by index: what they are like when all trees have moved with
// velocities v, [velocity_count], for the time step, by the rotation rule of the product. Of v only
// what the contacts' trees have is read. The same v gives the same bits, whatever else is asked.
typedef struct GeometryAsk {
    void (*move)(void *user, const double *v, const uint32_t *contact, uint32_t count,
                 GeometryContact *moved);
    void *user;
} GeometryAsk;
