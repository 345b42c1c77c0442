// SPDX-License-Identifier: MIT
// Every limit that the server lists has a row here: how it is met, and that the error names its
// option; or why no error can. A limit without a row fails the test.
#include "support/server_process.h"
#include "support/suite.h"
#include "support/wire_client.h"
#include "support/wire_world.h"

#include <stdio.h>
#include <string.h>

#define CODE(name) MOREAU__V1__STATUS__CODE__##name

static ServerProcess *server;

// Beside the test's own client; closed at the end of the test.
enum { GUESTS_MAX = 2 };
static WireClient *guest[GUESTS_MAX];
static size_t guest_count;

static WireClient *invite(void) {
    ck_assert_uint_lt(guest_count, GUESTS_MAX);
    return guest[guest_count++] = wire_connect(server->address[0]);
}

// What the server says when the limit is met. The reply is the client's.
typedef const Moreau__V1__Reply *Meet(WireClient *client);

static WireClient *greet(const char *resume) {
    WireClient *client = invite();
    Moreau__V1__Hello hello = MOREAU__V1__HELLO__INIT;
    hello.has_protocol_major = hello.has_resumable = 1;
    hello.protocol_major = 1;
    hello.resumable = 1;
    hello.resume = (char *)(uintptr_t)resume;
    wire_submit(client, &hello);
    return client;
}

static const Moreau__V1__Reply *send_a_long_frame(WireClient *client) {
    static const uint8_t header[] = {0, 0, 0x20, 0x01}; // 8 KiB and a byte
    wire_send_bytes(client, header, sizeof(header));
    return wire_receive(client);
}

static const Moreau__V1__Reply *open_one_more(WireClient *client) {
    (void)client;
    return wire_receive(invite());
}

static const Moreau__V1__Reply *say_nothing(WireClient *client) {
    (void)client;
    return wire_receive(invite());
}

static const Moreau__V1__Reply *make_two_worlds(WireClient *client) {
    Moreau__V1__WorldCreate create = MOREAU__V1__WORLD_CREATE__INIT;
    wire_accept(client, &create);
    return wire_call(client, &create);
}

// So many bodies that rest where they are.
static const Moreau__V1__Reply *add_bodies(WireClient *client, uint64_t world, size_t count) {
    double *pose = calloc(count, 7 * sizeof(double)), *mass = calloc(count, sizeof(double));
    double *inertia = calloc(count, 6 * sizeof(double));
    for (size_t i = 0; i < count; i++) {
        pose[7 * i + 3] = mass[i] = 1.0;
        inertia[6 * i] = inertia[6 * i + 1] = inertia[6 * i + 2] = 1.0;
    }
    Moreau__V1__WorldAddBodies add = MOREAU__V1__WORLD_ADD_BODIES__INIT;
    add.has_world = 1;
    add.world = world;
    add.n_pose = 7 * count;
    add.pose = pose;
    add.n_mass = count;
    add.mass = mass;
    add.n_inertia = 6 * count;
    add.inertia = inertia;
    const Moreau__V1__Reply *reply = wire_call(client, &add);
    free(pose);
    free(mass);
    free(inertia);
    return reply;
}

static uint64_t make_world(WireClient *client) {
    Moreau__V1__WorldCreate create = MOREAU__V1__WORLD_CREATE__INIT;
    return wire_accept(client, &create)->world_create->world;
}

static const Moreau__V1__Reply *add_eleven_bodies(WireClient *client) {
    return add_bodies(client, make_world(client), 11);
}

static const Moreau__V1__Reply *add_too_many_bodies(WireClient *client) {
    uint64_t world = make_world(client);
    const Moreau__V1__Reply *reply;
    do {
        reply = add_bodies(client, world, 10000);
    } while (reply != NULL && reply->status->code == CODE(OK));
    return reply;
}

// A frame that never ends and is most of what all connections may hold together.
static const Moreau__V1__Reply *send_half_a_frame(WireClient *client) {
    static uint8_t half[1 << 20] = {0, 0x20, 0, 0}; // of 2 MiB
    wire_send_bytes(client, half, sizeof(half));
    return wire_receive(client);
}

// Once they lie on the ground, a step of so many bodies takes several milliseconds.
static const Moreau__V1__Reply *step_a_large_world(WireClient *client) {
    WireWorld world = wire_world(client, 5000, 1, MOREAU__V1__WORLD__LIFETIME__SESSION);
    Moreau__V1__WorldStep step = wire_step_call(&world.id, 1000);
    return wire_call(client, &step);
}

// Asked again for a reply that was too long to be kept.
static const Moreau__V1__Reply *repeat_what_was_not_kept(WireClient *client) {
    (void)client;
    WireClient *first = greet(NULL);
    char session[64];
    snprintf(session, sizeof(session), "%s", wire_receive(first)->welcome->session);
    uint64_t world = wire_small_world(first);
    Moreau__V1__WorldStep step = wire_step_call(&world, 1);
    step.has_poses = step.poses = 1;
    Moreau__V1__Request request = wire_request(&step);
    request.has_id = 1;
    request.id = 100;
    wire_submit_request(first, &request);
    wire_expect(wire_receive(first), CODE(OK), NULL);
    wire_shut(first);
    wire_expect_end(first);
    WireClient *second = greet(session);
    wire_expect(wire_receive(second), CODE(OK), NULL);
    wire_submit_request(second, &request);
    return wire_receive(second);
}

