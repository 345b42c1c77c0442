// SPDX-License-Identifier: MIT
#include "wire/scene/print.h"

#include "base/bytes.h"
#include "base/assert.h"
#include "moreau.pb-c.h"
#include "solve/solver.h"
#include "wire/joints.h"
#include "wire/scene/names.h"

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

static void put_setting(Sink *sink, const WorldSettings *settings, const Setting *setting) {
    const ProtobufCFieldDescriptor *field = protobuf_c_message_descriptor_get_field_by_name(
        &moreau__v1__world_settings__descriptor, setting->name);
    ASSERT(field != NULL);
    if (setting->type == SETTING_IS_VECTOR) {
        put_numbers(sink, setting_of(settings, setting), 3);
    } else {
        put_parameter(sink, field, setting_number(settings, setting));
    }
}

static void put_settings(Sink *sink, const WorldSettings *settings) {
    bool is_first = true;
    put(sink, "{");
    for (int i = 0; i < SETTING_COUNT; i++) {
        const Setting *setting = setting_get((SettingKind)i);
        put_key(sink, &is_first, setting->name);
        put_setting(sink, settings, setting);
    }
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
    if (material->hertz_exponent != 1.0) {
        put(sink, ",\"hertz_exponent\":");
        put_number(sink, material->hertz_exponent);
    }
    if (material->priority != 0.0) {
        put(sink, ",\"priority\":");
        put_number(sink, material->priority);
    }
    put(sink, "}");
}

