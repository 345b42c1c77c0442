// SPDX-License-Identifier: MIT
#include "cli/problems/fclib.h"

#include "cli/base/memory.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// what a server takes
enum { WIDTH_MAX = 1024, NO_TREE = -1 };

// Coordinates, each in a tree, at a place in it.
typedef struct Trees {
    size_t coordinates, count;
    uint32_t *parent;       // while they are found
    uint32_t *tree, *place; // per coordinate
    uint32_t *width;        // per tree
    size_t *first;          // per tree: of its velocities
    double **factor;        // per tree: of its block, L L^T, width x width
} Trees;

static uint32_t find_root(uint32_t *parent, uint32_t at) {
    while (parent[at] != at) {
        parent[at] = parent[parent[at]];
        at = parent[at];
    }
    return at;
}

static void join(uint32_t *parent, uint32_t a, uint32_t b) {
    uint32_t x = find_root(parent, a), y = find_root(parent, b);
    parent[x < y ? y : x] = x < y ? x : y;
}

// A contact may touch two trees: of more, all but the first become one.
static void join_contacts(const FclibProblem *problem, uint32_t *parent) {
    const FclibMatrix *h = &problem->contact;
    int64_t(*seen)[2] = memory_take(problem->contact_count + 1, sizeof(*seen));
    for (size_t i = 0; i < problem->contact_count; i++) {
        seen[i][0] = seen[i][1] = NO_TREE;
    }
    for (size_t k = 0; k < h->count; k++) {
        int64_t *of = seen[h->column[k] / 3];
        if (of[0] == NO_TREE) {
            of[0] = h->row[k];
        } else if (find_root(parent, (uint32_t)of[0]) != find_root(parent, h->row[k])) {
            if (of[1] == NO_TREE) {
                of[1] = h->row[k];
            }
            join(parent, (uint32_t)of[1], h->row[k]);
        }
    }
    free(seen);
}

static void find_trees(const FclibProblem *problem, Trees *trees) {
    size_t n = trees->coordinates = problem->mass.rows;
    trees->parent = memory_take(n + 1, sizeof(uint32_t));
    trees->tree = memory_take(n + 1, sizeof(uint32_t));
    trees->place = memory_take(n + 1, sizeof(uint32_t));
    trees->width = memory_take(n + 1, sizeof(uint32_t));
    trees->first = memory_take(n + 1, sizeof(size_t));
    trees->factor = memory_take(n + 1, sizeof(double *));
    for (uint32_t i = 0; i < n; i++) {
        // the three components of a contact stay together
        trees->parent[i] = problem->is_reduced ? i - i % 3 : i;
    }
    for (size_t k = 0; k < problem->mass.count; k++) {
        join(trees->parent, problem->mass.row[k], problem->mass.column[k]);
    }
    join_contacts(problem, trees->parent);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t root = find_root(trees->parent, i); // comes before all others of its tree
        trees->tree[i] = root == i ? (uint32_t)trees->count++ : trees->tree[root];
        trees->place[i] = trees->width[trees->tree[i]]++;
    }
    for (size_t t = 1; t < trees->count; t++) {
        trees->first[t] = trees->first[t - 1] + trees->width[t - 1];
    }
}

static void free_trees(Trees *trees) {
    for (size_t t = 0; t < trees->count; t++) {
        free(trees->factor[t]);
    }
    free(trees->parent);
    free(trees->tree);
    free(trees->place);
    free(trees->width);
    free(trees->first);
    free(trees->factor);
}

// L of L L^T in place, row by row, zeros above; false where it is not positive definite.
static bool factor(double *matrix, size_t n) {
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j <= i; j++) {
            double sum = matrix[i * n + j];
            for (size_t k = 0; k < j; k++) {
                sum -= matrix[i * n + k] * matrix[j * n + k];
            }
            if (j < i) {
                matrix[i * n + j] = sum / matrix[j * n + j];
            } else if (sum > 0.0 && isfinite(sum)) {
                matrix[i * n + i] = sqrt(sum);
            } else {
                return false;
            }
        }
        memset(matrix + i * n + i + 1, 0, (n - i - 1) * sizeof(double));
    }
    return true;
}

static void solve_lower(const double *l, size_t n, double *x) {
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < i; k++) {
            x[i] -= l[i * n + k] * x[k];
        }
        x[i] /= l[i * n + i];
    }
}

static void solve_upper(const double *l, size_t n, double *x) {
    for (size_t i = n; i-- > 0;) {
        for (size_t k = i + 1; k < n; k++) {
            x[i] -= l[k * n + i] * x[k];
        }
        x[i] /= l[i * n + i];
    }
}

