// SPDX-License-Identifier: MIT
// Where the bodies of a tree are, how they move, and where they come to, from the coordinates of
// its joints: the one place where that is made, so that what follows from the state always is the
// same to the last bit.
//
// All in world axes. A velocity number of a link moves it, and all that hangs on it, along an axis,
// or turns it about an axis through the link's *anchor*: the origin of its joint's frame in body b.
#pragma once

#include "base/vec.h"
#include "world/tree.h"

// A tree as it hangs.
typedef struct TreeView {
    const Tree *tree;
    const TreeLink *link; // [tree->link_count]
    const Joint *joint;   // the world's
    Pose base;            // of the body that it hangs on, or of the world
    Vec3 base_velocity, base_spin;
    bool has_own_spin; // the spin of a root that floats is in its own axes, not the world's
} TreeView;

// Of a tree that hangs on the world, or floats.
static inline TreeView tree_view(const WorldTrees *trees, uint32_t tree, const Joint *joint) {
    return (TreeView){.tree = &trees->tree[tree],
                      .link = tree_links(trees, &trees->tree[tree]),
                      .joint = joint,
                      .base = {.orientation = {1.0, 0.0, 0.0, 0.0}}};
}

// Centres, orientations, anchors and axes, from positions.
void tree_place(const TreeView *view, const double *positions, TreeFrame *frame);

// The same of a tree whose bodies' columns, 7 and 6 numbers each, say where they are and how they
// move, up to rounding of anchors and axes: without sines, and without its velocities being asked.
void tree_recall(const TreeView *view, const double *poses, const double *velocities,
                 TreeFrame *frame);

// Velocities, once they are placed.
void tree_move(const TreeView *view, const double *velocities, TreeFrame *frame);

// The positions of a tree that has moved with those velocities for a time: angles and moves add up,
// orientations turn by the product's one rule. `moved` may be the same.
void tree_advance(const TreeView *view, const double *positions, const double *velocities,
                  double time, double *moved);

// Where a tree that turns too fast for that comes to: `positions`, where tree_advance brought it,
// are made anew of links whose joint leaves all free. The coordinates of these turn with what they
// hang on, and add up to what flies apart; they go where they would go by themselves instead, as
// the `old` frames move. `frame` is of the new places.
void tree_scatter(const TreeView *there, const TreeFrame *old, double time, double *positions,
                  TreeFrame *frame);

// What the world keeps of a body in its columns: 7 and 6 numbers.
static inline void tree_store(const TreeFrame *frame, double *pose, double *velocity) {
    pose_store(pose, (Pose){frame->center, frame->orientation});
    vec3_store(velocity, frame->velocity);
    vec3_store(velocity + 3, frame->spin);
}

// The velocity of a point that a body carries along.
static inline Vec3 tree_carried_velocity(Vec3 velocity, Vec3 spin, Vec3 arm) {
    return vec3_add(velocity, vec3_cross(spin, arm));
}

// The positions of a link as one number per velocity: moves, angles; of three turns the rotation
// vector of b against a, in `numbers`. Not of a root that floats.
const double *tree_rotation_positions(const TreeLink *link, const double *positions,
                                      double *numbers);

static inline const double *tree_axis_positions(const TreeLink *link, const double *positions,
                                                double *numbers) {
    return link->turns < 3 ? positions : tree_rotation_positions(link, positions, numbers);
}
