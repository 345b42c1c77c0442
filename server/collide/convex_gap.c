// SPDX-License-Identifier: MIT
#include "collide/convex_gap.h"

#include "base/assert.h"
#include "collide/convex_axes.h"
#include "collide/curve.h"
#include "collide/epa.h"
#include "collide/facet_meet.h"

// of the sizes: cores nearer than this count as touching, as rounding has turned what is between
static const double touching_part = 1e-9;
enum { SETTLE_ROUNDS = 100, CLIMB_ROUNDS = 4 };

// How far the searches go: what is exact mostly knows the rest, and where it does not they go on.
typedef struct Effort {
    double gjk_progress; // of the squared distance
    double epa_slack;    // of the sizes
} Effort;

static const Effort efforts[] = {{1e-6, 1e-4}, {1e-14, 1e-8}};
// Between what is flat they end at the answer itself.
static const Effort of_flat = {1e-14, 1e-13};
// of the sizes: how much a face or a curve may know worse, as rounding has it
static const double rounding_part = 1e-13;
// of the sizes: how far from each other's planes two points may be that prove a direction
static const double proof_part = 1e-11;
// of the sizes: by how much a direction must part two that overlap farther to be another one
static const double sure_part = 1e-9;
// of the sizes: by how much another direction may know a smaller depth and not be asked for
static const double doubt_part = 1e-11;
// how much farther than within reach two are of which nothing more is asked; and of the sizes
static const double far_slack = 2e-6, far_part = 1e-8;
// cosine of the angle within which a face, or what is across a line, says more about the direction
// found
static const double near_cosine = 0.9;
// cosine of the angle within which a face looks along the normal
static const double flat_cosine = 1.0 - 1e-6;
// share of a vertex in the nearest point from which on it counts
static const double weight_min = 1e-9;

double convex_separation(const Convex pair[2], Vec3 normal) {
    VALIDATE(fabs(vec3_dot(normal, normal) - 1.0) < 1e-6);
    const Vec3 a = convex_support(&pair[0], normal).position;
    const Vec3 b = convex_support(&pair[1], vec3_neg(normal)).position;
    return vec3_dot(normal, vec3_sub(b, a)) - (pair[0].radius + pair[1].radius);
}

static double size_of(const Convex pair[2]) {
    return pair[0].size + pair[1].size;
}

// ---- as the searches have it

static Vec3 weigh(const GjkSimplex *simplex, int side) {
    ASSERT(simplex->count >= 1 && simplex->count <= 4);
    Vec3 p = vec3(0.0, 0.0, 0.0);
    for (int i = 0; i < simplex->count; i++) {
        const GjkVertex *vertex = &simplex->vertex[i];
        p = vec3_add_scaled(p, vertex->weight, side == 0 ? vertex->a.position : vertex->b.position);
    }
    return p;
}

// The distinct vertices of one side.
typedef struct Corners {
    uint32_t count;
    GjkPoint point[3];
} Corners;

static Corners corners_of(const GjkSimplex *simplex, int side) {
    ASSERT(simplex->count >= 1 && simplex->count <= 3);
    Corners corners = {.count = 0};
    for (int i = 0; i < simplex->count; i++) {
        const GjkVertex *vertex = &simplex->vertex[i];
        const GjkPoint point = side == 0 ? vertex->a : vertex->b;
        bool is_new = vertex->weight > weight_min;
        for (uint32_t k = 0; k < corners.count; k++) {
            is_new = is_new && corners.point[k].vertex != point.vertex;
        }
        if (is_new) {
            corners.point[corners.count++] = point;
        }
    }
    return corners;
}

// Where the polytope is none: bodies so thin that their difference is flat to rounding.
static void search_axes(const Convex pair[2], GjkSimplex *simplex, ConvexGap *gap) {
    double best = -HUGE_VAL;
    for (int i = 0; i < 12; i++) {
        const Mat3 *axes = &pair[i / 6].axes;
        const Vec3 axis = i % 3 == 0 ? axes->c0 : i % 3 == 1 ? axes->c1 : axes->c2;
        const Vec3 n = i % 6 < 3 ? axis : vec3_neg(axis);
        const double separation = convex_separation(pair, n);
        if (separation > best) {
            best = separation;
            gap->normal = n;
        }
    }
    const GjkBody a = {convex_support, &pair[0]}, b = {convex_support, &pair[1]};
    simplex->count = 1;
    simplex->vertex[0] = gjk_vertex(&a, &b, gap->normal);
    simplex->vertex[0].weight = 1.0;
}

