// SPDX-License-Identifier: MIT
// A world and its last step as the columns of log/format/frames.h: what is recorded, and what a
// recording is compared with. Nothing is copied that stands somewhere as it is: the columns are
// borrowed from the world, the stepper and the arena, until the next change of any of them.
#pragma once

#include "log/format/frames.h"
#include "step/step.h"

// All joints. RESOURCE_EXHAUSTED when the arena ends.
Status joint_columns(const World *world, Arena *arena, FrameJoints *joints, Error *error);

// All bodies, by the poses of their origins, and joints. RESOURCE_EXHAUSTED when the arena ends.
Status frame_columns(const World *world, uint64_t step, Arena *arena, StateFrame *frame,
                     Error *error);

// `count` contacts of the last step from the `first` on; both must be within stepper->contact_count
// and the stepper must have a last step. RESOURCE_EXHAUSTED when the arena ends.
Status contacts_list(const World *world, const Stepper *stepper, uint64_t step, size_t first,
                     size_t count, Arena *arena, ContactList *list, Error *error);
