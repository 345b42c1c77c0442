// SPDX-License-Identifier: MIT
// What acts along the coordinates of a tree: springs, dampers, drives and what is fed forward.
// All of them are linear in position and velocity, so the step takes them where its integrator
// says, without iterations: at the end of the step (symplectic and implicit), halfway (midpoint)
// or at its begin (explicit); springs, and what midpoint does not resolve, where spring.h says.
// A drive with a bounded effort, or a motor, is one of them under explicit alone: elsewhere it is
// rows of the problem (tree_rows.c).
//
// Of three turns the position is the rotation vector phi of b's frame against a's, whose rate is
// phi' = Q w, w the spin in b's frame: a spring with energy 1/2 k phi^2 turns by -Q^T k phi.
#pragma once

#include "world/motor.h"
#include "step/trees/spring.h"
#include "world/tree_place.h"

// The world's columns of joints.
typedef struct TreeAxes {
    const JointAxis *axis;
    const double *target, *target_velocity, *effort;
    const double *pulled; // Nullable: forces that are no motor's
    bool is_explicit;     // then drives with a bounded effort are taken as they are, too
} TreeAxes;

// 1: at the end of the step; 1/2, 0.
double tree_share(uint8_t integrator);

static inline bool tree_has_drive(const JointAxis *axis) {
    return axis->drive_stiffness > 0.0 || axis->drive_damping > 0.0;
}

// Without a motor or a bound; then it is part of the mass.
static inline bool tree_has_free_drive(const JointAxis *axis) {
    return tree_has_drive(axis) && isinf(axis->effort_max) && !motor_is(axis);
}

static inline bool tree_has_bounded_drive(const JointAxis *axis) {
    return tree_has_drive(axis) && !isinf(axis->effort_max) && !motor_is(axis);
}

// What there is along the coordinates of a tree.
typedef struct TreeActs {
    bool springs, pulls;    // the latter: dampers and drives
    bool linear;            // either: forces that depend on where and how fast the tree is
    bool forces, armatures; // the former: what is linear, and what is fed forward
    bool balls;             // springs of three turns, which couple
} TreeActs;

TreeActs tree_axes_act(const TreeView *view, const TreeAxes *axes);

// Q of three turns.
Mat3 tree_rotation_rates(Vec3 rotation);

// What is on the diagonal of the mass matrix by itself, [width].
void tree_axes_armature(const TreeView *view, const TreeAxes *axes, double *armature);

// Where the springs are taken, given what a unit impulse along each coordinate changes its rate by,
// [width]: only under symplectic that counts (spring.h).
void tree_axes_springs(const TreeView *view, const TreeAxes *axes, uint8_t integrator, double h,
                       const double *mobility, SpringShare *springs);

// Likewise the dampers and drives: only under midpoint that counts.
void tree_axes_pulls(const TreeView *view, const TreeAxes *axes, uint8_t integrator, double h,
                     const double *mobility, double *pulls);

// What they add to it, armature included: armature + change h^2 K of springs, and, of dampers and
// drives, (pulls h)^2 K + pulls h D.
void tree_axes_mass(const TreeView *view, const TreeAxes *axes, const SpringShare *springs,
                    const double *pulls, double h, double *added);

// The armature, and what dampers and drives that are no rows slow rates with in a time: armature +
// h D, [width].
void tree_axes_damped(const TreeView *view, const TreeAxes *axes, double h, const double *armature,
                      double *damped);

// How stiff a step of h finds springs, dampers and drives that are no rows: what (w h)^2 of the
// former and h times the slowing of rates by the latter add up to. No mode has more, but for turns
// of springs of three, up to 2.5 times as much.
double tree_axes_stiffness(const TreeView *view, const TreeAxes *axes, double h,
                           const double *mobility);

// Of links whose springs are of three turns: where the spring of one turn acts on the spins of all
// three, and K is no bound of Q^T K Q. For a step that is linear these are given one: B, the sums
// of the sizes in the rows of Q^T K Q, is diagonal and no less than it. With `resist` = h^2 B,
// [width], 0 elsewhere, the rates
//
//     (M + h^2 B) v = M v0 - h Q^T K x
//
// have 1/2 v M v <= 1/2 v0 M v0 + 1/2 x K x, however fast they turn: times v, what remains is
// 1/2 |x|^2 - 1/2 |x + h Q v|^2 in K, less squares. So these springs are to be taken at the begin.
void tree_axes_resist(const TreeView *view, const TreeAxes *axes, double h, const double *positions,
                      double *resist);

// Where forces along the coordinates are asked for: positions of drives, those of springs, rates.
typedef struct TreeAsked {
    const double *positions, *stretched, *velocities;
} TreeAsked;

// What springs do there (Nullable), and what all else does. Zero along the coordinates of a root
// that floats.
void tree_axes_forces(const TreeView *view, const TreeAxes *axes, const TreeAsked *asked,
                      double *springs, double *others);

// The same of a tree with nothing linear: what is fed forward, wherever it is.
void tree_axes_efforts(const TreeView *view, const TreeAxes *axes, double *efforts);

// What springs hold, and armatures at those velocities move with.
typedef struct TreeStored {
    double springs, armatures;
} TreeStored;

TreeStored tree_axes_energy(const TreeView *view, const TreeAxes *axes, const double *positions,
                            const double *velocities);

// h/2 k x v - h^2/8 k v^2 of springs, where they keep their energy: what that swings by.
double tree_axes_swing(const TreeView *view, const TreeAxes *axes, const SpringShare *springs,
                       double h, const double *positions, const double *velocities);

// How much dampers do at those velocities along what moves.
double tree_axes_damping(const TreeView *view, const TreeAxes *axes, const double *velocities,
                         const double *moving);
