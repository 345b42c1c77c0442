// SPDX-License-Identifier: MIT
#include "histories/ask_group.h"

#include "base/assert.h"
#include "base/hash.h"
#include "histories/ask.h"
#include "histories/ask_memory.h"
#include "histories/group_make.h"
#include "run/groups/act.h"
#include "run/groups/code.h"
#include "run/groups/group_valid.h"
#include "run/groups/keyframe.h"
#include "run/groups/opinion.h"
#include "run/groups/save.h"
#include "step/snapshot/snapshot.h"

#include <float.h>
#include <math.h>
#include <string.h>

// Templates of more bodies cost more than they show; questions are PLAY_QUESTIONS_MAX's.
enum { BODIES_MAX = 12, CALLS_MAX = 8, QUESTIONS_MAX = 20 };

// A group, and its last call.
typedef struct Band {
    Group *group; // owned; NULL: it was refused
    GroupCall call;
} Band;

typedef struct Troupe {
    Play *play;
    Arena memory; // of the whole of it
    Dice dice;
    Dice fate; // what befalls groups: another stream, so that a seed's calls stay what they are
    Band band, echo, alone;
    GroupSaveBytes code; // of the band, in memory
    uint32_t lone;       // which world is alone
    uint64_t questions;
    bool is_over; // a solver took too long: a row was given up
} Troupe;

// ---- making

static Group *make_group(Troupe *troupe, const GroupDef *def, const uint8_t *snapshot, size_t bytes,
                         Error *error) {
    World *template;
    Group *group = NULL;
    const WorldLimits *limits = &troupe->play->door[PLAY_MAIN].world->limits;
    if (group_def_check(def, error) != STATUS_OK ||
        snapshot_read(snapshot, bytes, limits, &template, error) != STATUS_OK ||
        group_create(def, template, &group, error) != STATUS_OK) {
        return NULL;
    }
    for (uint32_t i = 0; i < group->count; i++) {
        if (group_add_world(group, i, error) != STATUS_OK) {
            group_destroy(group);
            return NULL;
        }
    }
    return group;
}

// Of the code as it was written, of all worlds or of one.
static bool make_again(Troupe *troupe, const uint8_t *code, size_t bytes, uint64_t world,
                       Band *band) {
    GroupCode read;
    Error error = {0};
    Status status = group_code_read(code, bytes, world, &troupe->memory, &read, &error);
    band->group = status != STATUS_OK
                      ? NULL
                      : make_group(troupe, &read.def, read.snapshot, read.snapshot_bytes, &error);
    return band->group != NULL || play_found(troupe->play, PROPERTY_REPLAY, "code of a group",
                                             "a group is not made of its own code: %s: %.200s",
                                             error.field, error.message);
}

// true: go on, unless there is no group as it was refused.
static bool open_troupe(Troupe *troupe, const World *world) {
    uint8_t *snapshot;
    size_t bytes;
    Error error = {0};
    ASSERT(snapshot_write(world, &troupe->memory, &snapshot, &bytes, NULL) == STATUS_OK);
    const GroupDef def = group_make_def(&troupe->dice, world, &troupe->memory);
    troupe->band.group = make_group(troupe, &def, snapshot, bytes, &error);
    if (troupe->band.group == NULL) {
        troupe->play->tally.groups_refused++;
        return true;
    }
    const size_t code_bytes = group_code_write(&def, troupe->band.group, 1, NULL, NULL);
    uint8_t *code = arena_take(&troupe->memory, code_bytes);
    ASSERT(code != NULL && group_code_write(&def, troupe->band.group, 1, NULL, code) == code_bytes);
    troupe->code = (GroupSaveBytes){code, code_bytes};
    troupe->lone = (uint32_t)dice_roll(&troupe->dice, def.count);
    return make_again(troupe, code, code_bytes, GROUP_CODE_ALL, &troupe->echo) &&
           make_again(troupe, code, code_bytes, troupe->lone, &troupe->alone);
}

