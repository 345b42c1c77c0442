// SPDX-License-Identifier: MIT
// Who touched whom, from end to end: recorded where it is asked for, the same on any number of
// workers and after --recover, proven by verification, gone with its episode, whole after kill -9;
// and episodes are found by it, with a word for those of which nobody noted it. These are stepped
// again where that is asked for, and tell the same.
#include "log/format/events.h"
#include "support/campaign.h"
#include "support/machine.h"
#include "support/server_shell.h"
#include "support/suite.h"
#include "support/wire_episode.h"
#include "support/wire_group.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

#define CODE(name) MOREAU__V1__STATUS__CODE__##name

enum { BODIES = 12, SEED = 5, STEPS = 400, KEYFRAME_STEPS = 60 };

static WireDepot depot;
static WireEpisode episode;
static bool simulates; // what was not recorded is asked for all the same

// An episode of a heap that falls, in which a body is taken out between two steps.
static void record(bool events) {
    uint64_t world =
        wire_world(depot.client, BODIES, SEED, MOREAU__V1__WORLD__LIFETIME__SESSION).id;
    Moreau__V1__EpisodeStart start = wire_start_call(world);
    start.has_keyframe_steps = 1;
    start.keyframe_steps = KEYFRAME_STEPS;
    start.has_events = events;
    start.events = events;
    episode = wire_record(depot.client, &start);
    wire_step(depot.client, world, STEPS / 2);
    uint64_t gone = 3;
    Moreau__V1__WorldRemove remove = MOREAU__V1__WORLD_REMOVE__INIT;
    remove.has_world = 1;
    remove.world = world;
    remove.n_bodies = 1;
    remove.bodies = &gone;
    wire_accept(depot.client, &remove);
    wire_step(depot.client, world, STEPS - STEPS / 2);
    ck_assert(wire_stop_recording(depot.client, world)->events == events);
    wire_destroy(depot.client, world);
}

static void open_depot(void) {
    wire_depot_open(&depot, "--workers 2");
    record(true);
}

// From here on the same episode, of which nobody noted it, is asked.
static void forget_events(void) {
    record(false);
    simulates = true;
}

static void close_depot(void) {
    wire_depot_close(&depot);
}

static Moreau__V1__EpisodeTouches touches_call(void) {
    Moreau__V1__EpisodeTouches call = MOREAU__V1__EPISODE_TOUCHES__INIT;
    call.episode = episode.id;
    call.has_simulate = call.simulate = simulates;
    return call;
}

static const Moreau__V1__EpisodeTouchesReply *ask(const Moreau__V1__EpisodeTouches *call) {
    const Moreau__V1__Reply *reply = wire_stream(depot.client, call, NULL, NULL);
    wire_expect(reply, CODE(OK), NULL);
    ck_assert_int_eq(reply->result_case, MOREAU__V1__REPLY__RESULT_EPISODE_TOUCHES);
    ck_assert(reply->episode_touches->simulated == simulates);
    return reply->episode_touches;
}

static const Moreau__V1__EpisodeTouchesReply *ask_all(void) {
    Moreau__V1__EpisodeTouches call = touches_call();
    return ask(&call);
}

// Everything of the rows, in their order, in one number of the file's own making.
static void expect_same_rows(const Moreau__V1__EpisodeTouchesReply *a,
                             const Moreau__V1__EpisodeTouchesReply *b) {
    ck_assert_uint_eq(a->total, b->total);
    ck_assert_uint_eq(a->n_body, b->n_body);
    const size_t bytes = a->n_body * sizeof(uint64_t);
    ck_assert_mem_eq(a->body, b->body, bytes);
    ck_assert_mem_eq(a->other_body, b->other_body, bytes);
    ck_assert_mem_eq(a->first_step, b->first_step, bytes);
    ck_assert_mem_eq(a->last_step, b->last_step, bytes);
    ck_assert_mem_eq(a->approach_speed, b->approach_speed, bytes);
    ck_assert_mem_eq(a->first_impulse, b->first_impulse, bytes);
    ck_assert_mem_eq(a->hardest_impulse, b->hardest_impulse, bytes);
    ck_assert_mem_eq(a->hardest_step, b->hardest_step, bytes);
    for (size_t i = 0; i < a->n_ended; i++) {
        ck_assert((a->ended[i] != 0) == (b->ended[i] != 0));
    }
}

// ---- what is true

