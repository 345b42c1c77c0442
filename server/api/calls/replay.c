// SPDX-License-Identifier: MIT
// The family episode, what shows its frames: Read, one reply, and Replay, a stream of events.
//
// A replay goes back and forth between its own strand, where frames are read or stepped and sent,
// and a timer on the loop, which waits for the next frame's time, or until the client has read.
//
//   loop: schedule ──► job: gather frames that are due, send an event ──► schedule ──► …
//             └──► timer, when nothing is due or too much is unsent ──► schedule
#include "api/calls/episode.h"
#include "replay/show/playback.h"
#include "wire/episode_columns.h"
#include "os/clock.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

// An event has about so many bytes, where there is that much to send; of a frame of the protocol at
// most one part in so many, as the last of its frames may be larger than those before.
enum { EVENT_BYTES = 1 << 16, EVENT_FRAME_SHARE = 4 };
// Nothing is added to a connection with more than this unsent; looked at again after a while.
enum { UNSENT_BYTES_MAX = 1 << 20, UNSENT_LOOK_MS = 3 };

static Status out_of_memory(Error *error) {
    return error_set(error, STATUS_RESOURCE_EXHAUSTED, "",
                     "Memory ended while reading an episode.");
}

// An episode being shown, and how far.
typedef struct Show {
    EpisodeRow row;
    Playback *playback; // NULL: not opened yet
    EpisodeColumns columns;
    uint64_t next, first, last, stride; // steps
    bool is_backward;
    bool is_over;         // there is no frame after those sent or gathered
    bool is_put_aside;    // the next step is long: WorkWatch
    size_t counted_bytes; // in the memory budget: what is held between two rounds
} Show;

// What the two calls ask for in the same words.
typedef struct ShowOrder {
    const char *episode;
    uint64_t first, stride;
    bool has_last;
    uint64_t last;
    bool contacts, reports, again, backward;
    bool may_be_empty; // `first` may lie behind the last step
} ShowOrder;

static Status check_stride(uint64_t stride, Error *error) {
    return stride > 0 ? STATUS_OK
                      : error_set(error, STATUS_INVALID_ARGUMENT, "stride",
                                  "The stride is 1 step or more, not 0.");
}

static Status check_range(const EpisodeRow *row, const ShowOrder *order, Error *error) {
    if (order->first > row->last_step && !order->may_be_empty) {
        return error_set(error, STATUS_OUT_OF_RANGE, "first",
                         "The episode has the steps 0 to %" PRIu64 "; the range begins at %" PRIu64
                         ".",
                         row->last_step, order->first);
    }
    if (order->has_last && order->last > row->last_step) {
        return error_set(error, STATUS_OUT_OF_RANGE, "last",
                         "The episode has the steps 0 to %" PRIu64 "; the range ends at %" PRIu64
                         ".",
                         row->last_step, order->last);
    }
    return STATUS_OK;
}

static Status open_show(Request *request, const ShowOrder *order, Show *show, Error *error) {
    Status status = episode_find(request, order->episode, &show->row, error);
    status = STATUS_THEN(status, episode_check_row(request, &show->row, error));
    status = STATUS_THEN(status, check_range(&show->row, order, error));
    status = STATUS_THEN(
        status, host_check_memory(request->api->def.host, episode_player_bytes(&show->row), error));
    if (status != STATUS_OK) {
        return status;
    }
    if (order->first > show->row.last_step) {
        show->is_over = true;
        return STATUS_OK;
    }
    show->first = order->first;
    show->last = order->has_last ? order->last : show->row.last_step;
    show->next = order->backward ? show->last : show->first;
    show->stride = order->stride;
    show->is_backward = order->backward;
    PlaybackDef def = {.log = request->api->def.log,
                       .episode = &show->row,
                       .limits = *host_limits(request->api->def.host),
                       .wants = {.contacts = order->contacts, .reports = order->reports},
                       .again = order->again,
                       .backward = order->backward,
                       .stride = order->stride,
                       .first = order->first};
    return playback_open(&show->playback, &def, error);
}

