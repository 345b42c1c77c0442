// SPDX-License-Identifier: MIT
#include "solve/problem.h"

#include "support/problem_build.h"
#include "support/problem_file.h"
#include "support/suite.h"

#include <string.h>

START_TEST(bias_asks_for_a_share_of_the_overlap_and_all_of_the_gap) {
    ck_assert_double_eq_tol(problem_contact_bias(0.01, -0.001, 0.2, 0.0, -1.0), -0.02, 1e-16);
    ck_assert_double_eq_tol(problem_contact_bias(0.01, 0.001, 0.2, 0.0, -1.0), 0.1, 1e-16);
}
END_TEST

START_TEST(bias_bounces_only_when_the_contact_closes_in_this_step) {
    ck_assert_double_eq_tol(problem_contact_bias(0.01, 0.0, 1.0, 0.5, -2.0), -1.0, 1e-16);
    // 5 cm away at 2 m/s: it arrives later
    ck_assert_double_eq_tol(problem_contact_bias(0.01, 0.05, 1.0, 0.5, -2.0), 5.0, 1e-14);
    // the overlap asks for more than the bounce
    ck_assert_double_eq_tol(problem_contact_bias(0.01, -0.05, 1.0, 0.5, -2.0), -5.0, 1e-14);
}
END_TEST

START_TEST(free_and_dense_sides_give_the_same_products) {
    ProblemBuild build, dense;
    problem_build_init(&build);
    problem_build_init(&dense);
    uint64_t state = 7;
    problem_build_random_bodies(&build, &state, 4, 12);
    problem_build_densify(&build.problem, &dense);
    double v[24], p[24], p_dense[24];
    for (int k = 0; k < 24; k++) {
        v[k] = problem_build_random(&state);
    }
    for (uint32_t i = 0; i < 12; i++) {
        double u[3], u_dense[3];
        problem_contact_product(&build.problem, i, v, u);
        problem_contact_product(&dense.problem, i, v, u_dense);
        memset(p, 0, sizeof(p));
        memset(p_dense, 0, sizeof(p_dense));
        problem_contact_momentum(&build.problem, i, u, p);
        problem_contact_momentum(&dense.problem, i, u, p_dense);
        double power = 0.0, square = 0.0;
        for (int k = 0; k < 3; k++) {
            // sums of a dozen products of size 1
            ck_assert_double_eq_tol(u[k], u_dense[k], 1e-14);
            square += u[k] * u[k];
        }
        for (int k = 0; k < 24; k++) {
            ck_assert_double_eq_tol(p[k], p_dense[k], 1e-14);
            power += p[k] * v[k];
        }
        // the momentum map is the transpose of the velocity map: (J^T u).v = u.(J v)
        ck_assert_double_eq_tol(power, square, 1e-13);
    }
    problem_build_deinit(&build);
    problem_build_deinit(&dense);
}
END_TEST

START_TEST(motion_adds_to_the_relative_velocity) {
    ProblemBuild build;
    problem_build_init(&build);
    const double still[6] = {0.0};
    uint32_t ball = problem_build_free(&build, 1.0, (Sym3){1.0, 1.0, 1.0, 0.0, 0.0, 0.0}, still);
    ProblemContact *contact = problem_build_contact(&build, vec3(0.0, 0.0, 1.0), 0.5, 0.0);
    problem_build_side(contact, 1, ball, vec3(0.0, 0.0, -0.1));
    contact->motion[1] = -2.0;
    double u[3];
    problem_contact_velocity(&build.problem, 0, still, u);
    ck_assert_double_eq(u[0], 0.0);
    ck_assert_double_eq(u[1], -2.0);
    problem_build_deinit(&build);
}
END_TEST

// ---- what is refused

// A problem with a dense tree, a free tree, a contact between them and a row on both.
static void make_sound(ProblemBuild *build) {
    problem_build_init(build);
    const double mass[4] = {2.0, 0.5, 0.5, 1.0}, v[6] = {0.1, -0.2, 0.0, 0.0, 0.0, 0.0};
    const double jacobian[6] = {1.0, 0.0, 0.0, 1.0, 0.5, 0.5},
                 row[6] = {1.0, 0.0, 0.0, 0.0, 0.0, 0.0};
    problem_build_dense(build, 2, mass, v);
    problem_build_free(build, 1.0, (Sym3){1.0, 1.0, 1.0, 0.0, 0.0, 0.0}, v);
    ProblemContact *contact = problem_build_contact(build, vec3(0.0, 0.0, 1.0), 0.5, 0.0);
    problem_build_dense_side(build, contact, 0, 0, jacobian);
    problem_build_side(contact, 1, 1, vec3(0.0, 0.0, -0.1));
    problem_build_row(build, -1.0, 1.0, 0.0);
    problem_build_block(build, 0, row);
    problem_build_block(build, 1, row);
}

