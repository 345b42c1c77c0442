// SPDX-License-Identifier: MIT
// Joints between messages and columns. On the wire a limit, an effort or a force that breaks of
// 1e18 (a lower limit of -1e18) says that there is none, as no number there is infinite.
#pragma once

#include "base/arena.h"
#include "base/status.h"
#include "moreau.pb-c.h"
#include "run/worlds/input.h"

#define JOINTS_NONE 1e18

// Columns of the message, most of them borrowed. Blames columns of another length than the kinds
// ask for.
Status joints_columns(const Moreau__V1__WorldAddJoints *message, Arena *arena,
                      JointColumns *columns, Error *error);

// What would make a world's joints; in the arena, NULL when it ends. Borrows from the world.
Moreau__V1__WorldAddJoints *joints_definition(const World *world, Arena *arena);

// Their numbers. false: the arena ends.
bool joints_numbers(const World *world, Arena *arena, Moreau__V1__WorldGetReply *message);