// Masses, their factors and free velocities. In the reduced form the mass is 1.
static bool make_trees(const FclibProblem *problem, Trees *trees, Moreau__V1__ContactProblem *m,
                       char message[FCLIB_MESSAGE_BYTES]) {
    size_t numbers = 0;
    for (size_t t = 0; t < trees->count; t++) {
        if (trees->width[t] > WIDTH_MAX) {
            snprintf(message, FCLIB_MESSAGE_BYTES,
                     "%u coordinates hang together in %s: a tree has at most %d velocities",
                     trees->width[t], problem->is_reduced ? "W" : "M and H", WIDTH_MAX);
            return false;
        }
        numbers += (size_t)trees->width[t] * trees->width[t];
    }
    m->tree_width = memory_take(trees->count + 1, sizeof(uint32_t));
    m->mass = memory_take(numbers + 1, sizeof(double));
    m->v_free = memory_take(trees->coordinates + 1, sizeof(double));
    m->n_tree_width = trees->count;
    m->n_mass = numbers;
    m->n_v_free = trees->coordinates;
    double **block = memory_take(trees->count + 1, sizeof(double *));
    for (size_t t = 0, at = 0; t < trees->count; t++) {
        size_t n = m->tree_width[t] = trees->width[t];
        trees->factor[t] = memory_take(n * n, sizeof(double));
        block[t] = m->mass + at;
        at += n * n;
    }
    for (size_t k = 0; k < problem->mass.count; k++) {
        uint32_t row = problem->mass.row[k], column = problem->mass.column[k], t = trees->tree[row];
        block[t][(size_t)trees->place[row] * trees->width[t] + trees->place[column]] +=
            problem->mass.value[k];
    }
    for (size_t i = 0; i < trees->coordinates; i++) {
        m->v_free[trees->first[trees->tree[i]] + trees->place[i]] = problem->force[i];
    }
    bool done = true;
    for (size_t t = 0; done && t < trees->count; t++) {
        size_t n = trees->width[t];
        memcpy(trees->factor[t], block[t], n * n * sizeof(double));
        done = factor(trees->factor[t], n);
        if (!done) {
            snprintf(message, FCLIB_MESSAGE_BYTES, "%s is not positive definite",
                     problem->is_reduced ? "W" : "M");
            break;
        }
        solve_lower(trees->factor[t], n, m->v_free + trees->first[t]);
        if (!problem->is_reduced) {
            solve_upper(trees->factor[t], n, m->v_free + trees->first[t]);
            continue;
        }
        for (size_t i = 0; i < n * n; i++) {
            block[t][i] = i % (n + 1) == 0 ? 1.0 : 0.0;
        }
    }
    free(block);
    return done;
}

// ---- contacts and rows

// The blocks of the columns of a matrix, `rows` columns each: which trees they touch, and where
// their numbers begin.
typedef struct Blocks {
    uint32_t *tree, *count;
    double *jacobian;
    size_t tree_count, number_count;
} Blocks;

// Entries in the order of their columns: where those of each begin.
static size_t *sort_columns(const FclibMatrix *matrix, size_t **order) {
    size_t *begin = memory_take(matrix->columns + 2, sizeof(size_t));
    *order = memory_take(matrix->count + 1, sizeof(size_t));
    for (size_t k = 0; k < matrix->count; k++) {
        begin[matrix->column[k] + 2]++;
    }
    for (size_t c = 2; c < matrix->columns + 2; c++) {
        begin[c] += begin[c - 1];
    }
    for (size_t k = 0; k < matrix->count; k++) {
        (*order)[begin[matrix->column[k] + 1]++] = k;
    }
    return begin;
}

// The block of a tree among those that a contact or row has so far, new where there is none.
static double *take_block(Blocks *blocks, size_t first, size_t *offset, const Trees *trees,
                          uint32_t tree, size_t rows) {
    for (size_t b = first; b < blocks->tree_count; b++) {
        if (blocks->tree[b] == tree) {
            return blocks->jacobian + offset[b - first];
        }
    }
    size_t numbers = rows * trees->width[tree], at = blocks->number_count;
    blocks->tree = memory_grow(blocks->tree, blocks->tree_count + 1, sizeof(uint32_t));
    blocks->jacobian = memory_grow(blocks->jacobian, at + numbers, sizeof(double));
    memset(blocks->jacobian + at, 0, numbers * sizeof(double));
    offset[blocks->tree_count - first] = at;
    blocks->tree[blocks->tree_count++] = tree;
    blocks->number_count += numbers;
    return blocks->jacobian + at;
}

// Columns of H in threes, or of G one by one. False where one touches nothing.
static bool make_blocks(const FclibMatrix *matrix, const Trees *trees, size_t rows,
                        Blocks *blocks) {
    size_t count = matrix->columns / rows, *order;
    size_t *begin = sort_columns(matrix, &order);
    size_t *offset = memory_take(trees->count + 1, sizeof(size_t));
    blocks->count = memory_take(count + 1, sizeof(uint32_t));
    bool done = true;
    for (size_t i = 0; i < count; i++) {
        size_t first = blocks->tree_count;
        for (size_t k = begin[rows * i]; k < begin[rows * (i + 1)]; k++) {
            size_t entry = order[k];
            uint32_t at = matrix->row[entry], tree = trees->tree[at];
            double *block = take_block(blocks, first, offset, trees, tree, rows);
            block[matrix->column[entry] % rows * trees->width[tree] + trees->place[at]] +=
                matrix->value[entry];
        }
        blocks->count[i] = (uint32_t)(blocks->tree_count - first);
        done = done && blocks->count[i] > 0;
    }
    free(begin);
    free(order);
    free(offset);
    return done;
}

