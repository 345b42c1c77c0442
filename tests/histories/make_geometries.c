// SPDX-License-Identifier: MIT
// Geometries: hulls, meshes and height fields, and bytes that are none.
#include "histories/make.h"

#include <math.h>

enum { GEOMETRIES_MAX = 12 };

double make_bad_coordinate(Make *make) {
    static const double bad[] = {NAN, HUGE_VAL, -HUGE_VAL, 1e300, 1e7, 1e-320};
    return bad[make_roll(make, sizeof(bad) / sizeof(bad[0]))];
}

// Any byte of it, or its length.
static void spoil_bytes(Make *make, uint8_t *bytes, size_t *count) {
    if (make_chance(make, 50)) {
        bytes[make_roll(make, (uint32_t)*count)] ^= (uint8_t)(1 << make_roll(make, 8));
    } else {
        *count += make_chance(make, 50) ? MAKE_SPARE_BYTES : (size_t)-MAKE_SPARE_BYTES;
    }
}

Input make_geometries(Make *make) {
    const bool is_full = make->world->geometry_count > GEOMETRIES_MAX;
    const uint32_t count = is_full ? 1 : 1 + make_roll(make, 3);
    const uint8_t **bytes = make_column(make, count, sizeof(*bytes));
    size_t *byte_count = make_column(make, count, sizeof(*byte_count));
    const bool is_spoilt = is_full || make_chance(make, 15);
    for (uint32_t i = 0; i < count; i++) {
        const bool is_bad = is_spoilt && i == 0, has_bad_bytes = is_bad && make_chance(make, 25);
        uint8_t *made = make_chance(make, 55)
                            ? make_hull(make, is_bad && !has_bad_bytes, &byte_count[i])
                            : make_surface(make, is_bad && !has_bad_bytes, &byte_count[i]);
        if (has_bad_bytes) {
            spoil_bytes(make, made, &byte_count[i]);
        }
        bytes[i] = made;
    }
    return (Input){.kind = INPUT_GEOMETRIES,
                   .geometries = {.count = count, .bytes = bytes, .byte_count = byte_count}};
}
