// SPDX-License-Identifier: MIT
// moreau-newton-campaign [--share S] [--scene NAME] [--warm] [--misses DIR]
// moreau-newton-campaign --explain DIR: why those saved there were missed
// moreau-newton-campaign --open SCENE: which steps its world leaves open (campaign_open.h)
//
// Without a share: as much as MOREAU_CAMPAIGN_SCALE says, the whole of it at 10. Below that, only
// scenes that take seconds. Exit status 1: a demand was not met.
#include "problems/campaign.h"

#include "problems/campaign_misses.h"
#include "problems/campaign_open.h"
#include "bench/bench.h"
#include "solve/mdp/mdp.h"
#include "solve/solver.h"
#include "support/campaign.h"

#include <stdio.h>
#include <string.h>

// the scale at which the whole is done
enum { WHOLE = 10 };

SolverSettings campaign_solver(double factorisations) {
    SolverSettings settings = solver_solve_default(SOLVER_MDP);
    settings.parameter[MDP_METHOD] = MDP_NEWTON;
    settings.parameter[MDP_FRICTION] = MDP_COULOMB;
    settings.parameter[MDP_TOLERANCE] = CAMPAIGN_TOLERANCE;
    settings.parameter[MDP_MAX_ITERATIONS] = factorisations;
    return settings;
}

static double share_of_scale(void) {
    double share = campaign_count(1000) / (1000.0 * WHOLE);
    return share < 1.0 ? share : 1.0;
}

int main(int argc, char **argv) {
    CampaignOptions options = {.share = share_of_scale()};
    options.is_quick = options.share < 1.0;
    for (int i = 1; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : NULL;
        if (strcmp(argv[i], "--warm") == 0) {
            options.is_warm = true;
        } else if (value != NULL && strcmp(argv[i], "--explain") == 0) {
            campaign_explain(value);
            return EXIT_SUCCESS;
        } else if (value != NULL && strcmp(argv[i], "--open") == 0) {
            campaign_open(value);
            return EXIT_SUCCESS;
        } else if (value != NULL && strcmp(argv[i], "--share") == 0) {
            options.share = strtod(argv[++i], NULL);
            options.is_quick = false;
        } else if (value != NULL && strcmp(argv[i], "--scene") == 0) {
            options.scene = argv[++i];
            options.is_quick = false;
        } else if (value != NULL && strcmp(argv[i], "--misses") == 0) {
            options.misses = argv[++i];
        } else {
            bench_fail("%s: unknown, or without its value", argv[i]);
        }
    }
    return campaign_worlds(&options) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
