// SPDX-License-Identifier: MIT
// A step that is divided (WorldSettings.substeps): what is in the way is found once, for all of the
// step, and then the law is applied n times, each time for h/n and from where the time before has
// come to. Planes are those of the step; gaps go with the bodies,
//
//     gap <- gap + n ((x + r)_b - (x + r)_a) moved, to first order in how the bodies have turned,
//
// and so does the point where the two meet, once they have: it stays common to both, so that they
// keep momentum and angular momentum. It is halfway between the points of the two that were there,
// or, where only one of them is round, that of the round one, about whose axis it does not turn.
// Until they meet their arms stay what the approach has found.
//
// Joints, trees and masses are taken as they are where a substep begins. Each is solved as a step
// of its own would be, but what its certificate tells is divided by no less than |g| h of the whole
// step, as that of an undivided one is: so residuals of both mean the same.
#include "step/joints/rows.h"
#include "step/joints/wrenches.h"
#include "step/rows/rows.h"
#include "step/stages.h"
#include "step/step.h"

#include "base/array.h"
#include "base/assert.h"

#include <math.h>
#include <string.h>

static Status out_of_memory(StepState *state) {
    return error_set(state->error, STATUS_RESOURCE_EXHAUSTED, "",
                     "Memory ended while dividing the step of %u bodies: raise --memory-bytes-max.",
                     state->world->body_count);
}

// ---- the world as it was

struct StepKept {
    double *pose, *velocity, *joint_position, *joint_velocity;
    JointMemory *joint_memory;
    size_t joint_memory_count;
};

// Copies; NULL: memory ends.
static void *copy(Arena *arena, const void *from, size_t count, size_t size) {
    void *to = arena_take_array(arena, count, size);
    if (to != NULL && count > 0) {
        memcpy(to, from, count * size);
    }
    return to;
}

static void put_back(void *to, const void *from, size_t count, size_t size) {
    if (count > 0) {
        memcpy(to, from, count * size);
    }
}

StepKept *substeps_keep(StepState *state) {
    const World *world = state->world;
    Arena *arena = state->scratch;
    ASSERT(state->substep_count > 1);
    StepKept *kept = arena_take(arena, sizeof(*kept));
    if (kept == NULL) {
        return NULL;
    }
    *kept = (StepKept){
        .pose = copy(arena, world->pose, world->body_count, 7 * sizeof(double)),
        .velocity = copy(arena, world->velocity, world->body_count, 6 * sizeof(double)),
        .joint_position =
            copy(arena, world->joint_position, world->joint_position_count, sizeof(double)),
        .joint_velocity =
            copy(arena, world->joint_velocity, world->joint_axis_count, sizeof(double)),
        .joint_memory =
            copy(arena, world->joint_memory, world->joint_memory_count, sizeof(JointMemory)),
        .joint_memory_count = world->joint_memory_count};
    const bool is_whole = kept->pose != NULL && kept->velocity != NULL &&
                          kept->joint_position != NULL && kept->joint_velocity != NULL &&
                          kept->joint_memory != NULL;
    return is_whole ? kept : NULL;
}

void substeps_undo(const StepState *state, const StepKept *kept) {
    World *world = state->world;
    ASSERT(kept->joint_memory_count <= world->joint_memory_capacity);
    put_back(world->pose, kept->pose, world->body_count, 7 * sizeof(double));
    put_back(world->velocity, kept->velocity, world->body_count, 6 * sizeof(double));
    put_back(world->joint_position, kept->joint_position, world->joint_position_count,
             sizeof(double));
    put_back(world->joint_velocity, kept->joint_velocity, world->joint_axis_count, sizeof(double));
    put_back(world->joint_memory, kept->joint_memory, kept->joint_memory_count,
             sizeof(JointMemory));
    world->joint_memory_count = kept->joint_memory_count;
}

const double *substeps_kept_poses(const StepKept *kept) {
    return kept->pose;
}

// ---- contacts

void substeps_meet(const StepState *state, const StepFound *found, uint32_t count, uint32_t place) {
    ASSERT(place + count <= state->stepper->contact_capacity);
    for (uint32_t i = 0; i < count; i++) {
        const ProblemContact *contact = &state->stepper->problem_contact[place + i];
        state->stepper->meeting[place + i] =
            (StepMeeting){.found = found[i], .arm = {contact->side[0].arm, contact->side[1].arm}};
    }
}

