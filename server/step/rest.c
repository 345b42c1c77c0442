// SPDX-License-Identifier: MIT
// Falling asleep and waking, in worlds with sleep_speed above 0 (world/sleep.h).
//
// A dynamic body is at rest in a step after which no point of it is faster than sleep_speed:
// |v| + |w| r <= sleep_speed, r how far its surface comes from its centre of mass. An island, the
// bodies joined by the contacts and rows that the step solved, falls asleep at the end of the step
// when all of them have been at rest for sleep_time, and calm in this step: what their velocities
// changed by would not bring them above sleep_speed within another sleep_time, so that what begins
// to fall is not caught in the air. Nor does it where it touches, or hangs by a joint on, a
// kinematic body that moves or an island that stays awake, or touches a body that joints fix to the
// world, or one that leaves the world in this step, nor where a command of a joint is under way to
// it. Trees of joints are at rest when all their
// links are, and all of them sleep, with their joints. Springs of sleepers are left out of the
// energy book.
//
// Sleepers are no trees of the problem, and fixed to the broad phase. The narrow phase meets them
// with the free velocity that they would have if they were awake, so they touch what they would
// touch then. When one does, its island wakes and the step is begun again, with the contacts that
// all have who are awake then: the motion is that of a world in which they never slept. Nothing
// of the world has changed before it is committed.
#include "step/stages.h"

#include "base/array.h"
#include "base/assert.h"
#include "solve/island.h"
#include "step/joints/commands.h"
#include "world/sleep.h"

#include <string.h>

// Islands seldom wake each other: they would have been one. After so many rounds all wake.
enum { ROUNDS_MAX = 8 };

static Status out_of_memory(StepState *state) {
    return error_set(state->error, STATUS_RESOURCE_EXHAUSTED, "",
                     "Memory ended while finding which of %u bodies sleep: raise "
                     "--memory-bytes-max.",
                     state->world->body_count);
}

// ---- who sleeps

// Once islands are marked.
static void wake_marked(StepState *state) {
    const World *world = state->world;
    for (uint32_t body = 0; body < world->body_count; body++) {
        if (stage_is_asleep(state, body) && state->wakes[world->sleep->island[body]]) {
            state->still[body] = 0;
            state->asleep_count--;
            state->free_count += tree_of_body(world->trees, body) == TREE_NONE;
        }
    }
    state->has_woken = true;
}

static void mark(StepState *state, uint32_t body) {
    state->wakes[state->world->sleep->island[body]] = 1;
}

// A wrench, or a velocity, that is there.
static bool is_any(const double six[6]) {
    bool is_zero = true;
    for (int i = 0; i < 6; i++) {
        is_zero = is_zero && six[i] == 0.0;
    }
    return !is_zero;
}

static void wake_pushed(StepState *state) {
    const StepInput *input = state->input;
    bool is_pushed = false;
    for (size_t i = 0; i < input->wrench_count; i++) {
        uint32_t body = input->wrench_body[i];
        if (is_any(input->wrench + 6 * i) && stage_is_asleep(state, body)) {
            mark(state, body);
            is_pushed = true;
        }
    }
    if (is_pushed) {
        wake_marked(state);
    }
}

Status rest_begin(StepState *state) {
    ASSERT(state->world->dynamic_count <= state->world->body_count);
    World *world = state->world;
    state->free_count =
        world->dynamic_count - (world->trees == NULL ? 0 : world->trees->link_count);
    state->memory = world->memory;
    state->memory_count = world->memory_count;
    if (world->settings.sleep_speed == 0.0) {
        return STATUS_OK;
    }
    size_t count = world->body_count;
    state->still = arena_take_array(state->scratch, count, 1);
    state->wakes = arena_take_zeroed(state->scratch, count, 1);
    if (!sleep_open(world) || state->still == NULL || state->wakes == NULL) {
        return out_of_memory(state);
    }
    for (uint32_t body = 0; body < count; body++) {
        state->still[body] = sleep_is_still(world, body);
        state->free_count -=
            stage_is_asleep(state, body) && tree_of_body(world->trees, body) == TREE_NONE;
    }
    state->asleep_count = sleep_count(world);
    vec3_store(state->v_asleep, vec3_scale(state->input->time_step, world->settings.gravity));
    wake_pushed(state);
    return STATUS_OK;
}

