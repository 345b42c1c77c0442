// SPDX-License-Identifier: MIT
// Sleeping: what falls asleep and when, that it stays bit for bit where it is, what wakes whom and
// what does not, and that what is woken moves as if it had never slept.
#include "step/snapshot/snapshot.h"
#include "support/heap.h"
#include "support/suite.h"
#include "world/sleep.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define TIME_STEP 0.004
#define SPEED     0.05 // sleep_speed [m/s]
enum { STACK = 10, SETTLE_STEPS = 400 };

static void let_sleep(Lab *lab) {
    WorldSettings settings = lab->world->settings;
    settings.sleep_speed = SPEED;
    settings.margin = 0.001;
    world_set_settings(lab->world, &settings);
}

static void let_wake(Lab *lab) {
    WorldSettings settings = lab->world->settings;
    settings.sleep_speed = 0.0;
    world_set_settings(lab->world, &settings);
}

static Pose at(double x, double y, double z) {
    return (Pose){.position = vec3(x, y, z), .orientation = quat_identity()};
}

static Id cube(Lab *lab) {
    return lab_shape(lab, PRIMITIVE_BOX, vec3(0.1, 0.1, 0.1), 0);
}

static uint32_t add_ball(Lab *lab, Vec3 position, Vec3 velocity) {
    Id ball = lab_shape(lab, PRIMITIVE_SPHERE, vec3(0.1, 0.0, 0.0), 0);
    const double six[6] = {velocity.x, velocity.y, velocity.z, 0.0, 0.0, 0.0};
    Pose pose = {.position = position, .orientation = quat_identity()};
    return lab_body(lab, ball, BODY_DYNAMIC, pose, six, 0.0, NULL);
}

// Its first body.
static uint32_t add_stack(Lab *lab, double x) {
    Id shape = cube(lab);
    uint32_t first = lab->world->body_count;
    for (int i = 0; i < STACK; i++) {
        lab_body(lab, shape, BODY_DYNAMIC, at(x, 0.0, 0.1 + 0.2 * i), NULL, 0.0, NULL);
    }
    return first;
}

static void must_all_sleep(Lab *lab) {
    lab_step(lab, SETTLE_STEPS);
    ck_assert_uint_eq(lab->report.asleep_count, lab->world->dynamic_count);
}

static bool stack_sleeps(const Lab *lab, uint32_t first) {
    uint32_t asleep = 0;
    for (uint32_t i = 0; i < STACK; i++) {
        asleep += sleep_is_asleep(lab->world, first + i);
    }
    ck_assert_msg(asleep == 0 || asleep == STACK, "%u of an island sleep", asleep);
    return asleep > 0;
}

// Two stacks far from each other, on the ground, asleep.
typedef struct Yard {
    Lab lab;
    uint32_t ground, stack[2], mover;
} Yard;

static Yard yard_create(void) {
    Yard yard = {.lab = lab_create(9.81, TIME_STEP)};
    let_sleep(&yard.lab);
    yard.ground = lab_ground(&yard.lab, 0);
    yard.stack[0] = add_stack(&yard.lab, 0.0);
    yard.stack[1] = add_stack(&yard.lab, 5.0);
    // 0.2 mm beside the first stack's uppermost cube: in touch, as far as contacts go
    yard.mover =
        lab_body(&yard.lab, cube(&yard.lab), BODY_KINEMATIC, at(0.2002, 0.0, 1.9), NULL, 0.0, NULL);
    must_all_sleep(&yard.lab);
    return yard;
}

static void step_with_wrench(Yard *yard, uint32_t body, double force) {
    const double wrench[6] = {force, 0.0, 0.0, 0.0, 0.0, 0.0};
    StepInput input = {
        .time_step = TIME_STEP, .wrench_count = 1, .wrench_body = &body, .wrench = wrench};
    Error error = {0};
    ck_assert_int_eq(stepper_run(yard->lab.stepper, yard->lab.world, &input, &yard->lab.scratch,
                                 NULL, &yard->lab.report, &error),
                     STATUS_OK);
}

// A world that goes on from where another is.
static Lab copy(const Lab *lab) {
    Lab other = lab_create(9.81, TIME_STEP);
    uint8_t *bytes;
    size_t count;
    Error error = {0};
    WorldLimits limits = lab->world->limits;
    world_destroy(other.world);
    ck_assert_int_eq(snapshot_write(lab->world, &other.scratch, &bytes, &count, &error), STATUS_OK);
    ck_assert_msg(snapshot_read(bytes, count, &limits, &other.world, &error) == STATUS_OK, "%s",
                  error.message);
    arena_reset(&other.scratch);
    return other;
}

