// SPDX-License-Identifier: MIT
// Numbers that are none, infinite, huge or tiny, in every field of a problem in turn. What comes
// from outside is judged by problem_check, which refuses what is not finite and names the field.
// What comes from a world is not: there every solver ends, and calls converged only what a second
// measure finds converged, in numbers that are finite.
#include "support/harness_judge.h"
#include "support/suite.h"

#include <string.h>

static HarnessVariant variants[HARNESS_VARIANTS_MAX];
static uint32_t variant_count;

// ---- a problem that has everything

// A free body on the ground and against a hinge, which a motor and a spring hold; warm.
typedef struct Sketch {
    ProblemBuild build;
    double warm_contact[6], warm_row[2];
} Sketch;

enum { BODY, ARM, GROUND = 0, TOUCH, MOTOR = 0, SPRING };

static void draw(Sketch *s) {
    const double fall[6] = {0.5, 0.2, -0.3, 0.1, 0.2, 0.3}, turn[2] = {-0.5, 0.3};
    const double mass[4] = {2.0, 0.5, 0.5, 1.0}, along[2] = {1.0, 0.5};
    const double jacobian[6] = {0.5, 0.2, 0.1, 0.3, -0.2, 0.6}, spin[6] = {0, 0, 0, 0, 0, 1};
    const Vec3 up = {0.0, 0.0, 1.0};
    ProblemBuild *b = &s->build;
    problem_build_init(b);
    problem_build_free(b, 2.0, (Sym3){0.2, 0.3, 0.4, 0.01, 0.02, 0.03}, fall);
    problem_build_dense(b, 2, mass, turn);
    ProblemContact *ground = problem_build_contact(b, up, 0.5, 0.0);
    problem_build_side(ground, 1, BODY, vec3(0.1, 0.2, -0.5));
    ProblemContact *touch = problem_build_contact(b, vec3(0.6, 0.0, 0.8), 0.3, 0.01);
    problem_build_side(touch, 0, BODY, vec3(0.3, 0.0, 0.4));
    problem_build_dense_side(b, touch, 1, ARM, jacobian);
    problem_build_row(b, -0.3, 0.3, -1.0);
    problem_build_block(b, ARM, along);
    ProblemRow *spring = problem_build_row(b, -HUGE_VAL, HUGE_VAL, 0.1);
    *spring = (ProblemRow){.block_first = 1,
                           .low = -HUGE_VAL,
                           .high = HUGE_VAL,
                           .is_position = true,
                           .gap = 0.001,
                           .bias = 0.1,
                           .compliance = 0.2,
                           .has_compliance = true};
    problem_build_block(b, BODY, spin);
    for (int i = 0; i < 2; i++) {
        b->law[i] = (ContactLaw){
            .approach = -0.1, .stiffness = 1e5, .dissipation_time = 0.002, .damping = 200.0};
        b->row[i].stiffness = 1e7;
        s->warm_row[i] = 0.1;
        for (int k = 0; k < 3; k++) {
            s->warm_contact[3 * i + k] = k == 0 ? 0.1 : 0.01;
        }
    }
    b->problem.warm_contact = s->warm_contact;
    b->problem.warm_row = s->warm_row;
}

// ---- its fields

typedef struct Field {
    const char *key; // that problem_check blames
    size_t array;    // of a pointer within Sketch, or 0: within Sketch itself
    size_t offset;   // from there [bytes]
    double legal;    // the infinity that the field may have; 0: none
    bool is_assumed; // solvers assume that it is judged: masses are factored, time is divided by
} Field;

#define AT(pointer, type, index, member)                                                           \
    offsetof(Sketch, build.pointer), (index) * sizeof(type) + offsetof(type, member)
#define NUMBER(pointer, index) offsetof(Sketch, build.pointer), (index) * sizeof(double)
#define HERE(member)           0, offsetof(Sketch, member)

