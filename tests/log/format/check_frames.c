// SPDX-License-Identifier: MIT
// Frames and lists of contacts come back to the bit; bytes that are none are refused.
#include "log/format/frames.h"

#include "log/mend.h"
#include "support/suite.h"

#include <math.h>
#include <string.h>

enum { BODIES = 2, FRAMES = 3, FRAME_BYTES = 24 + 104 * BODIES };
enum { POSES = 7 * BODIES, VELOCITIES = 6 * BODIES }; // numbers of a frame
enum { FRAMES_BYTES = 32 + 8 * BODIES + FRAMES * FRAME_BYTES };
static const FrameJoints no_joints = {0};
static const uint64_t ids[BODIES] = {7, (uint64_t)3 << 32 | 9};

static StateFrame make_frame(size_t index, double pose[POSES], double velocity[VELOCITIES]) {
    for (size_t i = 0; i < POSES; i++) {
        pose[i] = (double)(100 * index + i);
    }
    for (size_t i = 0; i < VELOCITIES; i++) {
        velocity[i] = -(double)(100 * index + i);
    }
    velocity[0] = NAN; // data, as every other number
    return (StateFrame){.step = 10 * (index + 1),
                        .world_step = 1000 + index,
                        .time = 0.5 * (double)index,
                        .pose = pose,
                        .velocity = velocity};
}

static void make_frames(uint8_t body[FRAMES_BYTES]) {
    Sink sink = {.bytes = body};
    frame_chunk_begin(&sink, BODIES, ids, &no_joints);
    for (size_t i = 0; i < FRAMES; i++) {
        double pose[POSES], velocity[VELOCITIES];
        StateFrame frame = make_frame(i, pose, velocity);
        frame_chunk_add(&sink, BODIES, &no_joints, &frame);
    }
    ck_assert_uint_eq(sink.count, FRAMES_BYTES);
    put_u64(body, FRAME_COUNT_OFFSET, FRAMES);
}

START_TEST(frames_come_back_to_the_bit) {
    uint8_t body[FRAMES_BYTES];
    make_frames(body);
    FrameChunk chunk;
    ck_assert_int_eq(frame_chunk_open(body, FRAMES_BYTES, 4, &chunk, NULL), STATUS_OK);
    ck_assert_uint_eq(chunk.body_count, BODIES);
    ck_assert_uint_eq(chunk.frame_count, FRAMES);
    ck_assert_uint_eq(frame_chunk_frame_bytes(BODIES, &no_joints), FRAME_BYTES);
    uint64_t found_ids[BODIES];
    frame_chunk_ids(&chunk, found_ids);
    ck_assert_mem_eq(found_ids, ids, sizeof(ids));
    Arena arena;
    arena_init(&arena, 1 << 20);
    for (size_t i = 0; i < FRAMES; i++) {
        double pose[POSES], velocity[VELOCITIES];
        StateFrame expected = make_frame(i, pose, velocity), found;
        ck_assert_int_eq(frame_chunk_read(&chunk, i, &arena, &found, NULL), STATUS_OK);
        ck_assert_uint_eq(frame_chunk_step(&chunk, i), expected.step);
        ck_assert_uint_eq(found.step, expected.step);
        ck_assert_uint_eq(found.world_step, expected.world_step);
        ck_assert_double_eq(found.time, expected.time);
        ck_assert_mem_eq(found.pose, pose, sizeof(pose));
        ck_assert_mem_eq(found.velocity, velocity, sizeof(velocity));
    }
    arena_deinit(&arena);
}
END_TEST

// What a program in another language relies on.
START_TEST(a_frame_stands_where_the_format_says) {
    uint8_t body[FRAMES_BYTES];
    make_frames(body);
    Source source = {.bytes = body, .count = FRAMES_BYTES};
    ck_assert_uint_eq(source_u64(&source), BODIES);
    ck_assert_uint_eq(source_u64(&source), FRAMES);
    ck_assert_uint_eq(source_u64(&source), 0); // joint positions, and velocities
    ck_assert_uint_eq(source_u64(&source), 0);
    ck_assert_uint_eq(source_u64(&source), ids[0]);
    ck_assert_uint_eq(source_u64(&source), ids[1]);
    source_bytes(&source, FRAME_BYTES);
    ck_assert_uint_eq(source_u64(&source), 20);
    ck_assert_uint_eq(source_u64(&source), 1001);
    ck_assert_double_eq(source_double(&source), 0.5);
    ck_assert_double_eq(source_double(&source), 100);
    source_bytes(&source, sizeof(double) * POSES);
    ck_assert_double_eq(source_double(&source), -101);
}
END_TEST

