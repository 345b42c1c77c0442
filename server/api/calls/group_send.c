// SPDX-License-Identifier: MIT
// GroupSend and GroupReceive: a step in two parts. Send answers at once, and what comes out waits
// in the group's mail until Receive asks for it. A Receive waits for no more worlds than were sent,
// so each gets what it asked for.
#include "api/calls/group_call.h"
#include "api/group_turn.h"

#include <inttypes.h>

typedef struct GroupReceiver GroupReceiver;

struct GroupReceiver {
    Request *request;
    GroupEntry *entry; // retained
    uint32_t count;    // of the worlds that it waits for
    uint32_t *world;   // [count]
    OpinionColumns told;
    bool is_served;  // they are its
    bool is_stopped; // it gets none
    bool is_told;    // the lane's: the worlds are free
    GroupReceiver *next;
};

static void serve(GroupEntry *entry);

// They wait in the mail for whoever asks.
static void keep_finished(GroupRun *run, const GroupPart *part) {
    for (size_t i = part->first; i < part->end; i++) {
        group_mail_finish(run->entry->mail, run->order[i]);
    }
    serve(run->entry);
}

// Somebody may wait for these rows.
static bool is_always_soon(GroupRun *run, Lane *lane) {
    (void)run;
    (void)lane;
    return true;
}

static const GroupAnswer sends = {.worked = is_always_soon, .taken = keep_finished};

// Hands the rows to the mail, and to the run which of them to carry out.
static Status send_rows(GroupRun *run, Error *error) {
    GroupMail *mail = run->entry->mail;
    const size_t columns = run->call.group->action.column_count;
    uint32_t *order = arena_take_array(&run->request->arena, run->count, sizeof(*order));
    if (order == NULL) {
        return error_set(error, STATUS_RESOURCE_EXHAUSTED, "mask",
                         "Memory ended: send fewer worlds than %zu at once.", run->count);
    }
    for (size_t i = 0; i < run->count; i++) {
        const GroupCall *call = &run->call;
        order[i] = group_call_world(call, i);
        group_mail_send(mail, order[i], call->action == NULL ? NULL : call->action + i * columns,
                        call->action_double == NULL ? NULL : call->action_double + i * columns);
    }
    run->call = mail->call;
    run->order = order;
    run->answer = &sends;
    return STATUS_OK;
}

// The request stays until its worlds have come back, as it can be stopped, but for its client it is
// over.
Status command_group_send_prepare(Request *request, Error *error) {
    static Moreau__V1__GroupSendReply message = MOREAU__V1__GROUP_SEND_REPLY__INIT;
    const Moreau__V1__GroupSend *send = request->message->group_send;
    GroupRun *run;
    Status status = group_run_prepare(request, send->group, group_mask(send->has_mask, send->mask),
                                      &run, error);
    status = STATUS_THEN(status,
                         group_run_take_actions(run, send->n_action, send->action,
                                                send->n_action_double, send->action_double, error));
    status = STATUS_THEN(status, group_run_take_returns(run, GROUP_RETURNS(send), error));
    status = STATUS_THEN(status, farm_open_mail(run->entry, error));
    status = STATUS_THEN(status, group_run_reserve(run, false, error));
    status = STATUS_THEN(status, send_rows(run, error));
    if (status != STATUS_OK) {
        return status;
    }
    Moreau__V1__Reply reply = MOREAU__V1__REPLY__INIT;
    reply.result_case = MOREAU__V1__REPLY__RESULT_GROUP_SEND;
    reply.group_send = &message;
    Error none;
    error_clear(&none);
    request_reply(request, NULL, &reply, &none);
    group_run_start(run);
    return STATUS_OK;
}

// ---- receiving

static GroupReceiver *receiver_of(Request *request) {
    return request->plan;
}

static void release_receiver(Request *request) {
    farm_release(receiver_of(request)->entry);
}

typedef struct MailReply {
    GroupRows rows;
    GroupReceiver *receiver;
} MailReply;

static void free_worlds(GroupReceiver *receiver) {
    for (uint32_t i = 0; i < receiver->count; i++) {
        atomic_store_explicit(&receiver->entry->mail->is_free[receiver->world[i]], true,
                              memory_order_release);
    }
    receiver->is_told = true;
}

// The worlds are free as soon as their rows are written, before their client can know it.
static uint8_t *write_mail(uint8_t *at, const void *context) {
    const MailReply *reply = context;
    at = group_codec_pack(&reply->rows, at);
    free_worlds(reply->receiver);
    return at;
}

static void tell_rows(GroupReceiver *receiver, Lane *lane) {
    Request *request = receiver->request;
    MailReply reply = {.rows = {.call = &receiver->entry->mail->call,
                                .count = receiver->count,
                                .row = receiver->world,
                                .names_worlds = true,
                                .opinions = receiver->told},
                       .receiver = receiver};
    Error error;
    error_clear(&error);
    if (!group_run_list_failures(request, receiver->entry, &reply.rows, &request->arena)) {
        error_set(&error, STATUS_RESOURCE_EXHAUSTED, "count",
                  "Memory ended while failures were told: ask for fewer worlds.");
    }
    const ReplyBody body = {.field = MOREAU__V1__REPLY__RESULT_GROUP_STEP,
                            .bytes_max = group_codec_bytes_max(&reply.rows),
                            .write = write_mail,
                            .context = &reply};
    request_reply_written(request, lane, &body, &error);
    if (!receiver->is_told) {
        free_worlds(receiver);
    }
}

