// SPDX-License-Identifier: MIT
// Motors with a torque-speed curve, commands that come late and slowly: their closed forms, and
// that what is under way is state.
#include "base/hash.h"
#include "step/snapshot/snapshot.h"
#include "step/step.h"
#include "world/world_commands.h"

#include "support/lab.h"
#include "support/suite.h"

#include <math.h>
#include <string.h>

#define TIME_STEP (1.0 / 250)
#define MOMENT    0.02 // of the body about the hinge, which goes through its centre [kg m^2]

static const Integrator integrators[] = {INTEGRATOR_SYMPLECTIC, INTEGRATOR_IMPLICIT,
                                         INTEGRATOR_MIDPOINT,   INTEGRATOR_EXPLICIT,
                                         INTEGRATOR_RK4,        INTEGRATOR_VERLET};
enum { INTEGRATORS = sizeof(integrators) / sizeof(integrators[0]) };

typedef struct Actuator {
    double stiffness, damping; // of the drive
    double effort_max, stall, speed, lag, delay;
    double target, rate, effort; // its command
} Actuator;

static Lab make_hinges(const Actuator *of, uint32_t count, Integrator integrator) {
    Lab lab = lab_create(0.0, TIME_STEP);
    const double inertia[6] = {0.011, 0.017, MOMENT, 0.0, 0.0, 0.0};
    lab.world->settings.integrator = (uint8_t)integrator;
    for (uint32_t i = 0; i < count; i++) {
        const Pose where = {vec3(2.0 * i, -0.2, 0.1), quat_normalize((Quat){0.3, -0.5, 0.7, 0.2})};
        const double most = of[i].effort_max == 0.0 ? HUGE_VAL : of[i].effort_max;
        const uint32_t kind = JOINT_HINGE;
        double frame[7];
        pose_store(frame, where);
        const uint32_t body = lab_body(&lab, 0, BODY_DYNAMIC, where, NULL, 2.0, inertia);
        lab_joints(&lab, &(JointColumns){.count = 1,
                                         .axis_count = 1,
                                         .position_count = 1,
                                         .kind = &kind,
                                         .body_b = &lab.world->body_id[body],
                                         .frame_a = frame,
                                         .position = &(double){0.0},
                                         .drive_stiffness = &of[i].stiffness,
                                         .drive_damping = &of[i].damping,
                                         .effort_max = &most,
                                         .stall_effort = &of[i].stall,
                                         .no_load_speed = &of[i].speed,
                                         .lag_time = &of[i].lag,
                                         .delay_steps = &of[i].delay});
    }
    return lab;
}

static void command(Lab *lab, uint32_t joint, const Actuator *of) {
    Error error;
    const JointUpdate update = {.count = 1,
                                .id = &lab->world->joint[joint].id,
                                .axis_count = 1,
                                .target = &of->target,
                                .target_velocity = &of->rate,
                                .effort = &of->effort};
    ck_assert_int_eq(world_update_joints(lab->world, &update, &error), STATUS_OK);
}

static Lab make_hinge(const Actuator *of, Integrator integrator) {
    Lab lab = make_hinges(of, 1, integrator);
    command(&lab, 0, of);
    return lab;
}

// ---- motors

// What is left to the no-load speed after a step, of what there was: the curve alone acts, w' =
// (v0 - w)/T, at the end of the step, halfway as far as midpoint resolves it, or at the begin.
static double left_of(Integrator integrator, double slowing) {
    const double share = integrator == INTEGRATOR_EXPLICIT   ? 0.0
                         : integrator != INTEGRATOR_MIDPOINT ? 1.0
                         : slowing <= 2.0                    ? 0.5
                                                             : 1.0 - 1.0 / slowing;
    return (1.0 - (1.0 - share) * slowing) / (1.0 + share * slowing);
}

