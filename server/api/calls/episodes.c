// SPDX-License-Identifier: MIT
// The family episode, as far as it keeps books: Start, Stop, List, Describe, Delete, Pin. (Read and
// Replay: replay.c; Verify: verify.c.)
//
// Start, Stop, Delete and Pin are work in two parts: the first hands something to the log and
// parks, the second runs when it is on the disk, and replies.
#include "api/calls/episode.h"
#include "api/calls/touch_filter.h"
#include "replay/player/group_player.h"
#include "replay/player/wardrobe.h"
#include "replay/verify/signed.h"
#include "run/worlds/recorder.h"
#include "step/snapshot/snapshot.h"
#include "wire/scene/print.h"
#include "wire/wire.h"
#include "base/array.h"
#include "os/clock.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static Status out_of_memory(Error *error) {
    return error_set(error, STATUS_RESOURCE_EXHAUSTED, "",
                     "Memory ended while carrying out the request.");
}

// What Start, Stop and Delete remember between their two parts.
typedef struct EpisodePlan {
    uint8_t uid[UID_BYTES];
    bool has_uid; // Stop by episode: it must be this one
    char uid_text[UID_TEXT_BYTES];
    char name[HOST_NAME_BYTES];
    char client[HOST_NAME_BYTES]; // the session's may change while a lane reads it
    Error error;                  // why an episode was not found
    Error ended;                  // why nothing was recorded any more before it was stopped
} EpisodePlan;

static Status take_plan(Request *request, Error *error) {
    request->plan = arena_take_zeroed(&request->arena, 1, sizeof(EpisodePlan));
    return request->plan != NULL ? STATUS_OK : out_of_memory(error);
}

// How it went in the log.
static Status take_verdict(const Request *request, Error *error) {
    if (request->wait.error.status != STATUS_OK) {
        *error = request->wait.error;
    }
    return request->wait.error.status;
}

// ---- start

static Status check_steps(uint64_t steps, uint64_t max, const char *field, Error *error) {
    if (steps >= 1 && steps <= max) {
        return STATUS_OK;
    }
    return error_set(error, STATUS_INVALID_ARGUMENT, field,
                     "%s is 1 to %" PRIu64 " steps, not %" PRIu64 ".", field, max, steps);
}

Status command_episode_start_judge(Request *request, Error *error) {
    const Moreau__V1__EpisodeStart *start = request->message->episode_start;
    if (start->name != NULL && start->name[0] == '\0') {
        return error_set(error, STATUS_INVALID_ARGUMENT, "name",
                         "A name has 1 to 255 bytes; leave it out for the world's with a number.");
    }
    Status status = episode_check_build(request, error);
    status =
        STATUS_THEN(status, episode_check_labels(start->n_labels, start->labels, "labels", error));
    status = STATUS_THEN(status, check_steps(start->stride, RECORDER_STRIDE_MAX, "stride", error));
    status = STATUS_THEN(status, check_steps(start->keyframe_steps, RECORDER_KEYFRAME_STEPS_MAX,
                                             "keyframe_steps", error));
    if (status == STATUS_OK && start->events && start->lossy) {
        status =
            error_set(error, STATUS_INVALID_ARGUMENT, "events",
                      "Events cannot be recorded of an episode that is lossy: who touches whom "
                      "follows from every step. Leave one of the two out.");
    }
    return STATUS_THEN(status, take_plan(request, error));
}

// That of its Stop, which shows all that is given here: an episode that could not be described
// would not be ended without an error. Beside the labels: six texts, of which the last three are
// the server's, and numbers.
size_t command_episode_start_bytes(const Request *request) {
    enum { TEXTS_BYTES_MAX = 6 * HOST_NAME_BYTES, NUMBERS_BYTES_MAX = 24 * 12 };
    const Moreau__V1__EpisodeStart *start = request->message->episode_start;
    size_t bytes = TEXTS_BYTES_MAX + NUMBERS_BYTES_MAX;
    for (size_t i = 0; i < start->n_labels; i++) {
        bytes += 3 + strlen(start->labels[i]);
    }
    return bytes;
}

Status command_episode_start_prepare(Request *request, Error *error) {
    (void)error;
    EpisodePlan *plan = request->plan;
    snprintf(plan->client, sizeof(plan->client), "%s", request->session->client);
    host_watch(request->world);
    return STATUS_OK;
}

