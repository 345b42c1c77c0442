// SPDX-License-Identifier: MIT
// Divided steps in company: of everything at once, turned as no axis is, under every solver and
// effort; restored in the middle, given up and failed in any substep; and on what moves by closed
// forms.
#include "step/snapshot/snapshot.h"
#include "support/leaning_lab.h"
#include "support/suite.h"
#include "world/sleep.h"

#include <float.h>
#include <string.h>

enum { HERTZ = 240 };

static const Vec3 none = {0.0, 0.0, 0.0};

static Quat upright(void) {
    return quat_identity();
}

static uint32_t add(Lab *lab, Id shape, BodyKind kind, Vec3 at, Quat turn, Vec3 velocity,
                    Vec3 spin) {
    const Vec3 v = turned(velocity), w = turned(spin);
    const double twist[6] = {v.x, v.y, v.z, w.x, w.y, w.z};
    return lab_body(lab, shape, kind, placed(at, turn), twist, 0.0, NULL);
}

static uint32_t add_ground(Lab *lab, Id material) {
    return add(lab, lab_shape(lab, PRIMITIVE_PLANE, none, material), BODY_STATIC, none, upright(),
               none, none);
}

// ---- everything at once

typedef struct Link {
    JointKind kind;
    uint32_t as_rows, a, b; // a is JOINT_NO_BODY: the world
    Vec3 at_a, at_b;        // of the world: in the ground's axes
    double break_force;
} Link;

static Id join(Lab *lab, const Link *link) {
    const uint32_t kind = link->kind, axes = joint_axis_count(joint_kind_axes(link->kind));
    const bool hangs = link->a == JOINT_NO_BODY;
    const uint64_t a = hangs ? 0 : lab->world->body_id[link->a], b = lab->world->body_id[link->b];
    double frame_a[7], frame_b[7];
    pose_store(frame_a, hangs ? placed(link->at_a, upright()) : (Pose){link->at_a, upright()});
    pose_store(frame_b, (Pose){link->at_b, upright()});
    static const double damping[3] = {0.02, 0.02, 0.02};
    return lab_joints(
        lab, &(JointColumns){.count = 1,
                             .axis_count = axes,
                             .position_count = joint_position_count(joint_kind_axes(link->kind)),
                             .kind = &kind,
                             .as_rows = &link->as_rows,
                             .body_a = &a,
                             .body_b = &b,
                             .frame_a = frame_a,
                             .frame_b = frame_b,
                             .damping = damping,
                             .break_force = link->as_rows == 1 ? &link->break_force : NULL});
}

// On one ground a box that sleeps, two that fall on each other, what a moving wall pushes, chains
// of coordinates and of rows that fall on the ground, of which a row breaks, and two hinged bars
// with a cable over them.
static Lab gather(void) {
    Lab lab = leaning_lab(0.0, HERTZ);
    lab.world->settings.sleep_speed = 0.02;
    lab.world->settings.sleep_time = 0.1;
    const Id material = lab_material(&lab, 0.5, 0.2);
    const Id box = lab_shape(&lab, PRIMITIVE_BOX, vec3(0.1, 0.12, 0.08), material),
             ball = lab_shape(&lab, PRIMITIVE_SPHERE, vec3(0.1, 0.0, 0.0), material),
             rod = lab_shape(&lab, PRIMITIVE_CAPSULE, vec3(0.05, 0.15, 0.0), material),
             wall = lab_shape(&lab, PRIMITIVE_BOX, vec3(0.05, 0.5, 0.3), material);
    const Quat askew = quat_normalize((Quat){0.9, 0.1, 0.3, -0.2});
    add_ground(&lab, material);
    add(&lab, box, BODY_DYNAMIC, vec3(-2.0, 0.0, 0.08), upright(), none, none);
    add(&lab, box, BODY_DYNAMIC, vec3(0.0, 0.0, 0.3), askew, vec3(0.5, 0.2, -1.0),
        vec3(2.0, -1.0, 3.0));
    add(&lab, box, BODY_DYNAMIC, vec3(0.05, 0.02, 0.7), askew, vec3(0.0, 0.0, -2.0), none);
    add(&lab, wall, BODY_KINEMATIC, vec3(1.0, 0.0, 0.3), upright(), vec3(0.8, 0.0, 0.0), none);
    add(&lab, ball, BODY_DYNAMIC, vec3(1.2, 0.1, 0.1), upright(), none, vec3(0.0, 3.0, 0.0));
    for (uint32_t as_rows = 0; as_rows < 2; as_rows++) {
        uint32_t before = JOINT_NO_BODY;
        for (int i = 0; i < 3; i++) {
            const Vec3 at = vec3(-1.0, 1.0 + as_rows, 0.3 + 0.4 * i);
            const uint32_t body =
                add(&lab, rod, BODY_DYNAMIC, at, upright(), vec3(0.3, 0.0, -1.0), none);
            const Link link = {JOINT_BALL,           as_rows, before, body, vec3(0.0, 0.0, 0.2),
                               vec3(0.0, 0.0, -0.2), 300.0};
            if (before != JOINT_NO_BODY) {
                join(&lab, &link);
            }
            before = body;
        }
    }
    Id hinge[2];
    for (uint32_t i = 0; i < 2; i++) {
        const Vec3 at = vec3(3.0 + i, 0.0, 2.0);
        const uint32_t bar = add(&lab, rod, BODY_DYNAMIC, at, upright(), none, none);
        const Link link = {
            JOINT_HINGE,         i,       JOINT_NO_BODY, bar, vec3_add(at, vec3(0.2, 0.0, 0.0)),
            vec3(0.2, 0.0, 0.0), HUGE_VAL};
        hinge[i] = join(&lab, &link);
    }
    lab_cable(&lab, hinge);
    return lab;
}

