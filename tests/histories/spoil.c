// SPDX-License-Identifier: MIT
// What a client gets wrong: numbers that are none or too large, ids of nothing, one thing twice,
// negative and absurd choices.
#include "histories/make.h"
#include "histories/table.h"

#include <math.h>
#include <string.h>

static double bad_number(Make *make) {
    static const double bad[] = {NAN, HUGE_VAL, -HUGE_VAL, -1.0, 0.0, 1e300, -1e300, 1e10, 1e-300};
    return bad[make_roll(make, sizeof(bad) / sizeof(bad[0]))];
}

static uint64_t bad_id(Make *make) {
    static const uint64_t bad[] = {0, 1, 2, 3, 77, UINT32_MAX, UINT64_MAX};
    return bad[make_roll(make, sizeof(bad) / sizeof(bad[0]))];
}

static uint32_t bad_choice(Make *make) {
    static const uint32_t bad[] = {0, 1, 9, 77, 256, UINT32_MAX};
    return bad[make_roll(make, sizeof(bad) / sizeof(bad[0]))];
}

// Columns that say how long others are: what reads the wire sees to them, not the door.
static bool is_length(const Column *column) {
    return strcmp(column->name, "primitives_of_shape") == 0 ||
           (column->kind == INPUT_JOINTS &&
            (strcmp(column->name, "kind") == 0 || strcmp(column->name, "axes") == 0));
}

static void spoil_column(Make *make, Input *input, const Column *column, const void *values) {
    const size_t item = column_item_bytes(column->type),
                 count = table_count(input, column->of) * column->width;
    char *own = make_column(make, count, item);
    memcpy(own, values, count * item);
    const size_t at = make_roll(make, (uint32_t)count);
    if (column->type == COLUMN_NUMBER) {
        ((double *)(void *)own)[at] = bad_number(make);
    } else if (column->type == COLUMN_U32) {
        ((uint32_t *)(void *)own)[at] = bad_choice(make);
    } else if (column->type == COLUMN_ID) {
        const uint64_t first = ((uint64_t *)(void *)own)[0];
        ((uint64_t *)(void *)own)[at] = count > 1 && make_chance(make, 40) ? first : bad_id(make);
    }
    column_set(input, column, own);
}

static void spoil_settings(Make *make, SettingsChange *change) {
    const uint32_t which = make_roll(make, 6);
    static const uint32_t bits[] = {CHANGE_TIME_STEP, CHANGE_MARGIN,     CHANGE_SLEEP_SPEED,
                                    CHANGE_GRAVITY,   CHANGE_INTEGRATOR, CHANGE_PARAMETERS};
    change->given |= bits[which];
    change->value.time_step = which == 0 ? bad_number(make) : change->value.time_step;
    change->value.margin = which == 1 ? bad_number(make) : change->value.margin;
    change->value.sleep_speed = which == 2 ? bad_number(make) : change->value.sleep_speed;
    change->value.gravity.x = which == 3 ? bad_number(make) : change->value.gravity.x;
    change->value.integrator =
        which == 4 ? settings_choice(bad_choice(make)) : change->value.integrator;
    if (which == 5) {
        change->parameter_solver = (SolverKind)make_roll(make, SOLVER_COUNT);
        change->parameter_given |= 1;
        change->value.parameter[0] = bad_number(make);
    }
}

static bool is_legal_yet_absurd(const Input *input) {
    // a step of 10 s and the like are calm histories' end, not a refusal
    const SettingsChange *change = &input->set.settings;
    return input->kind == INPUT_SET && change->given & CHANGE_TIME_STEP &&
           change->value.time_step > 0.1;
}

void make_spoilt(Make *make, Input *input) {
    if (input->kind == INPUT_SET && make_chance(make, 50)) {
        spoil_settings(make, &input->set.settings);
    }
    const uint32_t first = make_roll(make, (uint32_t)table_column_count);
    for (size_t i = 0; i < table_column_count; i++) {
        const Column *column = &table_columns[(first + i) % table_column_count];
        const void *values = column->kind == input->kind ? column_of(input, column) : NULL;
        if (values != NULL && table_count(input, column->of) > 0 && !is_length(column) &&
            column->type != COLUMN_TEXT) {
            spoil_column(make, input, column, values);
            break;
        }
    }
    if (make->mood != MOOD_WILD && is_legal_yet_absurd(input)) {
        input->set.settings.given &= ~(uint32_t)CHANGE_TIME_STEP;
    }
}
