// SPDX-License-Identifier: MIT
#include "replay/compare/variant.h"

#include "base/array.h"
#include "base/assert.h"
#include "step/snapshot/snapshot.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// So much of a step is rounding: of sums of at most FIT_STEPS_MAX time steps, and of how exactly
// they fit (FIT_ROUNDING).
#define CLOCK_ROUNDING 1e-6
// What two time steps may miss each other by where they meet, as a part of one: people give ten
// digits of a third.
#define FIT_ROUNDING 1e-7
// At most so many steps of either lie between two times at which they meet.
enum { FIT_STEPS_MAX = 1000 };

static Status out_of_memory(Error *error) {
    return error_set(error, STATUS_RESOURCE_EXHAUSTED, "",
                     "Memory ended while comparing an episode.");
}

// ---- life

static Status rule_over(Variant *variant, Error *error) {
    if (variant->rule.given == 0) {
        return STATUS_OK;
    }
    Input input = {.kind = INPUT_SET, .set = {.settings = variant->rule}};
    arena_reset(&variant->arena);
    return door_change(&variant->door, &input, &variant->arena, NULL, NULL, error);
}

Status variant_open(Variant *variant, const World *world, const SettingsChange *rule,
                    const WorldLimits *limits, Arena *scratch, Error *error) {
    variant->rule = *rule;
    variant->time_step = rule->given & CHANGE_TIME_STEP ? rule->value.time_step : 0.0;
    arena_init(&variant->arena, limits->bytes_max);
    uint8_t *bytes;
    size_t count;
    World *same = NULL;
    ArenaMark mark = arena_mark(scratch);
    Status status = door_init(&variant->door, limits, error);
    status = STATUS_THEN(status, snapshot_write_named(world, scratch, &bytes, &count, error));
    status = STATUS_THEN(status, snapshot_read(bytes, count, limits, &same, error));
    arena_reset_to(scratch, mark);
    if (status != STATUS_OK) {
        return status;
    }
    world_destroy(variant->door.world);
    variant->door.world = same;
    stepper_keep_motion(variant->door.stepper); // a group's rules may feel it
    return rule_over(variant, error);
}

static void free_wrenches(WrenchList *list) {
    free(list->body);
    free(list->wrench);
}

void variant_close(Variant *variant) {
    if (variant->door.world != NULL) {
        door_deinit(&variant->door);
        arena_deinit(&variant->arena);
    }
    free_wrenches(&variant->carry);
    free_wrenches(&variant->held);
}

static size_t list_bytes(const WrenchList *list) {
    return list->body_capacity * sizeof(*list->body) +
           list->wrench_capacity * sizeof(*list->wrench);
}

size_t variant_bytes(const Variant *variant) {
    return variant->door.world == NULL
               ? 0
               : door_bytes(&variant->door) + variant->arena.total_bytes +
                     list_bytes(&variant->carry) + list_bytes(&variant->held);
}

bool variant_is_behind(const Variant *variant) {
    return variant->ended.status == STATUS_OK && variant->has_step;
}

bool variant_is_met(const Variant *variant) {
    return variant->ended.status == STATUS_OK && !variant->has_step && variant->carried == 0.0;
}

// ---- changes

// Leaves out what the rule rules over. A solver goes with its parameters.
static void override(Variant *variant, SettingsChange *change) {
    const uint32_t solving = CHANGE_SOLVER | CHANGE_PARAMETERS;
    uint32_t ruled = variant->rule.given;
    ruled |= ruled & solving ? solving : 0;
    variant->overridden += (change->given & ruled) != 0;
    change->given &= ~ruled;
}

static bool is_nothing(const SetOrder *set) {
    return set->settings.given == 0 && set->update.count == 0 && set->joints.count == 0 &&
           set->materials.count == 0 && set->shapes.count == 0 && set->pairs.count == 0;
}

Status variant_change(Variant *variant, const Input *input, Error *error) {
    ASSERT(!variant->has_step);
    if (variant->ended.status != STATUS_OK) {
        return STATUS_OK;
    }
    Input own = *input;
    if (own.kind == INPUT_SET) {
        override(variant, &own.set.settings);
        if (is_nothing(&own.set)) {
            return STATUS_OK;
        }
    }
    if (variant->carried > 0.0) {
        error_set(&variant->ended, STATUS_FAILED_PRECONDITION, "settings.time_step",
                  "The recording changes the world there, inside of a step of %g s: take a time "
                  "step that ends there.",
                  variant->time_step);
        return STATUS_OK;
    }
    arena_reset(&variant->arena);
    Error refusal = {0};
    Status status = door_change(&variant->door, &own, &variant->arena, NULL, NULL, &refusal);
    status = STATUS_THEN_IF(status, own.kind == INPUT_RESTORE, rule_over(variant, &refusal));
    if (status == STATUS_RESOURCE_EXHAUSTED) {
        *error = refusal;
        return status;
    }
    if (status != STATUS_OK) {
        error_set(&variant->ended, status, refusal.field,
                  "What the recording does there is refused: %.256s", refusal.message);
    }
    return STATUS_OK;
}

// ---- wrenches