static Status refuse_second(const Recorder *recorder, Error *error) {
    char uid[UID_TEXT_BYTES];
    Error why = {0};
    uid_text(recorder_episode_uid(recorder), uid);
    if (recorder_status(recorder, &why) != STATUS_OK) {
        return error_set(error, STATUS_FAILED_PRECONDITION, "world",
                         "The recording of episode %s has failed (%.200s); EpisodeStop ends it.",
                         uid, why.message);
    }
    return error_set(error, STATUS_FAILED_PRECONDITION, "world",
                     "This world is being recorded already, as episode %s; EpisodeStop ends it.",
                     uid);
}

// Whether some episode has the world's name with this number.
static Status is_taken(Request *request, LogReader *reader, uint64_t number, bool *taken,
                       Error *error) {
    char name[HOST_NAME_BYTES];
    EpisodeRow row;
    Error why = {0};
    episode_number_name(request->world->name, number, name);
    Status status = log_reader_find(reader, name, &request->arena, &row, &why);
    *taken = status == STATUS_OK || status == STATUS_INVALID_ARGUMENT; // one has, or several
    if (*taken || status == STATUS_NOT_FOUND) {
        return STATUS_OK;
    }
    *error = why;
    return status;
}

// A number that is free, and whose predecessor is not: by doubling, then by halving.
static Status find_number(Request *request, LogReader *reader, uint64_t *number, Error *error) {
    uint64_t last_taken = 0, free = 1;
    bool taken;
    Status status;
    while ((status = is_taken(request, reader, free, &taken, error)) == STATUS_OK && taken) {
        last_taken = free;
        free *= 2;
    }
    while (status == STATUS_OK && free - last_taken > 1) {
        uint64_t middle = last_taken + (free - last_taken) / 2;
        status = is_taken(request, reader, middle, &taken, error);
        *(taken ? &last_taken : &free) = middle;
    }
    *number = free;
    return status;
}

static Status choose_name(Request *request, char name[HOST_NAME_BYTES], Error *error) {
    Log *log = request->api->def.log;
    LogReader *reader;
    Status status = request_take_reader(request, &reader, error);
    if (status != STATUS_OK) {
        return status;
    }
    uint64_t number;
    status = find_number(request, reader, &number, error);
    log_give_reader(log, reader);
    episode_number_name(request->world->name, number, name);
    return status;
}

static Status begin_recording(Request *request, Error *error) {
    const Moreau__V1__EpisodeStart *start = request->message->episode_start;
    EpisodePlan *plan = request->plan;
    Door *door = &request->world->door;
    if (door->recorder != NULL) {
        return refuse_second(door->recorder, error);
    }
    Status status = STATUS_OK;
    if (start->name != NULL) {
        snprintf(plan->name, sizeof(plan->name), "%s", start->name);
    } else {
        status = choose_name(request, plan->name, error);
    }
    status = STATUS_THEN(status, episode_check_room(request, error));
    if (status != STATUS_OK) {
        return status;
    }
    RecorderDef def = {.content = (RecordingContent)start->content,
                       .stride = start->stride,
                       .keyframe_steps = start->keyframe_steps,
                       .lossy = start->lossy,
                       .has_events = start->events,
                       .name = plan->name,
                       .label_count = start->n_labels,
                       .label = (const char *const *)start->labels,
                       .client = plan->client,
                       .space = request->home,
                       .use = request->session->use,
                       .world_name = request->world->name,
                       .print_scene = scene_print,
                       .origin = door->origin,
                       .has_seed = start->has_seed,
                       .seed = start->seed};
    status = recorder_start(request->api->def.log, &def, door->world, request_wait(request),
                            &door->recorder, error);
    if (status == STATUS_OK) {
        host_publish(request->world);
        request->outcome = JOB_PARKED;
    }
    return status;
}

Status command_episode_start(Request *request, Lane *lane, Moreau__V1__Reply *reply, Error *error) {
    (void)lane;
    if (!request->is_resumed) {
        return begin_recording(request, error);
    }
    EpisodePlan *plan = request->plan;
    Door *door = &request->world->door;
    Status status = take_verdict(request, error);
    Moreau__V1__EpisodeStartReply *message = arena_take(&request->arena, sizeof(*message));
    if (status != STATUS_OK || message == NULL) {
        recorder_stop(door->recorder, RECORDING_INTERRUPTED, NULL);
        door->recorder = NULL;
        host_publish(request->world);
        return status != STATUS_OK ? status : out_of_memory(error);
    }
    uid_text(recorder_episode_uid(door->recorder), plan->uid_text);
    moreau__v1__episode_start_reply__init(message);
    message->episode = plan->uid_text;
    message->name = plan->name;
    reply->result_case = MOREAU__V1__REPLY__RESULT_EPISODE_START;
    reply->episode_start = message;
    return STATUS_OK;
}

