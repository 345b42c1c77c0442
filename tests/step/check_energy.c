// SPDX-License-Identifier: MIT
// The energy book of random worlds, under every solver and integrator: what it does not explain is
// rounding, energies go on from step to step, and its entries are whose work it was: of drives, of
// what is moved, of springs. And what an integrator gains is gained.
#include "base/gain.h"
#include "step/step.h"

#include "support/lab.h"
#include "support/suite.h"

#include <math.h>
#include <string.h>

static Lab make_lab(double gravity, double h, SolverKind kind, Integrator integrator) {
    Lab lab = lab_create(gravity, h);
    const SolverSettings solver = solver_default(kind);
    step_set_solver(&lab.world->settings, &solver);
    lab.world->settings.integrator = (uint8_t)integrator;
    return lab;
}

static Pose at(double x, double y, double z) {
    return (Pose){vec3(x, y, z), quat_identity()};
}

// ---- joints

typedef struct Joined {
    uint32_t kind, as_rows;
    int parent; // -1: the world
    uint32_t child;
    Vec3 at_a, at_b;
    double stiffness, damping, rest, drive_stiffness, drive_damping, effort_max, target_velocity,
        effort;
} Joined;

static void join(Lab *lab, const Joined *joint) {
    const uint64_t a = joint->parent < 0 ? 0 : lab->world->body_id[joint->parent],
                   b = lab->world->body_id[joint->child];
    const uint8_t axes = joint_kind_axes((JointKind)joint->kind);
    const uint32_t count = joint_axis_count(axes);
    double frame_a[7], frame_b[7], numbers[8][3];
    const double given[8] = {joint->stiffness,       joint->damping,       joint->rest,
                             joint->drive_stiffness, joint->drive_damping, joint->effort_max,
                             joint->target_velocity, joint->effort};
    for (int n = 0; n < 8; n++) {
        for (uint32_t k = 0; k < 3; k++) {
            numbers[n][k] = given[n];
        }
    }
    pose_store(frame_a, (Pose){joint->at_a, quat_identity()});
    pose_store(frame_b, (Pose){joint->at_b, quat_identity()});
    const JointColumns columns = {.count = 1,
                                  .axis_count = count,
                                  .position_count = joint_position_count(axes),
                                  .kind = &joint->kind,
                                  .as_rows = &joint->as_rows,
                                  .body_a = &a,
                                  .body_b = &b,
                                  .frame_a = frame_a,
                                  .frame_b = frame_b,
                                  .stiffness = numbers[0],
                                  .damping = numbers[1],
                                  .rest = numbers[2],
                                  .drive_stiffness = numbers[3],
                                  .drive_damping = numbers[4],
                                  .effort_max = numbers[5],
                                  .target_velocity = numbers[6],
                                  .effort = numbers[7]};
    lab_joints(lab, &columns);
}

// ---- random worlds

static Vec3 random_vec(uint64_t *seed, double size) {
    return vec3(lab_random(seed, -size, size), lab_random(seed, -size, size),
                lab_random(seed, -size, size));
}

