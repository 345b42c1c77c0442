// SPDX-License-Identifier: MIT
#include "collide/convex.h"

#include "base/assert.h"
#include "geometry/farthest.h"

// A cylinder's cap looks along a direction more than its side does
static const double cap_cosine = 0.70710678118654752;

Convex convex_read(const Primitive *primitive, const Pose *pose, Vec3 origin) {
    ASSERT(primitive_rows[primitive->kind].volume != NULL);
    if (primitive->kind == PRIMITIVE_HULL) {
        return convex_of_hull(primitive->geometry->hull, pose, origin);
    }
    const Vec3 center = vec3_sub(pose->position, origin);
    Convex convex = {.center = center,
                     .axes = quat_to_mat3(pose->orientation),
                     .middle = center,
                     .size = primitive_rows[primitive->kind].reach(primitive)};
    switch (primitive->kind) {
    case PRIMITIVE_SPHERE:
        convex.kind = CONVEX_SPHERE;
        convex.radius = primitive->size.x;
        break;
    case PRIMITIVE_BOX:
        convex.kind = CONVEX_BOX;
        convex.half = primitive->size;
        break;
    case PRIMITIVE_CAPSULE:
        convex.kind = CONVEX_CAPSULE;
        convex.radius = primitive->size.x;
        convex.half = vec3(0.0, 0.0, primitive->size.y);
        break;
    case PRIMITIVE_CYLINDER:
        convex.kind = CONVEX_CYLINDER;
        convex.half = vec3(primitive->size.x, primitive->size.x, primitive->size.y);
        break;
    case PRIMITIVE_HULL:
    case PRIMITIVE_MESH:
    case PRIMITIVE_HEIGHT_FIELD:
    case PRIMITIVE_PLANE:
    case PRIMITIVE_COUNT:
        break;
    }
    return convex;
}

Convex convex_of_hull(const Hull *hull, const Pose *pose, Vec3 origin) {
    ASSERT(hull->vertex_count >= 3); // a triangle, seen as a hull
    Convex convex = {.kind = CONVEX_HULL,
                     .center = vec3_sub(pose->position, origin),
                     .axes = quat_to_mat3(pose->orientation),
                     .size = hull->mass_reach,
                     .hull = hull};
    convex.middle = vec3_add(convex.center, mat3_mul_vec(convex.axes, hull->mass.center));
    return convex;
}

// One of the ends of a half extent, which is no branch: no two directions of a search agree on it.
static inline double end_of(bool is_upper, double half) {
    const double side[2] = {-half, half};
    return side[is_upper];
}

// In the core's axes, from its centre.
static inline Vec3 local_support(const Convex *convex, Vec3 d, uint32_t *vertex) {
    if (convex->kind == CONVEX_HULL) {
        const Hull *hull = convex->hull;
        *vertex = hull->vertex_count <= HULL_LINEAR_MAX
                      ? farthest_of(hull->point, hull->vertex_count, d)
                      : hull_support(hull, d);
        return convex->hull->point[*vertex];
    }
    const Vec3 half = convex->half;
    const bool x = d.x >= 0.0, y = d.y >= 0.0, z = d.z >= 0.0;
    if (convex->kind == CONVEX_CYLINDER) {
        // along the axis itself all of the cap is as far: its centre
        const double across = sqrt(d.x * d.x + d.y * d.y);
        const double scale = across > 0.0 ? half.x / across : 0.0;
        *vertex = (uint32_t)z << 2;
        return vec3(scale * d.x, scale * d.y, end_of(z, half.z));
    }
    const uint32_t across = (uint32_t)x | (uint32_t)y << 1;
    *vertex = (uint32_t)z << 2 | (convex->kind == CONVEX_BOX ? across : 0u);
    return vec3(end_of(x, half.x), end_of(y, half.y), end_of(z, half.z));
}

GjkPoint convex_support(const void *body, Vec3 direction) {
    const Convex *convex = body;
    VALIDATE(vec3_dot(direction, direction) >= 0.0);
    GjkPoint point;
    const Vec3 local = local_support(convex, mat3_tmul_vec(convex->axes, direction), &point.vertex);
    point.position = vec3_add(convex->center, mat3_mul_vec(convex->axes, local));
    return point;
}

static GjkPoint itself(const void *point, Vec3 direction) {
    (void)direction;
    return (GjkPoint){.position = *(const Vec3 *)point, .vertex = 0};
}

