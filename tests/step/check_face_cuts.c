// SPDX-License-Identifier: MIT
// A face of a mesh is the same however it is cut into triangles, in whatever order they come, and
// in a mirror: a box that lies on its rim, where one side of a corner falls away and the other
// rises, or at a corner in the middle of a straight rim, touches it in the same places.
#include "collide/geometry.h"
#include "support/leaning_lab.h"
#include "support/suite.h"

#include <string.h>

// The face is a square from A to D with a corner M in the middle of one side. Beyond AB and BM it
// falls away, beyond MC it rises; beyond CD and DA it ends.
enum { A, B, M, C, D, BELOW_A, BELOW_B, BESIDE_B, BESIDE_M, ABOVE_M, ABOVE_C, POINTS };
static const Vec3 points[POINTS] = {
    [A] = {-0.5, -0.5, 0.0},       [B] = {0.5, -0.5, 0.0},         [M] = {0.5, 0.0, 0.0},
    [C] = {0.5, 0.5, 0.0},         [D] = {-0.5, 0.5, 0.0},         [BELOW_A] = {-0.5, -1.3, -0.8},
    [BELOW_B] = {0.5, -1.3, -0.8}, [BESIDE_B] = {1.3, -0.5, -0.6}, [BESIDE_M] = {1.3, 0.0, -0.6},
    [ABOVE_M] = {1.3, 0.0, 0.1},   [ABOVE_C] = {1.3, 0.5, 0.1}};
// Where what is beside it ends: beyond the box, or under it, which then is over more corners of
// triangles than a manifold has points.
static const double ends[] = {1.3, 0.8};

enum { CUTS = 3, OWN = 3, BEYOND = 6, TRIANGLES = OWN + BEYOND };
// as fans from A, M and D: those from B and C have a triangle of no area
static const uint32_t cuts[CUTS][OWN][3] = {{{A, B, M}, {A, M, C}, {A, C, D}},
                                            {{M, C, D}, {M, D, A}, {M, A, B}},
                                            {{D, A, B}, {D, B, M}, {D, M, C}}};
static const uint32_t beyond[BEYOND][3] = {{B, A, BELOW_A},  {B, BELOW_A, BELOW_B},
                                           {M, B, BESIDE_B}, {M, BESIDE_B, BESIDE_M},
                                           {C, M, ABOVE_M},  {C, ABOVE_M, ABOVE_C}};

static const Vec3 half = {0.2, 0.13, 0.1}; // of the box [m]
#define SUNK 5e-4                          // [m]

static Vec3 mirrored(Vec3 v) {
    return vec3(v.x, -v.y, v.z);
}

// In an order, and each from a corner, as the dice say.
static Id make_shape(Lab *lab, double end, int cut, bool is_mirrored, Dice *dice) {
    uint32_t corner[TRIANGLES][3];
    Vec3 point[POINTS];
    for (int i = 0; i < POINTS; i++) {
        point[i] = is_mirrored ? mirrored(points[i]) : points[i];
        point[i].x = fmin(point[i].x, end);
    }
    for (int i = 0; i < TRIANGLES; i++) {
        const uint32_t *from = i < OWN ? cuts[cut][i] : beyond[i - OWN];
        const int first = (int)dice_between(dice, 0.0, 3.0);
        for (int k = 0; k < 3; k++) {
            corner[i][is_mirrored ? 2 - k : k] = from[(first + k) % 3];
        }
    }
    for (int i = TRIANGLES - 1; i > 0; i--) {
        const int other = (int)dice_between(dice, 0.0, i + 1.0);
        uint32_t kept[3];
        memcpy(kept, corner[i], sizeof(kept));
        memcpy(corner[i], corner[other], sizeof(kept));
        memcpy(corner[other], kept, sizeof(kept));
    }
    const MeshForm form = {point, POINTS, corner[0], TRIANGLES, false, NULL};
    return lab_mesh(lab, &form, 0);
}

typedef struct Touched {
    uint32_t count;
    Vec3 position[64], normal[64]; // in the mesh's axes, not mirrored
    double gap[64];
} Touched;

