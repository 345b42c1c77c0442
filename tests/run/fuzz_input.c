// SPDX-License-Identifier: MIT
// Any bytes through the door of a small world: each input is refused or carried out, and the world
// steps on.
#include "run/worlds/door.h"

#include "base/assert.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

static void take_steps(Door *door, const Input *order, Arena *arena) {
    Error error;
    StepRun run;
    if (door_step_begin(door, order, arena, &run, &error) == STATUS_OK) {
        door_step(door, &run, arena, 0, NULL, &error);
    }
}

// What was read is written as bytes that read as the same, and an order knows its own.
static void write_again(const Input *input, Arena *arena) {
    InputBytes bytes = {.count = input_bytes(input)};
    uint8_t *memory = arena_take(arena, bytes.count);
    if (memory == NULL) {
        return;
    }
    Sink sink = {.bytes = memory};
    input_encode(input, &sink);
    ASSERT(sink.count == bytes.count);
    bytes.bytes = memory;
    ASSERT(input_length(memory, bytes.count) == bytes.count);
    ASSERT(input->kind != INPUT_STEP || input_is_order(bytes, &input->step));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) {
    const WorldLimits limits = {.body_count_max = 100, .bytes_max = (size_t)1 << 26};
    Door door;
    Error error;
    ASSERT(door_init(&door, &limits, &error) == STATUS_OK);
    Arena arena;
    arena_init(&arena, (size_t)1 << 26);
    for (size_t length; (length = input_length(bytes, count)) > 0;
         bytes += length, count -= length) {
        Input input;
        InputBytes encoded = {.bytes = bytes, .count = length};
        if (input_decode(encoded, &arena, &input, &error) != STATUS_OK) {
            continue;
        }
        write_again(&input, &arena);
        if (input.kind == INPUT_STEP) {
            // a sweep limit of millions is legal, and too long for a fuzzer
            if (door.world->settings.parameter[SOLVER_MAX_ITERATIONS] < 1000.0) {
                take_steps(&door, &input, &arena);
            }
        } else {
            door_change(&door, &input, &arena, NULL, NULL, &error);
        }
    }
    arena_deinit(&arena);
    door_deinit(&door);
    return 0;
}
