// SPDX-License-Identifier: MIT
// Articulated trees in worlds: closed forms of pendulums, tops and chains under every integrator,
// what acts along coordinates, contacts under every solver, and that a tree of one body is that
// body.
#include "step/step.h"

#include "step/snapshot/snapshot.h"
#include "support/crew.h"
#include "support/lab.h"
#include "support/suite.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define GRAVITY 9.81

static Lab make_lab(double gravity, double h, Integrator integrator) {
    Lab lab = lab_create(gravity, h);
    lab.world->settings.integrator = (uint8_t)integrator;
    return lab;
}

static void set_solver(Lab *lab, SolverKind kind) {
    const SolverSettings solver = solver_default(kind);
    step_set_solver(&lab->world->settings, &solver);
}

// ---- building

// A joint with at most three axes, whose numbers are filled in before it is added.
typedef struct Build {
    JointColumns columns;
    uint32_t kind;
    uint64_t a, b; // ids; 0: the world
    double frame_a[7], frame_b[7];
    double low[6], high[6], stiffness[6], rest[6], damping[6], friction[6], armature[6];
    double drive_stiffness[6], drive_damping[6], effort_max[6];
} Build;

// `parent` -1: the world. Frames at these points of the bodies, z turned to `axis`.
static Build begin(const Lab *lab, JointKind kind, int parent, uint32_t child, Vec3 at_a, Vec3 at_b,
                   Quat turn) {
    Build build = {.kind = kind, .b = lab->world->body_id[child]};
    build.a = parent < 0 ? 0 : lab->world->body_id[parent];
    pose_store(build.frame_a, (Pose){at_a, turn});
    pose_store(build.frame_b, (Pose){at_b, turn});
    for (int k = 0; k < 6; k++) {
        build.low[k] = -HUGE_VAL;
        build.high[k] = build.effort_max[k] = HUGE_VAL;
    }
    return build;
}

static uint32_t add(Lab *lab, Build *build) {
    const uint8_t axes = joint_kind_axes((JointKind)build->kind);
    build->columns = (JointColumns){.count = 1,
                                    .axis_count = joint_axis_count(axes),
                                    .position_count = joint_position_count(axes),
                                    .kind = &build->kind,
                                    .body_a = &build->a,
                                    .body_b = &build->b,
                                    .frame_a = build->frame_a,
                                    .frame_b = build->frame_b,
                                    .low = build->low,
                                    .high = build->high,
                                    .stiffness = build->stiffness,
                                    .rest = build->rest,
                                    .damping = build->damping,
                                    .friction = build->friction,
                                    .armature = build->armature,
                                    .drive_stiffness = build->drive_stiffness,
                                    .drive_damping = build->drive_damping,
                                    .effort_max = build->effort_max};
    lab_joints(lab, &build->columns);
    return (uint32_t)lab->world->joint_count - 1;
}

// z to -y: angles about it are positive from straight down towards +x
static Quat about_y(void) {
    return quat_normalize((Quat){1.0, 1.0, 0.0, 0.0});
}

static Quat upright(void) {
    return quat_identity();
}

static uint32_t add_body(Lab *lab, Pose pose, double mass, Vec3 moments) {
    const double inertia[6] = {moments.x, moments.y, moments.z, 0.0, 0.0, 0.0};
    return lab_body(lab, 0, BODY_DYNAMIC, pose, NULL, mass, inertia);
}

// A turn about -y by an angle: rods that hang along -z then point to (sin, 0, -cos).
static Quat swung(double angle) {
    return (Quat){cos(0.5 * angle), 0.0, -sin(0.5 * angle), 0.0};
}

// A mass without extent, on a hinge at the origin, `length` below it, let go at an angle.
static Lab make_pendulum(double h, Integrator integrator, double length, double angle) {
    Lab lab = make_lab(GRAVITY, h, integrator);
    const Vec3 place = vec3(length * sin(angle), 0.0, -length * cos(angle));
    // so little that it changes the period by 1e-13
    const double spread = 1e-13 * length * length;
    uint32_t body = add_body(&lab, (Pose){place, swung(angle)}, 1.0, vec3(spread, spread, spread));
    Build build =
        begin(&lab, JOINT_HINGE, -1, body, vec3(0.0, 0.0, 0.0), vec3(0.0, 0.0, length), about_y());
    add(&lab, &build);
    ck_assert_double_eq_tol(lab.world->joint_position[0], angle, 1e-12);
    return lab;
}

// Angle and rate of theta'' = -w2 sin theta, by fourth order steps that leave 1e-12.
static double swing(double angle, double w2, double time) {
    enum { STEPS = 20000 };
    const double h = time / STEPS;
    double x = angle, v = 0.0;
    for (int i = 0; i < STEPS; i++) {
        double a1 = -w2 * sin(x), v2 = v + 0.5 * h * a1, a2 = -w2 * sin(x + 0.5 * h * v),
               v3 = v + 0.5 * h * a2, a3 = -w2 * sin(x + 0.5 * h * v2), v4 = v + h * a3,
               a4 = -w2 * sin(x + h * v3);
        x += h / 6.0 * (v + 2.0 * v2 + 2.0 * v3 + v4);
        v += h / 6.0 * (a1 + 2.0 * a2 + 2.0 * a3 + a4);
    }
    return x;
}

// ---- pendulums

static const double orders[INTEGRATOR_COUNT] = {1.0, 1.0, 1.0, 2.0, 4.0, 2.0};

// The error of a scheme of order p falls by 2^p when the step is halved, and by up to h of it more
// or less.
START_TEST(a_pendulum_has_the_order_of_its_integrator) {
    double error[2];
    const double reference = swing(1.0, GRAVITY, 1.0);
    for (int i = 0; i < 2; i++) {
        const int steps = (orders[_i] > 2.5 ? 250 : 500) << i; // above the reference's own error
        Lab lab = make_pendulum(1.0 / steps, (Integrator)_i, 1.0, 1.0);
        lab_step(&lab, steps);
        error[i] = fabs(lab.world->joint_position[0] - reference);
        lab_destroy(&lab);
    }
    ck_assert_double_lt(error[0], orders[_i] > 1.5 ? 1e-5 : 1e-2);
    ck_assert_double_eq_tol(log2(error[0] / error[1]), orders[_i], 0.05);
}
END_TEST

