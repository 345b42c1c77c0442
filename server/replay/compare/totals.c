// SPDX-License-Identifier: MIT
#include "replay/compare/totals.h"

static void add_entry(Totals *totals, int entry, double value) {
    // rather than a sum, which might be too large for a number
    totals->mean[entry] += (value - totals->mean[entry]) / (double)totals->steps;
    // written so that NaN counts as worse than any number
    if (totals->worst_step[entry] == 0 || !(value <= totals->worst[entry])) {
        totals->worst[entry] = value;
        totals->worst_step[entry] = totals->steps;
    }
}

void totals_add(Totals *totals, const StepReport *report, double time_step) {
    const Certificate *certificate = &report->certificate;
    if (totals->steps == 0) {
        totals->energy_first = report->energy.before;
    }
    totals->steps++;
    totals->simulated += time_step;
    totals->unconverged += !certificate->converged;
    for (int i = 0; i < CERTIFICATE_ENTRY_COUNT; i++) {
        add_entry(totals, i, certificate->entry[i]);
    }
    add_entry(totals, CERTIFICATE_ENTRY_COUNT, certificate->penetration);
    totals->contacts += report->contact_count;
    totals->contacts_last = report->contact_count;
    if (report->contact_count > totals->contacts_max) {
        totals->contacts_max = report->contact_count;
    }
    totals->iterations += report->iterations;
    totals->solver_ns += report->solver_ns;
    if (report->solver_ns > totals->solver_ns_max) {
        totals->solver_ns_max = report->solver_ns;
    }
    totals->removed += report->removed_count;
    totals->broken += report->broken_count;
    if (report->launch.speed > totals->launch.speed) {
        totals->launch = report->launch;
        totals->launch_step = totals->steps;
    }
    totals->energy = report->energy.after;
}
