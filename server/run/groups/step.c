// SPDX-License-Identifier: MIT
// Rows of a call: what is done to one world, and what is read of it.
#include "run/groups/group.h"

#include "base/assert.h"
#include "run/groups/felt.h"
#include "run/groups/group_valid.h"
#include "run/groups/opinion.h"
#include "step/snapshot/snapshot.h"
#include "world/range.h"
#include "world/sleep.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// So many substeps are taken between two looks whether to stop: a look costs less than one of them.
enum { SUBSTEPS_PER_LOOK = 16 };

// ---- reading

static double to_float_range(double value) {
    return value > LAYOUT_UNBOUNDED    ? LAYOUT_UNBOUNDED
           : value < -LAYOUT_UNBOUNDED ? -LAYOUT_UNBOUNDED
                                       : value;
}

static void store_row(const Group *group, const double *row, size_t columns, void *rows,
                      size_t index) {
    if (group->is_double) {
        memcpy((double *)rows + index * columns, row, columns * sizeof(double));
        return;
    }
    float *to = (float *)rows + index * columns;
    for (size_t i = 0; i < columns; i++) {
        to[i] = (float)to_float_range(row[i]);
    }
}

// `felt`: of the layout, among the world's.
static LayoutSource source_of(const Group *group, const GroupWorld *world, const double *felt,
                              Arena *scratch) {
    ASSERT(world->has_felt || group->felt_count == 0);
    return (LayoutSource){.world = world->world,
                          .template = group->template,
                          .action = world->action,
                          .felt = felt,
                          .scratch = scratch,
                          .begun = world->begun};
}

// Where what observation, extra and bounds feel begins among a world's.
typedef struct FeltSpans {
    double *observation, *extra, *bounds;
} FeltSpans;

static FeltSpans spans_of(const Group *group, double *felt) {
    double *extra = felt + group->observation.felt_count;
    return (FeltSpans){
        .observation = felt, .extra = extra, .bounds = extra + group->extra.felt_count};
}

bool group_feels_motion(const Group *group) {
    return group->observation.feels_motion || group->extra.feels_motion ||
           group->bounds.feels_motion;
}

static Status feel_in(const Group *group, GroupWorld *world, double time_step, Arena *scratch,
                      Error *error) {
    if (world->has_felt || group->felt_count == 0) {
        return STATUS_OK;
    }
    const FeltSource source = {.world = world->world,
                               .template = group->template,
                               .stepper = world->stepper,
                               .time_step = time_step,
                               .scratch = scratch};
    const ArenaMark mark = arena_mark(scratch);
    const double *wrench = NULL;
    Status status = STATUS_OK;
    if (group->observation.feels_wrenches || group->extra.feels_wrenches ||
        group->bounds.feels_wrenches) {
        status = felt_joint_wrenches(&source, &wrench, error);
    }
    memset(world->felt, 0, group->felt_count * sizeof(double));
    if (status == STATUS_OK) {
        const FeltSpans to = spans_of(group, world->felt);
        felt_read(&group->observation, &source, wrench, to.observation);
        felt_read(&group->extra, &source, wrench, to.extra);
        felt_read(&group->bounds, &source, wrench, to.bounds);
        world->has_felt = true;
    }
    arena_reset_to(scratch, mark);
    return status;
}

Status group_feel(const Group *group, GroupWorld *world, Arena *scratch, Error *error) {
    ASSERT(world->world != NULL);
    return feel_in(group, world, group->time_step, scratch, error);
}

// ---- what is told of it

static double *sensor_of(const Group *group, const GroupWorld *world, const Layout *layout) {
    ASSERT(layout == &group->observation || layout == &group->extra);
    return world->sensor + (layout == &group->extra ? group->observation.sensor_count : 0);
}

void group_begin_sensors(const Group *group, GroupWorld *world) {
    ASSERT(world->sensor != NULL || group->sensor_count == 0);
    if (group->observation.sensor_count > 0) {
        sensor_begin(sensor_of(group, world, &group->observation));
    }
    if (group->extra.sensor_count > 0) {
        sensor_begin(sensor_of(group, world, &group->extra));
    }
}

