// SPDX-License-Identifier: MIT
// What a balanced and a fast effort promise: how many sweeps they take, that more of them leave no
// more than less, who gets what others leave over, and who may borrow.
#include "solve/mdp/mdp.h"
#include "solve/solver.h"
#include "support/harness.h"
#include "support/problem_build.h"
#include "support/problem_file.h"
#include "support/suite.h"

#include <math.h>
#include <string.h>

enum { FAST_SWEEPS = 8, BALANCED_SWEEPS = 100, FACTORISATIONS = 30 };

static const Sym3 ball_inertia = {0.004, 0.004, 0.004, 0.0, 0.0, 0.0};
#define TIME_STEP 0.01
#define GRAVITY   9.81

// A column of balls that stands on the ground, the lowest pushed at v_x.
static void add_column(ProblemBuild *build, uint32_t count, double v_x) {
    uint32_t first = build->problem.tree_count;
    for (uint32_t i = 0; i < count; i++) {
        const double v_free[6] = {i == 0 ? v_x : 0.0, 0.0, -GRAVITY * TIME_STEP, 0.0, 0.0, 0.0};
        problem_build_free(build, 1.0, ball_inertia, v_free);
        ProblemContact *contact = problem_build_contact(build, vec3(0.0, 0.0, 1.0), 0.4, 0.0);
        uint32_t below = i == 0 ? PROBLEM_NO_TREE : first + i - 1;
        problem_build_side(contact, 0, below, vec3(0.0, 0.0, 0.1));
        problem_build_side(contact, 1, first + i, vec3(0.0, 0.0, -0.1));
    }
}

// From nothing, sweeps need thousands for it.
enum { HIGH = 300 };

static SolveResult solve(const ContactProblem *problem, EffortKind effort, bool may_borrow,
                         Arena *arena) {
    SolverSettings settings = solver_default(SOLVER_MDP);
    settings.effort = (Effort){.kind = (uint8_t)effort, .owed = may_borrow ? 0 : 64};
    SolveResult result;
    ck_assert_int_eq(solver_solve(&settings, problem, &(Context){0}, arena, &result, NULL),
                     STATUS_OK);
    return result;
}

static void begin(ProblemBuild *build) {
    problem_build_init(build);
    build->problem.gravity = GRAVITY;
    build->problem.time_step = TIME_STEP;
}

START_TEST(an_island_takes_as_many_sweeps_as_its_effort_has) {
    ProblemBuild build;
    begin(&build);
    add_column(&build, HIGH, 5.0);
    SolveResult fast = solve(&build.problem, EFFORT_FAST, true, &build.arena);
    SolveResult balanced = solve(&build.problem, EFFORT_BALANCED, true, &build.arena);
    SolveResult exact = solve(&build.problem, EFFORT_EXACT, true, &build.arena);
    ck_assert_uint_eq(fast.iterations, FAST_SWEEPS);
    ck_assert_uint_eq(balanced.iterations, BALANCED_SWEEPS);
    ck_assert(!fast.certificate.converged && !balanced.certificate.converged);
    ck_assert_int_eq(balanced.certificate.worst_open.reason, END_BUDGET);
    ck_assert(balanced.owed == 0); // it is on the move
    ck_assert(exact.certificate.converged);
    problem_build_deinit(&build);
}
END_TEST

// Every island is judged where a fast effort ends, and the better answer is kept.
START_TEST(a_balanced_effort_leaves_no_more_than_a_fast_one) {
    HarnessProblem problem;
    uint32_t open = 0;
    for (uint32_t i = 0; i < harness_problem_count(); i++) {
        harness_problem_open(i, &problem);
        Arena arena;
        arena_init(&arena, (size_t)1 << 32);
        SolveResult fast = solve(problem.problem, EFFORT_FAST, false, &arena);
        SolveResult balanced = solve(problem.problem, EFFORT_BALANCED, false, &arena);
        double most = fast.certificate.entry[CERTIFICATE_OWN];
        ck_assert_msg(balanced.certificate.entry[CERTIFICATE_OWN] <= most ||
                          balanced.certificate.converged,
                      "%s: %g, and %g after fewer sweeps", problem.name,
                      balanced.certificate.entry[CERTIFICATE_OWN], most);
        ck_assert_uint_le(fast.iterations, FAST_SWEEPS);
        open += !fast.certificate.converged;
        arena_deinit(&arena);
        harness_problem_close(&problem);
    }
    ck_assert_uint_gt(open, 10); // or it says nothing
}
END_TEST