// T = 2 pi sqrt(l/g) / agm(1, cos(a/2)); a root of the angle lies between two steps, found by the
// straight line there: the angle is zero and so is its curvature.
START_TEST(the_period_of_a_pendulum_is_right_to_1e_6) {
    const double h = 1e-3, amplitude = 0.1;
    double a = 1.0, b = cos(0.5 * amplitude);
    for (int i = 0; i < 6; i++) {
        double mean = 0.5 * (a + b);
        b = sqrt(a * b);
        a = mean;
    }
    const double period = 2.0 * 3.14159265358979323846 * sqrt(1.0 / GRAVITY) / a;
    Lab lab = make_pendulum(h, INTEGRATOR_MIDPOINT, 1.0, amplitude);
    double first = 0.0, last = 0.0;
    int roots = 0;
    double before = lab.world->joint_position[0];
    for (int i = 1; i <= 21000; i++) {
        lab_step(&lab, 1);
        const double now = lab.world->joint_position[0];
        if (before > 0.0 && now <= 0.0) {
            last = h * (i - 1 + before / (before - now));
            first = roots++ == 0 ? last : first;
        }
        before = now;
    }
    ck_assert_int_ge(roots, 10);
    const double measured = (last - first) / (roots - 1);
    ck_assert_double_eq_tol(measured / period, 1.0, 1e-6);
    lab_destroy(&lab);
}
END_TEST

// Kater: where a and b are the distances of two pivots from the centre of mass, on either side of
// it, and a b = k^2, the swing about either has the period of a mass at a + b.
START_TEST(katers_pendulum_swings_alike_about_both_pivots) {
    const double near = 0.2, far = 0.5, amplitude = 0.5, moment = 2.0 * near * far, h = 1e-3;
    double angle[2];
    for (int i = 0; i < 2; i++) {
        const double pivot = i == 0 ? near : -far, distance = fabs(pivot);
        Lab lab = make_lab(GRAVITY, h, INTEGRATOR_MIDPOINT);
        const double lean = i == 0 ? amplitude : amplitude + 3.14159265358979323846;
        const Vec3 place = vec3(distance * sin(amplitude), 0.0, -distance * cos(amplitude));
        uint32_t body = add_body(&lab, (Pose){place, swung(lean)}, 2.0, vec3(moment, moment, 1e-3));
        Build build =
            begin(&lab, JOINT_HINGE, -1, body, vec3(0, 0, 0), vec3(0, 0, pivot), about_y());
        build.columns.count = 1;
        add(&lab, &build);
        lab_step(&lab, 1000);
        const Vec3 at = lab_position(&lab, body);
        angle[i] = atan2(at.x, -at.z);
        lab_destroy(&lab);
    }
    // both are the same equation; near inertia 2 (0.1 + d^2) roundings differ
    ck_assert_double_eq_tol(angle[0], angle[1], 1e-11);
    // and that of l = near + far, to the second order of the step: (w h)^2/12 of 4 rad of phase
    ck_assert_double_eq_tol(angle[0], swing(amplitude, GRAVITY / (near + far), 1.0), 1e-5);
}
END_TEST

// ---- double pendulum

typedef struct Two {
    double a, b, va, vb; // absolute angles and rates
} Two;

// Lagrange's equations of two rods of mass and length 1 (check_tree.c has them too).
static Two two_rates(Two s) {
    const double m11 = 4.0 / 3.0, m12 = 0.5 * cos(s.a - s.b), m22 = 1.0 / 3.0;
    const double f1 = -0.5 * sin(s.a - s.b) * s.vb * s.vb - 1.5 * GRAVITY * sin(s.a),
                 f2 = 0.5 * sin(s.a - s.b) * s.va * s.va - 0.5 * GRAVITY * sin(s.b);
    const double det = m11 * m22 - m12 * m12;
    return (Two){s.va, s.vb, (f1 * m22 - f2 * m12) / det, (m11 * f2 - m12 * f1) / det};
}

static Two two_add(Two s, double h, Two rate) {
    return (Two){s.a + h * rate.a, s.b + h * rate.b, s.va + h * rate.va, s.vb + h * rate.vb};
}

static Two two_reference(Two s, double time, int steps) {
    const double h = time / steps;
    for (int i = 0; i < steps; i++) {
        Two k1 = two_rates(s), k2 = two_rates(two_add(s, 0.5 * h, k1)),
            k3 = two_rates(two_add(s, 0.5 * h, k2)), k4 = two_rates(two_add(s, h, k3));
        s = two_add(two_add(two_add(two_add(s, h / 6.0, k1), h / 3.0, k2), h / 3.0, k3), h / 6.0,
                    k4);
    }
    return s;
}

// Rods hinged end to end about y, from the origin down, all at one angle.
static void add_rods(Lab *lab, uint32_t count, double length, double mass, double angle) {
    const double across = mass * length * length / 12.0;
    for (uint32_t i = 0; i < count; i++) {
        const double way = (i + 0.5) * length;
        const Vec3 place = vec3(way * sin(angle), 0.0, -way * cos(angle));
        add_body(lab, (Pose){place, swung(angle)}, mass, vec3(across, across, 1e-3 * across));
    }
    for (uint32_t i = 0; i < count; i++) {
        Build build =
            begin(lab, JOINT_HINGE, (int)i - 1, i, vec3(0, 0, i == 0 ? 0.0 : -0.5 * length),
                  vec3(0, 0, 0.5 * length), about_y());
        add(lab, &build);
    }
}

START_TEST(a_double_pendulum_follows_lagrange_at_its_integrators_order) {
    const double angle = 1.5;
    const Two reference = two_reference((Two){angle, angle, 0.0, 0.0}, 1.0, 20000);
    double error[2];
    for (int i = 0; i < 2; i++) {
        const int steps = 1000 << i;
        Lab lab = make_lab(GRAVITY, 1.0 / steps, (Integrator)_i);
        add_rods(&lab, 2, 1.0, 1.0, angle);
        lab_step(&lab, steps);
        error[i] = hypot(lab.world->joint_position[0] - reference.a,
                         lab.world->joint_position[0] + lab.world->joint_position[1] - reference.b);
        lab_destroy(&lab);
    }
    ck_assert_double_lt(error[0], orders[_i] > 1.5 ? 1e-4 : 5e-2);
    ck_assert_double_eq_tol(log2(error[0] / error[1]), orders[_i], 0.1);
}
END_TEST

// ---- tops

// A disk on a rod, held in a ball at the rod's end, spins fast and lies level: without nutation it
// goes round at W where C s W = m g l, C its own moment, s its spin, exactly, for a level axis.
START_TEST(a_fast_top_precesses_as_euler_says) {
    const double mass = 2.0, arm = 0.25, own = 0.01, across = 0.006, spin = 200.0;
    const double rate = mass * GRAVITY * arm / (own * spin), seconds = 0.5;
    double error[2];
    for (int i = 0; i < 2; i++) {
        const int steps = 2000 << i;
        Lab lab = make_lab(GRAVITY, seconds / steps, INTEGRATOR_MIDPOINT);
        uint32_t body =
            add_body(&lab, (Pose){vec3(arm, 0, 0), upright()}, mass, vec3(own, across, across));
        Build build = begin(&lab, JOINT_BALL, -1, body, vec3(0, 0, 0), vec3(-arm, 0, 0), upright());
        add(&lab, &build);
        lab.world->joint_velocity[0] = spin;
        lab.world->joint_velocity[2] = rate;
        world_place_trees(lab.world);
        lab_step(&lab, steps);
        const Vec3 at = lab_position(&lab, body);
        error[i] = fabs(remainder(atan2(at.y, at.x) - rate * seconds, 6.283185307179586));
        ck_assert_double_eq_tol(at.z, 0.0, 1e-4);
        lab_destroy(&lab);
    }
    // h s = 0.05 rad a step: second order, so some 1e-3 of 1.2 rad
    ck_assert_double_lt(error[0], 2e-3);
    ck_assert_double_eq_tol(log2(error[0] / error[1]), 2.0, 0.2);
}
END_TEST

