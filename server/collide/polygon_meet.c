// SPDX-License-Identifier: MIT
#include "collide/polygon_meet.h"

#include "base/assert.h"
#include "collide/quadrangle.h"

#include <string.h>

enum {
    CORNERS_MAX = 2 * HULL_VERTICES_MAX,
    KEPT = MANIFOLD_SPREAD,
    TRIED_MAX = 9, // of more, the lowest and those farthest in eight directions are asked
    SIDE = 1 << 16,
};

typedef struct Corner {
    Vec3 position;
    double gap;
    uint32_t edge; // that leaves it: of the lying face, or SIDE + one of the bearing one's
    uint32_t part[2];
} Corner;

typedef struct Cut {
    uint32_t count;
    Corner corner[CORNERS_MAX];
} Cut;

// ---- cutting

static void keep(Cut *cut, Corner corner) {
    if (cut->count < CORNERS_MAX) {
        cut->corner[cut->count++] = corner;
    }
}

// The corner of the bearing face that two of its sides have in common.
static uint32_t corner_between(uint32_t a, uint32_t b, uint32_t count) {
    return b == (a + 1) % count ? b : a == (b + 1) % count ? a : b;
}

static Corner cut_edge(const Corner *from, double from_out, const Corner *to, double to_out,
                       uint32_t side, uint32_t sides) {
    ASSERT(side < sides);
    const double part = from_out / (from_out - to_out);
    Corner corner = {
        .position = vec3_add_scaled(from->position, part, vec3_sub(to->position, from->position)),
        .edge = from->edge};
    if ((from->edge & SIDE) != 0) {
        corner.part[0] = POLYGON_CORNER | corner_between(from->edge - SIDE, side, sides);
        corner.part[1] = POLYGON_FACE;
    } else {
        corner.part[0] = POLYGON_EDGE | side;
        corner.part[1] = POLYGON_EDGE | from->edge;
    }
    return corner;
}

typedef struct Side {
    Vec3 from, out; // out: unit
    uint32_t number, count;
} Side;

static double out_of(const Side *side, const Corner *corner) {
    return vec3_dot(side->out, vec3_sub(corner->position, side->from));
}

static void cut_by_side(const Cut *whole, const Side *side, double slop, Cut *cut) {
    cut->count = 0;
    double d = whole->count > 0 ? out_of(side, &whole->corner[0]) : 0.0;
    for (uint32_t i = 0; i < whole->count; i++) {
        const Corner *from = &whole->corner[i];
        const Corner *to = &whole->corner[i + 1 < whole->count ? i + 1 : 0];
        const double e = out_of(side, to);
        const bool is_from_in = d <= slop, is_to_in = e <= slop;
        if (is_from_in) {
            keep(cut, *from);
        }
        if (is_from_in != is_to_in) {
            // on the way out the polygon goes on along the side; a corner in the slop is its own
            // cut
            if ((is_from_in ? d : e) < 0.0) {
                keep(cut, cut_edge(from, d, to, e, side->number, side->count));
            }
            if (is_from_in) {
                cut->corner[cut->count - 1].edge = SIDE + side->number;
            }
        }
        d = e;
    }
}

static void read_lying(const Facet *lying, Cut *cut) {
    ASSERT(lying->count <= HULL_VERTICES_MAX);
    cut->count = lying->count;
    for (uint32_t i = 0; i < lying->count; i++) {
        cut->corner[i] = (Corner){.position = facet_point(lying, i),
                                  .edge = i,
                                  .part = {POLYGON_FACE, POLYGON_CORNER | i}};
    }
}

// What of the lying face is over the bearing one, in either of two rooms.
static Cut *cut_all(const Facet *bearing, const Facet *lying, Vec3 up, double slop, Cut room[2]) {
    ASSERT(slop >= 0.0);
    int at = 0;
    read_lying(lying, &room[0]);
    room[1].count = 0; // nothing is in it yet
    Vec3 from = bearing->count > 0 ? facet_point(bearing, 0) : bearing->center;
    for (uint32_t i = 0; i < bearing->count; i++) {
        const Vec3 to = facet_point(bearing, i + 1 < bearing->count ? i + 1 : 0);
        const Vec3 out = vec3_cross(vec3_sub(to, from), up);
        const double length = vec3_norm(out);
        if (length > 0.0) {
            const Side side = {from, vec3_scale(1.0 / length, out), i, bearing->count};
            cut_by_side(&room[at], &side, slop, &room[1 - at]);
            at = 1 - at;
        }
        from = to;
    }
    return &room[at];
}

// ---- choosing

static double height_of(const Facet *bearing, Vec3 up, Vec3 point) {
    const double slope = vec3_dot(up, bearing->normal);
    ASSERT(slope > 0.0);
    return vec3_dot(bearing->normal, vec3_sub(point, bearing->center)) / slope;
}

static uint32_t farthest_along(const Cut *cut, const uint32_t *of, uint32_t count, Vec3 d) {
    ASSERT(count > 0);
    uint32_t best = of[0];
    double reached = -HUGE_VAL;
    for (uint32_t i = 0; i < count; i++) {
        const double along = vec3_dot(d, cut->corner[of[i]].position);
        const double slack = 1e-9 * fabs(reached);
        best = along > reached + (i > 0 ? slack : 0.0) ? of[i] : best;
        reached = fmax(reached, along);
    }
    return best;
}

