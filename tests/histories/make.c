// SPDX-License-Identifier: MIT
#include "histories/make.h"

#include "base/assert.h"
#include "histories/make_sunken.h"
#include "step/trees/flight.h"

#include <math.h>
#include <string.h>

// ---- chance

double make_uniform(Make *make, double low, double high) {
    return low + (high - low) * ((double)(dice_bits(&make->dice) >> 11) * 0x1p-53);
}

double make_magnitude(Make *make, double low, double high) {
    return low * pow(high / low, make_uniform(make, 0.0, 1.0));
}

double make_number(Make *make, double low, double high, double wild_low, double wild_high) {
    return make->mood == MOOD_WILD && make_chance(make, 20)
               ? make_magnitude(make, wild_low, wild_high)
               : make_magnitude(make, low, high);
}

bool make_chance(Make *make, uint64_t percent) {
    return dice_chance(&make->dice, percent);
}

uint32_t make_roll(Make *make, uint32_t sides) {
    return sides == 0 ? 0 : (uint32_t)dice_roll(&make->dice, sides);
}

void *make_column(Make *make, size_t count, size_t bytes) {
    void *column = arena_take_zeroed(make->arena, count, bytes);
    ASSERT(column != NULL);
    return column;
}

Quat make_turn(Make *make) {
    const uint32_t which = make_roll(make, 4);
    const double half = 0.70710678118654757;
    if (which == 0) {
        return quat_identity();
    }
    if (which == 1) { // a quarter of a turn about an axis
        double q[4] = {half, 0.0, 0.0, 0.0};
        q[1 + make_roll(make, 3)] = make_chance(make, 50) ? half : -half;
        return (Quat){q[0], q[1], q[2], q[3]};
    }
    double size = which == 2 ? 0.1 : 1.0; // nearly upright, or anyhow
    return quat_normalize((Quat){1.0 - (which == 3) * make_uniform(make, 0.0, 2.0),
                                 make_uniform(make, -size, size), make_uniform(make, -size, size),
                                 make_uniform(make, -size, size) + 1e-3});
}

uint32_t make_any_dynamic(Make *make) {
    const World *world = make->world;
    for (uint32_t tries = 0; world->body_count > 0 && tries < 8; tries++) {
        const uint32_t body = make_roll(make, world->body_count);
        if (world->kind[body] == BODY_DYNAMIC) {
            return body;
        }
    }
    return JOINT_NO_BODY;
}

uint32_t make_some(Make *make, uint32_t count, uint32_t wanted, uint32_t *chosen) {
    uint32_t found = 0;
    for (uint32_t i = 0; i < count && found < wanted; i++) {
        if (make_roll(make, count - i) < wanted - found) {
            chosen[found++] = i;
        }
    }
    return found;
}

// of what is told much: bodies that come at once, and those from which on no more come
enum { BRISK_BODIES_MAX = 3, BRISK_CROWD = 10 };

MakeScale make_scale(Dice *dice, bool is_brisk) {
    static const uint32_t sizes[] = {3, 3, 3, 6, 6, 6, 6, 12, 12, 30};
    static const double efforts[][2] = {{1e4, 10.0}, {1e5, 40.0},  {1e5, 40.0},  {1e5, 100.0},
                                        {1e6, 40.0}, {1e6, 100.0}, {1e6, 200.0}, {0.0, 0.0},
                                        {0.0, 0.0},  {0.0, 0.0}};
    if (is_brisk) {
        return (MakeScale){.bodies_max = 1 + (uint32_t)dice_roll(dice, BRISK_BODIES_MAX),
                           .budget = efforts[0][0],
                           .iterations = efforts[0][1],
                           .is_paved = dice_chance(dice, 30),
                           .is_brisk = true};
    }
    const uint64_t size = dice_roll(dice, sizeof(sizes) / sizeof(sizes[0])),
                   effort = dice_roll(dice, sizeof(efforts) / sizeof(efforts[0]));
    return (MakeScale){.bodies_max = sizes[size],
                       .budget = efforts[effort][0],
                       .iterations = efforts[effort][1],
                       .is_paved = dice_chance(dice, 30)};
}

// ---- deeds

enum {
    GROUP_SEEDS = 1 << 16,
    BRISK_LENGTHY_ONE_IN = 25,
    MEMORY_ONE_IN = 20,
    MEMORY_BRISK_ONE_IN = 150,
    SEEN = 4, // percent: in other units, or from elsewhere
    WIDE_SEEN = 20
};

