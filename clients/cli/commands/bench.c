// SPDX-License-Identifier: MIT
// moreau bench: hands over to the benchmark program, which is built beside this tool or lies on the
// PATH. Its help is here: there is a manual page of every command, also where nothing of the tests
// was built.
#include "cli/cli.h"

#include "cli/text/number.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define BENCH_PROGRAM "moreau-bench"

enum { PATH_BYTES = 4096 };

static const char usage[] =
    "moreau bench: the project's benchmarks, each figure beside a peer or a limit\n"
    "\n"
    "  moreau bench [NAME]... [--seconds S] [--files FOLDER] [--json]\n"
    "  moreau bench curve [--scene NAME] [--write FOLDER]\n"
    "  moreau bench --list                    the names, and what each measures\n"
    "\n"
    "Without a NAME all run but those that say so in the list; pile takes most.\n"
    "One that is running is named on standard error. Servers are started as they are\n"
    "needed, so --server and --token-file have no part in it. moreau-bench, which\n"
    "does the work, is built with the project's tests and is looked for beside this\n"
    "program, then on the PATH.\n"
    "\n"
    "A row of the table is a figure:\n"
    "  value         what was measured, in its unit\n"
    "  peer/limit    the same of somebody else, or of the machine, in the same run\n"
    "  ratio         value / peer: what can be compared between machines\n"
    "  aim           what the project aims for, and whether it is met\n"
    "  e_own, e_DS   worst certificate of the steps that were timed (0 is perfect)\n"
    "\n"
    "MuJoCo, Bullet and ODE step the same scenes in pile, stack and wall where they\n"
    "were installed when Moreau was built (deploy/packages bench).\n"
    "\n"
    "solvers takes an hour and more: every solver on each problem and\n"
    "scene of the tests, or of a FOLDER of such files. It gives the CPU time from a\n"
    "cold start to a residual of 1e-6 and of 1e-8 by one certificate, inf where that\n"
    "was not reached in S seconds; beside it Siconos, where it was installed when\n"
    "Moreau was built, and Pinocchio, where python3 finds it. Of scenes it gives the\n"
    "steps that converged, and the median, mean and worst step. It begins with a\n"
    "table of the five solvers on ten scenes, which scenes alone prints, too.\n"
    "\n"
    "curve draws residual over time: of scenes that are kicked, fall and settle, the\n"
    "e_DS that a step leaves by each of our ways, from two sweeps to the exact\n"
    "answer, over the CPU time of the step; an exact solve of more than S seconds\n"
    "ends there. Beside it Box3D, Bullet, MuJoCo and ODE, where they were built, with\n"
    "what they leave at least (>=), as their velocities say. Medians, and in brackets\n"
    "the worst step. --write leaves curve.md and curve.svg in a FOLDER.\n"
    "\n"
    "Other work on the machine spoils figures: let it rest, and read the ratios.\n"
    "\n"
    "Examples:\n"
    "  moreau bench --list\n"
    "  moreau bench roundtrip stack\n"
    "  moreau bench hash --seconds 1 --json\n"
    "  moreau bench solvers --files hard --seconds 30\n"
    "  moreau bench curve --scene heap-12-falling --write .\n";

// The directory of this program's file, with its slash; false where the system does not tell.
static bool own_directory(const char *program, char *path) {
    ssize_t count = readlink("/proc/self/exe", path, PATH_BYTES - 1);
    if (count > 0) {
        path[count] = '\0';
    } else {
        snprintf(path, PATH_BYTES, "%s", program);
    }
    char *slash = strrchr(path, '/');
    if (slash == NULL) {
        return false;
    }
    slash[1] = '\0';
    return true;
}

// Returns only when there is no such program.
static void hand_over(Cli *cli, char **arguments) {
    char beside[PATH_BYTES];
    if (own_directory(cli->program, beside)) {
        char path[sizeof(beside) + sizeof(BENCH_PROGRAM)];
        snprintf(path, sizeof(path), "%s" BENCH_PROGRAM, beside);
        execv(path, arguments);
    }
    execvp(BENCH_PROGRAM, arguments);
}

// Nullable: the text; nothing is added then. Returns how many there are.
static size_t add_text(char **arguments, size_t count, const char *flag, const char *text) {
    if (text != NULL) {
        arguments[count++] = (char *)flag;
        arguments[count++] = (char *)text;
    }
    return count;
}

int command_bench(Cli *cli, int argc, char **argv) {
    bool list = false;
    double seconds = 0.0;
    const char *files = NULL, *scene = NULL, *written = NULL;
    const Option table[] = {
        {"--list", OPTION_FLAG, &list, NULL, "name the benchmarks and end"},
        {"--seconds", OPTION_NUMBER, &seconds, "S",
         "for each figure on the wire, or solve; default 3"},
        {"--files", OPTION_TEXT, &files, "FOLDER", "for solvers; default: those of the tests"},
        {"--scene", OPTION_TEXT, &scene, "NAME", "of curve; default: all"},
        {"--write", OPTION_TEXT, &written, "FOLDER", "where curve leaves a table and a picture"},
    };
    OptionList words = {0};
    int status = cli_parse(cli, usage, (OptionTable){table, sizeof(table) / sizeof(table[0])}, argc,
                           argv, 0, OPTION_LIST_MAX, &words);
    if (status != EXIT_DONE || cli->help) {
        return status;
    }
    char program[] = BENCH_PROGRAM, list_flag[] = "--list", json_flag[] = "--json",
         seconds_flag[] = "--seconds", number[NUMBER_BYTES];
    char *arguments[OPTION_LIST_MAX + 12] = {program};
    size_t count = 1;
    for (size_t i = 0; i < words.count; i++) {
        arguments[count++] = (char *)words.item[i];
    }
    if (list) {
        arguments[count++] = list_flag;
    }
    if (cli->json) {
        arguments[count++] = json_flag;
    }
    if (seconds > 0.0) {
        number_write(seconds, number);
        arguments[count++] = seconds_flag;
        arguments[count++] = number;
    }
    count = add_text(arguments, count, "--files", files);
    count = add_text(arguments, count, "--scene", scene);
    add_text(arguments, count, "--write", written);
    hand_over(cli, arguments);
    return cli_fail(cli, EXIT_USAGE,
                    "cannot start " BENCH_PROGRAM " (%s); it is built with the project's tests: "
                    "put it beside this program or on the PATH",
                    strerror(errno));
}
