// SPDX-License-Identifier: MIT
// A step's book explains all but vbar . (A (v - v*) - p): with p what contacts and rows gave to the
// trees whose masses are A, vbar = (v0 + v)/2 and v* the free velocities (step/energy.c). Exactly,
// it would be 0. What roundings leave of it, per tree of n velocities, in units u = 2^-53:
//
//  - The answer's momentum balance, A (v - v*) - p = rest, which the second certificate knows, in
//    the norm of A^-1: |vbar|_A |rest|_A^-1 of it at most (Cauchy and Schwarz), and
//    |vbar|_A <= X = sum_i sqrt(A_ii) |vbar_i|.
//  - The book's own sums. As |A_ij| <= sqrt(A_ii A_jj), n^2 products of three numbers come to X D
//    in size, D = sum_j sqrt(A_jj) |v_j - v*_j|, however they cancel, and each is wrong by some
//    units, of which A's own numbers, sums of products over links, have most: n of them, at most.
//
// For a free body X and D are energies' roots, but for a factor of 6, and what the two come to
// is in the share of S. In a tree they may be any number times those: the condition of its masses,
// in these coordinates, which so is part of the bound.
#include "histories/ask_energy.h"

#include "support/links_mass.h"
#include "world/world_trees.h"

#include <float.h>
#include <string.h>

// ---- S

static double energy_of_bodies(const World *world, double h) {
    const double g = vec3_norm(world->settings.gravity);
    double sum = 0.0;
    for (uint32_t i = 0; i < world->body_count; i++) {
        const BodyMass *mass = &world->mass[i];
        const Vec3 v = vec3_load(world->velocity + 6 * (size_t)i),
                   w = vec3_load(world->velocity + 6 * (size_t)i + 3);
        if (world->kind[i] != BODY_DYNAMIC) {
            continue;
        }
        const Mat3 turn = quat_to_mat3(pose_load(world->pose + 7 * (size_t)i).orientation);
        const Vec3 own = mat3_tmul_vec(turn, w);
        sum += 0.5 * mass->mass * vec3_dot(v, v) +
               0.5 * vec3_dot(own, sym3_mul_vec(mass->inertia, own)) +
               mass->mass * g * (h * vec3_norm(v) + g * h * h);
    }
    return sum;
}

static double energy_of_springs(const World *world) {
    double sum = 0.0;
    for (size_t i = 0; i < world->joint_count; i++) {
        const Joint *joint = &world->joint[i];
        const uint32_t count = joint_axis_count(joint->axes);
        for (uint32_t k = 0; k < count; k++) {
            const JointAxis *axis = &world->joint_axis[joint->axis_first + k];
            const bool is_turn_of_three = joint_position_count(joint->axes) != count;
            // of three turns the angle is at most half a turn
            const double q =
                is_turn_of_three ? 3.2 : world->joint_position[joint->position_first + k];
            sum += axis->stiffness * (q * q + axis->rest * axis->rest) +
                   0.5 * axis->armature * world->joint_velocity[joint->axis_first + k] *
                       world->joint_velocity[joint->axis_first + k];
        }
    }
    return sum;
}

double ask_energy_scale(const World *world, double time_step) {
    return energy_of_bodies(world, time_step) + energy_of_springs(world);
}

double ask_energy_of_motion(const ContactProblem *problem, const SolveResult *result,
                            Arena *arena) {
    const double *rest = arena_take_zeroed(arena, problem->velocity_count, sizeof(double));
    return rest == NULL ? 0.0 : 0.5 * (double)harness_distance(problem, result->answer.v, rest);
}

// ---- roundings

// Velocities of the problem's trees before the step: of bodies, then of trees of joints, in their
// order. false: something sleeps, and is no tree of the problem; or memory ends.
static bool list_before(const World *world, const ContactProblem *problem, Arena *arena,
                        double *before) {
    uint32_t tree = 0;
    for (uint32_t i = 0; i < world->body_count; i++) {
        const bool is_joined = tree_of_body(world->trees, i) != TREE_NONE;
        if (world->kind[i] == BODY_DYNAMIC && !is_joined) {
            if (tree == problem->tree_count || !problem->tree[tree].is_free) {
                return false;
            }
            memcpy(before + problem->tree[tree++].first, world->velocity + 6 * (size_t)i,
                   6 * sizeof(double));
        }
    }
    for (uint32_t i = 0; world->trees != NULL && i < world->trees->tree_count; i++) {
        const TreeView view = world_tree_view(world, i);
        double *positions = arena_take_array(arena, view.tree->position_count, sizeof(double));
        if (view.tree->width == 0) {
            continue;
        }
        if (positions == NULL || tree == problem->tree_count ||
            problem->tree[tree].width != view.tree->width) {
            return false;
        }
        double *of = before + problem->tree[tree++].first;
        world_tree_numbers(world, &view, positions, of);
        if (view.link[0].joint == TREE_NONE) { // in whatever axes
            of[3] = of[4] = of[5] = vec3_norm(vec3_load(of + 3));
        }
    }
    return tree == problem->tree_count;
}

