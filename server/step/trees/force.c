// SPDX-License-Identifier: MIT
// What forces a motion of a tree takes (Newton and Euler, from the root out and back): the way from
// rates and their changes to forces, linear in links.
#include "step/trees/tree.h"

#include "base/assert.h"

// The acceleration of a point that a body carries along.
static inline Vec3 carried(const TreePair *change, Vec3 spin, Vec3 arm) {
    return vec3_add(vec3_add(change->linear, vec3_cross(change->angular, arm)),
                    vec3_cross(spin, vec3_cross(spin, arm)));
}

// How the axes that a link turns about, with their rates, change by being carried along: some by
// what it hangs on, which spins, some by itself.
static Vec3 carry_turns(const TreeLink *link, const TreeFrame *frame, const double *rate,
                        Vec3 spin) {
    const uint32_t first = link->moves;
    const Vec3 turn = vec3_scale(rate[first], frame->axis[first]);
    switch (link->turns) {
    case 1: // fixed in both
        return vec3_cross(spin, turn);
    case 2: // one in either
        return vec3_add(
            vec3_cross(spin, turn),
            vec3_cross(frame->spin, vec3_scale(rate[first + 1], frame->axis[first + 1])));
    default: { // b's
        Vec3 all = vec3_add_scaled(turn, rate[first + 1], frame->axis[first + 1]);
        return vec3_cross(frame->spin,
                          vec3_add_scaled(all, rate[first + 2], frame->axis[first + 2]));
    }
    }
}

// The link's acceleration, from that of what it hangs on, `above`, which spins.
static inline TreePair accelerate(const TreeLink *link, const TreeFrame *frame,
                                  const TreePair *above, Vec3 spin, const double *rate,
                                  const double *change) {
    TreePair of = {carried(above, spin, frame->from), above->angular};
    if (link->moves == 0 && link->turns == 1) { // most are hinges
        const Vec3 axis = frame->axis[0];
        of.angular = vec3_add(of.angular, vec3_cross(spin, vec3_scale(rate[0], axis)));
        of.angular = vec3_add_scaled(of.angular, change == NULL ? 0.0 : change[0], axis);
        of.linear = carried(&of, frame->spin, frame->arm);
        return of;
    }
    Vec3 sliding = vec3(0.0, 0.0, 0.0);
    for (uint32_t k = 0; k < link->moves; k++) {
        sliding = vec3_add_scaled(sliding, rate[k], frame->axis[k]);
    }
    if (link->moves > 0) {
        of.linear = vec3_add_scaled(of.linear, 2.0, vec3_cross(spin, sliding));
    }
    if (link->turns > 0) {
        of.angular = vec3_add(of.angular, carry_turns(link, frame, rate, spin));
    }
    for (uint32_t k = 0; change != NULL && k < tree_link_width(link); k++) {
        Vec3 *part = k < link->moves ? &of.linear : &of.angular;
        *part = vec3_add_scaled(*part, change[k], frame->axis[k]);
    }
    of.linear = carried(&of, frame->spin, frame->arm);
    return of;
}

// A root that floats hangs on nothing that could carry its axes; and turning with its own spin they
// do not change what that is.
static TreePair accelerate_floating(const TreeFrame *frame, const double *change) {
    TreePair of = {{0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}};
    for (uint32_t k = 0; change != NULL && k < 3; k++) {
        of.linear = vec3_add_scaled(of.linear, change[k], frame->axis[k]);
        of.angular = vec3_add_scaled(of.angular, change[k + 3], frame->axis[k + 3]);
    }
    return of;
}