// Solvers end 1e-6 of V off, and each step what the one before left.
START_TEST(a_motor_comes_to_its_no_load_speed_by_its_closed_form) {
    static const double slowings[] = {0.01, 0.3, 1.5, 5.0, 1e3}; // h/T, T = J v0/tau
    const Integrator integrator = integrators[_i % INTEGRATORS];
    const double slowing = slowings[_i / INTEGRATORS], speed = 20.0;
    if (integrator == INTEGRATOR_EXPLICIT && slowing > 1.0) {
        return; // it goes beyond, and there coasts
    }
    const Actuator motor = {
        .stall = slowing * MOMENT * speed / TIME_STEP, .speed = speed, .effort = 1e9};
    Lab lab = make_hinge(&motor, integrator);
    double left = speed;
    for (int i = 0; i < 60; i++) {
        lab_step(&lab, 1);
        left *= left_of(integrator, slowing);
        const double rate = lab.world->joint_velocity[0], held = 0.5 * MOMENT * rate * rate;
        ck_assert_msg(fabs(rate - (speed - left)) <= 1e-5 * speed, "step %d: %.9g for %.9g", i,
                      rate, speed - left);
        ck_assert_double_eq_tol(lab.report.energy.after, held, 1e-5 * MOMENT * speed * speed);
        ck_assert_double_eq_tol(lab.report.energy.drive,
                                lab.report.energy.after - lab.report.energy.before,
                                1e-5 * MOMENT * speed * speed);
    }
    lab_destroy(&lab);
}
END_TEST

// exp(-t/T) to first order in h: at t = T after 1,000 steps a thousandth, of which half is e^-1.
START_TEST(its_time_constant_is_the_moment_times_the_speed_over_the_effort) {
    const double speed = 20.0, constant = 1000 * TIME_STEP;
    const Actuator motor = {.stall = MOMENT * speed / constant, .speed = speed, .effort = 1e9};
    Lab lab = make_hinge(&motor, INTEGRATOR_SYMPLECTIC);
    lab_step(&lab, 1000);
    ck_assert_double_eq_tol(1.0 - lab.world->joint_velocity[0] / speed, exp(-1.0), 3e-4);
    lab_destroy(&lab);
}
END_TEST

// Asked for 1 N m at 4 of stall, it gives it up to three quarters of the speed, and no more than
// effort_max before; then the curve.
START_TEST(a_motor_gives_what_is_asked_for_as_long_as_it_is_able_to) {
    for (int i = 0; i < INTEGRATORS; i++) {
        const Actuator motor = {.stall = 4.0, .speed = 10.0, .effort = -3.0, .effort_max = 1.0};
        Lab lab = make_hinge(&motor, integrators[i]);
        double rate = 0.0;
        while (rate < 7.5 - TIME_STEP / MOMENT) {
            lab_step(&lab, 1);
            rate += TIME_STEP / MOMENT;
            ck_assert_double_eq_tol(-lab.world->joint_velocity[0], rate, 1e-4);
        }
        lab_step(&lab, 1000);
        ck_assert_double_eq_tol(-lab.world->joint_velocity[0], 10.0, 1e-4);
        const Actuator back = {.stall = 4.0, .speed = 10.0, .effort = 3.0, .effort_max = 1.0};
        const double before = -lab.world->joint_velocity[0];
        command(&lab, 0, &back);
        lab_step(&lab, 1); // against its way all of it
        ck_assert_double_eq_tol(before + lab.world->joint_velocity[0], TIME_STEP / MOMENT, 1e-5);
        lab_destroy(&lab);
    }
}
END_TEST

// Under a torque that holds it at half the curve: tau (1 - w/v0) = load. And a drive behind a motor
// comes to its target, however far.
START_TEST(a_load_slows_a_motor_by_its_share_and_a_drive_arrives) {
    const Actuator motor = {.stall = 4.0, .speed = 10.0, .effort = 1e9};
    Lab lab = make_hinge(&motor, INTEGRATOR_SYMPLECTIC);
    const Vec3 axis = quat_rotate(lab_orientation(&lab, 0), vec3(0.0, 0.0, 1.0));
    const double wrench[6] = {0.0, 0.0, 0.0, -1.0 * axis.x, -1.0 * axis.y, -1.0 * axis.z};
    for (int i = 0; i < 1000; i++) {
        lab_step_pushed(&lab, 0, wrench);
    }
    ck_assert_double_eq_tol(lab.world->joint_velocity[0], 7.5, 1e-4);
    lab_destroy(&lab);
    for (int i = 0; i < INTEGRATORS; i++) {
        const Actuator drive = {
            .stiffness = 40.0, .damping = 2.0, .stall = 1.0, .speed = 5.0, .target = 30.0};
        double fastest = 0.0;
        lab = make_hinge(&drive, integrators[i]);
        for (int k = 0; k < 4000; k++) {
            lab_step(&lab, 1);
            fastest = fmax(fastest, lab.world->joint_velocity[0]);
        }
        ck_assert_double_le(fastest, 5.0 + 1e-4);
        ck_assert_double_ge(fastest, 4.9);
        ck_assert_double_eq_tol(lab.world->joint_position[0], 30.0, 1e-4);
        lab_destroy(&lab);
    }
}
END_TEST

