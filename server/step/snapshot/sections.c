// SPDX-License-Identifier: MIT
#include "step/snapshot/sections.h"

#include "base/assert.h"
#include "base/bytes.h"
#include "base/array.h"
#include "solve/solver.h"
#include "step/snapshot/joints.h"
#include "step/step.h"
#include "world/sleep.h"
#include "world/world_commands.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static Status out_of_memory(Error *error) {
    return error_set(error, STATUS_RESOURCE_EXHAUSTED, "",
                     "Memory ended while reading a snapshot.");
}

static Status damaged(Error *error, const char *what) {
    return error_set(error, STATUS_DATA_LOSS, "", "The snapshot is damaged: %s.", what);
}

static const char *const xyz[] = {"x", "y", "z"};
static const char *const wxyz[] = {"w", "x", "y", "z"};
static const char *const tensor[] = {"xx", "yy", "zz", "xy", "xz", "yz"};
static const char *const twist[] = {"vx", "vy", "vz", "wx", "wy", "wz"};

// what is written as numbers in a row lies in memory as such
static_assert(sizeof(Vec3) == 3 * sizeof(double), "x y z");
static_assert(sizeof(Quat) == 4 * sizeof(double), "w x y z");
static_assert(sizeof(Sym3) == 6 * sizeof(double), "xx yy zz xy xz yz");
static_assert(sizeof(PrimitiveKind) == sizeof(uint32_t), "a kind is read and written as u32");

// ---- settings

enum { SECTION_SETTINGS = 1 };

static const SnapshotField settings_fields[] = {
    OF_WORLD("gravity", FIELD_DOUBLE, 3, xyz, settings.gravity),
    OF_WORLD("time_step", FIELD_DOUBLE, 1, NULL, settings.time_step),
    OF_WORLD("margin", FIELD_DOUBLE, 1, NULL, settings.margin),
    OF_WORLD("restitution_threshold", FIELD_DOUBLE, 1, NULL, settings.restitution_threshold),
    OF_WORLD("recovery_speed", FIELD_DOUBLE, 1, NULL, settings.recovery_speed),
    OF_WORLD("integrator", FIELD_BYTE, 1, NULL, settings.integrator),
    OF_WORLD("rotation", FIELD_BYTE, 1, NULL, settings.rotation),
    OF_WORLD("contact_plane", FIELD_BYTE, 1, NULL, settings.contact_plane),
    OF_WORLD("solver", FIELD_SOLVER, 1, NULL, settings.solver),
    OF_WORLD("parameter", FIELD_DOUBLE, SETTINGS_PARAMETER_MAX, NULL, settings.parameter),
};

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

static Status accept_settings(World *world, const World *stage, size_t index, Error *error) {
    (void)index;
    WorldSettings settings = stage->settings;
    for (int i = 0; i < SETTING_COUNT; i++) { // what other sections say, unless they do
        const Setting *setting = setting_get((SettingKind)i);
        if (setting->section != SECTION_SETTINGS) {
            setting_reset(&settings, setting);
        }
    }
    Status status = settings_check(&settings, error);
    status = STATUS_THEN(status, check_parameters(&settings, error));
    if (status == STATUS_OK) {
        world_set_settings(world, &settings);
    }
    return status;
}

static const SnapshotGroup settings_groups[] = {
    {.name = "settings", FIELDS(settings_fields), .accept = accept_settings},
};

// ---- materials

static const SnapshotField material_fields[] = {
    OF_RECORD("material.name", FIELD_TEXT, MATERIAL_NAME_BYTES, NULL, material, Material, name),
    OF_RECORD("material.friction", FIELD_DOUBLE, 1, NULL, material, Material, friction),
    OF_RECORD("material.restitution", FIELD_DOUBLE, 1, NULL, material, Material, restitution),
    OF_RECORD("material.stiffness", FIELD_DOUBLE, 1, NULL, material, Material, stiffness),
    OF_RECORD("material.dissipation_time", FIELD_DOUBLE, 1, NULL, material, Material,
              dissipation_time),
    OF_RECORD("material.damping", FIELD_DOUBLE, 1, NULL, material, Material, damping),
};

// The first is built in, and not written.
static size_t first_material(const World *world, size_t parent) {
    (void)world, (void)parent;
    return 1;
}

static size_t count_materials(const World *world, size_t parent) {
    (void)parent;
    return world->material_count - 1;
}

static Status accept_material(World *world, const World *stage, size_t index, Error *error) {
    (void)index;
    Id id;
    Material material = *stage->material;
    material.hertz_exponent = 1.0; // unless a section says otherwise, as of the priority
    material.priority = 0.0;
    return world_add_materials(world, &material, 1, &id, error);
}

static const SnapshotGroup material_groups[] = {
    {.name = "materials",
     .count = count_materials,
     .first = first_material,
     .is_counted = true,
     FIELDS(material_fields),
     .accept = accept_material},
};

// ---- geometries: what they are called. Their bytes are on the shelf (snapshot_attached.c)

