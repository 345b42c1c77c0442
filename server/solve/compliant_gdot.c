// SPDX-License-Identifier: MIT
#include "solve/compliant_gdot.h"

#include <string.h>

// e, as a share of the largest w: what a pass leaves is that share, over the one of the least
// eigenvalue of G M^-1 G^T, of what the pass before left.
#define SOFT_SHARE 1e-8
enum { PASSES = 4 };

typedef enum GdotKind { GDOT_NORMALS, GDOT_BILATERAL, GDOT_ONE_SIDED, GDOT_KIND_COUNT } GdotKind;

static GdotKind kind_of(const NewtonConstraint *c) {
    bool is_bilateral = !isfinite(c->low) && !isfinite(c->high);
    return c->rows == 3 ? GDOT_NORMALS : is_bilateral ? GDOT_BILATERAL : GDOT_ONE_SIDED;
}

// What one kind's search carries.
typedef struct Search {
    SapIsland *s;
    GdotKind kind;
    double *rest; // [impulse_count] first numbers alone
} Search;

static bool is_of(const Search *search, uint32_t i) {
    const NewtonConstraint *c = &search->s->island.constraint[i];
    return c->w > 0.0 && kind_of(c) == search->kind;
}

// (M + G^T G / e) factored; e
static double factor(const Search *search) {
    SapIsland *s = search->s;
    const NewtonIsland *n = &s->island;
    double most = 0.0;
    for (uint32_t i = 0; i < n->constraint_count; i++) {
        most = is_of(search, i) && n->constraint[i].w > most ? n->constraint[i].w : most;
    }
    double stiff[NEWTON_ROWS_MAX * NEWTON_ROWS_MAX] = {1.0 / (SOFT_SHARE * most)};
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
            search->rest[c->first] = wanted == NULL ? u[0] : wanted[c->first] - u[0];
            sap_island_spend(s, SAP_OPERATIONS_LOOK);
        }
    }
}

// momentum += sign G^T rest
static void push(const Search *search, double sign, double *momentum) {
    const NewtonIsland *n = &search->s->island;
    for (uint32_t i = 0; i < n->constraint_count; i++) {
        const NewtonConstraint *c = &n->constraint[i];
        const double gamma[NEWTON_ROWS_MAX] = {is_of(search, i) ? sign * search->rest[c->first]
                                                                : 0.0};
        if (is_of(search, i)) {
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
// impulses, of contacts the first.
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
        size_t first = s->island.constraint[i].first;
        force[first] = is_of(search, i) ? search->rest[first] : force[first];
    }
}

// G' v0 of a constraint
static double change_of(const ContactProblem *problem, const NewtonConstraint *c) {
    if (c->rows == 3) {
        return problem->law[c->index].gdot[0];
    }
    const ProblemRow *row = &problem->row[c->index];
    return row->is_position && !row->has_compliance ? row->gdot : 0.0;
}

// -h G' v0 - M^ G' v0 / (h K + B)
static void add(const NewtonConstraint *c, double h, double g, double force, CompliantLaw *law,
                Answer *answer) {
    double change = -h * g - h * law->normal * force;
    law->target[0] += change;
    if (c->rows == 3) {
        answer->contact[c->index].shift += change;
    } else {
        answer->row[c->index].bias -= change;
    }
}

Status compliant_gdot_add(SapIsland *s, CompliantLaw *contact_law, CompliantLaw *row_law,
                          Answer *answer, Arena *arena, Error *error) {
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
        g[c->first] = c->w > 0.0 ? change_of(n->problem, c) : 0.0;
        has_any[kind_of(c)] = has_any[kind_of(c)] || g[c->first] != 0.0;
    }
    for (int kind = 0; kind < GDOT_KIND_COUNT && !s->is_stopped; kind++) {
        Search search = {.s = s, .kind = (GdotKind)kind, .rest = rest};
        if (has_any[kind]) {
            find(&search, g, force);
        }
    }
    for (uint32_t i = 0; i < n->constraint_count; i++) {
        const NewtonConstraint *c = &n->constraint[i];
        CompliantLaw *law = c->rows == 3 ? contact_law : row_law;
        if (g[c->first] != 0.0 || force[c->first] != 0.0) {
            add(c, n->problem->time_step, g[c->first], force[c->first], law + c->index, answer);
        }
    }
    arena_reset_to(arena, mark);
    return STATUS_OK;
}
