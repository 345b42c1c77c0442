// SPDX-License-Identifier: MIT
// WorldRayCast over a real socket: what is met, what is refused, and that nothing of a world moves.
#include "base/vec.h"
#include "support/server_process.h"
#include "support/suite.h"
#include "support/wire_client.h"
#include "support/wire_world.h"

#include <string.h>

#define CODE(name) MOREAU__V1__STATUS__CODE__##name

static ServerProcess *server;
static WireClient *client;

static void start(void) {
    server = server_start("--workers 2 --db @/episodes.db");
    client = wire_open(server->address[0]);
}

static void stop(void) {
    wire_close(client);
    server_stop(server);
}

static Moreau__V1__WorldRayCast ask(uint64_t *worlds, size_t world_count, double *origin,
                                    double *way, size_t rays) {
    Moreau__V1__WorldRayCast cast = MOREAU__V1__WORLD_RAY_CAST__INIT;
    cast.n_worlds = world_count;
    cast.worlds = worlds;
    cast.n_origin = cast.n_way = 3 * rays;
    cast.origin = origin;
    cast.way = way;
    return cast;
}

// The ball of a small world is over its ground: from above it is met first, beside it the ground.
START_TEST(rays_meet_what_is_first_and_change_no_bit) {
    uint64_t world[2] = {wire_small_world(client), wire_small_world(client)};
    Moreau__V1__WorldGet get = MOREAU__V1__WORLD_GET__INIT;
    get.has_world = 1;
    get.world = world[0];
    const Moreau__V1__WorldGetReply *state = wire_accept(client, &get)->world_get;
    ck_assert_uint_ge(state->n_ids, 2);
    uint64_t ball = 0;
    Vec3 at = {0.0, 0.0, 0.0};
    for (size_t i = 0; i < state->n_ids; i++) {
        const Vec3 place = vec3_load(state->pose + 7 * i);
        ball = place.z > at.z ? state->ids[i] : ball;
        at = place.z > at.z ? place : at;
    }
    ck_assert_uint_ne(ball, 0);
    const uint64_t before[2] = {wire_hash(client, world[0]), wire_hash(client, world[1])};
    double origin[4 * 3], way[4 * 3];
    for (int i = 0; i < 4; i++) {
        vec3_store(origin + 3 * i, vec3(at.x + (i % 2) * 30.0, at.y, at.z + 20.0));
        vec3_store(way + 3 * i, vec3(0.0, 0.0, -100.0));
    }
    Moreau__V1__WorldRayCast cast = ask(world, 2, origin, way, 4);
    const Moreau__V1__WorldRayCastReply *met = wire_accept(client, &cast)->world_ray_cast;
    ck_assert_uint_eq(met->n_failures, 0);
    ck_assert_uint_eq(met->n_body, 4);
    for (int i = 0; i < 4; i += 2) { // the worlds are alike
        ck_assert_uint_eq(met->body[i], ball);
        ck_assert_double_eq_tol(met->point[3 * i + 2], at.z + 20.0 - 100.0 * met->fraction[i],
                                1e-12);
        ck_assert_double_eq_tol(met->normal[3 * i + 2], 1.0, 1e-12);
        ck_assert_uint_ne(met->body[i + 1], ball);
        ck_assert_double_gt(met->fraction[i + 1], met->fraction[i]);
    }
    ck_assert_uint_eq(wire_hash(client, world[0]), before[0]);
    ck_assert_uint_eq(wire_hash(client, world[1]), before[1]);
}
END_TEST

