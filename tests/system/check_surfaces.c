// SPDX-License-Identifier: MIT
// Meshes and height fields over a real socket: made by columns, recorded, verified after a restart,
// forked, taken to another server as a snapshot, as a scene; seen by rays; and what is refused.
#include "support/server_process.h"
#include "support/suite.h"
#include "support/wire_client.h"
#include "support/wire_episode.h"
#include "support/wire_snapshot.h"
#include "support/wire_tokens.h"
#include "support/wire_world.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CODE(name) MOREAU__V1__STATUS__CODE__##name

enum { COLUMNS = 9, ROWS = 7, STEPS = 150, PATCHES = 7 };

// A roof, 4 m by 4 m, its ridge along y at 0.3 m; and ground in waves.
static double roof_point[] = {-2, -2, 0, 0, -2, 0.3, 2, -2, 0, -2, 2, 0, 0, 2, 0.3, 2, 2, 0};
static uint32_t roof_patch[] = {0, 3, 1, 0};
static uint32_t roof_triangle[] = {0, 1, 4, 0, 4, 3, 1, 2, 5, 1, 5, 4};

typedef struct Ground {
    Moreau__V1__Mesh mesh, *meshes[1];
    Moreau__V1__HeightField field, *fields[1];
    double spacing[2], height[COLUMNS * ROWS];
    uint32_t patch[(COLUMNS - 1) * (ROWS - 1)];
    Moreau__V1__WorldAddGeometries add;
} Ground;

static void make_ground(Ground *ground, uint64_t world) {
    moreau__v1__mesh__init(&ground->mesh);
    ground->mesh.n_points = sizeof(roof_point) / sizeof(roof_point[0]);
    ground->mesh.points = roof_point;
    ground->mesh.n_triangles = sizeof(roof_triangle) / sizeof(roof_triangle[0]);
    ground->mesh.triangles = roof_triangle;
    ground->mesh.n_patches = sizeof(roof_patch) / sizeof(roof_patch[0]);
    ground->mesh.patches = roof_patch;
    moreau__v1__height_field__init(&ground->field);
    ground->spacing[0] = ground->spacing[1] = 0.5;
    for (int i = 0; i < COLUMNS * ROWS; i++) {
        ground->height[i] = 0.05 * (i * i % 7);
    }
    ground->field.has_columns = ground->field.has_rows = 1;
    ground->field.columns = COLUMNS;
    ground->field.rows = ROWS;
    ground->field.n_spacing = 2;
    ground->field.spacing = ground->spacing;
    ground->field.n_heights = COLUMNS * ROWS;
    ground->field.heights = ground->height;
    ground->field.n_patches = (COLUMNS - 1) * (ROWS - 1);
    ground->field.patches = ground->patch;
    for (uint32_t i = 0; i < ground->field.n_patches; i++) {
        ground->patch[i] = i % 5;
    }
    ground->meshes[0] = &ground->mesh;
    ground->fields[0] = &ground->field;
    moreau__v1__world_add_geometries__init(&ground->add);
    ground->add.has_world = 1;
    ground->add.world = world;
    ground->add.n_meshes = ground->add.n_height_fields = 1;
    ground->add.meshes = ground->meshes;
    ground->add.height_fields = ground->fields;
}