static uint32_t feature_of(const Convex *convex, const Corners *corners, Vec3 outward) {
    if (!convex_has_corners(convex)) {
        return CONVEX_ROUND;
    }
    switch (corners->count) {
    case 1:
        return CONVEX_VERTEX | corners->point[0].vertex;
    case 2:
        return convex_feature_between(convex, corners->point[0].vertex, corners->point[1].vertex,
                                      outward);
    default:
        return CONVEX_FACE | convex_facet(convex, outward).number;
    }
}

static bool has_hull(const Convex pair[2]) {
    return pair[0].kind == CONVEX_HULL || pair[1].kind == CONVEX_HULL;
}

// Flat between corners: what convex_axes.h can look at.
static bool has_axes(const Convex pair[2]) {
    return pair[0].kind != CONVEX_CYLINDER && pair[1].kind != CONVEX_CYLINDER && has_hull(pair);
}

// A direction, how far it parts the bodies, and what of them is nearest along it.
static void take_found(const Convex pair[2], const GjkSimplex *simplex, Vec3 normal,
                       double separation, ConvexGap *gap) {
    gap->normal = normal;
    gap->gap = separation;
    for (int side = 0; side < 2; side++) {
        const Corners corners = corners_of(simplex, side);
        gap->corner[side] =
            convex_has_corners(&pair[side]) && corners.count == 1 ? 1 + corners.point[0].vertex : 0;
        const Vec3 outward = side == 0 ? gap->normal : vec3_neg(gap->normal);
        gap->feature[side] = has_hull(pair) ? feature_of(&pair[side], &corners, outward) : 0;
    }
    gap->on_first = vec3_add_scaled(weigh(simplex, 0), pair[0].radius, gap->normal);
    gap->on_second = vec3_add_scaled(weigh(simplex, 1), -pair[1].radius, gap->normal);
}

// What a search knows of all other directions.
typedef struct Bound {
    bool is_tight; // none parts the two farther, to rounding
    double most;   // none parts them farther than this [m]
} Bound;

static bool search(const Convex pair[2], double reach, const Effort *effort, ConvexGap *gap,
                   GjkSimplex *simplex, Bound *bound) {
    const GjkBody a = {convex_support, &pair[0]}, b = {convex_support, &pair[1]};
    const Vec3 offset = vec3_sub(pair[1].middle, pair[0].middle);
    const double radii = pair[0].radius + pair[1].radius;
    const bool is_centered = vec3_dot(offset, offset) == 0.0;
    const GjkEnd end = {.progress = effort->gjk_progress,
                        .far = (reach + radii) * (1.0 + far_slack) + far_part * size_of(pair)};
    const GjkResult result =
        gjk_search(a, b, is_centered ? pair[0].axes.c2 : offset, &end, simplex);
    if (result.is_far) {
        return false;
    }
    *bound = (Bound){.is_tight = true, .most = result.distance - radii};
    gap->normal = result.normal;
    // thin triangles, as of points of a rim beside a body far larger, have no normal to speak of:
    // what seems apart along one that does not part them may overlap
    double separation = 0.0;
    bool is_apart = result.is_apart && result.distance > touching_part * size_of(pair);
    if (is_apart) {
        separation = convex_separation(pair, result.normal);
        is_apart = separation + radii > 0.0;
    }
    if (is_apart) {
        if (result.distance * (1.0 - 1e-6) - radii > reach) {
            return false;
        }
    } else {
        const EpaResult epa = epa_depth(&a, &b, simplex, effort->epa_slack * size_of(pair));
        gap->normal = epa.normal;
        *simplex = epa.face;
        bound->is_tight = epa.is_found && epa.doubt <= doubt_part * size_of(pair);
        if (!epa.is_found) {
            search_axes(pair, simplex, gap);
        }
        separation = convex_separation(pair, gap->normal);
        bound->most = separation + (epa.is_found ? epa.doubt : HUGE_VAL);
    }
    take_found(pair, simplex, gap->normal, separation, gap);
    return true;
}