// ---- stop

static void work_on_world(Request *request, WorldEntry *entry) {
    host_retain(entry);
    request->world = entry;
    request_submit(request);
}

// What is called otherwise than by the id that is being recorded is looked up on a lane, and its
// world then on the loop.
static JobOutcome find_on_lane(Job *job, Lane *lane) {
    (void)lane;
    Request *request = (Request *)(void *)((char *)job - offsetof(Request, job));
    EpisodePlan *plan = request->plan;
    EpisodeRow row;
    Status status =
        episode_find(request, request->message->episode_stop->episode, &row, &plan->error);
    if (status == STATUS_OK) {
        memcpy(plan->uid, row.uid, UID_BYTES);
        plan->has_uid = true;
        uid_text(row.uid, plan->uid_text);
        if (row.state != RECORDING_OPEN) {
            error_set(&plan->error, STATUS_FAILED_PRECONDITION, "episode",
                      "Episode %s is not being recorded: it is %s.", plan->uid_text,
                      recording_state_name(row.state));
        }
    }
    job->urgent = true;
    return JOB_DONE;
}

static void on_found(Job *job) {
    Request *request = (Request *)(void *)((char *)job - offsetof(Request, job));
    EpisodePlan *plan = request->plan;
    WorldEntry *entry = NULL;
    if (plan->error.status == STATUS_OK) {
        entry = host_find_episode(request->api->def.host, plan->uid, request_view(request));
    }
    if (plan->error.status == STATUS_OK && entry == NULL) {
        error_set(&plan->error, STATUS_FAILED_PRECONDITION, "episode",
                  "Episode %s is not being recorded any more.", plan->uid_text);
    }
    if (plan->error.status != STATUS_OK) {
        request_end(request, &plan->error);
        return;
    }
    work_on_world(request, entry);
}

static void look_up(Request *request) {
    strand_init(&request->strand);
    request->job = (Job){.work = find_on_lane, .done = on_found};
    pool_submit(request->api->def.background, &request->strand, request_share(request),
                &request->job);
}

// An id leads to its world at once, without the file: so the call keeps its place among those on
// that world.
static void stop_episode(Request *request) {
    EpisodePlan *plan = request->plan;
    WorldEntry *entry = NULL;
    if (uid_read(request->message->episode_stop->episode, plan->uid)) {
        entry = host_find_episode(request->api->def.host, plan->uid, request_view(request));
    }
    if (entry == NULL) {
        look_up(request);
        return;
    }
    plan->has_uid = true;
    uid_text(plan->uid, plan->uid_text);
    work_on_world(request, entry);
}

Status command_episode_stop_prepare(Request *request, Error *error) {
    const Moreau__V1__EpisodeStop *stop = request->message->episode_stop;
    bool has_episode = stop->episode != NULL;
    if (has_episode == (stop->has_world != 0)) {
        return error_set(error, STATUS_INVALID_ARGUMENT, has_episode ? "episode" : "world",
                         "Name either the world or the episode.");
    }
    Status status = take_plan(request, error);
    if (status != STATUS_OK) {
        return status;
    }
    if (has_episode) {
        stop_episode(request);
        return STATUS_OK;
    }
    WorldEntry *entry = request_find_world(request, stop->world);
    if (entry == NULL) {
        return error_set(error, STATUS_NOT_FOUND, "world", "No world has the id %" PRIu64 ".",
                         stop->world);
    }
    work_on_world(request, entry);
    return STATUS_OK;
}

static Status end_recording(Request *request, Error *error) {
    EpisodePlan *plan = request->plan;
    Door *door = &request->world->door;
    const uint8_t *uid = door->recorder == NULL ? NULL : recorder_episode_uid(door->recorder);
    if (plan->has_uid && (uid == NULL || memcmp(uid, plan->uid, UID_BYTES) != 0)) {
        return error_set(error, STATUS_FAILED_PRECONDITION, "episode",
                         "Episode %s is not being recorded any more.", plan->uid_text);
    }
    if (uid == NULL) {
        return error_set(error, STATUS_FAILED_PRECONDITION, "world",
                         "World %" PRIu64 " is not being recorded.", request->world->id);
    }
    uid_text(uid, plan->uid_text);
    recorder_status(door->recorder, &plan->ended);
    recorder_stop(door->recorder, RECORDING_COMPLETE, request_wait(request));
    door->recorder = NULL;
    host_publish(request->world);
    request->outcome = JOB_PARKED;
    return STATUS_OK;
}

