// SPDX-License-Identifier: MIT
#include "support/wire_world.h"

#include <check.h>
#include <stdlib.h>

// A number in [0, 1) that depends on the seed and the index only (splitmix64).
static double draw(uint64_t seed, uint64_t index) {
    uint64_t z = seed + (index + 1) * UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return (double)((z ^ (z >> 31)) >> 11) / 9007199254740992.0;
}

static void add_shapes(WireClient *client, uint64_t world) {
    Moreau__V1__Primitive__Kind kind[] = {MOREAU__V1__PRIMITIVE__KIND__PLANE,
                                          MOREAU__V1__PRIMITIVE__KIND__SPHERE,
                                          MOREAU__V1__PRIMITIVE__KIND__BOX};
    double size[] = {0, 0, 0, 0.1, 0, 0, 0.1, 0.08, 0.06};
    Moreau__V1__WorldAddShapes shapes = MOREAU__V1__WORLD_ADD_SHAPES__INIT;
    shapes.has_world = 1;
    shapes.world = world;
    shapes.n_kind = 3;
    shapes.kind = kind;
    shapes.n_size = 9;
    shapes.size = size;
    wire_accept(client, &shapes);
}

// The ground, then a tower of bodies, each a little aside of the one below.
static void add_bodies(WireClient *client, uint64_t world, uint32_t falling, uint64_t seed) {
    size_t count = (size_t)falling + 1;
    double *pose = calloc(count, 7 * sizeof(double));
    uint64_t *shape = calloc(count, sizeof(uint64_t));
    Moreau__V1__Body__Kind *kind = calloc(count, sizeof(*kind));
    ck_assert(pose != NULL && shape != NULL && kind != NULL);
    pose[3] = 1.0;
    shape[0] = 1;
    kind[0] = MOREAU__V1__BODY__KIND__STATIC;
    for (size_t i = 1; i < count; i++) {
        double *at = pose + 7 * i;
        at[0] = 0.1 * draw(seed, 2 * i);
        at[1] = 0.1 * draw(seed, 2 * i + 1);
        at[2] = 0.12 + 0.22 * (double)(i - 1);
        at[3] = 1.0;
        shape[i] = 2 + i % 2;
    }
    Moreau__V1__WorldAddBodies bodies = MOREAU__V1__WORLD_ADD_BODIES__INIT;
    bodies.has_world = 1;
    bodies.world = world;
    bodies.n_pose = 7 * count;
    bodies.pose = pose;
    bodies.n_shape = count;
    bodies.shape = shape;
    bodies.n_kind = count;
    bodies.kind = kind;
    wire_accept(client, &bodies);
    free(pose);
    free(shape);
    free(kind);
}

WireWorld wire_world(WireClient *client, uint32_t falling, uint64_t seed,
                     Moreau__V1__World__Lifetime lifetime) {
    Moreau__V1__WorldCreate create = MOREAU__V1__WORLD_CREATE__INIT;
    create.has_lifetime = 1;
    create.lifetime = lifetime;
    uint64_t id = wire_accept(client, &create)->world_create->world;
    add_shapes(client, id);
    add_bodies(client, id, falling, seed);
    return (WireWorld){.id = id, .body_count = (uint64_t)falling + 1};
}

uint64_t wire_small_world(WireClient *client) {
    return wire_world(client, 3, 1, MOREAU__V1__WORLD__LIFETIME__SESSION).id;
}

Moreau__V1__WorldStep wire_step_call(uint64_t *world, uint64_t steps) {
    Moreau__V1__WorldStep step = MOREAU__V1__WORLD_STEP__INIT;
    step.n_worlds = 1;
    step.worlds = world;
    step.has_steps = 1;
    step.steps = steps;
    return step;
}

void wire_step(WireClient *client, uint64_t world, uint64_t steps) {
    Moreau__V1__WorldStep step = wire_step_call(&world, steps);
    const Moreau__V1__Reply *reply = wire_accept(client, &step);
    ck_assert_uint_eq(reply->world_step->steps_done[0], steps);
}

uint64_t wire_hash(WireClient *client, uint64_t world) {
    Moreau__V1__WorldHash hash = MOREAU__V1__WORLD_HASH__INIT;
    hash.n_worlds = 1;
    hash.worlds = &world;
    const Moreau__V1__Reply *reply = wire_accept(client, &hash);
    ck_assert_uint_eq(reply->world_hash->n_hash, 1);
    return reply->world_hash->hash[0];
}

uint64_t wire_step_count(WireClient *client, uint64_t world) {
    Moreau__V1__WorldHash hash = MOREAU__V1__WORLD_HASH__INIT;
    hash.n_worlds = 1;
    hash.worlds = &world;
    return wire_accept(client, &hash)->world_hash->step[0];
}

const Moreau__V1__StatsReply *wire_stats(WireClient *client, bool worlds) {
    Moreau__V1__Stats stats = MOREAU__V1__STATS__INIT;
    stats.has_worlds = 1;
    stats.worlds = worlds;
    return wire_accept(client, &stats)->stats;
}

void wire_destroy(WireClient *client, uint64_t world) {
    Moreau__V1__WorldDestroy destroy = MOREAU__V1__WORLD_DESTROY__INIT;
    destroy.has_world = 1;
    destroy.world = world;
    wire_accept(client, &destroy);
}
