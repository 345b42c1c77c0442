// SPDX-License-Identifier: MIT
// A snapshot is a world's whole future; its hash sees every byte; damaged ones are refused.
#include "step/snapshot.h"

#include "support/heap.h"
#include "support/suite.h"

#include <stdio.h>
#include <string.h>

static const WorldLimits limits = {.body_count_max = 1000, .bytes_max = (size_t)1 << 30};

static World *restore(const uint8_t *bytes, size_t count) {
    World *world = NULL;
    Error error = {0};
    Status status = snapshot_read(bytes, count, &limits, &world, &error);
    ck_assert_msg(status == STATUS_OK, "%s", error.message);
    return world;
}

START_TEST(a_restored_world_has_the_same_bytes_and_hash) {
    Lab lab = heap_create(3, 20);
    lab_step(&lab, 100);
    uint8_t *bytes, *again;
    size_t count, again_count;
    Error error = {0};
    ck_assert_int_eq(snapshot_write(lab.world, &lab.scratch, &bytes, &count, &error), STATUS_OK);
    World *world = restore(bytes, count);
    ck_assert_int_eq(snapshot_write(world, &lab.scratch, &again, &again_count, &error), STATUS_OK);
    ck_assert_uint_eq(count, again_count);
    ck_assert_mem_eq(bytes, again, count);
    ck_assert_uint_eq(snapshot_hash(world), snapshot_hash(lab.world));
    world_destroy(world);
    lab_destroy(&lab);
}
END_TEST

START_TEST(restoring_after_every_step_changes_no_bit_of_the_future) {
    Lab straight = heap_create(5, 24), restored = heap_create(5, 24);
    uint32_t contacts = 0;
    for (int i = 0; i < 500; i++) {
        lab_step(&straight, 1);
        lab_step(&restored, 1);
        contacts += straight.report.contact_count;

        // a new world and a new stepper: no cache may carry anything over
        uint8_t *bytes;
        size_t count;
        Error error = {0};
        ck_assert_int_eq(snapshot_write(restored.world, &restored.scratch, &bytes, &count, &error),
                         STATUS_OK);
        World *world = restore(bytes, count);
        world_destroy(restored.world);
        stepper_destroy(restored.stepper);
        arena_reset(&restored.scratch);
        restored.world = world;
        restored.stepper = stepper_create(limits.bytes_max);
        ck_assert_uint_eq(snapshot_hash(restored.world), snapshot_hash(straight.world));
    }
    ck_assert_uint_gt(contacts, 500 * 20);
    lab_destroy(&straight);
    lab_destroy(&restored);
}
END_TEST

// Every byte of the snapshot, flipped: it is refused, or it is another world with another hash.
START_TEST(no_flipped_byte_goes_unnoticed) {
    Lab lab = heap_create(9, 4);
    lab_step(&lab, 60);
    uint8_t *bytes;
    size_t count;
    Error error = {0};
    ck_assert_int_eq(snapshot_write(lab.world, &lab.scratch, &bytes, &count, &error), STATUS_OK);
    uint64_t hash = snapshot_hash(lab.world);
    size_t accepted = 0;
    for (size_t i = 0; i < count; i++) {
        for (int bit = 0; bit < 8; bit += 3) {
            bytes[i] ^= (uint8_t)(1u << bit);
            World *world = NULL;
            if (snapshot_read(bytes, count, &limits, &world, &error) == STATUS_OK) {
                ck_assert_msg(snapshot_hash(world) != hash, "byte %zu bit %d", i, bit);
                world_destroy(world);
                accepted++;
            } else {
                ck_assert_ptr_null(world);
            }
            bytes[i] ^= (uint8_t)(1u << bit);
        }
    }
    ck_assert_uint_gt(accepted, count / 4); // most bytes are mantissas of doubles
    lab_destroy(&lab);
}
END_TEST

START_TEST(a_snapshot_cut_anywhere_is_refused) {
    Lab lab = heap_create(9, 4);
    lab_step(&lab, 60);
    uint8_t *bytes;
    size_t count;
    Error error = {0};
    ck_assert_int_eq(snapshot_write(lab.world, &lab.scratch, &bytes, &count, &error), STATUS_OK);
    for (size_t cut = 0; cut < count; cut++) {
        World *world = NULL;
        ck_assert_int_ne(snapshot_read(bytes, cut, &limits, &world, &error), STATUS_OK);
    }
    lab_destroy(&lab);
}
END_TEST

START_TEST(another_dynamics_version_names_both) {
    Lab lab = heap_create(1, 1);
    uint8_t *bytes;
    size_t count;
    Error error = {0};
    ck_assert_int_eq(snapshot_write(lab.world, &lab.scratch, &bytes, &count, &error), STATUS_OK);
    bytes[8] = 77;
    World *world = NULL;
    ck_assert_int_eq(snapshot_read(bytes, count, &limits, &world, &error),
                     STATUS_FAILED_PRECONDITION);
    ck_assert_ptr_nonnull(strstr(error.message, "77"));
    char own[16];
    snprintf(own, sizeof(own), "%d", DYNAMICS_VERSION);
    ck_assert_ptr_nonnull(strstr(error.message, own));
    lab_destroy(&lab);
}
END_TEST

static TCase *case_snapshot(void) {
    TCase *tcase = tcase_create("snapshot");
    tcase_set_timeout(tcase, 120.0);
    tcase_add_test(tcase, a_restored_world_has_the_same_bytes_and_hash);
    tcase_add_test(tcase, restoring_after_every_step_changes_no_bit_of_the_future);
    tcase_add_test(tcase, no_flipped_byte_goes_unnoticed);
    tcase_add_test(tcase, a_snapshot_cut_anywhere_is_refused);
    tcase_add_test(tcase, another_dynamics_version_names_both);
    return tcase;
}

SUITE_MAIN("step/snapshot", case_snapshot)
