// SPDX-License-Identifier: MIT
// Built forms: what is refused and how it is said, what is derived, and masses against sums that
// are taken here.
#include "geometry/hull.h"
#include "support/campaign.h"
#include "support/hull_build.h"
#include "support/suite.h"

#include <string.h>

static const HullNames names = {"hull.points", "hull.faces"};

static Status check_form(const HullForm *form, Error *error) {
    return hull_check(form, form->face_first[form->face_count], &names, error);
}

// A form that can be spoilt.
typedef struct Draft {
    Vec3 point[HULL_VERTICES_MAX + 1];
    uint32_t face_first[HULL_FACES_MAX + 2], corner[HULL_CORNERS_MAX + 8];
    HullForm form;
} Draft;

static void draft_copy(Draft *draft, const Hull *hull) {
    const HullForm form = hull_form(hull);
    memcpy(draft->point, form.point, form.point_count * sizeof(Vec3));
    memcpy(draft->face_first, form.face_first, (form.face_count + 1) * sizeof(uint32_t));
    memcpy(draft->corner, form.corner, form.face_first[form.face_count] * sizeof(uint32_t));
    draft->form = (HullForm){draft->point, form.point_count, draft->face_first, form.face_count,
                             draft->corner};
}

static void draft_box(Draft *draft) {
    const Hull *box = hull_of_box(vec3(1.0, 2.0, 3.0));
    draft_copy(draft, box);
    hull_free(box);
}

static void assert_refused(const Draft *draft, const char *field, const char *part) {
    Error error = {0};
    ck_assert_int_eq(check_form(&draft->form, &error), STATUS_INVALID_ARGUMENT);
    ck_assert_str_eq(error.field, field);
    ck_assert_msg(strstr(error.message, part) != NULL, "%s", error.message);
    const char last = error.message[strlen(error.message) - 1];
    ck_assert_int_eq(last, '.');
}

// ---- what is refused

START_TEST(counts_and_indices_are_judged_first) {
    Draft draft;
    draft_box(&draft);
    ck_assert_int_eq(check_form(&draft.form, NULL), STATUS_OK);
    draft.form.point_count = 3;
    assert_refused(&draft, "hull.points", "4 to 256 points, not 3");
    draft.form.point_count = 257;
    assert_refused(&draft, "hull.points", "not 257");
    draft.form.point_count = 8;
    draft.form.face_count = 3;
    assert_refused(&draft, "hull.faces", "4 to 12 faces, not 3");
    draft_box(&draft);
    draft.face_first[1] = 2;
    assert_refused(&draft, "hull.faces[0]", "three corners");
    draft.face_first[1] = 1000;
    assert_refused(&draft, "hull.faces[0]", "three corners");
    draft_box(&draft);
    draft.face_first[0] = 1;
    assert_refused(&draft, "hull.faces", "as many as their lists name");
    draft_box(&draft);
    draft.corner[5] = 8;
    assert_refused(&draft, "hull.faces[1]", "no point 8");
    draft.corner[5] = draft.corner[4];
    assert_refused(&draft, "hull.faces[1]", "twice");
    Error error = {0};
    ck_assert_int_eq(hull_check(&draft.form, 23, &names, &error), STATUS_INVALID_ARGUMENT);
    ck_assert_int_eq(hull_check(&draft.form, 1u << 20, &names, &error), STATUS_INVALID_ARGUMENT);
}
END_TEST

START_TEST(points_are_numbers_and_apart) {
    static const double wrong[] = {NAN, INFINITY, -INFINITY, 1.1e6};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        Draft draft;
        draft_box(&draft);
        draft.point[2].y = wrong[i];
        assert_refused(&draft, "hull.points[2]", "numbers between");
    }
    Draft draft;
    draft_box(&draft);
    draft.point[7] = vec3_add(draft.point[5], vec3(1e-10, 0.0, 0.0));
    assert_refused(&draft, "hull.points[7]", "from point 5");
    draft_box(&draft);
    for (uint32_t i = 0; i < 8; i++) {
        draft.point[i] = vec3_scale(1e-7, draft.point[i]);
    }
    assert_refused(&draft, "hull.points", "at least 1e-06 m long");
}
END_TEST

