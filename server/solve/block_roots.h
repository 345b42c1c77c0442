// SPDX-License-Identifier: MIT
// The unit vectors at which a trigonometric polynomial of second order vanishes,
//
//     G(u) = k0 + C1 c + S1 s + C2 (c^2 - s^2) + S2 2 c s = 0,   u = (c, s), |u| = 1.
//
// With y = c + i s it is a self-inversive quartic, whose roots Aberth and Ehrlich's iteration finds
// all at once; Newton steps that turn u by a rational rotation polish them. No sine, no arctangent:
// the bits are the same everywhere.
#pragma once

typedef struct MdpTrigonometric {
    double k0, c1, s1, c2, s2;
} MdpTrigonometric;

typedef struct MdpDirection {
    double c, s;
} MdpDirection;

enum { MDP_ROOT_MAX = 4 };

// Fills at most four directions, returns how many.
int mdp_roots_find(const MdpTrigonometric *g, MdpDirection direction[MDP_ROOT_MAX]);
