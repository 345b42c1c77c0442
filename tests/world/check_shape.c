// SPDX-License-Identifier: MIT
#include "world/shape.h"

#include "support/suite.h"

#include <string.h>

static Primitive make(PrimitiveKind kind, Vec3 size, Vec3 position, Quat orientation) {
    return (Primitive){
        .kind = kind, .size = size, .local = {position, orientation}, .density = 1000.0};
}

static Primitive plain(PrimitiveKind kind, Vec3 size) {
    return make(kind, size, vec3(0.0, 0.0, 0.0), quat_identity());
}

static const Quat tilted = {0.5, 0.5, 0.5, 0.5}; // x to y, y to z, z to x

START_TEST(good_primitives_pass) {
    const Primitive good[] = {
        plain(PRIMITIVE_SPHERE, vec3(0.1, 0.0, 0.0)), plain(PRIMITIVE_BOX, vec3(1.0, 2.0, 3.0)),
        plain(PRIMITIVE_PLANE, vec3(0.0, 0.0, 0.0)), plain(PRIMITIVE_CAPSULE, vec3(0.1, 0.5, 0.0)),
        make(PRIMITIVE_BOX, vec3(1e-3, 1e3, 1.0), vec3(1e6, 0.0, 0.0), tilted)};
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        Error error = {.field = "untouched"};
        ck_assert_int_eq(primitive_check(&good[i], 0, &error), STATUS_OK);
        ck_assert_str_eq(error.field, "untouched");
    }
}
END_TEST

// one number made bad, as the index'th primitive of a column
static const struct {
    PrimitiveKind kind;
    int size; // which is bad, -1: none
    int pose; // which is bad, -1: none
    double value;
    const char *field; // for index 2
} bad[] = {
    {PRIMITIVE_SPHERE, 0, -1, 0.0, "size[6]"},
    {PRIMITIVE_SPHERE, 0, -1, -1.0, "size[6]"},
    {PRIMITIVE_SPHERE, 0, -1, NAN, "size[6]"},
    {PRIMITIVE_BOX, 1, -1, INFINITY, "size[7]"},
    {PRIMITIVE_BOX, 2, -1, 0.0, "size[8]"},
    {PRIMITIVE_BOX, -1, 0, NAN, "pose[14]"},
    {PRIMITIVE_PLANE, -1, 2, INFINITY, "pose[16]"},
    {PRIMITIVE_PLANE, -1, 3, 1.0 + 3e-9, "pose[17]"},
    {PRIMITIVE_SPHERE, -1, 3, 0.0, "pose[17]"},
    {PRIMITIVE_SPHERE, -1, 6, NAN, "pose[20]"},
    {PRIMITIVE_SPHERE, -1, -1, 0.0, "density[2]"},
    {PRIMITIVE_BOX, -1, -1, NAN, "density[2]"},
    {PRIMITIVE_PLANE, -1, -1, -1.0, "density[2]"},
    {PRIMITIVE_SPHERE, 0, -1, 2e6, "size[6]"}, // the largest radius is 1e6 m
    {PRIMITIVE_BOX, 0, -1, 2e6, "size[6]"},
    {PRIMITIVE_BOX, -1, 1, -2e9, "pose[15]"}, // coordinates end at 1e9 m
    {PRIMITIVE_SPHERE, -1, -1, 2e12, "density[2]"},
    {PRIMITIVE_CAPSULE, 0, -1, 0.0, "size[6]"},
    {PRIMITIVE_CAPSULE, 1, -1, 0.0, "size[7]"},
    {PRIMITIVE_CAPSULE, 1, -1, NAN, "size[7]"},
    {PRIMITIVE_CAPSULE, 1, -1, 2e6, "size[7]"}, // so is the largest half length
    {PRIMITIVE_SPHERE, 0, -1, 1e-200, "density[2]"},
};

