// SPDX-License-Identifier: MIT
// A world's contact problem as columns and back: solved again, it gives the impulses and the
// velocities of the world's step to the last bit. And columns that fit no problem, each refused by
// its name.
#include "wire/problem/codec.h"

#include "solve/solver.h"
#include "support/heap.h"
#include "support/problem_sent.h"
#include "support/suite.h"

#include <math.h>
#include <string.h>

static Arena arena;

static void start(void) {
    arena_init(&arena, (size_t)1 << 28);
}

static void stop(void) {
    arena_deinit(&arena);
}

// ---- there and back

// 0 is not -0.
static void expect_same(const double *a, const double *b, size_t count, const char *what) {
    for (size_t i = 0; i < count; i++) {
        ck_assert_msg(a[i] == b[i] && signbit(a[i]) == signbit(b[i]), "%s %zu: %a, not %a", what, i,
                      b[i], a[i]);
    }
}

// The last step's problem, after a way over the wire, is solved as it was.
static void solve_again(const Lab *lab) {
    const Stepper *stepper = lab->stepper;
    ArenaMark mark = arena_mark(&arena);
    Moreau__V1__ContactProblem *message = problem_sent(&stepper->problem, &arena);
    ContactProblem problem;
    SolveResult result;
    Error error = {0};
    ck_assert_msg(problem_codec_read(message, &arena, &problem, &error) == STATUS_OK, "%s: %s",
                  error.field, error.message);
    ck_assert_msg(solver_solve(&stepper->solver, &problem, &(Context){0}, &arena, &result,
                               &error) == STATUS_OK,
                  "%s", error.message);
    if (stepper->solver.kind != SOLVER_LCP) { // whose problem is that of its last pass
        ck_assert_uint_eq(result.iterations, lab->report.iterations);
    }
    ck_assert_uint_eq(problem.contact_count, stepper->contact_count);
    ck_assert_uint_eq(problem.velocity_count, stepper->problem.velocity_count);
    expect_same(stepper->impulse, result.answer.contact_impulse, 3 * (size_t)problem.contact_count,
                "impulse");
    expect_same(stepper->v, result.answer.v, problem.velocity_count, "velocity");
    expect_same(lab->report.certificate.entry, result.certificate.entry, CERTIFICATE_ENTRY_COUNT,
                "certificate entry");
    moreau__v1__contact_problem__free_unpacked(message, NULL);
    arena_reset_to(&arena, mark);
}

// Spheres, boxes and compounds on a floor beside a moving wall, some of them elastic.
static void relive_heap(int law) {
    Lab lab = heap_create(5, 40);
    lab_set(&lab, "friction", law);
    uint32_t most = 0;
    for (int step = 0; step < 240; step++) {
        lab_step(&lab, 1);
        most = lab.report.contact_count > most ? lab.report.contact_count : most;
        solve_again(&lab);
    }
    ck_assert_uint_gt(most, 60); // or they never met
    lab_destroy(&lab);
}

START_TEST(a_heap_is_solved_again_bit_for_bit) {
    relive_heap(_i);
}
END_TEST

// One kind of body alone, so that every short cut for round ones is taken, or none.
START_TEST(a_pile_of_one_kind_is_solved_again_bit_for_bit) {
    Lab lab = lab_create(9.81, 1.0 / 240.0);
    Id material = lab_material(&lab, 0.4, 0.3);
    lab_ground(&lab, material);
    Id shape = _i == 0 ? lab_shape(&lab, PRIMITIVE_SPHERE, vec3(0.1, 0.0, 0.0), material)
                       : lab_shape(&lab, PRIMITIVE_BOX, vec3(0.1, 0.08, 0.06), material);
    uint64_t seed = 3;
    for (int i = 0; i < 24; i++) {
        // a fifth overlap at first: they part at the speed of recovery
        Pose pose = {.position = vec3(lab_random(&seed, -0.2, 0.2), lab_random(&seed, -0.2, 0.2),
                                      0.1 + 0.1 * i),
                     .orientation = quat_normalize((Quat){1.0, lab_random(&seed, -1.0, 1.0),
                                                          lab_random(&seed, -1.0, 1.0), 0.0})};
        lab_body(&lab, shape, BODY_DYNAMIC, pose, NULL, 0.0, NULL);
    }
    uint32_t recovered = 0;
    for (int step = 0; step < 200; step++) {
        lab_step(&lab, 1);
        recovered += lab.report.recovery_count;
        solve_again(&lab);
    }
    ck_assert_uint_gt(recovered, 0);
    lab_destroy(&lab);
}
END_TEST

