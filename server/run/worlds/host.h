// SPDX-License-Identifier: MIT
// The worlds of a server: names, ids, owners, lifetimes. The registry belongs to the loop thread; a
// world itself (its door) to whichever lane runs its strand. What lists and statistics show is
// published by the lane after each call.
//
// Life of an entry: host_add (the id is known at once; calls on it queue behind its creation),
// calls, host_destroy or host_drop, and the memory goes when the last reference is released. A
// reference keeps the entry, not the world.
#pragma once

#include "access/use.h"
#include "base/stock.h"
#include "os/report.h"
#include "run/worlds/entry.h"
#include "run/worlds/spaces.h"

typedef struct HostDef {
    uint32_t worlds_max;
    uint32_t session_worlds_max;
    WorldLimits limits; // of each world; bytes_max is the budget of all together
    Pool *pool;
    uv_loop_t *loop;
    const Report *report;
} HostDef;

// Others whose worlds are no entries, but whose lifetimes are looked after together: groups.
typedef struct HostGuest {
    void *context;
    bool (*look_for_idle)(void *context, uint64_t now_ns); // true: somebody still may be
    bool (*flush)(void *context);                          // true: somebody is still recorded
    void (*stop)(void *context);                           // at host_stop
    void (*destroy)(void *context);                        // at host_close
} HostGuest;

Status host_create(Host **host, const HostDef *def, Error *error);

// From here on no world is made, flushed or destroyed, nor does one go because it is idle: nothing
// is handed to the pool, which may then be closed. What is under way there goes on.
void host_stop(Host *host);

// After host_stop. Destroys what is left without lanes: the pool must be closed. `closed` is called
// when the memory is free.
void host_close(Host *host, void (*closed)(void *context), void *context);

// A fresh entry with an initialised door, one reference for the caller. `name` NULL or "": world-N.
// ALREADY_EXISTS, RESOURCE_EXHAUSTED name the limit.
typedef struct WorldOwner {
    const char *client;    // name of the program that asks
    uint64_t session;      // 0: the world is the server's
    uint32_t space;        // SPACE_ALL: the server has no namespaces
    Use *use;              // Nullable: who is charged for it; lives as long as the host
    uint32_t *world_count; // NULL with session 0; else a counter that lives as long as the session
} WorldOwner;

// Whether so many more worlds may be added, however small; RESOURCE_EXHAUSTED names the limit.
Status host_check_room(const Host *host, const WorldOwner *owner, uint32_t count, Error *error);

// Worlds of groups are no entries, but count: claims room for so many more, and gives it back.
Status host_claim(Host *host, const WorldOwner *owner, uint32_t count, Error *error);
void host_unclaim(Host *host, const WorldOwner *owner, uint32_t count);
uint32_t host_claimed(const Host *host);

// A change of it is under way from the start: its making, which the caller ends.
Status host_add(Host *host, const char *name, const WorldOwner *owner, double idle_timeout_s,
                WorldEntry **entry, Error *error);

// What may change how many bodies a world has is about to be submitted; it is over. Between changes
// the published count is the true one, whatever steps are under way.
void host_begin_change(WorldEntry *entry);
void host_end_change(WorldEntry *entry);
bool host_is_changing(const WorldEntry *entry);

// Asks for what the calls below and a job need first of a world, if there is one, to be brought
// into the cache: of thousands that are named at once, each would be waited for.
void host_prefetch(const Host *host, Id id);

// NULL: no such world, for who has this view (spaces.h). Marks the world as used now.
WorldEntry *host_find(Host *host, Id id, uint32_t view);
WorldEntry *host_find_name(Host *host, const char *name, uint32_t space); // of that one alone

void host_retain(WorldEntry *entry);
void host_release(WorldEntry *entry);

// The id and the name are free at once; calls queued before are carried out; then the world goes.
void host_destroy(WorldEntry *entry);

// Worlds of a session, so many. True: it has no more.
bool host_destroy_session(Host *host, uint64_t session, uint32_t count_max);

uint32_t host_count(const Host *host, uint32_t view);
// The index-th world that is seen, in no particular order; NULL past the end.
WorldEntry *host_at(const Host *host, uint32_t index, uint32_t view);

// Some of the worlds that are seen, for a lane to look at what is published of them: the entries
// stay until host_rows_end, also of worlds that go meanwhile. [first, first + count) must exist.
typedef struct HostRows {
    WorldEntry **entry; // in the arena
    size_t count;
} HostRows;

Status host_rows_begin(Host *host, uint32_t view, uint64_t first, uint64_t count, Arena *arena,
                       HostRows *rows, Error *error);
void host_rows_end(Host *host, HostRows *rows);

// The world that this episode is being recorded of, as of its last finished call; NULL: none that
// is seen.
WorldEntry *host_find_episode(Host *host, const uint8_t episode_uid[UID_BYTES], uint32_t view);

const WorldLimits *host_limits(const Host *host); // of each world
// Of all worlds that are seen together, as last published.
typedef struct HostFigures {
    uint64_t bodies, contacts;
    uint64_t bytes, faulted; // of the worlds alone
} HostFigures;

HostFigures host_figures(const Host *host, uint32_t view);

uint64_t host_bytes(const Host *host);
uint64_t host_faulted_count(const Host *host);

// Once, before anything is made. Borrowed context.
void host_take_in(Host *host, const HostGuest *guest);

// From now on the world's recorder is made to hand over its chunks once a second, also when no call
// comes. Loop thread, when an episode is about to begin.
void host_watch(WorldEntry *entry);
void host_watch_guest(Host *host); // likewise

// Loop: somebody has an idle timeout. (host_tell_idle: and goes by it.)
void host_watch_idle(Host *host);
void host_tell_idle(const Host *host, const char *what, Id id, const char *name);

// Lane: publishes what lists show of the world.
void host_publish(WorldEntry *entry);

// Memory held for clients beside the worlds, in the same budget. Any thread.
void host_count_bytes(Host *host, size_t before, size_t after);

// Memory for a piece of work that is too large for its request's own, such as a batch of many
// worlds: kept for the next one when it is returned, and given back when none comes for a second or
// two. It counts as bytes of the host, which limits it. Loop thread.
void host_lend(Host *host, StockArena *lent);
void host_return(Host *host, StockArena *lent);

// Lane: a step of this world may take what is left of the budget, and no more.
void host_limit_step(WorldEntry *entry);

// What clients hold of it, and what of that somebody is charged for (Nullable).
void host_charge_bytes(Host *host, Use *use, size_t before, size_t after);

// Refuses growth past the memory budget, and past that of who is charged (Nullable). Any thread.
Status host_check_charge(const Host *host, Use *use, size_t more_bytes, Error *error);

// Refuses growth past the memory budget. Any thread.
Status host_check_memory(const Host *host, size_t more_bytes, Error *error);
