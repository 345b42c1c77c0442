// SPDX-License-Identifier: MIT
#include "solve/island.h"

#include "support/campaign.h"
#include "support/crew.h"
#include "support/problem_build.h"
#include "support/suite.h"

#include <stdlib.h>
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
        ck_assert_int_eq(islands_find(&build.problem, NULL, &build.arena, &islands, NULL),
                         STATUS_OK);
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
        ck_assert_int_eq(islands_find(problem, NULL, &build.arena, &islands, NULL), STATUS_OK);
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
    ck_assert_int_eq(islands_find(&build.problem, NULL, &build.arena, &islands, NULL), STATUS_OK);
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
        ck_assert_int_eq(islands_find(&build.problem, NULL, &build.arena, &islands, NULL),
                         STATUS_OK);
        check_shares(&islands);
        problem_build_deinit(&build);
    }
}
END_TEST

// ---- graphs of several blocks, on several lanes: nothing of a problem but what joins its trees

enum { MANY = 5000, GRAPHS = 12, GRAPH_ROWS = 10 * GRAPHS };

typedef struct TreeGraph {
    ContactProblem problem;
    ProblemTree *tree;
    ProblemContact *contact;
    ProblemRow *row;
    RowBlock *block;
} TreeGraph;

// The trees in the order in which a walk visits them, for chains that no block sees whole.
static void shuffle(uint32_t *order, uint64_t *state) {
    for (uint32_t i = 0; i < MANY; i++) {
        uint32_t other = pick(state, i + 1);
        order[i] = order[other];
        order[other] = i;
    }
}

// Contacts of a walk, or of trees at random, so few that most are alone to so many that all are
// one; some of a tree alone, or of none. Rows join two each.
static TreeGraph graph_create(uint32_t number, uint64_t *state) {
    const uint32_t contacts = MANY / 6 * (number + 1), rows = 10 * number,
                   stride = number % 3 == 0 ? 1 : 7 * number;
    TreeGraph graph = {.tree = calloc(MANY, sizeof(*graph.tree)),
                       .contact = calloc(contacts, sizeof(*graph.contact)),
                       .row = calloc(GRAPH_ROWS, sizeof(*graph.row)),
                       .block = calloc(GRAPH_ROWS, 2 * sizeof(*graph.block))};
    uint32_t *order = calloc(MANY, sizeof(*order));
    shuffle(order, state);
    for (uint32_t i = 0; i < contacts; i++) {
        const bool is_walk = number % 2 == 0;
        uint32_t a = is_walk ? order[i % MANY] : pick(state, MANY);
        uint32_t b = is_walk ? order[(i + stride) % MANY] : pick(state, MANY);
        graph.contact[i].side[0].tree = pick(state, 20) > 0 ? a : PROBLEM_NO_TREE;
        graph.contact[i].side[1].tree = pick(state, 4) > 0 ? b : PROBLEM_NO_TREE;
    }
    for (uint32_t i = 0; i < rows; i++) {
        graph.row[i] = (ProblemRow){.block_first = 2 * i, .block_count = 2};
        graph.block[2 * i].tree = pick(state, MANY);
        graph.block[2 * i + 1].tree = pick(state, MANY);
    }
    free(order);
    graph.problem = (ContactProblem){.tree_count = MANY,
                                     .tree = graph.tree,
                                     .contact_count = contacts,
                                     .contact = graph.contact,
                                     .row_count = rows,
                                     .row = graph.row,
                                     .row_block_count = 2 * rows,
                                     .row_block = graph.block};
    return graph;
}

static void graph_destroy(TreeGraph *graph) {
    free(graph->tree);
    free(graph->contact);
    free(graph->row);
    free(graph->block);
}

static uint32_t root_of(uint32_t *parent, uint32_t tree) {
    while (parent[tree] != tree) {
        parent[tree] = parent[parent[tree]];
        tree = parent[tree];
    }
    return tree;
}

static void join_two(uint32_t *parent, uint32_t a, uint32_t b) {
    uint32_t root_a = root_of(parent, a), root_b = root_of(parent, b);
    parent[root_a < root_b ? root_b : root_a] = root_a < root_b ? root_a : root_b;
}

