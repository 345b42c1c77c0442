// SPDX-License-Identifier: MIT
// What acts along the coordinates of a tree: springs, dampers, drives and what is fed forward. All
// of them are linear in position and velocity, so the step takes them where its integrator says,
// without iterations: at the end of the step (symplectic and implicit), halfway (midpoint) or at
// its begin (explicit). A drive with a bounded effort is one of them under explicit alone:
// elsewhere it is a row of the problem (tree_rows.c).
//
// Of three turns the position is the rotation vector phi of b's frame against a's, whose rate is
// phi' = Q w, w the spin in b's frame: a spring with energy 1/2 k phi^2 turns by -Q^T k phi.
#pragma once

#include "world/tree_place.h"

// The world's columns of joints.
typedef struct TreeAxes {
    const JointAxis *axis;
    const double *target, *target_velocity, *effort;
    bool is_explicit; // then drives with a bounded effort are taken as they are, too
} TreeAxes;

// 1: at the end of the step; 1/2, 0.
double tree_share(uint8_t integrator);

static inline bool tree_has_drive(const JointAxis *axis) {
    return axis->drive_stiffness > 0.0 || axis->drive_damping > 0.0;
}

static inline bool tree_has_bounded_drive(const JointAxis *axis) {
    return tree_has_drive(axis) && !isinf(axis->effort_max);
}

// What there is along the coordinates of a tree.
typedef struct TreeActs {
    bool forces, armatures;
} TreeActs;

TreeActs tree_axes_act(const TreeView *view, const TreeAxes *axes);

// Q of three turns.
Mat3 tree_rotation_rates(Vec3 rotation);

// What they add to the diagonal of the mass matrix: armature + (share h)^2 K + share h D.
void tree_axes_mass(const TreeView *view, const TreeAxes *axes, double share, double h,
                    double *added);

// Forces along the coordinates at these positions and velocities; what springs do (Nullable), and
// what all else does. Zero along those of a root that floats.
void tree_axes_forces(const TreeView *view, const TreeAxes *axes, const double *positions,
                      const double *velocities, double *springs, double *others);

// Of the springs, and of armatures at those velocities.
double tree_axes_energy(const TreeView *view, const TreeAxes *axes, const double *positions,
                        const double *velocities);
