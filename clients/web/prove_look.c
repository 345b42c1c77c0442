// SPDX-License-Identifier: MIT
// What became of the step that was taken last.
#include "run/record_columns.h"
#include "web/prove_parts.h"

#include <assert.h>
#include <math.h>
#include <string.h>

// What a page reads until the next call.
static double report_numbers[PROVE_REPORT_COUNT];
static double world_time; // [s]
static uintptr_t view[PROVE_FRAME_COUNT];

static_assert((int)PROVE_CONTACTS_COUNT <= (int)PROVE_FRAME_COUNT, "both fit");

const double *prove_report(void) {
    const ProveShown *shown = &prove_state()->shown;
    const StepReport *report = shown->report;
    if (report == NULL) {
        for (int i = 0; i < PROVE_REPORT_COUNT; i++) {
            report_numbers[i] = NAN;
        }
        report_numbers[CERTIFICATE_ENTRY_COUNT] = shown->has_converged;
        return report_numbers;
    }
    const Certificate *certificate = &report->certificate;
    memcpy(report_numbers, certificate->entry, sizeof(certificate->entry));
    const double rest[] = {certificate->converged,   certificate->penetration,
                           report->contact_count,    report->row_count,
                           report->iterations,       certificate->tolerance,
                           report->energy.before,    report->energy.after,
                           report->energy.applied,   (double)certificate->worst_contact,
                           (double)report->solver_ns};
    static_assert(sizeof(certificate->entry) + sizeof(rest) == sizeof(report_numbers),
                  "a report is the entries and the rest");
    memcpy(report_numbers + CERTIFICATE_ENTRY_COUNT, rest, sizeof(rest));
    return report_numbers;
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
                                                  (uintptr_t)frame.joint_effort};
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
