// SPDX-License-Identifier: MIT
#include "solve/judge.h"

#include "support/crew.h"
#include "support/problem_build.h"
#include "support/suite.h"

#include <string.h>

#define FALL 0.0981 // g h [m/s]

static const Sym3 ball_inertia = {0.004, 0.004, 0.004, 0.0, 0.0, 0.0};
static const Context alone = {0};

// balls of 1 kg that fall onto the ground, each an island of its own
static void add_balls(ProblemBuild *build, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        const double v_free[6] = {0.0, 0.0, -FALL, 0.0, 0.0, 0.0};
        uint32_t ball = problem_build_free(build, 1.0, ball_inertia, v_free);
        ProblemContact *contact = problem_build_contact(build, vec3(0.0, 0.0, 1.0), 0.4, 0.0);
        problem_build_side(contact, 1, ball, vec3(0.0, 0.0, -0.1));
    }
}

typedef struct Court {
    ProblemBuild build;
    SolveResult result;
    Error error;
    Judge judge;
} Court;

static void court_begin(Court *court, const Context *context) {
    Judge *judge = &court->judge;
    ck_assert_int_eq(judge_begin(judge, &court->build.problem, RELATION_CONE, 1e-6, true, context,
                                 &court->build.arena, &court->result, &court->error),
                     STATUS_OK);
    ck_assert_int_eq(judge_survey(judge, NULL, NULL), STATUS_OK);
}

// a normal impulse, which lets the ball sink, or lifts it, by what it is away from FALL
static void push(Court *court, uint32_t ball, double impulse) {
    court->result.answer.contact_impulse[3 * ball] = impulse;
}

static double own_residual(const Court *court, uint32_t island) {
    return certificate_measure_own(&court->judge.measure[island],
                                   court->judge.scale.v_scale[island]);
}

START_TEST(an_answer_is_judged_by_what_its_impulses_do) {
    Court court;
    problem_build_init(&court.build);
    add_balls(&court.build, 3);
    court_begin(&court, &alone);
    push(&court, 0, FALL);
    push(&court, 1, 0.5 * FALL);
    judge_islands(&court.judge, 0, 0, 3);
    ck_assert(court.judge.island[0].is_met);
    ck_assert(!court.judge.island[1].is_met);
    ck_assert_double_eq_tol(own_residual(&court, 1), 0.5, 1e-12);
    ck_assert_double_eq_tol(own_residual(&court, 2), 1.0, 1e-12);
    court.judge.island[0].reason = END_STALLED; // of what is met it says nothing
    court.judge.island[2].reason = END_BUDGET;
    ck_assert_int_eq(judge_end(&court.judge), STATUS_OK);
    const Certificate *certificate = &court.result.certificate;
    ck_assert(!certificate->converged);
    ck_assert_uint_eq(certificate->islands, 3);
    ck_assert_uint_eq(certificate->islands_open, 2);
    ck_assert_int_eq(certificate->worst_tree, 2);
    ck_assert_int_eq(certificate->worst_contact, 2);
    ck_assert_int_eq(certificate->worst_open.tree, 2);
    ck_assert_int_eq(certificate->worst_open.contact, 2);
    ck_assert_uint_eq(certificate->worst_open.contacts, 1);
    ck_assert_double_eq_tol(certificate->worst_open.residual, 1.0, 1e-12);
    ck_assert_int_eq(certificate->worst_open.reason, END_BUDGET);
    ck_assert_double_eq_tol(court.result.answer.v[6 * 1 + 2], -0.5 * FALL, 1e-15);
    problem_build_deinit(&court.build);
}
END_TEST

