// SPDX-License-Identifier: MIT
#include "histories/members.h"

#include "world/sleep.h"

#include <string.h>

static bool are_same(const void *a, const void *b, size_t count, size_t bytes) {
    return count == 0 || memcmp(a, b, count * bytes) == 0; // of nothing there may be no array
}

const char *members_move_apart(const World *a, const World *b) {
    const size_t n = a->body_count, axes = a->joint_axis_count, numbers = a->joint_position_count,
                 d = sizeof(double);
    return n != b->body_count || a->joint_count != b->joint_count || axes != b->joint_axis_count ||
                   numbers != b->joint_position_count
               ? "count"
           : !are_same(a->pose, b->pose, n, 7 * d)                       ? "pose"
           : !are_same(a->velocity, b->velocity, n, 6 * d)               ? "velocity"
           : !are_same(a->joint_position, b->joint_position, numbers, d) ? "joint position"
           : !are_same(a->joint_velocity, b->joint_velocity, axes, d)    ? "joint velocity"
           : !are_same(a->joint_target, b->joint_target, axes, d)        ? "joint target"
           : !are_same(a->joint_target_velocity, b->joint_target_velocity, axes, d)
               ? "target velocity"
           : !are_same(a->joint_effort, b->joint_effort, axes, d) ? "joint effort"
                                                                  : NULL;
}

static bool are_same_poses(const Pose *a, const Pose *b) {
    double numbers[2][7];
    pose_store(numbers[0], *a);
    pose_store(numbers[1], *b);
    return memcmp(numbers[0], numbers[1], sizeof(numbers[0])) == 0;
}

static bool are_same_vectors(Vec3 a, Vec3 b) {
    return a.x == b.x && a.y == b.y && a.z == b.z;
}

static bool are_same_masses(const BodyMass *a, const BodyMass *b) {
    return a->mass == b->mass && are_same_vectors(a->center, b->center) &&
           memcmp(&a->inertia, &b->inertia, sizeof(a->inertia)) == 0;
}

static bool are_same_shapes(const World *a, const Shape *of_a, const World *b, const Shape *of_b) {
    if (of_a == NULL || of_b == NULL || of_a->primitive_count != of_b->primitive_count) {
        return of_a == of_b;
    }
    for (uint32_t i = 0; i < of_a->primitive_count; i++) {
        if (!are_same_poses(&a->primitive[of_a->primitive_first + i].local,
                            &b->primitive[of_b->primitive_first + i].local)) {
            return false;
        }
    }
    return true;
}

bool members_are_placed_alike(const World *a, const World *b) {
    if (members_move_apart(a, b) != NULL) {
        return false;
    }
    for (uint32_t i = 0; i < a->body_count; i++) {
        if (!are_same_masses(&a->mass[i], &b->mass[i]) ||
            !are_same_shapes(a, world_body_shape(a, i), b, world_body_shape(b, i))) {
            return false;
        }
    }
    for (uint32_t i = 0; i < a->joint_count; i++) {
        if (!are_same_poses(&a->joint[i].frame[0], &b->joint[i].frame[0]) ||
            !are_same_poses(&a->joint[i].frame[1], &b->joint[i].frame[1])) {
            return false;
        }
    }
    return true;
}

static bool are_same_memories(const ContactMemory *a, const ContactMemory *b, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (a[i].a != b[i].a || a[i].b != b[i].b || a[i].part_a != b[i].part_a ||
            a[i].part_b != b[i].part_b || a[i].feature != b[i].feature ||
            memcmp(a[i].impulse, b[i].impulse, sizeof(a[i].impulse)) != 0) {
            return false;
        }
    }
    return true;
}

static bool are_same_rows(const World *a, const World *b) {
    for (size_t i = 0; i < a->joint_memory_count; i++) {
        const JointMemory *x = &a->joint_memory[i], *y = &b->joint_memory[i];
        if (x->joint != y->joint || x->part != y->part ||
            memcmp(&x->impulse, &y->impulse, sizeof(x->impulse)) != 0) {
            return false;
        }
    }
    return true;
}

// Bodies that one does not know of are awake, and were not at rest.
static bool are_same_rests(const World *a, const World *b) {
    for (uint32_t i = 0; i < a->body_count; i++) {
        const WorldSleep *of[2] = {a->sleep, b->sleep};
        uint32_t island[2];
        double rest[2];
        for (int k = 0; k < 2; k++) {
            const bool knows = of[k] != NULL && i < of[k]->count;
            island[k] = knows ? of[k]->island[i] : SLEEP_AWAKE;
            rest[k] = knows ? of[k]->rest[i] : 0.0;
        }
        if (island[0] != island[1] || memcmp(&rest[0], &rest[1], sizeof(double)) != 0) {
            return false;
        }
    }
    const size_t count[2] = {a->sleep == NULL ? 0 : a->sleep->memory_count,
                             b->sleep == NULL ? 0 : b->sleep->memory_count};
    return count[0] == count[1] &&
           (count[0] == 0 || are_same_memories(a->sleep->memory, b->sleep->memory, count[0]));
}

static const char *progress_differs(const World *a, const World *b) {
    return a->step != b->step                                                   ? "step"
           : memcmp(&a->time.value, &b->time.value, sizeof(a->time.value)) != 0 ? "time"
           : memcmp(&a->time.rest, &b->time.rest, sizeof(a->time.rest)) != 0    ? "time's rest"
           : a->faulted != b->faulted                                           ? "fault"
           : a->solver_failures != b->solver_failures                           ? "failures"
           : a->solver_wait != b->solver_wait                                   ? "wait"
                                                                                : NULL;
}

static const char *memories_differ(const World *a, const World *b) {
    return a->memory_count != b->memory_count ||
                   !are_same_memories(a->memory, b->memory, a->memory_count)
               ? "impulse"
           : a->joint_memory_count != b->joint_memory_count || !are_same_rows(a, b)
               ? "impulse of a joint"
           : !are_same_rests(a, b) ? "sleep"
                                   : NULL;
}

static bool wear_same(const World *a, const World *b) {
    bool are = a->geometry_count == b->geometry_count && a->primitive_count == b->primitive_count;
    for (size_t i = 0; are && i < a->geometry_count; i++) {
        are = a->geometry[i].geometry == b->geometry[i].geometry; // of one shelf
    }
    for (size_t i = 0; are && i < a->primitive_count; i++) {
        are = a->primitive[i].geometry == b->primitive[i].geometry &&
              a->primitive[i].geometry_number == b->primitive[i].geometry_number;
    }
    return are;
}

const char *members_differ(const World *a, const World *b) {
    const char *what = progress_differs(a, b);
    what = what == NULL && !wear_same(a, b) ? "geometry" : what;
    what = what == NULL ? members_move_apart(a, b) : what;
    what = what == NULL ? memories_differ(a, b) : what;
    return what == NULL && !settings_are_same(&a->settings, &b->settings) ? "setting" : what;
}