// ---- falling asleep

START_TEST(a_stack_falls_asleep_and_stays_to_the_bit) {
    Lab lab = lab_create(9.81, TIME_STEP);
    let_sleep(&lab);
    lab_ground(&lab, 0);
    uint32_t first = add_stack(&lab, 0.0);
    // not before it was at rest for sleep_time, 125 steps
    lab_step(&lab, 124);
    ck_assert_uint_eq(lab.report.asleep_count, 0);
    must_all_sleep(&lab);
    ck_assert(stack_sleeps(&lab, first));
    double pose[7 * STACK];
    memcpy(pose, lab.world->pose + 7 * (size_t)first, sizeof(pose));
    double before = lab.report.energy.after;
    for (int i = 0; i < 10000; i++) {
        lab_step(&lab, 1);
        ck_assert_uint_eq(lab.report.contact_count, 0); // nothing is solved
        ck_assert_uint_eq(lab.stepper->problem.tree_count, 0);
        ck_assert_double_eq(lab.report.energy.before, before);
        ck_assert_double_eq(lab.report.energy.after, before);
    }
    ck_assert_mem_eq(pose, lab.world->pose + 7 * (size_t)first, sizeof(pose));
    const double nothing[6 * STACK] = {0};
    ck_assert_mem_eq(nothing, lab.world->velocity + 6 * (size_t)first, sizeof(nothing));
    lab_destroy(&lab);
}
END_TEST

// What falls asleep loses at most m s^2/2, as no point of it is faster than s; the book says so.
START_TEST(the_energy_book_tells_what_falls_asleep) {
    Lab lab = lab_create(0.0, TIME_STEP);
    let_sleep(&lab);
    uint32_t ball = add_ball(&lab, vec3(0.0, 0.0, 0.0), vec3(0.9 * SPEED, 0.0, 0.0));
    double energy = 0.5 * lab.world->mass[ball].mass * 0.81 * SPEED * SPEED;
    int steps = 0;
    do {
        ck_assert_int_lt(steps++, 126);
        lab_step(&lab, 1);
        ck_assert_double_eq_tol(lab.report.energy.before, energy, 1e-15 * energy);
        ck_assert_double_eq_tol(lab.report.energy.unexplained, 0.0, 1e-15 * energy);
    } while (lab.report.asleep_count == 0);
    ck_assert_int_eq(steps, 125);
    ck_assert_double_eq(lab.report.energy.after, 0.0);
    ck_assert_double_eq_tol(lab.report.energy.scheme, -energy, 1e-15 * energy);
    lab_step(&lab, 1);
    ck_assert_double_eq(lab.report.energy.before, 0.0);
    lab_destroy(&lab);
}
END_TEST

// No point of it may be faster: a ball of 10 cm that turns at 0.6 rad/s is not at rest at 5 cm/s,
// one that turns at 0.4 rad/s is; without a shape the radius of gyration counts.
START_TEST(spin_counts_by_the_reach_of_the_body) {
    static const struct {
        bool has_shape;
        double spin;
        bool sleeps;
    } cases[] = {{true, 0.6, false}, {true, 0.4, true}, {false, 0.3, false}, {false, 0.2, true}};
    Lab lab = lab_create(0.0, TIME_STEP);
    let_sleep(&lab);
    const double velocity[6] = {0.0, 0.0, 0.0, 0.0, 0.0, cases[_i].spin};
    const double inertia[6] = {0.04, 0.04, 0.04, 0.0, 0.0, 0.0}; // gyration: sqrt(0.06) m
    Id shape = cases[_i].has_shape ? lab_shape(&lab, PRIMITIVE_SPHERE, vec3(0.1, 0.0, 0.0), 0) : 0;
    lab_body(&lab, shape, BODY_DYNAMIC, at(0.0, 0.0, 0.0), velocity, 1.0, inertia);
    lab_step(&lab, 200);
    ck_assert_uint_eq(lab.report.asleep_count, cases[_i].sleeps);
    lab_destroy(&lab);
}
END_TEST

START_TEST(nothing_sleeps_unless_it_is_asked_for) {
    ck_assert_double_eq(settings_default().sleep_speed, 0.0);
    Lab lab = lab_create(9.81, TIME_STEP);
    lab_ground(&lab, 0);
    add_stack(&lab, 0.0);
    lab_step(&lab, SETTLE_STEPS);
    ck_assert_uint_eq(lab.report.asleep_count, 0);
    ck_assert_ptr_null(lab.world->sleep);
    lab_destroy(&lab);
}
END_TEST

