// SPDX-License-Identifier: MIT
#include "run/worlds/apply.h"

#include "base/assert.h"
#include "base/defect.h"
#include "step/snapshot/snapshot.h"
#include "world/range.h"
#include "world/world_valid.h"

#include <stdio.h>
#include <stdlib.h>
#include <math.h>
#include <string.h>

Status apply_create(const WorldLimits *limits, World **world, Stepper **stepper, Error *error) {
    World *made = world_create(limits);
    Stepper *with = stepper_create(limits->bytes_max);
    if (made == NULL || with == NULL) {
        world_destroy(made);
        stepper_destroy(with);
        return error_set(error, STATUS_RESOURCE_EXHAUSTED, "",
                         "Memory ended while creating a world.");
    }
    SolverSettings solver = solver_default(SOLVER_MDP);
    step_set_solver(&made->settings, &solver);
    *world = made;
    *stepper = with;
    return STATUS_OK;
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
        Status status =
            solver_set(solver, row->parameters[i].name, change->value.parameter[i], error);
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
    for (int i = 0; i < SETTING_COUNT; i++) {
        const Setting *setting = setting_get((SettingKind)i);
        if (change->given & setting->bit) {
            setting_copy(&settings, &change->value, setting);
        }
    }
    if (change->given & CHANGE_BOUNDS) {
        settings.has_bounds = change->value.has_bounds;
        settings.bounds_lower = change->value.bounds_lower;
        settings.bounds_upper = change->value.bounds_upper;
    }
    Status status = settings_check(&settings, error);
    if (status != STATUS_OK) {
        return status;
    }
    SolverSettings solver = step_solver(&settings);
    if (change->given & CHANGE_SOLVER && change->value.solver != (uint32_t)solver.kind) {
        solver = solver_default((SolverKind)change->value.solver);
    }
    if (change->given & CHANGE_PARAMETERS) {
        status = set_parameters(&solver, change, error);
        if (status != STATUS_OK) {
            return status;
        }
    }
    step_set_solver(&settings, &solver);
    *merged = settings;
    return STATUS_OK;
}

static Status check_change(const World *world, const SetOrder *order, Error *error) {
    Status status = world_check_joint_update(world, &order->joints, error);
    status = STATUS_THEN(status, world_check_material_update(world, &order->materials, error));
    status = STATUS_THEN(status, world_check_shape_update(world, &order->shapes, error));
    return STATUS_THEN(status, world_check_pair_update(world, &order->pairs, error));
}

static Status change(World *world, const SetOrder *order, Error *error) {
    WorldSettings settings = world->settings;
    Status status = merge_settings(&order->settings, &settings, error);
    status = STATUS_THEN(status, check_change(world, order, error));
    status = STATUS_THEN_IF(status, order->pairs.count > 0,
                            world_reserve_pairs(world, order->pairs.count, error));
    status = STATUS_THEN_IF(status, order->update.count > 0,
                            world_update_bodies(world, &order->update, error));
    if (status != STATUS_OK) {
        return status;
    }
    // nothing can fail any more
    if (order->joints.count > 0) {
        status = world_update_joints(world, &order->joints, error);
        ASSERT(status == STATUS_OK);
    }
    status = world_update_materials(world, &order->materials, error);
    ASSERT(status == STATUS_OK);
    status = world_update_shapes(world, &order->shapes, error);
    ASSERT(status == STATUS_OK);
    world_update_pairs(world, &order->pairs);
    if (order->settings.given != 0) {
        world_set_settings(world, &settings);
    }
    return STATUS_OK;
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
    case INPUT_JOINTS:
        return input->joints.count;
    case INPUT_GEOMETRIES:
    case INPUT_NAMED_GEOMETRIES:
        return input->geometries.count;
    case INPUT_SET:
    case INPUT_STEP:
    case INPUT_RESTORE:
    case INPUT_REMOVE:
        return 0;
    }
    return 0;
}

