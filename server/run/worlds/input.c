// SPDX-License-Identifier: MIT
#include "run/worlds/input.h"

#include "base/assert.h"
#include "base/bytes.h"

#include <string.h>

// Version 3 has Hertz exponents, foundations and collision groups, version 4 masses, materials and
// what joints are like in INPUT_SET, version 5 actuators of joints, version 6 priorities and pairs
// of materials, and tendons; what has none is written as before.
enum {
    INPUT_VERSION = 2,
    INPUT_VERSION_SHAPES = 3,
    INPUT_VERSION_NUMBERS = 4,
    INPUT_VERSION_ACTUATORS = 5,
    INPUT_VERSION_NEWEST = 6,
    INPUT_HEAD_BYTES = 16
};

// ---- optional columns

static void sink_column(Sink *sink, const double *values, size_t count) {
    sink_u64(sink, values != NULL);
    if (values != NULL) {
        sink_doubles(sink, values, count);
    }
}

static void sink_column_u32(Sink *sink, const uint32_t *values, size_t count) {
    sink_u64(sink, values != NULL);
    if (values != NULL) {
        sink_u32s(sink, values, count);
        sink_pad(sink);
    }
}

static void sink_column_u64(Sink *sink, const uint64_t *values, size_t count) {
    sink_u64(sink, values != NULL);
    if (values != NULL) {
        sink_u64s(sink, values, count);
    }
}

// Memory for a column, or NULL when it is absent, does not fit into the bytes, or the arena ends
// (the source has failed then).
static void *open_column(Source *source, Arena *arena, size_t count, size_t item_bytes) {
    uint64_t present = source_u64(source);
    if (present == 0 || source->failed) {
        return NULL;
    }
    void *values = NULL;
    if (present == 1 && count <= (source->count - source->used) / item_bytes) {
        values = arena_take_array(arena, count, item_bytes);
    }
    source->failed = source->failed || values == NULL;
    return values;
}

static const double *source_column(Source *source, Arena *arena, size_t count) {
    double *values = open_column(source, arena, count, sizeof(double));
    if (values != NULL) {
        source_doubles(source, values, count);
    }
    return values;
}

static const uint32_t *source_column_u32(Source *source, Arena *arena, size_t count) {
    uint32_t *values = open_column(source, arena, count, sizeof(uint32_t));
    if (values != NULL) {
        source_u32s(source, values, count);
        source_pad(source);
    }
    return values;
}

static const uint64_t *source_column_u64(Source *source, Arena *arena, size_t count) {
    uint64_t *values = open_column(source, arena, count, sizeof(uint64_t));
    if (values != NULL) {
        source_u64s(source, values, count);
    }
    return values;
}

// ---- one pair of functions per kind

// What recordings hold of settings from before they were rows; each later one stands behind, where
// it is given.
enum { EARLY_NUMBERS = 7 };

static void write_later(Sink *sink, const WorldSettings *value, const Setting *setting) {
    if (setting->type == SETTING_IS_VECTOR || setting->type == SETTING_IS_NUMBER) {
        sink_doubles(sink, setting_of(value, setting), setting->type == SETTING_IS_VECTOR ? 3 : 1);
    } else {
        sink_u64(sink, (uint64_t)setting_number(value, setting));
    }
}

static void read_later(Source *source, WorldSettings *value, const Setting *setting) {
    if (setting->type == SETTING_IS_VECTOR || setting->type == SETTING_IS_NUMBER) {
        source_doubles(source, setting_at(value, setting),
                       setting->type == SETTING_IS_VECTOR ? 3 : 1);
        return;
    }
    const uint64_t whole = source_u64(source);
    setting_set_number(value, setting, (double)whole);
    source->failed = source->failed || whole > (setting->type == SETTING_IS_FLAG    ? 1
                                                : setting->type == SETTING_IS_COUNT ? UINT32_MAX
                                                                                    : UINT8_MAX);
}

#define X(bit, section, upper, ...) SETTING_##upper,
static const SettingKind later[] = {SETTING_LATER_MAP(X, X, X, X, X)};
#undef X
enum { LATER_COUNT = sizeof(later) / sizeof(later[0]) };

static void write_settings(Sink *sink, const SettingsChange *change) {
    const WorldSettings *value = &change->value;
    sink_u32(sink, change->given);
    sink_u32(sink, change->parameter_given);
    sink_u32(sink, value->integrator);
    sink_u32(sink, value->rotation);
    double numbers[] = {value->gravity.x,     value->gravity.y, value->gravity.z,
                        value->time_step,     value->margin,    value->restitution_threshold,
                        value->recovery_speed};
    sink_doubles(sink, numbers, EARLY_NUMBERS);
    sink_text(sink, solver_get((SolverKind)value->solver)->name);
    sink_text(sink, solver_get(change->parameter_solver)->name);
    sink_pad(sink);
    sink_doubles(sink, value->parameter, SOLVER_PARAMETER_MAX);
    sink_u64(sink, value->contact_plane);
    if (change->given & CHANGE_BOUNDS) { // recordings from before there were any have none
        double corners[6];
        vec3_store(corners, value->bounds_lower);
        vec3_store(corners + 3, value->bounds_upper);
        sink_u64(sink, value->has_bounds);
        sink_doubles(sink, corners, value->has_bounds ? 6 : 0);
    }
    if (change->given & (CHANGE_SLEEP_SPEED | CHANGE_SLEEP_TIME)) { // likewise
        const double sleep[2] = {value->sleep_speed, value->sleep_time};
        sink_doubles(sink, sleep, 2);
    }
    for (size_t i = 0; i < LATER_COUNT; i++) {
        if (change->given & setting_get(later[i])->bit) {
            write_later(sink, value, setting_get(later[i]));
        }
    }
}

