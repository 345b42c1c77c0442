// SPDX-License-Identifier: MIT
// Hulls in the world, against closed forms and against boxes, all of it turned as no axis is.
#include "step/snapshot/snapshot.h"
#include "step/step.h"

#include "support/hull_build.h"
#include "support/leaning_lab.h"
#include "support/suite.h"

#include <math.h>
#include <string.h>

enum { HERTZ = 240 };

typedef enum Bed { BED_PLANE, BED_BOX, BED_HULL, BED_COUNT } Bed;

static Id hull_shape(Lab *lab, const Hull *hull, Id material) {
    const HullForm form = hull_form(hull);
    const Id shape = lab_hull(lab, &form, material);
    hull_free(hull);
    return shape;
}

static void make_bed(Lab *lab, Bed bed, Id material) {
    const Vec3 half = vec3(20.0, 20.0, 0.5);
    const Id shape = bed == BED_PLANE
                         ? lab_shape(lab, PRIMITIVE_PLANE, vec3(0.0, 0.0, 0.0), material)
                     : bed == BED_BOX ? lab_shape(lab, PRIMITIVE_BOX, half, material)
                                      : hull_shape(lab, hull_of_box(half), material);
    const Pose under = {vec3(0.0, 0.0, bed == BED_PLANE ? 0.0 : -0.5), quat_identity()};
    lab_body(lab, shape, BODY_STATIC, placed(under.position, under.orientation), NULL, 0.0, NULL);
}

static uint32_t add(Lab *lab, Id shape, Vec3 at, Quat turn, Vec3 velocity, Vec3 spin) {
    const Vec3 v = turned(velocity), w = turned(spin);
    const double twist[6] = {v.x, v.y, v.z, w.x, w.y, w.z};
    return lab_body(lab, shape, BODY_DYNAMIC, placed(at, turn), twist, 0.0, NULL);
}

static const Vec3 none = {0.0, 0.0, 0.0};

// Ten prisms of six sides, a minute long. What moves them is what the solver leaves of each step,
// 1e-6 of g h^2 at most, without direction.
START_TEST(ten_prisms_on_each_other_stand_for_a_minute) {
    Lab lab = leaning_lab(0.0, HERTZ);
    const Id material = lab_material(&lab, 0.5, 0.0);
    make_bed(&lab, (Bed)_i, material);
    const Id shape = hull_shape(&lab, hull_of_prism(6, 0.2, 0.1), material);
    const uint32_t first = lab.world->body_count;
    for (int i = 0; i < 10; i++) {
        add(&lab, shape, vec3(0.0, 0.0, 0.1 + 0.2 * i), quat_about_z(cos(i)), none, none);
    }
    lab_step(&lab, 60 * HERTZ);
    for (uint32_t i = 0; i < 10; i++) {
        const Vec3 way = vec3_sub(seen_position(&lab, first + i), vec3(0.0, 0.0, 0.1 + 0.2 * i));
        ck_assert_double_le(vec3_norm(way), 1e-6);
    }
    lab_destroy(&lab);
}
END_TEST

// On a slope of tangent 0.3: below the angle of friction it stays, above it slides with
// g (sin - mu cos).
START_TEST(a_prism_sticks_or_slides) {
    const double sine = 0.3 / sqrt(1.09), cosine = 1.0 / sqrt(1.09);
    const double friction[2] = {0.303, 0.25};
    for (int k = 0; k < 2; k++) {
        Lab lab = leaning_lab(sine, HERTZ);
        const Id material = lab_material(&lab, friction[k], 0.0);
        make_bed(&lab, (Bed)_i, material);
        const Id shape = hull_shape(&lab, hull_of_prism(5, 0.3, 0.1), material);
        const uint32_t body = add(&lab, shape, vec3(0.0, 0.0, 0.1), quat_about_z(0.4), none, none);
        lab_step(&lab, 2 * HERTZ);
        const double rate = k == 0 ? 0.0 : gravity * (sine - friction[k] * cosine);
        const Vec3 v = seen(lab_velocity(&lab, body));
        ck_assert_double_eq_tol(v.y, 2.0 * rate, k == 0 ? 1e-6 : 1e-5 * rate);
        ck_assert_double_eq_tol(v.x, 0.0, 1e-6);
        ck_assert_double_le(vec3_norm(lab_spin(&lab, body)), 1e-5);
        lab_destroy(&lab);
    }
}
END_TEST

