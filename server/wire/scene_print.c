// SPDX-License-Identifier: MIT
#include "wire/scene_print.h"

#include "base/bytes.h"
#include "base/assert.h"
#include "moreau.pb-c.h"
#include "solve/solver.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// ---- JSON

static void put(Sink *sink, const char *text) {
    sink_bytes(sink, text, strlen(text));
}

// The shortest of two: most numbers that people write need few digits.
static void put_number(Sink *sink, double value) {
    char text[32];
    if (value == (double)(int)fmax(fmin(value, 1e6), -1e6) && !signbit(value)) {
        snprintf(text, sizeof(text), "%d", (int)value); // most are, and this is quick
        put(sink, text);
        return;
    }
    snprintf(text, sizeof(text), "%.15g", value);
    double back = 0.0;
    if (sscanf(text, "%lf", &back) != 1 || !bytes_same_double(back, value)) {
        snprintf(text, sizeof(text), "%.17g", value);
    }
    put(sink, text);
}

static void put_numbers(Sink *sink, const double *values, size_t count) {
    put(sink, "[");
    for (size_t i = 0; i < count; i++) {
        put(sink, i == 0 ? "" : ",");
        put_number(sink, values[i]);
    }
    put(sink, "]");
}

static void put_text(Sink *sink, const char *text) {
    put(sink, "\"");
    for (const char *at = text; *at != '\0'; at++) {
        unsigned char letter = (unsigned char)*at;
        char escaped[8];
        if (letter < 0x20) {
            snprintf(escaped, sizeof(escaped), "\\u%04x", letter);
            put(sink, escaped);
        } else if (letter == '"' || letter == '\\') {
            snprintf(escaped, sizeof(escaped), "\\%c", letter);
            put(sink, escaped);
        } else {
            sink_bytes(sink, at, 1);
        }
    }
    put(sink, "\"");
}

// Every member but the first has a comma in front.
static void put_key(Sink *sink, bool *is_first, const char *key) {
    put(sink, *is_first ? "" : ",");
    *is_first = false;
    put_text(sink, key);
    put(sink, ":");
}

// ---- settings

static void put_parameter(Sink *sink, const ProtobufCFieldDescriptor *field, double value) {
    if (field->type == PROTOBUF_C_TYPE_BOOL) {
        put(sink, value != 0.0 ? "true" : "false");
    } else if (field->type == PROTOBUF_C_TYPE_ENUM) {
        const ProtobufCEnumValue *name =
            protobuf_c_enum_descriptor_get_value(field->descriptor, (int)value);
        put_text(sink, name == NULL ? "" : name->name);
    } else {
        put_number(sink, value);
    }
}

static void put_solver(Sink *sink, const WorldSettings *settings) {
    const Solver *solver = solver_get((SolverKind)settings->solver);
    const ProtobufCFieldDescriptor *message = protobuf_c_message_descriptor_get_field_by_name(
        &moreau__v1__solver_parameters__descriptor, solver->name);
    ASSERT(message != NULL);
    put_text(sink, solver->name);
    put(sink, ",\"parameters\":{");
    put_text(sink, solver->name);
    put(sink, ":{");
    bool is_first = true;
    for (uint32_t i = 0; i < solver->parameter_count; i++) {
        const char *name = solver->parameters[i].name;
        const ProtobufCFieldDescriptor *field =
            protobuf_c_message_descriptor_get_field_by_name(message->descriptor, name);
        ASSERT(field != NULL);
        put_key(sink, &is_first, name);
        put_parameter(sink, field, settings->parameter[i]);
    }
    put(sink, "}}");
}

static void put_choice(Sink *sink, const char *field_name, uint32_t value) {
    const ProtobufCFieldDescriptor *field = protobuf_c_message_descriptor_get_field_by_name(
        &moreau__v1__world_settings__descriptor, field_name);
    ASSERT(field != NULL);
    put(sink, ",");
    put_text(sink, field_name);
    put(sink, ":");
    put_parameter(sink, field, value);
}

static void put_settings(Sink *sink, const WorldSettings *settings) {
    double gravity[3];
    vec3_store(gravity, settings->gravity);
    put(sink, "{\"gravity\":");
    put_numbers(sink, gravity, 3);
    put(sink, ",\"time_step\":");
    put_number(sink, settings->time_step);
    put(sink, ",\"margin\":");
    put_number(sink, settings->margin);
    put(sink, ",\"restitution_threshold\":");
    put_number(sink, settings->restitution_threshold);
    put(sink, ",\"recovery_speed\":");
    put_number(sink, settings->recovery_speed);
    put(sink, ",\"sleep_speed\":");
    put_number(sink, settings->sleep_speed);
    put(sink, ",\"sleep_time\":");
    put_number(sink, settings->sleep_time);
    put_choice(sink, "integrator", settings->integrator);
    put_choice(sink, "rotation", settings->rotation);
    put_choice(sink, "contact_plane", settings->contact_plane);
    put(sink, ",\"solver\":");
    put_solver(sink, settings);
    if (settings->has_bounds) {
        double corners[6];
        vec3_store(corners, settings->bounds_lower);
        vec3_store(corners + 3, settings->bounds_upper);
        put(sink, ",\"bounds\":{\"lower\":");
        put_numbers(sink, corners, 3);
        put(sink, ",\"upper\":");
        put_numbers(sink, corners + 3, 3);
        put(sink, "}");
    }
    put(sink, "}");
}

// ---- materials

// Bodies name their materials, so a nameless one gets its number.
static void put_material_name(Sink *sink, const World *world, size_t index) {
    char name[32];
    snprintf(name, sizeof(name), "#%zu", index);
    put_text(sink, world->material[index].name[0] != '\0' ? world->material[index].name : name);
}

