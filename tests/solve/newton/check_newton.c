// SPDX-License-Identifier: MIT
#include "solve/mdp/mdp.h"
#include "solve/newton/newton.h"
#include "solve/solver.h"
#include "support/campaign.h"
#include "support/problem_build.h"
#include "support/problem_file.h"
#include "support/suite.h"

#include <string.h>

typedef struct Run {
    Arena arena;
    SolverSettings settings;
    SolveResult result;
} Run;

static void run_init(Run *run, double tolerance, double factorisations, MdpFriction friction) {
    *run = (Run){.settings = solver_solve_default(SOLVER_MDP)};
    arena_init(&run->arena, (size_t)1 << 29);
    run->settings.parameter[MDP_METHOD] = MDP_NEWTON;
    run->settings.parameter[MDP_TOLERANCE] = tolerance;
    run->settings.parameter[MDP_MAX_ITERATIONS] = factorisations;
    run->settings.parameter[MDP_FRICTION] = friction;
}

static const Certificate *solve(Run *run, const ContactProblem *problem) {
    Error error = {0};
    ck_assert_msg(solver_solve(&run->settings, problem, &(Context){0}, &run->arena, &run->result,
                               &error) == STATUS_OK,
                  "%s", error.message);
    return &run->result.certificate;
}

// ---- problems of running engines

// What is solved to 1e-8: with at most so many factorisations of an island, about twice as many as
// it takes. 0: under one law is long enough.
typedef struct Solved {
    const char *name;
    double factorisations[2]; // maximum dissipation, Coulomb
} Solved;

static const Solved solved[] = {{"one-ball", {10, 10}},
                                {"two-balls", {10, 10}},
                                {"stack-3", {12, 12}},
                                {"random-0", {26, 26}},
                                {"random-3", {22, 22}},
                                {"random-7", {12, 12}},
                                {"joint", {10, 10}},
                                {"limit-motor", {24, 24}},
                                {"trees", {16, 16}},
                                {"frictionless", {10, 10}},
                                {"mass-ratio-1e4", {20, 20}},
                                {"ten-boxes", {12, 12}},
                                {"ten-boxes-pushed", {60, 60}},
                                {"column-20", {14, 14}},
                                {"wedge", {10, 10}},
                                {"pile-125", {0, 1000}},
                                {"hard/pyramid-55-a", {20, 20}},
                                {"hard/heap-125-a", {50, 50}},
                                {"hard/heap-125-b", {0, 200}},
                                {"hard/heap-125-c", {0, 700}},
                                {"hard/heap-125-d", {300, 300}},
                                {"hard/balls-27", {0, 800}},
                                {"hard/pyramid-6-kicked", {0, 1100}}};
enum { SOLVED_COUNT = sizeof(solved) / sizeof(solved[0]) };

START_TEST(a_problem_of_an_engine_is_solved) {
    const Solved *entry = &solved[_i / 2];
    MdpFriction friction = (MdpFriction)(_i % 2);
    if (entry->factorisations[friction] == 0.0) {
        return;
    }
    ProblemFile file;
    Run run;
    problem_file_open(&file, entry->name);
    run_init(&run, 1e-8, entry->factorisations[friction], friction);
    const Certificate *c = solve(&run, &file.problem);
    ck_assert_msg(c->converged, "%s: e_own %g, e_mom %g, e_cone %g after %u", entry->name,
                  c->entry[CERTIFICATE_OWN], c->entry[CERTIFICATE_MOM], c->entry[CERTIFICATE_CONE],
                  run.result.iterations);
    arena_deinit(&run.arena);
    problem_file_close(&file);
}
END_TEST

// What takes seconds: as many factorisations as solve it, to which the whole campaign goes, and the
// residual that a few leave, within a factor of ten to both sides.
typedef struct Hard {
    const char *name;
    double solved_by, factorisations, residual;
} Hard;

static const Hard many_folds[] = {{"hard/pyramid-55-kicked-a", 8000, 120, 5e-6},
                                  {"hard/pyramid-55-kicked-b", 4000, 120, 5e-5}};