static const Field fields[] = {
    {"time_step", HERE(build.problem.time_step), 0.0, true},
    {"gravity", HERE(build.problem.gravity), 0.0, false},
    {"trees[0].body.mass", AT(free, FreeMass, 0, mass), 0.0, true},
    {"trees[0].body.mass", AT(free, FreeMass, 0, inverse_mass), 0.0, true},
    {"trees[0].body.inertia", AT(free, FreeMass, 0, inertia.xx), 0.0, true},
    {"trees[0].body.inertia", AT(free, FreeMass, 0, inertia.yz), 0.0, true},
    {"trees[0].body.inertia", AT(free, FreeMass, 0, inverse_inertia.zz), 0.0, true},
    {"trees[0].body.inertia", AT(free, FreeMass, 0, inverse_inertia.xy), 0.0, true},
    {"trees[1].mass", NUMBER(number, 0), 0.0, true},
    {"trees[1].mass", NUMBER(number, 1), 0.0, true},
    {"trees[1].mass", NUMBER(number, 2), 0.0, true},
    {"trees[0].v_free", NUMBER(v_free, 1), 0.0, false},
    {"trees[0].v_free", NUMBER(v_free, 5), 0.0, false},
    {"trees[1].v_free", NUMBER(v_free, 6), 0.0, false},
    {"contacts[0].frame", AT(contact, ProblemContact, GROUND, normal.z), 0.0, false},
    {"contacts[1].frame", AT(contact, ProblemContact, TOUCH, tangent[0].x), 0.0, false},
    {"contacts[1].frame", AT(contact, ProblemContact, TOUCH, tangent[1].y), 0.0, false},
    {"contacts[0].sides[1].arm", AT(contact, ProblemContact, GROUND, side[1].arm.x), 0.0, false},
    {"contacts[1].sides[0].arm", AT(contact, ProblemContact, TOUCH, side[0].arm.z), 0.0, false},
    {"contacts[1].sides[1].jacobian", NUMBER(number, 4), 0.0, false},
    {"contacts[1].sides[1].jacobian", NUMBER(number, 9), 0.0, false},
    {"contacts[0].mu", AT(contact, ProblemContact, GROUND, mu), 0.0, false},
    {"contacts[1].mu", AT(contact, ProblemContact, TOUCH, mu), 0.0, false},
    {"contacts[0].gap", AT(contact, ProblemContact, GROUND, gap), 0.0, false},
    {"contacts[0].bias", AT(contact, ProblemContact, GROUND, bias), 0.0, false},
    {"contacts[1].bias", AT(contact, ProblemContact, TOUCH, bias), 0.0, false},
    {"contacts[0].motion", AT(contact, ProblemContact, GROUND, motion[0]), 0.0, false},
    {"contacts[1].motion", AT(contact, ProblemContact, TOUCH, motion[2]), 0.0, false},
    {"contacts[0].approach", AT(law, ContactLaw, GROUND, approach), 0.0, false},
    {"contacts[1].restitution", AT(law, ContactLaw, TOUCH, restitution), 0.0, false},
    {"contacts[1].stiffness", AT(law, ContactLaw, TOUCH, stiffness), HUGE_VAL, false},
    {"contacts[0].dissipation_time", AT(law, ContactLaw, GROUND, dissipation_time), 0.0, false},
    {"contacts[0].damping", AT(law, ContactLaw, GROUND, damping), 0.0, false},
    {"contacts[0].force", AT(law, ContactLaw, GROUND, force), 0.0, false},
    {"contacts[1].gdot", AT(law, ContactLaw, TOUCH, gdot[1]), 0.0, false},
    {"rows[0].low", AT(row, ProblemRow, MOTOR, low), -HUGE_VAL, false},
    {"rows[0].high", AT(row, ProblemRow, MOTOR, high), HUGE_VAL, false},
    {"rows[0].bias", AT(row, ProblemRow, MOTOR, bias), 0.0, false},
    {"rows[1].bias", AT(row, ProblemRow, SPRING, bias), 0.0, false},
    {"rows[1].gap", AT(row, ProblemRow, SPRING, gap), 0.0, false},
    {"rows[1].R", AT(row, ProblemRow, SPRING, compliance), 0.0, false},
    {"rows[1].stiffness", AT(row, ProblemRow, SPRING, stiffness), HUGE_VAL, false},
    {"rows[0].dissipation_time", AT(row, ProblemRow, MOTOR, dissipation_time), 0.0, false},
    {"rows[0].damping", AT(row, ProblemRow, MOTOR, damping), 0.0, false},
    {"rows[1].gdot", AT(row, ProblemRow, SPRING, gdot), 0.0, false},
    {"rows[0].blocks[0].jacobian", NUMBER(number, 10), 0.0, false},
    {"rows[1].blocks[0].jacobian", NUMBER(number, 17), 0.0, false},
    {"warm.contacts[0]", HERE(warm_contact[0]), 0.0, false},
    {"warm.contacts[1]", HERE(warm_contact[5]), 0.0, false},
    {"warm.rows[1]", HERE(warm_row[1]), 0.0, false},
};
enum { FIELDS = sizeof(fields) / sizeof(fields[0]) };

static double *place_of(Sketch *s, const Field *field) {
    unsigned char *base = (unsigned char *)s;
    if (field->array != 0) {
        memcpy(&base, base + field->array, sizeof(base));
    }
    return (double *)(void *)(base + field->offset);
}

static Status check(Sketch *s, Error *error) {
    *error = (Error){0};
    return problem_check(&s->build.problem, &s->build.arena, error);
}

// ---- what is not finite

static const double none[] = {NAN, HUGE_VAL, -HUGE_VAL};
enum { NONE = sizeof(none) / sizeof(none[0]) };

START_TEST(what_is_not_finite_is_refused_by_its_name) {
    const Field *field = &fields[_i / NONE];
    const double value = none[_i % NONE];
    Sketch s;
    Error error;
    draw(&s);
    ck_assert_msg(check(&s, &error) == STATUS_OK, "%s", error.message);
    *place_of(&s, field) = value;
    if (value == field->legal) {
        ck_assert_msg(check(&s, &error) == STATUS_OK, "%s", error.message);
    } else {
        ck_assert_msg(check(&s, &error) == STATUS_INVALID_ARGUMENT, "%s may be %g", field->key,
                      value);
        ck_assert_str_eq(error.field, field->key);
        ck_assert_ptr_nonnull(strstr(error.message, field->key));
    }
    problem_build_deinit(&s.build);
}
END_TEST

