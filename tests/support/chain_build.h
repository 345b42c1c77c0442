// SPDX-License-Identifier: MIT
// Chains of bodies held together by rows, for tests and benchmarks: rods of 1 kg and 1 m, joined
// at their ends.
#pragma once

#include "support/problem_build.h"

// Rows that hold the points at `arm_a` on a and `arm_b` on b together, as one group; a may be
// PROBLEM_NO_TREE.
void chain_build_joint(ProblemBuild *build, uint32_t a, Vec3 arm_a, uint32_t b, Vec3 arm_b,
                       uint32_t group);

// Rows that keep two bodies from turning against each other, of the same group as those before.
void chain_build_weld(ProblemBuild *build, uint32_t a, uint32_t b);

// `count` rods in line along `direction`, of which the first hangs on the ground if that is asked
// for; each joint is there `times` times. They fall for one time step. Returns the first rod.
uint32_t chain_build_rods(ProblemBuild *build, uint32_t count, Vec3 direction, bool hangs,
                          uint32_t times);
