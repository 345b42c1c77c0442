// SPDX-License-Identifier: MIT
#include "solve/ccp/finish.h"

#include "base/assert.h"

#include <string.h>

// rho, as a share of w: of the first round, what each has of the one before, and the least. The
// error falls by about as much from round to round, where nothing is about to change its state.
#define SHARE      1e-4
#define SHARE_FALL 0.1
#define SHARE_MIN  1e-9
// Below, a solve leaves more of its equation than rho is of w, and what it left is solved again.
#define STIFF_SHARE 1e-5
enum { REFINEMENTS = 2 };
// of the descent in velocities, as a share of momentum
#define GRADIENT 1e-12

Status ccp_finish_init(CcpFinish *f, CcpIsland *island, Arena *arena, Error *error) {
    ASSERT(island->island.constraint_count > 0);
    const NewtonIsland *n = &island->island;
    *f = (CcpFinish){.of = island,
                     .law = arena_take_zeroed(arena, n->constraint_count, sizeof(SapLaw))};
    if (f->law == NULL) {
        return error_set(error, STATUS_RESOURCE_EXHAUSTED, NULL,
                         "The solver's memory is too small for Newton's method.");
    }
    const double still[3] = {0.0, 0.0, 0.0};
    ccp_island_spend(island, CCP_OPERATIONS_LAYOUT * (double)n->constraint_count);
    Status status = sap_island_lay_out(&f->velocities, n, island->asker.stop, arena, error);
    if (status != STATUS_OK) {
        return status;
    }
    for (uint32_t i = 0; i < n->constraint_count; i++) {
        const NewtonConstraint *c = &n->constraint[i];
        double r = c->compliance + SHARE * c->w;
        f->law[i] =
            c->rows == 3 ? sap_law_cone(still, r, r, c->mu) : sap_law_row(0.0, r, c->low, c->high);
        f->velocities.law[i] = island->kind[i] == CCP_IDLE ? NULL : &f->law[i];
        ccp_island_spend(island, CCP_OPERATIONS_LAYOUT);
    }
    if (island->asker.is_stopped) {
        return STATUS_OK;
    }
    return sap_impulse_init(&f->impulses, &f->velocities, arena, error);
}

void ccp_finish_begin(CcpFinish *f) {
    ASSERT(f->law != NULL);
    f->share = SHARE;
}

// Targets around the island's gamma, and rho.
static void aim(CcpFinish *f) {
    ASSERT(f->share >= SHARE_MIN);
    ASSERT(f->share <= SHARE);
    const NewtonIsland *n = &f->of->island;
    for (uint32_t i = 0; i < n->constraint_count; i++) {
        const NewtonConstraint *c = &n->constraint[i];
        double rho = f->share * c->w, r = c->compliance + rho;
        f->law[i] = sap_law_with(&f->law[i], r, r);
        ccp_island_spend(f->of, CCP_OPERATIONS_LOOK);
        f->impulses.scaled[i] = sap_law_with(&f->law[i], r + c->w, r + c->w);
        for (uint32_t k = 0; k < c->rows; k++) {
            f->law[i].target[k] = rho * f->of->gamma[c->first + k] - c->offset[k];
        }
    }
    f->impulses.refinements = f->share < STIFF_SHARE ? REFINEMENTS : 0;
}

// In velocities, which always come nearer (descent/island.h), then in impulses the last digits.
static SapOutcome come_down(CcpFinish *f, double velocity, uint32_t iterations_max) {
    SapIsland *v = &f->velocities;
    sap_island_start(v);
    SapOutcome outcome = sap_island_minimise(v, GRADIENT, iterations_max);
    if (outcome != SAP_MET && outcome != SAP_STALLED) {
        return outcome;
    }
    sap_impulse_take_over(&f->impulses);
    return sap_impulse_minimise(&f->impulses, 1.0, velocity, iterations_max);
}

CcpOutcome ccp_finish_round(CcpFinish *f, double velocity, uint32_t iterations_max,
                            bool is_patient) {
    ASSERT(!(velocity < 0.0));
    CcpIsland *s = f->of;
    SapIsland *v = &f->velocities;
    size_t bytes = s->island.impulse_count * sizeof(double);
    aim(f);
    f->share = relation_max(SHARE_FALL * f->share, SHARE_MIN);
    memcpy(v->gamma, s->gamma, bytes);
    v->asker = s->asker;
    v->is_stopped = false;
    v->iterations = 0;
    sap_impulse_begin(&f->impulses);
    SapOutcome outcome = sap_impulse_minimise(&f->impulses, 1.0, velocity, iterations_max);
    if (outcome == SAP_STALLED && is_patient) {
        sap_impulse_end(&f->impulses);
        outcome = come_down(f, velocity, iterations_max);
    }
    if (outcome == SAP_SPENT || outcome == SAP_STALLED) {
        sap_impulse_end(&f->impulses);
    }
    s->asker = v->asker;
    s->asker.is_stopped = s->asker.is_stopped || v->is_stopped;
    s->iterations += v->iterations;
    memcpy(s->gamma, v->gamma, bytes);
    switch (outcome) {
    case SAP_MET:
        return CCP_GOES_ON;
    case SAP_STOPPED:
        return CCP_STOPPED;
    case SAP_NOT_FINITE:
        return CCP_NOT_FINITE;
    default:
        return CCP_STALLED;
    }
}
