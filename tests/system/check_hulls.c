// SPDX-License-Identifier: MIT
// Hulls over a real socket: made by columns, recorded, verified after a restart, forked, taken to
// another server as a snapshot, worn by groups; and what is refused.
#include "support/server_process.h"
#include "support/suite.h"
#include "support/wire_client.h"
#include "support/wire_episode.h"
#include "support/wire_group.h"
#include "support/wire_snapshot.h"
#include "support/wire_tokens.h"
#include "support/wire_world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CODE(name) MOREAU__V1__STATUS__CODE__##name

// A wedge: two triangles and three rectangles.
static double wedge_point[] = {-0.1, -0.1, -0.2, 0.2, -0.1, -0.2, -0.1, 0.2, -0.2,
                               -0.1, -0.1, 0.2,  0.2, -0.1, 0.2,  -0.1, 0.2, 0.2};
static uint32_t wedge_corner[5][4] = {
    {0, 2, 1}, {3, 4, 5}, {0, 1, 4, 3}, {1, 2, 5, 4}, {2, 0, 3, 5}};

typedef struct Wedge {
    Moreau__V1__Hull hull;
    Moreau__V1__HullFace face[5];
    Moreau__V1__HullFace *faces[5];
} Wedge;

static void make_wedge(Wedge *wedge) {
    moreau__v1__hull__init(&wedge->hull);
    for (size_t i = 0; i < 5; i++) {
        moreau__v1__hull_face__init(&wedge->face[i]);
        wedge->face[i].n_points = i < 2 ? 3 : 4;
        wedge->face[i].points = wedge_corner[i];
        wedge->faces[i] = &wedge->face[i];
    }
    wedge->hull.n_points = sizeof(wedge_point) / sizeof(wedge_point[0]);
    wedge->hull.points = wedge_point;
    wedge->hull.n_faces = 5;
    wedge->hull.faces = wedge->faces;
}

static Moreau__V1__WorldAddGeometries add_call(uint64_t world, Moreau__V1__Hull **hulls,
                                               size_t count) {
    Moreau__V1__WorldAddGeometries add = MOREAU__V1__WORLD_ADD_GEOMETRIES__INIT;
    add.has_world = 1;
    add.world = world;
    add.n_hulls = count;
    add.hulls = hulls;
    return add;
}

static Moreau__V1__WorldAddShapes shapes_call(uint64_t world, uint64_t *geometry) {
    static Moreau__V1__Primitive__Kind kind[] = {MOREAU__V1__PRIMITIVE__KIND__HULL};
    static double size[3];
    Moreau__V1__WorldAddShapes shapes = MOREAU__V1__WORLD_ADD_SHAPES__INIT;
    shapes.has_world = 1;
    shapes.world = world;
    shapes.n_kind = 1;
    shapes.kind = kind;
    shapes.n_size = 3;
    shapes.size = size;
    shapes.n_geometry = geometry == NULL ? 0 : 1;
    shapes.geometry = geometry;
    return shapes;
}

// The ground and bodies of a small world, and three wedges that fall among them.
static uint64_t wedge_world(WireClient *client) {
    const uint64_t world = wire_small_world(client);
    Wedge wedge;
    make_wedge(&wedge);
    Moreau__V1__Hull *hulls[] = {&wedge.hull};
    Moreau__V1__WorldAddGeometries add = add_call(world, hulls, 1);
    const Moreau__V1__WorldAddReply *added = wire_accept(client, &add)->world_add;
    ck_assert_uint_eq(added->n_ids, 1);
    uint64_t geometry = added->ids[0];
    Moreau__V1__WorldAddShapes shapes = shapes_call(world, &geometry);
    uint64_t shape = wire_accept(client, &shapes)->world_add->ids[0];
    double pose[3 * 7] = {0.5, 0.0, 0.3, 1,   0,   0,   0,   0.1, 0.4, 1.1, 0.8,
                          0.6, 0,   0,   0.0, 0.1, 1.6, 0.6, 0,   0.8, 0};
    uint64_t worn[3] = {shape, shape, shape};
    Moreau__V1__WorldAddBodies bodies = MOREAU__V1__WORLD_ADD_BODIES__INIT;
    bodies.has_world = 1;
    bodies.world = world;
    bodies.n_pose = 21;
    bodies.pose = pose;
    bodies.n_shape = 3;
    bodies.shape = worn;
    wire_accept(client, &bodies);
    return world;
}

