// SPDX-License-Identifier: MIT
// The longest frames that there may be, beside a client that makes small calls: what one connection
// sends is worked on by lanes, and costs the others nothing that they notice. Times are compared
// with each other: how long the longest of the small calls waits, apart from waiting for a core,
// with how long the long one takes. A busy machine disturbs in other ways too, now and then, and a
// busy loop thread every time, so the best of some tries counts.
#include "support/machine.h"
#include "support/sanitizers.h"
#include "support/server_process.h"
#include "support/suite.h"
#include "support/wire_crowd.h"
#include "support/wire_witness.h"
#include "support/wire_world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CODE(name) MOREAU__V1__STATUS__CODE__##name

enum { TRIES = 10, PARTS = 8 };

// A sanitizer's allocator keeps back what was freed, so all memory of a long call is new, and the
// loop thread, which lays out the list of worlds, is the first to touch its pages.
#define NEW_PAGES (SANITIZES_ADDRESSES || SANITIZES_THREADS ? 2.0 : 1.0)

static ServerProcess *server;
static WireClient *client;

// What is sent at once, and answered `count` times with `code`.
typedef struct Burst {
    uint8_t *bytes; // owned
    size_t byte_count, count;
    Moreau__V1__Status__Code code;
} Burst;

static uint64_t next_id = 1u << 20; // far above those that the client gives

static void add_frame(Burst *burst, const void *frame, size_t count) {
    burst->bytes = realloc(burst->bytes, burst->byte_count + count);
    ck_assert_ptr_nonnull(burst->bytes);
    memcpy(burst->bytes + burst->byte_count, frame, count);
    burst->byte_count += count;
    burst->count++;
}

static void add_call(Burst *burst, const void *call) {
    size_t count;
    uint8_t *frame = wire_crowd_frame(call, next_id++, &count);
    add_frame(burst, frame, count);
    free(frame);
}

// ---- the long ones

// People's way of saying it: many small messages.
static void create_from_a_scene(Burst *burst) {
    enum { BODIES = 100000, NAME_BYTES = 16 };
    static double inertia[6] = {1, 1, 1, 0, 0, 0};
    Moreau__V1__Scene scene = MOREAU__V1__SCENE__INIT;
    Moreau__V1__SceneBody *body = calloc(BODIES, sizeof(*body));
    Moreau__V1__SceneBody **bodies = calloc(BODIES, sizeof(*bodies));
    double *position = calloc(3 * (size_t)BODIES, sizeof(*position));
    char *names = calloc(BODIES, NAME_BYTES);
    for (size_t i = 0; i < BODIES; i++) {
        moreau__v1__scene_body__init(&body[i]);
        bodies[i] = &body[i];
        body[i].name = names + NAME_BYTES * i;
        snprintf(body[i].name, NAME_BYTES, "body %zu", i);
        body[i].n_position = 3, body[i].position = position + 3 * i;
        body[i].has_mass = 1, body[i].mass = 1;
        body[i].n_inertia = 6, body[i].inertia = inertia;
        position[3 * i] = (double)i;
    }
    scene.n_bodies = BODIES, scene.bodies = bodies;
    Moreau__V1__WorldCreate create = MOREAU__V1__WORLD_CREATE__INIT;
    create.scene = &scene;
    add_call(burst, &create);
    free(names), free(position), free(bodies), free(body);
}

static void add_columns(uint64_t world, size_t bodies, Burst *burst) {
    double *numbers = calloc(20 * bodies, sizeof(*numbers));
    double *pose = numbers, *velocity = numbers + 7 * bodies, *mass = numbers + 13 * bodies,
           *inertia = numbers + 14 * bodies;
    for (size_t i = 0; i < bodies; i++) {
        pose[7 * i] = (double)i, pose[7 * i + 3] = 1;
        mass[i] = 1;
        inertia[6 * i] = inertia[6 * i + 1] = inertia[6 * i + 2] = 1;
    }
    Moreau__V1__WorldAddBodies add = MOREAU__V1__WORLD_ADD_BODIES__INIT;
    add.has_world = 1, add.world = world;
    add.n_pose = 7 * bodies, add.pose = pose;
    add.n_velocity = 6 * bodies, add.velocity = velocity;
    add.n_mass = bodies, add.mass = mass;
    add.n_inertia = 6 * bodies, add.inertia = inertia;
    add_call(burst, &add);
    free(numbers);
}

