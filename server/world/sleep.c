// SPDX-License-Identifier: MIT
#include "world/sleep.h"

#include "base/array.h"
#include "base/assert.h"
#include "base/bytes.h"

#include <stdlib.h>

bool sleep_open(World *world) {
    if (world->body_count == 0) {
        return true;
    }
    if (world->sleep == NULL) {
        world->sleep = calloc(1, sizeof(WorldSleep));
        if (world->sleep == NULL) {
            return false;
        }
    }
    WorldSleep *sleep = world->sleep;
    if (!ARRAY_RESERVE(sleep->island, sleep->island_capacity, world->body_count) ||
        !ARRAY_RESERVE(sleep->rest, sleep->rest_capacity, world->body_count)) {
        return false;
    }
    for (; sleep->count < world->body_count; sleep->count++) {
        sleep->island[sleep->count] = SLEEP_AWAKE;
        sleep->rest[sleep->count] = 0.0;
    }
    return true;
}

void sleep_forget(World *world) {
    WorldSleep *sleep = world->sleep;
    if (sleep == NULL) {
        return;
    }
    free(sleep->island);
    free(sleep->rest);
    free(sleep->memory);
    free(sleep);
    world->sleep = NULL;
}

void sleep_close(World *world) {
    sleep_wake_all(world);
    sleep_forget(world);
}

size_t sleep_bytes(const World *world) {
    const WorldSleep *sleep = world->sleep;
    return sleep == NULL ? 0
                         : sizeof(*sleep) + sleep->island_capacity * sizeof(uint32_t) +
                               sleep->rest_capacity * sizeof(double) +
                               sleep->memory_capacity * sizeof(ContactMemory);
}

size_t sleep_told_count(const World *world) {
    const WorldSleep *sleep = world->sleep;
    size_t count = sleep == NULL ? 0 : sleep->count;
    while (count > 0 && sleep->island[count - 1] == SLEEP_AWAKE && sleep->rest[count - 1] == 0.0) {
        count--;
    }
    return count;
}

uint32_t sleep_count(const World *world) {
    return world->sleep == NULL ? 0 : world->sleep->asleep_count;
}

// ---- what they bore

static bool is_of_sleepers(const World *world, const ContactMemory *memory) {
    return sleep_is_asleep(world, memory->a) || sleep_is_asleep(world, memory->b);
}

// How many of a list are of sleepers.
static size_t count_of_sleepers(const World *world, const ContactMemory *memory, size_t count) {
    size_t of_sleepers = 0;
    for (size_t i = 0; i < count; i++) {
        of_sleepers += is_of_sleepers(world, &memory[i]);
    }
    return of_sleepers;
}

// Keeps of a list what is of sleepers, or what is not.
static size_t keep(const World *world, ContactMemory *memory, size_t count, bool of_sleepers) {
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        if (is_of_sleepers(world, &memory[i]) == of_sleepers) {
            memory[kept++] = memory[i];
        }
    }
    return kept;
}

// Merges into `to`, which has room, what of `from` is of sleepers, or is not: from behind, so that
// nothing is written over that is still to be read.
static size_t merge(const World *world, const ContactMemory *from, size_t from_count,
                    bool of_sleepers, ContactMemory *to, size_t to_count, size_t moved) {
    size_t end = to_count + moved, at = end;
    while (moved > 0) {
        ASSERT(from_count > 0);
        const ContactMemory *next = &from[from_count - 1];
        if (is_of_sleepers(world, next) != of_sleepers) {
            from_count--;
        } else if (to_count > 0 && world_memory_precedes(next, &to[to_count - 1])) {
            to[--at] = to[--to_count];
        } else {
            to[--at] = *next;
            from_count--;
            moved--;
        }
    }
    return end;
}

bool sleep_reserve(World *world, size_t more) {
    WorldSleep *sleep = world->sleep;
    return ARRAY_RESERVE(sleep->memory, sleep->memory_capacity, sleep->memory_count + more);
}