START_TEST(the_best_that_was_judged_is_the_answer) {
    // what two balls are pushed with, one time after the other; of the second, the last is the best
    static const double times[3][2] = {{0.7, 0.2}, {0.9, 0.5}, {0.4, 0.8}};
    Court court;
    problem_build_init(&court.build);
    add_balls(&court.build, 2);
    court_begin(&court, &alone);
    for (int i = 0; i < 3; i++) {
        push(&court, 0, times[i][0] * FALL);
        push(&court, 1, times[i][1] * FALL);
        judge_islands(&court.judge, 0, 0, 2);
        if (i < 2) {
            judge_go_on(&court.judge, 0);
            judge_go_on(&court.judge, 1);
        }
    }
    ck_assert_int_eq(judge_end(&court.judge), STATUS_OK);
    ck_assert_double_eq(court.result.answer.contact_impulse[0], 0.9 * FALL);
    ck_assert_double_eq(court.result.answer.contact_impulse[3], 0.8 * FALL);
    // velocities and certificate are those of the best
    ck_assert_double_eq_tol(court.result.answer.v[2], -0.1 * FALL, 1e-15);
    ck_assert_double_eq_tol(court.result.certificate.entry[CERTIFICATE_OWN], 0.2, 1e-12);
    problem_build_deinit(&court.build);
}
END_TEST

START_TEST(an_answer_that_is_no_number_is_never_the_best) {
    Court court;
    problem_build_init(&court.build);
    add_balls(&court.build, 2);
    court_begin(&court, &alone);
    for (int i = 0; i < 3; i++) {
        push(&court, 0, i == 1 ? 0.3 * FALL : NAN);
        push(&court, 1, NAN);
        judge_islands(&court.judge, 0, 0, 2);
        if (i < 2) {
            judge_go_on(&court.judge, 0);
            judge_go_on(&court.judge, 1);
        }
    }
    // the second has nothing better than its start
    judge_start_again(&court.judge, 1);
    judge_islands(&court.judge, 0, 1, 2);
    ck_assert_int_eq(judge_end(&court.judge), STATUS_OK);
    ck_assert_double_eq(court.result.answer.contact_impulse[0], 0.3 * FALL);
    ck_assert_double_eq(court.result.answer.contact_impulse[3], 0.0);
    ck_assert_double_eq_tol(court.result.certificate.entry[CERTIFICATE_OWN], 1.0, 1e-12);
    problem_build_deinit(&court.build);
}
END_TEST

START_TEST(it_starts_with_what_it_is_told_to) {
    const double warm[6] = {1.0, 2.0, 3.0, 4.0, 5.0, 6.0};
    Court court;
    problem_build_init(&court.build);
    add_balls(&court.build, 2);
    court.build.problem.warm_contact = warm;
    court_begin(&court, &alone);
    ck_assert_mem_eq(court.result.answer.contact_impulse, warm, sizeof(warm));
    push(&court, 1, NAN);
    judge_islands(&court.judge, 0, 0, 2);
    judge_start_again(&court.judge, 1);
    ck_assert_mem_eq(court.result.answer.contact_impulse, warm, sizeof(warm));
    problem_build_deinit(&court.build);
}
END_TEST

// ---- large islands

// A row of balls, each touching the next and the one after it, with impulses of all sizes.
static void add_large(ProblemBuild *build) {
    uint64_t state = 5;
    uint32_t count = PROBLEM_BUILD_TREES;
    for (uint32_t i = 0; i < count; i++) {
        double v_free[6];
        for (int k = 0; k < 6; k++) {
            v_free[k] = problem_build_random(&state);
        }
        problem_build_free(build, 1.0, ball_inertia, v_free);
    }
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t next = 1; next <= 4; next++) {
            Vec3 normal = vec3(0.6, 0.8, 0.0);
            ProblemContact *contact = problem_build_contact(build, normal, 0.4, 0.0);
            uint32_t b = (i + next) % count;
            problem_build_side(contact, 0, i, vec3_scale(0.1, normal));
            problem_build_side(contact, 1, b, vec3_scale(-0.1, normal));
        }
    }
}

static void push_large(Court *court) {
    uint64_t state = 9;
    for (uint32_t i = 0; i < 3 * court->build.problem.contact_count; i++) {
        court->result.answer.contact_impulse[i] = problem_build_random(&state);
    }
}

