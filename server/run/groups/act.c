// SPDX-License-Identifier: MIT
#include "run/groups/act.h"

#include "base/assert.h"

#include <string.h>

// ---- room

// The indices that are marked, rising.
static uint32_t *list_marked(const uint8_t *mark, size_t count, Arena *arena, size_t *listed) {
    uint32_t *list = arena_take_array(arena, count, sizeof(*list));
    *listed = 0;
    for (uint32_t i = 0; list != NULL && i < count; i++) {
        list[*listed] = i;
        *listed += mark[i] != 0;
    }
    return list;
}

// Which joints and bodies the channels are of.
static bool list_driven(GroupAct *act, const Group *group, Arena *arena) {
    const World *template = group->template;
    uint8_t *joint = arena_take_zeroed(arena, template->joint_count, 1);
    uint8_t *body = arena_take_zeroed(arena, template->body_count, 1);
    if (joint == NULL || body == NULL) {
        return false;
    }
    for (uint32_t c = 0; c < group->action.channel_count; c++) {
        const Channel *channel = &group->action.channel[c];
        act->drives_effort = act->drives_effort || channel->kind == CHANNEL_JOINT_EFFORT;
        act->drives_target = act->drives_target || channel->kind == CHANNEL_JOINT_TARGET;
        act->drives_rate = act->drives_rate || channel->kind == CHANNEL_JOINT_TARGET_VELOCITY;
        if (channel->joint != JOINT_NONE) {
            joint[channel->joint] = 1;
        } else if (channel->kind == CHANNEL_BODY_VELOCITY || channel->kind == CHANNEL_BODY_SPIN) {
            body[channel->body] = 1;
        }
    }
    act->driven_joint = list_marked(joint, template->joint_count, arena, &act->joint_count);
    act->driven_body = list_marked(body, template->body_count, arena, &act->body_count);
    return act->driven_joint != NULL && act->driven_body != NULL;
}

static bool take_columns(GroupAct *act, const Group *group, Arena *arena) {
    size_t axes = 0;
    for (size_t i = 0; i < act->joint_count; i++) {
        axes += joint_axis_count(group->template->joint[act->driven_joint[i]].axes);
    }
    const size_t pushed = group->pushed.count;
    act->joint = arena_take_array(arena, act->joint_count, sizeof(*act->joint));
    act->woken = arena_take_array(arena, group->template->body_count, sizeof(*act->woken));
    act->is_woken = arena_take_array(arena, group->template->body_count, 1);
    act->effort = arena_take_array(arena, axes, sizeof(*act->effort));
    act->target = arena_take_array(arena, axes, sizeof(*act->target));
    act->rate = arena_take_array(arena, axes, sizeof(*act->rate));
    act->body = arena_take_array(arena, act->body_count, sizeof(*act->body));
    act->velocity = arena_take_array(arena, act->body_count, 6 * sizeof(*act->velocity));
    act->pushed = arena_take_array(arena, pushed, sizeof(*act->pushed));
    act->wrench = arena_take_array(arena, pushed, 6 * sizeof(*act->wrench));
    return act->joint != NULL && act->woken != NULL && act->is_woken != NULL &&
           act->effort != NULL && act->target != NULL && act->rate != NULL && act->body != NULL &&
           act->velocity != NULL && act->pushed != NULL && act->wrench != NULL;
}

Status group_act_open(GroupAct *act, const Group *group, Arena *arena, Error *error) {
    *act = (GroupAct){0};
    if (!list_driven(act, group, arena) || !take_columns(act, group, arena)) {
        return error_set(error, STATUS_RESOURCE_EXHAUSTED, "",
                         "Memory ended while opening an episode of a group.");
    }
    for (size_t i = 0; i < group->pushed.count; i++) {
        act->pushed[i] = group->template->body_id[group->pushed.body[i]];
    }
    return STATUS_OK;
}

// ---- reading

// All numbers of the joints that are driven, of which some may be those of before.
static void read_joints(GroupAct *act, const Group *group, const World *world) {
    JointUpdate *joints = &act->set[act->set_count].set.joints;
    BodyUpdate *woken = &act->set[act->set_count].set.update;
    act->set[act->set_count] = (Input){.kind = INPUT_SET};
    memset(act->is_woken, 0, group->template->body_count);
    for (size_t i = 0; i < act->joint_count; i++) {
        uint32_t index;
        if (!layout_find_joint(world, group->template, act->driven_joint[i], &index)) {
            continue;
        }
        const Joint *joint = &world->joint[index];
        const size_t axes = joint_axis_count(joint->axes), at = joints->axis_count;
        memcpy(act->effort + at, world->joint_effort + joint->axis_first, axes * sizeof(double));
        memcpy(act->target + at, world->joint_target + joint->axis_first, axes * sizeof(double));
        memcpy(act->rate + at, world->joint_target_velocity + joint->axis_first,
               axes * sizeof(double));
        joints->axis_count += axes;
        act->joint[joints->count++] = joint->id;
        for (uint32_t k = 0; k < world_joint_end_count(joint); k++) {
            const uint32_t body = world_joint_end(world, joint, k);
            if (body != JOINT_NO_BODY && world->kind[body] == BODY_DYNAMIC &&
                !act->is_woken[body]) {
                act->is_woken[body] = 1;
                act->woken[woken->count++] = world->body_id[body];
            }
        }
    }
    joints->id = act->joint;
    joints->effort = act->drives_effort ? act->effort : NULL;
    joints->target = act->drives_target ? act->target : NULL;
    joints->target_velocity = act->drives_rate ? act->rate : NULL;
    woken->id = act->woken; // without any number: that alone rouses them, whatever is set
    act->set_count += joints->count > 0;
}

static void read_bodies(GroupAct *act, const Group *group, const World *world) {
    BodyUpdate *update = &act->set[act->set_count].set.update;
    act->set[act->set_count] = (Input){.kind = INPUT_SET};
    for (size_t i = 0; i < act->body_count; i++) {
        uint32_t index;
        if (layout_find_body(world, group->template, act->driven_body[i], &index)) {
            memcpy(act->velocity + 6 * update->count, world->velocity + 6 * (size_t)index,
                   6 * sizeof(double));
            act->body[update->count++] = world->body_id[index];
        }
    }
    update->id = act->body;
    update->velocity = act->velocity;
    act->set_count += update->count > 0;
}

void group_act_read(GroupAct *act, const Group *group, const GroupWorld *world) {
    ASSERT(world->world != NULL);
    ASSERT(group->substeps >= 1);
    act->set_count = 0;
    read_bodies(act, group, world->world);
    read_joints(act, group, world->world);
    group_read_push(group, world, act->wrench);
    act->step = (StepOrder){.steps = 1,
                            .time_step = group->time_step,
                            .wrench_count = group->pushed.count,
                            .wrench_body = act->pushed,
                            .wrench = act->wrench};
}
