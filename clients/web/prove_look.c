// SPDX-License-Identifier: MIT
// What became of the step that was taken last.
#include "run/worlds/record_columns.h"
#include "web/prove_substeps.h"

#include <assert.h>
#include <math.h>
#include <string.h>

// What a page reads until the next call.
static double report_numbers[PROVE_REPORT_COUNT];
static double world_time; // [s]
static uint64_t worst[5];
static uintptr_t view[PROVE_FRAME_COUNT];

static_assert((int)PROVE_CONTACTS_COUNT <= (int)PROVE_FRAME_COUNT, "both fit");

bool prove_worst_contact(const World *world, const Stepper *stepper, const Certificate *certificate,
                         Arena *arena, ProveContact *contact) {
    ContactList list;
    Error error = {0};
    if (certificate->worst_contact < 0 || !(certificate->entry[CERTIFICATE_OWN] > 0.0) ||
        contacts_list(world, stepper, 0, (size_t)certificate->worst_contact, 1, arena, &list,
                      &error) != STATUS_OK ||
        list.count == 0) {
        return false;
    }
    *contact = (ProveContact){.a = list.body_a[0],
                              .b = list.body_b[0],
                              .part_a = list.part_a[0],
                              .part_b = list.part_b[0],
                              .feature = list.feature[0]};
    return true;
}

const uint64_t *prove_worst(void) {
    Prover *prover = prove_state();
    const ProveShown *shown = &prover->shown;
    const Substeps *substeps = prove_group_substeps();
    ProveContact contact = {0};
    if (substeps != NULL && shown->report == &substeps->report) {
        contact = substeps->contact;
        if (!substeps->has_contact) {
            return NULL;
        }
    } else if (shown->report == NULL ||
               !prove_worst_contact(shown->world, shown->stepper, &shown->report->certificate,
                                    &prover->scratch, &contact)) {
        return NULL;
    }
    worst[0] = contact.a;
    worst[1] = contact.b;
    worst[2] = contact.part_a;
    worst[3] = contact.part_b;
    worst[4] = contact.feature;
    return worst;
}

const double *prove_report(void) {
    const ProveShown *shown = &prove_state()->shown;
    const StepReport *report = shown->report;
    if (report == NULL) {
        for (int i = 0; i < PROVE_REPORT_COUNT; i++) {
            report_numbers[i] = NAN;
        }
        return report_numbers;
    }
    const Substeps *substeps = prove_group_substeps();
    const bool has_substeps = substeps != NULL && report == &substeps->report;
    const Certificate *certificate = &report->certificate;
    memcpy(report_numbers, certificate->entry, sizeof(certificate->entry));
    const double rest[] = {certificate->converged,
                           certificate->penetration,
                           report->contact_count,
                           report->row_count,
                           report->iterations,
                           certificate->tolerance,
                           report->energy.before,
                           report->energy.after,
                           report->energy.applied,
                           (double)certificate->worst_contact,
                           (double)report->solver_ns,
                           has_substeps ? substeps->count : 1,
                           has_substeps ? substeps->unconverged : !certificate->converged,
                           has_substeps ? substeps->worst : 0,
                           has_substeps && substeps->is_doubtful};
    static_assert(sizeof(certificate->entry) + sizeof(rest) == sizeof(report_numbers),
                  "a report is the entries and the rest");
    memcpy(report_numbers + CERTIFICATE_ENTRY_COUNT, rest, sizeof(rest));
    return report_numbers;
}

// Per body, as prove_frame has it. NULL: memory ended.
static uint64_t *worn_of(const World *world, Arena *arena) {
    uint64_t *worn = arena_take_zeroed(arena, world->body_count, sizeof(uint64_t));
    uint32_t primitive;
    for (uint32_t body = 0; worn != NULL && body < world->body_count; body++) {
        if (world_find_worn(world, body, &primitive)) {
            worn[body] = world->geometry[world->primitive[primitive].geometry_number - 1].id;
        }
    }
    return worn;
}

const uintptr_t *prove_frame(void) {
    Prover *prover = prove_state();
    const ProveShown *shown = &prover->shown;
    StateFrame frame;
    FrameJoints joints;
    if (shown->world == NULL ||
        frame_columns(shown->world, shown->step, &prover->scratch, &frame, &prover->error) !=
            STATUS_OK ||
        joint_columns(shown->world, &prover->scratch, &joints, &prover->error) != STATUS_OK) {
        return NULL;
    }
    const uint64_t *worn = worn_of(shown->world, &prover->scratch);
    if (worn == NULL) {
        return NULL;
    }
    world_time = frame.time;
    const uintptr_t columns[PROVE_FRAME_COUNT] = {shown->world->body_count,
                                                  (uintptr_t)shown->world->body_id,
                                                  (uintptr_t)frame.pose,
                                                  (uintptr_t)frame.velocity,
                                                  (uintptr_t)&world_time,
                                                  joints.position_count,
                                                  joints.axis_count,
                                                  (uintptr_t)frame.joint_position,
                                                  (uintptr_t)frame.joint_velocity,
                                                  (uintptr_t)frame.joint_target,
                                                  (uintptr_t)frame.joint_target_velocity,
                                                  (uintptr_t)frame.joint_effort,
                                                  (uintptr_t)worn};
    memcpy(view, columns, sizeof(columns));
    return view;
}

const uintptr_t *prove_contacts(void) {
    Prover *prover = prove_state();
    const ProveShown *shown = &prover->shown;
    ContactList list;
    if (shown->world == NULL || !shown->stepper->has_last ||
        contacts_list(shown->world, shown->stepper, shown->step, 0, shown->stepper->contact_count,
                      &prover->scratch, &list, &prover->error) != STATUS_OK) {
        return NULL;
    }
    const uintptr_t columns[PROVE_CONTACTS_COUNT] = {list.count,
                                                     (uintptr_t)list.body_a,
                                                     (uintptr_t)list.body_b,
                                                     (uintptr_t)list.part_a,
                                                     (uintptr_t)list.part_b,
                                                     (uintptr_t)list.feature,
                                                     (uintptr_t)list.point,
                                                     (uintptr_t)list.frame,
                                                     (uintptr_t)list.gap,
                                                     (uintptr_t)list.impulse,
                                                     (uintptr_t)list.velocity,
                                                     (uintptr_t)list.friction};
    memcpy(view, columns, sizeof(columns));
    return view;
}
