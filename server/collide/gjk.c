// SPDX-License-Identifier: MIT
#include "collide/gjk.h"

#include "base/assert.h"

enum { ROUND_MAX = 64 }; // boxes take three to seven

// A support point must bring the simplex nearer by this part of its squared distance, or the search
// is over: a few roundings.
static const double progress_min = 1e-14;
// Below this part of the squared size of the difference, the distance itself is rounding.
static const double touching_part = 1e-28;
// Squared sine below which a triangle counts as a line, and a tetrahedron as flat.
static const double flat_part = 1e-20;

static Vec3 nearest_point(const GjkSimplex *simplex) {
    Vec3 v = vec3(0.0, 0.0, 0.0);
    for (int i = 0; i < simplex->count; i++) {
        v = vec3_add_scaled(v, simplex->vertex[i].weight, simplex->vertex[i].w);
    }
    return v;
}

static double squared_distance(const GjkSimplex *simplex) {
    Vec3 v = nearest_point(simplex);
    return vec3_dot(v, v);
}

static GjkSimplex take_vertex(GjkVertex p) {
    p.weight = 1.0;
    return (GjkSimplex){.vertex = {p}, .count = 1};
}

// The smallest part of a segment that holds the segment's point nearest to the origin.
static GjkSimplex reduce_segment(GjkVertex p, GjkVertex q) {
    Vec3 d = vec3_sub(q.w, p.w);
    double along = -vec3_dot(p.w, d);
    double length = vec3_dot(d, d);
    if (!(along > 0.0)) {
        return take_vertex(p);
    }
    if (along >= length) {
        return take_vertex(q);
    }
    q.weight = along / length;
    p.weight = 1.0 - q.weight;
    return (GjkSimplex){.vertex = {p, q}, .count = 2};
}

static void take_nearer(GjkSimplex *best, GjkSimplex other) {
    if (squared_distance(&other) < squared_distance(best)) {
        *best = other;
    }
}

// Inside when the origin's projection is on the inner side of all three edges; else the nearest
// point is on an edge.
static GjkSimplex reduce_triangle(GjkVertex p, GjkVertex q, GjkVertex r) {
    Vec3 pq = vec3_sub(q.w, p.w), pr = vec3_sub(r.w, p.w);
    Vec3 n = vec3_cross(pq, pr);
    double area = vec3_dot(n, n);
    if (area > flat_part * vec3_dot(pq, pq) * vec3_dot(pr, pr)) {
        double of_p = vec3_dot(n, vec3_cross(q.w, r.w)) / area;
        double of_q = vec3_dot(n, vec3_cross(r.w, p.w)) / area;
        double of_r = vec3_dot(n, vec3_cross(p.w, q.w)) / area;
        if (of_p > 0.0 && of_q > 0.0 && of_r > 0.0) {
            p.weight = of_p;
            q.weight = of_q;
            r.weight = of_r;
            return (GjkSimplex){.vertex = {p, q, r}, .count = 3};
        }
    }
    GjkSimplex best = reduce_segment(p, q);
    take_nearer(&best, reduce_segment(q, r));
    take_nearer(&best, reduce_segment(r, p));
    return best;
}

// Is the origin on the other side of the plane p q r than s, or s in that plane?
static bool is_beyond(const GjkVertex *p, const GjkVertex *q, const GjkVertex *r,
                      const GjkVertex *s) {
    Vec3 n = vec3_cross(vec3_sub(q->w, p->w), vec3_sub(r->w, p->w));
    Vec3 to_s = vec3_sub(s->w, p->w);
    double inner = vec3_dot(n, to_s);
    double outer = -vec3_dot(n, p->w);
    bool is_flat = inner * inner <= flat_part * vec3_dot(n, n) * vec3_dot(to_s, to_s);
    return is_flat || (inner > 0.0 ? outer < 0.0 : outer > 0.0);
}

// Count 0: the origin is inside.
static GjkSimplex reduce_tetrahedron(const GjkVertex v[4]) {
    static const int face[4][4] = {{0, 1, 2, 3}, {0, 1, 3, 2}, {0, 2, 3, 1}, {1, 2, 3, 0}};
    GjkSimplex best = {.count = 0};
    for (int i = 0; i < 4; i++) {
        const GjkVertex *p = &v[face[i][0]], *q = &v[face[i][1]], *r = &v[face[i][2]];
        if (is_beyond(p, q, r, &v[face[i][3]])) {
            GjkSimplex on_face = reduce_triangle(*p, *q, *r);
            if (best.count == 0) {
                best = on_face;
            } else {
                take_nearer(&best, on_face);
            }
        }
    }
    return best;
}

