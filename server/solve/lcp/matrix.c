// SPDX-License-Identifier: MIT
#include "solve/lcp/matrix.h"

#include "base/assert.h"

#include <string.h>

// what is left of a row's or a contact's weight when the bilateral rows before it say the same
#define REDUNDANT 1e-11
// a part of the friction's bound that is rounding
#define ROUNDING 1e-9
// what bounds are beyond that say nothing: so many times what stops V
#define FAR 1e6

static bool has_friction(const LcpPart *part, uint32_t contact) {
    return part->problem->contact[contact].mu > 0.0;
}

static bool is_bilateral(const ProblemRow *row) {
    return isinf(row->low) && isinf(row->high);
}

static bool is_bounded(const ProblemRow *row) {
    return !isinf(row->low) && !isinf(row->high);
}

// No impulse will come near its bounds, unless it is a wonder: then the answer shows it. What is
// counted from a bound rounds as the bound does.
static bool is_far(const LcpMatrix *m, const ProblemRow *row, double weight) {
    double reach = FAR * m->part->v_scale;
    return !m->part->keeps_far && reach > 0.0 && weight * row->low < -reach &&
           weight * row->high > reach;
}

static double clip(double x, double low, double high) {
    return x < low ? low : x > high ? high : x;
}

uint64_t lcp_matrix_rows(const LcpPart *part) {
    VALIDATE(part->direction_count >= 4);
    VALIDATE(part->direction_count % 2 == 0);
    uint64_t rows = 0;
    for (uint32_t i = 0; i < part->contact_count; i++) {
        rows += has_friction(part, part->contact[i]) ? 2 + (uint64_t)part->direction_count : 1;
    }
    for (uint32_t i = 0; i < part->row_count; i++) {
        const ProblemRow *row = &part->problem->row[part->row[i]];
        rows += is_bounded(row) ? 2 : 1;
    }
    VALIDATE(rows >= (uint64_t)part->contact_count + part->row_count);
    return rows;
}

// ---- the Schur complement, line by line

// What an impulse of 1 along a line makes of the velocities; zero elsewhere.
typedef struct Response {
    double *v;      // [velocity_count]
    uint8_t *moves; // [tree_count]
} Response;

static void respond_tree(const LcpPart *part, Response *response, uint32_t tree) {
    mass_solve_tree(part->mass, tree, response->v + problem_first(part->problem, tree));
    response->moves[tree] = 1;
}

static void forget_tree(const LcpPart *part, Response *response, uint32_t tree) {
    const ProblemTree *t = &part->problem->tree[tree];
    memset(response->v + t->first, 0, t->width * sizeof(double));
    response->moves[tree] = 0;
}

static void each_tree(const LcpPart *part, Response *response, uint32_t item,
                      void (*act)(const LcpPart *, Response *, uint32_t)) {
    const ContactProblem *problem = part->problem;
    if (item < part->contact_count) {
        const ContactSide *side = problem->contact[part->contact[item]].side;
        for (int s = 0; s < 2; s++) {
            if (side[s].tree != PROBLEM_NO_TREE) {
                act(part, response, side[s].tree);
            }
        }
        return;
    }
    const ProblemRow *row = &problem->row[part->row[item - part->contact_count]];
    for (uint32_t b = 0; b < row->block_count; b++) {
        act(part, response, problem->row_block[row->block_first + b].tree);
    }
}

static bool is_moved(const LcpPart *part, const Response *response, uint32_t item) {
    const ContactProblem *problem = part->problem;
    if (item < part->contact_count) {
        const ContactSide *side = problem->contact[part->contact[item]].side;
        return (side[0].tree != PROBLEM_NO_TREE && response->moves[side[0].tree] != 0) ||
               (side[1].tree != PROBLEM_NO_TREE && response->moves[side[1].tree] != 0);
    }
    const ProblemRow *row = &problem->row[part->row[item - part->contact_count]];
    for (uint32_t b = 0; b < row->block_count; b++) {
        if (response->moves[problem->row_block[row->block_first + b].tree] != 0) {
            return true;
        }
    }
    return false;
}

// Contacts are lines 3 i, 3 i + 1, 3 i + 2, rows one each behind them.
static uint32_t line_of(const LcpPart *part, uint32_t item) {
    VALIDATE(item < part->contact_count + part->row_count);
    return item < part->contact_count ? 3 * item : 2 * part->contact_count + item;
}

