// SPDX-License-Identifier: MIT
// The joints of a scene: what is said by names, anchors and axes, as columns; and back, as JSON.
// And its pairs of materials.
#pragma once

#include "base/bytes.h"
#include "wire/scene/name_list.h"
#include "wire/scene/scene.h"

// The turn that takes z to the given unit vector.
Quat scene_turn_from_z(Vec3 n);

// Adds inputs to the plan, for which there is room: as many as joints.
Status scene_plan_joints(const Moreau__V1__Scene *scene, Arena *arena, ScenePlan *plan,
                         Error *error);

// Rewrites the field of an error that such an input was refused with.
void scene_translate_joint(const ScenePlan *plan, size_t input, Error *error);

// The names of its materials.
Status scene_list_materials(const Moreau__V1__Scene *scene, Arena *arena, NameList *list,
                            Error *error);

// Its pairs of materials, of which there are some; what such a column is called in the scene; and
// those of a world, whose materials are named, the first that is not built in being [0]. false:
// memory ends.
Status scene_plan_pairs(const Moreau__V1__Scene *scene, const NameList *materials, Arena *arena,
                        PairUpdate *pairs, Error *error);
void scene_translate_pair(const char *name, size_t index, Error *error);
bool scene_put_pairs(const World *world, const char *const *material, Arena *arena,
                     Moreau__V1__Scene *m);
