// SPDX-License-Identifier: MIT
#include "histories/play.h"

#include "base/assert.h"
#include "collide/broad_valid.h"
#include "histories/ask.h"
#include "histories/ask_group.h"
#include "histories/ask_memory.h"
#include "histories/ask_scene_steps.h"
#include "histories/ask_step.h"
#include "histories/table.h"
#include "histories/ask_turned.h"
#include "histories/units.h"
#include "step/snapshot/snapshot.h"
#include "step/snapshot/compare.h"
#include "world/world_valid.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BODIES_MAX = 1000, BYTES_MAX = 1 << 28 };

const char *const property_names[PROPERTY_COUNT] = {
    [PROPERTY_VALID] = "valid",     [PROPERTY_ALIVE] = "alive",   [PROPERTY_FINITE] = "finite",
    [PROPERTY_REFUSED] = "refused", [PROPERTY_BYTES] = "bytes",   [PROPERTY_FAULT] = "fault",
    [PROPERTY_AGAIN] = "again",     [PROPERTY_SCENE] = "scene",   [PROPERTY_REPLAY] = "replay",
    [PROPERTY_JUDGE] = "judge",     [PROPERTY_ENERGY] = "energy", [PROPERTY_RECORD] = "record",
    [PROPERTY_UNITS] = "units",     [PROPERTY_TURNED] = "turned", [PROPERTY_MEMORY] = "memory",
};

bool play_found(Play *play, Property property, const char *place, const char *format, ...) {
    Finding *finding = play->finding;
    if (!finding->is_found) {
        finding->is_found = true;
        finding->property = property;
        snprintf(finding->place, sizeof(finding->place), "%s", place);
        const int used = snprintf(finding->words, sizeof(finding->words),
                                  "deed %llu: ", (unsigned long long)play->number);
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(finding->words + used, sizeof(finding->words) - (size_t)used, format, arguments);
        va_end(arguments);
    }
    return false;
}

// Where it dies, this is all that is known.
static void tell(Play *play, const char *doing) {
    if (play->doing != NULL) {
        snprintf(play->doing, PLAY_DOING_BYTES, "%s", doing);
    }
}

static void open_door(Play *play, int which) {
    ASSERT(door_init(&play->door[which], &play->limits, NULL) == STATUS_OK);
}

static void close_twin(Play *play) {
    if (play->has_twin) {
        door_deinit(&play->door[PLAY_TWIN]);
        play->has_twin = false;
    }
}

static void keep_twin(Play *play) {
    play->has_twin = true;
    play->twin_steps = 0;
}

void play_init(Play *play, uint32_t phase, Finding *finding) {
    *play =
        (Play){.phase = phase % PLAY_PHASES, .asks_one_in = 1, .is_calm = true, .finding = finding};
    *finding = (Finding){0};
    play->limits = (WorldLimits){
        .body_count_max = BODIES_MAX, .bytes_max = BYTES_MAX, .shelf = geometry_shelf_create()};
    ASSERT(play->limits.shelf != NULL);
    record_init(&play->record, phase / PLAY_PHASES, &play->limits);
    arena_init(&play->scratch, BYTES_MAX);
    arena_init(&play->memory, BYTES_MAX);
    open_door(play, PLAY_MAIN);
    open_door(play, PLAY_TWIN);
    keep_twin(play);
}

void play_deinit(Play *play) {
    close_twin(play);
    door_deinit(&play->door[PLAY_MAIN]);
    for (int i = 0; i < HISTORY_SLOTS; i++) {
        free(play->slot[i]);
    }
    record_deinit(&play->record);
    arena_deinit(&play->scratch);
    arena_deinit(&play->memory);
    geometry_shelf_destroy(play->limits.shelf); // on which nobody has left anything
}