// What is read of a world becomes what is told: of a step, or an episode's begin, that was not told
// of yet, that is measured.
static void tell_row(const Group *group, GroupWorld *world, const Layout *layout, double *row) {
    if (layout->sensor_count == 0) {
        return;
    }
    double *numbers = sensor_of(group, world, layout);
    const LayoutTold of = {.seed = world->seed,
                           .world = group->first_world + (uint64_t)(world - group->world),
                           .episode = world->episode,
                           .length = world->length,
                           .stream = layout == &group->observation ? SENSOR_STREAM_OBSERVATION
                                                                   : SENSOR_STREAM_EXTRA,
                           .time_step = group->substeps * group->time_step,
                           .is_new = world->is_running && numbers[0] <= (double)world->length};
    layout_tell(layout, &of, numbers, row);
}

// Reads a world into row `index` of both.
static Status read_rows(const Group *group, GroupWorld *world, void *observation, void *extra,
                        size_t index, Arena *scratch, Error *error) {
    const ArenaMark mark = arena_mark(scratch);
    const uint32_t wide = group->observation.column_count, beside = group->extra.column_count;
    double *row = arena_take_array(scratch, wide > beside ? wide : beside, sizeof(double));
    if (row == NULL) {
        return error_set(error, STATUS_RESOURCE_EXHAUSTED, "",
                         "Memory ended while reading a world: raise --memory-bytes-max.");
    }
    Status status = group_feel(group, world, scratch, error);
    if (status != STATUS_OK) {
        arena_reset_to(scratch, mark);
        return status;
    }
    const FeltSpans felt = spans_of(group, world->felt);
    LayoutSource source = source_of(group, world, felt.observation, scratch);
    layout_read(&group->observation, &source, row);
    tell_row(group, world, &group->observation, row);
    store_row(group, row, wide, observation, index);
    if (beside > 0) {
        source = source_of(group, world, felt.extra, scratch);
        layout_read(&group->extra, &source, row);
        tell_row(group, world, &group->extra, row);
        store_row(group, row, beside, extra, index);
    }
    arena_reset_to(scratch, mark);
    return STATUS_OK;
}

static void fail(GroupCall *call, size_t row, const Error *error) {
    call->row[row].has_failed = true;
    call->error[row] = *error;
}

// What is there of a world at the end of a row.
static void tell(GroupCall *call, size_t row, Arena *scratch) {
    const Group *group = call->group;
    GroupWorld *world = &group->world[group_call_world(call, row)];
    Error error;
    if (read_rows(group, world, call->observation, call->extra, row, scratch, &error) !=
        STATUS_OK) {
        const size_t bytes = group->is_double ? sizeof(double) : sizeof(float);
        const size_t wide = group->observation.column_count * bytes,
                     beside = group->extra.column_count * bytes;
        memset((char *)call->observation + row * wide, 0, wide);
        memset((char *)call->extra + row * beside, 0, beside);
        fail(call, row, &error);
    }
}

// ---- the end of an episode

static bool is_lost(const Group *group, const GroupWorld *world) {
    return !world_is_alike(world->world, group->template);
}

static bool is_out_of_bounds(const Group *group, GroupWorld *world, double time_step,
                             Arena *scratch) {
    const Layout *bounds = &group->bounds;
    const ArenaMark mark = arena_mark(scratch);
    double *row = arena_take_array(scratch, bounds->column_count, sizeof(double));
    // rather an early end than none
    bool is_out = row == NULL || feel_in(group, world, time_step, scratch, NULL) != STATUS_OK;
    if (!is_out) {
        const LayoutSource source =
            source_of(group, world, spans_of(group, world->felt).bounds, scratch);
        layout_read(bounds, &source, row);
    }
    for (uint32_t k = 0; !is_out && k < bounds->column_count; k++) {
        is_out = !(row[k] >= bounds->column[k].low && row[k] <= bounds->column[k].high);
    }
    arena_reset_to(scratch, mark);
    return is_out;
}

bool group_is_terminal(const Group *group, GroupWorld *world, double time_step, Arena *scratch) {
    ASSERT(world->world != NULL);
    return is_lost(group, world) ||
           (group->bounds.column_count > 0 && is_out_of_bounds(group, world, time_step, scratch));
}

