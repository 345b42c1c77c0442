// SPDX-License-Identifier: MIT
#include "histories/shrink.h"

#include "base/assert.h"
#include "histories/table.h"
#include "histories/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- runs of things that may be left out

typedef struct Runs {
    void *item;
    size_t count, bytes;
    bool (*finds)(struct Runs *runs); // with what is left
    const Recipe *recipe;
    uint32_t phase;
    const Finding *finding;
} Runs;

static bool try_without(Runs *runs, size_t at, size_t count, void *spare) {
    char *items = runs->item;
    const size_t rest = runs->count - at - count;
    memcpy(spare, items, runs->count * runs->bytes);
    memmove(items + at * runs->bytes, items + (at + count) * runs->bytes, rest * runs->bytes);
    runs->count -= count;
    if (runs->finds(runs)) {
        return true;
    }
    runs->count += count;
    memcpy(items, spare, runs->count * runs->bytes);
    return false;
}

static void leave_out(Runs *runs, Arena *arena) {
    void *spare = arena_take_array(arena, runs->count + 1, runs->bytes);
    ASSERT(spare != NULL);
    size_t run = runs->count / 2 > 0 ? runs->count / 2 : 1;
    for (bool is_shorter = true; run > 1 || is_shorter; run = run > 1 ? run / 2 : 1) {
        is_shorter = false;
        for (size_t at = 0; at + run <= runs->count;) {
            if (try_without(runs, at, run, spare)) {
                is_shorter = true;
            } else {
                at += run;
            }
        }
    }
}

// What depends on when a twin is made, or on what is recorded, is looked for in several ways.
static uint32_t way_count(const Finding *finding) {
    return finding->property == PROPERTY_AGAIN || finding->property == PROPERTY_RECORD ||
                   finding->property == PROPERTY_MEMORY
               ? PLAY_PHASES
               : 1;
}

static uint32_t way(uint32_t phase, uint32_t number, const Finding *finding) {
    return phase + number * (finding->property == PROPERTY_RECORD ? PLAY_PHASES : 1);
}

static bool recipe_finds(Runs *runs) {
    Recipe recipe = *runs->recipe;
    recipe.roll = runs->item;
    recipe.count = runs->count;
    for (uint32_t i = 0; i < way_count(runs->finding); i++) {
        recipe.phase = way(runs->phase, i, runs->finding);
        const Finding found = trial_play_recipe(&recipe, false);
        if (trial_is_same(&found, runs->finding)) {
            runs->phase = recipe.phase;
            return true;
        }
    }
    return false;
}

static bool deeds_find(Runs *runs) {
    const History history = {.deed = runs->item, .count = runs->count};
    for (uint32_t i = 0; i < way_count(runs->finding); i++) {
        const uint32_t phase = way(runs->phase, i, runs->finding);
        const Finding found = trial_play_history(&history, phase);
        if (trial_is_same(&found, runs->finding)) {
            runs->phase = phase;
            return true;
        }
    }
    return false;
}

// ---- within a deed

static bool round_column(Input *input, const Column *column, Arena *arena) {
    const double *values = column_of(input, column);
    const size_t count = table_count(input, column->of) * column->width;
    double *rounded = arena_take_array(arena, count + 1, sizeof(*rounded));
    bool is_other = false;
    for (size_t i = 0; rounded != NULL && i < count; i++) {
        char text[32];
        snprintf(text, sizeof(text), "%.2g", values[i]);
        rounded[i] = strtod(text, NULL);
        is_other = is_other || (rounded[i] != values[i] && !isnan(values[i]));
    }
    column_set(input, column, rounded);
    return is_other;
}

static bool is_needed(const Column *column) {
    static const char *const needed[] = {
        "kind", "size", "pose", "bodies.id", "joints.id", "materials.id", "primitives_of_shape"};
    for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); i++) {
        if (strcmp(column->name, needed[i]) == 0) {
            return true;
        }
    }
    return false;
}

static bool trim(Input *input, ColumnOf of) {
    if (of == OF_SHAPES || of == OF_PRIMITIVES || of == OF_AXES || of == OF_POSITIONS ||
        of == OF_COUPLINGS || of == OF_SET_JOINTS || of == OF_SET_AXES || of == OF_SET_POSITIONS ||
        of == OF_SET_SHAPES || of == OF_SET_PRIMITIVES || table_count(input, of) == 0) {
        return false;
    }
    const size_t count = table_count(input, of) - 1;
    if (of == OF_JOINTS) {
        const JointColumns *joints = &input->joints;
        const JointKind kind = (JointKind)joints->kind[count];
        const uint8_t axes = kind == JOINT_GENERIC && joints->axes != NULL
                                 ? (uint8_t)joints->axes[count]
                                 : joint_kind_axes(kind);
        table_set_count(input, OF_AXES, joints->axis_count - joint_axis_count(axes));
        table_set_count(input, OF_POSITIONS, joints->position_count - joint_position_count(axes));
        if (joints->coupled_count != NULL) {
            table_set_count(input, OF_COUPLINGS,
                            joints->coupling_count - joints->coupled_count[count]);
        }
    }
    table_set_count(input, of, count);
    return count > 0 || of > OF_JOINTS;
}

