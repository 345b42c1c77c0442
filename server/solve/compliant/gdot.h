// SPDX-License-Identifier: MIT
// The paper's terms of a Jacobian that changes, as it prints them,
//
//     phi1' = G v1 + h G' v0,    lambda = -K phi1 - B phi1' - M^ G' v0,
//
// with M^ = (G M^-1 G^T)^-1 of all normals, or all first or all second tangents (of the printed
// friction program alone), or all bilateral or all one-sided rows of an island.
// It does not exist where rows are redundant: the pseudo-inverse stands for it, which is found in
// velocities, where the system is sparse and strictly convex:
//
//     a = the least a, in M, of the least |G a - G' v0|,    M^ G' v0 = G z,   G^T G z = M a,
//
// both by M + G^T G / e for a small e, again and again of what is left.
//
// Neither belongs to a spring: they make a pendulum gain energy where steps are large.
#pragma once

#include "solve/compliant/law.h"
#include "solve/descent/island.h"

// Adds both terms to the targets of an island's laws, those of the problem, and to what the answer
// declares of them. The memory of `s` is used, and is as it was laid out. RESOURCE_EXHAUSTED when
// the arena ends; a stop is told by `s->is_stopped`.
Status compliant_gdot_add(SapIsland *s, bool has_tangents, CompliantLaw *contact_law,
                          CompliantLaw *row_law, Answer *answer, Arena *arena, Error *error);
