// SPDX-License-Identifier: MIT
// Calls on a group that are sent without waiting for replies: each finds what those before it have
// left, also behind a GroupReceive that waits.
#include "support/server_process.h"
#include "support/suite.h"
#include "support/wire_group.h"

#include <stdlib.h>
#include <string.h>

#define CODE(name) MOREAU__V1__STATUS__CODE__##name

enum { WORLDS = 12, STEPS = 64, SEEN = WIRE_GROUP_SEEN, ALL = (1 << WORLDS) - 1, SEED = 11 };
enum { CALLS_MAX = 12, ROUNDS = 300 };

// What each world shows behind so many steps of its first episodes, by GroupStep alone.
typedef struct Table {
    float seen[STEPS + 1][WORLDS][SEEN];
} Table;

static float action_of(uint32_t world, uint32_t step) {
    return (float)((world * 37 + step * 11) % 41) / 20.0f - 1.0f;
}

static uint64_t make_group(WireClient *client, uint32_t substeps) {
    Moreau__V1__GroupCreate *call = wire_group_create_call(WORLDS);
    call->has_substeps = 1, call->substeps = substeps;
    const uint64_t group = wire_accept(client, call)->group_create->group;
    wire_group_reset(client, group);
    return group;
}

static void keep(Table *table, size_t step, const Moreau__V1__GroupStepReply *reply) {
    ck_assert_uint_eq(reply->n_observation, WORLDS * SEEN);
    memcpy(table->seen[step], reply->observation, sizeof(table->seen[step]));
}

static void fill_table(WireClient *client, uint32_t substeps, Table *table) {
    uint64_t seed = SEED, group = make_group(client, substeps);
    Moreau__V1__GroupReset reset = wire_group_reset_call(group);
    reset.n_seed = 1, reset.seed = &seed;
    keep(table, 0, wire_accept(client, &reset)->group_step);
    for (uint32_t step = 0; step < STEPS; step++) {
        float action[WORLDS];
        for (uint32_t i = 0; i < WORLDS; i++) {
            action[i] = action_of(i, step);
        }
        keep(table, step + 1, wire_group_step(client, group, action, WORLDS));
    }
}

// ---- a pipeline of calls and what must come of it

typedef enum Verb { SEND, RECEIVE, STEP, READ, RESET, VERB_COUNT } Verb;

typedef struct Call {
    Verb verb;
    uint32_t mask;  // of worlds
    uint32_t count; // of a Receive
    bool fails;
    uint64_t id;
    const Moreau__V1__Reply *reply;
} Call;

typedef struct Play {
    WireClient *client;
    uint64_t group;
    const Table *table;
    uint64_t random;
    // as it will be when all that was sent has been done
    uint32_t sent, left; // worlds of which so many are not received
    uint32_t step[WORLDS];
    Call call[CALLS_MAX];
    size_t count;
    // as it is
    uint32_t away; // worlds
    uint32_t at[WORLDS];
} Play;

static uint32_t draw(Play *play, uint32_t below) {
    play->random = play->random * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(play->random >> 33) % below;
}

static size_t pack_mask(uint32_t mask, uint8_t *bytes) {
    bytes[0] = (uint8_t)mask;
    bytes[1] = (uint8_t)(mask >> 8);
    return (WORLDS + 7) / 8;
}

static uint32_t fill_actions(const Play *play, uint32_t mask, float *action) {
    uint32_t used = 0;
    for (uint32_t i = 0; i < WORLDS; i++) {
        if (mask >> i & 1) {
            action[used++] = action_of(i, play->step[i]);
        }
    }
    return used;
}

static uint64_t submit(const Play *play, const Call *call) {
    uint8_t bytes[2];
    float action[WORLDS];
    uint64_t seed = SEED;
    const uint32_t used = fill_actions(play, call->mask, action);
    const ProtobufCBinaryData mask = {.len = pack_mask(call->mask, bytes), .data = bytes};
    Moreau__V1__GroupSend send = MOREAU__V1__GROUP_SEND__INIT;
    Moreau__V1__GroupReceive receive = MOREAU__V1__GROUP_RECEIVE__INIT;
    Moreau__V1__GroupRead read = MOREAU__V1__GROUP_READ__INIT;
    Moreau__V1__GroupStep step = wire_group_step_call(play->group, action, used);
    Moreau__V1__GroupReset reset = wire_group_reset_call(play->group);
    send.has_group = receive.has_group = read.has_group = 1;
    send.group = receive.group = read.group = play->group;
    send.n_action = used, send.action = action;
    send.has_mask = step.has_mask = read.has_mask = reset.has_mask = call->mask != ALL;
    send.mask = step.mask = read.mask = reset.mask = mask;
    reset.n_seed = 1, reset.seed = &seed;
    receive.has_count = 1, receive.count = call->count;
    const void *const of[] = {
        [SEND] = &send, [RECEIVE] = &receive, [STEP] = &step, [READ] = &read, [RESET] = &reset};
    return wire_submit(play->client, of[call->verb]);
}

