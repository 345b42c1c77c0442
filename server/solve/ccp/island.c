// SPDX-License-Identifier: MIT
#include "solve/ccp/island.h"

#include "base/assert.h"
#include "solve/ccp/cone.h"

#include <string.h>

void ccp_island_spend(CcpIsland *s, double operations) {
    VALIDATE(!(operations < 0.0));
    asker_spend(&s->asker, operations);
}

// What a constraint is, and what its kind goes by.
static CcpKind make_kind(NewtonConstraint *c, double compliance) {
    ASSERT(c->rows == 1 || c->rows == NEWTON_ROWS_MAX);
    if (c->rows == 3) {
        c->compliance = compliance;
        c->low = 0.0;
        c->high = HUGE_VAL;
    }
    // not a number: nor will be what follows
    return c->w == 0.0 ? CCP_IDLE : c->rows == 3 && c->mu != 0.0 ? CCP_CONE : CCP_LINE;
}

Status ccp_island_init(CcpIsland *s, const NewtonIsland *island, double compliance,
                       const Stop *stop, Arena *arena, Error *error) {
    ASSERT(!(compliance < 0.0));
    ASSERT(island->contact_count <= island->constraint_count);
    ASSERT(island->impulse_count >= island->constraint_count);
    *s = (CcpIsland){
        .island = *island,
        .kind = arena_take_array(arena, island->constraint_count, sizeof(*s->kind)),
        .gamma = arena_take_zeroed(arena, island->impulse_count, sizeof(double)),
        .asker = {.stop = stop},
    };
    if (s->kind == NULL || s->gamma == NULL) {
        return error_set(error, STATUS_RESOURCE_EXHAUSTED, NULL,
                         "The solver's memory is too small for an island.");
    }
    for (uint32_t i = 0; i < island->constraint_count; i++) {
        s->kind[i] = make_kind(&s->island.constraint[i], compliance);
    }
    return STATUS_OK;
}

void ccp_island_load(CcpIsland *s, const double *contact_impulse, const double *row_impulse) {
    ASSERT(contact_impulse != NULL || s->island.contact_count == 0);
    ASSERT(row_impulse != NULL || s->island.constraint_count == s->island.contact_count);
    const NewtonIsland *n = &s->island;
    for (uint32_t i = 0; i < n->constraint_count; i++) {
        const NewtonConstraint *c = &n->constraint[i];
        const double *from =
            c->rows == 3 ? contact_impulse + 3 * (size_t)c->index : row_impulse + c->index;
        double *to = s->gamma + c->first;
        memset(to, 0, c->rows * sizeof(double));
        if (s->kind[i] == CCP_CONE) {
            memcpy(to, from, 3 * sizeof(double));
            ccp_cone_project(c->mu, to);
        } else if (s->kind[i] == CCP_LINE) {
            to[0] = relation_max(relation_min(from[0], c->high), c->low);
        }
    }
    if (!numbers_are_finite(s->gamma, n->impulse_count)) {
        memset(s->gamma, 0, n->impulse_count * sizeof(double));
    }
}

void ccp_island_store(const CcpIsland *s, double *contact_impulse, double *row_impulse) {
    ASSERT(contact_impulse != NULL || s->island.contact_count == 0);
    ASSERT(row_impulse != NULL || s->island.constraint_count == s->island.contact_count);
    const NewtonIsland *n = &s->island;
    for (uint32_t i = 0; i < n->constraint_count; i++) {
        const NewtonConstraint *c = &n->constraint[i];
        double *to = c->rows == 3 ? contact_impulse + 3 * (size_t)c->index : row_impulse + c->index;
        memcpy(to, s->gamma + c->first, c->rows * sizeof(double));
    }
}
