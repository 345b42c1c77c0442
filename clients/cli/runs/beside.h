// SPDX-License-Identifier: MIT
// One scene under several solvers: their reports side by side.
#pragma once

#include "cli/runs/places.h"
#include "cli/runs/report.h"

// One solver's run, in a world of its own.
typedef struct RunBeside {
    RunReport report;
    Moreau__V1__Reply *created;      // owned, what the report borrows; NULL: refused
    Moreau__V1__Reply *episode;      // owned, Nullable: nothing was recorded
    RunPlaces places;                // in the end
    char failure[CLI_FAILURE_BYTES]; // why it did not get to its end; "": it did
} RunBeside;

void run_beside_free(RunBeside *run);

// A row for each run. Drift is how far the body that is farthest is, after the last step, from
// where it is under the first solver.
void run_beside_print(const RunBeside *runs, size_t count);

// {"drift_from": solver, "runs": [a document as of one run, with "drift"]}; a new reference.
json_t *run_beside_write(const RunBeside *runs, size_t count);
