// SPDX-License-Identifier: MIT
#include "world/primitive.h"

#include "base/assert.h"
#include "world/range.h"

static const double pi = 3.14159265358979323846;

// ---- spheres

static double sphere_volume(const Primitive *primitive) {
    const Vec3 size = primitive->size;
    return 4.0 / 3.0 * pi * size.x * size.x * size.x;
}

static Sym3 sphere_gyration(const Primitive *primitive) {
    const Vec3 size = primitive->size;
    double g = 0.4 * size.x * size.x;
    return (Sym3){g, g, g, 0.0, 0.0, 0.0};
}

static Vec3 sphere_extent(const Primitive *primitive, Mat3 rotation) {
    const Vec3 size = primitive->size;
    (void)rotation;
    return vec3(size.x, size.x, size.x);
}

static double sphere_reach(const Primitive *primitive) {
    const Vec3 size = primitive->size;
    return size.x;
}

static double no_length(const Primitive *primitive) {
    (void)primitive;
    return 0.0;
}

// ---- boxes

static double box_volume(const Primitive *primitive) {
    const Vec3 size = primitive->size;
    return 8.0 * size.x * size.y * size.z;
}

static Sym3 box_gyration(const Primitive *primitive) {
    const Vec3 size = primitive->size;
    double xx = size.x * size.x, yy = size.y * size.y, zz = size.z * size.z;
    return (Sym3){(yy + zz) / 3.0, (xx + zz) / 3.0, (xx + yy) / 3.0, 0.0, 0.0, 0.0};
}

static Vec3 box_extent(const Primitive *primitive, Mat3 r) {
    const Vec3 size = primitive->size;
    return vec3(fabs(r.c0.x) * size.x + fabs(r.c1.x) * size.y + fabs(r.c2.x) * size.z,
                fabs(r.c0.y) * size.x + fabs(r.c1.y) * size.y + fabs(r.c2.y) * size.z,
                fabs(r.c0.z) * size.x + fabs(r.c1.z) * size.y + fabs(r.c2.z) * size.z);
}

static double box_reach(const Primitive *primitive) {
    const Vec3 size = primitive->size;
    return vec3_norm(size);
}

static double box_thickness(const Primitive *primitive) {
    const Vec3 size = primitive->size;
    const double least = size.x < size.y ? size.x : size.y;
    return least < size.z ? least : size.z;
}

static double box_length(const Primitive *primitive) {
    const Vec3 size = primitive->size;
    const double most = size.x > size.y ? size.x : size.y;
    return most > size.z ? most : size.z;
}

static bool box_covers(const Primitive *primitive, Vec3 p, double slack) {
    const Vec3 size = primitive->size;
    return fabs(p.x) <= size.x + slack && fabs(p.y) <= size.y + slack &&
           fabs(p.z) <= size.z + slack;
}

// ---- capsules

static double capsule_volume(const Primitive *primitive) {
    const Vec3 size = primitive->size;
    return pi * size.x * size.x * (2.0 * size.y + 4.0 / 3.0 * size.x);
}

// A cylinder and two halves of a ball, whose centres of mass are 3/8 of the radius beyond the ends
// of the axis.
static Sym3 capsule_gyration(const Primitive *primitive) {
    const Vec3 size = primitive->size;
    double r = size.x, half = size.y;
    double whole = 3.0 * half + 2.0 * r;
    double cylinder = 3.0 * half / whole, ball = 2.0 * r / whole; // shares of the mass
    double along = (0.5 * cylinder + 0.4 * ball) * r * r;
    double across = cylinder * (0.25 * r * r + half * half / 3.0) +
                    ball * (0.4 * r * r + 0.75 * r * half + half * half);
    return (Sym3){across, across, along, 0.0, 0.0, 0.0};
}

static Vec3 capsule_extent(const Primitive *primitive, Mat3 r) {
    const Vec3 size = primitive->size;
    return vec3(fabs(r.c2.x) * size.y + size.x, fabs(r.c2.y) * size.y + size.x,
                fabs(r.c2.z) * size.y + size.x);
}

