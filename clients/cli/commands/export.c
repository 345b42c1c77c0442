// SPDX-License-Identifier: MIT
// moreau export: an episode as something that others open.
#include "cli/cli.h"

#include "access/seal_key.h"
#include "cli/episodes/episode_text.h"
#include "cli/export/export.h"
#include "cli/base/interrupt.h"
#include "cli/base/memory.h"
#include "cli/text/number.h"
#include "cli/episodes/play.h"
#include "cli/text/shown.h"
#include "cli/text/terminal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
    "moreau export: an episode as a file that others open\n"
    "\n"
    "  moreau export EPISODE --csv OUT [options]    tables, for everything\n"
    "  moreau export EPISODE --npz OUT [options]    arrays, for numpy.load\n"
    "  moreau export EPISODE --html OUT --db FILE   a page that shows it\n"
    "  python -m moreau_sim export EPISODE --mcap OUT   for Foxglove\n"
    "\n"
    "EPISODE is an id, its first digits (at least 4), or a name that only one has.\n"
    "\n"
    "Tables and arrays come from a server, which has what was not stored stepped\n"
    "again; numbers read back as the same bits. WHAT is a list of these:\n"
    "\n"
    "  poses       x y z [m] of the origin and the quaternion w x y z; default\n"
    "  velocities  of the centre of mass [m/s], then [rad/s], world axes; default\n"
    "  joints      positions, velocities, targets and efforts of joints\n"
    "  contacts    points [m], frames, gaps [m], impulses [N s], slip [m/s]\n"
    "  reports     how good each step was: its certificate, and its energies [J];\n"
    "              all is stepped again for them\n"
    "\n"
    "A CSV table has a row per frame, and body, axis of a joint, or contact. One\n"
    "table is the file OUT; several are bodies.csv, joints.csv, contacts.csv and\n"
    "reports.csv in the folder OUT, as one is where OUT is a folder. The x, y and z\n"
    "of a joint that turns about three axes are the positions of these, and w has a\n"
    "row \"turn_w\".\n"
    "\n"
    "NPZ has these arrays, of T frames, B bodies, J joints with P positions and A\n"
    "axes together, and N contacts; what is not there in a frame is NaN:\n"
    "\n"
    "  step world_step time stored (T)   episode name ()\n"
    "  body body_name (B), present (T,B), pose (T,B,7), velocity (T,B,6)\n"
    "  joint joint_axes (J), joint_present (T,J), joint_position (T,P),\n"
    "    joint_velocity joint_target joint_target_velocity joint_effort (T,A);\n"
    "    joint_position_first joint_axis_first (J+1): where each joint's begin\n"
    "  contact_first (T+1): where each frame's begin; contact_body_a\n"
    "    contact_body_b contact_part_a contact_part_b contact_feature contact_gap\n"
    "    contact_friction (N), contact_point contact_impulse contact_velocity\n"
    "    (N,3), contact_frame (N,3,3): rows normal from a to b, tangent 1, tangent 2\n"
    "  report_present (T), and report_ with each column of a CSV table of reports\n"
    "\n"
    "The page has the episode of a server's file, or of a copy, and all that shows it\n"
    "inside: it opens from a disk, without a network and without a server. The server\n"
    "may be running. The page, moreau-viewer.html, is looked for beside this program\n"
    "and where it is installed. It keeps signatures (moreau-server --seal-key), and\n"
    "with --seal-pub the key that it compares them with, which whoever opens the page\n"
    "has from you: who trusts you no more than the file gives it the key himself.\n"
    "\n"
    "Files appear when they are whole; Ctrl-C leaves none.\n"
    "\n"
    "Examples:\n"
    "  moreau export demo --csv demo.csv --body box1 --stride 10\n"
    "  moreau export 3e9f0a8d --npz run.npz --what poses,velocities,contacts\n"
    "  moreau export demo --csv /dev/stdout --from 100 --to 200 | head\n"
    "  moreau export demo --html demo.html --db episodes.db\n"
    "  moreau export demo --html demo.html --db episodes.db --seal-pub seal.pub\n";

static const CliField typed[] = {
    {"episode", "EPISODE"}, {"first", "--from"}, {"last", "--to"}, {NULL, NULL}};

#define NOT_GIVEN UINT64_MAX

typedef struct ExportOptions {
    const char *csv, *npz, *mcap, *html, *db, *page, *seal_pub, *what;
    uint64_t from, to, stride;
    bool again;
    OptionList bodies;
} ExportOptions;

// ---- what is wanted