typedef enum Harm {
    HARM_NONE,
    HARM_STEP,
    HARM_GRAVITY,
    HARM_MASS_SKEW,
    HARM_MASS_INDEFINITE,
    HARM_MASS_NAN,
    HARM_FREE_MASS,
    HARM_FREE_INERTIA,
    HARM_FREE_INVERSE,
    HARM_V_FREE,
    HARM_MU,
    HARM_MU_NAN,
    HARM_GAP,
    HARM_BIAS,
    HARM_RESTITUTION,
    HARM_APPROACH,
    HARM_STIFFNESS,
    HARM_DAMPING,
    HARM_DISSIPATION,
    HARM_MOTION,
    HARM_FRAME,
    HARM_SIDE_ARM,
    HARM_SIDE_JACOBIAN,
    HARM_SIDE_TREE,
    HARM_SIDE_TWICE,
    HARM_ROW_ORDER,
    HARM_ROW_NAN,
    HARM_ROW_LOW,
    HARM_ROW_BIAS,
    HARM_ROW_COMPLIANCE,
    HARM_ROW_TREE,
    HARM_ROW_TWICE,
    HARM_ROW_SHAPE,
    HARM_COUNT
} Harm;

static const char *const harm_keys[HARM_COUNT] = {
    [HARM_NONE] = "",
    [HARM_STEP] = "time_step",
    [HARM_GRAVITY] = "gravity",
    [HARM_MASS_SKEW] = "trees[0].mass",
    [HARM_MASS_INDEFINITE] = "trees[0].mass",
    [HARM_MASS_NAN] = "trees[0].mass",
    [HARM_FREE_MASS] = "trees[1].body.mass",
    [HARM_FREE_INERTIA] = "trees[1].body.inertia",
    [HARM_FREE_INVERSE] = "trees[1].body.inertia",
    [HARM_V_FREE] = "trees[1].v_free",
    [HARM_MU] = "contacts[0].mu",
    [HARM_MU_NAN] = "contacts[0].mu",
    [HARM_GAP] = "contacts[0].gap",
    [HARM_BIAS] = "contacts[0].bias",
    [HARM_RESTITUTION] = "contacts[0].restitution",
    [HARM_APPROACH] = "contacts[0].approach",
    [HARM_STIFFNESS] = "contacts[0].stiffness",
    [HARM_DAMPING] = "contacts[0].damping",
    [HARM_DISSIPATION] = "contacts[0].dissipation_time",
    [HARM_MOTION] = "contacts[0].motion",
    [HARM_FRAME] = "contacts[0].frame",
    [HARM_SIDE_ARM] = "contacts[0].sides[1].arm",
    [HARM_SIDE_JACOBIAN] = "contacts[0].sides[0].jacobian",
    [HARM_SIDE_TREE] = "contacts[0].blocks[1].tree",
    [HARM_SIDE_TWICE] = "contacts[0].blocks[1].tree",
    [HARM_ROW_ORDER] = "rows[0].low",
    [HARM_ROW_NAN] = "rows[0].low",
    [HARM_ROW_LOW] = "rows[0].low",
    [HARM_ROW_BIAS] = "rows[0].bias",
    [HARM_ROW_COMPLIANCE] = "rows[0].R",
    [HARM_ROW_TREE] = "rows[0].blocks[1].tree",
    [HARM_ROW_TWICE] = "rows[0].blocks[1].tree",
    [HARM_ROW_SHAPE] = "rows[0].blocks[1].jacobian"};

