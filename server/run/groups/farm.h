// SPDX-License-Identifier: MIT
// The groups of a server: ids, owners, and the blocks in which the lanes work on them. The registry
// belongs to the loop thread; the worlds of a block to whichever lane runs its strand. How many
// worlds make a block follows from the template alone.
//
// Life of an entry: farm_add (room is claimed, nobody else sees it), the group is made, farm_list
// (it has an id), calls, farm_destroy, and the memory goes, on a lane, with the last reference.
#pragma once

#include "run/groups/group.h"
#include "run/groups/recorder.h"
#include "run/groups/mail.h"
#include "run/worlds/host.h"
#include "run/groups/opinions.h"

typedef struct Farm Farm;
typedef struct GroupEntry GroupEntry;

typedef struct GroupBlock {
    Strand strand;
    GroupEntry *entry;
    Job flush_job;
    bool is_flushing;      // loop: flush_job is under way
    uint32_t first, count; // worlds
    uint32_t calls;        // the lane's: so many have come
    size_t bytes;          // the lane's: of its worlds, as last counted
} GroupBlock;

struct GroupEntry {
    Farm *farm;
    Id id; // 0: not listed, yet or any more
    uint32_t references;
    uint32_t space_index;  // among the groups of its owner's namespace
    uint32_t count;        // of worlds …
    bool is_claimed;       // … for which room is claimed
    uint64_t session;      // whose lifetime it shares; 0: the server's
    WorldOwner owner;      // its client's name is the entry's
    double idle_timeout_s; // 0: never
    uint64_t named_ns;     // with a timeout: when a call last named it
    char name[HOST_NAME_BYTES], client[HOST_NAME_BYTES];

    Group *group;  // owned; NULL until it is made
    uint8_t *code; // owned: what the group is (code.h), as long as it lives
    size_t code_bytes;
    uint64_t calls;                 // Reset, Step and Send so far, here and where it comes from
    GroupMail *mail;                // owned; NULL: no world was ever sent
    struct GroupReceiver *receiver; // who waits for mail, first come, first served; api's
    struct GroupHeld *held;         // calls that wait behind those, in order; api's
    _Atomic uint32_t telling_count; // of receivers that were served, and whose rows are written now
    _Atomic bool has_held;          // whoever has written them tells the loop at once
    GroupRecorder *recorder;        // owned; NULL: it is not recorded
    Opinions *opinions;             // owned; NULL: no step is solved again
    RecordingState end_state;       // of the recording, when the group goes …
    LogWait *end_wait;              // … which is done when it is on the disk; Nullable
    GroupBlock *block;              // owned
    uint32_t block_count;
    uint32_t bodies;                  // of the template
    size_t own_bytes;                 // counted in the host's, beside those of the blocks
    _Atomic uint64_t bytes;           // of the blocks
    _Atomic uint64_t steps, episodes; // done, finished
    Job destroy_job;
    Strand strand; // of what is done once for all of it
};

// A guest of the host, and owned by it, as soon as it is made. NULL when memory ends. `background`:
// the lanes of second opinions.
Farm *farm_create(Host *host, Pool *pool, Pool *background);
// Whoever is told that a group goes, and why ("it was destroyed"), while it is still whole. Loop.
typedef void FarmGoes(GroupEntry *entry, const char *why, void *context);
void farm_tell(Farm *farm, FarmGoes *goes, void *context);

// An entry with one reference, the caller's. RESOURCE_EXHAUSTED names the limit. `idle_timeout_s`:
// 0: never.
Status farm_add(Farm *farm, const char *name, const WorldOwner *owner, uint32_t count,
                double idle_timeout_s, GroupEntry **entry, Error *error);

// Its group, owned by the entry from now on, has no worlds yet: cuts it into blocks of so many (0:
// as many as suit its template). Any thread.
Status farm_set_group(GroupEntry *entry, Group *group, uint32_t block_worlds, Error *error);

// It has its group, which was made of this: so it can be saved. Any thread.
Status farm_keep_code(GroupEntry *entry, const GroupDef *def, Error *error);

// It has its group: it is recorded from now on, by blocks. Any thread.
Status farm_record(GroupEntry *entry, Log *log, GroupRecorderDef *def, Error *error);

// Loop: groups that no call has named for too long go. false: none has an idle timeout.
bool farm_look_for_idle(void *farm, uint64_t now_ns);

// Loop: it can be found from now on; the registry takes a reference of its own.
Status farm_list(GroupEntry *entry, Error *error);

// Loop: where worlds are sent from. RESOURCE_EXHAUSTED when the budget has no room.
Status farm_open_mail(GroupEntry *entry, Error *error);

// Lane that has the block: counts its memory, when `is_due` or now and then.
void farm_count_block(GroupEntry *entry, GroupBlock *block, bool is_due);

// NULL: no such group, for who has this view (run/worlds/spaces.h).
GroupEntry *farm_find(Farm *farm, Id id, uint32_t view);
uint32_t farm_count(const Farm *farm, uint32_t view);
OpinionFigures farm_opinions(const Farm *farm); // of all groups so far; waiting: of those listed
GroupEntry *farm_at(const Farm *farm, uint32_t index, uint32_t view); // in no particular order
// Of its world i.
Strand *farm_strand(const GroupEntry *entry, uint32_t i);
void farm_retain(GroupEntry *entry);
void farm_release(GroupEntry *entry);

// It is found no more; calls under way are finished.
void farm_destroy(GroupEntry *entry);
void farm_destroy_session(Farm *farm, uint64_t session);
