// SPDX-License-Identifier: MIT
// The groups of a server: who has room, who is found, which lane has which world, and that all
// that a group took is given back when the last one lets go of it.
#include "run/groups/farm.h"

#include "group_lab.h"
#include "os/clock.h"
#include "support/suite.h"

enum { WORLDS_MAX = 10, SESSION_WORLDS_MAX = 6, SESSION = 7 };

typedef struct Fixture {
    uv_loop_t loop;
    uv_timer_t tick; // a pool alone does not keep its loop alive
    Budget scratch;
    Pool *pool;
    Host *host;
    Farm *farm;
    uint32_t session_worlds;
    const char *why; // a group went
    bool is_stopped, is_closed;
} Fixture;

static const Report silent = {.level = REPORT_ERROR, .fd = 2};

static void on_tick(uv_timer_t *timer) {
    (void)timer;
}

static void on_goes(GroupEntry *entry, const char *why, void *context) {
    (void)entry;
    ((Fixture *)context)->why = why;
}

static void start(Fixture *fixture) {
    *fixture = (Fixture){.scratch = {.max_bytes = (size_t)1 << 26}};
    ck_assert_int_eq(uv_loop_init(&fixture->loop), 0);
    uv_timer_init(&fixture->loop, &fixture->tick);
    uv_timer_start(&fixture->tick, on_tick, 1, 1);
    const PoolDef pool = {.lane_count = 1, .scratch = &fixture->scratch};
    Error error;
    ck_assert_int_eq(pool_create(&fixture->pool, &fixture->loop, &pool, &error), STATUS_OK);
    const HostDef def = {.worlds_max = WORLDS_MAX,
                         .session_worlds_max = SESSION_WORLDS_MAX,
                         .limits = {.body_count_max = 100, .bytes_max = (size_t)1 << 28},
                         .pool = fixture->pool,
                         .loop = &fixture->loop,
                         .report = &silent};
    ck_assert_int_eq(host_create(&fixture->host, &def, &error), STATUS_OK);
    fixture->farm = farm_create(fixture->host, fixture->pool, fixture->pool);
    ck_assert_ptr_nonnull(fixture->farm);
    farm_tell(fixture->farm, on_goes, fixture);
}

static void on_closed(void *context) {
    ((Fixture *)context)->is_closed = true;
}

static void close_and_wait(Fixture *fixture) {
    uv_run(&fixture->loop, UV_RUN_DEFAULT);
    ck_assert(fixture->is_closed);
    fixture->is_closed = false;
}

static void stop(Fixture *fixture) {
    uv_close((uv_handle_t *)&fixture->tick, NULL);
    if (!fixture->is_stopped) {
        host_stop(fixture->host);
    }
    pool_close(fixture->pool, on_closed, fixture);
    close_and_wait(fixture);
    host_close(fixture->host, on_closed, fixture);
    close_and_wait(fixture);
    ck_assert_int_eq(uv_loop_close(&fixture->loop), 0);
}

static Status add(Fixture *fixture, uint64_t session, uint32_t count, double idle_timeout_s,
                  GroupEntry **entry) {
    const WorldOwner owner = {.client = "check",
                              .session = session,
                              .world_count = session == 0 ? NULL : &fixture->session_worlds};
    Error error = {0};
    return farm_add(fixture->farm, "herd", &owner, count, idle_timeout_s, entry, &error);
}

// A group of balls that is listed; one reference is the caller's.
static GroupEntry *list(Fixture *fixture, uint64_t session, uint32_t count, uint32_t block_worlds,
                        double idle_timeout_s) {
    const ChannelDef push = of_body(CHANNEL_BODY_FORCE, "#2");
    const ChannelDef time = {.kind = CHANNEL_TIME, .scale = 1.0};
    GroupDef def = group_def(count);
    def.action.count = def.observation.count = 1;
    def.action.channel = &push;
    def.observation.channel = &time;
    Group *group;
    GroupEntry *entry;
    Error error = {0};
    ck_assert_int_eq(add(fixture, session, count, idle_timeout_s, &entry), STATUS_OK);
    ck_assert_int_eq(group_create(&def, ball_world(1.0), &group, &error), STATUS_OK);
    ck_assert_int_eq(farm_set_group(entry, group, block_worlds, &error), STATUS_OK);
    for (uint32_t i = 0; i < count; i++) {
        ck_assert_int_eq(group_add_world(group, i, &error), STATUS_OK);
    }
    ck_assert_int_eq(farm_list(entry, &error), STATUS_OK);
    return entry;
}

