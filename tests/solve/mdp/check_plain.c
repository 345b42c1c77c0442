// SPDX-License-Identifier: MIT
// Sweeps without acceleration, beside the same written out here: dense Jacobians, one vector of
// velocities for each part, nothing that is laid out for speed. Only the single block is the
// solver's, which solve/check_block.c judges.
#include "solve/dense/dense.h"
#include "solve/mdp/mdp.h"
#include "solve/block.h"
#include "solve/solver.h"

#include "support/problem_build.h"
#include "support/problem_file.h"
#include "support/suite.h"

#include <string.h>

// ---- the solver

typedef struct Setup {
    double sweeps, tolerance, parts, relaxation;
    MdpFriction friction;
} Setup;

static Status try_solve(const ContactProblem *problem, const Setup *setup, Arena *arena,
                        SolveResult *result) {
    SolverSettings settings = solver_solve_default(SOLVER_MDP);
    settings.parameter[MDP_METHOD] = MDP_GAUSS_SEIDEL;
    settings.parameter[MDP_ACCELERATION] = 0.0;
    settings.parameter[MDP_MAX_ITERATIONS] = setup->sweeps;
    settings.parameter[MDP_TOLERANCE] = setup->tolerance;
    settings.parameter[MDP_PARTITIONS] = setup->parts;
    settings.parameter[MDP_RELAXATION] = setup->relaxation;
    settings.parameter[MDP_FRICTION] = setup->friction;
    Error error;
    return solver_solve(&settings, problem, &(Context){0}, arena, result, &error);
}

static SolveResult solve(const ContactProblem *problem, const Setup *setup, Arena *arena) {
    SolveResult result;
    ck_assert_int_eq(try_solve(problem, setup, arena, &result), STATUS_OK);
    return result;
}

// ---- the same, written out

enum { JOINT_MAX = 6 };

// What is solved at once: a contact, or rows of a joint.
typedef struct Unit {
    uint32_t contact; // UINT32_MAX: rows
    uint32_t row[JOINT_MAX], count;
    uint32_t part;
} Unit;

typedef struct Slow {
    const ContactProblem *problem;
    Arena arena;
    double *jacobian, *response; // 3 per contact, then 1 per row; velocity_count numbers each
    Unit *unit;
    uint32_t unit_count, part_count;
    uint32_t *part_of_tree; // among all
    bool *is_cut;           // [parts] its island has others
    double *v, *copies;     // of each part
    double *impulse;        // 3 per contact, then 1 per row
} Slow;

static double *row_of(const Slow *slow, double *rows, uint32_t contact, uint32_t k) {
    return rows + ((size_t)3 * contact + k) * slow->problem->velocity_count;
}

static uint32_t at_row(const Slow *slow, uint32_t row) {
    return 3 * slow->problem->contact_count + row;
}

static double dot(const double *a, const double *b, uint32_t count) {
    double sum = 0.0;
    for (uint32_t i = 0; i < count; i++) {
        sum += a[i] * b[i];
    }
    return sum;
}

// M^-1 p, tree by tree
static void solve_mass(const ContactProblem *problem, double *p) {
    double factor[64 * 64];
    for (uint32_t i = 0; i < problem->tree_count; i++) {
        const ProblemTree *tree = &problem->tree[i];
        ck_assert_uint_le(tree->width, 64);
        const double *block = tree->is_free ? NULL : problem->number + tree->mass;
        double body[36] = {0.0};
        if (tree->is_free) {
            const FreeMass *of = &problem->free[i];
            const double inertia[9] = {of->inertia.xx, of->inertia.xy, of->inertia.xz,
                                       of->inertia.xy, of->inertia.yy, of->inertia.yz,
                                       of->inertia.xz, of->inertia.yz, of->inertia.zz};
            for (size_t k = 0; k < 3; k++) {
                body[7 * k] = of->mass;
                memcpy(body + 6 * (k + 3) + 3, inertia + 3 * k, 3 * sizeof(double));
            }
            block = body;
        }
        ck_assert(dense_factor(tree->width, block, 0.0, factor));
        dense_solve(tree->width, factor, p + tree->first);
    }
}

