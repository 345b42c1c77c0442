// SPDX-License-Identifier: MIT
#include "world/tree_place.h"

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

// Axes of moves and of the first of two turns are fixed in a's frame, others in b's.
static void place_axes(const TreeLink *link, Quat a, Quat b, TreeFrame *frame) {
    const uint32_t moves = link->moves, count = tree_link_width(link);
    const bool needs_a = moves > 0 || link->turns == 2;
    const Mat3 of_b = quat_to_mat3(b), of_a = needs_a ? quat_to_mat3(a) : of_b;
    for (uint32_t k = 0; k < count; k++) {
        bool is_of_a = k < moves || (link->turns == 2 && k == moves);
        frame->axis[k] = column(is_of_a ? &of_a : &of_b, link->axis[k]);
    }
}

// A root that floats is where its positions say.
static void place_floating(const double *positions, bool has_own_spin, TreeFrame *frame) {
    const Pose pose = pose_load(positions);
    frame->center = frame->anchor = pose.position;
    frame->orientation = pose.orientation;
    for (uint32_t k = 0; k < 6; k++) {
        frame->axis[k] = unit(k % 3);
    }
    if (has_own_spin) {
        const Mat3 own = quat_to_mat3(pose.orientation);
        for (uint32_t k = 3; k < 6; k++) {
            frame->axis[k] = column(&own, k - 3);
        }
    }
}

static void place_link(const TreeLink *link, const Joint *joint, Pose parent,
                       const double *positions, TreeFrame *frame) {
    const Pose a = pose_compose(parent, joint->frame[0]),
               b = pose_compose(a, joint_transform(link->axes, positions));
    frame->anchor = b.position;
    frame->orientation = quat_mul(b.orientation, conjugate(joint->frame[1].orientation));
    frame->center = vec3_sub(b.position, quat_rotate(frame->orientation, joint->frame[1].position));
    place_axes(link, a.orientation, b.orientation, frame);
}

void tree_place(const TreeView *view, const double *positions, TreeFrame *frame) {
    for (uint32_t i = 0; i < view->tree->link_count; i++) {
        const TreeLink *link = &view->link[i];
        if (link->joint == TREE_NONE) {
            place_floating(positions, view->has_own_spin, &frame[i]);
            continue;
        }
        const TreeFrame *above = &frame[link->parent == TREE_NONE ? 0 : link->parent];
        Pose parent =
            link->parent == TREE_NONE ? view->base : (Pose){above->center, above->orientation};
        place_link(link, &view->joint[link->joint], parent, positions + link->place, &frame[i]);
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
            velocity = tree_carried_velocity(parent->velocity, spin, parent->center, of->anchor);
        } else if (link->joint != TREE_NONE) {
            spin = view->base_spin;
            velocity =
                tree_carried_velocity(view->base_velocity, spin, view->base.position, of->anchor);
        }
        for (uint32_t k = 0; k < link->moves; k++) {
            velocity = vec3_add_scaled(velocity, rate[k], of->axis[k]);
        }
        for (uint32_t k = link->moves; k < tree_link_width(link); k++) {
            spin = vec3_add_scaled(spin, rate[k], of->axis[k]);
        }
        of->spin = spin;
        of->velocity = tree_carried_velocity(velocity, spin, of->anchor, of->center);
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

void tree_axis_positions(const TreeLink *link, const double *positions, double *numbers) {
    if (link->turns < 3) {
        memcpy(numbers, positions, tree_link_width(link) * sizeof(double));
        return;
    }
    memcpy(numbers, positions, link->moves * sizeof(double));
    const double *q = positions + link->moves;
    vec3_store(numbers + link->moves, joint_rotation_vector((Quat){q[0], q[1], q[2], q[3]}));
}
