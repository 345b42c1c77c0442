// SPDX-License-Identifier: MIT
// What recording costs the world that is recorded, what it takes on the disk, how fast a recording
// is stepped again and checked, what going back takes beside going on, and what it costs to go to
// any step of a long one.
#include "bench/bench.h"
#include "bench/scene.h"

#include "os/clock.h"
#include "replay/show/playback.h"
#include "support/log_waiter.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BODIES = 100, BLOCK_STEPS = 100, BLOCKS = 40, WALK_STEPS = 2000 };
enum { SHORT_STEPS = 10000, LONG_STEPS = 1000000, SEEKS = 300 };

// A file of episodes in a folder of its own, which goes with it.
typedef struct Store {
    char folder[64], path[96];
    Log *log;
    Report report;
} Store;

static Store store_open(void) {
    Store store = {.report = {.level = REPORT_ERROR, .fd = STDERR_FILENO}};
    snprintf(store.folder, sizeof(store.folder), "/tmp/moreau-bench-XXXXXX");
    if (mkdtemp(store.folder) == NULL) {
        bench_fail("there is no temporary folder");
    }
    snprintf(store.path, sizeof(store.path), "%s/episodes.db", store.folder);
    return store;
}

static void store_start(Store *store) {
    LogDef def = {.path = store->path,
                  .queue_bytes_max = (size_t)64 << 20,
                  .report = &store->report,
                  .server_version = "bench"};
    Error error = {0};
    if (log_open(&store->log, &def, &error) != STATUS_OK) {
        bench_fail("%s", error.message);
    }
}

static void store_remove(Store *store) {
    char command[128];
    snprintf(command, sizeof(command), "rm -rf %s", store->folder);
    if (system(command) != 0) {
        bench_fail("%s cannot be removed", store->folder);
    }
}

// ---- waiting for the log

static void waiter_await(Waiter *waiter) {
    if (waiter_wait(waiter) != STATUS_OK) {
        bench_fail("%s", waiter->wait.error.message);
    }
}

static Recorder *start(Store *store, World *world, RecordingContent content) {
    RecorderDef def = {.content = content,
                       .stride = 1,
                       .keyframe_steps = RECORDER_KEYFRAME_STEPS_DEFAULT,
                       .name = "bench",
                       .client = "bench",
                       .world_name = "bench"};
    Waiter waiter;
    waiter_init(&waiter);
    Recorder *recorder;
    Error error = {0};
    if (recorder_start(store->log, &def, world, &waiter.wait, &recorder, &error) != STATUS_OK) {
        bench_fail("%s", error.message);
    }
    waiter_await(&waiter);
    return recorder;
}

static void stop(Recorder *recorder) {
    Waiter waiter;
    waiter_init(&waiter);
    recorder_stop(recorder, RECORDING_COMPLETE, &waiter.wait);
    waiter_await(&waiter);
}

// ---- stepping through a door, as a lane does

static void await_room(Door *door) {
    while (!door_is_ready(door, NULL)) {
        Waiter waiter;
        waiter_init(&waiter);
        if (door_is_ready(door, &waiter.wait)) {
            uv_sem_destroy(&waiter.done);
        } else {
            waiter_await(&waiter);
        }
    }
}

static void door_steps(Door *door, Scene *scene, uint64_t steps) {
    Input input = {.kind = INPUT_STEP, .step = {.steps = steps}};
    StepRun run = {0};
    Error error = {0};
    Status status = door_step_begin(door, &input, &scene->scratch, &run, &error);
    while (status == STATUS_OK && run.steps_left > 0) {
        await_room(door);
        status = door_step(door, &run, &scene->scratch, UINT64_MAX, NULL, &error);
    }
    if (status != STATUS_OK) {
        bench_fail("%s", error.message);
    }
    arena_reset(&scene->scratch);
}

static double wall_ns_per_step(Door *door, Scene *scene) {
    uint64_t begun_ns = clock_now_ns();
    door_steps(door, scene, BLOCK_STEPS);
    return (double)(clock_now_ns() - begun_ns) / BLOCK_STEPS;
}

// ---- what recording costs