// While nobody sleeps, the steps of a world that may sleep are those of one that may not.
START_TEST(steps_without_sleepers_are_as_ever) {
    Lab lab = heap_create(9, 30), other = heap_create(9, 30);
    let_sleep(&lab);
    let_sleep(&other);
    let_wake(&other);
    for (int i = 0; i < 120; i++) { // sleep_time is 125 steps of 4 ms, and not yet over
        lab_step(&lab, 1);
        lab_step(&other, 1);
        size_t count = lab.world->body_count;
        ck_assert_mem_eq(lab.world->pose, other.world->pose, 7 * count * sizeof(double));
        ck_assert_mem_eq(lab.world->velocity, other.world->velocity, 6 * count * sizeof(double));
        ck_assert_mem_eq(&lab.report.energy, &other.report.energy, sizeof(StepEnergy));
        const Certificate *own = &lab.report.certificate, *its = &other.report.certificate;
        ck_assert_mem_eq(own->entry, its->entry, sizeof(own->entry));
        ck_assert_mem_eq(own->velocity, its->velocity, sizeof(own->velocity));
        ck_assert_int_eq(own->worst_contact, its->worst_contact);
        ck_assert_uint_eq(own->islands, its->islands);
        ck_assert_uint_eq(own->islands_open, its->islands_open);
    }
    ck_assert_uint_eq(lab.report.asleep_count, 0);
    lab_destroy(&lab);
    lab_destroy(&other);
}
END_TEST

// A ball lies on a frictionless slab that creeps away under it, slower than sleep_speed: it is at
// rest all the time, but never falls asleep, and falls when it lies there no more.
START_TEST(what_is_carried_or_begins_to_fall_stays_awake) {
    Lab lab = lab_create(9.81, TIME_STEP);
    let_sleep(&lab);
    Id ice = lab_material(&lab, 0.0, 0.0);
    Id slab = lab_shape(&lab, PRIMITIVE_BOX, vec3(0.1, 0.1, 0.1), ice);
    const double creep[6] = {0.1 * SPEED, 0.0, 0.0, 0.0, 0.0, 0.0};
    lab_body(&lab, slab, BODY_KINEMATIC, at(-0.095, 0.0, -0.1), creep, 0.0, NULL);
    Id shape = lab_shape(&lab, PRIMITIVE_BOX, vec3(0.05, 0.05, 0.05), ice);
    uint32_t body = lab_body(&lab, shape, BODY_DYNAMIC, at(0.0, 0.0, 0.05), NULL, 0.0, NULL);
    lab.world->velocity[0] = -creep[0]; // away
    for (int i = 0; i < 1500; i++) {
        lab_step(&lab, 1);
        ck_assert_uint_eq(lab.report.asleep_count, 0);
    }
    ck_assert_double_lt(lab_position(&lab, body).z, -1.0);
    lab_destroy(&lab);
}
END_TEST

// A catch that lets go: a body that was at rest for long begins to fall, in its first step by less
// than sleep_speed.
START_TEST(what_loses_its_hold_falls) {
    Lab lab = lab_create(9.81, TIME_STEP);
    let_sleep(&lab);
    lab_ground(&lab, 0);
    uint32_t ball = add_ball(&lab, vec3(0.0, 0.0, 0.1), vec3(0.0, 0.0, 0.0));
    lab_step(&lab, 100);
    // at rest for 100 of 125 steps; put where nothing holds it, as if by the joint that broke
    lab.world->pose[7 * (size_t)ball + 2] = 5.0;
    lab.world->bodies_moved = true;
    lab.world->sleep->rest[ball] = lab.world->settings.sleep_time;
    ck_assert_double_lt(9.81 * TIME_STEP, SPEED);
    lab_step(&lab, 50);
    ck_assert_uint_eq(lab.report.asleep_count, 0);
    ck_assert_double_lt(lab_velocity(&lab, ball).z, -1.9);
    lab_destroy(&lab);
}
END_TEST

// A wrench keeps a body awake, however little it does.
START_TEST(what_is_pushed_stays_awake) {
    Yard yard = yard_create();
    for (int i = 0; i < 200; i++) {
        step_with_wrench(&yard, yard.stack[0] + 3, 1e-9);
        ck_assert(!stack_sleeps(&yard.lab, yard.stack[0]));
    }
    ck_assert(stack_sleeps(&yard.lab, yard.stack[1]));
    lab_step(&yard.lab, 124); // at rest from here on
    ck_assert(!stack_sleeps(&yard.lab, yard.stack[0]));
    lab_step(&yard.lab, 2);
    ck_assert(stack_sleeps(&yard.lab, yard.stack[0]));
    lab_destroy(&yard.lab);
}
END_TEST

