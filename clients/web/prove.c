// SPDX-License-Identifier: MIT
#include "web/prove.h"

#include "base/arena.h"
#include "log/chunk.h"
#include "log/entries.h"
#include "run/apply.h"
#include "run/record_columns.h"
#include "step/snapshot.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

// What a page may take of a person's memory.
static const WorldLimits limits = {.body_count_max = 1000000, .bytes_max = (size_t)1 << 30};

typedef struct Prover {
    uint8_t *buffer;
    size_t capacity;
    World *world; // NULL: there was no key-frame yet
    Stepper *stepper;
    uint64_t step; // of the recording
    Chunk inputs;  // body NULL: none
    size_t at;     // of the next entry in it
    Entry entry;   // being carried out, while has_run
    Input order;
    StepRun run;
    uint32_t hash_at; // of the next step's hash in the entry
    bool has_run, has_arenas;
    Arena entry_arena, scratch;
    Error error;
    double report[PROVE_REPORT_COUNT];
    double time; // [s] of the world
    uintptr_t view[PROVE_FRAME_COUNT];
} Prover;

static Prover prover;

static int fail(void) {
    prover.inputs.body = NULL;
    return PROVE_FAILED;
}

uint32_t prove_version(void) {
    return DYNAMICS_VERSION;
}

double prove_step(void) {
    return (double)prover.step;
}

const char *prove_message(void) {
    return prover.error.message;
}

uint8_t *prove_buffer(size_t count) {
    if (count > prover.capacity) {
        uint8_t *grown = realloc(prover.buffer, count);
        if (grown == NULL) {
            return NULL;
        }
        prover.buffer = grown;
        prover.capacity = count;
    }
    prover.inputs.body = NULL;
    return prover.buffer;
}

// The chunk in the buffer, of one kind.
static Status open_chunk(size_t count, ChunkKind kind, Chunk *chunk) {
    prover.error = (Error){0};
    Status status = chunk_open(prover.buffer, count, NULL, chunk, &prover.error);
    if (status == STATUS_OK && chunk->kind != kind) {
        status = error_set(&prover.error, STATUS_INVALID_ARGUMENT, NULL, "it is no %s",
                           chunk_kind_name((uint32_t)kind));
    }
    return status;
}

static void end_world(void) {
    if (prover.world != NULL) {
        world_destroy(prover.world);
        stepper_destroy(prover.stepper);
        prover.world = NULL;
    }
    if (!prover.has_arenas) {
        arena_init(&prover.entry_arena, limits.bytes_max);
        arena_init(&prover.scratch, limits.bytes_max);
        prover.has_arenas = true;
    }
    prover.has_run = false;
}

int prove_keyframe(size_t count) {
    Chunk chunk;
    if (open_chunk(count, CHUNK_KEYFRAME, &chunk) != STATUS_OK) {
        return fail();
    }
    end_world();
    Stepper *stepper = stepper_create(limits.bytes_max);
    Status status =
        stepper == NULL
            ? error_set(&prover.error, STATUS_RESOURCE_EXHAUSTED, NULL, "memory ended")
            : snapshot_read(chunk.body, chunk.body_bytes, &limits, &prover.world, &prover.error);
    if (status != STATUS_OK) {
        if (stepper != NULL) {
            stepper_destroy(stepper);
        }
        prover.world = NULL;
        return fail();
    }
    prover.stepper = stepper;
    prover.step = chunk.first_step;
    return 0;
}

int prove_inputs(size_t count) {
    Chunk chunk;
    if (open_chunk(count, CHUNK_INPUTS, &chunk) != STATUS_OK) {
        return fail();
    }
    if (prover.world == NULL) {
        error_set(&prover.error, STATUS_FAILED_PRECONDITION, NULL, "there was no key-frame");
        return fail();
    }
    prover.inputs = chunk;
    prover.at = 0;
    prover.has_run = false;
    return 0;
}

int prove_compare(size_t count) {
    Chunk chunk;
    uint8_t *bytes;
    size_t written;
    if (open_chunk(count, CHUNK_KEYFRAME, &chunk) != STATUS_OK || prover.world == NULL ||
        snapshot_write(prover.world, &prover.scratch, &bytes, &written, &prover.error) !=
            STATUS_OK) {
        return fail();
    }
    bool same = chunk.first_step == prover.step && written == chunk.body_bytes &&
                memcmp(bytes, chunk.body, written) == 0;
    arena_reset(&prover.scratch);
    if (!same) {
        error_set(&prover.error, STATUS_DATA_LOSS, NULL,
                  "the key-frame of step %" PRIu64 " is not the state that was stepped to",
                  chunk.first_step);
        return fail();
    }
    return 0;
}

// ---- steps

static Status compare_hash(uint32_t index) {
    uint64_t expected = entry_hash(&prover.entry, index), found = snapshot_hash(prover.world);
    if (expected == found) {
        return STATUS_OK;
    }
    return error_set(&prover.error, STATUS_DATA_LOSS, NULL,
                     "behind step %" PRIu64 " the state's hash is 0x%016" PRIx64
                     " instead of 0x%016" PRIx64,
                     prover.step, found, expected);
}

