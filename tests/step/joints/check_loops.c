// SPDX-License-Identifier: MIT
// Loops of free bodies that rows close: linkages in a plane, turned by any rotation, through dead
// points. Of their rows three repeat what others say, and at a dead point, or where a crank is as
// long as its rod, one more does; whoever takes what rounding makes of that for a lever throws the
// bodies about, or stops them.
#include "step/step.h"

#include "step/snapshot/snapshot.h"
#include "support/linkage.h"
#include "support/suite.h"

#include <math.h>
#include <string.h>

static const double pi = 3.141592653589793;

typedef struct Round {
    double angle;   // of the crank, from where it began
    double fastest; // it turned at, by the closed form [rad/s]
    double off;     // of the slider from its closed form, at worst [m]
    double gap;     // of a joint, at worst [m]
    double uneven;  // of the crank's rate from its closed form, at worst, as a share
    double gained;  // of the energy, at most, as a share
    uint32_t open;  // steps behind the first one
} Round;

// Nothing is as fast as all of the energy makes it. Of the first step nothing is asked but that
// what moves as joints let it goes on: the scale of its certificate is the least there is, 1e-9
// m/s, of which the rounding of metres per second is more than the tolerance.
static Round go_round(Lab *lab, const SliderCrank *of, int steps) {
    Round round = {0};
    const double energy = 0.5 * of->rate * of->rate * whole_moment(of, of->angle);
    static const double mass[] = {WHEEL_MASS, ROD_MASS, SLIDER_MASS};
    for (int i = 0; i < steps; i++) {
        lab_step(lab, 1);
        round.open += i > 0 && !lab->report.certificate.converged;
        round.angle = crank_turned(lab, round.angle);
        const double there = of->angle + round.angle;
        const double rate = sqrt(2.0 * energy / whole_moment(of, there));
        round.fastest = fmax(round.fastest, rate);
        round.off = fmax(round.off, fabs(place_of(lab, SLIDER).x - slider_place(of, there)));
        round.gap = fmax(round.gap, largest_gap(lab));
        round.uneven = fmax(round.uneven, fabs(rate_of(lab, CRANK) / rate - 1.0));
        round.gained = fmax(round.gained, lab->report.energy.after / energy - 1.0);
        for (uint32_t body = 0; body < 3; body++) {
            ck_assert_double_le(vec3_norm(lab_velocity(lab, body)),
                                (1.0 + 1e-6) * sqrt(2.0 * energy / mass[body]));
        }
    }
    return round;
}

#define TIME_STEP (1.0 / 480) // [s]
#define RATE      6.0         // [rad/s]
enum { STEPS = 5100 };        // 20 dead points, and more: 10 turns

// In a step the crank's pin leaves its circle by r (h w)^2/2, and the rod's end its own about the
// rod's middle by l/2 (h w r/l)^2/2. That is taken back in the next one, by mdp a fifth of it, so
// that five times as much stays; on the slider's way the rod makes up to a fifth more of it. The
// rate that a step ends with is that of half a step before. Energy only goes, but for what joints
// are off by from the begin, as those are whose numbers are written as floats.
START_TEST(a_slider_crank_goes_round) {
    const SolverKind solver = (SolverKind)(_i % SOLVER_COUNT);
    static const double offs[] = {0.0, 1e-10, 2e-7};
    const SliderCrank of = {
        .r = 0.3, .l = 0.8, .angle = 0.7, .rate = RATE, .off = offs[_i / SOLVER_COUNT]};
    Lab lab = make_slider_crank(solver, TIME_STEP, &of);
    const Round round = go_round(&lab, &of, STEPS);
    const double bend =
                     0.5 * of.r * (1.0 + 0.5 * of.r / of.l) * pow(TIME_STEP * round.fastest, 2.0),
                 stays = (solver == SOLVER_MDP ? 5.0 : 1.0) * bend + 5.0 * of.off;
    ck_assert_uint_eq(round.open, 0);
    ck_assert_double_ge(round.angle, 20.0 * pi);
    ck_assert_double_le(round.gap, 1.02 * stays);
    ck_assert_double_le(round.off, 1.2 * stays);
    ck_assert_double_le(round.uneven, 0.006);
    ck_assert_double_le(round.gained, 1e-12 + 0.1 * of.off);
    lab_destroy(&lab);
}
END_TEST

