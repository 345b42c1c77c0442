// SPDX-License-Identifier: MIT
// Worlds for tests over the wire: ground, and boxes and spheres above it, the same for the same
// seed; and the calls that nearly every test makes with them.
#pragma once

#include "support/wire_client.h"

enum { WIRE_GROUND = 1 }; // the ground's body id is the first

typedef struct WireWorld {
    uint64_t id;
    uint64_t body_count; // with the ground
} WireWorld;

// Body ids are 1 (the ground) to `falling` + 1; shapes 1 plane, 2 sphere, 3 box.
WireWorld wire_world(WireClient *client, uint32_t falling, uint64_t seed,
                     Moreau__V1__World__Lifetime lifetime);

// A world of the session with a handful of bodies.
uint64_t wire_small_world(WireClient *client);

// A step call on one world; the pointer `world` must outlive it.
Moreau__V1__WorldStep wire_step_call(uint64_t *world, uint64_t steps);

uint64_t wire_hash(WireClient *client, uint64_t world);
void wire_step(WireClient *client, uint64_t world, uint64_t steps);
uint64_t wire_step_count(WireClient *client, uint64_t world); // steps since creation
const Moreau__V1__StatsReply *wire_stats(WireClient *client, bool worlds);
void wire_destroy(WireClient *client, uint64_t world);
