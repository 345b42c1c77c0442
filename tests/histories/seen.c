// SPDX-License-Identifier: MIT
#include "histories/seen.h"

#include "base/array.h"
#include "base/assert.h"
#include "histories/other_geometries.h"
#include "world/motor.h"
#include "world/world_commands.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// How far the world is moved, in its own sizes.
static const double shift_max = 10.0;

static const char *const kind_names[] = {"turned", "moved", "mirrored", "ordered", "all"};

// ---- what is seen

static uint32_t *any_order(uint32_t count, Dice *dice, Arena *arena) {
    uint32_t *order = arena_take_zeroed(arena, count + 1, sizeof(*order));
    ASSERT(order != NULL);
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t other = (uint32_t)dice_roll(dice, i + 1);
        order[i] = order[other];
        order[other] = i;
    }
    return order;
}

// From the origin to what is farthest from it, and no less than its parts are.
static double world_size(const World *world) {
    double size = 0.1;
    for (uint32_t i = 0; i < world->body_count; i++) {
        const double away = vec3_norm(vec3_load(world->pose + 7 * (size_t)i));
        size = fmax(size, away + variant_size(world, i));
    }
    return size;
}

// Rotations are as likely as any other where four numbers are in a ball.
Quat seen_any_turn(Dice *dice) {
    Quat q;
    do {
        q = (Quat){variant_chance(dice, 1.0), variant_chance(dice, 1.0), variant_chance(dice, 1.0),
                   variant_chance(dice, 1.0)};
    } while (quat_norm(q) < 0.1 || quat_norm(q) > 1.0);
    return quat_normalize(q);
}

static uint32_t *same_order(size_t count, Arena *arena) {
    uint32_t *index = arena_take_zeroed(arena, count + 1, sizeof(*index));
    ASSERT(index != NULL);
    for (uint32_t i = 0; i < count; i++) {
        index[i] = i;
    }
    return index;
}

// Which axis of joints' frames is turned round in a mirror. A distance whose ends are at one place
// goes along A's x axis (step/joints/rows.c), which then has to be what the mirror makes of it.
static int any_flip(const World *world, Dice *dice) {
    const int flip = (int)dice_roll(dice, 4);
    bool has_distance = false;
    for (uint32_t i = 0; i < world->joint_count; i++) {
        has_distance = has_distance || world->joint[i].kind == JOINT_DISTANCE;
    }
    return has_distance ? 1 + flip % 2 : flip;
}

Seen seen_make(const World *world, Dice *dice, Arena *arena) {
    Seen seen = {.kind = (SeenKind)dice_roll(dice, SEEN_ALL + 1),
                 .sign = 1.0,
                 .turn = quat_identity(),
                 .flip = any_flip(world, dice)};
    const bool all = seen.kind == SEEN_ALL;
    if (all || seen.kind == SEEN_TURNED) {
        seen.turn = seen_any_turn(dice);
    }
    if (all || seen.kind == SEEN_MOVED) {
        const double far = shift_max * world_size(world) / sqrt(3.0);
        seen.shift =
            vec3(variant_chance(dice, far), variant_chance(dice, far), variant_chance(dice, far));
    }
    if (all || seen.kind == SEEN_MIRRORED) {
        seen.sign = -1.0;
    }
    seen.is_ordered = all || seen.kind == SEEN_ORDERED;
    seen.body = any_order(world->body_count, dice, arena);
    for (uint32_t i = 0; i < world->body_count && !seen.is_ordered; i++) {
        seen.body[i] = i;
    }
    seen.joint = same_order(world->joint_count, arena);
    return seen;
}

Seen seen_plain(const World *world, Arena *arena) {
    Seen seen = {.sign = 1.0, .turn = quat_identity()};
    seen.body = same_order(world->body_count, arena);
    seen.joint = same_order(world->joint_count, arena);
    return seen;
}

const char *seen_name(const Seen *seen) {
    return kind_names[seen->kind];
}

Vec3 seen_vector(const Seen *seen, Vec3 vector) {
    return vec3_scale(seen->sign, quat_rotate(seen->turn, vector));
}

Vec3 seen_spin(const Seen *seen, Vec3 spin) {
    return quat_rotate(seen->turn, spin);
}

Vec3 seen_point(const Seen *seen, Vec3 point) {
    return vec3_add(seen_vector(seen, point), seen->shift);
}