// A tree of joints in the loop, which the crank is by itself, or with what hangs on its axis, and
// stays as it is: rows that repeat each other are compared along its coordinates, too.
START_TEST(a_slider_crank_with_a_tree_goes_round) {
    const SolverKind solver = (SolverKind)(_i % SOLVER_COUNT);
    const int rest = _i / SOLVER_COUNT;
    const SliderCrank of = {.r = 0.3,
                            .l = 0.8,
                            .angle = 0.7,
                            .rate = RATE,
                            .off = rest % 2 == 0 ? 1e-10 : 2e-7,
                            .is_tree = rest < 2};
    Lab lab = make_slider_crank(solver, TIME_STEP, &of);
    const Bar pendulum = {.x = {0.0, -0.2}, .y = {0.0, 0.3}, .mass = 0.7, .moment = 0.02};
    const Pin pin = {.kind = JOINT_HINGE,
                     .a = CRANK,
                     .b = rest < 2 ? 0 : add_bar(&lab, &pendulum),
                     .is_tree = true,
                     .rate = -of.rate};
    uint64_t seed = 3;
    if (rest >= 2) {
        add_pin(&lab, &pin, 0.0, &seed);
    }
    const Round round = go_round(&lab, &of, STEPS / 8);
    const double bend =
                     0.5 * of.r * (1.0 + 0.5 * of.r / of.l) * pow(TIME_STEP * round.fastest, 2.0),
                 stays = (solver == SOLVER_MDP ? 5.0 : 1.0) * bend + 5.0 * of.off;
    ck_assert_uint_eq(round.open, 0);
    ck_assert_double_ge(round.angle, 2.5 * pi);
    ck_assert_double_le(round.gap, 1.02 * stays);
    ck_assert_double_le(round.off, 1.2 * stays);
    ck_assert_double_le(round.uneven, 0.006);
    ck_assert_double_le(round.gained, 1e-12 + 0.1 * of.off);
    lab_destroy(&lab);
}
END_TEST

// Where the crank is as long as its rod, the slider may stay on the crank's axis while both turn as
// one, or move: as the crank stands across, both go on from there. Which way it takes there is not
// to be told; no energy comes of it, and no joint comes apart.
START_TEST(a_crank_as_long_as_its_rod_gains_nothing) {
    const SolverKind solver = (SolverKind)(_i % SOLVER_COUNT);
    static const double longer[] = {0.0, 1e-9, 1e-6, -1e-6};
    const int rest = _i / SOLVER_COUNT;
    const SliderCrank of = {
        .r = 0.3, .l = 0.3 + longer[rest % 4], .angle = 0.7, .rate = RATE, .off = 0.0};
    Lab lab = make_slider_crank(solver, TIME_STEP, &of);
    const double energy = 0.5 * of.rate * of.rate * whole_moment(&of, of.angle);
    for (int i = 0; i < STEPS / 3; i++) {
        lab_step(&lab, 1);
        ck_assert_msg(lab.report.energy.after <= (1.0 + 1e-9) * energy, "step %d: %g of %g J", i,
                      lab.report.energy.after, energy);
        ck_assert_double_le(largest_gap(&lab), 5e-3);
    }
    lab_destroy(&lab);
}
END_TEST

// Nothing is off but by rounding, which a step of it takes back: 1e-13 m/s. That is certified, as
// rows that repeat what others say ask for what those do.
START_TEST(a_slider_crank_at_rest_rests) {
    const SolverKind solver = (SolverKind)(_i % SOLVER_COUNT);
    static const double angles[] = {0.0, 0.7, 2.0};
    const SliderCrank of = {.r = 0.3, .l = 0.8, .angle = angles[_i / SOLVER_COUNT]};
    Lab lab = make_slider_crank(solver, TIME_STEP, &of);
    lab_set(&lab, "tolerance", 1e-6);
    for (int i = 0; i < 500; i++) {
        lab_step(&lab, 1);
        ck_assert_msg(lab.report.certificate.converged, "step %d: %g of %g m/s", i,
                      lab.report.certificate.entry[CERTIFICATE_OWN], lab.report.certificate.scale);
        ck_assert_double_le(vec3_norm(lab_velocity(&lab, SLIDER)), 1e-11);
    }
    lab_destroy(&lab);
}
END_TEST

