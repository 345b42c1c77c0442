// SPDX-License-Identifier: MIT
// Features that meet: what drops rows, flies apart, couples, gives up or sleeps goes on to the bit
// from its snapshot in every step, and as another world's copied state; and what held a body stands
// in for what is taken away.
#include "step/snapshot/snapshot.h"
#include "support/lab.h"
#include "support/suite.h"
#include "world/sleep.h"

#include <math.h>

#define TIME_STEP 0.004

static const Quat generic = {0.66, -0.21, 0.53, 0.487};

static Pose at(double x, double y, double z) {
    return (Pose){.position = vec3(x, y, z), .orientation = quat_identity()};
}

static void let_sleep(Lab *lab, double time) {
    WorldSettings settings = lab->world->settings;
    settings.sleep_speed = 0.05;
    settings.sleep_time = time;
    settings.margin = 0.001;
    world_set_settings(lab->world, &settings);
}

static uint32_t add(Lab *lab, PrimitiveKind primitive, BodyKind kind, Pose pose,
                    const double *velocity) {
    const Id shape = lab_shape(lab, primitive, vec3(0.05, 0.05, 0.05), 0);
    return lab_body(lab, shape, kind, pose, velocity, kind == BODY_DYNAMIC ? 1.0 : 0.0, NULL);
}

// A joint between a (-1: the world) and b, whose frames are at one place of the world.
typedef struct Held {
    JointKind kind;
    bool as_rows;
    Pose frame;
    double damping;
    Quat lean; // of b's frame
} Held;

static Pose inside(const World *world, int body, Pose frame) {
    if (body < 0) {
        return frame;
    }
    const Pose pose = pose_load(world->pose + 7 * (size_t)body);
    const Quat q = pose.orientation, back = {q.w, -q.x, -q.y, -q.z};
    return pose_compose((Pose){vec3_neg(quat_rotate(back, pose.position)), back}, frame);
}

static Id hold(Lab *lab, int a, uint32_t b, const Held *held) {
    const uint64_t of[2] = {a < 0 ? 0 : lab->world->body_id[a], lab->world->body_id[b]};
    const uint32_t kind = held->kind, as_rows = held->as_rows;
    const uint8_t axes = joint_kind_axes(held->kind);
    const double damping[6] = {held->damping, held->damping, held->damping,
                               held->damping, held->damping, held->damping};
    double here[7], there[7];
    Pose leant = held->frame;
    leant.orientation = quat_normalize(quat_mul(leant.orientation, held->lean));
    pose_store(here, inside(lab->world, a, held->frame));
    pose_store(there, inside(lab->world, (int)b, leant));
    const JointColumns columns = {.count = 1,
                                  .axis_count = joint_axis_count(axes),
                                  .position_count = joint_position_count(axes),
                                  .kind = &kind,
                                  .as_rows = &as_rows,
                                  .body_a = &of[0],
                                  .body_b = &of[1],
                                  .frame_a = here,
                                  .frame_b = there,
                                  .damping = damping};
    return lab_joints(lab, &columns);
}

static void take_away(Lab *lab, Id joint) {
    uint32_t index;
    ck_assert(world_find_joint(lab->world, joint, &index));
    world_remove_joints(lab->world, &index, 1);
}

// ---- scenes, and what is done to them

static const Quat upright = {1.0, 0.0, 0.0, 0.0},
                  quarter = {0.70710678118654757, 0.0, 0.0, -0.70710678118654757};

// Universal joints of rows whose axes are parallel, or all but parallel, and which come to rest.
static void parallel_axes(Lab *lab) {
    let_sleep(lab, 0.05);
    for (int i = 0; i < 3; i++) {
        const Quat lean = {1.0, 0.0, 0.0, i == 0 ? 0.0 : 0.5 * pow(10.0, -5.0 * i)};
        const Pose pose = {vec3(i, 0.0, 1.0), quat_normalize(generic)};
        const uint32_t body = add(lab, PRIMITIVE_BOX, BODY_DYNAMIC, pose, NULL);
        const Held held = {.kind = JOINT_UNIVERSAL,
                           .as_rows = true,
                           .frame = pose,
                           .damping = 0.1,
                           .lean = quat_normalize(quat_mul(quarter, lean))};
        hold(lab, -1, body, &held);
    }
}

