// SPDX-License-Identifier: MIT
// What velocities alone say of how far an answer is from exact Coulomb friction: the least e_DS
// that any impulses with these velocities can have.
//
// With r = gamma - Proj_K(gamma - (u + mu |u_t| e_n)/w), the vector (u + mu |u_t| e_n)/w - r lies
// in K*, as the residual of a projection on K does; so w |r| is no less than the distance of
// u + mu |u_t| e_n from K*, where its normal part must be mu times its tangential part, and that is
// (-u_n)+ / sqrt(1 + mu^2). What friction leaves open is not seen at all. Contacts are those of the
// start of the step, and of bodies that are further apart than BOUND_GAP none: engines differ in
// how far they look ahead, and what is left out can only make the least smaller.
#pragma once

#include "bench/scene.h"

#define BOUND_GAP 1e-4 // [m]

// Where bodies are and how they move: 7 and 6 numbers of each.
typedef struct BoundState {
    double *pose, *velocity;
} BoundState;

// For bound_of: overlaps are to ask for nothing, as it is engines' own how they leave.
void bound_prepare(Scene *judge);

// Puts all that moves there.
void bound_place(Scene *judge, const BoundState *state);

// Largest over islands, divided by V as in the certificate, of the step that begins in one state
// and ends with velocities. The judge is a scene of the same bodies, whose own state is lost.
double bound_of(Scene *judge, const BoundState *before, const double *velocity);
