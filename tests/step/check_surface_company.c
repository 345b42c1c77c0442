// SPDX-License-Identifier: MIT
// Surfaces of triangles beside all else that a world has: sleep, what is removed and what leaves
// the bounds, joints, every solver, planes of the start of a step, elastic foundations. Against
// closed forms and against a plane, all of it turned as no axis is.
#include "step/snapshot/snapshot.h"
#include "step/step.h"

#include "support/leaning_lab.h"
#include "support/suite.h"
#include "support/surface_build.h"
#include "world/sleep.h"

#include <math.h>
#include <string.h>

enum { HERTZ = 240 };

static const Vec3 none = {0.0, 0.0, 0.0};

// What lies where z = 0.
typedef enum Ground { GROUND_PLANE, GROUND_MESH, GROUND_FIELD, GROUND_COUNT } Ground;

static Id ground_shape(Lab *lab, Ground ground, Id material) {
    switch (ground) {
    case GROUND_MESH:
        return surface_floor(lab, 0.0, material);
    case GROUND_FIELD:
        return surface_slope(lab, 0.0, material);
    case GROUND_PLANE:
    case GROUND_COUNT:
        break;
    }
    return lab_shape(lab, PRIMITIVE_PLANE, none, material);
}

static uint32_t lay(Lab *lab, Ground ground, Id material) {
    return lab_body(lab, ground_shape(lab, ground, material), BODY_STATIC,
                    placed(none, quat_identity()), NULL, 0.0, NULL);
}

static uint32_t add(Lab *lab, Id shape, Vec3 at, Quat turn, Vec3 velocity) {
    const Vec3 v = turned(velocity);
    const double twist[6] = {v.x, v.y, v.z, 0.0, 0.0, 0.0};
    return lab_body(lab, shape, BODY_DYNAMIC, placed(at, turn), twist, 0.0, NULL);
}

static const Vec3 brick_half = {0.2, 0.15, 0.1};

static uint32_t add_brick(Lab *lab, Id material, Vec3 at, Vec3 velocity) {
    return add(lab, lab_shape(lab, PRIMITIVE_BOX, brick_half, material), at,
               quat_normalize((Quat){1.0, 0.0, 0.0, 0.2}), velocity);
}

static void choose_solver(Lab *lab, SolverKind kind) {
    const SolverSettings solver = solver_default(kind);
    step_set_solver(&lab->world->settings, &solver);
}

static void let_sleep(Lab *lab) {
    WorldSettings settings = lab->world->settings;
    settings.sleep_speed = 0.05;
    world_set_settings(lab->world, &settings);
}

// What falls freely from rest has come as far after so many steps, whose first gives it its speed.
static double fallen(int steps) {
    return 0.5 * gravity * steps * (steps + 1.0) / ((double)HERTZ * HERTZ);
}

// ---- sleep, and who goes

typedef struct Camp {
    Lab lab;
    uint32_t ground, brick, upper, other; // upper lies on brick, other beside them
} Camp;

static Camp open_camp(Ground ground) {
    Camp camp = {.lab = leaning_lab(0.0, HERTZ)};
    let_sleep(&camp.lab);
    const Id material = lab_material(&camp.lab, 0.5, 0.0);
    camp.ground = lay(&camp.lab, ground, material);
    camp.brick = add_brick(&camp.lab, material, vec3(0.3, 0.2, 0.1), none);
    camp.upper = add_brick(&camp.lab, material, vec3(0.3, 0.2, 0.3), none);
    camp.other = add_brick(&camp.lab, material, vec3(-1.5, 0.2, 0.1), none);
    lab_step(&camp.lab, 3 * HERTZ);
    ck_assert_uint_eq(camp.lab.report.asleep_count, 3);
    return camp;
}