static size_t held_bytes(const Show *show) {
    return show->playback == NULL ? 0 : playback_bytes(show->playback) + show->columns.bytes;
}

static void close_show(const Request *request, Show *show) {
    episode_count_memory(request, &show->counted_bytes, 0);
    playback_close(show->playback);
    episode_columns_deinit(&show->columns);
}

// The frame of the next step; *found false: not yet, the lane may be wanted elsewhere.
static Status get_frame(const Request *request, Lane *lane, Show *show, EpisodeFrame *frame,
                        bool *found, Error *error) {
    *found = false;
    size_t held = held_bytes(show),
           more = held > show->counted_bytes ? held - show->counted_bytes : 0;
    if (request_should_stop(request, error) ||
        host_check_memory(request->api->def.host, more, error) != STATUS_OK) {
        return error->status;
    }
    WorkWatch watch;
    request_watch(request, lane, clock_now_ns(), &watch);
    Status status =
        playback_get(show->playback, show->next, &lane->scratch,
                     watch.begun_ns + EPISODE_QUANTUM_NS, &watch.context, frame, found, error);
    show->is_put_aside = watch.is_put_aside;
    if (status == STATUS_OK && !*found) {
        status = request_watch_verdict(&watch, error);
    }
    return status;
}

static uint64_t steps_ahead(const Show *show) {
    return show->is_backward ? show->next - show->first : show->last - show->next;
}

// Over so many strides.
static void skip(Show *show, uint64_t strides) {
    if (strides > steps_ahead(show) / show->stride) {
        show->is_over = true;
    } else if (show->is_backward) {
        show->next -= strides * show->stride;
    } else {
        show->next += strides * show->stride;
    }
}

static void advance(Show *show) {
    skip(show, 1);
}

// ---- read

typedef struct ReadPlan {
    Show show;
    uint64_t left; // frames
} ReadPlan;

static void release_read(Request *request) {
    ReadPlan *plan = request->plan;
    close_show(request, &plan->show);
}

Status command_episode_read_prepare(Request *request, Error *error) {
    const Moreau__V1__EpisodeRead *read = request->message->episode_read;
    Status status = check_stride(read->stride, error);
    if (status != STATUS_OK) {
        return status;
    }
    ReadPlan *plan = arena_take_zeroed(&request->arena, 1, sizeof(*plan));
    if (plan == NULL) {
        return out_of_memory(error);
    }
    EpisodeWish wish = {.poses = read->poses,
                        .velocities = read->velocities,
                        .contacts = read->contacts,
                        .single = read->single,
                        .joints = read->joints,
                        .reports = read->reports};
    episode_columns_init(&plan->show.columns, wish);
    plan->left = read->has_count ? read->count : UINT64_MAX;
    request->plan = plan;
    request->finish = release_read;
    return STATUS_OK;
}

static Status open_read(Request *request, ReadPlan *plan, Error *error) {
    const Moreau__V1__EpisodeRead *read = request->message->episode_read;
    ShowOrder order = {.episode = read->episode,
                       .first = read->first,
                       .stride = read->stride,
                       .contacts = read->contacts,
                       .reports = read->reports,
                       .again = read->again,
                       .may_be_empty = true};
    return open_show(request, &order, &plan->show, error);
}

static Status add_frame(const Request *request, ReadPlan *plan, const EpisodeFrame *frame,
                        Error *error) {
    EpisodeColumns *columns = &plan->show.columns;
    Status status = episode_columns_add(columns, frame, error);
    if (status != STATUS_OK) {
        return status;
    }
    size_t bytes_max = request->api->def.frame_bytes_max;
    if (columns->bytes > bytes_max) {
        return error_set(
            error, STATUS_RESOURCE_EXHAUSTED, "count",
            "A reply holds %zu bytes (option --frame-bytes-max), which is %zu of these "
            "frames: ask for so many with `count`, or for fewer columns.",
            bytes_max, columns->message.n_step - 1);
    }
    plan->left--;
    advance(&plan->show);
    return STATUS_OK;
}