Status command_episode_stop(Request *request, Lane *lane, Moreau__V1__Reply *reply, Error *error) {
    (void)lane;
    if (!request->is_resumed) {
        return end_recording(request, error);
    }
    EpisodePlan *plan = request->plan;
    Status status = take_verdict(request, error);
    if (status == STATUS_OK && plan->ended.status != STATUS_OK) { // before it was stopped
        *error = plan->ended;
        status = error->status;
    }
    if (status != STATUS_OK) {
        return status;
    }
    EpisodeRow row;
    Moreau__V1__EpisodeStopReply *message = arena_take(&request->arena, sizeof(*message));
    Moreau__V1__EpisodeInfo *info = arena_take(&request->arena, sizeof(*info));
    status = episode_find(request, plan->uid_text, &row, error);
    if (status != STATUS_OK) {
        return status;
    }
    if (message == NULL || info == NULL || !episode_describe(&row, &request->arena, info)) {
        return out_of_memory(error);
    }
    moreau__v1__episode_stop_reply__init(message);
    message->episode = info;
    reply->result_case = MOREAU__V1__REPLY__RESULT_EPISODE_STOP;
    reply->episode_stop = message;
    return STATUS_OK;
}

// ---- list, describe

enum { ROWS_MAX = 65536 };

// A filter's text; "" is none.
static const char *wanted(const char *text) {
    return text == NULL || text[0] == '\0' ? NULL : text;
}

// The first moment [ns] since 1970 that is shown as `seconds` or later: a double tells only some
// 200 ns apart, and an episode's own `begun` shall find it. 0 stands for "open", so a time that is
// given is 1 at least.
static uint64_t moment_ns(bool is_given, double seconds) {
    const double seconds_max = 9e9;    // the year 2255: far from what 64 bits hold
    const uint64_t rounding_ns = 4096; // more than two doubles of that size are apart
    if (!is_given) {
        return 0;
    }
    if (seconds >= seconds_max) {
        return UINT64_C(9000000000000000000);
    }
    uint64_t about = seconds <= 0.0 ? 0 : (uint64_t)(seconds * 1e9);
    uint64_t low = about > rounding_ns ? about - rounding_ns : 1, high = about + rounding_ns;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (episode_seconds(middle) >= seconds) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return low;
}

// A reply as it grows: so many episodes may be asked for that only what is sent of them is kept.
typedef struct EpisodeListing {
    Arena *arena;
    uint8_t *packed; // owned; the field `episodes`
    size_t used, capacity;
    size_t used_max; // what a frame holds
    size_t refused;  // bytes of the one that did not fit; 0: all did
    bool is_out_of_memory;
    bool has_unknown;
    EpisodeRows rows;
    ReplyBody body;
} EpisodeListing;

enum { LIST_NUMBERS_BYTES_MAX = 2 * WIRE_HEAD_BYTES_MAX };

static bool list_episode(void *context, const EpisodeRow *row) {
    EpisodeListing *listing = context;
    Moreau__V1__EpisodeInfo info;
    if (!episode_describe(row, listing->arena, &info)) {
        listing->is_out_of_memory = true;
        return false;
    }
    const size_t bytes = moreau__v1__episode_info__get_packed_size(&info);
    if (bytes + WIRE_HEAD_BYTES_MAX > listing->used_max - listing->used) {
        listing->refused = bytes;
        return false;
    }
    if (!ARRAY_RESERVE(listing->packed, listing->capacity,
                       listing->used + WIRE_HEAD_BYTES_MAX + bytes)) {
        listing->is_out_of_memory = true;
        return false;
    }
    uint8_t *at = wire_head(listing->packed + listing->used, 2, bytes);
    at += moreau__v1__episode_info__pack(&info, at);
    listing->used = (size_t)(at - listing->packed);
    return true;
}

static uint8_t *write_list(uint8_t *at, const void *context) {
    const EpisodeListing *listing = context;
    at = wire_number(at, 1, listing->rows.total);
    if (listing->used > 0) {
        memcpy(at, listing->packed, listing->used);
    }
    at += listing->used;
    return listing->has_unknown ? wire_number(at, 3, listing->rows.unknown) : at;
}

static void free_list(Request *request) {
    EpisodeListing *listing = request->plan;
    free(listing->packed);
}

