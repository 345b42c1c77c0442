// SPDX-License-Identifier: MIT
#include "base/slots.h"

#include "support/suite.h"

enum { THING_COUNT = 100 };

START_TEST(a_fresh_table_counts_from_one) {
    Slots slots;
    slots_init(&slots);
    ck_assert(slots_reserve(&slots, THING_COUNT));
    for (uint32_t i = 0; i < THING_COUNT; i++) {
        ck_assert_uint_eq(slots_add(&slots, i), i + 1);
    }
    uint32_t index;
    for (uint32_t i = 0; i < THING_COUNT; i++) {
        ck_assert(slots_find(&slots, i + 1, &index));
        ck_assert_uint_eq(index, i);
    }
    slots_deinit(&slots);
}
END_TEST

START_TEST(no_id_and_foreign_ids_find_nothing) {
    Slots slots;
    slots_init(&slots);
    uint32_t index = 7;
    ck_assert(!slots_find(&slots, 1, &index));
    ck_assert(slots_reserve(&slots, 1));
    Id id = slots_add(&slots, 3);
    const Id foreign[] = {0, 2, id | (Id)1 << 32, UINT64_MAX, UINT32_MAX};
    for (size_t i = 0; i < sizeof(foreign) / sizeof(foreign[0]); i++) {
        ck_assert(!slots_find(&slots, foreign[i], &index));
    }
    ck_assert_uint_eq(index, 7);
    slots_deinit(&slots);
}
END_TEST

START_TEST(a_stale_id_finds_nothing_also_when_its_slot_is_used_again) {
    Slots slots;
    slots_init(&slots);
    ck_assert(slots_reserve(&slots, 1));
    Id stale[THING_COUNT];
    for (int i = 0; i < THING_COUNT; i++) {
        stale[i] = slots_add(&slots, (uint32_t)i);
        ck_assert_uint_eq((uint32_t)stale[i], 1);
        for (int k = 0; k < i; k++) {
            uint32_t index;
            ck_assert_uint_ne(stale[k], stale[i]);
            ck_assert(!slots_find(&slots, stale[k], &index));
        }
        slots_remove(&slots, stale[i]);
    }
    ck_assert_uint_eq(slots.used_count, 0);
    slots_deinit(&slots);
}
END_TEST

START_TEST(freed_slots_are_used_again_oldest_first) {
    Slots slots;
    slots_init(&slots);
    ck_assert(slots_reserve(&slots, 5));
    Id id[5];
    for (uint32_t i = 0; i < 5; i++) {
        id[i] = slots_add(&slots, i);
    }
    slots_remove(&slots, id[3]);
    slots_remove(&slots, id[0]);
    slots_remove(&slots, id[4]);
    ck_assert_uint_eq((uint32_t)slots_add(&slots, 10), 4);
    ck_assert_uint_eq((uint32_t)slots_add(&slots, 11), 1);
    slots_remove(&slots, id[1]);
    ck_assert_uint_eq((uint32_t)slots_add(&slots, 12), 5);
    ck_assert_uint_eq((uint32_t)slots_add(&slots, 13), 2);
    ck_assert_uint_eq(slots.used_count, 5);
    slots_deinit(&slots);
}
END_TEST

START_TEST(a_thing_that_moved_is_found_where_it_is) {
    Slots slots;
    slots_init(&slots);
    ck_assert(slots_reserve(&slots, 2));
    Id first = slots_add(&slots, 0), second = slots_add(&slots, 1);
    slots_remove(&slots, first);
    slots_move(&slots, second, 0);
    uint32_t index = 9;
    ck_assert(slots_find(&slots, second, &index));
    ck_assert_uint_eq(index, 0);
    slots_deinit(&slots);
}
END_TEST

START_TEST(room_that_no_table_can_have_is_refused) {
    Slots slots;
    slots_init(&slots);
    ck_assert(!slots_reserve(&slots, (size_t)INT32_MAX + 1));
    ck_assert(!slots_reserve(&slots, SIZE_MAX));
    ck_assert(slots_reserve(&slots, 1));
    slots_deinit(&slots);
}
END_TEST

START_TEST(slots_may_rest_until_many_were_used) {
    Slots slots;
    slots_init(&slots);
    slots.reuse_from = 3;
    ck_assert(slots_reserve(&slots, 4));
    slots_remove(&slots, slots_add(&slots, 0));
    ck_assert_uint_eq(slots_add(&slots, 0), 2);
    ck_assert_uint_eq(slots_add(&slots, 1), 3);
    ck_assert_uint_eq(slots_add(&slots, 2), (Id)1 << 32 | 1); // now the first one again
    slots_deinit(&slots);
}
END_TEST

static TCase *case_slots(void) {
    TCase *tcase = tcase_create("slots");
    tcase_add_test(tcase, slots_may_rest_until_many_were_used);
    tcase_add_test(tcase, a_fresh_table_counts_from_one);
    tcase_add_test(tcase, no_id_and_foreign_ids_find_nothing);
    tcase_add_test(tcase, a_stale_id_finds_nothing_also_when_its_slot_is_used_again);
    tcase_add_test(tcase, freed_slots_are_used_again_oldest_first);
    tcase_add_test(tcase, a_thing_that_moved_is_found_where_it_is);
    tcase_add_test(tcase, room_that_no_table_can_have_is_refused);
    return tcase;
}

SUITE_MAIN("base/slots", case_slots)
