// SPDX-License-Identifier: MIT
// Groups over sockets: the same arrays for any number of lanes and however the steps are asked for,
// what is refused and changes nothing, and what goes on when a client, a group or a server goes.
#include "support/server_process.h"
#include "support/suite.h"
#include "support/wire_group.h"
#include "support/wire_world.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CODE(name) MOREAU__V1__STATUS__CODE__##name

enum { WORLDS = 200, STEPS = 40, SEEN = WIRE_GROUP_SEEN };

typedef struct Table {
    float seen[STEPS + 1][WORLDS][SEEN];
    uint64_t ended; // a hash of what ended when
} Table;

static float action_of(uint64_t world, uint64_t step) {
    const uint64_t mixed = (world * 2654435761u + step * 40503u) >> 3;
    return (float)(mixed % 2001) / 1000.0f - 1.0f;
}

static void fill(float *action, uint64_t step) {
    for (uint64_t i = 0; i < WORLDS; i++) {
        action[i] = action_of(i, step);
    }
}

static void keep(Table *table, uint64_t step, const Moreau__V1__GroupStepReply *reply) {
    ck_assert_uint_eq(reply->n_observation, WORLDS * SEEN);
    memcpy(table->seen[step], reply->observation, sizeof(table->seen[step]));
    for (size_t i = 0; i < reply->n_final_world; i++) {
        table->ended = table->ended * 31 + reply->final_world[i] + 7 * reply->final_length[i];
    }
}

// By GroupStep, all at once.
static void play(WireClient *client, uint64_t group, Table *table) {
    float action[WORLDS];
    keep(table, 0, wire_group_reset(client, group));
    for (uint64_t step = 0; step < STEPS; step++) {
        fill(action, step);
        keep(table, step + 1, wire_group_step(client, group, action, WORLDS));
    }
}

static Table tables[4];

START_TEST(arrays_are_the_same_for_any_number_of_lanes) {
    static const char *const options[] = {"--workers 1", "--workers 2", "--workers 4"};
    for (int i = 0; i < 3; i++) {
        ServerProcess *server = server_start(options[i]);
        WireClient *client = wire_open(server->address[0]);
        play(client, wire_group(client, WORLDS), &tables[i]);
        ck_assert_mem_eq(tables[i].seen, tables[0].seen, sizeof(tables[0].seen));
        ck_assert_uint_eq(tables[i].ended, tables[0].ended);
        wire_close(client);
        server_stop(server);
    }
    ck_assert_uint_ne(tables[0].ended, 0);
}
END_TEST

// ---- sent and received

typedef struct Sender {
    WireClient *client;
    uint64_t group, step[WORLDS];
} Sender;

static void send_worlds(Sender *sender, const uint32_t *world, size_t count) {
    uint8_t mask[(WORLDS + 7) / 8] = {0};
    float action[WORLDS];
    for (size_t i = 0; i < count; i++) {
        mask[world[i] / 8] |= (uint8_t)(1u << world[i] % 8);
    }
    size_t used = 0;
    for (uint32_t i = 0; i < WORLDS; i++) {
        if (mask[i / 8] >> i % 8 & 1) {
            action[used++] = action_of(i, sender->step[i]);
        }
    }
    Moreau__V1__GroupSend call = MOREAU__V1__GROUP_SEND__INIT;
    call.has_group = 1, call.group = sender->group;
    call.has_mask = 1, call.mask = (ProtobufCBinaryData){sizeof(mask), mask};
    call.n_action = used, call.action = action;
    wire_accept(sender->client, &call);
}

static const Moreau__V1__GroupStepReply *receive(const Sender *sender, uint64_t count) {
    Moreau__V1__GroupReceive call = MOREAU__V1__GROUP_RECEIVE__INIT;
    call.has_group = 1, call.group = sender->group;
    call.has_count = 1, call.count = count;
    return wire_accept(sender->client, &call)->group_step;
}

