// SPDX-License-Identifier: MIT
// Ids that name nothing, names that are taken, columns of the wrong length, and limits that are
// reached, over real sockets: each refusal says what is wrong, and changes nothing.
#include "support/server_process.h"
#include "support/suite.h"
#include "support/wire_client.h"
#include "support/wire_world.h"

#include <stddef.h>
#include <string.h>

#define CODE(name) MOREAU__V1__STATUS__CODE__##name
#define NO_ID      UINT64_C(0xdeadbeef00000001)

static ServerProcess *server;
static WireClient *client;
static uint64_t world;

static void start_with(const char *options) {
    server = server_start(options);
    client = wire_open(server->address[0]);
    world = wire_small_world(client);
}

static void start(void) {
    start_with("--workers 1 --db @/episodes.db");
}

static void start_small(void) {
    start_with(
        "--workers 1 --db @/episodes.db --bodies-max 10 --worlds-max 4 --session-worlds-max 3");
}

static void stop(void) {
    wire_close(client);
    server_stop(server);
}

// ---- ids

static const uint64_t no_ids[] = {0, NO_ID, UINT64_MAX};

// What a group is to do is judged before its template is looked for.
static void give_layouts(Moreau__V1__GroupCreate *create) {
    static Moreau__V1__GroupChannel act = MOREAU__V1__GROUP_CHANNEL__INIT;
    static Moreau__V1__GroupChannel *one = &act;
    act.has_kind = true;
    act.kind = MOREAU__V1__GROUP_CHANNEL__KIND__BODY_FORCE;
    act.body = (char *)"ball";
    create->n_action = create->n_observation = 1;
    create->action = create->observation = &one;
}

START_TEST(an_unknown_world_is_refused_by_every_call_that_names_one) {
    uint64_t id = no_ids[_i];
    const ProtobufCMessageDescriptor *request = &moreau__v1__request__descriptor;
    size_t count = 0;
    for (unsigned i = 0; i < request->n_fields; i++) {
        const ProtobufCMessageDescriptor *call = request->fields[i].descriptor;
        if (request->fields[i].type != PROTOBUF_C_TYPE_MESSAGE) {
            continue;
        }
        const ProtobufCFieldDescriptor *field =
            protobuf_c_message_descriptor_get_field_by_name(call, "world");
        if (field == NULL) {
            continue;
        }
        max_align_t memory[64];
        ck_assert_uint_le(call->sizeof_message, sizeof(memory));
        call->message_init((ProtobufCMessage *)(void *)memory);
        *(uint64_t *)(void *)((char *)memory + field->offset) = id;
        if (call == &moreau__v1__group_create__descriptor) {
            give_layouts((Moreau__V1__GroupCreate *)(void *)memory);
        }
        *(protobuf_c_boolean *)(void *)((char *)memory + field->quantifier_offset) = 1;
        const Moreau__V1__Reply *reply = wire_refuse(client, memory, CODE(NOT_FOUND), "world");
        ck_assert_int_eq(reply->result_case, MOREAU__V1__REPLY__RESULT__NOT_SET);
        count++;
    }
    ck_assert_uint_ge(count, 8);
    Moreau__V1__WorldHash hash = MOREAU__V1__WORLD_HASH__INIT;
    hash.n_worlds = 1;
    hash.worlds = &id;
    const Moreau__V1__WorldHashReply *hashes =
        wire_fail(client, &hash, CODE(NOT_FOUND), "worlds")->world_hash;
    ck_assert_uint_eq(hashes->hash[0] | hashes->step[0], 0);
    Moreau__V1__WorldStep step = wire_step_call(&id, 1);
    const Moreau__V1__WorldStepReply *steps =
        wire_fail(client, &step, CODE(NOT_FOUND), "worlds")->world_step;
    ck_assert_uint_eq(steps->steps_done[0], 0);
    ck_assert_uint_eq(steps->failures[0]->world, id);
}
END_TEST

START_TEST(a_destroyed_world_is_unknown_for_ever) {
    wire_destroy(client, world);
    uint64_t next = wire_small_world(client);
    ck_assert_uint_ne(next, world);
    Moreau__V1__WorldStep step = wire_step_call(&world, 1);
    wire_fail(client, &step, CODE(NOT_FOUND), "worlds");
}
END_TEST

START_TEST(no_world_and_a_world_twice_are_refused) {
    Moreau__V1__WorldStep step = wire_step_call(&world, 1);
    step.n_worlds = 0;
    wire_refuse(client, &step, CODE(INVALID_ARGUMENT), "worlds");
    uint64_t before = wire_hash(client, world), twice[] = {world, world};
    step = wire_step_call(twice, 1);
    step.n_worlds = 2;
    wire_refuse(client, &step, CODE(INVALID_ARGUMENT), "worlds[1]");
    ck_assert_uint_eq(wire_hash(client, world), before);
}
END_TEST

