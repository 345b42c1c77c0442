// SPDX-License-Identifier: MIT
// A group: many worlds that begin alike, stepped together for a learner, with rows of numbers in
// and out (layout.h). What an episode is, how it begins and ends, is said at message Group of
// the protocol; this is the one place that does it, without a thread, a clock or a message:
//
//   group_create ──► group_add_world … (any lane) ──► a call: rows of some worlds
//                                                       group_run_row for each, on any lane
//
// Rows of one call, and worlds, are independent of each other: they may be run in any order and at
// the same time, and what comes out does not depend on it. One world is in one call at a time. A
// step of a row allocates nothing once the worlds' own memory has grown.
//
// What changes the worlds is a GroupCall alone: which worlds, and their actions, or their seeds and
// starts. Carried out again on worlds made alike it gives the same.
#pragma once

#include "base/arena.h"
#include "base/budget.h"
#include "base/context.h"
#include "run/worlds/apply.h"
#include "run/groups/layout.h"
#include "run/groups/push.h"
#include "run/worlds/watch.h"

enum { GROUP_WORLDS_MAX = 65536, GROUP_SUBSTEPS_MAX = 1000000 };

// The numbers are those of the wire.
typedef enum Autoreset {
    AUTORESET_NEXT_STEP,
    AUTORESET_SAME_STEP,
    AUTORESET_DISABLED,
    AUTORESET_COUNT
} Autoreset;

typedef enum NoiseKind { NOISE_UNIFORM, NOISE_GAUSSIAN, NOISE_COUNT } NoiseKind;

typedef struct NoiseDef {
    NoiseKind kind;
    double low, high, mean, deviation;
} NoiseDef;

// The numbers are those of the wire. The kinds of joints begin with GROUP_PARAMETER_JOINT_LOW, in
// the order of JointNumber.
typedef enum GroupParameterKind {
    GROUP_PARAMETER_BODY_MASS,
    GROUP_PARAMETER_BODY_POSE,
    GROUP_PARAMETER_JOINT_POSITION,
    GROUP_PARAMETER_MATERIAL_FRICTION,
    GROUP_PARAMETER_MATERIAL_RESTITUTION,
    GROUP_PARAMETER_GRAVITY,
    GROUP_PARAMETER_JOINT_LOW,
    GROUP_PARAMETER_JOINT_END = GROUP_PARAMETER_JOINT_LOW + JOINT_NUMBER_COUNT,
    GROUP_PARAMETER_BODY_GEOMETRY = 64, // behind all numbers that joints may come to have
    GROUP_PARAMETER_BODY_INERTIA,
    GROUP_PARAMETER_BODY_CENTER_OF_MASS
} GroupParameterKind;

bool group_parameter_is_known(uint64_t kind);
// The geometry of that id, which must be whole (world_wear).
Status group_wear(World *world, uint32_t body, double id, Error *error);

typedef struct GroupParameterDef {
    GroupParameterKind kind;
    const char *name; // of body, joint or material, or #n; NULL: not given
    uint64_t id;      // 0: not given
    size_t count;
    const double *values;
} GroupParameterDef;

enum { GROUP_OPINION_LAG_MAX = 1024 };

// Steps that are solved again (opinion.h), and certificates that are judged.
typedef struct GroupOpinionDef {
    bool is_asked; // else nothing of it counts
    double share;  // of steps that are solved again
    double tolerance;
    double doubt; // a step with a larger e_ds, or one that did not converge, is doubtful
    uint32_t lag; // calls behind which opinions come
} GroupOpinionDef;

typedef struct GroupDef {
    uint32_t count;
    uint64_t seed, first_world;
    LayoutDef action, observation, extra, bounds, noise;
    const NoiseDef *drawn; // [noise.count]
    size_t parameter_count;
    const GroupParameterDef *parameter;
    size_t push_count;
    const PushDef *push;
    uint32_t substeps;
    double time_step; // [s]; 0: the template's
    uint64_t step_limit;
    Autoreset autoreset;
    bool is_double; // rows of doubles, else of floats
    GroupOpinionDef opinion;
} GroupDef;