// Whether the two points lie on the planes that hold the bodies apart along n, over each other.
static bool is_proven(const Convex pair[2], Vec3 n, const Vec3 on[2], double separation) {
    const double slack = proof_part * size_of(pair);
    const Vec3 across = vec3_add_scaled(vec3_sub(on[1], on[0]), -separation, n);
    const Vec3 a = convex_support(&pair[0], n).position;
    const double above = vec3_dot(n, vec3_sub(on[0], a)) - pair[0].radius;
    return vec3_dot(across, across) <= slack * slack && fabs(above) <= slack;
}

// ---- as faces have it

// What of the other body is nearest along a direction of this side's, from the first to the second.
static Vec3 nearest_of_other(const Convex pair[2], int side, Vec3 n) {
    const Convex *other = &pair[1 - side];
    const Vec3 toward = side == 0 ? vec3_neg(n) : n;
    return vec3_add_scaled(convex_support(other, toward).position, other->radius, toward);
}

// With that point, and what lies over it.
static void take_direction(int side, Vec3 n, double separation, Vec3 point, ConvexGap *gap) {
    ASSERT(side == 0 || side == 1);
    gap->normal = n;
    gap->gap = separation;
    gap->on_first = side == 0 ? vec3_add_scaled(point, -separation, n) : point;
    gap->on_second = side == 0 ? point : vec3_add_scaled(point, separation, n);
}

// The direction of a face that nearly looks along the one found.
static void try_face(const Convex pair[2], int side, ConvexGap *gap) {
    ASSERT(side == 0 || side == 1);
    const Vec3 outward = side == 0 ? gap->normal : vec3_neg(gap->normal);
    const Facet face = convex_facet(&pair[side], outward);
    if (face.kind == FACET_LINE || vec3_dot(face.normal, outward) < near_cosine) {
        return;
    }
    const Vec3 n = side == 0 ? face.normal : vec3_neg(face.normal);
    const double separation = convex_separation(pair, n);
    if (separation < gap->gap - rounding_part * size_of(pair)) {
        return;
    }
    take_direction(side, n, separation, nearest_of_other(pair, side, n), gap);
    const Vec3 on_face = side == 0 ? gap->on_first : gap->on_second;
    gap->is_proven = facet_outside(&face, n, on_face) <= proof_part * size_of(pair);
}

// ---- as curves have it

enum { CURVE_MAX = 6 + 3 * CONVEX_NEIGHBOURS_MAX };

// The corners and the lines between them: of three one or two may have no part in it. One alone
// may be the end of any of its edges; widely seen, so may each of several.
static int curves_of_corners(const Convex *convex, const Corners *corners, Vec3 outward,
                             bool is_wide, Curve curve[CURVE_MAX]) {
    int count = 0;
    for (uint32_t i = 0; i < corners->count; i++) {
        curve[count++] = curve_point(corners->point[i].position);
        for (uint32_t k = 0; k < i; k++) {
            curve[count++] = curve_line(corners->point[k].position, corners->point[i].position);
        }
    }
    const uint32_t spread = corners->count == 1 || is_wide ? corners->count : 0;
    for (uint32_t i = 0; i < spread; i++) {
        uint32_t other[CONVEX_NEIGHBOURS_MAX];
        const uint32_t others = convex_neighbours(convex, corners->point[i].vertex, outward, other,
                                                  CONVEX_NEIGHBOURS_MAX);
        for (uint32_t k = 0; k < others; k++) {
            curve[count++] =
                curve_line(corners->point[i].position, convex_corner(convex, other[k]));
        }
    }
    ASSERT(count <= CURVE_MAX);
    return count;
}

// What of a core may be nearest: a line along its side, and at its end a circle or a point.
static int curves_of(const Convex *convex, const Corners *corners, Vec3 outward, bool is_wide,
                     Curve curve[CURVE_MAX]) {
    if (convex_has_corners(convex)) {
        return curves_of_corners(convex, corners, outward, is_wide, curve);
    }
    const Vec3 axis = convex->axes.c2;
    const Vec3 end = vec3_scale(convex->half.z, axis);
    curve[0] = curve_line(vec3_sub(convex->center, end), vec3_add(convex->center, end));
    curve[0].skin = convex->kind == CONVEX_CYLINDER ? convex->half.x : convex->radius;
    const double up = vec3_dot(outward, axis);
    int count = 1;
    for (int i = 0; i < 2; i++) { // across the axis either end may be nearest
        if (i == 0 ? up > -CONVEX_ACROSS : up < CONVEX_ACROSS) {
            const Vec3 at = vec3_add_scaled(convex->center, i == 0 ? 1.0 : -1.0, end);
            curve[count] = convex->kind == CONVEX_CYLINDER
                               ? curve_circle(at, convex->axes, convex->half.x)
                               : curve_point(at);
            curve[count++].skin = convex->radius;
        }
    }
    return count;
}