// Until all that waits for a lane is done.
static void settle(const Fixture *fixture, uint64_t bytes) {
    while (host_bytes(fixture->host) != bytes) {
        uv_run((uv_loop_t *)&fixture->loop, UV_RUN_ONCE);
    }
}

START_TEST(room_is_claimed_with_an_entry_and_given_back_with_it) {
    Fixture fixture;
    start(&fixture);
    const uint64_t bytes = host_bytes(fixture.host);
    GroupEntry *first, *other;
    ck_assert_int_eq(add(&fixture, SESSION, 4, 0.0, &first), STATUS_OK);
    ck_assert_uint_eq(fixture.session_worlds, 4);
    ck_assert_int_eq(add(&fixture, SESSION, 3, 0.0, &other), STATUS_RESOURCE_EXHAUSTED); // 7 of 6
    ck_assert_int_eq(add(&fixture, 0, 7, 0.0, &other), STATUS_RESOURCE_EXHAUSTED);       // 11 of 10
    ck_assert_uint_eq(host_claimed(fixture.host), 4);
    ck_assert_int_eq(add(&fixture, 0, 6, 0.0, &other), STATUS_OK);
    ck_assert_uint_eq(host_claimed(fixture.host), WORLDS_MAX);

    // neither came as far as a list
    farm_release(first);
    farm_release(other);
    ck_assert_uint_eq(host_claimed(fixture.host), 0);
    ck_assert_uint_eq(fixture.session_worlds, 0);
    settle(&fixture, bytes);
    stop(&fixture);
}
END_TEST

START_TEST(a_group_is_found_until_it_is_destroyed_and_stays_while_it_is_held) {
    Fixture fixture;
    start(&fixture);
    const uint64_t bytes = host_bytes(fixture.host);
    GroupEntry *first = list(&fixture, 0, 2, 0, 0.0), *second = list(&fixture, 0, 3, 0, 0.0);
    const Id ids[2] = {first->id, second->id};
    ck_assert_uint_eq(ids[0], 1);
    ck_assert_uint_eq(ids[1], 2);
    farm_release(second);
    farm_destroy(first); // the caller holds it
    ck_assert_str_eq(fixture.why, "it was destroyed");
    ck_assert_ptr_null(farm_find(fixture.farm, ids[0], SPACE_ALL));
    ck_assert_ptr_eq(farm_find(fixture.farm, ids[1], SPACE_ALL), second);
    ck_assert_uint_eq(farm_count(fixture.farm, SPACE_ALL), 1);
    ck_assert_ptr_eq(farm_at(fixture.farm, 0, SPACE_ALL), second);
    ck_assert_ptr_null(farm_at(fixture.farm, 1, SPACE_ALL));
    ck_assert_uint_eq(host_claimed(fixture.host), 3); // room is there at once
    ck_assert_uint_eq(first->group->count, 2);        // … and the group as long as it is held
    farm_release(first);

    // an id is never given again
    GroupEntry *third = list(&fixture, 0, 1, 0, 0.0);
    ck_assert_uint_eq(third->id, 3);
    ck_assert_ptr_eq(farm_find(fixture.farm, ids[1], SPACE_ALL),
                     second); // who moved up in the list
    farm_destroy(third);
    farm_release(third);
    farm_destroy(second);
    settle(&fixture, bytes);
    stop(&fixture);
}
END_TEST

// Whatever the size of the blocks, the last one shorter too.
START_TEST(every_world_has_one_block_and_its_strand) {
    Fixture fixture;
    start(&fixture);
    GroupEntry *entry = list(&fixture, 0, WORLDS_MAX, (uint32_t)_i, 0.0);
    uint32_t next = 0;
    for (uint32_t b = 0; b < entry->block_count; b++) {
        const GroupBlock *block = &entry->block[b];
        ck_assert_uint_eq(block->first, next);
        ck_assert_uint_ge(block->count, 1);
        for (uint32_t i = block->first; i < block->first + block->count; i++) {
            ck_assert_ptr_eq(farm_strand(entry, i), &block->strand);
        }
        next += block->count;
    }
    ck_assert_uint_eq(next, WORLDS_MAX);
    farm_destroy(entry);
    farm_release(entry);
    stop(&fixture);
}
END_TEST

