// SPDX-License-Identifier: MIT
#include "solve/ccp/sweep.h"

#include "base/assert.h"
#include "solve/ccp/local.h"

#include <string.h>

// A block that has no inverse, as a hinge's tip has one row of three, is given one: so much of w on
// its diagonal, which vanishes at the fixed point.
#define REGULAR_SHARE 1e-7
// Velocities are made anew from all impulses after so many sweeps, as they gather rounding.
enum { FRESH = 50 };
// sweeps end where nothing changes by more than this share of V
#define CHANGE_MIN 1e-15
// of one contact solved alone: that leaves or holds, and that slides, whose root is looked for
#define OPERATIONS       800.0
#define OPERATIONS_SLIDE 4000.0
// how near the edge of its cone an impulse is that slides, as a share
#define SLIDES 1e-9

Status ccp_sweep_init(CcpSweep *p, CcpIsland *island, Arena *arena, Error *error) {
    ASSERT(island->kind != NULL && island->gamma != NULL);
    const NewtonIsland *n = &island->island;
    size_t numbers = 0;
    for (uint32_t i = 0; i < n->constraint_count; i++) {
        const NewtonConstraint *c = &n->constraint[i];
        for (uint32_t b = 0; b < c->block_count; b++) {
            numbers += c->rows * (size_t)n->block[c->block_first + b].width;
        }
    }
    *p = (CcpSweep){.of = island,
                    .v = arena_take_array(arena, n->velocity_count, sizeof(double)),
                    .response = arena_take_array(arena, numbers, sizeof(double))};
    if (p->v == NULL || p->response == NULL) {
        return error_set(error, STATUS_RESOURCE_EXHAUSTED, NULL,
                         "The solver's memory is too small for sweeps.");
    }
    double *row = p->response;
    for (uint32_t i = 0; i < n->constraint_count; i++) {
        const NewtonConstraint *c = &n->constraint[i];
        for (uint32_t b = 0; b < c->block_count; b++) {
            const NewtonBlock *block = &n->block[c->block_first + b];
            memcpy(row, block->jacobian, c->rows * (size_t)block->width * sizeof(double));
            for (uint32_t r = 0; r < c->rows; r++, row += block->width) {
                mass_solve_tree(n->mass, n->tree[block->tree], row);
            }
        }
        ccp_island_spend(island, CCP_OPERATIONS_STEP);
    }
    ASSERT(row == p->response + numbers);
    return STATUS_OK;
}

// v += M^-1 J^T d
static const double *follow(CcpSweep *p, const NewtonConstraint *c, const double *response,
                            const double *d) {
    const NewtonIsland *n = &p->of->island;
    for (uint32_t b = 0; b < c->block_count; b++) {
        const NewtonBlock *block = &n->block[c->block_first + b];
        double *v = p->v + block->velocity;
        for (uint32_t r = 0; r < c->rows; r++, response += block->width) {
            for (size_t k = 0; k < block->width; k++) {
                v[k] += response[k] * d[r];
            }
        }
    }
    return response;
}

// The impulse of one constraint, the others as they are.
static void relax(const NewtonIsland *n, const NewtonConstraint *c, CcpKind kind, const double *u,
                  double *gamma) {
    VALIDATE(kind != CCP_IDLE);
    if (kind == CCP_LINE) {
        double a = c->rows == 3 ? mass_contact_block(n->mass, c->index)->nn : c->w;
        gamma[0] =
            relation_max(relation_min(gamma[0] - u[0] / (a + c->compliance), c->high), c->low);
        return;
    }
    const MassBlock *a = mass_contact_block(n->mass, c->index);
    double extra = c->compliance + REGULAR_SHARE * c->w;
    const double b[3] = {u[0] - (a->nn + extra) * gamma[0] - a->nt * gamma[1] - a->no * gamma[2],
                         u[1] - a->nt * gamma[0] - (a->tt + extra) * gamma[1] - a->to * gamma[2],
                         u[2] - a->no * gamma[0] - a->to * gamma[1] - (a->oo + extra) * gamma[2]};
    ccp_local_solve(a, extra, c->mu, b, gamma);
}

// What it took to come to an impulse.
static double operations_of(const NewtonConstraint *c, CcpKind kind, const double *gamma) {
    if (kind != CCP_CONE) {
        return CCP_OPERATIONS_LOOK;
    }
    double edge = c->mu * gamma[0], t = sqrt(gamma[1] * gamma[1] + gamma[2] * gamma[2]);
    return edge > 0.0 && !(t < (1.0 - SLIDES) * edge) ? OPERATIONS_SLIDE : OPERATIONS;
}

CcpOutcome ccp_sweep_step(CcpSweep *p, double *change) {
    ASSERT(p->fresh <= FRESH);
    ASSERT(p->v != NULL && p->response != NULL);
    CcpIsland *s = p->of;
    const NewtonIsland *n = &s->island;
    if (p->fresh == 0) {
        newton_velocities(n, s->gamma, p->v);
        ccp_island_spend(s, CCP_OPERATIONS_LOOK * (double)n->constraint_count);
        p->fresh = FRESH;
    }
    p->fresh--;
    const double *response = p->response;
    *change = 0.0;
    for (uint32_t i = 0; i < n->constraint_count && !s->asker.is_stopped; i++) {
        const NewtonConstraint *c = &n->constraint[i];
        double u[NEWTON_ROWS_MAX] = {0.0}, d[NEWTON_ROWS_MAX] = {0.0};
        double *gamma = s->gamma + c->first;
        if (s->kind[i] != CCP_IDLE) {
            newton_product(n, c, p->v, u);
            for (uint32_t r = 0; r < c->rows; r++) {
                u[r] += c->offset[r] + c->compliance * gamma[r];
                d[r] = -gamma[r];
            }
            relax(n, c, s->kind[i], u, gamma);
            for (uint32_t r = 0; r < c->rows; r++) {
                d[r] += gamma[r];
                *change = relation_max(*change, c->w * fabs(d[r]));
            }
            ccp_island_spend(s, operations_of(c, s->kind[i], gamma));
        }
        response = follow(p, c, response, d);
    }
    s->iterations++;
    if (s->asker.is_stopped) {
        return CCP_STOPPED;
    }
    return !(*change == *change)                ? CCP_NOT_FINITE
           : *change <= CHANGE_MIN * n->v_scale ? CCP_STALLED
                                                : CCP_GOES_ON;
}
