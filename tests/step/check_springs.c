// SPDX-License-Identifier: MIT
// Springs of coordinates and of rows: closed forms of what one of them does in a step (spring.h),
// that they keep their energy where a step resolves them, under every solver and wherever the joint
// stands and points, that dampers take what they should, that what is too fast comes to rest, and
// that no tree of springs gains, however fast they are against each other.
#include "step/trees/spring.h"
#include "step/step.h"

#include "support/campaign.h"
#include "support/lab.h"
#include "support/suite.h"

#include <math.h>
#include <string.h>

static const double pi = 3.14159265358979324;

// ---- building

typedef struct Spring {
    JointKind kind;
    bool as_rows;
    int parent;            // -1: the world
    uint32_t child;        // bodies
    Pose frame_a, frame_b; // in them
    double stiffness, damping, rest;
} Spring;

static void add_spring(Lab *lab, const Spring *spring) {
    const uint32_t kind = spring->kind, as_rows = spring->as_rows;
    const uint64_t a = spring->parent < 0 ? 0 : lab->world->body_id[spring->parent],
                   b = lab->world->body_id[spring->child];
    const uint8_t axes = joint_kind_axes(spring->kind);
    double frame_a[7], frame_b[7], stiffness[3], damping[3], rest[3];
    pose_store(frame_a, spring->frame_a);
    pose_store(frame_b, spring->frame_b);
    for (int k = 0; k < 3; k++) {
        stiffness[k] = spring->stiffness;
        damping[k] = spring->damping;
        rest[k] = spring->rest;
    }
    const JointColumns columns = {.count = 1,
                                  .axis_count = joint_axis_count(axes),
                                  .position_count = joint_position_count(axes),
                                  .kind = &kind,
                                  .as_rows = &as_rows,
                                  .body_a = &a,
                                  .body_b = &b,
                                  .frame_a = frame_a,
                                  .frame_b = frame_b,
                                  .stiffness = stiffness,
                                  .damping = damping,
                                  .rest = rest};
    lab_joints(lab, &columns);
}

static uint32_t add_body(Lab *lab, Pose pose, double mass, Vec3 moments) {
    const double inertia[6] = {moments.x, moments.y, moments.z, 0.0, 0.0, 0.0};
    return lab_body(lab, 0, BODY_DYNAMIC, pose, NULL, mass, inertia);
}

static Lab make_lab(double h, Integrator integrator, SolverKind kind) {
    Lab lab = lab_create(0.0, h);
    const SolverSettings solver = solver_default(kind);
    step_set_solver(&lab.world->settings, &solver);
    lab.world->settings.integrator = (uint8_t)integrator;
    return lab;
}

static Pose at(double x, double y, double z) {
    return (Pose){vec3(x, y, z), quat_identity()};
}

// ---- mechanisms with one spring, of 10 rad/s

// Where a joint of rows holds a body off its centre, its own error takes (h v/L)^2 of the
// motion in a step: at a stretch of 5 mrad that is 1e-6, and less than the springs may lose.
#define RATE    10.0
#define STRETCH 0.005

enum { MASS, TORSION, TWO_MASSES, LEANING, MECHANISMS };

