// SPDX-License-Identifier: MIT
// Surfaces of triangles in the world, against planes, boxes and closed forms, all of it turned as
// no axis is.
#include "step/snapshot/snapshot.h"
#include "step/step.h"

#include "support/campaign.h"
#include "support/hull_build.h"
#include "support/leaning_lab.h"
#include "support/suite.h"
#include "support/surface_build.h"

#include <math.h>
#include <string.h>

// Of some tests: undivided, and divided.
enum { HERTZ = 240, DIVISIONS = 2, SUBSTEPS = 3 };

static const Vec3 none = {0.0, 0.0, 0.0};

static uint32_t add(Lab *lab, Id shape, Vec3 at, Quat turn, Vec3 velocity, Vec3 spin) {
    const Vec3 v = turned(velocity), w = turned(spin);
    const double twist[6] = {v.x, v.y, v.z, w.x, w.y, w.z};
    return lab_body(lab, shape, BODY_DYNAMIC, placed(at, turn), twist, 0.0, NULL);
}

static uint32_t lay(Lab *lab, Id shape, Vec3 at) {
    return lab_body(lab, shape, BODY_STATIC, placed(at, quat_identity()), NULL, 0.0, NULL);
}

static Id ground_shape(Lab *lab, bool is_mesh, Id material) {
    return is_mesh ? surface_floor(lab, 0.0, material)
                   : lab_shape(lab, PRIMITIVE_PLANE, none, material);
}

// ---- a flat mesh is a plane

typedef struct Mobile {
    PrimitiveKind kind;
    Vec3 size;
    double height; // of its middle
    Quat turn;
    Vec3 spin;
} Mobile;

static const Mobile mobiles[] = {
    {PRIMITIVE_SPHERE, {0.2, 0.0, 0.0}, 0.2, {1.0, 0.0, 0.0, 0.0}, {-6.5, 5.0, 0.0}},
    {PRIMITIVE_BOX, {0.2, 0.15, 0.1}, 0.1, {1.0, 0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}},
    {PRIMITIVE_CYLINDER, {0.2, 0.1, 0.0}, 0.1, {1.0, 0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}},
    {PRIMITIVE_CAPSULE, {0.1, 0.2, 0.0}, 0.1, {0.8, 0.0, 0.6, 0.0}, {0.0, 0.0, 0.0}},
    {PRIMITIVE_HULL, {0.0, 0.0, 0.0}, 0.1, {1.0, 0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}},
};
enum { MOBILES = sizeof(mobiles) / sizeof(mobiles[0]) };

static Id mobile_shape(Lab *lab, const Mobile *mobile, Id material) {
    if (mobile->kind != PRIMITIVE_HULL) {
        return lab_shape(lab, mobile->kind, mobile->size, material);
    }
    const Hull *hull = hull_of_prism(6, 0.2, 0.1);
    const HullForm form = hull_form(hull);
    const Id shape = lab_hull(lab, &form, material);
    hull_free(hull);
    return shape;
}

// A capsule's axis lies along x: turned by a right angle about y.
static Quat lying(const Mobile *mobile) {
    const double half = sqrt(0.5);
    return mobile->kind == PRIMITIVE_CAPSULE ? (Quat){half, 0.0, half, 0.0} : mobile->turn;
}

