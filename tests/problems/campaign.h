// SPDX-License-Identifier: MIT
// How often Newton's method (solve/newton/newton.h) solves exact Coulomb friction: on problems of
// worlds that are stepped with it. Which problems those are, and which of them are solved, depends
// on no machine: both are asserted.
#pragma once

#include "solve/solver.h"

#include <stdbool.h>
#include <stdint.h>

#define CAMPAIGN_TOLERANCE 1e-8
#define CAMPAIGN_NEAR      1e-6

typedef struct CampaignOptions {
    double share;       // of each scene's problems
    bool is_quick;      // scenes that take seconds alone
    const char *scene;  // Nullable: this one alone
    const char *misses; // Nullable: a folder that gets each missed problem as a file
    bool is_warm;       // from the impulses of the world's last step instead of from nothing
} CampaignOptions;

// What is solved with, up to the tolerance above.
SolverSettings campaign_solver(double factorisations);

// How many factorisations a saved problem, named after its scene, had.
double campaign_factorisations(const char *problem);

// Returns how many demands were not met; each has been printed then.
int campaign_worlds(const CampaignOptions *options);
