// SPDX-License-Identifier: MIT
// Pairs that turn and come together, against a motion that is looked at often.
#include "collide/approach.h"

#include "collide/geometry.h"
#include "collide/narrow.h"
#include "support/campaign.h"
#include "support/suite.h"

#define DURATION (1.0 / 240.0)
#define REACH    0.1

enum { LOOKS = 64 };

// A pair, small beside what it may move in a step: some millimetres, and a tenth of a radian.
typedef struct Pair {
    Primitive primitive[2];
    Pose pose[2];
    Mover mover[2];
    Manifold now;
    double size;
} Pair;

static Primitive dice_primitive(Dice *dice) {
    switch ((int)dice_between(dice, 0.0, 3.0)) {
    case 0:
        return make_capsule(dice_between(dice, 0.03, 0.1), dice_between(dice, 0.03, 0.1));
    case 1:
        return make_cylinder(dice_between(dice, 0.03, 0.1), dice_between(dice, 0.03, 0.1));
    default:
        return make_box(dice_vec(dice, 0.03, 0.1));
    }
}

static double lowest_gap(const Manifold *manifold) {
    double lowest = HUGE_VAL;
    for (uint32_t i = 0; i < manifold->count; i++) {
        lowest = fmin(lowest, manifold->point[i].gap);
    }
    return lowest;
}

static Mover dice_mover(Dice *dice, const Primitive *primitive, const Pose *pose) {
    return (Mover){.primitive = primitive,
                   .pose = pose,
                   .center = vec3_add(pose->position, dice_vec(dice, -0.02, 0.02)),
                   .velocity = dice_vec(dice, -1.0, 1.0),
                   .spin = dice_vec(dice, -15.0, 15.0)};
}

// Apart, by no more than they may come nearer.
static void dice_pair(Dice *dice, Pair *pair) {
    do {
        for (int i = 0; i < 2; i++) {
            pair->primitive[i] = dice_primitive(dice);
            pair->pose[i] = dice_pose(dice, 0.12);
        }
        narrow_collide(&pair->primitive[0], pair->pose[0], &pair->primitive[1], pair->pose[1],
                       REACH, &pair->now);
    } while (!(lowest_gap(&pair->now) > 1e-6 && lowest_gap(&pair->now) < 4e-3));
    for (int i = 0; i < 2; i++) {
        pair->mover[i] = dice_mover(dice, &pair->primitive[i], &pair->pose[i]);
    }
    pair->size = fmin(primitive_length(&pair->primitive[0]), primitive_length(&pair->primitive[1]));
}

static double gap_at(const Pair *pair, double time) {
    Manifold manifold;
    narrow_collide(&pair->primitive[0], approach_pose(&pair->mover[0], time), &pair->primitive[1],
                   approach_pose(&pair->mover[1], time), REACH, &manifold);
    return lowest_gap(&manifold);
}

START_TEST(what_overlaps_on_its_way_is_found_where_it_touches_first) {
    Dice dice = {77};
    const Approach approach = {DURATION, REACH};
    int hits = 0;
    for (int i = 0, campaign = campaign_count(1500); i < campaign; i++) {
        Pair pair;
        dice_pair(&dice, &pair);
        double least = HUGE_VAL, first = HUGE_VAL;
        for (int k = 1; k <= LOOKS; k++) {
            const double gap = gap_at(&pair, DURATION * k / LOOKS);
            least = fmin(least, gap);
            first = gap < -1e-5 * pair.size ? fmin(first, DURATION * k / LOOKS) : first;
        }
        Manifold manifold = pair.now;
        const double time = approach_find(&pair.mover[0], &pair.mover[1], &approach, &manifold);
        if (least < -1e-5 * pair.size) {
            // 1e-8 of the size mostly; 1e-5 of what touches after a way as short as that; and some
            // rounds more would bring the slowest of some thousands from 1e-4 to that
            hits++;
            ck_assert_double_le(lowest_gap(&manifold), 1e-4 * pair.size);
            ck_assert_double_le(time, first);
        }
    }
    ck_assert_int_gt(hits, campaign_count(1500) / 4);
}
END_TEST

