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
        draft->node[at].low[axis] = mesh_round_down(vec3_get(box.low, axis));
        draft->node[at].high[axis] = mesh_round_up(vec3_get(box.high, axis));
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

static void sink(MeshKeys *keys, uint32_t at) {
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

void mesh_offer(MeshKeys *keys, uint64_t key) {
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

static uint32_t sort(MeshKeys *keys) {
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
    MeshKeys keys = {.key = key, .count_max = count_max};
    if (mesh_is_grid(mesh)) {
        const GridNear near = {low, high, after, is_first, &keys};
        grid_near(&mesh->grid, &near);
        return sort(&keys);
    }
    for (uint32_t at = 0; at < mesh->node_count;) {
        const MeshNode *node = &mesh->node[at];
        if (!meets(node, &box)) {
            at = node->skip;
            continue;
        }
        for (uint32_t i = 0; i < node->count; i++) {
            const uint32_t triangle = mesh->order[node->first + i];
            const uint64_t own = (uint64_t)mesh_face(mesh, triangle) << 32 | triangle;
            if ((is_first || own > after) && triangle_meets(mesh, triangle, &box)) {
                mesh_offer(&keys, own);
            }
        }
        at++;
    }
    return sort(&keys);
}

// ---- rays

static bool passes(const MeshNode *node, const MeshWay *way, double reach) {
    const Vec3 low = vec3(node->low[0], node->low[1], node->low[2]),
               high = vec3(node->high[0], node->high[1], node->high[2]);
    return mesh_passes(low, high, way, reach);
}

static void enter_tree(const Mesh *mesh, const MeshWay *way, MeshHit *hit) {
    for (uint32_t at = 0; at < mesh->node_count;) {
        const MeshNode *node = &mesh->node[at];
        if (!passes(node, way, hit->fraction < 1.0 ? hit->fraction : 1.0)) {
            at = node->skip;
            continue;
        }
        for (uint32_t i = 0; i < node->count; i++) {
            const uint32_t own = mesh->order[node->first + i];
            mesh_meet(mesh_corner(mesh, own, 0), mesh_corner(mesh, own, 1),
                      mesh_corner(mesh, own, 2), own, mesh->is_two_sided, way, hit);
        }
        at++;
    }
}

bool mesh_enters(const Mesh *mesh, Vec3 origin, Vec3 way, double *fraction, uint32_t *triangle) {
    VALIDATE(vec3_dot(way, way) > 0.0);
    const MeshWay ray = {origin, way, vec3(1.0 / way.x, 1.0 / way.y, 1.0 / way.z)};
    MeshHit hit = {HUGE_VAL, MESH_NONE};
    if (mesh_is_grid(mesh)) {
        grid_enters(&mesh->grid, &ray, &hit);
    } else {
        enter_tree(mesh, &ray, &hit);
    }
    *fraction = hit.fraction;
    *triangle = hit.triangle;
    return hit.triangle != MESH_NONE;
}
