// SPDX-License-Identifier: MIT
// An episode of a group's world: the world is made of the group's definition, and takes the rows of
// the calls that were its.
#include "log/format/definition.h"
#include "run/groups/walk.h"
#include "run/groups/keyframe.h"
#include "step/snapshot/snapshot.h"
#include "web/prove_substeps.h"

#include <inttypes.h>
#include <string.h>

typedef struct Played {
    bool is_on, has_begun, has_calls;
    GroupWalk walk;
    Arena memory, scratch;
    uint64_t seed, turn;
    uint64_t begun_call, ended_call; // counted on the range from 1
    uint64_t calls;                  // that are behind
    GroupOpinionDef opinion;         // as it was asked for
    Substeps substeps;
    double numbers[PROVE_GROUP_COUNT];
} Played;

static Played played;

void prove_end_group(void) {
    if (played.is_on) {
        group_walk_end(&played.walk);
        substeps_deinit(&played.substeps);
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
    GroupCode code = {0};
    Status status = prove_open_chunk(count, CHUNK_DEFINITION, &chunk);
    if (status == STATUS_OK) {
        status = definition_read(&chunk, &played.memory, &def, &prover->error);
    }
    if (status == STATUS_OK) {
        status = group_code_read(def.group, def.group_bytes, world, &played.memory, &code,
                                 &prover->error);
    }
    played.opinion = code.def.opinion;
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
    substeps_init(&played.substeps);
    played.is_on = true;
    if (make_world(prover, count, world) != STATUS_OK) {
        prove_end_group();
        return prove_fail();
    }
    played.walk.group->report = &played.substeps.last;
    played.walk.is_paced = true; // to look at each substep
    return 0;
}

const double *prove_group_numbers(void) {
    if (!played.is_on) {
        return NULL;
    }
    const Group *group = played.walk.group;
    const GroupOpinionDef *opinion = &played.opinion;
    const double numbers[PROVE_GROUP_COUNT] = {
        group->substeps,    group->time_step, opinion->is_asked,     opinion->share,
        opinion->tolerance, opinion->doubt,   played.walk.hash_steps};
    memcpy(played.numbers, numbers, sizeof(numbers));
    return played.numbers;
}

void prove_episode(uint64_t seed, uint64_t turn, uint64_t begun_call, uint64_t ended_call,
                   uint64_t before) {
    Prover *prover = prove_state();
    played.seed = seed;
    played.turn = turn;
    played.begun_call = begun_call;
    played.ended_call = ended_call;
    played.walk.before = begun_call == 0 ? before : 0;
    played.walk.gain = (Gain){0};
    played.has_begun = played.has_calls = false;
    prover->inputs.body = NULL;
    prover->step = 0;
    prover->shown = (ProveShown){0};
}

const double *prove_gain(void) {
    static double numbers[PROVE_GAIN_COUNT];
    const Gain *gain = &played.walk.gain;
    numbers[0] = gain->sum;
    numbers[1] = gain->scale;
    numbers[2] = gain->step;
    return played.is_on ? numbers : NULL;
}

double prove_place(void) {
    return played.is_on ? (double)played.calls : prove_step();
}

double prove_compared(void) {
    return !played.is_on || !played.has_begun ? prove_step()
                                              : (double)(played.walk.compared - played.walk.before);
}

const Group *prove_group_made(void) {
    return played.is_on ? played.walk.group : NULL;
}

const Substeps *prove_group_substeps(void) {
    return played.is_on ? &played.substeps : NULL;
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

// `report` NULL: nothing was stepped.
static void show(Prover *prover, const StepReport *report) {
    const GroupWorld *world = group_walk_world(&played.walk);
    prover->step = group_walk_steps(&played.walk);
    prover->shown = (ProveShown){
        .world = world->world, .stepper = world->stepper, .report = report, .step = prover->step};
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
        show(prover, NULL);
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

// The next call in the inputs that names the world, which is not carried out yet. PROVE_END: there
// is none.
static ProveNext find_step(Prover *prover) {
    while (prover->inputs.body != NULL && played.calls < played.ended_call) {
        const size_t at = prover->at;
        const ProveNext next = take_call(prover);
        if (next != PROVE_STEP) {
            return next;
        }
        if (group_walk_is_named(&played.walk)) {
            prover->at = at;
            return PROVE_STEP;
        }
        played.calls++;
    }
    prover->inputs.body = NULL;
    return PROVE_END;
}

static void walk_step(GroupDifference *found) {
    Substeps *substeps = &played.substeps;
    const Group *group = played.walk.group;
    bool is_done;
    substeps_begin(substeps);
    do {
        is_done = group_walk_step(&played.walk, &played.scratch, NULL, found);
        if (group->world[0].substep > substeps->count) {
            substeps_after(substeps, group);
        }
        if (!is_done) {
            substeps_before(substeps, group);
        }
    } while (!is_done);
    substeps->is_doubtful = played.walk.call.row[0].is_doubtful;
}

// Carries the call out that was found. PROVE_SAME: the step was cut off, and is none.
static ProveNext run_step(Prover *prover) {
    const ProveNext next = take_call(prover);
    if (next != PROVE_STEP) {
        return next;
    }
    played.calls++;
    GroupDifference found = {0};
    const uint64_t before = prover->step;
    walk_step(&found);
    show(prover, played.substeps.count > 0 ? &played.substeps.report : NULL);
    if (found.is_found) {
        return (ProveNext)fail_by(found.message);
    }
    return prover->step > before ? PROVE_STEP : PROVE_SAME;
}

ProveNext prove_group_next(void) {
    Prover *prover = prove_state();
    prover->error = (Error){0};
    arena_reset(&prover->scratch);
    ProveNext next;
    do {
        next = find_step(prover);
        next = next == PROVE_STEP ? run_step(prover) : next;
    } while (next == PROVE_SAME);
    return next;
}

// ---- key-frames

// What the key-frame in the buffer says of the world.
static Status find_world(Prover *prover, size_t count, Chunk *chunk, GroupKeyframeWorld *world) {
    GroupKeyframe keyframe;
    Error *error = &prover->error;
    Status status = prove_open_chunk(count, CHUNK_KEYFRAME, chunk);
    if (status == STATUS_OK) {
        status = group_keyframe_open(chunk->body, chunk->body_bytes, &keyframe, error);
    }
    if (status == STATUS_OK && keyframe.count <= played.walk.world) {
        status = error_set(error, STATUS_DATA_LOSS, NULL, "it knows nothing of the world");
    }
    for (uint32_t i = 0; status == STATUS_OK && i <= played.walk.world; i++) {
        status = group_keyframe_next(&keyframe, world, error);
    }
    return status;
}

int prove_group_keyframe(size_t count) {
    Prover *prover = prove_state();
    Chunk chunk;
    GroupKeyframeWorld world;
    played.has_begun = played.has_calls = false;
    if (find_world(prover, count, &chunk, &world) != STATUS_OK) {
        return prove_fail();
    }
    if (!world.is_running || world.seed != played.seed || world.episode != played.turn ||
        world.length < played.walk.before) {
        return fail_by("it shows another episode");
    }
    if (group_keyframe_restore(played.walk.group, 0, &world, &played.scratch, &prover->error) !=
        STATUS_OK) {
        return prove_fail();
    }
    played.calls = chunk.first_step;
    played.has_begun = played.has_calls = true;
    played.walk.compared = world.length;
    prover->inputs.body = NULL;
    show(prover, NULL);
    return 0;
}

static bool is_same_world(const GroupKeyframeWorld *stored, Prover *prover) {
    const GroupWorld *world = group_walk_world(&played.walk);
    const size_t columns = played.walk.group->action.column_count;
    uint8_t *expected, *found;
    size_t expected_count, found_count;
    return stored->is_running && stored->seed == world->seed && stored->episode == world->episode &&
           stored->length == world->length && bytes_same_double(stored->begun, world->begun) &&
           stored->action_count == columns &&
           bytes_are_same(stored->actions, world->action, columns * sizeof(double)) &&
           group_keyframe_snapshot(played.walk.group, stored, &prover->scratch, &expected,
                                   &expected_count, &prover->error) == STATUS_OK &&
           snapshot_write_like(world->world, expected, expected_count, &prover->scratch, &found,
                               &found_count, &prover->error) == STATUS_OK &&
           expected_count == found_count && bytes_are_same(expected, found, found_count);
}

int prove_group_compare(size_t count) {
    Prover *prover = prove_state();
    Chunk chunk;
    GroupKeyframeWorld stored;
    if (find_world(prover, count, &chunk, &stored) != STATUS_OK) {
        return prove_fail();
    }
    if (chunk.first_step != played.calls) {
        return fail_by("calls before a key-frame are missing");
    }
    const bool is_same = is_same_world(&stored, prover);
    arena_reset(&prover->scratch);
    if (!is_same) {
        error_set(&prover->error, STATUS_DATA_LOSS, NULL,
                  "the key-frame behind step %" PRIu64 " is not the state that was stepped to",
                  group_walk_steps(&played.walk));
        return prove_fail();
    }
    played.walk.compared = stored.length;
    return 0;
}

// ---- a step that is tried in other ways

// What the world is, to become that again.
static bool keep_world(Arena *memory, GroupKeyframeWorld *kept, Error *error) {
    const Group *group = played.walk.group;
    uint8_t *snapshot;
    size_t count;
    if (snapshot_write_named(group->world[0].world, memory, &snapshot, &count, error) !=
        STATUS_OK) {
        return false;
    }
    Sink sink = {.bytes = arena_take(memory, group_keyframe_world_bytes(group, count))};
    if (sink.bytes == NULL) {
        error_set(error, STATUS_RESOURCE_EXHAUSTED, NULL, "memory ended");
        return false;
    }
    group_keyframe_add(group, 0, snapshot, count, &sink);
    GroupKeyframe keyframe = group_keyframe_of_one(sink.bytes, sink.count);
    return group_keyframe_next(&keyframe, kept, error) == STATUS_OK;
}

// Takes the step, looking, and goes back.
static ProveNext look_into_step(Prover *prover, const GroupKeyframeWorld *kept) {
    const size_t at = prover->at;
    const uint64_t calls = played.calls, compared = played.walk.compared,
                   unconverged = played.walk.unconverged, doubtful = played.walk.doubtful;
    const Gain gain = played.walk.gain;
    const ProveNext next = run_step(prover);
    if (next != PROVE_STEP) {
        return next;
    }
    if (group_keyframe_restore(played.walk.group, 0, kept, &played.scratch, &prover->error) !=
        STATUS_OK) {
        return (ProveNext)prove_fail();
    }
    prover->at = at;
    played.calls = calls;
    played.walk.compared = compared;
    played.walk.unconverged = unconverged;
    played.walk.doubtful = doubtful;
    played.walk.gain = gain;
    show(prover, NULL);
    return PROVE_STEP;
}

ProveNext prove_group_hold(uint32_t substep, Arena *memory, ProveHeld *held) {
    Prover *prover = prove_state();
    Substeps *substeps = &played.substeps;
    prover->error = (Error){0};
    arena_reset(&prover->scratch);
    ProveNext next;
    do {
        GroupKeyframeWorld kept;
        arena_reset(memory);
        next = find_step(prover);
        if (next == PROVE_STEP && !keep_world(memory, &kept, &prover->error)) {
            return (ProveNext)prove_fail();
        }
        substeps->held = held;
        substeps->held_at = substep;
        substeps->memory = memory;
        next = next == PROVE_STEP ? look_into_step(prover, &kept) : next;
        substeps->held = NULL;
    } while (next == PROVE_SAME);
    if (next == PROVE_STEP && substeps->status != STATUS_OK) {
        prover->error = substeps->error;
        return (ProveNext)prove_fail();
    }
    return next == PROVE_STEP && substep >= substeps->count
               ? (ProveNext)fail_by("the step has no such substep")
               : next;
}
