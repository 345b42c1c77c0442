// SPDX-License-Identifier: MIT
// Islands: what is on one does not feel what is on another, not by a bit, and a large one is the
// same on any number of lanes.
#include "solve/judge.h"
#include "solve/mdp/mdp.h"
#include "solve/solver.h"

#include "support/crew.h"
#include "support/problem_build.h"
#include "support/suite.h"

#include <string.h>

static const Sym3 ball_inertia = {0.004, 0.004, 0.004, 0.0, 0.0, 0.0};
static const Sym3 box_inertia = {0.01, 0.02, 0.03, 0.001, 0.0, 0.0};

// How sweeps go: with all that was added, as the paper's, and as its blend of five parts an island.
typedef enum Way { WAY_ACCELERATED, WAY_PLAIN, WAY_BLEND, WAY_COUNT } Way;

static SolverSettings settings_of(Way way, double max_iterations) {
    SolverSettings settings = solver_solve_default(SOLVER_MDP);
    settings.parameter[MDP_METHOD] = MDP_GAUSS_SEIDEL;
    settings.parameter[MDP_MAX_ITERATIONS] = max_iterations;
    settings.parameter[MDP_ACCELERATION] = way == WAY_ACCELERATED;
    settings.parameter[MDP_PARTITIONS] = way == WAY_BLEND ? 5.0 : 1.0;
    return settings;
}

static SolveResult solve_so(Way way, const ContactProblem *problem, double max_iterations,
                            const Tasks *tasks, Arena *arena) {
    SolverSettings settings = settings_of(way, max_iterations);
    const Context context = {.tasks = tasks};
    SolveResult result;
    Error error = {0};
    ck_assert_msg(solver_solve(&settings, problem, &context, arena, &result, &error) == STATUS_OK,
                  "%s", error.message);
    return result;
}

static SolveResult solve(const ContactProblem *problem, double max_iterations, const Tasks *tasks,
                         Arena *arena) {
    return solve_so(WAY_ACCELERATED, problem, max_iterations, tasks, arena);
}

// ---- islands of many kinds

static void add_column(ProblemBuild *build, uint32_t count, double v_x) {
    for (uint32_t i = 0; i < count; i++) {
        const double v_free[6] = {i == 0 ? v_x : 0.0, 0.0, -0.0981, 0.0, 0.0, 0.0};
        uint32_t ball = problem_build_free(build, 1.0, ball_inertia, v_free);
        ProblemContact *contact = problem_build_contact(build, vec3(0.0, 0.0, 1.0), 0.4, 0.0);
        problem_build_side(contact, 0, i == 0 ? PROBLEM_NO_TREE : ball - 1, vec3(0.0, 0.0, 0.1));
        problem_build_side(contact, 1, ball, vec3(0.0, 0.0, -0.1));
    }
}

static void add_tower(ProblemBuild *build, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        const double v_free[6] = {0.01, 0.0, -0.0981, 0.0, 0.0, 0.0};
        uint32_t box = problem_build_free(build, 1.0, box_inertia, v_free);
        for (int corner = 0; corner < 4; corner++) {
            double x = corner % 2 == 0 ? -0.1 : 0.1, y = corner / 2 == 0 ? -0.1 : 0.1;
            ProblemContact *contact = problem_build_contact(build, vec3(0.0, 0.0, 1.0), 0.5, 0.0);
            problem_build_side(contact, 0, i == 0 ? PROBLEM_NO_TREE : box - 1, vec3(x, y, 0.1));
            problem_build_side(contact, 1, box, vec3(x, y, -0.1));
        }
    }
}

static void add_row(ProblemBuild *build, uint32_t a, uint32_t b, double bias, uint64_t *state) {
    double jacobian[12];
    for (int k = 0; k < 12; k++) {
        jacobian[k] = problem_build_random(state);
    }
    problem_build_row(build, -HUGE_VAL, HUGE_VAL, bias);
    problem_build_block(build, a, jacobian);
    problem_build_block(build, b, jacobian + 6);
}

