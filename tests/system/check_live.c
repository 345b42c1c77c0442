// SPDX-License-Identifier: MIT
// Subscribe over real sockets: what is seen is what the world was, to the bit; the latest wins; and
// nobody who looks, or does not look, changes or delays what he looks at.
#include "support/machine.h"
#include "support/sanitizers.h"
#include "support/server_figures.h"
#include "support/server_process.h"
#include "support/suite.h"
#include "support/wire_client.h"
#include "support/wire_live.h"
#include "support/wire_world.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define CODE(name) MOREAU__V1__STATUS__CODE__##name

enum { FALLING = 4, BODIES = FALLING + 1 };

static ServerProcess *server;
static WireClient *client, *viewer;
static WireWorld world;

static void open_server(const char *options) {
    server = server_start(options);
    client = wire_open(server->address[0]);
    viewer = wire_open(server->address[0]);
    world = wire_world(client, FALLING, 3, MOREAU__V1__WORLD__LIFETIME__SESSION);
}

static void close_server(void) {
    wire_close(viewer);
    wire_close(client);
    server_stop(server);
}

static Moreau__V1__Subscribe subscribe_call(uint64_t id) {
    Moreau__V1__Subscribe call = MOREAU__V1__SUBSCRIBE__INIT;
    call.has_world = call.has_frames_per_second = 1;
    call.world = id;
    call.frames_per_second = 0.0;
    return call;
}

static uint64_t step_of(const Moreau__V1__LiveFrame *frame) {
    return frame->frames->step[0];
}

static const Moreau__V1__LiveFrame *await_step(WireClient *of, uint64_t step) {
    const Moreau__V1__LiveFrame *frame = wire_live_next(of);
    while (step_of(frame) < step) {
        frame = wire_live_next(of);
    }
    return frame;
}

static const Moreau__V1__WorldGetReply *get_world(void) {
    Moreau__V1__WorldGet get = MOREAU__V1__WORLD_GET__INIT;
    get.has_world = 1;
    get.world = world.id;
    return wire_accept(client, &get)->world_get;
}

static void expect_state(const Moreau__V1__EpisodeFrames *frames,
                         const Moreau__V1__WorldGetReply *state) {
    ck_assert_uint_eq(frames->step[0], state->step);
    ck_assert_uint_eq(frames->world_step[0], state->step);
    ck_assert_mem_eq(&frames->time[0], &state->time, sizeof(double));
    ck_assert_uint_eq(frames->body_count[0], state->total);
    ck_assert_uint_eq(frames->n_pose, state->n_pose);
    ck_assert_mem_eq(frames->pose, state->pose, state->n_pose * sizeof(double));
    ck_assert_uint_eq(frames->n_velocity, state->n_velocity);
    ck_assert_mem_eq(frames->velocity, state->velocity, state->n_velocity * sizeof(double));
}

// ---- what is seen

START_TEST(a_frame_is_the_world_at_its_step_to_the_bit) {
    open_server("--workers 2");
    Moreau__V1__Subscribe call = subscribe_call(world.id);
    call.has_velocities = call.has_contacts = 1;
    call.velocities = call.contacts = 1;
    wire_submit(viewer, &call);
    const Moreau__V1__LiveFrame *frame = wire_live_next(viewer);
    expect_state(frame->frames, get_world());
    ck_assert_uint_eq(frame->frames->n_ids, BODIES);
    ck_assert_ptr_nonnull(frame->scene);
    ck_assert_uint_eq(frame->scene->n_bodies, BODIES);
    ck_assert_ptr_null(frame->reports);
    enum { STEPS = 100 };
    for (int i = 1; i <= STEPS; i++) {
        wire_step(client, world.id, 1);
        frame = await_step(viewer, (uint64_t)i);
        expect_state(frame->frames, get_world());
        ck_assert_uint_eq(frame->frames->n_ids, 0); // the same as in the frame before
        ck_assert_ptr_null(frame->scene);
        ck_assert(!frame->faulted);
        ck_assert_ptr_nonnull(frame->reports);
        ck_assert_uint_eq(frame->reports->n_contacts, 1);
    }
    Moreau__V1__WorldContacts contacts = MOREAU__V1__WORLD_CONTACTS__INIT;
    contacts.has_world = 1;
    contacts.world = world.id;
    const Moreau__V1__WorldContactsReply *all = wire_accept(client, &contacts)->world_contacts;
    ck_assert_uint_gt(all->total, 0);
    ck_assert_uint_eq(frame->frames->contact_count[0], all->total);
    ck_assert_uint_eq(frame->reports->contacts[0], all->total);
    ck_assert_mem_eq(frame->frames->contacts->impulse, all->impulse,
                     all->n_impulse * sizeof(double));
    close_server();
}
END_TEST

