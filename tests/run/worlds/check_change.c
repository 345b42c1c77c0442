// SPDX-License-Identifier: MIT
// Masses, materials and what joints are like, changed in a live world: it goes on as a world that
// was made with these numbers, bit for bit, whatever its stepper remembers; what is refused names
// its field and has changed nothing.
#include "run/worlds/apply.h"
#include "step/joints/wrenches.h"
#include "step/snapshot/snapshot.h"
#include "step/snapshot/compare.h"
#include "support/lab.h"
#include "support/suite.h"
#include "world/sleep.h"

#include <math.h>
#include <string.h>

#define I(...) ((const uint64_t[]){__VA_ARGS__})
#define D(...) ((const double[]){__VA_ARGS__})
#define U(...) ((const uint32_t[]){__VA_ARGS__})

// ---- a world: three stacked cubes of two materials on the ground, a pendulum of two links that
// swings into them, driven, and a distance and a limited slider of rows

typedef struct Numbers {
    double mass[2];    // of the second cube and the second link
    double inertia[6]; // of both
    double friction, restitution, stiffness, damping, exponent;
    double low, high, spring, drive, effort_max, dry, armature, stall, speed, lag, delay;
    uint64_t material; // of the third cube
} Numbers;

static const Numbers old_numbers = {{8.0, 1.0}, {0.05, 0.05, 0.05, 0, 0, 0},
                                    0.5,        0.0,
                                    1e5,        0.0,
                                    1.0,        -2.0,
                                    2.0,        0.0,
                                    0.0,        HUGE_VAL,
                                    0.0,        0.0,
                                    0.0,        0.0,
                                    0.0,        0.0,
                                    0};
static const Numbers new_numbers = {{3.0, 2.5}, {0.03, 0.03, 0.04, 0.001, 0, 0},
                                    0.15,       0.4,
                                    2e5,        50.0,
                                    1.5,        -0.4,
                                    0.3,        7.0,
                                    20.0,       3.0,
                                    0.1,        0.02,
                                    4.0,        6.0,
                                    0.05,       3.0,
                                    1};

static Pose at(double x, double y, double z) {
    return (Pose){.position = vec3(x, y, z), .orientation = quat_identity()};
}

static void add_materials(Lab *lab, const Numbers *numbers) {
    Material materials[2] = {material_default(), material_default()};
    materials[0].friction = 0.3;
    materials[1].friction = numbers->friction;
    materials[1].restitution = numbers->restitution;
    materials[1].stiffness = numbers->stiffness;
    materials[1].dissipation_time = 0.01;
    materials[1].damping = numbers->damping;
    materials[1].hertz_exponent = numbers->exponent;
    Id ids[2];
    ck_assert_int_eq(world_add_materials(lab->world, materials, 2, ids, NULL), STATUS_OK);
}

static void add_joints(Lab *lab, const Numbers *n) {
    // bodies: 1 ground, 2 … 4 cubes, 5 6 links, 7 a slider's, 8 what hangs on a rope
    const JointColumns columns = {.count = 4,
                                  .axis_count = 3,
                                  .position_count = 3,
                                  .kind = U(JOINT_HINGE, JOINT_HINGE, JOINT_SLIDER, JOINT_DISTANCE),
                                  .body_a = I(0, 5, 0, 0),
                                  .body_b = I(5, 6, 7, 8),
                                  .as_rows = U(0, 0, 1, 1),
                                  .frame_a = D(1, 0, 1.5, 0.5, 0.5, 0.5, 0.5, 0, 0, -0.25, 0.5, 0.5,
                                               0.5, 0.5, 3, 0, 2, 1, 0, 0, 0, 4, 0, 2, 1, 0, 0, 0),
                                  .frame_b = D(0, 0, 0.25, 0.5, 0.5, 0.5, 0.5, 0, 0, 0.25, 0.5, 0.5,
                                               0.5, 0.5, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0),
                                  .length = D(1, 1, 1, 0.6),
                                  .low = D(-HUGE_VAL, n->low, -0.5),
                                  .high = D(HUGE_VAL, n->high, 0.5),
                                  .stiffness = D(0, n->spring, n->spring),
                                  .rest = D(0, 0.1, 0.1),
                                  .damping = D(0, 0.5 * n->spring, 0.1),
                                  .friction = D(0, n->dry, 0.1 * n->dry),
                                  .armature = D(0, n->armature, 0),
                                  .drive_stiffness = D(0, n->drive, 0),
                                  .drive_damping = D(0, 0.1 * n->drive, 0),
                                  .effort_max = D(HUGE_VAL, n->effort_max, HUGE_VAL),
                                  .stall_effort = D(0, n->stall, 0),
                                  .no_load_speed = D(0, n->speed, 0),
                                  .lag_time = D(0, n->lag, 0.5 * n->lag),
                                  .delay_steps = D(0, n->delay, 2 * n->delay),
                                  .target = D(0, 0.2, 0)};
    lab_joints(lab, &columns);
}