// Which of its worlds a receive takes is not known before, so calls name all or none of those of
// which only a part was received.
static uint32_t draw_mask(Play *play) {
    const uint32_t drawn = draw(play, 3) == 0 ? ALL : 1 + draw(play, ALL);
    const bool is_partly = play->left != (uint32_t)__builtin_popcount(play->sent);
    if (!is_partly) {
        return drawn;
    }
    return drawn & 1 || (drawn & ~play->sent) == 0 ? drawn | play->sent : drawn & ~play->sent;
}

static void foresee(Play *play, Call *call) {
    if (call->verb == RECEIVE) {
        call->fails = call->count > play->left;
        play->left -= call->fails ? 0 : call->count;
        play->sent = play->left == 0 ? 0 : play->sent;
        return;
    }
    call->fails = (call->mask & play->sent) != 0;
    for (uint32_t i = 0; i < WORLDS && !call->fails; i++) {
        if (call->mask >> i & 1) {
            play->step[i] = call->verb == RESET  ? 0
                            : call->verb == READ ? play->step[i]
                                                 : play->step[i] + 1;
        }
    }
    if (call->verb == SEND && !call->fails) {
        play->sent |= call->mask;
        play->left += (uint32_t)__builtin_popcount(call->mask);
    }
}

static void push(Play *play, Call call) {
    call.id = submit(play, &call);
    foresee(play, &call);
    play->call[play->count++] = call;
}

static bool is_worn(const Play *play) {
    for (uint32_t i = 0; i < WORLDS; i++) {
        if (play->step[i] + CALLS_MAX >= STEPS) {
            return true;
        }
    }
    return false;
}

static void push_calls(Play *play) {
    const uint32_t count = 2 + draw(play, CALLS_MAX - 4);
    while (play->count < count) {
        Call call = {.verb = (Verb)draw(play, is_worn(play) ? 2 : VERB_COUNT)};
        // as many as there are, fewer, or too many
        const uint32_t kind = draw(play, 8), left = play->left == 0 ? 1 : play->left;
        call.count = kind == 0 ? left + 1 : kind < 4 ? left : 1 + draw(play, left);
        call.mask = draw_mask(play);
        push(play, call);
    }
    if (play->left > 0) {
        push(play, (Call){.verb = RECEIVE, .count = play->left});
    }
    push(play, (Call){.verb = is_worn(play) ? RESET : STEP, .mask = ALL});
}

static void take_replies(Play *play) {
    for (size_t taken = 0; taken < play->count; taken++) {
        const Moreau__V1__Reply *reply = wire_receive(play->client);
        size_t which = 0;
        while (which < play->count && play->call[which].id != reply->id) {
            which++;
        }
        ck_assert_uint_lt(which, play->count);
        ck_assert_ptr_null(play->call[which].reply);
        play->call[which].reply = reply;
    }
}

// ---- what did come

static void expect_row(const Play *play, const Moreau__V1__GroupStepReply *reply, size_t row,
                       uint32_t world) {
    ck_assert_uint_lt(world, WORLDS);
    ck_assert_mem_eq(reply->observation + row * SEEN, play->table->seen[play->at[world]][world],
                     SEEN * sizeof(float));
}

static void expect_received(Play *play, const Call *call, const Moreau__V1__GroupStepReply *reply) {
    ck_assert_uint_eq(reply->n_worlds, call->count);
    for (size_t i = 0; i < reply->n_worlds; i++) {
        const uint32_t world = reply->worlds[i];
        ck_assert(play->away >> world & 1);
        play->away &= ~(1u << world);
        expect_row(play, reply, i, world);
    }
}

static void expect_rows(Play *play, const Call *call, const Moreau__V1__GroupStepReply *reply) {
    size_t row = 0;
    for (uint32_t i = 0; i < WORLDS; i++) {
        if (!(call->mask >> i & 1)) {
            continue;
        }
        play->at[i] = call->verb == RESET ? 0 : play->at[i] + (call->verb != READ);
        if (reply != NULL) {
            expect_row(play, reply, row++, i);
        }
    }
    ck_assert(reply == NULL || reply->n_observation == row * SEEN);
    play->away |= call->verb == SEND ? call->mask : 0;
}