// A word of --what sets the flag of its name.
static int read_what(Cli *cli, const char *what, ExportWish *wish) {
    const struct {
        const char *word;
        bool *flag;
    } words[] = {{"poses", &wish->poses},
                 {"velocities", &wish->velocities},
                 {"joints", &wish->joints},
                 {"contacts", &wish->contacts},
                 {"reports", &wish->reports}};
    for (const char *at = what; at != NULL;) {
        const size_t count = strcspn(at, ",");
        bool is_known = false;
        for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
            if (strlen(words[i].word) == count && strncmp(words[i].word, at, count) == 0) {
                *words[i].flag = is_known = true;
            }
        }
        if (!is_known) {
            return cli_fail(cli, EXIT_USAGE,
                            "--what %.*s: there are poses, velocities, joints, contacts and "
                            "reports, with commas between them",
                            (int)count, at);
        }
        at = at[count] == ',' ? at + count + 1 : NULL;
    }
    return EXIT_DONE;
}

static Moreau__V1__EpisodeReplay order_frames(const ExportOptions *options, const char *episode,
                                              const ExportWish *wish) {
    Moreau__V1__EpisodeReplay order = MOREAU__V1__EPISODE_REPLAY__INIT;
    order.episode = (char *)episode;
    order.has_first = options->from != NOT_GIVEN;
    order.first = options->from;
    order.has_last = options->to != NOT_GIVEN;
    order.last = options->to;
    order.has_stride = order.has_speed = order.has_poses = order.has_velocities = 1;
    order.stride = options->stride;
    order.speed = 0.0; // as fast as it is read
    order.poses = wish->poses;
    order.velocities = wish->velocities;
    order.has_joints = order.joints = wish->joints;
    order.has_contacts = order.contacts = wish->contacts;
    order.has_reports = order.reports = wish->reports;
    order.has_again = order.again = options->again;
    return order;
}

// ---- frames

typedef struct Export {
    const ExportFormat *format;
    void *state; // of the format
    WantedBodies wanted;
    ExportWish wish;
    uint64_t first, last; // steps
    uint64_t frames, stored;
    double time_first; // [s]
    Progress progress;
} Export;

static bool take_frame(void *context, const MoreauFrame *frame) {
    Export *export = context;
    wanted_look(&export->wanted, frame);
    export->time_first = export->frames == 0 ? frame->time : export->time_first;
    export->frames++;
    export->stored += frame->stored ? 1 : 0;
    progress_show(&export->progress, frame->step - export->first, export->last - export->first,
                  frame->time - export->time_first);
    return export->format->add(export->state, frame);
}

static int write_frames(Cli *cli, Moreau__V1__EpisodeReplay *order, Export *export) {
    interrupt_catch(); // from here on there is something to be taken away
    int status = export->format->begin(cli, &export->wish, export->state);
    if (status != EXIT_DONE) {
        return status;
    }
    progress_start(&export->progress);
    status = play_frames(cli, order, take_frame, export);
    progress_stop(&export->progress);
    if (status == EXIT_DONE && interrupt_wanted()) {
        status = cli_fail(cli, EXIT_REFUSED, "interrupted: %s was not written", export->wish.path);
    }
    if (status == EXIT_DONE) {
        status = wanted_check_seen(cli, &export->wanted);
    }
    return status == EXIT_DONE ? export->format->end(cli, export->state) : status;
}

static void tell(Cli *cli, const Export *export) {
    const ExportWish *wish = &export->wish;
    if (cli->json) {
        cli_print(cli, json_pack("{s:s,s:s,s:s,s:o,s:o,s:o,s:o}", "episode", wish->uid, "name",
                                 wish->name, export->format->option + 2, wish->path, "frames",
                                 number_json_whole(export->frames), "stored",
                                 number_json_whole(export->stored), "first",
                                 number_json_whole(export->first), "last",
                                 number_json_whole(export->last)));
        return;
    }
    char text[3][32];
    // not on standard output, where the frames may have gone
    fprintf(stderr, "%s: episode %.8s %s, %s frame%s: %s stored, %s stepped again\n", wish->path,
            wish->uid, wish->name, format_count(export->frames, text[0]), plural(export->frames),
            format_count(export->stored, text[1]),
            format_count(export->frames - export->stored, text[2]));
}

static int export_described(Cli *cli, const ExportOptions *options,
                            const Moreau__V1__EpisodeInfo *info, Export *export) {
    export->wish.uid = info->episode;
    export->wish.name = episode_name(info);
    export->first = options->from != NOT_GIVEN ? options->from : 0;
    export->last = options->to != NOT_GIVEN ? options->to : info->steps;
    Moreau__V1__EpisodeReplay order = order_frames(options, info->episode, &export->wish);
    if (export->first > export->last) {
        return cli_fail(cli, EXIT_USAGE,
                        "the steps from %" PRIu64 " to %" PRIu64
                        " are none: the episode has the steps 0 to %" PRIu64,
                        export->first, export->last, info->steps);
    }
    int status = wanted_find(cli, info->episode, &export->wanted);
    if (status == EXIT_DONE) {
        status = body_names_take(cli, info->episode, &export->wish.names);
    }
    if (status == EXIT_DONE) {
        export->state = memory_take(1, export->format->state_bytes);
        status = write_frames(cli, &order, export);
        export->format->drop(export->state);
        free(export->state);
    }
    if (status == EXIT_DONE) {
        tell(cli, export);
    }
    body_names_free(&export->wish.names);
    return status;
}

