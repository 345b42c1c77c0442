// SPDX-License-Identifier: MIT
#include "replay/compare.h"

#include "base/assert.h"
#include "os/clock.h"
#include "replay/player_parts.h"
#include "step/snapshot.h"

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
    bool has_sought, has_begun;
    Ledger ledger; // of the recording's own run
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
    if (def->episode->is_group) {
        return error_set(error, STATUS_UNIMPLEMENTED, "episode",
                         "Episodes of a group are not compared: what they are acted on with, and "
                         "when they end, is the group's.");
    }
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
    if (status == STATUS_OK) {
        status = player_open(&made->player, def->episode, &def->limits, error);
    }
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

// ---- looking

static bool is_sample(const CompareDef *def, uint64_t step) {
    return (step - def->first) % def->stride == 0 || step == def->last;
}

static void add_sample(Comparison *comparison, Side *side, const Ledger *ledger,
                       const Apart *apart) {
    const CompareDef *def = &comparison->def;
    uint64_t step = comparison->player->step;
    if (is_sample(def, step)) {
        ASSERT(side->run.sample_count < compare_sample_count(def));
        side->sample[side->run.sample_count++] =
            (CompareSample){.step = step,
                            .own_step = def->first + ledger->steps,
                            .time = comparison->ledger.simulated,
                            .energy = ledger->energy,
                            .contacts = ledger->contacts_last,
                            .apart = *apart};
    }
}

static void note(CompareFirst *first, bool is_so, uint64_t step) {
    if (is_so && !first->is_there) {
        *first = (CompareFirst){.is_there = true, .step = step};
    }
}

static void look_at(Comparison *comparison, size_t index) {
    Variant *variant = &comparison->variant[index];
    Side *side = &comparison->side[index + 1];
    CompareRun *run = &side->run;
    const Player *player = comparison->player;
    const uint64_t step = player->step;
    Apart apart = apart_of(player->door.world, variant->door.world);
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
        note(&run->hash, snapshot_hash(variant->door.world) != player->hash, step);
    }
    add_sample(comparison, side, &variant->ledger, &apart);
}

// The worlds that stand at the same time, which is that of a step of the recording.
static void look(Comparison *comparison) {
    add_sample(comparison, &comparison->side[0], &comparison->ledger, &(Apart){0});
    for (size_t i = 0; i < comparison->def.variant_count; i++) {
        if (variant_is_met(&comparison->variant[i])) {
            look_at(comparison, i);
        }
    }
    comparison->is_new = false;
}

// ---- the beginning