// A hinge between the last body and the next, with limits and dry friction, which are rows.
static void add_hinge(Lab *lab, uint32_t a, uint32_t b) {
    const uint32_t kind = JOINT_HINGE;
    const uint64_t ids[2] = {lab->world->body_id[a], lab->world->body_id[b]};
    const double half = sqrt(0.5), low = -0.3, high = 0.3, friction = 0.02;
    const double frame_a[7] = {0.125, 0.0, 0.0, half, half, 0.0, 0.0},
                 frame_b[7] = {-0.125, 0.0, 0.0, half, half, 0.0, 0.0};
    const JointColumns columns = {.count = 1,
                                  .axis_count = 1,
                                  .position_count = 1,
                                  .kind = &kind,
                                  .body_a = &ids[0],
                                  .body_b = &ids[1],
                                  .frame_a = frame_a,
                                  .frame_b = frame_b,
                                  .low = &low,
                                  .high = &high,
                                  .friction = &friction};
    lab_joints(lab, &columns);
}

// Chains of balls on hinges fall on each other, beside balls that are free: matrices, rows and
// bodies in one problem.
START_TEST(chains_are_solved_again_bit_for_bit) {
    Lab lab = lab_create(9.81, 1.0 / 240.0);
    const SolverSettings solver = solver_default((SolverKind)_i);
    step_set_solver(&lab.world->settings, &solver);
    Id material = lab_material(&lab, 0.4, 0.0);
    lab_ground(&lab, material);
    Id shape = lab_shape(&lab, PRIMITIVE_SPHERE, vec3(0.1, 0.0, 0.0), material);
    for (int i = 0; i < 15; i++) {
        Pose pose = {.position =
                         vec3(0.25 * (i % 5) + 0.03 * (i / 5), 0.02 * i, 0.3 + 0.25 * (i / 5)),
                     .orientation = quat_identity()};
        uint32_t body = lab_body(&lab, shape, BODY_DYNAMIC, pose, NULL, 1.0, NULL);
        if (i % 5 > 0 && i / 5 < 2) {
            add_hinge(&lab, body - 1, body);
        }
    }
    uint32_t contacts = 0, rows = 0;
    for (int step = 0; step < 150; step++) {
        lab_step(&lab, 1);
        contacts += lab.report.contact_count;
        rows += lab.stepper->problem.row_count;
        solve_again(&lab);
    }
    ck_assert_uint_gt(contacts, 300);
    ck_assert_uint_gt(rows, 300);
    lab_destroy(&lab);
}
END_TEST

// ---- what fits no problem

// A ball of 2 kg and a slider that carry one contact between them, and a row on the ball.
typedef struct Sketch {
    uint32_t width[2], block_count[1], side_tree[3];
    protobuf_c_boolean is_body[3];
    double mass[37], v_free[7], body_mass[2], inertia[7], mu[1], frame[10], arm[4], jacobian[4];
    uint32_t row_given[1], row_count[1], row_tree[1];
    double row_jacobian[6];
    Moreau__V1__ContactProblem problem;
} Sketch;

