// SPDX-License-Identifier: MIT
// CSV: a table has a row per thing and frame, so that things may come and go. Numbers are the
// shortest that read back as the same bits. One table is a file, several are files in a folder.
#include "cli/export/export.h"

#include "cli/episodes/frame_joint.h"
#include "cli/base/memory.h"
#include "cli/text/number.h"
#include "cli/episodes/report_columns.h"
#include "cli/files/save.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef enum CsvTable { CSV_BODIES, CSV_JOINTS, CSV_CONTACTS, CSV_REPORTS, CSV_TABLES } CsvTable;

typedef struct Csv {
    const ExportWish *wish;
    char *path[CSV_TABLES]; // owned
    SaveStream save[CSV_TABLES];
    bool is_open[CSV_TABLES];
    bool has_made_folder;
} Csv;

// ---- fields

static void put_text(SaveStream *save, const char *text) {
    save_write(save, text, strlen(text));
}

static void put_whole(SaveStream *save, uint64_t number) {
    char text[24];
    save_write(save, text, (size_t)snprintf(text, sizeof(text), "%" PRIu64, number));
}

// Each begins with the comma before it; a column that was not asked for has empty fields.
static void put_numbers(SaveStream *save, const double *numbers, size_t count) {
    char text[NUMBER_BYTES];
    for (size_t i = 0; i < count; i++) {
        put_text(save, ",");
        if (numbers != NULL) {
            put_text(save, number_write(numbers[i], text));
        }
    }
}

// As RFC 4180 has it: in quotes where it needs them, quotes doubled.
static void put_name(SaveStream *save, const char *name) {
    put_text(save, ",");
    if (strpbrk(name, ",\"\r\n") == NULL) {
        put_text(save, name);
        return;
    }
    put_text(save, "\"");
    for (const char *at = name; *at != '\0'; at++) {
        put_text(save, *at == '"' ? "\"\"" : (const char[]){*at, '\0'});
    }
    put_text(save, "\"");
}

static void begin_row(SaveStream *save, const MoreauFrame *frame) {
    put_whole(save, frame->step);
    put_text(save, ",");
    put_whole(save, frame->world_step);
    put_numbers(save, &frame->time, 1);
}

// ---- rows

static void put_bodies(const Csv *csv, SaveStream *save, const MoreauFrame *frame) {
    for (size_t i = 0; i < frame->body_count; i++) {
        if (!wanted_has(csv->wish->wanted, frame->ids[i])) {
            continue;
        }
        begin_row(save, frame);
        put_text(save, ",");
        put_whole(save, frame->ids[i]);
        put_name(save, body_names_find(&csv->wish->names, frame->ids[i]));
        if (csv->wish->poses) {
            put_numbers(save, frame->pose != NULL ? frame->pose + 7 * i : NULL, 7);
        }
        if (csv->wish->velocities) {
            put_numbers(save, frame->velocity != NULL ? frame->velocity + 6 * i : NULL, 6);
        }
        put_text(save, "\n");
    }
}

// One number of each column, of one axis; NULL where there is none.
static void put_axis(SaveStream *save, const MoreauFrame *frame, uint64_t joint, const char *axis,
                     const double *position, const size_t *at) {
    const double *const columns[] = {frame->joint_velocity, frame->joint_target,
                                     frame->joint_target_velocity, frame->joint_effort};
    begin_row(save, frame);
    put_text(save, ",");
    put_whole(save, joint);
    put_name(save, axis);
    put_numbers(save, position, 1);
    for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++) {
        put_numbers(save, at != NULL && columns[i] != NULL ? columns[i] + *at : NULL, 1);
    }
    put_text(save, "\n");
}