// Asked first, so that what is wrong with the world is named, and not what that breaks.
static bool is_valid(Play *play, const char *when) {
    Defect defect = {0};
    const Door *door = &play->door[PLAY_MAIN];
    return (world_is_valid(door->world, &defect) &&
            broad_is_valid(door->stepper->broad, &defect)) ||
           play_found(play, PROPERTY_VALID, defect.what, "%s: %s %zu: %s", when, defect.thing,
                      defect.index, defect.what);
}

// ---- hashes

// No cache hides a change.
static uint64_t whole_hash(World *world) {
    world->definition_is_hashed = false;
    return snapshot_hash(world);
}

static bool tell_difference(Play *play, const char *when) {
    uint8_t *bytes[PLAY_DOORS];
    size_t count[PLAY_DOORS];
    SnapshotDifference difference = {0};
    for (int i = 0; i < PLAY_DOORS; i++) {
        snapshot_write(play->door[i].world, &play->memory, &bytes[i], &count[i], NULL);
    }
    snapshot_compare(bytes[0], count[0], bytes[1], count[1], &difference);
    return play_found(play, PROPERTY_AGAIN, when, "%s: %s of body %llu: %.17g, and again %.17g",
                      when, difference.quantity, (unsigned long long)difference.body,
                      difference.expected, difference.found);
}

// The twin has the same world.
static bool are_one(Play *play, const char *when) {
    return !play->has_twin ||
           snapshot_hash(play->door[PLAY_MAIN].world) ==
               snapshot_hash(play->door[PLAY_TWIN].world) ||
           tell_difference(play, when);
}

// ---- recordings

static bool is_recorded_well(Play *play, bool is_fine, const RecordDoubt *doubt) {
    return is_fine || play_found(play, PROPERTY_RECORD, doubt->place, "%s", doubt->words);
}

static bool end_recording(Play *play) {
    RecordDoubt doubt;
    play->tally.recorded += play->door[PLAY_MAIN].recorder == NULL ? 0 : play->record.count - 1;
    tell(play, "recordings");
    return is_recorded_well(play, record_end(&play->record, &play->door[PLAY_MAIN], &doubt),
                            &doubt);
}

// Perhaps one begins, or ends.
static bool turn_recording(Play *play) {
    tell(play, "recordings");
    return !record_turns(&play->record, &play->door[PLAY_MAIN]) || end_recording(play);
}

// ---- inputs

static InputBytes encoded(Play *play, const Input *input) {
    const size_t count = input_bytes(input);
    uint8_t *memory = arena_take(&play->memory, count);
    ASSERT(memory != NULL);
    Sink sink = {.bytes = memory};
    input_encode(input, &sink);
    ASSERT(sink.count == count);
    return (InputBytes){.bytes = memory, .count = count};
}

// As a recording holds it.
static Input recorded(Play *play, const Input *input) {
    Input again;
    Error error = {0};
    const InputBytes bytes = encoded(play, input);
    const Status status = input_decode(bytes, &play->memory, &again, &error);
    if (status != STATUS_OK) {
        play_found(play, PROPERTY_REPLAY, "decode", "what was encoded is no input: %s",
                   error.message);
        return *input;
    }
    const InputBytes twice = encoded(play, &again);
    if (twice.count != bytes.count || memcmp(twice.bytes, bytes.bytes, bytes.count) != 0) {
        play_found(play, PROPERTY_REPLAY, "encode", "what was read is another input");
    }
    return again;
}

static bool is_list_of_ids(const Column *column, const Input *input) {
    const bool is_list = column->of == OF_SET_BODIES || column->of == OF_SET_JOINTS ||
                         column->of == OF_SET_MATERIALS || column->of == OF_SET_SHAPES ||
                         column->of >= OF_REMOVED_BODIES;
    return is_list && column->type == COLUMN_ID && column->kind == input->kind &&
           column_of(input, column) != NULL;
}