// Keeps the last rows of an episode that is over, and begins the next one where that is the rule.
static void end_episode(GroupCall *call, size_t row, uint8_t ended, Arena *scratch) {
    Group *group = call->group;
    const uint32_t i = group_call_world(call, row);
    GroupWorld *world = &group->world[i];
    GroupRow *became = &call->row[row];
    became->ended = ended;
    became->episode = world->episode;
    became->seed = world->seed;
    became->length = world->length;
    if (call->hash_steps > 0) {
        became->final_hash = snapshot_hash(world->world);
    }
    const size_t bytes = group->is_double ? sizeof(double) : sizeof(float);
    const size_t wide = group->observation.column_count * bytes,
                 beside = group->extra.column_count * bytes;
    memcpy((char *)call->final_observation + row * wide, (char *)call->observation + row * wide,
           wide);
    if (beside > 0) {
        memcpy((char *)call->final_extra + row * beside, (char *)call->extra + row * beside,
               beside);
    }
    world->is_running = false;
    world->episode++;
    if (group->autoreset == AUTORESET_SAME_STEP) {
        Error error;
        error_clear(&error);
        if (group_begin_episode(group, i, NULL, scratch, &error) != STATUS_OK) {
            fail(call, row, &error);
        }
        tell(call, row, scratch);
    }
}

// ---- actions

static double action_at(const GroupCall *call, size_t at) {
    return call->action_double != NULL ? call->action_double[at] : (double)call->action[at];
}

static RangeKind range_of(ChannelKind kind) {
    switch (kind) {
    case CHANNEL_JOINT_EFFORT:
        return RANGE_JOINT_EFFORT;
    case CHANNEL_JOINT_TARGET:
        return RANGE_JOINT_POSITION;
    case CHANNEL_JOINT_TARGET_VELOCITY:
        return RANGE_JOINT_VELOCITY;
    case CHANNEL_BODY_VELOCITY:
        return RANGE_LINEAR_VELOCITY;
    case CHANNEL_BODY_SPIN:
        return RANGE_ANGULAR_VELOCITY;
    default:
        return RANGE_WRENCH;
    }
}

static Status refuse_action(double value, size_t column, Error *error) {
    char field[32];
    snprintf(field, sizeof(field), "action[%zu]", column);
    return error_set(error, STATUS_INVALID_ARGUMENT, field,
                     "Number %zu of this world's action, %g, cannot be applied; the world was not "
                     "stepped.",
                     column, value);
}

// All numbers of a row pass, or none is kept.
static Status take_action(const GroupCall *call, size_t row, double *kept, Error *error) {
    const Layout *layout = &call->group->action;
    for (int pass = 0; pass < 2; pass++) {
        for (uint32_t c = 0; c < layout->channel_count; c++) {
            const Channel *channel = &layout->channel[c];
            const uint32_t end = channel->column_first + channel->column_count;
            for (uint32_t k = channel->column_first; k < end; k++) {
                const Column *column = &layout->column[k];
                const double given = action_at(call, row * layout->column_count + k);
                const double raised = given < column->low ? column->low : given;
                const double clipped = raised > column->high ? column->high : raised;
                if (pass == 1) {
                    kept[k] = clipped;
                } else if (!isfinite(given) ||
                           !range_holds(range_of(channel->kind),
                                        column->scale * clipped + column->offset)) {
                    return refuse_action(given, k, error);
                }
            }
        }
    }
    return STATUS_OK;
}

static double *driven_column(World *world, ChannelKind kind) {
    return kind == CHANNEL_JOINT_EFFORT   ? world->joint_effort
           : kind == CHANNEL_JOINT_TARGET ? world->joint_target
                                          : world->joint_target_velocity;
}

// The numbers of a channel's columns.
static void read_channel(const Group *group, const GroupWorld *of, const Channel *channel,
                         double *to) {
    const uint32_t end = channel->column_first + channel->column_count;
    for (uint32_t k = channel->column_first; k < end; k++) {
        const Column *column = &group->action.column[k];
        to[column->number] = column->scale * of->action[k] + column->offset;
    }
}

// What it joins is not at rest, as if any other number were set.
static void rouse(World *world, const Joint *joint) {
    for (uint32_t k = 0; world->sleep != NULL && k < world_joint_end_count(joint); k++) {
        const uint32_t body = world_joint_end(world, joint, k);
        if (body != JOINT_NO_BODY && world->kind[body] == BODY_DYNAMIC) {
            sleep_disturb(world, &body, 1, false);
        }
    }
}

static void drive_joints(const Group *group, GroupWorld *of) {
    World *world = of->world;
    for (uint32_t c = 0; c < group->action.channel_count; c++) {
        const Channel *channel = &group->action.channel[c];
        if (channel->joint == JOINT_NONE) {
            continue;
        }
        const Joint *joint = &world->joint[channel->joint];
        rouse(world, joint);
        read_channel(group, of, channel, driven_column(world, channel->kind) + joint->axis_first);
    }
}