static void read_bounds(Source *source, WorldSettings *value) {
    double corners[6] = {0.0};
    uint64_t has_bounds = source_u64(source);
    value->has_bounds = has_bounds == 1;
    source_doubles(source, corners, value->has_bounds ? 6 : 0);
    value->bounds_lower = vec3_load(corners);
    value->bounds_upper = vec3_load(corners + 3);
    source->failed = source->failed || has_bounds > 1;
}

static void read_early(Source *source, WorldSettings *value) {
    double numbers[EARLY_NUMBERS];
    source_doubles(source, numbers, EARLY_NUMBERS);
    value->gravity = vec3_load(numbers);
    value->time_step = numbers[3];
    value->margin = numbers[4];
    value->restitution_threshold = numbers[5];
    value->recovery_speed = numbers[6];
}

static SolverKind read_solver(Source *source) {
    SolverKind kind = (SolverKind)0;
    char name[64];
    if (!source_text(source, name, sizeof(name)) || !solver_find(name, &kind)) {
        source->failed = true;
    }
    return kind;
}

static void read_settings(Source *source, SettingsChange *change) {
    WorldSettings *value = &change->value;
    change->given = source_u32(source);
    change->parameter_given = source_u32(source);
    value->integrator = settings_choice(source_u32(source));
    value->rotation = settings_choice(source_u32(source));
    read_early(source, value);
    value->solver = read_solver(source);
    change->parameter_solver = read_solver(source);
    source_pad(source);
    source_doubles(source, value->parameter, SOLVER_PARAMETER_MAX);
    uint64_t contact_plane = source_u64(source);
    value->contact_plane = (uint8_t)contact_plane;
    source->failed = source->failed || contact_plane >= CONTACT_PLANE_COUNT;
    if (change->given & CHANGE_BOUNDS) {
        read_bounds(source, value);
    }
    if (change->given & (CHANGE_SLEEP_SPEED | CHANGE_SLEEP_TIME)) {
        double sleep[2];
        source_doubles(source, sleep, 2);
        value->sleep_speed = sleep[0];
        value->sleep_time = sleep[1];
    }
    for (size_t i = 0; i < LATER_COUNT; i++) {
        if (change->given & setting_get(later[i])->bit) {
            read_later(source, value, setting_get(later[i]));
        }
    }
}

static void write_joint_update(Sink *sink, const JointUpdate *update) {
    sink_u64(sink, update->count);
    sink_u64(sink, update->axis_count);
    sink_u64(sink, update->position_count);
    sink_column_u64(sink, update->id, update->count);
    sink_column(sink, update->position, update->position_count);
    sink_column(sink, update->velocity, update->axis_count);
    sink_column(sink, update->target, update->axis_count);
    sink_column(sink, update->target_velocity, update->axis_count);
    sink_column(sink, update->effort, update->axis_count);
}

// The length of columns that may be absent: what is there is bounded by the bytes, column by
// column.
static size_t read_length(Source *source, size_t most) {
    uint64_t length = source_u64(source);
    source->failed = source->failed || length > most;
    return source->failed ? 0 : (size_t)length;
}

static void read_joint_update(Source *source, Arena *arena, JointUpdate *update) {
    update->count = source_count(source, sizeof(uint64_t));
    update->axis_count = read_length(source, JOINT_AXES_MAX * update->count);
    update->position_count = read_length(source, JOINT_POSITION_MAX * update->count);
    update->id = source_column_u64(source, arena, update->count);
    update->position = source_column(source, arena, update->position_count);
    update->velocity = source_column(source, arena, update->axis_count);
    update->target = source_column(source, arena, update->axis_count);
    update->target_velocity = source_column(source, arena, update->axis_count);
    update->effort = source_column(source, arena, update->axis_count);
    source->failed = source->failed || (update->count > 0 && update->id == NULL);
}

// Numbers of joints that stand with the others; those of actuators, behind all else.
enum { JOINT_NUMBERS_EARLY = JOINT_EFFORT_MAX + 1 };

static bool sets_actuators(const SetOrder *set) {
    bool has_any = false;
    for (int i = JOINT_NUMBERS_EARLY; i < JOINT_NUMBER_COUNT; i++) {
        has_any = has_any || set->joints.number[i] != NULL;
    }
    return has_any;
}

// What a body, a joint, a material and a shape are like.
static bool has_numbers(const SetOrder *set) {
    bool has_any = set->update.mass != NULL || set->update.inertia != NULL ||
                   set->materials.count > 0 || set->shapes.count > 0 || set->pairs.count > 0;
    for (int i = 0; i < JOINT_NUMBER_COUNT; i++) {
        has_any = has_any || set->joints.number[i] != NULL;
    }
    return has_any;
}

static void write_pairs(Sink *sink, const PairUpdate *pairs) {
    sink_u64(sink, pairs->count);
    sink_column_u64(sink, pairs->a, pairs->count);
    sink_column_u64(sink, pairs->b, pairs->count);
    sink_column(sink, pairs->friction, pairs->count);
}

