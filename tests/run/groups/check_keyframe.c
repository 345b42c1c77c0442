// SPDX-License-Identifier: MIT
#include "run/groups/keyframe.h"
#include "run/groups/group_frame.h"

#include "base/philox.h"

#include <stdlib.h>

enum { WORLDS = 6, SEEN = 6 + 3 + 3 + 1 };

// A ball on ground that a force lifts; what bears it is seen, and what has left the bounds ends.
static GroupLab balls(Autoreset autoreset) {
    static ChannelDef action[2], what[4], bound[1], noise[1];
    static const NoiseDef drawn[1] = {{.kind = NOISE_UNIFORM, .low = 0.0, .high = 0.2}};
    GroupDef def = group_def(WORLDS);
    action[0] = of_body(CHANNEL_BODY_FORCE, "#2");
    action[0].has_axes = true, action[0].axes = 5;
    action[1] = of_body(CHANNEL_BODY_VELOCITY, "#3");
    what[0] = of_body(CHANNEL_CONTACT_FORCE, "#2");
    what[1] = of_body(CHANNEL_BODY_POSITION, "#2");
    what[2] = of_body(CHANNEL_ACCELEROMETER, "#2");
    what[3] = of_body(CHANNEL_CONTACT, "#2");
    bound[0] = within(of_body(CHANNEL_BODY_POSITION, "#2"), -0.4, 0.4);
    noise[0] = of_body(CHANNEL_BODY_POSITION, "#2");
    noise[0].has_axes = true, noise[0].axes = 3;
    def.action.count = 2, def.observation.count = 4;
    def.bounds.count = def.noise.count = 1;
    def.action.channel = action, def.observation.channel = what;
    def.bounds.channel = bound, def.noise.channel = noise;
    def.drawn = drawn;
    def.autoreset = autoreset;
    def.step_limit = 30;
    return group_lab_create(&def, ball_world(1.0));
}

static void act(GroupLab *lab, uint64_t step) {
    double action[WORLDS * 5];
    for (size_t i = 0; i < WORLDS * 5; i++) {
        action[i] = 12.0 * (double)((i * 37 + step * 11) % 17) / 16.0 - 4.0;
    }
    lab->call = (GroupCall){.verb = GROUP_STEP, .count = WORLDS, .action_double = action};
    lab->call.hash_steps = 4;
    group_lab_run(lab, false);
}

static void look(GroupLab *lab) {
    lab->call = (GroupCall){.verb = GROUP_READ, .count = WORLDS};
    group_lab_run(lab, false);
}

// ---- key-frames

static void check_same(const GroupLab *a, const GroupLab *b) {
    ck_assert_mem_eq(a->call.observation, b->call.observation, WORLDS * SEEN * sizeof(double));
    for (uint32_t i = 0; i < WORLDS; i++) {
        const GroupRow *x = &a->call.row[i], *y = &b->call.row[i];
        ck_assert_uint_eq(x->ended, y->ended);
        ck_assert_uint_eq(x->hash, y->hash);
        ck_assert_uint_eq(snapshot_hash(a->group->world[i].world),
                          snapshot_hash(b->group->world[i].world));
        ck_assert_uint_eq(a->group->world[i].episode, b->group->world[i].episode);
        ck_assert_uint_eq(a->group->world[i].length, b->group->world[i].length);
        ck_assert_int_eq(a->group->world[i].is_running, b->group->world[i].is_running);
    }
}

// Also what contacts did in the last step, which no snapshot knows, and what a refused action is
// answered with.
START_TEST(a_group_goes_on_from_a_key_frame) {
    GroupLab first = balls((Autoreset)_i);
    group_lab_reset(&first);
    uint32_t ended = 0;
    for (uint64_t step = 0; step < 37; step++) {
        act(&first, step);
        for (uint32_t i = 0; i < WORLDS; i++) {
            ended += first.call.row[i].ended != 0;
        }
    }
    ck_assert_uint_gt(ended, 0);
    const Frame frame = take_frame(first.group);
    GroupLab again = balls((Autoreset)_i);
    Error error = {0};
    ck_assert_msg(put_frame(&again, frame.bytes, frame.count, &error) == STATUS_OK, "%s",
                  error.message);
    look(&first);
    look(&again);
    double borne = 0.0;
    for (size_t i = 0; i < WORLDS; i++) {
        borne += seen(&first, i)[2];
    }
    ck_assert_double_gt(borne, 1.0);
    check_same(&first, &again);
    // once more, of one that goes on and has not stepped yet
    const Frame second = take_frame(again.group);
    ck_assert_uint_eq(second.count, frame.count);
    ck_assert_mem_eq(second.bytes, frame.bytes, frame.count);
    for (uint64_t step = 37; step < 80; step++) {
        if (step == 50) {
            group_lab_reset(&first);
            group_lab_reset(&again);
        }
        act(&first, step);
        act(&again, step);
        check_same(&first, &again);
    }
    free(frame.bytes);
    free(second.bytes);
    group_lab_destroy(&first);
    group_lab_destroy(&again);
}
END_TEST

// Of worlds that differ in a few numbers little is told.
START_TEST(what_all_worlds_share_is_not_repeated) {
    GroupLab lab = balls(AUTORESET_NEXT_STEP);
    group_lab_reset(&lab);
    act(&lab, 1);
    const Frame frame = take_frame(lab.group);
    ck_assert_uint_lt(frame.count, WORLDS * lab.group->snapshot_bytes / 2);
    free(frame.bytes);
    group_lab_destroy(&lab);
}
END_TEST

// Any byte that is another, and any end: it is refused, or what it says can be stepped.
START_TEST(a_key_frame_that_was_changed_is_refused_or_stepped) {
    GroupLab lab = balls(AUTORESET_SAME_STEP), victim = balls(AUTORESET_SAME_STEP);
    group_lab_reset(&lab);
    for (uint64_t step = 0; step < 5; step++) {
        act(&lab, step);
    }
    const Frame frame = take_frame(lab.group);
    Philox stream = philox_stream(3, 0, 0);
    uint32_t refused = 0;
    for (size_t k = 0; k < 2000; k++) {
        const size_t at = philox_word(&stream) % frame.count;
        const uint8_t kept = frame.bytes[at];
        Error error = {0};
        frame.bytes[at] ^= (uint8_t)(1u << philox_word(&stream) % 8);
        if (put_frame(&victim, frame.bytes, frame.count, &error) == STATUS_OK) {
            act(&victim, k);
        } else {
            ck_assert_int_eq(error.status, STATUS_DATA_LOSS);
            refused++;
        }
        frame.bytes[at] = kept;
        ck_assert_int_ne(put_frame(&victim, frame.bytes, at, &error), STATUS_OK);
    }
    ck_assert_uint_gt(refused, 1000);
    Error error = {0};
    ck_assert_int_eq(put_frame(&victim, frame.bytes, frame.count, &error), STATUS_OK);
    free(frame.bytes);
    group_lab_destroy(&lab);
    group_lab_destroy(&victim);
}
END_TEST

static TCase *case_keyframe(void) {
    TCase *tcase = tcase_create("keyframe");
    tcase_add_loop_test(tcase, a_group_goes_on_from_a_key_frame, 0, AUTORESET_COUNT);
    tcase_add_test(tcase, what_all_worlds_share_is_not_repeated);
    tcase_add_test(tcase, a_key_frame_that_was_changed_is_refused_or_stepped);
    return tcase;
}

SUITE_MAIN("run/group_keyframe", case_keyframe)
