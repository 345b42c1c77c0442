// SPDX-License-Identifier: MIT
#include "base/arena.h"

#include "support/suite.h"

#include <stdint.h>
#include <string.h>

START_TEST(pieces_are_aligned_apart_and_stay_where_they_are) {
    enum { PIECE_COUNT = 500 };
    Arena arena;
    arena_init(&arena, 1u << 24);
    unsigned char *piece[PIECE_COUNT];
    for (size_t i = 0; i < PIECE_COUNT; i++) {
        piece[i] = arena_take(&arena, i * 7 + 1);
        ck_assert_ptr_nonnull(piece[i]);
        ck_assert_uint_eq((uintptr_t)piece[i] % 64, 0);
        memset(piece[i], (int)(i % 251), i * 7 + 1);
    }
    for (size_t i = 0; i < PIECE_COUNT; i++) {
        for (size_t k = 0; k < i * 7 + 1; k++) {
            ck_assert_uint_eq(piece[i][k], i % 251);
        }
    }
    arena_deinit(&arena);
}
END_TEST

START_TEST(the_limit_holds_and_a_refusal_harms_nothing) {
    Arena arena;
    arena_init(&arena, 10000);
    size_t taken = 0;
    while (arena_take(&arena, 100) != NULL) {
        taken++;
        ck_assert_uint_le(arena.total_bytes, 10000);
        ck_assert_uint_le(taken, 100);
    }
    ck_assert_uint_ge(taken, 50);
    ck_assert_ptr_null(arena_take(&arena, 1u << 20));
    arena_reset(&arena);
    ck_assert_ptr_nonnull(arena_take(&arena, 5000));
    arena_deinit(&arena);
}
END_TEST

// Work that gives memory back in between needs more for a while than it holds in the end.
START_TEST(work_that_is_repeated_finds_one_block_that_is_large_enough) {
    Arena arena;
    arena_init(&arena, 1u << 24);
    ck_assert_ptr_nonnull(arena_take(&arena, 100));
    arena_reset(&arena);
    const ArenaBlock *block = NULL;
    for (int round = 0; round < 4; round++) {
        ArenaMark all = arena_mark(&arena);
        ck_assert_ptr_nonnull(arena_take(&arena, 1000));
        ArenaMark part = arena_mark(&arena);
        ck_assert_ptr_nonnull(arena_take(&arena, 100000));
        ck_assert(round == 0 || arena.block == block);
        arena_reset_to(&arena, part);
        ck_assert_ptr_nonnull(arena_take(&arena, 1000));
        arena_reset_to(&arena, all);
        ck_assert_uint_eq(arena.used_bytes, 0);
        ck_assert_uint_eq(arena.total_bytes, arena.capacity_bytes);
        ck_assert(round == 0 || arena.block == block);
        block = arena.block;
    }
    // what one huge piece took goes back, also when it is given back already
    arena_reset_and_trim(&arena, 50000);
    ck_assert_uint_eq(arena.total_bytes, 0);
    arena_deinit(&arena);
}
END_TEST

START_TEST(a_block_is_filled_to_its_last_byte_and_nothing_is_taken_twice) {
    Arena arena;
    arena_init(&arena, 1u << 24);
    unsigned char *first = arena_take(&arena, 64);
    size_t block_bytes = arena.total_bytes;
    // of no bytes too there are pieces apart
    const unsigned char *none = arena_take(&arena, 0);
    ck_assert_ptr_eq(none, first + 64);
    const unsigned char *rest = arena_take(&arena, block_bytes - 128);
    ck_assert_ptr_eq(rest, first + 128);
    ck_assert_uint_eq(arena.total_bytes, block_bytes);
    const unsigned char *next = arena_take(&arena, 0);
    ck_assert_ptr_nonnull(next);
    ck_assert(next < first || next >= first + block_bytes);
    ck_assert_uint_gt(arena.total_bytes, block_bytes);
    arena_deinit(&arena);
}
END_TEST

START_TEST(sizes_that_overflow_are_refused) {
    Arena arena;
    arena_init(&arena, SIZE_MAX);
    ck_assert_ptr_null(arena_take(&arena, SIZE_MAX));
    ck_assert_ptr_null(arena_take_array(&arena, SIZE_MAX / 2, 3));
    ck_assert_ptr_null(arena_take_zeroed(&arena, SIZE_MAX / 8 + 1, 8));
    ck_assert_ptr_nonnull(arena_take(&arena, 0));
    arena_deinit(&arena);
}
END_TEST

