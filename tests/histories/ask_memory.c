// SPDX-License-Identifier: MIT
#include "histories/ask_memory.h"

#include "base/assert.h"
#include "histories/variant.h"
#include "step/snapshot/snapshot.h"
#include "support/step_counts.h"
#include "world/sleep.h"

#include <malloc.h>

bool ask_counts(Play *play, const World *world, const Stepper *stepper, const Stepper *other) {
    const StepCount count = step_counts_differ(world, stepper, other);
    return count.of == NULL ||
           play_found(play, PROPERTY_MEMORY, count.of,
                      "a step has %zu %s, and where another stepper takes it %zu", count.one,
                      count.of, count.other);
}

// ---- rounds

// An array that is full grows by half of itself, or by a quarter: what steps leave there shows in
// so many rounds where a round leaves a tenth of what a step takes. In the first two, arrays grow,
// and the scratch memory becomes one block.
enum { ROUNDS = 10, ROUNDS_TO_GROW = 2, STEPS_MAX = 3 };

// What is asked for tens of steps of a world must cost little.
enum { BODIES_MAX = 24, JOINTS_MAX = 24, ROWS_MAX = 40 };

// In what solvers do between two questions, some milliseconds at most.
enum { QUESTIONS_MAX = 30 };

typedef struct Held {
    size_t stepper, world, scratch; // as they say
    size_t heap;                    // as the allocator says, or 0
} Held;

typedef struct Rounds {
    Play *play;
    const uint8_t *snapshot; // in the play's memory
    size_t snapshot_bytes;
    World *begin; // that is never stepped
    World *world;
    Stepper *stepper;
    Arena scratch;
    Push push;
    uint32_t steps;
    bool resets;  // the broad phase is made anew in each
    bool is_anew; // as was the world, where bodies or joints have left
    int questions;
    bool is_over; // it costs too much, or memory ended
} Rounds;

static bool make_world(Rounds *rounds, World **world) {
    Error error = {0};
    *world = NULL;
    return snapshot_read(rounds->snapshot, rounds->snapshot_bytes, &rounds->play->limits, world,
                         &error) == STATUS_OK ||
           play_found(rounds->play, PROPERTY_AGAIN, "own snapshot",
                      "its own snapshot is refused: %.300s", error.message);
}

// As it began. What no step moves, the collision caches may go on from where all are awake: what
// moves is looked at in every step, wherever it is.
static bool put_back(Rounds *rounds) {
    World *world = rounds->world;
    if (!world_is_alike(world, rounds->begin)) {
        rounds->is_anew = true;
        world_destroy(world);
        return make_world(rounds, &rounds->world);
    }
    const bool is_awake = sleep_count(world) == 0 && sleep_count(rounds->begin) == 0;
    ASSERT(world_copy_state(world, rounds->begin));
    world->bodies_moved = rounds->resets || !is_awake;
    return true;
}

static bool ask_to_stop(void *context) {
    return ++*(int *)context > QUESTIONS_MAX;
}

static void take_round(Rounds *rounds) {
    const Stop stop = {.asked = ask_to_stop, .context = &rounds->questions};
    World *world = rounds->world;
    Status status = STATUS_OK;
    for (uint32_t i = 0; status == STATUS_OK && i < rounds->steps; i++) {
        const bool is_whole = world->body_count == rounds->begin->body_count;
        const StepInput input = {.time_step = world->settings.time_step,
                                 .wrench_count = is_whole ? rounds->push.count : 0,
                                 .wrench_body = rounds->push.body,
                                 .wrench = rounds->push.wrench,
                                 .context = {.stop = &stop}};
        StepReport report;
        Error error = {0};
        status =
            stepper_run(rounds->stepper, world, &input, &rounds->scratch, NULL, &report, &error);
    }
    // a step that faults is one like others
    rounds->is_over = status == STATUS_ABORTED || status == STATUS_RESOURCE_EXHAUSTED ||
                      3 * rounds->stepper->contact_count + rounds->stepper->row_count > ROWS_MAX;
}

static Held held_by(const Rounds *rounds) {
    const struct mallinfo2 heap = mallinfo2(); // nothing where a sanitizer has its own
    const size_t broad = broad_bytes(rounds->stepper->broad);
    // what the broad phase remembers of boxes, and takes to follow them, depends on all of its past
    return (Held){.stepper = stepper_bytes(rounds->stepper) - (rounds->resets ? 0 : broad),
                  .world = world_bytes(rounds->world),
                  .scratch = rounds->resets ? rounds->scratch.total_bytes : 0,
                  .heap = heap.uordblks + heap.hblkhd};
}

static bool tell_growth(const Rounds *rounds, const char *who, size_t before, size_t after) {
    return play_found(rounds->play, PROPERTY_MEMORY, who,
                      "the %s holds %zu bytes after %u steps, and %zu after the same ones %d times",
                      who, before, rounds->steps * ROUNDS_TO_GROW, after, ROUNDS);
}

static bool is_no_more(const Rounds *rounds, const Held *before, const Held *after) {
    return after->stepper > before->stepper
               ? tell_growth(rounds, "stepper", before->stepper, after->stepper)
           : after->world > before->world
               ? tell_growth(rounds, "world", before->world, after->world)
           : after->scratch > before->scratch
               ? tell_growth(rounds, "scratch memory", before->scratch, after->scratch)
               : true;
}

// What steps leave behind that nobody tells of shows in every round. Worlds that are made anew, the
// allocator puts now here and now there.
static bool run(Rounds *rounds) {
    Held grown = {0}, last = {0};
    bool grows = true; // the heap, in every round
    for (int i = 0; i < ROUNDS; i++) {
        if (i > 0 && !put_back(rounds)) {
            return false;
        }
        take_round(rounds);
        if (rounds->is_over) {
            return true;
        }
        const Held held = held_by(rounds);
        grows = grows && (i < ROUNDS_TO_GROW || held.heap > last.heap);
        last = held;
        grown = i + 1 == ROUNDS_TO_GROW ? held : grown;
    }
    rounds->play->tally.rounds += ROUNDS;
    return is_no_more(rounds, &grown, &last) &&
           (!grows || rounds->is_anew || tell_growth(rounds, "heap", grown.heap, last.heap));
}

bool ask_memory(Play *play, const World *world, uint32_t seed) {
    if (world->body_count > BODIES_MAX || world->joint_count > JOINTS_MAX) {
        return true;
    }
    Dice dice = dice_make(seed, 12);
    uint8_t *snapshot;
    Rounds rounds = {.play = play,
                     .push = variant_push(world, &dice),
                     .steps = 1 + (uint32_t)dice_roll(&dice, STEPS_MAX),
                     .resets = dice_chance(&dice, 50)};
    ASSERT(snapshot_write(world, &play->memory, &snapshot, &rounds.snapshot_bytes, NULL) ==
           STATUS_OK);
    rounds.snapshot = snapshot;
    bool is_fine = make_world(&rounds, &rounds.begin) && make_world(&rounds, &rounds.world);
    if (is_fine) {
        rounds.stepper = stepper_create(play->limits.bytes_max);
        ASSERT(rounds.stepper != NULL);
        arena_init(&rounds.scratch, play->limits.bytes_max);
        is_fine = run(&rounds);
        arena_deinit(&rounds.scratch);
        stepper_destroy(rounds.stepper);
    }
    World *const made[] = {rounds.world, rounds.begin};
    for (size_t i = 0; i < sizeof(made) / sizeof(made[0]); i++) {
        if (made[i] != NULL) {
            world_destroy(made[i]);
        }
    }
    return is_fine;
}