// The velocities along the lines of an item.
static void item_product(const LcpPart *part, uint32_t item, const double *v, double *u) {
    if (item < part->contact_count) {
        problem_contact_product(part->problem, part->contact[item], v, u);
    } else {
        u[0] = problem_row_product(part->problem, part->row[item - part->contact_count], v);
    }
}

// One line of the Schur complement, from its own item on, and mirrored.
static void make_line(LcpMatrix *m, uint32_t item, uint32_t component, Response *response,
                      LcpCount *count) {
    VALIDATE(component < (item < m->part->contact_count ? 3 : 1));
    const LcpPart *part = m->part;
    size_t n = m->line_count, line = line_of(part, item) + component;
    if (item < part->contact_count) {
        double unit[3] = {0.0, 0.0, 0.0};
        unit[component] = 1.0;
        problem_contact_momentum(part->problem, part->contact[item], unit, response->v);
    } else {
        problem_row_momentum(part->problem, part->row[item - part->contact_count], 1.0,
                             response->v);
    }
    each_tree(part, response, item, respond_tree);
    uint32_t item_count = part->contact_count + part->row_count;
    for (uint32_t other = item; other < item_count; other++) {
        double u[3] = {0.0, 0.0, 0.0};
        if (is_moved(part, response, other)) {
            item_product(part, other, response->v, u);
        }
        size_t at = line_of(part, other), end = other < part->contact_count ? at + 3 : at + 1;
        for (size_t k = at; k < end; k++) {
            m->schur[line * n + k] = u[k - at];
            m->schur[k * n + line] = u[k - at];
        }
    }
    each_tree(part, response, item, forget_tree);
    lcp_count(count, 64 * (uint64_t)item_count);
    VALIDATE(line < n);
}

static bool make_schur(LcpMatrix *m, Arena *arena, LcpCount *count) {
    const LcpPart *part = m->part;
    const ContactProblem *problem = part->problem;
    ArenaMark mark = arena_mark(arena);
    Response response = {.v = arena_take_zeroed(arena, problem->velocity_count, sizeof(double)),
                         .moves = arena_take_zeroed(arena, problem->tree_count, 1)};
    bool is_made = response.v != NULL && response.moves != NULL;
    for (uint32_t item = 0; is_made && item < part->contact_count + part->row_count; item++) {
        uint32_t lines = item < part->contact_count ? 3 : 1;
        for (uint32_t k = 0; k < lines && !count->is_stopped; k++) {
            make_line(m, item, k, &response, count);
        }
    }
    arena_reset_to(arena, mark);
    return is_made;
}

// ---- what is known without the impulses

static void set_contact_lines(LcpMatrix *m, uint32_t item) {
    const LcpPart *part = m->part;
    uint32_t contact = part->contact[item];
    size_t at = 3 * (size_t)item, n = m->line_count;
    problem_contact_velocity(part->problem, contact, part->problem->v_free, m->velocity + at);
    m->velocity[at] += part->problem->contact[contact].bias;
    double weight = (m->schur[at * n + at] + m->schur[(at + 1) * n + at + 1] +
                     m->schur[(at + 2) * n + at + 2]) /
                    3.0;
    for (size_t k = at; k < at + 3; k++) {
        m->line[k] = (LcpLine){
            .sign = 1.0, .range = HUGE_VAL, .weight = weight, .is_skipped = !(weight > 0.0)};
    }
}

static void set_row_line(LcpMatrix *m, uint32_t item) {
    const LcpPart *part = m->part;
    uint32_t index = part->row[item - part->contact_count];
    const ProblemRow *row = &part->problem->row[index];
    size_t at = line_of(part, item), n = m->line_count;
    m->schur[at * n + at] += row->has_compliance ? row->compliance : 0.0;
    m->velocity[at] = problem_row_product(part->problem, index, part->problem->v_free) + row->bias;
    LcpLine *line = &m->line[at];
    *line = (LcpLine){.sign = isinf(row->low) ? -1.0 : 1.0,
                      .range = row->high - row->low,
                      .weight = m->schur[at * n + at],
                      .is_eliminated = is_bilateral(row) || is_far(m, row, m->schur[at * n + at])};
    line->is_skipped = !(line->weight > 0.0) || !(line->range > 0.0);
    if (line->is_skipped) {
        line->base = clip(0.0, row->low, row->high);
    } else if (!line->is_eliminated) {
        line->base = isinf(row->low) ? row->high : row->low;
    }
}