static void harm_tree(ProblemBuild *build, Harm harm) {
    ContactProblem *problem = &build->problem;
    switch (harm) {
    case HARM_STEP:
        problem->time_step = 0.0;
        break;
    case HARM_GRAVITY:
        problem->gravity = -1.0;
        break;
    case HARM_MASS_SKEW:
        build->number[1] = 0.6;
        break;
    case HARM_MASS_INDEFINITE:
        build->number[1] = build->number[2] = 1.5; // 2 * 1 < 1.5^2
        break;
    case HARM_MASS_NAN:
        build->number[3] = NAN;
        break;
    case HARM_FREE_MASS:
        build->free[1].mass = -1.0;
        break;
    case HARM_FREE_INERTIA:
        build->free[1].inertia.yy = 0.0;
        break;
    case HARM_FREE_INVERSE:
        build->free[1].inverse_inertia.zz = -1.0;
        break;
    case HARM_V_FREE:
        build->v_free[3] = HUGE_VAL;
        break;
    default:
        break;
    }
}

static void harm_contact(ProblemContact *contact, ContactLaw *law, Harm harm) {
    switch (harm) {
    case HARM_MU:
        contact->mu = -0.1;
        break;
    case HARM_MU_NAN:
        contact->mu = NAN;
        break;
    case HARM_GAP:
        contact->gap = HUGE_VAL;
        break;
    case HARM_BIAS:
        contact->bias = NAN;
        break;
    case HARM_RESTITUTION:
        law->restitution = 1.1;
        break;
    case HARM_APPROACH:
        law->approach = 0.1;
        break;
    case HARM_STIFFNESS:
        law->stiffness = -1.0;
        break;
    case HARM_DAMPING:
        law->damping = -1.0;
        break;
    case HARM_DISSIPATION:
        law->dissipation_time = NAN;
        break;
    case HARM_MOTION:
        contact->motion[2] = NAN;
        break;
    case HARM_FRAME:
        contact->normal.x = 0.5;
        break;
    case HARM_SIDE_ARM:
        contact->side[1].arm.y = NAN;
        break;
    case HARM_SIDE_JACOBIAN:
        contact->side[0].jacobian = 1000000;
        break;
    case HARM_SIDE_TREE:
        contact->side[1].tree = 2;
        break;
    case HARM_SIDE_TWICE:
        contact->side[1] = contact->side[0];
        break;
    default:
        break;
    }
}

static void harm_row(ProblemBuild *build, Harm harm) {
    ProblemRow *row = &build->row[0];
    switch (harm) {
    case HARM_ROW_ORDER:
        row->low = 2.0;
        break;
    case HARM_ROW_NAN:
        row->low = NAN;
        break;
    case HARM_ROW_LOW:
        row->low = row->high = HUGE_VAL;
        break;
    case HARM_ROW_BIAS:
        row->bias = HUGE_VAL;
        break;
    case HARM_ROW_COMPLIANCE:
        row->has_compliance = true;
        row->compliance = -1.0;
        break;
    case HARM_ROW_TREE:
        build->row_block[1].tree = 7;
        break;
    case HARM_ROW_TWICE:
        build->row_block[1].tree = 0;
        break;
    case HARM_ROW_SHAPE:
        build->row_block[1].jacobian = (uint32_t)build->problem.number_count - 5;
        break;
    default:
        break;
    }
}

START_TEST(check_names_the_key_of_what_it_refuses) {
    Harm harm = (Harm)_i;
    ProblemBuild build;
    Error error = {0};
    make_sound(&build);
    harm_tree(&build, harm);
    harm_contact(&build.contact[0], &build.law[0], harm);
    harm_row(&build, harm);
    Status status = problem_check(&build.problem, &build.arena, &error);
    ck_assert_int_eq(status, harm == HARM_NONE ? STATUS_OK : STATUS_INVALID_ARGUMENT);
    ck_assert_str_eq(error.field, harm_keys[harm]);
    problem_build_deinit(&build);
}
END_TEST

// ---- links

// A body on a hinge, then one that weighs nothing, then one on three velocities.
static void make_links(ProblemBuild *build) {
    const double v_free[5] = {0.1, 0.2, 0.3, 0.4, 0.5};
    const Sym3 inertia = {0.1, 0.2, 0.3, 0.0, 0.0, 0.0};
    const ProblemBuildLink link[] = {{.parent = PROBLEM_NO_LINK,
                                      .count = 1,
                                      .mass = 1.0,
                                      .inertia = inertia,
                                      .motion = {0.0, 0.5, 0.0, 0.0, 0.0, 1.0}},
                                     {.parent = 0, .count = 1, .motion = {0.0, 0.0, 1.0}},
                                     {.parent = 1,
                                      .count = 3,
                                      .mass = 1.0,
                                      .inertia = inertia,
                                      .center = {1.0, 0.0, 0.0},
                                      .motion = {[3] = 1.0, [6 + 4] = 1.0, [12 + 5] = 1.0}}};
    problem_build_init(build);
    problem_build_links(build, 3, link, v_free);
}

