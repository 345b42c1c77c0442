// SPDX-License-Identifier: MIT
// Every small problem of the solver harness as columns and back, whatever its trees are made of:
// solved again, it gives every number to the last bit. And columns of links that fit no problem.
#include "wire/problem/codec.h"

#include "support/harness.h"
#include "support/problem_sent.h"
#include "support/suite.h"

#include <string.h>

static Arena arena;

static void start(void) {
    arena_init(&arena, (size_t)1 << 28);
}

static void stop(void) {
    arena_deinit(&arena);
}

// ---- there and back

// The columns have no place for what moves nothing at all: a contact between two statics, a row
// without a block.
static bool is_writable(const ContactProblem *problem) {
    bool is = true;
    for (uint32_t i = 0; i < problem->contact_count; i++) {
        const ContactSide *side = problem->contact[i].side;
        is = is && (side[0].tree != PROBLEM_NO_TREE || side[1].tree != PROBLEM_NO_TREE);
    }
    for (uint32_t i = 0; i < problem->row_count; i++) {
        is = is && problem->row[i].block_count > 0;
    }
    return is;
}

static void solve_both(const char *name, SolverKind kind, const ContactProblem *problem,
                       const ContactProblem *again) {
    SolverSettings settings = solver_solve_default(kind);
    SolveResult a, b;
    Error error = {0};
    ArenaMark mark = arena_mark(&arena);
    Status status = solver_solve(&settings, problem, &(Context){0}, &arena, &a, &error);
    ck_assert_int_eq(solver_solve(&settings, again, &(Context){0}, &arena, &b, &error), status);
    ck_assert_msg(status != STATUS_OK || harness_is_same(problem, &a, &b), "%s by %s", name,
                  solver_get(kind)->name);
    arena_reset_to(&arena, mark);
}

START_TEST(a_problem_is_solved_again_bit_for_bit) {
    HarnessProblem of;
    harness_problem_open((uint32_t)_i, &of);
    if (of.size == HARNESS_SMALL && is_writable(of.problem)) {
        Moreau__V1__ContactProblem *message = problem_sent(of.problem, &arena);
        ContactProblem problem;
        Error error = {0};
        ck_assert_msg(problem_codec_read(message, &arena, &problem, &error) == STATUS_OK,
                      "%s: %s: %s", of.name, error.field, error.message);
        ck_assert_uint_eq(problem.link_count, of.problem->link_count);
        for (int kind = 0; kind < SOLVER_COUNT; kind++) {
            solve_both(of.name, (SolverKind)kind, of.problem, &problem);
        }
        moreau__v1__contact_problem__free_unpacked(message, NULL);
    }
    harness_problem_close(&of);
}
END_TEST

// ---- what fits no problem

// A hinge that carries a weightless slider that carries a body.
typedef struct Sketch {
    uint32_t width[1], count[2], parent[4], velocities[4];
    protobuf_c_boolean is_body[1];
    double v_free[6], mass[4], inertia[24], center[12], motion[36], added[7];
    Moreau__V1__ContactProblem problem;
} Sketch;

static void draw(Sketch *s) {
    *s = (Sketch){.width = {2},
                  .count = {3},
                  .parent = {UINT32_MAX, 0, 1},
                  .velocities = {1, 1, 0},
                  .mass = {1.0, 0.0, 2.0},
                  .inertia = {1.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 2.0,
                              2.5, 0.1, 0.0, 0.0},
                  .center = {0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 1.0, 0.0, 0.5},
                  .motion = {0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0}};
    Moreau__V1__ContactProblem *p = &s->problem;
    moreau__v1__contact_problem__init(p);
    p->has_time_step = 1, p->time_step = 0.01;
    p->n_tree_width = 1, p->tree_width = s->width;
    p->n_tree_link_count = 1, p->tree_link_count = s->count;
    p->n_v_free = 2, p->v_free = s->v_free;
    p->n_link_parent = 3, p->link_parent = s->parent;
    p->n_link_velocities = 3, p->link_velocities = s->velocities;
    p->n_link_mass = 3, p->link_mass = s->mass;
    p->n_link_inertia = 18, p->link_inertia = s->inertia;
    p->n_link_center = 9, p->link_center = s->center;
    p->n_link_motion = 12, p->link_motion = s->motion;
}

static Status read(const Sketch *sketch, ContactProblem *problem, Error *error) {
    *error = (Error){0};
    return problem_codec_read(&sketch->problem, &arena, problem, error);
}

