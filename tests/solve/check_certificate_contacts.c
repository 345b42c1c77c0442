// SPDX-License-Identifier: MIT
#include "solve/certificate_parts.h"

#define SIMD_COUNT 2
#include "solve/certificate_contacts_simd.h"

#include "support/problem_build.h"
#include "support/suite.h"

#include <string.h>

enum { ISLANDS = 3, CONTACTS_MAX = 40 };

// Contacts of several islands with an answer that obeys no law, and what was measured of it.
typedef struct Measured {
    ProblemBuild build;
    ProblemMass mass;
    Islands islands;
    CertificateScale scale;
    double impulse[3 * CONTACTS_MAX];
    double residual[CONTACTS_MAX];
    Answer answer;
    IslandMeasure island[ISLANDS];
    uint32_t count; // contacts that are on an island
} Measured;

static uint32_t island_of_tree[PROBLEM_BUILD_TREES];
static uint32_t list[CONTACTS_MAX];
static double v_scale[ISLANDS] = {0.1, 0.7, 3.0};

static void measured_init(Measured *measured, uint32_t contacts) {
    memset(measured, 0, sizeof(*measured));
    ProblemBuild *build = &measured->build;
    uint64_t state = 11;
    problem_build_init(build);
    problem_build_random_bodies(build, &state, 20, contacts);
    // one that moves nothing
    build->contact[contacts / 2].side[0].tree = build->contact[contacts / 2].side[1].tree =
        PROBLEM_NO_TREE;
    ck_assert_int_eq(mass_init(&measured->mass, &build->problem, NULL, &build->arena, NULL),
                     STATUS_OK);
    for (uint32_t i = 0; i < contacts; i++) {
        mass_add_contact(&measured->mass, i);
        if (i != contacts / 2) {
            list[measured->count++] = i;
        }
    }
    for (uint32_t i = 0; i < build->problem.tree_count; i++) {
        island_of_tree[i] = i < 6 ? 0 : i % ISLANDS;
    }
    // in the problem's order, so that islands take turns
    measured->islands = (Islands){.count = ISLANDS, .of_tree = island_of_tree, .contact = list};
    measured->scale = (CertificateScale){&measured->islands, v_scale};
    for (uint32_t i = 0; i < 3 * contacts; i++) {
        measured->impulse[i] = i % 7 == 0 ? 0.0 : problem_build_random(&state);
    }
    measured->answer =
        (Answer){.v = build->v_free, .contact_impulse = measured->impulse, .directions = 5};
}

static CertificateMeasure begin(Measured *measured, RelationKind relation) {
    measured->answer.relation = relation;
    for (int i = 0; i < ISLANDS; i++) {
        measured->island[i] = certificate_measure_none();
    }
    return (CertificateMeasure){.problem = &measured->build.problem,
                                .mass = &measured->mass,
                                .scale = &measured->scale,
                                .answer = &measured->answer,
                                .island = measured->island,
                                .residual = measured->residual};
}

START_TEST(two_places_give_the_bits_of_four) {
    // where the machine has no vectors of four doubles, both sides are the same code
    static Measured four, two;
    uint32_t contacts = 30 + (uint32_t)_i / 2; // the last ones fill no vector
    RelationKind relation = _i % 2 == 0 ? RELATION_DISSIPATION : RELATION_CONE;
    measured_init(&four, contacts);
    measured_init(&two, contacts);
    CertificateMeasure m = begin(&four, relation), n = begin(&two, relation);
    certificate_measure_contacts(&m, 0, four.count);
    measure_contacts(&n, 0, two.count);
    ck_assert_mem_eq(four.island, two.island, sizeof(four.island));
    ck_assert_mem_eq(four.residual, two.residual, sizeof(four.residual));
    for (int i = 0; i < ISLANDS; i++) {
        ck_assert_int_ge(four.island[i].worst_contact, 0);
        ck_assert_double_gt(four.island[i].velocity[CERTIFICATE_OWN], 0.0);
    }
    ck_assert_double_eq(four.residual[contacts / 2], 0.0);
    problem_build_deinit(&four.build);
    problem_build_deinit(&two.build);
}
END_TEST

START_TEST(what_is_measured_of_an_island_is_the_largest_of_its_contacts) {
    static Measured all;
    measured_init(&all, 30);
    CertificateMeasure m = begin(&all, RELATION_DISSIPATION);
    certificate_measure_contacts(&m, 0, all.count);
    double most[ISLANDS] = {0.0};
    for (uint32_t i = 0; i < 30; i++) {
        uint32_t of = islands_of_contact(&all.build.problem, island_of_tree, i);
        if (of != PROBLEM_NO_TREE) {
            most[of] = fmax(most[of], all.residual[i] * v_scale[of]);
        }
    }
    for (int i = 0; i < ISLANDS; i++) {
        // the share of V times V rounds twice
        ck_assert_double_eq_tol(all.island[i].velocity[CERTIFICATE_OWN], most[i], 1e-15 * most[i]);
    }
    problem_build_deinit(&all.build);
}
END_TEST

START_TEST(an_impulse_that_is_not_a_number_shows) {
    static Measured measured;
    measured_init(&measured, 30);
    measured.impulse[(size_t)3 * (size_t)_i] = NAN;
    CertificateMeasure m = begin(&measured, RELATION_DISSIPATION);
    certificate_measure_contacts(&m, 0, measured.count);
    uint32_t of = islands_of_contact(&measured.build.problem, island_of_tree, (uint32_t)_i);
    ck_assert(isnan(measured.island[of].velocity[CERTIFICATE_OWN]));
    ck_assert_int_eq(measured.island[of].worst_contact, _i);
    problem_build_deinit(&measured.build);
}
END_TEST

