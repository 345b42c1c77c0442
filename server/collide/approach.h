// SPDX-License-Identifier: MIT
// The plane in which two bodies meet that move freely for a while, or by which they pass each
// other.
//
// The plane between two bodies as they lie now says little about bodies that move far in a step: a
// ball that flies by would hit it. So the bodies are moved along their free motion until one of
// three things is known:
//
//     they touch     the plane of first touch
//     they pass      a plane that the rest of the motion does not cross, near to where they are
//                    closest: it parts them without touching what misses, and still holds a body
//                    that something else pushes
//     now will do    the plane of now is such a plane, or they touch, or very nearly
//
// What the points of a plane promise holds for bodies that turn little in a step. A box that hits
// with a corner at 1,000 m/s turns many times, and its centre may end anywhere. So where boxes or
// capsules move so far that they could pass through each other, a ball of half the size of the
// largest inside the smaller one is a point of the contact too, without friction: however it has
// turned, its centre cannot be nearer to the plane; and while its corners hold it the ball bears
// nothing.
#pragma once

#include "collide/mover.h"
#include "collide/narrow.h"

#define APPROACH_INNER_BALL (UINT64_C(1) << 63) // feature of an inner ball; the others are below

// Takes the manifold of now, which is not empty, to that of the approach. Returns its time, in
// [0, duration]; 0: it is that of now. A touch is found when no more than 1e-8 of the smaller
// primitive is missing, and bodies that move less than 1e-5 of it before they touch count as
// touching now: so much a body may miss another by and still be touched. Two that turn, move less
// than a fifth of the smaller one and overlap at the end may graze each other before the touch that
// is found.
double approach_find(const Mover *a, const Mover *b, const Approach *approach, Manifold *manifold);

// Adds the inner ball's point to a manifold of that time, where the two may come nearer by so much
// motion [m], others pushing them too, that it is needed.
void approach_add_inner_ball(const Mover *a, const Mover *b, double motion, double time,
                             Manifold *manifold);
