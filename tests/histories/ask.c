// SPDX-License-Identifier: MIT
#include "histories/ask.h"

#include "base/assert.h"
#include "histories/members.h"
#include "histories/scene_same.h"
#include "step/snapshot/snapshot.h"
#include "wire/scene/scene.h"
#include "wire/scene/out.h"
#include "world/sleep.h"

#include <float.h>
#include <malloc.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

// ---- numbers

static bool fit(const double *values, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (!(fabs(values[i]) <= (double)FLT_MAX)) {
            return false;
        }
    }
    return true;
}

bool ask_finite(Play *play, const World *world) {
    const size_t n = world->body_count;
    const char *what = !fit(world->pose, 7 * n)                                   ? "pose"
                       : !fit(world->velocity, 6 * n)                             ? "velocity"
                       : !fit(world->joint_velocity, world->joint_axis_count)     ? "joint velocity"
                       : !fit(world->joint_position, world->joint_position_count) ? "joint position"
                       : !isfinite(world->time.value)                             ? "time"
                                                                                  : NULL;
    for (size_t i = 0; i < world->memory_count && what == NULL; i++) {
        what = fit(world->memory[i].impulse, 3) ? NULL : "impulse";
    }
    for (size_t i = 0; i < world->joint_memory_count && what == NULL; i++) {
        what = fit(&world->joint_memory[i].impulse, 1) ? NULL : "impulse of a joint";
    }
    for (size_t i = 0; i < n && what == NULL; i++) {
        const Pose pose = pose_load(world->pose + 7 * i);
        // normalised at every step: a few roundings
        what = fabs(quat_norm(pose.orientation) - 1.0) <= 1e-14 ? NULL : "orientation";
    }
    return what == NULL || play_found(play, PROPERTY_FINITE, what, "%s is out of range", what);
}

static double largest(const double *values, size_t count) {
    double found = 0.0;
    for (size_t i = 0; i < count; i++) {
        found = fmax(found, fabs(values[i]));
    }
    return found;
}

static bool are_calm_settings(const WorldSettings *s) {
    return vec3_norm(s->gravity) <= 100.0 && s->time_step >= 1e-4 && s->time_step <= 0.05 &&
           s->margin <= 0.1 && s->margin >= 0.0;
}

static bool is_calm_axis(const JointAxis *a) {
    const double numbers[] = {a->stiffness,    a->rest,     a->damping,
                              a->friction,     a->armature, a->drive_stiffness,
                              a->drive_damping};
    return largest(numbers, sizeof(numbers) / sizeof(numbers[0])) <= 1e5;
}

// No larger than a room, and without needles.
static bool is_calm_mesh(const Mesh *mesh) {
    bool calm = mesh->reach <= 20.0;
    for (uint32_t i = 0; calm && i < mesh->triangle_count; i++) {
        MeshTriangle read;
        mesh_read_triangle(mesh, i, &read);
        calm = read.hull.inner_radius >= 1e-3;
    }
    return calm;
}

bool ask_is_calm(const World *world) {
    // what joints are off by is asked for at the speed of recovery, and more (row_rank.c)
    const bool is_held = world->joint_count == 0 || world->settings.recovery_speed <= 100.0;
    bool calm = are_calm_settings(&world->settings) && is_held &&
                largest(world->velocity, 6 * (size_t)world->body_count) <= 300.0 &&
                largest(world->joint_velocity, world->joint_axis_count) <= 300.0 &&
                largest(world->joint_target_velocity, world->joint_axis_count) <= 100.0 &&
                largest(world->joint_target, world->joint_axis_count) <= 100.0 &&
                largest(world->joint_effort, world->joint_axis_count) <= 1e3;
    for (size_t i = 0; calm && i < world->joint_axis_count; i++) {
        calm = is_calm_axis(&world->joint_axis[i]);
    }
    for (uint32_t i = 0; calm && i < world->body_count; i++) {
        const BodyMass *m = &world->mass[i];
        calm = largest(world->pose + 7 * (size_t)i, 3) <= 100.0 &&
               (world->kind[i] != BODY_DYNAMIC ||
                (m->mass >= 1e-2 && m->mass <= 1e4 && m->inertia.xx >= 1e-7 &&
                 m->inertia.yy >= 1e-7 && m->inertia.zz >= 1e-7));
    }
    for (size_t i = 0; calm && i < world->primitive_count; i++) {
        const Primitive *p = &world->primitive[i];
        const double sizes[3] = {p->size.x, p->size.y, p->size.z};
        calm = largest(sizes, 3) <= 3.0 && (p->kind == PRIMITIVE_PLANE || p->size.x >= 0.01);
        if (p->kind == PRIMITIVE_HULL) {
            const Hull *hull = p->geometry->hull;
            calm = hull->reach <= 3.0 && hull->inner_radius >= 1e-3;
        } else if (primitive_is_surface(p->kind)) {
            calm = is_calm_mesh(p->geometry->mesh);
        }
    }
    return calm;
}

