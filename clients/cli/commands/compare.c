// SPDX-License-Identifier: MIT
// moreau compare: an episode's inputs again, under other solvers and time steps.
#include "cli/cli.h"

#include "cli/episodes/compare_text.h"
#include "cli/episodes/episode_text.h"
#include "cli/base/interrupt.h"
#include "cli/text/number.h"
#include "cli/protocol/parameters.h"
#include "cli/protocol/solver_list.h"
#include "cli/text/terminal.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const char usage[] =
    "moreau compare: an episode's inputs again, under other solvers and time steps\n"
    "\n"
    "  moreau compare EPISODE [options]\n"
    "\n"
    "What happened is stepped again as it was recorded, and beside it once for each\n"
    "solver and time step asked for; a table shows how well each was solved, how far\n"
    "its bodies come apart from the recording, and when. What is asked for rules over\n"
    "what the recording sets; with another time step the inputs come at the same\n"
    "simulated time. With --record each becomes an episode that knows its parent.\n"
    "Of an episode of a group the recorded actions are taken, all of them, also where\n"
    "the group's rules would have ended the episode before: the step is told.\n"
    "Exit status 1: refused, or one of them did not get to its end.\n"
    "\n"
    "Examples:\n"
    "  moreau compare demo --solver all\n"
    "  moreau compare demo --solver ccp,sap --param sap.sigma=1e-4 --record\n"
    "  moreau compare 3e9f0a8d --time-step 0.001 --time-step 0.0005 --from 1000\n"
    "  moreau compare demo --substeps 4\n"
    "  moreau compare demo --solver lcp --json | jq '.runs[1].sample_distance'\n";

#define NOT_GIVEN UINT64_MAX

// As many lines as a table over time has unless a stride is given; as many variants as a server
// takes.
enum { LINES_DEFAULT = 10, VARIANTS_MAX = 16, NAME_BYTES = 256, PATH_BYTES = 64 };

enum { FIELDS = 4 }; // of a variant, that options are about

typedef struct CompareOptions {
    OptionList solvers, params, time_steps, labels;
    uint64_t from, to, stride; // stride 0: not given
    uint64_t substeps;         // 0: not given
    double threshold;          // -1: not given
    bool record;
} CompareOptions;

// What is asked of the server, and how the runs are called. Texts are borrowed.
typedef struct Asking {
    Moreau__V1__EpisodeVariant variant[VARIANTS_MAX], *list[VARIANTS_MAX];
    Moreau__V1__WorldSettings settings[VARIANTS_MAX];
    char name[VARIANTS_MAX][NAME_BYTES];
    CompareLabel label[VARIANTS_MAX + 1]; // the first is the recording's own
    size_t count;
    // which option each field of the call came from
    char path[VARIANTS_MAX][FIELDS][PATH_BYTES];
    CliField typed[FIELDS * VARIANTS_MAX + 8];
} Asking;

typedef struct Comparing {
    Progress progress;
    double step_time; // [s] of a step, on average
    uint64_t steps_done, steps_total;
} Comparing;

static bool show_progress(void *context, const MoreauReply *event) {
    Comparing *comparing = context;
    Moreau__V1__Reply *message = cli_unpack(event);
    if (message->result_case == MOREAU__V1__REPLY__RESULT_COMPARE_PROGRESS) {
        comparing->steps_done = message->compare_progress->steps_done;
        comparing->steps_total = message->compare_progress->steps_total;
        progress_show(&comparing->progress, comparing->steps_done, comparing->steps_total,
                      (double)comparing->steps_done * comparing->step_time);
    }
    moreau__v1__reply__free_unpacked(message, NULL);
    return true;
}

// ---- what is asked for

static int read_time_step(Cli *cli, const char *text, double *time_step) {
    char *end;
    *time_step = strtod(text, &end);
    if (end == text || *end != '\0' || !isfinite(*time_step) || *time_step <= 0.0) {
        return cli_fail(cli, EXIT_USAGE, "--time-step takes seconds above 0, not %s", text);
    }
    return EXIT_DONE;
}

