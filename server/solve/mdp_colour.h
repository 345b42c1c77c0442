// SPDX-License-Identifier: MIT
// The order of a sweep. Contacts between the same two trees that stand next to each other are one
// *unit*, swept one after the other; units are coloured greedily, in their order, so that units of
// one colour share no tree (the static side is no tree). Colour by colour, unit by unit is THE
// order, also on one lane; within a colour any lane may work and the result is the same.
#pragma once

#include "base/arena.h"
#include "solve/problem.h"

#include <stdbool.h>

// Units beyond the last colour stand in it one after the other: it alone may hold a tree twice.
enum { MDP_COLOUR_MAX = 64 };

typedef struct MdpOrder {
    uint32_t *contact;                  // [contact_count] contacts, colour by colour
    uint32_t first[MDP_COLOUR_MAX + 1]; // of each colour, in `contact`
    uint32_t colour_count;
    bool *goes_on;   // [contact_count] the contact is of one unit with the contact before it
    uint8_t *colour; // [contact_count]
    uint64_t *used;  // [tree_count] a bit per colour that a contact of the tree has
} MdpOrder;

// Whether two contacts are between the same two trees.
static inline bool mdp_colour_is_unit(const ContactProblem *problem, uint32_t first,
                                      uint32_t second) {
    const ContactSide *a = problem->contact[first].side, *b = problem->contact[second].side;
    return a[0].tree == b[0].tree && a[1].tree == b[1].tree;
}

// begin, every contact once and in order, end: only then is there an order. Contacts come in ranges
// [begin, end).
Status mdp_colour_begin(const ContactProblem *problem, Arena *arena, MdpOrder *order, Error *error);
void mdp_colour_add(const ContactProblem *problem, uint32_t begin, uint32_t end, MdpOrder *order);
void mdp_colour_end(const ContactProblem *problem, MdpOrder *order);
