// SPDX-License-Identifier: MIT
// The family subscription: a request that sends a frame of its world whenever there is a new one
// and its client has taken the one before.
//
//   PAUSED ── it is time, nothing is unsent ──► WAITING ── live.h has a frame ──► SENDING
//      ▲                                                  (a job on a background lane)  │
//      └────────────────────────────────────────────────────────────────────────────────┘
//
// A client that does not read leaves it PAUSED, which costs nobody anything; net cuts such a
// client.
#include "api/calls/group_call.h"
#include "api/live.h"
#include "os/clock.h"
#include "wire/wire.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

typedef enum SubscriptionState { STATE_PAUSED, STATE_WAITING, STATE_SENDING } SubscriptionState;

struct Subscription {
    Request *request;
    LiveWorld *live;
    Subscription *next, **link; // of its world
    SubscriptionState state;
    uv_timer_t timer;
    uint64_t every, period_ns;
    uint32_t wish;
    bool wants_scene, wants_single;
    uint64_t next_ns; // no frame before that
    LivePlace seen;   // of the frame sent last; number 0: none
    LiveFrame *frame; // being sent
    uint64_t frames, skipped, just_skipped;
    Error error; // why it ends; status OK: it does not
};

static void schedule(Subscription *subscription);

// ---- what a frame says to it

// Frames that `every` would have brought since the one before.
static uint64_t count_skipped(const Subscription *subscription, uint64_t step) {
    const LivePlace *seen = &subscription->seen;
    return seen->number == 0 || step < seen->step + subscription->every
               ? 0
               : (step - seen->step) / subscription->every - 1;
}

static bool lacks_scene(const Subscription *subscription, const LivePlace *place) {
    return subscription->wants_scene &&
           subscription->seen.marks.definitions != place->marks.definitions;
}

// Whether a state is news. (Steps go back when a snapshot is restored, which is a change.)
static bool is_news(const Subscription *subscription, const LivePlace *place) {
    const LivePlace *seen = &subscription->seen;
    return place->number != seen->number &&
           (seen->number == 0 || place->marks.changes != seen->marks.changes ||
            place->step >= seen->step + subscription->every);
}

// ---- the event; on a lane

enum { EVENT_FIELDS = 9 }; // of LiveFrame

typedef struct Event {
    const Subscription *subscription;
    const LiveFrame *frame;
    bool has_scene;
    Moreau__V1__EpisodeFrames frames; // its arrays are borrowed
    Moreau__V1__Status failure;       // likewise; without a code: none
    size_t frames_bytes, failure_bytes;
} Event;

static uint8_t *write_event(uint8_t *at, const void *context) {
    const Event *event = context;
    const LiveFrame *frame = event->frame;
    at = wire_head(at, 1, event->frames_bytes);
    at += moreau__v1__episode_frames__pack(&event->frames, at);
    if (frame->has_reports && event->subscription->wish & LIVE_REPORTS) {
        memcpy(at, frame->reports, frame->reports_bytes);
        at += frame->reports_bytes;
    }
    if (event->has_scene) {
        memcpy(at, frame->scene, frame->scene_bytes);
        at += frame->scene_bytes;
    }
    at = wire_number(at, 4, event->subscription->just_skipped);
    at = wire_number(at, 5, frame->faulted);
    if (frame->view.has_episode) {
        at = wire_number(at, 6, frame->view.episode);
        at = wire_number(at, 7, frame->view.episode_step);
        at = wire_number(at, 8, frame->view.is_over);
    }
    if (event->failure.has_code) {
        at = wire_head(at, 9, event->failure_bytes);
        at += moreau__v1__status__pack(&event->failure, at);
    }
    return at;
}

// As floats, which all state fits. False: memory ended.
static bool make_single(Arena *arena, size_t *n, const double *values, size_t *n_single,
                        float **singles) {
    float *made = arena_take_array(arena, *n, sizeof(float));
    for (size_t i = 0; made != NULL && i < *n; i++) {
        made[i] = (float)values[i];
    }
    *n_single = *n;
    *singles = made;
    *n = 0;
    return made != NULL || *n_single == 0;
}

