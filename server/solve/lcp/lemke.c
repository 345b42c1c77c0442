// SPDX-License-Identifier: MIT
#include "solve/lcp/lemke.h"

#include "base/assert.h"
#include "solve/lcp/row.h"

#include <math.h>
#include <string.h>

#define PIVOT_SHARE_MIN 1e-11
// z0 leaves in ties that are so much wider
#define LAST_TIE 100.0
// a careful run makes the tableau anew after so many pivots for each so many rows
enum { FRESH_SHARE = 10 };

// Variables: w_i is i, z_i is count + i, z0 is 2 count. The complement of one is the other.
typedef struct Tableau {
    uint32_t count;
    size_t stride;      // of a row: count + 1 columns, then the right-hand side, then padding
    double *number;     // basic = rhs - sum number[row][column] nonbasic
    uint32_t *basic;    // [count] the variable of a row
    uint32_t *entered;  // [count + 1] the variable of a column, not basic
    int32_t *place;     // [count] of w_i: its column, or -1 - row where it is basic
    uint32_t *tied;     // [count]
    uint8_t *is_wanted; // [2 count + 1] variables to be basic, while it is made anew
    const LcpSystem *system;
    const LemkeOptions *options;
} Tableau;

static double *row_of(const Tableau *t, uint32_t row) {
    return t->number + (size_t)row * t->stride;
}

static double rhs_of(const Tableau *t, uint32_t row) {
    return row_of(t, row)[t->count + 1];
}

// With w as the basis.
static void fill(Tableau *t, LcpCount *count) {
    uint32_t n = t->count;
    for (uint32_t i = 0; i < n; i++) {
        double *row = row_of(t, i);
        const double *from = t->system->matrix + (size_t)i * n;
        for (uint32_t j = 0; j < n; j++) {
            row[j] = -from[j];
        }
        const LcpShare *share = &t->system->share[i];
        for (uint32_t j = share->begin; t->options->softness > 0.0 && j < share->end; j++) {
            row[j] -= t->options->softness * lcp_share(t->system, i, j);
        }
        row[n] = -t->options->cover[i];
        row[n + 1] = t->system->b[i];
        memset(row + n + 2, 0, (t->stride - n - 2) * sizeof(double));
        t->basic[i] = i;
        t->entered[i] = n + i;
        t->place[i] = -1 - (int32_t)i;
        lcp_count(count, n);
    }
    t->entered[n] = 2 * n;
}

static bool take_tableau(const LcpSystem *system, const LemkeOptions *options, Arena *arena,
                         LcpCount *count, Tableau *t) {
    uint32_t n = system->count;
    *t = (Tableau){.count = n,
                   .stride = ((size_t)n + 2 + 7) & ~(size_t)7,
                   .basic = arena_take_array(arena, n, sizeof(uint32_t)),
                   .entered = arena_take_array(arena, (size_t)n + 1, sizeof(uint32_t)),
                   .place = arena_take_array(arena, n, sizeof(int32_t)),
                   .tied = arena_take_array(arena, n, sizeof(uint32_t)),
                   .is_wanted = arena_take_array(arena, 2 * (size_t)n + 1, 1),
                   .system = system,
                   .options = options};
    t->number = arena_take_array(arena, n * t->stride, sizeof(double));
    if (t->basic == NULL || t->entered == NULL || t->place == NULL || t->tied == NULL ||
        t->is_wanted == NULL || t->number == NULL) {
        return false;
    }
    fill(t, count);
    return true;
}

// The largest variable that is no wide bound: what tolerances are shares of.
static double size_of(const Tableau *t) {
    double size = 0.0;
    for (uint32_t i = 0; i < t->count; i++) {
        double value = fabs(rhs_of(t, i));
        bool is_wide = t->basic[i] < t->count && t->system->is_wide[t->basic[i]] != 0;
        size = value > size && !is_wide ? value : size;
    }
    return size;
}

// Entry of the inverse of the basis: the column of w_j.
static double inverse_of(const Tableau *t, uint32_t row, uint32_t j) {
    int32_t place = t->place[j];
    return place >= 0 ? row_of(t, row)[place] : place == -1 - (int32_t)row ? 1.0 : 0.0;
}

// What the right-hand side of a row is the sum of, of which its rounding is a share: it is the row
// of the inverse by b.
static double terms_of(const Tableau *t, uint32_t row) {
    double sum = 0.0;
    for (uint32_t j = 0; j < t->count; j++) {
        sum += t->system->is_wide[j] != 0 ? 0.0 : fabs(inverse_of(t, row, j) * t->system->b[j]);
    }
    return sum;
}

