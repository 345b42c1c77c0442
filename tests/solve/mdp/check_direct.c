// SPDX-License-Identifier: MIT
#include "solve/mdp/direct.h"

#include "solve/mdp/mdp.h"
#include "solve/mdp/momentum.h"
#include "solve/solver.h"
#include "support/problem_build.h"
#include "support/suite.h"

#include <string.h>

#define FALL 0.0981 // g h [m/s]
#define HALF 0.1    // of a box's side [m]

static const Sym3 box_inertia = {0.02, 0.02, 0.02, 0.0, 0.0, 0.0};

// A box of 1 kg that falls, on four corners on `below`; `lift` goes to the bias of its first
// corner.
static uint32_t add_box(ProblemBuild *build, uint32_t below, double v_x, double lift) {
    const double v_free[6] = {v_x, 0.0, -FALL, 0.0, 0.0, 0.0};
    uint32_t box = problem_build_free(build, 1.0, box_inertia, v_free);
    for (int corner = 0; corner < 4; corner++) {
        double x = corner % 2 == 0 ? -HALF : HALF, y = corner / 2 == 0 ? -HALF : HALF;
        double bias = corner == 0 ? lift : 0.0;
        ProblemContact *contact = problem_build_contact(build, vec3(0.0, 0.0, 1.0), 0.5, bias);
        problem_build_side(contact, 0, below, vec3(x, y, HALF));
        problem_build_side(contact, 1, box, vec3(x, y, -HALF));
    }
    return box;
}

static void add_tower(ProblemBuild *build, uint32_t count) {
    uint32_t below = PROBLEM_NO_TREE;
    for (uint32_t i = 0; i < count; i++) {
        below = add_box(build, below, 0.0, 0.0);
    }
}

static SolveResult solve(const ContactProblem *problem, MdpFriction friction, Arena *arena) {
    SolverSettings settings = solver_default(SOLVER_MDP);
    settings.parameter[MDP_METHOD] = MDP_GAUSS_SEIDEL;
    settings.parameter[MDP_FRICTION] = friction;
    SolveResult result;
    ck_assert_int_eq(solver_solve(&settings, problem, &(Context){0}, arena, &result, NULL),
                     STATUS_OK);
    return result;
}

START_TEST(a_tower_comes_to_rest_in_one_step) {
    ProblemBuild build;
    problem_build_init(&build);
    add_tower(&build, 10);
    SolveResult result = solve(&build.problem, (MdpFriction)_i, &build.arena);
    // what an aim leaves is squared by the next; sweeps alone end at 200 with 1e-4
    ck_assert(result.certificate.converged);
    ck_assert_double_le(result.certificate.entry[CERTIFICATE_OWN], 1e-8);
    ck_assert_uint_lt(result.iterations, 100);

    // and the next step starts where this one ended
    build.problem.warm_contact = result.answer.contact_impulse;
    SolveResult next = solve(&build.problem, (MdpFriction)_i, &build.arena);
    ck_assert_uint_eq(next.iterations, 1);
    problem_build_deinit(&build);
}
END_TEST

START_TEST(towers_of_one_world_are_solved_each_for_itself) {
    // bodies of three towers in turns, so that no island has its trees or contacts in a row
    ProblemBuild build, alone;
    problem_build_init(&build);
    problem_build_init(&alone);
    uint32_t below[3] = {PROBLEM_NO_TREE, PROBLEM_NO_TREE, PROBLEM_NO_TREE};
    for (int level = 0; level < 6; level++) {
        for (int tower = 0; tower < 3; tower++) {
            below[tower] = add_box(&build, below[tower], 0.0, 0.0);
        }
    }
    add_tower(&alone, 6);
    SolveResult result = solve(&build.problem, MDP_MAXIMUM_DISSIPATION, &build.arena);
    SolveResult single = solve(&alone.problem, MDP_MAXIMUM_DISSIPATION, &alone.arena);
    ck_assert(result.certificate.converged);
    ck_assert_uint_eq(result.iterations, single.iterations);
    for (uint32_t i = 0; i < 18; i++) {
        const double *of = single.answer.v + 6 * (size_t)(i / 3);
        ck_assert_mem_eq(result.answer.v + 6 * (size_t)i, of, 6 * sizeof(double));
    }
    problem_build_deinit(&build);
    problem_build_deinit(&alone);
}
END_TEST

// ---- one aim

typedef struct Aimed {
    ProblemBuild build;
    Context context;
    SolveResult result;
    Error error;
    Judge judge;
    MdpPack pack;
} Aimed;

