// SPDX-License-Identifier: MIT
// Frames of a recording become columns, and what a file holds that no reply may carry is refused:
// numbers that are not finite, and those that no float holds where floats are wished for.
#include "wire/episode_columns.h"

#include "support/suite.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { BODIES = 2, CONTACTS = 2, JOINTS = 2, AXES = 4, POSITIONS = 5 };

// One frame of two bodies that touch in two points; every number is 1.
typedef struct Film {
    uint64_t ids[BODIES];
    double pose[7 * BODIES], velocity[6 * BODIES];
    uint64_t id[3 * CONTACTS];
    uint32_t part[2 * CONTACTS];
    double number[19 * CONTACTS];
    uint64_t joint[2 * JOINTS]; // ids, axes
    double joint_number[POSITIONS + 4 * AXES];
    EpisodeFrame frame;
} Film;

static void make_film(Film *film) {
    *film = (Film){.ids = {4, 7}, .joint = {2, 5, 1 << 5, 7 << 3}};
    for (size_t i = 0; i < sizeof(film->joint_number) / sizeof(double); i++) {
        film->joint_number[i] = 1.0;
    }
    for (size_t i = 0; i < 7 * BODIES; i++) {
        film->pose[i] = 1.0;
    }
    for (size_t i = 0; i < 6 * BODIES; i++) {
        film->velocity[i] = 1.0;
    }
    for (size_t i = 0; i < 19 * CONTACTS; i++) {
        film->number[i] = 1.0;
    }
    double *number = film->number;
    film->frame = (EpisodeFrame){
        .frame = {.step = 12, .time = 1.0, .pose = film->pose, .velocity = film->velocity},
        .body_count = BODIES,
        .ids = film->ids,
        .contacts = {.count = CONTACTS,
                     .body_a = film->id,
                     .body_b = film->id + CONTACTS,
                     .part_a = film->part,
                     .part_b = film->part + CONTACTS,
                     .feature = film->id + 2 * CONTACTS,
                     .point = number,
                     .frame = number + 3 * CONTACTS,
                     .gap = number + 12 * CONTACTS,
                     .impulse = number + 13 * CONTACTS,
                     .velocity = number + 16 * CONTACTS}};
    double *joint = film->joint_number;
    film->frame.joints = (FrameJoints){.count = JOINTS,
                                       .position_count = POSITIONS,
                                       .axis_count = AXES,
                                       .ids = film->joint,
                                       .axes = film->joint + JOINTS};
    film->frame.frame.joint_position = joint;
    film->frame.frame.joint_velocity = joint + POSITIONS;
    film->frame.frame.joint_target = joint + POSITIONS + AXES;
    film->frame.frame.joint_target_velocity = &joint[POSITIONS + 2 * AXES];
    film->frame.frame.joint_effort = &joint[POSITIONS + 3 * AXES];
    film->frame.contacts.friction = film->frame.contacts.velocity + 3 * CONTACTS;
}

static Status add(Film *film, EpisodeWish wish, Error *error) {
    EpisodeColumns columns;
    episode_columns_init(&columns, wish);
    Status status = episode_columns_add(&columns, &film->frame, error);
    // what is refused is not there, not even in part
    size_t count = status == STATUS_OK ? 1 : 0;
    ck_assert_uint_eq(columns.message.n_step, count);
    ck_assert_uint_eq(columns.message.n_ids, BODIES * count);
    ck_assert_uint_eq(columns.message.n_pose, wish.poses && !wish.single ? 7 * BODIES * count : 0);
    ck_assert_uint_eq(columns.message.n_pose_single,
                      wish.poses && wish.single ? 7 * BODIES * count : 0);
    ck_assert_uint_eq(columns.contacts.n_gap, wish.contacts ? CONTACTS * count : 0);
    ck_assert_uint_eq(columns.message.n_joints, wish.joints ? JOINTS * count : 0);
    ck_assert_uint_eq(columns.message.n_joint_position,
                      wish.joints && !wish.single ? POSITIONS * count : 0);
    ck_assert_uint_eq(columns.message.n_joint_velocity_single,
                      wish.joints && wish.single ? AXES * count : 0);
    ck_assert_uint_eq(columns.message.n_joint_effort, wish.joints ? AXES * count : 0);
    episode_columns_deinit(&columns);
    return status;
}

static const EpisodeWish all = {
    .poses = true, .velocities = true, .contacts = true, .joints = true};
static const EpisodeWish all_single = {
    .poses = true, .velocities = true, .contacts = true, .joints = true, .single = true};