// ---- four bars

// Two wheels that turn about (0, 0) and (a, 0), pinned at radius r to a bar between them.
typedef struct FourBar {
    double a, left, right, coupler;
    double angle, other; // of the wheels
    double rate;         // of the first; of the second by the bar
    double off;
} FourBar;

enum { LEFT, COUPLER, RIGHT };

#define COUPLER_MASS 1.5

// With the wheels at these angles the bar is as long as it is.
static FourBar four_bar(double a, double left, double right, double angle, double other,
                        double rate) {
    const double x = a + right * cos(other) - left * cos(angle),
                 y = right * sin(other) - left * sin(angle);
    return (FourBar){.a = a,
                     .left = left,
                     .right = right,
                     .coupler = sqrt(x * x + y * y),
                     .angle = angle,
                     .other = other,
                     .rate = rate};
}

static Lab make_four_bar(SolverKind solver, double h, const FourBar *of) {
    Lab lab = linkage_lab(solver, h, 1e-9);
    const double x[2] = {of->left * cos(of->angle), of->a + of->right * cos(of->other)},
                 y[2] = {of->left * sin(of->angle), of->right * sin(of->other)};
    // the ends of the bar are as fast along it
    const double along = x[1] - x[0], up = y[1] - y[0];
    const double moves = along * -y[0] + up * x[0],
                 moved = along * -y[1] + up * (x[1] - of->a); // 0: they are a line
    const double rate = fabs(moved) < 1e-12 ? of->rate : of->rate * moves / moved;
    const Bar bars[] = {[LEFT] = {.mass = 4.0, .moment = 0.2, .rate = of->rate},
                        [COUPLER] = {.x = {x[0], x[1]},
                                     .y = {y[0], y[1]},
                                     .vx = {-of->rate * y[0], -rate * y[1]},
                                     .vy = {of->rate * x[0], rate * (x[1] - of->a)},
                                     .mass = COUPLER_MASS,
                                     .moment = COUPLER_MASS * of->coupler * of->coupler / 12.0},
                        [RIGHT] = {.x = {of->a, of->a}, .mass = 4.0, .moment = 0.2, .rate = rate}};
    for (int i = 0; i < 3; i++) {
        add_bar(&lab, &bars[i]);
    }
    const Pin pins[] = {{.kind = JOINT_HINGE, .a = -1, .b = LEFT},
                        {.kind = JOINT_HINGE, .a = LEFT, .b = COUPLER, .x = x[0], .y = y[0]},
                        {.kind = JOINT_HINGE, .a = COUPLER, .b = RIGHT, .x = x[1], .y = y[1]},
                        {.kind = JOINT_HINGE, .a = -1, .b = RIGHT, .x = of->a}};
    uint64_t seed = 11;
    for (int i = 0; i < 4; i++) {
        add_pin(&lab, &pins[i], of->off, &seed);
    }
    return lab;
}

// Twice in a turn a parallelogram is a line, and could go on as one that is crossed: the bar's rows
// along it repeat what the wheels' say. It goes on as it moves: both wheels turn evenly, and the
// bar is carried along without turning. What the pins leave their circles by makes no difference to
// either, but is felt by the bar.
START_TEST(a_parallelogram_goes_through_its_line) {
    const SolverKind solver = (SolverKind)(_i % SOLVER_COUNT);
    const double angle = _i / SOLVER_COUNT == 0 ? 0.7 : 0.0;
    const FourBar of = four_bar(0.8, 0.3, 0.3, angle, angle, RATE);
    Lab lab = make_four_bar(solver, TIME_STEP, &of);
    const double bend = 0.5 * of.left * pow(TIME_STEP * RATE, 2.0),
                 stays = (solver == SOLVER_MDP ? 5.0 : 1.0) * bend;
    double turn = 0.0;
    for (int i = 0; i < STEPS; i++) {
        lab_step(&lab, 1);
        ck_assert_msg(i == 0 || lab.report.certificate.converged, "step %d: %g", i,
                      lab.report.certificate.entry[CERTIFICATE_OWN]);
        turn = crank_turned(&lab, turn);
        const double there = of.angle + turn;
        const Vec3 bar = place_of(&lab, COUPLER);
        ck_assert_double_eq_tol(bar.x, 0.5 * of.a + of.left * cos(there), 2.0 * stays);
        ck_assert_double_eq_tol(bar.y, of.left * sin(there), 2.0 * stays);
        ck_assert_double_eq_tol(rate_of(&lab, LEFT), RATE, 0.01 * RATE);
        ck_assert_double_eq_tol(rate_of(&lab, RIGHT), RATE, 0.01 * RATE);
    }
    ck_assert_double_ge(turn, 20.0 * pi);
    lab_destroy(&lab);
}
END_TEST

