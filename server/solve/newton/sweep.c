// SPDX-License-Identifier: MIT
#include "solve/newton/parts.h"

#include "base/assert.h"

#include <string.h>

// A block that has no inverse, as a hinge's tip has one row of three, is given one: so much of w on
// its diagonal, which vanishes at the fixed point.
#define REGULAR_SHARE 1e-9
// sweeps end where nothing changes by more than this, in V
#define CHANGE_MIN           1e-15
#define OPERATIONS_PER_BLOCK 300.0

void newton_sweep_init(NewtonWork *work) {
    ASSERT(work->response != NULL || work->island->constraint_count == 0);
    const NewtonIsland *n = work->island;
    double *row = work->response;
    for (uint32_t i = 0; i < n->constraint_count; i++) {
        const NewtonConstraint *c = &n->constraint[i];
        for (uint32_t b = 0; b < c->block_count; b++) {
            const NewtonBlock *block = &n->block[c->block_first + b];
            memcpy(row, block->jacobian, c->rows * (size_t)block->width * sizeof(double));
            for (uint32_t r = 0; r < c->rows; r++, row += block->width) {
                mass_solve_tree(n->mass, n->tree[block->tree], row);
            }
        }
        if (c->rows == 3) {
            const MassBlock *a = mass_contact_block(n->mass, c->index);
            double extra = REGULAR_SHARE * c->w;
            MdpBlock block = {a->nn + extra, a->nt,         a->no, a->tt + extra,
                              a->to,         a->oo + extra, c->mu};
            mdp_block_plan(&block, &work->sweep[i]);
        }
        asker_spend(n->asker, OPERATIONS_PER_BLOCK);
    }
}

static void solve_contact(const NewtonIsland *n, const MdpPlan *plan, const double u[3],
                          double gamma[3]) {
    const MdpBlock *a = &plan->block;
    const double b[3] = {a->nn * gamma[0] + a->nt * gamma[1] + a->no * gamma[2] - u[0],
                         a->nt * gamma[0] + a->tt * gamma[1] + a->to * gamma[2] - u[1],
                         a->no * gamma[0] + a->to * gamma[1] + a->oo * gamma[2] - u[2]};
    if (!mdp_plan_is_easy(plan, b, gamma)) {
        mdp_plan_solve(plan, n->law == RELATION_CONE, b, gamma);
    }
}

// One constraint, alone; returns the largest change as a velocity.
static double relax(NewtonWork *work, uint32_t i, const double *response) {
    const NewtonIsland *n = work->island;
    const NewtonConstraint *c = &n->constraint[i];
    double u[NEWTON_ROWS_MAX], d[NEWTON_ROWS_MAX], change = 0.0;
    double *gamma = work->impulse + c->first;
    newton_product(n, c, work->v, u);
    for (uint32_t r = 0; r < c->rows; r++) {
        u[r] += c->offset[r];
        d[r] = -gamma[r];
    }
    if (c->rows == 3) {
        solve_contact(n, &work->sweep[i], u, gamma);
    } else {
        gamma[0] -= (u[0] + c->compliance * gamma[0]) / (c->w + c->compliance);
        newton_project(c, gamma);
    }
    for (uint32_t r = 0; r < c->rows; r++) {
        d[r] += gamma[r];
        change = relation_max(change, c->w * fabs(d[r]));
    }
    for (uint32_t b = 0; b < c->block_count; b++) {
        const NewtonBlock *block = &n->block[c->block_first + b];
        double *of = work->v + block->velocity;
        for (uint32_t r = 0; r < c->rows; r++, response += block->width) {
            for (size_t k = 0; k < block->width; k++) {
                of[k] += response[k] * d[r];
            }
        }
    }
    return change;
}

void newton_sweep(NewtonWork *work, int count) {
    ASSERT(count >= 0);
    const NewtonIsland *n = work->island;
    newton_velocities(n, work->impulse, work->v);
    double change = HUGE_VAL;
    for (int sweep = 0; sweep < count && change > CHANGE_MIN * n->v_scale; sweep++) {
        const double *response = work->response;
        change = 0.0;
        for (uint32_t i = 0; i < n->constraint_count && !work->is_stopped; i++) {
            const NewtonConstraint *c = &n->constraint[i];
            if (c->w > 0.0) {
                change = relation_max(change, relax(work, i, response));
            }
            for (uint32_t b = 0; b < c->block_count; b++) {
                response += (size_t)c->rows * n->block[c->block_first + b].width;
            }
            newton_spend(work, OPERATIONS_PER_BLOCK);
        }
    }
    newton_velocities(n, work->impulse, work->v);
}
