// SPDX-License-Identifier: MIT
// Sleep as state: it goes into snapshots and comes back, at any step, with equal bits; it does not
// depend on lanes; it survives that bodies are removed; and what cannot be is refused.
#include "step/snapshot/snapshot.h"
#include "step/stages.h"
#include "support/crew.h"
#include "support/lab.h"
#include "support/suite.h"
#include "world/sleep.h"

#include <stdlib.h>
#include <string.h>

#define TIME_STEP 0.004

static const WorldLimits limits = {.body_count_max = 100000, .bytes_max = (size_t)1 << 30};

static Pose at(double x, double y, double z) {
    return (Pose){.position = vec3(x, y, z), .orientation = quat_identity()};
}

// Stacks of three in rows, which sleep from step 125 on, and balls that roll into some of them for
// as long as they go: of different speeds, so that they come at different times. The first bodies
// fly away and leave the bounds.
enum { STACK = 3, BALLS = 6, LEAVING = 2 };

static Lab playground(int stacks) {
    Lab lab = lab_create(9.81, TIME_STEP);
    WorldSettings settings = lab.world->settings;
    settings.sleep_speed = 0.05;
    settings.margin = 0.001;
    settings.has_bounds = true;
    settings.bounds_lower = vec3(-50.0, -50.0, -50.0);
    settings.bounds_upper = vec3(50.0, 50.0, 20.0);
    world_set_settings(lab.world, &settings);
    Id ball = lab_shape(&lab, PRIMITIVE_SPHERE, vec3(0.1, 0.0, 0.0), 0);
    Id cube = lab_shape(&lab, PRIMITIVE_BOX, vec3(0.1, 0.1, 0.1), 0);
    for (int i = 0; i < LEAVING; i++) { // out after some 150 and 190 steps
        const double velocity[6] = {0.0, 0.0, 35.0 - 6.0 * i, 0.0, 0.0, 0.0};
        lab_body(&lab, ball, BODY_DYNAMIC, at(0.0, 5.0 * i, 2.0), velocity, 0.0, NULL);
    }
    lab_ground(&lab, 0);
    for (int i = 0; i < stacks; i++) {
        for (int k = 0; k < STACK; k++) {
            lab_body(&lab, cube, BODY_DYNAMIC,
                     at(0.6 * (i % 10), 0.6 * (double)(i / 10), 0.1 + 0.2 * k), NULL, 0.0, NULL);
        }
    }
    for (int i = 0; i < BALLS; i++) {
        const double velocity[6] = {3.0 + 0.7 * i, 0.0, 0.0, 0.0, 30.0, 0.0};
        lab_body(&lab, ball, BODY_DYNAMIC, at(-2.5, 0.6 * i, 0.1), velocity, 0.0, NULL);
    }
    return lab;
}

// What a run has seen of it.
typedef struct Seen {
    uint32_t asleep, before; // now, and one step ago
    uint32_t fell, woke;     // steps in which there came to be more, or fewer
} Seen;

static void look(Seen *seen, const Lab *lab) {
    seen->before = seen->asleep;
    seen->asleep = lab->report.asleep_count;
    seen->fell += seen->asleep > seen->before;
    seen->woke += seen->asleep < seen->before;
}

START_TEST(restoring_after_every_step_changes_no_bit) {
    Lab straight = playground(40), restored = playground(40);
    Seen seen = {0};
    for (int i = 0; i < 700; i++) {
        lab_step(&straight, 1);
        lab_step(&restored, 1);
        lab_restore(&restored);
        ck_assert_uint_eq(snapshot_hash(restored.world), snapshot_hash(straight.world));
        ck_assert_uint_eq(restored.report.asleep_count, straight.report.asleep_count);
        look(&seen, &straight);
    }
    ck_assert_uint_gt(seen.fell, 2);
    ck_assert_uint_gt(seen.woke, 3);
    ck_assert_uint_gt(seen.asleep, 10);
    ck_assert_uint_eq(world_removed_count(straight.world), LEAVING);
    lab_destroy(&straight);
    lab_destroy(&restored);
}
END_TEST

static const uint32_t lane_counts[] = {1, 2, 3, 7};

