// SPDX-License-Identifier: MIT
#include "simulate/watcher.h"

#include "simulate/call.h"
#include "simulate/schedule.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

// What a watcher waits for at most: the server's own limits are shorter.
static const uint64_t patience_ns = 90000000000u;

// ---- for clients

static void show_world(const Client *client, const ClientWorld *world) {
    Sights *sights = &client->crowd->sights;
    if (world->is_there && watch_find(sights, false, world->id) == NULL) {
        watch_offer(sights, &(Sight){.id = world->id,
                                     .subject = (uintptr_t)world->model->history,
                                     .goes_back = world->goes_back,
                                     .owner = world->is_shared ? 0 : client->number});
    }
}

void watcher_note_restored(Client *client, size_t world) {
    ClientWorld *of = &client->world[world];
    Sight *sight = watch_find(&client->crowd->sights, false, of->id);
    of->goes_back = true;
    if (sight != NULL) {
        sight->goes_back = true;
    }
}

void watcher_note_unclear(Client *client, size_t world) {
    Sight *sight = watch_find(&client->crowd->sights, false, client->world[world].id);
    if (sight != NULL) {
        sight->is_unclear = true;
    }
}

static bool is_own(const Client *client, const Sight *sight) {
    if (sight->is_group) {
        return client->herd.is_there && client->herd.id == sight->id;
    }
    for (size_t i = 1; i < CLIENT_WORLDS_MAX; i++) {
        if (client->world[i].is_there && client->world[i].id == sight->id) {
            return true;
        }
    }
    return false;
}

void watcher_show_own(Client *client) {
    Sights *sights = &client->crowd->sights;
    for (size_t i = 0; i < sights->count; i++) {
        Sight *sight = &sights->sight[i];
        if (sight->owner == client->number && !sight->is_gone && !is_own(client, sight)) {
            const bool goes_on = client->herd.is_there && client->herd.subject == sight->subject;
            // what was done at last may not have been answered; of a group that goes on it was, and
            // others that nobody knows where they stand may be there still
            sight->is_unclear = !goes_on;
            sight->is_told = !sight->is_group || goes_on;
            watch_is_gone(sight);
        }
    }
    for (size_t i = 0; i < CLIENT_WORLDS_MAX; i++) {
        show_world(client, &client->world[i]);
    }
    const Herd *herd = &client->herd;
    if (herd->is_there && watch_find(sights, true, herd->id) == NULL) {
        watch_offer(sights, &(Sight){.id = herd->id,
                                     .subject = herd->subject,
                                     .owner = client->number,
                                     .is_group = true});
    }
}

void watcher_let_rest(Client *client) {
    Sights *sights = &client->crowd->sights;
    call_forget_all(client); // what was cut with its connection watches no more
    watcher_show_own(client);
    for (size_t i = 1; i < CLIENT_WORLDS_MAX; i++) {
        const ClientWorld *world = &client->world[i];
        Sight *sight = world->is_there ? watch_find(sights, false, world->id) : NULL;
        if (sight != NULL && sight->first != NULL) {
            sight->rest_step = model_step_count(world->model);
            sight->rest[0] = model_state(world->model);
            watch_rest(sight);
        }
    }
    Sight *sight = client->herd.is_there ? watch_find(sights, true, client->herd.id) : NULL;
    if (sight != NULL && sight->first != NULL) {
        for (uint32_t i = 0; i < HERD_WORLDS; i++) {
            sight->rest[i] = herd_state(&client->herd, i);
        }
        watch_rest(sight);
    }
}

void call_watch(Client *client) {
    Moreau__V1__Subscribe message;
    Watching watching;
    watch_draw(&watching, &client->crowd->sights, client->number, &client->dice, &message);
    const uint32_t deadline_ms = (uint32_t)dice_magnitude(&client->dice, 12);
    Call *call = call_add(client, CALL_WATCH, &message, deadline_ms);
    call->watching = watching;
    call->watching.is_loose = client->is_resumable;
    watch_begin(&call->watching);
}

// ---- a watcher

typedef struct Watcher {
    Crowd *crowd;
    Dice dice;
    Link link;
    uint64_t id_last;
    bool is_slow; // it may be cut
} Watcher;

static bool is_going(const Watcher *watcher) {
    return watcher->crowd->is_stopping;
}

