// SPDX-License-Identifier: MIT
// Joints in snapshots: what comes back is what was written, and what cannot be is refused.
#include "step/snapshot/snapshot.h"

#include "support/lab.h"
#include "support/suite.h"

#include <math.h>
#include <string.h>

// A double pendulum of coordinates, a ball of rows beside it, and a gear.
static Lab make_lab(void) {
    Lab lab = lab_create(9.81, 0.01);
    for (int i = 0; i < 3; i++) {
        const double pose[7] = {i, 0, 0, 1, 0, 0, 0}, mass = 2, inertia[6] = {1, 2, 2.5, 0, 0, 0},
                     center[3] = {0.1, 0.2, 0.3};
        const BodyColumns body = {
            .count = 1, .pose = pose, .mass = &mass, .inertia = inertia, .center_of_mass = center};
        Id id;
        ck_assert_int_eq(world_add_bodies(lab.world, &body, &id, NULL), STATUS_OK);
    }
    const uint32_t kinds[4] = {JOINT_HINGE, JOINT_UNIVERSAL, JOINT_HINGE, JOINT_GEAR},
                   rows[4] = {0, 0, 1, 0};
    const uint64_t a[4] = {0, 1, 0, 0}, b[4] = {1, 2, 3, 0}, first[4] = {0, 0, 0, 1},
                   second[4] = {0, 0, 0, 3};
    double frame[28];
    for (int i = 0; i < 4; i++) {
        const double one[7] = {0.37, -0.2, 0.1 * i, 0.5, 0.1, 0.2, 0.7};
        memcpy(frame + 7L * i, one, sizeof(one));
    }
    const double low[4] = {-1, -HUGE_VAL, -2, -3}, position[4] = {0.3, -0.7, 0.9, 0},
                 velocity[4] = {1, 2, 3, 4}, target[4] = {0.1, 0.2, 0.3, 0.4};
    const char *const joint_names[4] = {"shoulder", "elbow", NULL, "gear"};
    const JointColumns columns = {.count = 4,
                                  .axis_count = 4,
                                  .position_count = 4,
                                  .kind = kinds,
                                  .body_a = a,
                                  .body_b = b,
                                  .as_rows = rows,
                                  .frame_a = frame,
                                  .frame_b = frame,
                                  .joint_a = first,
                                  .joint_b = second,
                                  .low = low,
                                  .position = position,
                                  .velocity = velocity,
                                  .target = target,
                                  .name = joint_names};
    lab_joints(&lab, &columns);
    return lab;
}

static void write(Lab *lab, uint8_t **bytes, size_t *count) {
    ck_assert_int_eq(snapshot_write(lab->world, &lab->scratch, bytes, count, NULL), STATUS_OK);
}

START_TEST(joints_come_back_as_they_were) {
    Lab lab = make_lab();
    uint8_t *bytes, *again;
    size_t count, again_count;
    write(&lab, &bytes, &count);
    World *back = NULL;
    Error error = {0};
    ck_assert_msg(snapshot_read(bytes, count, &lab.world->limits, &back, &error) == STATUS_OK, "%s",
                  error.message);
    ck_assert_uint_eq(snapshot_hash(back), snapshot_hash(lab.world));
    ck_assert_int_eq(snapshot_write(back, &lab.scratch, &again, &again_count, NULL), STATUS_OK);
    ck_assert_uint_eq(count, again_count);
    ck_assert_mem_eq(bytes, again, count);
    ck_assert_str_eq(back->joint[1].name, "elbow");
    ck_assert_uint_eq(back->joint[3].partner[1], 2);
    ck_assert_uint_eq(back->trees->tree_count, 1);
    // and go on alike: ids rise from where they were
    const uint32_t kind = JOINT_FIXED, rows = 1;
    const uint64_t body = 1;
    const JointColumns one = {.count = 1, .kind = &kind, .body_b = &body, .as_rows = &rows};
    Id id;
    ck_assert_int_eq(world_add_joints(back, &one, &id, NULL), STATUS_OK);
    ck_assert_uint_eq(id, 5);
    world_destroy(back);
    lab_destroy(&lab);
}
END_TEST