// A mass on a rail; a bar on a hinge at its end, with a torsion spring; two bodies that float on
// one rail through both; a mass on a rail that leans, from a body that stands somewhere.
static Lab make_mechanism(int which, bool as_rows, double h, Integrator integrator, SolverKind kind,
                          double damping) {
    Lab lab = make_lab(h, integrator, kind);
    const double mass = 2.0;
    const Vec3 moments = vec3(0.2, 0.3, 0.4);
    Spring spring = {.kind = JOINT_SLIDER,
                     .as_rows = as_rows,
                     .parent = -1,
                     .frame_a = at(0, 0, 0),
                     .frame_b = at(0, 0, 0),
                     .rest = -STRETCH};
    double inverse = 1.0 / mass;
    if (which == MASS) {
        spring.child = add_body(&lab, at(0, 0, 0), mass, moments);
    } else if (which == TORSION) {
        spring.kind = JOINT_HINGE;
        spring.child = add_body(&lab, at(1.5, 0, 0), mass, moments);
        spring.frame_b.position.x = -1.5;
        inverse = 1.0 / (moments.z + mass * 1.5 * 1.5);
    } else if (which == TWO_MASSES) {
        spring.parent = (int)add_body(&lab, at(0, 0, 0), 3.0, moments);
        spring.child = add_body(&lab, at(0, 0, 1.0), mass, moments);
        spring.frame_a = at(0, 0, 0.5);
        spring.frame_b = at(0, 0, -0.5);
        inverse += 1.0 / 3.0;
    } else {
        const Quat lean = quat_normalize((Quat){0.3, -0.5, 0.7, 0.2});
        spring.parent =
            (int)lab_body(&lab, 0, BODY_STATIC, (Pose){vec3(1, -2, 3), lean}, NULL, 1.0, NULL);
        spring.frame_a = (Pose){vec3(0.3, 0.2, -0.1), lean};
        const Pose place = pose_compose((Pose){vec3(1, -2, 3), lean}, spring.frame_a);
        spring.child = add_body(&lab, place, mass, moments);
    }
    spring.stiffness = RATE * RATE / inverse;
    spring.damping = damping * RATE / inverse;
    add_spring(&lab, &spring);
    return lab;
}

static double stretch_of(const Lab *lab) {
    return lab->world->joint_position[0] + STRETCH;
}

// What a spring of 10 rad/s holds, with what moves against it, over its stiffness: x^2 + (v/w)^2.
static double energy_of(const Lab *lab) {
    const double x = stretch_of(lab), v = lab->world->joint_velocity[0] / RATE;
    return x * x + v * v;
}

// What the undamped spring keeps of it in every step: (1 + t^2/4) V^2 + x^2 - t x V, V = v/w.
static double kept_of(const Lab *lab, double turn) {
    const double x = stretch_of(lab), v = lab->world->joint_velocity[0] / RATE;
    return energy_of(lab) + 0.25 * turn * turn * v * v - turn * x * v;
}

// ---- what is kept

static const double turns[] = {1.0 / 24.0, 0.15, 0.3}; // w h

enum { TURNS = 3, KEEPERS = TURNS * MECHANISMS * 2 * SOLVER_COUNT };

static const Integrator keepers[] = {INTEGRATOR_SYMPLECTIC, INTEGRATOR_MIDPOINT};

// Whether a change tries this one of all: without rows there is nothing to solve, whoever the
// solver is; of rows every solver meets every mechanism where the spring is fast, and another one
// at every other rate and under midpoint, as under the sanitizers everywhere.
static bool is_kept(int i, Integrator integrator) {
    const int turn = i % TURNS, which = i / TURNS % MECHANISMS, kind = i / TURNS / MECHANISMS / 2;
    const bool as_rows = i / TURNS / MECHANISMS % 2 == 1;
    if (campaign_count(1) > 1) {
        return true;
    }
    if (!as_rows) {
        return kind == 0;
    }
    const bool is_whole = integrator == INTEGRATOR_SYMPLECTIC && turn > 0 && campaign_count(4) == 4;
    return is_whole || which == (kind + turn) % MECHANISMS;
}

// In a step of h the phase turns by 2 atan(w h/2), under symplectic and midpoint alike, so that a
// period has 2 pi over that many steps. The mean over a period, of the first and of the 100th,
// is the same but for what whole steps leave of a period, (w h)^2 of the swing; and what a solver
// leaves of each step, 1e-6, adds up as its square root.
static void keep(int i, Integrator integrator) {
    const double turn = turns[i % TURNS], h = turn / RATE;
    const int which = i / TURNS % MECHANISMS;
    const bool as_rows = i / TURNS / MECHANISMS % 2 == 1;
    const SolverKind kind = (SolverKind)(i / TURNS / MECHANISMS / 2);
    Lab lab = make_mechanism(which, as_rows, h, integrator, kind, 0.0);
    if (kind == SOLVER_SAP) {
        lab_set(&lab, "row_beta", 0.01); // its joints, which the swing pulls at, are soft
    }
    const int period = (int)(2.0 * pi / (2.0 * atan(0.5 * turn)) + 0.5);
    double mean[2] = {0.0, 0.0};
    const double begun = energy_of(&lab);
    for (int n = 0; n < 100 * period; n++) {
        lab_step(&lab, 1);
        const double energy = energy_of(&lab);
        // the swing: w h/2 of itself, and (w h)^2/4 of the mass that is added
        ck_assert_double_eq_tol(energy / begun, 1.0, 0.5 * turn + 0.25 * turn * turn + 0.02);
        mean[0] += n < period ? energy : 0.0;
        mean[1] += n >= 99 * period ? energy : 0.0;
    }
    ck_assert_double_eq_tol(mean[1] / mean[0], 1.0, 0.01);
    lab_destroy(&lab);
}

