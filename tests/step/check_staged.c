// SPDX-License-Identifier: MIT
// Integrators that go by stages: their order where nothing pushes, against closed forms and against
// themselves at a fine step; that a turned world is the same world; that a snapshot goes on with
// the same bits; and that what is pushed, or too stiff, is as under symplectic.
#include "step/step.h"

#include "support/lab.h"
#include "support/suite.h"

#include <math.h>
#include <string.h>

#define GRAVITY 9.81

static const struct Staged {
    Integrator integrator;
    double order;
} staged[] = {{INTEGRATOR_RK4, 4.0}, {INTEGRATOR_VERLET, 2.0}};
enum { STAGED = sizeof(staged) / sizeof(staged[0]) };

// ---- building

static const Quat generic = {0.36, -0.48, 0.64, 0.48};

typedef struct Joining {
    JointKind kind;
    int parent; // -1: the world
    uint32_t child;
    Vec3 at_a, at_b;
    Quat frame;
    double stiffness, damping, drive, effort_max;
} Joining;

static void join(Lab *lab, const Joining *of) {
    const uint8_t axes = joint_kind_axes(of->kind);
    const uint32_t kind = of->kind;
    const uint64_t a = of->parent < 0 ? 0 : lab->world->body_id[of->parent],
                   b = lab->world->body_id[of->child];
    double frame_a[7], frame_b[7], stiffness[6], damping[6], drive[6], most[6];
    // of the world, as the body has them
    const Quat turn = of->parent < 0 ? lab_orientation(lab, of->child) : quat_identity();
    pose_store(frame_a, (Pose){quat_rotate(turn, of->at_a), quat_mul(turn, of->frame)});
    pose_store(frame_b, (Pose){of->at_b, of->frame});
    for (int k = 0; k < 6; k++) {
        stiffness[k] = of->stiffness;
        damping[k] = of->damping;
        drive[k] = of->drive;
        most[k] = of->effort_max > 0.0 ? of->effort_max : HUGE_VAL;
    }
    const JointColumns columns = {.count = 1,
                                  .axis_count = joint_axis_count(axes),
                                  .position_count = joint_position_count(axes),
                                  .kind = &kind,
                                  .body_a = &a,
                                  .body_b = &b,
                                  .frame_a = frame_a,
                                  .frame_b = frame_b,
                                  .stiffness = stiffness,
                                  .damping = damping,
                                  .drive_damping = drive,
                                  .effort_max = most};
    lab_joints(lab, &columns);
}

static Lab make_lab(Integrator integrator, double h, Quat turn) {
    Lab lab = lab_create(0.0, h);
    lab.world->settings.integrator = (uint8_t)integrator;
    lab.world->settings.gravity = quat_rotate(turn, vec3(0.0, 0.0, -GRAVITY));
    return lab;
}

// A body that turns about the origin of a world that is turned.
static uint32_t add_link(Lab *lab, Id shape, Vec3 place, Quat turn, Vec3 spin, double mass) {
    const double inertia[6] = {0.04 * mass,  0.05 * mass,   0.03 * mass,
                               0.004 * mass, -0.003 * mass, 0.005 * mass};
    double velocity[6];
    vec3_store(velocity, quat_rotate(turn, vec3_cross(spin, place)));
    vec3_store(velocity + 3, quat_rotate(turn, spin));
    return lab_body(lab, shape, BODY_DYNAMIC, (Pose){quat_rotate(turn, place), turn}, velocity,
                    mass, inertia);
}

// Three links: of a ball, a hinge that leans and a universal joint, with soft springs and dampers
// on them. It hangs on the world, or flies.
static Lab make_limb(Integrator integrator, double h, Quat turn, bool flies) {
    Lab lab = make_lab(integrator, h, turn);
    const Vec3 spin = vec3(0.8, -1.1, 0.5);
    const double masses[3] = {2.0, 1.0, 0.6};
    static const JointKind kinds[3] = {JOINT_BALL, JOINT_HINGE, JOINT_UNIVERSAL};
    for (uint32_t i = 0; i < 3; i++) {
        add_link(&lab, 0, vec3(0.3 + 0.4 * i, 0.1 * i, -0.2), turn, spin, masses[i]);
    }
    for (uint32_t i = flies ? 1 : 0; i < 3; i++) {
        const Joining joint = {.kind = kinds[i],
                               .parent = (int)i - 1,
                               .child = i,
                               .at_a = i == 0 ? vec3(0.0, 0.0, 0.0) : vec3(0.2, 0.1, 0.0),
                               .at_b = i == 0 ? vec3(-0.3, 0.0, 0.2) : vec3(-0.2, 0.0, 0.0),
                               .frame =
                                   i == 0 ? turn : quat_normalize((Quat){0.8, 0.1 * i, -0.3, 0.4}),
                               .stiffness = 4.0,
                               .damping = flies ? 0.0 : 0.1};
        Joining of = joint;
        of.frame = i == 0 ? turn : joint.frame;
        join(&lab, &of);
    }
    return lab;
}