START_TEST(rows_make_sense) {
    const Moreau__V1__EpisodeTouchesReply *rows = ask_all();
    ck_assert_uint_gt(rows->n_body, BODIES);
    bool has_ended = false, goes_on = false, has_lost = false;
    for (size_t i = 0; i < rows->n_body; i++) {
        ck_assert(rows->body[i] > 0 && rows->body[i] < rows->other_body[i]);
        ck_assert(rows->first_step[i] > 0 && rows->first_step[i] <= rows->hardest_step[i]);
        ck_assert(rows->hardest_step[i] <= rows->last_step[i] && rows->last_step[i] <= STEPS);
        ck_assert(rows->first_impulse[i] > 0.0);
        ck_assert(rows->hardest_impulse[i] >= rows->first_impulse[i]);
        ck_assert(rows->approach_speed[i] >= 0.0);
        ck_assert(rows->ended[i] || rows->last_step[i] == STEPS);
        ck_assert(i == 0 || rows->first_step[i - 1] <= rows->first_step[i]);
        has_ended = has_ended || rows->ended[i];
        goes_on = goes_on || !rows->ended[i];
        if (rows->body[i] == 3 || rows->other_body[i] == 3) { // which was taken out
            ck_assert(rows->ended[i] && rows->last_step[i] <= STEPS / 2);
            has_lost = has_lost || rows->last_step[i] == STEPS / 2;
        }
    }
    ck_assert(has_ended && goes_on && has_lost);
    wire_expect_verified(depot.client, episode.id, STEPS);
}
END_TEST

START_TEST(pages_are_parts_of_the_whole) {
    if (_i == 1) {
        forget_events();
    }
    const Moreau__V1__EpisodeTouchesReply *all = ask_all();
    const size_t parts = all->n_body;
    for (size_t first = 0; first <= parts; first += 5) {
        Moreau__V1__EpisodeTouches call = touches_call();
        call.has_first = call.has_count = 1;
        call.first = first;
        call.count = 5;
        const Moreau__V1__EpisodeTouchesReply *page = ask(&call);
        ck_assert_uint_eq(page->total, parts);
        ck_assert_uint_eq(page->n_body, parts - first < 5 ? parts - first : 5);
        for (size_t i = 0; i < page->n_body; i++) {
            ck_assert_uint_eq(page->first_step[i], all->first_step[first + i]);
        }
    }
}
END_TEST

// What is asked of touches is counted by hand.
START_TEST(conditions_take_what_they_say) {
    if (_i == 1) {
        forget_events();
    }
    const Moreau__V1__EpisodeTouchesReply *all = ask_all();
    const size_t middle = all->n_body / 2;
    Moreau__V1__EpisodeBody a = MOREAU__V1__EPISODE_BODY__INIT, b = MOREAU__V1__EPISODE_BODY__INIT;
    a.has_id = b.has_id = 1;
    a.id = all->other_body[middle]; // either may come first
    b.id = all->body[middle];
    Moreau__V1__EpisodeTouch where = MOREAU__V1__EPISODE_TOUCH__INIT;
    Moreau__V1__EpisodeTouches call = touches_call();
    call.where = &where;
    where.after = all->first_step[2];
    where.before = all->first_step[all->n_body - 1];
    where.impulse_above = all->hardest_impulse[middle] * (1.0 - 1e-12);
    where.speed_above = all->approach_speed[middle] * (1.0 - 1e-12) - 1e-300;
    where.speed_above = where.speed_above < 0.0 ? 0.0 : where.speed_above;
    // each takes all steps again: each condition with others
    for (unsigned asked = 0; asked < 64; asked += _i == 1 ? 7 : 1) {
        where.body = asked & 1 ? &a : NULL;
        where.other_body = asked & 2 ? &b : NULL;
        where.has_after = (asked & 4) != 0;
        where.has_before = (asked & 8) != 0;
        where.has_impulse_above = (asked & 16) != 0;
        where.has_speed_above = (asked & 32) != 0;
        const uint64_t after = where.after;
        where.after = where.has_after ? after : 0;
        uint64_t expected = 0;
        for (size_t i = 0; i < all->n_body; i++) {
            const bool has_a = all->body[i] == a.id || all->other_body[i] == a.id;
            const bool has_b = all->body[i] == b.id || all->other_body[i] == b.id;
            expected += (!(asked & 1) || has_a) && (!(asked & 2) || has_b) &&
                        (!(asked & 4) || all->first_step[i] > after) &&
                        (!(asked & 8) || all->first_step[i] < where.before) &&
                        (!(asked & 16) || all->hardest_impulse[i] > where.impulse_above) &&
                        (!(asked & 32) || all->approach_speed[i] > where.speed_above);
        }
        const Moreau__V1__EpisodeTouchesReply *found = ask(&call);
        ck_assert_msg(found->total == expected && found->n_body == expected,
                      "conditions %u: %llu instead of %llu", asked,
                      (unsigned long long)found->total, (unsigned long long)expected);
        where.after = after;
    }
}
END_TEST