static void close_band(Band *band) {
    if (band->group != NULL) {
        group_destroy(band->group);
    }
}

// ---- calls

static bool ask_to_stop(void *context) {
    Troupe *troupe = context;
    return ++troupe->questions > QUESTIONS_MAX;
}

// Of a paced call at most so many pieces, and then it is given up.
static void run_row(Troupe *troupe, Band *band, size_t row, uint32_t pieces) {
    const Stop stop = {.asked = ask_to_stop, .context = troupe};
    const Context context = {.stop = &stop};
    GroupCall *call = &band->call;
    bool is_done = group_run_row(call, row, &troupe->play->scratch, &context);
    for (uint32_t i = 1; !is_done && call->is_paced && i < pieces; i++) {
        is_done = group_run_row(call, row, &troupe->play->scratch, &context);
    }
    if (!is_done) {
        const Error why = {.message = "it took too long"};
        group_give_up_row(call, row, &why, &troupe->play->scratch);
        troupe->is_over = troupe->is_over || troupe->questions > QUESTIONS_MAX;
    }
    if (call->row[row].kept != NULL) {
        group_opinion_drop(call->group, call->row[row].kept);
        call->row[row].kept = NULL;
    }
}

// false: it is refused as a whole. `pieces`: of a paced call, each row's.
static bool run_call(Troupe *troupe, Band *band, GroupCall call, const uint32_t *pieces,
                     bool backwards) {
    Error error = {0};
    band->call = call;
    band->call.group = band->group;
    if (group_call_check(&band->call, &error) != STATUS_OK) {
        return false;
    }
    ASSERT(group_call_take(&band->call, &troupe->memory));
    for (size_t i = 0; i < call.count && !troupe->is_over; i++) {
        const size_t row = backwards ? call.count - 1 - i : i;
        run_row(troupe, band, row, pieces == NULL ? 0 : pieces[row]);
    }
    return true;
}

// Asked first, so that what is wrong with a group is named, and not what that breaks.
static bool ask_valid(Troupe *troupe, const Band *band) {
    Defect defect = {0};
    return group_is_valid(band->group, &defect) ||
           play_found(troupe->play, PROPERTY_VALID, defect.what, "after a call: %s %zu: %s",
                      defect.thing, defect.index, defect.what);
}

// Of one row: what the world that is alone is called for.
static GroupCall lone_call(const GroupCall *call, size_t row) {
    const Group *group = call->group;
    const size_t columns = group->action.column_count, values = group->noise.column_count;
    GroupCall one = *call;
    one.count = 1;
    one.is_paced = false;
    one.world = NULL;
    one.action = call->action == NULL ? NULL : call->action + row * columns;
    one.action_double = call->action_double == NULL ? NULL : call->action_double + row * columns;
    one.values = call->values == NULL ? NULL : call->values + row * values;
    one.cut = call->cut == NULL ? NULL : call->cut + row;
    one.seed = call->seed_count > 1 ? call->seed + row : call->seed;
    one.seed_count = call->seed_count > 0;
    return one;
}

static size_t row_of(const GroupCall *call, uint32_t world) {
    size_t row = 0;
    while (row < call->count && group_call_world(call, row) != world) {
        row++;
    }
    return row;
}

// ---- comparing

static const void *numbers_at(const Group *group, const void *rows, size_t row, size_t columns) {
    return (const char *)rows + row * columns * (group->is_double ? sizeof(double) : sizeof(float));
}

static bool are_finite(const Group *group, const void *numbers, size_t count) {
    for (size_t i = 0; i < count; i++) {
        const double value =
            group->is_double ? ((const double *)numbers)[i] : (double)((const float *)numbers)[i];
        if (!isfinite(value)) {
            return false;
        }
    }
    return true;
}

