// SPDX-License-Identifier: MIT
// Divided worlds that are broken off and gone on with: in a session that is cut and comes back, in
// groups that begin episodes anew and go on from a recording or a save, and behind forks. A pole
// that falls among balls and walls sees every contact of every substep, and all of it comes to the
// same bits as on the server that nobody disturbed.
#include "support/suite.h"
#include "support/wire_episode.h"
#include "support/wire_group.h"
#include "support/wire_proxy.h"
#include "support/wire_snapshot.h"

#include "moreau.h"

#include <stdlib.h>
#include <string.h>

// Two ranges: 64 worlds and 2; each step of the group is of two steps of a world.
enum { WORLDS = 66, SEEN = WIRE_GROUP_SEEN, NUMBERS = WORLDS * SEEN };
enum { CALLS = 75, LIMIT = 25, REPEATS = 2, SUBSTEPS = 3, KEYFRAME_STEPS = 8 };

static WireDepot depot;

static void open_depot(void) {
    wire_depot_open(&depot, "--workers 2");
}

static void close_depot(void) {
    wire_depot_close(&depot);
}

// ---- a pole among balls and walls

static double *three(double x, double y, double z) {
    static double numbers[12][3];
    static size_t count;
    double *made = numbers[count++ % 12];
    made[0] = x, made[1] = y, made[2] = z;
    return made;
}

typedef struct Part {
    Moreau__V1__SceneBody body;
    Moreau__V1__ScenePrimitive shape, *shapes[1];
    Moreau__V1__SceneBox box;
    Moreau__V1__SceneSphere sphere;
} Part;

static void wear(Part *part) {
    moreau__v1__scene_primitive__init(&part->shape);
    moreau__v1__scene_box__init(&part->box);
    moreau__v1__scene_sphere__init(&part->sphere);
    part->shapes[0] = &part->shape;
    part->body.n_shapes = 1, part->body.shapes = part->shapes;
    part->shape.material = (char *)"rubber";
}

static void be_ball(Part *part, double radius) {
    wear(part);
    part->shape.shape_case = MOREAU__V1__SCENE_PRIMITIVE__SHAPE_SPHERE;
    part->shape.sphere = &part->sphere;
    part->sphere.has_radius = 1, part->sphere.radius = radius;
}

static Moreau__V1__SceneBody *ball(Part *part, double x) {
    moreau__v1__scene_body__init(&part->body);
    part->body.n_position = 3, part->body.position = three(x, 0.0, 0.95);
    be_ball(part, 0.1);
    return &part->body;
}

static Moreau__V1__SceneBody *block(Part *part, const double at[3], const double half[3]) {
    moreau__v1__scene_body__init(&part->body);
    part->body.has_kind = 1, part->body.kind = MOREAU__V1__BODY__KIND__STATIC;
    part->body.n_position = 3, part->body.position = three(at[0], at[1], at[2]);
    wear(part);
    part->shape.shape_case = MOREAU__V1__SCENE_PRIMITIVE__SHAPE_BOX;
    part->shape.box = &part->box;
    part->box.n_half_extents = 3, part->box.half_extents = three(half[0], half[1], half[2]);
    return &part->body;
}

// The pole of Gymnasium's cart bears a ball, whose lowest point is 5 cm above a shelf; two balls
// lie on it, between the pole and two walls.
static void furnish(Moreau__V1__Scene *scene) {
    enum { CART, POLE, BODIES = 7 };
    static Part parts[BODIES];
    static Moreau__V1__SceneBody *bodies[BODIES];
    static Moreau__V1__Material rubber, *materials[1] = {&rubber};
    moreau__v1__material__init(&rubber);
    rubber.name = (char *)"rubber";
    rubber.has_friction = rubber.has_restitution = 1;
    rubber.friction = 0.4, rubber.restitution = 0.5;
    scene->n_materials = 1, scene->materials = materials;
    bodies[CART] = scene->bodies[CART];
    parts[POLE].body = *scene->bodies[POLE];
    bodies[POLE] = &parts[POLE].body;
    be_ball(&parts[POLE], 0.1);
    parts[POLE].shape.n_position = 3, parts[POLE].shape.position = three(0.0, 0.0, 0.5);
    bodies[2] = ball(&parts[2], -0.3);
    bodies[3] = ball(&parts[3], 0.3);
    bodies[4] = block(&parts[4], (double[]){0, 0, 0.8}, (double[]){1.0, 0.2, 0.05});
    bodies[5] = block(&parts[5], (double[]){-0.6, 0, 1.0}, (double[]){0.05, 0.2, 0.2});
    bodies[6] = block(&parts[6], (double[]){0.6, 0, 1.0}, (double[]){0.05, 0.2, 0.2});
    scene->n_bodies = BODIES, scene->bodies = bodies;
}