void tree_accelerate(const TreeView *view, const double *rates, const double *changes,
                     TreeWork *work) {
    ASSERT(view->link[0].parent == TREE_NONE);
    const TreePair still = {{0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}};
    for (uint32_t i = 0; i < view->tree->link_count; i++) {
        const TreeLink *link = &view->link[i];
        const double *change = changes == NULL ? NULL : changes + link->first;
        if (link->joint == TREE_NONE) {
            work->change[i] = accelerate_floating(&work->frame[i], change);
            continue;
        }
        const bool is_root = link->parent == TREE_NONE;
        const TreeFrame *parent = &work->frame[is_root ? 0 : link->parent];
        work->change[i] =
            accelerate(link, &work->frame[i], is_root ? &still : &work->change[link->parent],
                       is_root ? view->base_spin : parent->spin, rates + link->first, change);
    }
}

// The force and torque that a link's acceleration takes, at its centre of mass.
static TreePair inertial(const TreeInertia *own, const TreeFrame *frame, const TreePair *change,
                         Vec3 gravity) {
    const Vec3 spin = frame->spin;
    return (TreePair){
        vec3_scale(own->mass, vec3_sub(change->linear, gravity)),
        vec3_add(sym3_mul_vec(own->inertia, change->angular),
                 vec3_cross(spin, sym3_mul_vec(own->inertia, spin))),
    };
}

void tree_project(const TreeView *view, TreeWork *work, double *along) {
    TreePair *load = work->load;
    for (uint32_t i = view->tree->link_count; i-- > 0;) {
        const TreeLink *link = &view->link[i];
        const TreeFrame *frame = &work->frame[i];
        const Vec3 force = load[i].linear,
                   moment = vec3_add(load[i].angular, vec3_cross(frame->arm, force));
        double *number = along + link->first;
        for (uint32_t k = 0; k < link->moves; k++) {
            number[k] = vec3_dot(frame->axis[k], force);
        }
        for (uint32_t k = link->moves; k < tree_link_width(link); k++) {
            number[k] = vec3_dot(frame->axis[k], moment);
        }
        if (link->parent != TREE_NONE) {
            TreePair *above = &load[link->parent];
            above->linear = vec3_add(above->linear, force);
            above->angular =
                vec3_add(above->angular, vec3_add(moment, vec3_cross(frame->from, force)));
        }
    }
}

// The spin of a link by its own rates, on what it hangs on.
static inline Vec3 spin_of(const TreeLink *link, const TreeFrame *frame, Vec3 above,
                           const double *rate) {
    for (uint32_t k = link->moves; k < tree_link_width(link); k++) {
        above = vec3_add_scaled(above, rate[k], frame->axis[k]);
    }
    return above;
}

void tree_forces(const TreeView *view, const TreeMotion *motion, Vec3 gravity,
                 const double *wrenches, TreeWork *work, double *forces) {
    ASSERT(view->tree->link_count > 0);
    ASSERT(view->link[0].parent == TREE_NONE);
    const TreePair still = {{0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}};
    for (uint32_t i = 0; i < view->tree->link_count; i++) {
        const TreeLink *link = &view->link[i];
        TreeFrame *frame = &work->frame[i];
        TreePair *change = &work->change[i], *load = &work->load[i];
        const double *rate = motion->rates + link->first,
                     *changes = motion->changes == NULL ? NULL : motion->changes + link->first;
        if (link->joint == TREE_NONE) {
            frame->spin = spin_of(link, frame, vec3(0.0, 0.0, 0.0), rate);
            *change = accelerate_floating(frame, changes);
        } else {
            const bool is_root = link->parent == TREE_NONE;
            const TreeFrame *parent = &work->frame[is_root ? 0 : link->parent];
            const Vec3 above = is_root ? view->base_spin : parent->spin;
            frame->spin = spin_of(link, frame, above, rate);
            *change = accelerate(link, frame, is_root ? &still : &work->change[link->parent], above,
                                 rate, changes);
        }
        *load = inertial(&work->own[i], frame, change, gravity);
        if (wrenches != NULL) {
            load->linear = vec3_sub(load->linear, vec3_load(wrenches + 6 * (size_t)i));
            load->angular = vec3_sub(load->angular, vec3_load(wrenches + 6 * (size_t)i + 3));
        }
    }
    tree_project(view, work, forces);
}
