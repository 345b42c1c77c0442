// SPDX-License-Identifier: MIT
// What begins deep in the ground, at a seam between two pieces of it, comes out as it would of one
// plane: upwards, and in the same time. For what is thin the pieces' own sides are nearer than
// their tops, and neither of those is a surface.
#include "step/snapshot/snapshot.h"
#include "support/crew.h"
#include "support/ground_pieces.h"
#include "support/leaning_lab.h"
#include "support/suite.h"

#include <string.h>

enum { HERTZ = 240, STEPS = 90, RESTORED = 13 };

static const Vec3 none = {0.0, 0.0, 0.0};

// As they stand on the ground: `height` of their middles above it, and half of how wide they are
// across the seam.
typedef struct Thing {
    const char *name;
    PrimitiveKind kind;
    Vec3 size;
    Quat turn;
    double height, wide;
} Thing;

#define HALF 0.70710678118654757
static const Thing things[] = {
    {"box", PRIMITIVE_BOX, {0.1, 0.1, 0.1}, {1.0, 0.0, 0.0, 0.0}, 0.1, 0.1},
    {"card", PRIMITIVE_BOX, {0.002, 0.1, 0.1}, {1.0, 0.0, 0.0, 0.0}, 0.1, 0.002},
    {"slab", PRIMITIVE_BOX, {0.01, 0.1, 0.1}, {1.0, 0.0, 0.0, 0.0}, 0.1, 0.01},
    {"flat slab", PRIMITIVE_BOX, {0.1, 0.1, 0.02}, {1.0, 0.0, 0.0, 0.0}, 0.02, 0.1},
    {"coin", PRIMITIVE_CYLINDER, {0.1, 0.004, 0.0}, {HALF, 0.0, HALF, 0.0}, 0.1, 0.004},
    {"tin", PRIMITIVE_CYLINDER, {0.1, 0.1, 0.0}, {1.0, 0.0, 0.0, 0.0}, 0.1, 0.1},
    {"barrel", PRIMITIVE_CYLINDER, {0.1, 0.1, 0.0}, {HALF, HALF, 0.0, 0.0}, 0.1, 0.1},
    {"pencil", PRIMITIVE_CYLINDER, {0.004, 0.1, 0.0}, {1.0, 0.0, 0.0, 0.0}, 0.1, 0.004},
    {"capsule", PRIMITIVE_CAPSULE, {0.02, 0.1, 0.0}, {HALF, HALF, 0.0, 0.0}, 0.02, 0.02},
    {"ball", PRIMITIVE_SPHERE, {0.1, 0.0, 0.0}, {1.0, 0.0, 0.0, 0.0}, 0.1, 0.1},
};
enum { THINGS = sizeof(things) / sizeof(things[0]) };

typedef enum Way { WAY_AS_IT_IS, WAY_OF_START, WAY_LCP, WAY_CCP, WAY_CARRIED, WAYS } Way;

static void set_way(Lab *lab, Way way) {
    static const SolverKind solvers[WAYS] = {[WAY_LCP] = SOLVER_LCP, [WAY_CCP] = SOLVER_CCP};
    WorldSettings settings = lab->world->settings;
    const SolverSettings solver = solver_default(solvers[way]);
    step_set_solver(&settings, &solver);
    settings.contact_plane = way == WAY_OF_START ? CONTACT_PLANE_START : settings.contact_plane;
    world_set_settings(lab->world, &settings);
    lab_set(lab, "tolerance", 1e-10);
}

// What lies on either side of the seam: all there is, as it is by default, and otherwise those of
// which every piece is one.
enum { PAIRS = PIECES * PIECES, FEW = 5, CASES = PAIRS + (WAYS - 1) * FEW };

static int pair_of(int number) {
    static const Piece few[FEW][2] = {{PIECE_BOX, PIECE_HULL},
                                      {PIECE_HULL, PIECE_SHEET},
                                      {PIECE_SHEET, PIECE_FIELD},
                                      {PIECE_FIELD, PIECE_BLOCK},
                                      {PIECE_BLOCK, PIECE_BLOCK}};
    const Piece *pair = few[number % FEW];
    return number < PAIRS ? number : (int)(pair[0] * PIECES + pair[1]);
}

