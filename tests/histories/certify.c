// SPDX-License-Identifier: MIT
#include "histories/certify.h"

#include "base/assert.h"

static double *take(Arena *arena, size_t count) {
    double *numbers = arena_take_zeroed(arena, count, sizeof(double));
    ASSERT(numbers != NULL || count == 0);
    return numbers;
}

static double scale_of(const ContactProblem *problem, const Islands *islands, const Answer *answer,
                       uint32_t island) {
    const IslandRange range = islands_range(islands, island, island + 1);
    const double most =
        certificate_scale_contacts(problem, islands, answer, range.contact_begin, range.contact_end,
                                   certificate_scale_least(problem));
    return certificate_scale_rows(problem, islands, answer, range.row_begin, range.row_end, most);
}

Certificate certify(const ContactProblem *problem, const Answer *answer, double tolerance,
                    Arena *arena) {
    Islands islands;
    ProblemMass mass;
    ASSERT(islands_find(problem, NULL, arena, &islands, NULL) == STATUS_OK);
    ASSERT(mass_init(&mass, problem, NULL, arena, NULL) == STATUS_OK);
    for (uint32_t i = 0; i < problem->contact_count; i++) {
        mass_add_contact(&mass, i);
    }
    const CertificateScale scale = {&islands, take(arena, islands.count)};
    IslandMeasure *whole = arena_take_array(arena, islands.count, sizeof(*whole));
    ASSERT(whole != NULL || islands.count == 0);
    for (uint32_t i = 0; i < islands.count; i++) {
        scale.v_scale[i] = scale_of(problem, &islands, answer, i);
        whole[i] = certificate_measure_none();
    }
    CertificateMeasure measure = {.problem = problem,
                                  .mass = &mass,
                                  .scale = &scale,
                                  .answer = answer,
                                  .scratch = take(arena, (size_t)3 * mass.width_max),
                                  .island = whole};
    certificate_measure_contacts(&measure, 0, islands.contact_first[islands.count]);
    certificate_measure_rows(&measure, 0, islands.row_first[islands.count]);
    certificate_measure_trees(&measure, 0, problem->tree_count);
    return certificate_of_islands(problem, &scale, whole, tolerance);
}

// ---- what stands in

// `warm` is Nullable.
static void recall(const double *warm, size_t count, double *impulse) {
    for (size_t i = 0; i < count; i++) {
        impulse[i] = warm == NULL ? 0.0 : warm[i];
    }
}

static void make_velocities(const ContactProblem *problem, const Answer *answer, Arena *arena) {
    ProblemMass mass;
    ASSERT(mass_init(&mass, problem, NULL, arena, NULL) == STATUS_OK);
    for (uint32_t i = 0; i < problem->velocity_count; i++) {
        answer->momentum[i] = 0.0;
    }
    for (uint32_t i = 0; i < problem->contact_count; i++) {
        problem_contact_momentum(problem, i, answer->contact_impulse + 3 * (size_t)i,
                                 answer->momentum);
    }
    for (uint32_t i = 0; i < problem->row_count; i++) {
        problem_row_momentum(problem, i, answer->row_impulse[i], answer->momentum);
    }
    for (uint32_t i = 0; i < problem->velocity_count; i++) {
        answer->v[i] = answer->momentum[i];
    }
    mass_solve(&mass, answer->v);
    for (uint32_t i = 0; i < problem->velocity_count; i++) {
        answer->v[i] += problem->v_free[i];
    }
}

static void see(StepWitness *witness, const ContactProblem *problem, const SolveResult *result) {
    StandIn *stand_in = (StandIn *)(void *)witness;
    const Answer *answer = &result->answer;
    recall(problem->warm_contact, 3 * (size_t)problem->contact_count, answer->contact_impulse);
    recall(problem->warm_row, problem->row_count, answer->row_impulse);
    make_velocities(problem, answer, stand_in->arena);
    stand_in->certificate = certify(problem, answer, stand_in->tolerance, stand_in->arena);
}

StandIn stand_in(double tolerance, Arena *arena) {
    return (StandIn){.witness = {.see = see}, .tolerance = tolerance, .arena = arena};
}