static void read_pairs(Source *source, Arena *arena, PairUpdate *pairs) {
    pairs->count = source_count(source, sizeof(uint64_t));
    pairs->a = source_column_u64(source, arena, pairs->count);
    pairs->b = source_column_u64(source, arena, pairs->count);
    pairs->friction = source_column(source, arena, pairs->count);
    source->failed = source->failed || pairs->count == 0 || pairs->a == NULL || pairs->b == NULL ||
                     pairs->friction == NULL;
}

static void write_numbers(Sink *sink, const SetOrder *set) {
    const MaterialUpdate *materials = &set->materials;
    sink_column(sink, set->update.mass, set->update.count);
    sink_column(sink, set->update.inertia, 6 * set->update.count);
    for (int i = 0; i < JOINT_NUMBERS_EARLY; i++) {
        sink_column(sink, set->joints.number[i], set->joints.axis_count);
    }
    sink_u64(sink, materials->count);
    sink_column_u64(sink, materials->id, materials->count);
    sink_column(sink, materials->friction, materials->count);
    sink_column(sink, materials->restitution, materials->count);
    sink_column(sink, materials->stiffness, materials->count);
    sink_column(sink, materials->dissipation_time, materials->count);
    sink_column(sink, materials->damping, materials->count);
    sink_column(sink, materials->hertz_exponent, materials->count);
    sink_u64(sink, set->shapes.count);
    sink_u64(sink, set->shapes.primitive_count);
    sink_column_u64(sink, set->shapes.id, set->shapes.count);
    sink_column_u64(sink, set->shapes.material, set->shapes.primitive_count);
    const bool has_pairs = set->pairs.count > 0, has_more = has_pairs || sets_actuators(set);
    for (int i = JOINT_NUMBERS_EARLY; i < JOINT_NUMBER_COUNT && has_more; i++) {
        sink_column(sink, set->joints.number[i], set->joints.axis_count);
    }
    if (has_pairs) {
        write_pairs(sink, &set->pairs);
    }
}

static void read_numbers(Source *source, Arena *arena, SetOrder *set) {
    MaterialUpdate *materials = &set->materials;
    ShapeUpdate *shapes = &set->shapes;
    set->update.mass = source_column(source, arena, set->update.count);
    set->update.inertia = source_column(source, arena, 6 * set->update.count);
    for (int i = 0; i < JOINT_NUMBERS_EARLY; i++) {
        set->joints.number[i] = source_column(source, arena, set->joints.axis_count);
    }
    materials->count = source_count(source, sizeof(uint64_t));
    materials->id = source_column_u64(source, arena, materials->count);
    materials->friction = source_column(source, arena, materials->count);
    materials->restitution = source_column(source, arena, materials->count);
    materials->stiffness = source_column(source, arena, materials->count);
    materials->dissipation_time = source_column(source, arena, materials->count);
    materials->damping = source_column(source, arena, materials->count);
    materials->hertz_exponent = source_column(source, arena, materials->count);
    shapes->count = source_count(source, sizeof(uint64_t));
    shapes->primitive_count = source_count(source, sizeof(uint64_t));
    shapes->id = source_column_u64(source, arena, shapes->count);
    shapes->material = source_column_u64(source, arena, shapes->primitive_count);
    const bool has_more = !source->failed && source->used < source->count;
    for (int i = JOINT_NUMBERS_EARLY; i < JOINT_NUMBER_COUNT && has_more; i++) {
        set->joints.number[i] = source_column(source, arena, set->joints.axis_count);
    }
    const bool has_pairs = !source->failed && source->used < source->count;
    if (has_pairs) {
        read_pairs(source, arena, &set->pairs);
    }
    source->failed = source->failed || (has_more && !has_pairs && !sets_actuators(set)) ||
                     (materials->count > 0 && materials->id == NULL) ||
                     (shapes->count > 0 && shapes->id == NULL) ||
                     (shapes->primitive_count > 0 && shapes->material == NULL) || !has_numbers(set);
}

static void write_set(Sink *sink, const Input *input) {
    const BodyUpdate *update = &input->set.update;
    const bool has_more = has_numbers(&input->set);
    sink_u64(sink, input->set.settings.given != 0);
    if (input->set.settings.given != 0) {
        write_settings(sink, &input->set.settings);
    }
    sink_u64(sink, update->count);
    sink_column_u64(sink, update->id, update->count);
    sink_column(sink, update->pose, 7 * update->count);
    sink_column(sink, update->velocity, 6 * update->count);
    if (input->set.joints.count > 0 ||
        has_more) { // recordings from before there were any have none
        write_joint_update(sink, &input->set.joints);
    }
    if (has_more) { // likewise
        write_numbers(sink, &input->set);
    }
}

static void read_set(Source *source, Arena *arena, Input *input) {
    BodyUpdate *update = &input->set.update;
    if (source_u64(source) != 0) {
        read_settings(source, &input->set.settings);
    }
    update->count = source_count(source, sizeof(uint64_t));
    update->id = source_column_u64(source, arena, update->count);
    update->pose = source_column(source, arena, 7 * update->count);
    update->velocity = source_column(source, arena, 6 * update->count);
    source->failed = source->failed || (update->count > 0 && update->id == NULL);
    if (!source->failed && source->used < source->count) {
        read_joint_update(source, arena, &input->set.joints);
        const bool has_more = !source->failed && source->used < source->count;
        source->failed = source->failed || (!has_more && input->set.joints.count == 0);
        if (has_more) {
            read_numbers(source, arena, &input->set);
        }
    }
}

