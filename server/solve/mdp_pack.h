// SPDX-License-Identifier: MIT
// A contact problem laid out for sweeping: everything that one contact needs stands together, in
// the order of the sweep, and the velocities of free bodies stand beside their inverse mass. Three
// kinds of contact:
//
//   ball    both sides are free bodies of isotropic inertia, or static, touched in line with their
//           centre: the impulse kept as a world vector, the block problem solved in closed form,
//           four contacts at a time (mdp_ball.h)
//   point   both sides are free bodies or static: frame, arms and the prepared block
//   wide    a dense tree takes part: Jacobian blocks J and responses Y = M^-1 J^T, written out for
//           a free side too
//
// A static side is the body with index tree_count, which has no velocity and no inverse mass, so
// that nothing branches. Per colour, balls come first, then points, then wide contacts: units of
// one colour share no tree, so this is within the order. All memory is the arena's.
#pragma once

#include "solve/certificate.h"
#include "solve/mdp_ball.h"
#include "solve/mdp_block.h"
#include "solve/mdp_colour.h"

typedef struct MdpPoint {
    uint32_t a, b, island;
    Vec3 frame[3];
    Vec3 arm_a, arm_b;
    double impulse[3];
    double before[3]; // the impulse of one sweep earlier
    double offset[3];
    double weight;
    MdpPlan plan;
} MdpPoint;

typedef struct MdpSide {
    double *v;              // borrowed: of a body or of a dense tree; NULL: no such side
    const double *jacobian; // 3 x width
    const double *response; // 3 x width
    uint32_t width;
} MdpSide;

typedef struct MdpWide {
    MdpSide side[2];
    uint32_t island;
    double impulse[3];
    double before[3]; // the impulse of one sweep earlier
    double offset[3];
    double weight;
    MdpPlan plan;
} MdpWide;

// One scalar row; its sides are side[first .. first + count) of the pack.
typedef struct MdpRow {
    uint32_t side_first, side_count;
    uint32_t row; // in the problem
    double bias, compliance, low, high;
    uint32_t island;
    double impulse, before;
    double w;      // G M^-1 G^T
    double weight; // (w / V)^2
} MdpRow;

enum { MDP_JOINT_MAX = 6 };

// Rows solved at once: bilateral rows of one group, or one row that is clipped.
typedef struct MdpJoint {
    uint32_t first, count; // in `row`
    bool is_clipped;
    double factor[MDP_JOINT_MAX * MDP_JOINT_MAX]; // Cholesky of G M^-1 G^T + R
} MdpJoint;

// What a contact is swept as; none: it moves nothing.
typedef enum MdpKind { MDP_NONE, MDP_BALL, MDP_POINT, MDP_WIDE, MDP_KIND_COUNT } MdpKind;

typedef struct MdpRange {
    uint32_t quad, point, wide; // first of a colour
} MdpRange;

// Defined in mdp_direct.h.
typedef struct MdpDirect MdpDirect;

typedef struct MdpPack {
    const ContactProblem *problem;
    const ProblemMass *mass;
    MdpOrder order;
    MdpBody *body;         // [tree_count + 1], the last is static
    Sym3 *inverse_inertia; // [tree_count + 1]
    bool *is_round;        // [tree_count + 1] free, with the same inertia about every axis
    double *dense_v;       // [velocity_count], used at dense trees
    MdpQuad *quad;
    MdpPoint *point;
    MdpWide *wide;
    uint8_t *kind;  // [contact_count] MdpKind
    uint32_t *slot; // [contact_count] its place in `point` or `wide`; its place, counted over quads
    MdpRange range[MDP_COLOUR_MAX + 1];
    uint32_t colour_count;
    MdpRow *row;
    MdpSide *side; // of rows
    MdpJoint *joint;
    uint32_t row_count, side_count, joint_count;
    const uint32_t *island_of_tree; // borrowed
    MdpIsland *island;
    uint32_t island_count;
    double *v_before;  // [velocity_count] velocities of one sweep earlier
    MdpDirect *direct; // NULL: no island is solved at once (mdp_direct.h)
    bool has_aimed;    // the last carry went where mdp_direct_aim said, in some island
} MdpPack;

// Lays the problem out in three parts: begin; a survey of every contact, in order and in ranges
// [begin, end), once `mass` has the range's blocks; and the rest. `answer` declares the relations;
// its impulses are where the sweeps start. While each contact is at hand its J^T gamma is added to
// `momentum` [velocity_count].
Status mdp_pack_begin(const ContactProblem *problem, const ProblemMass *mass, Arena *arena,
                      MdpPack *pack, Error *error);
void mdp_pack_survey(MdpPack *pack, uint32_t begin, uint32_t end);
Status mdp_pack_end(const CertificateScale *scale, const Answer *answer, double *momentum,
                    Arena *arena, MdpPack *pack, Error *error);

// The rows' part of mdp_pack_end (mdp_pack_row.c).
Status mdp_pack_rows(const CertificateScale *scale, const Answer *answer, Arena *arena,
                     MdpPack *pack, Error *error);

// Where the velocities of a tree are swept.
double *mdp_pack_velocity(const MdpPack *pack, uint32_t tree);

// Velocities into the sweep, impulses out of it, and of contacts [begin, end): none of what moves
// nothing, which is not swept.
void mdp_pack_load(MdpPack *pack, const double *v);
void mdp_pack_store_contacts(const MdpPack *pack, uint32_t begin, uint32_t end, Answer *answer);
void mdp_pack_store_rows(const MdpPack *pack, Answer *answer);

// A ball's impulse in the frame of its contact.
static inline void mdp_pack_store_ball(const ProblemContact *contact, const MdpQuad *quad,
                                       uint32_t place, double at[3]) {
    Vec3 impulse =
        vec3(quad->impulse.x.at[place], quad->impulse.y.at[place], quad->impulse.z.at[place]);
    at[0] = vec3_dot(contact->normal, impulse);
    // without friction the tangential part is zero, not rounding
    at[1] = contact->mu == 0.0 ? 0.0 : vec3_dot(contact->tangent[0], impulse);
    at[2] = contact->mu == 0.0 ? 0.0 : vec3_dot(contact->tangent[1], impulse);
}

// One sweep over all rows and contacts: returns the square of the largest change of an impulse, as
// a velocity over V; not finite when anything is not.
double mdp_sweep(MdpPack *pack, bool coulomb);
