// SPDX-License-Identifier: MIT
#include "solve/lcp_system.h"

#include "solve/lcp_least.h"

#include <math.h>
#include <string.h>

double lcp_dot(const double *a, const double *x, size_t count) {
    double sum[4] = {0.0, 0.0, 0.0, 0.0};
    size_t i = 0;
    for (; i + 4 <= count; i += 4) {
        sum[0] += a[i] * x[i];
        sum[1] += a[i + 1] * x[i + 1];
        sum[2] += a[i + 2] * x[i + 2];
        sum[3] += a[i + 3] * x[i + 3];
    }
    for (; i < count; i++) {
        sum[0] += a[i] * x[i];
    }
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

double lcp_residual(const LcpSystem *system, const double *z, double *w, LcpCount *count) {
    double worst = 0.0;
    for (uint32_t i = 0; i < system->count; i++) {
        w[i] = lcp_dot(system->matrix + (size_t)i * system->count, z, system->count) + system->b[i];
        double away = fabs(z[i] < w[i] ? z[i] : w[i]);
        // a sum, so that what is not a number in either stays
        worst = away <= worst && w[i] - z[i] == w[i] - z[i] ? worst : away;
        worst = worst == worst ? worst : HUGE_VAL;
        lcp_count(count, system->count);
    }
    return worst;
}

// -(N x + b) on the rows of the factor
static void make_residual(const LcpFactor *f, const double *x, double *residual, LcpCount *count) {
    const LcpSystem *system = f->system;
    for (size_t r = 0; r < f->count; r++) {
        const double *row = system->matrix + (size_t)f->row[r] * system->count;
        double sum = system->b[f->row[r]];
        for (size_t c = 0; c < f->count; c++) {
            sum += row[f->column[c]] * x[c];
        }
        residual[r] = -sum;
        lcp_count(count, f->count);
    }
}

static void correct(const LcpFactor *f, double *x, double *residual, LcpCount *count) {
    make_residual(f, x, residual, count);
    lcp_factor_solve(f, residual, count);
    for (size_t c = 0; c < f->rank; c++) {
        x[c] += residual[c];
    }
}

static bool solve(const LcpFactor *f, Arena *arena, LcpCount *count, double *z) {
    double *x = arena_take_zeroed(arena, f->count, sizeof(double));
    double *residual = arena_take_array(arena, f->count, sizeof(double));
    if (x == NULL || residual == NULL) {
        return false;
    }
    correct(f, x, residual, count);
    if (f->rank < f->count && !lcp_least(f, arena, count, x)) {
        return false;
    }
    correct(f, x, residual, count);
    memset(z, 0, f->system->count * sizeof(double));
    for (size_t c = 0; c < f->count; c++) {
        z[f->column[c]] = x[c];
    }
    return true;
}

Status lcp_solve_basis(const LcpSystem *system, const uint8_t *basis, Arena *arena, LcpCount *count,
                       double *z) {
    ArenaMark mark = arena_mark(arena);
    LcpFactor factor;
    bool is_solved =
        lcp_factor_make(system, basis, arena, count, &factor) && solve(&factor, arena, count, z);
    arena_reset_to(arena, mark);
    if (!is_solved) {
        return STATUS_RESOURCE_EXHAUSTED;
    }
    return count->is_stopped ? STATUS_ABORTED : STATUS_OK;
}
