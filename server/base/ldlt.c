// SPDX-License-Identifier: MIT
#include "base/ldlt.h"

#include "base/assert.h"
#include "base/ldlt_kernel.h"

#include <math.h>

// so many columns of a panel are finished one by one before the next are updated by all of them
enum { PANEL_COLUMNS = 8 };

static const double OPERATIONS_PER_QUESTION = 1e6;

static Status no_memory(Error *error) {
    return error_set(error, STATUS_RESOURCE_EXHAUSTED, NULL,
                     "The memory is too small for a sparse factorisation.");
}

static size_t whole_tiles(size_t rows) {
    return (rows + LDLT_KERNEL_SLACK - 1) / LDLT_KERNEL_SLACK * LDLT_KERNEL_SLACK;
}

Status ldlt_init(Ldlt *ldlt, const LdltPlan *plan, bool is_symmetric, Arena *arena, Error *error) {
    size_t count = plan->diagonal_count + plan->lower_count;
    count += is_symmetric ? 0 : plan->lower_count;
    // a product is of all rows with the columns of one later supernode, or beside a diagonal block
    size_t columns = plan->columns_max, product = whole_tiles(plan->rows_max) * columns;
    size_t longest = plan->rows_max > columns ? plan->rows_max : columns;
    size_t panel = whole_tiles(longest) * PANEL_COLUMNS;
    // an unscaled panel, or diagonal block, or that transposed, is kept beside it
    size_t beside = (size_t)plan->rows_max * columns, square = columns * columns;
    beside = beside > square ? beside : square;
    *ldlt = (Ldlt){
        .plan = plan,
        .is_symmetric = is_symmetric,
        .upper = is_symmetric ? 0 : plan->lower_count,
        .number_count = count,
        .number = arena_take_array(arena, count + LDLT_KERNEL_SLACK, sizeof(double)),
        .scale = arena_take_array(arena, plan->size, sizeof(double)),
        .pivot = arena_take_array(arena, plan->size, sizeof(uint32_t)),
        .product = arena_take_array(arena, product > panel ? product : panel, sizeof(double)),
        .beside = arena_take_array(arena, beside + LDLT_KERNEL_SLACK, sizeof(double)),
        .solution = arena_take_array(arena, (size_t)plan->size + plan->rows_max, sizeof(double))};
    if (ldlt->number == NULL || ldlt->scale == NULL || ldlt->pivot == NULL ||
        ldlt->product == NULL || ldlt->beside == NULL || ldlt->solution == NULL) {
        return no_memory(error);
    }
    // what is read beyond an end is not used, but has to be there
    memset(ldlt->number + count, 0, LDLT_KERNEL_SLACK * sizeof(double));
    memset(ldlt->beside, 0, (beside + LDLT_KERNEL_SLACK) * sizeof(double));
    return STATUS_OK;
}

// ---- the matrix

void ldlt_clear(Ldlt *ldlt) {
    memset(ldlt->number, 0, ldlt->number_count * sizeof(double));
}

void ldlt_add_vertex(Ldlt *ldlt, uint32_t vertex, const double *block) {
    const LdltPlan *plan = ldlt->plan;
    ASSERT(vertex < plan->graph.vertex_count);
    uint32_t place = plan->place[vertex], width = plan->graph.width[vertex];
    const LdltNode *node = &plan->node[plan->node_of[place]];
    size_t at = plan->first[place] - node->first, columns = node->columns;
    double *to = ldlt->number + node->diagonal + at * (columns + 1);
    for (size_t j = 0; j < width; j++) {
        for (size_t i = ldlt->is_symmetric ? j : 0; i < width; i++) {
            to[i + j * columns] += block[i * width + j];
        }
    }
}

// where the rows of a later place begin among those below a supernode
static uint32_t row_of(const LdltPlan *plan, const LdltNode *node, uint32_t place) {
    const LdltBelow *below = plan->below + node->below;
    uint32_t from = 0, to = node->below_count;
    while (from + 1 < to) {
        uint32_t middle = from + (to - from) / 2;
        if (below[middle].vertex <= place) {
            from = middle;
        } else {
            to = middle;
        }
    }
    ASSERT(from < node->below_count);
    ASSERT(below[from].vertex == place);
    return below[from].row;
}

