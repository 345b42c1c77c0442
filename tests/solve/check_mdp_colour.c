// SPDX-License-Identifier: MIT
#include "solve/mdp_colour.h"

#include "support/problem_build.h"
#include "support/suite.h"

#include <string.h>

static const Sym3 inertia = {1.0, 1.0, 1.0, 0.0, 0.0, 0.0};
static const double still[6] = {0.0};

static void add_bodies(ProblemBuild *build, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        problem_build_free(build, 1.0, inertia, still);
    }
}

static void add_contact(ProblemBuild *build, uint32_t a, uint32_t b) {
    ProblemContact *contact = problem_build_contact(build, vec3(0.0, 0.0, 1.0), 0.5, 0.0);
    problem_build_side(contact, 0, a, vec3(0.0, 0.0, 0.1));
    problem_build_side(contact, 1, b, vec3(0.0, 0.0, -0.1));
}

// every contact once; within a colour other than the last no tree in two units
static void check_order(ProblemBuild *build, MdpOrder *order) {
    const ContactProblem *problem = &build->problem;
    ck_assert_int_eq(mdp_colour_begin(problem, &build->arena, order, NULL), STATUS_OK);
    mdp_colour_add(problem, 0, problem->contact_count / 2, order);
    mdp_colour_add(problem, problem->contact_count / 2, problem->contact_count, order);
    mdp_colour_end(problem, order);
    bool seen[PROBLEM_BUILD_CONTACTS] = {false};
    ck_assert_uint_eq(order->first[order->colour_count], problem->contact_count);
    for (uint32_t colour = 0; colour < order->colour_count; colour++) {
        uint32_t owner[PROBLEM_BUILD_TREES]; // first contact of the unit that holds the tree
        memset(owner, 0xff, sizeof(owner));
        for (uint32_t k = order->first[colour]; k < order->first[colour + 1]; k++) {
            uint32_t contact = order->contact[k];
            ck_assert(!seen[contact]);
            seen[contact] = true;
            for (int s = 0; s < 2 && colour + 1 < MDP_COLOUR_MAX; s++) {
                uint32_t tree = problem->contact[contact].side[s].tree;
                if (tree == PROBLEM_NO_TREE) {
                    continue;
                }
                const ContactSide *first =
                    owner[tree] == UINT32_MAX ? NULL : problem->contact[owner[tree]].side;
                const ContactSide *mine = problem->contact[contact].side;
                ck_assert(first == NULL ||
                          (first[0].tree == mine[0].tree && first[1].tree == mine[1].tree));
                owner[tree] = contact;
            }
        }
    }
}

START_TEST(a_column_needs_two_colours) {
    ProblemBuild build;
    MdpOrder order;
    problem_build_init(&build);
    add_bodies(&build, 10);
    add_contact(&build, PROBLEM_NO_TREE, 0);
    for (uint32_t i = 1; i < 10; i++) {
        add_contact(&build, i - 1, i);
    }
    check_order(&build, &order);
    ck_assert_uint_eq(order.colour_count, 2);
    // every other contact, bottom to top
    ck_assert_uint_eq(order.contact[0], 0);
    ck_assert_uint_eq(order.contact[1], 2);
    ck_assert_uint_eq(order.contact[5], 1);
    problem_build_deinit(&build);
}
END_TEST

START_TEST(the_ground_is_shared_by_all) {
    ProblemBuild build;
    MdpOrder order;
    problem_build_init(&build);
    add_bodies(&build, 50);
    for (uint32_t i = 0; i < 50; i++) {
        add_contact(&build, PROBLEM_NO_TREE, i);
    }
    check_order(&build, &order);
    ck_assert_uint_eq(order.colour_count, 1);
    problem_build_deinit(&build);
}
END_TEST

START_TEST(contacts_of_one_pair_stay_together) {
    ProblemBuild build;
    MdpOrder order;
    problem_build_init(&build);
    add_bodies(&build, 3);
    for (uint32_t i = 0; i < 8; i++) {
        add_contact(&build, i / 4, i / 4 + 1);
    }
    check_order(&build, &order);
    ck_assert_uint_eq(order.colour_count, 2);
    for (uint32_t i = 0; i < 8; i++) {
        ck_assert_uint_eq(order.contact[i], i);
    }
    problem_build_deinit(&build);
}
END_TEST

START_TEST(random_graphs_are_coloured_soundly) {
    uint64_t state = 50u + (uint64_t)_i;
    ProblemBuild build;
    MdpOrder order;
    problem_build_init(&build);
    add_bodies(&build, 40);
    for (int i = 0; i < 300; i++) {
        uint32_t a = (uint32_t)(20.0 * (1.0 + problem_build_random(&state)));
        uint32_t b = (uint32_t)(20.0 * (1.0 + problem_build_random(&state)));
        add_contact(&build, a == b ? PROBLEM_NO_TREE : a, b);
    }
    check_order(&build, &order);
    problem_build_deinit(&build);
}
END_TEST

START_TEST(a_tree_with_more_neighbours_than_colours_still_has_an_order) {
    ProblemBuild build;
    MdpOrder order;
    problem_build_init(&build);
    add_bodies(&build, 101);
    for (uint32_t i = 1; i <= 100; i++) {
        add_contact(&build, 0, i);
    }
    check_order(&build, &order);
    ck_assert_uint_eq(order.colour_count, MDP_COLOUR_MAX);
    ck_assert_uint_eq(order.contact[99], 99);
    problem_build_deinit(&build);
}
END_TEST

static TCase *case_colour(void) {
    TCase *tcase = tcase_create("colour");
    tcase_add_test(tcase, a_column_needs_two_colours);
    tcase_add_test(tcase, the_ground_is_shared_by_all);
    tcase_add_test(tcase, contacts_of_one_pair_stay_together);
    tcase_add_loop_test(tcase, random_graphs_are_coloured_soundly, 0, 5);
    tcase_add_test(tcase, a_tree_with_more_neighbours_than_colours_still_has_an_order);
    return tcase;
}

SUITE_MAIN("solve/mdp_colour", case_colour)
