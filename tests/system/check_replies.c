// SPDX-License-Identifier: MIT
// What cannot be told is not done: with the shortest frames that a server takes, each call that
// changes something is made so that its reply would be too long, and refused, and afterwards all is
// as it was. A table of the calls that change something says which of them can be so long.
#include "support/suite.h"
#include "support/wire_episode.h"
#include "support/wire_group.h"

#include <stdlib.h>
#include <string.h>

#define CODE(name) MOREAU__V1__STATUS__CODE__##name

enum { FRAME_BYTES = 8192, WORLDS = 120, BODIES = 200, GROUP_WORLDS = 100 };

static WireDepot depot;
static WireClient *client;
static uint64_t worlds[WORLDS], wide; // wide: with so many bodies that their poses fill a frame
static uint64_t group;

static void make_wide(void) {
    double pose[7 * 50] = {0};
    for (size_t i = 0; i < 50; i++) {
        pose[7 * i] = 10.0 * (double)i;
        pose[7 * i + 3] = 1.0;
    }
    uint64_t shape[50];
    for (size_t i = 0; i < 50; i++) {
        shape[i] = 2;
    }
    wide = wire_small_world(client);
    Moreau__V1__WorldAddBodies add = MOREAU__V1__WORLD_ADD_BODIES__INIT;
    add.has_world = 1, add.world = wide;
    add.n_pose = 7 * 50, add.pose = pose;
    add.n_shape = 50, add.shape = shape;
    for (int i = 0; i < BODIES / 50; i++) {
        wire_accept(client, &add);
    }
}

static void start(void) {
    wire_depot_open(&depot, "--workers 2 --frame-bytes-max 8192");
    client = depot.client;
    make_wide();
    for (size_t i = 0; i < WORLDS; i++) {
        worlds[i] = wire_small_world(client);
    }
    group = wire_group(client, GROUP_WORLDS);
}

static void stop(void) {
    wire_depot_close(&depot);
}

// ---- all that can be seen of the server

typedef struct Sight {
    uint64_t world_count, steps, bodies, hash, hash_wide, recordings, groups;
} Sight;

static uint64_t hash_of_all(void) {
    uint64_t hash = 0;
    for (size_t i = 0; i < WORLDS; i++) {
        hash = hash * 31 + wire_hash(client, worlds[i]);
    }
    return hash;
}

static Sight look(void) {
    const Moreau__V1__StatsReply *stats = wire_stats(client, false);
    Moreau__V1__EpisodeList list = MOREAU__V1__EPISODE_LIST__INIT;
    Sight sight = {.world_count = stats->world_count,
                   .steps = stats->steps,
                   .bodies = stats->bodies,
                   .hash = hash_of_all(),
                   .hash_wide = wire_hash(client, wide)};
    sight.recordings = wire_accept(client, &list)->episode_list->total;
    Moreau__V1__GroupList groups = MOREAU__V1__GROUP_LIST__INIT;
    sight.groups = wire_accept(client, &groups)->group_list->total;
    return sight;
}

static void expect_refusal(const void *call) {
    const Moreau__V1__Reply *reply = wire_refuse(client, call, CODE(RESOURCE_EXHAUSTED), NULL);
    ck_assert_int_eq(reply->result_case, MOREAU__V1__REPLY__RESULT__NOT_SET);
    ck_assert_ptr_nonnull(strstr(reply->status->message, "frame-bytes-max"));
    // before anything was done, not after
    ck_assert_int_eq(strncmp(reply->status->message, "Nothing was done: ", 18), 0);
}

// ---- the calls

static void clone(void) {
    Moreau__V1__SnapshotClone call = MOREAU__V1__SNAPSHOT_CLONE__INIT;
    call.has_world = call.has_count = 1;
    call.world = worlds[0];
    call.count = 5000;
    expect_refusal(&call);
}

static void step_with_poses(void) {
    Moreau__V1__WorldStep call = wire_step_call(&wide, 3);
    call.has_poses = call.poses = 1;
    expect_refusal(&call);
}

static void step_with_velocities_single(void) {
    Moreau__V1__WorldStep call = wire_step_call(&wide, 3);
    call.has_velocities = call.velocities = 1;
    call.has_poses = call.poses = 1;
    call.has_single = call.single = 1;
    expect_refusal(&call);
}

static void step_many(void) {
    Moreau__V1__WorldStep call = wire_step_call(worlds, 3);
    call.n_worlds = WORLDS;
    expect_refusal(&call); // with reports
}