// Neither wheel can go round: as the bar and a wheel's radius are a line, the other wheel turns
// back. There is no more energy than there was, and no joint comes apart.
START_TEST(a_double_rocker_turns_back) {
    const SolverKind solver = (SolverKind)(_i % SOLVER_COUNT);
    const FourBar of = four_bar(0.8, 0.5, 0.55, 1.2, 1.7, RATE);
    Lab lab = make_four_bar(solver, TIME_STEP, &of);
    double energy = 0.0, turns = 0.0, before[2] = {0.0, 0.0};
    for (int i = 0; i < STEPS; i++) {
        lab_step(&lab, 1);
        energy = i == 0 ? lab.report.energy.before : energy;
        ck_assert_msg(i == 0 || lab.report.certificate.converged, "step %d: %g", i,
                      lab.report.certificate.entry[CERTIFICATE_OWN]);
        ck_assert_double_le(lab.report.energy.after, (1.0 + 1e-9) * energy);
        ck_assert_double_le(largest_gap(&lab), 0.01);
        for (int side = 0; side < 2; side++) {
            const double rate = rate_of(&lab, side == 0 ? LEFT : RIGHT);
            turns += before[side] * rate < 0.0;
            before[side] = rate;
        }
    }
    ck_assert_double_ge(turns, 20.0);
    lab_destroy(&lab);
}
END_TEST

// Joints that are off by more than what counts as rounding jam: what is off is to leave at
// recovery_speed, but not by levers as small as what is off, at hundreds of metres per second. A
// motion that sees one of the three is held to 10 times that, as the levers of a row are 1/sqrt(2)
// of its own to each side; a wheel of 0.3 m may turn 3 times as fast.
START_TEST(a_loop_that_does_not_fit_is_calm) {
    const SolverKind solver = (SolverKind)(_i % 3);
    static const double offs[] = {1e-5, 1e-4, 1e-3, 1e-2};
    FourBar of = four_bar(0.8, 0.3, 0.3, 0.3, 0.3, 0.0);
    of.off = offs[_i / 3 % 4];
    Lab lab = make_four_bar(solver, 0.01, &of);
    lab_set(&lab, "tolerance", 1e-6);
    for (int i = 0; i < 200; i++) {
        lab_step(&lab, 1);
        for (uint32_t body = 0; body < 3; body++) {
            ck_assert_double_le(vec3_norm(lab_velocity(&lab, body)), 10.0);
            ck_assert_double_le(vec3_norm(lab_spin(&lab, body)), 30.0);
        }
    }
    lab_destroy(&lab);
}
END_TEST

// ---- what comes together with loops

static uint32_t rows_of_many(const Lab *lab) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < lab->stepper->row_count; i++) {
        count += lab->stepper->row[i].block_count > 2;
    }
    return count;
}

static bool is_dead(const Lab *lab) {
    return fabs(sin(0.7 + crank_turned(lab, 0.0))) < 0.02;
}

static const SliderCrank plain = {.r = 0.3, .l = 0.8, .angle = 0.7, .rate = RATE, .off = 2e-7};

// What rows repeat follows from where bodies are, and from nothing that a snapshot does not hold.
START_TEST(a_dead_point_goes_on_from_a_snapshot_to_the_bit) {
    Lab lab = make_slider_crank((SolverKind)_i, TIME_STEP, &plain);
    lab_step(&lab, 10);
    while (!is_dead(&lab)) {
        lab_step(&lab, 1);
    }
    Lab copy = make_slider_crank((SolverKind)_i, TIME_STEP, &plain);
    world_destroy(copy.world);
    copy.world = lab_copy(&lab);
    for (int i = 0; i < 300; i++) {
        lab_step(&lab, 1);
        lab_step(&copy, 1);
        if (i < 20 || is_dead(&copy)) {
            lab_restore(&copy);
        }
        ck_assert_uint_eq(snapshot_hash(lab.world), snapshot_hash(copy.world));
    }
    lab_destroy(&lab);
    lab_destroy(&copy);
}
END_TEST

