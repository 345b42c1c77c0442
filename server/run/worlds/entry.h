// SPDX-License-Identifier: MIT
// A world of the server's registry (host.h), and what is published of it.
#pragma once

#include "access/use.h"
#include "run/worlds/door.h"
#include "run/lanes/lane.h"

enum { HOST_NAME_BYTES = 256 }; // with its zero

typedef struct Host Host;
typedef struct WorldEntry WorldEntry;

// What others may read while a lane works on the world.
typedef struct WorldFigures {
    _Atomic uint64_t bodies, contacts, step, bytes, time_bits, solver;
    _Atomic uint64_t joints, joint_axes, joint_positions;
    _Atomic bool faulted;
    _Atomic bool recording;
    _Atomic uint64_t episode[2]; // its uid, as the bytes stand; 0 0: none
    _Atomic bool unwritten;      // the recorder has open chunks
} WorldFigures;

// A batch walks over thousands of them: first what the loop needs of each for every call, then what
// the lanes need.
struct WorldEntry {
    Host *host;
    Id id;
    uint64_t batch_mark;   // the last batch that listed it: finds duplicates
    double idle_timeout_s; // 0: never
    uint64_t named_ns;     // with a timeout: when a call last named it
    uint32_t references;
    uint32_t changes_under_way; // loop thread: see host_begin_change

    Strand strand;
    Door door;            // the lane's
    uint64_t limited_own; // the lane's: the bytes published of this world when host_limit_step
    uint64_t limited_all; // last set the limit, and those of all worlds
    WorldFigures figures; // the lane's to write

    Use *use;                    // Nullable: who is charged for it
    uint32_t space, space_index; // whose it is (spaces.h), and where in their list
    uint64_t session;            // whose lifetime it shares; 0: the server's
    uint32_t *session_count;     // borrowed: that session's number of worlds; NULL: the server's
    char *name;                  // in `text`
    char *client;                // who made it; in `text`
    size_t own_bytes;            // of the entry, with its texts
    Job destroy_job;
    Job flush_job;
    WorldEntry *next_gone; // loop thread: the next that waits for HostRows
    bool watched;          // loop thread: it is or was recorded, see host_watch
    bool flushing;         // loop thread: flush_job is under way
    char text[];           // name, client
};
