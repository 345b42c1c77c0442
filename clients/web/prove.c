// SPDX-License-Identifier: MIT
#include "web/prove.h"

#include "log/format/geometries.h"
#include "step/snapshot/snapshot.h"
#include "web/prove_parts.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static Prover prover;

WorldLimits prove_limits = {.body_count_max = 1000000, .bytes_max = (size_t)1 << 30};

Prover *prove_state(void) {
    return &prover;
}

int prove_fail(void) {
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

Status prove_open_chunk(size_t count, ChunkKind kind, Chunk *chunk) {
    prover.error = (Error){0};
    Status status = chunk_open(prover.buffer, count, NULL, chunk, &prover.error);
    if (status == STATUS_OK && chunk->kind != kind) {
        status = error_set(&prover.error, STATUS_INVALID_ARGUMENT, NULL, "it is no %s",
                           chunk_kind_name((uint32_t)kind));
    }
    return status;
}

// What is looked at is the world again, and no trial of its steps.
static void show_world(void) {
    prover.shown = (ProveShown){.world = prover.world,
                                .stepper = prover.stepper,
                                .report = &prover.run.tally.last,
                                .step = prover.step};
}

// NULL when memory ends: then what has geometries is refused.
static GeometryShelf *take_shelf(void) {
    if (prove_limits.shelf == NULL) {
        prove_limits.shelf = geometry_shelf_create();
    }
    return prove_limits.shelf;
}

// It stays on the shelf for as long as the module is there: its holder is never asked.
int prove_geometry(size_t count) {
    LogGeometry named;
    const Geometry *geometry;
    prover.error = (Error){0};
    Status status = geometry_chunk_open(prover.buffer, count, NULL, &named, &prover.error);
    status =
        STATUS_THEN_IF(status, take_shelf() == NULL,
                       error_set(&prover.error, STATUS_RESOURCE_EXHAUSTED, NULL, "memory ended"));
    status = STATUS_THEN(status, geometry_open(take_shelf(), named.bytes, named.byte_count, "",
                                               &geometry, &prover.error));
    return status == STATUS_OK ? 0 : prove_fail();
}

void prove_end_world(void) {
    prove_end_group();
    if (prover.world != NULL) {
        world_destroy(prover.world);
        stepper_destroy(prover.stepper);
        prover.world = NULL;
    }
    prover.shown = (ProveShown){0};
    if (!prover.has_arenas) {
        arena_init(&prover.entry_arena, prove_limits.bytes_max);
        arena_init(&prover.scratch, prove_limits.bytes_max);
        take_shelf();
        prover.has_arenas = true;
    }
    prover.has_run = false;
}

int prove_keyframe(size_t count) {
    if (prove_is_group()) {
        return prove_group_keyframe(count);
    }
    Chunk chunk;
    if (prove_open_chunk(count, CHUNK_KEYFRAME, &chunk) != STATUS_OK) {
        return prove_fail();
    }
    prove_end_world();
    Stepper *stepper = stepper_create(prove_limits.bytes_max);
    Status status = stepper == NULL
                        ? error_set(&prover.error, STATUS_RESOURCE_EXHAUSTED, NULL, "memory ended")
                        : snapshot_read(chunk.body, chunk.body_bytes, &prove_limits, &prover.world,
                                        &prover.error);
    if (status != STATUS_OK) {
        if (stepper != NULL) {
            stepper_destroy(stepper);
        }
        prover.world = NULL;
        return prove_fail();
    }
    prover.stepper = stepper;
    prover.step = chunk.first_step;
    show_world();
    return 0;
}

int prove_inputs(size_t count) {
    Chunk chunk;
    if (prove_open_chunk(count, CHUNK_INPUTS, &chunk) != STATUS_OK) {
        return prove_fail();
    }
    if (prover.world == NULL && !prove_is_group()) {
        error_set(&prover.error, STATUS_FAILED_PRECONDITION, NULL, "there was no key-frame");
        return prove_fail();
    }
    prover.inputs = chunk;
    prover.at = 0;
    prover.has_run = false;
    return prove_is_group() ? prove_group_inputs() : 0;
}

int prove_compare(size_t count) {
    if (prove_is_group()) {
        return prove_group_compare(count);
    }
    Chunk chunk;
    uint8_t *bytes;
    size_t written;
    if (prove_open_chunk(count, CHUNK_KEYFRAME, &chunk) != STATUS_OK || prover.world == NULL ||
        snapshot_write_like(prover.world, chunk.body, chunk.body_bytes, &prover.scratch, &bytes,
                            &written, &prover.error) != STATUS_OK) {
        return prove_fail();
    }
    bool same = chunk.first_step == prover.step && written == chunk.body_bytes &&
                memcmp(bytes, chunk.body, written) == 0;
    arena_reset(&prover.scratch);
    if (!same) {
        error_set(&prover.error, STATUS_DATA_LOSS, NULL,
                  "the key-frame of step %" PRIu64 " is not the state that was stepped to",
                  chunk.first_step);
        return prove_fail();
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

ProveNext prove_ready(void) {
    prover.error = (Error){0};
    if (prover.inputs.body == NULL || prover.world == NULL) {
        return PROVE_END;
    }
    arena_reset(&prover.scratch);
    while (!prover.has_run || prover.hash_at == prover.entry.hash_count) {
        Status status;
        bool is_there = next_entry(&status);
        if (status != STATUS_OK) {
            return (ProveNext)prove_fail();
        }
        if (!is_there) {
            prover.inputs.body = NULL;
            return PROVE_END;
        }
    }
    return PROVE_STEP;
}

ProveNext prove_next(void) {
    if (prove_is_group()) {
        return prove_group_next();
    }
    ProveNext next = prove_ready();
    if (next == PROVE_STEP) {
        next = take_step();
        show_world();
    }
    return next == PROVE_FAILED ? (ProveNext)prove_fail() : next;
}
