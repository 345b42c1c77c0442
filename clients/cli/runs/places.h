// SPDX-License-Identifier: MIT
// Where a world's bodies are, and how far those of another world of the same scene are from there.
#pragma once

#include "cli/cli.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct RunPlaces {
    uint64_t step;    // since creation
    double *position; // owned, 3 [m] for each body of the scene; NAN where it has left the bounds
    size_t count;     // bodies; 0: not known
} RunPlaces;

// Of a world whose bodies are `created`. EXIT_DONE, or after a sentence what to return; then there
// is nothing to free.
int run_places_fetch(Cli *cli, const Moreau__V1__WorldCreateReply *created, RunPlaces *places);
void run_places_free(RunPlaces *places);

// The body that is farthest from where it is in `from` [m], and which, counted from 0; what has
// left either world does not count. false: both are not known after the same step.
bool run_places_farthest(const RunPlaces *places, const RunPlaces *from, double *drift,
                         size_t *body);