static void add_bodies(Burst *burst) {
    add_columns(wire_small_world(client), 95000, burst);
}

static void solve_a_problem(Burst *burst) {
    Burst bodies = {0};
    uint64_t world = wire_small_world(client);
    add_columns(world, 40000, &bodies);
    ck_assert(wire_send_bytes(client, bodies.bytes, bodies.byte_count));
    wire_expect(wire_receive(client), CODE(OK), NULL);
    free(bodies.bytes);
    wire_step(client, world, 1);
    Moreau__V1__Problem ask = MOREAU__V1__PROBLEM__INIT;
    ask.has_world = 1, ask.world = world;
    Moreau__V1__Solve solve = MOREAU__V1__SOLVE__INIT;
    solve.problem = wire_accept(client, &ask)->problem->problem;
    add_call(burst, &solve);
    wire_destroy(client, world);
}

static void upload_a_snapshot(Burst *burst) {
    enum { PART_BYTES = 15 << 20 };
    uint8_t *zeros = calloc(1, PART_BYTES);
    Moreau__V1__SnapshotUpload part = MOREAU__V1__SNAPSHOT_UPLOAD__INIT;
    part.has_total = part.has_data = 1;
    part.total = (uint64_t)(PARTS + 1) * PART_BYTES;
    part.data.len = 1, part.data.data = zeros;
    part.snapshot = wire_accept(client, &part)->snapshot_upload->snapshot;
    part.has_total = 0;
    part.has_snapshot = part.has_first = 1;
    part.data.len = PART_BYTES;
    for (size_t i = 0; i < PARTS; i++) {
        part.first = 1 + i * PART_BYTES;
        add_call(burst, &part);
    }
    free(zeros);
}

// Each takes two bytes here, and fifty times that where it is unpacked.
static void send_unknown_fields(Burst *burst) {
    enum { BODY_BYTES = 16 << 20 };
    uint8_t *frame = calloc(1, 4 + BODY_BYTES);
    frame[0] = 1; // big-endian: 16 MiB
    for (size_t i = 0; i < BODY_BYTES; i += 2) {
        frame[4 + i] = 9 << 3; // a varint of the field 9, which Request does not have
    }
    burst->code = CODE(RESOURCE_EXHAUSTED);
    add_frame(burst, frame, 4 + BODY_BYTES);
    free(frame);
}

static void hash_unknown_worlds(Burst *burst) {
    enum { WORLDS = 60000 };
    uint64_t *worlds = calloc(WORLDS, sizeof(*worlds));
    for (size_t i = 0; i < WORLDS; i++) {
        worlds[i] = 1000000 + i;
    }
    Moreau__V1__WorldHash hash = MOREAU__V1__WORLD_HASH__INIT;
    hash.n_worlds = WORLDS, hash.worlds = worlds;
    add_call(burst, &hash);
    free(worlds);
}

static void list_many_worlds(Burst *burst) {
    enum { WORLDS = 20000 };
    Moreau__V1__SnapshotClone clone = MOREAU__V1__SNAPSHOT_CLONE__INIT;
    clone.has_world = clone.has_count = 1;
    clone.world = wire_small_world(client);
    clone.count = WORLDS;
    if (wire_stats(client, false)->world_count < WORLDS) {
        wire_accept(client, &clone);
    }
    Moreau__V1__WorldList list = MOREAU__V1__WORLD_LIST__INIT;
    list.has_count = 1, list.count = WORLDS;
    for (size_t i = 0; i < PARTS; i++) {
        add_call(burst, &list);
    }
}

// Of the time that one of its calls takes, the small calls may lose this part: a tenth, or more
// where the work itself is little more than moving bytes.
static const struct {
    const char *name;
    void (*make)(Burst *burst);
    double part_max;
} rows[] = {
    {"WorldCreate", create_from_a_scene, 0.1},
    {"WorldAddBodies", add_bodies, 0.15},
    {"Solve", solve_a_problem, 0.2},
    {"SnapshotUpload", upload_a_snapshot, 0.5},
    {"unknown fields", send_unknown_fields, 0.1},
    {"WorldHash", hash_unknown_worlds, 0.2},
    {"WorldList", list_many_worlds, 0.5},
};

