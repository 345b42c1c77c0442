// SPDX-License-Identifier: MIT
// A large world's step on two lanes beside one, by the clock on the wall: settled piles, and 500
// small stacks, which share nothing. Both take turns on the same world in the same pool; the world
// is at rest, so every step of it is the same work. Beside that, what more lanes could make of the
// same step (path.h). And what it costs to hand blocks over.
#include "bench/bench.h"
#include "bench/path.h"
#include "bench/scene.h"

#include "os/clock.h"
#include "run/lanes/lane.h"
#include "solve/mdp/mdp.h"
#include "step/snapshot/snapshot.h"

#include <math.h>
#include <stdio.h>

enum { LANES = 2 };
enum { SWEEPS = 10 };      // as the bench of the piles
enum { REST_STEPS = 120 }; // they get used to fewer sweeps
enum { TURNS = 16, TURN_STEPS = 12, STEPS = TURNS * TURN_STEPS };
enum { PATH_STEPS = 40 };
enum { STACKS = 500, STACK_BOXES = 5 };
enum { HANDS = 2000, HAND_BLOCKS = 8, BLOCK_ADDITIONS = 80000 };

// ---- a pool of two lanes, and jobs that the caller waits for

typedef struct Bay {
    Budget scratch;
    uv_loop_t loop;
    Pool *pool;
    Strand strand;
} Bay;

typedef struct Work Work;

struct Work {
    Job job; // first, so that a Job * is a Work *
    void (*run)(Work *work, Lane *lane);
    Scene *scene;
    bool is_helped;
    uint32_t additions; // in a block of hand_over
    double *times;      // of TURN_STEPS steps, or HANDS calls [ns]
};

static void bay_open(Bay *bay) {
    *bay = (Bay){.scratch = {.max_bytes = (size_t)1 << 30}};
    Error error = {0};
    PoolDef def = {.lane_count = LANES, .scratch = &bay->scratch};
    if (uv_loop_init(&bay->loop) != 0 ||
        pool_create(&bay->pool, &bay->loop, &def, &error) != STATUS_OK) {
        bench_fail("cannot start two lanes: %s", error.message);
    }
}

static void bay_close(Bay *bay) {
    pool_close(bay->pool, NULL, NULL);
    uv_run(&bay->loop, UV_RUN_DEFAULT);
    uv_loop_close(&bay->loop);
}

static JobOutcome run_work(Job *job, Lane *lane) {
    Work *work = (Work *)job;
    work->run(work, lane);
    return JOB_DONE;
}

static void on_done(Job *job) {
    (void)job;
}

// Always on a short lane, as long ones are nice and a busy machine takes their cores away.
static void bay_run(Bay *bay, Work *work) {
    strand_init(&bay->strand);
    work->job.work = run_work;
    work->job.done = on_done;
    pool_submit(bay->pool, &bay->strand, 0, &work->job);
    pool_flush(bay->pool);
    while (pool_job_count(bay->pool) > 0) {
        uv_sleep(1); // the cores are for the lanes
        pool_settle(bay->pool);
    }
}

static double wall_ns(void) {
    return (double)clock_now_ns();
}

// ---- steps

static void take_steps(Work *work, Lane *lane) {
    work->scene->context = (Context){.tasks = work->is_helped ? lane->tasks : NULL};
    for (int i = 0; i < TURN_STEPS; i++) {
        double begun = wall_ns();
        scene_step(work->scene);
        work->times[i] = wall_ns() - begun;
    }
    work->scene->context = (Context){0};
}

// The world as it is now, to take the same step again and again.
static World *copy_world(Scene *scene) {
    uint8_t *bytes;
    size_t count;
    World *world = NULL;
    Error error = {0};
    Status status = snapshot_write(scene->world, &scene->scratch, &bytes, &count, &error);
    if (status == STATUS_OK) {
        status = snapshot_read(bytes, count, &scene->world->limits, &world, &error);
    }
    if (status != STATUS_OK) {
        bench_fail("%s", error.message);
    }
    arena_reset(&scene->scratch);
    return world;
}

static void add_path(const BenchRun *run, const char *name, const Path *path) {
    static const uint32_t lanes[] = {2, 4, 8, 16};
    const double all = path_time(path, 1);
    BenchRow row = {.value = 1e-6 * path_alone(path),
                    .unit = "ms",
                    .peer = "all of a step",
                    .peer_value = 1e-6 * all};
    snprintf(row.figure, sizeof(row.figure), "%s: beside %u calls of tasks", name,
             path_calls(path));
    bench_add(run, &row);
    for (size_t i = 0; i < sizeof(lanes) / sizeof(lanes[0]); i++) {
        BenchRow gain = {.value = all / path_time(path, lanes[i]), .unit = "x"};
        snprintf(gain.figure, sizeof(gain.figure), "%s: allows %u lanes", name, lanes[i]);
        bench_add(run, &gain);
    }
}

