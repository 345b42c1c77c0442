// SPDX-License-Identifier: MIT
// Contacts on bodies that a linkage holds (linkage.h). A body of a long rigid chain is as heavy
// as the chain, but a contact that knows its own body alone takes it for light: it would take as
// many sweeps as the chain has bodies to find out. So a contact's push is followed, at once and
// exactly, by what the joints make of it:
//
//     response  M^-1 J^T  becomes  M^-1 J^T - M^-1 G^T S^-1 G M^-1 J^T,   and A_ii with it.
//
// What that adds is kept for every body that it reaches, beside the contact's own sides. Velocities
// then hold what the joints do, while their impulses lag; they are made up for once a sweep, in
// *settle*, from what contacts alone have pushed.
//
// So many numbers are worth it where few contacts hold many bodies that move as one, as feet do;
// where a chain lies on the ground, each body's own contact is near enough, and contacts push as
// they do without joints. Maximum dissipation is a law of A_ii itself: it is not to be changed.
// Large islands do not either: what is swept at once may share no body.
#pragma once

#include "solve/mdp/linkage.h"

// Once the contacts of an island are laid out, and its linkage. RESOURCE_EXHAUSTED when the arena
// ends; ABORTED.
Status mdp_reach_make(Judge *judge, const MdpPack *pack, const MdpGroup *group, uint32_t island,
                      MdpJoint *joint);

// At the end of a sweep: the impulses of the joints catch up.
void mdp_reach_settle(const MdpPack *pack, const MdpJoint *joint);
