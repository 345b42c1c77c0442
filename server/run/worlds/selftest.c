// SPDX-License-Identifier: MIT
#include "run/worlds/selftest.h"

#include "run/worlds/apply.h"
#include "step/snapshot/snapshot.h"

static const uint64_t golden = 0xd410be4d6dfd9f5du;

enum { STEPS = 120, BODIES = 8 };

uint64_t selftest_golden(void) {
    return golden;
}

// Balls and boxes, one behind the other, over a ground: they fall, turn, roll and stack askew.
static Status add_scene(World *world, Stepper *stepper, Arena *arena) {
    static const uint32_t kinds[3] = {PRIMITIVE_PLANE, PRIMITIVE_SPHERE, PRIMITIVE_BOX};
    static const double sizes[9] = {0.0, 0.0, 0.0, 0.1, 0.0, 0.0, 0.1, 0.13, 0.17};
    uint32_t body_kind[BODIES + 1] = {BODY_STATIC};
    uint64_t shape[BODIES + 1] = {1};
    double pose[7 * (BODIES + 1)] = {[3] = 1.0}, velocity[6 * (BODIES + 1)] = {0.0};
    for (int i = 1; i <= BODIES; i++) {
        double *at = pose + (ptrdiff_t)7 * i, *moves = velocity + (ptrdiff_t)6 * i;
        body_kind[i] = BODY_DYNAMIC;
        shape[i] = i % 2 == 0 ? 2 : 3;
        at[0] = 0.03 * i;
        at[1] = i % 3 == 0 ? 0.05 : -0.02;
        at[2] = 0.1 + 0.21 * i;
        at[3] = 1.0;
        at[4] = 0.1 * i;
        at[5] = 0.07 * (i % 4);
        moves[0] = i % 2 == 0 ? 0.3 : -0.2;
        moves[5] = 0.9 * i;
    }
    const Input shapes = {
        .kind = INPUT_SHAPES,
        .shapes = {.shape_count = 3, .primitive_count = 3, .kind = kinds, .size = sizes}};
    const Input bodies = {.kind = INPUT_BODIES,
                          .bodies = {.count = BODIES + 1,
                                     .pose = pose,
                                     .velocity = velocity,
                                     .kind = body_kind,
                                     .shape = shape}};
    Status status = apply_change(world, stepper, &shapes, arena, NULL, NULL, NULL);
    return STATUS_THEN(status, apply_change(world, stepper, &bodies, arena, NULL, NULL, NULL));
}

static Status take_steps(World *world, Stepper *stepper, Arena *arena) {
    const Input order = {.kind = INPUT_STEP, .step = {.steps = STEPS}};
    StepRun run;
    Status status = apply_begin(world, &order, arena, &run, NULL);
    while (status == STATUS_OK && run.steps_left > 0) {
        status = apply_step(world, stepper, &run, arena, NULL, NULL);
    }
    return status;
}

uint64_t selftest_hash(void) {
    const WorldLimits limits = {.body_count_max = BODIES + 1, .bytes_max = (size_t)1 << 26};
    World *world = NULL;
    Stepper *stepper = NULL;
    Arena arena;
    arena_init(&arena, limits.bytes_max);
    uint64_t hash = 0;
    Status status = apply_create(&limits, &world, &stepper, NULL);
    status = STATUS_THEN(status, add_scene(world, stepper, &arena));
    status = STATUS_THEN(status, take_steps(world, stepper, &arena));
    if (status == STATUS_OK) {
        hash = snapshot_hash(world);
    }
    if (world != NULL) {
        world_destroy(world);
        stepper_destroy(stepper);
    }
    arena_deinit(&arena);
    return hash;
}
