// SPDX-License-Identifier: MIT
// The analytic single-contact solutions behind `mdp`: given A (3x3, symmetric positive definite,
// order normal, tangent, tangent) and b, the reaction x with  dv = A x - b  under maximum
// dissipation, or under exact Coulomb friction.
//
// A sweep solves the same block again and again with another b: what does not change is an MdpPlan,
// made once. A plan's solve starts from the reaction of the sweep before, which saves the search
// for roots where the answer can be certified as the only one.
#pragma once

#include "solve/block_plan.h"

// Maximum dissipation: minimises 1/2 x'Ax - x'b over the friction cone on the plane of maximum
// compression.
MdpBranch mdp_block_dissipation(const MdpBlock *block, const double b[3], double x[3]);

// Exact Coulomb: zero if b_n <= 0, else stick, else the sliding solution of least energy.
MdpBranch mdp_block_coulomb(const MdpBlock *block, const double b[3], double x[3]);

// Every Coulomb solution with b_n > 0 that slides: fills at most 4, returns how many. For tests and
// studies.
int mdp_block_coulomb_all(const MdpBlock *block, const double b[3], double x[4][3]);

void mdp_block_plan(const MdpBlock *block, MdpPlan *plan);

// As above; x is read as the reaction to start from (zeros: none).
MdpBranch mdp_plan_solve(const MdpPlan *plan, bool is_coulomb, const double b[3], double x[3]);

// The same in two halves, so that what lies between them, Newton's method for the slides of several
// contacts, can be done for all of them at once (block_slide.h). Begin says whether x is the
// answer; if not, `slide` is where to start from, and end, handed what became of it, makes the
// answer of x.
bool mdp_plan_begin(const MdpPlan *plan, bool is_coulomb, const double b[3], double x[3],
                    MdpBranch *branch, MdpSlide *slide);
void mdp_plan_end(const MdpSlide *slide, const double b[3], double x[3]);