// Of two balls that touch one leaves the world: the other begins to rest anew.
START_TEST(what_loses_a_neighbour_begins_to_rest_anew) {
    Lab lab = lab_create(0.0, TIME_STEP);
    let_sleep(&lab);
    add_ball(&lab, vec3(0.0, 0.0, 0.0), vec3(0.0, 0.0, 0.0));
    add_ball(&lab, vec3(0.2, 0.0, 0.0), vec3(0.0, 0.0, 0.0));
    lab_step(&lab, 100);
    lab.world->settings.has_bounds = true; // as if they had always been there
    lab.world->settings.bounds_lower = vec3(0.1, -1.0, -1.0);
    lab.world->settings.bounds_upper = vec3(1.0, 1.0, 1.0);
    lab_step(&lab, 1);
    ck_assert_uint_eq(lab.report.removed_count, 1);
    lab_step(&lab, 124);
    ck_assert_uint_eq(lab.report.asleep_count, 0);
    lab_step(&lab, 2);
    ck_assert_uint_eq(lab.report.asleep_count, 1);
    lab_destroy(&lab);
}
END_TEST

// ---- waking as if it had never slept

START_TEST(a_ball_wakes_the_island_that_it_hits_and_no_other) {
    Yard yard = yard_create();
    Lab *lab = &yard.lab;
    // where no step has two solutions: of such, noise of 1e-12 may take either
    uint32_t ball = add_ball(lab, vec3(-0.5, 0.0, 0.5), vec3(10.0, 0.0, 0.0));
    // the same, awake from now on, with nothing forgotten that the solver starts from
    Lab other = copy(lab);
    let_wake(&other);
    int steps = 0;
    while (stack_sleeps(lab, yard.stack[0])) { // 30 cm at 10 m/s, 4 cm in a step
        ck_assert_int_lt(steps++, 10);
        lab_step(lab, 1);
        lab_step(&other, 1);
        bool is_hit = lab_velocity(lab, ball).x < 9.0;
        ck_assert(is_hit == !stack_sleeps(lab, yard.stack[0])); // in that same step
    }
    ck_assert(stack_sleeps(lab, yard.stack[1]));
    ck_assert_uint_gt(lab->report.contact_count, 0);
    // the stack that was awake has moved by the solver's noise before the hit, some tolerances of
    // g h per step; after it, 100 steps of the rebound make at most as much of that as it was hit
    // harder than it rests
    for (int i = 0; i < 100; i++) {
        for (uint32_t body = yard.stack[0]; body < yard.stack[0] + STACK; body++) {
            Vec3 off = vec3_sub(lab_position(lab, body), lab_position(&other, body));
            ck_assert_double_lt(vec3_norm(off), 1e-6);
        }
        Vec3 off = vec3_sub(lab_position(lab, ball), lab_position(&other, ball));
        ck_assert_double_lt(vec3_norm(off), 1e-6);
        lab_step(lab, 1);
        lab_step(&other, 1);
    }
    ck_assert_double_gt(vec3_norm(lab_velocity(lab, ball)), 0.1);
    ck_assert(stack_sleeps(lab, yard.stack[1]));
    lab_destroy(lab);
    lab_destroy(&other);
}
END_TEST

// Hit in the first step in which the other is awake: nothing differs, not in the last bit.
START_TEST(the_step_that_wakes_is_that_of_an_awake_world) {
    Yard yard = yard_create();
    uint32_t ball = add_ball(&yard.lab, vec3(-0.21, 0.0, 1.1), vec3(10.0, 0.0, 0.0));
    Lab other = copy(&yard.lab);
    let_wake(&other);
    for (int i = 0; i < 50; i++) {
        lab_step(&yard.lab, 1);
        lab_step(&other, 1);
        ck_assert(!stack_sleeps(&yard.lab, yard.stack[0]));
        ck_assert_mem_eq(yard.lab.world->pose + 7 * (size_t)yard.stack[0],
                         other.world->pose + 7 * (size_t)yard.stack[0], 7 * STACK * sizeof(double));
        ck_assert_mem_eq(yard.lab.world->pose + 7 * (size_t)ball,
                         other.world->pose + 7 * (size_t)ball, 7 * sizeof(double));
    }
    lab_destroy(&yard.lab);
    lab_destroy(&other);
}
END_TEST

