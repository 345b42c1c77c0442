// SPDX-License-Identifier: MIT
#include "api/live.h"

#include "base/array.h"
#include "base/assert.h"
#include "run/worlds/record_columns.h"
#include "wire/scene/out.h"
#include "wire/step_codec.h"
#include "wire/wire.h"

#include <stdlib.h>
#include <string.h>

enum { FIELD_REPORTS = 2, FIELD_SCENE = 3 }; // of LiveFrame

// ---- frames

static size_t frame_bytes(const LiveFrame *frame) {
    return sizeof(*frame) + frame->arena.total_bytes + frame->reports_capacity +
           frame->scene_capacity + episode_columns_bytes(&frame->columns);
}

static void count_frame(const LiveWorld *live, LiveFrame *frame, size_t bytes) {
    host_count_bytes(live->api->def.host, frame->counted_bytes, bytes);
    frame->counted_bytes = bytes;
}

static void free_frame(LiveFrame *frame) {
    if (frame != NULL) {
        episode_columns_deinit(&frame->columns);
        arena_deinit(&frame->arena);
        free(frame->reports);
        free(frame->scene);
        free(frame);
    }
}

static void destroy_frame(const LiveWorld *live, LiveFrame *frame) {
    if (frame != NULL) {
        count_frame(live, frame, 0);
        free_frame(frame);
    }
}

// Any thread.
static void give_back(LiveWorld *live, LiveFrame *frame) {
    destroy_frame(live, atomic_exchange(&live->spare, frame));
}

void live_retain_frame(LiveFrame *frame) {
    frame->references++;
}

void live_release_frame(LiveWorld *live, LiveFrame *frame) {
    ASSERT(frame->references > 0);
    if (--frame->references == 0) {
        give_back(live, frame);
    }
}

// ---- on the lane that has the world

static LiveFrame *take_frame(LiveWorld *live) {
    LiveFrame *frame = atomic_exchange(&live->spare, NULL);
    if (frame == NULL) {
        frame = calloc(1, sizeof(*frame));
        if (frame == NULL) {
            return NULL;
        }
        arena_init(&frame->arena, live->api->def.memory_bytes_max);
        episode_columns_init(&frame->columns, (EpisodeWish){.contacts = true});
    }
    frame->has_reports = frame->has_scene = false;
    frame->scene_status = STATUS_OK;
    episode_columns_clear(&frame->columns);
    arena_reset(&frame->arena);
    return frame;
}

static bool fill_columns(LiveFrame *frame, uint32_t wish, const WatchView *view) {
    const World *world = view->world;
    EpisodeFrame state = {
        .body_count = world->body_count, .ids = world->body_id, .is_stored = false};
    bool has_contacts = (wish & LIVE_CONTACTS) != 0 && view->stepper->has_last;
    frame->columns.wish = (EpisodeWish){.poses = (wish & LIVE_POSES) != 0,
                                        .velocities = (wish & LIVE_VELOCITIES) != 0,
                                        .joints = (wish & LIVE_JOINTS) != 0,
                                        .contacts = (wish & LIVE_CONTACTS) != 0};
    return frame_columns(world, world->step, &frame->arena, &state.frame, NULL) == STATUS_OK &&
           joint_columns(world, &frame->arena, &state.joints, NULL) == STATUS_OK &&
           (!has_contacts ||
            contacts_list(world, view->stepper, world->step, 0, view->stepper->contact_count,
                          &frame->arena, &state.contacts, NULL) == STATUS_OK) &&
           episode_columns_add(&frame->columns, &state, NULL) == STATUS_OK;
}

static bool fill_reports(LiveFrame *frame, const World *world, const StepTally *tally) {
    StepResult result = {.step = world->step, .time = world->time.value, .run = {.tally = *tally}};
    for (int i = 0; i < 2; i++) {
        result.worst_body[i] = tally->last.worst_body[i];
    }
    StepResults results = {.count = 1, .result = &result, .wants_reports = true};
    size_t bytes = step_codec_bytes_max(&results, NULL, 0);
    if (!ARRAY_RESERVE(frame->reports, frame->reports_capacity, bytes)) {
        return false;
    }
    uint8_t *end = step_codec_pack_reports(&results, FIELD_REPORTS, frame->reports);
    frame->reports_bytes = (size_t)(end - frame->reports);
    frame->has_reports = true;
    return true;
}

