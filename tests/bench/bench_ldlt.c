// SPDX-License-Identifier: MIT
// The block-sparse LDLt of base/ beside CHOLMOD's simplicial one, on the matrices that Newton's
// method makes of contact problems: M + J^T H J of the largest island, H what a contact's own
// weight resists with. In turns, with CHOLMOD's own order and with ours; the sums of two solutions
// must agree. What is zero in a block of ours is not in the matrix that CHOLMOD gets.
#include "bench/bench.h"
#include "bench/child.h"
#include "bench/load.h"
#include "bench/peers/matrix_peer.h"
#include "solve/judge.h"
#include "solve/newton/island.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TURNS = 31, OURS = MATRIX_PEER_ORDERS };
#define NUMBERS_MAX ((size_t)1 << 28)
#define MEMORY_MAX  ((size_t)1 << 33)
#define AIM         1.2
// of the sums of two solutions, of matrices whose condition is 1e6 at most
#define AGREEMENT 1e-8

static const char *const problems[] = {"problems/pile-125", "problems/hard/heap-125-a",
                                       "problems/hard/pyramid-55-a"};
// after so many steps, when what falls has come together
static const struct {
    const char *name;
    int steps;
} scenes[] = {{"scenes/large/wall-525", 3}, {"scenes/large/pile-1000", 100}};

// One matrix: in our layout, and column by column.
typedef struct Matrix {
    const char *name;
    const NewtonIsland *island;
    LdltPlan plan;
    Ldlt ldlt;
    double plan_ns;
    uint64_t *first, *row, *order; // [size + 1], [count], [size]
    double *number;                // [count]
    uint64_t count;
} Matrix;

static void check(Status status, const Error *error) {
    if (status != STATUS_OK) {
        bench_fail("%s", error->message);
    }
}

// ---- the matrix

static void fill(Matrix *m) {
    const NewtonIsland *n = m->island;
    ldlt_clear(&m->ldlt);
    newton_begin_matrix(n, &m->ldlt);
    for (uint32_t i = 0; i < n->constraint_count; i++) {
        const NewtonConstraint *c = &n->constraint[i];
        double h[NEWTON_ROWS_MAX * NEWTON_ROWS_MAX] = {0.0};
        for (uint32_t k = 0; k < c->rows && c->w > 0.0; k++) {
            h[(size_t)(c->rows + 1) * k] = 1.0 / c->w;
        }
        newton_add_matrix(n, &m->ldlt, c, h);
    }
}

// Of an unknown in the order of elimination, which it is in the order of the graph.
static void list_order(Matrix *m) {
    const LdltPlan *plan = &m->plan;
    for (uint32_t i = 0; i < plan->graph.vertex_count; i++) {
        for (uint32_t k = plan->first[i]; k < plan->first[i + 1]; k++) {
            m->order[k] = plan->offset[plan->vertex[i]] + (k - plan->first[i]);
        }
    }
}

// One number of the matrix, given by places in the order of elimination.
typedef void Seen(Matrix *m, uint32_t row, uint32_t column, double number);

static void see_node(Matrix *m, const LdltNode *node, Seen *seen) {
    const LdltPlan *plan = &m->plan;
    for (uint32_t k = 0; k < node->columns; k++) {
        const double *column = m->ldlt.number + node->diagonal + (size_t)k * node->columns;
        for (uint32_t i = k; i < node->columns; i++) {
            seen(m, node->first + i, node->first + k, column[i]);
        }
        column = m->ldlt.number + node->lower + (size_t)k * node->rows;
        for (uint32_t b = 0; b < node->below_count; b++) {
            const LdltBelow *below = &plan->below[node->below + b];
            uint32_t from = plan->first[below->vertex], to = plan->first[below->vertex + 1];
            for (uint32_t i = from; i < to; i++) {
                seen(m, i, node->first + k, column[below->row + i - from]);
            }
        }
    }
}

static void see_all(Matrix *m, Seen *seen) {
    for (uint32_t i = 0; i < m->plan.node_count; i++) {
        see_node(m, &m->plan.node[i], seen);
    }
}

static void count_number(Matrix *m, uint32_t row, uint32_t column, double number) {
    uint64_t a = m->order[row], b = m->order[column];
    if (number != 0.0) {
        m->first[(a < b ? a : b) + 1]++;
        m->count++;
    }
}

// At the end of its column; `first` is then one column on.
static void put_number(Matrix *m, uint32_t row, uint32_t column, double number) {
    uint64_t a = m->order[row], b = m->order[column];
    if (number != 0.0) {
        uint64_t at = m->first[a < b ? a : b]++;
        m->row[at] = a < b ? b : a;
        m->number[at] = number;
    }
}

