// SPDX-License-Identifier: MIT
// Whether a method that factors nothing runs after targets that contradict each other. Its
// impulses then grow without bound, but slowly, and are for long mostly what they were when
// they began to. What they grow by proves it much sooner: the difference of two sweeps of
// Gauss-Seidel, brought into cones and bounds, tends to impulses that move nothing while
// targets ask for more of them, and soften.h says when that is a proof.
//
// So after 100, 200, 400 ... iterations, where impulses ask for more than any velocity at hand,
// half as many sweeps follow from where the method is, which do not count and change nothing.
#pragma once

#include "solve/ccp/sweep.h"

typedef struct CcpProbe {
    CcpIsland *of; // borrowed
    uint32_t next; // iterations after which it is asked
    CcpSweep sweep;
    double *kept, *ray; // [impulse_count]
    double *push, *v;   // [velocity_count]
    bool is_laid_out;   // sweep, kept and ray are
} CcpProbe;

// RESOURCE_EXHAUSTED when the arena ends, here and below.
Status ccp_probe_init(CcpProbe *p, CcpIsland *island, Arena *arena, Error *error);

// Asks, where it is time to. `is_proven`: targets contradict each other. The island is as it was.
Status ccp_probe_ask(CcpProbe *p, Arena *arena, bool *is_proven, Error *error);
