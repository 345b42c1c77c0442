// SPDX-License-Identifier: MIT
// moreau run: plays a scene and says how it went.
//
// The world is stepped in batches of about a tenth of a second, so that the bar moves and Ctrl-C is
// heard; the size of the batches does not change what the world does.
#include "cli/cli.h"

#include "cli/base/interrupt.h"
#include "cli/json/read.h"
#include "cli/json/write.h"
#include "cli/base/memory.h"
#include "cli/protocol/effort.h"
#include "cli/protocol/parameters.h"
#include "cli/runs/recording.h"
#include "cli/runs/beside.h"
#include "cli/runs/report.h"
#include "cli/protocol/solver_list.h"
#include "cli/text/terminal.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
    "moreau run: play a scene, step it, report\n"
    "\n"
    "  moreau run SCENE.json [options]\n"
    "\n"
    "SCENE.json is message Scene of moreau.proto as JSON; - reads standard input.\n"
    "Ctrl-C stops after the present step and still reports.\n"
    "With --record an episode is kept by the server, from before the first step to\n"
    "the end: its inputs, and with =frames or =contacts what can be watched, too.\n"
    "A step that does not reach the solver's tolerance is counted, and the run goes\n"
    "on; with --require-converged the exit status is then 5.\n"
    "With several solvers, as --solver mdp,sap, or --solver all, each plays the scene\n"
    "in a world of its own, one after the other, and a table shows them side by side;\n"
    "one that is refused or fails has its row, and the others go on. A parameter of\n"
    "one of them is named with it: --param sap.sigma=1e-4. Behind --name and\n"
    "--episode-name each sets its own: pile-sap.\n"
    "\n"
    "Examples:\n"
    "  moreau run falling.json --steps 720\n"
    "  moreau run falling.json --time 3 --record=frames --episode-name demo\n"
    "  moreau run pile.json --param max_iterations=2000 --require-converged\n"
    "  moreau run robot.json --keep --json | jq .world\n"
    "  moreau run incline.json --solver all --param lcp.directions=16\n";

#define BATCH_S           0.1
#define BATCH_DEADLINE_MS 1000u

enum { STEPS_DEFAULT = 240, BATCH_GROWTH = 4 };

// Some five seconds: a long run survives the network, and of a server that is gone one hears soon.
enum { RECONNECT_ATTEMPTS = 8 };

#define TIME_STEP_DEFAULT (1.0 / 240.0)

// Of a name that was typed, which the server judges.
enum { NAME_BYTES = 1024 };

// What a solver takes in a world, unless it is told otherwise; and how many times that, or what it
// was told, to try when it did not suffice.
enum { ITERATIONS_DEFAULT = 200, ITERATIONS_FACTOR = 10 };

static const CliField typed[] = {
    {"settings.solver", "--solver"},
    {"settings.parameters", "--param "},
    {"settings.time_step", "--time-step"},
    {"settings.effort", "--effort"},
    {"settings.substeps", "--substeps"},
    {"name", "--name"},
    {NULL, NULL},
};

typedef struct RunOptions {
    const char *solver; // Nullable, as typed
    const char *name;   // Nullable
    OptionList params;
    uint64_t steps;     // 0: not given
    double time;        // 0: not given
    double time_step;   // 0: not given
    uint64_t substeps;  // 0: not given
    const char *effort; // Nullable, as typed
    bool keep, require_converged;
    RecordingOptions recording;
} RunOptions;

// What the command line says wins over the scene. `solver` is one of `solvers`, which all run.
static int apply_options(Cli *cli, const RunOptions *options, const OptionList *solvers,
                         const char *solver, Moreau__V1__WorldCreate *create) {
    create->name = (char *)options->name;
    create->has_lifetime = 1;
    create->lifetime =
        options->keep ? MOREAU__V1__WORLD__LIFETIME__SERVER : MOREAU__V1__WORLD__LIFETIME__SESSION;
    Moreau__V1__WorldSettings *settings = create->settings;
    bool is_said = options->solver != NULL || options->params.count > 0;
    settings->solver = is_said ? (char *)solver : NULL;
    settings->has_time_step = options->time_step > 0.0;
    settings->time_step = options->time_step;
    settings->has_substeps = options->substeps > 0;
    settings->substeps = options->substeps < UINT32_MAX ? (uint32_t)options->substeps : UINT32_MAX;
    if (options->effort != NULL) {
        settings->has_effort = 1;
        int status = effort_read(cli, options->effort, &settings->effort);
        if (status != EXIT_DONE) {
            return status;
        }
    }
    char message[640];
    if (!parameters_set(solver, solvers, &options->params, &settings->parameters, message,
                        sizeof(message))) {
        return cli_fail(cli, EXIT_USAGE, "%s", message);
    }
    return EXIT_DONE;
}