// rows x columns numbers, row by row, are added at a place of strides 1 and `stride`, or, of their
// transpose, the other way round
static void add_block(double *to, size_t row_stride, size_t column_stride, size_t rows,
                      size_t columns, const double *block) {
    for (size_t i = 0; i < rows; i++) {
        for (size_t j = 0; j < columns; j++) {
            to[i * row_stride + j * column_stride] += block[i * columns + j];
        }
    }
}

void ldlt_add_edge(Ldlt *ldlt, size_t edge, const double *block, const double *opposite) {
    const LdltPlan *plan = ldlt->plan;
    ASSERT(edge < plan->graph.edge_count);
    uint32_t a = plan->graph.end[2 * edge], b = plan->graph.end[2 * edge + 1];
    size_t a_width = plan->graph.width[a], b_width = plan->graph.width[b];
    bool is_a_first = plan->place[a] < plan->place[b];
    uint32_t early = is_a_first ? a : b, late = is_a_first ? b : a;
    const LdltNode *node = &plan->node[plan->node_of[plan->place[early]]];
    size_t column = plan->first[plan->place[early]] - node->first;
    if (plan->place[late] < node->vertex_end) {
        size_t stride = node->columns, row = plan->first[plan->place[late]] - node->first;
        double *diagonal = ldlt->number + node->diagonal;
        double *below = diagonal + row + column * stride, *above = diagonal + column + row * stride;
        if (!ldlt->is_symmetric) {
            add_block(is_a_first ? above : below, 1, stride, a_width, b_width, block);
            add_block(is_a_first ? below : above, 1, stride, b_width, a_width, opposite);
        } else if (is_a_first) {
            add_block(below, stride, 1, a_width, b_width, block);
        } else {
            add_block(below, 1, stride, a_width, b_width, block);
        }
        return;
    }
    size_t stride = node->rows, row = row_of(plan, node, plan->place[late]);
    double *lower = ldlt->number + node->lower + row + column * stride;
    double *upper = lower + ldlt->upper; // transposed
    if (is_a_first) {
        // the block stands beside the diagonal
        add_block(upper, stride, 1, a_width, b_width, block);
        if (!ldlt->is_symmetric) {
            add_block(lower, 1, stride, b_width, a_width, opposite);
        }
    } else {
        add_block(lower, 1, stride, a_width, b_width, block);
        if (!ldlt->is_symmetric) {
            add_block(upper, stride, 1, b_width, a_width, opposite);
        }
    }
}

static void subtract_column(double *restrict to, const double *restrict from, double share,
                            size_t count) {
    for (size_t i = 0; i < count; i++) {
        to[i] -= from[i] * share;
    }
}

// ---- diagonal blocks

static double judge_pivot(Ldlt *ldlt, double pivot, double scale) {
    double least = LDLT_PIVOT_MIN * (scale == 0.0 ? 1.0 : fabs(scale));
    double size = ldlt->is_symmetric ? pivot : fabs(pivot);
    if (size <= least) {
        ldlt->replaced++;
        return pivot < 0.0 && !ldlt->is_symmetric ? -least : least;
    }
    return pivot; // also what is not a number
}

// Takes from the lower triangle of columns [begin, end) what all columns before them bring; L D of
// those is beside.
static void subtract_before(Ldlt *ldlt, double *d, size_t n, size_t begin, size_t end) {
    size_t stride = whole_tiles(n - begin);
    ldlt_kernel(&(LdltProduct){.rows = n - begin,
                               .columns = end - begin,
                               .depth = begin,
                               .a = d + begin,
                               .a_stride = n,
                               .b = ldlt->beside + begin,
                               .b_stride = n,
                               .c = ldlt->product,
                               .c_stride = stride});
    for (size_t k = begin; k < end; k++) {
        subtract_column(d + k * (n + 1), ldlt->product + (k - begin) * (stride + 1), 1.0, n - k);
    }
}