// Of the directions that do not prove themselves the one that parts the bodies farthest.
typedef struct Lead {
    double separation;
    Vec3 normal;
} Lead;

static void try_curves(const Convex pair[2], const Curve curve[2], const Vec3 near[2], Lead *lead,
                       ConvexGap *gap) {
    CurveLink link;
    if (!curve_meet(curve, near, gap->normal, &link)) {
        return;
    }
    const double separation = convex_separation(pair, link.normal);
    const Vec3 on[2] = {vec3_add_scaled(link.point[0], curve[0].skin, link.normal),
                        vec3_add_scaled(link.point[1], -curve[1].skin, link.normal)};
    const double slack = rounding_part * size_of(pair);
    if (separation < gap->gap - slack) {
        return;
    }
    if (!is_proven(pair, link.normal, on, separation)) {
        if (separation > lead->separation) {
            *lead = (Lead){separation, link.normal};
        }
        return;
    }
    gap->normal = link.normal;
    gap->gap = separation;
    gap->on_first = on[0];
    gap->on_second = on[1];
    gap->is_proven = true;
}

// How fast the planes part when the direction turns by an angle about a line, and that direction.
static double parting(const Convex pair[2], Vec3 n, Vec3 across, double angle, Vec3 *turned) {
    const Vec3 d = vec3_add_scaled(n, angle, across);
    *turned = vec3_scale(1.0 / vec3_norm(d), d);
    const Vec3 a = convex_support(&pair[0], *turned).position;
    const Vec3 b = convex_support(&pair[1], vec3_neg(*turned)).position;
    return vec3_dot(across, vec3_sub(b, a)) -
           vec3_dot(*turned, across) * vec3_dot(*turned, vec3_sub(b, a));
}

// Of all directions across a line of one side the one that holds the two farthest apart, where it
// is within `angle_max` of the one found: its rate changes sign there. Where a circle and a line
// part as slowly along both, Newton's method loses its way, and halving does not.
static bool part_across(const Convex pair[2], Vec3 line, Vec3 *n) {
    VALIDATE(fabs(vec3_dot(line, line) - 1.0) < 1e-6);
    static const double angle_max = 0.02;
    const Vec3 flat = vec3_add_scaled(*n, -vec3_dot(*n, line), line);
    const double length = vec3_norm(flat);
    if (!(length > near_cosine)) {
        return false;
    }
    const Vec3 from = vec3_scale(1.0 / length, flat), across = vec3_cross(line, from);
    double low = -angle_max, high = angle_max;
    Vec3 turned;
    if (!(parting(pair, from, across, low, &turned) > 0.0) ||
        !(parting(pair, from, across, high, &turned) < 0.0)) {
        return false;
    }
    for (int round = 0; round < 60; round++) {
        const double middle = 0.5 * (low + high);
        const bool is_rising = parting(pair, from, across, middle, &turned) > 0.0;
        low = is_rising ? middle : low;
        high = is_rising ? high : middle;
    }
    *n = turned;
    return true;
}

static void try_along(const Convex pair[2], int side, const Curve *curve, ConvexGap *gap) {
    ASSERT(side == 0 || side == 1);
    Vec3 n = gap->normal;
    if (curve->kind != CURVE_LINE || !part_across(pair, curve->x, &n)) {
        return;
    }
    const double separation = convex_separation(pair, n);
    const Vec3 point = nearest_of_other(pair, side, n);
    const Vec3 on_line = vec3_add_scaled(
        point, side == 0 ? -(separation + curve->skin) : separation + curve->skin, n);
    const Vec3 offset = vec3_sub(on_line, curve->center);
    const double along = vec3_dot(offset, curve->x);
    const Vec3 beside = vec3_add_scaled(offset, -along, curve->x);
    const double slack = 1e-9 * size_of(pair); // halving ends at a rounding of the angle
    if (separation < gap->gap - rounding_part * size_of(pair) ||
        fabs(along) > curve->extent + slack || vec3_dot(beside, beside) > slack * slack) {
        return;
    }
    take_direction(side, n, separation, point, gap);
    gap->is_proven = true;
}

