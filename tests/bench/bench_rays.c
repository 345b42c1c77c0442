// SPDX-License-Identifier: MIT
// Rays: through ten thousand bodies; and 187 vertical ones over a terrain of 1,000 x 1,000 in each
// of 4,096 worlds of a group, which share it: what a world takes, in time and in memory.
#include "bench/bench.h"
#include "bench/kinds.h"
#include "collide/raycast.h"
#include "run/groups/group.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { BODIES = 10000, RAYS = 100000, ROUNDS = 5 };
enum { WORLDS = 4096, SIDE = 1000, SCAN_X = 17, SCAN_Y = 11, SCAN = SCAN_X * SCAN_Y };

#define CROWD_HALF 20.0 // [m]
#define SPACING    0.1  // [m]

// ---- a crowd

static double draw(uint64_t *seed, double half) {
    return half * (2.0 * scene_scatter(seed) - 1.0);
}

static Scene make_crowd(void) {
    Scene scene = scene_create();
    Id shape[KIND_SOLIDS];
    for (int i = 0; i < KIND_SOLIDS; i++) {
        shape[i] = kind_shape(&scene, kind_solid[i]);
    }
    uint64_t seed = 3;
    for (int i = 0; i < BODIES; i++) {
        Pose pose;
        pose.position =
            vec3(draw(&seed, CROWD_HALF), draw(&seed, CROWD_HALF), draw(&seed, CROWD_HALF));
        pose.orientation = quat_normalize(
            (Quat){draw(&seed, 1.0), draw(&seed, 1.0), draw(&seed, 1.0), draw(&seed, 1.0)});
        scene_body(&scene, shape[i % KIND_SOLIDS], BODY_DYNAMIC, pose);
    }
    return scene;
}

static void cast_crowd(const BenchRun *run) {
    Scene scene = make_crowd();
    Ray *ray = bench_memory(RAYS, sizeof(*ray));
    RayHit *hit = bench_memory(RAYS, sizeof(*hit));
    uint64_t seed = 5;
    for (int i = 0; i < RAYS; i++) {
        ray[i] = (Ray){.group = 1, .mask = UINT32_MAX, .unseen_body = UINT32_MAX};
        ray[i].origin =
            vec3(draw(&seed, CROWD_HALF), draw(&seed, CROWD_HALF), draw(&seed, CROWD_HALF));
        ray[i].way =
            vec3(draw(&seed, CROWD_HALF), draw(&seed, CROWD_HALF), draw(&seed, CROWD_HALF));
    }
    double rate[ROUNDS], met = 0.0;
    for (int round = 0; round < ROUNDS; round++) {
        const double begun = bench_cpu_ns();
        if (raycast_run(scene.world, ray, RAYS, NULL, &scene.scratch, hit) != STATUS_OK) {
            bench_fail("rays were given up");
        }
        rate[round] = RAYS / (bench_cpu_ns() - begun) * 1e3;
    }
    for (int i = 0; i < RAYS; i++) {
        met += hit[i].body != UINT32_MAX;
    }
    const BenchRow rows[] = {
        {.figure = "100,000 rays through 10,000 bodies, tree included",
         .value = bench_percentile(rate, ROUNDS, 0.5),
         .unit = "M/s",
         .aim_kind = AIM_VALUE_MIN,
         .aim = 0.7},
        {.figure = "of them meet something", .value = 100.0 * met / RAYS, .unit = "%"}};
    bench_add(run, &rows[0]);
    bench_add(run, &rows[1]);
    free(ray);
    free(hit);
    scene_destroy(&scene);
}

// ---- a terrain

static const Geometry *make_terrain(void) {
    static const MeshNames names = {"heights", "spacing", "patches"};
    double *height = bench_memory((size_t)SIDE * SIDE, sizeof(*height));
    for (int i = 0; i < SIDE * SIDE; i++) {
        const double x = SPACING * (i % SIDE), y = SPACING * (double)(i / SIDE);
        height[i] = 0.4 * sin(0.7 * x) * cos(0.5 * y) + 0.05 * sin(5.1 * x + 3.3 * y);
    }
    const HeightForm form = {SIDE, SIDE, {SPACING, SPACING}, height, NULL};
    const Geometry *geometry = NULL;
    Error error = {0};
    if (geometry_of_heights(scene_shelf(), &form, &names, &geometry, &error) != STATUS_OK) {
        bench_fail("%s: %s", error.field, error.message);
    }
    free(height);
    return geometry;
}

