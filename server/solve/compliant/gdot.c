// SPDX-License-Identifier: MIT
#include "solve/compliant/gdot.h"

#include "base/assert.h"

#include <string.h>

// e, as a share of the largest w: what a pass leaves is that share, over the one of the least
// eigenvalue of G M^-1 G^T, of what the pass before left.
#define SOFT_SHARE 1e-8
enum { PASSES = 4 };

typedef enum GdotKind {
    GDOT_NORMALS,
    GDOT_TANGENTS_1,
    GDOT_TANGENTS_2,
    GDOT_BILATERAL,
    GDOT_ONE_SIDED,
    GDOT_KIND_COUNT
} GdotKind;

// The kind of number r of a constraint.
static GdotKind kind_of(const NewtonConstraint *c, uint32_t r) {
    bool is_bilateral = !isfinite(c->low) && !isfinite(c->high);
    return c->rows == 3 ? (GdotKind)r : is_bilateral ? GDOT_BILATERAL : GDOT_ONE_SIDED;
}

// Which number of its constraints is of a kind.
static uint32_t number_of(GdotKind kind) {
    return kind <= GDOT_TANGENTS_2 ? (uint32_t)kind : 0;
}

// What one kind's search carries.
typedef struct Search {
    SapIsland *s;
    GdotKind kind;
    double *rest; // [impulse_count]
} Search;

static bool is_of(const Search *search, uint32_t i) {
    const NewtonConstraint *c = &search->s->island.constraint[i];
    return c->w > 0.0 && (c->rows == 3 || number_of(search->kind) == 0) &&
           kind_of(c, number_of(search->kind)) == search->kind;
}

// (M + G^T G / e) factored; e
static double factor(const Search *search) {
    SapIsland *s = search->s;
    const NewtonIsland *n = &s->island;
    double most = 0.0;
    for (uint32_t i = 0; i < n->constraint_count; i++) {
        most = is_of(search, i) && n->constraint[i].w > most ? n->constraint[i].w : most;
    }
    double stiff[NEWTON_ROWS_MAX * NEWTON_ROWS_MAX] = {0.0};
    stiff[(NEWTON_ROWS_MAX + 1) * (size_t)number_of(search->kind)] = 1.0 / (SOFT_SHARE * most);
    newton_begin_matrix(n, &s->ldlt);
    for (uint32_t i = 0; i < n->constraint_count; i++) {
        if (is_of(search, i)) {
            newton_add_matrix(n, &s->ldlt, &n->constraint[i], stiff);
            sap_island_spend(s, SAP_OPERATIONS_STEP);
        }
    }
    sap_island_factor(s);
    return SOFT_SHARE * most;
}

// rest := wanted - G x; of a wanted that is NULL, G x
static void make_rest(const Search *search, const double *x, const double *wanted) {
    SapIsland *s = search->s;
    const NewtonIsland *n = &s->island;
    for (uint32_t i = 0; i < n->constraint_count; i++) {
        const NewtonConstraint *c = &n->constraint[i];
        double u[NEWTON_ROWS_MAX];
        if (is_of(search, i)) {
            newton_product(n, c, x, u);
            uint32_t r = number_of(search->kind);
            size_t at = c->first + r;
            search->rest[at] = wanted == NULL ? u[r] : wanted[at] - u[r];
            sap_island_spend(s, SAP_OPERATIONS_LOOK);
        }
    }
}

// momentum += sign G^T rest
static void push(const Search *search, double sign, double *momentum) {
    const NewtonIsland *n = &search->s->island;
    for (uint32_t i = 0; i < n->constraint_count; i++) {
        const NewtonConstraint *c = &n->constraint[i];
        uint32_t r = number_of(search->kind);
        double gamma[NEWTON_ROWS_MAX] = {0.0};
        if (is_of(search, i)) {
            gamma[r] = sign * search->rest[c->first + r];
            newton_momentum(n, c, gamma, momentum);
            sap_island_spend(search->s, SAP_OPERATIONS_LOOK);
        }
    }
}

// x += (e M + G^T G)^-1 work
static void correct(const Search *search, double e, double *x) {
    SapIsland *s = search->s;
    sap_island_solve(s, s->work);
    for (size_t k = 0; k < s->island.velocity_count; k++) {
        x[k] += s->work[k] / e;
    }
}