// Whether what was found first is as near as what is exact: between bodies of flat faces and ends.
// Of a rim the searches know chords, which lie as deep as a rounding where they are off by its
// root.
static bool is_exact(const Convex pair[2], const ConvexGap *gap) {
    const Vec3 on[2] = {vec3_add_scaled(gap->on_first, -pair[0].radius, gap->normal),
                        vec3_add_scaled(gap->on_second, pair[1].radius, gap->normal)};
    return pair[0].kind != CONVEX_CYLINDER && pair[1].kind != CONVEX_CYLINDER &&
           is_proven(pair, gap->normal, on, gap->gap + pair[0].radius + pair[1].radius);
}

static void try_all_curves(const Convex pair[2], const GjkSimplex *simplex, bool is_wide,
                           Lead *lead, ConvexGap *gap) {
    const Vec3 near[2] = {weigh(simplex, 0), weigh(simplex, 1)};
    Curve of[2][CURVE_MAX];
    int count[2];
    for (int side = 0; side < 2; side++) {
        const Corners corners = corners_of(simplex, side);
        const Vec3 outward = side == 0 ? gap->normal : vec3_neg(gap->normal);
        count[side] = curves_of(&pair[side], &corners, outward, is_wide, of[side]);
    }
    for (int i = 0; i < count[0]; i++) {
        for (int k = 0; k < count[1]; k++) {
            const Curve curve[2] = {of[0][i], of[1][k]};
            try_curves(pair, curve, near, lead, gap);
        }
    }
    for (int side = 0; side < 2; side++) {
        for (int i = 0; !gap->is_proven && i < count[side]; i++) {
            try_along(pair, side, &of[side][i], gap);
        }
    }
}

// Where the curves at the corners found know a better direction that is another corner's to prove,
// as in bodies far thicker than the other is: those of the corners that are farthest along it, and
// so on.
static void climb(const Convex pair[2], Lead lead, ConvexGap *gap) {
    const GjkBody a = {convex_support, &pair[0]}, b = {convex_support, &pair[1]};
    const double slack = rounding_part * size_of(pair);
    for (int round = 0; round < CLIMB_ROUNDS; round++) {
        if (gap->is_proven || !(lead.separation > gap->gap + slack)) {
            return;
        }
        GjkSimplex simplex = {.count = 1, .vertex = {gjk_vertex(&a, &b, lead.normal)}};
        simplex.vertex[0].weight = 1.0;
        take_found(pair, &simplex, lead.normal, lead.separation, gap);
        try_all_curves(pair, &simplex, true, &lead, gap);
    }
}

// Where the polytope has lost digits: all directions that can be the best.
static void try_axes(const Convex pair[2], ConvexGap *gap) {
    const ConvexAxis axis = convex_axes_find(pair);
    const double separation = axis.separation - (pair[0].radius + pair[1].radius);
    if (!(separation >= gap->gap - rounding_part * size_of(pair))) {
        return;
    }
    gap->normal = axis.normal;
    gap->gap = separation;
    gap->is_proven = false;
    if (axis.face_of >= 0) {
        try_face(pair, axis.face_of, gap);
        return;
    }
    Curve curve[2] = {curve_line(axis.edge[0][0], axis.edge[0][1]),
                      curve_line(axis.edge[1][0], axis.edge[1][1])};
    curve[0].skin = pair[0].radius;
    curve[1].skin = pair[1].radius;
    const Vec3 near[2] = {curve[0].center, curve[1].center};
    Lead lead = {.separation = HUGE_VAL}; // there is none after this
    try_curves(pair, curve, near, &lead, gap);
    for (int side = 0; side < 2; side++) {
        const Vec3 outward = side == 0 ? gap->normal : vec3_neg(gap->normal);
        if (!convex_has_corners(&pair[side])) {
            continue;
        }
        gap->feature[side] = convex_feature_between(&pair[side], axis.vertex[side][0],
                                                    axis.vertex[side][1], outward);
    }
}