START_TEST(cut_frames_are_refused) {
    uint8_t body[FRAMES_BYTES];
    make_frames(body);
    for (size_t count = 0; count < FRAMES_BYTES; count++) {
        FrameChunk chunk;
        Error error = {0};
        ck_assert_int_eq(frame_chunk_open(body, count, 4, &chunk, &error), STATUS_DATA_LOSS);
        ck_assert_str_ne(error.message, "");
    }
}
END_TEST

static const struct {
    size_t at;
    uint64_t value;
} frame_lies[] = {
    {0, 0},
    {0, BODIES + 1},
    {0, (uint64_t)1 << 61},                             // times 8 it is 0
    {0, UINT64_MAX},                                    //
    {FRAME_COUNT_OFFSET, 0},                            // no frame at all
    {FRAME_COUNT_OFFSET, FRAMES - 1},                   //
    {FRAME_COUNT_OFFSET, FRAMES + 1},                   //
    {FRAME_COUNT_OFFSET, ((uint64_t)1 << 61) + FRAMES}, // times FRAME_BYTES it is the same
    {32 + 8 * BODIES + FRAME_BYTES, 10},                // the step of the frame before
    {32 + 8 * BODIES + FRAME_BYTES, 9},                 //
};

START_TEST(frames_that_lie_are_refused) {
    uint8_t body[FRAMES_BYTES];
    make_frames(body);
    put_u64(body, frame_lies[_i].at, frame_lies[_i].value);
    FrameChunk chunk;
    Error error = {0};
    ck_assert_int_eq(frame_chunk_open(body, FRAMES_BYTES, 4, &chunk, &error), STATUS_DATA_LOSS);
    ck_assert_str_ne(error.message, "");
}
END_TEST

// 2^61 ids are 0 bytes modulo 2^64, and their frames 24.
START_TEST(a_number_of_bodies_that_overflows_is_refused) {
    uint8_t body[16 + 24] = {0};
    put_u64(body, 0, (uint64_t)1 << 61);
    put_u64(body, FRAME_COUNT_OFFSET, 1);
    FrameChunk chunk;
    Error error = {0};
    ck_assert_int_eq(frame_chunk_open(body, sizeof(body), 4, &chunk, &error), STATUS_DATA_LOSS);
}
END_TEST

START_TEST(a_world_may_have_no_bodies) {
    uint8_t body[32 + 24];
    Sink sink = {.bytes = body};
    frame_chunk_begin(&sink, 0, NULL, &no_joints);
    frame_chunk_add(&sink, 0, &no_joints, &(StateFrame){.step = 5});
    put_u64(body, FRAME_COUNT_OFFSET, 1);
    FrameChunk chunk;
    ck_assert_int_eq(frame_chunk_open(body, sizeof(body), 4, &chunk, NULL), STATUS_OK);
    Arena arena;
    arena_init(&arena, 1 << 20);
    StateFrame frame;
    frame_chunk_ids(&chunk, NULL);
    ck_assert_int_eq(frame_chunk_read(&chunk, 0, &arena, &frame, NULL), STATUS_OK);
    ck_assert_uint_eq(frame.step, 5);
    arena_deinit(&arena);
}
END_TEST

// ---- joints, since version 5

enum { JOINTS = 2, POSITIONS = 1 + 4, AXES = 1 + 3, JOINT_NUMBERS = POSITIONS + 4 * AXES };
enum {
    JOINT_HEAD_BYTES = 32 + 8 + 8 + 16 * JOINTS,
    JOINT_FRAME_BYTES = 24 + 104 + 8 * JOINT_NUMBERS
};
static const uint64_t joint_ids[JOINTS] = {3, 9}, joint_axes[JOINTS] = {1 << 5, 7 << 3};

