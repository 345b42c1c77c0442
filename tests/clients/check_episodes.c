// SPDX-License-Identifier: MIT
// Recording, listing, replaying, verifying and carrying snapshots as a person does it, against a
// scripted server.
#include "clients/capture.h"
#include "clients/fake_peer.h"
#include "support/suite.h"

#include "cli/text/terminal.h"
#include "cli/text/when.h"

#include <signal.h>
#include <string.h>
#include <time.h>

#define EPISODE_ID "3f2a91bc00112233445566778899aabb"
#define SCENE      MOREAU_SOURCE_DIR "/tests/scenes/one_ball.json"

enum { STEPS = 720, FRAMES = 3, BODIES = 2, SNAPSHOT_BYTES = 1000, SNAPSHOT_ID = 6 };

// A server with one episode of one world.
typedef struct FakeLog {
    FakePeer peer;
    bool without_db;      // recording is refused
    bool is_nameless;     // no body has a name
    bool waits_for_end;   // a stream goes on until it is cancelled
    bool interrupts;      // presses Ctrl-C after the first event …
    bool interrupts_late; // … when the command waits for the next
    size_t differences;   // of a verification
    uint64_t episodes;    // that a list has
    uint64_t steps;       // stepped before and while it was recorded …
    uint64_t recorded_at; // … and when that began and ended
    uint64_t stopped_at;
    bool was_destroyed_first, was_cancelled;
    size_t list_calls;
    uint8_t snapshot[SNAPSHOT_BYTES]; // of world 3; what was uploaded takes its place
    size_t dropped;
    uint64_t restored_world, cloned_world, cloned_snapshot;
    Moreau__V1__Request *seen; // the last call of the episode and snapshot families, owned
} FakeLog;

static Moreau__V1__EpisodeInfo make_info(const FakeLog *log) {
    static char *labels[] = {(char *)"night", (char *)"test"};
    Moreau__V1__EpisodeInfo info = MOREAU__V1__EPISODE_INFO__INIT;
    info.episode = (char *)EPISODE_ID;
    info.name = (char *)"one_ball-1";
    info.n_labels = 2;
    info.labels = labels;
    info.has_state = info.has_content = info.has_stride = info.has_steps = 1;
    info.state = MOREAU__V1__EPISODE__STATE__COMPLETE;
    info.content = MOREAU__V1__EPISODE__CONTENT__FRAMES;
    info.stride = 10;
    info.steps = log->stopped_at > 0 ? log->stopped_at - log->recorded_at : STEPS;
    info.has_time_step = info.has_bodies = info.has_begun = info.has_ended = 1;
    info.time_step = 0.0025;
    info.bodies = BODIES;
    info.begun = 1.75e9;
    info.ended = 1.75e9 + 3.0;
    info.solver = (char *)"mdp";
    info.world_name = (char *)"one_ball-1";
    info.has_unconverged_steps = info.has_bytes = info.has_chunks = 1;
    info.unconverged_steps = 17;
    info.has_gained = log->episodes > 0; // one that is told alone is of an older server
    info.gained = 0.125;
    info.bytes = 1234567;
    info.chunks = 45;
    return info;
}

// Two stretches that did not converge, of three, one of them from before reasons were kept, and an
// impact.
enum { HIGHLIGHTS = 3 };
static void fill_highlights(Moreau__V1__EpisodeHighlight *highlight,
                            Moreau__V1__EpisodeHighlight **list, uint64_t total[3],
                            Moreau__V1__EpisodeDescribeReply *describe) {
    for (int i = 0; i < HIGHLIGHTS; i++) {
        moreau__v1__episode_highlight__init(&highlight[i]);
        highlight[i].has_kind = highlight[i].has_first_step = highlight[i].has_last_step = 1;
        highlight[i].has_worst_step = highlight[i].has_value = 1;
        highlight[i].kind = i < 2 ? MOREAU__V1__EPISODE_HIGHLIGHT__KIND__UNCONVERGED
                                  : MOREAU__V1__EPISODE_HIGHLIGHT__KIND__IMPACT;
        highlight[i].first_step = highlight[i].worst_step = highlight[i].last_step = 40;
        highlight[i].value = 2.5;
        list[i] = &highlight[i];
    }
    highlight[0].first_step = 411;
    highlight[0].worst_step = 415;
    highlight[0].last_step = 419;
    highlight[0].value = 3.1e-4;
    highlight[0].has_reason = highlight[0].has_body = highlight[0].has_contacts = 1;
    highlight[0].reason = MOREAU__V1__CERTIFICATE__REASON__STALLED;
    highlight[0].body = 4294967301;
    highlight[0].contacts = 57;
    total[0] = 3;
    total[1] = 1;
    total[2] = 0;
    describe->n_highlights = HIGHLIGHTS;
    describe->highlights = list;
    describe->n_highlight_total = 3;
    describe->highlight_total = total;
}

static void send_info(FakeLog *log, const Moreau__V1__Request *request) {
    Moreau__V1__EpisodeInfo info = make_info(log);
    Moreau__V1__EpisodeStopReply stop = MOREAU__V1__EPISODE_STOP_REPLY__INIT;
    Moreau__V1__EpisodeDescribeReply describe = MOREAU__V1__EPISODE_DESCRIBE_REPLY__INIT;
    uint64_t ids[BODIES] = {5, 7};
    char *names[BODIES] = {(char *)"left", (char *)"right"};
    if (request->call_case == MOREAU__V1__REQUEST__CALL_EPISODE_DESCRIBE &&
        request->episode_describe->names && !log->is_nameless) {
        describe.n_ids = describe.n_names = BODIES;
        describe.ids = ids;
        describe.names = names;
    }
    Moreau__V1__EpisodeHighlight highlight[HIGHLIGHTS], *list[HIGHLIGHTS];
    uint64_t total[3];
    if (request->call_case == MOREAU__V1__REQUEST__CALL_EPISODE_DESCRIBE &&
        request->episode_describe->highlights > 0) {
        fill_highlights(highlight, list, total, &describe);
    }
    stop.episode = describe.episode = &info;
    Moreau__V1__Reply reply = MOREAU__V1__REPLY__INIT;
    if (request->call_case == MOREAU__V1__REQUEST__CALL_EPISODE_STOP) {
        reply.result_case = MOREAU__V1__REPLY__RESULT_EPISODE_STOP;
        reply.episode_stop = &stop;
    } else {
        reply.result_case = MOREAU__V1__REPLY__RESULT_EPISODE_DESCRIBE;
        reply.episode_describe = &describe;
    }
    fake_send(&log->peer, &reply, request->id);
}

