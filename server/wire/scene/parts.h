// SPDX-License-Identifier: MIT
// The joints of a scene: what is said by names, anchors and axes, as columns; and back, as JSON.
#pragma once

#include "base/bytes.h"
#include "wire/scene/scene.h"

// The turn that takes z to the given unit vector.
Quat scene_turn_from_z(Vec3 n);

// Adds inputs to the plan, for which there is room: as many as joints.
Status scene_plan_joints(const Moreau__V1__Scene *scene, Arena *arena, ScenePlan *plan,
                         Error *error);

// Rewrites the field of an error that such an input was refused with.
void scene_translate_joint(const ScenePlan *plan, size_t input, Error *error);
