// SPDX-License-Identifier: MIT
// Groups for tests over the wire: Gymnasium's cart-pole, and calls on all of its worlds or some.
#pragma once

#include "support/wire_client.h"

enum { WIRE_GROUP_SEEN = 4 }; // columns: place and rate of the cart, angle and rate of the pole

// The call that makes one, with lists and texts of its own that live until the program ends: one
// action, the cart's force over 10 N; noise of 0.05 on all that is seen; bounds 2.4 m and 0.2095.
Moreau__V1__GroupCreate *wire_group_create_call(uint64_t count);

// Makes it; its id.
uint64_t wire_group(WireClient *client, uint64_t count);

// All worlds; `action` has a number for each of `count`.
Moreau__V1__GroupStep wire_group_step_call(uint64_t group, float *action, size_t count);
Moreau__V1__GroupReset wire_group_reset_call(uint64_t group);

const Moreau__V1__GroupStepReply *wire_group_reset(WireClient *client, uint64_t group);
const Moreau__V1__GroupStepReply *wire_group_step(WireClient *client, uint64_t group, float *action,
                                                  size_t count);

// Steps it as long as the command runs, from before it looks at anything; `said`: what that
// printed.
void wire_group_step_beside(WireClient *client, uint64_t group, size_t count, const char *command,
                            char *said, size_t capacity);
