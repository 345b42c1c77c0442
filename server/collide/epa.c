// SPDX-License-Identifier: MIT
#include "collide/epa.h"

#include "base/assert.h"

enum {
    VERTEX_MAX = 100, // boxes need some ten; a rim that is met edge on some forty
    FACE_MAX = 2 * VERTEX_MAX,
    EDGE_MAX = 3 * VERTEX_MAX,
};

// of the largest coordinates: what is no farther out than this is on a face
static const double on_part = 1e-14;
// Squared areas below this are no normal numbers: they give no direction.
static const double squared_min = 1e-290;
// Squared sine below which a triangle is a line.
static const double flat_part = 1e-20;
// A tetrahedron is worth beginning with whose volume, squared, is more than this part of its
// edges'.
static const double thick_part = 1e-4;
// of the size: faces whose planes are as near as this to that of the nearest are in one with it
static const double coplanar_part = 1e-10;

typedef struct EpaFace {
    uint32_t corner[3]; // counter-clockwise, seen from outside
    Vec3 normal;        // unit, outwards
    double distance;    // of its plane from the origin
} EpaFace;

typedef struct Polytope {
    const GjkBody *a, *b;
    GjkVertex vertex[VERTEX_MAX];
    EpaFace face[FACE_MAX];
    uint32_t vertex_count, face_count;
    double size; // of the farthest vertex, sum of coordinates
} Polytope;

static void add_vertex(Polytope *polytope, GjkVertex vertex) {
    ASSERT(polytope->vertex_count < VERTEX_MAX);
    const double size = fabs(vertex.w.x) + fabs(vertex.w.y) + fabs(vertex.w.z);
    polytope->size = size > polytope->size ? size : polytope->size;
    polytope->vertex[polytope->vertex_count++] = vertex;
}

// false: the three are in line.
static bool add_face(Polytope *polytope, uint32_t i, uint32_t j, uint32_t k) {
    ASSERT(i < polytope->vertex_count && j < polytope->vertex_count && k < polytope->vertex_count);
    if (polytope->face_count == FACE_MAX) {
        return false;
    }
    const Vec3 p = polytope->vertex[i].w;
    const Vec3 u = vec3_sub(polytope->vertex[j].w, p), v = vec3_sub(polytope->vertex[k].w, p);
    const Vec3 n = vec3_cross(u, v);
    const double squared = vec3_dot(n, n);
    if (!(squared > flat_part * vec3_dot(u, u) * vec3_dot(v, v)) || !(squared > squared_min)) {
        return false;
    }
    EpaFace face = {.corner = {i, j, k}, .normal = vec3_scale(1.0 / sqrt(squared), n)};
    face.distance = vec3_dot(face.normal, p);
    polytope->face[polytope->face_count++] = face;
    return true;
}

// ---- the first tetrahedron

static Vec3 plane_normal(const Polytope *polytope) {
    const Vec3 p = polytope->vertex[0].w;
    return vec3_cross(vec3_sub(polytope->vertex[1].w, p), vec3_sub(polytope->vertex[2].w, p));
}

// How far a vertex is from the point, the line or the plane of those that are there: of the first
// the square, of the others times their extent.
static double distance_from(const Polytope *polytope, const GjkVertex *vertex) {
    ASSERT(polytope->vertex_count >= 1 && polytope->vertex_count <= 3);
    const Vec3 v = vec3_sub(vertex->w, polytope->vertex[0].w);
    if (polytope->vertex_count == 1) {
        return vec3_dot(v, v);
    }
    if (polytope->vertex_count == 2) {
        const Vec3 n = vec3_cross(vec3_sub(polytope->vertex[1].w, polytope->vertex[0].w), v);
        return vec3_dot(n, n);
    }
    return fabs(vec3_dot(plane_normal(polytope), v));
}

// The farthest of the support points along some directions and against them.
static void add_farthest(Polytope *polytope, const Vec3 *direction, int count) {
    ASSERT(count >= 1 && polytope->vertex_count >= 1);
    GjkVertex farthest = polytope->vertex[0];
    double distance = -1.0;
    for (int i = 0; i < 2 * count; i++) {
        const Vec3 d = i < count ? direction[i] : vec3_neg(direction[i - count]);
        const GjkVertex vertex = gjk_vertex(polytope->a, polytope->b, d);
        const double there = distance_from(polytope, &vertex);
        if (there > distance) {
            distance = there;
            farthest = vertex;
        }
    }
    if (distance >= 0.0) {
        add_vertex(polytope, farthest);
    }
}