// A ball at rest beside the end of a rod so long that what sweeps by moves at 1e23 m/s: between two
// times there is no third, sooner or later. Numbers of a random history, to the bit.
START_TEST(what_meets_between_two_neighbouring_times_meets_within_the_motion) {
    const double half = 0x1.69c3637b54a35p+74;
    const Primitive ball = make_sphere(0x1.c05f80681e459p-4),
                    rod = make_box(vec3(0x1.72c5ef5ed125ep-4, 0x1.999999999999ap-4, half));
    const Pose pose[2] = {
        {vec3(0x1.8e8fc7dee38fap-4, 0x1.042451e0be4fep-2, -0x1.1e5261cf9c0ep-3), quat_identity()},
        {vec3(0x1.6fc4cb506346ap-2, 0x1.0ff882e2ce1c7p-1, -half), quat_identity()}};
    const Mover mover[2] = {
        {&ball, &pose[0], pose[0].position, vec3(0.0, 0.0, -0x1.ddf9d7ff32c3dp-7), vec3(0, 0, 0)},
        {&rod, &pose[1], vec3(0x1.6fc4cb506346ap-2, 0x1.0ff882e2ce1c7p-1, 0x1.1b69224774cf9p+0),
         vec3(0x1.3bd14c928bb5cp-1, -0x1.21536d427db38p+2, 0x1.177c76827cadp+0),
         vec3(-0x1.a3f494ffc4215p-1, -0x1.a22b6ae0a845cp-10, 0x1.10ad37926d3fap+1)}};
    const Approach approach = {0x1.85c965c569daep-10, half};
    Manifold manifold;
    narrow_collide(&ball, pose[0], &rod, pose[1], approach.reach, &manifold);
    ck_assert_uint_gt(manifold.count, 0);
    const double time = approach_find(&mover[0], &mover[1], &approach, &manifold);
    ck_assert(time > 0.0 && time <= approach.duration);
}
END_TEST

// Two balls that come together in a little less than the motion takes, by so little that their time
// is the whole of it to rounding. Whole metres, so that gap and speed are exact.
START_TEST(what_meets_at_the_end_to_rounding_is_left_as_it_is) {
    Dice dice = {79};
    int met = 0;
    for (int i = 0; i < 2000; i++) {
        const Primitive ball = make_sphere(0.5);
        const double duration = dice_between(&dice, 1e-3, 2e-3),
                     speed = dice_between(&dice, 0x1p52, 0x1p53) / duration,
                     gap = nextafter(duration * speed, 0.0);
        const Pose pose[2] = {{vec3(0, 0, 0), quat_identity()},
                              {vec3(gap + 1.0, 0.0, 0.0), quat_identity()}};
        const Mover mover[2] = {
            {&ball, &pose[0], pose[0].position, vec3(0, 0, 0), vec3(0, 0, 0)},
            {&ball, &pose[1], pose[1].position, vec3(-speed, 0.0, 0.0), vec3(0, 0, 0)}};
        const Approach approach = {duration, 2.0 * gap};
        Manifold manifold;
        narrow_collide(&ball, pose[0], &ball, pose[1], approach.reach, &manifold);
        ck_assert(manifold.count == 1 && manifold.point[0].gap == gap);
        if (gap / speed >= duration) {
            met++;
            ck_assert(approach_find(&mover[0], &mover[1], &approach, &manifold) == 0.0);
        }
    }
    ck_assert_int_gt(met, 100);
}
END_TEST

static TCase *case_approach(void) {
    TCase *tcase = tcase_create("approach");
    tcase_add_test(tcase, what_overlaps_on_its_way_is_found_where_it_touches_first);
    tcase_add_test(tcase, what_meets_between_two_neighbouring_times_meets_within_the_motion);
    tcase_add_test(tcase, what_meets_at_the_end_to_rounding_is_left_as_it_is);
    return tcase;
}

SUITE_MAIN("collide/approach", case_approach)
