// SPDX-License-Identifier: MIT
// A contact problem laid out for sweeping: everything that one contact needs stands together, in
// the order of the sweep, and the velocities of free bodies stand beside their inverse mass. Three
// kinds of contact:
//
//   ball    both sides are free bodies of isotropic inertia, or static, touched in line with their
//           centre: the impulse kept as a world vector, the block problem solved in closed form,
//           four contacts at a time (ball.h)
//   point   both sides are free bodies or static: frame, arms and the prepared block, four contacts
//           at a time (point.h)
//   wide    a dense tree takes part, or a body that joints hold: Jacobian blocks J and responses
//           Y = M^-1 J^T, written out for a free side too
//
// A static side is a body that has no velocity and no inverse mass, so that nothing branches. Every
// group and every stretch has one of its own, behind the trees, because sweeps write to it.
//
// What is swept together is a *group*: the small islands of one share (island.h), so that quads of
// balls fill, or one large island. A group is swept in *stages*, the contacts of one kind and one
// colour, which share no tree but within units; per colour balls come first, then points, then wide
// contacts. The stages of a large island are cut into *stretches* that may be swept at once; a
// stretch cuts no unit, and has sums of its own, which are added in their order. So what a sweep
// does to an island depends on nothing but the island. All memory is the arena's.
#pragma once

#include "solve/judge.h"
#include "solve/mdp/ball.h"
#include "solve/block.h"
#include "solve/mdp/colour.h"
#include "solve/mdp/point.h"

typedef struct MdpSide {
    double *v;              // borrowed: of a body or of a dense tree; NULL: no such side
    const double *jacobian; // 3 x width
    const double *response; // 3 x width
    uint32_t width;
    double *pushed; // what it is pushed is counted here as well (reach.h); NULL: nowhere
} MdpSide;