// All that are tried of one solver, as it takes the sanitizers long to begin a test.
static void keep_all(SolverKind kind, Integrator integrator) {
    const int count = KEEPERS / SOLVER_COUNT;
    for (int i = count * (int)kind; i < count * ((int)kind + 1); i++) {
        if (is_kept(i, integrator)) {
            keep(i, integrator);
        }
    }
}

START_TEST(a_spring_keeps_its_energy) {
    keep_all((SolverKind)_i, INTEGRATOR_SYMPLECTIC);
}
END_TEST

START_TEST(halfway_a_spring_keeps_its_energy_too) {
    keep_all((SolverKind)_i, INTEGRATOR_MIDPOINT);
}
END_TEST

// q_n = a cos(n phi + b) with phi = 2 atan(w h/2), through q_0 = x and q_1, which is
// x - (w h)^2 x/(1 + (w h)^2/4) from rest; halfway q_1 = x - (w h)^2 x/2/(1 + (w h)^2/4) and b = 0.
START_TEST(a_spring_swings_as_its_closed_form_says) {
    const bool as_rows = _i % 2 == 1;
    const Integrator integrator = keepers[_i / 2];
    const double turn = 0.2, phase = 2.0 * atan(0.5 * turn), x = STRETCH;
    Lab lab = make_mechanism(MASS, as_rows, turn / RATE, integrator, SOLVER_MDP, 0.0);
    lab_set(&lab, "tolerance", 1e-12);
    const double share = integrator == INTEGRATOR_MIDPOINT ? 0.5 : 1.0;
    const double first = x - share * turn * turn * x / (1.0 + 0.25 * turn * turn);
    const double sine = (x * cos(phase) - first) / sin(phase); // a sin b
    for (int n = 1; n <= 200; n++) {
        lab_step(&lab, 1);
        const double expected = x * cos(n * phase) - sine * sin(n * phase);
        ck_assert_double_eq_tol(stretch_of(&lab), expected, 1e-10);
    }
    lab_destroy(&lab);
}
END_TEST

// With a damper the energy falls by (1 + t^2/4)/(1 + t^2/4 + h d/m) in a step, t = w h: the product
// of the two factors of (1 + t^2/4 + h d/m) (z - 1)^2 + (t^2 + h d/m) (z - 1) + t^2 = 0.
START_TEST(a_damper_takes_what_it_should) {
    const bool as_rows = _i % 2 == 1;
    const double turn = 0.2, zeta = 0.02; // d/m = zeta w
    const double loss = (1.0 + 0.25 * turn * turn) / (1.0 + 0.25 * turn * turn + turn * zeta);
    for (int kind = 0; kind < SOLVER_COUNT; kind++) {
        Lab lab = make_mechanism(_i / 2, as_rows, turn / RATE, INTEGRATOR_SYMPLECTIC,
                                 (SolverKind)kind, zeta);
        const double begun = kept_of(&lab, turn);
        lab_step(&lab, 315); // ten periods, within a step
        ck_assert_double_eq_tol(kept_of(&lab, turn) / begun / pow(loss, 315.0), 1.0, 0.01);
        lab_destroy(&lab);
    }
}
END_TEST

