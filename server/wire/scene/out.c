// SPDX-License-Identifier: MIT
#include "wire/scene/out.h"

#include "base/bytes.h"
#include "wire/convert.h"
#include "wire/joints.h"
#include "wire/scene/geometry.h"
#include "wire/scene/names.h"
#include "wire/scene/parts.h"
#include "wire/scene/primitive.h"
#include "wire/scene/unit.h"

#include <math.h>
#include <string.h>

// What is being written. Once the arena has ended, nothing is.
typedef struct Out {
    const World *world;
    Arena *arena;
    bool failed;
    const char **material, **body, **joint; // names, see names.h
} Out;

static void *take(Out *out, size_t count, size_t bytes) {
    void *memory = out->failed ? NULL : arena_take_zeroed(out->arena, count, bytes);
    out->failed = memory == NULL;
    return memory;
}

static double *put(Out *out, const double *values, size_t count, size_t *n) {
    double *kept = take(out, count, sizeof(double));
    *n = kept == NULL ? 0 : count;
    return kept == NULL ? NULL : memcpy(kept, values, count * sizeof(double));
}

static const double zeros[6];

// What is as it would be without being named is not named.
static double *put_unless(Out *out, const double *values, const double *standard, size_t count,
                          size_t *n) {
    *n = 0;
    return bytes_are_same(values, standard, count * sizeof(double)) ? NULL
                                                                    : put(out, values, count, n);
}

// ---- materials

static Moreau__V1__Material *put_material(Out *out, size_t index) {
    const Material *material = &out->world->material[index];
    Moreau__V1__Material *m = take(out, 1, sizeof(*m));
    if (m == NULL) {
        return NULL;
    }
    moreau__v1__material__init(m);
    m->name = (char *)out->material[index - 1];
    m->has_friction = m->has_restitution = m->has_dissipation_time = m->has_damping = 1;
    m->friction = material->friction;
    m->restitution = material->restitution;
    m->dissipation_time = material->dissipation_time;
    m->damping = material->damping;
    m->has_stiffness = isfinite(material->stiffness); // absent: infinite
    m->stiffness = m->has_stiffness ? material->stiffness : 0.0;
    m->has_hertz_exponent = material->hertz_exponent != 1.0;
    m->hertz_exponent = material->hertz_exponent;
    m->has_priority = material->priority != 0.0;
    m->priority = material->priority;
    return m;
}

// Materials of shapes and of pairs must be named.
static void name_materials(Out *out) {
    const World *world = out->world;
    const size_t count = world->material_count - 1;
    out->material = take(out, count, sizeof(char *));
    bool *needs = take(out, count, sizeof(bool));
    if (needs == NULL) {
        return;
    }
    for (size_t i = 0; i < count; i++) {
        out->material[i] = world->material[i + 1].name;
    }
    for (uint32_t body = 0; body < world->body_count; body++) {
        const Shape *shape = world_body_shape(world, body);
        for (uint32_t i = 0; shape != NULL && i < shape->primitive_count; i++) {
            const Primitive *primitive = &world->primitive[shape->primitive_first + i];
            for (uint32_t patch = 0; patch < MESH_PATCHES_MAX; patch++) {
                const uint32_t material = primitive_material(primitive, patch);
                if (material > 0) {
                    needs[material - 1] = true;
                }
            }
        }
    }
    for (size_t i = 0; i < world->material_pair_count; i++) {
        const uint32_t both[] = {world->material_pair[i].low, world->material_pair[i].high};
        for (int side = 0; side < 2; side++) {
            if (both[side] > 0) {
                needs[both[side] - 1] = true;
            }
        }
    }
    out->failed = !scene_names_make(out->material, count, needs, "material", out->arena);
}

// ---- shapes

static char *geometry_name(Out *out, size_t number) {
    char *name = take(out, SCENE_GEOMETRY_NAME_BYTES, sizeof(char));
    if (name != NULL) {
        scene_geometry_name(number, name);
    }
    return name;
}

static Moreau__V1__SceneGeometry *put_geometry(Out *out, size_t index) {
    Moreau__V1__SceneGeometry *m = take(out, 1, sizeof(*m));
    if (m == NULL) {
        return NULL;
    }
    moreau__v1__scene_geometry__init(m);
    m->name = geometry_name(out, index + 1);
    const Geometry *geometry = out->world->geometry[index].geometry;
    switch (geometry->kind) {
    case GEOMETRY_HULL:
        m->hull = wire_hull_message(geometry->hull, out->arena);
        break;
    case GEOMETRY_MESH:
        m->mesh = wire_mesh_message(geometry, out->arena);
        break;
    case GEOMETRY_HEIGHT_FIELD:
        m->height_field = wire_heights_message(geometry, out->arena);
        break;
    }
    out->failed = out->failed || (m->hull == NULL && m->mesh == NULL && m->height_field == NULL);
    return m;
}