// ---- bytes

static size_t name_bytes(const char *name) {
    return name == NULL ? 0 : strlen(name) + 1;
}

// The allocator says how much stands behind a pointer: at least what was asked for, and, but under
// a sanitizer, which is exact, up to some words more.
bool ask_bytes(Play *play, const World *world) {
    const WorldSleep *sleep = world->sleep;
    const void *blocks[] = {world,
                            world->material,
                            world->material_pair,
                            world->primitive,
                            world->shape,
                            world->geometry,
                            world->body_block,
                            world->joint,
                            world->joint_axis,
                            world->joint_velocity,
                            world->joint_target_velocity,
                            world->joint_target,
                            world->joint_effort,
                            world->joint_position,
                            world->joint_under_way,
                            world->coupling,
                            world->memory,
                            world->joint_memory,
                            sleep,
                            world->trees,
                            sleep == NULL ? NULL : sleep->island,
                            sleep == NULL ? NULL : sleep->rest,
                            sleep == NULL ? NULL : sleep->memory,
                            world->trees == NULL ? NULL : world->trees->block};
    enum { SLACK = 64 }; // a large block has at most a page
    size_t held = 0, blocks_held = 0, slack = 0;
    for (size_t i = 0; i < sizeof(blocks) / sizeof(blocks[0]); i++) {
        const size_t usable =
            blocks[i] == NULL ? 0 : malloc_usable_size((void *)(uintptr_t)blocks[i]);
        held += usable;
        slack += usable > 100000 ? 4096 : SLACK;
        blocks_held += blocks[i] != NULL;
    }
    // names are blocks of their own, of the length of their texts
    for (uint32_t i = 0; i < world->body_count; i++) {
        held += name_bytes(world->body_name[i]);
    }
    for (uint32_t i = 0; i < world->joint_count; i++) {
        held += name_bytes(world->joint[i].name);
    }
    const size_t said = world_bytes(world);
    return (said <= held && held <= said + slack) ||
           play_found(play, PROPERTY_BYTES, "world_bytes",
                      "world_bytes says %zu, and %zu blocks hold %zu", said, blocks_held, held);
}

// ---- snapshots

static bool write_snapshot(Play *play, const World *world, uint8_t **bytes, size_t *count) {
    Error error = {0};
    return snapshot_write(world, &play->memory, bytes, count, &error) == STATUS_OK ||
           play_found(play, PROPERTY_AGAIN, "write", "no snapshot: %.300s", error.message);
}

// Its state, put into `copy`, which was another.
static bool ask_copy_state(Play *play, World *copy, World *world) {
    if (!world_is_alike(copy, world) || copy->body_count == 0) {
        return true;
    }
    for (uint32_t i = 0; i < 6 * copy->body_count; i++) {
        copy->velocity[i] = 0.0;
    }
    copy->memory_count = copy->joint_memory_count = 0;
    sleep_wake_all(copy);
    copy->step = 0;
    copy->time = (Sum){0};
    copy->solver_failures = copy->solver_wait = 0;
    ASSERT(world_copy_state(copy, world));
    const char *other = members_differ(copy, world);
    return (other == NULL && snapshot_hash(copy) == snapshot_hash(world)) ||
           play_found(play, PROPERTY_AGAIN, "copy", "a copied state is another: its %s",
                      other == NULL ? "hash" : other);
}

// Read and written with what a world seldom comes to: a solver that tried in vain, and a sum of
// time steps that has lost something.
static bool ask_seldom(Play *play, World *world) {
    uint8_t *bytes;
    size_t count;
    World *again;
    Error error = {0};
    world->solver_failures = (uint8_t)(1 + play->number % SOLVER_FAILURES_MAX);
    world->solver_wait = (uint8_t)(play->number % (SOLVER_WAIT_MAX + 1));
    // less than half a unit in its last place, 2^-54 of it
    world->time.rest = 0x1p-61 * (double)(1 + play->number % 64) * world->time.value;
    if (!write_snapshot(play, world, &bytes, &count)) {
        return false;
    }
    if (snapshot_read(bytes, count, &world->limits, &again, &error) != STATUS_OK) {
        return play_found(play, PROPERTY_AGAIN, "seldom",
                          "a world that tried in vain is refused: %.300s", error.message);
    }
    const char *other = members_differ(again, world);
    world_destroy(again);
    return other == NULL ||
           play_found(play, PROPERTY_AGAIN, "seldom", "read it has another %s", other);
}

