// SPDX-License-Identifier: MIT
// GroupOpinions: waits until what was kept of earlier calls has been solved again, and tells it.
#include "api/calls/group_call.h"

#include <inttypes.h>

typedef struct Reader {
    OpinionWait turn;
    Request *request;
    GroupEntry *entry; // retained
    size_t count_max;
    OpinionColumns told;
    uint64_t left, lost; // when they were taken: of the calls before
    bool has_room;       // for them
    bool is_served;
    bool is_stopped; // it gets none
} Reader;

static void release_reader(Request *request) {
    farm_release(((Reader *)request->plan)->entry);
}

static void answer(const Reader *reader, Lane *lane) {
    Moreau__V1__Reply reply = MOREAU__V1__REPLY__INIT;
    Moreau__V1__GroupOpinionsReply message = MOREAU__V1__GROUP_OPINIONS_REPLY__INIT;
    Moreau__V1__GroupOpinionColumns columns;
    Error error;
    error_clear(&error);
    if (reader->is_stopped) {
        error_set(&error, STATUS_CANCELLED, "",
                  "The request was cancelled; what it waited for can still be asked for.");
    } else if (!reader->has_room) {
        error_set(&error, STATUS_RESOURCE_EXHAUSTED, "count",
                  "Memory ended: ask for fewer opinions.");
    } else {
        group_codec_fill_opinions(&reader->told, &columns);
        message.opinions = &columns;
        message.has_left = message.has_lost = 1;
        message.left = reader->left;
        message.lost = reader->lost;
        reply.result_case = MOREAU__V1__REPLY__RESULT_GROUP_OPINIONS;
        reply.group_opinions = &message;
    }
    request_reply(reader->request, lane, &reply, &error);
}

static void on_passed(Job *job) {
    Request *request = (Request *)(void *)((char *)job - offsetof(Request, job));
    answer(request->plan, NULL);
    request_finish(request);
}

static void serve_reader(OpinionWait *wait) {
    Reader *reader = (Reader *)(void *)((char *)wait - offsetof(Reader, turn));
    reader->is_served = true;
    reader->has_room = opinions_take(reader->entry->opinions, true, reader->count_max,
                                     &reader->request->arena, &reader->told);
    reader->left = opinions_left(reader->entry->opinions);
    reader->lost = atomic_load_explicit(&reader->entry->group->opinions_lost, memory_order_relaxed);
    request_take_turn(reader->request, NULL, on_passed);
}

static void stop_reader(Request *request) {
    Reader *reader = request->plan;
    if (!reader->is_served && !reader->is_stopped) {
        reader->is_stopped = true;
        opinions_stop_waiting(reader->entry->opinions, &reader->turn);
        request_take_turn(request, NULL, on_passed);
    }
}

static size_t count_max(const Request *request) {
    const Moreau__V1__GroupOpinions *message = request->message->group_opinions;
    const size_t each = group_codec_opinions_bound(1) - group_codec_opinions_bound(0),
                 fixed = REPLY_HEAD_OK_BYTES_MAX + 64 + group_codec_opinions_bound(0),
                 frame = request->api->def.frame_bytes_max,
                 room = frame > fixed ? (frame - fixed) / each : 0;
    return message->has_count && message->count < room ? (size_t)message->count : room;
}

Status command_group_opinions_prepare(Request *request, Error *error) {
    const uint64_t id = request->message->group_opinions->group;
    GroupEntry *entry = farm_find(request->api->def.farm, id, request_view(request));
    if (entry == NULL) {
        return error_set(error, STATUS_NOT_FOUND, "group", "No group has the id %" PRIu64 ".", id);
    }
    if (entry->opinions == NULL) {
        return error_set(error, STATUS_FAILED_PRECONDITION, "group",
                         "No step of this group is solved again: make it with opinion.share "
                         "(GroupCreate).");
    }
    Reader *reader = arena_take_zeroed(&request->arena, 1, sizeof(*reader));
    if (reader == NULL) {
        return error_set(error, STATUS_RESOURCE_EXHAUSTED, "count", "Memory ended.");
    }
    farm_retain(entry);
    *reader = (Reader){.turn = {.ready = serve_reader, .is_reader = true},
                       .request = request,
                       .entry = entry,
                       .count_max = count_max(request)};
    request->plan = reader;
    request->finish = release_reader;
    request->stopped = stop_reader;
    opinions_wait(entry->opinions, &reader->turn);
    return STATUS_OK;
}