START_TEST(any_number_of_lanes_gives_the_same_bits) {
    enum { STACKS = 200 }; // 606 bodies: several blocks of them
    Crew *crew = crew_create(lane_counts[_i], (uint64_t)_i + 1);
    Lab lab = playground(STACKS), expected = playground(STACKS);
    lab.context.tasks = crew_tasks(crew);
    Seen seen = {0};
    for (int i = 0; i < 350; i++) {
        lab_step(&lab, 1);
        lab_step(&expected, 1);
        ck_assert_uint_eq(snapshot_hash(lab.world), snapshot_hash(expected.world));
        ck_assert_mem_eq(&lab.report.energy, &expected.report.energy, sizeof(StepEnergy));
        look(&seen, &lab);
    }
    ck_assert_uint_gt(seen.woke, 2);
    ck_assert_uint_gt(seen.asleep, 500);
    lab_destroy(&lab);
    lab_destroy(&expected);
    crew_destroy(crew);
}
END_TEST

// Bodies with lower indices leave while stacks sleep: these sleep on, and wake as they would have.
START_TEST(sleepers_sleep_on_while_others_are_removed) {
    Lab lab = playground(20);
    Seen seen = {0};
    uint64_t removed = 0;
    while (removed < LEAVING) {
        ck_assert_uint_lt(lab.world->step, 400);
        lab_step(&lab, 1);
        look(&seen, &lab);
        if (lab.report.removed_count > 0) {
            removed += lab.report.removed_count;
            ck_assert_uint_gt(seen.asleep, 30);
            ck_assert_uint_eq(seen.asleep, seen.before);
            world_destroy(lab_copy(&lab)); // which checks all of it
            // six contacts of four points in a stack of three, less those of no weight
            ck_assert_uint_gt(lab.world->sleep->memory_count, 4 * seen.asleep / 2);
        }
    }
    lab_destroy(&lab);
}
END_TEST

// Of all bodies, as the stepper keeps it.
static size_t places_bytes_of(const Lab *lab) {
    return sizeof(StepPlaces) + lab->world->body_count * (sizeof(Pose) + sizeof(BroadBox) +
                                                          sizeof(StepBall) + 2 * sizeof(double));
}

// Places are a cache: they are always what a stepper that has none makes of the world, also when
// the time step changes, and when what is fast has grown some of them for a step.
START_TEST(places_that_are_kept_are_those_of_now) {
    Lab lab = playground(40), fresh = lab_create(9.81, TIME_STEP);
    lab.world->velocity[0] = 40.0; // through the crowd
    lab.world->pose[2] = 0.5;
    uint32_t most = 0;
    for (int i = 0; i < 400; i++) {
        world_destroy(fresh.world);
        fresh.world = lab_copy(&lab);
        stepper_reset(fresh.stepper);
        double h = i % 50 < 45 ? TIME_STEP : 1.5 * TIME_STEP;
        Lab *both[2] = {&lab, &fresh};
        for (int k = 0; k < 2; k++) {
            StepInput input = {.time_step = h};
            Error error = {0};
            ck_assert_int_eq(stepper_run(both[k]->stepper, both[k]->world, &input,
                                         &both[k]->scratch, NULL, &both[k]->report, &error),
                             STATUS_OK);
        }
        most = lab.report.asleep_count > most ? lab.report.asleep_count : most;
        if (lab.report.removed_count == 0) {
            ck_assert_mem_eq(lab.stepper->memory, fresh.stepper->memory, places_bytes_of(&lab));
        }
    }
    ck_assert_uint_gt(most, 50);
    lab_destroy(&lab);
    lab_destroy(&fresh);
}
END_TEST

// The energy of one step's end is that of the next one's begin, whoever falls asleep or wakes; only
// what leaves takes its own along.
START_TEST(the_energy_book_goes_on) {
    Lab lab = playground(20);
    double after = 0.0;
    for (int i = 0; i < 500; i++) {
        uint32_t removed = lab.report.removed_count;
        lab_step(&lab, 1);
        const StepEnergy *energy = &lab.report.energy;
        if (i > 0 && removed == 0) { // sums of other parts, in another order
            ck_assert_double_eq_tol(energy->before, after, 1e-12 * after);
        }
        ck_assert_double_eq_tol(energy->unexplained, 0.0, 1e-11 * after + 1e-9);
        after = energy->after;
    }
    lab_destroy(&lab);
}
END_TEST

// ---- what is refused

static uint32_t find_sleeper(const World *world) {
    uint32_t body = 0;
    while (!sleep_is_asleep(world, body) || world->sleep->island[body] != body) {
        body++;
    }
    return body;
}

static void island_of_another(World *world, uint32_t body) {
    world->sleep->island[body + 1] = body + 2; // which is not its first
}

static void island_beyond(World *world, uint32_t body) {
    world->sleep->island[body + 1] = world->body_count;
}

static void island_of_the_ground(World *world, uint32_t body) {
    for (uint32_t ground = 0; ground < world->body_count; ground++) {
        if (world->kind[ground] == BODY_STATIC) {
            world->sleep->island[body] = ground;
        }
    }
}