// How a body moves in a substep: its centre of mass, and its turn, h times the spin of the one
// rotation update (integrate.c).
typedef struct Way {
    uint32_t body;
    const double *from, *to; // poses
    Vec3 moved, turned;
} Way;

static void load_way(const StepState *state, uint32_t body, Way *way) {
    const World *world = state->world;
    ASSERT(body < world->body_count);
    const double *from = world->pose + 7 * (size_t)body;
    const bool stays = world->kind[body] == BODY_STATIC || stage_is_still(state, body);
    const double *to = stays ? from : state->pose_new + 7 * (size_t)body;
    const Quat before = pose_load(from).orientation, after = pose_load(to).orientation;
    const Quat turn = quat_mul(after, (Quat){before.w, -before.x, -before.y, -before.z});
    // a turn of half a circle has no such vector, and then no contact's arm is to first order
    const double twice = turn.w != 0.0 ? 2.0 / turn.w : 0.0;
    *way = (Way){.body = body,
                 .from = from,
                 .to = to,
                 .moved = vec3_sub(vec3_load(to), vec3_load(from)),
                 .turned = vec3_scale(twice, vec3(turn.x, turn.y, turn.z))};
}

static Vec3 way_of_point(const Way *way, Vec3 arm) {
    return vec3_add(way->moved, vec3_cross(way->turned, arm));
}

// Of what is round: from the centre of mass to the nearest point of its axis. false: it is not.
static bool find_axis(const World *world, const Way *way, uint32_t part, Vec3 arm, Vec3 *axis) {
    const Primitive *primitive =
        &world->primitive[world->shape[world->body_shape[way->body]].primitive_first + part];
    if (primitive->kind != PRIMITIVE_SPHERE && primitive->kind != PRIMITIVE_CAPSULE &&
        primitive->kind != PRIMITIVE_CYLINDER) {
        return false;
    }
    const Quat turn = pose_load(way->from).orientation;
    const Vec3 local = world->has_center
                           ? vec3_sub(primitive->local.position, world->mass[way->body].center)
                           : primitive->local.position;
    const Vec3 middle = quat_rotate(turn, local);
    const Vec3 along =
        quat_rotate(turn, quat_rotate(primitive->local.orientation, vec3(0.0, 0.0, 1.0)));
    const double half = primitive->kind == PRIMITIVE_SPHERE ? 0.0 : primitive->size.y;
    const double at = vec3_dot(vec3_sub(arm, middle), along);
    *axis = vec3_add_scaled(middle, fmin(fmax(at, -half), half), along);
    return true;
}

// Takes a contact to where the substep brings its bodies.
static void follow(const StepState *state, const Way way[2], StepMeeting *meeting) {
    const World *world = state->world;
    ASSERT(way[0].body == meeting->found.a && way[1].body == meeting->found.b);
    const uint32_t part[2] = {meeting->found.part_a, meeting->found.part_b};
    const Vec3 gone =
        vec3_sub(way_of_point(&way[1], meeting->arm[1]), way_of_point(&way[0], meeting->arm[0]));
    meeting->found.gap += vec3_dot(meeting->found.normal, gone);
    const double ended = state->input->time_step * (state->substep + 1);
    if (!meeting->has_pushed && meeting->found.time > ended) {
        return;
    }
    Vec3 at[2], axis;
    bool is_round[2];
    for (int s = 0; s < 2; s++) {
        is_round[s] = find_axis(world, &way[s], part[s], meeting->arm[s], &axis);
        const Vec3 carried = way_of_point(&way[s], is_round[s] ? axis : meeting->arm[s]);
        at[s] = vec3_add(vec3_add(vec3_load(way[s].from), meeting->arm[s]), carried);
    }
    const Vec3 common = is_round[0] == is_round[1] ? vec3_scale(0.5, vec3_add(at[0], at[1]))
                                                   : at[is_round[0] ? 0 : 1];
    for (int s = 0; s < 2; s++) {
        meeting->arm[s] = vec3_sub(common, vec3_load(way[s].to));
    }
    meeting->found.point = common;
}