static void leave_out_joints(Moreau__V1__EpisodeFrames *m) {
    m->n_joint_count = m->n_joints_count = m->n_joints = m->n_joint_axes = 0;
    m->n_joint_axis_count = m->n_joint_position_count = 0;
    m->n_joint_position = m->n_joint_velocity = 0;
    m->n_joint_target = m->n_joint_target_velocity = m->n_joint_effort = 0;
}

// Who is told of is there already, as in the frame before.
static void leave_out_ids(Moreau__V1__EpisodeFrames *m) {
    static uint64_t none = 0;
    m->n_ids = m->n_joints = m->n_joint_axes = 0;
    m->ids_count = m->joints_count = &none;
}

// Of what was copied for all who watch, what this one wants.
static bool choose(const Subscription *subscription, Arena *arena, Event *event) {
    Moreau__V1__EpisodeFrames *m = &event->frames;
    *m = event->frame->columns.message;
    m->n_stored = 0;
    m->n_pose = subscription->wish & LIVE_POSES ? m->n_pose : 0;
    m->n_velocity = subscription->wish & LIVE_VELOCITIES ? m->n_velocity : 0;
    if ((subscription->wish & LIVE_CONTACTS) == 0) {
        m->n_contact_count = 0;
        m->contacts = NULL;
    }
    if ((subscription->wish & LIVE_JOINTS) == 0) {
        leave_out_joints(m);
    }
    if (subscription->seen.marks.things == event->frame->marks.things) {
        leave_out_ids(m);
    }
    return !subscription->wants_single ||
           (make_single(arena, &m->n_pose, m->pose, &m->n_pose_single, &m->pose_single) &&
            make_single(arena, &m->n_velocity, m->velocity, &m->n_velocity_single,
                        &m->velocity_single) &&
            make_single(arena, &m->n_joint_position, m->joint_position, &m->n_joint_position_single,
                        &m->joint_position_single) &&
            make_single(arena, &m->n_joint_velocity, m->joint_velocity, &m->n_joint_velocity_single,
                        &m->joint_velocity_single));
}

static Status refuse_scene(const Request *request, Error *error) {
    return error_set(error, STATUS_RESOURCE_EXHAUSTED, "scene",
                     "The world's scene is longer than a frame, which holds %zu bytes (option "
                     "--frame-bytes-max), or than memory: ask for scene = false, and read what "
                     "its bodies are in ranges (WorldGet).",
                     request->api->def.frame_bytes_max);
}

static Status send_frame(Subscription *subscription, Lane *lane, Error *error) {
    const LiveFrame *frame = subscription->frame;
    Event event = {
        .subscription = subscription, .frame = frame, .failure = MOREAU__V1__STATUS__INIT};
    const LivePlace place = {.marks = frame->marks};
    event.has_scene = frame->has_scene && lacks_scene(subscription, &place);
    Arena *arena = &subscription->request->arena;
    ArenaMark mark = arena_mark(arena);
    if (!choose(subscription, arena, &event)) {
        return error_set(error, STATUS_RESOURCE_EXHAUSTED, "", "Memory ended while sending.");
    }
    if (frame->failure.status != STATUS_OK) {
        group_fill_failure(&frame->failure, subscription->live->target.index, &event.failure);
    }
    event.frames_bytes = moreau__v1__episode_frames__get_packed_size(&event.frames);
    event.failure_bytes = moreau__v1__status__get_packed_size(&event.failure);
    ReplyBody body = {.field = MOREAU__V1__REPLY__RESULT_LIVE_FRAME,
                      .bytes_max = event.frames_bytes + frame->reports_bytes +
                                   (event.has_scene ? frame->scene_bytes : 0) +
                                   event.failure_bytes + EVENT_FIELDS * (size_t)WIRE_HEAD_BYTES_MAX,
                      .write = write_event,
                      .context = &event};
    Status status = request_event_written(subscription->request, lane, &body, error);
    arena_reset_to(arena, mark);
    return status != STATUS_OK && event.has_scene ? refuse_scene(subscription->request, error)
                                                  : status;
}

