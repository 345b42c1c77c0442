// SPDX-License-Identifier: MIT
#include "cli/protocol/solver_list.h"

#include "cli/protocol/parameters.h"

#include <stdio.h>
#include <string.h>

int solver_list_read(Cli *cli, const char *wanted, char text[SOLVER_LIST_BYTES],
                     OptionList *solvers) {
    *solvers = (OptionList){0};
    if (strcmp(wanted, "all") == 0) {
        parameters_solvers(solvers);
        return EXIT_DONE;
    }
    if (snprintf(text, SOLVER_LIST_BYTES, "%s", wanted) >= SOLVER_LIST_BYTES) {
        return cli_fail(cli, EXIT_USAGE, "--solver: the list has more than %d letters",
                        SOLVER_LIST_BYTES - 1);
    }
    for (char *next = text; next != NULL;) {
        char *comma = strchr(next, ',');
        if (comma != NULL) {
            *comma = '\0';
        }
        if (*next == '\0' || solvers->count == OPTION_LIST_MAX) {
            return cli_fail(cli, EXIT_USAGE, "--solver: %s is no list of at most %d solvers",
                            wanted, OPTION_LIST_MAX);
        }
        for (size_t i = 0; i < solvers->count; i++) {
            if (strcmp(solvers->item[i], next) == 0) {
                return cli_fail(cli, EXIT_USAGE, "--solver: %s stands twice in the list", next);
            }
        }
        solvers->item[solvers->count++] = next;
        next = comma != NULL ? comma + 1 : NULL;
    }
    return EXIT_DONE;
}
