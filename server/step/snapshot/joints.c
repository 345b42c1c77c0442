// SPDX-License-Identifier: MIT
#include "step/snapshot/joints.h"

#include "base/assert.h"
#include "base/array.h"
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

static_assert(sizeof(Pose) == 7 * sizeof(double), "x y z w x y z");

bool snapshot_has_joints(const World *world) {
    return world->joint_id_next != 1;
}

// ---- what they are

static size_t count_joints(const World *world, size_t parent) {
    (void)parent;
    return world->joint_count;
}

static size_t count_axes(const World *world, size_t parent) {
    (void)parent;
    return world->joint_axis_count;
}

static size_t count_positions(const World *world, size_t parent) {
    (void)parent;
    return world->joint_position_count;
}

static const SnapshotField next_fields[] = {
    OF_WORLD("next_joint_id", FIELD_U64, 1, NULL, joint_id_next),
};

static const SnapshotField joint_fields[] = {
    OF_RECORD("joint.id", FIELD_U64, 1, NULL, joint, Joint, id),
    OF_RECORD("joint.kind", FIELD_BYTE, 1, NULL, joint, Joint, kind),
    OF_RECORD("joint.axes", FIELD_BYTE, 1, NULL, joint, Joint, axes),
    OF_RECORD("joint.as_rows", FIELD_FLAG, 1, NULL, joint, Joint, is_rows),
    OF_RECORD("joint.collides", FIELD_FLAG, 1, NULL, joint, Joint, collides),
    OF_RECORD("joint.body", FIELD_U32, 2, NULL, joint, Joint, body),
    OF_RECORD("joint.partner", FIELD_U32, 2, NULL, joint, Joint, partner),
    OF_RECORD("joint.frame", FIELD_DOUBLE, 14, NULL, joint, Joint, frame),
    OF_RECORD("joint.ratio", FIELD_DOUBLE, 1, NULL, joint, Joint, ratio),
    OF_RECORD("joint.length", FIELD_DOUBLE, 1, NULL, joint, Joint, length),
    OF_RECORD("joint.break_force", FIELD_DOUBLE, 1, NULL, joint, Joint, break_force),
    OF_RECORD("joint.break_torque", FIELD_DOUBLE, 1, NULL, joint, Joint, break_torque),
};

static Status open_joints(World *world, size_t count, Error *error) {
    if (count > JOINT_COUNT_MAX) {
        return damaged(error, "more joints than a world may have");
    }
    if (count * sizeof(Joint) > world->limits.bytes_max ||
        !ARRAY_RESERVE(world->joint, world->joint_capacity, count)) {
        return out_of_memory(error);
    }
    if (count > 0) {
        memset(world->joint, 0, count * sizeof(Joint));
    }
    world->joint_count = count;
    return STATUS_OK;
}

static const SnapshotField axis_fields[] = {
    OF_RECORD("joint.low", FIELD_DOUBLE, 1, NULL, joint_axis, JointAxis, low),
    OF_RECORD("joint.high", FIELD_DOUBLE, 1, NULL, joint_axis, JointAxis, high),
    OF_RECORD("joint.stiffness", FIELD_DOUBLE, 1, NULL, joint_axis, JointAxis, stiffness),
    OF_RECORD("joint.rest", FIELD_DOUBLE, 1, NULL, joint_axis, JointAxis, rest),
    OF_RECORD("joint.damping", FIELD_DOUBLE, 1, NULL, joint_axis, JointAxis, damping),
    OF_RECORD("joint.friction", FIELD_DOUBLE, 1, NULL, joint_axis, JointAxis, friction),
    OF_RECORD("joint.armature", FIELD_DOUBLE, 1, NULL, joint_axis, JointAxis, armature),
    OF_RECORD("joint.drive_stiffness", FIELD_DOUBLE, 1, NULL, joint_axis, JointAxis,
              drive_stiffness),
    OF_RECORD("joint.drive_damping", FIELD_DOUBLE, 1, NULL, joint_axis, JointAxis, drive_damping),
    OF_RECORD("joint.effort_max", FIELD_DOUBLE, 1, NULL, joint_axis, JointAxis, effort_max),
};