// The world becomes a whole new one, or stays as it is. It keeps its place in memory, so that those
// who hold it need not be told.
static Status restore(World *world, Stepper *stepper, const RestoreOrder *order, Error *error) {
    World *restored;
    Status status =
        snapshot_read(order->snapshot, order->snapshot_bytes, &world->limits, &restored, error);
    if (status == STATUS_OK) {
        World old = *world;
        *world = *restored;
        *restored = old;
        world_destroy(restored);
        stepper_reset(stepper);
    }
    return status;
}

static Status open_geometry(GeometryShelf *shelf, const GeometryList *list, size_t i,
                            const Geometry **geometry, Error *error) {
    if (list->names == NULL) {
        char field[64];
        snprintf(field, sizeof(field), "%s[%zu]", geometry_list_kind(list, i),
                 geometry_list_index(list, i));
        return geometry_open(shelf, list->bytes[i], list->byte_count[i], field, geometry, error);
    }
    const uint8_t *digest = list->names + i * SHA256_BYTES;
    *geometry = geometry_find(shelf, digest);
    char name[SHA256_TEXT_BYTES];
    sha256_text(digest, name);
    return *geometry != NULL ? STATUS_OK
                             : error_set(error, STATUS_FAILED_PRECONDITION, "geometries",
                                         "The geometry %s is not here.", name);
}

// One by one onto the shelf; the world takes all, or none.
static Status add_geometries(World *world, const GeometryList *list, Id *ids, Error *error) {
    if (world->limits.shelf == NULL || list->count == 0) {
        return error_set(error, STATUS_INVALID_ARGUMENT, "geometries",
                         list->count == 0 ? "Give at least one geometry."
                                          : "This world takes no geometries.");
    }
    const Geometry **opened = calloc(list->count, sizeof(*opened));
    if (opened == NULL) {
        return error_set(error, STATUS_RESOURCE_EXHAUSTED, "geometries",
                         "Memory ended while adding geometries.");
    }
    Status status = STATUS_OK;
    for (size_t i = 0; status == STATUS_OK && i < list->count; i++) {
        status = open_geometry(world->limits.shelf, list, i, &opened[i], error);
    }
    status = STATUS_THEN(status, world_add_geometries(world, opened, list->count, ids, error));
    for (size_t i = 0; i < list->count; i++) {
        geometry_drop(opened[i]);
    }
    free(opened);
    return status;
}

static Status carry_out(World *world, Stepper *stepper, const Input *input, Id *ids, Error *error) {
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
    case INPUT_JOINTS:
        return world_add_joints(world, &input->joints, ids, error);
    case INPUT_GEOMETRIES:
    case INPUT_NAMED_GEOMETRIES:
        return add_geometries(world, &input->geometries, ids, error);
    case INPUT_RESTORE:
        return restore(world, stepper, &input->restore, error);
    case INPUT_REMOVE:
        return world_remove(world, &input->remove, error);
    case INPUT_STEP:
        break;
    }
    return error_set(error, STATUS_INTERNAL, "",
                     "A step input came to the wrong side of the door.");
}

// Whether bodies that joints hold may come to be elsewhere by it, or to move otherwise.
static bool moves_joints(const World *world, const Input *input) {
    if (input->kind == INPUT_JOINTS) {
        return true;
    }
    const BodyUpdate *bodies = &input->set.update;
    const JointUpdate *joints = &input->set.joints;
    return input->kind == INPUT_SET && world->joint_count > 0 &&
           (bodies->pose != NULL || bodies->velocity != NULL || joints->position != NULL ||
            joints->velocity != NULL);
}