static bool has_geometries(const World *world) {
    return world->geometry_count > 0;
}

static bool has_no_geometries(const World *world) {
    return world->geometry_count == 0;
}

static const SnapshotField geometry_fields[] = {
    OF_RECORD("geometry.sha256", FIELD_U64, SHA256_BYTES / sizeof(uint64_t), NULL, geometry,
              WorldGeometry, digest),
};

static size_t count_geometries(const World *world, size_t parent) {
    (void)parent;
    return world->geometry_count;
}

static Status accept_geometry(World *world, const World *stage, size_t index, Error *error) {
    (void)index;
    const uint8_t *digest = stage->geometry->digest;
    GeometryShelf *shelf = world->limits.shelf;
    const Geometry *geometry = shelf == NULL ? NULL : geometry_find(shelf, digest);
    if (geometry == NULL) {
        char name[SHA256_TEXT_BYTES];
        sha256_text(digest, name);
        return error_set(error, STATUS_FAILED_PRECONDITION, "",
                         "The snapshot names the geometry %s, which is not here: it has to come "
                         "with its bytes.",
                         name);
    }
    Id id;
    Status status = world_add_geometries(world, &geometry, 1, &id, error);
    geometry_drop(geometry);
    return status;
}

static const SnapshotGroup geometry_groups[] = {
    {.name = "geometries",
     .count = count_geometries,
     .is_counted = true,
     FIELDS(geometry_fields),
     .accept = accept_geometry},
};

// ---- shapes

#define PRIMITIVE_FIELDS                                                                           \
    OF_RECORD("primitive.kind", FIELD_U32, 1, NULL, primitive, Primitive, kind),                   \
        OF_RECORD("primitive.material", FIELD_U32, 1, NULL, primitive, Primitive, material),       \
        OF_RECORD("primitive.size", FIELD_DOUBLE, 3, xyz, primitive, Primitive, size),             \
        OF_RECORD("primitive.position", FIELD_DOUBLE, 3, xyz, primitive, Primitive,                \
                  local.position),                                                                 \
        OF_RECORD("primitive.orientation", FIELD_DOUBLE, 4, wxyz, primitive, Primitive,            \
                  local.orientation),                                                              \
        OF_RECORD("primitive.density", FIELD_DOUBLE, 1, NULL, primitive, Primitive, density)

static const SnapshotField primitive_fields[] = {PRIMITIVE_FIELDS};
// of worlds with geometries: version 2
static const SnapshotField worn_fields[] = {
    PRIMITIVE_FIELDS,
    OF_RECORD("primitive.geometry", FIELD_U32, 1, NULL, primitive, Primitive, geometry_number),
};

static size_t first_primitive(const World *world, size_t shape) {
    return world->shape[shape].primitive_first;
}

static size_t count_primitives(const World *world, size_t shape) {
    return world->shape[shape].primitive_count;
}

static size_t count_shapes(const World *world, size_t parent) {
    (void)parent;
    return world->shape_count;
}

// Poses are stored normalised and must come back as the same bits, so primitives do not pass
// through world_add_shapes.
static Status accept_primitive(World *world, const World *stage, size_t index, Error *error) {
    (void)index;
    const Primitive *primitive = stage->primitive;
    double pose[7];
    pose_store(pose, primitive->local);
    if ((uint32_t)primitive->kind >= PRIMITIVE_COUNT ||
        primitive->material >= world->material_count ||
        primitive->geometry_number > world->geometry_count) {
        return damaged(error, "a primitive that cannot be");
    }
    const uint32_t number = primitive->geometry_number;
    Primitive worn = *primitive;
    worn.geometry = number == 0 ? NULL : world->geometry[number - 1].geometry;
    Status status = body_check_pose(pose, 0, error);
    status = STATUS_THEN(status, primitive_check(&worn, 0, error));
    if (status == STATUS_OK &&
        !ARRAY_RESERVE(world->primitive, world->primitive_capacity, world->primitive_count + 1)) {
        status = out_of_memory(error);
    }
    if (status == STATUS_OK) {
        Primitive *taken = &world->primitive[world->primitive_count++];
        *taken = worn;
        primitive_forget_sizes(taken);
        taken->group = PRIMITIVE_GROUP_DEFAULT; // unless a section says otherwise
        taken->mask = PRIMITIVE_MASK_DEFAULT;
    }
    return status;
}

// Its primitives are those behind the last shape's.
static Status accept_shape(World *world, const World *stage, size_t index, Error *error) {
    (void)stage;
    const Shape *last = index == 0 ? NULL : &world->shape[index - 1];
    size_t first = last == NULL ? 0 : last->primitive_first + last->primitive_count;
    size_t primitives = world->primitive_count - first;
    if (primitives < 1 || primitives > UINT16_MAX) {
        return damaged(error, "a shape without primitives");
    }
    if (!ARRAY_RESERVE(world->shape, world->shape_capacity, world->shape_count + 1)) {
        return out_of_memory(error);
    }
    Shape shape = {.primitive_first = (uint32_t)first,
                   .primitive_count = (uint32_t)primitives,
                   .id = world->shape_id_next++}; // unless a section says otherwise
    shape_measure(&shape, world->primitive);
    world->shape[world->shape_count++] = shape;
    return STATUS_OK;
}