// A call that takes long does not keep anybody from looking: what is queued behind it would.
START_TEST(a_long_call_is_watched_while_it_steps) {
    open_server("--workers 2");
    Moreau__V1__WorldStep step = wire_step_call(&world.id, 1000000000);
    uint64_t id = wire_submit(client, &step);
    Moreau__V1__Subscribe call = subscribe_call(world.id);
    wire_submit(viewer, &call);
    uint64_t before = step_of(wire_live_next(viewer));
    bool has_reports = false;
    for (int i = 0; i < 20; i++) {
        const Moreau__V1__LiveFrame *frame = wire_live_next(viewer);
        uint64_t skipped = step_of(frame) - before - 1;
        ck_assert_uint_gt(step_of(frame), before);
        ck_assert_uint_eq(frame->skipped, skipped);
        before = step_of(frame);
        has_reports = has_reports || (frame->reports != NULL && frame->reports->n_contacts == 1);
    }
    ck_assert(has_reports);
    Moreau__V1__Cancel cancel = MOREAU__V1__CANCEL__INIT;
    cancel.has_request = 1;
    cancel.request = id;
    wire_submit(client, &cancel);
    wire_receive(client);
    wire_receive(client);
    close_server();
}
END_TEST

START_TEST(so_many_steps_lie_between_two_frames) {
    open_server("--workers 2");
    Moreau__V1__Subscribe call = subscribe_call(world.id);
    call.has_every = 1;
    call.every = 10;
    wire_submit(viewer, &call);
    ck_assert_uint_eq(step_of(wire_live_next(viewer)), 0);
    for (uint64_t i = 1; i <= 3; i++) {
        wire_step(client, world.id, 10);
        const Moreau__V1__LiveFrame *frame = wire_live_next(viewer);
        ck_assert_uint_eq(step_of(frame), 10 * i);
        ck_assert_uint_eq(frame->skipped, 0);
    }
    wire_step(client, world.id, 9);
    ck_assert(!wire_waits(viewer, 50));
    close_server();
}
END_TEST

