// SPDX-License-Identifier: MIT
// What differs from world to world of a group: set through the functions by which anybody sets it.
#include "run/groups/group.h"

#include "base/assert.h"
#include "world/sleep.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static Status blame(size_t index, const char *field, const char *what, Error *error) {
    char path[64];
    snprintf(path, sizeof(path), "parameters[%zu].%s", index, field);
    return error_set(error, STATUS_INVALID_ARGUMENT, path, "%s", what);
}

bool group_parameter_is_known(uint64_t kind) {
    return kind < GROUP_PARAMETER_JOINT_END || kind == GROUP_PARAMETER_BODY_GEOMETRY ||
           kind == GROUP_PARAMETER_BODY_INERTIA || kind == GROUP_PARAMETER_BODY_CENTER_OF_MASS;
}

// ---- geometries

static Status check_id(const World *world, uint32_t body, double id, Error *error) {
    uint32_t index;
    return id >= 1.0 && id <= UINT32_MAX && id == floor(id) &&
                   world_find_geometry(world, (uint64_t)id, &index)
               ? world_check_wear(world, body, (uint64_t)id, error)
               : error_set(error, STATUS_INVALID_ARGUMENT, "geometry",
                           "%g is no id of a geometry of the template, which has %zu.", id,
                           world->geometry_count);
}

Status group_wear(World *world, uint32_t body, double id, Error *error) {
    Status status = check_id(world, body, id, error);
    return STATUS_THEN(status, world_wear(world, body, (uint64_t)id, error));
}

// What else is wrong with a number shows as it is set.
static Status check_values(const World *template, size_t index, const GroupParameter *parameter,
                           size_t count, Error *error) {
    uint32_t body;
    if (parameter->kind != GROUP_PARAMETER_BODY_GEOMETRY) {
        return STATUS_OK;
    }
    const bool is_there = world_find_body(template, parameter->id, &body);
    ASSERT(is_there);
    for (size_t i = 0; i < count; i++) {
        if (check_id(template, body, parameter->values[i], error) != STATUS_OK) {
            snprintf(error->field, sizeof(error->field), "parameters[%zu].values[%zu]", index, i);
            return error->status;
        }
    }
    return STATUS_OK;
}

// ---- compiling

static bool find_material(const World *world, const GroupParameterDef *from, uint64_t *id) {
    uint32_t index;
    *id = from->id;
    if (from->name == NULL) {
        return from->id > 0 && from->id < world->material_count;
    }
    if (layout_place_named(from->name, world->material_count - 1, &index)) {
        *id = (uint64_t)index + 1; // the built-in one is none of them
        return true;
    }
    for (*id = 1; *id < world->material_count; (*id)++) {
        if (strcmp(world->material[*id].name, from->name) == 0) {
            return true;
        }
    }
    return false;
}

static Status find_body(const World *world, size_t index, const GroupParameterDef *from,
                        GroupParameter *made, Error *error) {
    uint32_t body;
    const bool found = from->name != NULL ? layout_body_named(world, from->name, &body)
                                          : world_find_body(world, from->id, &body);
    if (!found) {
        return blame(index, from->id != 0 ? "body_id" : "body", "The template has no such body.",
                     error);
    }
    uint32_t primitive;
    made->id = world->body_id[body];
    made->stride = from->kind == GROUP_PARAMETER_BODY_POSE             ? 7
                   : from->kind == GROUP_PARAMETER_BODY_INERTIA        ? 6
                   : from->kind == GROUP_PARAMETER_BODY_CENTER_OF_MASS ? 3
                                                                       : 1;
    return from->kind != GROUP_PARAMETER_BODY_GEOMETRY || world_find_worn(world, body, &primitive)
               ? STATUS_OK
               : blame(index, from->id != 0 ? "body_id" : "body", LAYOUT_WEARS_NO_ONE, error);
}