static uint32_t place_in(const GroupBodies *list, uint32_t body) {
    uint32_t at = 0;
    while (list->body[at] != body) {
        at++;
    }
    return at;
}

static Status drive_movers(const Group *group, GroupWorld *of, Arena *scratch, Error *error) {
    const GroupBodies *mover = &group->mover;
    if (mover->count == 0) {
        return STATUS_OK;
    }
    const ArenaMark mark = arena_mark(scratch);
    double *velocity = arena_take_array(scratch, mover->count, 6 * sizeof(double));
    if (velocity == NULL) {
        return error_set(error, STATUS_RESOURCE_EXHAUSTED, "",
                         "Memory ended while moving bodies: raise --memory-bytes-max.");
    }
    for (uint32_t i = 0; i < mover->count; i++) {
        memcpy(velocity + 6 * (size_t)i, of->world->velocity + 6 * (size_t)mover->body[i],
               6 * sizeof(double));
    }
    for (uint32_t c = 0; c < group->action.channel_count; c++) {
        const Channel *channel = &group->action.channel[c];
        if (channel->kind == CHANNEL_BODY_VELOCITY || channel->kind == CHANNEL_BODY_SPIN) {
            read_channel(group, of, channel,
                         velocity + 6 * (size_t)place_in(mover, channel->body) +
                             (channel->kind == CHANNEL_BODY_SPIN ? 3 : 0));
        }
    }
    world_drive_bodies(of->world, mover->body, mover->count, velocity);
    arena_reset_to(scratch, mark);
    return STATUS_OK;
}

// Sets what holds until it is set again, as WorldSet would.
static Status drive(const Group *group, GroupWorld *of, Arena *scratch, Error *error) {
    const Status status = drive_movers(group, of, scratch, error);
    if (status == STATUS_OK) {
        drive_joints(group, of);
    }
    return status;
}

static void add_pushes(const Group *group, const GroupWorld *of, double *wrench) {
    const PushMoment moment = {.seed = of->seed,
                               .world = group->first_world + (uint64_t)(of - group->world),
                               .episode = of->episode,
                               .step = of->length,
                               .time = group->substeps * group->time_step};
    for (size_t i = 0; i < group->push_count; i++) {
        push_add(&group->push[i], i, &moment,
                 wrench + 6 * (size_t)place_in(&group->pushed, group->push_body[i]));
    }
}

void group_read_push(const Group *group, const GroupWorld *of, double *wrench) {
    ASSERT(of->world != NULL);
    ASSERT(wrench != NULL || group->pushed.count == 0);
    const Layout *layout = &group->action;
    memset(wrench, 0, 6 * sizeof(double) * group->pushed.count);
    for (uint32_t c = 0; c < layout->channel_count; c++) {
        const Channel *channel = &layout->channel[c];
        if (channel->kind != CHANNEL_BODY_FORCE && channel->kind != CHANNEL_BODY_TORQUE) {
            continue;
        }
        double *to = wrench + 6 * (size_t)place_in(&group->pushed, channel->body) +
                     (channel->kind == CHANNEL_BODY_TORQUE ? 3 : 0);
        const uint32_t end = channel->column_first + channel->column_count;
        for (uint32_t k = channel->column_first; k < end; k++) {
            const Column *column = &layout->column[k];
            to[column->number] += column->scale * of->action[k] + column->offset;
        }
    }
    add_pushes(group, of, wrench);
}

// ---- steps

// Keeps the substep under way for a second opinion.
typedef struct Keeper {
    StepWitness witness;
    Group *group;
    uint32_t world;
    GroupRow *row;
} Keeper;

static void keep_step(StepWitness *witness, const ContactProblem *problem,
                      const SolveResult *result) {
    const Keeper *keeper = (const Keeper *)(const void *)witness;
    group_opinion_drop(keeper->group, keeper->row->kept); // of an answer that does not hold
    keeper->row->kept = group_opinion_keep(keeper->group, keeper->world, problem, result);
}

static bool is_doubtful(const Group *group, const Certificate *certificate) {
    return group->opinion.is_asked &&
           !(certificate->converged && certificate->entry[CERTIFICATE_DS] <= group->opinion.doubt);
}

