// SPDX-License-Identifier: MIT
// The last digits of an island. In velocities doubles end where R is small beside w: an impulse is
// a difference of velocities over R, and what those round off with it. Here every law is written in
// another metric, S = R + w, in which impulses and velocities are of one size,
//
//     gamma = P_S(x),   v = v* + A^-1 J^T gamma,
//     e = J v - target + R gamma - S (gamma - x)  is to be 0,
//
// the same solution, and Newton's method in x only ever divides e, which is what is left:
//
//     T = (dP_S/dx) S^-1,  N = (I - w T)^-1,    (A + J^T T N J) d_v = -J^T T N e,
//     d_x = -S^-1 N (e + J d_v).
//
// Without a line search: it is for the neighbourhood of the solution.
#pragma once

#include "solve/sap_island.h"

// From an iterate of sap_island_minimise to x, once; then y is x.
void sap_polish_begin(SapIsland *s);

// One step, of which gamma comes. SAP_MET, SAP_STOPPED or SAP_NOT_FINITE.
SapOutcome sap_polish_step(SapIsland *s);