// What is changed, or removed, is named once.
static bool names_one_twice(const Input *input) {
    for (size_t c = 0; c < table_column_count; c++) {
        const Column *column = &table_columns[c];
        if (!is_list_of_ids(column, input)) {
            continue;
        }
        const uint64_t *id = column_of(input, column);
        const size_t count = table_count(input, column->of);
        for (size_t i = 1; i < count; i++) {
            for (size_t k = 0; k < i; k++) {
                if (id[i] == id[k]) {
                    return true;
                }
            }
        }
    }
    return false;
}

static void count_geometries(Play *play, const GeometryList *list, bool is_refused) {
    play->tally.geometries_refused += is_refused;
    for (size_t i = 0; i < list->count && !is_refused; i++) {
        const bool is_hull = strcmp(geometry_list_kind(list, i), "hulls") == 0;
        play->tally.hulls += is_hull;
        play->tally.surfaces += !is_hull;
    }
}

static bool change(Play *play, const Input *input) {
    Error error = {0}, other = {0};
    Door *door = &play->door[PLAY_MAIN];
    const uint64_t before = whole_hash(door->world);
    const Status status = door_change(door, input, &play->memory, NULL, NULL, &error);
    if (!is_valid(play, "change")) {
        return false;
    }
    play->tally.refused += status != STATUS_OK;
    if (input->kind == INPUT_GEOMETRIES) {
        count_geometries(play, &input->geometries, status != STATUS_OK);
    }
    if (status != STATUS_OK && whole_hash(door->world) != before) {
        return play_found(play, PROPERTY_REFUSED, "hash", "refused (%s: %.200s), and yet changed",
                          error.field, error.message);
    }
    if (status == STATUS_OK && names_one_twice(input)) {
        return play_found(play, PROPERTY_REFUSED, "twice", "one id stands twice, and is taken");
    }
    const Input again = recorded(play, input);
    if (play->has_twin) {
        const Status its =
            door_change(&play->door[PLAY_TWIN], &again, &play->memory, NULL, NULL, &other);
        if (its != status) {
            return play_found(play, PROPERTY_AGAIN, "status", "%s (%.150s), and again %s (%.150s)",
                              status_name(status), error.message, status_name(its), other.message);
        }
    }
    return !play->finding->is_found && are_one(play, "change");
}

// ---- steps

static bool is_calm_order(const StepOrder *order) {
    for (size_t i = 0; i < 6 * order->wrench_count; i++) {
        if (!(fabs(order->wrench[i]) <= 1e3)) {
            return false;
        }
    }
    return order->time_step == 0.0 || (order->time_step >= 1e-4 && order->time_step <= 0.05);
}

// A step has failed: the world is as before it.
static bool judge_failure(Play *play, World *world, uint64_t before, Status status,
                          const Error *error) {
    const bool faulted = world->faulted;
    play->tally.faults += faulted;
    world->faulted = false;
    const uint64_t after = whole_hash(world);
    world->faulted = faulted;
    if (after != before) {
        return play_found(play, PROPERTY_FAULT, "state",
                          "a step that failed has changed the world");
    }
    return !faulted || !play->is_calm || play->is_starved || play->gains ||
           play_found(play, PROPERTY_FAULT, "calm", "%s: %.300s", status_name(status),
                      error->message);
}

// What a solver is told not to finish may be anything; that it is open is said.
static void note_hunger(Play *play, const World *world, const Certificate *c) {
    const SolverSettings settings = step_solver(&world->settings);
    const Solver *solver = solver_get(settings.kind);
    for (uint32_t i = 0; !c->converged && i < solver->parameter_count; i++) {
        const ParameterRow *row = &solver->parameters[i];
        const bool is_effort = i == SOLVER_MAX_ITERATIONS || strcmp(row->name, "budget") == 0;
        play->is_starved =
            play->is_starved || (is_effort && settings.parameter[i] < row->default_value);
    }
}

