// SPDX-License-Identifier: MIT
#include "collide/facet_meet.h"

#include "base/assert.h"

#include <string.h>

// sine of the angle below which a cap lies flat: its points stay on the body then, and turn to its
// lowest as it tilts, so that a standing cylinder does not feel which way noise tilts it. The
// lowest place of a rim is under its points by no more than 0.05 of this times the radius.
static const double flat_sine = 1e-8;
// the sine that rounding may make of a cap that lies flat
static const double noise_sine = 1e-12;
// sine of the angle below which two discs' circles are cut as if they were in one plane
static const double same_plane_sine = 1e-3;
// cosine of the angle to the normal below which a polygon stands on the other's face: what is over
// it there, and how high, is rounding over this
static const double standing_cosine = 1e-6;
// of a line's half length: a stretch that is shorter is one point
static const double stretch_part = 1e-6;
// of what points go beyond those that are kept, and of how far they are: less is no difference
static const double same_part = 1e-6;

enum {
    RIM_POINTS = 4,
    LABEL_TILTED = 4,    // of a rim: + point; 0 .. 3: flat
    LABEL_CAP = 8,       // a cap's: + 8 * its number
    LABEL_SECOND = 16,   // the other disc's
    LABEL_CROSSING = 32, // + 0, 1
    LABEL_END = MEET_END,
    LABEL_EDGE = MEET_EDGE,
};

static void add(MeetPoints *points, Vec3 position, uint32_t label) {
    if (points->count < MEET_POINT_MAX) {
        points->point[points->count++] = (MeetPoint){.position = position, .label = label};
    }
}

// The point of a facet's plane over another point, along n.
static Vec3 lift(const Facet *facet, Vec3 n, Vec3 point) {
    const double slope = vec3_dot(n, facet->normal);
    const double height = vec3_dot(facet->normal, vec3_sub(facet->center, point));
    return slope != 0.0 ? vec3_add_scaled(point, height / slope, n) : point;
}

// ---- whether a point is over a facet, along n

// How far it is outside [m].
static double outside_polygon(const Facet *polygon, Vec3 n, Vec3 point) {
    const double turn = vec3_dot(n, polygon->normal) >= 0.0 ? 1.0 : -1.0;
    double outside = -HUGE_VAL;
    for (uint32_t i = 0; i < polygon->count; i++) {
        const Vec3 from = facet_point(polygon, i);
        const Vec3 to = facet_point(polygon, i + 1 < polygon->count ? i + 1 : 0);
        const Vec3 out = vec3_scale(turn, vec3_cross(vec3_sub(to, from), n));
        const double length = vec3_norm(out);
        if (length > 0.0) {
            outside = fmax(outside, vec3_dot(out, vec3_sub(point, from)) / length);
        }
    }
    return outside;
}

double facet_outside(const Facet *facet, Vec3 n, Vec3 point) {
    ASSERT(facet->kind != FACET_LINE);
    if (facet->kind == FACET_POLYGON) {
        return outside_polygon(facet, n, point);
    }
    return vec3_norm(vec3_sub(lift(facet, n, point), facet->center)) - facet->radius;
}

// ---- a disc

static Vec3 on_disc(const Facet *disc, double x, double y) {
    return vec3_add(vec3_scale(x, disc->x), vec3_scale(y, disc->y));
}

