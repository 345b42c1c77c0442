// SPDX-License-Identifier: MIT
// What the stages of one step share, and how they look at it.
#pragma once

#include "base/tasks.h"
#include "collide/approach.h"
#include "solve/geometry.h"
#include "step/state/stepper.h"
#include "step/trees/fly.h"
#include "world/world_trees.h"

// Holds all that a body may reach in this step.
typedef struct StepBall {
    Vec3 center;   // of mass
    double radius; // [m]; infinite: unbounded
} StepBall;

// Where pushes may bring bodies in a step (reach.c).
#define STEP_NO_PUSH UINT32_MAX
typedef struct StepPush {
    StepBall to;
    uint32_t next; // of the same body's; STEP_NO_PUSH: there is no more
} StepPush;

typedef struct StepPushes {
    StepPush *push;
    uint32_t count;
    uint32_t *first;   // per body; STEP_NO_PUSH: it is not pushed
    double *own_reach; // per body: `reach`, as it was before
} StepPushes;

// Bodies, trees or contacts of a block: some 10 us of work. Sums over them are made block by block,
// so the number is part of the bits of a report.
enum { STAGE_BLOCK = 256 };

static inline uint32_t stage_block_end(uint32_t block, uint32_t count) {
    uint32_t first = block * STAGE_BLOCK;
    return count - first < STAGE_BLOCK ? count : first + STAGE_BLOCK;
}

// Where bodies are, of a world that sleeps: in the stepper's memory, as those that are still need
// not be placed anew in every step. What they are grown by must be what it was.
typedef struct StepPlaces {
    double margin, reach_asleep; // [m]
    double thinnest;             // of what moves [m]
    size_t primitive_count;
} StepPlaces;

// An articulated tree in a step (articulate.c): what it flies with, and where it comes to.
typedef struct StepTree {
    TreeFlight flight;  // once it has flown: as at the begin of the step, with the free velocities
    bool is_asleep;     // then there is nothing else
    uint32_t problem;   // tree of the problem; PROBLEM_NO_TREE: it has no velocities
    uint32_t link;      // the first of its links among those of all trees
    size_t mass;        // where its masses begin in the problem's numbers
    double extent;      // tree_extent, as at the begin of the step, if contacts or rows ask [m]
    TreeFrame *there;   // its links where a solver asked for them last …
    double *there_with; // … which is where these velocities bring them
    bool is_there;
    double *positions, *velocities; // the new ones

    StepEnergy energy;
    uint32_t body; // of which `quantity` cannot be told
    const char *quantity;
} StepTree;

// The commands that act along the axes of joints (step/joints/commands.h).
typedef struct StepCommands {
    const double *target, *target_velocity, *effort;
    const double *fed;    // of the effort: what is a force, and no row of a motor's
    const double *pulled; // Nullable: what tendons pull with along the axes that they couple
} StepCommands;

// What the solves of a step came to together: one, or that of each substep.
typedef struct StepSolves {
    uint32_t owed;   // each owes steps that have one solve
    bool is_in_vain; // one was
    Launch launch;   // the fastest, and the highest
} StepSolves;

