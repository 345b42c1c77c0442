// SPDX-License-Identifier: MIT
#include "world/tree_place.h"

#include "base/trig.h"

#include <string.h>

static Vec3 unit(uint32_t axis) {
    return vec3(axis == 0 ? 1.0 : 0.0, axis == 1 ? 1.0 : 0.0, axis == 2 ? 1.0 : 0.0);
}

static Quat conjugate(Quat q) {
    return (Quat){q.w, -q.x, -q.y, -q.z};
}

// Columns of a matrix by number.
static Vec3 column(const Mat3 *m, uint32_t axis) {
    return axis == 0 ? m->c0 : axis == 1 ? m->c1 : m->c2;
}

// One of the columns of a quaternion's matrix.
static Vec3 turned_axis(Quat q, uint32_t axis) {
    switch (axis) {
    case 0:
        return vec3(1.0 - 2.0 * (q.y * q.y + q.z * q.z), 2.0 * (q.x * q.y + q.w * q.z),
                    2.0 * (q.x * q.z - q.w * q.y));
    case 1:
        return vec3(2.0 * (q.x * q.y - q.w * q.z), 1.0 - 2.0 * (q.x * q.x + q.z * q.z),
                    2.0 * (q.y * q.z + q.w * q.x));
    default:
        return vec3(2.0 * (q.x * q.z + q.w * q.y), 2.0 * (q.y * q.z - q.w * q.x),
                    1.0 - 2.0 * (q.x * q.x + q.y * q.y));
    }
}

static bool needs_a(const TreeLink *link) {
    return link->moves > 0 || link->turns == 2;
}

// Axes of moves and of the first of two turns are fixed in a's frame, others in b's.
static void place_axes(const TreeLink *link, Quat a, Quat b, TreeFrame *frame) {
    if (tree_link_width(link) == 1) {
        frame->axis[0] = turned_axis(link->moves > 0 ? a : b, link->axis[0]);
        return;
    }
    const uint32_t moves = link->moves, count = tree_link_width(link);
    const Mat3 of_b = quat_to_mat3(b), of_a = needs_a(link) ? quat_to_mat3(a) : of_b;
    for (uint32_t k = 0; k < count; k++) {
        bool is_of_a = k < moves || (link->turns == 2 && k == moves);
        frame->axis[k] = column(is_of_a ? &of_a : &of_b, link->axis[k]);
    }
}

static void set_orientation(TreeFrame *frame, Quat orientation) {
    frame->orientation = orientation;
    frame->turn = quat_to_mat3(orientation);
}

// A root that floats is where its pose says.
static void place_floating(Pose pose, bool has_own_spin, TreeFrame *frame) {
    frame->center = frame->anchor = pose.position;
    frame->from = frame->arm = vec3(0.0, 0.0, 0.0);
    set_orientation(frame, pose.orientation);
    for (uint32_t k = 0; k < 3; k++) {
        frame->axis[k] = unit(k);
        frame->axis[k + 3] = has_own_spin ? column(&frame->turn, k) : unit(k);
    }
}

// What a link hangs on: another, or the base, of which `base` gets where it is.
static const TreeFrame *parent_of(const TreeView *view, const TreeLink *link,
                                  const TreeFrame *frame, TreeFrame *base) {
    if (link->parent != TREE_NONE) {
        return &frame[link->parent];
    }
    base->center = view->base.position;
    set_orientation(base, view->base.orientation);
    return base;
}

// a turned about one of its axes by an angle.
static Quat turned(Quat a, uint32_t axis, double angle) {
    const SinCos half = trig_sin_cos(0.5 * angle);
    const double c = half.cos, s = half.sin;
    return axis == 0
               ? (Quat){a.w * c - a.x * s, a.w * s + a.x * c, a.y * c + a.z * s, a.z * c - a.y * s}
           : axis == 1
               ? (Quat){a.w * c - a.y * s, a.x * c - a.z * s, a.w * s + a.y * c, a.z * c + a.x * s}
               : (Quat){a.w * c - a.z * s, a.x * c + a.y * s, a.y * c - a.x * s, a.w * s + a.z * c};
}

