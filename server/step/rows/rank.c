// SPDX-License-Identifier: MIT
#include "step/rows/rank.h"

#include "base/assert.h"
#include "step/rows/loops.h"
#include "step/rows/rows.h"

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
    uint32_t trees;         // on a loop: bits of those of its trees that it moves
    size_t begin, end;      // the numbers before and behind which are 0
    double *number;         // along the velocities of both, or of all that are on the loop
    double recovery;        // what is asked of it
    double motion;          // what bodies that no force moves add to it
} RankedRow;

// Rows of a joint, less all that are kept.
typedef struct Rest {
    RowLoop *loop;        // NULL: of trees
    RankedRow **ranked;   // the list that they are compared with, and come into
    uint32_t tree[2];     // the second PROBLEM_NO_TREE: of one
    uint32_t place[2];    // on a loop: which of its trees those are
    uint32_t trees;       // likewise: bits of all that what is left moves
    bool is_of_trees;     // no body is free
    size_t stride, width; // numbers of a row in the problem, and here
    uint32_t count;
    double *number[ROWS_MAX];
    double square[ROWS_MAX];   // of the levers of each
    double recovery[ROWS_MAX]; // what is asked of what is left of each
    double motion[ROWS_MAX];   // what is added to that
    bool is_kept[ROWS_MAX];
} Rest;

static double dot(const double *a, const double *b, size_t begin, size_t end) {
    double sum = 0.0;
    for (size_t k = begin; k < end; k++) {
        sum += a[k] * b[k];
    }
    return sum;
}

// What is left of a row without one that is kept, and of what is asked of it.
static void take_out(Rest *rest, uint32_t row, const RankedRow *kept) {
    double *a = rest->number[row];
    const double part = dot(a, kept->number, kept->begin, kept->end);
    for (size_t k = kept->begin; k < kept->end; k++) {
        a[k] -= part * kept->number[k];
    }
    rest->recovery[row] -= part * kept->recovery;
    rest->motion[row] -= part * kept->motion;
}

static uint32_t place_on(const RowLoop *loop, uint32_t tree) {
    uint32_t place = 0;
    while (loop->tree[place] != tree) {
        place++;
        ASSERT(place < loop->tree_count);
    }
    return place;
}

// All rows of a joint have the same blocks, one behind the other. false: they are compared with
// none.
static bool has_rank(StepState *state, const RowRanking *ranking, Rest *rest) {
    ASSERT(ranking->count <= 6);
    const Stepper *stepper = state->stepper;
    *rest = (Rest){.ranked = &state->ranked,
                   .tree = {PROBLEM_NO_TREE, PROBLEM_NO_TREE},
                   .count = ranking->count};
    if (ranking->count == 0) {
        return false;
    }
    const ProblemRow *row = &stepper->row[ranking->row_first];
    rest->loop = row_loops_of(state, stepper->row_key[ranking->row_first].joint);
    rest->is_of_trees = true;
    for (uint32_t b = 0; b < row->block_count; b++) {
        rest->tree[b] = stepper->row_block[row->block_first + b].tree;
        rest->stride += state->tree[rest->tree[b]].width;
        rest->is_of_trees = rest->is_of_trees && rest->tree[b] >= state->free_count;
        if (rest->loop != NULL) {
            rest->place[b] = place_on(rest->loop, rest->tree[b]);
            rest->trees |= 1u << rest->place[b];
        } else if (rest->tree[b] < state->free_count) {
            return false;
        }
    }
    if (rest->loop != NULL) {
        rest->ranked = &rest->loop->ranked;
    }
    rest->width = rest->loop == NULL ? rest->stride : rest->loop->width;
    return true;
}

static const double *numbers_of(const Stepper *stepper, uint32_t row) {
    ASSERT(row < stepper->row_count);
    return stepper->number + stepper->row_block[stepper->row[row].block_first].jacobian;
}

// Along the velocities of all trees of the loop: turns in units of its size, so that those of
// millimetres and of kilometres are ranked alike.
static void lay_out(const StepState *state, const Rest *rest, const double *numbers, double *wide) {
    const RowLoop *loop = rest->loop;
    ASSERT(loop->size > 0.0);
    const double unit = 1.0 / loop->size;
    memset(wide, 0, rest->width * sizeof(double));
    for (uint32_t b = 0; b < 2 && rest->tree[b] != PROBLEM_NO_TREE; b++) {
        const uint32_t first = loop->first[rest->place[b]],
                       width = state->tree[rest->tree[b]].width;
        for (uint32_t k = 0; k < width; k++) {
            wide[first + k] = (loop->turns[first + k] ? unit : 1.0) * *numbers++;
        }
    }
}

