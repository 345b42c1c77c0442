// SPDX-License-Identifier: MIT
#include "histories/text.h"

#include "base/assert.h"
#include "base/hex.h"
#include "histories/table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const input_names[] = {
    [INPUT_SET] = "set",       [INPUT_MATERIALS] = "materials",
    [INPUT_SHAPES] = "shapes", [INPUT_BODIES] = "bodies",
    [INPUT_STEP] = "step",     [INPUT_JOINTS] = "joints",
    [INPUT_REMOVE] = "remove", [INPUT_GEOMETRIES] = "geometries",
};
enum { INPUT_NAMES = sizeof(input_names) / sizeof(input_names[0]) };

static const char *const deed_names[DEED_KIND_COUNT] = {
    [DEED_TAKE] = "take",   [DEED_RESTORE] = "restore", [DEED_CLONE] = "clone",
    [DEED_SCENE] = "scene", [DEED_GROUP] = "group",     [DEED_UNITS] = "units",
    [DEED_TURN] = "turn",   [DEED_MEMORY] = "memory",
};

// Where no column says how many there are.
static const char *const count_names[OF_COUNT] = {
    [OF_SHAPES] = "shape_count",
    [OF_AXES] = "axis_count",
    [OF_POSITIONS] = "position_count",
    [OF_SET_AXES] = "joints.axis_count",
    [OF_SET_JOINTS] = "joints.count",
    [OF_SET_POSITIONS] = "joints.position_count",
    [OF_SET_MATERIALS] = "materials.count",
};

// ---- numbers

static json_t *number_text(double value) {
    if (isnan(value)) {
        return json_string("nan");
    }
    return isinf(value) ? json_string(value > 0.0 ? "inf" : "-inf") : json_real(value);
}

static double read_number(const json_t *text) {
    return json_is_string(text) ? strtod(json_string_value(text), NULL) : json_number_value(text);
}

static json_t *item_text(const void *values, size_t i, ColumnType type) {
    switch (type) {
    case COLUMN_U32:
        return json_integer(((const uint32_t *)values)[i]);
    case COLUMN_ID:
        return json_integer((json_int_t)((const uint64_t *)values)[i]);
    case COLUMN_NUMBER:
        return number_text(((const double *)values)[i]);
    case COLUMN_TEXT:
        break;
    }
    const char *name = ((const char *const *)values)[i];
    return name == NULL ? json_null() : json_string(name);
}

static const char *read_text(const json_t *text, Arena *arena) {
    const char *found = json_string_value(text);
    const size_t count = found == NULL ? 0 : strlen(found) + 1;
    char *copy = found == NULL ? NULL : arena_take(arena, count);
    return copy == NULL ? NULL : memcpy(copy, found, count);
}

static void read_item(const json_t *text, Arena *arena, void *values, size_t i, ColumnType type) {
    switch (type) {
    case COLUMN_U32:
        ((uint32_t *)values)[i] = (uint32_t)json_integer_value(text);
        break;
    case COLUMN_ID:
        ((uint64_t *)values)[i] = (uint64_t)json_integer_value(text);
        break;
    case COLUMN_NUMBER:
        ((double *)values)[i] = read_number(text);
        break;
    case COLUMN_TEXT:
        ((const char **)values)[i] = read_text(text, arena);
        break;
    }
}

static json_t *numbers_text(const double *values, size_t count) {
    json_t *text = json_array();
    for (size_t i = 0; i < count; i++) {
        json_array_append_new(text, number_text(values[i]));
    }
    return text;
}

// ---- columns

static void put_columns(const Input *input, json_t *text) {
    bool is_said[OF_COUNT] = {false};
    for (size_t c = 0; c < table_column_count; c++) {
        const Column *column = &table_columns[c];
        const void *values = column->kind == input->kind ? column_of(input, column) : NULL;
        const size_t count = values == NULL ? 0 : table_count(input, column->of);
        if (count == 0) {
            continue;
        }
        is_said[column->of] = true;
        json_t *items = json_array();
        for (size_t i = 0; i < count * column->width; i++) {
            json_array_append_new(items, item_text(values, i, column->type));
        }
        json_object_set_new(text, column->name, items);
    }
    for (size_t c = 0; c < table_column_count; c++) {
        const Column *column = &table_columns[c];
        if (column->kind == input->kind && !is_said[column->of] &&
            count_names[column->of] != NULL && table_count(input, column->of) > 0) {
            json_object_set_new(text, count_names[column->of],
                                json_integer((json_int_t)table_count(input, column->of)));
        }
    }
}

