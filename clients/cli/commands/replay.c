// SPDX-License-Identifier: MIT
// moreau replay: what happened in an episode, frame by frame.
#include "cli/cli.h"

#include "cli/episodes/body_names.h"
#include "cli/episodes/episode_text.h"
#include "cli/episodes/frame_joint.h"
#include "cli/text/fold.h"
#include "cli/text/number.h"
#include "cli/episodes/play.h"
#include "cli/episodes/report_columns.h"
#include "cli/text/shown.h"
#include "cli/text/table.h"
#include "cli/text/terminal.h"
#include "cli/episodes/wanted.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

static const char usage[] =
    "moreau replay: what happened in an episode, frame by frame\n"
    "\n"
    "  moreau replay EPISODE [options]\n"
    "\n"
    "Positions in m, orientations as quaternions w x y z, velocities of the centres\n"
    "of mass in m/s. With --json one document per line and frame, which holds all.\n"
    "Frames are read from the file where it has them, else the server steps again.\n"
    "On a terminal it plays at --speed 1, elsewhere at once. Ctrl-C ends it.\n"
    "Behind a step that launched something, as convex friction does, it says so: of\n"
    "each stretch that the log keeps, the fastest.\n"
    "\n"
    "BODY is an id, or the name that the scene gave it. A name that is a number goes\n"
    "by its body's id. A table leaves out bodies that are static and so never move,\n"
    "unless --body asks for them; --json has all.\n"
    "\n"
    "Examples:\n"
    "  moreau replay demo\n"
    "  moreau replay demo --from 100 --to 200 --stride 10 --body box1 --speed 0\n"
    "  moreau replay demo --backward --from 100 --to 200 --speed 0.25\n"
    "  moreau replay robot --json --joints | jq -c '.joints[] | .position'\n"
    "  moreau replay 3e9f0a8d --json --contacts | jq -c '.contacts[] | .gap'\n";

static const CliField typed[] = {
    {"episode", "EPISODE"}, {"first", "--from"},  {"last", "--to"},
    {"stride", "--stride"}, {"speed", "--speed"}, {NULL, NULL},
};

#define NOT_GIVEN UINT64_MAX

enum { LAUNCHES_MAX = 10000 }; // as many highlights of a kind as a server tells

typedef struct Replay {
    Cli *cli;
    bool contacts, joints, reports;
    WantedBodies wanted;
    BodyNames names;
    unsigned body_columns;        // what the longest name takes, as far as there is room
    uint64_t frames, stored;      // shown
    Moreau__V1__Reply *described; // owned, Nullable: what the log says of steps
} Replay;

// What the frame's step launched, where the log keeps it: of each stretch of inputs the fastest.
// Nullable.
static const Moreau__V1__EpisodeHighlight *find_launch(const Replay *replay,
                                                       const MoreauFrame *frame) {
    const Moreau__V1__EpisodeDescribeReply *said =
        replay->described != NULL ? replay->described->episode_describe : NULL;
    for (size_t i = 0; said != NULL && i < said->n_highlights; i++) {
        const Moreau__V1__EpisodeHighlight *one = said->highlights[i];
        if (one->kind == MOREAU__V1__EPISODE_HIGHLIGHT__KIND__LAUNCH &&
            one->worst_step == frame->step &&
            (wanted_has(&replay->wanted, one->body) ||
             wanted_has(&replay->wanted, one->other_body))) {
            return one;
        }
    }
    return NULL;
}

// ---- as lines of JSON

// `numbers` is Nullable: nothing is set then.
static void set_numbers(json_t *object, const char *key, const double *numbers, size_t count) {
    if (numbers == NULL) {
        return;
    }
    json_object_set_new(object, key, number_json_list(numbers, count));
}

// The index-th item of a column, Nullable, of `stride` numbers each.
static const double *at(const double *column, size_t index, size_t stride) {
    return column != NULL ? column + index * stride : NULL;
}