Status command_episode_read(Request *request, Lane *lane, Moreau__V1__Reply *reply, Error *error) {
    ReadPlan *plan = request->plan;
    Show *show = &plan->show;
    Status status = STATUS_OK;
    lane_end_turn(lane);
    if (show->playback == NULL) {
        status = open_read(request, plan, error);
    }
    while (status == STATUS_OK && plan->left > 0 && !show->is_over) {
        EpisodeFrame frame;
        bool found;
        status = get_frame(request, lane, show, &frame, &found, error);
        if (status == STATUS_OK && found) {
            status = add_frame(request, plan, &frame, error);
        }
        if (status == STATUS_OK && (show->is_put_aside || episode_should_pause(lane))) {
            episode_count_memory(request, &show->counted_bytes, held_bytes(show));
            request->outcome = show->is_put_aside ? JOB_LONG : JOB_AGAIN;
            return STATUS_OK;
        }
    }
    Moreau__V1__EpisodeReadReply *message = arena_take(&request->arena, sizeof(*message));
    if (status != STATUS_OK || message == NULL) {
        return status != STATUS_OK ? status : out_of_memory(error);
    }
    moreau__v1__episode_read_reply__init(message);
    message->frames = &show->columns.message;
    reply->result_case = MOREAU__V1__REPLY__RESULT_EPISODE_READ;
    reply->episode_read = message;
    return STATUS_OK;
}

// ---- replay

typedef struct Replay {
    Request *request;
    Show show;
    uv_timer_t timer;
    bool is_working; // a job is under way, else the timer runs
    Error error;     // why it ends early; status OK: it does not

    // the clock of the episode: frame k is due (time k - time 0)/speed after frame 0
    bool is_begun;
    double speed;
    uint64_t begun_ns;
    double elapsed;    // [s] of the world, from frame 0 to the one gathered last
    StateFrame before; // its steps and time
    uint64_t due_ns;   // of the frame that was gathered last

    uint64_t frames, last_step; // sent
} Replay;

static void schedule(Replay *replay);

static Status send_event(Replay *replay, Lane *lane, Error *error) {
    EpisodeColumns *columns = &replay->show.columns;
    size_t count = columns->message.n_step;
    if (count == 0) {
        return STATUS_OK;
    }
    Moreau__V1__Reply reply = MOREAU__V1__REPLY__INIT;
    reply.result_case = MOREAU__V1__REPLY__RESULT_EPISODE_FRAMES;
    reply.episode_frames = &columns->message;
    Status status = request_event(replay->request, lane, &reply, error);
    if (status == STATUS_OK) {
        replay->frames += count;
        replay->last_step = columns->message.step[count - 1];
    }
    episode_columns_clear(columns);
    return status;
}

// When a frame is due. Time that a restored snapshot jumps over is not waited for.
static uint64_t due_time(Replay *replay, const StateFrame *frame) {
    if (!replay->is_begun) {
        replay->is_begun = true;
        replay->begun_ns = clock_now_ns();
    } else {
        bool is_backward = replay->show.is_backward;
        const StateFrame *from = is_backward ? frame : &replay->before;
        const StateFrame *to = is_backward ? &replay->before : frame;
        if (to->world_step - from->world_step == to->step - from->step && to->time > from->time) {
            replay->elapsed += to->time - from->time;
        }
    }
    replay->before = *frame;
    // a century is late enough for everyone
    const double wait_s_max = 3e9;
    double wait_s = replay->speed > 0.0 ? replay->elapsed / replay->speed : 0.0;
    return replay->begun_ns + (uint64_t)((wait_s < wait_s_max ? wait_s : wait_s_max) * 1e9);
}

// Adds a frame to the event in the making. What was due before does not wait for what is not; and
// an event's frames have the same bodies and joints, so that their ids stand once.
static Status gather(Replay *replay, Lane *lane, const EpisodeFrame *frame, Error *error) {
    EpisodeColumns *columns = &replay->show.columns;
    Status status = STATUS_OK;
    replay->due_ns = due_time(replay, &frame->frame);
    bool is_due = replay->due_ns <= clock_now_ns();
    if (!is_due || !episode_columns_same_things(columns, frame)) {
        status = send_event(replay, lane, error);
    }
    status = STATUS_THEN(status, episode_columns_add(columns, frame, error));
    advance(&replay->show);
    return status;
}