START_TEST(rigid_contacts_that_are_declared_are_measured_as_those_that_are_not) {
    static Measured plain, declared;
    static ContactRelation relation[CONTACTS_MAX];
    measured_init(&plain, 30);
    measured_init(&declared, 30);
    for (uint32_t i = 0; i < 30; i++) {
        relation[i] = (ContactRelation){.bias = declared.build.contact[i].bias, .s = 1.0};
    }
    declared.answer.contact = relation;
    CertificateMeasure m = begin(&plain, RELATION_CONE), n = begin(&declared, RELATION_CONE);
    certificate_measure_contacts(&m, 0, plain.count);
    certificate_measure_contacts(&n, 0, declared.count);
    ck_assert_mem_eq(plain.island, declared.island, sizeof(plain.island));
    ck_assert_mem_eq(plain.residual, declared.residual, sizeof(plain.residual));
    problem_build_deinit(&plain.build);
    problem_build_deinit(&declared.build);
}
END_TEST

// One that moves nothing is among them, and asks for its target.
START_TEST(contacts_ask_for_the_same_scale_at_once_and_one_by_one) {
    static Measured measured;
    const uint32_t contacts = 30;
    measured_init(&measured, contacts);
    const ContactProblem *problem = &measured.build.problem;
    uint32_t all[CONTACTS_MAX];
    for (uint32_t i = 0; i < contacts; i++) {
        all[i] = i;
        vec3_store(measured.build.contact[i].motion, vec3(0.01 * i, -0.02, 0.03));
        measured.build.contact[i].bias = i % 5 == 0 ? -0.1 * i : 0.2;
    }
    measured.islands.contact = all;
    for (uint32_t begin = 0; begin < contacts; begin++) {
        const uint32_t end = begin + 1 + 7 * begin % (contacts - begin);
        const uint32_t fours = (end - begin) / 4 * 4;
        double most = 1e-9, least = 1e-9;
        for (uint32_t i = begin; i < end; i++) {
            most = certificate_scale_contacts(problem, &measured.islands, &measured.answer, i,
                                              i + 1, most);
            least = i + 1 == begin + fours ? most : least;
        }
        ck_assert_double_gt(most, 0.0);
        ck_assert_double_eq(most, certificate_scale_contacts(problem, &measured.islands,
                                                             &measured.answer, begin, end, 1e-9));
        ck_assert_double_eq(least, scale_contacts(problem, all + begin, fours, 1e-9));
    }
    measured.build.contact[_i].motion[1] = NAN;
    ck_assert(isnan(certificate_scale_contacts(problem, &measured.islands, &measured.answer, 0,
                                               contacts, 1e-9)));
    problem_build_deinit(&measured.build);
}
END_TEST

// Bodies of which one contact has the one as its first and the next as its second: what is added to
// them is added in the order of the contacts, to the bit.
START_TEST(momenta_are_added_contact_by_contact_however_many_at_once) {
    static Measured measured;
    const uint32_t contacts = 30;
    measured_init(&measured, contacts);
    ContactProblem *problem = &measured.build.problem;
    uint32_t all[CONTACTS_MAX];
    for (uint32_t i = 0; i < contacts; i++) {
        all[i] = (7 * i + 3) % contacts;
        ContactSide *side = measured.build.contact[i].side;
        side[0].tree = i % 5 == 0 ? PROBLEM_NO_TREE : i % 3;
        side[1].tree = (i + 1) % 3; // of few bodies: each is pushed often
        measured.impulse[(size_t)3 * i] *= 1e3;
    }
    measured.islands.contact = all;
    double momentum[3][6 * PROBLEM_BUILD_TREES] = {{0.0}};
    measured.answer.momentum = momentum[0];
    certificate_add_momenta(problem, &measured.islands, &measured.answer, 1, contacts);
    for (uint32_t i = 1; i < contacts; i++) {
        problem_contact_momentum(problem, all[i], measured.impulse + (size_t)3 * all[i],
                                 momentum[1]);
    }
    add_momenta(problem, all + 1, 28, measured.impulse, momentum[2]);
    problem_contact_momentum(problem, all[29], measured.impulse + (size_t)3 * all[29], momentum[2]);
    ck_assert_mem_eq(momentum[0], momentum[1], sizeof(momentum[0]));
    ck_assert_mem_eq(momentum[0], momentum[2], sizeof(momentum[0]));
    ck_assert_double_ne(momentum[0][0], 0.0);
    problem_build_deinit(&measured.build);
}
END_TEST

static TCase *case_contacts(void) {
    TCase *tcase = tcase_create("contacts");
    tcase_add_loop_test(tcase, two_places_give_the_bits_of_four, 0, 10);
    tcase_add_test(tcase, rigid_contacts_that_are_declared_are_measured_as_those_that_are_not);
    tcase_add_loop_test(tcase, contacts_ask_for_the_same_scale_at_once_and_one_by_one, 0, 8);
    tcase_add_test(tcase, momenta_are_added_contact_by_contact_however_many_at_once);
    tcase_add_test(tcase, what_is_measured_of_an_island_is_the_largest_of_its_contacts);
    tcase_add_loop_test(tcase, an_impulse_that_is_not_a_number_shows, 0, 8);
    return tcase;
}

SUITE_MAIN("solve/certificate_contacts", case_contacts)