// "ccp", "0.002083 s", "ccp 0.002083"
static void name_run(CompareLabel *label, const char *solver,
                     const Moreau__V1__WorldSettings *settings) {
    const bool is_named = solver[0] != '\0';
    int used = snprintf(label->text, sizeof(label->text), "%.20s", solver);
    if (settings->has_time_step) {
        snprintf(label->text + used, sizeof(label->text) - (size_t)used, "%s%.4g%s",
                 is_named ? " " : "", settings->time_step, is_named ? "" : " s");
    }
}

// One variant: of a solver (NULL: as recorded), at a time step (NULL: likewise).
static int add_variant(Cli *cli, const CompareOptions *options, const OptionList *solvers,
                       const Moreau__V1__EpisodeInfo *episode, const char *solver,
                       const char *time_step, Asking *asking) {
    if (asking->count == VARIANTS_MAX) {
        return cli_fail(cli, EXIT_USAGE, "that is more than %d solvers at time steps",
                        VARIANTS_MAX);
    }
    const size_t i = asking->count++;
    Moreau__V1__WorldSettings *settings = &asking->settings[i];
    moreau__v1__episode_variant__init(&asking->variant[i]);
    moreau__v1__world_settings__init(settings);
    asking->list[i] = &asking->variant[i];
    asking->variant[i].settings = settings;
    settings->solver = (char *)solver;
    settings->has_substeps = options->substeps > 0;
    settings->substeps = options->substeps < UINT32_MAX ? (uint32_t)options->substeps : UINT32_MAX;
    if (time_step != NULL) {
        settings->has_time_step = 1;
        int status = read_time_step(cli, time_step, &settings->time_step);
        if (status != EXIT_DONE) {
            return status;
        }
    }
    const char *of = solver != NULL ? solver : episode->solver != NULL ? episode->solver : "";
    char message[640];
    if (!parameters_set(of, solvers, &options->params, &settings->parameters, message,
                        sizeof(message))) {
        return cli_fail(cli, EXIT_USAGE, "%s", message);
    }
    name_run(&asking->label[i + 1], options->solvers.count > 0 || time_step == NULL ? of : "",
             settings);
    snprintf(asking->name[i], sizeof(asking->name[i]), "%.150s-%.40s%s%.40s", episode_name(episode),
             of, time_step != NULL ? "-" : "", time_step != NULL ? time_step : "");
    asking->variant[i].name = asking->name[i];
    return EXIT_DONE;
}

// `--solver A --solver B` is `--solver A,B`.
static int join_solvers(Cli *cli, const OptionList *typed, char text[SOLVER_LIST_BYTES]) {
    size_t used = 0;
    text[0] = '\0';
    for (size_t i = 0; i < typed->count; i++) {
        const int count = snprintf(text + used, SOLVER_LIST_BYTES - used, "%s%s",
                                   used > 0 ? "," : "", typed->item[i]);
        used += count > 0 ? (size_t)count : 0;
        if (used >= SOLVER_LIST_BYTES) {
            return cli_fail(cli, EXIT_USAGE, "--solver: these have more than %d letters",
                            SOLVER_LIST_BYTES - 1);
        }
    }
    return EXIT_DONE;
}

// Every solver at every time step.
static int choose_variants(Cli *cli, const CompareOptions *options,
                           const Moreau__V1__EpisodeInfo *episode, char text[SOLVER_LIST_BYTES],
                           Asking *asking) {
    OptionList solvers = {.count = 1};
    solvers.item[0] = episode->solver != NULL ? episode->solver : "";
    char typed[SOLVER_LIST_BYTES];
    int status = join_solvers(cli, &options->solvers, typed);
    if (status == EXIT_DONE && typed[0] != '\0') {
        status = solver_list_read(cli, typed, text, &solvers);
    }
    const size_t steps = options->time_steps.count;
    for (size_t i = 0; i < solvers.count && status == EXIT_DONE; i++) {
        const char *solver = typed[0] == '\0' ? NULL : solvers.item[i];
        for (size_t k = 0; k < (steps > 0 ? steps : 1) && status == EXIT_DONE; k++) {
            const char *time_step = steps > 0 ? options->time_steps.item[k] : NULL;
            status = add_variant(cli, options, &solvers, episode, solver, time_step, asking);
        }
    }
    snprintf(asking->label[0].text, sizeof(asking->label[0].text), "recorded");
    return status;
}

