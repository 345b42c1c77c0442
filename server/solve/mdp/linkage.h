// SPDX-License-Identifier: MIT
// The bilateral rows of an island, solved at once. Swept joint by joint, a chain of n bodies takes
// sweeps by the hundred, with momentum, and by n^2 without; here every sweep solves
//
//     S x = -y,   S = G M^-1 G^T + R + rho w,   y = G v + bias + R r
//
// for the changes x of all their impulses, by one sparse factor whose vertices are the joints
// (rows of one group, six at most) and whose edges join those that move one tree: of a chain it has
// as many numbers as links, of a loop hardly more.
//
// Rows may say the same twice, or what others say together: then S is singular without rho = 1e-9
// beside the rows' own w. With it a solve is a step of the proximal point method: what the joints
// ask for is reached as far as it can be, and nothing of rho is left where the sweeps end, as y is
// made anew each time. What S holds weakly, less than rho, takes more sweeps.
//
// Where trees have so many joints that the factor would fill, rows are swept joint by joint.
#pragma once

#include "base/ldlt.h"
#include "solve/mdp/pack.h"

struct MdpLinkage {
    Graph graph;
    LdltPlan plan;
    Ldlt ldlt;
    double *start, *y; // [rows]
    double operations; // of a sweep
    uint32_t tree_count;
    uint32_t *tree;        // [tree_count] that it holds, in the order of the problem
    size_t *first;         // [tree_count + 1] of their velocities, one tree after the other
    size_t velocity_count; // of all of them
    // what contacts reach by it (reach.h)
    double *pushed;  // [velocity_count] what they pushed since it was settled; NULL: nothing
    size_t *side_at; // of the rows' sides, from the first row's first on: in `pushed`
};

// Of rows of the pack, joint by joint: rows [unit_first[i], unit_first[i + 1]) are a vertex.
// *linkage is NULL where it is not worth it. RESOURCE_EXHAUSTED when the arena ends; ABORTED.
Status mdp_linkage_make(Judge *judge, const MdpPack *pack, const uint32_t *unit_first,
                        uint32_t unit_count, MdpLinkage **linkage);
