// SPDX-License-Identifier: MIT
// Seams between two pieces of ground of any two kinds, in whatever a world may be told beside: the
// pieces are of one body, or carried along; planes are of the start; any solver; a mechanism that
// crosses; what sleeps on a seam, and snapshots that are taken there. What crosses goes as on a
// plane that is solved alike.
#include "support/ground_pieces.h"
#include "support/leaning_lab.h"
#include "support/suite.h"

#include "step/snapshot/snapshot.h"
#include "world/sleep.h"

enum { HERTZ = 240, STEPS = 60, PAIRS = PIECES * PIECES };

static const Vec3 none = {0.0, 0.0, 0.0};
static const Vec3 carried = {0.4, -0.3, 0.0}; // [m/s]

typedef enum Setup {
    SETUP_ONE_BODY,
    SETUP_CARRIED,
    SETUP_PLANE_OF_START,
    SETUP_LCP,
    SETUP_CCP,
    SETUP_SAP,
    SETUP_COMPLIANT,
    SETUPS
} Setup;

// How far from what goes on a plane: roundings of where its points are, which grow with the steps;
// what is soft sinks in by how many points bear it, which is another number at a seam, and the
// corners of lcp's cones lie as tangents do, which are others on a plane.
typedef struct Allowed {
    const char *name;
    SolverKind solver;
    double off, slower; // [m], [m/s]
} Allowed;

static const Allowed allowed[SETUPS] = {
    [SETUP_ONE_BODY] = {"one body", SOLVER_MDP, 1e-9, 1e-9},
    [SETUP_CARRIED] = {"carried", SOLVER_MDP, 1e-9, 1e-9},
    [SETUP_PLANE_OF_START] = {"planes of the start", SOLVER_MDP, 1e-9, 1e-9},
    [SETUP_LCP] = {"lcp", SOLVER_LCP, 1e-3, 2e-3},
    [SETUP_CCP] = {"ccp", SOLVER_CCP, 1e-8, 1e-8},
    [SETUP_SAP] = {"sap", SOLVER_SAP, 2e-3, 1e-2},
    [SETUP_COMPLIANT] = {"compliant", SOLVER_COMPLIANT, 2e-3, 1e-2},
};

// ---- the ground

static uint32_t lay(Lab *lab, Id shape, Setup setup, Vec3 at) {
    const Vec3 v = turned(carried);
    const double twist[6] = {v.x, v.y, v.z, 0.0, 0.0, 0.0};
    const bool is_carried = setup == SETUP_CARRIED;
    return lab_body(lab, shape, is_carried ? BODY_KINEMATIC : BODY_STATIC,
                    placed(at, quat_identity()), is_carried ? twist : NULL, 0.0, NULL);
}

// Two shapes of one primitive each as one shape, side by side.
static Id join(Lab *lab, const Id shape[2], Id material) {
    uint32_t kind[2];
    double size[6], pose[14];
    uint64_t geometry[2], materials[2] = {material, material};
    const uint32_t parts[1] = {2};
    for (int k = 0; k < 2; k++) {
        uint32_t index;
        ck_assert(world_find_shape(lab->world, shape[k], &index));
        const Primitive *of = &lab->world->primitive[lab->world->shape[index].primitive_first];
        kind[k] = (uint32_t)of->kind;
        geometry[k] =
            of->geometry_number == 0 ? 0 : lab->world->geometry[of->geometry_number - 1].id;
        vec3_store(size + 3 * (size_t)k, of->size);
        pose_store(pose + 7 * (size_t)k,
                   (Pose){vec3(k == 0 ? -piece_half.x : piece_half.x, 0.0, 0.0), quat_identity()});
    }
    const ShapeColumns columns = {.shape_count = 1,
                                  .primitive_count = 2,
                                  .primitives_of_shape = parts,
                                  .kind = kind,
                                  .size = size,
                                  .pose = pose,
                                  .geometry = geometry,
                                  .material = materials};
    Id id = 0;
    Error error = {0};
    ck_assert_msg(world_add_shapes(lab->world, &columns, &id, &error) == STATUS_OK, "%s: %s",
                  error.field, error.message);
    return id;
}