static const char *const worker_options[] = {"--workers 1", "--workers 4"};

START_TEST(rows_are_the_same_on_any_number_of_workers) {
    const Moreau__V1__EpisodeTouchesReply *before = ask_all();
    WireClient *client = depot.client; // whose replies live on
    depot.client = wire_open(depot.server->address[0]);
    wire_depot_stop(&depot);
    wire_depot_restart(&depot, worker_options[_i]);
    expect_same_rows(before, ask_all());
    record(true);
    expect_same_rows(before, ask_all());
    wire_close(client);
}
END_TEST

START_TEST(an_episode_without_events_says_so) {
    record(false);
    Moreau__V1__EpisodeTouches call = touches_call();
    const Moreau__V1__Reply *reply =
        wire_refuse(depot.client, &call, CODE(FAILED_PRECONDITION), "episode");
    ck_assert_ptr_nonnull(strstr(reply->status->message, "--events"));
    // and its bytes are those of a server that knows no events
    wire_depot_stop(&depot);
    ck_assert_int_gt(wire_depot_number(&depot, "SELECT count(*) FROM touch"), 0);
    ck_assert_int_eq(wire_depot_number(&depot, "SELECT count(*) FROM chunk WHERE recording = 2 AND "
                                               "(kind = 11 OR substr(bytes, 9, 1) = x'06')"),
                     0);
}
END_TEST

// ---- what nobody noted

// On any number of workers; and what was recorded is told as it was.
START_TEST(steps_that_are_taken_again_tell_the_same) {
    const Moreau__V1__EpisodeTouchesReply *before = ask_all();
    WireClient *client = depot.client; // whose replies live on
    depot.client = wire_open(depot.server->address[0]);
    wire_depot_stop(&depot);
    wire_depot_restart(&depot, worker_options[_i]);
    Moreau__V1__EpisodeTouches call = touches_call();
    call.has_simulate = call.simulate = 1;
    expect_same_rows(before, ask(&call));
    forget_events();
    expect_same_rows(before, ask_all());
    wire_close(client);
}
END_TEST

START_TEST(stepping_again_ends_when_it_is_told_to) {
    const uint64_t steps = (uint64_t)campaign_count(20000);
    uint64_t world =
        wire_world(depot.client, BODIES, SEED, MOREAU__V1__WORLD__LIFETIME__SESSION).id;
    const Moreau__V1__EpisodeStart start = wire_start_call(world);
    episode = wire_record(depot.client, &start);
    wire_step(depot.client, world, steps);
    wire_stop_recording(depot.client, world);
    simulates = true;
    Moreau__V1__EpisodeTouches call = touches_call();
    Moreau__V1__Request request = wire_request(&call);
    request.has_deadline_ms = 1;
    request.deadline_ms = 5; // far less than so many steps take
    uint64_t id = wire_submit_request(depot.client, &request);
    wire_expect(wire_await(depot.client, id, NULL, NULL), CODE(DEADLINE_EXCEEDED), "deadline_ms");
    Moreau__V1__Cancel cancel = MOREAU__V1__CANCEL__INIT;
    id = wire_submit(depot.client, &call);
    // the first event comes after 100 ms; so many steps take several times that
    const Moreau__V1__Reply *event = wire_receive(depot.client);
    ck_assert(event->event);
    ck_assert_int_eq(event->result_case, MOREAU__V1__REPLY__RESULT_TOUCHES_PROGRESS);
    ck_assert_uint_eq(event->touches_progress->steps_total, steps);
    ck_assert_uint_gt(event->touches_progress->steps_done, 0);
    cancel.has_request = 1;
    cancel.request = id;
    wire_submit(depot.client, &cancel);
    wire_expect(wire_await(depot.client, id, NULL, NULL), CODE(CANCELLED), NULL);
}
END_TEST

