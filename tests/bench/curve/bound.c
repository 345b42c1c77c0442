// SPDX-License-Identifier: MIT
#include "bench/curve/bound.h"

#include "bench/bench.h"
#include "solve/certificate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct Measurer {
    StepWitness witness; // first, so that it is found from that
    const Scene *judge;
    const double *velocity; // of all bodies of the world
    Arena arena;
    double bound;
} Measurer;

void bound_prepare(Scene *judge) {
    scene_set(judge, "overlap_correction", 0.0);
    scene_set(judge, "warm_start", 0.0);
    scene_set(judge, "max_iterations", 1.0); // nobody reads its answer
    WorldSettings settings = judge->world->settings;
    settings.contact_plane = CONTACT_PLANE_START;
    world_set_settings(judge->world, &settings);
}

// As the problem orders them.
static double *order_velocities(const Measurer *measurer, const ContactProblem *problem) {
    double *v = bench_memory(problem->velocity_count, sizeof(*v));
    const Scene *judge = measurer->judge;
    for (uint32_t i = 0; i < judge->world->body_count; i++) {
        uint32_t tree = judge->stepper->tree_of_body[i];
        if (tree != PROBLEM_NO_TREE) {
            memcpy(v + problem_first(problem, tree), measurer->velocity + 6 * (size_t)i,
                   6 * sizeof(*v));
        }
    }
    return v;
}

// Of a contact [m/s]; of one that only comes about nothing.
static double shortfall(const ContactProblem *problem, uint32_t contact, const double *v) {
    const ProblemContact *of = &problem->contact[contact];
    if (of->gap > BOUND_GAP) {
        return 0.0;
    }
    double u[3];
    problem_contact_velocity(problem, contact, v, u);
    return fmax(0.0, -(u[0] + of->bias)) / hypot(1.0, of->mu);
}

static void see(StepWitness *witness, const ContactProblem *problem, const SolveResult *result) {
    Measurer *measurer = (Measurer *)(void *)witness;
    double *v = order_velocities(measurer, problem);
    Islands islands;
    if (islands_find(problem, NULL, &measurer->arena, &islands, &(Error){0}) != STATUS_OK) {
        bench_fail("memory ended");
    }
    for (uint32_t i = 0; i < islands.count; i++) {
        IslandRange range = islands_range(&islands, i, i + 1);
        double scale =
            certificate_scale_contacts(problem, &islands, &result->answer, range.contact_begin,
                                       range.contact_end, certificate_scale_least(problem));
        for (uint32_t k = range.contact_begin; k < range.contact_end; k++) {
            double least = shortfall(problem, islands.contact[k], v) / scale;
            measurer->bound = fmax(measurer->bound, least);
        }
    }
    free(v);
}

void bound_place(Scene *judge, const BoundState *state) {
    World *world = judge->world;
    for (uint32_t i = 0; i < world->body_count; i++) {
        if (world->kind[i] == BODY_DYNAMIC) {
            world_place_body(world, i, state->pose + 7 * (size_t)i);
            world_move_body(world, i, state->velocity + 6 * (size_t)i);
        }
    }
    world->bodies_moved = true;
}

double bound_of(Scene *judge, const BoundState *before, const double *velocity) {
    Measurer measurer = {.witness = {.see = see}, .judge = judge, .velocity = velocity};
    arena_init(&measurer.arena, (size_t)1 << 33);
    bound_place(judge, before);
    StepInput input = {.time_step = judge->world->settings.time_step, .witness = &measurer.witness};
    Error error = {0};
    if (stepper_run(judge->stepper, judge->world, &input, &judge->scratch, NULL, &judge->report,
                    &error) != STATUS_OK) {
        bench_fail("%s", error.message);
    }
    arena_deinit(&measurer.arena);
    return measurer.bound;
}
