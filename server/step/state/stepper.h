// SPDX-License-Identifier: MIT
// What goes with a world from step to step (Stepper), what a step is handed (StepInput), and what
// it tells (StepReport).
#pragma once

#include "base/arena.h"
#include "base/context.h"
#include "collide/broad.h"
#include "solve/solver.h"
#include "world/world.h"

// Who wants to see what the solver was asked and what it answered, before anything moves. The step
// may still fail, and where its answer throws somebody it is asked again (thrown.c): what is seen
// last holds.
typedef struct StepWitness {
    void (*see)(struct StepWitness *witness, const ContactProblem *problem,
                const SolveResult *result);
} StepWitness;

typedef struct StepInput {
    double time_step; // [s]
    size_t wrench_count;
    const uint32_t *wrench_body; // body indices
    const double *wrench;        // 6 each: force at the centre of mass, torque; world axes
    Context context;             // a step that is given up has not happened
    StepWitness *witness;        // Nullable
} StepInput;

// E1 - E0 = contact + row + applied + drive + scheme + unexplained [J], E kinetic, of the weight
// and of springs; E1 is with the bodies that the step removes.
typedef struct StepEnergy {
    double before, after;
    double contact, row; // as those see it who are carried along by what they touch
    double applied;      // wrenches and dampers
    double drive;        // drives, efforts, and bodies that are moved by what is known
    double scheme, unexplained;
    double swing; // of the scheme: what comes back within a period
    double scale; // of all that was done: S (energy.c)
} StepEnergy;

// What the solver left open; of the island that is furthest from being solved, what it is.
typedef struct StepOpen {
    uint32_t islands, islands_open;
    Id body; // a body of it, at its worst contact; 0: none is open
    uint32_t contacts;
    uint32_t reason; // EndReason
    double residual; // e_own
} StepOpen;

// What a convex model added to friction (solve/launch.h).
typedef struct StepLaunch {
    double speed, height; // [m/s], [m]
    Id body[2];           // of the contact with the largest speed; 0: none launches
} StepLaunch;

typedef struct StepReport {
    uint32_t contact_count, row_count, iterations;
    uint32_t asleep_count;   // bodies that sleep after it
    uint64_t solver_ns;      // 0 without a clock, or when nothing touched
    uint32_t recovery_count; // contacts whose overlap would leave faster than recovery_speed
    uint32_t softened_count; // contacts and rows whose targets ccp softened
    uint32_t idle_count;     // contacts and rows that can move nothing, and were left out
    bool has_borrowed;       // what rests or is small took more than a balanced effort
    uint32_t owed_steps;     // in which it will not
    uint32_t removed_count;  // bodies that have left the bounds
    uint32_t broken_count;   // joints that broke: which, the stepper says
    Certificate certificate;
    Id worst_body[2]; // of the contact with the largest own residual; 0: none
    StepOpen open;
    StepLaunch launch;
    StepEnergy energy;
} StepReport;

// A clock that never goes back [ns]. The dynamics read none: who runs a step may hand it one.
typedef uint64_t ClockProc(void);

// What scheme and rows gained beyond what comes back [J]: what is to be told of it, base/gain.h
// says.
static inline double step_gain(const StepEnergy *energy) {
    return energy->row + energy->scheme - energy->swing;
}

// The step that could not be told, and so was undone.
typedef struct StepFault {
    uint64_t step;        // of the world, counted from 1
    Id body;              // 0: a quantity of the whole world
    const char *quantity; // as "velocity"; lives for ever
} StepFault;

// A contact as the world saw it; its dynamics are problem.contact[i].
typedef struct StepContact {
    uint32_t a, b;           // body indices during the step, a < b; stepper_body_id says whose
    uint32_t part_a, part_b; // which primitives of their shapes
    uint64_t feature;
    Vec3 point;
} StepContact;

// Whose work the work of a row is.
typedef enum StepRowKind { STEP_ROW_HOLDS, STEP_ROW_DRIVES, STEP_ROW_SPRINGS } StepRowKind;

// A row as the world saw it: a joint's index during the step, and which part of it.
typedef struct StepRow {
    uint32_t joint, part;
    StepRowKind kind;
    double motion; // what bodies that no force moves add to its rate
    // of a spring: stiffness, stretch, the share of the old rate (spring.h), impulse of its damper
    // per rate, and where it is taken
    double stiffness, stretch, old, damper, share;
} StepRow;