static bool is_finite(const ContactProblem *problem, const Answer *answer) {
    return numbers_are_finite(answer->v, problem->velocity_count) &&
           numbers_are_finite(answer->contact_impulse, 3 * (size_t)problem->contact_count) &&
           numbers_are_finite(answer->row_impulse, problem->row_count);
}

// Nobody calls solved what has a NaN in it: the second measure, through which every NaN passes that
// is in the law or the answer, would say so. It knows nothing of warm impulses, which a solver may
// leave where they are not numbers. Infinity may be told apart, as a gap that is never closed, if
// it leads to finite numbers and the second measure does not contradict.
static void try_none(Sketch *s, const Field *field, double value, const HarnessVariant *variant) {
    const ContactProblem *problem = &s->build.problem;
    double *place = place_of(s, field), kept = *place;
    *place = value;
    HarnessRun run;
    harness_run_init(&run, (size_t)1 << 26);
    ck_assert_int_eq(harness_run(&run, variant, problem, &(Context){0}), STATUS_OK);
    if (run.result.certificate.converged) {
        HarnessVerdict verdict;
        harness_judge(problem, &run.result, &run.arena, &verdict);
        double own = verdict.entry[CERTIFICATE_OWN];
        bool is_contradicted = value != value ? !verdict.converged : own > 1e-6;
        ck_assert_msg(is_finite(problem, &run.result.answer) && !is_contradicted,
                      "%s: %s = %g, and it has converged", variant->name, field->key, value);
    }
    *place = kept;
    harness_run_deinit(&run);
}

START_TEST(what_is_not_finite_never_converges) {
    const Field *field = &fields[_i];
    Sketch s;
    draw(&s);
    for (uint32_t i = 0; i < variant_count && !field->is_assumed; i++) {
        for (int k = 0; k < NONE; k++) {
            try_none(&s, field, none[k], &variants[i]);
        }
    }
    problem_build_deinit(&s.build);
}
END_TEST

// ---- what is huge or tiny

static const double sizes[] = {1e300, -1e300, 1e160,  -1e160, 1e20,
                               -1e20, 1e-20,  1e-160, 1e-300, 5e-324};
enum { SIZES = sizeof(sizes) / sizeof(sizes[0]) };

static void try_size(Sketch *s, const Field *field, double value, const HarnessVariant *variant) {
    const ContactProblem *problem = &s->build.problem;
    double *place = place_of(s, field), kept = *place;
    *place = value;
    Error error;
    HarnessRun run;
    harness_run_init(&run, (size_t)1 << 26);
    if (check(s, &error) == STATUS_OK) {
        ck_assert_int_eq(harness_run(&run, variant, problem, &(Context){0}), STATUS_OK);
        HarnessVerdict verdict;
        harness_judge(problem, &run.result, &run.arena, &verdict);
        const double *entry = verdict.entry;
        ck_assert_msg(
            !run.result.certificate.converged ||
                (is_finite(problem, &run.result.answer) &&
                 entry[CERTIFICATE_OWN] <= run.result.certificate.tolerance + verdict.rounding &&
                 verdict.cone_claimed <= 1e-12 &&
                 entry[CERTIFICATE_MOM] <= 1e-10 + verdict.momentum_rounding),
            "%s: %s = %g has converged: e_own %g, e_cone %g, e_mom %g (rounding %g, %g)",
            variant->name, field->key, value, entry[CERTIFICATE_OWN], entry[CERTIFICATE_CONE],
            entry[CERTIFICATE_MOM], verdict.rounding, verdict.momentum_rounding);
    } else {
        ck_assert_str_ne(error.field, "");
    }
    *place = kept;
    harness_run_deinit(&run);
}

START_TEST(what_is_huge_or_tiny_is_refused_or_judged) {
    Sketch s;
    draw(&s);
    for (uint32_t i = 0; i < variant_count; i++) {
        for (int k = 0; k < SIZES; k++) {
            try_size(&s, &fields[_i], sizes[k], &variants[i]);
        }
    }
    problem_build_deinit(&s.build);
}
END_TEST

static TCase *case_fields(void) {
    TCase *tcase = tcase_create("fields");
    variant_count = harness_variants(variants);
    tcase_add_loop_test(tcase, what_is_not_finite_is_refused_by_its_name, 0, FIELDS * NONE);
    tcase_add_loop_test(tcase, what_is_not_finite_never_converges, 0, FIELDS);
    tcase_add_loop_test(tcase, what_is_huge_or_tiny_is_refused_or_judged, 0, FIELDS);
    return tcase;
}

SUITE_MAIN("solve/harness_finite", case_fields)