// Trees of free joints that turn by more than a radian in a step, above ground that they meet.
static void flying_trees(Lab *lab) {
    let_sleep(lab, 0.05);
    lab_ground(lab, 0);
    for (int i = 0; i < 2; i++) {
        const double fast[6] = {0.3, 0.0, -1.0, 40.0, 300.0, -200.0 * i};
        const uint32_t root = add(lab, PRIMITIVE_BOX, BODY_DYNAMIC, at(i, 0, 0.5), fast);
        const uint32_t leaf = add(lab, PRIMITIVE_SPHERE, BODY_DYNAMIC, at(i, 0.2, 0.5), fast);
        const Held held = {
            .kind = JOINT_FREE, .frame = at(i, 0.1, 0.5), .damping = 0.001 * i, .lean = upright};
        hold(lab, (int)root, leaf, &held);
    }
}

// A door on two hinges on one axis, which hangs down and comes to rest.
static void door(Lab *lab) {
    let_sleep(lab, 0.05);
    const Pose pose = {vec3(0.0, 0.0, 0.6), {0.70710678118654757, 0.0, 0.70710678118654757, 0.0}};
    const uint32_t body = add(lab, PRIMITIVE_BOX, BODY_DYNAMIC, pose, NULL);
    const Quat along_y = {0.70710678118654757, -0.70710678118654757, 0.0, 0.0};
    for (int i = 0; i < 2; i++) {
        const Held held = {.kind = JOINT_HINGE,
                           .as_rows = i == 1,
                           .frame = {vec3(0.0, 0.3 * i, 1.0), along_y},
                           .damping = 0.5,
                           .lean = upright};
        hold(lab, -1, body, &held);
    }
}

// A pile that is solved with too little work, by turns asleep.
static void hurried_pile(Lab *lab) {
    let_sleep(lab, 0.05);
    lab_ground(lab, 0);
    for (int i = 0; i < 12; i++) {
        add(lab, i % 3 == 0 ? PRIMITIVE_SPHERE : PRIMITIVE_BOX, BODY_DYNAMIC,
            at(0.07 * (i % 2), 0.03 * (i % 3), 0.06 + 0.11 * i), NULL);
    }
    lab_set(lab, "budget", 3e4);
}

// Boxes whose later one was there first, asleep on each other, and one that comes down on them.
static void named_second(Lab *lab) {
    let_sleep(lab, 0.05);
    for (int i = 3; i > 0; i--) {
        add(lab, PRIMITIVE_BOX, BODY_DYNAMIC, at(0.0, 0.0, -0.05 + 0.1 * i), NULL);
    }
    lab_ground(lab, 0);
    const double down[6] = {0.0, 0.0, 1.0, 0.0, 1.0, 0.0};
    add(lab, PRIMITIVE_BOX, BODY_DYNAMIC, at(0.04, 0.0, 0.6), down);
}

static void take_first_joint(Lab *lab) {
    take_away(lab, lab->world->joint[0].id);
}

static void take_last_joint(Lab *lab) {
    take_away(lab, lab->world->joint[lab->world->joint_count - 1].id);
}

static void take_first_body(Lab *lab) {
    world_remove_bodies(lab->world, (const uint32_t[]){0}, 1);
}

static void do_nothing(Lab *lab) {
    (void)lab;
}

typedef struct Case {
    const char *name;
    void (*make)(Lab *lab);
    void (*deed)(Lab *lab);
} Case;

static const Case meetings[] = {
    {"parallel axes", parallel_axes, take_first_joint},
    {"parallel axes", parallel_axes, take_first_body},
    {"flying trees", flying_trees, take_first_joint},
    {"flying trees", flying_trees, take_first_body},
    {"a door without its first hinge", door, take_first_joint},
    {"a door without its second hinge", door, take_last_joint},
    {"a hurried pile", hurried_pile, take_first_body},
    {"named second", named_second, take_first_body},
    {"named second", named_second, do_nothing},
};
enum { CASES = sizeof(meetings) / sizeof(meetings[0]), STEPS = 240, DEED_STEP = 150 };

