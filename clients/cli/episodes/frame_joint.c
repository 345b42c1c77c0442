// SPDX-License-Identifier: MIT
#include "cli/episodes/frame_joint.h"

void frame_joint_next(const MoreauFrame *frame, size_t index, FrameJoint *joint) {
    enum { TURNS = 7 << 3 };
    const uint32_t axes = frame->joint_axes[index];
    joint->axis += joint->axis_count;
    joint->position += joint->position_count;
    joint->axis_count = 0;
    for (uint32_t bit = 0; bit < 6; bit++) {
        joint->axis_count += axes >> bit & 1;
    }
    joint->position_count = joint->axis_count + ((axes & TURNS) == TURNS);
    // a server that says otherwise of itself shows no more than it sent
    if (joint->axis + joint->axis_count > frame->joint_axis_count ||
        joint->position + joint->position_count > frame->joint_position_count) {
        joint->axis_count = joint->position_count = 0;
    }
}
