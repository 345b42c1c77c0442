// SPDX-License-Identifier: MIT
#include "wire/group_codec.h"

#include "wire/wire.h"

#include <string.h>

// What a row takes beside its numbers: bits, what became of it, code and world of its failure.
enum { ROW_BYTES_MAX = 1 + 2 * 5 + 3 * WIRE_VARINT_BYTES_MAX + 5 + 48, COLUMNS_MAX = 23 };

static size_t number_bytes(const Group *group) {
    return group->is_double ? sizeof(double) : sizeof(float);
}

size_t group_codec_bytes_bound(const Group *group, size_t count) {
    const size_t columns =
        2 * ((size_t)group->observation.column_count + group->extra.column_count);
    const size_t opinions =
        group->opinion.share > 0.0 ? group_codec_opinions_bound(group->count) : 0;
    return COLUMNS_MAX * (size_t)WIRE_HEAD_BYTES_MAX + opinions +
           count * (columns * number_bytes(group) + ROW_BYTES_MAX);
}

size_t group_codec_opinions_bound(size_t count) {
    enum { NUMBERS_BYTES = 2 * 5 + 3 * WIRE_VARINT_BYTES_MAX + 3 * 8, HEADS = 9 };
    return HEADS * (size_t)WIRE_HEAD_BYTES_MAX + count * NUMBERS_BYTES;
}

void group_codec_fill_opinions(const OpinionColumns *columns,
                               Moreau__V1__GroupOpinionColumns *message) {
    moreau__v1__group_opinion_columns__init(message);
    message->n_world = message->n_episode = message->n_seed = message->n_step = message->n_substep =
        message->n_gap = message->n_e_ds = message->n_residual = columns->count;
    message->world = columns->world;
    message->episode = columns->episode;
    message->seed = columns->seed;
    message->step = columns->step;
    message->substep = columns->substep;
    message->gap = columns->gap;
    message->e_ds = columns->e_ds;
    message->residual = columns->residual;
}

size_t group_codec_bytes_max(const GroupRows *rows) {
    size_t bytes = group_codec_bytes_bound(rows->call->group, rows->count);
    for (size_t i = 0; i < rows->failure_count; i++) {
        bytes += WIRE_HEAD_BYTES_MAX + moreau__v1__status__get_packed_size(rows->failures[i]);
    }
    return bytes + (rows->recording_ended != NULL ? strlen(rows->recording_ended) : 0);
}

static bool has_ended(const GroupRow *row) {
    return row->ended != 0;
}

// Rows of numbers, of all or of those whose episodes have ended.
static uint8_t *write_numbers(uint8_t *at, const GroupRows *rows, uint32_t field,
                              const void *numbers, size_t columns, bool ended_only) {
    const GroupCall *call = rows->call;
    const size_t bytes = columns * number_bytes(call->group);
    size_t count = ended_only ? 0 : rows->count;
    for (size_t i = 0; ended_only && i < rows->count; i++) {
        count += has_ended(&call->row[group_rows_at(rows, i)]);
    }
    if (count * bytes == 0) {
        return at;
    }
    at = wire_head(at, field, count * bytes);
    if (rows->row == NULL && !ended_only) {
        memcpy(at, numbers, count * bytes);
        return at + count * bytes;
    }
    for (size_t i = 0; i < rows->count; i++) {
        const size_t row = group_rows_at(rows, i);
        if (!ended_only || has_ended(&call->row[row])) {
            memcpy(at, (const char *)numbers + row * bytes, bytes);
            at += bytes;
        }
    }
    return at;
}

enum { DOUBTFUL = 4, GAINED = 8 }; // beside GROUP_TERMINATED and GROUP_TRUNCATED

static uint8_t bits_of(const GroupRow *row) {
    return (uint8_t)(row->ended | (row->is_doubtful ? DOUBTFUL : 0) |
                     (row->has_gained ? GAINED : 0));
}

// One bit per row; nothing where none is set.
static uint8_t *write_bits(uint8_t *at, const GroupRows *rows, uint32_t field, uint8_t bit) {
    bool is_any = false;
    for (size_t i = 0; i < rows->count; i++) {
        is_any = is_any || (bits_of(&rows->call->row[group_rows_at(rows, i)]) & bit) != 0;
    }
    if (!is_any) {
        return at;
    }
    const size_t bytes = (rows->count + 7) / 8;
    at = wire_head(at, field, bytes);
    memset(at, 0, bytes);
    for (size_t i = 0; i < rows->count; i++) {
        if (bits_of(&rows->call->row[group_rows_at(rows, i)]) & bit) {
            at[i / 8] |= (uint8_t)(1u << i % 8);
        }
    }
    return at + bytes;
}