static void fill_jacobians(Slow *slow) {
    const ContactProblem *problem = slow->problem;
    uint32_t width = problem->velocity_count;
    for (uint32_t i = 0; i < problem->contact_count; i++) {
        for (uint32_t k = 0; k < 3; k++) {
            const double unit[3] = {k == 0, k == 1, k == 2};
            problem_contact_momentum(problem, i, unit, row_of(slow, slow->jacobian, i, k));
        }
    }
    for (uint32_t i = 0; i < problem->row_count; i++) {
        problem_row_momentum(problem, i, 1.0, slow->jacobian + (size_t)at_row(slow, i) * width);
    }
    size_t rows = (size_t)3 * problem->contact_count + problem->row_count;
    memcpy(slow->response, slow->jacobian, rows * width * sizeof(double));
    for (size_t i = 0; i < rows; i++) {
        solve_mass(problem, slow->response + i * width);
    }
}

// The trees of a contact or a row; returns how many.
static uint32_t trees_of(const ContactProblem *problem, uint32_t contact, uint32_t row,
                         uint32_t tree[8]) {
    uint32_t count = 0;
    for (int s = 0; s < 2 && contact != UINT32_MAX; s++) {
        uint32_t of = problem->contact[contact].side[s].tree;
        if (of != PROBLEM_NO_TREE) {
            tree[count++] = of;
        }
    }
    for (uint32_t b = 0; contact == UINT32_MAX && b < problem->row[row].block_count; b++) {
        tree[count++] = problem->row_block[problem->row[row].block_first + b].tree;
    }
    return count;
}

// Puts what stands beside a tree behind the walk, in the order of contacts, then rows.
static void go_around(const ContactProblem *problem, uint32_t tree, bool *met, uint32_t *order,
                      uint32_t *count) {
    for (uint32_t i = 0; i < problem->contact_count + problem->row_count; i++) {
        bool is_row = i >= problem->contact_count;
        uint32_t of[8], trees = trees_of(problem, is_row ? UINT32_MAX : i,
                                         is_row ? i - problem->contact_count : 0, of);
        for (uint32_t k = 1; k < trees; k++) {
            // of a row, the first and each of the others
            uint32_t other = of[0] == tree ? of[k] : of[k] == tree ? of[0] : tree;
            if (!met[other]) {
                met[other] = true;
                order[(*count)++] = other;
            }
        }
    }
}

static void cut(Slow *slow, uint32_t parts_max) {
    const ContactProblem *problem = slow->problem;
    uint32_t trees = problem->tree_count;
    bool *met = arena_take_zeroed(&slow->arena, trees, sizeof(*met));
    uint32_t *order = arena_take_array(&slow->arena, trees, sizeof(*order));
    for (uint32_t first = 0; first < trees; first++) {
        if (met[first]) {
            continue;
        }
        uint32_t count = 1;
        met[first] = true;
        order[0] = first;
        for (uint32_t i = 0; i < count; i++) {
            go_around(problem, order[i], met, order, &count);
        }
        uint32_t parts = count < parts_max ? count : parts_max;
        for (uint32_t i = 0; i < count; i++) {
            slow->part_of_tree[order[i]] = slow->part_count + i * parts / count;
        }
        for (uint32_t i = 0; i < parts; i++) {
            slow->is_cut[slow->part_count++] = parts > 1;
        }
    }
}

static void add_unit(Slow *slow, Unit unit) {
    uint32_t tree[8];
    unit.part = UINT32_MAX;
    for (uint32_t r = 0; r < (unit.contact == UINT32_MAX ? unit.count : 1); r++) {
        uint32_t count = trees_of(slow->problem, unit.contact, unit.row[r], tree);
        for (uint32_t k = 0; k < count; k++) {
            uint32_t part = slow->part_of_tree[tree[k]];
            unit.part = part < unit.part ? part : unit.part;
        }
    }
    if (unit.part != UINT32_MAX) {
        slow->unit[slow->unit_count++] = unit;
    }
}

static bool is_bilateral(const ProblemRow *row) {
    return isinf(row->low) && isinf(row->high);
}

