// SPDX-License-Identifier: MIT
#include "collide/raycast.h"

#include "base/assert.h"

enum {
    TREE_RAYS = 12,                // from so many on a tree pays, of
    TREE_PRIMITIVES = 16,          // so many primitives
    LOOKS_BETWEEN_STOPS = 1 << 18, // at boxes or primitives: some milliseconds
};

// How much larger than the numbers say a box is: roundings of turning and adding. What is in it
// decides.
static const double box_slack = 1e-12;

typedef struct RayPlaced {
    Pose pose;
    Mat3 axes;
    uint32_t primitive; // in the world
    uint32_t body;
} RayPlaced;

static RayPlaced place(const World *world, uint32_t body, uint32_t primitive) {
    double numbers[7];
    world_body_pose(world, body, numbers);
    const Pose pose = pose_compose(pose_load(numbers), world->primitive[primitive].local);
    return (RayPlaced){pose, quat_to_mat3(pose.orientation), primitive, body};
}

static size_t count_all(const World *world) {
    size_t count = 0;
    for (uint32_t body = 0; body < world->body_count; body++) {
        const Shape *shape = world_body_shape(world, body);
        count += shape == NULL ? 0 : shape->primitive_count;
    }
    return count;
}

static void place_all(RayCast *cast) {
    const World *world = cast->world;
    const size_t count = count_all(world);
    cast->placed =
        count > UINT32_MAX ? NULL : arena_take_array(cast->scratch, count, sizeof(RayPlaced));
    if (cast->placed == NULL) {
        return;
    }
    cast->count = (uint32_t)count;
    uint32_t last = cast->count;
    for (uint32_t body = 0; body < world->body_count; body++) {
        const Shape *shape = world_body_shape(world, body);
        for (uint32_t k = 0; shape != NULL && k < shape->primitive_count; k++) {
            const uint32_t at = shape->primitive_first + k;
            const bool is_unbounded = primitive_is_unbounded(world->primitive[at].kind);
            cast->placed[is_unbounded ? --last : cast->bounded++] = place(world, body, at);
        }
    }
    ASSERT(last == cast->bounded);
}

static BroadBox box_of(const RayCast *cast, uint32_t at) {
    const RayPlaced *placed = &cast->placed[at];
    BroadBox box;
    primitive_bounds(&cast->world->primitive[placed->primitive], placed->pose, &box.lower,
                     &box.upper);
    const double size = fabs(placed->pose.position.x) + fabs(placed->pose.position.y) +
                        fabs(placed->pose.position.z) + vec3_norm(vec3_sub(box.upper, box.lower));
    const Vec3 slack = vec3(box_slack * size, box_slack * size, box_slack * size);
    return (BroadBox){vec3_sub(box.lower, slack), vec3_add(box.upper, slack)};
}

// The tree's items are named by their places in `placed`.
static void build_tree(RayCast *cast, const Stop *stop) {
    BoxItem *item = arena_take_array(cast->scratch, cast->bounded, sizeof(BoxItem));
    if (item == NULL) {
        return;
    }
    for (uint32_t i = 0; i < cast->bounded; i++) {
        item[i] = (BoxItem){.box = box_of(cast, i), .body = i};
    }
    Patience patience = {.stop = stop};
    if (!boxtree_build(&cast->tree, item, cast->bounded, cast->scratch, &patience)) {
        ASSERT(cast->tree.node_count == 0);
    }
}

void raycast_begin(RayCast *cast, const World *world, size_t rays, const Stop *stop,
                   Arena *scratch) {
    *cast = (RayCast){.world = world, .scratch = scratch, .mark = arena_mark(scratch)};
    place_all(cast);
    if (rays >= TREE_RAYS && cast->bounded >= TREE_PRIMITIVES) {
        build_tree(cast, stop);
    }
}

void raycast_end(RayCast *cast) {
    ASSERT(cast->scratch != NULL);
    boxtree_deinit(&cast->tree);
    arena_reset_to(cast->scratch, cast->mark);
    *cast = (RayCast){0};
}

// ---- one ray

typedef struct Slope {
    Vec3 origin, inverse; // of the way's coordinates; infinite where it has none
} Slope;

// No fmin and fmax, which ask for numbers that are none: of a way along a face 0 times infinity is,
// and the box, which is larger than what is in it, counts as missed.
static inline void meet_axis(double origin, double inverse, double lower, double upper, double *in,
                             double *out) {
    const double p = (lower - origin) * inverse, q = (upper - origin) * inverse;
    const double low = p < q ? p : q, high = p < q ? q : p;
    *in = low > *in ? low : *in;
    *out = high < *out ? high : *out;
}

// Where the ray comes into a box, of which the ray may see the first `reach`; infinite: not at all.
static double entry_of(const Slope *slope, const BroadBox *box, double reach) {
    double in = 0.0, out = reach;
    meet_axis(slope->origin.x, slope->inverse.x, box->lower.x, box->upper.x, &in, &out);
    meet_axis(slope->origin.y, slope->inverse.y, box->lower.y, box->upper.y, &in, &out);
    meet_axis(slope->origin.z, slope->inverse.z, box->lower.z, box->upper.z, &in, &out);
    return in <= out ? in : HUGE_VAL;
}