// What the stages of one step share.
typedef struct StepState {
    Stepper *stepper;
    World *world;
    const StepInput *input;
    size_t given_count; // of its wrenches: those behind them are a fluid's
    Arena *scratch;
    Error *error;
    const Solver *solver_row;
    ClockProc *clock;   // Nullable: does not time the solver
    StepReport *report; // of this step, as far as it is known

    // Trees of the problem: dynamic bodies that are awake and of no tree of joints, then the trees
    // of joints that have velocities.
    uint32_t free_count, tree_count;
    size_t velocity_count;
    StepTree *articulated; // of each tree of the world
    uint32_t articulated_count;
    uint32_t wide_link_count; // of those trees that stand in the problem as links
    size_t mass_number_count; // that the masses of trees take, at the begin of the numbers
    double *mass_factor;      // as long: factors of the masses of narrow trees, at their places
    double *link_free;        // per link of all trees, 6: free velocity
    double *link_new;         // likewise, after the step
    TreePair *link_change;    // likewise: acceleration by velocity products; where asked for
    StepCommands command;     // of joints, in this step
    double *under_way;        // of their commands, after it
    size_t under_way_count;
    bool *is_under_way; // per axis: those go on by themselves. NULL: none do
    uint8_t *still;     // per body: is asleep, or rests as those do; NULL: nothing sleeps here
    uint8_t *wakes;     // per island of sleepers, by its first body: wakes in this step
    uint32_t asleep_count;
    bool has_woken;
    StepPlaces *places;          // Nullable; where it is, box … placed_first are kept, and
    uint8_t *is_placed;          // per body: is where it was put in a step before
    double *height;              // per body: of its potential energy, weight times place [J]
    double v_asleep[6];          // what a sleeper would move with if it were awake
    const ContactMemory *memory; // to start from
    size_t memory_count;
    double *rest;         // per tree: for how long it has been at rest after this step [s]
    uint32_t *bed;        // per tree: the island that it falls asleep in, or SLEEP_AWAKE
    uint32_t tired_count; // how many bodies do

    FreeMass *free; // per tree
    ProblemTree *tree;
    ProblemLink *problem_link; // of the wide trees of joints
    double *v_free;            // per free tree 6, then those of the others
    double *turning;           // 3 per free tree: what turns it in free flight; NULL: not by stages
    uint32_t *body_of_tree;
    double margin;            // at which gap a pair at relative rest becomes a contact [m]
    double touch;             // a smaller gap or overlap counts as none [m]
    double ahead;             // the step, and how far the laws of contacts look beyond it [s]
    bool wants_gdot;          // the solver asks for the change of Jacobians
    double *reach;            // per body: how far it may move towards something in this step [m]
    double *spin_reach;       // per body: how much of that is by its spin [m]
    double farthest;          // no body reaches farther [m]
    double speed_reach;       // of a speed, the reach that it makes [s]
    BroadBox *box;            // per body: holds what it may reach
    StepPushes *pushes;       // of bodies that a faster one may hit in this step; NULL: of none
    struct StepThrow *thrown; // owned, Nullable; [thrown_count] (thrown.c)
    size_t thrown_capacity;
    uint32_t thrown_count;
    uint32_t thrown_rounds; // in which there were some
    double thinnest;        // the least thickness of what moves [m]
    bool has_fast;          // some may be moved by more than the thinnest is thick
    StepBall *ball;         // per body
    uint8_t *fixed;         // per body: no force moves it
    Pose *placed;           // poses of all primitives in the world
    uint32_t *placed_first; // per body

    uint32_t idle_contact_count; // contacts that can move nothing
    uint32_t recovery_count;     // contacts whose overlap recovery_speed holds back
    const BroadPair *candidate;
    size_t candidate_count;
    uint32_t *partner_first; // Nullable: listed once seams are asked about; body_count + 1
    uint32_t *partner;       // of each body, those it is a candidate with and may meet
    const bool *near;        // per candidate, listed with those: whether the two may meet
    bool has_surfaces;       // likewise: some shapes are

    uint32_t substep_count, substep; // that the step is divided into; which of them is at work
    double step_time;                // of all of them [s]; `input` has that of one
    double *carried; // Nullable: 6 per joint, impulses of what it locks, of all substeps [N s]

    SolveResult result;   // of the last substep
    StepSolves solves;    // of all of them
    double *pose_new;     // 7 per body
    double *velocity_new; // 6 per body; NULL: the answer's
    uint32_t *kept_first; // per block of contacts: of those that bear something, the first
    uint32_t kept_count;

    struct RankedRow *ranked; // Nullable: rows of joints between trees of joints (step/rows/rank.h)
    struct RowLoops *loops;   // Nullable: what joints of rows close (step/rows/loops.h)
    bool is_projecting;       // rows are of places alone (step/joints/project.c)
    uint32_t *broken;         // joints that broke, rising
    uint32_t broken_count;
    uint32_t *left; // bodies that have left the bounds, rising
    uint32_t left_count;
} StepState;

