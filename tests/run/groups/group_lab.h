// SPDX-License-Identifier: MIT
// Groups for tests, without a server: a cart with a pole, a ball over ground, and calls on their
// worlds.
#pragma once

#include "run/groups/group.h"
#include "support/lab.h"
#include "support/suite.h"

#include <string.h>

enum { GROUP_LAB_ROW_MAX = 64 };

typedef struct GroupLab {
    Group *group;
    Arena scratch, memory;
    GroupCall call; // the last one
} GroupLab;

// ---- templates, which a group takes over

static inline World *take_world(Lab *lab) {
    World *world = lab->world;
    lab->world = NULL;
    lab_destroy(lab);
    return world;
}

// A cart of 1 kg on a rail along x, and a pole of 0.1 kg and 1 m that stands on it.
static inline World *cart_pole_world(void) {
    Lab lab = lab_create(9.8, 0.02);
    const double block[6] = {0.01, 0.01, 0.01, 0, 0, 0};
    const double rod[6] = {0.1 / 12, 0.1 / 12, 1e-4, 0, 0, 0};
    lab_body(&lab, 0, BODY_DYNAMIC, (Pose){.orientation = quat_identity()}, NULL, 1.0, block);
    lab_body(&lab, 0, BODY_DYNAMIC,
             (Pose){.position = vec3(0.0, 0.0, 0.5), .orientation = quat_identity()}, NULL, 0.1,
             rod);
    // z of the frames along x, then along y
    const double half = 0.70710678118654757;
    const uint32_t kind[2] = {JOINT_SLIDER, JOINT_HINGE};
    const uint64_t body_a[2] = {0, 1}, body_b[2] = {1, 2};
    const double frame_a[14] = {0, 0, 0, half, 0, half, 0, 0, 0, 0, half, -half, 0, 0};
    const double frame_b[14] = {0, 0, 0, half, 0, half, 0, 0, 0, -0.5, half, -half, 0, 0};
    const char *const name[2] = {"slider", "hinge"};
    const JointColumns joints = {.count = 2,
                                 .axis_count = 2,
                                 .position_count = 2,
                                 .kind = kind,
                                 .body_a = body_a,
                                 .body_b = body_b,
                                 .frame_a = frame_a,
                                 .frame_b = frame_b,
                                 .name = name};
    lab_joints(&lab, &joints);
    return take_world(&lab);
}

// A ball of so much mass and 0.1 m on ground, at rest; beside it a kinematic body that touches
// nothing.
static inline World *ball_world(double mass) {
    Lab lab = lab_create(10.0, 0.01);
    lab_ground(&lab, 0);
    const Id ball = lab_shape(&lab, PRIMITIVE_SPHERE, vec3(0.1, 0.0, 0.0), 0);
    lab_body(&lab, ball, BODY_DYNAMIC,
             (Pose){.position = vec3(0.0, 0.0, 0.1), .orientation = quat_identity()}, NULL, mass,
             NULL);
    lab_body(&lab, 0, BODY_KINEMATIC,
             (Pose){.position = vec3(1.0, 2.0, 3.0), .orientation = quat_identity()}, NULL, 0.0,
             NULL);
    return take_world(&lab);
}

// ---- layouts

static inline ChannelDef of_joint(ChannelKind kind, const char *joint) {
    return (ChannelDef){.kind = kind, .joint = joint, .scale = 1.0};
}

static inline ChannelDef of_body(ChannelKind kind, const char *body) {
    return (ChannelDef){.kind = kind, .body = body, .scale = 1.0};
}

static inline ChannelDef within(ChannelDef channel, double low, double high) {
    channel.has_low = channel.has_high = true;
    channel.low = low;
    channel.high = high;
    return channel;
}

static inline GroupDef group_def(uint32_t count) {
    return (GroupDef){.count = count,
                      .seed = 11,
                      .action = {.use = LAYOUT_ACTION, .list = "action", .item = ""},
                      .observation = {.use = LAYOUT_READ, .list = "observation", .item = ""},
                      .extra = {.use = LAYOUT_READ, .list = "extra", .item = ""},
                      .bounds = {.use = LAYOUT_READ, .list = "bounds", .item = ""},
                      .noise = {.use = LAYOUT_NOISE, .list = "noise", .item = ".channel"},
                      .substeps = 1,
                      .is_double = true};
}

// ---- calls

static inline GroupLab group_lab_create(const GroupDef *def, World *template) {
    GroupLab lab = {0};
    Error error = {0};
    arena_init(&lab.scratch, (size_t)1 << 26);
    arena_init(&lab.memory, (size_t)1 << 28);
    ck_assert_msg(group_def_check(def, &error) == STATUS_OK, "%s: %s", error.field, error.message);
    ck_assert_msg(group_create(def, template, &lab.group, &error) == STATUS_OK, "%s: %s",
                  error.field, error.message);
    for (uint32_t i = 0; i < def->count; i++) {
        ck_assert_int_eq(group_add_world(lab.group, i, &error), STATUS_OK);
    }
    return lab;
}

static inline void group_lab_destroy(GroupLab *lab) {
    group_destroy(lab->group);
    arena_deinit(&lab->scratch);
    arena_deinit(&lab->memory);
}

// Carries out what stands in lab->call; `backwards`: its rows in the opposite order.
static inline void group_lab_run(GroupLab *lab, bool backwards) {
    Error error = {0};
    GroupCall *call = &lab->call;
    call->group = lab->group;
    arena_reset(&lab->memory);
    ck_assert_msg(group_call_check(call, &error) == STATUS_OK, "%s: %s", error.field,
                  error.message);
    ck_assert(group_call_take(call, &lab->memory));
    for (size_t i = 0; i < call->count; i++) {
        const size_t row = backwards ? call->count - 1 - i : i;
        ck_assert(group_run_row(call, row, &lab->scratch, NULL));
    }
}

static inline void group_lab_reset(GroupLab *lab) {
    lab->call = (GroupCall){.verb = GROUP_RESET, .count = lab->group->count};
    group_lab_run(lab, false);
}

static inline void group_lab_step(GroupLab *lab, const double *action) {
    lab->call =
        (GroupCall){.verb = GROUP_STEP, .count = lab->group->count, .action_double = action};
    group_lab_run(lab, false);
}

static inline const double *row_of(const GroupLab *lab, const void *rows, size_t row) {
    const size_t columns = rows == lab->call.extra || rows == lab->call.final_extra
                               ? lab->group->extra.column_count
                               : lab->group->observation.column_count;
    return (const double *)rows + row * columns;
}

static inline const double *seen(const GroupLab *lab, size_t row) {
    return row_of(lab, lab->call.observation, row);
}
