// SPDX-License-Identifier: MIT
// Reading a received reply. Columns are the unpacked message's own arrays.
#include "client.h"

#include <assert.h>
#include <stdlib.h>

static_assert(sizeof(Moreau__V1__Body__Kind) == sizeof(uint32_t), "enum columns are 32 bits wide");
static_assert(sizeof(protobuf_c_boolean) == sizeof(int), "bool columns are ints");

void moreau_reply_free(MoreauReply *reply) {
    if (reply == NULL) {
        return;
    }
    if (reply->message != NULL) {
        moreau__v1__reply__free_unpacked(reply->message, NULL);
    }
    free(reply->bytes);
    free(reply);
}

uint64_t moreau_reply_id(const MoreauReply *reply) {
    return reply->message->id;
}

bool moreau_reply_is_event(const MoreauReply *reply) {
    return reply->message->event != 0;
}

MoreauStatus moreau_reply_status(const MoreauReply *reply, MoreauError *error) {
    const Moreau__V1__Status *status = reply->message->status;
    if (error != NULL) {
        error_from_status(error, status);
    }
    return status != NULL ? (MoreauStatus)status->code : MOREAU_OK;
}

uint64_t moreau_reply_server_ns(const MoreauReply *reply) {
    return reply->message->server_ns;
}

const void *moreau_reply_bytes(const MoreauReply *reply, size_t *count) {
    *count = reply->byte_count;
    return reply->bytes;
}

void reply_read_contacts(const Moreau__V1__WorldContactsReply *got, MoreauContacts *contacts) {
    size_t count = got->n_body_a;
    *contacts = (MoreauContacts){.total = got->total,
                                 .count = count,
                                 .body_a = got->body_a,
                                 .body_b = COLUMN(got, body_b, count),
                                 .feature = COLUMN(got, feature, count),
                                 .part_a = COLUMN(got, part_a, count),
                                 .part_b = COLUMN(got, part_b, count),
                                 .point = COLUMN(got, point, 3 * count),
                                 .frame = COLUMN(got, frame, 9 * count),
                                 .gap = COLUMN(got, gap, count),
                                 .impulse = COLUMN(got, impulse, 3 * count),
                                 .velocity = COLUMN(got, velocity, 3 * count),
                                 .friction = COLUMN(got, friction, count),
                                 .residual = COLUMN(got, residual, count),
                                 .target_velocity = COLUMN(got, target_velocity, count)};
}

static MoreauCertificates read_certificates(const Moreau__V1__CertificateColumns *columns,
                                            size_t count) {
    if (columns == NULL) {
        return (MoreauCertificates){0};
    }
    return (MoreauCertificates){.e_mom = COLUMN(columns, e_mom, count),
                                .e_pen = COLUMN(columns, e_pen, count),
                                .e_comp = COLUMN(columns, e_comp, count),
                                .e_cone = COLUMN(columns, e_cone, count),
                                .e_mdp = COLUMN(columns, e_mdp, count),
                                .e_ds = COLUMN(columns, e_ds, count),
                                .e_own = COLUMN(columns, e_own, count),
                                .e_row = COLUMN(columns, e_row, count),
                                .penetration = COLUMN(columns, penetration, count)};
}

static MoreauOpen read_open(const Moreau__V1__OpenColumns *columns, size_t count) {
    if (columns == NULL) {
        return (MoreauOpen){0};
    }
    return (MoreauOpen){.islands = COLUMN(columns, islands, count),
                        .islands_open = COLUMN(columns, islands_open, count),
                        .body = COLUMN(columns, body, count),
                        .contacts = COLUMN(columns, contacts, count),
                        .residual = COLUMN(columns, residual, count),
                        .reason = (const int *)COLUMN(columns, reason, count)};
}

static MoreauLaunches read_launches(const Moreau__V1__LaunchColumns *columns, size_t count) {
    if (columns == NULL) {
        return (MoreauLaunches){0};
    }
    return (MoreauLaunches){.speed = COLUMN(columns, speed, count),
                            .gliding = COLUMN(columns, gliding, count),
                            .body_a = COLUMN(columns, body_a, count),
                            .body_b = COLUMN(columns, body_b, count)};
}

static MoreauEnergies read_energies(const Moreau__V1__EnergyColumns *columns, size_t count) {
    if (columns == NULL) {
        return (MoreauEnergies){0};
    }
    return (MoreauEnergies){.before = COLUMN(columns, before, count),
                            .after = COLUMN(columns, after, count),
                            .contact = COLUMN(columns, contact, count),
                            .row = COLUMN(columns, row, count),
                            .applied = COLUMN(columns, applied, count),
                            .scheme = COLUMN(columns, scheme, count),
                            .unexplained = COLUMN(columns, unexplained, count),
                            .drive = COLUMN(columns, drive, count),
                            .swing = COLUMN(columns, swing, count)};
}