// Judges what needs no template. Blames fields of GroupCreate.
Status group_def_check(const GroupDef *def, Error *error);
// Its part of opinions (opinion.c).
Status group_opinion_check(const GroupOpinionDef *def, Error *error);

typedef struct GroupWorld {
    World *world;     // owned; NULL: not made yet
    Stepper *stepper; // owned
    double *action;   // [action columns] as applied last; in the group's memory
    uint64_t seed;
    uint64_t episode;  // the one that goes on, or the next one
    uint64_t length;   // steps of the group in it …
    uint64_t doubtful; // … and those of them with bad certificates, if somebody asks
    double begun;      // [s] of the world, when it began
    uint32_t substep;  // done of the step under way
    bool is_running;   // an episode goes on
    // what its channels feel of its last substep stands in `felt`: it was read, or the world put in
    // from a key-frame, and nothing has happened to it since
    bool has_felt;
    double *felt;   // [felt_count] in the group's memory: of observation, extra, bounds
    double *sensor; // [sensor_count] likewise (sensor.h): of observation, extra
    // Nullable, borrowed: shown what each row has left. Any thread sets it; who takes it away sees
    // to it that no row of this world is under way
    _Atomic(Watch *) watch;
} GroupWorld;

typedef struct GroupParameter {
    GroupParameterKind kind;
    uint64_t id;     // of body, joint or material
    uint32_t stride; // numbers per world
    double *values;  // [count stride] in the group's memory
} GroupParameter;

// Bodies that actions and pushes act on.
typedef struct GroupBodies {
    uint32_t count;
    uint32_t *body; // of the template, rising
} GroupBodies;

typedef struct Group {
    uint32_t count;
    uint64_t first_world;
    uint32_t substeps;
    double time_step;
    uint64_t step_limit;
    Autoreset autoreset;
    bool is_double;
    Arena memory;    // layouts, worlds
    World *template; // owned: never stepped
    uint64_t template_hash;
    uint8_t *snapshot; // owned: of the template
    size_t snapshot_bytes;
    Layout action, observation, extra, bounds, noise;
    NoiseDef *drawn; // [noise.channel_count]
    GroupParameter *parameter;
    size_t parameter_count;
    GroupBodies pushed, mover; // with forces and torques, by chance too; with velocities
    PushDef *push;             // [push_count], at random moments; its names are not kept …
    uint32_t *push_body;       // … but whom it pushes, of the template
    size_t push_count;
    size_t felt_count;   // numbers that are felt in a world
    size_t sensor_count; // numbers of what stands between a world and its rows
    GroupWorld *world;   // [count]
    // of a group of one world
    StepReport *report; // borrowed, Nullable: gets that of each substep
    ClockProc *clock;   // Nullable: times the solver in each
    GroupOpinionDef opinion;
    Budget opinion_memory;          // of what is kept to be solved again …
    _Atomic uint64_t opinions_lost; // … and how much was not, as that has ended
} Group;

// A group without worlds, of a template that it owns from now on, also when it fails.
Status group_create(const GroupDef *def, World *template, Group **group, Error *error);
void group_destroy(Group *group);

// Makes world i, once. Different ones on different lanes at the same time.
Status group_add_world(Group *group, uint32_t i, Error *error);

// Of the worlds [first, first + count), which no call is on.
size_t group_bytes(const Group *group, uint32_t first, uint32_t count);
size_t group_own_bytes(const Group *group); // beside them

// ---- calls

// GROUP_READ changes nothing: rows are read of worlds as they stand.
typedef enum GroupVerb { GROUP_STEP, GROUP_RESET, GROUP_READ } GroupVerb;

enum { GROUP_TERMINATED = 1, GROUP_TRUNCATED = 2 };

