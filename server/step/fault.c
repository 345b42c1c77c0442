// SPDX-License-Identifier: MIT
// A step that ends in numbers that cannot be told has not happened: NaN, the infinities, and state
// that no float holds. The world stays as it was and is marked faulted.
#include "step/stages.h"

#include "base/assert.h"

#include "solve/mass.h"
#include "step/joints/tendons.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

// `body` 0: the quantity is the whole world's.
static Status fault(StepState *state, Id body, const char *quantity, const char *why) {
    World *world = state->world;
    world->faulted = true;
    state->stepper->fault =
        (StepFault){.step = world->step + 1, .body = body, .quantity = quantity};
    char of_body[32] = "";
    if (body != 0) {
        snprintf(of_body, sizeof(of_body), " of body %llu", (unsigned long long)body);
    }
    return error_set(
        state->error, STATUS_FAILED_PRECONDITION, "",
        "Step %llu was undone: the %s%s would %s. The world is faulted at its state "
        "before that step; set bodies (WorldSet) to go on, or use a smaller time step.",
        (unsigned long long)world->step + 1, quantity, of_body, why);
}

Status fault_body(StepState *state, uint32_t body, const char *quantity) {
    ASSERT(body < state->world->body_count);
    return fault(state, state->world->body_id[body], quantity,
                 "not be finite, or beyond 3.4e38, the largest float");
}

Status fault_mass(StepState *state) {
    const ContactProblem *problem = &state->stepper->problem;
    const uint32_t tree = mass_find_indefinite(problem, state->scratch);
    const uint32_t body = tree < problem->tree_count ? state->body_of_tree[tree] : UINT32_MAX;
    return fault(state, body == UINT32_MAX ? 0 : state->world->body_id[body], "mass of the tree",
                 "not be positive definite, as masses on it differ by more orders of magnitude "
                 "than a double has");
}

// ---- joints of rows, whose numbers are measured where their bodies have come to

// No number of a joint is larger than this where every pose and velocity is within `tame`: a place
// is the difference of two, of four vectors each, and a rate that of two v + w x r.
static const double tame = 1e17;

static const double *pose_after(const StepState *state, uint32_t body) {
    const double *pose = stage_is_still(state, body) ? state->world->pose : state->pose_new;
    return pose + 7 * (size_t)body;
}

static const double *velocity_after(const StepState *state, uint32_t body) {
    if (state->world->kind[body] != BODY_DYNAMIC || stage_is_still(state, body)) {
        return state->world->velocity + 6 * (size_t)body;
    }
    const bool is_free = state->stepper->tree_of_body[body] < state->free_count;
    return is_free && state->velocity_new != NULL ? state->velocity_new + 6 * (size_t)body
                                                  : stage_velocity_after(state, body);
}

// Most worlds are told by a glance at where their joints' bodies are.
static bool is_tame(const StepState *state, const Joint *joint) {
    bool is = true;
    for (int side = 0; side < 2; side++) {
        const uint32_t body = joint->body[side];
        is = is &&
             (body == JOINT_NO_BODY || (numbers_are_within(pose_after(state, body), 3, tame) &&
                                        numbers_are_within(velocity_after(state, body), 6, tame)));
    }
    return is;
}

// The world as it would be, as far as joints are measured of it. false: memory ends.
static bool take_world(const StepState *state, World *after) {
    const size_t count = state->world->body_count;
    *after = *state->world;
    after->pose = arena_take_array(state->scratch, count, 7 * sizeof(double));
    after->velocity = arena_take_array(state->scratch, count, 6 * sizeof(double));
    if (after->pose == NULL || after->velocity == NULL) {
        return false;
    }
    for (uint32_t body = 0; body < count; body++) {
        memcpy(after->pose + 7 * (size_t)body, pose_after(state, body), 7 * sizeof(double));
        memcpy(after->velocity + 6 * (size_t)body, velocity_after(state, body), 6 * sizeof(double));
    }
    return true;
}

// No pose bounds the angles of coordinates. Of joints of rows that are tame it does not matter
// where they are asked.
static bool is_tame_tendon(const StepState *state, const Joint *tendon) {
    double numbers[2];
    for (uint32_t i = 0; i < tendon->coupling_count; i++) {
        const Joint *of = &state->world->joint[world_coupling(state->world, tendon, i).joint];
        if (of->is_rows && !is_tame(state, of)) {
            return false;
        }
    }
    tendon_after(state, state->world, tendon, &numbers[0], &numbers[1]);
    return numbers_are_within(numbers, 2, 1e37);
}

