// SPDX-License-Identifier: MIT
// The contact problem of one step, as a solver is handed it, and nothing else: trees with their
// mass and free velocity, contacts, rows, the time step. No bodies, no shapes, no world.
//
//     v = v_free + M^-1 (sum J_i^T gamma_i + sum G_j^T r_j)
//     u_i = J_i v + motion_i                                  (normal, tangent 1, tangent 2)
//
// A *tree* has `width` generalised velocities, v[first .. first + width). Three kinds of storage:
//   free   a rigid body: width 6, v = (linear velocity of the centre of mass, angular velocity),
//          WORLD axes. Its mass is `free[tree]`, and the Jacobian of a contact side is never
//          stored: it follows from the contact's frame and the arm from the centre of mass to the
//          contact point. A pile of spheres pays for nothing else.
//   dense  any width: a width x width mass block, and 3 x width Jacobian blocks, all row by row in
//          `number`.
//   links  any width: bodies on joints, whose mass follows from them and is never written down
//          (ProblemLink). Jacobian blocks as dense trees have them.
// Sides of all kinds may meet in one contact. A side on static ground is PROBLEM_NO_TREE.
//
// Signs: the normal points from side a to side b; +J^T gamma is what acts, which is + on b and - on
// a; dense Jacobians carry their sign already. positive u_n separates.
//
// Data only: plain arrays, owned by whoever built the problem (a step's memory, a request's arena).
// Solvers do not change it.
#pragma once

#include "base/arena.h"
#include "base/status.h"
#include "base/vec.h"

#include <stddef.h>

#define PROBLEM_NO_TREE            UINT32_MAX
#define PROBLEM_INFINITE_STIFFNESS HUGE_VAL

typedef struct FreeMass {
    double mass;         // [kg]
    double inverse_mass; // [1/kg]
    Sym3 inertia;        // about the centre of mass, world axes [kg m^2]
    Sym3 inverse_inertia;
} FreeMass;

// The mass of a free body, with its inverse: the one place where that is made, so that a problem
// that was written down is solved again to the same bits.
static inline FreeMass problem_free_mass(double mass, Sym3 inertia) {
    return (FreeMass){mass, 1.0 / mass, inertia, sym3_inverse(inertia)};
}

// A body of a tree of links, in world axes. It moves as its parent does at the place where its
// centre of mass is, and by its own joint:
//
//     velocity = parent's, carried to its centre of mass, + sum over k of motion[k] v[first + k]
//
// and the tree's mass block is the sum of J^T diag(mass, inertia) J over its links, with the blocks
// `added` on the diagonal. Links may weigh nothing where others make the sum positive definite.
typedef struct ProblemLink {
    uint32_t parent; // of the same tree, before it; PROBLEM_NO_LINK: the ground
    uint32_t first;  // of its velocities in the tree
    uint32_t count;  // of them: 0 to 6
    double mass;     // [kg], may be 0
    Sym3 inertia;    // about its centre of mass [kg m^2], positive semidefinite
    Vec3 center;     // of mass, from a point common to the tree's links and near to them [m]
    size_t motion;   // offset in `number`: 6 for each velocity, of the centre of mass, and angular
    size_t added;    // offset in `number`: count x count, symmetric: armature, and what is implicit
} ProblemLink;

#define PROBLEM_NO_LINK UINT32_MAX
enum { PROBLEM_LINK_VELOCITIES = 6 };

typedef struct ProblemTree {
    uint32_t first; // of its velocities
    uint32_t width;
    bool is_free;
    bool is_factored;    // dense: the problem's `factor` has its factor
    uint32_t link_count; // 0: free or dense
    size_t mass; // dense: offset of the width x width block in `number`; links: the first of them
                 // in `link`; free: unused
} ProblemTree;

// One side of a contact.
typedef struct ContactSide {
    uint32_t tree;     // PROBLEM_NO_TREE: static, or no such side
    uint32_t jacobian; // tree is not free: offset of the 3 x width block in `number`
    Vec3 arm;          // tree is free: from the centre of mass to the contact point, world axes [m]
} ContactSide;

