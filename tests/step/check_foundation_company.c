// SPDX-License-Identifier: MIT
// Foundations in company: bodies that stand on the cells of a face and are fixed to others, hinged
// to the world, asleep, restored in the middle, on another solver for a while, or whose ground
// goes. By closed forms, with everything turned as no axis is.
#include "step/snapshot/snapshot.h"
#include "support/lab.h"
#include "support/suite.h"
#include "world/sleep.h"

#include <math.h>
#include <string.h>

#define GRAVITY 9.81
#define HALF    0.5 // [m] of the cube
#define MASS    8.0
#define MODULUS 1e5
#define DAMPING 5.0

enum { GROUND = 0, CUBE = 1, SIDE = 6 };

// [N/m] of all cells of a face of 1 m^2, 1 m deep.
static const double stiffness = MODULUS;
static const double moments[6] = {MASS / 6.0, MASS / 6.0, MASS / 6.0, 0.0, 0.0, 0.0};

// Of the ground: z of this is upwards.
static Pose askew(void) {
    return (Pose){vec3(0.3, -0.2, 0.7), quat_normalize((Quat){0.53, 0.21, -0.6, 0.4})};
}

static Vec3 up(void) {
    return quat_rotate(askew().orientation, vec3(0.0, 0.0, 1.0));
}

static void set_solver(Lab *lab, SolverKind kind) {
    WorldSettings settings = lab->world->settings;
    const SolverSettings solver = solver_default(kind);
    step_set_solver(&settings, &solver);
    world_set_settings(lab->world, &settings);
}

static Id founded_cube(Lab *lab) {
    const uint32_t kind = PRIMITIVE_BOX, face = 6, grid[2] = {SIDE, SIDE};
    const uint64_t material = lab_material(lab, 0.4, 0.0);
    const double size[3] = {HALF, HALF, HALF}, modulus = MODULUS, depth = 1.0, damping = DAMPING;
    const ShapeColumns columns = {.shape_count = 1,
                                  .primitive_count = 1,
                                  .kind = &kind,
                                  .size = size,
                                  .material = &material,
                                  .foundation_face = &face,
                                  .foundation_cells = grid,
                                  .foundation_modulus = &modulus,
                                  .foundation_depth = &depth,
                                  .foundation_damping = &damping};
    Id shape = 0;
    Error error = {0};
    ck_assert_msg(world_add_shapes(lab->world, &columns, &shape, &error) == STATUS_OK, "%s",
                  error.message);
    return shape;
}

// A cube on ground, `high` above where it only just touches; `gravity` is straight down.
static Lab make_cube(SolverKind kind, double high) {
    Lab lab = lab_create(0.0, 0.005);
    WorldSettings settings = lab.world->settings;
    settings.gravity = vec3_scale(-GRAVITY, up());
    settings.sleep_speed = 1e-3;
    settings.sleep_time = 0.1;
    world_set_settings(lab.world, &settings);
    set_solver(&lab, kind);
    const Id plane = lab_shape(&lab, PRIMITIVE_PLANE, vec3(0.0, 0.0, 0.0), 0);
    lab_body(&lab, plane, BODY_STATIC, askew(), NULL, 0.0, NULL);
    const Pose on = {vec3(0.2, -0.3, HALF + high), quat_normalize((Quat){1.0, 0.0, 0.0, 0.4})};
    lab_body(&lab, founded_cube(&lab), BODY_DYNAMIC, pose_compose(askew(), on), NULL, MASS,
             moments);
    return lab;
}

// [m] of the cube's centre below where it only just touches.
static double depth_of(const Lab *lab) {
    return HALF - vec3_dot(up(), vec3_sub(lab_position(lab, CUBE), askew().position));
}

static bool sleeps(const Lab *lab, uint32_t body) {
    return lab->world->sleep->island[body] != SLEEP_AWAKE;
}

static void expect_same(const Lab *a, const Lab *b) {
    ck_assert_uint_eq(snapshot_hash(a->world), snapshot_hash(b->world));
}

// m g/K of compliant, whose cells are springs; sap's have no damping of their own, and give way
// likewise; rigid ones do not.
static double wanted_depth(SolverKind kind, double mass) {
    return kind == SOLVER_COMPLIANT || kind == SOLVER_SAP ? mass * GRAVITY / stiffness : 0.0;
}

