// SPDX-License-Identifier: MIT
#include "replay/compare/compare.h"

#include "base/assert.h"
#include "os/clock.h"
#include "step/snapshot/snapshot.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// What was seen of a run.
typedef struct Side {
    CompareRun run;
    bool has_ended;
    CompareSample *sample; // in the comparison's memory
} Side;

struct Comparison {
    CompareDef def;
    Player *player;
    Played played; // its last
    bool has_sought, has_begun;
    Totals totals; // of the recording's own run
    Side side[COMPARE_VARIANTS_MAX + 1];
    Variant variant[COMPARE_VARIANTS_MAX];
    size_t behind; // the variant that catches up; variant_count: all have
    bool is_new;   // the player has arrived at a step at which nobody has looked yet
    EpisodeOrigin origin;
    LogHold hold;
    Arena memory;
    _Atomic uint64_t steps_done;
};

static Status out_of_memory(Error *error) {
    return error_set(error, STATUS_RESOURCE_EXHAUSTED, "",
                     "Memory ended while comparing an episode.");
}

// ---- life

uint64_t compare_sample_count(const CompareDef *def) {
    uint64_t steps = def->last - def->first;
    return steps / def->stride + 1 + (steps % def->stride != 0);
}

static Status take_samples(Comparison *made, Error *error) {
    const CompareDef *def = &made->def;
    for (size_t i = 0; i <= def->variant_count; i++) {
        Side *side = &made->side[i];
        side->sample = arena_take_array(&made->memory, (size_t)compare_sample_count(def),
                                        sizeof(*side->sample));
        if (side->sample == NULL) {
            return out_of_memory(error);
        }
    }
    return STATUS_OK;
}

Status compare_open(Comparison **comparison, const CompareDef *def, Error *error) {
    ASSERT(def->variant_count <= COMPARE_VARIANTS_MAX);
    Comparison *made = calloc(1, sizeof(*made));
    if (made == NULL) {
        return out_of_memory(error);
    }
    made->def = *def;
    log_hold(def->log, def->episode->recording, &made->hold);
    made->behind = def->variant_count;
    arena_init(&made->memory, def->limits.bytes_max);
    memcpy(made->origin.episode, def->episode->uid, UID_BYTES);
    made->origin.step = def->first;
    Status status = take_samples(made, error);
    status = STATUS_THEN(status, player_open(&made->player, def->episode, &def->limits, error));
    if (status != STATUS_OK) {
        compare_close(made);
        return status;
    }
    *comparison = made;
    return STATUS_OK;
}

void compare_close(Comparison *comparison) {
    if (comparison == NULL) {
        return;
    }
    for (size_t i = 0; i < comparison->def.variant_count; i++) {
        variant_close(&comparison->variant[i]);
    }
    player_close(comparison->player);
    log_release(comparison->def.log, &comparison->hold);
    arena_deinit(&comparison->memory);
    free(comparison);
}

size_t compare_bytes(const Comparison *comparison) {
    size_t bytes =
        sizeof(*comparison) + comparison->memory.total_bytes + player_bytes(comparison->player);
    for (size_t i = 0; i < comparison->def.variant_count; i++) {
        bytes += variant_bytes(&comparison->variant[i]);
    }
    return bytes;
}

uint64_t compare_steps_done(const Comparison *comparison) {
    return atomic_load_explicit(&comparison->steps_done, memory_order_relaxed);
}

uint64_t compare_substeps(const Comparison *comparison) {
    ASSERT(comparison->has_begun);
    return player_substeps(comparison->player);
}

uint64_t compare_own_first(const Comparison *comparison) {
    return comparison->def.first * compare_substeps(comparison);
}

// ---- looking

static bool is_sample(const CompareDef *def, uint64_t step) {
    return (step - def->first) % def->stride == 0 || step == def->last;
}

static void add_sample(Comparison *comparison, Side *side, const Totals *totals,
                       const Distance *apart) {
    const CompareDef *def = &comparison->def;
    uint64_t step = player_step(comparison->player);
    if (is_sample(def, step)) {
        ASSERT(side->run.sample_count < compare_sample_count(def));
        side->sample[side->run.sample_count++] =
            (CompareSample){.step = step,
                            .own_step = compare_own_first(comparison) + totals->steps,
                            .time = comparison->totals.simulated,
                            .energy = totals->energy,
                            .contacts = totals->contacts_last,
                            .apart = *apart};
    }
}

static void note(CompareFirst *first, bool is_so, uint64_t step) {
    if (is_so && !first->is_there) {
        *first = (CompareFirst){.is_there = true, .step = step};
    }
}

// Behind a step of the side's, whose world `other` is (Nullable: the player's own).
static void note_rules(const Comparison *comparison, const Door *other, Side *side,
                       Arena *scratch) {
    const Player *player = comparison->player;
    if (!side->run.end.is_there && side->run.totals->steps > 0) {
        note(&side->run.end, player_would_end(player, other, side->run.time_step, scratch),
             player_step(player));
    }
}

