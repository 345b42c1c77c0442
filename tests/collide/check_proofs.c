// SPDX-License-Identifier: MIT
// Random pairs of every two bounded kinds, of any sizes, apart, grazing and deep. Every answer is
// proven by the plain words of it (judge.h): 1e6 of each two kinds that are apart in the long
// tests, and 1e4 that overlap, of which no other direction may know a smaller depth.
#include "collide/judge.h"
#include "support/campaign.h"
#include "support/hull_build.h"
#include "support/suite.h"

#include <stdio.h>

enum { HULLS = 48, KINDS = 5, PAIRS = KINDS * (KINDS + 1) / 2, STARTS = 6 };

// Of the sizes of the two: gaps and witnesses.
static const double gap_tolerance = 1e-9;
// of the sizes: the depth that a search may find smaller
static const double depth_tolerance = 1e-9;
// How far a normal may be off what stands on what is round there; and a place, of the sizes.
static const double normal_tolerance = 1e-7, place_tolerance = 1e-10;
// faces with corners that lie on each other, parallel to 1.4e-3: how much lower, of the sizes,
// something may be that stands out beside them (collide/README.md)
static const double tilt_part = 2e-3;

static const PrimitiveKind kinds[KINDS] = {PRIMITIVE_SPHERE, PRIMITIVE_BOX, PRIMITIVE_CAPSULE,
                                           PRIMITIVE_CYLINDER, PRIMITIVE_HULL};

// How large the bodies of a pair are: alike; one of them up to a thousand times as small; each of
// their lengths up to thirty times as short.
typedef enum Sizes { SIZES_ALIKE, SIZES_UNLIKE, SIZES_SLIM, SIZES_COUNT } Sizes;

typedef struct Case {
    Primitive p[2];
    Pose pose[2];
    double sizes;
} Case;

// ---- bodies

static const Hull *hulls[SIZES_COUNT][HULLS];
static Geometry geometries[SIZES_COUNT][HULLS];

static Vec3 dice_lengths(Dice *dice, Sizes sizes) {
    const double scale = sizes == SIZES_UNLIKE ? pow(10.0, dice_between(dice, -3.0, 0.0)) : 1.0;
    Vec3 half = vec3_scale(scale, dice_vec(dice, 0.1, 1.0));
    if (sizes == SIZES_SLIM) {
        half.x *= pow(10.0, dice_between(dice, -1.5, 0.0));
        half.y *= pow(10.0, dice_between(dice, -1.5, 0.0));
        half.z *= pow(10.0, dice_between(dice, -1.5, 0.0));
    }
    return half;
}

static void make_hulls(void) {
    Dice dice = {4401};
    for (int sizes = 0; sizes < SIZES_COUNT; sizes++) {
        for (uint32_t i = 0; i < HULLS; i++) {
            const Vec3 half = dice_lengths(&dice, (Sizes)sizes);
            const Hull *hull = i % 8 == 0   ? hull_of_box(half)
                               : i % 8 == 1 ? hull_of_prism(3 + i / 4, half.x, half.y)
                                            : hull_of_dice(&dice, 4 + i / 3, half);
            hulls[sizes][i] = hull;
            geometries[sizes][i] = (Geometry){.kind = GEOMETRY_HULL, .hull = hull};
        }
    }
}

static void free_hulls(void) {
    for (int sizes = 0; sizes < SIZES_COUNT; sizes++) {
        for (uint32_t i = 0; i < HULLS; i++) {
            hull_free(hulls[sizes][i]);
        }
    }
}

