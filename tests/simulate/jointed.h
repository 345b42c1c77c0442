// SPDX-License-Identifier: MIT
// The joints that some worlds begin with, between the bodies of their start (model.h) and to the
// world, of coordinates and of rows, with drives: the same ones as a call for the server and as an
// input for the reference.
#pragma once

#include "moreau.pb-c.h"
#include "simulate/model.h"

enum { JOINTED_MAX = 2, JOINTED_AXES_MAX = 3 * JOINTED_MAX };

// The message points into it: not to be copied.
typedef struct Jointed {
    Moreau__V1__WorldAddJoints add; // of no joint: there are none
    Moreau__V1__Joint__Kind kind[JOINTED_MAX];
    uint64_t body[2][JOINTED_MAX];
    protobuf_c_boolean as_rows[JOINTED_MAX];
    double frame[2][7 * JOINTED_MAX];
    double stiffness[JOINTED_AXES_MAX], damping[JOINTED_AXES_MAX], target[JOINTED_AXES_MAX],
        target_velocity[JOINTED_AXES_MAX];
} Jointed;

void jointed_draw(Jointed *jointed, uint64_t seed, uint64_t world);
