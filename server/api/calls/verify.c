// SPDX-License-Identifier: MIT
// The family episode: Verify. A plan is made on a low strand, then workers, each on a low strand of
// its own, share the segments (run/verify.h); the loop sends progress and, at the end, the reply.
#include "api/calls/episode.h"
#include "os/clock.h"
#include "replay/verify/verify.h"
#include "wire/scene/print.h"

#include <inttypes.h>
#include <string.h>

typedef struct VerifyPlan VerifyPlan;

typedef struct VerifyWorker {
    Job job;
    Strand strand;
    VerifyPlan *plan;
    uint32_t index;
    size_t counted_bytes; // in the memory budget: what is held between two rounds
    Error error;
} VerifyWorker;

struct VerifyPlan {
    Request *request;
    EpisodeRow row;
    Verification *verification;
    size_t counted_bytes; // in the memory budget: what the verification's plan holds
    VerifyWorker *worker;
    uint32_t running;
    _Atomic bool has_failed; // a worker has: the others stop
    uv_timer_t timer;
    uint64_t told_steps; // in the last progress event
    uint64_t begun_ns;
    VerifyResult result;
    Moreau__V1__EpisodeSigned is_signed; // of the reply
    Error error;
};

static Status out_of_memory(Error *error) {
    return error_set(error, STATUS_RESOURCE_EXHAUSTED, "",
                     "Memory ended while verifying an episode.");
}

// ---- the reply

static void fill_difference(const PlayerDifference *difference, Moreau__V1__EpisodeDifference *m) {
    moreau__v1__episode_difference__init(m);
    m->has_step = m->has_damaged = 1;
    m->step = difference->step;
    m->damaged = difference->is_damage;
    m->has_chunk = difference->chunk != 0;
    m->chunk = (uint64_t)difference->chunk;
    m->chunk_kind =
        difference->chunk_kind == 0 ? NULL : (char *)chunk_kind_name(difference->chunk_kind);
    m->has_expected_hash = m->has_found_hash =
        difference->expected_hash != 0 || difference->found_hash != 0;
    m->expected_hash = difference->expected_hash;
    m->found_hash = difference->found_hash;
    m->has_body = difference->body != 0;
    m->body = difference->body;
    if (difference->quantity[0] != '\0') {
        m->quantity = (char *)difference->quantity;
        m->has_expected = m->has_found = 1;
        m->expected = difference->expected;
        m->found = difference->value;
    }
    m->message = (char *)difference->message;
}

// Bytes stay where they are.
static void fill_signed(const SignedResult *result, const ProtobufCBinaryData *asked,
                        Moreau__V1__EpisodeSigned *m) {
    static const Moreau__V1__EpisodeSigned__By by[] = {
        [SIGNED_BY_NOBODY] = MOREAU__V1__EPISODE_SIGNED__BY__NOBODY,
        [SIGNED_BY_ANOTHER] = MOREAU__V1__EPISODE_SIGNED__BY__ANOTHER,
        [SIGNED_IN_PART] = MOREAU__V1__EPISODE_SIGNED__BY__PARTLY,
        [SIGNED_FOUND] = MOREAU__V1__EPISODE_SIGNED__BY__FOUND,
        [SIGNED_WHOLLY] = MOREAU__V1__EPISODE_SIGNED__BY__WHOLLY};
    moreau__v1__episode_signed__init(m);
    m->has_by = m->has_step = 1;
    m->by = by[result->by];
    m->step = result->step;
    m->has_key = result->by != SIGNED_BY_NOBODY;
    m->key = *asked;
    if (result->by == SIGNED_BY_ANOTHER) {
        m->key.data = (uint8_t *)result->other;
    }
}

static bool fill_result(VerifyPlan *plan, Moreau__V1__EpisodeVerifyReply *m) {
    Arena *arena = &plan->request->arena;
    const VerifyResult result = plan->result = verify_result(plan->verification);
    const Moreau__V1__EpisodeVerify *verify = plan->request->message->episode_verify;
    size_t count = result.difference_count;
    m->has_verified = m->has_steps = m->has_dropped_steps = m->has_unconverged_steps =
        m->has_seconds = 1;
    m->verified = count == 0;
    m->steps = result.steps;
    m->dropped_steps = result.dropped_steps;
    m->unconverged_steps = result.unconverged_steps;
    m->has_sealed = m->has_proven_step = 1;
    m->sealed = result.is_sealed;
    m->proven_step = result.proven_step;
    if (verify->has_seal_public_key) {
        fill_signed(&plan->result.is_signed, &verify->seal_public_key, &plan->is_signed);
        m->signed_ = &plan->is_signed;
    }
    m->seconds = (double)(clock_now_ns() - plan->begun_ns) * 1e-9;
    m->differences = arena_take_array(arena, count, sizeof(*m->differences));
    Moreau__V1__EpisodeDifference *differences =
        arena_take_array(arena, count, sizeof(*differences));
    if (m->differences == NULL || differences == NULL) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        m->differences[i] = &differences[i];
        fill_difference(&result.difference[i], &differences[i]);
    }
    m->n_differences = count;
    return true;
}