static json_t *write_contact(const MoreauContacts *all, size_t index) {
    json_t *contact = json_object();
    json_object_set_new(contact, "body_a", number_json_whole(all->body_a[index]));
    if (all->body_b != NULL) {
        json_object_set_new(contact, "body_b", number_json_whole(all->body_b[index]));
    }
    set_numbers(contact, "point", at(all->point, index, 3), 3);
    set_numbers(contact, "frame", at(all->frame, index, 9), 9);
    set_numbers(contact, "impulse", at(all->impulse, index, 3), 3);
    set_numbers(contact, "velocity", at(all->velocity, index, 3), 3);
    if (all->gap != NULL) {
        json_object_set_new(contact, "gap", number_json(all->gap[index]));
    }
    return contact;
}

static bool touches_wanted(const Replay *replay, const MoreauContacts *all, size_t index) {
    return wanted_has(&replay->wanted, all->body_a[index]) ||
           (all->body_b != NULL && wanted_has(&replay->wanted, all->body_b[index]));
}

static json_t *write_joints(const MoreauFrame *frame) {
    json_t *joints = json_array();
    FrameJoint part = {0};
    for (size_t i = 0; i < frame->joint_count; i++) {
        json_t *joint = json_object();
        frame_joint_next(frame, i, &part);
        const size_t axis = part.axis, count = part.axis_count;
        json_object_set_new(joint, "id", number_json_whole(frame->joints[i]));
        set_numbers(joint, "position", at(frame->joint_position, part.position, 1),
                    part.position_count);
        set_numbers(joint, "velocity", at(frame->joint_velocity, axis, 1), count);
        set_numbers(joint, "target", at(frame->joint_target, axis, 1), count);
        set_numbers(joint, "target_velocity", at(frame->joint_target_velocity, axis, 1), count);
        set_numbers(joint, "effort", at(frame->joint_effort, axis, 1), count);
        json_array_append_new(joints, joint);
    }
    return joints;
}

static json_t *write_report(const MoreauFrameReport *report) {
    json_t *object = json_object();
    for (size_t i = 0; i < REPORT_COLUMN_COUNT; i++) {
        const ReportColumn *column = &report_columns[i];
        json_t *number = column->kind == REPORT_REAL ? number_json(report_real(report, column))
                         : column->kind == REPORT_FLAG
                             ? json_boolean(report_whole(report, column))
                             : number_json_whole(report_whole(report, column));
        json_object_set_new(object, column->name, number);
    }
    return object;
}

static void print_frame_line(const Replay *replay, const MoreauFrame *frame) {
    json_t *line = json_object();
    json_object_set_new(line, "step", number_json_whole(frame->step));
    json_object_set_new(line, "world_step", number_json_whole(frame->world_step));
    json_object_set_new(line, "time", number_json(frame->time));
    json_object_set_new(line, "stored", json_boolean(frame->stored));
    json_t *bodies = json_array();
    for (size_t i = 0; i < frame->body_count; i++) {
        if (wanted_has(&replay->wanted, frame->ids[i])) {
            json_t *body = json_object();
            json_object_set_new(body, "id", number_json_whole(frame->ids[i]));
            set_numbers(body, "pose", at(frame->pose, i, 7), 7);
            set_numbers(body, "velocity", at(frame->velocity, i, 6), 6);
            json_array_append_new(bodies, body);
        }
    }
    json_object_set_new(line, "bodies", bodies);
    if (replay->contacts) {
        json_t *contacts = json_array();
        for (size_t i = 0; i < frame->contacts.count; i++) {
            if (touches_wanted(replay, &frame->contacts, i)) {
                json_array_append_new(contacts, write_contact(&frame->contacts, i));
            }
        }
        json_object_set_new(line, "contacts", contacts);
    }
    if (replay->joints) {
        json_object_set_new(line, "joints", write_joints(frame));
    }
    if (frame->has_report) {
        json_object_set_new(line, "report", write_report(&frame->report));
    }
    const Moreau__V1__EpisodeHighlight *launch = find_launch(replay, frame);
    if (launch != NULL) {
        json_object_set_new(line, "launch",
                            json_pack("{s:o,s:o,s:[o,o]}", "speed", number_json(launch->value),
                                      "gliding", number_json(launch->height), "bodies",
                                      number_json_whole(launch->body),
                                      number_json_whole(launch->other_body)));
    }
    cli_print_line(replay->cli, line);
}

