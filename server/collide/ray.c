// SPDX-License-Identifier: MIT
#include "collide/ray.h"

#include "base/assert.h"

#include <stddef.h>

// Where the ray goes into a ball or an endless round wall, of which `origin` and `way` are seen
// from the centre or across the axis. Around the point that comes nearest, so that what is far away
// loses nothing. false: it begins inside, misses, or ends before.
static bool enters_round(Vec3 origin, Vec3 way, double radius, double *fraction) {
    const double ww = vec3_dot(way, way), ow = vec3_dot(origin, way);
    if (!(vec3_dot(origin, origin) > radius * radius) || !(ow < 0.0)) {
        return false;
    }
    const Vec3 nearest = vec3_add_scaled(origin, -ow / ww, way);
    const double under = radius * radius - vec3_dot(nearest, nearest);
    if (!(under >= 0.0)) {
        return false;
    }
    const double entry = -ow / ww - sqrt(under / ww);
    *fraction = entry > 0.0 ? entry : 0.0;
    return entry <= 1.0;
}

static bool enters_sphere(const Primitive *primitive, Vec3 origin, Vec3 way, double *fraction,
                          Vec3 *normal) {
    if (!enters_round(origin, way, primitive->size.x, fraction)) {
        return false;
    }
    const Vec3 at = vec3_add_scaled(origin, *fraction, way);
    *normal = vec3_scale(1.0 / vec3_norm(at), at);
    return true;
}

static bool enters_plane(const Primitive *primitive, Vec3 origin, Vec3 way, double *fraction,
                         Vec3 *normal) {
    (void)primitive;
    if (!(origin.z > 0.0) || !(origin.z + way.z <= 0.0)) {
        return false;
    }
    *fraction = origin.z / -way.z;
    *normal = vec3(0.0, 0.0, 1.0);
    return *fraction <= 1.0;
}

// The part of the way between two planes across an axis. false: it is nowhere between them.
static bool pass_slab(double origin, double way, double half, double *in, double *out) {
    if (way == 0.0) {
        *in = -HUGE_VAL;
        *out = HUGE_VAL;
        return fabs(origin) <= half;
    }
    const double low = (-half - origin) / way, high = (half - origin) / way;
    *in = low < high ? low : high;
    *out = low < high ? high : low;
    return true;
}

static bool enters_box(const Primitive *primitive, Vec3 origin, Vec3 way, double *fraction,
                       Vec3 *normal) {
    const Vec3 size = primitive->size;
    double in = -HUGE_VAL, out = HUGE_VAL;
    int face = 0;
    for (int axis = 0; axis < 3; axis++) {
        double own_in, own_out;
        if (!pass_slab(vec3_get(origin, axis), vec3_get(way, axis), vec3_get(size, axis), &own_in,
                       &own_out)) {
            return false;
        }
        face = own_in > in ? axis : face;
        in = own_in > in ? own_in : in;
        out = own_out < out ? own_out : out;
    }
    if (!(in > 0.0) || !(in <= out) || !(in <= 1.0)) {
        return false;
    }
    const double side = vec3_get(way, face) > 0.0 ? -1.0 : 1.0;
    *fraction = in;
    *normal = vec3(face == 0 ? side : 0.0, face == 1 ? side : 0.0, face == 2 ? side : 0.0);
    return true;
}

static Vec3 across(Vec3 v) {
    return vec3(v.x, v.y, 0.0);
}

static bool enters_capsule(const Primitive *primitive, Vec3 origin, Vec3 way, double *fraction,
                           Vec3 *normal) {
    const double radius = primitive->size.x, half = primitive->size.y;
    const double along = origin.z < -half ? -half : origin.z > half ? half : origin.z;
    const Vec3 out = vec3(origin.x, origin.y, origin.z - along);
    if (!(vec3_dot(out, out) > radius * radius)) {
        return false;
    }
    double first = HUGE_VAL, wall;
    if (enters_round(across(origin), across(way), radius, &wall) &&
        fabs(origin.z + wall * way.z) <= half) {
        first = wall;
    }
    for (int end = 0; end < 2; end++) {
        const Vec3 from = vec3(origin.x, origin.y, origin.z + (end == 0 ? half : -half));
        double ball;
        first = enters_round(from, way, radius, &ball) && ball < first ? ball : first;
    }
    if (!(first <= 1.0)) {
        return false;
    }
    Vec3 at = vec3_add_scaled(origin, first, way);
    at.z -= at.z < -half ? -half : at.z > half ? half : at.z;
    *fraction = first;
    *normal = vec3_scale(1.0 / vec3_norm(at), at);
    return true;
}