static EpisodeListing *open_list(Request *request) {
    EpisodeListing *listing = request->plan;
    if (listing == NULL) {
        listing = arena_take_zeroed(&request->arena, 1, sizeof(*listing));
        if (listing == NULL) {
            return NULL;
        }
        request->plan = listing;
        request->finish = free_list;
    }
    listing->arena = &request->arena;
    listing->used_max = request->api->def.frame_bytes_max - REPLY_HEAD_OK_BYTES_MAX -
                        WIRE_HEAD_BYTES_MAX - LIST_NUMBERS_BYTES_MAX;
    listing->used = listing->refused = 0;
    return listing;
}

static Status close_list(Request *request, EpisodeListing *listing, Error *error) {
    const Moreau__V1__EpisodeList *list = request->message->episode_list;
    if (listing->is_out_of_memory) {
        return out_of_memory(error);
    }
    if (listing->rows.count == 0 && listing->refused > 0) {
        return error_set(error, STATUS_RESOURCE_EXHAUSTED, "first",
                         "Episode %" PRIu64 " of this list alone is %zu bytes, and a frame holds "
                         "%zu (option --frame-bytes-max): go on with first = %" PRIu64 ".",
                         list->first, listing->refused, request->api->def.frame_bytes_max,
                         list->first + 1);
    }
    listing->has_unknown = list->n_touches > 0;
    listing->body = (ReplyBody){.field = MOREAU__V1__REPLY__RESULT_EPISODE_LIST,
                                .bytes_max = listing->used + LIST_NUMBERS_BYTES_MAX,
                                .write = write_list,
                                .context = listing};
    request->body = &listing->body;
    return STATUS_OK;
}

// The touches and kinds of highlights that are asked for, in memory of the request's arena.
static Status take_conditions(Request *request, EpisodeFilter *filter, Error *error) {
    const Moreau__V1__EpisodeList *list = request->message->episode_list;
    if (list->n_touches > FILTER_TOUCHES_MAX || list->n_highlights > FILTER_HIGHLIGHTS_MAX) {
        const bool touches = list->n_touches > FILTER_TOUCHES_MAX;
        return error_set(error, STATUS_INVALID_ARGUMENT, touches ? "touches" : "highlights",
                         "Ask for at most %d of them, not %zu.",
                         touches ? FILTER_TOUCHES_MAX : FILTER_HIGHLIGHTS_MAX,
                         touches ? list->n_touches : list->n_highlights);
    }
    TouchFilter *touch = arena_take_array(&request->arena, list->n_touches, sizeof(*touch));
    HighlightKind *kind = arena_take_array(&request->arena, list->n_highlights, sizeof(*kind));
    if (touch == NULL || kind == NULL) {
        return out_of_memory(error);
    }
    for (size_t i = 0; i < list->n_touches; i++) {
        char path[32];
        snprintf(path, sizeof(path), "touches[%zu]", i);
        Status status = touch_filter_read(list->touches[i], path, &touch[i], error);
        if (status != STATUS_OK) {
            return status;
        }
    }
    for (size_t i = 0; i < list->n_highlights; i++) {
        kind[i] = (HighlightKind)list->highlights[i];
    }
    filter->touch = touch;
    filter->touch_count = list->n_touches;
    filter->highlight = kind;
    filter->highlight_count = list->n_highlights;
    return STATUS_OK;
}

Status command_episode_list(Request *request, Lane *lane, Moreau__V1__Reply *reply, Error *error) {
    const Moreau__V1__EpisodeList *list = request->message->episode_list;
    uint8_t recording[UID_BYTES];
    if (list->recording != NULL) {
        if (!uid_read(list->recording, recording)) {
            return error_set(error, STATUS_INVALID_ARGUMENT, "recording",
                             "A recording is named by the id of one of its episodes: %d "
                             "hexadecimal digits.",
                             2 * UID_BYTES);
        }
        uid_of_episode(recording, 0, recording);
    }
    EpisodeFilter filter = {.name = wanted(list->name),
                            .label = wanted(list->label),
                            .solver = wanted(list->solver),
                            .client = wanted(list->client),
                            .state = list->has_state ? (int)list->state : -1,
                            .recording = list->recording == NULL ? NULL : recording,
                            .since_ns = moment_ns(list->has_since, list->since),
                            .until_ns = moment_ns(list->has_until, list->until),
                            .is_by_doubt = list->rank == MOREAU__V1__EPISODE__RANK__DOUBTFUL,
                            .first = list->first,
                            .count = list->count < ROWS_MAX ? list->count : ROWS_MAX};
    (void)reply;
    EpisodeListing *listing = open_list(request);
    if (listing == NULL) {
        return out_of_memory(error);
    }
    filter.seen = list_episode;
    filter.seen_context = listing;
    Status status = take_conditions(request, &filter, error);
    Log *log = request->api->def.log;
    LogReader *reader;
    status = STATUS_THEN(status, request_take_reader(request, &reader, error));
    if (status != STATUS_OK) {
        return status;
    }
    WorkWatch watch;
    request_watch(request, lane, clock_now_ns(), &watch);
    filter.context = &watch.context;
    status = log_reader_list(reader, &filter, &request->arena, &listing->rows, error);
    log_give_reader(log, reader);
    if (status == STATUS_ABORTED) {
        return episode_end_watch(request, &watch, error);
    }
    return STATUS_THEN(status, close_list(request, listing, error));
}