START_TEST(unknown_bodies_shapes_and_materials_are_refused_by_name) {
    uint64_t before = wire_hash(client, world), id = NO_ID;
    double pose[14] = {[3] = 1, [10] = 1}, wrench[6] = {1}, size[3] = {0.1};
    Moreau__V1__WorldSet set = MOREAU__V1__WORLD_SET__INIT;
    set.has_world = 1, set.world = world;
    set.n_ids = 1, set.ids = &id;
    set.n_pose = 7, set.pose = pose;
    wire_refuse(client, &set, CODE(NOT_FOUND), "ids[0]");

    Moreau__V1__WorldStep step = wire_step_call(&world, 1);
    step.n_wrench_body = 1, step.wrench_body = &id;
    step.n_wrench = 6, step.wrench = wrench;
    wire_fail(client, &step, CODE(NOT_FOUND), "wrench_body[0]");

    uint64_t shapes[] = {2, 4}; // the world has three shapes
    Moreau__V1__WorldAddBodies add = MOREAU__V1__WORLD_ADD_BODIES__INIT;
    add.has_world = 1, add.world = world;
    add.n_pose = 14, add.pose = pose;
    add.n_shape = 2, add.shape = shapes;
    wire_refuse(client, &add, CODE(NOT_FOUND), "shape[1]");

    Moreau__V1__Primitive__Kind kind = MOREAU__V1__PRIMITIVE__KIND__SPHERE;
    Moreau__V1__WorldAddShapes shape = MOREAU__V1__WORLD_ADD_SHAPES__INIT;
    shape.has_world = 1, shape.world = world;
    shape.n_kind = 1, shape.kind = &kind;
    shape.n_size = 3, shape.size = size;
    shape.n_material = 1, shape.material = &id;
    wire_refuse(client, &shape, CODE(NOT_FOUND), "material[0]");
    ck_assert_uint_eq(wire_hash(client, world), before);
}
END_TEST

START_TEST(an_unknown_solver_is_refused_with_those_that_exist) {
    uint64_t before = wire_hash(client, world);
    Moreau__V1__WorldSettings settings = MOREAU__V1__WORLD_SETTINGS__INIT;
    settings.solver = (char *)"simplex";
    Moreau__V1__WorldSet set = MOREAU__V1__WORLD_SET__INIT;
    set.has_world = 1, set.world = world;
    set.settings = &settings;
    const Moreau__V1__Reply *reply =
        wire_refuse(client, &set, CODE(INVALID_ARGUMENT), "settings.solver");
    ck_assert_ptr_nonnull(strstr(reply->status->message, "mdp"));
    Moreau__V1__Solve solve = MOREAU__V1__SOLVE__INIT;
    solve.solver = settings.solver;
    wire_refuse(client, &solve, CODE(INVALID_ARGUMENT), "solver");
    ck_assert_uint_eq(wire_hash(client, world), before);
}
END_TEST

// ---- columns

static const struct {
    size_t pose, velocity, kind, shape, mass, inertia, center;
    const char *field;
} lengths[] = {
    {0, 0, 0, 0, 0, 0, 0, "pose"},      {13, 0, 0, 0, 0, 0, 0, "pose"},
    {14, 6, 0, 0, 0, 0, 0, "velocity"}, {14, 0, 1, 0, 0, 0, 0, "kind"},
    {14, 0, 0, 3, 0, 0, 0, "shape"},    {14, 0, 0, 0, 1, 0, 0, "mass"},
    {14, 0, 0, 0, 2, 13, 0, "inertia"}, {14, 0, 0, 0, 2, 12, 3, "center_of_mass"},
};

START_TEST(columns_of_the_wrong_length_are_refused_by_name) {
    double numbers[14] = {[3] = 1, [10] = 1};
    uint64_t shape[3] = {0};
    Moreau__V1__Body__Kind kind[3] = {MOREAU__V1__BODY__KIND__DYNAMIC};
    uint64_t before = wire_hash(client, world);
    Moreau__V1__WorldAddBodies add = MOREAU__V1__WORLD_ADD_BODIES__INIT;
    add.has_world = 1, add.world = world;
    add.n_pose = lengths[_i].pose, add.pose = numbers;
    add.n_velocity = lengths[_i].velocity, add.velocity = numbers;
    add.n_kind = lengths[_i].kind, add.kind = kind;
    add.n_shape = lengths[_i].shape, add.shape = shape;
    add.n_mass = lengths[_i].mass, add.mass = numbers;
    add.n_inertia = lengths[_i].inertia, add.inertia = numbers;
    add.n_center_of_mass = lengths[_i].center, add.center_of_mass = numbers;
    wire_refuse(client, &add, CODE(INVALID_ARGUMENT), lengths[_i].field);
    ck_assert_uint_eq(wire_hash(client, world), before);
}
END_TEST