START_TEST(faces_close_once_around_one_body) {
    Draft draft;
    draft_box(&draft);
    draft.form.face_count = 5; // the sixth is missing
    Error error = {0};
    ck_assert_int_eq(check_form(&draft.form, &error), STATUS_INVALID_ARGUMENT);
    ck_assert_ptr_nonnull(strstr(error.message, "open at this edge"));
    draft_box(&draft);
    const uint32_t second = draft.corner[1]; // the first face turned over
    draft.corner[1] = draft.corner[3];
    draft.corner[3] = second;
    ck_assert_int_eq(check_form(&draft.form, &error), STATUS_INVALID_ARGUMENT);
    ck_assert_ptr_nonnull(strstr(error.message, "opposite ways"));
    draft_box(&draft);
    draft.point[8] = vec3(0.0, 0.0, 0.0);
    draft.form.point_count = 9;
    assert_refused(&draft, "hull.points[8]", "corner of no face");
}
END_TEST

// Two of them, of which the second is elsewhere; `shared` points of it are the first's.
static void draft_two(Draft *draft, uint32_t shared) {
    static const uint32_t corner[12] = {0, 2, 1, 0, 1, 3, 1, 2, 3, 2, 0, 3};
    const uint32_t points = 8 - shared;
    for (uint32_t i = 0; i < points; i++) {
        draft->point[i] = vec3(i, (double)(i * i), (double)(i * i * i));
    }
    for (uint32_t i = 0; i < 24; i++) {
        const uint32_t own = corner[i % 12];
        draft->corner[i] = i < 12 ? own : own < shared ? own : own + 4 - shared;
    }
    for (uint32_t f = 0; f <= 8; f++) {
        draft->face_first[f] = 3 * f;
    }
    draft->form = (HullForm){draft->point, points, draft->face_first, 8, draft->corner};
}

START_TEST(two_bodies_and_two_that_meet_in_a_point_are_no_hull) {
    Draft draft;
    draft_two(&draft, 0);
    assert_refused(&draft, "hull.faces", "several surfaces: 8 points, 12 edges and 8 faces");
    draft_two(&draft, 1);
    assert_refused(&draft, "hull.points[0]", "several rounds");
}
END_TEST

// A ring of four by four quadrilaterals.
START_TEST(a_ring_is_no_hull) {
    Draft draft;
    for (uint32_t i = 0; i < 16; i++) {
        const double along = 1.5707963 * (i / 4), around = 1.5707963 * (i % 4);
        const double r = 3.0 + cos(around);
        draft.point[i] = vec3(r * cos(along), r * sin(along), sin(around));
        const uint32_t a = i, b = (i + 4) % 16, right = i / 4 * 4 + (i + 1) % 4;
        const uint32_t face[4] = {a, b, (right + 4) % 16, right};
        memcpy(&draft.corner[4 * i], face, sizeof(face));
        draft.face_first[i] = 4 * i;
    }
    draft.face_first[16] = 64;
    draft.form = (HullForm){draft.point, 16, draft.face_first, 16, draft.corner};
    assert_refused(&draft, "hull.faces", "around a hole");
}
END_TEST

START_TEST(faces_are_flat_and_convex_and_no_slivers) {
    Draft draft;
    draft_box(&draft);
    draft.point[0].x -= 1e-4;
    draft.point[0].y -= 1e-4;
    draft.point[0].z -= 1e-4;
    Error error = {0};
    ck_assert_int_eq(check_form(&draft.form, &error), STATUS_INVALID_ARGUMENT);
    ck_assert_ptr_nonnull(strstr(error.message, "not flat"));
    draft_box(&draft); // a hair is allowed
    draft.point[0].x -= 1e-10;
    ck_assert_int_eq(check_form(&draft.form, NULL), STATUS_OK);
    draft_box(&draft); // inside out
    for (uint32_t f = 0; f < 6; f++) {
        const uint32_t second = draft.corner[4 * f + 1];
        draft.corner[4 * f + 1] = draft.corner[4 * f + 3];
        draft.corner[4 * f + 3] = second;
    }
    assert_refused(&draft, "hull.faces[0]", "clockwise");
    draft_box(&draft); // a plate of nothing
    for (uint32_t i = 0; i < 8; i++) {
        draft.point[i].z *= 1e-7;
    }
    ck_assert_int_eq(check_form(&draft.form, &error), STATUS_INVALID_ARGUMENT);
    ck_assert_msg(strstr(error.message, "flat") || strstr(error.message, "sliver"), "%s",
                  error.message);
}
END_TEST