static int create_world(Cli *cli, Moreau__V1__WorldCreate *create, const JsonText *source,
                        Moreau__V1__Reply **reply) {
    Moreau__V1__Request request = MOREAU__V1__REQUEST__INIT;
    request.call_case = MOREAU__V1__REQUEST__CALL_WORLD_CREATE;
    request.world_create = create;
    int status = cli_call(cli, &request, reply);
    if (status != EXIT_DONE) {
        return cli_report_refusal(cli, source, "scene");
    }
    if ((*reply)->result_case != MOREAU__V1__REPLY__RESULT_WORLD_CREATE) {
        return cli_fail(cli, EXIT_REFUSED, "the server's answer holds no world");
    }
    return EXIT_DONE;
}

// One batch. *done is how many steps were done, whatever the status is.
static int step_batch(Cli *cli, RunReport *report, uint64_t steps, uint64_t *done) {
    Moreau__V1__WorldStep step = MOREAU__V1__WORLD_STEP__INIT;
    step.n_worlds = 1;
    step.worlds = &report->world;
    step.has_steps = 1;
    step.steps = steps;
    step.has_broken_joints = step.broken_joints = 1;
    Moreau__V1__Request request = MOREAU__V1__REQUEST__INIT;
    request.call_case = MOREAU__V1__REQUEST__CALL_WORLD_STEP;
    request.world_step = &step;
    // a single step has no deadline: it could never be finished
    moreau_set_deadline(cli->client, steps > 1 ? BATCH_DEADLINE_MS : 0);
    Moreau__V1__Reply *reply;
    int status = cli_call(cli, &request, &reply);
    moreau_set_deadline(cli->client, 0);
    *done = 0;
    bool has_failed = false;
    if (reply != NULL) {
        if (reply->result_case == MOREAU__V1__REPLY__RESULT_WORLD_STEP) {
            *done = run_report_add(report, reply->world_step);
            for (size_t i = 0; i < reply->world_step->n_failures; i++) {
                const Moreau__V1__Status *failure = reply->world_step->failures[i];
                has_failed =
                    has_failed || failure->code != MOREAU__V1__STATUS__CODE__DEADLINE_EXCEEDED;
                if (has_failed) {
                    cli_fail(cli, EXIT_REFUSED, "step %" PRIu64 ": %s", failure->step,
                             failure->message != NULL ? failure->message : "the world failed");
                    break;
                }
            }
        }
        moreau__v1__reply__free_unpacked(reply, NULL);
    }
    if (has_failed) {
        return EXIT_REFUSED;
    }
    bool is_late = cli->error.status == MOREAU_DEADLINE_EXCEEDED;
    return status == EXIT_DONE || is_late ? EXIT_DONE : cli_report_refusal(cli, NULL, "");
}

// The next size, from how long the last batch took; it grows slowly, because a pile that has just
// landed costs more than one in flight.
static uint64_t next_batch(uint64_t batch, uint64_t done, double took_s) {
    if (done == 0) {
        return 1;
    }
    double wanted = took_s > 0.0 ? (double)done * BATCH_S / took_s : (double)batch * BATCH_GROWTH;
    double limit = (double)batch * BATCH_GROWTH;
    double size = floor(wanted < limit ? wanted : limit);
    return size >= 1.0 ? (uint64_t)size : 1;
}

static int step_world(Cli *cli, RunReport *report) {
    Progress progress;
    int status = EXIT_DONE;
    uint64_t batch = 1;
    progress_start(&progress);
    while (status == EXIT_DONE && report->steps_done < report->steps_wanted &&
           !interrupt_wanted()) {
        uint64_t left = report->steps_wanted - report->steps_done;
        uint64_t steps = batch < left ? batch : left;
        uint64_t done;
        double started_s = terminal_now_s();
        status = step_batch(cli, report, steps, &done);
        double took_s = terminal_now_s() - started_s;
        report->wall_time += took_s;
        batch = next_batch(steps, done, took_s);
        progress_show(&progress, report->steps_done, report->steps_wanted, report->time);
    }
    progress_stop(&progress);
    report->interrupted = interrupt_wanted();
    return status;
}

