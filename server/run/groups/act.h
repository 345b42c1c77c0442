// SPDX-License-Identifier: MIT
// What an action does to a group's world, as inputs of the door (door.h): with them a world that is
// in no group takes the same steps, and a recording of it is one of any world.
//
//   set   of kinematic bodies, their velocities; of joints, efforts, targets, target velocities
//   step  the wrenches that are held, once for each substep
//
// The steps are those of group_run_row to the bit. In worlds that sleep, a joint that is driven
// rouses both of its bodies, whether its numbers change or not.
#pragma once

#include "run/groups/group.h"

enum { GROUP_ACT_SETS = 2 };

typedef struct GroupAct {
    size_t set_count;
    Input set[GROUP_ACT_SETS];
    StepOrder step; // of one substep

    // what they point to; in the arena
    size_t joint_count, body_count;
    uint32_t *driven_joint, *driven_body; // of the template, rising
    bool drives_effort, drives_target, drives_rate;
    uint64_t *joint, *woken, *body, *pushed;
    uint8_t *is_woken; // by the world's bodies: whether it is listed
    double *effort, *target, *rate, *velocity, *wrench;
} GroupAct;

// Room for the actions of a group, in the arena. RESOURCE_EXHAUSTED when it ends.
Status group_act_open(GroupAct *act, const Group *group, Arena *arena, Error *error);

// Those of the action that the world has had applied last, while it is in force.
void group_act_read(GroupAct *act, const Group *group, const GroupWorld *world);
