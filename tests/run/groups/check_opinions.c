// SPDX-License-Identifier: MIT
// Second opinions when memory ends: each step that was kept to be solved again is either told or
// counted as lost, wherever it ends, and what it held is given back.
//
// The linker puts the two functions below in front of the C library's.
#include "run/groups/opinions.h"

#include "run/groups/opinion.h"
#include "group_lab.h"
#include "support/suite.h"

#include <stdlib.h>

enum { WORLDS = 5 };

static _Thread_local bool memory_ends; // for the loop's thread

void *__real_malloc(size_t bytes);
void *__real_realloc(void *memory, size_t bytes);
void *__wrap_malloc(size_t bytes);
void *__wrap_realloc(void *memory, size_t bytes);

void *__wrap_malloc(size_t bytes) {
    return memory_ends ? NULL : __real_malloc(bytes);
}

void *__wrap_realloc(void *memory, size_t bytes) {
    return memory_ends ? NULL : __real_realloc(memory, bytes);
}

typedef struct Fixture {
    GroupLab lab;
    uv_loop_t loop;
    uv_timer_t tick; // a pool alone does not keep its loop alive
    Budget scratch;
    Pool *pool;
    Opinions *opinions;
    size_t told, held_bytes, under_way;
    bool is_closed;
} Fixture;

static void on_found(void *context, uint64_t recorded_call, const OpinionFound *found,
                     size_t count) {
    Fixture *fixture = context;
    (void)recorded_call, (void)found;
    fixture->told += count;
}

static void retain(void *context) {
    ((Fixture *)context)->under_way++;
}

static void release(void *context) {
    ((Fixture *)context)->under_way--;
}

static void count_bytes(void *context, size_t before, size_t after) {
    Fixture *fixture = context;
    fixture->held_bytes += after - before;
}

static void on_tick(uv_timer_t *timer) {
    (void)timer;
}

// Every step of every ball is solved again.
static void start(Fixture *fixture) {
    *fixture = (Fixture){.scratch = {.max_bytes = (size_t)1 << 26}};
    GroupDef def = group_def(WORLDS);
    const ChannelDef push = of_body(CHANNEL_BODY_FORCE, "#2");
    const ChannelDef time = {.kind = CHANNEL_TIME, .scale = 1.0};
    def.action.count = def.observation.count = 1;
    def.action.channel = &push;
    def.observation.channel = &time;
    def.opinion = (GroupOpinionDef){
        .is_asked = true, .share = 1.0, .tolerance = 1e-8, .doubt = 1e-3, .lag = 1};
    fixture->lab = group_lab_create(&def, ball_world(1.0));
    group_lab_reset(&fixture->lab);
    ck_assert_int_eq(uv_loop_init(&fixture->loop), 0);
    uv_timer_init(&fixture->loop, &fixture->tick);
    uv_timer_start(&fixture->tick, on_tick, 1, 1);
    const PoolDef pool = {.lane_count = 1, .scratch = &fixture->scratch};
    Error error;
    ck_assert_int_eq(pool_create(&fixture->pool, &fixture->loop, &pool, &error), STATUS_OK);
    const OpinionsDef opinions = {.group = fixture->lab.group,
                                  .background = fixture->pool,
                                  .found = on_found,
                                  .retain = retain,
                                  .release = release,
                                  .count_bytes = count_bytes,
                                  .context = fixture};
    fixture->opinions = opinions_create(&opinions);
    ck_assert_ptr_nonnull(fixture->opinions);
}

static void on_closed(void *context) {
    ((Fixture *)context)->is_closed = true;
}

static void stop(Fixture *fixture) {
    uv_close((uv_handle_t *)&fixture->tick, NULL);
    pool_close(fixture->pool, on_closed, fixture);
    ck_assert_int_eq(uv_run(&fixture->loop, UV_RUN_DEFAULT), 0);
    ck_assert(fixture->is_closed);
    ck_assert_int_eq(uv_loop_close(&fixture->loop), 0);
    opinions_destroy(fixture->opinions);
    ck_assert_uint_eq(budget_used_bytes(&fixture->lab.group->opinion_memory), 0);
    group_lab_destroy(&fixture->lab);
}

// One call of the group; its kept steps, as a list.
static GroupCase *keep_steps(Fixture *fixture) {
    const double still[3 * WORLDS] = {0.0};
    GroupCase *list = NULL;
    group_lab_step(&fixture->lab, still);
    for (size_t i = 0; i < WORLDS; i++) {
        GroupCase *kept = fixture->lab.call.row[i].kept;
        ck_assert_ptr_nonnull(kept);
        fixture->lab.call.row[i].kept = NULL;
        kept->next = list;
        list = kept;
    }
    return list;
}

typedef enum Ends { ENDS_NEVER, ENDS_AS_STEPS_COME, ENDS_AS_ANSWERS_COME, ENDS_COUNT } Ends;

static size_t lost(const Fixture *fixture) {
    return atomic_load(&fixture->lab.group->opinions_lost);
}

START_TEST(what_memory_does_not_hold_is_counted_as_lost) {
    Fixture fixture;
    start(&fixture);
    GroupCase *list = keep_steps(&fixture);
    const uint64_t call = opinions_open_call(fixture.opinions);
    memory_ends = _i == ENDS_AS_STEPS_COME;
    opinions_add(fixture.opinions, call, list);
    memory_ends = false;
    while (fixture.under_way > 0) { // the lane solves; then the answers come to the loop
        memory_ends = _i == ENDS_AS_ANSWERS_COME;
        uv_run(&fixture.loop, UV_RUN_ONCE);
        memory_ends = false;
    }
    opinions_close_call(fixture.opinions, call, 0);
    ck_assert_uint_eq(fixture.told, _i == ENDS_NEVER ? WORLDS : 0);
    ck_assert_uint_eq(lost(&fixture), _i == ENDS_NEVER ? 0 : WORLDS);
    ck_assert_uint_eq(opinions_left(fixture.opinions), fixture.told);
    ck_assert_uint_eq(opinions_figures(fixture.opinions).given, fixture.told);
    ck_assert_uint_eq(opinions_figures(fixture.opinions).waiting, 0);
    ck_assert_uint_eq(fixture.held_bytes, 0);
    stop(&fixture);
}
END_TEST

// A call is told to the recorder, and no client can be told of it any more.
START_TEST(what_a_reply_cannot_hold_is_counted_as_lost) {
    Fixture fixture;
    start(&fixture);
    const uint64_t call = opinions_open_call(fixture.opinions);
    opinions_add(fixture.opinions, call, keep_steps(&fixture));
    while (fixture.under_way > 0) {
        uv_run(&fixture.loop, UV_RUN_ONCE);
    }
    memory_ends = true;
    opinions_close_call(fixture.opinions, call, 0);
    memory_ends = false;
    ck_assert_uint_eq(fixture.told, WORLDS);
    ck_assert_uint_eq(lost(&fixture), WORLDS);
    ck_assert_uint_eq(opinions_left(fixture.opinions), 0);
    stop(&fixture);
}
END_TEST

static TCase *case_opinions(void) {
    TCase *tcase = tcase_create("opinions");
    tcase_set_timeout(tcase, 60.0);
    tcase_add_loop_test(tcase, what_memory_does_not_hold_is_counted_as_lost, 0, ENDS_COUNT);
    tcase_add_test(tcase, what_a_reply_cannot_hold_is_counted_as_lost);
    return tcase;
}

SUITE_MAIN("run/opinions", case_opinions)
