// SPDX-License-Identifier: MIT
// Tendons: a length that is a sum of positions of joints, of coordinates and of rows, in any
// direction. Everything that acts along it is judged by closed forms: with c what the length has of
// each position and m what each moves by itself, W = sum c^2/m, a force f along the tendon takes
// each rate by c f/m.
#include "step/step.h"

#include "step/snapshot/snapshot.h"
#include "support/lab.h"
#include "support/suite.h"
#include "world/sleep.h"

#include <math.h>
#include <string.h>

enum { PARTS = 4, TENDON = 4 };

// A wheel and a slider by coordinates and by rows: masses, and moments about any axis alike.
static const double masses[PARTS] = {1.5, 2.5, 3.5, 1.2}, moments[PARTS] = {0.7, 0.9, 1.3, 0.4};
// The third joint turns about and moves along one axis: the tendon couples its turn.
static const uint32_t kinds[PARTS] = {JOINT_HINGE, JOINT_SLIDER, JOINT_GENERIC, JOINT_HINGE},
                      axes[PARTS] = {0, 0, 1 << 2 | 1 << 5, 0}, by_rows[PARTS] = {0, 1, 0, 1};
static const double inertias[PARTS] = {0.7, 2.5, 1.3, 0.4}; // of what is coupled
static const double coefficients[PARTS] = {0.8, -1.1, 0.35, -0.6};
static const uint32_t positions[PARTS] = {0, 1, 3, 4}; // in the world's columns; the turn is third

static double weight(void) {
    double w = 0.0;
    for (int i = 0; i < PARTS; i++) {
        w += coefficients[i] * coefficients[i] / inertias[i];
    }
    return w;
}

static Pose generic_pose(uint32_t part) {
    const double turn = 0.4 + part;
    return (Pose){vec3(3.0 * part - 4.0, 1.0 - part, 0.5 * part),
                  quat_normalize((Quat){1.0, sin(turn), cos(2.0 * turn), 0.3 - turn})};
}

static Lab make_parts(double h, Integrator integrator) {
    Lab lab = lab_create(0.0, h);
    const SolverSettings solver = solver_default(SOLVER_CCP);
    step_set_solver(&lab.world->settings, &solver);
    lab_set(&lab, "tolerance", 1e-13);
    lab.world->settings.integrator = (uint8_t)integrator;
    for (uint32_t i = 0; i < PARTS; i++) {
        const double inertia[6] = {moments[i], moments[i], moments[i], 0.0, 0.0, 0.0};
        const uint32_t body =
            lab_body(&lab, 0, BODY_DYNAMIC, generic_pose(i), NULL, masses[i], inertia);
        double frame_a[7], frame_b[7] = {0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0};
        pose_store(frame_a, generic_pose(i));
        const uint32_t count = kinds[i] == JOINT_GENERIC ? 2 : 1;
        lab_joints(&lab, &(JointColumns){.count = 1,
                                         .axis_count = count,
                                         .position_count = count,
                                         .kind = &kinds[i],
                                         .axes = &axes[i],
                                         .as_rows = &by_rows[i],
                                         .body_b = &lab.world->body_id[body],
                                         .frame_a = frame_a,
                                         .frame_b = frame_b});
    }
    return lab;
}

// What acts along it; the others are none.
typedef struct Acts {
    double stiffness, rest, damping, friction, drive_stiffness, drive_damping, effort_max, target,
        effort, low, high, lag_time, delay_steps;
} Acts;

static const Acts nothing = {.low = -HUGE_VAL, .high = HUGE_VAL, .effort_max = HUGE_VAL};

