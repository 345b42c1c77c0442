// SPDX-License-Identifier: MIT
// The end of a step: positions move with the velocity that the integrator names, orientations with
// the same one, by the one rotation update of the product (Cayley),
//
//     q <- normalise((1, h w/2) q)          w in world axes
//
// and only when every number can be told (fault.c) does the world take them over. Under midpoint
// and explicit, a contact brings v1 to where the gap closes, and the bodies move otherwise: what
// the contact solvers promise about gaps holds for v1 only.
#include "step/joints/rows.h"
#include "step/joints/tendons.h"
#include "step/rows/rows.h"
#include "step/stages.h"

#include "base/assert.h"
#include "base/array.h"

#include <string.h>

// The velocity that moves positions and orientations.
static Vec3 moving_velocity(uint32_t integrator, const double *before, const double *after) {
    VALIDATE(integrator < INTEGRATOR_COUNT);
    switch ((Integrator)integrator) {
    case INTEGRATOR_EXPLICIT:
        return vec3_load(before);
    case INTEGRATOR_MIDPOINT:
    case INTEGRATOR_RK4:
    case INTEGRATOR_VERLET:
        return vec3_scale(0.5, vec3_add(vec3_load(before), vec3_load(after)));
    case INTEGRATOR_SYMPLECTIC:
    case INTEGRATOR_IMPLICIT:
    case INTEGRATOR_COUNT:
        break;
    }
    return vec3_load(after);
}

// What turns a body: in free flight by stages what these have found.
static Vec3 moving_spin(const StepState *state, uint32_t tree, uint32_t integrator,
                        const double *before, const double *after) {
    return integrator == INTEGRATOR_RK4 && tree != PROBLEM_NO_TREE
               ? vec3_load(state->turning + 3 * (size_t)tree)
               : moving_velocity(integrator, before + 3, after + 3);
}

// The velocity that a body ends the step with; that of a tree is the answer's, and is kept.
static const double *take_velocity(const StepState *state, uint32_t body) {
    VALIDATE(body < state->world->body_count);
    uint32_t tree = state->stepper->tree_of_body[body];
    if (tree == PROBLEM_NO_TREE) {
        return state->world->velocity + 6 * (size_t)body;
    }
    double *v = state->stepper->v + 6 * (size_t)tree;
    return memcpy(v, state->result.answer.v + 6 * (size_t)tree, 6 * sizeof(double));
}

// The spin of a body in the axes that it had before, `after`, as the body carries it along: what is
// kept is its rate in the body's own axes. A round body has none: its spin is the world's. What is
// pushed under stages turns by `after` itself, which that does not change.
static void carry_spin(const StepState *state, uint32_t body, const double *after, Vec3 spin) {
    double *velocity = state->velocity_new + 6 * (size_t)body;
    memcpy(velocity, after, 6 * sizeof(double));
    const World *world = state->world;
    const uint32_t tree = state->stepper->tree_of_body[body];
    if (world->kind[body] != BODY_DYNAMIC || world->mass[body].is_round ||
        stage_integrator(state, tree) != world->settings.integrator) {
        return;
    }
    vec3_store(velocity + 3, vec3_turn(vec3_load(after + 3), spin, state->input->time_step));
}

// NULL, or what of the body cannot be told.
static const char *move_body(const StepState *state, uint32_t body) {
    const World *world = state->world;
    const double *before = world->velocity + 6 * (size_t)body, *after = take_velocity(state, body);
    double *pose = state->pose_new + 7 * (size_t)body;
    double h = state->input->time_step;
    Pose old = pose_load(world->pose + 7 * (size_t)body);
    Vec3 velocity = vec3_load(after), spin = vec3_load(after + 3);
    if (state->velocity_new != NULL) {
        const uint32_t tree = state->stepper->tree_of_body[body],
                       integrator = tree == PROBLEM_NO_TREE ? world->settings.integrator
                                                            : stage_integrator(state, tree);
        velocity = moving_velocity(integrator, before, after);
        spin = moving_spin(state, tree, integrator, before, after);
    }
    pose_store(pose, (Pose){.position = vec3_add_scaled(old.position, h, velocity),
                            .orientation = quat_turn(old.orientation, spin, h)});
    if (state->velocity_new != NULL) {
        carry_spin(state, body, after, spin);
        after = state->velocity_new + 6 * (size_t)body;
    }
    if (!numbers_fit_float(after, 6)) {
        return "velocity";
    }
    // a spin whose square overflows leaves no orientation at all: nothing, not NaN
    bool has_orientation = pose[3] != 0.0 || pose[4] != 0.0 || pose[5] != 0.0 || pose[6] != 0.0;
    return numbers_fit_float(pose, 7) && has_orientation ? NULL : "pose";
}

