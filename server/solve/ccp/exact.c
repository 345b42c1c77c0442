// SPDX-License-Identifier: MIT
#include "solve/ccp/exact.h"

#include "base/assert.h"

// What a contact's target is lowered by: it stands in its offset, beside motion and bias.
static double lowered_by(const NewtonIsland *n, const NewtonConstraint *c, const Answer *answer) {
    return c->offset[0] -
           (n->problem->contact[c->index].motion[0] + answer->contact[c->index].bias);
}

void ccp_exact_declare(const CcpIsland *s, Answer *answer, bool is_exact) {
    ASSERT(s->island.contact_count <= s->island.constraint_count);
    ASSERT(answer->contact != NULL || s->island.contact_count == 0);
    const NewtonIsland *n = &s->island;
    for (uint32_t i = 0; i < n->contact_count; i++) {
        const NewtonConstraint *c = &n->constraint[i];
        ContactRelation *relation = &answer->contact[c->index];
        relation->s = is_exact ? 1.0 : 0.0;
        relation->shift = is_exact ? 0.0 : -lowered_by(n, c, answer);
    }
}

double ccp_exact_lower(CcpIsland *s, const Answer *answer) {
    ASSERT(s->island.contact_count <= s->island.constraint_count);
    const NewtonIsland *n = &s->island;
    double most = 0.0;
    for (uint32_t i = 0; i < n->contact_count; i++) {
        NewtonConstraint *c = &n->constraint[i];
        if (s->kind[i] != CCP_CONE) {
            continue;
        }
        const double *gamma = answer->contact_impulse + 3 * (size_t)c->index;
        double u[3];
        problem_contact_velocity(n->problem, c->index, answer->v, u);
        double t = u[1] + c->compliance * gamma[1], o = u[2] + c->compliance * gamma[2];
        double change = c->mu * sqrt(t * t + o * o) - lowered_by(n, c, answer);
        c->offset[0] += change;
        most = relation_max(most, fabs(change));
        ccp_island_spend(s, CCP_OPERATIONS_LOOK);
    }
    return most;
}