START_TEST(what_wears_hulls_is_recorded_verified_and_forked) {
    WireDepot depot;
    wire_depot_open(&depot, "--workers 2");
    const uint64_t world = wedge_world(depot.client);
    Moreau__V1__EpisodeStart call = wire_start_call(world);
    const WireEpisode episode = wire_record(depot.client, &call);
    wire_step(depot.client, world, 150);
    // one more that comes while it is recorded: its bytes are in the recording alone
    Wedge wedge;
    make_wedge(&wedge);
    double larger[18];
    for (size_t i = 0; i < 18; i++) {
        larger[i] = 1.25 * wedge_point[i];
    }
    wedge.hull.points = larger;
    Moreau__V1__Hull *hulls[] = {&wedge.hull};
    Moreau__V1__WorldAddGeometries add = add_call(world, hulls, 1);
    uint64_t geometry = wire_accept(depot.client, &add)->world_add->ids[0];
    ck_assert_uint_eq(geometry, 2);
    Moreau__V1__WorldAddShapes shapes = shapes_call(world, &geometry);
    wire_accept(depot.client, &shapes);
    wire_step(depot.client, world, 50);
    const uint64_t hash = wire_hash(depot.client, world);
    wire_stop_recording(depot.client, world);
    wire_expect_verified(depot.client, episode.id, 200);
    wire_destroy(depot.client, world); // and with it whoever held them

    wire_depot_stop(&depot);
    // their bytes stand once in the file, and nowhere else
    ck_assert_int_eq(wire_depot_number(&depot, "SELECT count(*) FROM geometry"), 2);
    ck_assert_int_eq(wire_depot_number(&depot, "SELECT count(*) FROM chunk c JOIN geometry g ON "
                                               "instr(c.bytes, substr(g.bytes, 193)) > 0"),
                     0);
    wire_depot_restart(&depot, "--workers 7");
    wire_expect_verified(depot.client, episode.id, 200);
    Moreau__V1__EpisodeFork fork = MOREAU__V1__EPISODE_FORK__INIT;
    fork.episode = (char *)episode.id;
    fork.has_step = 1;
    fork.step = 120;
    const uint64_t forked = wire_accept(depot.client, &fork)->episode_fork->world;
    wire_step(depot.client, forked, 30);
    ck_assert_uint_ne(wire_hash(depot.client, forked), hash);
    fork.step = 200;
    const uint64_t ended = wire_accept(depot.client, &fork)->episode_fork->world;
    ck_assert_uint_eq(wire_hash(depot.client, ended), hash);
    wire_depot_close(&depot);
}
END_TEST

// The bytes of the wedge stand beside the chunks, once for both recordings.
START_TEST(what_recordings_name_counts_against_a_token) {
    const WirePerson some[] = {{"erin", "watch,step,record,delete namespace=c log=1G"}};
    char folder[SERVER_FOLDER_BYTES], uid[64];
    ServerProcess *server = wire_tokens_start(some, 1, "--db @/db", folder);
    WireClient *erin = wire_open_as(server, "erin");
    uint64_t bytes = 0;
    for (int i = 0; i < 3; i++) {
        const uint64_t world = wedge_world(erin);
        const Moreau__V1__EpisodeStart call = wire_start_call(world);
        snprintf(uid, sizeof(uid), "%s", wire_accept(erin, &call)->episode_start->episode);
        wire_step(erin, world, 20);
        wire_stop_recording(erin, world);
        bytes += i < 2 ? wire_describe(erin, uid)->bytes : 0;
    }
    Moreau__V1__EpisodeDelete delete = MOREAU__V1__EPISODE_DELETE__INIT;
    delete.episode = uid; // after which it is counted
    wire_accept(erin, &delete);
    const Moreau__V1__StatsReply *stats = wire_stats(erin, false);
    ck_assert_uint_gt(stats->tokens[0]->log_bytes, bytes + 200);
    ck_assert_uint_lt(stats->tokens[0]->log_bytes, bytes + 2000);
    wire_close(erin);
    server_stop(server);
    server_remove_folder(folder);
}
END_TEST

