// SPDX-License-Identifier: MIT
#include "problems/campaign_open.h"

#include "problems/campaign.h"
#include "bench/bench.h"
#include "bench/load.h"
#include "solve/mdp/mdp.h"
#include "solve/solver.h"

#include <stdio.h>
#include <string.h>

typedef struct OpenScene {
    const char *name;
    uint32_t steps;
    uint32_t every;        // of the open ones that is tried again …
    double factorisations; // … with so many, of Newton's method
} OpenScene;

static const OpenScene scenes[] = {
    {"pyramid-55-kicked", 240, 1, 6000.0},
    {"wall-105-hit", 240, 10, 6000.0},
    {"wall-525-kicked", 60, 20, 300.0},
};
enum { SCENE_COUNT = sizeof(scenes) / sizeof(scenes[0]) };

static const char *const reason_text[END_REASON_COUNT] = {
    "converged", "iterations", "budget", "stalled", "diverged", "time", "not finite"};

// What Newton's method makes of the step's problem from where the step began, to the tolerance that
// the step had.
static SolveResult try_again(const OpenScene *of, const Stepper *stepper, double tolerance) {
    SolverSettings settings = campaign_solver(of->factorisations);
    Arena arena;
    SolveResult result;
    Error error = {0};
    settings.parameter[MDP_TOLERANCE] = tolerance;
    arena_init(&arena, (size_t)1 << 33);
    if (solver_solve(&settings, &stepper->problem, &(Context){0}, &arena, &result, &error) !=
        STATUS_OK) {
        bench_fail("%s: %s", of->name, error.message);
    }
    arena_deinit(&arena); // its numbers are the result's own
    return result;
}

static void print_open(uint32_t step, const StepReport *report, bool is_eased) {
    const StepOpen *open = &report->open;
    double own = report->certificate.entry[CERTIFICATE_OWN];
    printf("%5u  %8.1e %8.1e  %-10s%c %4u of %4u  %2u of %2u  %5u  %5u", step, own,
           own * report->certificate.scale, reason_text[open->reason], is_eased ? '*' : ' ',
           open->contacts, report->contact_count, open->islands_open, open->islands,
           (uint32_t)open->body, report->iterations);
}

static void print_again(const SolveResult *again) {
    printf("  %8.1e after %4u%s", again->certificate.entry[CERTIFICATE_OWN], again->iterations,
           again->certificate.converged ? ": solved" : "");
}

static const OpenScene *find_scene(const char *name) {
    for (size_t i = 0; i < SCENE_COUNT; i++) {
        if (strcmp(scenes[i].name, name) == 0) {
            return &scenes[i];
        }
    }
    bench_fail("%s: not one of the scenes whose open steps are listed", name);
}

void campaign_open(const char *name) {
    const OpenScene *of = find_scene(name);
    char path[LOAD_PATH_BYTES];
    snprintf(path, sizeof(path), MOREAU_SOURCE_DIR "/tests/scenes/large/%s.json", name);
    Scene scene = load_scene(path);
    static double residual[1024];
    uint32_t open = 0, eased = 0, tried = 0, solved = 0;
    printf(
        "%s: open steps of %u; *: after steps in vain, with a 32nd of the budget\n"
        " step     e_own    [m/s]  reason        contacts     islands   body  iterations  newton\n",
        name, of->steps);
    for (uint32_t step = 1; step <= of->steps; step++) {
        bool is_eased = scene.world->solver_wait > 0;
        scene_step(&scene);
        if (scene.report.certificate.converged) {
            continue;
        }
        print_open(step, &scene.report, is_eased);
        if (open % of->every == 0) {
            SolveResult again = try_again(of, scene.stepper, scene.report.certificate.tolerance);
            print_again(&again);
            tried++;
            solved += again.certificate.converged;
        }
        printf("\n");
        fflush(stdout);
        residual[open++] = scene.report.certificate.entry[CERTIFICATE_OWN];
        eased += is_eased;
    }
    printf("%s: %u of %u steps open, %u of them with a 32nd of the budget; of %u tried again with "
           "%g factorisations %u are solved",
           name, open, of->steps, eased, tried, of->factorisations, solved);
    if (open > 0) {
        printf("; e_own least %.1e, median %.1e, largest %.1e",
               bench_percentile(residual, open, 0.0), bench_percentile(residual, open, 0.5),
               bench_percentile(residual, open, 1.0));
    }
    printf("\n");
    scene_destroy(&scene);
}
