// SPDX-License-Identifier: MIT
// The shelf, for who makes what stands on it (geometry_bytes.c).
#pragma once

#include "geometry/geometry.h"

// Puts one there that was made: a block of malloc's, with one holder. Someone else may have put the
// same one there in between: then that one.
const Geometry *geometry_put(GeometryShelf *shelf, Geometry *made);
