// SPDX-License-Identifier: MIT
// Who sleeps in a world with settings.sleep_speed above 0. Islands fall asleep in a step, as a
// whole (step/sleep.c); here stands who is asleep, and who wakes when the world is changed from
// outside. Worlds that do not sleep have nothing of this.
//
// Every body has the number of its island, SLEEP_AWAKE where it is awake. Of a dynamic body that
// sleeps it is the first body of its island; it has no velocity, and no contact with anything that
// is awake. Static bodies, and kinematic ones without a velocity, that the last step found where
// they are now are islands of their own: nobody wakes for their sake.
//
// What sleepers bore when they fell asleep is kept apart from the impulses of those awake, so that
// it costs nothing until they wake.
#pragma once

#include "world/world.h"

#define SLEEP_AWAKE UINT32_MAX

struct WorldSleep {
    uint32_t count;        // bodies that it knows; those behind have come since, and are awake
    uint32_t asleep_count; // dynamic ones
    uint32_t *island;
    double *rest; // [s] for how long a dynamic body has been at rest; at most settings.sleep_time
    size_t island_capacity, rest_capacity;
    ContactMemory *memory; // with at least one sleeper; sorted as the world's
    size_t memory_count, memory_capacity;
};

// Makes it know all bodies. false: memory ends.
bool sleep_open(World *world);

// Wakes all and forgets it; only forgets it.
void sleep_close(World *world);
void sleep_forget(World *world);

size_t sleep_bytes(const World *world);

static inline bool sleep_is_still(const World *world, uint32_t body) {
    const WorldSleep *sleep = world->sleep;
    return sleep != NULL && body < sleep->count && sleep->island[body] != SLEEP_AWAKE;
}

static inline bool sleep_is_asleep(const World *world, uint32_t body) {
    return world->kind[body] == BODY_DYNAMIC && sleep_is_still(world, body);
}

uint32_t sleep_count(const World *world); // of bodies asleep

// Whether numbers that come from outside can be so; counts who is asleep.
bool sleep_is_sound(World *world);
// The same of a body that it knows, and of an impulse that it keeps.
bool sleep_body_is_sound(const World *world, uint32_t body);
bool sleep_memory_is_sound(const World *world, const ContactMemory *memory);
// Whether trees of joints sleep as a whole.
bool sleep_trees_are_sound(const World *world);

// Of how many bodies there is anything to say: those behind are awake, and were not at rest.
size_t sleep_told_count(const World *world);

// Settings have changed.
void sleep_wake_all(World *world);

// The state of these bodies was set from outside, or they go: wakes their islands, and what rested
// on those of them that are static or kinematic and were moved; what hangs on one of those by a
// joint wakes also where it was given a velocity alone.
void sleep_disturb(World *world, const uint32_t *bodies, size_t count, bool has_moved);

// Takes bodies out, as world_remove_bodies does.
void sleep_remove_bodies(World *world, const uint32_t *bodies, uint32_t count);

// Once islands have fallen asleep in a step, or been woken: what the new sleepers bear moves over
// from the world's memory, for which `sleep_reserve` has made room, and what woke is forgotten.
bool sleep_reserve(World *world, size_t more);
void sleep_take_memory(World *world);
void sleep_drop_memory(World *world);