// Across a hundred edges, over corners too: it goes on as on a plane, to the roundings of where its
// points are, which are of 1e-16 of metres and grow with the steps.
START_TEST(what_slides_or_rolls_goes_as_on_a_plane) {
    const Mobile *mobile = &mobiles[_i % MOBILES];
    Vec3 at[2], velocity[2];
    for (int k = 0; k < 2; k++) {
        Lab lab = leaning_lab(0.0, HERTZ);
        lab_set(&lab, "tolerance", 1e-12);
        lab_divide(&lab, _i < MOBILES ? 1 : SUBSTEPS);
        const Id material = lab_material(&lab, 0.2, 0.0);
        lay(&lab, ground_shape(&lab, k == 0, material), none);
        const uint32_t body =
            add(&lab, mobile_shape(&lab, mobile, material), vec3(-0.9, -1.1, mobile->height),
                lying(mobile), vec3(2.0, 2.6, 0.0), vec3_scale(2.0, mobile->spin));
        lab_step(&lab, 200);
        at[k] = seen_position(&lab, body);
        velocity[k] = seen(lab_velocity(&lab, body));
        lab_destroy(&lab);
    }
    ck_assert_double_gt(at[1].x, -0.1); // it has come somewhere
    ck_assert_double_le(vec3_norm(vec3_sub(at[0], at[1])), 1e-9);
    ck_assert_double_le(vec3_norm(vec3_sub(velocity[0], velocity[1])), 1e-9);
}
END_TEST

START_TEST(what_stands_on_it_stands_still) {
    const Mobile *mobile = &mobiles[_i % MOBILES];
    Lab lab = leaning_lab(0.0, HERTZ);
    lab_divide(&lab, _i < MOBILES ? 1 : SUBSTEPS);
    const Id material = lab_material(&lab, 0.5, 0.0);
    lay(&lab, surface_floor(&lab, 0.0, material), none);
    const Vec3 from = vec3(0.05, 0.03, mobile->height);
    const uint32_t body =
        add(&lab, mobile_shape(&lab, mobile, material), from, lying(mobile), none, none);
    lab_step(&lab, 20 * HERTZ);
    ck_assert_double_le(vec3_norm(vec3_sub(seen_position(&lab, body), from)), 1e-6);
    lab_destroy(&lab);
}
END_TEST

// ---- a closed mesh of a box is the box

static const Vec3 block_half = {0.5, 0.4, 0.3};

static Id block_shape(Lab *lab, bool is_mesh, Id material) {
    static const uint32_t corner[36] = {0, 2, 3, 0, 3, 1, 4, 5, 7, 4, 7, 6, 0, 1, 5, 0, 5, 4,
                                        2, 6, 7, 2, 7, 3, 0, 4, 6, 0, 6, 2, 1, 3, 7, 1, 7, 5};
    if (!is_mesh) {
        return lab_shape(lab, PRIMITIVE_BOX, block_half, material);
    }
    Vec3 point[8];
    for (uint32_t i = 0; i < 8; i++) {
        point[i] = vec3((i & 1) != 0 ? block_half.x : -block_half.x,
                        (i & 2) != 0 ? block_half.y : -block_half.y,
                        (i & 4) != 0 ? block_half.z : -block_half.z);
    }
    const MeshForm form = {point, 8, corner, 12, false, NULL};
    return lab_mesh(lab, &form, material);
}

// Balls from everywhere, onto faces, edges and corners: they leave as they leave the box.
START_TEST(balls_leave_a_mesh_of_a_box_as_they_leave_the_box) {
    uint64_t seed = 100 + (uint64_t)_i;
    const Vec3 from = vec3(lab_random(&seed, -1.5, 1.5), lab_random(&seed, -1.5, 1.5),
                           lab_random(&seed, -1.5, 1.5));
    const double out = 1.5 / vec3_norm(from);
    const Vec3 aim = vec3(lab_random(&seed, -0.6, 0.6), lab_random(&seed, -0.5, 0.5),
                          lab_random(&seed, -0.4, 0.4));
    const Vec3 start = vec3_scale(out, from);
    const Vec3 way = vec3_sub(aim, start);
    Vec3 at[2], velocity[2];
    for (int k = 0; k < 2; k++) {
        Lab lab = leaning_lab(0.0, HERTZ);
        lab.world->settings.gravity = none;
        lab_set(&lab, "tolerance", 1e-12);
        const Id material = lab_material(&lab, 0.3, 0.5);
        lay(&lab, block_shape(&lab, k == 0, material), none);
        const uint32_t body =
            add(&lab, lab_shape(&lab, PRIMITIVE_SPHERE, vec3(0.15, 0, 0), material), start,
                quat_identity(), vec3_scale(2.0 / vec3_norm(way), way), vec3(1.0, -2.0, 3.0));
        lab_step(&lab, 2 * HERTZ);
        at[k] = seen_position(&lab, body);
        velocity[k] = seen(lab_velocity(&lab, body));
        lab_destroy(&lab);
    }
    ck_assert_double_le(vec3_norm(vec3_sub(at[0], at[1])), 1e-9);
    ck_assert_double_le(vec3_norm(vec3_sub(velocity[0], velocity[1])), 1e-9);
}
END_TEST