enum { ROW_COUNT = sizeof(rows) / sizeof(rows[0]) };

// ---- beside them

// How long one call of the burst takes, sent at once and waited for.
static double send_burst(const Burst *burst) {
    double begun_ms = server_now_ms(), ended_ms = begun_ms;
    ck_assert(wire_send_bytes(client, burst->bytes, burst->byte_count));
    for (size_t i = 0; i < burst->count; i++) {
        ck_assert(wire_waits(client, PATIENCE_MS));
        ended_ms = server_now_ms();
        wire_expect(wire_receive(client), burst->code, NULL);
    }
    return (ended_ms - begun_ms) / (double)burst->count;
}

// Which part of the time of a long call the longest small one takes beside it.
static double disturb(int row) {
    Burst burst = {.code = CODE(OK)};
    rows[row].make(&burst);
    Witness *witness = witness_start_pinging(server->address[0], server->pid);
    witness_begin(witness);
    double long_ms = send_burst(&burst);
    WitnessTimes disturbed = witness_end(witness);
    witness_stop(witness);
    free(burst.bytes);
    return disturbed.longest_ms / long_ms;
}

static void try_row(const char *options, int row) {
    server = server_start(options);
    double least = 1e9, most = NEW_PAGES * rows[row].part_max;
    for (int i = 0; i < TRIES && least > most; i++) {
        client = wire_open(server->address[0]);
        double part = disturb(row);
        least = part < least ? part : least;
        wire_close(client);
    }
    ck_assert_msg(least <= most, "%s: small calls of others take up to %.3f of its time, not %.3f",
                  rows[row].name, least, most);
    server_stop(server);
}

START_TEST(others_do_not_wait_for_a_long_frame_beside_one_worker) {
    try_row("--workers 1 --session-grace-ms 0", _i);
}
END_TEST

START_TEST(others_do_not_wait_for_a_long_frame_beside_two_workers) {
    try_row("--workers 2 --session-grace-ms 0", _i);
}
END_TEST

// ---- what holds for all frames holds for long ones

static void start(void) {
    server = server_start("--workers 2 --session-grace-ms 0");
    client = wire_open(server->address[0]);
}

static void stop(void) {
    wire_close(client);
    server_stop(server);
}

static void send_burst_only(WireClient *to, Burst *burst) {
    ck_assert(wire_send_bytes(to, burst->bytes, burst->byte_count));
    free(burst->bytes);
    *burst = (Burst){0};
}

// Bodies far apart, whose columns are a long frame.
enum { MORE_BODIES = 700 };

static void submit_more_bodies(uint64_t world) {
    Burst burst = {0};
    add_columns(world, MORE_BODIES, &burst);
    ck_assert_uint_gt(burst.byte_count, 65536 + 4);
    send_burst_only(client, &burst);
}

static uint64_t count_bodies(uint64_t world) {
    Moreau__V1__WorldGet get = MOREAU__V1__WORLD_GET__INIT;
    get.has_world = get.has_count = 1, get.world = world;
    return wire_accept(client, &get)->world_get->total;
}

// The next reply with such a result; of those before it, counts what was added. A call on two
// worlds is answered when both are done, so the next one on the first may be answered before.
static const Moreau__V1__Reply *receive(Moreau__V1__Reply__ResultCase wanted, uint64_t *added) {
    for (;;) {
        const Moreau__V1__Reply *reply = wire_receive(client);
        wire_expect(reply, CODE(OK), NULL);
        if (reply->result_case == wanted) {
            return reply;
        }
        ck_assert_uint_eq(reply->world_add->n_ids, MORE_BODIES);
        (*added)++;
    }
}

