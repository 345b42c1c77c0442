// SPDX-License-Identifier: MIT
#include "wire/episode_columns.h"

#include "base/array.h"
#include "base/vec.h"
#include "step/step.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

// A column of the message: where its length and its array stand, and what they hold.
typedef struct ColumnRow {
    size_t count, values; // offsets in EpisodeColumns
    size_t item_bytes;
} ColumnRow;

#define FRAME_COLUMN(name, type)                                                                   \
    {                                                                                              \
        offsetof(EpisodeColumns, message.n_##name), offsetof(EpisodeColumns, message.name),        \
            sizeof(type)                                                                           \
    }
#define CONTACT_COLUMN(name, type)                                                                 \
    {                                                                                              \
        offsetof(EpisodeColumns, contacts.n_##name), offsetof(EpisodeColumns, contacts.name),      \
            sizeof(type)                                                                           \
    }

#define REPORT_COLUMN(part, name, type)                                                            \
    { offsetof(EpisodeColumns, part.n_##name), offsetof(EpisodeColumns, part.name), sizeof(type) }

// Columns of reports that are a field of StepReport, of the type that the message has.
#define REPORT_COLUMNS(X)                                                                          \
    X(CONTACTS, reports, contacts, uint32_t, contact_count)                                        \
    X(ROWS, reports, rows, uint32_t, row_count)                                                    \
    X(ITERATIONS, reports, iterations, uint32_t, iterations)                                       \
    X(RECOVERY, reports, recovery_contacts, uint32_t, recovery_count)                              \
    X(ASLEEP, reports, asleep, uint32_t, asleep_count)                                             \
    X(TOLERANCE, reports, tolerance, double, certificate.tolerance)                                \
    X(WORST_A, reports, worst_body_a, uint64_t, worst_body[0])                                     \
    X(WORST_B, reports, worst_body_b, uint64_t, worst_body[1])                                     \
    X(E_MOM, certificate, e_mom, double, certificate.entry[CERTIFICATE_MOM])                       \
    X(E_PEN, certificate, e_pen, double, certificate.entry[CERTIFICATE_PEN])                       \
    X(E_COMP, certificate, e_comp, double, certificate.entry[CERTIFICATE_COMP])                    \
    X(E_CONE, certificate, e_cone, double, certificate.entry[CERTIFICATE_CONE])                    \
    X(E_MDP, certificate, e_mdp, double, certificate.entry[CERTIFICATE_MDP])                       \
    X(E_DS, certificate, e_ds, double, certificate.entry[CERTIFICATE_DS])                          \
    X(E_OWN, certificate, e_own, double, certificate.entry[CERTIFICATE_OWN])                       \
    X(E_ROW, certificate, e_row, double, certificate.entry[CERTIFICATE_ROW])                       \
    X(PENETRATION, certificate, penetration, double, certificate.penetration)                      \
    X(BEFORE, energy, before, double, energy.before)                                               \
    X(AFTER, energy, after, double, energy.after)                                                  \
    X(CONTACT, energy, contact, double, energy.contact)                                            \
    X(ROW, energy, row, double, energy.row)                                                        \
    X(APPLIED, energy, applied, double, energy.applied)                                            \
    X(SCHEME, energy, scheme, double, energy.scheme)                                               \
    X(UNEXPLAINED, energy, unexplained, double, energy.unexplained)                                \
    X(DRIVE, energy, drive, double, energy.drive)                                                  \
    X(SWING, energy, swing, double, energy.swing)

typedef enum ColumnKind {
    COLUMN_STEP,
    COLUMN_WORLD_STEP,
    COLUMN_TIME,
    COLUMN_BODY_COUNT,
    COLUMN_IDS,
    COLUMN_IDS_COUNT,
    COLUMN_POSE,
    COLUMN_VELOCITY,
    COLUMN_POSE_SINGLE,
    COLUMN_VELOCITY_SINGLE,
    COLUMN_CONTACT_COUNT,
    COLUMN_STORED,
    COLUMN_JOINT_COUNT,
    COLUMN_JOINTS_COUNT,
    COLUMN_JOINTS,
    COLUMN_JOINT_AXES,
    COLUMN_JOINT_AXIS_COUNT,
    COLUMN_JOINT_POSITION_COUNT,
    COLUMN_JOINT_POSITION,
    COLUMN_JOINT_VELOCITY,
    COLUMN_JOINT_POSITION_SINGLE,
    COLUMN_JOINT_VELOCITY_SINGLE,
    COLUMN_JOINT_TARGET,
    COLUMN_JOINT_TARGET_VELOCITY,
    COLUMN_JOINT_EFFORT,
    COLUMN_BODY_A,
    COLUMN_BODY_B,
    COLUMN_PART_A,
    COLUMN_PART_B,
    COLUMN_FEATURE,
    COLUMN_POINT,
    COLUMN_FRAME,
    COLUMN_GAP,
    COLUMN_IMPULSE,
    COLUMN_CONTACT_VELOCITY,
    COLUMN_FRICTION,
    COLUMN_HAS_REPORT,
    COLUMN_CONVERGED,
#define X(upper, ...) COLUMN_REPORT_##upper,
    REPORT_COLUMNS(X)
#undef X
        COLUMN_COUNT
} ColumnKind;

static_assert((int)COLUMN_COUNT == (int)EPISODE_COLUMN_COUNT, "one capacity per column");

static const ColumnRow column_rows[COLUMN_COUNT] = {
    [COLUMN_STEP] = FRAME_COLUMN(step, uint64_t),
    [COLUMN_WORLD_STEP] = FRAME_COLUMN(world_step, uint64_t),
    [COLUMN_TIME] = FRAME_COLUMN(time, double),
    [COLUMN_BODY_COUNT] = FRAME_COLUMN(body_count, uint64_t),
    [COLUMN_IDS] = FRAME_COLUMN(ids, uint64_t),
    [COLUMN_IDS_COUNT] = FRAME_COLUMN(ids_count, uint64_t),
    [COLUMN_POSE] = FRAME_COLUMN(pose, double),
    [COLUMN_VELOCITY] = FRAME_COLUMN(velocity, double),
    [COLUMN_POSE_SINGLE] = FRAME_COLUMN(pose_single, float),
    [COLUMN_VELOCITY_SINGLE] = FRAME_COLUMN(velocity_single, float),
    [COLUMN_CONTACT_COUNT] = FRAME_COLUMN(contact_count, uint64_t),
    [COLUMN_STORED] = FRAME_COLUMN(stored, protobuf_c_boolean),
    [COLUMN_JOINT_COUNT] = FRAME_COLUMN(joint_count, uint64_t),
    [COLUMN_JOINTS_COUNT] = FRAME_COLUMN(joints_count, uint64_t),
    [COLUMN_JOINTS] = FRAME_COLUMN(joints, uint64_t),
    [COLUMN_JOINT_AXES] = FRAME_COLUMN(joint_axes, uint32_t),
    [COLUMN_JOINT_AXIS_COUNT] = FRAME_COLUMN(joint_axis_count, uint64_t),
    [COLUMN_JOINT_POSITION_COUNT] = FRAME_COLUMN(joint_position_count, uint64_t),
    [COLUMN_JOINT_POSITION] = FRAME_COLUMN(joint_position, double),
    [COLUMN_JOINT_VELOCITY] = FRAME_COLUMN(joint_velocity, double),
    [COLUMN_JOINT_POSITION_SINGLE] = FRAME_COLUMN(joint_position_single, float),
    [COLUMN_JOINT_VELOCITY_SINGLE] = FRAME_COLUMN(joint_velocity_single, float),
    [COLUMN_JOINT_TARGET] = FRAME_COLUMN(joint_target, double),
    [COLUMN_JOINT_TARGET_VELOCITY] = FRAME_COLUMN(joint_target_velocity, double),
    [COLUMN_JOINT_EFFORT] = FRAME_COLUMN(joint_effort, double),
    [COLUMN_BODY_A] = CONTACT_COLUMN(body_a, uint64_t),
    [COLUMN_BODY_B] = CONTACT_COLUMN(body_b, uint64_t),
    [COLUMN_PART_A] = CONTACT_COLUMN(part_a, uint32_t),
    [COLUMN_PART_B] = CONTACT_COLUMN(part_b, uint32_t),
    [COLUMN_FEATURE] = CONTACT_COLUMN(feature, uint64_t),
    [COLUMN_POINT] = CONTACT_COLUMN(point, double),
    [COLUMN_FRAME] = CONTACT_COLUMN(frame, double),
    [COLUMN_GAP] = CONTACT_COLUMN(gap, double),
    [COLUMN_IMPULSE] = CONTACT_COLUMN(impulse, double),
    [COLUMN_CONTACT_VELOCITY] = CONTACT_COLUMN(velocity, double),
    [COLUMN_FRICTION] = CONTACT_COLUMN(friction, double),
    [COLUMN_HAS_REPORT] = FRAME_COLUMN(has_report, protobuf_c_boolean),
    [COLUMN_CONVERGED] = REPORT_COLUMN(reports, converged, protobuf_c_boolean),
#define X(upper, part, name, type, field) [COLUMN_REPORT_##upper] = REPORT_COLUMN(part, name, type),
    REPORT_COLUMNS(X)
#undef X
};

static size_t *count_of(EpisodeColumns *columns, ColumnKind kind) {
    return (size_t *)(void *)((char *)columns + column_rows[kind].count);
}

static void **values_of(EpisodeColumns *columns, ColumnKind kind) {
    return (void **)(void *)((char *)columns + column_rows[kind].values);
}

void episode_columns_init(EpisodeColumns *columns, EpisodeWish wish) {
    *columns = (EpisodeColumns){.wish = wish};
    moreau__v1__episode_frames__init(&columns->message);
    moreau__v1__world_contacts_reply__init(&columns->contacts);
    if (wish.contacts) {
        columns->message.contacts = &columns->contacts;
    }
    moreau__v1__step_reports__init(&columns->reports);
    moreau__v1__certificate_columns__init(&columns->certificate);
    moreau__v1__energy_columns__init(&columns->energy);
    if (wish.reports) {
        columns->reports.last = &columns->certificate;
        columns->reports.energy = &columns->energy;
        columns->message.reports = &columns->reports;
    }
}

void episode_columns_deinit(EpisodeColumns *columns) {
    for (int kind = 0; kind < COLUMN_COUNT; kind++) {
        free(*values_of(columns, (ColumnKind)kind));
    }
    *columns = (EpisodeColumns){0};
}

size_t episode_columns_bytes(const EpisodeColumns *columns) {
    size_t bytes = 0;
    for (int kind = 0; kind < COLUMN_COUNT; kind++) {
        bytes += columns->capacity[kind] * column_rows[kind].item_bytes;
    }
    return bytes;
}

void episode_columns_clear(EpisodeColumns *columns) {
    for (int kind = 0; kind < COLUMN_COUNT; kind++) {
        *count_of(columns, (ColumnKind)kind) = 0;
    }
    columns->contacts.total = 0;
    columns->bytes = 0;
    columns->ids_from = columns->joints_from = 0;
}

// Room for `count` items more; NULL: memory ended.
static void *extend(EpisodeColumns *columns, ColumnKind kind, size_t count) {
    size_t *used = count_of(columns, kind);
    void **values = values_of(columns, kind);
    size_t item_bytes = column_rows[kind].item_bytes;
    if (!array_reserve(values, &columns->capacity[kind], *used + count + 1, item_bytes)) {
        return NULL;
    }
    void *at = (char *)*values + *used * item_bytes;
    *used += count;
    return at;
}

static bool append(EpisodeColumns *columns, ColumnKind kind, const void *values, size_t count) {
    void *at = extend(columns, kind, count);
    if (at != NULL && count > 0) {
        memcpy(at, values, count * column_rows[kind].item_bytes);
    }
    return at != NULL;
}

// Numbers as doubles in one column, or as floats in another.
static bool append_numbers(EpisodeColumns *columns, ColumnKind kind, ColumnKind single,
                           const double *values, size_t count) {
    columns->bytes += count * (columns->wish.single ? sizeof(float) : sizeof(double));
    if (!columns->wish.single) {
        return append(columns, kind, values, count);
    }
    float *at = extend(columns, single, count);
    for (size_t i = 0; at != NULL && i < count; i++) {
        at[i] = (float)values[i];
    }
    return at != NULL;
}

static bool append_contacts(EpisodeColumns *columns, const ContactList *list) {
    // five numbers of one byte or more, 19 doubles
    enum { CONTACT_BYTES_LEAST = 5 + 19 * 8 };
    uint64_t count = list->count;
    size_t n = list->count;
    columns->contacts.has_total = 1;
    columns->contacts.total += count;
    columns->bytes += 1 + n * CONTACT_BYTES_LEAST;
    return append(columns, COLUMN_CONTACT_COUNT, &count, 1) &&
           append(columns, COLUMN_BODY_A, list->body_a, n) &&
           append(columns, COLUMN_BODY_B, list->body_b, n) &&
           append(columns, COLUMN_PART_A, list->part_a, n) &&
           append(columns, COLUMN_PART_B, list->part_b, n) &&
           append(columns, COLUMN_FEATURE, list->feature, n) &&
           append(columns, COLUMN_POINT, list->point, 3 * n) &&
           append(columns, COLUMN_FRAME, list->frame, 9 * n) &&
           append(columns, COLUMN_GAP, list->gap, n) &&
           append(columns, COLUMN_IMPULSE, list->impulse, 3 * n) &&
           append(columns, COLUMN_CONTACT_VELOCITY, list->velocity, 3 * n) &&
           append(columns, COLUMN_FRICTION, list->friction, n);
}

static bool append_report(EpisodeColumns *columns, const EpisodeFrame *frame) {
    // where each column is in a report
    static const struct {
        ColumnKind kind;
        size_t offset;
    } fields[] = {
#define X(upper, part, name, type, field) {COLUMN_REPORT_##upper, offsetof(StepReport, field)},
        REPORT_COLUMNS(X)
#undef X
    };
    enum { REPORT_BYTES_LEAST = 9 + 17 * 8 }; // whole numbers of one byte or more, 17 doubles
    static const StepReport none;
    const StepReport *report = frame->report != NULL ? frame->report : &none;
    const protobuf_c_boolean is_there = frame->report != NULL,
                             converged = report->certificate.converged;
    columns->bytes += REPORT_BYTES_LEAST;
    bool is_added = append(columns, COLUMN_HAS_REPORT, &is_there, 1) &&
                    append(columns, COLUMN_CONVERGED, &converged, 1);
    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]) && is_added; i++) {
        is_added = append(columns, fields[i].kind, (const char *)report + fields[i].offset, 1);
    }
    return is_added;
}

static bool has_same_bodies(const EpisodeColumns *columns, const EpisodeFrame *frame) {
    const Moreau__V1__EpisodeFrames *message = &columns->message;
    size_t known = message->n_ids - columns->ids_from;
    return message->n_step > 0 && known == frame->body_count &&
           (known == 0 ||
            memcmp(message->ids + columns->ids_from, frame->ids, known * sizeof(uint64_t)) == 0);
}

static bool has_same_joints(const EpisodeColumns *columns, const EpisodeFrame *frame) {
    const Moreau__V1__EpisodeFrames *message = &columns->message;
    const size_t known = message->n_joints - columns->joints_from;
    return message->n_joint_count > 0 && known == frame->joints.count &&
           (known == 0 || memcmp(message->joints + columns->joints_from, frame->joints.ids,
                                 known * sizeof(uint64_t)) == 0);
}

bool episode_columns_same_things(const EpisodeColumns *columns, const EpisodeFrame *frame) {
    return has_same_bodies(columns, frame) &&
           (!columns->wish.joints || has_same_joints(columns, frame));
}

static bool append_joint_ids(EpisodeColumns *columns, const FrameJoints *joints, bool same) {
    const uint64_t listed = same ? 0 : joints->count;
    columns->bytes += 2 * listed;
    if (!same) {
        columns->joints_from = columns->message.n_joints;
    }
    uint32_t *axes = extend(columns, COLUMN_JOINT_AXES, listed);
    for (size_t i = 0; axes != NULL && i < listed; i++) {
        axes[i] = (uint32_t)joints->axes[i];
    }
    return axes != NULL && append(columns, COLUMN_JOINTS_COUNT, &listed, 1) &&
           append(columns, COLUMN_JOINTS, joints->ids, listed);
}

static bool append_joints(EpisodeColumns *columns, const EpisodeFrame *frame) {
    const FrameJoints *joints = &frame->joints;
    const StateFrame *state = &frame->frame;
    const size_t axes = joints->axis_count;
    const uint64_t count = joints->count, axis_count = axes,
                   position_count = joints->position_count;
    columns->bytes += 4 + 3 * axes * sizeof(double);
    return append_joint_ids(columns, joints, has_same_joints(columns, frame)) &&
           append(columns, COLUMN_JOINT_COUNT, &count, 1) &&
           append(columns, COLUMN_JOINT_AXIS_COUNT, &axis_count, 1) &&
           append(columns, COLUMN_JOINT_POSITION_COUNT, &position_count, 1) &&
           append_numbers(columns, COLUMN_JOINT_POSITION, COLUMN_JOINT_POSITION_SINGLE,
                          state->joint_position, joints->position_count) &&
           append_numbers(columns, COLUMN_JOINT_VELOCITY, COLUMN_JOINT_VELOCITY_SINGLE,
                          state->joint_velocity, axes) &&
           append(columns, COLUMN_JOINT_TARGET, state->joint_target, axes) &&
           append(columns, COLUMN_JOINT_TARGET_VELOCITY, state->joint_target_velocity, axes) &&
           append(columns, COLUMN_JOINT_EFFORT, state->joint_effort, axes);
}

static bool append_ids(EpisodeColumns *columns, const EpisodeFrame *frame) {
    bool same = has_same_bodies(columns, frame);
    uint64_t listed = same ? 0 : frame->body_count;
    columns->bytes += listed;
    if (!same) {
        columns->ids_from =
            columns->message.n_ids; // also when there are none: what comes next is new
    }
    return append(columns, COLUMN_IDS_COUNT, &listed, 1) &&
           append(columns, COLUMN_IDS, frame->ids, listed);
}

// A file may hold anything, and recordings may be older than the rule that state fits a float.
static Status check_numbers(const EpisodeWish *wish, const EpisodeFrame *frame, const char *what,
                            const double *values, size_t stride, Error *error) {
    double bound = wish->single ? (double)FLT_MAX : DBL_MAX;
    for (size_t i = 0; i < frame->body_count; i++) {
        if (!numbers_are_within(values + stride * i, stride, bound)) {
            bool is_finite = numbers_are_finite(values + stride * i, stride);
            return error_set(error, is_finite ? STATUS_FAILED_PRECONDITION : STATUS_DATA_LOSS,
                             is_finite ? "single" : "",
                             "The %s of body %" PRIu64 " at step %" PRIu64 " is %s.", what,
                             frame->ids[i], frame->frame.step,
                             is_finite ? "beyond 3.4e38, the largest float: ask for doubles"
                                       : "not finite: the recording is damaged");
        }
    }
    return STATUS_OK;
}

static bool contacts_are_finite(const ContactList *list) {
    size_t n = list->count;
    return numbers_are_finite(list->point, 3 * n) && numbers_are_finite(list->frame, 9 * n) &&
           numbers_are_finite(list->gap, n) && numbers_are_finite(list->impulse, 3 * n) &&
           numbers_are_finite(list->velocity, 3 * n) && numbers_are_finite(list->friction, n);
}

static Status check_joint_numbers(const EpisodeWish *wish, const EpisodeFrame *frame,
                                  Error *error) {
    const FrameJoints *joints = &frame->joints;
    const StateFrame *state = &frame->frame;
    const size_t axes = joints->axis_count;
    const struct {
        const double *values;
        size_t count;
        bool may_be_single;
    } columns[] = {{state->joint_position, joints->position_count, true},
                   {state->joint_velocity, axes, true},
                   {state->joint_target, axes, false},
                   {state->joint_target_velocity, axes, false},
                   {state->joint_effort, axes, false}};
    for (size_t i = 0; joints->count > 0 && i < sizeof(columns) / sizeof(columns[0]); i++) {
        const bool is_finite = numbers_are_finite(columns[i].values, columns[i].count);
        if (!is_finite || (wish->single && columns[i].may_be_single &&
                           !numbers_are_within(columns[i].values, columns[i].count, FLT_MAX))) {
            return error_set(error, is_finite ? STATUS_FAILED_PRECONDITION : STATUS_DATA_LOSS,
                             is_finite ? "single" : "",
                             "A number of a joint at step %" PRIu64 " is %s.", state->step,
                             is_finite ? "beyond 3.4e38, the largest float: ask for doubles"
                                       : "not finite: the recording is damaged");
        }
    }
    return STATUS_OK;
}

static Status check_frame(const EpisodeWish *wish, const EpisodeFrame *frame, Error *error) {
    Status status = STATUS_OK;
    if (!isfinite(frame->frame.time) || !contacts_are_finite(&frame->contacts)) {
        status = error_set(error, STATUS_DATA_LOSS, "",
                           "The time or a contact at step %" PRIu64
                           " is not finite: the recording is damaged.",
                           frame->frame.step);
    }
    if (status == STATUS_OK && wish->poses) {
        status = check_numbers(wish, frame, "pose", frame->frame.pose, 7, error);
    }
    if (status == STATUS_OK && wish->velocities) {
        status = check_numbers(wish, frame, "velocity", frame->frame.velocity, 6, error);
    }
    return STATUS_THEN_IF(status, wish->joints, check_joint_numbers(wish, frame, error));
}

static bool add_frame(EpisodeColumns *columns, const EpisodeFrame *frame) {
    const EpisodeWish *wish = &columns->wish;
    uint64_t body_count = frame->body_count;
    protobuf_c_boolean stored = frame->is_stored;
    // a byte or more each: two steps, the numbers of bodies and ids, the flag; and the time
    columns->bytes += 5 + sizeof(double);
    bool added = append_ids(columns, frame) &&
                 append(columns, COLUMN_STEP, &frame->frame.step, 1) &&
                 append(columns, COLUMN_WORLD_STEP, &frame->frame.world_step, 1) &&
                 append(columns, COLUMN_TIME, &frame->frame.time, 1) &&
                 append(columns, COLUMN_BODY_COUNT, &body_count, 1) &&
                 append(columns, COLUMN_STORED, &stored, 1);
    if (added && wish->poses) {
        added = append_numbers(columns, COLUMN_POSE, COLUMN_POSE_SINGLE, frame->frame.pose,
                               7 * frame->body_count);
    }
    if (added && wish->velocities) {
        added = append_numbers(columns, COLUMN_VELOCITY, COLUMN_VELOCITY_SINGLE,
                               frame->frame.velocity, 6 * frame->body_count);
    }
    return added && (!wish->joints || append_joints(columns, frame)) &&
           (!wish->contacts || append_contacts(columns, &frame->contacts)) &&
           (!wish->reports || append_report(columns, frame));
}

Status episode_columns_add(EpisodeColumns *columns, const EpisodeFrame *frame, Error *error) {
    Status status = check_frame(&columns->wish, frame, error);
    if (status == STATUS_OK && !add_frame(columns, frame)) {
        status = error_set(error, STATUS_RESOURCE_EXHAUSTED, "", "Memory ended while reading.");
    }
    return status;
}