START_TEST(what_lies_on_it_sleeps_to_the_bit) {
    Camp camp = open_camp((Ground)_i);
    Lab *lab = &camp.lab;
    const size_t count = 7 * (size_t)lab->world->body_count * sizeof(double);
    double pose[7 * 4];
    memcpy(pose, lab->world->pose, count);
    lab_step(lab, HERTZ);
    ck_assert_mem_eq(pose, lab->world->pose, count);
    ck_assert_uint_eq(lab->report.contact_count, 0);

    // who is woken lies where it lay: it has not sunk, nor does it slide
    sleep_wake_all(lab->world);
    lab_step(lab, HERTZ / 4);
    for (uint32_t i = 0; i < 7 * lab->world->body_count; i++) {
        ck_assert_double_eq_tol(lab->world->pose[i], pose[i], 1e-6);
    }
    lab_destroy(lab);
}
END_TEST

// Asleep in its own snapshot, too, and from there on to the same bits.
START_TEST(sleepers_on_it_are_taken_along_by_a_snapshot) {
    Camp camp = open_camp((Ground)_i);
    Lab *lab = &camp.lab;
    World *copy = lab_copy(lab), *past = lab->world;
    ck_assert_uint_eq(sleep_count(copy), 3);
    sleep_wake_all(lab->world);
    lab_step(lab, 20);
    const uint64_t hash = snapshot_hash(lab->world);
    lab->world = copy;
    lab_restore(lab);
    sleep_wake_all(lab->world);
    lab_step(lab, 20);
    ck_assert_uint_eq(snapshot_hash(lab->world), hash);
    world_destroy(past);
    lab_destroy(lab);
}
END_TEST

// All that lay on it fall freely.
START_TEST(whose_ground_is_removed_wakes_and_falls) {
    Camp camp = open_camp((Ground)_i);
    Lab *lab = &camp.lab;
    const double before = seen_position(lab, camp.other).z;
    world_remove_bodies(lab->world, &camp.ground, 1);
    enum { STEPS = 60 };
    lab_step(lab, STEPS);
    ck_assert_uint_eq(lab->report.asleep_count, 0);
    ck_assert_double_eq_tol(seen_position(lab, camp.other - 1).z, before - fallen(STEPS), 1e-9);
    lab_destroy(lab);
}
END_TEST

// Of two islands one wakes.
START_TEST(who_is_removed_from_it_wakes_its_own) {
    Camp camp = open_camp((Ground)_i);
    Lab *lab = &camp.lab;
    world_remove_bodies(lab->world, &camp.brick, 1);
    lab_step(lab, 1);
    ck_assert_uint_eq(lab->report.asleep_count, 1);
    ck_assert(!sleep_is_asleep(lab->world, camp.upper - 1));
    lab_step(lab, 2 * HERTZ); // what lay on it has fallen onto the ground, and sleeps again
    ck_assert_double_eq_tol(seen_position(lab, camp.upper - 1).z, brick_half.z, 1e-3);
    ck_assert_uint_eq(lab->report.asleep_count, 2);
    lab_destroy(lab);
}
END_TEST

// Ground that is put lower leaves them where they were; they fall after it and rest on it.
START_TEST(whose_ground_is_moved_wakes) {
    Camp camp = open_camp((Ground)_i);
    Lab *lab = &camp.lab;
    const double lower = 0.2;
    double pose[7];
    pose_store(pose, placed(vec3(0.1, 0.05, -lower), quat_identity()));
    const BodyUpdate update = {.count = 1, .id = &lab->world->body_id[camp.ground], .pose = pose};
    Error error = {0};
    ck_assert_int_eq(world_update_bodies(lab->world, &update, &error), STATUS_OK);
    lab_step(lab, 1);
    ck_assert_uint_eq(lab->report.asleep_count, 0);
    lab_step(lab, 3 * HERTZ);
    ck_assert_double_eq_tol(seen_position(lab, camp.other).z, brick_half.z - lower, 1e-3);
    ck_assert_uint_eq(lab->report.asleep_count, 3);
    lab_destroy(lab);
}
END_TEST

