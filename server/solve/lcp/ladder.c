// SPDX-License-Identifier: MIT
#include "solve/lcp/ladder.h"

#include "base/assert.h"
#include "solve/lcp/basis.h"

#include <math.h>
#include <string.h>

// relative to the largest variable
#define TIE      1e-12
#define TIE_WIDE 1e-10

// e of N + e D, of a diagonal of 1: far above what rounding makes of a pivot, and far below what
// would change which contacts carry where they are not more than are needed
#define SOFTNESS 1e-7

enum { COVER_COUNT = 3, EXCHANGES_MAX = 16, LITTLE = 4 };

// Shares of the diagonal of N, about, that are added to it. The less, the fewer rounds; with too
// little, ties are resolved by rounding again. The first is what most islands are solved with.
static const double diagonals[] = {1e-7, 1e-6, 1e-8, 1e-5, 1e-4};
enum { DIAGONAL_COUNT = sizeof(diagonals) / sizeof(diagonals[0]) };
// rounds of one of them, and how many may bring nothing in a row: each is to halve what is left
enum { ROUNDS_MAX = 40, IDLE_MAX = 4 };
#define HALVES 0.5

typedef struct Ladder {
    const LcpSystem *system;
    const LcpClimbOptions *options;
    Arena *arena;
    LcpCount *count;
    uint64_t pivot_end; // of the count
    double *z;          // the best so far
    uint8_t *basis;
    double best;
    bool is_enough;    // it is an answer
    double *trial, *w; // [count]
    uint8_t *trial_basis;
    double *cover;
    LemkeEnd end; // of the first attempt that was not softened
    bool has_end;
    bool is_tried; // something was
} Ladder;

static bool is_enough(const Ladder *ladder) {
    return ladder->is_enough;
}

// Keeps the trial where it is better than what there is.
static void keep_better(Ladder *ladder) {
    VALIDATE(ladder->trial != ladder->z);
    double residual = lcp_residual(ladder->system, ladder->trial, ladder->w, ladder->count);
    bool is_answer = lcp_is_answer(ladder->system, ladder->trial, ladder->w,
                                   ladder->options->enough, ladder->count);
    if (is_answer != ladder->is_enough ? is_answer : residual < ladder->best) {
        ladder->best = residual;
        ladder->is_enough = is_answer;
        memcpy(ladder->z, ladder->trial, ladder->system->count * sizeof(double));
        memcpy(ladder->basis, ladder->trial_basis, ladder->system->count);
    }
}

// The answer of the trial's basis, which carries no rounding of pivots.
static Status try_basis(Ladder *ladder) {
    Status status = lcp_solve_basis(ladder->system, ladder->trial_basis, ladder->arena,
                                    ladder->count, ladder->trial);
    if (status == STATUS_OK) {
        lcp_turn_friction(ladder->system, ladder->trial_basis, ladder->count, ladder->trial);
        keep_better(ladder);
    }
    return status;
}

// Whether a number of row i is negative, and not by rounding.
static bool is_wrong(const Ladder *ladder, uint32_t i, double value) {
    return value < -ladder->options->enough &&
           !lcp_is_rounding(ladder->system, ladder->trial, i, value);
}

// Exchanges all of the trial's basis that its answer shows to be wrong, and says how much it is.
static uint32_t exchange_wrong(Ladder *ladder) {
    uint32_t wrong = 0;
    for (uint32_t i = 0; i < ladder->system->count; i++) {
        if (is_wrong(ladder, i, ladder->trial[i])) {
            ladder->trial_basis[i] = LCP_OUT;
            wrong++;
        } else if (ladder->trial_basis[i] == LCP_OUT && is_wrong(ladder, i, ladder->w[i])) {
            ladder->trial_basis[i] = LCP_IN;
            wrong++;
        }
    }
    VALIDATE(wrong <= ladder->system->count);
    return wrong;
}

// From a basis that is nearly right to one that is, as long as less and less of it is wrong, or
// only a little.
static Status try_near(Ladder *ladder) {
    Status status = try_basis(ladder);
    uint32_t before = UINT32_MAX;
    for (int i = 0; status == STATUS_OK && !is_enough(ladder) && i < EXCHANGES_MAX; i++) {
        uint32_t wrong = exchange_wrong(ladder);
        if (wrong == 0 || (wrong >= before && wrong > LITTLE)) {
            break;
        }
        before = wrong;
        status = try_basis(ladder);
    }
    return status;
}

// Most problems take fewer pivots than they have rows; what takes three times that goes round, and
// the next rung needs some as well.
static uint64_t pivots_left(const Ladder *ladder) {
    uint64_t used = ladder->count->pivots, many = 100 + 3 * (uint64_t)ladder->system->count;
    uint64_t left = ladder->pivot_end > used ? ladder->pivot_end - used : 0;
    return left < many ? left : many;
}

