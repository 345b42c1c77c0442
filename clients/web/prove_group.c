// SPDX-License-Identifier: MIT
// An episode of a group's world: the world is made of the group's definition, and takes the rows of
// the calls that were its.
#include "log/definition.h"
#include "run/group_walk.h"
#include "web/prove_parts.h"

#include <math.h>

typedef struct Played {
    bool is_on, has_begun, has_calls;
    GroupWalk walk;
    Arena memory, scratch;
    uint64_t seed, turn;
    uint64_t begun_call, ended_call; // counted on the range from 1
    uint64_t calls;                  // that are behind
} Played;

static Played played;

void prove_end_group(void) {
    if (played.is_on) {
        group_walk_end(&played.walk);
        arena_deinit(&played.memory);
        arena_deinit(&played.scratch);
    }
    played = (Played){0};
}

bool prove_is_group(void) {
    return played.is_on;
}

static Status make_world(Prover *prover, size_t count, uint64_t world) {
    Chunk chunk;
    RecordingDef def;
    GroupCode code;
    Status status = prove_open_chunk(count, CHUNK_DEFINITION, &chunk);
    if (status == STATUS_OK) {
        status = definition_read(&chunk, &played.memory, &def, &prover->error);
    }
    if (status == STATUS_OK) {
        status = group_code_read(def.group, def.group_bytes, world, &played.memory, &code,
                                 &prover->error);
    }
    return status == STATUS_OK
               ? group_walk_make(&played.walk, &code, (uint32_t)(world % def.world_range),
                                 &prove_limits, &played.memory, &prover->error)
               : status;
}

int prove_group(size_t count, uint32_t world) {
    Prover *prover = prove_state();
    prove_end_world();
    arena_init(&played.memory, prove_limits.bytes_max);
    arena_init(&played.scratch, prove_limits.bytes_max);
    played.is_on = true;
    if (make_world(prover, count, world) != STATUS_OK) {
        prove_end_group();
        return prove_fail();
    }
    return 0;
}

void prove_episode(uint64_t seed, uint64_t turn, uint64_t begun_call, uint64_t ended_call) {
    Prover *prover = prove_state();
    played.seed = seed;
    played.turn = turn;
    played.begun_call = begun_call;
    played.ended_call = ended_call;
    played.has_begun = played.has_calls = false;
    prover->inputs.body = NULL;
    prover->step = 0;
    prover->shown = (ProveShown){0};
}

static int fail_by(const char *what) {
    error_set(&prove_state()->error, STATUS_DATA_LOSS, NULL, "%s", what);
    return prove_fail();
}

// The next call on the range. PROVE_STEP: it was taken.
static ProveNext take_call(Prover *prover) {
    Entry entry;
    if (!entry_next(prover->inputs.body, prover->inputs.body_bytes, &prover->at, &entry,
                    &prover->error)) {
        prover->inputs.body = NULL;
        return prover->error.status == STATUS_OK ? PROVE_END : PROVE_FAILED;
    }
    if (group_walk_take(&played.walk, &entry, played.calls, &prover->error) != STATUS_OK) {
        return (ProveNext)prove_fail();
    }
    return PROVE_STEP;
}

static void show(Prover *prover) {
    const GroupWorld *world = group_walk_world(&played.walk);
    prover->step = world->length;
    prover->shown =
        (ProveShown){.world = world->world, .stepper = world->stepper, .step = prover->step};
}

// Up to the call that began the episode, where it is in this chunk.
static int begin(Prover *prover) {
    while (!played.has_begun) {
        ProveNext next = take_call(prover);
        if (next != PROVE_STEP) {
            return next == PROVE_END ? 0 : prove_fail();
        }
        if (played.calls + 1 < played.begun_call) {
            played.calls++;
            continue;
        }
        GroupDifference found = {0};
        group_walk_begin(&played.walk, played.seed, played.turn, &played.scratch, &found);
        played.calls++;
        if (found.is_found) {
            return fail_by(found.message);
        }
        played.has_begun = true;
        show(prover);
    }
    return 0;
}

int prove_group_inputs(void) {
    Prover *prover = prove_state();
    if (!played.has_calls) {
        played.calls = prover->inputs.first_step;
        played.has_calls = true;
    }
    if (prover->inputs.first_step != played.calls) {
        return fail_by("calls before these are missing");
    }
    return begin(prover);
}

ProveNext prove_group_next(void) {
    Prover *prover = prove_state();
    prover->error = (Error){0};
    arena_reset(&prover->scratch);
    while (prover->inputs.body != NULL && played.calls < played.ended_call) {
        ProveNext next = take_call(prover);
        if (next != PROVE_STEP) {
            return next == PROVE_END ? next : (ProveNext)prove_fail();
        }
        played.calls++;
        if (!group_walk_is_named(&played.walk)) {
            continue;
        }
        GroupDifference found = {0};
        const uint64_t before = prover->step, open = played.walk.unconverged;
        group_walk_step(&played.walk, &played.scratch, NULL, &found);
        show(prover);
        prover->shown.has_converged = played.walk.unconverged == open;
        if (found.is_found) {
            return (ProveNext)fail_by(found.message);
        }
        if (prover->step > before) {
            return PROVE_STEP; // one that was cut off is none
        }
    }
    prover->inputs.body = NULL;
    return PROVE_END;
}
