// SPDX-License-Identifier: MIT
// A live world as a scene: what `moreau scene` prints makes the same world again, a world that was
// changed tells what it is now, and one that is too long for a frame says what to do.
#include "support/server_shell.h"
#include "support/suite.h"
#include "support/wire_episode.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SCENES MOREAU_SOURCE_DIR "/tests/scenes/"

static char said[65536];

static void type(const char *address, const char *line) {
    ck_assert_msg(server_shell(address, line, said, sizeof(said)) == 0, "%s: %s", line, said);
}

static const char *const scenes[] = {"joints/humanoid_stairs", "joints/four_bar_linkage",
                                     "foundation", "capsules"};

START_TEST(a_world_that_is_printed_is_made_again) {
    char folder[] = "/tmp/moreau-check-XXXXXX", line[1024];
    ck_assert_ptr_nonnull(mkdtemp(folder));
    ServerProcess *server = server_start("--workers 1");
    const char *address = server->address[0];
    snprintf(line, sizeof(line), "moreau run " SCENES "%s.json --steps 25 --keep --name first",
             scenes[_i]);
    type(address, line);
    snprintf(line, sizeof(line),
             "cd %s && moreau scene first > a && (printf '{\"lifetime\": \"SERVER\", \"name\": "
             "\"first\", \"scene\": '; cat a; printf '}') > c && moreau worlds --destroy first && "
             "moreau call WorldCreate @c && moreau scene first > b && cmp a b 2>&1",
             folder);
    type(address, line);
    snprintf(line, sizeof(line), "cd %s && moreau run a --steps 3", folder);
    type(address, line);
    server_stop(server);
    snprintf(line, sizeof(line), "rm -r %s", folder);
    ck_assert_int_eq(system(line), 0);
}
END_TEST

static Moreau__V1__WorldScene scene_call(uint64_t world) {
    Moreau__V1__WorldScene call = MOREAU__V1__WORLD_SCENE__INIT;
    call.has_world = 1, call.world = world;
    return call;
}

START_TEST(a_world_that_was_changed_tells_what_it_is_now) {
    ServerProcess *server = server_start("--workers 1");
    WireClient *client = wire_open(server->address[0]);
    const uint64_t world = wire_small_world(client);
    uint64_t id[1] = {2};
    double mass[1] = {7.5};
    Moreau__V1__WorldSet set = MOREAU__V1__WORLD_SET__INIT;
    set.has_world = 1, set.world = world;
    set.n_ids = set.n_mass = 1, set.ids = id, set.mass = mass;
    wire_accept(client, &set);
    const Moreau__V1__WorldScene call = scene_call(world);
    const Moreau__V1__Scene *scene = wire_accept(client, &call)->world_scene->scene;
    ck_assert_double_eq(scene->bodies[1]->mass, 7.5);
    Moreau__V1__WorldRemove remove = MOREAU__V1__WORLD_REMOVE__INIT;
    remove.has_world = 1, remove.world = world;
    remove.n_bodies = 1, remove.bodies = id;
    const size_t before = scene->n_bodies;
    wire_accept(client, &remove);
    scene = wire_accept(client, &call)->world_scene->scene;
    ck_assert_uint_eq(scene->n_bodies, before - 1);
    const Moreau__V1__WorldScene nothing = scene_call(999);
    wire_refuse(client, &nothing, MOREAU__V1__STATUS__CODE__NOT_FOUND, "world");
    wire_close(client);
    server_stop(server);
}
END_TEST

START_TEST(what_is_longer_than_a_frame_says_what_to_do) {
    ServerProcess *server = server_start("--workers 1 --frame-bytes-max 8K");
    WireClient *client = wire_open(server->address[0]);
    // as many bodies as stay below the frame, and as go beyond it: some 100 to 200 bytes each
    static const uint32_t falling[2] = {10, 100};
    const uint64_t world =
        wire_world(client, falling[_i], 1, MOREAU__V1__WORLD__LIFETIME__SESSION).id;
    const Moreau__V1__WorldScene call = scene_call(world);
    if (_i == 0) {
        wire_accept(client, &call);
    } else {
        const Moreau__V1__Reply *reply =
            wire_refuse(client, &call, MOREAU__V1__STATUS__CODE__RESOURCE_EXHAUSTED, "world");
        ck_assert_ptr_nonnull(strstr(reply->status->message, "SnapshotTake"));
        ck_assert_ptr_nonnull(strstr(reply->status->message, "--frame-bytes-max"));
    }
    wire_close(client);
    server_stop(server);
}
END_TEST

static TCase *case_world_scene(void) {
    TCase *tcase = tcase_create("world_scene");
    tcase_set_timeout(tcase, 60);
    tcase_add_loop_test(tcase, a_world_that_is_printed_is_made_again, 0,
                        sizeof(scenes) / sizeof(scenes[0]));
    tcase_add_test(tcase, a_world_that_was_changed_tells_what_it_is_now);
    tcase_add_loop_test(tcase, what_is_longer_than_a_frame_says_what_to_do, 0, 2);
    return tcase;
}

SUITE_MAIN("system/world_scene", case_world_scene)
