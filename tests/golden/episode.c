// SPDX-License-Identifier: MIT
// Steps a recording again without a server: no thread, no SQLite, no recorder, so that it runs
// wherever a compiler leads, also in a web page. Every hash, every frame and every key-frame on the
// way is compared.
//
//   moreau-golden-episode STREAM
//
//   STREAM = chunk …, each behind its length in bytes (u64, little-endian): as the rows of an
//            episode, the first a key-frame; replay/check_stream.c writes one
//
// Says how much it compared; fails at the first difference.
#include "base/arena.h"
#include "log/format/chunk.h"
#include "log/format/entries.h"
#include "run/worlds/apply.h"
#include "run/worlds/record_columns.h"
#include "step/snapshot/snapshot.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNKS_MAX = 4096 };

typedef struct Episode {
    uint8_t *bytes;
    size_t chunk_count;
    Chunk chunk[CHUNKS_MAX];
    World *world;
    Stepper *stepper;
    uint64_t step; // since the recording began
    uint64_t hashes, frames, keyframes;
    Arena arena, scratch;
} Episode;

static Episode episode;

static void fail(const char *what, const Error *error) {
    fprintf(stderr, "step %" PRIu64 ": %s %s\n", episode.step, what,
            error == NULL ? "" : error->message);
    exit(EXIT_FAILURE);
}

static void expect(Status status, const char *what, const Error *error) {
    if (status != STATUS_OK) {
        fail(what, error);
    }
}

// ---- the stream

static size_t read_file(const char *path) {
    FILE *file = fopen(path, "rb");
    if (file == NULL || fseek(file, 0, SEEK_END) != 0) {
        fail("there is no such stream", NULL);
    }
    size_t count = (size_t)ftell(file);
    rewind(file);
    episode.bytes = malloc(count + 1);
    if (episode.bytes == NULL || fread(episode.bytes, 1, count, file) != count) {
        fail("the stream cannot be read", NULL);
    }
    fclose(file);
    return count;
}

static void open_chunks(const char *path) {
    size_t bytes_all = read_file(path);
    Source source = {.bytes = episode.bytes, .count = bytes_all};
    while (source.used < source.count && episode.chunk_count < CHUNKS_MAX) {
        Error error = {0};
        size_t count = source_count(&source, 1);
        const uint8_t *bytes = source_bytes(&source, count);
        if (bytes == NULL) {
            fail("the stream is cut short", NULL);
        }
        expect(chunk_open(bytes, count, NULL, &episode.chunk[episode.chunk_count++], &error),
               "a chunk is damaged:", &error);
    }
    if (episode.chunk_count == 0 || episode.chunk[0].kind != CHUNK_KEYFRAME) {
        fail("the stream does not begin with a key-frame", NULL);
    }
}

// ---- what is compared

static void compare_keyframe(const Chunk *chunk) {
    Error error = {0};
    uint8_t *bytes;
    size_t count;
    expect(snapshot_write(episode.world, &episode.scratch, &bytes, &count, &error),
           "no snapshot:", &error);
    if (count != chunk->body_bytes || memcmp(bytes, chunk->body, count) != 0) {
        fail("a key-frame differs", NULL);
    }
    episode.keyframes++;
}

static void compare_frame(const FrameChunk *chunk, size_t index) {
    Error error = {0};
    StateFrame stored, live;
    expect(frame_chunk_read(chunk, index, &episode.scratch, &stored, &error), "no frame:", &error);
    expect(frame_columns(episode.world, episode.step, &episode.scratch, &live, &error),
           "no columns:", &error);
    size_t count = chunk->body_count;
    if (count != episode.world->body_count || stored.time != live.time ||
        memcmp(stored.pose, live.pose, 7 * count * sizeof(double)) != 0 ||
        memcmp(stored.velocity, live.velocity, 6 * count * sizeof(double)) != 0) {
        fail("a frame differs", NULL);
    }
    episode.frames++;
}

