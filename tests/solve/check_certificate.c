// SPDX-License-Identifier: MIT
#include "solve/certificate.h"
#include "solve/solver.h"

#include "solve/certificate_relation.h"
#include "support/problem_build.h"
#include "support/problem_file.h"
#include "support/suite.h"

#include <string.h>

// A problem with an answer, both by hand, ready to be measured.
typedef struct Judged {
    ProblemBuild build;
    Answer answer;
    ContactRelation contact[PROBLEM_BUILD_CONTACTS];
    RowRelation row[PROBLEM_BUILD_ROWS];
    double v[PROBLEM_BUILD_TREES * 6];
    double momentum[PROBLEM_BUILD_TREES * 6];
    double contact_impulse[3 * PROBLEM_BUILD_CONTACTS];
    double row_impulse[PROBLEM_BUILD_ROWS];
    double residual[PROBLEM_BUILD_CONTACTS];
    Islands islands;
    double v_scale[PROBLEM_BUILD_TREES];
    CertificateScale scale;
    Certificate certificate;
} Judged;

static Judged *judged_create(RelationKind relation) {
    Judged *judged = calloc(1, sizeof(*judged));
    ck_assert_ptr_nonnull(judged);
    problem_build_init(&judged->build);
    judged->answer = (Answer){.relation = relation,
                              .v = judged->v,
                              .momentum = judged->momentum,
                              .contact_impulse = judged->contact_impulse,
                              .row_impulse = judged->row_impulse,
                              .contact = judged->contact,
                              .row = judged->row};
    return judged;
}

static void judged_destroy(Judged *judged) {
    problem_build_deinit(&judged->build);
    free(judged);
}

// the bias, bounds and s that exact Coulomb declares
static void declare(Judged *judged) {
    for (uint32_t i = 0; i < judged->build.problem.contact_count; i++) {
        judged->contact[i] = (ContactRelation){.bias = judged->build.contact[i].bias, .s = 1.0};
    }
    for (uint32_t i = 0; i < judged->build.problem.row_count; i++) {
        const ProblemRow *row = &judged->build.row[i];
        judged->row[i] = (RowRelation){
            .bias = row->bias, .compliance = row->compliance, .low = row->low, .high = row->high};
    }
}

// the velocities that belong to the impulses
static void follow(Judged *judged) {
    const ContactProblem *problem = &judged->build.problem;
    ProblemMass mass;
    ck_assert_int_eq(mass_init(&mass, problem, NULL, &judged->build.arena, NULL), STATUS_OK);
    memset(judged->v, 0, sizeof(judged->v));
    for (uint32_t i = 0; i < problem->contact_count; i++) {
        problem_contact_momentum(problem, i, judged->contact_impulse + (size_t)3 * i, judged->v);
    }
    for (uint32_t i = 0; i < problem->row_count; i++) {
        problem_row_momentum(problem, i, judged->row_impulse[i], judged->v);
    }
    mass_solve(&mass, judged->v);
    for (uint32_t i = 0; i < problem->velocity_count; i++) {
        judged->v[i] += problem->v_free[i];
    }
}

static void make_momentum(Judged *judged) {
    const ContactProblem *problem = &judged->build.problem;
    memset(judged->momentum, 0, sizeof(judged->momentum));
    for (uint32_t i = 0; i < problem->contact_count; i++) {
        problem_contact_momentum(problem, i, judged->contact_impulse + (size_t)3 * i,
                                 judged->momentum);
    }
    for (uint32_t i = 0; i < problem->row_count; i++) {
        problem_row_momentum(problem, i, judged->row_impulse[i], judged->momentum);
    }
}

static void make_scale(Judged *judged) {
    const ContactProblem *problem = &judged->build.problem;
    const Islands *islands = &judged->islands;
    for (uint32_t i = 0; i < islands->count; i++) {
        IslandRange range = islands_range(islands, i, i + 1);
        double most =
            certificate_scale_contacts(problem, islands, &judged->answer, range.contact_begin,
                                       range.contact_end, certificate_scale_least(problem));
        most = certificate_scale_rows(problem, islands, &judged->answer, range.row_begin,
                                      range.row_end, most);
        judged->v_scale[i] = most;
    }
    judged->scale = (CertificateScale){islands, judged->v_scale};
}