static void put_kind(Out *out, const Primitive *primitive, Moreau__V1__ScenePrimitive *m) {
    double size[3]; // a plane has none: its local pose says where it is
    vec3_store(size, primitive->size);
    out->failed = out->failed || !scene_primitive_put(primitive->kind, size, out->arena, m);
    if (out->failed || primitive->geometry == NULL) {
        return;
    }
    char *name = geometry_name(out, primitive->geometry_number);
    switch (primitive->geometry->kind) {
    case GEOMETRY_HULL:
        m->hull->geometry = name;
        break;
    case GEOMETRY_MESH:
        m->mesh->geometry = name;
        break;
    case GEOMETRY_HEIGHT_FIELD:
        m->height_field->geometry = name;
        break;
    }
}

static Moreau__V1__Foundation *put_foundation(Out *out, const Foundation *foundation) {
    Moreau__V1__Foundation *m = take(out, 1, sizeof(*m));
    uint32_t *cells = take(out, 2, sizeof(*cells));
    if (cells == NULL) {
        return NULL;
    }
    moreau__v1__foundation__init(m);
    m->has_face = m->has_modulus = m->has_depth = m->has_damping = 1;
    m->face = (Moreau__V1__Foundation__Face)foundation->face;
    m->n_cells = 2;
    m->cells = memcpy(cells, foundation->cells, 2 * sizeof(*cells));
    m->modulus = foundation->modulus;
    m->depth = foundation->depth;
    m->damping = foundation->damping;
    return m;
}

// Names of those up to the last that has one of its own.
static void put_patches(Out *out, const Primitive *primitive, Moreau__V1__ScenePrimitive *m) {
    size_t count = MESH_PATCHES_MAX - 1;
    while (count > 0 && primitive->patch_material[count - 1] == 0) {
        count--;
    }
    static char none[1] = "";
    m->patch_materials = count == 0 ? NULL : take(out, count, sizeof(char *));
    for (size_t k = 0; m->patch_materials != NULL && k < count; k++) {
        const uint32_t own = primitive->patch_material[k];
        m->patch_materials[m->n_patch_materials++] =
            own < 2 ? none : (char *)(uintptr_t)out->material[own - 2];
    }
}

static const double upright[4] = {1.0, 0.0, 0.0, 0.0};

static Moreau__V1__ScenePrimitive *put_primitive(Out *out, const Primitive *primitive) {
    Moreau__V1__ScenePrimitive *m = take(out, 1, sizeof(*m));
    double pose[7];
    if (m == NULL) {
        return NULL;
    }
    moreau__v1__scene_primitive__init(m);
    put_kind(out, primitive, m);
    pose_store(pose, (Pose){primitive->local.position, unit_inverse(primitive->local.orientation)});
    m->position = put_unless(out, pose, zeros, 3, &m->n_position);
    m->orientation = put_unless(out, pose + 3, upright, 4, &m->n_orientation);
    m->material = primitive->material == 0 ? NULL : (char *)out->material[primitive->material - 1];
    put_patches(out, primitive, m);
    m->has_density = 1;
    m->density = primitive->density;
    m->foundation =
        primitive->foundation.face == 0 ? NULL : put_foundation(out, &primitive->foundation);
    m->has_group = primitive->group != PRIMITIVE_GROUP_DEFAULT;
    m->group = primitive->group;
    m->has_mask = primitive->mask != PRIMITIVE_MASK_DEFAULT;
    m->mask = primitive->mask;
    return m;
}

// ---- bodies

static void put_mass(Out *out, const BodyMass *mass, Moreau__V1__SceneBody *m) {
    const Sym3 *inertia = &mass->inertia;
    const double six[6] = {inertia->xx, inertia->yy, inertia->zz,
                           inertia->xy, inertia->xz, inertia->yz};
    double center[3];
    vec3_store(center, mass->center);
    m->center_of_mass = put_unless(out, center, zeros, 3, &m->n_center_of_mass);
    if (mass->mass != 0.0) { // of a dynamic body
        m->has_mass = 1;
        m->mass = mass->mass;
        m->inertia = put(out, six, 6, &m->n_inertia);
    }
}

// Of the origin, so that the centre of mass comes back.
static void put_pose(Out *out, uint32_t body, Moreau__V1__SceneBody *m) {
    const Pose center = pose_load(out->world->pose + 7 * (size_t)body);
    const Vec3 arm = quat_rotate(center.orientation, out->world->mass[body].center);
    double pose[7];
    pose_store(pose,
               (Pose){unit_place_before(center.position, arm), unit_inverse(center.orientation)});
    m->position = put_unless(out, pose, zeros, 3, &m->n_position);
    m->orientation = put_unless(out, pose + 3, upright, 4, &m->n_orientation);
}