static bool has_priorities(const Input *input) {
    for (size_t i = 0; i < input->materials.count; i++) {
        if (input->materials.material[i].priority != 0.0) {
            return true;
        }
    }
    return false;
}

static bool has_exponents(const Input *input) {
    for (size_t i = 0; i < input->materials.count; i++) {
        if (input->materials.material[i].hertz_exponent != 1.0) {
            return true;
        }
    }
    return false;
}

static void write_materials(Sink *sink, const Input *input) {
    sink_u64(sink, input->materials.count);
    for (size_t i = 0; i < input->materials.count; i++) {
        const Material *material = &input->materials.material[i];
        double numbers[5] = {material->friction, material->restitution, material->stiffness,
                             material->dissipation_time, material->damping};
        sink_doubles(sink, numbers, 5);
        sink_text(sink, material->name);
        sink_pad(sink);
    }
    const bool has_more = has_exponents(input) || has_priorities(input);
    for (size_t i = 0; has_more && i < input->materials.count; i++) {
        sink_doubles(sink, &input->materials.material[i].hertz_exponent, 1);
    }
    for (size_t i = 0; has_priorities(input) && i < input->materials.count; i++) {
        sink_doubles(sink, &input->materials.material[i].priority, 1);
    }
}

static void read_materials(Source *source, Arena *arena, Input *input) {
    size_t count = source_count(source, 48);
    Material *materials = arena_take_zeroed(arena, count, sizeof(Material));
    source->failed = source->failed || materials == NULL;
    for (size_t i = 0; i < count && !source->failed; i++) {
        double numbers[5];
        source_doubles(source, numbers, 5);
        materials[i].friction = numbers[0];
        materials[i].restitution = numbers[1];
        materials[i].stiffness = numbers[2];
        materials[i].dissipation_time = numbers[3];
        materials[i].damping = numbers[4];
        materials[i].hertz_exponent = 1.0;
        source_text(source, materials[i].name, sizeof(materials[i].name));
        source_pad(source);
    }
    bool is_more = !source->failed && source->used < source->count;
    for (size_t i = 0; is_more && i < count; i++) {
        source_doubles(source, &materials[i].hertz_exponent, 1);
    }
    is_more = !source->failed && source->used < source->count;
    for (size_t i = 0; is_more && i < count; i++) {
        source_doubles(source, &materials[i].priority, 1);
    }
    input->materials = (MaterialList){.count = count, .material = materials};
}

enum { PATCHES = MESH_PATCHES_MAX - 1 }; // that have materials of their own

static bool has_extras(const ShapeColumns *shapes) {
    return shapes->foundation_face != NULL || shapes->group != NULL || shapes->mask != NULL ||
           shapes->geometry != NULL || shapes->patch_material != NULL;
}

static void write_shapes(Sink *sink, const Input *input) {
    const ShapeColumns *shapes = &input->shapes;
    sink_u64(sink, shapes->shape_count);
    sink_u64(sink, shapes->primitive_count);
    sink_column_u32(sink, shapes->primitives_of_shape, shapes->shape_count);
    sink_column_u32(sink, shapes->kind, shapes->primitive_count);
    sink_column(sink, shapes->size, 3 * shapes->primitive_count);
    sink_column(sink, shapes->pose, 7 * shapes->primitive_count);
    sink_column_u64(sink, shapes->material, shapes->primitive_count);
    sink_column(sink, shapes->density, shapes->primitive_count);
    if (has_extras(shapes)) {
        sink_column_u32(sink, shapes->foundation_face, shapes->primitive_count);
        sink_column_u32(sink, shapes->foundation_cells, 2 * shapes->primitive_count);
        sink_column(sink, shapes->foundation_modulus, shapes->primitive_count);
        sink_column(sink, shapes->foundation_depth, shapes->primitive_count);
        sink_column(sink, shapes->foundation_damping, shapes->primitive_count);
        sink_column_u32(sink, shapes->group, shapes->primitive_count);
        sink_column_u32(sink, shapes->mask, shapes->primitive_count);
    }
    if (shapes->geometry != NULL || shapes->patch_material != NULL) {
        sink_column_u64(sink, shapes->geometry, shapes->primitive_count);
    }
    if (shapes->patch_material != NULL) {
        sink_column_u64(sink, shapes->patch_material, PATCHES * shapes->primitive_count);
    }
}

// What recordings from before have not.
static void read_extras(Source *source, Arena *arena, ShapeColumns *shapes) {
    size_t count = shapes->primitive_count;
    shapes->foundation_face = source_column_u32(source, arena, count);
    shapes->foundation_cells = source_column_u32(source, arena, 2 * count);
    shapes->foundation_modulus = source_column(source, arena, count);
    shapes->foundation_depth = source_column(source, arena, count);
    shapes->foundation_damping = source_column(source, arena, count);
    shapes->group = source_column_u32(source, arena, count);
    shapes->mask = source_column_u32(source, arena, count);
    if (!source->failed && source->used < source->count) {
        shapes->geometry = source_column_u64(source, arena, count);
    }
    if (!source->failed && source->used < source->count) {
        shapes->patch_material = source_column_u64(source, arena, PATCHES * count);
    }
    bool is_whole = shapes->foundation_cells != NULL && shapes->foundation_modulus != NULL &&
                    shapes->foundation_depth != NULL;
    source->failed = source->failed || (shapes->foundation_face != NULL && !is_whole);
}

