// SPDX-License-Identifier: MIT
// Beds: what their contacts are to the same contacts one by one, and two lanes to four.
#include "solve/compliant/bed_law.h"

#define SIMD_COUNT 2
#include "solve/compliant/bed_law_simd.h"

#include "support/problem_build.h"
#define RUN_SOLVER SOLVER_COMPLIANT
#include "support/solver_run.h"
#include "support/suite.h"

#include "solve/compliant/compliant.h"

enum { SIDE = 7, CELLS = SIDE * SIDE }; // three more than places of four hold

// ---- a bed and the same contacts one by one

typedef struct BedCase {
    const char *name;
    double mu;
    int side;         // of the contacts that moves
    bool has_row;     // which holds it to a second body that stands on it
    double push[3];   // of v_free beside the fall, along its own axes [m/s]
    double stiffness; // of a cell [N/m]
} BedCase;

static const BedCase bed_cases[] = {
    {"rests, smooth", 0.0, 1, false, {0.0, 0.0, 0.0}, 2e4},
    {"tilts, smooth", 0.0, 0, true, {0.0, 0.0, 0.0}, 2e4},
    {"sticks", 0.6, 1, false, {0.01, 0.0, 0.02}, 2e4},
    {"slides", 0.3, 0, false, {0.5, -0.3, 0.0}, 2e4},
    {"slides and carries", 0.3, 1, true, {0.5, -0.3, 0.0}, 2e4},
    {"is stiff", 0.4, 1, true, {0.05, 0.1, -0.1}, 1e8},
};
enum { BED_CASES = sizeof(bed_cases) / sizeof(bed_cases[0]) };

// A box of a metre and 8 kg, turned with all else by a generic quaternion, that rocks on cells
// which overlap by less and less from one edge to the other, and beyond it stand apart; a smaller
// box stands on it. With `is_torn` every other contact has its tangents turned round, which is the
// same contact, and no bed.
static void make(ProblemBuild *build, const BedCase *of, bool is_torn) {
    const Quat turn = quat_normalize((Quat){0.8, -0.3, 0.4, 0.2});
    const Vec3 up = quat_rotate(turn, vec3(0.0, 0.0, 1.0));
    double v[6];
    problem_build_init(build);
    Vec3 free = vec3_add(quat_rotate(turn, vec3_load(of->push)), vec3_scale(-0.0981, up));
    vec3_store(v, free);
    vec3_store(v + 3, quat_rotate(turn, vec3(0.02, -0.05, 0.01)));
    const double i = 8.0 / 6.0;
    uint32_t box = problem_build_free(build, 8.0, (Sym3){i, i, i, 0.0, 0.0, 0.0}, v);
    uint32_t other = problem_build_free(build, 1.0, (Sym3){0.1, 0.2, 0.15, 0.01, 0.0, 0.02}, v);
    Vec3 normal = of->side == 1 ? up : vec3_neg(up);
    for (int cell = 0; cell < CELLS; cell++) {
        const double x = (cell % SIDE + 0.5) / SIDE - 0.5, y = (cell / SIDE + 0.5) / SIDE - 0.5;
        ProblemContact *contact = problem_build_contact(build, normal, of->mu, 0.0);
        problem_build_side(contact, of->side, box, quat_rotate(turn, vec3(x, y, -0.5)));
        contact->gap = 1e-4 + 1e-3 * x + 3e-4 * y;
        if (is_torn && cell % 2 == 1) {
            contact->tangent[0] = vec3_neg(contact->tangent[0]);
            contact->tangent[1] = vec3_neg(contact->tangent[1]);
        }
    }
    ProblemContact *above = problem_build_contact(build, up, 0.2, 0.0);
    problem_build_side(above, 0, box, quat_rotate(turn, vec3(0.1, 0.2, 0.5)));
    problem_build_side(above, 1, other, quat_rotate(turn, vec3(0.0, 0.05, -0.2)));
    if (of->has_row) {
        const double a[6] = {1.0, 0.0, 0.0, 0.0, 0.3, 0.0}, b[6] = {-1.0, 0.0, 0.1, 0.2, 0.0, 0.0};
        problem_build_row(build, -HUGE_VAL, HUGE_VAL, 0.01);
        problem_build_block(build, box, a);
        problem_build_block(build, other, b);
    }
    for (uint32_t c = 0; c < build->problem.contact_count; c++) {
        build->law[c].stiffness = of->stiffness;
        build->law[c].damping = 1.0;
        build->law[c].force = -of->stiffness * build->contact[c].gap;
    }
}

