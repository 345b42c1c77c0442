// SPDX-License-Identifier: MIT
// moreau solve: one contact problem from a file, solved by the server without a world; or the last
// problem of a world, solved again or into a file.
#include "cli/cli.h"

#include "cli/protocol/certificate.h"
#include "cli/text/chart.h"
#include "cli/text/fold.h"
#include "cli/text/table.h"
#include "cli/problems/fclib.h"
#include "cli/json/write.h"
#include "cli/base/memory.h"
#include "cli/text/number.h"
#include "cli/protocol/effort.h"
#include "cli/protocol/parameters.h"
#include "cli/problems/problem.h"
#include "cli/files/save.h"
#include "cli/text/terminal.h"
#include "cli/worlds/find.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
    "moreau solve: one contact problem, its impulses and its certificate\n"
    "\n"
    "  moreau solve PROBLEM.json [--solver NAME] [--param KEY=VALUE]... [--history]\n"
    "  moreau solve --world WORLD [--solver NAME]...  a world's last problem, again\n"
    "  moreau solve --world WORLD --dump FILE         that problem as such a file\n"
    "\n"
    "The file's format is \"moreau-problem/1\"; - reads standard input; HDF5 files of\n"
    "FCLib are taken too (its global form, and the reduced one with W). A dump names\n"
    "the solver and the parameters that the world's last step used, and a file that\n"
    "names them is solved with them: to the same impulses, bit for bit. --param\n"
    "changes one; another --solver begins with its own defaults. WORLD is an id or a\n"
    "name. --history draws how the residual of the solver's model falls.\n"
    "\n"
    "Examples:\n"
    "  moreau solve wedge.json\n"
    "  moreau solve wedge.json --param friction=coulomb --param tolerance=1e-10\n"
    "  moreau solve --world pile --history\n"
    "  moreau solve --world pile --dump hard.json\n"
    "  moreau solve hard.json --json | jq .report.e_DS\n";

enum { ITERATIONS_FACTOR = 10 }; // how many times more iterations to try when they did not suffice

typedef struct SolveOptions {
    const char *solver; // Nullable
    const char *dump;   // Nullable
    const char *world;  // Nullable
    OptionList params;
    bool history;
    const char *effort; // Nullable, as typed
} SolveOptions;

static const CliField typed[] = {
    {"solver", "--solver"}, {"parameters", "--param "}, {"world", "--world"}, {NULL, NULL}};

// "2 trees, 1 contact, 0 rows"
static char *describe_size(const Moreau__V1__ContactProblem *problem, char text[96]) {
    snprintf(text, 96, "%zu tree%s, %zu contact%s, %zu row%s", problem->n_tree_width,
             plural(problem->n_tree_width), problem->n_contact_mu, plural(problem->n_contact_mu),
             problem->n_row_given, plural(problem->n_row_given));
    return text;
}

// ---- the answer

static void print_open(const Moreau__V1__Certificate *certificate) {
    const Moreau__V1__OpenIsland *open = certificate->worst_open;
    if (open == NULL) {
        return;
    }
    fold_printf("  %" PRIu32 " of %" PRIu32 " island%s not solved; the worst: %" PRIu32
                " contact%s around tree %" PRIu32 ", residual %.2g: %s\n",
                certificate->islands_open, certificate->islands, plural(certificate->islands),
                open->contacts, plural(open->contacts), open->tree, open->residual,
                certificate_reason_meaning((int)certificate->reason));
}