// The contacts of W = L L^T: each has its rows of L.
static void make_reduced(const Trees *trees, size_t contacts, Blocks *blocks) {
    size_t numbers = 0;
    for (size_t i = 0; i < contacts; i++) {
        numbers += 3 * (size_t)trees->width[trees->tree[3 * i]];
    }
    blocks->tree = memory_take(contacts + 1, sizeof(uint32_t));
    blocks->count = memory_take(contacts + 1, sizeof(uint32_t));
    blocks->jacobian = memory_take(numbers + 1, sizeof(double));
    for (size_t i = 0; i < contacts; i++) {
        uint32_t tree = trees->tree[3 * i];
        size_t width = trees->width[tree];
        memcpy(blocks->jacobian + blocks->number_count,
               trees->factor[tree] + trees->place[3 * i] * width, 3 * width * sizeof(double));
        blocks->number_count += 3 * width;
        blocks->tree[blocks->tree_count++] = tree;
        blocks->count[i] = 1;
    }
}

static double *copy_numbers(const double *numbers, size_t count) {
    double *copy = memory_take(count + 1, sizeof(double));
    if (count > 0) {
        memcpy(copy, numbers, count * sizeof(double));
    }
    return copy;
}

static bool make_contacts(const FclibProblem *problem, const Trees *trees,
                          Moreau__V1__ContactProblem *m, char message[FCLIB_MESSAGE_BYTES]) {
    size_t n = problem->contact_count;
    Blocks blocks = {0};
    bool done = true;
    if (problem->is_reduced) {
        make_reduced(trees, n, &blocks);
    } else {
        done = make_blocks(&problem->contact, trees, 3, &blocks);
        m->n_contact_motion = 3 * n;
        m->contact_motion = copy_numbers(problem->motion, 3 * n);
    }
    m->n_contact_mu = n;
    m->contact_mu = copy_numbers(problem->mu, n);
    m->n_contact_block_count = n;
    m->contact_block_count = blocks.count;
    m->n_contact_block_tree = blocks.tree_count;
    m->contact_block_tree = blocks.tree;
    m->n_contact_jacobian = blocks.number_count;
    m->contact_jacobian = blocks.jacobian;
    if (!done) {
        snprintf(message, FCLIB_MESSAGE_BYTES, "a contact has no entry in H: it touches nothing");
    }
    return done;
}

// G^T v + b = 0, as velocity rows without bounds
static bool make_rows(const FclibProblem *problem, const Trees *trees,
                      Moreau__V1__ContactProblem *m, char message[FCLIB_MESSAGE_BYTES]) {
    size_t n = problem->row.columns;
    Blocks blocks = {0};
    bool done = make_blocks(&problem->row, trees, 1, &blocks);
    m->row_given = memory_take(n + 1, sizeof(uint32_t));
    for (size_t i = 0; i < n; i++) {
        m->row_given[i] = MOREAU__V1__CONTACT_PROBLEM__ROW_GIVEN__ROW_BIAS;
    }
    m->row_bias = copy_numbers(problem->bias, n);
    m->row_block_count = blocks.count;
    m->row_block_tree = blocks.tree;
    m->row_jacobian = blocks.jacobian;
    m->n_row_given = m->n_row_bias = m->n_row_block_count = n;
    m->n_row_block_tree = blocks.tree_count;
    m->n_row_jacobian = blocks.number_count;
    if (!done) {
        snprintf(message, FCLIB_MESSAGE_BYTES, "a column of G has no entry: it holds nothing");
    }
    return done;
}

Moreau__V1__ContactProblem *fclib_convert(const FclibProblem *problem,
                                          char message[FCLIB_MESSAGE_BYTES]) {
    Moreau__V1__ContactProblem *m = memory_take(1, sizeof(*m));
    moreau__v1__contact_problem__init(m);
    m->has_time_step = 1;
    m->time_step = 1.0; // without gaps, no answer depends on it
    Trees trees = {0};
    find_trees(problem, &trees);
    bool done = make_trees(problem, &trees, m, message) &&
                make_contacts(problem, &trees, m, message) &&
                (problem->row.columns == 0 || make_rows(problem, &trees, m, message));
    free_trees(&trees);
    if (!done) {
        moreau__v1__contact_problem__free_unpacked(m, NULL);
        return NULL;
    }
    return m;
}
