// SPDX-License-Identifier: MIT
#include "simulate/state.h"

#include "api/hulls.h"
#include "run/worlds/apply.h"
#include "simulate/link.h"
#include "simulate/model.h"
#include "step/snapshot/snapshot.h"
#include "support/scene_forget.h"
#include "wire/scene/out.h"
#include "wire/scene/scene.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { STATES_MAX = 1024, SCENE_STEPS = 20, MEMORY_BYTES = 1 << 28 };

static State *states; // threads have their turns
static uint64_t state_count;

static void demand(Status status, const Error *error) {
    if (status != STATUS_OK) {
        fail("the reference of a copy is refused: %s: %s", error->field, error->message);
    }
}

static WorldLimits limits(void) {
    return (WorldLimits){.body_count_max = MODEL_LATER_BODIES_MAX,
                         .bytes_max = MEMORY_BYTES,
                         .shelf = model_shelf()};
}

// ---- kept

uint64_t state_keep(const World *world, uint64_t hash, Arena *scratch) {
    const ArenaMark mark = arena_mark(scratch);
    State state = {.step = world->step, .hash = hash};
    Error error = {0};
    uint8_t *bytes;
    states = states == NULL ? calloc(STATES_MAX, sizeof(*states)) : states;
    if (states == NULL || state_count == STATES_MAX) {
        fail("more states are kept than STATES_MAX");
    }
    demand(snapshot_write(world, scratch, &bytes, &state.count, &error), &error);
    state.bytes = malloc(state.count);
    if (state.bytes == NULL) {
        fail("no memory for a state");
    }
    memcpy(state.bytes, bytes, state.count);
    arena_reset_to(scratch, mark);
    states[state_count++] = state;
    return state_count;
}

uint64_t state_keep_bytes(const uint8_t *bytes, size_t count, Arena *scratch) {
    const WorldLimits most = limits();
    World *world;
    Error error = {0};
    demand(snapshot_read(bytes, count, &most, &world, &error), &error);
    const uint64_t number = state_keep(world, snapshot_hash(world), scratch);
    const State *state = state_get(number);
    if (state->count != count || memcmp(state->bytes, bytes, count) != 0) {
        fail("a snapshot that was read before is written otherwise");
    }
    world_destroy(world);
    return number;
}

const State *state_get(uint64_t number) {
    return &states[number - 1];
}

// ---- scenes

ProtobufCBinaryData state_scene_renamed(const Moreau__V1__Scene *scene, Arena *arena) {
    Moreau__V1__Scene other = *scene;
    other.name = (char *)(uintptr_t) "scene";
    ProtobufCBinaryData packed = {.len = moreau__v1__scene__get_packed_size(&other)};
    packed.data = arena_take(arena, packed.len);
    if (packed.data == NULL) {
        fail("no memory for a scene");
    }
    moreau__v1__scene__pack(&other, packed.data);
    return packed;
}

ProtobufCBinaryData state_scene(const World *world, Arena *arena) {
    const Moreau__V1__Scene *scene = scene_out(world, "scene", arena);
    if (scene == NULL) {
        fail("no memory for a scene");
    }
    return state_scene_renamed(scene, arena);
}

static double largest(const double *number, size_t count) {
    double most = 0.0;
    for (size_t i = 0; i < count; i++) {
        most = fmax(most, fabs(number[i]));
    }
    return most;
}

bool state_can_be_said(const World *world) {
    const double far = 1e9;
    for (uint32_t i = 0; i < world->body_count; i++) {
        double pose[7];
        world_body_pose(world, i, pose);
        if (largest(pose, 3) > far || largest(world->velocity + 6 * (size_t)i, 6) > far) {
            return false;
        }
    }
    return largest(world->joint_position, world->joint_position_count) <= far &&
           largest(world->joint_velocity, world->joint_axis_count) <= far;
}

// ---- worlds of scenes

typedef struct Walker {
    World *world;
    Stepper *stepper;
} Walker;

static Walker begin(void) {
    const WorldLimits most = limits();
    Walker walker;
    Error error = {0};
    demand(apply_create(&most, &walker.world, &walker.stepper, &error), &error);
    return walker;
}

