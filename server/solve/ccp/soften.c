// SPDX-License-Identifier: MIT
#include "solve/ccp/soften.h"

#include "base/assert.h"
#include "solve/ccp/cone.h"

#include <string.h>

// Whether an impulse is one that may grow without bound.
static bool may_grow(const NewtonConstraint *c, CcpKind kind, const double *gamma) {
    if (kind == CCP_CONE) {
        return true;
    }
    return kind == CCP_LINE && (gamma[0] > 0.0 ? c->high == HUGE_VAL : c->low == -HUGE_VAL);
}

// |v*|_M and V of all constraints, as a velocity in the same norm.
static double size_at_hand(const CcpIsland *s, double *p) {
    const NewtonIsland *n = &s->island;
    double sum = 0.0;
    newton_masses(n, n->v_free, p);
    for (size_t k = 0; k < n->velocity_count; k++) {
        sum += n->v_free[k] * p[k];
    }
    for (uint32_t i = 0; i < n->constraint_count; i++) {
        if (s->kind[i] != CCP_IDLE) {
            sum += n->v_scale * n->v_scale / n->constraint[i].w;
        }
    }
    return sqrt(sum);
}

// |J^T gamma|_{M^-1} of what is in `push`
static double size_of_push(const CcpIsland *s, const double *push, double *v) {
    const NewtonIsland *n = &s->island;
    double sum = 0.0;
    memcpy(v, push, n->velocity_count * sizeof(double));
    for (uint32_t i = 0; i < n->tree_count; i++) {
        mass_solve_tree(n->mass, n->tree[i], v + n->velocity[i]);
    }
    for (size_t k = 0; k < n->velocity_count; k++) {
        sum += v[k] * push[k];
    }
    return sqrt(sum);
}

double ccp_soften_excess(CcpIsland *s, const double *impulse, double *push, double *v) {
    ASSERT(push != v);
    ASSERT(impulse != push && impulse != v);
    const NewtonIsland *n = &s->island;
    double work = 0.0, hand = size_at_hand(s, push);
    memset(push, 0, n->velocity_count * sizeof(double));
    for (uint32_t i = 0; i < n->constraint_count; i++) {
        const NewtonConstraint *c = &n->constraint[i];
        const double *gamma = impulse + c->first;
        if (!may_grow(c, s->kind[i], gamma)) {
            continue;
        }
        if (c->compliance > 0.0) {
            return 0.0;
        }
        for (uint32_t r = 0; r < c->rows; r++) {
            work -= c->offset[r] * gamma[r];
        }
        newton_momentum(n, c, gamma, push);
        ccp_island_spend(s, CCP_OPERATIONS_LOOK);
    }
    double size = hand * size_of_push(s, push, v);
    return work > 0.0 ? work / size : 0.0;
}

void ccp_soften_project(const CcpIsland *s, double *ray) {
    ASSERT(ray != s->gamma);
    const NewtonIsland *n = &s->island;
    for (uint32_t i = 0; i < n->constraint_count; i++) {
        const NewtonConstraint *c = &n->constraint[i];
        double *of = ray + c->first;
        if (s->kind[i] == CCP_CONE) {
            ccp_cone_project(c->mu, of);
        } else if (c->rows == 3) { // without friction: only the normal counts, and only pushes
            of[0] = of[0] > 0.0 ? of[0] : 0.0;
            of[1] = of[2] = 0.0;
        }
    }
}

// What the last round left of the targets, in velocities J v: rho (gamma - gamma_before), as its
// target was rho gamma_before - offset; and rho.
static double left_by_round(const CcpFinish *f, uint32_t i, double *delta) {
    VALIDATE(i < f->of->island.constraint_count);
    VALIDATE(f->of->kind[i] != CCP_IDLE);
    const NewtonConstraint *c = &f->of->island.constraint[i];
    double rho = f->law[i].normal - c->compliance;
    for (uint32_t r = 0; r < c->rows; r++) {
        delta[r] = rho * f->of->gamma[c->first + r] - (f->law[i].target[r] + c->offset[r]);
    }
    return rho;
}

bool ccp_soften_is_due(CcpFinish *f) {
    const NewtonIsland *n = &f->of->island;
    double *push = f->velocities.work, *v = f->velocities.d_v, *ray = f->impulses.e;
    if (ccp_soften_excess(f->of, f->of->gamma, push, v) > CCP_SOFTEN_FAR) {
        return true;
    }
    // what they grow by
    memset(ray, 0, n->impulse_count * sizeof(double));
    for (uint32_t i = 0; i < n->constraint_count; i++) {
        const NewtonConstraint *c = &n->constraint[i];
        double delta[NEWTON_ROWS_MAX] = {0.0};
        double rho = f->of->kind[i] == CCP_IDLE ? 0.0 : left_by_round(f, i, delta);
        for (uint32_t r = 0; r < c->rows && rho > 0.0; r++) {
            ray[c->first + r] = delta[r] / rho;
        }
        ccp_island_spend(f->of, CCP_OPERATIONS_LOOK);
    }
    ccp_soften_project(f->of, ray);
    return ccp_soften_excess(f->of, ray, push, v) > CCP_SOFTEN_FAR;
}

uint32_t ccp_soften(CcpFinish *f, Answer *answer, double least) {
    ASSERT(!(least < 0.0));
    ASSERT(answer->contact != NULL || f->of->island.contact_count == 0);
    ASSERT(answer->row != NULL || f->of->island.constraint_count == f->of->island.contact_count);
    const NewtonIsland *n = &f->of->island;
    uint32_t count = 0;
    for (uint32_t i = 0; i < n->constraint_count; i++) {
        NewtonConstraint *c = &n->constraint[i];
        double delta[NEWTON_ROWS_MAX] = {0.0};
        if (f->of->kind[i] == CCP_IDLE) {
            continue;
        }
        left_by_round(f, i, delta);
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
    ASSERT(count <= n->constraint_count);
    return count;
}