// Stages of trees are not the steps of bodies: they are alike to the order of both, and a flip
// makes that more.
static double alike_as_bodies(Integrator integrator) {
    return integrator == INTEGRATOR_RK4 ? 1e-6 : integrator == INTEGRATOR_VERLET ? 1e-2 : 1e-12;
}

// Dzhanibekov's flip: 2,400 steps in each of which both make the same numbers up to rounding; a
// flip makes roundings e^(w t) larger between two turns, and small again.
START_TEST(a_tree_of_one_floating_body_flips_as_the_body_does) {
    const Integrator integrator = (Integrator)_i;
    const double alike = alike_as_bodies(integrator);
    Pose pose = {.orientation = quat_normalize((Quat){0.9, 0.3, -0.2, 0.4})};
    const Mat3 axes = quat_to_mat3(pose.orientation);
    const Vec3 spin = vec3_add(vec3_scale(10.0, axes.c1), vec3_scale(0.01, axes.c0));
    Lab lab[2];
    for (int i = 0; i < 2; i++) {
        double velocity[6] = {0.1, -0.2, 0.3};
        vec3_store(velocity + 3, spin);
        lab[i] = make_lab(0.0, 1.0 / 240.0, integrator);
        const double inertia[6] = {0.2, 0.17, 0.05, 0.0, 0.0, 0.0};
        uint32_t body = lab_body(&lab[i], 0, BODY_DYNAMIC, pose, velocity, 8.0, inertia);
        if (i == 1) {
            Build build =
                begin(&lab[i], JOINT_FREE, -1, body, vec3(0, 0, 0), vec3(0, 0, 0), upright());
            add(&lab[i], &build);
        }
    }
    for (int i = 0; i < 240; i++) {
        for (int k = 0; k < 2; k++) {
            lab_step(&lab[k], 1);
        }
        Quat p = lab_orientation(&lab[0], 0), q = lab_orientation(&lab[1], 0);
        const double same = fabs(p.w * q.w + p.x * q.x + p.y * q.y + p.z * q.z);
        ck_assert_double_eq_tol(same, 1.0, alike);
        Vec3 change = vec3_sub(lab_spin(&lab[0], 0), lab_spin(&lab[1], 0));
        ck_assert_double_lt(vec3_norm(change), alike * 10.0);
        change = vec3_sub(lab_position(&lab[0], 0), lab_position(&lab[1], 0));
        ck_assert_double_lt(vec3_norm(change), alike);
    }
    for (int k = 0; k < 2; k++) {
        lab_destroy(&lab[k]);
    }
}
END_TEST

// Two bodies welded about one centre of mass are one, and so is their flip; the tree's root floats.
START_TEST(a_floating_tree_that_is_rigid_flips_as_one_body) {
    const Integrator integrator = (Integrator)_i;
    const Vec3 moments[2] = {{0.1, 0.12, 0.04}, {0.1, 0.06, 0.05}};
    Lab lab[2];
    for (int i = 0; i < 2; i++) {
        double velocity[6] = {0.1, -0.2, 0.3, 0.01, 10.0, 0.02};
        lab[i] = make_lab(0.0, 1.0 / 240.0, integrator);
        for (int k = 0; k < 1 + i; k++) {
            const Vec3 m = i == 0 ? vec3_add(moments[0], moments[1]) : moments[k];
            const double inertia[6] = {m.x, m.y, m.z, 0.0, 0.0, 0.0};
            lab_body(&lab[i], 0, BODY_DYNAMIC, (Pose){vec3(0, 0, 0), upright()}, velocity,
                     i == 0 ? 8.0 : 4.0, inertia);
        }
    }
    Build build = begin(&lab[1], JOINT_FIXED, 0, 1, vec3(0, 0, 0), vec3(0, 0, 0), upright());
    add(&lab[1], &build);
    for (int i = 0; i < 240; i++) {
        for (int k = 0; k < 2; k++) {
            lab_step(&lab[k], 1);
        }
        // a tree of two settles to 1e-9 of a velocity a step, and a flip makes that 1e5 times more
        Quat p = lab_orientation(&lab[0], 0), q = lab_orientation(&lab[1], 1);
        const double same = fabs(p.w * q.w + p.x * q.x + p.y * q.y + p.z * q.z);
        const double alike = alike_as_bodies(integrator);
        ck_assert_double_eq_tol(same, 1.0, alike);
        Vec3 change = vec3_sub(lab_spin(&lab[0], 0), lab_spin(&lab[1], 0));
        ck_assert_double_lt(vec3_norm(change), fmax(1e-6, 10.0 * alike));
    }
    for (int k = 0; k < 2; k++) {
        lab_destroy(&lab[k]);
    }
}
END_TEST

// ---- what floats

// Nothing acts from outside: momentum is kept to rounding where the scheme keeps it, angular
// momentum and energy to the scheme's second order.
START_TEST(a_floating_tree_keeps_its_momentum) {
    Lab lab = make_lab(0.0, 1.0 / 960.0, INTEGRATOR_MIDPOINT);
    uint64_t seed = 3;
    for (uint32_t i = 0; i < 6; i++) {
        const Vec3 at = vec3(0.4 * i, lab_random(&seed, -0.1, 0.1), lab_random(&seed, -0.1, 0.1));
        add_body(&lab, (Pose){at, upright()}, lab_random(&seed, 0.5, 2.0), vec3(0.02, 0.03, 0.04));
    }
    static const JointKind kinds[] = {JOINT_HINGE, JOINT_BALL, JOINT_SLIDER, JOINT_UNIVERSAL,
                                      JOINT_HINGE};
    for (uint32_t i = 1; i < 6; i++) {
        Build build =
            begin(&lab, kinds[i - 1], (int)i - 1, i, vec3(0.2, 0, 0), vec3(-0.2, 0, 0), upright());
        add(&lab, &build);
    }
    for (size_t k = 0; k < lab.world->joint_axis_count; k++) {
        lab.world->joint_velocity[k] = lab_random(&seed, -1.0, 1.0);
    }
    world_place_trees(lab.world);
    Vec3 linear[2], angular[2];
    double energy[2] = {0.0, 0.0};
    for (int i = 0; i < 2; i++) {
        linear[i] = angular[i] = vec3(0, 0, 0);
        for (uint32_t body = 0; body < 6; body++) {
            const BodyMass *mass = &lab.world->mass[body];
            Vec3 p = vec3_scale(mass->mass, lab_velocity(&lab, body));
            Vec3 spin = lab_spin(&lab, body);
            Vec3 of_spin = sym3_mul_vec(
                sym3_rotate(quat_to_mat3(lab_orientation(&lab, body)), mass->inertia), spin);
            linear[i] = vec3_add(linear[i], p);
            angular[i] =
                vec3_add(angular[i], vec3_add(of_spin, vec3_cross(lab_position(&lab, body), p)));
            energy[i] += 0.5 * (vec3_dot(p, lab_velocity(&lab, body)) + vec3_dot(spin, of_spin));
        }
        if (i == 0) {
            lab_step(&lab, 960);
        }
    }
    // (h w)^2/12 of the size over a second or two: 1e-7 .. 1e-6
    ck_assert_double_lt(vec3_norm(vec3_sub(linear[1], linear[0])), 2e-6);
    ck_assert_double_lt(vec3_norm(vec3_sub(angular[1], angular[0])), 2e-6);
    ck_assert_double_eq_tol(energy[1], energy[0], 2e-6);
    lab_destroy(&lab);
}
END_TEST

