// SPDX-License-Identifier: MIT
// Collision groups and masks: who collides with whom, and that it is part of the world.
#include "step/snapshot/snapshot.h"
#include "step/step.h"

#include "collide/geometry.h"
#include "support/lab.h"
#include "support/suite.h"

enum { HERTZ = 240 };

static const double gravity = 9.81;

static Id add_shape(Lab *lab, PrimitiveKind kind, Vec3 size, uint32_t group, uint32_t mask) {
    uint32_t kinds[1] = {(uint32_t)kind};
    double sizes[3] = {size.x, size.y, size.z};
    ShapeColumns columns = {.shape_count = 1,
                            .primitive_count = 1,
                            .kind = kinds,
                            .size = sizes,
                            .group = &group,
                            .mask = &mask};
    Id id = 0;
    Error error = {0};
    ck_assert_int_eq(world_add_shapes(lab->world, &columns, &id, &error), STATUS_OK);
    return id;
}

static uint32_t add_ball(Lab *lab, Vec3 place, uint32_t group, uint32_t mask) {
    return lab_body(lab, add_shape(lab, PRIMITIVE_SPHERE, vec3(0.1, 0.0, 0.0), group, mask),
                    BODY_DYNAMIC, (Pose){place, quat_identity()}, NULL, 1.0, NULL);
}

static const struct {
    uint32_t group_a, mask_a, group_b, mask_b;
    bool collide;
} pairs[] = {
    {1, UINT32_MAX, 1, UINT32_MAX, true},
    {1, 2, 2, 1, true},
    {1, 2, 2, 2, false}, // the second does not collide with the first
    {1, 1, 2, UINT32_MAX, false},
    {1, 2, 2, UINT32_MAX, true},
    {0, UINT32_MAX, 1, UINT32_MAX, false},
    {1, 0, 1, UINT32_MAX, false},
    {6, 1, 9, 4, true}, // one group in common is enough
    {1u << 31, 1u << 31, 1u << 31, 1u << 31, true},
};

// Two balls that overlap: they are in contact, or they are not, whichever comes first.
START_TEST(each_must_collide_with_the_other) {
    for (int swapped = 0; swapped < 2; swapped++) {
        Lab lab = lab_create(0.0, 1.0 / HERTZ);
        uint32_t group[2] = {pairs[_i].group_a, pairs[_i].group_b},
                 mask[2] = {pairs[_i].mask_a, pairs[_i].mask_b};
        add_ball(&lab, vec3(0.0, 0.0, 0.0), group[swapped], mask[swapped]);
        add_ball(&lab, vec3(0.15, 0.0, 0.0), group[1 - swapped], mask[1 - swapped]);
        lab_step(&lab, 1);
        ck_assert_uint_eq(lab.stepper->contact_count, pairs[_i].collide ? 1 : 0);
        lab_destroy(&lab);
    }
}
END_TEST

// A shape of two balls, of which the one that is let through lies in the floor.
START_TEST(primitives_of_one_shape_are_told_apart) {
    Lab lab = lab_create(gravity, 1.0 / HERTZ);
    lab_ground(&lab, 0);
    const uint32_t kinds[2] = {PRIMITIVE_SPHERE, PRIMITIVE_SPHERE}, count = 2, group[2] = {1, 2},
                   mask[2] = {UINT32_MAX, 2};
    const double size[6] = {0.1, 0.0, 0.0, 0.3, 0.0, 0.0};
    ShapeColumns columns = {.shape_count = 1,
                            .primitive_count = 2,
                            .primitives_of_shape = &count,
                            .kind = kinds,
                            .size = size,
                            .group = group,
                            .mask = mask};
    Id id = 0;
    Error error = {0};
    ck_assert_int_eq(world_add_shapes(lab.world, &columns, &id, &error), STATUS_OK);
    uint32_t body = lab_body(&lab, id, BODY_DYNAMIC, pose_at(0.0, 0.0, 0.1), NULL, 1.0, NULL);
    lab_step(&lab, HERTZ);
    ck_assert_uint_eq(lab.stepper->contact_count, 1);
    ck_assert_double_eq_tol(lab_position(&lab, body).z, 0.1, 1e-6);
    lab_destroy(&lab);
}
END_TEST

