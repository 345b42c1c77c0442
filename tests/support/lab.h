// SPDX-License-Identifier: MIT
// A small laboratory for tests of the dynamics: a world with its stepper, built with a few calls
// and stepped.
#pragma once

#include "step/step.h"

typedef struct Lab {
    World *world;
    Stepper *stepper;
    Arena scratch;
    StepReport report; // of the last step
    GeometryShelf *shelf;
    Id patch_material[MESH_PATCHES_MAX - 1];
    Context context; // handed to every step; nothing, as it is created
} Lab;

// Solver mdp with its defaults, no margin, gravity (0, 0, -g).
Lab lab_create(double gravity, double time_step);
void lab_destroy(Lab *lab);

void lab_set(Lab *lab, const char *parameter, double value);

// Into so many substeps.
void lab_divide(Lab *lab, uint32_t substeps);

// Friction and restitution of every surface added from now on.
Id lab_material(Lab *lab, double friction, double restitution);

// Shapes of one primitive; material 0 is the built-in one.
Id lab_shape(Lab *lab, PrimitiveKind kind, Vec3 size, Id material);

// Of one hull, 1,000 kg/m^3.
Id lab_hull(Lab *lab, const HullForm *form, Id material);

// Patches 1, 2 … of surfaces added from now on are of these materials; 0: the surface's.
void lab_set_patches(Lab *lab, const Id material[MESH_PATCHES_MAX - 1]);

// Of one surface.
Id lab_mesh(Lab *lab, const MeshForm *form, Id material);
Id lab_heights(Lab *lab, const HeightForm *form, Id material);

// One body; inertia NULL: from the shape. Returns its index.
uint32_t lab_body(Lab *lab, Id shape, BodyKind kind, Pose pose, const double velocity[6],
                  double mass, const double *inertia);

// Joints, eight at most. Returns the first one's id.
Id lab_joints(Lab *lab, const JointColumns *columns);

// The half-space z <= 0.
uint32_t lab_ground(Lab *lab, Id material);

// A cable over two hinges, driven towards a length.
void lab_cable(Lab *lab, const Id hinge[2]);

// Takes steps; fails the test when one fails.
void lab_step(Lab *lab, int count);

// One step with a wrench on a body: force at the centre of mass and torque, world axes.
void lab_step_pushed(Lab *lab, uint32_t body, const double wrench[6]);

// Its world as a snapshot of it is read, which is the caller's; or goes on with that itself.
World *lab_copy(Lab *lab);
void lab_restore(Lab *lab);

Vec3 lab_position(const Lab *lab, uint32_t body);
Quat lab_orientation(const Lab *lab, uint32_t body);
Vec3 lab_velocity(const Lab *lab, uint32_t body);
Vec3 lab_spin(const Lab *lab, uint32_t body);

// Uniform in [low, high), the same sequence for the same seed everywhere.
double lab_random(uint64_t *seed, double low, double high);