static Moreau__V1__GroupCreate *create_call(int autoreset, uint32_t substeps) {
    static Moreau__V1__GroupRecord record;
    moreau__v1__group_record__init(&record);
    record.has_keyframe_steps = 1, record.keyframe_steps = KEYFRAME_STEPS;
    Moreau__V1__GroupCreate *call = wire_group_create_call(WORLDS);
    furnish(call->scene);
    call->scene->settings->has_substeps = 1, call->scene->settings->substeps = substeps;
    call->record = &record;
    call->has_substeps = 1, call->substeps = REPEATS;
    call->has_autoreset = 1, call->autoreset = (Moreau__V1__Group__Autoreset)autoreset;
    call->has_step_limit = 1, call->step_limit = LIMIT;
    call->bounds[1]->low = -0.3, call->bounds[1]->high = 0.28; // behind where balls are met, at 0.1
    if (call->autoreset == MOREAU__V1__GROUP__AUTORESET__DISABLED) {
        call->n_bounds = 0, call->has_step_limit = 0; // only resets end episodes
    }
    return call;
}

// ---- a learner, whose calls follow from their numbers

static float action_of(uint64_t world, uint64_t call) {
    const uint64_t mixed = (world * 2654435761u + call * 40503u) >> 3;
    return (float)(mixed % 2001) / 1000.0f - 1.0f;
}

// One call in 29 begins every third world anew, wherever that is in its episode; all others step
// all. What is not told again stays as it was told.
static void act(WireClient *client, uint64_t group, uint64_t call, float row[NUMBERS]) {
    const Moreau__V1__GroupStepReply *reply;
    uint8_t mask[(WORLDS + 7) / 8] = {0};
    if (call % 29 == 28) {
        for (uint32_t i = (uint32_t)(call % 3); i < WORLDS; i += 3) {
            mask[i / 8] |= (uint8_t)(1u << i % 8);
        }
        Moreau__V1__GroupReset reset = wire_group_reset_call(group);
        reset.has_mask = 1, reset.mask = (ProtobufCBinaryData){sizeof(mask), mask};
        reply = wire_accept(client, &reset)->group_step;
    } else if (call == 0) {
        memset(mask, 0xff, sizeof(mask));
        reply = wire_group_reset(client, group);
    } else {
        float action[WORLDS];
        for (uint32_t i = 0; i < WORLDS; i++) {
            action[i] = action_of(i, call);
        }
        memset(mask, 0xff, sizeof(mask));
        reply = wire_group_step(client, group, action, WORLDS);
    }
    ck_assert_uint_eq(reply->n_failures, 0);
    size_t told = 0;
    for (uint32_t i = 0; i < WORLDS; i++) {
        if ((mask[i / 8] >> i % 8 & 1) != 0) {
            memcpy(row + (size_t)i * SEEN, reply->observation + SEEN * told++,
                   SEEN * sizeof(float));
        }
    }
    ck_assert_uint_eq(reply->n_observation, SEEN * told);
}

typedef struct Course {
    float row[CALLS][NUMBERS]; // what is seen behind each call
    uint64_t group;
    char recording[WIRE_EPISODE_ID_BYTES];
} Course;

static void play(Course *course, const Moreau__V1__GroupCreate *call) {
    const Moreau__V1__GroupCreateReply *reply = wire_accept(depot.client, call)->group_create;
    course->group = reply->group;
    memcpy(course->recording, reply->recording, sizeof(course->recording));
    for (uint64_t i = 0; i < CALLS; i++) {
        if (i > 0) {
            memcpy(course->row[i], course->row[i - 1], sizeof(course->row[i]));
        }
        act(depot.client, course->group, i, course->row[i]);
    }
}

static void destroy(WireClient *client, uint64_t group) {
    Moreau__V1__GroupDestroy call = MOREAU__V1__GROUP_DESTROY__INIT;
    call.has_group = 1, call.group = group;
    wire_accept(client, &call);
}