static bool send_call(Watcher *watcher, const void *message, uint32_t deadline_ms, bool is_cut) {
    LinkBytes bytes = {0};
    Moreau__V1__Request request = link_request(message);
    request.has_id = 1;
    request.id = ++watcher->id_last;
    request.has_deadline_ms = deadline_ms > 0;
    request.deadline_ms = deadline_ms;
    link_pack(&bytes, &request);
    const size_t count = is_cut ? (size_t)dice_roll(&watcher->dice, bytes.count) : bytes.count;
    const bool here = link_send(&watcher->link, bytes.bytes, count);
    free(bytes.bytes);
    return here && !is_cut;
}

static bool come(Watcher *watcher) {
    Moreau__V1__Hello hello = MOREAU__V1__HELLO__INIT;
    hello.has_protocol_major = 1;
    hello.protocol_major = 1;
    hello.has_resumable = 1;
    hello.resumable = dice_chance(&watcher->dice, 20);
    watcher->is_slow = false;
    if (!link_open(&watcher->link, watcher->crowd->address, &watcher->dice)) {
        return false;
    }
    Moreau__V1__Reply *reply = link_ask(&watcher->link, &hello, ++watcher->id_last);
    if (reply != NULL) {
        moreau__v1__reply__free_unpacked(reply, NULL);
    }
    return reply != NULL;
}

// What was asked of the server, and not answered yet.
typedef struct Look {
    Watching watching;
    uint64_t id, cancel, ping; // 0: not asked
    bool may_stop;
    bool is_over;
    uint64_t until_ns; // for its end, once that must come
} Look;

static bool is_refused(const Moreau__V1__Status *status) {
    return status->code == MOREAU__V1__STATUS__CODE__RESOURCE_EXHAUSTED;
}

static void check_end(const Watcher *watcher, const Look *look, const Moreau__V1__Status *status) {
    const Sight *sight = look->watching.sight;
    const bool may_be_gone = sight == NULL || sight->owner != 0;
    const bool is_gone = status->code == MOREAU__V1__STATUS__CODE__NOT_FOUND;
    const bool is_stopped = status->code == MOREAU__V1__STATUS__CODE__CANCELLED ||
                            status->code == MOREAU__V1__STATUS__CODE__DEADLINE_EXCEEDED;
    // where a watch is all that may be under way, its Cancel would not be read
    const bool may_be_refused = watcher->crowd->requests_max == 1;
    if (!(is_gone && may_be_gone) && !(is_stopped && look->may_stop) &&
        !(is_refused(status) && may_be_refused)) {
        fail("a watch ended with status %d: %s", status->code, status->message);
    }
}

static void take(Watcher *watcher, Look *look, const Moreau__V1__Reply *reply) {
    schedule_note(reply->id * 64 + (uint64_t)reply->status->code);
    if (reply->id == look->id && reply->event) {
        watch_frame(&look->watching, reply->live_frame);
    } else if (reply->id == look->id) {
        if (!is_going(watcher)) {
            check_end(watcher, look, reply->status);
        }
        watch_end(&look->watching, reply);
        look->is_over = true;
    } else if (reply->id == look->cancel) {
        look->cancel = 0;
    } else if (reply->id == look->ping) {
        look->ping = 0;
    } else {
        fail("a watcher is answered what it did not ask: %" PRIu64, reply->id);
    }
}

// When a frame, an answer or the end must be there; SCHEDULE_FOREVER: need not.
static uint64_t must_by(const Look *look) {
    const Sight *sight = look->watching.sight;
    if (look->until_ns > 0) {
        return look->until_ns;
    }
    if (look->watching.frames == 0) {
        return look->watching.asked_ns + patience_ns;
    }
    return sight != NULL && sight->is_told ? sight->gone_ns + patience_ns : SCHEDULE_FOREVER;
}