// Where rows have an impulse before their unknowns count, all move.
static void add_bases(LcpMatrix *m) {
    size_t n = m->line_count;
    for (size_t j = 3 * (size_t)m->part->contact_count; j < n; j++) {
        double base = m->line[j].base;
        for (size_t i = 0; base != 0.0 && i < n; i++) {
            m->velocity[i] += base * m->schur[i * n + j];
        }
    }
}

// ---- bilateral rows are eliminated, the heaviest of what is left first

static bool choose_pivot(const LcpMatrix *m, const uint8_t *is_done, size_t *chosen) {
    double best = REDUNDANT;
    bool is_any = false;
    for (size_t i = 3 * (size_t)m->part->contact_count; i < m->line_count; i++) {
        const LcpLine *line = &m->line[i];
        double left = m->schur[i * m->line_count + i] / line->weight;
        if (line->is_eliminated && !line->is_skipped && is_done[i] == 0 && left > best) {
            best = left;
            *chosen = i;
            is_any = true;
        }
    }
    return is_any;
}

static void eliminate(LcpMatrix *m, const uint8_t *is_done, size_t pivot, LcpCount *count) {
    size_t n = m->line_count;
    const double *above = m->schur + pivot * n;
    for (size_t i = 0; i < n; i++) {
        if (is_done[i] != 0 || above[i] == 0.0) {
            continue;
        }
        double *row = m->schur + i * n;
        double factor = above[i] / above[pivot];
        for (size_t j = 0; j < n; j++) {
            row[j] -= is_done[j] != 0 ? 0.0 : factor * above[j];
        }
        m->velocity[i] -= factor * m->velocity[pivot];
        lcp_count(count, n);
    }
}

// `is_done` is scratch; what is done when a line is eliminated is what came before it.
static bool eliminate_rows(LcpMatrix *m, Arena *arena, LcpCount *count) {
    ArenaMark mark = arena_mark(arena);
    uint8_t *is_done = arena_take_zeroed(arena, m->line_count, 1);
    if (is_done == NULL) {
        return false;
    }
    size_t pivot;
    while (!count->is_stopped && choose_pivot(m, is_done, &pivot)) {
        is_done[pivot] = 1;
        m->pivot[m->pivot_count++] = (uint32_t)pivot;
        eliminate(m, is_done, pivot, count);
    }
    arena_reset_to(arena, mark);
    return true;
}

// ---- what the bilateral rows leave nothing of

// No unknown of the problem moves along such a line: its diagonal is rounding, and an impulse that
// were to meet the line were the velocity over that rounding.
static bool is_null(const LcpMatrix *m, size_t line) {
    return m->schur[line * m->line_count + line] <= REDUNDANT * m->line[line].weight;
}

// A row's base becomes the least that it may bear: none, where it may.
static void skip_row(LcpMatrix *m, uint32_t item) {
    const ProblemRow *row = &m->part->problem->row[m->part->row[item - m->part->contact_count]];
    const size_t at = line_of(m->part, item), n = m->line_count;
    LcpLine *line = &m->line[at];
    const double base = clip(0.0, row->low, row->high), change = base - line->base;
    for (uint32_t k = 0; k < m->pivot_count; k++) {
        m->velocity[m->pivot[k]] += change * m->schur[m->pivot[k] * n + at];
    }
    line->base = base;
    line->is_skipped = true;
}

static void skip_null(LcpMatrix *m, LcpCount *count) {
    const LcpPart *part = m->part;
    lcp_count(count, 8 * (uint64_t)m->line_count); // with what each line was filled by
    if (m->pivot_count == 0) {
        return;
    }
    for (uint32_t i = 0; i < part->contact_count; i++) {
        LcpLine *line = &m->line[3 * (size_t)i];
        line[0].is_skipped = line[0].is_skipped || is_null(m, 3 * (size_t)i);
    }
    for (uint32_t i = 0; i < part->row_count; i++) {
        const LcpLine *line = &m->line[line_of(part, part->contact_count + i)];
        if (!line->is_eliminated && !line->is_skipped &&
            is_null(m, line_of(part, part->contact_count + i))) {
            skip_row(m, part->contact_count + i);
        }
    }
}

