// SPDX-License-Identifier: MIT
// What gears and tendons couple: axes of other joints, of which each has a share in what must add
// up to 0, or in a length.
#include "world/world.h"

#include "base/assert.h"
#include "world/range.h"

#include <stdio.h>

uint32_t world_coupling_count(const Joint *joint) {
    return joint->kind == JOINT_GEAR ? 2 : joint->coupling_count;
}

Coupling world_coupling(const World *world, const Joint *joint, uint32_t index) {
    ASSERT(index < world_coupling_count(joint));
    return joint->kind == JOINT_GEAR ? (Coupling){.joint = joint->partner[index],
                                                  .coefficient = index == 0 ? -joint->ratio : 1.0}
                                     : world->coupling[joint->coupling_first + index];
}

uint32_t world_joint_end_count(const Joint *joint) {
    return joint_couples(joint) ? 2 * world_coupling_count(joint) : 2;
}

uint32_t world_joint_end(const World *world, const Joint *joint, uint32_t index) {
    ASSERT(index < world_joint_end_count(joint));
    return joint_couples(joint)
               ? world->joint[world_coupling(world, joint, index / 2).joint].body[index % 2]
               : joint->body[index];
}

void world_measure_tendon(const World *world, const Joint *joint, double *position,
                          double *velocity) {
    ASSERT(joint->kind == JOINT_TENDON);
    *position = *velocity = 0.0;
    for (uint32_t i = 0; i < joint->coupling_count; i++) {
        const Coupling coupling = world_coupling(world, joint, i);
        const Joint *of = &world->joint[coupling.joint];
        *position +=
            coupling.coefficient * world->joint_position[of->position_first + coupling.axis];
        *velocity += coupling.coefficient * world->joint_velocity[of->axis_first + coupling.axis];
    }
}

// ---- as they come in

static Status blame(Error *error, Status status, const char *column, size_t entry,
                    const char *why) {
    char field[64];
    snprintf(field, sizeof(field), "%s[%zu]", column, entry);
    return error_set(error, status, field, "%s", why);
}

Joint *world_find_coupled(World *world, Id id, uint32_t before, uint32_t *index) {
    if (id >= world->joint_id_next && id - world->joint_id_next < before) {
        *index = (uint32_t)(world->joint_count + (id - world->joint_id_next));
        return &world->joint[*index];
    }
    return world_find_joint(world, id, index) ? &world->joint[*index] : NULL;
}

static Status load_coupling(World *world, const JointColumns *columns, uint32_t i, size_t entry,
                            Coupling *coupling, Error *error) {
    const Joint *of = columns->coupled == NULL
                          ? NULL
                          : world_find_coupled(world, columns->coupled[entry], i, &coupling->joint);
    coupling->axis = columns->coupled_axes == NULL ? 0 : columns->coupled_axes[entry];
    coupling->coefficient = columns->coefficients == NULL ? 1.0 : columns->coefficients[entry];
    if (of == NULL) {
        return blame(error, STATUS_NOT_FOUND, "coupled", entry,
                     "No joint has this id; a tendon comes after the joints that it couples.");
    }
    if (joint_couples(of)) {
        return blame(error, STATUS_INVALID_ARGUMENT, "coupled", entry,
                     "A tendon couples joints between bodies, no gears and no tendons.");
    }
    if (!joint_has_number(of->axes, coupling->axis)) {
        return blame(error, STATUS_INVALID_ARGUMENT, "coupled_axes", entry,
                     "The joint leaves no such axis free (they are counted from 0), or it is one "
                     "of three turns, which have no angles.");
    }
    return range_check(RANGE_JOINT_COEFFICIENT, coupling->coefficient, "coefficients",
                       (int64_t)entry, error);
}

Status world_load_couplings(World *world, const JointColumns *columns, uint32_t i, size_t first,
                            Joint *joint, Error *error) {
    const uint32_t count = columns->coupled_count == NULL ? 0 : columns->coupled_count[i];
    if ((count > 0) != (joint->kind == JOINT_TENDON)) {
        return blame(error, STATUS_INVALID_ARGUMENT, "coupled_count", i,
                     count > 0 ? "Only a tendon couples axes of joints."
                               : "A tendon couples one axis of a joint at least.");
    }
    if (count > columns->coupling_count - first) {
        return blame(error, STATUS_INVALID_ARGUMENT, "coupled_count", i,
                     "Tendons couple more axes than the columns of couplings have.");
    }
    joint->coupling_first = (uint32_t)(world->coupling_count + first);
    joint->coupling_count = count;
    Status status = STATUS_OK;
    for (uint32_t k = 0; status == STATUS_OK && k < count; k++) {
        Coupling *coupling = &world->coupling[joint->coupling_first + k];
        *coupling = (Coupling){.owner = (uint32_t)world->joint_count + i};
        status = load_coupling(world, columns, i, first + k, coupling, error);
    }
    return status;
}

// ---- as joints go, and as they are read

// Those of tendons that stay, with the indices that all will have.
void world_move_couplings(World *world) {
    size_t kept = 0;
    for (size_t i = 0; i < world->coupling_count; i++) {
        Coupling coupling = world->coupling[i];
        Joint *owner = &world->joint[coupling.owner];
        if (owner->place == JOINT_NONE) {
            continue;
        }
        if (owner->coupling_first == i) {
            owner->coupling_first = (uint32_t)kept;
        }
        coupling.owner = owner->place;
        coupling.joint = world->joint[coupling.joint].place;
        world->coupling[kept++] = coupling;
    }
    world->coupling_count = kept;
}

bool world_place_couplings(World *world) {
    for (size_t i = 0; i < world->coupling_count; i++) {
        const uint32_t owner = world->coupling[i].owner;
        if (owner >= world->joint_count || world->joint[owner].kind != JOINT_TENDON ||
            (i > 0 && owner < world->coupling[i - 1].owner)) {
            return false;
        }
        Joint *joint = &world->joint[owner];
        joint->coupling_first = joint->coupling_count == 0 ? (uint32_t)i : joint->coupling_first;
        joint->coupling_count++;
    }
    return true;
}
