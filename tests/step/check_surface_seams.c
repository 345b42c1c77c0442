// SPDX-License-Identifier: MIT
// Ground in two pieces side by side, of any two kinds, of one height: what slides or rolls from one
// to the other goes as on a plane, turned as no axis is.
#include "support/ground_pieces.h"
#include "support/leaning_lab.h"
#include "support/suite.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { HERTZ = 240 };

static const Vec3 none = {0.0, 0.0, 0.0};

static void lay(Lab *lab, Id shape, Vec3 at) {
    lab_body(lab, shape, BODY_STATIC, placed(at, quat_identity()), NULL, 0.0, NULL);
}

static void lay_ground(Lab *lab, int pair, Id material) {
    if (pair < 0) {
        lay(lab, lab_shape(lab, PRIMITIVE_PLANE, none, material), none);
        return;
    }
    lay(lab, piece_shape(lab, (Piece)(pair / PIECES), material),
        vec3(-piece_half.x, 0.0, -piece_half.z));
    lay(lab, piece_shape(lab, (Piece)(pair % PIECES), material),
        vec3(piece_half.x, 0.0, -piece_half.z));
}

typedef struct Arrival {
    Vec3 at, velocity;
} Arrival;

static Arrival cross(const Mobile *mobile, int pair) {
    Lab lab = leaning_lab(0.0, HERTZ);
    lab_set(&lab, "tolerance", 1e-12);
    const Id material = lab_material(&lab, 0.2, 0.0);
    lay_ground(&lab, pair, material);
    const Vec3 v = turned(mobile->velocity), w = turned(mobile->spin);
    const double twist[6] = {v.x, v.y, v.z, w.x, w.y, w.z};
    const uint32_t body =
        lab_body(&lab, mobile_shape(&lab, mobile, material), BODY_DYNAMIC,
                 placed(vec3(-0.5, -0.7, mobile->height), mobile->turn), twist, 0.0, NULL);
    lab_step(&lab, 200);
    const Arrival there = {seen_position(&lab, body), seen(lab_velocity(&lab, body))};
    lab_destroy(&lab);
    return there;
}

// To the roundings of where its points are, which are of 1e-16 of metres and grow with the steps.
START_TEST(what_crosses_from_piece_to_piece_goes_as_on_a_plane) {
    const Mobile *mobile = &mobiles[_i % MOBILES];
    const int pair = _i / MOBILES;
    const Arrival plain = cross(mobile, -1), there = cross(mobile, pair);
    ck_assert_double_gt(plain.at.x, 0.3); // it is over
    const double off = vec3_norm(vec3_sub(plain.at, there.at));
    const double slower = vec3_norm(vec3_sub(plain.velocity, there.velocity));
    ck_assert_msg(off <= 1e-9 && slower <= 1e-9, "%s, %s to %s: %.3g m and %.3g m/s off",
                  mobile->name, piece_names[pair / PIECES], piece_names[pair % PIECES], off,
                  slower);
}
END_TEST

// ---- many triangles

enum { CELLS = 100 }; // along each side of 4 m

// A sheet of cells of two triangles each, row after row, or from the last row to the first.
static Id fine_sheet(Lab *lab, bool is_backward, Id material) {
    enum { POINTS = (CELLS + 1) * (CELLS + 1) };
    Vec3 *point = malloc(POINTS * sizeof(*point));
    uint32_t *corner = malloc((size_t)6 * CELLS * CELLS * sizeof(*corner));
    ck_assert(point != NULL && corner != NULL);
    for (uint32_t k = 0; k < POINTS; k++) {
        point[k] = vec3(piece_half.x * (2.0 * (k % (CELLS + 1)) / CELLS - 1.0),
                        piece_half.y * (2.0 * (k / (CELLS + 1)) / CELLS - 1.0), piece_half.z);
    }
    for (uint32_t k = 0; k < CELLS * CELLS; k++) {
        const uint32_t cell = is_backward ? CELLS * CELLS - 1 - k : k;
        const uint32_t low = cell / CELLS * (CELLS + 1) + cell % CELLS, high = low + CELLS + 2;
        const uint32_t own[6] = {low, low + 1, high, low, high, high - 1};
        memcpy(corner + 6 * (size_t)k, own, sizeof(own));
    }
    const MeshForm form = {point, POINTS, corner, 2 * CELLS * CELLS, false, NULL};
    const Id shape = lab_mesh(lab, &form, material);
    free(point);
    free(corner);
    return shape;
}

