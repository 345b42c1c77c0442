// SPDX-License-Identifier: MIT
// A snapshot is a world's whole future; its hash sees every byte; damaged ones are refused.
#include "step/snapshot/snapshot.h"

#include "base/hash.h"
#include "support/heap.h"
#include "support/idle_sizes.h"
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

typedef struct Bytes {
    uint8_t *bytes;
    size_t count;
} Bytes;

// A small heap, and one with all that few worlds have: bounds, a last body that left them, and
// collision groups.
static Lab small_heap(bool is_bounded) {
    Lab lab = heap_create(9, 4);
    if (is_bounded) {
        lab.world->settings.has_bounds = true;
        lab.world->settings.bounds_lower = vec3(-9.0, -9.0, -9.0);
        lab.world->settings.bounds_upper = vec3(9.0, 9.0, 9.0);
        lab.world->pose[7 * (size_t)(lab.world->body_count - 1)] = 10.0;
        lab.world->primitive[0].group = 3;
    }
    lab_step(&lab, 60);
    ck_assert_uint_eq(world_removed_count(lab.world), is_bounded);
    return lab;
}

static Bytes write_world(Lab *lab) {
    Bytes all;
    Error error = {0};
    ck_assert_int_eq(snapshot_write(lab->world, &lab->scratch, &all.bytes, &all.count, &error),
                     STATUS_OK);
    return all;
}

// As if these bytes had been written so.
static void seal(Bytes all) {
    uint64_t checksum = hash_bytes(all.bytes, all.count - SNAPSHOT_CHECKSUM_BYTES, 0);
    memcpy(all.bytes + all.count - SNAPSHOT_CHECKSUM_BYTES, &checksum, sizeof(checksum));
}

static Status read_status(Bytes all, Error *error) {
    World *world = NULL;
    *error = (Error){0};
    Status status = snapshot_read(all.bytes, all.count, &limits, &world, error);
    ck_assert(status == STATUS_OK || world == NULL);
    world_destroy(world);
    return status;
}

// What a flipped bit is refused as: in the magic it is no snapshot, in the format it is another
// one, anywhere else it is damage.
static void refuse_flipped(Bytes all, size_t bit) {
    all.bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
    Error error;
    Status status = read_status(all, &error);
    Status expected = bit / 8 < 8                     ? STATUS_INVALID_ARGUMENT
                      : bit / 8 >= 12 && bit / 8 < 16 ? STATUS_FAILED_PRECONDITION
                                                      : STATUS_DATA_LOSS;
    ck_assert_msg(status == expected, "bit %zu of %zu: status %d", bit, 8 * all.count, status);
    ck_assert(status != STATUS_DATA_LOSS || strstr(error.message, "checksum") != NULL);
    all.bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
}

START_TEST(no_flipped_bit_is_ever_restored) {
    Lab small = small_heap(_i == 1), large = heap_create(9, 300);
    lab_step(&large, 5);
    Bytes all = write_world(&small);
    for (size_t bit = 0; bit < 8 * all.count; bit++) {
        refuse_flipped(all, bit);
    }
    all = write_world(&large);
    // a stride without a factor of 2 meets every bit of a byte and every byte of a number
    for (size_t bit = 0; bit < 8 * all.count; bit += 257) {
        refuse_flipped(all, bit);
    }
    Error error;
    ck_assert_int_eq(read_status(all, &error), STATUS_OK);
    lab_destroy(&small);
    lab_destroy(&large);
}
END_TEST

// The checksum proves that the bytes are as somebody wrote them, not that they make sense: each is
// judged, or it makes another world with another hash, or nothing reads it.
START_TEST(what_was_written_so_on_purpose_is_judged) {
    Lab lab = small_heap(_i == 1);
    Bytes all = write_world(&lab);
    Error error = {0};
    uint64_t hash = snapshot_hash(lab.world);
    size_t accepted = 0, forgotten = 0;
    for (size_t i = 0; i < all.count - SNAPSHOT_CHECKSUM_BYTES; i++) {
        for (int bit = 0; bit < 8; bit += 3) {
            all.bytes[i] ^= (uint8_t)(1u << bit);
            seal(all);
            World *world = NULL;
            if (snapshot_read(all.bytes, all.count, &limits, &world, &error) == STATUS_OK) {
                forgotten += snapshot_hash(world) == hash;
                world_destroy(world);
                accepted++;
            } else {
                ck_assert_ptr_null(world);
            }
            all.bytes[i] ^= (uint8_t)(1u << bit);
        }
    }
    ck_assert_uint_eq(forgotten, 3 * idle_size_bytes(lab.world)); // bits 0, 3 and 6 of each
    ck_assert_uint_gt(accepted, all.count / 4); // most bytes are mantissas of doubles
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
    Bytes all = write_world(&lab);
    all.bytes[8] = 77;
    seal(all);
    Error error;
    ck_assert_int_eq(read_status(all, &error), STATUS_FAILED_PRECONDITION);
    ck_assert_ptr_nonnull(strstr(error.message, "77"));
    char own[16];
    snprintf(own, sizeof(own), "%d", DYNAMICS_VERSION);
    ck_assert_ptr_nonnull(strstr(error.message, own));
    lab_destroy(&lab);
}
END_TEST