// What falls asleep wakes where its weight changes, and comes to rest where that is borne; a twin
// that is restored again and again, in the air, in the contact and asleep, does the same.
// In undivided steps, and in steps of three substeps.
START_TEST(it_rests_sleeps_and_wakes_and_a_twin_that_is_restored_does_too) {
    const SolverKind kind = (SolverKind)(_i % SOLVER_COUNT);
    Lab lab = make_cube(kind, 0.01), twin = make_cube(kind, 0.01);
    lab_divide(&lab, _i < SOLVER_COUNT ? 1 : 3);
    lab_divide(&twin, lab.world->settings.substeps);
    bool has_slept = false;
    for (int i = 0; i < 400; i++) {
        lab_step(&lab, 1);
        lab_step(&twin, 1);
        if (i % 37 == 9) {
            lab_restore(&twin);
        }
        expect_same(&lab, &twin);
        has_slept = has_slept || sleeps(&lab, CUBE);
    }
    ck_assert(has_slept && sleeps(&lab, CUBE));
    // it sleeps once it is below 1 mm/s, with what that may still move it
    ck_assert_double_eq_tol(depth_of(&lab), wanted_depth(kind, MASS), 5e-5);
    const double twice = 2.0 * MASS;
    const Id id = lab.world->body_id[CUBE];
    const BodyUpdate update = {.count = 1, .id = &id, .mass = &twice};
    ck_assert_int_eq(world_update_bodies(lab.world, &update, NULL), STATUS_OK);
    ck_assert(!sleeps(&lab, CUBE));
    lab_step(&lab, 400);
    ck_assert(sleeps(&lab, CUBE));
    ck_assert_double_eq_tol(depth_of(&lab), wanted_depth(kind, twice), 5e-5);
    lab_destroy(&lab);
    lab_destroy(&twin);
}
END_TEST

// On the way down, pressed in, and asleep: without the ground it falls as anything does.
START_TEST(it_falls_when_its_ground_goes) {
    static const int when[] = {2, 14, 400};
    const SolverKind kind = (SolverKind)(_i % SOLVER_COUNT);
    Lab lab = make_cube(kind, 0.01);
    lab_step(&lab, when[_i / SOLVER_COUNT]);
    ck_assert_int_eq(sleeps(&lab, CUBE), _i / SOLVER_COUNT == 2);
    const Vec3 before = lab_velocity(&lab, CUBE);
    const Id ground = lab.world->body_id[GROUND];
    ck_assert_int_eq(
        world_remove(lab.world, &(RemoveOrder){.body_count = 1, .body = &ground}, NULL), STATUS_OK);
    lab_step(&lab, 40);
    ck_assert_uint_eq(lab.stepper->contact_count, 0);
    const uint32_t cube = 0; // is the first now
    const Vec3 gained = vec3_sub(lab_velocity(&lab, cube), before);
    ck_assert_double_le(vec3_norm(vec3_add_scaled(gained, 40 * 0.005 * GRAVITY, up())), 1e-12);
    lab_destroy(&lab);
}
END_TEST

// However it was solved in between, it comes to where its own law bears it.
START_TEST(it_goes_on_under_another_solver) {
    const SolverKind first = SOLVER_COMPLIANT, other = (SolverKind)_i;
    Lab lab = make_cube(first, 0.01);
    lab_step(&lab, 15);
    set_solver(&lab, other);
    lab_step(&lab, 3);
    lab_restore(&lab);
    lab_step(&lab, 200);
    ck_assert_double_eq_tol(depth_of(&lab), wanted_depth(other, MASS), 5e-5);
    set_solver(&lab, first); // wakes it, where it is another one
    ck_assert_int_eq(sleeps(&lab, CUBE), first == other);
    lab_step(&lab, 400);
    ck_assert(sleeps(&lab, CUBE));
    ck_assert_double_eq_tol(depth_of(&lab), wanted_depth(first, MASS), 5e-5);
    lab_destroy(&lab);
}
END_TEST

// ---- joints

static Pose seen_from(Pose base, Pose place) {
    const Quat back = {base.orientation.w, -base.orientation.x, -base.orientation.y,
                       -base.orientation.z};
    return (Pose){quat_rotate(back, vec3_sub(place.position, base.position)),
                  quat_mul(back, place.orientation)};
}

static Pose pose_of(const Lab *lab, uint32_t body) {
    double pose[7];
    world_body_pose(lab->world, body, pose);
    return pose_load(pose);
}

// `place`: of both frames. The world is JOINT_NO_BODY.
static void join(Lab *lab, uint32_t kind, uint32_t as_rows, uint32_t a, uint32_t b, Pose place) {
    const uint64_t ids[2] = {a == JOINT_NO_BODY ? 0 : lab->world->body_id[a],
                             lab->world->body_id[b]};
    double frame_a[7], frame_b[7];
    pose_store(frame_a, a == JOINT_NO_BODY ? place : seen_from(pose_of(lab, a), place));
    pose_store(frame_b, seen_from(pose_of(lab, b), place));
    const uint32_t axes = kind == JOINT_HINGE;
    lab_joints(lab, &(JointColumns){.count = 1,
                                    .axis_count = axes,
                                    .position_count = axes,
                                    .kind = &kind,
                                    .as_rows = &as_rows,
                                    .body_a = &ids[0],
                                    .body_b = &ids[1],
                                    .frame_a = frame_a,
                                    .frame_b = frame_b});
}