// Four points of the rim at right angles. `n` is the reference's normal, towards the disc or away
// from it: the first is the lowest along it.
static void rim_points(const Facet *disc, Vec3 n, Vec3 point[RIM_POINTS],
                       uint32_t label[RIM_POINTS]) {
    ASSERT(disc->kind == FACET_DISC && disc->number < 2);
    const double side = vec3_dot(n, disc->normal) > 0.0 ? 1.0 : -1.0;
    double x = side * vec3_dot(n, disc->x), y = side * vec3_dot(n, disc->y);
    const double sine = sqrt(x * x + y * y);
    const bool is_flat = sine < flat_sine;
    uint32_t first = 0;
    if (is_flat) { // from the nearest of the body's four directions towards the lowest
        const bool along_x = fabs(x) >= fabs(y);
        first = along_x ? (x >= 0.0 ? 0u : 2u) : (y >= 0.0 ? 1u : 3u);
        const double part = fmax(0.0, sine - noise_sine) / (flat_sine - noise_sine);
        const double scale = sine > 0.0 ? part / sine : 0.0;
        x = scale * x + (1.0 - part) * (first == 0 ? 1.0 : first == 2 ? -1.0 : 0.0);
        y = scale * y + (1.0 - part) * (first == 1 ? 1.0 : first == 3 ? -1.0 : 0.0);
    }
    const double norm = sqrt(x * x + y * y);
    ASSERT(norm > 0.0);
    const double r = disc->radius / norm;
    for (uint32_t i = 0; i < RIM_POINTS; i++) {
        point[i] = vec3_add(disc->center, on_disc(disc, r * x, r * y));
        label[i] = LABEL_CAP * disc->number + (is_flat ? (first + i) % 4 : LABEL_TILTED + i);
        const double turned = x; // a quarter onwards
        x = -y;
        y = turned;
    }
}

// The rim's points that are over the other facet. true: all of them.
static bool add_rim(const Facet *disc, const Facet *other, Vec3 n, double slop, uint32_t base,
                    MeetPoints *points) {
    Vec3 rim[RIM_POINTS];
    uint32_t label[RIM_POINTS], count = 0;
    rim_points(disc, n, rim, label);
    for (uint32_t i = 0; i < RIM_POINTS; i++) {
        if (facet_outside(other, n, rim[i]) <= slop) {
            add(points, rim[i], base + label[i]);
            count++;
        }
    }
    return count == RIM_POINTS;
}

// Where a line in the disc's plane comes into its circle and leaves it, in shares of its way.
static bool pass_disc(const Facet *disc, Vec3 from, Vec3 way, double *in, double *out) {
    ASSERT(disc->kind == FACET_DISC);
    const Vec3 p = vec3_sub(from, disc->center);
    const double dd = vec3_dot(way, way), pd = vec3_dot(p, way);
    const double under = pd * pd - dd * (vec3_dot(p, p) - disc->radius * disc->radius);
    if (!(under > 0.0) || !(dd > 0.0)) {
        return false;
    }
    *in = (-pd - sqrt(under)) / dd;
    *out = (-pd + sqrt(under)) / dd;
    return true;
}

// What of a polygon's edges is over the disc, in the disc's plane: corners, and where they cut it.
static void add_edges(const Facet *disc, const Facet *polygon, Vec3 n, MeetPoints *points) {
    ASSERT(disc->kind == FACET_DISC && polygon->kind == FACET_POLYGON);
    for (uint32_t i = 0; i < polygon->count; i++) {
        const Vec3 from = lift(disc, n, facet_point(polygon, i));
        const Vec3 to = lift(disc, n, facet_point(polygon, i + 1 < polygon->count ? i + 1 : 0));
        const Vec3 d = vec3_sub(to, from);
        double in, out;
        if (!pass_disc(disc, from, d, &in, &out)) {
            continue;
        }
        if (out > 0.0 && in < 1.0) {
            const uint32_t count = points->count;
            add(points, in > 0.0 ? vec3_add_scaled(from, in, d) : from, LABEL_EDGE + 2 * i);
            if (points->count > count) {
                points->point[count].is_corner = in <= 0.0;
            }
        }
        if (out > 0.0 && out < 1.0) {
            add(points, vec3_add_scaled(from, out, d), LABEL_EDGE + 2 * i + 1);
        }
    }
}

// Where the circles of two discs in one plane cut each other, in that of the first.
static void add_crossings(const Facet *first, const Facet *second, Vec3 n, MeetPoints *points) {
    const Vec3 other = lift(first, n, second->center);
    const Vec3 d = vec3_sub(other, first->center);
    const double squared = vec3_dot(d, d), r = first->radius, s = second->radius;
    const double along = squared > 0.0 ? 0.5 * (1.0 + (r * r - s * s) / squared) : 0.0;
    const double under = r * r - along * along * squared;
    if (!(squared > 0.0) || !(under > 0.0)) {
        return;
    }
    const Vec3 foot = vec3_add_scaled(first->center, along, d);
    const Vec3 across = vec3_scale(sqrt(under / squared), vec3_cross(first->normal, d));
    add(points, vec3_add(foot, across), LABEL_CROSSING);
    add(points, vec3_sub(foot, across), LABEL_CROSSING + 1);
}

