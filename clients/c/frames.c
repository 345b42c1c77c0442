// SPDX-License-Identifier: MIT
// Walking the frames of an episode: their numbers come as columns, one frame behind the other.
#include "client.h"

static const Moreau__V1__EpisodeFrames *frames_of(const MoreauReply *reply) {
    const Moreau__V1__Reply *message = reply->message;
    if (message->result_case == MOREAU__V1__REPLY__RESULT_EPISODE_FRAMES) {
        return message->episode_frames;
    }
    if (message->result_case == MOREAU__V1__REPLY__RESULT_LIVE_FRAME) {
        return message->live_frame->frames;
    }
    return message->result_case == MOREAU__V1__REPLY__RESULT_EPISODE_READ
               ? message->episode_read->frames
               : NULL;
}

// A column that was asked for has its `items` numbers; one that was not has none.
static bool fits(size_t count, size_t items) {
    return count == 0 || count == items;
}

// Ids stand with the first frame, and again with each frame that has others.
static bool check_bodies(const Moreau__V1__EpisodeFrames *got, size_t *bodies) {
    size_t listed = 0;
    uint64_t known = 0; // bodies whose ids are at hand
    *bodies = 0;
    for (size_t i = 0; i < got->n_body_count; i++) {
        known = got->ids_count[i] > 0 ? got->ids_count[i] : known;
        if (got->ids_count[i] > got->n_ids ||
            (got->body_count[i] > 0 && got->body_count[i] != known)) {
            return false;
        }
        listed += (size_t)got->ids_count[i];
        *bodies += (size_t)got->body_count[i];
    }
    return listed == got->n_ids && *bodies <= SIZE_MAX / 7;
}

static bool check_contacts(const Moreau__V1__EpisodeFrames *got) {
    if (got->n_contact_count == 0) {
        return true;
    }
    size_t there = got->contacts != NULL ? got->contacts->n_body_a : 0;
    size_t total = 0;
    for (size_t i = 0; i < got->n_contact_count; i++) {
        if (got->contact_count[i] > there) {
            return false;
        }
        total += (size_t)got->contact_count[i];
    }
    return got->n_contact_count == got->n_step && total == there;
}

// As of bodies; and columns have the numbers that the frames say.
static bool check_joints(const Moreau__V1__EpisodeFrames *got) {
    const size_t frames = got->n_joint_count;
    if (frames == 0) {
        return true;
    }
    if (frames != got->n_step || got->n_joints_count != frames ||
        got->n_joint_axis_count != frames || got->n_joint_position_count != frames) {
        return false;
    }
    size_t listed = 0, axes = 0, positions = 0;
    uint64_t known = 0;
    for (size_t i = 0; i < frames; i++) {
        known = got->joints_count[i] > 0 ? got->joints_count[i] : known;
        if (got->joints_count[i] > got->n_joints ||
            (got->joint_count[i] > 0 && got->joint_count[i] != known)) {
            return false;
        }
        listed += (size_t)got->joints_count[i];
        axes += (size_t)got->joint_axis_count[i];
        positions += (size_t)got->joint_position_count[i];
    }
    return listed == got->n_joints && got->n_joint_axes == listed &&
           fits(got->n_joint_position, positions) && fits(got->n_joint_velocity, axes) &&
           fits(got->n_joint_position_single, positions) &&
           fits(got->n_joint_velocity_single, axes) && fits(got->n_joint_target, axes) &&
           fits(got->n_joint_target_velocity, axes) && fits(got->n_joint_effort, axes);
}

// Columns of reports and where each number goes.
#define REPORT_COLUMNS(X)                                                                          \
    X(reports, contacts, contacts)                                                                 \
    X(reports, rows, rows)                                                                         \
    X(reports, iterations, iterations)                                                             \
    X(reports, recovery_contacts, recovery_contacts)                                               \
    X(reports, asleep, asleep)                                                                     \
    X(reports, converged, converged)                                                               \
    X(reports, tolerance, tolerance)                                                               \
    X(reports, worst_body_a, worst_body_a)                                                         \
    X(reports, worst_body_b, worst_body_b)                                                         \
    X(reports->last, e_mom, e_mom)                                                                 \
    X(reports->last, e_pen, e_pen)                                                                 \
    X(reports->last, e_comp, e_comp)                                                               \
    X(reports->last, e_cone, e_cone)                                                               \
    X(reports->last, e_mdp, e_mdp)                                                                 \
    X(reports->last, e_ds, e_ds)                                                                   \
    X(reports->last, e_own, e_own)                                                                 \
    X(reports->last, e_row, e_row)                                                                 \
    X(reports->last, penetration, penetration)                                                     \
    X(reports->energy, before, energy_before)                                                      \
    X(reports->energy, after, energy_after)                                                        \
    X(reports->energy, contact, energy_contact)                                                    \
    X(reports->energy, row, energy_row)                                                            \
    X(reports->energy, applied, energy_applied)                                                    \
    X(reports->energy, scheme, energy_scheme)                                                      \
    X(reports->energy, unexplained, energy_unexplained)

// Columns that servers before 0.2.0 do not have.
#define LATER_REPORT_COLUMNS(X)                                                                    \
    X(reports->energy, drive, energy_drive)                                                        \
    X(reports->energy, swing, energy_swing)

// All columns, or none.
static bool check_reports(const Moreau__V1__EpisodeFrames *got) {
    if (got->n_has_report == 0) {
        return true;
    }
    const Moreau__V1__StepReports *reports = got->reports;
    bool fit = got->n_has_report == got->n_step && reports != NULL && reports->last != NULL &&
               reports->energy != NULL;
#define X(part, name, to) fit = fit && part->n_##name == got->n_step;
    REPORT_COLUMNS(X)
#undef X
#define X(part, name, to) fit = fit && fits(part->n_##name, got->n_step);
    LATER_REPORT_COLUMNS(X)
#undef X
    return fit;
}