// Its corners in the order of a box's.
static Id box_of_hull(Lab *lab, Vec3 half, Id material) {
    static const uint32_t first[] = {0, 4, 8, 12, 16, 20, 24};
    static const uint32_t corner[] = {1, 3, 7, 5, 0, 4, 6, 2, 2, 6, 7, 3,
                                      0, 1, 5, 4, 4, 5, 7, 6, 0, 2, 3, 1};
    Vec3 point[8];
    for (uint32_t i = 0; i < 8; i++) {
        point[i] = vec3((i & 1) != 0 ? half.x : -half.x, (i & 2) != 0 ? half.y : -half.y,
                        (i & 4) != 0 ? half.z : -half.z);
    }
    const HullForm form = {point, 8, first, 6, corner};
    return lab_hull(lab, &form, material);
}

// Sliding without turning, and rocking over its edges without sliding: how four corners share what
// they bear is anybody's choice, and then moves nothing. Steps are solved to 1e-13 of their scale,
// so that what differs is roundings, which each rocking enlarges.
START_TEST(a_hull_that_is_a_box_moves_as_the_box) {
    const Vec3 half = vec3(0.2, 0.3, 0.15);
    Vec3 at[2];
    Quat turn[2];
    for (int k = 0; k < 2; k++) {
        Lab lab = leaning_lab(0.0, HERTZ);
        lab_set(&lab, "tolerance", 1e-13);
        const Id material = lab_material(&lab, _i == 0 ? 0.3 : 2.0, 0.0);
        make_bed(&lab, BED_PLANE, material);
        const Id shape = k == 0 ? lab_shape(&lab, PRIMITIVE_BOX, half, material)
                                : box_of_hull(&lab, half, material);
        const bool is_sliding = _i == 0;
        const double tilt = is_sliding ? 0.0 : 0.1;
        const Quat leaning = quat_normalize((Quat){1.0, 0.5 * tilt, 0.0, 0.0});
        const double height = half.z * cos(tilt) + half.y * sin(tilt);
        const uint32_t body = add(&lab, shape, vec3(0.1, 0.2, height + 1e-4), leaning,
                                  is_sliding ? vec3(1.0, 2.0, 0.0) : none, none);
        lab_step(&lab, 100);
        at[k] = lab_position(&lab, body);
        turn[k] = lab_orientation(&lab, body);
        lab_destroy(&lab);
    }
    ck_assert_double_le(vec3_norm(vec3_sub(at[0], at[1])), 1e-9);
    const Quat between = quat_mul((Quat){turn[0].w, -turn[0].x, -turn[0].y, -turn[0].z}, turn[1]);
    ck_assert_double_le(vec3_norm(vec3(between.x, between.y, between.z)), 1e-9);
}
END_TEST

// A hull whose own frame is far from it is the same body elsewhere: what falls has its centre.
START_TEST(mass_and_centre_are_the_hulls) {
    Lab lab = leaning_lab(0.0, HERTZ);
    const Vec3 point[] = {{5.0, 0.0, 0.0}, {6.0, 0.0, 0.0}, {5.0, 1.0, 0.0}, {5.0, 0.0, 1.0}};
    HullForm form = hull_form_of_points(point, 4);
    const Id shape = lab_hull(&lab, &form, lab_material(&lab, 0.5, 0.0));
    hull_form_free(&form);
    const uint32_t body = add(&lab, shape, none, quat_identity(), none, none);
    const BodyMass *mass = &lab.world->mass[body];
    ck_assert_double_eq_tol(mass->mass, 1000.0 / 6.0, 1e-11);
    ck_assert_double_le(vec3_norm(vec3_sub(mass->center, vec3(5.25, 0.25, 0.25))), 1e-14);
    // of a corner of a cube: 3/80 across each two axes, -1/160 between each two
    ck_assert_double_eq_tol(mass->inertia.xx, 2.0 * 3.0 / 80.0 * mass->mass, 1e-11);
    ck_assert_double_eq_tol(mass->inertia.xy, 1.0 / 80.0 * mass->mass, 1e-11);
    lab_destroy(&lab);
}
END_TEST

static void expect_same_future(Lab *lab, World *back) {
    ck_assert_uint_eq(snapshot_hash(back), snapshot_hash(lab->world));
    world_destroy(lab->world);
    lab->world = back;
    stepper_destroy(lab->stepper);
    lab->stepper = stepper_create((size_t)1 << 30);
    lab_step(lab, 20);
}

