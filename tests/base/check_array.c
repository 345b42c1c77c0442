// SPDX-License-Identifier: MIT
#include "base/array.h"

#include "support/suite.h"

#include <stdint.h>
#include <string.h>

enum { LARGE_ITEMS = 256, ITEM_BYTES = 24, ITEMS = 200000 };

// One by one, which is how most grow. What is copied at most, were no array ever grown where it is,
// follows from the least growth, a quarter: all lengths that were sum up to five times the last.
START_TEST(an_array_has_half_as_much_to_spare_and_a_large_one_a_quarter) {
    unsigned char *item = NULL;
    size_t capacity = 0, moved = 0;
    for (size_t count = 1; count <= ITEMS; count++) {
        const size_t before = capacity;
        ck_assert(array_reserve((void **)&item, &capacity, count, ITEM_BYTES));
        ck_assert_uint_ge(capacity, count);
        const size_t part = before < LARGE_ITEMS ? 2 : 4;
        if (capacity != before) {
            moved += before;
            ck_assert_uint_eq(before, count - 1);
            ck_assert_uint_eq(capacity, before / part == 0 ? count : before + before / part);
        }
        memset(item + (count - 1) * ITEM_BYTES, (int)(count % 251), ITEM_BYTES);
    }
    ck_assert_uint_le(moved, (size_t)5 * ITEMS);
    for (size_t i = 0; i < ITEMS; i++) {
        ck_assert_uint_eq(item[i * ITEM_BYTES + i % ITEM_BYTES], (i + 1) % 251);
    }
    free(item);
}
END_TEST

// Of which one number says the capacity: world_bytes would be wrong, or memory overrun.
START_TEST(columns_of_small_and_large_items_grow_alike) {
    unsigned char *small = NULL, *large = NULL;
    size_t of_small = 0, of_large = 0;
    for (size_t count = 1; count <= 5000; count++) {
        ck_assert(array_reserve((void **)&small, &of_small, count, 1));
        ck_assert(array_reserve((void **)&large, &of_large, count, 400));
        ck_assert_uint_eq(of_small, of_large);
    }
    free(small);
    free(large);
}
END_TEST

START_TEST(room_for_many_at_once_is_room_for_no_more) {
    double *number = NULL;
    size_t capacity = 0;
    ck_assert(ARRAY_RESERVE(number, capacity, ITEMS));
    ck_assert_uint_eq(capacity, ITEMS);
    ck_assert(ARRAY_RESERVE(number, capacity, (size_t)3 * ITEMS));
    ck_assert_uint_eq(capacity, (size_t)3 * ITEMS);
    ck_assert(ARRAY_RESERVE(number, capacity, ITEMS)); // never less
    ck_assert_uint_eq(capacity, (size_t)3 * ITEMS);
    free(number);
}
END_TEST

START_TEST(room_that_no_machine_has_is_refused_and_all_is_as_it_was) {
    double *number = NULL;
    size_t capacity = 0;
    ck_assert(ARRAY_RESERVE(number, capacity, 2));
    number[1] = 7.0;
    double *const held = number;
    ck_assert(!ARRAY_RESERVE(number, capacity, SIZE_MAX / 4));
    ck_assert_ptr_eq(number, held);
    ck_assert_uint_eq(capacity, 2);
    ck_assert(number[1] == 7.0);
    free(number);
}
END_TEST

START_TEST(what_was_made_room_for_in_vain_is_given_back) {
    double *number = NULL;
    size_t capacity = 0;
    ck_assert(ARRAY_RESERVE(number, capacity, 5));
    number[4] = 3.0;
    ck_assert(ARRAY_RESERVE(number, capacity, ITEMS));
    ARRAY_GIVE_BACK(number, capacity, 5);
    ck_assert_uint_eq(capacity, 5);
    ck_assert(number[4] == 3.0);
    ARRAY_GIVE_BACK(number, capacity, 6); // it never had so many
    ck_assert_uint_eq(capacity, 5);
    ARRAY_GIVE_BACK(number, capacity, 0);
    ck_assert_uint_eq(capacity, 0);
    ck_assert_ptr_null(number);
}
END_TEST

static TCase *case_array(void) {
    TCase *tcase = tcase_create("array");
    tcase_add_test(tcase, an_array_has_half_as_much_to_spare_and_a_large_one_a_quarter);
    tcase_add_test(tcase, columns_of_small_and_large_items_grow_alike);
    tcase_add_test(tcase, room_for_many_at_once_is_room_for_no_more);
    tcase_add_test(tcase, room_that_no_machine_has_is_refused_and_all_is_as_it_was);
    tcase_add_test(tcase, what_was_made_room_for_in_vain_is_given_back);
    return tcase;
}

SUITE_MAIN("base/array", case_array)
