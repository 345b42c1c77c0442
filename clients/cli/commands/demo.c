// SPDX-License-Identifier: MIT
// moreau demo: something to look at, from nothing: a server of its own, a scene, the page on it
// while it happens, an episode, its proof, and another solver's answer to the same.
#include "cli/cli.h"

#include "cli/episodes/episode_text.h"
#include "cli/base/interrupt.h"
#include "cli/json/read.h"
#include "cli/base/memory.h"
#include "cli/runs/report.h"
#include "cli/files/save.h"
#include "cli/text/shown.h"
#include "cli/text/terminal.h"
#include "cli/view/browser.h"
#include "cli/view/episode_page.h"
#include "cli/view/local_server.h"
#include "cli/view/shared.h"
#include "cli/view/shoot.h"
#include "cli/text/wrap.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static const char usage[] =
    "moreau demo: something to look at, from nothing\n"
    "\n"
    "  moreau demo [--out FOLDER]\n"
    "\n"
    "A marble runs into a row of dominoes, each larger than the one before, and the last\n"
    "one into a house of 26 cards, which friction alone has held until then. A server of\n"
    "its own steps and records it, on free ports of this machine, and the page shows it\n"
    "while it happens, where there is a screen and a browser. Then all of it is stepped\n"
    "again and compared bit by bit, and a second solver is asked what it says. What is\n"
    "left is a folder: the episode file, a page that shows it without a server, and a\n"
    "picture, where there is Chromium.\n"
    "\n"
    "Examples:\n"
    "  moreau demo\n"
    "  moreau demo --out /tmp/cards --json\n";

enum {
    STEPS = 1176,        // it lies still by then
    STANDS_STEPS = 120,  // before the marble arrives: what the second solver is asked about
    PICTURE_STEP = 1060, // it falls
    BATCH_STEPS = 8,
    FRAME_STRIDE = 2,
    PATH_BYTES = 4096,
    PLACE_BYTES = 4000,
    FOLDERS_MAX = 1000,
    PICTURE_WIDTH = 1280,
    PICTURE_HEIGHT = 800,
    OPENING_S = 20,   // at most, until a browser that begins shows the page
    LOOKING_MS = 400, // from then on, until it has drawn
    ASK_AGAIN_MS = 50,
};
static const char second_solver[] = "ccp";
static const char episode_name_wanted[] = "demo";

typedef struct Demo {
    const char *folder; // as typed; Nullable
    bool no_window;
    char place[PLACE_BYTES]; // the folder
    char db[PATH_BYTES], log[PATH_BYTES], html[PATH_BYTES], picture[PATH_BYTES];
    LocalServer server;
    RunReport report;
    bool is_shown;              // in a window
    bool has_page;              // html is written
    bool has_picture;           // …
    double distance;            // [m] of the second solver's cards from the first one's
    double proof_s;             // that the proof took
    Moreau__V1__Reply *episode; // owned; Nullable
} Demo;

// ---- where it lies

static void name_files(Demo *demo) {
    snprintf(demo->db, sizeof(demo->db), "%s/demo.db", demo->place);
    snprintf(demo->log, sizeof(demo->log), "%s/server.log", demo->place);
    snprintf(demo->html, sizeof(demo->html), "%s/demo.html", demo->place);
    snprintf(demo->picture, sizeof(demo->picture), "%s/demo.png", demo->place);
}

// A folder that is not there yet: moreau-demo, moreau-demo-2, …; what somebody has stays.
static int make_folder(Cli *cli, Demo *demo) {
    enum { NUMBER_BYTES = 8 };
    const char *wanted = demo->folder != NULL ? demo->folder : "moreau-demo";
    if (strlen(wanted) > PLACE_BYTES - NUMBER_BYTES) {
        return cli_fail(cli, EXIT_USAGE, "the folder's name is too long");
    }
    snprintf(demo->place, sizeof(demo->place), "%s", wanted);
    for (int i = 2; mkdir(demo->place, 0777) != 0; i++) {
        if (errno != EEXIST || i == FOLDERS_MAX) {
            return cli_fail(cli, EXIT_REFUSED, "cannot make the folder %s: %s", demo->place,
                            strerror(errno));
        }
        snprintf(demo->place, sizeof(demo->place), "%s-%d", wanted, i);
    }
    name_files(demo);
    return EXIT_DONE;
}

