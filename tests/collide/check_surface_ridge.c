// SPDX-License-Identifier: MIT
// What leans on a ridge so nearly as it would lie on one of the roof's sides: both sides say the
// same of it, and nobody finds one place twice.
#include "collide/surface.h"

#include "collide/geometry.h"
#include "support/campaign.h"
#include "support/suite.h"

enum { ROOF_CORNERS = 4, ROOF_TRIANGLES = 2, HIP_CORNERS = 5, HIP_TRIANGLES = 4, HIP = 1 };

// of the sizes, of some tenths of a metre, what rounding makes of places that are computed from
// either side: an angle of 3e-4, as steep as the roof is, makes some 1e-16 / 3e-4 of it
static const double same_place = 1e-10;

static Mesh *make_surface(const Vec3 *point, uint32_t points, const uint32_t *corner,
                          uint32_t triangles) {
    const MeshForm form = {point, points, corner, triangles, false, NULL};
    const MeshNames names = {"points", "triangles", "patches"};
    Error error = {0};
    Mesh *mesh = malloc(mesh_bytes(points, triangles));
    ck_assert_int_eq(mesh_open(&form, &names, mesh, &error), STATUS_OK);
    return mesh;
}

// A ridge along y, and a triangle on either side of it.
static Mesh *make_roof(const double slope[2]) {
    const Vec3 point[ROOF_CORNERS] = {vec3(0.0, -0.25, 0.0), vec3(0.0, 0.25, 0.0),
                                      vec3(0.5, 0.05, -0.5 * slope[0]),
                                      vec3(-0.5, -0.02, -0.5 * slope[1])};
    const uint32_t corner[3 * ROOF_TRIANGLES] = {0, 2, 1, 1, 3, 0};
    return make_surface(point, ROOF_CORNERS, corner, ROOF_TRIANGLES);
}

// Two ridges, along x and along y, that meet at one of its corners, as high as each other.
static Mesh *make_hip(void) {
    const Vec3 point[HIP_CORNERS] = {vec3(0.4, 0.0, 0.0), vec3(0.0, 0.0, 0.0), vec3(0.4, 0.4, -0.2),
                                     vec3(0.0, 0.4, 0.0), vec3(-0.3, -0.3, -0.2)};
    const uint32_t corner[3 * HIP_TRIANGLES] = {HIP, 0, 2, HIP, 2, 3, HIP, 3, 4, HIP, 4, 0};
    return make_surface(point, HIP_CORNERS, corner, HIP_TRIANGLES);
}

// A flat thing that lies on the roof, but for some thousandths.
static Primitive dice_lying(Dice *dice, int i) {
    return i % 2 == 0
               ? make_cylinder(dice_between(dice, 0.05, 0.3), 0.03)
               : make_box(vec3(dice_between(dice, 0.05, 0.3), dice_between(dice, 0.05, 0.3), 0.03));
}

static SurfacePose dice_poses(Dice *dice, const Primitive *lying) {
    const Vec3 axis = dice_direction(dice);
    const double half = 0.5 * dice_between(dice, 0.0, 3e-3), around = dice_between(dice, 0.0, 3.0);
    const Quat tilt = quat_normalize((Quat){1.0, half * axis.x, half * axis.y, 0.0});
    const Quat about = {cos(around), 0.0, 0.0, sin(around)};
    const Pose roof = dice_pose(dice, 3.0);
    const Vec3 at = vec3(dice_between(dice, -0.1, 0.1), dice_between(dice, -0.3, 0.3),
                         lying->size.z + (lying->kind == PRIMITIVE_CYLINDER ? lying->size.y : 0.0) +
                             dice_between(dice, -1e-4, 1e-4));
    return (SurfacePose){roof,
                         {pose_apply(roof, at), quat_mul(roof.orientation, quat_mul(tilt, about))}};
}

// false: it is no ridge's to that triangle.
static bool find_ridge(const Surface *surface, const SurfacePose *pose, uint32_t triangle,
                       ConvexManifold *met) {
    MeshTriangle read;
    mesh_read_triangle(surface->mesh, triangle, &read);
    surface_meet(surface, pose, &read, 0.01, met);
    const SurfacePiece whole = {triangle, SURFACE_WHOLE, &read};
    uint32_t taken = 0;
    return met->count > 0 && surface_is_ridge(surface, pose, whole, 1, met, &taken) &&
           __builtin_popcount(taken) == 2;
}

