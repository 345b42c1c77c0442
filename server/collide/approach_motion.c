// SPDX-License-Identifier: MIT
// How fast two bodies that turn can come together is asked of what they are at the end. A plane
// that goes with one of them is always in the same place to it; how near the other comes to that
// is, but for the bend of its points' ways, a concave function of time, as it is the least of many
// that are nearly straight, and stays above its chord. That knows better than closing_speed, which
// has all points of a body as far out as the farthest, by an order of magnitude.
#include "collide/approach_motion.h"

#include "base/assert.h"

// the longest arc of less than half a turn, in its chords
#define ARC_MAX 1.5707963267948966

double manifold_lowest(const Manifold *manifold) {
    ASSERT(manifold->count > 0 && manifold->count <= MANIFOLD_ROOM);
    double lowest = manifold->point[0].gap;
    for (uint32_t i = 1; i < manifold->count; i++) {
        lowest = manifold->point[i].gap < lowest ? manifold->point[i].gap : lowest;
    }
    return lowest;
}

Vec3 manifold_surface_point(const Manifold *manifold, double side) {
    ASSERT(side == 1.0 || side == -1.0);
    ASSERT(manifold->count > 0);
    const ManifoldPoint *lowest = &manifold->point[0];
    for (uint32_t i = 1; i < manifold->count; i++) {
        lowest = manifold->point[i].gap < lowest->gap ? &manifold->point[i] : lowest;
    }
    return vec3_add_scaled(lowest->position, 0.5 * side * lowest->gap, manifold->normal);
}

// ---- what it is read from

// A sphere turns in itself, and so do the ends of a capsule.
static double arm_length(const Mover *mover) {
    double offset = vec3_norm(vec3_sub(mover->pose->position, mover->center));
    return offset + primitive_rows[mover->primitive->kind].arm(mover->primitive);
}

// Most bodies are balls about their own centres: of these no spin moves the surface.
static bool is_turned_by_spin(const Mover *mover) {
    Vec3 at = mover->pose->position, center = mover->center;
    return mover->primitive->kind != PRIMITIVE_PLANE &&
           (mover->primitive->kind != PRIMITIVE_SPHERE || at.x != center.x || at.y != center.y ||
            at.z != center.z);
}

static bool is_zero(Vec3 v) {
    return v.x == 0.0 && v.y == 0.0 && v.z == 0.0;
}

static Pose pose_at(const Motion *motion, int side, double time) {
    ASSERT(side == 0 || side == 1);
    const MotionSide *of = &motion->side[side];
    return of->is_still                                ? of->rest
           : motion->turns && time == motion->duration ? of->last
                                                       : approach_pose(of->mover, time);
}

static Convex read_at(const MotionSide *side, const Pose *pose, Vec3 origin) {
    if (side->is_unbounded) {
        return (Convex){.center = vec3_sub(pose->position, origin),
                        .axes = quat_to_mat3(pose->orientation)};
    }
    return convex_read(side->mover->primitive, pose, origin);
}

// How fast one centre goes beside the other, and how far away it is at most.
typedef struct Apart {
    double speed, far;
} Apart;

static Apart apart(const Motion *motion) {
    const Mover *a = motion->side[0].mover, *b = motion->side[1].mover;
    const double speed = vec3_norm(vec3_sub(b->velocity, a->velocity));
    return (Apart){speed, vec3_norm(vec3_sub(b->center, a->center)) + speed * motion->duration};
}

// What bends the way of a side's points, in a frame that turns so fast about the other's centre.
static double bend_seen(const Motion *motion, const MotionSide *side, double turn) {
    const double both = turn + side->spin;
    if (turn == 0.0) { // a plane has its place anywhere
        return side->spin * side->spin * side->arm;
    }
    const Apart of = apart(motion);
    return both * both * side->arm + turn * (turn * of.far + 2.0 * of.speed);
}

static void read_side(const Mover *mover, MotionSide *side) {
    side->mover = mover;
    side->is_unbounded = primitive_is_unbounded(mover->primitive->kind);
    side->is_still = is_zero(mover->velocity) && is_zero(mover->spin);
    side->rest = side->is_still ? approach_pose(mover, 0.0) : *mover->pose;
    const bool turns = is_turned_by_spin(mover) && !is_zero(mover->spin);
    side->spin = turns ? vec3_norm(mover->spin) : 0.0;
    side->arm = side->is_unbounded ? 0.0 : arm_length(mover);
}

void motion_read(const Mover *a, const Mover *b, const Approach *approach, Motion *motion) {
    ASSERT(approach->duration > 0.0 && approach->reach >= 0.0);
    motion->duration = approach->duration;
    motion->reach = 2.0 * approach->reach;
    read_side(a, &motion->side[0]);
    read_side(b, &motion->side[1]);
    motion->turns = motion->side[0].spin > 0.0 || motion->side[1].spin > 0.0;
    motion->size = fmin(primitive_length(a->primitive), primitive_length(b->primitive));
    motion->speed = vec3_norm(vec3_sub(b->velocity, a->velocity)) +
                    motion->side[0].arm * motion->side[0].spin +
                    motion->side[1].arm * motion->side[1].spin;
}