// Takes it where it is nearer, or as near and of a body or primitive that stands before.
static void look_at(const World *world, const RayPlaced *placed, const Ray *ray, RayHit *hit) {
    double fraction;
    Vec3 normal;
    if (placed->body == ray->unseen_body ||
        !ray_meets(ray, &world->primitive[placed->primitive], placed->pose.position, &placed->axes,
                   &fraction, &normal)) {
        return;
    }
    const uint32_t own = placed->primitive - world_body_shape(world, placed->body)->primitive_first;
    const bool is_nearer = hit->body == UINT32_MAX || fraction < hit->fraction;
    const bool is_before =
        hit->body != UINT32_MAX && fraction == hit->fraction &&
        (placed->body != hit->body ? placed->body < hit->body : own < hit->primitive);
    if (is_nearer || is_before) {
        *hit = (RayHit){placed->body, own, fraction,
                        vec3_add_scaled(ray->origin, fraction, ray->way), normal};
    }
}

static double reach_of(const RayHit *hit) {
    return hit->body == UINT32_MAX ? 1.0 : hit->fraction;
}

static void search_leaf(RayCast *cast, const Ray *ray, const Slope *slope, const BoxNode *leaf,
                        RayHit *hit) {
    for (uint32_t k = 0; k < leaf->leaf_count; k++) {
        const BoxItem *item = &cast->tree.item[leaf->first + k];
        if (entry_of(slope, &item->box, reach_of(hit)) < HUGE_VAL) {
            look_at(cast->world, &cast->placed[item->body], ray, hit);
        }
    }
    cast->looks += leaf->leaf_count;
}

// A node that waits, and where the ray comes into it.
typedef struct Waiting {
    double entry;
    uint32_t node;
} Waiting;

enum { WAITING_MAX = 256 }; // one for each level of the tree, whose depth is O(log n)

// The nearer child first, so that what it has spares the other.
static void search_tree(RayCast *cast, const Ray *ray, RayHit *hit) {
    const BoxNode *node = cast->tree.node;
    const Slope slope = {ray->origin, {1.0 / ray->way.x, 1.0 / ray->way.y, 1.0 / ray->way.z}};
    Waiting waiting[WAITING_MAX];
    uint32_t count = 0;
    waiting[count++] = (Waiting){entry_of(&slope, &node[0].box, 1.0), 0};
    while (count > 0) {
        const Waiting next = waiting[--count];
        if (!(next.entry <= reach_of(hit))) {
            continue;
        }
        const BoxNode *here = &node[next.node];
        if (here->leaf_count > 0) {
            search_leaf(cast, ray, &slope, here, hit);
            continue;
        }
        const double reach = reach_of(hit);
        const uint32_t left = next.node + 1, right = node[left].skip;
        Waiting near = {entry_of(&slope, &node[left].box, reach), left};
        Waiting far = {entry_of(&slope, &node[right].box, reach), right};
        if (far.entry < near.entry) {
            const Waiting held = near;
            near = far;
            far = held;
        }
        ASSERT(count + 2 <= WAITING_MAX);
        waiting[count] = far;
        count += far.entry < HUGE_VAL;
        waiting[count] = near;
        count += near.entry < HUGE_VAL;
        cast->looks += 2;
    }
}

static void look_at_world(RayCast *cast, const Ray *ray, RayHit *hit) {
    const World *world = cast->world;
    for (uint32_t body = 0; body < world->body_count; body++) {
        const Shape *shape = world_body_shape(world, body);
        for (uint32_t k = 0; shape != NULL && k < shape->primitive_count; k++) {
            const RayPlaced placed = place(world, body, shape->primitive_first + k);
            look_at(world, &placed, ray, hit);
            cast->looks++;
        }
    }
}

void raycast_ray(RayCast *cast, const Ray *ray, RayHit *hit) {
    ASSERT(vec3_dot(ray->way, ray->way) > 0.0);
    *hit = (RayHit){.body = UINT32_MAX};
    if (cast->placed == NULL) {
        look_at_world(cast, ray, hit);
        return;
    }
    uint32_t first = 0;
    if (cast->tree.node_count > 0) {
        search_tree(cast, ray, hit);
        first = cast->bounded;
    }
    for (uint32_t at = first; at < cast->count; at++) {
        look_at(cast->world, &cast->placed[at], ray, hit);
    }
    cast->looks += cast->count - first;
}

Status raycast_run(const World *world, const Ray *ray, size_t count, const Stop *stop,
                   Arena *scratch, RayHit *hit) {
    ASSERT(count == 0 || (ray != NULL && hit != NULL));
    RayCast cast;
    raycast_begin(&cast, world, count, stop, scratch);
    Status status = STATUS_OK;
    for (size_t i = 0; i < count && status == STATUS_OK; i++) {
        raycast_ray(&cast, &ray[i], &hit[i]);
        if (cast.looks >= LOOKS_BETWEEN_STOPS) {
            cast.looks = 0;
            status = stop_is_asked(stop) ? STATUS_ABORTED : STATUS_OK;
        }
    }
    raycast_end(&cast);
    return status;
}