static Lab make(const Case *of, SolverKind kind) {
    Lab lab = lab_create(9.81, TIME_STEP);
    const SolverSettings solver = solver_default(kind);
    step_set_solver(&lab.world->settings, &solver);
    of->make(&lab);
    return lab;
}

// ---- to the bit

// One goes on, the other is read from its snapshot before each step, and after the deed.
START_TEST(goes_on_from_every_snapshot) {
    const Case *of = &meetings[_i / SOLVER_COUNT];
    const SolverKind solver = (SolverKind)(_i % SOLVER_COUNT);
    Lab a = make(of, solver), b = make(of, solver);
    for (int i = 0; i < STEPS; i++) {
        if (i == DEED_STEP) {
            of->deed(&a);
            lab_restore(&b);
            of->deed(&b);
        }
        lab_restore(&b);
        ck_assert_msg(snapshot_hash(a.world) == snapshot_hash(b.world), "%s: step %d", of->name, i);
        lab_step(&a, 1);
        lab_step(&b, 1);
    }
    ck_assert_uint_eq(snapshot_hash(a.world), snapshot_hash(b.world));
    lab_destroy(&a);
    lab_destroy(&b);
}
END_TEST

// As a group's world is reset: from any state to the one of another step.
START_TEST(goes_on_from_a_copied_state) {
    const Case *of = &meetings[_i / SOLVER_COUNT];
    const SolverKind solver = (SolverKind)(_i % SOLVER_COUNT);
    Lab a = make(of, solver), b = make(of, solver);
    lab_step(&b, STEPS);
    for (int i = 0; i < 4; i++) {
        lab_step(&a, 40);
        if (world_is_alike(b.world, a.world)) {
            ck_assert(world_copy_state(b.world, a.world));
            stepper_reset(b.stepper);
            lab_step(&a, 20);
            lab_step(&b, 20);
            ck_assert_msg(snapshot_hash(a.world) == snapshot_hash(b.world), "%s: copy %d", of->name,
                          i);
            lab_step(&b, 30);
        }
    }
    lab_destroy(&a);
    lab_destroy(&b);
}
END_TEST

// ---- what stands in

// Asleep on two hinges on one axis, of which the second one's rows said nothing. Without either the
// door hangs from the other, where it hung, and swings when it is pushed; without both it falls.
START_TEST(one_hinge_holds_what_two_held) {
    const SolverKind solver = (SolverKind)(_i % SOLVER_COUNT);
    const Case of = {.make = door};
    Lab lab = make(&of, solver);
    lab_step(&lab, 600);
    ck_assert(sleep_is_asleep(lab.world, 0));
    const Vec3 rest = lab_position(&lab, 0);
    ck_assert_double_eq_tol(rest.x, 0.0, 1e-9);
    if (_i / SOLVER_COUNT == 0) {
        take_first_joint(&lab);
    } else {
        take_last_joint(&lab);
    }
    lab_step(&lab, 1);
    ck_assert(!sleep_is_asleep(lab.world, 0));
    lab_step(&lab, 99);
    // sap and compliant give by some h^2 g, 2e-4 m, where rows begin to bear
    const bool is_soft = solver == SOLVER_SAP || solver == SOLVER_COMPLIANT;
    const double give = is_soft ? 2.0 * TIME_STEP * TIME_STEP * 9.81 : 1e-6;
    ck_assert_double_le(vec3_norm(vec3_sub(lab_position(&lab, 0), rest)), give);
    take_first_joint(&lab);
    const Vec3 from = lab_velocity(&lab, 0);
    lab_step(&lab, 50);
    ck_assert_double_eq_tol(lab_velocity(&lab, 0).z, from.z - 9.81 * 50 * TIME_STEP, 1e-9);
    lab_destroy(&lab);
}
END_TEST

static TCase *case_together(void) {
    TCase *tcase = tcase_create("together");
    tcase_set_timeout(tcase, 60.0);
    tcase_add_loop_test(tcase, goes_on_from_every_snapshot, 0, CASES * SOLVER_COUNT);
    tcase_add_loop_test(tcase, goes_on_from_a_copied_state, 0, CASES * SOLVER_COUNT);
    tcase_add_loop_test(tcase, one_hinge_holds_what_two_held, 0, 2 * SOLVER_COUNT);
    return tcase;
}

SUITE_MAIN("step/together", case_together)