static Lab make_lab(const Numbers *n, SolverKind solver, double sleep_speed) {
    Lab lab = lab_create(9.81, 0.004);
    const SolverSettings kind = solver_default(solver);
    WorldSettings settings = lab.world->settings;
    settings.sleep_speed = sleep_speed;
    settings.margin = 0.001;
    step_set_solver(&settings, &kind);
    world_set_settings(lab.world, &settings);
    add_materials(&lab, n);
    lab_ground(&lab, 2);
    for (uint64_t i = 0; i < 3; i++) {
        const Id shape =
            lab_shape(&lab, PRIMITIVE_BOX, vec3(0.1, 0.1, 0.1), i == 2 ? n->material : 2);
        lab_body(&lab, shape, BODY_DYNAMIC, at(0.0, 0.01 * (double)i, 0.1 + 0.2 * (double)i), NULL,
                 i == 1 ? n->mass[0] : 8.0, i == 1 ? n->inertia : old_numbers.inertia);
    }
    const Id bob = lab_shape(&lab, PRIMITIVE_SPHERE, vec3(0.05, 0, 0), 1);
    for (int i = 0; i < 4; i++) {
        static const double place[4][3] = {{1, 0, 1.25}, {1, 0, 0.75}, {3, 0, 2}, {4.6, 0, 2}};
        lab_body(&lab, bob, BODY_DYNAMIC, at(place[i][0], place[i][1], place[i][2]), NULL,
                 i == 1 ? n->mass[1] : 1.0, i == 1 ? n->inertia : old_numbers.inertia);
    }
    add_joints(&lab, n);
    return lab;
}

static SetOrder order_of(const Numbers *n) {
    static double mass[2], inertia[12], low[2], high[2], spring[2], damping[2], dry[2], armature[2],
        drive[2], drive_damping[2], effort_max[2], stall[2], speed[2], lag[2], delay[2],
        material[5];
    static const uint64_t bodies[2] = {3, 6}, joints[2] = {2, 3}, materials[1] = {2},
                          shapes[1] = {4};
    static uint64_t of_shape[1];
    memcpy(mass, n->mass, sizeof(mass));
    memcpy(inertia, n->inertia, sizeof(n->inertia));
    memcpy(inertia + 6, n->inertia, sizeof(n->inertia));
    low[0] = n->low, low[1] = -0.5;
    high[0] = n->high, high[1] = 0.5;
    spring[0] = spring[1] = n->spring;
    damping[0] = 0.5 * n->spring, damping[1] = 0.1;
    dry[0] = n->dry, dry[1] = 0.1 * n->dry;
    armature[0] = n->armature;
    drive[0] = n->drive;
    drive_damping[0] = 0.1 * n->drive;
    effort_max[0] = n->effort_max, effort_max[1] = HUGE_VAL;
    stall[0] = n->stall, speed[0] = n->speed;
    lag[0] = n->lag, lag[1] = 0.5 * n->lag;
    delay[0] = n->delay, delay[1] = 2 * n->delay;
    material[0] = n->friction, material[1] = n->restitution, material[2] = n->stiffness;
    material[3] = n->damping, material[4] = n->exponent;
    of_shape[0] = n->material;
    SetOrder order = {
        .update = {.count = 2, .id = bodies, .mass = mass, .inertia = inertia},
        .joints = {.count = 2, .id = joints, .axis_count = 2},
        .materials = {.count = 1,
                      .id = materials,
                      .friction = material,
                      .restitution = material + 1,
                      .stiffness = material + 2,
                      .damping = material + 3,
                      .hertz_exponent = material + 4},
        .shapes = {.count = 1, .id = shapes, .primitive_count = 1, .material = of_shape}};
    const double *const numbers[JOINT_NUMBER_COUNT] = {
        [JOINT_LOW] = low,
        [JOINT_HIGH] = high,
        [JOINT_STIFFNESS] = spring,
        [JOINT_DAMPING] = damping,
        [JOINT_FRICTION] = dry,
        [JOINT_ARMATURE] = armature,
        [JOINT_DRIVE_STIFFNESS] = drive,
        [JOINT_DRIVE_DAMPING] = drive_damping,
        [JOINT_EFFORT_MAX] = effort_max,
        [JOINT_STALL_EFFORT] = stall,
        [JOINT_NO_LOAD_SPEED] = speed,
        [JOINT_LAG_TIME] = lag,
        [JOINT_DELAY_STEPS] = delay,
    };
    memcpy(order.joints.number, numbers, sizeof(numbers));
    return order;
}

