// SPDX-License-Identifier: MIT
// Joints: of every kind, between whatever there is, held by coordinates or by rows.
#include "histories/make.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    JOINTS_MAX = 40,
    JOINTS_AT_ONCE = 4,
    JOINT_AXES_AT_ONCE = JOINTS_AT_ONCE * JOINT_AXES_MAX,
    COUPLED_MAX = 5,
    COUPLED_AT_ONCE = JOINTS_AT_ONCE * COUPLED_MAX
};

// The columns while they are written.
typedef struct Writing {
    uint32_t kind[JOINTS_AT_ONCE], axes[JOINTS_AT_ONCE], as_rows[JOINTS_AT_ONCE],
        collides[JOINTS_AT_ONCE];
    uint64_t body_a[JOINTS_AT_ONCE], body_b[JOINTS_AT_ONCE], joint_a[JOINTS_AT_ONCE],
        joint_b[JOINTS_AT_ONCE], coupled[COUPLED_AT_ONCE];
    uint32_t coupled_count[JOINTS_AT_ONCE], coupled_axes[COUPLED_AT_ONCE];
    double coefficients[COUPLED_AT_ONCE];
    size_t coupling_count;
    double frame_a[7 * JOINTS_AT_ONCE], frame_b[7 * JOINTS_AT_ONCE], ratio[JOINTS_AT_ONCE],
        length[JOINTS_AT_ONCE], break_force[JOINTS_AT_ONCE], break_torque[JOINTS_AT_ONCE];
    double number[18][JOINT_AXES_AT_ONCE];
} Writing;

static bool is_child(const World *world, uint32_t body) {
    return world_joint_of_child(world, body) != JOINT_NONE;
}

// Of a joint with one free axis, or 0.
static uint64_t any_single(Make *make) {
    const World *world = make->world;
    for (uint32_t tries = 0; world->joint_count > 0 && tries < 6; tries++) {
        const Joint *joint = &world->joint[make_roll(make, (uint32_t)world->joint_count)];
        if (joint_axis_count(joint->axes) == 1 && !joint_couples(joint)) {
            return joint->id;
        }
    }
    return 0;
}

static Pose pose_of(const World *world, uint32_t body) {
    double pose[7];
    if (body == JOINT_NO_BODY) {
        return (Pose){.orientation = quat_identity()};
    }
    world_body_pose(world, body, pose);
    return pose_load(pose);
}

// A place in the world as a body sees it.
static Pose seen_from(Pose base, Pose place) {
    const Quat back = {base.orientation.w, -base.orientation.x, -base.orientation.y,
                       -base.orientation.z};
    return (Pose){.position = quat_rotate(back, vec3_sub(place.position, base.position)),
                  .orientation = quat_normalize(quat_mul(back, place.orientation))};
}

// Mostly one place for both, at one of the bodies or between; else anywhere.
static void put_frames(Make *make, Writing *w, uint32_t i, uint32_t a, uint32_t b) {
    const World *world = make->world;
    const Pose base[2] = {pose_of(world, a), pose_of(world, b)};
    const double share = make_chance(make, 50) ? 0.5 : make_roll(make, 2);
    Pose place = {.position = vec3_add(vec3_scale(1.0 - share, base[a == JOINT_NO_BODY].position),
                                       vec3_scale(share, base[1].position)),
                  .orientation = make_turn(make)};
    if (make_chance(make, 30)) {
        place.position = vec3_add(place.position, vec3(make_uniform(make, -0.2, 0.2), 0.0,
                                                       make_uniform(make, -0.2, 0.2)));
    }
    pose_store(w->frame_a + 7 * (size_t)i, seen_from(base[0], place));
    if (make_chance(make, 10)) { // apart
        place.position.x += make_uniform(make, -0.1, 0.1);
    }
    pose_store(w->frame_b + 7 * (size_t)i, seen_from(base[1], place));
}

// ---- joints that are there already, and ends that lie on their axis

// Along the axis of a place, and turned about it.
static Pose along(Pose place, double way, double turn) {
    return pose_compose(place, (Pose){.position = vec3(0.0, 0.0, way),
                                      .orientation = quat_normalize((Quat){1.0, 0.0, 0.0, turn})});
}

static Pose place_of(const World *world, const Joint *joint, int side) {
    const uint32_t body = joint->body[side];
    return body == JOINT_NO_BODY
               ? joint->frame[side]
               : pose_compose(pose_load(world->pose + 7 * (size_t)body), joint->frame[side]);
}