// Each world goes its own way at its own pace, and comes to the same rows.
START_TEST(each_world_has_the_same_rows_in_whatever_order_they_come) {
    ServerProcess *server = server_start("--workers 2");
    Sender sender = {.client = wire_open(server->address[0])};
    play(sender.client, wire_group(sender.client, WORLDS), &tables[0]);
    sender.group = wire_group(sender.client, WORLDS);
    wire_group_reset(sender.client, sender.group);
    uint32_t world[WORLDS];
    for (uint32_t i = 0; i < WORLDS; i++) {
        world[i] = i;
    }
    send_worlds(&sender, world, WORLDS);
    uint64_t under_way = WORLDS;
    while (under_way > 0) {
        const uint64_t count = under_way < 60 ? under_way : 60;
        const Moreau__V1__GroupStepReply *reply = receive(&sender, count);
        ck_assert_uint_eq(reply->n_worlds, count);
        size_t again = 0;
        for (size_t i = 0; i < count; i++) {
            const uint32_t which = reply->worlds[i];
            ck_assert_mem_eq(reply->observation + SEEN * i,
                             tables[0].seen[++sender.step[which]][which], SEEN * sizeof(float));
            if (sender.step[which] < STEPS) {
                world[again++] = which;
            }
        }
        under_way -= count - again;
        if (again > 0) {
            send_worlds(&sender, world, again);
        }
    }
    wire_close(sender.client);
    server_stop(server);
}
END_TEST

START_TEST(a_world_that_was_sent_takes_no_other_call_until_it_is_received) {
    ServerProcess *server = server_start("--workers 2");
    Sender sender = {.client = wire_open(server->address[0])};
    sender.group = wire_group(sender.client, WORLDS);
    wire_group_reset(sender.client, sender.group);
    const uint32_t some[2] = {3, 9};
    float action[WORLDS] = {0};
    Moreau__V1__GroupReceive ask = MOREAU__V1__GROUP_RECEIVE__INIT;
    ask.has_group = 1, ask.group = sender.group;
    wire_refuse(sender.client, &ask, CODE(FAILED_PRECONDITION), "group");
    send_worlds(&sender, some, 2);
    const Moreau__V1__GroupStep step = wire_group_step_call(sender.group, action, WORLDS);
    const Moreau__V1__GroupReset reset = wire_group_reset_call(sender.group);
    wire_refuse(sender.client, &step, CODE(FAILED_PRECONDITION), "mask");
    wire_refuse(sender.client, &reset, CODE(FAILED_PRECONDITION), "mask");
    ask.has_count = 1, ask.count = 3;
    wire_refuse(sender.client, &ask, CODE(FAILED_PRECONDITION), "count");
    ask.count = 0;
    wire_refuse(sender.client, &ask, CODE(INVALID_ARGUMENT), "count");
    ck_assert_uint_eq(receive(&sender, 1)->n_worlds, 1);
    ck_assert_uint_eq(receive(&sender, 1)->n_worlds, 1);
    wire_group_step(sender.client, sender.group, action, WORLDS);
    wire_close(sender.client);
    server_stop(server);
}
END_TEST

// ---- what is refused

typedef struct Refusal {
    const char *what;
    Moreau__V1__Status__Code code;
    const char *field;
} Refusal;

static const Refusal refusals[] = {
    {"no channel to act on", CODE(INVALID_ARGUMENT), "action"},
    {"nothing to observe", CODE(INVALID_ARGUMENT), "observation"},
    {"a joint that is not there", CODE(INVALID_ARGUMENT), "observation[3].joint"},
    {"a body that is not there", CODE(INVALID_ARGUMENT), "extra[0].body"},
    {"an action that is none", CODE(INVALID_ARGUMENT), "action[0].kind"},
    {"noise on what has no place", CODE(INVALID_ARGUMENT), "noise[1].channel.kind"},
    {"noise upside down", CODE(INVALID_ARGUMENT), "noise[0].high"},
    {"axes that are not there", CODE(INVALID_ARGUMENT), "observation[0].axes"},
    {"bounds upside down", CODE(INVALID_ARGUMENT), "bounds[1].high"},
    {"no world", CODE(INVALID_ARGUMENT), "count"},
    {"too many worlds", CODE(INVALID_ARGUMENT), "count"},
    {"no substep", CODE(INVALID_ARGUMENT), "substeps"},
    {"a step backwards", CODE(INVALID_ARGUMENT), "time_step"},
    {"two templates", CODE(INVALID_ARGUMENT), "scene"},
    {"a world that is not there", CODE(NOT_FOUND), "world"},
    {"a scene that is wrong", CODE(INVALID_ARGUMENT), "scene.bodies[0].mass"},
    {"more worlds than there may be", CODE(RESOURCE_EXHAUSTED), NULL},
};
enum { REFUSAL_COUNT = sizeof(refusals) / sizeof(refusals[0]) };

