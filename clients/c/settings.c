// SPDX-License-Identifier: MIT
// World settings as a message. Solver parameters, and settings by name, are set by reflection, so
// that one added to the protocol needs no line here.
#include "client.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool set_number(ProtobufCMessage *message, const ProtobufCFieldDescriptor *field,
                       double value) {
    uint8_t *member = (uint8_t *)message + field->offset;
    bool whole = value == floor(value);
    switch (field->type) {
    case PROTOBUF_C_TYPE_DOUBLE:
        memcpy(member, &value, sizeof(value));
        break;
    case PROTOBUF_C_TYPE_UINT32:
    case PROTOBUF_C_TYPE_ENUM:
    case PROTOBUF_C_TYPE_BOOL: {
        if (!whole || !(value >= 0.0 && value <= (double)UINT32_MAX)) {
            return false;
        }
        uint32_t number = (uint32_t)value;
        memcpy(member, &number, sizeof(number));
        break;
    }
    default:
        return false;
    }
    *(protobuf_c_boolean *)((uint8_t *)message + field->quantifier_offset) = 1;
    return true;
}

// An empty parameter message of the named solver, hung into `all`; NULL when there is none.
static ProtobufCMessage *add_solver(Moreau__V1__SolverParameters *all, const char *solver) {
    const ProtobufCFieldDescriptor *field =
        protobuf_c_message_descriptor_get_field_by_name(all->base.descriptor, solver);
    if (field == NULL || field->type != PROTOBUF_C_TYPE_MESSAGE) {
        return NULL;
    }
    const ProtobufCMessageDescriptor *descriptor = field->descriptor;
    ProtobufCMessage *message = calloc(1, descriptor->sizeof_message);
    if (message != NULL) {
        protobuf_c_message_init(descriptor, message);
        memcpy((uint8_t *)all + field->offset, &message, sizeof(void *));
    }
    return message;
}

static MoreauStatus set_parameters(MoreauClient *client, const MoreauSettings *settings,
                                   Moreau__V1__SolverParameters *all) {
    if (settings->solver == NULL) {
        return client_fail(client, MOREAU_INVALID_ARGUMENT, "settings.solver",
                           "parameters need the name of the solver that they belong to");
    }
    ProtobufCMessage *message = add_solver(all, settings->solver);
    if (message == NULL) {
        return client_fail(client, MOREAU_INVALID_ARGUMENT, "settings.solver",
                           "this library knows no solver \"%s\" with parameters", settings->solver);
    }
    for (size_t i = 0; i < settings->parameter_count; i++) {
        const MoreauParameter *parameter = &settings->parameters[i];
        const ProtobufCFieldDescriptor *field =
            protobuf_c_message_descriptor_get_field_by_name(message->descriptor, parameter->name);
        if (field == NULL || !set_number(message, field, parameter->value)) {
            return client_fail(client, MOREAU_INVALID_ARGUMENT, parameter->name,
                               "solver %s has no parameter \"%s\" that can be %g", settings->solver,
                               parameter->name, parameter->value);
        }
    }
    return MOREAU_OK;
}

// Bounds of no size take those away that are there.
static Moreau__V1__Bounds *make_bounds(const MoreauSettings *settings) {
    Moreau__V1__Bounds *bounds = calloc(1, sizeof(*bounds));
    if (bounds == NULL) {
        return NULL;
    }
    moreau__v1__bounds__init(bounds);
    bool has_size = false;
    for (int k = 0; k < 3; k++) {
        has_size |= settings->bounds_lower[k] != 0.0 || settings->bounds_upper[k] != 0.0;
    }
    if (has_size) {
        bounds->n_lower = bounds->n_upper = 3;
        bounds->lower = (double *)settings->bounds_lower;
        bounds->upper = (double *)settings->bounds_upper;
    }
    return bounds;
}

static MoreauStatus set_others(MoreauClient *client, const MoreauSettings *settings,
                               Moreau__V1__WorldSettings *message) {
    for (size_t i = 0; i < settings->other_count; i++) {
        const MoreauParameter *other = &settings->others[i];
        const ProtobufCFieldDescriptor *field =
            protobuf_c_message_descriptor_get_field_by_name(message->base.descriptor, other->name);
        if (field == NULL || field->label != PROTOBUF_C_LABEL_OPTIONAL ||
            !set_number(&message->base, field, other->value)) {
            return client_fail(client, MOREAU_INVALID_ARGUMENT, other->name,
                               "worlds have no setting \"%s\" that can be %g", other->name,
                               other->value);
        }
    }
    return MOREAU_OK;
}

MoreauStatus settings_init(MoreauClient *client, const MoreauSettings *settings,
                           Moreau__V1__WorldSettings *message) {
    moreau__v1__world_settings__init(message);
    if ((settings->given & MOREAU_GRAVITY) != 0) {
        message->n_gravity = 3;
        message->gravity = (double *)settings->gravity;
    }
    message->has_time_step = (settings->given & MOREAU_TIME_STEP) != 0;
    message->time_step = settings->time_step;
    message->has_margin = (settings->given & MOREAU_MARGIN) != 0;
    message->margin = settings->margin;
    message->has_restitution_threshold = (settings->given & MOREAU_RESTITUTION_THRESHOLD) != 0;
    message->restitution_threshold = settings->restitution_threshold;
    message->has_recovery_speed = (settings->given & MOREAU_RECOVERY_SPEED) != 0;
    message->recovery_speed = settings->recovery_speed;
    message->has_integrator = (settings->given & MOREAU_INTEGRATOR) != 0;
    message->integrator = (Moreau__V1__Integrator__Kind)settings->integrator;
    message->has_rotation = (settings->given & MOREAU_ROTATION) != 0;
    message->rotation = (Moreau__V1__Rotation__Kind)settings->rotation;
    message->has_contact_plane = (settings->given & MOREAU_CONTACT_PLANE) != 0;
    message->contact_plane = (Moreau__V1__WorldSettings__ContactPlane)settings->contact_plane;
    message->has_sleep_speed = (settings->given & MOREAU_SLEEP_SPEED) != 0;
    message->sleep_speed = settings->sleep_speed;
    message->has_sleep_time = (settings->given & MOREAU_SLEEP_TIME) != 0;
    message->sleep_time = settings->sleep_time;
    message->has_joint_projection = (settings->given & MOREAU_JOINT_PROJECTION) != 0;
    message->joint_projection = settings->joint_projection;
    message->solver = (char *)settings->solver;
    if (set_others(client, settings, message) != MOREAU_OK) {
        return MOREAU_INVALID_ARGUMENT;
    }
    if ((settings->given & MOREAU_BOUNDS) != 0) {
        message->bounds = make_bounds(settings);
        if (message->bounds == NULL) {
            return client_fail(client, MOREAU_RESOURCE_EXHAUSTED, NULL, "no memory for the bounds");
        }
    }
    if (settings->parameter_count == 0) {
        return MOREAU_OK;
    }
    message->parameters = calloc(1, sizeof(*message->parameters));
    if (message->parameters == NULL) {
        return client_fail(client, MOREAU_RESOURCE_EXHAUSTED, NULL, "no memory for the parameters");
    }
    moreau__v1__solver_parameters__init(message->parameters);
    return set_parameters(client, settings, message->parameters);
}

void settings_deinit(Moreau__V1__WorldSettings *message) {
    free(message->bounds); // its corners are the caller's
    message->bounds = NULL;
    if (message->parameters != NULL) {
        moreau__v1__solver_parameters__free_unpacked(message->parameters, NULL);
        message->parameters = NULL;
    }
}