// The small world's bodies, and a roof and a hilly place far from it, each with what falls on it.
static uint64_t hilly_world(WireClient *client) {
    const uint64_t world = wire_small_world(client);
    Ground ground;
    make_ground(&ground, world);
    uint64_t geometry[3] = {0, 0, 0};
    memcpy(geometry, wire_accept(client, &ground.add)->world_add->ids, 2 * sizeof(uint64_t));
    ck_assert_uint_eq(geometry[0], 1); // meshes before height fields
    ck_assert_uint_eq(geometry[1], 2);
    Moreau__V1__Primitive__Kind kind[] = {MOREAU__V1__PRIMITIVE__KIND__MESH,
                                          MOREAU__V1__PRIMITIVE__KIND__HEIGHT_FIELD,
                                          MOREAU__V1__PRIMITIVE__KIND__BOX};
    double size[9] = {0, 0, 0, 0, 0, 0, 0.2, 0.15, 0.1};
    Moreau__V1__Material ice = MOREAU__V1__MATERIAL__INIT, *materials[1] = {&ice};
    ice.name = (char *)(uintptr_t) "ice";
    ice.has_friction = 1, ice.friction = 0.02;
    Moreau__V1__WorldAddMaterials feel = MOREAU__V1__WORLD_ADD_MATERIALS__INIT;
    feel.has_world = 1, feel.world = world;
    feel.n_materials = 1, feel.materials = materials;
    const uint64_t icy = wire_accept(client, &feel)->world_add->ids[0];
    uint64_t patch[3 * PATCHES] = {icy, 0, icy, 0, 0, 0, 0, icy, 0, icy};
    Moreau__V1__WorldAddShapes shapes = MOREAU__V1__WORLD_ADD_SHAPES__INIT;
    shapes.has_world = 1;
    shapes.world = world;
    shapes.n_kind = 3;
    shapes.kind = kind;
    shapes.n_size = 9;
    shapes.size = size;
    shapes.n_geometry = 3;
    shapes.geometry = geometry;
    shapes.n_patch_material = sizeof(patch) / sizeof(patch[0]);
    shapes.patch_material = patch;
    uint64_t shape[3];
    memcpy(shape, wire_accept(client, &shapes)->world_add->ids, sizeof(shape));
    double pose[4 * 7] = {10.0, 0.0, 0.0, 1.0, 0, 0, 0,  10.0, 10.0, 0.0, 1.0, 0,   0,   0,
                          10.1, 0.2, 0.6, 0.8, 0, 0, .6, 10.1, 10.2, 0.6, 0.8, 0.6, 0.0, 0.0};
    Moreau__V1__Body__Kind kinds[4] = {
        MOREAU__V1__BODY__KIND__STATIC, MOREAU__V1__BODY__KIND__STATIC,
        MOREAU__V1__BODY__KIND__DYNAMIC, MOREAU__V1__BODY__KIND__DYNAMIC};
    uint64_t worn[4] = {shape[0], shape[1], shape[2], shape[2]};
    Moreau__V1__WorldAddBodies bodies = MOREAU__V1__WORLD_ADD_BODIES__INIT;
    bodies.has_world = 1;
    bodies.world = world;
    bodies.n_pose = 28;
    bodies.pose = pose;
    bodies.n_kind = 4;
    bodies.kind = kinds;
    bodies.n_shape = 4;
    bodies.shape = worn;
    wire_accept(client, &bodies);
    return world;
}

START_TEST(what_stands_on_surfaces_is_recorded_verified_and_forked) {
    WireDepot depot;
    wire_depot_open(&depot, "--workers 2");
    const uint64_t world = hilly_world(depot.client);
    Moreau__V1__EpisodeStart call = wire_start_call(world);
    const WireEpisode episode = wire_record(depot.client, &call);
    wire_step(depot.client, world, STEPS);
    const uint64_t hash = wire_hash(depot.client, world);
    wire_stop_recording(depot.client, world);
    wire_destroy(depot.client, world);
    wire_depot_stop(&depot);
    wire_depot_restart(&depot, "--workers 7");
    wire_expect_verified(depot.client, episode.id, STEPS);
    Moreau__V1__EpisodeFork fork = MOREAU__V1__EPISODE_FORK__INIT;
    fork.episode = (char *)episode.id;
    fork.has_step = 1;
    fork.step = 90;
    const uint64_t forked = wire_accept(depot.client, &fork)->episode_fork->world;
    wire_step(depot.client, forked, STEPS - 90);
    ck_assert_uint_eq(wire_hash(depot.client, forked), hash);
    wire_depot_close(&depot);
}
END_TEST

