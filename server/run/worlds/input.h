// SPDX-License-Identifier: MIT
// Inputs: everything that changes a world. What passes the door (door.h) is one of these, whoever
// sent it; the recorder writes it in one canonical encoding, and replay reads that.
//
//   input = kind (u32), version (u32), length of the body in bytes (u64), body, padded to 8
//
// Numbers are little-endian; optional columns are preceded by 1 or 0. Decoding borrows nothing but
// snapshots: its arrays live in the arena it is given.
#pragma once

#include "base/arena.h"
#include "base/bytes.h"
#include "base/status.h"
#include "solve/solver.h"
#include "world/world.h"

typedef enum InputKind {
    INPUT_SET = 1,
    INPUT_MATERIALS = 2,
    INPUT_SHAPES = 3,
    INPUT_BODIES = 4,
    INPUT_STEP = 5,
    INPUT_RESTORE = 6,
    INPUT_JOINTS = 7,
    INPUT_REMOVE = 8,
    // 9 and 10 are a group's (run/groups/input.h)
    INPUT_GEOMETRIES = 11,
    INPUT_NAMED_GEOMETRIES = 12 // as recordings have them
} InputKind;

// Which of the settings change.
#define X(bit, section, upper, ...) CHANGE_##upper = 1 << (bit),
enum {
    CHANGE_SOLVER = 1 << 4,
    CHANGE_PARAMETERS = 1 << 5,
    CHANGE_BOUNDS = 1 << 10,
    SETTING_MAP(X, X, X, X, X) // ...
};
#undef X

// Bounds that are given and are none take away those that are there. Another solver comes with its
// defaults.
typedef struct SettingsChange {
    uint32_t given; // CHANGE_* bits
    WorldSettings value;
    SolverKind parameter_solver; // whose parameters: must be the world's solver after the change
    uint32_t parameter_given;    // bit i: value.parameter[i] is given
} SettingsChange;

// All of it changes together or not at all.
typedef struct SetOrder {
    SettingsChange settings; // given 0: none
    BodyUpdate update;       // count 0: none, as the rest
    JointUpdate joints;
    MaterialUpdate materials;
    ShapeUpdate shapes;
    PairUpdate pairs;
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

// In the bytes that geometry/geometry.h has; blamed as hulls[i], meshes[i] or height_fields[i],
// counted among those of their kind. Named ones are those on the shelf.
typedef struct GeometryList {
    size_t count;
    const uint8_t *names; // of named ones: SHA256_BYTES each; else NULL
    const uint8_t *const *bytes;
    const size_t *byte_count; // multiples of 8
} GeometryList;

// What the list's items of that kind are called, unjudged as its bytes are, and which of them it
// is; and the item of such a name. The list's count: none.
const char *geometry_list_kind(const GeometryList *list, size_t item);
size_t geometry_list_index(const GeometryList *list, size_t item);
size_t geometry_list_item(const GeometryList *list, const char *kind, size_t index);

// Owns nothing: columns and texts are borrowed from whoever made it.
typedef struct Input {
    InputKind kind;
    union {
        SetOrder set;
        MaterialList materials;
        ShapeColumns shapes;
        BodyColumns bodies;
        JointColumns joints;
        StepOrder step;
        RestoreOrder restore;
        RemoveOrder remove;
        GeometryList geometries;
    };
} Input;

typedef struct InputBytes {
    const uint8_t *bytes; // borrowed
    size_t count;
} InputBytes;

// The length of its encoding, a multiple of 8.
size_t input_bytes(const Input *input);

// Writes so many bytes; the sink stands at a multiple of 8.
void input_encode(const Input *input, Sink *sink);

// Shapes only; the door judges the content. DATA_LOSS when the bytes are no input.
Status input_decode(InputBytes encoded, Arena *arena, Input *input, Error *error);

// Of encoded bytes; 0: too short to say.
uint32_t input_kind(InputBytes encoded);

// Of an encoded step input: how many steps it asks for, in place. The log stores steps done, never
// steps asked.
void input_set_steps(uint8_t *bytes, uint64_t steps);

// Whether an encoded input is this order of steps, but perhaps for their number.
bool input_is_order(InputBytes stored, const StepOrder *order);

// Looks at the first input of several in a row: its bytes, head and padding included. 0: no whole
// input.
size_t input_length(const uint8_t *bytes, size_t count);