// The second hull is gone from the file: what wears it is called by its name, and by nobody true.
START_TEST(a_hull_that_is_gone_from_the_file_is_named) {
    WireDepot depot;
    wire_depot_open(&depot, "--workers 2");
    const uint64_t world = wedge_world(depot.client);
    Moreau__V1__EpisodeStart call = wire_start_call(world);
    const WireEpisode episode = wire_record(depot.client, &call);
    wire_step(depot.client, world, 40);
    wire_stop_recording(depot.client, world);
    wire_depot_stop(&depot);
    wire_depot_sql(&depot, "DELETE FROM geometry");
    wire_depot_restart(&depot, "--workers 2");
    Moreau__V1__EpisodeVerify verify = MOREAU__V1__EPISODE_VERIFY__INIT;
    verify.episode = (char *)episode.id;
    const Moreau__V1__Reply *reply = wire_stream(depot.client, &verify, NULL, NULL);
    wire_expect(reply, CODE(OK), NULL);
    const Moreau__V1__EpisodeVerifyReply *verdict = reply->episode_verify;
    ck_assert(!verdict->verified);
    ck_assert_uint_gt(verdict->n_differences, 0);
    for (size_t i = 0; i < verdict->n_differences; i++) {
        const char *message = verdict->differences[i]->message;
        ck_assert_msg(strstr(message, " is not in this file") != NULL, "%s", message);
    }
    Moreau__V1__EpisodeFork fork = MOREAU__V1__EPISODE_FORK__INIT;
    fork.episode = (char *)episode.id;
    fork.has_step = 1;
    fork.step = 20;
    wire_refuse(depot.client, &fork, CODE(DATA_LOSS), "step");
    wire_depot_close(&depot);
}
END_TEST