static Id add_tendon(Lab *lab, Acts acts) {
    const uint32_t kind = JOINT_TENDON, count = PARTS, coupled_axes[PARTS] = {0, 0, 1, 0};
    uint64_t coupled[PARTS];
    for (int i = 0; i < PARTS; i++) {
        coupled[i] = lab->world->joint[i].id;
    }
    return lab_joints(lab, &(JointColumns){.count = 1,
                                           .axis_count = 1,
                                           .position_count = 1,
                                           .coupling_count = PARTS,
                                           .kind = &kind,
                                           .coupled_count = &count,
                                           .coupled = coupled,
                                           .coupled_axes = coupled_axes,
                                           .coefficients = coefficients,
                                           .low = &acts.low,
                                           .high = &acts.high,
                                           .stiffness = &acts.stiffness,
                                           .rest = &acts.rest,
                                           .damping = &acts.damping,
                                           .friction = &acts.friction,
                                           .drive_stiffness = &acts.drive_stiffness,
                                           .drive_damping = &acts.drive_damping,
                                           .effort_max = &acts.effort_max,
                                           .target = &acts.target,
                                           .effort = &acts.effort,
                                           .lag_time = &acts.lag_time,
                                           .delay_steps = &acts.delay_steps});
}

static double length_of(const Lab *lab) {
    return lab->world->joint_position[lab->world->joint[TENDON].position_first];
}

static double rate_of(const Lab *lab) {
    return lab->world->joint_velocity[lab->world->joint[TENDON].axis_first];
}

static double sum_of(const double *numbers) {
    double sum = 0.0;
    for (int i = 0; i < PARTS; i++) {
        sum += coefficients[i] * numbers[positions[i]];
    }
    return sum;
}

// All parts have been pushed with this impulse along the tendon, and it has their length.
static void expect_impulse(const Lab *lab, double impulse, double tolerance) {
    for (int i = 0; i < PARTS; i++) {
        ck_assert_double_eq_tol(lab->world->joint_velocity[positions[i]],
                                coefficients[i] * impulse / inertias[i], tolerance);
    }
    ck_assert_double_eq_tol(lab->world->joint_velocity[2], 0.0, tolerance); // it does not move
    ck_assert_double_eq_tol(rate_of(lab), impulse * weight(), tolerance);
    ck_assert_double_eq_tol(rate_of(lab), sum_of(lab->world->joint_velocity), 1e-15);
    ck_assert_double_eq_tol(length_of(lab), sum_of(lab->world->joint_position), 1e-15);
}

// What the report says of energy adds up to rounding, as of what the solver left at 1e-13.
static void expect_book(const Lab *lab) {
    const StepEnergy *of = &lab->report.energy;
    ck_assert_double_eq_tol(of->unexplained, 0.0, 1e-11);
}

static double kinetic(const Lab *lab) {
    double energy = 0.0;
    for (int i = 0; i < PARTS; i++) {
        const double v = lab->world->joint_velocity[positions[i]];
        energy += 0.5 * inertias[i] * v * v;
    }
    return energy;
}

// An effort is c f along each of the joints, under every integrator, to rounding: nothing else
// acts.
START_TEST(an_effort_pulls_at_all_joints) {
    Lab lab = make_parts(0.001, (Integrator)_i);
    Acts acts = nothing;
    acts.effort = 0.6;
    add_tendon(&lab, acts);
    for (int i = 0; i < 500; i++) {
        lab_step(&lab, 1);
        expect_book(&lab);
    }
    expect_impulse(&lab, 0.5 * acts.effort, 1e-9);
    ck_assert_double_eq_tol(lab.report.energy.drive,
                            kinetic(&lab) - 0.5 * weight() * 0.6 * 0.6 * 0.499 * 0.499, 1e-9);
    lab_destroy(&lab);
}
END_TEST