// Over the rim of a floor of 10 m by 10 m and down, out of the bounds, while another stays.
START_TEST(who_leaves_it_leaves_the_bounds) {
    const Ground ground = _i == 0 ? GROUND_MESH : GROUND_FIELD;
    Lab lab = leaning_lab(0.0, HERTZ);
    const Id material = lab_material(&lab, 0.0, 0.0);
    lay(&lab, ground, material);
    WorldSettings settings = lab.world->settings;
    const Vec3 reach = vec3(9.0, 9.0, 9.0);
    settings.has_bounds = true;
    settings.bounds_lower = vec3_sub(base_pose().position, reach);
    settings.bounds_upper = vec3_add(base_pose().position, reach);
    world_set_settings(lab.world, &settings);
    const uint32_t stays = add_brick(&lab, material, vec3(0.0, 0.0, 0.1), none);
    add_brick(&lab, material, vec3(0.0, 3.5, 0.1), vec3(0.0, 4.0, 0.0));
    int steps = 0;
    do {
        lab_step(&lab, 1);
        ck_assert_int_lt(++steps, 4 * HERTZ);
    } while (lab.report.removed_count == 0);
    ck_assert_uint_eq(lab.world->body_count, 2);
    lab_step(&lab, HERTZ);
    ck_assert_double_le(vec3_norm(vec3_sub(seen_position(&lab, stays), vec3(0, 0, 0.1))), 1e-6);
    lab_destroy(&lab);
}
END_TEST

// ---- what is solid

// Deeper below the field than it is thick, upright as well as turned: as deep as the field is wide
// all is solid, and below that nothing is.
START_TEST(what_is_solid_is_as_deep_as_it_is_wide) {
    const bool is_turned = _i % 2 != 0, is_in_it = _i < 2;
    const double depth = is_in_it ? 10.0 : 20.0; // 12 m by 12 m have a diagonal of 17 m
    Lab lab = leaning_lab(0.0, HERTZ);
    const Pose base = is_turned ? base_pose() : (Pose){none, quat_identity()};
    lab.world->settings.gravity = none;
    const Id material = lab_material(&lab, 0.5, 0.0);
    lab_body(&lab, surface_slope(&lab, 0.0, material), BODY_STATIC, base, NULL, 0.0, NULL);
    const uint32_t brick = lab_body(
        &lab, lab_shape(&lab, PRIMITIVE_BOX, brick_half, material), BODY_DYNAMIC,
        pose_compose(base, (Pose){vec3(0.1, 0.2, -depth), quat_identity()}), NULL, 0.0, NULL);
    lab_step(&lab, 10);
    const Vec3 up = quat_rotate(base.orientation, vec3(0.0, 0.0, 1.0));
    const double speed = vec3_dot(lab_velocity(&lab, brick), up);
    if (is_in_it) {
        ck_assert_double_gt(speed, 0.1);
    } else {
        ck_assert_double_eq(speed, 0.0);
    }
    lab_destroy(&lab);
}
END_TEST

// ---- every solver; planes of the start, and substeps

enum { WAYS = 3 * SOLVER_COUNT };

static void choose_way(Lab *lab, int way) {
    choose_solver(lab, (SolverKind)(way % SOLVER_COUNT));
    lab_set(lab, "tolerance", 1e-12);
    lab->world->settings.contact_plane =
        way / SOLVER_COUNT == 1 ? CONTACT_PLANE_START : CONTACT_PLANE_APPROACH;
    lab_divide(lab, way / SOLVER_COUNT == 2 ? 4 : 1);
}

// Down a plane whose angle's sine is 0.6 with g (0.6 - 0.2 · 0.8), where the solver's law is
// Coulomb's: lcp's cone has edges, and what is soft creeps; and as on the plane under all.
START_TEST(what_slides_goes_as_on_a_plane_under_every_solver) {
    const double friction = 0.2, sine = 0.6, cosine = 0.8;
    Vec3 at[GROUND_COUNT], velocity[GROUND_COUNT];
    enum { STEPS = 120 };
    for (int k = 0; k < GROUND_COUNT; k++) {
        Lab lab = leaning_lab(sine, HERTZ);
        choose_way(&lab, _i);
        const Id material = lab_material(&lab, friction, 0.0);
        lay(&lab, (Ground)k, material);
        const uint32_t brick = add_brick(&lab, material, vec3(0.15, -1.2, 0.1), none);
        lab_step(&lab, STEPS);
        at[k] = seen_position(&lab, brick);
        velocity[k] = seen(lab_velocity(&lab, brick));
        lab_destroy(&lab);
    }
    const SolverKind kind = (SolverKind)(_i % SOLVER_COUNT);
    if (kind == SOLVER_MDP) {
        const double speed = gravity * (sine - friction * cosine) * STEPS / HERTZ;
        ck_assert_double_le(vec3_norm(vec3_sub(velocity[0], vec3(0.0, speed, 0.0))), 1e-8);
    }
    ck_assert_double_gt(velocity[0].y, 1.0);
    // sap ends with a step of Newton's that a rounding may ask for, or not: 4e-10 m, in one step
    const double slack = kind == SOLVER_SAP ? 1e-6 : 1e-9;
    for (int k = 1; k < GROUND_COUNT; k++) {
        ck_assert_double_le(vec3_norm(vec3_sub(at[k], at[0])), 1e-9);
        ck_assert_double_le(vec3_norm(vec3_sub(velocity[k], velocity[0])), slack);
    }
}
END_TEST

