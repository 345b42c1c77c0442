// SPDX-License-Identifier: MIT
// What stands between a number of the world and who is told of it: noise, bias and delay.
#include "group_lab.h"
#include "base/gaussian.h"
#include "run/groups/keyframe.h"
#include "step/snapshot/snapshot.h"

#include <math.h>
#include <stdlib.h>

enum { WORLDS = 3, COLUMNS = 8 };

// A kinematic body that stands at 1, 2, 3, its place told with noise, bias and walk, scaled and
// moved; and the time, late.
static GroupLab lab_of(uint32_t count, uint64_t first_world, Autoreset autoreset) {
    static ChannelDef action, what[4], extra[1];
    action = of_body(CHANNEL_BODY_VELOCITY, "#3");
    what[0] = of_body(CHANNEL_BODY_POSITION, "#3");
    what[0].sensor = (SensorDef){.noise = 0.5, .bias = 2.0, .walk = 3.0};
    what[0].scale = 2.0, what[0].offset = 10.0;
    what[1] = (ChannelDef){.kind = CHANNEL_TIME, .scale = 1.0, .sensor = {.delay = 3}};
    what[2] = what[1];
    what[2].sensor = (SensorDef){.noise = 0.1, .delay = 2, .delay_max = 5};
    what[3] = of_body(CHANNEL_BODY_VELOCITY, "#3"); // as it is
    extra[0] = of_body(CHANNEL_BODY_POSITION, "#3");
    extra[0].sensor.noise = 1.0;
    GroupDef def = group_def(count);
    def.first_world = first_world;
    def.action.count = 1, def.action.channel = &action;
    def.observation.count = 4, def.observation.channel = what;
    def.extra.count = 1, def.extra.channel = extra;
    def.substeps = 2;
    def.step_limit = 12;
    def.autoreset = autoreset;
    return group_lab_create(&def, ball_world(1.0));
}

static void step(GroupLab *lab) {
    const double still[3 * WORLDS] = {0};
    group_lab_step(lab, still);
}

static void look(GroupLab *lab) {
    lab->call = (GroupCall){.verb = GROUP_READ, .count = lab->group->count};
    group_lab_run(lab, false);
}

// ---- as it is said in the protocol

typedef struct Told {
    double bias[3], late[16];
    double delay;
} Told;

static Philox stream_of(uint64_t world, uint64_t row, uint64_t episode, uint64_t which) {
    return (Philox){.key = {11, world}, .counter = {0, row, episode, which}, .used = PHILOX_WORDS};
}

// Row t, expected: the place's three columns, then the two times.
static void expect_row(Told *told, uint64_t world, uint64_t t, uint64_t episode, double row[5]) {
    Philox stream = stream_of(world, t, episode, 2);
    for (int k = 0; k < 3; k++) {
        const double walked =
            t == 0 ? 2.0 * gaussian_draw(&stream) : 3.0 * sqrt(0.02) * gaussian_draw(&stream);
        told->bias[k] = t == 0 ? walked : told->bias[k] + walked;
        row[k] = 2.0 * (1.0 + k + told->bias[k] + 0.5 * gaussian_draw(&stream)) + 10.0;
    }
    row[3] = t < 3 ? 0.0 : 0.02 * (double)(t - 3);
    if (t == 0) {
        told->delay = 2.0 + floor(4.0 * philox_uniform(&stream));
    }
    told->late[t] = 0.02 * (double)t + 0.1 * gaussian_draw(&stream);
    row[4] = told->late[(double)t < told->delay ? 0 : t - (uint64_t)told->delay];
}

static void check_row(const double *seen_row, const double expected[5]) {
    for (int k = 0; k < 5; k++) {
        ck_assert_msg(fabs(seen_row[k] - expected[k]) <= 1e-12, "[%d]: %.17g for %.17g", k,
                      seen_row[k], expected[k]);
    }
    ck_assert(seen_row[5] == 0.0 && seen_row[6] == 0.0 && seen_row[7] == 0.0);
}

// Of each world, in two episodes, however often it is looked at.
START_TEST(what_is_told_can_be_drawn_again) {
    GroupLab lab = lab_of(WORLDS, 5, AUTORESET_NEXT_STEP);
    look(&lab); // no episode has begun: as it is
    ck_assert(seen(&lab, 1)[0] == 12.0);
    Told told[WORLDS];
    double delays = 0.0;
    group_lab_reset(&lab);
    for (uint64_t episode = 0; episode < 2; episode++) {
        for (uint64_t t = 0; t <= 12; t++) {
            for (uint64_t i = 0; i < WORLDS; i++) {
                double row[5];
                expect_row(&told[i], 5 + i, t, episode, row);
                check_row(seen(&lab, i), row);
                Philox stream = stream_of(5 + i, t, episode, 3);
                ck_assert_double_eq(row_of(&lab, lab.call.extra, i)[0],
                                    1.0 + gaussian_draw(&stream));
            }
            if (t % 3 == 0) {
                const double before = seen(&lab, 2)[4];
                look(&lab);
                ck_assert_double_eq(seen(&lab, 2)[4], before);
            }
            step(&lab); // the last begins the next episode
        }
        delays += told[0].delay + 10.0 * told[1].delay;
    }
    ck_assert_double_ne(delays, 22.0 * told[0].delay); // not all alike
    group_lab_destroy(&lab);
}
END_TEST