static void add_cost(const BenchRun *run, const char *figure, double *with, double *without,
                     double aim) {
    BenchRow row = {.value = bench_percentile(with, BLOCKS, 0.5) * 1e-3,
                    .unit = "us",
                    .peer = "not recorded",
                    .peer_value = bench_percentile(without, BLOCKS, 0.5) * 1e-3,
                    .aim_kind = AIM_RATIO_MAX,
                    .aim = aim};
    snprintf(row.figure, sizeof(row.figure), "%s", figure);
    bench_add(run, &row);
}

static double file_bytes(const Store *store) {
    struct stat info;
    return stat(store->path, &info) == 0 ? (double)info.st_size : 0.0;
}

// Blocks of the same world, recorded and not, in turn: both see the same weather.
static void bench_cost(const BenchRun *run, const char *figure, RecordingContent content,
                       double aim) {
    static double with[BLOCKS], without[BLOCKS];
    Store store = store_open();
    store_start(&store);
    Scene plain = scene_pile(BODIES), recorded = scene_pile(BODIES);
    Door plain_door = {.world = plain.world, .stepper = plain.stepper};
    Door door = {.world = recorded.world, .stepper = recorded.stepper};
    door.recorder = start(&store, door.world, content);
    for (int i = 0; i < BLOCKS; i++) {
        with[i] = wall_ns_per_step(&door, &recorded);
        without[i] = wall_ns_per_step(&plain_door, &plain);
    }
    size_t bodies = recorded.world->body_count;
    stop(door.recorder);
    scene_destroy(&plain);
    scene_destroy(&recorded);
    log_close(store.log);
    add_cost(run, figure, with, without, aim);
    BenchRow row = {.value = file_bytes(&store) / (BLOCKS * BLOCK_STEPS) / (double)bodies,
                    .unit = "B",
                    .peer = "13 doubles",
                    .peer_value = 104.0};
    snprintf(row.figure, sizeof(row.figure), "%s: per body and step", figure);
    bench_add(run, &row);
    store_remove(&store);
}

// ---- stepping again

static EpisodeRow find(LogReader *reader, Arena *arena, const char *name) {
    EpisodeRow row;
    Error error = {0};
    if (log_reader_find(reader, name, arena, &row, &error) != STATUS_OK) {
        bench_fail("%s", error.message);
    }
    return row;
}

static void player_to(Player *player, LogReader *reader, uint64_t step, Arena *scratch) {
    Error error = {0};
    PlayerDifference difference = {0};
    while (player_step(player) < step) {
        if (player_run(player, reader, step, true, scratch, UINT64_MAX, NULL, &difference,
                       &error) != STATUS_OK ||
            difference.found) {
            bench_fail("%s%s", error.message, difference.message);
        }
    }
}

static Player *open_player(const EpisodeRow *row, const WorldLimits *limits) {
    Player *player;
    Error error = {0};
    if (player_open(&player, row, limits, &error) != STATUS_OK) {
        bench_fail("%s", error.message);
    }
    return player;
}

static void bench_verify(const BenchRun *run) {
    static double live[BLOCKS], again[BLOCKS];
    Store store = store_open();
    store_start(&store);
    Scene scene = scene_pile(BODIES);
    Door door = {.world = scene.world, .stepper = scene.stepper};
    door.recorder = start(&store, door.world, CONTENT_INPUTS);
    for (int i = 0; i < BLOCKS; i++) {
        live[i] = wall_ns_per_step(&door, &scene);
    }
    stop(door.recorder);

    Arena arena;
    arena_init(&arena, (size_t)1 << 30);
    LogReader *reader;
    Error error = {0};
    if (log_take_reader(store.log, &reader, &error) != STATUS_OK) {
        bench_fail("%s", error.message);
    }
    EpisodeRow row = find(reader, &arena, "bench");
    Player *player = open_player(&row, &scene.world->limits);
    PlayerDifference difference = {0};
    if (player_seek(player, reader, 0, &difference, &error) != STATUS_OK) {
        bench_fail("%s", error.message);
    }
    for (uint64_t i = 0; i < BLOCKS; i++) {
        uint64_t begun_ns = clock_now_ns();
        player_to(player, reader, (i + 1) * BLOCK_STEPS, &scene.scratch);
        again[i] = (double)(clock_now_ns() - begun_ns) / BLOCK_STEPS;
    }
    player_close(player);
    log_give_reader(store.log, reader);
    arena_deinit(&arena);
    scene_destroy(&scene);
    log_close(store.log);
    store_remove(&store);
    BenchRow figure = {.figure = "verify, per step",
                       .value = bench_percentile(again, BLOCKS, 0.5) * 1e-3,
                       .unit = "us",
                       .peer = "live, recorded",
                       .peer_value = bench_percentile(live, BLOCKS, 0.5) * 1e-3};
    bench_add(run, &figure);
}