bool ask_snapshot(Play *play, World *world) {
    uint8_t *bytes, *again;
    size_t count, again_count;
    World *copy;
    Error error = {0};
    if (!write_snapshot(play, world, &bytes, &count)) {
        return false;
    }
    if (snapshot_read(bytes, count, &world->limits, &copy, &error) != STATUS_OK) {
        return play_found(play, PROPERTY_AGAIN, "own snapshot",
                          "its own snapshot is refused: %.300s", error.message);
    }
    bool is_fine = write_snapshot(play, copy, &again, &again_count) && ask_bytes(play, copy);
    if (is_fine && (count != again_count || memcmp(bytes, again, count) != 0)) {
        is_fine = play_found(play, PROPERTY_AGAIN, "rewritten", "read and written it is another");
    }
    if (is_fine && snapshot_hash(copy) != snapshot_hash(world)) {
        is_fine = play_found(play, PROPERTY_AGAIN, "read hash", "read it has another hash");
    }
    const char *other = members_differ(copy, world);
    if (is_fine && other != NULL) {
        is_fine = play_found(play, PROPERTY_AGAIN, "member", "read it has another %s", other);
    }
    is_fine = is_fine && ask_copy_state(play, copy, world) && ask_seldom(play, copy);
    world_destroy(copy);
    return is_fine;
}

// ---- scenes

// In the memory of the play.
static Moreau__V1__Scene *own_scene(Play *play, const World *world) {
    Moreau__V1__Scene *scene = scene_out(world, "history", &play->memory);
    ASSERT(scene != NULL);
    return scene;
}

// A step may bring a body farther than a scene may put one.
bool ask_can_be_said(const World *world) {
    for (uint32_t i = 0; i < world->body_count; i++) {
        double pose[7];
        world_body_pose(world, i, pose);
        if (largest(pose, 3) > 1e9 || largest(world->velocity + 6 * (size_t)i, 6) > 1e9) {
            return false;
        }
    }
    return largest(world->joint_position, world->joint_position_count) <= 1e9 &&
           largest(world->joint_velocity, world->joint_axis_count) <= 1e9;
}

static bool carry_out_plan(Play *play, const Moreau__V1__Scene *scene, Door *door) {
    ScenePlan plan;
    Error error = {0};
    Status status = scene_plan(scene, NULL, &play->memory, &plan, &error);
    for (size_t i = 0; status == STATUS_OK && i < plan.input_count; i++) {
        status = door_change(door, &plan.input[i], &play->memory, NULL, NULL, &error);
        if (status != STATUS_OK) {
            scene_translate(&plan, i, &error);
        }
    }
    return status == STATUS_OK ||
           play_found(play, PROPERTY_SCENE, "refused", "its own scene is refused: %s: %.250s",
                      error.field, error.message);
}

// As it comes over the wire.
bool ask_make_scene(Play *play, const World *world, Door *door) {
    const Moreau__V1__Scene *own = own_scene(play, world);
    const size_t count = moreau__v1__scene__get_packed_size(own);
    uint8_t *bytes = arena_take(&play->memory, count);
    ASSERT(bytes != NULL);
    moreau__v1__scene__pack(own, bytes);
    Moreau__V1__Scene *scene = moreau__v1__scene__unpack(NULL, count, bytes);
    if (scene == NULL) {
        return play_found(play, PROPERTY_SCENE, "unpack", "its own scene is no message");
    }
    const bool is_fine = carry_out_plan(play, scene, door);
    moreau__v1__scene__free_unpacked(scene, NULL);
    return is_fine;
}

// [m] Of what places follow from: bodies', and the arms of joints from them, which may be many
// times as long and cancel.
static double largest_place(const World *world) {
    double most = 1.0 + largest(world->pose, 7 * (size_t)world->body_count);
    for (size_t i = 0; i < world->joint_count; i++) {
        for (int side = 0; side < 2; side++) {
            double arm[3];
            vec3_store(arm, world->joint[i].frame[side].position);
            most = fmax(most, largest(arm, 3));
        }
    }
    return most;
}

// Coordinates of bodies that are not where their origin is, quaternions, and what joints of rows
// measure of them may differ in their last bits. So may velocities, by as much of the fastest:
// those of a tree's bodies are made again of its joints' rates, and of where they are.
static SceneSlack find_slack(const World *world) {
    const double place = 1e-13 * largest_place(world);
    const double fastest = fmax(largest(world->velocity, 6 * (size_t)world->body_count),
                                largest(world->joint_velocity, world->joint_axis_count));
    return (SceneSlack){.place = place, .velocity = place * (1.0 + fastest)};
}

bool ask_scene(Play *play, const World *world) {
    Door door;
    if (!ask_can_be_said(world)) {
        return true;
    }
    ASSERT(door_init(&door, &world->limits, NULL) == STATUS_OK);
    bool is_fine = ask_make_scene(play, world, &door);
    if (is_fine) {
        const SceneSlack slack = find_slack(world);
        char where[160] = "", place[96];
        if (!scene_is_same(&own_scene(play, world)->base, &own_scene(play, door.world)->base,
                           &slack, where, sizeof(where))) {
            snprintf(place, sizeof(place), "%.*s", (int)strcspn(where, " "), where);
            is_fine = play_found(play, PROPERTY_SCENE, place,
                                 "the world that its scene makes has another: %s", where);
        }
    }
    door_deinit(&door);
    return is_fine;
}
