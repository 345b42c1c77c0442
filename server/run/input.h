// SPDX-License-Identifier: MIT
// Inputs: everything that changes a world, in one canonical encoding. What passes the door (door.h)
// is one of these, whoever sent it; what is recorded is these bytes.
//
//   input = kind (u32), version (u32), length of the body in bytes (u64), body, padded to 8
//
// Numbers are little-endian; optional columns are preceded by 1 or 0. Encoding writes into an
// arena; decoding borrows nothing: its arrays live in the arena it is given.
#pragma once

#include "base/arena.h"
#include "base/status.h"
#include "solve/solver.h"
#include "world/world.h"

typedef enum InputKind {
    INPUT_SET = 1,
    INPUT_MATERIALS = 2,
    INPUT_SHAPES = 3,
    INPUT_BODIES = 4,
    INPUT_STEP = 5,
    INPUT_RESTORE = 6
} InputKind;

// Which of the settings change.
enum {
    CHANGE_GRAVITY = 1,
    CHANGE_TIME_STEP = 2,
    CHANGE_MARGIN = 4,
    CHANGE_RESTITUTION_THRESHOLD = 8,
    CHANGE_SOLVER = 16,
    CHANGE_PARAMETERS = 32
};

typedef struct SettingsChange {
    uint32_t given; // CHANGE_* bits
    Vec3 gravity;
    double time_step, margin, restitution_threshold;
    SolverKind solver; // switching to another one sets its defaults
    SolverKind
        parameter_solver; // whose parameters these are: must be the world's solver after the change
    uint32_t parameter_given; // bit i: parameter[i] is given
    double parameter[SOLVER_PARAMETER_MAX];
} SettingsChange;

// Settings and bodies change together or not at all.
typedef struct SetOrder {
    SettingsChange settings; // given 0: none
    BodyUpdate update;       // count 0: none
} SetOrder;

typedef struct MaterialList {
    size_t count;
    const Material *material;
} MaterialList;

// Steps with wrenches held for all of them.
typedef struct StepOrder {
    uint64_t steps;
    double time_step; // [s]; 0: the world's
    size_t wrench_count;
    const uint64_t *wrench_body; // body ids
    const double *wrench;        // 6 each
} StepOrder;

// The world becomes what a snapshot says; only its limits stay.
typedef struct RestoreOrder {
    const uint8_t *snapshot; // borrowed, also after decoding
    size_t snapshot_bytes;
} RestoreOrder;

typedef struct Input {
    InputKind kind;
    union {
        SetOrder set;
        MaterialList materials;
        ShapeColumns shapes;
        BodyColumns bodies;
        StepOrder step;
        RestoreOrder restore;
    };
} Input;

typedef struct InputBytes {
    const uint8_t *bytes; // borrowed from the arena
    size_t count;
} InputBytes;

// RESOURCE_EXHAUSTED when the arena ends.
Status input_encode(const Input *input, Arena *arena, InputBytes *encoded, Error *error);

// Shapes only; the door judges the content. DATA_LOSS when the bytes are no input.
Status input_decode(InputBytes encoded, Arena *arena, Input *input, Error *error);

// An encoded restore input around a snapshot that stands INPUT_RESTORE_PREFIX_BYTES behind `bytes`,
// without copying it: how many bytes it takes in all, and what goes around it.
enum { INPUT_RESTORE_PREFIX_BYTES = 24 };
size_t input_restore_bytes(size_t snapshot_bytes);
void input_restore_seal(uint8_t *bytes, size_t snapshot_bytes);

// Of encoded bytes; 0: too short to say.
uint32_t input_kind(InputBytes encoded);

// Of an encoded step input: how many steps it asks for, in place. The log stores steps done, never
// steps asked.
void input_set_steps(uint8_t *bytes, uint64_t steps);

// Whether two encoded step inputs differ at most in their number of steps.
bool input_same_order(InputBytes a, InputBytes b);

// Looks at the first input of several in a row: its bytes, head and padding included. 0: no whole
// input.
size_t input_length(const uint8_t *bytes, size_t count);