// The sweeps that 200 single balls do not need go to the column, up to as many as it may take.
START_TEST(what_is_left_over_goes_to_the_worst_island) {
    ProblemBuild build;
    begin(&build);
    add_column(&build, HIGH, 5.0);
    for (int i = 0; i < 200; i++) {
        add_column(&build, 1, 0.0);
    }
    SolveResult result = solve(&build.problem, EFFORT_BALANCED, true, &build.arena);
    // 200 x 100 sweeps over one contact, less eight at most that a ball takes, over 300 contacts
    const uint32_t most = BALANCED_SWEEPS + 200 * BALANCED_SWEEPS / HIGH;
    ck_assert_uint_le(result.iterations, most);
    ck_assert_uint_ge(result.iterations, most - 200 * 8 / HIGH - 1);
    ck_assert_uint_eq(result.certificate.islands_open, 1);
    problem_build_deinit(&build);
}
END_TEST

START_TEST(what_rests_may_borrow_and_is_solved) {
    ProblemBuild build;
    begin(&build);
    add_column(&build, HIGH, 0.0);
    SolveResult owing = solve(&build.problem, EFFORT_BALANCED, false, &build.arena);
    SolveResult borrowed = solve(&build.problem, EFFORT_BALANCED, true, &build.arena);
    SolveResult fast = solve(&build.problem, EFFORT_FAST, true, &build.arena);
    ck_assert(!owing.certificate.converged && owing.owed == 0);
    ck_assert(borrowed.certificate.converged && borrowed.owed > 0 && !borrowed.is_in_vain);
    ck_assert_uint_le(borrowed.iterations, BALANCED_SWEEPS + FACTORISATIONS);
    ck_assert(fast.owed == 0);
    // the lowest contact bears all of them
    double bears = HIGH * GRAVITY * TIME_STEP;
    ck_assert_double_eq_tol(borrowed.answer.contact_impulse[0], bears, 1e-5 * bears);
    problem_build_deinit(&build);
}
END_TEST

// A body that two rows want to go up and down: nothing meets both.
static void add_torn(ProblemBuild *build) {
    const double v_free[6] = {0.0}, up[6] = {0.0, 0.0, 1.0, 0.0, 0.0, 0.0};
    uint32_t tree = problem_build_free(build, 1.0, ball_inertia, v_free);
    for (int i = 0; i < 2; i++) {
        problem_build_row(build, -HUGE_VAL, HUGE_VAL, i == 0 ? 1.0 : -1.0);
        problem_build_block(build, tree, up);
    }
}

// Where Newton's method may spend nothing for a small island that nothing solves, what others leave
// over is the large one's all the same.
START_TEST(what_small_islands_may_not_spend_takes_nothing_from_others) {
    ProblemBuild build;
    begin(&build);
    add_column(&build, HIGH, 5.0);
    for (int i = 0; i < 200; i++) {
        add_column(&build, 1, 0.0);
    }
    add_torn(&build);
    SolverSettings settings = solver_default(SOLVER_MDP);
    settings.effort = (Effort){.kind = EFFORT_BALANCED, .owed = 0};
    settings.parameter[MDP_BUDGET] = 0.0;
    SolveResult result;
    ck_assert_int_eq(
        solver_solve(&settings, &build.problem, &(Context){0}, &build.arena, &result, NULL),
        STATUS_OK);
    ck_assert_uint_eq(result.certificate.islands_open, 2);
    ck_assert_uint_gt(result.iterations, BALANCED_SWEEPS + 60);
    problem_build_deinit(&build);
}
END_TEST

// The linear system of a small island that rests is solved at once; of one that falls, which may
// slip elsewhere, only after more sweeps than a fast effort has.
START_TEST(what_is_on_the_move_is_swept_before_anything_is_aimed_at) {
    enum { LOW = 10 };
    for (int falls = 0; falls < 2; falls++) {
        ProblemBuild build;
        begin(&build);
        add_column(&build, LOW, 0.0);
        for (uint32_t i = 0; i < LOW; i++) {
            build.v_free[6 * i + 2] -= falls ? 1.0 : 0.0;
        }
        SolveResult fast = solve(&build.problem, EFFORT_FAST, false, &build.arena);
        SolveResult balanced = solve(&build.problem, EFFORT_BALANCED, false, &build.arena);
        ck_assert(balanced.certificate.converged);
        ck_assert(fast.certificate.converged == !falls);
        ck_assert(falls ? fast.iterations == FAST_SWEEPS : fast.iterations < FAST_SWEEPS);
        problem_build_deinit(&build);
    }
}
END_TEST