// Terrain, and a body over it.
static World *make_template(void) {
    Scene scene = scene_create();
    const Geometry *terrain = make_terrain();
    Error error = {0};
    uint64_t worn = 0;
    if (world_add_geometries(scene.world, &terrain, 1, &worn, &error) != STATUS_OK) {
        bench_fail("%s", error.message);
    }
    geometry_drop(terrain);
    const uint32_t kind = PRIMITIVE_HEIGHT_FIELD;
    const double size[3] = {0};
    const ShapeColumns columns = {
        .shape_count = 1, .primitive_count = 1, .kind = &kind, .size = size, .geometry = &worn};
    Id shape = 0;
    if (world_add_shapes(scene.world, &columns, &shape, &error) != STATUS_OK) {
        bench_fail("%s: %s", error.field, error.message);
    }
    scene_body(&scene, shape, BODY_STATIC, (Pose){.orientation = quat_identity()});
    scene_body(&scene, kind_shape(&scene, PRIMITIVE_BOX), BODY_DYNAMIC,
               (Pose){vec3(3.0, 2.0, 1.0), quat_identity()});
    World *world = scene.world;
    scene.world = NULL;
    scene_destroy(&scene);
    return world;
}

static double way[3 * SCAN], origin[3 * SCAN];

static GroupDef scan_def(ChannelDef channel[2]) {
    for (int i = 0; i < SCAN; i++) {
        origin[3 * i] = 0.1 * (i % SCAN_X - (SCAN_X - 1) / 2);
        origin[3 * i + 1] = 0.1 * (i / SCAN_X - (SCAN_Y - 1) / 2);
        way[3 * i + 2] = -3.0;
    }
    channel[1] = (ChannelDef){.kind = CHANNEL_BODY_FORCE, .body = "#2", .scale = 1.0};
    channel[0] = (ChannelDef){.kind = CHANNEL_RAYS, .body = "#2", .scale = 1.0};
    channel[0].rays = (ChannelRays){
        .count = SCAN, .origin = origin, .way = way, .mask = UINT32_MAX, .heading = true};
    GroupDef def = {.count = WORLDS,
                    .action = {.use = LAYOUT_ACTION, .list = "action", .item = ""},
                    .observation = {.use = LAYOUT_READ, .list = "observation", .item = ""},
                    .extra = {.use = LAYOUT_READ, .list = "extra", .item = ""},
                    .bounds = {.use = LAYOUT_READ, .list = "bounds", .item = ""},
                    .noise = {.use = LAYOUT_NOISE, .list = "noise", .item = ".channel"},
                    .substeps = 1};
    def.observation.count = def.action.count = 1;
    def.observation.channel = &channel[0];
    def.action.channel = &channel[1];
    return def;
}

// CPU time of all worlds' scans, for each [us].
static double read_all(Group *group, Arena *memory, Arena *scratch) {
    arena_reset(memory);
    GroupCall call = {.group = group, .verb = GROUP_READ, .count = WORLDS};
    Error error = {0};
    if (group_call_check(&call, &error) != STATUS_OK || !group_call_take(&call, memory)) {
        bench_fail("%s: %s", error.field, error.message);
    }
    const double begun = bench_cpu_ns();
    for (size_t row = 0; row < WORLDS; row++) {
        group_run_row(&call, row, scratch, NULL);
    }
    const double us = (bench_cpu_ns() - begun) * 1e-3 / WORLDS;
    const float *seen = call.observation;
    for (size_t i = 0; i < (size_t)WORLDS * SCAN; i++) {
        if (!(seen[i] > 0.0F && seen[i] < 1.0F)) {
            bench_fail("a ray met no ground");
        }
    }
    return us;
}

static void scan_terrain(const BenchRun *run) {
    ChannelDef channel[2];
    const GroupDef def = scan_def(channel);
    const size_t before = geometry_shelf_bytes(scene_shelf());
    World *template = make_template();
    const size_t terrain = geometry_shelf_bytes(scene_shelf()) - before;
    Group *group = NULL;
    Error error = {0};
    if (group_def_check(&def, &error) != STATUS_OK ||
        group_create(&def, template, &group, &error) != STATUS_OK) {
        bench_fail("%s: %s", error.field, error.message);
    }
    for (uint32_t i = 0; i < WORLDS; i++) {
        group_add_world(group, i, &error);
    }
    const size_t all = geometry_shelf_bytes(scene_shelf()) - before;
    Arena memory, scratch;
    arena_init(&memory, SIZE_MAX);
    arena_init(&scratch, SIZE_MAX);
    double us[ROUNDS];
    for (int i = 0; i < ROUNDS; i++) {
        us[i] = read_all(group, &memory, &scratch);
    }
    const BenchRow rows[] = {{.figure = "187 vertical rays of a terrain, a world of 4,096",
                              .value = bench_percentile(us, ROUNDS, 0.5),
                              .unit = "us",
                              .aim_kind = AIM_VALUE_MAX,
                              .aim = 25.0},
                             {.figure = "the terrain of 1,000 x 1,000 in memory, of all worlds",
                              .value = (double)all * 1e-6,
                              .unit = "MB",
                              .peer = "of one",
                              .peer_value = (double)terrain * 1e-6,
                              .aim_kind = AIM_RATIO_MAX,
                              .aim = 1.0}};
    bench_add(run, &rows[0]);
    bench_add(run, &rows[1]);
    group_destroy(group);
    arena_deinit(&memory);
    arena_deinit(&scratch);
}

void bench_rays(const BenchRun *run) {
    cast_crowd(run);
    scan_terrain(run);
}
