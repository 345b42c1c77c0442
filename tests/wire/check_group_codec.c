// SPDX-License-Identifier: MIT
// A group's reply written by hand is, to the byte, what protobuf-c writes of the same rows.
#include "wire/group_codec.h"

#include "support/lab.h"
#include "support/suite.h"

#include <stdlib.h>
#include <string.h>

enum { WORLDS = 30, SEEN = 3, BESIDE = 2 };

typedef struct Sheet {
    Group group; // no more of it than a reply needs
    GroupCall call;
    GroupRow row[WORLDS];
    uint32_t world[WORLDS], some[WORLDS];
    double numbers[4][WORLDS * SEEN];
    uint32_t judged_number[2][WORLDS];
    uint64_t judged_count[3][WORLDS];
    double judged[3][WORLDS];
    Moreau__V1__Status status, *failures[1];
    uint64_t seed;
} Sheet;

static uint32_t any(Sheet *sheet, uint32_t below) {
    return (uint32_t)lab_random(&sheet->seed, 0.0, below);
}

// Floats and doubles both fill the numbers with bytes that differ.
static Sheet *make_sheet(uint64_t seed, bool is_double) {
    Sheet *sheet = calloc(1, sizeof(*sheet));
    sheet->seed = seed;
    sheet->group.is_double = is_double;
    sheet->group.observation.column_count = SEEN;
    sheet->group.extra.column_count = any(sheet, 2) * BESIDE;
    for (size_t i = 0; i < WORLDS; i++) {
        sheet->row[i] = (GroupRow){.ended = (uint8_t)(seed % 2 == 0 ? any(sheet, 4) : 0),
                                   .is_doubtful = seed % 3 == 0 && any(sheet, 2) == 0,
                                   .unconverged = any(sheet, 3) * 100};
        sheet->row[i].episode = any(sheet, 1000);
        sheet->row[i].seed = (uint64_t)any(sheet, 1000) << 40;
        sheet->row[i].length = any(sheet, 500);
        sheet->world[i] = (uint32_t)(3 * i);
        for (int k = 0; k < 4; k++) {
            for (size_t c = 0; c < SEEN; c++) {
                sheet->numbers[k][SEEN * i + c] = lab_random(&sheet->seed, -5.0, 5.0);
            }
        }
    }
    sheet->call = (GroupCall){.group = &sheet->group,
                              .count = WORLDS,
                              .world = sheet->world,
                              .row = sheet->row,
                              .observation = sheet->numbers[0],
                              .extra = sheet->numbers[1],
                              .final_observation = sheet->numbers[2],
                              .final_extra = sheet->numbers[3]};
    return sheet;
}

// What protobuf-c makes of one column: the rows named, or those of them that have ended.
static size_t gather(const GroupRows *rows, const void *numbers, size_t columns, bool ended_only,
                     void *to) {
    const size_t bytes = columns * (rows->call->group->is_double ? sizeof(double) : sizeof(float));
    size_t count = 0;
    for (size_t i = 0; i < rows->count; i++) {
        const size_t row = group_rows_at(rows, i);
        if (!ended_only || rows->call->row[row].ended != 0) {
            memcpy((char *)to + count * bytes, (const char *)numbers + row * bytes, bytes);
            count++;
        }
    }
    return count * columns;
}

enum { DOUBTFUL = 4 };

static unsigned bits_of(const GroupRow *row) {
    return row->ended | (row->is_doubtful ? DOUBTFUL : 0u);
}

static void fill_bits(const GroupRows *rows, uint8_t bit, protobuf_c_boolean *has,
                      ProtobufCBinaryData *bits) {
    bits->len = (rows->count + 7) / 8;
    bits->data = calloc(1, bits->len);
    for (size_t i = 0; i < rows->count; i++) {
        if (bits_of(&rows->call->row[group_rows_at(rows, i)]) & bit) {
            bits->data[i / 8] |= (uint8_t)(1 << i % 8);
            *has = 1;
        }
    }
}

