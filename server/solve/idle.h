// SPDX-License-Identifier: MIT
// Contacts and rows that can move nothing: their Jacobians are zeros, as whoever assembles a
// problem makes those that are but the rounding of their levers. No impulse changes what they ask
// for, so they are left out of the problem before any solver sees it; they bear nothing, and what
// overlaps is told all the same.
//
// A contact moves nothing if its normal does not. It may slide then, as a link that turns on the
// floor about an upright hinge, but what it is pressed with is told by no motion, and so neither is
// its friction. Only a spring tells: under a solver that has them, a contact with a stiffness of
// its own and friction is in the problem as long as it can slide.
#pragma once

#include "solve/problem.h"

// Of the problem only the trees' kinds and `number` are read.
bool idle_is_contact(const ContactProblem *problem, const ProblemContact *contact,
                     const ContactLaw *law, bool has_springs);

// *rest := the problem without trees in what is idle, which is how contacts and rows that move
// nothing are told; the same problem where nothing is. Adds how many are to *count. Memory is the
// arena's. RESOURCE_EXHAUSTED when it ends.
Status idle_leave_out(const ContactProblem *problem, bool has_springs, Arena *arena,
                      ContactProblem *rest, uint32_t *count, Error *error);
