// SPDX-License-Identifier: MIT
#include "run/door.h"

#include "base/assert.h"
#include "step/snapshot.h"
#include "world/range.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

Status door_init(Door *door, const WorldLimits *limits, Error *error) {
    *door = (Door){.world = world_create(limits), .stepper = stepper_create(limits->bytes_max)};
    if (door->world == NULL || door->stepper == NULL) {
        door_deinit(door);
        return error_set(error, STATUS_RESOURCE_EXHAUSTED, "",
                         "Memory ended while creating a world.");
    }
    SolverSettings solver = solver_default(SOLVER_MDP);
    step_set_solver(&door->world->settings, &solver);
    return STATUS_OK;
}

void door_deinit(Door *door) {
    if (door->recorder != NULL) {
        recorder_stop(door->recorder, RECORDING_WORLD_DESTROYED, NULL);
    }
    world_destroy(door->world);
    stepper_destroy(door->stepper);
    *door = (Door){0};
}

size_t door_bytes(const Door *door) {
    return world_bytes(door->world) + stepper_bytes(door->stepper) +
           (door->recorder == NULL ? 0 : recorder_bytes(door->recorder));
}

bool door_is_ready(Door *door, LogWait *wait) {
    return door->recorder == NULL || recorder_is_ready(door->recorder, wait);
}

// ---- changes

static Status set_parameters(SolverSettings *solver, const SettingsChange *change, Error *error) {
    const Solver *row = solver_get(solver->kind);
    if (change->parameter_solver != solver->kind) {
        return error_set(
            error, STATUS_INVALID_ARGUMENT, "settings.parameters",
            "These are parameters of solver %s, but the world uses %s: set `solver` as well.",
            solver_get(change->parameter_solver)->name, row->name);
    }
    for (uint32_t i = 0; i < row->parameter_count; i++) {
        if ((change->parameter_given >> i & 1) == 0) {
            continue;
        }
        Status status = solver_set(solver, row->parameters[i].name, change->parameter[i], error);
        if (status != STATUS_OK) {
            if (error != NULL) {
                snprintf(error->field, sizeof(error->field), "settings.parameters.%s.%s", row->name,
                         row->parameters[i].name);
            }
            return status;
        }
    }
    return STATUS_OK;
}

static Status merge_settings(const SettingsChange *change, WorldSettings *merged, Error *error) {
    WorldSettings settings = *merged;
    settings.gravity = change->given & CHANGE_GRAVITY ? change->gravity : settings.gravity;
    settings.time_step = change->given & CHANGE_TIME_STEP ? change->time_step : settings.time_step;
    settings.margin = change->given & CHANGE_MARGIN ? change->margin : settings.margin;
    if (change->given & CHANGE_RESTITUTION_THRESHOLD) {
        settings.restitution_threshold = change->restitution_threshold;
    }
    Status status = settings_check(&settings, error);
    SolverSettings solver = step_solver(&settings);
    if (change->given & CHANGE_SOLVER && change->solver != solver.kind) {
        solver = solver_default(change->solver);
    }
    if (status == STATUS_OK && change->given & CHANGE_PARAMETERS) {
        status = set_parameters(&solver, change, error);
    }
    if (status == STATUS_OK) {
        step_set_solver(&settings, &solver);
        *merged = settings;
    }
    return status;
}

static Status change(World *world, const SetOrder *order, Error *error) {
    WorldSettings settings = world->settings;
    Status status = merge_settings(&order->settings, &settings, error);
    if (status == STATUS_OK && order->update.count > 0) {
        status = world_update_bodies(world, &order->update, error);
    }
    if (status == STATUS_OK && order->settings.given != 0) {
        world_set_settings(world, &settings);
    }
    return status;
}

// Room for the ids of what an input adds.
static Status take_ids(Arena *arena, size_t count, Id **ids, Error *error) {
    *ids = arena_take_array(arena, count, sizeof(Id));
    return *ids != NULL ? STATUS_OK
                        : error_set(error, STATUS_RESOURCE_EXHAUSTED, "",
                                    "Memory ended while adding %zu things.", count);
}

static size_t count_added(const Input *input) {
    switch (input->kind) {
    case INPUT_MATERIALS:
        return input->materials.count;
    case INPUT_SHAPES:
        return input->shapes.shape_count;
    case INPUT_BODIES:
        return input->bodies.count;
    case INPUT_SET:
    case INPUT_STEP:
    case INPUT_RESTORE:
        return 0;
    }
    return 0;
}

// A whole new world takes the old one's place, or none does.
static Status restore(Door *door, const RestoreOrder *order, Error *error) {
    World *restored;
    Status status = snapshot_read(order->snapshot, order->snapshot_bytes, &door->world->limits,
                                  &restored, error);
    if (status == STATUS_OK) {
        world_destroy(door->world);
        door->world = restored;
        stepper_reset(door->stepper);
    }
    return status;
}

static Status apply(Door *door, const Input *input, Id *ids, Error *error) {
    World *world = door->world;
    switch (input->kind) {
    case INPUT_SET:
        return change(world, &input->set, error);
    case INPUT_MATERIALS:
        return world_add_materials(world, input->materials.material, input->materials.count, ids,
                                   error);
    case INPUT_SHAPES:
        return world_add_shapes(world, &input->shapes, ids, error);
    case INPUT_BODIES:
        return world_add_bodies(world, &input->bodies, ids, error);
    case INPUT_RESTORE:
        return restore(door, &input->restore, error);
    case INPUT_STEP:
        break;
    }
    return error_set(error, STATUS_INTERNAL, "",
                     "A step input came to the wrong side of the door.");
}