// ---- the world

static int call(Cli *cli, Moreau__V1__Request *request, Moreau__V1__Reply **reply) {
    const int status = cli_call(cli, request, reply);
    return status == EXIT_DONE ? status : cli_report_refusal(cli, NULL, "");
}

static int create_world(Cli *cli, Demo *demo, Moreau__V1__Scene *scene) {
    Moreau__V1__WorldCreate create = MOREAU__V1__WORLD_CREATE__INIT;
    Moreau__V1__Request request = MOREAU__V1__REQUEST__INIT;
    Moreau__V1__Reply *reply;
    create.scene = scene;
    request.call_case = MOREAU__V1__REQUEST__CALL_WORLD_CREATE;
    request.world_create = &create;
    const int status = call(cli, &request, &reply);
    if (status == EXIT_DONE) {
        demo->report.world = reply->world_create->world;
    }
    if (reply != NULL) {
        moreau__v1__reply__free_unpacked(reply, NULL);
    }
    return status;
}

static int load_world(Cli *cli, Demo *demo) {
    char path[SHARED_PATH_BYTES];
    JsonText json;
    JsonError error;
    if (!shared_find("demo.json", path)) {
        return cli_fail(cli, EXIT_REFUSED, "there is no demo.json in ../share/moreau");
    }
    int status = cli_load(cli, &json, path);
    if (status != EXIT_DONE) {
        return status;
    }
    ProtobufCMessage *scene =
        json_read_message(&json, json.root, "", &moreau__v1__scene__descriptor, &error);
    status = scene == NULL ? cli_fail(cli, EXIT_REFUSED, "%s", error.message)
                           : create_world(cli, demo, (Moreau__V1__Scene *)scene);
    if (scene != NULL) {
        protobuf_c_message_free_unpacked(scene, NULL);
    }
    json_text_free(&json);
    return status;
}

static int start_episode(Cli *cli, const Demo *demo) {
    Moreau__V1__EpisodeStart start = MOREAU__V1__EPISODE_START__INIT;
    Moreau__V1__Request request = MOREAU__V1__REQUEST__INIT;
    Moreau__V1__Reply *reply;
    char name[sizeof(episode_name_wanted)];
    memcpy(name, episode_name_wanted, sizeof(name));
    start.has_world = start.has_content = start.has_stride = 1;
    start.world = demo->report.world;
    start.name = name;
    start.content = MOREAU__V1__EPISODE__CONTENT__FRAMES;
    start.stride = FRAME_STRIDE;
    request.call_case = MOREAU__V1__REQUEST__CALL_EPISODE_START;
    request.episode_start = &start;
    const int status = call(cli, &request, &reply);
    if (reply != NULL) {
        moreau__v1__reply__free_unpacked(reply, NULL);
    }
    return status;
}

static int step_batch(Cli *cli, Demo *demo, uint64_t steps) {
    Moreau__V1__WorldStep step = MOREAU__V1__WORLD_STEP__INIT;
    Moreau__V1__Request request = MOREAU__V1__REQUEST__INIT;
    Moreau__V1__Reply *reply;
    step.n_worlds = 1;
    step.worlds = &demo->report.world;
    step.has_steps = 1;
    step.steps = steps;
    request.call_case = MOREAU__V1__REQUEST__CALL_WORLD_STEP;
    request.world_step = &step;
    const int status = call(cli, &request, &reply);
    if (status == EXIT_DONE) {
        run_report_add(&demo->report, reply->world_step);
    }
    if (reply != NULL) {
        moreau__v1__reply__free_unpacked(reply, NULL);
    }
    return status;
}

static void pause_s(double seconds) {
    if (seconds > 0.0) {
        const double whole = floor(seconds);
        const struct timespec wait = {(time_t)whole, (long)(1e9 * (seconds - whole))};
        nanosleep(&wait, NULL);
    }
}

// As fast as it would happen where somebody watches, else as fast as it goes.
static int step_world(Cli *cli, Demo *demo) {
    Progress progress;
    int status = EXIT_DONE;
    progress_start(&progress);
    const double begun_s = terminal_now_s();
    while (status == EXIT_DONE && demo->report.steps_done < STEPS && !interrupt_wanted()) {
        status = step_batch(cli, demo, BATCH_STEPS);
        progress_show(&progress, demo->report.steps_done, STEPS, demo->report.time);
        if (demo->is_shown) {
            pause_s(demo->report.time - (terminal_now_s() - begun_s));
        }
    }
    progress_stop(&progress);
    return status != EXIT_DONE || !interrupt_wanted() ? status
                                                      : cli_fail(cli, EXIT_REFUSED, "stopped");
}