// ---- order

static double apart(const Lab *a, const Lab *b) {
    double sum = 0.0;
    for (uint32_t i = 0; i < a->world->body_count; i++) {
        sum += vec3_norm(vec3_sub(lab_position(a, i), lab_position(b, i)));
        sum += vec3_norm(vec3_sub(lab_spin(a, i), lab_spin(b, i)));
    }
    return sum;
}

START_TEST(a_limb_converges_with_the_order_of_its_stages) {
    const struct Staged *of = &staged[_i / 2];
    const bool flies = _i % 2 == 1;
    const int steps = of->order > 2.5 ? 60 : 200;
    const double time = 0.5;
    Lab lab[3];
    for (int i = 0; i < 3; i++) {
        const int count = i == 2 ? 32 * steps : steps << i;
        lab[i] = make_limb(of->integrator, time / count, generic, flies);
        lab_step(&lab[i], count);
    }
    const double coarse = apart(&lab[0], &lab[2]), fine = apart(&lab[1], &lab[2]);
    ck_assert_double_lt(fine, of->order > 2.5 ? 1e-6 : 1e-3);
    ck_assert_double_eq_tol(log2(coarse / fine), of->order, 0.15);
    for (int i = 0; i < 3; i++) {
        lab_destroy(&lab[i]);
    }
}
END_TEST

static void assert_same_bits(const Lab *a, const Lab *b) {
    const size_t bodies = a->world->body_count;
    ck_assert_mem_eq(a->world->pose, b->world->pose, bodies * 7 * sizeof(double));
    ck_assert_mem_eq(a->world->velocity, b->world->velocity, bodies * 6 * sizeof(double));
}

// Where nothing touches, substeps are steps, by whatever moves them.
START_TEST(a_limb_in_substeps_moves_as_in_as_many_steps) {
    const Integrator integrator = (Integrator)(_i / 2);
    const bool flies = _i % 2 == 1;
    enum { SUBSTEPS = 3, STEPS = 100 };
    const double h = 0.006;
    Lab whole = make_limb(integrator, h, generic, flies),
        small = make_limb(integrator, h / SUBSTEPS, generic, flies);
    lab_divide(&whole, SUBSTEPS);
    lab_step(&whole, STEPS);
    lab_step(&small, SUBSTEPS * STEPS);
    assert_same_bits(&whole, &small);
    lab_destroy(&whole);
    lab_destroy(&small);
}
END_TEST

static Quat turned_by(Vec3 way) {
    const double angle = vec3_norm(way), part = sin(0.5 * angle) / angle;
    return (Quat){cos(0.5 * angle), part * way.x, part * way.y, part * way.z};
}

// A top that nothing holds turns about its axis, at w3 (1 - c/a), and with it about its angular
// momentum, at L/a.
static double error_of_top(Integrator integrator, int steps) {
    enum { SECONDS = 1 };
    const double a = 0.2, c = 0.05, inertia[6] = {a, a, c, 0.0, 0.0, 0.0};
    const Vec3 spin = vec3(3.0, 0.0, 7.0), momentum = vec3(a * spin.x, 0.0, c * spin.z);
    Lab lab = make_lab(integrator, 1.0 / steps, generic);
    double velocity[6] = {0.0};
    vec3_store(velocity + 3, quat_rotate(generic, spin));
    const uint32_t body =
        lab_body(&lab, 0, BODY_DYNAMIC, (Pose){.orientation = generic}, velocity, 1.0, inertia);
    lab_step(&lab, steps * SECONDS);
    const Quat about = turned_by(vec3_scale(SECONDS / a, momentum)),
               itself = turned_by(vec3(0.0, 0.0, SECONDS * spin.z * (1.0 - c / a))),
               exact = quat_mul(generic, quat_mul(about, itself)), q = lab_orientation(&lab, body);
    // momentum and energy stay, to rounding
    const Mat3 axes = quat_to_mat3(q);
    const Vec3 own = mat3_tmul_vec(axes, lab_spin(&lab, body)),
               kept = mat3_mul_vec(axes, vec3(a * own.x, a * own.y, c * own.z));
    ck_assert_double_lt(vec3_norm(vec3_sub(kept, quat_rotate(generic, momentum))), 1e-12);
    ck_assert_double_eq_tol(a * (own.x * own.x + own.y * own.y) + c * own.z * own.z,
                            vec3_dot(spin, momentum), 1e-12);
    lab_destroy(&lab);
    const double sign =
        q.w * exact.w + q.x * exact.x + q.y * exact.y + q.z * exact.z < 0.0 ? -1.0 : 1.0;
    return sqrt(pow(q.w - sign * exact.w, 2.0) + pow(q.x - sign * exact.x, 2.0) +
                pow(q.y - sign * exact.y, 2.0) + pow(q.z - sign * exact.z, 2.0));
}