// Painleve's paradox, held fast: nothing solves it (check_mdp.c)
static void add_paradox(ProblemBuild *build) {
    const double mass = 1.0, v_free = -1.0, up[3] = {1.0, 4.0, 0.0}, down[3] = {-1.0, 4.0, 0.0};
    uint32_t tree = problem_build_dense(build, 1, &mass, &v_free);
    for (int i = 0; i < 2; i++) {
        ProblemContact *contact = problem_build_contact(build, vec3(0.0, 0.0, 1.0), 0.9, -0.1);
        problem_build_dense_side(build, contact, 1, tree, i == 0 ? up : down);
    }
}

// friction of which no sweep makes much
static void add_steep_contact(ProblemBuild *build, uint32_t a, uint32_t b, uint64_t *state) {
    double x = problem_build_random(state), y = problem_build_random(state);
    Vec3 n = vec3(x, y, 1.0);
    n = vec3_scale(1.0 / vec3_norm(n), n);
    ProblemContact *contact = problem_build_contact(build, n, 5.0, -0.1);
    problem_build_side(contact, 0, a, vec3(y, x, 0.3));
    problem_build_side(contact, 1, b, vec3(-x, y, -0.3));
}

static void add_steep_heap(ProblemBuild *build, uint64_t seed) {
    uint32_t first = build->problem.tree_count;
    problem_build_random_bodies(build, &seed, 5, 0);
    for (uint32_t i = 0; i < 20; i++) {
        add_steep_contact(build, first + i % 5, first + (i + 2) % 5, &seed);
    }
}

enum { KINDS = 7, SWEEP_MAX = 300 };

static void add_kind(ProblemBuild *build, int kind) {
    uint64_t state = 31;
    switch (kind) {
    case 0:
        add_column(build, 1, 0.0);
        break;
    case 1:
        add_column(build, 9, 2.0);
        break;
    case 2:
        add_tower(build, 5);
        break;
    case 3: // many sweeps
        problem_build_random_bodies(build, &state, 11, 50);
        break;
    case 4: // columns whose balls are tied together
        add_column(build, 4, 0.0);
        add_column(build, 4, 1.0);
        add_row(build, 1, 5, 0.1, &state);
        add_row(build, 3, 7, -0.2, &state);
        break;
    case 5:
        add_paradox(build);
        break;
    default: // nothing touches it
        add_column(build, 1, 1.0);
        build->problem.contact_count--;
        break;
    }
}

// ---- several problems in one

typedef struct Part {
    ProblemBuild build;
    uint32_t tree[PROBLEM_BUILD_TREES];       // where its trees are in the whole …
    uint32_t contact[PROBLEM_BUILD_CONTACTS]; // … its contacts …
    uint32_t row[PROBLEM_BUILD_ROWS];         // … and its rows
} Part;

static void merge_tree(Part *part, uint32_t i, ProblemBuild *whole) {
    const ContactProblem *from = &part->build.problem;
    const ProblemTree *tree = &from->tree[i];
    const double *v_free = from->v_free + tree->first;
    const FreeMass *free = &from->free[i];
    part->tree[i] =
        tree->is_free ? problem_build_free(whole, free->mass, free->inertia, v_free)
                      : problem_build_dense(whole, tree->width, from->number + tree->mass, v_free);
}

static void merge_contact(Part *part, uint32_t i, ProblemBuild *whole) {
    const ContactProblem *from = &part->build.problem;
    const ProblemContact *contact = &from->contact[i];
    ProblemContact *copy =
        problem_build_contact(whole, contact->normal, contact->mu, contact->bias);
    part->contact[i] = whole->problem.contact_count - 1;
    *copy = *contact;
    for (int s = 0; s < 2; s++) {
        const ContactSide *side = &contact->side[s];
        if (side->tree == PROBLEM_NO_TREE) {
            continue;
        }
        if (from->tree[side->tree].is_free) {
            copy->side[s].tree = part->tree[side->tree];
        } else {
            problem_build_dense_side(whole, copy, s, part->tree[side->tree],
                                     from->number + side->jacobian);
        }
    }
}

static void merge_row(Part *part, uint32_t i, ProblemBuild *whole) {
    const ContactProblem *from = &part->build.problem;
    const ProblemRow *row = &from->row[i];
    problem_build_row(whole, row->low, row->high, row->bias);
    part->row[i] = whole->problem.row_count - 1;
    for (uint32_t b = 0; b < row->block_count; b++) {
        const RowBlock *block = &from->row_block[row->block_first + b];
        problem_build_block(whole, part->tree[block->tree], from->number + block->jacobian);
    }
}