static JobOutcome send_on_lane(Job *job, Lane *lane) {
    Request *request = (Request *)(void *)((char *)job - offsetof(Request, job));
    Subscription *subscription = request->plan;
    Error error = {0};
    send_frame(subscription, lane, &error);
    subscription->error = error;
    job->urgent = true;
    return JOB_DONE;
}

// ---- on the loop

static void count_sent(Subscription *subscription) {
    const LiveFrame *frame = subscription->frame;
    Api *api = subscription->request->api;
    if (subscription->error.status == STATUS_OK) {
        subscription->seen = (LivePlace){frame->number, frame->view.step, frame->marks};
        subscription->frames++;
        subscription->skipped += subscription->just_skipped;
        api->live_frames++;
        api->live_skipped += subscription->just_skipped;
    }
    live_release_frame(subscription->live, subscription->frame);
    subscription->frame = NULL;
    subscription->state = STATE_PAUSED;
}

static void on_sent(Job *job) {
    Request *request = (Request *)(void *)((char *)job - offsetof(Request, job));
    count_sent(request->plan);
    schedule(request->plan);
}

static void on_timer(uv_timer_t *timer) {
    schedule(timer->data);
}

// Has schedule look at it, in a moment.
static void wake(Subscription *subscription) {
    if (subscription->state != STATE_SENDING) { // else it will
        uv_timer_start(&subscription->timer, on_timer, 0, 0);
    }
}

// What is packed and sent in some microseconds is not worth the way to a lane and back, as long as
// there are few of it in a turn of the loop.
enum { SENT_HERE_MAX = 64 };

static bool is_short(const Api *api, const LiveFrame *frame) {
    return api->subscription_count <= SENT_HERE_MAX &&
           frame->columns.bytes + frame->reports_bytes +
                   (frame->has_scene ? frame->scene_bytes : 0) <=
               PEER_SHORT_BYTES;
}

static void send_here(Subscription *subscription) {
    Error error = {0};
    send_frame(subscription, NULL, &error);
    subscription->error = error;
    count_sent(subscription);
    wake(subscription);
}

// Not of one that was being made for others when this one came, and lacks what they did not want:
// the next one is made for all.
static bool is_made_for(const Subscription *subscription, const LiveFrame *frame) {
    return (subscription->wish & ~frame->wish) == 0;
}

static void begin_sending(Subscription *subscription, LiveFrame *frame) {
    Request *request = subscription->request;
    uint64_t now_ns = clock_now_ns(), due_ns = subscription->next_ns + subscription->period_ns;
    // by the clock, so that waking late does not make it slow; but what was missed is not made up
    subscription->next_ns = due_ns > now_ns ? due_ns : now_ns + subscription->period_ns;
    subscription->just_skipped = count_skipped(subscription, frame->view.step);
    subscription->state = STATE_SENDING;
    subscription->frame = frame;
    live_retain_frame(frame);
    uv_timer_stop(&subscription->timer);
    if (is_short(request->api, frame)) {
        send_here(subscription);
        return;
    }
    request->job = (Job){.work = send_on_lane, .done = on_sent};
    pool_submit(request_pool(request), &request->strand, request_share(request), &request->job);
}

