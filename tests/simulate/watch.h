// SPDX-License-Identifier: MIT
// What watchers see, and whether it was ever so: every state that a world of the reference has had
// is noted, under what it is a state of; what frames show is kept until all answers are there, and
// must be among them. Within a life; whoever has the turn may write.
#pragma once

#include "moreau.pb-c.h"
#include "simulate/dice.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { WATCHED_PLACES_MAX = 5, SIGHTS_MAX = 200 };

// A state, as one number.
typedef uint64_t WatchState;

// ---- what has been

// Of a world's `step`; of a world of a group, of what says where its episodes are (watch_place).
WatchState watch_state(uint64_t step, uint64_t motion);
uint64_t watch_place(bool has_episode, uint64_t episode, uint64_t episode_step, bool is_over);

// `subject`: whose states they are; never 0. Different subjects are never mixed up.
void watch_note(uint64_t subject, WatchState state);

// ---- what there is to watch

// A world, or a group.
typedef struct Sight {
    uint64_t id;
    uint64_t subject; // of world i of a group: + i
    size_t owner;     // number of the client; 0: the shared world
    bool is_group;
    bool is_gone;     // a destruction was answered …
    uint64_t gone_ns; // … then …
    bool is_told;     // … so that who watches it must be told
    bool is_unclear;  // what came last is not known
    bool goes_back;   // a snapshot was restored into it: its steps may be fewer again
    bool is_resting;  // until the life ends this is the last that anybody sees
    uint64_t rest_step;
    WatchState rest[WATCHED_PLACES_MAX];
    struct Watching *first; // of those who watch it
} Sight;

typedef struct Sights {
    Sight sight[SIGHTS_MAX];
    size_t count;
} Sights;

// The one of this id, which is there; NULL: none.
Sight *watch_find(Sights *sights, bool is_group, uint64_t id);
Sight *watch_offer(Sights *sights, const Sight *sight); // NULL: there are too many
void watch_is_gone(Sight *sight);                       // Nullable

// Nobody changes it any more, and it is as `rest` says: returns when everybody who watches it has
// seen that, and fails where somebody does not.
void watch_rest(Sight *sight);

// ---- a subscription

typedef struct Watching {
    Sight *sight; // NULL: of nothing that is there
    uint64_t index, every;
    double frames_per_second; // 0: as many as there are
    bool has_motion;          // poses and velocities, in doubles
    bool has_joints;          // they were asked for
    bool is_loose;            // it may be begun again, when a connection is lost
    uint64_t asked_ns, frames, skipped, bodies;
    uint64_t step;  // of the frame that came last …
    uint64_t place; // … of a group: where its episodes were
    WatchState state;
    struct Watching *next; // of its sight
} Watching;

// Fills the message, of anything there is, and what is to be known of it. Its owner may watch what
// is his alone.
void watch_draw(Watching *watching, Sights *sights, size_t owner, Dice *dice,
                Moreau__V1__Subscribe *message);
void watch_begin(Watching *watching); // it stays where it is until it ends
// Judges what can be judged at once, and keeps the rest.
void watch_frame(Watching *watching, const Moreau__V1__LiveFrame *frame);
void watch_end(Watching *watching, const Moreau__V1__Reply *reply); // NULL: it was cut

// Its sight rests, and it has not been shown how.
bool watch_is_behind(const Watching *watching);

// ---- the end

// All answers are there: every frame must show what has been. `shared_step`: up to this step the
// shared world is known.
void watch_judge(void);
// The highest step that a frame of this subject has shown.
uint64_t watch_step_max(uint64_t subject);
uint64_t watch_count(void); // of frames
