// SPDX-License-Identifier: MIT
// A client's connection with the calls under way on it: what was asked and in which order, so that
// answers can be judged. Composing and judging single calls: call.c; what to do next: client.c.
#pragma once

#include "simulate/client.h"
#include "simulate/copies.h"
#include "simulate/herd.h"
#include "simulate/link.h"
#include "simulate/pasts.h"
#include "simulate/watch.h"

enum { CALLS_MAX = 24, CLIENT_WORLDS_MAX = 3, CALL_WORLDS_MAX = 3, SESSION_BYTES = 64 };

typedef enum CallKind {
    CALL_STEP,
    CALL_EDIT,
    CALL_HASH,
    CALL_RAYS,
    CALL_GET,
    CALL_DESTROY,
    CALL_START,
    CALL_STOP,
    CALL_DELETE,
    CALL_PIN,
    CALL_VERIFY,
    CALL_LIST,
    CALL_DESCRIBE,
    CALL_PING,
    CALL_STATS,
    CALL_WORLDS,
    CALL_SOLVE,
    CALL_CANCEL,
    CALL_HERD, // a step or a reset
    CALL_SEND,
    CALL_RECEIVE, // all that the Send before it has sent
    CALL_TOUCHES,
    CALL_BACKUP,
    CALL_COPIES,   // snapshots, worlds that are made of them, scenes: copies.h
    CALL_PASTS,    // episodes shown, and run again otherwise: pasts.h
    CALL_WATCH,    // with a deadline, so that it ends
    CALL_LOOK,     // at rows of the client's group
    CALL_OPINIONS, // of it
    CALL_SAVE,     // of it
    CALL_KIND_COUNT
} CallKind;

typedef struct Call {
    CallKind kind;
    uint64_t id;
    size_t world_count;
    size_t world[CALL_WORLDS_MAX]; // indices of the client's worlds
    ModelChange change;            // of each of them
    HerdOrder order;               // of the client's group; of a Receive: what was sent
    size_t episode;                // of the history, for calls that name one
    bool may_stop;                 // it was cancelled, or has a deadline
    bool is_answered, is_judged;
    Moreau__V1__Reply *reply; // owned: what is answered and not judged
    uint64_t payload;         // of a ping: what must come back; of a cancel: the request
    size_t at, count;         // its bytes in the client's
    CopyCall copy;            // of CALL_COPIES, as the next
    PastCall past;
    Watching watching; // of a CALL_WATCH
} Call;

// A world as its client knows it. The first is the shared one: others step it too.
typedef struct ClientWorld {
    bool is_there;
    bool is_shared;
    uint64_t id;
    Model own;
    Model *model;   // own, or the crowd's
    size_t history; // index of the world
    size_t episode; // that is recorded of it, as an index of the history plus 1; 0: none
    bool goes_back; // a snapshot was to be restored into it
} ClientWorld;

typedef struct Client {
    Crowd *crowd;
    size_t number;
    Dice dice;
    Link link;
    char session[SESSION_BYTES];
    bool is_resumable; // it repeats what was not answered when its connection is lost
    uint64_t id_last;
    ClientWorld world[CLIENT_WORLDS_MAX];
    Herd herd;
    Copies copies;
    Call call[CALLS_MAX];
    size_t call_count;
    LinkBytes bytes; // the calls as they go over the wire
} Client;

// Notes a call and packs it; the message is borrowed. Returns it for what else is to be noted.
Call *call_add(Client *client, CallKind kind, const void *message, uint32_t deadline_ms);

// A change of the call that goes to one world; `world` is the client's.
void call_on_world(Call *call, size_t world, ModelChange change);

// Whether it was stopped, which it may have been.
bool call_is_stop(Moreau__V1__Status__Code code);

// The state after `step` steps of a world must be the reference's, of this hash.
void call_check_state(Client *client, ClientWorld *world, uint64_t step, uint64_t hash);

// Each adds one call.
void call_step(Client *client, const size_t *world, size_t world_count, uint64_t steps,
               uint32_t deadline_ms);
void call_edit(Client *client, size_t world); // any change that is no step
void call_hash(Client *client, size_t world);
void call_rays(Client *client, size_t world);
void call_get(Client *client, size_t world);
void call_start(Client *client, size_t world);
void call_stop(Client *client, size_t world);
void call_destroy(Client *client, size_t world);
void call_episode(Client *client, CallKind kind, size_t episode);
void call_list(Client *client);
void call_ping(Client *client);
void call_stats(Client *client);
void call_worlds(Client *client);
void call_solve(Client *client);
void call_backup(Client *client);
// On the client's group: a step or a reset, or worlds that are sent and received.
void call_herd(Client *client, GroupVerb verb);
void call_send(Client *client);
void call_cancel(Client *client, Call *victim);

// Takes a reply, or an event, and judges what can be judged: the calls of each world in the order
// in which they were asked.
void call_answer(Client *client, Moreau__V1__Reply *reply);

void call_forget_all(Client *client);

// The steps of a world that is recorded are known to be its model's.
void call_note_recorded(Client *client, const ClientWorld *world);