START_TEST(what_worlds_take_is_counted_and_given_back) {
    Fixture fixture;
    start(&fixture);
    const uint64_t before = host_bytes(fixture.host);
    GroupEntry *entry = list(&fixture, 0, 4, 2, 0.0);
    ck_assert_uint_eq(host_bytes(fixture.host), before + entry->own_bytes);
    uint64_t worlds = 0;
    for (uint32_t b = 0; b < 2; b++) {
        farm_count_block(entry, &entry->block[b], true);
        worlds += group_bytes(entry->group, entry->block[b].first, entry->block[b].count);
    }
    ck_assert_uint_gt(worlds, 0);
    ck_assert_uint_eq(atomic_load(&entry->bytes), worlds);
    ck_assert_uint_eq(host_bytes(fixture.host), before + entry->own_bytes + worlds);
    farm_destroy(entry);
    farm_release(entry);
    settle(&fixture, before);
    stop(&fixture);
}
END_TEST

START_TEST(a_session_takes_its_groups_with_it_and_no_other) {
    Fixture fixture;
    start(&fixture);
    GroupEntry *mine = list(&fixture, SESSION, 2, 0, 0.0), *others = list(&fixture, 0, 2, 0, 0.0),
               *mine_too = list(&fixture, SESSION, 3, 0, 0.0);
    const Id kept = others->id;
    farm_release(mine);
    farm_release(others);
    farm_release(mine_too);
    farm_destroy_session(fixture.farm, SESSION);
    ck_assert_str_eq(fixture.why, "the session of its client is over");
    ck_assert_uint_eq(farm_count(fixture.farm, SPACE_ALL), 1);
    ck_assert_ptr_eq(farm_find(fixture.farm, kept, SPACE_ALL), others);
    ck_assert_uint_eq(fixture.session_worlds, 0);
    farm_destroy(others);
    stop(&fixture);
}
END_TEST

START_TEST(an_idle_group_goes_unless_a_call_holds_it_or_has_named_it) {
    Fixture fixture;
    start(&fixture);
    const double timeout_s = 100.0;
    GroupEntry *entry = list(&fixture, 0, 1, 0, timeout_s), *eternal = list(&fixture, 0, 1, 0, 0.0);
    farm_release(eternal);
    const uint64_t late_ns = clock_now_ns() + 1000000000ull * 101;
    ck_assert(farm_look_for_idle(fixture.farm, late_ns)); // a call holds it
    ck_assert_uint_eq(farm_count(fixture.farm, SPACE_ALL), 2);
    farm_release(entry);
    ck_assert(farm_look_for_idle(fixture.farm, clock_now_ns())); // too early
    ck_assert_uint_eq(farm_count(fixture.farm, SPACE_ALL), 2);
    ck_assert(!farm_look_for_idle(fixture.farm, late_ns)); // none is left that could be idle
    ck_assert_uint_eq(farm_count(fixture.farm, SPACE_ALL), 1);
    ck_assert_str_eq(fixture.why, "no call came for as long as its idle_timeout_s says");
    farm_destroy(eternal);
    stop(&fixture);
}
END_TEST

// A host that stops destroys what is still listed, and what was held, without a lane.
START_TEST(groups_that_are_left_go_with_the_host) {
    Fixture fixture;
    start(&fixture);
    farm_release(list(&fixture, 0, 3, 0, 0.0));
    GroupEntry *held = list(&fixture, SESSION, 2, 0, 0.0);
    farm_destroy(held);
    host_stop(fixture.host);
    fixture.is_stopped = true;
    farm_release(held);
    stop(&fixture);
}
END_TEST

static TCase *case_farm(void) {
    TCase *tcase = tcase_create("farm");
    tcase_set_timeout(tcase, 60.0);
    tcase_add_test(tcase, room_is_claimed_with_an_entry_and_given_back_with_it);
    tcase_add_test(tcase, a_group_is_found_until_it_is_destroyed_and_stays_while_it_is_held);
    tcase_add_loop_test(tcase, every_world_has_one_block_and_its_strand, 0, WORLDS_MAX + 2);
    tcase_add_test(tcase, what_worlds_take_is_counted_and_given_back);
    tcase_add_test(tcase, a_session_takes_its_groups_with_it_and_no_other);
    tcase_add_test(tcase, an_idle_group_goes_unless_a_call_holds_it_or_has_named_it);
    tcase_add_test(tcase, groups_that_are_left_go_with_the_host);
    return tcase;
}

SUITE_MAIN("run/farm", case_farm)