static void assert_bed(const ProblemBuild *build, bool is_bed) {
    bool is_same = true;
    for (int cell = 1; cell < CELLS; cell++) {
        is_same = is_same && build->contact[cell].tangent[0].x == build->contact[0].tangent[0].x;
    }
    ck_assert(is_same == is_bed);
}

// To 1e-11 of V, which is g h for what rests, both solve the same; velocities are as exact as that
// times what the stiffest law magnifies, impulses are momenta of 8 kg. Normal impulses are those of
// springs, tangents' of stiff dampers, which are known to R_t^-1 of the velocities: they are
// compared as what they push together.
START_TEST(a_bed_is_its_contacts) {
    const BedCase *of = &bed_cases[_i];
    ProblemBuild whole, torn;
    Run one, two;
    make(&whole, of, false);
    make(&torn, of, true);
    assert_bed(&whole, true);
    assert_bed(&torn, false);
    run_init(&one);
    run_init(&two);
    set(&one, "tolerance", 1e-11);
    set(&two, "tolerance", 1e-11);
    set(&one, "tangential_damping", 1e5);
    set(&two, "tangential_damping", 1e5);
    set(&one, "stiffness_default", 1e6);
    set(&two, "stiffness_default", 1e6);
    const SolveResult *bed = solve(&one, &whole.problem), *each = solve(&two, &torn.problem);
    assert_solved(bed, of->name);
    assert_solved(each, of->name);
    ck_assert_double_le(
        largest_difference(bed->answer.v, each->answer.v, whole.problem.velocity_count), 1e-10);
    double pushing = 0.0;
    for (size_t c = 0; c < CELLS; c++) {
        const double *a = bed->answer.contact_impulse + 3 * c,
                     *b = each->answer.contact_impulse + 3 * c;
        const double sign = c % 2 == 1 ? -1.0 : 1.0;
        pushing += a[0];
        ck_assert_double_le(fabs(a[0] - b[0]), 1e-7);
        ck_assert_double_le(hypot(a[1] - sign * b[1], a[2] - sign * b[2]), 1e-6);
    }
    ck_assert_double_gt(pushing, 0.1);
    problem_build_deinit(&whole);
    problem_build_deinit(&torn);
    run_deinit(&one);
    run_deinit(&two);
}
END_TEST

// What does not overlap may not push where only contact counts, and is no cell: the bed is what is
// left of them.
START_TEST(a_bed_may_have_holes) {
    ProblemBuild whole, torn;
    Run one, two;
    make(&whole, &bed_cases[2], false);
    make(&torn, &bed_cases[2], true);
    run_init(&one);
    run_init(&two);
    set(&one, "activation", COMPLIANT_CONTACT);
    set(&two, "activation", COMPLIANT_CONTACT);
    set(&one, "tolerance", 1e-10);
    set(&two, "tolerance", 1e-10);
    const SolveResult *bed = solve(&one, &whole.problem), *each = solve(&two, &torn.problem);
    assert_solved(bed, "a bed with holes");
    assert_solved(each, "its contacts");
    ck_assert_double_le(
        largest_difference(bed->answer.v, each->answer.v, whole.problem.velocity_count), 1e-9);
    for (size_t c = 0; c < CELLS; c++) {
        ck_assert(whole.contact[c].gap <= 0.0 || bed->answer.contact_impulse[3 * c] == 0.0);
    }
    problem_build_deinit(&whole);
    problem_build_deinit(&torn);
    run_deinit(&one);
    run_deinit(&two);
}
END_TEST

// ---- two lanes and four

enum { QUADS = 5, NUMBERS = 3 * BED_PLACES * QUADS };

typedef struct Lanes {
    Bed bed;
    BedCells cells[QUADS];
    BedPass pass;
    double v[BED_TWIST];
    double gamma[NUMBERS], x[NUMBERS], e[NUMBERS];
    double u[NUMBERS], d_u[NUMBERS], y[NUMBERS], impulse[NUMBERS], rest[NUMBERS], change[NUMBERS];
} Lanes;

static void randomise(double *numbers, size_t count, uint64_t *state) {
    for (size_t k = 0; k < count; k++) {
        numbers[k] = problem_build_random(state);
    }
}