// A prism that hangs by a hinge of coordinates or of rows and swings, a stack that sleeps, and one
// body that is taken away: read again, with all of it, the world has the same future.
START_TEST(hulls_hang_sleep_and_leave) {
    Lab lab = leaning_lab(0.0, HERTZ);
    WorldSettings settings = lab.world->settings;
    settings.sleep_speed = 0.01;
    settings.sleep_time = 0.1;
    world_set_settings(lab.world, &settings);
    const Id material = lab_material(&lab, 0.5, 0.0);
    make_bed(&lab, BED_HULL, material);
    const Id shape = hull_shape(&lab, hull_of_prism(6, 0.2, 0.1), material);
    add(&lab, shape, vec3(0.0, 0.0, 0.1), quat_identity(), none, none);
    add(&lab, shape, vec3(0.0, 0.0, 0.3), quat_about_z(0.3), none, none);
    const uint32_t hung = add(&lab, shape, vec3(3.0, 0.0, 2.0), quat_about_z(0.2), none, none);
    const uint32_t gone = add(&lab, shape, vec3(-3.0, 0.0, 0.1), quat_identity(), none, none);
    const Pose there = pose_load(lab.world->pose + 7 * (size_t)hung);
    const Quat across = {0.70710678118654752, 0.70710678118654752, 0.0, 0.0}; // its axis lies
    const Pose frames[2] = {
        {pose_apply(there, vec3(0.3, 0.0, 0.0)), quat_mul(there.orientation, across)},
        {vec3(0.3, 0.0, 0.0), across}};
    double frame[2][7];
    pose_store(frame[0], frames[0]);
    pose_store(frame[1], frames[1]);
    const uint32_t kind = JOINT_HINGE, rows = (uint32_t)_i;
    const uint64_t body = lab.world->body_id[hung];
    const JointColumns joint = {.count = 1,
                                .axis_count = 1,
                                .position_count = 1,
                                .kind = &kind,
                                .body_b = &body,
                                .frame_a = frame[0],
                                .frame_b = frame[1],
                                .as_rows = &rows};
    lab_joints(&lab, &joint);
    lab_step(&lab, HERTZ);
    ck_assert_uint_eq(lab.report.asleep_count, 3);
    world_remove_bodies(lab.world, &gone, 1);
    lab_step(&lab, 10);
    ck_assert_uint_eq(lab.report.asleep_count, 2);
    uint8_t *bytes;
    size_t count;
    Error error = {0};
    World *back = NULL;
    ck_assert_int_eq(snapshot_write(lab.world, &lab.scratch, &bytes, &count, &error), STATUS_OK);
    ck_assert_int_eq(snapshot_read(bytes, count, &lab.world->limits, &back, &error), STATUS_OK);
    ck_assert_uint_eq(snapshot_hash(back), snapshot_hash(lab.world));
    Stepper *fresh = stepper_create((size_t)1 << 30);
    lab_step(&lab, 50);
    World *straight = lab.world;
    Stepper *used = lab.stepper;
    lab.world = back;
    lab.stepper = fresh;
    lab_step(&lab, 50);
    ck_assert_uint_eq(snapshot_hash(back), snapshot_hash(straight));
    world_destroy(straight);
    stepper_destroy(used);
    lab_destroy(&lab);
}
END_TEST

// Where the shelf has the geometry its name is enough; elsewhere a whole snapshot brings it.
START_TEST(snapshots_name_geometries_and_whole_ones_bring_them) {
    Lab lab = leaning_lab(0.0, HERTZ);
    const Id material = lab_material(&lab, 0.5, 0.0);
    make_bed(&lab, BED_HULL, material);
    const Id shape = hull_shape(&lab, hull_of_prism(7, 0.2, 0.1), material);
    add(&lab, shape, vec3(0.0, 0.0, 0.2), quat_about_z(1.0), none, vec3(0.3, 0.2, 0.0));
    lab_step(&lab, 40);
    uint8_t *named, *whole;
    size_t named_count, whole_count;
    Error error = {0};
    ck_assert_int_eq(snapshot_write_named(lab.world, &lab.scratch, &named, &named_count, &error),
                     STATUS_OK);
    ck_assert_int_eq(snapshot_write(lab.world, &lab.scratch, &whole, &whole_count, &error),
                     STATUS_OK);
    ck_assert_uint_gt(whole_count, named_count);

    GeometryShelf *other = geometry_shelf_create();
    WorldLimits limits = lab.world->limits;
    limits.shelf = other;
    World *back = NULL;
    ck_assert_int_eq(snapshot_read(named, named_count, &limits, &back, &error),
                     STATUS_FAILED_PRECONDITION);
    ck_assert_ptr_nonnull(strstr(error.message, "names the geometry"));
    ck_assert_int_eq(snapshot_read(whole, whole_count, &limits, &back, &error), STATUS_OK);
    ck_assert_uint_eq(snapshot_hash(back), snapshot_hash(lab.world));
    ck_assert_ptr_ne(back->geometry[1].geometry, lab.world->geometry[1].geometry);
    world_destroy(back);
    ck_assert_uint_eq(geometry_shelf_bytes(other), 0);
    geometry_shelf_destroy(other);

    const size_t bytes = geometry_shelf_bytes(lab.shelf);
    ck_assert_int_eq(snapshot_read(whole, whole_count, &lab.world->limits, &back, &error),
                     STATUS_OK);
    ck_assert_ptr_eq(back->geometry[1].geometry, lab.world->geometry[1].geometry);
    ck_assert_uint_eq(geometry_shelf_bytes(lab.shelf), bytes);
    expect_same_future(&lab, back);
    lab_destroy(&lab);
}
END_TEST

