// SPDX-License-Identifier: MIT
// A server whose compiler fused multiplications and additions computes other bits: it says so in
// its log and in Welcome, steps worlds, and neither records nor verifies.
#include "support/server_process.h"
#include "support/suite.h"
#include "support/wire_client.h"
#include "support/wire_episode.h"

#include <stdio.h>
#include <unistd.h>

#define CODE(name) MOREAU__V1__STATUS__CODE__##name
#define FUSED      MOREAU_BINARY_DIR "/tests/moreau-server-fused"

// What the server says of itself when a client comes.
static const Moreau__V1__Welcome *greet(const ServerProcess *server, WireClient **client) {
    Moreau__V1__Hello hello = MOREAU__V1__HELLO__INIT;
    hello.has_protocol_major = 1;
    hello.protocol_major = 1;
    *client = wire_connect(server->address[0]);
    return wire_accept(*client, &hello)->welcome;
}

// None is built with sanitizers and for other processors; and this one must know the operation.
static bool has_fused(void) {
#if defined(__x86_64__)
    return access(FUSED, X_OK) == 0 && __builtin_cpu_supports("fma");
#else
    return false;
#endif
}

START_TEST(an_ordinary_build_computes_the_golden_bits_and_names_itself) {
    ServerProcess *server = server_start("--workers 1");
    WireClient *client;
    const Moreau__V1__Welcome *welcome = greet(server, &client);
    ck_assert(welcome->has_golden && welcome->golden);
    ck_assert_ptr_nonnull(welcome->build);
    ck_assert_str_ne(welcome->build, "");
    wire_close(client);
    server_stop(server);
}
END_TEST

START_TEST(a_build_that_computes_other_bits_neither_records_nor_verifies) {
    if (!has_fused()) {
        return;
    }
    ck_assert_int_eq(setenv("MOREAU_SERVER_PROGRAM", FUSED, 1), 0);
    WireDepot depot;
    wire_depot_open(&depot, "--workers 1");
    WireClient *other;
    const Moreau__V1__Welcome *welcome = greet(depot.server, &other);
    ck_assert(welcome->has_golden && !welcome->golden);
    wire_close(other);
    uint64_t world = wire_small_world(depot.client);
    wire_step(depot.client, world, 10);
    Moreau__V1__EpisodeStart start = wire_start_call(world);
    const Moreau__V1__Reply *reply =
        wire_refuse(depot.client, &start, CODE(FAILED_PRECONDITION), NULL);
    ck_assert_ptr_nonnull(strstr(reply->status->message, "other bits"));
    Moreau__V1__EpisodeVerify verify = MOREAU__V1__EPISODE_VERIFY__INIT;
    verify.episode = (char *)"any";
    wire_refuse(depot.client, &verify, CODE(FAILED_PRECONDITION), NULL);
    wire_depot_close(&depot);
}
END_TEST

static TCase *case_golden_bits(void) {
    TCase *tcase = tcase_create("golden bits");
    tcase_set_timeout(tcase, 60.0);
    tcase_add_test(tcase, an_ordinary_build_computes_the_golden_bits_and_names_itself);
    tcase_add_test(tcase, a_build_that_computes_other_bits_neither_records_nor_verifies);
    return tcase;
}

SUITE_MAIN("system/golden_bits", case_golden_bits)