// D := L and D of L D L^T, in the lower triangle
static void factor_symmetric(Ldlt *ldlt, const LdltNode *node) {
    size_t n = node->columns;
    double *d = ldlt->number + node->diagonal;
    for (size_t begin = 0, end; begin < n; begin = end) {
        end = begin + PANEL_COLUMNS < n ? begin + PANEL_COLUMNS : n;
        if (begin > 0) {
            subtract_before(ldlt, d, n, begin, end);
        }
        for (size_t k = begin; k < end; k++) {
            double *column = d + k * n;
            for (size_t j = begin; j < k; j++) {
                const double *before = d + j * n;
                subtract_column(column + k, before + k, before[k] * before[j], n - k);
            }
            column[k] = judge_pivot(ldlt, column[k], ldlt->scale[node->first + k]);
            for (size_t i = k + 1; i < n; i++) {
                column[i] /= column[k];
            }
            for (size_t i = end; i < n; i++) {
                ldlt->beside[i + k * n] = column[i] * column[k];
            }
        }
    }
}

static void exchange_rows(double *d, size_t n, size_t a, size_t b) {
    for (size_t j = 0; j < n; j++) {
        double number = d[a + j * n];
        d[a + j * n] = d[b + j * n];
        d[b + j * n] = number;
    }
}

// D := L U, rows exchanged
static void factor_unsymmetric(Ldlt *ldlt, const LdltNode *node) {
    size_t n = node->columns;
    double *d = ldlt->number + node->diagonal;
    for (size_t k = 0; k < n; k++) {
        size_t largest = k;
        for (size_t i = k + 1; i < n; i++) {
            largest = fabs(d[i + k * n]) > fabs(d[largest + k * n]) ? i : largest;
        }
        ldlt->pivot[node->first + k] = (uint32_t)largest;
        if (largest != k) {
            exchange_rows(d, n, k, largest);
        }
        double *restrict column = d + k * n;
        column[k] = judge_pivot(ldlt, column[k], ldlt->scale[node->first + k]);
        for (size_t i = k + 1; i < n; i++) {
            column[i] /= column[k];
        }
        for (size_t j = k + 1; j < n; j++) {
            double *restrict other = d + j * n;
            double share = other[k];
            for (size_t i = k + 1; i < n; i++) {
                other[i] -= column[i] * share;
            }
        }
    }
}

// ---- panels

// panel := panel T^-1 with T upper triangular, of which T(j, k) = t[k + j n]; its diagonal is 1, or
// `pivot`
static void solve_panel(Ldlt *ldlt, const LdltNode *node, double *panel, const double *t,
                        const double *pivot) {
    size_t n = node->columns, rows = node->rows;
    for (size_t begin = 0; begin < n; begin += PANEL_COLUMNS) {
        size_t end = begin + PANEL_COLUMNS < n ? begin + PANEL_COLUMNS : n;
        size_t stride = whole_tiles(rows);
        if (begin > 0) {
            ldlt_kernel(&(LdltProduct){.rows = rows,
                                       .columns = end - begin,
                                       .depth = begin,
                                       .a = panel,
                                       .a_stride = rows,
                                       .b = t + begin,
                                       .b_stride = n,
                                       .c = ldlt->product,
                                       .c_stride = stride});
        }
        for (size_t k = begin; k < end; k++) {
            double *column = panel + k * rows;
            if (begin > 0) {
                subtract_column(column, ldlt->product + (k - begin) * stride, 1.0, rows);
            }
            for (size_t j = begin; j < k; j++) {
                subtract_column(column, panel + j * rows, t[k + j * n], rows);
            }
            for (size_t i = 0; pivot != NULL && i < rows; i++) {
                column[i] /= pivot[k * (n + 1)];
            }
        }
    }
}

static void exchange_columns(const Ldlt *ldlt, const LdltNode *node, double *panel) {
    size_t rows = node->rows;
    for (size_t k = 0; k < node->columns; k++) {
        double *a = panel + k * rows, *b = panel + ldlt->pivot[node->first + k] * rows;
        for (size_t i = 0; a != b && i < rows; i++) {
            double number = a[i];
            a[i] = b[i];
            b[i] = number;
        }
    }
}

static void transpose(const double *from, size_t n, double *to) {
    for (size_t j = 0; j < n; j++) {
        for (size_t i = 0; i < n; i++) {
            to[j + i * n] = from[i + j * n];
        }
    }
}