// What became of a row.
typedef struct GroupRow {
    struct GroupCase *kept; // Nullable: to be solved again; owned by whoever takes it
    bool is_doubtful;       // the group has an opinion, and a substep's certificate is bad
    bool is_begun, has_failed;
    bool has_faulted; // by a step whose numbers would not be finite
    bool is_skipped;  // nothing was done
    bool was_cut;     // its step was stopped, behind as many substeps as its world says
    bool has_hash;
    uint8_t ended; // GROUP_* bits; 0: its episode goes on
    uint32_t unconverged;
    bool has_gained;                // energy, as StepTally tells of a call
    Gain gain;                      // of its substeps so far
    uint64_t episode, seed, length; // of what ended
    uint64_t final_hash;            // of the state it ended with
    uint64_t hash;                  // has_hash: of the state as it is now
} GroupRow;

// Everything but `group` lives in the caller's memory; of rows that are floats or doubles, only
// those of the group's precision are there.
typedef struct GroupCall {
    Group *group;
    GroupVerb verb;
    size_t count;          // rows
    const uint32_t *world; // [count] rising; NULL: all
    // 0: never; else states are hashed behind so many steps of an episode, and 0, and its last
    uint32_t hash_steps;

    // of a step: one of the two, rows of the action
    const float *action;
    const double *action_double;
    // of a reset
    size_t seed_count; // 0: go on; 1: of all; or one per row
    const uint64_t *seed;
    const double *values; // NULL: draw; else rows of the noise

    // of a step that was recorded: each row's ends undone behind so many substeps, where that is
    // not all of them, as it did then. NULL: it does not
    const uint32_t *cut;

    // Rows are left, as if they were stopped, once their actions are in force, and behind each
    // substep.
    bool is_paced;

    // out
    GroupRow *row;
    Error *error; // set where a row has failed
    void *observation, *extra, *final_observation, *final_extra;
} GroupCall;

static inline uint32_t group_call_world(const GroupCall *call, size_t row) {
    return call->world == NULL ? (uint32_t)row : call->world[row];
}

// Room for what comes out; no row is begun. false: memory ends.
bool group_call_take(GroupCall *call, Arena *arena);

// Judges what is wrong with the call as a whole. Blames fields of the call.
Status group_call_check(const GroupCall *call, Error *error);

// Carries out a row. false: `stop` of the context said so, in the middle: it is to be called again,
// or given up. `scratch` is used and given back.
bool group_run_row(GroupCall *call, size_t row, Arena *scratch, const Context *context);

// Ends a row that was not begun, or is in the middle: it fails.
void group_give_up_row(GroupCall *call, size_t row, const Error *why, Arena *scratch);

// What a watch of a world sees, between two calls.
WatchView group_view(const Group *group, uint32_t i, const Watch *watch);

// Whether any layout feels how bodies were accelerated, so that steppers must keep how they moved.
bool group_feels_motion(const Group *group);

// An episode begins: nothing of it has been told.
void group_begin_sensors(const Group *group, GroupWorld *world);

// Sees to it that what its channels feel of its last substep stands in `felt`.
Status group_feel(const Group *group, GroupWorld *world, Arena *scratch, Error *error);

// The wrenches that are held during the step under way, by the action applied last and by chance:
// [group->pushed.count] six each.
void group_read_push(const Group *group, const GroupWorld *world, double *wrench);

// Whether a step that left a world like this would end an episode by termination. `time_step`: the
// world's own in that step.
bool group_is_terminal(const Group *group, GroupWorld *world, double time_step, Arena *scratch);

// For group.c: finds what the parameters are of; blames parameters[i].joint and the like.
Status group_compile_parameters(Group *group, const GroupDef *def, Error *error);

// Wakes the template where worlds are to differ from it in what defines them: who sleeps there may
// not be at rest in them, and a reset copies who sleeps.
void group_rouse_template(Group *group);

// Sets world i's own numbers: those that define it, or, `is_state`, those that it begins with.
// Blames parameters[i].values[k].
Status group_set_parameters(Group *group, uint32_t i, bool is_state, Error *error);

// For step.c: a row of a world that is watched is done; a substep of it is, not counted yet.
void group_show_row(Watch *watch, const GroupCall *call, size_t row);
void group_tally_substep(Watch *watch, const GroupWorld *of, const StepReport *report);

// For step.c: begins a world's next episode. `values` NULL: drawn.
Status group_begin_episode(Group *group, uint32_t i, const double *values, Arena *scratch,
                           Error *error);