static void change(Lab *lab, const Numbers *numbers) {
    Arena arena;
    Error error = {0};
    arena_init(&arena, 1 << 20);
    const Input input = {.kind = INPUT_SET, .set = order_of(numbers)};
    const Status status =
        apply_change(lab->world, lab->stepper, &input, &arena, NULL, NULL, &error);
    ck_assert_msg(status == STATUS_OK, "%s: %s", error.field, error.message);
    arena_deinit(&arena);
}

static void must_be_same(Lab *a, Lab *b, int step) {
    if (snapshot_hash(a->world) == snapshot_hash(b->world)) {
        return;
    }
    uint8_t *bytes[2];
    size_t count[2];
    SnapshotDifference difference = {0};
    snapshot_write(a->world, &a->scratch, &bytes[0], &count[0], NULL);
    snapshot_write(b->world, &b->scratch, &bytes[1], &count[1], NULL);
    snapshot_compare(bytes[0], count[0], bytes[1], count[1], &difference);
    ck_abort_msg("apart at step %d: %s of body %d: %.17g, %.17g", step, difference.quantity,
                 (int)difference.body, difference.expected, difference.found);
}

static void must_agree(Lab *a, Lab *b, int steps) {
    for (int i = 0; i < steps; i++) {
        must_be_same(a, b, i);
        lab_step(a, 1);
        lab_step(b, 1);
    }
    must_be_same(a, b, steps);
}

enum { BEFORE = 60, AFTER = 120 };

START_TEST(numbers_set_are_numbers_made) {
    const SolverKind solver = (SolverKind)_i;
    Lab made = make_lab(&new_numbers, solver, 0.0), set = make_lab(&old_numbers, solver, 0.0);
    ck_assert_uint_ne(snapshot_hash(made.world), snapshot_hash(set.world));
    change(&set, &new_numbers);
    ck_assert_double_eq(set.world->friction_max, made.world->friction_max);
    must_agree(&made, &set, AFTER);
    lab_destroy(&made);
    lab_destroy(&set);
}
END_TEST

// What the stepper remembers from before must not show: it is a snapshot's world beside it, changed
// or about to be, that tells.
START_TEST(a_world_changed_on_its_way_goes_on_as_one_restored) {
    const double sleep_speed = _i == 0 ? 0.0 : 0.05;
    Lab lab = make_lab(&old_numbers, SOLVER_MDP, sleep_speed);
    lab_step(&lab, BEFORE);
    const uint64_t before = snapshot_hash(lab.world);
    Lab other = lab_create(9.81, 0.004);
    world_destroy(other.world);
    other.world = lab_copy(&lab);
    ck_assert_uint_eq(snapshot_hash(other.world), before);
    change(&lab, &new_numbers);
    change(&other, &new_numbers);
    ck_assert_uint_ne(snapshot_hash(lab.world), before);
    must_agree(&lab, &other, AFTER / 2);
    world_destroy(other.world);
    other.world = lab_copy(&lab);
    stepper_reset(other.stepper);
    must_agree(&lab, &other, AFTER / 2);
    lab_destroy(&lab);
    lab_destroy(&other);
}
END_TEST

// Each alone, once the hash of the definition is known.
START_TEST(every_change_is_in_the_hash) {
    Lab lab = make_lab(&old_numbers, SOLVER_MDP, 0.0);
    const uint64_t before = snapshot_hash(lab.world);
    const BodyUpdate masses[2] = {{.count = 1, .id = I(3), .mass = D(9)},
                                  {.count = 1, .id = I(3), .inertia = D(1, 1, 1, 0, 0, 0)}};
    const JointUpdate joint = {
        .count = 1, .id = I(2), .axis_count = 1, .number[JOINT_REST] = D(0.4)};
    const MaterialUpdate material = {.count = 1, .id = I(1), .friction = D(0.9)};
    const ShapeUpdate shape = {.count = 1, .id = I(2), .primitive_count = 1, .material = I(1)};
    const Status status = _i < 2    ? world_update_bodies(lab.world, &masses[_i], NULL)
                          : _i == 2 ? world_update_joints(lab.world, &joint, NULL)
                          : _i == 3 ? world_update_materials(lab.world, &material, NULL)
                                    : world_update_shapes(lab.world, &shape, NULL);
    ck_assert_int_eq(status, STATUS_OK);
    ck_assert_uint_ne(snapshot_hash(lab.world), before);
    ck_assert_double_eq(lab.world->friction_max, _i == 3 ? 0.9 : 0.5);
    lab_destroy(&lab);
}
END_TEST

