// SPDX-License-Identifier: MIT
// A polygon that stands on a cylinder's cap, across it or over its rim: it bears with those
// stretches of its edges that are over the cap. In the cap's axes, turned as anything, the polygon
// is in a plane y = d, and the cap under it from x = -s to s, with s^2 = r^2 - d^2.
#include "collide/facet_meet.h"

#include "collide/geometry.h"
#include "support/suite.h"

#include <math.h>

enum { ROUNDS = 2000, CORNERS = 4 };

typedef struct Standing {
    Pose pose;
    double radius, d;
    double x[CORNERS], z[CORNERS]; // of the polygon, around it
} Standing;

// Tilted in its plane by an angle, about a corner that is up to twice the radius away.
static Standing draw(Dice *dice, double tilt) {
    Standing of = {.pose = dice_pose(dice, 1.0), .radius = dice_between(dice, 0.2, 1.0)};
    of.d = of.radius * dice_between(dice, -1.3, 1.3);
    const double along = of.radius * dice_between(dice, 0.1, 3.0),
                 high = of.radius * dice_between(dice, 0.1, 3.0),
                 x = of.radius * dice_between(dice, -2.0, 1.0), z = dice_between(dice, -0.1, 0.1);
    const double u[CORNERS] = {0.0, along, along, 0.0}, w[CORNERS] = {0.0, 0.0, high, high};
    for (int i = 0; i < CORNERS; i++) {
        of.x[i] = x + u[i] * cos(tilt) - w[i] * sin(tilt);
        of.z[i] = z + u[i] * sin(tilt) + w[i] * cos(tilt);
    }
    return of;
}

static Vec3 placed(const Standing *of, double x, double y, double z) {
    return vec3_add(of->pose.position, quat_rotate(of->pose.orientation, vec3(x, y, z)));
}

static void meet_cap(const Standing *of, const Facet *other, MeetPoints *met) {
    const Quat turn = of->pose.orientation;
    const Vec3 up = quat_rotate(turn, vec3(0.0, 0.0, 1.0));
    const Facet disc = {.kind = FACET_DISC,
                        .normal = up,
                        .center = of->pose.position,
                        .x = quat_rotate(turn, vec3(1.0, 0.0, 0.0)),
                        .y = quat_rotate(turn, vec3(0.0, 1.0, 0.0)),
                        .radius = of->radius};
    facet_meet(&disc, other, up, 0.0, met);
}

static void meet(const Standing *of, MeetPoints *met) {
    const Quat turn = of->pose.orientation;
    Facet polygon = {.kind = FACET_POLYGON,
                     .normal = quat_rotate(turn, vec3(0.0, -1.0, 0.0)),
                     .center = placed(of, of->x[0], of->d, of->z[0]),
                     .count = CORNERS};
    for (int i = 0; i < CORNERS; i++) {
        polygon.point[i] = placed(of, of->x[i], of->d, of->z[i]);
    }
    meet_cap(of, &polygon, met);
}

// Both ends of what of an edge is over the cap, where it is not across it.
static bool ends_of(const Standing *of, int edge, double x[2], double z[2]) {
    const int next = edge + 1 < CORNERS ? edge + 1 : 0;
    const double square = of->radius * of->radius - of->d * of->d, s = sqrt(fmax(square, 0.0)),
                 way = of->x[next] - of->x[edge], rise = of->z[next] - of->z[edge];
    if (square <= 0.0 || fabs(way) < 1e-12) {
        return false;
    }
    const double low = fmax(-s, fmin(of->x[edge], of->x[next])),
                 high = fmin(s, fmax(of->x[edge], of->x[next]));
    for (int end = 0; end < 2; end++) {
        x[end] = (end == 0) == (way > 0.0) ? low : high;
        z[end] = of->z[edge] + (x[end] - of->x[edge]) * rise / way;
    }
    return low <= high;
}

static bool is_there(const MeetPoints *met, Vec3 position, double gap, uint32_t label) {
    bool is = false;
    for (uint32_t i = 0; i < met->count; i++) {
        const MeetPoint *point = &met->point[i];
        is = is || (point->label == label && fabs(point->gap - gap) < 1e-9 &&
                    vec3_norm(vec3_sub(point->position, position)) < 1e-9);
    }
    return is;
}

