// SPDX-License-Identifier: MIT
// Hulls, of points as Qhull has them and of faces, thick and thin, round and of few corners, some
// about a frame that is elsewhere; and such as are none: open, flat, dented, of numbers that are
// none.
#include "base/assert.h"
#include "histories/make_pieces.h"

#include <math.h>
#include <string.h>

enum { POINTS_MAX = 300, SIDES_MAX = HULL_VERTICES_MAX / 2 };

// The faces are written one after the other.
static void add_face(QhullForm *built, const uint32_t *corner, uint32_t count) {
    HullForm *form = &built->form;
    const uint32_t first = built->face_first[form->face_count];
    ASSERT(form->face_count < HULL_FACES_MAX && first + count <= HULL_CORNERS_MAX);
    memcpy(built->corner + first, corner, count * sizeof(*corner));
    built->face_first[++form->face_count] = first + count;
}

static void begin_form(QhullForm *built) {
    memset(built, 0, sizeof(*built));
    built->form =
        (HullForm){.point = built->point, .face_first = built->face_first, .corner = built->corner};
}

// A prism on a polygon, or a part of a pyramid, or all of it: how much smaller the top is.
static void put_frustum(QhullForm *built, uint32_t sides, double top, Vec3 half) {
    uint32_t floor[SIDES_MAX] = {0}, ceiling[SIDES_MAX] = {0};
    const bool is_pointed = top == 0.0;
    begin_form(built);
    for (uint32_t i = 0; i < sides; i++) {
        const double angle = 2.0 * M_PI * (i + 0.5) / sides;
        const double x = half.x * cos(angle), y = half.y * sin(angle);
        built->point[i] = vec3(x, y, -half.z);
        built->point[sides + i] = vec3(top * x, top * y, half.z);
        floor[i] = sides - 1 - i;
        ceiling[i] = sides + i;
    }
    built->form.point_count = is_pointed ? sides + 1 : 2 * sides;
    add_face(built, floor, sides);
    for (uint32_t i = 0; i < sides; i++) {
        const uint32_t next = (i + 1) % sides;
        const uint32_t side[4] = {i, next, is_pointed ? sides : sides + next, sides + i};
        add_face(built, side, is_pointed ? 3 : 4);
    }
    if (!is_pointed) {
        add_face(built, ceiling, sides);
    }
}

static void put_box(QhullForm *built, Vec3 half) {
    static const uint32_t faces[6][4] = {{0, 2, 3, 1}, {4, 5, 7, 6}, {0, 1, 5, 4},
                                         {2, 6, 7, 3}, {0, 4, 6, 2}, {1, 3, 7, 5}};
    begin_form(built);
    built->form.point_count = 8;
    for (uint32_t i = 0; i < 8; i++) {
        built->point[i] =
            vec3(i & 1 ? half.x : -half.x, i & 2 ? half.y : -half.y, i & 4 ? half.z : -half.z);
    }
    for (uint32_t f = 0; f < 6; f++) {
        add_face(built, faces[f], 4);
    }
}

static uint32_t how_many_points(Make *make) {
    return make_chance(make, 75)   ? 4 + make_roll(make, 10)
           : make_chance(make, 90) ? 14 + make_roll(make, 50)
                                   : 64 + make_roll(make, POINTS_MAX - 63);
}

// Anywhere in a box, on a ball, or on a coarse grid, where many lie in one plane or are the same.
// false: they make no hull.
static bool put_points(Make *make, QhullForm *built, Vec3 half) {
    Vec3 point[POINTS_MAX];
    const uint32_t count = how_many_points(make), how = make_roll(make, 3);
    const uint32_t corners_max = make_chance(make, 80) ? 0 : 4 + make_roll(make, 30);
    for (uint32_t i = 0; i < count; i++) {
        Vec3 at = vec3(make_uniform(make, -1.0, 1.0), make_uniform(make, -1.0, 1.0),
                       make_uniform(make, -1.0, 1.0));
        if (how == 1) {
            at = vec3_scale(1.0 / fmax(vec3_norm(at), 1e-3), at);
        } else if (how == 2) {
            at = vec3(round(2.0 * at.x) / 2.0, round(2.0 * at.y) / 2.0, round(2.0 * at.z) / 2.0);
        }
        point[i] = vec3(half.x * at.x, half.y * at.y, half.z * at.z);
    }
    const QhullNames names = {"points", "vertices_max"};
    Error error = {0};
    return qhull_build(point, count, corners_max, &names, built, &error) == STATUS_OK;
}