static const SnapshotGroup primitive_group = {.name = "primitives",
                                              .count = count_primitives,
                                              .first = first_primitive,
                                              .is_counted = true,
                                              FIELDS(primitive_fields),
                                              .accept = accept_primitive};

static const SnapshotGroup worn_group = {.name = "primitives",
                                         .count = count_primitives,
                                         .first = first_primitive,
                                         .is_counted = true,
                                         FIELDS(worn_fields),
                                         .accept = accept_primitive};

#define SHAPE_GROUPS(of)                                                                           \
    {                                                                                              \
        {.name = "shapes",                                                                         \
         .count = count_shapes,                                                                    \
         .is_counted = true,                                                                       \
         .inner = &(of),                                                                           \
         .accept = accept_shape},                                                                  \
    }
static const SnapshotGroup shape_groups[] = SHAPE_GROUPS(primitive_group);
static const SnapshotGroup worn_shape_groups[] = SHAPE_GROUPS(worn_group);

// ---- bodies: what they are

static const SnapshotField body_fields[] = {
    OF_COLUMN("kind", FIELD_BYTE, 1, NULL, kind, sizeof(uint8_t)),
    OF_COLUMN("shape", FIELD_U32, 1, NULL, body_shape, sizeof(uint32_t)),
    OF_COLUMN("id", FIELD_ID, 1, NULL, body_id, sizeof(Id)),
    OF_RECORD("mass", FIELD_DOUBLE, 1, NULL, mass, BodyMass, mass),
    OF_RECORD("center_of_mass", FIELD_DOUBLE, 3, xyz, mass, BodyMass, center),
    OF_RECORD("inertia", FIELD_DOUBLE, 6, tensor, mass, BodyMass, inertia),
};

static size_t count_bodies(const World *world, size_t parent) {
    (void)parent;
    return world->body_count;
}

// No world comes so far, and none runs out of them from there.
static const Id body_id_max = (Id)1 << 62;

// One body, through the same door as any other; its pose and velocity follow in the state section.
static Status accept_body(World *world, const World *stage, size_t index, Error *error) {
    (void)index;
    const BodyMass *read = stage->mass;
    uint32_t kind = stage->kind[0], shape = stage->body_shape[0];
    if (shape != UINT32_MAX && shape >= world->shape_count) {
        return damaged(error, "a body that cannot be");
    }
    double pose[7] = {0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0};
    double center[3], inertia[6];
    memcpy(center, &read->center, sizeof(center));
    memcpy(inertia, &read->inertia, sizeof(inertia));
    uint64_t shape_id = shape == UINT32_MAX ? 0 : world->shape[shape].id;
    BodyColumns columns = {.count = 1,
                           .pose = pose,
                           .kind = &kind,
                           .shape = &shape_id,
                           .mass = &read->mass,
                           .inertia = inertia,
                           .center_of_mass = center,
                           .has_made_masses = true};
    // ids rise, with gaps where bodies were removed
    if (stage->body_id[0] < world->body_id_next || stage->body_id[0] > body_id_max) {
        return damaged(error, "a body's id is not what it must be");
    }
    world->body_id_next = stage->body_id[0];
    Id given;
    Status status = world_add_bodies(world, &columns, &given, error);
    if (status != STATUS_OK) {
        return status;
    }
    // what the world made of it must be what was written, to the last bit, also in the sign of a
    // zero: a static body, say, has no mass
    const BodyMass *made = &world->mass[world->body_count - 1];
    if (!bytes_are_same(&read->mass, &made->mass, sizeof(double)) ||
        !bytes_are_same(&read->center, &made->center, sizeof(Vec3)) ||
        !bytes_are_same(&read->inertia, &made->inertia, sizeof(Sym3))) {
        return damaged(error, "a body's mass is not what it must be");
    }
    return STATUS_OK;
}

static const SnapshotGroup body_groups[] = {
    {.name = "bodies",
     .count = count_bodies,
     .is_counted = true,
     FIELDS(body_fields),
     .accept = accept_body},
};

// ---- names

static const SnapshotField name_fields[] = {
    OF_COLUMN("name", FIELD_NAME, 1, NULL, body_name, sizeof(char *)),
};

static Status accept_name(World *world, const World *stage, size_t index, Error *error) {
    const char *name = stage->body_name[0];
    if (name[0] != '\0') {
        world->body_name[index] = world_keep_name(world, name);
        if (world->body_name[index] == NULL) {
            return out_of_memory(error);
        }
    }
    return STATUS_OK;
}

static const SnapshotGroup name_groups[] = {
    {.name = "names", .count = count_bodies, FIELDS(name_fields), .accept = accept_name},
};

// ---- state