// The top of the box with a point more on its rim: an arrow.
START_TEST(a_face_that_is_not_convex_is_found) {
    const Vec3 point[5] = {vec3(0.0, 0.0, 1.0), vec3(1.0, -1.0, 0.0), vec3(0.2, 0.0, 0.0),
                           vec3(1.0, 1.0, 0.0), vec3(-1.0, 0.0, 0.0)};
    static const uint32_t corner[] = {4, 3, 2, 1, 0, 1, 2, 0, 2, 3, 0, 3, 4, 0, 4, 1};
    static const uint32_t first[] = {0, 4, 7, 10, 13, 16};
    Draft draft;
    memcpy(draft.point, point, sizeof(point));
    memcpy(draft.corner, corner, sizeof(corner));
    memcpy(draft.face_first, first, sizeof(first));
    draft.form = (HullForm){draft.point, 5, draft.face_first, 5, draft.corner};
    assert_refused(&draft, "hull.faces[0]", "not convex");
}
END_TEST

START_TEST(neighbours_in_one_plane_are_to_be_one_face) {
    Draft draft;
    draft_box(&draft);
    // the first face in two triangles
    memmove(&draft.corner[6], &draft.corner[4], 20 * sizeof(uint32_t));
    draft.corner[5] = draft.corner[3];
    draft.corner[4] = draft.corner[2];
    draft.corner[3] = draft.corner[0];
    for (uint32_t f = 7; f >= 1; f--) {
        draft.face_first[f] = f == 1 ? 3 : 4 * f - 2;
    }
    draft.form.face_count = 7;
    assert_refused(&draft, "hull.faces[0]", "one plane with face 1");
}
END_TEST

// Whatever numbers of it are changed: what passes is convex, and what is derived of it is whole.
START_TEST(a_spoilt_form_is_refused_or_still_a_hull) {
    Dice dice = {2901};
    int passed = 0;
    for (int i = 0, campaign = campaign_count(20000); i < campaign; i++) {
        static Draft draft;
        draft_box(&draft);
        const int changes = 1 + (int)(3.0 * dice_unit(&dice));
        for (int k = 0; k < changes; k++) {
            const uint32_t at = (uint32_t)(24.0 * dice_unit(&dice));
            const uint32_t value = (uint32_t)(9.0 * dice_unit(&dice));
            const double what = dice_unit(&dice);
            if (what < 0.3) {
                draft.corner[at] = value;
            } else if (what < 0.4) {
                draft.face_first[value % 7] = at;
            } else {
                draft.point[at % 8] =
                    vec3_add_scaled(draft.point[at % 8], pow(10.0, dice_between(&dice, -12.0, 1.0)),
                                    dice_direction(&dice));
            }
        }
        if (hull_check(&draft.form, 24, &names, NULL) != STATUS_OK) {
            continue;
        }
        passed++;
        const Hull *hull = hull_open(&draft.form, malloc(hull_bytes(&draft.form)));
        for (uint32_t k = 0; k < 8; k++) {
            ck_assert_double_le(hull_outside(hull, hull->point[k]), 1e-15);
        }
        ck_assert_double_gt(hull->mass.volume, 0.0);
        ck_assert_double_gt(hull->inner_radius, 0.0);
        hull_free(hull);
    }
    ck_assert_int_gt(passed, campaign_count(20000) / 100);
}
END_TEST

// ---- what is derived

static const Hull *dice_hull(Dice *dice, uint32_t count) {
    const Vec3 half = dice_vec(dice, 0.1, 1.0);
    return hull_of_dice(dice, count, half);
}