// `pair` -1: a plane, which is not carried.
static void lay_ground(Lab *lab, int pair, Setup setup, Id material) {
    const double below = -piece_half.z;
    if (pair < 0) {
        lay(lab, lab_shape(lab, PRIMITIVE_PLANE, none, material), SETUP_PLANE_OF_START, none);
        return;
    }
    const Id shape[2] = {piece_shape(lab, (Piece)(pair / PIECES), material),
                         piece_shape(lab, (Piece)(pair % PIECES), material)};
    if (setup == SETUP_ONE_BODY) {
        lay(lab, join(lab, shape, material), setup, vec3(0.0, 0.0, below));
        return;
    }
    lay(lab, shape[0], setup, vec3(-piece_half.x, 0.0, below));
    lay(lab, shape[1], setup, vec3(piece_half.x, 0.0, below));
}

static Lab make_lab(Setup setup) {
    Lab lab = leaning_lab(0.0, HERTZ);
    WorldSettings settings = lab.world->settings;
    SolverSettings solver;
    solver = solver_default(allowed[setup].solver);
    step_set_solver(&settings, &solver);
    settings.contact_plane =
        setup == SETUP_PLANE_OF_START ? CONTACT_PLANE_START : settings.contact_plane;
    world_set_settings(lab.world, &settings);
    lab_set(&lab, "tolerance", 1e-12);
    return lab;
}

// ---- what crosses

typedef struct Arrival {
    Vec3 at, velocity;
} Arrival;

static Arrival seen_arrival(const Lab *lab, uint32_t body) {
    return (Arrival){seen_position(lab, body), seen(lab_velocity(lab, body))};
}

static uint32_t set_down(Lab *lab, const Mobile *mobile, Vec3 along, double x, Id material) {
    const Vec3 v = turned(vec3_add(mobile->velocity, along)), w = turned(mobile->spin);
    const double twist[6] = {v.x, v.y, v.z, w.x, w.y, w.z};
    return lab_body(lab, mobile_shape(lab, mobile, material), BODY_DYNAMIC,
                    placed(vec3(x, -0.7, mobile->height), mobile->turn), twist, 0.0, NULL);
}

static Arrival cross(const Mobile *mobile, int pair, Setup setup) {
    Lab lab = make_lab(setup);
    const Id material = lab_material(&lab, 0.2, 0.0);
    lay_ground(&lab, pair, setup, material);
    const bool is_carried = setup == SETUP_CARRIED && pair >= 0;
    const uint32_t body = set_down(&lab, mobile, is_carried ? carried : none, -0.3, material);
    lab_step(&lab, STEPS);
    Arrival there = seen_arrival(&lab, body);
    if (is_carried) {
        there.at = vec3_add_scaled(there.at, -(double)STEPS / HERTZ, carried);
        there.velocity = vec3_sub(there.velocity, carried);
    }
    lab_destroy(&lab);
    return there;
}

// Two setups with each pair, and one mobile with each of those.
START_TEST(what_crosses_goes_as_on_a_plane) {
    const int pair = _i / 2;
    const Setup setup = (Setup)(_i % SETUPS);
    const Mobile *mobile = &mobiles[(pair + _i / SETUPS) % MOBILES];
    const Arrival plain = cross(mobile, -1, setup), there = cross(mobile, pair, setup);
    ck_assert_double_gt(plain.at.x, 0.1); // it is over
    const double off = vec3_norm(vec3_sub(plain.at, there.at));
    const double slower = vec3_norm(vec3_sub(plain.velocity, there.velocity));
    ck_assert_msg(off <= allowed[setup].off && slower <= allowed[setup].slower,
                  "%s, %s: %s to %s: %.3g m and %.3g m/s off", allowed[setup].name, mobile->name,
                  piece_names[pair / PIECES], piece_names[pair % PIECES], off, slower);
}
END_TEST

// ---- a mechanism