// Bilateral rows of a group together, six at most, then the others alone; then contacts.
static void add_units(Slow *slow) {
    const ContactProblem *problem = slow->problem;
    for (uint32_t begin = 0, end; begin < problem->row_count; begin = end) {
        Unit unit = {.contact = UINT32_MAX};
        end = begin + 1;
        while (end < problem->row_count && problem->row[begin].group != 0 &&
               problem->row[end].group == problem->row[begin].group) {
            end++;
        }
        for (uint32_t i = begin; i < end; i++) {
            if (is_bilateral(&problem->row[i])) {
                unit.row[unit.count++] = i;
            }
            if (unit.count == JOINT_MAX || (i + 1 == end && unit.count > 0)) {
                add_unit(slow, unit);
                unit.count = 0;
            }
        }
        for (uint32_t i = begin; i < end; i++) {
            if (!is_bilateral(&problem->row[i])) {
                add_unit(slow, (Unit){.contact = UINT32_MAX, .row = {i}, .count = 1});
            }
        }
    }
    for (uint32_t i = 0; i < problem->contact_count; i++) {
        add_unit(slow, (Unit){.contact = i});
    }
}

static void slow_init(Slow *slow, const ContactProblem *problem, uint32_t parts_max) {
    *slow = (Slow){.problem = problem};
    arena_init(&slow->arena, (size_t)1 << 29);
    Arena *arena = &slow->arena;
    size_t rows = (size_t)3 * problem->contact_count + problem->row_count,
           width = problem->velocity_count;
    slow->jacobian = arena_take_zeroed(arena, rows * width, sizeof(double));
    slow->response = arena_take_array(arena, rows * width, sizeof(double));
    slow->unit = arena_take_array(arena, rows, sizeof(*slow->unit));
    slow->part_of_tree = arena_take_array(arena, problem->tree_count, sizeof(uint32_t));
    slow->is_cut = arena_take_array(arena, problem->tree_count, sizeof(bool));
    slow->v = arena_take_array(arena, width, sizeof(double));
    slow->impulse = arena_take_zeroed(arena, rows, sizeof(double));
    fill_jacobians(slow);
    cut(slow, parts_max);
    add_units(slow);
    slow->copies = arena_take_array(arena, slow->part_count * width, sizeof(double));
    memcpy(slow->v, problem->v_free, width * sizeof(double));
    for (size_t i = 0; i < rows; i++) {
        size_t contacts = (size_t)3 * problem->contact_count;
        double start = i < contacts ? (problem->warm_contact ? problem->warm_contact[i] : 0.0)
                       : problem->warm_row ? problem->warm_row[i - contacts]
                                           : 0.0;
        slow->impulse[i] = start;
        for (size_t k = 0; k < width; k++) {
            slow->v[k] += slow->response[i * width + k] * start;
        }
    }
}

// The change of one impulse, on the velocities of a part.
static void push(const Slow *slow, uint32_t row, double change, double *v) {
    size_t width = slow->problem->velocity_count;
    for (size_t k = 0; k < width; k++) {
        v[k] += slow->response[row * width + k] * change;
    }
}

static double product(const Slow *slow, uint32_t row, const double *v) {
    uint32_t width = slow->problem->velocity_count;
    return dot(slow->jacobian + (size_t)row * width, v, width);
}

// mdp.md 1.1: a singular block is made regular
static MdpBlock block_of(const Slow *slow, uint32_t contact) {
    uint32_t width = slow->problem->velocity_count;
    double a[9], shifted[9], factor[9];
    for (uint32_t i = 0; i < 3; i++) {
        for (uint32_t k = 0; k < 3; k++) {
            a[3 * i + k] = dot(row_of(slow, slow->jacobian, contact, i),
                               row_of(slow, slow->response, contact, k), width);
        }
    }
    double w = (a[0] + a[4] + a[8]) / 3.0;
    memcpy(shifted, a, sizeof(a));
    for (int k = 0; k < 3; k++) {
        shifted[4 * k] -= 1e-10 * w;
    }
    double extra = dense_factor(3, shifted, 0.0, factor) ? 0.0 : 1e-9 * w;
    return (MdpBlock){a[0] + extra,
                      a[3],
                      a[6],
                      a[4] + extra,
                      a[7],
                      a[8] + extra,
                      slow->problem->contact[contact].mu};
}

