// SPDX-License-Identifier: MIT
#include "geometry/hull.h"

#include "base/assert.h"
#include "geometry/block.h"
#include "geometry/farthest.h"
#include "geometry/hull_parts.h"

#include <string.h>

// ---- memory

typedef struct Pieces {
    Hull *hull;
    Vec3 *point, *normal;
    double *offset;
    uint32_t *face_first, *corner, *neighbour_first;
    uint16_t *corner_edge, *neighbour, *neighbour_edge, *neighbour_face;
    HullEdge *edge;
} Pieces;

static Pieces lay_out(Block *block, const HullForm *form) {
    const size_t vertices = form->point_count, faces = form->face_count;
    const size_t corners = form->face_first[faces];
    return (Pieces){.hull = block_take(block, 1, sizeof(Hull)),
                    .point = block_take(block, vertices, sizeof(Vec3)),
                    .normal = block_take(block, faces, sizeof(Vec3)),
                    .offset = block_take(block, faces, sizeof(double)),
                    .edge = block_take(block, corners / 2, sizeof(HullEdge)),
                    .face_first = block_take(block, faces + 1, sizeof(uint32_t)),
                    .corner = block_take(block, corners, sizeof(uint32_t)),
                    .neighbour_first = block_take(block, vertices + 1, sizeof(uint32_t)),
                    .corner_edge = block_take(block, corners, sizeof(uint16_t)),
                    .neighbour = block_take(block, corners, sizeof(uint16_t)),
                    .neighbour_edge = block_take(block, corners, sizeof(uint16_t)),
                    .neighbour_face = block_take(block, corners, sizeof(uint16_t))};
}

size_t hull_bytes(const HullForm *form) {
    Block block = {NULL, 0};
    lay_out(&block, form);
    return block.used_bytes;
}

// ---- mass

static Vec3 mean_point(const Hull *hull) {
    Vec3 sum = vec3(0.0, 0.0, 0.0);
    for (uint32_t i = 0; i < hull->vertex_count; i++) {
        sum = vec3_add(sum, hull->point[i]);
    }
    return vec3_scale(1.0 / hull->vertex_count, sum);
}

// Sums over tetrahedra that have a corner in common: of volume times six, of that times the sum of
// the other corners, and of that times the second moments about the common corner, times twenty.
typedef struct Moments {
    double volume;
    Vec3 first;
    Sym3 second;
} Moments;

static void add_square(Sym3 *sum, double weight, Vec3 p) {
    sum->xx += weight * p.x * p.x;
    sum->yy += weight * p.y * p.y;
    sum->zz += weight * p.z * p.z;
    sum->xy += weight * p.x * p.y;
    sum->xz += weight * p.x * p.z;
    sum->yz += weight * p.y * p.z;
}

static void add_tetrahedron(Moments *sum, Vec3 a, Vec3 b, Vec3 c) {
    const double volume = vec3_dot(a, vec3_cross(b, c));
    const Vec3 corners = vec3_add(a, vec3_add(b, c));
    sum->volume += volume;
    sum->first = vec3_add_scaled(sum->first, volume, corners);
    add_square(&sum->second, volume, a);
    add_square(&sum->second, volume, b);
    add_square(&sum->second, volume, c);
    add_square(&sum->second, volume, corners);
}

// From a point inside, so that all tetrahedra are positive and nothing cancels.
static HullMass weigh(const Hull *hull) {
    const Vec3 inside = mean_point(hull);
    Moments sum = {0};
    for (uint32_t f = 0; f < hull->face_count; f++) {
        const uint32_t first = hull->face_first[f], end = hull->face_first[f + 1];
        const Vec3 a = vec3_sub(hull->point[hull->corner[first]], inside);
        for (uint32_t i = first + 1; i + 1 < end; i++) {
            add_tetrahedron(&sum, a, vec3_sub(hull->point[hull->corner[i]], inside),
                            vec3_sub(hull->point[hull->corner[i + 1]], inside));
        }
    }
    ASSERT(sum.volume > 0.0);
    const Vec3 center = vec3_scale(1.0 / (4.0 * sum.volume), sum.first);
    const double scale = 1.0 / (20.0 * sum.volume);
    const double xx = scale * sum.second.xx - center.x * center.x;
    const double yy = scale * sum.second.yy - center.y * center.y;
    const double zz = scale * sum.second.zz - center.z * center.z;
    return (HullMass){.volume = sum.volume / 6.0,
                      .center = vec3_add(inside, center),
                      .gyration = {yy + zz, xx + zz, xx + yy,
                                   -(scale * sum.second.xy - center.x * center.y),
                                   -(scale * sum.second.xz - center.x * center.z),
                                   -(scale * sum.second.yz - center.y * center.z)}};
}