// A primitive of a body, as it moves in this step.
typedef struct StepPart {
    uint32_t body, index; // of the primitive in the body's shape
    Mover mover;
} StepPart;

// Takes the next part of a block, which is as long as all parts together.
static inline void *stage_take_part(unsigned char **at, size_t count, size_t size) {
    unsigned char *part = *at;
    *at += count * size;
    return part;
}

// The tree of joints that a body is of; NULL: none, or it sleeps. Its link among those of all
// trees.
static inline StepTree *stage_tree(const StepState *state, uint32_t body) {
    uint32_t tree = tree_of_body(state->world->trees, body);
    return tree == TREE_NONE || state->articulated[tree].is_asleep ? NULL
                                                                   : &state->articulated[tree];
}

static inline uint32_t stage_link(const StepState *state, uint32_t body) {
    const WorldTrees *trees = state->world->trees;
    return trees->tree[trees->tree_of_body[body]].link_first + trees->link_of_body[body];
}

// The velocities of a tree of the problem as they were at the begin of the step.
static inline const double *stage_velocities_before(const StepState *state, uint32_t tree) {
    const uint32_t body = state->body_of_tree[tree];
    return tree < state->free_count ? state->world->velocity + 6 * (size_t)body
                                    : stage_tree(state, body)->flight.velocities;
}

// What a dynamic body that is awake moves with after the step, once it has landed; 6 numbers.
static inline const double *stage_velocity_after(const StepState *state, uint32_t body) {
    const uint32_t tree = state->stepper->tree_of_body[body];
    return tree < state->free_count ? state->stepper->v + 6 * (size_t)tree
                                    : state->link_new + 6 * (size_t)stage_link(state, body);
}

// Whether contacts and rows do anything to a tree of the problem, once it is solved.
static inline bool stage_is_pushed(const StepState *state, uint32_t tree) {
    const ProblemTree *of = &state->tree[tree];
    const double *momentum = state->result.answer.momentum + of->first;
    for (uint32_t k = 0; k < of->width; k++) {
        if (momentum[k] != 0.0) {
            return true;
        }
    }
    return false;
}

// As under which integrator the velocities of such a tree move it.
static inline uint8_t stage_integrator(const StepState *state, uint32_t tree) {
    const uint8_t integrator = state->world->settings.integrator;
    return integrator_is_staged(integrator) && stage_is_pushed(state, tree)
               ? integrator_of_pushed(integrator)
               : integrator;
}

// What body `body` would move with if nothing touched it; 6 numbers.
static inline const double *stage_free_velocity(const StepState *state, uint32_t body) {
    uint32_t tree = state->stepper->tree_of_body[body];
    if (tree < state->free_count) {
        return state->v_free + 6 * (size_t)tree;
    }
    if (stage_tree(state, body) != NULL) {
        return state->link_free + 6 * (size_t)stage_link(state, body);
    }
    return state->world->kind[body] == BODY_DYNAMIC ? state->v_asleep
                                                    : state->world->velocity + 6 * (size_t)body;
}

static inline bool stage_is_still(const StepState *state, uint32_t body) {
    return state->still != NULL && state->still[body];
}

static inline bool stage_is_asleep(const StepState *state, uint32_t body) {
    return stage_is_still(state, body) && state->world->kind[body] == BODY_DYNAMIC;
}

// Whether what a joint joins is asleep, all of it, so that nothing is to be done about it.
// What couples joints sleeps with all of them, but what joints fix to the world never does.
static inline bool stage_joint_sleeps(const StepState *state, const Joint *joint) {
    bool sleeps = false;
    for (uint32_t i = 0; !sleeps && i < world_joint_end_count(joint); i++) {
        const uint32_t body = world_joint_end(state->world, joint, i);
        sleeps = body != JOINT_NO_BODY && stage_is_asleep(state, body);
    }
    return sleeps;
}

