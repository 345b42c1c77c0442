// SPDX-License-Identifier: MIT
// The tree of boxes over a mesh's triangles: built once, then asked what is near, and what a ray
// meets. Boxes are split at the middle of the triangles' middles along the longest side, or, where
// that is lopsided, by their numbers' halves: depth is O(log n) either way.
#include "base/assert.h"
#include "geometry/mesh_parts.h"

#include <math.h>

enum { LOPSIDED = 8 }; // one side has less than one part of so many

typedef struct Box {
    Vec3 low, high;
} Box;

static Box triangle_box(const Mesh *mesh, uint32_t triangle) {
    const Vec3 a = mesh_corner(mesh, triangle, 0), b = mesh_corner(mesh, triangle, 1),
               c = mesh_corner(mesh, triangle, 2);
    return (Box){vec3_min(a, vec3_min(b, c)), vec3_max(a, vec3_max(b, c))};
}

static float round_down(double x) {
    const float near = (float)x;
    return (double)near > x ? nextafterf(near, -HUGE_VALF) : near;
}

static float round_up(double x) {
    return -round_down(-x);
}

static double middle_of(const Mesh *mesh, uint32_t triangle, int axis) {
    const Box box = triangle_box(mesh, triangle);
    return 0.5 * (vec3_get(box.low, axis) + vec3_get(box.high, axis));
}

// ---- building

// Puts those whose middle is below `at` first; how many they are.
static uint32_t part(const Mesh *mesh, uint32_t *order, uint32_t count, int axis, double at) {
    uint32_t low = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (middle_of(mesh, order[i], axis) < at) {
            const uint32_t moved = order[low];
            order[low++] = order[i];
            order[i] = moved;
        }
    }
    return low;
}

static uint32_t split(const Mesh *mesh, uint32_t *order, uint32_t count) {
    ASSERT(count > MESH_LEAF_MAX);
    Vec3 low = vec3(HUGE_VAL, HUGE_VAL, HUGE_VAL), high = vec3_neg(low);
    for (uint32_t i = 0; i < count; i++) {
        const Vec3 middle = vec3(middle_of(mesh, order[i], 0), middle_of(mesh, order[i], 1),
                                 middle_of(mesh, order[i], 2));
        low = vec3_min(low, middle);
        high = vec3_max(high, middle);
    }
    const Vec3 side = vec3_sub(high, low);
    const int axis = side.x >= side.y && side.x >= side.z ? 0 : side.y >= side.z ? 1 : 2;
    const uint32_t left =
        part(mesh, order, count, axis, 0.5 * (vec3_get(low, axis) + vec3_get(high, axis)));
    return left < count / LOPSIDED || count - left < count / LOPSIDED || left == 0 || left == count
               ? count / 2
               : left;
}

static void add_node(MeshDraft *draft, uint32_t first, uint32_t count) {
    Mesh *mesh = draft->mesh;
    const uint32_t at = mesh->node_count++;
    Box box = triangle_box(mesh, draft->order[first]);
    for (uint32_t i = 1; i < count; i++) {
        const Box other = triangle_box(mesh, draft->order[first + i]);
        box.low = vec3_min(box.low, other.low);
        box.high = vec3_max(box.high, other.high);
    }
    const bool is_leaf = count <= MESH_LEAF_MAX;
    draft->node[at] = (MeshNode){.first = first, .count = is_leaf ? count : 0};
    for (int axis = 0; axis < 3; axis++) {
        draft->node[at].low[axis] = round_down(vec3_get(box.low, axis));
        draft->node[at].high[axis] = round_up(vec3_get(box.high, axis));
    }
    if (!is_leaf) {
        const uint32_t left = split(mesh, draft->order + first, count);
        add_node(draft, first, left);
        add_node(draft, first + left, count - left);
    }
    draft->node[at].skip = mesh->node_count;
}

void mesh_build_tree(MeshDraft *draft) {
    Mesh *mesh = draft->mesh;
    for (uint32_t i = 0; i < mesh->triangle_count; i++) {
        draft->order[i] = i;
    }
    mesh->node_count = 0;
    add_node(draft, 0, mesh->triangle_count);
    ASSERT(mesh->node_count <= mesh_nodes_max(mesh->triangle_count));
}

// ---- what is near

static bool meets(const MeshNode *node, const Box *box) {
    return (node->low[0] <= box->high.x) & (box->low.x <= node->high[0]) &
           (node->low[1] <= box->high.y) & (box->low.y <= node->high[1]) &
           (node->low[2] <= box->high.z) & (box->low.z <= node->high[2]);
}

static bool triangle_meets(const Mesh *mesh, uint32_t triangle, const Box *box) {
    const Box own = triangle_box(mesh, triangle);
    return (own.low.x <= box->high.x) & (box->low.x <= own.high.x) & (own.low.y <= box->high.y) &
           (box->low.y <= own.high.y) & (own.low.z <= box->high.z) & (box->low.z <= own.high.z);
}

// The smallest that there is room for, the largest of them on top.
typedef struct Keys {
    uint64_t *key;
    uint32_t count, count_max;
} Keys;

static void sink(Keys *keys, uint32_t at) {
    for (uint32_t child = 2 * at + 1; child < keys->count; at = child, child = 2 * at + 1) {
        child += child + 1 < keys->count && keys->key[child + 1] > keys->key[child] ? 1 : 0;
        if (keys->key[at] >= keys->key[child]) {
            return;
        }
        const uint64_t moved = keys->key[at];
        keys->key[at] = keys->key[child];
        keys->key[child] = moved;
    }
}