static bool read_column(const json_t *items, const Column *column, Arena *arena, Input *input) {
    const size_t size = json_array_size(items), count = size / column->width;
    if (!json_is_array(items) || count * column->width != size) {
        return false;
    }
    const size_t known = table_count(input, column->of);
    void *values = arena_take_zeroed(arena, size, column_item_bytes(column->type));
    if (values == NULL || (known != 0 && known != count)) {
        return false; // columns of one thing have one length
    }
    for (size_t i = 0; i < size; i++) {
        read_item(json_array_get(items, i), arena, values, i, column->type);
    }
    table_set_count(input, column->of, count);
    column_set(input, column, values);
    return true;
}

static bool read_columns(const json_t *text, Arena *arena, Input *input) {
    for (size_t c = 0; c < table_column_count; c++) {
        const Column *column = &table_columns[c];
        const json_t *items =
            column->kind == input->kind ? json_object_get(text, column->name) : NULL;
        if (items != NULL && !read_column(items, column, arena, input)) {
            return false;
        }
        const char *count_name = column->kind == input->kind ? count_names[column->of] : NULL;
        const json_t *count = count_name == NULL ? NULL : json_object_get(text, count_name);
        if (count != NULL) {
            table_set_count(input, column->of, (size_t)json_integer_value(count));
        }
    }
    return true;
}

// What the wire sees to: that no column that must be there is missing.
static bool is_whole(const Input *input) {
    switch (input->kind) {
    case INPUT_SHAPES:
        return input->shapes.kind != NULL && input->shapes.size != NULL;
    case INPUT_BODIES:
        return input->bodies.pose != NULL;
    case INPUT_JOINTS:
        return input->joints.kind != NULL;
    case INPUT_STEP:
        return (input->step.wrench_body == NULL) == (input->step.wrench == NULL);
    case INPUT_SET:
        return (input->set.update.count == 0 || input->set.update.id != NULL) &&
               (input->set.joints.count == 0 || input->set.joints.id != NULL) &&
               (input->set.materials.count == 0 || input->set.materials.id != NULL) &&
               (input->set.shapes.id == NULL) == (input->set.shapes.material == NULL) &&
               (input->set.pairs.count == 0 ||
                (input->set.pairs.a != NULL && input->set.pairs.b != NULL &&
                 input->set.pairs.friction != NULL));
    case INPUT_MATERIALS:
    case INPUT_REMOVE:
    case INPUT_RESTORE:
    case INPUT_NAMED_GEOMETRIES:
    case INPUT_GEOMETRIES:
        break;
    }
    return true;
}

// ---- settings

// What belongs to settings and is no row of theirs.
static const Setting others[] = {
    {.name = "has_bounds",
     .type = SETTING_IS_FLAG,
     .bit = CHANGE_BOUNDS,
     .offset = offsetof(WorldSettings, has_bounds)},
    {.name = "bounds_lower",
     .type = SETTING_IS_VECTOR,
     .bit = CHANGE_BOUNDS,
     .offset = offsetof(WorldSettings, bounds_lower)},
    {.name = "bounds_upper",
     .type = SETTING_IS_VECTOR,
     .bit = CHANGE_BOUNDS,
     .offset = offsetof(WorldSettings, bounds_upper)},
};
enum { SETTING_ROWS = SETTING_COUNT + (int)(sizeof(others) / sizeof(others[0])) };

static const Setting *setting_row(int i) {
    return i < SETTING_COUNT ? setting_get((SettingKind)i) : &others[i - SETTING_COUNT];
}

static json_t *setting_text(const WorldSettings *settings, const Setting *row) {
    switch (row->type) {
    case SETTING_IS_VECTOR:
        return numbers_text(setting_of(settings, row), 3);
    case SETTING_IS_NUMBER:
        return number_text(setting_number(settings, row));
    case SETTING_IS_CHOICE:
    case SETTING_IS_COUNT:
        return json_integer((json_int_t)setting_number(settings, row));
    case SETTING_IS_FLAG:
        break;
    }
    return json_boolean(setting_number(settings, row) != 0.0);
}