START_TEST(a_bad_number_is_named) {
    Primitive primitive = plain(bad[_i].kind, vec3(1.0, 1.0, 1.0));
    double size[3], pose[7];
    vec3_store(size, primitive.size);
    pose_store(pose, primitive.local);
    if (bad[_i].size >= 0) {
        size[bad[_i].size] = bad[_i].value;
    } else if (bad[_i].pose >= 0) {
        pose[bad[_i].pose] = bad[_i].value;
    } else {
        primitive.density = bad[_i].value;
    }
    primitive.size = vec3_load(size);
    primitive.local = pose_load(pose);
    Error error;
    ck_assert_int_eq(primitive_check(&primitive, 2, &error), STATUS_INVALID_ARGUMENT);
    ck_assert_str_eq(error.field, bad[_i].field);
    ck_assert_uint_gt(strlen(error.message), 0);
}
END_TEST

START_TEST(an_unknown_kind_is_refused) {
    Primitive primitive = plain(PRIMITIVE_COUNT, vec3(1.0, 1.0, 1.0));
    Error error;
    ck_assert_int_eq(primitive_check(&primitive, 1, &error), STATUS_INVALID_ARGUMENT);
    ck_assert_str_eq(error.field, "kind[1]");
}
END_TEST

static void assert_inertia(Sym3 actual, Sym3 expected, double allowed) {
    ck_assert_double_eq_tol(actual.xx, expected.xx, allowed);
    ck_assert_double_eq_tol(actual.yy, expected.yy, allowed);
    ck_assert_double_eq_tol(actual.zz, expected.zz, allowed);
    ck_assert_double_eq_tol(actual.xy, expected.xy, allowed);
    ck_assert_double_eq_tol(actual.xz, expected.xz, allowed);
    ck_assert_double_eq_tol(actual.yz, expected.yz, allowed);
}

// Masses here are up to 1e5 kg with arms of metres: 1e-9 is some roundings.
static const double tolerance = 1e-9;

START_TEST(a_box_weighs_what_the_textbook_says) {
    Primitive box = make(PRIMITIVE_BOX, vec3(0.5, 1.0, 1.5), vec3(0.0, 0.0, 0.0), tilted);
    Shape shape = {.primitive_first = 0, .primitive_count = 1};
    shape_measure(&shape, &box);
    double mass = 1000.0 * 1.0 * 2.0 * 3.0;
    ck_assert(!shape.is_unbounded);
    ck_assert_double_eq_tol(shape.volume_mass, mass, tolerance);
    ck_assert_double_eq_tol(shape.radius, vec3_norm(box.size), 1e-15);
    // its x is the body's y, its y the body's z, its z the body's x
    assert_inertia(shape.inertia,
                   (Sym3){mass / 12.0 * 5.0, mass / 12.0 * 13.0, mass / 12.0 * 10.0, 0.0, 0.0, 0.0},
                   tolerance);
}
END_TEST

// Its mass properties, as the sum over thin slices across the axis: a disc of radius R and
// thickness dz at z has pi R^2 dz, inertia R^2/2 about the axis and R^2/4 + z^2 across it.
// Simpson's rule is exact for the cylinder, and for the ends, whose integrands are polynomials of
// fourth degree, to (2 r / n)^4: 1e-13 for these 10,000 slices.
START_TEST(a_capsule_weighs_what_its_slices_do) {
    const double r = 0.3, half = 0.7;
    enum { SLICES = 10000 };
    double mass = 0.0, along = 0.0, across = 0.0;
    const double borders[] = {-half - r, -half, half, half + r};
    for (int part = 0; part < 3; part++) {
        double low = borders[part], dz = (borders[part + 1] - low) / SLICES;
        for (int i = 0; i <= SLICES; i++) {
            double weight = (i == 0 || i == SLICES ? 1.0 : i % 2 == 1 ? 4.0 : 2.0) * dz / 3.0;
            double z = low + i * dz, beyond = fmax(fabs(z) - half, 0.0);
            double squared = r * r - beyond * beyond;
            double m = 1000.0 * acos(-1.0) * squared * weight;
            mass += m;
            along += m * squared / 2.0;
            across += m * (squared / 4.0 + z * z);
        }
    }
    Primitive capsule = make(PRIMITIVE_CAPSULE, vec3(r, half, 0.0), vec3(0.0, 0.0, 0.0), tilted);
    Shape shape = {.primitive_first = 0, .primitive_count = 1};
    shape_measure(&shape, &capsule);
    ck_assert_double_eq_tol(shape.volume_mass, mass, tolerance);
    ck_assert_double_eq_tol(shape.radius, half + r, 1e-15);
    // its z is the body's x
    assert_inertia(shape.inertia, (Sym3){along, across, across, 0.0, 0.0, 0.0}, tolerance);
    Vec3 lower, upper;
    Quat diagonal = quat_normalize((Quat){cos(acos(-1.0) / 8.0), 0.0, sin(acos(-1.0) / 8.0), 0.0});
    primitive_bounds(&capsule, (Pose){vec3(1.0, 2.0, 3.0), diagonal}, &lower, &upper);
    double reach = half * sqrt(0.5) + r; // 45 degrees between z and x
    ck_assert_double_le(vec3_norm(vec3_sub(upper, vec3(1.0 + reach, 2.0 + r, 3.0 + reach))), 1e-15);
    ck_assert_double_le(vec3_norm(vec3_sub(lower, vec3(1.0 - reach, 2.0 - r, 3.0 - reach))), 1e-15);
}
END_TEST