// A box that stands on it partly, its corners over the rim.
START_TEST(a_box_rests_across_the_rim_of_a_block) {
    Lab lab = leaning_lab(0.0, HERTZ);
    const Id material = lab_material(&lab, 0.5, 0.0);
    lay(&lab, block_shape(&lab, true, material), none);
    const Vec3 from = vec3(0.4, 0.3, 0.4);
    const uint32_t body = add(&lab, lab_shape(&lab, PRIMITIVE_BOX, vec3(0.25, 0.2, 0.1), material),
                              from, quat_about_z(0.3), none, none);
    lab_step(&lab, 5 * HERTZ);
    ck_assert_double_le(vec3_norm(vec3_sub(seen_position(&lab, body), from)), 1e-6);
    ck_assert_uint_ge(lab.report.contact_count, 4);
    lab_destroy(&lab);
}
END_TEST

// Beyond the rim by more than its half it falls.
START_TEST(a_box_falls_from_the_rim_of_a_block) {
    Lab lab = leaning_lab(0.0, HERTZ);
    const Id material = lab_material(&lab, 0.5, 0.0);
    lay(&lab, block_shape(&lab, true, material), none);
    const uint32_t body = add(&lab, lab_shape(&lab, PRIMITIVE_BOX, vec3(0.25, 0.2, 0.1), material),
                              vec3(0.52, 0.0, 0.4), quat_identity(), none, none);
    lab_step(&lab, 2 * HERTZ);
    ck_assert_double_lt(seen_position(&lab, body).z, -1.0);
    lab_destroy(&lab);
}
END_TEST

// ---- height fields

// A ball rolls down with 5/7 g sin.
START_TEST(a_ball_rolls_down_a_height_field) {
    const double slope = 0.4, sine = slope / sqrt(1.0 + slope * slope);
    Lab lab = leaning_lab(0.0, HERTZ);
    const Id material = lab_material(&lab, 1.0, 0.0);
    lay(&lab, surface_slope(&lab, slope, material), none);
    const double radius = 0.2, cosine = sqrt(1.0 - sine * sine);
    const uint32_t body = add(&lab, lab_shape(&lab, PRIMITIVE_SPHERE, vec3(radius, 0, 0), material),
                              vec3(3.0 - radius * sine, 0.1, 3.0 * slope + radius * cosine),
                              quat_identity(), none, none);
    lab_step(&lab, HERTZ);
    const double speed = 5.0 / 7.0 * gravity * sine; // after a second
    const Vec3 v = seen(lab_velocity(&lab, body));
    ck_assert_double_eq_tol(v.x, -speed * cosine, 1e-6 * speed);
    ck_assert_double_eq_tol(v.z, -speed * sine, 1e-6 * speed);
    ck_assert_double_eq_tol(v.y, 0.0, 1e-6 * speed);
    lab_destroy(&lab);
}
END_TEST

// Whoever is in it comes up.
START_TEST(below_a_height_field_all_is_solid) {
    Lab lab = leaning_lab(0.0, HERTZ);
    const Id material = lab_material(&lab, 0.5, 0.0);
    lay(&lab, surface_slope(&lab, 0.0, material), none);
    const uint32_t body = add(&lab, lab_shape(&lab, PRIMITIVE_BOX, vec3(0.2, 0.2, 0.2), material),
                              vec3(0.1, 0.2, -0.6), quat_identity(), none, none);
    lab_step(&lab, 10 * HERTZ);
    ck_assert_double_eq_tol(seen_position(&lab, body).z, 0.2, 1e-3);
    lab_destroy(&lab);
}
END_TEST