START_TEST(worlds_that_are_gone_are_told_and_have_rows_that_meet_nothing) {
    uint64_t world[2] = {wire_small_world(client), UINT64_C(0xdeadbeef00000001)};
    double origin[9] = {0.0, 0.0, 50.0, 1.0, 2.0, 3.0, 0.0, 0.0, 40.0}, way[9] = {0.0};
    way[2] = way[5] = way[8] = -100.0;
    uint32_t count[2] = {1, 2};
    Moreau__V1__WorldRayCast cast = ask(world, 2, origin, way, 3);
    cast.n_count = 2;
    cast.count = count;
    const Moreau__V1__WorldRayCastReply *met = wire_accept(client, &cast)->world_ray_cast;
    ck_assert_uint_eq(met->n_failures, 1);
    ck_assert_uint_eq(met->failures[0]->world, world[1]);
    ck_assert_uint_ne(met->body[0], 0);
    for (int i = 1; i < 3; i++) {
        ck_assert_uint_eq(met->body[i], 0);
        ck_assert_double_eq(met->fraction[i], 1.0);
        ck_assert_double_eq(met->point[3 * i + 2], origin[3 * i + 2] - 100.0);
        ck_assert_double_eq(met->normal[3 * i + 2], 0.0);
    }
}
END_TEST

START_TEST(what_is_no_ray_is_refused_with_its_field) {
    uint64_t world[2] = {wire_small_world(client), wire_small_world(client)};
    double origin[9] = {0.0}, way[9] = {0.0, 0.0, -1.0, 0.0, 0.0, -1.0, 0.0, 0.0, -1.0};
    uint32_t bits[3] = {1, 0, 1}, count[2] = {1, 1};
    Moreau__V1__WorldRayCast cast = ask(world, 1, origin, way, 3);
    cast.n_origin = 8;
    wire_refuse(client, &cast, CODE(INVALID_ARGUMENT), "origin");
    cast = ask(world, 1, origin, way, 3);
    cast.n_way = 6;
    wire_refuse(client, &cast, CODE(INVALID_ARGUMENT), "way");
    cast = ask(world, 2, origin, way, 3);
    wire_refuse(client, &cast, CODE(INVALID_ARGUMENT), "count");
    cast.n_count = 2;
    cast.count = count;
    wire_refuse(client, &cast, CODE(INVALID_ARGUMENT), "count");
    cast = ask(world, 1, origin, way, 3);
    cast.n_mask = 3;
    cast.mask = bits;
    wire_refuse(client, &cast, CODE(INVALID_ARGUMENT), "mask[1]");
    cast = ask(world, 1, origin, way, 3);
    cast.n_group = 2;
    cast.group = bits;
    wire_refuse(client, &cast, CODE(INVALID_ARGUMENT), "group");
    cast = ask(world, 1, origin, way, 3);
    way[5] = 0.0;
    wire_refuse(client, &cast, CODE(INVALID_ARGUMENT), "way[3]");
    way[5] = 2e9;
    wire_refuse(client, &cast, CODE(INVALID_ARGUMENT), "way[5]");
    way[5] = 1.0;
    origin[7] = -2e9;
    wire_refuse(client, &cast, CODE(INVALID_ARGUMENT), "origin[7]");
    origin[7] = 0.0;
    cast = ask(world, 0, origin, way, 3);
    wire_refuse(client, &cast, CODE(INVALID_ARGUMENT), "worlds");
    world[1] = world[0];
    cast = ask(world, 2, origin, way, 2);
    wire_refuse(client, &cast, CODE(INVALID_ARGUMENT), "worlds[1]");
    cast = ask(world, 1, origin, way, 0); // no rays: nothing is met, and nothing is wrong
    ck_assert_uint_eq(wire_accept(client, &cast)->world_ray_cast->n_body, 0);
}
END_TEST

static TCase *case_rays(void) {
    TCase *tcase = tcase_create("rays");
    tcase_set_timeout(tcase, 60);
    tcase_add_checked_fixture(tcase, start, stop);
    tcase_add_test(tcase, rays_meet_what_is_first_and_change_no_bit);
    tcase_add_test(tcase, worlds_that_are_gone_are_told_and_have_rows_that_meet_nothing);
    tcase_add_test(tcase, what_is_no_ray_is_refused_with_its_field);
    return tcase;
}

SUITE_MAIN("system/rays", case_rays)