static bool ask_numbers(Play *play, const GroupCall *a, size_t i, const GroupCall *b, size_t k) {
    const Group *group = a->group;
    const bool has_ended = a->row[i].ended != 0 && group->autoreset == AUTORESET_SAME_STEP;
    const struct {
        const void *a, *b;
        size_t columns;
        bool counts;
    } rows[] = {
        {a->observation, b->observation, group->observation.column_count, true},
        {a->extra, b->extra, group->extra.column_count, true},
        {a->final_observation, b->final_observation, group->observation.column_count, has_ended},
        {a->final_extra, b->final_extra, group->extra.column_count, has_ended}};
    for (size_t r = 0; r < sizeof(rows) / sizeof(rows[0]); r++) {
        const size_t columns = rows[r].counts ? rows[r].columns : 0;
        const size_t bytes = columns * (group->is_double ? sizeof(double) : sizeof(float));
        const void *x = numbers_at(group, rows[r].a, i, rows[r].columns),
                   *y = numbers_at(group, rows[r].b, k, rows[r].columns);
        if (!are_finite(group, x, columns)) {
            return play_found(play, PROPERTY_FINITE, "row of a group", "a row is not finite");
        }
        if (bytes > 0 && memcmp(x, y, bytes) != 0) {
            return play_found(play, PROPERTY_AGAIN, "numbers of a group",
                              "a row of a group has other numbers");
        }
    }
    return true;
}

static bool ask_row(Play *play, const GroupCall *a, size_t i, const GroupCall *b, size_t k) {
    const GroupRow *x = &a->row[i], *y = &b->row[k];
    const GroupWorld *p = &a->group->world[group_call_world(a, i)],
                     *q = &b->group->world[group_call_world(b, k)];
    const bool is_same =
        x->ended == y->ended && x->has_failed == y->has_failed &&
        x->has_faulted == y->has_faulted && x->is_skipped == y->is_skipped &&
        x->is_doubtful == y->is_doubtful && x->unconverged == y->unconverged &&
        x->has_gained == y->has_gained && x->has_hash == y->has_hash && x->hash == y->hash &&
        x->episode == y->episode && x->seed == y->seed && x->length == y->length &&
        x->final_hash == y->final_hash && p->episode == q->episode && p->length == q->length &&
        p->is_running == q->is_running && p->seed == q->seed && p->doubtful == q->doubtful;
    if (!is_same) {
        return play_found(play, PROPERTY_AGAIN, "row of a group",
                          "a row of world %u is another: ended %u and %u, failed %d and %d, hash "
                          "%llx and %llx",
                          group_call_world(a, i), x->ended, y->ended, x->has_failed, y->has_failed,
                          (unsigned long long)x->hash, (unsigned long long)y->hash);
    }
    if (snapshot_hash(p->world) != snapshot_hash(q->world)) {
        return play_found(play, PROPERTY_AGAIN, "world of a group", "world %u is another",
                          group_call_world(a, i));
    }
    return x->has_failed || ask_numbers(play, a, i, b, k);
}

// ---- the door

