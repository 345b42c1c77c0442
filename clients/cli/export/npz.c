// SPDX-License-Identifier: MIT
// NPZ: arrays of which the first extent is the frames. How many frames and things there are is
// known in the end, and an archive holds one array after the other: so columns wait in files of
// their own.
#include "cli/export/export.h"

#include "cli/episodes/frame_joint.h"
#include "cli/base/memory.h"
#include "cli/files/npz.h"
#include "cli/episodes/report_columns.h"
#include "cli/files/save.h"
#include "cli/files/spread.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// Columns that are arrays as they are gathered: one item per frame, or per contact.
#define PLAIN_COLUMNS(X)                                                                           \
    X(STEP, "step", "u8", 8, 1)                                                                    \
    X(WORLD_STEP, "world_step", "u8", 8, 1)                                                        \
    X(TIME, "time", "f8", 8, 1)                                                                    \
    X(STORED, "stored", "b1", 1, 1)                                                                \
    X(CONTACT_FIRST, "contact_first", "u8", 8, 1)                                                  \
    X(BODY_A, "contact_body_a", "u8", 8, 1)                                                        \
    X(BODY_B, "contact_body_b", "u8", 8, 1)                                                        \
    X(PART_A, "contact_part_a", "u4", 4, 1)                                                        \
    X(PART_B, "contact_part_b", "u4", 4, 1)                                                        \
    X(FEATURE, "contact_feature", "u8", 8, 1)                                                      \
    X(POINT, "contact_point", "f8", 8, 3)                                                          \
    X(FRAME, "contact_frame", "f8", 8, 9)                                                          \
    X(GAP, "contact_gap", "f8", 8, 1)                                                              \
    X(IMPULSE, "contact_impulse", "f8", 8, 3)                                                      \
    X(SLIP, "contact_velocity", "f8", 8, 3)                                                        \
    X(FRICTION, "contact_friction", "f8", 8, 1)

// Columns of things that come and go.
#define SPREAD_COLUMNS(X)                                                                          \
    X(POSE, "pose")                                                                                \
    X(VELOCITY, "velocity")                                                                        \
    X(JOINT_POSITION, "joint_position")                                                            \
    X(JOINT_VELOCITY, "joint_velocity")                                                            \
    X(JOINT_TARGET, "joint_target")                                                                \
    X(JOINT_TARGET_VELOCITY, "joint_target_velocity")                                              \
    X(JOINT_EFFORT, "joint_effort")

typedef enum Column {
#define X(upper, ...) COLUMN_##upper,
    PLAIN_COLUMNS(X) PLAIN_COUNT,
    PLAIN_END = PLAIN_COUNT - 1,
    SPREAD_COLUMNS(X) COLUMN_COUNT
#undef X
} Column;

static const struct {
    const char *name, *type;
    size_t item_bytes;
    uint64_t width; // items in a row
} plain[PLAIN_COUNT] = {
#define X(upper, ...) {__VA_ARGS__},
    PLAIN_COLUMNS(X)
#undef X
};

static const char *const spread_name[COLUMN_COUNT] = {
#define X(upper, lower) [COLUMN_##upper] = lower,
    SPREAD_COLUMNS(X)
#undef X
};

typedef struct NpzExport {
    const ExportWish *wish;
    SaveStream save;
    bool is_open;
    uint64_t frames, contacts;
    FILE *column[COLUMN_COUNT];                     // NULL: not asked for
    FILE *report[REPORT_COLUMN_COUNT], *has_report; // likewise
    Spread bodies, joints;
    SpreadThing *things; // owned: of the frame at hand
    size_t thing_capacity;
} NpzExport;

// ---- gathering

static bool wants(const ExportWish *wish, int column) {
    if (column < COLUMN_CONTACT_FIRST) {
        return true;
    }
    if (column < PLAIN_COUNT) {
        return wish->contacts;
    }
    return column == COLUMN_POSE       ? wish->poses
           : column == COLUMN_VELOCITY ? wish->velocities
                                       : wish->joints;
}

