// SPDX-License-Identifier: MIT
// A mesh while it is derived: what mesh.c and mesh_tree.c write of it.
#pragma once

#include "geometry/mesh.h"

typedef struct MeshDraft {
    Mesh *mesh; // its pointers are those below
    Vec3 *point;
    MeshNode *node;
    uint32_t *corner, *beyond, *face, *ring_first, *ring, *order;
} MeshDraft;

// Nodes of a tree over so many triangles, at most: a leaf that is split has at least two children
// with one each.
static inline size_t mesh_nodes_max(size_t triangle_count) {
    return 2 * triangle_count - 1;
}

// Fills order, node and the count of nodes.
void mesh_build_tree(MeshDraft *draft);