// Each tree's first, one contact and one row after the other. The caller frees it.
static uint32_t *join_one_by_one(const ContactProblem *problem) {
    uint32_t *parent = calloc(MANY, sizeof(*parent));
    for (uint32_t i = 0; i < MANY; i++) {
        parent[i] = i;
    }
    for (uint32_t i = 0; i < problem->contact_count; i++) {
        const ContactSide *side = problem->contact[i].side;
        if (side[0].tree != PROBLEM_NO_TREE && side[1].tree != PROBLEM_NO_TREE) {
            join_two(parent, side[0].tree, side[1].tree);
        }
    }
    for (uint32_t i = 0; i < problem->row_count; i++) {
        const RowBlock *block = problem->row_block + problem->row[i].block_first;
        join_two(parent, block[0].tree, block[1].tree);
    }
    for (uint32_t i = 0; i < MANY; i++) {
        parent[i] = parent[parent[i]]; // what is above is done
    }
    return parent;
}

static void check_numbers(const Islands *islands, const uint32_t *smallest) {
    uint32_t number = 0;
    for (uint32_t i = 0; i < MANY; i++) {
        ck_assert_uint_eq(islands->of_tree[i],
                          smallest[i] == i ? number : islands->of_tree[smallest[i]]);
        number += smallest[i] == i;
    }
    ck_assert_uint_eq(islands->count, number);
}

// All of both, with what is on no island.
static void check_same(const ContactProblem *problem, const Islands *a, const Islands *b) {
    const size_t firsts = ((size_t)a->count + 1) * sizeof(uint32_t);
    ck_assert_uint_eq(a->count, b->count);
    ck_assert_mem_eq(a->of_tree, b->of_tree, problem->tree_count * sizeof(uint32_t));
    ck_assert_mem_eq(a->tree_first, b->tree_first, firsts);
    ck_assert_mem_eq(a->contact_first, b->contact_first, firsts);
    ck_assert_mem_eq(a->row_first, b->row_first, firsts);
    ck_assert_mem_eq(a->tree, b->tree, problem->tree_count * sizeof(uint32_t));
    ck_assert_mem_eq(a->contact, b->contact, problem->contact_count * sizeof(uint32_t));
    ck_assert_mem_eq(a->row, b->row, problem->row_count * sizeof(uint32_t));
    ck_assert_uint_eq(a->share_count, b->share_count);
}

START_TEST(any_number_of_lanes_finds_the_same_islands) {
    static const uint32_t lanes[] = {1, 2, 7};
    const int repeats = campaign_count(8);
    uint64_t state = 100 + (uint64_t)_i;
    TreeGraph graph = graph_create((uint32_t)_i, &state);
    uint32_t *smallest = join_one_by_one(&graph.problem);
    Arena arena;
    arena_init(&arena, (size_t)1 << 26);
    Islands alone;
    ck_assert_int_eq(islands_find(&graph.problem, NULL, &arena, &alone, NULL), STATUS_OK);
    check_numbers(&alone, smallest);
    check_list(&alone, alone.tree_first, alone.tree, MANY);
    check_shares(&alone);
    for (size_t k = 0; k < sizeof(lanes) / sizeof(lanes[0]); k++) {
        Crew *crew = crew_create(lanes[k], state + k);
        for (int repeat = 0; repeat < repeats; repeat++) {
            ArenaMark mark = arena_mark(&arena);
            Islands islands;
            ck_assert_int_eq(islands_find(&graph.problem, crew_tasks(crew), &arena, &islands, NULL),
                             STATUS_OK);
            check_same(&graph.problem, &islands, &alone);
            arena_reset_to(&arena, mark);
        }
        crew_destroy(crew);
    }
    arena_deinit(&arena);
    free(smallest);
    graph_destroy(&graph);
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
    ck_assert_int_eq(islands_find(&build.problem, NULL, &none, &islands, &error),
                     STATUS_RESOURCE_EXHAUSTED);
    ck_assert_ptr_nonnull(strstr(error.message, "islands"));
    arena_deinit(&none);
    problem_build_deinit(&build);
}
END_TEST

static TCase *case_island(void) {
    TCase *tcase = tcase_create("island");
    tcase_set_timeout(tcase, 120.0);
    tcase_add_loop_test(tcase, any_number_of_lanes_finds_the_same_islands, 0, GRAPHS);
    tcase_add_test(tcase, trees_are_joined_by_contacts_and_rows_alone);
    tcase_add_test(tcase, an_island_lists_what_it_has_in_order);
    tcase_add_test(tcase, shares_gather_what_is_small_and_cut_what_is_large);
    tcase_add_test(tcase, shares_of_scattered_problems_leave_nothing_out);
    tcase_add_test(tcase, without_memory_there_are_no_islands);
    return tcase;
}

SUITE_MAIN("solve/island", case_island)
