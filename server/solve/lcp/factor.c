// SPDX-License-Identifier: MIT
#include "solve/lcp/factor.h"

#include "base/assert.h"
#include "solve/lcp/row.h"

#include <math.h>
#include <string.h>

// a pivot below this share of the largest entry of its matrix is rounding
#define DEPENDENT 1e-11

static double *row_at(const LcpFactor *f, size_t row) {
    return f->number + row * f->stride;
}

static bool take_factor(const LcpSystem *system, const uint8_t *basis, Arena *arena, LcpFactor *f) {
    *f = (LcpFactor){.system = system};
    for (uint32_t i = 0; i < system->count; i++) {
        f->count += basis[i] != LCP_OUT;
    }
    f->stride = (f->count + 7) & ~(size_t)7;
    f->row = arena_take_array(arena, f->count, sizeof(uint32_t));
    f->column = arena_take_array(arena, f->count, sizeof(uint32_t));
    f->largest = arena_take_zeroed(arena, f->count, sizeof(double));
    f->number = arena_take_zeroed(arena, f->count * f->stride, sizeof(double));
    return f->row != NULL && f->column != NULL && f->largest != NULL && f->number != NULL;
}

static double larger(double largest, double x) {
    return fabs(x) > largest ? fabs(x) : largest;
}

static void fill(const LcpSystem *system, const uint8_t *basis, LcpFactor *f, LcpCount *count) {
    size_t at = 0;
    for (uint32_t i = 0; i < system->count; i++) {
        if (basis[i] != LCP_OUT) {
            f->row[at] = i;
            f->column[at++] = i;
        }
    }
    for (size_t r = 0; r < f->count; r++) {
        const double *from = system->matrix + (size_t)f->row[r] * system->count;
        double *row = row_at(f, r);
        for (size_t c = 0; c < f->count; c++) {
            row[c] = from[f->column[c]];
            f->largest[r] = larger(f->largest[r], row[c]);
        }
        lcp_count(count, f->count);
    }
}

// Where the largest entry of the rows and columns is that are no pivots yet.
static double find_largest(const LcpFactor *f, size_t *row, size_t *column) {
    VALIDATE(f->rank < f->count);
    size_t best = f->rank;
    for (size_t r = f->rank + 1; r < f->count; r++) {
        best = f->largest[r] > f->largest[best] ? r : best;
    }
    const double *numbers = row_at(f, best);
    size_t at = f->rank;
    while (at + 1 < f->count && fabs(numbers[at]) != f->largest[best]) {
        at++;
    }
    *row = best;
    *column = at;
    VALIDATE(*row < f->count && *column < f->count);
    return f->largest[best];
}

static void swap_numbers(double *a, double *b) {
    double kept = *a;
    *a = *b;
    *b = kept;
}

static void swap_unknowns(uint32_t *a, uint32_t *b) {
    uint32_t kept = *a;
    *a = *b;
    *b = kept;
}

static void bring_pivot(LcpFactor *f, size_t row, size_t column) {
    VALIDATE(row >= f->rank && row < f->count);
    VALIDATE(column >= f->rank && column < f->count);
    size_t at = f->rank;
    for (size_t c = 0; row != at && c < f->count; c++) {
        swap_numbers(row_at(f, at) + c, row_at(f, row) + c);
    }
    for (size_t r = 0; column != at && r < f->count; r++) {
        swap_numbers(row_at(f, r) + at, row_at(f, r) + column);
    }
    swap_numbers(&f->largest[at], &f->largest[row]);
    swap_unknowns(&f->row[at], &f->row[row]);
    swap_unknowns(&f->column[at], &f->column[column]);
}

static void eliminate(LcpFactor *f, LcpCount *count) {
    size_t at = f->rank, aligned = (at + 8) & ~(size_t)7;
    const double *above = row_at(f, at);
    for (size_t i = at + 1; i < f->count; i++) {
        double *row = row_at(f, i), factor = row[at] / above[at];
        row[at] = factor;
        if (factor == 0.0) {
            continue;
        }
        f->largest[i] =
            lcp_row_subtract_largest(row + aligned, above + aligned, factor, f->stride - aligned);
        for (size_t c = at + 1; c < aligned; c++) {
            row[c] -= factor * above[c];
            f->largest[i] = larger(f->largest[i], row[c]);
        }
        lcp_count(count, f->count - at);
    }
    f->rank++;
}

bool lcp_factor_make(const LcpSystem *system, const uint8_t *basis, Arena *arena, LcpCount *count,
                     LcpFactor *factor) {
    VALIDATE(basis != NULL);
    VALIDATE(system->matrix != NULL && system->b != NULL);
    if (!take_factor(system, basis, arena, factor)) {
        return false;
    }
    fill(system, basis, factor, count);
    double least = 0.0;
    while (factor->rank < factor->count && !count->is_stopped) {
        size_t row = 0, column = 0;
        double largest = find_largest(factor, &row, &column);
        least = factor->rank == 0 ? DEPENDENT * largest : least;
        if (!(largest > least)) {
            break;
        }
        bring_pivot(factor, row, column);
        eliminate(factor, count);
    }
    VALIDATE(factor->rank <= factor->count);
    return true;
}

void lcp_factor_solve(const LcpFactor *f, double *y, LcpCount *count) {
    ASSERT(f->rank <= f->count);
    for (size_t r = 1; r < f->rank; r++) {
        y[r] -= lcp_dot(row_at(f, r), y, r);
    }
    memset(y + f->rank, 0, (f->count - f->rank) * sizeof(double));
    for (size_t r = f->rank; r-- > 0;) {
        const double *row = row_at(f, r);
        y[r] = (y[r] - lcp_dot(row + r + 1, y + r + 1, f->rank - r - 1)) / row[r];
        lcp_count(count, f->rank);
    }
}
