// SPDX-License-Identifier: MIT
// What is asked of a world as it stands, whoever brought it there. Each returns false when it has
// found something.
#pragma once

#include "histories/play.h"

// Finite, within what a float holds, orientations of unit length.
bool ask_finite(Play *play, const World *world);

// world_bytes against what the allocator says of each array.
bool ask_bytes(Play *play, const World *world);

// The snapshot of it is read, and written again as it was; and a state is put into a world alike.
bool ask_snapshot(Play *play, World *world);

// The world that its scene makes has that scene. Nothing is asked of one that no scene can say.
bool ask_scene(Play *play, const World *world);

// The inputs that the scene of a world makes, carried out at a new door. false: one was refused,
// which is a finding.
bool ask_make_scene(Play *play, const World *world, Door *door);
bool ask_can_be_said(const World *world);

// Sizes, masses, speeds and settings of every day.
bool ask_is_calm(const World *world);
