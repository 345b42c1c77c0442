// SPDX-License-Identifier: MIT
// Rows of a joint one side of which is a link of a tree whose base is moved: what the base does
// moves the link, whatever its coordinates do, and so it does what rows hold there. Against closed
// forms, in a world that is turned by a generic rotation, under every solver.
#include "step/step.h"

#include "support/lab.h"
#include "support/suite.h"

#include <math.h>

#define TIME_STEP (1.0 / 240) // [s]

enum { STEPS = 240, PLATFORM = 0, LINK = 1, FREE = 2 };

static const Quat generic = {0.66, -0.21, 0.53, 0.487};

static Vec3 turned(Vec3 v) {
    return quat_rotate(quat_normalize(generic), v);
}

// A platform that goes with `speed` and turns about its z with `spin`; a link that turns about the
// platform's z, through its middle, with `link_spin` in the world; and a body that a joint of rows
// ties to the link, a metre away.
typedef struct Tie {
    JointKind kind;
    Vec3 speed;
    double spin, link_spin;
} Tie;

static Id add_joint(Lab *lab, JointKind kind, uint32_t as_rows, uint32_t a, uint32_t b, Vec3 at_b) {
    const uint32_t kind_number = kind;
    const uint64_t id_a = lab->world->body_id[a], id_b = lab->world->body_id[b];
    const uint8_t axes = joint_kind_axes(kind);
    const Pose pose_a = {lab_position(lab, a), lab_orientation(lab, a)};
    const Quat q = pose_a.orientation, back = {q.w, -q.x, -q.y, -q.z};
    const Vec3 point = vec3_add(lab_position(lab, b), quat_rotate(lab_orientation(lab, b), at_b));
    double frame_a[7], frame_b[7];
    pose_store(frame_a,
               (Pose){quat_rotate(back, vec3_sub(point, pose_a.position)), quat_identity()});
    pose_store(frame_b, (Pose){at_b, quat_identity()});
    const JointColumns columns = {.count = 1,
                                  .axis_count = joint_axis_count(axes),
                                  .position_count = joint_position_count(axes),
                                  .kind = &kind_number,
                                  .as_rows = &as_rows,
                                  .body_a = &id_a,
                                  .body_b = &id_b,
                                  .frame_a = frame_a,
                                  .frame_b = frame_b};
    return lab_joints(lab, &columns);
}

static uint32_t add_body(Lab *lab, BodyKind kind, Vec3 at, Vec3 speed, double spin) {
    const Vec3 v = turned(speed), w = turned(vec3(0.0, 0.0, spin));
    const double velocity[6] = {v.x, v.y, v.z, w.x, w.y, w.z},
                 inertia[6] = {0.02, 0.03, 0.04, 0.0, 0.0, 0.0};
    const Pose pose = {turned(at), quat_normalize(generic)};
    return lab_body(lab, 0, kind, pose, velocity, 1.5, kind == BODY_DYNAMIC ? inertia : NULL);
}

static Lab make_tie(SolverKind kind, const Tie *tie) {
    Lab lab = lab_create(0.0, TIME_STEP);
    const SolverSettings solver = solver_default(kind);
    step_set_solver(&lab.world->settings, &solver);
    lab_set(&lab, "tolerance", 1e-10);
    const Vec3 away = vec3(1.0, 0.0, 0.0);
    add_body(&lab, BODY_KINEMATIC, vec3(0.0, 0.0, 0.0), tie->speed, tie->spin);
    add_body(&lab, BODY_DYNAMIC, vec3(0.0, 0.0, 0.1), tie->speed, tie->link_spin);
    add_body(&lab, BODY_DYNAMIC, away, vec3_add(tie->speed, vec3(0.0, tie->link_spin, 0.0)),
             tie->link_spin);
    add_joint(&lab, JOINT_HINGE, 0, PLATFORM, LINK, vec3(0.0, 0.0, 0.0));
    add_joint(&lab, tie->kind, 1, LINK, FREE, vec3(-0.3, 0.0, 0.0));
    return lab;
}

static void assert_converged(const Lab *lab) {
    ck_assert_msg(lab->report.certificate.converged, "own %g",
                  lab->report.certificate.entry[CERTIFICATE_OWN]);
}