// All parts in one problem, their trees, contacts and rows in turns, beginning with part `first`.
static void merge(Part *part, int count, int first, ProblemBuild *whole) {
    bool is_any = true;
    for (uint32_t i = 0; is_any; i++) {
        is_any = false;
        for (int k = 0; k < count; k++) {
            Part *of = &part[(first + k) % count];
            if (i < of->build.problem.tree_count) {
                merge_tree(of, i, whole);
                is_any = true;
            }
        }
    }
    for (uint32_t i = 0; i < PROBLEM_BUILD_CONTACTS; i++) {
        for (int k = 0; k < count; k++) {
            Part *of = &part[(first + count - k) % count];
            if (i < of->build.problem.contact_count) {
                merge_contact(of, i, whole);
            }
            if (i < of->build.problem.row_count) {
                merge_row(of, i, whole);
            }
        }
    }
}

static void check_part(const Part *part, const SolveResult *single, const SolveResult *result,
                       const ContactProblem *whole, int kind) {
    const ContactProblem *problem = &part->build.problem;
    for (uint32_t i = 0; i < problem->tree_count; i++) {
        const ProblemTree *tree = &problem->tree[i];
        ck_assert_msg(memcmp(single->answer.v + tree->first,
                             result->answer.v + whole->tree[part->tree[i]].first,
                             tree->width * sizeof(double)) == 0,
                      "tree %u of island %d moves otherwise than alone", i, kind);
    }
    for (uint32_t i = 0; i < problem->contact_count; i++) {
        ck_assert_mem_eq(single->answer.contact_impulse + (size_t)3 * i,
                         result->answer.contact_impulse + (size_t)3 * part->contact[i],
                         3 * sizeof(double));
    }
    for (uint32_t i = 0; i < problem->row_count; i++) {
        ck_assert_mem_eq(&single->answer.row_impulse[i], &result->answer.row_impulse[part->row[i]],
                         sizeof(double));
    }
}

static Part parts[KINDS];

START_TEST(islands_are_solved_as_if_they_were_alone) {
    Way way = (Way)(_i / KINDS);
    SolveResult single[KINDS];
    uint32_t iterations = 0, open = 0, fewest = UINT32_MAX;
    for (int k = 0; k < KINDS; k++) {
        problem_build_init(&parts[k].build);
        add_kind(&parts[k].build, k);
        single[k] = solve_so(way, &parts[k].build.problem, SWEEP_MAX, NULL, &parts[k].build.arena);
        uint32_t sweeps = single[k].iterations;
        iterations = sweeps > iterations ? sweeps : iterations;
        fewest = sweeps < fewest ? sweeps : fewest;
        open += single[k].certificate.islands_open;
    }
    // quiet ones, and one that never ends
    ck_assert_uint_le(fewest, 2);
    ck_assert_uint_ge(iterations, 60);
    ck_assert_uint_ge(open, 1);
    // without momentum one more does not come in time
    ck_assert_uint_le(open, way == WAY_ACCELERATED ? 2 : 3);
    ProblemBuild whole;
    problem_build_init(&whole);
    merge(parts, KINDS, _i % KINDS, &whole);
    SolveResult result = solve_so(way, &whole.problem, SWEEP_MAX, NULL, &whole.arena);
    ck_assert_uint_eq(result.iterations, iterations);
    ck_assert_uint_eq(result.certificate.islands_open, open);
    for (int k = 0; k < KINDS; k++) {
        check_part(&parts[k], &single[k], &result, &whole.problem, k);
        problem_build_deinit(&parts[k].build);
    }
    problem_build_deinit(&whole);
}
END_TEST

