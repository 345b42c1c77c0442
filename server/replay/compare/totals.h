// SPDX-License-Identifier: MIT
// What the steps of a run amounted to: sums, means and worsts of their reports.
#pragma once

#include "step/step.h"

enum { TOTALS_ENTRIES = CERTIFICATE_ENTRY_COUNT + 1 }; // of the certificate, and the penetration

typedef struct Totals {
    uint64_t steps, unconverged;
    double simulated; // [s]
    double worst[TOTALS_ENTRIES], mean[TOTALS_ENTRIES];
    uint64_t worst_step[TOTALS_ENTRIES]; // counted as `steps`; 0: none was taken
    uint64_t contacts, contacts_max, iterations;
    uint64_t solver_ns, solver_ns_max;
    uint64_t removed, broken; // bodies, joints
    StepLaunch launch;        // the fastest …
    uint64_t launch_step;     // … and when; 0: none
    double energy_first;      // [J] kinetic + gravity before the first step …
    double energy;            // … and after the last
    uint32_t contacts_last;   // of the last
} Totals;

void totals_add(Totals *totals, const StepReport *report, double time_step);