static void do_contact(const Slow *slow, uint32_t contact, MdpFriction friction, double *v,
                       double x[3]) {
    const ProblemContact *c = &slow->problem->contact[contact];
    const double *z = slow->impulse + (size_t)3 * contact;
    MdpBlock a = block_of(slow, contact);
    double u[3];
    for (uint32_t k = 0; k < 3; k++) {
        u[k] = product(slow, 3 * contact + k, v) + c->motion[k] + (k == 0 ? c->bias : 0.0);
    }
    const double b[3] = {a.nn * z[0] + a.nt * z[1] + a.no * z[2] - u[0],
                         a.nt * z[0] + a.tt * z[1] + a.to * z[2] - u[1],
                         a.no * z[0] + a.to * z[1] + a.oo * z[2] - u[2]};
    if (friction == MDP_COULOMB) {
        mdp_block_coulomb(&a, b, x);
    } else {
        mdp_block_dissipation(&a, b, x);
    }
    for (uint32_t k = 0; k < 3; k++) {
        push(slow, 3 * contact + k, x[k] - z[k], v);
    }
}

static void do_rows(const Slow *slow, const Unit *unit, double *v, double x[JOINT_MAX]) {
    const ContactProblem *problem = slow->problem;
    uint32_t n = unit->count, width = problem->velocity_count;
    double block[JOINT_MAX * JOINT_MAX], factor[JOINT_MAX * JOINT_MAX];
    for (uint32_t i = 0; i < n; i++) {
        const ProblemRow *row = &problem->row[unit->row[i]];
        uint32_t at = at_row(slow, unit->row[i]);
        double compliance = row->has_compliance ? row->compliance : 0.0;
        for (uint32_t k = 0; k < n; k++) {
            block[n * i + k] =
                dot(slow->jacobian + (size_t)at * width,
                    slow->response + (size_t)at_row(slow, unit->row[k]) * width, width) +
                (i == k ? compliance : 0.0);
        }
        x[i] = product(slow, at, v) + row->bias + compliance * slow->impulse[at];
    }
    ck_assert(dense_factor(n, block, 0.0, factor));
    dense_solve(n, factor, x);
    for (uint32_t i = 0; i < n; i++) {
        const ProblemRow *row = &problem->row[unit->row[i]];
        uint32_t at = at_row(slow, unit->row[i]);
        x[i] = slow->impulse[at] - x[i];
        if (!is_bilateral(row)) {
            x[i] = x[i] < row->low ? row->low : x[i] > row->high ? row->high : x[i];
        }
        push(slow, at, x[i] - slow->impulse[at], v);
    }
}

static void slow_sweep(Slow *slow, MdpFriction friction, double relaxation) {
    size_t width = slow->problem->velocity_count;
    for (uint32_t p = 0; p < slow->part_count; p++) {
        memcpy(slow->copies + p * width, slow->v, width * sizeof(double));
    }
    for (uint32_t i = 0; i < slow->unit_count; i++) {
        const Unit *unit = &slow->unit[i];
        bool is_contact = unit->contact != UINT32_MAX;
        double x[JOINT_MAX], *v = slow->copies + unit->part * width;
        double share = slow->is_cut[unit->part] ? relaxation : 1.0;
        if (is_contact) {
            do_contact(slow, unit->contact, friction, v, x);
        } else {
            do_rows(slow, unit, v, x);
        }
        for (uint32_t k = 0; k < (is_contact ? 3 : unit->count); k++) {
            double *z =
                slow->impulse + (is_contact ? 3 * unit->contact + k : at_row(slow, unit->row[k]));
            *z += share * (x[k] - *z);
        }
    }
    for (size_t k = 0; k < width; k++) {
        double sum = 0.0;
        for (uint32_t p = 0; p < slow->part_count; p++) {
            double share = slow->is_cut[p] ? relaxation : 1.0;
            sum += share * (slow->copies[p * width + k] - slow->v[k]);
        }
        slow->v[k] += sum;
    }
}

static void slow_deinit(Slow *slow) {
    arena_deinit(&slow->arena);
}

// ---- beside each other

typedef struct Blend {
    double sweeps, parts, relaxation;
} Blend;

static const Blend blends[] = {{1.0, 1.0, 0.75}, {5.0, 1.0, 0.75}, {1.0, 2.0, 0.75},
                               {5.0, 3.0, 0.75}, {3.0, 7.0, 0.5},  {4.0, 1e6, 1.0}};
enum { BLEND_COUNT = sizeof(blends) / sizeof(blends[0]) };