static void put_material(Sink *sink, const World *world, size_t index) {
    const Material *material = &world->material[index];
    put(sink, "{\"name\":");
    put_material_name(sink, world, index);
    put(sink, ",\"friction\":");
    put_number(sink, material->friction);
    put(sink, ",\"restitution\":");
    put_number(sink, material->restitution);
    if (isfinite(material->stiffness)) { // absent: infinite
        put(sink, ",\"stiffness\":");
        put_number(sink, material->stiffness);
    }
    put(sink, ",\"dissipation_time\":");
    put_number(sink, material->dissipation_time);
    put(sink, ",\"damping\":");
    put_number(sink, material->damping);
    put(sink, "}");
}

// ---- bodies

// What is as it would be without being named is not named.
static void put_unless(Sink *sink, const char *key, const double *values, const double *standard,
                       size_t count) {
    if (memcmp(values, standard, count * sizeof(*values)) != 0) {
        put(sink, ",");
        put_text(sink, key);
        put(sink, ":");
        put_numbers(sink, values, count);
    }
}

static const double zeros[3];

static void put_pose(Sink *sink, const double pose[7]) {
    static const double upright[4] = {1.0, 0.0, 0.0, 0.0};
    put_unless(sink, "position", pose, zeros, 3);
    put_unless(sink, "orientation", pose + 3, upright, 4);
}

static void put_kind(Sink *sink, const Primitive *primitive) {
    double size[3];
    vec3_store(size, primitive->size);
    switch (primitive->kind) {
    case PRIMITIVE_SPHERE:
        put(sink, "\"sphere\":{\"radius\":");
        put_number(sink, size[0]);
        break;
    case PRIMITIVE_BOX:
        put(sink, "\"box\":{\"half_extents\":");
        put_numbers(sink, size, 3);
        break;
    case PRIMITIVE_CAPSULE:
        put(sink, "\"capsule\":{\"radius\":");
        put_number(sink, size[0]);
        put(sink, ",\"half_length\":");
        put_number(sink, size[1]);
        break;
    case PRIMITIVE_PLANE:
    case PRIMITIVE_COUNT:
        put(sink, "\"plane\":{"); // its local pose says where
        break;
    }
    put(sink, "}");
}

static void put_primitive(Sink *sink, const World *world, const Primitive *primitive) {
    double pose[7];
    vec3_store(pose, primitive->local.position);
    const Quat *turn = &primitive->local.orientation;
    pose[3] = turn->w;
    pose[4] = turn->x;
    pose[5] = turn->y;
    pose[6] = turn->z;
    put(sink, "{");
    put_kind(sink, primitive);
    put_pose(sink, pose);
    if (primitive->material != 0) {
        put(sink, ",\"material\":");
        put_material_name(sink, world, primitive->material);
    }
    put(sink, ",\"density\":");
    put_number(sink, primitive->density);
    if (primitive->group != PRIMITIVE_GROUP_DEFAULT) {
        put(sink, ",\"group\":");
        put_number(sink, primitive->group);
    }
    if (primitive->mask != PRIMITIVE_MASK_DEFAULT) {
        put(sink, ",\"mask\":");
        put_number(sink, primitive->mask);
    }
    put(sink, "}");
}

static void put_mass(Sink *sink, const BodyMass *mass) {
    const Sym3 *inertia = &mass->inertia;
    const double six[6] = {inertia->xx, inertia->yy, inertia->zz,
                           inertia->xy, inertia->xz, inertia->yz};
    double center[3];
    vec3_store(center, mass->center);
    if (mass->mass != 0.0) {
        put(sink, ",\"mass\":");
        put_number(sink, mass->mass);
        put(sink, ",\"inertia\":");
        put_numbers(sink, six, 6);
    }
    if (mass->mass != 0.0) { // with inertia its default is the origin
        put_unless(sink, "center_of_mass", center, zeros, 3);
    }
}

static void put_body(Sink *sink, const World *world, uint32_t index) {
    static const char *const kinds[BODY_KIND_COUNT] = {"DYNAMIC", "KINEMATIC", "STATIC"};
    const double *velocity = world->velocity + 6 * (size_t)index;
    double pose[7];
    bool is_first = true;
    put(sink, "{");
    if (world->body_name[index] != NULL) {
        put_key(sink, &is_first, "name");
        put_text(sink, world->body_name[index]);
    }
    put_key(sink, &is_first, "kind");
    put_text(sink, kinds[world->kind[index]]);
    world_body_pose(world, index, pose);
    put_pose(sink, pose);
    put_unless(sink, "linear_velocity", velocity, zeros, 3);
    put_unless(sink, "angular_velocity", velocity + 3, zeros, 3);
    put_mass(sink, &world->mass[index]);
    const Shape *shape = world_body_shape(world, index);
    put(sink, ",\"shapes\":[");
    for (uint32_t i = 0; shape != NULL && i < shape->primitive_count; i++) {
        put(sink, i == 0 ? "" : ",");
        put_primitive(sink, world, &world->primitive[shape->primitive_first + i]);
    }
    put(sink, "]}");
}

void scene_print(const World *world, uint32_t first, Sink *sink) {
    put(sink, "{\"settings\":");
    put_settings(sink, &world->settings);
    put(sink, ",\"materials\":[");
    for (size_t i = 1; i < world->material_count; i++) { // the first is built in
        put(sink, i == 1 ? "" : ",");
        put_material(sink, world, i);
    }
    put(sink, "],\"bodies\":[");
    for (uint32_t i = first; i < world->body_count; i++) {
        put(sink, i == first ? "" : ",");
        put_body(sink, world, i);
    }
    put(sink, "]}\n");
}