// A chain that hangs on something that is moved, or on the world, or floats, of random joints of
// coordinates and of rows with springs, dampers, drives and efforts; balls that fall on a belt.
// Somewhere within `far` of the origin.
static Lab make_random(uint64_t *seed, SolverKind kind, Integrator integrator, double far) {
    static const JointKind kinds[] = {JOINT_HINGE, JOINT_SLIDER, JOINT_BALL, JOINT_UNIVERSAL};
    Lab lab = make_lab(9.81, 1.0 / 240.0, kind, integrator);
    const Vec3 place = random_vec(seed, far), size = vec3(0.1, 0.0, 0.0);
    const Id ball = lab_shape(&lab, PRIMITIVE_SPHERE, size, lab_material(&lab, 0.5, 0.3)),
             slab = lab_shape(&lab, PRIMITIVE_BOX, vec3(5.0, 5.0, 0.1), 0);
    double velocity[6] = {lab_random(seed, -1, 1), lab_random(seed, -1, 1), 0.0, 0.0, 0.0, 0.3};
    lab_body(&lab, slab, BODY_KINEMATIC, (Pose){place, quat_identity()}, velocity, 1.0, NULL);
    for (int i = 0; i < 4; i++) {
        const Vec3 above = vec3(i - 2.0, 2.0, 0.25 + 0.1 * i);
        vec3_store(velocity, random_vec(seed, 2.0));
        lab_body(&lab, ball, BODY_DYNAMIC, (Pose){vec3_add(place, above), quat_identity()},
                 velocity, 1.0, NULL);
    }
    const uint32_t first = (uint32_t)lab.world->body_count;
    const double root = lab_random(seed, 0.0, 3.0);
    for (uint32_t i = 0; i < 5; i++) {
        const double inertia[6] = {0.02, 0.03, 0.025};
        const Vec3 hangs = vec3_add(place, vec3(0.0, 0.0, 4.0 - 0.5 * i));
        vec3_store(velocity, random_vec(seed, 1.0));
        lab_body(&lab, 0, BODY_DYNAMIC, (Pose){hangs, quat_identity()}, velocity,
                 pow(10.0, lab_random(seed, -1.0, 1.0)), inertia);
        Joined joint = {.kind = kinds[(int)lab_random(seed, 0.0, 4.0)],
                        .as_rows = lab_random(seed, 0.0, 1.0) < 0.4,
                        .parent = i > 0        ? (int)(first + i - 1)
                                  : root < 2.0 ? 0
                                               : -1,
                        .child = first + i,
                        .at_a = vec3(0.0, 0.0, i > 0 ? -0.25 : 4.25),
                        .at_b = vec3(0.0, 0.0, 0.25),
                        .stiffness = lab_random(seed, -50.0, 50.0),
                        .damping = lab_random(seed, -0.1, 0.1),
                        .rest = 0.1,
                        .drive_stiffness = lab_random(seed, -100.0, 50.0),
                        .effort_max = lab_random(seed, 0.0, 1.0) < 0.5 ? HUGE_VAL : 3.0,
                        .effort = lab_random(seed, -1.0, 1.0)};
        joint.stiffness = fmax(joint.stiffness, 0.0);
        joint.damping = fmax(joint.damping, 0.0);
        joint.drive_stiffness = fmax(joint.drive_stiffness, 0.0);
        if (joint.parent < 0) {
            joint.at_a = vec3_add(place, joint.at_a);
        }
        if (i > 0 || root < 2.5) {
            join(&lab, &joint);
        }
    }
    return lab;
}

static void judge(const Lab *lab, double before) {
    const StepEnergy *e = &lab->report.energy;
    const double sizes = fabs(e->before) + fabs(e->after);
    const double booked = e->contact + e->row + e->applied + e->drive + e->scheme + e->unexplained;
    ck_assert_double_le(fabs(e->unexplained), 1e-12 * e->scale);
    // energies themselves have the rounding of where the world stands
    ck_assert_double_eq_tol(e->after - e->before, booked, 1e-12 * (e->scale + sizes));
    ck_assert_double_eq_tol(e->before, before, 1e-12 * (e->scale + sizes));
}

START_TEST(what_is_not_explained_is_rounding) {
    uint64_t seed = 101 + (uint64_t)_i;
    const SolverKind kind = (SolverKind)(_i % SOLVER_COUNT);
    const Integrator integrator = (Integrator)(_i / SOLVER_COUNT % INTEGRATOR_COUNT);
    const double far = _i % 3 == 0 ? 1e5 : 1.0;
    Lab lab = make_random(&seed, kind, integrator, far);
    for (int n = 0; n < 100; n++) {
        const double before = lab.report.energy.after;
        const double wrench[6] = {1.0, -2.0, 3.0, 0.1, 0.2, -0.3};
        if (n % 3 == 0) {
            lab_step_pushed(&lab, (uint32_t)(1 + n % 9), wrench);
        } else {
            lab_step(&lab, 1);
        }
        judge(&lab, n == 0 ? lab.report.energy.before : before);
    }
    lab_destroy(&lab);
}
END_TEST

// ---- whose work it is

static const double quiet[6] = {0.02, 0.02, 0.02};

// A mass that a drive takes to 1 m/s in coordinates, as one of rows, or as one with a bound.
START_TEST(a_drive_gives_what_it_drives) {
    const int which = _i % 3;
    Lab lab = make_lab(0.0, 0.01, (SolverKind)(_i / 3 % SOLVER_COUNT),
                       (Integrator)(_i / 3 / SOLVER_COUNT));
    const uint32_t body = lab_body(&lab, 0, BODY_DYNAMIC, at(0, 0, 0), NULL, 2.0, quiet);
    const Joined joint = {.kind = JOINT_SLIDER,
                          .as_rows = which == 1,
                          .parent = -1,
                          .child = body,
                          .drive_damping = 20.0,
                          .effort_max = which == 2 ? 5.0 : HUGE_VAL,
                          .target_velocity = 1.0};
    join(&lab, &joint);
    lab.world->joint_target_velocity[0] = 1.0;
    double given = 0.0, rest = 0.0;
    for (int n = 0; n < 300; n++) {
        lab_step(&lab, 1);
        const StepEnergy *e = &lab.report.energy;
        given += e->drive;
        rest = fmax(rest, fabs(e->row) + fabs(e->applied) + fabs(step_gain(e)));
    }
    ck_assert_double_eq_tol(given, 0.5 * 2.0 * 1.0, 1e-3); // up to what soft rows leave
    ck_assert_double_le(rest, 1e-9);
    lab_destroy(&lab);
}
END_TEST

