// SPDX-License-Identifier: MIT
// The inverse of a tree's mass matrix by articulated bodies, linear in links. From the leaves on,
// each velocity number is eliminated, as if the bodies between the axes of a joint had no mass:
//
//     U = I S,   d = S.U + added,   I := I - U U^T / d
//
// with I the articulated inertia at the link's centre of mass; what is left is handed on to the
// parent. It is the factor L D L^T of the matrix, of which nothing but a path to the root is there.
#include "step/trees/tree.h"

#include "base/assert.h"

#include <string.h>

static TreePair multiply(const TreeArticulated *m, const TreePair *motion) {
    return (TreePair){
        vec3_add(sym3_mul_vec(m->linear, motion->linear), mat3_mul_vec(m->across, motion->angular)),
        vec3_add(mat3_tmul_vec(m->across, motion->linear),
                 sym3_mul_vec(m->angular, motion->angular))};
}

static double pair_dot(const TreePair *a, const TreePair *b) {
    return vec3_dot(a->linear, b->linear) + vec3_dot(a->angular, b->angular);
}

static void subtract_square(Sym3 *m, double s, Vec3 u) {
    const Vec3 t = vec3_scale(s, u);
    m->xx -= t.x * u.x;
    m->yy -= t.y * u.y;
    m->zz -= t.z * u.z;
    m->xy -= t.x * u.y;
    m->xz -= t.x * u.z;
    m->yz -= t.y * u.z;
}

static void give_way(TreeArticulated *m, const TreePair *force, double inverse) {
    subtract_square(&m->linear, inverse, force->linear);
    subtract_square(&m->angular, inverse, force->angular);
    const Vec3 t = vec3_scale(inverse, force->angular), u = force->linear;
    m->across.c0 = vec3_add_scaled(m->across.c0, -t.x, u);
    m->across.c1 = vec3_add_scaled(m->across.c1, -t.y, u);
    m->across.c2 = vec3_add_scaled(m->across.c2, -t.z, u);
}

// L (arm x e), of each unit vector e: what is nothing is left out.
static Mat3 push_turned(const Sym3 *l, Vec3 arm) {
    const double x = arm.x, y = arm.y, z = arm.z;
    return (Mat3){
        vec3(l->xy * z - l->xz * y, l->yy * z - l->yz * y, l->yz * z - l->zz * y),
        vec3(l->xz * x - l->xx * z, l->yz * x - l->xy * z, l->zz * x - l->xz * z),
        vec3(l->xx * y - l->xy * x, l->xy * y - l->yy * x, l->xz * y - l->yz * x),
    };
}

// Adds a child's inertia to its parent's, at whose centre of mass it is seen; `arm` leads from
// there to the child's, and what the parent's turn moves the child by is left to the parent.
static void hand_on(TreeArticulated *parent, const TreeArticulated *child, Vec3 arm) {
    const Mat3 pushed = push_turned(&child->linear, arm), *across = &child->across;
    const Vec3 shifted[3] = {vec3_sub(across->c0, pushed.c0), vec3_sub(across->c1, pushed.c1),
                             vec3_sub(across->c2, pushed.c2)};
    const double x = arm.x, y = arm.y, z = arm.z;
    Sym3 *linear = &parent->linear, *about = &parent->angular;
    const Sym3 *own = &child->angular;
    linear->xx += child->linear.xx;
    linear->yy += child->linear.yy;
    linear->zz += child->linear.zz;
    linear->xy += child->linear.xy;
    linear->xz += child->linear.xz;
    linear->yz += child->linear.yz;
    parent->across.c0 = vec3_add(parent->across.c0, shifted[0]);
    parent->across.c1 = vec3_add(parent->across.c1, shifted[1]);
    parent->across.c2 = vec3_add(parent->across.c2, shifted[2]);
    // child->angular - across^T (arm x e) + arm x shifted, of each unit vector e
    about->xx +=
        (own->xx - (across->c0.y * z - across->c0.z * y)) + (y * shifted[0].z - z * shifted[0].y);
    about->yy +=
        (own->yy - (across->c1.z * x - across->c1.x * z)) + (z * shifted[1].x - x * shifted[1].z);
    about->zz +=
        (own->zz - (across->c2.x * y - across->c2.y * x)) + (x * shifted[2].y - y * shifted[2].x);
    about->xy +=
        (own->xy - (across->c0.z * x - across->c0.x * z)) + (y * shifted[1].z - z * shifted[1].y);
    about->xz +=
        (own->xz - (across->c0.x * y - across->c0.y * x)) + (y * shifted[2].z - z * shifted[2].y);
    about->yz +=
        (own->yz - (across->c1.x * y - across->c1.y * x)) + (z * shifted[2].x - x * shifted[2].z);
}

