// SPDX-License-Identifier: MIT
// What may come farther in a step than numbers go, where it lies on ground in pieces: a soft
// foundation that is damped much, whoever wears it, makes a solver that looks ahead look that far.
#include "support/ground_pieces.h"
#include "support/leaning_lab.h"
#include "support/suite.h"

enum { HERTZ = 120, STEPS = 30 };

// A shape that no body wears: a solver looks ahead by its damping over its stiffness, 1e18 N s/m
// over four times the modulus in N/m.
static void add_soft(Lab *lab, double modulus) {
    const uint32_t parts = 1, kind = PRIMITIVE_BOX, face = 6, cells[2] = {1, 1};
    const double size[3] = {1.0, 1.0, 1.0}, depth = 1.0, damping = 1e18;
    const ShapeColumns columns = {.shape_count = 1,
                                  .primitive_count = 1,
                                  .primitives_of_shape = &parts,
                                  .kind = &kind,
                                  .size = size,
                                  .foundation_face = &face,
                                  .foundation_cells = cells,
                                  .foundation_modulus = &modulus,
                                  .foundation_depth = &depth,
                                  .foundation_damping = &damping};
    Id id = 0;
    Error error = {0};
    ck_assert_msg(world_add_shapes(lab->world, &columns, &id, &error) == STATUS_OK, "%s: %s",
                  error.field, error.message);
}

static void lay(Lab *lab, Piece piece, double x, double y, Id material) {
    lab_body(lab, piece_shape(lab, piece, material), BODY_STATIC,
             placed(vec3(x, y, -piece_half.z), quat_identity()), NULL, 0.0, NULL);
}

// Where four pieces meet, sunk in by so much; at the end of so many steps.
static Vec3 crossing(Piece piece, const Mobile *mobile, double sunk, double modulus) {
    Lab lab = leaning_lab(0.0, HERTZ);
    const SolverSettings solver = solver_default(SOLVER_SAP);
    step_set_solver(&lab.world->settings, &solver);
    const Id material = lab_material(&lab, 0.3, 0.0);
    for (int i = 0; i < 4; i++) {
        lay(&lab, piece, (i & 1) != 0 ? piece_half.x : -piece_half.x,
            (i & 2) != 0 ? piece_half.y : -piece_half.y, material);
    }
    if (modulus > 0.0) {
        add_soft(&lab, modulus);
    }
    const Vec3 v = turned(vec3(1.0, 0.3, 0.0)), at = vec3(-0.05, 0.04, mobile->height - sunk);
    const double twist[6] = {v.x, v.y, v.z, 0.0, 0.0, 0.0};
    const uint32_t body = lab_body(&lab, mobile_shape(&lab, mobile, material), BODY_DYNAMIC,
                                   placed(at, mobile->turn), twist, 0.0, NULL);
    lab_step(&lab, STEPS);
    const Vec3 end = seen_position(&lab, body);
    lab_destroy(&lab);
    return end;
}

static const Piece pieces[] = {PIECE_BOX, PIECE_HULL, PIECE_FIELD}; // where who sinks in comes up
enum { SOLID = sizeof(pieces) / sizeof(pieces[0]) };

// It slides as where nothing is soft, but for what the other contacts in its reach bear: sap lets
// all of them give. How soft is nothing to it: reaches of 1e29, 1e77 and 1e317 m, which is no
// number.
START_TEST(how_far_it_may_come_is_nothing_to_what_slides) {
    const Piece piece = pieces[_i % SOLID];
    const Mobile *mobile = &mobiles[_i / SOLID];
    const Vec3 plain = crossing(piece, mobile, 0.0, 0.0);
    for (int i = 0; i < 3; i++) {
        const Vec3 far = crossing(piece, mobile, 0.0, (double[]){1e-12, 1e-60, 1e-300}[i]);
        ck_assert_double_le(vec3_norm(vec3_sub(far, plain)), 1e-4);
    }
}
END_TEST

// And as far does it come up: the pieces' sides are hidden, and go on behind each other by how far
// it may come, but not by so much that nothing is left of the digits of what is sunk.
START_TEST(how_far_it_may_come_is_nothing_to_what_is_sunk) {
    const Piece piece = pieces[_i % SOLID];
    const Mobile *mobile = &mobiles[_i / SOLID];
    const double sunk = 0.3, most = 0.06; // 1 m/s of recovery for STEPS
    const Vec3 soft = crossing(piece, mobile, sunk, 1e-12);
    ck_assert_double_ge(soft.z - mobile->height, -most);
    for (int i = 0; i < 2; i++) {
        const Vec3 softer = crossing(piece, mobile, sunk, (double[]){1e-60, 1e-300}[i]);
        ck_assert_mem_eq(&softer, &soft, sizeof(soft));
    }
}
END_TEST

static TCase *case_far(void) {
    TCase *tcase = tcase_create("far");
    tcase_set_timeout(tcase, 60.0);
    tcase_add_loop_test(tcase, how_far_it_may_come_is_nothing_to_what_slides, 0, SOLID * MOBILES);
    tcase_add_loop_test(tcase, how_far_it_may_come_is_nothing_to_what_is_sunk, 0, SOLID * MOBILES);
    return tcase;
}

SUITE_MAIN("step/far", case_far)