static Primitive dice_primitive(Dice *dice, PrimitiveKind kind, Sizes sizes) {
    const Vec3 half = dice_lengths(dice, sizes);
    Primitive hull = {.kind = PRIMITIVE_HULL, .local = {{0}, quat_identity()}, .density = 1000.0};
    switch (kind) {
    case PRIMITIVE_SPHERE:
        return make_sphere(half.x);
    case PRIMITIVE_BOX:
        return make_box(half);
    case PRIMITIVE_CAPSULE:
        return make_capsule(0.5 * half.x, half.y);
    case PRIMITIVE_CYLINDER:
        return make_cylinder(half.x, half.y);
    default:
        hull.geometry = &geometries[sizes][(uint32_t)(HULLS * dice_unit(dice))];
        return hull;
    }
}

// A case of its own, whichever were before it.
static Dice dice_of(uint64_t seed, int pair, int i) {
    const uint64_t number = seed << 48 | (uint64_t)pair << 40 | (uint64_t)i;
    Dice dice = {(number + 1) * 0x9e3779b97f4a7c15u};
    dice_unit(&dice);
    return dice;
}

static Case dice_case(Dice *dice, int pair, int i, double nearest, double farthest) {
    int a = 0, b = pair;
    for (; b >= KINDS - a; a++) {
        b -= KINDS - a;
    }
    const Sizes sizes = (Sizes)(i / 2 % SIZES_COUNT);
    Case made = {.p = {dice_primitive(dice, kinds[a], i % 2 == 0 ? SIZES_ALIKE : sizes),
                       dice_primitive(dice, kinds[a + b], i % 2 == 0 ? sizes : SIZES_ALIKE)}};
    if (sizes == SIZES_SLIM) {
        made.p[0] = dice_primitive(dice, kinds[a], sizes);
        made.p[1] = dice_primitive(dice, kinds[a + b], sizes);
    }
    made.sizes = judge_sizes(made.p);
    made.pose[0] = dice_pose(dice, 1.0);
    made.pose[1].orientation = dice_quat(dice);
    made.pose[1].position =
        vec3_add_scaled(made.pose[0].position, dice_between(dice, nearest, farthest) * made.sizes,
                        dice_direction(dice));
    return made;
}

static void meet(const Case *of, Manifold *manifold) {
    narrow_collide(&of->p[0], of->pose[0], &of->p[1], of->pose[1], 10.0 * of->sizes, manifold);
    ck_assert_uint_ge(manifold->count, 1);
}

// Moves the second one along the normal until the planes are so far apart.
static void part(Case *of, Manifold *manifold, double gap) {
    const double now = judge_separation(of->p, of->pose, manifold->normal);
    of->pose[1].position = vec3_add_scaled(of->pose[1].position, gap - now, manifold->normal);
    meet(of, manifold);
}

static bool has_corners(const Primitive *p) {
    return p->kind == PRIMITIVE_BOX || p->kind == PRIMITIVE_HULL;
}

// ---- what is proven

// How far a normal is off what stands on a round body at a place on it.
static double normal_off(const Primitive *p, Pose pose, Vec3 outward, Vec3 at) {
    const Mat3 axes = quat_to_mat3(pose.orientation);
    const Vec3 n = mat3_tmul_vec(axes, outward),
               x = mat3_tmul_vec(axes, vec3_sub(at, pose.position));
    const double across = sqrt(x.x * x.x + x.y * x.y);
    Vec3 from = x;
    switch (p->kind) {
    case PRIMITIVE_SPHERE:
        return vec3_norm(vec3_sub(n, vec3_scale(1.0 / vec3_norm(from), from)));
    case PRIMITIVE_CAPSULE:
        from.z -= reference_clamp(x.z - p->size.x * n.z, -p->size.y, p->size.y);
        return vec3_norm(vec3_sub(n, vec3_scale(1.0 / vec3_norm(from), from)));
    case PRIMITIVE_CYLINDER:
        if (across < p->size.x * (1.0 - 1e-6)) { // in the cap
            return hypot(n.x, n.y);
        }
        return fmax(fabs(n.x * x.y - n.y * x.x) / across, // beside the rim or the side
                    fabs(x.z) < p->size.y * (1.0 - 1e-6) ? fabs(n.z) : 0.0);
    default:
        return 0.0;
    }
}