// Of one kind: `force` := M^ g of its rows [N]; others stay. Both are numbers of the island's
// impulses.
static void find(Search *search, const double *g, double *force) {
    SapIsland *s = search->s;
    size_t bytes = s->island.velocity_count * sizeof(double);
    double e = factor(search);
    // a, in v; and M a, in p
    memset(s->v, 0, bytes);
    for (int pass = 0; pass < PASSES && !s->is_stopped; pass++) {
        make_rest(search, s->v, g);
        memset(s->work, 0, bytes);
        push(search, 1.0, s->work);
        correct(search, e, s->v);
    }
    newton_masses(&s->island, s->v, s->p);
    // z, in d_v
    memset(s->d_v, 0, bytes);
    for (int pass = 0; pass < PASSES && !s->is_stopped; pass++) {
        make_rest(search, s->d_v, NULL);
        memcpy(s->work, s->p, bytes);
        push(search, -1.0, s->work);
        correct(search, e, s->d_v);
    }
    make_rest(search, s->d_v, NULL);
    for (uint32_t i = 0; i < s->island.constraint_count; i++) {
        size_t at = s->island.constraint[i].first + number_of(search->kind);
        if (is_of(search, i)) {
            force[at] = search->rest[at];
        }
    }
}

// G' v0 of number r of a constraint
static double change_of(const ContactProblem *problem, const NewtonConstraint *c, uint32_t r) {
    if (c->rows == 3) {
        return problem->law[c->index].gdot[r];
    }
    const ProblemRow *row = &problem->row[c->index];
    return row->is_position && !row->has_compliance ? row->gdot : 0.0;
}

// -h G' v0 - M^ G' v0 / (h K + B)
static void add(const NewtonConstraint *c, uint32_t r, double h, double g, double force,
                CompliantLaw *law, Answer *answer) {
    double change = -h * g - h * compliant_law_r(law, r) * force;
    law->target[r] += change;
    if (c->rows == 3 && r == 0) {
        answer->contact[c->index].shift += change;
    } else if (c->rows == 1) {
        answer->row[c->index].bias -= change;
    }
}

// Of every number with a change, or a force.
static void add_all(const NewtonIsland *n, const double *g, const double *force,
                    CompliantLaw *contact_law, CompliantLaw *row_law, Answer *answer) {
    for (uint32_t i = 0; i < n->constraint_count; i++) {
        const NewtonConstraint *c = &n->constraint[i];
        CompliantLaw *law = c->rows == 3 ? contact_law : row_law;
        for (uint32_t r = 0; r < c->rows; r++) {
            size_t at = c->first + r;
            if (g[at] != 0.0 || force[at] != 0.0) {
                add(c, r, n->problem->time_step, g[at], force[at], law + c->index, answer);
            }
        }
    }
}

Status compliant_gdot_add(SapIsland *s, bool has_tangents, CompliantLaw *contact_law,
                          CompliantLaw *row_law, Answer *answer, Arena *arena, Error *error) {
    ASSERT(s->island.constraint_count > 0);
    const NewtonIsland *n = &s->island;
    ArenaMark mark = arena_mark(arena);
    double *g = arena_take_zeroed(arena, n->impulse_count, sizeof(double));
    double *force = arena_take_zeroed(arena, n->impulse_count, sizeof(double));
    double *rest = arena_take_zeroed(arena, n->impulse_count, sizeof(double));
    if (g == NULL || force == NULL || rest == NULL) {
        return error_set(error, STATUS_RESOURCE_EXHAUSTED, NULL,
                         "The solver's memory is too small for the terms of gdot.");
    }
    bool has_any[GDOT_KIND_COUNT] = {false};
    for (uint32_t i = 0; i < n->constraint_count; i++) {
        const NewtonConstraint *c = &n->constraint[i];
        for (uint32_t r = 0; r < (has_tangents ? c->rows : 1); r++) {
            GdotKind kind = kind_of(c, r);
            g[c->first + r] = c->w > 0.0 ? change_of(n->problem, c, r) : 0.0;
            has_any[kind] = has_any[kind] || g[c->first + r] != 0.0;
        }
    }
    for (int kind = 0; kind < GDOT_KIND_COUNT && !s->is_stopped; kind++) {
        Search search = {.s = s, .kind = (GdotKind)kind, .rest = rest};
        if (has_any[kind]) {
            find(&search, g, force);
        }
    }
    add_all(n, g, force, contact_law, row_law, answer);
    arena_reset_to(arena, mark);
    return STATUS_OK;
}