void motion_read_ends(Motion *motion) {
    const Vec3 origin = motion->side[0].mover->center;
    for (int i = 0; i < 2; i++) {
        MotionSide *side = &motion->side[i];
        side->last = side->is_still ? side->rest : approach_pose(side->mover, motion->duration);
        side->end = read_at(side, &side->last, origin);
        side->bend = bend_seen(motion, &motion->side[1 - i], side->spin);
    }
}

void motion_read_begin(Motion *motion) {
    ASSERT(motion->turns);
    const Vec3 origin = motion->side[0].mover->center;
    for (int i = 0; i < 2; i++) {
        MotionSide *side = &motion->side[i];
        side->begin = read_at(side, side->mover->pose, origin);
    }
}

static double spin_speed(const MotionSide *side, Vec3 n) {
    if (side->spin == 0.0) {
        return 0.0;
    }
    return side->arm * vec3_norm(vec3_cross(n, side->mover->spin));
}

double motion_closing_speed(const Motion *motion, Vec3 n) {
    const MotionSide *a = &motion->side[0], *b = &motion->side[1];
    return vec3_dot(n, vec3_sub(a->mover->velocity, b->mover->velocity)) + spin_speed(a, n) +
           spin_speed(b, n);
}

// ---- moments

bool motion_at(const Motion *motion, double time, Moment *moment) {
    ASSERT(time >= 0.0 && time <= motion->duration);
    const MotionSide *a = &motion->side[0], *b = &motion->side[1];
    const Pose pose_a = pose_at(motion, 0, time), pose_b = pose_at(motion, 1, time);
    moment->time = time;
    narrow_collide_at(a->mover->primitive, &pose_a, b->mover->primitive, &pose_b, motion->reach,
                      &moment->manifold);
    moment->gap = moment->manifold.count > 0 ? manifold_lowest(&moment->manifold) : HUGE_VAL;
    return moment->manifold.count > 0;
}

// A plane that goes with a side, in its axes: out of that, and a place on it.
typedef struct Carried {
    Vec3 outward, place;
} Carried;

static Carried carry(const Moment *moment, int side, const Pose *pose) {
    ASSERT(side == 0 || side == 1);
    const Manifold *manifold = &moment->manifold;
    const Vec3 n = side == 0 ? manifold->normal : vec3_neg(manifold->normal);
    const Vec3 on_surface = manifold_surface_point(manifold, side == 0 ? -1.0 : 1.0);
    const Mat3 axes = quat_to_mat3(pose->orientation);
    return (Carried){mat3_tmul_vec(axes, n),
                     mat3_tmul_vec(axes, vec3_sub(on_surface, pose->position))};
}

// How far the other stays off it, both being there.
static double stand_off(const Carried *plane, const Convex *there, const Convex *other) {
    const Vec3 outward = mat3_mul_vec(there->axes, plane->outward);
    const Vec3 place = vec3_add(there->center, mat3_mul_vec(there->axes, plane->place));
    const Vec3 nearest = convex_support(other, vec3_neg(outward)).position;
    return vec3_dot(outward, vec3_sub(nearest, place)) - other->radius;
}

static Outlook look_straight(const Motion *motion, const Moment *moment) {
    const Vec3 n = moment->manifold.normal;
    const Vec3 opening = vec3_sub(motion->side[1].mover->velocity, motion->side[0].mover->velocity);
    return (Outlook){.speed = motion_closing_speed(motion, n),
                     .was_apart = !(moment->gap < moment->time * vec3_dot(n, opening))};
}

Outlook motion_outlook(const Motion *motion, const Moment *moment) {
    ASSERT(moment->manifold.count > 0 && moment->time < motion->duration);
    if (!motion->turns) {
        return look_straight(motion, moment);
    }
    const double left = motion->duration - moment->time;
    Outlook outlook = {.speed = motion_closing_speed(motion, moment->manifold.normal),
                       .was_apart = moment->time == 0.0};
    for (int i = 0; i < 2; i++) {
        const MotionSide *side = &motion->side[i], *other = &motion->side[1 - i];
        if (other->is_unbounded) {
            continue;
        }
        const Pose pose =
            moment->time > 0.0 ? pose_at(motion, i, moment->time) : *side->mover->pose;
        const Carried plane = carry(moment, i, &pose);
        const double then = stand_off(&plane, &side->end, &other->end);
        const double speed = (moment->gap - then) / left + 0.5 * side->bend * left;
        outlook.speed = speed < outlook.speed ? speed : outlook.speed;
        outlook.was_apart =
            outlook.was_apart || stand_off(&plane, &side->begin, &other->begin) >= 0.0;
    }
    return outlook;
}

// How far it parts them is a concave function of time in a frame that turns as the plane does, but
// for what bends the points' ways there: more than its chord less a parabola.
bool motion_passes(const Motion *motion, const Moment *now, const Moment *later) {
    if (!(now->gap > 0.0 && later->gap > 0.0)) {
        return false;
    }
    const MotionSide *a = &motion->side[0], *b = &motion->side[1];
    const double left = later->time - now->time;
    const bool has_plane = a->is_unbounded || b->is_unbounded; // whose normal it is, then
    const double way = vec3_norm(vec3_sub(later->manifold.normal, now->manifold.normal));
    const double turn = has_plane ? 0.0 : ARC_MAX * way / left;
    const double own = (turn + a->spin) * (turn + a->spin) * a->arm; // about its centre
    const double bend = own + bend_seen(motion, b, turn);
    return sqrt(now->gap) + sqrt(later->gap) >= sqrt(0.5 * bend) * left;
}