static const SnapshotField time_fields[] = {
    OF_WORLD("step", FIELD_U64, 1, NULL, step),
    OF_WORLD("time", FIELD_DOUBLE, 1, NULL, time.value),
    OF_WORLD("time_rest", FIELD_DOUBLE, 1, NULL, time.rest),
    OF_WORLD("faulted", FIELD_FLAG, 1, NULL, faulted),
};

static const SnapshotField pose_fields[] = {
    {"position", FIELD_DOUBLE, 3, xyz, offsetof(World, pose), 7 * sizeof(double), 0, false},
    {"orientation", FIELD_DOUBLE, 4, wxyz, offsetof(World, pose), 7 * sizeof(double),
     3 * sizeof(double), false},
};

static const SnapshotField velocity_fields[] = {
    OF_COLUMN("velocity", FIELD_DOUBLE, 6, twist, velocity, 6 * sizeof(double)),
};

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
    return sum_is_sound(world->time);
}

static Status settle_state(World *world, Error *error) {
    return state_is_sound(world) ? STATUS_OK : damaged(error, "a state that cannot be");
}

static const SnapshotGroup state_groups[] = {
    {.name = "time", FIELDS(time_fields)},
    {.name = "poses", .count = count_bodies, .is_packed = true, FIELDS(pose_fields)},
    {.name = "velocities", .count = count_bodies, .is_packed = true, FIELDS(velocity_fields)},
};

// ---- impulses to start from

static const SnapshotField impulse_fields[] = {
    OF_RECORD("impulse.body_a", FIELD_BODY, 1, NULL, memory, ContactMemory, a),
    OF_RECORD("impulse.body_b", FIELD_BODY, 1, NULL, memory, ContactMemory, b),
    OF_RECORD("impulse.part_a", FIELD_U32, 1, NULL, memory, ContactMemory, part_a),
    OF_RECORD("impulse.part_b", FIELD_U32, 1, NULL, memory, ContactMemory, part_b),
    OF_RECORD("impulse.feature", FIELD_U64, 1, NULL, memory, ContactMemory, feature),
    OF_RECORD("impulse", FIELD_DOUBLE, 3, xyz, memory, ContactMemory, impulse),
};

static size_t count_impulses(const World *world, size_t parent) {
    (void)parent;
    return world->memory_count;
}

static Status open_impulses(World *world, size_t count, Error *error) {
    if (!ARRAY_RESERVE(world->memory, world->memory_capacity, count)) {
        return out_of_memory(error);
    }
    world->memory_count = count;
    return STATUS_OK;
}

static bool impulses_are_sound(const World *world, const ContactMemory *memory, size_t count) {
    for (size_t i = 0; i < count; i++) {
        bool is_sorted = i == 0 || world_memory_precedes(&memory[i - 1], &memory[i]);
        if (memory[i].a >= memory[i].b || memory[i].b >= world->body_count || !is_sorted ||
            !numbers_fit_float(memory[i].impulse, 3)) {
            return false;
        }
    }
    return true;
}

static Status settle_impulses(World *world, Error *error) {
    return impulses_are_sound(world, world->memory, world->memory_count)
               ? STATUS_OK
               : damaged(error, "an impulse that cannot be");
}

static const SnapshotGroup impulse_groups[] = {
    {.name = "impulses",
     .count = count_impulses,
     .is_counted = true,
     .is_packed = true,
     FIELDS(impulse_fields),
     .open = open_impulses},
};

// ---- bounds

static bool has_bounds(const World *world) {
    return world->settings.has_bounds;
}

static const SnapshotField bounds_fields[] = {
    OF_WORLD("bounds.lower", FIELD_DOUBLE, 3, xyz, settings.bounds_lower),
    OF_WORLD("bounds.upper", FIELD_DOUBLE, 3, xyz, settings.bounds_upper),
};

static Status settle_bounds(World *world, Error *error) {
    world->settings.has_bounds = true;
    return settings_check(&world->settings, error);
}

static const SnapshotGroup bounds_groups[] = {
    {.name = "bounds", FIELDS(bounds_fields)},
};

// ---- the next body's id, where it does not follow that of the last

static Id id_behind_last(const World *world) {
    return world->body_count == 0 ? 1 : world->body_id[world->body_count - 1] + 1;
}

static bool has_id_gap(const World *world) {
    return world->body_id_next != id_behind_last(world);
}

static const SnapshotField id_fields[] = {
    OF_WORLD("next_id", FIELD_U64, 1, NULL, body_id_next),
};

static Status settle_ids(World *world, Error *error) {
    return world->body_id_next > id_behind_last(world) && world->body_id_next <= body_id_max
               ? STATUS_OK
               : damaged(error, "the next body's id is not what it must be");
}

static const SnapshotGroup id_groups[] = {
    {.name = "ids", FIELDS(id_fields)},
};

// ---- sleeping: when

static bool has_sleep_settings(const World *world) {
    return !setting_is_initial(&world->settings, setting_get(SETTING_SLEEP_SPEED)) ||
           !setting_is_initial(&world->settings, setting_get(SETTING_SLEEP_TIME));
}

