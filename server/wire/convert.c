// SPDX-License-Identifier: MIT
// Settings and solver parameters are matched by name: the field of the message and the row of
// SETTING_MAP or of the solver's table. Tests hold each against the other, so what is in one only
// cannot slip through.
#include "wire/convert.h"

#include "base/assert.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

static_assert((int)INTEGRATOR_SYMPLECTIC == (int)MOREAU__V1__INTEGRATOR__KIND__SYMPLECTIC &&
                  (int)INTEGRATOR_EXPLICIT == (int)MOREAU__V1__INTEGRATOR__KIND__EXPLICIT &&
                  (int)INTEGRATOR_IMPLICIT == (int)MOREAU__V1__INTEGRATOR__KIND__IMPLICIT &&
                  (int)INTEGRATOR_MIDPOINT == (int)MOREAU__V1__INTEGRATOR__KIND__MIDPOINT &&
                  (int)INTEGRATOR_RK4 == (int)MOREAU__V1__INTEGRATOR__KIND__RK4 &&
                  (int)INTEGRATOR_VERLET == (int)MOREAU__V1__INTEGRATOR__KIND__VERLET &&
                  (int)ROTATION_MIDPOINT == (int)MOREAU__V1__ROTATION__KIND__MIDPOINT &&
                  (int)ROTATION_EXPLICIT == (int)MOREAU__V1__ROTATION__KIND__EXPLICIT &&
                  (int)WORLD_EXACT == (int)MOREAU__V1__EFFORT__KIND__EXACT &&
                  (int)WORLD_BALANCED == (int)MOREAU__V1__EFFORT__KIND__BALANCED &&
                  (int)WORLD_FAST == (int)MOREAU__V1__EFFORT__KIND__FAST &&
                  (int)FRICTION_MAXIMUM == (int)MOREAU__V1__FRICTION_RULE__KIND__MAXIMUM &&
                  (int)FRICTION_MINIMUM == (int)MOREAU__V1__FRICTION_RULE__KIND__MINIMUM &&
                  (int)FRICTION_PRODUCT == (int)MOREAU__V1__FRICTION_RULE__KIND__PRODUCT &&
                  (int)ROTATION_IMPLICIT == (int)MOREAU__V1__ROTATION__KIND__IMPLICIT,
              "choices have the numbers of the wire");

// The one member of SolverParameters that is set. `kind` is untouched when there is none.
static const ProtobufCMessage *find_parameters(const Moreau__V1__SolverParameters *message,
                                               SolverKind *kind, bool *several) {
    const ProtobufCMessage *found = NULL;
    *several = false;
    for (unsigned i = 0; i < message->base.descriptor->n_fields; i++) {
        const ProtobufCFieldDescriptor *field = &message->base.descriptor->fields[i];
        const ProtobufCMessage *member =
            *(ProtobufCMessage *const *)(const void *)((const char *)message + field->offset);
        if (member != NULL) {
            *several = found != NULL;
            found = member;
            bool known = solver_find(field->name, kind);
            ASSERT(known);
        }
    }
    return found;
}

// The value of a present parameter as a number. false: absent.
static bool read_parameter(const ProtobufCMessage *message, const char *name, double *value) {
    const ProtobufCFieldDescriptor *field =
        protobuf_c_message_descriptor_get_field_by_name(message->descriptor, name);
    ASSERT(field != NULL);
    const char *base = (const char *)message;
    if (!*(const protobuf_c_boolean *)(const void *)(base + field->quantifier_offset)) {
        return false;
    }
    const void *member = base + field->offset;
    switch (field->type) {
    case PROTOBUF_C_TYPE_DOUBLE:
        *value = *(const double *)member;
        return true;
    case PROTOBUF_C_TYPE_UINT32:
        *value = *(const uint32_t *)member;
        return true;
    case PROTOBUF_C_TYPE_BOOL:
        *value = *(const protobuf_c_boolean *)member ? 1.0 : 0.0;
        return true;
    case PROTOBUF_C_TYPE_ENUM:
        *value = *(const int *)member;
        return true;
    default:
        ASSERT(false); // a parameter of a type that no row has
        return false;
    }
}

static void write_parameter(ProtobufCMessage *message, const char *name, double value) {
    const ProtobufCFieldDescriptor *field =
        protobuf_c_message_descriptor_get_field_by_name(message->descriptor, name);
    ASSERT(field != NULL);
    char *base = (char *)message;
    *(protobuf_c_boolean *)(void *)(base + field->quantifier_offset) = 1;
    void *member = base + field->offset;
    switch (field->type) {
    case PROTOBUF_C_TYPE_DOUBLE:
        *(double *)member = value;
        return;
    case PROTOBUF_C_TYPE_UINT32:
        *(uint32_t *)member = (uint32_t)value;
        return;
    case PROTOBUF_C_TYPE_BOOL:
        *(protobuf_c_boolean *)member = value != 0.0;
        return;
    case PROTOBUF_C_TYPE_ENUM:
        *(int *)member = (int)value;
        return;
    default:
        ASSERT(false); // a parameter of a type that no row has
    }
}