// What every solver reads of a contact, in every pass: what only some read is its ContactLaw.
typedef struct ProblemContact {
    ContactSide side[2]; // a, b
    Vec3 normal;         // from a to b; frame and arms matter for free sides only, and for reports
    Vec3 tangent[2];     // tangent[1] = normal x tangent[0]
    double mu;           // friction coefficient
    double gap;          // [m], negative: overlap
    double bias;         // target of the rigid models: u_n >= -bias [m/s]
    double motion[3];    // known surface velocity along normal and tangents [m/s]
} ProblemContact;

// What models that are not rigid, or form their own bias, read of a contact.
typedef struct ContactLaw {
    double approach;         // normal velocity before the step, <= 0 where it closes [m/s]
    double restitution;      // already in the bias
    double stiffness;        // [N/m], may be PROBLEM_INFINITE_STIFFNESS
    double dissipation_time; // [s]
    double damping;          // [N s/m]
    double force;            // normal force at the gap [N]; -stiffness gap for a linear law
    double gdot[3];          // [m/s^2]
} ContactLaw;

typedef struct RowBlock {
    uint32_t tree;
    uint32_t jacobian; // offset of `width` numbers in `number` (also for free trees)
} RowBlock;

// One scalar constraint: y = G v + bias + R r; r in [low, high]. Bilateral: low = -inf, high = inf.
// One-sided: low = 0 or high = 0. Bounded: both finite.
typedef struct ProblemRow {
    uint32_t block_first, block_count; // in `row_block`
    uint32_t group;    // rows of one joint, next to each other, share a group; 0: alone
    bool is_position;  // it has a gap; without: a velocity row
    double low, high;  // [N s]
    double gap;        // [m] or [rad]
    double bias;       // [m/s] target of the rigid models: G v = -bias
    double compliance; // R [1/kg] of its own; 0 with has_compliance false: rigid
    bool has_compliance;
    double stiffness, dissipation_time, damping;
    double gdot; // [m/s^2]
} ProblemRow;

typedef struct ContactProblem {
    double time_step; // [s]
    double gravity;   // size [m/s^2]: only sets the certificate's scale
    // [m/s] what entries of the certificate are divided by at least. 0: by the problem's own scale,
    // |g| h and what moves, as of a step that is not divided and of a problem that comes alone. Of
    // a substep it is |g| h of the whole step: an error in velocity is as far from the truth
    // whatever the step is divided into, and over h/n it would be told n times as large as over h.
    // Whether an island is solved, and what is told of one that is not, goes by its own scale.
    double told_over;
    uint32_t tree_count, contact_count, row_count, velocity_count, row_block_count;
    bool all_free; // every tree is free: tree i has velocities [6 i, 6 i + 6)
    const ProblemTree *tree;
    const FreeMass *free; // [tree_count], meaningful where tree.is_free; NULL when no tree is free
    const ProblemLink *link; // of all trees of links, tree by tree; NULL when there is none
    uint32_t link_count;
    const double *v_free; // [velocity_count]
    const ProblemContact *contact;
    const ContactLaw *law; // [contact_count]
    const ProblemRow *row;
    const RowBlock *row_block;
    const double *number; // mass blocks, Jacobians, what links have
    size_t number_count;
    // Nullable: factors (solve/dense) of the mass blocks of trees that are factored, each at the
    // offset of its block in `number`. Whoever built the blocks may have factored them already.
    const double *factor;
    const double *warm_contact; // Nullable: 3 per contact, impulses to start from
    const double *warm_row;     // Nullable: 1 per row
} ContactProblem;

// Judges a problem that came from outside: shapes, ranges, symmetry and positive definiteness of
// every mass block. Names the key as in the file format, as contacts[3].mu. What it takes of the
// arena it gives back; RESOURCE_EXHAUSTED when that ends.
Status problem_check(const ContactProblem *problem, Arena *arena, Error *error);

// What the rigid models make of a gap: gap / time_step; `overlap` is the share of an overlap that
// the model asks to remove in one step.
double problem_gap_bias(double time_step, double gap, double overlap);

