// SPDX-License-Identifier: MIT
// Sutherland and Hodgman's clipping (1974), with labels.
#include "collide/box/clip.h"

#include "base/assert.h"
#include "collide/quadrangle.h"

#include <stdbool.h>
#include <string.h>

#define SIMD_COUNT 2
#include "base/simd.h"

enum {
    FEATURE_CUT = 64, // + 8 * edge label + side
    LABEL_SIDE = 4,   // + side
    KEPT_COUNT = 4,
};

// How far a point is outside one side: 0 and 1 are x, 2 and 3 are y. Whoever asks knows the side as
// it is compiled, so that nothing is chosen here.
INLINE double excess(const ClipPoint *point, uint32_t side, double half_x, double half_y) {
    const Vec3 p = point->position;
    return side == 0   ? p.x - half_x
           : side == 1 ? -p.x - half_x
           : side == 2 ? p.y - half_y
                       : -p.y - half_y;
}

static ClipPoint cut_edge(const ClipPoint *from, double from_excess, const ClipPoint *to,
                          double to_excess, uint32_t side) {
    double part = from_excess / (from_excess - to_excess);
    return (ClipPoint){
        .position = vec3_add_scaled(from->position, part, vec3_sub(to->position, from->position)),
        .feature = FEATURE_CUT + 8 * from->edge + side,
        .edge = from->edge};
}

// Whether any point is outside a side by more than the slop.
INLINE bool is_cut_by(const ClipPolygon *polygon, uint32_t side, double half_x, double half_y,
                      double slop) {
    ASSERT(polygon->count <= CLIP_POINT_MAX);
    bool is_any = false;
    for (uint32_t i = 0; i < polygon->count; i++) {
        is_any |= !(excess(&polygon->point[i], side, half_x, half_y) <= slop);
    }
    return is_any;
}

// Rounding can make points that are nearly in line look like a zigzag across a side; what a convex
// polygon cannot have is left out.
INLINE void keep_point(ClipPolygon *kept, uint32_t *count, ClipPoint point) {
    if (*count < CLIP_POINT_MAX) {
        kept->point[(*count)++] = point;
    }
}

INLINE void clip_side(const ClipPolygon *polygon, uint32_t side, double half_x, double half_y,
                      double slop, ClipPolygon *kept) {
    ASSERT(polygon != kept);
    uint32_t count = 0;
    double e = polygon->count > 0 ? excess(&polygon->point[0], side, half_x, half_y) : 0.0;
    for (uint32_t i = 0; i < polygon->count; i++) {
        const uint32_t next = i + 1 < polygon->count ? i + 1 : 0;
        const ClipPoint *from = &polygon->point[i], *to = &polygon->point[next];
        const double d = e;
        e = excess(to, side, half_x, half_y);
        bool is_from_in = d <= slop, is_to_in = e <= slop;
        if (is_from_in) {
            keep_point(kept, &count, *from);
        }
        if (is_from_in == is_to_in) {
            continue;
        }
        // on the way out the polygon goes on along the side; a vertex in the slop is its own cut
        if ((is_from_in ? d : e) < 0.0) {
            keep_point(kept, &count, cut_edge(from, d, to, e, side));
        }
        if (is_from_in) {
            kept->point[count - 1].edge = LABEL_SIDE + side;
        }
    }
    kept->count = count;
}

// Which sides any of four points is outside of by more than the slop: 1 << side.
static uint32_t find_cuts(const ClipPoint point[4], double half_x, double half_y, double slop) {
    ASSERT(slop >= 0.0);
    const Simd half = {half_x, half_y}, most = simd_all(slop);
    SimdMask high = {0, 0}, low = {0, 0};
    for (int i = 0; i < 4; i++) {
        const Simd at = {point[i].position.x, point[i].position.y};
        high |= ~(at - half <= most);
        low |= ~(-at - half <= most);
    }
    return (uint32_t)((high[0] & 1) | (low[0] & 2) | (high[1] & 4) | (low[1] & 8));
}

void clip_rectangle(ClipPolygon *polygon, double half_x, double half_y, double slop) {
    ASSERT(polygon->count == 4);
    ASSERT(half_x > 0.0 && half_y > 0.0 && slop >= 0.0);
    const uint32_t cuts = find_cuts(polygon->point, half_x, half_y, slop);
    if (cuts == 0) {
        return;
    }
    ClipPolygon room, *at = polygon, *next = &room;
    bool is_whole = true;
#pragma GCC unroll 4
    for (uint32_t side = 0; side < 4; side++) {
        if (is_whole ? (cuts >> side & 1u) != 0 : is_cut_by(at, side, half_x, half_y, slop)) {
            clip_side(at, side, half_x, half_y, slop, next);
            ClipPolygon *swapped = at;
            at = next;
            next = swapped;
            is_whole = false;
        }
    }
    if (at != polygon) {
        polygon->count = at->count;
        memcpy(polygon->point, at->point, at->count * sizeof(ClipPoint));
    }
}

void clip_drop_high(ClipPolygon *polygon, double reach) {
    ASSERT(polygon->count <= CLIP_POINT_MAX);
    uint32_t count = 0;
    for (uint32_t i = 0; i < polygon->count; i++) {
        if (polygon->point[i].position.z <= reach) {
            polygon->point[count++] = polygon->point[i];
        }
    }
    polygon->count = count;
}

// The points that are the lowest, 1 << point.
static uint32_t find_low(const ClipPolygon *polygon) {
    ASSERT(polygon->count > 0);
    double lowest = polygon->point[0].position.z;
    uint32_t low = 0;
    for (uint32_t i = 0; i < polygon->count; i++) {
        double z = polygon->point[i].position.z;
        low = z < lowest ? 1u << i : z == lowest ? low | 1u << i : low;
        lowest = z < lowest ? z : lowest;
    }
    return low;
}

static Vec3 diagonal(const ClipPoint *point, const uint32_t corner[KEPT_COUNT], int from) {
    return vec3_sub(point[corner[from + 2]].position, point[corner[from]].position);
}

void clip_reduce(ClipPolygon *polygon) {
    ASSERT(polygon->count <= CLIP_POINT_MAX);
    uint32_t count = polygon->count;
    if (count <= KEPT_COUNT) {
        return;
    }

    // every quadrangle with one of the lowest points in it: which of them stands first in the
    // polygon is a matter of whose corners were numbered how
    const uint32_t low = find_low(polygon);
    uint32_t corner[KEPT_COUNT] = {0, 1, 2, 3};
    Quadrangle best = quadrangle_none();
    do {
        const uint32_t corners =
            1u << corner[0] | 1u << corner[1] | 1u << corner[2] | 1u << corner[3];
        const int lowest = __builtin_popcount(corners & low);
        if (lowest > 0) {
            quadrangle_offer(&best, corner, diagonal(polygon->point, corner, 0),
                             diagonal(polygon->point, corner, 1), vec3(0.0, 0.0, 1.0), lowest);
        }
    } while (quadrangle_next(corner, count));
    ClipPolygon kept = {.count = KEPT_COUNT};
    for (int i = 0; i < KEPT_COUNT; i++) {
        kept.point[i] = polygon->point[best.corner[i]];
    }
    *polygon = kept;
}