static void read_shapes(Source *source, Arena *arena, Input *input) {
    ShapeColumns *shapes = &input->shapes;
    shapes->shape_count = source_count(source, 1);
    shapes->primitive_count = source_count(source, 4);
    shapes->primitives_of_shape = source_column_u32(source, arena, shapes->shape_count);
    shapes->kind = source_column_u32(source, arena, shapes->primitive_count);
    shapes->size = source_column(source, arena, 3 * shapes->primitive_count);
    shapes->pose = source_column(source, arena, 7 * shapes->primitive_count);
    shapes->material = source_column_u64(source, arena, shapes->primitive_count);
    shapes->density = source_column(source, arena, shapes->primitive_count);
    source->failed = source->failed || shapes->kind == NULL || shapes->size == NULL;
    if (!source->failed && source->used < source->count) {
        read_extras(source, arena, shapes);
    }
}

static void write_bodies(Sink *sink, const Input *input) {
    const BodyColumns *bodies = &input->bodies;
    size_t count = bodies->count;
    sink_u64(sink, count);
    sink_column(sink, bodies->pose, 7 * count);
    sink_column(sink, bodies->velocity, 6 * count);
    sink_column_u32(sink, bodies->kind, count);
    sink_column_u64(sink, bodies->shape, count);
    sink_column(sink, bodies->mass, count);
    sink_column(sink, bodies->inertia, 6 * count);
    sink_column(sink, bodies->center_of_mass, 3 * count);
    sink_u64(sink, bodies->name != NULL);
    for (size_t i = 0; bodies->name != NULL && i < count; i++) {
        sink_text(sink, bodies->name[i]);
    }
}

static const char *const *read_names(Source *source, Arena *arena, size_t count) {
    if (source_u64(source) == 0) {
        return NULL;
    }
    const char **names = arena_take_zeroed(arena, count, sizeof(char *));
    source->failed = source->failed || names == NULL;
    for (size_t i = 0; i < count && !source->failed; i++) {
        char name[256];
        if (source_text(source, name, sizeof(name)) && name[0] != '\0') {
            char *copy = arena_take(arena, strlen(name) + 1);
            source->failed = copy == NULL;
            names[i] = copy == NULL ? NULL : memcpy(copy, name, strlen(name) + 1);
        }
    }
    return names;
}

static void read_bodies(Source *source, Arena *arena, Input *input) {
    BodyColumns *bodies = &input->bodies;
    size_t count = source_count(source, 7 * sizeof(double));
    source->failed = source->failed || count > UINT32_MAX;
    bodies->count = (uint32_t)count;
    bodies->pose = source_column(source, arena, 7 * count);
    bodies->velocity = source_column(source, arena, 6 * count);
    bodies->kind = source_column_u32(source, arena, count);
    bodies->shape = source_column_u64(source, arena, count);
    bodies->mass = source_column(source, arena, count);
    bodies->inertia = source_column(source, arena, 6 * count);
    bodies->center_of_mass = source_column(source, arena, 3 * count);
    bodies->name = read_names(source, arena, count);
    source->failed = source->failed || bodies->pose == NULL;
}

// A column of the axes of joints, or one of the three that number joints, per its place.
typedef struct JointColumn {
    const double **values;
    size_t count;
} JointColumn;

enum { JOINT_COLUMNS = 21, ACTUATOR_COLUMNS = 4 };

static void list_joint_columns(JointColumns *joints, JointColumn list[JOINT_COLUMNS]) {
    const size_t n = joints->count, axes = joints->axis_count;
    const JointColumn all[JOINT_COLUMNS] = {
        {&joints->frame_a, 7 * n},
        {&joints->frame_b, 7 * n},
        {&joints->ratio, n},
        {&joints->length, n},
        {&joints->break_force, n},
        {&joints->break_torque, n},
        {&joints->low, axes},
        {&joints->high, axes},
        {&joints->stiffness, axes},
        {&joints->rest, axes},
        {&joints->damping, axes},
        {&joints->friction, axes},
        {&joints->armature, axes},
        {&joints->drive_stiffness, axes},
        {&joints->drive_damping, axes},
        {&joints->effort_max, axes},
        {&joints->velocity, axes},
        {&joints->target, axes},
        {&joints->target_velocity, axes},
        {&joints->effort, axes},
        {&joints->position, joints->position_count},
    };
    memcpy(list, all, sizeof(all));
}

// Those of actuators stand behind all else, and only where any is given.
static void list_actuator_columns(JointColumns *joints, JointColumn list[ACTUATOR_COLUMNS]) {
    const size_t axes = joints->axis_count;
    const JointColumn all[ACTUATOR_COLUMNS] = {{&joints->stall_effort, axes},
                                               {&joints->no_load_speed, axes},
                                               {&joints->lag_time, axes},
                                               {&joints->delay_steps, axes}};
    memcpy(list, all, sizeof(all));
}