// Without a curve it is a bound on everything, the effort, too; and no row where nothing is driven.
START_TEST(a_motor_without_a_curve_bounds_drive_and_effort_together) {
    for (int i = 0; i < INTEGRATORS; i++) {
        const Actuator pushed = {.stall = 2.0, .effort = 7.0},
                       driven = {.stall = 2.0, .damping = 1.0, .rate = 1.0, .effort = 7.0};
        const Actuator both[2] = {pushed, driven};
        Lab lab = make_hinges(both, 2, integrators[i]);
        command(&lab, 0, &pushed);
        command(&lab, 1, &driven);
        lab_step(&lab, 5);
        ck_assert_double_eq_tol(lab.world->joint_velocity[0], 5 * 2.0 * TIME_STEP / MOMENT, 1e-9);
        ck_assert_double_eq_tol(lab.world->joint_velocity[1], 5 * 2.0 * TIME_STEP / MOMENT, 1e-4);
        lab_destroy(&lab);
    }
}
END_TEST

// ---- lags and delays

// y_n = (1 - e^(-n h/T)) u: n roundings of the sum, each of half a unit, shrink as the rest does.
START_TEST(a_lag_goes_to_its_command_by_an_exponential) {
    const double constant = 0.05;
    const Actuator of = {.lag = constant, .target = 1.0, .rate = -2.0, .effort = 4.0};
    Lab lab = make_hinge(&of, INTEGRATOR_SYMPLECTIC);
    double rate = 0.0;
    for (int n = 1; n <= 2000; n++) {
        lab_step(&lab, 1);
        const double share = -expm1(-n * TIME_STEP / constant);
        const double *at = lab.world->joint_under_way;
        ck_assert_double_eq_tol(at[0], share, 2e-15);
        ck_assert_double_eq_tol(at[1], -2.0 * share, 4e-15);
        ck_assert_double_eq_tol(at[2], 4.0 * share, 8e-15);
        rate += TIME_STEP * 4.0 * share / MOMENT;
        ck_assert_double_eq_tol(lab.world->joint_velocity[0], rate, 1e-12 * (1.0 + rate));
    }
    lab_destroy(&lab);
}
END_TEST

static Actuator wave(const Actuator *like, int step) {
    Actuator now = *like;
    now.target = sin(0.05 * step), now.rate = 0.3 * cos(0.03 * step);
    now.effort = 0.2 * sin(0.11 * step + 1.0);
    return now;
}

// A world at rest with a delay is one without it, later; to the bit, as nothing else differs.
START_TEST(a_delay_is_the_same_way_later) {
    enum { LATER = 7, STEPS = 200 };
    for (int i = 0; i < INTEGRATORS; i++) {
        const Actuator at_once = {.stiffness = 5.0, .damping = 0.2, .stall = 3.0, .speed = 9.0};
        Actuator later = at_once;
        later.delay = LATER;
        Lab a = make_hinges(&at_once, 1, integrators[i]),
            b = make_hinges(&later, 1, integrators[i]);
        lab_step(&a, 1);
        double place[STEPS], rate[STEPS];
        for (int k = 0; k < STEPS; k++) {
            const Actuator now = wave(&at_once, k);
            command(&a, 0, &now);
            command(&b, 0, &now);
            lab_step(&a, 1);
            lab_step(&b, 1);
            place[k] = a.world->joint_position[0];
            rate[k] = a.world->joint_velocity[0];
            ck_assert_double_eq(b.world->joint_position[0], k < LATER ? 0.0 : place[k - LATER]);
            ck_assert_double_eq(b.world->joint_velocity[0], k < LATER ? 0.0 : rate[k - LATER]);
        }
        ck_assert_double_gt(fabs(a.world->joint_velocity[0]), 1e-3);
        lab_destroy(&a);
        lab_destroy(&b);
    }
}
END_TEST