// Rows of a column ascending, by insertion: a column has some tens.
static void sort_column(Matrix *m, uint64_t begin, uint64_t end) {
    for (uint64_t i = begin + 1; i < end; i++) {
        uint64_t row = m->row[i], at = i;
        double number = m->number[i];
        for (; at > begin && m->row[at - 1] > row; at--) {
            m->row[at] = m->row[at - 1];
            m->number[at] = m->number[at - 1];
        }
        m->row[at] = row;
        m->number[at] = number;
    }
}

static void list_columns(Matrix *m) {
    size_t size = m->plan.size;
    m->order = bench_memory(size, sizeof(*m->order));
    m->first = bench_memory(size + 1, sizeof(*m->first));
    list_order(m);
    see_all(m, count_number);
    for (size_t i = 0; i < size; i++) {
        m->first[i + 1] += m->first[i];
    }
    m->row = bench_memory(m->count, sizeof(*m->row));
    m->number = bench_memory(m->count, sizeof(*m->number));
    see_all(m, put_number);
    memmove(m->first + 1, m->first, size * sizeof(*m->first));
    m->first[0] = 0;
    for (size_t i = 0; i < size; i++) {
        sort_column(m, m->first[i], m->first[i + 1]);
    }
}

static void matrix_init(Matrix *m, const char *name, const NewtonIsland *island, Arena *arena) {
    Error error = {0};
    *m = (Matrix){.name = name, .island = island};
    double begun = bench_cpu_ns();
    const LdltLimits limits = {NUMBERS_MAX, HUGE_VAL, NULL};
    check(ldlt_plan(&island->graph, limits, arena, &m->plan, &error), &error);
    m->plan_ns = bench_cpu_ns() - begun;
    check(ldlt_init(&m->ldlt, &m->plan, true, arena, &error), &error);
    fill(m);
    list_columns(m);
}

static void matrix_deinit(Matrix *m) {
    free(m->first);
    free(m->row);
    free(m->order);
    free(m->number);
}

// ---- turns

static MatrixPeerTurn turn_of_ours(Matrix *m, double *x) {
    fill(m);
    double begun = bench_cpu_ns();
    LdltOutcome outcome = ldlt_factor(&m->ldlt, NULL);
    MatrixPeerTurn turn = {.ns = bench_cpu_ns() - begun};
    if (outcome != LDLT_FINITE || m->ldlt.replaced > 0) {
        bench_fail("%s: a factor of ours is not finite, or not definite", m->name);
    }
    for (uint32_t i = 0; i < m->plan.size; i++) {
        x[i] = 1.0;
    }
    ldlt_solve(&m->ldlt, x);
    for (uint32_t i = 0; i < m->plan.size; i++) {
        turn.sum += x[i];
    }
    return turn;
}

static void read_all(const Child *child, void *to, size_t size) {
    if (fread(to, size, 1, child->from) != 1) {
        bench_fail("the peer of bench ldlt has ended");
    }
}

static void send_matrix(const Child *child, const Matrix *m) {
    const MatrixPeerSystem head = {
        .magic = MATRIX_PEER_MAGIC, .size = m->plan.size, .count = m->count};
    fwrite(&head, sizeof(head), 1, child->to);
    fwrite(m->first, sizeof(*m->first), m->plan.size + (size_t)1, child->to);
    fwrite(m->row, sizeof(*m->row), m->count, child->to);
    fwrite(m->number, sizeof(*m->number), m->count, child->to);
    fwrite(m->order, sizeof(*m->order), m->plan.size, child->to);
    fflush(child->to);
}

static MatrixPeerTurn turn_of_peer(const Child *child, MatrixPeerOrder order) {
    const uint64_t asked = order;
    MatrixPeerTurn turn;
    fwrite(&asked, sizeof(asked), 1, child->to);
    fflush(child->to);
    read_all(child, &turn, sizeof(turn));
    return turn;
}

static void compare_sums(const Matrix *m, double ours, double theirs) {
    if (!(fabs(ours - theirs) <= AGREEMENT * fabs(ours))) {
        bench_fail("%s: solutions differ, %.17g and the peer's %.17g", m->name, ours, theirs);
    }
}

// ---- rows

static void add(const BenchRun *run, const Matrix *m, const char *figure, BenchRow row,
                const char *peer, double peer_value) {
    snprintf(row.figure, sizeof(row.figure), "%s, %u unknowns: %s", strrchr(m->name, '/') + 1,
             m->plan.size, figure);
    row.peer = peer;
    row.peer_value = peer_value;
    bench_add(run, &row);
}