START_TEST(a_free_top_turns_as_its_closed_form) {
    const struct Staged *of = &staged[_i];
    const int steps = of->order > 2.5 ? 100 : 400;
    const double coarse = error_of_top(of->integrator, steps),
                 fine = error_of_top(of->integrator, 2 * steps);
    ck_assert_double_lt(fine, of->order > 2.5 ? 1e-5 : 1e-3);
    ck_assert_double_eq_tol(log2(coarse / fine), of->order, 0.1);
}
END_TEST

// ---- the same anyhow

START_TEST(a_turned_world_is_the_same_world) {
    const struct Staged *of = &staged[_i / 2];
    const bool flies = _i % 2 == 1;
    Lab plain = make_limb(of->integrator, 0.005, quat_identity(), flies),
        turned = make_limb(of->integrator, 0.005, generic, flies);
    for (int n = 0; n < 100; n++) {
        lab_step(&plain, 1);
        lab_step(&turned, 1);
        for (uint32_t i = 0; i < 3; i++) {
            const Vec3 there = quat_rotate(generic, lab_position(&plain, i)),
                       off = vec3_sub(there, lab_position(&turned, i));
            ck_assert_double_lt(vec3_norm(off), 1e-11);
        }
    }
    lab_destroy(&plain);
    lab_destroy(&turned);
}
END_TEST

START_TEST(what_is_restored_goes_on_with_the_same_bits) {
    Lab one = make_limb(staged[_i / 2].integrator, 0.005, generic, _i % 2 == 1),
        other = make_limb(staged[_i / 2].integrator, 0.005, generic, _i % 2 == 1);
    lab_step(&one, 100);
    lab_step(&other, 37);
    lab_restore(&other);
    lab_step(&other, 63);
    assert_same_bits(&one, &other);
    lab_destroy(&one);
    lab_destroy(&other);
}
END_TEST

// ---- what is symplectic

// Two rods of mass and length 1, by their angles off the vertical and the momenta of these.
typedef struct Phase {
    double a, b, pa, pb;
} Phase;

static double coupling(double a, double b) {
    return 0.5 * cos(a - b);
}

static Lab make_rods(Integrator integrator, double h, const Phase *at) {
    const double c = coupling(at->a, at->b), det = 4.0 / 9.0 - c * c,
                 va = (at->pa / 3.0 - c * at->pb) / det,
                 vb = (4.0 / 3.0 * at->pb - c * at->pa) / det;
    const Vec3 way[2] = {vec3(sin(at->a), 0.0, -cos(at->a)), vec3(sin(at->b), 0.0, -cos(at->b))},
               rate[2] = {vec3(va * cos(at->a), 0.0, va * sin(at->a)),
                          vec3(vb * cos(at->b), 0.0, vb * sin(at->b))};
    const double angle[2] = {at->a, at->b}, spin[2] = {va, vb};
    const double inertia[6] = {1.0 / 12.0, 1.0 / 12.0, 1e-4, 0.0, 0.0, 0.0};
    Lab lab = make_lab(integrator, h, quat_identity());
    for (uint32_t i = 0; i < 2; i++) {
        const Vec3 above = vec3_scale(i, way[0]), moves = vec3_scale(i, rate[0]);
        const Pose pose = {vec3_add_scaled(above, 0.5, way[i]),
                           {cos(0.5 * angle[i]), 0.0, -sin(0.5 * angle[i]), 0.0}};
        double velocity[6] = {0.0, 0.0, 0.0, 0.0, -spin[i], 0.0};
        vec3_store(velocity, vec3_add_scaled(moves, 0.5, rate[i]));
        lab_body(&lab, 0, BODY_DYNAMIC, pose, velocity, 1.0, inertia);
    }
    for (uint32_t i = 0; i < 2; i++) {
        // z to -y: angles are positive towards +x
        const Joining hinge = {.kind = JOINT_HINGE,
                               .parent = (int)i - 1,
                               .child = i,
                               .at_a = vec3(0.0, 0.0, -0.5 * i),
                               .at_b = vec3(0.0, 0.0, 0.5),
                               .frame = quat_normalize((Quat){1.0, 1.0, 0.0, 0.0})};
        join(&lab, &hinge);
    }
    return lab;
}