static Status open_replay(Replay *replay, Error *error) {
    const Moreau__V1__EpisodeReplay *order = replay->request->message->episode_replay;
    ShowOrder show = {.episode = order->episode,
                      .first = order->first,
                      .stride = order->stride,
                      .has_last = order->has_last,
                      .last = order->last,
                      .contacts = order->contacts,
                      .reports = order->reports,
                      .again = order->again,
                      .backward = order->backward};
    return open_show(replay->request, &show, &replay->show, error);
}

// Steps that a lossy recording does not have are passed over.
static void skip_gap(Show *show) {
    while (!show->is_over) {
        uint64_t sound = show->is_backward ? playback_skip_gap_back(show->playback, show->next)
                                           : playback_skip_gap(show->playback, show->next);
        uint64_t lost = show->is_backward ? show->next - sound : sound - show->next;
        if (lost == 0) {
            return;
        }
        skip(show, (lost - 1) / show->stride + 1);
    }
}

// One piece of a round: a frame, or some of the steps to it.
static Status play_on(Replay *replay, Lane *lane, Error *error) {
    Show *show = &replay->show;
    skip_gap(show);
    if (show->is_over) {
        return STATUS_OK;
    }
    EpisodeFrame frame;
    bool found;
    Status status = get_frame(replay->request, lane, show, &frame, &found, error);
    if (status == STATUS_OK && found) {
        return gather(replay, lane, &frame, error);
    }
    if (status == STATUS_OK && replay->speed > 0.0) {
        status = send_event(replay, lane, error); // the next one takes its time
        lane_end_turn(lane);
    }
    return status;
}

static bool is_event_full(const Replay *replay) {
    size_t share = replay->request->api->def.frame_bytes_max / EVENT_FRAME_SHARE;
    return replay->show.columns.bytes >= (share < EVENT_BYTES ? share : EVENT_BYTES);
}

// One round on the lane: up to the first frame that is not due, which stays gathered until it is,
// or one event's bytes.
static JobOutcome play_on_lane(Job *job, Lane *lane) {
    Request *request = (Request *)(void *)((char *)job - offsetof(Request, job));
    Replay *replay = request->plan;
    Show *show = &replay->show;
    Error error = {0};
    Status status = STATUS_OK;
    bool waits = false, pauses = false;
    job->urgent = true;
    lane_end_turn(lane);
    if (show->playback == NULL) {
        status = open_replay(replay, &error);
    }
    while (status == STATUS_OK && !show->is_over && !waits && !pauses && !is_event_full(replay)) {
        status = play_on(replay, lane, &error);
        waits = replay->due_ns > clock_now_ns();
        pauses = show->is_put_aside || (!waits && episode_should_pause(lane));
    }
    episode_count_memory(request, &show->counted_bytes, held_bytes(show));
    if (status == STATUS_OK && pauses) {
        return show->is_put_aside ? JOB_LONG : JOB_AGAIN;
    }
    if (!waits) {
        // what was gathered before something went wrong is sent as well
        Status sent = send_event(replay, lane, status == STATUS_OK ? &error : NULL);
        status = STATUS_THEN(status, sent);
    }
    replay->error = status == STATUS_OK ? (Error){0} : error;
    return JOB_DONE;
}

// ---- on the loop

static void on_timer_closed(uv_handle_t *handle) {
    Replay *replay = handle->data;
    request_finish(replay->request);
}

static void end_replay(Replay *replay) {
    Moreau__V1__Reply reply = MOREAU__V1__REPLY__INIT;
    Moreau__V1__EpisodeReplayReply message = MOREAU__V1__EPISODE_REPLAY_REPLY__INIT;
    message.has_frames = 1;
    message.frames = replay->frames;
    message.has_last_step = replay->frames > 0;
    message.last_step = replay->last_step;
    if (replay->show.playback != NULL) {
        reply.result_case = MOREAU__V1__REPLY__RESULT_EPISODE_REPLAY;
        reply.episode_replay = &message;
    }
    request_reply(replay->request, NULL, &reply, &replay->error);
    replay->request->stopped = NULL;
    uv_close((uv_handle_t *)&replay->timer, on_timer_closed);
}