// Implicit loses and explicit gains a share of about w h of the energy in a radian.
START_TEST(implicit_damps_and_explicit_gains) {
    const bool as_rows = _i % 2 == 1, is_explicit = _i / 2 == 1;
    const double turn = 0.02;
    Lab lab =
        make_mechanism(MASS, as_rows, turn / RATE,
                       is_explicit ? INTEGRATOR_EXPLICIT : INTEGRATOR_IMPLICIT, SOLVER_MDP, 0.0);
    const double begun = energy_of(&lab);
    const int steps = (int)(2.0 * pi / turn); // a period
    lab_step(&lab, steps);
    // 1 + t^2 in a step, or its inverse
    const double rate = log(energy_of(&lab) / begun) / steps / (turn * turn);
    ck_assert_double_eq_tol(rate, is_explicit ? 1.0 : -1.0, 0.02);
    lab_destroy(&lab);
}
END_TEST

// ---- what is too fast

START_TEST(what_is_too_fast_comes_to_rest) {
    const bool as_rows = _i % 2 == 1;
    Lab lab = make_lab(5e-3, INTEGRATOR_SYMPLECTIC, (SolverKind)(_i / 2));
    lab.world->settings.gravity = vec3(0.0, 0.0, -9.81);
    const Spring spring = {.kind = JOINT_SLIDER,
                           .as_rows = as_rows,
                           .parent = -1,
                           .child = add_body(&lab, at(0, 0, 0), 1.0, vec3(1, 1, 1)),
                           .frame_a = at(0, 0, 0),
                           .frame_b = at(0, 0, 0),
                           .stiffness = 1e8,
                           .rest = 0.01};
    add_spring(&lab, &spring);
    lab_step(&lab, 200);
    ck_assert_double_eq_tol(lab.world->joint_position[0], 0.01 - 9.81 / 1e8, 1e-9);
    ck_assert_double_eq_tol(lab.world->joint_velocity[0], 0.0, 1e-6);
    lab_destroy(&lab);
}
END_TEST

// From w h = 0.3 to 1 the damping rises without a jump.
START_TEST(damping_rises_smoothly) {
    double before = 0.0;
    for (int i = 0; i <= 1200; i++) {
        const double turn = 1e-3 * i;
        const SpringShare share = spring_share(INTEGRATOR_SYMPLECTIC, turn * turn);
        ck_assert_double_eq(share.change, 0.25 + 0.75 * share.old);
        // the slope of 3 s^2 - 2 s^3 is at most 1.5, of s 1/0.7
        ck_assert_double_ge(share.old, before);
        ck_assert_double_le(share.old - before, 1e-3 * 1.5 / 0.7 + 1e-12);
        ck_assert(turn > 0.3 || share.old == 0.0);
        ck_assert(turn < 1.0 || share.old == 1.0);
        before = share.old;
    }
    ck_assert_double_eq(spring_share(INTEGRATOR_SYMPLECTIC, NAN).old, 1.0);
}
END_TEST

// ---- under weight

// A mass that hangs in a spring swings about where this bears it, and as far up as down.
START_TEST(a_weight_swings_about_where_it_would_hang) {
    const bool as_rows = _i % 2 == 1;
    Lab lab =
        make_mechanism(MASS, as_rows, 0.3 / RATE, INTEGRATOR_SYMPLECTIC, (SolverKind)(_i / 2), 0.0);
    lab.world->settings.gravity = vec3(0.0, 0.0, -20.0);
    double mean = 0.0, highest = -HUGE_VAL, lowest = HUGE_VAL;
    const int steps = 2095; // 100 periods, within a step
    for (int n = 0; n < steps; n++) {
        lab_step(&lab, 1);
        const double x = stretch_of(&lab);
        mean += x / steps;
        highest = fmax(highest, x);
        lowest = fmin(lowest, x);
    }
    // k = w^2 m: it hangs at -g/w^2 = -0.2, from where it began `swing` above. From rest q_0 = x,
    // q_1 = x - (w h)^2 x/(1 + (w h)^2/4), as above, are those of a swing that is a little larger:
    // a^2 = x^2 (1 + tan(phi/2)^2), tan(phi/2) = w h/2; and steps do not show its very end,
    // cos(phi/2) of it
    const double swing = (0.2 + STRETCH) * sqrt(1.0 + 0.15 * 0.15);
    ck_assert_double_eq_tol(mean, -0.2, 0.001);
    ck_assert_double_eq_tol(highest, -0.2 + swing, 0.02 * swing);
    ck_assert_double_eq_tol(lowest, -0.2 - swing, 0.02 * swing);
    lab_destroy(&lab);
}
END_TEST