static double diagonal(const ContactProblem *problem, uint32_t t, uint32_t i) {
    const ProblemTree *tree = &problem->tree[t];
    if (tree->link_count > 0) {
        return (double)links_mass(problem, t, i, i);
    }
    if (!tree->is_free) {
        return problem->number[tree->mass + (size_t)i * tree->width + i];
    }
    const FreeMass *of = &problem->free[t];
    return i < 3 ? of->mass : i == 3 ? of->inertia.xx : i == 4 ? of->inertia.yy : of->inertia.zz;
}

double ask_energy_rounding(const World *world, const ContactProblem *problem,
                           const SolveResult *result, double rest, Arena *arena) {
    double *before = arena_take_array(arena, problem->velocity_count, sizeof(double));
    if (before == NULL || !list_before(world, problem, arena, before)) {
        return HUGE_VAL;
    }
    double all = 0.0, sums = 0.0;
    for (uint32_t t = 0; t < problem->tree_count; t++) {
        const ProblemTree *tree = &problem->tree[t];
        double x = 0.0, d = 0.0;
        for (uint32_t i = 0; i < tree->width; i++) {
            const uint32_t at = tree->first + i;
            const double root = sqrt(diagonal(problem, t, i)), v = result->answer.v[at];
            x += root * 0.5 * (fabs(before[at]) + fabs(v));
            d += root * fabs(v - problem->v_free[at]);
        }
        all += x;
        sums += tree->is_free ? 0.0 : tree->width * x * d;
    }
    return all * rest + DBL_EPSILON * sums;
}

// ---- gains

// The most that a unit impulse along an axis of a joint changes its rate by: by its two bodies
// alone, as whatever else holds them lets them move less.
static double mobility(const World *world, const Joint *joint, bool is_turn) {
    double sum = 0.0;
    for (int side = 0; side < 2; side++) {
        const uint32_t body = joint->body[side];
        if (body == JOINT_NO_BODY || world->kind[body] != BODY_DYNAMIC) {
            continue;
        }
        const BodyMass *mass = &world->mass[body];
        const Sym3 inverse = sym3_inverse(mass->inertia);
        const double turning = inverse.xx + inverse.yy + inverse.zz; // no less than the largest
        const Vec3 from = vec3_load(world->pose + 7 * (size_t)body),
                   at = world_joint_frame(world, joint, side).position, arm = vec3_sub(at, from);
        sum += is_turn ? turning : 1.0 / mass->mass + vec3_dot(arm, arm) * turning;
    }
    return sum;
}

// With forces of the begin, a damper makes of a rate 1 - h d w of it, and a spring gains
// (w h)^2/2 of it: all is as it should be while the first sum is below 1 and the second a
// hundredth.
static bool gains_by_forces(const World *world, double h) {
    double dampers = 0.0, springs = 0.0;
    for (size_t i = 0; i < world->joint_count; i++) {
        const Joint *joint = &world->joint[i];
        const uint32_t moves = joint_axis_count(joint->axes & JOINT_MOVES);
        for (uint32_t k = 0; k < joint_axis_count(joint->axes); k++) {
            const JointAxis *axis = &world->joint_axis[joint->axis_first + k];
            const double w = mobility(world, joint, k >= moves);
            dampers += h * (axis->damping + axis->drive_damping) * w;
            springs += h * h * (axis->stiffness + axis->drive_stiffness) * w;
        }
    }
    return dampers > 1.0 || springs > 0.01;
}

// With w x I w of the begin a step adds h |w| |I w| of spin at right angles to I w at most: of its
// energy (h w)^2 times the ratio of its moments. In trees of joints, of which check_tree_apart.c
// has the law, more, but no more than by this.
static bool gains_by_spin(const World *world, double h) {
    for (uint32_t i = 0; i < world->body_count; i++) {
        const Vec3 w = vec3_load(world->velocity + 6 * (size_t)i + 3);
        const Sym3 of = world->mass[i].inertia;
        if (world->kind[i] != BODY_DYNAMIC) {
            continue;
        }
        const Sym3 inverse = sym3_inverse(of);
        const double ratio = (of.xx + of.yy + of.zz) * (inverse.xx + inverse.yy + inverse.zz);
        if (h * h * vec3_dot(w, w) * ratio > 0.01) {
            return true;
        }
    }
    return false;
}

// With a fluid's drag of the begin, c |v| v, a step makes of a speed h c |v| - 1 times it where
// that is more, and the next one more again. By the largest edge that the box of the body can have
// (step/fluid.c).
static bool gains_by_fluid(const World *world, double h) {
    const double r = world->settings.fluid_density, u = world->settings.fluid_viscosity;
    for (uint32_t i = 0; i < world->body_count; i++) {
        const double *velocity = world->velocity + 6 * (size_t)i;
        const double v = vec3_norm(vec3_load(velocity)), w = vec3_norm(vec3_load(velocity + 3));
        const BodyMass *mass = &world->mass[i];
        const Sym3 of = mass->inertia;
        if (world->kind[i] != BODY_DYNAMIC) {
            continue;
        }
        const Sym3 inverse = sym3_inverse(of);
        const double square = 6.0 * (of.xx + of.yy + of.zz) / mass->mass, edge = sqrt(square);
        const double turning = inverse.xx + inverse.yy + inverse.zz, pi = 3.14159265358979;
        const double slow = (3.0 * pi * edge * u + 0.5 * r * square * v) / mass->mass;
        const double slack =
            (pi * edge * square * u + r * edge * square * square * w / 32.0) * turning;
        if (h * fmax(slow, slack) > 1.0) {
            return true;
        }
    }
    return false;
}

