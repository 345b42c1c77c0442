// SPDX-License-Identifier: MIT
// An offer: the blocks of one thread's tasks_run, open to others that have nothing to do.
//
//   owner, inside tasks_run                     helpers
//   publishes block, work and count
//   left := count
//   begins blocks while some are left           begin blocks while some are left      left -= 1
//   waits until helped = the blocks of others   say so after each that they began     helped += 1
//
// Whoever takes `left` down from above zero has begun a block: the owner the first that is left,
// helpers the last. So of calls over the same things, as colour after colour, the same thread does
// the same part again, with what it wrote in its own cache; and as both together begin no more
// blocks than there are, they never meet. The owner waits for blocks that
// a helper has begun, and for nothing else: helpers that never come, come late or leave cost no
// more than the time they would have saved. Owner and helpers take no lock and no memory.
//
// Memory: what the owner has written before `left := count` (a release) is seen by whoever begins a
// block (an acquire of it, or of a number that others made of it, which C11 counts as the same
// release). What helpers write in their blocks comes before their `helped += 1` (a release), and
// the owner sees it when it reads the last of them (an acquire). The owner publishes again only
// after that, so what is published stays while a block is begun and not done; a helper that looks
// too late finds `left` at zero or below, whatever it has read before, and reads nothing else.
//
// Helpers that sleep are called when that pays: a wake takes some 5 us of the owner's time and some
// 50 us until the helper is there. An offer keeps a *credit*: the work of its blocks, as if one
// thread had done them, less the time between its calls. Helpers are called where the credit and
// the present call come to OFFER_CALL_NS: by work that takes that long and mostly in blocks, at
// once or as a row of steps; not by a step of 50 us, however often it is asked for singly. And they
// are called again after as long at the earliest, when those that were called have come.
#pragma once

#include "base/cache.h"
#include "base/tasks.h"

#include <stdatomic.h>
#include <stdbool.h>

enum { OFFER_CALL_NS = 100000 };
enum { OFFER_CREDIT_NS_MAX = 1000000 }; // a pause of so long, and what was is forgotten

// Whom no more than `max` threads work for at once, and how many do: lanes and helpers.
typedef struct Crowd {
    _Atomic uint32_t count;
    _Atomic uint32_t max; // 0: any number
} Crowd;

// One more; false: there are as many as may be. Any thread.
bool crowd_enter(Crowd *crowd);
void crowd_leave(Crowd *crowd);

typedef uint64_t OfferClock(void); // never goes back [ns]
// On the owner's thread: so many helpers could begin a block now, those awake among them.
typedef void OfferCall(void *context, uint32_t wanted);

typedef struct OfferDef {
    OfferClock *clock;
    OfferCall *call;
    void *context;
    _Atomic uint32_t *open_count; // borrowed: how many of several offers are open
} OfferDef;

typedef struct Offer {
    // the owner's, and on cache lines of their own what helpers look at and what they write
    OfferDef def;
    Crowd *_Atomic crowd; // Nullable, borrowed: whose work it is, where helpers are counted
    Tasks tasks;          // its owner's; as `tasks` says, for one call at a time
    bool is_open;
    uint64_t called_ns; // helpers, last
    uint64_t ended_ns;  // the last tasks_run …
    uint64_t credit_ns; // … and the credit then
    _Alignas(CACHE_LINE_BYTES) _Atomic int32_t left;
    uint32_t count;
    TaskBlock *block;
    void *work;
    _Alignas(CACHE_LINE_BYTES) _Atomic uint32_t helped;
    _Atomic uint32_t begun; // by helpers, of the blocks at the end
} Offer;

void offer_init(Offer *offer, const OfferDef *def);

// Owner, between two pieces of work. A helper that comes just then may do one block uncounted.
void offer_set_crowd(Offer *offer, Crowd *crowd); // Nullable

// Owner: the piece of work that ran the tasks is over. Between its first call and this the offer is
// open, which is what helpers may wait at for the next call.
void offer_close(Offer *offer);

// Any other thread: does one block. False: none was left.
bool offer_help(Offer *offer);
