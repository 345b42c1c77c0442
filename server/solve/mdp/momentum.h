// SPDX-License-Identifier: MIT
// Momentum between sweeps. Gauss-Seidel alone needs O(N^2) sweeps for a column of N, and tens of
// thousands for a stack of boxes; carried on by Nesterov's rule it needs the root of that.
//
// A sweep maps a start y to z = T(y), whose fixed points are the solutions. The next start is
//
//     y = z + ratio (z - z_before),
//
// for impulses and velocities alike, so that both keep belonging together: velocities are carried
// here, between the sweeps, each impulse by the next sweep when it comes by. A start need not lie
// in any cone: a sweep reads of an old impulse only what it did to the velocities, and what a sweep
// leaves is always in the cone. So momentum changes the way, never the goal.
//
// Friction makes T anything but a gradient step, so every island is watched: its momentum ends, and
// begins anew, where the sweep works against it, or where the residual |z - y| has doubled since
// its least. Where the residual at such an end is no better than at the end before, the ratio is
// held further below 1. At worst that leaves plain Gauss-Seidel.
//
// Where sweeps are counted (anytime.c), or all that there is, and an island is on the move and of
// more than 128 contacts, momentum is held at 0.8 for the first hundred and fifty of them instead,
// opposed or not, and begins anew only where the residual has grown: a longer memory stirs what
// slides. Beside the rule above, after a hundred sweeps: a quarter of the residual of a wall that
// is kicked, a sixth of a pile's, half of a wall's that a ball hits; 1.4 times as much of a
// pyramid's that is kicked. What rests wants the long memory: there a momentum that is held leaves
// a pyramid two hundred times as much.
//
// A solve that starts near its end, as every one of a stack at rest does, first tries a leap: some
// plain sweeps, and one carry by the whole geometric sum of their slowest change. A small island
// leaps to the solution of its linear system (direct.h) wherever that can be had, but, in the same
// cases, where it is on the move: there an aim, which takes as long as five to thirty sweeps,
// mostly misses. So sweeps try first, what slips once is taken to slip, and three times as many
// sweeps as an aim took stand before the next; of more than 128 contacts and a share of sweeps,
// one that misses is the last. Either leap is undone when the sweep after it changes more than the
// one before.
#pragma once

#include "solve/mdp/pack.h"

// Forgets the momentum of an island: where the pack holds it now is the start.
void mdp_momentum_begin(MdpPack *pack, uint32_t island);

// Between two sweeps of a group: judges of an island the one before, and decides how far it is
// carried on. `enough` is what is wanted of the square of the largest change: how far it is from
// there decides about leaps.
void mdp_momentum_decide(MdpPack *pack, const MdpGroup *group, uint32_t island, double enough);

// Carries the velocities of trees at places [begin, end) of the list.
void mdp_momentum_carry(const MdpPack *pack, uint32_t begin, uint32_t end);

// The velocities that the trees have now are those of a sweep earlier.
void mdp_momentum_stay(const MdpPack *pack, uint32_t begin, uint32_t end);
