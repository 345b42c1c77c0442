// SPDX-License-Identifier: MIT
// What the equations ask is U x, and x = U^T s with U U^T s = U x is the smallest that does; in
// coordinates in which two directions of one contact's friction stand for the vector they make.
#include "solve/lcp/least.h"

#include "base/assert.h"

#include <math.h>
#include <string.h>

// what is left of the square of a row beside the rows before it, or it says nothing new
#define LEFT 1e-13
// of the sine between two directions: they are others
#define APART 1e-3

typedef struct Least {
    const LcpFactor *factor;
    double *row;       // rank x stride: of U, of length 1
    double *gram;      // rank x rank: of the rows, and its Cholesky factor below
    double *s;         // [rank]
    uint32_t *partner; // [count] the column of a contact's other direction, or the column itself
} Least;

static bool take_least(const LcpFactor *f, Arena *arena, Least *least) {
    *least = (Least){.factor = f,
                     .row = arena_take_zeroed(arena, f->rank * f->stride, sizeof(double)),
                     .gram = arena_take_array(arena, f->rank * f->rank, sizeof(double)),
                     .s = arena_take_array(arena, f->rank, sizeof(double)),
                     .partner = arena_take_array(arena, f->count, sizeof(uint32_t))};
    return least->row != NULL && least->gram != NULL && least->s != NULL && least->partner != NULL;
}

static const double *share_of(const LcpFactor *f, uint32_t column) {
    return f->system->share[f->column[column]].share;
}

static double sine(const double *d, const double *e) {
    return d[0] * e[1] - d[1] * e[0];
}

// Where exactly two of a contact's directions are in the basis, and not opposite ones.
static bool find_partners(const LcpFactor *f, Arena *arena, Least *least) {
    uint32_t *number = arena_take_zeroed(arena, f->system->count, sizeof(uint32_t));
    uint32_t *last = arena_take_zeroed(arena, f->system->count, sizeof(uint32_t));
    if (number == NULL || last == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < f->count; i++) {
        const LcpShare *share = &f->system->share[f->column[i]];
        least->partner[i] = i;
        if (share->end > share->begin + 1) {
            number[share->begin]++;
            last[share->begin] = i;
        }
    }
    for (uint32_t i = 0; i < f->count; i++) {
        const LcpShare *share = &f->system->share[f->column[i]];
        uint32_t other = last[share->begin];
        if (share->end > share->begin + 1 && number[share->begin] == 2 && other != i &&
            fabs(sine(share->share, share_of(f, other))) > APART) {
            least->partner[i] = other;
            least->partner[other] = i;
        }
    }
    return true;
}

// (a, b) [d e]^-1 of what is linear in two directions: what it is in the vector they make.
static void to_vectors(const Least *least, double *row) {
    const LcpFactor *f = least->factor;
    for (uint32_t i = 0; i < f->count; i++) {
        uint32_t k = least->partner[i];
        if (k > i) {
            const double *d = share_of(f, i), *e = share_of(f, k);
            double turn = sine(d, e), a = row[i], b = row[k];
            row[i] = (a * e[1] - b * d[1]) / turn;
            row[k] = (b * d[0] - a * e[0]) / turn;
        }
    }
}

// [d e]^-1 (a, b): the directions that a vector is made of.
static void to_directions(const Least *least, double *x) {
    const LcpFactor *f = least->factor;
    for (uint32_t i = 0; i < f->count; i++) {
        uint32_t k = least->partner[i];
        if (k > i) {
            const double *d = share_of(f, i), *e = share_of(f, k);
            double turn = sine(d, e), a = x[i], b = x[k];
            x[i] = (e[1] * a - e[0] * b) / turn;
            x[k] = (d[0] * b - d[1] * a) / turn;
        }
    }
}

// Rows of length 1, and in s what they are to be.
static void make_rows(Least *least, const double *x, LcpCount *count) {
    const LcpFactor *f = least->factor;
    for (size_t r = 0; r < f->rank && !count->is_stopped; r++) {
        double *row = least->row + r * f->stride;
        memcpy(row + r, f->number + r * f->stride + r, (f->count - r) * sizeof(double));
        least->s[r] = lcp_dot(row + r, x + r, f->count - r);
        to_vectors(least, row);
        double length = sqrt(lcp_dot(row, row, f->count));
        for (size_t c = 0; c < f->count; c++) {
            row[c] /= length;
        }
        least->s[r] /= length;
        lcp_count(count, 4 * f->count);
    }
}

static void factor_gram(Least *least, LcpCount *count) {
    size_t n = least->factor->rank, width = least->factor->count, stride = least->factor->stride;
    for (size_t i = 0; i < n && !count->is_stopped; i++) {
        double *of = least->gram + i * n;
        for (size_t j = 0; j <= i; j++) {
            const double *other = least->gram + j * n;
            double left = lcp_dot(least->row + i * stride, least->row + j * stride, width) -
                          lcp_dot(of, other, j);
            if (i > j) {
                of[j] = left / other[j];
            } else {
                of[i] = left > LEFT ? sqrt(left) : HUGE_VAL;
            }
        }
        lcp_count(count, (i + 1) * (width + i));
    }
}

// s := gram^-1 s, x := U^T s
static void shorten(Least *least, double *x, LcpCount *count) {
    const LcpFactor *f = least->factor;
    size_t n = f->rank;
    double *s = least->s;
    for (size_t i = 0; i < n; i++) {
        s[i] = (s[i] - lcp_dot(least->gram + i * n, s, i)) / least->gram[i * n + i];
    }
    for (size_t i = n; i-- > 0;) {
        s[i] /= least->gram[i * n + i];
        for (size_t j = 0; j < i; j++) {
            s[j] -= least->gram[i * n + j] * s[i];
        }
    }
    memset(x, 0, f->count * sizeof(double));
    for (size_t i = 0; i < n; i++) {
        const double *row = least->row + i * f->stride;
        for (size_t c = 0; c < f->count; c++) {
            x[c] += s[i] * row[c];
        }
        lcp_count(count, 2 * (f->count + n));
    }
    to_directions(least, x);
}

bool lcp_least(const LcpFactor *factor, Arena *arena, LcpCount *count, double *x) {
    ASSERT(factor->rank <= factor->count);
    ArenaMark mark = arena_mark(arena);
    Least least;
    bool is_made = take_least(factor, arena, &least) && find_partners(factor, arena, &least);
    if (is_made) {
        make_rows(&least, x, count);
        factor_gram(&least, count);
        shorten(&least, x, count);
    }
    arena_reset_to(arena, mark);
    return is_made;
}
