// SPDX-License-Identifier: MIT
#include "support/chain_build.h"

#include <string.h>

void chain_build_joint(ProblemBuild *build, uint32_t a, Vec3 arm_a, uint32_t b, Vec3 arm_b,
                       uint32_t group) {
    const Vec3 axis[3] = {{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}};
    for (int k = 0; k < 3; k++) {
        double of_a[6], of_b[6];
        vec3_store(of_a, vec3_neg(axis[k]));
        vec3_store(of_a + 3, vec3_neg(vec3_cross(arm_a, axis[k])));
        vec3_store(of_b, axis[k]);
        vec3_store(of_b + 3, vec3_cross(arm_b, axis[k]));
        ProblemRow *row = problem_build_row(build, -HUGE_VAL, HUGE_VAL, 0.0);
        row->group = group;
        row->is_position = true;
        if (a != PROBLEM_NO_TREE) {
            problem_build_block(build, a, of_a);
        }
        problem_build_block(build, b, of_b);
    }
}

void chain_build_weld(ProblemBuild *build, uint32_t a, uint32_t b) {
    uint32_t group = build->row[build->problem.row_count - 1].group;
    for (int k = 0; k < 3; k++) {
        double of_a[6] = {0.0}, of_b[6] = {0.0};
        of_a[3 + k] = -1.0;
        of_b[3 + k] = 1.0;
        problem_build_row(build, -HUGE_VAL, HUGE_VAL, 0.0)->group = group;
        problem_build_block(build, a, of_a);
        problem_build_block(build, b, of_b);
    }
}

uint32_t chain_build_rods(ProblemBuild *build, uint32_t count, Vec3 direction, bool hangs,
                          uint32_t times) {
    const double fall = build->problem.gravity * build->problem.time_step;
    const double v_free[6] = {0.0, 0.0, -fall, 0.0, 0.0, 0.0};
    // a rod of 0.1 m across: 1/12 (1 + 0.01) about its middle, 1/2 0.01 about its length, and as
    // the direction is one of the axes, a diagonal
    const double across = 1.01 / 12.0, along = 0.005;
    const Vec3 share = vec3(fabs(direction.x), fabs(direction.y), fabs(direction.z));
    const Sym3 inertia = {.xx = across + share.x * (along - across),
                          .yy = across + share.y * (along - across),
                          .zz = across + share.z * (along - across)};
    uint32_t before = PROBLEM_NO_TREE, first = build->problem.tree_count;
    uint32_t group = build->problem.row_count;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t rod = problem_build_free(build, 1.0, inertia, v_free);
        for (uint32_t k = 0; k < times && (i > 0 || hangs); k++) {
            chain_build_joint(build, before, vec3_scale(0.5, direction), rod,
                              vec3_scale(-0.5, direction), group + i + 1);
        }
        before = rod;
    }
    return first;
}