static Status find_joint(const World *world, size_t index, const GroupParameterDef *from,
                         GroupParameter *made, Error *error) {
    uint32_t joint;
    const bool found = from->name != NULL ? layout_joint_named(world, from->name, &joint)
                                          : world_find_joint(world, from->id, &joint);
    if (!found) {
        return blame(index, from->id != 0 ? "joint_id" : "joint", "The template has no such joint.",
                     error);
    }
    const uint8_t axes = world->joint[joint].axes;
    made->id = world->joint[joint].id;
    made->stride = from->kind == GROUP_PARAMETER_JOINT_POSITION ? joint_position_count(axes)
                                                                : joint_axis_count(axes);
    return made->stride > 0 ? STATUS_OK
                            : blame(index, "joint", "This joint leaves nothing free.", error);
}

static Status find_thing(const World *world, size_t index, const GroupParameterDef *from,
                         GroupParameter *made, Error *error) {
    made->stride = 1;
    switch (from->kind) {
    case GROUP_PARAMETER_BODY_MASS:
    case GROUP_PARAMETER_BODY_POSE:
    case GROUP_PARAMETER_BODY_GEOMETRY:
    case GROUP_PARAMETER_BODY_INERTIA:
    case GROUP_PARAMETER_BODY_CENTER_OF_MASS:
        return find_body(world, index, from, made, error);
    case GROUP_PARAMETER_MATERIAL_FRICTION:
    case GROUP_PARAMETER_MATERIAL_RESTITUTION:
        return find_material(world, from, &made->id)
                   ? STATUS_OK
                   : blame(index, from->id != 0 ? "material_id" : "material",
                           "The template has no such material, beside the built-in one.", error);
    case GROUP_PARAMETER_GRAVITY:
        made->stride = 3;
        return STATUS_OK;
    default:
        return find_joint(world, index, from, made, error);
    }
}

Status group_compile_parameters(Group *group, const GroupDef *def, Error *error) {
    ASSERT(group->template != NULL);
    ASSERT(def->count == group->count);
    GroupParameter *list =
        arena_take_array(&group->memory, def->parameter_count, sizeof(GroupParameter));
    group->parameter = list;
    for (size_t i = 0; list != NULL && i < def->parameter_count; i++) {
        const GroupParameterDef *from = &def->parameter[i];
        list[i] = (GroupParameter){.kind = from->kind};
        if (find_thing(group->template, i, from, &list[i], error) != STATUS_OK) {
            return error->status;
        }
        const size_t count = (size_t)group->count * list[i].stride;
        if (from->count != count) {
            char what[128];
            snprintf(what, sizeof(what), "%u worlds take %zu numbers (%u each), not %zu.",
                     group->count, count, list[i].stride, from->count);
            return blame(i, "values", what, error);
        }
        list[i].values = arena_take_array(&group->memory, count, sizeof(double));
        if (list[i].values == NULL) {
            list = NULL;
            break;
        }
        memcpy(list[i].values, from->values, count * sizeof(double));
        if (check_values(group->template, i, &list[i], count, error) != STATUS_OK) {
            return error->status;
        }
    }
    group->parameter_count = def->parameter_count;
    return list != NULL ? STATUS_OK
                        : error_set(error, STATUS_RESOURCE_EXHAUSTED, "parameters",
                                    "Memory ended while making a group: ask for fewer worlds.");
}

// ---- setting

static bool is_of_state(GroupParameterKind kind) {
    return kind == GROUP_PARAMETER_BODY_POSE || kind == GROUP_PARAMETER_JOINT_POSITION ||
           kind == GROUP_PARAMETER_BODY_GEOMETRY;
}

static Status set_body(World *world, const GroupParameter *parameter, const double *values,
                       Error *error) {
    const bool is_pose = parameter->kind == GROUP_PARAMETER_BODY_POSE,
               is_mass = parameter->kind == GROUP_PARAMETER_BODY_MASS;
    const BodyUpdate update = {.count = 1,
                               .id = &parameter->id,
                               .pose = is_pose ? values : NULL,
                               .mass = is_mass ? values : NULL,
                               .inertia = is_pose || is_mass ? NULL : values};
    return world_update_bodies(world, &update, error);
}