static void choose(Lab *lab, int way) {
    WorldSettings settings = lab->world->settings;
    const SolverSettings solver = solver_default(way < SOLVER_COUNT ? (SolverKind)way : SOLVER_MDP);
    step_set_solver(&settings, &solver);
    settings.effort = (uint8_t)(way < SOLVER_COUNT    ? WORLD_EXACT
                                : way == SOLVER_COUNT ? WORLD_BALANCED
                                                      : WORLD_FAST);
    world_set_settings(lab->world, &settings);
}

enum { WAYS = SOLVER_COUNT + 2 };

static void expect_same(const Lab *a, const Lab *b) {
    ck_assert_uint_eq(snapshot_hash(a->world), snapshot_hash(b->world));
}

// The book, of all that happens there: what it does not explain is rounding of the energies, some
// dozen J, some hundred products of them in each of up to eight substeps.
static void expect_book(const Lab *lab) {
    const StepEnergy *e = &lab->report.energy;
    ck_assert_double_le(fabs(e->unexplained), 1e-12 * e->scale);
    ck_assert_double_le(fabs(e->after - e->before - e->contact - e->row - e->applied - e->drive -
                             e->scheme - e->unexplained),
                        1e-12 * (e->scale + fabs(e->before)));
}

// Divided this way and that, and not at all; a twin that is restored again and again does the same.
START_TEST(a_twin_that_is_restored_goes_on_with_the_same_bits) {
    static const uint32_t substeps[] = {2, 5, 1, 8, 3};
    Lab lab = gather(), twin = gather();
    choose(&lab, _i);
    choose(&twin, _i);
    bool has_slept = false, has_pushed = false;
    for (int i = 0; i < 150; i++) {
        if (i % 30 == 0) {
            lab_divide(&lab, substeps[i / 30]);
            lab_divide(&twin, substeps[i / 30]);
        }
        lab_step(&lab, 1);
        lab_step(&twin, 1);
        expect_same(&lab, &twin);
        expect_book(&lab);
        if (i % 7 == 3) {
            lab_restore(&twin);
        }
        has_slept = has_slept || lab.report.asleep_count > 0;
        has_pushed = has_pushed || lab.report.contact_count > 6;
    }
    ck_assert(has_slept && has_pushed);
    lab_destroy(&lab);
    lab_destroy(&twin);
}
END_TEST

// ---- steps that do not happen

typedef struct StopCounter {
    uint32_t count, last; // says yes at the last
} StopCounter;

static bool ask(void *context) {
    StopCounter *asker = context;
    return ++asker->count == asker->last;
}

static Status try_step(Lab *lab, const Context *context) {
    const StepInput input = {.time_step = 1.0 / HERTZ, .context = *context};
    Error error = {0};
    return stepper_run(lab->stepper, lab->world, &input, &lab->scratch, NULL, &lab->report, &error);
}

// In the midst of it, with a new pile of which every solve takes so long that it asks whether to go
// on; lcp asks of fewer.
static Lab gather_and_pile_up(int way) {
    Lab lab = gather();
    choose(&lab, way);
    lab_divide(&lab, 4);
    lab_step(&lab, 60);
    const Id box = lab_shape(&lab, PRIMITIVE_BOX, vec3(0.1, 0.1, 0.05), 0);
    for (int i = 0; i < (way == SOLVER_LCP ? 10 : 60); i++) {
        add(&lab, box, BODY_DYNAMIC, vec3(0.0, -3.0, 0.05 + 0.1 * i), upright(), none, none);
    }
    return lab;
}