// Not by steps alone: also what is set, added, removed, or restored.
START_TEST(every_other_change_is_seen_as_well) {
    open_server("--workers 2");
    Moreau__V1__Subscribe call = subscribe_call(world.id);
    call.has_velocities = call.velocities = 1;
    wire_submit(viewer, &call);
    wire_live_next(viewer);
    uint64_t body = 2;
    double pose[7] = {1.0, 2.0, 3.0, 1.0, 0.0, 0.0, 0.0};
    Moreau__V1__WorldSet set = MOREAU__V1__WORLD_SET__INIT;
    set.has_world = 1;
    set.world = world.id;
    set.n_ids = 1;
    set.ids = &body;
    set.n_pose = 7;
    set.pose = pose;
    wire_accept(client, &set);
    const Moreau__V1__LiveFrame *frame = wire_live_next(viewer);
    ck_assert_mem_eq(frame->frames->pose + 7, pose, sizeof(pose));
    ck_assert_ptr_null(frame->scene);

    Moreau__V1__SnapshotTake take = MOREAU__V1__SNAPSHOT_TAKE__INIT;
    take.has_world = 1;
    take.world = world.id;
    uint64_t snapshot = wire_accept(client, &take)->snapshot_take->snapshot;
    wire_step(client, world.id, 5);
    await_step(viewer, 5);

    Moreau__V1__WorldRemove removal = MOREAU__V1__WORLD_REMOVE__INIT;
    removal.has_world = 1;
    removal.world = world.id;
    removal.n_bodies = 1;
    removal.bodies = &body;
    wire_accept(client, &removal);
    frame = wire_live_next(viewer);
    ck_assert_uint_eq(frame->frames->n_ids, BODIES - 1);
    ck_assert_uint_eq(frame->frames->ids[1], 3);
    ck_assert_ptr_null(frame->scene); // its client knows what the others are

    Moreau__V1__SnapshotRestore restore = MOREAU__V1__SNAPSHOT_RESTORE__INIT;
    restore.has_world = restore.has_snapshot = 1;
    restore.world = world.id;
    restore.snapshot = snapshot;
    wire_accept(client, &restore);
    frame = wire_live_next(viewer);
    ck_assert_uint_eq(frame->frames->n_ids, BODIES);
    ck_assert_ptr_nonnull(frame->scene);
    ck_assert_uint_eq(frame->scene->n_bodies, BODIES);
    expect_state(frame->frames, get_world());
    close_server();
}
END_TEST

START_TEST(each_gets_the_columns_that_he_asks_for) {
    open_server("--workers 2");
    WireClient *other = wire_open(server->address[0]);
    Moreau__V1__Subscribe all = subscribe_call(world.id), few = subscribe_call(world.id);
    all.has_velocities = all.velocities = 1;
    few.has_single = few.single = 1;
    few.has_scene = few.has_reports = 1;
    few.scene = few.reports = 0;
    wire_submit(viewer, &all);
    wire_submit(other, &few);
    for (uint64_t step = 0; step < 30; step++) {
        const Moreau__V1__LiveFrame *whole = await_step(viewer, step),
                                    *part = await_step(other, step);
        ck_assert_uint_eq(whole->frames->n_pose, 7 * BODIES);
        ck_assert_uint_eq(whole->frames->n_velocity, 6 * BODIES);
        ck_assert_uint_eq(whole->frames->n_pose_single, 0);
        ck_assert_uint_eq(part->frames->n_pose + part->frames->n_velocity, 0);
        ck_assert_uint_eq(part->frames->n_pose_single, 7 * BODIES);
        ck_assert_ptr_null(part->scene);
        ck_assert_ptr_null(part->reports);
        for (size_t i = 0; i < whole->frames->n_pose; i++) {
            ck_assert_float_eq(part->frames->pose_single[i], (float)whole->frames->pose[i]);
        }
        wire_step(client, world.id, 1);
    }
    wire_close(other);
    close_server();
}
END_TEST

// ---- how it ends

START_TEST(it_ends_with_cancel_its_world_its_deadline_and_its_connection) {
    open_server("--workers 2 --session-grace-ms 100");
    Moreau__V1__Subscribe call = subscribe_call(world.id);
    Moreau__V1__Cancel cancel = MOREAU__V1__CANCEL__INIT;
    cancel.has_request = 1;
    cancel.request = wire_submit(viewer, &call);
    wire_live_next(viewer);
    uint64_t id = wire_submit(viewer, &cancel);
    const Moreau__V1__Reply *first = wire_receive(viewer), *second = wire_receive(viewer);
    const Moreau__V1__Reply *ended = first->id == id ? second : first;
    wire_expect(ended, CODE(CANCELLED), NULL);
    ck_assert_uint_eq(ended->subscribe->frames, 1);

    wire_submit(viewer, &call);
    wire_live_next(viewer);
    wire_destroy(client, world.id);
    ended = wire_live_end(viewer, CODE(NOT_FOUND), "world");
    ck_assert_uint_eq(ended->status->world, world.id);
    wire_refuse(viewer, &call, CODE(NOT_FOUND), "world");

    world = wire_world(client, FALLING, 3, MOREAU__V1__WORLD__LIFETIME__SESSION);
    call = subscribe_call(world.id);
    Moreau__V1__Request request = wire_request(&call);
    request.has_deadline_ms = 1;
    request.deadline_ms = 20;
    wire_submit_request(viewer, &request);
    wire_live_next(viewer);
    wire_live_end(viewer, CODE(DEADLINE_EXCEEDED), NULL);

    wire_submit(viewer, &call);
    wire_live_next(viewer);
    wire_close(viewer);
    viewer = wire_open(server->address[0]);
    while (wire_stats(viewer, false)->requests_under_way > 1) { // this one
        server_sleep_ms(1);
    }
    close_server();
}
END_TEST

