// SPDX-License-Identifier: MIT
// What a client makes of its worlds: snapshots, taken, read in pieces, brought back in parts,
// restored, dropped; worlds of them, several at once; scenes, and worlds of those. Every one has
// its state of the reference (state.h).
#pragma once

#include "moreau.pb-c.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct Call;
struct Client;

enum { KEEPS_MAX = 4, STRAYS_MAX = 4 };

typedef enum CopyKind {
    COPY_TAKE,
    COPY_READ,
    COPY_UPLOAD, // a part
    COPY_RESTORE,
    COPY_CLONE, // of a snapshot, or of a world as it is then
    COPY_DROP,
    COPY_SCENE,
    COPY_FROM_SCENE,
    COPY_STRAYS, // hashes of worlds that were made and nobody has stepped
    COPY_END,    // of one of them
    COPY_KIND_COUNT
} CopyKind;

typedef struct CopyCall {
    CopyKind kind;
    size_t slot;    // of an upload, among the client's snapshots
    uint64_t id;    // of the snapshot, or the world, that it is about; 0: none, or not known yet
    uint64_t state; // of that
    uint64_t first, count;
    bool is_gone;    // the snapshot was dropped before
    bool is_damaged; // a part with a bit that has changed …
    bool is_foreign; // … in what says that it is a snapshot, and of which version
    bool is_last;    // the part that makes the snapshot whole
    uint64_t states[STRAYS_MAX];
} CopyCall;

// A snapshot on the server.
typedef struct Keep {
    bool is_there;
    bool is_going;  // it was asked to be dropped: if that is not answered, nobody knows
    size_t pending; // parts under way: likewise
    uint64_t id;    // 0: an upload whose first part was not answered
    uint64_t state;
    uint64_t received; // fewer bytes than the state has: it is being uploaded
} Keep;

// A world that was made and that has no place among the client's yet.
typedef struct Stray {
    bool is_there, is_going;
    uint64_t id, state;
} Stray;

typedef struct Copies {
    Keep keep[KEEPS_MAX];
    Stray stray[STRAYS_MAX];
    uint64_t gone;  // a snapshot that was dropped; 0: none
    uint8_t *scene; // owned: packed; NULL: none
    size_t scene_count;
    uint64_t scene_of;   // the state that it was taken of …
    uint64_t scene_made; // … and that of the world that it makes; 0: nobody has asked
} Copies;

void copies_begin(Copies *copies); // a bunch of calls
void copies_lose(Copies *copies);  // with their session
void copies_deinit(Copies *copies);

bool copies_own_worlds(const Copies *copies);
Stray copies_give(Copies *copies); // one of them, of which nothing is under way

// Adds a call or several. `world` may be CLIENT_WORLDS_MAX: none of its own is there.
void copies_add(struct Client *client, size_t world);

void copies_judge(struct Client *client, const struct Call *call, const Moreau__V1__Reply *reply);

// Whether it is answered in its place among the calls on its world: clones of a world as it is then
// are made behind that, and a snapshot that is gone is missed at once.
bool copies_have_order(const struct Call *call);
bool copies_may_refuse(const struct Client *client, const struct Call *call,
                       Moreau__V1__Status__Code code);