// A group of one ball, half a micrometre above the ground and without weight, that is pushed.
static uint64_t floating_ball(void) {
    enum { SUBSTEPS = 100000 };
    double place[3] = {0.0, 0.0, 0.1000005}, none[3] = {0};
    Moreau__V1__ScenePrimitive floor = MOREAU__V1__SCENE_PRIMITIVE__INIT, round = floor;
    Moreau__V1__ScenePrimitive *floors = &floor, *rounds = &round;
    Moreau__V1__ScenePlane plane = MOREAU__V1__SCENE_PLANE__INIT;
    Moreau__V1__SceneSphere sphere = MOREAU__V1__SCENE_SPHERE__INIT;
    floor.shape_case = MOREAU__V1__SCENE_PRIMITIVE__SHAPE_PLANE, floor.plane = &plane;
    round.shape_case = MOREAU__V1__SCENE_PRIMITIVE__SHAPE_SPHERE, round.sphere = &sphere;
    sphere.has_radius = 1, sphere.radius = 0.1;
    Moreau__V1__SceneBody ground = MOREAU__V1__SCENE_BODY__INIT, ball = ground;
    Moreau__V1__SceneBody *bodies[2] = {&ground, &ball};
    ground.has_kind = 1, ground.kind = MOREAU__V1__BODY__KIND__STATIC;
    ground.n_shapes = ball.n_shapes = 1, ground.shapes = &floors, ball.shapes = &rounds;
    ball.n_position = 3, ball.position = place;
    ball.has_mass = 1, ball.mass = 1.0;
    ball.name = (char *)"ball";
    Moreau__V1__WorldSettings settings = MOREAU__V1__WORLD_SETTINGS__INIT;
    settings.n_gravity = 3, settings.gravity = none;
    Moreau__V1__Scene scene = MOREAU__V1__SCENE__INIT;
    scene.settings = &settings;
    scene.n_bodies = 2, scene.bodies = bodies;
    Moreau__V1__GroupChannel push = MOREAU__V1__GROUP_CHANNEL__INIT, see = push;
    Moreau__V1__GroupChannel *pushed = &push, *seen = &see;
    push.has_kind = 1, push.kind = MOREAU__V1__GROUP_CHANNEL__KIND__BODY_FORCE;
    push.has_axes = 1, push.axes = 4; // along z
    see.has_kind = 1, see.kind = MOREAU__V1__GROUP_CHANNEL__KIND__BODY_POSITION;
    push.body = see.body = ball.name;
    Moreau__V1__GroupRecord record = MOREAU__V1__GROUP_RECORD__INIT;
    Moreau__V1__GroupCreate create = MOREAU__V1__GROUP_CREATE__INIT;
    create.scene = &scene;
    create.record = &record;
    create.n_action = create.n_observation = 1;
    create.action = &pushed, create.observation = &seen;
    create.has_substeps = 1, create.substeps = SUBSTEPS;
    create.has_time_step = 1, create.time_step = 1e-5;
    const Moreau__V1__GroupCreateReply *reply = wire_accept(depot.client, &create)->group_create;
    memcpy(episode.id, reply->recording, sizeof(episode.id)); // of the first, and only, episode
    return reply->group;
}

// It is pushed down in a step that a deadline stops: what touched in that is told of the last step
// that there was, with how fast it came in its own substep.
START_TEST(what_a_stopped_call_touched_is_told_of_the_last_step) {
    const uint64_t group = floating_ball();
    float push = 0.0F;
    wire_group_reset(depot.client, group);
    wire_group_step(depot.client, group, &push, 1);
    push = -100.0F;
    const Moreau__V1__GroupStep step = wire_group_step_call(group, &push, 1);
    const Moreau__V1__Reply *reply;
    do { // again, where it was stopped before it began
        reply = wire_call_within(depot.client, &step, 10);
        wire_expect(reply, CODE(DEADLINE_EXCEEDED), "deadline_ms");
    } while (reply->group_step->n_final_world == 0);
    Moreau__V1__GroupDestroy destroy = MOREAU__V1__GROUP_DESTROY__INIT;
    destroy.has_group = 1, destroy.group = group;
    wire_accept(depot.client, &destroy);
    simulates = true;
    const Moreau__V1__EpisodeTouchesReply *rows = ask_all();
    ck_assert_uint_eq(rows->total, 1);
    ck_assert_uint_eq(rows->first_step[0], 1);
    ck_assert_uint_eq(rows->last_step[0], 1);
    ck_assert_uint_eq(rows->hardest_step[0], 1);
    ck_assert(!rows->ended[0]);
    // sqrt(2 100 m/s^2 5e-7 m), in substeps that give 1 mm/s each
    ck_assert_double_ge(rows->approach_speed[0], 0.0085);
    ck_assert_double_le(rows->approach_speed[0], 0.0115);
}
END_TEST

