// SPDX-License-Identifier: MIT
#include "collide/curve.h"

#include "base/assert.h"

enum { NEWTON_MAX = 12 }; // three to five, but where a circle is seen edge on

// Squared sine below which two lines are parallel.
static const double parallel_squared = 1e-14;
// Squared sine from which on what is across two tangents is known better than what is between two
// points that nearly touch.
static const double across_squared_min = 1e-4;
// Squared lengths below this are no normal numbers: they give no direction.
static const double squared_min = 1e-290;
// of a line: how far beyond its end a point may be
static const double extent_slack = 1e-9;

Curve curve_point(Vec3 point) {
    return (Curve){.kind = CURVE_POINT, .center = point};
}

Curve curve_line(Vec3 from, Vec3 to) {
    const Vec3 d = vec3_sub(to, from);
    if (!(vec3_dot(d, d) > squared_min)) {
        return curve_point(from);
    }
    const double length = vec3_norm(d);
    return (Curve){.kind = CURVE_LINE,
                   .center = vec3_add_scaled(from, 0.5, d),
                   .x = vec3_scale(1.0 / length, d),
                   .extent = 0.5 * length};
}

Curve curve_circle(Vec3 center, Mat3 axes, double radius) {
    ASSERT(radius > 0.0);
    return (Curve){
        .kind = CURVE_CIRCLE, .center = center, .x = axes.c0, .y = axes.c1, .extent = radius};
}

// A place on a curve: of a line how far along it, of a circle the direction from its centre.
typedef struct Place {
    double along, c, s;
} Place;

typedef struct Jet {
    Vec3 point, first, second; // derivatives by the way along a line, by the angle of a circle
} Jet;

static Jet jet_at(const Curve *curve, Place place) {
    switch (curve->kind) {
    case CURVE_LINE:
        return (Jet){.point = vec3_add_scaled(curve->center, place.along, curve->x),
                     .first = curve->x};
    case CURVE_CIRCLE: {
        const double r = curve->extent;
        const Vec3 out = vec3_add_scaled(vec3_scale(r * place.c, curve->x), r * place.s, curve->y);
        const Vec3 on = vec3_add_scaled(vec3_scale(-r * place.s, curve->x), r * place.c, curve->y);
        return (Jet){.point = vec3_add(curve->center, out), .first = on, .second = vec3_neg(out)};
    }
    case CURVE_POINT:
        break;
    }
    return (Jet){.point = curve->center};
}

static Place move_on(const Curve *curve, Place place, double step) {
    if (curve->kind == CURVE_LINE) {
        place.along += step;
    } else if (curve->kind == CURVE_CIRCLE) {
        const double c = place.c - step * place.s, s = place.s + step * place.c;
        const double norm = sqrt(c * c + s * s);
        place.c = c / norm;
        place.s = s / norm;
    }
    return place;
}

// The place nearest to a point.
static Place place_near(const Curve *curve, Vec3 point) {
    Place place = {.c = 1.0};
    const Vec3 offset = vec3_sub(point, curve->center);
    const double x = vec3_dot(offset, curve->x), y = vec3_dot(offset, curve->y);
    const double norm = sqrt(x * x + y * y);
    if (curve->kind == CURVE_LINE) {
        place.along = x;
    } else if (curve->kind == CURVE_CIRCLE && norm > 0.0) {
        place.c = x / norm;
        place.s = y / norm;
    }
    return place;
}

// What Newton's method moves the two places by so that the offset stands on both curves. false: no
// such step.
static bool newton_step(const Jet jet[2], double step[2]) {
    const Vec3 e = vec3_sub(jet[1].point, jet[0].point);
    const double g0 = vec3_dot(e, jet[0].first), g1 = vec3_dot(e, jet[1].first);
    const double a = vec3_dot(e, jet[0].second) - vec3_dot(jet[0].first, jet[0].first);
    const double b = vec3_dot(jet[0].first, jet[1].first);
    const double d = vec3_dot(e, jet[1].second) + vec3_dot(jet[1].first, jet[1].first);
    step[0] = step[1] = 0.0;
    const bool moves_first = vec3_dot(jet[0].first, jet[0].first) > 0.0;
    const bool moves_second = vec3_dot(jet[1].first, jet[1].first) > 0.0;
    if (!moves_first || !moves_second) { // one of them is a point
        step[0] = moves_first ? -g0 / a : 0.0;
        step[1] = moves_second ? -g1 / d : 0.0;
        return isfinite(step[0]) && isfinite(step[1]);
    }
    const double determinant = a * d + b * b;
    step[0] = (-g0 * d + b * g1) / determinant;
    step[1] = (-a * g1 - b * g0) / determinant;
    return isfinite(step[0]) && isfinite(step[1]);
}