// Rows beside a joint between the same two bodies, on its axis: what they ask for is there. false:
// there is none.
static bool put_again(Make *make, Writing *w, uint32_t i) {
    static const JointKind kinds[] = {JOINT_HINGE,     JOINT_HINGE, JOINT_BALL,      JOINT_SLIDER,
                                      JOINT_UNIVERSAL, JOINT_FIXED, JOINT_KIND_COUNT};
    const World *world = make->world;
    if (world->joint_count == 0) {
        return false;
    }
    const Joint *of = &world->joint[make_roll(make, (uint32_t)world->joint_count)];
    if (joint_couples(of)) {
        return false;
    }
    const double way = make_chance(make, 30) ? 0.0 : make_uniform(make, -0.5, 0.5),
                 turn = make_chance(make, 50) ? 0.0 : make_uniform(make, -1.0, 1.0);
    const JointKind kind = kinds[make_roll(make, sizeof(kinds) / sizeof(kinds[0]))];
    w->kind[i] = kind == JOINT_KIND_COUNT ? of->kind : kind;
    w->axes[i] = w->kind[i] == JOINT_GENERIC ? of->axes : 0;
    w->as_rows[i] = 1;
    w->body_a[i] = of->body[0] == JOINT_NO_BODY ? 0 : world->body_id[of->body[0]];
    w->body_b[i] = world->body_id[of->body[1]];
    for (int side = 0; side < 2; side++) {
        const Pose place = along(place_of(world, of, side), way, turn);
        double *frame = (side == 0 ? w->frame_a : w->frame_b) + 7 * (size_t)i;
        pose_store(frame, seen_from(pose_of(world, of->body[side]), place));
    }
    return true;
}

// A link that turns about an upright axis through one of its ends, where it may lie on the ground.
static bool put_lying(Make *make, Writing *w, uint32_t i) {
    const World *world = make->world;
    const uint32_t b = make_any_dynamic(make);
    if (b == JOINT_NO_BODY || world_body_shape(world, b) == NULL || is_child(world, b)) {
        return false;
    }
    const Primitive *part = &world->primitive[world_body_shape(world, b)->primitive_first];
    const Vec3 end = part->kind == PRIMITIVE_CAPSULE ? vec3(0.0, 0.0, part->size.y)
                     : part->kind == PRIMITIVE_BOX   ? part->size
                                                     : vec3(0.0, 0.0, 0.0);
    const Pose base = pose_of(world, b), at = pose_compose(base, part->local);
    const Pose place = {.position = pose_apply(at, end), .orientation = quat_identity()};
    w->kind[i] = JOINT_HINGE;
    w->as_rows[i] = 0;
    w->body_b[i] = world->body_id[b];
    pose_store(w->frame_a + 7 * (size_t)i, place);
    pose_store(w->frame_b + 7 * (size_t)i, seen_from(base, place));
    return true;
}

// A body that hangs on none takes up to six velocities more to a tree: trees of forty are another
// kind (step/trees/flight.h), which joints by chance never come to. false: there is none.
static bool put_limb(Make *make, Writing *w, uint32_t i) {
    static const JointKind kinds[] = {JOINT_BALL, JOINT_UNIVERSAL, JOINT_FREE,
                                      JOINT_FREE, JOINT_FREE,      JOINT_GENERIC};
    const World *world = make->world;
    const uint32_t a = make_any_dynamic(make), b = make_any_dynamic(make);
    if (a == b || a == JOINT_NO_BODY || b == JOINT_NO_BODY || is_child(world, b)) {
        return false;
    }
    w->kind[i] = kinds[make_roll(make, sizeof(kinds) / sizeof(kinds[0]))];
    w->as_rows[i] = 0;
    w->body_a[i] = world->body_id[a];
    w->body_b[i] = world->body_id[b];
    put_frames(make, w, i, a, b);
    return true;
}

static void put_bodies(Make *make, Writing *w, uint32_t i) {
    const World *world = make->world;
    const uint32_t b = make_any_dynamic(make);
    uint32_t a = make_chance(make, 25) ? JOINT_NO_BODY : make_roll(make, world->body_count);
    if (b == JOINT_NO_BODY) {
        w->kind[i] = JOINT_HINGE; // refused: there is no body b
        return;
    }
    a = a == b ? JOINT_NO_BODY : a;
    w->body_a[i] = a == JOINT_NO_BODY ? 0 : world->body_id[a];
    w->body_b[i] = world->body_id[b];
    put_frames(make, w, i, a, b);
    if (is_child(world, b) && make_chance(make, 90)) {
        w->as_rows[i] = 1;
    }
}