static void see_pair(const Seen *seen, double *six) {
    vec3_store(six, seen_vector(seen, vec3_load(six)));
    vec3_store(six + 3, seen_spin(seen, vec3_load(six + 3)));
}

Push seen_push(const Seen *seen, const Push *push) {
    Push other = *push;
    for (size_t i = 0; i < push->count; i++) {
        other.body[i] = seen->body[push->body[i]];
        see_pair(seen, other.wrench + 6 * i);
    }
    return other;
}

// ---- bodies and shapes

static void see_bodies(const Seen *seen, World *world) {
    for (uint32_t i = 0; i < world->body_count; i++) {
        Pose pose = pose_load(world->pose + 7 * (size_t)i);
        pose.position = seen_point(seen, pose.position);
        pose.orientation = quat_normalize(quat_mul(seen->turn, pose.orientation));
        pose_store(world->pose + 7 * (size_t)i, pose);
        see_pair(seen, world->velocity + 6 * (size_t)i);
        world->mass[i].center = vec3_scale(seen->sign, world->mass[i].center);
    }
}

// Of what a body has in its own axes only places change, but for what has one side.
static void mirror_primitive(Primitive *primitive) {
    const Quat half_turn = {0.0, 1.0, 0.0, 0.0};
    Pose *local = &primitive->local;
    local->position = vec3_neg(local->position);
    if (primitive->kind == PRIMITIVE_PLANE) { // geometries are other ones
        local->orientation = quat_mul(local->orientation, half_turn);
    }
    if (primitive->foundation.face != 0) {
        primitive->foundation.face = ((primitive->foundation.face - 1) ^ 1) + 1;
    }
}

static void mirror_shapes(World *world) {
    for (size_t i = 0; i < world->primitive_count; i++) {
        mirror_primitive(&world->primitive[i]);
    }
    for (size_t i = 0; i < world->shape_count; i++) {
        world->shape[i].center = vec3_neg(world->shape[i].center);
    }
}

// ---- joints

// Of a vector on the axes of a joint's frame: what its coordinates are multiplied by.
static double flip_of(const Seen *seen, int axis) {
    return seen->flip == 3 || seen->flip == axis ? -1.0 : 1.0;
}

static double sign_of_axis(const Seen *seen, int bit) {
    if (seen->sign > 0.0) {
        return 1.0;
    }
    return bit < 3 ? flip_of(seen, bit) : -flip_of(seen, bit - 3);
}

static double sign_of_joint(const Seen *seen, const Joint *joint) {
    return sign_of_axis(seen, joint_axis_bit(joint->axes, 0));
}

static void see_frame(const Seen *seen, Joint *joint, int side) {
    static const Quat half_turn[4] = {
        {0.0, 1.0, 0.0, 0.0}, {0.0, 0.0, 1.0, 0.0}, {0.0, 0.0, 0.0, 1.0}, {1.0, 0.0, 0.0, 0.0}};
    Pose *frame = &joint->frame[side];
    if (seen->sign < 0.0) {
        frame->orientation = quat_mul(frame->orientation, half_turn[seen->flip]);
    }
    if (joint->body[side] != JOINT_NO_BODY) {
        frame->position = vec3_scale(seen->sign, frame->position);
    } else if (!joint_couples(joint)) {
        frame->position = seen_point(seen, frame->position);
        frame->orientation = quat_normalize(quat_mul(seen->turn, frame->orientation));
    }
}

static void negate_axis(World *world, size_t at) {
    JointAxis *axis = &world->joint_axis[at];
    const double low = axis->low;
    axis->low = -axis->high;
    axis->high = -low;
    axis->rest = -axis->rest;
    world->joint_velocity[at] *= -1.0;
    world->joint_target[at] *= -1.0;
    world->joint_target_velocity[at] *= -1.0;
    world->joint_effort[at] *= -1.0;
    double *under_way = world->joint_under_way + world_count_under_way(world->joint_axis, at);
    for (size_t i = 0; i < joint_axis_under_way(axis); i++) {
        under_way[i] *= -1.0;
    }
}