START_TEST(a_box_cut_in_pieces_stays_the_same) {
    // 2 x 4 x 6 m at (3, -1, 2), whole and as two halves along y of unequal size, behind a
    // primitive of another shape
    const Primitive whole =
        make(PRIMITIVE_BOX, vec3(1.0, 2.0, 3.0), vec3(3.0, -1.0, 2.0), quat_identity());
    const Primitive pieces[] = {
        plain(PRIMITIVE_SPHERE, vec3(9.0, 0.0, 0.0)),
        make(PRIMITIVE_BOX, vec3(1.0, 0.5, 3.0), vec3(3.0, -2.5, 2.0), quat_identity()),
        // turned: its x is y, its y is z, its z is x
        make(PRIMITIVE_BOX, vec3(1.5, 3.0, 1.0), vec3(3.0, -0.5, 2.0), tilted)};
    Shape one = {.primitive_first = 0, .primitive_count = 1},
          two = {.primitive_first = 1, .primitive_count = 2};
    shape_measure(&one, &whole);
    shape_measure(&two, pieces);
    ck_assert_double_eq_tol(one.volume_mass, two.volume_mass, tolerance);
    ck_assert_double_le(vec3_norm(vec3_sub(one.center, two.center)), 1e-14);
    assert_inertia(one.inertia, two.inertia, tolerance);
}
END_TEST

START_TEST(two_spheres_make_a_dumbbell) {
    const double r = 0.1, arm = 1.0;
    const Primitive balls[] = {
        make(PRIMITIVE_SPHERE, vec3(r, 0.0, 0.0), vec3(-arm, 0.0, 0.0), quat_identity()),
        make(PRIMITIVE_SPHERE, vec3(r, 0.0, 0.0), vec3(arm, 0.0, 0.0), tilted)};
    Shape shape = {.primitive_first = 0, .primitive_count = 2};
    shape_measure(&shape, balls);
    double mass = 1000.0 * 4.0 / 3.0 * acos(-1.0) * r * r * r;
    double own = 0.4 * mass * r * r;
    ck_assert_double_eq_tol(shape.volume_mass, 2.0 * mass, tolerance);
    ck_assert_double_eq_tol(vec3_norm(shape.center), 0.0, 1e-15);
    assert_inertia(shape.inertia,
                   (Sym3){2.0 * own, 2.0 * (own + mass), 2.0 * (own + mass), 0.0, 0.0, 0.0},
                   tolerance);
    ck_assert_double_eq_tol(shape.radius, arm + r, 1e-15);
}
END_TEST

START_TEST(a_plane_makes_a_shape_unbounded) {
    const Primitive parts[] = {plain(PRIMITIVE_SPHERE, vec3(1.0, 0.0, 0.0)),
                               plain(PRIMITIVE_PLANE, vec3(0.0, 0.0, 0.0))};
    Shape shape = {.primitive_first = 0, .primitive_count = 2};
    shape_measure(&shape, parts);
    ck_assert(shape.is_unbounded);
    ck_assert_double_eq(shape.volume_mass, 0.0);
    ck_assert(isinf(shape.radius));
}
END_TEST

