// SPDX-License-Identifier: MIT
// Small islands of free bodies, solved at once. Sweeps carry the weight of a tower from contact to
// contact and need hundreds for its slowest way to give; but which contacts are open they find
// soon, and where nothing slides the rest is one linear system. With u the velocities of the held
// contacts (all three rows where one sticks, the normal one where there is no friction), and d
// gamma the change of their impulses:
//
//     M dv = J^T d gamma,   u + J dv = -R d gamma,   so   (M + J^T R^-1 J) dv = -J^T R^-1 u.
//
// A contact that is not held gives back the impulse that it has, which joins the right side.
//
// Four contacts under a box are more than its velocities: infinitely many impulses hold it, and the
// system in d gamma would be singular. In dv it never is, as M is not; R, next to nothing beside
// the contacts' own A_ii, chooses of all impulses the change of least norm, weighted with R. What
// it leaves is R d gamma, a share of about COMPLIANCE of what was there, and a second aim takes
// that.
//
// At first every contact that pushes is taken to stick, also where the sweeps let it slide: in a
// tower that comes to rest, nothing does, but sweeps need hundreds to tell. An answer counts only
// if it holds: where a held contact would pull, or an open one close, the contact changes its state
// and the system is solved anew, a few times. One that would slide goes on without its friction:
// often it is a corner that bears little, and its neighbours hold the body alone. Where they do
// not, so that it slips, the island really slides and is left to the sweeps: its friction goes with
// the normal impulse, and holding one while the other changes was measured to mislead more often
// than it helped. Even an answer that holds is no more than where the sweeps go on from, which
// judge it as any leap (momentum.h).
#pragma once

#include "base/ldlt.h"
#include "solve/mdp/pack.h"

typedef struct MdpHold MdpHold;

// What a group aims with, enough for each of its islands that fits.
struct MdpAim {
    uint32_t trees, contacts, edges; // the most that one of them has
    double *change;                  // dv
    double *block;                   // of the matrix: those of the trees, then those of the edges
    MdpHold *hold;
};

// The linear system of an island: its trees are the vertices, at their places, and an edge joins
// two that touch.
typedef struct MdpSystem {
    LdltPlan plan;
    Ldlt ldlt;
    double sweep; // multiplications that a sweep over the island takes as long as
} MdpSystem;

// All memory is the arena's.
struct MdpDirect {
    uint32_t *width;    // of the vertices of any system
    uint32_t *place;    // [tree_count] of a tree among those of its island
    uint32_t *edge;     // [contact_count] of a contact, at its place of the list, in its system
    MdpSystem **system; // [islands] NULL: it is too large or too dear, has rows or dense trees
};

// Before the first plan of a solve.
Status mdp_direct_begin(Judge *judge, MdpPack *pack);

// Once for groups [begin, end), after their first sweep: for islands that are not done. Status
// RESOURCE_EXHAUSTED when the arena ends. The groups' `aim` and the systems of their islands are
// borrowed from the arena; `aim` is NULL where no island is for this.
Status mdp_direct_plan(Judge *judge, MdpPack *pack, uint32_t begin, uint32_t end);

// Whether there is a linear system of that island to aim at.
bool mdp_direct_can_aim(const MdpPack *pack, const MdpGroup *group, uint32_t island);

// Between two sweeps: aims the island's next carry at the solution of its linear system, by setting
// what was before so that momentum with ratio 1 goes there. false, with nothing changed: the island
// does not fit, something in it slips, or its contacts found no states that hold. Either way `took`
// becomes how many sweeps over the island take as long.
bool mdp_direct_aim(MdpPack *pack, const MdpGroup *group, uint32_t island, double *took);
