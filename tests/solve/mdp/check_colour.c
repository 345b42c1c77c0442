// SPDX-License-Identifier: MIT
#include "solve/mdp/colour.h"

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

// The colours of all contacts, checked: but for the last colour, no tree is in two units of one.
typedef struct Colours {
    uint32_t count;
    uint8_t of[PROBLEM_BUILD_CONTACTS];
} Colours;

static void find_colours(const ContactProblem *problem, Colours *colours) {
    MdpPair pair[PROBLEM_BUILD_CONTACTS];
    uint8_t kind[PROBLEM_BUILD_CONTACTS];
    uint64_t used[PROBLEM_BUILD_TREES] = {0};
    for (uint32_t i = 0; i < problem->contact_count; i++) {
        const ContactSide *side = problem->contact[i].side;
        pair[i] = (MdpPair){{side[0].tree, side[1].tree}};
        kind[i] = MDP_POINT;
    }
    colours->count = mdp_colour_find(pair, kind, 0, problem->contact_count, used, colours->of);
    for (uint32_t colour = 0; colour + 1 < MDP_COLOUR_MAX && colour < colours->count; colour++) {
        uint32_t owner[PROBLEM_BUILD_TREES]; // first contact of the unit that holds the tree
        memset(owner, 0xff, sizeof(owner));
        for (uint32_t i = 0; i < problem->contact_count; i++) {
            for (int s = 0; s < 2 && colours->of[i] == colour; s++) {
                uint32_t tree = pair[i].tree[s];
                if (tree != PROBLEM_NO_TREE) {
                    ck_assert(owner[tree] == UINT32_MAX ||
                              mdp_colour_is_unit(pair[owner[tree]], pair[i]));
                    owner[tree] = i;
                }
            }
        }
    }
}

START_TEST(a_column_needs_two_colours) {
    ProblemBuild build;
    static Colours colours;
    problem_build_init(&build);
    add_bodies(&build, 10);
    add_contact(&build, PROBLEM_NO_TREE, 0);
    for (uint32_t i = 1; i < 10; i++) {
        add_contact(&build, i - 1, i);
    }
    find_colours(&build.problem, &colours);
    ck_assert_uint_eq(colours.count, 2);
    for (uint32_t i = 0; i < 10; i++) {
        ck_assert_uint_eq(colours.of[i], i % 2); // every other contact, bottom to top
    }
    problem_build_deinit(&build);
}
END_TEST

START_TEST(the_ground_is_shared_by_all) {
    ProblemBuild build;
    static Colours colours;
    problem_build_init(&build);
    add_bodies(&build, 50);
    for (uint32_t i = 0; i < 50; i++) {
        add_contact(&build, PROBLEM_NO_TREE, i);
    }
    find_colours(&build.problem, &colours);
    ck_assert_uint_eq(colours.count, 1);
    problem_build_deinit(&build);
}
END_TEST

START_TEST(contacts_of_one_pair_stay_together) {
    ProblemBuild build;
    static Colours colours;
    problem_build_init(&build);
    add_bodies(&build, 3);
    for (uint32_t i = 0; i < 8; i++) {
        add_contact(&build, i / 4, i / 4 + 1);
    }
    find_colours(&build.problem, &colours);
    ck_assert_uint_eq(colours.count, 2);
    for (uint32_t i = 0; i < 8; i++) {
        ck_assert_uint_eq(colours.of[i], i / 4);
    }
    problem_build_deinit(&build);
}
END_TEST

START_TEST(random_graphs_are_coloured_soundly) {
    uint64_t state = 50u + (uint64_t)_i;
    ProblemBuild build;
    static Colours colours;
    problem_build_init(&build);
    add_bodies(&build, 40);
    for (int i = 0; i < 300; i++) {
        uint32_t a = (uint32_t)(20.0 * (1.0 + problem_build_random(&state)));
        uint32_t b = (uint32_t)(20.0 * (1.0 + problem_build_random(&state)));
        add_contact(&build, a == b ? PROBLEM_NO_TREE : a, b);
    }
    find_colours(&build.problem, &colours);
    problem_build_deinit(&build);
}
END_TEST

START_TEST(a_tree_with_more_neighbours_than_colours_still_has_an_order) {
    ProblemBuild build;
    static Colours colours;
    problem_build_init(&build);
    add_bodies(&build, 101);
    for (uint32_t i = 1; i <= 100; i++) {
        add_contact(&build, 0, i);
    }
    find_colours(&build.problem, &colours);
    ck_assert_uint_eq(colours.count, MDP_COLOUR_MAX);
    ck_assert_uint_eq(colours.of[62], 62);
    ck_assert_uint_eq(colours.of[99], 63);
    problem_build_deinit(&build);
}
END_TEST

START_TEST(what_moves_nothing_takes_no_colour) {
    const MdpPair pair[3] = {{{0, 1}}, {{1, 2}}, {{2, 3}}};
    const uint8_t kind[3] = {MDP_BALL, MDP_NONE, MDP_BALL};
    uint64_t used[4] = {0};
    uint8_t colour[3];
    ck_assert_uint_eq(mdp_colour_find(pair, kind, 0, 3, used, colour), 1);
    ck_assert_uint_eq(colour[2], 0);
}
END_TEST

static TCase *case_colour(void) {
    TCase *tcase = tcase_create("colour");
    tcase_add_test(tcase, a_column_needs_two_colours);
    tcase_add_test(tcase, the_ground_is_shared_by_all);
    tcase_add_test(tcase, contacts_of_one_pair_stay_together);
    tcase_add_loop_test(tcase, random_graphs_are_coloured_soundly, 0, 5);
    tcase_add_test(tcase, what_moves_nothing_takes_no_colour);
    tcase_add_test(tcase, a_tree_with_more_neighbours_than_colours_still_has_an_order);
    return tcase;
}

SUITE_MAIN("solve/mdp_colour", case_colour)