// To the bit.
static bool are_same(const void *a, const void *b, size_t bytes) {
    return memcmp(a, b, bytes) == 0;
}

// A group that stands behind so many calls, and takes the others.
static void expect_course(const Course *course, WireClient *client, uint64_t group, uint64_t from) {
    static float row[NUMBERS];
    memcpy(row, course->row[from - 1], sizeof(row));
    for (uint64_t i = from; i < CALLS; i++) {
        act(client, group, i, row);
        ck_assert_msg(are_same(row, course->row[i], sizeof(row)),
                      "behind call %llu, from %llu on, other numbers are seen",
                      (unsigned long long)i, (unsigned long long)from);
    }
}

// ---- groups

// From its recording at any call, on the next server; and from a save of that, on another one.
START_TEST(a_group_goes_on_from_its_recording_and_from_a_save_of_that) {
    static Course course, undivided;
    static const uint64_t from[] = {9, 29, 60};
    play(&course, create_call(_i, SUBSTEPS));
    destroy(depot.client, course.group);
    play(&undivided, create_call(_i, 1));
    // who touched nothing would have seen nearly the same
    ck_assert_mem_ne(course.row[CALLS - 1], undivided.row[CALLS - 1], sizeof(course.row[0]));
    wire_depot_stop(&depot);
    wire_depot_restart(&depot, "--workers 1");
    ServerProcess *there = server_start("--workers 3");
    WireClient *client = wire_open(there->address[0]);
    for (size_t i = 0; i < sizeof(from) / sizeof(from[0]); i++) {
        Moreau__V1__GroupCreate resume = MOREAU__V1__GROUP_CREATE__INIT;
        resume.recording = course.recording;
        resume.has_step = 1, resume.step = from[i];
        const Moreau__V1__GroupCreateReply *reply =
            wire_accept(depot.client, &resume)->group_create;
        ck_assert_uint_eq(reply->resumed->step, from[i]);
        ck_assert_uint_eq(reply->resumed->substeps, REPEATS);
        const uint64_t group = reply->group;
        Moreau__V1__GroupSave save = MOREAU__V1__GROUP_SAVE__INIT;
        save.has_group = 1, save.group = group;
        const uint64_t saved = wire_accept(depot.client, &save)->group_save->snapshot;
        const WireBytes bytes = wire_snapshot_read(depot.client, saved, 10000);
        Moreau__V1__GroupCreate again = MOREAU__V1__GROUP_CREATE__INIT;
        again.has_saved = 1, again.saved = wire_snapshot_upload(client, bytes, 777);
        const uint64_t other = wire_accept(client, &again)->group_create->group;
        free(bytes.data);
        expect_course(&course, depot.client, group, from[i]);
        expect_course(&course, client, other, from[i]);
        destroy(depot.client, group);
        destroy(client, other);
    }
    wire_close(client);
    server_stop(there);
}
END_TEST

enum { EPISODES_MAX = 10000 };

typedef struct Listed {
    char id[WIRE_EPISODE_ID_BYTES];
    uint64_t steps;
} Listed;

static const Moreau__V1__EpisodeForkReply *fork_at(const char *episode, uint64_t step) {
    Moreau__V1__EpisodeFork call = MOREAU__V1__EPISODE_FORK__INIT;
    call.episode = (char *)episode;
    call.has_step = 1, call.step = step;
    return wire_accept(depot.client, &call)->episode_fork;
}