static void fill_finals(const GroupRows *rows, Moreau__V1__GroupStepReply *reply) {
    static uint32_t world[WORLDS], unconverged[WORLDS];
    static uint64_t episode[WORLDS], seed[WORLDS], length[WORLDS];
    size_t count = 0;
    uint32_t is_any = 0;
    for (size_t i = 0; i < rows->count; i++) {
        const size_t row = group_rows_at(rows, i);
        const GroupRow *became = &rows->call->row[row];
        unconverged[i] = became->unconverged;
        is_any |= became->unconverged;
        if (became->ended != 0) {
            world[count] = group_call_world(rows->call, row);
            episode[count] = became->episode;
            seed[count] = became->seed;
            length[count++] = became->length;
        }
    }
    reply->n_final_world = reply->n_final_episode = count;
    reply->n_final_seed = reply->n_final_length = count;
    reply->final_world = world, reply->final_episode = episode;
    reply->final_seed = seed, reply->final_length = length;
    reply->n_unconverged = is_any ? rows->count : 0;
    reply->unconverged = unconverged;
}

static void fill_numbers(const GroupRows *rows, Moreau__V1__GroupStepReply *reply) {
    static double number[4][WORLDS * SEEN];
    const GroupCall *call = rows->call;
    const size_t wide = SEEN, beside = call->group->extra.column_count;
    const size_t seen = gather(rows, call->observation, wide, false, number[0]);
    const size_t extra = gather(rows, call->extra, beside, false, number[1]);
    const size_t last = gather(rows, call->final_observation, wide, true, number[2]);
    const size_t last_extra = gather(rows, call->final_extra, beside, true, number[3]);
    if (call->group->is_double) {
        reply->n_observation_double = seen, reply->observation_double = number[0];
        reply->n_extra_double = extra, reply->extra_double = number[1];
        reply->n_final_observation_double = last, reply->final_observation_double = number[2];
        reply->n_final_extra_double = last_extra, reply->final_extra_double = number[3];
    } else {
        reply->n_observation = seen, reply->observation = (float *)(void *)number[0];
        reply->n_extra = extra, reply->extra = (float *)(void *)number[1];
        reply->n_final_observation = last, reply->final_observation = (float *)(void *)number[2];
        reply->n_final_extra = last_extra, reply->final_extra = (float *)(void *)number[3];
    }
}

// Opinions on so many steps, of numbers that take one byte or ten.
static OpinionColumns judge(Sheet *sheet, size_t count) {
    const OpinionColumns columns = {.count = count,
                                    .world = sheet->judged_number[0],
                                    .substep = sheet->judged_number[1],
                                    .seed = sheet->judged_count[0],
                                    .episode = sheet->judged_count[1],
                                    .step = sheet->judged_count[2],
                                    .gap = sheet->judged[0],
                                    .e_ds = sheet->judged[1],
                                    .residual = sheet->judged[2]};
    for (size_t i = 0; i < count; i++) {
        columns.world[i] = any(sheet, 70000);
        columns.substep[i] = any(sheet, 3) == 0 ? UINT32_MAX : 0;
        columns.seed[i] = any(sheet, 2) == 0 ? UINT64_MAX : 1;
        columns.episode[i] = any(sheet, 2) == 0 ? UINT64_MAX : 2;
        columns.step[i] = any(sheet, 2) == 0 ? UINT64_MAX : 3;
        columns.gap[i] = lab_random(&sheet->seed, 0.0, 1.0);
        columns.e_ds[i] = OPINION_NOT_FINITE;
        columns.residual[i] = lab_random(&sheet->seed, 0.0, 1e-8);
    }
    return columns;
}