// `pair` -1: a plane.
static void lay_ground(Lab *lab, int pair, Way way) {
    const Id material = lab_material(lab, 0.0, 0.0);
    if (pair < 0) {
        lab_body(lab, lab_shape(lab, PRIMITIVE_PLANE, none, material), BODY_STATIC,
                 placed(none, quat_identity()), NULL, 0.0, NULL);
        return;
    }
    const Vec3 along = turned(vec3(0.0, 0.3, 0.0)); // there is no friction: it is carried below
    const double twist[6] = {along.x, along.y, along.z, 0.0, 0.0, 0.0};
    for (int k = 0; k < 2; k++) {
        const Id shape =
            piece_shape(lab, (Piece)(k == 0 ? pair / PIECES : pair % PIECES), material);
        const Vec3 at = vec3(k == 0 ? -piece_half.x : piece_half.x, 0.0, -piece_half.z);
        lab_body(lab, shape, way == WAY_CARRIED ? BODY_KINEMATIC : BODY_STATIC,
                 placed(at, quat_identity()), way == WAY_CARRIED ? twist : NULL, 0.0, NULL);
    }
}

// How high it is at the end of each step.
static void sink(const Thing *thing, int pair, Way way, double depth, double x,
                 double height[STEPS]) {
    Lab lab = leaning_lab(0.0, HERTZ);
    lab.world->settings.margin = settings_default().margin;
    set_way(&lab, way);
    lay_ground(&lab, pair, way);
    const Id shape = lab_shape(&lab, thing->kind, thing->size, 0);
    const uint32_t body =
        lab_body(&lab, shape, BODY_DYNAMIC,
                 placed(vec3(x, -0.7, thing->height - depth), thing->turn), NULL, 1.0, NULL);
    for (int k = 0; k < STEPS; k++) {
        lab_step(&lab, 1);
        height[k] = seen_position(&lab, body).z;
        if (k == RESTORED) {
            lab_restore(&lab);
        }
    }
    lab_destroy(&lab);
}

// Shares of how tall it is, and of half its width that its middle is beside the seam. Off by
// 4e-11 m where steps are solved to 1e-10 V.
START_TEST(what_is_sunk_at_a_seam_comes_out_as_of_one_plane) {
    static const double shares[] = {0.02, 0.09, 0.2, 0.35}, aways[] = {0.0, 0.3, -0.5};
    const Thing *thing = &things[_i % THINGS];
    const int number = _i / THINGS, pair = pair_of(number);
    const Way way = (Way)(number < PAIRS ? 0 : 1 + (number - PAIRS) / FEW);
    for (size_t s = 0; s < sizeof(shares) / sizeof(shares[0]); s++) {
        double plain[STEPS], there[STEPS];
        const double depth = 2.0 * thing->height * shares[s];
        sink(thing, -1, way, depth, 0.0, plain);
        ck_assert_double_eq_tol(plain[STEPS - 1], thing->height, 1e-4);
        for (size_t a = 0; a < sizeof(aways) / sizeof(aways[0]); a++) {
            sink(thing, pair, way, depth, aways[a] * thing->wide, there);
            for (int k = 0; k < STEPS; k++) {
                ck_assert_msg(
                    fabs(there[k] - plain[k]) <= 1e-9,
                    "%s on %s and %s by %g of its height, %g of its width off: after %d steps at "
                    "%g, not %g m",
                    thing->name, piece_names[pair / PIECES], piece_names[pair % PIECES], shares[s],
                    aways[a], k + 1, there[k], plain[k]);
            }
        }
    }
}
END_TEST

// ---- in company

enum { FEW_CASES = THINGS * FEW };
#define SHARE 0.2 // of how tall a thing is: how deep it is
#define AWAY  0.3 // of half its width: how far from the seam it is

// The ground, and a thing in it at x; `pair` -1: of a plane. Its body is the last.
static Lab sunk_lab(const Thing *thing, int pair, double x) {
    Lab lab = leaning_lab(0.0, HERTZ);
    lab.world->settings.margin = settings_default().margin;
    set_way(&lab, WAY_AS_IT_IS);
    lay_ground(&lab, pair, WAY_AS_IT_IS);
    const Id shape = lab_shape(&lab, thing->kind, thing->size, 0);
    const double height = thing->height * (1.0 - 2.0 * SHARE);
    lab_body(&lab, shape, BODY_DYNAMIC, placed(vec3(x, -0.7, height), thing->turn), NULL, 1.0,
             NULL);
    return lab;
}

