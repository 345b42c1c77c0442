// SPDX-License-Identifier: MIT
// The stages of a step, each a function over what the stages before it left behind. Only step.c
// calls them.
#pragma once

#include "step/state/state.h"

// v* = v + h M^-1 (gravity, wrenches, gyroscopic), world axes, and the mass in the present
// orientation.
Status free_motion_run(StepState *state);

// The articulated trees of the step: how many velocities and what memory they take; how they fly
// and their masses; their Jacobians in the contacts; where they come to, and that as the world's
// state.
Status articulate_begin(StepState *state);
Status articulate_fly(StepState *state);
Status articulate_assemble(StepState *state);
Status articulate_land(StepState *state);
void articulate_commit(StepState *state);

// The pose of a link when the problem's velocities v have moved its tree for the step. Who asks for
// one tree at once is one.
Pose articulate_pose_there(const StepState *state, uint32_t body, const double *v);

// The spin after a step that nothing touches, of a body that is not round, from that before it and
// the one that its wrenches make of it, before + h I^-1 T; all in world axes, at the old
// orientation.
Vec3 spin_free(const WorldSettings *settings, const FreeMass *mass, double h, Vec3 before,
               Vec3 kicked);

// The same by stages (integrator rk4), and the spin that brings the body in the step to where these
// do.
typedef struct SpinFlight {
    Vec3 after, turning;
} SpinFlight;
SpinFlight spin_by_stages(const WorldSettings *settings, const FreeMass *mass, double h,
                          Vec3 before, Vec3 kicked);

// Boxes, candidates, contacts within reach, sorted, with the impulses of the step before.
Status contacts_run(StepState *state);

// Memory that the places of a world that sleeps take, and where it is. It begins aligned.
size_t places_bytes(const StepState *state);
void places_take(StepState *state, unsigned char *at);

// Whether what is still may stay where it was placed. If not, all are placed anew.
bool places_begin(StepState *state, double reach_asleep);

// Boxes and candidates, from the margin. Says nothing where it fails.
Status reach_run(StepState *state);

// The smallest of the balls inside the primitives of a body [m]; HUGE_VAL: it has none.
double reach_thickness(const World *world, uint32_t body);

// A way on which a solve of the step took a body farther than anybody had looked.
typedef struct StepThrow {
    uint32_t body;
    Vec3 way; // [m]
} StepThrow;

// Before what is in the way is looked for, in each round: nothing is solved yet, and nobody woken.
void thrown_begin(StepState *state);

// Once there is a new state: whether the step took bodies, from where they were before it (7
// numbers each), farther than anybody had looked, so that they may have gone through others. Who
// did, and their ways, is kept for the next search of what is in the way.
Status thrown_find(StepState *state, const double *before, bool *is_any);

// Gives back what that kept, which outlives the scratch memory of a round.
void thrown_end(StepState *state);

// How far from its centre of mass a body's surface comes [m]; where it has none, or no end, the
// radius of gyration.
double reach_extent(const World *world, uint32_t body);

// A contact as the narrow phase finds it.
typedef struct StepFound {
    uint32_t a, b;           // bodies
    uint32_t part_a, part_b; // of their shapes
    uint64_t feature;
    uint32_t material_a, material_b;
    Vec3 point, normal;
    double gap;                  // as of now [m]
    const Primitive *foundation; // Nullable: the box of whose foundation it is a cell
    bool is_of_face;             // of a surface, not of its ridges and peaks
    double time;                 // of the step at which the bodies meet there [s]
} StepFound;

// Which of two parts stands on a foundation as they are placed, in the place of its corners; -1:
// neither.
int stage_find_foundation(const World *world, const uint32_t body[2],
                          const Primitive *const primitive[2], const Pose *const placed[2]);

// Makes contacts of the problem of what was found, from `place` on; how many of them recovery_speed
// holds back. Blocks of contacts may be made at once.
uint32_t fill_contacts(const StepState *state, const StepFound *found, uint32_t count,
                       uint32_t place);

// What of a contact the substeps of a step follow from one to the next.
typedef struct StepMeeting {
    StepFound found; // its gap as of now
    Vec3 arm[2];     // from the centres of mass to where the two meet
    Vec3 impulse;    // on b so far, world axes [N s]
    double approach; // <= 0: the fastest normal velocity before it pushed [m/s]
    bool has_pushed;
} StepMeeting;

// Makes them again of what their bodies have come to, contacts [first, end) of a step that is
// divided.
uint32_t fill_again(const StepState *state, uint32_t first, uint32_t end);

// Impulses of the step before of `count` contacts from `first` on; likewise.
void assemble_recall(const StepState *state, uint32_t first, uint32_t count);

// The plane in which two parts meet in this step and the time at which they have come to it. No
// points: they are farther apart than they may come.
double contacts_meet(const StepState *state, const StepPart *a, const StepPart *b,
                     Manifold *manifold);

// The contacts of a block of candidates, as they are found (contacts.c).
typedef struct PairBlock PairBlock;

// Where the contacts of a pair of bodies begin in it.
typedef struct PairPlace {
    PairBlock *block;
    uint32_t first;
    bool *asks_partners; // of the block: seams are where nobody listed them
} PairPlace;

// The points of two parts of a manifold, which is not empty and of that time: with the ball inside
// what moves far, as they are now, and those within reach. `beside` is added to the feature of that
// ball: which face, ridge or peak of a surface it is; what lies on its edges is found by several.
void contacts_take(const StepState *state, StepPair *pair, const StepPart part[2], double time,
                   uint64_t beside, Manifold *manifold, const PairPlace *place);