static Status run_lemke(Ladder *ladder, const LcpSystem *system, double tie, double softness,
                        LemkeEnd *end) {
    VALIDATE(system->count == ladder->system->count);
    VALIDATE(tie >= TIE && softness >= 0.0);
    LemkeOptions options = {.cover = ladder->cover,
                            .tie = tie,
                            .softness = softness,
                            .is_careful = ladder->is_tried,
                            .pivot_max = pivots_left(ladder),
                            .history = ladder->is_tried ? NULL : ladder->options->history};
    ladder->is_tried = true;
    return lemke_run(system, &options, ladder->arena, ladder->count, ladder->trial,
                     ladder->trial_basis, end);
}

static Status try_lemke(Ladder *ladder, double tie) {
    LemkeEnd end;
    Status status = run_lemke(ladder, ladder->system, tie, 0.0, &end);
    ladder->end = ladder->has_end ? ladder->end : end;
    ladder->has_end = true;
    if (status == STATUS_OK && end == LEMKE_SOLVED) {
        keep_better(ladder);
        status = try_basis(ladder);
    }
    return status;
}

// Softened, Lemke's algorithm has all contacts carry that can; what it says of others is nearly
// right.
static Status try_soft(Ladder *ladder) {
    LemkeEnd end;
    Status status = run_lemke(ladder, ladder->system, TIE, SOFTNESS, &end);
    return STATUS_THEN_IF(status, end == LEMKE_SOLVED, try_near(ladder));
}

// Positive numbers, other ones in each round: 1, then the fractions of multiples of the golden
// ratio, which are the farthest from each other.
static void set_cover(Ladder *ladder, uint32_t round) {
    for (uint32_t i = 0; i < ladder->system->count; i++) {
        double multiple = 0.6180339887498949 * (double)(i + 1) * (double)round;
        ladder->cover[i] = 1.0 + (multiple - floor(multiple));
    }
}

// The trial of a round: the answer of the basis of the round before, if that is one, or Lemke's.
// False: there is none.
static Status answer_round(Ladder *ladder, const LcpSystem *system, bool has_basis,
                           bool *is_found) {
    Status status = STATUS_OK;
    double enough = ladder->options->enough;
    *is_found = false;
    if (has_basis) {
        status = lcp_solve_basis(system, ladder->trial_basis, ladder->arena, ladder->count,
                                 ladder->trial);
        *is_found = status == STATUS_OK &&
                    lcp_residual(system, ladder->trial, ladder->w, ladder->count) < HUGE_VAL &&
                    lcp_is_answer(system, ladder->trial, ladder->w, enough, ladder->count);
    }
    if (status == STATUS_OK && !*is_found) {
        LemkeEnd end;
        status = run_lemke(ladder, system, TIE, 0.0, &end);
        *is_found = status == STATUS_OK && end == LEMKE_SOLVED;
        if (*is_found) {
            status = lcp_solve_basis(system, ladder->trial_basis, ladder->arena, ladder->count,
                                     ladder->trial);
        }
    }
    return status;
}

// Rounds of the proximal point algorithm with one diagonal, in `system`, until they are enough or
// bring nothing.
static Status go_round(Ladder *ladder, LcpSystem *system, double diagonal) {
    VALIDATE(system->b != ladder->system->b);
    VALIDATE(diagonal > 0.0);
    double *b = system->b, *before = b + system->count, least = HUGE_VAL;
    Status status = STATUS_OK;
    memset(before, 0, system->count * sizeof(double));
    for (int round = 0, idle = 0;
         status == STATUS_OK && !is_enough(ladder) && round < ROUNDS_MAX && idle < IDLE_MAX;
         round++) {
        for (uint32_t i = 0; i < system->count; i++) {
            b[i] = ladder->system->b[i] - diagonal * before[i];
        }
        bool is_found;
        status = answer_round(ladder, system, round > 0, &is_found);
        if (status != STATUS_OK || !is_found) {
            break;
        }
        memcpy(before, ladder->trial, system->count * sizeof(double));
        keep_better(ladder);
        double left = lcp_residual(ladder->system, ladder->trial, ladder->w, ladder->count);
        idle = left < HALVES * least ? 0 : idle + 1;
        least = left < least ? left : least;
    }
    return status;
}

// Memory of the rounds: a matrix of their own, b and the answer of the round before.
static bool take_system(const Ladder *ladder, LcpSystem *system) {
    size_t n = ladder->system->count;
    *system = *ladder->system;
    system->matrix = arena_take_array(ladder->arena, n * n, sizeof(double));
    system->b = arena_take_array(ladder->arena, 2 * n, sizeof(double));
    if (system->matrix == NULL || system->b == NULL) {
        return false;
    }
    memcpy(system->matrix, ladder->system->matrix, n * n * sizeof(double));
    return true;
}