// ---- as a table

enum { BODY_COLUMNS_MIN = 5, BODY_COLUMNS_MAX = 24, BODY_TEXT_BYTES = 64, NUMBERS_BYTES = 128 };

static Table fit_bodies(const Replay *replay) {
    static TableColumn columns[] = {
        {"step", NULL, 6, 0, TABLE_RIGHT},
        {"time", NULL, 9, 2, TABLE_RIGHT},
        {"body", NULL, BODY_COLUMNS_MIN, 0, TABLE_LEFT},
        {"position", NULL, 26, 0, TABLE_RIGHT},
        {"orientation", NULL, 27, 3, TABLE_RIGHT},
        {"velocity", NULL, 26, 1, TABLE_RIGHT},
    };
    columns[2].columns = replay->body_columns;
    return table_fit(columns, sizeof(columns) / sizeof(columns[0]), 0, 0);
}

// Its name, or its id.
static const char *body_text(const Replay *replay, uint64_t body, char text[BODY_TEXT_BYTES]) {
    const char *name = body_names_find(&replay->names, body);
    if (name[0] != '\0') {
        return name;
    }
    snprintf(text, BODY_TEXT_BYTES, "%" PRIu64, body);
    return text;
}

// `text` ends in a zero, also where there are no numbers.
static const char *write_numbers(const double *numbers, size_t count, int columns, int decimals,
                                 char text[NUMBERS_BYTES]) {
    double least = decimals == 4 ? 0.5e-4 : 0.5e-3;
    size_t used = 0;
    text[0] = '\0';
    for (size_t i = 0; numbers != NULL && i < count && used < NUMBERS_BYTES; i++) {
        // what rounds to zero has no sign
        used += (size_t)snprintf(text + used, NUMBERS_BYTES - used, "%s%*.*f", i == 0 ? "" : " ",
                                 columns, decimals, fabs(numbers[i]) < least ? 0.0 : numbers[i]);
    }
    return text;
}

static void print_numbers(const double *numbers, size_t count, int decimals) {
    char text[NUMBERS_BYTES];
    if (numbers != NULL && count > 0) {
        fold_printf(" %s", write_numbers(numbers, count, 0, decimals, text));
    }
}

static void print_contacts(const Replay *replay, const MoreauFrame *frame) {
    const MoreauContacts *all = &frame->contacts;
    for (size_t i = 0; i < all->count; i++) {
        if (!touches_wanted(replay, all, i)) {
            continue;
        }
        char text[2][BODY_TEXT_BYTES];
        const uint64_t other = all->body_b != NULL ? all->body_b[i] : 0;
        fold_printf("%6" PRIu64 " %9.4f  contact %s-%s at", frame->step, frame->time,
                    body_text(replay, all->body_a[i], text[0]), body_text(replay, other, text[1]));
        print_numbers(at(all->point, i, 3), 3, 4);
        if (all->gap != NULL) {
            fold_printf(", gap %.3g mm", 1e3 * all->gap[i] + 0.0); // no zero with a sign
        }
        if (all->impulse != NULL) {
            fold_printf(", impulse %.4g, friction %.4g %.4g N s", all->impulse[3 * i] + 0.0,
                        all->impulse[3 * i + 1] + 0.0, all->impulse[3 * i + 2] + 0.0);
        }
        fold_printf("\n");
    }
}

