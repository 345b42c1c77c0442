// SPDX-License-Identifier: MIT
// What the files that make resume.h share:
//
//   resume.c        its life, the definition, what is lost
//   plan.c          from which call it goes on, and by which key-frames
//   range.c         one range's worlds, on their way there
#pragma once

#include "log/format/definition.h"
#include "replay/player/group_calls.h"
#include "replay/player/wardrobe.h"
#include "replay/resume/resume.h"
#include "run/groups/code.h"
#include "run/groups/keyframe.h"

// A range on its way (range.c).
typedef struct ResumeWork ResumeWork;

typedef struct ResumeRange {
    uint32_t count;    // worlds
    bool is_planned;   // as far as the present goal
    int64_t keyframe;  // row id of the chunk that it begins with; 0: as the definition says
    ChunkPlace place;  // of that
    uint64_t call;     // the last that is in it
    uint64_t reach;    // the last that it leads to
    uint64_t steps;    // calls on the range up to where the group goes on, when it is over
    uint64_t finished; // episodes up to there, likewise
    ResumeWork *work;  // owned; NULL: not begun, or over
} ResumeRange;

struct Resume {
    ResumeDef def;
    Arena memory;
    EpisodeRow row; // of the recording; its world_index is set to a range's for each look
    RecordingDef recording;
    GroupCode code;
    Wardrobe wardrobe; // its template's geometries, until it is over
    uint32_t range_worlds, range_count;
    ResumeRange *range; // [range_count]
    ResumeFacts facts;
};

// As of the first world of a range: what a reader finds that range's chunks by.
EpisodeRow resume_row(const Resume *resume, uint32_t range);

void resume_note(Resume *resume, const char *message); // of damage, once

// plan.c: fills the ranges, facts.step and facts.calls_lost.
Status resume_plan(Resume *resume, LogReader *reader, const Stop *stop, Error *error);

// A key-frame's worlds, all well formed. DATA_LOSS goes on from "it …".
Status resume_open_keyframe(const ResumeRange *range, const LogChunk *chunk,
                            GroupKeyframe *keyframe, Error *error);

// range.c
void resume_drop_work(ResumeRange *range);