static const double *measure(Judged *judged) {
    const ContactProblem *problem = &judged->build.problem;
    Arena *arena = &judged->build.arena;
    ProblemMass mass;
    ck_assert_int_eq(islands_find(problem, NULL, arena, &judged->islands, NULL), STATUS_OK);
    ck_assert_int_eq(mass_init(&mass, problem, NULL, arena, NULL), STATUS_OK);
    double *scratch = arena_take_array(arena, mass.width_max, 3 * sizeof(double));
    for (uint32_t i = 0; i < problem->contact_count; i++) {
        mass_add_contact(&mass, i);
    }
    make_momentum(judged);
    make_scale(judged);
    const Islands *islands = &judged->islands;
    IslandMeasure whole[PROBLEM_BUILD_TREES];
    for (uint32_t i = 0; i < islands->count; i++) {
        whole[i] = certificate_measure_none();
    }
    CertificateMeasure m = {.problem = problem,
                            .mass = &mass,
                            .scale = &judged->scale,
                            .answer = &judged->answer,
                            .scratch = scratch,
                            .island = whole,
                            .residual = judged->residual};
    certificate_measure_contacts(&m, 0, islands->contact_first[islands->count]);
    certificate_measure_rows(&m, 0, islands->row_first[islands->count]);
    certificate_measure_trees(&m, 0, problem->tree_count);
    judged->certificate = certificate_of_islands(problem, &judged->scale, whole, 1e-6);
    return judged->certificate.entry;
}

static const Sym3 ball_inertia = {0.004, 0.004, 0.004, 0.0, 0.0, 0.0};

// a solid ball, 1 kg and 10 cm, that slides on the ground with velocity v along x
static uint32_t add_ball(Judged *judged, double v_x, double mu) {
    const double v_free[6] = {v_x, 0.0, -0.0981, 0.0, 0.0, 0.0};
    uint32_t tree = problem_build_free(&judged->build, 1.0, ball_inertia, v_free);
    ProblemContact *contact = problem_build_contact(&judged->build, vec3(0.0, 0.0, 1.0), mu, 0.0);
    contact->tangent[0] = vec3(1.0, 0.0, 0.0);
    contact->tangent[1] = vec3(0.0, 1.0, 0.0);
    problem_build_side(contact, 1, tree, vec3(0.0, 0.0, -0.1));
    return tree;
}

// What no solver is asked is answered as every one would: bits, certificate, and a zero's sign.
START_TEST(what_touches_nothing_is_certified_as_the_measure_does) {
    Judged *judged = judged_create(RELATION_DISSIPATION);
    uint64_t state = 7;
    for (int i = 0; i < _i; i++) {
        double v_free[6], mass[36];
        for (int k = 0; k < 6; k++) {
            v_free[k] = k == i ? -0.0 : problem_build_random(&state);
        }
        problem_build_random_mass(&state, 6, 0.1, mass);
        if (i % 2 == 0) {
            problem_build_free(&judged->build, 1.0 + i, ball_inertia, v_free);
        } else {
            problem_build_dense(&judged->build, 6, mass, v_free);
        }
    }
    ContactProblem *problem = &judged->build.problem;
    SolverSettings settings = solver_default(SOLVER_MDP);
    settings.parameter[SOLVER_TOLERANCE] = 1e-6;
    SolveResult result;
    ck_assert_int_eq(
        solver_solve(&settings, problem, &(Context){0}, &judged->build.arena, &result, NULL),
        STATUS_OK);
    ck_assert_uint_eq(result.iterations, 0);
    follow(judged);
    measure(judged);
    ck_assert_mem_eq(result.answer.v, judged->v, problem->velocity_count * sizeof(double));
    ck_assert_mem_eq(result.answer.momentum, judged->momentum,
                     problem->velocity_count * sizeof(double));
    const Certificate *a = &result.certificate, *b = &judged->certificate;
    ck_assert_mem_eq(a->entry, b->entry, sizeof(a->entry));
    ck_assert_mem_eq(a->velocity, b->velocity, sizeof(a->velocity));
    ck_assert_double_eq(a->scale, b->scale);
    ck_assert_double_eq(a->tolerance, b->tolerance);
    ck_assert_double_eq(a->penetration, b->penetration);
    ck_assert_int_eq(a->worst_contact, b->worst_contact);
    ck_assert_int_eq(a->worst_tree, b->worst_tree);
    ck_assert_uint_eq(a->islands, b->islands);
    ck_assert_uint_eq(a->islands_open, b->islands_open);
    ck_assert_int_eq(a->converged, b->converged);
    ck_assert(a->converged);
    judged_destroy(judged);
}
END_TEST

