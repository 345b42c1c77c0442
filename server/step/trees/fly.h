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

#include "base/arena.h"
#include "step/trees/tree.h"
#include "step/trees/axes.h"
#include "world/settings.h"

typedef struct TreeFlight {
    TreeView view; // at the begin of the step
    TreeWork work;
    TreeAxes axes;
    const BodyMass *mass;          // the world's columns
    const double *pose, *velocity; // likewise
    Vec3 gravity;
    double h;
    uint8_t integrator, rotation;
    double *positions, *velocities; // at the begin
    double *wrenches;               // 6 per link
    bool has_wrenches;
    TreeActs acts;            // along the coordinates
    double *armature, *added; // [width] on the diagonal of the mass, and all that is added there
    SpringShare *share;       // [width] where springs are taken, if there are any
    double *pulls;            // [width] where dampers and drives are, if anything acts
    double *moved, *moved_springs; // positions to work with; those where springs are taken
    double *matrix, *factor; // [width^2] of a narrow tree: its mass and what is added, factored
    double kinetic;          // energy at the begin, without armatures [J]
    double *mean, *way, *change, *rest, *springs, *others, *settled; // [width] each, likewise
    double *resist; // [width] of springs of three turns, in a step that is thrown (axes.h)
    bool is_thrown; // no step was small enough: tree_carry is to follow
    bool is_held;   // then, by springs of three turns: with the masses of the begin
} TreeFlight;

// [rad] Links that turn by less in a step are where their scheme can take them.
#define TREE_RESOLVED 0.1

// From here on a matrix and its factor cost more than the passes over links do that stand for them
// (tree_factor, solve/mass_links.h).
enum { TREE_WIDE = 24 };

static inline bool tree_is_wide(const Tree *tree) {
    return tree->width >= TREE_WIDE;
}

size_t tree_flight_bytes(const Tree *tree);
void tree_flight_take(TreeFlight *flight, const Tree *tree, unsigned char *at);

// v, [width]; and leaves the links placed where the masses of the step are taken, and these in
// `matrix`, which a narrow tree has by then.
void tree_fly(TreeFlight *flight, double *v);

// Where dampers and drives are taken on the way to v: rates, [width], and positions in `moved`.
// What stands in `springs` is lost.
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