START_TEST(wrenches_must_belong_to_somebody) {
    uint64_t other = wire_small_world(client), worlds[] = {world, other}, body[] = {2, 3};
    uint32_t counts[] = {1, 2};
    double wrench[12] = {0};
    uint64_t before = wire_hash(client, world);
    Moreau__V1__WorldStep step = wire_step_call(worlds, 1);
    step.n_worlds = 2;
    step.n_wrench_body = 2, step.wrench_body = body;
    step.n_wrench = 11, step.wrench = wrench;
    wire_refuse(client, &step, CODE(INVALID_ARGUMENT), "wrench");
    step.n_wrench = 12;
    wire_refuse(client, &step, CODE(INVALID_ARGUMENT), "wrench_count"); // whose are they?
    step.n_wrench_count = 2, step.wrench_count = counts;
    wire_refuse(client, &step, CODE(INVALID_ARGUMENT), "wrench_count"); // three of two
    counts[1] = UINT32_MAX;
    wire_refuse(client, &step, CODE(INVALID_ARGUMENT), "wrench_count");
    counts[1] = 1;
    step.n_wrench_count = 1;
    wire_refuse(client, &step, CODE(INVALID_ARGUMENT), "wrench_count");
    ck_assert_uint_eq(wire_hash(client, world), before);
    step.n_wrench_count = 2;
    wire_accept(client, &step);
}
END_TEST

static const uint64_t step_counts[] = {0, UINT64_C(1000000000001), UINT64_MAX};

START_TEST(a_number_of_steps_out_of_range_is_refused) {
    Moreau__V1__WorldStep step = wire_step_call(&world, step_counts[_i]);
    wire_refuse(client, &step, CODE(INVALID_ARGUMENT), "steps");
    ck_assert_uint_eq(wire_step_count(client, world), 0);
}
END_TEST

START_TEST(a_plane_cannot_move) {
    uint64_t before = wire_hash(client, world), shape = 1;
    double pose[7] = {[3] = 1};
    Moreau__V1__Body__Kind kinds[] = {MOREAU__V1__BODY__KIND__DYNAMIC,
                                      MOREAU__V1__BODY__KIND__KINEMATIC};
    for (size_t i = 0; i < 2; i++) {
        Moreau__V1__WorldAddBodies add = MOREAU__V1__WORLD_ADD_BODIES__INIT;
        add.has_world = 1, add.world = world;
        add.n_pose = 7, add.pose = pose;
        add.n_shape = 1, add.shape = &shape;
        add.n_kind = 1, add.kind = &kinds[i];
        const Moreau__V1__Reply *reply = wire_call(client, &add);
        ck_assert_int_eq(reply->status->code, CODE(INVALID_ARGUMENT));
        ck_assert_ptr_nonnull(reply->status->field);
    }
    ck_assert_uint_eq(wire_hash(client, world), before);
}
END_TEST

// ---- names and limits

START_TEST(a_name_is_taken_until_its_world_is_gone) {
    Moreau__V1__WorldCreate create = MOREAU__V1__WORLD_CREATE__INIT;
    create.name = (char *)"bench";
    uint64_t id = wire_accept(client, &create)->world_create->world;
    wire_refuse(client, &create, CODE(ALREADY_EXISTS), "name");
    wire_destroy(client, id);
    id = wire_accept(client, &create)->world_create->world;
    wire_destroy(client, id);
}
END_TEST

// The answer may reach the client before the loop has taken the failed world away.
START_TEST(a_create_that_failed_leaves_its_name_free) {
    double position[3] = {1e300, 0, 0};
    Moreau__V1__SceneBody body = MOREAU__V1__SCENE_BODY__INIT;
    Moreau__V1__SceneBody *bodies[] = {&body};
    Moreau__V1__Scene scene = MOREAU__V1__SCENE__INIT;
    body.n_position = 3, body.position = position;
    scene.n_bodies = 1, scene.bodies = bodies;
    for (int i = 0; i < 300; i++) {
        Moreau__V1__WorldCreate create = MOREAU__V1__WORLD_CREATE__INIT;
        create.name = (char *)"bench";
        create.scene = &scene;
        wire_refuse(client, &create, CODE(INVALID_ARGUMENT), "scene.bodies[0].position");
        create.scene = NULL;
        wire_destroy(client, wire_accept(client, &create)->world_create->world);
    }
    ck_assert_uint_eq(wire_stats(client, false)->world_count, 1);
}
END_TEST