// ---- the whip

// From level, 20 rods: the tip turns by a radian in a step and more. What the scheme gains it may
// not gain for good: all of it stays within a tenth of what falling can give.
START_TEST(a_whip_survives_with_bounded_energy) {
    enum { LINKS = 20, HERTZ = 240, SECONDS = 10 };
    Lab lab = make_lab(GRAVITY, 1.0 / HERTZ, (Integrator)_i);
    add_rods(&lab, LINKS, 0.1, 0.1, 1.5707963267948966);
    const double fall = 0.1 * LINKS * GRAVITY * 0.1 * LINKS; // from level to straight down, twice
    double begin_energy = 0.0;
    for (int i = 0; i < HERTZ * SECONDS; i++) {
        lab_step(&lab, 1);
        begin_energy = i == 0 ? lab.report.energy.before : begin_energy;
        ck_assert_double_le(lab.report.energy.after, begin_energy + 0.1 * fall);
        ck_assert_double_ge(lab.report.energy.after, begin_energy - 0.5 * fall);
    }
    lab_destroy(&lab);
}
END_TEST

// Positions that move by the new velocities are stable as long as h w < 2 for the fastest mode. For
// 20 rods that hang straight its rate is 2.9712868 N sqrt(g/L), the largest of (K - w^2 M) x = 0
// for small angles, with K_ii = m g l (N - i + 1/2); the factor comes to sqrt(12) for many. Just
// below the bound all energy stays within a twentieth of the swing's own, 25 mJ; just above, the
// mode grows by 1.88 in every step until the chain thrashes.
START_TEST(a_chain_is_stable_up_to_its_fastest_mode) {
    enum { LINKS = 20 };
    const bool is_below = _i == 0;
    const double rate = 2.971286818935916 * LINKS * sqrt(GRAVITY / 2.0);
    const double h = (is_below ? 0.95 : 1.05) * 2.0 / rate, angle = 0.05;
    Lab lab = make_lab(GRAVITY, h, INTEGRATOR_SYMPLECTIC);
    add_rods(&lab, LINKS, 0.1, 0.1, angle);
    const double swing_energy = 2.0 * GRAVITY * (1.0 - cos(angle)); // 2 kg, half of 2 m high
    double begin_energy = 0.0, most = 0.0;
    for (int i = 0; i < 2000; i++) {
        lab_step(&lab, 1);
        begin_energy = i == 0 ? lab.report.energy.before : begin_energy;
        most = fmax(most, lab.report.energy.after - begin_energy);
    }
    if (is_below) {
        ck_assert_double_le(most, 0.05 * swing_energy);
    } else {
        ck_assert_double_ge(most, 10.0 * swing_energy);
    }
    lab_destroy(&lab);
}
END_TEST

// ---- what acts along coordinates

START_TEST(a_slider_on_a_spring_swings_at_the_spring_s_rate) {
    // x'' = -w^2 x; the midpoint rule turns the phase by 2 atan(w h/2) a step
    const double stiffness = 400.0, mass = 4.0, h = 1e-3, x0 = 0.3;
    Lab lab = make_lab(0.0, h, INTEGRATOR_MIDPOINT);
    uint32_t body = add_body(&lab, (Pose){vec3(0, 0, 0.1 + x0), upright()}, mass, vec3(1, 1, 1));
    Build build = begin(&lab, JOINT_SLIDER, -1, body, vec3(0, 0, 0), vec3(0, 0, 0), upright());
    build.stiffness[0] = stiffness;
    build.rest[0] = 0.1;
    add(&lab, &build);
    lab_step(&lab, 1000);
    const double phase = 1000.0 * 2.0 * atan(0.5 * h * sqrt(stiffness / mass));
    ck_assert_double_eq_tol(lab_position(&lab, body).z, 0.1 + x0 * cos(phase), 1e-10);
    ck_assert_double_eq_tol(lab.report.energy.after, 0.5 * stiffness * x0 * x0, 1e-10);
    lab_destroy(&lab);
}
END_TEST

// (M + h D + h^2 K) v1 = M v0 + h K (target - x), in every step: gains of 1e5 at 5 ms are 2,500
// times what an explicit step stands.
START_TEST(stiff_drives_are_stable_and_come_to_their_targets) {
    Lab lab = make_lab(GRAVITY, 5e-3, _i % 2 == 0 ? INTEGRATOR_SYMPLECTIC : INTEGRATOR_IMPLICIT);
    set_solver(&lab, (SolverKind)(_i / 2));
    const uint32_t ground = lab_ground(&lab, 0);
    ck_assert_uint_eq(ground, 0);
    for (uint32_t i = 0; i < 4; i++) {
        add_body(&lab, (Pose){vec3(0, 0, 5.0 - i), upright()}, 1.0, vec3(0.08, 0.08, 0.01));
    }
    for (uint32_t i = 0; i < 4; i++) {
        Build build = begin(&lab, JOINT_HINGE, i == 0 ? -1 : (int)i, i + 1,
                            vec3(0, 0, i == 0 ? 5.5 : -0.5), vec3(0, 0, 0.5), about_y());
        build.drive_stiffness[0] = 1e5;
        build.drive_damping[0] = 1e5;
        build.effort_max[0] = i % 2 == 0 ? HUGE_VAL : 1e6; // implicit, or a row that is never full
        add(&lab, &build);
        lab.world->joint_target[i] = 0.3;
    }
    lab_step(&lab, 2000); // ten time constants d/k
    for (uint32_t i = 0; i < 4; i++) {
        // what is left is the weight over the gain: 40 N m at most
        ck_assert_double_eq_tol(lab.world->joint_position[i], 0.3, 1e-3);
        ck_assert_double_eq_tol(lab.world->joint_velocity[i], 0.0, 1e-3);
    }
    lab_destroy(&lab);
}
END_TEST