enum { HARD_COUNT = sizeof(many_folds) / sizeof(many_folds[0]) };

START_TEST(a_problem_of_many_folds_is_solved_or_comes_near) {
    const Hard *entry = &many_folds[_i];
    bool is_whole = campaign_count(1) >= 10;
    ProblemFile file;
    Run run;
    problem_file_open(&file, entry->name);
    run_init(&run, 1e-8, is_whole ? entry->solved_by : entry->factorisations, MDP_COULOMB);
    const Certificate *c = solve(&run, &file.problem);
    double own = c->entry[CERTIFICATE_OWN];
    if (is_whole) {
        ck_assert_msg(own <= 1e-8, "%s: e_own %g", entry->name, own);
    } else {
        ck_assert_msg(own <= 10.0 * entry->residual, "%s: e_own %g", entry->name, own);
        ck_assert_msg(own >= 0.1 * entry->residual, "%s is better now: e_own %g", entry->name, own);
        ck_assert_uint_eq(run.result.iterations, (unsigned)entry->factorisations);
    }
    ck_assert_double_le(c->entry[CERTIFICATE_MOM], 1e-10);
    ck_assert_double_le(c->entry[CERTIFICATE_CONE], 1e-12);
    arena_deinit(&run.arena);
    problem_file_close(&file);
}
END_TEST

// ---- sweeps first

static double own_of(ProblemFile *file, MdpMethod method, double iterations, Run *run) {
    run_init(run, 1e-6, iterations, MDP_COULOMB);
    run->settings.parameter[MDP_METHOD] = method;
    return solve(run, &file->problem)->entry[CERTIFICATE_OWN];
}

START_TEST(what_sweeps_do_not_solve_is_handed_over) {
    ProblemFile file;
    Run sweeps, both;
    problem_file_open(&file, "hard/pyramid-55-a");
    double swept = own_of(&file, MDP_GAUSS_SEIDEL, 200.0, &sweeps);
    double own = own_of(&file, MDP_AUTO, 200.0, &both);
    ck_assert_double_gt(swept, 1e-6);
    // what is aimed at is a hundredth of what is asked for
    ck_assert_double_le(own, 1.01e-8);
    ck_assert(both.result.certificate.converged);
    ck_assert_uint_gt(both.result.iterations, 30);
    ck_assert_uint_le(both.result.iterations, 60);
    arena_deinit(&sweeps.arena);
    arena_deinit(&both.arena);
    problem_file_close(&file);
}
END_TEST

START_TEST(what_sweeps_solve_is_theirs_to_the_bit) {
    ProblemFile file;
    Run sweeps, both;
    problem_file_open(&file, "random-0");
    double swept = own_of(&file, MDP_GAUSS_SEIDEL, 200.0, &sweeps);
    ck_assert_double_eq(own_of(&file, MDP_AUTO, 200.0, &both), swept);
    ck_assert_uint_le(sweeps.result.iterations, 30);
    ck_assert_mem_eq(sweeps.result.answer.v, both.result.answer.v,
                     file.problem.velocity_count * sizeof(double));
    arena_deinit(&sweeps.arena);
    arena_deinit(&both.arena);
    problem_file_close(&file);
}
END_TEST

// A problem that takes hundreds of factorisations, with a budget for some 40 of them.
START_TEST(what_is_not_solved_is_no_worse_than_the_sweeps) {
    ProblemFile file;
    Run sweeps, both;
    problem_file_open(&file, "hard/pyramid-55-kicked-b");
    double swept = own_of(&file, MDP_GAUSS_SEIDEL, 10.0, &sweeps);
    run_init(&both, 1e-6, 10.0, MDP_COULOMB);
    both.settings.parameter[MDP_METHOD] = MDP_AUTO;
    both.settings.parameter[MDP_BUDGET] = 5e7;
    const Certificate *c = solve(&both, &file.problem);
    ck_assert_double_le(c->entry[CERTIFICATE_OWN], swept);
    ck_assert(!c->converged);
    ck_assert_int_eq(c->worst_open.reason, END_BUDGET);
    ck_assert_uint_gt(both.result.iterations, 10 + 20);
    ck_assert_uint_lt(both.result.iterations, 10 + 80);
    arena_deinit(&sweeps.arena);
    arena_deinit(&both.arena);
    problem_file_close(&file);
}
END_TEST

