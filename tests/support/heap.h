// SPDX-License-Identifier: MIT
// A heap of bodies for tests that need many contacts of every kind: spheres, boxes, compounds with
// an off-centre mass, on a floor, beside a moving wall, with restitution and several materials.
// Made from a seed; no two seeds alike.
#pragma once

#include "support/lab.h"

Lab heap_create(uint64_t seed, int body_count);
