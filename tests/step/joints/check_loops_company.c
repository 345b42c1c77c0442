// SPDX-License-Identifier: MIT
// Loops of free bodies in company: with trees of joints at their bodies, or in the loop, with
// tendons over its joints, as a joint of it breaks, beside a lattice. All that moves there goes on
// as joints let it, without gaining energy, and from a snapshot of any step to the bit.
#include "step/snapshot/snapshot.h"
#include "support/linkage.h"
#include "support/suite.h"

#include <math.h>

#define TIME_STEP (1.0 / 480) // [s]
#define RATE      6.0         // [rad/s]
#define OFF       2e-7        // of numbers that are written as floats
enum { STEPS = 150 };         // from an angle of 2 rad past a dead point

// ---- who comes along

static void hang(Lab *lab, int a, bool is_tree) {
    const Vec3 at = place_of(lab, (uint32_t)a), v = in_plane(lab_velocity(lab, (uint32_t)a));
    const Bar bar = {.x = {at.x, at.x + 0.3},
                     .y = {at.y, at.y - 0.2},
                     .vx = {v.x, v.x},
                     .vy = {v.y, v.y},
                     .mass = 0.7,
                     .moment = 0.02};
    const uint32_t b = add_bar(lab, &bar);
    uint64_t seed = 23;
    const Pin pin = {.kind = JOINT_HINGE, .a = a, .b = b, .x = at.x, .y = at.y, .is_tree = is_tree};
    add_pin(lab, &pin, is_tree ? 0.0 : OFF, &seed);
}

static void hang_by_rows(Lab *lab) {
    hang(lab, SLIDER, false);
}

static void hang_at_slider(Lab *lab) {
    hang(lab, SLIDER, true);
}

static void hang_at_rod(Lab *lab) {
    hang(lab, ROD, true);
}

// All of the loop's bodies are trees, and none is free.
static void hang_at_all(Lab *lab) {
    hang(lab, ROD, true);
    hang(lab, SLIDER, true);
    hang(lab, CRANK, true);
}

// A spring over the hinges of the crank and of the rod.
static void tie(Lab *lab) {
    const uint32_t kind = JOINT_TENDON, count = 2;
    const uint64_t coupled[2] = {lab->world->joint[0].id, lab->world->joint[1].id};
    const double coefficients[2] = {0.8, -1.1}, stiffness = 3.0, damping = 0.2;
    lab_joints(lab, &(JointColumns){.count = 1,
                                    .axis_count = 1,
                                    .position_count = 1,
                                    .coupling_count = 2,
                                    .kind = &kind,
                                    .coupled_count = &count,
                                    .coupled = coupled,
                                    .coefficients = coefficients,
                                    .stiffness = &stiffness,
                                    .damping = &damping});
}

static void tie_and_hang(Lab *lab) {
    tie(lab);
    hang(lab, ROD, true);
}

// The rod's pin at the slider bears this for a while.
static void weaken(Lab *lab) {
    lab->world->joint[2].break_force = 15.0;
}

static void weaken_and_hang(Lab *lab) {
    weaken(lab);
    hang(lab, SLIDER, true);
}

// Four by four by two, too many to be ranked, on the slider.
static void bond(Lab *lab) {
    enum { WIDE = 4, COUNT = 2 * WIDE };
    const Vec3 at = place_of(lab, SLIDER), v = in_plane(lab_velocity(lab, SLIDER));
    uint32_t body[2 * COUNT];
    uint64_t seed = 5;
    for (int i = 0; i < 2 * COUNT; i++) {
        const double x = at.x + 0.1 * (i % WIDE), y = at.y + 0.1 * (i / WIDE);
        const Bar bar = {.x = {x, x},
                         .y = {y, y},
                         .vx = {v.x, v.x},
                         .vy = {v.y, v.y},
                         .mass = 0.05,
                         .moment = 5e-5};
        body[i] = add_bar(lab, &bar);
        const Pin pins[] = {
            {.kind = JOINT_FIXED, .a = (int)body[i] - 1, .b = body[i], .x = x - 0.05, .y = y},
            {.kind = JOINT_FIXED, .a = (int)body[i] - WIDE, .b = body[i], .x = x, .y = y - 0.05},
            {.kind = JOINT_HINGE, .a = SLIDER, .b = body[i], .x = x, .y = y}};
        const bool is_there[] = {i % WIDE > 0, i >= WIDE, i == 0};
        for (int k = 0; k < 3; k++) {
            if (is_there[k]) {
                add_pin(lab, &pins[k], 0.0, &seed);
            }
        }
    }
}

typedef struct Company {
    const char *name;
    void (*join)(Lab *lab);
    uint32_t ranked;   // rows of more than two trees, which bear what others do; 0: not asked
    uint32_t breaking; // joints
} Company;

static const Company companies[] = {{"by rows", hang_by_rows, 3, 0},
                                    {"at the slider", hang_at_slider, 0, 0},
                                    {"at the rod", hang_at_rod, 3, 0},
                                    {"at all", hang_at_all, 0, 0},
                                    {"tied", tie, 3, 0},
                                    {"tied, and at the rod", tie_and_hang, 3, 0},
                                    {"breaking", weaken, 3, 1},
                                    {"breaking, and at the slider", weaken_and_hang, 0, 1},
                                    {"bonded", bond, 3, 0}};
enum { COMPANIES = sizeof(companies) / sizeof(companies[0]) };

static uint32_t rows_of_many(const Lab *lab) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < lab->stepper->row_count; i++) {
        count += lab->stepper->row[i].block_count > 2;
    }
    return count;
}

