// SPDX-License-Identifier: MIT
// What a host publishes of its worlds, and what a step may take of the memory budget.
#include "run/worlds/host.h"

#include "base/array.h"
#include "step/step.h"
#include "support/suite.h"

#include <string.h>

enum { BUDGET_BYTES = 1 << 26 };

typedef struct Fixture {
    uv_loop_t loop;
    Host *host;
    WorldEntry *entry;
    bool is_closed;
} Fixture;

static void start(Fixture *fixture) {
    *fixture = (Fixture){0};
    ck_assert_int_eq(uv_loop_init(&fixture->loop), 0);
    HostDef def = {.worlds_max = 4,
                   .session_worlds_max = 4,
                   .limits = {.body_count_max = 100, .bytes_max = BUDGET_BYTES},
                   .loop = &fixture->loop};
    Error error;
    ck_assert_int_eq(host_create(&fixture->host, &def, &error), STATUS_OK);
    WorldOwner owner = {.client = "check"};
    ck_assert_int_eq(host_add(fixture->host, NULL, &owner, 0.0, &fixture->entry, &error),
                     STATUS_OK);
    host_release(fixture->entry);
}

static void on_closed(void *context) {
    Fixture *fixture = context;
    fixture->is_closed = true;
}

static void stop(Fixture *fixture) {
    host_stop(fixture->host);
    host_close(fixture->host, on_closed, fixture);
    uv_run(&fixture->loop, UV_RUN_DEFAULT);
    ck_assert(fixture->is_closed);
    ck_assert_int_eq(uv_loop_close(&fixture->loop), 0);
}

// What the stepper may still grow by.
static size_t room_of(const Fixture *fixture) {
    const Stepper *stepper = fixture->entry->door.stepper;
    return stepper->bytes_max - stepper_bytes(stepper);
}

START_TEST(a_step_may_take_what_is_left_of_the_budget_whoever_takes_or_gives) {
    Fixture fixture;
    start(&fixture);
    host_limit_step(fixture.entry);
    ck_assert_uint_eq(room_of(&fixture), BUDGET_BYTES - host_bytes(fixture.host));

    // others take a part, give it back, and take all
    enum { PART_BYTES = 1000000 };
    host_count_bytes(fixture.host, 0, PART_BYTES);
    host_limit_step(fixture.entry);
    ck_assert_uint_eq(room_of(&fixture), BUDGET_BYTES - host_bytes(fixture.host));
    host_count_bytes(fixture.host, PART_BYTES, 0);
    host_limit_step(fixture.entry);
    ck_assert_uint_eq(room_of(&fixture), BUDGET_BYTES - host_bytes(fixture.host));
    host_count_bytes(fixture.host, 0, BUDGET_BYTES);
    host_limit_step(fixture.entry);
    ck_assert_uint_eq(room_of(&fixture), 0);
    host_count_bytes(fixture.host, BUDGET_BYTES, 0);
    stop(&fixture);
}
END_TEST

START_TEST(what_a_world_takes_is_counted_as_it_is_published) {
    Fixture fixture;
    start(&fixture);
    size_t published = fixture.entry->own_bytes + door_bytes(&fixture.entry->door);
    ck_assert_uint_eq(host_bytes(fixture.host), published);
    host_publish(fixture.entry);
    ck_assert_uint_eq(host_bytes(fixture.host), published);

    // its stepper takes memory that stays
    Stepper *stepper = fixture.entry->door.stepper;
    ck_assert(ARRAY_RESERVE(stepper->memory, stepper->memory_capacity, 100000));
    ck_assert_uint_eq(host_bytes(fixture.host), published);
    host_publish(fixture.entry);
    ck_assert_uint_ge(host_bytes(fixture.host), published + 100000);
    ck_assert_uint_eq(host_bytes(fixture.host),
                      fixture.entry->own_bytes + door_bytes(&fixture.entry->door));
    stop(&fixture);
}
END_TEST

// Thousands of small worlds are stepped in turn, and what they take decides how many of them caches
// hold: half of what they once took, by their own count, and of an empty one what its shape takes
// that may wear a geometry, in patches of eight materials, of which pairs may rub in ways of their
// own.
static const struct {
    uint32_t bodies;
    size_t bytes_max;
} small_worlds[] = {{0, 2600}, {1, 3500}, {10, 9100}};

