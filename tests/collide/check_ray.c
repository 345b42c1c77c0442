// SPDX-License-Identifier: MIT
// Rays against primitives, judged by what they claim, and through worlds, where a tree and a look
// at everything say the same to the bit.
#include "collide/raycast.h"

#include "collide/geometry.h"
#include "support/campaign.h"
#include "support/lab.h"
#include "support/suite.h"

// Bodies of a metre or two: some roundings.
static const double tolerance = 1e-12;

static const PrimitiveKind kinds[] = {PRIMITIVE_SPHERE, PRIMITIVE_BOX, PRIMITIVE_CAPSULE,
                                      PRIMITIVE_CYLINDER, PRIMITIVE_PLANE};

static Primitive dice_primitive(Dice *dice, PrimitiveKind kind) {
    const double x = dice_between(dice, 0.1, 1.0), y = dice_between(dice, 0.1, 1.0);
    Primitive primitive = kind == PRIMITIVE_SPHERE     ? make_sphere(x)
                          : kind == PRIMITIVE_BOX      ? dice_box(dice)
                          : kind == PRIMITIVE_CAPSULE  ? make_capsule(x, y)
                          : kind == PRIMITIVE_CYLINDER ? make_cylinder(x, y)
                                                       : make_plane();
    primitive.group = PRIMITIVE_GROUP_DEFAULT;
    primitive.mask = PRIMITIVE_MASK_DEFAULT;
    return primitive;
}

// How far a point is out of a primitive at the origin; negative inside, by no more than it is deep.
static double outside(const Primitive *p, Vec3 x) {
    const double across = sqrt(x.x * x.x + x.y * x.y);
    switch (p->kind) {
    case PRIMITIVE_SPHERE:
        return vec3_norm(x) - p->size.x;
    case PRIMITIVE_BOX:
        return fmax(fmax(fabs(x.x) - p->size.x, fabs(x.y) - p->size.y), fabs(x.z) - p->size.z);
    case PRIMITIVE_CAPSULE:
        return point_segment_distance(x, vec3(0.0, 0.0, -p->size.y), vec3(0.0, 0.0, p->size.y)) -
               p->size.x;
    case PRIMITIVE_CYLINDER:
        return fmax(across - p->size.x, fabs(x.z) - p->size.y);
    default:
        return x.z;
    }
}

static Ray dice_ray(Dice *dice, double spread) {
    return (Ray){.origin = dice_vec(dice, -spread, spread),
                 .way = dice_vec(dice, -2.0 * spread, 2.0 * spread),
                 .group = UINT32_MAX,
                 .mask = UINT32_MAX,
                 .unseen_body = UINT32_MAX};
}

// Met: the point is on the surface, nothing before it is inside, and the normal is its gradient,
// against the ray. Not met: it begins inside, or no place of it is inside.
START_TEST(a_ray_meets_a_primitive_where_it_enters_it) {
    Dice dice = {701};
    int met = 0, begun_inside = 0;
    const int campaign = campaign_count(20000);
    for (int i = 0; i < campaign; i++) {
        const Primitive primitive = dice_primitive(&dice, kinds[i % 5]);
        const Pose pose = dice_pose(&dice, 1.0);
        Ray ray = dice_ray(&dice, 2.0);
        const Vec3 towards = vec3_sub(pose.position, ray.origin);
        ray.way =
            vec3_add_scaled(dice_vec(&dice, -1.0, 1.0), dice_between(&dice, 0.5, 2.0), towards);
        const Mat3 axes = quat_to_mat3(pose.orientation);
        double fraction = 1.0;
        Vec3 normal;
        const bool meets = ray_meets(&ray, &primitive, pose.position, &axes, &fraction, &normal);
        const Vec3 origin = mat3_tmul_vec(axes, vec3_sub(ray.origin, pose.position));
        const Vec3 way = mat3_tmul_vec(axes, ray.way);
        const bool is_inside = outside(&primitive, origin) <= 0.0;
        for (int k = 0; k < 50 && !is_inside; k++) {
            const Vec3 before = vec3_add_scaled(origin, fraction * k / 50.0, way);
            ck_assert_double_ge(outside(&primitive, before), -tolerance);
        }
        ck_assert(!meets || !is_inside);
        if (meets) {
            const Vec3 at = vec3_add_scaled(origin, fraction, way);
            const Vec3 n = mat3_tmul_vec(axes, normal);
            ck_assert_double_eq_tol(outside(&primitive, at), 0.0, tolerance);
            ck_assert_double_eq_tol(vec3_norm(normal), 1.0, tolerance);
            ck_assert_double_le(vec3_dot(n, way), 0.0);
            // up from the surface the distance grows as the way does; a hair beyond an edge it
            // would not, where the surface turns away
            const double step = 1e-6;
            ck_assert_double_eq_tol(outside(&primitive, vec3_add_scaled(at, step, n)), step, 1e-9);
        }
        met += meets;
        begun_inside += is_inside;
    }
    ck_assert_int_gt(met, campaign / 8);
    ck_assert_int_gt(begun_inside, campaign / 100);
}
END_TEST