static void see_joint(const Seen *seen, World *world, Joint *joint) {
    const uint32_t axes = joint_axis_count(joint->axes);
    const bool has_three = (joint->axes & JOINT_TURNS) == JOINT_TURNS;
    see_frame(seen, joint, 0);
    see_frame(seen, joint, 1);
    for (uint32_t k = 0; k < axes; k++) {
        const int bit = joint_axis_bit(joint->axes, k);
        if (sign_of_axis(seen, bit) < 0.0) {
            // of three turns the first number is the quaternion's w
            world->joint_position[joint->position_first + k + (has_three && bit >= 3)] *= -1.0;
            negate_axis(world, joint->axis_first + k);
        }
    }
    if (joint->kind == JOINT_GEAR) {
        joint->ratio *= sign_of_joint(seen, &world->joint[joint->partner[0]]) *
                        sign_of_joint(seen, &world->joint[joint->partner[1]]);
    }
    for (uint32_t i = 0; i < joint->coupling_count; i++) {
        Coupling *of = &world->coupling[joint->coupling_first + i];
        const int bit = joint_axis_bit(world->joint[of->joint].axes, of->axis);
        of->coefficient *= sign_of_axis(seen, bit) * sign_of_joint(seen, joint);
    }
}

// ---- another order

// Moves items to where they are to stand.
static void put_in_order(void *items, size_t count, size_t bytes, const uint32_t *place,
                         Arena *arena) {
    if (count == 0) {
        return; // and there may be no items
    }
    unsigned char *copy = arena_take(arena, count * bytes), *to = items;
    ASSERT(copy != NULL);
    memcpy(copy, items, count * bytes);
    for (size_t i = 0; i < count; i++) {
        memcpy(to + place[i] * bytes, copy + i * bytes, bytes);
    }
}

// Ids rise with the index, whoever has them.
static void order_bodies(const Seen *seen, World *world, Arena *arena) {
    const size_t n = world->body_count;
    put_in_order(world->kind, n, sizeof(*world->kind), seen->body, arena);
    put_in_order(world->body_shape, n, sizeof(*world->body_shape), seen->body, arena);
    put_in_order(world->mass, n, sizeof(*world->mass), seen->body, arena);
    put_in_order(world->pose, n, 7 * sizeof(*world->pose), seen->body, arena);
    put_in_order(world->velocity, n, 6 * sizeof(*world->velocity), seen->body, arena);
    for (size_t i = 0; i < world->joint_count; i++) {
        for (int side = 0; side < 2; side++) {
            uint32_t *body = &world->joint[i].body[side];
            *body = *body == JOINT_NO_BODY ? JOINT_NO_BODY : seen->body[*body];
        }
    }
}

// Gears and tendons stand behind all that they may couple.
static void last_gears(const World *world, uint32_t *place, Arena *arena) {
    const size_t count = world->joint_count;
    uint32_t *wanted = arena_take_zeroed(arena, count + 1, sizeof(*wanted));
    ASSERT(wanted != NULL);
    memcpy(wanted, place, count * sizeof(*wanted));
    for (size_t i = 0; i < count; i++) {
        const bool is_gear = joint_couples(&world->joint[i]);
        place[i] = 0;
        for (size_t k = 0; k < count; k++) {
            const bool is_other_gear = joint_couples(&world->joint[k]);
            place[i] += is_gear == is_other_gear ? wanted[k] < wanted[i] : is_gear;
        }
    }
}

// What is under way of the axes' commands, which are still as they were.
static void order_under_way(World *world, const uint32_t *place, Arena *arena) {
    const size_t axes = world->joint_axis_count,
                 bytes = world_under_way_count(world) * sizeof(double);
    uint32_t *from = arena_take_zeroed(arena, axes + 1, sizeof(*from));
    double *copy = arena_take(arena, bytes + 1), *to = world->joint_under_way;
    ASSERT(from != NULL && copy != NULL);
    for (uint32_t i = 0; i < axes; i++) {
        from[place[i]] = i;
    }
    if (bytes > 0) {
        memcpy(copy, world->joint_under_way, bytes);
    }
    for (size_t i = 0; i < axes; i++) {
        const size_t count = joint_axis_under_way(&world->joint_axis[from[i]]);
        if (count > 0) {
            memcpy(to, copy + world_count_under_way(world->joint_axis, from[i]),
                   count * sizeof(double));
            to += count;
        }
    }
}

