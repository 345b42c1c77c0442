// SPDX-License-Identifier: MIT
// Bodies that leave the bounds of their world are removed at the end of the step, in the same way
// however the world came there; those that stay go on as if nothing had been.
#include "step/snapshot/snapshot.h"
#include "support/heap.h"
#include "support/suite.h"

#include <math.h>
#include <string.h>

static void set_bounds(Lab *lab, Vec3 lower, Vec3 upper) {
    WorldSettings settings = lab->world->settings;
    Error error = {0};
    settings.has_bounds = true;
    settings.bounds_lower = lower;
    settings.bounds_upper = upper;
    ck_assert_int_eq(settings_check(&settings, &error), STATUS_OK);
    world_set_settings(lab->world, &settings);
}

static uint32_t add_ball(Lab *lab, BodyKind kind, Vec3 position, Vec3 velocity) {
    Id shape = lab_shape(lab, PRIMITIVE_SPHERE, vec3(0.1, 0.0, 0.0), 0);
    const double v[6] = {velocity.x, velocity.y, velocity.z, 0.0, 0.0, 0.0};
    return lab_body(lab, shape, kind, (Pose){.position = position, .orientation = quat_identity()},
                    kind == BODY_STATIC ? NULL : v, 1.0, NULL);
}

START_TEST(what_leaves_through_any_face_is_removed_after_that_step) {
    Lab lab = lab_create(0.0, 0.125); // powers of two: places are exact
    set_bounds(&lab, vec3(-1.0, -1.0, -1.0), vec3(1.0, 1.0, 1.0));
    Vec3 way = vec3(_i / 2 == 0, _i / 2 == 1, _i / 2 == 2);
    way = vec3_scale(_i % 2 == 0 ? 1.0 : -1.0, way);
    add_ball(&lab, BODY_DYNAMIC, vec3_scale(0.5, way), way); // on the face in 4 steps, out in 5
    add_ball(&lab, BODY_DYNAMIC, vec3(0.0, 0.0, 0.0), vec3(0.0, 0.0, 0.0));
    lab_step(&lab, 4);
    ck_assert_uint_eq(lab.world->body_count, 2);
    ck_assert_double_eq(fabs(vec3_dot(way, lab_position(&lab, 0))), 1.0);
    lab_step(&lab, 1);
    ck_assert_uint_eq(lab.report.removed_count, 1);
    ck_assert_uint_eq(lab.world->body_count, 1);
    ck_assert_uint_eq(lab.world->body_id[0], 2);
    lab_step(&lab, 1);
    ck_assert_uint_eq(lab.report.removed_count, 0);
    lab_destroy(&lab);
}
END_TEST

START_TEST(only_what_moves_by_forces_is_removed) {
    Lab lab = lab_create(0.0, 0.1);
    set_bounds(&lab, vec3(-1.0, -1.0, -1.0), vec3(1.0, 1.0, 1.0));
    add_ball(&lab, BODY_STATIC, vec3(3.0, 0.0, 0.0), vec3(0.0, 0.0, 0.0));
    add_ball(&lab, BODY_KINEMATIC, vec3(0.0, 3.0, 0.0), vec3(0.0, 1.0, 0.0));
    add_ball(&lab, BODY_DYNAMIC, vec3(0.0, 0.0, 3.0), vec3(0.0, 0.0, 0.0)); // was put outside
    lab_ground(&lab, 0);
    lab_step(&lab, 1);
    ck_assert_uint_eq(lab.world->body_count, 3);
    ck_assert_uint_eq(lab.world->dynamic_count, 0);
    ck_assert_uint_eq(lab.report.removed_count, 1);
    lab_step(&lab, 10);
    ck_assert_double_eq_tol(lab_position(&lab, 1).y, 4.1, 1e-12);
    lab_destroy(&lab);
}
END_TEST

// Of two balls that touch one leaves: who pushed whom is told by the ids of then.
START_TEST(the_contacts_of_the_step_tell_of_those_that_left) {
    Lab lab = lab_create(0.0, 0.1);
    set_bounds(&lab, vec3(-1.0, -1.0, -1.0), vec3(1.0, 1.0, 1.0));
    add_ball(&lab, BODY_DYNAMIC, vec3(0.95, 0.5, 0.0), vec3(1.0, 0.0, 0.0)); // leaves alone
    add_ball(&lab, BODY_DYNAMIC, vec3(0.76, 0.0, 0.0), vec3(1.0, 0.0, 0.0));
    add_ball(&lab, BODY_DYNAMIC, vec3(0.96, 0.0, 0.0), vec3(0.0, 0.0, 0.0)); // pushed out
    add_ball(&lab, BODY_DYNAMIC, vec3(0.0, 0.0, 0.0), vec3(0.0, 0.0, 0.0));
    lab_step(&lab, 1);
    ck_assert_uint_eq(lab.world->body_count, 2);
    ck_assert_uint_eq(lab.report.removed_count, 2);
    ck_assert(lab.stepper->has_last);
    ck_assert_uint_eq(lab.stepper->contact_count, 1);
    const StepContact *contact = lab.stepper->contact;
    ck_assert_uint_eq(stepper_body_id(lab.stepper, lab.world, contact->a), 2);
    ck_assert_uint_eq(stepper_body_id(lab.stepper, lab.world, contact->b), 3);
    ck_assert_uint_eq(lab.report.worst_body[0], 2);
    ck_assert_uint_eq(lab.report.worst_body[1], 3);
    ck_assert_uint_eq(lab.world->memory_count, 0);
    lab_step(&lab, 1);
    ck_assert_uint_eq(lab.stepper->contact_count, 0);
    lab_destroy(&lab);
}
END_TEST

