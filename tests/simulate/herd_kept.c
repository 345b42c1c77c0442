// SPDX-License-Identifier: MIT
#include "simulate/herd_kept.h"

#include "simulate/disk.h"

#include <inttypes.h>
#include <string.h>

// ---- asking

static uint32_t draw_deadline(Client *client) {
    return dice_chance(&client->dice, 8) ? 1 + (uint32_t)dice_roll(&client->dice, 3) : 0;
}

static void call_look(Client *client) {
    const HerdOrder order = herd_draw_order(&client->dice, GROUP_READ);
    uint8_t mask = order.worlds;
    Moreau__V1__GroupRead look = MOREAU__V1__GROUP_READ__INIT;
    look.has_group = look.has_mask = 1;
    look.group = client->herd.id;
    look.mask = (ProtobufCBinaryData){.len = 1, .data = &mask};
    call_add(client, CALL_LOOK, &look, draw_deadline(client))->order = order;
}

static void call_opinions(Client *client) {
    Moreau__V1__GroupOpinions opinions = MOREAU__V1__GROUP_OPINIONS__INIT;
    opinions.has_group = 1;
    opinions.group = client->herd.id;
    opinions.has_count = dice_chance(&client->dice, 50);
    opinions.count = dice_roll(&client->dice, 6);
    call_add(client, CALL_OPINIONS, &opinions, 0)->payload =
        opinions.has_count ? opinions.count : UINT64_MAX;
}

static void call_save(Client *client) {
    Moreau__V1__GroupSave save = MOREAU__V1__GROUP_SAVE__INIT;
    save.has_group = 1;
    save.group = client->herd.id;
    call_add(client, CALL_SAVE, &save, 0);
}

void call_herd_question(Client *client) {
    // where there are none they are refused
    const uint64_t opinions = client->herd.reference->opinion.share > 0.0 ? 50 : 5;
    const uint64_t chance = dice_roll(&client->dice, 100);
    if (chance < 30) {
        call_look(client);
    } else if (chance < 30 + opinions) {
        call_opinions(client);
    } else {
        call_save(client);
    }
}

bool is_herd_question(CallKind kind) {
    return kind == CALL_LOOK || kind == CALL_OPINIONS || kind == CALL_SAVE;
}

bool herd_may_refuse(const Client *client, const Call *call, Moreau__V1__Status__Code code) {
    if (call->kind == CALL_OPINIONS) {
        return code == MOREAU__V1__STATUS__CODE__FAILED_PRECONDITION && client->herd.is_there &&
               !(client->herd.reference->opinion.share > 0.0);
    }
    return call->kind == CALL_SAVE && disk_has_faults();
}

// ---- judging

void kept_note(Herd *herd, const HistoryDeed *deed) {
    HistoryKept *kept = herd->kept;
    if (kept == NULL) {
        return;
    }
    if (deed == NULL || kept->deed_count == HISTORY_DEEDS_MAX) {
        kept->is_ended = true;
        herd->kept = NULL;
        return;
    }
    kept->deed[kept->deed_count++] = *deed;
}

static void judge_opinions(Herd *herd, const Call *call,
                           const Moreau__V1__GroupOpinionsReply *reply) {
    if (!(herd->reference->opinion.share > 0.0)) {
        fail("a group without second opinions tells some");
    }
    herd_check_opinions(herd, reply, call->payload);
    kept_note(herd, &(HistoryDeed){.verb = HISTORY_OPINIONS,
                                   .number = call->payload,
                                   .told = herd_opinions_hash(reply->opinions)});
}

// What it does from here on is kept beside it.
static void judge_save(Client *client, const Moreau__V1__GroupSaveReply *reply) {
    History *history = client->crowd->history;
    Herd *herd = &client->herd;
    if (reply->calls != herd->opinions.calls && !herd->opinions.is_unclear &&
        herd->record == NULL) {
        fail("a group of %" PRIu64 " calls is saved as one of %" PRIu64, herd->opinions.calls,
             reply->calls);
    }
    if (history->kept_count == HISTORY_KEPT_MAX || reply->bytes > HISTORY_KEPT_BYTES_MAX) {
        return;
    }
    kept_note(herd, NULL);
    herd->kept = &history->kept[history->kept_count++];
    herd->kept->calls = reply->calls;
    herd->saved = reply->snapshot;
}

void judge_herd_question(Client *client, const Call *call, const Moreau__V1__Reply *reply) {
    Herd *herd = &client->herd;
    if (!herd->is_there) {
        return;
    }
    const bool is_ok = reply->status->code == MOREAU__V1__STATUS__CODE__OK;
    if (call->kind == CALL_LOOK && reply->result_case == MOREAU__V1__REPLY__RESULT_GROUP_STEP) {
        if (!herd_follow(herd, call->order, reply->group_step)) {
            fail("a look at a group's worlds ends their episodes");
        }
    } else if (call->kind == CALL_OPINIONS && is_ok) {
        judge_opinions(herd, call, reply->group_opinions);
    } else if (call->kind == CALL_SAVE && is_ok) {
        judge_save(client, reply->group_save);
    }
}

