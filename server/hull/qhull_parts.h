// SPDX-License-Identifier: MIT
// What Qhull says, before it is a form; qhull_flatten.c makes its faces flat.
#pragma once

#include "hull/qhull.h"

#include <stdbool.h>

// Moves the corners of faces that are not flat until all are, to `slack` [m]. false: that did not
// succeed in some rounds, or without moving one by more than `way_max` [m].
bool qhull_flatten(QhullForm *built, double slack, double way_max);