static void end(Walker *walker) {
    world_destroy(walker->world);
    stepper_destroy(walker->stepper);
}

static void change(Walker *walker, const Input *input, Arena *arena) {
    Error error = {0};
    demand(apply_change(walker->world, walker->stepper, input, arena, NULL, NULL, &error), &error);
}

static void make(Walker *walker, const Moreau__V1__Scene *scene, Arena *arena) {
    ScenePlan plan;
    Error error = {0};
    demand(scene_plan(scene, NULL, arena, &plan, &error), &error);
    for (size_t i = 0; i < plan.input_count; i++) {
        demand(hulls_build(&plan.input[i], arena, &error), &error);
        change(walker, &plan.input[i], arena);
    }
}

static bool are_same(const double *a, const double *b, size_t count) {
    return count == 0 || memcmp(a, b, count * sizeof(*a)) == 0;
}

static bool move_alike(const World *a, const World *b) {
    const size_t bodies = a->body_count, axes = a->joint_axis_count;
    return bodies == b->body_count && axes == b->joint_axis_count &&
           a->joint_position_count == b->joint_position_count &&
           are_same(a->pose, b->pose, 7 * bodies) &&
           are_same(a->velocity, b->velocity, 6 * bodies) &&
           are_same(a->joint_position, b->joint_position, a->joint_position_count) &&
           are_same(a->joint_velocity, b->joint_velocity, axes);
}

// Whether also what does not move by steps is the same to the bit: masses, frames of joints. Places
// of primitives are what they were told, here.
static bool begin_alike(const World *a, const World *b) {
    if (!move_alike(a, b) || a->joint_count != b->joint_count) {
        return false;
    }
    for (uint32_t i = 0; i < a->body_count; i++) {
        const BodyMass *x = &a->mass[i], *y = &b->mass[i];
        if (x->mass != y->mass || x->center.x != y->center.x || x->center.y != y->center.y ||
            x->center.z != y->center.z ||
            !are_same((const double *)(const void *)&x->inertia,
                      (const double *)(const void *)&y->inertia,
                      sizeof(x->inertia) / sizeof(double))) {
            return false;
        }
    }
    for (uint32_t i = 0; i < 2 * a->joint_count; i++) {
        double x[7], y[7];
        pose_store(x, a->joint[i / 2].frame[i % 2]);
        pose_store(y, b->joint[i / 2].frame[i % 2]);
        if (!are_same(x, y, 7)) {
            return false;
        }
    }
    return true;
}

static Status step(Walker *walker, Arena *scratch) {
    const StepInput input = {.time_step = walker->world->settings.time_step};
    StepReport report;
    return stepper_run(walker->stepper, walker->world, &input, scratch, NULL, &report, NULL);
}

static void race(Walker *made, Walker *forgetful, Arena *scratch) {
    const bool is_asked = begin_alike(made->world, forgetful->world);
    for (int i = 0; is_asked && i < SCENE_STEPS; i++) {
        const Status status = step(made, scratch);
        if (step(forgetful, scratch) != status || !move_alike(made->world, forgetful->world)) {
            fail("a world of a scene moves otherwise than the one that it was taken of, at step %d",
                 i + 1);
        }
        if (status != STATUS_OK) {
            return;
        }
    }
}

uint64_t state_of_scene(const Moreau__V1__Scene *scene, uint64_t of, Arena *scratch) {
    const State *state = state_get(of);
    const Input restore = {.kind = INPUT_RESTORE,
                           .restore = {.snapshot = state->bytes, .snapshot_bytes = state->count}};
    Walker made = begin(), forgetful = begin();
    Arena memory; // a step gives scratch memory back
    arena_init(&memory, MEMORY_BYTES);
    make(&made, scene, &memory);
    const uint64_t number = state_keep(made.world, snapshot_hash(made.world), &memory);
    change(&forgetful, &restore, &memory);
    scene_forget(forgetful.world, &memory);
    race(&made, &forgetful, scratch);
    arena_deinit(&memory);
    end(&made);
    end(&forgetful);
    return number;
}