// The impulse of a contact of the problem, on b, in world axes.
static Vec3 impulse_of(const Stepper *stepper, uint32_t i) {
    const ProblemContact *contact = &stepper->problem_contact[i];
    const double *along = stepper->impulse + 3 * (size_t)i;
    Vec3 impulse = vec3_scale(along[0], contact->normal);
    impulse = vec3_add_scaled(impulse, along[1], contact->tangent[0]);
    return vec3_add_scaled(impulse, along[2], contact->tangent[1]);
}

static void add_impulse(const Stepper *stepper, uint32_t i) {
    StepMeeting *meeting = &stepper->meeting[i];
    const double *along = stepper->impulse + 3 * (size_t)i;
    if (along[0] != 0.0 || along[1] != 0.0 || along[2] != 0.0) {
        meeting->impulse = vec3_add(meeting->impulse, impulse_of(stepper, i));
        meeting->approach = fmin(meeting->approach, stepper->law[i].approach);
        meeting->has_pushed = true;
    }
}

static void follow_block(void *work, uint32_t block) {
    const StepState *state = work;
    const Stepper *stepper = state->stepper;
    const uint32_t end = stage_block_end(block, stepper->contact_count);
    Way way[2];
    for (uint32_t i = block * STAGE_BLOCK; i < end; i++) {
        StepMeeting *meeting = &stepper->meeting[i];
        const bool is_first = i == block * STAGE_BLOCK;
        if (is_first || way[0].body != meeting->found.a) {
            load_way(state, meeting->found.a, &way[0]);
        }
        if (is_first || way[1].body != meeting->found.b) {
            load_way(state, meeting->found.b, &way[1]);
        }
        add_impulse(stepper, i);
        follow(state, way, meeting);
    }
}

// The contacts of a substep, and what they start from: of the first what the step before has left,
// of the others what the one before has.
typedef struct Filling {
    StepState *state;
    uint32_t *recovery; // per block
} Filling;

static void fill_block(void *work, uint32_t block) {
    const Filling *filling = work;
    const StepState *state = filling->state;
    const Stepper *stepper = state->stepper;
    const uint32_t first = block * STAGE_BLOCK,
                   end = stage_block_end(block, stepper->contact_count);
    Vec3 impulse[STAGE_BLOCK];
    for (uint32_t i = first; i < end && state->substep > 0; i++) {
        impulse[i - first] = impulse_of(stepper, i); // in the frame that it was solved in
    }
    filling->recovery[block] = fill_again(state, first, end);
    for (uint32_t i = first; i < end && state->substep > 0; i++) {
        const ProblemContact *contact = &stepper->problem_contact[i];
        double *warm = stepper->warm + 3 * (size_t)i;
        warm[0] = vec3_dot(contact->normal, impulse[i - first]);
        warm[1] = vec3_dot(contact->tangent[0], impulse[i - first]);
        warm[2] = vec3_dot(contact->tangent[1], impulse[i - first]);
    }
}

Status substep_begin(StepState *state) {
    ASSERT(state->substep < state->substep_count);
    Status status = free_motion_run(state);
    const uint32_t blocks = tasks_blocks(state->stepper->contact_count, STAGE_BLOCK);
    Filling filling = {state, arena_take_array(state->scratch, blocks, sizeof(uint32_t))};
    if (status != STATUS_OK || filling.recovery == NULL) {
        return status == STATUS_OK ? out_of_memory(state) : status;
    }
    if (state->substep == 0) { // what is told of joints is of the whole step
        status = joint_wrenches_reserve(state);
        if (status != STATUS_OK) {
            return status;
        }
        joint_wrenches_keep(state);
    }
    state->idle_contact_count = 0;
    tasks_run(state->input->context.tasks, fill_block, &filling, blocks);
    uint32_t recovery = 0;
    for (uint32_t block = 0; block < blocks; block++) {
        recovery += filling.recovery[block];
    }
    state->recovery_count = recovery > state->recovery_count ? recovery : state->recovery_count;
    return STATUS_OK;
}

// ---- where a substep ends

