// SPDX-License-Identifier: MIT
// What forces a motion of a tree takes (Newton and Euler, from the root out and back): the way from
// rates and their changes to forces, linear in links.
#include "step/tree.h"

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

// The link's acceleration, from that of what it hangs on: `above` at `center`, spinning.
static inline TreePair accelerate(const TreeLink *link, const TreeFrame *frame,
                                  const TreePair *above, Vec3 center, Vec3 spin, const double *rate,
                                  const double *change) {
    TreePair of = {carried(above, spin, vec3_sub(frame->anchor, center)), above->angular};
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
    of.linear = carried(&of, frame->spin, vec3_sub(frame->center, frame->anchor));
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
                       is_root ? view->base.position : parent->center,
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
        const Vec3 arm = vec3_sub(frame->center, frame->anchor),
                   moment = vec3_add(load[i].angular, vec3_cross(arm, load[i].linear));
        for (uint32_t k = 0; k < tree_link_width(link); k++) {
            along[link->first + k] =
                vec3_dot(frame->axis[k], k < link->moves ? load[i].linear : moment);
        }
        if (link->parent != TREE_NONE) {
            TreePair *above = &load[link->parent];
            const Vec3 from = vec3_sub(frame->center, work->frame[link->parent].center);
            above->linear = vec3_add(above->linear, load[i].linear);
            above->angular = vec3_add(vec3_add(above->angular, load[i].angular),
                                      vec3_cross(from, load[i].linear));
        }
    }
}

void tree_forces(const TreeView *view, Vec3 gravity, const double *wrenches, TreeWork *work,
                 double *forces) {
    TreePair *load = work->load;
    for (uint32_t i = 0; i < view->tree->link_count; i++) {
        load[i] = inertial(&work->own[i], &work->frame[i], &work->change[i], gravity);
        if (wrenches != NULL) {
            load[i].linear = vec3_sub(load[i].linear, vec3_load(wrenches + 6 * (size_t)i));
            load[i].angular = vec3_sub(load[i].angular, vec3_load(wrenches + 6 * (size_t)i + 3));
        }
    }
    tree_project(view, work, forces);
}