bool moreau_reply_frames(const MoreauReply *reply, MoreauFrames *frames) {
    *frames = (MoreauFrames){.reply = reply};
    const Moreau__V1__EpisodeFrames *got = frames_of(reply);
    size_t bodies;
    if (got == NULL || got->n_body_count != got->n_step || got->n_ids_count != got->n_step ||
        !fits(got->n_world_step, got->n_step) || !fits(got->n_time, got->n_step) ||
        !fits(got->n_stored, got->n_step) || !check_bodies(got, &bodies) ||
        !fits(got->n_pose, 7 * bodies) || !fits(got->n_velocity, 6 * bodies) ||
        !fits(got->n_pose_single, 7 * bodies) || !fits(got->n_velocity_single, 6 * bodies) ||
        !check_contacts(got) || !check_joints(got) || !check_reports(got)) {
        return false;
    }
    frames->count = got->n_step;
    return true;
}

// A column's entries from `first` on; NULL where it has none.
#define FROM(column, first) ((column) != NULL ? (column) + (first) : NULL)

// The contacts of the frame at hand, out of those of all.
static MoreauContacts cut_contacts(const Moreau__V1__EpisodeFrames *got, size_t first,
                                   size_t count) {
    MoreauContacts all;
    reply_read_contacts(got->contacts, &all);
    return (MoreauContacts){.total = count,
                            .count = count,
                            .body_a = FROM(all.body_a, first),
                            .body_b = FROM(all.body_b, first),
                            .feature = FROM(all.feature, first),
                            .part_a = FROM(all.part_a, first),
                            .part_b = FROM(all.part_b, first),
                            .point = FROM(all.point, 3 * first),
                            .frame = FROM(all.frame, 9 * first),
                            .gap = FROM(all.gap, first),
                            .impulse = FROM(all.impulse, 3 * first),
                            .velocity = FROM(all.velocity, 3 * first),
                            .friction = FROM(all.friction, first)};
}

// The joints of the index-th frame.
static void cut_joints(const Moreau__V1__EpisodeFrames *got, size_t index, MoreauFrames *frames,
                       MoreauFrame *frame) {
    if (got->joints_count[index] > 0) {
        frames->first_joint = frames->next_joint;
        frames->next_joint += (size_t)got->joints_count[index];
    }
    const size_t axis = frames->first_axis, position = frames->first_position;
    frame->joint_count = (size_t)got->joint_count[index];
    frame->joint_axis_count = (size_t)got->joint_axis_count[index];
    frame->joint_position_count = (size_t)got->joint_position_count[index];
    frame->joints = FROM(got->joints, frames->first_joint);
    frame->joint_axes = FROM(got->joint_axes, frames->first_joint);
    frame->joint_position = FROM(got->joint_position, position);
    frame->joint_velocity = FROM(got->joint_velocity, axis);
    frame->joint_position_single = FROM(got->joint_position_single, position);
    frame->joint_velocity_single = FROM(got->joint_velocity_single, axis);
    frame->joint_target = FROM(got->joint_target, axis);
    frame->joint_target_velocity = FROM(got->joint_target_velocity, axis);
    frame->joint_effort = FROM(got->joint_effort, axis);
    frames->first_axis += frame->joint_axis_count;
    frames->first_position += frame->joint_position_count;
}

static MoreauFrameReport cut_report(const Moreau__V1__StepReports *reports, size_t index) {
    MoreauFrameReport report;
#define X(part, name, to) report.to = part->name[index];
    REPORT_COLUMNS(X)
#undef X
#define X(part, name, to) report.to = part->n_##name > 0 ? part->name[index] : 0.0;
    LATER_REPORT_COLUMNS(X)
#undef X
    return report;
}

bool moreau_next_frame(MoreauFrames *frames, MoreauFrame *frame) {
    *frame = (MoreauFrame){0};
    if (frames->index >= frames->count) {
        return false;
    }
    const Moreau__V1__EpisodeFrames *got = frames_of(frames->reply);
    size_t i = frames->index++;
    size_t first = frames->first_body;
    size_t count = (size_t)got->body_count[i];
    // the ids at hand are those of the frame before until one lists its own
    if (got->ids_count[i] > 0) {
        frames->first_id = frames->next_id;
        frames->next_id += (size_t)got->ids_count[i];
    }
    frames->first_body += count;
    *frame = (MoreauFrame){.step = got->step[i],
                           .world_step = got->n_world_step > 0 ? got->world_step[i] : 0,
                           .time = got->n_time > 0 ? got->time[i] : 0.0,
                           .stored = got->n_stored > 0 && got->stored[i] != 0,
                           .body_count = count,
                           .ids = count > 0 ? got->ids + frames->first_id : NULL,
                           .pose = FROM(got->pose, 7 * first),
                           .velocity = FROM(got->velocity, 6 * first),
                           .pose_single = FROM(got->pose_single, 7 * first),
                           .velocity_single = FROM(got->velocity_single, 6 * first)};
    if (got->n_contact_count > 0 && got->contacts != NULL) {
        size_t contacts = (size_t)got->contact_count[i];
        frame->contacts = cut_contacts(got, frames->first_contact, contacts);
        frames->first_contact += contacts;
    }
    if (got->n_joint_count > 0) {
        cut_joints(got, i, frames, frame);
    }
    if (got->n_has_report > 0 && got->has_report[i]) {
        frame->has_report = true;
        frame->report = cut_report(got->reports, i);
    }
    return true;
}
