// SPDX-License-Identifier: MIT
// The stages of a step, each a function over what the stages before it left behind. Only step.c
// calls them.
#pragma once

#include "collide/approach.h"
#include "step/step.h"

// Holds all that a body may reach in this step.
typedef struct StepBall {
    Vec3 center;   // of mass
    double radius; // [m]; infinite: unbounded
} StepBall;

// What the stages of one step share.
typedef struct StepState {
    Stepper *stepper;
    World *world;
    const StepInput *input;
    Arena *scratch;
    Error *error;
    const Solver *solver_row;

    FreeMass *free; // per tree
    ProblemTree *tree;
    double *v_free; // per tree, 6
    uint32_t *body_of_tree;
    double margin;          // at which gap a pair at relative rest becomes a contact [m]
    double touch;           // a smaller gap or overlap counts as none [m]
    double *reach;          // per body: how far it may move towards something in this step [m]
    BroadBox *box;          // per body: holds what it may reach
    uint8_t *is_pushed;     // per body: a faster one may hit it in this step
    bool has_fast;          // some may be moved by more than the thinnest is thick
    StepBall *ball;         // per body
    Pose *placed;           // poses of all primitives in the world
    uint32_t *placed_first; // per body

    uint32_t recovery_count; // contacts whose overlap recovery_speed holds back
    const BroadPair *candidate;
    size_t candidate_count;
    uint32_t *partner_first; // Nullable: seams.c asks for them when it must; body_count + 1
    uint32_t *partner;       // of each body, those it is a candidate with

    SolveResult result;
    double *pose_new;     // 7 per body
    double *velocity_new; // 6 per body; NULL: the answer's
} StepState;

// v* = v + h M^-1 (gravity, wrenches, gyroscopic), world axes, and the mass in the present
// orientation.
Status free_motion_run(StepState *state);

// The spin after a step that nothing touches, of a body that is not round, from that before it and
// the one that its wrenches make of it, before + h I^-1 T; all in world axes, at the old
// orientation.
Vec3 spin_free(const WorldSettings *settings, const FreeMass *mass, double h, Vec3 before,
               Vec3 kicked);

// Boxes, candidates, contacts within reach, sorted.
Status contacts_run(StepState *state);

// A primitive of a body, as it moves in this step.
typedef struct StepPart {
    uint32_t body, index; // of the primitive in the body's shape
    Mover mover;
} StepPart;

// The plane in which two parts meet in this step and the time at which they have come to it. No
// points: they are farther apart than they may come.
double contacts_meet(const StepState *state, const StepPart *a, const StepPart *b,
                     Manifold *manifold);

// Adds the faces of the two parts that a neighbour hides from the other, where the points of the
// manifold, which is of the given time, lie. false: memory ends.
bool seams_find(StepState *state, const StepPart part[2], double time, const Manifold *manifold,
                uint32_t hidden[2]);

// The contact problem, with the impulses of the step before to start from.
Status assemble_run(StepState *state);

// New poses from the new velocities; judges them, and nothing of the world has changed yet.
Status integrate_run(StepState *state);

// The energy book, once new velocities and poses are known.
void energy_run(const StepState *state, StepEnergy *energy);

// Undoes the step as `quantity` of a body cannot be told; the error says so.
Status fault_body(StepState *state, uint32_t body, const char *quantity);

// Undo the step unless all impulses, all that a report carries can be told.
Status fault_check_impulses(StepState *state);
Status fault_check_report(StepState *state, const StepReport *report);

// Makes the new state the world's.
Status integrate_commit(StepState *state);

// What body `body` would move with if nothing touched it; 6 numbers.
static inline const double *stage_free_velocity(const StepState *state, uint32_t body) {
    uint32_t tree = state->stepper->tree_of_body[body];
    return tree == PROBLEM_NO_TREE ? state->world->velocity + 6 * (size_t)body
                                   : state->v_free + 6 * (size_t)tree;
}

static inline StepPart stage_part(const StepState *state, uint32_t body, uint32_t index) {
    const World *world = state->world;
    const double *v = stage_free_velocity(state, body);
    const Shape *shape = &world->shape[world->body_shape[body]];
    return (StepPart){.body = body,
                      .index = index,
                      .mover = {.primitive = &world->primitive[shape->primitive_first + index],
                                .pose = &state->placed[state->placed_first[body] + index],
                                .center = vec3_load(world->pose + 7 * (size_t)body),
                                .velocity = vec3_load(v),
                                .spin = vec3_load(v + 3)}};
}

// Velocity at a point of body `body` moving with the given 6 numbers per body.
static inline Vec3 stage_point_velocity(const double *velocity, Vec3 arm) {
    return vec3_add(vec3_load(velocity), vec3_cross(vec3_load(velocity + 3), arm));
}