// What the actions of a row amount to, as inputs: the state is the row's.
static bool step_at_door(Troupe *troupe, const uint8_t *before, size_t bytes) {
    Play *play = troupe->play;
    const Group *group = troupe->alone.group;
    GroupWorld *after = &group->world[0];
    GroupAct act;
    Door door;
    Error error = {0};
    ASSERT(group_act_open(&act, group, &troupe->memory, &error) == STATUS_OK);
    after->length--; // pushes are drawn by the step that they are of
    group_act_read(&act, group, after);
    after->length++;
    ASSERT(door_init(&door, &group->template->limits, NULL) == STATUS_OK);
    Input restore = {.kind = INPUT_RESTORE,
                     .restore = {.snapshot = before, .snapshot_bytes = bytes}};
    Status status = door_change(&door, &restore, &troupe->memory, NULL, NULL, &error);
    for (size_t i = 0; status == STATUS_OK && i < act.set_count; i++) {
        status = door_change(&door, &act.set[i], &troupe->memory, NULL, NULL, &error);
    }
    Input order = {.kind = INPUT_STEP, .step = act.step};
    order.step.steps = group->substeps;
    order.step.time_step = group->time_step;
    StepRun run = {.steps_left = 0};
    if (status == STATUS_OK) {
        status = door_step_begin(&door, &order, &troupe->memory, &run, &error);
    }
    while (status == STATUS_OK && run.steps_left > 0) {
        status = door_step(&door, &run, &play->scratch, 0, NULL, &error);
    }
    const bool is_same =
        status == STATUS_OK && snapshot_hash(door.world) == snapshot_hash(after->world);
    door_deinit(&door);
    return is_same || play_found(play, PROPERTY_AGAIN, "row at the door",
                                 "a step of a group is another at the door (%s: %.200s)",
                                 status_name(status), error.message);
}

static bool is_plain_step(const Troupe *troupe, bool was_running) {
    const GroupRow *row = &troupe->alone.call.row[0];
    return troupe->alone.call.verb == GROUP_STEP && was_running && !row->has_failed &&
           !row->is_skipped && row->ended == 0;
}

// ---- key-frames

// Of the band's worlds [first, first + count).
static GroupSaveBytes make_key_frame(Troupe *troupe, uint32_t first, uint32_t worlds) {
    const Group *group = troupe->band.group;
    uint8_t *bytes;
    size_t count, room = GROUP_KEYFRAME_HEAD_BYTES;
    for (uint32_t i = first; i < first + worlds; i++) {
        ASSERT(snapshot_write(group->world[i].world, &troupe->memory, &bytes, &count, NULL) ==
               STATUS_OK);
        room += group_keyframe_world_bytes(group, count);
    }
    Sink sink = {.bytes = arena_take(&troupe->memory, room)};
    ASSERT(sink.bytes != NULL);
    const GroupKeyframe frame = {.count = worlds};
    group_keyframe_begin(&frame, &sink);
    for (uint32_t i = first; i < first + worlds; i++) {
        ASSERT(snapshot_write(group->world[i].world, &troupe->memory, &bytes, &count, NULL) ==
               STATUS_OK);
        group_keyframe_add(group, i, bytes, count, &sink);
    }
    return (GroupSaveBytes){sink.bytes, sink.count};
}

// The echo's worlds become what the band's are.
static bool put_key_frame(Troupe *troupe) {
    const Group *group = troupe->band.group;
    const GroupSaveBytes made = make_key_frame(troupe, 0, group->count);
    Error error = {0};
    GroupKeyframe frame;
    Status status = group_keyframe_open(made.bytes, made.count, &frame, &error);
    for (uint32_t i = 0; status == STATUS_OK && i < group->count; i++) {
        GroupKeyframeWorld world;
        status = group_keyframe_next(&frame, &world, &error);
        status = STATUS_THEN(status, group_keyframe_restore(troupe->echo.group, i, &world,
                                                            &troupe->play->scratch, &error));
    }
    return status == STATUS_OK || play_found(troupe->play, PROPERTY_AGAIN, "key-frame of a group",
                                             "its own key-frame is refused: %.250s", error.message);
}

