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

// Those vertices of a search that span the point nearest to the origin, by their places, in the
// order in which they are summed. Vertices stay where they are while others are tried.
typedef struct Span {
    int count;
    int at[3];
    double weight[3]; // barycentric
    Vec3 nearest;
    double squared; // of that, from the origin
} Span;

static void measure(const GjkVertex *vertex, Span *span) {
    Vec3 v = vec3(0.0, 0.0, 0.0);
    for (int i = 0; i < span->count; i++) {
        v = vec3_add_scaled(v, span->weight[i], vertex[span->at[i]].w);
    }
    span->nearest = v;
    span->squared = vec3_dot(v, v);
}

static void take_vertex(const GjkVertex *vertex, int p, Span *span) {
    span->count = 1;
    span->at[0] = p;
    span->weight[0] = 1.0;
    measure(vertex, span);
}

// The smallest part of a segment that holds the segment's point nearest to the origin.
static void reduce_segment(const GjkVertex *vertex, int p, int q, Span *span) {
    Vec3 d = vec3_sub(vertex[q].w, vertex[p].w);
    double along = -vec3_dot(vertex[p].w, d);
    double length = vec3_dot(d, d);
    if (!(along > 0.0)) {
        take_vertex(vertex, p, span);
        return;
    }
    if (along >= length) {
        take_vertex(vertex, q, span);
        return;
    }
    span->count = 2;
    span->at[0] = p;
    span->at[1] = q;
    span->weight[1] = along / length;
    span->weight[0] = 1.0 - span->weight[1];
    measure(vertex, span);
}

static void take_nearer(Span *best, const Span *other) {
    if (other->squared < best->squared) {
        *best = *other;
    }
}

// Inside when the origin's projection is on the inner side of all three edges; else the nearest
// point is on an edge.
static void reduce_triangle(const GjkVertex *vertex, int p, int q, int r, Span *span) {
    const Vec3 wp = vertex[p].w, wq = vertex[q].w, wr = vertex[r].w;
    Vec3 pq = vec3_sub(wq, wp), pr = vec3_sub(wr, wp);
    Vec3 n = vec3_cross(pq, pr);
    double area = vec3_dot(n, n);
    if (area > flat_part * vec3_dot(pq, pq) * vec3_dot(pr, pr)) {
        double of_p = vec3_dot(n, vec3_cross(wq, wr)) / area;
        double of_q = vec3_dot(n, vec3_cross(wr, wp)) / area;
        double of_r = vec3_dot(n, vec3_cross(wp, wq)) / area;
        if (of_p > 0.0 && of_q > 0.0 && of_r > 0.0) {
            *span = (Span){.count = 3, .at = {p, q, r}, .weight = {of_p, of_q, of_r}};
            measure(vertex, span);
            return;
        }
    }
    Span other;
    reduce_segment(vertex, p, q, span);
    reduce_segment(vertex, q, r, &other);
    take_nearer(span, &other);
    reduce_segment(vertex, r, p, &other);
    take_nearer(span, &other);
}

// Is the origin on the other side of the plane p q r than s, or s in that plane?
static bool is_beyond(Vec3 p, Vec3 q, Vec3 r, Vec3 s) {
    Vec3 n = vec3_cross(vec3_sub(q, p), vec3_sub(r, p));
    Vec3 to_s = vec3_sub(s, p);
    double inner = vec3_dot(n, to_s);
    double outer = -vec3_dot(n, p);
    bool is_flat = inner * inner <= flat_part * vec3_dot(n, n) * vec3_dot(to_s, to_s);
    return is_flat || (inner > 0.0 ? outer < 0.0 : outer > 0.0);
}

// Count 0: the origin is inside.
static void reduce_tetrahedron(const GjkVertex *vertex, const int at[4], Span *span) {
    static const int face[4][4] = {{0, 1, 2, 3}, {0, 1, 3, 2}, {0, 2, 3, 1}, {1, 2, 3, 0}};
    span->count = 0;
    for (int i = 0; i < 4; i++) {
        const int p = at[face[i][0]], q = at[face[i][1]], r = at[face[i][2]], s = at[face[i][3]];
        if (!is_beyond(vertex[p].w, vertex[q].w, vertex[r].w, vertex[s].w)) {
            continue;
        }
        if (span->count == 0) {
            reduce_triangle(vertex, p, q, r, span);
        } else {
            Span other;
            reduce_triangle(vertex, p, q, r, &other);
            take_nearer(span, &other);
        }
    }
}

static void reduce(const GjkVertex *vertex, const int at[4], int count, Span *span) {
    ASSERT(count >= 2 && count <= 4);
    switch (count) {
    case 2:
        reduce_segment(vertex, at[0], at[1], span);
        break;
    case 3:
        reduce_triangle(vertex, at[0], at[1], at[2], span);
        break;
    default:
        reduce_tetrahedron(vertex, at, span);
        break;
    }
}

static void set_vertex(const GjkBody *a, const GjkBody *b, Vec3 direction, GjkVertex *vertex) {
    vertex->a = a->support(a->body, direction);
    vertex->b = b->support(b->body, vec3_neg(direction));
    vertex->w = vec3_sub(vertex->a.position, vertex->b.position);
    vertex->weight = 0.0;
}