// Of what joints hold that is far away or fast, numbers may come to be beyond floats: a copy of the
// world tells before it is told itself.
static Status try_on_copy(const World *world, Stepper *stepper, const Input *input, Arena *arena,
                          Id *ids, Error *error) {
    const ArenaMark mark = arena_mark(arena);
    uint8_t *bytes;
    size_t count;
    World *copy;
    Status status = snapshot_write_named(world, arena, &bytes, &count, error);
    status = STATUS_THEN(status, snapshot_read(bytes, count, &world->limits, &copy, error));
    arena_reset_to(arena, mark);
    if (status != STATUS_OK) {
        return status;
    }
    status = carry_out(copy, stepper, input, ids, error);
    status = STATUS_THEN(status, world_check_numbers(copy, error));
    world_destroy(copy);
    return status;
}

Status apply_change(World *world, Stepper *stepper, const Input *input, Arena *arena,
                    const Id **ids, size_t *id_count, Error *error) {
    ASSERT(world != NULL && stepper != NULL);
    ASSERT(input->kind != INPUT_STEP);
    Id *added = NULL;
    size_t count = count_added(input);
    Status status = take_ids(arena, count, &added, error);
    status = STATUS_THEN_IF(status, moves_joints(world, input) && !world_is_tame(world),
                            try_on_copy(world, stepper, input, arena, added, error));
    status = STATUS_THEN(status, carry_out(world, stepper, input, added, error));
    VALIDATE_WHOLE(world_is_valid, world);
    if (status != STATUS_OK) {
        return status;
    }
    stepper_forget_wrenches(stepper);
    if (ids != NULL) {
        *ids = added;
        *id_count = count;
    }
    return STATUS_OK;
}

// ---- steps