// L, and U or, of a symmetric matrix, L D beside it
static void finish_panels(Ldlt *ldlt, const LdltNode *node) {
    size_t n = node->columns, rows = node->rows;
    const double *d = ldlt->number + node->diagonal;
    double *lower = ldlt->number + node->lower;
    if (ldlt->is_symmetric) {
        solve_panel(ldlt, node, lower, d, NULL);
        memcpy(ldlt->beside, lower, n * rows * sizeof(double));
        for (size_t k = 0; k < n; k++) {
            double *column = lower + k * rows;
            for (size_t i = 0; i < rows; i++) {
                column[i] /= d[k * (n + 1)];
            }
        }
        return;
    }
    transpose(d, n, ldlt->beside);
    solve_panel(ldlt, node, lower, ldlt->beside, d);
    double *upper = lower + ldlt->upper;
    exchange_columns(ldlt, node, upper);
    solve_panel(ldlt, node, upper, d, NULL);
}

// ---- what a supernode takes from those above it in the tree

// Rows [row, …) of a supernode, from the vertex `from` of those below it, that are columns of one
// later supernode up to `to`.
typedef struct Update {
    const LdltNode *node, *target;
    uint32_t from, to;
    size_t row;     // of `from`
    size_t rows;    // from there on
    size_t columns; // of the target
} Update;

static size_t width_below(const LdltPlan *plan, const LdltBelow *below) {
    return plan->first[below->vertex + 1] - plan->first[below->vertex];
}

// Subtracts a piece of the product from where it belongs.
static void subtract_piece(double *restrict to, size_t stride, const double *restrict piece,
                           size_t piece_stride, size_t rows, size_t columns) {
    for (size_t j = 0; j < columns; j++) {
        for (size_t i = 0; i < rows; i++) {
            to[i + j * stride] -= piece[i + j * piece_stride];
        }
    }
}

static void subtract_diagonal(Ldlt *ldlt, const Update *u, size_t stride) {
    const LdltPlan *plan = ldlt->plan;
    const LdltBelow *below = plan->below + u->node->below;
    double *diagonal = ldlt->number + u->target->diagonal;
    size_t n = u->target->columns;
    for (uint32_t j = u->from; j < u->to; j++) {
        size_t column = plan->first[below[j].vertex] - u->target->first;
        const double *from = ldlt->product + (below[j].row - u->row) * stride;
        // of a symmetric matrix only what is below the diagonal block or in it
        for (uint32_t i = ldlt->is_symmetric ? j : u->from; i < u->to; i++) {
            size_t row = plan->first[below[i].vertex] - u->target->first;
            subtract_piece(diagonal + row + column * n, n, from + (below[i].row - u->row), stride,
                           width_below(plan, &below[i]), width_below(plan, &below[j]));
        }
    }
}

static void subtract_below(Ldlt *ldlt, const Update *u, double *panel, size_t stride) {
    const LdltPlan *plan = ldlt->plan;
    const LdltBelow *below = plan->below + u->node->below;
    const LdltBelow *target = plan->below + u->target->below;
    for (uint32_t i = u->to; i < u->node->below_count; i++) {
        while (target->vertex != below[i].vertex) {
            target++; // all that is below the one is below the other
        }
        for (uint32_t j = u->from; j < u->to; j++) {
            size_t column = plan->first[below[j].vertex] - u->target->first;
            const double *from =
                ldlt->product + (below[i].row - u->row) + (below[j].row - u->row) * stride;
            subtract_piece(panel + target->row + column * u->target->rows, u->target->rows, from,
                           stride, width_below(plan, &below[i]), width_below(plan, &below[j]));
        }
    }
}

// product := a b^T, of the update's rows from `row` on and its columns
static size_t multiply(Ldlt *ldlt, const Update *u, const double *a, const double *b) {
    size_t stride = whole_tiles(u->rows), rows = u->node->rows;
    ldlt_kernel(&(LdltProduct){.rows = u->rows,
                               .columns = u->columns,
                               .depth = u->node->columns,
                               .a = a + u->row,
                               .a_stride = rows,
                               .b = b + u->row,
                               .b_stride = rows,
                               .c = ldlt->product,
                               .c_stride = stride});
    return stride;
}

