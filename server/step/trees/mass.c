// SPDX-License-Identifier: MIT
// The mass matrix of a tree, by composite rigid bodies: what a velocity number of a link asks of
// its whole subtree, as if that were one body, is felt by the numbers of the link and of all that
// it hangs on.
#include "step/trees/tree.h"

#include "base/assert.h"

#include <string.h>

size_t tree_work_bytes(const Tree *tree) {
    return tree->link_count * (sizeof(TreeFrame) + 2 * sizeof(TreeInertia) + 2 * sizeof(TreePair) +
                               sizeof(TreeArticulated)) +
           tree->width * sizeof(TreePivot);
}

static void *take(unsigned char **at, size_t count, size_t size) {
    unsigned char *part = *at;
    *at += count * size;
    return part;
}

void tree_work_take(TreeWork *work, const Tree *tree, unsigned char *at) {
    const size_t links = tree->link_count;
    work->frame = take(&at, links, sizeof(TreeFrame));
    work->own = take(&at, links, sizeof(TreeInertia));
    work->composite = take(&at, links, sizeof(TreeInertia));
    work->change = take(&at, links, sizeof(TreePair));
    work->load = take(&at, links, sizeof(TreePair));
    work->articulated = take(&at, links, sizeof(TreeArticulated));
    work->pivot = take(&at, tree->width, sizeof(TreePivot));
}

void tree_weigh(const TreeView *view, const BodyMass *mass, TreeWork *work) {
    ASSERT(view->tree->link_count > 0);
    for (uint32_t i = 0; i < view->tree->link_count; i++) {
        const TreeFrame *frame = &work->frame[i];
        const BodyMass *of = &mass[view->link[i].body];
        work->own[i] = (TreeInertia){.mass = of->mass,
                                     .center = frame->center,
                                     .inertia = tree_body_inertia(of, &frame->turn)};
    }
}

static Sym3 sum(Sym3 a, Sym3 b) {
    return (Sym3){a.xx + b.xx, a.yy + b.yy, a.zz + b.zz, a.xy + b.xy, a.xz + b.xz, a.yz + b.yz};
}

// Two bodies as one: about the common centre each has its distance from the other to turn with,
// m = m_a m_b / (m_a + m_b) at d, and nothing is subtracted.
static TreeInertia join(const TreeInertia *a, const TreeInertia *b) {
    const double mass = a->mass + b->mass, share = b->mass / mass, reduced = a->mass * share;
    const Vec3 d = vec3_sub(b->center, a->center);
    const Sym3 apart = {reduced * (d.y * d.y + d.z * d.z),
                        reduced * (d.x * d.x + d.z * d.z),
                        reduced * (d.x * d.x + d.y * d.y),
                        -reduced * d.x * d.y,
                        -reduced * d.x * d.z,
                        -reduced * d.y * d.z};
    return (TreeInertia){.mass = mass,
                         .center = vec3_add_scaled(a->center, share, d),
                         .inertia = sum(sum(a->inertia, b->inertia), apart)};
}

// What all that link i hangs on feels of a momentum of its subtree, at `center`.
static void project(const TreeView *view, const TreeWork *work, uint32_t i, TreePair momentum,
                    Vec3 center, double *row) {
    for (uint32_t at = view->link[i].parent; at != TREE_NONE; at = view->link[at].parent) {
        const TreeLink *link = &view->link[at];
        const TreeFrame *frame = &work->frame[at];
        const uint32_t moves = link->moves, count = tree_link_width(link);
        double *of = row + link->first;
        const Vec3 moment = vec3_add(momentum.angular,
                                     vec3_cross(vec3_sub(center, frame->anchor), momentum.linear));
        for (uint32_t k = 0; k < moves; k++) {
            of[k] = vec3_dot(frame->axis[k], momentum.linear);
        }
        for (uint32_t k = moves; k < count; k++) {
            of[k] = vec3_dot(frame->axis[k], moment);
        }
    }
}