// Too little for 20 factorisations is nothing for Newton's method: sweeps go on to where they may,
// as the history does, and what they leave is the budget's doing.
START_TEST(what_the_budget_is_too_small_for_goes_on_with_sweeps) {
    enum { SWEEPS = 90 };
    ProblemFile file;
    Run run;
    double value[SWEEPS + 2];
    IterationHistory history;
    history_init(&history, value, SWEEPS + 2);
    problem_file_open(&file, "hard/pyramid-55-a");
    run_init(&run, 1e-6, SWEEPS, MDP_COULOMB);
    run.settings.parameter[MDP_METHOD] = MDP_AUTO;
    run.settings.parameter[MDP_BUDGET] = _i == 0 ? 0.0 : 3e6;
    const Certificate *c = solve(&run, &file.problem);
    double own = c->entry[CERTIFICATE_OWN];
    ck_assert(!c->converged);
    ck_assert_uint_eq(run.result.iterations, SWEEPS);
    ck_assert_int_eq(c->worst_open.reason, END_BUDGET);
    ck_assert_uint_eq(c->islands_open, 1);
    ck_assert_uint_eq(c->worst_open.contacts, file.problem.contact_count);
    ck_assert_double_eq(c->worst_open.residual, own);
    ck_assert_int_eq(c->worst_open.contact, c->worst_contact);
    ck_assert_int_eq(solver_solve(&run.settings, &file.problem, &(Context){.history = &history},
                                  &run.arena, &run.result, NULL),
                     STATUS_OK);
    ck_assert_uint_eq(history.count, SWEEPS);
    ck_assert_double_eq(run.result.certificate.entry[CERTIFICATE_OWN], own);
    arena_deinit(&run.arena);
    problem_file_close(&file);
}
END_TEST

// The trees and contacts of a problem of dense trees, behind what is there.
static void add_problem(ProblemBuild *whole, const ContactProblem *from) {
    uint32_t first = whole->problem.tree_count;
    for (uint32_t i = 0; i < from->tree_count; i++) {
        const ProblemTree *tree = &from->tree[i];
        problem_build_dense(whole, tree->width, from->number + tree->mass,
                            from->v_free + tree->first);
    }
    for (uint32_t i = 0; i < from->contact_count; i++) {
        const ProblemContact *contact = &from->contact[i];
        ProblemContact *copy =
            problem_build_contact(whole, contact->normal, contact->mu, contact->bias);
        memcpy(copy->motion, contact->motion, sizeof(copy->motion));
        for (int s = 0; s < 2; s++) {
            const ContactSide *side = &contact->side[s];
            if (side->tree != PROBLEM_NO_TREE) {
                problem_build_dense_side(whole, copy, s, first + side->tree,
                                         from->number + side->jacobian);
            }
        }
    }
}

// What a large island would spend is not missed by a small one behind it: alone, the large one
// takes all there is.
START_TEST(the_small_islands_come_first) {
    ProblemFile hard, easy;
    Run run;
    ProblemBuild both;
    problem_file_open(&hard, "hard/heap-125-b");
    problem_file_open(&easy, "ten-boxes-pushed");
    problem_build_init(&both);
    both.problem.time_step = hard.problem.time_step;
    add_problem(&both, &hard.problem);
    uint32_t trees = both.problem.tree_count;
    add_problem(&both, &easy.problem);
    run_init(&run, 1e-6, 30.0, MDP_COULOMB);
    run.settings.parameter[MDP_METHOD] = MDP_AUTO;
    run.settings.parameter[MDP_BUDGET] = 3e7;
    const Certificate *c = solve(&run, &both.problem);
    ck_assert_uint_eq(c->islands_open, 1);
    ck_assert_int_lt(c->worst_open.tree, trees);
    ck_assert_int_eq(c->worst_open.reason, END_BUDGET);
    ck_assert_uint_gt(run.result.iterations, 30 + 10); // it was begun
    arena_deinit(&run.arena);
    problem_build_deinit(&both);
    problem_file_close(&hard);
    problem_file_close(&easy);
}
END_TEST