static void update(Ldlt *ldlt, const Update *u) {
    double *lower = ldlt->number + u->node->lower;
    double *other = ldlt->is_symmetric ? ldlt->beside : lower + ldlt->upper;
    size_t stride = multiply(ldlt, u, lower, other);
    subtract_diagonal(ldlt, u, stride);
    subtract_below(ldlt, u, ldlt->number + u->target->lower, stride);
    if (!ldlt->is_symmetric && u->to < u->node->below_count) {
        stride = multiply(ldlt, u, other, lower);
        subtract_below(ldlt, u, ldlt->number + u->target->lower + ldlt->upper, stride);
    }
}

// ---- the factor

// Asks once for every so many multiplications.
typedef struct Counter {
    const Stop *stop;
    double operations;
} Counter;

static bool is_asked_to_stop(Counter *counter, double operations) {
    counter->operations += operations;
    if (counter->operations < OPERATIONS_PER_QUESTION) {
        return false;
    }
    counter->operations = 0.0;
    return stop_is_asked(counter->stop);
}

static bool update_all(Ldlt *ldlt, const LdltNode *node, Counter *counter) {
    const LdltPlan *plan = ldlt->plan;
    const LdltBelow *below = plan->below + node->below;
    for (uint32_t from = 0, to; from < node->below_count; from = to) {
        uint32_t of = plan->node_of[below[from].vertex];
        size_t columns = 0;
        for (to = from; to < node->below_count && plan->node_of[below[to].vertex] == of; to++) {
            columns += width_below(plan, &below[to]);
        }
        size_t row = below[from].row, rows = node->rows - row;
        update(ldlt, &(Update){.node = node,
                               .target = &plan->node[of],
                               .from = from,
                               .to = to,
                               .row = row,
                               .rows = rows,
                               .columns = columns});
        if (is_asked_to_stop(counter, (double)rows * (double)columns * node->columns)) {
            return false;
        }
    }
    return true;
}

// What is not finite reaches a pivot, or is below one.
static LdltOutcome judge_numbers(const Ldlt *ldlt, Counter *counter) {
    enum { CHUNK = 1 << 16 };
    double sum = 0.0;
    for (size_t from = 0, to; from < ldlt->number_count; from = to) {
        to = ldlt->number_count - from < CHUNK ? ldlt->number_count : from + CHUNK;
        for (size_t k = from; k < to; k++) {
            sum += 0.0 * ldlt->number[k];
        }
        if (is_asked_to_stop(counter, CHUNK)) {
            return LDLT_STOPPED;
        }
    }
    return sum == 0.0 ? LDLT_FINITE : LDLT_NOT_FINITE;
}

LdltOutcome ldlt_factor(Ldlt *ldlt, const Stop *stop) {
    const LdltPlan *plan = ldlt->plan;
    Counter counter = {.stop = stop};
    ldlt->replaced = 0;
    for (uint32_t s = 0; s < plan->node_count; s++) {
        const LdltNode *node = &plan->node[s];
        for (size_t k = 0; k < node->columns; k++) {
            ldlt->scale[node->first + k] =
                ldlt->number[node->diagonal + k * ((size_t)node->columns + 1)];
        }
    }
    for (uint32_t s = 0; s < plan->node_count; s++) {
        const LdltNode *node = &plan->node[s];
        if (ldlt->is_symmetric) {
            factor_symmetric(ldlt, node);
        } else {
            factor_unsymmetric(ldlt, node);
        }
        finish_panels(ldlt, node);
        double columns = node->columns;
        if (is_asked_to_stop(&counter, columns * columns * (columns + node->rows)) ||
            !update_all(ldlt, node, &counter)) {
            return LDLT_STOPPED;
        }
    }
    return judge_numbers(ldlt, &counter);
}

// ---- solving

int ldlt_sign(const Ldlt *ldlt) {
    const LdltPlan *plan = ldlt->plan;
    int sign = 1;
    for (uint32_t s = 0; s < plan->node_count; s++) {
        const LdltNode *node = &plan->node[s];
        const double *d = ldlt->number + node->diagonal;
        for (size_t k = 0; k < node->columns; k++) {
            sign = d[k * (node->columns + (size_t)1)] < 0.0 ? -sign : sign;
            // an exchange of rows
            bool is_exchanged = !ldlt->is_symmetric && ldlt->pivot[node->first + k] != k;
            sign = is_exchanged ? -sign : sign;
        }
    }
    return sign;
}