// A spring of k along the tendon is one of k c c^T of the joints: the length swings with w^2 = k W
// about where it is slack. In steps of w h = 0.003 all integrators but `implicit` and `explicit`,
// which are of first order, swing with it to (w h)^2; these lose or gain w h/2 in a radian.
START_TEST(a_spring_is_one_of_all_joints) {
    const double h = 0.001, k = 4.0, w = sqrt(k * weight()), rest = 0.3;
    Lab lab = make_parts(h, (Integrator)_i);
    Acts acts = nothing;
    acts.stiffness = k;
    acts.rest = rest;
    add_tendon(&lab, acts);
    const bool is_rough = _i == INTEGRATOR_EXPLICIT || _i == INTEGRATOR_IMPLICIT;
    const double off = is_rough ? 0.5 * w * h * 2.0 : 0.01;
    for (int i = 1; i <= 500; i++) {
        lab_step(&lab, 1);
        expect_book(&lab);
        const double time = i * h;
        ck_assert_double_eq_tol(length_of(&lab), rest * (1.0 - cos(w * time)), off * rest);
    }
    // swung by one impulse, whatever that was
    expect_impulse(&lab, rate_of(&lab) / weight(), 1e-9);
    const double held = 0.5 * k * (length_of(&lab) - rest) * (length_of(&lab) - rest);
    const double kept = kinetic(&lab) + held;
    // of the square of what swings it is twice as much
    ck_assert_double_eq_tol(kept, 0.5 * k * rest * rest, k * rest * rest * off);
    ck_assert_double_eq_tol(lab.report.energy.after, kept, 1e-9);
    lab_destroy(&lab);
}
END_TEST

// A damper takes exp(-d W t) of the rate, of first order where it is implicit.
START_TEST(a_damper_slows_all_joints) {
    const double h = 0.0005, d = 0.7;
    Lab lab = make_parts(h, (Integrator)_i);
    Acts acts = nothing;
    acts.effort = 1.0;
    acts.damping = d;
    add_tendon(&lab, acts);
    for (int i = 0; i < 1000; i++) {
        lab_step(&lab, 1);
        expect_book(&lab);
    }
    // f/d (1 - exp(-d W t)) is the rate, the impulse that over W
    const double rate = 1.0 / d * (1.0 - exp(-d * weight() * 0.5));
    expect_impulse(&lab, rate / weight(), d * weight() * h);
    ck_assert_double_lt(lab.report.energy.applied, 0.0);
    lab_destroy(&lab);
}
END_TEST

// It runs into its upper limit, and stays: what stops it is one impulse along it.
START_TEST(a_limit_stops_the_length) {
    Lab lab = make_parts(0.001, (Integrator)_i);
    Acts acts = nothing;
    acts.effort = 0.5;
    acts.high = 0.02;
    add_tendon(&lab, acts);
    double longest = 0.0;
    for (int i = 0; i < 1000; i++) {
        lab_step(&lab, 1);
        expect_book(&lab);
        longest = fmax(longest, length_of(&lab));
    }
    // `explicit` moves by the rate of the begin of a step, midpoint by half of it, where others
    // have the one that the limit has left; it comes with sqrt(2 f W 0.02)
    const double rate = sqrt(2.0 * 0.5 * weight() * 0.02);
    const double share = _i == INTEGRATOR_EXPLICIT ? 1.1 : _i == INTEGRATOR_MIDPOINT ? 0.55 : 0.0;
    ck_assert_double_le(longest, 0.02 + 0.001 * share * rate + 1e-6);
    if (_i != INTEGRATOR_EXPLICIT) { // which takes back what it went too far, and goes with it
        ck_assert_double_eq_tol(length_of(&lab), 0.02, 1e-6);
        expect_impulse(&lab, 0.0, 1e-9);
    }
    lab_destroy(&lab);
}
END_TEST

