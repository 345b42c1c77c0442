// SPDX-License-Identifier: MIT
#include "collide/foundation.h"

#include "support/suite.h"

#include <math.h>

static Primitive box_with(Vec3 size, uint32_t face, uint32_t first, uint32_t second) {
    return (Primitive){.kind = PRIMITIVE_BOX,
                       .size = size,
                       .local = {.orientation = quat_identity()},
                       .density = 1000.0,
                       .foundation = {face, {first, second}, 1e7, 0.5, 1.0}};
}

static Pose at(double x, double y, double z) {
    return (Pose){.position = vec3(x, y, z), .orientation = quat_identity()};
}

static const Primitive plane = {.kind = PRIMITIVE_PLANE, .local = {.orientation = {1, 0, 0, 0}}};

// Points in the middle of cells, each as far from the plane as the body's point there, of a box
// that is turned about y.
START_TEST(cells_are_where_their_grid_has_them) {
    const double angle = 0.1, half[3] = {0.3, 0.2, 0.1};
    Primitive box = box_with(vec3(half[0], half[1], half[2]), 6, 3, 2);
    Pose pose = {.position = vec3(1.0, 2.0, 0.15),
                 .orientation = {cos(0.5 * angle), 0.0, sin(0.5 * angle), 0.0}};
    Pose ground = at(0.0, 0.0, 0.0);
    ck_assert(foundation_faces(&box, &pose, &plane, &ground));
    FoundationGrid grid = foundation_grid(&box, &pose, &plane, &ground);
    ck_assert_uint_eq(grid.count, 6);
    ck_assert_double_eq(grid.normal.z, 1.0);
    for (uint32_t i = 0; i < 6; i++) {
        ManifoldPoint point;
        ck_assert(foundation_cell(&grid, i, &point));
        ck_assert_uint_eq(point.feature, FOUNDATION_CELL | i);
        double x = (-2.0 + 2.0 * (i % 3)) / 3.0 * half[0],
               y = (-1.0 + 2.0 * (i / 3)) / 2.0 * half[1];
        // of (x, y, -half z), turned by the angle
        double across = cos(angle) * x - sin(angle) * half[2],
               up = -sin(angle) * x - cos(angle) * half[2];
        // some roundings of numbers of size 1
        ck_assert_double_eq_tol(point.gap, 0.15 + up, 1e-15);
        ck_assert_double_eq_tol(point.position.x, 1.0 + across, 2e-15);
        ck_assert_double_eq_tol(point.position.y, 2.0 + y, 2e-15);
        ck_assert_double_eq_tol(point.position.z, 0.5 * point.gap, 1e-15);
    }
}
END_TEST

// A face looks at what is no more than 60 degrees from straight below it.
START_TEST(a_face_that_looks_away_stands_on_nothing) {
    Primitive box = box_with(vec3(0.3, 0.2, 0.1), 6, 3, 2);
    Pose ground = at(0.0, 0.0, 0.0);
    const double angles[] = {0.0, 59.0, 61.0, 180.0};
    for (int i = 0; i < 4; i++) {
        double angle = angles[i] / 180.0 * 3.14159265358979323846;
        Pose pose = {.position = vec3(0.0, 0.0, 0.2),
                     .orientation = {cos(0.5 * angle), sin(0.5 * angle), 0.0, 0.0}};
        ck_assert_int_eq(foundation_faces(&box, &pose, &plane, &ground), angles[i] < 60.0);
    }
}
END_TEST

// On a box only the cells over its face, whichever face of both it is.
START_TEST(cells_beside_a_box_are_none_of_it) {
    for (uint32_t face = 1; face <= FOUNDATION_FACE_COUNT; face++) {
        Primitive box = box_with(vec3(1.0, 1.0, 1.0), face, 4, 4),
                  base = box_with(box.size, 0, 0, 0);
        uint32_t axis = (face - 1) / 2;
        double sign = face % 2 == 1 ? 1.0 : -1.0, place[3] = {0.0, 0.0, 0.0};
        place[axis] = sign * 2.5;    // half a metre away
        place[(axis + 1) % 3] = 1.0; // half of it beside the other
        Pose pose = at(0.0, 0.0, 0.0), under = at(place[0], place[1], place[2]);
        ck_assert(foundation_faces(&box, &pose, &base, &under));
        FoundationGrid grid = foundation_grid(&box, &pose, &base, &under);
        uint32_t count = 0;
        for (uint32_t i = 0; i < grid.count; i++) {
            ManifoldPoint point;
            if (foundation_cell(&grid, i, &point)) {
                ck_assert_double_eq_tol(point.gap, 0.5, 1e-15);
                count++;
            }
        }
        ck_assert_uint_eq(count, 8);
        // and the springs of all are those of the face
        ck_assert_double_eq_tol(16.0 * foundation_stiffness(&box), 1e7 * 4.0 / 0.5, 1e-6);
    }
}
END_TEST

static TCase *case_foundation(void) {
    TCase *tcase = tcase_create("foundation");
    tcase_add_test(tcase, cells_are_where_their_grid_has_them);
    tcase_add_test(tcase, a_face_that_looks_away_stands_on_nothing);
    tcase_add_test(tcase, cells_beside_a_box_are_none_of_it);
    return tcase;
}

SUITE_MAIN("collide/foundation", case_foundation)