static void send_list(FakeLog *log, const Moreau__V1__Request *request) {
    log->list_calls++;
    const Moreau__V1__EpisodeList *asked = request->episode_list;
    Moreau__V1__EpisodeInfo info = make_info(log);
    uint64_t left = asked->first < log->episodes ? log->episodes - asked->first : 0;
    Moreau__V1__EpisodeListReply list = MOREAU__V1__EPISODE_LIST_REPLY__INIT;
    list.has_total = 1;
    list.total = log->episodes;
    list.n_episodes = (size_t)(left < asked->count ? left : asked->count);
    list.episodes = calloc(list.n_episodes + 1, sizeof(void *));
    for (size_t i = 0; i < list.n_episodes; i++) {
        list.episodes[i] = &info;
    }
    Moreau__V1__Reply reply = MOREAU__V1__REPLY__INIT;
    reply.result_case = MOREAU__V1__REPLY__RESULT_EPISODE_LIST;
    reply.episode_list = &list;
    fake_send(&log->peer, &reply, request->id);
    free(list.episodes);
}

// Sends nothing more until Cancel names this request; then says that it is cancelled.
static void await_cancel(FakeLog *log, uint64_t id) {
    Moreau__V1__Request *request;
    while ((request = fake_receive(&log->peer)) != NULL) {
        bool is_it = request->call_case == MOREAU__V1__REQUEST__CALL_CANCEL &&
                     request->cancel->request == id;
        if (is_it) {
            log->was_cancelled = true;
            Moreau__V1__CancelReply cancel = MOREAU__V1__CANCEL_REPLY__INIT;
            cancel.has_found = cancel.found = 1;
            Moreau__V1__Reply reply = MOREAU__V1__REPLY__INIT;
            reply.result_case = MOREAU__V1__REPLY__RESULT_CANCEL;
            reply.cancel = &cancel;
            fake_send(&log->peer, &reply, request->id);
            fake_send_status(&log->peer, id, MOREAU__V1__STATUS__CODE__CANCELLED, NULL,
                             "cancelled by the client");
        }
        moreau__v1__request__free_unpacked(request, NULL);
        if (is_it) {
            return;
        }
    }
}

static void end_stream(FakeLog *log, uint64_t id, Moreau__V1__Reply *last) {
    if (log->interrupts_late) {
        usleep(300 * 1000);
    }
    if (log->interrupts || log->interrupts_late) {
        kill(getpid(), SIGINT);
    }
    if (log->waits_for_end) {
        await_cancel(log, id);
    } else {
        fake_send(&log->peer, last, id);
    }
}

// Frames of steps 10, 20, 30 in one event: body b is at x = step + b and moves by 1 m/s; one
// contact in the second frame.
static void send_frames(FakeLog *log, const Moreau__V1__Request *request) {
    uint64_t step[FRAMES];
    uint64_t bodies[FRAMES];
    double time[FRAMES];
    uint64_t ids[BODIES] = {5, 7};
    double pose[FRAMES * BODIES * 7] = {0};
    double velocity[FRAMES * BODIES * 6] = {0};
    protobuf_c_boolean stored[FRAMES] = {1, 1, 0};
    for (size_t i = 0; i < FRAMES; i++) {
        step[i] = 10 * (i + 1);
        bodies[i] = BODIES;
        time[i] = 0.0025 * (double)step[i];
        for (size_t b = 0; b < BODIES; b++) {
            pose[7 * (BODIES * i + b)] = (double)(step[i] + b);
            pose[7 * (BODIES * i + b) + 3] = 1.0;
            velocity[6 * (BODIES * i + b)] = 1.0;
        }
    }
    uint64_t contact_count[FRAMES] = {0, 1, 0};
    double impulse[3] = {0.25, 0, 0};
    Moreau__V1__WorldContactsReply contacts = MOREAU__V1__WORLD_CONTACTS_REPLY__INIT;
    contacts.n_body_a = contacts.n_body_b = 1;
    contacts.body_a = &ids[0];
    contacts.body_b = &ids[1];
    contacts.n_impulse = 3;
    contacts.impulse = impulse;
    Moreau__V1__EpisodeFrames frames = MOREAU__V1__EPISODE_FRAMES__INIT;
    frames.n_step = frames.n_time = frames.n_body_count = frames.n_stored = FRAMES;
    frames.step = step;
    frames.time = time;
    frames.body_count = bodies;
    frames.stored = stored;
    uint64_t ids_count[FRAMES] = {BODIES};
    frames.n_ids = BODIES;
    frames.ids = ids;
    frames.n_ids_count = FRAMES;
    frames.ids_count = ids_count;
    frames.n_pose = FRAMES * BODIES * 7;
    frames.pose = pose;
    frames.n_velocity = FRAMES * BODIES * 6;
    frames.velocity = velocity;
    if (request->episode_replay->contacts) {
        frames.n_contact_count = FRAMES;
        frames.contact_count = contact_count;
        frames.contacts = &contacts;
    }
    Moreau__V1__Reply event = MOREAU__V1__REPLY__INIT;
    event.has_event = event.event = 1;
    event.result_case = MOREAU__V1__REPLY__RESULT_EPISODE_FRAMES;
    event.episode_frames = &frames;
    fake_send(&log->peer, &event, request->id);
    Moreau__V1__EpisodeReplayReply end = MOREAU__V1__EPISODE_REPLAY_REPLY__INIT;
    end.has_frames = 1;
    end.frames = FRAMES;
    Moreau__V1__Reply reply = MOREAU__V1__REPLY__INIT;
    reply.result_case = MOREAU__V1__REPLY__RESULT_EPISODE_REPLAY;
    reply.episode_replay = &end;
    end_stream(log, request->id, &reply);
}