// What falls is to be seen falling: a browser's first start may take many seconds.
static void await_viewer(const Demo *demo) {
    const double until_s = terminal_now_s() + OPENING_S;
    while (local_server_viewers(&demo->server) == 0 && terminal_now_s() < until_s &&
           !interrupt_wanted()) {
        pause_s(1e-3 * ASK_AGAIN_MS);
    }
    pause_s(1e-3 * LOOKING_MS);
}

static void show_live(Demo *demo) {
    char address[PATH_BYTES];
    snprintf(address, sizeof(address), "http://%s/#live=ws://%s/v1/live&world=%" PRIu64,
             demo->server.http, demo->server.http, demo->report.world);
    demo->is_shown = !demo->no_window && browser_show(address, BROWSER_BARE);
    if (demo->is_shown) {
        fprintf(stderr, "%s\n", address);
        await_viewer(demo);
    }
}

static int stop_episode(Cli *cli, Demo *demo) {
    Moreau__V1__EpisodeStop stop = MOREAU__V1__EPISODE_STOP__INIT;
    Moreau__V1__Request request = MOREAU__V1__REQUEST__INIT;
    stop.has_world = 1;
    stop.world = demo->report.world;
    request.call_case = MOREAU__V1__REQUEST__CALL_EPISODE_STOP;
    request.episode_stop = &stop;
    return call(cli, &request, &demo->episode);
}

static int happen(Cli *cli, Demo *demo) {
    int status = load_world(cli, demo);
    if (status == EXIT_DONE) {
        status = start_episode(cli, demo);
    }
    if (status == EXIT_DONE) {
        show_live(demo);
        status = step_world(cli, demo);
    }
    return status == EXIT_DONE ? stop_episode(cli, demo) : status;
}

// ---- what it was worth

static const Moreau__V1__EpisodeInfo *info_of(const Demo *demo) {
    return demo->episode->episode_stop->episode;
}

typedef struct Waiting {
    Progress progress;
    double step_time;
    uint64_t steps;
} Waiting;

static bool show_progress(void *context, const MoreauReply *event) {
    Waiting *waiting = context;
    Moreau__V1__Reply *message = cli_unpack(event);
    if (message->result_case == MOREAU__V1__REPLY__RESULT_EPISODE_PROGRESS) {
        const uint64_t done = message->episode_progress->steps_done;
        progress_show(&waiting->progress, done, waiting->steps, (double)done * waiting->step_time);
    }
    moreau__v1__reply__free_unpacked(message, NULL);
    return true;
}

static int call_slow(Cli *cli, Demo *demo, Moreau__V1__Request *request, uint64_t steps,
                     Moreau__V1__Reply **reply) {
    Waiting waiting = {.step_time = info_of(demo)->time_step, .steps = steps};
    progress_start(&waiting.progress);
    const int status = cli_call_events(cli, request, show_progress, &waiting, reply);
    progress_stop(&waiting.progress);
    return status == EXIT_DONE ? status : cli_report_refusal(cli, NULL, "");
}

static int prove(Cli *cli, Demo *demo) {
    Moreau__V1__EpisodeVerify verify = MOREAU__V1__EPISODE_VERIFY__INIT;
    Moreau__V1__Request request = MOREAU__V1__REQUEST__INIT;
    Moreau__V1__Reply *reply;
    verify.episode = info_of(demo)->episode;
    request.call_case = MOREAU__V1__REQUEST__CALL_EPISODE_VERIFY;
    request.episode_verify = &verify;
    int status = call_slow(cli, demo, &request, STEPS, &reply);
    if (status == EXIT_DONE && !reply->episode_verify->verified) {
        status = cli_fail(cli, EXIT_DIFFERENT, "stepped again it is different: moreau verify %s",
                          info_of(demo)->episode);
    } else if (status == EXIT_DONE) {
        demo->proof_s = reply->episode_verify->seconds;
    }
    if (reply != NULL) {
        moreau__v1__reply__free_unpacked(reply, NULL);
    }
    return status;
}