static Status set_center(World *world, const GroupParameter *parameter, const double *values,
                         Error *error) {
    uint32_t body;
    const bool is_there = world_find_body(world, parameter->id, &body);
    ASSERT(is_there);
    return world_move_center(world, body, values, error);
}

static Status set_geometry(World *world, const GroupParameter *parameter, double id, Error *error) {
    uint32_t body;
    const bool is_there = world_find_body(world, parameter->id, &body);
    ASSERT(is_there);
    return group_wear(world, body, id, error);
}

static Status set_material(World *world, const GroupParameter *parameter, const double *values,
                           Error *error) {
    const bool is_friction = parameter->kind == GROUP_PARAMETER_MATERIAL_FRICTION;
    const MaterialUpdate update = {.count = 1,
                                   .id = &parameter->id,
                                   .friction = is_friction ? values : NULL,
                                   .restitution = is_friction ? NULL : values};
    return world_update_materials(world, &update, error);
}

static Status set_gravity(World *world, const double *values, Error *error) {
    WorldSettings settings = world->settings;
    settings.gravity = vec3_load(values);
    Status status = settings_check(&settings, error);
    if (status == STATUS_OK) {
        world_set_settings(world, &settings);
    }
    return status;
}

// On the wire 1e18 says that there is none.
static double of_wire(JointNumber number, double value) {
    const double none = 1e18;
    const bool is_top = number == JOINT_HIGH || number == JOINT_EFFORT_MAX;
    if (number == JOINT_LOW && value == -none) {
        return -HUGE_VAL;
    }
    return is_top && value == none ? HUGE_VAL : value;
}

static Status set_joint(World *world, const GroupParameter *parameter, const double *values,
                        Error *error) {
    double numbers[JOINT_POSITION_MAX];
    JointUpdate update = {.count = 1, .id = &parameter->id};
    if (parameter->kind == GROUP_PARAMETER_JOINT_POSITION) {
        update.position = values;
        update.position_count = parameter->stride;
    } else {
        const JointNumber number = (JointNumber)(parameter->kind - GROUP_PARAMETER_JOINT_LOW);
        for (uint32_t i = 0; i < parameter->stride; i++) {
            numbers[i] = of_wire(number, values[i]);
        }
        update.number[number] = numbers;
        update.axis_count = parameter->stride;
    }
    return world_update_joints(world, &update, error);
}

static Status set(World *world, const GroupParameter *parameter, const double *values,
                  Error *error) {
    switch (parameter->kind) {
    case GROUP_PARAMETER_BODY_MASS:
    case GROUP_PARAMETER_BODY_POSE:
    case GROUP_PARAMETER_BODY_INERTIA:
        return set_body(world, parameter, values, error);
    case GROUP_PARAMETER_BODY_CENTER_OF_MASS:
        return set_center(world, parameter, values, error);
    case GROUP_PARAMETER_MATERIAL_FRICTION:
    case GROUP_PARAMETER_MATERIAL_RESTITUTION:
        return set_material(world, parameter, values, error);
    case GROUP_PARAMETER_GRAVITY:
        return set_gravity(world, values, error);
    case GROUP_PARAMETER_BODY_GEOMETRY:
        return set_geometry(world, parameter, values[0], error);
    default:
        return set_joint(world, parameter, values, error);
    }
}

void group_rouse_template(Group *group) {
    bool differ = false;
    for (size_t k = 0; k < group->parameter_count; k++) {
        differ = differ || !is_of_state(group->parameter[k].kind);
    }
    if (differ) {
        sleep_wake_all(group->template);
    }
}

Status group_set_parameters(Group *group, uint32_t i, bool is_state, Error *error) {
    ASSERT(i < group->count);
    for (size_t k = 0; k < group->parameter_count; k++) {
        const GroupParameter *parameter = &group->parameter[k];
        const size_t first = (size_t)i * parameter->stride;
        if (is_of_state(parameter->kind) != is_state ||
            set(group->world[i].world, parameter, parameter->values + first, error) == STATUS_OK) {
            continue;
        }
        snprintf(error->field, sizeof(error->field), "parameters[%zu].values[%zu]", k, first);
        return error->status;
    }
    return STATUS_OK;
}