static int export_frames(Cli *cli, const char *episode, const ExportOptions *options,
                         const ExportFormat *format, const char *path) {
    Export export = {.format = format,
                     .wanted = {.typed = &options->bodies},
                     .wish = {.path = path, .wanted = &export.wanted}};
    if (options->db != NULL) {
        return cli_fail(cli, EXIT_USAGE,
                        "%s takes its frames from a server (--server), as what was not stored must "
                        "be stepped again: start one with moreau-server --db %s",
                        format->option, options->db);
    }
    int status = read_what(cli, options->what, &export.wish);
    if (status != EXIT_DONE || (status = cli_connect(cli)) != EXIT_DONE) {
        return status;
    }
    cli->fields = typed;
    Moreau__V1__Reply *described = NULL;
    status = episode_describe(cli, episode, 0, &described);
    if (status == EXIT_DONE) {
        status = export_described(cli, options, described->episode_describe->episode, &export);
    }
    if (described != NULL) {
        moreau__v1__reply__free_unpacked(described, NULL);
    }
    return status;
}

// ----

static int export_page(Cli *cli, const char *episode, const ExportOptions *options) {
    uint8_t key[SEAL_PUBLIC_BYTES];
    Error error = {0};
    const bool has_key = options->seal_pub != NULL;
    if (options->db == NULL) {
        return cli_fail(cli, EXIT_USAGE,
                        "give --db FILE, that the episode is in: the page holds a part of it");
    }
    if (has_key && seal_public_read(options->seal_pub, key, &error) != STATUS_OK) {
        return cli_fail(cli, EXIT_USAGE, "%s", error.message);
    }
    return export_html(cli, options->db, episode, options->page, has_key ? key : NULL,
                       options->html);
}

static int export_as_asked(Cli *cli, const char *episode, const ExportOptions *options) {
    const int count = (options->csv != NULL) + (options->npz != NULL) + (options->html != NULL) +
                      (options->mcap != NULL);
    if (count != 1) {
        return cli_fail(cli, EXIT_USAGE,
                        "give one of --csv OUT, --npz OUT and --html OUT, the file to write");
    }
    if (options->mcap != NULL) {
        return cli_fail(cli, EXIT_USAGE,
                        "MCAP is written by the Python client: pip install 'moreau-sim[mcap]', "
                        "then python -m moreau_sim export %s --mcap %s",
                        episode, options->mcap);
    }
    if (options->seal_pub != NULL && options->html == NULL) {
        return cli_fail(cli, EXIT_USAGE, "--seal-pub is for the page: give it with --html OUT");
    }
    if (options->html != NULL) {
        return export_page(cli, episode, options);
    }
    return options->csv != NULL ? export_frames(cli, episode, options, &export_csv, options->csv)
                                : export_frames(cli, episode, options, &export_npz, options->npz);
}

int command_export(Cli *cli, int argc, char **argv) {
    ExportOptions options = {
        .what = "poses,velocities", .from = NOT_GIVEN, .to = NOT_GIVEN, .stride = 1};
    const Option table[] = {
        {"--csv", OPTION_TEXT, &options.csv, "OUT", "a table, or a folder of tables"},
        {"--npz", OPTION_TEXT, &options.npz, "OUT", "arrays"},
        {"--mcap", OPTION_TEXT, &options.mcap, "OUT", "says how: the Python client writes it"},
        {"--what", OPTION_TEXT, &options.what, "WHAT", "default poses,velocities"},
        {"--from", OPTION_INDEX, &options.from, "STEP", "of the episode; default 0"},
        {"--to", OPTION_INDEX, &options.to, "STEP", "default: the last"},
        {"--stride", OPTION_COUNT, &options.stride, "N", "every N-th step; default 1"},
        {"--body", OPTION_LIST, &options.bodies, "BODY", "only this one; may be repeated"},
        {"--again", OPTION_FLAG, &options.again, NULL, "step again even what is stored"},
        {"--html", OPTION_TEXT, &options.html, "OUT", "a page"},
        {"--db", OPTION_TEXT, &options.db, "FILE", "that the episode of a page is in"},
        {"--page", OPTION_TEXT, &options.page, "FILE", "the viewer; default: the installed one"},
        {"--seal-pub", OPTION_TEXT, &options.seal_pub, "FILE", "the page asks who signed it"},
    };
    cli->is_verbatim = true;
    OptionList words = {0};
    int status = cli_parse(cli, usage, (OptionTable){table, sizeof(table) / sizeof(table[0])}, argc,
                           argv, 1, 1, &words);
    if (status != EXIT_DONE || cli->help) {
        return status;
    }
    return export_as_asked(cli, words.item[0], &options);
}