static bool is_mover(const World *world, uint32_t body) {
    return world->kind[body] == BODY_KINEMATIC && is_any(world->velocity + 6 * (size_t)body);
}

// What hangs on something that moves, or is awake, wakes.
static bool mark_joined(StepState *state) {
    const World *world = state->world;
    bool has_any = false;
    for (size_t i = 0; i < world->joint_count; i++) {
        const Joint *joint = &world->joint[i];
        const uint32_t count = world_joint_end_count(joint);
        bool is_awake = false, is_asleep = false;
        for (uint32_t k = 0; k < count; k++) {
            const uint32_t body = world_joint_end(world, joint, k);
            const bool is_body = body != JOINT_NO_BODY;
            is_asleep = is_asleep || (is_body && stage_is_asleep(state, body));
            is_awake =
                is_awake || (is_body && (is_mover(world, body) ||
                                         state->stepper->tree_of_body[body] != PROBLEM_NO_TREE));
        }
        for (uint32_t k = 0; is_awake && is_asleep && k < count; k++) {
            const uint32_t body = world_joint_end(world, joint, k);
            if (body != JOINT_NO_BODY && stage_is_asleep(state, body)) {
                mark(state, body);
                has_any = true;
            }
        }
    }
    return has_any;
}

bool rest_wake_touched(StepState *state, int round) {
    ASSERT(round >= 0);
    ASSERT(state->asleep_count > 0);
    const Stepper *stepper = state->stepper;
    bool is_touched = mark_joined(state);
    for (uint32_t i = 0; i < stepper->contact_count; i++) {
        const uint32_t body[2] = {stepper->contact[i].a, stepper->contact[i].b};
        for (int s = 0; s < 2; s++) {
            if (stage_is_asleep(state, body[s])) {
                mark(state, body[s]);
                is_touched = true;
            }
        }
    }
    if (is_touched && round >= ROUNDS_MAX) {
        memset(state->wakes, 1, state->world->body_count);
    }
    if (is_touched) {
        wake_marked(state);
    }
    return is_touched;
}

// The impulses of those who wake stand in a list of their own.
Status rest_recall(StepState *state) {
    ASSERT(state->has_woken);
    const World *world = state->world;
    const WorldSleep *sleep = world->sleep;
    size_t room = world->memory_count + sleep->memory_count;
    ContactMemory *merged = arena_take_array(state->scratch, room, sizeof(ContactMemory));
    if (merged == NULL) {
        return out_of_memory(state);
    }
    const ContactMemory *awake = world->memory, *asleep = sleep->memory;
    const ContactMemory *awake_end = awake + world->memory_count,
                        *asleep_end = asleep + sleep->memory_count;
    size_t count = 0;
    while (awake < awake_end || asleep < asleep_end) {
        bool is_awake =
            asleep == asleep_end || (awake < awake_end && world_memory_precedes(awake, asleep));
        merged[count++] = is_awake ? *awake++ : *asleep++;
    }
    state->memory = merged;
    state->memory_count = count;
    return STATUS_OK;
}

// ---- who falls asleep

// The trees of a step, judged in blocks.
typedef struct Judging {
    StepState *state;
    uint8_t *is_ready; // per tree
    bool *has_ready;   // per block
} Judging;

// The fastest that a point of a body may be, of which that is the velocity.
static double fastest(const double *velocity, double extent) {
    return vec3_norm(vec3_load(velocity)) + extent * vec3_norm(vec3_load(velocity + 3));
}

static const double *new_velocity(const StepState *state, uint32_t tree) {
    ASSERT(tree < state->tree_count);
    return state->velocity_new != NULL ? state->velocity_new + 6 * (size_t)state->body_of_tree[tree]
                                       : state->stepper->v + 6 * (size_t)tree;
}

// How fast a tree is, and what that has changed by in the step [m/s]: the fastest of its bodies.
typedef struct Pace {
    double speed, change;
} Pace;