static Status blame_parameters(const char *field, Error *error) {
    return error_set(error, STATUS_INVALID_ARGUMENT, field,
                     "Give the parameters of one solver, not of several.");
}

static Status convert_change_parameters(const Moreau__V1__SolverParameters *message,
                                        SettingsChange *change, Error *error) {
    bool several;
    const ProtobufCMessage *found = find_parameters(message, &change->parameter_solver, &several);
    if (several) {
        return blame_parameters("settings.parameters", error);
    }
    if (found == NULL) {
        return STATUS_OK;
    }
    change->given |= CHANGE_PARAMETERS;
    const Solver *row = solver_get(change->parameter_solver);
    for (uint32_t i = 0; i < row->parameter_count; i++) {
        if (read_parameter(found, row->parameters[i].name, &change->value.parameter[i])) {
            change->parameter_given |= 1u << i;
        }
    }
    return STATUS_OK;
}

static Status find_solver(const char *name, SolverKind *kind, Error *error) {
    if (solver_find(name, kind)) {
        return STATUS_OK;
    }
    char known[128] = "";
    for (int i = 0; i < SOLVER_COUNT; i++) {
        size_t used = strlen(known);
        snprintf(known + used, sizeof(known) - used, "%s%s", i == 0 ? "" : ", ",
                 solver_get((SolverKind)i)->name);
    }
    return error_set(error, STATUS_INVALID_ARGUMENT, "solver",
                     "No solver is called %.64s; this server has: %s.", name, known);
}

// An empty message takes bounds away.
static Status convert_bounds(const Moreau__V1__Bounds *message, SettingsChange *change,
                             Error *error) {
    if (message->n_lower != message->n_upper || (message->n_lower != 0 && message->n_lower != 3)) {
        return error_set(error, STATUS_INVALID_ARGUMENT, "settings.bounds",
                         "Bounds are a lower and an upper corner of 3 numbers each, or, to have "
                         "none, neither; got %zu and %zu.",
                         message->n_lower, message->n_upper);
    }
    change->given |= CHANGE_BOUNDS;
    change->value.has_bounds = message->n_lower == 3;
    if (change->value.has_bounds) {
        change->value.bounds_lower = vec3_load(message->lower);
        change->value.bounds_upper = vec3_load(message->upper);
    }
    return STATUS_OK;
}

// Of the settings only gravity is a vector.
static Status convert_gravity(const Moreau__V1__WorldSettings *message, SettingsChange *change,
                              Error *error) {
    if (message->n_gravity != 0 && message->n_gravity != 3) {
        return error_set(error, STATUS_INVALID_ARGUMENT, "settings.gravity",
                         "Gravity needs 3 numbers, got %zu.", message->n_gravity);
    }
    if (message->n_gravity == 3) {
        change->given |= CHANGE_GRAVITY;
        change->value.gravity = vec3_load(message->gravity);
    }
    return STATUS_OK;
}

static void convert_setting(const Moreau__V1__WorldSettings *message, const Setting *setting,
                            SettingsChange *change) {
    double number;
    if (read_parameter(&message->base, setting->name, &number)) {
        change->given |= setting->bit;
        setting_set_number(&change->value, setting, number);
    }
}

Status convert_settings(const Moreau__V1__WorldSettings *message, SettingsChange *change,
                        Error *error) {
    *change = (SettingsChange){0};
    if (message == NULL) {
        return STATUS_OK;
    }
    if (convert_gravity(message, change, error) != STATUS_OK) {
        return error->status;
    }
    for (int i = SETTING_GRAVITY + 1; i < SETTING_COUNT; i++) {
        convert_setting(message, setting_get((SettingKind)i), change);
    }
    if (message->bounds != NULL && convert_bounds(message->bounds, change, error) != STATUS_OK) {
        return error->status;
    }
    if (message->solver != NULL) {
        change->given |= CHANGE_SOLVER;
        SolverKind kind;
        Status status = find_solver(message->solver, &kind, error);
        if (status != STATUS_OK) {
            snprintf(error->field, sizeof(error->field), "settings.solver");
            return status;
        }
        change->value.solver = kind;
    }
    return message->parameters == NULL
               ? STATUS_OK
               : convert_change_parameters(message->parameters, change, error);
}