START_TEST(rays_end_where_their_way_does_and_see_what_their_bits_say) {
    Primitive ball = dice_primitive(&(Dice){1}, PRIMITIVE_SPHERE);
    ball.size.x = 0.5;
    const Vec3 place = vec3(0.0, 0.0, 0.0);
    const Mat3 axes = quat_to_mat3(quat_identity());
    Ray ray = {vec3(-2.0, 0.0, 0.0), vec3(1.5, 0.0, 0.0), UINT32_MAX, UINT32_MAX, UINT32_MAX};
    double fraction;
    Vec3 normal;
    ck_assert(ray_meets(&ray, &ball, place, &axes, &fraction, &normal));
    ck_assert_double_eq(fraction, 1.0);
    ck_assert_double_eq(normal.x, -1.0);
    ray.way.x = 1.4999999;
    ck_assert(!ray_meets(&ray, &ball, place, &axes, &fraction, &normal));
    ray.way.x = 30.0;
    ck_assert(ray_meets(&ray, &ball, place, &axes, &fraction, &normal));
    ck_assert_double_eq_tol(fraction, 0.05, tolerance);
    ball.group = 4;
    ray.mask = 3;
    ck_assert(!ray_meets(&ray, &ball, place, &axes, &fraction, &normal));
    ray.mask = 6;
    ball.mask = 8;
    ray.group = 7;
    ck_assert(!ray_meets(&ray, &ball, place, &axes, &fraction, &normal));
    ray.group = 24;
    ck_assert(ray_meets(&ray, &ball, place, &axes, &fraction, &normal));
}
END_TEST

static Lab crowd(Dice *dice, int bodies) {
    Lab lab = lab_create(9.81, 1.0 / 240.0);
    lab_ground(&lab, lab_material(&lab, 0.5, 0.0));
    Id shape[4];
    for (int k = 0; k < 4; k++) {
        shape[k] = lab_shape(&lab, kinds[k], vec3(0.2, 0.3, 0.15), 0);
    }
    for (int i = 0; i < bodies; i++) {
        lab_body(&lab, shape[i % 4], BODY_DYNAMIC, dice_pose(dice, 4.0), NULL, 1.0, NULL);
    }
    return lab;
}

static void assert_same(const RayHit *a, const RayHit *b) {
    ck_assert_uint_eq(a->body, b->body);
    ck_assert_uint_eq(a->primitive, b->primitive);
    ck_assert(a->fraction == b->fraction);
    ck_assert(vec3_norm(vec3_sub(a->point, b->point)) == 0.0);
    ck_assert(vec3_norm(vec3_sub(a->normal, b->normal)) == 0.0);
}

enum { RAYS = 500 };

// One ray at a time looks at everything, many at once ask a tree.
START_TEST(a_tree_says_what_a_look_at_everything_says) {
    Dice dice = {702};
    Lab lab = crowd(&dice, 400);
    static Ray ray[RAYS];
    static RayHit together[RAYS];
    for (int i = 0; i < RAYS; i++) {
        ray[i] = dice_ray(&dice, 6.0);
        if (i % 10 == 0) { // along an axis, and over a body's middle: coordinates without a way
            ray[i].way = vec3(0.0, 0.0, i % 20 == 0 ? -12.0 : 12.0);
            ray[i].origin =
                vec3_add(lab_position(&lab, 1 + (uint32_t)i % 400), vec3(0.0, 0.0, 3.0));
        }
    }
    ck_assert_int_eq(raycast_run(lab.world, ray, RAYS, NULL, &lab.scratch, together), STATUS_OK);
    int met = 0;
    for (int i = 0; i < RAYS; i++) {
        RayHit alone;
        ck_assert_int_eq(raycast_run(lab.world, &ray[i], 1, NULL, &lab.scratch, &alone), STATUS_OK);
        assert_same(&alone, &together[i]);
        met += alone.body != UINT32_MAX;
    }
    ck_assert_int_gt(met, RAYS / 4);
    lab_destroy(&lab);
}
END_TEST