// Whether a question is asked that costs as much as a hundred inputs.
static bool asks_at_length(Make *make, uint64_t percent) {
    return make_chance(make, percent) &&
           (!make->scale.is_brisk || make_roll(make, BRISK_LENGTHY_ONE_IN) == 0);
}

static Deed input_deed(Input input) {
    return (Deed){.kind = DEED_INPUT, .input = input};
}

Deed make_prologue(Make *make, uint32_t number) {
    if (number == 0) {
        return input_deed(make_settings(make, 30));
    }
    static Input (*const makers[MAKE_PROLOGUE - 1])(Make *) = {make_materials, make_geometries,
                                                               make_shapes, make_bodies};
    return input_deed(makers[number - 1](make));
}

static Input any_input(Make *make) {
    static Input (*const makers[])(Make *) = {make_materials, make_geometries, make_shapes,
                                              make_bodies,    make_joints,     make_set,
                                              make_remove,    make_step};
    enum { MAKERS = sizeof(makers) / sizeof(makers[0]) };
    static const uint32_t weights_of[2][MAKERS] = {{2, 3, 5, 12, 22, 22, 9, 45},
                                                   {2, 1, 5, 12, 22, 22, 12, 10}};
    const uint32_t *weights = weights_of[make->scale.is_brisk];
    uint32_t sum = 0, at = 0;
    for (size_t i = 0; i < MAKERS; i++) {
        sum += weights[i];
    }
    for (uint32_t rolled = make_roll(make, sum); rolled >= weights[at]; at++) {
        rolled -= weights[at];
    }
    const bool is_full = make->scale.is_brisk && make->world->body_count >= BRISK_CROWD;
    Input input = is_full && makers[at] == make_bodies ? make_remove(make) : makers[at](make);
    if (make_chance(make, 7)) {
        make_spoilt(make, &input);
    }
    return input;
}

// Bodies that no joint of coordinates holds yet: what a tree may still take up.
static uint32_t count_single(const World *world) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < world->body_count; i++) {
        count += world->kind[i] == BODY_DYNAMIC && world_joint_of_child(world, i) == JOINT_NONE;
    }
    return count;
}

bool history_has_wide_tree(const World *world) {
    bool has = false;
    for (uint32_t i = 0; world->trees != NULL && i < world->trees->tree_count; i++) {
        has = has || tree_is_wide(&world->trees->tree[i]);
    }
    return has;
}

// Towards a tree that is wide.
static Deed widen(Make *make) {
    return input_deed(count_single(make->world) < 2 ? make_bodies(make) : make_joints(make));
}

// By numbers of its own, so that histories are otherwise what they were before it was asked.
static bool asks_of_memory(const Make *make, uint32_t *seed) {
    Dice apart = dice_make(make->dice.state, 13);
    const uint64_t one_in = make->scale.is_brisk ? MEMORY_BRISK_ONE_IN : MEMORY_ONE_IN;
    const bool asks = dice_roll(&apart, one_in) == 0;
    *seed = (uint32_t)dice_roll(&apart, HISTORY_SEEDS);
    return asks;
}

Deed make_deed(Make *make) {
    uint32_t seed;
    if (asks_of_memory(make, &seed)) {
        return (Deed){.kind = DEED_MEMORY, .slot = seed};
    }
    if (make->scale.is_wide && !history_has_wide_tree(make->world) && make_chance(make, 95)) {
        return widen(make);
    }
    if (make->scale.is_sunken) {
        return make_sunken_deed(make);
    }
    if (asks_at_length(make, 2)) {
        return (Deed){.kind = DEED_GROUP, .slot = make_roll(make, GROUP_SEEDS)};
    }
    if (asks_at_length(make, make->scale.is_wide ? WIDE_SEEN : SEEN)) {
        return (Deed){.kind = make_chance(make, 50) ? DEED_UNITS : DEED_TURN,
                      .slot = make_roll(make, HISTORY_SEEDS)};
    }
    if (asks_at_length(make, 1)) {
        return (Deed){.kind = DEED_SCENE};
    }
    if (make_chance(make, 5)) {
        static const DeedKind kinds[] = {DEED_TAKE, DEED_TAKE, DEED_RESTORE, DEED_CLONE};
        return (Deed){.kind = kinds[make_roll(make, 4)], .slot = make_roll(make, HISTORY_SLOTS)};
    }
    return input_deed(any_input(make));
}