// ---- the complementarity problem

static void add_impulse(LcpMatrix *m, uint32_t *at, uint32_t line, double share, uint32_t other,
                        double other_share) {
    m->unknown[(*at)++] = (LcpUnknown){.line = {line, other},
                                       .share = {share, other_share},
                                       .scale = 1.0 / sqrt(m->line[line].weight),
                                       .is_impulse = true};
}

// `first`: of the impulses that it bounds, which end where it is, or at a contact's normal one.
static void add_multiplier(LcpMatrix *m, uint32_t *at, uint32_t line, uint32_t first) {
    m->unknown[(*at)++] =
        (LcpUnknown){.line = {line, line}, .scale = sqrt(m->line[line].weight), .first = first};
}

static uint32_t list_unknowns(LcpMatrix *m) {
    const LcpPart *part = m->part;
    uint32_t at = 0;
    for (uint32_t item = 0; item < part->contact_count; item++) {
        uint32_t line = 3 * item;
        if (m->line[line].is_skipped) {
            continue;
        }
        bool slides = has_friction(part, part->contact[item]);
        uint32_t first = at;
        for (uint32_t j = 0; slides && j < part->direction_count; j++) {
            add_impulse(m, &at, line + 1, part->direction[j].c, line + 2, part->direction[j].s);
        }
        add_impulse(m, &at, line, 1.0, line, 0.0);
        if (slides) {
            add_multiplier(m, &at, line, first);
        }
    }
    for (uint32_t line = 3 * part->contact_count; line < m->line_count; line++) {
        if (m->line[line].is_skipped || m->line[line].is_eliminated) {
            continue;
        }
        add_impulse(m, &at, line, m->line[line].sign, line, 0.0);
        if (!isinf(m->line[line].range)) {
            add_multiplier(m, &at, line, at - 1);
        }
    }
    return at;
}

// The row of N and the entry of b of an impulse, without multipliers.
static void fill_impulse(LcpMatrix *m, uint32_t i, double *combined) {
    const LcpUnknown *unknown = &m->unknown[i];
    size_t n = m->line_count, count = m->system.count;
    const double *first = m->schur + unknown->line[0] * n,
                 *second = m->schur + unknown->line[1] * n;
    for (size_t k = 0; k < n; k++) {
        combined[k] = unknown->share[0] * first[k] + unknown->share[1] * second[k];
    }
    double *row = m->system.matrix + i * count;
    for (size_t j = 0; j < count; j++) {
        const LcpUnknown *other = &m->unknown[j];
        double sum =
            other->share[0] * combined[other->line[0]] + other->share[1] * combined[other->line[1]];
        row[j] = other->is_impulse ? unknown->scale * other->scale * sum : 0.0;
    }
    m->system.b[i] = unknown->scale * (unknown->share[0] * m->velocity[unknown->line[0]] +
                                       unknown->share[1] * m->velocity[unknown->line[1]]);
}

static bool is_of_row(const LcpMatrix *m, uint32_t i) {
    return m->unknown[i].line[0] >= 3 * m->part->contact_count;
}

// A multiplier's row and column; the scales of both sides cancel.
static void fill_multiplier(LcpMatrix *m, uint32_t i, uint8_t *is_wide) {
    size_t count = m->system.count;
    double *row = m->system.matrix + i * count;
    uint32_t line = m->unknown[i].line[0], end = is_of_row(m, i) ? i : i - 1;
    memset(row, 0, count * sizeof(double));
    m->system.b[i] = 0.0;
    for (uint32_t j = m->unknown[i].first; j < end; j++) {
        row[j] = -1.0;
        m->system.matrix[j * count + i] = 1.0;
    }
    if (is_of_row(m, i)) {
        m->system.b[i] = m->unknown[i].scale * m->line[line].range;
        is_wide[i] = 1;
    } else {
        row[i - 1] = m->part->problem->contact[m->part->contact[line / 3]].mu;
    }
}

