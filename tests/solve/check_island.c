// SPDX-License-Identifier: MIT
#include "solve/island.h"

#include "support/problem_build.h"
#include "support/suite.h"

#include <string.h>

enum { TREES = 24, CONTACTS = 14, ROWS = 6, SCENES = 200 };

static uint32_t pick(uint64_t *state, uint32_t count) {
    return (uint32_t)((problem_build_random(state) + 1.0) * 0.5 * count) % count;
}

// Free bodies with few enough contacts and rows that there are islands of many sizes; now and then
// a contact of ground with ground, and a row without blocks.
static void make_scattered(ProblemBuild *build, uint64_t *state) {
    const double rest[6] = {0.0}, along[6] = {1.0};
    const Sym3 inertia = {1.0, 1.0, 1.0, 0.0, 0.0, 0.0};
    for (int i = 0; i < TREES; i++) {
        problem_build_free(build, 1.0, inertia, rest);
    }
    for (int i = 0; i < CONTACTS; i++) {
        ProblemContact *contact = problem_build_contact(build, vec3(0.0, 0.0, 1.0), 0.5, 0.0);
        uint32_t a = pick(state, TREES + 6), b = pick(state, TREES + 6);
        if (a < TREES) {
            problem_build_side(contact, 0, a, vec3(0.0, 0.0, 0.1));
        }
        if (b < TREES) {
            problem_build_side(contact, 1, b, vec3(0.0, 0.0, -0.1));
        }
    }
    for (int i = 0; i < ROWS; i++) {
        problem_build_row(build, -HUGE_VAL, HUGE_VAL, 0.0);
        for (uint32_t b = pick(state, 4); b > 0; b--) {
            problem_build_block(build, pick(state, TREES), along);
        }
    }
}

// what is joined by hand: every tree takes the smallest number among those it is joined with, until
// nothing changes
static void join_by_hand(const ContactProblem *problem, uint32_t smallest[TREES]) {
    for (uint32_t i = 0; i < TREES; i++) {
        smallest[i] = i;
    }
    for (int round = 0; round < TREES; round++) {
        for (uint32_t i = 0; i < problem->contact_count; i++) {
            uint32_t a = problem->contact[i].side[0].tree, b = problem->contact[i].side[1].tree;
            if (a != PROBLEM_NO_TREE && b != PROBLEM_NO_TREE) {
                uint32_t least = smallest[a] < smallest[b] ? smallest[a] : smallest[b];
                smallest[a] = smallest[b] = least;
            }
        }
        for (uint32_t i = 0; i < problem->row_count; i++) {
            const RowBlock *block = problem->row_block + problem->row[i].block_first;
            for (uint32_t b = 1; b < problem->row[i].block_count; b++) {
                uint32_t x = block[0].tree, y = block[b].tree;
                uint32_t least = smallest[x] < smallest[y] ? smallest[x] : smallest[y];
                smallest[x] = smallest[y] = least;
            }
        }
    }
}

START_TEST(trees_are_joined_by_contacts_and_rows_alone) {
    uint64_t state = 11;
    for (int scene = 0; scene < SCENES; scene++) {
        ProblemBuild build;
        problem_build_init(&build);
        make_scattered(&build, &state);
        Islands islands;
        ck_assert_int_eq(islands_find(&build.problem, &build.arena, &islands, NULL), STATUS_OK);
        uint32_t smallest[TREES], number = 0;
        join_by_hand(&build.problem, smallest);
        for (uint32_t i = 0; i < TREES; i++) {
            // numbered by the first tree
            ck_assert_uint_eq(islands.of_tree[i],
                              smallest[i] == i ? number : islands.of_tree[smallest[i]]);
            number += smallest[i] == i;
        }
        ck_assert_uint_eq(islands.count, number);
        problem_build_deinit(&build);
    }
}
END_TEST