static void add_pace(const StepState *state, uint32_t body, const double *after, Pace *pace) {
    const double *before = state->world->velocity + 6 * (size_t)body;
    const double extent = reach_extent(state->world, body);
    double change[6];
    for (int i = 0; i < 6; i++) {
        change[i] = after[i] - before[i];
    }
    pace->speed = fmax(pace->speed, fastest(after, extent));
    pace->change = fmax(pace->change, fastest(change, extent));
}

static Pace pace_of(const StepState *state, uint32_t tree) {
    ASSERT(tree < state->tree_count);
    const uint32_t body = state->body_of_tree[tree];
    Pace pace = {0.0, 0.0};
    if (tree < state->free_count) {
        add_pace(state, body, new_velocity(state, tree), &pace);
        return pace;
    }
    const StepTree *of = stage_tree(state, body);
    for (uint32_t i = 0; i < of->flight.view.tree->link_count; i++) {
        add_pace(state, of->flight.view.link[i].body, state->link_new + 6 * (size_t)(of->link + i),
                 &pace);
    }
    return pace;
}

static void judge_block(void *work, uint32_t block) {
    const Judging *judging = work;
    StepState *state = judging->state;
    const World *world = state->world;
    const double speed = world->settings.sleep_speed, time = world->settings.sleep_time,
                 h = state->input->time_step, whole = state->step_time;
    judging->has_ready[block] = false;
    uint32_t end = stage_block_end(block, state->tree_count);
    for (uint32_t tree = block * STAGE_BLOCK; tree < end; tree++) {
        const uint32_t body = state->body_of_tree[tree];
        const Pace pace = pace_of(state, tree);
        double rest = sleep_is_still(world, body) ? 0.0 : world->sleep->rest[body];
        rest = pace.speed <= speed ? rest + whole : 0.0;
        state->rest[tree] = rest < time ? rest : time;
        state->bed[tree] = SLEEP_AWAKE;
        judging->is_ready[tree] = rest > 0.0 && rest >= time && pace.change * time <= speed * h;
        judging->has_ready[block] = judging->has_ready[block] || judging->is_ready[tree];
    }
}

static void keep_awake(const Judging *judging, uint32_t tree) {
    if (tree != PROBLEM_NO_TREE) {
        judging->state->rest[tree] = 0.0;
        judging->is_ready[tree] = false;
    }
}

// What is pushed is not at rest; a fluid pushes nobody who is.
static void tire_none_pushed(const Judging *judging) {
    const StepState *state = judging->state;
    const StepInput *input = state->input;
    for (size_t i = 0; i < state->given_count; i++) {
        uint32_t tree = state->stepper->tree_of_body[input->wrench_body[i]];
        if (is_any(input->wrench + 6 * i)) {
            keep_awake(judging, tree);
        }
    }
}

// Nor is what a command is on its way to.
static void tire_none_commanded(const Judging *judging) {
    const StepState *state = judging->state;
    for (size_t i = 0; state->is_under_way != NULL && i < state->world->joint_count; i++) {
        const Joint *joint = &state->world->joint[i];
        const uint32_t ends =
            commands_are_under_way(state, joint) ? world_joint_end_count(joint) : 0;
        for (uint32_t k = 0; k < ends; k++) {
            const uint32_t body = world_joint_end(state->world, joint, k);
            if (body != JOINT_NO_BODY) {
                keep_awake(judging, state->stepper->tree_of_body[body]);
            }
        }
    }
}

// A mover, or what joints fix to the world: no velocity, no island, and never asleep.
static bool is_unsteady(const StepState *state, uint32_t body) {
    return is_mover(state->world, body) || (state->world->kind[body] == BODY_DYNAMIC &&
                                            state->stepper->tree_of_body[body] == PROBLEM_NO_TREE);
}