static void step_many_with_poses(void) {
    uint64_t some[] = {worlds[0], worlds[1], wide, worlds[2]};
    Moreau__V1__WorldStep call = wire_step_call(some, 3);
    call.n_worlds = 4;
    call.has_poses = call.poses = 1;
    expect_refusal(&call);
}

// Hashes of so many would fit, but each may be a failure to be told.
static void hash_many(void) {
    enum { COUNT = 200 };
    uint64_t nobody[COUNT];
    for (size_t i = 0; i < COUNT; i++) {
        nobody[i] = UINT64_C(0xffffffff00000000) + i;
    }
    Moreau__V1__WorldHash call = MOREAU__V1__WORLD_HASH__INIT;
    call.n_worlds = COUNT, call.worlds = nobody;
    expect_refusal(&call);
}

// Labels that no EpisodeStop could show.
static void start_episode(void) {
    enum { LABELS = 31, LABEL_BYTES = 230 };
    static char text[LABELS][LABEL_BYTES];
    char *labels[LABELS];
    for (int i = 0; i < LABELS; i++) {
        memset(text[i], 'a', LABEL_BYTES - 1);
        text[i][0] = (char)('A' + i); // labels differ
        labels[i] = text[i];
    }
    Moreau__V1__EpisodeStart call = wire_start_call(worlds[0]);
    call.n_labels = LABELS, call.labels = labels;
    expect_refusal(&call);
}

// A joint takes one byte in the call, and up to ten of its reply.
static void add_joints(void) {
    enum { COUNT = 1000 };
    static Moreau__V1__Joint__Kind kinds[COUNT];
    Moreau__V1__WorldAddJoints call = MOREAU__V1__WORLD_ADD_JOINTS__INIT;
    call.has_world = 1, call.world = wide;
    call.n_kind = COUNT, call.kind = kinds;
    expect_refusal(&call);
}

// A channel takes a few bytes in the call, and the names of its columns in the reply.
static void create_group(void) {
    enum { COUNT = 400 };
    Moreau__V1__GroupCreate *call = wire_group_create_call(1);
    Moreau__V1__GroupChannel *same[COUNT];
    for (size_t i = 0; i < COUNT; i++) {
        same[i] = call->observation[0];
    }
    call->n_extra = COUNT, call->extra = same;
    expect_refusal(call);
}

// Every episode may have ended, and every world have failed.
static void reset_group(void) {
    const Moreau__V1__GroupReset call = wire_group_reset_call(group);
    expect_refusal(&call);
}

static void step_group(void) {
    float action[GROUP_WORLDS] = {0};
    const Moreau__V1__GroupStep call = wire_group_step_call(group, action, GROUP_WORLDS);
    expect_refusal(&call);
}

// What would come back must fit as well.
static void send_group(void) {
    float action[GROUP_WORLDS] = {0};
    Moreau__V1__GroupSend call = MOREAU__V1__GROUP_SEND__INIT;
    call.has_group = 1, call.group = group;
    call.n_action = GROUP_WORLDS, call.action = action;
    expect_refusal(&call);
}

static const struct {
    const char *name;
    void (*make)(void); // a call whose reply would be too long; NULL: none can be
} calls[] = {
    // bodies of a scene, or materials, whose ids fill a frame cannot be unpacked from one
    {"WorldCreate", NULL},           {"WorldAddMaterials", NULL},
    {"WorldAddShapes", NULL},     // at most 10 bytes of each shape's 25
    {"WorldAddGeometries", NULL}, // at most 3 bytes of each hull's 150
    {"WorldAddBodies", NULL},     // and of each body's 56
    {"WorldAddJoints", add_joints},  {"WorldRemove", NULL},
    {"EpisodeFork", NULL}, // a world and its name
    {"WorldDestroy", NULL},          {"WorldSet", NULL},
    {"WorldStep", step_with_poses},  {"WorldStep", step_with_velocities_single},
    {"WorldStep", step_many},        {"WorldStep", step_many_with_poses},
    {"SnapshotRestore", NULL},       {"SnapshotClone", clone},
    {"EpisodeStart", start_episode}, {"GroupCreate", create_group},
    {"GroupReset", reset_group},     {"GroupStep", step_group},
    {"GroupSend", send_group},       {"GroupDestroy", NULL},
    {"WorldHash", hash_many}, // which changes nothing, but takes long
};

enum { CALL_COUNT = sizeof(calls) / sizeof(calls[0]) };