static void print_solve(const Moreau__V1__ContactProblem *problem, const char *model,
                        const Moreau__V1__Certificate *certificate) {
    char time[32];
    char size[96];
    fold_printf("%s%s%s: %s; %" PRIu32 " iteration%s in %s\n", terminal_style(stdout, STYLE_BOLD),
                model, terminal_style(stdout, STYLE_PLAIN), describe_size(problem, size),
                certificate->iterations, plural(certificate->iterations),
                format_seconds(certificate->time, time));
    if (certificate->converged) {
        fold_printf("  %sconverged%s to %.3g\n", terminal_style(stdout, STYLE_GOOD),
                    terminal_style(stdout, STYLE_PLAIN), certificate->tolerance);
    } else {
        fold_printf(
            "  %snot converged%s: the residual %.3g of the solver's model is to be at most %.3g\n",
            terminal_style(stdout, STYLE_BAD), terminal_style(stdout, STYLE_PLAIN),
            certificate->e_own, certificate->tolerance);
        print_open(certificate);
        if (certificate->reason == MOREAU__V1__CERTIFICATE__REASON__ITERATIONS_ENDED &&
            !certificate->has_rung) {
            fold_printf("  more iterations may help: --param max_iterations=%" PRIu64 "\n",
                        ITERATIONS_FACTOR * (uint64_t)certificate->iterations);
        }
    }
    if (certificate->has_rung) {
        fold_printf("  %s\n", certificate_rung_meaning((int)certificate->rung));
    }
}

static void print_length(Table *table, const char *name, const char *meaning, double value) {
    table_cell(table, 0, STYLE_PLAIN, name);
    table_cell(table, 1, STYLE_PLAIN, meaning);
    table_printf(table, 2, STYLE_PLAIN, "%.3g", value + 0.0); // no zero with a sign
    fold_printf("\n");
}

static void print_certificate(const Moreau__V1__Certificate *certificate) {
    const struct {
        const char *entry;
        double value, velocity;
        bool has_velocity;
    } rows[] = {
        {"e_mom", certificate->e_mom, 0.0, false},
        {"e_pen", certificate->e_pen, certificate->pen_velocity, true},
        {"e_comp", certificate->e_comp, certificate->comp_velocity, true},
        {"e_cone", certificate->e_cone, 0.0, false},
        {"e_mdp", certificate->e_mdp, certificate->mdp_velocity, true},
        {"e_ds", certificate->e_ds, certificate->ds_velocity, true},
        {"e_own", certificate->e_own, certificate->own_velocity, true},
        {"e_row", certificate->e_row, certificate->row_velocity, true},
    };
    static const TableColumn head[] = {CERTIFICATE_COLUMNS(1),
                                       {"value", NULL, 10, 0, TABLE_RIGHT},
                                       {"[m/s]", NULL, 12, 0, TABLE_RIGHT}};
    Table table = certificate_table(head, sizeof(head) / sizeof(head[0]));
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char velocity[32] = "";
        if (rows[i].has_velocity) {
            snprintf(velocity, sizeof(velocity), "%.2g", rows[i].velocity);
        }
        certificate_cells(&table, rows[i].entry);
        table_printf(&table, 2, STYLE_PLAIN, "%.2g", rows[i].value);
        table_cell(&table, 3, STYLE_PLAIN, velocity);
        fold_printf("\n");
    }
    print_length(&table, "V", "velocity scale [m/s]", certificate->scale);
    print_length(&table, "overlap", "deepest overlap [m]", certificate->penetration);
}

enum { CONTACT_ROWS_MAX = 12 };

static void print_contacts(const Moreau__V1__SolveReply *answer) {
    size_t count = answer->n_contacts / 3;
    if (count == 0) {
        return;
    }
    static const TableColumn head[] = {{"contact", NULL, 7, 0, TABLE_RIGHT},
                                       {"normal [N s]", NULL, 14, 0, TABLE_RIGHT},
                                       {"tangent 1", NULL, 14, 1, TABLE_RIGHT},
                                       {"tangent 2", NULL, 14, 1, TABLE_RIGHT}};
    Table table = table_fit(head, sizeof(head) / sizeof(head[0]), 2, 0);
    fold_printf("\n");
    table_print_head(&table, NULL);
    for (size_t i = 0; i < count && i < CONTACT_ROWS_MAX; i++) {
        const double *impulse = answer->contacts + 3 * i;
        table_printf(&table, 0, STYLE_PLAIN, "%zu", i);
        for (size_t k = 0; k < 3; k++) {
            table_printf(&table, 1 + k, STYLE_PLAIN, "%.6g", impulse[k] + 0.0); // as above
        }
        fold_printf("\n");
    }
    if (count > CONTACT_ROWS_MAX) {
        fold_printf("  ... and %zu more; --json has all\n", count - CONTACT_ROWS_MAX);
    }
}