static void sweep(Aimed *aimed) {
    ck_assert_int_eq(mdp_sweep(&aimed->judge, &aimed->pack, aimed->pack.group, false), STATUS_OK);
}

// From what has been built to a pack after its first sweep.
static void aimed_sweep(Aimed *aimed) {
    const ContactProblem *problem = &aimed->build.problem;
    Judge *judge = &aimed->judge;
    aimed->context = (Context){0};
    ck_assert_int_eq(judge_begin(judge, problem, RELATION_DISSIPATION, 1e-6, false, &aimed->context,
                                 &aimed->build.arena, &aimed->result, &aimed->error),
                     STATUS_OK);
    ck_assert_int_eq(mdp_pack_begin(judge, false, &aimed->pack), STATUS_OK);
    ck_assert_int_eq(judge_survey(judge, mdp_pack_survey, &aimed->pack), STATUS_OK);
    ck_assert_int_eq(mdp_pack_end(judge, &aimed->pack), STATUS_OK);
    ck_assert_uint_eq(aimed->pack.group_count, 1);
    mdp_pack_load(&aimed->pack, problem->v_free, 0, problem->tree_count);
    mdp_momentum_stay(&aimed->pack, 0, problem->tree_count);
    for (uint32_t i = 0; i < judge->islands.count; i++) {
        mdp_momentum_begin(&aimed->pack, i);
    }
    sweep(aimed);
    ck_assert_int_eq(mdp_direct_begin(judge, &aimed->pack), STATUS_OK);
}

// and the plan of its aims
static void aimed_begin(Aimed *aimed) {
    aimed_sweep(aimed);
    ck_assert_int_eq(mdp_direct_plan(&aimed->judge, &aimed->pack, 0, 1), STATUS_OK);
}

static bool aim(Aimed *aimed) {
    double took;
    return mdp_direct_aim(&aimed->pack, aimed->pack.group, 0, &took);
}

// where an aim points: as far again as the way from what was before
static double aimed_velocity(const Aimed *aimed, uint32_t tree, int k) {
    return 2.0 * aimed->pack.body[tree].v[k] - aimed->pack.v_before[6 * (size_t)tree + (size_t)k];
}

START_TEST(an_aim_stops_what_is_held) {
    Aimed aimed;
    problem_build_init(&aimed.build);
    add_tower(&aimed.build, 3);
    aimed_begin(&aimed);
    ck_assert(aim(&aimed));
    for (uint32_t tree = 0; tree < 3; tree++) {
        for (int k = 0; k < 6; k++) {
            // of velocities up to FALL the compliance leaves 1e-8, and up to the tower's condition,
            // some hundred, of it
            ck_assert_double_eq_tol(aimed_velocity(&aimed, tree, k), 0.0, 1e-7);
        }
    }
    problem_build_deinit(&aimed.build);
}
END_TEST

// The normal impulse of a contact, and where the aim brings it.
static double normal_impulse(const Aimed *aimed, uint32_t contact, double *at) {
    uint32_t slot = aimed->pack.slot[contact], place = slot % MDP_QUAD;
    const MdpPointQuad *quad = &aimed->pack.points.quad[slot / MDP_QUAD];
    *at = 2.0 * quad->impulse[0].at[place] - quad->before[0].at[place];
    return quad->impulse[0].at[place];
}

START_TEST(of_four_corners_the_one_that_would_pull_lets_go) {
    // the first corner may come 0.01 m/s nearer, and the weight stands between the other three
    Aimed aimed;
    problem_build_init(&aimed.build);
    uint32_t box = add_box(&aimed.build, PROBLEM_NO_TREE, 0.0, 0.01);
    for (int corner = 0; corner < 4; corner++) {
        Vec3 *arm = &aimed.build.contact[corner].side[1].arm;
        *arm = vec3_add(*arm, vec3(-0.02, -0.02, 0.0));
        aimed.build.contact[corner].mu = 2.0; // whatever the first sweeps leave, nothing slides
    }
    aimed_begin(&aimed);
    sweep(&aimed);
    double at;
    ck_assert_double_gt(normal_impulse(&aimed, 0, &at), 0.0);
    ck_assert(aim(&aimed));
    for (int k = 0; k < 6; k++) {
        ck_assert_double_eq_tol(aimed_velocity(&aimed, box, k), 0.0, 1e-7);
    }
    (void)normal_impulse(&aimed, 0, &at);
    ck_assert_double_eq_tol(at, 0.0, 1e-7);
    problem_build_deinit(&aimed.build);
}
END_TEST