START_TEST(a_reply_that_would_be_too_long_is_refused_before_anything_is_done) {
    if (calls[_i].make == NULL) {
        return;
    }
    Sight before = look();
    calls[_i].make();
    Sight after = look();
    ck_assert_uint_eq(after.world_count, before.world_count);
    ck_assert_uint_eq(after.steps, before.steps);
    ck_assert_uint_eq(after.bodies, before.bodies);
    ck_assert_uint_eq(after.hash, before.hash);
    ck_assert_uint_eq(after.hash_wide, before.hash_wide);
    ck_assert_uint_eq(after.recordings, before.recordings);
    ck_assert_uint_eq(after.groups, before.groups);
}
END_TEST

// A new call that changes a world must be thought of here.
START_TEST(every_call_that_changes_a_world_is_in_the_table) {
    Moreau__V1__Describe describe = MOREAU__V1__DESCRIBE__INIT;
    ServerProcess *other = server_start("--workers 1");
    WireClient *asker = wire_open(other->address[0]);
    const Moreau__V1__DescribeReply *reply = wire_accept(asker, &describe)->describe;
    for (size_t i = 0; i < reply->n_calls; i++) {
        bool found = !reply->calls[i]->mutates;
        for (int k = 0; k < CALL_COUNT && !found; k++) {
            found = strcmp(calls[k].name, reply->calls[i]->name) == 0;
        }
        ck_assert_msg(found, "%s changes a world and is not in the table", reply->calls[i]->name);
    }
    wire_close(asker);
    server_stop(other);
}
END_TEST

// ---- what is known late

// How many bodies the worlds will have when the step's turn comes is not known when it arrives.
START_TEST(bodies_that_are_being_added_are_counted_before_any_world_is_stepped) {
    enum { ADDED = 45 };
    double pose[7 * ADDED] = {0};
    for (size_t i = 0; i < ADDED; i++) {
        pose[7 * i] = 10.0 * (double)i;
        pose[7 * i + 3] = 1.0;
    }
    uint64_t shape[ADDED];
    for (size_t i = 0; i < ADDED; i++) {
        shape[i] = 2;
    }
    Moreau__V1__WorldAddBodies add = MOREAU__V1__WORLD_ADD_BODIES__INIT;
    add.has_world = 1;
    add.n_pose = 7 * ADDED, add.pose = pose;
    add.n_shape = ADDED, add.shape = shape;
    Moreau__V1__WorldStep step = wire_step_call(worlds, 1);
    step.n_worlds = 4;
    step.has_poses = step.poses = 1;
    step.has_reports = 1, step.reports = 0;
    uint64_t steps[4] = {0};
    for (int round = 0; round < 8; round++) {
        add.world = worlds[round % 4];
        wire_submit(client, &add);
        wire_submit(client, &step);
        wire_expect(wire_receive(client), CODE(OK), NULL);
        const Moreau__V1__Reply *reply = wire_receive(client);
        // two additions fit into a frame of 8 KiB, three do not: 45 bodies' poses take 2,520 bytes
        wire_expect(reply, round < 2 ? CODE(OK) : CODE(RESOURCE_EXHAUSTED), NULL);
        for (int i = 0; i < 4; i++) {
            steps[i] += round < 2;
            ck_assert_uint_eq(wire_step_count(client, worlds[i]), steps[i]);
        }
    }
}
END_TEST

// However many bodies there are beside the failures that must be told: either all is told, or
// nothing was done.
START_TEST(failures_beside_poses_are_counted_before_any_world_is_stepped) {
    enum { NOBODIES = 60, ADDED = 2, ROUNDS = 70 };
    double pose[7 * ADDED] = {[3] = 1.0, [7 + 3] = 1.0};
    uint64_t ids[1 + NOBODIES] = {worlds[0]}, steps = 0, refusals = 0;
    for (size_t i = 1; i <= NOBODIES; i++) {
        ids[i] = UINT64_C(0xffffffff00000000) + i;
    }
    Moreau__V1__WorldAddBodies add = MOREAU__V1__WORLD_ADD_BODIES__INIT;
    add.has_world = 1, add.world = worlds[0];
    add.n_pose = 7 * ADDED, add.pose = pose;
    add.n_mass = ADDED, add.mass = (double[]){1.0, 1.0};
    add.n_inertia = 6 * ADDED, add.inertia = (double[]){1, 1, 1, 0, 0, 0, 1, 1, 1, 0, 0, 0};
    Moreau__V1__WorldStep step = wire_step_call(ids, 1);
    step.n_worlds = 1 + NOBODIES;
    step.has_poses = step.poses = 1;
    step.has_reports = 1, step.reports = 0;
    for (int round = 0; round < ROUNDS; round++) {
        for (size_t i = 0; i < ADDED; i++) {
            pose[7 * i] = 10.0 * (100.0 + ADDED * round + (double)i);
        }
        wire_accept(client, &add);
        const Moreau__V1__Reply *reply = wire_call(client, &step);
        if (reply->status->code == CODE(OK)) {
            ck_assert_uint_eq(reply->world_step->n_failures, NOBODIES);
            ck_assert_uint_eq(refusals, 0);
            steps++;
        } else {
            wire_expect(reply, CODE(RESOURCE_EXHAUSTED), NULL);
            refusals++;
        }
        ck_assert_uint_eq(wire_step_count(client, worlds[0]), steps);
    }
    ck_assert_uint_gt(steps, 0);
    ck_assert_uint_gt(refusals, 0); // 140 bodies' poses take 7,840 bytes of 8,192
}
END_TEST