START_TEST(a_snapshot_takes_its_hulls_to_another_server) {
    ServerProcess *from = server_start("--workers 2"), *to = server_start("--workers 2");
    WireClient *here = wire_open(from->address[0]), *there = wire_open(to->address[0]);
    const uint64_t world = wedge_world(here);
    wire_step(here, world, 60);
    Moreau__V1__SnapshotTake take = MOREAU__V1__SNAPSHOT_TAKE__INIT;
    take.has_world = 1;
    take.world = world;
    const uint64_t snapshot = wire_accept(here, &take)->snapshot_take->snapshot;
    const WireBytes bytes = wire_snapshot_read(here, snapshot, 700);
    const uint64_t taken = wire_snapshot_upload(there, bytes, 500);
    Moreau__V1__SnapshotClone clone = MOREAU__V1__SNAPSHOT_CLONE__INIT;
    clone.has_snapshot = clone.has_count = 1;
    clone.snapshot = taken;
    clone.count = 2;
    const Moreau__V1__SnapshotCloneReply *made = wire_accept(there, &clone)->snapshot_clone;
    ck_assert_uint_eq(made->n_worlds, 2);
    const uint64_t second = made->worlds[1];
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

// The scene of a world makes one that goes the same way.
START_TEST(a_scene_has_its_hulls) {
    ServerProcess *server = server_start("--workers 2");
    WireClient *client = wire_open(server->address[0]);
    const uint64_t world = wedge_world(client);
    Moreau__V1__WorldScene ask = MOREAU__V1__WORLD_SCENE__INIT;
    ask.has_world = 1;
    ask.world = world;
    Moreau__V1__Reply *kept = wire_accept(client, &ask);
    Moreau__V1__Scene *scene = kept->world_scene->scene;
    ck_assert_uint_eq(scene->n_geometries, 1);
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
    wire_close(client);
    server_stop(server);
}
END_TEST

static double corner_of(int i, int axis) {
    return (i >> axis & 1) != 0 ? 0.1 : -0.1;
}

// A cube's corners, one of them twice, and points inside: the hull is the cube, and what the world
// says of itself is its built form.
START_TEST(points_alone_are_built) {
    ServerProcess *server = server_start("--workers 2");
    WireClient *client = wire_open(server->address[0]);
    const uint64_t world = wire_small_world(client);
    double points[3 * 12] = {0};
    for (int i = 0; i < 9; i++) {
        for (int axis = 0; axis < 3; axis++) {
            points[3 * i + axis] = corner_of(i % 8, axis);
        }
    }
    points[33] = 0.05;
    Moreau__V1__Hull cloud = MOREAU__V1__HULL__INIT;
    cloud.n_points = 36;
    cloud.points = points;
    Moreau__V1__Hull *hulls[] = {&cloud};
    Moreau__V1__WorldAddGeometries add = add_call(world, hulls, 1);
    wire_accept(client, &add);
    Moreau__V1__WorldScene ask = MOREAU__V1__WORLD_SCENE__INIT;
    ask.has_world = 1;
    ask.world = world;
    Moreau__V1__Scene *scene = wire_accept(client, &ask)->world_scene->scene;
    ck_assert_uint_eq(scene->n_geometries, 1);
    ck_assert_uint_eq(scene->geometries[0]->hull->n_points, 3 * 8);
    ck_assert_uint_eq(scene->geometries[0]->hull->n_faces, 6);

    // in a scene, too; and what holds no volume is blamed where it stands
    Moreau__V1__SceneHull own = MOREAU__V1__SCENE_HULL__INIT;
    own.n_points = 36;
    own.points = points;
    Moreau__V1__ScenePrimitive shape = MOREAU__V1__SCENE_PRIMITIVE__INIT, *shapes[] = {&shape};
    shape.shape_case = MOREAU__V1__SCENE_PRIMITIVE__SHAPE_HULL;
    shape.hull = &own;
    Moreau__V1__SceneBody body = MOREAU__V1__SCENE_BODY__INIT, *bodies[] = {&body};
    body.n_shapes = 1;
    body.shapes = shapes;
    Moreau__V1__Scene of_points = MOREAU__V1__SCENE__INIT;
    of_points.n_bodies = 1;
    of_points.bodies = bodies;
    Moreau__V1__WorldCreate create = MOREAU__V1__WORLD_CREATE__INIT;
    create.scene = &of_points;
    const uint64_t made = wire_accept(client, &create)->world_create->world;
    ask.world = made;
    scene = wire_accept(client, &ask)->world_scene->scene;
    ck_assert_double_eq_tol(scene->bodies[0]->mass, 1000.0 * 0.008, 1e-12);
    own.n_points = 3 * 4; // a face of it
    const Moreau__V1__Reply *reply = wire_refuse(client, &create, CODE(INVALID_ARGUMENT), NULL);
    ck_assert_str_eq(reply->status->field, "scene.bodies[0].shapes[0].hull.points");
    own.n_points = 7;
    reply = wire_refuse(client, &create, CODE(INVALID_ARGUMENT), NULL);
    ck_assert_str_eq(reply->status->field, "scene.bodies[0].shapes[0].hull.points");
    wire_close(client);
    server_stop(server);
}
END_TEST

// A pole of points: the template's hull is built once, and all worlds of both groups wear it.
START_TEST(groups_wear_hulls_of_points) {
    enum { WORLDS = 3, STEPS = 40 };
    ServerProcess *server = server_start("--workers 7");
    WireClient *client = wire_open(server->address[0]);
    double points[3 * 9] = {0};
    for (int i = 0; i < 8; i++) {
        for (int axis = 0; axis < 3; axis++) {
            points[3 * i + axis] = (axis == 2 ? 5.0 : 0.2) * corner_of(i, axis);
        }
    }
    Moreau__V1__SceneHull pole = MOREAU__V1__SCENE_HULL__INIT;
    pole.n_points = 27;
    pole.points = points;
    Moreau__V1__GroupCreate *create = wire_group_create_call(WORLDS);
    Moreau__V1__SceneBody *body = create->scene->bodies[1];
    Moreau__V1__ScenePrimitive shape = MOREAU__V1__SCENE_PRIMITIVE__INIT, *shapes[] = {&shape};
    shape.shape_case = MOREAU__V1__SCENE_PRIMITIVE__SHAPE_HULL;
    shape.hull = &pole;
    ck_assert_uint_eq(body->n_shapes, 0);
    body->n_shapes = 1;
    body->shapes = shapes;
    uint64_t group[2];
    for (int k = 0; k < 2; k++) {
        group[k] = wire_accept(client, create)->group_create->group;
    }
    float action[WORLDS] = {1.0f, -0.5f, 0.25f}, seen[WORLDS * WIRE_GROUP_SEEN];
    wire_group_reset(client, group[0]);
    wire_group_reset(client, group[1]);
    for (int i = 0; i < STEPS; i++) {
        const Moreau__V1__GroupStepReply *reply = wire_group_step(client, group[0], action, WORLDS);
        ck_assert_uint_eq(reply->n_observation, WORLDS * WIRE_GROUP_SEEN);
        memcpy(seen, reply->observation, sizeof(seen));
        reply = wire_group_step(client, group[1], action, WORLDS);
        ck_assert_mem_eq(seen, reply->observation, sizeof(seen));
    }
    wire_close(client);
    server_stop(server);
}
END_TEST

START_TEST(what_is_no_hull_is_refused_and_changes_nothing) {
    ServerProcess *server = server_start("--workers 2");
    WireClient *client = wire_open(server->address[0]);
    const uint64_t world = wire_small_world(client), hash = wire_hash(client, world);
    Wedge good, open, inward, many;
    make_wedge(&good);
    make_wedge(&open);
    make_wedge(&inward);
    make_wedge(&many);
    open.hull.n_faces = 4;
    uint32_t turned[3] = {1, 2, 0};
    inward.face[0].points = turned;
    double points[3 * 300] = {0};
    many.hull.n_points = 900;
    many.hull.points = points;
    const struct {
        Moreau__V1__Hull *hull;
        const char *field;
    } cases[] = {{&open.hull, "hulls[1].faces"},
                 {&inward.hull, "hulls[1].faces"},
                 {&many.hull, "hulls[1].points"}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        Moreau__V1__Hull *hulls[] = {&good.hull, cases[i].hull};
        Moreau__V1__WorldAddGeometries add = add_call(world, hulls, 2);
        const Moreau__V1__Reply *reply = wire_refuse(client, &add, CODE(INVALID_ARGUMENT), NULL);
        ck_assert_msg(strncmp(reply->status->field, cases[i].field, strlen(cases[i].field)) == 0,
                      "%s: %s", reply->status->field, reply->status->message);
    }
    Moreau__V1__WorldAddGeometries none = add_call(world, NULL, 0);
    wire_refuse(client, &none, CODE(INVALID_ARGUMENT), "hulls");
    uint64_t first = 1;
    Moreau__V1__WorldAddShapes shapes = shapes_call(world, &first);
    wire_refuse(client, &shapes, CODE(NOT_FOUND), "geometry[0]");
    shapes = shapes_call(world, NULL);
    wire_refuse(client, &shapes, CODE(INVALID_ARGUMENT), "geometry[0]");
    ck_assert_uint_eq(wire_hash(client, world), hash);
    wire_close(client);
    server_stop(server);
}
END_TEST

static TCase *case_hulls(void) {
    TCase *tcase = tcase_create("hulls");
    tcase_set_timeout(tcase, 120.0);
    tcase_add_test(tcase, what_wears_hulls_is_recorded_verified_and_forked);
    tcase_add_test(tcase, what_recordings_name_counts_against_a_token);
    tcase_add_test(tcase, a_hull_that_is_gone_from_the_file_is_named);
    tcase_add_test(tcase, a_snapshot_takes_its_hulls_to_another_server);
    tcase_add_test(tcase, a_scene_has_its_hulls);
    tcase_add_test(tcase, points_alone_are_built);
    tcase_add_test(tcase, groups_wear_hulls_of_points);
    tcase_add_test(tcase, what_is_no_hull_is_refused_and_changes_nothing);
    return tcase;
}

SUITE_MAIN("system/hulls", case_hulls)
