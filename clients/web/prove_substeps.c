// SPDX-License-Identifier: MIT
#include "web/prove_substeps.h"

#include "run/worlds/record_columns.h"
#include "step/snapshot/snapshot.h"

#include <math.h>

// ---- the state before a substep

// What the next substep is given, as an order of one step. Wrenches are of bodies, here by their
// ids.
static bool copy_order(const Group *group, Arena *arena, Input *order) {
    const size_t count = group->pushed.count;
    const GroupWorld *of = &group->world[0];
    uint64_t *body = arena_take_array(arena, count, sizeof(*body));
    double *wrench = arena_take_array(arena, count, 6 * sizeof(*wrench));
    if (body == NULL || wrench == NULL) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        body[i] = of->world->body_id[group->pushed.body[i]];
    }
    group_read_push(group, of, wrench);
    *order = (Input){.kind = INPUT_STEP,
                     .step = {.steps = 1,
                              .time_step = group->time_step,
                              .wrench_count = count,
                              .wrench_body = body,
                              .wrench = wrench}};
    return true;
}

void substeps_before(Substeps *substeps, const Group *group) {
    ProveHeld *held = substeps->held;
    if (held == NULL || substeps->count != substeps->held_at) {
        return;
    }
    const World *world = group->world[0].world;
    substeps->status = snapshot_write(world, substeps->memory, &held->snapshot,
                                      &held->snapshot_bytes, &substeps->error);
    if (substeps->status == STATUS_OK && !copy_order(group, substeps->memory, &held->order)) {
        substeps->status =
            error_set(&substeps->error, STATUS_RESOURCE_EXHAUSTED, NULL, "memory ended");
    }
    held->own = step_solver(&world->settings);
}

// ---- what became of it

// What is no number stays in sight.
static double worse_of(double a, double b) {
    return isnan(a) || a >= b ? a : b;
}

static void add_report(StepReport *all, const StepReport *one) {
    Certificate *certificate = &all->certificate;
    for (int k = 0; k < CERTIFICATE_ENTRY_COUNT; k++) {
        certificate->entry[k] = worse_of(certificate->entry[k], one->certificate.entry[k]);
    }
    certificate->penetration = worse_of(certificate->penetration, one->certificate.penetration);
    certificate->converged = certificate->converged && one->certificate.converged;
    certificate->worst_contact = one->certificate.worst_contact;
    all->contact_count = one->contact_count;
    all->row_count = one->row_count;
    all->iterations = one->iterations > all->iterations ? one->iterations : all->iterations;
    all->energy.after = one->energy.after;
    all->energy.applied += one->energy.applied;
}

void substeps_after(Substeps *substeps, const Group *group) {
    const GroupWorld *of = &group->world[0];
    const StepReport *report = &substeps->last;
    const double before = substeps->report.certificate.entry[CERTIFICATE_OWN],
                 own = report->certificate.entry[CERTIFICATE_OWN];
    if (substeps->count == 0) {
        substeps->report = *report;
    } else {
        add_report(&substeps->report, report);
    }
    if (substeps->count == 0 || own > before) {
        arena_reset(&substeps->scratch);
        substeps->worst = substeps->count;
        substeps->has_contact = prove_worst_contact(of->world, of->stepper, &report->certificate,
                                                    &substeps->scratch, &substeps->contact);
    }
    if (substeps->held != NULL && substeps->count == substeps->held_at) {
        substeps->held->expected = snapshot_hash(of->world);
    }
    substeps->unconverged += !report->certificate.converged;
    substeps->count++;
}

// ---- life

void substeps_init(Substeps *substeps) {
    *substeps = (Substeps){0};
    arena_init(&substeps->scratch, prove_limits.bytes_max);
}

void substeps_deinit(Substeps *substeps) {
    arena_deinit(&substeps->scratch);
}

void substeps_begin(Substeps *substeps) {
    substeps->count = substeps->unconverged = substeps->worst = 0;
    substeps->has_contact = false;
    substeps->status = STATUS_OK;
}