static const SnapshotField actuator_fields[] = {
    OF_RECORD("joint.stall_effort", FIELD_DOUBLE, 1, NULL, joint_axis, JointAxis, stall_effort),
    OF_RECORD("joint.no_load_speed", FIELD_DOUBLE, 1, NULL, joint_axis, JointAxis, no_load_speed),
    OF_RECORD("joint.lag_time", FIELD_DOUBLE, 1, NULL, joint_axis, JointAxis, lag_time),
    OF_RECORD("joint.delay_steps", FIELD_DOUBLE, 1, NULL, joint_axis, JointAxis, delay_steps),
};

// As many as the joints leave free, whose columns begin where those before them end.
static Status open_axes(World *world, size_t count, Error *error) {
    ASSERT(world->joint_count <= JOINT_COUNT_MAX);
    size_t axes = 0, positions = 0;
    for (size_t i = 0; i < world->joint_count; i++) {
        Joint *joint = &world->joint[i];
        joint->axis_first = (uint32_t)axes;
        joint->position_first = (uint32_t)positions;
        axes += joint_axis_count(joint->axes);
        positions += joint_position_count(joint->axes);
    }
    if (axes != count) {
        return damaged(error, "more or fewer axes than its joints leave free");
    }
    if (count * sizeof(JointAxis) > world->limits.bytes_max ||
        !world_reserve_joint_axes(world, axes) ||
        !ARRAY_RESERVE(world->joint_position, world->joint_position_capacity, positions)) {
        return out_of_memory(error);
    }
    for (size_t i = 0; i < axes; i++) { // unless a section of their own says more
        world->joint_axis[i] = (JointAxis){.low = 0.0};
    }
    world->joint_axis_count = axes;
    world->joint_position_count = positions;
    return STATUS_OK;
}

static const SnapshotField name_fields[] = {
    OF_RECORD("joint.name", FIELD_NAME, 1, NULL, joint, Joint, name),
};

// Of tendons, which the joints then find.
static const SnapshotField coupling_fields[] = {
    OF_RECORD("coupling.tendon", FIELD_U32, 1, NULL, coupling, Coupling, owner),
    OF_RECORD("coupling.joint", FIELD_U32, 1, NULL, coupling, Coupling, joint),
    OF_RECORD("coupling.axis", FIELD_U32, 1, NULL, coupling, Coupling, axis),
    OF_RECORD("coupling.coefficient", FIELD_DOUBLE, 1, NULL, coupling, Coupling, coefficient),
};

static size_t count_couplings(const World *world, size_t parent) {
    (void)parent;
    return world->coupling_count;
}

bool snapshot_has_couplings(const World *world) {
    return world->coupling_count > 0;
}

static Status open_couplings(World *world, size_t count, Error *error) {
    if (count == 0) {
        return damaged(error, "a section of couplings without one");
    }
    if (count > world->limits.bytes_max / sizeof(Coupling) || count > UINT32_MAX ||
        !ARRAY_RESERVE(world->coupling, world->coupling_capacity, count)) {
        return out_of_memory(error);
    }
    world->coupling_count = count;
    return STATUS_OK;
}

const SnapshotGroup snapshot_coupling_groups[SNAPSHOT_COUPLING_GROUPS] = {
    {.name = "couplings",
     .count = count_couplings,
     .is_counted = true,
     FIELDS(coupling_fields),
     .open = open_couplings},
};

static Status accept_name(World *world, const World *stage, size_t index, Error *error) {
    ASSERT(index < world->joint_count);
    const char *name = stage->joint->name;
    if (name[0] != '\0') {
        world->joint[index].name = world_keep_name(world, name);
        if (world->joint[index].name == NULL) {
            return out_of_memory(error);
        }
    }
    return STATUS_OK;
}