static void make_joint_frames(uint8_t body[JOINT_HEAD_BYTES + 2 * JOINT_FRAME_BYTES]) {
    const FrameJoints joints = {.count = JOINTS,
                                .position_count = POSITIONS,
                                .axis_count = AXES,
                                .ids = joint_ids,
                                .axes = joint_axes};
    double zeros[13] = {0.0}, numbers[JOINT_NUMBERS];
    Sink sink = {.bytes = body};
    ck_assert_uint_eq(frame_chunk_head_bytes(1, &joints), JOINT_HEAD_BYTES);
    ck_assert_uint_eq(frame_chunk_frame_bytes(1, &joints), JOINT_FRAME_BYTES);
    frame_chunk_begin(&sink, 1, ids, &joints);
    for (int i = 0; i < 2; i++) {
        for (int k = 0; k < JOINT_NUMBERS; k++) {
            numbers[k] = 100.0 * i + k;
        }
        const StateFrame frame = {.step = 10 * (uint64_t)(i + 1),
                                  .pose = zeros,
                                  .velocity = zeros,
                                  .joint_position = numbers,
                                  .joint_velocity = numbers + POSITIONS,
                                  .joint_target = numbers + POSITIONS + AXES,
                                  .joint_target_velocity = &numbers[POSITIONS + 2 * AXES],
                                  .joint_effort = &numbers[POSITIONS + 3 * AXES]};
        frame_chunk_add(&sink, 1, &joints, &frame);
    }
    put_u64(body, FRAME_COUNT_OFFSET, 2);
}

START_TEST(joints_come_back_to_the_bit) {
    uint8_t body[JOINT_HEAD_BYTES + 2 * JOINT_FRAME_BYTES];
    make_joint_frames(body);
    FrameChunk chunk;
    FrameJoints joints;
    Arena arena;
    arena_init(&arena, 1 << 20);
    ck_assert_int_eq(frame_chunk_open(body, sizeof(body), 5, &chunk, NULL), STATUS_OK);
    ck_assert_int_eq(frame_chunk_joints(&chunk, &arena, &joints, NULL), STATUS_OK);
    ck_assert_uint_eq(joints.count, JOINTS);
    ck_assert_uint_eq(joints.position_count, POSITIONS);
    ck_assert_uint_eq(joints.axis_count, AXES);
    ck_assert_mem_eq(joints.ids, joint_ids, sizeof(joint_ids));
    ck_assert_mem_eq(joints.axes, joint_axes, sizeof(joint_axes));
    for (size_t i = 0; i < 2; i++) {
        StateFrame frame;
        ck_assert_int_eq(frame_chunk_read(&chunk, i, &arena, &frame, NULL), STATUS_OK);
        ck_assert_double_eq(frame.joint_position[4], 100.0 * (double)i + 4);
        ck_assert_double_eq(frame.joint_velocity[0], 100.0 * (double)i + POSITIONS);
        ck_assert_double_eq(frame.joint_target[0], 100.0 * (double)i + POSITIONS + AXES);
        ck_assert_double_eq(frame.joint_target_velocity[0],
                            100.0 * (double)i + POSITIONS + 2 * AXES);
        ck_assert_double_eq(frame.joint_effort[AXES - 1], 100.0 * (double)i + JOINT_NUMBERS - 1);
    }
    arena_deinit(&arena);
}
END_TEST

START_TEST(joints_that_lie_are_refused) {
    enum { AT_POSITIONS = 16, AT_VELOCITIES = 24, AT_JOINTS = 40 };
    static const struct {
        size_t at;
        uint64_t value;
    } lies[] = {{AT_POSITIONS, POSITIONS + 1},
                {AT_VELOCITIES, AXES - 1},
                {AT_VELOCITIES, UINT64_MAX},
                {AT_JOINTS, JOINTS + 1},
                {AT_JOINTS, UINT64_MAX}};
    for (size_t i = 0; i < sizeof(lies) / sizeof(lies[0]); i++) {
        uint8_t body[JOINT_HEAD_BYTES + 2 * JOINT_FRAME_BYTES];
        make_joint_frames(body);
        put_u64(body, lies[i].at, lies[i].value);
        FrameChunk chunk;
        Error error = {0};
        ck_assert_int_eq(frame_chunk_open(body, sizeof(body), 5, &chunk, &error), STATUS_DATA_LOSS);
    }
}
END_TEST

START_TEST(an_arena_that_ends_is_told) {
    uint8_t body[FRAMES_BYTES];
    make_frames(body);
    FrameChunk chunk;
    frame_chunk_open(body, FRAMES_BYTES, 4, &chunk, NULL);
    Arena arena;
    arena_init(&arena, 0);
    StateFrame frame;
    Error error = {0};
    ck_assert_int_eq(frame_chunk_read(&chunk, 0, &arena, &frame, &error),
                     STATUS_RESOURCE_EXHAUSTED);
    arena_deinit(&arena);
}
END_TEST

