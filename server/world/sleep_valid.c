// SPDX-License-Identifier: MIT
#include "world/sleep.h"
#include "world/world_valid.h"

static bool bodies_are_valid(const World *world, Defect *defect) {
    const WorldSleep *sleep = world->sleep;
    uint32_t asleep_count = 0;
    for (uint32_t body = 0; body < sleep->count; body++) {
        const uint32_t island = sleep->island[body];
        if (island != SLEEP_AWAKE && island >= sleep->count) {
            return defect_set(defect, "body", body, "it sleeps in an island of no body");
        }
        if (!sleep_body_is_sound(world, body)) {
            return defect_set(defect, "body", body,
                              "it sleeps and moves, or not with the first of its island");
        }
        asleep_count += sleep_is_asleep(world, body);
    }
    return asleep_count == sleep->asleep_count ||
           defect_set(defect, "body", asleep_count, "so many sleep, not asleep_count");
}

static bool impulses_are_valid(const World *world, Defect *defect) {
    const WorldSleep *sleep = world->sleep;
    for (size_t i = 0; i < sleep->memory_count; i++) {
        if (!sleep_memory_is_sound(world, &sleep->memory[i])) {
            return defect_set(defect, "sleeping impulse", i, "it is of none who sleeps, or of two");
        }
        if (i > 0 && !world_memory_precedes(&sleep->memory[i - 1], &sleep->memory[i])) {
            return defect_set(defect, "sleeping impulse", i,
                              "it stands twice, or before the last one");
        }
    }
    for (size_t i = 0; i < world->memory_count; i++) {
        if (sleep_is_asleep(world, world->memory[i].a) ||
            sleep_is_asleep(world, world->memory[i].b)) {
            return defect_set(defect, "impulse", i, "it is of a sleeper, and not kept with it");
        }
    }
    return true;
}

bool world_sleep_is_valid(const World *world, Defect *defect) {
    const WorldSleep *sleep = world->sleep;
    if (sleep == NULL) {
        return true;
    }
    if (sleep->count > world->body_count || sleep->count > sleep->island_capacity ||
        sleep->count > sleep->rest_capacity) {
        return defect_set(defect, "body", sleep->count, "sleep knows more bodies than there are");
    }
    if (world->settings.sleep_speed == 0.0 && sleep->asleep_count > 0) {
        return defect_set(defect, "body", 0, "some sleep where nothing does");
    }
    return bodies_are_valid(world, defect) && impulses_are_valid(world, defect) &&
           (sleep_trees_are_sound(world) ||
            defect_set(defect, "tree", 0, "some of its links sleep, and others do not"));
}