START_TEST(an_inertia_goes_with_its_mass) {
    Lab lab = lab_create(0.0, 0.01), made = lab_create(0.0, 0.01);
    const Vec3 half = vec3(0.1, 0.2, 0.3);
    lab_body(&lab, lab_shape(&lab, PRIMITIVE_BOX, half, 0), BODY_DYNAMIC, at(0, 0, 0), NULL, 0.0,
             NULL);
    lab_body(&made, lab_shape(&made, PRIMITIVE_BOX, half, 0), BODY_DYNAMIC, at(0, 0, 0), NULL, 17.0,
             NULL);
    const BodyUpdate update = {.count = 1, .id = I(1), .mass = D(17.0)};
    ck_assert_int_eq(world_update_bodies(lab.world, &update, NULL), STATUS_OK);
    ck_assert_uint_eq(snapshot_hash(lab.world), snapshot_hash(made.world));
    // m (b^2 + c^2) / 3 of half extents
    ck_assert_double_eq_tol(lab.world->mass[0].inertia.xx, 17.0 * (0.04 + 0.09) / 3.0, 1e-14);
    const BodyUpdate back = {
        .count = 1, .id = I(1), .mass = D(17.0), .inertia = D(1, 1, 1, 0, 0, 0)};
    ck_assert_int_eq(world_update_bodies(lab.world, &back, NULL), STATUS_OK);
    ck_assert(lab.world->mass[0].is_round);
    lab_destroy(&lab);
    lab_destroy(&made);
}
END_TEST

// Twice the mass: half of what a push does, in the very next step.
START_TEST(a_push_moves_what_a_body_weighs_now) {
    Lab lab = lab_create(0.0, 0.01);
    const Id ball = lab_shape(&lab, PRIMITIVE_SPHERE, vec3(0.1, 0, 0), 0);
    lab_body(&lab, ball, BODY_DYNAMIC, at(0, 0, 0), NULL, 1.0, NULL);
    const double wrench[6] = {3.0, 0, 0, 0, 0, 0};
    lab_step_pushed(&lab, 0, wrench);
    ck_assert_double_eq_tol(lab_velocity(&lab, 0).x, 0.03, 1e-16);
    const BodyUpdate update = {.count = 1, .id = I(1), .mass = D(2.0)};
    ck_assert_int_eq(world_update_bodies(lab.world, &update, NULL), STATUS_OK);
    lab_step_pushed(&lab, 0, wrench);
    ck_assert_double_eq_tol(lab_velocity(&lab, 0).x, 0.045, 1e-16);
    lab_destroy(&lab);
}
END_TEST

// A pile that sleeps on its friction wakes when there is none any more; a change elsewhere wakes
// only whom it concerns.
START_TEST(who_is_concerned_wakes) {
    Lab lab = lab_create(9.81, 0.004);
    WorldSettings settings = lab.world->settings;
    settings.sleep_speed = 0.05;
    settings.sleep_time = 0.1;
    settings.margin = 0.001;
    settings.gravity = vec3(2.0, 0.0, -9.81); // a slope of 0.2
    world_set_settings(lab.world, &settings);
    const Id material = lab_material(&lab, 0.5, 0.0);
    lab_ground(&lab, material);
    const Id cube = lab_shape(&lab, PRIMITIVE_BOX, vec3(0.1, 0.1, 0.1), material);
    for (int i = 0; i < 2; i++) {
        lab_body(&lab, cube, BODY_DYNAMIC, at(0.0, 2.0 * i, 0.1), NULL, 0.0, NULL);
    }
    lab_step(&lab, 200);
    ck_assert_uint_eq(sleep_count(lab.world), 2);
    const BodyUpdate heavier = {.count = 1, .id = I(2), .mass = D(20.0)};
    ck_assert_int_eq(world_update_bodies(lab.world, &heavier, NULL), STATUS_OK);
    ck_assert_uint_eq(sleep_count(lab.world), 1);
    ck_assert(!sleep_is_asleep(lab.world, 1));
    lab_step(&lab, 200);
    ck_assert_uint_eq(sleep_count(lab.world), 2);
    const MaterialUpdate smooth = {.count = 1, .id = I(material), .friction = D(0.1)};
    ck_assert_int_eq(world_update_materials(lab.world, &smooth, NULL), STATUS_OK);
    ck_assert_uint_eq(sleep_count(lab.world), 0);
    lab_step(&lab, 250); // 1 s
    // mdp: slides with 2 - 0.1 9.81 m/s^2
    ck_assert_double_eq_tol(lab_velocity(&lab, 1).x, 2.0 - 0.981, 1e-6);
    ck_assert_double_eq_tol(lab_velocity(&lab, 2).x, 2.0 - 0.981, 1e-6);
    lab_destroy(&lab);
}
END_TEST