static int begin(Cli *cli, const ExportWish *wish, void *state) {
    NpzExport *npz = state;
    npz->wish = wish;
    int status = save_begin(cli, wish->path, &npz->save);
    if (status != EXIT_DONE) {
        return status;
    }
    npz->is_open = true;
    if (!save_is_file(&npz->save)) {
        return cli_fail(cli, EXIT_USAGE, "%s is no file, and an archive cannot be written into it",
                        wish->path);
    }
    bool is_sound = spread_open(&npz->bodies, &npz->save) && spread_open(&npz->joints, &npz->save);
    for (int i = 0; i < COLUMN_COUNT && is_sound; i++) {
        if (wants(wish, i)) {
            npz->column[i] = save_spool(&npz->save);
            is_sound = npz->column[i] != NULL;
        }
    }
    for (int i = 0; i < REPORT_COLUMN_COUNT && is_sound && wish->reports; i++) {
        npz->report[i] = save_spool(&npz->save);
        is_sound = npz->report[i] != NULL;
    }
    if (is_sound && wish->reports) {
        npz->has_report = save_spool(&npz->save);
        is_sound = npz->has_report != NULL;
    }
    npz->is_open = is_sound;
    return is_sound ? EXIT_DONE : save_end(cli, &npz->save); // which says what its error is
}

static void put(NpzExport *npz, Column column, const void *data, size_t bytes) {
    if (npz->column[column] != NULL) {
        save_spool_write(&npz->save, npz->column[column], data, bytes);
    }
}

static SpreadThing *take_things(NpzExport *npz, size_t count) {
    if (count > npz->thing_capacity) {
        npz->thing_capacity = 2 * count;
        npz->things = memory_grow(npz->things, npz->thing_capacity, sizeof(*npz->things));
    }
    return npz->things;
}

static void add_bodies(NpzExport *npz, const MoreauFrame *frame) {
    SpreadThing *things = take_things(npz, frame->body_count);
    size_t count = 0;
    for (size_t i = 0; i < frame->body_count; i++) {
        if (wanted_has(npz->wish->wanted, frame->ids[i])) {
            things[count++] = (SpreadThing){.id = frame->ids[i]};
            put(npz, COLUMN_POSE, frame->pose + 7 * i, 7 * sizeof(double));
            put(npz, COLUMN_VELOCITY, frame->velocity + 6 * i, 6 * sizeof(double));
        }
    }
    spread_add(&npz->bodies, &npz->save, things, count);
}

static void add_joints(NpzExport *npz, const MoreauFrame *frame) {
    SpreadThing *things = take_things(npz, frame->joint_count);
    FrameJoint joint = {0};
    for (size_t i = 0; i < frame->joint_count; i++) {
        frame_joint_next(frame, i, &joint);
        things[i] = (SpreadThing){.id = frame->joints[i], .axes = frame->joint_axes[i]};
    }
    // those of all joints stand one behind the other
    const size_t axes = (joint.axis + joint.axis_count) * sizeof(double);
    put(npz, COLUMN_JOINT_POSITION, frame->joint_position,
        (joint.position + joint.position_count) * sizeof(double));
    put(npz, COLUMN_JOINT_VELOCITY, frame->joint_velocity, axes);
    put(npz, COLUMN_JOINT_TARGET, frame->joint_target, axes);
    put(npz, COLUMN_JOINT_TARGET_VELOCITY, frame->joint_target_velocity, axes);
    put(npz, COLUMN_JOINT_EFFORT, frame->joint_effort, axes);
    spread_add(&npz->joints, &npz->save, things, frame->joint_count);
}

static void add_contacts(NpzExport *npz, const MoreauFrame *frame) {
    const MoreauContacts *all = &frame->contacts;
    put(npz, COLUMN_CONTACT_FIRST, &npz->contacts, sizeof(npz->contacts));
    for (size_t i = 0; i < all->count; i++) {
        if (!wanted_has(npz->wish->wanted, all->body_a[i]) &&
            !wanted_has(npz->wish->wanted, all->body_b[i])) {
            continue;
        }
        static const uint32_t no_part = 0; // of servers that did not tell
        const void *const columns[] = {all->body_a + i,
                                       all->body_b + i,
                                       all->part_a != NULL ? all->part_a + i : &no_part,
                                       all->part_b != NULL ? all->part_b + i : &no_part,
                                       all->feature + i,
                                       all->point + 3 * i,
                                       all->frame + 9 * i,
                                       all->gap + i,
                                       all->impulse + 3 * i,
                                       all->velocity + 3 * i,
                                       all->friction + i};
        for (int k = COLUMN_BODY_A; k < PLAIN_COUNT; k++) {
            put(npz, (Column)k, columns[k - COLUMN_BODY_A], plain[k].item_bytes * plain[k].width);
        }
        npz->contacts++;
    }
}