// ---- again

typedef struct Replay {
    const HistoryKept *kept;
    AgainAsk *ask;
    void *context;
    Dice *dice;
    uint64_t snapshot, group;
} Replay;

static bool is_ok(const Moreau__V1__Reply *reply) {
    return reply->status->code == MOREAU__V1__STATUS__CODE__OK;
}

static void give_back(Moreau__V1__Reply *reply) {
    moreau__v1__reply__free_unpacked(reply, NULL);
}

// In parts of any size.
static bool upload(Replay *replay) {
    const HistoryKept *kept = replay->kept;
    size_t done = 0;
    while (done < kept->count) {
        const size_t left = kept->count - done;
        const size_t part =
            dice_chance(replay->dice, 60) ? left : 1 + (size_t)dice_roll(replay->dice, left);
        Moreau__V1__SnapshotUpload message = MOREAU__V1__SNAPSHOT_UPLOAD__INIT;
        message.has_snapshot = message.has_first = done > 0;
        message.snapshot = replay->snapshot;
        message.has_total = done == 0;
        message.total = kept->count;
        message.first = done;
        message.has_data = 1;
        message.data =
            (ProtobufCBinaryData){.len = part, .data = (uint8_t *)(uintptr_t)kept->bytes + done};
        Moreau__V1__Reply *reply = replay->ask(replay->context, &message);
        if (reply == NULL) {
            return false;
        }
        done += part;
        if (!is_ok(reply) || reply->snapshot_upload->received != done ||
            (reply->snapshot_upload->complete != 0) != (done == kept->count)) {
            fail("a saved group of %zu bytes is not taken, at %zu: %s", kept->count, done,
                 reply->status->message);
        }
        replay->snapshot = reply->snapshot_upload->snapshot;
        give_back(reply);
    }
    return true;
}

// *is_made false: it should have been recorded, on a disk that fails.
static bool make(Replay *replay, bool *is_made) {
    Moreau__V1__GroupRecord record = MOREAU__V1__GROUP_RECORD__INIT;
    Moreau__V1__GroupCreate create = MOREAU__V1__GROUP_CREATE__INIT;
    create.has_saved = 1;
    create.saved = replay->snapshot;
    create.record = dice_chance(replay->dice, 50) ? &record : NULL;
    Moreau__V1__Reply *reply = replay->ask(replay->context, &create);
    if (reply == NULL) {
        return false;
    }
    *is_made = is_ok(reply);
    if (!*is_made && (create.record == NULL || !disk_has_faults())) {
        fail("a group that was saved is not made again: %s", reply->status->message);
    }
    if (*is_made) {
        replay->group = reply->group_create->group;
        if (reply->group_create->resumed == NULL ||
            reply->group_create->resumed->step != replay->kept->calls) {
            fail("a group that was saved behind call %" PRIu64 " stands behind another",
                 replay->kept->calls);
        }
    }
    give_back(reply);
    return true;
}

static Moreau__V1__Reply *give(const Replay *replay, const HistoryDeed *deed, HerdOrder order) {
    float action[HERD_ACTS * HERD_WORLDS];
    uint8_t mask = deed->worlds;
    const ProtobufCBinaryData named = {.len = 1, .data = &mask};
    Moreau__V1__GroupStep step = MOREAU__V1__GROUP_STEP__INIT;
    Moreau__V1__GroupReset reset = MOREAU__V1__GROUP_RESET__INIT;
    Moreau__V1__GroupRead look = MOREAU__V1__GROUP_READ__INIT;
    Moreau__V1__GroupOpinions opinions = MOREAU__V1__GROUP_OPINIONS__INIT;
    step.has_group = reset.has_group = look.has_group = opinions.has_group = 1;
    step.group = reset.group = look.group = opinions.group = replay->group;
    step.has_mask = reset.has_mask = look.has_mask = 1;
    step.mask = reset.mask = look.mask = named;
    opinions.has_count = deed->number != UINT64_MAX;
    opinions.count = deed->number;
    herd_actions(order, action);
    step.n_action = HERD_ACTS * herd_count(order);
    step.action = action;
    const void *message = deed->verb == GROUP_STEP    ? (const void *)&step
                          : deed->verb == GROUP_RESET ? (const void *)&reset
                          : deed->verb == GROUP_READ  ? (const void *)&look
                                                      : (const void *)&opinions;
    return replay->ask(replay->context, message);
}

static bool give_all(const Replay *replay) {
    const HistoryKept *kept = replay->kept;
    for (size_t i = 0; i < kept->deed_count; i++) {
        const HistoryDeed *deed = &kept->deed[i];
        const HerdOrder order = {
            .verb = (GroupVerb)deed->verb, .worlds = deed->worlds, .number = deed->number};
        Moreau__V1__Reply *reply = give(replay, deed, order);
        if (reply == NULL) {
            return false;
        }
        const uint64_t told = !is_ok(reply) ? 0
                              : deed->verb == HISTORY_OPINIONS
                                  ? herd_opinions_hash(reply->group_opinions->opinions)
                                  : herd_told(order, reply->group_step);
        if (!is_ok(reply) || told != deed->told) {
            fail("call %zu behind a group's save (verb %u) is answered otherwise by what was made "
                 "of it: %s",
                 i + 1, deed->verb, is_ok(reply) ? "other rows" : reply->status->message);
        }
        give_back(reply);
    }
    return true;
}