START_TEST(bounds_that_nobody_leaves_change_no_number) {
    Lab free = heap_create(4, 20), bounded = heap_create(4, 20);
    set_bounds(&bounded, vec3(-1e9, -1e9, -1e9), vec3(1e9, 1e9, 1e9));
    lab_step(&free, 100);
    lab_step(&bounded, 100);
    size_t count = free.world->body_count;
    ck_assert_mem_eq(free.world->pose, bounded.world->pose, 7 * count * sizeof(double));
    ck_assert_mem_eq(free.world->velocity, bounded.world->velocity, 6 * count * sizeof(double));
    ck_assert_uint_ne(snapshot_hash(free.world), snapshot_hash(bounded.world));
    lab_destroy(&free);
    lab_destroy(&bounded);
}
END_TEST

START_TEST(a_step_that_fails_removes_nothing) {
    Lab lab = lab_create(0.0, 1.0);
    set_bounds(&lab, vec3(-1.0, -1.0, -1.0), vec3(1.0, 1.0, 1.0));
    add_ball(&lab, BODY_DYNAMIC, vec3(0.9, 0.0, 0.0), vec3(1.0, 0.0, 0.0));
    add_ball(&lab, BODY_DYNAMIC, vec3(0.0, 0.0, 0.0), vec3(0.0, 0.0, 0.0));
    const uint32_t body = 1;
    const double wrench[6] = {1e39, 0.0, 0.0, 0.0, 0.0, 0.0}; // leaves the floats
    StepInput input = {.time_step = 1.0, .wrench_count = 1, .wrench_body = &body, .wrench = wrench};
    Error error = {0};
    ck_assert_int_eq(
        stepper_run(lab.stepper, lab.world, &input, &lab.scratch, NULL, &lab.report, &error),
        STATUS_FAILED_PRECONDITION);
    ck_assert_uint_eq(lab.world->body_count, 2);
    ck_assert_uint_eq(lab.report.removed_count, 0);
    lab_destroy(&lab);
}
END_TEST

// A heap that falls apart: some of it rolls and bounces out.
static Lab leaking_heap(void) {
    Lab lab = heap_create(6, 40);
    set_bounds(&lab, vec3(-0.8, -0.8, -5.0), vec3(0.8, 0.8, 50.0));
    return lab;
}

START_TEST(restoring_after_every_step_changes_no_bit_while_bodies_leave) {
    Lab straight = leaking_heap(), restored = leaking_heap();
    uint64_t removed = 0;
    for (int i = 0; i < 400; i++) {
        lab_step(&straight, 1);
        lab_step(&restored, 1);
        removed += straight.report.removed_count;
        lab_restore(&restored);
        ck_assert_uint_eq(world_removed_count(restored.world), removed);
        ck_assert_uint_eq(snapshot_hash(restored.world), snapshot_hash(straight.world));
    }
    ck_assert_uint_gt(removed, 5);
    ck_assert_uint_gt(straight.world->dynamic_count, 5);
    lab_destroy(&straight);
    lab_destroy(&restored);
}
END_TEST

// Nothing is left of it but the ids that it has given.
START_TEST(an_empty_world_still_knows_its_ids) {
    Lab lab = lab_create(0.0, 1.0);
    set_bounds(&lab, vec3(-1.0, -1.0, -1.0), vec3(1.0, 1.0, 1.0));
    add_ball(&lab, BODY_DYNAMIC, vec3(5.0, 0.0, 0.0), vec3(0.0, 0.0, 0.0));
    lab_step(&lab, 1);
    ck_assert_uint_eq(lab.world->body_count, 0);
    lab_step(&lab, 3);
    World *world = lab_copy(&lab);
    ck_assert_uint_eq(world_removed_count(world), 1);
    world_destroy(lab.world);
    lab.world = world;
    uint32_t added = add_ball(&lab, BODY_DYNAMIC, vec3(0.0, 0.0, 0.0), vec3(0.0, 0.0, 0.0));
    ck_assert_uint_eq(lab.world->body_id[added], 2);
    lab_destroy(&lab);
}
END_TEST

static TCase *case_bounds(void) {
    TCase *tcase = tcase_create("bounds");
    tcase_set_timeout(tcase, 120.0);
    tcase_add_loop_test(tcase, what_leaves_through_any_face_is_removed_after_that_step, 0, 6);
    tcase_add_test(tcase, only_what_moves_by_forces_is_removed);
    tcase_add_test(tcase, the_contacts_of_the_step_tell_of_those_that_left);
    tcase_add_test(tcase, bounds_that_nobody_leaves_change_no_number);
    tcase_add_test(tcase, a_step_that_fails_removes_nothing);
    tcase_add_test(tcase, restoring_after_every_step_changes_no_bit_while_bodies_leave);
    tcase_add_test(tcase, an_empty_world_still_knows_its_ids);
    return tcase;
}

SUITE_MAIN("step/bounds", case_bounds)