// A ball on a belt comes to its speed by friction: m u^2 from the belt, of which a half, less what
// rolling keeps, is lost on the way. And a mass that hangs on a slider of something that lifts it.
START_TEST(what_is_moved_gives_what_it_moves) {
    const bool hangs = _i % 2 == 0, as_rows = _i / 2 % 2 == 0;
    Lab lab = make_lab(9.81, 0.005, (SolverKind)(_i / 4), INTEGRATOR_SYMPLECTIC);
    const double velocity[6] = {hangs ? 0.0 : 0.5, 0.0, hangs ? 0.5 : 0.0};
    const Id slab = lab_shape(&lab, PRIMITIVE_BOX, vec3(5.0, 5.0, 0.1), lab_material(&lab, 0.5, 0)),
             box = lab_shape(&lab, PRIMITIVE_BOX, vec3(0.1, 0.1, 0.1), lab_material(&lab, 0.5, 0));
    lab_body(&lab, slab, BODY_KINEMATIC, at(0, 0, 0), velocity, 1.0, NULL);
    const uint32_t body = lab_body(&lab, hangs ? 0 : box, BODY_DYNAMIC, at(0, 0, hangs ? -1 : 0.2),
                                   velocity, 2.0, quiet);
    if (hangs) {
        const Joined joint = {.kind = JOINT_FIXED,
                              .as_rows = as_rows,
                              .parent = 0,
                              .child = body,
                              .at_a = vec3(0, 0, -1)};
        join(&lab, &joint);
    } else {
        memset(lab.world->velocity + 6 * (size_t)body, 0, 6 * sizeof(double));
    }
    double given = 0.0, gain = 0.0;
    const double rounding = 1e-9;
    for (int n = 0; n < 200; n++) {
        lab_step(&lab, 1);
        given += lab.report.energy.drive;
        gain = fmax(gain, step_gain(&lab.report.energy));
    }
    // lifted by 0.5 m; or brought to 0.5 m/s, and as much lost
    const double expected = hangs ? 2.0 * 9.81 * 0.5 : 2.0 * 0.5 * 0.5;
    ck_assert_double_eq_tol(given, expected, 0.02 * expected);
    ck_assert_double_le(gain, hangs ? 1e-3 * expected : rounding);
    lab_destroy(&lab);
}
END_TEST

// ---- what is gained

// Undamped springs swing, by w h/2 of their energy, and gain nothing but under explicit.
START_TEST(a_spring_gains_under_explicit_alone) {
    const bool as_rows = _i % 2 == 0;
    const Integrator integrator = (Integrator)(_i / 2);
    Lab lab = make_lab(9.81, 0.03, SOLVER_MDP, integrator);
    const uint32_t body = lab_body(&lab, 0, BODY_DYNAMIC, at(0, 0, 0), NULL, 2.0, quiet);
    const Joined joint = {.kind = JOINT_SLIDER,
                          .as_rows = as_rows,
                          .parent = -1,
                          .child = body,
                          .stiffness = 200.0,
                          .rest = 0.3,
                          .effort_max = HUGE_VAL};
    join(&lab, &joint);
    double sum = 0.0, most = 0.0, scale = 0.0;
    for (int n = 0; n < 100; n++) {
        lab_step(&lab, 1);
        sum += step_gain(&lab.report.energy);
        scale = fmax(scale, lab.report.energy.scale);
        most = fmax(most, sum);
    }
    if (integrator == INTEGRATOR_EXPLICIT) {
        ck_assert_double_gt(sum, 0.4 * scale); // what there was before and what there is are S
    } else {
        ck_assert_double_le(most, 1e-6 * scale);
    }
    lab_destroy(&lab);
}
END_TEST

// A rope of light links with a load a thousand times as heavy as each, held at one end, straight.
enum { ROPE_LINKS = 20 };
static const double link_length = 0.1, link_mass = 0.01, load_mass = 10.0;