static void compare(const ContactProblem *problem, const Setup *setup, const char *name) {
    Slow slow;
    Arena arena;
    arena_init(&arena, (size_t)1 << 29);
    slow_init(&slow, problem, (uint32_t)setup->parts);
    for (int i = 0; i < (int)setup->sweeps; i++) {
        slow_sweep(&slow, setup->friction, setup->relaxation);
    }
    SolveResult result = solve(problem, setup, &arena);
    double away = 0.0, size = 0.0;
    for (uint32_t i = 0; i < problem->velocity_count; i++) {
        away = fmax(away, fabs(result.answer.v[i] - slow.v[i]));
        size = fmax(size, fabs(slow.v[i]));
    }
    // both round some hundred operations a sweep, and these few sweeps carry that no further
    ck_assert_msg(away <= 1e-13 * size, "%s: %g parts, %g sweeps: %g of %g away", name,
                  setup->parts, setup->sweeps, away, size);
    slow_deinit(&slow);
    arena_deinit(&arena);
}

static const char *const names[] = {
    "one-ball",         "two-balls", "stack-3",      "random-0",  "random-3",
    "random-7",         "joint",     "limit-motor",  "trees",     "wedge",
    "mass-ratio-1e4",   "bodies",    "frictionless", "column-20", "ten-boxes",
    "ten-boxes-pushed", "pile-125"};
enum { NAME_COUNT = sizeof(names) / sizeof(names[0]) };

START_TEST(sweeps_are_those_that_are_written_out) {
    ProblemFile file;
    problem_file_open(&file, names[_i]);
    for (int k = 0; k < 2 * BLEND_COUNT; k++) {
        const Blend *blend = &blends[k / 2];
        const Setup setup = {blend->sweeps, 1e-15, blend->parts, blend->relaxation,
                             k % 2 == 0 ? MDP_MAXIMUM_DISSIPATION : MDP_COULOMB};
        compare(&file.problem, &setup, names[_i]);
    }
    problem_file_close(&file);
}
END_TEST

START_TEST(nothing_is_added_later_either) {
    // past the sweeps after which the accelerated way leaps, aims and is judged on the way
    ProblemFile file;
    problem_file_open(&file, _i % 2 == 0 ? "column-20" : "ten-boxes-pushed");
    Setup setup = {150.0, 1e-15, _i < 2 ? 1.0 : 4.0, 0.75, MDP_COULOMB};
    compare(&file.problem, &setup, "late");
    problem_file_close(&file);
}
END_TEST

START_TEST(it_goes_on_from_the_impulses_of_before) {
    ProblemFile file;
    Arena arena;
    arena_init(&arena, (size_t)1 << 28);
    problem_file_open(&file, _i % 2 == 0 ? "joint" : "ten-boxes-pushed");
    Setup setup = {8.0, 1e-15, _i < 2 ? 1.0 : 3.0, 0.75, MDP_COULOMB};
    SolveResult before = solve(&file.problem, &setup, &arena);
    file.problem.warm_contact = before.answer.contact_impulse;
    file.problem.warm_row = before.answer.row_impulse;
    compare(&file.problem, &setup, "warm");
    arena_deinit(&arena);
    problem_file_close(&file);
}
END_TEST

// ---- the reference

// S4: ten balls on each other, at rest
static void build_column(ProblemBuild *build) {
    const Sym3 inertia = {0.004, 0.004, 0.004, 0.0, 0.0, 0.0};
    const double v_free[6] = {0.0, 0.0, -0.00981, 0.0, 0.0, 0.0};
    problem_build_init(build);
    build->problem.time_step = 1e-3;
    for (uint32_t i = 0; i < 10; i++) {
        problem_build_free(build, 1.0, inertia, v_free);
        ProblemContact *contact = problem_build_contact(build, vec3(0.0, 0.0, 1.0), 0.4, 0.0);
        problem_build_side(contact, 0, i == 0 ? PROBLEM_NO_TREE : i - 1, vec3(0.0, 0.0, 0.1));
        problem_build_side(contact, 1, i, vec3(0.0, 0.0, -0.1));
    }
}

// The largest change of an impulse in the last of so many sweeps, over the largest impulse.
static double last_change(const ContactProblem *problem, double sweeps, Arena *arena,
                          SolveResult *last) {
    Setup setup = {sweeps, 1e-15, 1.0, 0.75, MDP_COULOMB};
    *last = solve(problem, &setup, arena);
    setup.sweeps = sweeps - 1.0;
    SolveResult before = solve(problem, &setup, arena);
    double change = 0.0, most = 0.0;
    for (uint32_t i = 0; i < 3 * problem->contact_count; i++) {
        double impulse = last->answer.contact_impulse[i];
        change = fmax(change, fabs(impulse - before.answer.contact_impulse[i]));
        most = fmax(most, fabs(impulse));
    }
    return change / most;
}