typedef struct LinkHarm {
    const char *key;
    uint32_t parent; // of the third
    uint32_t first, count;
    double mass, xx, xy; // of the third
    double center_y;
    double motion;  // of the third's first velocity, its turn
    size_t added;   // where its block is
    double added_1; // … beside the diagonal
} LinkHarm;

static const LinkHarm link_harms[] = {
    {"", 1, 2, 3, 1.0, 0.1, 0.0, 0.0, 1.0, 0, 0.0},
    {"trees[0].links[2].parent", 2, 2, 3, 1.0, 0.1, 0.0, 0.0, 1.0, 0, 0.0},
    {"trees[0].links[2].parent", 7, 2, 3, 1.0, 0.1, 0.0, 0.0, 1.0, 0, 0.0},
    {"trees[0].links[2].motion", 1, 1, 3, 1.0, 0.1, 0.0, 0.0, 1.0, 0, 0.0},
    {"trees[0].links[2].motion", 1, 2, 7, 1.0, 0.1, 0.0, 0.0, 1.0, 0, 0.0},
    {"trees[0].v_free", 1, 2, 2, 1.0, 0.1, 0.0, 0.0, 1.0, 0, 0.0},
    {"trees[0].links[2].mass", 1, 2, 3, -1.0, 0.1, 0.0, 0.0, 1.0, 0, 0.0},
    {"trees[0].links[2].mass", 1, 2, 3, NAN, 0.1, 0.0, 0.0, 1.0, 0, 0.0},
    {"trees[0].links[2].inertia", 1, 2, 3, 1.0, -0.1, 0.0, 0.0, 1.0, 0, 0.0},
    {"trees[0].links[2].inertia", 1, 2, 3, 1.0, 0.1, 0.5, 0.0, 1.0, 0, 0.0},
    {"trees[0].links[2].inertia", 1, 2, 3, 1.0, NAN, 0.0, 0.0, 1.0, 0, 0.0},
    {"trees[0].links[2].center", 1, 2, 3, 1.0, 0.1, 0.0, HUGE_VAL, 1.0, 0, 0.0},
    {"trees[0].links[2].motion", 1, 2, 3, 1.0, 0.1, 0.0, 0.0, NAN, 0, 0.0},
    {"trees[0].links[2].added", 1, 2, 3, 1.0, 0.1, 0.0, 0.0, 1.0, 1000000, 0.0},
    {"trees[0].links[2].added", 1, 2, 3, 1.0, 0.1, 0.0, 0.0, 1.0, 0, 0.01},
    // what turns has no inertia; nothing weighs; the second is carried by nothing
    {"trees[0].links", 1, 2, 3, 1.0, 0.0, 0.0, 0.0, 1.0, 0, 0.0},
    {"trees[0].links", 1, 2, 3, 1.0, 0.1, 0.0, 0.0, 0.0, 0, 0.0},
    {"trees[0].links", 1, 2, 3, 0.0, 0.1, 0.0, 0.0, 1.0, 0, 0.0},
};
enum { LINK_HARMS = sizeof(link_harms) / sizeof(link_harms[0]) };

START_TEST(check_names_the_key_of_a_link_that_it_refuses) {
    const LinkHarm *harm = &link_harms[_i];
    ProblemBuild build;
    Error error = {0};
    make_links(&build);
    ProblemLink *link = &build.link[2];
    link->parent = harm->parent;
    link->first = harm->first;
    link->count = harm->count;
    link->mass = harm->mass;
    link->inertia.xx = harm->xx;
    link->inertia.xy = harm->xy;
    link->center.y = harm->center_y;
    build.number[link->motion + 3] = harm->motion;
    build.number[link->added + 1] = harm->added_1;
    link->added = harm->added == 0 ? link->added : harm->added;
    Status status = problem_check(&build.problem, &build.arena, &error);
    ck_assert_int_eq(status, _i == 0 ? STATUS_OK : STATUS_INVALID_ARGUMENT);
    ck_assert_str_eq(error.field, harm->key);
    problem_build_deinit(&build);
}
END_TEST