// every index below `count` that is on an island stands once, under its island, in order
static void check_list(const Islands *islands, const uint32_t *first, const uint32_t *list,
                       uint32_t listed) {
    ck_assert_uint_eq(first[0], 0);
    ck_assert_uint_eq(first[islands->count], listed);
    for (uint32_t i = 0; i < islands->count; i++) {
        ck_assert_uint_le(first[i], first[i + 1]);
        for (uint32_t k = first[i] + 1; k < first[i + 1]; k++) {
            ck_assert_uint_lt(list[k - 1], list[k]);
        }
    }
}

START_TEST(an_island_lists_what_it_has_in_order) {
    uint64_t state = 12;
    for (int scene = 0; scene < SCENES; scene++) {
        ProblemBuild build;
        problem_build_init(&build);
        make_scattered(&build, &state);
        const ContactProblem *problem = &build.problem;
        Islands islands;
        ck_assert_int_eq(islands_find(problem, &build.arena, &islands, NULL), STATUS_OK);
        uint32_t contacts = 0, rows = 0;
        for (uint32_t i = 0; i < problem->contact_count; i++) {
            contacts += islands_of_contact(problem, islands.of_tree, i) != PROBLEM_NO_TREE;
        }
        for (uint32_t i = 0; i < problem->row_count; i++) {
            rows += islands_of_row(problem, islands.of_tree, i) != PROBLEM_NO_TREE;
        }
        check_list(&islands, islands.tree_first, islands.tree, TREES);
        check_list(&islands, islands.contact_first, islands.contact, contacts);
        check_list(&islands, islands.row_first, islands.row, rows);
        for (uint32_t i = 0; i < islands.count; i++) {
            for (uint32_t k = islands.tree_first[i]; k < islands.tree_first[i + 1]; k++) {
                ck_assert_uint_eq(islands.of_tree[islands.tree[k]], i);
            }
            for (uint32_t k = islands.contact_first[i]; k < islands.contact_first[i + 1]; k++) {
                ck_assert_uint_eq(islands_of_contact(problem, islands.of_tree, islands.contact[k]),
                                  i);
            }
            for (uint32_t k = islands.row_first[i]; k < islands.row_first[i + 1]; k++) {
                ck_assert_uint_eq(islands_of_row(problem, islands.of_tree, islands.row[k]), i);
            }
        }
        problem_build_deinit(&build);
    }
}
END_TEST

// ---- shares

static uint32_t size_of(const IslandRange *range) {
    return range->tree_end - range->tree_begin + range->contact_end - range->contact_begin +
           range->row_end - range->row_begin;
}

// Shares follow each other in every list, leave nothing out, and cut only what is large.
static void check_shares(const Islands *islands) {
    IslandRange at = {0};
    for (uint32_t i = 0; i < islands->share_count; i++) {
        const IslandShare *share = &islands->share[i];
        IslandRange all = islands_range(islands, share->island_begin, share->island_end);
        const IslandRange *range = &share->range;
        ck_assert_uint_eq(range->tree_begin, at.tree_end);
        ck_assert_uint_eq(range->contact_begin, at.contact_end);
        ck_assert(range->row_begin == at.row_end);
        at = *range;
        if (share->is_piece) {
            ck_assert_uint_eq(share->island_end, share->island_begin + 1);
            ck_assert_uint_ge(size_of(&all), ISLAND_LARGE);
            ck_assert_uint_le(size_of(range), 2 * ISLAND_SHARE);
        } else {
            ck_assert_mem_eq(range, &all, sizeof(all));
            // without its last island it was not full
            IslandRange before = islands_range(islands, share->island_begin, share->island_end - 1);
            ck_assert_uint_lt(size_of(&before), ISLAND_SHARE);
            IslandRange last = islands_range(islands, share->island_end - 1, share->island_end);
            ck_assert_uint_lt(size_of(&last), ISLAND_LARGE);
        }
    }
    ck_assert_uint_eq(at.tree_end, islands->tree_first[islands->count]);
    ck_assert_uint_eq(at.contact_end, islands->contact_first[islands->count]);
    ck_assert_uint_eq(at.row_end, islands->row_first[islands->count]);
}