// The last row of an episode is told, and then the next one's first.
START_TEST(an_episode_that_ends_is_told_to_its_end) {
    GroupLab lab = lab_of(1, 5, AUTORESET_SAME_STEP);
    Told told;
    double row[5];
    group_lab_reset(&lab);
    for (uint64_t t = 0; t < 12; t++) {
        expect_row(&told, 5, t, 0, row);
        step(&lab);
    }
    expect_row(&told, 5, 12, 0, row);
    check_row(row_of(&lab, lab.call.final_observation, 0), row);
    expect_row(&told, 5, 0, 1, row);
    check_row(seen(&lab, 0), row);
    group_lab_destroy(&lab);
}
END_TEST

// ---- stored

static Status put(GroupLab *lab, const uint8_t *bytes, size_t count) {
    GroupKeyframe keyframe;
    GroupKeyframeWorld world;
    Error error = {0};
    Status status = group_keyframe_open(bytes, count, &keyframe, &error);
    for (uint32_t i = 0; status == STATUS_OK && i < lab->group->count; i++) {
        status = group_keyframe_next(&keyframe, &world, &error);
        status = STATUS_THEN(status,
                             group_keyframe_restore(lab->group, i, &world, &lab->scratch, &error));
    }
    return status;
}

START_TEST(a_key_frame_has_bias_and_what_is_under_way) {
    GroupLab lab = lab_of(WORLDS, 5, AUTORESET_NEXT_STEP),
             other = lab_of(WORLDS, 5, AUTORESET_NEXT_STEP);
    group_lab_reset(&lab);
    for (int i = 0; i < 7; i++) {
        step(&lab);
    }
    Arena arena;
    arena_init(&arena, (size_t)1 << 24);
    Sink sink = {.bytes = malloc(1 << 20)};
    ck_assert_ptr_nonnull(sink.bytes);
    group_keyframe_begin(&(GroupKeyframe){.count = WORLDS}, &sink);
    for (uint32_t i = 0; i < WORLDS; i++) {
        uint8_t *bytes;
        size_t count;
        Error error;
        ck_assert_int_eq(snapshot_write(lab.group->world[i].world, &arena, &bytes, &count, &error),
                         STATUS_OK);
        group_keyframe_add(lab.group, i, bytes, count, &sink);
    }
    ck_assert_int_eq(put(&other, sink.bytes, sink.count), STATUS_OK);
    look(&lab);
    look(&other);
    for (int i = 0; i < 12; i++) {
        ck_assert_mem_eq(lab.call.observation, other.call.observation,
                         WORLDS * COLUMNS * sizeof(double));
        step(&lab);
        step(&other);
    }
    // a delay that is none, behind the frame's head, the world's, its action and the rows so far
    const size_t at = 8 * (4 + 5 + (1 + 3) + 1 + 1 + 1);
    const double wrong[3] = {7.5, -1.0, 1e300};
    memcpy((uint8_t *)sink.bytes + at, &wrong[_i], sizeof(double));
    ck_assert_int_eq(put(&other, sink.bytes, sink.count), STATUS_DATA_LOSS);
    free(sink.bytes);
    arena_deinit(&arena);
    group_lab_destroy(&lab);
    group_lab_destroy(&other);
}
END_TEST

// ---- what is wrong

static void check_wrong(SensorDef sensor, bool as_bound, const char *field) {
    ChannelDef action = of_body(CHANNEL_BODY_VELOCITY, "#3"),
               what = of_body(CHANNEL_BODY_POSITION, "#3"), bound = what;
    (as_bound ? &bound : &what)->sensor = sensor;
    GroupDef def = group_def(1);
    def.action.count = def.observation.count = def.bounds.count = 1;
    def.action.channel = &action;
    def.observation.channel = &what;
    def.bounds.channel = &bound;
    Group *group;
    Error error = {0};
    ck_assert_int_eq(group_create(&def, ball_world(1.0), &group, &error), STATUS_INVALID_ARGUMENT);
    ck_assert_str_eq(error.field, field);
}

START_TEST(what_no_sensor_can_do_is_named) {
    check_wrong((SensorDef){.noise = -1.0}, false, "observation[0].noise_deviation");
    check_wrong((SensorDef){.bias = HUGE_VAL}, false, "observation[0].bias_deviation");
    check_wrong((SensorDef){.walk = 2e9}, false, "observation[0].bias_walk");
    check_wrong((SensorDef){.delay = 1001}, false, "observation[0].delay");
    check_wrong((SensorDef){.delay = 3, .delay_max = 2}, false, "observation[0].delay_max");
    check_wrong((SensorDef){.noise = 1.0}, true, "bounds[0]");
}
END_TEST

static TCase *case_sensor(void) {
    TCase *tcase = tcase_create("sensor");
    tcase_add_test(tcase, what_is_told_can_be_drawn_again);
    tcase_add_test(tcase, an_episode_that_ends_is_told_to_its_end);
    tcase_add_loop_test(tcase, a_key_frame_has_bias_and_what_is_under_way, 0, 3);
    tcase_add_test(tcase, what_no_sensor_can_do_is_named);
    return tcase;
}

SUITE_MAIN("run/groups/sensor", case_sensor)