// ---- what is wrong

typedef struct Bad {
    const char *field, *says;
    Status status;
    SetOrder order;
} Bad;

#define BODIES(...)                                                                                \
    {                                                                                              \
        .update = {.count = 1, .id = I(3), __VA_ARGS__ }                                           \
    }
#define MATERIALS(...)                                                                             \
    {                                                                                              \
        .materials = {.count = 1, .id = I(2), __VA_ARGS__ }                                        \
    }
#define AXES(number_, ...)                                                                         \
    {                                                                                              \
        .joints = {.count = 2, .id = I(2, 3), .axis_count = 2, .number[number_] = D(__VA_ARGS__) } \
    }
#define BAD STATUS_INVALID_ARGUMENT

static const Bad bad_orders[] = {
    {"mass[0]", "must be > 0", BAD, BODIES(.mass = D(0.0))},
    {"mass[0]", "not a number", BAD, BODIES(.mass = D(NAN))},
    {"mass[0]", "no finite number", BAD, BODIES(.mass = D(5e-324))},
    {"inertia[0]", "other two", BAD, BODIES(.inertia = D(1, 1, 3, 0, 0, 0))},
    {"inertia[2]", "infinite", BAD, BODIES(.inertia = D(1, 1, HUGE_VAL, 0, 0, 0))},
    {"ids[1]", "is static", BAD, {.update = {.count = 2, .id = I(3, 1), .mass = D(1, 1)}}},
    {"ids[0]", "No body", STATUS_NOT_FOUND, {.update = {.count = 1, .id = I(99), .mass = D(1)}}},
    {"material_friction[0]", "must be >= 0", BAD, MATERIALS(.friction = D(-0.1))},
    {"material_restitution[0]", "<= 1", BAD, MATERIALS(.restitution = D(1.5))},
    {"material_stiffness[0]", "must be > 0", BAD, MATERIALS(.stiffness = D(-1))},
    {"material_dissipation_time[0]", "range", BAD, MATERIALS(.dissipation_time = D(-1))},
    {"material_damping[0]", "not a number", BAD, MATERIALS(.damping = D(NAN))},
    {"material_hertz_exponent[0]", "multiple", BAD, MATERIALS(.hertz_exponent = D(1.7))},
    {"materials[0]", "built-in", BAD, {.materials = {.count = 1, .id = I(0), .friction = D(1)}}},
    {"materials[1]",
     "No material",
     STATUS_NOT_FOUND,
     {.materials = {.count = 2, .id = I(1, 3), .friction = D(1, 1)}}},
    {"shapes[0]",
     "No shape",
     STATUS_NOT_FOUND,
     {.shapes = {.count = 1, .id = I(77), .primitive_count = 1, .material = I(1)}}},
    {"shape_material[0]",
     "No material",
     STATUS_NOT_FOUND,
     {.shapes = {.count = 1, .id = I(2), .primitive_count = 1, .material = I(9)}}},
    {"shape_material",
     "2 primitives",
     BAD,
     {.shapes = {.count = 2, .id = I(2, 3), .primitive_count = 1, .material = I(1)}}},
    {"joint_low[1]", "above", BAD, AXES(JOINT_LOW, -1, 0.6)},
    {"joint_high[0]", "not a number", BAD, AXES(JOINT_HIGH, NAN, 1)},
    {"joint_stiffness[1]", "must be >= 0", BAD, AXES(JOINT_STIFFNESS, 1, -1)},
    {"joint_rest[0]", "infinite", BAD, AXES(JOINT_REST, HUGE_VAL, 0)},
    {"joint_damping[0]", "1e+300", BAD, AXES(JOINT_DAMPING, 1e300, 0)},
    {"joint_friction[1]", "must be >= 0", BAD, AXES(JOINT_FRICTION, 1, -2)},
    {"joint_armature[0]", "must be >= 0", BAD, AXES(JOINT_ARMATURE, -1, 0)},
    {"joint_armature[1]", "coordinates", BAD, AXES(JOINT_ARMATURE, 1, 1)},
    {"joint_drive_stiffness[0]", "1e+300", BAD, AXES(JOINT_DRIVE_STIFFNESS, 1e300, 0)},
    {"joint_drive_damping[1]", "not a number", BAD, AXES(JOINT_DRIVE_DAMPING, 0, NAN)},
    {"joint_effort_max[1]", "must be >= 0", BAD, AXES(JOINT_EFFORT_MAX, 1, -1)},
    {"joint_stall_effort[0]", "must be >= 0", BAD, AXES(JOINT_STALL_EFFORT, -1, 0)},
    {"joint_stall_effort[1]", "coordinates", BAD, AXES(JOINT_STALL_EFFORT, 1, 1)},
    {"joint_no_load_speed[0]", "stall_effort", BAD, AXES(JOINT_NO_LOAD_SPEED, 1, 0)},
    {"joint_lag_time[1]", "must be >= 0", BAD, AXES(JOINT_LAG_TIME, 0, -1)},
    {"joint_delay_steps[0]", "whole", BAD, AXES(JOINT_DELAY_STEPS, 0.5, 0)},
    {"ids[2]", "stands twice", BAD, {.update = {.count = 3, .id = I(4, 3, 4), .mass = D(1, 2, 3)}}},
    {"joints[1]", "stands twice", BAD, {.joints = {.count = 2, .id = I(2, 2)}}},
    {"materials[1]",
     "stands twice",
     BAD,
     {.materials = {.count = 2, .id = I(2, 2), .friction = D(1, 2)}}},
    {"shapes[2]",
     "stands twice",
     BAD,
     {.shapes = {.count = 3, .id = I(3, 2, 3), .primitive_count = 3, .material = I(1, 1, 1)}}},
    {"joints",
     "1 free axes",
     BAD,
     {.joints = {.count = 1, .id = I(2), .axis_count = 2, .number[JOINT_REST] = D(0, 0)}}},
};