// Joints without rows, as of what they leave wholly free, join no islands; what they join sleeps
// together all the same. Whether anything has changed.
static bool spread_wakeful(const StepState *state, const Joint *joint, const Islands *islands,
                           uint8_t *is_wakeful) {
    const uint32_t *tree_of = state->stepper->tree_of_body;
    const uint32_t count = world_joint_end_count(joint);
    bool is_any_wakeful = false, has_changed = false;
    for (uint32_t k = 0; k < count; k++) {
        const uint32_t body = world_joint_end(state->world, joint, k);
        const uint32_t tree = body == JOINT_NO_BODY ? PROBLEM_NO_TREE : tree_of[body];
        is_any_wakeful = is_any_wakeful ||
                         (body != JOINT_NO_BODY && is_mover(state->world, body)) ||
                         (tree != PROBLEM_NO_TREE && is_wakeful[islands->of_tree[tree]]);
    }
    for (uint32_t k = 0; is_any_wakeful && k < count; k++) {
        const uint32_t body = world_joint_end(state->world, joint, k);
        const uint32_t tree = body == JOINT_NO_BODY ? PROBLEM_NO_TREE : tree_of[body];
        if (tree != PROBLEM_NO_TREE && !is_wakeful[islands->of_tree[tree]]) {
            is_wakeful[islands->of_tree[tree]] = 1;
            has_changed = true;
        }
    }
    return has_changed;
}

// Islands that stay awake.
static void find_wakeful(const Judging *judging, const Islands *islands, uint8_t *is_wakeful) {
    const StepState *state = judging->state;
    const Stepper *stepper = state->stepper;
    for (uint32_t tree = 0; tree < state->tree_count; tree++) {
        is_wakeful[islands->of_tree[tree]] |= !judging->is_ready[tree];
    }
    for (uint32_t i = 0; i < stepper->contact_count; i++) {
        const StepContact *contact = &stepper->contact[i];
        if (!is_unsteady(state, contact->a) && !is_unsteady(state, contact->b)) {
            continue;
        }
        // what joints fix to the world may touch what is fixed as well: that is of no island
        const uint32_t island = islands_of_contact(&stepper->problem, islands->of_tree, i);
        ASSERT(island == PROBLEM_NO_TREE || island < islands->count);
        if (island != PROBLEM_NO_TREE) {
            is_wakeful[island] = 1;
        }
    }
    for (bool has_more = true; has_more;) {
        has_more = false;
        for (size_t i = 0; i < state->world->joint_count; i++) {
            has_more =
                spread_wakeful(state, &state->world->joint[i], islands, is_wakeful) || has_more;
        }
    }
}

// What loses one of its bodies begins to rest anew.
static void disturb_left(StepState *state, const Islands *islands, uint8_t *is_wakeful) {
    for (uint32_t i = 0; i < state->left_count; i++) {
        const uint32_t tree = state->stepper->tree_of_body[state->left[i]];
        if (tree == PROBLEM_NO_TREE) {
            continue; // what joints fix to the world
        }
        const uint32_t island = islands->of_tree[tree];
        is_wakeful[island] = 1;
        for (uint32_t k = islands->tree_first[island]; k < islands->tree_first[island + 1]; k++) {
            state->rest[islands->tree[k]] = 0.0;
        }
    }
}

// An island is called by the first of its bodies.
static void find_beds(const StepState *state, const Islands *islands, uint32_t *bed) {
    ASSERT(islands->count <= state->tree_count);
    for (uint32_t body = state->world->body_count; body > 0; body--) {
        const uint32_t tree = state->stepper->tree_of_body[body - 1];
        if (tree != PROBLEM_NO_TREE) {
            bed[islands->of_tree[tree]] = body - 1;
        }
    }
}

static uint32_t bodies_of_tree(const StepState *state, uint32_t tree) {
    ASSERT(tree < state->tree_count);
    const uint32_t body = state->body_of_tree[tree];
    return tree < state->free_count ? 1 : stage_tree(state, body)->flight.view.tree->link_count;
}

