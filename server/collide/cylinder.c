// SPDX-License-Identifier: MIT
// A sphere and a cylinder, closed form: the nearest point of a rectangle, half the cylinder's cut.
#include "base/assert.h"
#include "collide/narrow_parts.h"

// Of the size: a centre nearer to the axis than this has no side that it is nearest to.
static const double on_axis_part = 1e-12;
// Of the size: a centre nearer to the surface than this is on it: rounding has turned the direction
// to the nearest point.
static const double on_surface_part = 1e-9;

// The way out of the cylinder from a point at `across` from its axis and `along` it.
typedef struct WayOut {
    double across, along; // unit
    double distance;      // of the point from the surface; negative inside
} WayOut;

static WayOut find_way_out(double across, double along, double radius, double half) {
    const double beyond_side = across - radius, beyond_cap = fabs(along) - half;
    const double up = along >= 0.0 ? 1.0 : -1.0;
    const double slack = on_surface_part * (radius + half);
    if (beyond_side > 0.0 && beyond_cap > 0.0 && beyond_side + beyond_cap > slack) { // of the rim
        const double distance = sqrt(beyond_side * beyond_side + beyond_cap * beyond_cap);
        return (WayOut){beyond_side / distance, up * beyond_cap / distance, distance};
    }
    return beyond_cap >= beyond_side ? (WayOut){0.0, up, beyond_cap}
                                     : (WayOut){1.0, 0.0, beyond_side};
}

void sphere_cylinder(const Primitive *a, const Pose *pose_a, const Primitive *b, const Pose *pose_b,
                     double reach, Manifold *manifold) {
    ASSERT(a->kind == PRIMITIVE_SPHERE && b->kind == PRIMITIVE_CYLINDER && manifold->count == 0);
    const double radius = b->size.x, half = b->size.y;
    const Mat3 axes = quat_to_mat3(pose_b->orientation);
    const Vec3 c = mat3_tmul_vec(axes, vec3_sub(pose_a->position, pose_b->position));
    const double across = sqrt(c.x * c.x + c.y * c.y);
    const WayOut out = find_way_out(across, c.z, radius, half);
    const double gap = out.distance - a->size.x;
    if (gap > reach) {
        return;
    }
    const bool is_on_axis = across <= on_axis_part * radius;
    const double x = is_on_axis ? 1.0 : c.x / across, y = is_on_axis ? 0.0 : c.y / across;
    const Vec3 n = mat3_mul_vec(axes, vec3(out.across * x, out.across * y, out.along));
    manifold->normal = vec3_neg(n);
    manifold->count = 1;
    manifold->point[0] = (ManifoldPoint){
        .position = vec3_add_scaled(pose_a->position, -(a->size.x + 0.5 * gap), n), .gap = gap};
}
