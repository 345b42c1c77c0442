// SPDX-License-Identifier: MIT
// GroupStepReply by hand: rows of thousands of worlds, copied as they lie in memory. To the byte
// what protobuf-c writes.
#pragma once

#include "moreau.pb-c.h"
#include "run/groups/opinions.h"

// What a reply says: all rows of a call, or some.
typedef struct GroupRows {
    const GroupCall *call;
    size_t count;
    const uint32_t *row;  // [count] which; NULL: all of the call, in order
    bool names_worlds;    // lists which worlds they are
    size_t failure_count; // of them
    Moreau__V1__Status **failures;
    OpinionColumns opinions;     // on earlier steps
    const char *recording_ended; // Nullable
} GroupRows;

static inline size_t group_rows_at(const GroupRows *rows, size_t index) {
    return rows->row == NULL ? index : rows->row[index];
}

// The most that so many rows take, without the texts; it follows from the group alone.
size_t group_codec_bytes_bound(const Group *group, size_t count);

// Counts the texts.
size_t group_codec_bytes_max(const GroupRows *rows);

// What so many opinions take at most.
size_t group_codec_opinions_bound(size_t count);

// As a message, which borrows the columns.
void group_codec_fill_opinions(const OpinionColumns *columns,
                               Moreau__V1__GroupOpinionColumns *message);

uint8_t *group_codec_pack(const GroupRows *rows, uint8_t *at);