static void on_timer_closed(uv_handle_t *handle) {
    VerifyPlan *plan = handle->data;
    request_finish(plan->request);
}

// Everything has ended: the last reply.
static void end_verify(VerifyPlan *plan) {
    Moreau__V1__Reply reply = MOREAU__V1__REPLY__INIT;
    Moreau__V1__EpisodeVerifyReply message = MOREAU__V1__EPISODE_VERIFY_REPLY__INIT;
    if (plan->error.status == STATUS_OK && !fill_result(plan, &message)) {
        plan->error.status = out_of_memory(&plan->error);
    }
    if (plan->error.status == STATUS_OK) {
        reply.result_case = MOREAU__V1__REPLY__RESULT_EPISODE_VERIFY;
        reply.episode_verify = &message;
    }
    request_reply(plan->request, NULL, &reply, &plan->error);
    plan->request->stopped = NULL;
    uv_close((uv_handle_t *)&plan->timer, on_timer_closed);
}

static void tell_progress(uv_timer_t *timer) {
    VerifyPlan *plan = timer->data;
    episode_tell_progress(plan->request, NULL, MOREAU__V1__REPLY__RESULT_EPISODE_PROGRESS,
                          verify_steps_done(plan->verification),
                          verify_steps_total(plan->verification), &plan->told_steps);
}

// ---- the workers

static JobOutcome verify_on_lane(Job *job, Lane *lane) {
    VerifyWorker *worker = (VerifyWorker *)(void *)((char *)job - offsetof(VerifyWorker, job));
    VerifyPlan *plan = worker->plan;
    const Request *request = plan->request;
    Error *error = &worker->error;
    bool is_over = false, is_long = false;
    lane_end_turn(lane);
    if (worker->counted_bytes == 0) { // its first round; those before are counted by now
        error->status =
            host_check_memory(request->api->def.host,
                              episode_player_bytes(verify_episode(plan->verification)), error);
    }
    while (error->status == STATUS_OK && !is_over && !is_long) {
        WorkWatch watch;
        bool progressed = true;
        is_over = atomic_load_explicit(&plan->has_failed, memory_order_relaxed) ||
                  request_should_stop(request, error);
        if (is_over) {
            break;
        }
        request_watch(request, lane, clock_now_ns(), &watch);
        error->status = verify_work(plan->verification, worker->index, &lane->scratch,
                                    watch.begun_ns + EPISODE_QUANTUM_NS, &watch.context, &is_over,
                                    &progressed, error);
        is_long = watch.is_put_aside;
        if (error->status == STATUS_OK && !progressed) {
            error->status = request_watch_verdict(&watch, error);
        }
        if (episode_should_pause(lane)) {
            break;
        }
    }
    episode_count_memory(request, &worker->counted_bytes,
                         verify_worker_bytes(plan->verification, worker->index));
    if (error->status == STATUS_OK && !is_over) {
        return is_long ? JOB_LONG : JOB_AGAIN;
    }
    if (error->status != STATUS_OK) {
        atomic_store_explicit(&plan->has_failed, true, memory_order_relaxed);
    }
    job->urgent = true;
    return JOB_DONE;
}

static void on_worker_done(Job *job) {
    VerifyWorker *worker = (VerifyWorker *)(void *)((char *)job - offsetof(VerifyWorker, job));
    VerifyPlan *plan = worker->plan;
    episode_count_memory(plan->request, &worker->counted_bytes, 0);
    if (plan->error.status == STATUS_OK && worker->error.status != STATUS_OK) {
        plan->error = worker->error;
    }
    if (--plan->running == 0) {
        end_verify(plan);
    }
}

static void start_workers(VerifyPlan *plan) {
    Request *request = plan->request;
    uint32_t count = verify_worker_count(plan->verification);
    plan->worker = arena_take_zeroed(&request->arena, count, sizeof(*plan->worker));
    if (plan->worker == NULL) {
        plan->error.status = out_of_memory(&plan->error);
        end_verify(plan);
        return;
    }
    plan->running = count;
    const uint64_t progress_ms = EPISODE_PROGRESS_NS / 1000000;
    uv_timer_start(&plan->timer, tell_progress, progress_ms, progress_ms);
    for (uint32_t i = 0; i < count; i++) {
        VerifyWorker *worker = &plan->worker[i];
        worker->plan = plan;
        worker->index = i;
        worker->job = (Job){.work = verify_on_lane, .done = on_worker_done};
        strand_init(&worker->strand);
        pool_submit(request_pool(request), &worker->strand, request_share(request), &worker->job);
    }
}