// Given up at each question of a step in turn: nothing of the world has changed, and the step that
// is taken then is the one that was not given up. (A bounded effort is over before it asks.)
START_TEST(a_step_that_is_given_up_in_a_substep_has_not_happened) {
    Lab expected = gather_and_pile_up(_i), lab = gather_and_pile_up(_i);
    lab_step(&expected, 1);
    const uint64_t hash = snapshot_hash(lab.world);
    StopCounter asker = {.last = 1};
    const Stop stop = {.asked = ask, .context = &asker};
    const Context context = {.stop = &stop};
    Status status;
    while ((status = try_step(&lab, &context)) == STATUS_ABORTED) {
        ck_assert_uint_eq(snapshot_hash(lab.world), hash);
        ck_assert(!lab.stepper->has_last);
        asker = (StopCounter){.last = asker.last + 1};
    }
    ck_assert_int_eq(status, STATUS_OK);
    ck_assert_uint_gt(asker.last, 4); // in every substep, once at least
    expect_same(&lab, &expected);
    lab_step(&lab, 10);
    lab_step(&expected, 10);
    expect_same(&lab, &expected);
    lab_destroy(&lab);
    lab_destroy(&expected);
}
END_TEST

static bool say_yes(void *context) {
    (void)context;
    return true;
}

// A limit of time, which is over at once: every solve of the step ends with what it has, and the
// whole step has happened, with the energy that its impulses have.
START_TEST(a_step_whose_time_is_over_is_done_as_far_as_it_came) {
    Lab lab = gather_and_pile_up(_i);
    const Stop limit = {.asked = say_yes};
    const Context context = {.limit = &limit};
    for (int i = 0; i < 5; i++) {
        ck_assert_int_eq(try_step(&lab, &context), STATUS_OK);
        ck_assert_uint_eq(lab.world->step, 61 + (uint64_t)i);
        expect_book(&lab);
    }
    lab_destroy(&lab);
}
END_TEST

// A body far away leaves what floats hold in the last of four substeps: all that the others did is
// undone, to the bit, and once that body is back all goes on as if it had never been away.
START_TEST(what_a_substep_did_is_undone_where_a_later_one_fails) {
    Lab lab = gather(), twin = gather();
    Lab *both[2] = {&lab, &twin};
    uint32_t far = 0;
    for (int k = 0; k < 2; k++) {
        const Id ball = lab_shape(both[k], PRIMITIVE_SPHERE, vec3(0.1, 0.0, 0.0), 0);
        far = add(both[k], ball, BODY_DYNAMIC, vec3(0.0, 0.0, 50.0), upright(), none, none);
        choose(both[k], _i);
        lab_divide(both[k], 4);
        lab_step(both[k], 60);
    }
    double pose[7], velocity[6];
    memcpy(pose, lab.world->pose + 7 * (size_t)far, sizeof(pose));
    memcpy(velocity, lab.world->velocity + 6 * (size_t)far, sizeof(velocity));
    const double h = 1.0 / HERTZ, fast = 3.3e38;
    lab.world->pose[7 * (size_t)far] = (double)FLT_MAX - 3.5 / 4.0 * fast * h;
    lab.world->velocity[6 * (size_t)far] = fast;
    const uint64_t hash = snapshot_hash(lab.world);
    ck_assert_int_eq(try_step(&lab, &(Context){0}), STATUS_FAILED_PRECONDITION);
    ck_assert(lab.world->faulted);
    ck_assert_uint_eq(lab.stepper->fault.body, lab.world->body_id[far]);
    lab.world->faulted = false;
    ck_assert_uint_eq(snapshot_hash(lab.world), hash);
    memcpy(lab.world->pose + 7 * (size_t)far, pose, sizeof(pose));
    memcpy(lab.world->velocity + 6 * (size_t)far, velocity, sizeof(velocity));
    lab.world->bodies_moved = true;
    twin.world->bodies_moved = true;
    lab_step(&lab, 20);
    lab_step(&twin, 20);
    expect_same(&lab, &twin);
    lab_destroy(&lab);
    lab_destroy(&twin);
}
END_TEST

// ---- what moves