static void touch(double end, int cut, bool is_mirrored, Vec3 at, double yaw, Dice *dice,
                  Touched *touched) {
    Lab lab = leaning_lab(0.0, 240);
    lab_body(&lab, make_shape(&lab, end, cut, is_mirrored, dice), BODY_STATIC,
             placed(vec3(0.0, 0.0, 0.0), quat_identity()), NULL, 0.0, NULL);
    const double turn = is_mirrored ? -yaw : yaw;
    lab_body(
        &lab, lab_shape(&lab, PRIMITIVE_BOX, half, 0), BODY_DYNAMIC,
        placed(is_mirrored ? mirrored(at) : at, (Quat){cos(0.5 * turn), 0.0, 0.0, sin(0.5 * turn)}),
        NULL, 0.0, NULL);
    lab_step(&lab, 1);
    touched->count = lab.report.contact_count;
    ck_assert_uint_le(touched->count, 64);
    for (uint32_t i = 0; i < touched->count; i++) {
        const StepContact *contact = &lab.stepper->contact[i];
        const ProblemContact *solved = &lab.stepper->problem_contact[i];
        const Vec3 position = seen(vec3_sub(contact->point, base_pose().position)),
                   normal = seen(solved->normal);
        touched->position[i] = is_mirrored ? mirrored(position) : position;
        touched->normal[i] = is_mirrored ? mirrored(normal) : normal;
        touched->gap[i] = solved->gap;
    }
    lab_destroy(&lab);
}

static bool has_all(const Touched *one, const Touched *of) {
    uint32_t found = 0;
    for (uint32_t i = 0; i < of->count; i++) {
        bool is = false;
        for (uint32_t k = 0; k < one->count; k++) {
            is = is || (vec3_norm(vec3_sub(one->position[k], of->position[i])) < 1e-9 &&
                        vec3_norm(vec3_sub(one->normal[k], of->normal[i])) < 1e-9 &&
                        fabs(one->gap[k] - of->gap[i]) < 1e-9);
        }
        found += is;
    }
    return found == of->count;
}

// Whether a side of the box is nearer to a corner of the face than it is sunk in: which way it is
// to leave there is open.
static bool reaches_barely(Vec3 at, double yaw) {
    bool is = false;
    for (int i = A; i <= D; i++) {
        const double x = points[i].x - at.x, y = points[i].y - at.y;
        const double along = fabs(cos(yaw) * x + sin(yaw) * y) - half.x,
                     across = fabs(cos(yaw) * y - sin(yaw) * x) - half.y;
        is = is || fabs(fmax(along, across)) < 2.0 * SUNK;
    }
    return is;
}

// Roundings of places alone are allowed.
START_TEST(a_face_is_the_same_however_it_is_cut) {
    static const int near[] = {M, B, C, A};
    const double end = ends[_i / 4];
    Dice dice = {((uint64_t)_i + 1) * UINT64_C(0x9e3779b97f4a7c15)};
    uint32_t most = 0;
    for (int round = 0; round < 60; round++) {
        const Vec3 aside = dice_vec(&dice, -0.2, 0.2);
        const Vec3 at =
            vec3(points[near[_i % 4]].x + aside.x, points[near[_i % 4]].y + aside.y, half.z - SUNK);
        const double yaw = round % 3 == 0 ? 0.0 : dice_between(&dice, -1.6, 1.6);
        Touched first, other;
        if (reaches_barely(at, yaw)) {
            continue;
        }
        touch(end, 0, false, at, yaw, &dice, &first);
        most = first.count > most ? first.count : most;
        for (int k = 1; k < 4 * CUTS; k++) {
            touch(end, k % CUTS, k >= 2 * CUTS, at, yaw, &dice, &other);
            ck_assert_msg(has_all(&first, &other) && has_all(&other, &first),
                          "round %d, cut %d, %s: at %.17g %.17g by %.17g: %u and %u contacts",
                          round, k % CUTS, k >= 2 * CUTS ? "mirrored" : "as it is", at.x, at.y, yaw,
                          first.count, other.count);
        }
    }
    ck_assert_uint_ge(most, 4);
}
END_TEST

static TCase *case_cuts(void) {
    TCase *tcase = tcase_create("cuts");
    tcase_set_timeout(tcase, 60.0);
    tcase_add_loop_test(tcase, a_face_is_the_same_however_it_is_cut, 0, 8);
    return tcase;
}

SUITE_MAIN("step/face_cuts", case_cuts)