START_TEST(s4_a_column_takes_the_sweeps_of_the_reference) {
    json_t *root = problem_file_reference("mdp");
    const json_t *s4 = json_object_get(json_object_get(root, "time_stepping"), "S4_column");
    const char *tolerance_text;
    json_t *sweeps;
    ProblemBuild build;
    Arena arena;
    arena_init(&arena, (size_t)1 << 28);
    build_column(&build);
    int found = 0;
    json_object_foreach(json_object_get(s4, "sweeps"), tolerance_text, sweeps) {
        double tolerance = strtod(tolerance_text, NULL), count = json_number_value(sweeps);
        SolveResult last;
        ck_assert_double_gt(last_change(&build.problem, count - 1.0, &arena, &last), tolerance);
        ck_assert_double_le(last_change(&build.problem, count, &arena, &last), tolerance);
        for (int k = 0; k < 10 && tolerance <= 1e-12; k++) {
            double wanted =
                json_number_value(json_array_get(json_object_get(s4, "lambda_n"), (size_t)k));
            ck_assert_double_eq_tol(last.answer.contact_impulse[3 * k], wanted,
                                    json_number_value(json_object_get(s4, "tol_abs")));
        }
        found++;
    }
    ck_assert_int_eq(found, 3);
    problem_build_deinit(&build);
    arena_deinit(&arena);
    json_decref(root);
}
END_TEST

START_TEST(blends_come_to_the_answer) {
    // along a column a ball is of two parts at most, where Jacobi with this relaxation contracts
    ProblemFile file;
    Arena arena;
    arena_init(&arena, (size_t)1 << 28);
    problem_file_open(&file, "column-20");
    Setup setup = {1e5, 1e-9, (double)(1 << _i), 0.75, MDP_COULOMB};
    SolveResult result = solve(&file.problem, &setup, &arena);
    ck_assert(result.certificate.converged);
    setup.parts = 1.0;
    SolveResult alone = solve(&file.problem, &setup, &arena);
    // what another part does is felt a sweep later, and not whole
    ck_assert_uint_ge(result.iterations, alone.iterations);
    problem_file_close(&file);
    arena_deinit(&arena);
}
END_TEST

START_TEST(an_arena_of_any_size_ends_in_an_answer_or_an_error) {
    ProblemFile file;
    problem_file_open(&file, "joint");
    const Setup setup = {50.0, 1e-6, 3.0, 0.75, MDP_COULOMB};
    bool was_enough = false;
    int refusals = 0;
    for (size_t bytes = 0; bytes < 65536 && !was_enough; bytes += 192) {
        Arena arena;
        SolveResult result;
        arena_init(&arena, bytes);
        Status status = try_solve(&file.problem, &setup, &arena, &result);
        was_enough = status == STATUS_OK;
        refusals += status == STATUS_RESOURCE_EXHAUSTED;
        ck_assert(was_enough || status == STATUS_RESOURCE_EXHAUSTED);
        arena_deinit(&arena);
    }
    ck_assert(was_enough);
    ck_assert_int_gt(refusals, 20);
    problem_file_close(&file);
}
END_TEST

static TCase *case_sweeps(void) {
    TCase *tcase = tcase_create("sweeps");
    tcase_set_timeout(tcase, 120);
    tcase_add_loop_test(tcase, sweeps_are_those_that_are_written_out, 0, NAME_COUNT);
    tcase_add_loop_test(tcase, nothing_is_added_later_either, 0, 4);
    tcase_add_loop_test(tcase, it_goes_on_from_the_impulses_of_before, 0, 4);
    tcase_add_test(tcase, s4_a_column_takes_the_sweeps_of_the_reference);
    tcase_add_loop_test(tcase, blends_come_to_the_answer, 0, 5);
    tcase_add_test(tcase, an_arena_of_any_size_ends_in_an_answer_or_an_error);
    return tcase;
}

SUITE_MAIN("solve/mdp_plain", case_sweeps)