// Other rows repeat those before them, and the motion is the same, to what is off.
START_TEST(in_another_order_it_goes_round_alike) {
    SliderCrank other = plain;
    other.off = 0.0;
    Lab one = make_slider_crank((SolverKind)_i, TIME_STEP, &other);
    other.is_reversed = true;
    Lab two = make_slider_crank((SolverKind)_i, TIME_STEP, &other);
    for (int i = 0; i < STEPS / 5; i++) {
        lab_step(&one, 1);
        lab_step(&two, 1);
        ck_assert_double_eq_tol(crank_turned(&one, 0.0), crank_turned(&two, 0.0), 1e-7);
        ck_assert_double_eq_tol(place_of(&one, SLIDER).x, place_of(&two, SLIDER).x, 1e-7);
    }
    lab_destroy(&one);
    lab_destroy(&two);
}
END_TEST

// Of a loop that is opened, as of a chain, no row repeats another; what moves goes on. What is off
// at its joints, up to 5e-7 m, leaves within a step: at 2e-4 m/s, beside some 5 m/s.
START_TEST(a_loop_that_is_opened_is_a_chain) {
    Lab lab = make_slider_crank((SolverKind)(_i % SOLVER_COUNT), TIME_STEP, &plain);
    lab_step(&lab, 100);
    ck_assert_uint_eq(rows_of_many(&lab), 3);
    const uint32_t gone = (uint32_t)(_i / SOLVER_COUNT);
    world_remove_joints(lab.world, &gone, 1);
    lab_set(&lab, "tolerance", 1e-6);
    const double energy = lab.report.energy.after;
    for (int i = 0; i < 300; i++) {
        lab_step(&lab, 1);
        ck_assert_uint_eq(rows_of_many(&lab), 0);
        ck_assert_uint_eq(lab.report.row_count, 15);
        ck_assert_msg(lab.report.certificate.converged, "step %d: %g of %g m/s", i,
                      lab.report.certificate.entry[CERTIFICATE_OWN], lab.report.certificate.scale);
        ck_assert_double_le(lab.report.energy.after, (1.0 + 1e-4) * energy);
    }
    lab_destroy(&lab);
}
END_TEST

// It falls asleep whole. Woken by a push it moves as one that never slept, but for the rounding
// that this one was moved by while the other was still.
START_TEST(a_loop_sleeps_and_wakes_as_one) {
    SliderCrank still = plain;
    still.rate = still.off = 0.0;
    Lab sleeper = make_slider_crank((SolverKind)_i, TIME_STEP, &still),
        waker = make_slider_crank((SolverKind)_i, TIME_STEP, &still);
    sleeper.world->settings.sleep_speed = 0.05;
    sleeper.world->settings.sleep_time = 0.2;
    lab_step(&sleeper, 200);
    lab_step(&waker, 200);
    ck_assert_uint_eq(sleeper.report.asleep_count, 3);
    const Vec3 force = plane_vector(500.0, 0.0, 0.0);
    const double wrench[6] = {force.x, force.y, force.z, 0.0, 0.0, 0.0};
    lab_step_pushed(&sleeper, SLIDER, wrench);
    lab_step_pushed(&waker, SLIDER, wrench);
    ck_assert_uint_eq(sleeper.report.asleep_count, 0);
    lab_step(&sleeper, 200);
    lab_step(&waker, 200);
    ck_assert_double_gt(fabs(crank_turned(&sleeper, 0.0)), 0.2);
    ck_assert_double_eq_tol(crank_turned(&sleeper, 0.0), crank_turned(&waker, 0.0), 1e-9);
    lab_destroy(&sleeper);
    lab_destroy(&waker);
}
END_TEST

