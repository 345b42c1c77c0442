// SPDX-License-Identifier: MIT
// The sections of a world's joints: what they are, and their numbers. Worlds that never had one
// have neither section.
#pragma once

#include "step/snapshot/fields.h"

enum { SNAPSHOT_JOINT_GROUPS = 4, SNAPSHOT_JOINT_STATE_GROUPS = 3 };

extern const SnapshotGroup snapshot_joint_groups[SNAPSHOT_JOINT_GROUPS];
extern const SnapshotGroup snapshot_joint_state_groups[SNAPSHOT_JOINT_STATE_GROUPS];

bool snapshot_has_joints(const World *world);
Status snapshot_settle_joints(World *world, Error *error);
Status snapshot_settle_joint_state(World *world, Error *error);
