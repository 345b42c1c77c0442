// SPDX-License-Identifier: MIT
#include "run/worlds/notes.h"

#include "base/assert.h"

#include <math.h>

void notes_clear(Notes *notes) {
    *notes = (Notes){0};
}

// The last stretch of its kind goes on, where the reason and the body are the same, or the new one,
// of one step, begins.
static void add(Notes *notes, const Highlight *one) {
    size_t last = notes->last[one->kind];
    Highlight *highlight = last == 0 ? NULL : &notes->highlight[last - 1];
    if (highlight == NULL || highlight->last_step + 1 != one->step ||
        highlight->reason != one->reason || highlight->body != one->body) {
        ASSERT(notes->count < NOTES_HIGHLIGHTS_MAX);
        highlight = &notes->highlight[notes->count];
        *highlight = *one;
        highlight->first_step = one->step;
        notes->last[one->kind] = ++notes->count;
    } else if (one->value > highlight->value) {
        highlight->value = one->value;
        highlight->step = one->step;
        highlight->contacts = one->contacts;
        highlight->joint = one->joint;
    }
    highlight->last_step = one->step;
}

// What is no number is worse than any; the file has no such numbers.
static Highlight unconverged(const StepReport *report, uint64_t step) {
    double own = report->certificate.entry[CERTIFICATE_OWN];
    Highlight highlight = {
        .kind = HIGHLIGHT_UNCONVERGED, .step = step, .value = own <= 1e300 ? own : 1e300};
    if (report->open.reason != END_CONVERGED) {
        highlight.reason = report->open.reason;
        highlight.body = report->open.body;
        highlight.contacts = report->open.contacts;
    }
    return highlight;
}

static double hardest_impact(const Stepper *stepper) {
    double hardest = 0.0;
    for (uint32_t i = 0; i < stepper->contact_count; i++) {
        double speed = -stepper_approach(stepper, i);
        if (stepper->impulse[3 * (size_t)i] > 0.0 && speed > hardest) {
            hardest = speed;
        }
    }
    return hardest;
}

void notes_add(Notes *notes, const Stepper *stepper, const StepReport *report, uint64_t step) {
    ASSERT(step > 0);
    ASSERT(report->broken_count == 0 || stepper->joints != NULL);
    const Certificate *certificate = &report->certificate;
    const StepEnergy *energy = &report->energy;
    double gain = energy->after - energy->before - energy->applied - energy->drive - energy->swing;
    StepFigures one = {.unconverged_steps = !certificate->converged,
                       .worst_own = certificate->entry[CERTIFICATE_OWN],
                       .worst_penetration = certificate->penetration,
                       .contacts_max = report->contact_count,
                       .hardest_impact = hardest_impact(stepper),
                       .hardest_impact_step = step,
                       .energy_gain = gain,
                       .energy_gain_step = step,
                       .has_gain = 1};
    gain_add_step(&one.gain, step_gain(energy), energy->scale);
    step_figures_add(&notes->figures, &one);
    if (!certificate->converged) {
        const Highlight highlight = unconverged(report, step);
        add(notes, &highlight);
    }
    if (gain > NOTES_GAIN_SHARE * fmax(fabs(energy->before), fabs(energy->after))) {
        add(notes, &(Highlight){.kind = HIGHLIGHT_ENERGY_GAIN, .step = step, .value = gain});
    }
    if (report->broken_count > 0) {
        add(notes, &(Highlight){.kind = HIGHLIGHT_BROKEN,
                                .step = step,
                                .value = report->broken_count,
                                .joint = stepper->joints->broken[0]});
    }
    if (report->launch.speed > notes->launch.value) {
        notes->launch = (Highlight){.kind = HIGHLIGHT_LAUNCH,
                                    .step = step,
                                    .value = report->launch.speed,
                                    .height = report->launch.height,
                                    .body = report->launch.body[0],
                                    .other = report->launch.body[1]};
    }
}

bool notes_are_full(const Notes *notes) {
    // a stretch of each kind, the impact and the launch
    return notes->count + HIGHLIGHT_KIND_COUNT > NOTES_HIGHLIGHTS_MAX;
}

void notes_finish(Notes *notes) {
    ASSERT(notes->count <= NOTES_HIGHLIGHTS_MAX);
    if (notes->figures.hardest_impact > 0.0) {
        add(notes, &(Highlight){.kind = HIGHLIGHT_IMPACT,
                                .step = notes->figures.hardest_impact_step,
                                .value = notes->figures.hardest_impact});
    }
    if (notes->launch.value > 0.0) {
        add(notes, &notes->launch);
    }
}
