// SPDX-License-Identifier: MIT
// Surfaces: floors of triangles, flat, sloped and bumpy; closed ones about something solid or about
// a room; peaks and pits; triangles anywhere; height fields; of one side and of two, about a frame
// that is elsewhere. And such as are none: open in a wrong way, slivers, numbers that are none.
#include "base/assert.h"
#include "histories/make_pieces.h"

#include <math.h>
#include <string.h>

enum {
    CELLS_MAX = 6, // along a side
    FAN_MAX = 9,
    LOOSE_MAX = 6,
    TRIANGLES_MAX = HULL_FACES_MAX + 1, // a hull's, each of three corners
    POINTS_MAX = 3 * TRIANGLES_MAX
};

typedef struct Draft {
    Vec3 point[POINTS_MAX];
    uint32_t corner[3 * TRIANGLES_MAX];
    uint32_t point_count, triangle_count;
    bool is_two_sided;
} Draft;

static void add_triangle(Draft *draft, uint32_t a, uint32_t b, uint32_t c) {
    ASSERT(draft->triangle_count < TRIANGLES_MAX);
    const uint32_t corner[3] = {a, b, c};
    memcpy(draft->corner + 3 * (size_t)draft->triangle_count++, corner, sizeof(corner));
}

// ---- heights

// How high a surface is over a grid: flat, sloped, bumpy, in steps, or all of it.
typedef struct Relief {
    double slope[2], bump, step;
} Relief;

static Relief any_relief(Make *make, double cell) {
    Relief relief = {{0.0, 0.0}, 0.0, 0.0};
    const uint32_t how = make_roll(make, 5);
    if (how == 1 || how == 4) {
        relief.slope[0] = make_uniform(make, -0.7, 0.7);
        relief.slope[1] = make_chance(make, 50) ? 0.0 : make_uniform(make, -0.7, 0.7);
    }
    if (how == 2 || how == 4) {
        relief.bump = cell * make_number(make, 0.01, 0.8, 1e-9, 1e3);
    }
    relief.step = how == 3 ? 0.25 * cell * (1 + make_roll(make, 4)) : 0.0;
    return relief;
}

static double any_height(Make *make, const Relief *relief, double x, double y) {
    return relief->slope[0] * x + relief->slope[1] * y +
           make_uniform(make, -1.0, 1.0) * relief->bump + make_roll(make, 3) * relief->step;
}

// ---- meshes

// The points of a grid lie anywhere about where they should, or there.
static void put_floor(Make *make, Draft *draft) {
    const uint32_t columns = 1 + make_roll(make, CELLS_MAX), rows = 1 + make_roll(make, CELLS_MAX);
    const double cell = make_number(make, 0.1, 1.0, 1e-5, 1e4);
    const double stray = make_chance(make, 40) ? 0.0 : 0.3 * cell;
    const Relief relief = any_relief(make, cell);
    for (uint32_t k = 0; k < (columns + 1) * (rows + 1); k++) {
        const double x =
            cell * (k % (columns + 1) - 0.5 * columns) + stray * make_uniform(make, -1, 1);
        const double y =
            cell * (k / (columns + 1) - 0.5 * rows) + stray * make_uniform(make, -1, 1);
        draft->point[draft->point_count++] = vec3(x, y, any_height(make, &relief, x, y));
    }
    for (uint32_t k = 0; k < columns * rows; k++) {
        const uint32_t low = k / columns * (columns + 1) + k % columns, high = low + columns + 2;
        if (make_chance(make, 4)) {
            continue; // a hole
        }
        if (make_chance(make, 50)) {
            add_triangle(draft, low, low + 1, high);
            add_triangle(draft, low, high, high - 1);
        } else {
            add_triangle(draft, low, low + 1, high - 1);
            add_triangle(draft, low + 1, high, high - 1);
        }
    }
    if (draft->triangle_count == 0) {
        add_triangle(draft, 0, 1, columns + 1);
    }
}

// About what a hull is of, or, inside out, about a room.
static void put_closed(Make *make, Draft *draft) {
    const QhullForm *built = make_hull_form(make);
    const double by = make_uniform(make, 1.0, 5.0);
    for (uint32_t i = 0; i < built->form.point_count; i++) {
        draft->point[draft->point_count++] = vec3_scale(by, built->point[i]);
    }
    for (uint32_t f = 0; f < built->form.face_count; f++) {
        const uint32_t first = built->face_first[f], count = built->face_first[f + 1] - first;
        for (uint32_t i = 1; i + 1 < count; i++) {
            add_triangle(draft, built->corner[first], built->corner[first + i],
                         built->corner[first + i + 1]);
        }
    }
}