static void scale_b(LcpMatrix *m) {
    LcpSystem *system = &m->system;
    double largest = 0.0;
    for (uint32_t i = 0; i < system->count; i++) {
        double size = fabs(system->b[i]);
        largest = size > largest && system->is_wide[i] == 0 ? size : largest;
    }
    m->scale = largest > 0.0 ? largest : 1.0;
    for (uint32_t i = 0; i < system->count; i++) {
        system->b[i] /= m->scale;
    }
}

static void fill_shares(const LcpMatrix *m, LcpShare *share) {
    for (uint32_t i = 0; i < m->system.count; i++) {
        const LcpUnknown *unknown = &m->unknown[i];
        share[i] = (LcpShare){.begin = i, .end = i};
        if (unknown->is_impulse) {
            share[i] = (LcpShare){i, i + 1, {unknown->share[0], unknown->share[1]}};
        } else if (!is_of_row(m, i)) { // of the friction before it
            for (uint32_t j = unknown->first; j + 1 < i; j++) {
                share[j].begin = unknown->first;
                share[j].end = i - 1;
            }
        }
    }
}

// `combined` is scratch: line_count numbers
static void fill_system(LcpMatrix *m, uint8_t *is_wide, double *combined, LcpCount *count) {
    for (uint32_t i = 0; i < m->system.count && !count->is_stopped; i++) {
        if (m->unknown[i].is_impulse) {
            fill_impulse(m, i, combined);
        }
        lcp_count(count, m->line_count + 4 * (uint64_t)m->system.count);
    }
    // behind the impulses, into whose rows they write
    for (uint32_t i = 0; i < m->system.count; i++) {
        if (!m->unknown[i].is_impulse) {
            fill_multiplier(m, i, is_wide);
        }
    }
    scale_b(m);
}

static bool make_system(LcpMatrix *m, Arena *arena, LcpCount *count) {
    size_t n = m->system.count;
    double *combined = arena_take_array(arena, m->line_count, sizeof(double));
    uint8_t *is_wide = arena_take_zeroed(arena, n, 1);
    m->system.matrix = arena_take_array(arena, n * n, sizeof(double));
    m->system.b = arena_take_array(arena, n, sizeof(double));
    LcpShare *share = arena_take_array(arena, n, sizeof(LcpShare));
    m->system.is_wide = is_wide;
    m->system.share = share;
    if (combined == NULL || is_wide == NULL || share == NULL || m->system.matrix == NULL ||
        m->system.b == NULL) {
        return false;
    }
    fill_system(m, is_wide, combined, count);
    fill_shares(m, share);
    return true;
}

static bool take_lines(LcpMatrix *m, Arena *arena) {
    size_t n = m->line_count;
    m->line = arena_take_zeroed(arena, n, sizeof(LcpLine));
    m->schur = arena_take_array(arena, n * n, sizeof(double));
    m->velocity = arena_take_array(arena, n, sizeof(double));
    m->impulse = arena_take_array(arena, n, sizeof(double));
    m->pivot = arena_take_array(arena, n, sizeof(uint32_t));
    // no more than LCP_ROWS_MAX
    m->unknown = arena_take_array(arena, (size_t)lcp_matrix_rows(m->part), sizeof(LcpUnknown));
    return m->line != NULL && m->schur != NULL && m->velocity != NULL && m->impulse != NULL &&
           m->pivot != NULL && m->unknown != NULL;
}

Status lcp_matrix_make(const LcpPart *part, Arena *arena, LcpCount *count, LcpMatrix *matrix) {
    *matrix = (LcpMatrix){.part = part, .line_count = 3 * part->contact_count + part->row_count};
    if (!take_lines(matrix, arena) || !make_schur(matrix, arena, count)) {
        return count->is_stopped ? STATUS_ABORTED : STATUS_RESOURCE_EXHAUSTED;
    }
    for (uint32_t i = 0; i < part->contact_count; i++) {
        set_contact_lines(matrix, i);
    }
    for (uint32_t i = 0; i < part->row_count; i++) {
        set_row_line(matrix, part->contact_count + i);
    }
    add_bases(matrix);
    if (!eliminate_rows(matrix, arena, count)) {
        return STATUS_RESOURCE_EXHAUSTED;
    }
    skip_null(matrix, count);
    matrix->system.count = list_unknowns(matrix);
    ASSERT(matrix->system.count <= lcp_matrix_rows(part));
    if (!make_system(matrix, arena, count)) {
        return STATUS_RESOURCE_EXHAUSTED;
    }
    return count->is_stopped ? STATUS_ABORTED : STATUS_OK;
}