static bool has_actuators(const JointColumns *joints) {
    return joints->stall_effort != NULL || joints->no_load_speed != NULL ||
           joints->lag_time != NULL || joints->delay_steps != NULL;
}

static void write_actuators(Sink *sink, JointColumns *joints) {
    JointColumn list[ACTUATOR_COLUMNS];
    list_actuator_columns(joints, list);
    sink_pad(sink);
    for (int i = 0; i < ACTUATOR_COLUMNS; i++) {
        sink_column(sink, *list[i].values, list[i].count);
    }
}

static void read_actuators(Source *source, Arena *arena, JointColumns *joints) {
    JointColumn list[ACTUATOR_COLUMNS];
    list_actuator_columns(joints, list);
    source->failed = source->failed || !source_pad(source);
    for (int i = 0; i < ACTUATOR_COLUMNS; i++) {
        *list[i].values = source_column(source, arena, list[i].count);
    }
}

// And those of tendons behind these.
static void write_couplings(Sink *sink, const JointColumns *joints) {
    sink_u64(sink, joints->coupling_count);
    sink_column_u32(sink, joints->coupled_count, joints->count);
    sink_column_u64(sink, joints->coupled, joints->coupling_count);
    sink_column_u32(sink, joints->coupled_axes, joints->coupling_count);
    sink_column(sink, joints->coefficients, joints->coupling_count);
}

static void read_couplings(Source *source, Arena *arena, JointColumns *joints) {
    joints->coupling_count = source_count(source, sizeof(uint64_t));
    joints->coupled_count = source_column_u32(source, arena, joints->count);
    joints->coupled = source_column_u64(source, arena, joints->coupling_count);
    joints->coupled_axes = source_column_u32(source, arena, joints->coupling_count);
    joints->coefficients = source_column(source, arena, joints->coupling_count);
    source->failed = source->failed || joints->coupled_count == NULL;
}

static void write_joints(Sink *sink, const Input *input) {
    JointColumns joints = input->joints;
    JointColumn list[JOINT_COLUMNS];
    list_joint_columns(&joints, list);
    const size_t n = joints.count;
    sink_u64(sink, n);
    sink_u64(sink, joints.axis_count);
    sink_u64(sink, joints.position_count);
    sink_column_u32(sink, joints.kind, n);
    sink_column_u64(sink, joints.body_a, n);
    sink_column_u64(sink, joints.body_b, n);
    sink_column_u32(sink, joints.axes, n);
    sink_column_u32(sink, joints.as_rows, n);
    sink_column_u32(sink, joints.collides, n);
    sink_column_u64(sink, joints.joint_a, n);
    sink_column_u64(sink, joints.joint_b, n);
    for (int i = 0; i < JOINT_COLUMNS; i++) {
        sink_column(sink, *list[i].values, list[i].count);
    }
    sink_u64(sink, joints.name != NULL);
    for (size_t i = 0; joints.name != NULL && i < n; i++) {
        sink_text(sink, joints.name[i]);
    }
    if (has_actuators(&joints) || joints.coupled_count != NULL) {
        write_actuators(sink, &joints);
    }
    if (joints.coupled_count != NULL) {
        write_couplings(sink, &joints);
    }
}

static void read_joints(Source *source, Arena *arena, Input *input) {
    JointColumns *joints = &input->joints;
    const size_t n = source_count(source, sizeof(uint32_t));
    source->failed = source->failed || n > UINT32_MAX;
    joints->count = (uint32_t)n;
    joints->axis_count = read_length(source, JOINT_AXES_MAX * n);
    joints->position_count = read_length(source, JOINT_POSITION_MAX * n);
    joints->kind = source_column_u32(source, arena, n);
    joints->body_a = source_column_u64(source, arena, n);
    joints->body_b = source_column_u64(source, arena, n);
    joints->axes = source_column_u32(source, arena, n);
    joints->as_rows = source_column_u32(source, arena, n);
    joints->collides = source_column_u32(source, arena, n);
    joints->joint_a = source_column_u64(source, arena, n);
    joints->joint_b = source_column_u64(source, arena, n);
    JointColumn list[JOINT_COLUMNS];
    list_joint_columns(joints, list);
    for (int i = 0; i < JOINT_COLUMNS; i++) {
        *list[i].values = source_column(source, arena, list[i].count);
    }
    joints->name = read_names(source, arena, n);
    source->failed = source->failed || joints->kind == NULL;
    if (!source->failed && source->used < source->count) {
        read_actuators(source, arena, joints);
        if (!source->failed && source->used < source->count) {
            read_couplings(source, arena, joints);
        }
        source->failed =
            source->failed || (!has_actuators(joints) && joints->coupled_count == NULL);
    }
}

static void write_step(Sink *sink, const Input *input) {
    const StepOrder *step = &input->step;
    sink_u64(sink, step->steps);
    sink_double(sink, step->time_step);
    sink_u64(sink, step->wrench_count);
    sink_u64s(sink, step->wrench_body, step->wrench_count);
    sink_doubles(sink, step->wrench, 6 * step->wrench_count);
}