START_TEST(a_quiet_stack_does_not_pay_for_a_joint_far_away) {
    // the joint alone takes all sweeps that it may have
    enum { FEW = 12 };
    for (int k = 0; k < 2; k++) {
        problem_build_init(&parts[k].build);
    }
    add_tower(&parts[0].build, 5);
    add_kind(&parts[1].build, 4);
    SolveResult stack = solve(&parts[0].build.problem, FEW, NULL, &parts[0].build.arena);
    SolveResult joint = solve(&parts[1].build.problem, FEW, NULL, &parts[1].build.arena);
    ck_assert(stack.certificate.converged);
    ck_assert_uint_lt(stack.iterations, FEW);
    ck_assert(!joint.certificate.converged);
    ck_assert_uint_eq(joint.iterations, FEW);
    ProblemBuild whole;
    problem_build_init(&whole);
    merge(parts, 2, _i, &whole);
    SolveResult result = solve(&whole.problem, FEW, NULL, &whole.arena);
    ck_assert_uint_eq(result.certificate.islands, 2);
    ck_assert_uint_eq(result.certificate.islands_open, 1);
    ck_assert_int_eq(result.certificate.worst_tree, parts[1].tree[0]);
    check_part(&parts[0], &stack, &result, &whole.problem, 0);
    check_part(&parts[1], &joint, &result, &whole.problem, 1);
    for (int k = 0; k < 2; k++) {
        problem_build_deinit(&parts[k].build);
    }
    problem_build_deinit(&whole);
}
END_TEST

START_TEST(what_is_not_a_number_stays_on_its_island) {
    for (int k = 0; k < 3; k++) {
        problem_build_init(&parts[k].build);
        add_kind(&parts[k].build, k);
    }
    parts[1].build.v_free[2] = _i == 0 ? NAN : 1e200;
    SolveResult tower = solve(&parts[2].build.problem, SWEEP_MAX, NULL, &parts[2].build.arena);
    ProblemBuild whole;
    problem_build_init(&whole);
    merge(parts, 3, 0, &whole);
    SolveResult result = solve(&whole.problem, SWEEP_MAX, NULL, &whole.arena);
    ck_assert_uint_eq(result.certificate.islands_open, 1);
    check_part(&parts[2], &tower, &result, &whole.problem, 2);
    for (int k = 0; k < 3; k++) {
        problem_build_deinit(&parts[k].build);
    }
    problem_build_deinit(&whole);
}
END_TEST

START_TEST(more_sweeps_never_leave_a_worse_answer) {
    // problems that sweeps go about in: judged on the way, at these numbers of sweeps
    ProblemBuild build;
    problem_build_init(&build);
    add_paradox(&build);
    add_steep_heap(&build, 41 + (uint64_t)_i);
    double best = HUGE_VAL;
    for (uint32_t sweeps = 64; sweeps <= 4096; sweeps *= 2) {
        SolveResult result = solve(&build.problem, sweeps, NULL, &build.arena);
        ck_assert_double_le(result.certificate.entry[CERTIFICATE_OWN], best);
        best = result.certificate.entry[CERTIFICATE_OWN];
        ck_assert_double_le(result.certificate.entry[CERTIFICATE_MOM], 1e-14);
    }
    ck_assert_double_gt(best, 1e-6);
    problem_build_deinit(&build);
}
END_TEST

START_TEST(what_ran_away_from_its_start_is_not_what_ends) {
    // the first sweep takes away what the start is wrong by, and more than any velocity there is
    const double warm[27] = {1e30};
    ProblemBuild build;
    problem_build_init(&build);
    add_column(&build, 9, 1.0);
    build.problem.warm_contact = warm;
    SolveResult result = solve(&build.problem, 100, NULL, &build.arena);
    ck_assert_uint_eq(result.iterations, 1);
    ck_assert_uint_eq(result.certificate.islands_open, 1);
    ck_assert_double_lt(result.certificate.entry[CERTIFICATE_OWN], 1e20);
    problem_build_deinit(&build);
}
END_TEST

START_TEST(what_cannot_be_swept_is_left_where_it_started) {
    // J M^-1 J^T is beyond all numbers, and so is what a sweep makes of it
    const double mass = 1.0, v_free = -1e-150, jacobian[3] = {1e200, 0.0, 0.0};
    ProblemBuild build;
    problem_build_init(&build);
    uint32_t tree = problem_build_dense(&build, 1, &mass, &v_free);
    ProblemContact *contact = problem_build_contact(&build, vec3(0.0, 0.0, 1.0), 0.5, 0.0);
    problem_build_dense_side(&build, contact, 1, tree, jacobian);
    add_column(&build, 3, 0.0);
    SolveResult result = solve(&build.problem, 100, NULL, &build.arena);
    ck_assert_uint_eq(result.certificate.islands_open, 1);
    ck_assert_double_eq(result.answer.contact_impulse[0], 0.0);
    ck_assert_double_eq(result.answer.v[0], v_free);
    problem_build_deinit(&build);
}
END_TEST