START_TEST(the_history_goes_on_from_sweeps_to_factorisations) {
    ProblemFile file;
    Run run;
    double value[64];
    IterationHistory history;
    history_init(&history, value, 64);
    problem_file_open(&file, "hard/pyramid-55-a");
    run_init(&run, 1e-6, 200.0, MDP_COULOMB);
    run.settings.parameter[MDP_METHOD] = MDP_AUTO;
    ck_assert_int_eq(solver_solve(&run.settings, &file.problem, &(Context){.history = &history},
                                  &run.arena, &run.result, NULL),
                     STATUS_OK);
    ck_assert_uint_eq(history.stride, 1);
    ck_assert_uint_eq(history.count, run.result.iterations);
    ck_assert_double_gt(value[29], 1e-6);
    ck_assert_double_le(value[history.count - 1], 1e-8);
    arena_deinit(&run.arena);
    problem_file_close(&file);
}
END_TEST

// ---- random problems

START_TEST(random_problems_of_free_and_dense_trees_are_solved) {
    uint64_t state = 77 + (uint64_t)_i;
    enum { ROUNDS = 40 };
    int converged = 0;
    for (int round = 0; round < ROUNDS; round++) {
        ProblemBuild build, dense;
        problem_build_init(&build);
        problem_build_random_bodies(&build, &state, 6, 12);
        for (uint32_t i = 0; i < build.problem.contact_count; i++) {
            build.contact[i].mu *= i % 4; // some without friction, some with much
        }
        Run run, again;
        run_init(&run, 1e-8, 300.0, (MdpFriction)(_i % 2));
        const Certificate *c = solve(&run, &build.problem);
        converged += c->converged;
        ck_assert(isfinite(c->entry[CERTIFICATE_OWN]));
        // written in another way it is the same problem
        problem_build_init(&dense);
        problem_build_densify(&build.problem, &dense);
        run_init(&again, 1e-8, 300.0, (MdpFriction)(_i % 2));
        ck_assert_int_eq(solve(&again, &dense.problem)->converged, c->converged);
        arena_deinit(&run.arena);
        arena_deinit(&again.arena);
        problem_build_deinit(&build);
        problem_build_deinit(&dense);
    }
    ck_assert_int_ge(converged, ROUNDS - 2);
}
END_TEST

// ---- what an island may hold

static const Sym3 ball_inertia = {0.004, 0.004, 0.004, 0.0, 0.0, 0.0};

START_TEST(contacts_that_move_nothing_keep_no_impulse) {
    ProblemBuild build;
    problem_build_init(&build);
    const double v_free[6] = {1.0, 0.0, -1.0, 0.0, 0.0, 0.0};
    problem_build_contact(&build, vec3(0.0, 0.0, 1.0), 0.5, -1.0);
    uint32_t tree = problem_build_free(&build, 1.0, ball_inertia, v_free);
    // three times the same contact, without friction
    for (int k = 0; k < 3; k++) {
        problem_build_side(problem_build_contact(&build, vec3(0.0, 0.0, 1.0), 0.0, 0.0), 1, tree,
                           vec3(0.0, 0.0, -0.1));
    }
    Run run;
    run_init(&run, 1e-10, 50.0, MDP_COULOMB);
    ck_assert(solve(&run, &build.problem)->converged);
    const Answer *answer = &run.result.answer;
    ck_assert_double_eq(answer->contact_impulse[0], 0.0);
    ck_assert_double_eq_tol(answer->v[2], 0.0, 1e-10);
    ck_assert_double_eq_tol(answer->v[0], 1.0, 1e-15);
    ck_assert_double_eq(answer->contact_impulse[4], 0.0);
    arena_deinit(&run.arena);
    problem_build_deinit(&build);
}
END_TEST