// A row for each axis. The quaternion of three turns has its x, y and z in theirs, and its w in a
// row of its own.
static void put_joint(SaveStream *save, const MoreauFrame *frame, size_t index,
                      const FrameJoint *joint) {
    static const char *const names[] = {"move_x", "move_y", "move_z", "turn_x", "turn_y", "turn_z"};
    enum { MOVES = 3 };
    const double *position =
        frame->joint_position != NULL ? frame->joint_position + joint->position : NULL;
    const uint64_t id = frame->joints[index];
    size_t axis = joint->axis, done = 0;
    bool has_w = frame_joint_has_quaternion(joint);
    for (uint32_t bit = 0; bit < 6 && done < joint->axis_count; bit++) {
        if ((frame->joint_axes[index] >> bit & 1) == 0) {
            continue;
        }
        if (bit == MOVES && has_w) {
            put_axis(save, frame, id, "turn_w", position, NULL);
            position += position != NULL ? 1 : 0;
        }
        put_axis(save, frame, id, names[bit], position, &axis);
        position += position != NULL ? 1 : 0;
        axis++;
        done++;
    }
}

static void put_joints(const Csv *csv, SaveStream *save, const MoreauFrame *frame) {
    (void)csv;
    FrameJoint joint = {0};
    for (size_t i = 0; i < frame->joint_count; i++) {
        frame_joint_next(frame, i, &joint);
        put_joint(save, frame, i, &joint);
    }
}

// The index-th item of a column, Nullable, of `width` numbers each.
static const double *at(const double *column, size_t index, size_t width) {
    return column != NULL ? column + index * width : NULL;
}

static void put_contacts(const Csv *csv, SaveStream *save, const MoreauFrame *frame) {
    const MoreauContacts *all = &frame->contacts;
    const BodyNames *names = &csv->wish->names;
    for (size_t i = 0; i < all->count; i++) {
        const uint64_t a = all->body_a[i], b = all->body_b != NULL ? all->body_b[i] : 0;
        if (!wanted_has(csv->wish->wanted, a) && !wanted_has(csv->wish->wanted, b)) {
            continue;
        }
        begin_row(save, frame);
        put_text(save, ",");
        put_whole(save, a);
        put_name(save, body_names_find(names, a));
        put_text(save, ",");
        put_whole(save, b);
        put_name(save, body_names_find(names, b));
        put_text(save, ",");
        put_whole(save, all->part_a != NULL ? all->part_a[i] : 0);
        put_text(save, ",");
        put_whole(save, all->part_b != NULL ? all->part_b[i] : 0);
        put_text(save, ",");
        put_whole(save, all->feature != NULL ? all->feature[i] : 0);
        put_numbers(save, at(all->point, i, 3), 3);
        put_numbers(save, at(all->frame, i, 9), 9);
        put_numbers(save, at(all->gap, i, 1), 1);
        put_numbers(save, at(all->impulse, i, 3), 3);
        put_numbers(save, at(all->velocity, i, 3), 3);
        put_numbers(save, at(all->friction, i, 1), 1);
        put_text(save, "\n");
    }
}

static void put_report(const Csv *csv, SaveStream *save, const MoreauFrame *frame) {
    (void)csv;
    if (!frame->has_report) {
        return;
    }
    begin_row(save, frame);
    for (size_t i = 0; i < REPORT_COLUMN_COUNT; i++) {
        const ReportColumn *column = &report_columns[i];
        if (column->kind == REPORT_REAL) {
            const double number = report_real(&frame->report, column);
            put_numbers(save, &number, 1);
        } else {
            put_text(save, ",");
            put_whole(save, report_whole(&frame->report, column));
        }
    }
    put_text(save, "\n");
}

// ---- tables

#define HEAD "step,world_step,time"

static void head_bodies(const ExportWish *wish, SaveStream *save) {
    put_text(save, HEAD ",body,name");
    put_text(save, wish->poses ? ",x,y,z,qw,qx,qy,qz" : "");
    put_text(save, wish->velocities ? ",vx,vy,vz,wx,wy,wz\n" : "\n");
}

static void head_joints(const ExportWish *wish, SaveStream *save) {
    (void)wish;
    put_text(save, HEAD ",joint,axis,position,velocity,target,target_velocity,effort\n");
}

static void head_contacts(const ExportWish *wish, SaveStream *save) {
    (void)wish;
    put_text(
        save, HEAD
        ",body_a,name_a,body_b,name_b,part_a,part_b,feature,px,py,pz,nx,ny,nz,t1x,t1y,"
        "t1z,t2x,t2y,t2z,gap,impulse_n,impulse_t1,impulse_t2,slip_n,slip_t1,slip_t2,friction\n");
}

