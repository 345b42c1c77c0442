// SPDX-License-Identifier: MIT
// The same contact problem in another order: trees, contacts and rows shuffled, and sides a and b
// of half of the contacts swapped. The rows of a joint stay next to each other. A contact whose
// sides are swapped has its normal and first tangent turned round, as its frame is to stay
// right-handed, so that its impulses along the second tangent have the other sign; a polyhedral
// cone, whose directions are even in number and begin with the first tangent, is its own mirror
// image.
#pragma once

#include "support/harness.h"

typedef struct HarnessPermutation {
    ContactProblem problem;                  // all arrays are of the arena
    uint32_t *tree_to, *contact_to, *row_to; // where each has gone
    bool *is_swapped;                        // [contact_count], by the old order
} HarnessPermutation;

// The state of the random numbers must not be 0.
void harness_permute(const ContactProblem *from, uint64_t *state, Arena *arena,
                     HarnessPermutation *permutation);

// The answer to the new problem, in the order of the old one.
void harness_permute_back(const ContactProblem *from, const HarnessPermutation *permutation,
                          const Answer *answer, double *v, double *contact_impulse,
                          double *row_impulse);
