// SPDX-License-Identifier: MIT
#include "wire/set.h"

#include "wire/convert.h"
#include "wire/joints.h"

#include <math.h>

// A column of the message, and where its numbers go.
typedef struct SetColumn {
    const char *name;
    size_t length, stride; // entries per item of its list
    const double *values;
    const double **to;
} SetColumn;

static Status check_length(const SetColumn *column, size_t count, Error *error) {
    return column->length == 0 || column->length == count * column->stride
               ? STATUS_OK
               : error_set(error, STATUS_INVALID_ARGUMENT, column->name,
                           "Column %s has %zu numbers; for %zu items it has %zu (%zu each) or "
                           "none.",
                           column->name, column->length, count, count * column->stride,
                           column->stride);
}

static Status take_columns(const SetColumn *columns, size_t column_count, size_t count,
                           Error *error) {
    for (size_t i = 0; i < column_count; i++) {
        Status status = check_length(&columns[i], count, error);
        if (status != STATUS_OK) {
            return status;
        }
        *columns[i].to = columns[i].length == 0 ? NULL : columns[i].values;
    }
    return STATUS_OK;
}

// Columns in which a number of the wire says that there is none, which inside is infinite. false:
// the arena ends.
static bool open_none(size_t length, double none, double inside, Arena *arena,
                      const double **values) {
    if (*values == NULL) {
        return true;
    }
    double *copy = arena_take_array(arena, length, sizeof(double));
    for (size_t i = 0; copy != NULL && i < length; i++) {
        copy[i] = (*values)[i] == none ? inside : (*values)[i];
    }
    *values = copy;
    return copy != NULL;
}

static Status out_of_memory(Error *error) {
    return error_set(error, STATUS_RESOURCE_EXHAUSTED, "", "Memory ended while reading numbers.");
}

static Status take_bodies(const Moreau__V1__WorldSet *m, BodyUpdate *update, Error *error) {
    *update = (BodyUpdate){.count = m->n_ids, .id = m->n_ids > 0 ? m->ids : NULL};
    const SetColumn columns[] = {
        {"pose", m->n_pose, 7, m->pose, &update->pose},
        {"velocity", m->n_velocity, 6, m->velocity, &update->velocity},
        {"mass", m->n_mass, 1, m->mass, &update->mass},
        {"inertia", m->n_inertia, 6, m->inertia, &update->inertia},
    };
    return take_columns(columns, sizeof(columns) / sizeof(columns[0]), update->count, error);
}

enum { AXIS_COLUMNS = 4 + JOINT_NUMBER_COUNT };

// How many numbers the columns have must be the same for all; whether it is what the joints have,
// the world judges.
static Status take_axes(const SetColumn *columns, JointUpdate *update, Error *error) {
    for (size_t i = 0; i < AXIS_COLUMNS; i++) {
        const size_t length = columns[i].length;
        if (length == 0) {
            continue;
        }
        if (update->axis_count != 0 && length != update->axis_count) {
            return error_set(error, STATUS_INVALID_ARGUMENT, columns[i].name,
                             "Column %s has %zu numbers, another one %zu: each has one for every "
                             "free axis of the joints.",
                             columns[i].name, length, update->axis_count);
        }
        update->axis_count = length;
        *columns[i].to = columns[i].values;
    }
    return STATUS_OK;
}

