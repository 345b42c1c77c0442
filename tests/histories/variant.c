// SPDX-License-Identifier: MIT
#include "histories/variant.h"

#include "base/assert.h"
#include "step/snapshot/snapshot.h"
#include "world/sleep.h"

#include <math.h>

// What one step may cost, in what a solver does between two questions: some hundredths of a second.
enum { QUESTIONS_MAX = 200 };

bool variant_make(Play *play, const World *world, Variant *variant) {
    uint8_t *bytes;
    size_t count;
    Error error = {0};
    *variant = (Variant){0};
    ASSERT(snapshot_write(world, &play->memory, &bytes, &count, NULL) == STATUS_OK);
    if (snapshot_read(bytes, count, &world->limits, &variant->world, &error) != STATUS_OK) {
        return play_found(play, PROPERTY_AGAIN, "own snapshot",
                          "its own snapshot is refused: %.300s", error.message);
    }
    World *made = variant->world;
    sleep_wake_all(made);
    made->memory_count = made->joint_memory_count = 0;
    made->solver_failures = made->solver_wait = 0;
    made->faulted = false;
    variant->stepper = stepper_create(made->limits.bytes_max);
    ASSERT(variant->stepper != NULL);
    return true;
}

void variant_end(Variant *variant) {
    if (variant->world != NULL) {
        world_destroy(variant->world);
        stepper_destroy(variant->stepper);
    }
    *variant = (Variant){0};
}

void variant_settle(Variant *variant) {
    World *world = variant->world;
    world->definition_is_hashed = false;
    world->bodies_moved = true;
    world_build_trees(world);
    world_place_trees(world);
    world_follow_bodies(world);
    stepper_reset(variant->stepper);
}

static bool ask_to_stop(void *context) {
    return ++*(int *)context > QUESTIONS_MAX;
}

// Sees an answer as its solver has made it, before a witness may put another one in its place.
typedef struct Onlooker {
    StepWitness witness; // first, so that it is found from that
    Variant *variant;
} Onlooker;

static void look_on(StepWitness *witness, const ContactProblem *problem,
                    const SolveResult *result) {
    Variant *variant = ((Onlooker *)(void *)witness)->variant;
    const Answer *answer = &result->answer;
    if (variant->answers++ == 0) {
        variant->first = (FirstAnswer){0};
        for (uint32_t i = 0; i < problem->velocity_count; i++) {
            variant->first.work += answer->v[i] * answer->momentum[i];
            variant->first.size += fabs(answer->v[i] * answer->momentum[i]);
        }
    }
    if (variant->witness != NULL) {
        variant->witness->see(variant->witness, problem, result);
    }
}

bool variant_step(Play *play, Variant *variant, const Push *push) {
    int questions = 0;
    Error error = {0};
    const Stop stop = {.asked = ask_to_stop, .context = &questions};
    Onlooker onlooker = {.witness = {.see = look_on}, .variant = variant};
    const StepInput input = {.time_step = variant->world->settings.time_step,
                             .wrench_count = push->count,
                             .wrench_body = push->body,
                             .wrench = push->wrench,
                             .context = {.stop = &stop},
                             .witness = &onlooker.witness};
    variant->answers = 0;
    variant->has_stepped = stepper_run(variant->stepper, variant->world, &input, &play->scratch,
                                       NULL, &variant->report, &error) == STATUS_OK;
    return variant->has_stepped;
}

double variant_chance(Dice *dice, double size) {
    return size * (2.0 * ((double)(dice_bits(dice) >> 11) * 0x1p-53) - 1.0);
}

Push variant_push(const World *world, Dice *dice) {
    Push push = {0};
    const size_t wanted = dice_chance(dice, 50) ? 0 : 1 + dice_roll(dice, PUSHES_MAX);
    for (uint32_t body = 0; body < world->body_count && push.count < wanted; body++) {
        if (world->kind[body] == BODY_DYNAMIC && dice_chance(dice, 40)) {
            const double weight = 10.0 * world->mass[body].mass;
            const double size = 0.1 + variant_size(world, body);
            for (int i = 0; i < 6; i++) {
                push.wrench[6 * push.count + (size_t)i] =
                    variant_chance(dice, i < 3 ? weight : weight * size);
            }
            push.body[push.count++] = body;
        }
    }
    return push;
}

Pose variant_frame(const World *world, uint32_t body) {
    Pose pose = pose_load(world->pose + 7 * (size_t)body);
    pose.position =
        vec3_sub(pose.position, quat_rotate(pose.orientation, world->mass[body].center));
    return pose;
}

Pose variant_part_pose(const World *world, uint32_t body, const Primitive *primitive) {
    return pose_compose(variant_frame(world, body), primitive->local);
}

double variant_size(const World *world, uint32_t body) {
    const Shape *shape = world_body_shape(world, body);
    double size = 0.0;
    for (uint32_t i = 0; shape != NULL && i < shape->primitive_count; i++) {
        const Primitive *primitive = &world->primitive[shape->primitive_first + i];
        if (primitive->kind != PRIMITIVE_PLANE) {
            size = fmax(size, vec3_norm(primitive->local.position) + primitive_span(primitive));
        }
    }
    return size;
}