// Whether so little is left of a row as rounding may have put there.
static bool is_rounding(const Tableau *t, uint32_t row, double left) {
    return left <= t->options->tie * (terms_of(t, row) + fabs(rhs_of(t, row)));
}

// Of the rows that tie, the one whose row of the inverse over its pivot is least, number after
// number.
static uint32_t break_tie(const Tableau *t, uint32_t column, uint32_t tied_count, LcpCount *count) {
    uint32_t *tied = t->tied;
    for (uint32_t j = 0; j < t->count && tied_count > 1; j++) {
        double least = HUGE_VAL, largest = 0.0;
        for (uint32_t i = 0; i < tied_count; i++) {
            double value = inverse_of(t, tied[i], j) / row_of(t, tied[i])[column];
            least = value < least ? value : least;
            largest = fabs(value) > largest ? fabs(value) : largest;
        }
        uint32_t kept = 0;
        for (uint32_t i = 0; i < tied_count; i++) {
            double value = inverse_of(t, tied[i], j) / row_of(t, tied[i])[column];
            if (value <= least + t->options->tie * largest) {
                tied[kept++] = tied[i];
            }
        }
        tied_count = kept > 0 ? kept : tied_count;
        lcp_count(count, 4 * (uint64_t)tied_count);
    }
    return tied[0];
}

// The row whose variable leaves when that of the column grows; false: none does.
static bool choose_row(const Tableau *t, uint32_t column, LcpCount *count, uint32_t *chosen) {
    double largest = 0.0, least = HUGE_VAL;
    for (uint32_t i = 0; i < t->count; i++) {
        double entry = fabs(row_of(t, i)[column]);
        largest = entry > largest ? entry : largest;
    }
    double floor = PIVOT_SHARE_MIN * largest;
    for (uint32_t i = 0; i < t->count; i++) {
        double entry = row_of(t, i)[column];
        if (entry > floor && rhs_of(t, i) < least * entry) {
            least = rhs_of(t, i) / entry;
        }
    }
    if (!(least < HUGE_VAL)) {
        return false;
    }
    double slack = t->options->tie * size_of(t);
    uint32_t tied_count = 0;
    for (uint32_t i = 0; i < t->count; i++) {
        double entry = row_of(t, i)[column];
        if (!(entry > floor)) {
            continue;
        }
        double left = rhs_of(t, i) - least * entry;
        // the largest variable says nothing of z0 where impulses are those of heavy things
        if (t->basic[i] == 2 * t->count && left <= LAST_TIE * t->options->tie * terms_of(t, i)) {
            *chosen = i;
            return true;
        }
        if (left <= slack && (!t->options->is_careful || is_rounding(t, i, left))) {
            t->tied[tied_count++] = i;
        }
    }
    if (tied_count == 0) { // not a number somewhere
        return false;
    }
    *chosen = break_tie(t, column, tied_count, count);
    return true;
}

static void note_place(const Tableau *t, uint32_t variable, int32_t place) {
    if (variable < t->count) {
        t->place[variable] = place;
    }
}

// Exchanges the variables of a row and a column; returns the one that left.
static uint32_t pivot(Tableau *t, uint32_t chosen, uint32_t column, LcpCount *count) {
    double *above = row_of(t, chosen);
    double inverse = 1.0 / above[column];
    above[column] = 1.0;
    for (size_t k = 0; k < t->stride; k++) {
        above[k] *= inverse;
    }
    for (uint32_t i = 0; i < t->count; i++) {
        double *row = row_of(t, i);
        double factor = row[column];
        if (i != chosen && factor != 0.0) {
            row[column] = 0.0;
            lcp_row_subtract(row, above, factor, t->stride);
            lcp_count(count, t->stride);
        }
    }
    uint32_t left = t->basic[chosen];
    t->basic[chosen] = t->entered[column];
    t->entered[column] = left;
    note_place(t, t->basic[chosen], -1 - (int32_t)chosen);
    note_place(t, left, (int32_t)column);
    count->pivots++;
    return left;
}

// The largest entry that brings a variable to the basis that is wanted there, for one that is not.
static bool find_largest(const Tableau *t, LcpCount *count, uint32_t *row, uint32_t *column) {
    double largest = 0.0;
    for (uint32_t i = 0; i < t->count; i++) {
        const double *of = row_of(t, i);
        for (uint32_t k = 0; k <= t->count && t->is_wanted[t->basic[i]] == 0; k++) {
            if (fabs(of[k]) > largest && t->is_wanted[t->entered[k]] != 0) {
                largest = fabs(of[k]);
                *row = i;
                *column = k;
            }
        }
        lcp_count(count, t->count);
    }
    return largest > 0.0;
}