// tan of the angle is 0.75, and friction 0.9 holds it; sap and compliant creep, as on a plane.
START_TEST(what_sticks_stays_under_every_solver) {
    Vec3 at[GROUND_COUNT];
    const Vec3 from = vec3(0.15, -1.2, 0.1);
    for (int k = 0; k < GROUND_COUNT; k++) {
        Lab lab = leaning_lab(0.6, HERTZ);
        choose_way(&lab, _i);
        const Id material = lab_material(&lab, 0.9, 0.0);
        lay(&lab, (Ground)k, material);
        const uint32_t brick = add_brick(&lab, material, from, none);
        lab_step(&lab, HERTZ / 2);
        at[k] = seen_position(&lab, brick);
        lab_destroy(&lab);
    }
    if (_i % SOLVER_COUNT == SOLVER_MDP) {
        ck_assert_double_le(vec3_norm(vec3_sub(at[0], from)), 1e-6);
    }
    ck_assert_double_le(vec3_norm(vec3_sub(at[1], at[0])), 1e-9);
    ck_assert_double_le(vec3_norm(vec3_sub(at[2], at[0])), 1e-9);
}
END_TEST

// In the hollow of two slopes of 45 degrees a ball rests on both, and its weight is on each m g/√2.
START_TEST(a_ball_rests_in_a_hollow_under_every_solver) {
    static const Vec3 point[6] = {{-1.0, -1.0, 1.0}, {0.0, -1.0, 0.0}, {1.0, -1.0, 1.0},
                                  {-1.0, 1.0, 1.0},  {0.0, 1.0, 0.0},  {1.0, 1.0, 1.0}};
    static const uint32_t corner[12] = {0, 1, 4, 0, 4, 3, 1, 2, 5, 1, 5, 4};
    const MeshForm form = {point, 6, corner, 4, false, NULL};
    const double radius = 0.2;
    Lab lab = leaning_lab(0.0, HERTZ);
    choose_way(&lab, _i);
    const Id material = lab_material(&lab, 0.0, 0.0); // what rubs might bear it as well
    lab_body(&lab, lab_mesh(&lab, &form, material), BODY_STATIC, placed(none, quat_identity()),
             NULL, 0.0, NULL);
    const uint32_t ball = add(&lab, lab_shape(&lab, PRIMITIVE_SPHERE, vec3(radius, 0, 0), material),
                              vec3(0.0, 0.1, radius * sqrt(2.0)), quat_identity(), none);
    lab_step(&lab, HERTZ / 2);
    const double weight = lab.world->mass[ball].mass * gravity / HERTZ;
    ck_assert_uint_eq(lab.stepper->contact_count, 2);
    const bool is_soft = _i % SOLVER_COUNT == SOLVER_SAP || _i % SOLVER_COUNT == SOLVER_COMPLIANT;
    const double slack = is_soft ? 1e-3 : 1e-6; // what is soft gives by its weight, and settles
    for (uint32_t i = 0; i < 2; i++) {
        ck_assert_double_eq_tol(lab.stepper->impulse[3 * i], weight / sqrt(2.0), slack * weight);
    }
    ck_assert_double_le(
        vec3_norm(vec3_sub(seen_position(&lab, ball), vec3(0.0, 0.1, radius * sqrt(2.0)))), slack);
    lab_destroy(&lab);
}
END_TEST