// A row along x, with velocity 2 before it: y = 2 + r + bias + R r.
START_TEST(rows_of_every_kind_are_solved) {
    const struct {
        double low, high, bias, compliance, expected;
    } rows[] = {{-HUGE_VAL, HUGE_VAL, 0.5, 0.0, -2.5}, {-HUGE_VAL, HUGE_VAL, 0.5, 1.5, -1.0},
                {-0.3, 0.3, 0.0, 0.0, -0.3},           {-5.0, 5.0, 0.0, 0.0, -2.0},
                {0.0, HUGE_VAL, 0.0, 0.0, 0.0},        {0.0, HUGE_VAL, -3.0, 0.0, 1.0},
                {-HUGE_VAL, 0.0, 0.0, 1.0, -1.0},      {0.7, 0.7, 0.0, 0.0, 0.7}};
    ProblemBuild build;
    problem_build_init(&build);
    const double v_free[6] = {2.0}, row[6] = {1.0};
    problem_build_free(&build, 1.0, ball_inertia, v_free);
    ProblemRow *of = problem_build_row(&build, rows[_i].low, rows[_i].high, rows[_i].bias);
    of->has_compliance = rows[_i].compliance > 0.0;
    of->compliance = rows[_i].compliance;
    problem_build_block(&build, 0, row);
    Run run;
    run_init(&run, 1e-10, 50.0, MDP_COULOMB);
    ck_assert(solve(&run, &build.problem)->converged);
    // the residual, 1e-10 V, is of velocities, and w = 1; V <= 3
    ck_assert_double_eq_tol(run.result.answer.row_impulse[0], rows[_i].expected, 3e-10);
    arena_deinit(&run.arena);
    problem_build_deinit(&build);
}
END_TEST

START_TEST(a_contact_of_a_tree_with_itself_is_solved) {
    ProblemBuild build;
    problem_build_init(&build);
    const double mass[4] = {2.0, 0.5, 0.5, 1.0}, v_free[2] = {1.0, -1.0};
    const double a[6] = {-1.0, 0.0, 0.0, 0.3, 0.0, 0.0}, b[6] = {0.0, 1.0, 0.2, 0.0, 0.0, 0.1};
    uint32_t tree = problem_build_dense(&build, 2, mass, v_free);
    ProblemContact *contact = problem_build_contact(&build, vec3(0.0, 0.0, 1.0), 0.4, 0.0);
    problem_build_dense_side(&build, contact, 0, tree, a);
    problem_build_dense_side(&build, contact, 1, tree, b);
    Run run;
    run_init(&run, 1e-10, 50.0, MDP_COULOMB);
    const Certificate *c = solve(&run, &build.problem);
    ck_assert_double_le(c->entry[CERTIFICATE_OWN], 1e-10);
    ck_assert_double_gt(run.result.answer.contact_impulse[0], 0.1);
    arena_deinit(&run.arena);
    problem_build_deinit(&build);
}
END_TEST

// ---- where it starts, and when it ends

static double residual_after(ProblemFile *file, double factorisations, const Answer *warm) {
    Run run;
    run_init(&run, 1e-8, factorisations, MDP_COULOMB);
    ContactProblem problem = file->problem;
    problem.warm_contact = warm == NULL ? NULL : warm->contact_impulse;
    problem.warm_row = NULL;
    double residual = solve(&run, &problem)->entry[CERTIFICATE_OWN];
    arena_deinit(&run.arena);
    return residual;
}

START_TEST(more_factorisations_never_leave_more) {
    ProblemFile file;
    problem_file_open(&file, "hard/heap-125-b");
    double before = HUGE_VAL;
    for (double most = 1.0; most < 80.0; most *= 2.0) {
        double residual = residual_after(&file, most, NULL);
        ck_assert_double_le(residual, before);
        before = residual;
    }
    ck_assert_double_le(before, 1e-2);
    problem_file_close(&file);
}
END_TEST