static void read_step(Source *source, Arena *arena, Input *input) {
    StepOrder *step = &input->step;
    step->steps = source_u64(source);
    step->time_step = source_double(source);
    size_t count = step->wrench_count = source_count(source, 7 * sizeof(double));
    if (count == 0) {
        return;
    }
    uint64_t *bodies = arena_take_array(arena, count, sizeof(uint64_t));
    double *wrenches = arena_take_array(arena, count, 6 * sizeof(double));
    if (bodies == NULL || wrenches == NULL) {
        source->failed = true;
        return;
    }
    source_u64s(source, bodies, count);
    source_doubles(source, wrenches, 6 * count);
    step->wrench_body = bodies;
    step->wrench = wrenches;
}

static void write_restore(Sink *sink, const Input *input) {
    sink_u64(sink, input->restore.snapshot_bytes);
    sink_bytes(sink, input->restore.snapshot, input->restore.snapshot_bytes);
}

static void read_restore(Source *source, Arena *arena, Input *input) {
    (void)arena;
    size_t count = source_count(source, 1);
    input->restore =
        (RestoreOrder){.snapshot = source_bytes(source, count), .snapshot_bytes = count};
}

static void write_remove(Sink *sink, const Input *input) {
    const RemoveOrder *order = &input->remove;
    sink_u64(sink, order->body_count);
    sink_u64s(sink, order->body, order->body_count);
    sink_u64(sink, order->shape_count);
    sink_u64s(sink, order->shape, order->shape_count);
    // recordings from before there were any have none
    if (order->joint_count > 0 || order->geometry_count > 0) {
        sink_u64(sink, order->joint_count);
        sink_u64s(sink, order->joint, order->joint_count);
    }
    if (order->geometry_count > 0) {
        sink_u64(sink, order->geometry_count);
        sink_u64s(sink, order->geometry, order->geometry_count);
    }
}

static const uint64_t *read_ids(Source *source, Arena *arena, size_t *count) {
    *count = source_count(source, sizeof(uint64_t));
    uint64_t *ids = arena_take_array(arena, *count, sizeof(uint64_t));
    source->failed = source->failed || ids == NULL;
    if (!source->failed) {
        source_u64s(source, ids, *count);
    }
    return ids;
}

static void read_remove(Source *source, Arena *arena, Input *input) {
    RemoveOrder *order = &input->remove;
    order->body = read_ids(source, arena, &order->body_count);
    order->shape = read_ids(source, arena, &order->shape_count);
    if (!source->failed && source->used < source->count) {
        order->joint = read_ids(source, arena, &order->joint_count);
        const bool is_last = source->failed || source->used == source->count;
        order->geometry = is_last ? NULL : read_ids(source, arena, &order->geometry_count);
        source->failed = source->failed || order->joint_count + order->geometry_count == 0 ||
                         (!is_last && order->geometry_count == 0);
    }
}

const char *geometry_list_kind(const GeometryList *list, size_t item) {
    ASSERT(item < list->count);
    uint32_t kind = 0;
    memcpy(&kind, list->bytes[item], list->byte_count[item] < sizeof(kind) ? 0 : sizeof(kind));
    return kind == GEOMETRY_MESH           ? "meshes"
           : kind == GEOMETRY_HEIGHT_FIELD ? "height_fields"
                                           : "hulls";
}

size_t geometry_list_index(const GeometryList *list, size_t item) {
    const char *kind = geometry_list_kind(list, item);
    size_t index = 0;
    for (size_t i = 0; i < item; i++) {
        index += strcmp(geometry_list_kind(list, i), kind) == 0 ? 1 : 0;
    }
    return index;
}

size_t geometry_list_item(const GeometryList *list, const char *kind, size_t index) {
    for (size_t i = 0; i < list->count; i++) {
        if (strcmp(geometry_list_kind(list, i), kind) == 0 && index-- == 0) {
            return i;
        }
    }
    return list->count;
}

static void write_geometries(Sink *sink, const Input *input) {
    const GeometryList *list = &input->geometries;
    sink_u64(sink, list->count);
    for (size_t i = 0; i < list->count; i++) {
        sink_u64(sink, list->byte_count[i]);
        sink_bytes(sink, list->bytes[i], list->byte_count[i]);
        sink_pad(sink);
    }
}

static void read_geometries(Source *source, Arena *arena, Input *input) {
    const size_t count = source_count(source, sizeof(uint64_t));
    const uint8_t **bytes = arena_take_array(arena, count, sizeof(*bytes));
    size_t *byte_count = arena_take_array(arena, count, sizeof(*byte_count));
    source->failed = source->failed || bytes == NULL || byte_count == NULL;
    for (size_t i = 0; !source->failed && i < count; i++) {
        byte_count[i] = source_count(source, 1);
        bytes[i] = source_bytes(source, byte_count[i]);
        source_pad(source);
    }
    input->geometries = (GeometryList){.count = count, .bytes = bytes, .byte_count = byte_count};
}

static void write_named_geometries(Sink *sink, const Input *input) {
    sink_u64(sink, input->geometries.count);
    sink_bytes(sink, input->geometries.names, input->geometries.count * SHA256_BYTES);
}

static void read_named_geometries(Source *source, Arena *arena, Input *input) {
    (void)arena;
    const size_t count = source_count(source, SHA256_BYTES);
    const uint8_t *names = source_bytes(source, count * SHA256_BYTES);
    input->geometries = (GeometryList){.count = count, .names = names};
}

typedef struct InputRow {
    void (*write)(Sink *sink, const Input *input);
    void (*read)(Source *source, Arena *arena, Input *input);
} InputRow;