START_TEST(an_aim_keeps_velocities_and_impulses_together) {
    Aimed aimed;
    problem_build_init(&aimed.build);
    add_tower(&aimed.build, 3);
    aimed_begin(&aimed);
    ck_assert(aim(&aimed));
    // M (v - v*) of the whole tower is what the ground gave: all that falls stops there
    double momentum = 0.0, impulse = 0.0;
    for (uint32_t tree = 0; tree < 3; tree++) {
        momentum += aimed_velocity(&aimed, tree, 2) + FALL;
    }
    for (uint32_t i = 0; i < 4; i++) {
        double at;
        (void)normal_impulse(&aimed, i, &at);
        impulse += at;
    }
    // rounding of sums of some 0.3 N s; what the linear system gives is 1e-9 away
    ck_assert_double_eq_tol(momentum, impulse, 1e-15);
    problem_build_deinit(&aimed.build);
}
END_TEST

// ---- what is not for it

START_TEST(what_only_the_sweeps_let_slide_is_held) {
    // as after sweeps that have not heard of the weight above yet: every contact is on its cone
    Aimed aimed;
    problem_build_init(&aimed.build);
    add_tower(&aimed.build, 3);
    aimed_begin(&aimed);
    for (uint32_t i = 0; i < 12; i++) {
        uint32_t slot = aimed.pack.slot[i], place = slot % MDP_QUAD;
        MdpPointQuad *quad = &aimed.pack.points.quad[slot / MDP_QUAD];
        quad->impulse[1].at[place] = 0.5 * quad->impulse[0].at[place]; // on its cone
    }
    ck_assert(aim(&aimed));
    problem_build_deinit(&aimed.build);
}
END_TEST

START_TEST(nothing_is_aimed_at_while_something_slips) {
    Aimed aimed;
    problem_build_init(&aimed.build);
    (void)add_box(&aimed.build, PROBLEM_NO_TREE, 2.0, 0.0);
    aimed_begin(&aimed);
    MdpPointQuad before[4]; // one unit stands in one place
    memcpy(before, aimed.pack.points.quad, sizeof(before));
    // the box sticks, slips, and leans on other corners: four systems, of 324 multiplications a
    // contact and the factor of one block of six, beside 65 a contact that a sweep is
    double took, hurried;
    ck_assert(!mdp_direct_aim(&aimed.pack, aimed.pack.group, 0, &took));
    ck_assert_mem_eq(before, aimed.pack.points.quad, sizeof(before));
    ck_assert_double_gt(took, 4.0 * 324.0 / 65.0);
    ck_assert_double_lt(took, 4.0 * (324.0 + 216.0 / 4.0) / 65.0);
    // what is on the move is not asked again when it has slipped once
    aimed.pack.island[0].wait_first = 1;
    ck_assert(!mdp_direct_aim(&aimed.pack, aimed.pack.group, 0, &hurried));
    ck_assert_mem_eq(before, aimed.pack.points.quad, sizeof(before));
    ck_assert_double_le(hurried, 0.75 * took);
    problem_build_deinit(&aimed.build);
}
END_TEST

START_TEST(large_islands_are_left_to_the_sweeps) {
    // of 64 bodies, and of one more
    for (uint32_t more = 0; more < 2; more++) {
        Aimed aimed;
        problem_build_init(&aimed.build);
        add_tower(&aimed.build, 64 + more);
        aimed_begin(&aimed);
        ck_assert((aimed.pack.direct->system[0] != NULL) == (more == 0));
        ck_assert((aimed.pack.group->aim != NULL) == (more == 0));
        ck_assert(more == 0 || !aim(&aimed));
        problem_build_deinit(&aimed.build);
    }
}
END_TEST

START_TEST(dear_islands_are_left_to_the_sweeps_and_nobody_hears_of_it) {
    // every box touches every other at one point: all of the matrix fills
    enum { BOXES = 12 };
    Aimed aimed;
    problem_build_init(&aimed.build);
    for (uint32_t i = 0; i < BOXES; i++) {
        (void)add_box(&aimed.build, PROBLEM_NO_TREE, 0.0, 0.0);
        for (uint32_t k = 0; k < i; k++) {
            ProblemContact *contact =
                problem_build_contact(&aimed.build, vec3(1.0, 0.0, 0.0), 0.5, 0.0);
            problem_build_side(contact, 0, k, vec3(HALF, 0.0, 0.0));
            problem_build_side(contact, 1, i, vec3(-HALF, 0.0, 0.0));
        }
    }
    aimed.error = (Error){.status = STATUS_OK};
    aimed_begin(&aimed);
    ck_assert_ptr_null(aimed.pack.direct->system[0]);
    ck_assert(!aim(&aimed));
    ck_assert_int_eq(aimed.error.status, STATUS_OK);
    problem_build_deinit(&aimed.build);
}
END_TEST