// Where both limits are one number the length is held, by one row, also where it does not begin;
// and what pulls at one of the joints takes the others along: f/(m + c^2/(W - c^2/m)) of the first.
START_TEST(a_length_is_held) {
    Lab lab = make_parts(0.001, (Integrator)_i);
    Acts acts = nothing;
    // `explicit` would go too far: it moves by a rate that it then finds still to be wanted
    acts.low = acts.high = _i == INTEGRATOR_EXPLICIT ? 0.0 : 0.01;
    add_tendon(&lab, acts);
    lab.world->joint_effort[0] = 0.4;
    lab_step(&lab, 1);
    ck_assert_uint_eq(lab.report.row_count, 5 + 5 + 1); // what the joints of rows lock, and it
    lab_step(&lab, 499);
    ck_assert_double_eq_tol(length_of(&lab), acts.low, 1e-6);
    const double c = coefficients[0], others = weight() - c * c / inertias[0];
    const double held = inertias[0] + c * c / others;
    // what it was off by is taken back in a step, and goes with it: 0.01 m at the first step
    const double before = lab.world->joint_velocity[0];
    lab_step(&lab, 100);
    ck_assert_double_eq_tol(lab.world->joint_velocity[0] - before, 0.1 * 0.4 / held, 1e-6);
    ck_assert_double_eq_tol(rate_of(&lab), 0.0, 1e-6);
    lab_destroy(&lab);
}
END_TEST

// A drive with a bounded effort pulls with that, and dry friction holds against what is weaker.
START_TEST(drives_and_friction_are_bounded) {
    Lab lab = make_parts(0.001, (Integrator)_i);
    Acts acts = nothing;
    acts.drive_stiffness = 1e5;
    acts.target = 100.0;
    acts.effort_max = 0.8;
    acts.friction = 0.3;
    add_tendon(&lab, acts);
    for (int i = 0; i < 300; i++) {
        lab_step(&lab, 1);
        expect_book(&lab);
    }
    expect_impulse(&lab, 0.3 * (0.8 - 0.3), 1e-8);
    lab_destroy(&lab);
    acts.effort_max = 0.2;
    lab = make_parts(0.001, (Integrator)_i);
    add_tendon(&lab, acts);
    lab_step(&lab, 300);
    expect_impulse(&lab, 0.0, 1e-8);
    lab_destroy(&lab);
}
END_TEST

// A command that waits five steps, and then is followed by 1 - exp(-t/T).
START_TEST(commands_of_a_tendon_lag) {
    Lab lab = make_parts(0.001, INTEGRATOR_SYMPLECTIC);
    Acts acts = nothing;
    acts.delay_steps = 5.0;
    acts.lag_time = 0.004;
    const Id id = add_tendon(&lab, acts);
    const double effort = 2.0;
    const JointUpdate update = {.count = 1, .id = &id, .axis_count = 1, .effort = &effort};
    ck_assert_int_eq(world_update_joints(lab.world, &update, NULL), STATUS_OK);
    lab_step(&lab, 5);
    expect_impulse(&lab, 0.0, 1e-15);
    double impulse = 0.0;
    for (int i = 1; i <= 20; i++) {
        lab_step(&lab, 1);
        impulse += 0.001 * effort * (1.0 - exp(-0.001 * i / 0.004));
        expect_impulse(&lab, impulse, 1e-12);
    }
    lab_destroy(&lab);
}
END_TEST

// ---- beside other things

// What sleeps together with it wakes by its numbers, and with what it loses.
START_TEST(a_tendon_sleeps_and_wakes_with_its_joints) {
    Lab lab = make_parts(0.002, INTEGRATOR_SYMPLECTIC);
    lab.world->settings.sleep_speed = 0.05;
    lab.world->settings.sleep_time = 0.2;
    Acts acts = nothing;
    acts.friction = 0.5;
    const Id id = add_tendon(&lab, acts);
    lab_step(&lab, 400);
    ck_assert_uint_eq(sleep_count(lab.world), PARTS);
    lab_restore(&lab);
    const double effort = 1.5;
    const JointUpdate update = {.count = 1, .id = &id, .axis_count = 1, .effort = &effort};
    ck_assert_int_eq(world_update_joints(lab.world, &update, NULL), STATUS_OK);
    ck_assert_uint_eq(sleep_count(lab.world), 0);
    lab_step(&lab, 100);
    expect_impulse(&lab, 0.2 * (1.5 - 0.5), 1e-8);
    ck_assert_uint_eq(sleep_count(lab.world), 0);
    lab_destroy(&lab);
}
END_TEST