static void print_history(const Moreau__V1__SolveReply *answer) {
    if (answer->n_history == 0) {
        fold_printf("\n  no history: the solver had nothing to iterate\n");
        return;
    }
    fold_printf("\n  %sresidual e_own after each iteration, and the tolerance%s\n",
                terminal_style(stdout, STYLE_DIM), terminal_style(stdout, STYLE_PLAIN));
    chart_print(stdout, answer->history, answer->n_history, answer->certificate->tolerance,
                answer->certificate->iterations);
}

static int show_answer(Cli *cli, const Moreau__V1__Solve *solve,
                       const Moreau__V1__SolveReply *answer) {
    json_t *document =
        problem_write_answer(solve->problem, solve->solver, solve->parameters, answer);
    if (document == NULL) {
        return cli_fail(cli, EXIT_REFUSED,
                        "the server's answer does not fit the problem; is it of another version?");
    }
    if (cli->json) {
        cli_print(cli, json_incref(document));
    } else {
        char model[PARAMETERS_MODEL_BYTES];
        print_solve(solve->problem, parameters_model(solve->solver, solve->parameters, model),
                    answer->certificate);
        print_certificate(answer->certificate);
        print_contacts(answer);
        if (solve->history) {
            print_history(answer);
        }
    }
    json_decref(document);
    return EXIT_DONE;
}

// Whether the command line, and not the file, says what the server blames.
static bool is_typed(const SolveOptions *options, const char *field) {
    const char *key = strrchr(field, '.');
    if (strcmp(field, "solver") == 0) {
        return options->solver != NULL;
    }
    for (size_t i = 0; key != NULL && i < options->params.count; i++) {
        const char *param = options->params.item[i];
        if (json_key_equal(key + 1, strlen(key + 1), param, strcspn(param, "="))) {
            return strncmp(field, "parameters.", 11) == 0;
        }
    }
    return false;
}

static int report_refusal(Cli *cli, const SolveOptions *options, const JsonText *source) {
    cli->fields = is_typed(options, cli->error.field) ? typed : NULL;
    bool is_prefixed = strncmp(cli->error.field, "problem.", 8) == 0;
    return cli_report_refusal(cli, source, is_prefixed ? "problem" : "");
}

static int send_problem(Cli *cli, const SolveOptions *options, Moreau__V1__Solve *solve,
                        const JsonText *source) {
    int status = cli_connect(cli);
    if (status != EXIT_DONE) {
        return status;
    }
    Moreau__V1__Request request = MOREAU__V1__REQUEST__INIT;
    request.call_case = MOREAU__V1__REQUEST__CALL_SOLVE;
    request.solve = solve;
    Moreau__V1__Reply *reply;
    status = cli_call(cli, &request, &reply);
    if (status != EXIT_DONE) {
        status = report_refusal(cli, options, source);
    } else if (reply->result_case != MOREAU__V1__REPLY__RESULT_SOLVE) {
        status = cli_fail(cli, EXIT_REFUSED, "the server's answer holds no solution");
    } else {
        status = show_answer(cli, solve, reply->solve);
    }
    if (reply != NULL) {
        moreau__v1__reply__free_unpacked(reply, NULL);
    }
    return status;
}

// Who is to solve: what the command line says wins over the file. EXIT_DONE, or after a sentence
// what to return.
static int choose_solver(Cli *cli, const SolveOptions *options, ProblemSolver *solver) {
    const char *wanted = options->solver;
    if (solver->name == NULL || (wanted != NULL && strcmp(wanted, solver->name) != 0)) {
        // parameters of another solver say nothing here
        problem_solver_free(solver);
        solver->name = memory_copy(wanted != NULL ? wanted : PARAMETERS_SOLVER_DEFAULT);
    }
    const OptionList solvers = {.item = {solver->name}, .count = 1};
    char message[640];
    return parameters_set(solver->name, &solvers, &options->params, &solver->parameters, message,
                          sizeof(message))
               ? EXIT_DONE
               : cli_fail(cli, EXIT_USAGE, "%s", message);
}

