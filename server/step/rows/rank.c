// SPDX-License-Identifier: MIT
#include "step/rows/rank.h"

#include "base/assert.h"

#include <math.h>
#include <string.h>

enum { ROWS_MAX = 6 };
// Of a tree, that further rows are compared with: each costs them a product.
enum { RANKED_MAX = 60 };
// Of two rows of which as much is left, but for this part, the first one is kept: which turn and
// which move of a joint repeat each other is no matter of rounding.
#define TIE_PART 1e-9

// A row that is kept, less those kept before it, of length 1.
typedef struct RankedRow {
    struct RankedRow *next; // kept before it
    uint32_t tree[2];       // the second PROBLEM_NO_TREE: of one
    double *number;         // along the velocities of both
    double recovery;        // what is asked of it
} RankedRow;

// Rows of a joint, less all that are kept.
typedef struct Rest {
    uint32_t tree[2];
    size_t width;
    uint32_t count;
    double *number[ROWS_MAX];
    double recovery[ROWS_MAX]; // what is asked of what is left of each
    bool is_kept[ROWS_MAX];
} Rest;

static double dot(const double *a, const double *b, size_t width) {
    double sum = 0.0;
    for (size_t k = 0; k < width; k++) {
        sum += a[k] * b[k];
    }
    return sum;
}

// What is left of a row without one of length 1, and of what is asked of it.
static void take_out(Rest *rest, uint32_t row, const double *other, double recovery) {
    double *a = rest->number[row];
    const double part = dot(a, other, rest->width);
    for (size_t k = 0; k < rest->width; k++) {
        a[k] -= part * other[k];
    }
    rest->recovery[row] -= part * recovery;
}

// All rows of a joint have the same blocks, one behind the other.
static bool has_rank(const StepState *state, const RowRanking *ranking, Rest *rest) {
    ASSERT(ranking->count <= 6);
    const Stepper *stepper = state->stepper;
    *rest = (Rest){.tree = {PROBLEM_NO_TREE, PROBLEM_NO_TREE}, .count = ranking->count};
    if (ranking->count == 0) {
        return false;
    }
    const ProblemRow *row = &stepper->row[ranking->row_first];
    for (uint32_t b = 0; b < row->block_count; b++) {
        rest->tree[b] = stepper->row_block[row->block_first + b].tree;
        rest->width += state->tree[rest->tree[b]].width;
        if (rest->tree[b] < state->free_count) {
            return false;
        }
    }
    return true;
}

static const double *numbers_of(const Stepper *stepper, uint32_t row) {
    ASSERT(row < stepper->row_count);
    return stepper->number + stepper->row_block[stepper->row[row].block_first].jacobian;
}

static bool copy_rows(const StepState *state, const RowRanking *ranking, Rest *rest) {
    for (uint32_t i = 0; i < rest->count; i++) {
        rest->number[i] = arena_take_array(state->scratch, rest->width, sizeof(double));
        if (rest->number[i] == NULL) {
            return false;
        }
        memcpy(rest->number[i], numbers_of(state->stepper, ranking->row_first + i),
               rest->width * sizeof(double));
        rest->recovery[i] = ranking->recovery[i];
    }
    uint32_t count = 0;
    for (const RankedRow *kept = state->ranked; kept != NULL && count < RANKED_MAX;
         kept = kept->next) {
        if (kept->tree[0] == rest->tree[0] && kept->tree[1] == rest->tree[1]) {
            for (uint32_t i = 0; i < rest->count; i++) {
                take_out(rest, i, kept->number, kept->recovery);
            }
            count++;
        }
    }
    return true;
}

// The first row of which most is left, against its levers; the count of rows: nothing is of any.
static uint32_t find_pivot(const Rest *rest, const RowRanking *ranking) {
    double most = RANK_LEVER * RANK_LEVER;
    uint32_t pivot = rest->count;
    for (uint32_t i = 0; i < rest->count; i++) {
        const double square = dot(rest->number[i], rest->number[i], rest->width);
        if (!rest->is_kept[i] && !(square <= most * ranking->square[i])) {
            most = (1.0 + TIE_PART) * (square / ranking->square[i]);
            pivot = i;
        }
    }
    return pivot;
}