static void meet_discs(const Facet *reference, const Facet *incident, Vec3 n, double slop,
                       MeetPoints *points) {
    const Vec3 sine = vec3_cross(reference->normal, incident->normal);
    const bool is_smaller = incident->radius <= reference->radius;
    const Facet *small = is_smaller ? incident : reference,
                *large = is_smaller ? reference : incident;
    if (add_rim(small, large, n, slop, is_smaller ? 0 : LABEL_SECOND, points)) {
        return;
    }
    add_rim(large, small, n, 0.0, is_smaller ? LABEL_SECOND : 0, points);
    if (vec3_dot(sine, sine) < same_plane_sine * same_plane_sine) {
        add_crossings(reference, incident, n, points);
    }
}

// ---- a line over a facet

typedef struct Stretch {
    double low, high; // share of the way from one end to the other
} Stretch;

static void cut_by_polygon(const Facet *polygon, Vec3 n, const Facet *line, Stretch *stretch) {
    ASSERT(polygon->kind == FACET_POLYGON && line->kind == FACET_LINE);
    const Vec3 p = line->point[0], d = vec3_sub(line->point[1], p);
    for (uint32_t i = 0; i < polygon->count; i++) {
        const Vec3 from = facet_point(polygon, i);
        const Vec3 to = facet_point(polygon, i + 1 < polygon->count ? i + 1 : 0);
        const Vec3 out = vec3_cross(vec3_sub(to, from), n);
        const double excess = vec3_dot(out, vec3_sub(p, from)), slope = vec3_dot(out, d);
        if (slope > 0.0) {
            stretch->high = fmin(stretch->high, -excess / slope);
        } else if (slope < 0.0) {
            stretch->low = fmax(stretch->low, -excess / slope);
        } else if (excess > 0.0) {
            stretch->high = -1.0;
        }
    }
}

static void cut_by_disc(const Facet *disc, Vec3 n, const Facet *line, Stretch *stretch) {
    ASSERT(disc->kind == FACET_DISC && line->kind == FACET_LINE);
    const Vec3 from = lift(disc, n, line->point[0]), to = lift(disc, n, line->point[1]);
    double in, out;
    if (!pass_disc(disc, from, vec3_sub(to, from), &in, &out)) {
        stretch->high = -1.0;
        return;
    }
    stretch->low = fmax(stretch->low, in);
    stretch->high = fmin(stretch->high, out);
}

// What of a line is over the other facet; false: nothing.
static bool cut_line(const Facet *reference, Vec3 n, const Facet *line, Stretch *stretch) {
    ASSERT(reference->kind != FACET_LINE && line->kind == FACET_LINE);
    *stretch = (Stretch){0.0, 1.0};
    if (reference->kind == FACET_POLYGON) {
        cut_by_polygon(reference, n, line, stretch);
    } else {
        cut_by_disc(reference, n, line, stretch);
    }
    return !(stretch->low > stretch->high);
}

static Vec3 at_share(const Facet *line, double share) {
    return vec3_add_scaled(line->point[0], share, vec3_sub(line->point[1], line->point[0]));
}

static void meet_line(const Facet *reference, const Facet *line, Vec3 n, MeetPoints *points) {
    const Vec3 d = vec3_sub(line->point[1], line->point[0]);
    Stretch stretch;
    if (!cut_line(reference, n, line, &stretch)) {
        return;
    }
    const bool is_long = stretch.high - stretch.low > stretch_part && vec3_dot(d, d) > 0.0;
    if (!is_long) { // or a ball: its middle, whichever end of the line is named first
        const bool is_first = stretch.low <= 0.0, is_second = !is_first && stretch.high >= 1.0;
        add(points, at_share(line, 0.5 * (stretch.low + stretch.high)),
            is_second ? LABEL_END + 1 : LABEL_END);
        points->point[points->count - 1].is_corner = is_first || is_second;
        return;
    }
    add(points, at_share(line, stretch.low), LABEL_END);
    points->point[points->count - 1].is_corner = stretch.low <= 0.0;
    add(points, at_share(line, stretch.high), LABEL_END + 1);
    points->point[points->count - 1].is_corner = stretch.high >= 1.0;
}

