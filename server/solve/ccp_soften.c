// SPDX-License-Identifier: MIT
#include "solve/ccp_soften.h"

#include <string.h>

// Velocities so many times larger than all at hand are none.
#define FAR 1e4

// Whether an impulse is one that may grow without bound.
static bool may_grow(const NewtonConstraint *c, CcpKind kind, const double *gamma) {
    if (kind == CCP_CONE) {
        return true;
    }
    return kind == CCP_LINE && (gamma[0] > 0.0 ? c->high == HUGE_VAL : c->low == -HUGE_VAL);
}

// |v*|_M and V of all constraints, as a velocity in the same norm.
static double size_at_hand(CcpFinish *f) {
    const NewtonIsland *n = &f->of->island;
    double *p = f->velocities.work, sum = 0.0;
    newton_masses(n, n->v_free, p);
    for (size_t k = 0; k < n->velocity_count; k++) {
        sum += n->v_free[k] * p[k];
    }
    for (uint32_t i = 0; i < n->constraint_count; i++) {
        if (f->of->kind[i] != CCP_IDLE) {
            sum += n->v_scale * n->v_scale / n->constraint[i].w;
        }
    }
    return sqrt(sum);
}

// |J^T gamma|_{M^-1} of what is in `push`, which is lost.
static double size_of_push(CcpFinish *f, double *push) {
    const NewtonIsland *n = &f->of->island;
    double *v = f->velocities.d_v, sum = 0.0;
    memcpy(v, push, n->velocity_count * sizeof(double));
    for (uint32_t i = 0; i < n->tree_count; i++) {
        mass_solve_tree(n->mass, n->tree[i], v + n->velocity[i]);
    }
    for (size_t k = 0; k < n->velocity_count; k++) {
        sum += v[k] * push[k];
    }
    return sqrt(sum);
}

bool ccp_soften_is_due(CcpFinish *f) {
    const NewtonIsland *n = &f->of->island;
    double *push = f->velocities.work, work = 0.0;
    double hand = size_at_hand(f);
    memset(push, 0, n->velocity_count * sizeof(double));
    for (uint32_t i = 0; i < n->constraint_count; i++) {
        const NewtonConstraint *c = &n->constraint[i];
        const double *gamma = f->of->gamma + c->first;
        if (!may_grow(c, f->of->kind[i], gamma)) {
            continue;
        }
        if (c->compliance > 0.0) {
            return false;
        }
        for (uint32_t r = 0; r < c->rows; r++) {
            work -= c->offset[r] * gamma[r];
        }
        newton_momentum(n, c, gamma, push);
        ccp_island_spend(f->of, CCP_OPERATIONS_LOOK);
    }
    return work > FAR * hand * size_of_push(f, push);
}

uint32_t ccp_soften(CcpFinish *f, Answer *answer, double least) {
    const NewtonIsland *n = &f->of->island;
    uint32_t count = 0;
    for (uint32_t i = 0; i < n->constraint_count; i++) {
        NewtonConstraint *c = &n->constraint[i];
        double delta[NEWTON_ROWS_MAX] = {0.0};
        if (f->of->kind[i] == CCP_IDLE) {
            continue;
        }
        // the target of the round was rho gamma_before - offset
        double rho = f->law[i].normal - c->compliance;
        for (uint32_t r = 0; r < c->rows; r++) {
            delta[r] = rho * f->of->gamma[c->first + r] - (f->law[i].target[r] + c->offset[r]);
        }
        double shift = delta[0];
        if (c->rows == 3) {
            shift += c->mu * sqrt(delta[1] * delta[1] + delta[2] * delta[2]);
            shift = shift > 0.0 ? shift : 0.0;
            answer->contact[c->index].bias += shift;
        } else {
            answer->row[c->index].bias += shift;
        }
        c->offset[0] += shift;
        count += fabs(shift) > least;
        ccp_island_spend(f->of, CCP_OPERATIONS_LOOK);
    }
    memset(f->of->gamma, 0, n->impulse_count * sizeof(double));
    return count;
}