// What batches borrow takes its part of the budget as long as the host has it, lent or spare.
START_TEST(what_is_borrowed_is_counted_once_it_is_given_back) {
    enum { PIECE_BYTES = 1 << 16 };
    Fixture fixture;
    start(&fixture);
    uint64_t before = host_bytes(fixture.host);
    for (int round = 0; round < 3; round++) { // the same memory each time
        StockArena lent;
        host_lend(fixture.host, &lent);
        ck_assert_ptr_nonnull(arena_take(&lent.arena, PIECE_BYTES));
        size_t bytes = lent.arena.total_bytes;
        host_return(fixture.host, &lent);
        ck_assert_uint_ge(bytes, PIECE_BYTES);
        ck_assert_uint_eq(host_bytes(fixture.host), before + bytes);
    }
    host_limit_step(fixture.entry); // a step may take what is left beside it
    ck_assert_uint_eq(room_of(&fixture), BUDGET_BYTES - host_bytes(fixture.host));
    stop(&fixture);
}
END_TEST

START_TEST(small_worlds_take_little) {
    Fixture fixture;
    start(&fixture);
    World *world = fixture.entry->door.world;
    const uint32_t kind = PRIMITIVE_SPHERE;
    const double size[3] = {0.1, 0.0, 0.0};
    ShapeColumns shapes = {.shape_count = 1, .primitive_count = 1, .kind = &kind, .size = size};
    Id shape;
    Error error = {0};
    ck_assert_int_eq(world_add_shapes(world, &shapes, &shape, &error), STATUS_OK);
    double pose[10 * 7];
    uint64_t shape_of[10];
    Id ids[10];
    for (uint32_t i = 0; i < small_worlds[_i].bodies; i++) {
        const double at[7] = {i, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0};
        memcpy(pose + (size_t)7 * i, at, sizeof(at));
        shape_of[i] = shape;
    }
    BodyColumns bodies = {.count = small_worlds[_i].bodies, .pose = pose, .shape = shape_of};
    ck_assert_int_eq(world_add_bodies(world, &bodies, ids, &error), STATUS_OK);
    Arena scratch;
    arena_init(&scratch, BUDGET_BYTES);
    StepReport report;
    for (int i = 0; i < 100; i++) {
        StepInput input = {.time_step = 0.01};
        ck_assert_int_eq(stepper_run(fixture.entry->door.stepper, world, &input, &scratch, NULL,
                                     &report, &error),
                         STATUS_OK);
    }
    host_publish(fixture.entry);
    ck_assert_uint_le(host_bytes(fixture.host), small_worlds[_i].bytes_max);
    arena_deinit(&scratch);
    stop(&fixture);
}
END_TEST

START_TEST(a_faulted_world_is_counted_once_until_it_is_mended) {
    Fixture fixture;
    start(&fixture);
    World *world = fixture.entry->door.world;
    for (int round = 0; round < 2; round++) {
        world->faulted = true;
        host_publish(fixture.entry);
        host_publish(fixture.entry);
        ck_assert_uint_eq(host_faulted_count(fixture.host), 1);
        world->faulted = false;
        host_publish(fixture.entry);
        host_publish(fixture.entry);
        ck_assert_uint_eq(host_faulted_count(fixture.host), 0);
    }
    stop(&fixture);
}
END_TEST

static TCase *case_host(void) {
    TCase *tcase = tcase_create("host");
    tcase_add_test(tcase, a_step_may_take_what_is_left_of_the_budget_whoever_takes_or_gives);
    tcase_add_test(tcase, what_a_world_takes_is_counted_as_it_is_published);
    tcase_add_test(tcase, what_is_borrowed_is_counted_once_it_is_given_back);
    tcase_add_loop_test(tcase, small_worlds_take_little, 0, 3);
    tcase_add_test(tcase, a_faulted_world_is_counted_once_until_it_is_mended);
    return tcase;
}

SUITE_MAIN("run/host", case_host)