typedef struct MdpWide {
    MdpSide side[2];
    const MdpSide *more; // that its joints push, beside: no Jacobians
    uint32_t more_count;
    uint32_t island; // counted in the group, here and below
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

// Defined in linkage.h.
typedef struct MdpLinkage MdpLinkage;

// Rows solved at once: bilateral rows of one group, or of a whole island, or one row that is
// clipped.
typedef struct MdpJoint {
    uint32_t first, count; // in `row`
    bool is_clipped;
    MdpLinkage *linkage;                          // of an island's rows; NULL: `factor` solves them
    double factor[MDP_JOINT_MAX * MDP_JOINT_MAX]; // Cholesky of G M^-1 G^T + R
} MdpJoint;

// How an island stands, and its momentum (momentum.h).
typedef struct MdpIsland {
    double enough;         // the largest change of a sweep that has it judged, over V
    double age;            // Nesterov's t
    double gap;            // the ratio stays below 1 - gap
    double residual_least; // since the momentum began
    double residual_last;  // when the momentum before ended
    double residual_plain; // of the sweep before, while `plain` counts
    uint32_t plain;        // sweeps without momentum on the way to a leap
    uint32_t wait;         // carries until the next aim (direct.h)
    uint32_t wait_first;   // ... until the first
    uint32_t wait_next;    // ... and after that one, if it fails
    uint32_t sweeps, sweep_max;
    uint32_t look;      // at so many sweeps it is judged, enough or not
    uint32_t aims_paid; // sweeps that its aims took as long as
    bool is_held;       // its momentum: sweeps are counted, and it is on the move
    bool has_no_aim;    // it will have ended before its first
    bool is_fresh;      // its momentum begins with the next sweep: there is nothing to carry
    bool aims;          // the last carry was a leap to where an aim said
    bool leaps;         // the last carry was a leap
} MdpIsland;

// What an island has taken of its sweeps: its aims count as what they take as long as.
static inline uint32_t mdp_island_taken(const MdpIsland *island) {
    return island->sweeps + island->aims_paid;
}

// It has none left, unless it is given more.
static inline bool mdp_island_is_swept(const MdpIsland *island) {
    return mdp_island_taken(island) >= island->sweep_max;
}

// Where sweeps are counted (anytime.c): momentum is held.
typedef struct MdpCount {
    uint32_t aim;      // sweeps that an aim counts as
    uint32_t wait;     // of an island that is on the move, before its first aim
    uint32_t settling; // the last sweeps of an island, which have no momentum
} MdpCount;

// Contacts that are swept one after the other.
typedef struct MdpSpan {
    uint32_t begin, end;           // in the quads of balls or of points, or in `wide`
    uint32_t note_begin, note_end; // of points, in `note`
} MdpSpan;

typedef struct MdpStretch {
    MdpSpan span;
    MdpSum sum;
} MdpStretch;

typedef struct MdpStage {
    MdpKind kind;
    bool is_last; // of the last colour: any two contacts may share a tree
    MdpSpan span;
    uint32_t stretch_begin, stretch_end; // of a large island
} MdpStage;

// Defined in direct.h.
typedef struct MdpDirect MdpDirect;
typedef struct MdpAim MdpAim;
// Defined in plain.h.
typedef struct MdpPlain MdpPlain;

typedef struct MdpGroup {
    uint32_t share, share_count; // of the islands
    uint32_t island_begin, island_end;
    IslandRange range;
    bool is_large;
    uint32_t colour_count;
    uint32_t stage_begin, stage_end;
    uint32_t stretch_begin, stretch_end;
    uint32_t joint_begin, joint_end;
    uint32_t first[MDP_KIND_COUNT];    // of its quads, of balls and points, wide contacts …
    uint32_t count[MDP_KIND_COUNT];    // … and how many
    size_t number_first, number_count; // of its wide contacts
    double operations;                 // of a sweep, about
    uint32_t sweeps;                   // taken since it was last asked whether to stop
    uint32_t open;                     // islands that are not done
    MdpAim *aim;                       // what it aims with; NULL: it does not
} MdpGroup;

typedef struct MdpPack {
    const ContactProblem *problem;
    const Judge *judge;
    MdpBody *body;               // of trees; static ones of groups; static ones of stretches
    MdpInertia *inverse_inertia; // of the same
    uint8_t *kind_of_tree; // [tree_count] MdpKind of contacts that nothing else makes another: ball
                           // where its inertia is the same about every axis
    double *dense_v;       // [velocity_count], used at dense trees
    double *v_before;      // [velocity_count] velocities of one sweep earlier
    MdpQuad *quad;
    MdpPoints points;
    uint32_t *point_contact; // of each place of their quads; PROBLEM_NO_TREE: it is empty
    MdpWide *wide;
    // of the contact at each place of the list of islands
    MdpPair *pair;
    uint8_t *kind; // MdpKind
    uint8_t *colour;
    uint32_t *order;   // places of a group, stage by stage
    uint32_t *slot;    // in `wide`; of balls and points, counted over the places of quads
    MdpNote *note;     // of points, in that order: sums are taken in it
    size_t *number_at; // of wide contacts in `number`, counted in the group; NULL: all are free
    uint64_t *used;    // [tree_count] colours
    double *number;    // Jacobian blocks and responses of wide contacts
    MdpGroup *group;
    uint32_t *group_of_share;
    uint32_t group_count;
    MdpStage *stage;
    MdpStretch *stretch;
    uint32_t stretch_count;
    MdpRow *row;
    MdpSide *side;          // of rows
    MassResponse *response; // of rows' blocks, as the problem has them
    uint32_t *unit;         // scratch: where the rows of joints begin
    MdpJoint *joint;
    uint32_t row_count, side_count, joint_count;
    MdpIsland *island; // [islands]
    MdpSum *sum;       // [islands]
    MdpDirect *direct; // NULL: no island was aimed at yet (direct.h)
    MdpCount count;    // where sweeps are counted
    bool is_plain;     // every contact is wide, and is swept in the order of the problem …
    MdpPlain *plain;   // … as this says (plain.h); NULL: by stages
} MdpPack;

// A sweep over a point takes as long as so many multiplications of Newton's method: 48 to 94 of
// them, from 12 to 5,000 contacts, where `moreau bench rates` measures both.
#define MDP_SWEEP_MULTIPLICATIONS 65.0
// Balls are swept eight at a time, about.
enum { MDP_BALLS_PER_POINT = 8 };

// Contacts and rows of an island, in points that take as long to sweep.
double mdp_pack_points(const MdpPack *pack, uint32_t island);

// Lays the problem out: begin, before the judge's survey; mdp_pack_survey is what the survey calls
// (`solver` is the pack); and end, once it is done. Impulses are those of the answer.
Status mdp_pack_begin(Judge *judge, bool is_plain, MdpPack *pack);
JudgeSurvey mdp_pack_survey;
Status mdp_pack_end(Judge *judge, MdpPack *pack);

// The block that a contact is swept with: one that is singular is made regular.
MdpBlock mdp_pack_block(const MassBlock *block, double mu);

// Fills the quads of a stage of points, or of a stretch of it, which has a static body of its own
// (pack_point.c).
void mdp_pack_fill_points(const MdpPack *pack, const MdpGroup *group, const MdpSpan *span,
                          uint32_t nobody);

// The parts of mdp_pack_end that are about the order (pack_order.c) and rows (pack_row.c).
Status mdp_pack_order(Judge *judge, MdpPack *pack);
Status mdp_pack_rows(Judge *judge, MdpPack *pack);

// Whether an island is swept at all: squares of its velocities must be numbers.
#define MDP_SCALE_MAX 1e100 // [m/s]
static inline bool mdp_pack_sweeps(const MdpPack *pack, uint32_t island) {
    return pack->judge->scale.v_scale[island] <= MDP_SCALE_MAX;
}

// Where the velocities of a tree are swept.
double *mdp_pack_velocity(const MdpPack *pack, uint32_t tree);

// Velocities of trees at places [begin, end) of the list into the sweep.
void mdp_pack_load(const MdpPack *pack, const double *v, uint32_t begin, uint32_t end);

// Impulses out of it, of contacts at places [begin, end), zeros of what moves nothing, and of the
// rows of islands [begin, end) of a group.
void mdp_pack_store_contacts(const MdpPack *pack, uint32_t begin, uint32_t end);
void mdp_pack_store_rows(const MdpPack *pack, const MdpGroup *group, uint32_t begin, uint32_t end);

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

static inline void mdp_pack_store_point(const MdpPointQuad *quad, uint32_t place, double at[3]) {
    at[0] = quad->impulse[0].at[place];
    at[1] = quad->impulse[1].at[place];
    at[2] = quad->impulse[2].at[place];
}

// One sweep over all rows and contacts of a group, into the sums of its islands, which begin at 0.
// Large ones are swept with the judge's tasks. Fails with ABORTED only, and only large ones do.
Status mdp_sweep(Judge *judge, MdpPack *pack, const MdpGroup *group, bool coulomb);

// Adds the impulses of a group to its velocities.
Status mdp_sweep_start(Judge *judge, MdpPack *pack, const MdpGroup *group);

// One contact, or one joint, solved at the velocities that its sides have, and pushed on by.
void mdp_sweep_wide(MdpWide *wide, bool coulomb, MdpSum *sum);
void mdp_sweep_joint(const MdpPack *pack, const MdpJoint *joint, MdpSum *sum);

// Adds its impulses to the velocities of its sides.
void mdp_sweep_push_wide(const MdpWide *wide);
void mdp_sweep_push_joint(const MdpPack *pack, const MdpJoint *joint);