static bool drop(const Replay *replay) {
    Moreau__V1__SnapshotDrop message = MOREAU__V1__SNAPSHOT_DROP__INIT;
    message.has_snapshot = 1;
    message.snapshot = replay->snapshot;
    Moreau__V1__Reply *reply = replay->ask(replay->context, &message);
    if (reply != NULL && !is_ok(reply)) {
        fail("a saved group is not dropped: %s", reply->status->message);
    }
    if (reply != NULL) {
        give_back(reply);
    }
    return reply != NULL;
}

static bool destroy(const Replay *replay, uint64_t group) {
    Moreau__V1__GroupDestroy message = MOREAU__V1__GROUP_DESTROY__INIT;
    message.has_group = 1;
    message.group = group;
    Moreau__V1__Reply *reply = replay->ask(replay->context, &message);
    if (reply != NULL && !is_ok(reply) && !disk_has_faults()) {
        fail("a group does not end: %s", reply->status->message);
    }
    if (reply != NULL) {
        give_back(reply);
    }
    return reply != NULL;
}

static bool run(Replay *replay, bool *is_made) {
    return upload(replay) && make(replay, is_made) && drop(replay) &&
           (!*is_made || give_all(replay));
}

bool kept_check(const HistoryKept *kept, Dice *dice, AgainAsk *ask, void *context) {
    Replay replay = {.kept = kept, .dice = dice, .ask = ask, .context = context};
    bool is_made;
    if (kept->count == 0) {
        return true;
    }
    return run(&replay, &is_made) && (!is_made || destroy(&replay, replay.group));
}

// ---- a client's

static Moreau__V1__Reply *ask_client(void *context, const void *message) {
    Client *client = context;
    Moreau__V1__Reply *reply = link_ask(&client->link, message, ++client->id_last);
    if (reply == NULL && !client->crowd->is_stopping) {
        fail("client %zu: the server closed the connection", client->number);
    }
    return reply;
}

// The bytes, in parts of any size.
static bool fetch(Client *client) {
    Herd *herd = &client->herd;
    HistoryKept *kept = herd->kept;
    size_t done = 0, total = 1;
    while (done < total) {
        Moreau__V1__SnapshotRead message = MOREAU__V1__SNAPSHOT_READ__INIT;
        message.has_snapshot = message.has_first = 1;
        message.snapshot = herd->saved;
        message.first = done;
        message.has_count = dice_chance(&client->dice, 40);
        message.count = 1 + dice_roll(&client->dice, HISTORY_KEPT_BYTES_MAX / 4);
        Moreau__V1__Reply *reply = ask_client(client, &message);
        if (reply == NULL) {
            return false;
        }
        const Moreau__V1__SnapshotReadReply *read = reply->snapshot_read;
        if (!is_ok(reply) || read->data.len == 0 || read->total > HISTORY_KEPT_BYTES_MAX ||
            done + read->data.len > read->total) {
            fail("client %zu: a saved group cannot be read: %s", client->number,
                 reply->status->message);
        }
        memcpy(kept->bytes + done, read->data.data, read->data.len);
        done += read->data.len;
        total = (size_t)read->total;
        give_back(reply);
    }
    kept->count = total;
    const Replay replay = {.snapshot = herd->saved, .ask = ask_client, .context = client};
    herd->saved = 0;
    client->crowd->history->saves++;
    return drop(&replay);
}

// The group ends, and what is made of its save does all that it did: its reference is that one's.
static bool go_on(Client *client) {
    Herd *herd = &client->herd;
    Replay replay = {
        .kept = herd->kept, .dice = &client->dice, .ask = ask_client, .context = client};
    bool is_made;
    HistoryHerd *record = herd->record;
    herd->record = NULL;
    if (!destroy(&replay, herd->id)) {
        return false;
    }
    if (record != NULL) {
        record->is_ended = !disk_has_faults();
    }
    if (!run(&replay, &is_made)) {
        return false;
    }
    herd->id = replay.group;
    if (!is_made) {
        herd_deinit(herd);
    }
    return true;
}

bool kept_take_round(Client *client) {
    const Herd *herd = &client->herd;
    const History *history = client->crowd->history;
    if (herd->is_there && herd->saved != 0 && herd->kept != NULL && !fetch(client)) {
        return false;
    }
    if (herd->is_there && herd->kept != NULL && dice_chance(&client->dice, 20) && !go_on(client)) {
        return false;
    }
    if (history->kept_count > 0 && dice_chance(&client->dice, 4)) {
        const HistoryKept *kept = &history->kept[dice_roll(&client->dice, history->kept_count)];
        return kept_check(kept, &client->dice, ask_client, client);
    }
    return true;
}
