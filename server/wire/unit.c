// SPDX-License-Identifier: MIT
#include "wire/unit.h"

#include "base/bytes.h"

// Of lengths one in forty does; of 20,000 quaternions some ten needed more than 4,096, none more.
enum { LENGTHS = 65536 };

static bool is_same(Quat a, Quat b) {
    return bytes_same_double(a.w, b.w) && bytes_same_double(a.x, b.x) &&
           bytes_same_double(a.y, b.y) && bytes_same_double(a.z, b.z);
}

// A unit quaternion is not quite of length 1, so normalising it may move it on. Others of its
// direction, but of other lengths, are rounded otherwise.
Quat unit_inverse(Quat unit) {
    for (int i = 0; i < LENGTHS; i++) {
        const double length = 1.0 + (double)i / LENGTHS;
        const Quat given = {length * unit.w, length * unit.x, length * unit.y, length * unit.z};
        if (is_same(quat_normalize(given), unit)) {
            return given;
        }
    }
    return unit;
}