// Which world a long frame names is known only when it is unpacked.
START_TEST(a_long_frame_and_those_behind_it_keep_their_order) {
    enum { ROUNDS = 20 };
    uint64_t worlds[] = {wire_small_world(client), wire_small_world(client)};
    uint64_t bodies = count_bodies(worlds[0]), added = 0;
    Moreau__V1__WorldStep step = wire_step_call(worlds, 1);
    step.n_worlds = 2;
    step.has_poses = step.poses = 1;
    for (uint64_t i = 0; i < ROUNDS; i++) {
        submit_more_bodies(worlds[0]);
        wire_submit(client, &step);
    }
    for (uint64_t i = 0; i < ROUNDS; i++) {
        const Moreau__V1__Reply *reply = receive(MOREAU__V1__REPLY__RESULT_WORLD_STEP, &added);
        ck_assert_uint_eq(reply->world_step->step[0], i + 1);
        ck_assert_uint_eq(reply->world_step->body_count[0], bodies + (i + 1) * MORE_BODIES);
        ck_assert_uint_eq(reply->world_step->body_count[1], bodies);
    }
    while (added < ROUNDS) {
        receive(MOREAU__V1__REPLY__RESULT_WORLD_ADD, &added);
        added++;
    }
}
END_TEST

START_TEST(a_long_first_frame_is_a_hello_or_is_refused) {
    enum { BODY_BYTES = 100000 };
    static uint8_t body[BODY_BYTES];
    Moreau__V1__Hello hello = MOREAU__V1__HELLO__INIT;
    hello.has_protocol_major = 1, hello.protocol_major = 1;
    Moreau__V1__Request request = wire_request(&hello);
    request.has_id = 1, request.id = 7;
    size_t count = moreau__v1__request__pack(&request, body);
    // bytes of a field that Request does not have, and that are ignored: 99,000 of them
    const uint8_t head[] = {9 << 3 | 2, 0xb8, 0x85, 0x06};
    memcpy(body + count, head, sizeof(head));
    count += sizeof(head) + 99000;
    ck_assert_uint_le(count, BODY_BYTES);
    WireClient *other = wire_connect(server->address[0]);
    ck_assert(wire_send_frame(other, body, count));
    const Moreau__V1__Reply *reply = wire_receive(other);
    wire_expect(reply, CODE(OK), NULL);
    ck_assert_uint_eq(reply->id, 7);
    wire_ping(other);
    wire_close(other);

    other = wire_connect(server->address[0]);
    Burst burst = {0};
    add_columns(1, MORE_BODIES, &burst);
    send_burst_only(other, &burst);
    wire_expect(wire_receive(other), CODE(FAILED_PRECONDITION), NULL);
    wire_close(other);
}
END_TEST

START_TEST(a_long_frame_that_is_no_message_closes_after_what_came_before) {
    enum { BODY_BYTES = 1 << 20 };
    uint64_t world = wire_small_world(client);
    Moreau__V1__WorldStep step = wire_step_call(&world, 1000);
    WireClient *other = wire_open(server->address[0]);
    uint64_t id = wire_submit(other, &step);
    uint8_t *body = malloc(BODY_BYTES);
    memset(body, 0xff, BODY_BYTES);
    ck_assert(wire_send_frame(other, body, BODY_BYTES));
    free(body);
    const Moreau__V1__Reply *reply = wire_receive(other);
    wire_expect(reply, CODE(OK), NULL);
    ck_assert_uint_eq(reply->id, id);
    wire_expect(wire_receive(other), CODE(INVALID_ARGUMENT), NULL);
    wire_expect_end(other);
    wire_close(other);
    ck_assert_uint_eq(wire_step_count(client, world), 1000);
}
END_TEST

START_TEST(a_long_frame_has_an_id_of_its_own_too) {
    uint64_t world = wire_small_world(client);
    Moreau__V1__WorldStep step = wire_step_call(&world, UINT64_C(1000000000));
    next_id = wire_submit(client, &step);
    submit_more_bodies(world);
    wire_expect(wire_receive(client), CODE(ALREADY_EXISTS), "id");
    Moreau__V1__Cancel cancel = MOREAU__V1__CANCEL__INIT;
    cancel.has_request = 1;
    cancel.request = next_id - 1;
    wire_submit(client, &cancel);
    wire_receive(client);
    wire_receive(client);
    ck_assert_uint_lt(count_bodies(world), MORE_BODIES);
}
END_TEST

static void expect_no_worlds(void) {
    double give_up_ms = server_now_ms() + PATIENCE_MS;
    const Moreau__V1__StatsReply *stats;
    while (stats = wire_stats(client, false),
           stats->world_count > 0 || stats->requests_under_way > 1 || stats->connections > 1) {
        ck_assert_msg(server_now_ms() < give_up_ms, "something of a client that is gone stays");
        server_sleep_ms(10);
    }
}