// A scene longer than any frame is not even made: an arena that may take so many times its bytes
// holds the longest.
enum { SCENE_MULTIPLE = 16 };

static Status fill_scene(const LiveWorld *live, LiveFrame *frame, const World *world) {
    const LiveTarget *target = &live->target;
    const char *name = target->world != NULL ? target->world->name : target->group->name;
    size_t frame_bytes_max = live->api->def.frame_bytes_max;
    Arena arena;
    arena_init(&arena, SCENE_MULTIPLE * frame_bytes_max);
    const Moreau__V1__Scene *scene = scene_out(world, name, &arena);
    size_t bytes = scene == NULL ? 0 : moreau__v1__scene__get_packed_size(scene);
    Status status =
        scene == NULL || bytes > frame_bytes_max ||
                !ARRAY_RESERVE(frame->scene, frame->scene_capacity, WIRE_HEAD_BYTES_MAX + bytes)
            ? STATUS_RESOURCE_EXHAUSTED
            : STATUS_OK;
    if (status == STATUS_OK) {
        uint8_t *at = wire_head(frame->scene, FIELD_SCENE, bytes);
        at += moreau__v1__scene__pack(scene, at);
        frame->scene_bytes = (size_t)(at - frame->scene);
        frame->has_scene = true;
    }
    arena_deinit(&arena);
    return status;
}

// The loop is woken, once for all that is in the list.
static void tell_loop(LiveWorld *live) {
    Api *api = live->api;
    if (!atomic_exchange(&live->is_listed, true)) {
        LiveWorld *head = atomic_load(&api->live_news);
        do {
            live->next_listed = head;
        } while (!atomic_compare_exchange_weak(&api->live_news, &head, live));
    }
    uv_async_send(&api->live_async);
}

// A reset of a group may have put its world on other ground.
static void mark_worn(LiveWorld *live, const World *world) {
    const uint64_t worn = world_worn_hash(world);
    live->watch.marks.definitions += worn != live->shown_worn;
    live->watch.marks.things += worn != live->shown_worn;
    live->shown_worn = worn;
}

static void show(Watch *watch, const WatchView *view) {
    LiveWorld *live = (LiveWorld *)watch;
    const World *world = view->world;
    mark_worn(live, world);
    uint32_t wish = atomic_load(&live->wish);
    LiveFrame *frame = take_frame(live);
    const StepTally *tally = wish & LIVE_REPORTS ? view->tally : NULL;
    if (frame == NULL || !fill_columns(frame, wish, view) ||
        (tally != NULL && !fill_reports(frame, world, tally))) {
        destroy_frame(live, frame); // memory ended: who waits asks again
        atomic_store(&watch->from_step, WATCH_NOTHING);
        atomic_store(&live->is_starved, true);
        tell_loop(live);
        return;
    }
    // whoever asks from here on is served by what follows this frame
    atomic_store(&watch->from_step, WATCH_NOTHING);
    atomic_store(&live->wants_look, false);
    if (atomic_exchange(&live->wants_scene, false) ||
        live->shown_definitions != watch->marks.definitions) {
        frame->scene_status = fill_scene(live, frame, world);
    }
    frame->number = ++live->shown_count;
    frame->wish = wish;
    frame->view = *view;
    frame->marks = watch->marks;
    frame->faulted = world->faulted;
    frame->failure = watch->failure;
    error_clear(&watch->failure);
    live->shown_step = view->step;
    live->shown_changes = watch->marks.changes;
    live->shown_definitions = watch->marks.definitions;
    count_frame(live, frame, frame_bytes(frame));
    LiveFrame *missed = atomic_exchange(&live->fresh, frame);
    if (missed != NULL) {
        give_back(live, missed);
    }
    tell_loop(live);
}

static void on_gone(Watch *watch) {
    LiveWorld *live = (LiveWorld *)watch;
    Api *api = live->api;
    atomic_store(&live->is_gone, true); // from here on it is the loop's alone, who may free it
    atomic_fetch_add(&api->live_gone, 1);
    uv_async_send(&api->live_async);
}