// ---- many springs

// Sliders one on the other, along one line: the masses are constant, so that what holds of linear
// systems holds. Masses differ by 1e4, stiffnesses by 1e8.
static Lab make_ladder(uint64_t *seed, uint32_t count, bool is_soft) {
    Lab lab = make_lab(0.01, INTEGRATOR_SYMPLECTIC, SOLVER_MDP);
    for (uint32_t i = 0; i < count; i++) {
        const double mass = pow(10.0, lab_random(seed, -2.0, 2.0));
        add_body(&lab, at(0, 0, 0), mass, vec3(mass, mass, mass));
    }
    for (uint32_t i = 0; i < count; i++) {
        const double turn = pow(10.0, lab_random(seed, -3.0, is_soft ? -1.0 : 2.0));
        const double mass = lab.world->mass[i].mass,
                     least = i == 0 ? mass : fmin(mass, lab.world->mass[i - 1].mass);
        const Spring spring = {.kind = JOINT_SLIDER,
                               .parent = (int)i - 1,
                               .child = i,
                               .frame_a = at(0, 0, 0),
                               .frame_b = at(0, 0, 0),
                               .stiffness = turn * turn * 1e4 * (is_soft ? least : mass),
                               .rest = lab_random(seed, -0.1, 0.1)};
        add_spring(&lab, &spring);
    }
    return lab;
}

// Narrow trees and wide ones. No combination gains; where all are slow, none loses either.
START_TEST(no_tree_of_springs_gains) {
    uint64_t seed = 11 + (uint64_t)_i;
    const uint32_t count = _i % 2 == 0 ? 6 : 30;
    const bool is_soft = _i % 4 >= 2;
    Lab lab = make_ladder(&seed, count, is_soft);
    lab_step(&lab, 1);
    const double begun = lab.report.energy.before;
    double most = 0.0, last = 0.0;
    for (int n = 0; n < 4000; n++) {
        lab_step(&lab, 1);
        most = fmax(most, lab.report.energy.after);
        last += n >= 2000 ? lab.report.energy.after / 2000.0 : 0.0;
    }
    // w h/2 of the fastest swing; springs that pull at one mass are faster together than any alone
    ck_assert_double_le(most, 1.5 * begun);
    ck_assert(!is_soft || fabs(last / begun - 1.0) < 0.1);
    lab_destroy(&lab);
}
END_TEST

// ---- turns about all axes

// A ball's spring about all axes: the same rule, of a rotation vector.
START_TEST(a_ball_keeps_its_energy_on_its_springs) {
    const bool as_rows = _i % 2 == 1;
    Lab lab = make_lab(0.02, INTEGRATOR_SYMPLECTIC, (SolverKind)(_i / 2));
    const double velocity[6] = {0.0, 0.0, 0.0, 0.8, -0.5, 0.6}, inertia[6] = {1.0, 1.2, 0.9};
    const Spring spring = {.kind = JOINT_BALL,
                           .as_rows = as_rows,
                           .parent = -1,
                           .child =
                               lab_body(&lab, 0, BODY_DYNAMIC, at(0, 0, 0), velocity, 1.0, inertia),
                           .frame_a = at(0, 0, 0),
                           .frame_b = at(0, 0, 0),
                           .stiffness = 100.0};
    add_spring(&lab, &spring);
    double mean[2] = {0.0, 0.0};
    const int period = 32, steps = 100 * period;
    for (int n = 0; n < steps; n++) {
        lab_step(&lab, 1);
        const Vec3 spin = lab_spin(&lab, 0),
                   turned = joint_rotation_vector(lab_orientation(&lab, 0));
        const double energy = 100.0 * vec3_dot(turned, turned) + spin.x * spin.x +
                              1.2 * spin.y * spin.y + 0.9 * spin.z * spin.z;
        mean[0] += n < 10 * period ? energy : 0.0;
        mean[1] += n >= steps - 10 * period ? energy : 0.0;
    }
    ck_assert_double_eq_tol(mean[1] / mean[0], 1.0, 0.01);
    lab_destroy(&lab);
}
END_TEST