// Beside what is good: nothing of it happens either.
static void add_good(SetOrder *order) {
    const SetOrder good = order_of(&new_numbers);
    order->settings = (SettingsChange){.given = CHANGE_TIME_STEP, .value.time_step = 0.001};
    order->update = order->update.count > 0 ? order->update : good.update;
    order->joints = order->joints.count > 0 ? order->joints : good.joints;
    order->materials = order->materials.count > 0 ? order->materials : good.materials;
    order->shapes = order->shapes.count > 0 ? order->shapes : good.shapes;
}

// What a refused input must leave as it was.
typedef struct Before {
    uint64_t hash;
    size_t bytes;
    double wrench[4][6]; // of the joints, in the last step
} Before;

static Before look(Lab *lab) {
    Before before = {0};
    lab->world->definition_is_hashed = false; // it is not told of a change that there was
    before.hash = snapshot_hash(lab->world);
    before.bytes = world_bytes(lab->world);
    ck_assert_int_eq(
        joint_wrenches(lab->stepper, lab->world, &lab->scratch, before.wrench[0], NULL), STATUS_OK);
    return before;
}

static void must_be_refused(const Input *input, Status status, const char *field,
                            const char *says) {
    Lab lab = make_lab(&old_numbers, SOLVER_MDP, 0.05);
    lab_step(&lab, 20);
    const Before before = look(&lab);
    Error error = {0};
    Arena arena;
    arena_init(&arena, 1 << 20);
    ck_assert_int_eq(apply_change(lab.world, lab.stepper, input, &arena, NULL, NULL, &error),
                     status);
    ck_assert_str_eq(error.field, field);
    ck_assert_msg(strstr(error.message, says) != NULL, "%s", error.message);
    const Before after = look(&lab);
    ck_assert_mem_eq(&after, &before, sizeof(before));
    arena_deinit(&arena);
    lab_destroy(&lab);
}

START_TEST(what_is_refused_names_its_field_and_changes_nothing) {
    const Bad *bad = &bad_orders[_i];
    Input input = {.kind = INPUT_SET, .set = bad->order};
    add_good(&input.set);
    must_be_refused(&input, bad->status, bad->field, bad->says);
}
END_TEST

// ---- what is to be added or removed: the first is good, and more than there is room for

enum { MANY = 100 };