// Where no step led to the frame: numbers that are none, and zeros.
static void add_report(NpzExport *npz, const MoreauFrame *frame) {
    static const double nothing = NAN;
    for (int i = 0; i < REPORT_COLUMN_COUNT && npz->report[i] != NULL; i++) {
        const ReportColumn *column = &report_columns[i];
        const void *number = !frame->has_report && column->kind == REPORT_REAL
                                 ? (const void *)&nothing
                                 : (const char *)&frame->report + column->offset;
        save_spool_write(&npz->save, npz->report[i], number, column->item_bytes);
    }
    if (npz->has_report != NULL) {
        const uint8_t is_there = frame->has_report;
        save_spool_write(&npz->save, npz->has_report, &is_there, sizeof(is_there));
    }
}

static bool add(void *state, const MoreauFrame *frame) {
    NpzExport *npz = state;
    const uint8_t stored = frame->stored;
    put(npz, COLUMN_STEP, &frame->step, sizeof(frame->step));
    put(npz, COLUMN_WORLD_STEP, &frame->world_step, sizeof(frame->world_step));
    put(npz, COLUMN_TIME, &frame->time, sizeof(frame->time));
    put(npz, COLUMN_STORED, &stored, sizeof(stored));
    add_bodies(npz, frame);
    add_joints(npz, frame);
    add_contacts(npz, frame);
    add_report(npz, frame);
    npz->frames++;
    return npz->save.error == 0;
}

// ---- writing

// What was gathered is the array as it is.
static void copy_column(NpzExport *npz, Npz *out, FILE *column) {
    enum { PIECE_BYTES = 1 << 16 };
    uint8_t piece[PIECE_BYTES];
    save_spool_rewind(&npz->save, column);
    while (out->left > 0 && npz->save.error == 0) {
        const size_t bytes = out->left < PIECE_BYTES ? (size_t)out->left : PIECE_BYTES;
        if (save_spool_read(&npz->save, column, piece, bytes)) {
            npz_write(out, piece, bytes);
        }
    }
    npz_array_end(out);
}

static void write_plain(NpzExport *npz, Npz *out, int column) {
    const uint64_t rows = column <= COLUMN_STORED          ? npz->frames
                          : column == COLUMN_CONTACT_FIRST ? npz->frames + 1
                                                           : npz->contacts;
    const uint64_t shape[] = {rows, plain[column].width == 9 ? 3 : plain[column].width, 3};
    const size_t dimensions = plain[column].width == 1 ? 1 : plain[column].width == 9 ? 3 : 2;
    npz_array_begin(out, plain[column].name, plain[column].type, plain[column].item_bytes,
                    dimensions, shape);
    copy_column(npz, out, npz->column[column]);
}

static void write_reports(NpzExport *npz, Npz *out) {
    const uint64_t shape[] = {npz->frames};
    char name[NPZ_NAME_BYTES - sizeof(".npy")];
    npz_array_begin(out, "report_present", "b1", 1, 1, shape);
    copy_column(npz, out, npz->has_report);
    for (int i = 0; i < REPORT_COLUMN_COUNT; i++) {
        const ReportColumn *column = &report_columns[i];
        snprintf(name, sizeof(name), "report_%s", column->name);
        npz_array_begin(out, name, column->type, column->item_bytes, 1, shape);
        copy_column(npz, out, npz->report[i]);
    }
}

// Where the numbers of each thing begin, of things that have `one` each.
static uint64_t *count_up(const Spread *spread) {
    uint64_t *first = memory_take(spread->all_count + 1, sizeof(*first));
    for (size_t i = 0; i <= spread->all_count; i++) {
        first[i] = i;
    }
    return first;
}

static uint64_t *joint_first(const Spread *joints, bool positions) {
    enum { TURNS = 7 << 3 };
    uint64_t *first = memory_take(joints->all_count + 1, sizeof(*first));
    for (size_t i = 0; i < joints->all_count; i++) {
        const uint32_t axes = joints->all[i].axes;
        first[i + 1] = first[i] + (uint64_t)__builtin_popcount(axes) +
                       (positions && (axes & TURNS) == TURNS ? 1 : 0);
    }
    return first;
}