static void build_tetrahedron(Polytope *polytope, const GjkVertex *first) {
    static const Vec3 axes[3] = {{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}};
    polytope->vertex_count = 0;
    add_vertex(polytope, *first);
    add_farthest(polytope, axes, 3);
    const Vec3 line = vec3_sub(polytope->vertex[1].w, polytope->vertex[0].w);
    const Vec3 across[3] = {vec3_cross(line, axes[0]), vec3_cross(line, axes[1]),
                            vec3_cross(line, axes[2])};
    add_farthest(polytope, across, 3);
    const Vec3 normal = plane_normal(polytope);
    add_farthest(polytope, &normal, 1);
}

// Whether the simplex of a search is no flat one.
static bool is_thick(const GjkSimplex *simplex) {
    if (simplex->count != 4) {
        return false;
    }
    const Vec3 p = simplex->vertex[0].w;
    const Vec3 u = vec3_sub(simplex->vertex[1].w, p), v = vec3_sub(simplex->vertex[2].w, p);
    const Vec3 w = vec3_sub(simplex->vertex[3].w, p), n = vec3_cross(u, v);
    const double height = vec3_dot(n, w);
    return height * height > thick_part * vec3_dot(u, u) * vec3_dot(v, v) * vec3_dot(w, w);
}

static bool begin(Polytope *polytope, const GjkSimplex *simplex) {
    if (is_thick(simplex)) {
        for (int i = 0; i < 4; i++) {
            add_vertex(polytope, simplex->vertex[i]);
        }
    } else {
        build_tetrahedron(polytope, &simplex->vertex[0]);
    }
    if (polytope->vertex_count != 4) {
        return false; // numbers that are none
    }
    const Vec3 to_last = vec3_sub(polytope->vertex[3].w, polytope->vertex[0].w);
    if (vec3_dot(plane_normal(polytope), to_last) > 0.0) { // then 0 1 2 would look inwards
        const GjkVertex swapped = polytope->vertex[1];
        polytope->vertex[1] = polytope->vertex[2];
        polytope->vertex[2] = swapped;
    }
    return add_face(polytope, 0, 1, 2) && add_face(polytope, 0, 2, 3) &&
           add_face(polytope, 0, 3, 1) && add_face(polytope, 1, 3, 2);
}

// ---- growth

typedef struct Horizon {
    uint32_t from[EDGE_MAX], to[EDGE_MAX];
    uint32_t count;
} Horizon;

// An edge of a face that goes. Where its other face goes too it is no horizon.
static bool add_edge(Horizon *horizon, uint32_t from, uint32_t to) {
    ASSERT(from != to && horizon->count <= EDGE_MAX);
    for (uint32_t i = 0; i < horizon->count; i++) {
        if (horizon->from[i] == to && horizon->to[i] == from) {
            horizon->count--;
            horizon->from[i] = horizon->from[horizon->count];
            horizon->to[i] = horizon->to[horizon->count];
            return true;
        }
    }
    if (horizon->count == EDGE_MAX) {
        return false;
    }
    horizon->from[horizon->count] = from;
    horizon->to[horizon->count++] = to;
    return true;
}

// Takes out the faces that the point is above. false: numbers too near to each other.
static bool remove_faces(Polytope *polytope, Vec3 point, Horizon *horizon) {
    const double slack = on_part * polytope->size;
    horizon->count = 0;
    for (uint32_t i = 0; i < polytope->face_count;) {
        const EpaFace *face = &polytope->face[i];
        if (vec3_dot(face->normal, point) - face->distance <= slack) {
            i++;
            continue;
        }
        for (int k = 0; k < 3; k++) {
            if (!add_edge(horizon, face->corner[k], face->corner[(k + 1) % 3])) {
                return false;
            }
        }
        polytope->face[i] = polytope->face[--polytope->face_count];
    }
    return horizon->count >= 3;
}