static void set_impulse(Judged *judged, uint32_t contact, double n, double t) {
    judged->contact_impulse[3 * contact] = n;
    judged->contact_impulse[3 * contact + 1] = t;
    judged->contact_impulse[3 * contact + 2] = 0.0;
}

// ---- reference numbers

static void build_dataset(Judged *judged, const json_t *set) {
    double inverse[24], v_free[24], gap[7], mu[7];
    static double jacobian[21 * 24];
    problem_file_numbers(json_object_get(set, "Minv_diag"), inverse, 24);
    problem_file_numbers(json_object_get(set, "vstar"), v_free, 24);
    problem_file_numbers(json_object_get(set, "phi0"), gap, 7);
    problem_file_numbers(json_object_get(set, "mu"), mu, 7);
    ck_assert_uint_eq(problem_file_numbers(json_object_get(set, "J"), jacobian, 504), 504);
    judged->build.problem.time_step = json_number_value(json_object_get(set, "h"));
    for (size_t tree = 0; tree < 4; tree++) {
        double mass[36] = {0.0};
        for (size_t k = 0; k < 6; k++) {
            mass[7 * k] = 1.0 / inverse[6 * tree + k];
        }
        problem_build_dense(&judged->build, 6, mass, v_free + 6 * tree);
    }
    for (size_t i = 0; i < 7; i++) {
        ProblemContact *contact = problem_build_contact(&judged->build, vec3(0.0, 0.0, 1.0), mu[i],
                                                        gap[i] / judged->build.problem.time_step);
        int side = 0;
        for (uint32_t tree = 0; tree < 4; tree++) {
            double block[18], size = 0.0;
            for (size_t k = 0; k < 18; k++) {
                block[k] = jacobian[(3 * i + k / 6) * 24 + (size_t)6 * tree + k % 6];
                size += fabs(block[k]);
            }
            if (size > 0.0) {
                ck_assert_int_lt(side, 2);
                problem_build_dense_side(&judged->build, contact, side++, tree, block);
            }
        }
    }
}

