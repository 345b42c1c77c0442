// SPDX-License-Identifier: MIT
// Kept replies: what a session whose client said Hello.resumable remembers of its requests, so that
// each is done once however often the connection breaks.
//
// A record stands for every request that changes something, or that reads a world in the order of
// its calls. While the request is under way the record says so, and the lane that answers it leaves
// a copy of the reply there. After a resume a repeated request, known by its id and a hash of its
// bytes, gets that copy, at once or when it is there.
//
// How much: a client that may come back has at most `requests_max` requests without a reply, and
// replies arrive in the order in which they were sent; so the last 2 x requests_max that were done
// hold every reply it can miss (twice, as lanes finish in another order than they write). Their
// bytes are limited per session (kept_bytes_max) and for all together (a part of the memory
// budget). Beyond that the oldest lose their bytes, those of reads first; their records stay, so
// that a repeated change is refused and never done again.
//
// Loop thread, but for kept_store.
#pragma once

#include "api/request.h"

typedef enum KeptState {
    KEPT_UNDER_WAY,
    KEPT_AWAITED, // by `repeat`: whoever makes the reply sends it there too
    KEPT_REPLIED
} KeptState;

struct Kept {
    uint64_t id;       // 0: forgotten
    uint64_t content;  // hash of the request's bytes
    bool changes;      // must not be done again
    _Atomic int state; // KeptState
    uint8_t *bytes;    // owned; the reply with its header
    size_t count;      // 0: not kept
    size_t capacity;   // of `bytes`
    Request *request;  // until it is over
    Request *repeat;   // Nullable
    Kept *next, *previous;
};

// A request arrived in a resumable session; `content`: a hash of its frame. OK: it is new, and has
// a record where it needs one; or it is a repeated one, which request->repeats says, to be answered
// by kept_answer.
Status kept_admit(Session *session, Request *request, uint64_t content, Error *error);

// Answers a repeated request, or lets it wait until its first self is done.
void kept_answer(Request *request);

// Leaves a copy of the last reply in the request's record, if it has one, and sends it to the
// repeated request that waits for it. At once and not on the loop thread, which the lane may be far
// ahead of: replies of one world keep their order. Any thread.
void kept_store(Request *request, const uint8_t *frame, size_t frame_bytes);

// The request is over: so is what was kept for it, or what it waited for.
void kept_settle(Request *request);

// The connection is lost: requests with a record go on, the others stop.
void kept_lose_peer(Session *session);

// The client is back. Not `resumable`: it will repeat nothing, so all is forgotten and stops.
void kept_resume(Session *session, bool resumable);

// Frees everything; nothing is under way.
void kept_forget(Session *session);