static TCase *case_frames(void) {
    TCase *tcase = tcase_create("frames");
    tcase_add_test(tcase, frames_come_back_to_the_bit);
    tcase_add_test(tcase, a_frame_stands_where_the_format_says);
    tcase_add_test(tcase, cut_frames_are_refused);
    tcase_add_loop_test(tcase, frames_that_lie_are_refused, 0,
                        (int)(sizeof(frame_lies) / sizeof(frame_lies[0])));
    tcase_add_test(tcase, a_number_of_bodies_that_overflows_is_refused);
    tcase_add_test(tcase, a_world_may_have_no_bodies);
    tcase_add_test(tcase, joints_come_back_to_the_bit);
    tcase_add_test(tcase, joints_that_lie_are_refused);
    tcase_add_test(tcase, an_arena_that_ends_is_told);
    return tcase;
}

// ---- contacts: lists of 2, 0 and 1

enum { LISTS = 3 };
static const size_t list_counts[LISTS] = {2, 0, 1};
enum { LISTS_BYTES = 8 + LISTS * 16 + 3 * CONTACT_BYTES };

typedef struct Columns {
    uint64_t ids[3 * 2];
    double numbers[20 * 2];
    uint32_t parts[2 * 2];
} Columns;

static ContactList make_list(size_t index, Columns *columns) {
    size_t c = list_counts[index];
    for (size_t i = 0; i < 3 * c; i++) {
        columns->ids[i] = 1000 * index + i;
    }
    for (size_t i = 0; i < 2 * c; i++) {
        columns->parts[i] = (uint32_t)(7 * index + i);
    }
    for (size_t i = 0; i < 20 * c; i++) {
        columns->numbers[i] = 0.5 + (double)(1000 * index + i);
    }
    double *d = columns->numbers;
    return (ContactList){.step = 3 * index,
                         .count = c,
                         .body_a = columns->ids,
                         .body_b = columns->ids + c,
                         .part_a = columns->parts,
                         .part_b = columns->parts + c,
                         .feature = columns->ids + 2 * c,
                         .point = d,
                         .frame = d + 3 * c,
                         .gap = d + 12 * c,
                         .impulse = d + 13 * c,
                         .velocity = d + 16 * c,
                         .friction = d + 19 * c};
}

static void make_lists(uint8_t body[LISTS_BYTES]) {
    Sink sink = {.bytes = body};
    contact_chunk_begin(&sink);
    for (size_t i = 0; i < LISTS; i++) {
        Columns columns;
        ContactList list = make_list(i, &columns);
        contact_chunk_add(&sink, &list);
    }
    ck_assert_uint_eq(sink.count, LISTS_BYTES);
    put_u64(body, CONTACT_LIST_COUNT_OFFSET, LISTS);
}

START_TEST(contacts_come_back_to_the_bit) {
    uint8_t body[LISTS_BYTES];
    make_lists(body);
    Arena arena;
    arena_init(&arena, 1 << 20);
    size_t at = 0;
    ContactList list;
    Error error = {0};
    for (size_t i = 0; i < LISTS; i++) {
        Columns columns;
        ContactList expected = make_list(i, &columns);
        size_t c = expected.count;
        ck_assert(
            contact_chunk_next(body, LISTS_BYTES, CHUNK_FORMAT_PARTS, &at, &arena, &list, &error));
        ck_assert_uint_eq(list.step, expected.step);
        ck_assert_uint_eq(list.count, c);
        if (c > 0) {
            ck_assert_mem_eq(list.body_a, expected.body_a, c * 8);
            ck_assert_mem_eq(list.body_b, expected.body_b, c * 8);
            ck_assert_mem_eq(list.part_a, expected.part_a, c * 4);
            ck_assert_mem_eq(list.part_b, expected.part_b, c * 4);
            ck_assert_mem_eq(list.feature, expected.feature, c * 8);
            ck_assert_mem_eq(list.point, expected.point, 3 * c * 8);
            ck_assert_mem_eq(list.frame, expected.frame, 9 * c * 8);
            ck_assert_mem_eq(list.gap, expected.gap, c * 8);
            ck_assert_mem_eq(list.impulse, expected.impulse, 3 * c * 8);
            ck_assert_mem_eq(list.velocity, expected.velocity, 3 * c * 8);
            ck_assert_mem_eq(list.friction, expected.friction, c * 8);
        }
    }
    ck_assert(
        !contact_chunk_next(body, LISTS_BYTES, CHUNK_FORMAT_PARTS, &at, &arena, &list, &error));
    ck_assert_int_eq(error.status, STATUS_OK);
    arena_deinit(&arena);
}
END_TEST

