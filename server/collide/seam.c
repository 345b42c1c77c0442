// SPDX-License-Identifier: MIT
#include "collide/seam.h"

#include "base/assert.h"

// see the header
static const double step_part = 1e-3;
// in steps: how far before a face its cover is looked for
static const double before_steps = 4.0;
// sine from which on a normal leans towards a face: rounding, with room
static const double lean_min = 1e-9;
// sine below which a plane does not climb along a face: faces that rest on each other are so
// parallel
static const double slope_min = 2e-3;

double seam_step(const Primitive *a, const Primitive *b) {
    const double of_a = primitive_face(a), of_b = primitive_face(b);
    return step_part * (of_a < of_b ? of_a : of_b);
}

// Whether it is nowhere narrower than the reach of seam_before, twice.
static bool is_wide_triangle(Vec3 a, Vec3 b, Vec3 c, double step) {
    const Vec3 p = vec3_sub(b, a), q = vec3_sub(c, a), across = vec3_cross(p, q);
    const double least = 2.0 * before_steps * step;
    const double longer = fmax(vec3_dot(p, p), vec3_dot(q, q));
    return vec3_dot(across, across) > least * least * longer;
}

bool seam_is_none(const Manifold *manifold, double step) {
    ASSERT(manifold->count <= MANIFOLD_ROOM && step > 0.0);
    if (manifold->count < 3) {
        return false;
    }
    for (uint32_t i = 0; i < manifold->count; i++) {
        if (fabs(manifold->point[i].gap) > step) {
            return false;
        }
    }
    // any three, so that their order is nothing; of most contacts the first are
    bool is_wide = false;
    for (uint32_t i = 2; i < manifold->count && !is_wide; i++) {
        for (uint32_t k = 1; k < i && !is_wide; k++) {
            for (uint32_t m = 0; m < k && !is_wide; m++) {
                is_wide = is_wide_triangle(manifold->point[m].position, manifold->point[k].position,
                                           manifold->point[i].position, step);
            }
        }
    }
    return is_wide;
}

SeamPoints seam_points(const Manifold *manifold, const Pose *pose, int side) {
    ASSERT(side == 0 || side == 1);
    ASSERT(manifold->count <= MANIFOLD_ROOM);
    Mat3 axes = quat_to_mat3(pose->orientation);
    Vec3 outward = side == 0 ? manifold->normal : vec3_neg(manifold->normal);
    SeamPoints points = {.count = manifold->count, .outward = mat3_tmul_vec(axes, outward)};
    for (uint32_t i = 0; i < manifold->count; i++) {
        // the manifold's point is midway between the surfaces
        const ManifoldPoint *point = &manifold->point[i];
        Vec3 on_surface = vec3_add_scaled(point->position, -0.5 * point->gap, outward);
        points.point[i] = mat3_tmul_vec(axes, vec3_sub(on_surface, pose->position));
    }
    return points;
}

static double face_sign(int face) {
    return (face & 1) != 0 ? 1.0 : -1.0;
}

static Vec3 along_axis(int axis, double length) {
    ASSERT(axis >= 0 && axis < 3);
    return vec3(axis == 0 ? length : 0.0, axis == 1 ? length : 0.0, axis == 2 ? length : 0.0);
}

static bool all_lie_on(const SeamPoints *points, Vec3 normal, double offset, double step) {
    bool lie = vec3_dot(normal, points->outward) > lean_min;
    for (uint32_t i = 0; lie && i < points->count; i++) {
        lie = vec3_dot(normal, points->point[i]) >= offset - step;
    }
    return lie;
}

static uint32_t hull_faces(const Hull *hull, const SeamPoints *points, double step,
                           SeamFace face[SEAM_FACES_MAX]) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < hull->face_count && count < SEAM_FACES_MAX; i++) {
        if (all_lie_on(points, hull->normal[i], hull->offset[i], step)) {
            face[count++] = (SeamFace){.number = i, .normal = hull->normal[i]};
        }
    }
    return count;
}

uint32_t seam_faces(const Primitive *solid, const SeamPoints *points, double step,
                    SeamFace face[SEAM_FACES_MAX]) {
    ASSERT(primitive_rows[solid->kind].has_seams);
    if (solid->kind == PRIMITIVE_HULL) {
        return hull_faces(solid->geometry->hull, points, step, face);
    }
    uint32_t count = 0;
    for (int i = 0; i < 6; i++) {
        const Vec3 normal = along_axis(i / 2, face_sign(i));
        if (all_lie_on(points, normal, vec3_get(solid->size, i / 2), step)) {
            face[count++] = (SeamFace){.number = (uint32_t)i, .normal = normal};
        }
    }
    return count;
}