static void place_link(const TreeLink *link, const Joint *joint, const TreeFrame *parent,
                       const double *positions, TreeFrame *frame) {
    const Quat a = quat_mul(parent->orientation, joint->frame[0].orientation);
    Quat b;
    frame->from = mat3_mul_vec(parent->turn, joint->frame[0].position);
    if (link->moves == 0 && link->turns == 1) {
        b = turned(a, link->axis[0], positions[0]);
    } else {
        const Pose b_in_a = joint_transform(link->axes, positions);
        b = quat_mul(a, b_in_a.orientation);
        frame->from = vec3_add(frame->from, quat_rotate(a, b_in_a.position));
    }
    set_orientation(frame, quat_mul(b, conjugate(joint->frame[1].orientation)));
    frame->anchor = vec3_add(parent->center, frame->from);
    frame->arm = vec3_neg(mat3_mul_vec(frame->turn, joint->frame[1].position));
    frame->center = vec3_add(frame->anchor, frame->arm);
    place_axes(link, a, b, frame);
}

// The frame of link i; of those before it there are frames.
static void place_at(const TreeView *view, uint32_t i, const double *positions, TreeFrame *frame) {
    const TreeLink *link = &view->link[i];
    if (link->joint == TREE_NONE) {
        place_floating(pose_load(positions), view->has_own_spin, &frame[i]);
        return;
    }
    TreeFrame base;
    const TreeFrame *parent = parent_of(view, link, frame, &base);
    place_link(link, &view->joint[link->joint], parent, positions + link->place, &frame[i]);
}

void tree_place(const TreeView *view, const double *positions, TreeFrame *frame) {
    for (uint32_t i = 0; i < view->tree->link_count; i++) {
        place_at(view, i, positions, frame);
    }
}

static void recall_link(const TreeLink *link, const Joint *joint, Pose parent, Pose pose,
                        TreeFrame *frame) {
    const Quat a = needs_a(link) ? quat_mul(parent.orientation, joint->frame[0].orientation)
                                 : quat_identity(),
               b = quat_mul(pose.orientation, joint->frame[1].orientation);
    frame->center = pose.position;
    set_orientation(frame, pose.orientation);
    frame->arm = vec3_neg(mat3_mul_vec(frame->turn, joint->frame[1].position));
    frame->anchor = vec3_sub(pose.position, frame->arm);
    frame->from = vec3_sub(frame->anchor, parent.position);
    place_axes(link, a, b, frame);
}

void tree_recall(const TreeView *view, const double *poses, const double *velocities,
                 TreeFrame *frame) {
    for (uint32_t i = 0; i < view->tree->link_count; i++) {
        const TreeLink *link = &view->link[i];
        const Pose pose = pose_load(poses + 7 * (size_t)link->body);
        const double *velocity = velocities + 6 * (size_t)link->body;
        if (link->joint == TREE_NONE) {
            place_floating(pose, view->has_own_spin, &frame[i]);
        } else {
            const TreeFrame *above = &frame[link->parent == TREE_NONE ? 0 : link->parent];
            const Pose parent =
                link->parent == TREE_NONE ? view->base : (Pose){above->center, above->orientation};
            recall_link(link, &view->joint[link->joint], parent, pose, &frame[i]);
        }
        frame[i].velocity = vec3_load(velocity);
        frame[i].spin = vec3_load(velocity + 3);
    }
}

void tree_move(const TreeView *view, const double *velocities, TreeFrame *frame) {
    for (uint32_t i = 0; i < view->tree->link_count; i++) {
        const TreeLink *link = &view->link[i];
        const double *rate = velocities + link->first;
        TreeFrame *of = &frame[i];
        Vec3 velocity = vec3(0.0, 0.0, 0.0), spin = velocity; // of the anchor
        if (link->parent != TREE_NONE) {
            const TreeFrame *parent = &frame[link->parent];
            spin = parent->spin;
            velocity = tree_carried_velocity(parent->velocity, spin, of->from);
        } else if (link->joint != TREE_NONE) {
            spin = view->base_spin;
            velocity = tree_carried_velocity(view->base_velocity, spin, of->from);
        }
        for (uint32_t k = 0; k < link->moves; k++) {
            velocity = vec3_add_scaled(velocity, rate[k], of->axis[k]);
        }
        for (uint32_t k = link->moves; k < tree_link_width(link); k++) {
            spin = vec3_add_scaled(spin, rate[k], of->axis[k]);
        }
        of->spin = spin;
        of->velocity = tree_carried_velocity(velocity, spin, of->arm);
    }
}