START_TEST(an_answer_is_a_start_that_is_kept) {
    ProblemFile file;
    Run run, again;
    problem_file_open(&file, "hard/heap-125-b");
    run_init(&run, 1e-8, 200.0, MDP_COULOMB);
    double residual = solve(&run, &file.problem)->entry[CERTIFICATE_OWN];
    ContactProblem problem = file.problem;
    problem.warm_contact = run.result.answer.contact_impulse;
    run_init(&again, 1e-8, 200.0, MDP_COULOMB);
    // the same to rounding, as projected impulses are projected once more
    ck_assert_double_le(solve(&again, &problem)->entry[CERTIFICATE_OWN], residual + 1e-12);
    ck_assert_uint_le(again.result.iterations, 0);
    // a little off, it is found again
    double *off = arena_take_array(&run.arena, problem.contact_count, 3 * sizeof(double));
    for (uint32_t i = 0; i < 3 * problem.contact_count; i++) {
        off[i] = 1.001 * problem.warm_contact[i];
    }
    problem.warm_contact = off;
    ck_assert(solve(&again, &problem)->converged);
    arena_deinit(&run.arena);
    arena_deinit(&again.arena);
    problem_file_close(&file);
}
END_TEST

START_TEST(the_same_problem_gives_the_same_bits) {
    ProblemFile file;
    Run run, again;
    problem_file_open(&file, "hard/pyramid-55-a");
    run_init(&run, 1e-8, 100.0, MDP_COULOMB);
    run_init(&again, 1e-8, 100.0, MDP_COULOMB);
    solve(&run, &file.problem);
    solve(&again, &file.problem);
    ck_assert_mem_eq(run.result.answer.contact_impulse, again.result.answer.contact_impulse,
                     3 * (size_t)file.problem.contact_count * sizeof(double));
    arena_deinit(&run.arena);
    arena_deinit(&again.arena);
    problem_file_close(&file);
}
END_TEST

START_TEST(what_is_not_finite_ends_and_is_not_converged) {
    ProblemBuild build;
    problem_build_init(&build);
    uint64_t state = 5;
    problem_build_random_bodies(&build, &state, 5, 10);
    double *const place[] = {&build.v_free[3], &build.contact[2].bias, &build.contact[4].mu,
                             &build.contact[1].motion[1]};
    *place[_i / 2] = _i % 2 == 0 ? NAN : HUGE_VAL;
    Run run;
    run_init(&run, 1e-8, 100.0, MDP_COULOMB);
    ck_assert(!solve(&run, &build.problem)->converged);
    arena_deinit(&run.arena);
    problem_build_deinit(&build);
}
END_TEST

// Two limits that ask for what no velocity gives.
START_TEST(what_has_no_solution_ends_with_finite_impulses) {
    ProblemBuild build;
    problem_build_init(&build);
    const double v_free[6] = {0.0}, there[6] = {1.0}, back[6] = {-1.0};
    problem_build_free(&build, 1.0, ball_inertia, v_free);
    problem_build_row(&build, 0.0, HUGE_VAL, -26.0);
    problem_build_block(&build, 0, there);
    problem_build_row(&build, 0.0, HUGE_VAL, -26.0);
    problem_build_block(&build, 0, back);
    Run run;
    run_init(&run, 1e-8, 1e5, MDP_COULOMB);
    const Certificate *c = solve(&run, &build.problem);
    ck_assert(!c->converged);
    // half of what is asked misses each of them
    ck_assert_double_ge(c->entry[CERTIFICATE_OWN], 1.0 - 1e-6);
    ck_assert(isfinite(run.result.answer.row_impulse[0]));
    ck_assert_uint_le(run.result.iterations, 10000);
    arena_deinit(&run.arena);
    problem_build_deinit(&build);
}
END_TEST

// ---- stop and memory

static bool stop_at_third(void *context) {
    return ++*(int *)context == 3;
}

START_TEST(it_stops_where_it_is_asked_to) {
    ProblemFile file;
    Run run;
    Error error;
    int asked = 0;
    const Stop stop = {.asked = stop_at_third, .context = &asked};
    problem_file_open(&file, "hard/heap-125-b");
    run_init(&run, 1e-8, 200.0, MDP_COULOMB);
    ck_assert_int_eq(solver_solve(&run.settings, &file.problem, &(Context){.stop = &stop},
                                  &run.arena, &run.result, &error),
                     STATUS_ABORTED);
    ck_assert_msg(strstr(error.message, "factorisations") != NULL, "%s", error.message);
    ck_assert_int_eq(asked, 3);
    arena_deinit(&run.arena);
    problem_file_close(&file);
}
END_TEST

