// SPDX-License-Identifier: MIT
// The diagonal of the inverse of a tree's mass matrix, linear in links, from the factor that
// tree_factor left. From the root out, each link has its compliance Y: the motion that a force and
// a torque at its centre of mass give it, with all of the tree giving way. Seen from the child's
// centre Y is that of the child where none of its own velocity numbers move, and each of these, by
// its pivot with motion S, force U and inverse 1/d, adds to it:
//
//     (M^-1)_kk = 1/d + U.Y U/d^2,    Y := (1 - S U^T/d) Y (1 - U S^T/d) + S S^T/d
#include "step/trees/tree.h"

#include "base/assert.h"

// Y = [linear, across; across^T, angular] of forces and torques, as a TreeArticulated.
static TreePair give(const TreeArticulated *y, const TreePair *force) {
    return (TreePair){
        vec3_add(sym3_mul_vec(y->linear, force->linear), mat3_mul_vec(y->across, force->angular)),
        vec3_add(mat3_tmul_vec(y->across, force->linear), sym3_mul_vec(y->angular, force->angular)),
    };
}

static double pair_dot(const TreePair *a, const TreePair *b) {
    return vec3_dot(a->linear, b->linear) + vec3_dot(a->angular, b->angular);
}

// m += s u u^T - (u v^T + v u^T)
static void add_symmetric(Sym3 *m, double s, Vec3 u, Vec3 v) {
    m->xx += s * u.x * u.x - 2.0 * u.x * v.x;
    m->yy += s * u.y * u.y - 2.0 * u.y * v.y;
    m->zz += s * u.z * u.z - 2.0 * u.z * v.z;
    m->xy += s * u.x * u.y - (u.x * v.y + u.y * v.x);
    m->xz += s * u.x * u.z - (u.x * v.z + u.z * v.x);
    m->yz += s * u.y * u.z - (u.y * v.z + u.z * v.y);
}

// The velocity number moves too: with w = Y U/d that is s S S^T - S w^T - w S^T, s its mobility.
static void add_number(TreeArticulated *y, double s, const TreePair *motion, const TreePair *w) {
    const Vec3 a = motion->linear, b = motion->angular;
    add_symmetric(&y->linear, s, a, w->linear);
    add_symmetric(&y->angular, s, b, w->angular);
    const Vec3 left = vec3_sub(vec3_scale(s, a), w->linear);
    Vec3 *column[3] = {&y->across.c0, &y->across.c1, &y->across.c2};
    for (int k = 0; k < 3; k++) {
        *column[k] = vec3_add_scaled(*column[k], vec3_get(b, k), left);
        *column[k] = vec3_add_scaled(*column[k], -vec3_get(w->angular, k), a);
    }
}

static Vec3 column_of(const Sym3 *m, int axis) {
    ASSERT(axis >= 0 && axis < 3);
    return axis == 0   ? vec3(m->xx, m->xy, m->xz)
           : axis == 1 ? vec3(m->xy, m->yy, m->yz)
                       : vec3(m->xz, m->yz, m->zz);
}

// The parent's compliance at a point that it carries, `arm` away from its centre of mass.
static TreeArticulated carry(const TreeArticulated *y, Vec3 arm) {
    const Vec3 unit[3] = {{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}};
    const Vec3 across[3] = {y->across.c0, y->across.c1, y->across.c2};
    Vec3 shifted[3], linear[3];
    for (int k = 0; k < 3; k++) { // by torques
        shifted[k] = vec3_add(across[k], vec3_cross(column_of(&y->angular, k), arm));
    }
    for (int k = 0; k < 3; k++) { // by forces
        const Vec3 torque = vec3_cross(arm, unit[k]);
        const Vec3 moves = vec3_add(column_of(&y->linear, k), mat3_mul_vec(y->across, torque));
        const Vec3 turns =
            vec3_add(mat3_tmul_vec(y->across, unit[k]), sym3_mul_vec(y->angular, torque));
        linear[k] = vec3_add(moves, vec3_cross(turns, arm));
    }
    return (TreeArticulated){
        .linear = {linear[0].x, linear[1].y, linear[2].z, linear[1].x, linear[2].x, linear[2].y},
        .angular = y->angular,
        .across = {shifted[0], shifted[1], shifted[2]}};
}

void tree_mobility(const TreeView *view, TreeWork *work, double *mobility) {
    ASSERT(view->link[0].parent == TREE_NONE);
    TreeArticulated *of = work->articulated; // which the factor does not need any more
    for (uint32_t i = 0; i < view->tree->link_count; i++) {
        const TreeLink *link = &view->link[i];
        TreeArticulated y = {.linear = {0.0, 0.0, 0.0, 0.0, 0.0, 0.0}};
        if (link->parent != TREE_NONE) {
            y = carry(&of[link->parent],
                      vec3_sub(work->frame[i].center, work->frame[link->parent].center));
        }
        for (uint32_t k = 0; k < tree_link_width(link); k++) {
            const TreePivot *pivot = &work->pivot[link->first + k];
            TreePair w = give(&y, &pivot->force);
            w.linear = vec3_scale(pivot->inverse, w.linear);
            w.angular = vec3_scale(pivot->inverse, w.angular);
            const double own = pivot->inverse * (1.0 + pair_dot(&pivot->force, &w));
            mobility[link->first + k] = own;
            add_number(&y, own, &pivot->motion, &w);
        }
        of[i] = y;
    }
}