// Frames show a step right after it; so do key-frames, before any later change.
static void compare_shown(void) {
    for (size_t i = 0; i < episode.chunk_count; i++) {
        const Chunk *chunk = &episode.chunk[i];
        if (episode.step < chunk->first_step || episode.step > chunk->last_step) {
            continue;
        }
        if (chunk->kind == CHUNK_KEYFRAME) {
            compare_keyframe(chunk);
        } else if (chunk->kind == CHUNK_FRAMES) {
            Error error = {0};
            FrameChunk frames;
            expect(frame_chunk_open(chunk->body, chunk->body_bytes, chunk_version(chunk), &frames,
                                    &error),
                   "these are no frames:", &error);
            for (size_t k = 0; k < frames.frame_count; k++) {
                if (frame_chunk_step(&frames, k) == episode.step) {
                    compare_frame(&frames, k);
                }
            }
        }
    }
    arena_reset(&episode.scratch);
}

static void compare_hash(uint64_t expected) {
    if (snapshot_hash(episode.world) != expected) {
        fail("the state's hash differs", NULL);
    }
    episode.hashes++;
}

// ---- what is done

static void take_steps(const Entry *entry, const Input *input) {
    Error error = {0};
    StepRun run;
    expect(apply_begin(episode.world, input, &episode.arena, &run, &error), "refused:", &error);
    for (uint32_t i = 0; i < entry->hash_count; i++) {
        bool fails = (entry->flags & ENTRY_FAULTED) != 0 && i + 1 == entry->hash_count;
        run.steps_left = 1;
        Status status =
            apply_step(episode.world, episode.stepper, &run, &episode.scratch, NULL, &error);
        if ((status != STATUS_OK) != fails) {
            fail("a step ends otherwise:", &error);
        }
        episode.step += !fails;
        compare_hash(entry_hash(entry, i));
        if (!fails) {
            compare_shown();
        }
    }
}

static void carry_out(const Entry *entry) {
    Error error = {0};
    Input input;
    InputBytes bytes = {entry->input, entry->input_bytes};
    expect(input_decode(bytes, &episode.arena, &input, &error), "this is no input:", &error);
    if (entry->step != episode.step) {
        fail("an entry stands for another step", NULL);
    }
    if (input.kind == INPUT_STEP) {
        take_steps(entry, &input);
    } else {
        expect(apply_change(episode.world, episode.stepper, &input, &episode.arena, NULL, NULL,
                            &error),
               "refused:", &error);
        compare_hash(entry_hash(entry, 0));
    }
    arena_reset(&episode.arena);
}

static void step_again(void) {
    const WorldLimits limits = {.body_count_max = 10000, .bytes_max = (size_t)1 << 28};
    const Chunk *begin = &episode.chunk[0];
    Error error = {0};
    arena_init(&episode.arena, limits.bytes_max);
    arena_init(&episode.scratch, limits.bytes_max);
    expect(snapshot_read(begin->body, begin->body_bytes, &limits, &episode.world, &error),
           "no snapshot:", &error);
    episode.stepper = stepper_create(limits.bytes_max);
    if (episode.stepper == NULL) {
        fail("no memory", NULL);
    }
    compare_shown();
    for (size_t i = 0; i < episode.chunk_count; i++) {
        const Chunk *chunk = &episode.chunk[i];
        Entry entry;
        for (size_t at = 0; chunk->kind == CHUNK_INPUTS &&
                            entry_next(chunk->body, chunk->body_bytes, &at, &entry, &error);) {
            carry_out(&entry);
        }
        expect(error.status, "these are no entries:", &error);
    }
}

int main(int argc, char **argv) {
    if (argc != 2) {
        fprintf(stderr, "usage: moreau-golden-episode STREAM\n");
        return 2;
    }
    open_chunks(argv[1]);
    step_again();
    printf("%" PRIu64 " steps, %" PRIu64 " hashes, %" PRIu64 " frames, %" PRIu64
           " key-frames: no difference\n",
           episode.step, episode.hashes, episode.frames, episode.keyframes);
    stepper_destroy(episode.stepper);
    world_destroy(episode.world);
    arena_deinit(&episode.arena);
    arena_deinit(&episode.scratch);
    free(episode.bytes);
    return EXIT_SUCCESS;
}