static const Moreau__V1__WorldGetReply *get(WireClient *client, uint64_t world) {
    Moreau__V1__WorldGet call = MOREAU__V1__WORLD_GET__INIT;
    call.has_world = 1;
    call.world = world;
    return wire_accept(client, &call)->world_get;
}

// A recorded group of worlds that stand as one does, whose episodes have STEPS steps, of whom the
// body that fell last is seen, and pushed by nothing. `body`: its id.
static uint64_t hilly_group(WireClient *client, uint64_t world, uint64_t body, uint64_t count,
                            char recording[WIRE_EPISODE_ID_BYTES]) {
    Moreau__V1__GroupChannel push = MOREAU__V1__GROUP_CHANNEL__INIT,
                             seen = MOREAU__V1__GROUP_CHANNEL__INIT;
    push.has_kind = seen.has_kind = push.has_body_id = seen.has_body_id = 1;
    push.kind = MOREAU__V1__GROUP_CHANNEL__KIND__BODY_FORCE;
    seen.kind = MOREAU__V1__GROUP_CHANNEL__KIND__BODY_POSITION;
    push.body_id = seen.body_id = body;
    push.has_axes = 1, push.axes = 1;
    Moreau__V1__GroupChannel *action[] = {&push}, *observation[] = {&seen};
    Moreau__V1__GroupRecord record = MOREAU__V1__GROUP_RECORD__INIT;
    Moreau__V1__GroupCreate call = MOREAU__V1__GROUP_CREATE__INIT;
    call.has_world = call.has_count = call.has_double_precision = 1;
    call.world = world, call.count = count, call.double_precision = 1;
    call.has_step_limit = 1, call.step_limit = STEPS;
    call.n_action = call.n_observation = 1;
    call.action = action, call.observation = observation;
    call.record = &record;
    const Moreau__V1__GroupCreateReply *made = wire_accept(client, &call)->group_create;
    memcpy(recording, made->recording, WIRE_EPISODE_ID_BYTES);
    return made->group;
}

// Each of a group is where the world alone is, to the bit; and so is, from within, who comes of the
// group's episode, in the process that recorded it and in the next.
START_TEST(a_group_on_surfaces_does_as_its_world_alone) {
    enum { COUNT = 5, FROM = 60 };
    WireDepot depot;
    wire_depot_open(&depot, "--workers 3");
    const uint64_t world = hilly_world(depot.client);
    const uint64_t bodies = get(depot.client, world)->total;
    const uint64_t body = get(depot.client, world)->ids[bodies - 1];
    char recording[WIRE_EPISODE_ID_BYTES];
    const uint64_t group = hilly_group(depot.client, world, body, COUNT, recording);
    double action[COUNT] = {0};
    Moreau__V1__GroupReset reset = MOREAU__V1__GROUP_RESET__INIT;
    reset.has_group = 1, reset.group = group;
    wire_accept(depot.client, &reset);
    for (int step = 1; step <= STEPS; step++) {
        Moreau__V1__GroupStep call = MOREAU__V1__GROUP_STEP__INIT;
        call.has_group = 1, call.group = group;
        call.n_action_double = COUNT, call.action_double = action;
        wire_step(depot.client, world, 1);
        double place[3];
        memcpy(place, get(depot.client, world)->pose + 7 * (bodies - 1), sizeof(place));
        const Moreau__V1__GroupStepReply *told = wire_accept(depot.client, &call)->group_step;
        ck_assert_uint_eq(told->n_observation_double, 3 * COUNT);
        for (int i = 0; i < COUNT; i++) {
            ck_assert_mem_eq(told->observation_double + 3 * (size_t)i, place, sizeof(place));
        }
    }
    Moreau__V1__GroupDestroy destroy = MOREAU__V1__GROUP_DESTROY__INIT;
    destroy.has_group = 1, destroy.group = group;
    wire_accept(depot.client, &destroy);
    double pose[7 * 16];
    ck_assert_uint_le(bodies, 16);
    memcpy(pose, get(depot.client, world)->pose, 7 * bodies * sizeof(double));
    Moreau__V1__EpisodeList list = MOREAU__V1__EPISODE_LIST__INIT;
    list.recording = recording;
    char episode[WIRE_EPISODE_ID_BYTES];
    const Moreau__V1__EpisodeListReply *all = wire_accept(depot.client, &list)->episode_list;
    ck_assert_uint_eq(all->n_episodes, COUNT);
    memcpy(episode, all->episodes[COUNT / 2]->episode, sizeof(episode));
    ck_assert_uint_eq(all->episodes[COUNT / 2]->steps, STEPS);
    for (int life = 0; life < 2; life++) {
        Moreau__V1__EpisodeFork fork = MOREAU__V1__EPISODE_FORK__INIT;
        fork.episode = episode;
        fork.has_step = 1, fork.step = FROM;
        const uint64_t forked = wire_accept(depot.client, &fork)->episode_fork->world;
        wire_step(depot.client, forked, STEPS - FROM);
        ck_assert_mem_eq(get(depot.client, forked)->pose, pose, 7 * bodies * sizeof(double));
        wire_expect_verified(depot.client, episode, STEPS);
        wire_depot_stop(&depot);
        wire_depot_restart(&depot, "--workers 1");
    }
    wire_depot_close(&depot);
}
END_TEST