void sleep_take_memory(World *world) {
    WorldSleep *sleep = world->sleep;
    size_t moved = count_of_sleepers(world, world->memory, world->memory_count);
    ASSERT(sleep->memory_count + moved <= sleep->memory_capacity);
    sleep->memory_count = merge(world, world->memory, world->memory_count, true, sleep->memory,
                                sleep->memory_count, moved);
    world->memory_count = keep(world, world->memory, world->memory_count, false);
}

void sleep_drop_memory(World *world) {
    WorldSleep *sleep = world->sleep;
    sleep->memory_count = keep(world, sleep->memory, sleep->memory_count, true);
}

// What those who woke bore is theirs to start from again.
static void give_memory_back(World *world) {
    WorldSleep *sleep = world->sleep;
    size_t moved =
        sleep->memory_count - count_of_sleepers(world, sleep->memory, sleep->memory_count);
    // where memory ends they start from nothing, which is always right
    if (ARRAY_RESERVE(world->memory, world->memory_capacity, world->memory_count + moved)) {
        world->memory_count = merge(world, sleep->memory, sleep->memory_count, false, world->memory,
                                    world->memory_count, moved);
    }
    sleep_drop_memory(world);
}

// ---- from outside

static bool has_velocity(const World *world, uint32_t body) {
    static const double none[6];
    return !bytes_are_same(world->velocity + 6 * (size_t)body, none, sizeof(none));
}

bool sleep_body_is_sound(const World *world, uint32_t body) {
    const WorldSleep *sleep = world->sleep;
    uint32_t island = sleep->island[body];
    double rest = sleep->rest[body]; // written so that NaN fails
    if (!(rest >= 0.0 && rest <= world->settings.sleep_time)) {
        return false;
    }
    if (island == SLEEP_AWAKE) {
        return world->kind[body] == BODY_DYNAMIC || rest == 0.0;
    }
    if (world->kind[body] != BODY_DYNAMIC) {
        return island == body && rest == 0.0 && !has_velocity(world, body);
    }
    return island <= body && sleep->island[island] == island &&
           world->kind[island] == BODY_DYNAMIC && !has_velocity(world, body);
}

// Of sleepers, and of one island.
bool sleep_memory_is_sound(const World *world, const ContactMemory *memory) {
    if (memory->a >= world->body_count || memory->b >= world->body_count) {
        return false;
    }
    bool is_a = sleep_is_asleep(world, memory->a), is_b = sleep_is_asleep(world, memory->b);
    const uint32_t *island = world->sleep->island;
    return (is_a && is_b && island[memory->a] == island[memory->b]) ||
           (is_a && world->kind[memory->b] != BODY_DYNAMIC) ||
           (is_b && world->kind[memory->a] != BODY_DYNAMIC);
}

bool sleep_is_sound(World *world) {
    WorldSleep *sleep = world->sleep;
    bool is_sound = sleep_told_count(world) == sleep->count;
    sleep->asleep_count = 0;
    for (uint32_t body = 0; is_sound && body < sleep->count; body++) {
        is_sound = sleep_body_is_sound(world, body);
        sleep->asleep_count += sleep_is_asleep(world, body);
    }
    for (size_t i = 0; is_sound && i < sleep->memory_count; i++) {
        is_sound = sleep_memory_is_sound(world, &sleep->memory[i]);
    }
    return is_sound;
}

// ---- waking

static void wake(World *world, uint32_t body) {
    WorldSleep *sleep = world->sleep;
    sleep->asleep_count -= sleep_is_asleep(world, body);
    sleep->island[body] = SLEEP_AWAKE;
    sleep->rest[body] = 0.0;
}

void sleep_wake_all(World *world) {
    WorldSleep *sleep = world->sleep;
    if (sleep == NULL) {
        return;
    }
    for (uint32_t body = 0; body < sleep->count; body++) {
        wake(world, body);
    }
    give_memory_back(world);
}

// What was done to a body that never sleeps.
enum { UNDISTURBED, DISTURBED, MOVED };