static void read_setting(const json_t *text, WorldSettings *settings, const Setting *row) {
    if (row->type == SETTING_IS_VECTOR) {
        *(Vec3 *)setting_at(settings, row) =
            vec3(read_number(json_array_get(text, 0)), read_number(json_array_get(text, 1)),
                 read_number(json_array_get(text, 2)));
    } else {
        setting_set_number(settings, row,
                           json_is_boolean(text) ? json_is_true(text) : read_number(text));
    }
}

static void put_settings(const SettingsChange *change, json_t *text) {
    for (int i = 0; i < SETTING_ROWS; i++) {
        const Setting *row = setting_row(i);
        if (change->given & row->bit) {
            json_object_set_new(text, row->name, setting_text(&change->value, row));
        }
    }
    if (change->given & CHANGE_SOLVER) {
        json_object_set_new(text, "solver", json_integer(change->value.solver));
    }
    if ((change->given & CHANGE_PARAMETERS) == 0) {
        return;
    }
    const Solver *solver = solver_get(change->parameter_solver);
    json_t *parameters = json_object();
    for (uint32_t i = 0; i < solver->parameter_count; i++) {
        if (change->parameter_given >> i & 1) {
            json_object_set_new(parameters, solver->parameters[i].name,
                                number_text(change->value.parameter[i]));
        }
    }
    json_object_set_new(text, solver->name, parameters);
}

static void read_parameters(const json_t *text, SettingsChange *change) {
    for (uint32_t kind = 0; kind < SOLVER_COUNT; kind++) {
        const Solver *solver = solver_get((SolverKind)kind);
        const json_t *given = json_object_get(text, solver->name);
        for (uint32_t i = 0; given != NULL && i < solver->parameter_count; i++) {
            const json_t *value = json_object_get(given, solver->parameters[i].name);
            if (value != NULL) {
                change->given |= CHANGE_PARAMETERS;
                change->parameter_solver = (SolverKind)kind;
                change->parameter_given |= 1u << i;
                change->value.parameter[i] = read_number(value);
            }
        }
    }
}

static void read_settings(const json_t *text, SettingsChange *change) {
    for (int i = 0; i < SETTING_ROWS; i++) {
        const Setting *row = setting_row(i);
        const json_t *value = json_object_get(text, row->name);
        if (value != NULL) {
            change->given |= row->bit;
            read_setting(value, &change->value, row);
        }
    }
    const json_t *solver = json_object_get(text, "solver");
    if (solver != NULL) {
        change->given |= CHANGE_SOLVER;
        change->value.solver = (uint32_t)json_integer_value(solver);
    }
    read_parameters(text, change);
}

// ---- materials

static json_t *materials_text(const MaterialList *list) {
    json_t *text = json_array();
    for (size_t i = 0; i < list->count; i++) {
        const Material *m = &list->material[i];
        json_t *one =
            numbers_text((const double[]){m->friction, m->restitution, m->stiffness,
                                          m->dissipation_time, m->damping, m->hertz_exponent},
                         6);
        json_array_append_new(one, json_string(m->name));
        json_array_append_new(one, json_real(m->priority));
        json_array_append_new(text, one);
    }
    return text;
}

static bool read_materials(const json_t *text, Arena *arena, MaterialList *list) {
    list->count = json_array_size(text);
    Material *made = arena_take_zeroed(arena, list->count, sizeof(*made));
    for (size_t i = 0; made != NULL && i < list->count; i++) {
        const json_t *one = json_array_get(text, i);
        Material *m = &made[i];
        double *const numbers[6] = {&m->friction,         &m->restitution, &m->stiffness,
                                    &m->dissipation_time, &m->damping,     &m->hertz_exponent};
        for (size_t k = 0; k < 6; k++) {
            *numbers[k] = read_number(json_array_get(one, k));
        }
        const char *name = json_string_value(json_array_get(one, 6));
        m->priority = json_number_value(json_array_get(one, 7)); // none in older ones: 0
        strncpy(m->name, name == NULL ? "" : name, sizeof(m->name) - 1);
    }
    list->material = made;
    return made != NULL;
}

// ---- geometries: their bytes, as hexadecimal

static json_t *geometries_text(const GeometryList *list) {
    json_t *text = json_array();
    for (size_t i = 0; i < list->count; i++) {
        char *digits = malloc(2 * list->byte_count[i] + 1);
        ASSERT(digits != NULL);
        hex_text(list->bytes[i], list->byte_count[i], digits);
        json_array_append_new(text, json_string(digits));
        free(digits);
    }
    return text;
}

