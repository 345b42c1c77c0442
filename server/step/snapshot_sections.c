// SPDX-License-Identifier: MIT
#include "step/snapshot_sections.h"

#include "base/array.h"
#include "solve/solver.h"
#include "step/step.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static Status out_of_memory(Error *error) {
    return error_set(error, STATUS_RESOURCE_EXHAUSTED, "",
                     "Memory ended while reading a snapshot.");
}

static Status damaged(Error *error, const char *what) {
    return error_set(error, STATUS_DATA_LOSS, "", "The snapshot is damaged: %s.", what);
}

static void sink_vec3(Sink *sink, Vec3 v) {
    double numbers[3] = {v.x, v.y, v.z};
    sink_doubles(sink, numbers, 3);
}

static Vec3 source_vec3(Source *source) {
    double numbers[3];
    source_doubles(source, numbers, 3);
    return vec3_load(numbers);
}

static void sink_sym3(Sink *sink, Sym3 m) {
    double numbers[6] = {m.xx, m.yy, m.zz, m.xy, m.xz, m.yz};
    sink_doubles(sink, numbers, 6);
}

static Sym3 source_sym3(Source *source) {
    double n[6];
    source_doubles(source, n, 6);
    return (Sym3){n[0], n[1], n[2], n[3], n[4], n[5]};
}

// ---- settings

static void write_settings(Sink *sink, const World *world) {
    const WorldSettings *settings = &world->settings;
    sink_vec3(sink, settings->gravity);
    sink_double(sink, settings->time_step);
    sink_double(sink, settings->margin);
    sink_double(sink, settings->restitution_threshold);
    sink_text(sink, solver_get((SolverKind)settings->solver)->name);
    sink_doubles(sink, settings->parameter, SETTINGS_PARAMETER_MAX);
}

// Every parameter passes the solver's own check; those beyond its table must be zero.
static Status check_parameters(const WorldSettings *settings, Error *error) {
    SolverSettings solver = step_solver(settings);
    const Solver *row = solver_get(solver.kind);
    for (uint32_t i = 0; i < SETTINGS_PARAMETER_MAX; i++) {
        if (i < row->parameter_count) {
            Status status =
                solver_set(&solver, row->parameters[i].name, settings->parameter[i], error);
            if (status != STATUS_OK) {
                return status;
            }
        } else if (settings->parameter[i] != 0.0) {
            return damaged(error, "a solver parameter that does not exist");
        }
    }
    return STATUS_OK;
}

static Status read_settings(Source *source, World *world, Error *error) {
    WorldSettings settings = {.gravity = source_vec3(source)};
    settings.time_step = source_double(source);
    settings.margin = source_double(source);
    settings.restitution_threshold = source_double(source);
    char name[64];
    SolverKind kind;
    if (!source_text(source, name, sizeof(name)) || !solver_find(name, &kind)) {
        return damaged(error, "an unknown solver");
    }
    settings.solver = (uint32_t)kind;
    source_doubles(source, settings.parameter, SETTINGS_PARAMETER_MAX);
    Status status = settings_check(&settings, error);
    if (status == STATUS_OK) {
        status = check_parameters(&settings, error);
    }
    if (status == STATUS_OK) {
        world_set_settings(world, &settings);
    }
    return status;
}

// ---- materials

static void write_materials(Sink *sink, const World *world) {
    sink_u64(sink, world->material_count - 1);
    for (size_t i = 1; i < world->material_count; i++) {
        const Material *material = &world->material[i];
        sink_text(sink, material->name);
        sink_double(sink, material->friction);
        sink_double(sink, material->restitution);
        sink_double(sink, material->stiffness);
        sink_double(sink, material->dissipation_time);
        sink_double(sink, material->damping);
    }
}

static Status read_materials(Source *source, World *world, Error *error) {
    size_t count = source_count(source, 48);
    for (size_t i = 0; i < count; i++) {
        Material material = {0};
        source_text(source, material.name, sizeof(material.name));
        material.friction = source_double(source);
        material.restitution = source_double(source);
        material.stiffness = source_double(source);
        material.dissipation_time = source_double(source);
        material.damping = source_double(source);
        Id id;
        Status status = world_add_materials(world, &material, 1, &id, error);
        if (status != STATUS_OK) {
            return status;
        }
    }
    return STATUS_OK;
}

// ---- shapes

static void write_shapes(Sink *sink, const World *world) {
    sink_u64(sink, world->shape_count);
    for (size_t i = 0; i < world->shape_count; i++) {
        const Shape *shape = &world->shape[i];
        sink_u64(sink, shape->primitive_count);
        for (uint32_t j = 0; j < shape->primitive_count; j++) {
            const Primitive *primitive = &world->primitive[shape->primitive_first + j];
            double pose[7];
            pose_store(pose, primitive->local);
            sink_u32(sink, (uint32_t)primitive->kind);
            sink_u32(sink, primitive->material);
            sink_vec3(sink, primitive->size);
            sink_doubles(sink, pose, 7);
            sink_double(sink, primitive->density);
        }
    }
}