static Lab make_rope(double time_step, Integrator integrator) {
    Lab lab = make_lab(9.81, time_step, SOLVER_MDP, integrator);
    const double link[6] = {1e-5, 1e-5, 1e-5}, load[6] = {0.01, 0.01, 0.01};
    for (uint32_t i = 0; i <= ROPE_LINKS; i++) {
        const bool is_load = i == ROPE_LINKS;
        lab_body(&lab, 0, BODY_DYNAMIC, at(link_length * (i + 0.5), 0.0, 0.0), NULL,
                 is_load ? load_mass : link_mass, is_load ? load : link);
        const Joined joint = {.kind = JOINT_BALL,
                              .parent = (int)i - 1,
                              .child = i,
                              .at_a = vec3(i == 0 ? 0.0 : 0.5 * link_length, 0.0, 0.0),
                              .at_b = vec3(-0.5 * link_length, 0.0, 0.0),
                              .effort_max = HUGE_VAL};
        join(&lab, &joint);
    }
    return lab;
}

// What pulls at a link turns it back at sqrt(T/(m l)), up to some 600 rad/s, more than steps of
// 1/240 s resolve. It gains, with every step converged; and what it gains is told, all of it.
START_TEST(a_rope_with_a_load_tells_what_it_gains) {
    Lab lab = make_rope(1.0 / 240.0, INTEGRATOR_SYMPLECTIC);
    double sum = 0.0, scale = 0.0, begun = 0.0;
    for (int n = 0; n < 480; n++) {
        lab_step(&lab, 1);
        const StepEnergy *e = &lab.report.energy;
        begun = n == 0 ? e->before : begun;
        ck_assert(lab.report.certificate.converged);
        ck_assert_double_le(fabs(e->unexplained), 1e-12 * e->scale);
        sum += step_gain(e);
        scale = fmax(scale, e->scale);
    }
    const double grown = lab.report.energy.after - begun;
    ck_assert_double_gt(sum, GAIN_SHARE * scale);
    ck_assert_double_eq_tol(sum, grown, 0.01 * scale); // but for what comes back
    lab_destroy(&lab);
}
END_TEST

// Steps that resolve it gain nothing, under whichever integrator: it swings down as the straight
// rod that it all but is, in K(1/√2) √(I / (g Σ m x)), and its load passes below with what it has
// fallen for, both but for the waves in a rope that weighs a fiftieth: 1e-3 of speed, and half of
// that of energy, which integrators of first order waste.
START_TEST(a_rope_swings_as_a_rod_where_steps_resolve_it) {
    static const Integrator ways[] = {INTEGRATOR_SYMPLECTIC, INTEGRATOR_IMPLICIT,
                                      INTEGRATOR_MIDPOINT, INTEGRATOR_RK4, INTEGRATOR_VERLET};
    enum { ROPE_HERTZ = 4800 };
    const double slack = 2e-3, far = link_length * (ROPE_LINKS + 0.5);
    double inertia = load_mass * far * far, moment = load_mass * far;
    for (int i = 0; i < ROPE_LINKS; i++) {
        const double x = link_length * (i + 0.5);
        inertia += link_mass * x * x;
        moment += link_mass * x;
    }
    const double rate = sqrt(2.0 * 9.81 * moment / inertia), quarter = 1.8540746773 * sqrt(2.0);
    Lab lab = make_rope(1.0 / ROPE_HERTZ, ways[_i]);
    const double fall = 9.81 * moment;
    int steps = 0;
    double begun = 0.0;
    while (lab_position(&lab, ROPE_LINKS).x > 0.0) {
        ck_assert_int_lt(steps++, 2 * ROPE_HERTZ);
        lab_step(&lab, 1);
        begun = steps == 1 ? lab.report.energy.before : begun;
        ck_assert_double_le(fabs(lab.report.energy.after - begun), slack * fall);
    }
    ck_assert_double_eq_tol(steps / (double)ROPE_HERTZ, quarter / rate, slack * quarter / rate);
    ck_assert_double_eq_tol(vec3_norm(lab_velocity(&lab, ROPE_LINKS)), rate * far,
                            slack * rate * far);
    lab_destroy(&lab);
}
END_TEST

static TCase *case_energy(void) {
    TCase *tcase = tcase_create("energy");
    tcase_set_timeout(tcase, 60.0);
    tcase_add_loop_test(tcase, what_is_not_explained_is_rounding, 0, 120);
    tcase_add_loop_test(tcase, a_drive_gives_what_it_drives, 0,
                        3 * SOLVER_COUNT * INTEGRATOR_COUNT);
    tcase_add_loop_test(tcase, what_is_moved_gives_what_it_moves, 0, 4 * SOLVER_COUNT);
    tcase_add_loop_test(tcase, a_spring_gains_under_explicit_alone, 0, 2 * INTEGRATOR_COUNT);
    tcase_add_test(tcase, a_rope_with_a_load_tells_what_it_gains);
    tcase_add_loop_test(tcase, a_rope_swings_as_a_rod_where_steps_resolve_it, 0, 5);
    return tcase;
}

SUITE_MAIN("step/energy", case_energy)