// Boxes upon each other, at four corners.
static void add_boxes(ProblemBuild *build, uint32_t count, double v_z) {
    const Sym3 inertia = {0.007, 0.007, 0.007, 0.0, 0.0, 0.0};
    for (uint32_t i = 0; i < count; i++) {
        const double v_free[6] = {0.0, 0.0, v_z, 0.0, 0.0, 0.0};
        problem_build_free(build, 1.0, inertia, v_free);
        for (uint32_t k = 0; k < 4; k++) {
            double x = k % 2 == 0 ? 0.1 : -0.1, y = k / 2 == 0 ? 0.1 : -0.1;
            ProblemContact *contact = problem_build_contact(build, vec3(0.0, 0.0, 1.0), 0.4, 0.0);
            problem_build_side(contact, 0, i == 0 ? PROBLEM_NO_TREE : i - 1, vec3(x, y, 0.1));
            problem_build_side(contact, 1, i, vec3(x, y, -0.1));
        }
    }
}

// Of more contacts an aim takes as long as thirty sweeps: there one that misses is the last. It
// counts as five.
START_TEST(what_is_not_small_is_aimed_at_once) {
    enum { COUNT = 34, AIM_SWEEPS = 5 }; // 136 contacts
    for (int slips = 0; slips < 2; slips++) {
        ProblemBuild build;
        begin(&build);
        add_boxes(&build, COUNT, -1.0);
        for (uint32_t i = 0; i < COUNT; i++) {
            build.v_free[6 * i] += slips ? 0.5 * (i % 3) : 0.0;
        }
        SolveResult balanced = solve(&build.problem, EFFORT_BALANCED, false, &build.arena);
        ck_assert(balanced.certificate.converged == !slips);
        ck_assert(slips ? balanced.iterations == BALANCED_SWEEPS - AIM_SWEEPS
                        : balanced.iterations < BALANCED_SWEEPS / 2);
        problem_build_deinit(&build);
    }
}
END_TEST

// Where few sweeps are asked for, they are what is on the move gets; the next aims, and two are
// for where it landed.
START_TEST(few_sweeps_leave_no_room_for_an_aim_at_what_moves) {
    enum { LOW = 10, FEW = 28 };
    for (uint32_t sweeps = FEW; sweeps <= FEW + 3; sweeps += 3) {
        ProblemBuild build;
        begin(&build);
        add_boxes(&build, LOW, -1.0);
        SolverSettings settings = solver_default(SOLVER_MDP);
        settings.parameter[MDP_METHOD] = MDP_GAUSS_SEIDEL;
        settings.parameter[MDP_MAX_ITERATIONS] = sweeps;
        SolveResult result;
        ck_assert_int_eq(
            solver_solve(&settings, &build.problem, &(Context){0}, &build.arena, &result, NULL),
            STATUS_OK);
        ck_assert(result.certificate.converged == (sweeps > FEW));
        ck_assert(sweeps > FEW ? result.iterations > FEW : result.iterations == FEW);
        problem_build_deinit(&build);
    }
}
END_TEST

// What a balanced effort leaves of a problem whose island rests or moves as `gravity` has it, which
// is nothing else to it as long as g h is less than V.
static SolveResult solve_under(const ContactProblem *problem, double gravity, Arena *arena) {
    ContactProblem under = *problem;
    under.gravity = gravity;
    return solve(&under, EFFORT_BALANCED, false, arena);
}

// A column that falls at 1 m/s, which is more than 4 g h, or no more. What moves has its momentum
// held, which brings less news up a column than the long memory: after a hundred sweeps 5.2e-2 are
// left for 2.5e-2. Of up to 128 contacts it makes no difference, to the last bit.
START_TEST(what_is_not_small_and_moves_has_its_momentum_held) {
    enum { SMALL = 128 };
    const double rests = 0.25 / TIME_STEP, moves = 0.249 / TIME_STEP;
    for (uint32_t more = 0; more < 2; more++) {
        ProblemBuild build;
        begin(&build);
        add_column(&build, SMALL + more, 0.0);
        for (uint32_t i = 0; i < SMALL + more; i++) {
            build.v_free[6 * i + 2] = -1.0;
        }
        SolveResult resting = solve_under(&build.problem, rests, &build.arena);
        SolveResult moving = solve_under(&build.problem, moves, &build.arena);
        ck_assert_uint_eq(resting.iterations, BALANCED_SWEEPS);
        ck_assert_uint_eq(moving.iterations, BALANCED_SWEEPS);
        ck_assert(harness_is_same(&build.problem, &resting, &moving) == (more == 0));
        ck_assert(more == 0 || resting.certificate.entry[CERTIFICATE_DS] <
                                   0.6 * moving.certificate.entry[CERTIFICATE_DS]);
        problem_build_deinit(&build);
    }
}
END_TEST

