// SPDX-License-Identifier: MIT
// What is seen of a world of a group while it learns (watch.h): what rows leave behind.
#include "run/groups/group.h"

#include "base/assert.h"

// The number of an episode that is over is one less than that of the next one.
WatchView group_view(const Group *group, uint32_t i, const Watch *watch) {
    ASSERT(i < group->count);
    const GroupWorld *of = &group->world[i];
    return (WatchView){.world = of->world,
                       .stepper = of->stepper,
                       .tally = watch_tally(watch, of->world),
                       .step = watch->steps,
                       .has_episode = of->is_running || of->episode > 0,
                       .is_over = !of->is_running && of->episode > 0,
                       .episode =
                           of->is_running || of->episode == 0 ? of->episode : of->episode - 1,
                       .episode_step = of->length};
}

void group_tally_substep(Watch *watch, const GroupWorld *of, const StepReport *report) {
    if (of->substep == 0) {
        watch->tally.done = 0;
    }
    if (atomic_load_explicit(&watch->wants_tally, memory_order_relaxed)) {
        if (watch->tally.done == 0) {
            watch->tally = (StepTally){0};
        }
        tally_add(&watch->tally, report, of->world->step);
        watch->tally_step = of->world->step;
        watch->tally_changes = watch->marks.changes;
    }
}

// Resets bring back what a world has lost.
static void mark_things(Watch *watch, bool is_lost) {
    watch->marks.things += is_lost || watch->was_lost;
    watch->marks.definitions += !is_lost && watch->was_lost;
    watch->was_lost = is_lost;
}

void group_show_row(Watch *watch, const GroupCall *call, size_t row) {
    ASSERT(row < call->count);
    const uint32_t i = group_call_world(call, row);
    const GroupWorld *of = &call->group->world[i];
    const GroupRow *became = &call->row[row];
    if (call->verb == GROUP_READ) {
        return;
    }
    if (became->has_failed) {
        watch->failure = call->error[row];
    }
    // what was refused is no step, but it is told why
    const bool is_step =
        call->verb == GROUP_STEP && (!became->has_failed || became->has_faulted || of->substep > 0);
    watch->steps += is_step;
    watch->marks.changes += !is_step;
    mark_things(watch, !world_is_alike(of->world, call->group->template));
    const uint64_t from_step = atomic_load_explicit(&watch->from_step, memory_order_acquire);
    if (is_step ? watch->steps >= from_step : from_step != WATCH_NOTHING) {
        const WatchView view = group_view(call->group, i, watch);
        watch->show(watch, &view);
    }
}