// One substep; `is_chosen`: it is kept.
static Status take_substep(Group *group, uint32_t i, GroupRow *became, StepInput *input,
                           bool is_chosen, Arena *scratch, Error *error) {
    GroupWorld *of = &group->world[i];
    Status status = group_feel(group, of, scratch, error); // the step writes over what that is of
    if (status != STATUS_OK) {
        return status;
    }
    Keeper keeper = {.witness = {.see = keep_step}, .group = group, .world = i, .row = became};
    StepReport report;
    of->has_felt = false;
    input->witness = is_chosen ? &keeper.witness : NULL;
    status = stepper_run(of->stepper, of->world, input, scratch, group->clock, &report, error);
    input->witness = NULL;
    if (status == STATUS_OK) {
        Watch *watch = atomic_load_explicit(&of->watch, memory_order_acquire);
        if (watch != NULL) {
            group_tally_substep(watch, of, &report);
        }
        of->substep++;
        became->unconverged += !report.certificate.converged;
        became->is_doubtful = became->is_doubtful || is_doubtful(group, &report.certificate);
        gain_add_step(&became->gain, step_gain(&report.energy), report.energy.scale);
        became->has_gained = gain_told(&became->gain) > 0.0;
        if (group->report != NULL) {
            *group->report = report;
        }
        return status;
    }
    // it has not happened: what was felt before is what is felt
    of->has_felt = true;
    if (is_chosen) {
        group_opinion_drop(group, became->kept);
        became->kept = NULL;
    }
    return status;
}

// Takes the substeps that are left up to `end`. ABORTED: stopped, in the middle.
static Status take_substeps(Group *group, uint32_t i, GroupRow *became, uint32_t end,
                            Arena *scratch, const Context *context, Error *error) {
    const GroupWorld *of = &group->world[i];
    const ArenaMark mark = arena_mark(scratch);
    double *wrench = arena_take_array(scratch, group->pushed.count, 6 * sizeof(double));
    if (wrench == NULL) {
        return error_set(error, STATUS_RESOURCE_EXHAUSTED, "",
                         "Memory ended while pushing bodies: raise --memory-bytes-max.");
    }
    group_read_push(group, of, wrench);
    StepInput input = {.time_step = group->time_step,
                       .wrench_count = group->pushed.count,
                       .wrench_body = group->pushed.body,
                       .wrench = wrench};
    if (context != NULL) {
        input.context = *context;
    }
    Status status = STATUS_OK;
    bool has_lost = false;
    uint32_t chosen = 0;
    const bool is_chosen = group_opinion_choose(group, i, &chosen);
    for (uint32_t taken = 0; status == STATUS_OK && !has_lost && of->substep < end; taken++) {
        if (taken > 0 && taken % SUBSTEPS_PER_LOOK == 0 && context_is_stopped(context)) {
            status = STATUS_ABORTED;
            break;
        }
        status = take_substep(group, i, became, &input, is_chosen && of->substep == chosen, scratch,
                              error);
        has_lost = status == STATUS_OK && is_lost(group, of);
    }
    arena_reset_to(scratch, mark);
    return status;
}

static void end_step(GroupCall *call, size_t row, Arena *scratch) {
    const Group *group = call->group;
    GroupWorld *world = &group->world[group_call_world(call, row)];
    world->length++;
    world->doubtful += call->row[row].is_doubtful;
    tell(call, row, scratch);
    uint8_t ended = 0;
    if (group_is_terminal(group, world, group->time_step, scratch)) {
        ended |= GROUP_TERMINATED;
    }
    if (group->step_limit > 0 && world->length >= group->step_limit) {
        ended |= GROUP_TRUNCATED;
    }
    if (ended != 0) {
        end_episode(call, row, ended, scratch);
    }
}

// A step that failed, or was given up: where the world is another one than before, it is not one
// that the episode could go on from.
static void end_failed_step(GroupCall *call, size_t row, const Error *error, Arena *scratch) {
    const GroupWorld *world = &call->group->world[group_call_world(call, row)];
    call->row[row].has_faulted = world->world->faulted;
    call->row[row].was_cut = !world->world->faulted;
    fail(call, row, error);
    tell(call, row, scratch);
    if (world->substep > 0 || world->world->faulted) {
        end_episode(call, row, GROUP_TRUNCATED, scratch);
    }
}