static bool enters_cylinder(const Primitive *primitive, Vec3 origin, Vec3 way, double *fraction,
                            Vec3 *normal) {
    const double radius = primitive->size.x, half = primitive->size.y;
    double in, out, wall;
    if (!pass_slab(origin.z, way.z, half, &in, &out)) {
        return false;
    }
    // through a cap, where that is within the rim
    const Vec3 at = vec3_add_scaled(origin, in, way);
    if (in > 0.0 && in <= 1.0 && at.x * at.x + at.y * at.y <= radius * radius) {
        *fraction = in;
        *normal = vec3(0.0, 0.0, way.z > 0.0 ? -1.0 : 1.0);
        return true;
    }
    if (!enters_round(across(origin), across(way), radius, &wall) || !(wall >= in) ||
        !(wall <= out)) {
        return false;
    }
    const Vec3 on = across(vec3_add_scaled(origin, wall, way));
    *fraction = wall;
    *normal = vec3_scale(1.0 / vec3_norm(on), on);
    return true;
}

static bool enters_hull(const Primitive *primitive, Vec3 origin, Vec3 way, double *fraction,
                        Vec3 *normal) {
    const Hull *hull = primitive->geometry->hull;
    uint32_t face;
    if (!hull_enters(hull, origin, way, fraction, &face)) {
        return false;
    }
    *normal = hull->normal[face];
    return true;
}

// From below, what is solid there is not seen: who begins in it is in it.
static bool enters_surface(const Primitive *primitive, Vec3 origin, Vec3 way, double *fraction,
                           Vec3 *normal) {
    const Mesh *mesh = primitive->geometry->mesh;
    uint32_t triangle;
    if (!mesh_enters(mesh, origin, way, fraction, &triangle)) {
        return false;
    }
    const Vec3 n = mesh_normal(mesh, triangle);
    *normal = vec3_dot(n, way) > 0.0 ? vec3_neg(n) : n;
    return true;
}

typedef bool EntersProc(const Primitive *primitive, Vec3 origin, Vec3 way, double *fraction,
                        Vec3 *normal);

static EntersProc *const table[PRIMITIVE_COUNT] = {
    [PRIMITIVE_SPHERE] = enters_sphere,     [PRIMITIVE_BOX] = enters_box,
    [PRIMITIVE_PLANE] = enters_plane,       [PRIMITIVE_CAPSULE] = enters_capsule,
    [PRIMITIVE_CYLINDER] = enters_cylinder, [PRIMITIVE_HULL] = enters_hull,
    [PRIMITIVE_MESH] = enters_surface,      [PRIMITIVE_HEIGHT_FIELD] = enters_surface,
};

bool ray_enters(const Primitive *primitive, Vec3 origin, Vec3 way, double *fraction, Vec3 *normal) {
    ASSERT(primitive->kind < PRIMITIVE_COUNT && table[primitive->kind] != NULL);
    return table[primitive->kind](primitive, origin, way, fraction, normal);
}

bool ray_meets(const Ray *ray, const Primitive *primitive, Vec3 position, const Mat3 *axes,
               double *fraction, Vec3 *normal) {
    if ((ray->group & primitive->mask) == 0 || (primitive->group & ray->mask) == 0) {
        return false;
    }
    const Vec3 origin = mat3_tmul_vec(*axes, vec3_sub(ray->origin, position));
    Vec3 n;
    if (!ray_enters(primitive, origin, mat3_tmul_vec(*axes, ray->way), fraction, &n)) {
        return false;
    }
    *normal = mat3_mul_vec(*axes, n);
    VALIDATE(*fraction >= 0.0 && *fraction <= 1.0);
    return true;
}