// It goes with any of its joints, and those behind it, and another tendon, stay what they were.
START_TEST(a_tendon_goes_with_one_of_its_joints) {
    Lab lab = make_parts(0.001, INTEGRATOR_SYMPLECTIC);
    Acts acts = nothing;
    acts.effort = 1.0;
    add_tendon(&lab, acts);
    const uint32_t kind = JOINT_TENDON, one = 1;
    const uint64_t last = lab.world->joint[_i == 3 ? 0 : 3].id;
    const double twice = 2.0, pull = 0.25;
    lab_joints(&lab, &(JointColumns){.count = 1,
                                     .axis_count = 1,
                                     .position_count = 1,
                                     .coupling_count = 1,
                                     .kind = &kind,
                                     .coupled_count = &one,
                                     .coupled = &last,
                                     .coefficients = &twice,
                                     .effort = &pull});
    ck_assert_uint_eq(lab.world->coupling_count, PARTS + 1);
    world_remove_joints(lab.world, (const uint32_t[]){(uint32_t)_i}, 1);
    ck_assert_uint_eq(lab.world->joint_count, PARTS); // one joint and one tendon less
    ck_assert_uint_eq(lab.world->coupling_count, 1);
    lab_restore(&lab);
    lab_step(&lab, 100);
    const Joint *tendon = &lab.world->joint[PARTS - 1];
    const Joint *of = &lab.world->joint[world_coupling(lab.world, tendon, 0).joint];
    ck_assert_uint_eq(of->id, last);
    const double inertia = _i == 3 ? inertias[0] : inertias[3];
    ck_assert_double_eq_tol(lab.world->joint_velocity[of->axis_first], 0.1 * 2.0 * 0.25 / inertia,
                            1e-9);
    lab_destroy(&lab);
}
END_TEST

START_TEST(a_snapshot_of_a_tendon_goes_on_to_the_bit) {
    Lab lab = make_parts(0.001, INTEGRATOR_SYMPLECTIC);
    Acts acts = nothing;
    acts.effort = 0.5;
    acts.stiffness = 3.0;
    acts.high = 0.001;
    add_tendon(&lab, acts);
    lab_step(&lab, 100);
    Lab copy = lab_create(0.0, 0.001);
    world_destroy(copy.world);
    copy.world = lab_copy(&lab);
    ck_assert_uint_eq(snapshot_hash(lab.world), snapshot_hash(copy.world));
    lab_step(&lab, 100);
    lab_step(&copy, 100);
    ck_assert_uint_eq(snapshot_hash(lab.world), snapshot_hash(copy.world));
    copy.world->coupling[1].coefficient *= 1.5;
    copy.world->definition_is_hashed = false;
    ck_assert_uint_ne(snapshot_hash(lab.world), snapshot_hash(copy.world));
    lab_destroy(&lab);
    lab_destroy(&copy);
}
END_TEST

// Couplings that no call would have let pass.
START_TEST(couplings_that_cannot_be_are_refused) {
    Lab lab = make_parts(0.001, INTEGRATOR_SYMPLECTIC);
    add_tendon(&lab, nothing);
    Coupling *of = lab.world->coupling;
    switch (_i) {
    case 0:
        of[0].joint = TENDON;
        break;
    case 1:
        of[1].axis = 1;
        break;
    case 2:
        of[2].coefficient = NAN;
        break;
    case 3:
        of[0].owner = 0;
        break;
    case 4:
        of[3].joint = 77;
        break;
    default:
        lab.world->coupling_count = 0;
        break;
    }
    uint8_t *bytes;
    size_t count;
    World *back = NULL;
    Error error = {0};
    ck_assert_int_eq(snapshot_write(lab.world, &lab.scratch, &bytes, &count, NULL), STATUS_OK);
    ck_assert_int_eq(snapshot_read(bytes, count, &lab.world->limits, &back, &error),
                     STATUS_DATA_LOSS);
    ck_assert_ptr_nonnull(strstr(error.message, "joint that cannot be"));
    lab_destroy(&lab);
}
END_TEST

