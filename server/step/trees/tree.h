// SPDX-License-Identifier: MIT
// The dynamics of one articulated tree, as pure functions over its links as they are placed
// (world/tree_place.h). World axes throughout, moments about the centres of mass of what they are
// of: so nothing cancels in long chains, however far from the origin they hang.
//
//     M(q) rates' + c(q, rates) = forces        c: velocity products, less gravity and wrenches
//
// A velocity number of a link acts on a body of its subtree by what it moves its centre of mass
// with, axis x (center - anchor) or the axis itself, and by what it turns it with, the axis or 0.
#pragma once

#include "step/trees/articulated.h"
#include "world/body.h"
#include "world/tree_place.h"

#include <math.h>

// A mass with its inertia about its centre: of a link, or of all of a subtree as if it were rigid.
typedef struct TreeInertia {
    double mass;
    Vec3 center;
    Sym3 inertia;
} TreeInertia;

// Linear and angular part of what belongs to a link: an acceleration of its centre of mass and its
// spin, or a force there and a torque.
typedef struct TreePair {
    Vec3 linear, angular;
} TreePair;

// One velocity number in the factor of a mass matrix.
typedef struct TreePivot {
    TreePair motion; // of the link's centre of mass, per unit rate
    TreePair force;  // at it: articulated inertia times that
    double inverse;  // of the pivot
} TreePivot;

// What a tree's functions work in, [link_count] each but for pivot, [width].
typedef struct TreeWork {
    TreeFrame *frame;
    TreeInertia *own, *composite;
    TreePair *change, *load;
    TreeArticulated *articulated;
    TreePivot *pivot;
} TreeWork;

// How a tree moves: rates, and how these change; [width] each.
typedef struct TreeMotion {
    const double *rates, *changes; // `changes` NULL: not at all
} TreeMotion;

// Memory that a tree's work takes, a multiple of 8, and where it is; it begins aligned.
size_t tree_work_bytes(const Tree *tree);
void tree_work_take(TreeWork *work, const Tree *tree, unsigned char *at);

// The inertia of a body about its centre of mass, in world axes, as a step takes it. `turn` is its
// orientation.
static inline Sym3 tree_body_inertia(const BodyMass *mass, const Mat3 *turn) {
    if (mass->is_round) { // looks the same from everywhere
        return mass->inertia;
    }
    Sym3 inertia = sym3_rotate(*turn, mass->inertia);
    inertia.xx += mass->thickening;
    inertia.yy += mass->thickening;
    inertia.zz += mass->thickening;
    return inertia;
}

// work->own, of links that are placed; `mass` is the world's column.
void tree_weigh(const TreeView *view, const BodyMass *mass, TreeWork *work);

// The mass matrix, width x width, row by row, with `added` (Nullable, [width]) on its diagonal.
void tree_mass_matrix(const TreeView *view, const double *added, TreeWork *work, double *matrix);

// work->change: accelerations of links, placed and moving, whose rates change by `changes` (NULL:
// not at all).
void tree_accelerate(const TreeView *view, const double *rates, const double *changes,
                     TreeWork *work);

// What forces or momenta at the centres of mass of links, in work->load, are along the coordinates;
// in their place stand, of each link, those of it and all that hangs on it.
void tree_project(const TreeView *view, TreeWork *work, double *along);

// The forces along the coordinates that it takes to move with those rates, changing so, against
// gravity and wrenches (Nullable: 6 per link, force at the centre of mass and torque); links are
// placed. Leaves work->change, and spins, but no velocities.
void tree_forces(const TreeView *view, const TreeMotion *motion, Vec3 gravity,
                 const double *wrenches, TreeWork *work, double *forces);

// Momenta along the coordinates, and what these change the Lagrangian by at constant rates, with
// gravity and wrenches (as of tree_forces) that act on it (momenta.c); [width] each, of links that
// are placed, weighed and moving. Of three turns both are of b's axes.
void tree_momenta(const TreeView *view, Vec3 gravity, const double *wrenches, TreeWork *work,
                  double *momentum, double *slope);

// Factors M + diag(added), the latter Nullable, in time linear in links; then numbers := its
// inverse times numbers, as often as asked.
void tree_factor(const TreeView *view, const double *added, TreeWork *work);
void tree_solve(const TreeView *view, TreeWork *work, double *numbers);

// The diagonal of that inverse, [width], from the same factor.
void tree_mobility(const TreeView *view, TreeWork *work, double *mobility);

// The sizes of the numbers that say where a tree's links are, and of the links themselves, by their
// radii of gyration [m]: what rounding of places is told by. Of links that lie at the origin of all
// places only they say that a lever of 1e-17 m is none. `mass`: of the world's bodies.
double tree_extent(const TreeView *view, const TreeFrame *frame, const BodyMass *mass);

// What is left of parts that cancel, or of directions at right angles, is rounding: it must not be
// moved by what nothing moves, nor hold what nothing holds. Of numbers of the size of the extent
// and a point some units in the last place are left, of each joint of a long chain again; 1e-13 is
// 450 units, and far below any lever that a joint is built with.
#define TREE_ROUNDING 1e-13

// What parts of such a size add up to, where it is not their rounding.
static inline double tree_add(double sum, double part, double size) {
    const double whole = sum + part;
    return fabs(whole) <= TREE_ROUNDING * size ? 0.0 : whole;
}

static inline double tree_point_size(Vec3 point) {
    return fabs(point.x) + fabs(point.y) + fabs(point.z);
}

// Adds `sign` times the Jacobian of the velocity of a point fixed to a link, along three directions
// of the world: 3 x width, row by row. `size` is of the point and the tree's extent: what is but
// rounding is 0.
void tree_jacobian(const TreeView *view, const TreeFrame *frame, uint32_t link, Vec3 point,
                   double size, const Vec3 direction[3], double sign, double *jacobian);

// Kinetic energy of the links, that are moving; `mass` is the world's column.
double tree_kinetic_energy(const TreeView *view, const BodyMass *mass, const TreeFrame *frame);

// What a velocity number of a link moves its own centre of mass with, per unit rate.
static inline TreePair tree_motion(const TreeLink *link, const TreeFrame *frame, uint32_t k) {
    const Vec3 axis = frame->axis[k];
    if (k < link->moves) {
        return (TreePair){axis, {0.0, 0.0, 0.0}};
    }
    return (TreePair){vec3_cross(axis, frame->arm), axis};
}
