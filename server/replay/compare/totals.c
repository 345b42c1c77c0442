// SPDX-License-Identifier: MIT
#include "replay/compare/totals.h"

static void add_entry(Ledger *ledger, int entry, double value) {
    // rather than a sum, which might be too large for a number
    ledger->mean[entry] += (value - ledger->mean[entry]) / (double)ledger->steps;
    // written so that NaN counts as worse than any number
    if (ledger->worst_step[entry] == 0 || !(value <= ledger->worst[entry])) {
        ledger->worst[entry] = value;
        ledger->worst_step[entry] = ledger->steps;
    }
}

void ledger_add(Ledger *ledger, const StepReport *report, double time_step) {
    const Certificate *certificate = &report->certificate;
    if (ledger->steps == 0) {
        ledger->energy_first = report->energy.before;
    }
    ledger->steps++;
    ledger->simulated += time_step;
    ledger->unconverged += !certificate->converged;
    for (int i = 0; i < CERTIFICATE_ENTRY_COUNT; i++) {
        add_entry(ledger, i, certificate->entry[i]);
    }
    add_entry(ledger, CERTIFICATE_ENTRY_COUNT, certificate->penetration);
    ledger->contacts += report->contact_count;
    ledger->contacts_last = report->contact_count;
    if (report->contact_count > ledger->contacts_max) {
        ledger->contacts_max = report->contact_count;
    }
    ledger->iterations += report->iterations;
    ledger->solver_ns += report->solver_ns;
    if (report->solver_ns > ledger->solver_ns_max) {
        ledger->solver_ns_max = report->solver_ns;
    }
    ledger->removed += report->removed_count;
    ledger->broken += report->broken_count;
    if (report->launch.speed > ledger->launch.speed) {
        ledger->launch = report->launch;
        ledger->launch_step = ledger->steps;
    }
    ledger->energy = report->energy.after;
}