static void draw(Sketch *s) {
    *s = (Sketch){.width = {6, 1},
                  .side_tree = {1, 0},
                  .is_body = {1, 0},
                  .mass = {3.0},
                  .v_free = {0.0, 0.0, -1.0},
                  .body_mass = {2.0, 1.0},
                  .inertia = {1.0, 2.0, 2.5, 0.1, 0.0, 0.0},
                  .mu = {0.5},
                  .frame = {0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0},
                  .arm = {0.0, 0.1, -0.5},
                  .jacobian = {-1.0, 0.0, 0.0},
                  .row_count = {1},
                  .row_jacobian = {0.0, 0.0, 0.0, 0.0, 0.0, 1.0}};
    Moreau__V1__ContactProblem *p = &s->problem;
    moreau__v1__contact_problem__init(p);
    p->has_time_step = 1, p->time_step = 0.01;
    p->n_tree_width = 2, p->tree_width = s->width;
    p->n_tree_is_body = 2, p->tree_is_body = s->is_body;
    p->n_mass = 1, p->mass = s->mass;
    p->n_v_free = 7, p->v_free = s->v_free;
    p->n_body_mass = 1, p->body_mass = s->body_mass;
    p->n_body_inertia = 6, p->body_inertia = s->inertia;
    p->n_contact_mu = 1, p->contact_mu = s->mu;
    p->n_contact_block_count = 1, p->contact_block_count = s->block_count;
    p->n_contact_frame = 9, p->contact_frame = s->frame;
    p->n_side_tree = 2, p->side_tree = s->side_tree;
    p->n_side_arm = 3, p->side_arm = s->arm;
    p->n_contact_jacobian = 3, p->contact_jacobian = s->jacobian;
    p->n_row_given = 1, p->row_given = s->row_given;
    p->n_row_block_count = 1, p->row_block_count = s->row_count;
    p->n_row_block_tree = 1, p->row_block_tree = s->row_tree;
    p->n_row_jacobian = 6, p->row_jacobian = s->row_jacobian;
}

static Status read(const Sketch *sketch, ContactProblem *problem, Error *error) {
    *error = (Error){0};
    return problem_codec_read(&sketch->problem, &arena, problem, error);
}

START_TEST(a_body_beside_a_tree_is_read_as_both) {
    Sketch s;
    ContactProblem problem;
    Error error;
    draw(&s);
    ck_assert_msg(read(&s, &problem, &error) == STATUS_OK, "%s: %s", error.field, error.message);
    ck_assert(!problem.all_free && problem.tree[0].is_free && !problem.tree[1].is_free);
    ck_assert(problem.free[0].mass == 2.0 && problem.free[0].inverse_mass == 0.5);
    ck_assert(problem.free[0].inertia.xy == 0.1);
    const ContactSide *side = problem.contact[0].side;
    ck_assert(side[0].tree == 1 && problem.number[side[0].jacobian] == -1.0);
    ck_assert(side[1].tree == 0 && side[1].arm.z == -0.5);
    ck_assert(problem.contact[0].tangent[1].y == 1.0);
    // the ball falls on the slider, and both go on together at 2/5 of its speed, but for the turn
    // that the arm gives it
    SolverSettings settings = solver_solve_default(SOLVER_MDP);
    SolveResult result;
    ck_assert_int_eq(solver_solve(&settings, &problem, &(Context){0}, &arena, &result, &error),
                     STATUS_OK);
    ck_assert(result.certificate.converged);
    double u[3];
    problem_contact_velocity(&problem, 0, result.answer.v, u);
    ck_assert_double_eq_tol(u[0], 0.0, 1e-5); // the tolerance, 1e-6, of a scale of 1 m/s
    ck_assert_double_gt(result.answer.contact_impulse[0], 0.1);
}
END_TEST

