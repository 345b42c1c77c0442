// SPDX-License-Identifier: MIT
// Which steps of a group's worlds are solved again, and what is kept of one for that. Pure: who
// solves it, and when, is opinions.h.
//
// The t-th step of an episode, from 0, is chosen where u < share: u is the t-th uniform number of a
// stream beside that of the episode's noise (base/philox.h), and u / share says which substep of
// it. So the choice follows from seed, world, episode and step alone. NumPy:
//
//     u = Generator(Philox(key=[seed, world], counter=[0, 0, episode, 1])).random(t + 1)[t]
//     substep = floor(u / share * substeps)
#pragma once

#include "run/groups/group.h"
#include "solve/opinion.h"

// A step, as it was when its solver was done. Whoever takes it from its row owns it.
typedef struct GroupCase {
    struct GroupCase *next; // whoever has it
    uint32_t world, substep;
    uint64_t seed, episode, step; // `step` of the episode, counted from 1
    size_t bytes;                 // of the group's opinion_memory
    OpinionCase kept;
} GroupCase;

// Whether world i's step under way is solved again, and which substep of it.
bool group_opinion_choose(const Group *group, uint32_t i, uint32_t *substep);

// NULL when memory ends, which is counted in group->opinions_lost.
GroupCase *group_opinion_keep(Group *group, uint32_t i, const ContactProblem *problem,
                              const SolveResult *result);
void group_opinion_drop(Group *group, GroupCase *kept); // Nullable