START_TEST(edges_faces_and_neighbours_agree) {
    Dice dice = {2902};
    for (uint32_t round = 0; round < 30; round++) {
        const Hull *hull =
            round % 3 == 0 ? hull_of_prism(3 + round, 0.7, 0.4) : dice_hull(&dice, 4 + round);
        ck_assert_uint_eq(hull->vertex_count + hull->face_count, hull->edge_count + 2);
        ck_assert_uint_eq(hull->neighbour_first[hull->vertex_count], 2 * hull->edge_count);
        for (uint32_t f = 0; f < hull->face_count; f++) {
            ck_assert_double_eq_tol(vec3_norm(hull->normal[f]), 1.0, 1e-15);
            for (uint32_t i = hull->face_first[f]; i < hull->face_first[f + 1]; i++) {
                const uint32_t next = i + 1 < hull->face_first[f + 1] ? i + 1 : hull->face_first[f];
                const HullEdge *edge = &hull->edge[hull->corner_edge[i]];
                const int side = edge->face[0] == f ? 0 : 1;
                ck_assert_uint_eq(edge->face[side], f);
                ck_assert_uint_eq(edge->vertex[side], hull->corner[i]);
                ck_assert_uint_eq(edge->vertex[1 - side], hull->corner[next]);
                const Vec3 p = hull->point[hull->corner[i]];
                ck_assert_double_eq_tol(vec3_dot(hull->normal[f], p), hull->offset[f], 1e-14);
            }
        }
        for (uint32_t v = 0; v < hull->vertex_count; v++) {
            const uint32_t first = hull->neighbour_first[v], end = hull->neighbour_first[v + 1];
            for (uint32_t i = first; i < end; i++) { // each turns left of the one before
                const uint32_t next = i + 1 < end ? i + 1 : first;
                const Vec3 u = vec3_sub(hull->point[hull->neighbour[i]], hull->point[v]);
                const Vec3 w = vec3_sub(hull->point[hull->neighbour[next]], hull->point[v]);
                const Vec3 out = vec3_sub(hull->point[v], hull->mass.center);
                ck_assert_double_gt(vec3_dot(out, vec3_cross(u, w)), 0.0);
            }
        }
        hull_free(hull);
    }
}
END_TEST

START_TEST(supports_are_the_farthest) {
    Dice dice = {2903};
    for (uint32_t round = 0; round < 12; round++) {
        const Hull *hull = round % 3 == 0 ? hull_of_prism(10 + 8 * round, 0.7, 0.4)
                                          : dice_hull(&dice, 6 + 16 * round);
        for (int i = 0; i < 2000; i++) {
            Vec3 d = i % 2 == 0 ? dice_direction(&dice)
                                : hull->normal[(uint32_t)i / 2 % hull->face_count];
            d = i % 5 == 0 ? vec3(i % 3 == 0, i % 3 == 1, i % 3 == 2) : d;
            double farthest = -HUGE_VAL;
            for (uint32_t k = 0; k < hull->vertex_count; k++) {
                farthest = fmax(farthest, vec3_dot(d, hull->point[k]));
            }
            const uint32_t found = hull_support(hull, d);
            ck_assert_double_eq_tol(vec3_dot(d, hull->point[found]), farthest, 1e-15);
            ck_assert_uint_eq(found, hull_support(hull, vec3_scale(4.0, d)));
        }
        hull_free(hull);
    }
}
END_TEST

START_TEST(bounds_reach_and_inner_ball_hold_it) {
    Dice dice = {2904};
    for (uint32_t round = 0; round < 40; round++) {
        const Hull *hull = dice_hull(&dice, 4 + 2 * round);
        const Mat3 turn = quat_to_mat3(dice_quat(&dice));
        const Vec3 from = dice_vec(&dice, -1.0, 1.0);
        Vec3 low, high;
        hull_bounds(hull, turn, &low, &high);
        double reach = 0.0, lowest = HUGE_VAL, highest = -HUGE_VAL;
        for (uint32_t i = 0; i < hull->vertex_count; i++) {
            const double y = mat3_mul_vec(turn, hull->point[i]).y;
            lowest = fmin(lowest, y);
            highest = fmax(highest, y);
            reach = fmax(reach, vec3_norm(vec3_sub(hull->point[i], from)));
        }
        ck_assert_double_eq_tol(low.y, lowest, 1e-15);
        ck_assert_double_eq_tol(high.y, highest, 1e-15);
        ck_assert_double_eq_tol(hull_reach(hull, from), reach, 1e-15);
        double room = HUGE_VAL;
        for (uint32_t f = 0; f < hull->face_count; f++) {
            room = fmin(room, hull->offset[f] - vec3_dot(hull->normal[f], hull->mass.center));
        }
        ck_assert_double_eq(hull->inner_radius, room);
        ck_assert_double_gt(room, 0.0);
        hull_free(hull);
    }
}
END_TEST

