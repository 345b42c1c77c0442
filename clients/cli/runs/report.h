// SPDX-License-Identifier: MIT
// What a run was like: collected over its batches, shown at its end.
#pragma once

#include "moreau.pb-c.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

enum { RUN_ENTRIES_MAX = 16 };

// The step that left the largest residual.
typedef struct RunOpen {
    uint64_t step; // 0: all islands of all steps were solved
    uint32_t islands, islands_open;
    // of the island with that residual
    uint64_t body; // one of it
    uint32_t contacts;
    double residual;
    int reason; // Certificate.Reason
} RunOpen;

// What convex friction launched: of the step where that was fastest, if any.
typedef struct RunLaunch {
    uint64_t step; // 0: nothing was
    double speed, gliding;
    uint64_t body[2];
} RunLaunch;

enum { RUN_BROKEN_MAX = 16 }; // as many as are named

typedef struct RunReport {
    // set by whoever runs
    const Moreau__V1__Scene *scene;              // borrowed, as what the server made of it;
    const Moreau__V1__WorldCreateReply *created; // Nullable: bodies have no names
    uint64_t world;
    const char *name;   // borrowed
    const char *solver; // borrowed
    uint64_t bodies;
    uint64_t steps_wanted;
    uint64_t iterations_advised; // [max_iterations] more than it had, for steps that need them
    double wall_time;            // [s] spent stepping, as seen from here
    bool interrupted, kept;
    bool has_hash;
    uint64_t hash;
    // collected
    uint64_t steps_done, step, unconverged_steps;
    double time; // [s]
    uint32_t contacts, rows, iterations;
    uint32_t recovery_contacts; // of the last step
    uint64_t recovery_steps;
    uint32_t softened; // contacts and rows of the last step
    uint64_t softened_steps;
    uint32_t idle; // contacts and rows of the last step
    uint64_t idle_steps;
    uint64_t borrowed_steps;
    uint32_t owed_steps;                // after the last step
    bool is_bounded;                    // by the world's effort
    uint32_t asleep;                    // bodies that sleep after the last step
    uint64_t removed;                   // bodies that left the bounds
    uint64_t broken;                    // joints that broke …
    uint64_t broken_id[RUN_BROKEN_MAX]; // … the first of them
    bool has_reports, converged;
    double tolerance, solver_time;
    size_t entry_count; // of the certificate, in the order of CertificateColumns
    double last[RUN_ENTRIES_MAX], worst[RUN_ENTRIES_MAX];
    uint64_t worst_step[RUN_ENTRIES_MAX];
    RunOpen open;
    RunLaunch launch;
    bool has_energy;
    double energy_before, energy_after, energy_unexplained; // [J] of the last step
    double gained; // [J] what nothing gave, of all calls in which it was worth telling
} RunReport;

// Adds one answer that is about one world. Returns the steps it says were done.
uint64_t run_report_add(RunReport *report, const Moreau__V1__WorldStepReply *reply);

void run_report_print(const RunReport *report);
json_t *run_report_write(const RunReport *report); // a new reference