// Each edge has its two ends, in its own direction, as high as the edge is there, and nothing else.
START_TEST(what_stands_tilted_bears_with_its_edges) {
    Dice dice = {77};
    int edges = 0, cut = 0;
    for (int round = 0; round < ROUNDS; round++) {
        const double side = round % 2 == 0 ? 1.0 : -1.0;
        const Standing of = draw(&dice, side * dice_between(&dice, 0.05, 1.5));
        MeetPoints met;
        meet(&of, &met);
        uint32_t count = 0;
        for (int edge = 0; edge < CORNERS; edge++) {
            double x[2], z[2];
            if (!ends_of(&of, edge, x, z)) {
                continue;
            }
            for (uint32_t end = 0; end < 2; end++) {
                ck_assert(is_there(&met, placed(&of, x[end], of.d, z[end]), z[end],
                                   MEET_EDGE + 2 * (uint32_t)edge + end));
                cut += fabs(x[end] * x[end] + of.d * of.d - of.radius * of.radius) < 1e-9;
            }
            count += 2;
            edges++;
        }
        ck_assert_uint_eq(met.count, count);
    }
    ck_assert_int_gt(edges, ROUNDS);
    ck_assert_int_gt(cut, ROUNDS);
}
END_TEST

// Two edges lie along the cap and two are straight up: of these there is nothing that the others do
// not say, which is at their corners.
START_TEST(what_stands_upright_bears_with_what_lies_along) {
    Dice dice = {78};
    int found = 0;
    for (int round = 0; round < ROUNDS; round++) {
        const Standing of = draw(&dice, 0.0);
        MeetPoints met;
        meet(&of, &met);
        double x[2], z[2];
        const bool is_over = ends_of(&of, 0, x, z);
        ck_assert(is_over || met.count == 0);
        for (int edge = 0; is_over && edge < CORNERS; edge += 2) {
            ck_assert(ends_of(&of, edge, x, z));
            for (uint32_t end = 0; end < 2; end++) {
                ck_assert(is_there(&met, placed(&of, x[end], of.d, z[end]), z[end],
                                   MEET_EDGE + 2 * (uint32_t)edge + end));
            }
            found++;
        }
        for (uint32_t i = 0; i < met.count; i++) {
            const double gap = met.point[i].gap;
            ck_assert(fabs(gap - of.z[0]) < 1e-9 || fabs(gap - of.z[2]) < 1e-9);
        }
    }
    ck_assert_int_gt(found, ROUNDS / 2);
}
END_TEST

// What is over the cap is shorter than what has two ends: its middle, whichever end is named first.
START_TEST(a_line_over_a_cap_by_a_hair_is_one_point_from_either_end) {
    Dice dice = {79};
    for (int round = 0; round < ROUNDS; round++) {
        Standing of = draw(&dice, 0.0);
        of.d = of.radius * dice_between(&dice, -0.9, 0.9);
        const double s = sqrt(of.radius * of.radius - of.d * of.d),
                     length = of.radius * dice_between(&dice, 0.1, 3.0),
                     hair = length * dice_between(&dice, 1e-8, 9e-7),
                     high = dice_between(&dice, -0.1, 0.1);
        const Vec3 end[2] = {placed(&of, hair - s - length, of.d, high),
                             placed(&of, hair - s, of.d, high)};
        MeetPoints met;
        for (int first = 0; first < 2; first++) {
            meet_cap(&of, &(Facet){.kind = FACET_LINE, .point = {end[first], end[1 - first]}},
                     &met);
            ck_assert_uint_eq(met.count, 1);
            const Vec3 off =
                vec3_sub(met.point[0].position, placed(&of, 0.5 * hair - s, of.d, high));
            // roundings of places within some metres, where the line may cross the rim at some 25
            // degrees
            ck_assert_double_le(vec3_norm(off), 1e-13);
            ck_assert(met.point[0].is_corner); // the end that is over it, whichever that is
            ck_assert_uint_eq(met.point[0].label, first == 0 ? MEET_END + 1 : MEET_END);
        }
    }
}
END_TEST

static TCase *case_facet_meet(void) {
    TCase *tcase = tcase_create("facet meet");
    tcase_add_test(tcase, what_stands_tilted_bears_with_its_edges);
    tcase_add_test(tcase, what_stands_upright_bears_with_what_lies_along);
    tcase_add_test(tcase, a_line_over_a_cap_by_a_hair_is_one_point_from_either_end);
    return tcase;
}

SUITE_MAIN("collide/facet_meet", case_facet_meet)