// Where a step takes it.
static Phase step_phase(Integrator integrator, double h, Phase at) {
    Lab lab = make_rods(integrator, h, &at);
    const double *q = lab.world->joint_position, *v = lab.world->joint_velocity;
    const double q0 = q[0]; // of the body that the hinge is on
    lab_step(&lab, 1);
    const double a = at.a + q[0] - q0, b = a + q[1], va = v[0], vb = v[0] + v[1],
                 c = coupling(a, b);
    lab_destroy(&lab);
    return (Phase){a, b, 4.0 / 3.0 * va + c * vb, vb / 3.0 + c * va};
}

// The largest entry of J^T W J - W, J by differences: what of areas a step does not keep.
static double area_lost(Integrator integrator, double h) {
    const double d = 1e-4;
    const Phase at = {0.9, -0.4, 1.1, -0.3};
    double column[4][4], worst = 0.0;
    for (int j = 0; j < 4; j++) {
        Phase more = at, less = at;
        double *of[2][4] = {{&more.a, &more.b, &more.pa, &more.pb},
                            {&less.a, &less.b, &less.pa, &less.pb}};
        *of[0][j] += d;
        *of[1][j] -= d;
        const Phase up = step_phase(integrator, h, more), down = step_phase(integrator, h, less);
        column[j][0] = (up.a - down.a) / (2.0 * d);
        column[j][1] = (up.b - down.b) / (2.0 * d);
        column[j][2] = (up.pa - down.pa) / (2.0 * d);
        column[j][3] = (up.pb - down.pb) / (2.0 * d);
    }
    for (int i = 0; i < 4; i++) {
        for (int j = 0; j < 4; j++) {
            const double *x = column[i], *y = column[j];
            const double area = x[0] * y[2] - x[2] * y[0] + x[1] * y[3] - x[3] * y[1];
            const double before = j == i + 2 ? 1.0 : i == j + 2 ? -1.0 : 0.0;
            worst = fmax(worst, fabs(area - before));
        }
    }
    return worst;
}

START_TEST(verlet_keeps_areas_of_phase_space) {
    ck_assert_double_lt(area_lost(INTEGRATOR_VERLET, 0.05), 1e-7); // d^2 and 1e-12/d of roundings
    ck_assert_double_gt(area_lost(INTEGRATOR_SYMPLECTIC, 0.05), 1e-4);
}
END_TEST

// Its energy swings, and after 1e5 steps it swings as at first.
START_TEST(verlet_keeps_its_energy_for_a_hundred_thousand_steps) {
    enum { PARTS = 10, STEPS = 10000 };
    const Phase at = {0.9, 0.4, 0.0, 0.0};
    Lab lab = make_rods(INTEGRATOR_VERLET, 0.01, &at);
    double least[PARTS], most[PARTS];
    for (int part = 0; part < PARTS; part++) {
        least[part] = HUGE_VAL;
        most[part] = -HUGE_VAL;
        for (int i = 0; i < STEPS; i++) {
            lab_step(&lab, 1);
            least[part] = fmin(least[part], lab.report.energy.after);
            most[part] = fmax(most[part], lab.report.energy.after);
        }
        const double swing = most[0] - least[0];
        ck_assert_double_lt(swing, 5e-3); // of 8 J between its highest and its lowest
        ck_assert_double_lt(fabs(most[part] - most[0]), 0.1 * swing);
        ck_assert_double_lt(fabs(least[part] - least[0]), 0.1 * swing);
    }
    lab_destroy(&lab);
}
END_TEST

// ---- what is pushed