static bool is_told(const StepState *state, const Joint *joint) {
    return !joint->is_rows || joint->axes == 0 ||
           (joint->kind == JOINT_TENDON ? is_tame_tendon(state, joint) : is_tame(state, joint));
}

static Status check_joints(StepState *state, size_t first) {
    const World *world = state->world;
    World after;
    if (!take_world(state, &after)) {
        return error_set(state->error, STATUS_RESOURCE_EXHAUSTED, "",
                         "Memory ended while measuring joints: raise --memory-bytes-max.");
    }
    for (size_t i = first; i < world->joint_count; i++) {
        const Joint *joint = &world->joint[i];
        double position[JOINT_POSITION_MAX] = {0.0}, rate[JOINT_AXES_MAX] = {0.0};
        if (is_told(state, joint)) {
            continue;
        }
        if (joint->kind == JOINT_TENDON) {
            tendon_after(state, &after, joint, position, rate);
        } else {
            world_measure_joint(&after, joint, position, rate);
        }
        if (!numbers_fit_float(position, JOINT_POSITION_MAX) ||
            !numbers_fit_float(rate, JOINT_AXES_MAX)) {
            return fault_body(state, world_joint_end(world, joint, 1),
                              "position or rate of a joint of rows");
        }
    }
    return STATUS_OK;
}

Status fault_check_joints(StepState *state) {
    const World *world = state->world;
    size_t first = 0;
    while (first < world->joint_count && is_told(state, &world->joint[first])) {
        first++;
    }
    return first < world->joint_count ? check_joints(state, first) : STATUS_OK;
}

// ---- the report

// Where a number stands in a report, and what it is called.
typedef struct ReportRow {
    size_t offset;
    const char *name;
} ReportRow;

static const ReportRow report_rows[] = {
#define X(upper, lower)                                                                            \
    {offsetof(StepReport, certificate.entry[CERTIFICATE_##upper]), "certificate's " #lower},       \
        {offsetof(StepReport, certificate.velocity[CERTIFICATE_##upper]),                          \
         "certificate's velocity of " #lower},
    CERTIFICATE_MAP(X)
#undef X
        {offsetof(StepReport, certificate.scale), "certificate's scale"},
    {offsetof(StepReport, certificate.penetration), "deepest overlap"},
    {offsetof(StepReport, launch.speed), "launch of convex friction"},
    {offsetof(StepReport, launch.height), "gliding of convex friction"},
    {offsetof(StepReport, energy.before), "energy before the step"},
    {offsetof(StepReport, energy.after), "energy after the step"},
    {offsetof(StepReport, energy.contact), "energy of the contacts"},
    {offsetof(StepReport, energy.row), "energy of the rows"},
    {offsetof(StepReport, energy.applied), "energy of the wrenches"},
    {offsetof(StepReport, energy.drive), "energy of the drives"},
    {offsetof(StepReport, energy.scheme), "energy of the scheme"},
    {offsetof(StepReport, energy.unexplained), "unexplained energy"},
};

Status fault_check_report(StepState *state) {
    ASSERT(state->report != NULL);
    const StepReport *report = state->report;
    const Certificate *certificate = &report->certificate;
    const StepEnergy *energy = &report->energy;
    const double others[] = {certificate->scale,   certificate->penetration,
                             report->launch.speed, report->launch.height,
                             energy->before,       energy->after,
                             energy->contact,      energy->row,
                             energy->applied,      energy->scheme,
                             energy->unexplained,  energy->drive};
    const bool is_finite = numbers_are_finite(certificate->entry, CERTIFICATE_ENTRY_COUNT) &&
                           numbers_are_finite(certificate->velocity, CERTIFICATE_ENTRY_COUNT) &&
                           numbers_are_finite(others, sizeof(others) / sizeof(others[0]));
    for (size_t i = 0; !is_finite; i++) {
        const char *at = (const char *)report + report_rows[i].offset;
        if (!numbers_are_finite((const double *)(const void *)at, 1)) {
            return fault(state, 0, report_rows[i].name, "not be finite");
        }
    }
    return STATUS_OK;
}