// The world as it was at the episode's start, the caller's to destroy.
static Status load_start(Request *request, Lane *lane, const EpisodeRow *row, World **world,
                         Error *error) {
    Log *log = request->api->def.log;
    LogReader *reader;
    LogChunk keyframe;
    Status status = request_take_reader(request, &reader, error);
    if (status != STATUS_OK) {
        return status;
    }
    const WorldLimits *limits = host_limits(request->api->def.host);
    Wardrobe wardrobe = {0};
    status = log_reader_at(reader, row, CHUNK_KEYFRAME, row->first_step, &lane->scratch, &keyframe,
                           error);
    status = STATUS_THEN(status, wardrobe_fill(&wardrobe, reader, row, limits, error));
    log_give_reader(log, reader);
    if (status != STATUS_OK) {
        wardrobe_empty(&wardrobe);
        return status;
    }
    Error refusal = {0};
    status = snapshot_read(keyframe.chunk.body, keyframe.chunk.body_bytes, limits, world, &refusal);
    wardrobe_explain(&wardrobe, &refusal);
    wardrobe_empty(&wardrobe);
    return status == STATUS_OK ? status
                               : error_set(error, status, "episode",
                                           "The names of the bodies cannot be read from chunk "
                                           "%" PRId64 " (key-frame): %.256s",
                                           keyframe.id, refusal.message);
}

static Status copy_names(const World *world, Arena *arena,
                         Moreau__V1__EpisodeDescribeReply *message, Error *error) {
    message->ids = arena_take_array(arena, world->body_count, sizeof(*message->ids));
    message->names = arena_take_array(arena, world->body_count, sizeof(*message->names));
    message->static_ids = arena_take_array(arena, world->body_count, sizeof(*message->static_ids));
    if (message->ids == NULL || message->names == NULL || message->static_ids == NULL) {
        return out_of_memory(error);
    }
    for (uint32_t i = 0; i < world->body_count; i++) {
        if (world->kind[i] == BODY_STATIC) {
            message->static_ids[message->n_static_ids++] = world->body_id[i];
        }
        const char *name = world->body_name[i];
        if (name == NULL) {
            continue;
        }
        size_t bytes = strlen(name) + 1;
        char *copy = arena_take(arena, bytes);
        if (copy == NULL) {
            return out_of_memory(error);
        }
        message->ids[message->n_ids++] = world->body_id[i];
        message->names[message->n_names++] = memcpy(copy, name, bytes);
    }
    return STATUS_OK;
}

// A group's episode begins as the group's definition says, or in the middle of one of the parent's.
static Status copy_group_names(Request *request, const EpisodeRow *row,
                               Moreau__V1__EpisodeDescribeReply *message, Error *error) {
    Log *log = request->api->def.log;
    LogReader *reader;
    Status status = request_take_reader(request, &reader, error);
    if (status != STATUS_OK) {
        return status;
    }
    GroupPlayer *player = group_player_open(row, host_limits(request->api->def.host));
    status = player == NULL ? out_of_memory(error)
                            : group_player_seek(player, reader, row->first_step, NULL, error);
    log_give_reader(log, reader);
    status = STATUS_THEN(status,
                         copy_names(group_player_world(player), &request->arena, message, error));
    group_player_close(player);
    return status;
}

static Status copy_world_names(Request *request, Lane *lane, const EpisodeRow *row,
                               Moreau__V1__EpisodeDescribeReply *message, Error *error) {
    World *world = NULL;
    Status status = load_start(request, lane, row, &world, error);
    status = STATUS_THEN(status, copy_names(world, &request->arena, message, error));
    world_destroy(world);
    return status;
}

