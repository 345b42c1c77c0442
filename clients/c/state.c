// SPDX-License-Identifier: MIT
// Stepping, and reading what came of it: bodies and contacts by range.
#include "client.h"

#include <string.h>

MoreauStep moreau_step_default(void) {
    return (MoreauStep){.steps = 1, .reports = true};
}

static Moreau__V1__WorldStep make_step(const MoreauStep *step) {
    Moreau__V1__WorldStep message = MOREAU__V1__WORLD_STEP__INIT;
    message.n_worlds = step->world_count;
    message.worlds = (uint64_t *)step->worlds;
    message.has_steps = 1;
    message.steps = step->steps;
    message.has_time_step = step->time_step != 0.0;
    message.time_step = step->time_step;
    if (step->wrench_count > 0) {
        message.n_wrench_count = step->wrench_share != NULL ? step->world_count : 0;
        message.wrench_count = (uint32_t *)step->wrench_share;
        message.n_wrench_body = step->wrench_count;
        message.wrench_body = (uint64_t *)step->wrench_body;
        message.n_wrench = 6 * step->wrench_count;
        message.wrench = (double *)step->wrench;
    }
    message.has_poses = message.poses = step->poses;
    message.has_velocities = message.velocities = step->velocities;
    message.has_single = message.single = step->single;
    PUT_COLUMN(message, joint_count, step->joint_share, step->world_count);
    PUT_COLUMN(message, joint_axis_count, step->joint_axis_share, step->world_count);
    PUT_COLUMN(message, joints, step->joints, step->joint_count);
    PUT_COLUMN(message, joint_target, step->joint_target, step->joint_axis_count);
    PUT_COLUMN(message, joint_target_velocity, step->joint_target_velocity, step->joint_axis_count);
    PUT_COLUMN(message, joint_effort, step->joint_effort, step->joint_axis_count);
    message.has_joint_positions = message.joint_positions = step->joint_positions;
    message.has_joint_velocities = message.joint_velocities = step->joint_velocities;
    message.has_joint_wrenches = message.joint_wrenches = step->joint_wrenches;
    message.has_broken_joints = message.broken_joints = step->broken_joints;
    message.has_reports = 1;
    message.reports = step->reports;
    message.has_hashes = message.hashes = step->hashes;
    return message;
}

MoreauStatus moreau_world_step(MoreauClient *client, const MoreauStep *step, MoreauReply **reply,
                               MoreauStepResult *result) {
    *result = (MoreauStepResult){0};
    Moreau__V1__WorldStep message = make_step(step);
    Moreau__V1__Request request = MOREAU__V1__REQUEST__INIT;
    request.call_case = MOREAU__V1__REQUEST__CALL_WORLD_STEP;
    request.world_step = &message;
    MoreauStatus status =
        call_message(client, &request, MOREAU__V1__REPLY__RESULT_WORLD_STEP, reply);
    if (*reply != NULL) {
        moreau_reply_step(*reply, result);
    }
    // who steps one world wants to know about that one
    if (status == MOREAU_OK && step->world_count == 1 && result->failure_count > 0) {
        moreau_reply_failure(*reply, 0, &client->error);
        status = client->error.status;
    }
    return status;
}

MoreauStatus moreau_submit_step(MoreauClient *client, const MoreauStep *step, uint64_t *id) {
    Moreau__V1__WorldStep message = make_step(step);
    Moreau__V1__Request request = MOREAU__V1__REQUEST__INIT;
    request.call_case = MOREAU__V1__REQUEST__CALL_WORLD_STEP;
    request.world_step = &message;
    return call_submit(client, &request, id);
}

static void read_state(const Moreau__V1__WorldGetReply *got, MoreauWorldState *state) {
    size_t count = got->n_ids;
    *state = (MoreauWorldState){.step = got->step,
                                .time = got->time,
                                .total = got->total,
                                .faulted = got->faulted != 0,
                                .removed = got->removed,
                                .count = count,
                                .ids = got->ids,
                                .pose = COLUMN(got, pose, 7 * count),
                                .velocity = COLUMN(got, velocity, 6 * count),
                                .mass = COLUMN(got, mass, count),
                                .inertia = COLUMN(got, inertia, 6 * count),
                                .center_of_mass = COLUMN(got, center_of_mass, 3 * count),
                                .kind = (const uint32_t *)COLUMN(got, kind, count),
                                .shape = COLUMN(got, shape, count),
                                .asleep = COLUMN(got, asleep, count)};
}

MoreauStatus moreau_world_get(MoreauClient *client, uint64_t world, uint64_t first, uint64_t count,
                              bool definition, MoreauReply **reply, MoreauWorldState *state) {
    *state = (MoreauWorldState){0};
    Moreau__V1__WorldGet get = MOREAU__V1__WORLD_GET__INIT;
    get.has_world = 1;
    get.world = world;
    get.has_first = 1;
    get.first = first;
    get.has_count = count != MOREAU_ALL;
    get.count = count;
    get.has_bodies = 1;
    get.bodies = 1;
    get.has_definition = get.definition = definition;
    Moreau__V1__Request request = MOREAU__V1__REQUEST__INIT;
    request.call_case = MOREAU__V1__REQUEST__CALL_WORLD_GET;
    request.world_get = &get;
    MoreauStatus status =
        call_message(client, &request, MOREAU__V1__REPLY__RESULT_WORLD_GET, reply);
    if (status == MOREAU_OK) {
        read_state((*reply)->message->world_get, state);
    }
    return status;
}

MoreauStatus moreau_world_read(MoreauClient *client, uint64_t world, uint64_t first, size_t count,
                               double *pose, double *velocity) {
    MoreauReply *reply;
    MoreauWorldState state;
    MoreauStatus status = moreau_world_get(client, world, first, count, false, &reply, &state);
    if (status == MOREAU_OK && count > 0) {
        if (state.count != count || state.pose == NULL || state.velocity == NULL) {
            status = client_fail(client, MOREAU_OUT_OF_RANGE, "count",
                                 "the world has %zu bodies from the first one asked for, not %zu",
                                 state.count, count);
        } else {
            if (pose != NULL) {
                memcpy(pose, state.pose, 7 * count * sizeof(*pose));
            }
            if (velocity != NULL) {
                memcpy(velocity, state.velocity, 6 * count * sizeof(*velocity));
            }
        }
    }
    moreau_reply_free(reply);
    return status;
}

MoreauStatus moreau_world_contacts(MoreauClient *client, uint64_t world, uint64_t first,
                                   uint64_t count, MoreauReply **reply, MoreauContacts *contacts) {
    *contacts = (MoreauContacts){0};
    Moreau__V1__WorldContacts ask = MOREAU__V1__WORLD_CONTACTS__INIT;
    ask.has_world = 1;
    ask.world = world;
    ask.has_first = 1;
    ask.first = first;
    ask.has_count = count != MOREAU_ALL;
    ask.count = count;
    Moreau__V1__Request request = MOREAU__V1__REQUEST__INIT;
    request.call_case = MOREAU__V1__REQUEST__CALL_WORLD_CONTACTS;
    request.world_contacts = &ask;
    MoreauStatus status =
        call_message(client, &request, MOREAU__V1__REPLY__RESULT_WORLD_CONTACTS, reply);
    if (status == MOREAU_OK) {
        reply_read_contacts((*reply)->message->world_contacts, contacts);
    }
    return status;
}