// Where nothing proves itself, as between faces and edges that lie along each other in several ways
// at once: moved by the gap the two touch, and going from the one to the nearest of the other and
// back ends where they do.
void convex_gap_settle(const Convex pair[2], ConvexGap *gap) {
    if (gap->is_proven) {
        return;
    }
    const Vec3 n = gap->direction;
    ASSERT(vec3_dot(n, n) > 0.0);
    Vec3 at = vec3_add_scaled(gap->on_first, 0.5, vec3_sub(gap->on_second, gap->on_first));
    at = vec3_add_scaled(at, -0.5 * gap->gap, n);
    for (int round = 0; round < SETTLE_ROUNDS; round++) {
        gap->on_first = convex_nearest(&pair[0], at);
        const Vec3 moved = vec3_add_scaled(gap->on_first, gap->gap, n);
        gap->on_second = convex_nearest(&pair[1], moved);
        const Vec3 back = vec3_add_scaled(gap->on_second, -gap->gap, n);
        const Vec3 step = vec3_sub(back, at);
        at = back;
        if (vec3_norm(step) <= proof_part * size_of(pair)) {
            break;
        }
    }
    // in the middle of what is left between them
    const Vec3 middle = vec3_scale(0.5, vec3_add(gap->on_first, gap->on_second));
    gap->on_first = vec3_add_scaled(middle, -0.5 * gap->gap, n);
    gap->on_second = vec3_add_scaled(middle, 0.5 * gap->gap, n);
}

// Two faces with corners that lie on each other, as near as those of boxes: what bears is theirs
// to say (convex_pair.c), and nobody asks which of their points are nearest.
static bool lie_flat(const Convex pair[2], Vec3 n) {
    if (!has_hull(pair) || !convex_has_corners(&pair[0]) || !convex_has_corners(&pair[1])) {
        return false;
    }
    return vec3_dot(convex_facet(&pair[0], n).normal, n) >= flat_cosine &&
           vec3_dot(convex_facet(&pair[1], vec3_neg(n)).normal, n) <= -flat_cosine;
}

// What is exact of what a search has found.
static void refine(const Convex pair[2], const GjkSimplex *simplex, bool is_last, ConvexGap *gap) {
    ASSERT(simplex->count >= 1 && simplex->count <= 3);
    gap->is_proven = is_exact(pair, gap);
    if (!gap->is_proven) {
        try_face(pair, 0, gap);
        try_face(pair, 1, gap);
    }
    if (!gap->is_proven && lie_flat(pair, gap->normal)) {
        return;
    }
    Lead lead = {.separation = -HUGE_VAL};
    if (!gap->is_proven) {
        try_all_curves(pair, simplex, false, &lead, gap);
    }
    if (!gap->is_proven && is_last) { // the edge that is nearest may be none of the corners found
        try_all_curves(pair, simplex, true, &lead, gap);
        climb(pair, lead, gap);
    }
}

// Of two that overlap a proof says that no direction near by parts them farther, and the first
// search left out what is not deeper by as much as it may be off. Where another may be the one, as
// at the rim of a small body in a large one, the second search says so.
static void try_farther(const Convex pair[2], double reach, const Bound *bound, ConvexGap *gap) {
    const double sure = sure_part * size_of(pair);
    if (!gap->is_proven || gap->gap >= 0.0 || bound->most <= gap->gap + sure) {
        return;
    }
    ConvexGap other = {.is_proven = false};
    GjkSimplex simplex;
    Bound second;
    if (search(pair, reach, &efforts[1], &other, &simplex, &second)) {
        refine(pair, &simplex, true, &other);
        if (other.gap > gap->gap + sure) {
            *gap = other;
        }
    }
}

bool convex_gap(const Convex pair[2], double reach, ConvexGap *gap) {
    ASSERT(reach >= 0.0);
    gap->is_proven = false;
    const bool is_flat = has_axes(pair);
    const Effort *effort = is_flat ? &of_flat : efforts;
    const size_t rounds = is_flat ? 1 : sizeof(efforts) / sizeof(efforts[0]);
    Bound bound = {.is_tight = true};
    size_t round = 0;
    for (; round < rounds && !gap->is_proven; round++) {
        GjkSimplex simplex;
        if (!search(pair, reach, &effort[round], gap, &simplex, &bound)) {
            return false;
        }
        refine(pair, &simplex, round + 1 == rounds, gap);
    }
    if (round < rounds) {
        try_farther(pair, reach, &bound, gap);
    }
    if (is_flat && gap->gap <= 0.0 &&
        !(bound.is_tight && (gap->is_proven || lie_flat(pair, gap->normal)))) {
        try_axes(pair, gap);
    }
    gap->direction = gap->normal;
    // axes of a body are unit but for a part in 1e9
    gap->normal = vec3_scale(1.0 / vec3_norm(gap->normal), gap->normal);
    return gap->gap <= reach;
}