// What goes along goes on: nothing pushes anything, and nobody works.
START_TEST(what_goes_along_with_a_platform_goes_on) {
    const JointKind kinds[] = {JOINT_BALL, JOINT_FIXED, JOINT_HINGE};
    const Tie tie = {.kind = kinds[_i / SOLVER_COUNT], .speed = {0.7, -0.4, 0.3}};
    Lab lab = make_tie((SolverKind)(_i % SOLVER_COUNT), &tie);
    const Vec3 speed = turned(tie.speed);
    for (int i = 0; i < STEPS; i++) {
        lab_step(&lab, 1);
        assert_converged(&lab);
        // roundings of places, by the step, of steps that are a few
        const double off = vec3_norm(vec3_sub(lab_velocity(&lab, FREE), speed));
        ck_assert_msg(off < 1e-9, "step %d: off by %g m/s", i, off);
        ck_assert_double_le(fabs(lab.report.energy.drive) + fabs(lab.report.energy.row), 1e-9);
    }
    lab_destroy(&lab);
}
END_TEST

// The platform's spin is nothing to a link that turns freely about the same axis: link and body
// swing round as one, as fast as they did. What a step of a turn t leaves is of second order, t^2
// of the speed, and the sum of such roundings off over a turn of T is t T: 1/240, less than a
// hundredth. Taken for at rest, the platform would add its 3 rad/s to one.
START_TEST(what_turns_freely_on_a_platform_turns_as_it_did) {
    const Tie tie = {.kind = JOINT_FIXED, .speed = {0.7, -0.4, 0.3}, .spin = 3.0, .link_spin = 1.0};
    Lab lab = make_tie((SolverKind)(_i % SOLVER_COUNT), &tie);
    for (int i = 0; i < STEPS; i++) {
        lab_step(&lab, 1);
        assert_converged(&lab);
        const Vec3 speed = vec3_sub(lab_velocity(&lab, FREE), turned(tie.speed)),
                   spin = lab_spin(&lab, FREE);
        const double rate = vec3_dot(spin, turned(vec3(0.0, 0.0, 1.0)));
        ck_assert_msg(fabs(rate - 1.0) < 0.01, "step %d: %g rad/s", i, rate);
        ck_assert_msg(fabs(vec3_norm(speed) - 1.0) < 0.01, "step %d: %g m/s", i, vec3_norm(speed));
    }
    lab_destroy(&lab);
}
END_TEST

// A platform that goes off with 0.5 m/s takes the 1.5 kg of the link and those of the body with it:
// momentum times that speed is its work, half of which is lost to the blow. The rows of sap and
// compliant are stiff springs, which give way by a share of a hundredth at most in a step.
START_TEST(a_platform_that_drags_works) {
    const SolverKind solver = (SolverKind)_i;
    const double share = solver == SOLVER_SAP || solver == SOLVER_COMPLIANT ? 0.01 : 1e-9;
    const Tie tie = {.kind = JOINT_FIXED};
    Lab lab = make_tie(solver, &tie);
    const Vec3 speed = turned(vec3(0.0, 0.0, 0.5)); // along the hinge: nothing turns
    vec3_store(lab.world->velocity + 6 * (size_t)PLATFORM, speed);
    lab_step(&lab, 1);
    assert_converged(&lab);
    const double off = vec3_norm(vec3_sub(lab_velocity(&lab, FREE), speed));
    ck_assert_msg(off <= share * 0.5, "off by %g m/s", off);
    const StepEnergy *energy = &lab.report.energy;
    const double work = 2.0 * 1.5 * 0.5 * 0.5;
    ck_assert_msg(fabs(energy->drive - work) <= share * work, "%g J", energy->drive);
    ck_assert_msg(fabs(energy->row + 0.5 * energy->drive * 0.5) <= share * work, "row %g J",
                  energy->row);
    ck_assert_double_le(fabs(energy->unexplained), 1e-12 * energy->scale);
    lab_destroy(&lab);
}
END_TEST

static TCase *case_carried(void) {
    TCase *tcase = tcase_create("carried");
    tcase_add_loop_test(tcase, what_goes_along_with_a_platform_goes_on, 0, 3 * SOLVER_COUNT);
    tcase_add_loop_test(tcase, what_turns_freely_on_a_platform_turns_as_it_did, 0, SOLVER_COUNT);
    tcase_add_loop_test(tcase, a_platform_that_drags_works, 0, SOLVER_COUNT);
    return tcase;
}

SUITE_MAIN("step/base_rows", case_carried)