// A drive that could give more than it is asked for is the same whether it stands in the mass or is
// a row, under every integrator.
START_TEST(a_strong_drive_is_the_same_as_a_row) {
    double position[2], velocity[2];
    for (int i = 0; i < 2; i++) {
        Lab lab = make_lab(GRAVITY, 2e-3, (Integrator)_i);
        add_rods(&lab, 2, 0.5, 1.0, 0.7);
        for (size_t k = 0; k < 2; k++) {
            JointAxis *axis = &lab.world->joint_axis[k];
            axis->drive_stiffness = 300.0;
            axis->drive_damping = 5.0;
            axis->effort_max = i == 0 ? HUGE_VAL : 1e4;
            lab.world->joint_target[k] = 0.2;
            lab.world->joint_target_velocity[k] = 0.1;
        }
        lab_step(&lab, 50);
        position[i] = lab.world->joint_position[1];
        velocity[i] = lab.world->joint_velocity[1];
        lab_destroy(&lab);
    }
    // the velocities of a step differ by what the mean in the products knows of the drive: some
    // (h d/m)^2 of 1 rad/s; stages know it to their order, rows to the first
    const double apart = integrator_is_staged((uint8_t)_i) ? 30.0 : 1.0;
    ck_assert_double_eq_tol(position[0], position[1], 1e-4 * apart);
    ck_assert_double_eq_tol(velocity[0], velocity[1], 5e-3 * apart);
}
END_TEST

// A motor that gives at most F moves a mass by F/m, whatever its gain.
START_TEST(a_drive_gives_no_more_than_its_effort) {
    const double most = 3.0, mass = 2.0, h = 1e-2;
    Lab lab = make_lab(0.0, h, INTEGRATOR_SYMPLECTIC);
    set_solver(&lab, (SolverKind)_i);
    uint32_t body = add_body(&lab, (Pose){vec3(0, 0, 0), upright()}, mass, vec3(1, 1, 1));
    Build build = begin(&lab, JOINT_SLIDER, -1, body, vec3(0, 0, 0), vec3(0, 0, 0), upright());
    build.drive_damping[0] = 1e4;
    build.effort_max[0] = most;
    add(&lab, &build);
    lab.world->joint_target_velocity[0] = 1e3;
    lab_step(&lab, 100);
    ck_assert_double_eq_tol(lab.world->joint_velocity[0], 100.0 * h * most / mass, 1e-5);
    ck_assert_uint_eq(lab.report.row_count, 1);
    ck_assert(lab.report.certificate.converged);
    lab.world->joint_target_velocity[0] = 0.1; // now within what it can
    lab_step(&lab, 200);
    ck_assert_double_eq_tol(lab.world->joint_velocity[0], 0.1, 1e-4);
    lab_destroy(&lab);
}
END_TEST

// A block on a rail that leans: dry friction holds up to F, beyond it the rest accelerates.
START_TEST(dry_friction_holds_up_to_its_force) {
    const double h = 1e-2, force = 5.0;
    for (int moves = 0; moves < 2; moves++) {
        Lab lab = make_lab(0.0, h, INTEGRATOR_SYMPLECTIC);
        set_solver(&lab, (SolverKind)_i);
        uint32_t body = add_body(&lab, (Pose){vec3(0, 0, 0), upright()}, 2.0, vec3(1, 1, 1));
        Build build = begin(&lab, JOINT_SLIDER, -1, body, vec3(0, 0, 0), vec3(0, 0, 0), upright());
        build.friction[0] = force;
        add(&lab, &build);
        lab.world->joint_effort[0] = moves == 0 ? 0.99 * force : force + 1.0;
        lab_step(&lab, 100);
        // regularised friction creeps: by what it is regularised with, 1e-3 of the free motion
        ck_assert_double_eq_tol(lab.world->joint_velocity[0], moves == 0 ? 0.0 : 0.5, 5e-3);
        lab_destroy(&lab);
    }
}
END_TEST

// A rod that falls against a limit stays there, and what the limit bears is the weight.
START_TEST(a_limit_holds_what_falls_against_it) {
    Lab lab = make_lab(GRAVITY, 5e-3, INTEGRATOR_SYMPLECTIC);
    set_solver(&lab, (SolverKind)_i);
    add_body(&lab, (Pose){vec3(0.5, 0, 0), swung(1.5707963267948966)}, 1.0, vec3(0.1, 0.1, 0.01));
    Build build = begin(&lab, JOINT_HINGE, -1, 0, vec3(0, 0, 0), vec3(0, 0, 0.5), about_y());
    build.low[0] = 0.8;
    build.high[0] = 2.0;
    add(&lab, &build);
    lab_step(&lab, 400);
    // compliant ones rest a little inside
    ck_assert_double_eq_tol(lab.world->joint_position[0], 0.8, 2e-2);
    ck_assert_double_eq_tol(lab.world->joint_velocity[0], 0.0, 1e-3);
    ck_assert_uint_eq(lab.world->joint_memory_count, 1);
    const double borne = lab.world->joint_memory[0].impulse;
    lab_step(&lab, 1);      // which starts from it
    if (_i != SOLVER_LCP) { // which goes on from passes of its own
        ck_assert_double_eq(lab.stepper->problem.warm_row[0], borne);
    }
    const double torque = 0.5 * GRAVITY * sin(lab.world->joint_position[0]);
    ck_assert_double_eq_tol(lab.world->joint_memory[0].impulse, 5e-3 * torque, 1e-2 * 5e-3);
    lab_destroy(&lab);
}
END_TEST

// A ball's limits and springs are of its rotation vector: it swings against one about x, and a
// spring about all axes turns it back to where it is slack.
START_TEST(a_ball_has_limits_and_springs_about_all_axes) {
    Lab lab = make_lab(0.0, 1e-3, INTEGRATOR_SYMPLECTIC);
    uint32_t body = add_body(&lab, (Pose){vec3(0, 0, 0), upright()}, 1.0, vec3(1, 2, 3));
    Build build = begin(&lab, JOINT_BALL, -1, body, vec3(0, 0, 0), vec3(0, 0, 0), upright());
    build.high[0] = 0.5;
    for (int k = 0; k < 3; k++) {
        build.stiffness[k] = 50.0;
        build.damping[k] = 20.0;
        build.rest[k] = k == 0 ? 1.0 : 0.2;
    }
    add(&lab, &build);
    lab_step(&lab, 6000);
    Quat q = lab_orientation(&lab, body);
    const Vec3 turned = joint_rotation_vector(q);
    ck_assert_double_eq_tol(turned.x, 0.5, 1e-5);
    ck_assert_double_eq_tol(turned.y, 0.2, 1e-5);
    ck_assert_double_eq_tol(turned.z, 0.2, 1e-5);
    lab_destroy(&lab);
}
END_TEST

// ---- contacts

