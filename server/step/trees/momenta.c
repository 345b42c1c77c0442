// SPDX-License-Identifier: MIT
// Momenta of a tree along its coordinates, and how its Lagrangian changes along them at constant
// rates: linear in links. Where a subtree with momentum P and angular momentum L about its anchor,
// which moves by v, is moved along an axis or turned about it, all that it moves with by itself
// goes along; what hangs it on, spinning by w, does not. So T changes by
//
//     P . (w x axis)                     per move
//     L . (w x axis) + P . (v x axis)    per radian
//
// with w what spins it before the axis is turned about: the second of two axes of a joint is b's.
#include "step/trees/tree.h"

#include "base/assert.h"

// What spins the k-th axis of a link by others' rates.
static Vec3 spin_before(const TreeLink *link, const TreeFrame *frame, Vec3 above, uint32_t k) {
    return link->turns == 2 && k == link->moves + 1u ? frame->spin : above;
}

static void hand_up(TreePair *to, const TreePair *of, Vec3 moment, Vec3 from) {
    to->linear = vec3_add(to->linear, of->linear);
    to->angular = vec3_add(to->angular, vec3_add(moment, vec3_cross(from, of->linear)));
}

// Along the axes of a link: of its subtree's momenta and of what pushes it.
static void add_link(const TreeLink *link, const TreeFrame *frame, Vec3 above,
                     const TreePair *momenta, const TreePair *push, double *momentum,
                     double *slope) {
    const Vec3 about = vec3_add(momenta->angular, vec3_cross(frame->arm, momenta->linear)),
               torque = vec3_add(push->angular, vec3_cross(frame->arm, push->linear)),
               anchor = vec3_sub(frame->velocity, vec3_cross(frame->spin, frame->arm));
    for (uint32_t k = 0; k < tree_link_width(link); k++) {
        const Vec3 axis = frame->axis[k], turned = vec3_cross(above, axis);
        const uint32_t at = link->first + k;
        if (k < link->moves) {
            momentum[at] = vec3_dot(axis, momenta->linear);
            slope[at] = vec3_dot(axis, push->linear) + vec3_dot(momenta->linear, turned);
            continue;
        }
        const Vec3 own = vec3_cross(spin_before(link, frame, above, k), axis);
        momentum[at] = vec3_dot(axis, about);
        slope[at] = vec3_dot(axis, torque) + vec3_dot(about, own) +
                    vec3_dot(momenta->linear, vec3_cross(anchor, axis));
    }
}

static void begin_links(const TreeView *view, Vec3 gravity, const double *wrenches,
                        TreeWork *work) {
    for (uint32_t i = 0; i < view->tree->link_count; i++) {
        const TreeInertia *own = &work->own[i];
        const TreeFrame *frame = &work->frame[i];
        work->load[i] = (TreePair){vec3_scale(own->mass, frame->velocity),
                                   sym3_mul_vec(own->inertia, frame->spin)};
        work->change[i] = (TreePair){vec3_scale(own->mass, gravity), {0.0, 0.0, 0.0}};
        if (wrenches != NULL) {
            const double *wrench = wrenches + 6 * (size_t)i;
            work->change[i].linear = vec3_add(work->change[i].linear, vec3_load(wrench));
            work->change[i].angular = vec3_load(wrench + 3);
        }
    }
}

void tree_momenta(const TreeView *view, Vec3 gravity, const double *wrenches, TreeWork *work,
                  double *momentum, double *slope) {
    ASSERT(view->tree->link_count > 0);
    ASSERT(momentum != slope);
    begin_links(view, gravity, wrenches, work);
    for (uint32_t i = view->tree->link_count; i-- > 0;) {
        const TreeLink *link = &view->link[i];
        const TreeFrame *frame = &work->frame[i];
        const TreePair *momenta = &work->load[i], *push = &work->change[i];
        const bool is_root = link->parent == TREE_NONE;
        const Vec3 none = {0.0, 0.0, 0.0};
        const Vec3 above = !is_root                   ? work->frame[link->parent].spin
                           : link->joint == TREE_NONE ? none
                                                      : view->base_spin;
        add_link(link, frame, above, momenta, push, momentum, slope);
        if (!is_root) {
            hand_up(&work->load[link->parent], momenta,
                    vec3_add(momenta->angular, vec3_cross(frame->arm, momenta->linear)),
                    frame->from);
            hand_up(&work->change[link->parent], push,
                    vec3_add(push->angular, vec3_cross(frame->arm, push->linear)), frame->from);
        }
    }
}