START_TEST(bounds_hold_a_turned_box_and_touch_it) {
    Primitive box = plain(PRIMITIVE_BOX, vec3(0.5, 1.0, 1.5));
    uint64_t state = 17;
    for (int i = 0; i < 1000; i++) {
        double number[7];
        for (int k = 0; k < 7; k++) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            number[k] = (double)(state >> 11) * 0x1p-53 - 0.5;
        }
        Pose pose = pose_load(number);
        pose.orientation = quat_normalize(pose.orientation);
        Vec3 lower, upper, low = vec3(9.0, 9.0, 9.0), high = vec3(-9.0, -9.0, -9.0);
        primitive_bounds(&box, pose, &lower, &upper);
        for (int corner = 0; corner < 8; corner++) {
            Vec3 p = pose_apply(pose, vec3(corner & 1 ? 0.5 : -0.5, corner & 2 ? 1.0 : -1.0,
                                           corner & 4 ? 1.5 : -1.5));
            low = vec3(fmin(low.x, p.x), fmin(low.y, p.y), fmin(low.z, p.z));
            high = vec3(fmax(high.x, p.x), fmax(high.y, p.y), fmax(high.z, p.z));
        }
        ck_assert_double_le(vec3_norm(vec3_sub(low, lower)), 1e-14);
        ck_assert_double_le(vec3_norm(vec3_sub(high, upper)), 1e-14);
    }
}
END_TEST

START_TEST(a_plane_is_infinite_but_above_its_axis) {
    Primitive plane = plain(PRIMITIVE_PLANE, vec3(0.0, 0.0, 0.0));
    Vec3 lower, upper;
    primitive_bounds(&plane, (Pose){vec3(1.0, 2.0, 3.0), quat_identity()}, &lower, &upper);
    ck_assert(isinf(lower.x) && isinf(lower.y) && isinf(lower.z) && isinf(upper.x) &&
              isinf(upper.y));
    ck_assert_double_eq(upper.z, 3.0);

    // its z is the world's x; and turned over, it is solid above
    primitive_bounds(&plane, (Pose){vec3(1.0, 2.0, 3.0), tilted}, &lower, &upper);
    ck_assert_double_eq(upper.x, 1.0);
    ck_assert(isinf(upper.z) && isinf(lower.x));
    primitive_bounds(&plane, (Pose){vec3(1.0, 2.0, 3.0), {0.0, 1.0, 0.0, 0.0}}, &lower, &upper);
    ck_assert_double_eq(lower.z, 3.0);
    ck_assert(isinf(upper.z));

    // any slope makes it infinite
    primitive_bounds(&plane, (Pose){vec3(1.0, 2.0, 3.0), {0.8, 0.6, 0.0, 0.0}}, &lower, &upper);
    ck_assert(isinf(upper.z) && isinf(lower.z) && isinf(upper.y) && isinf(lower.y));
}
END_TEST

static TCase *case_check(void) {
    TCase *tcase = tcase_create("check");
    tcase_add_test(tcase, good_primitives_pass);
    tcase_add_loop_test(tcase, a_bad_number_is_named, 0, (int)(sizeof(bad) / sizeof(bad[0])));
    tcase_add_test(tcase, an_unknown_kind_is_refused);
    return tcase;
}

static TCase *case_measure(void) {
    TCase *tcase = tcase_create("measure");
    tcase_add_test(tcase, a_box_weighs_what_the_textbook_says);
    tcase_add_test(tcase, a_capsule_weighs_what_its_slices_do);
    tcase_add_test(tcase, a_box_cut_in_pieces_stays_the_same);
    tcase_add_test(tcase, two_spheres_make_a_dumbbell);
    tcase_add_test(tcase, a_plane_makes_a_shape_unbounded);
    tcase_add_test(tcase, bounds_hold_a_turned_box_and_touch_it);
    tcase_add_test(tcase, a_plane_is_infinite_but_above_its_axis);
    return tcase;
}

SUITE_MAIN("world/shape", case_check, case_measure)