// false: the polytope is as it was, or is none any more; what was nearest stays so.
static bool grow(Polytope *polytope, const GjkVertex *vertex) {
    Horizon horizon;
    if (polytope->vertex_count == VERTEX_MAX || !remove_faces(polytope, vertex->w, &horizon)) {
        return false;
    }
    const uint32_t last = polytope->vertex_count;
    add_vertex(polytope, *vertex);
    for (uint32_t i = 0; i < horizon.count; i++) {
        if (!add_face(polytope, horizon.from[i], horizon.to[i], last)) {
            return false;
        }
    }
    return true;
}

static EpaFace find_nearest(const Polytope *polytope) {
    ASSERT(polytope->face_count > 0);
    uint32_t nearest = 0;
    for (uint32_t i = 1; i < polytope->face_count; i++) {
        if (polytope->face[i].distance < polytope->face[nearest].distance) {
            nearest = i;
        }
    }
    return polytope->face[nearest];
}

// The barycentric coordinates of the origin's foot on the face's plane; the least of them, negative
// where the foot is beside the face.
static double weigh_face(const Polytope *polytope, const EpaFace *face, double weight[3]) {
    const Vec3 n = face->normal, foot = vec3_scale(face->distance, n);
    double sum = 0.0;
    for (int i = 0; i < 3; i++) {
        const Vec3 p = vec3_sub(polytope->vertex[face->corner[(i + 1) % 3]].w, foot);
        const Vec3 q = vec3_sub(polytope->vertex[face->corner[(i + 2) % 3]].w, foot);
        weight[i] = vec3_dot(n, vec3_cross(p, q));
        sum += weight[i];
    }
    for (int i = 0; i < 3; i++) {
        weight[i] /= sum;
    }
    return fmin(weight[0], fmin(weight[1], weight[2]));
}

// Of faces in one plane the one that the origin's foot is on.
static void settle_face(const Polytope *polytope, const EpaFace *best, EpaResult *result) {
    EpaFace face = *best;
    double weight[3], least = weigh_face(polytope, best, weight);
    for (uint32_t i = 0; i < polytope->face_count; i++) {
        const EpaFace *other = &polytope->face[i];
        double own[3];
        if (fabs(other->distance - best->distance) <= coplanar_part * polytope->size &&
            vec3_dot(other->normal, best->normal) > 1.0 - 1e-12 &&
            weigh_face(polytope, other, own) > least) {
            least = weigh_face(polytope, other, weight);
            face = *other;
        }
    }
    result->normal = face.normal;
    result->face.count = 3;
    double sum = 0.0;
    for (int i = 0; i < 3; i++) {
        result->face.vertex[i] = polytope->vertex[face.corner[i]];
        result->face.vertex[i].weight = fmax(weight[i], 0.0);
        sum += result->face.vertex[i].weight;
    }
    for (int i = 0; i < 3; i++) {
        result->face.vertex[i].weight /= sum;
    }
}

EpaResult epa_depth(const GjkBody *a, const GjkBody *b, const GjkSimplex *simplex, double slack) {
    ASSERT(simplex->count >= 1 && simplex->count <= 4);
    Polytope polytope;
    polytope.a = a;
    polytope.b = b;
    polytope.vertex_count = polytope.face_count = 0;
    polytope.size = 0.0;
    EpaResult result = {.is_found = false};
    if (!begin(&polytope, simplex)) {
        return result;
    }
    // the face along which the bodies are known to overlap least; where they are round about, as a
    // capsule's end in the middle of a cylinder, many are as good, and the vertices end first
    EpaFace best = {.distance = 0.0};
    double depth = HUGE_VAL;
    for (;;) {
        const EpaFace nearest = find_nearest(&polytope);
        const GjkVertex vertex = gjk_vertex(a, b, nearest.normal);
        const double out = vec3_dot(nearest.normal, vertex.w);
        if (out < depth) {
            depth = out;
            best = nearest;
        }
        const double rest = fmax(slack, on_part * polytope.size);
        result.doubt = depth - nearest.distance;
        if (!(result.doubt > rest) || !grow(&polytope, &vertex)) {
            break;
        }
    }
    result.is_found = isfinite(depth);
    if (result.is_found) {
        settle_face(&polytope, &best, &result);
    }
    return result;
}