// A world that is forked out of a group is divided as that was: pushed as the group pushed it, it
// is, behind each of the group's steps, where a fork behind that step is. Up to the 28th, a call is
// a step of each world's first episode.
START_TEST(forks_of_a_group_go_on_as_it_did) {
    enum { WATCHED = 8, UNTIL = 20 };
    static Course course;
    play(&course, create_call(_i, SUBSTEPS));
    destroy(depot.client, course.group);
    Moreau__V1__EpisodeList list = MOREAU__V1__EPISODE_LIST__INIT;
    list.recording = course.recording;
    list.has_count = 1, list.count = EPISODES_MAX;
    const Moreau__V1__EpisodeListReply *listed = wire_accept(depot.client, &list)->episode_list;
    static Listed episode[EPISODES_MAX];
    const size_t count = listed->n_episodes;
    size_t first = count;
    ck_assert_uint_gt(count, WORLDS);
    for (size_t i = 0; i < count; i++) {
        const Moreau__V1__EpisodeInfo *info = listed->episodes[i];
        memcpy(episode[i].id, info->episode, sizeof(episode[i].id));
        episode[i].steps = info->steps;
        first = info->turn == 0 && info->world_index == WATCHED ? i : first;
    }
    ck_assert_uint_lt(first, count);
    ck_assert_uint_gt(episode[first].steps, UNTIL / 2);
    for (size_t i = 0; i < count; i += 7) {
        wire_expect_verified(depot.client, episode[i].id, episode[i].steps);
    }
    uint64_t world = fork_at(episode[first].id, 0)->world, slider = 1;
    for (uint64_t step = 1; step <= UNTIL && step <= episode[first].steps; step++) {
        double effort = 10.0 * (double)action_of(WATCHED, step);
        Moreau__V1__WorldStep call = wire_step_call(&world, REPEATS);
        call.n_joints = 1, call.joints = &slider;
        call.n_joint_effort = 1, call.joint_effort = &effort;
        wire_accept(depot.client, &call);
        ck_assert_uint_eq(wire_hash(depot.client, world), fork_at(episode[first].id, step)->hash);
    }
    Moreau__V1__WorldGet get = MOREAU__V1__WORLD_GET__INIT;
    get.has_world = 1, get.world = world;
    ck_assert_uint_eq(wire_accept(depot.client, &get)->world_get->settings->substeps, SUBSTEPS);
}
END_TEST

// ---- a session that comes back

typedef struct Session {
    MoreauClient *client;
    Moreau__V1__Reply *reply;
} Session;

static const Moreau__V1__Reply *ask(Session *session, const void *call) {
    Moreau__V1__Request request = wire_request(call);
    const size_t count = moreau__v1__request__get_packed_size(&request);
    uint8_t *bytes = malloc(count);
    ck_assert_ptr_nonnull(bytes);
    moreau__v1__request__pack(&request, bytes);
    MoreauReply *raw;
    const MoreauStatus status = moreau_call(session->client, bytes, count, &raw);
    ck_assert_msg(status == MOREAU_OK, "%s", moreau_error(session->client)->message);
    free(bytes);
    size_t answered;
    const void *answer = moreau_reply_bytes(raw, &answered);
    if (session->reply != NULL) {
        moreau__v1__reply__free_unpacked(session->reply, NULL);
    }
    session->reply = moreau__v1__reply__unpack(NULL, answered, answer);
    ck_assert_ptr_nonnull(session->reply);
    moreau_reply_free(raw);
    return session->reply;
}

// A greeting that is cut opens no session: there is nothing to resume, and the caller tries again.
static Session open_session(const char *address) {
    MoreauOptions options = moreau_options_default();
    options.reconnect =
        (MoreauReconnect){.attempts = 1000, .wait_ms = 1, .wait_ms_max = 8, .total_ms = 30000};
    Session session = {0};
    for (int i = 0; i < 1000 && session.client == NULL; i++) {
        moreau_connect(address, &options, &session.client, NULL);
    }
    ck_assert_ptr_nonnull(session.client);
    return session;
}

static void close_session(Session *session) {
    moreau__v1__reply__free_unpacked(session->reply, NULL);
    moreau_disconnect(session->client);
}

enum { TURN = 20, STEPS = 4 * TURN };

typedef struct Story {
    uint64_t hash[STEPS + 1];
    float row[STEPS][NUMBERS];
    char episode[WIRE_EPISODE_ID_BYTES];
} Story;

static uint64_t hash_of(Session *session, uint64_t world) {
    Moreau__V1__WorldHash call = MOREAU__V1__WORLD_HASH__INIT;
    call.n_worlds = 1, call.worlds = &world;
    return ask(session, &call)->world_hash->hash[0];
}