// What the refusal of that number is about.
static void spoil(Moreau__V1__GroupCreate *call, int which) {
    static Moreau__V1__GroupChannel other = MOREAU__V1__GROUP_CHANNEL__INIT;
    static Moreau__V1__GroupChannel *others[1] = {&other};
    switch (which) {
    case 0:
        call->n_action = 0;
        break;
    case 1:
        call->n_observation = 0;
        break;
    case 2:
        call->n_noise = 0; // which has the same channels
        call->observation[3]->joint = "hing";
        break;
    case 3:
        other.has_kind = 1, other.kind = MOREAU__V1__GROUP_CHANNEL__KIND__BODY_POSITION;
        other.body = "wheel";
        call->n_extra = 1, call->extra = others;
        break;
    case 4:
        call->action[0]->kind = MOREAU__V1__GROUP_CHANNEL__KIND__JOINT_POSITION;
        break;
    case 5:
        other.has_kind = 1, other.kind = MOREAU__V1__GROUP_CHANNEL__KIND__JOINT_EFFORT;
        other.joint = "hinge";
        call->noise[1]->channel = &other;
        break;
    case 6:
        call->noise[0]->high = -1.0;
        break;
    case 7:
        call->observation[0]->has_axes = 1, call->observation[0]->axes = 2;
        break;
    case 8:
        call->bounds[1]->high = -1.0;
        break;
    case 9:
        call->count = 0;
        break;
    case 10:
        call->count = 65537;
        break;
    case 11:
        call->has_substeps = 1, call->substeps = 0;
        break;
    case 12:
        call->has_time_step = 1, call->time_step = -0.01;
        break;
    case 13:
        call->has_world = 1, call->world = 1;
        break;
    case 14:
        call->scene = NULL;
        call->has_world = 1, call->world = 77;
        break;
    case 15:
        call->scene->bodies[0]->mass = -1.0;
        break;
    default:
        call->count = 301;
        break;
    }
}

// What was made of it is given back on a lane.
static void wait_for_bytes(WireClient *client, uint64_t bytes) {
    const double give_up_ms = server_now_ms() + 60000.0;
    while (wire_stats(client, false)->world_bytes != bytes) {
        ck_assert_double_lt(server_now_ms(), give_up_ms);
        server_sleep_ms(5);
    }
}

START_TEST(a_group_that_cannot_be_is_refused_and_leaves_nothing) {
    ServerProcess *server = server_start("--workers 1 --worlds-max 300");
    WireClient *client = wire_open(server->address[0]);
    const uint64_t bytes = wire_stats(client, false)->world_bytes;
    for (int i = 0; i < REFUSAL_COUNT; i++) {
        Moreau__V1__GroupCreate *call = wire_group_create_call(2);
        spoil(call, i);
        const Moreau__V1__Reply *reply = wire_call(client, call);
        ck_assert_msg(
            reply->status->code == refusals[i].code &&
                (refusals[i].field == NULL || strcmp(reply->status->field, refusals[i].field) == 0),
            "%s: %s, %s", refusals[i].what, reply->status->field, reply->status->message);
        wait_for_bytes(client, bytes);
        const Moreau__V1__StatsReply *stats = wire_stats(client, false);
        ck_assert_uint_eq(stats->groups, 0);
        ck_assert_uint_eq(stats->group_worlds, 0);
    }
    wire_group(client, 300); // as many as there may be
    wire_close(client);
    server_stop(server);
}
END_TEST