// An arm with a ball at its end comes down on the ground and stays, under all solvers, whichever of
// the two bodies comes first; its weight is shared by the ground and the hinge.
START_TEST(an_arm_rests_on_the_ground_under_every_solver) {
    Lab lab = make_lab(GRAVITY, 5e-3, INTEGRATOR_SYMPLECTIC);
    const bool is_ground_last = _i >= SOLVER_COUNT;
    set_solver(&lab, (SolverKind)(_i % SOLVER_COUNT));
    const Id surface = lab_material(&lab, 0.5, 0.0);
    if (!is_ground_last) {
        lab_ground(&lab, surface);
    }
    const Id ball = lab_shape(&lab, PRIMITIVE_SPHERE, vec3(0.1, 0, 0), surface);
    const double inertia[6] = {0.01, 0.01, 0.01, 0, 0, 0};
    uint32_t arm =
        lab_body(&lab, 0, BODY_DYNAMIC, (Pose){vec3(0.5, 0, 0.3), upright()}, NULL, 1.0, inertia);
    uint32_t tip = lab_body(&lab, ball, BODY_DYNAMIC, (Pose){vec3(1.0, 0, 0.3), upright()}, NULL,
                            1.0, inertia);
    if (is_ground_last) {
        lab_ground(&lab, surface);
    }
    Build build = begin(&lab, JOINT_HINGE, -1, arm, vec3(0, 0, 0.3), vec3(-0.5, 0, 0), about_y());
    add(&lab, &build);
    build = begin(&lab, JOINT_FIXED, (int)arm, tip, vec3(0.5, 0, 0), vec3(0, 0, 0), about_y());
    add(&lab, &build);
    lab_step(&lab, 600);
    ck_assert_double_eq_tol(lab_position(&lab, tip).z, 0.1, 5e-3);
    ck_assert_double_lt(vec3_norm(lab_velocity(&lab, tip)), 2e-3);
    ck_assert_uint_eq(lab.report.contact_count, 1);
    ck_assert(lab.report.certificate.converged);
    // moments about the hinge, 0.3 above the ground: 1.5 m g cos = F (cos + mu sin …) with the
    // friction anywhere between its two bounds; with none F = 1.5 m g
    const double force = lab.stepper->impulse[0] / 5e-3;
    ck_assert_double_eq_tol(force, 1.5 * GRAVITY, 0.2 * 1.5 * GRAVITY);
    ck_assert_double_eq_tol(lab.report.energy.unexplained, 0.0, 1e-9);
    lab_destroy(&lab);
}
END_TEST

// A ball that a mover drags over the ground by a rail feels the whole friction of its weight.
START_TEST(what_hangs_on_a_mover_is_dragged_over_the_ground) {
    const double h = 5e-3, mu = 0.5, mass = 2.0;
    Lab lab = make_lab(GRAVITY, h, INTEGRATOR_SYMPLECTIC);
    lab_ground(&lab, lab_material(&lab, mu, 0.0));
    const Id ball = lab_shape(&lab, PRIMITIVE_SPHERE, vec3(0.1, 0, 0), lab_material(&lab, mu, 0.0));
    const double motion[6] = {0.7, 0, 0, 0, 0, 0};
    uint32_t mover =
        lab_body(&lab, 0, BODY_KINEMATIC, (Pose){vec3(0, 0, 1), upright()}, motion, 0.0, NULL);
    uint32_t body =
        lab_body(&lab, ball, BODY_DYNAMIC, (Pose){vec3(0, 0, 0.1), upright()}, NULL, mass, NULL);
    Build build =
        begin(&lab, JOINT_SLIDER, (int)mover, body, vec3(0, 0, 0), vec3(0, 0, 0), upright());
    add(&lab, &build);
    lab_step(&lab, 100);
    const double *impulse = lab.stepper->impulse;
    ck_assert_uint_eq(lab.report.contact_count, 1);
    // the solver's tolerance, of g h
    ck_assert_double_eq_tol(impulse[0], mass * GRAVITY * h, 1e-5);
    ck_assert_double_eq_tol(hypot(impulse[1], impulse[2]), mu * mass * GRAVITY * h, 1e-5);
    ck_assert_double_eq_tol(lab_position(&lab, body).x, 0.7 * 100 * h, 1e-9);
    lab_destroy(&lab);
}
END_TEST

// A bob that comes through its lowest point is drawn up by w^2 (l + r) at its lower end.
START_TEST(the_change_of_a_jacobian_knows_the_joint) {
    const double length = 1.0, radius = 0.1, rate = 3.0;
    Lab lab = make_lab(GRAVITY, 1e-3, INTEGRATOR_SYMPLECTIC);
    set_solver(&lab, SOLVER_COMPLIANT);
    lab_set(&lab, "gdot", 1.0);
    lab_ground(&lab, lab_material(&lab, 0.0, 0.0));
    const Id ball = lab_shape(&lab, PRIMITIVE_SPHERE, vec3(radius, 0, 0), 0);
    uint32_t body =
        lab_body(&lab, ball, BODY_DYNAMIC, (Pose){vec3(0, 0, radius), upright()}, NULL, 1.0, NULL);
    Build build = begin(&lab, JOINT_HINGE, -1, body, vec3(0, 0, length + radius),
                        vec3(0, 0, length), about_y());
    add(&lab, &build);
    lab.world->joint_velocity[0] = rate;
    world_place_trees(lab.world);
    lab_step(&lab, 1);
    ck_assert_uint_eq(lab.report.contact_count, 1);
    // the arm leads to the middle between the surfaces, where the step's motion brings them
    ck_assert_double_eq_tol(lab.stepper->law[0].gdot[0], rate * rate * (length + radius), 1e-2);
    lab_destroy(&lab);
}
END_TEST

// A dumbbell that floats is hit by a ball, off its middle: what one loses the other gets, also
// under a solver that asks for the contact anew where the bodies come to.
START_TEST(a_blow_between_a_tree_and_a_body_keeps_the_momentum) {
    Lab lab = make_lab(0.0, 1e-2, INTEGRATOR_SYMPLECTIC);
    set_solver(&lab, (SolverKind)_i);
    const Id ball =
        lab_shape(&lab, PRIMITIVE_SPHERE, vec3(0.2, 0, 0), lab_material(&lab, 0.3, 0.0));
    const Vec3 place[3] = {{0, 0, 0}, {1, 0, 0}, {0.85, 0.05, 0.5}};
    for (uint32_t i = 0; i < 3; i++) {
        const double velocity[6] = {0, 0, i == 2 ? -6.0 : 0.0, 0, 0, 0};
        lab_body(&lab, ball, BODY_DYNAMIC, (Pose){place[i], upright()}, velocity, 1.0, NULL);
    }
    Build build = begin(&lab, JOINT_FIXED, 0, 1, vec3(1, 0, 0), vec3(0, 0, 0), upright());
    add(&lab, &build);
    uint32_t touched = 0;
    for (int i = 0; i < 10; i++) {
        lab_step(&lab, 1);
        touched += lab.report.contact_count > 0 && lab.stepper->impulse[0] > 0.1;
        if (touched == 1) {
            break; // later on bodies turn, and the tree's momentum is the scheme's
        }
    }
    ck_assert_uint_eq(touched, 1);
    const double *v = lab.stepper->v; // the ball first, then the tree, of which both halves move
    const Vec3 of_ball = vec3_load(v), root = vec3_load(v + 6), spin = vec3_load(v + 9);
    const Vec3 other = vec3_add(root, vec3_cross(spin, vec3(1, 0, 0)));
    const Vec3 sum = vec3_add(of_ball, vec3_add(root, other));
    ck_assert_double_eq_tol(sum.x, 0.0, 1e-9);
    ck_assert_double_eq_tol(sum.y, 0.0, 1e-9);
    ck_assert_double_eq_tol(sum.z, -6.0, 1e-9);
    lab_destroy(&lab);
}
END_TEST