static Moreau__V1__SceneBody *put_body(Out *out, uint32_t index) {
    const World *world = out->world;
    const double *velocity = world->velocity + 6 * (size_t)index;
    const Shape *shape = world_body_shape(world, index);
    const uint32_t shapes = shape == NULL ? 0 : shape->primitive_count;
    Moreau__V1__SceneBody *m = take(out, 1, sizeof(*m));
    if (m == NULL) {
        return NULL;
    }
    moreau__v1__scene_body__init(m);
    m->name = (char *)out->body[index];
    m->has_kind = 1;
    m->kind = (Moreau__V1__Body__Kind)world->kind[index];
    put_pose(out, index, m);
    m->linear_velocity = put_unless(out, velocity, zeros, 3, &m->n_linear_velocity);
    m->angular_velocity = put_unless(out, velocity + 3, zeros, 3, &m->n_angular_velocity);
    put_mass(out, &world->mass[index], m);
    m->shapes = take(out, shapes, sizeof(*m->shapes));
    for (uint32_t i = 0; !out->failed && i < shapes; i++) {
        m->shapes[m->n_shapes++] =
            put_primitive(out, &world->primitive[shape->primitive_first + i]);
    }
    return m;
}

// ---- joints

static double *put_frame(Out *out, const Joint *joint, int side, size_t *n) {
    const Pose pose = joint->frame[side];
    Vec3 position = pose.position;
    double packed[7];
    if (joint->body[side] != JOINT_NO_BODY) {
        const Vec3 center = out->world->mass[joint->body[side]].center;
        position = unit_place_before(position, vec3_neg(center)); // reading takes it away
    }
    pose_store(packed, (Pose){position, unit_inverse(pose.orientation)});
    return put(out, packed, 7, n);
}

// One number of each axis, unless all of them are as they would be without being named.
static double *put_axes(Out *out, const double *first, size_t stride, uint32_t count,
                        double standard, size_t *n) {
    double values[JOINT_AXES_MAX];
    bool is_standard = true;
    for (uint32_t i = 0; i < count; i++) {
        const double value = *(const double *)(const void *)((const char *)first + i * stride);
        is_standard = is_standard && bytes_same_double(value, standard);
        values[i] = isinf(value) ? copysign(JOINTS_NONE, value) : value;
    }
    *n = 0;
    return is_standard ? NULL : put(out, values, count, n);
}