// The rows of a link, up to the diagonal.
static void fill_rows(const TreeView *view, const TreeWork *work, uint32_t i, double *matrix) {
    ASSERT(i < view->tree->link_count);
    const size_t width = view->tree->width;
    const TreeLink *link = &view->link[i];
    const TreeFrame *frame = &work->frame[i];
    const TreeInertia *all = &work->composite[i];
    const Vec3 arm = vec3_sub(all->center, frame->anchor);
    for (uint32_t k = 0; k < tree_link_width(link); k++) {
        double *row = matrix + (link->first + k) * width, *own = row + link->first;
        const Vec3 axis = frame->axis[k];
        TreePair momentum = {vec3_scale(all->mass, axis), {0.0, 0.0, 0.0}};
        if (k >= link->moves) {
            momentum.linear = vec3_scale(all->mass, vec3_cross(axis, arm));
            momentum.angular = sym3_mul_vec(all->inertia, axis);
        }
        const Vec3 moment = vec3_add(momentum.angular, vec3_cross(arm, momentum.linear));
        for (uint32_t j = 0; j <= k; j++) {
            own[j] = vec3_dot(frame->axis[j], j < link->moves ? momentum.linear : moment);
        }
        project(view, work, i, momentum, all->center, row);
    }
}

void tree_mass_matrix(const TreeView *view, const double *added, TreeWork *work, double *matrix) {
    const Tree *tree = view->tree;
    const size_t width = tree->width;
    memset(matrix, 0, width * width * sizeof(double));
    memcpy(work->composite, work->own, tree->link_count * sizeof(TreeInertia));
    for (uint32_t i = tree->link_count; i-- > 0;) {
        const uint32_t parent = view->link[i].parent;
        fill_rows(view, work, i, matrix);
        if (parent != TREE_NONE) {
            work->composite[parent] = join(&work->composite[parent], &work->composite[i]);
        }
    }
    for (size_t k = 0; k < width; k++) {
        double *row = matrix + k * width;
        row[k] += added == NULL ? 0.0 : added[k];
        for (size_t j = 0; j < k; j++) {
            matrix[j * width + k] = row[j];
        }
    }
}

double tree_extent(const TreeView *view, const TreeFrame *frame, const BodyMass *mass) {
    double extent = 0.0;
    for (uint32_t i = 0; i < view->tree->link_count; i++) {
        const BodyMass *of = &mass[view->link[i].body];
        const double size = tree_point_size(frame[i].center) + tree_point_size(frame[i].from) +
                            tree_point_size(frame[i].arm) + body_gyration_radius(of);
        extent = size > extent ? size : extent;
    }
    return extent;
}

void tree_jacobian(const TreeView *view, const TreeFrame *frame, uint32_t link, Vec3 point,
                   double size, const Vec3 direction[3], double sign, double *jacobian) {
    ASSERT(link < view->tree->link_count);
    ASSERT(link < view->tree->link_count);
    const size_t width = view->tree->width;
    for (uint32_t at = link; at != TREE_NONE; at = view->link[at].parent) {
        const TreeLink *of = &view->link[at];
        const Vec3 arm = vec3_sub(point, frame[at].anchor);
        for (uint32_t k = 0; k < tree_link_width(of); k++) {
            const bool is_move = k < of->moves;
            const Vec3 axis = frame[at].axis[k], motion = is_move ? axis : vec3_cross(axis, arm);
            for (size_t row = 0; row < 3; row++) {
                double *number = jacobian + row * width + of->first + k;
                const double part = sign * vec3_dot(direction[row], motion);
                *number = tree_add(*number, part, is_move ? 1.0 : size);
            }
        }
    }
}

double tree_kinetic_energy(const TreeView *view, const BodyMass *mass, const TreeFrame *frame) {
    double twice = 0.0;
    for (uint32_t i = 0; i < view->tree->link_count; i++) {
        const BodyMass *of = &mass[view->link[i].body];
        const Vec3 v = frame[i].velocity, w = frame[i].spin;
        const Vec3 own = of->is_round ? w : mat3_tmul_vec(frame[i].turn, w); // in the body's axes
        const double thick = of->is_round ? 0.0 : of->thickening;
        twice += of->mass * vec3_dot(v, v) + vec3_dot(own, sym3_mul_vec(of->inertia, own)) +
                 thick * vec3_dot(w, w);
    }
    return 0.5 * twice;
}
