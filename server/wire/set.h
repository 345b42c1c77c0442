// SPDX-License-Identifier: MIT
// What WorldSet asks for, from its message.
#pragma once

#include "base/arena.h"
#include "base/status.h"
#include "moreau.pb-c.h"
#include "run/worlds/input.h"

// Columns of the message, most of them borrowed. Blames columns of another length than their list,
// or than each other; what the numbers may be, the world judges.
Status set_order(const Moreau__V1__WorldSet *message, Arena *arena, SetOrder *order, Error *error);