static void look_at(Comparison *comparison, size_t index, Arena *scratch) {
    Variant *variant = &comparison->variant[index];
    Side *side = &comparison->side[index + 1];
    CompareRun *run = &side->run;
    Player *player = comparison->player;
    const uint64_t step = player_step(player);
    Distance apart = distance_of(player_world(player), variant->door.world);
    run->compared++;
    if (apart.distance > run->worst.distance) {
        run->worst.distance = apart.distance;
        run->worst.distance_body = apart.distance_body;
        run->distance_step = step;
    }
    if (apart.angle > run->worst.angle) {
        run->worst.angle = apart.angle;
        run->worst.angle_body = apart.angle_body;
        run->angle_step = step;
    }
    note(&run->apart, apart.distance > comparison->def.threshold, step);
    note(&run->bits, apart.has_other_bits || apart.has_other_bodies, step);
    note(&run->bodies, apart.has_other_bodies, step);
    if (!run->hash.is_there) { // a hash takes about as long as the rest
        note(&run->hash, snapshot_hash(variant->door.world) != player_hash(player), step);
    }
    note_rules(comparison, &variant->door, side, scratch);
    add_sample(comparison, side, &variant->totals, &apart);
}

// The worlds that stand at the same time, which is that of a step of the recording.
static void look(Comparison *comparison, Arena *scratch) {
    note_rules(comparison, NULL, &comparison->side[0], scratch);
    add_sample(comparison, &comparison->side[0], &comparison->totals, &(Distance){0});
    for (size_t i = 0; i < comparison->def.variant_count; i++) {
        if (variant_is_met(&comparison->variant[i])) {
            look_at(comparison, i, scratch);
        }
    }
    comparison->is_new = false;
}

// ---- the beginning

static Status start_recording(Comparison *comparison, size_t index, Error *error) {
    RecorderDef def = comparison->def.record[index];
    Door *door = &comparison->variant[index].door;
    const uint64_t stride = def.stride * compare_substeps(comparison);
    def.stride = stride < RECORDER_STRIDE_MAX ? stride : RECORDER_STRIDE_MAX;
    def.origin = &comparison->origin;
    return recorder_start(comparison->def.log, &def, door->world, NULL, &door->recorder, error);
}

static void blame_variant(size_t index, const Error *why, Error *error) {
    char field[sizeof(why->field)];
    snprintf(field, sizeof(field), "variants[%zu].%.100s", index, why->field);
    *error = *why;
    if (why->field[0] != '\0') {
        memcpy(error->field, field, sizeof(field));
    }
}

static void name_run(const World *world, double time_step, const Totals *totals, Side *side) {
    side->run.totals = totals;
    side->run.sample = side->sample;
    side->run.solver = (SolverKind)world->settings.solver;
    side->run.time_step = time_step;
}

static Status begin_variant(Comparison *comparison, size_t index, Arena *scratch, Error *error) {
    const CompareDef *def = &comparison->def;
    Variant *variant = &comparison->variant[index];
    Error why = {0};
    Status status = variant_open(variant, player_world(comparison->player), &def->rule[index],
                                 &def->limits, scratch, &why);
    if (status != STATUS_OK) {
        blame_variant(index, &why, error);
        return status;
    }
    name_run(variant->door.world,
             variant->time_step > 0.0 ? variant->time_step : comparison->side[0].run.time_step,
             &variant->totals, &comparison->side[index + 1]);
    comparison->side[index + 1].run.ended = &variant->ended;
    return STATUS_OK;
}

// All are judged before any of them is recorded.
static Status begin(Comparison *comparison, Arena *scratch, Error *error) {
    const CompareDef *def = &comparison->def;
    Player *player = comparison->player;
    Status status = STATUS_OK;
    name_run(player_world(player), player_time_step(player), &comparison->totals,
             &comparison->side[0]);
    comparison->has_begun = true;
    for (size_t i = 0; i < def->variant_count && status == STATUS_OK; i++) {
        status = begin_variant(comparison, i, scratch, error);
    }
    for (size_t i = 0; i < def->variant_count && status == STATUS_OK && def->record != NULL; i++) {
        status = start_recording(comparison, i, error);
    }
    if (status == STATUS_OK) {
        look(comparison, scratch);
    }
    return status;
}

// The player goes to the first step.
static Status seek(Comparison *comparison, LogReader *reader, Arena *scratch, uint64_t until_ns,
                   const Context *context, Error *error) {
    const uint64_t first = comparison->def.first;
    Player *player = comparison->player;
    PlayerDifference difference = {0};
    Status status = STATUS_OK;
    if (!comparison->has_sought) {
        status = player_seek(player, reader, first, NULL, error);
        comparison->has_sought = status == STATUS_OK;
    }
    status = STATUS_THEN(status, player_run(player, reader, first, false, scratch, until_ns,
                                            context, &difference, error));
    if (status == STATUS_OK && difference.found) {
        return player_tell_difference(&difference, error);
    }
    bool is_there = player_step(player) == first && !player_is_stopped(player);
    return status == STATUS_OK && is_there ? begin(comparison, scratch, error) : status;
}

// ---- on the way

