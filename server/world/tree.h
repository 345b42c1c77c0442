// SPDX-License-Identifier: MIT
// Trees: which dynamic bodies are held together by the coordinates of joints, and in which order.
// Derived from bodies and joints; no state of its own.
//
// A tree is a maximal set of dynamic bodies connected by joints of coordinates. Its bodies are
// *links*, listed in depth-first order, so that parents stand before children and what hangs on a
// link, its subtree, is a range. The root hangs on the world, or on a static or kinematic body, by
// the joint that it is the child of; where there is none it *floats*, and its pose and velocity are
// what the world's columns of bodies say.
//
// Velocities of a tree are those of its links one behind the other: of a joint as joint.h says, of
// a root that floats the velocity of the centre of mass and the spin, in world axes. Positions
// likewise; of a root that floats the seven numbers of the pose of its centre of mass.
#pragma once

#include "world/joint.h"

#define TREE_NONE UINT32_MAX

typedef struct TreeLink {
    uint32_t body;
    uint32_t joint;               // TREE_NONE: a root that floats
    uint32_t parent;              // in the tree; TREE_NONE: a root
    uint32_t end;                 // the links of its subtree, with itself, end here
    uint32_t first, place;        // of its velocities and positions in the tree's
    uint8_t axes;                 // bits, as of Joint
    uint8_t moves, turns;         // how many of each
    uint8_t axis[JOINT_AXES_MAX]; // 0 … 2: along or about x, y, z
} TreeLink;

typedef struct Tree {
    uint32_t link_first, link_count;
    uint32_t width, position_count;
    uint32_t base; // the body that its root hangs on; JOINT_NO_BODY: the world, or nothing
} Tree;

typedef struct TreeFrame {
    Vec3 center; // of mass
    Quat orientation;
    Mat3 turn;           // the orientation, as a matrix
    Vec3 velocity, spin; // of the centre of mass; once tree_move has been there
    Vec3 anchor;
    Vec3 from, arm; // to the anchor from the centre of what it hangs on; from the anchor to its own
    Vec3 axis[JOINT_AXES_MAX]; // of its velocity numbers, moves first
} TreeFrame;

typedef struct WorldTrees {
    uint32_t tree_count, link_count;
    Tree *tree; // by the indices of their roots
    TreeLink *link;
    uint32_t body_count;                   // that it knows; those behind have no joints
    uint32_t *tree_of_body, *link_of_body; // TREE_NONE: not of a tree; a link of the tree

    // joints of two bodies that do not touch each other: the first whose lower body that is, and
    // each one's next
    uint32_t barred_count;
    uint32_t *barred_of_body, *barred_of_joint;

    // to make them in, and to place them
    uint32_t *joint_of_body, *child_of_body, *sibling_of_joint;
    TreeFrame *frame;
    double *position, *velocity;

    void *block; // owned: holds all of it …
    size_t block_bytes;
    uint32_t body_capacity, joint_capacity; // … for so many
} WorldTrees;

// What trees are made of.
typedef struct TreeSource {
    uint32_t body_count, joint_count;
    const uint8_t *kind; // BodyKind
    const Joint *joint;
} TreeSource;

// Room for as many. false: memory ends.
bool trees_reserve(WorldTrees *trees, uint32_t body_count, uint32_t joint_count);
void trees_deinit(WorldTrees *trees);

// Makes them anew, in the room that there is. Joints are as world_add_joints lets them pass: no
// body is the child of two, or below itself.
void trees_build(WorldTrees *trees, const TreeSource *source);

static inline const TreeLink *tree_links(const WorldTrees *trees, const Tree *tree) {
    return trees->link + tree->link_first;
}

// The tree of a body, or TREE_NONE. `trees` is Nullable.
static inline uint32_t tree_of_body(const WorldTrees *trees, uint32_t body) {
    return trees == NULL || body >= trees->body_count ? TREE_NONE : trees->tree_of_body[body];
}

// Whether a joint keeps two bodies, a < b, from touching. `trees` is Nullable.
bool trees_bar(const WorldTrees *trees, const Joint *joint, uint32_t a, uint32_t b);

static inline uint32_t tree_link_width(const TreeLink *link) {
    return (uint32_t)link->moves + link->turns;
}

static inline uint32_t tree_link_positions(const TreeLink *link) {
    return (uint32_t)link->moves + link->turns + (link->turns == 3);
}