// Its heights take more than all chunks together, which only name it: they count at once, though
// nothing is measured anew.
START_TEST(ground_that_comes_while_it_is_recorded_counts_against_a_token) {
    enum { SIDE = 64 };
    static double height[SIDE * SIDE];
    const WirePerson some[] = {{"erin", "watch,step,record namespace=c log=1G"}};
    char folder[SERVER_FOLDER_BYTES];
    ServerProcess *server = wire_tokens_start(some, 1, "--db @/db", folder);
    WireClient *erin = wire_open_as(server, "erin");
    const uint64_t world = wire_small_world(erin);
    const Moreau__V1__EpisodeStart call = wire_start_call(world);
    const WireEpisode episode = wire_record(erin, &call);
    Ground ground;
    make_ground(&ground, world);
    ground.field.columns = ground.field.rows = SIDE;
    ground.field.n_heights = SIDE * SIDE;
    ground.field.heights = height;
    ground.field.n_patches = 0;
    wire_accept(erin, &ground.add);
    wire_step(erin, world, 20);
    wire_stop_recording(erin, world);
    ck_assert_uint_lt(wire_describe(erin, episode.id)->bytes, sizeof(height));
    ck_assert_uint_gt(wire_stats(erin, false)->tokens[0]->log_bytes, sizeof(height));
    wire_expect_verified(erin, episode.id, 20);
    wire_close(erin);
    server_stop(server);
    server_remove_folder(folder);
}
END_TEST

START_TEST(a_snapshot_takes_its_surfaces_to_another_server) {
    ServerProcess *from = server_start("--workers 2"), *to = server_start("--workers 2");
    WireClient *here = wire_open(from->address[0]), *there = wire_open(to->address[0]);
    const uint64_t world = hilly_world(here);
    wire_step(here, world, 60);
    Moreau__V1__SnapshotTake take = MOREAU__V1__SNAPSHOT_TAKE__INIT;
    take.has_world = 1;
    take.world = world;
    const uint64_t snapshot = wire_accept(here, &take)->snapshot_take->snapshot;
    const WireBytes bytes = wire_snapshot_read(here, snapshot, 700);
    Moreau__V1__SnapshotClone clone = MOREAU__V1__SNAPSHOT_CLONE__INIT;
    clone.has_snapshot = clone.has_count = 1;
    clone.snapshot = wire_snapshot_upload(there, bytes, 500);
    clone.count = 1;
    const uint64_t second = wire_accept(there, &clone)->snapshot_clone->worlds[0];
    wire_step(here, world, 60);
    wire_step(there, second, 60);
    ck_assert_uint_eq(wire_hash(there, second), wire_hash(here, world));
    free(bytes.data);
    wire_close(here);
    wire_close(there);
    server_stop(from);
    server_stop(to);
}
END_TEST