static Status start_recording(Comparison *comparison, size_t index, Error *error) {
    RecorderDef def = comparison->def.record[index];
    Door *door = &comparison->variant[index].door;
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

static void name_run(const World *world, const Ledger *ledger, Side *side) {
    side->run.ledger = ledger;
    side->run.sample = side->sample;
    side->run.solver = (SolverKind)world->settings.solver;
    side->run.time_step = world->settings.time_step;
}

static Status begin_variant(Comparison *comparison, size_t index, Arena *scratch, Error *error) {
    const CompareDef *def = &comparison->def;
    Variant *variant = &comparison->variant[index];
    Error why = {0};
    Status status = variant_open(variant, comparison->player->door.world, &def->rule[index],
                                 &def->limits, scratch, &why);
    if (status != STATUS_OK) {
        blame_variant(index, &why, error);
        return status;
    }
    name_run(variant->door.world, &variant->ledger, &comparison->side[index + 1]);
    comparison->side[index + 1].run.ended = &variant->ended;
    return STATUS_OK;
}

// All are judged before any of them is recorded.
static Status begin(Comparison *comparison, Arena *scratch, Error *error) {
    const CompareDef *def = &comparison->def;
    Player *player = comparison->player;
    Status status = STATUS_OK;
    name_run(player->door.world, &comparison->ledger, &comparison->side[0]);
    for (size_t i = 0; i < def->variant_count && status == STATUS_OK; i++) {
        status = begin_variant(comparison, i, scratch, error);
    }
    for (size_t i = 0; i < def->variant_count && status == STATUS_OK && def->record != NULL; i++) {
        status = start_recording(comparison, i, error);
    }
    if (status == STATUS_OK) {
        player->hash = snapshot_hash(player->door.world);
        comparison->has_begun = true;
        look(comparison);
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
    if (status == STATUS_OK) {
        status = player_run(player, reader, first, false, scratch, until_ns, context, &difference,
                            error);
    }
    if (status == STATUS_OK && difference.found) {
        return player_tell_difference(&difference, error);
    }
    bool is_there = player->step == first && !player->is_stopped;
    return status == STATUS_OK && is_there ? begin(comparison, scratch, error) : status;
}

// ---- on the way

static Status hand_on(Comparison *comparison, Variant *variant, Error *error) {
    const PlayerEntry *entry = &comparison->player->entry;
    switch (comparison->player->deed) {
    case DEED_CHANGE:
        return variant_change(variant, &entry->input, error);
    case DEED_STEP:
        return variant_order(variant, &entry->run.order->step, entry->run.input.time_step, error);
    case DEED_FAULT: // no time has passed
    case DEED_NONE:
        return STATUS_OK;
    }
    return STATUS_OK;
}

static void note_end(const Player *player, const Variant *variant, Side *side) {
    if (variant->ended.status != STATUS_OK && !side->has_ended) {
        side->has_ended = true;
        side->run.ended_step = player->step - (player->deed == DEED_STEP);
    }
}

// The player's next deed, which all variants are told of.
static Status walk(Comparison *comparison, LogReader *reader, Arena *scratch,
                   const Context *context, bool *is_stopped, Error *error) {
    Player *player = comparison->player;
    PlayerDifference difference = {0};
    Walked walked;
    Status status =
        player_walk(player, reader, false, scratch, context, &walked, &difference, error);
    if (status == STATUS_OK && difference.found) {
        return player_tell_difference(&difference, error);
    }
    *is_stopped = walked != WALKED_ON;
    if (status != STATUS_OK || *is_stopped) {
        return status;
    }
    if (player->deed == DEED_STEP) {
        const StepRun *run = &player->entry.run;
        ledger_add(&comparison->ledger, &run->tally.last, run->input.time_step);
        comparison->is_new = true;
        atomic_fetch_add_explicit(&comparison->steps_done, 1, memory_order_relaxed);
    }
    for (size_t i = 0; i < comparison->def.variant_count && status == STATUS_OK; i++) {
        Error why = {0};
        status = hand_on(comparison, &comparison->variant[i], &why);
        if (status != STATUS_OK) {
            blame_variant(i, &why, error);
        }
        note_end(player, &comparison->variant[i], &comparison->side[i + 1]);
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
    note_end(comparison->player, variant, &comparison->side[comparison->behind + 1]);
    return status;
}

// One thing: a deed of the player, a step of a variant, a look.
static Status go_on(Comparison *comparison, LogReader *reader, Arena *scratch, uint64_t until_ns,
                    const Context *context, bool *is_stopped, Error *error) {
    if (!comparison->has_begun) {
        Status status = seek(comparison, reader, scratch, until_ns, context, error);
        *is_stopped = status == STATUS_OK && comparison->player->is_stopped;
        return status;
    }
    if (comparison->behind < comparison->def.variant_count) {
        return catch_up(comparison, scratch, context, is_stopped, error);
    }
    if (comparison->is_new) {
        look(comparison);
        return STATUS_OK;
    }
    return walk(comparison, reader, scratch, context, is_stopped, error);
}

static bool has_arrived(const Comparison *comparison) {
    return comparison->has_begun && comparison->behind == comparison->def.variant_count &&
           !comparison->is_new && comparison->player->step == comparison->def.last;
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
    if (side->run.sample_count > 0 && side->run.ledger->steps > 0) {
        side->sample[0].energy = side->run.ledger->energy_first;
    }
    CompareRun run = side->run;
    run.overridden = index > 0 ? comparison->variant[index - 1].overridden : 0;
    return run;
}
