// SPDX-License-Identifier: MIT
// The inputs of a group, as a recording has them: what one call asked of the worlds of one range,
// at most 64, and behind which of them a hash of the state stands.
//
//   input = kind (u32: INPUT_GROUP_STEP or INPUT_GROUP_RESET), version (u32: 2), length of the
//           body (u64), body, padded to 8
//   body  = flags (u32: 1 numbers are doubles, 2 there are seeds), numbers per row (u32), which
//           call on the group it is, from 1 (u64), on how many ranges (u64), three
//           sets of worlds (u64 each, bit i is the i-th of the range): `named`, `ended`, `hashed`,
//           number of cuts (u64), cut …: world (u32), substeps (u32);
//           seeds (u64 per row), numbers (rows, in the order of the worlds)
//
// A row is a named world's. Numbers of a step are its actions, as they were sent; of a reset the
// starts given, or none. A cut: the step of that world was stopped behind so many substeps, by a
// deadline, a Cancel or the end of memory, which nothing else here tells of. A call that was given
// up before it did anything names no world. Version 1 did not tell which call it is (0).
//
// Hashes stand in the entry (log/format/entries.h), world after world: of an `ended` one that of
// the state its episode ended with, then of a `hashed` one that of the state it has after the call.
#pragma once

#include "run/worlds/input.h"

enum { GROUP_RANGE_MAX = 64 };

// Beside InputKind.
typedef enum GroupInputKind { INPUT_GROUP_STEP = 9, INPUT_GROUP_RESET = 10 } GroupInputKind;

typedef struct GroupCut {
    uint32_t world, substeps; // the world in the range
} GroupCut;

typedef struct GroupInput {
    GroupInputKind kind;
    bool is_double;
    uint32_t columns; // numbers per row
    uint64_t call;    // on the group, from 1; 0: not told
    uint64_t ranges;  // that the call is on
    uint64_t named, ended, hashed;
    size_t cut_count;
    const uint8_t *cuts;    // as encoded
    const uint8_t *seeds;   // likewise; NULL: none
    const uint8_t *numbers; // likewise
} GroupInput;

// So many bytes, a multiple of 8.
size_t group_input_bytes(const GroupInput *input, bool has_seeds);

// The head and all up to the cuts; they follow, then the seeds, then the numbers, then padding.
void group_input_begin(const GroupInput *input, bool has_seeds, Sink *sink);

// Borrows of the bytes. DATA_LOSS goes on from "it …".
Status group_input_decode(InputBytes encoded, GroupInput *input, Error *error);

static inline size_t group_input_rows(const GroupInput *input) {
    return (size_t)__builtin_popcountll(input->named);
}

// Of a world of the range that is named: which row is its, and which hashes.
size_t group_input_row(const GroupInput *input, uint32_t world);
size_t group_input_hash(const GroupInput *input, uint32_t world);
size_t group_input_hash_count(const GroupInput *input);

// Whether the world's step was cut, and behind how many substeps.
bool group_input_is_cut(const GroupInput *input, uint32_t world, uint32_t *substeps);