static void expect_same(const GroupRows *rows) {
    Moreau__V1__GroupStepReply reply = MOREAU__V1__GROUP_STEP_REPLY__INIT;
    uint32_t worlds[WORLDS];
    fill_numbers(rows, &reply);
    fill_finals(rows, &reply);
    fill_bits(rows, GROUP_TERMINATED, &reply.has_terminated, &reply.terminated);
    fill_bits(rows, GROUP_TRUNCATED, &reply.has_truncated, &reply.truncated);
    for (size_t i = 0; i < rows->count && rows->names_worlds; i++) {
        worlds[i] = group_call_world(rows->call, group_rows_at(rows, i));
    }
    reply.n_worlds = rows->names_worlds ? rows->count : 0;
    reply.worlds = worlds;
    reply.n_failures = rows->failure_count;
    reply.failures = rows->failures;
    fill_bits(rows, DOUBTFUL, &reply.has_doubtful, &reply.doubtful);
    Moreau__V1__GroupOpinionColumns opinions;
    group_codec_fill_opinions(&rows->opinions, &opinions);
    reply.opinions = rows->opinions.count > 0 ? &opinions : NULL;
    reply.recording_ended = (char *)rows->recording_ended;
    const size_t count = moreau__v1__group_step_reply__get_packed_size(&reply);
    const size_t most = group_codec_bytes_max(rows);
    uint8_t *expected = malloc(count), *written = malloc(most);
    moreau__v1__group_step_reply__pack(&reply, expected);
    ck_assert_uint_le(count, most);
    ck_assert_uint_eq((size_t)(group_codec_pack(rows, written) - written), count);
    ck_assert_mem_eq(written, expected, count);
    free(expected);
    free(written);
    free(reply.terminated.data);
    free(reply.truncated.data);
    free(reply.doubtful.data);
}

START_TEST(rows_are_written_as_protobuf_c_writes_them) {
    for (uint64_t seed = 1; seed <= 40; seed++) {
        Sheet *sheet = make_sheet(seed, _i == 1);
        GroupRows rows = {.call = &sheet->call, .count = WORLDS};
        expect_same(&rows);
        // some of them, in another order, with a failure
        rows.names_worlds = true;
        rows.row = sheet->some;
        rows.count = 1 + any(sheet, WORLDS - 1);
        for (size_t i = 0; i < rows.count; i++) {
            sheet->some[i] = (uint32_t)(WORLDS - 1 - i);
        }
        moreau__v1__status__init(&sheet->status);
        sheet->status.message = "no";
        sheet->failures[0] = &sheet->status;
        rows.failures = sheet->failures;
        rows.failure_count = 1;
        sheet->group.opinion.share = 1.0;
        sheet->group.count = WORLDS;
        rows.opinions = judge(sheet, 1 + any(sheet, WORLDS));
        rows.recording_ended = "The disk is full.";
        expect_same(&rows);
        free(sheet);
    }
}
END_TEST

// What is promised before anything is done holds for whatever becomes of it.
START_TEST(no_reply_is_longer_than_was_promised) {
    Sheet *sheet = make_sheet(2, true);
    sheet->group.extra.column_count = BESIDE;
    for (size_t i = 0; i < WORLDS; i++) {
        sheet->row[i] = (GroupRow){.ended = 3, .unconverged = UINT32_MAX};
        sheet->row[i].episode = sheet->row[i].seed = sheet->row[i].length = UINT64_MAX;
        sheet->world[i] = 65535;
    }
    const GroupRows rows = {.call = &sheet->call, .count = WORLDS, .names_worlds = true};
    uint8_t *written = malloc(1 << 16);
    ck_assert_uint_le((size_t)(group_codec_pack(&rows, written) - written),
                      group_codec_bytes_bound(&sheet->group, WORLDS));
    free(written);
    free(sheet);
}
END_TEST

static TCase *case_codec(void) {
    TCase *tcase = tcase_create("codec");
    tcase_add_loop_test(tcase, rows_are_written_as_protobuf_c_writes_them, 0, 2);
    tcase_add_test(tcase, no_reply_is_longer_than_was_promised);
    return tcase;
}

SUITE_MAIN("wire/group_codec", case_codec)