static uint32_t last_of(const Lab *lab) {
    return lab->world->body_count - 1;
}

static void let_sleep(Lab *lab) {
    WorldSettings settings = lab->world->settings;
    settings.sleep_speed = 0.02;
    settings.sleep_time = 0.1;
    world_set_settings(lab->world, &settings);
}

static void push_up(Lab *lab) {
    const Vec3 up = turned(vec3(0.0, 0.0, 2.0 * gravity));
    lab_step_pushed(lab, last_of(lab), (const double[]){up.x, up.y, up.z, 0.0, 0.0, 0.0});
}

// It comes out, falls asleep, is pushed, wakes, comes down and falls asleep as on a plane.
START_TEST(what_came_out_sleeps_and_wakes_as_on_a_plane) {
    enum { WOKEN = 200, END = 320 };
    const Thing *thing = &things[_i % THINGS];
    Lab plain = sunk_lab(thing, -1, 0.0),
        lab = sunk_lab(thing, pair_of(PAIRS + _i / THINGS), AWAY * thing->wide);
    let_sleep(&plain);
    let_sleep(&lab);
    for (int k = 0; k < END; k++) {
        if (k == WOKEN) {
            ck_assert_uint_eq(lab.report.asleep_count, 1);
            push_up(&plain);
            push_up(&lab);
            ck_assert_uint_eq(lab.report.asleep_count, 0);
        } else {
            lab_step(&plain, 1);
            lab_step(&lab, 1);
        }
        const double there = seen_position(&lab, 2).z, wanted = seen_position(&plain, 1).z;
        ck_assert_uint_eq(lab.report.asleep_count, plain.report.asleep_count);
        ck_assert_msg(fabs(there - wanted) <= 1e-9, "%s: after %d steps at %g, not %g m",
                      thing->name, k + 1, there, wanted);
        ck_assert_double_eq_tol(seen_position(&lab, 2).x, AWAY * thing->wide, 1e-9);
        if (k % 50 == RESTORED) {
            lab_restore(&lab);
        }
    }
    ck_assert_uint_eq(lab.report.asleep_count, 1);
    lab_destroy(&plain);
    lab_destroy(&lab);
}
END_TEST

// What one of the two pieces hid is a surface once that is gone: from then on it moves as one that
// never had another, also where it slept. What differs is what solvers start from, to 1e-10 V, and
// what tips grows by 5 in the time.
START_TEST(without_one_of_its_pieces_it_moves_as_if_that_had_never_been) {
    const Thing *thing = &things[_i % THINGS];
    const int pair = pair_of(PAIRS + _i / THINGS % FEW), way = _i / FEW_CASES;
    const double x = (way == 0 ? 1.0 : -1.0) * AWAY * thing->wide; // over what goes, or what stays
    Lab lab = sunk_lab(thing, pair, x), other = sunk_lab(thing, pair, x);
    let_sleep(&lab);
    lab_step(&lab, way == 2 ? RESTORED : 200);
    ck_assert_uint_eq(lab.report.asleep_count, way != 2);
    for (Lab *one = &lab; one != NULL; one = one == &lab ? &other : NULL) {
        world_remove_bodies(one->world, (const uint32_t[]){1}, 1);
    }
    memcpy(other.world->pose + 7, lab.world->pose + 7, 7 * sizeof(double));
    memcpy(other.world->velocity + 6, lab.world->velocity + 6, 6 * sizeof(double));
    lab_restore(&lab);
    for (int k = 0; k < 40; k++) {
        lab_step(&lab, 1);
        lab_step(&other, 1);
        ck_assert(way != 0 || lab.report.asleep_count == 0);
        lab.world->settings.sleep_speed = 0.0; // what tips slowly would
        const double off = vec3_norm(vec3_sub(lab_position(&lab, 1), lab_position(&other, 1)));
        ck_assert_msg(off <= 1e-8, "%s on %s: after %d steps off by %g m", thing->name,
                      piece_names[pair / PIECES], k + 1, off);
    }
    lab_destroy(&lab);
    lab_destroy(&other);
}
END_TEST