// What its rows did is told with what was given: they are about to be others.
static void end_acts(const StepState *state) {
    StepJoints *told = state->stepper->joints;
    for (uint32_t i = 0; told != NULL && i < told->act_count; i++) {
        StepAct *act = &told->act[i];
        if (step_act_is_of_row(act)) {
            act->direction = vec3_scale(state->stepper->row_impulse[act->row], act->direction);
            act->row = STEP_ACT_ENDED;
        }
    }
}

Status substep_commit(StepState *state) {
    ASSERT(state->substep + 1 < state->substep_count);
    const Status status = integrate_reserve(state);
    if (status == STATUS_OK) {
        tasks_run(state->input->context.tasks, follow_block, state,
                  tasks_blocks(state->stepper->contact_count, STAGE_BLOCK));
        end_acts(state);
        integrate_advance(state);
    }
    return status;
}

static void add_energy(StepEnergy *whole, const StepEnergy *of, uint32_t substep) {
    whole->before = substep == 0 ? of->before : whole->before;
    whole->after = of->after;
    whole->contact += of->contact;
    whole->row += of->row;
    whole->applied += of->applied;
    whole->drive += of->drive;
    whole->scheme += of->scheme;
    whole->unexplained += of->unexplained;
    whole->swing += of->swing;
    whole->scale = fmax(whole->scale, of->scale); // its bodies are the same
}

// The worst of each entry; who is to blame is of the substep that is furthest from being solved.
static void add_certificate(Certificate *whole, const Certificate *of) {
    Certificate worst = of->entry[CERTIFICATE_OWN] > whole->entry[CERTIFICATE_OWN] ? *of : *whole;
    for (int i = 0; i < CERTIFICATE_ENTRY_COUNT; i++) {
        worst.entry[i] = fmax(whole->entry[i], of->entry[i]);
        worst.velocity[i] = fmax(whole->velocity[i], of->velocity[i]);
    }
    worst.scale = fmax(whole->scale, of->scale);
    worst.penetration = fmax(whole->penetration, of->penetration);
    worst.converged = whole->converged && of->converged;
    const Certificate *open = of->islands_open > whole->islands_open ? of : whole;
    worst.islands_open = open->islands_open;
    worst.worst_open = open->worst_open;
    *whole = worst;
}

void substep_report(StepReport *whole, const StepReport *of, uint32_t substep) {
    add_energy(&whole->energy, &of->energy, substep);
    whole->iterations += of->iterations;
    whole->solver_ns += of->solver_ns;
    whole->has_borrowed = whole->has_borrowed || of->has_borrowed;
    whole->softened_count =
        of->softened_count > whole->softened_count ? of->softened_count : whole->softened_count;
    if (substep == 0) {
        whole->certificate = of->certificate;
    } else {
        add_certificate(&whole->certificate, &of->certificate);
    }
}

Status substeps_judge(StepState *state) {
    const Stepper *stepper = state->stepper;
    ASSERT(state->substep + 1 == state->substep_count);
    for (uint32_t i = 0; i < stepper->contact_count; i++) {
        add_impulse(stepper, i);
        double sum[3];
        vec3_store(sum, stepper->meeting[i].impulse);
        if (!numbers_fit_float(sum, 3)) {
            return fault_body(state, stepper->contact[i].b, "contact impulse");
        }
    }
    return STATUS_OK;
}

double stepper_approach(const Stepper *stepper, uint32_t contact) {
    ASSERT(contact < stepper->contact_count);
    return stepper->is_divided && stepper->meeting[contact].has_pushed
               ? stepper->meeting[contact].approach
               : stepper->law[contact].approach;
}

void substeps_tell(StepState *state) {
    const Stepper *stepper = state->stepper;
    ASSERT(stepper->contact_count <= stepper->meeting_capacity);
    for (uint32_t i = 0; i < stepper->contact_count; i++) {
        const ProblemContact *contact = &stepper->problem_contact[i];
        double *impulse = stepper->impulse + 3 * (size_t)i;
        impulse[0] = vec3_dot(contact->normal, stepper->meeting[i].impulse);
        impulse[1] = vec3_dot(contact->tangent[0], stepper->meeting[i].impulse);
        impulse[2] = vec3_dot(contact->tangent[1], stepper->meeting[i].impulse);
    }
}
