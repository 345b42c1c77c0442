// SPDX-License-Identifier: MIT
// Whether a group is as its header says, between two rows: all of it, or one of its worlds, of
// which others may be at work on the others.
#pragma once

#include "base/defect.h"
#include "run/groups/group.h"

// Layouts go over their columns one after the other, by things that the template has; bodies that
// actions act on rise; and every world there is, is valid.
bool group_is_valid(const Group *group, Defect *defect);

bool group_world_is_valid(const Group *group, uint32_t i, Defect *defect);