START_TEST(a_scene_has_its_surfaces) {
    ServerProcess *server = server_start("--workers 2");
    WireClient *client = wire_open(server->address[0]);
    const uint64_t world = hilly_world(client);
    Moreau__V1__WorldScene ask = MOREAU__V1__WORLD_SCENE__INIT;
    ask.has_world = 1;
    ask.world = world;
    Moreau__V1__Reply *kept = wire_accept(client, &ask);
    Moreau__V1__Scene *scene = kept->world_scene->scene;
    ck_assert_uint_eq(scene->n_geometries, 2);
    ck_assert_uint_eq(scene->geometries[0]->mesh->n_triangles, 12);
    ck_assert_uint_eq(scene->geometries[0]->mesh->n_patches, 4);
    const Moreau__V1__ScenePrimitive *roof = scene->bodies[scene->n_bodies - 4]->shapes[0];
    ck_assert_uint_eq(roof->n_patch_materials, 3);
    ck_assert_str_eq(roof->patch_materials[1], "");
    ck_assert_str_eq(roof->patch_materials[2], "ice");
    ck_assert_uint_eq(scene->geometries[1]->height_field->n_heights, COLUMNS * ROWS);
    Moreau__V1__WorldCreate create = MOREAU__V1__WORLD_CREATE__INIT;
    create.scene = scene;
    const uint64_t made = wire_accept(client, &create)->world_create->world;
    wire_step(client, world, 100);
    wire_step(client, made, 100);
    Moreau__V1__WorldGet get = MOREAU__V1__WORLD_GET__INIT;
    get.has_world = 1;
    get.world = world;
    Moreau__V1__Reply *first = wire_accept(client, &get);
    get.world = made;
    const Moreau__V1__WorldGetReply *one = first->world_get,
                                    *other = wire_accept(client, &get)->world_get;
    ck_assert_uint_eq(one->n_pose, other->n_pose);
    ck_assert_mem_eq(one->pose, other->pose, one->n_pose * sizeof(double));

    // what is wrong with one is blamed where the scene has it
    char **name = &scene->bodies[scene->n_bodies - 4]->shapes[0]->patch_materials[1], *own = *name;
    *name = (char *)(uintptr_t) "mud";
    wire_refuse(client, &create, CODE(NOT_FOUND), "scene.bodies[4].shapes[0].patch_materials[1]");
    *name = own;
    scene->geometries[0]->mesh->triangles[4] = 99;
    Moreau__V1__Reply *refused = wire_refuse(client, &create, CODE(INVALID_ARGUMENT), NULL);
    ck_assert_str_eq(refused->status->field, "scene.geometries[0].mesh.triangles[4]");
    scene->geometries[0]->mesh->triangles[4] = 4;
    scene->geometries[1]->height_field->heights[3] = 1e7;
    refused = wire_refuse(client, &create, CODE(INVALID_ARGUMENT), NULL);
    ck_assert_str_eq(refused->status->field, "scene.geometries[1].height_field.heights[3]");
    wire_close(client);
    server_stop(server);
}
END_TEST