static void send_verification(FakeLog *log, const Moreau__V1__Request *request) {
    Moreau__V1__EpisodeProgress progress = MOREAU__V1__EPISODE_PROGRESS__INIT;
    progress.has_steps_done = progress.has_steps_total = 1;
    progress.steps_done = STEPS / 2;
    progress.steps_total = STEPS;
    Moreau__V1__Reply event = MOREAU__V1__REPLY__INIT;
    event.has_event = event.event = 1;
    event.result_case = MOREAU__V1__REPLY__RESULT_EPISODE_PROGRESS;
    event.episode_progress = &progress;
    fake_send(&log->peer, &event, request->id);

    Moreau__V1__EpisodeDifference differences[3];
    Moreau__V1__EpisodeDifference *rows[3];
    for (size_t i = 0; i < 3; i++) {
        moreau__v1__episode_difference__init(&differences[i]);
        differences[i].step = 100 + i;
        differences[i].chunk = 20 + i;
        differences[i].has_step = differences[i].has_chunk = 1;
        rows[i] = &differences[i];
    }
    differences[0].chunk_kind = (char *)"inputs";
    differences[0].has_expected_hash = differences[0].has_found_hash = 1;
    differences[0].expected_hash = 0x1234;
    differences[0].found_hash = 0xfedcba9876543210u;
    differences[1].chunk_kind = (char *)"frames";
    differences[1].quantity = (char *)"position.x";
    differences[1].has_body = differences[1].has_expected = differences[1].has_found = 1;
    differences[1].body = 5;
    differences[1].expected = 1.5;
    differences[1].found = 2.5;
    differences[2].chunk_kind = (char *)"key-frame";
    differences[2].has_damaged = differences[2].damaged = 1;
    differences[2].message = (char *)"its checksum does not fit";
    Moreau__V1__EpisodeVerifyReply result = MOREAU__V1__EPISODE_VERIFY_REPLY__INIT;
    result.has_verified = result.has_steps = result.has_seconds = 1;
    result.verified = log->differences == 0;
    result.steps = STEPS;
    result.seconds = 0.01;
    result.n_differences = log->differences;
    result.differences = rows;
    Moreau__V1__Reply reply = MOREAU__V1__REPLY__INIT;
    reply.result_case = MOREAU__V1__REPLY__RESULT_EPISODE_VERIFY;
    reply.episode_verify = &result;
    end_stream(log, request->id, &reply);
}

static void send_start(FakeLog *log, const Moreau__V1__Request *request) {
    if (log->without_db) {
        fake_send_status(&log->peer, request->id, MOREAU__V1__STATUS__CODE__FAILED_PRECONDITION,
                         NULL, "this server records nothing: start it with --db FILE");
        return;
    }
    log->recorded_at = log->steps;
    Moreau__V1__EpisodeStartReply start = MOREAU__V1__EPISODE_START_REPLY__INIT;
    start.episode = (char *)EPISODE_ID;
    Moreau__V1__Reply reply = MOREAU__V1__REPLY__INIT;
    reply.result_case = MOREAU__V1__REPLY__RESULT_EPISODE_START;
    reply.episode_start = &start;
    fake_send(&log->peer, &reply, request->id);
}

// The calls of `moreau run` on a world.
static void send_world(FakeLog *log, const Moreau__V1__Request *request) {
    Moreau__V1__WorldCreateReply created = MOREAU__V1__WORLD_CREATE_REPLY__INIT;
    Moreau__V1__WorldStepReply stepped = MOREAU__V1__WORLD_STEP_REPLY__INIT;
    Moreau__V1__WorldDestroyReply destroyed = MOREAU__V1__WORLD_DESTROY_REPLY__INIT;
    Moreau__V1__Reply reply = MOREAU__V1__REPLY__INIT;
    if (request->call_case == MOREAU__V1__REQUEST__CALL_WORLD_CREATE) {
        created.has_world = 1;
        created.world = 3;
        reply.result_case = MOREAU__V1__REPLY__RESULT_WORLD_CREATE;
        reply.world_create = &created;
    } else if (request->call_case == MOREAU__V1__REQUEST__CALL_WORLD_STEP) {
        log->steps += request->world_step->steps;
        stepped.n_steps_done = 1;
        stepped.steps_done = &request->world_step->steps;
        reply.result_case = MOREAU__V1__REPLY__RESULT_WORLD_STEP;
        reply.world_step = &stepped;
    } else {
        log->was_destroyed_first = !log->without_db && log->stopped_at == 0;
        reply.result_case = MOREAU__V1__REPLY__RESULT_WORLD_DESTROY;
        reply.world_destroy = &destroyed;
    }
    fake_send(&log->peer, &reply, request->id);
}

static void send_deleted(FakeLog *log, uint64_t id) {
    Moreau__V1__EpisodeDeleteReply deleted = MOREAU__V1__EPISODE_DELETE_REPLY__INIT;
    Moreau__V1__Reply reply = MOREAU__V1__REPLY__INIT;
    reply.result_case = MOREAU__V1__REPLY__RESULT_EPISODE_DELETE;
    reply.episode_delete = &deleted;
    fake_send(&log->peer, &reply, id);
}

static void send_part(FakeLog *log, const Moreau__V1__Request *request) {
    Moreau__V1__SnapshotReadReply read = MOREAU__V1__SNAPSHOT_READ_REPLY__INIT;
    read.has_data = read.has_total = 1;
    read.data = (ProtobufCBinaryData){SNAPSHOT_BYTES, log->snapshot};
    read.total = SNAPSHOT_BYTES;
    Moreau__V1__Reply reply = MOREAU__V1__REPLY__INIT;
    reply.result_case = MOREAU__V1__REPLY__RESULT_SNAPSHOT_READ;
    reply.snapshot_read = &read;
    fake_send(&log->peer, &reply, request->id);
}

static void take_upload(FakeLog *log, const Moreau__V1__Request *request) {
    const ProtobufCBinaryData *data = &request->snapshot_upload->data;
    memcpy(log->snapshot, data->data, data->len < SNAPSHOT_BYTES ? data->len : SNAPSHOT_BYTES);
    Moreau__V1__SnapshotUploadReply upload = MOREAU__V1__SNAPSHOT_UPLOAD_REPLY__INIT;
    upload.has_snapshot = upload.has_complete = 1;
    upload.snapshot = SNAPSHOT_ID;
    upload.complete = data->len == SNAPSHOT_BYTES;
    Moreau__V1__Reply reply = MOREAU__V1__REPLY__INIT;
    reply.result_case = MOREAU__V1__REPLY__RESULT_SNAPSHOT_UPLOAD;
    reply.snapshot_upload = &upload;
    fake_send(&log->peer, &reply, request->id);
}

