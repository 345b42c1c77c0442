// SPDX-License-Identifier: MIT
// The inertia of a link with what hangs on it left free to give way: force and torque at the link's
// centre of mass that an acceleration of it takes,
//
//     f = linear a + across alpha,     t = across^T a + angular alpha
#pragma once

#include "base/vec.h"

typedef struct TreeArticulated {
    Sym3 linear, angular;
    Mat3 across;
} TreeArticulated;