// The end of a run: its hash, its episode's, and the world's, unless it is kept. *episode as
// recording_stop has it.
static int finish_world(Cli *cli, const RunOptions *options, RunReport *report,
                        Moreau__V1__Reply **episode) {
    *episode = NULL;
    if (!moreau_is_connected(cli->client)) {
        return EXIT_DONE;
    }
    report->has_hash =
        moreau_world_hash(cli->client, 1, &report->world, &report->hash, NULL) == MOREAU_OK;
    int status = recording_stop(cli, &options->recording, report->world, episode);
    if (!report->kept) {
        moreau_world_destroy(cli->client, report->world);
    }
    return status;
}

static uint64_t count_steps(const RunOptions *options, const Moreau__V1__Scene *scene) {
    if (options->time > 0.0) {
        double h = options->time_step;
        if (h <= 0.0) {
            bool given = scene->settings != NULL && scene->settings->has_time_step &&
                         scene->settings->time_step > 0.0;
            h = given ? scene->settings->time_step : TIME_STEP_DEFAULT;
        }
        // a time that is a whole number of steps but for rounding takes just so many
        double steps = ceil(options->time / h * (1.0 - 1e-12));
        return steps < 1.0 ? 1 : steps > 1e12 ? (uint64_t)1000000000000 : (uint64_t)steps;
    }
    return options->steps > 0 ? options->steps : STEPS_DEFAULT;
}

// What the command line says wins over the scene here, too.
static uint64_t advise_iterations(const Moreau__V1__WorldCreate *create, const char *solver) {
    const Moreau__V1__WorldSettings *scene = create->scene->settings;
    uint32_t given = parameters_iterations(solver, create->settings->parameters);
    if (given == 0 && scene != NULL) {
        given = parameters_iterations(solver, scene->parameters);
    }
    return (given > 0 ? (uint64_t)given : ITERATIONS_DEFAULT) * ITERATIONS_FACTOR;
}

// Whether a step ends with its share of sweeps.
static bool is_bounded(const Moreau__V1__WorldCreate *create, const char *solver) {
    const Moreau__V1__WorldSettings *scene = create->scene->settings, *over = create->settings;
    Moreau__V1__Effort__Kind effort = over->has_effort                     ? over->effort
                                      : scene != NULL && scene->has_effort ? scene->effort
                                                                           : EFFORT_DEFAULT;
    return strcmp(solver, "mdp") == 0 && effort != MOREAU__V1__EFFORT__KIND__EXACT;
}

// `episode` is Nullable.
static void show_run(Cli *cli, const RunReport *report, const Moreau__V1__EpisodeInfo *episode) {
    if (!cli->json) {
        run_report_print(report);
        if (episode != NULL) {
            recording_print(episode);
        } else if (report->kept) {
            printf("\nto look at it: moreau view %" PRIu64 "\n", report->world);
        }
        return;
    }
    json_t *document = run_report_write(report);
    if (episode != NULL) {
        json_object_set_new(document, "episode", json_write_ours(&episode->base));
    }
    cli_print(cli, document);
}

static int judge_convergence(Cli *cli, const RunReport *report) {
    if (report->unconverged_steps == 0) {
        return EXIT_DONE;
    }
    char text[2][32];
    return cli_fail(cli, EXIT_UNCONVERGED,
                    "%s of %s step%s did not converge, and --require-converged was given",
                    format_count(report->unconverged_steps, text[0]),
                    format_count(report->steps_done, text[1]), plural(report->steps_done));
}

// Steps a world that was created, to its end. `is_one`: of several, which are compared.
static int run_world(Cli *cli, const RunOptions *options, bool is_one, RunBeside *run) {
    RunReport *report = &run->report;
    int status = recording_start(cli, &options->recording, report->world);
    if (status != EXIT_DONE) {
        if (!report->kept && moreau_is_connected(cli->client)) {
            moreau_world_destroy(cli->client, report->world);
        }
        return status;
    }
    status = step_world(cli, report);
    if (status == EXIT_DONE && is_one) {
        status = run_places_fetch(cli, report->created, &run->places);
    }
    int finished = finish_world(cli, options, report, &run->episode);
    status = status != EXIT_DONE ? status : finished;
    if (status == EXIT_DONE && options->require_converged) {
        status = judge_convergence(cli, report);
    }
    return status;
}

// One solver's run, from the creation of its world on. `create` is as the command line has it.
static int run_solver(Cli *cli, const RunOptions *options, bool is_one,
                      Moreau__V1__WorldCreate *create, const JsonText *source, RunBeside *run) {
    int status = create_world(cli, create, source, &run->created);
    if (status != EXIT_DONE) {
        return status;
    }
    const Moreau__V1__WorldCreateReply *created = run->created->world_create;
    run->report.world = created->world;
    run->report.name = created->name != NULL ? created->name : "world";
    run->report.bodies = created->bodies;
    run->report.created = created;
    run->report.iterations_advised = advise_iterations(create, run->report.solver);
    run->report.is_bounded = is_bounded(create, run->report.solver);
    run->report.kept = options->keep;
    return run_world(cli, options, is_one, run);
}