// What those who wait for this world want to see next.
static void ask(LiveWorld *live) {
    LiveAsk wanted = {.from_step = WATCH_NOTHING};
    uint64_t share = 0;
    for (const Subscription *at = live->first; at != NULL; at = at->next) {
        wanted.wish |= at->wish; // of the others too, as they may ask while it is being shown
        if (at->state != STATE_WAITING) {
            continue;
        }
        bool is_new = at->seen.number == 0;
        uint64_t step = is_new ? 0 : at->seen.step + at->every;
        wanted.from_step = step < wanted.from_step ? step : wanted.from_step;
        wanted.look = wanted.look || is_new || is_news(at, &live->latest);
        wanted.scene =
            wanted.scene || (is_new && at->wants_scene) || lacks_scene(at, &live->latest);
        share = request_share(at->request);
    }
    if (wanted.from_step == WATCH_NOTHING) {
        live_rest(live);
    } else {
        live_ask(live, &wanted, share);
    }
}

static void on_stopped(Request *request) {
    wake(request->plan);
}

static void on_drained(Request *request) {
    const Subscription *subscription = request->plan;
    if (subscription->state == STATE_PAUSED) {
        wake(request->plan);
    }
}

void subscription_took(LiveWorld *live, LiveFrame *frame) {
    for (Subscription *at = live->first; at != NULL && frame != NULL; at = at->next) {
        if (at->state != STATE_WAITING || !is_news(at, &live->latest) || !is_made_for(at, frame)) {
            continue;
        }
        if (!lacks_scene(at, &live->latest) || frame->has_scene) {
            begin_sending(at, frame);
        } else if (frame->scene_status != STATUS_OK) {
            at->state = STATE_PAUSED;
            refuse_scene(at->request, &at->error);
            wake(at);
        }
    }
    ask(live);
}

// So long after memory ended it is asked for again.
enum { STARVED_NS = 100000000 };

static void wait_until(Subscription *subscription, uint64_t moment_ns);

void subscription_starved(LiveWorld *live) {
    const uint64_t again_ns = clock_now_ns() + STARVED_NS;
    for (Subscription *at = live->first; at != NULL; at = at->next) {
        if (at->state == STATE_WAITING) {
            at->state = STATE_PAUSED;
            at->next_ns = at->next_ns > again_ns ? at->next_ns : again_ns;
            wait_until(at, at->next_ns);
        }
    }
    ask(live);
}

void subscription_world_gone(LiveWorld *live) {
    for (Subscription *at = live->first; at != NULL; at = at->next) {
        wake(at);
    }
}

static void on_timer_closed(uv_handle_t *handle) {
    const Subscription *subscription = handle->data;
    request_finish(subscription->request);
}

static void leave(Subscription *subscription) {
    LiveWorld *live = subscription->live;
    *subscription->link = subscription->next;
    if (subscription->next != NULL) {
        subscription->next->link = subscription->link;
    }
    subscription->request->api->subscription_count--;
    if (live->first == NULL) {
        live_leave(live);
    } else {
        ask(live);
    }
}

static void finish(Subscription *subscription) {
    Request *request = subscription->request;
    Moreau__V1__Reply reply = MOREAU__V1__REPLY__INIT;
    Moreau__V1__SubscribeReply message = MOREAU__V1__SUBSCRIBE_REPLY__INIT;
    message.has_frames = message.has_skipped = 1;
    message.frames = subscription->frames;
    message.skipped = subscription->skipped;
    reply.result_case = MOREAU__V1__REPLY__RESULT_SUBSCRIBE;
    reply.subscribe = &message;
    leave(subscription);
    request->stopped = request->drained = NULL;
    request_reply(request, NULL, &reply, &subscription->error);
    uv_close((uv_handle_t *)&subscription->timer, on_timer_closed);
}

// Until a moment (clock_now_ns), or the deadline; UINT64_MAX: no end to it.
static void wait_until(Subscription *subscription, uint64_t moment_ns) {
    const Request *request = subscription->request;
    uint64_t now_ns = clock_now_ns();
    moment_ns = moment_ns < request->deadline_ns ? moment_ns : request->deadline_ns;
    if (moment_ns == UINT64_MAX) {
        uv_timer_stop(&subscription->timer);
        return;
    }
    uv_update_time(request->api->def.loop); // libuv's own clock may stand a whole turn back
    // rounded up, so that the moment has come when the timer has
    uint64_t wait_ns = moment_ns > now_ns ? moment_ns - now_ns : 0;
    uv_timer_start(&subscription->timer, on_timer, (wait_ns + 999999) / 1000000, 0);
}