static void put_cells(Lanes *lanes, uint64_t *state) {
    for (uint32_t i = 0; i < BED_PLACES * QUADS; i++) {
        BedCells *c = &lanes->cells[i / BED_PLACES];
        const uint32_t place = i % BED_PLACES;
        c->constraint[place] = i;
        c->first[place] = 3 * i;
        for (int k = 0; k < 3; k++) {
            c->arm[k].at[place] = problem_build_random(state);
            c->target[k].at[place] = problem_build_random(state);
        }
        c->normal.at[place] = 0.1 + fabs(problem_build_random(state));
        c->tangent.at[place] = 0.01 + fabs(problem_build_random(state));
        c->w.at[place] = 0.5 + fabs(problem_build_random(state));
        c->mu.at[place] = i % 5 == 0 ? 0.0 : 0.5;
        c->bound.at[place] = i % 7 == 0 ? 0.0 : fabs(problem_build_random(state));
        c->off[0].at[place] = 1.0 / (c->normal.at[place] + c->w.at[place]);
        c->off[1].at[place] = 1.0 / (c->tangent.at[place] + c->w.at[place]);
        for (int k = 0; k < BED_BLOCK; k++) {
            c->slope[k].at[place] = problem_build_random(state);
            c->inverse[k].at[place] = problem_build_random(state);
        }
    }
}

static Lanes *lanes_create(void) {
    Lanes *lanes = aligned_alloc(alignof(Lanes), sizeof(Lanes));
    uint64_t state = 17;
    ck_assert_ptr_nonnull(lanes);
    memset(lanes, 0, sizeof(*lanes));
    lanes->bed = (Bed){.sign = 1.0, .cells = lanes->cells, .count = QUADS};
    put_cells(lanes, &state);
    randomise(lanes->v, BED_TWIST, &state);
    randomise(lanes->gamma, NUMBERS, &state);
    randomise(lanes->x, NUMBERS, &state);
    randomise(lanes->e, NUMBERS, &state);
    randomise(lanes->u, NUMBERS, &state);
    randomise(lanes->d_u, NUMBERS, &state);
    randomise(lanes->y, NUMBERS, &state);
    lanes->pass = (BedPass){.v = lanes->v,
                            .gamma = lanes->gamma,
                            .x = lanes->x,
                            .e = lanes->e,
                            .u = lanes->u,
                            .d_u = lanes->d_u,
                            .y = lanes->y,
                            .impulse = lanes->impulse,
                            .rest = lanes->rest,
                            .change = lanes->change,
                            .alpha = 0.7};
    memcpy(lanes->pass.twist, lanes->v, sizeof(lanes->v));
    return lanes;
}

static void assert_same(const Lanes *a, const Lanes *b) {
    ck_assert_mem_eq(a->cells, b->cells, sizeof(a->cells));
    ck_assert_mem_eq(a->pass.sum, b->pass.sum, sizeof(a->pass.sum));
    ck_assert_mem_eq(a->u, b->u, sizeof(a->u));
    ck_assert_mem_eq(a->d_u, b->d_u, sizeof(a->d_u));
    ck_assert_mem_eq(a->y, b->y, sizeof(a->y));
    ck_assert_mem_eq(a->impulse, b->impulse, sizeof(a->impulse));
    ck_assert_mem_eq(a->rest, b->rest, sizeof(a->rest));
    ck_assert_mem_eq(a->change, b->change, sizeof(a->change));
}

// Every pass, all that it leaves.
START_TEST(lanes_give_the_same_bits) {
#if defined(__x86_64__)
    if (!__builtin_cpu_supports("avx2")) {
        return;
    }
    Lanes *two = lanes_create(), *four = lanes_create();
    if (_i <= BED_CHANGE) {
        bed_pass_all(&two->bed, (BedKind)_i, &two->pass);
        bed_pass_avx2(&four->bed, (BedKind)_i, &four->pass);
    } else {
        law_pass_all(&two->bed, (BedLawKind)(_i - BED_CHANGE - 1), &two->pass);
        bed_law_pass_avx2(&four->bed, (BedLawKind)(_i - BED_CHANGE - 1), &four->pass);
    }
    assert_same(two, four);
    free(two);
    free(four);
#endif
}
END_TEST

static TCase *case_bed(void) {
    TCase *tcase = tcase_create("bed");
    tcase_add_loop_test(tcase, a_bed_is_its_contacts, 0, BED_CASES);
    tcase_add_test(tcase, a_bed_may_have_holes);
    tcase_add_loop_test(tcase, lanes_give_the_same_bits, 0, BED_CHANGE + 1 + BED_LAW_LINEARISE + 1);
    return tcase;
}

SUITE_MAIN("solve/compliant_bed", case_bed)
