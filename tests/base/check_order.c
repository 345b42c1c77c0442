// SPDX-License-Identifier: MIT
#include "base/order.h"

#include "support/graph_build.h"
#include "support/suite.h"

static GraphBuild build;
static uint32_t order[GRAPH_VERTICES];
static double operations;

static void find_order(Arena *arena) {
    ck_assert_int_eq(
        order_minimum_degree(&build.graph, ORDER_UNLIMITED, arena, order, &operations, NULL),
        STATUS_OK);
}

START_TEST(every_vertex_comes_once) {
    uint64_t state = 3 + (uint64_t)_i;
    Arena arena;
    arena_init(&arena, 1u << 24);
    for (uint32_t vertices = 1; vertices < 60; vertices += 7) {
        graph_build(&build, (GraphShape)_i, vertices, 0, &state);
        find_order(&arena);
        bool seen[GRAPH_VERTICES] = {false};
        for (uint32_t k = 0; k < build.graph.vertex_count; k++) {
            ck_assert_uint_lt(order[k], build.graph.vertex_count);
            ck_assert(!seen[order[k]]);
            seen[order[k]] = true;
        }
    }
    arena_deinit(&arena);
}
END_TEST

START_TEST(nothing_at_all_has_an_order) {
    Arena arena;
    arena_init(&arena, 1u << 20);
    build.graph = (Graph){.width = build.width, .end = build.end};
    find_order(&arena);
    arena_deinit(&arena);
}
END_TEST

START_TEST(the_head_of_an_arrow_comes_last) {
    uint64_t state = 5;
    Arena arena;
    arena_init(&arena, 1u << 24);
    graph_build(&build, GRAPH_ARROW, 50, 6, &state);
    find_order(&arena);
    // beside the last vertex it has but one neighbour, and goes with it
    ck_assert(order[49] == 0 || order[48] == 0);
    arena_deinit(&arena);
}
END_TEST

START_TEST(a_wide_vertex_waits_for_narrow_ones) {
    // a triangle and a ray
    static const uint32_t width[] = {1, 9, 9, 9}, end[] = {0, 1, 1, 2, 2, 0, 3, 1};
    const Graph graph = {.vertex_count = 4, .width = width, .edge_count = 4, .end = end};
    Arena arena;
    arena_init(&arena, 1u << 20);
    ck_assert_int_eq(
        order_minimum_degree(&graph, ORDER_UNLIMITED, &arena, order, &operations, NULL), STATUS_OK);
    // vertex 3 has 9 unknowns beside it, 0 has 18, 1 has 19, 2 has 10; then 1 and 2 both have 10,
    // and the smaller index comes first
    ck_assert_uint_eq(order[0], 3);
    ck_assert_uint_eq(order[1], 1);
    arena_deinit(&arena);
}
END_TEST

START_TEST(what_costs_too_much_is_given_up_on_the_way) {
    uint64_t state = 7;
    Arena arena;
    Error error;
    arena_init(&arena, 1u << 24);
    graph_build(&build, GRAPH_GRID, 400, 6, &state);
    find_order(&arena);
    double whole = operations;
    // a system of 400 bodies takes as many as their own blocks at least, one after the other
    ck_assert_double_gt(whole, 400 * 6.0 * 6.0 * 6.0 / 6.0);
    OrderLimit limit = {.operations_max = whole};
    ck_assert_int_eq(order_minimum_degree(&build.graph, limit, &arena, order, &operations, &error),
                     STATUS_OK);
    ck_assert(operations == whole);
    limit.operations_max = 0.1 * whole;
    ck_assert_int_eq(order_minimum_degree(&build.graph, limit, &arena, order, &operations, &error),
                     STATUS_RESOURCE_EXHAUSTED);
    ck_assert(operations > limit.operations_max && operations < 0.5 * whole);
    ck_assert_ptr_nonnull(strstr(error.message, "multiplications"));
    arena_deinit(&arena);
}
END_TEST

static bool say_stop(void *context) {
    ++*(int *)context;
    return true;
}

START_TEST(it_is_given_up_when_somebody_says_so) {
    uint64_t state = 7;
    int asked = 0;
    const Stop stop = {.asked = say_stop, .context = &asked};
    Asker asker = {.stop = &stop};
    Arena arena;
    arena_init(&arena, 1u << 24);
    graph_build(&build, GRAPH_GRID, 400, 6, &state);
    OrderLimit limit = {.operations_max = HUGE_VAL, .asker = &asker};
    asker.operations = ASKER_OPERATIONS; // of what was done before
    ck_assert_int_eq(order_minimum_degree(&build.graph, limit, &arena, order, &operations, NULL),
                     STATUS_ABORTED);
    ck_assert_int_eq(asked, 1);
    arena_deinit(&arena);
}
END_TEST

START_TEST(memory_that_ends_is_reported) {
    uint64_t state = 9;
    graph_build(&build, GRAPH_GRID, 400, 6, &state);
    size_t limit = 1000;
    Status status;
    do {
        Arena arena;
        Error error;
        arena_init(&arena, limit);
        status =
            order_minimum_degree(&build.graph, ORDER_UNLIMITED, &arena, order, &operations, &error);
        if (status != STATUS_OK) {
            ck_assert_int_eq(status, STATUS_RESOURCE_EXHAUSTED);
            ck_assert_ptr_nonnull(strstr(error.message, "order a sparse system"));
        }
        arena_deinit(&arena);
        limit += 3000;
    } while (status != STATUS_OK);
    ck_assert_uint_gt(limit, 20000);
}
END_TEST

static TCase *case_order(void) {
    TCase *tcase = tcase_create("order");
    tcase_add_loop_test(tcase, every_vertex_comes_once, 0, GRAPH_SHAPES);
    tcase_add_test(tcase, nothing_at_all_has_an_order);
    tcase_add_test(tcase, the_head_of_an_arrow_comes_last);
    tcase_add_test(tcase, a_wide_vertex_waits_for_narrow_ones);
    tcase_add_test(tcase, what_costs_too_much_is_given_up_on_the_way);
    tcase_add_test(tcase, it_is_given_up_when_somebody_says_so);
    tcase_add_test(tcase, memory_that_ends_is_reported);
    return tcase;
}

SUITE_MAIN("base/order", case_order)