// A rod with a ball at its end, on a hinge 0.5 m above the ground, let go level.
static Lab make_flail(Integrator integrator) {
    Lab lab = make_lab(integrator, 0.005, quat_identity());
    lab_ground(&lab, 0);
    const Id ball = lab_shape(&lab, PRIMITIVE_SPHERE, vec3(0.1, 0.0, 0.0), 0);
    const double inertia[6] = {0.02, 0.02, 0.02, 0.0, 0.0, 0.0};
    const uint32_t body = lab_body(&lab, ball, BODY_DYNAMIC,
                                   (Pose){{1.0, 0.0, 0.5}, quat_identity()}, NULL, 2.0, inertia);
    const Joining hinge = {.kind = JOINT_HINGE,
                           .parent = -1,
                           .child = body,
                           .at_a = vec3(0.0, 0.0, 0.5),
                           .at_b = vec3(-1.0, 0.0, 0.0),
                           .frame = quat_normalize((Quat){1.0, 1.0, 0.0, 0.0})};
    join(&lab, &hinge);
    return lab;
}

START_TEST(what_falls_on_the_ground_rests_there) {
    Lab lab = make_flail(staged[_i].integrator);
    double lowest = 1.0;
    for (int n = 0; n < 400; n++) {
        lab_step(&lab, 1);
        const StepEnergy *e = &lab.report.energy;
        lowest = fmin(lowest, lab_position(&lab, 1).z);
        ck_assert_double_le(fabs(e->unexplained), 1e-12 * e->scale);
        ck_assert_double_le(step_gain(e), 1e-9);
    }
    // the step in which it comes down turns by its end as by its begin: 3 m/s, h and 0.4 m/m
    ck_assert_double_gt(lowest, 0.1 - 1e-4);
    ck_assert_double_lt(vec3_norm(lab_velocity(&lab, 1)), 1e-9);
    ck_assert_double_lt(lab_position(&lab, 1).z, 0.1 + 1e-3);
    lab_destroy(&lab);
}
END_TEST

// ---- what is too stiff

// One hinge with a spring of k, and the same under symplectic.
static void compare_stiff(Integrator integrator, double stiffness, double damping, double speed,
                          bool same) {
    Lab lab[2];
    for (int i = 0; i < 2; i++) {
        lab[i] = make_lab(i == 0 ? integrator : INTEGRATOR_SYMPLECTIC, 0.005, generic);
        add_link(&lab[i], 0, vec3(0.5, 0.0, 0.0), generic, vec3(0.0, speed, 0.0), 1.0);
        const Joining hinge = {.kind = JOINT_HINGE,
                               .parent = -1,
                               .child = 0,
                               .at_b = vec3(-0.5, 0.0, 0.0),
                               .frame = quat_normalize((Quat){1.0, 1.0, 0.0, 0.0}),
                               .stiffness = stiffness,
                               .damping = damping};
        join(&lab[i], &hinge);
        lab_step(&lab[i], 100);
    }
    if (same) {
        assert_same_bits(&lab[0], &lab[1]);
    } else {
        ck_assert_double_gt(apart(&lab[0], &lab[1]), 1e-6);
    }
    for (int i = 0; i < 2; i++) {
        lab_destroy(&lab[i]);
    }
}

START_TEST(what_is_too_stiff_or_too_fast_is_as_under_symplectic) {
    const Integrator integrator = staged[_i].integrator;
    compare_stiff(integrator, 1e8, 0.0, 0.0, true);
    compare_stiff(integrator, 0.0, 1e6, 1.0, true);
    compare_stiff(integrator, 0.0, 0.0, 500.0, true); // rad/s
    compare_stiff(integrator, 100.0, 0.1, 1.0, false);
}
END_TEST

static TCase *case_staged(void) {
    TCase *tcase = tcase_create("staged");
    tcase_add_loop_test(tcase, a_limb_converges_with_the_order_of_its_stages, 0, 2 * STAGED);
    tcase_add_loop_test(tcase, a_limb_in_substeps_moves_as_in_as_many_steps, 0,
                        2 * INTEGRATOR_COUNT);
    tcase_add_loop_test(tcase, a_free_top_turns_as_its_closed_form, 0, STAGED);
    tcase_add_loop_test(tcase, a_turned_world_is_the_same_world, 0, 2 * STAGED);
    tcase_add_loop_test(tcase, what_is_restored_goes_on_with_the_same_bits, 0, 2 * STAGED);
    tcase_add_test(tcase, verlet_keeps_areas_of_phase_space);
    tcase_add_test(tcase, verlet_keeps_its_energy_for_a_hundred_thousand_steps);
    tcase_add_loop_test(tcase, what_falls_on_the_ground_rests_there, 0, STAGED);
    tcase_add_loop_test(tcase, what_is_too_stiff_or_too_fast_is_as_under_symplectic, 0, STAGED);
    return tcase;
}

SUITE_MAIN("step/staged", case_staged)