// Of a world alone, false: it is gone meanwhile, which the loop is told.
static bool take_view(const LiveWorld *live, WatchView *view) {
    const LiveTarget *target = &live->target;
    if (target->group != NULL) {
        *view = group_view(target->group->group, target->index, &live->watch);
    } else if (target->world->door.world != NULL) {
        *view = door_view(&target->world->door, &live->watch);
    } else {
        return false;
    }
    return true;
}

// For a world that nobody steps just then.
static JobOutcome look_on_lane(Job *job, Lane *lane) {
    LiveWorld *live = (LiveWorld *)(void *)((char *)job - offsetof(LiveWorld, job));
    WatchView view;
    (void)lane;
    if (!take_view(live, &view)) {
        return JOB_DONE;
    }
    uint64_t from_step = atomic_load(&live->watch.from_step);
    bool has_stepped = view.step != live->shown_step && view.step >= from_step;
    bool has_changed =
        live->watch.marks.changes != live->shown_changes && from_step != WATCH_NOTHING;
    if (has_stepped || has_changed || atomic_load(&live->wants_look)) {
        show(&live->watch, &view);
    }
    job->urgent = true; // somebody may have asked meanwhile, and waits for the next look
    return JOB_DONE;
}

static _Atomic(Watch *) *slot_of(const LiveTarget *target) {
    return target->world != NULL ? &target->world->door.watch
                                 : &target->group->group->world[target->index].watch;
}

// Nothing shows the world from here on.
static JobOutcome leave_on_lane(Job *job, Lane *lane) {
    LiveWorld *live = (LiveWorld *)(void *)((char *)job - offsetof(LiveWorld, job));
    (void)lane;
    Watch *own = &live->watch; // there may be another one by now
    atomic_compare_exchange_strong(slot_of(&live->target), &own, NULL);
    job->urgent = true;
    return JOB_DONE;
}

// ---- on the loop

static bool is_same(const LiveTarget *a, const LiveTarget *b) {
    return a->world == b->world && a->group == b->group && a->index == b->index;
}

static LiveWorld *find_live(const Api *api, const LiveTarget *target) {
    for (LiveWorld *live = api->first_live; live != NULL; live = live->next) {
        if (is_same(&live->target, target) && live->is_attached && !live->is_leaving &&
            !atomic_load(&live->is_gone)) {
            return live;
        }
    }
    return NULL;
}

LiveWorld *live_open(Api *api, const LiveTarget *target) {
    LiveWorld *live = find_live(api, target);
    if (live != NULL) {
        return live;
    }
    live = calloc(1, sizeof(*live));
    if (live == NULL) {
        return NULL;
    }
    live->watch =
        (Watch){.marks = {1, 1, 1}, .from_step = WATCH_NOTHING, .show = show, .gone = on_gone};
    live->api = api;
    live->target = *target;
    live->id = target->world != NULL ? target->world->id : target->group->id;
    live->next = api->first_live;
    live->link = &api->first_live;
    if (live->next != NULL) {
        live->next->link = &live->next;
    }
    api->first_live = live;
    live->is_attached = true;
    atomic_store(slot_of(target), &live->watch);
    return live;
}

static void destroy(LiveWorld *live) {
    ASSERT(live->first == NULL);
    *live->link = live->next;
    if (live->next != NULL) {
        live->next->link = live->link;
    }
    free(live);
}

static void on_job_done(Job *job);

static void submit(LiveWorld *live, JobWork *work, uint64_t share) {
    const LiveTarget *target = &live->target;
    Strand *strand;
    if (target->world != NULL) {
        host_retain(target->world);
        strand = &target->world->strand;
    } else {
        farm_retain(target->group);
        strand = farm_strand(target->group, target->index);
    }
    live->is_busy = true;
    live->is_leaving = work == leave_on_lane;
    live->job = (Job){.work = work, .done = on_job_done};
    pool_submit(live->api->def.pool, strand, share, &live->job);
}

// Its world does not know it any more, in a moment, or at once.
static void detach(LiveWorld *live) {
    if (live->target.world != NULL && atomic_load(&live->is_gone)) {
        live->is_attached = false; // its door is no more
    }
    if (live->is_attached && !live->is_busy && !live->api->is_stopped) {
        submit(live, leave_on_lane, 0);
    }
}