// For what comes far in a step thousands of triangles are near to the side of the box beyond the
// seam, and one of them lies before it. Without friction it goes on, to the roundings of where its
// points are.
START_TEST(what_is_fast_crosses_from_a_fine_mesh) {
    const Mobile *mobile = &mobiles[_i % MOBILES];
    const Vec3 velocity = vec3(60.0, 1.3, 0.0);
    Lab lab = leaning_lab(0.0, HERTZ);
    lab_set(&lab, "tolerance", 1e-12);
    const Id material = lab_material(&lab, 0.0, 0.0);
    lay(&lab, fine_sheet(&lab, _i >= MOBILES, material), vec3(-piece_half.x, 0.0, -piece_half.z));
    lay(&lab, piece_shape(&lab, PIECE_BOX, material), vec3(piece_half.x, 0.0, -piece_half.z));
    const Vec3 v = turned(velocity);
    const double twist[6] = {v.x, v.y, v.z, 0.0, 0.0, 0.0};
    const uint32_t body =
        lab_body(&lab, mobile_shape(&lab, mobile, material), BODY_DYNAMIC,
                 placed(vec3(-1.3, -0.7, mobile->height), mobile->turn), twist, 0.0, NULL);
    lab_step(&lab, 10);
    ck_assert_double_gt(seen_position(&lab, body).x, 1.0); // it is over
    const Vec3 slower = vec3_sub(seen(lab_velocity(&lab, body)), velocity);
    ck_assert_msg(vec3_norm(slower) <= 1e-7, "%s: %.3g m/s off", mobile->name, vec3_norm(slower));
    lab_destroy(&lab);
}
END_TEST

// ---- what is no seam stays

// The second piece by so much higher: as far as its side is a wall.
static uint32_t lay_step(Lab *lab, int pair, double height, Id material) {
    const Vec3 low = vec3(-piece_half.x, 0.0, -piece_half.z),
               high = vec3(piece_half.x, 0.0, height - piece_half.z);
    lay(lab, piece_shape(lab, (Piece)(pair / PIECES), material), low);
    lay(lab, piece_shape(lab, (Piece)(pair % PIECES), material), high);
    return 2;
}

// A sheet and a height field have no side: what slides goes below a sheet, and comes up from below
// a field, where all is solid.
static bool has_side(int pair) {
    return pair % PIECES <= PIECE_BLOCK;
}

// Against a step of a tenth of the smallest mobile's height, and against one as high as a wall.
START_TEST(a_lip_stops_what_slides) {
    static const double heights[] = {0.01, 0.2};
    const Mobile *mobile = &mobiles[_i % MOBILES];
    const int pair = _i / MOBILES;
    for (int k = 0; k < 2 && has_side(pair) && mobile->kind != PRIMITIVE_SPHERE &&
                    mobile->kind != PRIMITIVE_CAPSULE;
         k++) {
        Lab lab = leaning_lab(0.0, HERTZ);
        const Id material = lab_material(&lab, 0.0, 0.0);
        const uint32_t body = lay_step(&lab, pair, heights[k], material);
        const Vec3 v = turned(vec3(2.0, 0.0, 0.0));
        const double twist[6] = {v.x, v.y, v.z, 0.0, 0.0, 0.0};
        lab_body(&lab, mobile_shape(&lab, mobile, material), BODY_DYNAMIC,
                 placed(vec3(-0.5, -0.7, mobile->height), mobile->turn), twist, 0.0, NULL);
        lab_step(&lab, 200);
        ck_assert_msg(seen_position(&lab, body).x < 0.0, "%s passes a lip of %g m, %s to %s",
                      mobile->name, heights[k], piece_names[pair / PIECES],
                      piece_names[pair % PIECES]);
        lab_destroy(&lab);
    }
}
END_TEST

