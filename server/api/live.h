// SPDX-License-Identifier: MIT
// A world that is being watched, alone or of a group: where the lane that has it leaves what it
// shows, for all who subscribe to it (api/calls/subscribe.c).
//
//   loop: live_ask ──► from_step, a look job on the world's strand
//   lane: the first of step, change or look ──► LiveFrame, a copy ──► fresh ──► the loop is woken
//   loop: live_took hands the frame to everyone who waits; the last one gives it back
//
// The lane copies at most one frame for each time that the loop has asked, however many subscribe;
// one that nobody has taken yet is replaced. So a watched world is at most one frame ahead of whom
// it is shown to, and one that nobody waits for is not copied.
//
// When nobody subscribes any more, a last job on the strand takes the watch away from its world,
// and whoever comes then makes another one. A group that goes ends its subscriptions at once, and
// such a job goes in front of its end. Loop thread, but for what stands under "the lane's".
#pragma once

#include "api/request.h"
#include "run/groups/farm.h"
#include "wire/episode_columns.h"

typedef struct LiveFrame {
    uint64_t number; // 1, 2, 3 … of its world's
    WatchView view;  // its world, stepper and tally are not to be looked at any more
    WatchMarks marks;
    bool faulted;
    Error failure; // of a world of a group; status OK: none
    uint32_t wish; // LIVE_…: what is in its columns
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

// One of the two. Their memory is there until LiveWorld.is_gone; a job keeps a reference.
typedef struct LiveTarget {
    WorldEntry *world;
    GroupEntry *group;
    uint32_t index; // in the group
} LiveTarget;

typedef struct LiveWorld {
    Watch watch; // first, as the door knows it by that
    Api *api;
    LiveTarget target;
    uint64_t id; // of the world, or the group
    struct LiveWorld *next, **link;
    Subscription *first;
    LivePlace latest; // of the frame that came last
    const char *why;  // of a group that is gone
    Job job;          // looks, or takes the watch away
    bool is_attached; // its world knows the watch
    bool is_leaving;  // but not for long
    bool is_busy;     // `job` is under way …
    bool looks_again; // … and a look is wanted behind it

    // set by the loop, taken by the lane
    _Atomic uint32_t wish; // LIVE_… of all who subscribe
    atomic_bool wants_scene, wants_look;

    // handed from one to the other
    _Atomic(LiveFrame *) fresh, spare; // Nullable
    atomic_bool is_listed, is_gone;
    atomic_bool is_starved;        // memory ended before there was a frame
    struct LiveWorld *next_listed; // in Api.live_news

    // the lane's
    uint64_t shown_count, shown_step, shown_changes, shown_definitions;
    uint64_t shown_worn; // world_worn_hash
} LiveWorld;

enum { LIVE_POSES = 1, LIVE_VELOCITIES = 2, LIVE_JOINTS = 4, LIVE_CONTACTS = 8, LIVE_REPORTS = 16 };

// The world's own, made when nobody has watched it before. NULL: memory ended.
LiveWorld *live_open(Api *api, const LiveTarget *target);

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

// Nobody subscribes any more: gives back its memory, and itself once its world does not know it.
void live_leave(LiveWorld *live);

// For the farm (FarmGoes; `context` is the api).
void live_group_goes(GroupEntry *group, const char *why, void *context);

// For the api's async: frames have come, or worlds have gone.
void live_take_news(Api *api);

// At the very end; no lane is left, and no host.
void live_close_all(Api *api);

// ---- api/calls/subscribe.c's

// The frame, NULL: none, is handed out to whom it suits, and what others want is asked for.
void subscription_took(LiveWorld *live, LiveFrame *frame);

// Memory ended while a frame was made: those who wait ask again, in a while.
void subscription_starved(LiveWorld *live);
// The world is gone: ends all.
void subscription_world_gone(LiveWorld *live);