// ---- sides

START_TEST(a_surface_of_one_side_lets_pass_from_behind) {
    static const Vec3 point[3] = {{-2.0, -2.0, 0.0}, {2.0, -2.0, 0.0}, {0.0, 3.0, 0.0}};
    static const uint32_t corner[3] = {0, 1, 2};
    const bool is_two_sided = _i != 0;
    const MeshForm form = {point, 3, corner, 1, is_two_sided, NULL};
    Lab lab = leaning_lab(0.0, HERTZ);
    lab.world->settings.gravity = none;
    const Id material = lab_material(&lab, 0.0, 0.0);
    lay(&lab, lab_mesh(&lab, &form, material), none);
    const Id ball = lab_shape(&lab, PRIMITIVE_SPHERE, vec3(0.1, 0.0, 0.0), material);
    const uint32_t down = add(&lab, ball, vec3(-0.3, 0, 1), quat_identity(), vec3(0, 0, -2), none);
    const uint32_t up = add(&lab, ball, vec3(0.3, 0, -1), quat_identity(), vec3(0, 0, 2), none);
    lab_step(&lab, HERTZ);
    ck_assert_double_eq_tol(seen_position(&lab, down).z, 0.1, 1e-6);
    ck_assert_double_eq_tol(seen_position(&lab, up).z, is_two_sided ? -0.1 : 1.0, 1e-6);
    lab_destroy(&lab);
}
END_TEST

// Whatever tumbles over hills lies in them no deeper than a step's own motion puts it there: points
// of a body that turns by an angle leave the planes in which they were held by half its square, and
// what comes nearer by 1e-5 of its size counts as touching now (collide/approach.h).
START_TEST(nothing_sinks_into_hills) {
    const Mobile *mobile = &mobiles[_i];
    Lab lab = leaning_lab(0.0, HERTZ);
    const Id material = lab_material(&lab, 0.4, 0.2);
    lay(&lab, surface_floor(&lab, 0.04, material), none);
    const uint32_t body =
        add(&lab, mobile_shape(&lab, mobile, material), vec3(-1.0, -0.5, 0.6),
            quat_normalize((Quat){0.6, 0.5, -0.3, 0.2}), vec3(0.8, 0.5, 0.0), vec3(3.0, -2.0, 4.0));
    double spin = vec3_norm(lab_spin(&lab, body));
    for (int step = 0; step < 3 * HERTZ; step++) {
        lab_step(&lab, 1);
        const double angle = spin / HERTZ, deepest = 0.5 * angle * angle * 0.3 + 1e-5 * 0.3;
        for (uint32_t i = 0; i < lab.stepper->contact_count; i++) {
            const double gap = lab.stepper->problem_contact[i].gap;
            ck_assert_msg(gap >= -deepest, "step %d: %g m deep, at most %g", step, -gap, deepest);
        }
        spin = vec3_norm(lab_spin(&lab, body));
        if (step % 10 == 0) {
            world_destroy(lab_copy(&lab)); // no two contacts have one name
        }
    }
    ck_assert_double_gt(seen_position(&lab, body).z, -0.05);
    lab_destroy(&lab);
}
END_TEST

// ---- bullets