// Onto the seam, from anywhere above, at 100 m/s: none is below, and none leaves faster than it
// came, but for gravity's 2 g h.
START_TEST(nothing_passes_a_seam) {
    enum { SHOTS = 8 };
    const Mobile *mobile = &mobiles[_i % MOBILES];
    const int pair = _i / MOBILES;
    uint64_t seed = 77 + (uint64_t)_i;
    for (int shot = 0; shot < SHOTS; shot++) {
        Lab lab = leaning_lab(0.0, HERTZ);
        const Id material = lab_material(&lab, 0.3, 0.3);
        lay_ground(&lab, pair, material);
        const Vec3 aim = vec3(lab_random(&seed, -0.1, 0.1), lab_random(&seed, -1.0, 1.0), 0.0);
        const Vec3 from = vec3(lab_random(&seed, -1.0, 1.0), lab_random(&seed, -1.0, 1.0),
                               lab_random(&seed, 0.5, 2.0));
        const Vec3 way = vec3_sub(aim, from);
        const Vec3 v = turned(vec3_scale(100.0 / vec3_norm(way), way));
        const double twist[6] = {v.x, v.y, v.z, 20.0, -10.0, 5.0};
        const uint32_t body = lab_body(&lab, mobile_shape(&lab, mobile, material), BODY_DYNAMIC,
                                       placed(from, mobile->turn), twist, 0.0, NULL);
        for (int step = 0; step < 24; step++) {
            lab_step(&lab, 1);
            const Vec3 at = seen_position(&lab, body);
            const bool is_over = fabs(at.x) < 1.9 && fabs(at.y) < 1.9;
            ck_assert_msg(!is_over || at.z > 0.0, "%s is at %g %g %g, %s to %s", mobile->name, at.x,
                          at.y, at.z, piece_names[pair / PIECES], piece_names[pair % PIECES]);
        }
        ck_assert_double_lt(vec3_norm(lab_velocity(&lab, body)), 110.0);
        lab_destroy(&lab);
    }
}
END_TEST

START_TEST(what_stands_on_a_seam_stands_still) {
    const Mobile *mobile = &mobiles[_i % MOBILES];
    const int pair = _i / MOBILES;
    Lab lab = leaning_lab(0.0, HERTZ);
    const Id material = lab_material(&lab, 0.5, 0.0);
    lay_ground(&lab, pair, material);
    const Vec3 from = vec3(0.02, 0.03, mobile->height);
    const uint32_t body = lab_body(&lab, mobile_shape(&lab, mobile, material), BODY_DYNAMIC,
                                   placed(from, mobile->turn), NULL, 0.0, NULL);
    lab_step(&lab, 5 * HERTZ);
    ck_assert_double_le(vec3_norm(vec3_sub(seen_position(&lab, body), from)), 1e-6);
    lab_destroy(&lab);
}
END_TEST

static TCase *case_seams(void) {
    TCase *tcase = tcase_create("seams");
    tcase_set_timeout(tcase, 60.0);
    tcase_add_loop_test(tcase, what_crosses_from_piece_to_piece_goes_as_on_a_plane, 0,
                        PIECES * PIECES * MOBILES);
    tcase_add_loop_test(tcase, what_is_fast_crosses_from_a_fine_mesh, 0, 2 * MOBILES);
    tcase_add_loop_test(tcase, a_lip_stops_what_slides, 0, PIECES * PIECES * MOBILES);
    tcase_add_loop_test(tcase, nothing_passes_a_seam, 0, PIECES * PIECES * MOBILES);
    tcase_add_loop_test(tcase, what_stands_on_a_seam_stands_still, 0, PIECES * PIECES * MOBILES);
    return tcase;
}

SUITE_MAIN("step/surface_seams", case_seams)