START_TEST(links_without_added_blocks_have_zeros) {
    Sketch s;
    ContactProblem problem;
    Error error;
    draw(&s);
    ck_assert_msg(read(&s, &problem, &error) == STATUS_OK, "%s: %s", error.field, error.message);
    ck_assert_uint_eq(problem.link_count, 3);
    ck_assert_uint_eq(problem.tree[0].link_count, 3);
    ck_assert_uint_eq(problem.link[0].parent, PROBLEM_NO_LINK);
    ck_assert_uint_eq(problem.link[1].first, 1);
    ck_assert_uint_eq(problem.link[2].count, 0);
    ck_assert(problem.number[problem.link[1].motion] == 1.0);
    ck_assert(problem.number[problem.link[1].added] == 0.0);
    s.problem.n_link_added = 2, s.problem.link_added = s.added;
    s.added[1] = 0.25;
    ck_assert_int_eq(read(&s, &problem, &error), STATUS_OK);
    ck_assert(problem.number[problem.link[1].added] == 0.25);
}
END_TEST

#define MISTAKE(name, what)                                                                        \
    static void name(Sketch *s) {                                                                  \
        what;                                                                                      \
    }

MISTAKE(two_counts, s->problem.n_tree_link_count = 2)
MISTAKE(body_with_links, s->problem.n_tree_is_body = 1; s->is_body[0] = 1;
        s->problem.tree_is_body = s->is_body; s->width[0] = 6)
MISTAKE(many_links, s->count[0] = 4)
MISTAKE(few_links, s->count[0] = 2)
MISTAKE(huge_count, s->count[0] = UINT32_MAX)
MISTAKE(no_velocities, s->problem.n_link_velocities = 2)
MISTAKE(seven_velocities, s->velocities[1] = 7)
MISTAKE(no_mass, s->problem.n_link_mass = 2)
MISTAKE(no_inertia, s->problem.n_link_inertia = 17)
MISTAKE(no_center, s->problem.n_link_center = 10)
MISTAKE(no_motion, s->problem.n_link_motion = 11)
MISTAKE(much_added, s->problem.n_link_added = 3; s->problem.link_added = s->added)
MISTAKE(wide, s->width[0] = 3; s->problem.n_v_free = 3)
MISTAKE(later_parent, s->parent[1] = 2)
MISTAKE(own_parent, s->parent[0] = 0)
MISTAKE(negative_mass, s->mass[2] = -1.0)
MISTAKE(nothing_moves, s->motion[6] = 0.0)
MISTAKE(motion_without_end, s->motion[6] = HUGE_VAL)

static const struct {
    void (*spoil)(Sketch *s);
    const char *field;
} mistakes[] = {
    {two_counts, "tree_link_count"},
    {body_with_links, "trees[0].links"},
    {many_links, "trees[0].links"},
    {few_links, "link_parent"},
    {huge_count, "trees[0].links"},
    {no_velocities, "link_velocities"},
    {seven_velocities, "link_velocities[1]"},
    {no_mass, "link_mass"},
    {no_inertia, "link_inertia"},
    {no_center, "link_center"},
    {no_motion, "link_motion"},
    {much_added, "link_added"},
    {wide, "trees[0].v_free"},
    {later_parent, "trees[0].links[1].parent"},
    {own_parent, "trees[0].links[0].parent"},
    {negative_mass, "trees[0].links[2].mass"},
    {nothing_moves, "trees[0].links"},
    {motion_without_end, "trees[0].links[1].motion"},
};
enum { MISTAKES = sizeof(mistakes) / sizeof(mistakes[0]) };

START_TEST(columns_of_links_that_fit_no_problem_are_named) {
    Sketch s;
    ContactProblem problem;
    Error error;
    draw(&s);
    mistakes[_i].spoil(&s);
    ck_assert_int_eq(read(&s, &problem, &error), STATUS_INVALID_ARGUMENT);
    ck_assert_str_eq(error.field, mistakes[_i].field);
}
END_TEST

static TCase *case_columns(void) {
    TCase *tcase = tcase_create("columns");
    tcase_add_checked_fixture(tcase, start, stop);
    tcase_add_loop_test(tcase, a_problem_is_solved_again_bit_for_bit, 0,
                        (int)harness_problem_count());
    tcase_add_test(tcase, links_without_added_blocks_have_zeros);
    tcase_add_loop_test(tcase, columns_of_links_that_fit_no_problem_are_named, 0, MISTAKES);
    return tcase;
}

SUITE_MAIN("wire/problem_columns", case_columns)