typedef struct Lists {
    Material material[MANY];
    double pose[7 * MANY], mass[MANY], inertia[6 * MANY], size[3 * MANY];
    uint32_t kind[MANY];
    uint64_t shape[MANY], body[MANY];
} Lists;

static Lists many;

static void fill_lists(void) {
    for (size_t i = 0; i < MANY; i++) {
        const bool is_last = i == MANY - 1;
        many.material[i] = material_default();
        many.material[i].friction = is_last ? -1.0 : 0.5;
        many.pose[7 * i + 3] = many.mass[i] = 1.0;
        many.inertia[6 * i] = many.inertia[6 * i + 1] = many.inertia[6 * i + 2] = 1.0;
        many.size[3 * i] = is_last ? -1.0 : 1.0;
        many.kind[i] = 0; // a sphere, a dynamic body, a hinge
        many.shape[i] = is_last ? 999 : 0;
        many.body[i] = is_last ? 999 : 5 + i % 4; // which hang already, from the second on
    }
}

static const struct {
    const char *field, *says;
    Status status;
    Input input;
} bad_inputs[] = {
    {"materials[99].friction",
     "must be",
     BAD,
     {.kind = INPUT_MATERIALS, .materials = {.count = MANY, .material = many.material}}},
    {"size[297]",
     "must be",
     BAD,
     {.kind = INPUT_SHAPES,
      .shapes =
          {.shape_count = MANY, .primitive_count = MANY, .kind = many.kind, .size = many.size}}},
    {"shape[99]",
     "No shape",
     STATUS_NOT_FOUND,
     {.kind = INPUT_BODIES,
      .bodies = {.count = MANY,
                 .pose = many.pose,
                 .mass = many.mass,
                 .inertia = many.inertia,
                 .shape = many.shape}}},
    {"body_b[99]",
     "No body",
     STATUS_NOT_FOUND,
     {.kind = INPUT_JOINTS,
      .joints = {.count = MANY,
                 .axis_count = MANY,
                 .position_count = MANY,
                 .kind = many.kind,
                 .body_b = many.body}}},
    {"body_b[1]",
     "hangs by joint",
     BAD,
     {.kind = INPUT_JOINTS,
      .joints = {.count = 2,
                 .axis_count = 2,
                 .position_count = 2,
                 .kind = many.kind,
                 .body_b = I(8, 6)}}},
    {"bodies[1]",
     "No body",
     STATUS_NOT_FOUND,
     {.kind = INPUT_REMOVE, .remove = {.body_count = 2, .body = I(2, 999)}}},
    {"joints[1]",
     "twice",
     BAD,
     {.kind = INPUT_REMOVE, .remove = {.joint_count = 2, .joint = I(1, 1)}}},
    {"geometries[0]",
     "No geometry",
     STATUS_NOT_FOUND,
     {.kind = INPUT_REMOVE, .remove = {.geometry_count = 1, .geometry = I(999)}}},
    {"",
     "no snapshot",
     BAD,
     {.kind = INPUT_RESTORE,
      .restore = {.snapshot = (const uint8_t *)"no snapshot at all", .snapshot_bytes = 18}}},
};

START_TEST(what_cannot_be_added_or_removed_changes_nothing) {
    fill_lists();
    must_be_refused(&bad_inputs[_i].input, bad_inputs[_i].status, bad_inputs[_i].field,
                    bad_inputs[_i].says);
}
END_TEST

// ---- what joints would place where no float tells it

static Status tell(Lab *lab, const Input *input, Error *error) {
    Arena arena;
    arena_init(&arena, 1 << 20);
    *error = (Error){0};
    const Status status = apply_change(lab->world, lab->stepper, input, &arena, NULL, NULL, error);
    arena_deinit(&arena);
    return status;
}

static void must_stay(Lab *lab, const Input *input) {
    lab->world->definition_is_hashed = false;
    const uint64_t hash = snapshot_hash(lab->world);
    const size_t bytes = world_bytes(lab->world);
    Error error;
    ck_assert_int_eq(tell(lab, input, &error), STATUS_FAILED_PRECONDITION);
    ck_assert_msg(strstr(error.message, "3.4e38") != NULL, "%s", error.message);
    lab->world->definition_is_hashed = false;
    ck_assert_uint_eq(snapshot_hash(lab->world), hash);
    ck_assert_uint_eq(world_bytes(lab->world), bytes);
}

