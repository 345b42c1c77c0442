// SPDX-License-Identifier: MIT
// The reference of one world: the same bodies stepped by the dynamics alone, one change after the
// other, with what the server answered. It remembers all changes, so that it can begin again and
// find out which of those that nobody answered have happened.
#pragma once

#include "simulate/history.h"
#include "step/step.h"

enum { MODEL_BODIES_MAX = 4, MODEL_CHANGES_MAX = 400 };
enum { MODEL_LATER_BODIES_MAX = MODEL_BODIES_MAX + MODEL_CHANGES_MAX }; // each change may add one

// One of these; none: nothing changes.
typedef struct ModelChange {
    uint64_t steps;
    uint64_t edit;    // of this number (edit.h), from 1
    uint64_t restore; // the world becomes the state of this number (state.h), from 1
} ModelChange;

typedef struct Model {
    uint64_t seed;
    HistoryWorld *history; // borrowed
    World *world;          // owned, as are the next two
    Stepper *stepper;
    Arena scratch;
    uint64_t taken; // steps, of all that it was: a world that is restored may count less, or more
    ModelChange change[MODEL_CHANGES_MAX];
    size_t change_count;
} Model;

// How a world begins: the ground, then bodies above it, some of them joined (jointed.h). Body ids
// are 1 (the ground), 2, 3 …
typedef struct ModelStart {
    size_t count;
    double pose[7 * MODEL_BODIES_MAX];
    uint64_t shape[MODEL_BODIES_MAX]; // 1 plane, 2 sphere, 3 box
    double sleep_speed, sleep_time;   // some fall asleep as soon as they lie
} ModelStart;

// Where worlds of the reference have their geometries: one for all, which stays.
GeometryShelf *model_shelf(void);

ModelStart model_start(uint64_t seed);
extern const double model_shape_size[9]; // 3 per shape
void model_init(Model *model, uint64_t seed, HistoryWorld *history);
void model_deinit(Model *model);

// As another one was right behind so many steps that it has taken, or, `is_now`, as it is.
void model_init_at(Model *model, const Model *of, uint64_t step, bool is_now,
                   HistoryWorld *history);

// false: it is an edit that the world refuses, and nothing has changed.
bool model_apply(Model *model, ModelChange change);
bool model_is_change(ModelChange change);
uint64_t model_step_count(const Model *model); // as its world counts
uint64_t model_taken(const Model *model);
uint64_t model_hash(Model *model);
uint64_t model_state(const Model *model); // watch_state

// Hash of poses and velocities, packed as on the wire.
uint64_t model_motion(const double *pose, const double *velocity, size_t body_count);

// Applies those of the changes that lead to this state; each may have happened in part or not at
// all, in their order. False: none do.
bool model_find(Model *model, const ModelChange *change, size_t count, uint64_t step,
                uint64_t hash);