// x := L^-1 x of one supernode and what is below it
static void solve_forward(const Ldlt *ldlt, const LdltNode *node, double *x) {
    const LdltPlan *plan = ldlt->plan;
    size_t n = node->columns, rows = node->rows;
    const double *d = ldlt->number + node->diagonal, *lower = ldlt->number + node->lower;
    double *own = x + node->first, *sum = x + plan->size;
    for (size_t k = 0; !ldlt->is_symmetric && k < n; k++) {
        size_t other = ldlt->pivot[node->first + k];
        double number = own[k];
        own[k] = own[other];
        own[other] = number;
    }
    memset(sum, 0, rows * sizeof(double));
    for (size_t k = 0; k < n; k++) {
        for (size_t i = k + 1; i < n; i++) {
            own[i] -= d[i + k * n] * own[k];
        }
        subtract_column(sum, lower + k * rows, own[k], rows);
    }
    const LdltBelow *below = plan->below + node->below;
    for (uint32_t b = 0; b < node->below_count; b++) {
        double *to = x + plan->first[below[b].vertex];
        size_t width = width_below(plan, &below[b]);
        for (size_t i = 0; i < width; i++) {
            to[i] += sum[below[b].row + i];
        }
    }
}

static void solve_backward(const Ldlt *ldlt, const LdltNode *node, double *x) {
    const LdltPlan *plan = ldlt->plan;
    size_t n = node->columns, rows = node->rows;
    const double *d = ldlt->number + node->diagonal;
    const double *panel = ldlt->number + node->lower + ldlt->upper;
    const LdltBelow *below = plan->below + node->below;
    double *own = x + node->first, *of_below = x + plan->size;
    for (uint32_t b = 0; b < node->below_count; b++) {
        memcpy(of_below + below[b].row, x + plan->first[below[b].vertex],
               width_below(plan, &below[b]) * sizeof(double));
    }
    for (size_t k = n; k-- > 0;) {
        double sum = 0.0;
        for (size_t i = 0; i < rows; i++) {
            sum += panel[i + k * rows] * of_below[i];
        }
        if (ldlt->is_symmetric) {
            double number = own[k] / d[k * (n + 1)] - sum;
            for (size_t i = k + 1; i < n; i++) {
                number -= d[i + k * n] * own[i];
            }
            own[k] = number;
        } else {
            double number = own[k] - sum;
            for (size_t i = k + 1; i < n; i++) {
                number -= d[k + i * n] * own[i];
            }
            own[k] = number / d[k * (n + 1)];
        }
    }
}

// Multiplications of a node in either direction.
static double solve_operations(const LdltNode *node) {
    return (double)node->columns * ((double)node->rows + 0.5 * (double)node->columns);
}

void ldlt_solve(const Ldlt *ldlt, double *x) {
    ldlt_solve_asking(ldlt, x, NULL);
}

void ldlt_solve_asking(const Ldlt *ldlt, double *x, Asker *asker) {
    const LdltPlan *plan = ldlt->plan;
    double *inner = ldlt->solution;
    for (uint32_t i = 0; i < plan->graph.vertex_count; i++) {
        memcpy(inner + plan->first[plan->place[i]], x + plan->offset[i],
               plan->graph.width[i] * sizeof(double));
    }
    for (uint32_t s = 0; s < plan->node_count; s++) {
        solve_forward(ldlt, &plan->node[s], inner);
        asker_spend(asker, solve_operations(&plan->node[s]));
    }
    for (uint32_t s = plan->node_count; s-- > 0;) {
        solve_backward(ldlt, &plan->node[s], inner);
        asker_spend(asker, solve_operations(&plan->node[s]));
    }
    for (uint32_t i = 0; i < plan->graph.vertex_count; i++) {
        memcpy(x + plan->offset[i], inner + plan->first[plan->place[i]],
               plan->graph.width[i] * sizeof(double));
    }
}
