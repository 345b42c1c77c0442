// SPDX-License-Identifier: MIT
// Walking the joints of an episode's frame: their numbers stand one behind the other in columns.
#pragma once

#include "moreau.h"

// Where a joint's numbers stand in the columns of its frame.
typedef struct FrameJoint {
    size_t axis, axis_count, position, position_count;
} FrameJoint;

// Moves on to the joint `index`; the first, 0, from a FrameJoint of zeros.
void frame_joint_next(const MoreauFrame *frame, size_t index, FrameJoint *joint);

// Whether its turns are about all three axes: then its last four positions are a quaternion, of
// which the first, w, is one more than there are axes.
static inline bool frame_joint_has_quaternion(const FrameJoint *joint) {
    return joint->position_count > joint->axis_count;
}