// What of a polygon that stands on the disc is over it: stretches of its edges.
static void meet_standing(const Facet *disc, const Facet *polygon, Vec3 n, MeetPoints *points) {
    ASSERT(disc->kind == FACET_DISC && polygon->kind == FACET_POLYGON);
    for (uint32_t i = 0; i < polygon->count; i++) {
        Facet edge = {.kind = FACET_LINE};
        edge.point[0] = facet_point(polygon, i);
        edge.point[1] = facet_point(polygon, i + 1 < polygon->count ? i + 1 : 0);
        Stretch stretch;
        if (cut_line(disc, n, &edge, &stretch)) {
            add(points, at_share(&edge, stretch.low), LABEL_EDGE + 2 * i);
            add(points, at_share(&edge, stretch.high), LABEL_EDGE + 2 * i + 1);
        }
    }
}

// ---- all of them

void facet_meet(const Facet *reference, const Facet *incident, Vec3 normal, double slop,
                MeetPoints *points) {
    ASSERT(reference->kind != FACET_LINE);
    ASSERT(vec3_dot(reference->normal, normal) > 0.0);
    points->count = 0;
    const bool is_standing = incident->kind == FACET_POLYGON &&
                             fabs(vec3_dot(incident->normal, normal)) < standing_cosine;
    if (incident->kind == FACET_LINE) {
        meet_line(reference, incident, normal, points);
    } else if (is_standing) {
        meet_standing(reference, incident, normal, points);
    } else if (reference->kind == FACET_DISC && incident->kind == FACET_DISC) {
        meet_discs(reference, incident, normal, slop, points);
    } else {
        const Facet *disc = incident->kind == FACET_DISC ? incident : reference;
        const Facet *polygon = incident->kind == FACET_DISC ? reference : incident;
        ASSERT(disc->kind == FACET_DISC && polygon->kind == FACET_POLYGON);
        if (!add_rim(disc, polygon, normal, slop, 0, points)) {
            add_edges(disc, polygon, normal, points);
        }
    }
    for (uint32_t i = 0; i < points->count; i++) {
        MeetPoint *point = &points->point[i];
        if (incident->kind != FACET_LINE && !is_standing) {
            point->position = lift(incident, normal, point->position);
        }
        const Vec3 below = lift(reference, normal, point->position);
        point->gap = vec3_dot(normal, vec3_sub(point->position, below));
    }
}

void facet_meet_lines(const Facet *first, const Facet *second, Vec3 normal, double aside_max,
                      MeetPoints *points) {
    ASSERT(first->kind == FACET_LINE && second->kind == FACET_LINE);
    points->count = 0;
    const Vec3 p = first->point[0], d = vec3_sub(first->point[1], p);
    const double dd = vec3_dot(d, d);
    double from = vec3_dot(d, vec3_sub(second->point[0], p)) / dd;
    double to = vec3_dot(d, vec3_sub(second->point[1], p)) / dd;
    const Vec3 e = vec3_sub(second->point[1], second->point[0]);
    if (!(fabs(to - from) > stretch_part)) {
        return; // across each other
    }
    const double low = fmax(0.0, fmin(from, to)), high = fmin(1.0, fmax(from, to));
    if (!(high - low > stretch_part)) {
        return;
    }
    for (uint32_t end = 0; end < 2; end++) {
        const double at = end == 0 ? low : high;
        const Vec3 on_first = vec3_add_scaled(p, at, d);
        const Vec3 on_second = vec3_add_scaled(second->point[0], (at - from) / (to - from), e);
        const Vec3 offset = vec3_sub(on_second, on_first);
        const double gap = vec3_dot(normal, offset);
        const Vec3 aside = vec3_add_scaled(offset, -gap, normal);
        if (vec3_dot(aside, aside) > aside_max * aside_max) {
            points->count = 0;
            return;
        }
        add(points, on_second, LABEL_END + end);
        points->point[points->count - 1].gap = gap;
    }
}