// What pairs give away for features that stay from step to step, each as its own file says, beside
// `gap_tolerance`; of the sizes.
typedef struct Allowed {
    double gap;    // how much lower the lowest point is than the planes are apart
    double beside; // how far a point may be beside a body
} Allowed;

// Where an edge lies along a box's face (box_box.c: spread_along), points are midway between the
// two along the face's normal, and their gaps are along the edges', which is turned from it, by
// acos(1 - 1e-6) at most: of half a gap the sine goes beside. The largest gap says how far; the
// lowest, and the depth, are what they are for all that.
static double turned_beside(const Case *of, const Manifold *manifold) {
    static const double most = 1.4143e-3;
    double sine = 0.0, gap = 0.0;
    for (int side = 0; side < 2; side++) {
        const Vec3 n = mat3_tmul_vec(quat_to_mat3(of->pose[side].orientation), manifold->normal);
        const double x = hypot(n.y, n.z), y = hypot(n.z, n.x), z = hypot(n.x, n.y);
        const double own = fmin(x, fmin(y, z)); // to the nearest of its faces
        sine = fmax(sine, own <= most ? own : 0.0);
    }
    for (uint32_t i = 0; i < manifold->count; i++) {
        gap = fmax(gap, fabs(manifold->point[i].gap));
    }
    return 0.5 * sine * gap / of->sizes;
}

static Allowed allow(const Case *of, const Manifold *manifold) {
    const Primitive *p = of->p;
    const double gap = fabs(judge_lowest(manifold)) / of->sizes;
    Allowed allowed = {gap_tolerance, gap_tolerance};
    if (p[0].kind == PRIMITIVE_BOX && p[1].kind == PRIMITIVE_BOX && manifold->count > 1) {
        allowed.beside += turned_beside(of, manifold);
    }
    if (has_corners(&p[0]) && has_corners(&p[1])) {
        // box_box.c: a face's points may be higher than planes know by 1e-6 of the gap, which is by
        // its root beside the face, and corners that all but touch have a normal by what is left of
        // their gap after rounding; polygon_meet.c: and out of it by 1e-9 of the sizes, or, where
        // faces are parallel, by 1e-4 of their shorter half edge
        allowed.gap += 1e-6 * gap + (p[0].kind == p[1].kind ? 1e-8 : 0.0);
        allowed.beside += 9.0 * gap_tolerance + 2e-3 * gap + (p[0].kind == p[1].kind ? 1e-4 : 0.0);
    } else if (p[1].kind == PRIMITIVE_CAPSULE && p[0].kind != PRIMITIVE_SPHERE) {
        // capsule.h: the ends of a line may lie beside the normal by 0.02 of the radius, seen from
        // the axis; box_capsule.c: an axis that is as good as at the box, which it is to 4e-8
        allowed.beside += manifold->count > 1 ? 0.02 * p[1].size.x / of->sizes + 0.02 * gap : 0.0;
        allowed.gap += gap * of->sizes < p[1].size.x ? 4e-8 : 0.0;
    }
    if (manifold->count == 2 && !(has_corners(&p[0]) && has_corners(&p[1]))) {
        // convex_pair.c: the ends of two lines may lie beside the normal by 3e-5 of the radius
        const double radius = fmin(has_corners(&p[0]) ? HUGE_VAL : p[0].size.x,
                                   has_corners(&p[1]) ? HUGE_VAL : p[1].size.x);
        allowed.beside += 3e-5 * radius / of->sizes;
    }
    return allowed;
}

