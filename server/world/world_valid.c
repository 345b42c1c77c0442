// SPDX-License-Identifier: MIT
#include "world/world_valid.h"

#include "world/world_commands.h"

#include <math.h>
#include <string.h>

static bool is_unit(const double *q) {
    return fabs(quat_norm((Quat){q[0], q[1], q[2], q[3]}) - 1.0) < 1e-9; // NaN fails
}

static bool sym3_is_finite(const Sym3 *s) {
    return isfinite(s->xx) && isfinite(s->yy) && isfinite(s->zz) && isfinite(s->xy) &&
           isfinite(s->xz) && isfinite(s->yz);
}

// ---- settings, materials, shapes

static bool settings_are_valid(const World *world, Defect *defect) {
    Error error;
    if (settings_check(&world->settings, &error) != STATUS_OK) {
        return defect_set(defect, "settings", 0, "a number is out of its range");
    }
    if (world->solver_failures > SOLVER_FAILURES_MAX || world->solver_wait > SOLVER_WAIT_MAX) {
        return defect_set(defect, "settings", 0, "the solver's patience is out of its range");
    }
    return true;
}

static bool materials_are_valid(const World *world, Defect *defect) {
    double friction_max = 0.0;
    uint64_t last = 0;
    if (world->material_count == 0 || world->material_count > world->material_capacity) {
        return defect_set(defect, "material", 0, "there is no built-in one, or no room");
    }
    for (size_t i = 0; i < world->material_count; i++) {
        friction_max = fmax(friction_max, world_own_friction(world, i));
        if (!(world->material[i].friction >= 0.0) || !(world->material[i].restitution >= 0.0)) {
            return defect_set(defect, "material", i, "a number is negative");
        }
    }
    for (size_t i = 0; i < world->material_pair_count; i++) {
        const MaterialPair *pair = &world->material_pair[i];
        const uint64_t place = ((uint64_t)pair->low << 32 | pair->high) + 1;
        if (pair->low > pair->high || pair->high >= world->material_count || place <= last ||
            !(pair->friction >= 0.0)) {
            return defect_set(defect, "material_pair", i, "it is out of order, or of no materials");
        }
        last = place;
        friction_max = fmax(friction_max, pair->friction);
    }
    return world->friction_max == friction_max ||
           defect_set(defect, "material", 0, "friction_max is not the largest friction");
}

static bool geometries_are_valid(const World *world, Defect *defect) {
    uint32_t last = 0;
    for (size_t i = 0; i < world->geometry_count; i++) {
        const uint32_t id = world->geometry[i].id;
        if (id <= last || id >= world->geometry_id_next) {
            return defect_set(defect, "geometry", i, "its id does not rise, or was not given yet");
        }
        last = id;
    }
    return true;
}

static bool primitive_is_valid(const World *world, size_t i, Defect *defect) {
    const Primitive *primitive = &world->primitive[i];
    double packed[7];
    pose_store(packed, primitive->local);
    if (primitive->kind >= PRIMITIVE_COUNT || primitive->material >= world->material_count) {
        return defect_set(defect, "primitive", i, "its kind or its material does not exist");
    }
    for (uint32_t k = 0; k + 1 < MESH_PATCHES_MAX; k++) {
        if (primitive->patch_material[k] > world->material_count) {
            return defect_set(defect, "primitive", i, "a patch's material does not exist");
        }
    }
    const uint32_t number = primitive->geometry_number;
    if (number > world->geometry_count ||
        primitive->geometry != (number == 0 ? NULL : world->geometry[number - 1].geometry)) {
        return defect_set(defect, "primitive", i, "it does not wear the geometry of its number");
    }
    return (numbers_are_finite(packed, 3) && is_unit(packed + 3)) ||
           defect_set(defect, "primitive", i, "its pose is not finite, or no unit quaternion");
}