// Without gravity and ground: momentum stays, to rounding, in the step that wakes and after it.
START_TEST(a_collision_with_sleepers_keeps_momentum) {
    Lab lab = lab_create(0.0, TIME_STEP);
    let_sleep(&lab);
    uint32_t first = add_stack(&lab, 0.0);
    must_all_sleep(&lab);
    uint32_t ball = add_ball(&lab, vec3(-0.4, 0.03, 1.13), vec3(7.0, 0.0, 1.0));
    Vec3 expected = vec3_scale(lab.world->mass[ball].mass, lab_velocity(&lab, ball));
    for (int i = 0; i < 40; i++) {
        lab_step(&lab, 1);
        Vec3 momentum = vec3(0.0, 0.0, 0.0);
        for (uint32_t body = 0; body < lab.world->body_count; body++) {
            momentum =
                vec3_add_scaled(momentum, lab.world->mass[body].mass, lab_velocity(&lab, body));
        }
        ck_assert_double_lt(vec3_norm(vec3_sub(momentum, expected)), 1e-12 * vec3_norm(expected));
    }
    ck_assert(!stack_sleeps(&lab, first));
    ck_assert_double_lt(lab_velocity(&lab, ball).x, 6.0);
    lab_destroy(&lab);
}
END_TEST

// A ball so fast that the one it hits comes to a third in the same step: both wake in it.
START_TEST(what_the_woken_may_touch_wakes_with_them) {
    Lab lab = lab_create(0.0, TIME_STEP), other;
    let_sleep(&lab);
    uint32_t second = add_ball(&lab, vec3(0.0, 0.0, 0.0), vec3(0.0, 0.0, 0.0));
    uint32_t third = add_ball(&lab, vec3(0.25, 0.0, 0.0), vec3(0.0, 0.0, 0.0));
    uint32_t far = add_ball(&lab, vec3(9.0, 0.0, 0.0), vec3(0.0, 0.0, 0.0));
    must_all_sleep(&lab);
    add_ball(&lab, vec3(-0.4, 0.0, 0.0), vec3(100.0, 0.0, 0.0)); // 40 cm in a step
    other = copy(&lab);
    let_wake(&other);
    lab_step(&lab, 1);
    lab_step(&other, 1);
    ck_assert(!sleep_is_asleep(lab.world, second));
    ck_assert(!sleep_is_asleep(lab.world, third));
    ck_assert(sleep_is_asleep(lab.world, far));
    ck_assert_mem_eq(lab.world->pose, other.world->pose, 7 * 4 * sizeof(double));
    ck_assert_double_gt(lab_velocity(&lab, third).x, 1.0);
    lab_destroy(&lab);
    lab_destroy(&other);
}
END_TEST

// Two cubes side by side on the ground, so far apart that they would not touch if both were awake:
// the gap is above margin + 2 g h^2, by half of what one of them falls in a step, which is what the
// other's reach would have to be if it counted as hanging still.
START_TEST(what_stands_beside_sleepers_lets_them_sleep) {
    Lab lab = lab_create(9.81, TIME_STEP);
    let_sleep(&lab);
    lab_ground(&lab, 0);
    Id shape = cube(&lab);
    lab_body(&lab, shape, BODY_DYNAMIC, at(0.0, 0.0, 0.1), NULL, 0.0, NULL);
    must_all_sleep(&lab);
    double fall = 9.81 * TIME_STEP * TIME_STEP;
    lab_body(&lab, shape, BODY_DYNAMIC, at(0.2 + 0.001 + 2.5 * fall, 0.0, 0.1), NULL, 0.0, NULL);
    for (int i = 0; i < 200; i++) {
        lab_step(&lab, 1);
        ck_assert(sleep_is_asleep(lab.world, 1));
    }
    ck_assert_uint_eq(lab.report.asleep_count, 2);
    lab_destroy(&lab);
}
END_TEST

// What moves by itself and what stands still have no contacts, whoever sleeps nearby.
START_TEST(a_mover_over_the_ground_has_no_contacts) {
    Yard yard = yard_create();
    const double velocity[6] = {0.0, 1.0, 0.0, 0.0, 0.0, 0.0};
    const double pose[7] = {2.5, 0.0, 0.05, 1.0, 0.0, 0.0, 0.0};
    BodyUpdate update = {
        .count = 1, .id = &yard.lab.world->body_id[yard.mover], .pose = pose, .velocity = velocity};
    ck_assert_int_eq(world_update_bodies(yard.lab.world, &update, NULL), STATUS_OK);
    for (int i = 0; i < 50; i++) {
        lab_step(&yard.lab, 1);
        ck_assert_uint_eq(yard.lab.report.asleep_count, 2 * STACK);
        ck_assert_uint_eq(yard.lab.report.contact_count, 0);
    }
    ck_assert_double_eq_tol(lab_position(&yard.lab, yard.mover).y, 0.2, 1e-12);
    lab_destroy(&yard.lab);
}
END_TEST

