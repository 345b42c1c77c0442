// SPDX-License-Identifier: MIT
#include "support/hull_build.h"

#include <check.h>
#include <stdlib.h>

typedef struct Build {
    const Vec3 *point;
    uint32_t count;
    double slack;
    Vec3 *kept; // of the form, owned
    int32_t name[HULL_VERTICES_MAX];
    uint32_t kept_count;
    uint32_t *face_first, *corner; // owned
    uint32_t face_count, corner_count;
} Build;

// The plane through three points, outwards; false: points lie on both sides, or the three in line.
static bool find_plane(const Build *build, const uint32_t at[3], Vec3 *n) {
    const Vec3 p = build->point[at[0]];
    const Vec3 u = vec3_sub(build->point[at[1]], p), v = vec3_sub(build->point[at[2]], p);
    *n = vec3_cross(u, v);
    const double length = vec3_norm(*n);
    if (!(length > 1e-9 * vec3_norm(u) * vec3_norm(v))) {
        return false;
    }
    *n = vec3_scale(1.0 / length, *n);
    bool is_above = false, is_below = false;
    for (uint32_t i = 0; i < build->count && !(is_above && is_below); i++) {
        const double height = vec3_dot(*n, vec3_sub(build->point[i], p));
        is_above = is_above || height > build->slack;
        is_below = is_below || height < -build->slack;
    }
    *n = is_above ? vec3_neg(*n) : *n;
    return !(is_above && is_below);
}

static uint32_t name_of(Build *build, uint32_t point) {
    if (build->name[point] < 0) {
        build->name[point] = (int32_t)build->kept_count;
        build->kept[build->kept_count++] = build->point[point];
    }
    return (uint32_t)build->name[point];
}

// Around the points on the plane, always to the one that has all others on its left.
static void wrap_face(Build *build, const uint32_t *on, uint32_t count, Vec3 n) {
    uint32_t first = on[0];
    for (uint32_t i = 1; i < count; i++) { // a corner: the first along an odd direction
        const Vec3 d = vec3_sub(build->point[on[i]], build->point[first]);
        first = vec3_dot(d, vec3(0.3719, 0.6137, 1.0)) > 0.0 ? on[i] : first;
    }
    uint32_t at = first;
    do {
        const Vec3 p = build->point[at];
        uint32_t next = at;
        for (uint32_t i = 0; i < count; i++) {
            const Vec3 u = vec3_sub(build->point[next], p), v = vec3_sub(build->point[on[i]], p);
            const double turn = vec3_dot(n, vec3_cross(u, v));
            const double slack = 1e-10 * vec3_norm(u) * vec3_norm(v);
            const bool is_farther = vec3_dot(v, v) > vec3_dot(u, u);
            next = on[i] != at && (next == at || turn < -slack || (turn <= slack && is_farther))
                       ? on[i]
                       : next;
        }
        build->corner[build->corner_count++] = name_of(build, at);
        at = next;
        ck_assert_uint_le(build->corner_count, HULL_CORNERS_MAX);
    } while (at != first);
    build->face_first[++build->face_count] = build->corner_count;
}

// Of all triples on a plane the first stands for it.
static void try_face(Build *build, const uint32_t at[3]) {
    Vec3 n;
    if (!find_plane(build, at, &n)) {
        return;
    }
    uint32_t on[HULL_VERTICES_MAX], count = 0;
    for (uint32_t i = 0; i < build->count; i++) {
        if (fabs(vec3_dot(n, vec3_sub(build->point[i], build->point[at[0]]))) <= build->slack) {
            on[count++] = i;
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t j = 0; j < i; j++) {
            for (uint32_t k = 0; k < j; k++) {
                const uint32_t other[3] = {on[k], on[j], on[i]};
                Vec3 m;
                if (other[2] < at[2] ||
                    (other[2] == at[2] &&
                     (other[1] < at[1] || (other[1] == at[1] && other[0] < at[0])))) {
                    if (find_plane(build, other, &m)) {
                        return;
                    }
                }
            }
        }
    }
    wrap_face(build, on, count, n);
}

HullForm hull_form_of_points(const Vec3 *point, uint32_t count) {
    double size = 0.0;
    for (uint32_t i = 0; i < count; i++) {
        size = fmax(size, vec3_norm(vec3_sub(point[i], point[0])));
    }
    Build build = {.point = point, .count = count, .slack = 1e-12 * size};
    build.kept = calloc(count, sizeof(Vec3));
    build.face_first = calloc(HULL_FACES_MAX + 2, sizeof(uint32_t));
    build.corner = calloc(HULL_CORNERS_MAX + 2, sizeof(uint32_t));
    for (uint32_t i = 0; i < count; i++) {
        build.name[i] = -1;
    }
    for (uint32_t i = 2; i < count; i++) {
        for (uint32_t j = 1; j < i; j++) {
            for (uint32_t k = 0; k < j; k++) {
                const uint32_t at[3] = {k, j, i};
                try_face(&build, at);
            }
        }
    }
    return (HullForm){.point = build.kept,
                      .point_count = build.kept_count,
                      .face_first = build.face_first,
                      .face_count = build.face_count,
                      .corner = build.corner};
}

void hull_form_free(HullForm *form) {
    free((void *)form->point);
    free((void *)form->face_first);
    free((void *)form->corner);
}

const Hull *hull_of_points(const Vec3 *point, uint32_t count) {
    HullForm form = hull_form_of_points(point, count);
    const HullNames names = {"points", "faces"};
    Error error = {0};
    if (hull_check(&form, form.face_first[form.face_count], &names, &error) != STATUS_OK) {
        ck_abort_msg("%s: %s", error.field, error.message);
    }
    const Hull *hull = hull_open(&form, malloc(hull_bytes(&form)));
    hull_form_free(&form);
    return hull;
}

void hull_free(const Hull *hull) {
    free((void *)hull);
}

const Hull *hull_of_box(Vec3 half) {
    Vec3 corner[8];
    for (unsigned i = 0; i < 8; i++) {
        corner[i] = vec3((i & 1u) != 0 ? half.x : -half.x, (i & 2u) != 0 ? half.y : -half.y,
                         (i & 4u) != 0 ? half.z : -half.z);
    }
    return hull_of_points(corner, 8);
}

const Hull *hull_of_prism(uint32_t sides, double radius, double half_length) {
    Vec3 corner[HULL_VERTICES_MAX];
    for (uint32_t i = 0; i < sides; i++) {
        const double angle = 6.283185307179586 * i / sides;
        corner[2 * i] = vec3(radius * cos(angle), radius * sin(angle), -half_length);
        corner[2 * i + 1] = vec3(corner[2 * i].x, corner[2 * i].y, half_length);
    }
    return hull_of_points(corner, 2 * sides);
}

const Hull *hull_of_dice(Dice *dice, uint32_t count, Vec3 half) {
    Vec3 point[HULL_VERTICES_MAX];
    for (uint32_t i = 0; i < count; i++) {
        const Vec3 d = dice_direction(dice);
        point[i] = vec3(half.x * d.x, half.y * d.y, half.z * d.z);
    }
    return hull_of_points(point, count);
}