static JobOutcome answer_receiver(Job *job, Lane *lane) {
    Request *request = (Request *)(void *)((char *)job - offsetof(Request, job));
    GroupReceiver *receiver = receiver_of(request);
    if (!receiver->is_stopped) {
        tell_rows(receiver, lane);
        job->urgent = group_turn_told(receiver->entry);
        return JOB_DONE;
    }
    Moreau__V1__Reply empty = MOREAU__V1__REPLY__INIT;
    Error error;
    error_set(&error, STATUS_CANCELLED, "",
              "The request was cancelled; what it waited for can still be received.");
    request_reply(request, lane, &empty, &error);
    job->urgent = true; // `done` writes its line
    return JOB_DONE;
}

static void on_received(Job *job) {
    Request *request = (Request *)(void *)((char *)job - offsetof(Request, job));
    group_turn_go_on(receiver_of(request)->entry);
    request_finish(request);
}

static void submit_receiver(GroupReceiver *receiver) {
    Request *request = receiver->request;
    strand_init(&request->strand);
    request->job = (Job){.work = answer_receiver, .done = on_received};
    pool_submit(request->api->def.pool, &request->strand, request_share(request), &request->job);
}

// Those who wait in front get theirs, as long as there is enough.
static void serve(GroupEntry *entry) {
    GroupMail *mail = entry->mail;
    while (entry->receiver != NULL && entry->receiver->count <= mail->finished_count) {
        GroupReceiver *receiver = entry->receiver;
        entry->receiver = receiver->next;
        receiver->is_served = true;
        group_turn_tell(entry);
        group_mail_take(mail, receiver->count, receiver->world);
        mail->claimed_count -= receiver->count;
        if (entry->opinions != NULL) {
            opinions_take(entry->opinions, false, entry->count, &receiver->request->arena,
                          &receiver->told);
        }
        submit_receiver(receiver);
    }
}

// What it waited for is there for others.
static void stop_receiver(Request *request) {
    GroupReceiver *receiver = receiver_of(request);
    if (receiver->is_served || receiver->is_stopped) {
        return;
    }
    GroupReceiver **link = &receiver->entry->receiver;
    while (*link != receiver) {
        link = &(*link)->next;
    }
    *link = receiver->next;
    receiver->is_stopped = true;
    receiver->entry->mail->claimed_count -= receiver->count;
    receiver->entry->mail->sent_count += receiver->count;
    submit_receiver(receiver);
    serve(receiver->entry);
}

static Status judge_count(const Request *request, const GroupEntry *entry, uint64_t *count,
                          Error *error) {
    const Moreau__V1__GroupReceive *message = request->message->group_receive;
    const uint32_t sent = entry->mail == NULL ? 0 : entry->mail->sent_count;
    *count = message->has_count ? message->count : sent;
    if (sent == 0) {
        return error_set(error, STATUS_FAILED_PRECONDITION, "group",
                         "No world of this group is under way: send some first (GroupSend).");
    }
    if (*count < 1) {
        return error_set(error, STATUS_INVALID_ARGUMENT, "count", "Ask for one world at least.");
    }
    if (*count > sent) {
        return error_set(error, STATUS_FAILED_PRECONDITION, "count",
                         "%u worlds were sent and not asked for; ask for no more.", sent);
    }
    const size_t bytes = REPLY_HEAD_OK_BYTES_MAX + group_codec_bytes_bound(entry->group, *count);
    return bytes <= request->api->def.frame_bytes_max
               ? STATUS_OK
               : request_refuse_length(request, bytes, error);
}

Status command_group_receive_prepare(Request *request, Error *error) {
    const uint64_t id = request->message->group_receive->group;
    GroupEntry *entry = farm_find(request->api->def.farm, id, request_view(request));
    if (entry == NULL) {
        return error_set(error, STATUS_NOT_FOUND, "group", "No group has the id %" PRIu64 ".", id);
    }
    uint64_t count;
    Status status = judge_count(request, entry, &count, error);
    if (status != STATUS_OK) {
        return status;
    }
    GroupReceiver *receiver = arena_take(&request->arena, sizeof(*receiver));
    uint32_t *world = arena_take_array(&request->arena, count, sizeof(*world));
    if (receiver == NULL || world == NULL) {
        return error_set(error, STATUS_RESOURCE_EXHAUSTED, "count",
                         "Memory ended: ask for fewer worlds.");
    }
    farm_retain(entry);
    *receiver = (GroupReceiver){
        .request = request, .entry = entry, .count = (uint32_t)count, .world = world};
    request->plan = receiver;
    request->finish = release_receiver;
    request->stopped = stop_receiver;
    entry->mail->sent_count -= (uint32_t)count;
    entry->mail->claimed_count += (uint32_t)count;
    GroupReceiver **link = &entry->receiver;
    while (*link != NULL) {
        link = &(*link)->next;
    }
    *link = receiver;
    serve(entry);
    return STATUS_OK;
}