// Memory for the new state. A rotation about the spin itself changes no spin: only where another
// velocity moves the body does the state differ from the answer.
static bool take_state(StepState *state) {
    const World *world = state->world;
    bool is_own = world->settings.integrator == INTEGRATOR_SYMPLECTIC ||
                  world->settings.integrator == INTEGRATOR_IMPLICIT;
    state->pose_new = arena_take_array(state->scratch, world->body_count, 7 * sizeof(double));
    if (state->pose_new == NULL || is_own) {
        return state->pose_new != NULL;
    }
    state->velocity_new = arena_take_array(state->scratch, world->body_count, 6 * sizeof(double));
    return state->velocity_new != NULL;
}

static bool bears(const double *impulse) {
    return !(impulse[0] == 0.0 && impulse[1] == 0.0 && impulse[2] == 0.0);
}

// What a block of bodies or contacts leaves behind.
typedef struct Landed {
    StepEnergy energy;    // of its bodies; of contacts what those did that are moved
    uint32_t body;        // the first of which something cannot be told …
    const char *quantity; // … and what; NULL: all can
    uint32_t kept_count;  // of its contacts, those that bear something
} Landed;

// The end of the step, in blocks of bodies, then in blocks of contacts.
typedef struct Landing {
    StepState *state;
    Landed *of_block;
} Landing;

static void land_bodies(void *work, uint32_t block) {
    const Landing *landing = work;
    const StepState *state = landing->state;
    const World *world = state->world;
    Landed *landed = &landing->of_block[block];
    *landed = (Landed){0};
    uint32_t end = stage_block_end(block, world->body_count);
    for (uint32_t body = block * STAGE_BLOCK; body < end && landed->quantity == NULL; body++) {
        if (stage_is_asleep(state, body)) {
            energy_add_sleeper(state, body, &landed->energy);
            continue; // keeps its state, which nothing reads anew
        }
        if (world->kind[body] == BODY_STATIC) {
            memcpy(state->pose_new + 7 * (size_t)body, world->pose + 7 * (size_t)body,
                   7 * sizeof(double));
            continue;
        }
        if (stage_tree(state, body) != NULL) {
            continue; // with the others of its tree
        }
        landed->body = body;
        landed->quantity = move_body(state, body);
        if (state->stepper->tree_of_body[body] != PROBLEM_NO_TREE) {
            energy_add_body(state, state->stepper->tree_of_body[body], &landed->energy);
        }
    }
}

// What a body that no force moves does by being moved, at a contact.
static void book_motion(const double *motion, const double *impulse, StepEnergy *energy) {
    const double work = vec3_dot(vec3_load(motion), vec3_load(impulse));
    energy->contact += work;
    energy->drive -= work;
}

// Contacts keep their impulses, and how they were judged, out of the scratch memory.
static void land_contacts(void *work, uint32_t block) {
    const Landing *landing = work;
    const Stepper *stepper = landing->state->stepper;
    const SolveResult *result = &landing->state->result;
    double *judged = stepper->judged, *target = judged + stepper->contact_count;
    Landed *landed = &landing->of_block[block];
    *landed = (Landed){0};
    uint32_t end = stage_block_end(block, stepper->contact_count);
    for (uint32_t i = block * STAGE_BLOCK; i < end; i++) {
        double *impulse = stepper->impulse + 3 * (size_t)i;
        memcpy(impulse, result->answer.contact_impulse + 3 * (size_t)i, 3 * sizeof(double));
        judged[i] = result->residual[i];
        book_motion(stepper->problem_contact[i].motion, impulse, &landed->energy);
        // no zero with a sign
        target[i] = 0.0 - certificate_bias(&stepper->problem, &result->answer, i);
        landed->kept_count += bears(impulse);
        if (landed->quantity == NULL && !numbers_fit_float(impulse, 3)) {
            landed->body = stepper->contact[i].b;
            landed->quantity = "contact impulse";
        }
    }
}

// The body that is told of a joint: of what couples joints, and has none, that of the last one.
static uint32_t body_of_joint(const World *world, const Joint *joint) {
    return world_joint_end(world, joint, world_joint_end_count(joint) - 1);
}