// Islands that touch each other, as no step leaves them: each wakes the next in the same step, and
// after so many rounds all wake, also those that nothing touches.
START_TEST(chains_of_islands_wake_in_one_step) {
    uint32_t chain = _i == 0 ? 5 : 20;
    Lab lab = lab_create(0.0, TIME_STEP);
    let_sleep(&lab);
    for (uint32_t i = 0; i < chain; i++) {
        add_ball(&lab, vec3(0.2 * i, 0.0, 0.0), vec3(0.0, 0.0, 0.0));
    }
    uint32_t far = add_ball(&lab, vec3(-9.0, 0.0, 0.0), vec3(0.0, 0.0, 0.0));
    must_all_sleep(&lab);
    for (uint32_t i = 0; i < chain; i++) {
        lab.world->sleep->island[i] = i;
    }
    lab_step(&lab, 100);
    ck_assert_uint_eq(lab.report.asleep_count, chain + 1); // they touch, and all stand still
    add_ball(&lab, vec3(-0.21, 0.0, 0.0), vec3(5.0, 0.0, 0.0));
    lab_step(&lab, 1);
    ck_assert_uint_eq(lab.report.asleep_count, _i == 0);
    ck_assert(sleep_is_asleep(lab.world, far) == (_i == 0));
    ck_assert_double_gt(lab_velocity(&lab, chain - 1).x, 0.0); // the push has come through
    lab_destroy(&lab);
}
END_TEST

// ---- what it costs

// Processor time of some steps [s], the least of several tries.
static double time_steps(Lab *lab) {
    double least = HUGE_VAL;
    for (int i = 0; i < 10; i++) {
        clock_t begun = clock();
        lab_step(lab, 10);
        least = fmin(least, (double)(clock() - begun) / CLOCKS_PER_SEC);
    }
    return least;
}

// Nothing is solved, and what is left is some hundredth of an awake step's time: a tenth leaves
// room for a busy machine.
START_TEST(quiet_stacks_cost_almost_nothing) {
    Lab lab = lab_create(9.81, TIME_STEP);
    let_sleep(&lab);
    lab_ground(&lab, 0);
    for (int i = 0; i < 300; i++) {
        add_stack(&lab, 0.5 * i);
    }
    lab_step(&lab, 10);
    double awake = time_steps(&lab);
    ck_assert_uint_eq(lab.report.contact_count, 4 * STACK * 300);
    must_all_sleep(&lab);
    double asleep = time_steps(&lab);
    ck_assert_uint_eq(lab.report.contact_count, 0);
    ck_assert_double_lt(asleep, 0.1 * awake);
    lab_destroy(&lab);
}
END_TEST

// ---- reasons to wake

static void set_bodies(Yard *yard, uint32_t body, const double *pose, const double *velocity) {
    BodyUpdate update = {
        .count = 1, .id = &yard->lab.world->body_id[body], .pose = pose, .velocity = velocity};
    Error error = {0};
    ck_assert_msg(world_update_bodies(yard->lab.world, &update, &error) == STATUS_OK, "%s",
                  error.message);
}

static void push(Yard *yard) {
    step_with_wrench(yard, yard->stack[0] + 3, 1e-3);
}

static void push_with_nothing(Yard *yard) {
    step_with_wrench(yard, yard->stack[0] + 3, 0.0);
}

static void set_pose(Yard *yard) {
    set_bodies(yard, yard->stack[0] + 4, yard->lab.world->pose + 7 * (yard->stack[0] + 4), NULL);
}

static void set_velocity(Yard *yard) {
    const double velocity[6] = {0.0, 0.0, 0.0, 0.0, 0.0, 1e-3};
    set_bodies(yard, yard->stack[0] + 4, NULL, velocity);
}

static void set_gravity(Yard *yard) {
    WorldSettings settings = yard->lab.world->settings;
    settings.gravity.z = -1.6;
    world_set_settings(yard->lab.world, &settings);
}

static void set_tolerance(Yard *yard) {
    lab_set(&yard->lab, "tolerance", 1e-5);
}

static void set_nothing_new(Yard *yard) {
    WorldSettings settings = yard->lab.world->settings;
    world_set_settings(yard->lab.world, &settings);
}

static void move_mover(Yard *yard) {
    const double velocity[6] = {-0.01, 0.0, 0.0, 0.0, 0.0, 0.0};
    set_bodies(yard, yard->mover, NULL, velocity);
}