static void send_clones(FakeLog *log, const Moreau__V1__Request *request) {
    log->cloned_world = request->snapshot_clone->world;
    log->cloned_snapshot = request->snapshot_clone->snapshot;
    uint64_t worlds[] = {11, 12, 13};
    Moreau__V1__SnapshotCloneReply clone = MOREAU__V1__SNAPSHOT_CLONE_REPLY__INIT;
    clone.n_worlds = (size_t)request->snapshot_clone->count;
    clone.worlds = worlds;
    Moreau__V1__Reply reply = MOREAU__V1__REPLY__INIT;
    reply.result_case = MOREAU__V1__REPLY__RESULT_SNAPSHOT_CLONE;
    reply.snapshot_clone = &clone;
    fake_send(&log->peer, &reply, request->id);
}

static void send_snapshot(FakeLog *log, const Moreau__V1__Request *request) {
    Moreau__V1__SnapshotTakeReply take = MOREAU__V1__SNAPSHOT_TAKE_REPLY__INIT;
    Moreau__V1__SnapshotRestoreReply restore = MOREAU__V1__SNAPSHOT_RESTORE_REPLY__INIT;
    Moreau__V1__SnapshotDropReply drop = MOREAU__V1__SNAPSHOT_DROP_REPLY__INIT;
    Moreau__V1__Reply reply = MOREAU__V1__REPLY__INIT;
    take.has_snapshot = take.has_bytes = take.has_step = restore.has_step = 1;
    take.snapshot = SNAPSHOT_ID;
    take.bytes = SNAPSHOT_BYTES;
    take.step = restore.step = 240;
    if (request->call_case == MOREAU__V1__REQUEST__CALL_SNAPSHOT_TAKE) {
        reply.result_case = MOREAU__V1__REPLY__RESULT_SNAPSHOT_TAKE;
        reply.snapshot_take = &take;
    } else if (request->call_case == MOREAU__V1__REQUEST__CALL_SNAPSHOT_RESTORE) {
        log->restored_world = request->snapshot_restore->world;
        reply.result_case = MOREAU__V1__REPLY__RESULT_SNAPSHOT_RESTORE;
        reply.snapshot_restore = &restore;
    } else {
        log->dropped += request->snapshot_drop->snapshot == SNAPSHOT_ID;
        reply.result_case = MOREAU__V1__REPLY__RESULT_SNAPSHOT_DROP;
        reply.snapshot_drop = &drop;
    }
    fake_send(&log->peer, &reply, request->id);
}

static void answer(FakeLog *log, const Moreau__V1__Request *request) {
    switch (request->call_case) {
    case MOREAU__V1__REQUEST__CALL_WORLD_CREATE:
    case MOREAU__V1__REQUEST__CALL_WORLD_STEP:
    case MOREAU__V1__REQUEST__CALL_WORLD_DESTROY:
        send_world(log, request);
        break;
    case MOREAU__V1__REQUEST__CALL_EPISODE_START:
        send_start(log, request);
        break;
    case MOREAU__V1__REQUEST__CALL_EPISODE_STOP:
        log->stopped_at = log->steps;
        send_info(log, request);
        break;
    case MOREAU__V1__REQUEST__CALL_EPISODE_DESCRIBE:
        send_info(log, request);
        break;
    case MOREAU__V1__REQUEST__CALL_EPISODE_LIST:
        send_list(log, request);
        break;
    case MOREAU__V1__REQUEST__CALL_EPISODE_DELETE:
        send_deleted(log, request->id);
        break;
    case MOREAU__V1__REQUEST__CALL_EPISODE_REPLAY:
        send_frames(log, request);
        break;
    case MOREAU__V1__REQUEST__CALL_EPISODE_VERIFY:
        send_verification(log, request);
        break;
    case MOREAU__V1__REQUEST__CALL_SNAPSHOT_READ:
        send_part(log, request);
        break;
    case MOREAU__V1__REQUEST__CALL_SNAPSHOT_UPLOAD:
        take_upload(log, request);
        break;
    case MOREAU__V1__REQUEST__CALL_SNAPSHOT_CLONE:
        send_clones(log, request);
        break;
    case MOREAU__V1__REQUEST__CALL_SNAPSHOT_TAKE:
    case MOREAU__V1__REQUEST__CALL_SNAPSHOT_RESTORE:
    case MOREAU__V1__REQUEST__CALL_SNAPSHOT_DROP:
        send_snapshot(log, request);
        break;
    default:
        fake_send_status(&log->peer, request->id, MOREAU__V1__STATUS__CODE__UNIMPLEMENTED, NULL,
                         "this server only pretends");
        break;
    }
}

static void serve(FakePeer *peer) {
    FakeLog *log = peer->context;
    fake_welcome(peer, 1);
    Moreau__V1__Request *request;
    while ((request = fake_receive(peer)) != NULL) {
        answer(log, request);
        bool is_kept = request->call_case >= MOREAU__V1__REQUEST__CALL_EPISODE_START &&
                       request->call_case != MOREAU__V1__REQUEST__CALL_EPISODE_STOP &&
                       request->call_case != MOREAU__V1__REQUEST__CALL_EPISODE_DESCRIBE;
        if (is_kept && log->seen != NULL) {
            moreau__v1__request__free_unpacked(log->seen, NULL);
        }
        if (is_kept) {
            log->seen = request;
        } else {
            moreau__v1__request__free_unpacked(request, NULL);
        }
    }
}

static Outcome run_served(FakeLog *log, Command *command, bool json, const char *arguments) {
    fake_start(&log->peer, serve, log);
    Outcome outcome = run_command(log->peer.address, command, json, arguments);
    fake_stop(&log->peer);
    return outcome;
}

static void forget(FakeLog *log) {
    if (log->seen != NULL) {
        moreau__v1__request__free_unpacked(log->seen, NULL);
    }
}

#define ASSERT_SAYS(text, part) ck_assert_msg(strstr(text, part) != NULL, "%s", text)

static size_t count_lines(const char *text) {
    size_t count = 0;
    for (; *text != '\0'; text++) {
        count += *text == '\n';
    }
    return count;
}

// ---- recording