static void add_rows(const BenchRun *run, const Matrix *m, const double ns[OURS + 1],
                     const MatrixPeerAnswer *answer) {
    char own[64], ours[64];
    snprintf(own, sizeof(own), "%s, AMD", answer->name);
    snprintf(ours, sizeof(ours), "%s, our order", answer->name);
    BenchRow time = {.value = ns[OURS] * 1e-3, .unit = "us"}, aimed = time,
             numbers = {.value = (double)m->plan.fill, .unit = "numbers"};
    aimed.aim_kind = numbers.aim_kind = AIM_RATIO_MAX;
    aimed.aim = numbers.aim = AIM;
    add(run, m, "factor", aimed, own, ns[MATRIX_PEER_OWN] * 1e-3);
    add(run, m, "factor", time, ours, ns[MATRIX_PEER_OURS] * 1e-3);
    add(run, m, "fill", numbers, own, answer->fill[MATRIX_PEER_OWN]);
    numbers.aim_kind = AIM_NONE;
    add(run, m, "fill", numbers, ours, answer->fill[MATRIX_PEER_OURS]);
    time.value = m->plan_ns * 1e-3;
    add(run, m, "plan", time, own, answer->analyse_ns[MATRIX_PEER_OWN] * 1e-3);
}

static void measure(const BenchRun *run, Matrix *m, const char *program) {
    static double ns[OURS + 1][TURNS];
    Child child;
    child_start(&child, program, NULL);
    send_matrix(&child, m);
    MatrixPeerAnswer answer;
    read_all(&child, &answer, sizeof(answer));
    double *x = bench_memory(m->plan.size, sizeof(*x));
    for (int i = -1; i < TURNS; i++) { // the first warms up
        MatrixPeerTurn turn[OURS + 1] = {[OURS] = turn_of_ours(m, x)};
        for (int k = 0; k < MATRIX_PEER_ORDERS; k++) {
            turn[k] = turn_of_peer(&child, (MatrixPeerOrder)k);
            compare_sums(m, turn[OURS].sum, turn[k].sum);
        }
        for (int k = 0; k <= OURS && i >= 0; k++) {
            ns[k][i] = turn[k].ns;
        }
    }
    free(x);
    child_stop(&child);
    double median[OURS + 1];
    for (int k = 0; k <= OURS; k++) {
        median[k] = bench_percentile(ns[k], TURNS, 0.5);
    }
    add_rows(run, m, median, &answer);
}

// ---- contact problems

static void measure_problem(const BenchRun *run, const char *name, const ContactProblem *problem,
                            const char *program) {
    Arena arena;
    arena_init(&arena, MEMORY_MAX);
    Error error = {0};
    const Context context = {0};
    SolveResult result;
    Judge judge;
    check(
        judge_begin(&judge, problem, RELATION_CONE, 1e-6, false, &context, &arena, &result, &error),
        &error);
    check(judge_survey(&judge, NULL, NULL), &error);
    const Islands *islands = &judge.islands;
    uint32_t largest = 0;
    for (uint32_t i = 1; i < islands->count; i++) {
        bool is_larger = islands->tree_first[i + 1] - islands->tree_first[i] >
                         islands->tree_first[largest + 1] - islands->tree_first[largest];
        largest = is_larger ? i : largest;
    }
    NewtonIsland island;
    check(newton_island_init(&island, problem, &judge.mass, islands, largest, RELATION_CONE,
                             judge.scale.v_scale[largest], NULL, &arena, &error),
          &error);
    Matrix matrix;
    matrix_init(&matrix, name, &island, &arena);
    measure(run, &matrix, program);
    matrix_deinit(&matrix);
    arena_deinit(&arena);
}

static void make_path(const char *name, char path[LOAD_PATH_BYTES]) {
    snprintf(path, LOAD_PATH_BYTES, "%s/tests/%s.json", MOREAU_SOURCE_DIR, name);
}

void bench_ldlt(const BenchRun *run) {
    char program[CHILD_PATH_BYTES], path[LOAD_PATH_BYTES];
    if (!child_find("cholmod", program)) {
        fprintf(stderr, "  without bench ldlt: CHOLMOD was not there when it was built "
                        "(deploy/packages bench)\n");
        return;
    }
    for (size_t i = 0; i < sizeof(problems) / sizeof(problems[0]); i++) {
        LoadProblem loaded;
        make_path(problems[i], path);
        load_problem(path, &loaded);
        measure_problem(run, problems[i], &loaded.problem, program);
        load_problem_free(&loaded);
    }
    for (size_t i = 0; i < sizeof(scenes) / sizeof(scenes[0]); i++) {
        make_path(scenes[i].name, path);
        Scene scene = load_scene(path);
        for (int k = 0; k < scenes[i].steps; k++) {
            scene_step(&scene);
        }
        measure_problem(run, scenes[i].name, &scene.stepper->problem, program);
        scene_destroy(&scene);
    }
}