// The energy is that of a step's end, which a tree's turning changes by second order.
START_TEST(a_loop_in_company_goes_on) {
    const SolverKind solver = (SolverKind)(_i % SOLVER_COUNT);
    const Company *company = &companies[_i / SOLVER_COUNT];
    const SliderCrank of = {.r = 0.3, .l = 0.8, .angle = 2.0, .rate = RATE, .off = OFF};
    Lab lab = make_slider_crank(solver, TIME_STEP, &of);
    lab_set(&lab, "tolerance", 1e-6);
    company->join(&lab);
    Lab copy = linkage_lab(solver, TIME_STEP, 1e-6);
    world_destroy(copy.world);
    copy.world = lab_copy(&lab);
    const size_t joints = lab.world->joint_count;
    double energy = 0.0;
    for (int i = 0; i < STEPS; i++) {
        const bool is_whole = lab.world->joint_count == joints;
        lab_step(&lab, 1);
        lab_step(&copy, 1);
        energy = i == 0 ? lab.report.energy.before : energy;
        ck_assert_msg(i == 0 || lab.report.certificate.converged, "%s: step %d: %g of %g m/s",
                      company->name, i, lab.report.certificate.entry[CERTIFICATE_OWN],
                      lab.report.certificate.scale);
        ck_assert_msg(lab.report.energy.after <= 1.01 * energy, "%s: step %d: %g of %g J",
                      company->name, i, lab.report.energy.after, energy);
        ck_assert_double_le(largest_gap(&lab), 2e-3);
        ck_assert_uint_eq(snapshot_hash(lab.world), snapshot_hash(copy.world));
        if (company->ranked > 0 || !is_whole) {
            ck_assert_uint_eq(rows_of_many(&lab), is_whole ? company->ranked : 0);
        }
        lab_restore(&copy);
    }
    ck_assert_uint_eq(joints - lab.world->joint_count, company->breaking);
    lab_destroy(&lab);
    lab_destroy(&copy);
}
END_TEST

// ---- trees alone

// Two trees, a door and its frame, on two hinges of rows on one axis, of which one names the door
// first: five rows say what the others do. It turns evenly, as nothing acts.
START_TEST(a_door_between_trees_turns) {
    const SolverKind solver = (SolverKind)(_i % SOLVER_COUNT);
    const bool is_swapped = _i / SOLVER_COUNT == 1;
    Lab lab = linkage_lab(solver, TIME_STEP, 1e-6);
    const Bar wheel = {.mass = 3.0, .moment = 0.4};
    const Bar door = {.mass = 2.0, .moment = 0.3, .rate = RATE};
    const Bar weight = {.mass = 0.5, .moment = 0.02};
    const uint32_t frame = add_bar(&lab, &wheel), leaf = add_bar(&lab, &door);
    const uint32_t one = add_bar(&lab, &weight), two = add_bar(&lab, &weight);
    uint64_t seed = 9;
    const Pin trees[] = {{.kind = JOINT_HINGE, .a = -1, .b = frame, .is_tree = true},
                         {.kind = JOINT_HINGE, .a = (int)frame, .b = one, .is_tree = true},
                         {.kind = JOINT_HINGE, .a = (int)leaf, .b = two, .is_tree = true}};
    for (int i = 0; i < 3; i++) {
        add_pin(&lab, &trees[i], 0.0, &seed);
    }
    for (int i = 0; i < 2; i++) {
        const bool swaps = is_swapped && i == 1;
        const Pin pin = {
            .kind = JOINT_HINGE, .a = (int)(swaps ? leaf : frame), .b = swaps ? frame : leaf};
        add_pin(&lab, &pin, OFF, &seed);
    }
    for (int i = 0; i < STEPS; i++) {
        lab_step(&lab, 1);
        ck_assert_msg(i == 0 || lab.report.certificate.converged, "step %d: %g of %g m/s", i,
                      lab.report.certificate.entry[CERTIFICATE_OWN], lab.report.certificate.scale);
        ck_assert_double_eq_tol(rate_of(&lab, leaf), RATE, 1e-3 * RATE);
        ck_assert_double_le(largest_gap(&lab), 10.0 * OFF);
    }
    lab_destroy(&lab);
}
END_TEST

// What does not fit leaves at a speed that it may have, whoever hangs on it.
START_TEST(a_loop_with_a_tree_that_does_not_fit_is_calm) {
    const SolverKind solver = (SolverKind)(_i % SOLVER_COUNT);
    static const double offs[] = {1e-5, 1e-4, 1e-3};
    const SliderCrank of = {
        .r = 0.3, .l = 0.8, .angle = 0.7, .rate = RATE, .off = offs[_i / SOLVER_COUNT]};
    Lab lab = make_slider_crank(solver, TIME_STEP, &of);
    lab_set(&lab, "tolerance", 1e-6);
    hang_at_slider(&lab);
    for (int i = 0; i < STEPS; i++) {
        lab_step(&lab, 1);
        for (uint32_t body = 0; body < lab.world->body_count; body++) {
            ck_assert_double_le(vec3_norm(lab_velocity(&lab, body)), 10.0);
            ck_assert_double_le(vec3_norm(lab_spin(&lab, body)), 30.0);
        }
    }
    lab_destroy(&lab);
}
END_TEST

static TCase *case_company(void) {
    TCase *tcase = tcase_create("company");
    tcase_set_timeout(tcase, 120.0);
    tcase_add_loop_test(tcase, a_loop_in_company_goes_on, 0, COMPANIES * SOLVER_COUNT);
    tcase_add_loop_test(tcase, a_door_between_trees_turns, 0, 2 * SOLVER_COUNT);
    tcase_add_loop_test(tcase, a_loop_with_a_tree_that_does_not_fit_is_calm, 0, 3 * SOLVER_COUNT);
    return tcase;
}

SUITE_MAIN("step/joints/loops_company", case_company)