static void offer(Keys *keys, uint64_t key) {
    ASSERT(keys->count <= keys->count_max);
    if (keys->count < keys->count_max) {
        uint32_t at = keys->count++;
        for (; at > 0 && keys->key[(at - 1) / 2] < key; at = (at - 1) / 2) {
            keys->key[at] = keys->key[(at - 1) / 2];
        }
        keys->key[at] = key;
    } else if (key < keys->key[0]) {
        keys->key[0] = key;
        sink(keys, 0);
    }
}

static uint32_t sort(Keys *keys) {
    const uint32_t count = keys->count;
    while (keys->count > 1) {
        const uint64_t last = keys->key[0];
        keys->key[0] = keys->key[--keys->count];
        keys->key[keys->count] = last;
        sink(keys, 0);
    }
    return count;
}

uint32_t mesh_near(const Mesh *mesh, Vec3 low, Vec3 high, uint64_t after, bool is_first,
                   uint64_t *key, uint32_t count_max) {
    ASSERT(count_max > 0);
    const Box box = {low, high};
    Keys keys = {.key = key, .count_max = count_max};
    for (uint32_t at = 0; at < mesh->node_count;) {
        const MeshNode *node = &mesh->node[at];
        if (!meets(node, &box)) {
            at = node->skip;
            continue;
        }
        for (uint32_t i = 0; i < node->count; i++) {
            const uint32_t triangle = mesh->order[node->first + i];
            const uint64_t own = (uint64_t)mesh->face[triangle] << 32 | triangle;
            if ((is_first || own > after) && triangle_meets(mesh, triangle, &box)) {
                offer(&keys, own);
            }
        }
        at++;
    }
    return sort(&keys);
}

// ---- rays

typedef struct Way {
    Vec3 origin, way, inverse;
} Way;

// Of a way in the plane of a side 0 times infinity is no number, and the box counts as met: corners
// of triangles may lie in that plane, as those of a height field do.
static void pass_axis(double origin, double inverse, double low, double high, double *in,
                      double *out) {
    const double p = (low - origin) * inverse, q = (high - origin) * inverse;
    if (isnan(p) || isnan(q)) {
        return;
    }
    const double near = p < q ? p : q, far = p < q ? q : p;
    *in = near > *in ? near : *in;
    *out = far < *out ? far : *out;
}

static bool passes(const MeshNode *node, const Way *way, double reach) {
    static const double slack = 1e-12; // roundings of the fractions, and more
    double in = 0.0, out = reach;
    pass_axis(way->origin.x, way->inverse.x, node->low[0], node->high[0], &in, &out);
    pass_axis(way->origin.y, way->inverse.y, node->low[1], node->high[1], &in, &out);
    pass_axis(way->origin.z, way->inverse.z, node->low[2], node->high[2], &in, &out);
    return in <= out + slack * (1.0 + fabs(out));
}

// The way's side of an edge, as six times a volume: of the neighbour it is the same but for the
// sign, to the bit, so that no ray goes between the two.
static double side_of(Vec3 way, Vec3 a, Vec3 b) {
    return vec3_dot(way, vec3_cross(a, b));
}

static bool meets_triangle(const Mesh *mesh, uint32_t triangle, const Way *way, double *fraction) {
    const Vec3 a = vec3_sub(mesh_corner(mesh, triangle, 0), way->origin);
    const Vec3 b = vec3_sub(mesh_corner(mesh, triangle, 1), way->origin);
    const Vec3 c = vec3_sub(mesh_corner(mesh, triangle, 2), way->origin);
    const double ab = side_of(way->way, a, b), bc = side_of(way->way, b, c),
                 ca = side_of(way->way, c, a);
    const bool is_before = ab <= 0.0 && bc <= 0.0 && ca <= 0.0;
    const bool is_behind = ab >= 0.0 && bc >= 0.0 && ca >= 0.0;
    if (!(is_before || (is_behind && mesh->is_two_sided))) {
        return false;
    }
    const Vec3 normal = mesh_normal(mesh, triangle);
    const double fall = vec3_dot(normal, way->way);
    if (fall == 0.0 || (!mesh->is_two_sided && fall > 0.0)) {
        return false;
    }
    *fraction = vec3_dot(normal, a) / fall;
    return *fraction >= 0.0 && *fraction <= 1.0;
}

bool mesh_enters(const Mesh *mesh, Vec3 origin, Vec3 way, double *fraction, uint32_t *triangle) {
    VALIDATE(vec3_dot(way, way) > 0.0);
    const Way ray = {origin, way, vec3(1.0 / way.x, 1.0 / way.y, 1.0 / way.z)};
    *fraction = HUGE_VAL;
    *triangle = MESH_NONE;
    for (uint32_t at = 0; at < mesh->node_count;) {
        const MeshNode *node = &mesh->node[at];
        if (!passes(node, &ray, *fraction < 1.0 ? *fraction : 1.0)) {
            at = node->skip;
            continue;
        }
        for (uint32_t i = 0; i < node->count; i++) {
            const uint32_t own = mesh->order[node->first + i];
            double entry;
            if (meets_triangle(mesh, own, &ray, &entry) &&
                (entry < *fraction || (entry == *fraction && own < *triangle))) {
                *fraction = entry;
                *triangle = own;
            }
        }
        at++;
    }
    return *triangle != MESH_NONE;
}