// ---- lanes

// What a large island is made of.
typedef enum Stuff { STUFF_BALLS, STUFF_BOXES, STUFF_ALL, STUFF_COUNT } Stuff;

enum { LARGE = 900 };

static void add_large_tree(ProblemBuild *build, Stuff stuff, uint32_t i, uint64_t *state) {
    double v_free[8], mass[64];
    for (int k = 0; k < 8; k++) {
        v_free[k] = 0.3 * problem_build_random(state);
    }
    if (stuff == STUFF_ALL && i % 11 == 3) {
        problem_build_random_mass(state, 8, 0.5, mass);
        problem_build_dense(build, 8, mass, v_free);
        return;
    }
    bool is_ball = stuff == STUFF_BALLS || (stuff == STUFF_ALL && i % 2 == 0);
    problem_build_free(build, 1.0 + 0.001 * i, is_ball ? ball_inertia : box_inertia, v_free);
}

static void add_large_side(ProblemBuild *build, ProblemContact *contact, int s, uint32_t tree,
                           Vec3 arm, uint64_t *state) {
    if (tree != PROBLEM_NO_TREE && !build->tree[tree].is_free) {
        double jacobian[24];
        for (int k = 0; k < 24; k++) {
            jacobian[k] = (k < 8 ? 1.0 : 0.4) * problem_build_random(state);
        }
        problem_build_dense_side(build, contact, s, tree, jacobian);
        return;
    }
    problem_build_side(contact, s, tree, arm);
}

// Contacts of one pair, or with the ground, that stand next to each other. Every ninth pair of
// balls is one unit of balls and points.
static void add_large_pair(ProblemBuild *build, Stuff stuff, uint32_t a, uint32_t b,
                           uint64_t *state) {
    uint32_t count = stuff == STUFF_BOXES ? 2 : b % 9 == 0 ? 3 : 1;
    for (uint32_t i = 0; i < count; i++) {
        double x = problem_build_random(state), y = problem_build_random(state);
        Vec3 n = vec3(x, y, 1.5);
        n = vec3_scale(1.0 / vec3_norm(n), n);
        Vec3 off =
            stuff == STUFF_BOXES || i == 1 ? vec3(0.05 * y, 0.0, 0.05 * x) : vec3(0.0, 0.0, 0.0);
        ProblemContact *contact = problem_build_contact(build, n, 0.3 + 0.2 * x, -0.01 * y);
        add_large_side(build, contact, 0, a, vec3_add(off, vec3_scale(0.1, n)), state);
        add_large_side(build, contact, 1, b, vec3_add(off, vec3_scale(-0.1, n)), state);
    }
}

// One large island, and small ones before, behind and between its trees.
static void build_large(ProblemBuild *build, Stuff stuff) {
    uint64_t state = 77;
    uint32_t large[LARGE];
    for (uint32_t i = 0; i < LARGE; i++) {
        if (i % 9 == 0) {
            add_column(build, 1, 0.1 * i); // a small one
        }
        large[i] = build->problem.tree_count;
        add_large_tree(build, stuff, i, &state);
    }
    static const uint32_t away[] = {1, 10, 31, 77};
    for (uint32_t i = 0; i < LARGE; i++) {
        if (i % 3 == 0) {
            add_large_pair(build, stuff, PROBLEM_NO_TREE, large[i], &state);
        }
        for (uint32_t k = 0; k < (stuff == STUFF_BOXES ? 2 : 4); k++) {
            add_large_pair(build, stuff, large[i], large[(i + away[k]) % LARGE], &state);
        }
    }
    for (uint32_t i = 0; i < 40 && stuff == STUFF_ALL; i++) {
        uint32_t a = large[22 * i], b = large[22 * i + 2]; // even ones: free, but for some
        if (build->tree[a].is_free && build->tree[b].is_free) {
            add_row(build, a, b, 0.01, &state);
        }
    }
}

