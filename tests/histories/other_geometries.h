// SPDX-License-Identifier: MIT
// Geometries seen otherwise: turned, mirrored or of another size they are other geometries, with
// other names and other bits.
#pragma once

#include "simulate/dice.h"
#include "world/world.h"

typedef struct OtherWay {
    double size; // of what was 1 long
    bool is_mirrored;
    Quat turn;  // after that. Height fields have no other frame: they stay as they are turned
    Dice *dice; // Nullable: say in which order faces, corners and triangles stand
} OtherWay;

// Every geometry of a world becomes another, in a frame that its primitives turn back: their
// surfaces are where they were, or, of those of another size or in a mirror, about the primitive's
// origin where that has them. false: one of those is none that may be, and all stay as they are.
bool other_geometries(World *world, const OtherWay *way);