static uint32_t insert(uint32_t *list, uint32_t count, uint32_t value) {
    uint32_t place = count;
    for (uint32_t i = 0; i < count; i++) {
        if (list[i] == value) {
            return count;
        }
    }
    for (; place > 0 && list[place - 1] > value; place--) {
        list[place] = list[place - 1];
    }
    list[place] = value;
    return count + 1;
}

// The lowest, and those that are farthest in eight directions of the lying face's first edge.
static uint32_t thin_out(const Cut *cut, const Facet *lying, Vec3 up, uint32_t *of,
                         uint32_t count) {
    ASSERT(count > TRIED_MAX);
    uint32_t lowest = of[0];
    for (uint32_t i = 1; i < count; i++) {
        lowest = cut->corner[of[i]].gap < cut->corner[lowest].gap ? of[i] : lowest;
    }
    uint32_t kept[TRIED_MAX], kept_count = insert(kept, 0, lowest);
    const Vec3 along = vec3_sub(facet_point(lying, 1), facet_point(lying, 0));
    const Vec3 beside = vec3_cross(up, along);
    for (int i = 0; i < 8; i++) {
        static const double x[8] = {1, 0, -1, 0, 1, -1, -1, 1}, y[8] = {0, 1, 0, -1, 1, 1, -1, -1};
        const Vec3 d = vec3_add(vec3_scale(x[i], along), vec3_scale(y[i], beside));
        kept_count = insert(kept, kept_count, farthest_along(cut, of, count, d));
    }
    memcpy(of, kept, kept_count * sizeof(kept[0]));
    return kept_count;
}

static Vec3 diagonal(const Cut *cut, const uint32_t *of, const uint32_t corner[KEPT], int from) {
    return vec3_sub(cut->corner[of[corner[from + 2]]].position,
                    cut->corner[of[corner[from]]].position);
}

// Of all quadrangles that have one of the lowest points in them the largest, each more of these
// worth half of the area or more: what bears stays, also where the lowest only just becomes one of
// several.
static void choose(const Cut *cut, const uint32_t *of, uint32_t count, Vec3 up, double low,
                   uint32_t best[KEPT]) {
    ASSERT(count > KEPT && count <= TRIED_MAX);
    uint32_t corner[KEPT] = {0, 1, 2, 3};
    Quadrangle found = quadrangle_none();
    do {
        int lowest = 0;
        for (int k = 0; k < KEPT; k++) {
            lowest += cut->corner[of[corner[k]]].gap <= low;
        }
        if (lowest > 0) {
            quadrangle_offer(&found, corner, diagonal(cut, of, corner, 0),
                             diagonal(cut, of, corner, 1), up, lowest);
        }
    } while (quadrangle_next(corner, count));
    for (int k = 0; k < KEPT; k++) {
        ASSERT(found.corner[k] < count);
        best[k] = of[found.corner[k]];
    }
}

static bool is_same_part(const PolygonPoint *a, const Corner *b) {
    return a->part[0] == b->part[0] && a->part[1] == b->part[1];
}

static void take(const Corner *corner, PolygonPoints *points) {
    for (uint32_t i = 0; i < points->count; i++) {
        if (is_same_part(&points->point[i], corner)) {
            return; // sides nearly in line, which rounding has made a zigzag
        }
    }
    points->point[points->count++] = (PolygonPoint){.position = corner->position,
                                                    .gap = corner->gap,
                                                    .part = {corner->part[0], corner->part[1]}};
}

void polygon_meet(const Facet *bearing, const Facet *lying, Vec3 up, const PolygonLimits *limits,
                  PolygonPoints *points) {
    ASSERT(bearing->kind == FACET_POLYGON && lying->kind == FACET_POLYGON);
    Cut room[2];
    Cut *cut = cut_all(bearing, lying, up, limits->slop, room);
    points->lowest = HUGE_VAL;
    points->count = 0;
    uint32_t of[CORNERS_MAX], count = 0;
    for (uint32_t i = 0; i < cut->count; i++) {
        cut->corner[i].gap = height_of(bearing, up, cut->corner[i].position);
        points->lowest = fmin(points->lowest, cut->corner[i].gap);
        if (cut->corner[i].gap <= limits->reach) {
            of[count++] = i;
        }
    }
    if (count > TRIED_MAX) {
        count = thin_out(cut, lying, up, of, count);
    }
    uint32_t best[KEPT];
    if (count > (limits->tie > 0.0 ? MANIFOLD_POINT_MAX : KEPT)) {
        choose(cut, of, count, up, points->lowest + limits->tie, best);
        count = KEPT;
        memcpy(of, best, sizeof(best));
    }
    for (uint32_t i = 0; i < count; i++) {
        take(&cut->corner[of[i]], points);
    }
}

uint32_t polygon_feature(const Facet *facet, uint32_t part) {
    const uint32_t i = part & 0xffffu;
    return (part & POLYGON_CORNER) != 0 ? facet_vertex(facet, i)
           : (part & POLYGON_EDGE) != 0 ? facet_edge(facet, i)
                                        : (uint32_t)CONVEX_FACE | facet->number;
}
