// SPDX-License-Identifier: MIT
#include "run/lanes/offer.h"

#include "base/assert.h"
#include "os/pause.h"

enum { SPINS = 1000 }; // some 20 to 50 us; who has not done a block by then has lost its core

// Whether there is a block nobody has begun, which then is begun. Helpers acquire what the owner
// published.
static bool begin_block(Offer *offer, memory_order order) {
    // only who sees some left takes one, so the number falls below zero by the number of threads at
    // most
    if (atomic_load_explicit(&offer->left, memory_order_relaxed) <= 0) {
        return false;
    }
    return atomic_fetch_sub_explicit(&offer->left, 1, order) > 0;
}

bool crowd_enter(Crowd *crowd) {
    const uint32_t max = atomic_load_explicit(&crowd->max, memory_order_relaxed);
    uint32_t count = atomic_load_explicit(&crowd->count, memory_order_relaxed);
    do {
        if (max > 0 && count >= max) {
            return false;
        }
    } while (!atomic_compare_exchange_weak_explicit(&crowd->count, &count, count + 1,
                                                    memory_order_relaxed, memory_order_relaxed));
    return true;
}

void crowd_leave(Crowd *crowd) {
    const uint32_t before = atomic_fetch_sub_explicit(&crowd->count, 1, memory_order_relaxed);
    ASSERT(before > 0);
}

void offer_set_crowd(Offer *offer, Crowd *crowd) {
    atomic_store_explicit(&offer->crowd, crowd, memory_order_relaxed);
}

static bool do_block(Offer *offer) {
    if (!begin_block(offer, memory_order_acquire)) {
        return false;
    }
    const uint32_t behind = atomic_fetch_add_explicit(&offer->begun, 1, memory_order_relaxed);
    ASSERT(behind < offer->count);
    offer->block(offer->work, offer->count - 1 - behind);
    atomic_fetch_add_explicit(&offer->helped, 1, memory_order_release);
    return true;
}

bool offer_help(Offer *offer) {
    Crowd *crowd = atomic_load_explicit(&offer->crowd, memory_order_relaxed);
    if (crowd == NULL) {
        return do_block(offer);
    }
    if (!crowd_enter(crowd)) {
        return false;
    }
    const bool is_done = do_block(offer);
    crowd_leave(crowd);
    return is_done;
}

static bool takes_helpers(const Offer *offer) {
    const Crowd *crowd = atomic_load_explicit(&offer->crowd, memory_order_relaxed);
    const uint32_t max =
        crowd == NULL ? 0 : atomic_load_explicit(&crowd->max, memory_order_relaxed);
    return max == 0 || atomic_load_explicit(&crowd->count, memory_order_relaxed) < max;
}

static void publish(Offer *offer, TaskBlock *block, void *work, uint32_t count) {
    ASSERT(atomic_load_explicit(&offer->left, memory_order_relaxed) <= 0); // one call at a time
    ASSERT(count <= INT32_MAX);
    offer->block = block;
    offer->work = work;
    offer->count = count;
    atomic_store_explicit(&offer->helped, 0, memory_order_relaxed);
    atomic_store_explicit(&offer->begun, 0, memory_order_relaxed);
    atomic_store_explicit(&offer->left, (int32_t)count, memory_order_release);
}

static void await_helpers(Offer *offer, uint32_t count) {
    for (uint32_t i = 0; atomic_load_explicit(&offer->helped, memory_order_acquire) != count; i++) {
        if (i < SPINS) {
            pause_core();
        } else {
            pause_thread();
        }
    }
}

static void call_helpers(Offer *offer, uint64_t begun_ns, uint64_t now_ns) {
    int32_t left = atomic_load_explicit(&offer->left, memory_order_relaxed);
    if (left < 2 || offer->credit_ns + (now_ns - begun_ns) < OFFER_CALL_NS ||
        now_ns - offer->called_ns < OFFER_CALL_NS || !takes_helpers(offer)) {
        return;
    }
    offer->called_ns = now_ns;
    offer->def.call(offer->def.context, (uint32_t)left - 1); // the owner begins one itself
}

static void spend_credit(Offer *offer, uint64_t begun_ns) {
    uint64_t pause_ns = begun_ns - offer->ended_ns;
    offer->credit_ns -= pause_ns < offer->credit_ns ? pause_ns : offer->credit_ns;
}

// `own` of `count` blocks took so long, and others did the rest meanwhile.
static void earn_credit(Offer *offer, uint64_t took_ns, uint32_t own, uint32_t count) {
    uint64_t known_ns = took_ns < OFFER_CREDIT_NS_MAX ? took_ns : OFFER_CREDIT_NS_MAX;
    offer->credit_ns += known_ns * count / (own > 0 ? own : 1);
    if (offer->credit_ns > OFFER_CREDIT_NS_MAX) {
        offer->credit_ns = OFFER_CREDIT_NS_MAX;
    }
}

static void run(void *lender, TaskBlock *block, void *work, uint32_t count) {
    Offer *offer = lender;
    uint64_t begun_ns = offer->def.clock();
    spend_credit(offer, begun_ns);
    if (!offer->is_open) {
        offer->is_open = true;
        atomic_fetch_add_explicit(offer->def.open_count, 1, memory_order_relaxed);
    }
    publish(offer, block, work, count);
    call_helpers(offer, begun_ns, begun_ns);
    uint32_t own = 0;
    while (begin_block(offer, memory_order_relaxed)) {
        block(work, own++);
        call_helpers(offer, begun_ns, offer->def.clock());
    }
    await_helpers(offer, count - own);
    offer->ended_ns = offer->def.clock();
    earn_credit(offer, offer->ended_ns - begun_ns, own, count);
}

void offer_init(Offer *offer, const OfferDef *def) {
    ASSERT(def->open_count != NULL);
    *offer = (Offer){.def = *def, .tasks = {.run = run, .lender = offer}};
}

void offer_close(Offer *offer) {
    if (offer->is_open) {
        offer->is_open = false;
        atomic_fetch_sub_explicit(offer->def.open_count, 1, memory_order_relaxed);
    }
}