static const InputRow rows[] = {
    [INPUT_SET] = {write_set, read_set},
    [INPUT_MATERIALS] = {write_materials, read_materials},
    [INPUT_SHAPES] = {write_shapes, read_shapes},
    [INPUT_BODIES] = {write_bodies, read_bodies},
    [INPUT_STEP] = {write_step, read_step},
    [INPUT_RESTORE] = {write_restore, read_restore},
    [INPUT_JOINTS] = {write_joints, read_joints},
    [INPUT_REMOVE] = {write_remove, read_remove},
    [INPUT_GEOMETRIES] = {write_geometries, read_geometries},
    [INPUT_NAMED_GEOMETRIES] = {write_named_geometries, read_named_geometries},
};

static size_t body_bytes(const Input *input) {
    Sink counter = {0};
    rows[input->kind].write(&counter, input);
    return counter.count;
}

static uint32_t version_of(const Input *input) {
    if ((input->kind == INPUT_SET && input->set.pairs.count > 0) ||
        (input->kind == INPUT_MATERIALS && has_priorities(input)) ||
        (input->kind == INPUT_JOINTS && input->joints.coupled_count != NULL)) {
        return INPUT_VERSION_NEWEST;
    }
    if ((input->kind == INPUT_SET && sets_actuators(&input->set)) ||
        (input->kind == INPUT_JOINTS && has_actuators(&input->joints))) {
        return INPUT_VERSION_ACTUATORS;
    }
    if ((input->kind == INPUT_SET && has_numbers(&input->set)) ||
        (input->kind == INPUT_REMOVE && input->remove.geometry_count > 0)) {
        return INPUT_VERSION_NUMBERS;
    }
    bool is_newer = (input->kind == INPUT_MATERIALS && has_exponents(input)) ||
                    (input->kind == INPUT_SHAPES && has_extras(&input->shapes));
    return is_newer ? INPUT_VERSION_SHAPES : INPUT_VERSION;
}

size_t input_bytes(const Input *input) {
    ASSERT(input->kind < sizeof(rows) / sizeof(rows[0]) && rows[input->kind].write != NULL);
    return INPUT_HEAD_BYTES + (body_bytes(input) + 7) / 8 * 8;
}

void input_encode(const Input *input, Sink *sink) {
    ASSERT(input->kind < sizeof(rows) / sizeof(rows[0]) && rows[input->kind].write != NULL);
    ASSERT(sink->count % 8 == 0);
    sink_u32(sink, (uint32_t)input->kind);
    sink_u32(sink, version_of(input));
    sink_u64(sink, body_bytes(input));
    rows[input->kind].write(sink, input);
    sink_pad(sink);
}

uint32_t input_kind(InputBytes encoded) {
    Source head = {.bytes = encoded.bytes, .count = encoded.count};
    return source_u32(&head);
}

void input_set_steps(uint8_t *bytes, uint64_t steps) {
    Sink sink = {.bytes = bytes + INPUT_HEAD_BYTES};
    sink_u64(&sink, steps);
}

bool input_is_order(InputBytes stored, const StepOrder *order) {
    size_t count = order->wrench_count;
    Source head = {.bytes = stored.bytes, .count = stored.count};
    if (source_u32(&head) != INPUT_STEP || source_u32(&head) != INPUT_VERSION) {
        return false;
    }
    source_u64(&head);  // its length follows from the number of wrenches
    source_u64(&head);  // steps
    uint64_t time_step; // its bits
    memcpy(&time_step, &order->time_step, sizeof(time_step));
    if (source_u64(&head) != time_step || source_u64(&head) != count || head.failed) {
        return false;
    }
    const uint8_t *bodies = source_bytes(&head, count * sizeof(uint64_t)),
                  *wrenches = source_bytes(&head, count * 6 * sizeof(double));
    return count == 0 ||
           (!head.failed && memcmp(bodies, order->wrench_body, count * sizeof(uint64_t)) == 0 &&
            memcmp(wrenches, order->wrench, count * 6 * sizeof(double)) == 0);
}

size_t input_length(const uint8_t *bytes, size_t count) {
    Source head = {.bytes = bytes, .count = count};
    source_u64(&head);
    size_t body = source_count(&head, 1);
    size_t total = INPUT_HEAD_BYTES + (body + 7) / 8 * 8;
    return head.failed || total > count ? 0 : total;
}

Status input_decode(InputBytes encoded, Arena *arena, Input *input, Error *error) {
    Source source = {.bytes = encoded.bytes, .count = encoded.count};
    uint32_t kind = source_u32(&source), version = source_u32(&source);
    size_t length = source_count(&source, 1);
    if (source.failed || kind >= sizeof(rows) / sizeof(rows[0]) || rows[kind].read == NULL ||
        version < INPUT_VERSION || version > INPUT_VERSION_NEWEST) {
        return error_set(error, STATUS_DATA_LOSS, "", "These bytes are no input of this version.");
    }
    *input = (Input){.kind = (InputKind)kind};
    Source body = {.bytes = source.bytes + source.used, .count = length};
    rows[kind].read(&body, arena, input);
    if (body.failed || body.used != length) {
        return error_set(error, STATUS_DATA_LOSS, "",
                         "An input of kind %u is damaged, or memory ended while reading it.", kind);
    }
    return STATUS_OK;
}