// ---- deriving

static void derive_numbers(Hull *hull) {
    for (uint32_t i = 0; i < 8; i++) {
        const Vec3 direction = vec3((i & 1u) != 0 ? 1.0 : -1.0, (i & 2u) != 0 ? 1.0 : -1.0,
                                    (i & 4u) != 0 ? 1.0 : -1.0);
        hull->start[i] = (uint16_t)farthest_of(hull->point, hull->vertex_count, direction);
    }
    hull->mass = weigh(hull);
    hull->inner_radius = -hull_outside(hull, hull->mass.center);
    hull->mass_reach = hull_reach(hull, hull->mass.center);
    hull->reach = hull_reach(hull, vec3(0.0, 0.0, 0.0));
}

// Around each vertex, from its first corner on.
static void derive_neighbours(const HullDraft *draft, const Pieces *to) {
    const HullForm *form = draft->form;
    uint32_t count = 0;
    for (uint32_t v = 0; v < form->point_count; v++) {
        to->neighbour_first[v] = count;
        const uint32_t begin = draft->first_of[v];
        uint32_t corner = begin;
        do {
            ASSERT(count < draft->corner_count);
            to->neighbour[count] = (uint16_t)form->corner[draft->next[corner]];
            to->neighbour_edge[count] = to->corner_edge[corner];
            to->neighbour_face[count++] = draft->face_of[corner];
            corner = hull_draft_turn(draft, corner);
        } while (corner != begin);
    }
    ASSERT(count == draft->corner_count);
    to->neighbour_first[form->point_count] = count;
}

const Hull *hull_open(const HullForm *form, void *memory) {
    ASSERT(form->point_count <= HULL_VERTICES_MAX && form->face_count <= HULL_FACES_MAX);
    HullDraft draft;
    hull_draft_link(&draft, form);
    memset(memory, 0, hull_bytes(form)); // also what is between the pieces
    Block block = {memory, 0};
    const Pieces to = lay_out(&block, form);
    Hull *hull = to.hull;
    *hull = (Hull){.vertex_count = form->point_count,
                   .face_count = form->face_count,
                   .edge_count = draft.corner_count / 2,
                   .point = to.point,
                   .face_first = to.face_first,
                   .corner = to.corner,
                   .corner_edge = to.corner_edge,
                   .normal = to.normal,
                   .offset = to.offset,
                   .edge = to.edge,
                   .neighbour_first = to.neighbour_first,
                   .neighbour = to.neighbour,
                   .neighbour_edge = to.neighbour_edge,
                   .neighbour_face = to.neighbour_face};
    memcpy(to.point, form->point, form->point_count * sizeof(Vec3));
    memcpy(to.face_first, form->face_first, (form->face_count + 1) * sizeof(uint32_t));
    memcpy(to.corner, form->corner, draft.corner_count * sizeof(uint32_t));
    hull_draft_edges(&draft, to.edge, to.corner_edge);
    for (uint32_t f = 0; f < form->face_count; f++) {
        to.normal[f] = hull_draft_normal(form, f);
        const uint32_t farthest = farthest_of(hull->point, hull->vertex_count, to.normal[f]);
        to.offset[f] = vec3_dot(to.normal[f], to.point[farthest]);
    }
    derive_neighbours(&draft, &to);
    hull_draft_bounds(form, &hull->low, &hull->high);
    derive_numbers(hull);
    return hull;
}

// ---- questions