static bool shapes_are_valid(const World *world, Defect *defect) {
    for (size_t i = 0; i < world->primitive_count; i++) {
        if (!primitive_is_valid(world, i, defect)) {
            return false;
        }
    }
    size_t first = 0;
    for (size_t i = 0; i < world->shape_count; i++) {
        const Shape *shape = &world->shape[i];
        if (shape->primitive_first != first || shape->primitive_count == 0) {
            return defect_set(defect, "shape", i, "its primitives do not follow the last one's");
        }
        first += shape->primitive_count;
        if (shape->id >= world->shape_id_next || (i > 0 && shape->id <= shape[-1].id)) {
            return defect_set(defect, "shape", i, "its id does not rise, or was not given yet");
        }
    }
    return (first == world->primitive_count && first <= world->primitive_capacity) ||
           defect_set(defect, "primitive", first, "it is no shape's");
}

// ---- bodies

static bool mass_is_valid(const World *world, uint32_t body, Defect *defect) {
    const BodyMass *mass = &world->mass[body];
    if (world->kind[body] != BODY_DYNAMIC) {
        return mass->mass == 0.0 ||
               defect_set(defect, "body", body, "it is static or kinematic, and has a mass");
    }
    if (!(mass->mass > 0.0 && isfinite(mass->mass)) || !vec3_is_finite(mass->center)) {
        return defect_set(defect, "body", body, "it is dynamic, and has no finite mass");
    }
    const Sym3 *inertia = &mass->inertia;
    return (sym3_is_finite(inertia) && sym3_is_finite(&mass->inverse_inertia) &&
            inertia->xx > 0.0 && inertia->yy > 0.0 && inertia->zz > 0.0) ||
           defect_set(defect, "body", body, "its inertia is not finite, or not positive");
}

static bool body_is_valid(const World *world, uint32_t body, Defect *defect) {
    const Id id = world->body_id[body];
    const double *pose = world->pose + 7 * (size_t)body;
    if (id >= world->body_id_next || (body > 0 && id <= world->body_id[body - 1])) {
        return defect_set(defect, "body", body, "its id does not rise, or was not given yet");
    }
    if (world->kind[body] >= BODY_KIND_COUNT) {
        return defect_set(defect, "body", body, "its kind does not exist");
    }
    if (world->body_shape[body] != UINT32_MAX && world->body_shape[body] >= world->shape_count) {
        return defect_set(defect, "body", body, "its shape does not exist");
    }
    if (!numbers_are_finite(pose, 7)) {
        return defect_set(defect, "body", body, "its pose is not finite");
    }
    if (!is_unit(pose + 3)) {
        return defect_set(defect, "body", body, "its orientation is no unit quaternion");
    }
    return (numbers_are_finite(world->velocity + 6 * (size_t)body, 6) ||
            defect_set(defect, "body", body, "its velocity is not finite")) &&
           mass_is_valid(world, body, defect);
}

static bool bodies_are_valid(const World *world, Defect *defect) {
    uint32_t dynamic_count = 0;
    if (world->body_count > world->body_capacity ||
        world->body_count > world->limits.body_count_max) {
        return defect_set(defect, "body", world->body_count, "there are more than have room");
    }
    for (uint32_t body = 0; body < world->body_count; body++) {
        if (!body_is_valid(world, body, defect)) {
            return false;
        }
        dynamic_count += world->kind[body] == BODY_DYNAMIC;
        const Vec3 center = world->mass[body].center;
        if (!world->has_center && (center.x != 0.0 || center.y != 0.0 || center.z != 0.0)) {
            return defect_set(defect, "body", body, "its centre is not the origin: has_center");
        }
    }
    return dynamic_count == world->dynamic_count ||
           defect_set(defect, "body", dynamic_count, "so many are dynamic, not dynamic_count");
}

// ---- joints