static bool are_parallel(const Curve curve[2]) {
    const Vec3 across = vec3_cross(curve[0].x, curve[1].x);
    return curve[0].kind == CURVE_LINE && curve[1].kind == CURVE_LINE &&
           vec3_dot(across, across) < parallel_squared;
}

// Between parallel lines any place does: one where both are.
static void place_parallel(const Curve curve[2], Place place[2]) {
    ASSERT(curve[0].kind == CURVE_LINE && curve[1].kind == CURVE_LINE);
    const double middle = vec3_dot(curve[0].x, vec3_sub(curve[1].center, curve[0].center));
    const double low = fmax(-curve[0].extent, middle - curve[1].extent);
    const double high = fmin(curve[0].extent, middle + curve[1].extent);
    place[0] = (Place){.along = 0.5 * (low + high)};
    place[1] = place_near(&curve[1], jet_at(&curve[0], place[0]).point);
}

static void find_places(const Curve curve[2], const Vec3 near[2], Place place[2]) {
    place[0] = place_near(&curve[0], near[0]);
    place[1] = place_near(&curve[1], near[1]);
    if (are_parallel(curve)) {
        place_parallel(curve, place);
        return;
    }
    for (int round = 0; round < NEWTON_MAX; round++) {
        const Jet jet[2] = {jet_at(&curve[0], place[0]), jet_at(&curve[1], place[1])};
        double step[2];
        if (!newton_step(jet, step)) {
            break;
        }
        place[0] = move_on(&curve[0], place[0], step[0]);
        place[1] = move_on(&curve[1], place[1], step[1]);
        const double of[2] = {curve[0].kind == CURVE_LINE ? curve[0].extent : 1.0,
                              curve[1].kind == CURVE_LINE ? curve[1].extent : 1.0};
        if (fabs(step[0]) <= 1e-15 * of[0] && fabs(step[1]) <= 1e-15 * of[1]) {
            break;
        }
    }
}

static bool is_within(const Curve *curve, Place place) {
    return curve->kind != CURVE_LINE || fabs(place.along) <= curve->extent * (1.0 + extent_slack);
}

bool curve_meet(const Curve curve[2], const Vec3 near[2], Vec3 rough, CurveLink *link) {
    VALIDATE(fabs(vec3_dot(rough, rough) - 1.0) < 1e-6);
    Place place[2];
    find_places(curve, near, place);
    if (!is_within(&curve[0], place[0]) || !is_within(&curve[1], place[1])) {
        return false;
    }
    const Jet jet[2] = {jet_at(&curve[0], place[0]), jet_at(&curve[1], place[1])};
    const Vec3 offset = vec3_sub(jet[1].point, jet[0].point);
    const Vec3 across = vec3_cross(jet[0].first, jet[1].first);
    const double sine = vec3_dot(across, across);
    const bool is_across = sine > across_squared_min * vec3_dot(jet[0].first, jet[0].first) *
                                      vec3_dot(jet[1].first, jet[1].first) &&
                           sine > 0.0;
    const Vec3 n = is_across ? across : offset;
    const double squared = vec3_dot(n, n);
    if (!(squared > squared_min) || !isfinite(squared)) {
        return false;
    }
    link->normal = vec3_scale((vec3_dot(n, rough) < 0.0 ? -1.0 : 1.0) / sqrt(squared), n);
    link->point[0] = jet[0].point;
    link->point[1] = jet[1].point;
    return true;
}