// A tile: a box, or its top alone, of few triangles or of more.
static void put_tile(Make *make, Draft *draft) {
    const Vec3 half = pieces_half(make);
    static const uint32_t corner[36] = {4, 5, 7, 4, 7, 6, 0, 2, 3, 0, 3, 1, 0, 1, 5, 0, 5, 4,
                                        2, 6, 7, 2, 7, 3, 0, 4, 6, 0, 6, 2, 1, 3, 7, 1, 7, 5};
    if (make_chance(make, 50)) {
        draft->point_count = 8;
        for (uint32_t i = 0; i < 8; i++) {
            draft->point[i] = vec3((i & 1) != 0 ? half.x : -half.x, (i & 2) != 0 ? half.y : -half.y,
                                   (i & 4) != 0 ? half.z : -half.z);
        }
        for (uint32_t k = 0; k < 12; k++) {
            add_triangle(draft, corner[3 * k], corner[3 * k + 1], corner[3 * k + 2]);
        }
        return;
    }
    const uint32_t columns = 1 + make_roll(make, CELLS_MAX), rows = 1 + make_roll(make, CELLS_MAX);
    for (uint32_t k = 0; k < (columns + 1) * (rows + 1); k++) {
        draft->point[draft->point_count++] =
            vec3(half.x * (2.0 * (k % (columns + 1)) / columns - 1.0),
                 half.y * (2.0 * (k / (columns + 1)) / rows - 1.0), 0.0);
    }
    for (uint32_t k = 0; k < columns * rows; k++) {
        const uint32_t low = k / columns * (columns + 1) + k % columns, high = low + columns + 2;
        add_triangle(draft, low, low + 1, high);
        add_triangle(draft, low, high, high - 1);
    }
}

// A peak or a pit, perhaps a part of it alone.
static void put_fan(Make *make, Draft *draft) {
    const uint32_t sides = 3 + make_roll(make, FAN_MAX - 2);
    const double radius = make_number(make, 0.2, 2.0, 1e-5, 1e4);
    const uint32_t there = make_chance(make, 60) ? sides : 1 + make_roll(make, sides);
    draft->point[draft->point_count++] = vec3(0.0, 0.0, radius * make_uniform(make, -1.0, 1.0));
    for (uint32_t i = 0; i < sides; i++) {
        const double angle = 2.0 * M_PI * i / sides;
        draft->point[draft->point_count++] = vec3(radius * cos(angle), radius * sin(angle), 0.0);
    }
    for (uint32_t i = 0; i < there; i++) {
        add_triangle(draft, 0, 1 + i, 1 + (i + 1) % sides);
    }
}

// Each alone: they may lie through each other.
static void put_loose(Make *make, Draft *draft) {
    const uint32_t count = 1 + make_roll(make, LOOSE_MAX);
    const double size = make_number(make, 0.2, 1.5, 1e-5, 1e4);
    for (uint32_t i = 0; i < 3 * count; i++) {
        draft->point[draft->point_count++] =
            vec3(make_uniform(make, -size, size), make_uniform(make, -size, size),
                 make_uniform(make, -size, size));
    }
    for (uint32_t i = 0; i < count; i++) {
        add_triangle(draft, 3 * i, 3 * i + 1, 3 * i + 2);
    }
}

// Each corner is a point of its own, many of them at the same place.
static void part_corners(Draft *draft) {
    const Draft whole = *draft;
    draft->point_count = 3 * whole.triangle_count;
    for (uint32_t k = 0; k < draft->point_count; k++) {
        draft->point[k] = whole.point[whole.corner[k]];
        draft->corner[k] = k;
    }
}

static void turn_inside_out(Draft *draft) {
    for (uint32_t i = 0; i < draft->triangle_count; i++) {
        uint32_t *corner = draft->corner + 3 * (size_t)i;
        const uint32_t second = corner[1];
        corner[1] = corner[2];
        corner[2] = second;
    }
}

static void move_frame(Make *make, Draft *draft) {
    const Mat3 turn = quat_to_mat3(make_turn(make));
    const Vec3 by = vec3(make_uniform(make, -0.3, 0.3), make_uniform(make, -0.3, 0.3),
                         make_uniform(make, -0.3, 0.3));
    for (uint32_t i = 0; i < draft->point_count; i++) {
        draft->point[i] = vec3_add(by, mat3_mul_vec(turn, draft->point[i]));
    }
}

static void put_mesh(Make *make, Draft *draft) {
    const uint32_t how = make_roll(make, 100);
    if (make->scale.is_paved && make_chance(make, 70)) {
        put_tile(make, draft);
    } else if (how < 50) {
        put_floor(make, draft);
    } else if (how < 70) {
        put_closed(make, draft);
    } else if (how < 85) {
        put_fan(make, draft);
    } else {
        put_loose(make, draft);
    }
    draft->is_two_sided = make_chance(make, 30);
    if (make_chance(make, 15)) {
        turn_inside_out(draft);
    }
    if (make_chance(make, 15)) {
        part_corners(draft);
    }
    if (make_chance(make, 20)) {
        move_frame(make, draft);
    }
}

// ---- what is none

