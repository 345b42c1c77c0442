// SPDX-License-Identifier: MIT
// What clients know for certain: what servers have answered, over all lives of one file. It lies in
// memory that outlives the processes of the servers, so it holds no pointer. Within a life only the
// thread that has the turn writes to it.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    HISTORY_LIVES_MAX = 4,
    HISTORY_WORLDS_MAX = 64,
    HISTORY_EPISODES_MAX = 256,
    HISTORY_STEPS_MAX = 4000,
    HISTORY_HERDS_MAX = 32,
    HISTORY_ORDERS_MAX = 200,
    HISTORY_KEPT_MAX = 8,
    HISTORY_KEPT_BYTES_MAX = 1 << 16,
    HISTORY_DEEDS_MAX = 40,
    HISTORY_ID_BYTES = 33,
    BACKUPS_MAX = 3,
    HISTORY_SNAPSHOTS_MAX = 4,
    HISTORY_SNAPSHOT_BYTES_MAX = 16384
};

// How a life of the server ended.
typedef enum LifeEnd { LIFE_STOPPED, LIFE_KILLED, LIFE_LOST_POWER } LifeEnd;

typedef struct HistoryLife {
    uint64_t end_ns; // simulated
    LifeEnd end;
    bool full_durability;
    bool disk_failed;
    uint64_t keep_episodes; // what it was to keep at least (--keep-episodes); 0: all
} HistoryLife;

// A world, by the count of the steps that it has taken. What stands here was computed by the
// reference for steps that the server has answered.
typedef struct HistoryWorld {
    uint64_t step_count;                      // answered
    uint64_t acked_ns[HISTORY_STEPS_MAX + 1]; // when
    uint64_t motion[HISTORY_STEPS_MAX + 1];   // hash of the poses and velocities after each step
} HistoryWorld;

typedef struct HistoryEpisode {
    char id[HISTORY_ID_BYTES];
    size_t world, life;
    uint64_t first_step;         // so many had the world taken by then
    uint64_t step_count;         // answered while it was recorded, at least
    bool stop_asked, stop_acked; // with OK
    uint64_t stop_steps;         // as the answer said
    bool delete_asked, delete_acked;
    bool pin_asked, pin_acked;
    bool destroy_asked;
} HistoryEpisode;

// A call on a recorded group, of which all was done, and what was answered.
typedef struct HistoryOrder {
    uint64_t number; // what it was drawn from
    uint64_t rows;   // hash of the answer (herd_rows)
    uint64_t acked_ns;
    bool is_reset;
    uint8_t worlds;
} HistoryOrder;

// A recorded group: its calls from the first one on, up to one of which only a part was done or
// nobody knows.
typedef struct HistoryHerd {
    char id[HISTORY_ID_BYTES]; // of its recording
    size_t life;
    HistoryOrder order[HISTORY_ORDERS_MAX];
    size_t order_count;
    bool is_ended; // its end was answered
} HistoryHerd;

// The bytes of a snapshot that a client has read: any later server makes the same of them.
typedef struct HistorySnapshot {
    size_t count; // 0: none
    uint8_t bytes[HISTORY_SNAPSHOT_BYTES_MAX];
} HistorySnapshot;

// What was done to a group, and what was answered.
typedef struct HistoryDeed {
    uint8_t verb; // a GroupVerb; HISTORY_OPINIONS: they were asked for
    uint8_t worlds;
    uint64_t number; // what it was drawn from; of opinions: how many at most
    uint64_t told;   // hash of all of the answer
} HistoryDeed;

enum { HISTORY_OPINIONS = 100 };

// A group that was saved, with what it did from then on, up to what nobody knows.
typedef struct HistoryKept {
    uint8_t bytes[HISTORY_KEPT_BYTES_MAX];
    size_t count; // 0: they are not here
    uint64_t calls;
    HistoryDeed deed[HISTORY_DEEDS_MAX];
    size_t deed_count;
    bool is_ended; // what came behind those is not here
} HistoryKept;

typedef struct History {
    HistoryLife life[HISTORY_LIVES_MAX];
    size_t life_count;
    HistoryWorld world[HISTORY_WORLDS_MAX];
    size_t world_count;
    HistoryEpisode episode[HISTORY_EPISODES_MAX];
    size_t episode_count;
    HistoryHerd herd[HISTORY_HERDS_MAX];
    size_t herd_count;
    HistorySnapshot snapshot[HISTORY_SNAPSHOTS_MAX];
    HistoryKept kept[HISTORY_KEPT_MAX];
    size_t kept_count;

    // for whoever looks at a run
    uint64_t requests, replies, cuts, cancels, faults, steps, resumes, trace, saves, frames, pins,
        expired;
} History;

// Whether what was recorded in a life, and has ended, may be gone by the server's own doing.
static inline bool history_keeps_few(const History *history, size_t life) {
    bool keeps_few = false;
    for (size_t i = life; i < history->life_count; i++) {
        keeps_few = keeps_few || history->life[i].keep_episodes > 0;
    }
    return keeps_few;
}

// Whether the server may have deleted an episode, which nobody finds then: one that is pinned is
// kept.
static inline bool history_may_expire(const History *history, const HistoryEpisode *episode) {
    return !episode->pin_acked && history_keeps_few(history, episode->life);
}

// Whether an episode may be gone, of itself or as somebody asked for that.
static inline bool history_may_be_gone(const History *history, const HistoryEpisode *episode) {
    return episode->delete_asked || history_may_expire(history, episode);
}