// Where memory ends before a place for each primitive, rays look at the world as it is.
START_TEST(without_memory_they_say_the_same) {
    Dice dice = {704};
    Lab lab = crowd(&dice, 60);
    Arena tight;
    arena_init(&tight, 1000);
    Ray ray[RAYS];
    RayHit known[RAYS], found[RAYS];
    for (int i = 0; i < RAYS; i++) {
        ray[i] = dice_ray(&dice, 6.0);
    }
    ck_assert_int_eq(raycast_run(lab.world, ray, RAYS, NULL, &lab.scratch, known), STATUS_OK);
    ck_assert_int_eq(raycast_run(lab.world, ray, RAYS, NULL, &tight, found), STATUS_OK);
    int met = 0;
    for (int i = 0; i < RAYS; i++) {
        assert_same(&known[i], &found[i]);
        met += known[i].body != UINT32_MAX;
    }
    ck_assert_int_gt(met, RAYS / 8);
    arena_deinit(&tight);
    lab_destroy(&lab);
}
END_TEST

// Two bodies in one place: the one that was there first, however many rays ask.
START_TEST(of_two_in_one_place_the_first_is_told) {
    Lab lab = lab_create(9.81, 1.0 / 240.0);
    const Id shape = lab_shape(&lab, PRIMITIVE_BOX, vec3(0.5, 0.5, 0.5), 0);
    for (int i = 0; i < 100; i++) {
        lab_body(&lab, shape, BODY_DYNAMIC, pose_at(i / 2, 0.0, 0.0), NULL, 1.0, NULL);
    }
    Ray ray[RAYS];
    RayHit hit[RAYS];
    for (int i = 0; i < RAYS; i++) {
        ray[i] = (Ray){vec3(i % 50, 0.1, 3.0), vec3(0.0, 0.0, -4.0), 1, 1, UINT32_MAX};
    }
    ck_assert_int_eq(raycast_run(lab.world, ray, RAYS, NULL, &lab.scratch, hit), STATUS_OK);
    for (int i = 0; i < RAYS; i++) {
        // neighbours share a face, which the ray goes along: 1 m apart, half a metre each way
        ck_assert_uint_eq(hit[i].body, 2 * (uint32_t)(i % 50));
        ck_assert_double_eq_tol(hit[i].fraction, 2.5 / 4.0, tolerance);
    }
    lab_destroy(&lab);
}
END_TEST

static bool always(void *context) {
    (void)context;
    return true;
}

START_TEST(many_rays_can_be_given_up) {
    Dice dice = {703};
    Lab lab = crowd(&dice, 2000);
    enum { MANY = 60000 };
    Ray *ray = malloc(MANY * sizeof(Ray));
    RayHit *hit = malloc(MANY * sizeof(RayHit));
    for (int i = 0; i < MANY; i++) {
        ray[i] = dice_ray(&dice, 5.0);
    }
    const Stop stop = {.asked = always};
    ck_assert_int_eq(raycast_run(lab.world, ray, MANY, &stop, &lab.scratch, hit), STATUS_ABORTED);
    free(ray);
    free(hit);
    lab_destroy(&lab);
}
END_TEST

static TCase *case_ray(void) {
    TCase *tcase = tcase_create("ray");
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, a_ray_meets_a_primitive_where_it_enters_it);
    tcase_add_test(tcase, rays_end_where_their_way_does_and_see_what_their_bits_say);
    tcase_add_test(tcase, a_tree_says_what_a_look_at_everything_says);
    tcase_add_test(tcase, without_memory_they_say_the_same);
    tcase_add_test(tcase, of_two_in_one_place_the_first_is_told);
    tcase_add_test(tcase, many_rays_can_be_given_up);
    return tcase;
}

SUITE_MAIN("collide/ray", case_ray)