// `source` is Nullable: the file that the problem is from.
static int solve_problem(Cli *cli, const SolveOptions *options, Moreau__V1__ContactProblem *problem,
                         ProblemSolver *solver, const JsonText *source) {
    int status = choose_solver(cli, options, solver);
    if (status != EXIT_DONE) {
        return status;
    }
    Moreau__V1__Solve solve = MOREAU__V1__SOLVE__INIT;
    solve.problem = problem;
    solve.solver = solver->name;
    solve.parameters = solver->parameters;
    solve.has_history = solve.history = options->history;
    solve.has_effort = options->effort != NULL;
    if (solve.has_effort) {
        status = effort_read(cli, options->effort, &solve.effort);
        if (status != EXIT_DONE) {
            return status;
        }
    }
    return send_problem(cli, options, &solve, source);
}

static int solve_text(Cli *cli, const SolveOptions *options, const JsonText *json) {
    JsonError error;
    ProblemSolver solver;
    Moreau__V1__ContactProblem *problem = problem_read(json, &solver, &error);
    int status = problem == NULL ? cli_fail(cli, EXIT_REFUSED, "%s", error.message)
                                 : solve_problem(cli, options, problem, &solver, json);
    if (problem != NULL) {
        moreau__v1__contact_problem__free_unpacked(problem, NULL);
    }
    problem_solver_free(&solver);
    return status;
}

static int solve_fclib(Cli *cli, const SolveOptions *options, const char *file) {
    char message[FCLIB_MESSAGE_BYTES];
    FclibProblem read;
    if (!fclib_read(file, &read, message)) {
        fclib_free(&read);
        return cli_fail(cli, EXIT_REFUSED, "%s", message);
    }
    Moreau__V1__ContactProblem *problem = fclib_convert(&read, message);
    fclib_free(&read);
    if (problem == NULL) {
        return cli_fail(cli, EXIT_REFUSED, "%s: %s", file, message);
    }
    ProblemSolver solver = {0};
    int status = solve_problem(cli, options, problem, &solver, NULL);
    problem_solver_free(&solver);
    moreau__v1__contact_problem__free_unpacked(problem, NULL);
    return status;
}

static int solve_file(Cli *cli, const SolveOptions *options, const char *file) {
    if (fclib_is(file)) {
        return solve_fclib(cli, options, file);
    }
    JsonText json;
    int status = cli_load(cli, &json, file);
    if (status != EXIT_DONE) {
        return status;
    }
    const bool is_scene =
        json_object_get(json.root, "bodies") != NULL && json_object_get(json.root, "trees") == NULL;
    status = is_scene ? cli_fail(cli, EXIT_REFUSED,
                                 "%s is a scene, and a contact problem is wanted: moreau run %s",
                                 file, file)
                      : solve_text(cli, options, &json);
    json_text_free(&json);
    return status;
}

// ---- the dump

static int write_file(Cli *cli, const char *file, const json_t *document) {
    char *text = NULL;
    size_t bytes = 0;
    FILE *stream = memory_must(open_memstream(&text, &bytes));
    json_print(stream, document);
    bool failed = ferror(stream) != 0;
    failed = fclose(stream) != 0 || failed;
    memory_must(failed ? NULL : text);
    int status = save_file(cli, file, text, bytes);
    free(text);
    return status;
}

static int save_problem(Cli *cli, const SolveOptions *options,
                        const Moreau__V1__ProblemReply *answer) {
    char about[128];
    snprintf(about, sizeof(about), "last problem of world %.80s", options->world);
    json_t *document = answer->problem != NULL ? problem_write(answer->problem, about,
                                                               answer->solver, answer->parameters)
                                               : NULL;
    if (document == NULL) {
        return cli_fail(cli, EXIT_REFUSED, "the server sent no whole problem for world %s",
                        options->world);
    }
    if (strcmp(options->dump, "-") == 0) {
        cli_print(cli, document);
        return EXIT_DONE;
    }
    int status = write_file(cli, options->dump, document);
    json_decref(document);
    if (status == EXIT_DONE && cli->json) {
        cli_print(cli, json_pack("{s:s,s:o,s:o,s:o}", "file", options->dump, "trees",
                                 number_json_whole(answer->problem->n_tree_width), "contacts",
                                 number_json_whole(answer->problem->n_contact_mu), "rows",
                                 number_json_whole(answer->problem->n_row_given)));
    } else if (status == EXIT_DONE) {
        char size[96];
        printf("%s: %s\n", options->dump, describe_size(answer->problem, size));
    }
    return status;
}

