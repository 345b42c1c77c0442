// SPDX-License-Identifier: MIT
// Scenes: a world written by hand, turned into the inputs that make it. Columns and their checks
// are the same as for programs; what they blame is translated back into the scene's own paths, as
// bodies[3].shapes[0].sphere.radius.
#pragma once

#include "base/arena.h"
#include "base/status.h"
#include "moreau.pb-c.h"
#include "run/worlds/input.h"

typedef struct ScenePlan {
    Input *input; // in the order to be carried out
    size_t input_count;
    uint32_t *first_item;               // per input: index of the first body or joint that it adds
    const uint32_t *body_of_primitive;  // scene body of each primitive …
    const uint32_t *shape_of_primitive; // … and which of its shapes
    size_t geometries_listed;           // how many are of the scene's list, …
    const uint32_t *primitive_of_geometry; // … and of the others, which primitive's own it is
    const Moreau__V1__Scene *scene;        // borrowed
    size_t body_count, joint_count;
    size_t over_input; // which input holds the settings that win over the scene's; SIZE_MAX: none
} ScenePlan;

// All of it lives in the arena, but for texts, which stay the scene's.
Status scene_plan(const Moreau__V1__Scene *scene, const Moreau__V1__WorldSettings *over,
                  Arena *arena, ScenePlan *plan, Error *error);

// Rewrites the field of an error that input `index` of the plan was refused with.
void scene_translate(const ScenePlan *plan, size_t index, Error *error);
