// SPDX-License-Identifier: MIT
// A world that is being watched: where the lane that has it leaves what it shows, for all who
// subscribe to it (command_subscribe.c).
//
//   loop: live_ask ──► from_step, a look job on the world's strand
//   lane: the first of step, change or look ──► LiveFrame, a copy ──► fresh ──► the loop is woken
//   loop: live_took hands the frame to everyone who waits; the last one gives it back
//
// The lane copies at most one frame for each time that the loop has asked, however many subscribe;
// one that nobody has taken yet is replaced. So a watched world is at most one frame ahead of whom
// it is shown to, and one that nobody waits for is not copied.
//
// A LiveWorld stays, with next to no memory, until its world goes. Loop thread, but for what stands
// under "the lane's".
#pragma once

#include "api/request.h"
#include "wire/episode_columns.h"

typedef struct LiveFrame {
    uint64_t number; // 1, 2, 3 … of its world's
    uint64_t step;
    WatchMarks marks;
    bool faulted;
    bool has_reports, has_scene;
    Status scene_status;    // of a frame that should have had one
    EpisodeColumns columns; // of one frame, in doubles; ids and joints are listed
    uint8_t *reports;       // owned; the field of LiveFrame, as it is sent
    size_t reports_bytes, reports_capacity;
    uint8_t *scene; // owned; likewise
    size_t scene_bytes, scene_capacity;
    Arena arena; // what stands in it is of use while the frame is made
    size_t counted_bytes;
    uint32_t references; // the loop's
} LiveFrame;

typedef struct Subscription Subscription;

// What a subscriber has seen last, or a frame shows.
typedef struct LivePlace {
    uint64_t number, step;
    WatchMarks marks;
} LivePlace;

typedef struct LiveWorld {
    Watch watch; // first, as the door knows it by that
    Api *api;
    WorldEntry *entry; // its memory is there as long as anyone subscribes
    struct LiveWorld *next, **link;
    Subscription *first;
    LivePlace latest; // of the frame that came last
    Job look_job;
    bool is_looking, looks_again;

    // set by the loop, taken by the lane
    _Atomic uint32_t wish; // LIVE_… of all who subscribe
    atomic_bool wants_scene, wants_look;

    // handed from one to the other
    _Atomic(LiveFrame *) fresh, spare; // Nullable
    atomic_bool is_listed, is_gone;
    struct LiveWorld *next_listed; // in Api.live_news

    // the lane's
    uint64_t shown_count, shown_step, shown_changes, shown_definitions;
    StepTally tally;                    // of the last call that stepped it …
    uint64_t tally_step, tally_changes; // … and where it was then
} LiveWorld;

enum { LIVE_POSES = 1, LIVE_VELOCITIES = 2, LIVE_JOINTS = 4, LIVE_CONTACTS = 8, LIVE_REPORTS = 16 };

// The world's own, made when nobody has watched it before. NULL: memory ended.
LiveWorld *live_open(Api *api, WorldEntry *entry);

// What those who wait want to see next, as soon as it is there.
typedef struct LiveAsk {
    uint64_t from_step;
    uint32_t wish;
    bool scene; // with a scene, also where nothing was added
    bool look;  // also where nothing has happened since the frame before
} LiveAsk;

// `share`: who it is done for, as pool_submit wants to know.
void live_ask(LiveWorld *live, const LiveAsk *ask, uint64_t share);

// Nobody waits.
void live_rest(LiveWorld *live);

void live_retain_frame(LiveFrame *frame);
void live_release_frame(LiveWorld *live, LiveFrame *frame);

// Nobody subscribes any more: gives back its memory, and itself where its world is gone.
void live_leave(LiveWorld *live);

// For the api's async: frames have come, or worlds have gone.
void live_take_news(Api *api);

// At the very end; no lane is left, and no host.
void live_close_all(Api *api);

// ---- command_subscribe.c's

// The frame, NULL: none, is handed out to whom it suits, and what others want is asked for.
void subscription_took(LiveWorld *live, LiveFrame *frame);
// The world is gone: ends all.
void subscription_world_gone(LiveWorld *live);