static void spoil_mesh(Make *make, Draft *draft) {
    Vec3 *point = &draft->point[make_roll(make, draft->point_count)];
    uint32_t *corner = &draft->corner[make_roll(make, 3 * draft->triangle_count)];
    const Vec3 *first = &draft->point[draft->corner[0]];
    const uint32_t how = make_roll(make, 7);
    if (how == 0) {
        point->y = make_bad_coordinate(make);
    } else if (how == 1) {
        *corner = make_chance(make, 50) ? draft->point_count : UINT32_MAX - make_roll(make, 3);
    } else if (how == 2) { // a sliver, or nearly
        draft->point[draft->corner[1]] = vec3_add(
            *first,
            vec3_scale(1.0 + (make_chance(make, 50) ? 0.0 : make_magnitude(make, 1e-9, 1e-3)),
                       vec3_sub(draft->point[draft->corner[2]], *first)));
    } else if (how == 3) { // the same once more, or from behind
        add_triangle(draft, draft->corner[0], draft->corner[2 - make_roll(make, 2)],
                     draft->corner[1 + make_roll(make, 2)]);
    } else if (how == 4) { // looks to the other side than the others
        const uint32_t second = draft->corner[1];
        draft->corner[1] = draft->corner[2];
        draft->corner[2] = second;
    } else if (how == 5) {
        draft->point_count = make_roll(make, 3);
    } else {
        draft->triangle_count = 0;
    }
}

static void spoil_heights(Make *make, HeightForm *form, double *height) {
    const uint32_t how = make_roll(make, 4);
    if (how == 0) {
        height[make_roll(make, form->columns * form->rows)] = make_bad_coordinate(make);
    } else if (how == 1) {
        static const double bad[] = {0.0, -0.1, NAN, HUGE_VAL, 1e-9, 1e7};
        form->spacing[make_roll(make, 2)] = bad[make_roll(make, sizeof(bad) / sizeof(bad[0]))];
    } else if (how == 2) {
        form->columns = make_roll(make, 2);
    } else {
        form->rows = make_roll(make, 2);
    }
}

// ---- patches

// Of so many, as stripes of any width; NULL: none.
static const uint8_t *make_patches(Make *make, uint32_t count) {
    if (count == 0 || !make_chance(make, 30)) {
        return NULL;
    }
    const uint32_t width = 1 + make_roll(make, 4), kinds = 1 + make_roll(make, MESH_PATCHES_MAX);
    uint8_t *patch = make_column(make, count, sizeof(*patch));
    for (uint32_t i = 0; i < count; i++) {
        patch[i] = (uint8_t)(i / width % kinds);
    }
    if (make_chance(make, 2)) {
        patch[make_roll(make, count)] = MESH_PATCHES_MAX;
    }
    return geometry_patches(patch, count);
}

// ---- bytes

static uint8_t *make_mesh(Make *make, bool is_spoilt, size_t *count) {
    Draft *draft = make_column(make, 1, sizeof(*draft));
    put_mesh(make, draft);
    if (is_spoilt) {
        spoil_mesh(make, draft);
    }
    const MeshForm form = {draft->point,        draft->point_count,
                           draft->corner,       draft->triangle_count,
                           draft->is_two_sided, make_patches(make, draft->triangle_count)};
    *count = geometry_mesh_bytes(&form);
    uint8_t *bytes = make_column(make, *count + MAKE_SPARE_BYTES, 1);
    Sink sink = {.bytes = bytes};
    geometry_write_mesh(&form, &sink);
    ASSERT(sink.count == *count);
    return bytes;
}

static uint8_t *make_heights(Make *make, bool is_spoilt, size_t *count) {
    double height[(CELLS_MAX + 1) * (CELLS_MAX + 1)];
    HeightForm form = {.columns = 2 + make_roll(make, CELLS_MAX),
                       .rows = 2 + make_roll(make, CELLS_MAX),
                       .height = height};
    for (int axis = 0; axis < 2; axis++) {
        form.spacing[axis] = make_number(make, 0.1, 0.8, 1e-5, 1e4);
    }
    Relief relief = any_relief(make, fmin(form.spacing[0], form.spacing[1]));
    if (make->scale.is_paved && make_chance(make, 70)) {
        const Vec3 half = pieces_half(make);
        form.spacing[0] = 2.0 * half.x / (form.columns - 1.0);
        form.spacing[1] = 2.0 * half.y / (form.rows - 1.0);
        relief = (Relief){{0.0, 0.0}, 0.0, 0.0};
    }
    for (uint32_t k = 0; k < form.columns * form.rows; k++) {
        height[k] = any_height(make, &relief,
                               form.spacing[0] * (k % form.columns - 0.5 * (form.columns - 1.0)),
                               form.spacing[1] * (k / form.columns - 0.5 * (form.rows - 1.0)));
    }
    if (is_spoilt) {
        spoil_heights(make, &form, height);
    }
    *count = geometry_heights_bytes(&form);
    uint8_t *bytes = make_column(make, *count + MAKE_SPARE_BYTES, 1);
    Sink sink = {.bytes = bytes};
    geometry_write_heights(&form, &sink);
    ASSERT(sink.count == *count);
    return bytes;
}

uint8_t *make_surface(Make *make, bool is_spoilt, size_t *count) {
    return make_chance(make, 65) ? make_mesh(make, is_spoilt, count)
                                 : make_heights(make, is_spoilt, count);
}