// Rows keep theirs, too.
static Status land_rows(StepState *state) {
    Stepper *stepper = state->stepper;
    if (stepper->row_count == 0) {
        return STATUS_OK;
    }
    memcpy(stepper->row_impulse, state->result.answer.row_impulse,
           stepper->row_count * sizeof(double));
    for (uint32_t i = 0; i < stepper->row_count; i++) {
        if (!numbers_fit_float(stepper->row_impulse + i, 1)) {
            const Joint *joint = &state->world->joint[stepper->row_key[i].joint];
            return fault_body(state, body_of_joint(state->world, joint), "joint impulse");
        }
    }
    return STATUS_OK;
}

// Of the first block that failed: what a single lane would have met first.
static Status judge(StepState *state, const Landed *landed, uint32_t block_count) {
    for (uint32_t block = 0; block < block_count; block++) {
        if (landed[block].quantity != NULL) {
            return fault_body(state, landed[block].body, landed[block].quantity);
        }
    }
    return STATUS_OK;
}

static void add_energy(StepEnergy *sum, const StepEnergy *part) {
    sum->before += part->before;
    sum->after += part->after;
    sum->contact += part->contact;
    sum->row += part->row;
    sum->applied += part->applied;
    sum->drive += part->drive;
    sum->scheme += part->scheme;
    sum->unexplained += part->unexplained;
    sum->swing += part->swing;
    sum->scale += part->scale;
}

Status integrate_run(StepState *state) {
    StepEnergy *energy = &state->report->energy;
    ASSERT(state->tree_count == state->stepper->problem.tree_count);
    ASSERT(state->stepper->problem.tree_count == state->tree_count);
    ASSERT(state->stepper->problem.contact_count == state->stepper->contact_count);
    ASSERT(state->result.answer.momentum != NULL);
    const Tasks *tasks = state->input->context.tasks;
    uint32_t body_blocks = tasks_blocks(state->world->body_count, STAGE_BLOCK);
    uint32_t contact_blocks = tasks_blocks(state->stepper->contact_count, STAGE_BLOCK);
    Landing bodies = {state, arena_take_array(state->scratch, body_blocks, sizeof(Landed))};
    Landing contacts = {state, arena_take_array(state->scratch, contact_blocks, sizeof(Landed))};
    state->kept_first = arena_take_array(state->scratch, contact_blocks, sizeof(uint32_t));
    if (bodies.of_block == NULL || contacts.of_block == NULL || state->kept_first == NULL ||
        !take_state(state)) {
        return error_set(state->error, STATUS_RESOURCE_EXHAUSTED, "",
                         "Memory ended while moving %u bodies: raise --memory-bytes-max.",
                         state->world->body_count);
    }
    tasks_run(tasks, land_bodies, &bodies, body_blocks);
    tasks_run(tasks, land_contacts, &contacts, contact_blocks);
    Status status = judge(state, bodies.of_block, body_blocks);
    status = STATUS_THEN_IF(status, state->articulated_count > 0, articulate_land(state));
    status = STATUS_THEN(status, judge(state, contacts.of_block, contact_blocks));
    status = STATUS_THEN(status, land_rows(state));
    if (status != STATUS_OK) {
        return status;
    }
    *energy = (StepEnergy){0};
    state->kept_count = 0;
    for (uint32_t block = 0; block < body_blocks; block++) {
        add_energy(energy, &bodies.of_block[block].energy);
    }
    for (uint32_t tree = 0; tree < state->articulated_count; tree++) {
        add_energy(energy, &state->articulated[tree].energy);
    }
    rows_book(state, energy);
    if (state->world->joint_count > 0) {
        joint_rows_book(state, energy);
        tendons_book(state, energy);
    }
    for (uint32_t block = 0; block < contact_blocks; block++) {
        add_energy(energy, &contacts.of_block[block].energy);
    }
    energy_end(state, energy);
    for (uint32_t block = 0; block < contact_blocks; block++) {
        state->kept_first[block] = state->kept_count;
        state->kept_count += contacts.of_block[block].kept_count;
    }
    return STATUS_OK;
}

// The contacts that bear something, as the next step starts from them.
static void remember_block(void *work, uint32_t block) {
    const StepState *state = work;
    const Stepper *stepper = state->stepper;
    ContactMemory *memory = state->world->memory + state->kept_first[block];
    uint32_t end = stage_block_end(block, stepper->contact_count);
    for (uint32_t i = block * STAGE_BLOCK; i < end; i++) {
        const double *impulse = stepper->impulse + 3 * (size_t)i;
        if (!bears(impulse)) {
            continue;
        }
        const ProblemContact *contact = &stepper->problem_contact[i];
        Vec3 world_impulse = vec3_scale(impulse[0], contact->normal);
        world_impulse = vec3_add_scaled(world_impulse, impulse[1], contact->tangent[0]);
        world_impulse = vec3_add_scaled(world_impulse, impulse[2], contact->tangent[1]);
        *memory = (ContactMemory){.a = stepper->contact[i].a,
                                  .b = stepper->contact[i].b,
                                  .part_a = stepper->contact[i].part_a,
                                  .part_b = stepper->contact[i].part_b,
                                  .feature = stepper->contact[i].feature};
        vec3_store(memory->impulse, world_impulse);
        memory++;
    }
}

