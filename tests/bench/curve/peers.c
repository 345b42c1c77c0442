// SPDX-License-Identifier: MIT
#include "bench/curve/peers.h"

#include "bench/bench.h"
#include "bench/curve/bound.h"
#include "bench/peer_process.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORKS_MAX = 8 };

typedef struct Peer {
    PeerIndex index;
    const char *unit;         // of its work
    uint32_t work[WORKS_MAX]; // 0: no more
} Peer;

static const Peer peers[] = {
    {PEER_BOX3D, "substeps", {1, 2, 4, 8, 16, 32}},
    {PEER_BULLET, "iterations", {2, 5, 10, 20, 50, 100, 200}},
    {PEER_MUJOCO, "iterations", {2, 5, 10, 20, 50}},
    {PEER_ODE, "iterations", {5, 10, 20, 50, 100, 200}},
};
enum { PEERS = sizeof(peers) / sizeof(peers[0]) };

// What a peer is stepped with: where it was before the step that is judged, and what it said after.
typedef struct Walk {
    PeerProcess process;
    BoundState before, after;
    size_t pose_bytes, velocity_bytes;
} Walk;

static void take_steps(Walk *walk, uint32_t count, double *ns) {
    double *contacts = bench_memory(count, sizeof(*contacts));
    memcpy(walk->before.pose, walk->after.pose, walk->pose_bytes);
    memcpy(walk->before.velocity, walk->after.velocity, walk->velocity_bytes);
    peer_process_run(&walk->process, count, ns, contacts, walk->after.pose);
    peer_process_velocities(&walk->process, walk->after.velocity);
    free(contacts);
}

static Walk walk_begin(const World *world) {
    size_t pose = 7 * (size_t)world->body_count, velocity = 6 * (size_t)world->body_count;
    Walk walk = {.pose_bytes = pose * sizeof(double), .velocity_bytes = velocity * sizeof(double)};
    walk.before =
        (BoundState){bench_memory(pose, sizeof(double)), bench_memory(velocity, sizeof(double))};
    walk.after =
        (BoundState){bench_memory(pose, sizeof(double)), bench_memory(velocity, sizeof(double))};
    memcpy(walk.after.pose, world->pose, walk.pose_bytes);
    memcpy(walk.after.velocity, world->velocity, walk.velocity_bytes);
    return walk;
}

static void walk_end(Walk *walk) {
    free(walk->before.pose);
    free(walk->before.velocity);
    free(walk->after.pose);
    free(walk->after.velocity);
}

// Of `count` steps after `first`.
static CurvePoint take_point(Scene *scene, Walk *walk, uint32_t first, uint32_t count) {
    CurvePoint point = {.count = count};
    double *ns = bench_memory((size_t)first + count, sizeof(*ns));
    double *ds = bench_memory(count, sizeof(*ds));
    if (first > 0) {
        take_steps(walk, first, ns);
    }
    for (uint32_t i = 0; i < count; i++) {
        take_steps(walk, 1, &ns[i]);
        ds[i] = bound_of(scene, &walk->before, walk->after.velocity);
    }
    point.ns = bench_percentile(ns, count, 0.5);
    point.ns_worst = bench_percentile(ns, count, 1.0);
    point.ds = bench_percentile(ds, count, 0.5);
    point.ds_worst = bench_percentile(ds, count, 1.0);
    free(ns);
    free(ds);
    return point;
}

// From where the scene began: a judged step moves its bodies.
static CurveLine run_peer(Scene *scene, const BoundState *start, const Peer *peer, uint32_t first,
                          uint32_t count) {
    CurveLine line = {.is_peer = true, .is_bound = true};
    for (int i = 0; i < WORKS_MAX && peer->work[i] > 0; i++) {
        bound_place(scene, start);
        Walk walk = walk_begin(scene->world);
        if (!peer_process_start_work(&walk.process, peer->index, scene, peer->work[i])) {
            walk_end(&walk);
            return line;
        }
        snprintf(line.name, sizeof(line.name), "%s", walk.process.name);
        line.point[line.count] = take_point(scene, &walk, first, count);
        snprintf(line.point[line.count++].name, CURVE_NAME_BYTES, "%u %s", peer->work[i],
                 peer->unit);
        peer_process_stop(&walk.process);
        walk_end(&walk);
    }
    return line;
}

void peers_run(Scene *scene, uint32_t first, uint32_t count, CurveScene *curve) {
    Walk start = walk_begin(scene->world);
    bound_prepare(scene);
    for (int i = 0; i < PEERS; i++) {
        CurveLine line = run_peer(scene, &start.after, &peers[i], first, count);
        if (line.count > 0) {
            curve->line[curve->count++] = line;
        }
    }
    walk_end(&start);
}