// ---- there and back

// What rounding left outside the cone goes back into it: sum beta <= mu c_n.
static void add_contact(const LcpMatrix *m, const double *z, uint32_t multiplier) {
    const LcpUnknown *unknown = &m->unknown[multiplier];
    uint32_t normal = multiplier - 1, line = unknown->line[0];
    double scale = m->scale * m->unknown[normal].scale, sum = 0.0;
    double bound = m->part->problem->contact[m->part->contact[line / 3]].mu * m->impulse[line];
    for (uint32_t j = unknown->first; j < normal; j++) {
        sum += z[j] > 0.0 ? scale * z[j] : 0.0;
    }
    double share = sum > bound ? scale * (bound / sum) : scale;
    for (uint32_t j = unknown->first; j < normal; j++) {
        double beta = z[j] > 0.0 ? share * z[j] : 0.0;
        m->impulse[line + 1] += m->unknown[j].share[0] * beta;
        m->impulse[line + 2] += m->unknown[j].share[1] * beta;
    }
}

// Where a line has one unknown: normal impulses, rows.
static void add_single(const LcpMatrix *m, const double *z, uint32_t i) {
    const LcpLine *line = &m->line[m->unknown[i].line[0]];
    double s = m->scale * m->unknown[i].scale * (z[i] > 0.0 ? z[i] : 0.0);
    m->impulse[m->unknown[i].line[0]] =
        line->base + line->sign * (s < line->range ? s : line->range);
}

// Backwards: a line's row holds what was not eliminated before it.
static void add_eliminated(const LcpMatrix *m) {
    size_t n = m->line_count;
    for (uint32_t k = m->pivot_count; k-- > 0;) {
        size_t pivot = m->pivot[k];
        const double *row = m->schur + pivot * n;
        double sum = m->velocity[pivot];
        for (size_t j = 0; j < n; j++) {
            // before it came those whose impulses are not made yet, and bases are in the velocity
            sum += j == pivot ? 0.0 : row[j] * (m->impulse[j] - m->line[j].base);
        }
        m->impulse[pivot] = -sum / row[pivot];
    }
}

void lcp_matrix_impulses(const LcpMatrix *matrix, const double *z, double *contact_impulse,
                         double *row_impulse) {
    ASSERT(matrix->line_count == 3 * matrix->part->contact_count + matrix->part->row_count);
    const LcpPart *part = matrix->part;
    for (uint32_t i = 0; i < matrix->line_count; i++) {
        matrix->impulse[i] = matrix->line[i].base;
    }
    for (uint32_t i = 0; i < matrix->system.count; i++) {
        bool is_single = matrix->unknown[i].is_impulse && matrix->unknown[i].share[1] == 0.0;
        if (is_single && (is_of_row(matrix, i) || matrix->unknown[i].line[0] % 3 == 0)) {
            add_single(matrix, z, i);
        }
        if (!matrix->unknown[i].is_impulse && !is_of_row(matrix, i)) {
            add_contact(matrix, z, i);
        }
    }
    add_eliminated(matrix);
    for (uint32_t i = 0; i < part->contact_count; i++) {
        memcpy(contact_impulse + 3 * (size_t)part->contact[i], matrix->impulse + 3 * (size_t)i,
               3 * sizeof(double));
    }
    for (uint32_t i = 0; i < part->row_count; i++) {
        uint32_t line = line_of(part, part->contact_count + i);
        const ProblemRow *row = &part->problem->row[part->row[i]];
        row_impulse[part->row[i]] = clip(matrix->impulse[line], row->low, row->high);
    }
}

bool lcp_matrix_is_within(const LcpMatrix *matrix) {
    VALIDATE(matrix->impulse != NULL || matrix->line_count == 0);
    const LcpPart *part = matrix->part;
    for (uint32_t i = 0; i < part->row_count; i++) {
        const ProblemRow *row = &part->problem->row[part->row[i]];
        size_t line = line_of(part, part->contact_count + i);
        double impulse = matrix->impulse[line];
        if (matrix->line[line].is_eliminated && (impulse < row->low || impulse > row->high)) {
            return false;
        }
    }
    return true;
}