static void find_path(const BenchRun *run, Scene *scene, const char *name) {
    World *begin = copy_world(scene);
    Path *path = path_create();
    for (int i = -1; i < PATH_STEPS; i++) {
        if (!world_copy_state(scene->world, begin)) {
            bench_fail("memory ended");
        }
        scene->world->bodies_moved =
            false; // their boxes, which the first step makes, are as they were
        if (i < 0) {
            scene_step(scene);
            continue;
        }
        scene->context = (Context){.tasks = path_tasks(path)};
        path_begin(path);
        scene_step(scene);
        path_end(path);
    }
    scene->context = (Context){0};
    add_path(run, name, path);
    path_destroy(path);
    world_destroy(begin);
}

static void bench_scene(const BenchRun *run, Bay *bay, Scene *scene, const char *name,
                        double speed_up_aim) {
    for (int i = 0; i < REST_STEPS; i++) {
        scene_step(scene);
    }
    static double times[LANES][STEPS]; // alone, helped
    double e_own = 0.0, e_ds = 0.0;    // largest at the end of a turn
    for (int turn = 0; turn < TURNS; turn++) {
        for (int i = 0; i < LANES; i++) {
            Work work = {.run = take_steps,
                         .scene = scene,
                         .is_helped = i == 1,
                         .times = times[i] + (size_t)turn * TURN_STEPS};
            bay_run(bay, &work);
        }
        const double *entry = scene->report.certificate.entry;
        e_own = fmax(e_own, entry[CERTIFICATE_OWN]);
        e_ds = fmax(e_ds, entry[CERTIFICATE_DS]);
    }
    double one = bench_percentile(times[0], STEPS, 0.5);
    double two = bench_percentile(times[1], STEPS, 0.5);
    BenchRow row = {.value = two * 1e-6,
                    .unit = "ms",
                    .peer = "one lane",
                    .peer_value = one * 1e-6,
                    .has_certificate = true,
                    .e_own = e_own,
                    .e_ds = e_ds};
    snprintf(row.figure, sizeof(row.figure), "%s: step p50", name);
    bench_add(run, &row);
    BenchRow gain = {.value = one / two, .unit = "x"};
    if (speed_up_aim > 0.0) {
        gain.aim_kind = AIM_VALUE_MIN;
        gain.aim = speed_up_aim;
    }
    snprintf(gain.figure, sizeof(gain.figure), "%s: speed-up", name);
    bench_add(run, &gain);
    find_path(run, scene, name);
}

static void bench_pile_of(const BenchRun *run, Bay *bay, uint32_t count, double speed_up_aim) {
    char name[24];
    snprintf(name, sizeof(name), "pile of %u", count);
    Scene scene = scene_pile(count);
    scene_set(&scene, "method", MDP_GAUSS_SEIDEL); // auto would solve what they leave
    scene_set(&scene, "max_iterations", SWEEPS);
    bench_scene(run, bay, &scene, name, speed_up_aim);
    scene_destroy(&scene);
}

// ---- handing over

// Some 20 us of adding; 0: nothing.
static void add_numbers(void *work, uint32_t block) {
    (void)block;
    for (volatile uint32_t i = 0; i < *(const uint32_t *)work; i++) {
    }
}

// As a solver's colours follow each other: call after call, with a helper awake after the first of
// them.
static void hand_over(Work *work, Lane *lane) {
    const Tasks *tasks = work->is_helped ? lane->tasks : NULL;
    for (uint32_t i = 0; i < HANDS; i++) {
        double begun = wall_ns();
        tasks_run(tasks, add_numbers, &work->additions, HAND_BLOCKS);
        work->times[i] = wall_ns() - begun;
    }
}

static void bench_hands(const BenchRun *run, Bay *bay, uint32_t additions, BenchRow row) {
    static double times[LANES][HANDS];
    for (int i = 0; i < LANES; i++) {
        Work work = {
            .run = hand_over, .is_helped = i == 1, .additions = additions, .times = times[i]};
        bay_run(bay, &work);
    }
    row.value = bench_percentile(times[1], HANDS, 0.5) * 1e-3;
    row.unit = "us";
    row.peer = "one lane";
    row.peer_value = bench_percentile(times[0], HANDS, 0.5) * 1e-3;
    bench_add(run, &row);
}

void bench_lanes(const BenchRun *run) {
    Bay bay;
    bay_open(&bay);
    bench_pile_of(run, &bay, 1000, 0.0);
    bench_pile_of(run, &bay, 10000, 1.8);
    Scene stacks = scene_stacks(STACKS, STACK_BOXES);
    bench_scene(run, &bay, &stacks, "500 stacks of 5", 1.9);
    scene_destroy(&stacks);
    bench_hands(run, &bay, 0,
                (BenchRow){.figure = "8 empty blocks", .aim_kind = AIM_VALUE_MAX, .aim = 2.0});
    bench_hands(run, &bay, BLOCK_ADDITIONS, (BenchRow){.figure = "8 blocks of some 20 us"});
    bay_close(&bay);
}