static void put_pairs(Sink *sink, const World *world) {
    for (size_t i = 0; i < world->material_pair_count; i++) {
        const MaterialPair *pair = &world->material_pair[i];
        put(sink, i == 0 ? ",\"material_pairs\":[{" : ",{");
        if (pair->low > 0) { // absent: the built-in one
            put(sink, "\"a\":");
            put_material_name(sink, world, pair->low);
            put(sink, ",");
        }
        if (pair->high > 0) {
            put(sink, "\"b\":");
            put_material_name(sink, world, pair->high);
            put(sink, ",");
        }
        put(sink, "\"friction\":");
        put_number(sink, pair->friction);
        put(sink, i + 1 == world->material_pair_count ? "}]" : "}");
    }
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

static void put_hull(Sink *sink, const Hull *hull) {
    put(sink, "{\"points\":");
    put_numbers(sink, &hull->point[0].x, 3 * (size_t)hull->vertex_count);
    put(sink, ",\"faces\":[");
    for (uint32_t i = 0; i < hull->face_count; i++) {
        put(sink, i == 0 ? "{\"points\":[" : ",{\"points\":[");
        for (uint32_t k = hull->face_first[i]; k < hull->face_first[i + 1]; k++) {
            put(sink, k == hull->face_first[i] ? "" : ",");
            put_number(sink, hull->corner[k]);
        }
        put(sink, "]}");
    }
    put(sink, "]}");
}

static void put_patches(Sink *sink, const uint8_t *patch, size_t count) {
    for (size_t i = 0; patch != NULL && i < count; i++) {
        put(sink, i == 0 ? ",\"patches\":[" : ",");
        put_number(sink, patch[i]);
        put(sink, i + 1 == count ? "]" : "");
    }
}

static void put_mesh(Sink *sink, const Geometry *geometry) {
    const MeshForm form = geometry_mesh_form(geometry);
    put(sink, "{\"points\":");
    put_numbers(sink, &form.point[0].x, 3 * (size_t)form.point_count);
    put(sink, ",\"triangles\":[");
    for (size_t k = 0; k < 3 * (size_t)form.triangle_count; k++) {
        put(sink, k == 0 ? "" : ",");
        put_number(sink, form.corner[k]);
    }
    put(sink, form.is_two_sided ? "],\"two_sided\":true" : "]");
    put_patches(sink, form.patch, form.triangle_count);
    put(sink, "}");
}

static void put_heights(Sink *sink, const Geometry *geometry) {
    const HeightForm form = geometry_height_form(geometry);
    put(sink, "{\"columns\":");
    put_number(sink, form.columns);
    put(sink, ",\"rows\":");
    put_number(sink, form.rows);
    put(sink, ",\"spacing\":");
    put_numbers(sink, form.spacing, 2);
    put(sink, ",\"heights\":");
    put_numbers(sink, form.height, (size_t)form.columns * form.rows);
    put_patches(sink, form.patch, heights_cells(&form));
    put(sink, "}");
}

static void put_geometry(Sink *sink, const Geometry *geometry) {
    switch (geometry->kind) {
    case GEOMETRY_HULL:
        put(sink, ",\"hull\":");
        put_hull(sink, geometry->hull);
        break;
    case GEOMETRY_MESH:
        put(sink, ",\"mesh\":");
        put_mesh(sink, geometry);
        break;
    case GEOMETRY_HEIGHT_FIELD:
        put(sink, ",\"height_field\":");
        put_heights(sink, geometry);
        break;
    }
}

static void put_geometry_name(Sink *sink, size_t number) {
    char name[SCENE_GEOMETRY_NAME_BYTES];
    scene_geometry_name(number, name);
    put_text(sink, name);
}

static void put_geometries(Sink *sink, const World *world) {
    for (size_t i = 0; i < world->geometry_count; i++) {
        put(sink, i == 0 ? ",\"geometries\":[{\"name\":" : ",{\"name\":");
        put_geometry_name(sink, i + 1);
        put_geometry(sink, world->geometry[i].geometry);
        put(sink, i + 1 == world->geometry_count ? "}]" : "}");
    }
}

static void put_kind(Sink *sink, const Primitive *primitive) {
    const PrimitiveRow *row = &primitive_rows[primitive->kind];
    double size[3];
    bool is_first = true;
    vec3_store(size, primitive->size);
    put_text(sink, row->key);
    put(sink, ":{"); // of a plane nothing: its local pose says where it is
    for (uint32_t k = 0; k < (row->is_list ? 1 : row->size_count); k++) {
        put_key(sink, &is_first, row->size[k].name);
        if (row->is_list) {
            put_numbers(sink, size, row->size_count);
        } else {
            put_number(sink, size[k]);
        }
    }
    if (primitive->geometry != NULL) {
        put_key(sink, &is_first, "geometry");
        put_geometry_name(sink, primitive->geometry_number);
    }
    put(sink, "}");
}

static void put_foundation(Sink *sink, const Foundation *foundation) {
    static const char *const faces[] = {"POSITIVE_X", "NEGATIVE_X", "POSITIVE_Y",
                                        "NEGATIVE_Y", "POSITIVE_Z", "NEGATIVE_Z"};
    if (foundation->face == 0) {
        return;
    }
    const double cells[2] = {foundation->cells[0], foundation->cells[1]};
    put(sink, ",\"foundation\":{\"face\":\"");
    put(sink, faces[foundation->face - 1]);
    put(sink, "\",\"cells\":");
    put_numbers(sink, cells, 2);
    put(sink, ",\"modulus\":");
    put_number(sink, foundation->modulus);
    put(sink, ",\"depth\":");
    put_number(sink, foundation->depth);
    put(sink, ",\"damping\":");
    put_number(sink, foundation->damping);
    put(sink, "}");
}

// Names of those up to the last that has one of its own.
static void put_patch_materials(Sink *sink, const World *world, const Primitive *primitive) {
    uint32_t count = MESH_PATCHES_MAX - 1;
    while (count > 0 && primitive->patch_material[count - 1] == 0) {
        count--;
    }
    for (uint32_t k = 0; k < count; k++) {
        put(sink, k == 0 ? ",\"patch_materials\":[" : ",");
        if (primitive->patch_material[k] == 0) {
            put(sink, "\"\"");
        } else {
            put_material_name(sink, world, primitive->patch_material[k] - 1);
        }
        put(sink, k + 1 == count ? "]" : "");
    }
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
    put_patch_materials(sink, world, primitive);
    put(sink, ",\"density\":");
    put_number(sink, primitive->density);
    put_foundation(sink, &primitive->foundation);
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

// ---- joints

static void put_enum(Sink *sink, const ProtobufCEnumDescriptor *descriptor, int value) {
    const ProtobufCEnumValue *name = protobuf_c_enum_descriptor_get_value(descriptor, value);
    put_text(sink, name == NULL ? "" : name->name);
}

// A body or a joint by its name, or by its number where it has none.
static void put_referred(Sink *sink, const char *name, size_t number) {
    char text[32];
    snprintf(text, sizeof(text), "#%zu", number);
    put_text(sink, name != NULL ? name : text);
}

static void put_reference(Sink *sink, const char *key, const char *name, size_t number) {
    put(sink, ",");
    put_text(sink, key);
    put(sink, ":");
    put_referred(sink, name, number);
}

static void put_frame(Sink *sink, const World *world, const Joint *joint, int side) {
    Pose pose = joint->frame[side];
    double packed[7];
    if (joint->body[side] != JOINT_NO_BODY) {
        pose.position = vec3_add(pose.position, world->mass[joint->body[side]].center);
    }
    pose_store(packed, pose);
    put(sink, side == 0 ? ",\"frame_a\":" : ",\"frame_b\":");
    put_numbers(sink, packed, 7);
}

// One number of each axis, unless all of them are as they would be without being named.
static void put_axis_list(Sink *sink, const char *key, const double *first, size_t stride,
                          uint32_t count, double standard) {
    double values[JOINT_AXES_MAX];
    bool is_standard = true;
    for (uint32_t i = 0; i < count; i++) {
        const double value = *(const double *)(const void *)((const char *)first + i * stride);
        is_standard = is_standard && value == standard;
        values[i] = isinf(value) ? copysign(JOINTS_NONE, value) : value;
    }
    if (!is_standard) {
        put(sink, ",");
        put_text(sink, key);
        put(sink, ":");
        put_numbers(sink, values, count);
    }
}

static void put_axes(Sink *sink, const World *world, const Joint *joint) {
    const uint32_t count = joint_axis_count(joint->axes);
    if (count == 0) {
        return;
    }
    const JointAxis *axis = &world->joint_axis[joint->axis_first];
    const size_t first = joint->axis_first, stride = sizeof(JointAxis);
    put_axis_list(sink, "low", &axis->low, stride, count, -HUGE_VAL);
    put_axis_list(sink, "high", &axis->high, stride, count, HUGE_VAL);
    put_axis_list(sink, "stiffness", &axis->stiffness, stride, count, 0.0);
    put_axis_list(sink, "rest", &axis->rest, stride, count, 0.0);
    put_axis_list(sink, "damping", &axis->damping, stride, count, 0.0);
    put_axis_list(sink, "friction", &axis->friction, stride, count, 0.0);
    put_axis_list(sink, "armature", &axis->armature, stride, count, 0.0);
    put_axis_list(sink, "drive_stiffness", &axis->drive_stiffness, stride, count, 0.0);
    put_axis_list(sink, "drive_damping", &axis->drive_damping, stride, count, 0.0);
    put_axis_list(sink, "effort_max", &axis->effort_max, stride, count, HUGE_VAL);
    put_axis_list(sink, "stall_effort", &axis->stall_effort, stride, count, 0.0);
    put_axis_list(sink, "no_load_speed", &axis->no_load_speed, stride, count, 0.0);
    put_axis_list(sink, "lag_time", &axis->lag_time, stride, count, 0.0);
    put_axis_list(sink, "delay_steps", &axis->delay_steps, stride, count, 0.0);
    const size_t number = sizeof(double);
    put_axis_list(sink, "target", world->joint_target + first, number, count, 0.0);
    put_axis_list(sink, "target_velocity", world->joint_target_velocity + first, number, count,
                  0.0);
    put_axis_list(sink, "effort", world->joint_effort + first, number, count, 0.0);
    if (!joint->is_rows) {
        put_axis_list(sink, "velocity", world->joint_velocity + first, number, count, -HUGE_VAL);
        put(sink, ",\"position\":");
        put_numbers(sink, world->joint_position + joint->position_first,
                    joint_position_count(joint->axes));
    }
}

static void put_free_axes(Sink *sink, uint8_t axes) {
    bool is_first = true;
    put(sink, ",\"axes\":[");
    for (int bit = 0; bit < JOINT_AXES_MAX; bit++) {
        if (axes & (1 << bit)) {
            put(sink, is_first ? "" : ",");
            put_enum(sink, &moreau__v1__joint__axis__descriptor, bit);
            is_first = false;
        }
    }
    put(sink, "]");
}

// What only rows have.
static void put_rows(Sink *sink, const Joint *joint) {
    put(sink, ",\"as_rows\":true");
    if (isfinite(joint->break_force)) {
        put(sink, ",\"break_force\":");
        put_number(sink, joint->break_force);
    }
    if (isfinite(joint->break_torque)) {
        put(sink, ",\"break_torque\":");
        put_number(sink, joint->break_torque);
    }
}

static void put_couplings(Sink *sink, const World *world, const Joint *joint) {
    const uint32_t count = joint->coupling_count;
    put(sink, ",\"coupled\":[");
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t of = world_coupling(world, joint, i).joint;
        put(sink, i == 0 ? "" : ",");
        put_referred(sink, world->joint[of].name, of);
    }
    put(sink, "],\"coupled_axes\":[");
    for (uint32_t i = 0; i < count; i++) {
        put(sink, i == 0 ? "" : ",");
        put_number(sink, world_coupling(world, joint, i).axis);
    }
    put(sink, "],\"coefficients\":[");
    for (uint32_t i = 0; i < count; i++) {
        put(sink, i == 0 ? "" : ",");
        put_number(sink, world_coupling(world, joint, i).coefficient);
    }
    put(sink, "]");
}

static void put_joint(Sink *sink, const World *world, uint32_t first, const Joint *joint) {
    put(sink, "{\"kind\":");
    put_enum(sink, &moreau__v1__joint__kind__descriptor, joint->kind);
    if (joint->name != NULL) {
        put(sink, ",\"name\":");
        put_text(sink, joint->name);
    }
    if (joint->kind == JOINT_GEAR) {
        for (int s = 0; s < 2; s++) {
            put_reference(sink, s == 0 ? "joint_a" : "joint_b",
                          world->joint[joint->partner[s]].name, joint->partner[s]);
        }
        put(sink, ",\"ratio\":");
        put_number(sink, joint->ratio);
    } else if (joint->kind == JOINT_TENDON) {
        put_couplings(sink, world, joint);
    } else {
        for (int s = 0; s < 2; s++) {
            const uint32_t body = joint->body[s];
            if (body != JOINT_NO_BODY) {
                put_reference(sink, s == 0 ? "body_a" : "body_b", world->body_name[body],
                              body - first);
            }
        }
        put_frame(sink, world, joint, 0);
        put_frame(sink, world, joint, 1);
    }
    if (joint->kind == JOINT_GENERIC) {
        put_free_axes(sink, joint->axes);
    } else if (joint->kind == JOINT_DISTANCE) {
        put(sink, ",\"length\":");
        put_number(sink, joint->length);
    }
    if (joint->is_rows) {
        put_rows(sink, joint);
    }
    if (joint->collides) {
        put(sink, ",\"collides\":true");
    }
    put_axes(sink, world, joint);
    put(sink, "}");
}

// Joints of bodies before the first are not told; they have nothing to do with those behind.
static bool is_told(const World *world, uint32_t first, const Joint *joint) {
    bool is = true;
    for (uint32_t i = 0; i < world_joint_end_count(joint); i++) {
        const uint32_t body = world_joint_end(world, joint, i);
        is = is && (body == JOINT_NO_BODY || body >= first);
    }
    return is;
}

static void put_joints(Sink *sink, const World *world, uint32_t first) {
    bool is_first = true;
    for (size_t i = 0; i < world->joint_count; i++) {
        if (is_told(world, first, &world->joint[i])) {
            put(sink, is_first ? ",\"joints\":[" : ",");
            put_joint(sink, world, first, &world->joint[i]);
            is_first = false;
        }
    }
    put(sink, is_first ? "" : "]");
}

void scene_print(const World *world, uint32_t first, Sink *sink) {
    put(sink, "{\"settings\":");
    put_settings(sink, &world->settings);
    put(sink, ",\"materials\":[");
    for (size_t i = 1; i < world->material_count; i++) { // the first is built in
        put(sink, i == 1 ? "" : ",");
        put_material(sink, world, i);
    }
    put(sink, "]");
    put_pairs(sink, world);
    put_geometries(sink, world);
    put(sink, ",\"bodies\":[");
    for (uint32_t i = first; i < world->body_count; i++) {
        put(sink, i == first ? "" : ",");
        put_body(sink, world, i);
    }
    put(sink, "]");
    put_joints(sink, world, first);
    put(sink, "}\n");
}