// Of a row that is kept, what is asked of what is left of it, so long, is what it may be.
static double calm(StepState *state, const RowRanking *ranking, const Rest *rest, uint32_t pivot,
                   double length) {
    const double asked = rest->recovery[pivot];
    const double most =
        RANK_HASTE * state->world->settings.recovery_speed * length / sqrt(ranking->square[pivot]);
    const double taken = fmax(fmin(asked, most), -most);
    if (taken != asked && !state->is_projecting) {
        state->stepper->row[ranking->row_first + pivot].bias += taken - asked;
        return taken;
    }
    return asked;
}

static bool keep(StepState *state, const RowRanking *ranking, Rest *rest, uint32_t pivot) {
    RankedRow *kept = arena_take(state->scratch, sizeof(*kept));
    if (kept == NULL) {
        return false;
    }
    double *number = rest->number[pivot];
    const double length = sqrt(dot(number, number, rest->width)),
                 recovery = calm(state, ranking, rest, pivot, length) / length;
    for (size_t k = 0; k < rest->width; k++) {
        number[k] /= length;
    }
    rest->is_kept[pivot] = true;
    for (uint32_t i = 0; i < rest->count; i++) {
        if (!rest->is_kept[i]) {
            take_out(rest, i, number, recovery);
        }
    }
    *kept = (RankedRow){state->ranked, {rest->tree[0], rest->tree[1]}, number, recovery};
    state->ranked = kept;
    return true;
}

// Acts of rows that are gone go with them; the others follow theirs. `to` is where each row went.
static void follow_acts(StepJoints *told, uint32_t first, const uint32_t to[ROWS_MAX]) {
    uint32_t begin = told->act_count;
    while (begin > 0 && told->act[begin - 1].row != STEP_ACT_GIVEN &&
           told->act[begin - 1].row >= first) {
        begin--;
    }
    uint32_t end = begin;
    for (uint32_t i = begin; i < told->act_count; i++) {
        StepAct act = told->act[i];
        act.row = to[act.row - first];
        if (act.row != STEP_ACT_GIVEN) {
            told->act[end++] = act;
        }
    }
    told->act_count = end;
}

// Rows, blocks and numbers of what stays move up.
static void move_up(const StepState *state, const RowRanking *ranking, const Rest *rest) {
    Stepper *stepper = state->stepper;
    const uint32_t first = ranking->row_first;
    uint32_t to[ROWS_MAX], count = 0;
    const ProblemRow head = stepper->row[first];
    const size_t begin = stepper->row_block[head.block_first].jacobian;
    for (uint32_t i = 0; i < rest->count; i++) {
        to[i] = STEP_ACT_GIVEN;
        if (!rest->is_kept[i]) {
            continue;
        }
        to[i] = first + count;
        stepper->row[to[i]] = stepper->row[first + i];
        stepper->row[to[i]].block_first = head.block_first + count * head.block_count;
        stepper->row_key[to[i]] = stepper->row_key[first + i];
        memmove(stepper->number + begin + count * rest->width,
                stepper->number + begin + i * rest->width, rest->width * sizeof(double));
        count++;
    }
    stepper->idle_row_count += rest->count - count;
    stepper->row_count = first + count;
    stepper->row_block_count = head.block_first + count * head.block_count;
    stepper->number_count = begin + count * rest->width;
    if (stepper->joints != NULL) {
        follow_acts(stepper->joints, first, to);
    }
}

bool row_rank_keep(StepState *state, const RowRanking *ranking) {
    ASSERT(ranking->row_first + ranking->count == state->stepper->row_count);
    Rest rest;
    if (!has_rank(state, ranking, &rest)) {
        return true;
    }
    if (!copy_rows(state, ranking, &rest)) {
        return false;
    }
    uint32_t pivot, count = 0;
    while ((pivot = find_pivot(&rest, ranking)) < rest.count) {
        if (!keep(state, ranking, &rest, pivot)) {
            return false;
        }
        count++;
    }
    if (count < rest.count) {
        move_up(state, ranking, &rest);
    }
    return true;
}