// At 1,000 m/s, four metres a step, onto a bumpy floor from anywhere above: none is below it.
START_TEST(no_bullet_passes) {
    uint64_t seed = 4711;
    const Mobile *mobile = &mobiles[_i];
    Lab lab = leaning_lab(0.0, HERTZ);
    lab.world->settings.gravity = none;
    const Id material = lab_material(&lab, 0.3, 0.3);
    lay(&lab, surface_floor(&lab, 0.03, material), none);
    const Id shape = mobile_shape(&lab, mobile, material);
    enum { BULLETS = 20 };
    uint32_t body[BULLETS];
    // a triangle that is within four metres of a bullet is asked about
    const int count = campaign_count(1) > 1 ? BULLETS : BULLETS / 2;
    for (int i = 0; i < count; i++) { // far from each other
        const Vec3 from =
            vec3(lab_random(&seed, -3.0, 3.0), lab_random(&seed, -3.0, 3.0), 1.0 + 2.0 * i);
        const Vec3 aim = vec3(lab_random(&seed, -4.0, 4.0), lab_random(&seed, -4.0, 4.0), 0.0);
        const Vec3 way = vec3_sub(aim, from);
        body[i] = add(&lab, shape, from, quat_normalize((Quat){0.3, 0.5, -0.4, 0.7}),
                      vec3_scale(1000.0 / vec3_norm(way), way), vec3(50.0, -30.0, 20.0));
    }
    lab_step(&lab, 30);
    for (int i = 0; i < count; i++) {
        const Vec3 at = seen_position(&lab, body[i]);
        const bool is_over = fabs(at.x) < 5.0 && fabs(at.y) < 5.0;
        ck_assert_msg(at.z > -0.03 || (!is_over && at.z > -100.0), "bullet %d at %g %g %g", i, at.x,
                      at.y, at.z);
    }
    lab_destroy(&lab);
}
END_TEST

// ---- the world

START_TEST(a_dynamic_body_wears_no_surface) {
    Lab lab = leaning_lab(0.0, HERTZ);
    const Id shape = surface_slope(&lab, 0.1, lab_material(&lab, 0.5, 0.0));
    const double pose[7] = {0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0}, mass = 1.0;
    const double inertia[6] = {1.0, 1.0, 1.0, 0.0, 0.0, 0.0};
    const BodyColumns columns = {
        .count = 1, .pose = pose, .shape = &shape, .mass = &mass, .inertia = inertia};
    Id id;
    Error error = {0};
    ck_assert_int_eq(world_add_bodies(lab.world, &columns, &id, &error), STATUS_INVALID_ARGUMENT);
    ck_assert_str_eq(error.field, "shape[0]");
    ck_assert_ptr_nonnull(strstr(error.message, "hulls"));
    lab_destroy(&lab);
}
END_TEST

// A kinematic floor that moves carries what is on it.
START_TEST(a_moving_surface_carries) {
    Lab lab = leaning_lab(0.0, HERTZ);
    lab_divide(&lab, _i == 0 ? 1 : SUBSTEPS);
    const Id material = lab_material(&lab, 0.5, 0.0);
    const Vec3 v = turned(vec3(0.3, 0.4, 0.1));
    const double twist[6] = {v.x, v.y, v.z, 0.0, 0.0, 0.0};
    lab_body(&lab, surface_floor(&lab, 0.0, material), BODY_KINEMATIC,
             placed(none, quat_identity()), twist, 0.0, NULL);
    const uint32_t body = add(&lab, lab_shape(&lab, PRIMITIVE_BOX, vec3(0.2, 0.2, 0.1), material),
                              vec3(0.0, 0.0, 0.1), quat_identity(), none, none);
    lab_step(&lab, HERTZ);
    ck_assert_double_le(vec3_norm(vec3_sub(lab_velocity(&lab, body), v)), 1e-6);
    lab_destroy(&lab);
}
END_TEST