// Of the levers of a row that is laid out: along coordinates, whatever their directions, too.
static double laid_square(const Rest *rest, const RowRanking *ranking, uint32_t row) {
    const double unit = 1.0 / rest->loop->size, turned = ranking->turned[row];
    return dot(rest->number[row], rest->number[row], 0, rest->width) +
           (ranking->square[row] - turned) + unit * unit * turned;
}

static bool copy_rows(const StepState *state, const RowRanking *ranking, Rest *rest) {
    for (uint32_t i = 0; i < rest->count; i++) {
        const double *numbers = numbers_of(state->stepper, ranking->row_first + i);
        rest->number[i] = arena_take_array(state->scratch, rest->width, sizeof(double));
        if (rest->number[i] == NULL) {
            return false;
        }
        if (rest->loop == NULL) {
            memcpy(rest->number[i], numbers, rest->width * sizeof(double));
            rest->square[i] = ranking->square[i];
        } else {
            lay_out(state, rest, numbers, rest->number[i]);
            rest->square[i] = laid_square(rest, ranking, i);
        }
        rest->recovery[i] = ranking->recovery[i];
        rest->motion[i] = ranking->motion[i];
    }
    return true;
}

// Those that share no body with the joint, what is left has no part of: they are at right angles to
// each other.
static void take_out_kept(Rest *rest) {
    const uint32_t own = rest->trees;
    uint32_t count = 0;
    for (const RankedRow *kept = *rest->ranked; kept != NULL; kept = kept->next) {
        const bool is_met = rest->loop != NULL
                                ? (kept->trees & own) != 0
                                : kept->tree[0] == rest->tree[0] && kept->tree[1] == rest->tree[1];
        if (!is_met) {
            continue;
        }
        if (rest->loop == NULL && count++ == RANKED_MAX) {
            break;
        }
        for (uint32_t i = 0; i < rest->count; i++) {
            take_out(rest, i, kept);
        }
        rest->trees |= kept->trees;
    }
}

