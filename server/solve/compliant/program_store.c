// SPDX-License-Identifier: MIT
// The program's answer, and what the certificate judges it by: gradient, multipliers and slacks in
// newtons, made anew from the impulses as they are stored.
#include "base/assert.h"
#include "solve/compliant/program_parts.h"

#include <string.h>

// a part looked at, about
#define OPERATIONS_LOOK 500.0

// The constraints of each tree.
typedef struct Touching {
    size_t *first; // [tree_count + 1]
    uint32_t *constraint;
} Touching;

static bool find_touching(const NewtonIsland *n, Arena *arena, Touching *out) {
    size_t total = 0;
    out->first = arena_take_zeroed(arena, (size_t)n->tree_count + 1, sizeof(size_t));
    for (uint32_t i = 0; i < n->constraint_count; i++) {
        total += n->constraint[i].block_count;
    }
    out->constraint = arena_take_array(arena, total, sizeof(uint32_t));
    if (out->first == NULL || out->constraint == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < n->constraint_count; i++) {
        const NewtonConstraint *c = &n->constraint[i];
        for (uint32_t b = 0; b < c->block_count; b++) {
            out->first[n->block[c->block_first + b].tree + 1]++;
        }
    }
    for (uint32_t i = 0; i < n->tree_count; i++) {
        out->first[i + 1] += out->first[i];
    }
    for (uint32_t i = n->constraint_count; i-- > 0;) {
        const NewtonConstraint *c = &n->constraint[i];
        for (uint32_t b = 0; b < c->block_count; b++) {
            // from the end of each, and back to its beginning below
            out->constraint[--out->first[n->block[c->block_first + b].tree + 1]] = i;
        }
    }
    // first[t + 1] is now where t begins
    for (uint32_t i = 0; i < n->tree_count; i++) {
        out->first[i] = out->first[i + 1];
    }
    out->first[n->tree_count] = total;
    ASSERT(out->first[0] == 0);
    return true;
}

// ---- v and y of the impulses

static void make_velocities(CompliantProgram *p) {
    const NewtonIsland *n = p->island;
    double *push = p->work;
    memset(push, 0, n->velocity_count * sizeof(double));
    for (uint32_t i = 0; i < n->constraint_count; i++) {
        if (p->part[i].kind != PART_NONE) {
            program_momentum(p, i, p->part[i].gamma, push);
        }
        asker_spend(&p->asker, OPERATIONS_LOOK);
    }
    memcpy(p->v, push, n->velocity_count * sizeof(double));
    for (uint32_t i = 0; i < n->tree_count; i++) {
        mass_solve_tree(n->mass, n->tree[i], p->v + n->velocity[i]);
    }
    for (size_t k = 0; k < n->velocity_count; k++) {
        p->v[k] += n->v_free[k];
    }
    memset(push, 0, n->velocity_count * sizeof(double));
    for (uint32_t i = 0; i < n->constraint_count; i++) {
        double of[3];
        if (p->part[i].kind != PART_NONE && p->part[i].kind != PART_FIXED) {
            program_adjoint(p, i, of);
            program_momentum(p, i, of, push);
        }
        asker_spend(&p->asker, OPERATIONS_LOOK);
    }
    memcpy(p->y, push, n->velocity_count * sizeof(double));
    for (uint32_t i = 0; i < n->tree_count; i++) {
        mass_solve_tree(n->mass, n->tree[i], p->y + n->velocity[i]);
    }
}

// ---- the largest diagonal number of a constraint's block of the Hessian

// What number r of constraint i adds to |b| of constraint k, squared; `moved` are the velocities.
static double bend(const CompliantProgram *p, uint32_t i, uint32_t r, uint32_t k,
                   const double *moved) {
    VALIDATE(k < p->island->constraint_count);
    const ProgramPart *part = &p->part[k];
    double u[3], sum = 0.0;
    uint32_t from = part->kind == PART_BOUNDED ? 0 : 1;
    if (part->weight == 0.0) {
        return 0.0;
    }
    program_product(p, k, moved, u);
    for (uint32_t q = from; q < part->count; q++) {
        double b = u[q] + (i == k && q == r ? part->r[q] : 0.0);
        sum += part->weight * b * b;
    }
    return sum;
}

// Without springs an impulse moves its own trees alone.
static double curvature_near(CompliantProgram *p, const Touching *touching, uint32_t i,
                             uint32_t r) {
    VALIDATE(i < p->island->constraint_count);
    VALIDATE(r < p->part[i].count);
    const NewtonIsland *n = p->island;
    const NewtonConstraint *c = &n->constraint[i];
    const double one[3] = {r == 0, r == 1, r == 2};
    double *moved = p->work, sum = p->part[i].own[r];
    for (uint32_t b = 0; b < c->block_count; b++) {
        const NewtonBlock *block = &n->block[c->block_first + b];
        memset(moved + block->velocity, 0, block->width * sizeof(double));
    }
    program_momentum(p, i, one, moved);
    for (uint32_t b = 0; b < c->block_count; b++) {
        uint32_t tree = n->block[c->block_first + b].tree;
        mass_solve_tree(n->mass, n->tree[tree], moved + n->velocity[tree]);
    }
    for (uint32_t b = 0; b < c->block_count; b++) {
        const NewtonBlock *block = &n->block[c->block_first + b];
        size_t end = touching->first[block->tree + 1];
        for (size_t at = touching->first[block->tree]; at < end; at++) {
            uint32_t k = touching->constraint[at];
            const NewtonConstraint *other = &n->constraint[k];
            // what touches both is counted with the first
            bool is_counted = false;
            for (uint32_t q = 0; q < other->block_count && b > 0; q++) {
                is_counted = is_counted ||
                             n->block[other->block_first + q].tree == n->block[c->block_first].tree;
            }
            sum += is_counted ? 0.0 : bend(p, i, r, k, moved);
            asker_spend(&p->asker, OPERATIONS_LOOK);
        }
    }
    for (uint32_t b = 0; b < c->block_count; b++) {
        const NewtonBlock *block = &n->block[c->block_first + b];
        memset(moved + block->velocity, 0, block->width * sizeof(double));
    }
    return sum;
}

