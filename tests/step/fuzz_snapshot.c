// SPDX-License-Identifier: MIT
// Any bytes as a snapshot whose checksum is right: refused, or a world that steps and writes the
// same bytes again, but for sizes that its primitives do not have.
#include "step/snapshot/snapshot.h"

#include "base/assert.h"
#include "base/hash.h"
#include "step/step.h"
#include "support/idle_sizes.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

static const WorldLimits limits = {.body_count_max = 1000, .bytes_max = (size_t)1 << 28};

// A fuzzer cannot guess a checksum, and what lies behind it is what is to be tried.
static uint8_t *seal(const uint8_t *bytes, size_t count) {
    uint8_t *sealed = malloc(count + 1);
    ASSERT(sealed != NULL);
    memcpy(sealed, bytes, count);
    if (count >= SNAPSHOT_CHECKSUM_BYTES) {
        size_t covered = count - SNAPSHOT_CHECKSUM_BYTES;
        uint64_t checksum = hash_bytes(sealed, covered, 0);
        memcpy(sealed + covered, &checksum, sizeof(checksum));
    }
    return sealed;
}

typedef struct Bytes {
    uint8_t *bytes; // in an arena
    size_t count;
} Bytes;

static Bytes write_world(const World *world, Arena *arena) {
    Bytes written;
    Error error;
    ASSERT(snapshot_write(world, arena, &written.bytes, &written.count, &error) == STATUS_OK);
    return written;
}

// What differs from the bytes that it was read from is 0, and in sizes that are read by nothing.
static void ask_written(const World *world, const uint8_t *read, Bytes written) {
    size_t others = 0;
    for (size_t i = 0; i < written.count - SNAPSHOT_CHECKSUM_BYTES; i++) {
        others += written.bytes[i] != read[i];
        ASSERT(written.bytes[i] == read[i] || written.bytes[i] == 0);
    }
    ASSERT(others <= idle_size_bytes(world));
}

// What was written once is written again to the last bit.
static void ask_again(World *world, Bytes written, Arena *arena) {
    World *again;
    Error error;
    ASSERT(snapshot_read(written.bytes, written.count, &limits, &again, &error) == STATUS_OK);
    ASSERT(snapshot_hash(again) == snapshot_hash(world));
    const Bytes twice = write_world(again, arena);
    ASSERT(twice.count == written.count);
    ASSERT(memcmp(twice.bytes, written.bytes, twice.count) == 0);
    world_destroy(again);
}

// It may fault; it must not crash.
static void take_step(World *world, Arena *arena) {
    Stepper *stepper = stepper_create(limits.bytes_max);
    const StepInput input = {.time_step = world->settings.time_step};
    StepReport report;
    Error error;
    if (world->settings.parameter[SOLVER_MAX_ITERATIONS] < 1000.0) {
        stepper_run(stepper, world, &input, arena, NULL, &report, &error);
    }
    stepper_destroy(stepper);
}

static void try_sealed(const uint8_t *bytes, size_t count) {
    World *world = NULL;
    Error error;
    if (snapshot_read(bytes, count, &limits, &world, &error) != STATUS_OK) {
        ASSERT(world == NULL);
        return;
    }
    Arena arena;
    arena_init(&arena, (size_t)1 << 28);
    const Bytes written = write_world(world, &arena);
    ASSERT(written.count == count);
    ask_written(world, bytes, written);
    ask_again(world, written, &arena);
    take_step(world, &arena);
    arena_deinit(&arena);
    world_destroy(world);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) {
    uint8_t *sealed = seal(bytes, count);
    try_sealed(sealed, count);
    free(sealed);
    return 0;
}