static bool stop_never(void *context) {
    ++*(int *)context;
    return false;
}

// A problem of one island, with what newton_solve needs of it.
typedef struct Bare {
    ProblemFile file;
    Arena arena;
    ProblemMass mass;
    Islands islands;
    double *impulse;
    Asker asker;
    NewtonTask task;
} Bare;

static void bare_init(Bare *bare, const char *name) {
    *bare = (Bare){0};
    problem_file_open(&bare->file, name);
    arena_init(&bare->arena, (size_t)1 << 28);
    const ContactProblem *problem = &bare->file.problem;
    ck_assert_int_eq(mass_init(&bare->mass, problem, NULL, &bare->arena, NULL), STATUS_OK);
    for (uint32_t i = 0; i < problem->contact_count; i++) {
        mass_add_contact(&bare->mass, i);
    }
    ck_assert_int_eq(islands_find(problem, NULL, &bare->arena, &bare->islands, NULL), STATUS_OK);
    bare->impulse = arena_take_zeroed(&bare->arena, problem->contact_count, 3 * sizeof(double));
    bare->task = (NewtonTask){.problem = problem,
                              .mass = &bare->mass,
                              .islands = &bare->islands,
                              .law = RELATION_CONE,
                              .v_scale = 1.0,
                              .enough = 1e-8,
                              .tolerance = 1e-8,
                              .factorisations_max = 40,
                              .operations_max = 2e7,
                              .least = 1.0,
                              .asker = &bare->asker};
}

static void bare_deinit(Bare *bare) {
    arena_deinit(&bare->arena);
    problem_file_close(&bare->file);
}

static NewtonResult bare_solve(Bare *bare, const NewtonTask *task) {
    NewtonResult result;
    memset(bare->impulse, 0, 3 * (size_t)bare->file.problem.contact_count * sizeof(double));
    ck_assert_int_eq(
        newton_solve(task, &(Context){0}, &bare->arena, bare->impulse, NULL, &result, NULL),
        STATUS_OK);
    return result;
}

// The curve begins towards smaller kappa, and ends so where it ends at a solution: it turns an even
// number of times.
START_TEST(a_curve_tells_how_it_ended) {
    Bare bare;
    bare_init(&bare, "hard/balls-27");
    NewtonTask task = bare.task;
    task.operations_max = HUGE_VAL;
    task.factorisations_max = 6000;
    NewtonResult result = bare_solve(&bare, &task);
    ck_assert_uint_ge(result.curve_count, 1);
    const NewtonCurve *last = &result.curve[result.curve_count - 1];
    ck_assert_int_eq(last->end, NEWTON_CURVE_SOLVED);
    ck_assert_double_le(last->residual, task.enough);
    ck_assert_double_eq(last->residual, result.residual);
    ck_assert_uint_gt(last->folds, 0);
    ck_assert_uint_eq(last->folds % 2, 0);
    ck_assert_double_le(last->kappa, 1e-6);
    uint32_t curves = 0;
    for (uint32_t i = 0; i < result.curve_count; i++) {
        curves += result.curve[i].factorisations;
    }
    ck_assert_uint_lt(curves, result.factorisations);
    // half of it: cut off, and said so
    task.factorisations_max = result.factorisations - last->factorisations / 2;
    NewtonResult half = bare_solve(&bare, &task);
    ck_assert_uint_ge(half.curve_count, result.curve_count);
    ck_assert_int_eq(half.curve[result.curve_count - 1].end, NEWTON_CURVE_SPENT);
    ck_assert_double_gt(half.residual, task.enough);
    bare_deinit(&bare);
}
END_TEST