// Where the way comes in it is on a face, and was before all outside; where it does not, no place
// of it is inside.
START_TEST(a_way_enters_where_it_comes_in) {
    Dice dice = {2908};
    int entered = 0, passed = 0;
    for (uint32_t round = 0; round < 40; round++) {
        const Hull *hull = dice_hull(&dice, 4 + 2 * round);
        for (int i = 0; i < 500; i++) {
            const Vec3 origin = dice_vec(&dice, -1.5, 1.5);
            const Vec3 way = vec3_sub(dice_vec(&dice, -1.0, 1.0), origin);
            double fraction = 1.0;
            uint32_t face;
            const bool enters = hull_enters(hull, origin, way, &fraction, &face);
            const bool is_inside = hull_outside(hull, origin) <= 0.0;
            for (int k = 0; k < 50 && !is_inside; k++) {
                const Vec3 at = vec3_add_scaled(origin, fraction * k / 50.0, way);
                ck_assert_double_gt(hull_outside(hull, at), enters ? 0.0 : -1e-12);
            }
            if (enters) {
                const Vec3 at = vec3_add_scaled(origin, fraction, way);
                ck_assert_double_eq_tol(hull_outside(hull, at), 0.0, 1e-14);
                ck_assert_double_eq_tol(vec3_dot(hull->normal[face], at), hull->offset[face],
                                        1e-14);
                ck_assert_double_lt(vec3_dot(hull->normal[face], way), 0.0);
            }
            entered += enters;
            passed += !enters;
        }
        hull_free(hull);
    }
    ck_assert_int_gt(entered, 1000);
    ck_assert_int_gt(passed, 1000);
}
END_TEST

// ---- masses

START_TEST(a_box_has_the_mass_of_a_box) {
    const Vec3 half = vec3(0.3, 1.0, 2.5);
    const Hull *box = hull_of_box(half);
    const Primitive same = {.kind = PRIMITIVE_BOX, .size = half};
    const Sym3 as_box = primitive_rows[PRIMITIVE_BOX].gyration(&same);
    const Vec3 gyration = vec3(as_box.xx, as_box.yy, as_box.zz);
    const Sym3 found = box->mass.gyration;
    ck_assert_double_eq_tol(box->mass.volume, primitive_rows[PRIMITIVE_BOX].volume(&same), 1e-14);
    ck_assert_double_le(vec3_norm(box->mass.center), 1e-15);
    ck_assert_double_le(vec3_norm(vec3_sub(vec3(found.xx, found.yy, found.zz), gyration)), 1e-14);
    ck_assert_double_le(vec3_norm(vec3(found.xy, found.xz, found.yz)), 1e-14);
    ck_assert_double_eq_tol(box->inner_radius, half.x, 1e-15);
    ck_assert_uint_eq(box->face_count, 6);
    hull_free(box);
}
END_TEST

// Sums over tetrahedra from the frame's origin, in longer numbers.
typedef struct Sums {
    long double volume, first[3], second[3][3];
} Sums;

static void add_to_sums(Sums *sums, Vec3 a, Vec3 b, Vec3 c) {
    const long double p[3][3] = {{a.x, a.y, a.z}, {b.x, b.y, b.z}, {c.x, c.y, c.z}};
    const long double v = p[0][0] * (p[1][1] * p[2][2] - p[1][2] * p[2][1]) -
                          p[0][1] * (p[1][0] * p[2][2] - p[1][2] * p[2][0]) +
                          p[0][2] * (p[1][0] * p[2][1] - p[1][1] * p[2][0]);
    sums->volume += v / 6.0L;
    for (int i = 0; i < 3; i++) {
        const long double s = p[0][i] + p[1][i] + p[2][i];
        sums->first[i] += v * s / 24.0L;
        for (int k = 0; k < 3; k++) {
            const long double t = p[0][k] + p[1][k] + p[2][k];
            sums->second[i][k] +=
                v * (s * t + p[0][i] * p[0][k] + p[1][i] * p[1][k] + p[2][i] * p[2][k]) / 120.0L;
        }
    }
}