// Poses are stored normalised and must come back as the same bits, so primitives do not pass
// through world_add_shapes.
static Status read_primitive(Source *source, World *world, Error *error) {
    Primitive *primitive = &world->primitive[world->primitive_count];
    uint32_t kind = source_u32(source);
    *primitive = (Primitive){.kind = (PrimitiveKind)kind, .material = source_u32(source)};
    primitive->size = source_vec3(source);
    double pose[7];
    source_doubles(source, pose, 7);
    primitive->local = pose_load(pose);
    primitive->density = source_double(source);
    if (source->failed || kind >= PRIMITIVE_COUNT || primitive->material >= world->material_count) {
        return damaged(error, "a primitive that cannot be");
    }
    Status status = body_check_pose(pose, 0, error);
    if (status == STATUS_OK) {
        status = primitive_check(primitive, 0, error);
    }
    world->primitive_count += status == STATUS_OK;
    return status;
}

static Status read_shapes(Source *source, World *world, Error *error) {
    size_t count = source_count(source, 8);
    for (size_t i = 0; i < count; i++) {
        size_t primitives = source_count(source, 96);
        if (source->failed || primitives < 1 || primitives > UINT16_MAX) {
            return damaged(error, "a shape without primitives");
        }
        if (!ARRAY_RESERVE(world->shape, world->shape_capacity, world->shape_count + 1) ||
            !ARRAY_RESERVE(world->primitive, world->primitive_capacity,
                           world->primitive_count + primitives)) {
            return out_of_memory(error);
        }
        Shape shape = {.primitive_first = (uint32_t)world->primitive_count,
                       .primitive_count = (uint32_t)primitives};
        for (size_t j = 0; j < primitives; j++) {
            Status status = read_primitive(source, world, error);
            if (status != STATUS_OK) {
                return status;
            }
        }
        shape_measure(&shape, world->primitive);
        world->shape[world->shape_count++] = shape;
    }
    return STATUS_OK;
}

// ---- bodies: what they are

static void write_bodies(Sink *sink, const World *world) {
    sink_u64(sink, world->body_count);
    for (uint32_t i = 0; i < world->body_count; i++) {
        const BodyMass *mass = &world->mass[i];
        sink_u32(sink, world->kind[i]);
        sink_u32(sink, world->body_shape[i]);
        sink_u64(sink, world->body_id[i]);
        sink_double(sink, mass->mass);
        sink_vec3(sink, mass->center);
        sink_sym3(sink, mass->inertia);
    }
}

enum { BODY_BYTES = 96 };

// Equal to the last bit, also in the sign of a zero.
static bool same_bits(const double *a, const double *b, size_t count) {
    bool same = true;
    for (size_t i = 0; i < count; i++) {
        uint64_t bits[2];
        memcpy(&bits[0], &a[i], sizeof(bits[0]));
        memcpy(&bits[1], &b[i], sizeof(bits[1]));
        same = same && bits[0] == bits[1];
    }
    return same;
}

// One body, through the same door as any other; its pose and velocity follow in the state section.
static Status read_body(Source *source, World *world, Error *error) {
    uint32_t kind = source_u32(source), shape = source_u32(source);
    Id id = source_u64(source);
    double mass = source_double(source);
    Vec3 center = source_vec3(source);
    Sym3 tensor = source_sym3(source);
    if (source->failed || (shape != UINT32_MAX && shape >= world->shape_count)) {
        return damaged(error, "a body that cannot be");
    }
    double pose[7] = {0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0};
    double packed_center[3] = {center.x, center.y, center.z};
    double inertia[6] = {tensor.xx, tensor.yy, tensor.zz, tensor.xy, tensor.xz, tensor.yz};
    uint64_t shape_id = shape == UINT32_MAX ? 0 : (uint64_t)shape + 1;
    BodyColumns columns = {.count = 1,
                           .pose = pose,
                           .kind = &kind,
                           .shape = &shape_id,
                           .mass = &mass,
                           .inertia = inertia,
                           .center_of_mass = packed_center};
    Id given;
    Status status = world_add_bodies(world, &columns, &given, error);
    if (status != STATUS_OK) {
        return status;
    }
    // what the world made of it must be what was written, to the last bit: a static body, say, has
    // no mass
    const BodyMass *made = &world->mass[world->body_count - 1];
    const double read[10] = {mass,      center.x,  center.y,  center.z,  tensor.xx,
                             tensor.yy, tensor.zz, tensor.xy, tensor.xz, tensor.yz};
    const double kept[10] = {made->mass,       made->center.x,   made->center.y,   made->center.z,
                             made->inertia.xx, made->inertia.yy, made->inertia.zz, made->inertia.xy,
                             made->inertia.xz, made->inertia.yz};
    if (given != id || !same_bits(read, kept, 10)) {
        return damaged(error, "a body's id or mass is not what it must be");
    }
    return STATUS_OK;
}