// Its pin is carried round by what no force moves, which is the world, and moves as it is told to.
// What that adds to rows that repeat each other, each says as the others do.
START_TEST(a_crank_that_is_moved_moves_the_slider) {
    const SolverKind solver = (SolverKind)(_i % SOLVER_COUNT);
    const SliderCrank of = {.r = 0.3, .l = 0.8, .angle = 0.0};
    Lab lab = linkage_lab(solver, TIME_STEP, 1e-9);
    const Vec3 w = plane_vector(0.0, 0.0, RATE);
    const double spin[6] = {0.0, 0.0, 0.0, w.x, w.y, w.z}, fast = RATE * of.r;
    lab_body(&lab, 0, BODY_KINEMATIC, (Pose){plane_point(0.0, 0.0, 0.0), plane_turn(0.0)}, spin,
             0.0, NULL);
    const Bar rod = {
        .x = {of.r, of.r + of.l}, .vy = {fast, 0.0}, .mass = ROD_MASS, .moment = ROD_MOMENT};
    const Bar slider = {.x = {of.r + of.l, of.r + of.l}, .mass = SLIDER_MASS, .moment = 0.01};
    add_bar(&lab, &rod);
    add_bar(&lab, &slider);
    const Pin pins[] = {{.kind = JOINT_HINGE, .a = CRANK, .b = ROD, .x = of.r},
                        {.kind = JOINT_HINGE, .a = ROD, .b = SLIDER, .x = of.r + of.l},
                        {.kind = JOINT_SLIDER, .a = -1, .b = SLIDER, .x = of.r + of.l}};
    uint64_t seed = 5;
    for (int i = 0; i < 3; i++) {
        add_pin(&lab, &pins[i], _i < SOLVER_COUNT ? 0.0 : 2e-7, &seed);
    }
    const double stays = (solver == SOLVER_MDP ? 5.0 : 1.0) * 0.5 * of.r *
                         (1.0 + 0.5 * of.r / of.l) * pow(TIME_STEP * RATE, 2.0);
    double turn = 0.0;
    for (int i = 0; i < STEPS; i++) {
        lab_step(&lab, 1);
        ck_assert(lab.report.certificate.converged);
        turn = crank_turned(&lab, turn);
        ck_assert_double_eq_tol(place_of(&lab, SLIDER).x, slider_place(&of, turn), 2.0 * stays);
        const StepEnergy *energy = &lab.report.energy;
        ck_assert_double_le(fabs(energy->unexplained), 1e-12 * energy->scale);
    }
    ck_assert_double_ge(turn, 20.0 * pi);
    lab_destroy(&lab);
}
END_TEST

// What stands on two supports is borne by both: neither breaks under 0.6 of its weight.
START_TEST(two_supports_share_what_they_bear) {
    const SolverKind solver = (SolverKind)(_i % SOLVER_COUNT);
    const double mass = 8.0;
    Lab lab = linkage_lab(solver, TIME_STEP, 1e-6);
    lab.world->settings.gravity = plane_vector(0.0, -9.81, 0.0);
    const Bar beam = {.x = {-1.0, 1.0}, .mass = mass, .moment = 3.0};
    add_bar(&lab, &beam);
    uint64_t seed = 3;
    for (int side = -1; side <= 1; side += 2) {
        const Pin pin = {.kind = _i < SOLVER_COUNT ? JOINT_FIXED : JOINT_HINGE,
                         .a = -1,
                         .b = 0,
                         .x = side,
                         .break_force = 0.6 * mass * 9.81};
        add_pin(&lab, &pin, 0.0, &seed);
    }
    lab_step(&lab, 500);
    ck_assert_uint_eq(lab.world->joint_count, 2);
    ck_assert_double_le(vec3_norm(lab_velocity(&lab, 0)), 1e-4);
    lab_destroy(&lab);
}
END_TEST

// Loops that have only the world in common, or a body, are loops of their own.
START_TEST(loops_side_by_side_do_not_meet) {
    Lab lab = make_slider_crank(SOLVER_MDP, TIME_STEP, &plain);
    const Bar door = {.x = {5.0, 6.0}, .mass = 2.0, .moment = 1.0};
    const int body = (int)add_bar(&lab, &door);
    uint64_t seed = 3;
    for (int i = 0; i < 2; i++) {
        const Pin pin = {.kind = JOINT_HINGE, .a = -1, .b = (uint32_t)body, .x = 5.0 + 1e-9 * i};
        add_pin(&lab, &pin, 1e-8, &seed);
    }
    for (int i = 0; i < 100; i++) {
        lab_step(&lab, 1);
        ck_assert_uint_eq(lab.report.open.islands, 2);
        ck_assert_uint_eq(rows_of_many(&lab), 3);
    }
    lab_destroy(&lab);
}
END_TEST

