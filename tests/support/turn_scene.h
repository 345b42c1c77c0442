// SPDX-License-Identifier: MIT
// A scene as somebody else sees it, whose axes are turned against ours: gravity, places, motions
// and frames of joints are turned about the world's origin, and what happens must be the same,
// turned.
// What a scene gives in a body's own axes stays as it is, so planes turn with their bodies. Only
// bounds cannot be turned: they are taken away.
#pragma once

#include "base/vec.h"
#include "moreau.pb-c.h"

#include <stddef.h>

// A turn like no other: no axis comes to lie along one.
Quat turn_generic(void);

Quat turn_back(Quat turn);

// Takes the bounds away, from the scene that is not turned as well.
void turn_unbound(Moreau__V1__Scene *scene);

// In place. The scene is one that protobuf unpacked, without an allocator of its own.
void turn_scene(Moreau__V1__Scene *scene, Quat turn);

// Pairs of vectors, in place: wrenches and velocities of bodies, 6 numbers each.
void turn_pairs(double *packed, size_t count, Quat turn);

// Poses, 7 numbers each, in place.
void turn_poses(double *packed, size_t count, Quat turn);