void live_leave(LiveWorld *live) {
    ASSERT(live->first == NULL);
    live_rest(live);
    atomic_store(&live->wish, 0);
    atomic_store(&live->watch.wants_tally, false);
    atomic_store(&live->wants_look, false);
    destroy_frame(live, atomic_exchange(&live->fresh, NULL));
    destroy_frame(live, atomic_exchange(&live->spare, NULL));
    detach(live);
    if (!live->is_attached && !live->is_busy && !atomic_load(&live->is_listed)) {
        destroy(live);
    }
}

static void on_job_done(Job *job) {
    LiveWorld *live = (LiveWorld *)(void *)((char *)job - offsetof(LiveWorld, job));
    const LiveTarget target = live->target;
    live->is_busy = false;
    live->is_attached = live->is_attached && !live->is_leaving;
    if (live->first == NULL) {
        live_leave(live);
    } else if (atomic_load(&live->is_gone)) {
        detach(live);
    } else if (live->looks_again) {
        subscription_took(live, NULL);
    }
    // last, as a group may go with it
    if (target.world != NULL) {
        host_release(target.world);
    } else {
        farm_release(target.group);
    }
}

static void look(LiveWorld *live, uint64_t share) {
    live->looks_again = live->is_busy;
    if (!live->is_busy && !atomic_load(&live->is_gone)) {
        submit(live, look_on_lane, share);
    }
}

void live_ask(LiveWorld *live, const LiveAsk *ask, uint64_t share) {
    atomic_store(&live->wish, ask->wish);
    atomic_store(&live->watch.wants_tally, (ask->wish & LIVE_REPORTS) != 0);
    if (ask->scene) {
        atomic_store(&live->wants_scene, true);
    }
    if (ask->look) {
        atomic_store(&live->wants_look, true);
    }
    atomic_store(&live->watch.from_step, ask->from_step);
    look(live, share);
}

void live_rest(LiveWorld *live) {
    atomic_store(&live->watch.from_step, WATCH_NOTHING);
    live->looks_again = false;
}

static void take(LiveWorld *live) {
    LiveFrame *frame = atomic_exchange(&live->fresh, NULL);
    if (live->first == NULL) {
        destroy_frame(live, frame);
        live_leave(live);
        return;
    }
    if (frame != NULL) {
        live->latest = (LivePlace){frame->number, frame->view.step, frame->marks};
        frame->references = 1;
        subscription_took(live, frame);
        live_release_frame(live, frame);
    }
    if (atomic_exchange(&live->is_starved, false) && frame == NULL) {
        subscription_starved(live);
    }
}

static void find_gone(Api *api) {
    for (LiveWorld *live = api->first_live, *next; live != NULL; live = next) {
        next = live->next;
        if (atomic_load(&live->is_gone) && live->first != NULL) {
            subscription_world_gone(live);
        } else if (atomic_load(&live->is_gone)) {
            live_leave(live);
        }
    }
}

void live_group_goes(GroupEntry *group, const char *why, void *context) {
    const Api *api = context;
    for (LiveWorld *live = api->first_live; live != NULL; live = live->next) {
        if (live->target.group == group && !atomic_load(&live->is_gone)) {
            live->why = why;
            atomic_store(&live->is_gone, true);
            detach(live);
            subscription_world_gone(live);
        }
    }
}

void live_take_news(Api *api) {
    LiveWorld *live = atomic_exchange(&api->live_news, NULL);
    while (live != NULL) {
        LiveWorld *next = live->next_listed;
        atomic_store(&live->is_listed, false); // from here on it may be listed again
        take(live);
        live = next;
    }
    if (atomic_exchange(&api->live_gone, 0) > 0) {
        find_gone(api);
    }
}

void live_close_all(Api *api) {
    for (LiveWorld *live = api->first_live, *next; live != NULL; live = next) {
        next = live->next;
        free_frame(atomic_exchange(&live->fresh, NULL)); // the host that counted them is gone
        free_frame(atomic_exchange(&live->spare, NULL));
        free(live);
    }
    api->first_live = NULL;
}
