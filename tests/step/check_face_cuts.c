// SPDX-License-Identifier: MIT
// A face of a mesh is the same however it is cut into triangles, in whatever order they come, in a
// mirror, from its back, in motion, and in patches: a box that lies on its rim, where one side of a
// corner falls away and the other rises, or at a corner in the middle of a straight rim, touches it
// in the same places, and each of them rubs as its patch does.
#include "collide/geometry.h"
#include "support/leaning_lab.h"
#include "support/suite.h"

#include <string.h>

// The face is a square from A to D with a corner M in the middle of one side. Beyond AB and BM it
// falls away, beyond MC it rises; beyond CD and DA it ends.
enum { A, B, M, C, D, BELOW_A, BELOW_B, BESIDE_B, BESIDE_M, ABOVE_M, ABOVE_C, POINTS };
static const Vec3 points[POINTS] = {
    [A] = {-0.5, -0.5, 0.0},       [B] = {0.5, -0.5, 0.0},         [M] = {0.5, 0.0, 0.0},
    [C] = {0.5, 0.5, 0.0},         [D] = {-0.5, 0.5, 0.0},         [BELOW_A] = {-0.5, -1.3, -0.7},
    [BELOW_B] = {0.5, -1.3, -0.7}, [BESIDE_B] = {1.3, -0.5, -0.6}, [BESIDE_M] = {1.3, 0.0, -0.6},
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
// Faces go on behind edges that rise by as much as bodies come in a step, wherever they go: little.
enum { HERTZ = 24000 };

static Vec3 mirrored(Vec3 v) {
    return vec3(v.x, -v.y, v.z);
}

// How the face is met.
typedef struct Way {
    double end;
    int cut;
    bool is_mirrored;
    bool is_back;   // of a mesh with two sides, all of whose triangles are turned over
    bool is_moving; // with its ground, and the box as that carries it
    int patches; // 0: none; 1: of materials that are all alike; 2: each with a friction of its own
    Vec3 at;     // the box
    double yaw;
} Way;

enum { PATCHES = 5 };

// In an order, and each from a corner, as the dice say; `patch`: of each triangle as it is listed.
static Id make_shape(Lab *lab, const Way *way, Dice *dice, uint8_t patch[TRIANGLES]) {
    uint32_t corner[TRIANGLES][3];
    uint8_t shuffled[TRIANGLES];
    Vec3 point[POINTS];
    for (int i = 0; i < POINTS; i++) {
        point[i] = way->is_mirrored ? mirrored(points[i]) : points[i];
        point[i].x = fmin(point[i].x, way->end);
    }
    for (int i = 0; i < TRIANGLES; i++) {
        const uint32_t *from = i < OWN ? cuts[way->cut][i] : beyond[i - OWN];
        const int first = (int)dice_between(dice, 0.0, 3.0);
        for (int k = 0; k < 3; k++) {
            corner[i][way->is_mirrored != way->is_back ? 2 - k : k] = from[(first + k) % 3];
        }
        patch[i] = (uint8_t)dice_between(dice, 0.0, PATCHES);
        shuffled[i] = patch[i];
    }
    for (int i = TRIANGLES - 1; i > 0; i--) {
        const int other = (int)dice_between(dice, 0.0, i + 1.0);
        const uint8_t of = shuffled[i];
        uint32_t kept[3];
        memcpy(kept, corner[i], sizeof(kept));
        memcpy(corner[i], corner[other], sizeof(kept));
        memcpy(corner[other], kept, sizeof(kept));
        shuffled[i] = shuffled[other];
        shuffled[other] = of;
    }
    const MeshForm form = {.point = point,
                           .point_count = POINTS,
                           .corner = corner[0],
                           .triangle_count = TRIANGLES,
                           .is_two_sided = way->is_back,
                           .patch = way->patches > 0 ? shuffled : NULL};
    return lab_mesh(lab, &form, 0);
}

// The built-in material has 0.5, and frictions are their geometric mean with that of the box.
static double friction_of(const Way *way, int patch) {
    return way->patches == 2 && patch > 0 ? 0.1 * patch : 0.5;
}

static void name_patches(Lab *lab, const Way *way) {
    Id material[MESH_PATCHES_MAX - 1] = {0};
    for (int i = 1; i < PATCHES && way->patches > 0; i++) {
        material[i - 1] = lab_material(lab, friction_of(way, i), 0.0);
    }
    lab_set_patches(lab, material);
}

typedef struct Touched {
    uint32_t count;
    Vec3 position[64], normal[64]; // in the mesh's axes, not mirrored
    double gap[64], friction[64];
} Touched;

// A place that the ground is carried to, and how it moves there: as a screw.
static const Pose carrier = {{1.7, -0.6, 0.4}, {0.2, 0.5, -0.1, 0.83}};
static const Vec3 screw_way = {0.7, -0.4, 1.1}, screw_turn = {0.9, 1.3, -0.6};

static Pose carried(const Way *way, Pose pose) {
    const Pose there = {carrier.position, quat_normalize(carrier.orientation)};
    return way->is_moving ? pose_compose(there, pose) : pose;
}

// Of what moves with the ground, wherever its centre of mass is.
static void carry(const Way *way, Vec3 at, double velocity[6]) {
    const Vec3 v = vec3_add(screw_way, vec3_cross(screw_turn, at));
    vec3_store(velocity, way->is_moving ? v : vec3(0.0, 0.0, 0.0));
    vec3_store(velocity + 3, way->is_moving ? screw_turn : vec3(0.0, 0.0, 0.0));
}

static void touch_as(const Way *way, Dice *dice, Touched *touched, uint8_t patch[TRIANGLES]) {
    Lab lab = leaning_lab(0.0, HERTZ);
    name_patches(&lab, way);
    double velocity[6];
    const Pose ground = carried(way, placed(vec3(0.0, 0.0, 0.0), quat_identity()));
    carry(way, ground.position, velocity);
    lab_body(&lab, make_shape(&lab, way, dice, patch),
             way->is_moving ? BODY_KINEMATIC : BODY_STATIC, ground,
             way->is_moving ? velocity : NULL, 0.0, NULL);
    const double turn = way->is_mirrored ? -way->yaw : way->yaw;
    const Pose box = carried(way, placed(way->is_mirrored ? mirrored(way->at) : way->at,
                                         (Quat){cos(0.5 * turn), 0.0, 0.0, sin(0.5 * turn)}));
    carry(way, box.position, velocity);
    lab_body(&lab, lab_shape(&lab, PRIMITIVE_BOX, half, 0), BODY_DYNAMIC, box, velocity, 0.0, NULL);
    lab_step(&lab, 1);
    touched->count = lab.report.contact_count;
    ck_assert_uint_le(touched->count, 64);
    const Mat3 axes = quat_to_mat3(ground.orientation);
    for (uint32_t i = 0; i < touched->count; i++) {
        const StepContact *contact = &lab.stepper->contact[i];
        const ProblemContact *solved = &lab.stepper->problem_contact[i];
        const Vec3 position = mat3_tmul_vec(axes, vec3_sub(contact->point, ground.position)),
                   normal = mat3_tmul_vec(axes, solved->normal);
        touched->position[i] = way->is_mirrored ? mirrored(position) : position;
        touched->normal[i] = way->is_mirrored ? mirrored(normal) : normal;
        touched->gap[i] = solved->gap;
        touched->friction[i] = solved->mu;
    }
    lab_destroy(&lab);
}

static void touch(const Way *way, Dice *dice, Touched *touched) {
    uint8_t patch[TRIANGLES];
    touch_as(way, dice, touched, patch);
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

// Where a box is set down: at one of four corners, straight or turned. false: where it reaches
// barely.
static bool set_down(int i, int round, Dice *dice, Way *way) {
    static const int near[] = {M, B, C, A};
    const Vec3 aside = dice_vec(dice, -0.2, 0.2), corner = points[near[i % 4]];
    *way = (Way){.end = ends[i / 4],
                 .at = vec3(corner.x + aside.x, corner.y + aside.y, half.z - SUNK),
                 .yaw = round % 3 == 0 ? 0.0 : dice_between(dice, -1.6, 1.6)};
    return !reaches_barely(way->at, way->yaw);
}

static void expect_same(const Touched *first, const Touched *other, const Way *way, int round) {
    ck_assert_msg(has_all(first, other) && has_all(other, first),
                  "round %d, cut %d, %s, from the %s, %s, patches %d: at %.17g %.17g by %.17g: %u "
                  "and %u contacts",
                  round, way->cut, way->is_mirrored ? "mirrored" : "as it is",
                  way->is_back ? "back" : "front", way->is_moving ? "moving" : "still",
                  way->patches, way->at.x, way->at.y, way->yaw, first->count, other->count);
}

static Dice dice_of(int i) {
    return (Dice){((uint64_t)i + 1) * UINT64_C(0x9e3779b97f4a7c15)};
}

enum { ROUNDS = 60 };

// Roundings of places alone are allowed.
START_TEST(a_face_is_the_same_however_it_is_cut) {
    Dice dice = dice_of(_i);
    uint32_t most = 0;
    for (int round = 0; round < ROUNDS; round++) {
        Touched first, other;
        Way way;
        if (!set_down(_i, round, &dice, &way)) {
            continue;
        }
        touch(&way, &dice, &first);
        most = first.count > most ? first.count : most;
        for (int k = 1; k < 4 * CUTS; k++) {
            way.cut = k % CUTS;
            way.is_mirrored = k >= 2 * CUTS;
            touch(&way, &dice, &other);
            expect_same(&first, &other, &way, round);
        }
    }
    ck_assert_uint_ge(most, 4);
}
END_TEST

// From the back of a mesh with two sides; on ground that moves and turns, and takes the box along,
// at first as if both were still; and in patches of materials that are alike: all of it together,
// too.
START_TEST(a_face_is_the_same_from_its_back_in_motion_and_in_patches) {
    Dice dice = dice_of(_i);
    for (int round = 0; round < ROUNDS; round++) {
        Touched first, other;
        Way way;
        if (!set_down(_i, round, &dice, &way)) {
            continue;
        }
        touch(&way, &dice, &first);
        for (int k = 1; k < 16; k++) {
            way.cut = k % CUTS;
            way.is_back = (k & 1) != 0;
            way.is_moving = (k & 2) != 0;
            way.patches = (k & 4) != 0;
            way.is_mirrored = (k & 8) != 0;
            touch(&way, &dice, &other);
            expect_same(&first, &other, &way, round);
        }
    }
}
END_TEST

// Whether a place is over a triangle, or within `slack` of it, seen from above.
static bool is_over(const Way *way, int triangle, Vec3 at, double slack) {
    const uint32_t *corner = triangle < OWN ? cuts[way->cut][triangle] : beyond[triangle - OWN];
    for (int k = 0; k < 3; k++) {
        Vec3 a = points[corner[k]], b = points[corner[(k + 1) % 3]];
        a.x = fmin(a.x, way->end), b.x = fmin(b.x, way->end);
        const double x = b.x - a.x, y = b.y - a.y, length = hypot(x, y);
        if (x * (at.y - a.y) - y * (at.x - a.x) < -slack * length) {
            return false;
        }
    }
    return true;
}

// Each contact rubs as a triangle that is there, be it beside it by what it is sunk in; one
// of the face's at a corner of its rim as the lowest patch of all triangles around.
START_TEST(each_contact_rubs_as_a_patch_there_and_a_corner_as_the_lowest) {
    static const double exact = 1e-8; // [m]
    Dice dice = dice_of(_i);
    uint32_t corners = 0, others = 0;
    for (int round = 0; round < 2 * ROUNDS; round++) {
        uint8_t patch[TRIANGLES];
        Touched touched;
        Way way;
        if (!set_down(_i, round, &dice, &way)) {
            continue;
        }
        way.cut = round % CUTS;
        way.is_mirrored = round % 2 != 0;
        way.is_back = round % 4 > 1;
        way.is_moving = round % 8 > 3;
        way.patches = 2;
        touch_as(&way, &dice, &touched, patch);
        for (uint32_t i = 0; i < touched.count; i++) {
            const Vec3 at = touched.position[i];
            bool is_corner = false, is_there[PATCHES] = {false};
            for (int k = A; k <= D && touched.normal[i].z > 1.0 - 1e-9; k++) {
                is_corner = is_corner || hypot(points[k].x - at.x, points[k].y - at.y) < exact;
            }
            const double slack = is_corner ? exact : 2.0 * SUNK + 0.5 * fabs(touched.gap[i]);
            for (int k = 0; k < TRIANGLES; k++) {
                is_there[patch[k]] = is_there[patch[k]] || is_over(&way, k, at, slack);
            }
            int own = 0, lowest = 0;
            while (fabs(touched.friction[i] - sqrt(0.5 * friction_of(&way, own))) > 1e-12) {
                ck_assert_int_lt(++own, PATCHES);
            }
            while (lowest < own && !is_there[lowest]) {
                lowest++;
            }
            ck_assert_msg(is_there[own] && (!is_corner || own == lowest),
                          "round %d: at %g %g rubs as patch %d", round, at.x, at.y, own);
            corners += is_corner;
            others += !is_corner;
        }
    }
    ck_assert_int_eq(corners > 0, _i % 2 == 1); // at B and A, as at M and C the face goes on
    ck_assert_uint_gt(others, ROUNDS);
}
END_TEST

static TCase *case_cuts(void) {
    TCase *tcase = tcase_create("cuts");
    tcase_set_timeout(tcase, 60.0);
    tcase_add_loop_test(tcase, a_face_is_the_same_however_it_is_cut, 0, 8);
    tcase_add_loop_test(tcase, a_face_is_the_same_from_its_back_in_motion_and_in_patches, 0, 8);
    tcase_add_loop_test(tcase, each_contact_rubs_as_a_patch_there_and_a_corner_as_the_lowest, 0, 8);
    return tcase;
}

SUITE_MAIN("step/face_cuts", case_cuts)