// Solves what a world solved last; its solver's name and parameters are taken out of the reply.
static int solve_fetched(Cli *cli, const SolveOptions *options, Moreau__V1__ProblemReply *answer) {
    if (answer->problem == NULL) {
        return cli_fail(cli, EXIT_REFUSED, "the server sent no problem for world %s",
                        options->world);
    }
    ProblemSolver solver = {.name = answer->solver, .parameters = answer->parameters};
    answer->solver = NULL;
    answer->parameters = NULL;
    int status = solve_problem(cli, options, answer->problem, &solver, NULL);
    problem_solver_free(&solver);
    return status;
}

static int take_world(Cli *cli, const SolveOptions *options) {
    FoundWorld found;
    int status = cli_connect(cli);
    if (status != EXIT_DONE || (status = world_find(cli, options->world, &found)) != EXIT_DONE) {
        return status;
    }
    Moreau__V1__Problem problem = MOREAU__V1__PROBLEM__INIT;
    problem.has_world = 1;
    problem.world = found.info->world;
    world_find_free(&found);
    cli->fields = typed;
    Moreau__V1__Request request = MOREAU__V1__REQUEST__INIT;
    request.call_case = MOREAU__V1__REQUEST__CALL_PROBLEM;
    request.problem = &problem;
    Moreau__V1__Reply *reply;
    status = cli_call(cli, &request, &reply);
    if (status != EXIT_DONE) {
        status = cli_report_refusal(cli, NULL, "");
    } else if (reply->result_case != MOREAU__V1__REPLY__RESULT_PROBLEM) {
        status = cli_fail(cli, EXIT_REFUSED, "the server's answer holds no problem");
    } else {
        status = options->dump != NULL ? save_problem(cli, options, reply->problem)
                                       : solve_fetched(cli, options, reply->problem);
    }
    if (reply != NULL) {
        moreau__v1__reply__free_unpacked(reply, NULL);
    }
    return status;
}

int command_solve(Cli *cli, int argc, char **argv) {
    SolveOptions options = {0};
    const Option table[] = {
        {"--solver", OPTION_TEXT, &options.solver, "NAME",
         "contact solver; default: the file's, or mdp"},
        {"--param", OPTION_LIST, &options.params, "KEY=VALUE",
         "a parameter of the solver; may be repeated"},
        {"--history", OPTION_FLAG, &options.history, NULL,
         "also the residual after each iteration, as a chart"},
        {"--effort", OPTION_TEXT, &options.effort, "EFFORT",
         "exact, balanced or fast; default exact"},
        {"--world", OPTION_TEXT, &options.world, "WORLD",
         "the last problem of this world, by its id or name"},
        {"--dump", OPTION_TEXT, &options.dump, "FILE",
         "write the world's last problem; - for standard output"},
    };
    OptionList words = {0};
    int status = cli_parse(cli, usage, (OptionTable){table, sizeof(table) / sizeof(table[0])}, argc,
                           argv, 0, 1, &words);
    if (status != EXIT_DONE || cli->help) {
        return status;
    }
    if ((options.world == NULL) == (words.count == 0) ||
        (options.world == NULL && options.dump != NULL)) {
        return cli_fail(
            cli, EXIT_USAGE,
            "which problem? Give a file, or --world WORLD, with --dump FILE to save it; "
            "see moreau solve --help");
    }
    if (options.dump != NULL &&
        (options.solver != NULL || options.params.count > 0 || options.history)) {
        return cli_fail(cli, EXIT_USAGE,
                        "--dump writes what the world's own solver had; --solver, --param and "
                        "--history are for solving the file afterwards");
    }
    if (options.world != NULL) {
        return take_world(cli, &options);
    }
    return solve_file(cli, &options, words.item[0]);
}