// Bodies that spin and touch nothing: what is measured is what is beside the solver.
static void record_free(Store *store, const char *name, int bodies, uint64_t steps) {
    Scene scene = scene_create();
    Id shape = scene_shape(&scene, PRIMITIVE_SPHERE, vec3(0.05, 0.0, 0.0));
    for (int i = 0; i < bodies; i++) {
        Pose pose = {.position = vec3(i, 0.0, 0.0), .orientation = quat_identity()};
        scene_body(&scene, shape, BODY_DYNAMIC, pose);
    }
    Door door = {.world = scene.world, .stepper = scene.stepper};
    RecorderDef def = {.stride = 1,
                       .keyframe_steps = RECORDER_KEYFRAME_STEPS_DEFAULT,
                       .name = name,
                       .client = "bench",
                       .world_name = "bench"};
    Waiter waiter;
    waiter_init(&waiter);
    Error error = {0};
    if (recorder_start(store->log, &def, door.world, &waiter.wait, &door.recorder, &error) !=
        STATUS_OK) {
        bench_fail("%s", error.message);
    }
    waiter_await(&waiter);
    for (uint64_t done = 0; done < steps; done += BLOCK_STEPS) {
        door_steps(&door, &scene, BLOCK_STEPS);
    }
    stop(door.recorder);
    scene_destroy(&scene);
}

// ---- going back

// The CPU time of every frame of a whole episode, stepped again in one direction [ns]; their sum.
static double play_ns(Store *store, const EpisodeRow *row, const WorldLimits *limits,
                      bool is_backward, Arena *scratch, double times[WALK_STEPS + 1]) {
    Playback *playback;
    Error error = {0};
    double sum = 0.0;
    PlaybackDef def = {.log = store->log,
                       .episode = row,
                       .limits = *limits,
                       .again = true,
                       .backward = is_backward,
                       .stride = 1};
    if (playback_open(&playback, &def, &error) != STATUS_OK) {
        bench_fail("%s", error.message);
    }
    for (uint64_t i = 0; i <= WALK_STEPS; i++) {
        double begun_ns = bench_cpu_ns();
        EpisodeFrame frame;
        bool found = false;
        if (playback_get(playback, is_backward ? WALK_STEPS - i : i, scratch, UINT64_MAX, NULL,
                         &frame, &found, &error) != STATUS_OK ||
            !found) {
            bench_fail("%s", error.message);
        }
        times[i] = bench_cpu_ns() - begun_ns;
        sum += times[i];
    }
    playback_close(playback);
    return sum;
}