static const Actuator crew[4] = {
    {.stiffness = 5.0, .damping = 0.2, .delay = 9.0},
    {.damping = 0.5},
    {.stiffness = 3.0, .damping = 0.1, .stall = 2.0, .speed = 4.0, .lag = 0.03, .delay = 4.0},
    {.stiffness = 8.0, .lag = 0.1}};

static Lab make_crew(void) {
    return make_hinges(crew, 4, INTEGRATOR_SYMPLECTIC);
}

static void drive_crew(Lab *lab, int from, int steps) {
    for (int k = from; k < from + steps; k++) {
        for (uint32_t i = 0; i < 4; i++) {
            const Actuator now = wave(&crew[i], k + 10 * (int)i);
            command(lab, i, &now);
        }
        lab_step(lab, 1);
    }
}

// Nothing is told to it after the fork: what moves it is under way.
static void expect_one_future(Lab *a, Lab *b) {
    for (int k = 0; k < 20; k++) {
        ck_assert_uint_eq(snapshot_hash(a->world), snapshot_hash(b->world));
        lab_step(a, 1);
        lab_step(b, 1);
    }
    ck_assert_uint_eq(snapshot_hash(a->world), snapshot_hash(b->world));
}

START_TEST(what_is_under_way_is_in_snapshots_copies_and_hashes) {
    Lab a = make_crew(), b = make_crew(), c = make_crew();
    drive_crew(&a, 0, 30);
    drive_crew(&b, 0, 30);
    drive_crew(&c, 11, 50);
    const uint64_t before = snapshot_hash(a.world);
    b.world->joint_under_way[3] += 1e-9; // a hash sees it
    ck_assert_uint_ne(snapshot_hash(b.world), before);
    b.world->joint_under_way[3] = a.world->joint_under_way[3];
    ck_assert_uint_eq(snapshot_hash(b.world), before);
    lab_restore(&b);
    ck_assert(world_copy_state(c.world, a.world));
    Lab d = make_crew();
    ck_assert(world_copy_state(d.world, a.world));
    expect_one_future(&b, &c);
    expect_one_future(&a, &d);
    ck_assert_uint_eq(snapshot_hash(b.world), snapshot_hash(a.world));
    lab_destroy(&a);
    lab_destroy(&b);
    lab_destroy(&c);
    lab_destroy(&d);
}
END_TEST

// Without a section of commands under way, or with one too many, a snapshot is damaged; and with a
// number that none can be.
START_TEST(a_snapshot_with_other_commands_is_refused) {
    Lab lab = make_crew();
    drive_crew(&lab, 0, 30);
    uint8_t *bytes;
    size_t count, at = SNAPSHOT_HEAD_BYTES;
    Error error = {0};
    World *world = NULL;
    ck_assert_int_eq(snapshot_write(lab.world, &lab.scratch, &bytes, &count, &error), STATUS_OK);
    uint32_t kind = 0;
    uint64_t length = 0;
    while (memcpy(&kind, bytes + at, 4), memcpy(&length, bytes + at + 8, 8), kind != 22) {
        at += 16 + (length + 7) / 8 * 8;
    }
    const double bad = NAN;
    memcpy(bytes + at + 16 + 8, &bad, sizeof(bad));
    uint64_t sum = hash_bytes(bytes, count - 8, 0);
    memcpy(bytes + count - 8, &sum, sizeof(sum));
    ck_assert_int_eq(snapshot_read(bytes, count, &lab.world->limits, &world, &error),
                     STATUS_DATA_LOSS);
    memmove(bytes + at, bytes + at + 16 + length, count - at - 16 - length);
    count -= 16 + length;
    sum = hash_bytes(bytes, count - 8, 0);
    memcpy(bytes + count - 8, &sum, sizeof(sum));
    ck_assert_int_eq(snapshot_read(bytes, count, &lab.world->limits, &world, &error),
                     STATUS_DATA_LOSS);
    ck_assert_ptr_nonnull(strstr(error.message, "numbers of a joint"));
    lab_destroy(&lab);
}
END_TEST