// The columns of the axes, and of the positions, as the joints now stand.
static void order_columns(World *world, Arena *arena) {
    double *const columns[] = {world->joint_velocity, world->joint_target_velocity,
                               world->joint_target, world->joint_effort};
    uint32_t *axis_place = arena_take_zeroed(arena, world->joint_axis_count + 1, sizeof(uint32_t));
    uint32_t *place = arena_take_zeroed(arena, world->joint_position_count + 1, sizeof(uint32_t));
    uint32_t axes = 0, positions = 0;
    ASSERT(axis_place != NULL && place != NULL);
    for (size_t i = 0; i < world->joint_count; i++) {
        Joint *joint = &world->joint[i];
        const uint32_t axis_first = axes, position_first = positions;
        for (uint32_t k = 0; k < joint_axis_count(joint->axes); k++) {
            axis_place[joint->axis_first + k] = axes++;
        }
        for (uint32_t k = 0; k < joint_position_count(joint->axes); k++) {
            place[joint->position_first + k] = positions++;
        }
        joint->axis_first = axis_first;
        joint->position_first = position_first;
    }
    order_under_way(world, axis_place, arena);
    put_in_order(world->joint_axis, axes, sizeof(JointAxis), axis_place, arena);
    for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++) {
        put_in_order(columns[i], axes, sizeof(double), axis_place, arena);
    }
    put_in_order(world->joint_position, positions, sizeof(double), place, arena);
}

// Those of tendons, as these now stand.
static void order_couplings(World *world, const uint32_t *place, Arena *arena) {
    const size_t count = world->coupling_count;
    Coupling *old = arena_take_array(arena, count + 1, sizeof(*old));
    size_t next = 0;
    ASSERT(old != NULL);
    if (count > 0) {
        memcpy(old, world->coupling, count * sizeof(*old));
    }
    for (uint32_t i = 0; i < world->joint_count; i++) {
        Joint *joint = &world->joint[i];
        const uint32_t from = joint->coupling_first;
        joint->coupling_first = (uint32_t)next;
        for (uint32_t k = 0; k < joint->coupling_count; k++) {
            Coupling of = old[from + k];
            of.owner = i;
            of.joint = place[of.joint];
            world->coupling[next++] = of;
        }
    }
}

static void order_joints(const Seen *seen, World *world, Dice *dice, Arena *arena) {
    const size_t count = world->joint_count;
    uint32_t *place = any_order((uint32_t)count, dice, arena);
    Id *ids = arena_take_zeroed(arena, count + 1, sizeof(*ids));
    ASSERT(ids != NULL);
    last_gears(world, place, arena);
    for (size_t i = 0; i < count; i++) {
        ids[i] = world->joint[i].id;
    }
    put_in_order(world->joint, count, sizeof(Joint), place, arena);
    memcpy(seen->joint, place, count * sizeof(*place));
    for (size_t i = 0; i < count; i++) {
        Joint *joint = &world->joint[i];
        joint->id = ids[i];
        for (int side = 0; side < 2; side++) {
            joint->partner[side] =
                joint->partner[side] == JOINT_NONE ? JOINT_NONE : place[joint->partner[side]];
        }
    }
    order_couplings(world, place, arena);
    order_columns(world, arena);
}

static void order_shapes(World *world, Dice *dice, Arena *arena) {
    for (size_t i = 0; i < world->shape_count; i++) {
        const Shape *shape = &world->shape[i];
        const uint32_t *place = any_order(shape->primitive_count, dice, arena);
        put_in_order(world->primitive + shape->primitive_first, shape->primitive_count,
                     sizeof(Primitive), place, arena);
    }
}

// ---- rows of joints

// As rows are numbered: of a joint of rows first what it locks, by its axes, then of each axis that
// is free the lower and the upper limit, friction, drive and spring (step/joints/rows.c); of one by
// coordinates there is neither what is locked nor a spring, but what its motors are made of, behind
// all that (tree_rows.c).
enum { PART_AXES = 6, ROW_PARTS = 5, TREE_PARTS = 4, PART_MOTORS = TREE_PARTS * JOINT_AXES_MAX };

// What drives an axis forth drives it back where that is turned round.
static double see_motor(const Seen *seen, const Joint *joint, uint32_t *part) {
    const uint32_t axis = (*part - PART_MOTORS) / MOTOR_PARTS,
                   kind = (*part - PART_MOTORS) % MOTOR_PARTS;
    const double sign = sign_of_axis(seen, joint_axis_bit(joint->axes, axis));
    if (sign < 0.0 && (kind == MOTOR_FORTH || kind == MOTOR_BACK)) {
        *part += MOTOR_FORTH + MOTOR_BACK - 2 * kind;
    }
    return sign;
}