bool seam_is_on(const Primitive *box, const SeamPoints *points, double step) {
    ASSERT(points->count <= MANIFOLD_ROOM && step > 0.0);
    for (uint32_t i = 0; i < points->count; i++) {
        const Vec3 p = points->point[i];
        if (fabs(p.x) > box->size.x + step || fabs(p.y) > box->size.y + step ||
            fabs(p.z) > box->size.z + step) {
            return false;
        }
    }
    return true;
}

Vec3 seam_before(const SeamPoints *points, uint32_t i, Vec3 normal, double step) {
    ASSERT(i < points->count);
    return vec3_add_scaled(points->point[i], before_steps * step, normal);
}

uint32_t seam_covers(const Primitive *solid, const Pose *pose, const Vec3 *place, uint32_t count,
                     double step) {
    ASSERT(count <= 32);
    const PrimitiveRow *row = &primitive_rows[solid->kind];
    if (row->covers == NULL) {
        return 0;
    }
    Mat3 axes = quat_to_mat3(pose->orientation);
    uint32_t covered = 0;
    for (uint32_t i = 0; i < count; i++) {
        Vec3 p = mat3_tmul_vec(axes, vec3_sub(place[i], pose->position));
        covered |= row->covers(solid, p, step) ? 1u << i : 0u;
    }
    return covered;
}

// What a plane climbs along a way of that slope: all of it, or, where it is hardly inclined, what
// it climbs near the point.
static double climb(double slope, double way, double step) {
    return slope > 0.5 ? slope * way : slope * fmin(way, 2.0 * before_steps * step);
}

static double box_rise(const Primitive *box, uint32_t face, Vec3 point, Vec3 plane_normal,
                       double step) {
    double rise = 0.0;
    for (int axis = 0; axis < 3; axis++) {
        double slope = vec3_get(plane_normal, axis);
        if (axis == (int)face / 2 || fabs(slope) < slope_min) {
            continue;
        }
        double way = vec3_get(box->size, axis) - (slope > 0.0 ? 1.0 : -1.0) * vec3_get(point, axis);
        rise += climb(fabs(slope), way, step);
    }
    return rise;
}

double seam_corner_rise(Vec3 corner, Vec3 point, Vec3 plane_normal, double step) {
    const Vec3 way = vec3_sub(corner, point);
    const double length = vec3_norm(way), climbed = vec3_dot(plane_normal, way);
    return climbed > slope_min * length ? climb(climbed / length, length, step) : 0.0;
}

static double hull_rise(const Hull *hull, uint32_t face, Vec3 point, Vec3 plane_normal,
                        double step) {
    double rise = 0.0;
    for (uint32_t i = hull->face_first[face]; i < hull->face_first[face + 1]; i++) {
        rise =
            fmax(rise, seam_corner_rise(hull->point[hull->corner[i]], point, plane_normal, step));
    }
    return rise;
}

double seam_rise(const Primitive *solid, const SeamFace *face, Vec3 point, Vec3 plane_normal,
                 Vec3 plane_point, double step) {
    double rise = 0.0;
    if (primitive_is_surface(solid->kind)) {
        rise = seam_surface_rise(solid->geometry->mesh, face, point, plane_normal, step);
    } else if (solid->kind == PRIMITIVE_HULL) {
        rise = hull_rise(solid->geometry->hull, face->number, point, plane_normal, step);
    } else if (solid->kind == PRIMITIVE_BOX) {
        rise = box_rise(solid, face->number, point, plane_normal, step);
    }
    return vec3_dot(plane_normal, vec3_sub(point, plane_point)) + rise;
}

void seam_extend(uint32_t faces, double length, Primitive *box, Pose *pose) {
    ASSERT(faces >> 6 == 0 && length >= 0.0);
    Mat3 axes = quat_to_mat3(pose->orientation);
    const Vec3 axis[3] = {axes.c0, axes.c1, axes.c2};
    for (int face = 0; faces >> face != 0; face++) {
        if ((faces >> face & 1u) != 0) {
            box->size = vec3_add(box->size, along_axis(face / 2, 0.5 * length));
            pose->position =
                vec3_add_scaled(pose->position, 0.5 * length * face_sign(face), axis[face / 2]);
        }
    }
}