// ---- joints

// A trunk with a head and four limbs of capsules, on ball joints with limits.
enum { DOLL_PARTS = 6 };

static void add_doll(Lab *lab, Id material, Pose at, bool as_rows, uint32_t part[DOLL_PARTS]) {
    static const Vec3 place[DOLL_PARTS] = {{0, 0, 0},     {0, 0, 0.45},      {-0.3, 0, 0.2},
                                           {0.3, 0, 0.2}, {-0.12, 0, -0.55}, {0.12, 0, -0.55}};
    static const Vec3 hold[DOLL_PARTS] = {{0, 0, 0},     {0, 0, 0.3},      {-0.2, 0, 0.2},
                                          {0.2, 0, 0.2}, {-0.12, 0, -0.3}, {0.12, 0, -0.3}};
    const Id trunk = lab_shape(lab, PRIMITIVE_BOX, vec3(0.18, 0.1, 0.28), material);
    const Id head = lab_shape(lab, PRIMITIVE_SPHERE, vec3(0.12, 0, 0), material);
    const Id limb = lab_shape(lab, PRIMITIVE_CAPSULE, vec3(0.06, 0.15, 0), material);
    for (int i = 0; i < DOLL_PARTS; i++) {
        const Pose pose = pose_compose(at, (Pose){place[i], quat_identity()});
        part[i] = add(lab,
                      i == 0   ? trunk
                      : i == 1 ? head
                               : limb,
                      pose.position, pose.orientation, none);
    }
    for (int i = 1; i < DOLL_PARTS; i++) {
        double frame_a[7], frame_b[7];
        pose_store(frame_a, (Pose){hold[i], quat_identity()});
        pose_store(frame_b, (Pose){vec3_sub(hold[i], place[i]), quat_identity()});
        static const double low[3] = {-0.8, -0.8, -0.8}, high[3] = {0.8, 0.8, 0.8};
        static const double damping[3] = {0.5, 0.5, 0.5};
        const JointColumns columns = {.count = 1,
                                      .axis_count = 3,
                                      .position_count = 4,
                                      .kind = (const uint32_t[]){JOINT_BALL},
                                      .body_a = &lab->world->body_id[part[0]],
                                      .body_b = &lab->world->body_id[part[i]],
                                      .as_rows = (const uint32_t[]){as_rows},
                                      .frame_a = frame_a,
                                      .frame_b = frame_b,
                                      .low = low,
                                      .high = high,
                                      .damping = damping};
        lab_joints(lab, &columns);
    }
}

static Vec3 center_of(const Lab *lab, const uint32_t part[DOLL_PARTS]) {
    Vec3 sum = none;
    double mass = 0.0;
    for (int i = 0; i < DOLL_PARTS; i++) {
        const double own = lab->world->mass[part[i]].mass;
        sum = vec3_add_scaled(sum, own, seen_position(lab, part[i]));
        mass += own;
    }
    return vec3_scale(1.0 / mass, sum);
}

// Dropped onto it askew, it lies as on a plane, by planes of the start of the step: those of the
// motion are found to 1e-5 of the sizes (collide/approach.h), of a plane otherwise than of
// triangles. What is off by a rounding as it lands grows as it tumbles, past 1e-9 after a fifth of
// a second on the ground.
START_TEST(a_doll_lands_as_on_a_plane) {
    Vec3 at[GROUND_COUNT];
    for (int k = 0; k < GROUND_COUNT; k++) {
        Lab lab = leaning_lab(0.0, HERTZ);
        lab_set(&lab, "tolerance", 1e-12);
        lab.world->settings.contact_plane = CONTACT_PLANE_START;
        const Id material = lab_material(&lab, 0.3, 0.0);
        uint32_t part[DOLL_PARTS];
        lay(&lab, (Ground)k, material);
        const Quat askew = quat_normalize((Quat){0.6, 0.7, 0.2, 0.1});
        add_doll(&lab, material, (Pose){vec3(0.1, 0.2, 0.6), askew}, _i != 0, part);
        lab_step(&lab, 86);
        at[k] = center_of(&lab, part);
        ck_assert_uint_gt(lab.report.contact_count, 2);
        lab_destroy(&lab);
    }
    const double slack = _i == 0 ? 1e-9 : 1e-7; // rows: a solve of more is coarser
    ck_assert_double_le(vec3_norm(vec3_sub(at[1], at[0])), slack);
    ck_assert_double_le(vec3_norm(vec3_sub(at[2], at[0])), slack);
}
END_TEST