// Format 0 had the dynamics version in eight bytes and no checksum.
START_TEST(a_snapshot_from_before_there_were_checksums_says_so) {
    Lab lab = heap_create(1, 1);
    Bytes all = write_world(&lab);
    memset(all.bytes + 12, 0, 4);
    all.count -= SNAPSHOT_CHECKSUM_BYTES;
    Error error;
    ck_assert_int_eq(read_status(all, &error), STATUS_FAILED_PRECONDITION);
    ck_assert_ptr_nonnull(strstr(error.message, "format 0"));
    lab_destroy(&lab);
}
END_TEST

// A small heap's bytes with the setting at a number.
static Bytes write_setting(Lab *lab, const Setting *setting, double number) {
    setting_set_number(&lab->world->settings, setting, number);
    return write_world(lab);
}

static bool is_number(const Setting *setting) {
    return setting->type == SETTING_IS_NUMBER || setting->type == SETTING_IS_CHOICE ||
           setting->type == SETTING_IS_COUNT;
}

START_TEST(a_setting_that_cannot_be_set_is_refused) {
    const Setting *setting = setting_get((SettingKind)_i);
    if (!is_number(setting)) { // of vectors and flags: no flipped bit, above
        return;
    }
    Lab lab = small_heap(false);
    Error error;
    ck_assert_int_ne(read_status(write_setting(&lab, setting, 1e300), &error), STATUS_OK);
    ck_assert_str_ne(error.message, "");
    lab_destroy(&lab);
}
END_TEST

// It would be written as another snapshot than it was read from.
START_TEST(a_choice_of_its_own_that_is_the_default_is_refused) {
    const Setting *setting = setting_get((SettingKind)_i);
    if (setting->type != SETTING_IS_CHOICE ||
        setting->section == 1) { // 1: all there from the start
        return;
    }
    Lab lab = small_heap(false);
    Bytes all = write_setting(&lab, setting, 77.0), other = write_setting(&lab, setting, 78.0);
    size_t differing = 0;
    for (size_t i = 0; i < all.count - SNAPSHOT_CHECKSUM_BYTES; i++) {
        if (all.bytes[i] != other.bytes[i]) {
            all.bytes[i] = (uint8_t)setting->initial[0];
            differing++;
        }
    }
    ck_assert_uint_eq(differing, 1);
    seal(all);
    Error error;
    ck_assert_int_eq(read_status(all, &error), STATUS_DATA_LOSS);
    ck_assert_ptr_nonnull(strstr(error.message, "default"));
    lab_destroy(&lab);
}
END_TEST

static TCase *case_snapshot(void) {
    TCase *tcase = tcase_create("snapshot");
    tcase_set_timeout(tcase, 120.0);
    tcase_add_test(tcase, a_restored_world_has_the_same_bytes_and_hash);
    tcase_add_test(tcase, restoring_after_every_step_changes_no_bit_of_the_future);
    tcase_add_loop_test(tcase, no_flipped_bit_is_ever_restored, 0, 2);
    tcase_add_loop_test(tcase, what_was_written_so_on_purpose_is_judged, 0, 2);
    tcase_add_loop_test(tcase, a_snapshot_cut_anywhere_is_refused, 0, 2);
    tcase_add_loop_test(tcase, a_setting_that_cannot_be_set_is_refused, 0, SETTING_COUNT);
    tcase_add_loop_test(tcase, a_choice_of_its_own_that_is_the_default_is_refused, 0,
                        SETTING_COUNT);
    tcase_add_test(tcase, another_dynamics_version_names_both);
    tcase_add_test(tcase, a_snapshot_from_before_there_were_checksums_says_so);
    return tcase;
}

SUITE_MAIN("step/snapshot", case_snapshot)