static void head_reports(const ExportWish *wish, SaveStream *save) {
    (void)wish;
    put_text(save, HEAD);
    for (size_t i = 0; i < REPORT_COLUMN_COUNT; i++) {
        put_text(save, ",");
        put_text(save, report_columns[i].name);
    }
    put_text(save, "\n");
}

static const struct {
    const char *file;
    void (*head)(const ExportWish *wish, SaveStream *save);
    void (*put)(const Csv *csv, SaveStream *save, const MoreauFrame *frame);
} tables[CSV_TABLES] = {
    [CSV_BODIES] = {"bodies.csv", head_bodies, put_bodies},
    [CSV_JOINTS] = {"joints.csv", head_joints, put_joints},
    [CSV_CONTACTS] = {"contacts.csv", head_contacts, put_contacts},
    [CSV_REPORTS] = {"reports.csv", head_reports, put_report},
};

static bool wants(const ExportWish *wish, int table) {
    const bool wanted[CSV_TABLES] = {[CSV_BODIES] = wish->poses || wish->velocities,
                                     [CSV_JOINTS] = wish->joints,
                                     [CSV_CONTACTS] = wish->contacts,
                                     [CSV_REPORTS] = wish->reports};
    return wanted[table];
}

static bool is_folder(const char *path) {
    struct stat there;
    return stat(path, &there) == 0 && S_ISDIR(there.st_mode);
}

static char *join(const char *folder, const char *file) {
    size_t room = strlen(folder) + strlen(file) + 2;
    char *path = memory_take(room, 1);
    snprintf(path, room, "%s/%s", folder, file);
    return path;
}

static int begin(Cli *cli, const ExportWish *wish, void *state) {
    Csv *csv = state;
    csv->wish = wish;
    int count = 0, status = EXIT_DONE;
    for (int i = 0; i < CSV_TABLES; i++) {
        count += wants(wish, i);
    }
    bool in_folder = is_folder(wish->path);
    if (count > 1 && !in_folder) {
        if (mkdir(wish->path, 0777) != 0) {
            return cli_fail(cli, EXIT_USAGE, "%s: %d tables go into a folder: %s", wish->path,
                            count, strerror(errno));
        }
        in_folder = csv->has_made_folder = true;
    }
    for (int i = 0; i < CSV_TABLES && status == EXIT_DONE; i++) {
        if (wants(wish, i)) {
            csv->path[i] = in_folder ? join(wish->path, tables[i].file) : memory_copy(wish->path);
            status = save_begin(cli, csv->path[i], &csv->save[i]);
            csv->is_open[i] = status == EXIT_DONE;
        }
        if (csv->is_open[i]) {
            tables[i].head(wish, &csv->save[i]);
        }
    }
    return status;
}

static bool add(void *state, const MoreauFrame *frame) {
    Csv *csv = state;
    bool is_sound = true;
    for (int i = 0; i < CSV_TABLES; i++) {
        if (csv->is_open[i]) {
            tables[i].put(csv, &csv->save[i], frame);
            is_sound = is_sound && csv->save[i].error == 0;
        }
    }
    return is_sound;
}

// All, or none: the one that cannot be written is the first to end.
static int end(Cli *cli, void *state) {
    Csv *csv = state;
    for (int i = 0; i < CSV_TABLES; i++) {
        if (csv->is_open[i] && !save_settle(&csv->save[i])) {
            csv->is_open[i] = false;
            return save_end(cli, &csv->save[i]);
        }
    }
    int status = EXIT_DONE;
    for (int i = 0; i < CSV_TABLES && status == EXIT_DONE; i++) {
        if (csv->is_open[i]) {
            csv->is_open[i] = false;
            status = save_end(cli, &csv->save[i]);
        }
    }
    return status;
}

static void drop(void *state) {
    Csv *csv = state;
    for (int i = 0; i < CSV_TABLES; i++) {
        if (csv->is_open[i]) {
            save_drop(&csv->save[i]);
        }
        free(csv->path[i]);
    }
    if (csv->has_made_folder) {
        rmdir(csv->wish->path); // stays where there is a file in it
    }
}

const ExportFormat export_csv = {"--csv", sizeof(Csv), begin, add, end, drop};