static Status try_proximal(Ladder *ladder, double diagonal) {
    ArenaMark mark = arena_mark(ladder->arena);
    LcpSystem system;
    Status status = STATUS_RESOURCE_EXHAUSTED;
    if (take_system(ladder, &system)) {
        for (size_t i = 0; i < system.count; i++) {
            system.matrix[i * (system.count + 1)] += diagonal;
        }
        lcp_count(ladder->count, (uint64_t)system.count * system.count);
        status = go_round(ladder, &system, diagonal);
    }
    arena_reset_to(ladder->arena, mark);
    return status;
}

static Status climb_rungs(Ladder *ladder, LcpRung *rung) {
    *rung = LCP_RUNG_LEMKE;
    set_cover(ladder, 0);
    Status status = try_soft(ladder);
    status = STATUS_THEN_IF(status, !is_enough(ladder), try_lemke(ladder, TIE));
    for (uint32_t i = 1; status == STATUS_OK && !is_enough(ladder) && i <= COVER_COUNT; i++) {
        *rung = LCP_RUNG_COVER;
        set_cover(ladder, i);
        status = try_lemke(ladder, TIE);
    }
    for (uint32_t i = 0; status == STATUS_OK && !is_enough(ladder) && i < DIAGONAL_COUNT; i++) {
        *rung = LCP_RUNG_DIAGONAL;
        set_cover(ladder, 0);
        status = try_proximal(ladder, diagonals[i]);
    }
    for (uint32_t i = 0; status == STATUS_OK && !is_enough(ladder) && i <= COVER_COUNT; i++) {
        *rung = LCP_RUNG_TIES;
        set_cover(ladder, i);
        status = try_lemke(ladder, TIE_WIDE);
    }
    return status;
}

static bool take_ladder(Ladder *ladder) {
    size_t n = ladder->system->count;
    ladder->trial = arena_take_zeroed(ladder->arena, n, sizeof(double));
    ladder->w = arena_take_array(ladder->arena, n, sizeof(double));
    ladder->cover = arena_take_array(ladder->arena, n, sizeof(double));
    ladder->trial_basis = arena_take_zeroed(ladder->arena, n, 1);
    return ladder->trial != NULL && ladder->w != NULL && ladder->cover != NULL &&
           ladder->trial_basis != NULL;
}

static LcpRung unsolved(LemkeEnd end) {
    return end == LEMKE_RAY      ? LCP_RUNG_UNSOLVED_RAY
           : end == LEMKE_PIVOTS ? LCP_RUNG_UNSOLVED_PIVOTS
                                 : LCP_RUNG_UNSOLVED_RESIDUAL;
}

static Status climb_from(Ladder *ladder, LcpRung *rung) {
    VALIDATE(!ladder->is_tried);
    Status status = STATUS_OK;
    if (ladder->options->has_basis) {
        *rung = LCP_RUNG_BASIS;
        memcpy(ladder->trial_basis, ladder->basis, ladder->system->count);
        status = try_near(ladder);
    }
    if (!is_enough(ladder)) {
        // what rests on a guess that did not hold must not win over what Lemke finds
        ladder->best = HUGE_VAL;
        ladder->is_enough = false;
        memset(ladder->trial, 0, ladder->system->count * sizeof(double));
        memset(ladder->trial_basis, 0, ladder->system->count);
        keep_better(ladder);
        status = STATUS_THEN(status, climb_rungs(ladder, rung));
    }
    VALIDATE(*rung != LCP_RUNG_NONE);
    return status;
}

Status lcp_climb(const LcpSystem *system, const LcpClimbOptions *options, Arena *arena,
                 LcpCount *count, double *z, uint8_t *basis, LcpClimb *climb) {
    VALIDATE(z != NULL && basis != NULL);
    VALIDATE(options->enough > 0.0);
    ArenaMark mark = arena_mark(arena);
    Ladder ladder = {.system = system,
                     .options = options,
                     .arena = arena,
                     .count = count,
                     .pivot_end = count->pivots + options->pivot_max,
                     .z = z,
                     .basis = basis,
                     .best = HUGE_VAL};
    *climb = (LcpClimb){.rung = LCP_RUNG_NONE};
    memset(z, 0, system->count * sizeof(double));
    if (system->count == 0) {
        return STATUS_OK;
    }
    Status status = STATUS_RESOURCE_EXHAUSTED;
    if (take_ladder(&ladder)) {
        status = climb_from(&ladder, &climb->rung);
        climb->rung = is_enough(&ladder) ? climb->rung : unsolved(ladder.end);
        climb->residual = ladder.best;
    }
    arena_reset_to(arena, mark);
    return status;
}