// q turned by a spin in its own axes: the same rule, seen from the other side.
static Quat turn_own(Quat q, Vec3 spin, double time) {
    return conjugate(quat_turn(conjugate(q), vec3_neg(spin), time));
}

static void store_quat(double *packed, Quat q) {
    packed[0] = q.w;
    packed[1] = q.x;
    packed[2] = q.y;
    packed[3] = q.z;
}

void tree_advance(const TreeView *view, const double *positions, const double *velocities,
                  double time, double *moved) {
    for (uint32_t i = 0; i < view->tree->link_count; i++) {
        const TreeLink *link = &view->link[i];
        const double *rate = velocities + link->first, *from = positions + link->place;
        double *to = moved + link->place;
        const uint32_t plain = link->turns == 3 ? link->moves : tree_link_width(link);
        for (uint32_t k = 0; k < plain; k++) {
            to[k] = from[k] + time * rate[k];
        }
        if (link->turns == 3) {
            const double *packed = from + link->moves;
            const Quat q = {packed[0], packed[1], packed[2], packed[3]};
            const Vec3 spin = vec3_load(rate + link->moves);
            const bool is_world = link->joint == TREE_NONE && !view->has_own_spin;
            store_quat(to + link->moves,
                       is_world ? quat_turn(q, spin, time) : turn_own(q, spin, time));
        }
    }
}

// Of a joint that leaves all free: where its bodies are says where it is. Of a quaternion's two
// signs the one that is nearer to what it was.
static void measure_link(const Joint *joint, const TreeFrame *parent, Pose pose,
                         double *positions) {
    const Quat a = quat_mul(parent->orientation, joint->frame[0].orientation),
               b = quat_mul(pose.orientation, joint->frame[1].orientation);
    const Vec3 from = vec3_add(parent->center,
                               quat_rotate(parent->orientation, joint->frame[0].position)),
               to =
                   vec3_add(pose.position, quat_rotate(pose.orientation, joint->frame[1].position));
    const Quat q = quat_normalize(quat_mul(conjugate(a), b));
    const double *old = positions + 3;
    const double near = old[0] * q.w + old[1] * q.x + old[2] * q.y + old[3] * q.z;
    const double sign = near < 0.0 ? -1.0 : 1.0;
    vec3_store(positions, quat_rotate(conjugate(a), vec3_sub(to, from)));
    store_quat(positions + 3, (Quat){sign * q.w, sign * q.x, sign * q.y, sign * q.z});
}

void tree_scatter(const TreeView *there, const TreeFrame *old, double time, double *positions,
                  TreeFrame *frame) {
    for (uint32_t i = 0; i < there->tree->link_count; i++) {
        const TreeLink *link = &there->link[i];
        if (link->joint != TREE_NONE && tree_link_width(link) == JOINT_AXES_MAX) {
            TreeFrame base;
            const TreeFrame *parent = parent_of(there, link, frame, &base);
            const Pose pose = {vec3_add_scaled(old[i].center, time, old[i].velocity),
                               quat_turn(old[i].orientation, old[i].spin, time)};
            measure_link(&there->joint[link->joint], parent, pose, positions + link->place);
        }
        place_at(there, i, positions, frame);
    }
}

const double *tree_rotation_positions(const TreeLink *link, const double *positions,
                                      double *numbers) {
    memcpy(numbers, positions, link->moves * sizeof(double));
    const double *q = positions + link->moves;
    vec3_store(numbers + link->moves, joint_rotation_vector((Quat){q[0], q[1], q[2], q[3]}));
    return numbers;
}
