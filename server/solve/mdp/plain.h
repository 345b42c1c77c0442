// SPDX-License-Identifier: MIT
// Sweeps as the paper has them, for whoever studies it: contacts one after the other, as the
// problem lists them, each at the velocities that those before it have left. No colours, no
// momentum, no leaps, nothing between two sweeps. Joints come first, as in every sweep. Of what is
// solved elsewhere only the judging is the same: what ends early ends at the best that was judged.
//
// The paper's blend is for subdomains that sweep at once. Each island is cut into *parts*. Its
// trees are put in the order of a breadth-first walk over its contacts and rows, from its first
// tree on, neighbours in the order of the problem (contacts before rows); that order is cut into
// runs whose lengths differ by one at most. A contact, or a joint, is of the first part that any of
// its trees is in. So parts depend on the graph of the contacts alone.
//
// A part has *copies* of the velocities of all trees that its contacts touch, and sweeps over them
// with Gauss-Seidel. Then the parts exchange: with x the impulses that they found and z those
// before, d_p the change of a tree's velocity in part p,
//
//     z := z + relaxation (x - z),   v := v + relaxation (sum of d_p),
//
// from which all copies go on. That is Jacobi between parts, and keeps impulses and velocities
// together; z stays in the cone, which is convex. The exchange before the first sweep, of what the
// impulses to start from do, is whole. An island of one part is Gauss-Seidel alone: there is
// nothing to exchange, nothing is relaxed. Where many parts share a tree, Jacobi may diverge, as
// the paper's does; that is judged as anything else.
#pragma once

#include "solve/mdp/pack.h"

typedef struct MdpBlend {
    uint32_t parts_max; // of an island: at least 1, and no more than it has trees
    double relaxation;  // in (0, 1]
} MdpBlend;

// Behind the last copy of a tree.
#define MDP_NO_COPY UINT32_MAX

typedef struct MdpCopy {
    uint32_t part, next; // of the same tree
    size_t first;        // of its numbers in copy_v
} MdpCopy;

typedef struct MdpPart {
    uint32_t island;
    uint32_t contact_begin, contact_end; // in `contact`
    uint32_t joint_begin, joint_end;     // in `joint`
    MdpSum sum;
} MdpPart;

// All memory is the arena's.
struct MdpPlain {
    MdpBlend blend;
    MdpPart *part;
    uint32_t *part_first; // [islands + 1]
    uint32_t *contact;    // in `wide` of the pack, part by part
    uint32_t *joint;      // in `joint` of the pack, part by part
    uint32_t *newest;     // [tree_count] copy of a tree; those before it are its `next`
    MdpCopy *copy;        // none on islands of one part: they sweep the velocities themselves
    uint32_t copy_count;
    double *copy_v;
};

// Cuts islands into parts: fills the part of each tree, counted in its island (plain_cut.c).
// false: the arena ends.
bool mdp_plain_cut(const Judge *judge, uint32_t parts_max, uint32_t *part);

// How many parts an island has.
static inline uint32_t mdp_plain_parts(const Islands *islands, uint32_t island,
                                       uint32_t parts_max) {
    uint32_t trees = islands->tree_first[island + 1] - islands->tree_first[island];
    return trees < parts_max ? trees : parts_max;
}

// After mdp_pack_end of a plain pack; the pack borrows what it makes.
Status mdp_plain_begin(Judge *judge, MdpPack *pack, const MdpBlend *blend);

// Velocities of trees at places [begin, end) of the list to their copies.
void mdp_plain_spread(const MdpPack *pack, uint32_t begin, uint32_t end);

// As mdp_sweep and mdp_sweep_start.
Status mdp_plain_sweep(Judge *judge, const MdpPack *pack, const MdpGroup *group, bool coulomb);
Status mdp_plain_start(Judge *judge, const MdpPack *pack, const MdpGroup *group);
