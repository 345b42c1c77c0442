// SPDX-License-Identifier: MIT
#include "step/joints/tendons.h"

#include "base/assert.h"
#include "step/joints/pull.h"
#include "step/joints/rows.h"

static bool is_explicit(const StepState *state) {
    return state->world->settings.integrator == INTEGRATOR_EXPLICIT;
}

// ---- forces of the begin

static double force_of(const StepState *state, const Joint *tendon) {
    ASSERT(tendon->axis_first < state->world->joint_axis_count);
    const size_t at = tendon->axis_first;
    double force = state->command.effort[at];
    if (is_explicit(state)) {
        const double length = state->world->joint_position[tendon->position_first],
                     rate = state->world->joint_velocity[at];
        const Pull drive = pull_of_drive(state, at), spring = pull_of_spring(state->world, at);
        force += pull_force(&drive, length, rate) + pull_force(&spring, length, rate);
    }
    return force;
}

bool tendons_pull(StepState *state) {
    const World *world = state->world;
    double *pulled = NULL;
    for (size_t i = 0; world->coupling_count > 0 && i < world->joint_count; i++) {
        const Joint *tendon = &world->joint[i];
        const double force = tendon->kind == JOINT_TENDON ? force_of(state, tendon) : 0.0;
        if (force == 0.0) {
            continue;
        }
        if (pulled == NULL) {
            pulled = arena_take_zeroed(state->scratch, world->joint_axis_count, sizeof(double));
        }
        if (pulled == NULL) {
            return false;
        }
        for (uint32_t k = 0; k < tendon->coupling_count; k++) {
            const Coupling of = world_coupling(world, tendon, k);
            pulled[world->joint[of.joint].axis_first + of.axis] += of.coefficient * force;
        }
    }
    state->command.pulled = pulled;
    return true;
}

// ---- where it comes to

// Of a tree that is awake, NULL: of none.
static const StepTree *tree_of(const StepState *state, const Joint *joint) {
    const StepTree *tree = joint->is_rows ? NULL : stage_tree(state, joint->body[1]);
    return tree == NULL || tree->is_asleep ? NULL : tree;
}

static const TreeLink *link_of(const StepState *state, const StepTree *tree, const Joint *joint) {
    return &tree->flight.view.link[state->world->trees->link_of_body[joint->body[1]]];
}

static double position_after(const StepState *state, const World *later, const Coupling *coupling) {
    ASSERT(coupling->joint < state->world->joint_count);
    const Joint *joint = &state->world->joint[coupling->joint];
    const StepTree *tree = tree_of(state, joint);
    const double *kept = state->world->joint_position + joint->position_first;
    double position[JOINT_POSITION_MAX];
    if (tree != NULL) {
        return tree->positions[link_of(state, tree, joint)->place + coupling->axis];
    }
    if (!joint->is_rows) {
        return kept[coupling->axis];
    }
    world_follow_joint(later, joint, kept, position);
    return position[coupling->axis];
}

static double rate_after(const StepState *state, const World *later, const Coupling *coupling) {
    ASSERT(coupling->joint < state->world->joint_count);
    const Joint *joint = &state->world->joint[coupling->joint];
    const StepTree *tree = tree_of(state, joint);
    double position[JOINT_POSITION_MAX], rate[JOINT_AXES_MAX];
    if (tree != NULL) {
        return tree->velocities[link_of(state, tree, joint)->first + coupling->axis];
    }
    if (!joint->is_rows) {
        return state->world->joint_velocity[joint->axis_first + coupling->axis];
    }
    world_measure_joint(later, joint, position, rate);
    return rate[coupling->axis];
}

void tendon_after(const StepState *state, const World *later, const Joint *tendon, double *length,
                  double *rate) {
    ASSERT(tendon->kind == JOINT_TENDON);
    double to = 0.0, by = 0.0;
    for (uint32_t i = 0; i < tendon->coupling_count; i++) {
        const Coupling coupling = world_coupling(state->world, tendon, i);
        to += coupling.coefficient * position_after(state, later, &coupling);
        by += rate == NULL ? 0.0 : coupling.coefficient * rate_after(state, later, &coupling);
    }
    *length = to;
    if (rate != NULL) {
        *rate = by;
    }
}

// ---- energies

// The work in the step of a force along it.
static double work_of(const StepState *state, const Joint *tendon, double force) {
    ASSERT(tendon->kind == JOINT_TENDON);
    double work = 0.0;
    for (uint32_t i = 0; i < tendon->coupling_count; i++) {
        const Coupling of = world_coupling(state->world, tendon, i);
        const Joint *joint = &state->world->joint[of.joint];
        const StepTree *tree = tree_of(state, joint);
        const double pull = of.coefficient * force;
        if (tree != NULL) {
            work += tree->flight.h * pull *
                    tree->flight.mean[link_of(state, tree, joint)->first + of.axis];
        } else if (joint->is_rows) {
            work += joint_rows_work(state, of.joint, of.axis, pull);
        }
    }
    return work;
}

// Under the explicit integrator: what is booked as if it were fed forward.
static void book_pull(const StepState *state, const Joint *tendon, StepEnergy *energy) {
    ASSERT(is_explicit(state));
    const size_t at = tendon->axis_first;
    const Pull spring = pull_of_spring(state->world, at);
    const double length = state->world->joint_position[tendon->position_first],
                 rate = state->world->joint_velocity[at];
    const double sprung = work_of(state, tendon, spring.stiffness * (spring.position - length)),
                 damped = work_of(state, tendon, -spring.damping * rate);
    energy->drive -= sprung + damped;
    energy->scheme += sprung;
    energy->applied += damped;
}

static void book_spring(const StepState *state, const Joint *tendon, StepEnergy *energy) {
    ASSERT(tendon->axis_first < state->world->joint_axis_count);
    const JointAxis *axis = &state->world->joint_axis[tendon->axis_first];
    World later = *state->world; // where the bodies come to
    later.pose = state->pose_new;
    double after;
    tendon_after(state, &later, tendon, &after, NULL);
    const double stretch = state->world->joint_position[tendon->position_first] - axis->rest,
                 stretched = after - axis->rest;
    const double held = 0.5 * axis->stiffness * stretch * stretch,
                 holds = 0.5 * axis->stiffness * stretched * stretched;
    energy->before += held;
    energy->after += holds;
    energy->scheme += holds - held;
    energy->scale += held + holds;
}

void tendons_book(const StepState *state, StepEnergy *energy) {
    const World *world = state->world;
    for (size_t i = 0; world->coupling_count > 0 && i < world->joint_count; i++) {
        const Joint *tendon = &world->joint[i];
        if (tendon->kind != JOINT_TENDON || stage_joint_sleeps(state, tendon)) {
            continue;
        }
        if (is_explicit(state)) {
            book_pull(state, tendon, energy);
        }
        if (world->joint_axis[tendon->axis_first].stiffness > 0.0) {
            book_spring(state, tendon, energy);
        }
    }
}
