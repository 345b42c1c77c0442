// SPDX-License-Identifier: MIT
// The sweep over contacts of free bodies, of whatever inertia and arms. Most of them open or stick,
// and are done at once. One that slides waits until as many others do as are found at once
// (solve/block_slide.h), and the rest of its unit with it; other units of the colour, which share
// no tree with it, go on. So every contact finds what it would find if all took their turns, and
// the sums are taken in the order of the contacts: nothing depends on who waited for whom.
#pragma once

#include "solve/mdp/pack.h"

// One sweep over contacts [begin, end) of a stage, which is added to the sums of their islands.
void mdp_point_sweep(const MdpPack *pack, const MdpStage *stage, uint32_t begin, uint32_t end,
                     bool is_coulomb, MdpSum *sum);

// Adds the impulses of contacts [begin, end) to the velocities of their bodies.
void mdp_point_push(const MdpPack *pack, uint32_t begin, uint32_t end);