typedef enum FinalColumn { FINAL_WORLD, FINAL_EPISODE, FINAL_SEED, FINAL_LENGTH } FinalColumn;

static uint64_t final_number(const GroupRows *rows, size_t row, FinalColumn column) {
    const GroupRow *became = &rows->call->row[row];
    return column == FINAL_WORLD     ? group_call_world(rows->call, row)
           : column == FINAL_EPISODE ? became->episode
           : column == FINAL_SEED    ? became->seed
                                     : became->length;
}

static uint8_t *write_finals(uint8_t *at, const GroupRows *rows, uint32_t field,
                             FinalColumn column) {
    uint8_t *const begin = wire_part_begin(at, field, rows->count);
    uint8_t *end = begin;
    for (size_t i = 0; i < rows->count; i++) {
        const size_t row = group_rows_at(rows, i);
        if (has_ended(&rows->call->row[row])) {
            end = wire_varint(end, final_number(rows, row, column));
        }
    }
    return end == begin ? at : wire_part_end(begin, rows->count, end);
}

static uint8_t *write_worlds(uint8_t *at, const GroupRows *rows) {
    uint8_t *const begin = wire_part_begin(at, 3, rows->count);
    uint8_t *end = begin;
    for (size_t i = 0; i < rows->count; i++) {
        end = wire_varint(end, group_call_world(rows->call, group_rows_at(rows, i)));
    }
    return wire_part_end(begin, rows->count, end);
}

static uint8_t *write_unconverged(uint8_t *at, const GroupRows *rows) {
    uint32_t is_any = 0;
    for (size_t i = 0; i < rows->count; i++) {
        is_any |= rows->call->row[group_rows_at(rows, i)].unconverged;
    }
    if (is_any == 0) {
        return at;
    }
    const size_t expected = rows->count + 1; // its head has a key of two bytes
    uint8_t *const begin = wire_part_begin(at, 16, expected);
    uint8_t *end = begin;
    for (size_t i = 0; i < rows->count; i++) {
        end = wire_varint(end, rows->call->row[group_rows_at(rows, i)].unconverged);
    }
    return wire_part_end(begin, expected, end);
}

static uint8_t *write_opinions(uint8_t *at, const GroupRows *rows, uint32_t field) {
    if (rows->opinions.count == 0) {
        return at;
    }
    Moreau__V1__GroupOpinionColumns message;
    group_codec_fill_opinions(&rows->opinions, &message);
    at = wire_head(at, field, moreau__v1__group_opinion_columns__get_packed_size(&message));
    return at + moreau__v1__group_opinion_columns__pack(&message, at);
}

static uint8_t *write_ended(uint8_t *at, const GroupRows *rows, uint32_t field) {
    if (rows->recording_ended == NULL) {
        return at;
    }
    const size_t bytes = strlen(rows->recording_ended);
    at = wire_head(at, field, bytes);
    memcpy(at, rows->recording_ended, bytes);
    return at + bytes;
}

uint8_t *group_codec_pack(const GroupRows *rows, uint8_t *at) {
    const GroupCall *call = rows->call;
    const Group *group = call->group;
    const size_t wide = group->observation.column_count, beside = group->extra.column_count;
    const bool is_double = group->is_double;
    if (!is_double) {
        at = write_numbers(at, rows, 1, call->observation, wide, false);
        at = write_numbers(at, rows, 2, call->extra, beside, false);
    }
    if (rows->names_worlds) {
        at = write_worlds(at, rows);
    }
    if (is_double) {
        at = write_numbers(at, rows, 4, call->observation, wide, false);
        at = write_numbers(at, rows, 5, call->extra, beside, false);
    }
    at = write_bits(at, rows, 6, GROUP_TERMINATED);
    at = write_bits(at, rows, 7, GROUP_TRUNCATED);
    at = write_finals(at, rows, 8, FINAL_WORLD);
    at = write_finals(at, rows, 9, FINAL_EPISODE);
    at = write_finals(at, rows, 10, FINAL_SEED);
    at = write_finals(at, rows, 11, FINAL_LENGTH);
    at = write_numbers(at, rows, is_double ? 14 : 12, call->final_observation, wide, true);
    at = write_numbers(at, rows, is_double ? 15 : 13, call->final_extra, beside, true);
    at = write_unconverged(at, rows);
    for (size_t i = 0; i < rows->failure_count; i++) {
        at = wire_head(at, 17, moreau__v1__status__get_packed_size(rows->failures[i]));
        at += moreau__v1__status__pack(rows->failures[i], at);
    }
    at = write_bits(at, rows, 41, DOUBTFUL);
    at = write_opinions(at, rows, 42);
    at = write_ended(at, rows, 43);
    return write_bits(at, rows, 44, GAINED);
}
