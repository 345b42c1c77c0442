// SPDX-License-Identifier: MIT
#include "run/worlds/door.h"

#include "base/assert.h"

#include <stdlib.h>

Status door_init(Door *door, const WorldLimits *limits, Error *error) {
    *door = (Door){0};
    return apply_create(limits, &door->world, &door->stepper, error);
}

void door_deinit(Door *door) {
    if (door->recorder != NULL) {
        recorder_stop(door->recorder, RECORDING_WORLD_DESTROYED, NULL);
    }
    Watch *watch = atomic_load(&door->watch);
    if (watch != NULL) {
        watch->gone(watch);
    }
    world_destroy(door->world);
    stepper_destroy(door->stepper);
    free(door->origin);
    *door = (Door){0};
}

size_t door_bytes(const Door *door) {
    ASSERT(door->world != NULL && door->stepper != NULL);
    return world_bytes(door->world) + stepper_bytes(door->stepper) +
           (door->recorder == NULL ? 0 : recorder_bytes(door->recorder)) +
           (door->origin == NULL ? 0 : sizeof(*door->origin));
}

Status door_set_origin(Door *door, const EpisodeOrigin *origin, Error *error) {
    ASSERT(door->origin == NULL);
    door->origin = malloc(sizeof(*door->origin));
    if (door->origin == NULL) {
        return error_set(error, STATUS_RESOURCE_EXHAUSTED, "",
                         "Memory ended while making a world.");
    }
    *door->origin = *origin;
    return STATUS_OK;
}

bool door_is_ready(Door *door, LogWait *wait) {
    return door->recorder == NULL || recorder_is_ready(door->recorder, wait);
}

// ---- who looks

static Watch *watch_of(const Door *door) {
    return atomic_load_explicit(&door->watch, memory_order_acquire);
}

WatchView door_view(const Door *door, const Watch *watch) {
    return (WatchView){.world = door->world,
                       .stepper = door->stepper,
                       .tally = watch_tally(watch, door->world),
                       .step = door->world->step};
}

static void show_step(const Door *door, const StepRun *run) {
    Watch *watch = watch_of(door);
    if (watch == NULL) {
        return;
    }
    const StepReport *report = &run->tally.last;
    watch->marks.things += report->removed_count > 0 || report->broken_count > 0;
    if (door->world->step >= atomic_load_explicit(&watch->from_step, memory_order_acquire)) {
        WatchView view = door_view(door, watch);
        view.tally = &run->tally;
        watch->show(watch, &view);
    }
}

// What no step did is shown whatever step it is.
static void show_change(const Door *door, bool adds, bool removes) {
    Watch *watch = watch_of(door);
    if (watch == NULL) {
        return;
    }
    watch->marks.changes++;
    watch->marks.definitions += adds;
    watch->marks.things += adds || removes;
    if (atomic_load_explicit(&watch->from_step, memory_order_acquire) != WATCH_NOTHING) {
        const WatchView view = door_view(door, watch);
        watch->show(watch, &view);
    }
}

static void show_input(const Door *door, InputKind kind) {
    show_change(door, kind == INPUT_BODIES || kind == INPUT_JOINTS || kind == INPUT_RESTORE,
                kind == INPUT_REMOVE);
}

// ---- what passes

Status door_change(Door *door, const Input *input, Arena *arena, const Id **ids, size_t *id_count,
                   Error *error) {
    ASSERT(door->world != NULL);
    Status status = apply_change(door->world, door->stepper, input, arena, ids, id_count, error);
    if (status == STATUS_OK && door->recorder != NULL) {
        recorder_change(door->recorder, door->world, input);
    }
    if (status == STATUS_OK && input->kind == INPUT_RESTORE) {
        free(door->origin);
        door->origin = NULL;
    }
    if (status == STATUS_OK) {
        show_input(door, input->kind);
    }
    return status;
}

Status door_step_begin(Door *door, const Input *order, Arena *arena, StepRun *run, Error *error) {
    ASSERT(door->world != NULL);
    return apply_begin(door->world, order, arena, run, error);
}

static Status take_steps(Door *door, StepRun *run, Arena *scratch, uint64_t until_ns,
                         const Context *context, Error *error) {
    ASSERT(run->order->kind == INPUT_STEP);
    // The clock costs as much as a step of a tiny world, so it is read after 1, 2, 4 … steps, as
    // long as that takes a fraction of the 2 ms slice; for a single step, not at all.
    const uint64_t pause_ns_max = 50000;
    uint64_t looked_ns = run->steps_left > 1 ? clock_now_ns() : 0;
    uint64_t stride = 1, since = 0;
    run->input.context = context != NULL ? *context : (Context){0};
    while (run->steps_left > 0) {
        ClockProc *clock = run->steps_left == 1 || since + 1 >= stride ? clock_now_ns : NULL;
        Status status = apply_step(door->world, door->stepper, run, scratch, clock, error);
        if (status == STATUS_ABORTED) {
            if (error != NULL) {
                error_clear(error); // the step may be asked for again
            }
            return STATUS_OK;
        }
        if (status != STATUS_OK) {
            if (door->recorder != NULL && door->world->faulted) {
                recorder_fault(door->recorder, door->world, run->order);
            }
            if (door->world->faulted) {
                show_change(door, false, false);
            }
            return status;
        }
        const StepReport *report = &run->tally.last;
        if (report->solver_ns > 0 && door->solver_times != NULL) {
            histogram_add(door->solver_times, report->solver_ns);
        }
        show_step(door, run);
        if (door->recorder != NULL) {
            recorder_step(door->recorder, door->world, door->stepper, run->order, report);
            if (!recorder_is_ready(door->recorder, NULL)) {
                break;
            }
        }
        if (++since < stride || run->steps_left == 0) {
            continue;
        }
        uint64_t now_ns = clock_now_ns();
        if (now_ns >= until_ns || context_is_stopped(context)) {
            break;
        }
        if (now_ns - looked_ns < pause_ns_max / 2) {
            stride *= 2;
        } else if (now_ns - looked_ns > pause_ns_max && stride > 1) {
            stride /= 2;
        }
        looked_ns = now_ns;
        since = 0;
    }
    return STATUS_OK;
}

Status door_step(Door *door, StepRun *run, Arena *scratch, uint64_t until_ns,
                 const Context *context, Error *error) {
    ASSERT(run->order->kind == INPUT_STEP);
    Status status = take_steps(door, run, scratch, until_ns, context, error);
    Watch *watch = watch_of(door);
    if (watch != NULL && run->tally.done > 0 && atomic_load(&watch->wants_tally)) {
        watch->tally = run->tally; // what a look shows of the last step
        watch->tally_step = door->world->step;
        watch->tally_changes = watch->marks.changes;
    }
    return status;
}