static ColumnOf first_of(InputKind kind, size_t number) {
    size_t found = 0;
    bool is_seen[OF_COUNT] = {false};
    for (size_t c = 0; c < table_column_count; c++) {
        const Column *column = &table_columns[c];
        if (column->kind == kind && !is_seen[column->of]) {
            is_seen[column->of] = true;
            if (found++ == number) {
                return column->of;
            }
        }
    }
    return OF_COUNT;
}

enum { EDIT_STEPS = 3, EDIT_SETTINGS = 16, EDIT_TRIMS = 10 };

// Makes something of it smaller, by a number; false: there is nothing of that.
static bool edit(Input *input, size_t number, Arena *arena) {
    if (number < EDIT_TRIMS) {
        const ColumnOf of = first_of(input->kind, number);
        return of != OF_COUNT && trim(input, of);
    }
    number -= EDIT_TRIMS;
    if (number < EDIT_SETTINGS) {
        uint32_t *given = &input->set.settings.given;
        const uint32_t bit = 1u << number;
        const bool has = input->kind == INPUT_SET && (*given & bit) != 0;
        *given &= input->kind == INPUT_SET ? ~bit : UINT32_MAX;
        return has;
    }
    number -= EDIT_SETTINGS;
    if (number < EDIT_STEPS) {
        StepOrder *step = &input->step;
        const StepOrder before = *step;
        if (input->kind != INPUT_STEP) {
            return false;
        }
        step->steps = number == 0 ? 1 : number == 1 ? (step->steps + 1) / 2 : step->steps;
        step->time_step = number == 2 ? 0.0 : step->time_step;
        return memcmp(&before, step, sizeof(before)) != 0;
    }
    number -= EDIT_STEPS;
    const Column *column = &table_columns[number / 2];
    if (column->kind != input->kind || column_of(input, column) == NULL) {
        return false;
    }
    if (number % 2 == 1) {
        return column->type == COLUMN_NUMBER && round_column(input, column, arena);
    }
    if (is_needed(column)) {
        return false;
    }
    column_set(input, column, NULL);
    return true;
}

static bool shrink_deed(History *history, size_t at, Runs *runs, Arena *arena) {
    const size_t edits = EDIT_TRIMS + EDIT_SETTINGS + EDIT_STEPS + 2 * table_column_count;
    bool is_smaller = false;
    for (size_t i = 0; i < edits; i++) {
        Deed before = history->deed[at];
        while (before.kind == DEED_INPUT && edit(&history->deed[at].input, i, arena) &&
               deeds_find(runs)) {
            before = history->deed[at];
            is_smaller = true;
        }
        history->deed[at] = before;
    }
    return is_smaller;
}

bool shrink_history(History *history, const Finding *finding, Arena *arena) {
    Runs runs = {.item = history->deed,
                 .count = history->count,
                 .bytes = sizeof(Deed),
                 .finds = deeds_find,
                 .phase = history->phase,
                 .finding = finding};
    if (!deeds_find(&runs)) {
        return false;
    }
    for (int round = 0; round < 3; round++) {
        leave_out(&runs, arena);
        history->count = runs.count;
        bool is_smaller = false;
        for (size_t i = history->count; i-- > 0;) {
            is_smaller = shrink_deed(history, i, &runs, arena) || is_smaller;
        }
        if (!is_smaller) {
            break;
        }
    }
    history->phase = runs.phase;
    return true;
}

// ---- what was made

static bool read_deeds(const char *text, Arena *arena, History *history) {
    json_t *deeds = json_array();
    for (const char *at = text; *at != '\0';) {
        const char *end = strchr(at, '\n');
        json_array_append_new(deeds, json_loadb(at, (size_t)(end - at), 0, NULL));
        at = end + 1;
    }
    const bool is_read = text_read_history(deeds, arena, history);
    json_decref(deeds);
    return is_read;
}

bool shrink_recipe(const Recipe *recipe, const Finding *finding, Arena *arena, History *history) {
    Runs runs = {.item = recipe->roll,
                 .count = recipe->count,
                 .bytes = sizeof(Roll),
                 .finds = recipe_finds,
                 .recipe = recipe,
                 .phase = recipe->phase,
                 .finding = finding};
    if (!recipe_finds(&runs)) {
        return false;
    }
    leave_out(&runs, arena);
    Recipe shorter = *recipe;
    shorter.count = runs.count;
    shorter.phase = runs.phase;
    trial_play_recipe(&shorter, true);
    if (!read_deeds(trial_report()->text, arena, history)) {
        return false;
    }
    history->phase = shorter.phase;
    return shrink_history(history, finding, arena);
}
