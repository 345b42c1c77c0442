// SPDX-License-Identifier: MIT
// What begins deep in the ground, at a seam between two pieces of it, comes out as it would of one
// plane: upwards, and in the same time. For what is thin the pieces' own sides are nearer than
// their tops, and neither of those is a surface.
#include "support/ground_pieces.h"
#include "support/leaning_lab.h"
#include "support/suite.h"

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

static TCase *case_sunk(void) {
    TCase *tcase = tcase_create("sunk");
    tcase_set_timeout(tcase, 120.0);
    tcase_add_loop_test(tcase, what_is_sunk_at_a_seam_comes_out_as_of_one_plane, 0, THINGS * CASES);
    return tcase;
}

SUITE_MAIN("step/sunk", case_sunk)