// What the row of that part of a joint is multiplied by where it is seen so; a limit is the other
// one then, and bears what it bore.
static double see_row(const Seen *seen, const World *from, const Joint *joint, uint32_t *part) {
    const uint32_t first = joint->is_rows ? PART_AXES : 0,
                   parts = joint->is_rows ? ROW_PARTS : TREE_PARTS;
    if (joint->kind == JOINT_GEAR) {
        return sign_of_joint(seen, &from->joint[joint->partner[1]]);
    }
    if (joint->kind == JOINT_DISTANCE || seen->sign > 0.0) {
        return 1.0;
    }
    if (joint->kind == JOINT_TENDON && *part < first) { // held at one length
        return sign_of_joint(seen, joint);
    }
    if (!joint->is_rows && *part >= PART_MOTORS) {
        return see_motor(seen, joint, part);
    }
    if (*part >= first) {
        const uint32_t axis = (*part - first) / parts, of_axis = (*part - first) % parts;
        const double sign = sign_of_axis(seen, joint_axis_bit(joint->axes, axis));
        const bool is_limit = of_axis < 2;
        *part += !is_limit || sign > 0.0 ? 0 : of_axis == 0 ? 1 : UINT32_MAX;
        return is_limit ? 1.0 : sign;
    }
    if (joint_axis_count(joint->axes & JOINT_TURNS) == 2 &&
        *part >= 3) { // two axes at right angles
        const int fixed = joint->axes & 8 ? joint->axes & 16 ? 2 : 1 : 0;
        return flip_of(seen, (fixed + 1) % 3) * flip_of(seen, (fixed + 2) % 3);
    }
    return sign_of_axis(seen, (int)*part);
}

SeenRow seen_row(const Seen *seen, const World *from, const StepRow *there) {
    SeenRow row = {.joint = 0, .part = there->part};
    while (row.joint < from->joint_count && seen->joint[row.joint] != there->joint) {
        row.joint++;
    }
    ASSERT(row.joint < from->joint_count);
    row.sign = see_row(seen, from, &from->joint[row.joint], &row.part);
    return row;
}

static int compare_rows(const void *a, const void *b) {
    const JointMemory *x = a, *y = b;
    return x->joint != y->joint ? (x->joint > y->joint) - (x->joint < y->joint)
                                : (x->part > y->part) - (x->part < y->part);
}

void seen_recall_rows(const Seen *seen, const World *from, const Stepper *there, World *memory) {
    ASSERT(ARRAY_RESERVE(memory->joint_memory, memory->joint_memory_capacity, there->row_count));
    memory->joint_memory_count = 0;
    for (uint32_t i = 0; i < there->row_count; i++) {
        const SeenRow row = seen_row(seen, from, &there->row_key[i]);
        if (there->row_impulse[i] != 0.0) {
            memory->joint_memory[memory->joint_memory_count++] = (JointMemory){
                .joint = row.joint, .part = row.part, .impulse = row.sign * there->row_impulse[i]};
        }
    }
    if (memory->joint_memory_count > 0) {
        qsort(memory->joint_memory, memory->joint_memory_count, sizeof(JointMemory), compare_rows);
    }
}

// ---- all of it

bool seen_apply(const Seen *seen, Variant *variant, Dice *dice, Arena *arena) {
    World *world = variant->world;
    world->settings.gravity = seen_vector(seen, world->settings.gravity);
    see_bodies(seen, world);
    if (seen->sign < 0.0) {
        mirror_shapes(world);
    }
    const OtherWay way = {.size = 1.0,
                          .is_mirrored = seen->sign < 0.0,
                          .turn = seen->turn,
                          .dice = seen->is_ordered ? dice : NULL};
    const bool may_be = other_geometries(world, &way);
    for (size_t i = 0; i < world->joint_count; i++) {
        see_joint(seen, world, &world->joint[i]);
    }
    if (seen->is_ordered) {
        order_bodies(seen, world, arena);
        order_joints(seen, world, dice, arena);
        order_shapes(world, dice, arena);
    }
    variant_settle(variant);
    return may_be;
}