// Two boxes on a hinge between them, upright, by coordinates or by rows.
static Arrival cross_hinged(int pair, bool is_rows) {
    Lab lab = make_lab(SETUP_PLANE_OF_START);
    // how eight corners share what bears two boxes has many answers, and friction would show which
    const Id material = lab_material(&lab, 0.0, 0.0);
    lay_ground(&lab, pair, SETUP_PLANE_OF_START, material);
    const Mobile *box = &mobiles[1];
    Mobile straight = *box;
    straight.turn = quat_identity();
    const uint32_t body[2] = {set_down(&lab, &straight, none, -0.3, material),
                              set_down(&lab, &straight, none, -0.8, material)};
    const uint64_t id[2] = {lab.world->body_id[body[0]], lab.world->body_id[body[1]]};
    const double frames[2][7] = {{-0.25, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0},
                                 {0.25, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0}};
    const uint32_t kind = JOINT_HINGE, rows = is_rows;
    lab_joints(&lab, &(JointColumns){.count = 1,
                                     .axis_count = 1,
                                     .position_count = 1,
                                     .kind = &kind,
                                     .body_a = &id[0],
                                     .body_b = &id[1],
                                     .frame_a = frames[0],
                                     .frame_b = frames[1],
                                     .as_rows = &rows});
    lab_step(&lab, STEPS);
    const Arrival there = seen_arrival(&lab, body[1]);
    lab_destroy(&lab);
    return there;
}

// Of a tree more roundings come together than of a body.
START_TEST(a_mechanism_crosses_as_on_a_plane) {
    const int pair = _i / 2;
    const bool is_rows = _i % 2 == 1;
    const Arrival plain = cross_hinged(-1, is_rows), there = cross_hinged(pair, is_rows);
    const double off = vec3_norm(vec3_sub(plain.at, there.at));
    ck_assert_msg(off <= 1e-7, "%s, %s to %s: %.3g m off", is_rows ? "rows" : "coordinates",
                  piece_names[pair / PIECES], piece_names[pair % PIECES], off);
}
END_TEST

// ---- on the seam

// Falls asleep there, is woken by a push along the seam, and the same from a snapshot of each
// stage, to the bit.
START_TEST(what_sleeps_on_a_seam_is_woken_and_copied) {
    const int pair = _i;
    const Mobile *mobile = &mobiles[1 + pair % 2];
    Lab lab = make_lab(SETUP_PLANE_OF_START);
    const Id material = lab_material(&lab, 0.5, 0.0);
    WorldSettings settings = lab.world->settings;
    settings.sleep_speed = 0.05;
    world_set_settings(lab.world, &settings);
    lay_ground(&lab, pair, SETUP_PLANE_OF_START, material);
    const Vec3 from = vec3(0.02, 0.03, mobile->height);
    const uint32_t body = lab_body(&lab, mobile_shape(&lab, mobile, material), BODY_DYNAMIC,
                                   placed(from, mobile->turn), NULL, 0.0, NULL);
    lab_step(&lab, 3 * HERTZ);
    ck_assert_uint_eq(lab.report.asleep_count, 1);
    ck_assert_double_le(vec3_norm(vec3_sub(seen_position(&lab, body), from)), 1e-6);
    const Vec3 force = turned(vec3(3e3, 1e3, 0.0));
    const double wrench[6] = {force.x, force.y, force.z, 0.0, 0.0, 0.0};
    World *copy = lab_copy(&lab);
    uint64_t hash[2];
    for (int k = 0; k < 2; k++) {
        lab_step_pushed(&lab, body, wrench);
        ck_assert_uint_eq(lab.report.asleep_count, 0);
        lab_step(&lab, 10);
        World *again = lab_copy(&lab);
        world_destroy(again);
        lab_step(&lab, 30);
        ck_assert_double_gt(seen_position(&lab, body).x, 0.04);
        hash[k] = snapshot_hash(lab.world);
        if (k == 0) {
            World *past = lab.world;
            lab.world = copy;
            world_destroy(past);
            lab_restore(&lab);
        }
    }
    ck_assert_uint_eq(hash[0], hash[1]);
    lab_destroy(&lab);
}
END_TEST

static TCase *case_setups(void) {
    TCase *tcase = tcase_create("setups");
    tcase_set_timeout(tcase, 120.0);
    tcase_add_loop_test(tcase, what_crosses_goes_as_on_a_plane, 0, PAIRS * 2);
    tcase_add_loop_test(tcase, a_mechanism_crosses_as_on_a_plane, 0, 2 * PAIRS);
    tcase_add_loop_test(tcase, what_sleeps_on_a_seam_is_woken_and_copied, 0, PAIRS);
    return tcase;
}

SUITE_MAIN("step/seam_setups", case_setups)