// Connects when it is the first. `solver` is one of those that run.
static int run_scene(Cli *cli, const RunOptions *options, const OptionList *solvers,
                     const char *solver, Moreau__V1__Scene *scene, const JsonText *source,
                     RunBeside *run) {
    run->report = (RunReport){.name = scene->name != NULL ? scene->name : "world",
                              .solver = solver,
                              .bodies = scene->n_bodies,
                              .steps_wanted = count_steps(options, scene),
                              .scene = scene};
    Moreau__V1__WorldSettings settings = MOREAU__V1__WORLD_SETTINGS__INIT;
    Moreau__V1__WorldCreate create = MOREAU__V1__WORLD_CREATE__INIT;
    create.settings = &settings;
    create.scene = scene;
    int status = apply_options(cli, options, solvers, solver, &create);
    if (status == EXIT_DONE) {
        cli->reconnect_attempts = RECONNECT_ATTEMPTS;
        status = cli_connect(cli);
    }
    if (status == EXIT_DONE) {
        status = run_solver(cli, options, solvers->count > 1, &create, source, run);
    }
    if (settings.parameters != NULL) {
        moreau__v1__solver_parameters__free_unpacked(settings.parameters, NULL);
    }
    return status;
}

static int run_alone(Cli *cli, const RunOptions *options, const OptionList *solvers,
                     Moreau__V1__Scene *scene, const JsonText *source) {
    RunBeside run = {0};
    int status = run_scene(cli, options, solvers, solvers->item[0], scene, source, &run);
    if (run.report.world != 0) { // else it was refused, and nothing ran
        show_run(cli, &run.report, run.episode != NULL ? run.episode->episode_stop->episode : NULL);
    }
    run_beside_free(&run);
    return status;
}

// "pile-sap" for a name that was typed, in `text`; what has no name gets none.
static const char *name_after(const char *name, const char *solver, char text[NAME_BYTES]) {
    if (name != NULL) {
        snprintf(text, NAME_BYTES, "%s-%s", name, solver);
    }
    return name != NULL ? text : NULL;
}

// One solver of several: what is named on the command line is named after it, too.
static int run_named(Cli *cli, const RunOptions *options, const OptionList *solvers,
                     const char *solver, Moreau__V1__Scene *scene, const JsonText *source,
                     RunBeside *run) {
    char text[2][NAME_BYTES];
    RunOptions named = *options;
    named.name = name_after(options->name, solver, text[0]);
    named.recording.name = name_after(options->recording.name, solver, text[1]);
    return run_scene(cli, &named, solvers, solver, scene, source, run);
}

// One after the other, so that none disturbs another's time. What one is refused, or fails at, is
// its own; without a connection, or after Ctrl-C, nothing more is begun.
static int run_each(Cli *cli, const RunOptions *options, const OptionList *solvers,
                    Moreau__V1__Scene *scene, const JsonText *source) {
    RunBeside *runs = memory_take(solvers->count, sizeof(*runs));
    Cli said = {0}; // the first that went wrong
    int worst = EXIT_DONE;
    size_t count = 0;
    while (count < solvers->count && worst != EXIT_USAGE && worst != EXIT_NO_CONNECTION &&
           !interrupt_wanted()) {
        RunBeside *run = &runs[count];
        cli->about = solvers->item[count++];
        int status = run_named(cli, options, solvers, cli->about, scene, source, run);
        worst = worst == EXIT_DONE || status == EXIT_NO_CONNECTION ? status : worst;
        memcpy(run->failure, cli->failure, sizeof(run->failure));
        if (said.failure[0] == '\0') {
            said = *cli;
        }
        cli->failure[0] = '\0';
    }
    cli->about = NULL;
    memcpy(cli->failure, said.failure, sizeof(said.failure));
    cli->refusal = said.refusal;
    if (worst != EXIT_USAGE && count > 0 && cli->json) {
        cli_print(cli, run_beside_write(runs, count));
    } else if (worst != EXIT_USAGE && count > 0) {
        run_beside_print(runs, count);
    }
    for (size_t i = 0; i < count; i++) {
        run_beside_free(&runs[i]);
    }
    free(runs);
    return worst;
}