// On the roof's slope, 0.15 up a metre from its ridge, from either side of it.
START_TEST(rays_see_a_roof) {
    ServerProcess *server = server_start("--workers 2");
    WireClient *client = wire_open(server->address[0]);
    const uint64_t world = hilly_world(client);
    Moreau__V1__WorldRayCast cast = MOREAU__V1__WORLD_RAY_CAST__INIT;
    double origin[] = {9.0, 1.0, 1.15, 11.0, 1.0, -0.85};
    double way[] = {0.0, 0.0, -2.0, 0.0, 0.0, 2.0};
    uint64_t worlds[] = {world};
    cast.n_worlds = 1;
    cast.worlds = worlds;
    cast.n_origin = cast.n_way = 6;
    cast.origin = origin;
    cast.way = way;
    const Moreau__V1__WorldRayCastReply *seen = wire_accept(client, &cast)->world_ray_cast;
    ck_assert_double_eq_tol(seen->fraction[0], 0.5, 1e-12);
    ck_assert_double_eq_tol(seen->normal[0], -0.15 / sqrt(1.0225), 1e-12);
    ck_assert_uint_eq(seen->body[1], 0); // from below it is not there
    wire_close(client);
    server_stop(server);
}
END_TEST

START_TEST(what_is_no_surface_is_refused_and_changes_nothing) {
    ServerProcess *server = server_start("--workers 2");
    WireClient *client = wire_open(server->address[0]);
    const uint64_t world = wire_small_world(client), hash = wire_hash(client, world);
    Ground ground;
    make_ground(&ground, world);
    uint32_t torn[12], sliver[12];
    memcpy(torn, roof_triangle, sizeof(torn));
    memcpy(sliver, roof_triangle, sizeof(sliver));
    torn[1] = roof_triangle[2];
    torn[2] = roof_triangle[1];
    sliver[3] = sliver[4];
    const struct {
        uint32_t *triangles;
        size_t numbers, spacings, heights;
        const char *field;
    } cases[] = {{torn, 12, 2, COLUMNS * ROWS, "meshes[0].triangles"},
                 {sliver, 12, 2, COLUMNS * ROWS, "meshes[0].triangles[1]"},
                 {roof_triangle, 11, 2, COLUMNS * ROWS, "meshes[0].triangles"},
                 {roof_triangle, 12, 1, COLUMNS * ROWS, "height_fields[0].spacing"},
                 {roof_triangle, 12, 2, COLUMNS, "height_fields[0].heights"}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        ground.mesh.triangles = cases[i].triangles;
        ground.mesh.n_triangles = cases[i].numbers;
        ground.field.n_spacing = cases[i].spacings;
        ground.field.n_heights = cases[i].heights;
        wire_refuse(client, &ground.add, CODE(INVALID_ARGUMENT), cases[i].field);
    }
    make_ground(&ground, world);
    ground.mesh.n_patches = 3;
    wire_refuse(client, &ground.add, CODE(INVALID_ARGUMENT), "meshes[0].patches");
    make_ground(&ground, world);
    ground.patch[7] = 256; // which is 0 as a byte
    wire_refuse(client, &ground.add, CODE(INVALID_ARGUMENT), "height_fields[0].patches[7]");
    ck_assert_uint_eq(wire_hash(client, world), hash);
    wire_close(client);
    server_stop(server);
}
END_TEST

static TCase *case_surfaces(void) {
    TCase *tcase = tcase_create("surfaces");
    tcase_set_timeout(tcase, 120.0);
    tcase_add_test(tcase, what_stands_on_surfaces_is_recorded_verified_and_forked);
    tcase_add_test(tcase, a_group_on_surfaces_does_as_its_world_alone);
    tcase_add_test(tcase, ground_that_comes_while_it_is_recorded_counts_against_a_token);
    tcase_add_test(tcase, a_snapshot_takes_its_surfaces_to_another_server);
    tcase_add_test(tcase, a_scene_has_its_surfaces);
    tcase_add_test(tcase, rays_see_a_roof);
    tcase_add_test(tcase, what_is_no_surface_is_refused_and_changes_nothing);
    return tcase;
}

SUITE_MAIN("system/surfaces", case_surfaces)