// The same basis, without the rounding of the pivots that led to it. False: it is singular, and
// only rounding has led there.
static bool make_anew(Tableau *t, LcpCount *count) {
    uint32_t row = 0, column = 0;
    uint64_t pivots = count->pivots;
    memset(t->is_wanted, 0, 2 * (size_t)t->count + 1);
    for (uint32_t i = 0; i < t->count; i++) {
        t->is_wanted[t->basic[i]] = 1;
    }
    fill(t, count);
    while (!count->is_stopped && find_largest(t, count, &row, &column)) {
        pivot(t, row, column, count);
    }
    count->pivots = pivots; // those are no steps of the algorithm
    bool is_same = true;
    for (uint32_t i = 0; i < t->count; i++) {
        is_same = is_same && t->is_wanted[t->basic[i]] != 0;
    }
    return is_same;
}

// The row that z0 takes the place of: the lexicographic least of [b, I] / d. Of those that tie it
// is the last.
static uint32_t first_row(const Tableau *t, const double *cover) {
    uint32_t chosen = 0;
    double least = HUGE_VAL, slack = t->options->tie * size_of(t);
    for (uint32_t i = 0; i < t->count; i++) {
        double ratio = rhs_of(t, i) / cover[i];
        least = ratio < least ? ratio : least;
    }
    for (uint32_t i = 0; i < t->count; i++) {
        chosen = rhs_of(t, i) / cover[i] <= least + slack ? i : chosen;
    }
    return chosen;
}

static uint32_t column_of(const Tableau *t, uint32_t variable) {
    uint32_t column = 0;
    while (t->entered[column] != variable) {
        column++;
        ASSERT(column <= t->count);
    }
    return column;
}

// z0 covers what is violated: how far from an answer the tableau is.
static void note(const Tableau *t, const LemkeOptions *options, uint64_t pivots) {
    if (options->history == NULL) {
        return;
    }
    double covered = 0.0;
    for (uint32_t i = 0; i < t->count; i++) {
        covered = t->basic[i] == 2 * t->count ? rhs_of(t, i) : covered;
    }
    history_note(options->history, pivots, covered);
}

static LemkeEnd pivot_until_done(Tableau *t, const LemkeOptions *options, LcpCount *count) {
    uint32_t n = t->count;
    uint64_t fresh = 1 + n / FRESH_SHARE;
    uint32_t left = pivot(t, first_row(t, options->cover), n, count);
    note(t, options, 1);
    for (uint64_t i = 1; i < options->pivot_max && !count->is_stopped; i++) {
        if (options->is_careful && i % fresh == 0 && !make_anew(t, count)) {
            break;
        }
        uint32_t column = column_of(t, left < n ? left + n : left - n), chosen;
        if (!choose_row(t, column, count, &chosen)) {
            return LEMKE_RAY;
        }
        left = pivot(t, chosen, column, count);
        note(t, options, i + 1);
        if (left == 2 * n) {
            return LEMKE_SOLVED;
        }
        lcp_count(count, 8 * (uint64_t)n);
    }
    return LEMKE_PIVOTS;
}

static void read_answer(const Tableau *t, double *z, uint8_t *basis) {
    uint32_t n = t->count;
    memset(z, 0, n * sizeof(double));
    memset(basis, LCP_OUT, n);
    for (uint32_t i = 0; i < n; i++) {
        if (t->basic[i] >= n && t->basic[i] < 2 * n) {
            z[t->basic[i] - n] = rhs_of(t, i);
            basis[t->basic[i] - n] = LCP_IN;
        }
    }
}

static bool is_answered(const LcpSystem *system) {
    for (uint32_t i = 0; i < system->count; i++) {
        if (!(system->b[i] >= 0.0)) {
            return false;
        }
    }
    return true;
}

Status lemke_run(const LcpSystem *system, const LemkeOptions *options, Arena *arena,
                 LcpCount *count, double *z, uint8_t *basis, LemkeEnd *end) {
    ASSERT(system->count < (uint32_t)INT32_MAX / 2);
    if (is_answered(system)) {
        memset(z, 0, system->count * sizeof(double));
        memset(basis, LCP_OUT, system->count);
        *end = LEMKE_SOLVED;
        return STATUS_OK;
    }
    ArenaMark mark = arena_mark(arena);
    Tableau tableau;
    Status status = STATUS_RESOURCE_EXHAUSTED;
    if (take_tableau(system, options, arena, count, &tableau)) {
        *end = pivot_until_done(&tableau, options, count);
        read_answer(&tableau, z, basis);
        status = count->is_stopped ? STATUS_ABORTED : STATUS_OK;
    }
    arena_reset_to(arena, mark);
    return status;
}
