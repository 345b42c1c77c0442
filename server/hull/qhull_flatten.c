// SPDX-License-Identifier: MIT
// Planes of faces and places of corners that do not agree, as after faces were merged: in turn each
// face takes the plane in the middle of its corners, and each corner goes to where its planes meet,
// or to the nearest such place. Triangles are flat and ask for nothing.
#include "base/assert.h"
#include "hull/qhull_parts.h"

#include <string.h>

enum { ROUNDS_MAX = 200 };

typedef struct Plane {
    Vec3 normal, center;
    bool is_asked; // more than three corners
} Plane;

static Plane plane_of(const HullForm *form, uint32_t face) {
    const uint32_t first = form->face_first[face], end = form->face_first[face + 1];
    Vec3 area = vec3(0.0, 0.0, 0.0), sum = area;
    const Vec3 origin = form->point[form->corner[first]];
    for (uint32_t i = first; i < end; i++) {
        const Vec3 p = vec3_sub(form->point[form->corner[i]], origin);
        const Vec3 q = vec3_sub(form->point[form->corner[i + 1 < end ? i + 1 : first]], origin);
        area = vec3_add(area, vec3_cross(p, q));
        sum = vec3_add(sum, p);
    }
    const double length = vec3_norm(area);
    return (Plane){.normal = vec3_scale(length > 0.0 ? 1.0 / length : 0.0, area),
                   .center = vec3_add(origin, vec3_scale(1.0 / (end - first), sum)),
                   .is_asked = end - first > 3};
}

static double height_over(const Plane *plane, Vec3 point) {
    return vec3_dot(plane->normal, vec3_sub(point, plane->center));
}

// The smallest way that solves the planes of a corner in the least squares: a few steps of
// Gauss and Seidel, which is a projection onto each in turn.
static Vec3 to_planes(const QhullForm *built, const Plane *plane, uint32_t vertex) {
    const HullForm *form = &built->form;
    Vec3 point = form->point[vertex];
    for (int round = 0; round < 4; round++) {
        for (uint32_t f = 0; f < form->face_count; f++) {
            for (uint32_t i = form->face_first[f]; plane[f].is_asked && i < form->face_first[f + 1];
                 i++) {
                if (form->corner[i] == vertex) {
                    point = vec3_add_scaled(point, -height_over(&plane[f], point), plane[f].normal);
                }
            }
        }
    }
    return point;
}

static double find_planes(const QhullForm *built, Plane *plane) {
    const HullForm *form = &built->form;
    double farthest = 0.0;
    for (uint32_t f = 0; f < form->face_count; f++) {
        plane[f] = plane_of(form, f);
        for (uint32_t i = form->face_first[f]; plane[f].is_asked && i < form->face_first[f + 1];
             i++) {
            farthest = fmax(farthest, fabs(height_over(&plane[f], form->point[form->corner[i]])));
        }
    }
    return farthest;
}

bool qhull_flatten(QhullForm *built, double slack, double way_max) {
    ASSERT(slack > 0.0);
    ASSERT(built->form.face_count <= HULL_FACES_MAX);
    Plane plane[HULL_FACES_MAX];
    Vec3 from[HULL_VERTICES_MAX];
    memcpy(from, built->point, built->form.point_count * sizeof(Vec3));
    for (int round = 0; round < ROUNDS_MAX; round++) {
        if (find_planes(built, plane) <= slack) {
            return true;
        }
        for (uint32_t v = 0; v < built->form.point_count; v++) {
            built->point[v] = to_planes(built, plane, v);
            if (!(vec3_norm(vec3_sub(built->point[v], from[v])) <= way_max)) {
                return false;
            }
        }
    }
    return false;
}