static int ask_another(Cli *cli, Demo *demo) {
    char solver[sizeof(second_solver)];
    memcpy(solver, second_solver, sizeof(solver));
    Moreau__V1__WorldSettings settings = MOREAU__V1__WORLD_SETTINGS__INIT;
    Moreau__V1__EpisodeVariant variant = MOREAU__V1__EPISODE_VARIANT__INIT, *variants = &variant;
    Moreau__V1__EpisodeCompare compare = MOREAU__V1__EPISODE_COMPARE__INIT;
    Moreau__V1__Request request = MOREAU__V1__REQUEST__INIT;
    Moreau__V1__Reply *reply;
    settings.solver = solver;
    variant.settings = &settings;
    compare.episode = info_of(demo)->episode;
    compare.has_last = compare.has_stride = 1;
    compare.last = compare.stride = STANDS_STEPS;
    compare.n_variants = 1;
    compare.variants = &variants;
    request.call_case = MOREAU__V1__REQUEST__CALL_EPISODE_COMPARE;
    request.episode_compare = &compare;
    const int status = call_slow(cli, demo, &request, UINT64_C(2) * STANDS_STEPS, &reply);
    if (status == EXIT_DONE && reply->episode_compare->n_runs == 2) {
        demo->distance = reply->episode_compare->runs[1]->distance;
    }
    if (reply != NULL) {
        moreau__v1__reply__free_unpacked(reply, NULL);
    }
    return status;
}

// ---- what is left

static int write_page(Cli *cli, Demo *demo) {
    EpisodePage page;
    int status = episode_page_make(cli, demo->db, info_of(demo)->episode, NULL, NULL, &page);
    if (status == EXIT_DONE) {
        status = save_file(cli, demo->html, page.text, page.count);
        episode_page_free(&page);
    }
    demo->has_page = status == EXIT_DONE;
    return status;
}

static int take_picture(Cli *cli, Demo *demo) {
    char path[BROWSER_PATH_BYTES];
    char *page = realpath(demo->html, NULL);
    Shoot *shoot = NULL;
    uint8_t *bytes = NULL;
    size_t count = 0;
    const ShootWish wish = {.page = page,
                            .width = PICTURE_WIDTH,
                            .height = PICTURE_HEIGHT,
                            .proves = true,
                            .nearer = 0.75};
    int status = EXIT_DONE;
    if (page != NULL && browser_find(path)) {
        status = shoot_open(cli, &wish, &shoot);
        if (status == EXIT_DONE) {
            status = shoot_take(cli, shoot, PICTURE_STEP, &bytes, &count);
        }
        if (status == EXIT_DONE) {
            status = save_file(cli, demo->picture, bytes, count);
        }
        demo->has_picture = status == EXIT_DONE;
    }
    shoot_close(shoot);
    free(bytes);
    free(page);
    return status;
}

// The largest distance from Coulomb's law of any step.
static double worst_coulomb(const RunReport *report) {
    const ProtobufCFieldDescriptor *field = protobuf_c_message_descriptor_get_field_by_name(
        &moreau__v1__certificate_columns__descriptor, "e_ds");
    const size_t index = (size_t)(field - moreau__v1__certificate_columns__descriptor.fields);
    return index < report->entry_count ? report->worst[index] : 0.0;
}

// What is said stands behind a head, and below where the line is full.
static Wrap begin_words(const char *head) {
    enum { HEAD_COLUMNS = 10 };
    printf("%s%-*s%s", terminal_style(stdout, STYLE_BOLD), HEAD_COLUMNS, head,
           terminal_style(stdout, STYLE_PLAIN));
    return (Wrap){.indent = HEAD_COLUMNS, .column = HEAD_COLUMNS};
}

static void say(const char *head, const char *text) {
    Wrap wrap = begin_words(head);
    wrap_text(&wrap, text);
    printf("\n");
}

static void tell(const Demo *demo) {
    char text[3 * PATH_BYTES], seconds[32];
    snprintf(text, sizeof(text),
             "A marble, 60 dominoes that grow, and a house of 26 cards that friction alone held: "
             "%.3g s in %" PRIu64 " steps, each at most %.1e from Coulomb's law.",
             demo->report.time, demo->report.steps_done, worst_coulomb(&demo->report));
    say("happened", text);
    snprintf(text, sizeof(text),
             "stepped again from its inputs in %s: every bit of every step is the same.",
             format_seconds(demo->proof_s, seconds));
    say("proven", text);
    snprintf(text, sizeof(text),
             "asked again about the first %.2g s, in which the house stands, the solver %s has "
             "every body within %.1e m of there.",
             STANDS_STEPS * info_of(demo)->time_step, second_solver, demo->distance);
    say("by another", text);
}

