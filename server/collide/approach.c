// SPDX-License-Identifier: MIT
#include "collide/approach.h"

#include "base/assert.h"

// A graze at a curved surface halves its gap in every round; all else takes two to six.
enum { ROUND_MAX = 40 };

// of the smaller primitive: a gap that counts as touching, and how far bodies may move before they
// touch and still count as touching now. Bodies that rest have gaps of some noise, and the plane of
// now must do for them.
static const double touch_part = 1e-8;
static const double near_part = 1e-5;

// The farthest that a point which matters for the distance is from the body's centre of mass: a
// sphere turns in itself, and so do the ends of a capsule.
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

static double spin_speed(const Mover *mover, Vec3 across) {
    double squared = vec3_dot(across, across);
    return squared > 0.0 && is_turned_by_spin(mover) ? arm_length(mover) * sqrt(squared) : 0.0;
}

// How fast the gap along n can close at most, now and later.
static double closing_speed(const Mover *a, const Mover *b, Vec3 n) {
    return vec3_dot(n, vec3_sub(a->velocity, b->velocity)) + spin_speed(a, vec3_cross(n, a->spin)) +
           spin_speed(b, vec3_cross(n, b->spin));
}

Pose approach_pose(const Mover *mover, double time) {
    Vec3 offset = vec3_sub(mover->pose->position, mover->center);
    Quat turn = quat_turn(quat_identity(), mover->spin, time);
    Vec3 center = vec3_add_scaled(mover->center, time, mover->velocity);
    return (Pose){vec3_add(center, quat_rotate(turn, offset)),
                  quat_mul(turn, mover->pose->orientation)};
}

static double lowest_gap(const Manifold *manifold) {
    ASSERT(manifold->count > 0 && manifold->count <= MANIFOLD_ROOM);
    double lowest = manifold->point[0].gap;
    for (uint32_t i = 1; i < manifold->count; i++) {
        lowest = manifold->point[i].gap < lowest ? manifold->point[i].gap : lowest;
    }
    return lowest;
}

// Where the lowest point of a manifold lies on the surface of one side.
static Vec3 surface_point(const Manifold *manifold, double side) {
    ASSERT(side == 1.0 || side == -1.0);
    ASSERT(manifold->count > 0);
    const ManifoldPoint *lowest = &manifold->point[0];
    for (uint32_t i = 1; i < manifold->count; i++) {
        lowest = manifold->point[i].gap < lowest->gap ? &manifold->point[i] : lowest;
    }
    return vec3_add_scaled(lowest->position, 0.5 * side * lowest->gap, manifold->normal);
}

static bool is_zero(Vec3 v) {
    return v.x == 0.0 && v.y == 0.0 && v.z == 0.0;
}

// Then it is at the same pose at all times.
static bool is_still(const Mover *mover) {
    return is_zero(mover->velocity) && is_zero(mover->spin);
}

// Moves the two from now on, the first time by `time`, until they touch or are known to pass. They
// pass at a plane that parts them from the start to the end of the motion. Newton's method may step
// over the time at which they are closest, to where the plane would have cut them in the beginning:
// then that time lies between this one and the one before.
static double advance(const Mover *a, const Mover *b, const Approach *approach, double time,
                      double touch, Manifold *manifold) {
    ASSERT(time > 0.0 && time < approach->duration);
    ASSERT(touch >= 0.0);
    double reached = 0.0, before = 0.0, after = approach->duration;
    const bool moves_a = !is_still(a), moves_b = !is_still(b);
    Pose pose_a = approach_pose(a, time), pose_b = approach_pose(b, time);
    for (int round = 0; round < ROUND_MAX; round++) {
        if (round > 0) {
            pose_a = moves_a ? approach_pose(a, time) : pose_a;
            pose_b = moves_b ? approach_pose(b, time) : pose_b;
        }
        Manifold there;
        narrow_collide_at(a->primitive, &pose_a, b->primitive, &pose_b, 2.0 * approach->reach,
                          &there);
        if (there.count == 0) {
            break; // numbers so large that rounding has lost the two
        }
        *manifold = there;
        reached = time;
        double gap = lowest_gap(manifold);
        double opening = vec3_dot(manifold->normal, vec3_sub(b->velocity, a->velocity));
        double speed = closing_speed(a, b, manifold->normal);
        if (gap <= touch) {
            break;
        }
        if (gap < time * opening) {
            after = time;
            time = 0.5 * (before + after);
        } else if (gap < (approach->duration - time) * speed) {
            before = time;
            time = time + gap / speed < after ? time + gap / speed : 0.5 * (before + after);
        } else {
            break;
        }
    }
    return reached;
}