// ---- four of many

static void keep(MeetPoints *points, MeetPoints *kept, uint32_t i) {
    ASSERT(i < points->count && kept->count < MANIFOLD_SPREAD);
    kept->point[kept->count++] = points->point[i];
    points->point[i] = points->point[--points->count];
}

static uint32_t lowest_of(const MeetPoints *points, double tie) {
    double lowest = HUGE_VAL;
    for (uint32_t i = 0; i < points->count; i++) {
        lowest = fmin(lowest, points->point[i].gap);
    }
    uint32_t found = 0;
    for (uint32_t i = points->count; i-- > 0;) {
        found = points->point[i].gap <= lowest + tie ? i : found;
    }
    return found;
}

// How far a point goes beyond those that are kept: from the first; from the line; on either side
// of the longest line, beyond what the third has.
static double gain_of(const MeetPoints *kept, Vec3 n, Vec3 point) {
    ASSERT(kept->count >= 1 && kept->count < MANIFOLD_SPREAD);
    const Vec3 p = vec3_sub(point, kept->point[0].position);
    if (kept->count == 1) {
        return vec3_dot(p, p);
    }
    const Vec3 d = vec3_sub(kept->point[1].position, kept->point[0].position);
    const double beside = vec3_dot(n, vec3_cross(d, p));
    if (kept->count == 2) {
        return fabs(beside);
    }
    const Vec3 q = vec3_sub(kept->point[2].position, kept->point[0].position);
    const double third = vec3_dot(n, vec3_cross(d, q));
    // twice the area that the fourth adds: over the line's other side, or over the third's sides
    const double other = third > 0.0 ? -beside : beside;
    const Vec3 r = vec3_sub(point, kept->point[1].position), s = vec3_sub(q, d);
    const double turn = third > 0.0 ? 1.0 : -1.0;
    const double over_first = turn * vec3_dot(n, vec3_cross(p, q));
    const double over_second = turn * vec3_dot(n, vec3_cross(s, r));
    return fmax(other, fmax(-over_first, -over_second));
}

// Of those that go farthest the one farthest from the first: where an edge lies along what is kept
// both its ends go as far, whatever noise there is, and which is named first a mirror turns round.
static uint32_t next_of(const MeetPoints *points, const MeetPoints *kept, Vec3 normal) {
    ASSERT(points->count > 0 && kept->count > 0);
    double best = 0.0, best_away = 0.0;
    uint32_t chosen = 0;
    for (uint32_t i = 0; i < points->count; i++) {
        const Vec3 position = points->point[i].position;
        const Vec3 from_first = vec3_sub(position, kept->point[0].position);
        const double gain = gain_of(kept, normal, position),
                     away = vec3_dot(from_first, from_first), slack = same_part * fabs(best);
        const bool is_better = i == 0 || gain > best + slack ||
                               (gain >= best - slack && away > best_away * (1.0 + same_part));
        best = is_better ? gain : best;
        best_away = is_better ? away : best_away;
        chosen = is_better ? i : chosen;
    }
    return chosen;
}

void facet_reduce(MeetPoints *points, Vec3 normal, double reach, double tie) {
    ASSERT(points->count <= MEET_POINT_MAX && tie >= 0.0);
    uint32_t count = 0;
    for (uint32_t i = 0; i < points->count; i++) {
        if (points->point[i].gap <= reach) {
            points->point[count++] = points->point[i];
        }
    }
    points->count = count;
    if (count <= MANIFOLD_SPREAD) {
        return;
    }
    MeetPoints kept; // four of much room
    kept.count = 0;
    keep(points, &kept, lowest_of(points, tie));
    while (kept.count < MANIFOLD_SPREAD) {
        keep(points, &kept, next_of(points, &kept, normal));
    }
    points->count = kept.count;
    memcpy(points->point, kept.point, kept.count * sizeof(kept.point[0]));
}