START_TEST(what_cannot_be_stepped_again_tells_no_touches) {
    forget_events();
    wire_depot_stop(&depot);
    wire_depot_sql(&depot, "DELETE FROM chunk WHERE recording = 1"); // what follows is the other's
    if (_i == 0) {
        wire_depot_flip(&depot, wire_depot_chunk(&depot, CHUNK_INPUTS, 2), -1, true);
    } else {
        wire_depot_age(&depot, 4711);
    }
    wire_depot_restart(&depot, "");
    const Moreau__V1__EpisodeTouches call = touches_call();
    const Moreau__V1__Reply *reply = wire_refuse(
        depot.client, &call, _i == 0 ? CODE(DATA_LOSS) : CODE(FAILED_PRECONDITION), "episode");
    ck_assert_ptr_nonnull(strstr(reply->status->message, _i == 0 ? "At step " : "4711"));
}
END_TEST

// ---- what is refused

START_TEST(what_cannot_be_is_refused_with_its_field) {
    Moreau__V1__EpisodeBody body = MOREAU__V1__EPISODE_BODY__INIT;
    Moreau__V1__EpisodeTouch where = MOREAU__V1__EPISODE_TOUCH__INIT;
    Moreau__V1__EpisodeTouches call = touches_call();
    call.where = &where;
    where.other_body = &body;
    wire_refuse(depot.client, &call, CODE(INVALID_ARGUMENT), "where.other_body");
    body.has_id = 1;
    wire_refuse(depot.client, &call, CODE(INVALID_ARGUMENT), "where.other_body"); // id 0
    body.id = 1;
    body.name = "ball";
    wire_refuse(depot.client, &call, CODE(INVALID_ARGUMENT), "where.other_body"); // both
    body.has_id = 0;
    body.name = "";
    wire_refuse(depot.client, &call, CODE(INVALID_ARGUMENT), "where.other_body");
    where.other_body = NULL;
    where.has_impulse_above = 1;
    where.impulse_above = -1.0;
    wire_refuse(depot.client, &call, CODE(INVALID_ARGUMENT), "where.impulse_above");
    where.has_impulse_above = 0;
    where.has_speed_above = 1;
    where.speed_above = -1e-9;
    wire_refuse(depot.client, &call, CODE(INVALID_ARGUMENT), "where.speed_above");
    Moreau__V1__EpisodeTouch *many[9];
    for (size_t i = 0; i < 9; i++) {
        many[i] = &where;
    }
    where.speed_above = 0.0;
    Moreau__V1__EpisodeList list = MOREAU__V1__EPISODE_LIST__INIT;
    list.touches = many;
    list.n_touches = 9;
    wire_refuse(depot.client, &list, CODE(INVALID_ARGUMENT), "touches");
    list.n_touches = 8;
    ck_assert_uint_eq(wire_accept(depot.client, &list)->episode_list->total, 1);
    uint64_t world = wire_small_world(depot.client);
    Moreau__V1__EpisodeStart start = wire_start_call(world);
    start.has_events = start.events = start.has_lossy = start.lossy = 1;
    wire_refuse(depot.client, &start, CODE(INVALID_ARGUMENT), "events");
}
END_TEST

// ---- finding episodes

static const Moreau__V1__EpisodeListReply *find(Moreau__V1__EpisodeTouch *touch,
                                                const char *label) {
    Moreau__V1__EpisodeList list = MOREAU__V1__EPISODE_LIST__INIT;
    list.touches = &touch;
    list.n_touches = 1;
    list.label = (char *)label;
    return wire_accept(depot.client, &list)->episode_list;
}