static const ConvexPoint *find_alike(const ConvexManifold *met, const ConvexPoint *point) {
    for (uint32_t i = 0; i < met->count; i++) {
        if (met->point[i].feature[0] == point->feature[0] &&
            met->point[i].feature[1] == point->feature[1]) {
            return &met->point[i];
        }
    }
    return NULL;
}

START_TEST(both_sides_of_a_ridge_say_the_same_of_what_leans_on_it) {
    Dice dice = {(uint64_t)7207 + (uint64_t)_i};
    int ridges = 0;
    for (int i = 0, campaign = campaign_count(4000); i < campaign; i++) {
        const double slope[2] = {dice_between(&dice, 3e-4, 3e-3), dice_between(&dice, 3e-4, 3e-3)};
        Mesh *mesh = make_roof(slope);
        const Primitive lying = dice_lying(&dice, i);
        const SurfacePose pose = dice_poses(&dice, &lying);
        const Surface surface = {mesh, &lying};
        ConvexManifold met[2];
        if (find_ridge(&surface, &pose, 0, &met[0]) && find_ridge(&surface, &pose, 1, &met[1])) {
            ridges++;
            ck_assert_msg(met[0].count == met[1].count, "thing %d: %u points, or %u", i,
                          met[0].count, met[1].count);
            for (uint32_t k = 0; k < met[0].count; k++) {
                const ConvexPoint *own = &met[0].point[k], *its = find_alike(&met[1], own);
                ck_assert_msg(its != NULL, "thing %d: point %u (%x, %x) is of one side alone", i, k,
                              own->feature[0], own->feature[1]);
                ck_assert_double_lt(vec3_norm(vec3_sub(own->position, its->position)), same_place);
                ck_assert_double_lt(fabs(own->gap - its->gap), same_place);
            }
        }
        free(mesh);
    }
    ck_assert_int_gt(ridges, 100);
}
END_TEST

// It is one point, of whichever ridge it is an end of, and of the peak that it is as well.
START_TEST(where_two_ridges_meet_under_a_flat_side_is_one_point) {
    Dice dice = {(uint64_t)9103 + (uint64_t)_i};
    Mesh *mesh = make_hip();
    for (int i = 0, campaign = campaign_count(200); i < campaign; i++) {
        const bool is_round = _i == 1;
        const Primitive lying =
            is_round ? make_cylinder(0.3, 0.03) : make_box(vec3(0.3, 0.25, 0.03));
        const double around = dice_between(&dice, 0.0, 3.0);
        const Pose hip = dice_pose(&dice, 3.0);
        const Vec3 at = vec3(dice_between(&dice, -0.1, 0.1), dice_between(&dice, -0.1, 0.1),
                             0.03 + dice_between(&dice, -1e-4, 1e-4));
        const SurfacePose pose = {
            hip,
            {pose_apply(hip, at),
             quat_mul(hip.orientation, (Quat){cos(around), 0.0, 0.0, sin(around)})}};
        const Surface surface = {mesh, &lying};
        uint32_t ends = 0, of_other = 0;
        for (uint32_t triangle = 0; triangle < HIP_TRIANGLES; triangle++) {
            ConvexManifold met;
            const uint32_t count = find_ridge(&surface, &pose, triangle, &met) ? met.count : 0;
            for (uint32_t k = 0; k < count; k++) {
                const uint32_t *feature = met.point[k].feature;
                if (feature[0] == (CONVEX_VERTEX | HIP)) {
                    ck_assert(ends == 0 || feature[1] == of_other);
                    of_other = feature[1];
                    ends++;
                }
            }
        }
        ck_assert_uint_eq(ends, 4); // of each ridge from both sides
        ck_assert_uint_eq(of_other & CONVEX_KINDS, is_round ? CONVEX_ROUND : CONVEX_FACE);
    }
    free(mesh);
}
END_TEST

static TCase *case_ridge(void) {
    TCase *tcase = tcase_create("ridge");
    tcase_add_loop_test(tcase, both_sides_of_a_ridge_say_the_same_of_what_leans_on_it, 0, 4);
    tcase_add_loop_test(tcase, where_two_ridges_meet_under_a_flat_side_is_one_point, 0, 2);
    return tcase;
}

SUITE_MAIN("collide/surface_ridge", case_ridge)
