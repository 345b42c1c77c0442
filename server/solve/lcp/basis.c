// SPDX-License-Identifier: MIT
#include "solve/lcp/basis.h"

#include "base/assert.h"
#include "solve/lcp/least.h"

#include <string.h>

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
    VALIDATE(f->rank <= f->count);
    VALIDATE(f->count <= f->system->count);
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
    VALIDATE(system->count > 0);
    VALIDATE(z != NULL && basis != NULL);
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

// ---- friction that sticks

// The vector that a contact's directions make; whether one of them has a negative share.
static bool add_up(const LcpSystem *system, const LcpShare *of, const double *z, double p[2]) {
    bool is_negative = false;
    p[0] = p[1] = 0.0;
    for (uint32_t j = of->begin; j < of->end; j++) {
        p[0] += z[j] * system->share[j].share[0];
        p[1] += z[j] * system->share[j].share[1];
        is_negative = is_negative || z[j] < 0.0;
    }
    return is_negative;
}

// On the two directions between which p lies.
static void turn(const LcpSystem *system, const LcpShare *of, const double p[2], uint8_t *basis,
                 double *z) {
    VALIDATE(of->begin + 2 < of->end);
    VALIDATE(of->end + 1 < system->count);
    size_t directions = of->end - of->begin;
    memset(z + of->begin, 0, directions * sizeof(double));
    memset(basis + of->begin, LCP_OUT, directions);
    for (uint32_t j = of->begin; j < of->end; j++) {
        uint32_t next = j + 1 < of->end ? j + 1 : of->begin;
        const double *d = system->share[j].share, *e = system->share[next].share;
        double sine = d[0] * e[1] - d[1] * e[0], along = p[0] * e[1] - p[1] * e[0],
               along_next = d[0] * p[1] - d[1] * p[0];
        if (sine > 0.0 && along >= 0.0 && along_next >= 0.0) {
            z[j] = along / sine;
            z[next] = along_next / sine;
            basis[j] = basis[next] = LCP_IN;
            return;
        }
    }
}

void lcp_turn_friction(const LcpSystem *system, uint8_t *basis, LcpCount *count, double *z) {
    VALIDATE(z != NULL && basis != NULL);
    lcp_count(count, system->count);
    for (uint32_t i = 0; i < system->count; i++) {
        const LcpShare *of = &system->share[i];
        bool is_friction = of->begin == i && of->end > i + 2 && of->end + 1 < system->count;
        double p[2];
        if (is_friction && basis[of->end + 1] == LCP_OUT && add_up(system, of, z, p)) {
            turn(system, of, p, basis, z);
        }
    }
}