// Before its first substep. true: nothing is left to be done.
static bool begin_step(GroupCall *call, size_t row, Arena *scratch) {
    Group *group = call->group;
    const uint32_t i = group_call_world(call, row);
    GroupWorld *world = &group->world[i];
    Error error;
    error_clear(&error);
    world->substep = 0;
    if (!world->is_running && group->autoreset != AUTORESET_DISABLED) {
        group_begin_episode(group, i, NULL, scratch, &error);
    } else if (!world->is_running) {
        error_set(&error, STATUS_FAILED_PRECONDITION, "group",
                  "World %u has no episode that goes on: begin one (GroupReset).", i);
    } else if (take_action(call, row, world->action, &error) == STATUS_OK &&
               drive(group, world, scratch, &error) == STATUS_OK) {
        return false;
    }
    if (error.status != STATUS_OK) {
        fail(call, row, &error);
    }
    tell(call, row, scratch);
    return true;
}

static void reset(GroupCall *call, size_t row, Arena *scratch) {
    Group *group = call->group;
    const uint32_t i = group_call_world(call, row);
    GroupWorld *world = &group->world[i];
    if (call->seed_count > 0) {
        world->seed = call->seed[call->seed_count == 1 ? 0 : row];
        world->episode = 0;
    } else if (world->is_running) {
        world->episode++;
    }
    const double *values =
        call->values == NULL ? NULL : call->values + row * group->noise.column_count;
    Error error;
    error_clear(&error);
    if (group_begin_episode(group, i, values, scratch, &error) != STATUS_OK) {
        fail(call, row, &error);
    }
    tell(call, row, scratch);
}

// Of what goes on, or has just begun.
static void note_hash(GroupCall *call, size_t row) {
    const GroupWorld *world = &call->group->world[group_call_world(call, row)];
    GroupRow *became = &call->row[row];
    became->has_hash =
        call->hash_steps > 0 && world->is_running && world->length % call->hash_steps == 0;
    if (became->has_hash) {
        became->hash = snapshot_hash(world->world);
    }
}

static bool run_row(GroupCall *call, size_t row, Arena *scratch, const Context *context) {
    GroupRow *became = &call->row[row];
    const uint32_t i = group_call_world(call, row);
    if (!became->is_begun) {
        *became = (GroupRow){.is_begun = true};
        if (call->verb == GROUP_RESET) {
            reset(call, row, scratch);
            return true;
        }
        if (call->verb == GROUP_READ) {
            tell(call, row, scratch);
            return true;
        }
        if (begin_step(call, row, scratch)) {
            return true;
        }
        if (call->is_paced) {
            return false;
        }
    }
    Error error;
    error_clear(&error);
    const GroupWorld *world = &call->group->world[i];
    const uint32_t all = call->group->substeps, cut = call->cut == NULL ? all : call->cut[row],
                   end = cut < all ? cut : all,
                   next = call->is_paced && world->substep < end ? world->substep + 1 : end;
    Status status = take_substeps(call->group, i, became, next, scratch, context, &error);
    const bool is_left =
        status == STATUS_OK && world->substep < end && !is_lost(call->group, world);
    if (status == STATUS_ABORTED || is_left) {
        return false;
    }
    if (status == STATUS_OK && end < all) {
        status = error_set(&error, STATUS_ABORTED, "", "It was stopped when it was recorded.");
    }
    if (status == STATUS_OK) {
        end_step(call, row, scratch);
    } else {
        end_failed_step(call, row, &error, scratch);
    }
    return true;
}

// To whoever looks at the world.
static void show(const GroupCall *call, size_t row) {
    const GroupWorld *world = &call->group->world[group_call_world(call, row)];
    Watch *watch = atomic_load_explicit(&world->watch, memory_order_acquire);
    if (watch != NULL) {
        group_show_row(watch, call, row);
    }
}

bool group_run_row(GroupCall *call, size_t row, Arena *scratch, const Context *context) {
    ASSERT(row < call->count);
    ASSERT(group_call_world(call, row) < call->group->count);
    ASSERT(call->row != NULL);
    const bool is_done = run_row(call, row, scratch, context);
    if (is_done) {
        VALIDATE_WHOLE(group_world_is_valid, call->group, group_call_world(call, row));
        note_hash(call, row);
        show(call, row);
    }
    return is_done;
}

void group_give_up_row(GroupCall *call, size_t row, const Error *why, Arena *scratch) {
    ASSERT(row < call->count);
    GroupRow *became = &call->row[row];
    if (!became->is_begun) {
        *became = (GroupRow){.is_begun = true, .is_skipped = true};
        call->group->world[group_call_world(call, row)].substep = 0;
        fail(call, row, why);
        tell(call, row, scratch);
    } else {
        end_failed_step(call, row, why, scratch);
        note_hash(call, row);
    }
    show(call, row);
}