START_TEST(run_records_from_before_the_first_step_to_the_end) {
    FakeLog log = {0};
    Outcome outcome = run_served(&log, command_run, false,
                                 SCENE " --record=frames --stride 10 --steps 720 --label night "
                                       "--label test --episode-name fall --lossy");
    ck_assert_msg(outcome.status == EXIT_DONE, "%s", outcome.err);
    ck_assert_uint_eq(log.recorded_at, 0);
    ck_assert_uint_eq(log.stopped_at, 720);
    ck_assert(!log.was_destroyed_first);
    const Moreau__V1__EpisodeStart *start = log.seen->episode_start;
    ck_assert_uint_eq(start->world, 3);
    ck_assert_int_eq(start->content, MOREAU__V1__EPISODE__CONTENT__FRAMES);
    ck_assert_uint_eq(start->stride, 10);
    ck_assert_str_eq(start->name, "fall");
    ck_assert_uint_eq(start->n_labels, 2);
    ck_assert_str_eq(start->labels[1], "test");
    ck_assert(start->lossy);
    ASSERT_SAYS(outcome.out, "episode 3f2a91bc one_ball-1: moreau replay 3f2a91bc, moreau verify");
    forget(&log);
}
END_TEST

START_TEST(run_prints_the_episode_in_its_document) {
    FakeLog log = {0};
    Outcome outcome = run_served(&log, command_run, true, SCENE " --record");
    ck_assert_msg(outcome.status == EXIT_DONE, "%s", outcome.err);
    ck_assert_int_eq(log.seen->episode_start->content, MOREAU__V1__EPISODE__CONTENT__INPUTS);
    json_t *report = parse(outcome.out);
    ck_assert_str_eq(text_at(json_object_get(report, "episode"), "episode"), EPISODE_ID);
    json_decref(report);
    forget(&log);
}
END_TEST

START_TEST(run_steps_nothing_that_it_cannot_record) {
    FakeLog log = {.without_db = true};
    Outcome outcome = run_served(&log, command_run, false, SCENE " --record");
    ck_assert_int_eq(outcome.status, EXIT_REFUSED);
    ASSERT_SAYS(outcome.err, "start it with --db FILE");
    ck_assert_uint_eq(log.steps, 0);
    forget(&log);
}
END_TEST

static TCase *case_record(void) {
    TCase *tcase = tcase_create("run --record");
    tcase_add_test(tcase, run_records_from_before_the_first_step_to_the_end);
    tcase_add_test(tcase, run_prints_the_episode_in_its_document);
    tcase_add_test(tcase, run_steps_nothing_that_it_cannot_record);
    return tcase;
}

// ---- episodes

START_TEST(episodes_are_a_table) {
    FakeLog log = {.episodes = 3};
    Outcome outcome = run_served(&log, command_episodes, false,
                                 "--name ball --label night --solver mdp --state complete "
                                 "--since 2h");
    ck_assert_msg(outcome.status == EXIT_DONE, "%s", outcome.err);
    const Moreau__V1__EpisodeList *list = log.seen->episode_list;
    ck_assert_str_eq(list->name, "ball");
    ck_assert_str_eq(list->label, "night");
    ck_assert_str_eq(list->solver, "mdp");
    ck_assert(list->has_state && list->state == MOREAU__V1__EPISODE__STATE__COMPLETE);
    ck_assert(list->has_since && list->since > 1.7e9);
    ck_assert_uint_eq(count_lines(outcome.out), 2 + 3 + 2);
    ASSERT_SAYS(outcome.out, "\n\nto look at it: moreau view ");
    ASSERT_SAYS(outcome.out, "3f2a91bc one_ball-1");
    ASSERT_SAYS(outcome.out,
                "720     1.8 mdp         17  1.23 MB  complete, gained 0.125 J, night test");
    forget(&log);
}
END_TEST

START_TEST(episodes_come_in_pages_up_to_the_limit) {
    FakeLog log = {.episodes = 2600};
    Outcome outcome = run_served(&log, command_episodes, false, "--limit 30");
    ASSERT_SAYS(outcome.out, "2,600 episodes; the newest 30 (--limit N shows more)");
    ck_assert_uint_eq(count_lines(outcome.out), 2 + 30 + 2);
    forget(&log);
    FakeLog again = {.episodes = 1005};
    outcome = run_served(&again, command_episodes, true, "--limit 5000");
    ck_assert_uint_eq(again.list_calls, 2);
    ck_assert_uint_eq(again.seen->episode_list->first, 1000);
    forget(&again);
}
END_TEST

START_TEST(one_episode_is_told_in_full) {
    FakeLog log = {0};
    Outcome outcome = run_served(&log, command_episodes, false, "3f2a");
    ck_assert_msg(outcome.status == EXIT_DONE, "%s", outcome.err);
    ASSERT_SAYS(outcome.out, EPISODE_ID);
    ASSERT_SAYS(outcome.out, "frames, every 10 steps");
    ASSERT_SAYS(outcome.out, "17 of 720 steps did not");
    ASSERT_SAYS(outcome.out, "lasted 3 s");
    ASSERT_SAYS(outcome.out, "gained       not known: an older server recorded it");
    ASSERT_SAYS(outcome.out, "1.71 kB per step");
    // what was left open, and why; impacts are not
    ASSERT_SAYS(outcome.out, "steps 411 to 419");
    ASSERT_SAYS(outcome.out, "e_own 0.00031 in step 415, the method found no way on; "
                             "57 contacts around body 4294967301");
    ASSERT_SAYS(outcome.out, "step 40                  e_own 2.5\n");
    ASSERT_SAYS(outcome.out, "and 1 more");
    FakeLog again = {0};
    outcome = run_served(&again, command_episodes, true, "3f2a");
    json_t *info = parse(outcome.out);
    ck_assert_str_eq(text_at(info, "state"), "COMPLETE");
    const json_t *highlights = json_object_get(info, "highlights");
    ck_assert_uint_eq(json_array_size(highlights), HIGHLIGHTS);
    ck_assert_str_eq(text_at(json_array_get(highlights, 0), "reason"), "STALLED");
    ck_assert_ptr_null(json_object_get(json_array_get(highlights, 2), "reason"));
    json_decref(info);
}
END_TEST