// The point of a - b that is farthest along the direction.
GjkVertex gjk_vertex(const GjkBody *a, const GjkBody *b, Vec3 direction) {
    GjkVertex vertex;
    set_vertex(a, b, direction, &vertex);
    return vertex;
}

static bool is_known(const GjkVertex *vertex, const Span *span, Vec3 w) {
    for (int i = 0; i < span->count; i++) {
        Vec3 d = vec3_sub(vertex[span->at[i]].w, w);
        if (d.x == 0.0 && d.y == 0.0 && d.z == 0.0) {
            return true;
        }
    }
    return false;
}

// Leaves of the vertices those of a span, with their weights, in its order; and those that follow
// it in `at`.
static void put_in_order(const Span *span, const int *at, int count, GjkSimplex *simplex) {
    ASSERT(span->count >= 1 && span->count <= count && count <= 4);
    GjkVertex ordered[4];
    for (int i = 0; i < count; i++) {
        ordered[i] = simplex->vertex[at[i]];
        ordered[i].weight = i < span->count ? span->weight[i] : 0.0;
    }
    for (int i = 0; i < count; i++) {
        simplex->vertex[i] = ordered[i];
    }
    simplex->count = count;
}

static GjkResult read_result(const GjkSimplex *simplex, const Span *span) {
    ASSERT(simplex->count > 0);
    GjkResult result = {.is_apart = true};
    for (int i = 0; i < simplex->count; i++) {
        const GjkVertex *vertex = &simplex->vertex[i];
        result.point_a = vec3_add_scaled(result.point_a, vertex->weight, vertex->a.position);
        result.point_b = vec3_add_scaled(result.point_b, vertex->weight, vertex->b.position);
        result.corners_a |= 1u << (vertex->a.vertex & 31u);
        result.corners_b |= 1u << (vertex->b.vertex & 31u);
    }
    Vec3 v = vec3_neg(span->nearest);
    result.distance = vec3_norm(v);
    result.normal = vec3_scale(1.0 / result.distance, v);
    return result;
}

// How far, times the distance, the two may be nearer than the span says, as a plane that parts
// them knows.
static double slack_of(const GjkBody *a, const GjkBody *b, const Span *span) {
    const Vec3 v = span->nearest;
    const GjkVertex vertex = gjk_vertex(a, b, vec3_neg(v));
    return span->squared - vec3_dot(v, vertex.w);
}

// A place that no vertex of the span is at.
static int free_place(const Span *span) {
    unsigned taken = 0;
    for (int i = 0; i < span->count; i++) {
        taken |= 1u << span->at[i];
    }
    return __builtin_ctz(~taken);
}

// Whether a plane across v parts the two by more than the limit, as their support point along -v,
// of which v has that much, knows.
static bool is_far(Vec3 v, double reached, double limit) {
    return reached > 0.0 && reached * reached > limit * limit * vec3_dot(v, v);
}

GjkResult gjk_search(GjkBody a, GjkBody b, Vec3 toward, const GjkEnd *end, GjkSimplex *simplex) {
    ASSERT(a.support != NULL && b.support != NULL);
    static const GjkResult far = {.is_apart = true, .is_far = true};
    GjkVertex *vertex = simplex->vertex;
    Span span;
    set_vertex(&a, &b, toward, &vertex[0]);
    if (is_far(toward, -vec3_dot(toward, vertex[0].w), end->far)) {
        return far;
    }
    take_vertex(vertex, 0, &span);
    double size = span.squared; // of the largest support point, squared
    for (int round = 0; round < ROUND_MAX; round++) {
        if (!(span.squared > touching_part * size)) {
            put_in_order(&span, span.at, span.count, simplex);
            return (GjkResult){.is_apart = false};
        }

        // the point of a - b nearest to the origin along v; does it bring us nearer?
        const Vec3 v = span.nearest;
        const int place = free_place(&span);
        ASSERT(place < 4);
        set_vertex(&a, &b, vec3_neg(v), &vertex[place]);
        const Vec3 w = vertex[place].w;
        double reached = vec3_dot(v, w);
        if (is_far(v, reached, end->far)) {
            return far;
        }
        double far_squared = vec3_dot(w, w);
        size = far_squared > size ? far_squared : size;
        if (span.squared - reached <= end->progress * span.squared || is_known(vertex, &span, w)) {
            break;
        }
        int at[4];
        for (int i = 0; i < span.count; i++) {
            at[i] = span.at[i];
        }
        at[span.count] = place;
        Span reduced;
        reduce(vertex, at, span.count + 1, &reduced);
        if (reduced.count == 0) {
            put_in_order(&span, at, span.count + 1, simplex);
            return (GjkResult){.is_apart = false};
        }
        if (!(reduced.squared < span.squared)) {
            // Beside an edge by 1e-8, a point in a face is nearer by the square of that, which
            // rounding eats; but to the normal it is 1e-8, and the plane tells.
            if (slack_of(&a, &b, &reduced) < 0.5 * (span.squared - reached)) {
                span = reduced;
            }
            break;
        }
        span = reduced;
    }
    put_in_order(&span, span.at, span.count, simplex);
    return read_result(simplex, &span);
}

GjkResult gjk_distance(GjkBody a, GjkBody b, Vec3 toward) {
    const GjkEnd end = {.progress = progress_min, .far = HUGE_VAL};
    GjkSimplex simplex;
    return gjk_search(a, b, toward, &end, &simplex);
}