const SnapshotGroup snapshot_joint_groups[SNAPSHOT_JOINT_GROUPS] = {
    {.name = "joint ids", FIELDS(next_fields)},
    {.name = "joints",
     .count = count_joints,
     .is_counted = true,
     FIELDS(joint_fields),
     .open = open_joints},
    {.name = "joint axes",
     .count = count_axes,
     .is_counted = true,
     FIELDS(axis_fields),
     .open = open_axes},
    {.name = "joint names", .count = count_joints, FIELDS(name_fields), .accept = accept_name},
};

const SnapshotGroup snapshot_actuator_groups[SNAPSHOT_ACTUATOR_GROUPS] = {
    {.name = "actuators", .count = count_axes, FIELDS(actuator_fields)},
};

Status snapshot_settle_actuators(World *world, Error *error) {
    Error why = {0};
    if (!world_has_actuators(world)) {
        return damaged(error, "actuators that do not differ from none");
    }
    if (!world_joints_are_sound(world)) {
        return damaged(error, "an actuator that cannot be");
    }
    const size_t count = world_count_under_way(world->joint_axis, world->joint_axis_count);
    if (world_reserve_under_way(world, count, &why) != STATUS_OK) {
        return out_of_memory(error);
    }
    for (size_t i = 0; i < count; i++) { // nobody takes them for commands, unless they are read
        world->joint_under_way[i] = NAN;
    }
    return STATUS_OK;
}

// Axis after axis: what a lag has come to, and what is in the delay.
static const char *const command_parts[COMMAND_NUMBERS] = {"target", "target velocity", "effort"};
static const SnapshotField command_fields[] = {
    OF_COLUMN("joint_under_way", FIELD_DOUBLE, COMMAND_NUMBERS, command_parts, joint_under_way,
              COMMAND_NUMBERS * sizeof(double)),
};

static size_t count_commands(const World *world, size_t parent) {
    (void)parent;
    return world_under_way_count(world) / COMMAND_NUMBERS;
}

bool snapshot_has_commands(const World *world) {
    return world_under_way_count(world) > 0;
}

static Status open_commands(World *world, size_t count, Error *error) {
    return count > 0 && count == count_commands(world, 0)
               ? STATUS_OK
               : damaged(error, "more or fewer commands under way than its axes have");
}

const SnapshotGroup snapshot_command_groups[SNAPSHOT_COMMAND_GROUPS] = {
    {.name = "commands under way",
     .count = count_commands,
     .is_counted = true,
     .is_packed = true,
     FIELDS(command_fields),
     .open = open_commands},
};

// What adding them would have refused cannot be.
Status snapshot_settle_joints(World *world, Error *error) {
    const size_t count = world->joint_count;
    if (world->joint_id_next < 2 || world->joint_id_next > (Id)1 << 62 ||
        !world_place_couplings(world) || !world_joints_are_sound(world)) {
        return damaged(error, "a joint that cannot be");
    }
    world->joint_count = 0;
    Error why = {0};
    const Status status = world_check_trees(world, (uint32_t)count, &why);
    world->joint_count = count;
    if (status == STATUS_INVALID_ARGUMENT) {
        return damaged(error, "joints that make no trees");
    }
    if (status != STATUS_OK || !world_reserve_trees(world, world->body_count, count)) {
        return out_of_memory(error);
    }
    world_build_trees(world);
    return STATUS_OK;
}

// ---- their numbers

static const SnapshotField position_fields[] = {
    OF_COLUMN("joint_position", FIELD_DOUBLE, 1, NULL, joint_position, sizeof(double)),
};

static const SnapshotField number_fields[] = {
    OF_COLUMN("joint_velocity", FIELD_DOUBLE, 1, NULL, joint_velocity, sizeof(double)),
    OF_COLUMN("joint_target", FIELD_DOUBLE, 1, NULL, joint_target, sizeof(double)),
    OF_COLUMN("joint_target_velocity", FIELD_DOUBLE, 1, NULL, joint_target_velocity,
              sizeof(double)),
    OF_COLUMN("joint_effort", FIELD_DOUBLE, 1, NULL, joint_effort, sizeof(double)),
};