static Status check_wrenches(const World *world, const StepOrder *order, uint32_t *bodies,
                             Error *error) {
    for (size_t i = 0; i < order->wrench_count; i++) {
        if (!world_find_body(world, order->wrench_body[i], &bodies[i])) {
            char field[64];
            snprintf(field, sizeof(field), "wrench_body[%zu]", i);
            return world_blame_body(world, order->wrench_body[i], field, error);
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

// NULL: memory ended.
static StepWrenches *own_wrenches(const Input *order, uint32_t *bodies, Arena *arena) {
    size_t count = order->step.wrench_count;
    StepWrenches *own = arena_take(arena, sizeof(*own));
    uint64_t *id = arena_take_array(arena, count, sizeof(*id));
    double *wrench = arena_take_array(arena, count, 6 * sizeof(*wrench));
    if (own == NULL || id == NULL || wrench == NULL) {
        return NULL;
    }
    memcpy(id, order->step.wrench_body, count * sizeof(*id));
    memcpy(wrench, order->step.wrench, 6 * count * sizeof(*wrench));
    *own = (StepWrenches){.id = id, .wrench = wrench, .body = bodies};
    own->order.kind = INPUT_STEP;
    own->order.step = order->step;
    own->order.step.wrench_body = id;
    own->order.step.wrench = wrench;
    return own;
}

// What is left of the order once bodies have gone: so it is carried out, and so it is recorded,
// which lets the recording be stepped again from here.
static void drop_wrenches(const World *world, StepRun *run) {
    StepWrenches *own = run->wrenches;
    size_t kept = 0;
    for (size_t i = 0; i < run->input.wrench_count; i++) {
        if (world_find_body(world, own->id[i], &own->body[kept])) {
            own->id[kept] = own->id[i];
            memmove(own->wrench + 6 * kept, own->wrench + 6 * i, 6 * sizeof(double));
            kept++;
        }
    }
    run->input.wrench_count = own->order.step.wrench_count = kept;
}

Status apply_begin(const World *world, const Input *order, Arena *arena, StepRun *run,
                   Error *error) {
    ASSERT(order->kind == INPUT_STEP);
    const StepOrder *step = &order->step;
    if (world->faulted) {
        return error_set(error, STATUS_FAILED_PRECONDITION, "",
                         "The world is faulted since step %llu: set bodies (WorldSet) to go on.",
                         (unsigned long long)world->step + 1);
    }
    Status status = STATUS_OK;
    double time_step = world->settings.time_step;
    if (step->time_step != 0.0) {
        time_step = step->time_step;
        status = range_check(RANGE_TIME_STEP, time_step, "time_step", -1, error);
    }
    uint32_t *bodies = NULL;
    StepWrenches *own = NULL;
    if (status == STATUS_OK && step->wrench_count > 0) {
        bodies = arena_take_array(arena, step->wrench_count, sizeof(uint32_t));
        status = bodies == NULL ? error_set(error, STATUS_RESOURCE_EXHAUSTED, "",
                                            "Memory ended while reading wrenches.")
                                : check_wrenches(world, step, bodies, error);
    }
    if (status == STATUS_OK && step->wrench_count > 0 && world->settings.has_bounds) {
        own = own_wrenches(order, bodies, arena);
        status = own == NULL ? error_set(error, STATUS_RESOURCE_EXHAUSTED, "",
                                         "Memory ended while copying wrenches.")
                             : STATUS_OK;
    }
    if (status != STATUS_OK) {
        return status;
    }
    *run = (StepRun){
        .input = {.time_step = time_step,
                  .wrench_count = step->wrench_count,
                  .wrench_body = bodies,
                  .wrench = own == NULL ? step->wrench : own->wrench},
        .order = own == NULL ? order : &own->order,
        .wrenches = own,
        .steps_left = step->steps,
    };
    return STATUS_OK;
}

void tally_add(StepTally *tally, const StepReport *report, uint64_t step) {
    ASSERT(step >= 1);
    gain_add_step(&tally->gain, step_gain(&report->energy), report->energy.scale);
    tally->gained = gain_told(&tally->gain);
    tally->done++;
    tally->last = *report;
    tally->unconverged += !report->certificate.converged;
    tally->recovery_steps += report->recovery_count > 0;
    tally->softened_steps += report->softened_count > 0;
    tally->idle_steps += report->idle_count > 0;
    tally->borrowed_steps += report->has_borrowed;
    tally->removed += report->removed_count;
    tally->broken += report->broken_count;
    for (int i = 0; i < CERTIFICATE_ENTRY_COUNT; i++) {
        // written so that NaN counts as worse than any number
        if (!(report->certificate.entry[i] <= tally->worst[i]) || tally->worst_step[i] == 0) {
            tally->worst[i] = report->certificate.entry[i];
            tally->worst_step[i] = step;
        }
    }
    if (report->open.islands_open > 0 &&
        (tally->worst_open_step == 0 || !(report->open.residual <= tally->worst_open.residual))) {
        tally->worst_open = report->open;
        tally->worst_open_step = step;
    }
    if (report->launch.speed > tally->worst_launch.speed) {
        tally->worst_launch = report->launch;
        tally->worst_launch_step = step;
    }
    if (report->certificate.penetration > tally->penetration_worst ||
        tally->penetration_step == 0) {
        tally->penetration_worst = report->certificate.penetration;
        tally->penetration_step = step;
    }
}

Status apply_step(World *world, Stepper *stepper, StepRun *run, Arena *scratch, ClockProc *clock,
                  Error *error) {
    ASSERT(run->order->kind == INPUT_STEP);
    ASSERT(run->steps_left > 0);
    if (run->wrenches != NULL && run->tally.done > 0 && run->tally.last.removed_count > 0) {
        drop_wrenches(world, run);
    }
    StepReport report; // of a step that may not happen
    Status status = stepper_run(stepper, world, &run->input, scratch, clock, &report, error);
    if (status == STATUS_OK) {
        if (run->broken != NULL && report.broken_count > 0) {
            memcpy(run->broken + run->tally.broken, stepper->joints->broken,
                   report.broken_count * sizeof(*run->broken));
        }
        run->steps_left--;
        tally_add(&run->tally, &report, world->step);
    }
    VALIDATE_WHOLE(world_is_valid, world);
    return status;
}