// Bars that are pinned to a ring, which turns. Those of 13 and more are as they were before loops
// were ranked: each row is of two bodies.
START_TEST(a_ring_turns) {
    const int count = _i == 0 ? 12 : 13;
    Lab lab = linkage_lab(SOLVER_MDP, TIME_STEP, 1e-6);
    double x[26], y[26];
    for (int i = 0; i <= count; i++) {
        x[i] = cos(2.0 * pi * i / count);
        y[i] = sin(2.0 * pi * i / count);
    }
    for (int i = 0; i < count; i++) {
        const Bar bar = {.x = {x[i], x[i + 1]},
                         .y = {y[i], y[i + 1]},
                         .vx = {-y[i], -y[i + 1]},
                         .vy = {x[i], x[i + 1]},
                         .mass = 0.3,
                         .moment = 0.002};
        add_bar(&lab, &bar);
    }
    uint64_t seed = 3;
    for (int i = 0; i < count; i++) {
        const Pin pin = {.kind = JOINT_HINGE,
                         .a = i == 0 ? count - 1 : i - 1,
                         .b = (uint32_t)i,
                         .x = x[i],
                         .y = y[i]};
        add_pin(&lab, &pin, 0.0, &seed);
    }
    const double energy = 0.5 * 0.3 * count * (1.0 + pow(sin(pi / count), 2.0) / 3.0);
    for (int i = 0; i < 200; i++) {
        lab_step(&lab, 1);
        ck_assert_uint_eq(rows_of_many(&lab), _i == 0 ? 3 : 0);
        ck_assert_double_le(lab.report.energy.after, 1.02 * energy);
    }
    lab_destroy(&lab);
}
END_TEST

static TCase *case_round(void) {
    TCase *tcase = tcase_create("slider-crank");
    tcase_set_timeout(tcase, 120.0);
    tcase_add_loop_test(tcase, a_slider_crank_goes_round, 0, 3 * SOLVER_COUNT);
    tcase_add_loop_test(tcase, a_slider_crank_with_a_tree_goes_round, 0, 4 * SOLVER_COUNT);
    tcase_add_loop_test(tcase, a_crank_as_long_as_its_rod_gains_nothing, 0, 4 * SOLVER_COUNT);
    tcase_add_loop_test(tcase, a_slider_crank_at_rest_rests, 0, 3 * SOLVER_COUNT);
    return tcase;
}

static TCase *case_four_bars(void) {
    TCase *tcase = tcase_create("four bars");
    tcase_set_timeout(tcase, 120.0);
    tcase_add_loop_test(tcase, a_parallelogram_goes_through_its_line, 0, 2 * SOLVER_COUNT);
    tcase_add_loop_test(tcase, a_double_rocker_turns_back, 0, SOLVER_COUNT);
    tcase_add_loop_test(tcase, a_loop_that_does_not_fit_is_calm, 0, 12);
    return tcase;
}

static TCase *case_company(void) {
    TCase *tcase = tcase_create("company");
    tcase_set_timeout(tcase, 120.0);
    tcase_add_loop_test(tcase, a_dead_point_goes_on_from_a_snapshot_to_the_bit, 0, SOLVER_COUNT);
    tcase_add_loop_test(tcase, in_another_order_it_goes_round_alike, 0, SOLVER_COUNT);
    tcase_add_loop_test(tcase, a_loop_that_is_opened_is_a_chain, 0, 4 * SOLVER_COUNT);
    tcase_add_loop_test(tcase, a_loop_sleeps_and_wakes_as_one, 0, SOLVER_COUNT);
    tcase_add_loop_test(tcase, a_crank_that_is_moved_moves_the_slider, 0, 2 * SOLVER_COUNT);
    tcase_add_loop_test(tcase, two_supports_share_what_they_bear, 0, 2 * SOLVER_COUNT);
    tcase_add_test(tcase, loops_side_by_side_do_not_meet);
    tcase_add_loop_test(tcase, a_ring_turns, 0, 2);
    return tcase;
}

SUITE_MAIN("step/joints/loops", case_round, case_four_bars, case_company)