START_TEST(a_world_whose_joints_are_gone_remembers_their_ids) {
    Lab lab = make_lab();
    world_remove_joints(lab.world, (const uint32_t[]){0, 1, 2}, 3);
    ck_assert_uint_eq(lab.world->joint_count, 0);
    uint8_t *bytes;
    size_t count;
    write(&lab, &bytes, &count);
    World *back = NULL;
    Error error = {0};
    ck_assert_msg(snapshot_read(bytes, count, &lab.world->limits, &back, &error) == STATUS_OK, "%s",
                  error.message);
    ck_assert_uint_eq(back->joint_id_next, 5);
    world_destroy(back);
    lab_destroy(&lab);
}
END_TEST

// What someone may have changed in a world's memory before it was written; joint 0 is a hinge, 1 a
// universal joint, 2 a hinge of rows, 3 a gear.
static void set_kind(World *world) {
    world->joint[0].kind = JOINT_KIND_COUNT;
}
static void set_axes(World *world) {
    world->joint[0].axes = 1;
}
static void set_body(World *world) {
    world->joint[0].body[1] = 77;
}
static void set_one_body(World *world) {
    world->joint[1].body[0] = world->joint[1].body[1];
}
static void set_two_parents(World *world) {
    world->joint[1].body[1] = world->joint[0].body[1];
    world->joint[1].body[0] = JOINT_NO_BODY;
}
static void set_partner(World *world) {
    world->joint[3].partner[0] = 3;
}
static void set_limits(World *world) {
    world->joint_axis[0].high = -2;
}
static void set_stiffness(World *world) {
    world->joint_axis[0].stiffness = 1e300;
}
static void set_armature(World *world) {
    world->joint_axis[3].armature = 1; // of rows
}
static void set_break(World *world) {
    world->joint[0].break_force = 1; // of coordinates
}
static void set_frame(World *world) {
    world->joint[0].frame[1].orientation.w = 2;
}
static void set_ids(World *world) {
    world->joint[1].id = world->joint[0].id;
}
static void set_next_id(World *world) {
    world->joint_id_next = 4;
}
static void set_position(World *world) {
    world->joint_position[0] += 0x1p-52; // bodies follow to the last bit
}
static void set_velocity(World *world) {
    world->joint_velocity[0] = NAN;
}
static void set_target(World *world) {
    world->joint_target[0] = 1e10;
}
static void set_pose(World *world) {
    world->pose[7] += 0x1p-50;
}
static void set_row_position(World *world) {
    world->joint_position[3] += 0.125;
}

static void (*const changes[])(World *world) = {
    set_kind,    set_axes,      set_body,     set_one_body, set_two_parents, set_partner,
    set_limits,  set_stiffness, set_armature, set_break,    set_frame,       set_ids,
    set_next_id, set_position,  set_velocity, set_target,   set_pose,        set_row_position,
};

START_TEST(what_cannot_be_is_refused) {
    Lab lab = make_lab();
    changes[_i](lab.world);
    uint8_t *bytes;
    size_t count;
    write(&lab, &bytes, &count);
    World *back = NULL;
    Error error = {0};
    ck_assert_int_eq(snapshot_read(bytes, count, &lab.world->limits, &back, &error),
                     STATUS_DATA_LOSS);
    ck_assert_ptr_null(back);
    lab_destroy(&lab);
}
END_TEST

static TCase *case_joints(void) {
    TCase *tcase = tcase_create("joints");
    tcase_add_test(tcase, joints_come_back_as_they_were);
    tcase_add_test(tcase, a_world_whose_joints_are_gone_remembers_their_ids);
    tcase_add_loop_test(tcase, what_cannot_be_is_refused, 0, sizeof(changes) / sizeof(changes[0]));
    return tcase;
}

SUITE_MAIN("step/snapshot_joints", case_joints)