static const SnapshotField sleep_settings_fields[] = {
    OF_WORLD("sleep_speed", FIELD_DOUBLE, 1, NULL, settings.sleep_speed),
    OF_WORLD("sleep_time", FIELD_DOUBLE, 1, NULL, settings.sleep_time),
};

static Status settle_sleep_settings(World *world, Error *error) {
    return has_sleep_settings(world) ? settings_check(&world->settings, error)
                                     : damaged(error, "a sleep that does not differ from none");
}

static const SnapshotGroup sleep_settings_groups[] = {
    {.name = "sleep", FIELDS(sleep_settings_fields)},
};

// ---- who sleeps

static size_t count_sleep(const World *world, size_t parent) {
    (void)parent;
    return sleep_told_count(world);
}

static bool has_sleep(const World *world) {
    return sleep_told_count(world) > 0;
}

static const SnapshotField rest_fields[] = {
    OF_SLEEP_COLUMN("rest", FIELD_DOUBLE, rest, sizeof(double)),
};

static const SnapshotField island_fields[] = {
    OF_SLEEP_COLUMN("island", FIELD_U32, island, sizeof(uint32_t)),
};

static const SnapshotField slept_fields[] = {
    OF_SLEEP("asleep.body_a", FIELD_BODY, 1, NULL, memory, ContactMemory, a),
    OF_SLEEP("asleep.body_b", FIELD_BODY, 1, NULL, memory, ContactMemory, b),
    OF_SLEEP("asleep.part_a", FIELD_U32, 1, NULL, memory, ContactMemory, part_a),
    OF_SLEEP("asleep.part_b", FIELD_U32, 1, NULL, memory, ContactMemory, part_b),
    OF_SLEEP("asleep.feature", FIELD_U64, 1, NULL, memory, ContactMemory, feature),
    OF_SLEEP("asleep.impulse", FIELD_DOUBLE, 3, xyz, memory, ContactMemory, impulse),
};

static size_t count_slept(const World *world, size_t parent) {
    (void)parent;
    return world->sleep->memory_count;
}

static Status open_sleep(World *world, size_t count, Error *error) {
    if (count == 0 || count > world->body_count) {
        return damaged(error, "more or fewer bodies at rest than can be");
    }
    if (!sleep_open(world)) {
        return out_of_memory(error);
    }
    world->sleep->count = (uint32_t)count;
    memset(world->sleep->island, 0, count * sizeof(uint32_t)); // until they are read: all are told
    return STATUS_OK;
}

static Status open_slept(World *world, size_t count, Error *error) {
    if (!sleep_reserve(world, count)) {
        return out_of_memory(error);
    }
    world->sleep->memory_count = count;
    return STATUS_OK;
}

// An island is called by its first body; what is still has no velocity; all impulses have a
// sleeper, and no two of different islands.
static Status settle_sleep(World *world, Error *error) {
    return world->settings.sleep_speed > 0.0 && sleep_is_sound(world) &&
                   impulses_are_sound(world, world->sleep->memory, world->sleep->memory_count)
               ? STATUS_OK
               : damaged(error, "a sleep that cannot be");
}

static const SnapshotGroup sleep_groups[] = {
    {.name = "rests",
     .count = count_sleep,
     .is_counted = true,
     .is_packed = true,
     FIELDS(rest_fields),
     .open = open_sleep},
    {.name = "islands", .count = count_sleep, .is_packed = true, FIELDS(island_fields)},
    {.name = "sleeping impulses",
     .count = count_slept,
     .is_counted = true,
     .is_packed = true,
     FIELDS(slept_fields),
     .open = open_slept},
};

// ---- what its solver tried in vain

static bool has_failures(const World *world) {
    return world->solver_failures > 0 || world->solver_wait > 0;
}

static const SnapshotField patience_fields[] = {
    OF_WORLD("solver_failures", FIELD_BYTE, 1, NULL, solver_failures),
    OF_WORLD("solver_wait", FIELD_BYTE, 1, NULL, solver_wait),
};

static Status settle_patience(World *world, Error *error) {
    bool is_sound = has_failures(world) && world->solver_failures <= SOLVER_FAILURES_MAX &&
                    world->solver_wait <= SOLVER_WAIT_MAX;
    return is_sound ? STATUS_OK : damaged(error, "a solver's failures that cannot be");
}

static const SnapshotGroup patience_groups[] = {
    {.name = "failures", FIELDS(patience_fields)},
};

// ---- materials whose force is not linear

static bool has_exponents(const World *world) {
    for (size_t i = 1; i < world->material_count; i++) {
        if (world->material[i].hertz_exponent != 1.0) {
            return true;
        }
    }
    return false;
}

static const SnapshotField exponent_fields[] = {
    OF_RECORD("material.hertz_exponent", FIELD_DOUBLE, 1, NULL, material, Material, hertz_exponent),
};