START_TEST(a_server_that_is_told_to_end_ends_it) {
    open_server("--workers 2");
    Moreau__V1__Subscribe call = subscribe_call(world.id);
    wire_submit(viewer, &call);
    wire_live_next(viewer);
    kill(server->pid, SIGTERM);
    wire_live_end(viewer, CODE(CANCELLED), NULL);
    ck_assert_int_eq(server_wait(server, PATIENCE_MS), 0);
    wire_close(viewer);
    wire_close(client);
    server_free(server);
}
END_TEST

START_TEST(what_is_wrong_with_it_is_told) {
    open_server("--workers 1 --subscriptions-max 2");
    Moreau__V1__Subscribe call = subscribe_call(world.id);
    call.has_every = 1;
    call.every = 0;
    wire_refuse(viewer, &call, CODE(INVALID_ARGUMENT), "every");
    call.every = 1;
    call.frames_per_second = -1.0;
    wire_refuse(viewer, &call, CODE(INVALID_ARGUMENT), "frames_per_second");
    call.frames_per_second = 1e-300; // none after the first, for some ages
    wire_submit(viewer, &call);
    wire_live_next(viewer);
    call.frames_per_second = 0.0;
    wire_submit(viewer, &call);
    wire_live_next(viewer);
    wire_refuse(viewer, &call, CODE(RESOURCE_EXHAUSTED), NULL);
    close_server();
}
END_TEST

// However many worlds a connection watches, it is read: one of its requests is left for Cancel.
START_TEST(a_connection_that_watches_all_it_may_is_still_read) {
    open_server("--workers 1 --requests-max 3");
    const Moreau__V1__Subscribe call = subscribe_call(world.id);
    Moreau__V1__Cancel cancel = MOREAU__V1__CANCEL__INIT;
    cancel.has_request = 1;
    cancel.request = wire_submit(viewer, &call);
    wire_live_next(viewer);
    wire_submit(viewer, &call);
    wire_live_next(viewer);
    const Moreau__V1__Reply *reply = wire_refuse(viewer, &call, CODE(RESOURCE_EXHAUSTED), NULL);
    ck_assert_ptr_nonnull(strstr(reply->status->message, "--requests-max"));

    const uint64_t id = wire_submit(viewer, &cancel);
    const Moreau__V1__Reply *first = wire_receive(viewer), *second = wire_receive(viewer);
    wire_expect(first->id == id ? second : first, CODE(CANCELLED), NULL);
    wire_submit(viewer, &call); // in its place
    wire_live_next(viewer);
    wire_refuse(viewer, &call, CODE(RESOURCE_EXHAUSTED), NULL);
    close_server();
}
END_TEST

// Where one request may be under way at all, nobody could end a subscription.
START_TEST(where_nothing_could_end_it_there_is_none) {
    open_server("--workers 1 --requests-max 1");
    const Moreau__V1__Subscribe call = subscribe_call(world.id);
    wire_refuse(viewer, &call, CODE(RESOURCE_EXHAUSTED), NULL);
    wire_ping(viewer);
    close_server();
}
END_TEST