static void move_mover_away(Yard *yard) {
    const double pose[7] = {0.0, 7.0, 1.9, 1.0, 0.0, 0.0, 0.0};
    const double velocity[6] = {0.0, 1.0, 0.0, 0.0, 0.0, 0.0};
    set_bodies(yard, yard->mover, pose, velocity); // it bore nothing
}

static void put_mover_into_stack(Yard *yard) {
    const double pose[7] = {0.19, 0.0, 1.1, 1.0, 0.0, 0.0, 0.0};
    set_bodies(yard, yard->mover, pose, NULL);
}

static void move_ground(Yard *yard) {
    const double pose[7] = {0.0, 0.0, -2.0, 1.0, 0.0, 0.0, 0.0};
    set_bodies(yard, yard->ground, pose, NULL);
}

static void add_cube_at(Yard *yard, BodyKind kind, double x) {
    lab_body(&yard->lab, cube(&yard->lab), kind, at(x, 0.0, 0.3), NULL, 0.0, NULL);
}

static void add_static_in_touch(Yard *yard) {
    add_cube_at(yard, BODY_STATIC, 0.2004);
}

static void add_static_elsewhere(Yard *yard) {
    add_cube_at(yard, BODY_STATIC, 2.5);
}

static void add_dynamic_in_touch(Yard *yard) {
    add_cube_at(yard, BODY_DYNAMIC, 0.2004);
}

static void add_dynamic_elsewhere(Yard *yard) {
    add_cube_at(yard, BODY_DYNAMIC, 2.5);
}

static void add_material(Yard *yard) {
    lab_material(&yard->lab, 0.9, 0.9);
}

typedef struct Reason {
    const char *name;
    void (*happen)(Yard *yard);
    bool wakes[2]; // whether each stack is awake one step later
} Reason;

static const Reason reasons[] = {
    {"a wrench", push, {true, false}},
    {"a wrench of zero", push_with_nothing, {false, false}},
    {"a pose", set_pose, {true, false}},
    {"a velocity", set_velocity, {true, false}},
    {"gravity", set_gravity, {true, true}},
    {"a solver's parameter", set_tolerance, {true, true}},
    {"settings as they were", set_nothing_new, {false, false}},
    {"a mover that begins to move", move_mover, {true, false}},
    {"a mover that moves elsewhere", move_mover_away, {false, false}},
    {"a mover put into it", put_mover_into_stack, {true, false}},
    {"the ground that is moved", move_ground, {true, true}},
    {"a static body in touch", add_static_in_touch, {true, false}},
    {"a static body elsewhere", add_static_elsewhere, {false, false}},
    {"a body in touch", add_dynamic_in_touch, {true, false}},
    {"a body elsewhere", add_dynamic_elsewhere, {false, false}},
    {"a material", add_material, {false, false}},
};
enum { REASONS = sizeof(reasons) / sizeof(reasons[0]) };

START_TEST(each_reason_wakes_whom_it_should) {
    const Reason *reason = &reasons[_i];
    Yard yard = yard_create();
    reason->happen(&yard);
    lab_step(&yard.lab, 1);
    for (int i = 0; i < 2; i++) {
        ck_assert_msg(stack_sleeps(&yard.lab, yard.stack[i]) != reason->wakes[i], "%s: stack %d",
                      reason->name, i);
    }
    // and what stands still lets it sleep again, beside what was put there
    if (reason->happen != move_ground && reason->happen != move_mover) {
        lab_step(&yard.lab, 1000);
        ck_assert_msg(yard.lab.report.asleep_count == yard.lab.world->dynamic_count, "%s: %u",
                      reason->name, yard.lab.report.asleep_count);
    }
    lab_destroy(&yard.lab);
}
END_TEST

// A mover that bears a stack, and of which nothing else is to be told: it has just been set to
// move, and is the last body. Where it is put elsewhere, what rested on it wakes, also after a
// restore.
START_TEST(a_bearer_is_known_though_it_is_awake) {
    Yard yard = {.lab = lab_create(9.81, TIME_STEP)};
    let_sleep(&yard.lab);
    yard.stack[0] = add_stack(&yard.lab, 0.0);
    Id slab = lab_shape(&yard.lab, PRIMITIVE_BOX, vec3(1.0, 1.0, 0.5), 0);
    yard.mover = lab_body(&yard.lab, slab, BODY_KINEMATIC, at(0.0, 0.0, -0.5), NULL, 0.0, NULL);
    must_all_sleep(&yard.lab);
    const double velocity[6] = {0.01, 0.0, 0.0, 0.0, 0.0, 0.0};
    const double pose[7] = {0.0, 0.0, -3.0, 1.0, 0.0, 0.0, 0.0};
    set_bodies(&yard, yard.mover, NULL, velocity);
    ck_assert(stack_sleeps(&yard.lab, yard.stack[0])); // until a step finds it in touch
    ck_assert_uint_eq(sleep_told_count(yard.lab.world), STACK);
    Lab other = copy(&yard.lab);
    lab_destroy(&yard.lab);
    yard.lab = other;
    set_bodies(&yard, yard.mover, pose, NULL);
    ck_assert(!stack_sleeps(&yard.lab, yard.stack[0]));
    lab_destroy(&yard.lab);
}
END_TEST

