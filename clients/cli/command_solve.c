// SPDX-License-Identifier: MIT
// moreau solve: one contact problem from a file, solved by the server without a world; or the last
// problem of a world, into a file.
#include "cli/cli.h"

#include "cli/certificate.h"
#include "cli/json_write.h"
#include "cli/memory.h"
#include "cli/parameters.h"
#include "cli/problem.h"
#include "cli/terminal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
    "moreau solve: one contact problem, its impulses and its certificate\n"
    "\n"
    "  moreau solve PROBLEM.json [--solver NAME] [--param KEY=VALUE]... [--json]\n"
    "  moreau solve --world ID --dump FILE     a world's last problem as such a file\n"
    "\n"
    "The file's format is \"moreau-problem/1\"; - reads standard input.\n";

typedef struct SolveOptions {
    const char *solver; // Nullable
    const char *dump;   // Nullable
    uint64_t world;
    OptionList params;
} SolveOptions;

// ---- the answer

static void print_solve(const Moreau__V1__ContactProblem *problem, const char *model,
                        const Moreau__V1__Certificate *certificate) {
    char time[32];
    printf("%s%s%s: %zu trees, %zu contacts, %zu rows; %" PRIu32 " iterations in %s\n",
           terminal_style(stdout, STYLE_BOLD), model, terminal_style(stdout, STYLE_PLAIN),
           problem->n_tree_width, problem->n_contact_mu, problem->n_row_given,
           certificate->iterations, format_seconds(certificate->time, time));
    if (certificate->converged) {
        printf("  %sconverged%s to %.3g\n", terminal_style(stdout, STYLE_GOOD),
               terminal_style(stdout, STYLE_PLAIN), certificate->tolerance);
    } else {
        printf(
            "  %snot converged%s: the residual %.3g of the solver's model is to be at most %.3g\n",
            terminal_style(stdout, STYLE_BAD), terminal_style(stdout, STYLE_PLAIN),
            certificate->e_own, certificate->tolerance);
        puts("  more iterations may help: --param max_iterations=...");
    }
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
    printf("\n  %s%-44s %9s %12s%s\n", terminal_style(stdout, STYLE_DIM),
           "certificate (0 is perfect)", "value", "[m/s]", terminal_style(stdout, STYLE_PLAIN));
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char velocity[32] = "";
        if (rows[i].has_velocity) {
            snprintf(velocity, sizeof(velocity), "%.2g", rows[i].velocity);
        }
        printf("  %-8s %-*s %10.2g %12s\n", certificate_name(rows[i].entry),
               CERTIFICATE_MEANING_COLUMNS, certificate_meaning(rows[i].entry), rows[i].value,
               velocity);
    }
    printf("  %-8s %-*s %10.3g\n", "V", CERTIFICATE_MEANING_COLUMNS, "velocity scale [m/s]",
           certificate->scale);
    printf("  %-8s %-*s %10.3g\n", "overlap", CERTIFICATE_MEANING_COLUMNS, "deepest overlap [m]",
           certificate->penetration + 0.0); // no zero with a sign
}

enum { CONTACT_ROWS_MAX = 12 };

static void print_contacts(const Moreau__V1__SolveReply *answer) {
    size_t count = answer->n_contacts / 3;
    if (count == 0) {
        return;
    }
    printf("\n  %s%7s %14s %14s %14s%s\n", terminal_style(stdout, STYLE_DIM), "contact",
           "normal [N s]", "tangent 1", "tangent 2", terminal_style(stdout, STYLE_PLAIN));
    for (size_t i = 0; i < count && i < CONTACT_ROWS_MAX; i++) {
        const double *impulse = answer->contacts + 3 * i;
        printf("  %7zu %14.6g %14.6g %14.6g\n", i, impulse[0], impulse[1], impulse[2]);
    }
    if (count > CONTACT_ROWS_MAX) {
        printf("  ... and %zu more; --json has all\n", count - CONTACT_ROWS_MAX);
    }
}

static int show_answer(const Cli *cli, const Moreau__V1__Solve *solve,
                       const Moreau__V1__SolveReply *answer) {
    json_t *document =
        problem_write_answer(solve->problem, solve->solver, solve->parameters, answer);
    if (document == NULL) {
        return cli_fail(EXIT_REFUSED,
                        "the server's answer does not fit the problem; is it of another version?");
    }
    if (cli->json) {
        json_print(stdout, document);
    } else {
        print_solve(solve->problem, parameters_model(solve->solver, solve->parameters),
                    answer->certificate);
        print_certificate(answer->certificate);
        print_contacts(answer);
    }
    json_decref(document);
    return EXIT_DONE;
}

// What the server blames is in the file, unless it came from the command line.
static int report_refusal(const Cli *cli, const JsonText *source) {
    const char *field = moreau_error(cli->client)->field;
    bool is_option = strncmp(field, "solver", 6) == 0 || strncmp(field, "parameters", 10) == 0;
    bool is_prefixed = strncmp(field, "problem.", 8) == 0;
    return cli_report_refusal(cli, is_option ? NULL : source, is_prefixed ? "problem" : "");
}

static int send_problem(Cli *cli, Moreau__V1__Solve *solve, const JsonText *source) {
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
        status = report_refusal(cli, source);
    } else if (reply->result_case != MOREAU__V1__REPLY__RESULT_SOLVE) {
        status = cli_fail(EXIT_REFUSED, "the server's answer holds no solution");
    } else {
        status = show_answer(cli, solve, reply->solve);
    }
    if (reply != NULL) {
        moreau__v1__reply__free_unpacked(reply, NULL);
    }
    return status;
}