// The world of its own snapshot steps as it does, to the bit.
START_TEST(a_snapshot_has_the_surface) {
    Lab lab = leaning_lab(0.1, HERTZ);
    const Id material = lab_material(&lab, 0.5, 0.2);
    lay(&lab, surface_floor(&lab, 0.05, material), none);
    lay(&lab, surface_slope(&lab, 0.1, material), vec3(0.0, 0.0, 0.1));
    for (int i = 0; i < MOBILES; i++) {
        add(&lab, mobile_shape(&lab, &mobiles[i], material), vec3(0.6 * i - 1.2, 0.1 * i, 0.5),
            lying(&mobiles[i]), vec3(0.1, 0.2, 0.0), none);
    }
    lab_step(&lab, 100);
    World *copy = lab_copy(&lab);
    ck_assert_uint_eq(snapshot_hash(copy), snapshot_hash(lab.world));
    lab_step(&lab, 50);
    const uint64_t there = snapshot_hash(lab.world);
    World *past = lab.world;
    lab.world = copy;
    lab_restore(&lab);
    lab_step(&lab, 50);
    ck_assert_uint_eq(snapshot_hash(lab.world), there);
    world_destroy(past);
    lab_destroy(&lab);
}
END_TEST

// ---- what is smaller than what lies on it

// A table on three legs' ends: it is borne at every corner of the triangle, whichever comes first
// in it. At two of them it would tip at once.
START_TEST(a_box_rests_on_the_corners_of_one_triangle) {
    static const Vec3 corner[3] = {{0.2, 0.0, 0.0}, {-0.1, 0.17, 0.0}, {-0.1, -0.17, 0.0}};
    Lab lab = leaning_lab(0.0, HERTZ);
    const Id material = lab_material(&lab, 0.5, 0.0);
    const Vec3 point[3] = {corner[_i], corner[(_i + 1) % 3], corner[(_i + 2) % 3]};
    static const uint32_t number[3] = {0, 1, 2};
    const MeshForm form = {point, 3, number, 1, false, NULL};
    const Vec3 from = vec3(0.0, 0.0, 0.1);
    lay(&lab, lab_mesh(&lab, &form, material), none);
    const uint32_t body = add(&lab, lab_shape(&lab, PRIMITIVE_BOX, vec3(0.5, 0.4, 0.1), material),
                              from, quat_identity(), none, none);
    lab_step(&lab, 1);
    ck_assert_uint_eq(lab.stepper->contact_count, 3);
    lab_step(&lab, 2 * HERTZ);
    // and by no more than that: what is asked of all that stands, above
    ck_assert_double_le(vec3_norm(vec3_sub(seen_position(&lab, body), from)), 1e-6);
    lab_destroy(&lab);
}
END_TEST

static TCase *case_surface(void) {
    TCase *tcase = tcase_create("surface");
    tcase_set_timeout(tcase, 120.0);
    tcase_add_loop_test(tcase, what_slides_or_rolls_goes_as_on_a_plane, 0, DIVISIONS * MOBILES);
    tcase_add_loop_test(tcase, what_stands_on_it_stands_still, 0, DIVISIONS * MOBILES);
    tcase_add_loop_test(tcase, a_box_rests_on_the_corners_of_one_triangle, 0, 3);
    tcase_add_loop_test(tcase, balls_leave_a_mesh_of_a_box_as_they_leave_the_box, 0, 200);
    tcase_add_test(tcase, a_box_rests_across_the_rim_of_a_block);
    tcase_add_test(tcase, a_box_falls_from_the_rim_of_a_block);
    tcase_add_test(tcase, a_ball_rolls_down_a_height_field);
    tcase_add_test(tcase, below_a_height_field_all_is_solid);
    tcase_add_loop_test(tcase, a_surface_of_one_side_lets_pass_from_behind, 0, 2);
    tcase_add_loop_test(tcase, nothing_sinks_into_hills, 0, MOBILES);
    tcase_add_loop_test(tcase, no_bullet_passes, 0, MOBILES);
    tcase_add_test(tcase, a_dynamic_body_wears_no_surface);
    tcase_add_loop_test(tcase, a_moving_surface_carries, 0, DIVISIONS);
    tcase_add_test(tcase, a_snapshot_has_the_surface);
    return tcase;
}

SUITE_MAIN("step/surface", case_surface)