// Joints without their numbers, of which nobody would know what stands in memory.
START_TEST(a_snapshot_without_the_numbers_of_its_joints_is_refused) {
    const Actuator plain = {.damping = 0.5};
    Lab lab = make_hinges(_i == 0 ? &plain : crew, _i == 0 ? 1 : 4, INTEGRATOR_SYMPLECTIC);
    uint8_t *bytes;
    size_t count, at = SNAPSHOT_HEAD_BYTES;
    Error error = {0};
    World *world = NULL;
    ck_assert_int_eq(snapshot_write(lab.world, &lab.scratch, &bytes, &count, &error), STATUS_OK);
    uint32_t kind = 0;
    uint64_t length = 0;
    while (memcpy(&kind, bytes + at, 4), memcpy(&length, bytes + at + 8, 8), kind != 16) {
        at += 16 + (length + 7) / 8 * 8;
    }
    const size_t whole = 16 + (length + 7) / 8 * 8;
    memmove(bytes + at, bytes + at + whole, count - at - whole);
    count -= whole;
    const uint64_t sum = hash_bytes(bytes, count - 8, 0);
    memcpy(bytes + count - 8, &sum, sizeof(sum));
    ck_assert_int_eq(snapshot_read(bytes, count, &lab.world->limits, &world, &error),
                     STATUS_DATA_LOSS);
    ck_assert_ptr_nonnull(strstr(error.message, "a section is missing"));
    lab_destroy(&lab);
}
END_TEST

static void set_number(Lab *lab, uint32_t joint, JointNumber number, double value) {
    Error error;
    JointUpdate update = {.count = 1, .id = &lab->world->joint[joint].id, .axis_count = 1};
    update.number[number] = &value;
    ck_assert_int_eq(world_update_joints(lab->world, &update, &error), STATUS_OK);
}

// Targets 1, 2, 3 … are given; joints 0 and 2 have others.
START_TEST(what_is_under_way_stays_where_a_delay_is_changed) {
    Lab lab = make_crew();
    for (int k = 1; k <= 20; k++) {
        const Actuator now = {.target = k};
        command(&lab, 2, &now);
        lab_step(&lab, 1);
    }
    const double *at = lab.world->joint_under_way + 3 * 9; // behind those of joint 0
    const double lagged = at[0];
    for (int k = 0; k < 4; k++) {
        ck_assert_double_eq(at[3 + 3 * k], 17.0 + k);
    }
    set_number(&lab, 2, JOINT_DELAY_STEPS, 6.0); // the oldest again before them
    at = lab.world->joint_under_way + 3 * 9;
    static const double longer[6] = {17.0, 17.0, 17.0, 18.0, 19.0, 20.0};
    for (int k = 0; k < 6; k++) {
        ck_assert_double_eq(at[3 + 3 * k], longer[k]);
    }
    set_number(&lab, 2, JOINT_DELAY_STEPS, 2.0); // the youngest
    at = lab.world->joint_under_way + 3 * 9;
    ck_assert_double_eq(at[3], 19.0);
    ck_assert_double_eq(at[6], 20.0);
    ck_assert_double_eq(at[0], lagged);
    set_number(&lab, 2, JOINT_LAG_TIME, 0.0); // and without a lag
    at = lab.world->joint_under_way + 3 * 9;
    ck_assert_double_eq(at[0], 19.0);
    set_number(&lab, 2, JOINT_LAG_TIME, 0.5); // which begins at what comes next
    at = lab.world->joint_under_way + 3 * 9;
    ck_assert_double_eq(at[0], 19.0);
    ck_assert_uint_eq(world_under_way_count(lab.world), 3 * (9 + 3 + 1));
    lab_restore(&lab);
    lab_destroy(&lab);
}
END_TEST

START_TEST(what_is_under_way_goes_with_its_joint) {
    Lab a = make_crew(), b = make_crew();
    drive_crew(&a, 0, 30);
    const uint32_t gone = 0;
    double kept[3 * 6];
    memcpy(kept, a.world->joint_under_way + 3 * 9, sizeof(kept));
    world_remove_joints(a.world, &gone, 1);
    ck_assert_uint_eq(world_under_way_count(a.world), 3 * 6);
    ck_assert_mem_eq(kept, a.world->joint_under_way, sizeof(kept));
    lab_restore(&a);
    lab_step(&a, 5);
    lab_destroy(&a);
    lab_destroy(&b);
}
END_TEST