// Any axes of joints that there are, now and then one twice. false: there are none.
static bool put_tendon(Make *make, Writing *w, uint32_t i) {
    const World *world = make->world;
    const uint32_t wanted = 1 + make_roll(make, COUPLED_MAX);
    for (uint32_t tries = 0; world->joint_count > 0 && tries < 2 * COUPLED_MAX; tries++) {
        const Joint *joint = &world->joint[make_roll(make, (uint32_t)world->joint_count)];
        const uint32_t axis = make_roll(make, JOINT_AXES_MAX) % (joint_axis_count(joint->axes) + 1);
        if (w->coupled_count[i] < wanted && !joint_couples(joint) &&
            joint_has_number(joint->axes, axis)) {
            w->coupled[w->coupling_count] = joint->id;
            w->coupled_axes[w->coupling_count] = axis;
            w->coefficients[w->coupling_count++] = make_uniform(make, -2.0, 2.0);
            w->coupled_count[i]++;
        }
    }
    return w->coupled_count[i] > 0;
}

static void put_joint(Make *make, Writing *w, uint32_t i) {
    w->kind[i] = make_roll(make, JOINT_KIND_COUNT);
    w->ratio[i] = w->length[i] = 1.0;
    w->break_force[i] = w->break_torque[i] = HUGE_VAL;
    w->frame_a[7 * (size_t)i + 3] = w->frame_b[7 * (size_t)i + 3] = 1.0;
    w->as_rows[i] = make_chance(make, 35);
    w->collides[i] = make_chance(make, 15);
    if (w->kind[i] == JOINT_GEAR) {
        w->joint_a[i] = any_single(make);
        w->joint_b[i] = any_single(make);
        w->ratio[i] = make_uniform(make, -3.0, 3.0);
        if (w->joint_a[i] != 0 && w->joint_a[i] != w->joint_b[i]) {
            return;
        }
        w->kind[i] = JOINT_HINGE;
        w->joint_a[i] = w->joint_b[i] = 0;
    }
    if (w->kind[i] == JOINT_TENDON) {
        w->as_rows[i] = 1;
        if (put_tendon(make, w, i)) {
            return;
        }
        w->kind[i] = JOINT_HINGE;
    }
    const uint32_t way = make_roll(make, 100);
    if (!(make->scale.is_wide && way >= 10 ? put_limb(make, w, i)
          : way < 18                       ? put_again(make, w, i)
                                           : way < 26 && put_lying(make, w, i))) {
        put_bodies(make, w, i);
    }
    if (w->kind[i] == JOINT_GENERIC && w->axes[i] == 0) {
        w->axes[i] = 1 + make_roll(make, 63);
    }
    if (w->kind[i] == JOINT_DISTANCE) {
        w->length[i] = make_uniform(make, 0.01, 0.5);
    }
    if ((w->as_rows[i] != 0 || joint_kind_is_rows((JointKind)w->kind[i])) &&
        make_chance(make, 20)) {
        w->break_force[i] = make_magnitude(make, 0.1, 1e3);
        w->break_torque[i] = make_chance(make, 50) ? HUGE_VAL : make_magnitude(make, 0.01, 100.0);
    }
}

// ---- along the axes

static void put_axis(Make *make, Writing *w, size_t at) {
    const double reach = make_magnitude(make, 1e-3, 2.0);
    double *const n = &w->number[0][at];
    const size_t stride = JOINT_AXES_AT_ONCE;
    const uint32_t limited = make_roll(make, 3);
    n[0] = limited == 0 ? -reach : -HUGE_VAL;
    n[stride] = limited <= 1 ? reach * make_uniform(make, 0.0, 1.0) : HUGE_VAL;
    if (make_chance(make, 5)) { // held, as rows of tendons are
        n[0] = n[stride] = make_uniform(make, -reach, reach);
    }
    const double sizes[8][2] = {{0.1, 1e4},  {-1.0, 1.0}, {1e-3, 50.0},  {1e-2, 20.0},
                                {1e-4, 1.0}, {1.0, 1e4},  {1e-2, 100.0}, {0.1, 100.0}};
    for (size_t k = 0; k < 8; k++) {
        n[(2 + k) * stride] = k == 1 ? make_uniform(make, -1.0, 1.0)
                                     : make_number(make, sizes[k][0], sizes[k][1], 1e-9, 1e15);
    }
    for (size_t k = 10; k < 14; k++) {
        const double size = k == 13 ? 10.0 : k == 11 ? 1.0 : 2.0;
        n[k * stride] = make_uniform(make, -size, size);
    }
    n[14 * stride] = make_magnitude(make, 0.1, 100.0);
    n[15 * stride] = make_chance(make, 70) ? make_magnitude(make, 0.1, 30.0) : 0.0;
    n[16 * stride] = make_chance(make, 60) ? make_magnitude(make, 1e-4, 1.0) : 0.0;
    n[17 * stride] = make_chance(make, 60) ? make_roll(make, 12) : 0.0;
}