static Vec3 any_half(Make *make) {
    double half[3];
    for (int k = 0; k < 3; k++) {
        half[k] = make_chance(make, 40) ? 0.1 : make_number(make, 0.03, 0.4, 1e-5, 1e4);
    }
    if (make_chance(make, 10)) { // a plate, or two ways round a needle
        half[make_roll(make, 3)] *= 0.05;
    }
    return vec3(half[0], half[1], half[2]);
}

static void put_hull(Make *make, QhullForm *built) {
    const bool is_tile = make->scale.is_paved && make_chance(make, 60);
    const Vec3 half = is_tile ? pieces_half(make) : any_half(make);
    const uint32_t how = make_roll(make, 100);
    if (is_tile || how < 15) {
        put_box(built, half);
    } else if (how < 50 || !put_points(make, built, half)) {
        const uint32_t sides = 3 + make_roll(make, make_chance(make, 90) ? 10 : SIDES_MAX - 2);
        const double top = make_chance(make, 40)   ? 1.0
                           : make_chance(make, 40) ? 0.0
                                                   : make_uniform(make, 0.2, 3.0);
        put_frustum(built, sides, top, half);
    }
    if (make_chance(make, 20)) {
        const Vec3 by = vec3(make_uniform(make, -0.2, 0.2), make_uniform(make, -0.2, 0.2),
                             make_uniform(make, -0.2, 0.2));
        for (uint32_t i = 0; i < built->form.point_count; i++) {
            built->point[i] = vec3_add(built->point[i], by);
        }
    }
}

// ---- what is none

typedef enum Spoil {
    SPOIL_NUMBER, // one that is none, or too large
    SPOIL_FLAT,   // all in a plane, or nearly
    SPOIL_TWICE,  // one point twice
    SPOIL_OPEN,   // a face is missing
    SPOIL_DENT,   // a corner lies inside
    SPOIL_INSIDE, // a face is inside out
    SPOIL_NAME,   // a corner that is no point
    SPOIL_FEW,    // three points
    SPOIL_COUNT   // nothing
} Spoil;

static void flatten(QhullForm *built, double by) {
    for (uint32_t i = 0; i < built->form.point_count; i++) {
        built->point[i].z *= by;
    }
}

static void turn_face(QhullForm *built, uint32_t face) {
    uint32_t *low = built->corner + built->face_first[face],
             *high = built->corner + built->face_first[face + 1];
    while (low < --high) {
        const uint32_t corner = *low;
        *low++ = *high;
        *high = corner;
    }
}

static void spoil_form(Make *make, QhullForm *built, Spoil how) {
    HullForm *form = &built->form;
    Vec3 *any = &built->point[make_roll(make, form->point_count)];
    switch (how) {
    case SPOIL_NUMBER:
        any->y = make_bad_coordinate(make);
        break;
    case SPOIL_FLAT:
        flatten(built, make_chance(make, 50) ? 0.0 : make_magnitude(make, 1e-12, 1e-3));
        break;
    case SPOIL_TWICE:
        *any = built->point[make_roll(make, form->point_count)];
        break;
    case SPOIL_OPEN:
        form->face_count--;
        break;
    case SPOIL_DENT:
        *any = vec3_scale(make_uniform(make, -0.3, 0.9), *any);
        break;
    case SPOIL_INSIDE:
        turn_face(built, make_roll(make, form->face_count));
        break;
    case SPOIL_NAME:
        built->corner[make_roll(make, built->face_first[form->face_count])] =
            make_chance(make, 50) ? form->point_count : UINT32_MAX - make_roll(make, 3);
        break;
    case SPOIL_FEW:
        form->point_count = make_roll(make, 4);
        break;
    case SPOIL_COUNT:
        break;
    }
}

QhullForm *make_hull_form(Make *make) {
    QhullForm *built = make_column(make, 1, sizeof(*built));
    put_hull(make, built);
    return built;
}

uint8_t *make_hull(Make *make, bool is_spoilt, size_t *count) {
    QhullForm *built = make_hull_form(make);
    spoil_form(make, built, is_spoilt ? (Spoil)make_roll(make, SPOIL_COUNT) : SPOIL_COUNT);
    const size_t corners = built->face_first[built->form.face_count];
    *count = geometry_hull_bytes(&built->form, corners);
    uint8_t *bytes = make_column(make, *count + MAKE_SPARE_BYTES, 1);
    Sink sink = {.bytes = bytes};
    geometry_write_hull(&built->form, corners, &sink);
    ASSERT(sink.count == *count);
    return bytes;
}
