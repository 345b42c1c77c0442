// SPDX-License-Identifier: MIT
#include "wire/scene/unit.h"

#include "base/bytes.h"

#include <math.h>

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

// What is left of a sum was rounded: where that does not give the sum back, one of its neighbours
// does, unless they are farther apart than those of the sum.
static double before(double sum, double arm) {
    const double left = sum - arm,
                 near[3] = {left, nextafter(left, -HUGE_VAL), nextafter(left, HUGE_VAL)};
    for (int i = 0; i < 3; i++) {
        if (bytes_same_double(near[i] + arm, sum)) {
            return near[i];
        }
    }
    return left + 0.0; // a zero comes back without its sign
}

Vec3 unit_place_before(Vec3 sum, Vec3 arm) {
    return vec3(before(sum.x, arm.x), before(sum.y, arm.y), before(sum.z, arm.z));
}