static double capsule_reach(const Primitive *primitive) {
    const Vec3 size = primitive->size;
    return size.x + size.y;
}

static double capsule_arm(const Primitive *primitive) {
    const Vec3 size = primitive->size;
    return size.y; // its ends are balls
}

// ---- cylinders

static double cylinder_volume(const Primitive *primitive) {
    const Vec3 size = primitive->size;
    return 2.0 * pi * size.x * size.x * size.y;
}

static Sym3 cylinder_gyration(const Primitive *primitive) {
    const Vec3 size = primitive->size;
    const double rr = size.x * size.x, across = 0.25 * rr + size.y * size.y / 3.0;
    return (Sym3){across, across, 0.5 * rr, 0.0, 0.0, 0.0};
}

// Half of how high a disc stands whose normal has this share of an axis.
static double disc_extent(double radius, double share) {
    return radius * sqrt(fmax(0.0, 1.0 - share * share));
}

static Vec3 cylinder_extent(const Primitive *primitive, Mat3 r) {
    const Vec3 size = primitive->size;
    return vec3(fabs(r.c2.x) * size.y + disc_extent(size.x, r.c2.x),
                fabs(r.c2.y) * size.y + disc_extent(size.x, r.c2.y),
                fabs(r.c2.z) * size.y + disc_extent(size.x, r.c2.z));
}

static double cylinder_reach(const Primitive *primitive) {
    const Vec3 size = primitive->size;
    return sqrt(size.x * size.x + size.y * size.y);
}

static double cylinder_thickness(const Primitive *primitive) {
    const Vec3 size = primitive->size;
    return fmin(size.x, size.y);
}

static double cylinder_length(const Primitive *primitive) {
    const Vec3 size = primitive->size;
    return fmax(size.x, size.y);
}

static bool cylinder_covers(const Primitive *primitive, Vec3 p, double slack) {
    const Vec3 size = primitive->size;
    const double radius = size.x + slack;
    return p.x * p.x + p.y * p.y <= radius * radius && fabs(p.z) <= size.y + slack;
}

// ---- planes

static bool plane_covers(const Primitive *primitive, Vec3 p, double slack) {
    (void)primitive;
    return p.z <= slack;
}

// ---- hulls, in the axes and about the origin of their geometry

static const Hull *hull_of(const Primitive *primitive) {
    ASSERT(primitive->geometry != NULL && primitive->geometry->kind == GEOMETRY_HULL);
    return primitive->geometry->hull;
}

static double hull_volume(const Primitive *primitive) {
    return hull_of(primitive)->mass.volume;
}

static Sym3 hull_gyration(const Primitive *primitive) {
    return hull_of(primitive)->mass.gyration;
}

static Vec3 hull_center(const Primitive *primitive) {
    return hull_of(primitive)->mass.center;
}

static void hull_box(const Primitive *primitive, Mat3 rotation, Vec3 *low, Vec3 *high) {
    hull_bounds(hull_of(primitive), rotation, low, high);
}

static double hull_farthest(const Primitive *primitive) {
    return hull_of(primitive)->reach;
}

static double hull_inner(const Primitive *primitive) {
    return hull_of(primitive)->inner_radius;
}

static double hull_length(const Primitive *primitive) {
    const Vec3 sides = vec3_sub(hull_of(primitive)->high, hull_of(primitive)->low);
    return 0.5 * fmax(sides.x, fmax(sides.y, sides.z));
}

static bool hull_covers(const Primitive *primitive, Vec3 p, double slack) {
    return hull_outside(hull_of(primitive), p) <= slack;
}

// ---- surfaces

static const Mesh *mesh_of(const Primitive *primitive) {
    ASSERT(primitive->geometry != NULL && primitive->geometry->mesh != NULL);
    return primitive->geometry->mesh;
}