static Status settle_exponents(World *world, Error *error) {
    for (size_t i = 1; i < world->material_count; i++) {
        Status status = material_check(&world->material[i], i - 1, error);
        if (status != STATUS_OK) {
            return status;
        }
    }
    return has_exponents(world) ? STATUS_OK : damaged(error, "exponents that are all 1");
}

static const SnapshotGroup exponent_groups[] = {
    {.name = "exponents",
     .count = count_materials,
     .first = first_material,
     FIELDS(exponent_fields)},
};

// ---- materials whose numbers count alone, and pairs of them with a friction of their own

static bool has_priorities(const World *world) {
    for (size_t i = 1; i < world->material_count; i++) {
        if (world->material[i].priority != 0.0) {
            return true;
        }
    }
    return false;
}

static const SnapshotField priority_fields[] = {
    OF_RECORD("material.priority", FIELD_DOUBLE, 1, NULL, material, Material, priority),
};

static Status settle_priorities(World *world, Error *error) {
    for (size_t i = 1; i < world->material_count; i++) {
        Status status = material_check(&world->material[i], i - 1, error);
        if (status != STATUS_OK) {
            return status;
        }
    }
    return has_priorities(world) ? STATUS_OK : damaged(error, "priorities that are all 0");
}

static const SnapshotGroup priority_groups[] = {
    {.name = "priorities",
     .count = count_materials,
     .first = first_material,
     FIELDS(priority_fields)},
};

static bool has_pairs(const World *world) {
    return world->material_pair_count > 0;
}

static size_t count_pairs(const World *world, size_t parent) {
    (void)parent;
    return world->material_pair_count;
}

static const SnapshotField pair_fields[] = {
    OF_RECORD("pair.material_a", FIELD_U32, 1, NULL, material_pair, MaterialPair, low),
    OF_RECORD("pair.material_b", FIELD_U32, 1, NULL, material_pair, MaterialPair, high),
    OF_RECORD("pair.friction", FIELD_DOUBLE, 1, NULL, material_pair, MaterialPair, friction),
};

static Status open_pairs(World *world, size_t count, Error *error) {
    Status status = world_reserve_pairs(world, count, error);
    ASSERT(world->material_pair_count == 0); // it is the first that tells of any
    world->material_pair_count = status == STATUS_OK ? count : 0;
    return status;
}

// In order, of materials that there are, with frictions that may be.
static Status settle_pairs(World *world, Error *error) {
    ASSERT(world->material_pair_count <= world->material_pair_capacity);
    uint64_t last = 0;
    for (size_t i = 0; i < world->material_pair_count; i++) {
        const MaterialPair *pair = &world->material_pair[i];
        const uint64_t a = pair->low, b = pair->high, place = (a << 32 | b) + 1;
        const PairUpdate one = {1, &a, &b, &pair->friction};
        if (a > b || place <= last || world_check_pair_update(world, &one, error) != STATUS_OK) {
            return damaged(error, "pairs of materials that cannot be");
        }
        last = place;
    }
    return has_pairs(world) ? STATUS_OK : damaged(error, "pairs of materials that are none");
}

static const SnapshotGroup pair_groups[] = {
    {.name = "pairs of materials",
     .count = count_pairs,
     .is_counted = true,
     FIELDS(pair_fields),
     .open = open_pairs},
};

// ---- elastic foundations, of all primitives

static bool has_foundations(const World *world) {
    for (size_t i = 0; i < world->primitive_count; i++) {
        if (world->primitive[i].foundation.face != 0) {
            return true;
        }
    }
    return false;
}

static size_t count_all_primitives(const World *world, size_t parent) {
    (void)parent;
    return world->primitive_count;
}

static const SnapshotField foundation_fields[] = {
    OF_RECORD("foundation.face", FIELD_U32, 1, NULL, primitive, Primitive, foundation.face),
    OF_RECORD("foundation.cells", FIELD_U32, 2, NULL, primitive, Primitive, foundation.cells),
    OF_RECORD("foundation.modulus", FIELD_DOUBLE, 1, NULL, primitive, Primitive,
              foundation.modulus),
    OF_RECORD("foundation.depth", FIELD_DOUBLE, 1, NULL, primitive, Primitive, foundation.depth),
    OF_RECORD("foundation.damping", FIELD_DOUBLE, 1, NULL, primitive, Primitive,
              foundation.damping),
};

static Status open_foundations(World *world, size_t count, Error *error) {
    return count == world->primitive_count ? STATUS_OK
                                           : damaged(error, "foundations of other primitives");
}

static Status settle_foundations(World *world, Error *error) {
    for (size_t i = 0; i < world->primitive_count; i++) {
        Status status = primitive_check(&world->primitive[i], (uint32_t)i, error);
        if (status != STATUS_OK) {
            return status;
        }
    }
    return has_foundations(world) ? STATUS_OK : damaged(error, "foundations that are none");
}

static const SnapshotGroup foundation_groups[] = {
    {.name = "foundations",
     .count = count_all_primitives,
     .is_counted = true,
     FIELDS(foundation_fields),
     .open = open_foundations},
};

// ---- what collides with what, where not everything does