static Status list_names(Request *request, Lane *lane, const EpisodeRow *row,
                         Moreau__V1__EpisodeDescribeReply *message, Error *error) {
    size_t counted = 0, bytes = episode_player_bytes(row);
    Status status = episode_check_row(request, row, error);
    status = STATUS_THEN(status, host_check_memory(request->api->def.host, bytes, error));
    if (status != STATUS_OK) {
        return status;
    }
    episode_count_memory(request, &counted, bytes);
    status = row->is_group ? copy_group_names(request, row, message, error)
                           : copy_world_names(request, lane, row, message, error);
    episode_count_memory(request, &counted, 0);
    return status;
}

static bool fill_highlights(const Highlight *highlights, size_t count, Arena *arena,
                            Moreau__V1__EpisodeDescribeReply *message) {
    Moreau__V1__EpisodeHighlight *filled = arena_take_array(arena, count, sizeof(*filled));
    if (filled == NULL) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        Moreau__V1__EpisodeHighlight *m = &filled[i];
        moreau__v1__episode_highlight__init(m);
        m->has_kind = m->has_first_step = m->has_last_step = m->has_worst_step = m->has_value = 1;
        m->kind = (Moreau__V1__EpisodeHighlight__Kind)highlights[i].kind;
        m->first_step = highlights[i].first_step;
        m->last_step = highlights[i].last_step;
        m->worst_step = highlights[i].step;
        m->value = highlights[i].value;
        bool is_launch = highlights[i].kind == HIGHLIGHT_LAUNCH;
        m->has_joint = highlights[i].kind == HIGHLIGHT_BROKEN;
        m->joint = highlights[i].joint;
        m->has_reason = m->has_contacts = highlights[i].reason > 0;
        m->has_body = m->has_reason || is_launch;
        m->has_other_body = m->has_height = is_launch;
        m->reason = (Moreau__V1__Certificate__Reason)highlights[i].reason;
        m->body = highlights[i].body;
        m->contacts = highlights[i].contacts;
        m->other_body = highlights[i].other;
        m->height = highlights[i].height;
        message->highlights[message->n_highlights++] = m;
    }
    return true;
}

static Status read_highlights(Request *request, LogReader *reader, const EpisodeRow *row,
                              Moreau__V1__EpisodeDescribeReply *message, Error *error) {
    size_t asked = (size_t)request->message->episode_describe->highlights;
    enum { KINDS = HIGHLIGHT_KIND_COUNT - 1 };
    Arena *arena = &request->arena;
    message->highlight_total = arena_take_array(arena, KINDS, sizeof(*message->highlight_total));
    message->highlights = arena_take_array(arena, KINDS * asked, sizeof(*message->highlights));
    if (message->highlight_total == NULL || message->highlights == NULL) {
        return out_of_memory(error);
    }
    for (HighlightKind kind = HIGHLIGHT_UNCONVERGED; kind < HIGHLIGHT_KIND_COUNT; kind++) {
        Highlight *highlights;
        size_t count;
        uint64_t total;
        Status status = log_reader_highlights(reader, row, kind, asked, arena, &highlights, &count,
                                              &total, error);
        if (status != STATUS_OK) {
            return status;
        }
        message->highlight_total[message->n_highlight_total++] = total;
        if (!fill_highlights(highlights, count, arena, message)) {
            return out_of_memory(error);
        }
    }
    return STATUS_OK;
}

static Status list_highlights(Request *request, const EpisodeRow *row,
                              Moreau__V1__EpisodeDescribeReply *message, Error *error) {
    enum { HIGHLIGHTS_MAX = 10000 };
    uint64_t asked = request->message->episode_describe->highlights;
    if (asked > HIGHLIGHTS_MAX) {
        return error_set(error, STATUS_INVALID_ARGUMENT, "highlights",
                         "Ask for 0 to %d highlights of each kind, not %" PRIu64 ".",
                         HIGHLIGHTS_MAX, asked);
    }
    Log *log = request->api->def.log;
    LogReader *reader;
    Status status = request_take_reader(request, &reader, error);
    if (status == STATUS_OK) {
        status = read_highlights(request, reader, row, message, error);
        log_give_reader(log, reader);
    }
    return status;
}