START_TEST(episodes_are_found_by_what_touched) {
    record(false);
    Moreau__V1__EpisodeBody one = MOREAU__V1__EPISODE_BODY__INIT,
                            other = MOREAU__V1__EPISODE_BODY__INIT;
    one.has_id = other.has_id = 1;
    one.id = 2;
    other.id = WIRE_GROUND;
    Moreau__V1__EpisodeTouch touch = MOREAU__V1__EPISODE_TOUCH__INIT;
    touch.body = &one;
    touch.other_body = &other;
    const Moreau__V1__EpisodeListReply *found = find(&touch, NULL);
    ck_assert_uint_eq(found->total, 1);
    ck_assert_uint_eq(found->n_episodes, 1);
    ck_assert(found->has_unknown && found->unknown == 1);
    ck_assert(found->episodes[0]->events);
    touch.has_impulse_above = 1;
    touch.impulse_above = 1e9; // nothing is hit so hard
    found = find(&touch, NULL);
    ck_assert(found->total == 0 && found->unknown == 1);
    touch.has_impulse_above = 0;
    ck_assert_uint_eq(find(&touch, "night")->unknown, 0); // it does not meet all else
    other.id = 77;
    ck_assert_uint_eq(find(&touch, NULL)->total, 0);
    Moreau__V1__EpisodeList list = MOREAU__V1__EPISODE_LIST__INIT;
    ck_assert(!wire_accept(depot.client, &list)->episode_list->has_unknown);
    Moreau__V1__EpisodeHighlight__Kind kinds[] = {MOREAU__V1__EPISODE_HIGHLIGHT__KIND__IMPACT,
                                                  MOREAU__V1__EPISODE_HIGHLIGHT__KIND__BROKEN};
    list.highlights = kinds;
    list.n_highlights = 1;
    ck_assert_uint_eq(wire_accept(depot.client, &list)->episode_list->total, 2);
    list.n_highlights = 2;
    ck_assert_uint_eq(wire_accept(depot.client, &list)->episode_list->total, 0);
}
END_TEST

static const char bounce[] =
    "{\"name\": \"bounce\", \"settings\": {\"time_step\": 0.004}, \"bodies\": ["
    "{\"name\": \"the ground\", \"kind\": \"STATIC\", \"shapes\": [{\"plane\": {}}]}, "
    "{\"name\": \"ball\", \"position\": [0, 0, 0.3], \"shapes\": [{\"sphere\": {\"radius\": "
    "0.1}}]}]}";

// As somebody types it.
START_TEST(names_find_episodes_from_a_shell) {
    server_write(depot.folder, "bounce.json", bounce);
    const char *address = depot.server->address[0];
    char line[512], said[4096];
    snprintf(line, sizeof(line),
             "moreau run %s/bounce.json --steps 200 --record --events --episode-name bounce",
             depot.folder);
    ck_assert_int_eq(server_shell(address, line, said, sizeof(said)), 0);
    json_t *rows = server_shell_json(address, "moreau episodes bounce --touches --json", 0);
    ck_assert_uint_eq(json_array_size(rows), 1);
    const json_t *row = json_array_get(rows, 0);
    ck_assert_str_eq(json_string_value(json_object_get(row, "body_name")), "the ground");
    ck_assert_str_eq(json_string_value(json_object_get(row, "other_name")), "ball");
    ck_assert(json_is_false(json_object_get(row, "ended")));
    json_decref(rows);
    static const struct {
        const char *where;
        size_t count;
    } asked[] = {
        {"contact between ball and \"the ground\"", 1},
        {"contact between \"the ground\" and #2", 1},
        {"contact between ball and \"the Ground\"", 0},
        {"contact of ball faster than 0.5 and impact of ball > 1 and name ~ BOUN", 1},
        {"contact of ball before 10", 0},
        {"contact of ball after 10", 1},
    };
    for (size_t i = 0; i < sizeof(asked) / sizeof(asked[0]); i++) {
        snprintf(line, sizeof(line), "moreau episodes --json --where '%s'", asked[i].where);
        rows = server_shell_json(address, line, 0);
        ck_assert_msg(json_array_size(rows) == asked[i].count, "%s", asked[i].where);
        json_decref(rows);
    }
    ck_assert_int_eq(server_shell(address, "moreau episodes --where 'contact betwen a' 2>&1", said,
                                  sizeof(said)),
                     2);
    ck_assert_ptr_nonnull(strstr(said, "--where, column 9: expected"));
    ck_assert_int_eq(server_shell(address, "moreau episodes bounce --touches", said, sizeof(said)),
                     0);
    ck_assert_ptr_nonnull(strstr(said, "1 touch\n"));
    ck_assert_ptr_null(strstr(said, "again"));
}
END_TEST

