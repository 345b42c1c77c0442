// SPDX-License-Identifier: MIT
#include "solve/lcp_system.h"

#include <math.h>
#include <string.h>

// a pivot below this share of the largest entry of its matrix is rounding
#define DEPENDENT 1e-11

static double dot(const double *a, const double *x, uint32_t count) {
    double sum = 0.0;
    for (uint32_t i = 0; i < count; i++) {
        sum += a[i] * x[i];
    }
    return sum;
}

double lcp_residual(const LcpSystem *system, const double *z, double *w, LcpCount *count) {
    double worst = 0.0;
    for (uint32_t i = 0; i < system->count; i++) {
        w[i] = dot(system->matrix + (size_t)i * system->count, z, system->count) + system->b[i];
        double away = fabs(z[i] < w[i] ? z[i] : w[i]);
        // a sum, so that what is not a number in either stays
        worst = away <= worst && w[i] - z[i] == w[i] - z[i] ? worst : away;
        worst = worst == worst ? worst : HUGE_VAL;
        lcp_count(count, system->count);
    }
    return worst;
}

// The columns and rows of the basis, and what is solved for. Elimination leaves L and U in the
// columns that became pivots, one row each, in order.
typedef struct Factor {
    size_t count, rank;
    uint32_t *index;  // [count] in the system; those that are in before those that are likely
    double *number;   // count x count
    uint32_t *swap;   // [rank] row that came to row r
    uint32_t *column; // [rank] whose pivot is in row r
    double *x, *residual;
} Factor;

static void list_basis(const LcpSystem *system, const uint8_t *basis, Factor *f) {
    size_t at = 0;
    for (int kind = LCP_IN; kind > LCP_OUT; kind--) {
        for (uint32_t i = 0; i < system->count; i++) {
            if (basis[i] == kind) {
                f->index[at++] = i;
            }
        }
    }
}

static bool take_factor(const LcpSystem *system, const uint8_t *basis, Arena *arena,
                        LcpCount *count, Factor *f) {
    *f = (Factor){0};
    for (uint32_t i = 0; i < system->count; i++) {
        f->count += basis[i] != LCP_OUT;
    }
    size_t n = f->count;
    f->index = arena_take_array(arena, n, sizeof(uint32_t));
    f->swap = arena_take_array(arena, n, sizeof(uint32_t));
    f->column = arena_take_array(arena, n, sizeof(uint32_t));
    f->x = arena_take_zeroed(arena, n, sizeof(double));
    f->residual = arena_take_array(arena, n, sizeof(double));
    f->number = arena_take_array(arena, n * n, sizeof(double));
    if (f->index == NULL || f->swap == NULL || f->column == NULL || f->x == NULL ||
        f->residual == NULL || f->number == NULL) {
        return false;
    }
    list_basis(system, basis, f);
    for (size_t r = 0; r < n; r++) {
        const double *row = system->matrix + (size_t)f->index[r] * system->count;
        for (size_t c = 0; c < n; c++) {
            f->number[r * n + c] = row[f->index[c]];
        }
        lcp_count(count, n);
    }
    return true;
}

static void swap_rows(double *a, double *b, size_t count) {
    for (size_t i = 0; i < count; i++) {
        double kept = a[i];
        a[i] = b[i];
        b[i] = kept;
    }
}

// Brings the largest entry of a column to the next row of pivots; false: there is none.
static bool bring_pivot(Factor *f, size_t column, double least) {
    size_t n = f->count, best = f->rank;
    for (size_t i = f->rank + 1; i < n; i++) {
        best = fabs(f->number[i * n + column]) > fabs(f->number[best * n + column]) ? i : best;
    }
    if (f->rank == n || !(fabs(f->number[best * n + column]) > least)) {
        return false;
    }
    f->swap[f->rank] = (uint32_t)best;
    f->column[f->rank] = (uint32_t)column;
    if (best != f->rank) {
        swap_rows(f->number + f->rank * n, f->number + best * n, n);
    }
    return true;
}

static double largest_of(const Factor *f, LcpCount *count) {
    double largest = 0.0;
    for (size_t r = 0; r < f->count; r++) {
        for (size_t c = 0; c < f->count; c++) {
            double size = fabs(f->number[r * f->count + c]);
            largest = size > largest ? size : largest;
        }
        lcp_count(count, f->count);
    }
    return largest;
}

static void eliminate(Factor *f, LcpCount *count) {
    size_t n = f->count;
    double least = DEPENDENT * largest_of(f, count);
    for (size_t column = 0; column < n && !count->is_stopped; column++) {
        if (!bring_pivot(f, column, least)) {
            continue;
        }
        const double *restrict above = f->number + f->rank * n;
        for (size_t i = f->rank + 1; i < n; i++) {
            double *restrict row = f->number + i * n;
            double factor = row[column] / above[column];
            row[column] = factor;
            if (factor == 0.0) {
                continue;
            }
            for (size_t j = column + 1; j < n; j++) {
                row[j] -= factor * above[j];
            }
            lcp_count(count, n - column);
        }
        f->rank++;
    }
}

// x += what makes the residual of the pivots' rows vanish
static void correct(Factor *f, LcpCount *count) {
    size_t n = f->count;
    double *y = f->residual;
    for (size_t r = 0; r < f->rank; r++) {
        double kept = y[r];
        y[r] = y[f->swap[r]];
        y[f->swap[r]] = kept;
    }
    for (size_t i = 0; i < f->rank; i++) {
        for (size_t r = 0; r < i; r++) {
            y[i] -= f->number[i * n + f->column[r]] * y[r];
        }
        lcp_count(count, i);
    }
    for (size_t r = f->rank; r-- > 0;) {
        const double *row = f->number + r * n;
        for (size_t s = r + 1; s < f->rank; s++) {
            y[r] -= row[f->column[s]] * y[s];
        }
        y[r] /= row[f->column[r]];
        lcp_count(count, f->rank - r);
    }
    for (size_t r = 0; r < f->rank; r++) {
        f->x[f->column[r]] += y[r];
    }
}

// -(N x + b) on the rows of the basis
static void make_residual(const LcpSystem *system, Factor *f, LcpCount *count) {
    for (size_t r = 0; r < f->count; r++) {
        const double *row = system->matrix + (size_t)f->index[r] * system->count;
        double sum = system->b[f->index[r]];
        for (size_t c = 0; c < f->count; c++) {
            sum += row[f->index[c]] * f->x[c];
        }
        f->residual[r] = -sum;
        lcp_count(count, f->count);
    }
}

Status lcp_solve_basis(const LcpSystem *system, const uint8_t *basis, Arena *arena, LcpCount *count,
                       double *z) {
    ArenaMark mark = arena_mark(arena);
    Factor factor;
    Status status = STATUS_RESOURCE_EXHAUSTED;
    if (take_factor(system, basis, arena, count, &factor)) {
        eliminate(&factor, count);
        for (int round = 0; round < 2; round++) {
            make_residual(system, &factor, count);
            correct(&factor, count);
        }
        memset(z, 0, system->count * sizeof(double));
        for (size_t i = 0; i < factor.count; i++) {
            z[factor.index[i]] = factor.x[i];
        }
        status = count->is_stopped ? STATUS_ABORTED : STATUS_OK;
    }
    arena_reset_to(arena, mark);
    return status;
}