// It comes to rest, the ground bears its weight, and it sleeps.
START_TEST(a_doll_rests_on_hills) {
    Lab lab = leaning_lab(0.0, HERTZ);
    const Id material = lab_material(&lab, 0.8, 0.0);
    uint32_t part[DOLL_PARTS];
    lab_body(&lab, surface_floor(&lab, 0.02, material), BODY_STATIC, placed(none, quat_identity()),
             NULL, 0.0, NULL);
    const Quat askew = quat_normalize((Quat){0.6, 0.7, 0.2, 0.1});
    add_doll(&lab, material, (Pose){vec3(0.1, 0.2, 0.6), askew}, _i != 0, part);
    lab_step(&lab, 8 * HERTZ);
    Vec3 borne = none;
    double mass = 0.0;
    for (uint32_t i = 0; i < lab.stepper->contact_count; i++) {
        const ProblemContact *of = &lab.stepper->problem.contact[i];
        const double *p = lab.stepper->impulse + 3 * (size_t)i;
        if (lab.stepper->contact[i].a == 0) { // of the ground, whose number is the least
            borne = vec3_add_scaled(borne, p[0], of->normal);
            borne = vec3_add_scaled(borne, p[1], of->tangent[0]);
            borne = vec3_add_scaled(borne, p[2], of->tangent[1]);
        }
    }
    for (int i = 0; i < DOLL_PARTS; i++) {
        mass += lab.world->mass[part[i]].mass;
    }
    const double weight = mass * gravity / HERTZ;
    ck_assert_double_le(vec3_norm(vec3_sub(seen(borne), vec3(0.0, 0.0, weight))), 1e-3 * weight);
    let_sleep(&lab);
    lab_step(&lab, 2 * HERTZ);
    ck_assert_uint_eq(lab.report.asleep_count, DOLL_PARTS);
    lab_destroy(&lab);
}
END_TEST

// A pendulum whose hinge is on a mesh that moves swings in its axes as on ground that stands still.
START_TEST(what_hangs_on_a_moving_surface_hangs_as_on_one_at_rest) {
    double angle[2];
    for (int k = 0; k < 2; k++) {
        Lab lab = leaning_lab(0.0, HERTZ);
        const Id material = lab_material(&lab, 0.5, 0.0);
        const Vec3 v = turned(vec3(0.3 * k, 0.2 * k, 0.0));
        const double twist[6] = {v.x, v.y, v.z, 0.0, 0.0, 0.0};
        const uint32_t ground = lab_body(&lab, surface_floor(&lab, 0.02, material), BODY_KINEMATIC,
                                         placed(none, quat_identity()), twist, 0.0, NULL);
        const uint32_t bob = add(&lab, lab_shape(&lab, PRIMITIVE_SPHERE, vec3(0.1, 0, 0), material),
                                 vec3(0.7, 0.0, 1.5), quat_identity(), vec3(0.3 * k, 0.2 * k, 0.0));
        double frame_a[7], frame_b[7];
        const double half = sqrt(0.5); // z of the frames is y of the ground
        pose_store(frame_a, (Pose){vec3(0.0, 0.0, 1.5), {half, -half, 0.0, 0.0}});
        pose_store(frame_b, (Pose){vec3(-0.7, 0.0, 0.0), {half, -half, 0.0, 0.0}});
        const JointColumns columns = {.count = 1,
                                      .axis_count = 1,
                                      .position_count = 1,
                                      .kind = (const uint32_t[]){JOINT_HINGE},
                                      .body_a = &lab.world->body_id[ground],
                                      .body_b = &lab.world->body_id[bob],
                                      .frame_a = frame_a,
                                      .frame_b = frame_b};
        lab_joints(&lab, &columns);
        lab_step(&lab, HERTZ);
        angle[k] = lab.world->joint_position[0];
        lab_destroy(&lab);
    }
    ck_assert_double_gt(fabs(angle[0]), 0.5);
    ck_assert_double_eq_tol(angle[0], angle[1], 1e-9);
}
END_TEST