static void expect_replies(Play *play) {
    for (size_t i = 0; i < play->count; i++) {
        const Call *call = &play->call[i];
        const Moreau__V1__Status__Code code = call->reply->status->code;
        ck_assert_msg(code == (call->fails ? CODE(FAILED_PRECONDITION) : CODE(OK)),
                      "call %zu of %zu, verb %d: code %d (%s)", i, play->count, (int)call->verb,
                      (int)code, call->reply->status->message);
        if (!call->fails && call->verb == RECEIVE) {
            expect_received(play, call, call->reply->group_step);
        } else if (!call->fails) {
            expect_rows(play, call, call->verb == SEND ? NULL : call->reply->group_step);
        }
    }
    ck_assert_uint_eq(play->away, 0);
    play->count = 0;
}

static const char *const lanes[] = {"--workers 1", "--workers 2", "--workers 4"};

// Waiting for every reply or for none, the same comes out; and worlds move as they do alone.
START_TEST(calls_sent_at_once_find_what_those_before_them_left) {
    ServerProcess *server = server_start(lanes[_i]);
    WireClient *client = wire_open(server->address[0]);
    static const uint32_t substeps[] = {1, 20, 300};
    static Table table;
    for (size_t i = 0; i < 3; i++) {
        fill_table(client, substeps[i], &table);
        Play play = {.client = client, .table = &table, .random = 77 + (uint64_t)_i};
        play.group = make_group(client, substeps[i]);
        push(&play, (Call){.verb = RESET, .mask = ALL});
        for (int round = 0; round < (substeps[i] > 20 ? ROUNDS / 5 : ROUNDS); round++) {
            push_calls(&play);
            take_replies(&play);
            expect_replies(&play);
        }
    }
    wire_close(client);
    server_stop(server);
}
END_TEST

// As it was found: three calls at once, of which the last one was refused nearly always.
START_TEST(a_step_behind_a_receive_waits_for_it) {
    ServerProcess *server = server_start(lanes[_i]);
    WireClient *client = wire_open(server->address[0]);
    static Table table;
    fill_table(client, 1, &table);
    Play play = {.client = client, .table = &table, .group = make_group(client, 1)};
    for (int round = 0; round < ROUNDS; round++) {
        push(&play, (Call){.verb = SEND, .mask = ALL});
        push(&play, (Call){.verb = RECEIVE, .count = WORLDS});
        push(&play, (Call){.verb = STEP, .mask = ALL});
        push(&play, (Call){.verb = RESET, .mask = ALL});
        take_replies(&play);
        expect_replies(&play);
    }
    wire_close(client);
    server_stop(server);
}
END_TEST

static void submit_cancel(WireClient *client, uint64_t request) {
    Moreau__V1__Cancel cancel = MOREAU__V1__CANCEL__INIT;
    cancel.has_request = 1, cancel.request = request;
    wire_submit(client, &cancel);
}

// Whatever is cancelled, everything is answered once, and what was sent can be received.
START_TEST(calls_that_wait_can_be_cancelled) {
    ServerProcess *server = server_start(lanes[_i]);
    WireClient *client = wire_open(server->address[0]);
    static Table table;
    Play play = {.client = client, .table = &table, .group = make_group(client, 100), .random = 5};
    for (int round = 0; round < ROUNDS / 2; round++) {
        push(&play, (Call){.verb = SEND, .mask = ALL});
        push(&play, (Call){.verb = RECEIVE, .count = WORLDS});
        push(&play, (Call){.verb = STEP, .mask = ALL});
        push(&play, (Call){.verb = SEND, .mask = 0x0f0});
        push(&play, (Call){.verb = RECEIVE, .count = 4});
        push(&play, (Call){.verb = READ, .mask = 0x0ff});
        push(&play, (Call){.verb = RESET, .mask = ALL});
        const size_t calls = play.count, cancels = 1 + draw(&play, 3);
        for (size_t i = 0; i < cancels; i++) {
            submit_cancel(client, play.call[1 + draw(&play, (uint32_t)calls - 1)].id);
        }
        size_t answered = 0;
        for (size_t i = 0; i < calls + cancels; i++) {
            const Moreau__V1__Reply *reply = wire_receive(client);
            if (reply->result_case == MOREAU__V1__REPLY__RESULT_CANCEL) {
                continue;
            }
            answered++;
            ck_assert(reply->status->code == CODE(OK) || reply->status->code == CODE(CANCELLED) ||
                      reply->status->code == CODE(FAILED_PRECONDITION));
        }
        ck_assert_uint_eq(answered, calls);
        Moreau__V1__GroupReceive rest = MOREAU__V1__GROUP_RECEIVE__INIT;
        rest.has_group = 1, rest.group = play.group;
        wire_call(client, &rest); // what is left, if anything
        play =
            (Play){.client = client, .table = &table, .group = play.group, .random = play.random};
        wire_group_reset(client, play.group);
    }
    wire_close(client);
    server_stop(server);
}
END_TEST