// The same without events: it says so in one line, and tells the same.
START_TEST(a_shell_has_steps_taken_again) {
    server_write(depot.folder, "bounce.json", bounce);
    const char *address = depot.server->address[0];
    char line[512], said[2][4096];
    for (int i = 0; i < 2; i++) {
        snprintf(line, sizeof(line),
                 "moreau run %s/bounce.json --steps 200 --record%s --episode-name bounce-%d",
                 depot.folder, i == 0 ? " --events" : "", i);
        ck_assert_int_eq(server_shell(address, line, said[i], sizeof(said[i])), 0);
        snprintf(line, sizeof(line), "moreau episodes bounce-%d --touches", i);
        ck_assert_int_eq(server_shell(address, line, said[i], sizeof(said[i])), 0);
    }
    const char *rows = strchr(said[1], '\n');
    ck_assert_ptr_nonnull(strstr(said[1], "recorded without events"));
    ck_assert_ptr_nonnull(rows);
    ck_assert_str_eq(rows + 1, said[0]);
    json_t *row = server_shell_json(address, "moreau episodes bounce-1 --touches --json", 0);
    ck_assert_uint_eq(json_array_size(row), 1);
    ck_assert_str_eq(json_string_value(json_object_get(json_array_get(row, 0), "other_name")),
                     "ball");
    json_decref(row);
    Moreau__V1__EpisodeBody ball = MOREAU__V1__EPISODE_BODY__INIT;
    Moreau__V1__EpisodeTouch where = MOREAU__V1__EPISODE_TOUCH__INIT;
    Moreau__V1__EpisodeTouches call = MOREAU__V1__EPISODE_TOUCHES__INIT;
    call.episode = "bounce-1";
    call.where = &where, where.body = &ball;
    call.has_simulate = call.simulate = simulates = true;
    ball.name = "ball";
    ck_assert_uint_eq(ask(&call)->total, 1);
    ball.name = "bal";
    ck_assert_uint_eq(ask(&call)->total, 0);
}
END_TEST

// ---- damage, lies and the end

// Every column, and rows that are too many or too few: log/check_touches.c.
static const char *const edits[] = {
    "UPDATE touch SET hardest_impulse = 2 * hardest_impulse",
    "DELETE FROM touch WHERE first_step = (SELECT max(first_step) FROM touch)",
};

START_TEST(an_edited_row_is_found_and_made_right) {
    wire_depot_stop(&depot);
    wire_depot_sql(&depot, edits[_i]);
    wire_depot_restart(&depot, "--workers 2");
    Moreau__V1__EpisodeVerify call = MOREAU__V1__EPISODE_VERIFY__INIT;
    call.episode = episode.id;
    const Moreau__V1__Reply *reply = wire_stream(depot.client, &call, NULL, NULL);
    wire_expect(reply, CODE(OK), NULL);
    ck_assert_msg(!reply->episode_verify->verified, "%s", edits[_i]);
    wire_depot_stop(&depot);
    char line[256], said[4096];
    snprintf(line, sizeof(line), MOREAU_BINARY_DIR "/moreau-server --recover %s/episodes.db",
             depot.folder);
    ck_assert_int_eq(server_shell("", line, said, sizeof(said)), 0);
    wire_depot_restart(&depot, "--workers 2");
    wire_expect_verified(depot.client, episode.id, STEPS);
}
END_TEST

// A liar makes the checksum right again: stepping finds who did not touch so.
START_TEST(a_lie_in_a_chunk_is_found_by_stepping) {
    wire_depot_stop(&depot);
    const int64_t chunk = wire_depot_chunk(&depot, CHUNK_EVENTS, _i);
    // of how hard the first touch that it tells of was, the last byte
    wire_depot_flip(&depot, chunk, CHUNK_HEADER_BYTES + EVENTS_HEAD_BYTES + 64, true);
    wire_depot_restart(&depot, "--workers 2");
    Moreau__V1__EpisodeVerify call = MOREAU__V1__EPISODE_VERIFY__INIT;
    call.episode = episode.id;
    const Moreau__V1__EpisodeVerifyReply *result =
        wire_stream(depot.client, &call, NULL, NULL)->episode_verify;
    ck_assert(!result->verified);
    bool is_named = false;
    for (size_t i = 0; i < result->n_differences; i++) {
        const Moreau__V1__EpisodeDifference *difference = result->differences[i];
        is_named = is_named || ((int64_t)difference->chunk == chunk &&
                                strcmp(difference->chunk_kind, "events") == 0 &&
                                strstr(difference->message, "who touched whom") != NULL);
    }
    ck_assert(is_named);
}
END_TEST