// Which solvers run: those that are asked for, or the one that the scene names. A scene's "all" is
// for the server to refuse.
static int choose_solvers(Cli *cli, const RunOptions *options, const Moreau__V1__Scene *scene,
                          char text[SOLVER_LIST_BYTES], OptionList *solvers) {
    const Moreau__V1__WorldSettings *settings = scene->settings;
    if (options->solver != NULL) {
        return solver_list_read(cli, options->solver, text, solvers);
    }
    *solvers = (OptionList){.count = 1};
    solvers->item[0] =
        settings != NULL && settings->solver != NULL ? settings->solver : PARAMETERS_SOLVER_DEFAULT;
    return EXIT_DONE;
}

static int run_solvers(Cli *cli, const RunOptions *options, Moreau__V1__Scene *scene,
                       const JsonText *source) {
    char text[SOLVER_LIST_BYTES];
    OptionList solvers;
    int status = choose_solvers(cli, options, scene, text, &solvers);
    if (status != EXIT_DONE) {
        return status;
    }
    interrupt_catch();
    return solvers.count == 1 ? run_alone(cli, options, &solvers, scene, source)
                              : run_each(cli, options, &solvers, scene, source);
}

static int load_and_run(Cli *cli, const RunOptions *options, const char *file) {
    JsonText json;
    JsonError error;
    int status = cli_load(cli, &json, file);
    if (status != EXIT_DONE) {
        return status;
    }
    if (json_object_get(json.root, "trees") != NULL || json_object_get(json.root, "rows") != NULL) {
        status =
            cli_fail(cli, EXIT_REFUSED,
                     "%s is a contact problem, and a scene is wanted: moreau solve %s", file, file);
        json_text_free(&json);
        return status;
    }
    ProtobufCMessage *scene =
        json_read_message(&json, json.root, "", &moreau__v1__scene__descriptor, &error);
    if (scene == NULL) {
        status = cli_fail(cli, EXIT_REFUSED, "%s", error.message);
    } else {
        status = run_solvers(cli, options, (Moreau__V1__Scene *)scene, &json);
        protobuf_c_message_free_unpacked(scene, NULL);
    }
    json_text_free(&json);
    return status;
}

int command_run(Cli *cli, int argc, char **argv) {
    RunOptions options = {0};
    const Option table[] = {
        {"--solver", OPTION_TEXT, &options.solver, "NAME",
         "contact solver, or A,B or all; default: the scene's"},
        {"--param", OPTION_LIST, &options.params, "KEY=VALUE",
         "a parameter of the solver; may be repeated"},
        {"--steps", OPTION_COUNT, &options.steps, "N", "how many steps; default 240"},
        {"--time", OPTION_NUMBER, &options.time, "SECONDS", "simulated time, instead of --steps"},
        {"--time-step", OPTION_NUMBER, &options.time_step, "SECONDS",
         "of one step; default: the scene's, or 1/240"},
        {"--substeps", OPTION_COUNT, &options.substeps, "N",
         "1 to 16 of each step; default: the scene's, or 1"},
        {"--effort", OPTION_TEXT, &options.effort, "EFFORT",
         "exact, balanced or fast; default: the scene's"},
        {"--name", OPTION_TEXT, &options.name, "NAME", "name of the world"},
        {"--keep", OPTION_FLAG, &options.keep, NULL, "leave the world on the server"},
        {"--require-converged", OPTION_FLAG, &options.require_converged, NULL,
         "exit status 5 when a step did not converge"},
        {"--record", OPTION_CHOICE, &options.recording.content, "CONTENT",
         "record: inputs (default), frames, contacts"},
        {"--stride", OPTION_COUNT, &options.recording.stride, "N",
         "record frames at every N-th step; default 1"},
        {"--episode-name", OPTION_TEXT, &options.recording.name, "NAME",
         "default: the world's, with a number"},
        {"--label", OPTION_LIST, &options.recording.labels, "LABEL",
         "of the episode; may be repeated"},
        {"--lossy", OPTION_FLAG, &options.recording.lossy, NULL,
         "lose steps rather than wait for the disk"},
        {"--events", OPTION_FLAG, &options.recording.events, NULL,
         "record also which bodies touch, and how hard"},
    };
    OptionList words = {0};
    int status = cli_parse(cli, usage, (OptionTable){table, sizeof(table) / sizeof(table[0])}, argc,
                           argv, 1, 1, &words);
    if (status != EXIT_DONE || cli->help) {
        return status;
    }
    if (options.steps > 0 && options.time > 0.0) {
        return cli_fail(cli, EXIT_USAGE, "give --steps or --time, not both");
    }
    cli->fields = typed;
    status = recording_check(cli, &options.recording);
    return status == EXIT_DONE ? load_and_run(cli, &options, words.item[0]) : status;
}