// The worlds of one call are sent, received, and stepped while others come and go.
START_TEST(a_group_is_destroyed_behind_the_calls_before) {
    ServerProcess *server = server_start(lanes[_i]);
    WireClient *client = wire_open(server->address[0]);
    for (int round = 0; round < ROUNDS / 6; round++) {
        Play play = {.client = client, .group = make_group(client, 50)};
        push(&play, (Call){.verb = SEND, .mask = ALL});
        push(&play, (Call){.verb = RECEIVE, .count = WORLDS});
        if (round % 2 == 0) {
            push(&play, (Call){.verb = STEP, .mask = ALL});
        }
        Moreau__V1__GroupDestroy destroy = MOREAU__V1__GROUP_DESTROY__INIT;
        destroy.has_group = 1, destroy.group = play.group;
        const uint64_t gone = wire_submit(client, &destroy);
        const uint64_t late = submit(&play, &(Call){.verb = STEP, .mask = ALL});
        for (size_t i = 0; i < play.count + 2; i++) {
            const Moreau__V1__Reply *reply = wire_receive(client);
            ck_assert_int_eq(reply->status->code, reply->id == late ? CODE(NOT_FOUND) : CODE(OK));
            ck_assert(reply->id != gone ||
                      reply->result_case == MOREAU__V1__REPLY__RESULT_GROUP_DESTROY);
        }
    }
    wire_ping(client);
    wire_close(client);
    server_stop(server);
}
END_TEST

static const Moreau__V1__Reply *await(WireClient *client, uint64_t id) {
    const Moreau__V1__Reply *reply = wire_receive(client);
    ck_assert_uint_eq(reply->id, id);
    return reply;
}

// While a Receive waits for long steps, what is not about its worlds is answered.
START_TEST(others_do_not_wait) {
    ServerProcess *server = server_start("--workers 2");
    WireClient *client = wire_open(server->address[0]);
    static Table table;
    const uint64_t other = make_group(client, 1);
    Play play = {.client = client, .table = &table, .group = make_group(client, 100000)};
    push(&play, (Call){.verb = SEND, .mask = ALL});
    await(client, play.call[0].id);
    push(&play, (Call){.verb = RECEIVE, .count = WORLDS});
    push(&play, (Call){.verb = READ, .mask = ALL});
    wire_ping(client);
    float action[WORLDS] = {0};
    wire_group_step(client, other, action, WORLDS);
    submit_cancel(client, play.call[2].id); // it only waits: it ends at once
    const Moreau__V1__Reply *reply = wire_receive(client);
    reply = reply->result_case == MOREAU__V1__REPLY__RESULT_CANCEL ? wire_receive(client) : reply;
    ck_assert_uint_eq(reply->id, play.call[2].id);
    ck_assert_int_eq(reply->status->code, CODE(CANCELLED));
    wire_close(client); // with the Receive still waiting
    server_stop(server);
}
END_TEST

// The deadline of a call that waits ends it when its turn comes, and those behind it go on.
START_TEST(a_deadline_may_pass_while_a_call_waits) {
    ServerProcess *server = server_start(lanes[_i]);
    WireClient *client = wire_open(server->address[0]);
    static Table table;
    for (int round = 0; round < ROUNDS / 10; round++) {
        Play play = {.client = client, .table = &table, .group = make_group(client, 2000)};
        push(&play, (Call){.verb = SEND, .mask = ALL});
        push(&play, (Call){.verb = RECEIVE, .count = WORLDS});
        float action[WORLDS] = {0};
        Moreau__V1__GroupStep step = wire_group_step_call(play.group, action, WORLDS);
        Moreau__V1__Request request = wire_request(&step);
        request.has_deadline_ms = 1, request.deadline_ms = 1;
        const uint64_t late = wire_submit_request(client, &request);
        push(&play, (Call){.verb = READ, .mask = ALL});
        for (size_t i = 0; i < play.count + 1; i++) {
            const Moreau__V1__Reply *reply = wire_receive(client);
            ck_assert_int_eq(reply->status->code,
                             reply->id == late ? CODE(DEADLINE_EXCEEDED) : CODE(OK));
        }
    }
    wire_close(client);
    server_stop(server);
}
END_TEST

static TCase *case_order(void) {
    TCase *tcase = tcase_create("order");
    tcase_set_timeout(tcase, 60);
    tcase_add_loop_test(tcase, a_step_behind_a_receive_waits_for_it, 0, 3);
    tcase_add_loop_test(tcase, calls_sent_at_once_find_what_those_before_them_left, 0, 3);
    tcase_add_loop_test(tcase, calls_that_wait_can_be_cancelled, 0, 3);
    tcase_add_loop_test(tcase, a_group_is_destroyed_behind_the_calls_before, 0, 3);
    tcase_add_loop_test(tcase, a_deadline_may_pass_while_a_call_waits, 0, 3);
    tcase_add_test(tcase, others_do_not_wait);
    return tcase;
}

SUITE_MAIN("system/group_order", case_order)
