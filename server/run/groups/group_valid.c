// SPDX-License-Identifier: MIT
#include "run/groups/group_valid.h"

#include "world/world_valid.h"

bool group_world_is_valid(const Group *group, uint32_t i, Defect *defect) {
    const GroupWorld *of = &group->world[i];
    if ((of->world == NULL) != (of->stepper == NULL)) {
        return defect_set(defect, "world of a group", i, "it has no stepper, or that alone");
    }
    if (of->world == NULL) {
        return true;
    }
    if (of->action == NULL || (of->felt == NULL && group->felt_count > 0)) {
        return defect_set(defect, "world of a group", i, "it has no place for its numbers");
    }
    if (of->substep > group->substeps) {
        return defect_set(defect, "world of a group", i, "it has done more than a step has");
    }
    return world_is_valid(of->world, defect);
}

static bool layout_is_valid(const Group *group, const Layout *layout, Defect *defect) {
    const World *world = group->template;
    uint32_t columns = 0, felt = 0;
    for (uint32_t i = 0; i < layout->channel_count; i++) {
        const Channel *channel = &layout->channel[i];
        if (channel->column_first != columns) {
            return defect_set(defect, "channel", i, "its columns do not follow the last one's");
        }
        if ((channel->body != JOINT_NO_BODY && channel->body >= world->body_count) ||
            (channel->relative != JOINT_NO_BODY && channel->relative >= world->body_count) ||
            (channel->joint != JOINT_NONE && channel->joint >= world->joint_count)) {
            return defect_set(defect, "channel", i, "the template has no such body or joint");
        }
        columns += channel->column_count;
        if (channel->felt_first != felt) {
            return defect_set(defect, "channel", i, "what it feels does not follow the last one's");
        }
        felt += channel->felt_count;
    }
    return (columns == layout->column_count && felt == layout->felt_count) ||
           defect_set(defect, "channel", layout->channel_count, "there are columns of no channel");
}

static bool bodies_are_valid(const Group *group, const GroupBodies *bodies, Defect *defect) {
    for (uint32_t i = 0; i < bodies->count; i++) {
        if (bodies->body[i] >= group->template->body_count ||
            (i > 0 && bodies->body[i] <= bodies->body[i - 1])) {
            return defect_set(defect, "body of an action", i, "it is none, or does not rise");
        }
    }
    return true;
}

bool group_is_valid(const Group *group, Defect *defect) {
    const Layout *layouts[] = {&group->action, &group->observation, &group->extra, &group->bounds,
                               &group->noise};
    bool is_valid = (group->count > 0 && group->substeps > 0) ||
                    defect_set(defect, "group", 0, "it has no worlds, or no substeps");
    for (size_t i = 0; is_valid && i < sizeof(layouts) / sizeof(layouts[0]); i++) {
        is_valid = layout_is_valid(group, layouts[i], defect);
    }
    is_valid = is_valid && bodies_are_valid(group, &group->pushed, defect) &&
               bodies_are_valid(group, &group->mover, defect) &&
               world_is_valid(group->template, defect);
    for (uint32_t i = 0; is_valid && i < group->count; i++) {
        is_valid = group_world_is_valid(group, i, defect);
    }
    return is_valid;
}