START_TEST(delete_says_what_is_gone) {
    FakeLog log = {0};
    Outcome outcome = run_served(&log, command_episodes, false, "--delete 3f2a");
    ck_assert_msg(outcome.status == EXIT_DONE, "%s", outcome.err);
    ck_assert_str_eq(log.seen->episode_delete->episode, EPISODE_ID);
    ASSERT_SAYS(outcome.out, "deleted episode 3f2a91bc one_ball-1, 1.23 MB");
    forget(&log);
}
END_TEST

static TCase *case_episodes(void) {
    TCase *tcase = tcase_create("episodes");
    tcase_add_test(tcase, episodes_are_a_table);
    tcase_add_test(tcase, episodes_come_in_pages_up_to_the_limit);
    tcase_add_test(tcase, one_episode_is_told_in_full);
    tcase_add_test(tcase, delete_says_what_is_gone);
    return tcase;
}

// ---- replay

START_TEST(replay_is_a_table_of_frames) {
    FakeLog log = {0};
    Outcome outcome = run_served(&log, command_replay, false,
                                 "3f2a --from 0 --to 30 --stride 10 --body 7 --contacts --again");
    ck_assert_msg(outcome.status == EXIT_DONE, "%s", outcome.err);
    const Moreau__V1__EpisodeReplay *replay = log.seen->episode_replay;
    ck_assert(replay->has_first && replay->first == 0);
    ck_assert(replay->has_last && replay->last == 30);
    ck_assert(replay->stride == 10 && replay->again && replay->contacts);
    ck_assert(replay->has_speed && replay->speed == 0.0); // no terminal
    ck_assert_uint_eq(count_lines(outcome.out), 1 + FRAMES + 1 + 1);
    ASSERT_SAYS(outcome.out, "    20    0.0500 right  21.0000   0.0000   0.0000  1.000");
    ASSERT_SAYS(outcome.out, "contact left-right at, impulse 0.25");
    ASSERT_SAYS(outcome.out, "3 frames: 2 from the file, 1 stepped again");
    forget(&log);
}
END_TEST

START_TEST(replay_knows_bodies_by_name) {
    FakeLog log = {0};
    Outcome outcome = run_served(&log, command_replay, false, "3f2a --body right");
    ck_assert_msg(outcome.status == EXIT_DONE, "%s", outcome.err);
    ck_assert_uint_eq(count_lines(outcome.out), 1 + FRAMES + 1);
    ASSERT_SAYS(outcome.out, "    20    0.0500 right  21.0000");
    forget(&log);
}
END_TEST

START_TEST(replay_says_which_names_there_are) {
    FakeLog log = {.is_nameless = _i == 1};
    Outcome outcome = run_served(&log, command_replay, false, "3f2a --body 5 --body middle");
    ck_assert_int_eq(outcome.status, EXIT_USAGE);
    ASSERT_SAYS(outcome.err, "\"middle\"");
    ASSERT_SAYS(outcome.err, _i == 1 ? "its bodies have none" : "left, right");
    ck_assert_str_eq(outcome.out, "");
    forget(&log);
}
END_TEST

START_TEST(replay_of_a_body_that_is_not_there_says_so) {
    FakeLog log = {0};
    Outcome outcome = run_served(&log, command_replay, false, "3f2a --body 6");
    ck_assert_int_eq(outcome.status, EXIT_REFUSED);
    ASSERT_SAYS(outcome.err, "none of the frames has body 6");
    forget(&log);
}
END_TEST

START_TEST(replay_as_json_is_a_document_per_line) {
    FakeLog log = {0};
    Outcome outcome = run_served(&log, command_replay, true, "3f2a --speed 2.5 --contacts");
    ck_assert_msg(outcome.status == EXIT_DONE, "%s", outcome.err);
    ck_assert(log.seen->episode_replay->speed == 2.5);
    ck_assert(!log.seen->episode_replay->has_first && !log.seen->episode_replay->has_last);
    ck_assert_uint_eq(count_lines(outcome.out), FRAMES);
    size_t count = 0;
    for (char *line = strtok(outcome.out, "\n"); line != NULL; line = strtok(NULL, "\n")) {
        json_t *frame = parse(line);
        const json_t *second = json_array_get(json_object_get(frame, "bodies"), 1);
        count++;
        ck_assert_uint_eq(whole_at(frame, "step"), 10 * count);
        ck_assert_uint_eq(whole_at(second, "id"), 7);
        ck_assert(json_number_value(json_array_get(json_object_get(second, "pose"), 0)) ==
                  10.0 * (double)count + 1.0);
        ck_assert_uint_eq(json_array_size(json_object_get(frame, "contacts")), count == 2);
        json_decref(frame);
    }
    forget(&log);
}
END_TEST

START_TEST(an_interrupted_replay_is_cancelled_and_ends_well) {
    FakeLog log = {.waits_for_end = true, .interrupts = _i == 0, .interrupts_late = _i == 1};
    Outcome outcome = run_served(&log, command_replay, false, "3f2a");
    ck_assert_msg(outcome.status == EXIT_DONE, "%s", outcome.err);
    ck_assert(log.was_cancelled);
    ASSERT_SAYS(outcome.out, "from the file");
    forget(&log);
}
END_TEST

static TCase *case_replay(void) {
    TCase *tcase = tcase_create("replay");
    tcase_add_test(tcase, replay_is_a_table_of_frames);
    tcase_add_test(tcase, replay_knows_bodies_by_name);
    tcase_add_loop_test(tcase, replay_says_which_names_there_are, 0, 2);
    tcase_add_test(tcase, replay_of_a_body_that_is_not_there_says_so);
    tcase_add_test(tcase, replay_as_json_is_a_document_per_line);
    tcase_add_loop_test(tcase, an_interrupted_replay_is_cancelled_and_ends_well, 0, 2);
    return tcase;
}

// ---- verify

START_TEST(verify_says_that_all_is_well) {
    FakeLog log = {0};
    Outcome outcome = run_served(&log, command_verify, false, "3f2a --from 100 --to 720 --lanes 2");
    ck_assert_msg(outcome.status == EXIT_DONE, "%s", outcome.err);
    const Moreau__V1__EpisodeVerify *verify = log.seen->episode_verify;
    ck_assert_str_eq(verify->episode, EPISODE_ID);
    ck_assert(verify->first == 100 && verify->last == 720 && verify->lanes == 2);
    ASSERT_SAYS(outcome.out,
                "verified: 720 steps of episode 3f2a91bc one_ball-1, 10 ms (72,000 steps/s)");
    forget(&log);
}
END_TEST