START_TEST(a_deleted_episode_takes_its_touches_along) {
    Moreau__V1__EpisodeDelete call = MOREAU__V1__EPISODE_DELETE__INIT;
    call.episode = episode.id;
    wire_accept(depot.client, &call);
    wire_depot_stop(&depot);
    ck_assert_int_eq(wire_depot_number(&depot, "SELECT count(*) FROM touch"), 0);
    ck_assert_int_eq(wire_depot_number(&depot, "SELECT count(*) FROM touch_body"), 0);
    ck_assert_int_eq(wire_depot_number(&depot, "SELECT count(*) FROM chunk"), 0);
}
END_TEST

// Killed in the middle of work: the rows are those of the chunks that are there.
START_TEST(a_killed_server_leaves_whole_rows) {
    uint64_t world =
        wire_world(depot.client, BODIES, SEED, MOREAU__V1__WORLD__LIFETIME__SESSION).id;
    Moreau__V1__EpisodeStart start = wire_start_call(world);
    start.has_events = start.events = start.has_keyframe_steps = 1;
    start.keyframe_steps = KEYFRAME_STEPS;
    episode = wire_record(depot.client, &start);
    wire_step(depot.client, world, STEPS);
    Moreau__V1__WorldStep more = wire_step_call(&world, 100000);
    wire_submit(depot.client, &more);
    server_sleep_ms(20);
    kill(depot.server->pid, SIGKILL);
    server_wait(depot.server, PATIENCE_MS);
    wire_close(depot.client);
    server_free(depot.server);
    depot.server = NULL;
    wire_depot_restart(&depot, "--workers 2");
    const Moreau__V1__EpisodeInfo *info = wire_describe(depot.client, episode.id);
    ck_assert_int_eq(info->state, MOREAU__V1__EPISODE__STATE__INTERRUPTED);
    ck_assert_uint_ge(info->steps, STEPS / KEYFRAME_STEPS * KEYFRAME_STEPS);
    wire_expect_verified(depot.client, episode.id, info->steps);
    ck_assert_uint_gt(ask_all()->n_body, BODIES);
}
END_TEST

#define COUNT(array) (int)(sizeof(array) / sizeof((array)[0]))

static TCase *case_touches(void) {
    TCase *tcase = tcase_create("touches");
    tcase_add_checked_fixture(tcase, open_depot, close_depot);
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, rows_make_sense);
    tcase_add_loop_test(tcase, pages_are_parts_of_the_whole, 0, 2);
    tcase_add_loop_test(tcase, conditions_take_what_they_say, 0, 2);
    tcase_add_loop_test(tcase, rows_are_the_same_on_any_number_of_workers, 0,
                        COUNT(worker_options));
    tcase_add_test(tcase, an_episode_without_events_says_so);
    tcase_add_loop_test(tcase, steps_that_are_taken_again_tell_the_same, 0, COUNT(worker_options));
    tcase_add_test(tcase, stepping_again_ends_when_it_is_told_to);
    tcase_add_test(tcase, what_a_stopped_call_touched_is_told_of_the_last_step);
    tcase_add_loop_test(tcase, what_cannot_be_stepped_again_tells_no_touches, 0, 2);
    tcase_add_test(tcase, what_cannot_be_is_refused_with_its_field);
    tcase_add_test(tcase, episodes_are_found_by_what_touched);
    tcase_add_test(tcase, names_find_episodes_from_a_shell);
    tcase_add_test(tcase, a_shell_has_steps_taken_again);
    tcase_add_loop_test(tcase, an_edited_row_is_found_and_made_right, 0, COUNT(edits));
    tcase_add_loop_test(tcase, a_lie_in_a_chunk_is_found_by_stepping, 0, 3);
    tcase_add_test(tcase, a_deleted_episode_takes_its_touches_along);
    tcase_add_test(tcase, a_killed_server_leaves_whole_rows);
    return tcase;
}

SUITE_MAIN("system/touches", case_touches)