// As it comes, a joint has had its commands for ever: nothing moves until others are given.
START_TEST(a_new_joint_has_had_its_commands_for_ever) {
    Lab lab = lab_create(0.0, TIME_STEP);
    const double inertia[6] = {0.01, 0.01, 0.01, 0.0, 0.0, 0.0}, lag = 0.2, delay = 5.0,
                 stiff = 9.0, target = 0.7;
    const uint32_t kind = JOINT_SLIDER;
    lab_body(&lab, 0, BODY_DYNAMIC, (Pose){vec3(0.0, 0.0, 0.0), quat_identity()}, NULL, 1.0,
             inertia);
    lab_joints(&lab, &(JointColumns){.count = 1,
                                     .axis_count = 1,
                                     .position_count = 1,
                                     .kind = &kind,
                                     .body_b = &lab.world->body_id[0],
                                     .drive_stiffness = &stiff,
                                     .lag_time = &lag,
                                     .delay_steps = &delay,
                                     .position = &target,
                                     .target = &target});
    lab_step(&lab, 100);
    ck_assert_double_eq(lab.world->joint_position[0], 0.7);
    lab_destroy(&lab);
}
END_TEST

// What is on its way keeps awake, and wakes nobody once it is there.
START_TEST(nobody_sleeps_while_a_command_is_under_way) {
    const Actuator of = {.stiffness = 5.0, .damping = 2.0, .delay = 400.0};
    Lab lab = make_hinges(&of, 1, INTEGRATOR_SYMPLECTIC);
    WorldSettings settings = lab.world->settings;
    settings.sleep_speed = 0.05;
    settings.sleep_time = 0.1;
    world_set_settings(lab.world, &settings);
    lab_step(&lab, 60);
    ck_assert_uint_eq(lab.report.asleep_count, 1);
    Actuator now = of;
    now.target = 1.0;
    command(&lab, 0, &now);
    for (int k = 0; k < 400; k++) {
        lab_step(&lab, 1);
        ck_assert_uint_eq(lab.report.asleep_count, 0);
        ck_assert_double_eq(lab.world->joint_position[0], 0.0);
    }
    lab_step(&lab, 2000);
    ck_assert_double_gt(lab.world->joint_position[0], 0.5); // a body without a shape soon is still
    ck_assert_uint_eq(lab.report.asleep_count, 1);
    lab_destroy(&lab);
}
END_TEST

static TCase *case_actuators(void) {
    TCase *tcase = tcase_create("actuators");
    tcase_add_loop_test(tcase, a_motor_comes_to_its_no_load_speed_by_its_closed_form, 0,
                        5 * INTEGRATORS);
    tcase_add_test(tcase, its_time_constant_is_the_moment_times_the_speed_over_the_effort);
    tcase_add_test(tcase, a_motor_gives_what_is_asked_for_as_long_as_it_is_able_to);
    tcase_add_test(tcase, a_load_slows_a_motor_by_its_share_and_a_drive_arrives);
    tcase_add_test(tcase, a_motor_without_a_curve_bounds_drive_and_effort_together);
    tcase_add_test(tcase, a_lag_goes_to_its_command_by_an_exponential);
    tcase_add_test(tcase, a_delay_is_the_same_way_later);
    tcase_add_test(tcase, what_is_under_way_is_in_snapshots_copies_and_hashes);
    tcase_add_test(tcase, a_snapshot_with_other_commands_is_refused);
    tcase_add_loop_test(tcase, a_snapshot_without_the_numbers_of_its_joints_is_refused, 0, 2);
    tcase_add_test(tcase, what_is_under_way_stays_where_a_delay_is_changed);
    tcase_add_test(tcase, what_is_under_way_goes_with_its_joint);
    tcase_add_test(tcase, a_new_joint_has_had_its_commands_for_ever);
    tcase_add_test(tcase, nobody_sleeps_while_a_command_is_under_way);
    return tcase;
}

SUITE_MAIN("step/actuators", case_actuators)