Status convert_parameters(const Moreau__V1__SolverParameters *message, SolverSettings *settings,
                          Error *error) {
    bool several;
    SolverKind kind = settings->kind;
    const ProtobufCMessage *found =
        message == NULL ? NULL : find_parameters(message, &kind, &several);
    if (found == NULL) {
        return STATUS_OK;
    }
    if (several) {
        return blame_parameters("parameters", error);
    }
    const Solver *row = solver_get(settings->kind);
    if (kind != settings->kind) {
        return error_set(error, STATUS_INVALID_ARGUMENT, "parameters",
                         "These are parameters of solver %s, not of %s.", solver_get(kind)->name,
                         row->name);
    }
    for (uint32_t i = 0; i < row->parameter_count; i++) {
        double value;
        if (!read_parameter(found, row->parameters[i].name, &value)) {
            continue;
        }
        Status status = solver_set(settings, row->parameters[i].name, value, error);
        if (status != STATUS_OK) {
            snprintf(error->field, sizeof(error->field), "parameters.%s.%s", row->name,
                     row->parameters[i].name);
            return status;
        }
    }
    return STATUS_OK;
}

Moreau__V1__SolverParameters *convert_parameters_out(const SolverSettings *settings, Arena *arena) {
    const Solver *row = solver_get(settings->kind);
    const ProtobufCFieldDescriptor *field = protobuf_c_message_descriptor_get_field_by_name(
        &moreau__v1__solver_parameters__descriptor, row->name);
    ASSERT(field != NULL);
    const ProtobufCMessageDescriptor *descriptor = field->descriptor;
    Moreau__V1__SolverParameters *message = arena_take(arena, sizeof(*message));
    ProtobufCMessage *member = arena_take(arena, descriptor->sizeof_message);
    if (message == NULL || member == NULL) {
        return NULL;
    }
    moreau__v1__solver_parameters__init(message);
    descriptor->message_init(member);
    for (uint32_t i = 0; i < row->parameter_count; i++) {
        write_parameter(member, row->parameters[i].name, settings->parameter[i]);
    }
    *(ProtobufCMessage **)(void *)((char *)message + field->offset) = member;
    return message;
}

static Moreau__V1__Bounds *convert_bounds_out(const WorldSettings *settings, Arena *arena) {
    Moreau__V1__Bounds *message = arena_take(arena, sizeof(*message));
    double *corners = arena_take_array(arena, 6, sizeof(double));
    if (message == NULL || corners == NULL) {
        return NULL;
    }
    moreau__v1__bounds__init(message);
    vec3_store(corners, settings->bounds_lower);
    vec3_store(corners + 3, settings->bounds_upper);
    message->n_lower = message->n_upper = 3;
    message->lower = corners;
    message->upper = corners + 3;
    return message;
}

Moreau__V1__WorldSettings *convert_settings_out(const WorldSettings *settings, Arena *arena) {
    Moreau__V1__WorldSettings *message = arena_take(arena, sizeof(*message));
    SolverSettings solver = {.kind = (SolverKind)settings->solver};
    memcpy(solver.parameter, settings->parameter, sizeof(solver.parameter));
    Moreau__V1__SolverParameters *parameters = convert_parameters_out(&solver, arena);
    double *gravity = arena_take_array(arena, 3, sizeof(double));
    if (message == NULL || gravity == NULL || parameters == NULL) {
        return NULL;
    }
    moreau__v1__world_settings__init(message);
    vec3_store(gravity, settings->gravity);
    message->n_gravity = 3;
    message->gravity = gravity;
    for (int i = SETTING_GRAVITY + 1; i < SETTING_COUNT; i++) {
        const Setting *setting = setting_get((SettingKind)i);
        write_parameter(&message->base, setting->name, setting_number(settings, setting));
    }
    message->solver = (char *)solver_get(solver.kind)->name;
    message->parameters = parameters;
    if (settings->has_bounds) {
        message->bounds = convert_bounds_out(settings, arena);
    }
    return settings->has_bounds && message->bounds == NULL ? NULL : message;
}

Status convert_material(const Moreau__V1__Material *message, size_t index, Material *material,
                        Error *error) {
    *material = material_default();
    if (message->name != NULL) {
        if (strlen(message->name) >= sizeof(material->name)) {
            char field[64];
            snprintf(field, sizeof(field), "materials[%zu].name", index);
            return error_set(error, STATUS_INVALID_ARGUMENT, field,
                             "A material's name has at most %zu bytes.",
                             sizeof(material->name) - 1);
        }
        snprintf(material->name, sizeof(material->name), "%s", message->name);
    }
    material->friction = message->has_friction ? message->friction : material->friction;
    material->restitution = message->has_restitution ? message->restitution : material->restitution;
    material->stiffness = message->has_stiffness ? message->stiffness : material->stiffness;
    material->dissipation_time =
        message->has_dissipation_time ? message->dissipation_time : material->dissipation_time;
    material->damping = message->has_damping ? message->damping : material->damping;
    material->hertz_exponent =
        message->has_hertz_exponent ? message->hertz_exponent : material->hertz_exponent;
    material->priority = message->has_priority ? message->priority : material->priority;
    return STATUS_OK;
}