static PrimitiveKind kind_of_part(const World *world, uint32_t body, uint32_t part) {
    return world->primitive[world_body_shape(world, body)->primitive_first + part].kind;
}

static void count_contacts(Play *play, const Door *door) {
    for (uint32_t i = 0; i < door->stepper->contact_count; i++) {
        const StepContact *contact = &door->stepper->contact[i];
        const PrimitiveKind a = kind_of_part(door->world, contact->a, contact->part_a),
                            b = kind_of_part(door->world, contact->b, contact->part_b);
        play->tally.hull_contacts += a == PRIMITIVE_HULL || b == PRIMITIVE_HULL;
        play->tally.surface_contacts += primitive_is_surface(a) || primitive_is_surface(b);
    }
}

// Whether this deed is one of those that are asked about.
static bool is_asked(const Play *play) {
    return play->number % play->asks_one_in == 0;
}

static bool ask_to_stop(void *context) {
    Play *play = context;
    return ++play->questions > PLAY_QUESTIONS_MAX;
}

// A step of the main world; what is given up half-way has not happened.
static Status take_main_step(Play *play, StepRun *run, uint64_t before, Error *error) {
    Door *door = &play->door[PLAY_MAIN];
    const Stop stop = {.asked = ask_to_stop, .context = play};
    const Context context = {.stop = &stop};
    const uint64_t step = door->world->step;
    AskStep ask = ask_step_begin(play, door->world, run->input.time_step);
    run->input.witness = is_asked(play) ? &ask.witness : NULL;
    record_await(door);
    const Status status = door_step(door, run, &play->scratch, 0, &context, error);
    run->input.witness = NULL;
    if (!is_valid(play, "step")) {
        return status;
    }
    if (status == STATUS_OK && door->world->step == step) {
        play->is_over = true;
        if (whole_hash(door->world) != before) {
            play_found(play, PROPERTY_REFUSED, "given up", "a step given up has changed the world");
        }
    } else if (status == STATUS_OK) {
        if (run->tally.last.removed_count == 0) { // or contacts name others
            count_contacts(play, door);
        }
        note_hunger(play, door->world, &run->tally.last.certificate);
        record_step(&play->record, door, &run->tally.last);
        if (is_asked(play)) {
            ask_step_end(&ask, &run->tally.last);
        }
    }
    return status;
}

static bool take_twin_step(Play *play, StepRun *run, Status expected) {
    const Status status = door_step(&play->door[PLAY_TWIN], run, &play->scratch, 0, NULL, NULL);
    return status == expected ||
           play_found(play, PROPERTY_AGAIN, "step status", "a step ends %s, and again %s",
                      status_name(expected), status_name(status));
}

// The twin has come by this step otherwise.
static bool ask_twin_counts(Play *play) {
    const Door *main = &play->door[PLAY_MAIN], *twin = &play->door[PLAY_TWIN];
    return !play->has_twin || ask_counts(play, main->world, main->stepper, twin->stepper);
}

static bool take_step(Play *play, StepRun run[PLAY_DOORS], bool *goes_on) {
    Error error = {0};
    World *world = play->door[PLAY_MAIN].world;
    const uint64_t before = whole_hash(world);
    const Status status = take_main_step(play, &run[PLAY_MAIN], before, &error);
    if (play->is_over) {
        *goes_on = false;
        return !play->finding->is_found;
    }
    if (play->has_twin && ++play->twin_steps > PLAY_TWIN_STEPS) {
        close_twin(play);
    }
    if (play->finding->is_found ||
        (play->has_twin && !take_twin_step(play, &run[PLAY_TWIN], status))) {
        return false;
    }
    *goes_on = status == STATUS_OK && run[PLAY_MAIN].steps_left > 0;
    play->tally.steps++;
    play->tally.wide_steps += history_has_wide_tree(world);
    return (status == STATUS_OK || judge_failure(play, world, before, status, &error)) &&
           are_one(play, "step") && ask_twin_counts(play) && ask_finite(play, world);
}

