// SPDX-License-Identifier: MIT
// The ways of what moves far over hills: of a triangle that is said to be passed, what is on its
// way has no contact at any time, neither with the face nor with a ridge or a peak of it.
#include "collide/surface.h"

#include "collide/cells.h"
#include "collide/geometry.h"
#include "support/campaign.h"
#include "support/suite.h"

enum { SIDE = 24, POINTS = (SIDE + 1) * (SIDE + 1), TRIANGLES = 2 * SIDE * SIDE, TIMES = 9 };

static const double duration = 1.0 / 240.0;

// 3 m by 3 m of cells of an eighth of a metre, rough or smooth; its inner points are off their
// places.
static Mesh *make_hills(Dice *dice, double bump) {
    Vec3 point[POINTS];
    for (uint32_t k = 0; k < POINTS; k++) {
        const uint32_t row = k / (SIDE + 1), column = k % (SIDE + 1);
        const Vec3 shift = dice_vec(dice, -0.04, 0.04);
        point[k] = vec3(0.125 * column - 1.5 + shift.x, 0.125 * row - 1.5 + shift.y,
                        bump * dice_between(dice, -1.0, 1.0));
    }
    return make_cells(point, SIDE);
}

static Primitive dice_mobile(Dice *dice, int i) {
    switch (i % 4) {
    case 0:
        return make_sphere(dice_between(dice, 0.02, 0.2));
    case 1:
        return make_box(dice_vec(dice, 0.02, 0.2));
    case 2:
        return make_capsule(dice_between(dice, 0.02, 0.1), dice_between(dice, 0.02, 0.2));
    default:
        return make_cylinder(dice_between(dice, 0.02, 0.2), dice_between(dice, 0.02, 0.2));
    }
}

// What a step would find of one triangle with the two as they lie (step/surfaces.c).
static bool has_contact(const Surface *surface, const SurfacePose *pose, uint32_t triangle,
                        int side, double reach) {
    for (uint32_t edge = 0; edge <= SURFACE_WHOLE; edge++) {
        MeshTriangle read;
        if (edge == SURFACE_WHOLE) {
            mesh_read_triangle(surface->mesh, triangle, &read);
        } else {
            mesh_read_edge(surface->mesh, triangle, edge, &read);
        }
        ConvexManifold met;
        uint32_t taken = 0;
        surface_meet(surface, pose, &read, reach, &met);
        const SurfacePiece piece = {triangle, edge, &read};
        if (met.count > 0 && surface_is_ridge(surface, pose, piece, side, &met, &taken)) {
            return true;
        }
        if (edge == SURFACE_WHOLE) {
            SurfacePoints points = {
                .normal = surface_normal(surface, pose, mesh_face(surface->mesh, triangle), side)};
            surface_add_face(surface, pose, triangle, &read, side, (SurfaceTaken){0, 0}, reach,
                             &points);
            if (points.count > 0) {
                return true;
            }
        }
    }
    return false;
}

START_TEST(what_a_way_passes_has_no_contact_at_any_time) {
    Dice dice = {(uint64_t)5501 + (uint64_t)_i};
    Mesh *mesh = make_hills(&dice, _i == 0 ? 0.04 : 0.005);
    int passed = 0, near = 0, contacts = 0;
    for (int i = 0, campaign = campaign_count(12); i < campaign; i++) {
        const Primitive primitive = dice_mobile(&dice, i);
        const Pose ground = {vec3(0.0, 0.0, 0.0), quat_identity()}, start = dice_pose(&dice, 2.0);
        const Vec3 aim = vec3(dice_between(&dice, -1.0, 1.0), dice_between(&dice, -1.0, 1.0), 0.0);
        const Vec3 way = vec3_sub(aim, start.position);
        const double speed = dice_between(&dice, 300.0, 1000.0);
        const Mover surface = {.pose = &ground},
                    other = {.primitive = &primitive,
                             .pose = &start,
                             // a body whose middle is elsewhere
                             .center = vec3_add(start.position, dice_vec(&dice, -0.1, 0.1)),
                             .velocity = vec3_scale(speed / vec3_norm(way), way),
                             .spin = dice_vec(&dice, -300.0, 300.0)};
        const Approach approach = {duration, 0.01 + speed * duration};
        SurfacePath path;
        if (!surface_path_read(&surface, &other, &approach, &path)) {
            continue;
        }
        const Surface seen = {mesh, &primitive};
        for (uint32_t triangle = 0; triangle < TRIANGLES; triangle++) {
            const int side = dice_unit(&dice) < 0.5 ? 1 : -1;
            const bool is_near = surface_path_nears(mesh, &path, triangle, side);
            near += is_near;
            passed += !is_near;
            for (int k = 0; k < TIMES; k++) {
                const double time = duration * (k == 0 ? 0.0 : dice_unit(&dice));
                const SurfacePose pose = {ground, approach_pose(&other, time)};
                const bool has = has_contact(&seen, &pose, triangle, side, 2.0 * approach.reach);
                ck_assert_msg(!has || is_near, "way %d: triangle %u has a contact at %g s", i,
                              triangle, time);
                contacts += has;
            }
        }
    }
    ck_assert_int_gt(passed, near / 8); // even on a surface no larger than a way is long
    ck_assert_int_gt(contacts, 100);
    free(mesh);
}
END_TEST

START_TEST(nothing_is_said_of_what_is_slow_or_of_a_surface_that_moves) {
    const Primitive ball = make_sphere(0.1);
    const Pose ground = {vec3(0.0, 0.0, 0.0), quat_identity()}, start = pose_at(0.0, 0.0, 1.0);
    Mover surface = {.pose = &ground};
    Mover other = {.primitive = &ball, .pose = &start, .center = start.position};
    const Approach approach = {duration, 1.0};
    SurfacePath path;
    other.velocity = vec3(0.0, 0.0, -0.19 / duration);
    ck_assert(!surface_path_read(&surface, &other, &approach, &path));
    other.velocity = vec3(0.0, 0.0, -0.21 / duration);
    ck_assert(surface_path_read(&surface, &other, &approach, &path));
    surface.spin = vec3(0.0, 0.0, 1e-3);
    ck_assert(!surface_path_read(&surface, &other, &approach, &path));
    surface.spin = vec3(0.0, 0.0, 0.0);
    surface.velocity = vec3(1e-3, 0.0, 0.0);
    ck_assert(!surface_path_read(&surface, &other, &approach, &path));
}
END_TEST

static TCase *case_path(void) {
    TCase *tcase = tcase_create("path");
    tcase_set_timeout(tcase, 120);
    tcase_add_loop_test(tcase, what_a_way_passes_has_no_contact_at_any_time, 0, 2);
    tcase_add_test(tcase, nothing_is_said_of_what_is_slow_or_of_a_surface_that_moves);
    return tcase;
}

SUITE_MAIN("collide/surface_path", case_path)