static void on_played(Job *job) {
    Request *request = (Request *)(void *)((char *)job - offsetof(Request, job));
    Replay *replay = request->plan;
    replay->is_working = false;
    schedule(replay);
}

static void on_timer(uv_timer_t *timer) {
    schedule(timer->data);
}

static void on_stopped(Request *request) {
    Replay *replay = request->plan;
    if (!replay->is_working) {
        uv_timer_start(&replay->timer, on_timer, 0, 0);
    }
}

// [ms] until a moment, rounded up, so that it has come when the timer has.
static uint64_t wait_ms(uint64_t moment_ns, uint64_t now_ns) {
    return (moment_ns - now_ns + 999999) / 1000000;
}

// Ends, waits or works on: the only place that decides it.
static void schedule(Replay *replay) {
    Request *request = replay->request;
    if (replay->error.status == STATUS_OK) {
        request_should_stop(request, &replay->error);
    }
    bool is_done = replay->show.is_over && replay->show.columns.message.n_step == 0;
    if (replay->error.status != STATUS_OK || is_done) {
        end_replay(replay);
        return;
    }
    // libuv's own clock may stand a whole turn back
    uv_update_time(request->api->def.loop);
    uint64_t now_ns = clock_now_ns();
    if (request->peer.calls->unsent(request->peer.handle) > UNSENT_BYTES_MAX) {
        uv_timer_start(&replay->timer, on_timer, UNSENT_LOOK_MS, 0);
        return;
    }
    if (replay->due_ns > now_ns) {
        uint64_t moment_ns =
            replay->due_ns < request->deadline_ns ? replay->due_ns : request->deadline_ns;
        uv_timer_start(&replay->timer, on_timer, wait_ms(moment_ns, now_ns), 0);
        return;
    }
    replay->is_working = true;
    request->job = (Job){.work = play_on_lane, .done = on_played};
    pool_submit(request_pool(request), &request->strand, request_share(request), &request->job);
}

static void release_replay(Request *request) {
    Replay *replay = request->plan;
    close_show(request, &replay->show);
}

static Status check_replay(const Moreau__V1__EpisodeReplay *order, Error *error) {
    const double speed_max = 1e6;
    if (!(order->speed >= 0.0 && order->speed <= speed_max)) {
        return error_set(error, STATUS_INVALID_ARGUMENT, "speed",
                         "The speed is 0 (as fast as it is read) to 1e6 times real time, not %g.",
                         order->speed);
    }
    if (order->has_last && order->last < order->first) {
        return error_set(error, STATUS_INVALID_ARGUMENT, "last",
                         "The range ends at step %" PRIu64 ", before its first, %" PRIu64 ".",
                         order->last, order->first);
    }
    return check_stride(order->stride, error);
}

Status command_episode_replay_prepare(Request *request, Error *error) {
    const Moreau__V1__EpisodeReplay *order = request->message->episode_replay;
    Status status = check_replay(order, error);
    if (status != STATUS_OK) {
        return status;
    }
    Replay *replay = arena_take_zeroed(&request->arena, 1, sizeof(*replay));
    if (replay == NULL) {
        return out_of_memory(error);
    }
    replay->request = request;
    replay->speed = order->speed;
    EpisodeWish wish = {.poses = order->poses,
                        .velocities = order->velocities,
                        .contacts = order->contacts,
                        .single = order->single,
                        .joints = order->joints,
                        .reports = order->reports};
    episode_columns_init(&replay->show.columns, wish);
    uv_timer_init(request->api->def.loop, &replay->timer);
    replay->timer.data = replay;
    strand_init(&request->strand);
    request->plan = replay;
    request->finish = release_replay;
    request->stopped = on_stopped;
    schedule(replay);
    return STATUS_OK;
}