static void speed_asleep(World *world, uint32_t body) {
    world->velocity[6 * (size_t)body] = 1e-300;
}

static void rest_below_zero(World *world, uint32_t body) {
    world->sleep->rest[body] = -1e-300;
}

static void rest_beyond_time(World *world, uint32_t body) {
    world->sleep->rest[body] = 0.51;
}

static void rest_no_number(World *world, uint32_t body) {
    world->sleep->rest[body] = 0.0 / 0.0;
}

static void impulse_of_no_sleeper(World *world, uint32_t body) {
    for (uint32_t i = body; i < world->body_count && world->sleep->island[i] == body; i++) {
        world->sleep->island[i] = SLEEP_AWAKE;
    }
}

static void impulse_between_islands(World *world, uint32_t body) {
    world->sleep->memory[0].a = body;
    world->sleep->memory[0].b = body + STACK;
}

static void impulse_of_nobody(World *world, uint32_t body) {
    (void)body;
    world->sleep->memory[0].b = world->body_count;
}

static void no_sleep_at_all(World *world, uint32_t body) {
    (void)body;
    world->settings.sleep_speed = 0.0;
}

static void (*const damages[])(World *world, uint32_t body) = {
    island_of_another, island_beyond,           island_of_the_ground, speed_asleep,
    rest_below_zero,   rest_beyond_time,        rest_no_number,       impulse_of_no_sleeper,
    impulse_of_nobody, impulse_between_islands, no_sleep_at_all,
};
enum { DAMAGES = sizeof(damages) / sizeof(damages[0]) };

START_TEST(a_sleep_that_cannot_be_is_refused) {
    Lab lab = playground(4);
    lab_step(&lab, 130);
    ck_assert_uint_gt(lab.report.asleep_count, 2 * STACK);
    world_destroy(lab_copy(&lab)); // as it is, it is fine
    damages[_i](lab.world, find_sleeper(lab.world));
    lab.world->definition_is_hashed = false;
    uint8_t *bytes;
    size_t count;
    Error error = {0};
    World *world = NULL;
    ck_assert_int_eq(snapshot_write(lab.world, &lab.scratch, &bytes, &count, &error), STATUS_OK);
    ck_assert_int_eq(snapshot_read(bytes, count, &limits, &world, &error), STATUS_DATA_LOSS);
    lab_destroy(&lab);
}
END_TEST

// Worlds alike have snapshots alike: one in which nobody has been at rest says nothing of it, and
// one whose sleep was taken away is as one that never had any.
START_TEST(snapshots_say_nothing_where_there_is_nothing_to_say) {
    Lab lab = lab_create(9.81, TIME_STEP), other = lab_create(9.81, TIME_STEP);
    WorldSettings plain = lab.world->settings, sleeping = plain;
    sleeping.sleep_speed = 1e-3;
    for (int i = 0; i < 2; i++) {
        Lab *one = i == 0 ? &lab : &other;
        Id ball = lab_shape(one, PRIMITIVE_SPHERE, vec3(0.1, 0.0, 0.0), 0);
        lab_body(one, ball, BODY_DYNAMIC, at(0.0, 0.0, 0.0), NULL, 0.0, NULL);
    }
    world_set_settings(lab.world, &sleeping);
    lab_step(&lab, 10);
    lab_step(&other, 10);
    ck_assert_uint_eq(sleep_told_count(lab.world), 0); // it falls
    ck_assert_uint_ne(snapshot_hash(lab.world), snapshot_hash(other.world));
    world_set_settings(lab.world, &plain);
    ck_assert_uint_eq(snapshot_hash(lab.world), snapshot_hash(other.world));
    lab_destroy(&lab);
    lab_destroy(&other);
}
END_TEST

static TCase *case_state(void) {
    TCase *tcase = tcase_create("state");
    tcase_set_timeout(tcase, 240.0);
    tcase_add_test(tcase, restoring_after_every_step_changes_no_bit);
    tcase_add_loop_test(tcase, any_number_of_lanes_gives_the_same_bits, 0, 4);
    tcase_add_test(tcase, sleepers_sleep_on_while_others_are_removed);
    tcase_add_test(tcase, places_that_are_kept_are_those_of_now);
    tcase_add_test(tcase, the_energy_book_goes_on);
    tcase_add_loop_test(tcase, a_sleep_that_cannot_be_is_refused, 0, DAMAGES);
    tcase_add_test(tcase, snapshots_say_nothing_where_there_is_nothing_to_say);
    return tcase;
}

SUITE_MAIN("step/sleep_state", case_state)