// A chain of balls falls on a box of the world, floats, and comes to rest; twice the same, with any
// number of lanes, and as its snapshot goes on.
static void drop_chain(Lab *lab, SolverKind kind, uint32_t chains) {
    set_solver(lab, kind);
    lab_ground(lab, lab_material(lab, 0.4, 0.0));
    const Id ball = lab_shape(lab, PRIMITIVE_SPHERE, vec3(0.1, 0, 0), lab_material(lab, 0.4, 0.0));
    uint64_t seed = 11;
    for (uint32_t c = 0; c < chains; c++) {
        const Vec3 at = vec3(lab_random(&seed, -1, 1), 1.0 * c, lab_random(&seed, 0.3, 0.6));
        uint32_t last = 0;
        for (uint32_t i = 0; i < 5; i++) {
            uint32_t body =
                lab_body(lab, ball, BODY_DYNAMIC,
                         (Pose){vec3(at.x + 0.25 * i, at.y, at.z), upright()}, NULL, 1.0, NULL);
            if (i > 0) {
                Build build = begin(lab, i % 2 == 0 ? JOINT_HINGE : JOINT_BALL, (int)last, body,
                                    vec3(0.125, 0, 0), vec3(-0.125, 0, 0), about_y());
                build.damping[0] = build.damping[1] = build.damping[2] = 0.05;
                build.low[0] = -1.0;
                build.friction[0] = 0.01;
                add(lab, &build);
            }
            last = body;
        }
    }
}

START_TEST(chains_that_fall_are_the_same_for_any_lanes_and_from_any_snapshot) {
    enum { CHAINS = 12, STEPS = 120 };
    uint64_t hash[3];
    for (int i = 0; i < 3; i++) {
        Crew *crew = i == 1 ? crew_create(3, 1) : NULL;
        Lab lab = make_lab(GRAVITY, 5e-3, INTEGRATOR_SYMPLECTIC);
        lab.context.tasks = crew == NULL ? NULL : crew_tasks(crew);
        drop_chain(&lab, (SolverKind)_i, CHAINS);
        for (int k = 0; k < STEPS; k++) {
            lab_step(&lab, 1);
            ck_assert_double_eq_tol(lab.report.energy.unexplained, 0.0, 1e-8);
            if (i == 2 && k == STEPS / 2) {
                lab_restore(&lab);
            }
        }
        ck_assert_uint_gt(lab.report.contact_count, CHAINS);
        hash[i] = snapshot_hash(lab.world);
        lab_destroy(&lab);
        if (crew != NULL) {
            crew_destroy(crew);
        }
    }
    ck_assert_uint_eq(hash[0], hash[1]);
    ck_assert_uint_eq(hash[0], hash[2]);
}
END_TEST

// A tree of so many velocities stands in the problem as links, and one of a few as a matrix: both
// come to rest on the ground, and leave nothing unexplained.
START_TEST(a_long_chain_lies_down) {
    enum { LINKS = 40, SECONDS = 2, HERTZ = 500 };
    Lab lab = make_lab(GRAVITY, 1.0 / HERTZ, INTEGRATOR_SYMPLECTIC);
    const Id surface = lab_material(&lab, 0.5, 0.0);
    lab_ground(&lab, surface);
    const Id ball = lab_shape(&lab, PRIMITIVE_SPHERE, vec3(0.05, 0, 0), surface);
    for (uint32_t i = 0; i < LINKS; i++) {
        uint32_t body =
            lab_body(&lab, ball, BODY_DYNAMIC,
                     (Pose){vec3(0.11 * i, 0, 0.06 + 0.002 * i), upright()}, NULL, 0.2, NULL);
        if (i > 0) {
            Build build = begin(&lab, i % 2 == 0 ? JOINT_HINGE : JOINT_UNIVERSAL, (int)body - 1,
                                body, vec3(0.055, 0, 0), vec3(-0.055, 0, 0), about_y());
            build.damping[0] = build.damping[1] = 0.002;
            add(&lab, &build);
        }
    }
    for (int i = 0; i < SECONDS * HERTZ; i++) {
        lab_step(&lab, 1);
        ck_assert_double_eq_tol(lab.report.energy.unexplained, 0.0, 1e-8);
    }
    ck_assert_uint_gt(lab.stepper->problem.tree[0].link_count, 0);
    for (uint32_t body = 1; body <= LINKS; body++) {
        ck_assert_double_eq_tol(lab_position(&lab, body).z, 0.05, 2e-3);
        ck_assert_double_lt(vec3_norm(lab_velocity(&lab, body)), 2e-2);
    }
    lab_destroy(&lab);
}
END_TEST

// A mass without extent on a hinge at the rim of a table that turns; about the rim's tangent.
static Lab make_turntable(double h, Integrator integrator, double rate, double radius,
                          double length, double damping) {
    Lab lab = make_lab(GRAVITY, h, integrator);
    const double spin[6] = {0, 0, 0, 0, 0, rate};
    uint32_t table =
        lab_body(&lab, 0, BODY_KINEMATIC, (Pose){vec3(0, 0, 0), upright()}, spin, 0.0, NULL);
    uint32_t body =
        add_body(&lab, (Pose){vec3(radius, 0, -length), upright()}, 1.0, vec3(1e-9, 1e-9, 1e-9));
    Build build = begin(&lab, JOINT_HINGE, (int)table, body, vec3(radius, 0, 0), vec3(0, 0, length),
                        about_y());
    build.damping[0] = damping;
    add(&lab, &build);
    return lab;
}

// a'' = w^2 (r/l + sin a) cos a - g/l sin a, by the midpoint rule, of second order also in how the
// table turns.
START_TEST(a_pendulum_on_a_turntable_swings_to_second_order) {
    const double rate = 3.0, radius = 0.3, length = 0.5;
    double a = 0.0, v = 0.0, error[2];
    for (int i = 0; i < 20000; i++) { // fourth order, in two halves of a step: leaves 1e-10
        const double h = 5e-5;
        double x[4] = {0.0}, y[4] = {0.0};
        for (int k = 0; k < 4; k++) {
            const double part = k == 0 ? 0.0 : k == 3 ? h : 0.5 * h;
            const double at = a + part * (k == 0 ? 0.0 : x[k - 1]);
            x[k] = v + part * (k == 0 ? 0.0 : y[k - 1]);
            y[k] = rate * rate * (radius / length + sin(at)) * cos(at) - GRAVITY / length * sin(at);
        }
        a += h / 6.0 * (x[0] + 2.0 * x[1] + 2.0 * x[2] + x[3]);
        v += h / 6.0 * (y[0] + 2.0 * y[1] + 2.0 * y[2] + y[3]);
    }
    for (int i = 0; i < 2; i++) {
        const int steps = 250 << i;
        Lab lab = make_turntable(1.0 / steps, INTEGRATOR_MIDPOINT, rate, radius, length, 0.0);
        lab_step(&lab, steps);
        error[i] = fabs(lab.world->joint_position[0] - a);
        lab_destroy(&lab);
    }
    ck_assert_double_lt(error[0], 1e-3);
    ck_assert_double_eq_tol(log2(error[0] / error[1]), 2.0, 0.1);
}
END_TEST