static bool read_geometries(const json_t *text, Arena *arena, GeometryList *list) {
    const size_t count = json_array_size(text);
    const uint8_t **bytes = arena_take_zeroed(arena, count + 1, sizeof(*bytes));
    size_t *byte_count = arena_take_zeroed(arena, count + 1, sizeof(*byte_count));
    bool is_read = bytes != NULL && byte_count != NULL;
    for (size_t i = 0; is_read && i < count; i++) {
        const char *digits = json_string_value(json_array_get(text, i));
        byte_count[i] = digits == NULL ? 0 : strlen(digits) / 2 & ~(size_t)7;
        uint8_t *read = arena_take_zeroed(arena, byte_count[i] + 8, 1);
        bytes[i] = read;
        is_read = digits != NULL && read != NULL && hex_read(digits, byte_count[i], read);
    }
    *list = (GeometryList){.count = count, .bytes = bytes, .byte_count = byte_count};
    return is_read;
}

// ---- deeds

static json_t *input_text(const Input *input) {
    if (input->kind == INPUT_MATERIALS) {
        return materials_text(&input->materials);
    }
    if (input->kind == INPUT_GEOMETRIES) {
        return geometries_text(&input->geometries);
    }
    json_t *text = json_object();
    if (input->kind == INPUT_SET) {
        put_settings(&input->set.settings, text);
    } else if (input->kind == INPUT_STEP) {
        json_object_set_new(text, "steps", json_integer((json_int_t)input->step.steps));
        if (input->step.time_step != 0.0) {
            json_object_set_new(text, "time_step", number_text(input->step.time_step));
        }
    }
    put_columns(input, text);
    return text;
}

json_t *text_of_deed(const Deed *deed) {
    json_t *text = json_object();
    if (deed->kind == DEED_INPUT) {
        json_object_set_new(text, input_names[deed->input.kind], input_text(&deed->input));
    } else {
        json_object_set_new(text, deed_names[deed->kind], json_integer(deed->slot));
    }
    return text;
}

static bool read_input(const json_t *text, InputKind kind, Arena *arena, Input *input) {
    *input = (Input){.kind = kind};
    if (kind == INPUT_MATERIALS) {
        return read_materials(text, arena, &input->materials);
    }
    if (kind == INPUT_GEOMETRIES) {
        return read_geometries(text, arena, &input->geometries);
    }
    if (kind == INPUT_SET) {
        read_settings(text, &input->set.settings);
    } else if (kind == INPUT_STEP) {
        input->step.steps = (uint64_t)json_integer_value(json_object_get(text, "steps"));
        input->step.time_step = read_number(json_object_get(text, "time_step"));
    }
    return read_columns(text, arena, input) && is_whole(input);
}

bool text_read_deed(const json_t *text, Arena *arena, Deed *deed) {
    *deed = (Deed){0};
    for (size_t kind = 0; kind < INPUT_NAMES; kind++) {
        const json_t *found =
            input_names[kind] == NULL ? NULL : json_object_get(text, input_names[kind]);
        if (found != NULL) {
            return read_input(found, (InputKind)kind, arena, &deed->input);
        }
    }
    for (uint32_t kind = 0; kind < DEED_KIND_COUNT; kind++) {
        const json_t *slot =
            deed_names[kind] == NULL ? NULL : json_object_get(text, deed_names[kind]);
        if (slot != NULL) {
            deed->kind = (DeedKind)kind;
            deed->slot = (uint32_t)json_integer_value(slot);
            deed->slot %= kind == DEED_GROUP   ? UINT32_MAX
                          : kind >= DEED_UNITS ? HISTORY_SEEDS
                                               : HISTORY_SLOTS;
            return true;
        }
    }
    return false;
}

json_t *text_of_history(const History *history) {
    json_t *text = json_array();
    for (size_t i = 0; i < history->count; i++) {
        json_array_append_new(text, text_of_deed(&history->deed[i]));
    }
    return text;
}

bool text_read_history(const json_t *text, Arena *arena, History *history) {
    *history = (History){.count = json_array_size(text)};
    history->deed = arena_take_zeroed(arena, history->count, sizeof(Deed));
    for (size_t i = 0; history->deed != NULL && i < history->count; i++) {
        if (!text_read_deed(json_array_get(text, i), arena, &history->deed[i])) {
            return false;
        }
    }
    return history->deed != NULL;
}