// The band as GroupSave has it.
static GroupSaveBytes make_save(Troupe *troupe) {
    const Group *group = troupe->band.group;
    const uint32_t worlds = 1 + (uint32_t)dice_roll(&troupe->fate, group->count);
    GroupSave save = {.range_worlds = worlds,
                      .code = troupe->code,
                      .range_count = (group->count - 1) / worlds + 1,
                      .group = group};
    GroupSaveBytes *range = arena_take_array(&troupe->memory, save.range_count, sizeof(*range));
    ASSERT(range != NULL);
    for (uint32_t first = 0; first < group->count; first += worlds) {
        const uint32_t left = group->count - first;
        range[first / worlds] = make_key_frame(troupe, first, left < worlds ? left : worlds);
    }
    save.range = range;
    Sink counter = {0};
    group_save_write(&save, &counter);
    Sink sink = {.bytes = arena_take(&troupe->memory, counter.count + SNAPSHOT_CHECKSUM_BYTES)};
    ASSERT(sink.bytes != NULL);
    group_save_write(&save, &sink);
    sink_u64(&sink, hash_bytes(sink.bytes, sink.count, 0));
    return (GroupSaveBytes){sink.bytes, sink.count};
}

static Status restore_all(Troupe *troupe, const GroupSaved *saved, Group *group, Error *error) {
    Status status = STATUS_OK;
    GroupKeyframe frame;
    for (uint32_t i = 0; status == STATUS_OK && i < group->count; i++) {
        if (i % saved->range_worlds == 0) {
            status = group_save_begin_range(saved, i / saved->range_worlds, &frame, error);
        }
        status = STATUS_THEN(status, group_save_restore_next(saved, group, i, &frame,
                                                             &troupe->play->scratch, error));
    }
    return status;
}

// The echo becomes another group, which is made of the band's save.
static bool put_saved(Troupe *troupe) {
    const GroupSaveBytes made = make_save(troupe);
    GroupSaved saved;
    Error error = {0};
    close_band(&troupe->echo);
    troupe->echo.group = NULL;
    Status status = group_save_open(made.bytes, made.count, &troupe->memory, &saved, &error);
    if (status == STATUS_OK) {
        troupe->echo.group = make_group(troupe, &saved.code.def, saved.code.snapshot,
                                        saved.code.snapshot_bytes, &error);
    }
    return (troupe->echo.group != NULL &&
            restore_all(troupe, &saved, troupe->echo.group, &error) == STATUS_OK) ||
           play_found(troupe->play, PROPERTY_AGAIN, "save of a group",
                      "its own save is refused: %s: %.250s", error.field, error.message);
}

// ---- one call

static bool ask_worlds(Troupe *troupe, const GroupCall *call) {
    Play *play = troupe->play;
    for (size_t i = 0; i < call->count; i++) {
        World *world = call->group->world[group_call_world(call, i)].world;
        if (!ask_bytes(play, world) || !ask_finite(play, world) ||
            (i == 0 && !ask_snapshot(play, world))) {
            return false;
        }
    }
    return true;
}

// The two worlds of a row have come to it by other steps: one was saved and made again.
static bool ask_row_counts(Troupe *troupe, const GroupCall *call, size_t row) {
    const uint32_t at = group_call_world(call, row);
    const GroupWorld *one = &troupe->band.group->world[at], *other = &troupe->echo.group->world[at];
    return ask_counts(troupe->play, one->world, one->stepper, other->stepper);
}

static uint64_t hash_all(const Group *group) {
    uint64_t hash = 0;
    for (uint32_t i = 0; i < group->count; i++) {
        hash = hash * 31 + snapshot_hash(group->world[i].world);
    }
    return hash;
}

static bool ask_lone(Troupe *troupe, size_t row, bool is_refused) {
    GroupWorld *lone = &troupe->alone.group->world[0];
    uint8_t *before;
    size_t bytes;
    const bool was_running = lone->is_running;
    ASSERT(snapshot_write(lone->world, &troupe->memory, &before, &bytes, NULL) == STATUS_OK);
    const GroupCall call = lone_call(&troupe->band.call, row);
    const bool is_run = run_call(troupe, &troupe->alone, call, NULL, false);
    if (troupe->is_over || !is_run || is_refused) {
        return true;
    }
    return ask_row(troupe->play, &troupe->band.call, row, &troupe->alone.call, 0) &&
           (!is_plain_step(troupe, was_running) || step_at_door(troupe, before, bytes));
}