// ---- foundations

// A face of springs meets planes and boxes; a surface sees its corners, as of any box.
START_TEST(a_foundation_stands_on_its_corners) {
    Vec3 at[2];
    for (int k = 0; k < 2; k++) {
        Lab lab = leaning_lab(0.6, HERTZ);
        lab_set(&lab, "tolerance", 1e-12);
        const Id material = lab_material(&lab, 0.2, 0.0);
        lay(&lab, GROUND_MESH, material);
        const uint32_t kind[1] = {PRIMITIVE_BOX}, cells[2] = {3, 4};
        const uint32_t face[1] = {k == 0 ? 0 : 6}; // the side of -z
        const double size[3] = {0.2, 0.15, 0.1}, modulus[1] = {1e6}, depth[1] = {0.01};
        const ShapeColumns columns = {.shape_count = 1,
                                      .primitive_count = 1,
                                      .kind = kind,
                                      .size = size,
                                      .material = &material,
                                      .foundation_face = face,
                                      .foundation_cells = cells,
                                      .foundation_modulus = modulus,
                                      .foundation_depth = depth};
        Id shape;
        Error error = {0};
        ck_assert_int_eq(world_add_shapes(lab.world, &columns, &shape, &error), STATUS_OK);
        const uint32_t brick = add(&lab, shape, vec3(0.0, 0.0, 0.1), quat_identity(), none);
        lab_step(&lab, HERTZ / 4);
        ck_assert_uint_eq(lab.report.contact_count, 4);
        at[k] = seen_position(&lab, brick);
        lab_destroy(&lab);
    }
    ck_assert_double_le(vec3_norm(vec3_sub(at[0], at[1])), 0.0);
}
END_TEST

static TCase *case_rest(void) {
    TCase *tcase = tcase_create("rest");
    tcase_set_timeout(tcase, 120.0);
    tcase_add_loop_test(tcase, what_lies_on_it_sleeps_to_the_bit, 0, GROUND_COUNT);
    tcase_add_loop_test(tcase, sleepers_on_it_are_taken_along_by_a_snapshot, 0, GROUND_COUNT);
    tcase_add_loop_test(tcase, whose_ground_is_removed_wakes_and_falls, 0, GROUND_COUNT);
    tcase_add_loop_test(tcase, who_is_removed_from_it_wakes_its_own, 0, GROUND_COUNT);
    tcase_add_loop_test(tcase, whose_ground_is_moved_wakes, 0, GROUND_COUNT);
    tcase_add_loop_test(tcase, who_leaves_it_leaves_the_bounds, 0, 2);
    tcase_add_loop_test(tcase, what_is_solid_is_as_deep_as_it_is_wide, 0, 4);
    return tcase;
}

static TCase *case_motion(void) {
    TCase *tcase = tcase_create("motion");
    tcase_set_timeout(tcase, 120.0);
    tcase_add_loop_test(tcase, what_slides_goes_as_on_a_plane_under_every_solver, 0, WAYS);
    tcase_add_loop_test(tcase, what_sticks_stays_under_every_solver, 0, WAYS);
    tcase_add_loop_test(tcase, a_ball_rests_in_a_hollow_under_every_solver, 0, WAYS);
    tcase_add_loop_test(tcase, a_doll_lands_as_on_a_plane, 0, 2);
    tcase_add_loop_test(tcase, a_doll_rests_on_hills, 0, 2);
    tcase_add_test(tcase, what_hangs_on_a_moving_surface_hangs_as_on_one_at_rest);
    tcase_add_test(tcase, a_foundation_stands_on_its_corners);
    return tcase;
}

SUITE_MAIN("step/surface_company", case_rest, case_motion)
