// SPDX-License-Identifier: MIT
#include "collide/approach.h"

#include "base/assert.h"
#include "collide/approach_motion.h"

// Grazes halve the time in question in every round; all else takes two to six.
enum { ROUND_MAX = 40 };

// Of moments that are looked at between the begin and the end, and how often a time is halved: few
// that pass take more than three.
enum { LOOK_MAX = 8, HALVES_MAX = 5 };

// of the smaller primitive: a gap that counts as touching; how far bodies may move before they
// touch and still count as touching now; and how far, and surely not have gone through each other.
// Bodies that rest have gaps of some noise, and the plane of now must do for them.
static const double touch_part = 1e-8;
static const double near_part = 1e-5;
static const double short_part = 0.2;

// Of two that are apart at one moment and overlap at a later one, which is not far, that between at
// which they touch. Regula falsi; an end that is kept twice counts for half (Illinois).
static void close_in(const Motion *motion, Moment *now, const Moment *later) {
    ASSERT(now->gap > 0.0 && later->gap < 0.0);
    const double touch = touch_part * motion->size;
    double before = now->time, gap = now->gap, after = later->time, depth = -later->gap;
    int kept = 0; // the sign of the end that was, 0: none
    for (int round = 0; round < ROUND_MAX && now->gap > touch; round++) {
        Moment there;
        if (!motion_at(motion, before + (after - before) * (gap / (gap + depth)), &there)) {
            return;
        }
        if (there.gap >= -touch) {
            *now = there;
            before = there.time;
            gap = there.gap;
            depth *= kept == 1 ? 0.5 : 1.0;
            kept = 1;
        } else {
            after = there.time;
            depth = -there.gap;
            gap *= kept == -1 ? 0.5 : 1.0;
            kept = -1;
        }
    }
}

static Vec3 velocity_at(const Mover *mover, Vec3 point) {
    return vec3_add(mover->velocity, vec3_cross(mover->spin, vec3_sub(point, mover->center)));
}

// Whether a contact with the plane of now would push, though nothing else does.
static bool pushes(const Motion *motion, const Manifold *manifold) {
    const Mover *a = motion->side[0].mover, *b = motion->side[1].mover;
    bool is_any = false;
    for (uint32_t i = 0; i < manifold->count; i++) {
        const ManifoldPoint *point = &manifold->point[i];
        const Vec3 v = vec3_sub(velocity_at(b, point->position), velocity_at(a, point->position));
        is_any = is_any || point->gap + motion->duration * vec3_dot(manifold->normal, v) < 0.0;
    }
    return is_any;
}

// What is known of a motion from one moment to a later one.
typedef enum Way { WAY_PASSES, WAY_MEETS, WAY_UNSURE } Way;

// Asks for shorter times, one after the other, until in each a plane that turns parts the two; a
// moment at which they overlap is the later one then.
static Way look_between(const Motion *motion, const Moment *now, Moment *later) {
    Moment from = *now, ahead[HALVES_MAX + 1]; // the next one last
    uint32_t last = 0;
    ahead[0] = *later;
    for (uint32_t looks = 0;;) {
        if (motion_passes(motion, &from, &ahead[last])) {
            if (last == 0) {
                return WAY_PASSES;
            }
            from = ahead[last--];
            continue;
        }
        const double middle = 0.5 * (from.time + ahead[last].time);
        if (last == HALVES_MAX || looks++ == LOOK_MAX ||
            !motion_at(motion, middle, &ahead[last + 1])) {
            return WAY_UNSURE;
        }
        last++;
        if (ahead[last].gap < 0.0) {
            *later = ahead[last];
            return WAY_MEETS;
        }
    }
}

// What the end of a motion says: when they touch, or that they pass, at the plane of now if that
// lets them. false: neither is sure.
static bool ask_end(const Motion *motion, Moment *now) {
    Moment end;
    if (!motion_at(motion, motion->duration, &end)) {
        return false;
    }
    const Way way = end.gap < 0.0 ? WAY_MEETS : look_between(motion, now, &end);
    if (way == WAY_MEETS && motion->speed * end.time <= short_part * motion->size) {
        close_in(motion, now, &end);
        return true;
    }
    if (way != WAY_PASSES) {
        return false;
    }
    if (pushes(motion, &now->manifold)) {
        *now = end;
    }
    return true;
}

// Moves the two from now on, the first time by `time`, until they touch or are known to pass. They
// pass at a plane that parts them from the start to the end of the motion. Newton's method may step
// over the time at which they are closest, to where the plane would have cut them in the beginning:
// then that time lies between this one and the one before.
static double advance(const Motion *motion, double time, Manifold *manifold) {
    ASSERT(time > 0.0 && time < motion->duration);
    const double touch = touch_part * motion->size, near = near_part * motion->size;
    double before = 0.0, after = motion->duration;
    Moment now = {.time = 0.0, .gap = HUGE_VAL};
    for (int round = 0; round < ROUND_MAX; round++) {
        Moment there;
        if (!motion_at(motion, time, &there)) {
            break;
        }
        now = there;
        if (now.gap <= touch || (motion->turns && (after - before) * motion->speed <= near)) {
            break;
        }
        const Outlook outlook = motion_outlook(motion, &now);
        if (now.gap < (motion->duration - time) * outlook.speed) {
            before = time;
            time += now.gap / outlook.speed;
            time = time < after ? time : 0.5 * (before + after);
        } else if (!outlook.was_apart) {
            after = time;
            time = 0.5 * (before + after);
        } else {
            break;
        }
        if (!(time > before && time < after)) {
            break; // no number lies between: they meet now, to rounding
        }
    }
    if (now.time > 0.0) {
        *manifold = now.manifold;
    }
    return now.time;
}

double approach_find(const Mover *a, const Mover *b, const Approach *approach, Manifold *manifold) {
    ASSERT(manifold->count > 0 && manifold->count <= MANIFOLD_POINT_MAX);
    ASSERT(approach->duration > 0.0 && approach->reach >= 0.0);
    // most pairs touch, or do not come so far in this step
    double gap = manifold_lowest(manifold);
    if (gap <= 0.0) {
        return 0.0;
    }
    Motion motion;
    motion_read(a, b, approach, &motion);
    double speed = motion_closing_speed(&motion, manifold->normal);
    if (!(gap < motion.duration * speed) || gap * motion.speed <= near_part * motion.size * speed) {
        return 0.0;
    }
    if (motion.turns) {
        motion_read_ends(&motion);
        Moment now = {.time = 0.0, .gap = gap, .manifold = *manifold};
        speed = motion_outlook(&motion, &now).speed;
        if (gap < motion.duration * speed && ask_end(&motion, &now)) {
            *manifold = now.manifold;
            return now.time;
        }
    }
    if (!(gap < motion.duration * speed)) {
        return 0.0;
    }
    if (motion.turns) {
        motion_read_begin(&motion);
    }
    const double first = gap / speed; // which rounds, maybe to the end of the motion, or to none
    return first > 0.0 && first < motion.duration ? advance(&motion, first, manifold) : 0.0;
}

// Half the largest ball in a body: where the corners do hold a box, the ball has nothing to bear.
// Over the plane of the other side; `side` is from its centre to that.
static ManifoldPoint inner_ball(const Mover *mover, double side, double time,
                                const Manifold *manifold) {
    const double radius = 0.5 * primitive_thickness(mover->primitive);
    const Vec3 center = primitive_center(mover->primitive, approach_pose(mover, time));
    const Vec3 on_plane = manifold_surface_point(manifold, side);
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
