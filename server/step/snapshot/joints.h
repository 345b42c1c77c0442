// SPDX-License-Identifier: MIT
// The sections of a world's joints: what they are, and their numbers. Worlds that never had one
// have neither section, worlds without a tendon none of couplings, and worlds without a motor, a
// lag or a delay none of actuators, nor of what is under way of their commands.
#pragma once

#include "step/snapshot/fields.h"

enum {
    SNAPSHOT_JOINT_GROUPS = 4,
    SNAPSHOT_JOINT_STATE_GROUPS = 3,
    SNAPSHOT_ACTUATOR_GROUPS = 1,
    SNAPSHOT_COMMAND_GROUPS = 1,
    SNAPSHOT_COUPLING_GROUPS = 1
};

extern const SnapshotGroup snapshot_joint_groups[SNAPSHOT_JOINT_GROUPS];
extern const SnapshotGroup snapshot_actuator_groups[SNAPSHOT_ACTUATOR_GROUPS];
extern const SnapshotGroup snapshot_command_groups[SNAPSHOT_COMMAND_GROUPS];
extern const SnapshotGroup snapshot_coupling_groups[SNAPSHOT_COUPLING_GROUPS];
extern const SnapshotGroup snapshot_joint_state_groups[SNAPSHOT_JOINT_STATE_GROUPS];

bool snapshot_has_joints(const World *world);
bool snapshot_has_commands(const World *world);
bool snapshot_has_couplings(const World *world);
Status snapshot_settle_joints(World *world, Error *error);
Status snapshot_settle_actuators(World *world, Error *error);
Status snapshot_settle_joint_state(World *world, Error *error);