bool ask_energy_gains(const World *world, double time_step) {
    const uint8_t integrator = world->settings.integrator;
    return (integrator == INTEGRATOR_EXPLICIT &&
            (gains_by_forces(world, time_step) || gains_by_fluid(world, time_step))) ||
           (world->settings.rotation == ROTATION_EXPLICIT && gains_by_spin(world, time_step));
}

// ---- rows at odds

// What is left of a row below this share of it is rounding, and moves nothing that it should.
static const double row_rounding = 1e-9;

// [m/s] Targets of rows that are independent of each other come to no such speeds.
static const double odd_speed = 1e4;

static double dot(const double *a, const double *b, uint32_t count) {
    double sum = 0.0;
    for (uint32_t k = 0; k < count; k++) {
        sum += a[k] * b[k];
    }
    return sum;
}

// A bilateral row over all velocities, in units of what masses make of them, of length 1. false:
// it is another kind, or has but rounding for levers.
static bool load_row(const ContactProblem *problem, const ProblemRow *row, double *number) {
    if (isfinite(row->low) || isfinite(row->high) || row->has_compliance) {
        return false;
    }
    double longest = 0.0;
    memset(number, 0, problem->velocity_count * sizeof(double));
    for (uint32_t b = row->block_first; b < row->block_first + row->block_count; b++) {
        const RowBlock *block = &problem->row_block[b];
        const ProblemTree *tree = &problem->tree[block->tree];
        for (uint32_t k = 0; k < tree->width; k++) {
            const double lever = problem->number[block->jacobian + k];
            longest = fmax(longest, fabs(lever));
            number[tree->first + k] = lever / sqrt(diagonal(problem, block->tree, k));
        }
    }
    const double size = sqrt(dot(number, number, problem->velocity_count));
    for (uint32_t k = 0; k < problem->velocity_count; k++) {
        number[k] /= size;
    }
    return longest > row_rounding;
}

// Of each row: the rates that it asks for by itself, of the coordinates with the longest lever, in
// m/s or rad/s. Where a mechanism is nearly stretched, or its lever passes through zero, what is
// off asks for any rate: that is the scheme's, whose levers are of the begin of the step.
static bool has_singular_row(const ContactProblem *problem) {
    for (uint32_t i = 0; i < problem->row_count; i++) {
        const ProblemRow *row = &problem->row[i];
        double longest = 0.0;
        for (uint32_t b = row->block_first; b < row->block_first + row->block_count; b++) {
            const RowBlock *block = &problem->row_block[b];
            for (uint32_t k = 0; k < problem->tree[block->tree].width; k++) {
                longest = fmax(longest, fabs(problem->number[block->jacobian + k]));
            }
        }
        if (!row->has_compliance && fabs(row->bias) > odd_speed * longest) {
            return true;
        }
    }
    return false;
}

// The row of which most is left is taken out of the others, at length 1, and is then their last: so
// the last of all has how near they are to depend on each other, which several would share in the
// order of joints. Returns the length that it had.
static double take_longest(double *rest, uint32_t count, uint32_t width) {
    double most = 0.0;
    uint32_t longest = 0;
    for (uint32_t i = 0; i < count; i++) {
        const double *row = rest + (size_t)i * width, square = dot(row, row, width);
        longest = square > most ? i : longest;
        most = fmax(most, square);
    }
    double *of = rest + (size_t)longest * width, *last = rest + (size_t)(count - 1) * width;
    const double length = sqrt(most);
    for (uint32_t k = 0; k < width; k++) {
        const double part = of[k] / length;
        of[k] = last[k];
        last[k] = part;
    }
    for (uint32_t i = 0; i + 1 < count && length > row_rounding; i++) {
        double *row = rest + (size_t)i * width;
        const double part = dot(row, last, width);
        for (uint32_t k = 0; k < width; k++) {
            row[k] -= part * last[k];
        }
    }
    return length;
}

bool ask_energy_is_at_odds(const ContactProblem *problem, double v_scale, Arena *arena) {
    const uint32_t width = problem->velocity_count;
    double *rest = arena_take_array(arena, (size_t)problem->row_count * width, sizeof(double));
    double least = 1.0, length = 1.0;
    uint32_t count = 0;
    if (has_singular_row(problem)) {
        return true;
    }
    for (uint32_t i = 0; rest != NULL && i < problem->row_count; i++) {
        count += load_row(problem, &problem->row[i], rest + (size_t)count * width);
    }
    for (; count > 0 && length > row_rounding; count--) {
        length = take_longest(rest, count, width);
        least = length > row_rounding ? fmin(least, length) : least;
    }
    return v_scale > odd_speed * least;
}
