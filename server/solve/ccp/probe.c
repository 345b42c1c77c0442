// SPDX-License-Identifier: MIT
#include "solve/ccp/probe.h"

#include "base/assert.h"
#include "solve/ccp/soften.h"

#include <string.h>

// when it is asked first, and how often its sweeps are looked at
enum { FIRST = 100, LOOK_EVERY = 10 };
// of velocities at hand, what impulses are to ask for before sweeps follow
#define SUSPICIOUS 0.25

static Status no_memory(Error *error) {
    return error_set(error, STATUS_RESOURCE_EXHAUSTED, NULL,
                     "The solver's memory is too small to tell whether targets contradict.");
}

Status ccp_probe_init(CcpProbe *p, CcpIsland *island, Arena *arena, Error *error) {
    size_t count = island->island.velocity_count;
    *p = (CcpProbe){.of = island,
                    .next = FIRST,
                    .push = arena_take_array(arena, count, sizeof(double)),
                    .v = arena_take_array(arena, count, sizeof(double))};
    return p->push == NULL || p->v == NULL ? no_memory(error) : STATUS_OK;
}

static Status lay_out(CcpProbe *p, Arena *arena, Error *error) {
    if (p->is_laid_out) {
        return STATUS_OK;
    }
    size_t count = p->of->island.impulse_count;
    p->kept = arena_take_array(arena, count, sizeof(double));
    p->ray = arena_take_array(arena, count, sizeof(double));
    p->is_laid_out = true;
    return p->kept == NULL || p->ray == NULL ? no_memory(error)
                                             : ccp_sweep_init(&p->sweep, p->of, arena, error);
}

// What one more sweep adds to the impulses.
static CcpOutcome find_ray(CcpProbe *p) {
    ASSERT(p->is_laid_out);
    size_t count = p->of->island.impulse_count;
    double change;
    memcpy(p->ray, p->of->gamma, count * sizeof(double));
    CcpOutcome outcome = ccp_sweep_step(&p->sweep, &change);
    for (size_t k = 0; k < count; k++) {
        p->ray[k] = p->of->gamma[k] - p->ray[k];
    }
    ccp_soften_project(p->of, p->ray);
    return outcome;
}

static bool is_proven_by_sweeps(CcpProbe *p, uint32_t sweeps) {
    CcpOutcome outcome = CCP_GOES_ON;
    bool is_proven = false;
    double change;
    p->sweep.fresh = 0;
    for (uint32_t i = 1; i <= sweeps && outcome == CCP_GOES_ON && !is_proven; i++) {
        bool looks = i % LOOK_EVERY == 0;
        outcome = looks ? find_ray(p) : ccp_sweep_step(&p->sweep, &change);
        is_proven = looks && outcome == CCP_GOES_ON &&
                    ccp_soften_excess(p->of, p->ray, p->push, p->v) > CCP_SOFTEN_FAR;
    }
    return is_proven;
}

Status ccp_probe_ask(CcpProbe *p, Arena *arena, bool *is_proven, Error *error) {
    ASSERT(p->next >= FIRST);
    CcpIsland *s = p->of;
    uint32_t iterations = s->iterations;
    *is_proven = false;
    if (iterations < p->next) {
        return STATUS_OK;
    }
    p->next = 2 * p->next;
    if (!(ccp_soften_excess(s, s->gamma, p->push, p->v) > SUSPICIOUS)) {
        return STATUS_OK;
    }
    Status status = lay_out(p, arena, error);
    if (status != STATUS_OK) {
        return status;
    }
    size_t bytes = s->island.impulse_count * sizeof(double);
    memcpy(p->kept, s->gamma, bytes);
    *is_proven = is_proven_by_sweeps(p, iterations / 2);
    memcpy(s->gamma, p->kept, bytes);
    s->iterations = iterations;
    return STATUS_OK;
}