static void tell_gone(const LiveWorld *live, Error *error) {
    if (live->target.world != NULL) {
        error_set(error, STATUS_NOT_FOUND, "world", "World %" PRIu64 " was destroyed.", live->id);
    } else {
        error_set(error, STATUS_NOT_FOUND, "group", "Group %" PRIu64 " is gone: %s.", live->id,
                  live->why);
    }
}

static bool is_over(Subscription *subscription) {
    Error *error = &subscription->error;
    if (error->status == STATUS_OK && !request_should_stop(subscription->request, error) &&
        atomic_load(&subscription->live->is_gone)) {
        tell_gone(subscription->live, error);
    }
    return error->status != STATUS_OK;
}

// Ends, pauses or waits for a frame: the only place that decides it.
static void schedule(Subscription *subscription) {
    const Peer *peer = &subscription->request->peer;
    bool was_waiting = subscription->state == STATE_WAITING;
    subscription->state = STATE_PAUSED;
    if (is_over(subscription)) {
        finish(subscription);
    } else if (peer->calls->unsent(peer->handle) > 0) {
        wait_until(subscription, UINT64_MAX); // for on_drained
    } else if (subscription->next_ns > clock_now_ns()) {
        wait_until(subscription, subscription->next_ns);
    } else {
        subscription->state = STATE_WAITING;
        wait_until(subscription, UINT64_MAX);
        if (!was_waiting) {
            ask(subscription->live);
        }
    }
}

// ---- the call

Status command_subscribe_judge(Request *request, Error *error) {
    const Moreau__V1__Subscribe *order = request->message->subscribe;
    const uint64_t every_max = 1000000000000u;
    const double rate_max = 1e6;
    if (order->has_group && order->has_world) {
        return error_set(error, STATUS_INVALID_ARGUMENT, "group",
                         "Watch a world, or a world of a group: give one of the two.");
    }
    if (order->has_index && !order->has_group) {
        return error_set(error, STATUS_INVALID_ARGUMENT, "index",
                         "Only a world of a group has an index: give its group, too.");
    }
    if (order->every < 1 || order->every > every_max) {
        return error_set(error, STATUS_INVALID_ARGUMENT, "every",
                         "From one frame to the next are 1 to %" PRIu64 " steps, not %" PRIu64 ".",
                         every_max, order->every);
    }
    return order->frames_per_second >= 0.0 && order->frames_per_second <= rate_max
               ? STATUS_OK
               : error_set(error, STATUS_INVALID_ARGUMENT, "frames_per_second",
                           "At most 0 (as many as there are) to 1e6 frames come in a second, not "
                           "%g.",
                           order->frames_per_second);
}

static uint32_t wish_of(const Moreau__V1__Subscribe *order) {
    return (order->poses ? LIVE_POSES : 0u) | (order->velocities ? LIVE_VELOCITIES : 0u) |
           (order->joints ? LIVE_JOINTS : 0u) | (order->contacts ? LIVE_CONTACTS : 0u) |
           (order->reports ? LIVE_REPORTS : 0u);
}

static Status check_room(const Api *api, Error *error) {
    return api->subscription_count < api->def.subscriptions_max
               ? STATUS_OK
               : error_set(error, STATUS_RESOURCE_EXHAUSTED, "",
                           "The server has as many subscriptions as it may, %u (option "
                           "--subscriptions-max): end one, or try again later.",
                           api->def.subscriptions_max);
}