static bool begin_twin(Play *play, Input *order, StepRun *run, Status expected) {
    const Status status = door_step_begin(&play->door[PLAY_TWIN], order, &play->memory, run, NULL);
    return status == expected ||
           play_found(play, PROPERTY_AGAIN, "begin", "steps begin %s, and again %s",
                      status_name(expected), status_name(status));
}

static bool take_steps(Play *play, const Input *input) {
    StepRun run[PLAY_DOORS];
    World *world = play->door[PLAY_MAIN].world;
    const uint64_t before = whole_hash(world);
    play->is_calm = play->is_calm && is_calm_order(&input->step);
    const Status status =
        door_step_begin(&play->door[PLAY_MAIN], input, &play->memory, &run[PLAY_MAIN], NULL);
    Input again = recorded(play, input);
    if (play->finding->is_found ||
        (play->has_twin && !begin_twin(play, &again, &run[PLAY_TWIN], status))) {
        return false;
    }
    if (status != STATUS_OK) {
        play->tally.refused++;
        return whole_hash(world) == before ||
               play_found(play, PROPERTY_REFUSED, "step", "steps refused, and yet changed");
    }
    bool goes_on = run[PLAY_MAIN].steps_left > 0;
    while (goes_on) {
        if (!take_step(play, run, &goes_on)) {
            return false;
        }
    }
    return true;
}

// ---- the whole world

static bool take(Play *play, uint32_t slot) {
    uint8_t *bytes, *others;
    size_t count, other_count;
    ASSERT(snapshot_write(play->door[PLAY_MAIN].world, &play->memory, &bytes, &count, NULL) ==
           STATUS_OK);
    if (play->has_twin) {
        ASSERT(snapshot_write(play->door[PLAY_TWIN].world, &play->memory, &others, &other_count,
                              NULL) == STATUS_OK);
        if (count != other_count || memcmp(bytes, others, count) != 0) {
            return tell_difference(play, "snapshot");
        }
    }
    free(play->slot[slot]);
    play->slot[slot] = malloc(count);
    play->slot_bytes[slot] = count;
    memcpy(play->slot[slot], bytes, count);
    return true;
}

static Input restoring(const uint8_t *bytes, size_t count) {
    return (Input){.kind = INPUT_RESTORE, .restore = {.snapshot = bytes, .snapshot_bytes = count}};
}

// A twin in whose world the snapshot of the main one stands.
static bool make_twin(Play *play) {
    uint8_t *bytes;
    size_t count;
    Error error = {0};
    close_twin(play);
    ASSERT(snapshot_write(play->door[PLAY_MAIN].world, &play->memory, &bytes, &count, NULL) ==
           STATUS_OK);
    open_door(play, PLAY_TWIN);
    keep_twin(play);
    const Input input = restoring(bytes, count);
    if (door_change(&play->door[PLAY_TWIN], &input, &play->memory, NULL, NULL, &error) !=
        STATUS_OK) {
        return play_found(play, PROPERTY_AGAIN, "own snapshot",
                          "its own snapshot is refused: %.300s", error.message);
    }
    return are_one(play, "restored");
}

// A snapshot that was taken is taken back; and whoever restores shows, and does, no more than who
// never was another world.
static bool restore(Play *play, uint32_t slot) {
    if (play->slot[slot] == NULL) {
        return true;
    }
    const uint64_t refused = play->tally.refused;
    const Input input = restoring(play->slot[slot], play->slot_bytes[slot]);
    if (!change(play, &input)) {
        return false;
    }
    if (play->tally.refused != refused) {
        return play_found(play, PROPERTY_AGAIN, "restore", "a snapshot is not taken back");
    }
    if (!make_twin(play)) {
        return false;
    }
    const Stepper *its = play->door[PLAY_MAIN].stepper, *fresh = play->door[PLAY_TWIN].stepper;
    return (its->has_last == fresh->has_last && its->has_wrenches == fresh->has_wrenches) ||
           play_found(play, PROPERTY_AGAIN, "restored last step",
                      "what is restored shows the step of another world");
}