// Marks the islands of what rested on those that were moved, and of what hung by a joint on those
// that were disturbed at all: a tree has its share of its base's velocity at once.
static void mark_resting(const World *world, const uint8_t *done, uint8_t *wakes) {
    const WorldSleep *sleep = world->sleep;
    for (size_t i = 0; i < sleep->memory_count; i++) {
        const ContactMemory *memory = &sleep->memory[i];
        if (done[memory->a] == MOVED || done[memory->b] == MOVED) {
            uint32_t sleeper = sleep_is_asleep(world, memory->a) ? memory->a : memory->b;
            wakes[sleep->island[sleeper]] = 1;
        }
    }
    for (size_t i = 0; i < world->joint_count; i++) {
        const uint32_t *body = world->joint[i].body;
        for (int s = 0; s < 2; s++) {
            const bool hangs = body[s] != JOINT_NO_BODY && body[1 - s] != JOINT_NO_BODY;
            if (hangs && done[body[s]] != UNDISTURBED && sleep_is_asleep(world, body[1 - s])) {
                wakes[sleep->island[body[1 - s]]] = 1;
            }
        }
    }
}

void sleep_disturb(World *world, const uint32_t *bodies, size_t count, bool has_moved) {
    WorldSleep *sleep = world->sleep;
    if (sleep == NULL) {
        return;
    }
    // per body what was done to it, also of those that are not known: they may bear sleepers all
    // the same; then per island whether it wakes
    uint8_t *marks = calloc((size_t)world->body_count + sleep->count, 1);
    if (marks == NULL) {
        sleep_wake_all(world); // more than need to, which is always right
        return;
    }
    uint8_t *done = marks, *wakes = marks + world->body_count;
    for (size_t i = 0; i < count; i++) {
        uint32_t body = bodies[i];
        if (world->kind[body] != BODY_DYNAMIC) {
            done[body] = has_moved ? MOVED : DISTURBED;
        }
        if (body < sleep->count) {
            sleep->rest[body] = 0.0;
        }
        if (sleep_is_still(world, body)) {
            wakes[sleep->island[body]] = 1;
        }
    }
    mark_resting(world, done, wakes);
    for (uint32_t body = 0; body < sleep->count; body++) {
        uint32_t island = sleep->island[body];
        if (island != SLEEP_AWAKE && wakes[island]) {
            wake(world, body);
        }
    }
    free(marks);
    give_memory_back(world);
}

// ---- removing

void sleep_remove_bodies(World *world, const uint32_t *bodies, uint32_t count) {
    sleep_disturb(world, bodies, count, true);
    WorldSleep *sleep = world->sleep;
    if (sleep == NULL) {
        return;
    }
    uint32_t kept = 0, next = 0;
    for (uint32_t body = 0; body < sleep->count; body++) {
        if (next < count && bodies[next] == body) {
            next++;
            continue;
        }
        uint32_t island = sleep->island[body];
        bool is_gone;
        sleep->rest[kept] = sleep->rest[body];
        sleep->island[kept++] = island == SLEEP_AWAKE
                                    ? SLEEP_AWAKE
                                    : island - world_count_below(bodies, count, island, &is_gone);
    }
    sleep->count = kept;
    sleep->memory_count = world_renumber_memory(sleep->memory, sleep->memory_count, bodies, count);
    if (kept == 0) {
        sleep_forget(world);
    }
}

bool sleep_trees_are_sound(const World *world) {
    const WorldTrees *trees = world->trees;
    for (uint32_t i = 0; trees != NULL && world->sleep != NULL && i < trees->tree_count; i++) {
        const TreeLink *link = tree_links(trees, &trees->tree[i]);
        for (uint32_t k = 1; k < trees->tree[i].link_count; k++) {
            const uint32_t a = link[0].body, b = link[k].body;
            const bool is_still = sleep_is_still(world, a);
            if (is_still != sleep_is_still(world, b) ||
                (is_still && world->sleep->island[a] != world->sleep->island[b])) {
                return false;
            }
        }
    }
    return true;
}
