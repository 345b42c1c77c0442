// SPDX-License-Identifier: MIT
#include "simulate/again.h"

#include "simulate/herd.h"
#include "simulate/link.h"

#include <inttypes.h>

enum { AGAIN_ORDERS_MAX = 40 };

typedef struct Again {
    const HistoryHerd *herd;
    AgainAsk *ask;
    void *context;
    bool may_be_gone;
    uint64_t group;
    uint64_t step; // it stands behind so many calls
} Again;

static bool is_ok(const Moreau__V1__Reply *reply) {
    return reply->status->code == MOREAU__V1__STATUS__CODE__OK;
}

static void give_back(Moreau__V1__Reply *reply) {
    moreau__v1__reply__free_unpacked(reply, NULL);
}

// `step` NULL: behind the last call. *is_made false: nothing of it was promised, or stored.
static bool resume(Again *again, const uint64_t *step, uint64_t promised, bool *is_made) {
    Moreau__V1__GroupCreate create = MOREAU__V1__GROUP_CREATE__INIT;
    create.recording = (char *)(uintptr_t)again->herd->id;
    create.has_step = step != NULL;
    create.step = step != NULL ? *step : 0;
    Moreau__V1__Reply *reply = again->ask(again->context, &create);
    *is_made = false;
    if (reply == NULL) {
        return false;
    }
    const bool is_gone =
        again->may_be_gone && reply->status->code == MOREAU__V1__STATUS__CODE__NOT_FOUND;
    if (!is_ok(reply) && promised > 0 && !is_gone) {
        fail("group %s of %" PRIu64 " calls cannot be gone on from: %s", again->herd->id, promised,
             reply->status->message);
    }
    if (is_ok(reply)) {
        const Moreau__V1__GroupResumed *resumed = reply->group_create->resumed;
        *is_made = true;
        again->group = reply->group_create->group;
        again->step = resumed->step;
        if (resumed->step < promised || resumed->n_damage > 0 ||
            (step != NULL && resumed->step != *step)) {
            fail("group %s goes on behind call %" PRIu64 " of %" PRIu64 " that were promised: %s",
                 again->herd->id, resumed->step, promised,
                 resumed->n_damage > 0 ? resumed->damage[0] : "no damage is told");
        }
    }
    give_back(reply);
    return true;
}

static bool end(Again *again) {
    Moreau__V1__GroupDestroy destroy = MOREAU__V1__GROUP_DESTROY__INIT;
    destroy.has_group = 1;
    destroy.group = again->group;
    Moreau__V1__Reply *reply = again->ask(again->context, &destroy);
    if (reply != NULL && !is_ok(reply)) {
        fail("a group that went on does not end: %s", reply->status->message);
    }
    if (reply != NULL) {
        give_back(reply);
    }
    return reply != NULL;
}

static Moreau__V1__Reply *give(Again *again, HerdOrder order) {
    float action[HERD_ACTS * HERD_WORLDS];
    uint8_t mask = order.worlds;
    Moreau__V1__GroupStep step = MOREAU__V1__GROUP_STEP__INIT;
    Moreau__V1__GroupReset reset = MOREAU__V1__GROUP_RESET__INIT;
    step.has_group = step.has_mask = reset.has_group = reset.has_mask = 1;
    step.group = reset.group = again->group;
    step.mask = reset.mask = (ProtobufCBinaryData){.len = 1, .data = &mask};
    herd_actions(order, action);
    step.n_action = HERD_ACTS * herd_count(order);
    step.action = action;
    return again->ask(again->context, order.verb == GROUP_STEP ? (const void *)&step : &reset);
}

static bool give_again(Again *again, size_t at) {
    const HistoryOrder *known = &again->herd->order[at];
    const HerdOrder order = {.verb = known->is_reset ? GROUP_RESET : GROUP_STEP,
                             .worlds = known->worlds,
                             .number = known->number};
    Moreau__V1__Reply *reply = give(again, order);
    if (reply == NULL) {
        return false;
    }
    if (!is_ok(reply) || herd_rows(order, reply->group_step) != known->rows) {
        fail("call %zu of group %s is answered otherwise when it is given again: %s", at + 1,
             again->herd->id, is_ok(reply) ? "other rows" : reply->status->message);
    }
    give_back(reply);
    return true;
}

bool again_check(const HistoryHerd *herd, bool may_be_gone, uint64_t promised, Dice *dice,
                 AgainAsk *ask, void *context) {
    Again again = {.herd = herd, .may_be_gone = may_be_gone, .ask = ask, .context = context};
    bool is_made;
    if (!resume(&again, NULL, promised, &is_made) || (is_made && !end(&again))) {
        return false;
    }
    const uint64_t last = again.step < herd->order_count ? again.step : herd->order_count;
    if (!is_made || last == 0) {
        return true;
    }
    const uint64_t span = last < AGAIN_ORDERS_MAX ? last : AGAIN_ORDERS_MAX;
    const uint64_t step = last - dice_roll(dice, span + 1);
    bool here = resume(&again, &step, step, &is_made);
    if (here && !is_made) {
        fail("group %s cannot be gone on from behind call %" PRIu64, herd->id, step);
    }
    for (uint64_t i = step; i < herd->order_count && i < step + span && here; i++) {
        here = give_again(&again, (size_t)i);
    }
    return here && end(&again);
}