static void keep_motion(const StepState *state, uint32_t first, uint32_t end) {
    const World *world = state->world;
    for (uint32_t body = first; body < end; body++) {
        double *motion = state->stepper->motion + STEPPER_MOTION * (size_t)body;
        memcpy(motion, world->velocity + 6 * (size_t)body, 6 * sizeof(double));
        memcpy(motion + 6, world->pose + 7 * (size_t)body + 3, 4 * sizeof(double));
    }
}

static void commit_block(void *work, uint32_t block) {
    const StepState *state = work;
    World *world = state->world;
    uint32_t first = block * STAGE_BLOCK, end = stage_block_end(block, world->body_count);
    if (state->stepper->keeps_motion && state->substep == 0) {
        keep_motion(state, first, end);
    }
    for (uint32_t body = first; body < end; body++) {
        uint32_t tree = state->stepper->tree_of_body[body];
        if (tree < state->free_count) {
            const double *velocity = state->velocity_new != NULL
                                         ? state->velocity_new + 6 * (size_t)body
                                         : state->stepper->v + 6 * (size_t)tree;
            memcpy(world->velocity + 6 * (size_t)body, velocity, 6 * sizeof(double));
        } else if (stage_tree(state, body) != NULL) {
            memcpy(world->velocity + 6 * (size_t)body,
                   state->link_new + 6 * (size_t)stage_link(state, body), 6 * sizeof(double));
        }
        if (state->still != NULL && !state->still[body]) {
            memcpy(world->pose + 7 * (size_t)body, state->pose_new + 7 * (size_t)body,
                   7 * sizeof(double));
        }
    }
    if (state->still != NULL) {
        return;
    }
    memcpy(world->pose + 7 * (size_t)first, state->pose_new + 7 * (size_t)first,
           7 * (size_t)(end - first) * sizeof(double));
}

static bool reserve_motion(StepState *state) {
    Stepper *stepper = state->stepper;
    const size_t bodies = stepper->keeps_motion ? state->world->body_count : 0;
    stepper->motion_count = (uint32_t)bodies;
    return ARRAY_RESERVE(stepper->motion, stepper->motion_capacity, STEPPER_MOTION * bodies);
}

Status integrate_reserve(StepState *state) {
    World *world = state->world;
    if (!ARRAY_RESERVE(world->memory, world->memory_capacity, state->stepper->contact_count)) {
        return error_set(state->error, STATUS_RESOURCE_EXHAUSTED, "",
                         "Memory ended while keeping %u contacts: raise --memory-bytes-max.",
                         state->stepper->contact_count);
    }
    if (!rows_reserve_memory(state)) {
        return error_set(state->error, STATUS_RESOURCE_EXHAUSTED, "",
                         "Memory ended while keeping %u rows of joints: raise --memory-bytes-max.",
                         state->stepper->row_count);
    }
    if (!reserve_motion(state)) {
        return error_set(state->error, STATUS_RESOURCE_EXHAUSTED, "",
                         "Memory ended while keeping how %u bodies moved: raise "
                         "--memory-bytes-max.",
                         world->body_count);
    }
    return STATUS_OK;
}

void integrate_advance(StepState *state) {
    World *world = state->world;
    tasks_run(state->input->context.tasks, commit_block, state,
              tasks_blocks(world->body_count, STAGE_BLOCK));
    if (state->articulated_count > 0) {
        articulate_commit(state);
    }
    world_follow_bodies(world);
    rows_remember(state);
}

Status integrate_commit(StepState *state) {
    ASSERT(state->pose_new != NULL || state->world->body_count == 0);
    ASSERT(state->pose_new != NULL);
    const Status status = integrate_reserve(state);
    if (status != STATUS_OK) {
        return status;
    }
    World *world = state->world;
    tasks_run(state->input->context.tasks, remember_block, state,
              tasks_blocks(state->stepper->contact_count, STAGE_BLOCK));
    integrate_advance(state);
    world->memory_count = state->kept_count;
    world->step++;
    world->time = sum_add(world->time, state->step_time);
    world->faulted = false;
    return STATUS_OK;
}