static const SnapshotField impulse_fields[] = {
    OF_RECORD("joint_impulse.joint", FIELD_U32, 1, NULL, joint_memory, JointMemory, joint),
    OF_RECORD("joint_impulse.part", FIELD_U32, 1, NULL, joint_memory, JointMemory, part),
    OF_RECORD("joint_impulse", FIELD_DOUBLE, 1, NULL, joint_memory, JointMemory, impulse),
};

static size_t count_impulses(const World *world, size_t parent) {
    (void)parent;
    return world->joint_memory_count;
}

static Status open_impulses(World *world, size_t count, Error *error) {
    if (!ARRAY_RESERVE(world->joint_memory, world->joint_memory_capacity, count)) {
        return out_of_memory(error);
    }
    world->joint_memory_count = count;
    return STATUS_OK;
}

static bool impulses_are_sound(const World *world) {
    const JointMemory *memory = world->joint_memory;
    for (size_t i = 0; i < world->joint_memory_count; i++) {
        const bool is_sorted =
            i == 0 || memory[i - 1].joint < memory[i].joint ||
            (memory[i - 1].joint == memory[i].joint && memory[i - 1].part < memory[i].part);
        if (memory[i].joint >= world->joint_count || !is_sorted ||
            !numbers_fit_float(&memory[i].impulse, 1)) {
            return false;
        }
    }
    return true;
}

static Status open_positions(World *world, size_t count, Error *error) {
    return count == world->joint_position_count
               ? STATUS_OK
               : damaged(error, "more or fewer positions than its joints have");
}

const SnapshotGroup snapshot_joint_state_groups[SNAPSHOT_JOINT_STATE_GROUPS] = {
    {.name = "joint positions",
     .count = count_positions,
     .is_counted = true,
     .is_packed = true,
     FIELDS(position_fields),
     .open = open_positions},
    {.name = "joint velocities", .count = count_axes, FIELDS(number_fields)},
    {.name = "joint impulses",
     .count = count_impulses,
     .is_counted = true,
     .is_packed = true,
     FIELDS(impulse_fields),
     .open = open_impulses},
};

// Bodies that hang by joints of coordinates are where and as fast as the joints' numbers say, to
// the last bit, and joints of rows have the numbers of their bodies.
static bool numbers_agree(World *world, const double *before) {
    const size_t bodies = world->body_count;
    world_settle_joints(world);
    const double *part = before;
    const struct {
        const double *values;
        size_t count;
    } parts[] = {{world->pose, 7 * bodies},
                 {world->velocity, 6 * bodies},
                 {world->joint_position, world->joint_position_count},
                 {world->joint_velocity, world->joint_axis_count}};
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        if (parts[i].count > 0 &&
            memcmp(part, parts[i].values, parts[i].count * sizeof(double)) != 0) {
            return false;
        }
        part += parts[i].count;
    }
    return true;
}

Status snapshot_settle_joint_state(World *world, Error *error) {
    if (!world_joint_state_is_sound(world) || !impulses_are_sound(world) ||
        !sleep_trees_are_sound(world)) {
        return damaged(error, "numbers of a joint that cannot be");
    }
    const size_t bodies = world->body_count, positions = world->joint_position_count,
                 axes = world->joint_axis_count;
    double *before = malloc((13 * bodies + positions + axes + 1) * sizeof(double));
    if (before == NULL) {
        return out_of_memory(error);
    }
    double *part = before;
    const struct {
        const double *values;
        size_t count;
    } parts[] = {{world->pose, 7 * bodies},
                 {world->velocity, 6 * bodies},
                 {world->joint_position, positions},
                 {world->joint_velocity, axes}};
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        if (parts[i].count > 0) {
            memcpy(part, parts[i].values, parts[i].count * sizeof(double));
        }
        part += parts[i].count;
    }
    const bool agree = numbers_agree(world, before);
    free(before);
    return agree ? STATUS_OK : damaged(error, "bodies that are not where their joints have them");
}
