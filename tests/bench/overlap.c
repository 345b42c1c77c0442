// SPDX-License-Identifier: MIT
#include "bench/overlap.h"

#include "collide/narrow.h"

#include <math.h>
#include <stdlib.h>

// A primitive where its body is, and the interval that it covers along x.
typedef struct Placed {
    const Primitive *primitive;
    Pose pose;
    Vec3 lower, upper;
    uint32_t body;
    bool is_static;
} Placed;

static int compare_lower(const void *a, const void *b) {
    double x = ((const Placed *)a)->lower.x, y = ((const Placed *)b)->lower.x;
    return (x > y) - (x < y);
}

static size_t place(const World *world, const double *pose, Placed *placed) {
    size_t count = 0;
    for (uint32_t i = 0; i < world->body_count; i++) {
        const Shape *shape = world_body_shape(world, i);
        for (uint32_t k = 0; shape != NULL && k < shape->primitive_count; k++) {
            Placed *p = &placed[count++];
            p->primitive = &world->primitive[shape->primitive_first + k];
            p->pose = pose_compose(pose_load(pose + 7 * (size_t)i), p->primitive->local);
            primitive_bounds(p->primitive, p->pose, &p->lower, &p->upper);
            p->body = i;
            p->is_static = world->kind[i] == BODY_STATIC;
        }
    }
    qsort(placed, count, sizeof(*placed), compare_lower);
    return count;
}

static bool may_touch(const Placed *a, const Placed *b) {
    return !(a->is_static && b->is_static) && a->body != b->body && a->lower.y <= b->upper.y &&
           b->lower.y <= a->upper.y && a->lower.z <= b->upper.z && b->lower.z <= a->upper.z;
}

static void add_pair(const Placed *a, const Placed *b, Overlap *overlap) {
    Manifold manifold = {.count = 0};
    narrow_collide(a->primitive, a->pose, b->primitive, b->pose, 0.0, &manifold);
    for (uint32_t i = 0; i < manifold.count; i++) {
        double depth = -manifold.point[i].gap;
        overlap->sum += depth;
        overlap->touching += 1.0;
        overlap->deepest = fmax(overlap->deepest, depth);
    }
}

bool overlap_add(const World *world, const double *pose, Arena *scratch, Overlap *overlap) {
    size_t capacity = 0;
    for (uint32_t i = 0; i < world->body_count; i++) {
        const Shape *shape = world_body_shape(world, i);
        capacity += shape == NULL ? 0 : shape->primitive_count;
    }
    ArenaMark mark = arena_mark(scratch);
    Placed *placed = arena_take_array(scratch, capacity, sizeof(*placed));
    if (placed == NULL) {
        return false;
    }
    size_t count = place(world, pose, placed);
    for (size_t i = 0; i < count; i++) {
        for (size_t k = i + 1; k < count && placed[k].lower.x <= placed[i].upper.x; k++) {
            if (may_touch(&placed[i], &placed[k])) {
                add_pair(&placed[i], &placed[k], overlap);
            }
        }
    }
    arena_reset_to(scratch, mark);
    return true;
}