START_TEST(a_client_that_vanishes_behind_a_long_frame_leaves_nothing) {
    Burst burst = {0};
    create_from_a_scene(&burst);
    for (unsigned i = 0; i < 12; i++) {
        WireClient *other = wire_open(server->address[0]);
        ck_assert(wire_send_bytes(other, burst.bytes, burst.byte_count));
        server_sleep_ms(i * i); // before it is unpacked, meanwhile, afterwards
        wire_close(other);
    }
    free(burst.bytes);
    expect_no_worlds();
}
END_TEST

START_TEST(a_deadline_that_passes_while_it_is_unpacked_creates_nothing) {
    Burst burst = {0};
    create_from_a_scene(&burst);
    // the fields of a message may come in any order: behind the call, and counted
    uint8_t deadline[] = {2 << 3, 1};
    add_frame(&burst, deadline, sizeof(deadline));
    uint32_t bytes = (uint32_t)burst.byte_count - 4;
    for (int i = 0; i < 4; i++) {
        burst.bytes[i] = (uint8_t)(bytes >> (24 - 8 * i));
    }
    send_burst_only(client, &burst);
    wire_expect(wire_receive(client), CODE(DEADLINE_EXCEEDED), "deadline_ms");
    ck_assert_uint_eq(wire_stats(client, false)->world_count, 0);
}
END_TEST

// It is answered, or told that the server ends: the exit status says that nothing was left.
START_TEST(a_server_that_is_told_to_end_while_it_unpacks_ends) {
    Burst burst = {0};
    create_from_a_scene(&burst);
    ck_assert(wire_send_bytes(client, burst.bytes, burst.byte_count));
    free(burst.bytes);
    server_sleep_ms(15 * (unsigned)_i);
}
END_TEST

START_TEST(a_long_frame_that_finds_no_memory_is_refused_by_its_id) {
    ServerProcess *small = server_start("--workers 1 --memory-bytes-max 64M");
    WireClient *other = wire_open(small->address[0]);
    Burst burst = {0};
    create_from_a_scene(&burst); // unpacked, ten times a quarter of that
    send_burst_only(other, &burst);
    const Moreau__V1__Reply *reply = wire_receive(other);
    wire_expect(reply, CODE(RESOURCE_EXHAUSTED), NULL);
    ck_assert_uint_eq(reply->id, next_id - 1);
    ck_assert_ptr_nonnull(strstr(reply->status->message, "--memory-bytes-max"));
    wire_ping(other);
    wire_close(other);
    server_stop(small);
}
END_TEST

static TCase *case_beside(void) {
    TCase *tcase = tcase_create("beside");
    tcase_set_timeout(tcase, 120);
    tcase_add_loop_test(tcase, others_do_not_wait_for_a_long_frame_beside_one_worker, 0, ROW_COUNT);
    tcase_add_loop_test(tcase, others_do_not_wait_for_a_long_frame_beside_two_workers, 0,
                        ROW_COUNT);
    return tcase;
}

static TCase *case_alike(void) {
    TCase *tcase = tcase_create("alike");
    tcase_set_timeout(tcase, 120);
    tcase_add_checked_fixture(tcase, start, stop);
    tcase_add_test(tcase, a_long_frame_and_those_behind_it_keep_their_order);
    tcase_add_test(tcase, a_long_first_frame_is_a_hello_or_is_refused);
    tcase_add_test(tcase, a_long_frame_that_is_no_message_closes_after_what_came_before);
    tcase_add_test(tcase, a_long_frame_has_an_id_of_its_own_too);
    tcase_add_test(tcase, a_client_that_vanishes_behind_a_long_frame_leaves_nothing);
    tcase_add_test(tcase, a_deadline_that_passes_while_it_is_unpacked_creates_nothing);
    tcase_add_loop_test(tcase, a_server_that_is_told_to_end_while_it_unpacks_ends, 0, 12);
    tcase_add_test(tcase, a_long_frame_that_finds_no_memory_is_refused_by_its_id);
    return tcase;
}

SUITE_MAIN("system/frames", case_alike, case_beside)