// A scene that no frame holds ends it; without, the poses still come, as floats.
START_TEST(a_scene_longer_than_a_frame_is_refused) {
    open_server("--workers 1 --frame-bytes-max 8192");
    WireWorld wide = wire_world(client, 60, 1, MOREAU__V1__WORLD__LIFETIME__SESSION);
    Moreau__V1__Subscribe call = subscribe_call(wide.id);
    call.has_single = call.single = 1;
    wire_submit(viewer, &call);
    wire_live_end(viewer, CODE(RESOURCE_EXHAUSTED), "scene");
    call.has_scene = 1;
    call.scene = 0;
    wire_submit(viewer, &call);
    ck_assert_uint_eq(wire_live_next(viewer)->frames->n_pose_single, 7 * wide.body_count);
    close_server();
}
END_TEST

// ---- when memory ends

// What nobody steps tells of nothing by itself: it is looked at again until there is a frame.
START_TEST(a_world_at_rest_is_shown_once_memory_is_back) {
    enum { MANY = 3000 }; // whose poses take more than the shim lets anybody have
    char folder[SERVER_FOLDER_BYTES], path[SERVER_FOLDER_BYTES + 16];
    server_make_folder(folder);
    snprintf(path, sizeof(path), "%s/starved", folder);
    server_begin_shim("MOREAU_BAD_DISK", folder);
    open_server("--workers 2");
    server_end_shim();
    world = wire_world(client, MANY, 3, MOREAU__V1__WORLD__LIFETIME__SESSION);
    Moreau__V1__Subscribe call = subscribe_call(world.id);
    call.has_scene = 1, call.scene = 0;
    call.has_velocities = 1, call.velocities = 1;
    server_write(folder, "starved", "");
    wire_submit(viewer, &call);
    ck_assert(!wire_waits(viewer, 500));
    wire_ping(client); // the others do not notice
    ck_assert_int_eq(unlink(path), 0);
    expect_state(wire_live_next(viewer)->frames, get_world());
    close_server();
    server_remove_folder(folder);
}
END_TEST

// ---- who does not read

// Twenty who never read, of a world whose frames would fill any socket: it steps on, their memory
// is bounded, and who reads again sees the latest.
START_TEST(who_never_reads_holds_up_nobody) {
    enum { SILENT = 20, WIDE = 2000, STEPS = 150 };
    open_server("--workers 2");
    WireWorld wide = wire_world(client, WIDE, 1, MOREAU__V1__WORLD__LIFETIME__SESSION);
    WireClient *silent[SILENT];
    Moreau__V1__Subscribe call = subscribe_call(wide.id);
    call.has_velocities = call.velocities = 1;
    for (int i = 0; i < SILENT; i++) {
        silent[i] = wire_open(server->address[0]);
        wire_submit(silent[i], &call);
    }
    wire_submit(viewer, &call);
    wire_live_next(viewer);
    for (uint64_t i = 1; i <= STEPS; i++) {
        wire_step(client, wide.id, 1);
        await_step(viewer, i); // so every step makes a frame
    }
    ck_assert_uint_eq(wire_step_count(client, wide.id), STEPS);
    // a frame is 13 doubles of each body: a queue without a bound would hold 20 x 300 of them
    const uint64_t frame_bytes = (uint64_t)104 * WIDE;
    ck_assert_uint_lt(server_peak_bytes(server->pid), (uint64_t)SILENT * STEPS / 4 * frame_bytes);
    // what waits in sockets is old, and ends; then comes what is
    const Moreau__V1__LiveFrame *frame = wire_live_next(silent[0]);
    uint64_t frames = 1;
    for (; step_of(frame) < STEPS; frames++) {
        frame = wire_live_next(silent[0]);
    }
    ck_assert_uint_lt(frames, STEPS / 2);
    for (int i = 0; i < SILENT; i++) {
        wire_close(silent[i]);
    }
    close_server();
}
END_TEST

