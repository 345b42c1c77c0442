// SPDX-License-Identifier: MIT
#include "bench/kinds.h"

#include "bench/bench.h"
#include "collide/narrow.h"

#include <math.h>
#include <stdlib.h>

const PrimitiveKind kind_solid[KIND_SOLIDS] = {PRIMITIVE_SPHERE, PRIMITIVE_BOX, PRIMITIVE_CAPSULE,
                                               PRIMITIVE_CYLINDER, PRIMITIVE_HULL};
const PrimitiveKind kind_ground[KIND_GROUNDS] = {PRIMITIVE_PLANE, PRIMITIVE_MESH,
                                                 PRIMITIVE_HEIGHT_FIELD};

enum { HULL_FACES = 20 };
enum { SIDE = 136 }; // cells: 2 KIND_GROUND_HALF / KIND_GROUND_CELL

// (0, 1, golden) and its cyclic neighbours, 0.25 m from the middle.
#define SHORT 0.1314327780297834
#define LONG  0.2126627020880095
Vec3 kind_hull_point[KIND_HULL_POINTS] = {
    {0, SHORT, LONG}, {0, SHORT, -LONG}, {0, -SHORT, LONG}, {0, -SHORT, -LONG},
    {SHORT, LONG, 0}, {SHORT, -LONG, 0}, {-SHORT, LONG, 0}, {-SHORT, -LONG, 0},
    {LONG, 0, SHORT}, {-LONG, 0, SHORT}, {LONG, 0, -SHORT}, {-LONG, 0, -SHORT}};

// ---- geometries

// Faces of three corners whose edges are as long as edges are.
static const Geometry *make_hull(void) {
    static const HullNames names = {"hull.points", "hull.faces"};
    uint32_t first[HULL_FACES + 1] = {0}, corner[3 * HULL_FACES], faces = 0;
    const Vec3 *p = kind_hull_point;
    const double edge = 1.01 * 2.0 * SHORT;
    for (uint32_t i = 0; i < KIND_HULL_POINTS; i++) {
        for (uint32_t j = i + 1; j < KIND_HULL_POINTS; j++) {
            for (uint32_t k = i + 1; k < KIND_HULL_POINTS; k++) {
                const Vec3 along = vec3_sub(p[j], p[i]), over = vec3_sub(p[k], p[i]);
                if (k == j || vec3_norm(along) > edge || vec3_norm(over) > edge ||
                    vec3_norm(vec3_sub(p[k], p[j])) > edge ||
                    vec3_dot(vec3_cross(along, over), p[i]) < 0.0) {
                    continue;
                }
                uint32_t *to = corner + 3 * (size_t)faces++;
                to[0] = i, to[1] = j, to[2] = k;
                first[faces] = 3 * faces;
            }
        }
    }
    const HullForm form = {p, KIND_HULL_POINTS, first, faces, corner};
    const Geometry *geometry = NULL;
    Error error = {0};
    if (geometry_of_hull(scene_shelf(), &form, 3 * (size_t)faces, &names, &geometry, &error) !=
        STATUS_OK) {
        bench_fail("%s: %s", error.field, error.message);
    }
    return geometry;
}

static const Geometry *make_heights(void) {
    static const MeshNames names = {"heights", "spacing", "patches"};
    double *height = bench_memory((SIDE + 1) * (SIDE + 1), sizeof(*height));
    const HeightForm form = {
        SIDE + 1, SIDE + 1, {KIND_GROUND_CELL, KIND_GROUND_CELL}, height, NULL};
    const Geometry *geometry = NULL;
    Error error = {0};
    if (geometry_of_heights(scene_shelf(), &form, &names, &geometry, &error) != STATUS_OK) {
        bench_fail("%s: %s", error.field, error.message);
    }
    free(height);
    return geometry;
}

// The same triangles.
static const Geometry *make_mesh(void) {
    static const MeshNames names = {"points", "triangles", "patches"};
    const Mesh *field = kind_primitive(PRIMITIVE_HEIGHT_FIELD).geometry->mesh;
    const uint32_t points = (SIDE + 1) * (SIDE + 1), triangles = 2 * SIDE * SIDE;
    Vec3 *point = bench_memory(points, sizeof(*point));
    uint32_t *corner = bench_memory(3 * (size_t)triangles, sizeof(*corner));
    for (uint32_t i = 0; i < points; i++) {
        point[i] = mesh_point(field, i);
    }
    for (uint32_t i = 0; i < 3 * triangles; i++) {
        corner[i] = mesh_corner_number(field, i / 3, i % 3);
    }
    const MeshForm form = {point, points, corner, triangles, false, NULL};
    const Geometry *geometry = NULL;
    Error error = {0};
    if (geometry_of_mesh(scene_shelf(), &form, &names, &geometry, &error) != STATUS_OK) {
        bench_fail("%s: %s", error.field, error.message);
    }
    free(point);
    free(corner);
    return geometry;
}