// The next entry: a change is carried out, an order of steps begun. False: the inputs have ended.
static bool next_entry(Status *status) {
    *status = STATUS_OK;
    prover.has_run = false;
    arena_reset(&prover.entry_arena);
    if (!entry_next(prover.inputs.body, prover.inputs.body_bytes, &prover.at, &prover.entry,
                    &prover.error)) {
        *status = prover.error.status;
        return false;
    }
    InputBytes bytes = {prover.entry.input, prover.entry.input_bytes};
    if (prover.entry.step != prover.step) {
        *status = error_set(&prover.error, STATUS_DATA_LOSS, NULL,
                            "inputs of step %" PRIu64 " follow on step %" PRIu64, prover.entry.step,
                            prover.step);
        return true;
    }
    *status = input_decode(bytes, &prover.entry_arena, &prover.order, &prover.error);
    if (*status != STATUS_OK) {
        return true;
    }
    if (prover.order.kind == INPUT_STEP) {
        prover.has_run = true;
        prover.hash_at = 0;
        *status = apply_begin(prover.world, &prover.order, &prover.entry_arena, &prover.run,
                              &prover.error);
        return true;
    }
    *status = apply_change(prover.world, prover.stepper, &prover.order, &prover.entry_arena, NULL,
                           NULL, &prover.error);
    if (*status == STATUS_OK && prover.entry.hash_count > 0) {
        *status = compare_hash(0);
    }
    return true;
}

static ProveNext take_step(void) {
    uint32_t index = prover.hash_at++;
    bool fails = (prover.entry.flags & ENTRY_FAULTED) != 0 && index + 1 == prover.entry.hash_count;
    prover.run.steps_left = 1;
    Status status =
        apply_step(prover.world, prover.stepper, &prover.run, &prover.scratch, NULL, &prover.error);
    if ((status != STATUS_OK) != fails) {
        if (fails) {
            error_set(&prover.error, STATUS_DATA_LOSS, NULL,
                      "the step behind %" PRIu64 " failed when it was recorded, and does not here",
                      prover.step);
        }
        return PROVE_FAILED;
    }
    prover.step += !fails;
    if (compare_hash(index) != STATUS_OK) {
        return PROVE_FAILED;
    }
    return fails ? PROVE_FAULT : PROVE_STEP;
}

ProveNext prove_next(void) {
    prover.error = (Error){0};
    if (prover.inputs.body == NULL) {
        return PROVE_END;
    }
    arena_reset(&prover.scratch);
    while (!prover.has_run || prover.hash_at == prover.entry.hash_count) {
        Status status;
        bool is_there = next_entry(&status);
        if (status != STATUS_OK) {
            return (ProveNext)fail();
        }
        if (!is_there) {
            prover.inputs.body = NULL;
            return PROVE_END;
        }
    }
    ProveNext next = take_step();
    return next == PROVE_FAILED ? (ProveNext)fail() : next;
}

// ---- what became of it

const double *prove_report(void) {
    const StepReport *report = &prover.run.tally.last;
    const Certificate *certificate = &report->certificate;
    memcpy(prover.report, certificate->entry, sizeof(certificate->entry));
    const double rest[] = {certificate->converged, certificate->penetration,
                           report->contact_count,  report->row_count,
                           report->iterations,     certificate->tolerance,
                           report->energy.before,  report->energy.after,
                           report->energy.applied, (double)certificate->worst_contact};
    static_assert(sizeof(certificate->entry) + sizeof(rest) == sizeof(prover.report),
                  "a report is the entries and the rest");
    memcpy(prover.report + CERTIFICATE_ENTRY_COUNT, rest, sizeof(rest));
    return prover.report;
}

const uintptr_t *prove_frame(void) {
    StateFrame frame;
    FrameJoints joints;
    if (prover.world == NULL ||
        frame_columns(prover.world, prover.step, &prover.scratch, &frame, &prover.error) !=
            STATUS_OK ||
        joint_columns(prover.world, &prover.scratch, &joints, &prover.error) != STATUS_OK) {
        return NULL;
    }
    prover.time = frame.time;
    const uintptr_t view[PROVE_FRAME_COUNT] = {prover.world->body_count,
                                               (uintptr_t)prover.world->body_id,
                                               (uintptr_t)frame.pose,
                                               (uintptr_t)frame.velocity,
                                               (uintptr_t)&prover.time,
                                               joints.position_count,
                                               joints.axis_count,
                                               (uintptr_t)frame.joint_position,
                                               (uintptr_t)frame.joint_velocity,
                                               (uintptr_t)frame.joint_target,
                                               (uintptr_t)frame.joint_target_velocity,
                                               (uintptr_t)frame.joint_effort};
    memcpy(prover.view, view, sizeof(view));
    return prover.view;
}

const uintptr_t *prove_contacts(void) {
    ContactList list;
    if (prover.world == NULL || !prover.stepper->has_last ||
        contacts_list(prover.world, prover.stepper, prover.step, 0, prover.stepper->contact_count,
                      &prover.scratch, &list, &prover.error) != STATUS_OK) {
        return NULL;
    }
    const uintptr_t view[PROVE_CONTACTS_COUNT] = {list.count,
                                                  (uintptr_t)list.body_a,
                                                  (uintptr_t)list.body_b,
                                                  (uintptr_t)list.feature,
                                                  (uintptr_t)list.point,
                                                  (uintptr_t)list.frame,
                                                  (uintptr_t)list.gap,
                                                  (uintptr_t)list.impulse,
                                                  (uintptr_t)list.velocity,
                                                  (uintptr_t)list.friction};
    memcpy(prover.view, view, sizeof(view));
    return prover.view;
}
