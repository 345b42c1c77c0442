// SPDX-License-Identifier: MIT
// The mass of a tree of links (ProblemLink), applied both ways without being written down: passes
// from the leaves to the root and back (Featherstone, "Rigid Body Dynamics Algorithms", chapters 6
// and 7), each a fixed amount of work per link.
//
// Links stand in an order of their own: depth first, the child with the largest subtree last. So
// on the way from the leaves to the root a link hands what it has gathered to its parent at once,
// in the same *slot*, unless it is not the last child; and each time it is not, its subtree is at
// most half of its parent's. Slots are as few as the logarithm of the links, and stand on the
// stack: any number of threads may work on one tree.
//
// Of link i, in 6-vectors (linear velocity of its centre of mass, angular), with X from its
// parent's velocity to its own:
//
//     articulated inertia I   its own + sum over children of X^T (I - U D^-1 U^T) X
//     U = I S,  D = S^T U + added
//     composite inertia C     its own + sum over children of X^T C X,   F = C S
//
// M^-1 p comes of the articulated ones (W = U D^-1 is kept, with D^-1), M v and the matrix itself
// of the composite ones: neither takes the other on trust.
#pragma once

#include "solve/problem.h"

typedef struct MassLink {
    uint32_t link;   // of the tree
    uint32_t parent; // its place, before this one; PROBLEM_NO_LINK: the ground
    uint32_t first;  // of its velocities in the tree
    uint8_t count;   // of them
    uint8_t slot;
    bool is_leaf;
    bool is_last;   // child of its parent; the slot is the parent's too
    Vec3 arm;       // from the parent's centre of mass to this one's
    size_t number;  // of its factor: W, F (6 each, velocity by velocity), D^-1
    uint32_t links; // of its subtree
    uint32_t place; // of link number i of the tree, at i: where it stands
    uint32_t last;  // … its child with the largest subtree; PROBLEM_NO_LINK: it is a leaf
    uint32_t next;  // … where its next child goes
} MassLink;

// How many numbers the factor of a tree has.
size_t mass_links_numbers(const ContactProblem *problem, uint32_t tree);

// Both arrays are as long as the tree has links, or mass_links_numbers. The tree must be sound but
// for being positive definite: false when a pivot is not above `share` times the mass matrix's
// diagonal number, or not positive.
bool mass_links_factor(const ContactProblem *problem, uint32_t tree, double share, MassLink *link,
                       double *number);

// In place: p := M^-1 p.
void mass_links_solve(const ContactProblem *problem, uint32_t tree, const MassLink *link,
                      const double *number, double *p);

// p := M v
void mass_links_multiply(const ContactProblem *problem, uint32_t tree, const MassLink *link,
                         const double *number, const double *v, double *p);

// M, width x width, row by row.
void mass_links_matrix(const ContactProblem *problem, uint32_t tree, const MassLink *link,
                       const double *number, double *matrix);