START_TEST(a_call_that_is_wrong_changes_nothing) {
    ServerProcess *server = server_start("--workers 2");
    WireClient *client = wire_open(server->address[0]);
    const uint64_t group = wire_group(client, 10), same = wire_group(client, 10);
    float action[11] = {0};
    double doubles[10] = {0};
    uint8_t mask[3] = {0, 0, 0};
    wire_group_reset(client, group);
    wire_group_reset(client, same);
    Moreau__V1__GroupStep step = wire_group_step_call(group, action, 9);
    wire_refuse(client, &step, CODE(INVALID_ARGUMENT), "action");
    step.n_action = 11;
    wire_refuse(client, &step, CODE(INVALID_ARGUMENT), "action");
    step.n_action = 0;
    wire_refuse(client, &step, CODE(INVALID_ARGUMENT), "action");
    step.n_action = 10;
    step.n_action_double = 10, step.action_double = doubles;
    wire_refuse(client, &step, CODE(INVALID_ARGUMENT), "action_double");
    step.n_action_double = 0;
    step.has_mask = 1;
    step.mask = (ProtobufCBinaryData){1, mask};
    wire_refuse(client, &step, CODE(INVALID_ARGUMENT), "mask");
    step.mask.len = 3;
    wire_refuse(client, &step, CODE(INVALID_ARGUMENT), "mask");
    step.mask.len = 2;
    wire_refuse(client, &step, CODE(INVALID_ARGUMENT), "mask"); // names none
    mask[1] = 4;
    wire_refuse(client, &step, CODE(INVALID_ARGUMENT), "mask"); // the eleventh
    step.group = same + 7;
    wire_refuse(client, &step, CODE(NOT_FOUND), "group");
    Moreau__V1__GroupReset reset = wire_group_reset_call(group);
    uint64_t seeds[3] = {1, 2, 3};
    reset.n_seed = 3, reset.seed = seeds;
    wire_refuse(client, &reset, CODE(INVALID_ARGUMENT), "seed");
    reset.n_seed = 0;
    reset.n_values = 39;
    double values[40] = {0};
    reset.values = values;
    wire_refuse(client, &reset, CODE(INVALID_ARGUMENT), "values");
    values[2] = NAN;
    reset.n_values = 40;
    wire_refuse(client, &reset, CODE(INVALID_ARGUMENT), "values[2]");

    const Moreau__V1__GroupStepReply *a = wire_group_step(client, group, action, 10);
    const Moreau__V1__GroupStepReply *b = wire_group_step(client, same, action, 10);
    ck_assert_mem_eq(a->observation, b->observation, 10 * SEEN * sizeof(float));
    // a number that is none is its world's affair
    action[4] = NAN;
    a = wire_group_step(client, group, action, 10);
    ck_assert_uint_eq(a->n_failures, 1);
    ck_assert_uint_eq(a->failures[0]->world, 4);
    ck_assert_int_eq(a->failures[0]->code, CODE(INVALID_ARGUMENT));
    ck_assert_str_eq(a->failures[0]->field, "action[0]");
    ck_assert_mem_eq(a->observation + 4 * SEEN, b->observation + 4 * SEEN, SEEN * sizeof(float));
    wire_close(client);
    server_stop(server);
}
END_TEST

// ---- what goes on

// A step that takes long.
static uint64_t slow_group(WireClient *client, uint32_t substeps) {
    Moreau__V1__GroupCreate *call = wire_group_create_call(WORLDS);
    call->has_substeps = 1, call->substeps = substeps;
    call->n_bounds = 0;
    const uint64_t group = wire_accept(client, call)->group_create->group;
    wire_group_reset(client, group);
    return group;
}

static void wait_for_groups(WireClient *client, uint64_t count) {
    const double give_up_ms = server_now_ms() + 60000.0;
    while (wire_stats(client, false)->groups != count ||
           wire_stats(client, false)->group_worlds != count * WORLDS) {
        ck_assert_double_lt(server_now_ms(), give_up_ms);
        server_sleep_ms(5);
    }
}

START_TEST(a_deadline_stops_between_worlds_and_the_rest_is_as_it_was) {
    ServerProcess *server = server_start("--workers 2");
    WireClient *client = wire_open(server->address[0]);
    const uint64_t group = slow_group(client, 100000);
    float action[WORLDS] = {0};
    const Moreau__V1__GroupStep step = wire_group_step_call(group, action, WORLDS);
    const Moreau__V1__Reply *reply = wire_call_within(client, &step, 30);
    wire_expect(reply, CODE(DEADLINE_EXCEEDED), "deadline_ms");
    const Moreau__V1__GroupStepReply *rows = reply->group_step;
    ck_assert_uint_gt(rows->n_failures, 0);
    ck_assert_uint_eq(rows->n_observation, WORLDS * SEEN);
    size_t cut = 0; // in the middle of their substeps: their episodes are over
    for (size_t i = 0; i < rows->n_final_world; i++) {
        cut += rows->truncated.data[rows->final_world[i] / 8] >> rows->final_world[i] % 8 & 1;
    }
    ck_assert_uint_eq(cut, rows->n_final_world);
    ck_assert_uint_lt(cut, rows->n_failures);
    wire_close(client);
    server_stop(server);
}
END_TEST

