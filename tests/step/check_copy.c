// SPDX-License-Identifier: MIT
// world_copy_state makes one world's state another's, to the bit, whatever it has been through.
#include "step/snapshot/snapshot.h"
#include "support/heap.h"
#include "support/suite.h"
#include "world/sleep.h"

static void expect_one_future(Lab *a, Lab *b) {
    for (int i = 0; i < 50; i++) {
        ck_assert_uint_eq(snapshot_hash(a->world), snapshot_hash(b->world));
        lab_step(a, 1);
        lab_step(b, 1);
    }
    ck_assert_uint_eq(snapshot_hash(a->world), snapshot_hash(b->world));
}

// The template is a world in motion, with impulses to start from; the other one has gone on.
static void expect_copy(Lab *template, Lab *other, int before, int between) {
    lab_step(template, before);
    lab_step(other, before + between);
    ck_assert_uint_ne(snapshot_hash(template->world), snapshot_hash(other->world));
    ck_assert(world_is_alike(other->world, template->world));
    ck_assert(world_copy_state(other->world, template->world));
    expect_one_future(template, other);
}

START_TEST(a_heap_goes_on_as_its_template) {
    Lab a = heap_create(3, 20), b = heap_create(3, 20);
    expect_copy(&a, &b, 60, 40);
    ck_assert_uint_gt(a.world->memory_count, 0);
    lab_destroy(&a);
    lab_destroy(&b);
}
END_TEST

static Lab sleepy_heap(void) {
    Lab lab = heap_create(5, 8);
    WorldSettings settings = lab.world->settings;
    settings.sleep_speed = 0.5; // some fall asleep, others go on
    settings.sleep_time = 0.05;
    world_set_settings(lab.world, &settings);
    return lab;
}

START_TEST(sleepers_sleep_on_and_those_awake_wake) {
    Lab a = sleepy_heap(), b = sleepy_heap();
    expect_copy(&a, &b, 300, 60);
    ck_assert_ptr_nonnull(a.world->sleep);
    // and the other way: from one that has never slept
    Lab fresh = sleepy_heap();
    ck_assert(world_copy_state(b.world, fresh.world));
    expect_one_future(&fresh, &b);
    lab_destroy(&a);
    lab_destroy(&b);
    lab_destroy(&fresh);
}
END_TEST

static TCase *case_copy(void) {
    TCase *tcase = tcase_create("copy");
    tcase_add_test(tcase, a_heap_goes_on_as_its_template);
    tcase_add_test(tcase, sleepers_sleep_on_and_those_awake_wake);
    return tcase;
}

SUITE_MAIN("step/copy", case_copy)
