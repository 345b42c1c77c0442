// SPDX-License-Identifier: MIT
// Steps an episode again inside the viewer's page: reads its chunks, applies its inputs with the
// server's own dynamics and compares the hash of the state after each change and each step. Built
// to WebAssembly (deploy/web); there is one world per instance of the module.
//
//   prove_buffer, prove_keyframe ──► a world          prove_buffer, prove_inputs ──► what to do
//   prove_next, prove_next …     ──► step by step     prove_report, prove_frame, prove_contacts
//
// Pointers that are returned are good until the next call of any function but these last three.
#pragma once

#include <stddef.h>
#include <stdint.h>

typedef enum ProveNext {
    PROVE_FAILED = -1, // prove_message says what differs, or what is damaged
    PROVE_END = 0,     // of these inputs
    PROVE_STEP = 1,    // taken, and its hash was right, where there is one
    PROVE_FAULT = 2,   // failed as it had when it was recorded, and its hash was right
    PROVE_SAME = 3 // of a trial: taken, and the state behind it is the one that was recorded, or,
                   // of a substep, that was stepped to
} ProveNext;

uint32_t prove_version(void); // of the dynamics

// Room for a chunk of so many bytes; NULL: memory ended.
uint8_t *prove_buffer(size_t count);

// What stands in the buffer is the chunk of a geometry, which key-frames, inputs and definitions
// behind it name. 0: it is, and its bytes are those of its name.
int prove_geometry(size_t count);

// What stands in the buffer is a chunk: a key-frame, whose state the world becomes; inputs that are
// to be carried out. 0: it is; -1: prove_message says why not.
int prove_keyframe(size_t count);
int prove_inputs(size_t count);

// What stands in the buffer is the definition of a group: what is stepped from now on is an episode
// of this one of its worlds, of which prove_episode says which: of a seed, the turn-th of it, begun
// and ended by these calls on the world's range, counted from 1. It begins with inputs, the chunks
// of the range from that on which has the call that began it, or with one of the range's key-frames
// from the episode's midst, and inputs behind that. begun_call 0: `before` steps of it were taken
// before the recording began, and the range's first key-frame has what it was then. A step of it
// is one of the group, with all of its substeps.
int prove_group(size_t count, uint32_t world);
void prove_episode(uint64_t seed, uint64_t turn, uint64_t begun_call, uint64_t ended_call,
                   uint64_t before);

// Substeps, their length [s]; 1: it has an opinion (GroupOpinion), the share of steps that were
// solved again, how exactly, the e_ds above which a step is doubtful; states are hashed behind so
// many steps. NULL: it is no group.
enum { PROVE_GROUP_COUNT = 7 };
const double *prove_group_numbers(void);

// Steps, or of a group calls on the range, that are behind; up to which step of it hashes were
// compared: there is one behind each step of a single world.
double prove_place(void);
double prove_compared(void);

// Of a group's episode, of all its substeps so far: the energy that they gained from nothing, the
// scale beside which that is judged, and the most of a substep beyond its own share [J]
// (server/base/gain.h). NULL: it is no group.
enum { PROVE_GAIN_COUNT = 3 };
const double *prove_gain(void);

// Takes the next step, and carries out the changes before it.
ProveNext prove_next(void);

// The chunk in the buffer is a key-frame, and the world's state that of another one or of this: 0:
// every byte is the same.
int prove_compare(size_t count);

// What stands in the buffer is the definition, or the first scene, of the recording whose first
// key-frame, or group, is at hand, and nothing was stepped. 0: it is that of the state there.
int prove_definition(size_t count);
int prove_scene(size_t count);

// The list of the episodes of a range of a group's worlds, from this world on: then its chunks, as
// they stand in the buffer, of their kinds: those of finished episodes, the range's first key-frame
// where that is in front of all calls, and the calls in order; then what comes of it. `is_whole`:
// whoever recorded it ended it. 0: nothing is missing, doubled or another one.
int prove_list(double first_world, uint32_t world_range);
int prove_list_chunk(size_t count, uint32_t kind);
int prove_list_end(int is_whole);

double prove_step(void); // of the recording
const char *prove_message(void);

// Of the last step: the eight entries of the certificate, 1 when it converged, deepest overlap [m],
// contacts, rows, iterations, tolerance, energy before, after, applied [J], index of the worst
// contact or -1, of a trial the solver's time [ns]; how many substeps it had, how many of them did
// not converge, which was the worst, 1 when it is doubtful. Of several substeps each number is the
// worst of all, contacts and rows are the last one's.
enum { PROVE_REPORT_COUNT = 23 };
const double *prove_report(void);

// The worst contact of the last step, or of its worst substep: ids of its bodies, their parts, its
// feature. NULL: none moved anything.
const uint64_t *prove_worst(void);

// Addresses and counts. Frame: bodies, ids, poses, velocities, time; joint positions, joint
// velocities (how many), and their positions, velocities, targets, target velocities, efforts; per
// body the id of the one geometry that it wears, 0: it wears none, or several. Contacts: count, a,
// b, part of a, part of b, feature, point, frame, gap, impulse, velocity, friction. NULL: memory
// ended, or there has been no step.
enum { PROVE_FRAME_COUNT = 13, PROVE_CONTACTS_COUNT = 12 };
const uintptr_t *prove_frame(void);
const uintptr_t *prove_contacts(void);

// ---- the next step, under other solvers and parameters
//
//   prove_hold ──► the world before its next step     prove_try … ──► prove_report, prove_contacts

// All solvers and parameters, as lines: name, meaning; and of each parameter behind it: nothing,
// name, kind (ParameterKind), unit, least, most, default, meaning, choices, each with a comma
// behind it; tabs between them.
const char *prove_solvers(void);

// Carries out the changes before the next step, and holds what the step, or of a group this one of
// its substeps, from 0, begins with. PROVE_STEP: it is there; PROVE_END: the inputs have ended
// before it. prove_next goes on as if it had not been called.
ProveNext prove_hold(uint32_t substep);

// The solver of the world that is held, and its parameters.
enum { PROVE_OWN_COUNT = 25 };
const double *prove_own(void);

// Room for the parameters of the next trial, in their order; those that a solver lacks are 0.
double *prove_parameters(void);

// Takes the step that is held, with this solver. PROVE_STEP, PROVE_SAME: report and contacts are
// this trial's, until the next prove_next. PROVE_FAULT: the step failed, and prove_message says
// why; PROVE_FAILED: a parameter was refused.
ProveNext prove_try(uint32_t kind);

// Of the trial: how many residuals there are, one after so many iterations each, and where.
const double *prove_history(void);