START_TEST(an_answer_is_the_same_with_the_body_as_a_matrix) {
    Sketch s;
    ContactProblem as_body, as_matrix;
    Error error;
    draw(&s);
    ck_assert_int_eq(read(&s, &as_body, &error), STATUS_OK);
    static const double dense_jacobian[] = {0.0, 0.0, 1.0, 0.1,  0.0,  0.0, 1.0,
                                            0.0, 0.0, 0.0, -0.5, -0.1, 0.0, 1.0,
                                            0.0, 0.5, 0.0, 0.0,  -1.0, 0.0, 0.0};
    static const double dense_mass[] = {2.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 2.0, 0.0, 0.0,
                                        0.0, 0.0, 0.0, 0.0, 2.0, 0.0, 0.0, 0.0, 0.0, 0.0,
                                        0.0, 1.0, 0.1, 0.0, 0.0, 0.0, 0.0, 0.1, 2.0, 0.0,
                                        0.0, 0.0, 0.0, 0.0, 0.0, 2.5, 3.0};
    uint32_t block_tree[2] = {0, 1};
    Moreau__V1__ContactProblem *p = &s.problem;
    p->n_tree_is_body = p->n_body_mass = p->n_body_inertia = 0;
    p->n_contact_frame = p->n_side_tree = p->n_side_arm = 0;
    p->n_mass = 37, p->mass = (double *)dense_mass;
    s.block_count[0] = 2;
    p->n_contact_block_tree = 2, p->contact_block_tree = block_tree;
    p->n_contact_jacobian = 21, p->contact_jacobian = (double *)dense_jacobian;
    ck_assert_msg(read(&s, &as_matrix, &error) == STATUS_OK, "%s: %s", error.field, error.message);
    SolverSettings settings = solver_solve_default(SOLVER_MDP);
    ck_assert_int_eq(solver_set(&settings, "tolerance", 1e-13, &error), STATUS_OK);
    SolveResult body, matrix;
    ck_assert_int_eq(solver_solve(&settings, &as_body, &(Context){0}, &arena, &body, &error),
                     STATUS_OK);
    ck_assert_int_eq(solver_solve(&settings, &as_matrix, &(Context){0}, &arena, &matrix, &error),
                     STATUS_OK);
    for (int i = 0; i < 7; i++) { // some rounding on numbers of 1, and the tolerance
        ck_assert_double_eq_tol(body.answer.v[i], matrix.answer.v[i], 1e-11);
    }
}
END_TEST

#define MISTAKE(name, what)                                                                        \
    static void name(Sketch *s) {                                                                  \
        what;                                                                                      \
    }

MISTAKE(short_flags, s->problem.n_tree_is_body = 1)
MISTAKE(long_flags, s->problem.n_tree_is_body = 3)
MISTAKE(slim_body, s->width[0] = 5)
MISTAKE(no_body_mass, s->problem.n_body_mass = 0)
MISTAKE(spare_body_mass, s->problem.n_body_mass = 2)
MISTAKE(short_inertia, s->problem.n_body_inertia = 5)
MISTAKE(long_inertia, s->problem.n_body_inertia = 7)
MISTAKE(body_matrix, s->problem.n_mass = 37)
MISTAKE(no_mass, s->body_mass[0] = 0.0)
MISTAKE(negative_mass, s->body_mass[0] = -1.0)
MISTAKE(faint_mass, s->body_mass[0] = 1e-320)
MISTAKE(flat_inertia, s->inertia[2] = 0.0)
MISTAKE(crossed_inertia, s->inertia[3] = 1.5)
MISTAKE(needle, s->inertia[0] = s->inertia[1] = 1.0; s->inertia[3] = 1.0 - 1e-15)
MISTAKE(faint_inertia, s->inertia[0] = s->inertia[1] = s->inertia[2] = 1e-200; s->inertia[3] = 0.0)
MISTAKE(no_frame, s->problem.n_contact_frame = 0)
MISTAKE(short_frame, s->problem.n_contact_frame = 8)
MISTAKE(long_frame, s->problem.n_contact_frame = 10)
MISTAKE(stretched_frame, s->frame[2] = 1.001)
MISTAKE(skew_frame, s->frame[3] = 0.99; s->frame[5] = 0.14)
MISTAKE(left_frame, s->frame[7] = -1.0)
MISTAKE(one_side, s->problem.n_side_tree = 1)
MISTAKE(three_sides, s->problem.n_side_tree = 3)
MISTAKE(unknown_side, s->side_tree[1] = 2)
MISTAKE(ground_alone, s->side_tree[0] = s->side_tree[1] = UINT32_MAX)
MISTAKE(no_body, s->side_tree[1] = UINT32_MAX)
MISTAKE(one_body_twice, s->side_tree[0] = 0; s->problem.n_contact_jacobian = 0;
        s->problem.n_side_arm = 6; s->problem.side_arm = s->v_free)