// Whether a faster body may hit one of the two in this step.
static inline bool stage_is_pair_pushed(const StepState *state, uint32_t a, uint32_t b) {
    const StepPushes *pushes = state->pushes;
    return pushes != NULL && (pushes->first[a] != STEP_NO_PUSH || pushes->first[b] != STEP_NO_PUSH);
}

// How far apart two bodies may be, and come together in this step [m]. Bodies that fall side by
// side do not.
static inline double stage_reach_between(const StepState *state, uint32_t a, Vec3 free_a,
                                         uint32_t b, Vec3 free_b) {
    const double apart = state->reach[a] + state->reach[b];
    if (stage_is_pair_pushed(state, a, b)) {
        return state->margin + apart;
    }
    const double together = state->speed_reach * vec3_norm(vec3_sub(free_b, free_a)) +
                            state->spin_reach[a] + state->spin_reach[b];
    return state->margin + (together < apart ? together : apart);
}

static inline double stage_pair_reach(const StepState *state, uint32_t a, uint32_t b) {
    return stage_reach_between(state, a, vec3_load(stage_free_velocity(state, a)), b,
                               vec3_load(stage_free_velocity(state, b)));
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

static inline bool stage_boxes_overlap(const BroadBox *a, const BroadBox *b) {
    return a->lower.x <= b->upper.x && b->lower.x <= a->upper.x && a->lower.y <= b->upper.y &&
           b->lower.y <= a->upper.y && a->lower.z <= b->upper.z && b->lower.z <= a->upper.z;
}

// What the contacts of one pair of bodies have in common.
typedef struct StepPair {
    uint32_t a, b;
    const double *free_a, *free_b;   // 6
    Vec3 center_a, center_b;         // of mass; where they are when the plane is theirs
    uint32_t material_a, material_b; // of `material`; UINT32_MAX: none yet
    Material material;
} StepPair;

static inline StepPair stage_no_pair(void) {
    return (StepPair){.material_a = UINT32_MAX, .material_b = UINT32_MAX};
}

// Where a and b have come to at that time: the arms are as they are then.
static inline void stage_load_pair(const StepState *state, StepPair *pair, uint32_t a, uint32_t b,
                                   double time) {
    const double *pose = state->world->pose;
    pair->a = a;
    pair->b = b;
    pair->free_a = stage_free_velocity(state, a);
    pair->free_b = stage_free_velocity(state, b);
    pair->center_a =
        vec3_add_scaled(vec3_load(pose + 7 * (size_t)a), time, vec3_load(pair->free_a));
    pair->center_b =
        vec3_add_scaled(vec3_load(pose + 7 * (size_t)b), time, vec3_load(pair->free_b));
}

static inline void stage_set_materials(const World *world, StepPair *pair, uint32_t a, uint32_t b) {
    if (pair->material_a == a && pair->material_b == b) {
        return; // most pairs of a scene are of the same two materials as the pair before
    }
    pair->material = world_combine_materials(world, a, b);
    pair->material_a = a;
    pair->material_b = b;
}

// The step, and how far the law of such a contact looks beyond it [s]: no farther than this, as it
// is multiplied with speeds that may be 0, and a stiffness may be next to none, or none at all.
#define STAGE_AHEAD_MOST 1e40

static inline double stage_ahead(const StepState *state, const Material *material) {
    const double h = state->input->time_step;
    SolverTimeProc *of = state->solver_row->time;
    return of == NULL ? h
                      : h + fmin(of(state->stepper->solver.parameter, material->stiffness,
                                    material->dissipation_time, material->damping),
                                 STAGE_AHEAD_MOST);
}

// Of b against a, at a point of the contact.
static inline Vec3 stage_free_velocity_at(const StepPair *pair, Vec3 point) {
    return vec3_sub(stage_point_velocity(pair->free_b, vec3_sub(point, pair->center_b)),
                    stage_point_velocity(pair->free_a, vec3_sub(point, pair->center_a)));
}