static const double *number_column(Make *make, const double *from, size_t count, uint64_t percent) {
    if (!make_chance(make, percent)) {
        return NULL;
    }
    double *column = make_column(make, count, sizeof(*column));
    memcpy(column, from, count * sizeof(*column));
    return column;
}

static void put_axes(Make *make, Writing *w, JointColumns *joints) {
    const size_t count = joints->axis_count;
    for (size_t i = 0; i < count; i++) {
        put_axis(make, w, i);
    }
    if (make_chance(make, 30)) {
        joints->low = number_column(make, w->number[0], count, 100);
        joints->high = number_column(make, w->number[1], count, 100);
    }
    joints->stiffness = number_column(make, w->number[2], count, 15);
    joints->rest = number_column(make, w->number[3], count, 15);
    joints->damping = number_column(make, w->number[4], count, 15);
    joints->friction = number_column(make, w->number[5], count, 12);
    if (memchr(w->as_rows, 1, sizeof(w->as_rows)) == NULL) { // which rows have none of
        joints->armature = number_column(make, w->number[6], count, 12);
    }
    joints->drive_stiffness = number_column(make, w->number[7], count, 15);
    joints->drive_damping = number_column(make, w->number[8], count, 15);
    joints->effort_max = number_column(make, w->number[9], count, 10);
    joints->velocity = number_column(make, w->number[10], count, 8);
    joints->target = number_column(make, w->number[11], count, 15);
    joints->target_velocity = number_column(make, w->number[12], count, 15);
    joints->effort = number_column(make, w->number[13], count, 8);
    if (memchr(w->as_rows, 1, sizeof(w->as_rows)) == NULL) { // which rows have none of
        joints->stall_effort = number_column(make, w->number[14], count, 12);
    }
    if (joints->stall_effort != NULL) {
        joints->no_load_speed = number_column(make, w->number[15], count, 70);
    }
    joints->lag_time = number_column(make, w->number[16], count, 10);
    joints->delay_steps = number_column(make, w->number[17], count, 10);
}

static void *copied(Make *make, const void *from, size_t bytes) {
    return memcpy(make_column(make, 1, bytes), from, bytes);
}

Input make_joints(Make *make) {
    const uint32_t count = make->world->joint_count > JOINTS_MAX ? 1 : 1 + make_roll(make, 3);
    Writing w = {0};
    JointColumns joints = {.count = count};
    for (uint32_t i = 0; i < count; i++) {
        put_joint(make, &w, i);
        const uint8_t axes =
            w.kind[i] == JOINT_GENERIC ? (uint8_t)w.axes[i] : joint_kind_axes((JointKind)w.kind[i]);
        joints.axis_count += joint_axis_count(axes);
        joints.position_count += joint_position_count(axes);
    }
    joints.kind = copied(make, w.kind, sizeof(w.kind));
    joints.body_a = copied(make, w.body_a, sizeof(w.body_a));
    joints.body_b = copied(make, w.body_b, sizeof(w.body_b));
    joints.joint_a = copied(make, w.joint_a, sizeof(w.joint_a));
    joints.joint_b = copied(make, w.joint_b, sizeof(w.joint_b));
    joints.axes = copied(make, w.axes, sizeof(w.axes));
    joints.as_rows = copied(make, w.as_rows, sizeof(w.as_rows));
    joints.ratio = copied(make, w.ratio, sizeof(w.ratio));
    joints.length = copied(make, w.length, sizeof(w.length));
    joints.break_force = copied(make, w.break_force, sizeof(w.break_force));
    joints.break_torque = copied(make, w.break_torque, sizeof(w.break_torque));
    joints.collides = make_chance(make, 30) ? copied(make, w.collides, sizeof(w.collides)) : NULL;
    if (make_chance(make, 85)) {
        joints.frame_a = copied(make, w.frame_a, sizeof(w.frame_a));
        joints.frame_b = copied(make, w.frame_b, sizeof(w.frame_b));
    }
    if (w.coupling_count > 0) {
        joints.coupling_count = w.coupling_count;
        joints.coupled_count = copied(make, w.coupled_count, sizeof(w.coupled_count));
        joints.coupled = copied(make, w.coupled, sizeof(w.coupled));
        joints.coupled_axes = copied(make, w.coupled_axes, sizeof(w.coupled_axes));
        joints.coefficients = copied(make, w.coefficients, sizeof(w.coefficients));
    }
    put_axes(make, &w, &joints);
    return (Input){.kind = INPUT_JOINTS, .joints = joints};
}