static void assert_same(const ContactProblem *problem, const SolveResult *a, const SolveResult *b) {
    ck_assert_uint_eq(a->iterations, b->iterations);
    ck_assert_mem_eq(a->answer.v, b->answer.v, problem->velocity_count * sizeof(double));
    ck_assert_mem_eq(a->answer.contact_impulse, b->answer.contact_impulse,
                     (size_t)3 * problem->contact_count * sizeof(double));
    ck_assert_mem_eq(a->answer.row_impulse, b->answer.row_impulse,
                     problem->row_count * sizeof(double));
    ck_assert_mem_eq(a->certificate.entry, b->certificate.entry, sizeof(a->certificate.entry));
    ck_assert_int_eq(a->certificate.worst_contact, b->certificate.worst_contact);
    ck_assert_int_eq(a->certificate.worst_tree, b->certificate.worst_tree);
    ck_assert_uint_eq(a->certificate.islands_open, b->certificate.islands_open);
}

START_TEST(any_number_of_lanes_gives_the_bits_of_one) {
    static const uint32_t lanes[] = {1, 2, 3, 7};
    ProblemBuild build;
    problem_build_init(&build);
    Way way = (Way)(_i / STUFF_COUNT);
    build_large(&build, (Stuff)(_i % STUFF_COUNT));
    Islands islands;
    ck_assert_int_eq(islands_find(&build.problem, NULL, &build.arena, &islands, NULL), STATUS_OK);
    uint32_t pieces = 0;
    for (uint32_t i = 0; i < islands.share_count; i++) {
        pieces += islands.share[i].is_piece;
    }
    ck_assert_uint_gt(pieces, 4);
    ck_assert_uint_gt(islands.share_count, pieces);

    // cold, to the end of some sweeps, and on from there
    SolveResult one = solve_so(way, &build.problem, 25, NULL, &build.arena);
    ContactProblem warm = build.problem;
    warm.warm_contact = one.answer.contact_impulse;
    warm.warm_row = one.answer.row_impulse;
    SolveResult on = solve_so(way, &warm, 70, NULL, &build.arena);
    for (size_t i = 0; i < sizeof(lanes) / sizeof(lanes[0]); i++) {
        Crew *crew = crew_create(lanes[i], 100 + i);
        SolveResult several = solve_so(way, &build.problem, 25, crew_tasks(crew), &build.arena);
        assert_same(&build.problem, &one, &several);
        several = solve_so(way, &warm, 70, crew_tasks(crew), &build.arena);
        assert_same(&warm, &on, &several);
        crew_destroy(crew);
    }
    problem_build_deinit(&build);
}
END_TEST

START_TEST(many_small_islands_give_the_bits_of_one_lane) {
    // towers that need sweeps, aims and second judgements, in many shares
    ProblemBuild build;
    problem_build_init(&build);
    for (uint32_t i = 0; i < 120; i++) {
        add_tower(&build, 1 + i % 12);
        add_column(&build, 1 + i % 3, 0.1 * i);
    }
    SolveResult one = solve_so((Way)_i, &build.problem, 200, NULL, &build.arena);
    ck_assert_uint_gt(one.iterations, 10);
    for (uint32_t lanes = 1; lanes <= 7; lanes += 2) {
        Crew *crew = crew_create(lanes, lanes);
        SolveResult several =
            solve_so((Way)_i, &build.problem, 200, crew_tasks(crew), &build.arena);
        assert_same(&build.problem, &one, &several);
        crew_destroy(crew);
    }
    problem_build_deinit(&build);
}
END_TEST

// ---- history

