// SPDX-License-Identifier: MIT
#include "replay/compare/distance.h"

#include "base/bytes.h"
#include "base/trig.h"

#include <math.h>

static bool is_same(const double *a, const double *b, size_t count) {
    size_t i = 0;
    while (i < count && bytes_same_double(a[i], b[i])) {
        i++;
    }
    return i == count;
}

// Of the turn q = conj(a) b: the sine and the cosine of half its angle. Of equal orientations the
// sine is 0 to the bit.
static SinCos half_turn(const double *a, const double *b) {
    Vec3 u = vec3_load(a + 1), v = vec3_load(b + 1);
    Vec3 axis = vec3_sub(vec3_sub(vec3_scale(a[0], v), vec3_scale(b[0], u)), vec3_cross(u, v));
    return (SinCos){.sin = vec3_norm(axis), .cos = fabs(a[0] * b[0] + vec3_dot(u, v))};
}

// The larger of two half turns, by a/b < c/d where all are at least 0 and no pair is both 0.
static bool is_larger(SinCos turn, SinCos than) {
    return turn.sin * than.cos > than.sin * turn.cos;
}

static void add_body(const World *was, uint32_t i, const World *is, uint32_t k, Distance *apart,
                     SinCos *turn) {
    const double *a = was->pose + 7 * (size_t)i, *b = is->pose + 7 * (size_t)k;
    const double *v = was->velocity + 6 * (size_t)i, *w = is->velocity + 6 * (size_t)k;
    bool is_same_pose = is_same(a, b, 7);
    apart->has_other_bits = apart->has_other_bits || !is_same_pose || !is_same(v, w, 6);
    if (is_same_pose) {
        return;
    }
    double distance = vec3_norm(vec3_sub(vec3_load(b), vec3_load(a)));
    if (distance > apart->distance) {
        apart->distance = distance;
        apart->distance_body = was->body_id[i];
    }
    SinCos half = half_turn(a + 3, b + 3);
    if (is_larger(half, *turn)) {
        *turn = half;
        apart->angle_body = was->body_id[i];
    }
}

// Ids rise with the index in both.
Distance distance_of(const World *was, const World *is) {
    Distance apart = {0};
    SinCos turn = {.sin = 0.0, .cos = 1.0};
    uint32_t i = 0, k = 0;
    while (i < was->body_count && k < is->body_count) {
        if (was->body_id[i] == is->body_id[k]) {
            add_body(was, i++, is, k++, &apart, &turn);
        } else {
            apart.has_other_bodies = true;
            *(was->body_id[i] < is->body_id[k] ? &i : &k) += 1;
        }
    }
    apart.has_other_bodies = apart.has_other_bodies || i < was->body_count || k < is->body_count;
    apart.angle = 2.0 * trig_atan2(turn.sin, turn.cos);
    return apart;
}