START_TEST(the_data_set_gives_its_numbers) {
    const bool is_exact = _i == 0;
    json_t *root = problem_file_reference("certificate");
    const json_t *set = json_object_get(json_object_get(root, "datasets"), "D3_dataset");
    Judged *judged = judged_create(RELATION_CONE);
    build_dataset(judged, set);
    declare(judged);
    for (int i = 0; i < 7; i++) {
        judged->contact[i].s = is_exact ? 1.0 : 0.0;
    }
    problem_file_numbers(json_object_get(set, is_exact ? "ncp_v" : "ccp_v"), judged->v, 24);
    problem_file_numbers(json_object_get(set, is_exact ? "ncp_gamma" : "ccp_gamma"),
                         judged->contact_impulse, 21);
    const json_t *expected = json_object_get(set, is_exact ? "ncp_certificate" : "ccp_certificate");
    const double *entry = measure(judged);
    // the numbers were written with all their digits: only rounding lies between
    const double tolerance = 1e-12;
#define X(upper, lower)                                                                            \
    if (CERTIFICATE_##upper != CERTIFICATE_ROW) {                                                  \
        const char *key = CERTIFICATE_##upper == CERTIFICATE_DS ? "e_DS" : #lower;                 \
        double value = json_number_value(json_object_get(expected, key));                          \
        ck_assert_msg(fabs(entry[CERTIFICATE_##upper] - value) <= tolerance, "%s: %g, not %g",     \
                      key, entry[CERTIFICATE_##upper], value);                                     \
    }
    CERTIFICATE_MAP(X)
#undef X
    double scale = json_number_value(json_object_get(set, "V"));
    ck_assert_double_eq_tol(judged->certificate.scale, scale, 1e-14 * scale);
    ck_assert(judged->certificate.converged);
    judged_destroy(judged);
    json_decref(root);
}
END_TEST

START_TEST(a_relaxed_ball_is_told_from_an_exact_one) {
    json_t *root = problem_file_reference("certificate");
    const json_t *cases = json_object_get(root, "cases");
    const double v_0[2] = {2.0, 10.0}, mu[2] = {0.3, 0.2};
    int found = 0;
    for (size_t i = 0; i < json_array_size(cases); i++) {
        const json_t *item = json_array_get(cases, i);
        if (strcmp(json_string_value(json_object_get(item, "id")), "D2.ball") != 0) {
            continue;
        }
        double value[3];
        problem_file_numbers(json_object_get(item, "value"), value, 3);
        Judged *judged = judged_create(RELATION_CONE);
        add_ball(judged, v_0[found], mu[found]);
        declare(judged);
        judged->contact[0].s = 0.0;
        // the relaxed answer: v_z = gamma_n - g h, friction full
        double gamma = value[1] + 0.0981;
        set_impulse(judged, 0, gamma, -mu[found] * gamma);
        follow(judged);
        const double *entry = measure(judged);
        ck_assert_double_eq_tol(entry[CERTIFICATE_COMP], value[2], 1e-9);
        ck_assert_double_le(entry[CERTIFICATE_OWN], 1e-12);
        ck_assert_double_gt(entry[CERTIFICATE_DS], 0.01);
        // the exact answer fails the relaxed relation
        set_impulse(judged, 0, 0.0981, -mu[found] * 0.0981);
        follow(judged);
        measure(judged);
        ck_assert_double_le(entry[CERTIFICATE_DS], 1e-15);
        ck_assert_double_gt(entry[CERTIFICATE_OWN], 0.001);
        judged_destroy(judged);
        found++;
    }
    ck_assert_int_eq(found, 2);
    json_decref(root);
}
END_TEST

// ---- properties

START_TEST(islands_are_measured_by_their_own_scale) {
    Judged *judged = judged_create(RELATION_CONE);
    add_ball(judged, 10.0, 0.2);
    uint32_t slow = add_ball(judged, 0.0, 0.2);
    add_ball(judged, 0.5, 0.2);
    const double row[6] = {1.0};
    problem_build_row(&judged->build, -HUGE_VAL, HUGE_VAL, 0.0);
    problem_build_block(&judged->build, 0, row);
    problem_build_block(&judged->build, 2, row);
    declare(judged);
    set_impulse(judged, slow, 0.0981 - 1e-3, 0.0);
    follow(judged);
    const double *entry = measure(judged);
    // the row joins the first and the third ball
    ck_assert_uint_eq(judged->islands.count, 2);
    ck_assert_uint_eq(judged->certificate.islands, 2);
    // neither the row nor the slow ball is where it should be; the ball is worse, for its scale
    ck_assert_uint_eq(judged->certificate.islands_open, 2);
    // |J v*| of the row is 10.5, of the fast contact |(-0.0981, 10)|; the slow ball moves with g h
    ck_assert_double_eq_tol(judged->scale.v_scale[0], 10.5, 1e-15);
    ck_assert_double_eq_tol(judged->scale.v_scale[1], 0.0981, 1e-15);
    // its missing millinewtonsecond lets it sink by 1 mm/s: 1 % of its own scale
    ck_assert_double_eq_tol(judged->residual[slow], 1e-3 / 0.0981, 1e-12);
    ck_assert_double_ge(entry[CERTIFICATE_PEN], 1e-3 / 0.0981 - 1e-12);
    judged_destroy(judged);
}
END_TEST

START_TEST(momentum_that_does_not_add_up_is_seen) {
    Judged *judged = judged_create(RELATION_CONE);
    add_ball(judged, 2.0, 0.3);
    declare(judged);
    set_impulse(judged, 0, 0.0981, -0.3 * 0.0981);
    follow(judged);
    const double *entry = measure(judged);
    ck_assert_double_le(entry[CERTIFICATE_MOM], 1e-15);
    ck_assert(judged->certificate.converged);
    judged->v[1] += 1e-6;
    measure(judged);
    // 1e-6 m/s at 1 kg, against |M (v - v*)| with its spin
    double spin = 0.3 * 0.0981 * 0.1 / 0.004;
    double size = sqrt(0.0981 * 0.0981 * (1.0 + 0.09) + 0.004 * spin * spin);
    ck_assert_double_eq_tol(entry[CERTIFICATE_MOM], 1e-6 / size, 1e-10);
    ck_assert(!judged->certificate.converged);
    judged_destroy(judged);
}
END_TEST

START_TEST(an_impulse_outside_the_cone_is_seen) {
    Judged *judged = judged_create(RELATION_CONE);
    add_ball(judged, 2.0, 0.3);
    declare(judged);
    set_impulse(judged, 0, 1.0, -0.3 - 1e-9);
    follow(judged);
    const double *entry = measure(judged);
    ck_assert_double_eq_tol(entry[CERTIFICATE_CONE], 1e-9 / sqrt(1.09), 1e-14);
    set_impulse(judged, 0, -0.5, 0.0);
    measure(judged);
    // measured against max(|gamma|, V / w), and w = (1 + 2 * 3.5) / 3
    double v_over_w = judged->certificate.scale / (8.0 / 3.0);
    ck_assert_double_eq_tol(entry[CERTIFICATE_CONE], 0.5 / (v_over_w > 0.5 ? v_over_w : 0.5),
                            1e-14);
    judged_destroy(judged);
}
END_TEST

START_TEST(nothing_that_is_not_a_number_gets_lost) {
    Judged *judged = judged_create(RELATION_CONE);
    add_ball(judged, 2.0, 0.3);
    add_ball(judged, 0.0, 0.3);
    declare(judged);
    double *const place[] = {&judged->v[0],
                             &judged->contact_impulse[1],
                             &judged->v[11],
                             &judged->contact[0].bias,
                             &judged->build.v_free[2],
                             &judged->contact_impulse[0]};
    *place[_i] = _i == 1 || _i == 5 ? HUGE_VAL : NAN;
    const double *entry = measure(judged);
    bool all_finite = true;
    for (int k = 0; k < CERTIFICATE_ENTRY_COUNT; k++) {
        all_finite = all_finite && isfinite(entry[k]);
    }
    ck_assert(!all_finite || !isfinite(judged->certificate.scale));
    ck_assert(!judged->certificate.converged);
    judged_destroy(judged);
}
END_TEST

START_TEST(the_worst_contact_is_named) {
    Judged *judged = judged_create(RELATION_CONE);
    measure(judged);
    ck_assert_int_eq(judged->certificate.worst_contact, -1);
    ck_assert(judged->certificate.converged);
    for (int i = 0; i < 3; i++) {
        add_ball(judged, 0.0, 0.3);
    }
    declare(judged);
    for (uint32_t i = 0; i < 3; i++) {
        set_impulse(judged, i, 0.0981 * (i == 1 ? 0.5 : 1.0), 0.0);
    }
    judged->build.contact[2].gap = -0.003;
    follow(judged);
    measure(judged);
    ck_assert_int_eq(judged->certificate.worst_contact, 1);
    ck_assert_double_eq(judged->certificate.penetration, 0.003);
    judged->contact_impulse[6] = NAN;
    measure(judged);
    ck_assert_int_eq(judged->certificate.worst_contact, 2);
    judged_destroy(judged);
}
END_TEST

START_TEST(rows_of_three_kinds_are_measured) {
    Judged *judged = judged_create(RELATION_CONE);
    const double v_free[6] = {2.0, 0.0, 0.0, 0.0, 0.0, 0.0}, row[6] = {1.0};
    problem_build_free(&judged->build, 1.0, ball_inertia, v_free);
    problem_build_row(&judged->build, -HUGE_VAL, HUGE_VAL, 0.5);
    problem_build_block(&judged->build, 0, row);
    declare(judged);
    follow(judged);
    const double *entry = measure(judged);
    ck_assert_double_eq_tol(judged->certificate.velocity[CERTIFICATE_ROW], 2.5, 1e-15);
    ck_assert_double_eq_tol(entry[CERTIFICATE_OWN], 2.5 / 2.0, 1e-15);
    // a limit that opens has nothing to answer for
    judged->row[0].low = 0.0;
    measure(judged);
    ck_assert_double_eq(entry[CERTIFICATE_ROW], 0.0);
    // a motor that should push back with 0.3 N s
    judged->row[0] = (RowRelation){.bias = 0.5, .compliance = 0.0, .low = -0.3, .high = 0.3};
    measure(judged);
    ck_assert_double_eq_tol(judged->certificate.velocity[CERTIFICATE_ROW], 0.3, 1e-15);
    judged->row_impulse[0] = -0.3;
    follow(judged);
    measure(judged);
    ck_assert_double_eq(entry[CERTIFICATE_ROW], 0.0);
    // its own compliance: y = 2 + r + 0.5 + 2 r = 0 at r = -2.5/3
    judged->row[0] =
        (RowRelation){.bias = 0.5, .compliance = 2.0, .low = -HUGE_VAL, .high = HUGE_VAL};
    judged->row_impulse[0] = -2.5 / 3.0;
    follow(judged);
    measure(judged);
    ck_assert_double_le(entry[CERTIFICATE_ROW], 1e-15);
    judged_destroy(judged);
}
END_TEST

START_TEST(a_limit_scales_its_island_only_while_it_is_overrun) {
    const double bias[4] = {5.0, -5.0, 5.0, -5.0}, expected[4] = {0.0981, 5.0, 5.0, 0.0981};
    Judged *judged = judged_create(RELATION_CONE);
    const double v_free[6] = {0.0}, row[6] = {1.0};
    problem_build_free(&judged->build, 1.0, ball_inertia, v_free);
    bool is_lower = _i < 2;
    problem_build_row(&judged->build, is_lower ? 0.0 : -HUGE_VAL, is_lower ? HUGE_VAL : 0.0,
                      bias[_i]);
    problem_build_block(&judged->build, 0, row);
    declare(judged);
    measure(judged);
    ck_assert_double_eq_tol(judged->certificate.scale, expected[_i], 1e-15);
    judged_destroy(judged);
}
END_TEST

// ---- relations

// a ball that slides at 2 m/s along x after a step
static ContactState sliding_state(void) {
    return (ContactState){.block = {1.0, 0.0, 0.0, 0.0, 3.5, 0.0, 0.0, 0.0, 3.5},
                          .w = 8.0 / 3.0,
                          .c = 8.0 / 3.0,
                          .mu = 0.5,
                          .u = {0.0, 2.0, 0.0},
                          .gamma = {1.0, -0.5, 0.0}};
}

static double residual_under(RelationKind kind, const ContactRelation *relation,
                             const ContactState *state) {
    const Answer answer = {.relation = kind, .directions = 8};
    return relation_residual(&answer, relation, state, 0.01);
}

START_TEST(a_slide_satisfies_every_rigid_relation_and_a_push_breaks_it) {
    const RelationKind kinds[] = {RELATION_CONE, RELATION_DISSIPATION, RELATION_POLYHEDRAL,
                                  RELATION_LAGGED};
    RelationKind kind = kinds[_i];
    const ContactRelation relation = {.s = 1.0, .bound = 0.5};
    ContactState state = sliding_state();
    ck_assert_double_le(residual_under(kind, &relation, &state), 1e-15);
    state.gamma[1] = 0.5; // along the slip
    ck_assert_double_gt(residual_under(kind, &relation, &state), 0.1);
    state = sliding_state();
    state.gamma[0] = 0.9; // the cone is left
    state.u[0] = -0.1;    // and the contact sinks
    ck_assert_double_gt(residual_under(kind, &relation, &state), 0.05);
    state = sliding_state();
    state.u[2] = NAN;
    ck_assert(!isfinite(residual_under(kind, &relation, &state)));
}
END_TEST

START_TEST(the_polyhedral_relation_knows_its_corners) {
    const ContactRelation relation = {0};
    ContactState state = sliding_state();
    // slip at 20 degrees lies nearest the direction at 0: full friction along -x, as direction 4 of
    // 8 has it
    state.u[1] = cos(0.349);
    state.u[2] = sin(0.349);
    ck_assert_double_le(residual_under(RELATION_POLYHEDRAL, &relation, &state), 1e-15);
    // slip halfway between two directions: any mixture of the two may answer
    double half = 3.14159265358979323846 / 8.0;
    state.u[1] = cos(half);
    state.u[2] = sin(half);
    state.gamma[1] = -0.5 * (0.3 + 0.7 * sqrt(0.5));
    state.gamma[2] = -0.5 * 0.7 * sqrt(0.5);
    ck_assert_double_le(residual_under(RELATION_POLYHEDRAL, &relation, &state), 1e-15);
    // which exact Coulomb does not accept
    ck_assert_double_gt(residual_under(RELATION_CONE, &relation, &state), 0.01);
}
END_TEST

START_TEST(the_lagged_relation_bounds_friction_by_its_own_bound) {
    const ContactRelation relation = {
        .bound = 0.2, .tangent_compliance = 0.1, .normal_compliance = 0.5, .shift = 0.5};
    ContactState state = sliding_state();
    state.gamma[1] = -0.2;
    ck_assert_double_le(residual_under(RELATION_LAGGED, &relation, &state), 1e-15);
    // stick: u_t = -R_t gamma_t
    state.gamma[1] = -0.1;
    state.u[1] = 0.01;
    ck_assert_double_le(residual_under(RELATION_LAGGED, &relation, &state), 1e-15);
    state.gamma[1] = -0.3;
    ck_assert_double_gt(residual_under(RELATION_LAGGED, &relation, &state), 0.2);
}
END_TEST

START_TEST(the_program_relation_is_zero_at_its_optimum) {
    // inside the cone without gradient; the row is slack and has no multiplier
    ContactRelation relation = {.program_curvature = 2.0, .program_slack = 0.1};
    ContactState state = sliding_state();
    state.gamma[1] = -0.1;
    ck_assert_double_eq(residual_under(RELATION_PROGRAM, &relation, &state), 0.0);
    // h w |g / c| while the point stays inside
    relation.program_gradient[1] = 0.4;
    ck_assert_double_eq_tol(residual_under(RELATION_PROGRAM, &relation, &state),
                            0.01 * state.w * 0.4 / 2.0, 1e-15);
    relation.program_gradient[1] = 0.0;
    relation.program_multiplier = 0.6;
    ck_assert_double_eq_tol(residual_under(RELATION_PROGRAM, &relation, &state),
                            0.01 * state.w * 0.1, 1e-15);
}
END_TEST

START_TEST(dissipation_refuses_an_impulse_that_drives_the_contact_together) {
    // full friction against the slip, but a_n.gamma = 1 - 4 * 0.5 = -1: it pulls a contact shut
    // that opens by itself. N = (-1 + 0.5 * 4, 0) and u_t = -2 N, so that nothing else is wrong
    const ContactRelation relation = {0};
    ContactState state = {.block = {1.0, 4.0, 0.0, 4.0, 20.0, 0.0, 0.0, 0.0, 3.0},
                          .w = 8.0,
                          .c = 8.0,
                          .mu = 0.5,
                          .u = {0.0, -2.0, 0.0},
                          .gamma = {1.0, -0.5, 0.0}};
    ck_assert_double_eq_tol(residual_under(RELATION_DISSIPATION, &relation, &state), 1.0, 1e-15);
    state.block[1] = state.block[3] = 1.0;
    state.u[1] = 1.0; // N = (-0.5, 0), a_n.gamma = 0.5
    ck_assert_double_le(residual_under(RELATION_DISSIPATION, &relation, &state), 1e-15);
}
END_TEST

START_TEST(dissipation_tells_coulombs_other_solutions_from_its_own) {
    json_t *root = problem_file_reference("mdp");
    const json_t *table =
        json_object_get(json_object_get(root, "table1"), "table1_orthonormal_frame");
    const json_t *solutions = json_object_get(table, "solutions");
    ContactState state = {.mu = json_number_value(json_object_get(table, "mu"))};
    double b[3];
    problem_file_numbers(json_object_get(table, "A"), state.block, 9);
    problem_file_numbers(json_object_get(table, "b"), b, 3);
    state.c = state.w = (state.block[0] + state.block[4] + state.block[8]) / 3.0;
    const ContactRelation relation = {.s = 1.0};
    for (size_t i = 0; i < json_array_size(solutions); i++) {
        const json_t *solution = json_array_get(solutions, i);
        problem_file_numbers(json_object_get(solution, "x"), state.gamma, 3);
        for (size_t k = 0; k < 3; k++) {
            state.u[k] = state.block[3 * k] * state.gamma[0] +
                         state.block[3 * k + 1] * state.gamma[1] +
                         state.block[3 * k + 2] * state.gamma[2] - b[k];
        }
        bool is_dissipation =
            strcmp(json_string_value(json_object_get(solution, "kind")), "maxdiss") == 0;
        double own = residual_under(RELATION_DISSIPATION, &relation, &state);
        double coulomb = residual_under(RELATION_CONE, &relation, &state);
        // impulses of size 10 with 16 digits
        ck_assert_double_le(is_dissipation ? own : coulomb, 1e-13);
        ck_assert_double_gt(is_dissipation ? coulomb : own, 1e-4);
    }
    json_decref(root);
}
END_TEST

// ---- answers that have run away

// a ball between two walls that both push it with 3e18 N s, and ask it to leave with 26 m/s
START_TEST(what_has_run_away_does_not_hide_in_rounding) {
    Judged *judged = judged_create(RELATION_CONE);
    const double still[6] = {0.0}, there[6] = {1.0}, back[6] = {-1.0};
    const double *const push[2] = {there, back};
    uint32_t tree = problem_build_free(&judged->build, 1.0, ball_inertia, still);
    for (int k = 0; k < 2; k++) {
        if (_i == 0) {
            problem_build_row(&judged->build, 0.0, HUGE_VAL, -26.0);
            problem_build_block(&judged->build, tree, push[k]);
            judged->row_impulse[k] = 3e18;
        } else {
            ProblemContact *contact =
                problem_build_contact(&judged->build, vec3_load(push[k]), 0.3 * (_i - 1), -26.0);
            problem_build_side(contact, 1, tree, vec3_scale(-0.1, vec3_load(push[k])));
            judged->contact_impulse[3 * k] = 3e18;
        }
    }
    declare(judged);
    const double *entry = measure(judged);
    ck_assert_double_eq_tol(entry[CERTIFICATE_OWN], 1.0, 1e-7);
    ck_assert_double_eq_tol(entry[_i == 0 ? CERTIFICATE_ROW : CERTIFICATE_DS], 1.0, 1e-7);
    ck_assert(!judged->certificate.converged);
    judged_destroy(judged);
}
END_TEST

// A ball that slides rightly, pressed by 1e12 V from both sides, is not accused of rounding: the
// map looks at 1e8 V, which round to 1e8 2^-53 V, some operations long.
START_TEST(a_huge_impulse_is_judged_by_its_direction) {
    Judged *judged = judged_create(RELATION_CONE);
    add_ball(judged, 0.0, 0.5);
    const double v[6] = {0.8, 0.6, 0.0};
    memcpy(judged->build.v_free, v, sizeof(v));
    ProblemContact *above = problem_build_contact(&judged->build, vec3(0.0, 0.0, -1.0), 0.0, 0.0);
    problem_build_side(above, 1, 0, vec3(0.0, 0.0, 0.1));
    declare(judged);
    memcpy(judged->v, v, sizeof(v));
    const double impulse[6] = {1e12, -0.4e12, -0.3e12, 1e12};
    memcpy(judged->contact_impulse, impulse, sizeof(impulse));
    measure(judged);
    ck_assert_double_le(judged->residual[0], 1e-7);
    judged->v[0] = -0.8;
    measure(judged);
    ck_assert_double_gt(judged->residual[0], 0.1);
    judged_destroy(judged);
}
END_TEST

START_TEST(an_impulse_that_has_no_number_for_its_square_shows) {
    Judged *judged = judged_create(RELATION_CONE);
    add_ball(judged, 2.0, 0.3);
    declare(judged);
    set_impulse(judged, 0, 1e200, 0.0);
    const double *entry = measure(judged);
    ck_assert(!isfinite(entry[CERTIFICATE_DS]));
    ck_assert(!judged->certificate.converged);
    judged_destroy(judged);
}
END_TEST

static TCase *case_reference(void) {
    TCase *tcase = tcase_create("reference");
    tcase_add_loop_test(tcase, the_data_set_gives_its_numbers, 0, 2);
    tcase_add_test(tcase, a_relaxed_ball_is_told_from_an_exact_one);
    return tcase;
}

static TCase *case_measure(void) {
    TCase *tcase = tcase_create("measure");
    tcase_add_loop_test(tcase, what_touches_nothing_is_certified_as_the_measure_does, 0, 6);
    tcase_add_test(tcase, islands_are_measured_by_their_own_scale);
    tcase_add_test(tcase, momentum_that_does_not_add_up_is_seen);
    tcase_add_test(tcase, an_impulse_outside_the_cone_is_seen);
    tcase_add_loop_test(tcase, nothing_that_is_not_a_number_gets_lost, 0, 6);
    tcase_add_test(tcase, the_worst_contact_is_named);
    tcase_add_test(tcase, rows_of_three_kinds_are_measured);
    tcase_add_loop_test(tcase, a_limit_scales_its_island_only_while_it_is_overrun, 0, 4);
    return tcase;
}

static TCase *case_relation(void) {
    TCase *tcase = tcase_create("relation");
    tcase_add_loop_test(tcase, a_slide_satisfies_every_rigid_relation_and_a_push_breaks_it, 0, 4);
    tcase_add_test(tcase, the_polyhedral_relation_knows_its_corners);
    tcase_add_test(tcase, the_lagged_relation_bounds_friction_by_its_own_bound);
    tcase_add_test(tcase, the_program_relation_is_zero_at_its_optimum);
    tcase_add_test(tcase, dissipation_refuses_an_impulse_that_drives_the_contact_together);
    tcase_add_test(tcase, dissipation_tells_coulombs_other_solutions_from_its_own);
    return tcase;
}

static TCase *case_runaway(void) {
    TCase *tcase = tcase_create("runaway");
    tcase_add_loop_test(tcase, what_has_run_away_does_not_hide_in_rounding, 0, 3);
    tcase_add_test(tcase, a_huge_impulse_is_judged_by_its_direction);
    tcase_add_test(tcase, an_impulse_that_has_no_number_for_its_square_shows);
    return tcase;
}

SUITE_MAIN("solve/certificate", case_reference, case_measure, case_relation, case_runaway)
