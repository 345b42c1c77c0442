// SPDX-License-Identifier: MIT
// Where a tree would go without contacts and rows: v after a step of h, from
//
//     M(q)(v - v0) + h c(q, w) = h forces(q, v)
//
// with q at the step's begin (symplectic, explicit), halfway or at its end (midpoint, implicit),
// the velocity products c at w: v0 (rotation explicit) or the mean (v0 + v)/2, and what is linear
// along the coordinates (tree_axes.h) implicit. Solved by Newton's steps with the mass matrix for
// derivative, linear in links, and where these do not shrink, as in a whip that turns by a radian
// in a step, with the derivative of the velocity products as well.
#pragma once

#include "base/arena.h"
#include "step/tree.h"
#include "step/tree_axes.h"
#include "world/settings.h"

typedef struct TreeFlight {
    TreeView view; // at the begin of the step
    TreeWork work;
    TreeAxes axes;
    const BodyMass *mass;
    Vec3 gravity;
    double h;
    uint8_t integrator, rotation;
    double *positions, *velocities; // at the begin
    double *wrenches;               // 6 per link
    bool has_wrenches;
    double *armature, *added; // [width] on the diagonal of the mass, and all that is added there
    double *moved;            // positions to work with
    double *mean, *way, *change, *rest, *springs, *others; // [width] each, likewise
    double *newton; // width (width + 3) numbers; NULL: too wide
} TreeFlight;

// Trees as wide as this, and no wider, have what Newton's steps take.
enum { TREE_NEWTON_WIDTH_MAX = 128 };

size_t tree_flight_bytes(const Tree *tree);
void tree_flight_take(TreeFlight *flight, const Tree *tree, unsigned char *at);

// v, [width]; and leaves the links placed where the masses of the step are taken.
void tree_fly(TreeFlight *flight, double *v);

// Places links as at the begin of the step, moving by these velocities.
void tree_flight_return(TreeFlight *flight, const double *velocities);

// The step of Newton's method with the velocity products' derivative: rest := J^-1 rest, in
// flight->newton. Where flight->mean is, mid-velocities are; the links stay placed, and move by
// those.
void tree_newton(TreeFlight *flight, double *rest);