START_TEST(islands_at_their_end_are_left_alone) {
    Aimed aimed;
    problem_build_init(&aimed.build);
    add_tower(&aimed.build, 3);
    aimed_sweep(&aimed);
    aimed.pack.sum[0].is_done = true;
    ck_assert_int_eq(mdp_direct_plan(&aimed.judge, &aimed.pack, 0, 1), STATUS_OK);
    ck_assert_ptr_null(aimed.pack.group->aim);
    problem_build_deinit(&aimed.build);
}
END_TEST

START_TEST(islands_with_dense_trees_or_rows_are_left_to_the_sweeps) {
    // the other tower is none of theirs
    Aimed aimed;
    problem_build_init(&aimed.build);
    add_tower(&aimed.build, 2);
    add_tower(&aimed.build, 2);
    if (_i == 0) {
        const double jacobian[6] = {1.0, 0.0, 0.0, 0.0, 0.0, 0.0};
        (void)problem_build_row(&aimed.build, -1.0, 1.0, 0.0);
        problem_build_block(&aimed.build, 0, jacobian);
    } else {
        const double mass = 1.0, v_free = 0.0, jacobian[3] = {1.0, 0.0, 0.0};
        uint32_t tree = problem_build_dense(&aimed.build, 1, &mass, &v_free);
        ProblemContact *contact =
            problem_build_contact(&aimed.build, vec3(0.0, 0.0, 1.0), 0.5, 0.0);
        problem_build_side(contact, 0, 1, vec3(0.0, 0.0, HALF));
        problem_build_dense_side(&aimed.build, contact, 1, tree, jacobian);
    }
    aimed_begin(&aimed);
    ck_assert_ptr_null(aimed.pack.direct->system[0]);
    ck_assert_ptr_nonnull(aimed.pack.direct->system[1]);
    ck_assert(!aim(&aimed));
    problem_build_deinit(&aimed.build);
}
END_TEST

START_TEST(an_arena_that_ends_is_said) {
    // every size up to enough: the plan is the last thing that a solve takes before its certificate
    ProblemBuild build;
    problem_build_init(&build);
    add_tower(&build, 10);
    SolverSettings settings = solver_default(SOLVER_MDP);
    settings.parameter[MDP_METHOD] = MDP_GAUSS_SEIDEL;
    Status status = STATUS_RESOURCE_EXHAUSTED;
    uint32_t refusals = 0;
    for (size_t bytes = 4096; status != STATUS_OK; bytes += 4096) {
        Arena arena;
        Error error;
        SolveResult result;
        arena_init(&arena, bytes);
        status = solver_solve(&settings, &build.problem, &(Context){0}, &arena, &result, &error);
        ck_assert(status == STATUS_OK || status == STATUS_RESOURCE_EXHAUSTED);
        refusals += status == STATUS_OK ? 0 : 1;
        arena_deinit(&arena);
    }
    ck_assert_uint_gt(refusals, 8);
    problem_build_deinit(&build);
}
END_TEST

static TCase *case_solve(void) {
    TCase *tcase = tcase_create("solve");
    tcase_add_loop_test(tcase, a_tower_comes_to_rest_in_one_step, 0, 2);
    tcase_add_test(tcase, towers_of_one_world_are_solved_each_for_itself);
    return tcase;
}

static TCase *case_aim(void) {
    TCase *tcase = tcase_create("aim");
    tcase_add_test(tcase, an_aim_stops_what_is_held);
    tcase_add_test(tcase, of_four_corners_the_one_that_would_pull_lets_go);
    tcase_add_test(tcase, what_only_the_sweeps_let_slide_is_held);
    tcase_add_test(tcase, an_aim_keeps_velocities_and_impulses_together);
    return tcase;
}

static TCase *case_limits(void) {
    TCase *tcase = tcase_create("limits");
    tcase_add_test(tcase, nothing_is_aimed_at_while_something_slips);
    tcase_add_test(tcase, large_islands_are_left_to_the_sweeps);
    tcase_add_test(tcase, dear_islands_are_left_to_the_sweeps_and_nobody_hears_of_it);
    tcase_add_test(tcase, islands_at_their_end_are_left_alone);
    tcase_add_loop_test(tcase, islands_with_dense_trees_or_rows_are_left_to_the_sweeps, 0, 2);
    tcase_add_test(tcase, an_arena_that_ends_is_said);
    return tcase;
}

SUITE_MAIN("solve/mdp_direct", case_solve, case_aim, case_limits)