static void read_reports(const Moreau__V1__StepReports *reports, size_t count,
                         MoreauStepResult *result) {
    result->contacts = COLUMN(reports, contacts, count);
    result->rows = COLUMN(reports, rows, count);
    result->iterations = COLUMN(reports, iterations, count);
    result->converged = COLUMN(reports, converged, count);
    result->unconverged_steps = COLUMN(reports, unconverged_steps, count);
    result->solver_time = COLUMN(reports, solver_time, count);
    result->recovery_contacts = COLUMN(reports, recovery_contacts, count);
    result->recovery_steps = COLUMN(reports, recovery_steps, count);
    result->softened = COLUMN(reports, softened, count);
    result->softened_steps = COLUMN(reports, softened_steps, count);
    result->asleep = COLUMN(reports, asleep, count);
    result->last = read_certificates(reports->last, count);
    result->worst = read_certificates(reports->worst, count);
    result->open = read_open(reports->open, count);
    result->worst_open = read_open(reports->worst_open, count);
    result->worst_open_step = COLUMN(reports, worst_open_step, count);
    result->launch = read_launches(reports->launch, count);
    result->worst_launch = read_launches(reports->worst_launch, count);
    result->worst_launch_step = COLUMN(reports, worst_launch_step, count);
    result->energy = read_energies(reports->energy, count);
    result->gained = COLUMN(reports, gained, count);
    result->broken_joints = COLUMN(reports, broken_joints, count);
    result->idle = COLUMN(reports, idle, count);
    result->idle_steps = COLUMN(reports, idle_steps, count);
    result->borrowed_steps = COLUMN(reports, borrowed_steps, count);
    result->owed_steps = COLUMN(reports, owed_steps, count);
}

// The bodies that all worlds add to the columns.
static size_t count_bodies(const Moreau__V1__WorldStepReply *step) {
    uint64_t total = 0;
    for (size_t i = 0; i < step->n_body_count; i++) {
        total += step->body_count[i];
    }
    return (size_t)total;
}

static size_t add_up(const uint32_t *counts, size_t count) {
    size_t total = 0;
    for (size_t i = 0; i < count; i++) {
        total += counts[i];
    }
    return total;
}

static void read_joints(const Moreau__V1__WorldStepReply *step, size_t count,
                        MoreauStepResult *result) {
    result->joint_count = COLUMN(step, joint_count, count);
    result->joint_axis_count = COLUMN(step, joint_axis_count, count);
    result->joint_position_count = COLUMN(step, joint_position_count, count);
    const size_t joints = add_up(step->joint_count, step->n_joint_count),
                 axes = add_up(step->joint_axis_count, step->n_joint_axis_count),
                 positions = add_up(step->joint_position_count, step->n_joint_position_count),
                 broken = add_up(step->broken_count, step->n_broken_count);
    result->joint_position = COLUMN(step, joint_position, positions);
    result->joint_velocity = COLUMN(step, joint_velocity, axes);
    result->joint_position_single = COLUMN(step, joint_position_single, positions);
    result->joint_velocity_single = COLUMN(step, joint_velocity_single, axes);
    result->joint_wrench = joints <= SIZE_MAX / 6 ? COLUMN(step, joint_wrench, 6 * joints) : NULL;
    result->broken = COLUMN(step, broken, broken);
    result->broken_count = result->broken == NULL ? NULL : COLUMN(step, broken_count, count);
}

bool moreau_reply_step(const MoreauReply *reply, MoreauStepResult *result) {
    *result = (MoreauStepResult){0};
    if (reply->message->result_case != MOREAU__V1__REPLY__RESULT_WORLD_STEP) {
        return false;
    }
    const Moreau__V1__WorldStepReply *step = reply->message->world_step;
    size_t count = step->n_steps_done;
    result->world_count = count;
    result->steps_done = step->steps_done;
    result->step = COLUMN(step, step, count);
    result->time = COLUMN(step, time, count);
    result->hash = COLUMN(step, hash, count);
    result->body_count = COLUMN(step, body_count, count);
    size_t bodies = count_bodies(step);
    if (bodies <= SIZE_MAX / 7) {
        result->pose = COLUMN(step, pose, 7 * bodies);
        result->velocity = COLUMN(step, velocity, 6 * bodies);
        result->pose_single = COLUMN(step, pose_single, 7 * bodies);
        result->velocity_single = COLUMN(step, velocity_single, 6 * bodies);
    }
    if (step->reports != NULL) {
        read_reports(step->reports, count, result);
    }
    result->removed = COLUMN(step, removed, count);
    read_joints(step, count, result);
    result->failure_count = step->n_failures;
    return true;
}

bool moreau_reply_failure(const MoreauReply *reply, size_t index, MoreauError *error) {
    if (reply->message->result_case != MOREAU__V1__REPLY__RESULT_WORLD_STEP ||
        index >= reply->message->world_step->n_failures) {
        return false;
    }
    error_from_status(error, reply->message->world_step->failures[index]);
    return true;
}