static bool joint_state_is_valid(const World *world, Defect *defect) {
    if (!numbers_are_finite(world->joint_position, world->joint_position_count) ||
        !numbers_are_finite(world->joint_velocity, world->joint_axis_count)) {
        return defect_set(defect, "joint", 0, "positions or velocities are not finite");
    }
    if (!world_commands_are_sound(world)) {
        return defect_set(defect, "joint", 0, "commands under way have no room, or cannot be");
    }
    for (size_t i = 0; i < world->joint_count; i++) {
        const Joint *joint = &world->joint[i];
        const size_t moves = joint_axis_count(joint->axes & JOINT_MOVES);
        if ((joint->axes & JOINT_TURNS) == JOINT_TURNS &&
            !is_unit(world->joint_position + joint->position_first + moves)) {
            return defect_set(defect, "joint", i, "its turns are no unit quaternion");
        }
    }
    return true;
}

// Their columns stand one behind the other.
static bool joints_are_valid(const World *world, Defect *defect) {
    size_t axes = 0, positions = 0;
    for (size_t i = 0; i < world->joint_count; i++) {
        const Joint *joint = &world->joint[i];
        if (joint->id >= world->joint_id_next || (i > 0 && joint->id <= joint[-1].id)) {
            return defect_set(defect, "joint", i, "its id does not rise, or was not given yet");
        }
        if (!world_joint_is_sound(world, i)) {
            return defect_set(defect, "joint", i, "its ends, frames or numbers cannot be");
        }
        if (joint->axis_first != axes || joint->position_first != positions) {
            return defect_set(defect, "joint", i, "its columns do not follow the last one's");
        }
        axes += joint_axis_count(joint->axes);
        positions += joint_position_count(joint->axes);
    }
    if (axes != world->joint_axis_count || positions != world->joint_position_count) {
        return defect_set(defect, "joint", world->joint_count, "there are columns of no joint");
    }
    if (axes > world->joint_axis_capacity || positions > world->joint_position_capacity) {
        return defect_set(defect, "joint", world->joint_count, "their columns have no room");
    }
    return joint_state_is_valid(world, defect);
}

// ---- impulses, names

static bool impulses_are_valid(const World *world, Defect *defect) {
    const ContactMemory *memory = world->memory;
    for (size_t i = 0; i < world->memory_count; i++) {
        if (memory[i].a >= memory[i].b || memory[i].b >= world->body_count) {
            return defect_set(defect, "impulse", i, "its bodies do not exist, or do not rise");
        }
        if (i > 0 && !world_memory_precedes(&memory[i - 1], &memory[i])) {
            return defect_set(defect, "impulse", i, "it stands twice, or before the last one");
        }
        if (!numbers_are_finite(memory[i].impulse, 3)) {
            return defect_set(defect, "impulse", i, "it is not finite");
        }
    }
    const JointMemory *row = world->joint_memory;
    for (size_t i = 0; i < world->joint_memory_count; i++) {
        const bool is_sorted = i == 0 || row[i - 1].joint < row[i].joint ||
                               (row[i - 1].joint == row[i].joint && row[i - 1].part < row[i].part);
        if (row[i].joint >= world->joint_count || !is_sorted ||
            !numbers_are_finite(&row[i].impulse, 1)) {
            return defect_set(defect, "joint impulse", i, "its joint, place or size cannot be");
        }
    }
    return true;
}

static bool names_are_valid(const World *world, Defect *defect) {
    size_t bytes = 0;
    for (uint32_t body = 0; body < world->body_count; body++) {
        bytes += world->body_name[body] == NULL ? 0 : strlen(world->body_name[body]) + 1;
    }
    for (size_t i = 0; i < world->joint_count; i++) {
        bytes += world->joint[i].name == NULL ? 0 : strlen(world->joint[i].name) + 1;
    }
    return bytes == world->name_bytes ||
           defect_set(defect, "name", bytes, "names have so many bytes, not name_bytes");
}

bool world_is_valid(const World *world, Defect *defect) {
    return settings_are_valid(world, defect) && materials_are_valid(world, defect) &&
           geometries_are_valid(world, defect) && shapes_are_valid(world, defect) &&
           bodies_are_valid(world, defect) && joints_are_valid(world, defect) &&
           world_trees_are_valid(world, defect) && impulses_are_valid(world, defect) &&
           names_are_valid(world, defect) && world_sleep_is_valid(world, defect);
}