static const Moreau__V1__Reply *subscribe_twice(WireClient *client) {
    Moreau__V1__Subscribe call = MOREAU__V1__SUBSCRIBE__INIT;
    call.has_world = 1;
    call.world = wire_small_world(client);
    uint64_t first = wire_submit(client, &call);
    wire_submit(client, &call);
    const Moreau__V1__Reply *reply = wire_receive(client);
    while (reply->id == first) {
        reply = wire_receive(client);
    }
    return reply;
}

static const Moreau__V1__Reply *resume_what_is_gone(WireClient *client) {
    (void)client;
    return wire_receive(greet("0123456789abcdef"));
}

static const struct {
    const char *limit, *options;
    Meet *meet; // NULL: no error can name it, as `why` says
    const char *why;
} limits[] = {
    {"frame-bytes-max", "--frame-bytes-max 8K", send_a_long_frame, NULL},
    {"connections-max", "--connections-max 1", open_one_more, NULL},
    {"requests-max", "--kept-bytes-max 200", repeat_what_was_not_kept, NULL},
    {"subscriptions-max", "--subscriptions-max 1", subscribe_twice, NULL},
    {"kept-bytes-max", "--kept-bytes-max 200", repeat_what_was_not_kept, NULL},
    {"unsent-bytes-max", NULL, NULL, "the client is not read until it has taken replies"},
    {"worlds-max", "--worlds-max 1", make_two_worlds, NULL},
    {"session-worlds-max", "--session-worlds-max 1", make_two_worlds, NULL},
    {"bodies-max", "--bodies-max 10", add_eleven_bodies, NULL},
    {"memory-bytes-max", "--memory-bytes-max 16M", add_too_many_bodies, NULL},
    {"memory-bytes-max", "--memory-bytes-max 1M", send_half_a_frame, NULL},
    {"log-queue-bytes-max", NULL, NULL, "recorded worlds wait, or drop steps and count them"},
    {"tls-rate-max", NULL, NULL,
     "before hands are shaken nobody is told: they wait for their turn"},
    {"http-connections-max", NULL, NULL, "a new page takes the place of the idlest"},
    {"http-viewers-max", NULL, NULL, "HTTP says it, see check_viewer"},
    {"write-timeout-ms", NULL, NULL, "who takes no bytes cannot be told"},
    {"hello-timeout-ms", "--hello-timeout-ms 50", say_nothing, NULL},
    {"work-timeout-ms", "--work-timeout-ms 1", step_a_large_world, NULL},
    {"session-grace-ms", NULL, resume_what_is_gone, NULL},
    {"drain-timeout-ms", NULL, NULL, "what is under way is cancelled"},
    {"keep-days", NULL, NULL, "what is older is deleted"},
    {"keep-bytes", NULL, NULL, "the oldest are deleted"},
    {"audit-bytes-max", NULL, NULL, "the file turns over: os/check_trail"},
    {"keep-episodes", NULL, NULL, "the oldest are deleted"},
};

enum { LIMIT_COUNT = sizeof(limits) / sizeof(limits[0]) };

START_TEST(an_error_names_the_option_of_its_limit) {
    if (limits[_i].meet == NULL) {
        ck_assert_ptr_nonnull(limits[_i].why);
        return;
    }
    char options[100], named[64];
    snprintf(options, sizeof(options), "--workers 1 %s",
             limits[_i].options == NULL ? "" : limits[_i].options);
    snprintf(named, sizeof(named), "--%s", limits[_i].limit);
    server = server_start(options);
    WireClient *client = wire_open(server->address[0]);
    const Moreau__V1__Reply *reply = limits[_i].meet(client);
    ck_assert_msg(reply != NULL, "%s: the connection ended without a word", named);
    bool is_worlds = reply->result_case == MOREAU__V1__REPLY__RESULT_WORLD_STEP &&
                     reply->world_step->n_failures > 0; // the fault of a world, not of the call
    const Moreau__V1__Status *status = is_worlds ? reply->world_step->failures[0] : reply->status;
    ck_assert_int_ne(status->code, CODE(OK));
    // as a whole word: --worlds-max is no part of --session-worlds-max
    ck_assert_msg(strstr(status->message, named) != NULL, "%s is not in: %s", named,
                  status->message);
    while (guest_count > 0) {
        wire_close(guest[--guest_count]);
    }
    wire_close(client);
    server_stop(server);
}
END_TEST

START_TEST(every_limit_has_a_row) {
    server = server_start("--workers 1");
    WireClient *client = wire_open(server->address[0]);
    Moreau__V1__Describe describe = MOREAU__V1__DESCRIBE__INIT;
    const Moreau__V1__DescribeReply *reply = wire_accept(client, &describe)->describe;
    for (size_t i = 0; i < reply->n_limits; i++) {
        bool found = false;
        for (size_t k = 0; k < LIMIT_COUNT; k++) {
            found = found || strcmp(limits[k].limit, reply->limits[i]->name) == 0;
        }
        ck_assert_msg(found, "%s has no row in this file", reply->limits[i]->name);
    }
    wire_close(client);
    server_stop(server);
}
END_TEST

static TCase *case_limits(void) {
    TCase *tcase = tcase_create("limits");
    tcase_set_timeout(tcase, 60);
    tcase_add_loop_test(tcase, an_error_names_the_option_of_its_limit, 0, LIMIT_COUNT);
    tcase_add_test(tcase, every_limit_has_a_row);
    return tcase;
}

SUITE_MAIN("system/limits", case_limits)