static GjkSimplex reduce(const GjkSimplex *simplex) {
    ASSERT(simplex->count >= 1 && simplex->count <= 4);
    const GjkVertex *v = simplex->vertex;
    switch (simplex->count) {
    case 1:
        return take_vertex(v[0]);
    case 2:
        return reduce_segment(v[0], v[1]);
    case 3:
        return reduce_triangle(v[0], v[1], v[2]);
    default:
        return reduce_tetrahedron(v);
    }
}

// The point of a - b that is farthest along the direction.
GjkVertex gjk_vertex(const GjkBody *a, const GjkBody *b, Vec3 direction) {
    GjkPoint on_a = a->support(a->body, direction);
    GjkPoint on_b = b->support(b->body, vec3_neg(direction));
    return (GjkVertex){.w = vec3_sub(on_a.position, on_b.position), .a = on_a, .b = on_b};
}

static bool is_known(const GjkSimplex *simplex, const GjkVertex *vertex) {
    for (int i = 0; i < simplex->count; i++) {
        Vec3 d = vec3_sub(simplex->vertex[i].w, vertex->w);
        if (d.x == 0.0 && d.y == 0.0 && d.z == 0.0) {
            return true;
        }
    }
    return false;
}

static GjkResult read_result(const GjkSimplex *simplex) {
    ASSERT(simplex->count > 0);
    GjkResult result = {.is_apart = true};
    for (int i = 0; i < simplex->count; i++) {
        const GjkVertex *vertex = &simplex->vertex[i];
        result.point_a = vec3_add_scaled(result.point_a, vertex->weight, vertex->a.position);
        result.point_b = vec3_add_scaled(result.point_b, vertex->weight, vertex->b.position);
        result.corners_a |= 1u << (vertex->a.vertex & 31u);
        result.corners_b |= 1u << (vertex->b.vertex & 31u);
    }
    Vec3 v = vec3_neg(nearest_point(simplex));
    result.distance = vec3_norm(v);
    result.normal = vec3_scale(1.0 / result.distance, v);
    return result;
}

// How far, times the distance, the two may be nearer than the simplex says, as a plane that parts
// them knows.
static double slack_of(const GjkBody *a, const GjkBody *b, const GjkSimplex *simplex) {
    const Vec3 v = nearest_point(simplex);
    const GjkVertex vertex = gjk_vertex(a, b, vec3_neg(v));
    return vec3_dot(v, v) - vec3_dot(v, vertex.w);
}

GjkResult gjk_search(GjkBody a, GjkBody b, Vec3 toward, double progress, GjkSimplex *simplex) {
    ASSERT(a.support != NULL && b.support != NULL);
    *simplex = take_vertex(gjk_vertex(&a, &b, toward));
    double squared = squared_distance(simplex);
    double size = squared; // of the largest support point, squared
    for (int round = 0; round < ROUND_MAX; round++) {
        if (!(squared > touching_part * size)) {
            return (GjkResult){.is_apart = false};
        }

        // the point of a - b nearest to the origin along v; does it bring us nearer?
        Vec3 v = nearest_point(simplex);
        GjkVertex vertex = gjk_vertex(&a, &b, vec3_neg(v));
        double reached = vec3_dot(v, vertex.w);
        double far_squared = vec3_dot(vertex.w, vertex.w);
        size = far_squared > size ? far_squared : size;
        if (squared - reached <= progress * squared || is_known(simplex, &vertex)) {
            break;
        }
        GjkSimplex grown = *simplex;
        ASSERT(grown.count < 4);
        grown.vertex[grown.count++] = vertex;
        GjkSimplex reduced = reduce(&grown);
        if (reduced.count == 0) {
            *simplex = grown;
            return (GjkResult){.is_apart = false};
        }
        double nearer = squared_distance(&reduced);
        if (!(nearer < squared)) {
            // Beside an edge by 1e-8, a point in a face is nearer by the square of that, which
            // rounding eats; but to the normal it is 1e-8, and the plane tells.
            if (slack_of(&a, &b, &reduced) < 0.5 * (squared - reached)) {
                *simplex = reduced;
            }
            break;
        }
        *simplex = reduced;
        squared = nearer;
    }
    return read_result(simplex);
}

GjkResult gjk_distance(GjkBody a, GjkBody b, Vec3 toward) {
    GjkSimplex simplex;
    return gjk_search(a, b, toward, progress_min, &simplex);
}