// What slept on ground that is gone falls freely from the next step on.
START_TEST(sleepers_fall_when_the_ground_is_moved) {
    Yard yard = yard_create();
    move_ground(&yard);
    lab_step(&yard.lab, 10);
    ck_assert_double_eq_tol(lab_velocity(&yard.lab, yard.stack[1]).z, -9.81 * 10 * TIME_STEP,
                            1e-12);
    lab_destroy(&yard.lab);
}
END_TEST

// ---- a step that does not happen

static bool ask(void *context) {
    int *left = context;
    return (*left)-- <= 0;
}

// Given up at any question that it asks, a step that would wake has woken nobody.
START_TEST(a_step_that_is_given_up_wakes_nobody) {
    Yard yard = yard_create();
    add_ball(&yard.lab, vec3(-0.21, 0.0, 1.1), vec3(10.0, 0.0, 0.0));
    uint64_t hash = snapshot_hash(yard.lab.world);
    bool is_done = false;
    for (int questions = 0; !is_done; questions++) {
        int left = questions;
        Stop stop = {.asked = ask, .context = &left};
        StepInput input = {.time_step = TIME_STEP, .context.stop = &stop};
        Error error = {0};
        Status status = stepper_run(yard.lab.stepper, yard.lab.world, &input, &yard.lab.scratch,
                                    NULL, &yard.lab.report, &error);
        is_done = status == STATUS_OK;
        ck_assert(is_done || status == STATUS_ABORTED);
        ck_assert((snapshot_hash(yard.lab.world) == hash) == !is_done);
        ck_assert(stack_sleeps(&yard.lab, yard.stack[0]) == !is_done);
        ck_assert(questions > 0 || !is_done);
    }
    lab_destroy(&yard.lab);
}
END_TEST

static TCase *case_sleep(void) {
    TCase *tcase = tcase_create("sleep");
    tcase_set_timeout(tcase, 120.0);
    tcase_add_test(tcase, a_stack_falls_asleep_and_stays_to_the_bit);
    tcase_add_test(tcase, the_energy_book_tells_what_falls_asleep);
    tcase_add_loop_test(tcase, spin_counts_by_the_reach_of_the_body, 0, 4);
    tcase_add_test(tcase, nothing_sleeps_unless_it_is_asked_for);
    tcase_add_test(tcase, steps_without_sleepers_are_as_ever);
    tcase_add_test(tcase, what_is_carried_or_begins_to_fall_stays_awake);
    tcase_add_test(tcase, what_loses_its_hold_falls);
    tcase_add_test(tcase, what_is_pushed_stays_awake);
    tcase_add_test(tcase, what_loses_a_neighbour_begins_to_rest_anew);
    tcase_add_test(tcase, what_stands_beside_sleepers_lets_them_sleep);
    tcase_add_test(tcase, a_mover_over_the_ground_has_no_contacts);
    tcase_add_test(tcase, a_ball_wakes_the_island_that_it_hits_and_no_other);
    tcase_add_test(tcase, the_step_that_wakes_is_that_of_an_awake_world);
    tcase_add_test(tcase, a_collision_with_sleepers_keeps_momentum);
    tcase_add_test(tcase, what_the_woken_may_touch_wakes_with_them);
    tcase_add_loop_test(tcase, chains_of_islands_wake_in_one_step, 0, 2);
    tcase_add_test(tcase, quiet_stacks_cost_almost_nothing);
    tcase_add_loop_test(tcase, each_reason_wakes_whom_it_should, 0, REASONS);
    tcase_add_test(tcase, a_bearer_is_known_though_it_is_awake);
    tcase_add_test(tcase, sleepers_fall_when_the_ground_is_moved);
    tcase_add_test(tcase, a_step_that_is_given_up_wakes_nobody);
    return tcase;
}

SUITE_MAIN("step/sleep", case_sleep)