START_TEST(zeroed_pieces_are_zero_also_in_used_memory) {
    Arena arena;
    arena_init(&arena, 1u << 20);
    memset(arena_take(&arena, 4000), 0xff, 4000);
    arena_reset(&arena);
    const unsigned char *piece = arena_take_zeroed(&arena, 1000, 4);
    for (size_t i = 0; i < 4000; i++) {
        ck_assert_uint_eq(piece[i], 0);
    }
    arena_deinit(&arena);
}
END_TEST

START_TEST(marks_nest_and_give_back_what_came_after) {
    Arena arena;
    arena_init(&arena, 1u << 24);
    ArenaMark empty = arena_mark(&arena);
    char *kept = arena_take(&arena, 100);
    memcpy(kept, "kept", 5);
    ArenaMark outer = arena_mark(&arena);
    void *first = arena_take(&arena, 200);
    ArenaMark inner = arena_mark(&arena);
    for (int i = 0; i < 100; i++) {
        ck_assert_ptr_nonnull(arena_take(&arena, 5000)); // grows the chain
    }
    arena_reset_to(&arena, inner);
    arena_reset_to(&arena, outer);
    ck_assert_ptr_eq(arena_take(&arena, 200), first);
    ck_assert_str_eq(kept, "kept");
    arena_reset_to(&arena, empty);
    ck_assert_uint_eq(arena.used_bytes, 0);
    arena_deinit(&arena);
}
END_TEST

START_TEST(after_a_reset_one_block_serves_the_same_use) {
    Arena arena;
    arena_init(&arena, 1u << 26);
    size_t total = 0;
    for (int round = 0; round < 10; round++) {
        for (int i = 0; i < 200; i++) {
            ck_assert_ptr_nonnull(arena_take(&arena, 3000));
        }
        ck_assert(round < 2 || arena.total_bytes == total);
        arena_reset(&arena);
        total = arena.total_bytes;
    }
    arena_deinit(&arena);
}
END_TEST

START_TEST(arenas_that_share_a_budget_never_hold_more_together) {
    Budget budget = {.max_bytes = 1 << 20};
    Arena one, other;
    arena_init_sharing(&one, &budget);
    arena_init_sharing(&other, &budget);
    ck_assert_ptr_nonnull(arena_take(&one, 700000));
    ck_assert_uint_eq(budget_used_bytes(&budget), one.total_bytes);
    ck_assert_ptr_null(arena_take(&other, 400000));
    ck_assert_uint_eq(other.total_bytes, 0);
    ck_assert_ptr_nonnull(arena_take(&other, 100000));
    // a chain would double, for which there is no room, but there is for what is asked
    ck_assert_ptr_nonnull(arena_take(&other, 200000));
    ck_assert_uint_eq(budget_used_bytes(&budget), one.total_bytes + other.total_bytes);
    ck_assert_uint_le(budget_used_bytes(&budget), budget.max_bytes);
    arena_reset_and_trim(&one, 1000);
    ck_assert_uint_eq(budget_used_bytes(&budget), other.total_bytes);
    ck_assert_ptr_nonnull(arena_take(&other, 600000)); // what the other gave back
    ArenaMark mark = arena_mark(&other);
    arena_reset_to(&other, mark);
    arena_reset(&other);
    ck_assert_uint_eq(budget_used_bytes(&budget), other.total_bytes);
    arena_deinit(&other);
    arena_deinit(&one);
    ck_assert_uint_eq(budget_used_bytes(&budget), 0);
}
END_TEST

static TCase *case_arena(void) {
    TCase *tcase = tcase_create("arena");
    tcase_add_test(tcase, pieces_are_aligned_apart_and_stay_where_they_are);
    tcase_add_test(tcase, the_limit_holds_and_a_refusal_harms_nothing);
    tcase_add_test(tcase, work_that_is_repeated_finds_one_block_that_is_large_enough);
    tcase_add_test(tcase, a_block_is_filled_to_its_last_byte_and_nothing_is_taken_twice);
    tcase_add_test(tcase, sizes_that_overflow_are_refused);
    tcase_add_test(tcase, zeroed_pieces_are_zero_also_in_used_memory);
    tcase_add_test(tcase, marks_nest_and_give_back_what_came_after);
    tcase_add_test(tcase, after_a_reset_one_block_serves_the_same_use);
    tcase_add_test(tcase, arenas_that_share_a_budget_never_hold_more_together);
    return tcase;
}

SUITE_MAIN("base/arena", case_arena)
