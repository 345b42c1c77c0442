// SPDX-License-Identifier: MIT
// Names of worlds: found while they come and go, and while the table grows beside the old one.
#include "run/worlds/names.h"
#include "support/suite.h"

#include <stdio.h>
#include <stdlib.h>

enum { NAMES = 5000, CALLS = 60000 };

typedef struct Town {
    Names names;
    WorldEntry *entry[NAMES];
    bool is_there[NAMES];
    uint64_t random;
} Town;

static uint64_t draw(Town *town, uint64_t below) {
    town->random = town->random * 6364136223846793005u + 1442695040888963407u;
    return (town->random >> 33) % below;
}

static void open_town(Town *town, uint64_t seed) {
    *town = (Town){.random = seed};
    for (size_t i = 0; i < NAMES; i++) {
        town->entry[i] = calloc(1, sizeof(WorldEntry) + 16);
        snprintf(town->entry[i]->text, 16, "world-%zu", i);
        town->entry[i]->name = town->entry[i]->text;
    }
}

static void close_town(Town *town) {
    for (size_t i = 0; i < NAMES; i++) {
        free(town->entry[i]);
    }
    names_deinit(&town->names);
}

static void expect(const Town *town, size_t which) {
    ck_assert_ptr_eq(names_find(&town->names, town->entry[which]->name, 0),
                     town->is_there[which] ? town->entry[which] : NULL);
}

static void change(Town *town, size_t which) {
    if (town->is_there[which]) {
        names_remove(&town->names, town->entry[which]);
    } else {
        ck_assert(names_reserve(&town->names));
        names_add(&town->names, town->entry[which]);
    }
    town->is_there[which] = !town->is_there[which];
}

// More and more of them come and go, so that the table grows again and again meanwhile.
START_TEST(whoever_is_there_is_found_and_nobody_else) {
    static Town town;
    open_town(&town, (uint64_t)_i + 1);
    ck_assert_ptr_null(names_find(&town.names, "nobody", 0));
    for (uint64_t call = 0; call < CALLS; call++) {
        change(&town, (size_t)draw(&town, 1 + call * NAMES / CALLS));
        for (int i = 0; i < 4; i++) {
            expect(&town, (size_t)draw(&town, NAMES));
        }
        if (call % 1000 == 0) {
            for (size_t i = 0; i < NAMES; i++) {
                expect(&town, i);
            }
        }
    }
    ck_assert_uint_gt(town.names.now.capacity, NAMES);
    close_town(&town);
}
END_TEST

// While many come and none goes, and while all go, the first ones first.
START_TEST(a_table_that_only_grows_loses_none) {
    static Town town;
    open_town(&town, 1);
    for (size_t i = 0; i < NAMES; i++) {
        change(&town, i);
        expect(&town, i / 2);
        expect(&town, i);
    }
    for (size_t i = 0; i < NAMES; i++) {
        change(&town, i);
        expect(&town, i);
        expect(&town, i + (NAMES - i) / 2 < NAMES ? i + (NAMES - i) / 2 : i);
    }
    ck_assert_uint_eq(town.names.count, 0);
    close_town(&town);
}
END_TEST

static TCase *case_names(void) {
    TCase *tcase = tcase_create("names");
    tcase_add_loop_test(tcase, whoever_is_there_is_found_and_nobody_else, 0, 5);
    tcase_add_test(tcase, a_table_that_only_grows_loses_none);
    return tcase;
}

SUITE_MAIN("run/names", case_names)