static void name_fields(Asking *asking) {
    static const CliField calls[] = {{"episode", "EPISODE"}, {"first", "--from"},
                                     {"last", "--to"},       {"stride", "--stride"},
                                     {"labels", "--label"},  {"threshold", "--apart"}};
    static const CliField of_variant[FIELDS] = {{"solver", "--solver"},
                                                {"parameters", "--param "},
                                                {"time_step", "--time-step"},
                                                {"substeps", "--substeps"}};
    size_t used = 0;
    for (; used < sizeof(calls) / sizeof(calls[0]); used++) {
        asking->typed[used] = calls[used];
    }
    for (size_t i = 0; i < asking->count; i++) {
        for (size_t k = 0; k < FIELDS; k++) {
            snprintf(asking->path[i][k], PATH_BYTES, "variants[%zu].settings.%s", i,
                     of_variant[k].field);
            asking->typed[used++] =
                (CliField){.field = asking->path[i][k], .shown = of_variant[k].shown};
        }
    }
    asking->typed[used] = (CliField){0};
}

static void free_asking(Asking *asking) {
    for (size_t i = 0; i < asking->count; i++) {
        if (asking->settings[i].parameters != NULL) {
            moreau__v1__solver_parameters__free_unpacked(asking->settings[i].parameters, NULL);
        }
    }
}

// ---- the call

static uint64_t default_stride(uint64_t steps) {
    return steps > LINES_DEFAULT ? (steps + LINES_DEFAULT - 1) / LINES_DEFAULT : 1;
}

// What came of it, `reply` Nullable, is shown and judged.
static int conclude(Cli *cli, const Comparing *comparing, const Moreau__V1__EpisodeInfo *episode,
                    const Asking *asking, int status, const Moreau__V1__Reply *reply) {
    if (status != EXIT_DONE && cli->error.status == MOREAU_CANCELLED) {
        char text[2][32];
        return cli_fail(cli, EXIT_REFUSED, "stopped after %s of %s step%s",
                        format_count(comparing->steps_done, text[0]),
                        format_count(comparing->steps_total, text[1]),
                        plural(comparing->steps_total));
    }
    if (status != EXIT_DONE) {
        return cli_report_refusal(cli, NULL, "");
    }
    const Moreau__V1__EpisodeCompareReply *result =
        reply->result_case == MOREAU__V1__REPLY__RESULT_EPISODE_COMPARE ? reply->episode_compare
                                                                        : NULL;
    if (result == NULL || result->n_runs != asking->count + 1) {
        return cli_fail(cli, EXIT_REFUSED, "the server's answer does not hold these runs");
    }
    for (size_t i = 1; i < result->n_runs && status == EXIT_DONE; i++) {
        if (result->runs[i]->ended != NULL) {
            status = cli_fail(cli, EXIT_REFUSED, "%s ended behind step %" PRIu64 ": %s",
                              asking->label[i].text, result->runs[i]->ended_step,
                              result->runs[i]->ended);
        }
    }
    if (cli->json) {
        cli_print(cli, json_write_ours(&result->base));
    } else {
        compare_print(episode, result, asking->label);
        episode_print_look(episode, result->last);
    }
    return status;
}