static void mesh_box(const Primitive *primitive, Mat3 rotation, Vec3 *low, Vec3 *high) {
    const Mesh *mesh = mesh_of(primitive);
    const Vec3 bottom = vec3(mesh->low.x, mesh->low.y, mesh->floor);
    const Vec3 middle = mat3_mul_vec(rotation, vec3_scale(0.5, vec3_add(bottom, mesh->high)));
    const Primitive box = {.size = vec3_scale(0.5, vec3_sub(mesh->high, bottom))};
    const Vec3 half = box_extent(&box, rotation);
    *low = vec3_sub(middle, half);
    *high = vec3_add(middle, half);
}

static double mesh_farthest(const Primitive *primitive) {
    return mesh_of(primitive)->reach;
}

static double mesh_length(const Primitive *primitive) {
    const Vec3 sides = vec3_sub(mesh_of(primitive)->high, mesh_of(primitive)->low);
    return 0.5 * fmax(sides.x, fmax(sides.y, sides.z));
}

// ---- all of them

#define NAMED(upper, lower) .name = #upper, .key = #lower

const PrimitiveRow primitive_rows[PRIMITIVE_COUNT] = {
    [PRIMITIVE_SPHERE] = {NAMED(SPHERE, sphere), .size_count = 1,
                          .size = {{"radius", RANGE_RADIUS}}, .volume = sphere_volume,
                          .gyration = sphere_gyration, .extent = sphere_extent,
                          .reach = sphere_reach, .thickness = sphere_reach, .length = sphere_reach,
                          .face = sphere_reach, .arm = no_length},
    [PRIMITIVE_BOX] = {NAMED(BOX, box), .size_count = 3,
                       .size = {{"half_extents", RANGE_HALF_EXTENT},
                                {"half_extents", RANGE_HALF_EXTENT},
                                {"half_extents", RANGE_HALF_EXTENT}},
                       .is_list = true, .volume = box_volume, .gyration = box_gyration,
                       .extent = box_extent, .reach = box_reach, .thickness = box_thickness,
                       .length = box_length, .face = box_length, .arm = box_reach,
                       .covers = box_covers, .has_seams = true},
    [PRIMITIVE_PLANE] = {NAMED(PLANE, plane), .arm = no_length, .covers = plane_covers},
    [PRIMITIVE_CAPSULE] = {NAMED(CAPSULE, capsule), .size_count = 2,
                           .size = {{"radius", RANGE_RADIUS}, {"half_length", RANGE_HALF_LENGTH}},
                           .volume = capsule_volume, .gyration = capsule_gyration,
                           .extent = capsule_extent, .reach = capsule_reach,
                           .thickness = sphere_reach, .length = capsule_reach, .face = sphere_reach,
                           .arm = capsule_arm},
    [PRIMITIVE_CYLINDER] = {NAMED(CYLINDER, cylinder), .size_count = 2,
                            .size = {{"radius", RANGE_RADIUS}, {"half_length", RANGE_HALF_LENGTH}},
                            .volume = cylinder_volume, .gyration = cylinder_gyration,
                            .extent = cylinder_extent, .reach = cylinder_reach,
                            .thickness = cylinder_thickness, .length = cylinder_length,
                            .face = sphere_reach, .arm = cylinder_reach, .covers = cylinder_covers},
    [PRIMITIVE_HULL] = {NAMED(HULL, hull), .geometry = GEOMETRY_HULL, .volume = hull_volume,
                        .center = hull_center, .gyration = hull_gyration, .bounds = hull_box,
                        .reach = hull_farthest, .thickness = hull_inner, .length = hull_length,
                        .face = hull_inner, .arm = hull_farthest, .covers = hull_covers,
                        .has_seams = true},
    [PRIMITIVE_MESH] = {NAMED(MESH, mesh), .geometry = GEOMETRY_MESH, .bounds = mesh_box,
                        .reach = mesh_farthest, .length = mesh_length, .arm = mesh_farthest},
    [PRIMITIVE_HEIGHT_FIELD] = {NAMED(HEIGHT_FIELD, height_field),
                                .geometry = GEOMETRY_HEIGHT_FIELD, .bounds = mesh_box,
                                .reach = mesh_farthest, .length = mesh_length,
                                .arm = mesh_farthest},
};