void tree_factor(const TreeView *view, const double *added, TreeWork *work) {
    ASSERT(view->link[0].parent == TREE_NONE);
    const uint32_t count = view->tree->link_count;
    TreeArticulated *of = work->articulated;
    for (uint32_t i = 0; i < count; i++) {
        const double mass = work->own[i].mass;
        of[i] = (TreeArticulated){.linear = {mass, mass, mass, 0.0, 0.0, 0.0},
                                  .angular = work->own[i].inertia};
    }
    for (uint32_t i = count; i-- > 0;) {
        const TreeLink *link = &view->link[i];
        for (uint32_t k = tree_link_width(link); k-- > 0;) {
            TreePivot *pivot = &work->pivot[link->first + k];
            pivot->motion = tree_motion(link, &work->frame[i], k);
            pivot->force = multiply(&of[i], &pivot->motion);
            double d = pair_dot(&pivot->motion, &pivot->force);
            pivot->inverse = 1.0 / (added == NULL ? d : d + added[link->first + k]);
            give_way(&of[i], &pivot->force, pivot->inverse);
        }
        if (link->parent != TREE_NONE) {
            hand_on(&of[link->parent], &of[i],
                    vec3_sub(work->frame[i].center, work->frame[link->parent].center));
        }
    }
}

void tree_solve(const TreeView *view, TreeWork *work, double *numbers) {
    ASSERT(view->tree->link_count > 0);
    const uint32_t count = view->tree->link_count;
    TreePair *load = work->load, *change = work->change;
    memset(load, 0, count * sizeof(TreePair));
    for (uint32_t i = count; i-- > 0;) {
        const TreeLink *link = &view->link[i];
        for (uint32_t k = tree_link_width(link); k-- > 0;) {
            const TreePivot *pivot = &work->pivot[link->first + k];
            double *number = &numbers[link->first + k];
            *number = (*number - pair_dot(&pivot->motion, &load[i])) * pivot->inverse;
            load[i].linear = vec3_add_scaled(load[i].linear, *number, pivot->force.linear);
            load[i].angular = vec3_add_scaled(load[i].angular, *number, pivot->force.angular);
        }
        if (link->parent != TREE_NONE) {
            TreePair *above = &load[link->parent];
            const Vec3 arm = vec3_sub(work->frame[i].center, work->frame[link->parent].center);
            above->linear = vec3_add(above->linear, load[i].linear);
            above->angular = vec3_add(vec3_add(above->angular, load[i].angular),
                                      vec3_cross(arm, load[i].linear));
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        const TreeLink *link = &view->link[i];
        TreePair of = {{0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}};
        if (link->parent != TREE_NONE) {
            const TreePair *above = &change[link->parent];
            const Vec3 arm = vec3_sub(work->frame[i].center, work->frame[link->parent].center);
            of.linear = vec3_add(above->linear, vec3_cross(above->angular, arm));
            of.angular = above->angular;
        }
        for (uint32_t k = 0; k < tree_link_width(link); k++) {
            const TreePivot *pivot = &work->pivot[link->first + k];
            double *number = &numbers[link->first + k];
            *number -= pivot->inverse * pair_dot(&pivot->force, &of);
            of.linear = vec3_add_scaled(of.linear, *number, pivot->motion.linear);
            of.angular = vec3_add_scaled(of.angular, *number, pivot->motion.angular);
        }
        change[i] = of;
    }
}