static void print_joints(const MoreauFrame *frame) {
    FrameJoint part = {0};
    for (size_t i = 0; i < frame->joint_count; i++) {
        frame_joint_next(frame, i, &part);
        fold_printf("%6" PRIu64 " %9.4f  joint %" PRIu64 " at", frame->step, frame->time,
                    frame->joints[i]);
        print_numbers(at(frame->joint_position, part.position, 1), part.position_count, 4);
        fold_printf(", moving by");
        print_numbers(at(frame->joint_velocity, part.axis, 1), part.axis_count, 4);
        fold_printf("\n");
    }
}

static void print_report(const MoreauFrame *frame) {
    const MoreauFrameReport *report = &frame->report;
    if (frame->has_report) {
        fold_printf("%6" PRIu64 " %9.4f  report: %" PRIu32 " contact%s, %" PRIu32 " iteration%s, "
                    "residual %.2g%s, overlap %.2g mm\n",
                    frame->step, frame->time, report->contacts, plural(report->contacts),
                    report->iterations, plural(report->iterations), report->e_own,
                    report->converged ? "" : " (not converged)", 1e3 * report->penetration);
    }
}

static bool is_shown(const Replay *replay, uint64_t body) {
    return replay->wanted.count > 0 ? wanted_has(&replay->wanted, body)
                                    : !moreau_reply_body_is_static(replay->names.reply, body);
}

static void print_body(const Replay *replay, const MoreauFrame *frame, size_t i) {
    const double *pose = at(frame->pose, i, 7), *velocity = at(frame->velocity, i, 6);
    char body[BODY_TEXT_BYTES], text[NUMBERS_BYTES];
    Table table = fit_bodies(replay);
    table_printf(&table, 0, STYLE_PLAIN, "%" PRIu64, frame->step);
    table_printf(&table, 1, STYLE_PLAIN, "%.4f", frame->time);
    table_cell(&table, 2, STYLE_PLAIN, body_text(replay, frame->ids[i], body));
    table_cell(&table, 3, STYLE_PLAIN, write_numbers(pose, 3, 8, 4, text));
    table_cell(&table, 4, STYLE_PLAIN, write_numbers(at(pose, 3, 1), 4, 6, 3, text));
    table_cell(&table, 5, STYLE_PLAIN, write_numbers(velocity, 3, 8, 4, text));
    fold_printf("\n");
}

static void print_frame(const Replay *replay, const MoreauFrame *frame) {
    if (replay->frames == 0) {
        Table table = fit_bodies(replay);
        table_print_head(&table, NULL);
    }
    for (size_t i = 0; i < frame->body_count; i++) {
        if (is_shown(replay, frame->ids[i])) {
            print_body(replay, frame, i);
        }
    }
    print_contacts(replay, frame);
    print_joints(frame);
    print_report(frame);
    const Moreau__V1__EpisodeHighlight *launch = find_launch(replay, frame);
    if (launch != NULL) {
        char text[2][BODY_TEXT_BYTES];
        fold_printf("%6" PRIu64 " %9.4f  launch %s-%s by %.2g m/s, gliding %.2g mm high\n",
                    frame->step, frame->time, body_text(replay, launch->body, text[0]),
                    body_text(replay, launch->other_body, text[1]), launch->value,
                    1e3 * launch->height);
    }
}

// ----

static bool show_frame(void *context, const MoreauFrame *frame) {
    Replay *replay = context;
    wanted_look(&replay->wanted, frame);
    (replay->cli->json ? print_frame_line : print_frame)(replay, frame);
    replay->frames++;
    replay->stored += frame->stored ? 1 : 0;
    return true;
}

static void print_count(const Replay *replay) {
    char text[3][32];
    fold_printf("%s%s frame%s: %s from the file, %s stepped again%s\n",
                terminal_style(stdout, STYLE_DIM), format_count(replay->frames, text[0]),
                plural(replay->frames), format_count(replay->stored, text[1]),
                format_count(replay->frames - replay->stored, text[2]),
                terminal_style(stdout, STYLE_PLAIN));
}

// ----