// With them, all that they join.
static double curvature_far(CompliantProgram *p, uint32_t i, uint32_t r) {
    const NewtonIsland *n = p->island;
    const double one[3] = {r == 0, r == 1, r == 2};
    double *moved = p->work, sum = p->part[i].own[r];
    memset(moved, 0, n->velocity_count * sizeof(double));
    program_momentum(p, i, one, moved);
    program_solve_masses(p, moved);
    for (uint32_t k = 0; k < n->constraint_count; k++) {
        sum += bend(p, i, r, k, moved);
        asker_spend(&p->asker, OPERATIONS_LOOK);
    }
    return sum;
}

// ---- what is declared

// From the optimiser's units: d/dx = h d/d gamma, and the objective is B_t^2 times as large.
static double unit_of(const CompliantProgram *p) {
    return 1.0 / (p->weight * p->tangent * p->tangent);
}

static void declare(const CompliantProgram *p, uint32_t i, double curvature, double *gradient,
                    double *multiplier, double *slack) {
    const ProgramPart *part = &p->part[i];
    double h = p->island->problem->time_step, unit = unit_of(p), u[3], jy[3];
    program_product(p, i, p->v, u);
    program_product(p, i, p->y, jy);
    bool is_asked = part->kind == PART_CONTACT || part->kind == PART_LIMIT;
    for (uint32_t r = 0; r < part->count; r++) {
        double g = part->own[r] * part->gamma[r] + jy[r];
        bool has_b = part->kind == PART_BOUNDED || r > 0;
        double b = u[r] - part->target[r] + part->r[r] * part->gamma[r];
        g += has_b ? part->weight * part->r[r] * b : -part->r[r] * part->eta;
        gradient[r] = part->sign * g * unit / h;
    }
    double excess = u[0] - part->target[0] + part->r[0] * part->gamma[0];
    *multiplier = is_asked ? part->eta * part->r[0] * unit / h : 0.0;
    *slack = is_asked ? excess / (h * part->r[0]) : curvature;
}

static double curvature_of(CompliantProgram *p, const Touching *touching, bool is_far, uint32_t i) {
    double most = 0.0;
    for (uint32_t r = 0; r < p->part[i].count; r++) {
        double of = is_far ? curvature_far(p, i, r) : curvature_near(p, touching, i, r);
        most = relation_max(most, of);
    }
    return most * unit_of(p);
}

static void store_part(CompliantProgram *p, uint32_t i, double curvature, Answer *answer) {
    const NewtonConstraint *c = &p->island->constraint[i];
    const ProgramPart *part = &p->part[i];
    bool is_none = part->kind == PART_NONE;
    double gradient[3] = {0.0}, multiplier = 0.0, slack = 1.0;
    if (!is_none) {
        declare(p, i, curvature, gradient, &multiplier, &slack);
    }
    if (c->rows == 1) {
        RowRelation *row = &answer->row[c->index];
        answer->row_impulse[c->index] = is_none ? 0.0 : part->sign * part->gamma[0];
        bool has_any = part->kind == PART_LIMIT || part->kind == PART_BOUNDED || is_none;
        row->program_gradient = gradient[0];
        row->program_curvature = !has_any ? 0.0 : is_none ? 1.0 : curvature;
        row->program_multiplier = multiplier;
        row->program_slack = slack;
        return;
    }
    ContactRelation *contact = &answer->contact[c->index];
    memcpy(contact->program_gradient, gradient, sizeof(gradient));
    contact->program_curvature = is_none ? 1.0 : curvature;
    contact->program_multiplier = multiplier;
    contact->program_slack = slack;
    for (uint32_t r = 0; r < 3; r++) {
        answer->contact_impulse[3 * (size_t)c->index + r] = is_none ? 0.0 : part->gamma[r];
    }
}

Status compliant_program_store(CompliantProgram *p, Answer *answer, Arena *arena, Error *error) {
    ASSERT(answer->contact != NULL || p->island->contact_count == 0);
    ASSERT(answer->row != NULL || p->island->constraint_count == p->island->contact_count);
    const NewtonIsland *n = p->island;
    ArenaMark mark = arena_mark(arena);
    Touching touching;
    if (!find_touching(n, arena, &touching)) {
        return error_set(error, STATUS_RESOURCE_EXHAUSTED, NULL,
                         "The solver's memory is too small for the friction program.");
    }
    make_velocities(p);
    bool is_far = false;
    for (uint32_t i = 0; i < n->constraint_count; i++) {
        is_far = is_far || p->part[i].kind == PART_BILATERAL;
    }
    // where there is no time for them, what is declared is Coulomb's law
    const bool is_known = !is_far || program_factor_masses(p);
    memset(p->work, 0, n->velocity_count * sizeof(double));
    for (uint32_t i = 0; i < n->constraint_count; i++) {
        PartKind kind = p->part[i].kind;
        bool has_any = kind == PART_CONTACT || kind == PART_LIMIT || kind == PART_BOUNDED;
        double curvature = !has_any ? 1.0 : is_known ? curvature_of(p, &touching, is_far, i) : 0.0;
        store_part(p, i, curvature, answer);
    }
    arena_reset_to(arena, mark);
    return STATUS_OK;
}