static bool fill_signed(const SignedSaid *said, Arena *arena,
                        Moreau__V1__EpisodeDescribeReply *message) {
    Moreau__V1__EpisodeSignature *filled = arena_take(arena, sizeof(*filled));
    uint8_t *key = arena_take(arena, SEAL_PUBLIC_BYTES);
    if (filled == NULL || key == NULL) {
        return false;
    }
    memcpy(key, said->key, SEAL_PUBLIC_BYTES);
    moreau__v1__episode_signature__init(filled);
    filled->has_key = filled->has_how = filled->has_step = filled->has_chunk = 1;
    filled->key = (ProtobufCBinaryData){SEAL_PUBLIC_BYTES, key};
    filled->how = (Moreau__V1__EpisodeSignature__How)said->how;
    filled->step = said->step;
    filled->chunk = said->chunks;
    message->signature = filled;
    return true;
}

static Status say_signed(Request *request, const EpisodeRow *row,
                         Moreau__V1__EpisodeDescribeReply *message, Error *error) {
    LogReader *reader;
    SignedSaid said = {.is_there = false};
    Status status = request_take_reader(request, &reader, error);
    if (status == STATUS_OK) {
        status = signed_read_last(reader, row, &request->arena, &said, error);
        log_give_reader(request->api->def.log, reader);
    }
    return status == STATUS_OK && said.is_there && !fill_signed(&said, &request->arena, message)
               ? out_of_memory(error)
               : status;
}

Status command_episode_describe(Request *request, Lane *lane, Moreau__V1__Reply *reply,
                                Error *error) {
    const Moreau__V1__EpisodeDescribe *describe = request->message->episode_describe;
    EpisodeRow row;
    Status status = episode_find(request, describe->episode, &row, error);
    if (status != STATUS_OK) {
        return status;
    }
    Moreau__V1__EpisodeDescribeReply *message = arena_take(&request->arena, sizeof(*message));
    Moreau__V1__EpisodeInfo *info = arena_take(&request->arena, sizeof(*info));
    if (message == NULL || info == NULL || !episode_describe(&row, &request->arena, info)) {
        return out_of_memory(error);
    }
    moreau__v1__episode_describe_reply__init(message);
    message->episode = info;
    status = say_signed(request, &row, message, error);
    if (status == STATUS_OK && describe->has_highlights && describe->highlights > 0) {
        status = list_highlights(request, &row, message, error);
    }
    if (status == STATUS_OK && describe->names) {
        status = list_names(request, lane, &row, message, error);
    }
    reply->result_case = MOREAU__V1__REPLY__RESULT_EPISODE_DESCRIBE;
    reply->episode_describe = message;
    return status;
}

// ---- delete, pin

Status command_episode_delete(Request *request, Lane *lane, Moreau__V1__Reply *reply,
                              Error *error) {
    (void)lane;
    if (!request->is_resumed) {
        EpisodeRow row;
        Status status =
            episode_find(request, request->message->episode_delete->episode, &row, error);
        if (status == STATUS_OK) {
            request->outcome = JOB_PARKED;
            log_delete(request->api->def.log, row.uid, request_wait(request));
        }
        return status;
    }
    Status status = take_verdict(request, error);
    if (status == STATUS_OK) {
        episode_measure_log(request, NULL); // so that there is room again for what goes on
    }
    Moreau__V1__EpisodeDeleteReply *message = arena_take(&request->arena, sizeof(*message));
    if (status != STATUS_OK || message == NULL) {
        return status != STATUS_OK ? status : out_of_memory(error);
    }
    moreau__v1__episode_delete_reply__init(message);
    reply->result_case = MOREAU__V1__REPLY__RESULT_EPISODE_DELETE;
    reply->episode_delete = message;
    return STATUS_OK;
}

Status command_episode_pin(Request *request, Lane *lane, Moreau__V1__Reply *reply, Error *error) {
    (void)lane;
    const Moreau__V1__EpisodePin *pin = request->message->episode_pin;
    if (!request->is_resumed) {
        EpisodeRow row;
        Status status = episode_find(request, pin->episode, &row, error);
        if (status == STATUS_OK) {
            request->outcome = JOB_PARKED;
            log_pin(request->api->def.log, row.uid, pin->pinned, request_wait(request));
        }
        return status;
    }
    Status status = take_verdict(request, error);
    Moreau__V1__EpisodePinReply *message = arena_take(&request->arena, sizeof(*message));
    if (status != STATUS_OK || message == NULL) {
        return status != STATUS_OK ? status : out_of_memory(error);
    }
    moreau__v1__episode_pin_reply__init(message);
    reply->result_case = MOREAU__V1__REPLY__RESULT_EPISODE_PIN;
    reply->episode_pin = message;
    return STATUS_OK;
}