// Springs that turn two bodies by more than a radian in a step, and are as unlike each other as may
// be, so that the soft turn has the torque of the stiff ones: the tree is thrown (step/trees/fly.h)
// and moves with no more than what its springs held as it began.
START_TEST(springs_that_turn_by_radians_do_not_gain) {
    static const uint8_t integrators[3] = {INTEGRATOR_SYMPLECTIC, INTEGRATOR_MIDPOINT,
                                           INTEGRATOR_IMPLICIT};
    uint64_t seed = 40 + (uint64_t)_i;
    Lab lab = make_lab(0.01, (Integrator)integrators[_i % 3], SOLVER_CCP);
    const bool is_ball = _i / 3 % 2 == 1;
    const uint32_t kind = is_ball ? JOINT_BALL : JOINT_FREE, axes = is_ball ? 3 : 6;
    double stiffness[6], rest[6], begun = 0.0, most = 0.0;
    uint64_t id[2];
    for (int i = 0; i < 2; i++) {
        const Vec3 moments = vec3(lab_random(&seed, 0.01, 0.011), 0.011, 0.012);
        const uint32_t body = add_body(&lab, at(0.1 * i, 0.2 * i, 0), 1.0, moments);
        id[i] = lab.world->body_id[body];
    }
    for (uint32_t k = 0; k < axes; k++) {
        const bool is_turn = k + 3 >= axes;
        stiffness[k] = pow(10.0, lab_random(&seed, 0.0, is_turn ? 4.5 : 3.0));
        rest[k] = is_turn ? lab_random(&seed, -0.7, 0.7) : 0.0;
    }
    const JointColumns columns = {.count = 1,
                                  .axis_count = axes,
                                  .position_count = axes + 1,
                                  .kind = &kind,
                                  .body_a = &id[0],
                                  .body_b = &id[1],
                                  .stiffness = stiffness,
                                  .rest = rest};
    lab_joints(&lab, &columns);
    for (int n = 0; n < 1000; n++) {
        lab_step(&lab, 1);
        begun = n == 0 ? lab.report.energy.before : begun;
        most = fmax(most, lab.report.energy.after);
    }
    // w h/2 of what swings, where all is slow enough for that
    ck_assert_double_le(most, 1.5 * begun);
    lab_destroy(&lab);
}
END_TEST

static TCase *case_springs(void) {
    TCase *tcase = tcase_create("springs");
    tcase_set_timeout(tcase, 60.0);
    tcase_add_loop_test(tcase, a_spring_keeps_its_energy, 0, SOLVER_COUNT);
    tcase_add_loop_test(tcase, halfway_a_spring_keeps_its_energy_too, 0, SOLVER_COUNT);
    tcase_add_loop_test(tcase, a_spring_swings_as_its_closed_form_says, 0, 4);
    tcase_add_loop_test(tcase, a_damper_takes_what_it_should, 0, 2 * MECHANISMS);
    tcase_add_loop_test(tcase, implicit_damps_and_explicit_gains, 0, 4);
    tcase_add_loop_test(tcase, what_is_too_fast_comes_to_rest, 0, 2 * SOLVER_COUNT);
    tcase_add_test(tcase, damping_rises_smoothly);
    tcase_add_loop_test(tcase, a_weight_swings_about_where_it_would_hang, 0, 2 * SOLVER_COUNT);
    tcase_add_loop_test(tcase, no_tree_of_springs_gains, 0, campaign_count(40));
    tcase_add_loop_test(tcase, a_ball_keeps_its_energy_on_its_springs, 0, 2 * SOLVER_COUNT);
    tcase_add_loop_test(tcase, springs_that_turn_by_radians_do_not_gain, 0, campaign_count(60));
    return tcase;
}

SUITE_MAIN("step/springs", case_springs)
