// SPDX-License-Identifier: MIT
#include "world/settings.h"

#include "base/assert.h"
#include "base/bytes.h"
#include "world/range.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define X_VECTOR(bit, section, upper, name, unit, minimum, maximum, x, y, z, meaning)              \
    {#name,     SETTING_IS_VECTOR, 1u << (bit), section, offsetof(WorldSettings, name),            \
     {x, y, z}, RANGE_##upper,     NULL},
#define X_NUMBER(bit, section, upper, name, unit, minimum, maximum, initial, meaning)              \
    {#name,     SETTING_IS_NUMBER, 1u << (bit), section, offsetof(WorldSettings, name),            \
     {initial}, RANGE_##upper,     NULL},
#define X_CHOICE(bit, section, upper, name, initial, count, choices)                               \
    {#name,                                                                                        \
     SETTING_IS_CHOICE,                                                                            \
     1u << (bit),                                                                                  \
     section,                                                                                      \
     offsetof(WorldSettings, name),                                                                \
     {initial},                                                                                    \
     count,                                                                                        \
     choices},
#define X_FLAG(bit, section, upper, name, initial)                                                 \
    {#name, SETTING_IS_FLAG, 1u << (bit), section, offsetof(WorldSettings, name), {initial}, 0,    \
     NULL},
#define X_COUNT(bit, section, upper, name, minimum, maximum, initial, meaning)                     \
    {#name,     SETTING_IS_COUNT, 1u << (bit), section, offsetof(WorldSettings, name),             \
     {initial}, RANGE_##upper,    NULL},
static const Setting rows[SETTING_COUNT] = {
    SETTING_MAP(X_VECTOR, X_NUMBER, X_CHOICE, X_FLAG, X_COUNT)};

const Setting *setting_get(SettingKind kind) {
    ASSERT((unsigned)kind < SETTING_COUNT);
    return &rows[kind];
}

// ---- one setting

static size_t bytes_of(const Setting *setting) {
    static const size_t bytes[] = {[SETTING_IS_VECTOR] = sizeof(Vec3),
                                   [SETTING_IS_NUMBER] = sizeof(double),
                                   [SETTING_IS_CHOICE] = sizeof(uint8_t),
                                   [SETTING_IS_FLAG] = sizeof(bool),
                                   [SETTING_IS_COUNT] = sizeof(uint32_t)};
    return bytes[setting->type];
}

void setting_copy(WorldSettings *to, const WorldSettings *from, const Setting *setting) {
    memcpy(setting_at(to, setting), setting_of(from, setting), bytes_of(setting));
}

double setting_number(const WorldSettings *settings, const Setting *setting) {
    const void *at = setting_of(settings, setting);
    ASSERT(setting->type != SETTING_IS_VECTOR);
    return setting->type == SETTING_IS_NUMBER   ? *(const double *)at
           : setting->type == SETTING_IS_CHOICE ? *(const uint8_t *)at
           : setting->type == SETTING_IS_COUNT  ? *(const uint32_t *)at
                                                : *(const bool *)at;
}

void setting_set_number(WorldSettings *settings, const Setting *setting, double number) {
    void *at = setting_at(settings, setting);
    switch (setting->type) {
    case SETTING_IS_NUMBER:
        *(double *)at = number;
        break;
    case SETTING_IS_CHOICE:
        *(uint8_t *)at = number >= 0.0 && number < UINT8_MAX ? (uint8_t)number : UINT8_MAX;
        break;
    case SETTING_IS_FLAG:
        *(bool *)at = number != 0.0;
        break;
    case SETTING_IS_COUNT:
        *(uint32_t *)at = number >= 0.0 && number < UINT32_MAX ? (uint32_t)number : UINT32_MAX;
        break;
    case SETTING_IS_VECTOR:
        ASSERT(false);
        break;
    }
}

void setting_reset(WorldSettings *settings, const Setting *setting) {
    if (setting->type == SETTING_IS_VECTOR) {
        *(Vec3 *)setting_at(settings, setting) = vec3_load(setting->initial);
    } else {
        setting_set_number(settings, setting, setting->initial[0]);
    }
}

static bool is_same(const WorldSettings *a, const WorldSettings *b, const Setting *setting) {
    return bytes_are_same(setting_of(a, setting), setting_of(b, setting), bytes_of(setting));
}

bool setting_is_initial(const WorldSettings *settings, const Setting *setting) {
    WorldSettings initial;
    setting_reset(&initial, setting);
    return is_same(settings, &initial, setting);
}

// ---- all of them

WorldSettings settings_default(void) {
    WorldSettings settings = {0};
    for (int i = 0; i < SETTING_COUNT; i++) {
        setting_reset(&settings, &rows[i]);
    }
    return settings;
}

bool settings_are_same(const WorldSettings *a, const WorldSettings *b) {
    bool are_same = a->has_bounds == b->has_bounds && a->solver == b->solver;
    for (int i = 0; are_same && i < SETTING_COUNT; i++) {
        are_same = is_same(a, b, &rows[i]);
    }
    return are_same && bytes_are_same(&a->bounds_lower, &b->bounds_lower, sizeof(Vec3)) &&
           bytes_are_same(&a->bounds_upper, &b->bounds_upper, sizeof(Vec3)) &&
           bytes_are_same(a->parameter, b->parameter, sizeof(a->parameter));
}

static Status check_vector(const Setting *setting, Vec3 value, const char *field, Error *error) {
    for (int axis = 0; axis < 3; axis++) {
        Status status =
            range_check((RangeKind)setting->range, vec3_get(value, axis), field, axis, error);
        if (status != STATUS_OK) {
            return status;
        }
    }
    return STATUS_OK;
}

static Status check_choice(const Setting *setting, uint32_t choice, const char *field,
                           Error *error) {
    return choice < (uint32_t)setting->range
               ? STATUS_OK
               : error_set(error, STATUS_INVALID_ARGUMENT, field,
                           "The value %u is none of the choices: %s.", choice, setting->choices);
}

static Status check_setting(const WorldSettings *settings, const Setting *setting, Error *error) {
    const void *at = setting_of(settings, setting);
    char field[64];
    snprintf(field, sizeof(field), "settings.%s", setting->name);
    switch (setting->type) {
    case SETTING_IS_VECTOR:
        return check_vector(setting, *(const Vec3 *)at, field, error);
    case SETTING_IS_NUMBER:
        return range_check((RangeKind)setting->range, *(const double *)at, field, -1, error);
    case SETTING_IS_CHOICE:
        return check_choice(setting, *(const uint8_t *)at, field, error);
    case SETTING_IS_COUNT:
        return range_check((RangeKind)setting->range, *(const uint32_t *)at, field, -1, error);
    case SETTING_IS_FLAG:
        break;
    }
    return STATUS_OK;
}

static Status check_bounds(const WorldSettings *settings, Error *error) {
    for (int axis = 0; settings->has_bounds && axis < 3; axis++) {
        double lower = vec3_get(settings->bounds_lower, axis),
               upper = vec3_get(settings->bounds_upper, axis);
        Status status = range_check(RANGE_BOUNDS, lower, "settings.bounds.lower", axis, error);
        status = STATUS_THEN(
            status, range_check(RANGE_BOUNDS, upper, "settings.bounds.upper", axis, error));
        if (status != STATUS_OK) {
            return status;
        }
        if (lower >= upper) {
            char field[64];
            snprintf(field, sizeof(field), "settings.bounds.upper[%d]", axis);
            return error_set(error, STATUS_INVALID_ARGUMENT, field,
                             "The upper bound %.17g is not above the lower one, %.17g: no body "
                             "could be inside.",
                             upper, lower);
        }
    }
    return STATUS_OK;
}

Status settings_check(const WorldSettings *settings, Error *error) {
    for (int i = 0; i < SETTING_COUNT; i++) {
        Status status = check_setting(settings, &rows[i], error);
        if (status != STATUS_OK) {
            return status;
        }
    }
    return check_bounds(settings, error);
}