// The first row of which most is left, against its levers; the count of rows: nothing is of any.
static uint32_t find_pivot(const Rest *rest) {
    double most = RANK_LEVER * RANK_LEVER;
    uint32_t pivot = rest->count;
    for (uint32_t i = 0; i < rest->count; i++) {
        const double square = dot(rest->number[i], rest->number[i], 0, rest->width);
        if (!rest->is_kept[i] && !(square <= most * rest->square[i])) {
            most = (1.0 + TIE_PART) * (square / rest->square[i]);
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
        RANK_HASTE * state->world->settings.recovery_speed * length / sqrt(rest->square[pivot]);
    const double taken = fmax(fmin(asked, most), -most);
    if (taken != asked && !state->is_projecting) {
        state->stepper->row[ranking->row_first + pivot].bias += taken - asked;
        return taken;
    }
    return asked;
}

// Trees stand in their order: from the first that a row moves to the last one.
static void bound(const Rest *rest, RankedRow *kept) {
    kept->begin = 0;
    kept->end = rest->width;
    if (rest->loop != NULL) {
        const RowLoop *loop = rest->loop;
        uint32_t low = 0, high = loop->tree_count;
        ASSERT(kept->trees != 0);
        while ((kept->trees >> low & 1) == 0) {
            low++;
        }
        while ((kept->trees >> (high - 1) & 1) == 0) {
            high--;
        }
        kept->begin = loop->first[low];
        kept->end = high == loop->tree_count ? loop->width : loop->first[high];
    }
}

static bool keep(StepState *state, const RowRanking *ranking, Rest *rest, uint32_t pivot) {
    RankedRow *kept = arena_take(state->scratch, sizeof(*kept));
    if (kept == NULL) {
        return false;
    }
    double *number = rest->number[pivot];
    const double length = sqrt(dot(number, number, 0, rest->width));
    for (size_t k = 0; k < rest->width; k++) {
        number[k] /= length;
    }
    *kept = (RankedRow){.next = *rest->ranked,
                        .tree = {rest->tree[0], rest->tree[1]},
                        .trees = rest->trees,
                        .number = number,
                        .recovery = calm(state, ranking, rest, pivot, length) / length,
                        .motion = rest->motion[pivot] / length};
    bound(rest, kept);
    *rest->ranked = kept;
    rest->is_kept[pivot] = true;
    for (uint32_t i = 0; i < rest->count; i++) {
        if (!rest->is_kept[i]) {
            take_out(rest, i, kept);
        }
    }
    return true;
}

// Acts of rows that are gone go with them; the others follow theirs. `to` is where each row went.
static void follow_acts(StepJoints *told, uint32_t first, const uint32_t to[ROWS_MAX]) {
    uint32_t begin = told->act_count;
    while (begin > 0 && step_act_is_of_row(&told->act[begin - 1]) &&
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
        memmove(stepper->number + begin + count * rest->stride,
                stepper->number + begin + i * rest->stride, rest->stride * sizeof(double));
        count++;
    }
    stepper->idle_row_count += rest->count - count;
    stepper->row_count = first + count;
    stepper->row_block_count = head.block_first + count * head.block_count;
    stepper->number_count = begin + count * rest->stride;
    if (stepper->joints != NULL) {
        follow_acts(stepper->joints, first, to);
    }
}

// Adds a block of the last row: `own` of the joint, without what is left of the row, if anything.
static bool add_block(StepState *state, const Rest *rest, uint32_t row, uint32_t place,
                      const double *own) {
    const RowLoop *loop = rest->loop;
    ASSERT(place < loop->tree_count);
    Stepper *stepper = state->stepper;
    double *block = rows_add_block(state, &stepper->row[stepper->row_count - 1], loop->tree[place]);
    if (block == NULL) {
        return false;
    }
    const uint32_t first = loop->first[place], width = state->tree[loop->tree[place]].width;
    for (uint32_t k = 0; k < width; k++) {
        const double left = rest->is_kept[row] ? 0.0 : rest->number[row][first + k];
        block[k] =
            (own == NULL ? 0.0 : own[k]) - (loop->turns[first + k] ? loop->size : 1.0) * left;
    }
    return true;
}

static bool add_blocks(StepState *state, const Rest *rest, uint32_t row, const double *own) {
    uint32_t is_own = 0;
    for (uint32_t b = 0; b < 2 && rest->tree[b] != PROBLEM_NO_TREE; b++) {
        is_own |= 1u << rest->place[b];
        if (!add_block(state, rest, row, rest->place[b], own)) {
            return false;
        }
        own += state->tree[rest->tree[b]].width;
    }
    const uint32_t others = rest->is_kept[row] ? 0 : rest->trees & ~is_own;
    for (uint32_t place = 0; place < rest->loop->tree_count; place++) {
        if ((others >> place & 1) != 0 && !add_block(state, rest, row, place, NULL)) {
            return false;
        }
    }
    return true;
}

// Rows of free bodies on a loop of which nothing is left become, to rounding, what those are that
// say the same, in levers and in what is asked: so they bear their share of it, and nothing else.
static bool make_dependent(StepState *state, const RowRanking *ranking, const Rest *rest) {
    ASSERT(rest->loop != NULL);
    Stepper *stepper = state->stepper;
    const uint32_t first = ranking->row_first;
    const size_t count = rest->count * rest->stride;
    double *own = arena_take_array(state->scratch, count, sizeof(double));
    if (own == NULL) {
        return false;
    }
    memcpy(own, numbers_of(stepper, first), count * sizeof(double));
    const RowBlock *head = &stepper->row_block[stepper->row[first].block_first];
    stepper->number_count = head->jacobian;
    stepper->row_block_count = stepper->row[first].block_first;
    for (uint32_t i = 0; i < rest->count; i++) {
        ProblemRow *row = &stepper->row[first + i];
        row->block_first = stepper->row_block_count;
        row->block_count = 0;
        stepper->row_count = first + i + 1;
        if (!add_blocks(state, rest, i, own + i * rest->stride)) {
            return false;
        }
        if (!rest->is_kept[i]) {
            row->bias -= rest->recovery[i] + rest->motion[i];
            row->gap = state->is_projecting ? row->bias : row->gap;
            stepper->row_key[first + i].motion -= rest->motion[i];
        }
    }
    return true;
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
    take_out_kept(&rest);
    uint32_t pivot, count = 0;
    while ((pivot = find_pivot(&rest)) < rest.count) {
        if (!keep(state, ranking, &rest, pivot)) {
            return false;
        }
        count++;
    }
    if (count < rest.count && !rest.is_of_trees) {
        return make_dependent(state, ranking, &rest);
    }
    if (count < rest.count) {
        move_up(state, ranking, &rest);
    }
    return true;
}