static void prove_normal(const Case *of, const Manifold *manifold, int side, const char *name) {
    const double sign = side == 0 ? 1.0 : -1.0;
    const ManifoldPoint *point = &manifold->point[0];
    const Vec3 at = vec3_add_scaled(point->position, -0.5 * sign * point->gap, manifold->normal);
    const double off =
        normal_off(&of->p[side], of->pose[side], vec3_scale(sign, manifold->normal), at);
    const double radius = has_corners(&of->p[side]) ? HUGE_VAL : of->p[side].size.x / of->sizes;
    ck_assert_msg(off <= normal_tolerance + place_tolerance / radius,
                  "%s: the normal is %g off, of a radius of %g of the sizes", name, off, radius);
}

// The planes are as far apart as the lowest point says, so that the two are as far apart as these,
// at least; and the points lie on both bodies, at the planes: then no farther. true: faces lie on
// each other that are nearly parallel, and it is lower that stands out beside them.
static bool prove(const Case *of, const Manifold *manifold, const char *name) {
    ck_assert_double_eq_tol(vec3_norm(manifold->normal), 1.0, 1e-12);
    const Allowed allowed = allow(of, manifold);
    const double lower =
        (judge_lowest(manifold) - judge_separation(of->p, of->pose, manifold->normal)) / of->sizes;
    const bool is_tilted = lower > allowed.gap && has_corners(&of->p[0]) && has_corners(&of->p[1]);
    ck_assert_msg(lower >= -allowed.gap && lower <= (is_tilted ? tilt_part : allowed.gap),
                  "%s: planes are %g of the sizes off the points", name, lower);
    const double out = judge_farthest_out(of->p, of->pose, manifold) / of->sizes;
    ck_assert_msg(out <= allowed.beside, "%s: a point is %g of the sizes beside a body", name, out);
    for (int side = 0; side < 2 && manifold->count == 1; side++) {
        prove_normal(of, manifold, side, name);
    }
    return is_tilted;
}

static void prove_swapped(const Case *of, const Manifold *here, const char *name) {
    Manifold there;
    narrow_collide(&of->p[1], of->pose[1], &of->p[0], of->pose[0], 10.0 * of->sizes, &there);
    bool is_same =
        here->count == there.count && vec3_norm(vec3_add(here->normal, there.normal)) == 0.0;
    for (uint32_t k = 0; is_same && k < here->count; k++) {
        const Vec3 way = vec3_sub(here->point[k].position, there.point[k].position);
        is_same = here->point[k].gap == there.point[k].gap && vec3_norm(way) == 0.0;
    }
    ck_assert_msg(is_same, "%s: exchanged it is another", name);
}

// In the long tests so many; else what shows a slip.
static int count_of(int many, int few) {
    const int scale = campaign_count(1);
    return scale > 1 ? scale * (many / 10) : campaign_count(few);
}

START_TEST(apart_every_answer_proves_itself) {
    make_hulls();
    int tilted = 0;
    const int campaign = count_of(1000000, 4000);
    for (int i = 0; i < campaign; i++) {
        char name[64];
        snprintf(name, sizeof(name), "apart, pair %d, case %d", _i, i);
        Dice dice = dice_of(1, _i, i);
        Case of = dice_case(&dice, _i, i, 0.2, 1.2);
        Manifold manifold;
        meet(&of, &manifold);
        if (i % 4 == 3) { // grazing
            part(&of, &manifold, pow(10.0, dice_between(&dice, -8.0, -2.0)) * of.sizes);
        } else if (judge_separation(of.p, of.pose, manifold.normal) <= 0.0) {
            part(&of, &manifold, dice_between(&dice, 0.01, 0.5) * of.sizes);
        }
        tilted += prove(&of, &manifold, name);
        prove_swapped(&of, &manifold, name);
    }
    ck_assert_msg(tilted <= 2 + campaign / 4000, "pair %d: %d are tilted", _i, tilted);
    free_hulls();
}
END_TEST

// ---- the least depth

typedef struct Directions {
    const Case *of;
    double best;
    Vec3 at;
} Directions;

