// SPDX-License-Identifier: MIT
// Any bytes as the form of a hull: it is refused, or what is derived of it holds all of its points,
// and is the same again when it is given back.
#include "geometry/hull.h"

#include "base/assert.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

enum { POINTS = 24, FACES = 40, CORNERS = 140 };

typedef struct Bytes {
    const uint8_t *at;
    size_t count;
} Bytes;

static uint32_t take(Bytes *bytes) {
    if (bytes->count == 0) {
        return 0;
    }
    bytes->count--;
    return *bytes->at++;
}

// A multiple of 1/16, times a power of two now and then, and what is no number.
static double take_number(Bytes *bytes) {
    static const double scale[8] = {1.0, 1.0, 1.0, 0x1p-20, 0x1p16, 1e-9, 1e300, NAN};
    const uint32_t value = take(bytes), kind = take(bytes) & 7u;
    return ((double)value - 128.0) / 16.0 * scale[kind];
}

static void judge(const HullForm *form, size_t corner_count) {
    const HullNames names = {"points", "faces"};
    Error error = {0};
    if (hull_check(form, corner_count, &names, &error) != STATUS_OK) {
        ASSERT(error.status == STATUS_INVALID_ARGUMENT && error.message[0] != '\0');
        return;
    }
    const Hull *hull = hull_open(form, malloc(hull_bytes(form)));
    ASSERT(hull->vertex_count + hull->face_count == hull->edge_count + 2);
    ASSERT(hull->mass.volume > 0.0 && hull->inner_radius > 0.0);
    for (uint32_t i = 0; i < form->point_count; i++) {
        ASSERT(hull_outside(hull, form->point[i]) <= 0.0);
    }
    const HullForm again = hull_form(hull);
    ASSERT(hull_check(&again, corner_count, &names, NULL) == STATUS_OK);
    ASSERT(memcmp(again.corner, form->corner, corner_count * sizeof(uint32_t)) == 0);
    free((void *)hull);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) {
    Bytes from = {bytes, count};
    static Vec3 point[POINTS];
    static uint32_t face_first[FACES + 1], corner[CORNERS];
    HullForm form = {point, take(&from) % POINTS, face_first, take(&from) % FACES, corner};
    for (uint32_t i = 0; i < form.point_count; i++) {
        const double x = take_number(&from), y = take_number(&from);
        point[i] = vec3(x, y, take_number(&from));
    }
    uint32_t corners = 0;
    for (uint32_t f = 0; f < form.face_count; f++) {
        const uint32_t own = take(&from) % 8;
        face_first[f] = corners;
        for (uint32_t i = 0; i < own && corners < CORNERS; i++) {
            corner[corners++] = take(&from) % (POINTS + 1);
        }
    }
    face_first[form.face_count] = corners;
    judge(&form, corners);
    return 0;
}
