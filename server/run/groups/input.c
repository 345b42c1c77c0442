// SPDX-License-Identifier: MIT
#include "run/groups/input.h"

#include "base/assert.h"

enum { VERSION = 2, VERSION_OLDEST = 1, HEAD_BYTES = 16, FIXED_BYTES = 56, CUT_BYTES = 8 };
enum { FLAG_DOUBLE = 1, FLAG_SEEDS = 2 };

static size_t number_bytes(const GroupInput *input) {
    return input->is_double ? sizeof(double) : sizeof(float);
}

static size_t body_bytes(const GroupInput *input, bool has_seeds) {
    const size_t rows = group_input_rows(input);
    return FIXED_BYTES + CUT_BYTES * input->cut_count + (has_seeds ? rows * sizeof(uint64_t) : 0) +
           rows * input->columns * number_bytes(input);
}

size_t group_input_bytes(const GroupInput *input, bool has_seeds) {
    ASSERT(input->kind == INPUT_GROUP_STEP || input->kind == INPUT_GROUP_RESET);
    return HEAD_BYTES + (body_bytes(input, has_seeds) + 7) / 8 * 8;
}

void group_input_begin(const GroupInput *input, bool has_seeds, Sink *sink) {
    ASSERT(input->kind == INPUT_GROUP_STEP || input->kind == INPUT_GROUP_RESET);
    sink_u32(sink, (uint32_t)input->kind);
    sink_u32(sink, VERSION);
    sink_u64(sink, body_bytes(input, has_seeds));
    sink_u32(sink, (input->is_double ? (uint32_t)FLAG_DOUBLE : 0) |
                       (has_seeds ? (uint32_t)FLAG_SEEDS : 0));
    sink_u32(sink, input->columns);
    sink_u64(sink, input->call);
    sink_u64(sink, input->ranges);
    sink_u64(sink, input->named);
    sink_u64(sink, input->ended);
    sink_u64(sink, input->hashed);
    sink_u64(sink, input->cut_count);
}

Status group_input_decode(InputBytes encoded, GroupInput *input, Error *error) {
    ASSERT(encoded.bytes != NULL || encoded.count == 0);
    Source source = {.bytes = encoded.bytes, .count = encoded.count};
    const uint32_t kind = source_u32(&source), version = source_u32(&source);
    const uint64_t length = source_u64(&source);
    const uint32_t flags = source_u32(&source);
    GroupInput found = {.kind = (GroupInputKind)kind, .is_double = (flags & FLAG_DOUBLE) != 0};
    found.columns = source_u32(&source);
    if (version > VERSION_OLDEST) {
        found.call = source_u64(&source);
        found.ranges = source_u64(&source);
    }
    found.named = source_u64(&source);
    found.ended = source_u64(&source);
    found.hashed = source_u64(&source);
    found.cut_count = source_count(&source, CUT_BYTES);
    found.cuts = source_bytes(&source, CUT_BYTES * found.cut_count);
    const size_t rows = group_input_rows(&found);
    if ((flags & FLAG_SEEDS) != 0) {
        found.seeds = source_bytes(&source, rows * sizeof(uint64_t));
    }
    const size_t left = source.failed ? 0 : source.count - source.used;
    const size_t row_bytes = found.columns * number_bytes(&found);
    if (row_bytes > 0 && rows > left / row_bytes) {
        source.failed = true;
    } else {
        found.numbers = source_bytes(&source, rows * row_bytes);
    }
    const bool is_known = (kind == INPUT_GROUP_STEP || kind == INPUT_GROUP_RESET) &&
                          version >= VERSION_OLDEST && version <= VERSION &&
                          flags <= (FLAG_DOUBLE | FLAG_SEEDS);
    if (source.failed || !is_known || length != source.used - HEAD_BYTES ||
        ((found.ended | found.hashed) & ~found.named) != 0) {
        return error_set(error, STATUS_DATA_LOSS, NULL, "it has a call that is none of a group");
    }
    *input = found;
    return STATUS_OK;
}

static uint64_t below(uint32_t world) {
    return ((uint64_t)1 << world) - 1;
}

size_t group_input_row(const GroupInput *input, uint32_t world) {
    ASSERT(world < GROUP_RANGE_MAX);
    return (size_t)__builtin_popcountll(input->named & below(world));
}

size_t group_input_hash(const GroupInput *input, uint32_t world) {
    ASSERT(world < GROUP_RANGE_MAX);
    return (size_t)__builtin_popcountll(input->ended & below(world)) +
           (size_t)__builtin_popcountll(input->hashed & below(world));
}

size_t group_input_hash_count(const GroupInput *input) {
    return (size_t)__builtin_popcountll(input->ended) + (size_t)__builtin_popcountll(input->hashed);
}

bool group_input_is_cut(const GroupInput *input, uint32_t world, uint32_t *substeps) {
    Source source = {.bytes = input->cuts, .count = CUT_BYTES * input->cut_count};
    for (size_t i = 0; i < input->cut_count; i++) {
        const uint32_t of = source_u32(&source);
        *substeps = source_u32(&source);
        if (of == world) {
            return true;
        }
    }
    return false;
}