Primitive kind_primitive(PrimitiveKind kind) {
    static const Vec3 size[PRIMITIVE_COUNT] = {
        [PRIMITIVE_SPHERE] = {0.25, 0.0, 0.0},
        [PRIMITIVE_BOX] = {0.25, 0.2, 0.15},
        [PRIMITIVE_CAPSULE] = {0.15, 0.2, 0.0},
        [PRIMITIVE_CYLINDER] = {0.2, 0.2, 0.0},
    };
    static const Geometry *(*const make[PRIMITIVE_COUNT])(void) = {
        [PRIMITIVE_HULL] = make_hull,
        [PRIMITIVE_MESH] = make_mesh,
        [PRIMITIVE_HEIGHT_FIELD] = make_heights,
    };
    static const Geometry *made[PRIMITIVE_COUNT];
    if (make[kind] != NULL && made[kind] == NULL) {
        made[kind] = make[kind]();
    }
    return (Primitive){.kind = kind,
                       .size = size[kind],
                       .local = {.orientation = quat_identity()},
                       .geometry = made[kind]};
}

Id kind_shape(Scene *scene, PrimitiveKind kind) {
    const Primitive primitive = kind_primitive(kind);
    Error error = {0};
    uint64_t worn = 0;
    if (primitive.geometry != NULL &&
        world_add_geometries(scene->world, &primitive.geometry, 1, &worn, &error) != STATUS_OK) {
        bench_fail("%s", error.message);
    }
    const uint32_t kinds = (uint32_t)kind;
    double size[3];
    vec3_store(size, primitive.size);
    const ShapeColumns columns = {.shape_count = 1,
                                  .primitive_count = 1,
                                  .kind = &kinds,
                                  .size = size,
                                  .material = &scene->material,
                                  .geometry = &worn};
    Id id = 0;
    if (world_add_shapes(scene->world, &columns, &id, &error) != STATUS_OK) {
        bench_fail("%s: %s", error.field, error.message);
    }
    return id;
}

// ---- pairs

static double draw(uint64_t *seed) { // in [-1, 1)
    return 2.0 * scene_scatter(seed) - 1.0;
}

static Vec3 draw_direction(uint64_t *seed) {
    for (;;) {
        const Vec3 v = vec3(draw(seed), draw(seed), draw(seed));
        const double norm = vec3_norm(v);
        if (norm > 0.1 && norm <= 1.0) {
            return vec3_scale(1.0 / norm, v);
        }
    }
}

static Quat draw_turn(uint64_t *seed) {
    const double angle = M_PI * scene_scatter(seed);
    const Vec3 axis = vec3_scale(sin(angle), draw_direction(seed));
    return (Quat){cos(angle), axis.x, axis.y, axis.z};
}

static double gap_at(const Primitive *a, const Primitive *b, KindPair pair, double way) {
    pair.b.position = vec3_scale(way, pair.away);
    Manifold manifold = {.count = 0};
    narrow_collide(a, pair.a, b, pair.b, 10.0, &manifold);
    double gap = HUGE_VAL;
    for (uint32_t i = 0; i < manifold.count; i++) {
        gap = fmin(gap, manifold.point[i].gap);
    }
    return gap;
}

KindPair kind_pair(PrimitiveKind a, PrimitiveKind b, double gap, uint64_t *seed) {
    const bool is_ground = kind_is_ground(a); // which is level, as a plane is
    const Primitive first = kind_primitive(is_ground ? PRIMITIVE_PLANE : a),
                    second = kind_primitive(b);
    KindPair pair = {.a.orientation = quat_identity(), .away = vec3(0.0, 0.0, 1.0)};
    if (!is_ground) {
        pair.a.orientation = draw_turn(seed);
        pair.away = draw_direction(seed);
    }
    pair.b.orientation = draw_turn(seed);
    double low = 0.0, high = 2.0;
    for (int i = 0; i < 60; i++) {
        const double way = 0.5 * (low + high);
        *(gap_at(&first, &second, pair, way) < gap ? &low : &high) = way;
    }
    pair.b.position = vec3_scale(high, pair.away);
    return pair;
}