static bool has_groups(const World *world) {
    for (size_t i = 0; i < world->primitive_count; i++) {
        const Primitive *primitive = &world->primitive[i];
        if (primitive->group != PRIMITIVE_GROUP_DEFAULT ||
            primitive->mask != PRIMITIVE_MASK_DEFAULT) {
            return true;
        }
    }
    return false;
}

static const SnapshotField collision_fields[] = {
    OF_RECORD("primitive.group", FIELD_U32, 1, NULL, primitive, Primitive, group),
    OF_RECORD("primitive.mask", FIELD_U32, 1, NULL, primitive, Primitive, mask),
};

static Status open_collisions(World *world, size_t count, Error *error) {
    return count == world->primitive_count
               ? STATUS_OK
               : damaged(error, "collision groups of more or fewer primitives than there are");
}

static Status settle_collisions(World *world, Error *error) {
    return has_groups(world) ? STATUS_OK
                             : damaged(error, "collision groups that do not differ from none");
}

static const SnapshotGroup collision_groups[] = {
    {.name = "collision groups",
     .count = count_all_primitives,
     .is_counted = true,
     FIELDS(collision_fields),
     .open = open_collisions},
};

// ---- materials of patches

static bool has_patches(const World *world) {
    uint32_t any = 0;
    for (size_t i = 0; i < world->primitive_count; i++) {
        for (uint32_t k = 0; k + 1 < MESH_PATCHES_MAX; k++) {
            any |= world->primitive[i].patch_material[k];
        }
    }
    return any != 0;
}

static const SnapshotField patch_fields[] = {
    OF_RECORD("primitive.patch_material", FIELD_U32, MESH_PATCHES_MAX - 1, NULL, primitive,
              Primitive, patch_material),
};

static Status open_patches(World *world, size_t count, Error *error) {
    return count == world->primitive_count ? STATUS_OK : damaged(error, "patches of others");
}

static Status settle_patches(World *world, Error *error) {
    for (size_t i = 0; i < world->primitive_count; i++) {
        const Primitive *primitive = &world->primitive[i];
        for (uint32_t k = 0; k + 1 < MESH_PATCHES_MAX; k++) {
            const uint32_t own = primitive->patch_material[k];
            const size_t most = primitive_is_surface(primitive->kind) ? world->material_count : 0;
            if (own > most) {
                return damaged(error, "a patch that cannot be");
            }
        }
    }
    return has_patches(world) ? STATUS_OK : damaged(error, "patches that are of no material");
}

static const SnapshotGroup patch_groups[] = {
    {.name = "patches",
     .count = count_all_primitives,
     .is_counted = true,
     FIELDS(patch_fields),
     .open = open_patches},
};

// ---- ids of shapes, where some were removed

static bool has_shape_gap(const World *world) {
    return world->shape_id_next != world->shape_count + 1;
}

static const SnapshotField shape_id_fields[] = {
    OF_RECORD("shape.id", FIELD_U32, 1, NULL, shape, Shape, id),
};

static const SnapshotField shape_next_fields[] = {
    OF_WORLD("next_shape_id", FIELD_U32, 1, NULL, shape_id_next),
};

static Status settle_shape_ids(World *world, Error *error) {
    uint32_t last = 0;
    bool is_sound = has_shape_gap(world) && world->shape_id_next < UINT32_MAX;
    for (size_t i = 0; i < world->shape_count; i++) {
        is_sound = is_sound && world->shape[i].id > last;
        last = world->shape[i].id;
    }
    return is_sound && world->shape_id_next > last ? STATUS_OK
                                                   : damaged(error, "ids of shapes that cannot be");
}

static const SnapshotGroup shape_id_groups[] = {
    {.name = "shape ids", .count = count_shapes, FIELDS(shape_id_fields)},
    {.name = "next shape", FIELDS(shape_next_fields)},
};

// ---- ids of geometries, where some were removed

static bool has_geometry_gap(const World *world) {
    return world->geometry_id_next != world->geometry_count + 1;
}

static const SnapshotField geometry_id_fields[] = {
    OF_RECORD("geometry.id", FIELD_U32, 1, NULL, geometry, WorldGeometry, id),
};

static const SnapshotField geometry_next_fields[] = {
    OF_WORLD("next_geometry_id", FIELD_U32, 1, NULL, geometry_id_next),
};

static Status settle_geometry_ids(World *world, Error *error) {
    uint32_t last = 0;
    bool is_sound = has_geometry_gap(world) && world->geometry_id_next < UINT32_MAX;
    for (size_t i = 0; i < world->geometry_count; i++) {
        is_sound = is_sound && world->geometry[i].id > last;
        last = world->geometry[i].id;
    }
    return is_sound && world->geometry_id_next > last
               ? STATUS_OK
               : damaged(error, "ids of geometries that cannot be");
}

static const SnapshotGroup geometry_id_groups[] = {
    {.name = "geometry ids", .count = count_geometries, FIELDS(geometry_id_fields)},
    {.name = "next geometry", FIELDS(geometry_next_fields)},
};