static Status read_bodies(Source *source, World *world, Error *error) {
    size_t count = source_count(source, BODY_BYTES);
    for (size_t i = 0; i < count; i++) {
        Status status = read_body(source, world, error);
        if (status != STATUS_OK) {
            return status;
        }
    }
    return STATUS_OK;
}

// ---- names

static void write_names(Sink *sink, const World *world) {
    for (uint32_t i = 0; i < world->body_count; i++) {
        sink_text(sink, world->body_name[i]);
    }
}

static Status read_names(Source *source, World *world, Error *error) {
    for (uint32_t i = 0; i < world->body_count; i++) {
        char name[256];
        if (!source_text(source, name, sizeof(name))) {
            return damaged(error, "a body's name");
        }
        if (name[0] != '\0') {
            world->body_name[i] = strdup(name);
            if (world->body_name[i] == NULL) {
                return out_of_memory(error);
            }
        }
    }
    return STATUS_OK;
}

// ---- state

static void write_state(Sink *sink, const World *world) {
    sink_u64(sink, world->step);
    sink_double(sink, world->time);
    sink_u64(sink, world->faulted);
    sink_doubles(sink, world->pose, 7 * (size_t)world->body_count);
    sink_doubles(sink, world->velocity, 6 * (size_t)world->body_count);
}

static bool state_is_sound(const World *world) {
    for (uint32_t i = 0; i < world->body_count; i++) {
        const double *pose = world->pose + 7 * (size_t)i,
                     *velocity = world->velocity + 6 * (size_t)i;
        Quat q = pose_load(pose).orientation;
        double norm = quat_norm(q);
        // unit up to rounding; NaN fails
        if (!(fabs(norm - 1.0) < 1e-9) || !numbers_fit_float(pose, 3) ||
            !numbers_fit_float(velocity, 6)) {
            return false;
        }
    }
    return isfinite(world->time);
}

static Status read_state(Source *source, World *world, Error *error) {
    world->step = source_u64(source);
    world->time = source_double(source);
    uint64_t faulted = source_u64(source);
    world->faulted = faulted == 1;
    source_doubles(source, world->pose, 7 * (size_t)world->body_count);
    source_doubles(source, world->velocity, 6 * (size_t)world->body_count);
    if (source->failed || faulted > 1 || !state_is_sound(world)) {
        return damaged(error, "a state that cannot be");
    }
    return STATUS_OK;
}

// ---- impulses to start from

static void write_memory(Sink *sink, const World *world) {
    sink_u64(sink, world->memory_count);
    // the struct has no padding, so all of them go at once: the hash is taken each step
    static_assert(sizeof(ContactMemory) == 40, "a, b, feature and impulse, packed");
    sink_bytes(sink, world->memory, world->memory_count * sizeof(ContactMemory));
}

static bool memory_precedes(const ContactMemory *a, const ContactMemory *b) {
    if (a->a != b->a) {
        return a->a < b->a;
    }
    return a->b != b->b ? a->b < b->b : a->feature < b->feature;
}

static Status read_memory(Source *source, World *world, Error *error) {
    size_t count = source_count(source, 40);
    if (!ARRAY_RESERVE(world->memory, world->memory_capacity, count)) {
        return out_of_memory(error);
    }
    for (size_t i = 0; i < count; i++) {
        ContactMemory *memory = &world->memory[i];
        memory->a = source_u32(source);
        memory->b = source_u32(source);
        memory->feature = source_u64(source);
        source_doubles(source, memory->impulse, 3);
        bool sorted = i == 0 || memory_precedes(memory - 1, memory);
        if (source->failed || memory->a >= memory->b || memory->b >= world->body_count || !sorted ||
            !numbers_fit_float(memory->impulse, 3)) {
            return damaged(error, "an impulse that cannot be");
        }
    }
    world->memory_count = count;
    return STATUS_OK;
}

const SnapshotSection snapshot_sections[] = {
    {1, 1, true, write_settings, read_settings}, {2, 1, true, write_materials, read_materials},
    {3, 1, true, write_shapes, read_shapes},     {4, 1, true, write_bodies, read_bodies},
    {5, 1, true, write_names, read_names},       {6, 1, false, write_state, read_state},
    {7, 1, false, write_memory, read_memory},
};
const size_t snapshot_section_count = sizeof(snapshot_sections) / sizeof(snapshot_sections[0]);
