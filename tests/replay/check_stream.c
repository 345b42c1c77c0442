// SPDX-License-Identifier: MIT
// A recording leaves the server: its chunks, one behind the other, are stepped again by a program
// that has the dynamics and what reads chunks, and nothing else (golden/episode.c). The stream that
// is written here is what deploy/golden gives to the builds for other machines.
#include "support/log_tape.h"
#include "support/suite.h"

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#define STREAM  MOREAU_BINARY_DIR "/tests/golden/episode.stream"
#define PROGRAM MOREAU_BINARY_DIR "/tests/golden/moreau-golden-episode "

static Tape *tape;
static char said[512]; // by the program

static void write_blob(FILE *stream, const TapeBlob *blob) {
    uint64_t count = blob->count;
    ck_assert_uint_eq(fwrite(&count, sizeof(count), 1, stream), 1);
    ck_assert_uint_eq(fwrite(blob->bytes, 1, blob->count, stream), blob->count);
}

// `mend` (Nullable) may change each of the chunks on the way.
static void write_stream(const char *path, void (*mend)(TapeBlob *blob)) {
    static const ChunkKind kinds[] = {CHUNK_KEYFRAME, CHUNK_FRAMES, CHUNK_INPUTS};
    FILE *stream = fopen(path, "wb");
    ck_assert_ptr_nonnull(stream);
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        TapeBlob blob;
        for (int k = 0; tape_read_blob(tape, kinds[i], k, &blob); k++) {
            if (mend != NULL) {
                mend(&blob);
            }
            write_blob(stream, &blob);
            free(blob.bytes);
        }
    }
    ck_assert_int_eq(fclose(stream), 0);
}

static int run_program(const char *stream) {
    char command[512];
    snprintf(command, sizeof(command), PROGRAM "%s 2>&1", stream);
    FILE *pipe = popen(command, "r");
    ck_assert_ptr_nonnull(pipe);
    said[fread(said, 1, sizeof(said) - 1, pipe)] = '\0';
    return WEXITSTATUS(pclose(pipe));
}

START_TEST(a_recording_is_stepped_again_without_a_server) {
    write_stream(STREAM, NULL);
    ck_assert_msg(run_program(STREAM) == 0, "%s", said);
    char begin[64];
    snprintf(begin, sizeof(begin), "%llu steps,", (unsigned long long)tape->steps);
    ck_assert_msg(strncmp(said, begin, strlen(begin)) == 0, "%s", said);
}
END_TEST

static void seal_again(TapeBlob *blob) {
    Chunk chunk;
    ck_assert_int_eq(chunk_read_head(blob->bytes, blob->count, &chunk, NULL), STATUS_OK);
    chunk_seal(blob->bytes, blob->count, &chunk);
}

// The last hash of the chunk.
static void change_a_hash(TapeBlob *blob) {
    if (blob->kind == CHUNK_INPUTS) {
        blob->bytes[blob->count - 1] ^= 1;
        seal_again(blob);
    }
}

// A number of the last frame.
static void change_a_frame(TapeBlob *blob) {
    if (blob->kind == CHUNK_FRAMES) {
        blob->bytes[blob->count - 8] ^= 1;
        seal_again(blob);
    }
}

// The last byte of a snapshot: not of the first, from which the program begins.
static void change_a_keyframe(TapeBlob *blob) {
    Chunk chunk;
    ck_assert_int_eq(chunk_read_head(blob->bytes, blob->count, &chunk, NULL), STATUS_OK);
    if (blob->kind == CHUNK_KEYFRAME && chunk.first_step > 0) {
        blob->bytes[blob->count - 1] ^= 1;
        seal_again(blob);
    }
}

static void change_a_bit(TapeBlob *blob) {
    blob->bytes[blob->count / 2] ^= 1;
}

static const struct {
    void (*mend)(TapeBlob *blob);
    const char *says;
} faults[] = {{change_a_hash, "the state's hash differs"},
              {change_a_frame, "a frame differs"},
              {change_a_keyframe, "a key-frame differs"},
              {change_a_bit, "a chunk is damaged"}};

START_TEST(a_difference_is_found) {
    char path[128];
    snprintf(path, sizeof(path), "%s/stream", tape->folder);
    write_stream(path, faults[_i].mend);
    ck_assert_int_eq(run_program(path), 1);
    ck_assert_msg(strstr(said, faults[_i].says) != NULL, "%s", said);
    remove(path);
}
END_TEST

static void set_up(void) {
    tape = tape_open();
}

static void tear_down(void) {
    tape_close(tape);
}

static TCase *case_stream(void) {
    TCase *tcase = tcase_create("stream");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, a_recording_is_stepped_again_without_a_server);
    tcase_add_loop_test(tcase, a_difference_is_found, 0, sizeof(faults) / sizeof(faults[0]));
    return tcase;
}

SUITE_MAIN("replay/stream", case_stream)