MISTAKE(no_arm, s->problem.n_side_arm = 0)
MISTAKE(short_arm, s->problem.n_side_arm = 2)
MISTAKE(long_arm, s->problem.n_side_arm = 4)
MISTAKE(no_jacobian, s->problem.n_contact_jacobian = 0)
MISTAKE(long_jacobian, s->problem.n_contact_jacobian = 4)
MISTAKE(blocks_on_a_body, s->block_count[0] = 1; s->problem.n_contact_block_tree = 1;
        s->problem.contact_block_tree = s->side_tree + 1; s->problem.n_contact_jacobian = 18;
        s->problem.contact_jacobian = s->mass)

static const struct {
    void (*spoil)(Sketch *s);
    const char *field;
} mistakes[] = {
    {short_flags, "tree_is_body"},
    {long_flags, "tree_is_body"},
    {slim_body, "trees[0].v_free"},
    {no_body_mass, "body_mass"},
    {spare_body_mass, "body_mass"},
    {short_inertia, "body_inertia"},
    {long_inertia, "body_inertia"},
    {body_matrix, "mass"},
    {no_mass, "trees[0].body.mass"},
    {negative_mass, "trees[0].body.mass"},
    {faint_mass, "trees[0].body.mass"},
    {flat_inertia, "trees[0].body.inertia"},
    {crossed_inertia, "trees[0].body.inertia"},
    {needle, "trees[0].body.inertia"},
    {faint_inertia, "trees[0].body.inertia"},
    {no_frame, "contacts[0].blocks"},
    {short_frame, "contacts[0].blocks"},
    {long_frame, "contact_frame"},
    {stretched_frame, "contacts[0].frame"},
    {skew_frame, "contacts[0].frame"},
    {left_frame, "contacts[0].frame"},
    {one_side, "contacts[0].blocks"},
    {three_sides, "side_tree"},
    {unknown_side, "contacts[0].sides"},
    {ground_alone, "contacts[0].sides"},
    {no_body, "contacts[0].sides"},
    {one_body_twice, "contacts[0].sides[1].tree"},
    {no_arm, "contacts[0].sides"},
    {short_arm, "contacts[0].sides"},
    {long_arm, "side_arm"},
    {no_jacobian, "contacts[0].sides"},
    {long_jacobian, "contact_jacobian"},
    {blocks_on_a_body, "contacts[0].blocks"},
};

START_TEST(columns_that_fit_no_problem_are_refused_by_name) {
    Sketch s;
    ContactProblem problem;
    Error error;
    draw(&s);
    mistakes[_i].spoil(&s);
    ck_assert_int_eq(read(&s, &problem, &error), STATUS_INVALID_ARGUMENT);
    ck_assert_str_eq(error.field, mistakes[_i].field);
}
END_TEST

static TCase *case_again(void) {
    TCase *tcase = tcase_create("again");
    tcase_set_timeout(tcase, 120);
    tcase_add_checked_fixture(tcase, start, stop);
    tcase_add_loop_test(tcase, a_heap_is_solved_again_bit_for_bit, 0, 2);
    tcase_add_loop_test(tcase, a_pile_of_one_kind_is_solved_again_bit_for_bit, 0, 2);
    tcase_add_loop_test(tcase, chains_are_solved_again_bit_for_bit, 0, SOLVER_COUNT);
    return tcase;
}

static TCase *case_read(void) {
    TCase *tcase = tcase_create("read");
    tcase_set_timeout(tcase, 60);
    tcase_add_checked_fixture(tcase, start, stop);
    tcase_add_test(tcase, a_body_beside_a_tree_is_read_as_both);
    tcase_add_test(tcase, an_answer_is_the_same_with_the_body_as_a_matrix);
    tcase_add_loop_test(tcase, columns_that_fit_no_problem_are_refused_by_name, 0,
                        (int)(sizeof(mistakes) / sizeof(mistakes[0])));
    return tcase;
}

SUITE_MAIN("wire/problem_codec", case_again, case_read)