static Status take_joints(const Moreau__V1__WorldSet *m, Arena *arena, JointUpdate *update,
                          Error *error) {
    *update = (JointUpdate){.count = m->n_joints,
                            .id = m->n_joints > 0 ? m->joints : NULL,
                            .position_count = m->n_joint_position,
                            .position = m->n_joint_position > 0 ? m->joint_position : NULL};
    const SetColumn columns[AXIS_COLUMNS] = {
        {"joint_velocity", m->n_joint_velocity, 1, m->joint_velocity, &update->velocity},
        {"joint_target", m->n_joint_target, 1, m->joint_target, &update->target},
        {"joint_target_velocity", m->n_joint_target_velocity, 1, m->joint_target_velocity,
         &update->target_velocity},
        {"joint_effort", m->n_joint_effort, 1, m->joint_effort, &update->effort},
#define X(upper, member, range, none)                                                              \
    {"joint_" #member, m->n_joint_##member, 1, m->joint_##member, &update->number[JOINT_##upper]},
        JOINT_NUMBER_MAP(X)
#undef X
    };
    Status status = take_axes(columns, update, error);
    if (status == STATUS_OK && m->n_joints == 0 &&
        (update->axis_count > 0 || update->position_count > 0)) {
        status = error_set(error, STATUS_INVALID_ARGUMENT, "joints",
                           "Name the joints that the columns are of.");
    }
    if (status != STATUS_OK) {
        return status;
    }
    const size_t axes = update->axis_count;
    return open_none(axes, -JOINTS_NONE, -HUGE_VAL, arena, &update->number[JOINT_LOW]) &&
                   open_none(axes, JOINTS_NONE, HUGE_VAL, arena, &update->number[JOINT_HIGH]) &&
                   open_none(axes, JOINTS_NONE, HUGE_VAL, arena, &update->number[JOINT_EFFORT_MAX])
               ? STATUS_OK
               : out_of_memory(error);
}

static Status take_materials(const Moreau__V1__WorldSet *m, Arena *arena, MaterialUpdate *update,
                             Error *error) {
    *update =
        (MaterialUpdate){.count = m->n_materials, .id = m->n_materials > 0 ? m->materials : NULL};
    const SetColumn columns[] = {
        {"material_friction", m->n_material_friction, 1, m->material_friction, &update->friction},
        {"material_restitution", m->n_material_restitution, 1, m->material_restitution,
         &update->restitution},
        {"material_stiffness", m->n_material_stiffness, 1, m->material_stiffness,
         &update->stiffness},
        {"material_dissipation_time", m->n_material_dissipation_time, 1,
         m->material_dissipation_time, &update->dissipation_time},
        {"material_damping", m->n_material_damping, 1, m->material_damping, &update->damping},
        {"material_hertz_exponent", m->n_material_hertz_exponent, 1, m->material_hertz_exponent,
         &update->hertz_exponent},
    };
    Status status =
        take_columns(columns, sizeof(columns) / sizeof(columns[0]), update->count, error);
    if (status != STATUS_OK) {
        return status;
    }
    return open_none(update->count, 0.0, HUGE_VAL, arena, &update->stiffness)
               ? STATUS_OK
               : out_of_memory(error);
}

static Status take_pairs(const Moreau__V1__WorldSet *m, PairUpdate *update, Error *error) {
    *update = (PairUpdate){.count = m->n_pair_a, .a = m->pair_a, .b = m->pair_b};
    const SetColumn friction = {"pair_friction", m->n_pair_friction, 1, m->pair_friction,
                                &update->friction};
    Status status = take_columns(&friction, 1, update->count, error);
    if (status == STATUS_OK &&
        (m->n_pair_b != update->count || (update->count > 0 && update->friction == NULL))) {
        status = error_set(error, STATUS_INVALID_ARGUMENT, "pair_a",
                           "Pairs have pair_a, pair_b and pair_friction, each of one length: these "
                           "have %zu, %zu and %zu.",
                           m->n_pair_a, m->n_pair_b, m->n_pair_friction);
    }
    return status;
}

Status set_order(const Moreau__V1__WorldSet *m, Arena *arena, SetOrder *order, Error *error) {
    *order = (SetOrder){.shapes = {.count = m->n_shapes,
                                   .id = m->n_shapes > 0 ? m->shapes : NULL,
                                   .primitive_count = m->n_shape_material,
                                   .material = m->n_shape_material > 0 ? m->shape_material : NULL}};
    Status status = take_bodies(m, &order->update, error);
    status = STATUS_THEN(status, take_joints(m, arena, &order->joints, error));
    status = STATUS_THEN(status, take_materials(m, arena, &order->materials, error));
    status = STATUS_THEN(status, take_pairs(m, &order->pairs, error));
    return STATUS_THEN(status, convert_settings(m->settings, &order->settings, error));
}