START_TEST(a_large_island_is_judged_alike_by_any_number_of_lanes) {
    static Court one, several;
    problem_build_init(&one.build);
    problem_build_init(&several.build);
    add_large(&one.build);
    add_large(&several.build);
    Crew *crew = crew_create(2 + (uint32_t)_i, 3);
    const Context context = {.tasks = crew_tasks(crew)};
    court_begin(&one, &alone);
    court_begin(&several, &context);
    ck_assert(one.judge.islands.share[0].is_piece);
    ck_assert_uint_gt(judge_pieces(&one.judge, 0), 4);
    push_large(&one);
    push_large(&several);
    ck_assert_int_eq(judge_large(&one.judge, 0), STATUS_OK);
    ck_assert_int_eq(judge_large(&several.judge, 0), STATUS_OK);
    ck_assert_mem_eq(one.judge.measure, several.judge.measure, sizeof(IslandMeasure));
    ck_assert_mem_eq(one.result.answer.v, several.result.answer.v,
                     one.build.problem.velocity_count * sizeof(double));
    ck_assert_double_gt(own_residual(&one, 0), 0.1);
    crew_destroy(crew);
    problem_build_deinit(&one.build);
    problem_build_deinit(&several.build);
}
END_TEST

START_TEST(pieces_come_to_what_the_whole_does) {
    static Court court;
    problem_build_init(&court.build);
    add_large(&court.build);
    court_begin(&court, &alone);
    push_large(&court);
    ck_assert_int_eq(judge_large(&court.judge, 0), STATUS_OK);
    IslandMeasure pieces = court.judge.measure[0];
    judge_islands(&court.judge, 0, 0, 1);
    const IslandMeasure *whole = &court.judge.measure[0];
    ck_assert_mem_eq(pieces.velocity, whole->velocity, sizeof(pieces.velocity));
    ck_assert_int_eq(pieces.worst_contact, whole->worst_contact);
    // a thousand summands in another order
    ck_assert_double_eq_tol(pieces.change_square, whole->change_square,
                            1e-13 * whole->change_square);
    ck_assert_double_eq_tol(pieces.free_square, whole->free_square, 1e-13 * whole->free_square);
    problem_build_deinit(&court.build);
}
END_TEST

// ---- stop

typedef struct Patience {
    uint32_t questions, most;
} Patience;

static bool has_lost_patience(void *context) {
    Patience *patience = context;
    return ++patience->questions > patience->most;
}

START_TEST(a_question_is_asked_once_in_a_million_operations) {
    Court court;
    Patience patience = {.most = 3};
    const Stop stop = {.asked = has_lost_patience, .context = &patience};
    const Context context = {.stop = &stop};
    problem_build_init(&court.build);
    add_balls(&court.build, 1);
    court_begin(&court, &context);
    ck_assert_uint_eq(patience.questions, 0); // a small problem does not ask
    int calls = 0;
    while (judge_ask(&court.judge, 1e5) == STATUS_OK) {
        calls++;
    }
    ck_assert_uint_eq(patience.questions, 4);
    ck_assert(calls >= 29 && calls <= 40);
    problem_build_deinit(&court.build);
}
END_TEST

static TCase *case_judge(void) {
    TCase *tcase = tcase_create("judge");
    tcase_add_test(tcase, an_answer_is_judged_by_what_its_impulses_do);
    tcase_add_test(tcase, the_best_that_was_judged_is_the_answer);
    tcase_add_test(tcase, an_answer_that_is_no_number_is_never_the_best);
    tcase_add_test(tcase, it_starts_with_what_it_is_told_to);
    tcase_add_test(tcase, a_question_is_asked_once_in_a_million_operations);
    return tcase;
}

static TCase *case_large(void) {
    TCase *tcase = tcase_create("large");
    tcase_add_loop_test(tcase, a_large_island_is_judged_alike_by_any_number_of_lanes, 0, 3);
    tcase_add_test(tcase, pieces_come_to_what_the_whole_does);
    return tcase;
}

SUITE_MAIN("solve/judge", case_judge, case_large)