// A world that is divided one way and another while it is recorded, and a group beside it.
static void tell(Session *session, Story *story, uint64_t world) {
    static const uint32_t substeps[STEPS / TURN] = {4, 1, 3, 16};
    Moreau__V1__GroupCreate *create = create_call(1, SUBSTEPS);
    create->record = NULL;
    const uint64_t group = ask(session, create)->group_create->group;
    const Moreau__V1__GroupReset reset = wire_group_reset_call(group);
    ask(session, &reset);
    const Moreau__V1__EpisodeStart start = wire_start_call(world);
    memcpy(story->episode, ask(session, &start)->episode_start->episode, sizeof(story->episode));
    story->hash[0] = hash_of(session, world);
    for (uint64_t i = 0; i < STEPS; i++) {
        if (i % TURN == 0) {
            Moreau__V1__WorldSettings settings = MOREAU__V1__WORLD_SETTINGS__INIT;
            settings.has_substeps = 1, settings.substeps = substeps[i / TURN];
            Moreau__V1__WorldSet set = MOREAU__V1__WORLD_SET__INIT;
            set.has_world = 1, set.world = world, set.settings = &settings;
            ask(session, &set);
        }
        const Moreau__V1__WorldStep step = wire_step_call(&world, 1);
        ask(session, &step);
        story->hash[i + 1] = hash_of(session, world);
        float action[WORLDS];
        for (uint32_t k = 0; k < WORLDS; k++) {
            action[k] = action_of(k, i);
        }
        const Moreau__V1__GroupStep call = wire_group_step_call(group, action, WORLDS);
        const Moreau__V1__GroupStepReply *reply = ask(session, &call)->group_step;
        ck_assert_uint_eq(reply->n_observation, NUMBERS);
        memcpy(story->row[i], reply->observation, sizeof(story->row[i]));
    }
    Moreau__V1__EpisodeStop stop = MOREAU__V1__EPISODE_STOP__INIT;
    stop.has_world = 1, stop.world = world;
    ck_assert_uint_eq(ask(session, &stop)->episode_stop->episode->steps, STEPS);
}

static uint64_t shared_heap(void) {
    return wire_world(depot.client, 6, 5, MOREAU__V1__WORLD__LIFETIME__SERVER).id;
}

// Cut dozens of times, a step is taken once, in as many substeps as it had; and the recording
// forks, on the next server, as the calm world went on, over a change of substeps as well, when
// that is told again.
START_TEST(a_session_that_is_cut_sees_what_a_calm_one_does) {
    static Story calm, rough;
    const char *address = depot.server->address[0];
    Session session = open_session(address);
    tell(&session, &calm, shared_heap());
    close_session(&session);
    // a group's rows are 1.1 KiB: of so few a cut comes every dozen calls
    WireProxy *proxy = wire_proxy_start(&(WireProxyDef){
        .address = address, .seed = 11, .up_bytes_max = 9000, .down_bytes_max = 40000});
    session = open_session(wire_proxy_address(proxy));
    tell(&session, &rough, shared_heap());
    close_session(&session);
    ck_assert_uint_gt(wire_proxy_cuts(proxy), 10);
    wire_proxy_stop(proxy);
    ck_assert_mem_eq(calm.hash, rough.hash, sizeof(calm.hash));
    ck_assert_mem_eq(calm.row, rough.row, sizeof(calm.row));
    wire_expect_verified(depot.client, rough.episode, STEPS);
    wire_depot_stop(&depot);
    wire_depot_restart(&depot, "--workers 1");
    static const uint64_t from[] = {3, TURN, 2 * TURN + 7, STEPS - 5};
    for (size_t i = 0; i < sizeof(from) / sizeof(from[0]); i++) {
        const Moreau__V1__EpisodeForkReply *fork = fork_at(rough.episode, from[i]);
        const uint64_t world = fork->world;
        ck_assert_uint_eq(fork->hash, calm.hash[from[i]]);
        for (uint64_t step = from[i] + 1; step <= (from[i] / TURN + 1) * TURN; step++) {
            if (from[i] % TURN == 0) {
                break; // what it is told next, the fork has not heard
            }
            wire_step(depot.client, world, 1);
            ck_assert_uint_eq(wire_hash(depot.client, world), calm.hash[step]);
        }
    }
}
END_TEST

static TCase *case_resume(void) {
    TCase *tcase = tcase_create("resume");
    tcase_add_checked_fixture(tcase, open_depot, close_depot);
    tcase_set_timeout(tcase, 120.0);
    tcase_add_loop_test(tcase, a_group_goes_on_from_its_recording_and_from_a_save_of_that, 0, 3);
    tcase_add_loop_test(tcase, forks_of_a_group_go_on_as_it_did, 0, 3);
    tcase_add_test(tcase, a_session_that_is_cut_sees_what_a_calm_one_does);
    return tcase;
}

SUITE_MAIN("system/substeps_resume", case_resume)