static void tell_files(const Demo *demo) {
    Wrap wrap = begin_words("look at");
    if (demo->has_picture) {
        wrap_word(&wrap, demo->picture, ",");
        wrap_word(&wrap, demo->html, "");
    } else {
        wrap_word(&wrap, demo->html, ",");
        wrap_text(&wrap, "which opens in any browser; for pictures:");
        wrap_line(&wrap);
        printf(" apt install chromium");
    }
    printf("\n");
}

// Lines to type, which are not broken: behind a head, or below it where one does not fit there.
static void tell_next(const Demo *demo) {
    enum { LINES = 3, LINE_BYTES = PATH_BYTES + 64, INDENT = 11 };
    char line[LINES][LINE_BYTES];
    snprintf(line[0], LINE_BYTES, "moreau view %s", demo->db);
    snprintf(line[1], LINE_BYTES, "moreau-server --db %s &", demo->db);
    snprintf(line[2], LINE_BYTES, "moreau compare demo --solver all --to 60");
    int indent = INDENT;
    for (size_t i = 0; i < LINES; i++) {
        indent = INDENT + shown_width(line[i]) > terminal_columns(stdout) ? 0 : indent;
    }
    printf("%snext%s%s", terminal_style(stdout, STYLE_BOLD), terminal_style(stdout, STYLE_PLAIN),
           indent > 0 ? "       " : "\n");
    for (size_t i = 0; i < LINES; i++) {
        printf("%*s%s\n", i > 0 ? indent : 0, "", line[i]);
    }
}

static json_t *write_demo(const Demo *demo) {
    return json_pack("{s:s,s:s,s:s?,s:s,s:I,s:f,s:f,s:b,s:f,s:s,s:f}", "folder", demo->place,
                     "html", demo->html, "picture", demo->has_picture ? demo->picture : NULL,
                     "episode", info_of(demo)->episode, "steps",
                     (json_int_t)demo->report.steps_done, "time", demo->report.time, "e_DS",
                     worst_coulomb(&demo->report), "verified", 1, "verify_seconds", demo->proof_s,
                     "second_solver", second_solver, "distance", demo->distance);
}

static int play(Cli *cli, Demo *demo) {
    int (*const acts[])(Cli *, Demo *) = {happen, prove, ask_another, write_page, take_picture};
    int status = EXIT_DONE;
    for (size_t i = 0; i < sizeof(acts) / sizeof(acts[0]) && status == EXIT_DONE; i++) {
        status = acts[i](cli, demo);
    }
    return status;
}

int command_demo(Cli *cli, int argc, char **argv) {
    Demo demo = {0};
    const Option table[] = {
        {"--out", OPTION_TEXT, &demo.folder, "FOLDER", "to make; default moreau-demo, in this one"},
        {"--no-window", OPTION_FLAG, &demo.no_window, NULL, "even where there is a screen"},
    };
    OptionList words = {0};
    int status = cli_parse(cli, usage, (OptionTable){table, sizeof(table) / sizeof(table[0])}, argc,
                           argv, 0, 0, &words);
    if (status != EXIT_DONE || cli->help || (status = make_folder(cli, &demo)) != EXIT_DONE) {
        return status;
    }
    interrupt_catch();
    status = local_server_start(cli, demo.db, demo.log, &demo.server);
    if (status == EXIT_DONE) {
        cli->server = demo.server.address;
        status = cli_connect(cli);
    }
    if (status == EXIT_DONE) {
        status = play(cli, &demo);
    }
    if (status == EXIT_DONE && cli->json) {
        cli_print(cli, write_demo(&demo));
    } else if (status == EXIT_DONE) {
        tell(&demo);
        tell_files(&demo);
        tell_next(&demo);
    }
    if (demo.episode != NULL) {
        moreau__v1__reply__free_unpacked(demo.episode, NULL);
    }
    moreau_disconnect(cli->client);
    cli->client = NULL;
    local_server_stop(&demo.server);
    return status;
}