static int ask(Cli *cli, const CompareOptions *options, const Moreau__V1__EpisodeInfo *episode,
               Asking *asking) {
    Moreau__V1__EpisodeCompare compare = MOREAU__V1__EPISODE_COMPARE__INIT;
    compare.episode = episode->episode; // a name may be another's by now
    compare.has_first = options->from != NOT_GIVEN;
    compare.first = compare.has_first ? options->from : 0;
    compare.has_last = options->to != NOT_GIVEN;
    compare.last = compare.has_last ? options->to : episode->steps;
    uint64_t steps = compare.last > compare.first ? compare.last - compare.first : 0;
    compare.has_stride = 1;
    compare.stride = options->stride > 0 ? options->stride : default_stride(steps);
    compare.has_threshold = options->threshold >= 0.0;
    compare.threshold = options->threshold;
    compare.has_record = compare.record = options->record;
    compare.n_labels = options->labels.count;
    compare.labels = (char **)options->labels.item;
    compare.n_variants = asking->count;
    compare.variants = asking->list;
    Moreau__V1__Request request = MOREAU__V1__REQUEST__INIT;
    request.call_case = MOREAU__V1__REQUEST__CALL_EPISODE_COMPARE;
    request.episode_compare = &compare;
    double all = episode->steps > 0 ? (double)episode->steps : 1.0;
    Comparing comparing = {.step_time = episode_simulated(episode) / all, .steps_total = steps};
    interrupt_catch();
    progress_start(&comparing.progress);
    Moreau__V1__Reply *reply;
    int status = cli_call_events(cli, &request, show_progress, &comparing, &reply);
    progress_stop(&comparing.progress);
    status = conclude(cli, &comparing, episode, asking, status, reply);
    if (reply != NULL) {
        moreau__v1__reply__free_unpacked(reply, NULL);
    }
    return status;
}

static int compare_episode(Cli *cli, const CompareOptions *options, const char *name) {
    static const CliField named[] = {{"episode", "EPISODE"}, {NULL, NULL}};
    Moreau__V1__Reply *reply;
    cli->fields = named;
    int status = cli_connect(cli);
    if (status != EXIT_DONE || (status = episode_describe(cli, name, 0, &reply)) != EXIT_DONE) {
        return status;
    }
    const Moreau__V1__EpisodeInfo *episode = reply->episode_describe->episode;
    char text[SOLVER_LIST_BYTES];
    Asking asking = {0};
    status = choose_variants(cli, options, episode, text, &asking);
    if (status == EXIT_DONE) {
        name_fields(&asking);
        cli->fields = asking.typed;
        status = ask(cli, options, episode, &asking);
        cli->fields = NULL;
    }
    free_asking(&asking);
    moreau__v1__reply__free_unpacked(reply, NULL);
    return status;
}

int command_compare(Cli *cli, int argc, char **argv) {
    CompareOptions options = {.from = NOT_GIVEN, .to = NOT_GIVEN, .threshold = -1.0};
    const Option table[] = {
        {"--solver", OPTION_LIST, &options.solvers, "NAME",
         "contact solver, or A,B or all; may be repeated"},
        {"--param", OPTION_LIST, &options.params, "KEY=VALUE",
         "a parameter of the solver; may be repeated"},
        {"--time-step", OPTION_LIST, &options.time_steps, "SECONDS",
         "of one step; may be repeated; default: as recorded"},
        {"--substeps", OPTION_COUNT, &options.substeps, "N",
         "1 to 16 of each step; default: as recorded"},
        {"--from", OPTION_INDEX, &options.from, "STEP", "of the episode; default 0"},
        {"--to", OPTION_INDEX, &options.to, "STEP", "default: the last"},
        {"--stride", OPTION_COUNT, &options.stride, "N",
         "a line, and a frame, for every N-th step"},
        {"--apart", OPTION_FACTOR, &options.threshold, "METRES", "how far is apart; default 0.001"},
        {"--record", OPTION_FLAG, &options.record, NULL, "keep each as an episode, with frames"},
        {"--label", OPTION_LIST, &options.labels, "LABEL", "of these episodes; may be repeated"},
    };
    OptionList words = {0};
    int status = cli_parse(cli, usage, (OptionTable){table, sizeof(table) / sizeof(table[0])}, argc,
                           argv, 1, 1, &words);
    if (status != EXIT_DONE || cli->help) {
        return status;
    }
    if (options.solvers.count == 0 && options.params.count == 0 && options.time_steps.count == 0 &&
        options.substeps == 0) {
        return cli_fail(cli, EXIT_USAGE,
                        "say what is to be different: --solver, --param, --time-step or "
                        "--substeps");
    }
    if (options.labels.count > 0 && !options.record) {
        return cli_fail(cli, EXIT_USAGE, "--label is about episodes: give --record, too");
    }
    return compare_episode(cli, &options, words.item[0]);
}