static void try_direction(Directions *directions, Vec3 n) {
    const double length = vec3_norm(n);
    if (!(length > 0.0)) {
        return;
    }
    const Vec3 unit = vec3_scale(1.0 / length, n);
    const double s = judge_separation(directions->of->p, directions->of->pose, unit);
    if (s > directions->best) {
        directions->best = s;
        directions->at = unit;
    }
}

static uint32_t normals_of(const Primitive *p, Pose pose, Vec3 normal[HULL_FACES_MAX]) {
    const Mat3 axes = quat_to_mat3(pose.orientation);
    if (p->kind != PRIMITIVE_HULL) {
        normal[0] = axes.c0;
        normal[1] = axes.c1;
        normal[2] = axes.c2;
        return 3;
    }
    for (uint32_t i = 0; i < p->geometry->hull->face_count; i++) {
        normal[i] = mat3_mul_vec(axes, p->geometry->hull->normal[i]);
    }
    return p->geometry->hull->face_count;
}

static uint32_t edges_of(const Primitive *p, Pose pose, Vec3 edge[HULL_EDGES_MAX]) {
    if (p->kind != PRIMITIVE_HULL) {
        return normals_of(p, pose, edge);
    }
    const Mat3 axes = quat_to_mat3(pose.orientation);
    const Hull *hull = p->geometry->hull;
    for (uint32_t i = 0; i < hull->edge_count; i++) {
        const Vec3 from = hull->point[hull->edge[i].vertex[0]];
        const Vec3 way = vec3_sub(hull->point[hull->edge[i].vertex[1]], from);
        edge[i] = mat3_mul_vec(axes, vec3_scale(1.0 / vec3_norm(way), way));
    }
    return hull->edge_count;
}

// All faces of both; and, of two with corners, all pairs of edges: then it is one of these.
static void try_features(Directions *directions) {
    const Case *of = directions->of;
    Vec3 line[2][HULL_EDGES_MAX];
    for (int side = 0; side < 2; side++) {
        const uint32_t count = normals_of(&of->p[side], of->pose[side], line[side]);
        for (uint32_t k = 0; k < count; k++) {
            try_direction(directions, line[side][k]);
            try_direction(directions, vec3_neg(line[side][k]));
        }
    }
    const uint32_t a = edges_of(&of->p[0], of->pose[0], line[0]),
                   b = edges_of(&of->p[1], of->pose[1], line[1]);
    for (uint32_t i = 0; i < a; i++) {
        for (uint32_t k = 0; k < b; k++) {
            const Vec3 n = vec3_cross(line[0][i], line[1][k]);
            if (vec3_norm(n) > 1e-9) {
                try_direction(directions, n);
                try_direction(directions, vec3_neg(n));
            }
        }
    }
}

// Downhill from where it is.
static void walk(Directions *directions, Dice *dice) {
    for (double step = 0.1; step > 1e-9; step *= 0.7) {
        for (int i = 0; i < 6; i++) {
            try_direction(directions, vec3_add_scaled(directions->at, step, dice_direction(dice)));
        }
    }
}

// Of what is round: from the best of many directions in many parts of the sphere, and from the
// answer.
static void try_many(Directions *directions, Dice *dice, Vec3 answer) {
    Directions all = *directions;
    for (int start = 0; start < STARTS; start++) {
        Directions own = {.of = directions->of, .best = -HUGE_VAL};
        for (int i = 0; i < 60; i++) {
            try_direction(&own, dice_direction(dice));
        }
        walk(&own, dice);
        try_direction(&all, own.at);
    }
    Directions own = {.of = directions->of, .best = -HUGE_VAL};
    try_direction(&own, answer);
    walk(&own, dice);
    try_direction(&all, own.at);
    *directions = all;
}