// With a weight that rows, or a coordinate, fix to it, it comes out as it does of a plane.
START_TEST(with_a_weight_that_is_fixed_to_it_it_comes_out) {
    const Thing *thing = &things[_i % THINGS];
    const uint32_t kind = JOINT_FIXED, as_rows = _i / FEW_CASES == 0;
    Lab lab[2] = {sunk_lab(thing, -1, 0.0),
                  sunk_lab(thing, pair_of(PAIRS + _i / THINGS % FEW), AWAY * thing->wide)};
    const double inertia[6] = {0.01, 0.01, 0.01, 0.0, 0.0, 0.0};
    for (int i = 0; i < 2; i++) {
        const uint32_t body = last_of(&lab[i]);
        const Pose at = pose_load(lab[i].world->pose + 7 * (size_t)body),
                   above = {vec3_add(at.position, turned(vec3(0.0, 0.0, 0.5))), at.orientation};
        const uint32_t weight = lab_body(&lab[i], 0, BODY_DYNAMIC, above, NULL, 0.4, inertia);
        const Vec3 down = mat3_tmul_vec(quat_to_mat3(at.orientation), turned(vec3(0, 0, -0.5)));
        const double frame[7] = {down.x, down.y, down.z, 1.0, 0.0, 0.0, 0.0};
        lab_joints(&lab[i], &(JointColumns){.count = 1,
                                            .kind = &kind,
                                            .as_rows = &as_rows,
                                            .body_a = &lab[i].world->body_id[body],
                                            .body_b = &lab[i].world->body_id[weight],
                                            .frame_b = frame});
    }
    for (int k = 0; k < STEPS; k++) {
        lab_step(&lab[0], 1);
        lab_step(&lab[1], 1);
        lab_restore(&lab[1]);
        const double there = seen_position(&lab[1], 2).z, wanted = seen_position(&lab[0], 1).z;
        ck_assert_msg(fabs(there - wanted) <= 1e-9, "%s: after %d steps at %g, not %g m",
                      thing->name, k + 1, there, wanted);
    }
    lab_destroy(&lab[0]);
    lab_destroy(&lab[1]);
}
END_TEST

// All things in a row along the seam, on one lane, and on 2 or 7.
START_TEST(lanes_make_no_difference_to_what_is_sunk) {
    Crew *crew = crew_create(_i % 2 == 0 ? 2 : 7, (uint64_t)_i);
    const int pair = pair_of(PAIRS + _i / 2);
    Lab lab[2];
    for (int i = 0; i < 2; i++) {
        lab[i] = sunk_lab(&things[0], pair, 0.0);
        for (int k = 1; k < 3 * THINGS; k++) {
            const Thing *thing = &things[k % THINGS];
            const Vec3 at = vec3(0.01 * k - 0.1, 0.06 * k - 0.7, 0.8 * thing->height);
            lab_body(&lab[i], lab_shape(&lab[i], thing->kind, thing->size, 0), BODY_DYNAMIC,
                     placed(at, thing->turn), NULL, 1.0, NULL);
        }
        lab_set(&lab[i], "tolerance", 1e-6);
    }
    lab[1].context.tasks = crew_tasks(crew);
    for (int k = 0; k < 20; k++) {
        lab_step(&lab[0], 1);
        lab_step(&lab[1], 1);
        ck_assert_uint_eq(snapshot_hash(lab[0].world), snapshot_hash(lab[1].world));
    }
    lab_destroy(&lab[0]);
    lab_destroy(&lab[1]);
    crew_destroy(crew);
}
END_TEST

static TCase *case_company(void) {
    TCase *tcase = tcase_create("company");
    tcase_set_timeout(tcase, 120.0);
    tcase_add_loop_test(tcase, what_came_out_sleeps_and_wakes_as_on_a_plane, 0, FEW_CASES);
    tcase_add_loop_test(tcase, without_one_of_its_pieces_it_moves_as_if_that_had_never_been, 0,
                        3 * FEW_CASES);
    tcase_add_loop_test(tcase, with_a_weight_that_is_fixed_to_it_it_comes_out, 0, 2 * FEW_CASES);
    tcase_add_loop_test(tcase, lanes_make_no_difference_to_what_is_sunk, 0, 2 * FEW);
    return tcase;
}

static TCase *case_sunk(void) {
    TCase *tcase = tcase_create("sunk");
    tcase_set_timeout(tcase, 120.0);
    tcase_add_loop_test(tcase, what_is_sunk_at_a_seam_comes_out_as_of_one_plane, 0, THINGS * CASES);
    return tcase;
}

SUITE_MAIN("step/sunk", case_sunk, case_company)