// On a turntable that turns evenly a pendulum leans out: tan a = w^2 (r + l sin a)/g.
START_TEST(a_pendulum_on_a_turntable_leans_out) {
    const double rate = 4.0, radius = 0.3, length = 0.5;
    Lab lab = make_turntable(2e-3, INTEGRATOR_SYMPLECTIC, rate, radius, length, 2.0);
    lab_step(&lab, 4999);
    lab_restore(&lab); // what hangs on it is where it has turned to
    lab_step(&lab, 1);
    double lean = 0.5; // the fixed point draws near, as w^2 l cos^3 a < g
    for (int i = 0; i < 200; i++) {
        lean = atan(rate * rate * (radius + length * sin(lean)) / GRAVITY);
    }
    // first order in h w = 8e-3
    ck_assert_double_eq_tol(lab.world->joint_position[0], lean, 2e-3);
    ck_assert_double_eq_tol(lab.world->joint_velocity[0], 0.0, 1e-6);
    lab_destroy(&lab);
}
END_TEST

// What a joint holds together does not touch, unless it is told to.
START_TEST(joined_bodies_touch_only_where_the_joint_says_so) {
    for (int collides = 0; collides < 2; collides++) {
        Lab lab = make_lab(0.0, 5e-3, INTEGRATOR_SYMPLECTIC);
        const Id ball = lab_shape(&lab, PRIMITIVE_SPHERE, vec3(0.2, 0, 0), 0);
        for (uint32_t i = 0; i < 3; i++) {
            lab_body(&lab, ball, BODY_DYNAMIC, (Pose){vec3(0.3 * i, 0, 0), upright()}, NULL, 1.0,
                     NULL);
        }
        for (uint32_t i = 1; i < 3; i++) {
            Build build = begin(&lab, JOINT_SLIDER, (int)i - 1, i, vec3(0, 0, 0), vec3(-0.3, 0, 0),
                                upright());
            const uint32_t touches = (uint32_t)collides;
            build.columns.collides = &touches;
            const uint8_t axes = joint_kind_axes(JOINT_SLIDER);
            build.columns = (JointColumns){.count = 1,
                                           .axis_count = joint_axis_count(axes),
                                           .position_count = joint_position_count(axes),
                                           .kind = &build.kind,
                                           .body_a = &build.a,
                                           .body_b = &build.b,
                                           .frame_a = build.frame_a,
                                           .frame_b = build.frame_b,
                                           .collides = &touches};
            lab_joints(&lab, &build.columns);
        }
        lab_step(&lab, 1);
        ck_assert_uint_eq(lab.report.contact_count, collides == 0 ? 0 : 2);
        lab_destroy(&lab);
    }
}
END_TEST

static TCase *case_forms(void) {
    TCase *tcase = tcase_create("forms");
    tcase_set_timeout(tcase, 120.0);
    tcase_add_loop_test(tcase, a_pendulum_has_the_order_of_its_integrator, 0, INTEGRATOR_COUNT);
    tcase_add_test(tcase, the_period_of_a_pendulum_is_right_to_1e_6);
    tcase_add_test(tcase, katers_pendulum_swings_alike_about_both_pivots);
    tcase_add_loop_test(tcase, a_double_pendulum_follows_lagrange_at_its_integrators_order, 0,
                        INTEGRATOR_COUNT);
    tcase_add_test(tcase, a_fast_top_precesses_as_euler_says);
    tcase_add_loop_test(tcase, a_tree_of_one_floating_body_flips_as_the_body_does, 0,
                        INTEGRATOR_COUNT);
    tcase_add_loop_test(tcase, a_floating_tree_that_is_rigid_flips_as_one_body, 0,
                        INTEGRATOR_COUNT);
    tcase_add_test(tcase, a_floating_tree_keeps_its_momentum);
    tcase_add_loop_test(tcase, a_whip_survives_with_bounded_energy, 0, INTEGRATOR_COUNT);
    tcase_add_loop_test(tcase, a_chain_is_stable_up_to_its_fastest_mode, 0, 2);
    return tcase;
}

static TCase *case_axes(void) {
    TCase *tcase = tcase_create("axes");
    tcase_set_timeout(tcase, 120.0);
    tcase_add_test(tcase, a_slider_on_a_spring_swings_at_the_spring_s_rate);
    tcase_add_loop_test(tcase, stiff_drives_are_stable_and_come_to_their_targets, 0,
                        2 * SOLVER_COUNT);
    tcase_add_loop_test(tcase, a_strong_drive_is_the_same_as_a_row, 0, INTEGRATOR_COUNT);
    tcase_add_loop_test(tcase, a_drive_gives_no_more_than_its_effort, 0, SOLVER_COUNT);
    tcase_add_loop_test(tcase, dry_friction_holds_up_to_its_force, 0, SOLVER_COUNT);
    tcase_add_loop_test(tcase, a_limit_holds_what_falls_against_it, 0, SOLVER_COUNT);
    tcase_add_test(tcase, a_ball_has_limits_and_springs_about_all_axes);
    return tcase;
}

static TCase *case_contacts(void) {
    TCase *tcase = tcase_create("contacts");
    tcase_set_timeout(tcase, 120.0);
    tcase_add_loop_test(tcase, an_arm_rests_on_the_ground_under_every_solver, 0, 2 * SOLVER_COUNT);
    tcase_add_test(tcase, what_hangs_on_a_mover_is_dragged_over_the_ground);
    tcase_add_test(tcase, the_change_of_a_jacobian_knows_the_joint);
    tcase_add_loop_test(tcase, a_blow_between_a_tree_and_a_body_keeps_the_momentum, 0,
                        SOLVER_COUNT);
    tcase_add_loop_test(tcase, chains_that_fall_are_the_same_for_any_lanes_and_from_any_snapshot, 0,
                        SOLVER_COUNT);
    tcase_add_test(tcase, a_long_chain_lies_down);
    tcase_add_test(tcase, a_pendulum_on_a_turntable_swings_to_second_order);
    tcase_add_test(tcase, a_pendulum_on_a_turntable_leans_out);
    tcase_add_test(tcase, joined_bodies_touch_only_where_the_joint_says_so);
    return tcase;
}

SUITE_MAIN("step/tree_world", case_forms, case_axes, case_contacts)