START_TEST(no_number_of_a_frame_leaves_that_is_not_finite) {
    static const double strange[] = {NAN, INFINITY, -INFINITY};
    double bad = strange[_i];
    Film film;
    make_film(&film);
    Error error = {0};
    ck_assert_int_eq(add(&film, all, &error), STATUS_OK);
    ck_assert_int_eq(add(&film, all_single, &error), STATUS_OK);
    const struct {
        double *column;
        size_t count;
        const char *says;
    } columns[] = {
        {film.pose, 7 * BODIES, "The pose of body "},
        {film.velocity, 6 * BODIES, "The velocity of body "},
        {film.number, 19 * CONTACTS, "a contact at step 12 "},
        {&film.frame.frame.time, 1, "at step 12 "},
        {film.joint_number, POSITIONS + 4 * AXES, "A number of a joint at step 12 "},
    };
    for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++) {
        for (size_t k = 0; k < columns[i].count; k++) {
            columns[i].column[k] = bad;
            ck_assert_int_eq(add(&film, all, &error), STATUS_DATA_LOSS);
            ck_assert_msg(strstr(error.message, columns[i].says) != NULL, "%s", error.message);
            ck_assert_int_eq(add(&film, all_single, &error), STATUS_DATA_LOSS);
            columns[i].column[k] = 1.0;
        }
    }
    film.velocity[6 * 1 + 5] = bad;
    ck_assert_int_eq(add(&film, all, &error), STATUS_DATA_LOSS);
    ck_assert_ptr_nonnull(strstr(error.message, "The velocity of body 7 at step 12 "));
    // who does not ask for it is not told of it
    ck_assert_int_eq(add(&film, (EpisodeWish){.poses = true}, &error), STATUS_OK);
    film.pose[0] = bad;
    ck_assert_int_eq(add(&film, (EpisodeWish){.contacts = true}, &error), STATUS_OK);
}
END_TEST

// Recordings may be older than the rule that state fits a float.
START_TEST(what_no_float_holds_is_read_as_doubles) {
    static const double large[] = {(double)FLT_MAX * 1.01, -1e39, DBL_MAX};
    Film film;
    make_film(&film);
    double *numbers[] = {&film.pose[7 * 1 + 2], &film.velocity[6 * 1 + 3]};
    for (size_t i = 0; i < 2; i++) {
        Error error = {0};
        *numbers[i] = large[_i];
        ck_assert_int_eq(add(&film, all, &error), STATUS_OK);
        ck_assert_int_eq(add(&film, all_single, &error), STATUS_FAILED_PRECONDITION);
        ck_assert_str_eq(error.field, "single");
        ck_assert_ptr_nonnull(strstr(error.message, "of body 7 at step 12 is beyond 3.4e38"));
        *numbers[i] = (double)FLT_MAX;
        ck_assert_int_eq(add(&film, all_single, &error), STATUS_OK);
        *numbers[i] = 1.0;
    }
}
END_TEST

// Ids stand once, as long as the joints are the same; a frame with others lists its own.
START_TEST(joints_are_listed_where_they_change) {
    Film film;
    make_film(&film);
    EpisodeColumns columns;
    episode_columns_init(&columns, all);
    Error error = {0};
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(episode_columns_add(&columns, &film.frame, &error), STATUS_OK);
    }
    ck_assert(episode_columns_same_things(&columns, &film.frame));
    film.frame.joints.count = film.frame.joints.position_count = film.frame.joints.axis_count = 1;
    ck_assert(!episode_columns_same_things(&columns, &film.frame)); // one broke
    ck_assert_int_eq(episode_columns_add(&columns, &film.frame, &error), STATUS_OK);
    const Moreau__V1__EpisodeFrames *m = &columns.message;
    ck_assert_uint_eq(m->n_joints, JOINTS + 1);
    ck_assert_uint_eq(m->n_joint_axes, JOINTS + 1);
    ck_assert_mem_eq(m->joints_count, ((uint64_t[]){JOINTS, 0, 1}), 3 * sizeof(uint64_t));
    ck_assert_mem_eq(m->joint_count, ((uint64_t[]){JOINTS, JOINTS, 1}), 3 * sizeof(uint64_t));
    ck_assert_uint_eq(m->n_joint_position, 2 * POSITIONS + 1);
    ck_assert_uint_le(columns.bytes, moreau__v1__episode_frames__get_packed_size(m));
    episode_columns_deinit(&columns);
}
END_TEST

static TCase *case_columns(void) {
    TCase *tcase = tcase_create("columns");
    tcase_add_loop_test(tcase, no_number_of_a_frame_leaves_that_is_not_finite, 0, 3);
    tcase_add_loop_test(tcase, what_no_float_holds_is_read_as_doubles, 0, 3);
    tcase_add_test(tcase, joints_are_listed_where_they_change);
    return tcase;
}

SUITE_MAIN("wire/episode_columns", case_columns)