START_TEST(verify_names_every_difference_and_ends_with_4) {
    FakeLog log = {.differences = 3};
    Outcome outcome = run_served(&log, command_verify, false, "3f2a");
    ck_assert_int_eq(outcome.status, EXIT_DIFFERENT);
    ck_assert_int_eq(EXIT_DIFFERENT, 4);
    ASSERT_SAYS(outcome.out, "NOT verified");
    ASSERT_SAYS(outcome.out, "step 100, chunk 20 (inputs): state hash: expected 0000000000001234, "
                             "found fedcba9876543210");
    ASSERT_SAYS(outcome.out, "step 101, chunk 21 (frames): body 5, position.x: expected 1.5, "
                             "found 2.5");
    ASSERT_SAYS(outcome.out, "step 102, chunk 22 (key-frame): damaged: its checksum does not fit");
    forget(&log);
    FakeLog again = {.differences = 2};
    outcome = run_served(&again, command_verify, true, "3f2a");
    ck_assert_int_eq(outcome.status, EXIT_DIFFERENT);
    json_t *result = parse(outcome.out);
    ck_assert(json_is_false(json_object_get(result, "verified")));
    ck_assert_uint_eq(json_array_size(json_object_get(result, "differences")), 2);
    json_decref(result);
    forget(&again);
}
END_TEST

START_TEST(an_interrupted_verification_verifies_nothing) {
    FakeLog log = {.waits_for_end = true, .interrupts = true};
    Outcome outcome = run_served(&log, command_verify, false, "3f2a");
    ck_assert_int_eq(outcome.status, EXIT_REFUSED);
    ck_assert(log.was_cancelled);
    ASSERT_SAYS(outcome.err, "stopped after 360 of 720 steps");
    ck_assert_str_eq(outcome.out, "");
    forget(&log);
}
END_TEST

START_TEST(call_prints_events_as_lines) {
    FakeLog log = {0};
    Outcome outcome = run_served(&log, command_call, false, "EpisodeVerify {\"episode\":\"3f2a\"}");
    ck_assert_msg(outcome.status == EXIT_DONE, "%s", outcome.err);
    ck_assert_uint_eq(count_lines(outcome.out), 2);
    json_t *event = parse(strtok(outcome.out, "\n"));
    ck_assert_str_eq(text_at(json_object_get(event, "event"), "steps_done"), "360");
    json_decref(event);
    json_t *result = parse(strtok(NULL, "\n"));
    ck_assert(json_is_true(json_object_get(result, "verified")));
    json_decref(result);
    forget(&log);
}
END_TEST

static TCase *case_verify(void) {
    TCase *tcase = tcase_create("verify");
    tcase_add_test(tcase, verify_says_that_all_is_well);
    tcase_add_test(tcase, verify_names_every_difference_and_ends_with_4);
    tcase_add_test(tcase, an_interrupted_verification_verifies_nothing);
    tcase_add_test(tcase, call_prints_events_as_lines);
    return tcase;
}

// ---- snapshots

START_TEST(a_snapshot_is_a_file) {
    char path[64];
    write_file("", path);
    FakeLog log = {0};
    for (size_t i = 0; i < SNAPSHOT_BYTES; i++) {
        log.snapshot[i] = (uint8_t)(i * 37);
    }
    char arguments[128];
    snprintf(arguments, sizeof(arguments), "take 3 %s", path);
    Outcome outcome = run_served(&log, command_snapshot, false, arguments);
    ck_assert_msg(outcome.status == EXIT_DONE, "%s", outcome.err);
    ASSERT_SAYS(outcome.out, "world 3 at step 240 is in /tmp/");
    ck_assert_uint_eq(log.dropped, 1);

    FakeLog again = {0};
    snprintf(arguments, sizeof(arguments), "restore 4 %s", path);
    outcome = run_served(&again, command_snapshot, false, arguments);
    ck_assert_msg(outcome.status == EXIT_DONE, "%s", outcome.err);
    ck_assert_mem_eq(again.snapshot, log.snapshot, SNAPSHOT_BYTES);
    ck_assert_uint_eq(again.restored_world, 4);
    ck_assert_uint_eq(again.dropped, 1);

    FakeLog third = {0};
    snprintf(arguments, sizeof(arguments), "clone %s --count 2", path);
    outcome = run_served(&third, command_snapshot, true, arguments);
    unlink(path);
    ck_assert_msg(outcome.status == EXIT_DONE, "%s", outcome.err);
    ck_assert_uint_eq(third.cloned_snapshot, SNAPSHOT_ID);
    ck_assert_uint_eq(third.cloned_world, 0);
    json_t *document = parse(outcome.out);
    const json_t *worlds = json_object_get(document, "worlds");
    ck_assert_uint_eq(json_array_size(worlds), 2);
    ck_assert_int_eq(json_integer_value(json_array_get(worlds, 1)), 12);
    json_decref(document);
}
END_TEST

START_TEST(a_world_is_cloned_without_a_file) {
    FakeLog log = {0};
    Outcome outcome = run_served(&log, command_snapshot, false, "clone 3");
    ck_assert_str_eq(outcome.out, "world 11\n");
    ck_assert_uint_eq(log.cloned_world, 3);
    ck_assert_uint_eq(log.dropped, 0);
}
END_TEST

static TCase *case_snapshot(void) {
    TCase *tcase = tcase_create("snapshot");
    tcase_add_test(tcase, a_snapshot_is_a_file);
    tcase_add_test(tcase, a_world_is_cloned_without_a_file);
    return tcase;
}

// ---- without a server