START_TEST(fifty_see_the_same_world_which_is_as_if_nobody_looked) {
    enum { VIEWERS = 50, STEPS = 40 };
    open_server("--workers 2");
    WireWorld alone = wire_world(client, FALLING, 3, MOREAU__V1__WORLD__LIFETIME__SESSION);
    wire_step(client, alone.id, STEPS);
    WireClient *viewers[VIEWERS];
    Moreau__V1__Subscribe call = subscribe_call(world.id);
    for (int i = 0; i < VIEWERS; i++) {
        viewers[i] = wire_open(server->address[0]);
        wire_submit(viewers[i], &call);
    }
    for (int i = 0; i < STEPS; i++) {
        wire_step(client, world.id, 1);
    }
    ck_assert_uint_eq(wire_hash(client, world.id), wire_hash(client, alone.id));
    const Moreau__V1__WorldGetReply *state = get_world();
    for (int i = 0; i < VIEWERS; i++) {
        const Moreau__V1__LiveFrame *frame = await_step(viewers[i], STEPS);
        ck_assert_mem_eq(frame->frames->pose, state->pose, state->n_pose * sizeof(double));
    }
    for (int i = 0; i < VIEWERS; i++) {
        wire_close(viewers[i]);
    }
    close_server();
}
END_TEST

// A frame of more than a socket holds is cut off in its middle, again and again.
START_TEST(a_connection_may_end_in_the_middle_of_a_frame) {
    open_server("--workers 2");
    WireWorld wide = wire_world(client, 20000, 1, MOREAU__V1__WORLD__LIFETIME__SESSION);
    for (int i = 0; i < 10; i++) {
        WireClient *other = wire_open(server->address[0]);
        Moreau__V1__Subscribe call = subscribe_call(wide.id);
        call.has_scene = 1;
        call.scene = 0;
        wire_submit(other, &call);
        ck_assert(wire_waits(other, 10000));
        wire_close(other);
    }
    wire_ping(client);
    while (wire_stats(client, false)->requests_under_way > 1) {
        server_sleep_ms(1);
    }
    close_server();
}
END_TEST

static TCase *case_seen(void) {
    TCase *tcase = tcase_create("what is seen");
    tcase_add_test(tcase, a_frame_is_the_world_at_its_step_to_the_bit);
    tcase_add_test(tcase, a_long_call_is_watched_while_it_steps);
    tcase_add_test(tcase, so_many_steps_lie_between_two_frames);
    tcase_add_test(tcase, every_other_change_is_seen_as_well);
    tcase_add_test(tcase, each_gets_the_columns_that_he_asks_for);
    return tcase;
}

static TCase *case_end(void) {
    TCase *tcase = tcase_create("how it ends");
    tcase_add_test(tcase, it_ends_with_cancel_its_world_its_deadline_and_its_connection);
    tcase_add_test(tcase, a_server_that_is_told_to_end_ends_it);
    tcase_add_test(tcase, what_is_wrong_with_it_is_told);
    tcase_add_test(tcase, a_connection_that_watches_all_it_may_is_still_read);
    tcase_add_test(tcase, where_nothing_could_end_it_there_is_none);
    tcase_add_test(tcase, a_scene_longer_than_a_frame_is_refused);
    return tcase;
}

static TCase *case_starved(void) {
    TCase *tcase = tcase_create("when memory ends");
    if (!SANITIZES_THREADS) { // whose own realloc comes before that of any shim
        tcase_add_test(tcase, a_world_at_rest_is_shown_once_memory_is_back);
    }
    return tcase;
}

static TCase *case_slow(void) {
    TCase *tcase = tcase_create("who does not read");
    tcase_add_test(tcase, who_never_reads_holds_up_nobody);
    tcase_add_test(tcase, fifty_see_the_same_world_which_is_as_if_nobody_looked);
    tcase_add_test(tcase, a_connection_may_end_in_the_middle_of_a_frame);
    return tcase;
}

SUITE_MAIN("system/live", case_seen, case_end, case_starved, case_slow)