START_TEST(overlapping_no_direction_knows_a_smaller_depth) {
    make_hulls();
    int tilted = 0, deep = 0;
    const int campaign = count_of(10000, 150);
    for (int i = 0; i < campaign; i++) {
        char name[64];
        snprintf(name, sizeof(name), "overlapping, pair %d, case %d", _i, i);
        Dice dice = dice_of(2, _i, i);
        Case of = dice_case(&dice, _i, i, 0.0, 0.6);
        Manifold manifold;
        meet(&of, &manifold);
        if (i % 4 == 3 || judge_separation(of.p, of.pose, manifold.normal) >= 0.0) { // grazing
            part(&of, &manifold, -pow(10.0, dice_between(&dice, -8.0, -2.0)) * of.sizes);
        }
        const bool is_tilted = prove(&of, &manifold, name);
        tilted += is_tilted;
        prove_swapped(&of, &manifold, name);
        Directions directions = {.of = &of, .best = -HUGE_VAL};
        try_features(&directions);
        if (!has_corners(&of.p[0]) || !has_corners(&of.p[1])) {
            try_many(&directions, &dice, manifold.normal);
        }
        const double own = judge_separation(of.p, of.pose, manifold.normal);
        const double less = (directions.best - own) / of.sizes;
        ck_assert_msg(less <= (is_tilted ? tilt_part : depth_tolerance),
                      "%s: a depth is %g of the sizes smaller than %g", name, less,
                      -own / of.sizes);
        deep += own < -0.01 * of.sizes;
    }
    ck_assert_int_le(tilted, 2 + campaign / 1000);
    ck_assert_int_ge(deep, campaign / 10);
    free_hulls();
}
END_TEST

// ---- what moves

// Where no more than a hundredth of the sizes overlaps, and features stay: nothing jumps.
START_TEST(a_pose_moved_by_a_nanometre_moves_no_point_by_a_micrometre) {
    make_hulls();
    int compared = 0;
    const int campaign = count_of(1000000, 4000);
    for (int i = 0; i < campaign; i++) {
        Dice dice = dice_of(3, _i, i);
        Case of = dice_case(&dice, _i, 0, 0.2, 1.0); // sizes alike
        Manifold here, there;
        meet(&of, &here);
        if (i % 2 == 1) { // about to touch, or just beyond it
            part(&of, &here, dice_between(&dice, -0.01, 0.01) * of.sizes);
        }
        const Vec3 turn = dice_vec(&dice, -1e-9, 1e-9);
        Case moved = of;
        moved.pose[1].position = vec3_add(moved.pose[1].position, dice_vec(&dice, -1e-9, 1e-9));
        moved.pose[1].orientation =
            quat_normalize(quat_mul((Quat){1.0, turn.x, turn.y, turn.z}, of.pose[1].orientation));
        meet(&moved, &there);
        bool is_same = here.count == there.count && judge_lowest(&here) > -0.01 * of.sizes;
        for (uint32_t k = 0; is_same && k < here.count; k++) {
            is_same = here.point[k].feature == there.point[k].feature;
        }
        for (uint32_t k = 0; is_same && k < here.count; k++) {
            const Vec3 way = vec3_sub(here.point[k].position, there.point[k].position);
            ck_assert_msg(vec3_norm(way) <= 1e-6, "pair %d, case %d: a point moved by %g m", _i, i,
                          vec3_norm(way));
        }
        compared += is_same;
    }
    ck_assert_int_gt(compared, campaign / 4);
    free_hulls();
}
END_TEST

static TCase *case_proofs(void) {
    TCase *tcase = tcase_create("proofs");
    tcase_set_timeout(tcase, 120);
    tcase_add_loop_test(tcase, apart_every_answer_proves_itself, 0, PAIRS);
    tcase_add_loop_test(tcase, overlapping_no_direction_knows_a_smaller_depth, 0, PAIRS);
    tcase_add_loop_test(tcase, a_pose_moved_by_a_nanometre_moves_no_point_by_a_micrometre, 0,
                        PAIRS);
    return tcase;
}

SUITE_MAIN("collide/proofs", case_proofs)