static void put_numbers(Out *out, const Joint *joint, Moreau__V1__SceneJoint *m) {
    const World *world = out->world;
    const uint32_t count = joint_axis_count(joint->axes);
    const size_t first = joint->axis_first, one = sizeof(double);
    const double *position = world->joint_position + joint->position_first;
    if (count == 0) {
        return;
    }
    const JointAxis *axis = &world->joint_axis[first];
#define X(upper, member, range, none)                                                              \
    m->member = put_axes(out, &axis->member, sizeof(JointAxis), count, none, &m->n_##member);
    JOINT_NUMBER_MAP(X)
#undef X
    m->target = put_axes(out, world->joint_target + first, one, count, 0.0, &m->n_target);
    m->target_velocity =
        put_axes(out, world->joint_target_velocity + first, one, count, 0.0, &m->n_target_velocity);
    m->effort = put_axes(out, world->joint_effort + first, one, count, 0.0, &m->n_effort);
    m->position = put(out, position, joint_position_count(joint->axes), &m->n_position);
    if ((joint->axes & JOINT_TURNS) == JOINT_TURNS && m->position != NULL) {
        double *q = m->position + joint_axis_count(joint->axes & JOINT_MOVES);
        const Quat turn = unit_inverse((Quat){q[0], q[1], q[2], q[3]});
        q[0] = turn.w, q[1] = turn.x, q[2] = turn.y, q[3] = turn.z;
    }
    if (!joint->is_rows) { // of rows it is measured
        m->velocity = put(out, world->joint_velocity + first, count, &m->n_velocity);
    }
}

static void put_free_axes(Out *out, uint8_t axes, Moreau__V1__SceneJoint *m) {
    m->axes = take(out, JOINT_AXES_MAX, sizeof(*m->axes));
    for (int bit = 0; m->axes != NULL && bit < JOINT_AXES_MAX; bit++) {
        if (axes & (1 << bit)) {
            m->axes[m->n_axes++] = (Moreau__V1__Joint__Axis)bit;
        }
    }
}

static char *refer(Out *out, const char **names, uint32_t index, uint32_t none) {
    char *text = index == none ? NULL : scene_names_refer(names[index], index, out->arena);
    out->failed = out->failed || (index != none && text == NULL);
    return text;
}

static void put_couplings(Out *out, const Joint *joint, Moreau__V1__SceneJoint *m) {
    const uint32_t count = joint->coupling_count;
    if (count == 0) {
        return;
    }
    m->coupled = take(out, count, sizeof(*m->coupled));
    m->coupled_axes = take(out, count, sizeof(*m->coupled_axes));
    m->coefficients = take(out, count, sizeof(*m->coefficients));
    for (uint32_t i = 0; i < count && !out->failed; i++) {
        const Coupling of = world_coupling(out->world, joint, i);
        m->coupled[m->n_coupled++] = refer(out, out->joint, of.joint, JOINT_NONE);
        m->coupled_axes[m->n_coupled_axes++] = of.axis;
        m->coefficients[m->n_coefficients++] = of.coefficient;
    }
}

static Moreau__V1__SceneJoint *put_joint(Out *out, size_t index) {
    const Joint *joint = &out->world->joint[index];
    Moreau__V1__SceneJoint *m = take(out, 1, sizeof(*m));
    if (m == NULL) {
        return NULL;
    }
    moreau__v1__scene_joint__init(m);
    m->name = (char *)out->joint[index];
    m->has_kind = 1;
    m->kind = (Moreau__V1__Joint__Kind)joint->kind;
    m->body_a = refer(out, out->body, joint->body[0], JOINT_NO_BODY);
    m->body_b = refer(out, out->body, joint->body[1], JOINT_NO_BODY);
    m->frame_a = put_frame(out, joint, 0, &m->n_frame_a);
    m->frame_b = put_frame(out, joint, 1, &m->n_frame_b);
    if (joint->kind == JOINT_GENERIC) {
        put_free_axes(out, joint->axes, m);
    }
    if (joint->kind == JOINT_GEAR) {
        m->joint_a = refer(out, out->joint, joint->partner[0], JOINT_NONE);
        m->joint_b = refer(out, out->joint, joint->partner[1], JOINT_NONE);
    }
    put_couplings(out, joint, m);
    m->has_as_rows = joint->is_rows;
    m->as_rows = joint->is_rows;
    m->has_collides = joint->collides;
    m->collides = joint->collides;
    m->has_ratio = joint->kind == JOINT_GEAR || joint->ratio != 1.0;
    m->ratio = joint->ratio;
    m->has_length = joint->kind == JOINT_DISTANCE || joint->length != 1.0;
    m->length = joint->length;
    m->has_break_force = isfinite(joint->break_force);
    m->break_force = m->has_break_force ? joint->break_force : 0.0;
    m->has_break_torque = isfinite(joint->break_torque);
    m->break_torque = m->has_break_torque ? joint->break_torque : 0.0;
    put_numbers(out, joint, m);
    return m;
}

// ---- the whole

static void name_things(Out *out) {
    const World *world = out->world;
    name_materials(out);
    out->body = take(out, world->body_count, sizeof(char *));
    out->joint = take(out, world->joint_count, sizeof(char *));
    if (out->failed) {
        return;
    }
    for (uint32_t i = 0; i < world->body_count; i++) {
        out->body[i] = world->body_name[i];
    }
    for (size_t i = 0; i < world->joint_count; i++) {
        out->joint[i] = world->joint[i].name;
    }
    out->failed = !scene_names_make(out->body, world->body_count, NULL, "body", out->arena) ||
                  !scene_names_make(out->joint, world->joint_count, NULL, "joint", out->arena);
}

Moreau__V1__Scene *scene_out(const World *world, const char *name, Arena *arena) {
    Out out = {.world = world, .arena = arena};
    Moreau__V1__Scene *m = take(&out, 1, sizeof(*m));
    name_things(&out);
    if (out.failed) {
        return NULL;
    }
    moreau__v1__scene__init(m);
    m->name = (char *)name;
    m->settings = convert_settings_out(&world->settings, arena);
    m->materials = take(&out, world->material_count - 1, sizeof(*m->materials));
    m->geometries = take(&out, world->geometry_count, sizeof(*m->geometries));
    for (size_t i = 0; !out.failed && i < world->geometry_count; i++) {
        m->geometries[m->n_geometries++] = put_geometry(&out, i);
    }
    m->bodies = take(&out, world->body_count, sizeof(*m->bodies));
    m->joints = take(&out, world->joint_count, sizeof(*m->joints));
    for (size_t i = 1; !out.failed && i < world->material_count; i++) {
        m->materials[m->n_materials++] = put_material(&out, i);
    }
    out.failed = out.failed || !scene_put_pairs(world, out.material, arena, m);
    for (uint32_t i = 0; !out.failed && i < world->body_count; i++) {
        m->bodies[m->n_bodies++] = put_body(&out, i);
    }
    for (size_t i = 0; !out.failed && i < world->joint_count; i++) {
        m->joints[m->n_joints++] = put_joint(&out, i);
    }
    return out.failed || m->settings == NULL ? NULL : m;
}
