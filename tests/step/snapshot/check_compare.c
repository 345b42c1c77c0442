// SPDX-License-Identifier: MIT
// The first difference between two snapshots has a name, whatever bytes they are.
#include "step/snapshot/compare.h"

#include "step/snapshot/snapshot.h"
#include "support/heap.h"
#include "support/suite.h"

#include <string.h>

typedef struct Bytes {
    uint8_t *bytes;
    size_t count;
} Bytes;

static Bytes write_world(Lab *lab) {
    Bytes all;
    Error error = {0};
    ck_assert_int_eq(snapshot_write(lab->world, &lab->scratch, &all.bytes, &all.count, &error),
                     STATUS_OK);
    return all;
}

static SnapshotDifference differ(Bytes expected, Bytes found) {
    SnapshotDifference difference;
    ck_assert(
        snapshot_compare(expected.bytes, expected.count, found.bytes, found.count, &difference));
    return difference;
}

START_TEST(equal_snapshots_do_not_differ) {
    Lab lab = heap_create(1, 8);
    lab_step(&lab, 10);
    Bytes a = write_world(&lab), b = write_world(&lab);
    SnapshotDifference difference;
    ck_assert(!snapshot_compare(a.bytes, a.count, b.bytes, b.count, &difference));
    lab_destroy(&lab);
}
END_TEST

START_TEST(what_was_changed_is_named) {
    Lab lab = heap_create(1, 8);
    lab_step(&lab, 10);
    World *world = lab.world;
    Bytes before = write_world(&lab);

    world->velocity[6 * 3 + 4] = 0.625;
    SnapshotDifference difference = differ(before, write_world(&lab));
    ck_assert_str_eq(difference.quantity, "velocity.wy");
    ck_assert_uint_eq(difference.body, world->body_id[3]);
    ck_assert_double_eq(difference.found, 0.625);

    // what stands further in front is told first
    world->pose[7 * 2 + 6] += 0.25;
    difference = differ(before, write_world(&lab));
    ck_assert_str_eq(difference.quantity, "orientation.z");
    ck_assert_double_eq_tol(difference.found - difference.expected, 0.25, 1e-15); // one rounding
    world->mass[1].mass = 17.0;
    difference = differ(before, write_world(&lab));
    ck_assert_str_eq(difference.quantity, "mass");
    ck_assert_uint_eq(difference.body, world->body_id[1]);

    lab_material(&lab, 0.5, 0.25);
    difference = differ(before, write_world(&lab));
    ck_assert_str_eq(difference.quantity, "materials");
    lab_set(&lab, "max_iterations", 77.0);
    difference = differ(before, write_world(&lab));
    ck_assert_str_eq(difference.quantity, "parameter[1]");
    ck_assert_double_eq(difference.found, 77.0);
    lab_destroy(&lab);
}
END_TEST

// Both ways, what one of them does not say at all is named.
START_TEST(bounds_and_ids_that_only_one_has_are_named) {
    Lab plain = heap_create(1, 8), bounded = heap_create(1, 8);
    bounded.world->settings.has_bounds = true;
    bounded.world->settings.bounds_upper = vec3(9.0, 9.0, 9.0);
    ck_assert_str_eq(differ(write_world(&plain), write_world(&bounded)).quantity, "bounds");
    ck_assert_str_eq(differ(write_world(&bounded), write_world(&plain)).quantity, "bounds");
    bounded.world->settings.has_bounds = false;
    bounded.world->body_id_next++;
    ck_assert_str_eq(differ(write_world(&plain), write_world(&bounded)).quantity, "ids");
    ck_assert_str_eq(differ(write_world(&bounded), write_world(&plain)).quantity, "ids");
    lab_destroy(&plain);
    lab_destroy(&bounded);
}
END_TEST

START_TEST(another_number_of_bodies_is_named) {
    Lab small = heap_create(1, 8), large = heap_create(1, 9);
    SnapshotDifference difference = differ(write_world(&small), write_world(&large));
    ck_assert_str_eq(difference.quantity, "bodies");
    ck_assert_double_eq(difference.expected + 1.0, difference.found);
    lab_destroy(&small);
    lab_destroy(&large);
}
END_TEST

// Cut anywhere, and with any byte another: the exact copies on the heap let the sanitizer see what
// is read beyond the end.
START_TEST(any_bytes_differ_somewhere) {
    Lab lab = heap_create(1, 3);
    lab_step(&lab, 30);
    Bytes sound = write_world(&lab);
    for (size_t count = 0; count < sound.count; count++) {
        Bytes cut = {.bytes = malloc(count + 1), .count = count};
        memcpy(cut.bytes, sound.bytes, count);
        ck_assert_uint_gt(strlen(differ(cut, sound).quantity), 0);
        ck_assert_uint_gt(strlen(differ(sound, cut).quantity), 0);
        free(cut.bytes);
    }
    Bytes other = write_world(&lab);
    for (size_t at = 0; at < sound.count; at++) {
        sound.bytes[at] ^= 0xff;
        ck_assert_uint_gt(strlen(differ(sound, other).quantity), 0);
        ck_assert_uint_gt(strlen(differ(other, sound).quantity), 0);
        sound.bytes[at] ^= 0xff;
    }
    lab_destroy(&lab);
}
END_TEST

static TCase *case_compare(void) {
    TCase *tcase = tcase_create("compare");
    tcase_add_test(tcase, equal_snapshots_do_not_differ);
    tcase_add_test(tcase, what_was_changed_is_named);
    tcase_add_test(tcase, bounds_and_ids_that_only_one_has_are_named);
    tcase_add_test(tcase, another_number_of_bodies_is_named);
    tcase_add_test(tcase, any_bytes_differ_somewhere);
    return tcase;
}

SUITE_MAIN("step/snapshot_compare", case_compare)