Vec3 convex_nearest(const Convex *convex, Vec3 point) {
    ASSERT(convex->radius >= 0.0);
    if (convex->kind == CONVEX_HULL) {
        const GjkResult result =
            gjk_distance((GjkBody){convex_support, convex}, (GjkBody){itself, &point},
                         vec3_sub(point, convex->middle));
        return result.is_apart ? result.point_a : point;
    }
    const Vec3 local = mat3_tmul_vec(convex->axes, vec3_sub(point, convex->center));
    const Vec3 half = convex->half;
    Vec3 nearest = vec3_clamp_to(local, half);
    if (convex->kind == CONVEX_CYLINDER) {
        const double across = sqrt(local.x * local.x + local.y * local.y);
        const double scale = across > half.x ? half.x / across : 1.0;
        nearest.x = scale * local.x;
        nearest.y = scale * local.y;
    }
    const Vec3 out = vec3_sub(local, nearest);
    const double distance = vec3_norm(out);
    if (convex->radius > 0.0 && distance > 0.0) {
        nearest = vec3_add_scaled(nearest, fmin(convex->radius / distance, 1.0), out);
    }
    return vec3_add(convex->center, mat3_mul_vec(convex->axes, nearest));
}

Vec3 convex_corner(const Convex *convex, uint32_t vertex) {
    ASSERT(convex_has_corners(convex));
    ASSERT(vertex < (convex->kind == CONVEX_HULL ? convex->hull->vertex_count : 8));
    const Vec3 half = convex->half;
    const Vec3 local = convex->kind == CONVEX_HULL ? convex->hull->point[vertex]
                                                   : vec3((vertex & 1u) != 0 ? half.x : -half.x,
                                                          (vertex & 2u) != 0 ? half.y : -half.y,
                                                          (vertex & 4u) != 0 ? half.z : -half.z);
    return vec3_add(convex->center, mat3_mul_vec(convex->axes, local));
}

// Sorted by how much of its length goes along the direction, the least first.
typedef struct Spokes {
    uint32_t count, count_max;
    uint32_t *vertex;
    double part[CONVEX_NEIGHBOURS_MAX];
} Spokes;

static void insert_spoke(Spokes *spokes, uint32_t vertex, double part) {
    uint32_t place = spokes->count;
    for (; place > 0 && spokes->part[place - 1] > part; place--) {
        if (place < spokes->count_max) {
            spokes->part[place] = spokes->part[place - 1];
            spokes->vertex[place] = spokes->vertex[place - 1];
        }
    }
    if (place < spokes->count_max) {
        spokes->part[place] = part;
        spokes->vertex[place] = vertex;
    }
    spokes->count += spokes->count < spokes->count_max ? 1 : 0;
}

uint32_t convex_neighbours(const Convex *convex, uint32_t vertex, Vec3 direction,
                           uint32_t *neighbour, uint32_t count_max) {
    ASSERT(count_max >= 3 && count_max <= CONVEX_NEIGHBOURS_MAX);
    if (convex->kind == CONVEX_BOX) {
        for (uint32_t axis = 0; axis < 3; axis++) {
            neighbour[axis] = vertex ^ 1u << axis;
        }
        return 3;
    }
    const Hull *hull = convex->hull;
    const Vec3 d = mat3_tmul_vec(convex->axes, direction);
    Spokes spokes = {.count_max = count_max, .vertex = neighbour};
    for (uint32_t i = hull->neighbour_first[vertex]; i < hull->neighbour_first[vertex + 1]; i++) {
        const Vec3 way = vec3_sub(hull->point[hull->neighbour[i]], hull->point[vertex]);
        insert_spoke(&spokes, hull->neighbour[i], fabs(vec3_dot(way, d)) / vec3_norm(way));
    }
    return spokes.count;
}

static Vec3 axis_of(const Convex *convex, int axis) {
    ASSERT(axis >= 0 && axis < 3);
    return axis == 0 ? convex->axes.c0 : axis == 1 ? convex->axes.c1 : convex->axes.c2;
}