START_TEST(a_world_holds_no_more_bodies_than_the_limit) {
    enum { MANY = 7 }; // and four are there: one more than ten
    double pose[7 * MANY] = {0}, mass[MANY], inertia[6 * MANY] = {0};
    for (int i = 0; i < MANY; i++) {
        pose[7 * i + 3] = mass[i] = 1;
        inertia[6 * i] = inertia[6 * i + 1] = inertia[6 * i + 2] = 1;
    }
    uint64_t before = wire_hash(client, world);
    Moreau__V1__WorldAddBodies add = MOREAU__V1__WORLD_ADD_BODIES__INIT;
    add.has_world = 1, add.world = world;
    add.n_pose = 7 * MANY, add.pose = pose;
    add.n_mass = MANY, add.mass = mass;
    add.n_inertia = 6 * MANY, add.inertia = inertia;
    const Moreau__V1__Reply *reply = wire_refuse(client, &add, CODE(RESOURCE_EXHAUSTED), NULL);
    ck_assert_ptr_nonnull(strstr(reply->status->message, "--bodies-max"));
    ck_assert_uint_eq(wire_hash(client, world), before);
    add.n_pose -= 7, add.n_mass -= 1, add.n_inertia -= 6;
    wire_accept(client, &add);
}
END_TEST

START_TEST(a_session_and_the_server_hold_no_more_worlds_than_their_limits) {
    Moreau__V1__WorldCreate create = MOREAU__V1__WORLD_CREATE__INIT;
    wire_accept(client, &create);
    uint64_t last = wire_accept(client, &create)->world_create->world;
    const Moreau__V1__Reply *reply = wire_refuse(client, &create, CODE(RESOURCE_EXHAUSTED), NULL);
    ck_assert_ptr_nonnull(strstr(reply->status->message, "--session-worlds-max"));
    WireClient *other = wire_open(server->address[0]);
    wire_accept(other, &create);
    reply = wire_refuse(other, &create, CODE(RESOURCE_EXHAUSTED), NULL);
    ck_assert_ptr_nonnull(strstr(reply->status->message, "--worlds-max"));
    wire_destroy(client, last);
    wire_accept(other, &create);
    wire_close(other);
}
END_TEST

#define COUNT(array) (int)(sizeof(array) / sizeof((array)[0]))

static TCase *case_ids(void) {
    TCase *tcase = tcase_create("ids");
    tcase_set_timeout(tcase, 60);
    tcase_add_checked_fixture(tcase, start, stop);
    tcase_add_loop_test(tcase, an_unknown_world_is_refused_by_every_call_that_names_one, 0,
                        COUNT(no_ids));
    tcase_add_test(tcase, a_destroyed_world_is_unknown_for_ever);
    tcase_add_test(tcase, no_world_and_a_world_twice_are_refused);
    tcase_add_test(tcase, unknown_bodies_shapes_and_materials_are_refused_by_name);
    tcase_add_test(tcase, an_unknown_solver_is_refused_with_those_that_exist);
    return tcase;
}

static TCase *case_columns(void) {
    TCase *tcase = tcase_create("columns");
    tcase_set_timeout(tcase, 60);
    tcase_add_checked_fixture(tcase, start, stop);
    tcase_add_loop_test(tcase, columns_of_the_wrong_length_are_refused_by_name, 0, COUNT(lengths));
    tcase_add_test(tcase, wrenches_must_belong_to_somebody);
    tcase_add_loop_test(tcase, a_number_of_steps_out_of_range_is_refused, 0, COUNT(step_counts));
    tcase_add_test(tcase, a_plane_cannot_move);
    tcase_add_test(tcase, a_name_is_taken_until_its_world_is_gone);
    tcase_add_test(tcase, a_create_that_failed_leaves_its_name_free);
    return tcase;
}

static TCase *case_limits(void) {
    TCase *tcase = tcase_create("limits");
    tcase_set_timeout(tcase, 60);
    tcase_add_checked_fixture(tcase, start_small, stop);
    tcase_add_test(tcase, a_world_holds_no_more_bodies_than_the_limit);
    tcase_add_test(tcase, a_session_and_the_server_hold_no_more_worlds_than_their_limits);
    return tcase;
}

SUITE_MAIN("system/bad_ids", case_ids, case_columns, case_limits)
