// SPDX-License-Identifier: MIT
#include "run/notes.h"

#include "base/assert.h"

#include <math.h>

void notes_clear(Notes *notes) {
    *notes = (Notes){0};
}

// The last stretch of its kind goes on, or a new one begins.
static void add(Notes *notes, HighlightKind kind, uint64_t step, double value) {
    size_t last = notes->last[kind];
    if (last == 0 || notes->highlight[last - 1].last_step + 1 != step) {
        ASSERT(notes->count < NOTES_HIGHLIGHTS_MAX);
        notes->highlight[notes->count] = (Highlight){
            .kind = kind, .first_step = step, .last_step = step, .step = step, .value = value};
        notes->last[kind] = ++notes->count;
        return;
    }
    Highlight *highlight = &notes->highlight[last - 1];
    highlight->last_step = step;
    if (value > highlight->value) {
        highlight->value = value;
        highlight->step = step;
    }
}

static double hardest_impact(const Stepper *stepper) {
    double hardest = 0.0;
    for (uint32_t i = 0; i < stepper->contact_count; i++) {
        double speed = -stepper->law[i].approach;
        if (stepper->impulse[3 * (size_t)i] > 0.0 && speed > hardest) {
            hardest = speed;
        }
    }
    return hardest;
}

void notes_add(Notes *notes, const Stepper *stepper, const StepReport *report, uint64_t step) {
    const Certificate *certificate = &report->certificate;
    const StepEnergy *energy = &report->energy;
    double gain = energy->after - energy->before - energy->applied;
    StepFigures one = {.unconverged_steps = !certificate->converged,
                       .worst_own = certificate->entry[CERTIFICATE_OWN],
                       .worst_penetration = certificate->penetration,
                       .contacts_max = report->contact_count,
                       .hardest_impact = hardest_impact(stepper),
                       .hardest_impact_step = step,
                       .energy_gain = gain,
                       .energy_gain_step = step};
    step_figures_add(&notes->figures, &one);
    if (!certificate->converged) {
        // what is no number is worse than any; the file has no such numbers
        add(notes, HIGHLIGHT_UNCONVERGED, step, one.worst_own <= 1e300 ? one.worst_own : 1e300);
    }
    if (gain > NOTES_GAIN_SHARE * fmax(fabs(energy->before), fabs(energy->after))) {
        add(notes, HIGHLIGHT_ENERGY_GAIN, step, gain);
    }
}

bool notes_are_full(const Notes *notes) {
    // a stretch of either kind, and the impact
    return notes->count + HIGHLIGHT_KIND_COUNT > NOTES_HIGHLIGHTS_MAX;
}

void notes_finish(Notes *notes) {
    if (notes->figures.hardest_impact > 0.0) {
        add(notes, HIGHLIGHT_IMPACT, notes->figures.hardest_impact_step,
            notes->figures.hardest_impact);
    }
}