static Facet box_face(const Convex *box, Vec3 direction) {
    ASSERT(box->kind == CONVEX_BOX);
    const Vec3 d = mat3_tmul_vec(box->axes, direction);
    int axis = fabs(d.y) > fabs(d.x) ? 1 : 0;
    axis = fabs(d.z) > fabs(vec3_get(d, axis)) ? 2 : axis;
    const double sign = vec3_get(d, axis) >= 0.0 ? 1.0 : -1.0;
    const int i = (axis + 1) % 3, j = (axis + 2) % 3;
    const Vec3 x = vec3_scale(vec3_get(box->half, i), axis_of(box, i));
    const Vec3 y = vec3_scale(sign * vec3_get(box->half, j), axis_of(box, j));
    Facet face = {.kind = FACET_POLYGON,
                  .normal = vec3_scale(sign, axis_of(box, axis)),
                  .count = 4,
                  .number = 2 * (uint32_t)axis + (sign > 0.0 ? 1u : 0u)};
    face.center = vec3_add_scaled(box->center, vec3_get(box->half, axis), face.normal);
    face.point[0] = vec3_add(face.center, vec3_add(x, y));
    face.point[1] = vec3_add(face.center, vec3_sub(y, x));
    face.point[2] = vec3_sub(face.center, vec3_add(x, y));
    face.point[3] = vec3_sub(face.center, vec3_sub(y, x));
    return face;
}

// A face whose plane is where no point of the hull is beyond it.
static Facet hull_facet(const Convex *convex, Vec3 direction) {
    const Hull *hull = convex->hull;
    const Vec3 d = mat3_tmul_vec(convex->axes, direction);
    const uint32_t face = hull_face_at(hull, hull_support(hull, d), d);
    const Vec3 n = hull->normal[face];
    const Vec3 first = hull->point[hull->corner[hull->face_first[face]]];
    const Vec3 on = vec3_add_scaled(first, hull->offset[face] - vec3_dot(n, first), n);
    return (Facet){.kind = FACET_POLYGON,
                   .normal = mat3_mul_vec(convex->axes, n),
                   .center = vec3_add(convex->center, mat3_mul_vec(convex->axes, on)),
                   .count = hull->face_first[face + 1] - hull->face_first[face],
                   .number = face,
                   .of = convex};
}

static Facet cap_of(const Convex *cylinder, double sign) {
    ASSERT(sign == 1.0 || sign == -1.0);
    Facet cap = {.kind = FACET_DISC,
                 .normal = vec3_scale(sign, cylinder->axes.c2),
                 .x = cylinder->axes.c0,
                 .y = cylinder->axes.c1,
                 .radius = cylinder->half.x,
                 .number = sign > 0.0 ? 1 : 0};
    cap.center = vec3_add_scaled(cylinder->center, cylinder->half.z, cap.normal);
    return cap;
}

// The line on the side of a cylinder, a capsule or, without length, a ball.
static Facet side_of(const Convex *convex, Vec3 direction) {
    const Vec3 axis = convex->axes.c2;
    Vec3 out = direction;
    double radius = convex->radius;
    if (convex->kind == CONVEX_CYLINDER) {
        out = vec3_add_scaled(direction, -vec3_dot(direction, axis), axis);
        const double length = vec3_norm(out);
        ASSERT(length > 0.0);
        out = vec3_scale(1.0 / length, out);
        radius = convex->half.x;
    }
    Facet line = {.kind = FACET_LINE, .normal = direction, .count = 2};
    line.center = vec3_add_scaled(convex->center, radius, out);
    line.point[0] = vec3_add_scaled(line.center, -convex->half.z, axis);
    line.point[1] = vec3_add_scaled(line.center, convex->half.z, axis);
    return line;
}

Facet convex_facet(const Convex *convex, Vec3 direction) {
    VALIDATE(fabs(vec3_dot(direction, direction) - 1.0) < 1e-6);
    const double along = vec3_dot(direction, convex->axes.c2);
    switch (convex->kind) {
    case CONVEX_BOX:
        return box_face(convex, direction);
    case CONVEX_HULL:
        return hull_facet(convex, direction);
    case CONVEX_CYLINDER:
        return fabs(along) >= cap_cosine ? cap_of(convex, along >= 0.0 ? 1.0 : -1.0)
                                         : side_of(convex, direction);
    case CONVEX_SPHERE:
    case CONVEX_CAPSULE:
        break;
    }
    return side_of(convex, direction);
}

// As box_face goes around.
static uint32_t box_face_vertex(uint32_t face, uint32_t i) {
    ASSERT(face < 6 && i < 4);
    const uint32_t axis = face >> 1, sign = face & 1u;
    const uint32_t x = i == 0 || i == 3 ? 1 : 0, y = (i < 2) == (sign == 1) ? 1 : 0;
    return sign << axis | x << (axis + 1) % 3 | y << (axis + 2) % 3;
}

static uint32_t box_edge(uint32_t a, uint32_t b) {
    const uint32_t axis = (a ^ b) >> 1; // 1, 2, 4: 0, 1, 2
    return CONVEX_EDGE | (a < b ? a : b) << 2 | axis;
}