// Ground that is drawn sideways takes a box along with mu g, to its own speed and no further.
START_TEST(ground_that_is_drawn_away_takes_a_box_along) {
    const double friction = 0.3, speed = 1.0;
    Lab lab = leaning_lab(0.0, HERTZ);
    const Id material = lab_material(&lab, friction, 0.0);
    const Id belt = lab_shape(&lab, PRIMITIVE_BOX, vec3(5.0, 1.0, 0.1), material),
             box = lab_shape(&lab, PRIMITIVE_BOX, vec3(0.2, 0.2, 0.05), material);
    add(&lab, belt, BODY_KINEMATIC, vec3(0.0, 0.0, -0.1), upright(), vec3(speed, 0.0, 0.0), none);
    const uint32_t body = add(&lab, box, BODY_DYNAMIC, vec3(0.0, 0.0, 0.05), upright(), none, none);
    lab_divide(&lab, (uint32_t)_i);
    lab_set(&lab, "tolerance", 1e-11);
    lab_step(&lab, HERTZ / 4);
    // solved to 1e-11 of V some 10 m/s^2 h, in 60 steps of up to eight solves
    ck_assert_double_eq_tol(seen(lab_velocity(&lab, body)).x, friction * gravity / 4.0, 1e-9);
    lab_step(&lab, HERTZ / 4);
    ck_assert_double_eq_tol(seen(lab_velocity(&lab, body)).x, speed, 1e-9);
    lab_destroy(&lab);
}
END_TEST

// A lift that goes up carries a box, and its weight is on it as at rest; a turntable takes one
// round, at its own rate, as friction holds it: at a circle's polygon, whose sides are those of a
// substep, it stays within (w h/n)^2/2 of its radius a step.
START_TEST(what_stands_on_what_moves_moves_with_it) {
    const uint32_t substeps = (uint32_t)_i;
    const double rate = 0.5, radius = 0.5;
    Lab lab = leaning_lab(0.0, HERTZ);
    const Id material = lab_material(&lab, 0.8, 0.0);
    const Id table = lab_shape(&lab, PRIMITIVE_BOX, vec3(1.0, 1.0, 0.1), material),
             box = lab_shape(&lab, PRIMITIVE_BOX, vec3(0.1, 0.1, 0.05), material);
    add(&lab, table, BODY_KINEMATIC, vec3(0.0, 0.0, -0.1), upright(), vec3(0.0, 0.0, 0.4),
        vec3(0.0, 0.0, rate));
    const uint32_t body = add(&lab, box, BODY_DYNAMIC, vec3(radius, 0.0, 0.05), upright(),
                              vec3(0.0, rate * radius, 0.4), vec3(0.0, 0.0, rate));
    lab_divide(&lab, substeps);
    lab_set(&lab, "tolerance", 1e-11);
    const double weight = lab.world->mass[body].mass * gravity / HERTZ;
    for (int i = 0; i < HERTZ; i++) {
        lab_step(&lab, 1);
        double sum = 0.0;
        for (uint32_t k = 0; k < lab.stepper->contact_count; k++) {
            sum += lab.stepper->impulse[3 * (size_t)k];
        }
        ck_assert_double_eq_tol(sum, weight, 1e-7 * weight);
    }
    const Vec3 at = seen_position(&lab, body);
    ck_assert_double_eq_tol(at.z, 0.05 + 0.4, 1e-7);
    const double bend = 0.5 * pow(rate / HERTZ / substeps, 2.0) * radius * HERTZ * substeps;
    ck_assert_double_eq_tol(hypot(at.x, at.y), radius, 2.0 * bend);
    ck_assert_double_eq_tol(atan2(at.y, at.x), rate, 2.0 * bend / radius);
    ck_assert_double_eq_tol(seen(lab_spin(&lab, body)).z, rate, 1e-7);
    lab_destroy(&lab);
}
END_TEST

static TCase *case_company(void) {
    TCase *tcase = tcase_create("company");
    tcase_set_timeout(tcase, 60.0);
    tcase_add_loop_test(tcase, a_twin_that_is_restored_goes_on_with_the_same_bits, 0, WAYS);
    tcase_add_loop_test(tcase, a_step_that_is_given_up_in_a_substep_has_not_happened, 0,
                        SOLVER_COUNT);
    tcase_add_loop_test(tcase, a_step_whose_time_is_over_is_done_as_far_as_it_came, 0, WAYS);
    tcase_add_loop_test(tcase, what_a_substep_did_is_undone_where_a_later_one_fails, 0, WAYS);
    tcase_add_loop_test(tcase, ground_that_is_drawn_away_takes_a_box_along, 1, 9);
    tcase_add_loop_test(tcase, what_stands_on_what_moves_moves_with_it, 1, 9);
    return tcase;
}

SUITE_MAIN("step/substeps_company", case_company)