// Any byte of what is attached: refused, or nothing that the world names is another.
START_TEST(attached_bytes_that_changed_are_refused) {
    Lab lab = leaning_lab(0.0, HERTZ);
    hull_shape(&lab, hull_of_prism(5, 0.2, 0.1), lab_material(&lab, 0.5, 0.0));
    uint8_t *named, *whole;
    size_t named_count, whole_count;
    Error error = {0};
    snapshot_write_named(lab.world, &lab.scratch, &named, &named_count, &error);
    snapshot_write(lab.world, &lab.scratch, &whole, &whole_count, &error);
    GeometryShelf *other = geometry_shelf_create();
    WorldLimits limits = lab.world->limits;
    limits.shelf = other;
    for (size_t i = named_count - SNAPSHOT_CHECKSUM_BYTES; i < whole_count; i++) {
        whole[i] ^= 4;
        if (i < whole_count - SNAPSHOT_CHECKSUM_BYTES) { // as if it had been written so
            const size_t covered = whole_count - SNAPSHOT_CHECKSUM_BYTES;
            const uint64_t checksum = hash_bytes(whole, covered, 0);
            memcpy(whole + covered, &checksum, sizeof(checksum));
        }
        World *back = NULL;
        ck_assert_int_ne(snapshot_read(whole, whole_count, &limits, &back, &error), STATUS_OK);
        ck_assert_ptr_null(back);
        whole[i] ^= 4;
    }
    ck_assert_uint_eq(geometry_shelf_bytes(other), 0);
    geometry_shelf_destroy(other);
    lab_destroy(&lab);
}
END_TEST

START_TEST(what_wears_nothing_or_another_kind_is_refused) {
    Lab lab = leaning_lab(0.0, HERTZ);
    hull_shape(&lab, hull_of_prism(5, 0.2, 0.1), 0);
    const double sizes[3] = {0.1, 0.1, 0.1};
    const struct {
        uint32_t kind;
        uint64_t geometry;
        Status status;
    } cases[] = {{PRIMITIVE_HULL, 0, STATUS_INVALID_ARGUMENT},
                 {PRIMITIVE_BOX, 1, STATUS_INVALID_ARGUMENT},
                 {PRIMITIVE_HULL, 2, STATUS_NOT_FOUND}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const ShapeColumns columns = {.shape_count = 1,
                                      .primitive_count = 1,
                                      .kind = &cases[i].kind,
                                      .size = sizes,
                                      .geometry = &cases[i].geometry};
        Id id;
        Error error = {0};
        ck_assert_int_eq(world_add_shapes(lab.world, &columns, &id, &error), cases[i].status);
        ck_assert_str_eq(error.field, "geometry[0]");
    }
    ck_assert_uint_eq(lab.world->shape_count, 1);
    lab_destroy(&lab);
}
END_TEST

static TCase *case_hull(void) {
    TCase *tcase = tcase_create("hull");
    tcase_set_timeout(tcase, 120.0);
    tcase_add_loop_test(tcase, ten_prisms_on_each_other_stand_for_a_minute, 0, BED_COUNT);
    tcase_add_loop_test(tcase, a_prism_sticks_or_slides, 0, BED_COUNT);
    tcase_add_loop_test(tcase, a_hull_that_is_a_box_moves_as_the_box, 0, 2);
    tcase_add_test(tcase, mass_and_centre_are_the_hulls);
    tcase_add_loop_test(tcase, hulls_hang_sleep_and_leave, 0, 2);
    tcase_add_test(tcase, snapshots_name_geometries_and_whole_ones_bring_them);
    tcase_add_test(tcase, attached_bytes_that_changed_are_refused);
    tcase_add_test(tcase, what_wears_nothing_or_another_kind_is_refused);
    return tcase;
}

SUITE_MAIN("step/hull", case_hull)