// ---- the plan

static Status check_range(const EpisodeRow *row, const Moreau__V1__EpisodeVerify *verify,
                          Error *error) {
    bool ends_beyond = verify->has_last && verify->last > row->last_step;
    if (verify->first > row->last_step || ends_beyond) {
        return error_set(error, STATUS_OUT_OF_RANGE, ends_beyond ? "last" : "first",
                         "The episode has the steps 0 to %" PRIu64 ".", row->last_step);
    }
    return STATUS_OK;
}

static Status make_plan(VerifyPlan *plan, Error *error) {
    Request *request = plan->request;
    const Moreau__V1__EpisodeVerify *verify = request->message->episode_verify;
    Status status = episode_find(request, verify->episode, &plan->row, error);
    status = STATUS_THEN(status, check_range(&plan->row, verify, error));
    if (status != STATUS_OK) {
        return status;
    }
    uint32_t lanes = pool_lane_count(request_pool(request));
    uint64_t used = host_bytes(request->api->def.host);
    size_t budget = host_limits(request->api->def.host)->bytes_max;
    VerifyDef def = {
        .log = request->api->def.log,
        .episode = &plan->row,
        .limits = *host_limits(request->api->def.host),
        .first = verify->first,
        .last = verify->has_last ? verify->last : plan->row.last_step,
        .worker_count_max = verify->has_lanes && verify->lanes < lanes ? verify->lanes : lanes,
        .print_scene = scene_print,
        .seal_public = verify->has_seal_public_key ? verify->seal_public_key.data : NULL,
        .plan_bytes_max = used < budget ? budget - (size_t)used : 0};
    status = verify_open(&plan->verification, &def, error);
    if (status == STATUS_OK) {
        episode_count_memory(request, &plan->counted_bytes, verify_plan_bytes(plan->verification));
    }
    return status;
}

static JobOutcome plan_on_lane(Job *job, Lane *lane) {
    (void)lane;
    Request *request = (Request *)(void *)((char *)job - offsetof(Request, job));
    VerifyPlan *plan = request->plan;
    if (!request_should_stop(request, &plan->error)) {
        plan->error.status = make_plan(plan, &plan->error);
    }
    job->urgent = true;
    return JOB_DONE;
}

static void on_planned(Job *job) {
    Request *request = (Request *)(void *)((char *)job - offsetof(Request, job));
    VerifyPlan *plan = request->plan;
    if (plan->error.status != STATUS_OK) {
        end_verify(plan);
    } else {
        start_workers(plan);
    }
}

// Its workers look for themselves; that there is this function makes a drain end it at once.
static void on_stopped(Request *request) {
    (void)request;
}

static void release_verify(Request *request) {
    VerifyPlan *plan = request->plan;
    verify_close(plan->verification);
    episode_count_memory(request, &plan->counted_bytes, 0);
}

Status command_episode_verify_prepare(Request *request, Error *error) {
    const Moreau__V1__EpisodeVerify *verify = request->message->episode_verify;
    if (verify->has_lanes && verify->lanes == 0) {
        return error_set(error, STATUS_INVALID_ARGUMENT, "lanes",
                         "Verifying takes 1 lane or more, not 0.");
    }
    if (verify->has_last && verify->last < verify->first) {
        return error_set(error, STATUS_INVALID_ARGUMENT, "last",
                         "The range ends at step %" PRIu64 ", before its first, %" PRIu64 ".",
                         verify->last, verify->first);
    }
    if (verify->has_seal_public_key && verify->seal_public_key.len != SEAL_PUBLIC_BYTES) {
        return error_set(error, STATUS_INVALID_ARGUMENT, "seal_public_key",
                         "A public key of Ed25519 has %d bytes, not %zu.", SEAL_PUBLIC_BYTES,
                         verify->seal_public_key.len);
    }
    Status status = episode_check_build(request, error);
    if (status != STATUS_OK) {
        return status;
    }
    VerifyPlan *plan = arena_take_zeroed(&request->arena, 1, sizeof(*plan));
    if (plan == NULL) {
        return out_of_memory(error);
    }
    plan->request = request;
    plan->begun_ns = clock_now_ns();
    uv_timer_init(request->api->def.loop, &plan->timer);
    plan->timer.data = plan;
    request->plan = plan;
    request->finish = release_verify;
    request->stopped = on_stopped;
    strand_init(&request->strand);
    request->job = (Job){.work = plan_on_lane, .done = on_planned};
    pool_submit(request_pool(request), &request->strand, request_share(request), &request->job);
    return STATUS_OK;
}
