// SPDX-License-Identifier: MIT
// Any bytes as a snapshot whose checksum is right: refused, or a world that steps and writes the
// same bytes again.
#include "step/snapshot.h"

#include "base/assert.h"
#include "base/hash.h"
#include "step/step.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

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

static void try_sealed(const uint8_t *bytes, size_t count) {
    const WorldLimits limits = {.body_count_max = 1000, .bytes_max = (size_t)1 << 28};
    World *world = NULL;
    Error error;
    if (snapshot_read(bytes, count, &limits, &world, &error) != STATUS_OK) {
        ASSERT(world == NULL);
        return;
    }
    Arena arena;
    arena_init(&arena, (size_t)1 << 28);
    uint8_t *again;
    size_t again_count;
    ASSERT(snapshot_write(world, &arena, &again, &again_count, &error) == STATUS_OK);
    ASSERT(again_count == count && memcmp(again, bytes, count) == 0);
    Stepper *stepper = stepper_create(limits.bytes_max);
    StepInput input = {.time_step = world->settings.time_step};
    StepReport report;
    if (world->settings.parameter[SOLVER_MAX_ITERATIONS] < 1000.0) {
        stepper_run(stepper, world, &input, &arena, NULL, &report,
                    &error); // may fault; must not crash
    }
    stepper_destroy(stepper);
    arena_deinit(&arena);
    world_destroy(world);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) {
    uint8_t *sealed = seal(bytes, count);
    try_sealed(sealed, count);
    free(sealed);
    return 0;
}