// From neighbour to neighbour, always to the farthest, of those as far the first: a convex body has
// no summit but the highest.
static uint32_t climb(const Hull *hull, Vec3 d) {
    const uint32_t octant = (d.x > 0.0 ? 1u : 0u) | (d.y > 0.0 ? 2u : 0u) | (d.z > 0.0 ? 4u : 0u);
    uint32_t vertex = hull->start[octant];
    double best = vec3_dot(d, hull->point[vertex]);
    for (bool is_rising = true; is_rising;) {
        is_rising = false;
        const uint32_t first = hull->neighbour_first[vertex];
        const uint32_t end = hull->neighbour_first[vertex + 1];
        for (uint32_t i = first; i < end; i++) {
            const double along = vec3_dot(d, hull->point[hull->neighbour[i]]);
            if (along > best) {
                best = along;
                vertex = hull->neighbour[i];
                is_rising = true;
            }
        }
    }
    return vertex;
}

uint32_t hull_support(const Hull *hull, Vec3 direction) {
    ASSERT(hull->vertex_count >= 3);
    return hull->vertex_count <= HULL_LINEAR_MAX
               ? farthest_of(hull->point, hull->vertex_count, direction)
               : climb(hull, direction);
}

uint32_t hull_face_at(const Hull *hull, uint32_t vertex, Vec3 direction) {
    ASSERT(vertex < hull->vertex_count);
    const uint32_t first = hull->neighbour_first[vertex], end = hull->neighbour_first[vertex + 1];
    uint32_t face = hull->neighbour_face[first];
    double best = vec3_dot(direction, hull->normal[face]);
    for (uint32_t i = first + 1; i < end; i++) {
        const double along = vec3_dot(direction, hull->normal[hull->neighbour_face[i]]);
        face = along > best ? hull->neighbour_face[i] : face;
        best = along > best ? along : best;
    }
    return face;
}

uint32_t hull_edge_between(const Hull *hull, uint32_t a, uint32_t b) {
    ASSERT(a < hull->vertex_count && b < hull->vertex_count);
    for (uint32_t i = hull->neighbour_first[a]; i < hull->neighbour_first[a + 1]; i++) {
        if (hull->neighbour[i] == b) {
            return hull->neighbour_edge[i];
        }
    }
    return HULL_EDGES_MAX;
}

void hull_bounds(const Hull *hull, Mat3 rotation, Vec3 *low, Vec3 *high) {
    double from[3], to[3];
    for (int axis = 0; axis < 3; axis++) {
        const Vec3 row = vec3(vec3_get(rotation.c0, axis), vec3_get(rotation.c1, axis),
                              vec3_get(rotation.c2, axis));
        from[axis] = vec3_dot(row, hull->point[hull_support(hull, vec3_neg(row))]);
        to[axis] = vec3_dot(row, hull->point[hull_support(hull, row)]);
        ASSERT(!(from[axis] > to[axis]));
    }
    *low = vec3_load(from);
    *high = vec3_load(to);
}

double hull_reach(const Hull *hull, Vec3 from) {
    double squared = 0.0;
    for (uint32_t i = 0; i < hull->vertex_count; i++) {
        const Vec3 offset = vec3_sub(hull->point[i], from);
        squared = fmax(squared, vec3_dot(offset, offset));
    }
    return sqrt(squared);
}

double hull_outside(const Hull *hull, Vec3 point) {
    double outside = -HUGE_VAL;
    for (uint32_t f = 0; f < hull->face_count; f++) {
        outside = fmax(outside, vec3_dot(hull->normal[f], point) - hull->offset[f]);
    }
    return outside;
}

bool hull_enters(const Hull *hull, Vec3 origin, Vec3 way, double *fraction, uint32_t *face) {
    double in = -HUGE_VAL, out = HUGE_VAL;
    uint32_t entered = 0;
    for (uint32_t f = 0; f < hull->face_count; f++) {
        const double height = vec3_dot(hull->normal[f], origin) - hull->offset[f];
        const double climb = vec3_dot(hull->normal[f], way);
        if (climb < 0.0) {
            const double at = height / -climb;
            entered = at > in ? f : entered;
            in = at > in ? at : in;
        } else if (climb > 0.0) {
            out = fmin(out, -height / climb);
        } else if (height > 0.0) {
            return false;
        }
    }
    if (!(in > 0.0) || !(in <= out) || !(in <= 1.0)) {
        return false;
    }
    ASSERT(entered < hull->face_count);
    *fraction = in;
    *face = entered;
    return true;
}