// Also far from the frame's origin, where sums from there lose digits and these do not.
START_TEST(masses_are_those_of_sums_in_longer_numbers) {
    Dice dice = {2905};
    for (uint32_t round = 0; round < 30; round++) {
        Vec3 point[40];
        const Vec3 at = vec3_scale(round % 2 == 0 ? 0.1 : 10.0, dice_direction(&dice));
        for (uint32_t i = 0; i < 10 + round; i++) {
            const Vec3 d = dice_direction(&dice);
            point[i] = vec3_add(at, vec3(0.5 * d.x, 0.2 * d.y, d.z));
        }
        const Hull *hull = hull_of_points(point, 10 + round);
        Sums sums = {0};
        for (uint32_t f = 0; f < hull->face_count; f++) {
            const uint32_t first = hull->face_first[f];
            for (uint32_t i = first + 1; i + 1 < hull->face_first[f + 1]; i++) {
                add_to_sums(&sums, hull->point[hull->corner[first]], hull->point[hull->corner[i]],
                            hull->point[hull->corner[i + 1]]);
            }
        }
        const HullMass *mass = &hull->mass;
        ck_assert_double_eq_tol(mass->volume, (double)sums.volume, 1e-12 * mass->volume);
        long double c[3], m[3][3];
        for (int i = 0; i < 3; i++) {
            c[i] = sums.first[i] / sums.volume;
        }
        for (int i = 0; i < 3; i++) {
            for (int k = 0; k < 3; k++) {
                m[i][k] = sums.second[i][k] / sums.volume - c[i] * c[k];
            }
        }
        const Vec3 center = vec3((double)c[0], (double)c[1], (double)c[2]);
        ck_assert_double_le(vec3_norm(vec3_sub(mass->center, center)), 1e-12);
        ck_assert_double_eq_tol(mass->gyration.xx, (double)(m[1][1] + m[2][2]), 1e-11);
        ck_assert_double_eq_tol(mass->gyration.yy, (double)(m[0][0] + m[2][2]), 1e-11);
        ck_assert_double_eq_tol(mass->gyration.zz, (double)(m[0][0] + m[1][1]), 1e-11);
        ck_assert_double_eq_tol(mass->gyration.xy, -(double)m[0][1], 1e-11);
        ck_assert_double_eq_tol(mass->gyration.xz, -(double)m[0][2], 1e-11);
        ck_assert_double_eq_tol(mass->gyration.yz, -(double)m[1][2], 1e-11);
        hull_free(hull);
    }
}
END_TEST

START_TEST(all_sizes_are_taken) {
    Dice dice = {2906};
    for (int i = 0; i < 60; i++) {
        const double scale = pow(10.0, -6.0 + 0.2 * i);
        Vec3 point[20];
        for (uint32_t k = 0; k < 20; k++) {
            point[k] = vec3_scale(scale, dice_direction(&dice));
        }
        const Hull *hull = hull_of_points(point, 20);
        const double third = scale * scale * scale;
        ck_assert_double_gt(hull->mass.volume, third);
        ck_assert_double_lt(hull->mass.volume, 4.0 * third);
        ck_assert_double_lt(hull->mass.gyration.xx, scale * scale);
        hull_free(hull);
    }
}
END_TEST

// What is open is a hull of the same form.
START_TEST(a_form_comes_out_as_it_went_in) {
    Dice dice = {2907};
    const Hull *hull = dice_hull(&dice, 60);
    const HullForm form = hull_form(hull);
    ck_assert_int_eq(check_form(&form, NULL), STATUS_OK);
    const Hull *again = hull_open(&form, malloc(hull_bytes(&form)));
    const size_t head = sizeof(Hull);
    ck_assert_int_eq(
        memcmp((const char *)hull + head, (const char *)again + head, hull_bytes(&form) - head), 0);
    hull_free(again);
    hull_free(hull);
}
END_TEST

static TCase *case_refused(void) {
    TCase *tcase = tcase_create("refused");
    tcase_add_test(tcase, counts_and_indices_are_judged_first);
    tcase_add_test(tcase, points_are_numbers_and_apart);
    tcase_add_test(tcase, faces_close_once_around_one_body);
    tcase_add_test(tcase, two_bodies_and_two_that_meet_in_a_point_are_no_hull);
    tcase_add_test(tcase, a_ring_is_no_hull);
    tcase_add_test(tcase, faces_are_flat_and_convex_and_no_slivers);
    tcase_add_test(tcase, a_face_that_is_not_convex_is_found);
    tcase_add_test(tcase, neighbours_in_one_plane_are_to_be_one_face);
    tcase_add_test(tcase, a_spoilt_form_is_refused_or_still_a_hull);
    return tcase;
}

static TCase *case_derived(void) {
    TCase *tcase = tcase_create("derived");
    tcase_add_test(tcase, edges_faces_and_neighbours_agree);
    tcase_add_test(tcase, supports_are_the_farthest);
    tcase_add_test(tcase, bounds_reach_and_inner_ball_hold_it);
    tcase_add_test(tcase, a_way_enters_where_it_comes_in);
    tcase_add_test(tcase, a_box_has_the_mass_of_a_box);
    tcase_add_test(tcase, masses_are_those_of_sums_in_longer_numbers);
    tcase_add_test(tcase, all_sizes_are_taken);
    tcase_add_test(tcase, a_form_comes_out_as_it_went_in);
    return tcase;
}

SUITE_MAIN("geometry/hull", case_refused, case_derived)