// What it is for: a kicked pyramid, which moves at 9 g h, is left 6.5e-5 m/s with its momentum
// held, and 2.2e-4 with the long memory, as if it were at rest under four times the gravity. V is
// the same.
START_TEST(a_momentum_that_is_held_brings_what_is_kicked_further) {
    ProblemFile file;
    problem_file_open(&file, "hard/pyramid-55-kicked-a");
    Arena arena;
    arena_init(&arena, (size_t)1 << 28);
    const double gravity = file.problem.gravity;
    SolveResult held = solve_under(&file.problem, gravity, &arena);
    SolveResult resting = solve_under(&file.problem, 4.0 * gravity, &arena);
    ck_assert(held.certificate.scale == resting.certificate.scale);
    ck_assert_double_lt(held.certificate.entry[CERTIFICATE_DS],
                        0.5 * resting.certificate.entry[CERTIFICATE_DS]);
    arena_deinit(&arena);
    problem_file_close(&file);
}
END_TEST

// Methods that are asked for by name have no other bound than their own.
// Twelve boxes of a heap, the hardest of their fall: exact, it takes hundreds of factorisations.
// What owes nothing is solved, and owes; what owes takes a factorisation for each ten of the sweeps
// that it would have had, or those.
START_TEST(what_is_small_borrows_while_little_is_owed) {
    ProblemFile file;
    problem_file_open(&file, "atlas/heap-12-hardest");
    Arena arena;
    arena_init(&arena, (size_t)1 << 28);
    SolverSettings settings = solver_default(SOLVER_MDP);
    SolveResult result[4];
    static const uint8_t owed[4] = {0, 31, 32, 64};
    for (int i = 0; i < 4; i++) {
        settings.effort = (Effort){.kind = EFFORT_BALANCED, .owed = owed[i]};
        ck_assert_int_eq(
            solver_solve(&settings, &file.problem, &(Context){0}, &arena, &result[i], NULL),
            STATUS_OK);
    }
    ck_assert(result[0].owed > 0 && result[0].owed == result[1].owed);
    ck_assert(result[0].certificate.entry[CERTIFICATE_OWN] <=
              result[2].certificate.entry[CERTIFICATE_OWN]);
    ck_assert_uint_gt(result[0].iterations, BALANCED_SWEEPS);
    for (int i = 2; i < 4; i++) {
        ck_assert_uint_eq(result[i].owed, 0);
        ck_assert_uint_le(result[i].iterations, BALANCED_SWEEPS);
    }
    arena_deinit(&arena);
    problem_file_close(&file);
}
END_TEST

START_TEST(an_effort_is_of_method_auto_alone) {
    ProblemBuild build;
    begin(&build);
    add_column(&build, HIGH, 5.0);
    for (int method = MDP_GAUSS_SEIDEL; method <= MDP_NEWTON; method++) {
        SolverSettings settings = solver_default(SOLVER_MDP);
        settings.parameter[MDP_METHOD] = method;
        SolveResult a, b;
        ck_assert_int_eq(
            solver_solve(&settings, &build.problem, &(Context){0}, &build.arena, &a, NULL),
            STATUS_OK);
        settings.effort.kind = EFFORT_FAST;
        ck_assert_int_eq(
            solver_solve(&settings, &build.problem, &(Context){0}, &build.arena, &b, NULL),
            STATUS_OK);
        ck_assert(harness_is_same(&build.problem, &a, &b));
    }
    problem_build_deinit(&build);
}
END_TEST

static TCase *case_effort(void) {
    TCase *tcase = tcase_create("effort");
    tcase_add_test(tcase, an_island_takes_as_many_sweeps_as_its_effort_has);
    tcase_add_test(tcase, a_balanced_effort_leaves_no_more_than_a_fast_one);
    tcase_add_test(tcase, what_is_left_over_goes_to_the_worst_island);
    tcase_add_test(tcase, what_rests_may_borrow_and_is_solved);
    tcase_add_test(tcase, what_small_islands_may_not_spend_takes_nothing_from_others);
    tcase_add_test(tcase, what_is_on_the_move_is_swept_before_anything_is_aimed_at);
    tcase_add_test(tcase, what_is_not_small_is_aimed_at_once);
    tcase_add_test(tcase, few_sweeps_leave_no_room_for_an_aim_at_what_moves);
    tcase_add_test(tcase, what_is_small_borrows_while_little_is_owed);
    tcase_add_test(tcase, what_is_not_small_and_moves_has_its_momentum_held);
    tcase_add_test(tcase, a_momentum_that_is_held_brings_what_is_kicked_further);
    tcase_add_test(tcase, an_effort_is_of_method_auto_alone);
    tcase_set_timeout(tcase, 120);
    return tcase;
}

SUITE_MAIN("solve/mdp_anytime", case_effort)