// ---- all of them

#define GROUPS(list) .groups = (list), .group_count = sizeof(list) / sizeof((list)[0])

// Those of settings that came later, each the one field.
#define OF_SETTING(section, upper, lower, type, count, part)                                       \
    {section,                                                                                      \
     1,                                                                                            \
     true,                                                                                         \
     .groups = (const SnapshotGroup[]){{.name = #lower,                                            \
                                        .fields = (const SnapshotField[]){OF_WORLD(                \
                                            #lower, type, count, part, settings.lower)},           \
                                        .field_count = 1}},                                        \
     .group_count = 1,                                                                             \
     .is_of_setting = true,                                                                        \
     .setting = SETTING_##upper},
#define X_COUNT(bit, section, upper, name, ...) OF_SETTING(section, upper, name, FIELD_U32, 1, NULL)
#define X_VECTOR(bit, section, upper, name, ...)                                                   \
    OF_SETTING(section, upper, name, FIELD_DOUBLE, 3, xyz)
#define X_NUMBER(bit, section, upper, name, ...)                                                   \
    OF_SETTING(section, upper, name, FIELD_DOUBLE, 1, NULL)
#define X_CHOICE(bit, section, upper, name, ...)                                                   \
    OF_SETTING(section, upper, name, FIELD_BYTE, 1, NULL)
#define X_FLAG(bit, section, upper, name, ...) OF_SETTING(section, upper, name, FIELD_FLAG, 1, NULL)

const SnapshotSection snapshot_sections[] = {
    {SECTION_SETTINGS, 1, true, GROUPS(settings_groups)},
    {2, 1, true, GROUPS(material_groups)},
    {SNAPSHOT_GEOMETRIES, 1, true, GROUPS(geometry_groups), .is_there = has_geometries},
    {3, 1, true, GROUPS(shape_groups), .is_there = has_no_geometries},
    {3, 2, true, GROUPS(worn_shape_groups), .is_there = has_geometries},
    {4, 1, true, GROUPS(body_groups)},
    {5, 1, true, GROUPS(name_groups)},
    {6, 1, false, GROUPS(state_groups), .settle = settle_state},
    {7, 1, false, GROUPS(impulse_groups), .settle = settle_impulses},
    {8, 1, true, GROUPS(bounds_groups), .is_there = has_bounds, .settle = settle_bounds},
    {9, 1, true, GROUPS(id_groups), .is_there = has_id_gap, .settle = settle_ids},
    {10, 1, true, GROUPS(sleep_settings_groups), .is_there = has_sleep_settings,
     .settle = settle_sleep_settings},
    {11, 1, false, GROUPS(sleep_groups), .is_there = has_sleep, .settle = settle_sleep},
    {12, 1, false, GROUPS(patience_groups), .is_there = has_failures, .settle = settle_patience},
    {13, 1, true, GROUPS(exponent_groups), .is_there = has_exponents, .settle = settle_exponents},
    {25, 1, true, GROUPS(priority_groups), .is_there = has_priorities, .settle = settle_priorities},
    {26, 1, true, GROUPS(pair_groups), .is_there = has_pairs, .settle = settle_pairs},
    {14, 1, true, GROUPS(foundation_groups), .is_there = has_foundations,
     .settle = settle_foundations},
    {30, 1, true, .groups = snapshot_coupling_groups, .group_count = SNAPSHOT_COUPLING_GROUPS,
     .is_there = snapshot_has_couplings},
    {15, 1, true, .groups = snapshot_joint_groups, .group_count = SNAPSHOT_JOINT_GROUPS,
     .is_there = snapshot_has_joints, .settle = snapshot_settle_joints},
    {21, 1, true, .groups = snapshot_actuator_groups, .group_count = SNAPSHOT_ACTUATOR_GROUPS,
     .is_there = world_has_actuators, .settle = snapshot_settle_actuators},
    {22, 1, false, .groups = snapshot_command_groups, .group_count = SNAPSHOT_COMMAND_GROUPS,
     .is_there = snapshot_has_commands},
    {16, 1, false, .groups = snapshot_joint_state_groups, .is_there = snapshot_has_joints,
     .group_count = SNAPSHOT_JOINT_STATE_GROUPS, .settle = snapshot_settle_joint_state},
    {17, 1, true, GROUPS(collision_groups), .is_there = has_groups, .settle = settle_collisions},
    {27, 1, true, GROUPS(patch_groups), .is_there = has_patches, .settle = settle_patches},
    {18, 1, true, GROUPS(shape_id_groups), .is_there = has_shape_gap, .settle = settle_shape_ids},
    {23, 1, true, GROUPS(geometry_id_groups), .is_there = has_geometry_gap,
     .settle = settle_geometry_ids},
    SETTING_LATER_MAP(X_VECTOR, X_NUMBER, X_CHOICE, X_FLAG, X_COUNT)};
const size_t snapshot_section_count = sizeof(snapshot_sections) / sizeof(snapshot_sections[0]);