static void write_ids(const Spread *spread, Npz *out, const char *name) {
    const uint64_t shape[] = {spread->all_count};
    npz_array_begin(out, name, "u8", sizeof(uint64_t), 1, shape);
    for (size_t i = 0; i < spread->all_count; i++) {
        npz_write(out, &spread->all[i].id, sizeof(uint64_t));
    }
    npz_array_end(out);
}

static void write_bodies(const NpzExport *npz, Npz *out) {
    const Spread *bodies = &npz->bodies;
    const char **names = memory_take(bodies->all_count + 1, sizeof(*names));
    for (size_t i = 0; i < bodies->all_count; i++) {
        names[i] = body_names_find(&npz->wish->names, bodies->all[i].id);
    }
    uint64_t *first = count_up(bodies);
    write_ids(bodies, out, "body");
    npz_texts(out, "body_name", names, bodies->all_count);
    spread_write(bodies, out, npz->frames, &(SpreadArray){"present", NULL, first, 1});
    for (int i = COLUMN_POSE; i <= COLUMN_VELOCITY; i++) {
        if (npz->column[i] != NULL) {
            const SpreadArray array = {spread_name[i], npz->column[i], first,
                                       i == COLUMN_POSE ? 7 : 6};
            spread_write(bodies, out, npz->frames, &array);
        }
    }
    free(first);
    free(names);
}

static void write_joints(const NpzExport *npz, Npz *out) {
    const Spread *joints = &npz->joints;
    uint64_t *axis = joint_first(joints, false), *position = joint_first(joints, true);
    const uint64_t shape[] = {joints->all_count}, ends[] = {joints->all_count + 1};
    write_ids(joints, out, "joint");
    npz_array_begin(out, "joint_axes", "u4", sizeof(uint32_t), 1, shape);
    for (size_t i = 0; i < joints->all_count; i++) {
        npz_write(out, &joints->all[i].axes, sizeof(uint32_t));
    }
    npz_array_end(out);
    npz_array(out, "joint_axis_first", "u8", sizeof(uint64_t), 1, ends, axis);
    npz_array(out, "joint_position_first", "u8", sizeof(uint64_t), 1, ends, position);
    spread_write(joints, out, npz->frames, &(SpreadArray){"joint_present", NULL, axis, 1});
    for (int i = COLUMN_JOINT_POSITION; i < COLUMN_COUNT; i++) {
        const SpreadArray array = {spread_name[i], npz->column[i],
                                   i == COLUMN_JOINT_POSITION ? position : axis, 1};
        spread_write(joints, out, npz->frames, &array);
    }
    free(axis);
    free(position);
}

static int end(Cli *cli, void *state) {
    NpzExport *npz = state;
    const ExportWish *wish = npz->wish;
    Npz *out = memory_take(1, sizeof(*out));
    put(npz, COLUMN_CONTACT_FIRST, &npz->contacts, sizeof(npz->contacts));
    npz_begin(out, &npz->save);
    npz_text(out, "episode", wish->uid);
    npz_text(out, "name", wish->name);
    for (int i = 0; i < PLAIN_COUNT; i++) {
        if (npz->column[i] != NULL) {
            write_plain(npz, out, i);
        }
    }
    if (wish->poses || wish->velocities) {
        write_bodies(npz, out);
    }
    if (wish->joints) {
        write_joints(npz, out);
    }
    if (wish->reports) {
        write_reports(npz, out);
    }
    npz_end(out);
    free(out);
    npz->is_open = false;
    return save_end(cli, &npz->save);
}

static void close_files(FILE *const *files, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (files[i] != NULL) {
            fclose(files[i]);
        }
    }
}

static void drop(void *state) {
    NpzExport *npz = state;
    close_files(npz->column, COLUMN_COUNT);
    close_files(npz->report, REPORT_COLUMN_COUNT);
    close_files(&npz->has_report, 1);
    spread_close(&npz->bodies);
    spread_close(&npz->joints);
    free(npz->things);
    if (npz->is_open) {
        save_drop(&npz->save);
    }
}

const ExportFormat export_npz = {"--npz", sizeof(NpzExport), begin, add, end, drop};