// The smaller of a bias and what restitution asks for when the contact closes in this step.
static inline double problem_bounce_bias(double bias, double time_step, double gap,
                                         double restitution, double approach) {
    // it bounces when it closes in this step
    if (restitution > 0.0 && approach < 0.0 && gap + time_step * approach <= 0.0) {
        double bounce = restitution * approach;
        return bounce < bias ? bounce : bias;
    }
    return bias;
}

// Both: the bias that the rigid models take where none is given.
double problem_contact_bias(double time_step, double gap, double overlap, double restitution,
                            double approach);

// The part of a side that is not free: u += J v, p += J^T gamma.
void problem_dense_product(const ContactProblem *problem, const ContactSide *side, const double *v,
                           double u[3]);
void problem_dense_momentum(const ContactProblem *problem, const ContactSide *side,
                            const double gamma[3], double *p);

// Whether a side, which is not static, is a free body, and where its velocities begin. In a pile of
// free bodies neither reads the tree.
static inline bool problem_is_free(const ContactProblem *problem, uint32_t tree) {
    return problem->all_free || problem->tree[tree].is_free;
}

static inline size_t problem_first(const ContactProblem *problem, uint32_t tree) {
    return problem->all_free ? 6 * (size_t)tree : problem->tree[tree].first;
}

// J_i v
static inline void problem_contact_product(const ContactProblem *problem, uint32_t contact,
                                           const double *v, double u[3]) {
    const ProblemContact *c = &problem->contact[contact];
    Vec3 relative = vec3(0.0, 0.0, 0.0); // of the free sides: b against a
    u[0] = u[1] = u[2] = 0.0;
    for (int s = 0; s < 2; s++) {
        const ContactSide *side = &c->side[s];
        if (side->tree == PROBLEM_NO_TREE) {
            continue;
        }
        if (!problem_is_free(problem, side->tree)) {
            problem_dense_product(problem, side, v, u);
            continue;
        }
        const double *of = v + problem_first(problem, side->tree);
        Vec3 point = vec3_add(vec3_load(of), vec3_cross(vec3_load(of + 3), side->arm));
        relative = s == 0 ? vec3_neg(point) : vec3_add(relative, point);
    }
    u[0] += vec3_dot(c->normal, relative);
    u[1] += vec3_dot(c->tangent[0], relative);
    u[2] += vec3_dot(c->tangent[1], relative);
}

// u_i = J_i v + motion_i
static inline void problem_contact_velocity(const ContactProblem *problem, uint32_t contact,
                                            const double *v, double u[3]) {
    problem_contact_product(problem, contact, v, u);
    const double *motion = problem->contact[contact].motion;
    u[0] += motion[0];
    u[1] += motion[1];
    u[2] += motion[2];
}

// p += J_i^T gamma (generalised momentum, velocity_count numbers)
static inline void problem_contact_momentum(const ContactProblem *problem, uint32_t contact,
                                            const double gamma[3], double *p) {
    const ProblemContact *c = &problem->contact[contact];
    Vec3 on_b = vec3_scale(gamma[0], c->normal);
    on_b = vec3_add_scaled(on_b, gamma[1], c->tangent[0]);
    on_b = vec3_add_scaled(on_b, gamma[2], c->tangent[1]);
    for (int s = 0; s < 2; s++) {
        const ContactSide *side = &c->side[s];
        if (side->tree == PROBLEM_NO_TREE) {
            continue;
        }
        if (!problem_is_free(problem, side->tree)) {
            problem_dense_momentum(problem, side, gamma, p);
            continue;
        }
        double *at = p + problem_first(problem, side->tree);
        Vec3 impulse = s == 0 ? vec3_neg(on_b) : on_b;
        vec3_store(at, vec3_add(vec3_load(at), impulse));
        vec3_store(at + 3, vec3_add(vec3_load(at + 3), vec3_cross(side->arm, impulse)));
    }
}

double problem_row_product(const ContactProblem *problem, uint32_t row, const double *v);
void problem_row_momentum(const ContactProblem *problem, uint32_t row, double r, double *p);