// Takes what comes in so long. False: the connection is gone.
static bool take_for(Watcher *watcher, Look *look, uint64_t ns) {
    const uint64_t end_ns = schedule_now_ns() + ns;
    while (!look->is_over && schedule_now_ns() < end_ns) {
        if (!link_wait(&watcher->link, end_ns)) {
            break;
        }
        Moreau__V1__Reply *reply;
        const LinkResult result = link_receive(&watcher->link, &reply);
        if (result == LINK_LATE) {
            fail("a watcher gets half a frame");
        }
        if (result == LINK_GONE) {
            return false;
        }
        take(watcher, look, reply);
        moreau__v1__reply__free_unpacked(reply, NULL);
    }
    if (!look->is_over && !watcher->is_slow && schedule_now_ns() - ns > must_by(look)) {
        fail("who watches %" PRIu64 " waits in vain, behind %" PRIu64 " frames",
             look->watching.sight == NULL ? 0 : look->watching.sight->id, look->watching.frames);
    }
    return true;
}

// Reads at its own pace. False: the connection is gone.
static bool look_on(Watcher *watcher, Look *look) {
    bool here = true;
    uint64_t looks = 1 + dice_magnitude(&watcher->dice, 5);
    while (here && !look->is_over) {
        const Sight *sight = look->watching.sight;
        const bool waits = watch_is_behind(&look->watching) || (sight != NULL && sight->is_told);
        looks -= looks > 0;
        if (!waits && (looks == 0 || watcher->crowd->is_watched_out)) {
            return true;
        }
        if (dice_chance(&watcher->dice, 15)) {
            const uint64_t pause_ns = dice_magnitude(&watcher->dice, 32);
            schedule_sleep(pause_ns); // for less than the server waits for somebody who reads
        }
        if (look->ping == 0 && dice_chance(&watcher->dice, 20)) {
            Moreau__V1__Ping ping = MOREAU__V1__PING__INIT;
            here = send_call(watcher, &ping, 0, false);
            look->ping = watcher->id_last;
        }
        here = here && take_for(watcher, look, dice_magnitude(&watcher->dice, 31));
    }
    return here;
}

// One subscription, until it ends in some way. False: the connection is gone.
static bool watch_one(Watcher *watcher) {
    Look look = {0};
    Moreau__V1__Subscribe message;
    watch_draw(&look.watching, &watcher->crowd->sights, 0, &watcher->dice, &message);
    const uint32_t deadline_ms =
        dice_chance(&watcher->dice, 30) ? (uint32_t)dice_magnitude(&watcher->dice, 15) : 0;
    look.may_stop = deadline_ms > 0;
    watch_begin(&look.watching);
    bool here = send_call(watcher, &message, deadline_ms, dice_chance(&watcher->dice, 3));
    look.id = watcher->id_last;
    here = here && look_on(watcher, &look);
    // it leaves without a word, or waits for the answer to it
    if (here && !look.is_over && dice_chance(&watcher->dice, 70)) {
        Moreau__V1__Cancel cancel = MOREAU__V1__CANCEL__INIT;
        cancel.has_request = 1;
        cancel.request = look.id;
        look.may_stop = true;
        here = send_call(watcher, &cancel, 0, dice_chance(&watcher->dice, 5));
        look.cancel = watcher->id_last;
        look.until_ns = schedule_now_ns() + patience_ns;
        while (here && !look.is_over) {
            here = take_for(watcher, &look, patience_ns);
        }
    }
    if (!look.is_over) {
        watch_end(&look.watching, NULL);
    }
    if (here && look.is_over && look.cancel + look.ping == 0) {
        return true;
    }
    link_close(&watcher->link);
    return come(watcher);
}

void watcher_main(void *context) {
    const ClientDef *def = context;
    Watcher watcher = {.crowd = def->crowd, .dice = dice_make(def->crowd->seed, 200 + def->number)};
    bool here = come(&watcher);
    while (here && !def->crowd->is_watched_out && !def->crowd->is_stopping) {
        here = watch_one(&watcher);
        if (dice_chance(&watcher.dice, 60)) {
            schedule_sleep(dice_magnitude(&watcher.dice, 31));
        }
    }
    if (!here && !def->crowd->is_stopping) {
        fail("watcher %zu: the server is gone", def->number);
    }
    link_close(&watcher.link);
}

// ---- the end

void watcher_judge(Crowd *crowd) {
    Sight *shared = watch_find(&crowd->sights, false, crowd->shared_world);
    if (shared != NULL && client_follow_shared(crowd)) {
        shared->rest_step = model_step_count(&crowd->shared_model);
        shared->rest[0] = model_state(&crowd->shared_model);
        watch_rest(shared);
    }
    crowd->is_watched_out = true;
    watch_judge();
}