// Two balls of 3 kg beside it, left and right: the cells bear all three.
START_TEST(what_is_fixed_to_it_stands_on_it_too) {
    const SolverKind kind = (SolverKind)(_i / 2 % SOLVER_COUNT);
    const uint32_t as_rows = _i % 2 == 1;
    const double own[6] = {0.03, 0.03, 0.03, 0.0, 0.0, 0.0};
    Lab lab = make_cube(kind, 0.002);
    lab_divide(&lab, _i < 2 * SOLVER_COUNT ? 1 : 3);
    for (int side = -1; side <= 1; side += 2) {
        const Pose place =
            pose_compose(pose_of(&lab, CUBE), (Pose){vec3(0.9 * side, 0.0, 0.3),
                                                     quat_normalize((Quat){0.8, 0.3, 0.1, 0})});
        const uint32_t ball = lab_body(&lab, 0, BODY_DYNAMIC, place, NULL, 3.0, own);
        join(&lab, JOINT_FIXED, as_rows, CUBE, ball, place);
    }
    lab_step(&lab, 300);
    lab_restore(&lab);
    lab_step(&lab, 300);
    for (uint32_t body = CUBE; body < lab.world->body_count; body++) {
        ck_assert(sleeps(&lab, body));
    }
    ck_assert_double_eq_tol(depth_of(&lab), wanted_depth(kind, MASS + 6.0), 5e-5);
    lab_destroy(&lab);
}
END_TEST

// Hinged at an edge of its face, where it begins level with the ground: cells at x from there are
// pressed in by x sin(a), so that m g cos(a)/2 = sum k x^2 sin(a) cos(a), of which rigid ones leave
// nothing. (The centre is HALF above the face as well: - m g sin(a)/2 beside it.)
START_TEST(it_leans_on_its_cells_from_a_hinge) {
    const SolverKind kind = (SolverKind)(_i / 2 % SOLVER_COUNT);
    const uint32_t as_rows = _i % 2 == 1;
    Lab lab = make_cube(kind, 0.0);
    lab_divide(&lab, _i < 2 * SOLVER_COUNT ? 1 : 3);
    const Pose cube = pose_of(&lab, CUBE);
    // z of the frame is the cube's y
    const Quat across = quat_normalize((Quat){1.0, -1.0, 0.0, 0.0});
    join(&lab, JOINT_HINGE, as_rows, JOINT_NO_BODY, CUBE,
         pose_compose(cube, (Pose){vec3(-HALF, 0.0, -HALF), across}));
    lab_step(&lab, 600);
    double squares = 0.0;
    for (int i = 0; i < SIDE; i++) {
        const double x = (i + 0.5) / SIDE;
        squares += x * x / SIDE;
    }
    // m g (cos a - sin a)/2 = K squares sin a cos a, the cube's way over the edge along
    double a = wanted_depth(kind, MASS) > 0.0 ? MASS * GRAVITY * HALF / (stiffness * squares) : 0.0;
    for (int i = 0; i < 5 && a > 0.0; i++) {
        a = asin(MASS * GRAVITY * HALF * (cos(a) - sin(a)) / (stiffness * squares * cos(a)));
    }
    ck_assert_double_eq_tol(fabs(lab.world->joint_position[0]), a, 5e-5);
    ck_assert(sleeps(&lab, CUBE));
    lab_destroy(&lab);
}
END_TEST

static TCase *case_foundation(void) {
    TCase *tcase = tcase_create("foundation");
    tcase_set_timeout(tcase, 60);
    tcase_add_loop_test(tcase, it_rests_sleeps_and_wakes_and_a_twin_that_is_restored_does_too, 0,
                        2 * SOLVER_COUNT);
    tcase_add_loop_test(tcase, it_falls_when_its_ground_goes, 0, 3 * SOLVER_COUNT);
    tcase_add_loop_test(tcase, it_goes_on_under_another_solver, 0, SOLVER_COUNT);
    tcase_add_loop_test(tcase, what_is_fixed_to_it_stands_on_it_too, 0, 4 * SOLVER_COUNT);
    tcase_add_loop_test(tcase, it_leans_on_its_cells_from_a_hinge, 0, 4 * SOLVER_COUNT);
    return tcase;
}

SUITE_MAIN("step/foundation_company", case_foundation)