// Before version 9 the parts stood in the upper half of the feature.
START_TEST(contacts_of_older_versions_have_their_parts_in_the_feature) {
    enum { C = 1, OLD_BYTES = 8 + 16 + 8 * 23 };
    uint8_t body[OLD_BYTES];
    const uint64_t numbered[3] = {4, 9, UINT64_C(3) << 48 | UINT64_C(5) << 32 | 7};
    double numbers[20];
    for (size_t i = 0; i < 20; i++) {
        numbers[i] = (double)i;
    }
    Sink sink = {.bytes = body};
    sink_u64(&sink, 1);
    sink_u64(&sink, 12);
    sink_u64(&sink, C);
    sink_u64s(&sink, numbered, 3);
    sink_doubles(&sink, numbers, 20);
    ck_assert_uint_eq(sink.count, OLD_BYTES);
    Arena arena;
    arena_init(&arena, 1 << 20);
    size_t at = 0;
    ContactList list;
    Error error = {0};
    ck_assert(contact_chunk_next(body, OLD_BYTES, CHUNK_FORMAT_GAINS, &at, &arena, &list, &error));
    ck_assert_uint_eq(list.count, C);
    ck_assert_uint_eq(list.part_a[0], 3);
    ck_assert_uint_eq(list.part_b[0], 5);
    ck_assert_uint_eq(list.feature[0], 7);
    ck_assert(list.friction[0] == 19.0);
    ck_assert(!contact_chunk_next(body, OLD_BYTES, CHUNK_FORMAT_GAINS, &at, &arena, &list, &error));
    ck_assert_int_eq(error.status, STATUS_OK);
    arena_deinit(&arena);
}
END_TEST

// The status of a walk to the end.
static Status walk(const uint8_t *body, size_t count, size_t arena_bytes) {
    Arena arena;
    arena_init(&arena, arena_bytes);
    size_t at = 0;
    ContactList list;
    Error error = {0};
    while (contact_chunk_next(body, count, CHUNK_FORMAT_PARTS, &at, &arena, &list, &error)) {
    }
    arena_deinit(&arena);
    return error.status;
}

START_TEST(cut_contacts_are_refused) {
    uint8_t body[LISTS_BYTES];
    make_lists(body);
    ck_assert_int_eq(walk(body, LISTS_BYTES, 1 << 20), STATUS_OK);
    for (size_t count = 0; count < LISTS_BYTES; count++) {
        ck_assert_int_eq(walk(body, count, 1 << 20), STATUS_DATA_LOSS);
    }
}
END_TEST

enum { AT_SECOND_LIST = 8 + 16 + 2 * CONTACT_BYTES };

static const struct {
    size_t at;
    uint64_t value;
} list_lies[] = {
    {CONTACT_LIST_COUNT_OFFSET, LISTS - 1},
    {CONTACT_LIST_COUNT_OFFSET, LISTS + 1},
    {CONTACT_LIST_COUNT_OFFSET, UINT64_MAX},
    {16, 1},
    {16, UINT64_MAX},
    {16, ((uint64_t)1 << 61) + 2},
    {AT_SECOND_LIST, 0},
    {AT_SECOND_LIST + 8, 1},
};

START_TEST(contacts_that_lie_are_refused) {
    uint8_t body[LISTS_BYTES];
    make_lists(body);
    put_u64(body, list_lies[_i].at, list_lies[_i].value);
    ck_assert_int_eq(walk(body, LISTS_BYTES, 1 << 20), STATUS_DATA_LOSS);
}
END_TEST

START_TEST(an_arena_that_ends_is_told_of_contacts_too) {
    uint8_t body[LISTS_BYTES];
    make_lists(body);
    ck_assert_int_eq(walk(body, LISTS_BYTES, 0), STATUS_RESOURCE_EXHAUSTED);
}
END_TEST

static TCase *case_contacts(void) {
    TCase *tcase = tcase_create("contacts");
    tcase_add_test(tcase, contacts_come_back_to_the_bit);
    tcase_add_test(tcase, contacts_of_older_versions_have_their_parts_in_the_feature);
    tcase_add_test(tcase, cut_contacts_are_refused);
    tcase_add_loop_test(tcase, contacts_that_lie_are_refused, 0,
                        (int)(sizeof(list_lies) / sizeof(list_lies[0])));
    tcase_add_test(tcase, an_arena_that_ends_is_told_of_contacts_too);
    return tcase;
}

SUITE_MAIN("log/frames", case_frames, case_contacts)