// What a row of a joint does to its two bodies, per unit of its impulse: b is pushed along a
// direction, or turned about it, and a the other way.
typedef struct StepAct {
    Id joint;         // that carries it
    uint32_t body[2]; // a, b: indices during the step, or JOINT_NO_BODY
    uint32_t row;     // STEP_ACT_GIVEN: of none, and the direction is its impulse [N s], [N m s]
    bool is_turn;
    Vec3 direction;
    Vec3 at[2]; // where they are pushed
} StepAct;

#define STEP_ACT_GIVEN UINT32_MAX
#define STEP_ACT_ENDED (UINT32_MAX - 1) // likewise, of a row of a substep before the last

// Whether it is of a row of the problem.
static inline bool step_act_is_of_row(const StepAct *act) {
    return act->row < STEP_ACT_ENDED;
}

enum { STEPPER_MOTION = 10 }; // numbers of a body's motion

// What is told of joints after a step.
typedef struct StepJoints {
    StepAct *act; // [act_count], row by row: of joints of rows
    size_t act_capacity;
    uint32_t act_count;
    double *kept; // [kept_count] trees of joints at the begin of the step (step/joints/wrenches.c)
    size_t kept_count, kept_capacity;
    Vec3 gravity;
    uint8_t integrator, rotation;
    Id *broken; // [broken_count] joints that broke, rising
    size_t broken_capacity;
    uint32_t broken_count;
} StepJoints;

typedef struct Stepper {
    size_t bytes_max; // candidates and contacts that would need more are refused
    Broad *broad;
    unsigned char *memory; // owned; body-sized arrays of the last step, one behind the other
    size_t memory_capacity;

    StepFault fault; // of the last step that left the world faulted

    // the last step; valid while has_last
    double step_time; // [s], of all its substeps
    SolverSettings solver;
    ContactProblem problem;
    double *v;            // [velocity_count] after the solve
    double *impulse;      // [3 contact_count]
    double *judged;       // [2 contact_count] own residuals over V, then target velocities [m/s]
    StepContact *contact; // [contact_count], sorted by (a, b, part_a, part_b, feature)
    ProblemContact *problem_contact;
    ContactLaw *law;
    double *warm;                // 3 per contact
    struct StepMeeting *meeting; // per contact, of a step that is divided (stages.h)
    size_t meeting_capacity;
    size_t contact_capacity, problem_capacity, law_capacity, warm_capacity, impulse_capacity,
        judged_capacity;
    ProblemRow *row;
    RowBlock *row_block;
    StepRow *row_key;    // rising
    double *row_impulse; // [row_count], and as many to start from
    size_t row_capacity, row_block_capacity, row_key_capacity, row_impulse_capacity;
    uint32_t row_count, row_block_count;
    uint32_t idle_row_count; // rows of joints that were none, as they can move nothing
    uint32_t contact_count;  // of the last step
    uint32_t motion_count;   // see `motion`
    bool has_seams : 1; // the last step asked about them: a hint, that changes nothing but its cost
    bool has_last : 1;
    bool has_old_ids : 1; // bodies were removed since
    bool is_divided : 1; // the last step was: `meeting` is of it, and `problem` of its last substep
    bool has_places : 1; // `memory` begins with where the bodies are (stages.h)
    bool has_wrenches : 1; // nothing but steps has happened to the world since
    bool keeps_motion : 1;
    double *number; // mass blocks and Jacobians of articulated trees
    size_t number_count, number_capacity;
    StepJoints *joints; // owned; NULL: there never was one

    // how bodies moved as the last step began, if anybody asks (stepper_keep_motion): 10 each,
    // velocity and orientation, of motion_count bodies in their order during the step
    double *motion;
    size_t motion_capacity;

    uint32_t *tree_of_body; // of each body, in the order of the world's during the step;
                            // PROBLEM_NO_TREE: static or kinematic

    struct Stepper *projector; // owned: only the rows of joints/project.c. NULL: never asked for

    Id *old_id; // where has_old_ids: of what was body i then
    size_t old_id_capacity;
} Stepper;

size_t stepper_bytes(const Stepper *stepper);

// The id of what was body `body` during the last step, which it may not have outlived.
static inline Id stepper_body_id(const Stepper *stepper, const World *world, uint32_t body) {
    return stepper->has_old_ids ? stepper->old_id[body] : world->body_id[body];
}