// Names are for people: documents have ids, and the names are in the scene.
static int take_names(Cli *cli, const char *episode, Replay *replay) {
    const int status = cli->json ? EXIT_DONE : body_names_take(cli, episode, &replay->names);
    replay->body_columns = BODY_COLUMNS_MIN;
    for (size_t i = 0; i < replay->names.count; i++) {
        const unsigned width = shown_width(replay->names.item[i].name);
        replay->body_columns = width > replay->body_columns ? width : replay->body_columns;
    }
    if (replay->body_columns > BODY_COLUMNS_MAX) {
        replay->body_columns = BODY_COLUMNS_MAX;
    }
    return status;
}

static int show_episode(Cli *cli, Moreau__V1__EpisodeReplay *message, Replay *replay) {
    int status = cli_connect(cli);
    if (status != EXIT_DONE ||
        (status = episode_describe(cli, message->episode, LAUNCHES_MAX, &replay->described)) !=
            EXIT_DONE ||
        (status = wanted_find(cli, message->episode, &replay->wanted)) != EXIT_DONE ||
        (status = take_names(cli, message->episode, replay)) != EXIT_DONE ||
        (status = play_frames(cli, message, show_frame, replay)) != EXIT_DONE) {
        return status;
    }
    if (!cli->json) {
        print_count(replay);
    }
    return replay->frames > 0 ? wanted_check_seen(cli, &replay->wanted) : EXIT_DONE;
}

int command_replay(Cli *cli, int argc, char **argv) {
    uint64_t from = NOT_GIVEN;
    uint64_t to = NOT_GIVEN;
    uint64_t stride = 1;
    double speed = terminal_is_watched(stdout) ? 1.0 : 0.0;
    bool again = false, backward = false;
    OptionList bodies = {0};
    Replay replay = {.cli = cli, .wanted = {.typed = &bodies}};
    const Option table[] = {
        {"--from", OPTION_INDEX, &from, "STEP", "of the episode; default 0"},
        {"--to", OPTION_INDEX, &to, "STEP", "default: the last"},
        {"--stride", OPTION_COUNT, &stride, "N", "every N-th step; default 1"},
        {"--speed", OPTION_FACTOR, &speed, "X", "times real time; 0: at once"},
        {"--body", OPTION_LIST, &bodies, "BODY", "only this one; may be repeated"},
        {"--contacts", OPTION_FLAG, &replay.contacts, NULL, "what touches, too"},
        {"--joints", OPTION_FLAG, &replay.joints, NULL, "positions and rates of joints, too"},
        {"--backward", OPTION_FLAG, &backward, NULL, "from --to down to --from"},
        {"--reports", OPTION_FLAG, &replay.reports, NULL, "how good each step was, too"},
        {"--again", OPTION_FLAG, &again, NULL, "step again even what is stored"},
    };
    OptionList words = {0};
    int status = cli_parse(cli, usage, (OptionTable){table, sizeof(table) / sizeof(table[0])}, argc,
                           argv, 1, 1, &words);
    if (status != EXIT_DONE || cli->help) {
        return status;
    }
    cli->fields = typed;
    Moreau__V1__EpisodeReplay message = MOREAU__V1__EPISODE_REPLAY__INIT;
    message.episode = (char *)words.item[0];
    message.has_first = from != NOT_GIVEN;
    message.first = from;
    message.has_last = to != NOT_GIVEN;
    message.last = to;
    message.has_stride = message.has_speed = 1;
    message.stride = stride;
    message.speed = speed;
    message.has_contacts = message.contacts = replay.contacts;
    message.has_joints = message.joints = replay.joints;
    message.has_reports = message.reports = replay.reports;
    message.has_again = message.again = again;
    message.has_backward = message.backward = backward;
    status = show_episode(cli, &message, &replay);
    body_names_free(&replay.names);
    if (replay.described != NULL) {
        moreau__v1__reply__free_unpacked(replay.described, NULL);
    }
    return status;
}
