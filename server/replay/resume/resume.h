// SPDX-License-Identifier: MIT
// A recorded group, gone on from: which call all ranges of its worlds have, each range's key-frame
// at or before it, and what is stored behind that, stepped again.
//
//   resume_open ──► a group of resume_def and resume_template, in blocks of resume_range_worlds
//                     ──► resume_range for each, on any lane ──► resume_count ──► resume_facts
//
// Ranges were written one by one, so that a server that was killed left each at another call. A
// call counts when all the ranges that it was on have it, and all calls before it count. Damaged
// key-frames are gone back from, damaged calls as well; what was in the way is told.
#pragma once

#include "log/reader/reader.h"
#include "run/groups/group.h"

typedef struct Resume Resume;

enum { RESUME_DAMAGES_MAX = 16, RESUME_DAMAGE_BYTES = sizeof(((Error *)NULL)->message) };

typedef struct ResumeDef {
    const char *recording; // as log_reader_recording takes it
    bool has_step;         // else the last that can be reached
    uint64_t step;         // behind so many calls on the group
    WorldLimits limits;
} ResumeDef;

typedef struct ResumeFacts {
    uint8_t recording[UID_BYTES];
    uint64_t step;
    uint64_t calls_lost;      // behind it, of which something is stored
    uint64_t episodes_lost;   // records of those that finished behind it
    uint64_t episodes_untold; // that had finished before, without a record
    size_t damage_count;
    char damage[RESUME_DAMAGES_MAX][RESUME_DAMAGE_BYTES];
} ResumeFacts;

// Finds the recording and plans. Errors blame `recording` or `step`; ABORTED: `stop` said so.
Status resume_open(Resume **resume, const ResumeDef *def, LogReader *reader, const Stop *stop,
                   Error *error);
void resume_close(Resume *resume); // Nullable; nobody is at work

size_t resume_bytes(const Resume *resume); // of memory

const GroupDef *resume_def(const Resume *resume);
const char *resume_name(const Resume *resume); // of the group that was recorded
Status resume_template(const Resume *resume, World **world, Error *error); // the caller's
uint32_t resume_range_worlds(const Resume *resume);

// The range's worlds, which are made, go on to where the group does. False in *is_over: `until_ns`
// (clock_now_ns) has passed or `context` (Nullable) said stop; call it again, or not. One thread
// per range.
Status resume_range(Resume *resume, uint32_t range, Group *group, LogReader *reader, Arena *scratch,
                    uint64_t until_ns, const Context *context, bool *is_over, Error *error);

// When all ranges are over: what is lost.
Status resume_count(Resume *resume, LogReader *reader, const Stop *stop, Error *error);
const ResumeFacts *resume_facts(const Resume *resume);