// A tendon that is driven, with all else that acts along it, in substeps: as in as many steps.
START_TEST(substeps_of_a_tendon_are_steps) {
    enum { SUBSTEPS = 4, STEPS = 50 };
    const double h = 0.008;
    const Acts acts = {.stiffness = 3.0,
                       .rest = 0.2,
                       .damping = 0.1,
                       .friction = 0.05,
                       .drive_stiffness = 40.0,
                       .drive_damping = 2.0,
                       .effort_max = 1.5,
                       .target = 0.6,
                       .effort = 0.3,
                       .low = -0.1,
                       .high = 0.3};
    Lab whole = make_parts(h, (Integrator)_i), small = make_parts(h / SUBSTEPS, (Integrator)_i);
    lab_divide(&whole, SUBSTEPS);
    add_tendon(&whole, acts);
    add_tendon(&small, acts);
    for (int i = 0; i < STEPS; i++) {
        lab_step(&whole, 1);
        lab_step(&small, SUBSTEPS);
        ck_assert_mem_eq(whole.world->joint_position, small.world->joint_position,
                         whole.world->joint_position_count * sizeof(double));
        ck_assert_mem_eq(whole.world->joint_velocity, small.world->joint_velocity,
                         whole.world->joint_axis_count * sizeof(double));
        ck_assert_mem_eq(whole.world->pose, small.world->pose, (size_t)7 * PARTS * sizeof(double));
        expect_book(&whole);
    }
    ck_assert_double_gt(length_of(&whole), 0.1); // it goes to its target, as far as it may
    lab_destroy(&whole);
    lab_destroy(&small);
}
END_TEST

// Angles that no float holds together have not been: of the last body that it couples.
START_TEST(a_length_that_no_float_holds_has_not_happened) {
    Lab lab = make_parts(1.0, INTEGRATOR_SYMPLECTIC);
    add_tendon(&lab, nothing);
    lab.world->coupling[0].coefficient = 1e6;
    lab.world->joint_velocity[0] = 1e33;
    const StepInput input = {.time_step = 1.0};
    Error error = {0};
    ck_assert_int_eq(
        stepper_run(lab.stepper, lab.world, &input, &lab.scratch, NULL, &lab.report, &error),
        STATUS_FAILED_PRECONDITION);
    ck_assert(lab.world->faulted);
    lab_destroy(&lab);
}
END_TEST

static TCase *case_tendons(void) {
    TCase *tcase = tcase_create("tendons");
    tcase_set_timeout(tcase, 60.0);
    tcase_add_loop_test(tcase, an_effort_pulls_at_all_joints, 0, INTEGRATOR_COUNT);
    tcase_add_loop_test(tcase, a_spring_is_one_of_all_joints, 0, INTEGRATOR_COUNT);
    tcase_add_loop_test(tcase, a_damper_slows_all_joints, 0, INTEGRATOR_COUNT);
    tcase_add_loop_test(tcase, a_limit_stops_the_length, 0, INTEGRATOR_COUNT);
    tcase_add_loop_test(tcase, a_length_is_held, 0, INTEGRATOR_COUNT);
    tcase_add_loop_test(tcase, drives_and_friction_are_bounded, 0, INTEGRATOR_COUNT);
    tcase_add_loop_test(tcase, substeps_of_a_tendon_are_steps, 0, INTEGRATOR_COUNT);
    tcase_add_test(tcase, commands_of_a_tendon_lag);
    tcase_add_test(tcase, a_tendon_sleeps_and_wakes_with_its_joints);
    tcase_add_loop_test(tcase, a_tendon_goes_with_one_of_its_joints, 0, PARTS);
    tcase_add_test(tcase, a_snapshot_of_a_tendon_goes_on_to_the_bit);
    tcase_add_loop_test(tcase, couplings_that_cannot_be_are_refused, 0, 6);
    tcase_add_test(tcase, a_length_that_no_float_holds_has_not_happened);
    return tcase;
}

SUITE_MAIN("step/tendons", case_tendons)