// a chain of bodies, each touching the next so many times
static void add_chain(ProblemBuild *build, uint32_t bodies, uint32_t contacts) {
    static const Sym3 round = {1.0, 1.0, 1.0, 0.0, 0.0, 0.0};
    static const double still[6] = {0.0};
    for (uint32_t i = 0; i < bodies; i++) {
        uint32_t body = problem_build_free(build, 1.0, round, still);
        for (uint32_t k = 0; k < contacts; k++) {
            ProblemContact *contact = problem_build_contact(build, vec3(0.0, 0.0, 1.0), 0.5, 0.0);
            problem_build_side(contact, 0, i == 0 ? PROBLEM_NO_TREE : body - 1,
                               vec3(0.0, 0.0, 0.1));
            problem_build_side(contact, 1, body, vec3(0.0, 0.0, -0.1));
        }
    }
}

START_TEST(shares_gather_what_is_small_and_cut_what_is_large) {
    ProblemBuild build;
    problem_build_init(&build);
    add_chain(&build, 1, 0);
    add_chain(&build, 300, 5); // 1800: larger than a share, and not large
    add_chain(&build, 3, 2);
    add_chain(&build, 600, 6); // 4200: large
    for (int i = 0; i < 80; i++) {
        add_chain(&build, 1, 12); // 13 each
    }
    problem_build_contact(&build, vec3(0.0, 0.0, 1.0), 0.5, 0.0); // ground on ground
    Islands islands;
    ck_assert_int_eq(islands_find(&build.problem, &build.arena, &islands, NULL), STATUS_OK);
    check_shares(&islands);
    uint32_t pieces = 0;
    for (uint32_t i = 0; i < islands.share_count; i++) {
        pieces += islands.share[i].is_piece;
    }
    ck_assert_uint_eq(pieces, 4200 / ISLAND_SHARE);
    // one and the chain; three; the pieces; and 40 of 13, twice
    ck_assert_uint_eq(islands.share_count, 2 + pieces + 2);
    // what is on no island stands at the list's end
    ck_assert_uint_eq(islands.contact[islands.contact_first[islands.count]],
                      build.problem.contact_count - 1);
    problem_build_deinit(&build);
}
END_TEST

START_TEST(shares_of_scattered_problems_leave_nothing_out) {
    uint64_t state = 14;
    for (int scene = 0; scene < SCENES; scene++) {
        ProblemBuild build;
        problem_build_init(&build);
        make_scattered(&build, &state);
        Islands islands;
        ck_assert_int_eq(islands_find(&build.problem, &build.arena, &islands, NULL), STATUS_OK);
        check_shares(&islands);
        problem_build_deinit(&build);
    }
}
END_TEST

START_TEST(without_memory_there_are_no_islands) {
    uint64_t state = 13;
    ProblemBuild build;
    problem_build_init(&build);
    make_scattered(&build, &state);
    Arena none;
    arena_init(&none, 0);
    Islands islands;
    Error error;
    ck_assert_int_eq(islands_find(&build.problem, &none, &islands, &error),
                     STATUS_RESOURCE_EXHAUSTED);
    ck_assert_ptr_nonnull(strstr(error.message, "islands"));
    arena_deinit(&none);
    problem_build_deinit(&build);
}
END_TEST

static TCase *case_island(void) {
    TCase *tcase = tcase_create("island");
    tcase_add_test(tcase, trees_are_joined_by_contacts_and_rows_alone);
    tcase_add_test(tcase, an_island_lists_what_it_has_in_order);
    tcase_add_test(tcase, shares_gather_what_is_small_and_cut_what_is_large);
    tcase_add_test(tcase, shares_of_scattered_problems_leave_nothing_out);
    tcase_add_test(tcase, without_memory_there_are_no_islands);
    return tcase;
}

SUITE_MAIN("solve/island", case_island)