// Ghosts that lie in each other touch nothing, few or many of them, before and behind the two whose
// groups let them touch: these do from the step on in which they are there, and when the joint that
// kept them apart is gone.
START_TEST(ghosts_hide_nobody) {
    const int ghosts[] = {1, 3, 40};
    const int count = ghosts[_i / 2], behind = _i % 2 == 0 ? 0 : count;
    Lab lab = lab_create(0.0, 1.0 / HERTZ);
    for (int i = behind; i < count; i++) {
        add_ball(&lab, vec3(0.01 * i, 0.0, 0.0), 2, 4);
    }
    const size_t bytes = broad_bytes(lab.stepper->broad);
    lab_step(&lab, 1);
    ck_assert_uint_eq(lab.stepper->contact_count, 0);
    ck_assert_uint_eq(broad_bytes(lab.stepper->broad), bytes); // nobody was looked for
    const uint32_t a = add_ball(&lab, vec3(0.0, 0.0, 0.0), 1, 1);
    const uint32_t b = add_ball(&lab, vec3(0.15, 0.0, 0.0), 1, 1);
    for (int i = 0; i < behind; i++) {
        add_ball(&lab, vec3(0.01 * i, 0.0, 0.0), 2, 4);
    }
    const uint32_t kind = JOINT_SLIDER, joint = 0;
    const JointColumns columns = {.count = 1,
                                  .axis_count = 1,
                                  .position_count = 1,
                                  .kind = &kind,
                                  .body_a = &lab.world->body_id[a],
                                  .body_b = &lab.world->body_id[b]};
    lab_joints(&lab, &columns);
    lab_step(&lab, 1);
    ck_assert_uint_eq(lab.stepper->contact_count, 0);
    world_remove_joints(lab.world, &joint, 1);
    lab_step(&lab, 1);
    ck_assert_uint_eq(lab.stepper->contact_count, 1);
    ck_assert_uint_eq(lab.stepper->contact[0].a, a);
    ck_assert_uint_eq(lab.stepper->contact[0].b, b);
    lab_destroy(&lab);
}
END_TEST

// A slab that a box does not collide with lies beside the step that stops it: it covers nothing.
START_TEST(what_does_not_collide_covers_no_face) {
    for (int collides = 0; collides < 2; collides++) {
        Lab lab = lab_create(gravity, 1.0 / HERTZ);
        lab.world->settings.margin = 1e-3;
        Id floor = lab_shape(&lab, PRIMITIVE_BOX, vec3(0.5, 0.5, 0.1), 0);
        Id ghost =
            add_shape(&lab, PRIMITIVE_BOX, vec3(0.5, 0.5, 0.1), collides ? 1 : 2, UINT32_MAX);
        Id box = add_shape(&lab, PRIMITIVE_SPHERE, vec3(0.1, 0.0, 0.0), 1, 1);
        lab_body(&lab, floor, BODY_STATIC, pose_at(0.5, 0.0, -0.1), NULL, 0.0, NULL);
        lab_body(&lab, ghost, BODY_STATIC, pose_at(-0.5, 0.0, -0.1), NULL, 0.0, NULL);
        // from beside the floor's edge, over the other slab or over nothing
        const double velocity[6] = {1.0, 0.0, 0.0, 0.0, 0.0, 0.0};
        uint32_t body =
            lab_body(&lab, box, BODY_DYNAMIC, pose_at(-0.3, 0.0, 0.1), velocity, 1.0, NULL);
        lab_step(&lab, HERTZ);
        // over the slab it rolls on; over nothing it falls before the edge, which turns it back
        ck_assert_int_eq(lab_position(&lab, body).z > 0.0, collides);
        ck_assert_int_eq(lab_position(&lab, body).x > 0.0, collides);
        lab_destroy(&lab);
    }
}
END_TEST

// In a snapshot and in its hash; a world that has none of it has the hash it always had.
START_TEST(groups_are_part_of_the_world) {
    Lab plain = lab_create(gravity, 1.0 / HERTZ), same = lab_create(gravity, 1.0 / HERTZ),
        other = lab_create(gravity, 1.0 / HERTZ);
    add_ball(&same, vec3(0.0, 0.0, 0.0), 1, UINT32_MAX);
    add_ball(&other, vec3(0.0, 0.0, 0.0), 6, 5);
    lab_body(&plain, lab_shape(&plain, PRIMITIVE_SPHERE, vec3(0.1, 0.0, 0.0), 0), BODY_DYNAMIC,
             pose_at(0.0, 0.0, 0.0), NULL, 1.0, NULL);
    ck_assert_uint_eq(snapshot_hash(plain.world), snapshot_hash(same.world));
    ck_assert_uint_ne(snapshot_hash(plain.world), snapshot_hash(other.world));
    uint64_t hash = snapshot_hash(other.world);
    lab_restore(&other);
    ck_assert_uint_eq(snapshot_hash(other.world), hash);
    ck_assert_uint_eq(other.world->primitive[0].group, 6);
    ck_assert_uint_eq(other.world->primitive[0].mask, 5);
    lab_restore(&plain);
    ck_assert_uint_eq(plain.world->primitive[0].group, 1);
    ck_assert_uint_eq(plain.world->primitive[0].mask, UINT32_MAX);
    lab_destroy(&plain);
    lab_destroy(&same);
    lab_destroy(&other);
}
END_TEST

static TCase *case_groups(void) {
    TCase *tcase = tcase_create("groups");
    tcase_add_loop_test(tcase, each_must_collide_with_the_other, 0,
                        sizeof(pairs) / sizeof(pairs[0]));
    tcase_add_test(tcase, primitives_of_one_shape_are_told_apart);
    tcase_add_loop_test(tcase, ghosts_hide_nobody, 0, 6);
    tcase_add_test(tcase, what_does_not_collide_covers_no_face);
    tcase_add_test(tcase, groups_are_part_of_the_world);
    return tcase;
}

SUITE_MAIN("step/groups", case_groups)
