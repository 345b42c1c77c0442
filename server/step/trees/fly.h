// SPDX-License-Identifier: MIT
// Where a tree would go without contacts and rows: v after a step of h, from
//
//     M(q)(v - v0) + h c(q, w) = h forces(q, v)
//
// with q at the step's begin (symplectic, explicit), halfway or at its end (midpoint, implicit),
// the velocity products c at w: v0, (v0 + v)/2 or v, as rotation says, and what is linear along the
// coordinates (axes.h) implicit. Solved by Newton's steps with the mass matrix for derivative:
// as a dense block of a narrow tree, linear in links of a wide one. Where these do not shrink, as
// in a whip that turns by a radian in a step, the tree is *thrown*: it flies without velocity
// products, and tree_carry does at the end of the step what these would have done, first order and
// never gaining energy. With c at v0 nothing shrinks: it is thrown where c at the mean would ask
// for as much more. So is what a blow makes turn as fast, once it has landed (articulate.c).
#pragma once

#include "step/trees/flight.h"

// [rad] Links that turn by less in a step are where their scheme can take them.
#define TREE_RESOLVED 0.1

// v, [width]; and leaves the links placed where the masses of the step are taken, and these in
// `matrix`, which a narrow tree has by then.
void tree_fly(TreeFlight *flight, double *v);

// Where dampers and drives are taken on the way to v, if there are any: rates, [width], and
// positions in `moved`. What stands in `springs` is lost.
void tree_flight_pull(TreeFlight *flight, const double *v, double *rates);

// What a step to v takes: work.load gets, of each link, the force and torque at its centre of mass
// that move it and all that hangs on it, beside gravity and the wrenches. Links must be placed as
// at the begin of the step, and are left where the integrator takes them.
void tree_flight_load(TreeFlight *flight, const double *v);

// Places links as at the begin of the step, moving by these velocities.
void tree_flight_return(TreeFlight *flight, const double *velocities);

// Of a tree that was thrown, once it has moved: links are taken to fly apart by the velocities that
// moved it, and to be brought together again where they have come to. What is along the coordinates
// there is kept of their momenta, which never is more energy than there was. Positions are those
// of tree_scatter.
void tree_carry(TreeFlight *flight, const TreeView *there, const double *positions,
                double *velocities);