static uint8_t is_in(bool is) {
    return is ? LCP_IN : LCP_OUT;
}

static uint32_t next_direction(const LcpPart *part, uint32_t j) {
    return j + 1 < part->direction_count ? j + 1 : 0;
}

// The tangential impulse on the two directions next to it; those of a contact that sticks are
// likely of the basis also where there is no impulse.
static void guess_friction(const LcpMatrix *m, uint32_t multiplier, const double *impulse,
                           uint8_t *basis) {
    const LcpPart *part = m->part;
    uint32_t first = m->unknown[multiplier].first, sector = 0;
    double bound =
        part->problem->contact[part->contact[m->unknown[multiplier].line[0] / 3]].mu * impulse[0];
    double beta = 0.0, beta_next = 0.0;
    for (uint32_t j = 0; j < part->direction_count; j++) {
        Direction d = part->direction[j], next = part->direction[next_direction(part, j)];
        double turn = d.c * next.s - d.s * next.c;
        double share = (impulse[1] * next.s - impulse[2] * next.c) / turn;
        double share_next = (d.c * impulse[2] - d.s * impulse[1]) / turn;
        if (share > 0.0 && share_next >= 0.0) {
            sector = j;
            beta = share;
            beta_next = share_next;
        }
    }
    bool slides = beta + beta_next >= (1.0 - ROUNDING) * bound;
    uint8_t none = slides ? LCP_OUT : LCP_IN;
    basis[multiplier] = is_in(slides);
    basis[first + sector] = beta > ROUNDING * bound ? (uint8_t)LCP_IN : none;
    basis[first + next_direction(part, sector)] =
        beta_next > ROUNDING * bound ? (uint8_t)LCP_IN : none;
}

// A contact that carries nothing slips past: lambda is how fast, against the direction that would
// brake most, whose impulse is bounded by nothing.
static void guess_slip(const LcpMatrix *m, uint32_t multiplier, const double *v, uint8_t *basis) {
    const LcpPart *part = m->part;
    double u[3], least = 0.0;
    uint32_t first = m->unknown[multiplier].first, slip = part->direction_count;
    problem_contact_velocity(part->problem, part->contact[m->unknown[multiplier].line[0] / 3], v,
                             u);
    for (uint32_t j = 0; j < part->direction_count; j++) {
        double along = part->direction[j].c * u[1] + part->direction[j].s * u[2];
        slip = along < least ? j : slip;
        least = along < least ? along : least;
    }
    if (slip < part->direction_count) {
        basis[multiplier] = LCP_IN;
        basis[first + slip] = LCP_IN;
    }
}

void lcp_matrix_guess(const LcpMatrix *matrix, const double *contact_impulse,
                      const double *row_impulse, const double *v, uint8_t *basis) {
    VALIDATE(v != NULL && basis != NULL);
    VALIDATE(contact_impulse != NULL || matrix->part->contact_count == 0);
    VALIDATE(row_impulse != NULL || matrix->part->row_count == 0);
    const LcpPart *part = matrix->part;
    memset(basis, LCP_OUT, matrix->system.count);
    for (uint32_t i = 0; i < matrix->system.count; i++) {
        const LcpUnknown *unknown = &matrix->unknown[i];
        uint32_t line = unknown->line[0];
        if (is_of_row(matrix, i)) {
            const LcpLine *l = &matrix->line[line];
            double r = row_impulse[part->row[line - 3 * part->contact_count]];
            double s = l->sign * (r - l->base);
            basis[i] = is_in(unknown->is_impulse ? s > 0.0 : s >= (1.0 - ROUNDING) * l->range);
            continue;
        }
        const double *impulse = contact_impulse + 3 * (size_t)part->contact[line / 3];
        bool carries = impulse[0] > 0.0;
        if (unknown->is_impulse) {
            basis[i] = line % 3 == 0 ? is_in(carries) : basis[i];
        } else if (carries) {
            guess_friction(matrix, i, impulse, basis);
        } else {
            guess_slip(matrix, i, v, basis);
        }
    }
}