static void must_be_taken(Lab *lab, const Input *input) {
    Error error;
    ck_assert_msg(tell(lab, input, &error) == STATUS_OK, "%s", error.message);
    ck_assert_int_eq(world_check_numbers(lab->world, &error), STATUS_OK);
    world_destroy(lab_copy(lab)); // its own snapshot is taken back
}

// Two cubes that are 1e30 m apart, where a step may bring them: a slider of coordinates along that
// line, or leaving all free of rows, tells how one goes by the other, v = w x r. At 1e9 rad/s that
// is 1e39 m/s, at 1e8 rad/s what a float holds.
START_TEST(joints_place_nothing_where_no_float_tells_it) {
    const bool is_rows = _i == 1;
    Lab lab = make_lab(&old_numbers, SOLVER_MDP, 0.05);
    lab_step(&lab, 20);
    lab.world->pose[7 * 2] = 1e30; // of body 3
    const Input joint = {.kind = INPUT_JOINTS,
                         .joints = {.count = 1,
                                    .axis_count = is_rows ? 6 : 1,
                                    .position_count = is_rows ? 7 : 1,
                                    .kind = is_rows ? U(JOINT_FREE) : U(JOINT_SLIDER),
                                    .as_rows = is_rows ? U(1) : U(0),
                                    .frame_a = D(0, 0, 0, sqrt(0.5), 0, sqrt(0.5), 0),
                                    .frame_b = D(0, 0, 0, sqrt(0.5), 0, sqrt(0.5), 0),
                                    .body_a = I(2),
                                    .body_b = I(3)}};
    double spin[6] = {0.0, 0.0, 0.0, 0.0, 0.0, 1e9};
    Input turn = {.kind = INPUT_SET, .set.update = {.count = 1, .id = I(2), .velocity = spin}};
    must_be_taken(&lab, &turn);
    must_stay(&lab, &joint);
    spin[5] = 1e8;
    must_be_taken(&lab, &turn);
    must_be_taken(&lab, &joint);
    spin[5] = 1e9;
    must_stay(&lab, &turn);
    lab_destroy(&lab);
}
END_TEST

// A cube turns at 1e31 rad/s, which a step may leave; another is put along its slider where it
// would go at 1e40 m/s, and where it goes at 1e37.
START_TEST(positions_of_joints_place_nothing_either) {
    Lab lab = make_lab(&old_numbers, SOLVER_MDP, 0.05);
    lab_step(&lab, 20);
    const Input slide = {.kind = INPUT_JOINTS,
                         .joints = {.count = 1,
                                    .axis_count = 1,
                                    .position_count = 1,
                                    .kind = U(JOINT_SLIDER),
                                    .frame_a = D(0, 0, 0, sqrt(0.5), 0, sqrt(0.5), 0),
                                    .frame_b = D(0, 0, 0, sqrt(0.5), 0, sqrt(0.5), 0),
                                    .body_a = I(2),
                                    .body_b = I(3)}};
    must_be_taken(&lab, &slide);
    lab.world->velocity[6 + 5] = 1e31; // of body 2
    world_place_trees(lab.world);
    double position = 1e9;
    const Input put = {
        .kind = INPUT_SET,
        .set.joints = {.count = 1, .id = I(5), .position_count = 1, .position = &position}};
    must_stay(&lab, &put);
    position = 1e6;
    must_be_taken(&lab, &put);
    lab_destroy(&lab);
}
END_TEST

static TCase *case_change(void) {
    TCase *tcase = tcase_create("change");
    tcase_add_loop_test(tcase, numbers_set_are_numbers_made, 0, SOLVER_COUNT);
    tcase_add_loop_test(tcase, a_world_changed_on_its_way_goes_on_as_one_restored, 0, 2);
    tcase_add_loop_test(tcase, every_change_is_in_the_hash, 0, 5);
    tcase_add_test(tcase, an_inertia_goes_with_its_mass);
    tcase_add_test(tcase, a_push_moves_what_a_body_weighs_now);
    tcase_add_test(tcase, who_is_concerned_wakes);
    tcase_add_loop_test(tcase, what_is_refused_names_its_field_and_changes_nothing, 0,
                        sizeof(bad_orders) / sizeof(bad_orders[0]));
    tcase_add_loop_test(tcase, what_cannot_be_added_or_removed_changes_nothing, 0,
                        sizeof(bad_inputs) / sizeof(bad_inputs[0]));
    tcase_add_loop_test(tcase, joints_place_nothing_where_no_float_tells_it, 0, 2);
    tcase_add_test(tcase, positions_of_joints_place_nothing_either);
    return tcase;
}

SUITE_MAIN("run/change", case_change)