static void bench_backward(const BenchRun *run) {
    static double on[WALK_STEPS + 1], back[WALK_STEPS + 1];
    Store store = store_open();
    store_start(&store);
    record_free(&store, "bench", BODIES, WALK_STEPS);
    Arena arena;
    arena_init(&arena, (size_t)1 << 30);
    LogReader *reader;
    Error error = {0};
    if (log_take_reader(store.log, &reader, &error) != STATUS_OK) {
        bench_fail("%s", error.message);
    }
    EpisodeRow row = find(reader, &arena, "bench");
    log_give_reader(store.log, reader);
    const WorldLimits limits = {.body_count_max = 1000, .bytes_max = (size_t)1 << 30};
    Arena scratch;
    arena_init(&scratch, (size_t)1 << 30);
    double on_ns = play_ns(&store, &row, &limits, false, &scratch, on);
    double back_ns = play_ns(&store, &row, &limits, true, &scratch, back);
    BenchRow rows[] = {{.figure = "backward, per step",
                        .value = back_ns / WALK_STEPS * 1e-3,
                        .unit = "us",
                        .peer = "forward",
                        .peer_value = on_ns / WALK_STEPS * 1e-3,
                        .aim_kind = AIM_RATIO_MAX,
                        .aim = 2.0},
                       {.figure = "a step back, median",
                        .value = bench_percentile(back, WALK_STEPS + 1, 0.5) * 1e-3,
                        .unit = "us",
                        .peer = "a step on",
                        .peer_value = bench_percentile(on, WALK_STEPS + 1, 0.5) * 1e-3},
                       {.figure = "a step back, p99",
                        .value = bench_percentile(back, WALK_STEPS + 1, 0.99) * 1e-3,
                        .unit = "us",
                        .peer = "a step on",
                        .peer_value = bench_percentile(on, WALK_STEPS + 1, 0.99) * 1e-3},
                       // the steps from a key-frame on
                       {.figure = "a step back, longest",
                        .value = bench_percentile(back, WALK_STEPS + 1, 1.0) * 1e-3,
                        .unit = "us",
                        .peer = "a step on",
                        .peer_value = bench_percentile(on, WALK_STEPS + 1, 1.0) * 1e-3}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        bench_add(run, &rows[i]);
    }
    arena_deinit(&arena);
    arena_deinit(&scratch);
    log_close(store.log);
    store_remove(&store);
}

// ---- going anywhere

// Sought times [ns].
static void seek(Store *store, const char *name, uint64_t steps, double times[SEEKS]) {
    Arena arena, scratch;
    arena_init(&arena, (size_t)1 << 30);
    arena_init(&scratch, (size_t)1 << 30);
    LogReader *reader;
    Error error = {0};
    if (log_take_reader(store->log, &reader, &error) != STATUS_OK) {
        bench_fail("%s", error.message);
    }
    EpisodeRow row = find(reader, &arena, name);
    WorldLimits limits = {.body_count_max = 1000, .bytes_max = (size_t)1 << 30};
    uint64_t random = 88172645463325252u;
    for (int i = 0; i < SEEKS; i++) {
        random ^= random << 13, random ^= random >> 7, random ^= random << 17;
        uint64_t step = random % steps;
        Player *player = open_player(&row, &limits);
        PlayerDifference difference = {0};
        uint64_t begun_ns = clock_now_ns();
        if (player_seek(player, reader, step, &difference, &error) != STATUS_OK) {
            bench_fail("%s", error.message);
        }
        player_to(player, reader, step, &scratch);
        times[i] = (double)(clock_now_ns() - begun_ns);
        player_close(player);
    }
    log_give_reader(store->log, reader);
    arena_deinit(&arena);
    arena_deinit(&scratch);
}

static void bench_seek(const BenchRun *run) {
    static double far[SEEKS], near[SEEKS];
    Store store = store_open();
    store_start(&store);
    record_free(&store, "short", 1, SHORT_STEPS);
    record_free(&store, "long", 1, LONG_STEPS);
    seek(&store, "long", LONG_STEPS, far);
    seek(&store, "short", SHORT_STEPS, near);
    BenchRow row = {.figure = "to any step of 10^6",
                    .value = bench_percentile(far, SEEKS, 0.5) * 1e-3,
                    .unit = "us",
                    .peer = "of 10^4",
                    .peer_value = bench_percentile(near, SEEKS, 0.5) * 1e-3,
                    .aim_kind = AIM_RATIO_MAX,
                    .aim = 1.2};
    bench_add(run, &row);
    BenchRow tail = {.figure = "to any step of 10^6, p99",
                     .value = bench_percentile(far, SEEKS, 0.99) * 1e-3,
                     .unit = "us",
                     .peer = "of 10^4",
                     .peer_value = bench_percentile(near, SEEKS, 0.99) * 1e-3};
    bench_add(run, &tail);
    log_close(store.log);
    store_remove(&store);
}

void bench_record(const BenchRun *run) {
    bench_cost(run, "100 bodies, inputs", CONTENT_INPUTS, 1.05);
    bench_cost(run, "100 bodies, frames", CONTENT_FRAMES, 1.25);
    bench_verify(run);
    bench_backward(run);
    bench_seek(run);
}