// Rising numbers of worlds that are not there, behind one that is.
START_TEST(failures_alone_are_counted_before_any_world_is_stepped) {
    enum { NOBODIES_MAX = 400 };
    uint64_t ids[1 + NOBODIES_MAX] = {worlds[0]}, steps = 0, refusals = 0;
    for (size_t i = 1; i <= NOBODIES_MAX; i++) {
        ids[i] = UINT64_C(0xffffffff00000000) + i;
    }
    Moreau__V1__WorldStep step = wire_step_call(ids, 1);
    step.has_reports = 1, step.reports = 0;
    for (size_t nobodies = 10; nobodies <= NOBODIES_MAX; nobodies += 10) {
        step.n_worlds = 1 + nobodies;
        const Moreau__V1__Reply *reply = wire_call(client, &step);
        if (reply->status->code == CODE(OK)) {
            ck_assert_uint_eq(reply->world_step->n_failures, nobodies);
            steps++;
        } else {
            wire_expect(reply, CODE(RESOURCE_EXHAUSTED), NULL);
            refusals++;
        }
        ck_assert_uint_eq(wire_step_count(client, worlds[0]), steps);
    }
    ck_assert_uint_gt(steps, 0);
    ck_assert_uint_gt(refusals, 0); // 400 take 20 bytes each, and their own numbers
}
END_TEST

// All fail, and each is told; of those whose sentences do not fit, the code and the world.
START_TEST(a_hundred_failures_fit_into_a_frame) {
    enum { COUNT = 80 };
    uint64_t nobody[COUNT];
    for (size_t i = 0; i < COUNT; i++) {
        nobody[i] = UINT64_C(0xffffffff00000000) + i;
    }
    Moreau__V1__WorldHash hash = MOREAU__V1__WORLD_HASH__INIT;
    hash.n_worlds = COUNT, hash.worlds = nobody;
    const Moreau__V1__WorldHashReply *reply = wire_accept(client, &hash)->world_hash;
    ck_assert_uint_eq(reply->n_failures, COUNT);
    ck_assert_uint_eq(reply->n_hash, COUNT);
    for (size_t i = 0; i < COUNT; i++) {
        ck_assert_int_eq(reply->failures[i]->code, CODE(NOT_FOUND));
        ck_assert_uint_eq(reply->failures[i]->world, nobody[i]);
        ck_assert_uint_eq(reply->hash[i] | reply->step[i], 0);
    }
    ck_assert_ptr_nonnull(reply->failures[0]->message);
    ck_assert_ptr_null(reply->failures[COUNT - 1]->message);
}
END_TEST

static TCase *case_replies(void) {
    TCase *tcase = tcase_create("replies");
    tcase_set_timeout(tcase, 60);
    tcase_add_checked_fixture(tcase, start, stop);
    tcase_add_loop_test(tcase, a_reply_that_would_be_too_long_is_refused_before_anything_is_done, 0,
                        CALL_COUNT);
    tcase_add_test(tcase, every_call_that_changes_a_world_is_in_the_table);
    tcase_add_test(tcase, bodies_that_are_being_added_are_counted_before_any_world_is_stepped);
    tcase_add_test(tcase, failures_beside_poses_are_counted_before_any_world_is_stepped);
    tcase_add_test(tcase, failures_alone_are_counted_before_any_world_is_stepped);
    tcase_add_test(tcase, a_hundred_failures_fit_into_a_frame);
    return tcase;
}

SUITE_MAIN("system/replies", case_replies)