START_TEST(a_client_that_goes_in_the_middle_takes_its_groups_with_it) {
    ServerProcess *server = server_start("--workers 2 --session-grace-ms 50");
    WireClient *witness = wire_open(server->address[0]), *client = wire_open(server->address[0]);
    const uint64_t group = slow_group(client, 100000);
    float action[WORLDS] = {0};
    const Moreau__V1__GroupStep step = wire_group_step_call(group, action, WORLDS);
    Moreau__V1__GroupSend send = MOREAU__V1__GROUP_SEND__INIT;
    send.has_group = 1, send.group = slow_group(client, 100000);
    send.n_action = WORLDS, send.action = action;
    Moreau__V1__GroupReceive receive_call = MOREAU__V1__GROUP_RECEIVE__INIT;
    receive_call.has_group = 1, receive_call.group = send.group;
    wire_accept(client, &send);
    wire_submit(client, &receive_call);
    wire_submit(client, &step);
    ck_assert_uint_eq(wire_stats(witness, false)->groups, 2);
    wire_close(client);
    wait_for_groups(witness, 0);
    wire_close(witness);
    server_stop(server);
}
END_TEST

// What is under way is finished, and what follows finds nothing.
START_TEST(a_group_that_is_destroyed_in_the_middle_finishes_its_step) {
    ServerProcess *server = server_start("--workers 2");
    WireClient *client = wire_open(server->address[0]);
    Moreau__V1__GroupCreate *call = wire_group_create_call(WORLDS);
    call->has_substeps = 1, call->substeps = 500;
    const uint64_t group = wire_accept(client, call)->group_create->group;
    wire_group_reset(client, group);
    float action[WORLDS] = {0};
    const Moreau__V1__GroupStep step = wire_group_step_call(group, action, WORLDS);
    Moreau__V1__GroupDestroy destroy = MOREAU__V1__GROUP_DESTROY__INIT;
    destroy.has_group = 1, destroy.group = group;
    const uint64_t stepped = wire_submit(client, &step), gone = wire_submit(client, &destroy);
    size_t seen = 0;
    for (int i = 0; i < 2; i++) {
        const Moreau__V1__Reply *reply = wire_receive(client);
        ck_assert_int_eq(reply->status->code, CODE(OK));
        ck_assert(reply->id == stepped || reply->id == gone);
        seen += reply->id == stepped ? reply->group_step->n_observation : 0;
    }
    ck_assert_uint_eq(seen, WORLDS * SEEN);
    wire_refuse(client, &step, CODE(NOT_FOUND), "group");
    wait_for_groups(client, 0);
    wire_close(client);
    server_stop(server);
}
END_TEST

// Cancelled, a Receive leaves what it waited for to the next one.
START_TEST(a_receive_that_is_cancelled_loses_nothing) {
    ServerProcess *server = server_start("--workers 1");
    WireClient *client = wire_open(server->address[0]);
    const uint64_t group = slow_group(client, 1000);
    float action[WORLDS] = {0};
    Moreau__V1__GroupSend send = MOREAU__V1__GROUP_SEND__INIT;
    send.has_group = 1, send.group = group;
    send.n_action = WORLDS, send.action = action;
    Moreau__V1__GroupReceive ask = MOREAU__V1__GROUP_RECEIVE__INIT;
    ask.has_group = 1, ask.group = group;
    const uint64_t sent = wire_submit(client, &send), asked = wire_submit(client, &ask);
    Moreau__V1__Cancel cancel = MOREAU__V1__CANCEL__INIT;
    cancel.has_request = 1, cancel.request = asked;
    wire_submit(client, &cancel);
    bool was_cancelled = false;
    for (int i = 0; i < 3; i++) {
        const Moreau__V1__Reply *reply = wire_receive(client);
        was_cancelled =
            was_cancelled || (reply->id == asked && reply->status->code == CODE(CANCELLED));
        ck_assert(reply->id != sent || reply->status->code == CODE(OK));
    }
    ck_assert(was_cancelled);
    cancel.request = sent; // answered, so that there is nothing to be cancelled
    wire_call(client, &cancel);
    ask.has_count = 1, ask.count = 10;
    ck_assert_uint_eq(wire_accept(client, &ask)->group_step->n_worlds, 10);
    wire_close(client);
    server_stop(server);
}
END_TEST