static const struct {
    Command *command;
    const char *arguments;
    int status;
    const char *expected; // on standard error
} alone[] = {
    {command_run, SCENE " --label x", EXIT_USAGE, "give --record"},
    {command_run, SCENE " --record=all", EXIT_USAGE, "inputs, frames or contacts"},
    {command_run, SCENE " --record --stride 5", EXIT_USAGE, "--record=frames"},
    {command_episodes, "--state gone", EXIT_USAGE, "world_destroyed"},
    {command_episodes, "--since yesterday", EXIT_USAGE, "2026-11-21"},
    {command_episodes, "--since 2026-11-31", EXIT_USAGE, "2026-11-21"},
    {command_episodes, "--delete a b", EXIT_USAGE, "\"b\""},
    {command_episodes, "", EXIT_NO_CONNECTION, "no connection"},
    {command_replay, "", EXIT_USAGE, "missing: moreau replay EPISODE"},
    {command_replay, "3f2a --body left", EXIT_NO_CONNECTION, "no connection"},
    {command_replay, "3f2a --speed -1", EXIT_USAGE, "not negative"},
    {command_replay, "3f2a --from -1", EXIT_USAGE, "from 0"},
    {command_replay, "3f2a", EXIT_NO_CONNECTION, "no connection"},
    {command_verify, "", EXIT_USAGE, "missing"},
    {command_verify, "3f2a --lanes 0", EXIT_USAGE, "from 1"},
    {command_snapshot, "grab 3 file", EXIT_USAGE, "take, restore or clone"},
    {command_snapshot, "take 3", EXIT_USAGE, "a world and a file"},
    {command_snapshot, "take pile file", EXIT_NO_CONNECTION, "no connection"},
    {command_snapshot, "restore 3 /nonexistent", EXIT_USAGE, "cannot read /nonexistent"},
    {command_snapshot, "restore 3 file --count 3", EXIT_USAGE, "--count"},
    {command_snapshot, "clone 3", EXIT_NO_CONNECTION, "no connection"},
};

START_TEST(mistakes_end_with_their_status_and_a_sentence) {
    Outcome outcome = run_command("127.0.0.1:1", alone[_i].command, false, alone[_i].arguments);
    ck_assert_msg(outcome.status == alone[_i].status, "%d: %s", outcome.status, outcome.err);
    ASSERT_SAYS(outcome.err, alone[_i].expected);
    ck_assert_str_eq(outcome.out, "");
}
END_TEST

START_TEST(a_moment_is_a_date_or_how_long_ago) {
    double moment;
    ck_assert(when_parse("90s", 1000.0, &moment) && moment == 910.0);
    ck_assert(when_parse("1.5min", 1000.0, &moment) && moment == 910.0);
    ck_assert(when_parse("2h", 1e6, &moment) && moment == 1e6 - 7200.0);
    ck_assert(when_parse("1d", 1e6, &moment) && moment == 1e6 - 86400.0);
    setenv("TZ", "UTC", 1);
    tzset();
    ck_assert(when_parse("1970-01-02", 0.0, &moment) && moment == 86400.0);
    ck_assert(when_parse("2026-11-21 14:05", 0.0, &moment) && moment == 1795269900.0);
    ck_assert(when_parse("2026-11-21T14:05:30", 0.0, &moment) && moment == 1795269930.0);
    static const char *const wrong[] = {"",
                                        "2",
                                        "2w",
                                        "-2h",
                                        "2026-13-01",
                                        "2026-02-30",
                                        "2026-11-21 25:00",
                                        "2026-11-21 14:61",
                                        "2026-11-21x",
                                        "nand"};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        ck_assert_msg(!when_parse(wrong[i], 0.0, &moment), "%s", wrong[i]);
    }
}
END_TEST

START_TEST(sizes_keep_three_digits) {
    static const struct {
        uint64_t bytes;
        const char *text;
    } cases[] = {{0, "0 B"},
                 {999, "999 B"},
                 {1000, "1.00 kB"},
                 {9994, "9.99 kB"},
                 {9995, "10.0 kB"},
                 {99950, "100 kB"},
                 {999499, "999 kB"},
                 {999500, "1.00 MB"},
                 {1234567890, "1.23 GB"},
                 {5000000000000, "5.00 TB"}};
    char text[32];
    ck_assert_str_eq(format_bytes(cases[_i].bytes, text), cases[_i].text);
}
END_TEST

START_TEST(times_are_rounded_before_they_are_cut_into_units) {
    static const struct {
        double seconds;
        const char *text;
    } cases[] = {{0.0, "0 s"},
                 {-0.0, "0 s"},
                 {9.996e-7, "1 \u00b5s"},
                 {0.0009996, "1 ms"},
                 {0.9996, "1 s"},
                 {1.234, "1.23 s"},
                 {119.4, "119 s"},
                 {119.6, "2 min 0 s"},
                 {1199.7, "20 min 0 s"},
                 {1199.4, "19 min 59 s"},
                 {7169.4, "119 min 29 s"},
                 {7170.0, "2 h 0 min"},
                 {86370.0, "24 h 0 min"},
                 {172799.0, "2 d 0 h"},
                 {266400.0, "3 d 2 h"}};
    char text[32];
    ck_assert_str_eq(format_seconds(cases[_i].seconds, text), cases[_i].text);
}
END_TEST

START_TEST(only_one_is_one) {
    ck_assert_str_eq(plural(0), "s");
    ck_assert_str_eq(plural(1), "");
    ck_assert_str_eq(plural(2), "s");
}
END_TEST

START_TEST(help_fits_eighty_columns) {
    static Command *const commands[] = {command_run, command_episodes, command_replay,
                                        command_verify, command_snapshot};
    Outcome outcome = run_command("127.0.0.1:1", commands[_i], false, "--help");
    ck_assert_int_eq(outcome.status, EXIT_DONE);
    for (char *line = strtok(outcome.out, "\n"); line != NULL; line = strtok(NULL, "\n")) {
        ck_assert_msg(strlen(line) <= 80, "%s", line);
    }
}
END_TEST

static TCase *case_alone(void) {
    TCase *tcase = tcase_create("without a server");
    tcase_add_loop_test(tcase, mistakes_end_with_their_status_and_a_sentence, 0,
                        sizeof(alone) / sizeof(alone[0]));
    tcase_add_test(tcase, a_moment_is_a_date_or_how_long_ago);
    tcase_add_loop_test(tcase, sizes_keep_three_digits, 0, 10);
    tcase_add_loop_test(tcase, times_are_rounded_before_they_are_cut_into_units, 0, 15);
    tcase_add_test(tcase, only_one_is_one);
    tcase_add_loop_test(tcase, help_fits_eighty_columns, 0, 5);
    return tcase;
}

SUITE_MAIN("clients/episodes", case_record, case_episodes, case_replay, case_verify, case_snapshot,
           case_alone)
