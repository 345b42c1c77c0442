// SPDX-License-Identifier: MIT
// A tree's step by the variational integrator of Störmer and Verlet: with u the rates that bring it
// from q0 to q1, its action is h/2 (L(q0, u) + L(q1, u)), and so
//
//     p0 = B(-h u)^T m - h/2 (dL/dq + f)(q0, u),   m = (dL/du (q0, u) + dL/du (q1, u))/2
//     p1 = B(h u)^T m + h/2 (dL/dq + f)(q1, u),    p = dL/dv (q, v)
//
// with f what has no potential. B is 1, but of three turns, which move by Cayley's rotation: there
// B(s) w = w + 1/2 s x w + 1/4 s (s . w), as in runge_kutta.h. It keeps areas of phase space, and
// so energies up to a swing, and momenta of what is free. Where masses do not move it is velocity
// Verlet. The first equation says u, by Newton's steps with the mass at q0 for derivative; the
// second the velocities after.
#pragma once

#include "step/trees/flight.h"

// As tree_fly_staged.
bool tree_fly_verlet(TreeFlight *flight, double *v);