// Islands go side by side while somebody looks, also where they are judged on the way, end badly
// or are large; the last number is the certificate's.
START_TEST(whoever_looks_changes_nothing) {
    enum { SWEEPS = 256 };
    ProblemBuild build;
    problem_build_init(&build);
    add_steep_heap(&build, 42);
    Way way = (Way)(_i / 2);
    for (int k = 0; k < KINDS && _i % 2 == 0; k++) {
        add_kind(&build, k);
    }
    if (_i % 2 == 1) {
        build_large(&build, STUFF_ALL);
    }
    SolveResult alone = solve_so(way, &build.problem, SWEEPS, NULL, &build.arena);
    double value[SWEEPS];
    IterationHistory history;
    history_init(&history, value, SWEEPS);
    SolverSettings settings = settings_of(way, SWEEPS);
    const Context context = {.history = &history};
    SolveResult watched;
    ck_assert_int_eq(
        solver_solve(&settings, &build.problem, &context, &build.arena, &watched, NULL), STATUS_OK);
    assert_same(&build.problem, &alone, &watched);
    ck_assert_uint_eq(history.count, alone.iterations);
    ck_assert(value[history.count - 1] == watched.certificate.entry[CERTIFICATE_OWN]);
    problem_build_deinit(&build);
}
END_TEST

// ---- stop

typedef struct Patience {
    uint32_t questions, most;
} Patience;

static bool has_lost_patience(void *context) {
    Patience *patience = context;
    return ++patience->questions > patience->most;
}

static Status solve_patiently(Way way, const ContactProblem *problem, uint32_t sweeps,
                              Patience *patience, Arena *arena, SolveResult *result) {
    SolverSettings settings = settings_of(way, sweeps);
    settings.parameter[MDP_TOLERANCE] = 1e-15;
    const Stop stop = {.asked = has_lost_patience, .context = patience};
    const Context context = {.stop = &stop};
    Error error;
    return solver_solve(&settings, problem, &context, arena, result, &error);
}

START_TEST(every_million_operations_it_is_asked_whether_to_stop) {
    ProblemBuild build;
    problem_build_init(&build);
    Way way = (Way)(_i / 2);
    if (_i % 2 == 0) {
        build_large(&build, STUFF_BOXES);
    } else {
        add_steep_heap(&build, 41);
    }
    Patience patience = {.most = UINT32_MAX};
    uint32_t sweeps = _i % 2 == 0 ? 100 : 20000;
    SolveResult result;
    ck_assert_int_eq(solve_patiently(way, &build.problem, sweeps, &patience, &build.arena, &result),
                     STATUS_OK);
    // a contact takes a hundred operations of a sweep
    double operations = 100.0 * result.iterations * build.problem.contact_count;
    ck_assert_double_ge(operations, 1e7);
    ck_assert_double_ge(patience.questions, 0.5e-6 * operations);
    // and given up when it is told to
    patience = (Patience){.most = 3};
    ck_assert_int_eq(solve_patiently(way, &build.problem, sweeps, &patience, &build.arena, &result),
                     STATUS_ABORTED);
    ck_assert_uint_eq(patience.questions, 4);
    problem_build_deinit(&build);
}
END_TEST

static TCase *case_islands(void) {
    TCase *tcase = tcase_create("islands");
    tcase_add_loop_test(tcase, islands_are_solved_as_if_they_were_alone, 0, KINDS * WAY_COUNT);
    tcase_add_loop_test(tcase, a_quiet_stack_does_not_pay_for_a_joint_far_away, 0, 2);
    tcase_add_loop_test(tcase, what_is_not_a_number_stays_on_its_island, 0, 2);
    tcase_add_loop_test(tcase, more_sweeps_never_leave_a_worse_answer, 0, 10);
    tcase_add_test(tcase, what_cannot_be_swept_is_left_where_it_started);
    tcase_add_test(tcase, what_ran_away_from_its_start_is_not_what_ends);
    return tcase;
}

static TCase *case_lanes(void) {
    TCase *tcase = tcase_create("lanes");
    tcase_add_loop_test(tcase, any_number_of_lanes_gives_the_bits_of_one, 0,
                        STUFF_COUNT * WAY_COUNT);
    tcase_add_loop_test(tcase, many_small_islands_give_the_bits_of_one_lane, 0, WAY_COUNT);
    tcase_add_loop_test(tcase, whoever_looks_changes_nothing, 0, 2 * WAY_COUNT);
    tcase_add_loop_test(tcase, every_million_operations_it_is_asked_whether_to_stop, 0,
                        2 * WAY_COUNT);
    return tcase;
}

SUITE_MAIN("solve/mdp_islands", case_islands, case_lanes)