static Status hand_on(const Played *played, Variant *variant, Error *error) {
    Status status = STATUS_OK;
    for (size_t i = 0; i < played->change_count && status == STATUS_OK; i++) {
        status = variant_change(variant, &played->change[i], error);
    }
    if (played->step != NULL && status == STATUS_OK) {
        status = variant_order(variant, played->step, played->time_step, error);
    }
    return status;
}

static void note_end(const Comparison *comparison, const Variant *variant, Side *side) {
    if (variant->ended.status != STATUS_OK && !side->has_ended) {
        side->has_ended = true;
        side->run.ended_step = player_step(comparison->player) - comparison->played.ends_step;
    }
}

// What the player does next, which all variants are told of.
static Status walk(Comparison *comparison, LogReader *reader, Arena *scratch,
                   const Context *context, bool *is_stopped, Error *error) {
    Played *played = &comparison->played;
    PlayerDifference difference = {0};
    Status status = player_next(comparison->player, reader, scratch, context, is_stopped, played,
                                &difference, error);
    if (status == STATUS_OK && difference.found) {
        return player_tell_difference(&difference, error);
    }
    if (status != STATUS_OK || *is_stopped) {
        return status;
    }
    if (played->step != NULL) {
        totals_add(&comparison->totals, played->report, played->time_step);
    }
    if (played->ends_step) {
        comparison->is_new = true;
        atomic_fetch_add_explicit(&comparison->steps_done, 1, memory_order_relaxed);
    }
    for (size_t i = 0; i < comparison->def.variant_count && status == STATUS_OK; i++) {
        Error why = {0};
        status = hand_on(played, &comparison->variant[i], &why);
        if (status != STATUS_OK) {
            blame_variant(i, &why, error);
        }
        note_end(comparison, &comparison->variant[i], &comparison->side[i + 1]);
    }
    comparison->behind = 0;
    return status;
}

static Status catch_up(Comparison *comparison, Arena *scratch, const Context *context,
                       bool *is_stopped, Error *error) {
    Variant *variant = &comparison->variant[comparison->behind];
    if (!variant_is_behind(variant)) {
        comparison->behind++;
        return STATUS_OK;
    }
    Status status = variant_run(variant, scratch, context, is_stopped, error);
    note_end(comparison, variant, &comparison->side[comparison->behind + 1]);
    return status;
}

// One thing: what the player does, a step of a variant, a look.
static Status go_on(Comparison *comparison, LogReader *reader, Arena *scratch, uint64_t until_ns,
                    const Context *context, bool *is_stopped, Error *error) {
    if (!comparison->has_begun) {
        Status status = seek(comparison, reader, scratch, until_ns, context, error);
        *is_stopped = status == STATUS_OK && player_is_stopped(comparison->player);
        return status;
    }
    if (comparison->behind < comparison->def.variant_count) {
        return catch_up(comparison, scratch, context, is_stopped, error);
    }
    if (comparison->is_new) {
        look(comparison, scratch);
        return STATUS_OK;
    }
    return walk(comparison, reader, scratch, context, is_stopped, error);
}

static bool has_arrived(const Comparison *comparison) {
    return comparison->has_begun && comparison->behind == comparison->def.variant_count &&
           !comparison->is_new && player_step(comparison->player) == comparison->def.last;
}

Status compare_work(Comparison *comparison, Arena *scratch, uint64_t until_ns,
                    const Context *context, bool *is_over, bool *progressed, Error *error) {
    LogReader *reader;
    *progressed = *is_over = false;
    Status status = log_take_reader(comparison->def.log, &reader, error);
    if (status != STATUS_OK) {
        return status;
    }
    bool is_stopped = false;
    while (status == STATUS_OK && !is_stopped && !has_arrived(comparison)) {
        if (*progressed && (clock_now_ns() >= until_ns || context_is_stopped(context))) {
            break;
        }
        status = go_on(comparison, reader, scratch, until_ns, context, &is_stopped, error);
        *progressed = *progressed || (status == STATUS_OK && !is_stopped);
    }
    log_give_reader(comparison->def.log, reader);
    *is_over = status == STATUS_OK && has_arrived(comparison);
    return status;
}

// ---- the end

Recorder *compare_waits_for(const Comparison *comparison) {
    if (comparison->behind == comparison->def.variant_count) {
        return NULL;
    }
    Recorder *recorder = comparison->variant[comparison->behind].door.recorder;
    return recorder == NULL || recorder_is_ready(recorder, NULL) ? NULL : recorder;
}

Recorder *compare_take_recorder(Comparison *comparison, size_t variant) {
    Door *door = &comparison->variant[variant].door;
    Recorder *recorder = door->recorder;
    door->recorder = NULL;
    return recorder;
}

CompareRun compare_run(const Comparison *comparison, size_t index) {
    const Side *side = &comparison->side[index];
    if (side->run.sample_count > 0 && side->run.totals->steps > 0) {
        side->sample[0].energy = side->run.totals->energy_first;
    }
    CompareRun run = side->run;
    run.overridden = index > 0 ? comparison->variant[index - 1].overridden : 0;
    return run;
}