static int solve_file(Cli *cli, const SolveOptions *options, const char *file) {
    Moreau__V1__Solve solve = MOREAU__V1__SOLVE__INIT;
    solve.solver = (char *)(options->solver != NULL ? options->solver : PARAMETERS_SOLVER_DEFAULT);
    char message[640];
    int status;
    JsonText json;
    if (!parameters_set(solve.solver, &options->params, &solve.parameters, message,
                        sizeof(message))) {
        status = cli_fail(EXIT_USAGE, "%s", message);
    } else if ((status = cli_load(&json, file)) == EXIT_DONE) {
        JsonError error;
        solve.problem = problem_read(&json, &error);
        status = solve.problem == NULL ? cli_fail(EXIT_REFUSED, "%s", error.message)
                                       : send_problem(cli, &solve, &json);
        json_text_free(&json);
    }
    if (solve.problem != NULL) {
        moreau__v1__contact_problem__free_unpacked(solve.problem, NULL);
    }
    if (solve.parameters != NULL) {
        moreau__v1__solver_parameters__free_unpacked(solve.parameters, NULL);
    }
    return status;
}

// ---- the dump

static int write_file(const char *file, const json_t *document) {
    bool standard = strcmp(file, "-") == 0;
    FILE *stream = standard ? stdout : fopen(file, "w");
    if (stream == NULL) {
        return cli_fail(EXIT_USAGE, "cannot write %s: %s", file, strerror(errno));
    }
    json_print(stream, document);
    bool failed = ferror(stream) != 0;
    if (!standard) {
        failed = fclose(stream) != 0 || failed;
    }
    return failed ? cli_fail(EXIT_USAGE, "cannot write %s: %s", file, strerror(errno)) : EXIT_DONE;
}

static int save_problem(const Cli *cli, const SolveOptions *options,
                        const Moreau__V1__ProblemReply *answer) {
    char about[128];
    snprintf(about, sizeof(about), "last problem of world %" PRIu64 ", solver %s", options->world,
             answer->solver != NULL ? answer->solver : "unknown");
    json_t *document = answer->problem != NULL ? problem_write(answer->problem, about) : NULL;
    if (document == NULL) {
        return cli_fail(EXIT_REFUSED, "the server sent no whole problem for world %" PRIu64,
                        options->world);
    }
    int status = write_file(options->dump, document);
    json_decref(document);
    if (status == EXIT_DONE && cli->json && strcmp(options->dump, "-") != 0) {
        json_t *said = json_pack("{s:s,s:i,s:i,s:i}", "file", options->dump, "trees",
                                 (int)answer->problem->n_tree_width, "contacts",
                                 (int)answer->problem->n_contact_mu, "rows",
                                 (int)answer->problem->n_row_given);
        json_print(stdout, said);
        json_decref(said);
    } else if (status == EXIT_DONE && strcmp(options->dump, "-") != 0) {
        printf("%s: %zu trees, %zu contacts, %zu rows\n", options->dump,
               answer->problem->n_tree_width, answer->problem->n_contact_mu,
               answer->problem->n_row_given);
    }
    return status;
}

static int dump_world(Cli *cli, const SolveOptions *options) {
    int status = cli_connect(cli);
    if (status != EXIT_DONE) {
        return status;
    }
    Moreau__V1__Problem problem = MOREAU__V1__PROBLEM__INIT;
    problem.has_world = 1;
    problem.world = options->world;
    Moreau__V1__Request request = MOREAU__V1__REQUEST__INIT;
    request.call_case = MOREAU__V1__REQUEST__CALL_PROBLEM;
    request.problem = &problem;
    Moreau__V1__Reply *reply;
    status = cli_call(cli, &request, &reply);
    if (status != EXIT_DONE) {
        status = cli_report_refusal(cli, NULL, "");
    } else if (reply->result_case != MOREAU__V1__REPLY__RESULT_PROBLEM) {
        status = cli_fail(EXIT_REFUSED, "the server's answer holds no problem");
    } else {
        status = save_problem(cli, options, reply->problem);
    }
    if (reply != NULL) {
        moreau__v1__reply__free_unpacked(reply, NULL);
    }
    return status;
}

int command_solve(Cli *cli, int argc, char **argv) {
    SolveOptions options = {0};
    const Option table[] = {
        {"--solver", OPTION_TEXT, &options.solver, "NAME", "contact solver; default mdp"},
        {"--param", OPTION_LIST, &options.params, "KEY=VALUE",
         "a parameter of the solver; may be repeated"},
        {"--world", OPTION_COUNT, &options.world, "ID", "with --dump: the world"},
        {"--dump", OPTION_TEXT, &options.dump, "FILE",
         "write the world's last problem; - for standard output"},
    };
    OptionList words = {0};
    int status = cli_parse(cli, usage, (OptionTable){table, sizeof(table) / sizeof(table[0])}, argc,
                           argv, 0, 1, &words);
    if (status != EXIT_DONE || cli->help) {
        return status;
    }
    if (options.world > 0 || options.dump != NULL) {
        if (options.world == 0 || options.dump == NULL || words.count > 0) {
            return cli_fail(EXIT_USAGE,
                            "--world ID and --dump FILE belong together, without a problem file");
        }
        return dump_world(cli, &options);
    }
    if (words.count == 0) {
        return cli_fail(
            EXIT_USAGE,
            "which problem? Give a file, or --world ID --dump FILE; see moreau solve --help");
    }
    return solve_file(cli, &options, words.item[0]);
}