// A step of thousands of worlds does not hold up a client with one.
START_TEST(a_large_group_leaves_room_for_others) {
    ServerProcess *server = server_start("--workers 1");
    WireClient *client = wire_open(server->address[0]), *other = wire_open(server->address[0]);
    const uint64_t group = slow_group(client, 100000), world = wire_small_world(other);
    float action[WORLDS] = {0};
    const Moreau__V1__GroupStep step = wire_group_step_call(group, action, WORLDS);
    const uint64_t id = wire_submit(client, &step);
    for (int i = 0; i < 20; i++) {
        wire_step(other, world, 1);
    }
    ck_assert(!wire_waits(client, 0)); // and is not yet done
    Moreau__V1__Cancel cancel = MOREAU__V1__CANCEL__INIT;
    cancel.has_request = 1, cancel.request = id;
    wire_submit(client, &cancel);
    for (int i = 0; i < 2; i++) {
        const Moreau__V1__Reply *reply = wire_receive(client);
        ck_assert(reply->id != id || reply->status->code == CODE(CANCELLED));
    }
    wire_close(client);
    wire_close(other);
    server_stop(server);
}
END_TEST

// Of a world as it is: with what its future depends on.
START_TEST(a_world_is_a_template_as_it_stands) {
    ServerProcess *server = server_start("--workers 2");
    WireClient *client = wire_open(server->address[0]);
    const uint64_t world = wire_world(client, 3, 5, MOREAU__V1__WORLD__LIFETIME__SESSION).id;
    wire_step(client, world, 60);
    Moreau__V1__GroupCreate *call = wire_group_create_call(3);
    Moreau__V1__GroupChannel act = MOREAU__V1__GROUP_CHANNEL__INIT,
                             see = MOREAU__V1__GROUP_CHANNEL__INIT;
    act.has_kind = 1, act.kind = MOREAU__V1__GROUP_CHANNEL__KIND__BODY_FORCE;
    see.has_kind = 1, see.kind = MOREAU__V1__GROUP_CHANNEL__KIND__BODY_POSITION;
    act.has_body_id = see.has_body_id = 1;
    act.body_id = see.body_id = 2;
    call->scene = NULL;
    call->has_world = 1, call->world = world;
    call->n_noise = call->n_bounds = 0;
    call->action[0] = &act;
    call->n_observation = 1, call->observation[0] = &see;
    call->has_double_precision = call->double_precision = 1;
    const Moreau__V1__GroupCreateReply *made = wire_accept(client, call)->group_create;
    ck_assert_uint_eq(made->template_hash, wire_hash(client, world));
    ck_assert_str_eq(made->observation->name[2], "#2.position.z");
    wire_group_reset(client, made->group);
    Moreau__V1__GroupStep step = wire_group_step_call(made->group, NULL, 0);
    double none[9] = {0};
    step.n_action_double = 9, step.action_double = none;
    Moreau__V1__WorldGet get = MOREAU__V1__WORLD_GET__INIT;
    get.has_world = 1, get.world = world;
    for (int i = 0; i < 20; i++) {
        const Moreau__V1__GroupStepReply *rows = wire_accept(client, &step)->group_step;
        wire_step(client, world, 1);
        const Moreau__V1__WorldGetReply *state = wire_accept(client, &get)->world_get;
        ck_assert_mem_eq(rows->observation_double + 6, state->pose + 7, 3 * sizeof(double));
    }
    wire_close(client);
    server_stop(server);
}
END_TEST

static TCase *case_rows(void) {
    TCase *tcase = tcase_create("rows");
    tcase_add_test(tcase, arrays_are_the_same_for_any_number_of_lanes);
    tcase_add_test(tcase, each_world_has_the_same_rows_in_whatever_order_they_come);
    tcase_add_test(tcase, a_world_is_a_template_as_it_stands);
    return tcase;
}

static TCase *case_refused(void) {
    TCase *tcase = tcase_create("refused");
    tcase_add_test(tcase, a_world_that_was_sent_takes_no_other_call_until_it_is_received);
    tcase_add_test(tcase, a_group_that_cannot_be_is_refused_and_leaves_nothing);
    tcase_add_test(tcase, a_call_that_is_wrong_changes_nothing);
    return tcase;
}

static TCase *case_life(void) {
    TCase *tcase = tcase_create("life");
    tcase_add_test(tcase, a_deadline_stops_between_worlds_and_the_rest_is_as_it_was);
    tcase_add_test(tcase, a_client_that_goes_in_the_middle_takes_its_groups_with_it);
    tcase_add_test(tcase, a_group_that_is_destroyed_in_the_middle_finishes_its_step);
    tcase_add_test(tcase, a_receive_that_is_cancelled_loses_nothing);
    tcase_add_test(tcase, a_large_group_leaves_room_for_others);
    return tcase;
}

SUITE_MAIN("system/groups", case_rows, case_refused, case_life)
