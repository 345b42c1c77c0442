// SPDX-License-Identifier: MIT
// The order of a sweep. Contacts between the same two trees that stand next to each other are one
// *unit*, swept one after the other; units are coloured greedily, in their order, so that units of
// one colour share no tree (the static side is no tree). Colour by colour is THE order, also on one
// lane; within a colour any lane may work and the result is the same.
#pragma once

#include "solve/problem.h"

// Units beyond the last colour stand in it one after the other: it alone may hold a tree twice.
enum { MDP_COLOUR_MAX = 64 };

// What a contact is swept as; none: it moves nothing.
typedef enum MdpKind { MDP_NONE, MDP_BALL, MDP_POINT, MDP_WIDE, MDP_KIND_COUNT } MdpKind;

// The trees of a contact: all that its colour depends on.
typedef struct MdpPair {
    uint32_t tree[2];
} MdpPair;

static inline bool mdp_colour_is_unit(MdpPair a, MdpPair b) {
    return a.tree[0] == b.tree[0] && a.tree[1] == b.tree[1];
}

// Colours the contacts at places [begin, end), whose trees no other place has, but for those that
// move nothing. `used` holds zeros for their trees. Returns how many colours there are.
uint32_t mdp_colour_find(const MdpPair *pair, const uint8_t *kind, uint32_t begin, uint32_t end,
                         uint64_t *used, uint8_t *colour);