static uint32_t count_of_connection(const Request *request) {
    uint32_t count = 0;
    for (const Request *at = request->session->first_request; at != NULL; at = at->next) {
        count += at->stopped == on_stopped && at->peer.handle == request->peer.handle;
    }
    return count;
}

// A subscription has no end but its Cancel, which must find a place among the requests under way:
// where all are subscriptions, their connection would never be read again.
static Status check_cancel_room(const Request *request, Error *error) {
    const uint32_t requests_max = request->api->def.requests_max;
    return count_of_connection(request) + 1 < requests_max
               ? STATUS_OK
               : error_set(error, STATUS_RESOURCE_EXHAUSTED, "",
                           "Of the %u requests that may be under way on a connection (option "
                           "--requests-max), one is left for what ends a subscription: cancel "
                           "one, or subscribe on a connection of its own.",
                           requests_max);
}

static void join(Subscription *subscription, LiveWorld *live) {
    subscription->live = live;
    subscription->next = live->first;
    subscription->link = &live->first;
    if (live->first != NULL) {
        live->first->link = &subscription->next;
    }
    live->first = subscription;
    subscription->request->api->subscription_count++;
}

// What belongs to the loop. A world alone that is found is retained until the request is over.
static Status begin(Request *request, const LiveTarget *target, Error *error) {
    const Moreau__V1__Subscribe *order = request->message->subscribe;
    Subscription *subscription = arena_take_zeroed(&request->arena, 1, sizeof(*subscription));
    LiveWorld *live = subscription == NULL ? NULL : live_open(request->api, target);
    if (live == NULL) {
        return error_set(error, STATUS_RESOURCE_EXHAUSTED, "", "Memory ended while subscribing.");
    }
    if (target->world != NULL) {
        host_retain(target->world);
        request->world = target->world;
    }
    subscription->request = request;
    subscription->every = order->every;
    subscription->period_ns =
        order->frames_per_second > 0.0 ? (uint64_t)(fmin(1e9 / order->frames_per_second, 1e18)) : 0;
    subscription->wish = wish_of(order);
    subscription->wants_scene = order->scene;
    subscription->wants_single = order->single;
    uv_timer_init(request->api->def.loop, &subscription->timer);
    subscription->timer.data = subscription;
    strand_init(&request->strand);
    request->plan = subscription;
    request->stopped = on_stopped;
    request->drained = on_drained;
    request->peer.calls->stay_fresh(request->peer.handle);
    join(subscription, live);
    schedule(subscription);
    return STATUS_OK;
}

static Status find_world(const Request *request, LiveTarget *target, Error *error) {
    const uint64_t id = request->message->subscribe->world;
    target->world = request_find_world(request, id);
    return target->world != NULL ? STATUS_OK
                                 : error_set(error, STATUS_NOT_FOUND, "world",
                                             "No world has the id %" PRIu64 ".", id);
}

static Status find_in_group(const Request *request, LiveTarget *target, Error *error) {
    const Moreau__V1__Subscribe *order = request->message->subscribe;
    target->group = farm_find(request->api->def.farm, order->group, request_view(request));
    if (target->group == NULL) {
        return error_set(error, STATUS_NOT_FOUND, "group", "No group has the id %" PRIu64 ".",
                         order->group);
    }
    if (order->index >= target->group->count) {
        return error_set(error, STATUS_INVALID_ARGUMENT, "index",
                         "The group has the worlds 0 to %u, not %" PRIu64 ".",
                         target->group->count - 1, order->index);
    }
    target->index = (uint32_t)order->index;
    return STATUS_OK;
}

Status command_subscribe_prepare(Request *request, Error *error) {
    LiveTarget target = {0};
    Status status = request->message->subscribe->has_group ? find_in_group(request, &target, error)
                                                           : find_world(request, &target, error);
    status = STATUS_THEN(status, check_room(request->api, error));
    status = STATUS_THEN(status, check_cancel_room(request, error));
    return STATUS_THEN(status, begin(request, &target, error));
}