// The contacts of a surface, which is part `s`, and another part (surfaces.c).
void surfaces_collide(const StepState *state, StepPair *pair, const StepPart part[2], int s,
                      const PairPlace *place);

// The partners of each body, which are asked for where seams may be. false: memory ends.
bool seams_list_partners(StepState *state);

// Turns z to a normal; to one that looks down by way of its opposite.
Quat stage_facing(Vec3 normal);

#define SEAM_HIDES_ALL 0x80000000u // what is no box has no contact by a hidden face
#define SEAM_IS_LOOSE  0x40000000u // of the covers some may go their own way: no ground in pieces
#define SEAM_FACES     0x0000003fu // of a box

// A contact on a surface: which of two parts that is, on what side of which triangles, and when;
// one on a face, which has several, or on a ridge.
typedef struct SeamContact {
    int side;
    int of; // 1 or -1, as its normal has it
    double time;
    bool is_face;
    uint32_t count;
    const uint32_t *triangle;
} SeamContact;

// Whether it leans on what neighbours hide. false: their partners are not listed, as below.
bool seams_find_surface(const StepState *state, const StepPart part[2], const SeamContact *contact,
                        const Manifold *manifold, bool *is_hidden, bool *asks_partners);

// Adds the faces of the two parts that a neighbour hides from the other, where the points of the
// manifold, which is of the given time, lie: bits, 1 << a box's face, or those above. Marks when
// it asks for partners. false: they are not listed.
bool seams_find(const StepState *state, const StepPart part[2], double time,
                const Manifold *manifold, uint32_t hidden[2], bool *asks_partners);

// What was found, from `place` on, as substeps will follow it.
void substeps_meet(const StepState *state, const StepFound *found, uint32_t count, uint32_t place);

// Before the first substep: what the world is, in the scratch memory. And that again, where a later
// one fails. NULL: memory ends.
typedef struct StepKept StepKept;
StepKept *substeps_keep(StepState *state);
void substeps_undo(const StepState *state, const StepKept *kept);
const double *substeps_kept_poses(const StepKept *kept);

// Free motion and contacts of a substep, which begins where the one before has ended.
Status substep_begin(StepState *state);

// Takes the world to where a substep ends that is not the last; and of each what is told of the
// whole step: its report added to that of those before.
Status substep_commit(StepState *state);
void substep_report(StepReport *whole, const StepReport *of, uint32_t substep);

// What is told of the contacts of the step once the last has ended, which is not the world's yet;
// and the impulses of all substeps, once it is, in the place of those of the last.
Status substeps_judge(StepState *state);
void substeps_tell(StepState *state);

// The contact problem, of the contacts that there are.
Status assemble_run(StepState *state);

// The contacts of the step as they are where its solver lets the bodies come to (geometry.c);
// borrowed, as is the state.
GeometryAsk geometry_of(const StepState *state);

// The answer, out of the scratch memory, and the new poses; the energy book with them. Judges all
// of it, and nothing of the world has changed yet.
Status integrate_run(StepState *state);

// A body's part of the energy book, once its new velocity and pose are known, and what is added
// once all bodies are in it: the wrenches, and what the book does not explain.
void energy_add_body(const StepState *state, uint32_t tree, StepEnergy *energy);
// The weight of a body or a link in the scale and the swing, moved as under that integrator;
// velocities of its centre of mass.
void energy_add_weight(const StepState *state, uint8_t integrator, double mass,
                       const double *before, const double *after, StepEnergy *energy);
double energy_height(const World *world, uint32_t body);
void energy_add_sleeper(const StepState *state, uint32_t body, StepEnergy *energy);
void energy_fall_asleep(const StepState *state, uint32_t tree, StepEnergy *energy);
void energy_end(const StepState *state, StepEnergy *energy);

// A tree of joints in the book: before it has landed, once its new velocities are known, with links
// as at the begin of the step; and once its links are where it lands.
void energy_begin_tree(const StepState *state, StepTree *tree);
void energy_end_tree(const StepState *state, StepTree *tree);
// Of its links and of armatures, once it has landed.
double energy_of_motion(const StepState *state, const StepTree *tree);

// Undoes the step as `quantity` of a body cannot be told; the error says so.
Status fault_body(StepState *state, uint32_t body, const char *quantity);

// Undoes the step as the mass of a tree is not positive definite.
Status fault_mass(StepState *state);

// Undoes the step unless the numbers of all joints of rows can be told as they will be measured.
Status fault_check_joints(StepState *state);

// Undoes the step unless all that a report carries can be told.
Status fault_check_report(StepState *state);

// Who sleeps as the step begins. Says what failed.
Status rest_begin(StepState *state);

// Wakes the islands that what is awake touches, as the contacts of the step are: true, and the step
// is to be begun again with more bodies awake, or false. Some sleep.
bool rest_wake_touched(StepState *state, int round);

// What contacts start from, of a world where some have been woken.
Status rest_recall(StepState *state);

// Which islands fall asleep with the new state, of which nothing is the world's yet, and what that
// takes out of the energy book.
Status rest_find(StepState *state);

// Puts them to sleep, in the new state, which is the world's.
void rest_commit(StepState *state);

// How hard the solver tries, after steps in which it tried in vain; and what comes of this one.
void patience_begin(StepState *state);
void patience_commit(StepState *state);

// Which bodies the new state puts outside of the bounds; nothing of the world has changed yet.
Status bounds_find(StepState *state);

// Room for all that the world keeps of the step.
Status integrate_reserve(StepState *state);

// Takes bodies, joints and the impulses of rows to the new state.
void integrate_advance(StepState *state);

// Makes the new state the world's.
Status integrate_commit(StepState *state);

// Takes those bodies out of the world.
void bounds_remove(StepState *state);