// The weightless link turns about the axis that the one it carries turns about as well: what is
// left of its inertia is its armature, 1e-16 of the 0.1 that stood there; 1e-12 is enough.
START_TEST(check_refuses_links_that_only_rounding_makes_definite) {
    ProblemBuild build;
    Error error = {0};
    make_links(&build);
    double *motion = build.number + build.link[1].motion;
    motion[2] = 0.0;
    motion[3] = 1.0;
    build.number[build.link[1].added] = 1e-16;
    ck_assert_int_eq(problem_check(&build.problem, &build.arena, &error), STATUS_INVALID_ARGUMENT);
    ck_assert_str_eq(error.field, "trees[0].links");
    build.number[build.link[1].added] = 1e-12;
    ck_assert_int_eq(problem_check(&build.problem, &build.arena, &error), STATUS_OK);
    problem_build_deinit(&build);
}
END_TEST

START_TEST(check_refuses_links_that_are_not_there) {
    ProblemBuild build;
    Error error = {0};
    make_links(&build);
    build.tree[0].link_count = 4;
    ck_assert_int_eq(problem_check(&build.problem, &build.arena, &error), STATUS_INVALID_ARGUMENT);
    ck_assert_str_eq(error.field, "trees[0].links");
    problem_build_deinit(&build);
}
END_TEST

START_TEST(check_refuses_warm_impulses_that_are_not_finite) {
    ProblemBuild build;
    double warm[3] = {0.0, NAN, 0.0}, warm_row[1] = {HUGE_VAL};
    Error error = {0};
    make_sound(&build);
    build.problem.warm_contact = warm;
    ck_assert_int_eq(problem_check(&build.problem, &build.arena, &error), STATUS_INVALID_ARGUMENT);
    ck_assert_str_eq(error.field, "warm.contacts[0]");
    build.problem.warm_contact = NULL;
    build.problem.warm_row = warm_row;
    ck_assert_int_eq(problem_check(&build.problem, &build.arena, &error), STATUS_INVALID_ARGUMENT);
    ck_assert_str_eq(error.field, "warm.rows[0]");
    problem_build_deinit(&build);
}
END_TEST

static const char *const public_names[] = {
    "column-20", "frictionless", "joint",    "limit-motor",      "mass-ratio-1e4", "one-ball",
    "pile-125",  "random-0",     "random-3", "random-7",         "stack-3",        "ten-boxes",
    "trees",     "two-balls",    "wedge",    "ten-boxes-pushed", "bodies",         "links"};

START_TEST(check_accepts_every_public_problem) {
    ProblemFile file;
    Error error = {0};
    Arena arena;
    arena_init(&arena, (size_t)1 << 20);
    problem_file_open(&file, public_names[_i]);
    ck_assert_msg(problem_check(&file.problem, &arena, &error) == STATUS_OK, "%s", error.message);
    arena_deinit(&arena);
    problem_file_close(&file);
}
END_TEST

static TCase *case_products(void) {
    TCase *tcase = tcase_create("products");
    tcase_add_test(tcase, bias_asks_for_a_share_of_the_overlap_and_all_of_the_gap);
    tcase_add_test(tcase, bias_bounces_only_when_the_contact_closes_in_this_step);
    tcase_add_test(tcase, free_and_dense_sides_give_the_same_products);
    tcase_add_test(tcase, motion_adds_to_the_relative_velocity);
    return tcase;
}

static TCase *case_check(void) {
    TCase *tcase = tcase_create("check");
    tcase_add_loop_test(tcase, check_names_the_key_of_what_it_refuses, 0, HARM_COUNT);
    tcase_add_loop_test(tcase, check_names_the_key_of_a_link_that_it_refuses, 0, LINK_HARMS);
    tcase_add_test(tcase, check_refuses_links_that_only_rounding_makes_definite);
    tcase_add_test(tcase, check_refuses_links_that_are_not_there);
    tcase_add_test(tcase, check_refuses_warm_impulses_that_are_not_finite);
    tcase_add_loop_test(tcase, check_accepts_every_public_problem, 0,
                        (int)(sizeof(public_names) / sizeof(public_names[0])));
    return tcase;
}

SUITE_MAIN("solve/problem", case_products, case_check)