double approach_find(const Mover *a, const Mover *b, const Approach *approach, Manifold *manifold) {
    ASSERT(manifold->count > 0 && manifold->count <= MANIFOLD_POINT_MAX);
    ASSERT(approach->duration > 0.0 && approach->reach >= 0.0);
    // most pairs touch, or do not come so far in this step
    double gap = lowest_gap(manifold);
    if (gap <= 0.0) {
        return 0.0;
    }
    double speed = closing_speed(a, b, manifold->normal);
    if (!(gap < approach->duration * speed)) {
        return 0.0;
    }
    double size = fmin(primitive_length(a->primitive), primitive_length(b->primitive));
    double motion = vec3_norm(vec3_sub(b->velocity, a->velocity)) + spin_speed(a, a->spin) +
                    spin_speed(b, b->spin);
    if (gap * motion <= near_part * size * speed) {
        return 0.0;
    }
    return advance(a, b, approach, gap / speed, touch_part * size, manifold);
}

// Half the largest ball in a body: where the corners do hold a box, the ball has nothing to bear.
// Over the plane of the other side; `side` is from its centre to that.
static ManifoldPoint inner_ball(const Mover *mover, double side, double time,
                                const Manifold *manifold) {
    const double radius = 0.5 * primitive_thickness(mover->primitive);
    const Vec3 center = primitive_center(mover->primitive, approach_pose(mover, time));
    const Vec3 on_plane = surface_point(manifold, side);
    const double gap = side * vec3_dot(manifold->normal, vec3_sub(on_plane, center)) - radius;
    return (ManifoldPoint){
        .position = vec3_add_scaled(center, side * (radius + 0.5 * gap), manifold->normal),
        .gap = gap,
        .feature = APPROACH_INNER_BALL};
}

static bool is_ball(const Mover *mover) {
    return mover->primitive->kind == PRIMITIVE_SPHERE;
}

// Boxes, capsules and planes that move far: the ball inside the smaller body; of two of one size
// the one that is nearer to the plane, so that it is not a matter of who is named first.
void approach_add_inner_ball(const Mover *a, const Mover *b, double motion, double time,
                             Manifold *manifold) {
    ASSERT(manifold->count > 0 && manifold->count < MANIFOLD_ROOM);
    ASSERT(time >= 0.0);
    const bool has_plane[2] = {primitive_is_unbounded(a->primitive->kind),
                               primitive_is_unbounded(b->primitive->kind)};
    const double size_a = primitive_span(a->primitive), size_b = primitive_span(b->primitive);
    const bool is_a = has_plane[1] || (!has_plane[0] && size_a <= size_b);
    const bool is_either = !has_plane[0] && !has_plane[1] && size_a == size_b;
    if (is_ball(a) || is_ball(b) ||
        motion <= 0.5 * primitive_thickness((is_a ? a : b)->primitive)) {
        return;
    }
    ManifoldPoint point = inner_ball(is_a ? a : b, is_a ? 1.0 : -1.0, time, manifold);
    if (is_either) {
        const ManifoldPoint other = inner_ball(b, -1.0, time, manifold);
        point = other.gap < point.gap ? other : point;
    }
    manifold->point[manifold->count++] = point;
}
