// SPDX-License-Identifier: MIT
#include "bench/knobs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// A number, on or off, or the place of a choice of that name.
static bool read_value(const SolverSettings *settings, const char *name, const char *text,
                       double *value) {
    const Solver *solver = solver_get(settings->kind);
    for (uint32_t i = 0; i < solver->parameter_count; i++) {
        const ParameterRow *row = &solver->parameters[i];
        if (strcmp(row->name, name) != 0) {
            continue;
        }
        for (int k = 0; row->choices != NULL && row->choices[k] != NULL; k++) {
            if (strcmp(row->choices[k], text) == 0) {
                *value = k;
                return true;
            }
        }
        bool is_on = strcmp(text, "on") == 0;
        if (row->kind == PARAMETER_BOOL && (is_on || strcmp(text, "off") == 0)) {
            *value = is_on;
            return true;
        }
    }
    char *end;
    *value = strtod(text, &end);
    return end != text && *end == '\0';
}

bool knobs_set(SolverSettings *settings, const char *parameters) {
    char text[128], *next = text;
    snprintf(text, sizeof(text), "%s", parameters);
    for (char *word; (word = strtok_r(next, " ", &next)) != NULL;) {
        char *equals = strchr(word, '=');
        *equals = '\0';
        double value;
        if (!read_value(settings, word, equals + 1, &value) ||
            solver_set(settings, word, value, &(Error){0}) != STATUS_OK) {
            return false;
        }
    }
    return true;
}
