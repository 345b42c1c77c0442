// SPDX-License-Identifier: MIT
// Worlds for the benches of the dynamics: built and stepped in process, without a server.
#pragma once

#include "step/step.h"

typedef struct Scene {
    World *world;
    Stepper *stepper;
    Arena scratch;
    Id material;
    StepReport report; // of the last step
    Context context;   // handed to every step; nothing, as it is created
} Scene;

// An empty world with h = 1/240 s, solver mdp with its defaults, and one material of friction 0.5.
Scene scene_create(void);
void scene_destroy(Scene *scene);

// Of the geometries of all scenes, for as long as the program runs.
GeometryShelf *scene_shelf(void);

// A counter through a mixer, uniform in [0, 1): the same everywhere.
double scene_scatter(uint64_t *seed);

void scene_set(Scene *scene, const char *parameter, double value);

// A shape of one primitive.
Id scene_shape(Scene *scene, PrimitiveKind kind, Vec3 size);
void scene_body(Scene *scene, Id shape, BodyKind kind, Pose pose);

// One step.
void scene_step(Scene *scene);

// One that may be given up, or fail, and then has not happened.
Status scene_try_step(Scene *scene, Error *error);

// `count` spheres in a row that fall and touch nothing: what probe_world makes on a server.
Scene scene_fall(uint32_t count);

// A pile of `count` spheres of radius 0.045 to 0.055 m, at rest in a box of five half-spaces whose
// width grows with the cube root of the count.
Scene scene_pile(uint32_t count);

// Ten boxes of side 0.2 m, resting exactly on each other and on a half-space.
Scene scene_stack(void);

// As many stacks of so many such boxes, in a square, 0.4 m from each other.
Scene scene_stacks(uint32_t count, uint32_t boxes);

// A wall of 525 boxes of 0.4 x 0.2 x 0.2 m at rest: 15 courses of 42 to 28, each box on the middle
// of two. Neighbours are 40 mm apart, more than the contact margin of any engine.
Scene scene_wall(void);