uint32_t facet_vertex(const Facet *facet, uint32_t i) {
    ASSERT(facet->kind == FACET_POLYGON && i < facet->count);
    const Hull *hull = facet->of == NULL ? NULL : facet->of->hull;
    return CONVEX_VERTEX | (hull == NULL ? box_face_vertex(facet->number, i)
                                         : hull->corner[hull->face_first[facet->number] + i]);
}

uint32_t facet_edge(const Facet *facet, uint32_t i) {
    ASSERT(facet->kind == FACET_POLYGON && i < facet->count);
    if (facet->of == NULL) {
        return box_edge(box_face_vertex(facet->number, i),
                        box_face_vertex(facet->number, (i + 1) % 4));
    }
    const Hull *hull = facet->of->hull;
    return CONVEX_EDGE | hull->corner_edge[hull->face_first[facet->number] + i];
}

uint32_t convex_feature_between(const Convex *convex, uint32_t a, uint32_t b, Vec3 direction) {
    ASSERT(convex_has_corners(convex));
    if (convex->kind == CONVEX_HULL) {
        const uint32_t edge = hull_edge_between(convex->hull, a, b);
        if (edge < HULL_EDGES_MAX) {
            return CONVEX_EDGE | edge;
        }
    } else if (__builtin_popcount(a ^ b) == 1) {
        return box_edge(a, b);
    }
    return CONVEX_FACE | convex_facet(convex, direction).number;
}

static bool edge_of(const Convex *box, Vec3 direction, Facet *line) {
    const Vec3 d = mat3_tmul_vec(box->axes, direction);
    int edge = -1, count = 0;
    for (int axis = 0; axis < 3; axis++) {
        if (fabs(vec3_get(d, axis)) < CONVEX_ACROSS) {
            edge = axis;
            count++;
        }
    }
    if (count != 1) {
        return false;
    }
    uint32_t vertex;
    Vec3 local = local_support(box, d, &vertex);
    local = vec3(edge == 0 ? 0.0 : local.x, edge == 1 ? 0.0 : local.y, edge == 2 ? 0.0 : local.z);
    const Vec3 half = vec3_scale(vec3_get(box->half, edge), axis_of(box, edge));
    *line = (Facet){.kind = FACET_LINE,
                    .normal = direction,
                    .count = 2,
                    .center = vec3_add(box->center, mat3_mul_vec(box->axes, local))};
    line->point[0] = vec3_sub(line->center, half);
    line->point[1] = vec3_add(line->center, half);
    return true;
}

// The edge at the farthest vertex that is across the direction; of two, a face is.
static bool hull_edge_of(const Convex *convex, Vec3 direction, Facet *line) {
    const Vec3 d = mat3_tmul_vec(convex->axes, direction);
    const uint32_t vertex = hull_support(convex->hull, d);
    uint32_t neighbour[CONVEX_NEIGHBOURS_MAX];
    const uint32_t count =
        convex_neighbours(convex, vertex, direction, neighbour, CONVEX_NEIGHBOURS_MAX);
    uint32_t across = 0;
    for (uint32_t i = 0; i < count; i++) {
        const Vec3 way = vec3_sub(convex->hull->point[neighbour[i]], convex->hull->point[vertex]);
        across += fabs(vec3_dot(way, d)) < CONVEX_ACROSS * vec3_norm(way) ? 1 : 0;
    }
    if (across != 1) {
        return false;
    }
    // always from the same end
    const bool is_first = vertex < neighbour[0];
    *line = (Facet){.kind = FACET_LINE,
                    .normal = direction,
                    .count = 2,
                    .point = {convex_corner(convex, is_first ? vertex : neighbour[0]),
                              convex_corner(convex, is_first ? neighbour[0] : vertex)},
                    .number = hull_edge_between(convex->hull, vertex, neighbour[0])};
    line->center = vec3_scale(0.5, vec3_add(line->point[0], line->point[1]));
    return true;
}

bool convex_line(const Convex *convex, Vec3 direction, Facet *line) {
    VALIDATE(fabs(vec3_dot(direction, direction) - 1.0) < 1e-6);
    if (convex->kind == CONVEX_HULL) {
        return hull_edge_of(convex, direction, line);
    }
    if (convex_has_corners(convex)) {
        return edge_of(convex, direction, line);
    }
    if (convex->half.z == 0.0 || fabs(vec3_dot(direction, convex->axes.c2)) >= CONVEX_ACROSS) {
        return false;
    }
    *line = side_of(convex, direction);
    return true;
}