Status door_change(Door *door, InputBytes bytes, Arena *arena, const Id **ids, size_t *id_count,
                   Error *error) {
    Input input;
    Id *added = NULL;
    Status status = input_decode(bytes, arena, &input, error);
    size_t count = status == STATUS_OK ? count_added(&input) : 0;
    if (status == STATUS_OK) {
        status = take_ids(arena, count, &added, error);
    }
    if (status == STATUS_OK) {
        status = apply(door, &input, added, error);
    }
    if (status == STATUS_OK && door->recorder != NULL) {
        recorder_change(door->recorder, door->world, bytes);
    }
    if (status == STATUS_OK && ids != NULL) {
        *ids = added;
        *id_count = count;
    }
    return status;
}

// ---- steps

static Status check_wrenches(const World *world, const StepOrder *order, uint32_t *bodies,
                             Error *error) {
    for (size_t i = 0; i < order->wrench_count; i++) {
        if (!slots_find(&world->body_slots, order->wrench_body[i], &bodies[i])) {
            char field[64];
            snprintf(field, sizeof(field), "wrench_body[%zu]", i);
            return error_set(error, STATUS_NOT_FOUND, field,
                             "No body has the id %llu in this world.",
                             (unsigned long long)order->wrench_body[i]);
        }
        for (size_t k = 0; k < 6; k++) {
            Status status = range_check(RANGE_WRENCH, order->wrench[6 * i + k], "wrench",
                                        (int64_t)(6 * i + k), error);
            if (status != STATUS_OK) {
                return status;
            }
        }
    }
    return STATUS_OK;
}

Status door_step_begin(Door *door, InputBytes bytes, Arena *arena, StepRun *run, Error *error) {
    Input input;
    Status status = input_decode(bytes, arena, &input, error);
    if (status != STATUS_OK) {
        return status;
    }
    ASSERT(input.kind == INPUT_STEP);
    World *world = door->world;
    if (world->faulted) {
        return error_set(error, STATUS_FAILED_PRECONDITION, "",
                         "The world is faulted since step %llu: set bodies (WorldSet) to go on.",
                         (unsigned long long)world->step + 1);
    }
    double time_step = world->settings.time_step;
    if (input.step.time_step != 0.0) {
        time_step = input.step.time_step;
        status = range_check(RANGE_TIME_STEP, time_step, "time_step", -1, error);
    }
    uint32_t *bodies = NULL;
    if (status == STATUS_OK && input.step.wrench_count > 0) {
        bodies = arena_take_array(arena, input.step.wrench_count, sizeof(uint32_t));
        status = bodies == NULL ? error_set(error, STATUS_RESOURCE_EXHAUSTED, "",
                                            "Memory ended while reading wrenches.")
                                : check_wrenches(world, &input.step, bodies, error);
    }
    if (status != STATUS_OK) {
        return status;
    }
    *run = (StepRun){
        .input = {.time_step = time_step,
                  .wrench_count = input.step.wrench_count,
                  .wrench_body = bodies,
                  .wrench = input.step.wrench},
        .order = bytes,
        .steps_left = input.step.steps,
    };
    return STATUS_OK;
}

static void tally_step(StepTally *tally, const StepReport *report, uint64_t step) {
    tally->done++;
    tally->last = *report;
    tally->unconverged += !report->certificate.converged;
    for (int i = 0; i < CERTIFICATE_ENTRY_COUNT; i++) {
        // written so that NaN counts as worse than any number
        if (!(report->certificate.entry[i] <= tally->worst[i]) || tally->worst_step[i] == 0) {
            tally->worst[i] = report->certificate.entry[i];
            tally->worst_step[i] = step;
        }
    }
    if (report->certificate.penetration > tally->penetration_worst ||
        tally->penetration_step == 0) {
        tally->penetration_worst = report->certificate.penetration;
        tally->penetration_step = step;
    }
}

Status door_step(Door *door, StepRun *run, Arena *scratch, uint64_t until_ns,
                 const SolverStop *stop, Error *error) {
    // The clock costs as much as a step of a tiny world, so it is read after 1, 2, 4 … steps, as
    // long as that takes a fraction of the 2 ms slice; for a single step, not at all.
    const uint64_t pause_ns_max = 50000;
    uint64_t looked_ns = run->steps_left > 1 ? clock_now_ns() : 0;
    uint64_t stride = 1, since = 0;
    run->input.stop = stop;
    while (run->steps_left > 0) {
        ClockProc *clock = run->steps_left == 1 || since + 1 >= stride ? clock_now_ns : NULL;
        StepReport report; // of a step that may not happen
        Status status =
            stepper_run(door->stepper, door->world, &run->input, scratch, clock, &report, error);
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
            return status;
        }
        run->steps_left--;
        tally_step(&run->tally, &report, door->world->step);
        if (report.solver_ns > 0 && run->solver_times != NULL) {
            histogram_add(run->solver_times, report.solver_ns);
        }
        if (door->recorder != NULL) {
            recorder_step(door->recorder, door->world, door->stepper, run->order, &report);
            if (!recorder_is_ready(door->recorder, NULL)) {
                break;
            }
        }
        if (++since < stride || run->steps_left == 0) {
            continue;
        }
        uint64_t now_ns = clock_now_ns();
        if (now_ns >= until_ns || (stop != NULL && stop->asked(stop->context))) {
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