// They change places.
static bool go_on_in_clone(Play *play) {
    if (!end_recording(play) || !make_twin(play)) {
        return false;
    }
    const Door main = play->door[PLAY_MAIN];
    play->door[PLAY_MAIN] = play->door[PLAY_TWIN];
    play->door[PLAY_TWIN] = main;
    return true;
}

static bool go_on_in_scene(Play *play) {
    if (!ask_can_be_said(play->door[PLAY_MAIN].world)) {
        return true;
    }
    play->tally.scenes++;
    if (!end_recording(play) || !ask_scene_steps(play, play->door[PLAY_MAIN].world)) {
        return false;
    }
    for (int i = 0; i < PLAY_DOORS; i++) {
        Door made;
        if (i == PLAY_TWIN && !play->has_twin) {
            continue;
        }
        ASSERT(door_init(&made, &play->limits, NULL) == STATUS_OK);
        const bool is_made = ask_make_scene(play, play->door[i].world, &made);
        door_deinit(&play->door[i]);
        play->door[i] = made;
        if (!is_made) {
            return false;
        }
    }
    return are_one(play, "scene");
}

// ---- deeds

static bool carry_out(Play *play, const Deed *deed) {
    switch (deed->kind) {
    case DEED_INPUT:
        return deed->input.kind == INPUT_STEP ? take_steps(play, &deed->input)
                                              : change(play, &deed->input);
    case DEED_TAKE:
        return take(play, deed->slot);
    case DEED_RESTORE:
        return restore(play, deed->slot);
    case DEED_CLONE:
        return go_on_in_clone(play);
    case DEED_SCENE:
        return go_on_in_scene(play);
    case DEED_GROUP:
        return ask_group(play, play->door[PLAY_MAIN].world, deed->slot);
    case DEED_UNITS:
        return !play->is_calm || ask_units(play, play->door[PLAY_MAIN].world, deed->slot);
    case DEED_TURN:
        return !play->is_calm || ask_turned(play, play->door[PLAY_MAIN].world, deed->slot);
    case DEED_MEMORY:
        return ask_memory(play, play->door[PLAY_MAIN].world, deed->slot);
    case DEED_KIND_COUNT:
        break;
    }
    return true;
}

// Each at its own deeds of PLAY_PHASES in a row, so that all follow upon all.
static bool ask_all(Play *play) {
    World *world = play->door[PLAY_MAIN].world;
    const uint64_t at = (play->number / play->asks_one_in + play->phase) % PLAY_PHASES;
    if (!is_asked(play)) {
        return ask_finite(play, world);
    }
    play->tally.asked++;
    return ask_finite(play, world) && ask_bytes(play, world) && ask_snapshot(play, world) &&
           (at != 2 || ask_scene(play, world)) && (at != 0 || make_twin(play));
}

bool play_deed(Play *play, const Deed *deed) {
    if (play->is_over) {
        return true;
    }
    play->tally.deeds++;
    arena_reset(&play->memory);
    if (!turn_recording(play)) {
        return false;
    }
    tell(play, deed->kind == DEED_GROUP         ? "groups"
               : deed->kind != DEED_INPUT       ? "snapshots"
               : deed->input.kind == INPUT_STEP ? "steps"
                                                : "changes");
    bool is_fine = carry_out(play, deed);
    tell(play, "questions");
    const World *world = play->door[PLAY_MAIN].world;
    play->is_calm = play->is_calm && (deed->input.kind == INPUT_STEP || ask_is_calm(world));
    is_fine = is_fine && ask_all(play);
    play->number++;
    return is_fine;
}

bool play_end(Play *play) {
    return !play->finding->is_found && end_recording(play);
}