START_TEST(it_asks_for_every_million_operations) {
    Bare bare;
    bare_init(&bare, "hard/heap-125-b");
    int asked = 0;
    const Stop stop = {.asked = stop_never, .context = &asked};
    bare.asker.stop = &stop;
    NewtonResult result = bare_solve(&bare, &bare.task);
    ck_assert_double_ge(asked, result.operations / 1e6);
    // what is spent is exceeded by no more than a step's search
    ck_assert_double_le(result.operations, 2e7 + 5e6);
    // one factorisation is more than there is: nothing is done
    NewtonTask poor = bare.task;
    poor.operations_max = 1e3;
    asked = 0;
    result = bare_solve(&bare, &poor);
    ck_assert_int_eq(asked, 0);
    ck_assert_uint_eq(result.factorisations, 0);
    ck_assert(result.residual > 1e-8 &&
              numbers_are_within(bare.impulse, bare.file.problem.contact_count, 0.0));
    bare_deinit(&bare);
}
END_TEST

START_TEST(an_arena_of_any_size_ends_in_an_answer_or_an_error) {
    ProblemFile file;
    problem_file_open(&file, "limit-motor");
    bool was_enough = false;
    int refusals = 0;
    for (size_t bytes = 0; bytes < 262144 && !was_enough; bytes += 576) {
        Run run;
        Error error;
        run_init(&run, 1e-8, 100.0, MDP_COULOMB);
        arena_deinit(&run.arena);
        arena_init(&run.arena, bytes);
        Status status = solver_solve(&run.settings, &file.problem, &(Context){0}, &run.arena,
                                     &run.result, &error);
        ck_assert(status == STATUS_OK || status == STATUS_RESOURCE_EXHAUSTED);
        was_enough = status == STATUS_OK;
        refusals += !was_enough;
        arena_deinit(&run.arena);
    }
    ck_assert(was_enough);
    ck_assert_int_gt(refusals, 10);
    problem_file_close(&file);
}
END_TEST

static TCase *case_problems(void) {
    TCase *tcase = tcase_create("problems");
    tcase_add_loop_test(tcase, a_problem_of_an_engine_is_solved, 0, 2 * SOLVED_COUNT);
    tcase_add_test(tcase, a_curve_tells_how_it_ended);
    tcase_add_loop_test(tcase, a_problem_of_many_folds_is_solved_or_comes_near, 0, HARD_COUNT);
    tcase_add_loop_test(tcase, random_problems_of_free_and_dense_trees_are_solved, 0, 4);
    return tcase;
}

static TCase *case_auto(void) {
    TCase *tcase = tcase_create("auto");
    tcase_add_test(tcase, what_sweeps_do_not_solve_is_handed_over);
    tcase_add_test(tcase, what_sweeps_solve_is_theirs_to_the_bit);
    tcase_add_test(tcase, what_is_not_solved_is_no_worse_than_the_sweeps);
    tcase_add_loop_test(tcase, what_the_budget_is_too_small_for_goes_on_with_sweeps, 0, 2);
    tcase_add_test(tcase, the_small_islands_come_first);
    tcase_add_test(tcase, the_history_goes_on_from_sweeps_to_factorisations);
    return tcase;
}

static TCase *case_islands(void) {
    TCase *tcase = tcase_create("islands");
    tcase_add_test(tcase, contacts_that_move_nothing_keep_no_impulse);
    tcase_add_loop_test(tcase, rows_of_every_kind_are_solved, 0, 8);
    tcase_add_test(tcase, a_contact_of_a_tree_with_itself_is_solved);
    return tcase;
}

static TCase *case_ends(void) {
    TCase *tcase = tcase_create("ends");
    tcase_add_test(tcase, more_factorisations_never_leave_more);
    tcase_add_test(tcase, an_answer_is_a_start_that_is_kept);
    tcase_add_test(tcase, the_same_problem_gives_the_same_bits);
    tcase_add_loop_test(tcase, what_is_not_finite_ends_and_is_not_converged, 0, 8);
    tcase_add_test(tcase, what_has_no_solution_ends_with_finite_impulses);
    tcase_add_test(tcase, it_stops_where_it_is_asked_to);
    tcase_add_test(tcase, it_asks_for_every_million_operations);
    tcase_add_test(tcase, an_arena_of_any_size_ends_in_an_answer_or_an_error);
    return tcase;
}

SUITE_MAIN("solve/newton", case_problems, case_auto, case_islands, case_ends)