// `share` of wrenches, of bodies that there are: the others have left the bounds.
static bool add_wrenches(const World *world, WrenchList *list, size_t count, const uint64_t *body,
                         const double *wrench, double share) {
    if (!ARRAY_RESERVE(list->body, list->body_capacity, list->count + count) ||
        !ARRAY_RESERVE(list->wrench, list->wrench_capacity, 6 * (list->count + count))) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        uint32_t index;
        if (!world_find_body(world, body[i], &index)) {
            continue;
        }
        list->body[list->count] = body[i];
        for (size_t k = 0; k < 6; k++) {
            list->wrench[6 * list->count + k] = share * wrench[6 * i + k];
        }
        list->count++;
    }
    return true;
}

static bool add_recorded(Variant *variant, WrenchList *list, double share) {
    const StepOrder *order = &variant->recorded;
    return add_wrenches(variant->door.world, list, order->wrench_count, order->wrench_body,
                        order->wrench, share);
}

// ---- the two clocks

// Whether steps of both end at the same time again and again.
static bool is_fitting(double recorded, double own) {
    for (int i = 1; i <= FIT_STEPS_MAX; i++) {
        double steps = i * recorded / own, whole = floor(steps + 0.5);
        if (whole >= 1.0 && whole <= FIT_STEPS_MAX && fabs(steps - whole) <= FIT_ROUNDING) {
            return true;
        }
    }
    return false;
}

Status variant_order(Variant *variant, const StepOrder *order, double time_step, Error *error) {
    ASSERT(!variant->has_step);
    if (variant->ended.status != STATUS_OK) {
        return STATUS_OK;
    }
    if (variant->time_step > 0.0 && variant->fitting != time_step) {
        if (!is_fitting(time_step, variant->time_step)) {
            return error_set(error, STATUS_INVALID_ARGUMENT, "settings.time_step",
                             "Steps of %.17g s and the recording's of %.17g s do not end at the "
                             "same times within %d steps: take a whole part or multiple of those.",
                             variant->time_step, time_step, FIT_STEPS_MAX);
        }
        variant->fitting = time_step;
    }
    variant->has_step = true;
    variant->recorded = *order;
    variant->left = time_step;
    return STATUS_OK;
}

// What is left of the recorded step is not enough for one of its own.
static bool is_short(const Variant *variant) {
    return variant->time_step > 0.0 &&
           variant->carried + variant->left < variant->time_step * (1.0 - CLOCK_ROUNDING);
}

// The time that its next step takes of the recorded one.
static double next_share(const Variant *variant) {
    return variant->time_step > 0.0 ? (variant->time_step - variant->carried) / variant->time_step
                                    : 1.0;
}

static void count_time(Variant *variant) {
    if (variant->time_step == 0.0) {
        variant->has_step = false;
        return;
    }
    variant->left -= variant->time_step - variant->carried;
    variant->carried = 0.0;
    variant->carry.count = 0;
    variant->has_step = variant->left > variant->time_step * CLOCK_ROUNDING;
}

static Status carry_over(Variant *variant, Error *error) {
    if (!add_recorded(variant, &variant->carry, variant->left / variant->time_step)) {
        return out_of_memory(error);
    }
    variant->carried += variant->left;
    variant->has_step = false;
    return STATUS_OK;
}

// ---- steps

static Status begin_step(Variant *variant, Error *error) {
    const WrenchList *carry = &variant->carry;
    WrenchList *held = &variant->held;
    held->count = 0;
    if (!add_wrenches(variant->door.world, held, carry->count, carry->body, carry->wrench, 1.0) ||
        !add_recorded(variant, held, next_share(variant))) {
        return out_of_memory(error);
    }
    variant->order =
        (Input){.kind = INPUT_STEP,
                .step = {.steps = 1,
                         .time_step = variant->time_step > 0.0 ? 0.0 : variant->recorded.time_step,
                         .wrench_count = held->count,
                         .wrench_body = held->body,
                         .wrench = held->wrench}};
    arena_reset(&variant->arena);
    Status status =
        door_step_begin(&variant->door, &variant->order, &variant->arena, &variant->run, error);
    variant->is_stepping = status == STATUS_OK;
    return status;
}

Status variant_run(Variant *variant, Arena *scratch, const Context *context, bool *is_stopped,
                   Error *error) {
    ASSERT(variant_is_behind(variant));
    *is_stopped = false;
    if (!variant->is_stepping && is_short(variant)) {
        return carry_over(variant, error);
    }
    if (!door_is_ready(&variant->door, NULL)) {
        *is_stopped = true;
        return STATUS_OK;
    }
    Error why = {0};
    Status status = variant->is_stepping ? STATUS_OK : begin_step(variant, &why);
    status =
        STATUS_THEN(status, door_step(&variant->door, &variant->run, scratch, 0, context, &why));
    if (variant->door.world->faulted || status == STATUS_INVALID_ARGUMENT) {
        variant->ended = why;
        variant->is_stepping = variant->has_step = false;
        return STATUS_OK;
    }
    if (status != STATUS_OK) {
        *error = why;
        return status;
    }
    *is_stopped = variant->run.tally.done == 0;
    if (!*is_stopped) {
        totals_add(&variant->totals, &variant->run.tally.last, variant->run.input.time_step);
        variant->is_stepping = false;
        count_time(variant);
    }
    return STATUS_OK;
}