// The band's call. Some steps are given up behind some of their substeps, of which each row has its
// own: that is what `call` then asks of the others, as who steps a recording again does.
static bool run_in_pieces(Troupe *troupe, GroupCall *call) {
    const Group *group = troupe->band.group;
    uint32_t *pieces = arena_take_array(&troupe->memory, call->count, sizeof(*pieces)),
             *cut = arena_take_array(&troupe->memory, call->count, sizeof(*cut));
    ASSERT(pieces != NULL && cut != NULL);
    for (size_t i = 0; i < call->count; i++) {
        // the first piece only puts the action in force
        pieces[i] = 1 + (uint32_t)dice_roll(&troupe->fate, group->substeps + 2);
    }
    GroupCall paced = *call;
    paced.is_paced = call->verb == GROUP_STEP && dice_chance(&troupe->fate, 30);
    const bool is_run = run_call(troupe, &troupe->band, paced, pieces, false);
    for (size_t i = 0; i < call->count; i++) {
        const GroupWorld *world = &group->world[group_call_world(call, i)];
        cut[i] = is_run && troupe->band.call.row[i].was_cut ? world->substep : group->substeps;
    }
    if (paced.is_paced) {
        call->cut = troupe->band.call.cut = cut;
    }
    return is_run;
}

static bool ask_call(Troupe *troupe) {
    Play *play = troupe->play;
    const uint64_t before = hash_all(troupe->band.group);
    GroupCall call = group_make_call(&troupe->dice, troupe->band.group, &troupe->memory);
    const bool is_run = run_in_pieces(troupe, &call);
    if (is_run != run_call(troupe, &troupe->echo, call, NULL, true)) {
        return play_found(play, PROPERTY_AGAIN, "call of a group", "one of two calls is refused");
    }
    if ((!is_run || call.verb == GROUP_READ) && hash_all(troupe->band.group) != before) {
        return play_found(play, PROPERTY_REFUSED, "group", "a call that reads changes a world");
    }
    if (!ask_valid(troupe, &troupe->band) || !ask_valid(troupe, &troupe->echo)) {
        return false;
    }
    play->tally.group_rows += call.count;
    for (size_t i = 0; is_run && i < call.count && !troupe->is_over; i++) {
        if (!ask_row(play, &troupe->band.call, i, &troupe->echo.call, i) ||
            !ask_row_counts(troupe, &troupe->band.call, i)) {
            return false;
        }
    }
    const size_t row = row_of(&call, troupe->lone);
    return troupe->is_over || !is_run ||
           ((row == call.count || ask_lone(troupe, row, !is_run)) &&
            (troupe->is_over || ask_worlds(troupe, &troupe->band.call)));
}

static bool ask_calls(Troupe *troupe) {
    const uint64_t calls = 1 + dice_roll(&troupe->dice, CALLS_MAX);
    for (uint64_t i = 0; i < calls && !troupe->is_over; i++) {
        if (!ask_call(troupe) ||
            (!troupe->is_over && dice_chance(&troupe->dice, 20) && !put_key_frame(troupe)) ||
            (!troupe->is_over && dice_chance(&troupe->fate, 10) && !put_saved(troupe))) {
            return false;
        }
    }
    return true;
}

bool ask_group(Play *play, World *world, uint64_t seed) {
    if (world->body_count == 0 || world->body_count > BODIES_MAX) {
        return true;
    }
    Troupe troupe = {.play = play, .dice = dice_make(seed, 2), .fate = dice_make(seed, 3)};
    arena_init(&troupe.memory, (size_t)1 << 28);
    play->tally.groups++;
    const bool is_fine =
        open_troupe(&troupe, world) && (troupe.band.group == NULL || ask_calls(&troupe));
    close_band(&troupe.band);
    close_band(&troupe.echo);
    close_band(&troupe.alone);
    arena_deinit(&troupe.memory);
    return is_fine;
}