static Status find_islands(StepState *state, const Judging *judging, StepEnergy *energy) {
    Islands islands;
    Status status = islands_find(&state->stepper->problem, state->input->context.tasks,
                                 state->scratch, &islands, state->error);
    if (status != STATUS_OK) {
        return status;
    }
    uint8_t *is_wakeful = arena_take_zeroed(state->scratch, islands.count, 1);
    if (is_wakeful == NULL) {
        return out_of_memory(state);
    }
    find_wakeful(judging, &islands, is_wakeful);
    disturb_left(state, &islands, is_wakeful);
    uint32_t *bed = arena_take_array(state->scratch, islands.count, sizeof(uint32_t));
    if (bed == NULL) {
        return out_of_memory(state);
    }
    find_beds(state, &islands, bed);
    for (uint32_t tree = 0; tree < state->tree_count; tree++) {
        const uint32_t island = islands.of_tree[tree];
        if (!is_wakeful[island]) {
            state->bed[tree] = bed[island];
            state->tired_count += bodies_of_tree(state, tree);
            energy_fall_asleep(state, tree, energy);
        }
    }
    if (state->tired_count > 0 && !sleep_reserve(state->world, state->stepper->contact_count)) {
        return out_of_memory(state);
    }
    return STATUS_OK;
}

Status rest_find(StepState *state) {
    if (state->still == NULL) {
        return STATUS_OK;
    }
    uint32_t block_count = tasks_blocks(state->tree_count, STAGE_BLOCK);
    Judging judging = {.state = state,
                       .is_ready = arena_take_array(state->scratch, state->tree_count, 1),
                       .has_ready = arena_take_array(state->scratch, block_count, sizeof(bool))};
    state->rest = arena_take_array(state->scratch, state->tree_count, sizeof(double));
    state->bed = arena_take_array(state->scratch, state->tree_count, sizeof(uint32_t));
    if (judging.is_ready == NULL || judging.has_ready == NULL || state->rest == NULL ||
        state->bed == NULL) {
        return out_of_memory(state);
    }
    tasks_run(state->input->context.tasks, judge_block, &judging, block_count);
    tire_none_pushed(&judging);
    tire_none_commanded(&judging);
    bool has_ready = state->left_count > 0;
    for (uint32_t block = 0; block < block_count; block++) {
        has_ready = has_ready || judging.has_ready[block];
    }
    return has_ready ? find_islands(state, &judging, &state->report->energy) : STATUS_OK;
}

// ---- the new state

// Who woke may fall asleep again at once: what it bore in its old sleep is forgotten first.
static void drop_woken(const StepState *state) {
    World *world = state->world;
    for (uint32_t body = 0; body < world->body_count; body++) {
        if (!state->still[body]) {
            world->sleep->island[body] = SLEEP_AWAKE;
        }
    }
    sleep_drop_memory(world);
}

static void settle_body(const StepState *state, uint32_t body) {
    ASSERT(body < state->world->body_count);
    World *world = state->world;
    WorldSleep *sleep = world->sleep;
    uint32_t tree = state->stepper->tree_of_body[body];
    if (tree != PROBLEM_NO_TREE) {
        sleep->rest[body] = state->rest[tree];
        sleep->island[body] = state->bed[tree];
        if (state->bed[tree] != SLEEP_AWAKE) {
            memset(world->velocity + 6 * (size_t)body, 0, 6 * sizeof(double));
        }
    } else if (world->kind[body] != BODY_DYNAMIC) {
        sleep->island[body] = is_mover(world, body) ? SLEEP_AWAKE : body;
    }
}

// The numbers of trees that have fallen asleep, and of rows between sleepers.
static void settle_joints(const StepState *state) {
    World *world = state->world;
    for (size_t i = 0; i < world->joint_count; i++) {
        const Joint *joint = &world->joint[i];
        if (!joint->is_rows && sleep_is_asleep(world, joint->body[1])) {
            for (uint32_t k = 0; k < joint_axis_count(joint->axes); k++) {
                world->joint_velocity[joint->axis_first + k] = 0.0;
            }
        }
    }
    world_follow_bodies(world);
}

void rest_commit(StepState *state) {
    World *world = state->world;
    if (state->still == NULL || world->body_count == 0) {
        return;
    }
    if (state->has_woken) {
        drop_woken(state);
    }
    for (uint32_t body = 0; body < world->body_count; body++) {
        if (!state->still[body]) {
            settle_body(state, body);
        }
    }
    world->sleep->asleep_count = state->asleep_count + state->tired_count;
    if (state->tired_count > 0 && world->joint_count > 0) {
        settle_joints(state);
    }
    if (state->tired_count > 0) {
        sleep_take_memory(world);
    }
}
