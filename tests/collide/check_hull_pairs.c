// SPDX-License-Identifier: MIT
// Hulls with all that is bounded, and a half-space: every answer is judged by what it claims, with
// supports, faces and edges that are looked at here, all of them.
#include "collide/convex_pair.h"
#include "collide/geometry.h"
#include "support/campaign.h"
#include "support/hull_build.h"
#include "support/suite.h"

enum { HULLS = 40, KINDS = 5 };

static const Hull *hulls[HULLS];

// Small ones and large ones, prisms and boxes and what random points make.
static void make_hulls(void) {
    Dice dice = {77};
    for (uint32_t i = 0; i < HULLS; i++) {
        const Vec3 half = dice_vec(&dice, 0.1, 1.0);
        hulls[i] = i % 8 == 0   ? hull_of_box(half)
                   : i % 8 == 1 ? hull_of_prism(3 + i / 2, half.x, half.y)
                   : i % 8 == 2 ? hull_of_dice(&dice, 40 + i, half)
                                : hull_of_dice(&dice, 4 + i / 2, half);
    }
}

static void free_hulls(void) {
    for (uint32_t i = 0; i < HULLS; i++) {
        hull_free(hulls[i]);
    }
}

typedef struct Body {
    const Hull *hull; // NULL: the primitive
    Primitive primitive;
    Pose pose;
} Body;

static Body dice_body(Dice *dice, int kind, double spread) {
    const double x = dice_between(dice, 0.1, 1.0), y = dice_between(dice, 0.1, 1.0);
    Body body = {.pose = dice_pose(dice, spread)};
    switch (kind) {
    case 0:
        body.hull = hulls[(uint32_t)(HULLS * dice_unit(dice))];
        ck_assert_ptr_nonnull(body.hull); // make_hulls
        break;
    case 1:
        body.primitive = dice_box(dice);
        break;
    case 2:
        body.primitive = make_capsule(0.5 * x, y);
        break;
    case 3:
        body.primitive = make_sphere(x);
        break;
    default:
        body.primitive = make_cylinder(x, y);
        break;
    }
    return body;
}

static double farthest(const Body *body, Vec3 n, Vec3 from) {
    const Vec3 d = mat3_tmul_vec(quat_to_mat3(body->pose.orientation), n);
    const double at = vec3_dot(n, vec3_sub(body->pose.position, from));
    const Vec3 size = body->primitive.size;
    double most = -HUGE_VAL;
    if (body->hull != NULL) {
        for (uint32_t i = 0; i < body->hull->vertex_count; i++) {
            most = fmax(most, vec3_dot(d, body->hull->point[i]));
        }
        return at + most;
    }
    switch (body->primitive.kind) {
    case PRIMITIVE_SPHERE:
        return at + size.x;
    case PRIMITIVE_BOX:
        return at + fabs(d.x) * size.x + fabs(d.y) * size.y + fabs(d.z) * size.z;
    case PRIMITIVE_CAPSULE:
        return at + size.x + fabs(d.z) * size.y;
    default:
        return at + sqrt(d.x * d.x + d.y * d.y) * size.x + fabs(d.z) * size.y;
    }
}

static double separation(const Body body[2], Vec3 n) {
    const Vec3 from = body[0].pose.position;
    return -farthest(&body[1], vec3_neg(n), from) - farthest(&body[0], n, from);
}

static double outside(const Body *body, Vec3 point) {
    const Vec3 x =
        mat3_tmul_vec(quat_to_mat3(body->pose.orientation), vec3_sub(point, body->pose.position));
    const Vec3 size = body->primitive.size;
    if (body->hull != NULL) {
        return hull_outside(body->hull, x);
    }
    switch (body->primitive.kind) {
    case PRIMITIVE_SPHERE:
        return vec3_norm(x) - size.x;
    case PRIMITIVE_BOX:
        return point_box_distance(point, &body->primitive, body->pose);
    case PRIMITIVE_CAPSULE:
        return point_segment_distance(x, vec3(0.0, 0.0, -size.y), vec3(0.0, 0.0, size.y)) - size.x;
    default:
        return hypot(fmax(sqrt(x.x * x.x + x.y * x.y) - size.x, 0.0),
                     fmax(fabs(x.z) - size.y, 0.0));
    }
}

static double size_of(const Body *body) {
    return body->hull != NULL ? body->hull->mass_reach
                              : primitive_rows[body->primitive.kind].reach(&body->primitive);
}

static ConvexManifold meet(const Body body[2], double reach) {
    const ConvexBody of[2] = {{&body[0].primitive, body[0].hull, &body[0].pose},
                              {&body[1].primitive, body[1].hull, &body[1].pose}};
    ConvexManifold manifold;
    convex_meet(of, reach, &manifold);
    return manifold;
}

static double lowest(const ConvexManifold *manifold) {
    double gap = HUGE_VAL;
    for (uint32_t i = 0; i < manifold->count; i++) {
        gap = fmin(gap, manifold->point[i].gap);
    }
    return gap;
}

// As check_convex.c has it: planes as far apart as the lowest point says, and all points on both.
// true: two faces lie on each other that are parallel but for 1.4e-3, as boxes may, and what stands
// out beside them is lower by that.
static bool prove(const Body body[2], const ConvexManifold *manifold, double tolerance) {
    const double sizes = size_of(&body[0]) + size_of(&body[1]);
    ck_assert_uint_ge(manifold->count, 1);
    ck_assert_double_eq_tol(vec3_norm(manifold->normal), 1.0, 1e-12);
    const double lower = lowest(manifold) - separation(body, manifold->normal);
    const bool is_tilted = lower > tolerance * sizes &&
                           (body[1].hull != NULL || body[1].primitive.kind == PRIMITIVE_BOX);
    ck_assert_double_ge(lower, -tolerance * sizes);
    ck_assert_double_le(lower, (is_tilted ? 2e-3 : tolerance) * sizes);
    for (uint32_t i = 0; i < manifold->count; i++) {
        const ConvexPoint *point = &manifold->point[i];
        const Vec3 half = vec3_scale(0.5 * point->gap, manifold->normal);
        const double out[2] = {outside(&body[0], vec3_sub(point->position, half)),
                               outside(&body[1], vec3_add(point->position, half))};
        ck_assert_double_le(fmax(out[0], out[1]), tolerance * sizes);
        for (uint32_t k = 0; k < i; k++) {
            ck_assert(point->feature[0] != manifold->point[k].feature[0] ||
                      point->feature[1] != manifold->point[k].feature[1]);
        }
    }
    return is_tilted;
}

START_TEST(an_answer_proves_itself) {
    make_hulls();
    Dice dice = {2911};
    for (int kind = 0; kind < KINDS; kind++) {
        int apart = 0, overlapping = 0, tilted = 0;
        for (int i = 0, campaign = campaign_count(10000); i < campaign; i++) {
            const double spread = i % 2 == 0 ? 1.0 : 0.4;
            const Body body[2] = {dice_body(&dice, 0, spread), dice_body(&dice, kind, spread)};
            const ConvexManifold manifold = meet(body, 10.0);
            tilted += prove(body, &manifold, 1e-9);
            apart += lowest(&manifold) > 0.0;
            overlapping += lowest(&manifold) < 0.0;
        }
        ck_assert_int_le(tilted, 1 + campaign_count(10000) / 4000);
        ck_assert_int_gt(apart, campaign_count(10000) / 20);
        ck_assert_int_gt(overlapping, campaign_count(10000) / 20);
    }
    free_hulls();
}
END_TEST

// The least depth over all faces of both and all pairs of their edges.
static double least_depth(const Body body[2]) {
    double best = -HUGE_VAL;
    const Mat3 axes[2] = {quat_to_mat3(body[0].pose.orientation),
                          quat_to_mat3(body[1].pose.orientation)};
    for (int side = 0; side < 2; side++) {
        const Hull *hull = body[side].hull;
        for (uint32_t f = 0; f < hull->face_count; f++) {
            const Vec3 n = mat3_mul_vec(axes[side], hull->normal[f]);
            best = fmax(best, separation(body, side == 0 ? n : vec3_neg(n)));
        }
    }
    const Hull *a = body[0].hull, *b = body[1].hull;
    for (uint32_t i = 0; i < a->edge_count; i++) {
        const uint16_t *of = a->edge[i].vertex;
        const Vec3 u = mat3_mul_vec(axes[0], vec3_sub(a->point[of[1]], a->point[of[0]]));
        for (uint32_t k = 0; k < b->edge_count; k++) {
            const uint16_t *at = b->edge[k].vertex;
            const Vec3 v = mat3_mul_vec(axes[1], vec3_sub(b->point[at[1]], b->point[at[0]]));
            const Vec3 n = vec3_cross(u, v);
            const double length = vec3_norm(n);
            if (length > 1e-9 * vec3_norm(u) * vec3_norm(v)) {
                best = fmax(best, separation(body, vec3_scale(1.0 / length, n)));
                best = fmax(best, separation(body, vec3_scale(-1.0 / length, n)));
            }
        }
    }
    return best;
}

START_TEST(no_face_and_no_two_edges_know_a_smaller_depth) {
    make_hulls();
    Dice dice = {2912};
    for (int i = 0, campaign = campaign_count(1500); i < campaign; i++) {
        Body body[2];
        do {
            body[0] = dice_body(&dice, 0, 0.3);
            body[1] = dice_body(&dice, 0, 0.3);
        } while (body[0].hull->edge_count > 60 || body[1].hull->edge_count > 60);
        const ConvexManifold manifold = meet(body, 10.0);
        const double sizes = size_of(&body[0]) + size_of(&body[1]);
        // but where faces lie on each other, see prove
        const double lower = lowest(&manifold) - separation(body, manifold.normal);
        if (lowest(&manifold) < 0.0 && lower < 1e-9 * sizes) {
            ck_assert_double_ge(lowest(&manifold), least_depth(body) - 1e-9 * sizes);
        }
    }
    free_hulls();
}
END_TEST

START_TEST(swapped_they_are_the_same_to_the_bit) {
    make_hulls();
    Dice dice = {2913};
    for (int i = 0, campaign = campaign_count(8000); i < campaign; i++) {
        Body body[2] = {dice_body(&dice, 0, 0.7), dice_body(&dice, i % KINDS, 0.7)};
        if (i % 7 == 0) {
            body[1].hull = body[0].hull;
        }
        const Body swapped[2] = {body[1], body[0]};
        const ConvexManifold here = meet(body, 0.5), there = meet(swapped, 0.5);
        ck_assert_uint_eq(here.count, there.count);
        for (uint32_t k = 0; k < here.count; k++) {
            const ConvexPoint *p = &here.point[k], *q = &there.point[k];
            ck_assert(here.normal.x == -there.normal.x && here.normal.y == -there.normal.y &&
                      here.normal.z == -there.normal.z);
            ck_assert(p->gap == q->gap && vec3_norm(vec3_sub(p->position, q->position)) == 0.0);
            ck_assert(p->feature[0] == q->feature[1] && p->feature[1] == q->feature[0]);
        }
    }
    free_hulls();
}
END_TEST

START_TEST(a_pose_moved_by_a_nanometre_moves_no_point_by_a_micrometre) {
    make_hulls();
    Dice dice = {2914};
    int compared = 0;
    for (int i = 0, campaign = campaign_count(20000); i < campaign; i++) {
        const Body body[2] = {dice_body(&dice, 0, 0.7), dice_body(&dice, i % KINDS, 0.7)};
        Body moved[2] = {body[0], body[1]};
        const Vec3 turn = dice_vec(&dice, -1e-9, 1e-9);
        moved[1].pose.position = vec3_add(moved[1].pose.position, dice_vec(&dice, -1e-9, 1e-9));
        moved[1].pose.orientation = quat_normalize(
            quat_mul((Quat){1.0, turn.x, turn.y, turn.z}, moved[1].pose.orientation));
        const ConvexManifold here = meet(body, 10.0), there = meet(moved, 10.0);
        const double sizes = size_of(&body[0]) + size_of(&body[1]);
        bool is_same = here.count == there.count && lowest(&here) > -0.01 * sizes;
        for (uint32_t k = 0; is_same && k < here.count; k++) {
            is_same = here.point[k].feature[0] == there.point[k].feature[0] &&
                      here.point[k].feature[1] == there.point[k].feature[1];
        }
        for (uint32_t k = 0; is_same && k < here.count; k++) {
            const Vec3 way = vec3_sub(here.point[k].position, there.point[k].position);
            ck_assert_double_le(vec3_norm(way), 1e-6);
        }
        compared += is_same;
    }
    ck_assert_int_gt(compared, campaign_count(20000) / 4);
    free_hulls();
}
END_TEST

// How far a point of the one is from the nearest of the other at most, in place and gap.
static double farthest_off(const ConvexManifold *hull, const Manifold *box) {
    ck_assert_uint_eq(hull->count, box->count);
    double farthest_point = 0.0;
    for (uint32_t i = 0; i < box->count; i++) {
        double nearest = HUGE_VAL;
        for (uint32_t k = 0; k < hull->count; k++) {
            const ConvexPoint *point = &hull->point[k];
            nearest = fmin(nearest, vec3_norm(vec3_sub(point->position, box->point[i].position)) +
                                        fabs(point->gap - box->point[i].gap));
        }
        farthest_point = fmax(farthest_point, nearest);
    }
    return farthest_point;
}

// But for a capsule's ends over a face, which a box takes for on it a hair outside; and for an edge
// that is along a face to 1.4e-3 and no better, which a hull takes as it is, and corners that are
// over a face's edge to 1e-4 of it, of whose thickness is not asked alike: of a thousand, one.
START_TEST(a_hull_that_is_a_box_answers_as_the_box) {
    Dice dice = {2915};
    int off = 0;
    for (int i = 0, campaign = campaign_count(3000); i < campaign; i++) {
        Body body[2] = {dice_body(&dice, 1, 0.9), dice_body(&dice, 1 + i % 4, 0.9)};
        if (i % 3 == 0 && i % 4 == 0) { // on top of the other
            body[1].pose.orientation =
                quat_mul(body[0].pose.orientation, (Quat){cos(0.1 * i), 0.0, 0.0, sin(0.1 * i)});
            const double height = body[0].primitive.size.z + body[1].primitive.size.z - 1e-3;
            body[1].pose.position = pose_apply(body[0].pose, vec3(0.1, -0.05, height));
        }
        Manifold of_box;
        narrow_collide(&body[0].primitive, body[0].pose, &body[1].primitive, body[1].pose, 0.1,
                       &of_box);
        body[0].hull = hull_of_box(body[0].primitive.size);
        if (body[1].primitive.kind == PRIMITIVE_BOX && i % 2 == 0) {
            body[1].hull = hull_of_box(body[1].primitive.size);
        }
        const ConvexManifold of_hull = meet(body, 0.1);
        if (body[1].primitive.kind != PRIMITIVE_CAPSULE) {
            const bool is_like = of_hull.count == of_box.count;
            const double farthest_point = is_like ? farthest_off(&of_hull, &of_box) : 0.0;
            ck_assert_double_le(farthest_point, 4e-3);
            off += !is_like || farthest_point > 1e-12;
            if (of_box.count > 0) {
                ck_assert_double_le(vec3_norm(vec3_sub(of_hull.normal, of_box.normal)), 1e-11);
            }
        }
        hull_free(body[0].hull);
        if (body[1].hull != NULL) {
            hull_free(body[1].hull);
        }
    }
    ck_assert_int_le(off, 1 + campaign_count(3000) / 1000);
}
END_TEST

// On a half-space: standing flat, tilted a little and much, all within reach of it.
START_TEST(a_hull_that_is_a_box_stands_as_the_box) {
    const Primitive plane = make_plane();
    Dice dice = {2919};
    for (int i = 0, campaign = campaign_count(2000); i < campaign; i++) {
        const Primitive box = dice_box(&dice);
        const Hull *hull = hull_of_box(box.size);
        const Pose base = dice_pose(&dice, 1.0);
        const double tilt = i % 4 == 0 ? 0.0 : pow(10.0, dice_between(&dice, -9.0, -2.0));
        const Vec3 w = vec3_scale(tilt, dice_direction(&dice));
        const Quat turn =
            i % 4 == 3 ? dice_quat(&dice) : quat_normalize((Quat){1.0, w.x, w.y, w.z});
        Pose pose = pose_compose(base, (Pose){vec3(0.1, 0.2, 0.0), turn});
        const Vec3 up = quat_to_mat3(base.orientation).c2;
        const Body body = {hull, box, pose};
        const double low = farthest(&body, vec3_neg(up), base.position);
        pose.position = vec3_add_scaled(pose.position, low - 1e-4, up);
        Manifold of_box;
        ConvexManifold of_hull;
        narrow_collide(&plane, base, &box, pose, 0.01, &of_box);
        const Convex convex = convex_of_hull(hull, &pose, pose.position);
        convex_rest(vec3_sub(base.position, pose.position), up, &convex, 0.01, &of_hull);
        for (uint32_t k = 0; k < of_hull.count; k++) {
            of_hull.point[k].position = vec3_add(of_hull.point[k].position, pose.position);
        }
        ck_assert_double_le(farthest_off(&of_hull, &of_box), 1e-14);
        ck_assert_double_le(vec3_norm(vec3_sub(of_hull.normal, of_box.normal)), 1e-15);
        hull_free(hull);
    }
}
END_TEST

// ---- what stands

// A prism on a half-space, a box and a prism as wide: all corners, where they are eight at most, or
// four that span its end.
START_TEST(a_prism_stands_on_corners_that_span_its_end) {
    const Primitive box = make_box(vec3(1.0, 1.0, 0.5));
    Dice dice = {2916};
    for (uint32_t sides = 3; sides <= 120; sides += sides < 20 ? 1 : 25) {
        const Hull *prism = hull_of_prism(sides, 0.3, 0.5);
        for (int i = 0; i < 30; i++) {
            const Pose base = dice_pose(&dice, 1.0);
            const double angle = dice_between(&dice, 0.0, 6.28);
            const Quat turn = {cos(0.5 * angle), 1e-9 * (i % 2), 0.0, sin(0.5 * angle)};
            const Pose pose =
                pose_compose(base, (Pose){vec3(0.02, 0.01, 1.0 - 1e-4), quat_normalize(turn)});
            const Body body[2] = {{i % 3 == 0 ? prism : NULL, box, base}, {prism, box, pose}};
            ConvexManifold manifold = meet(body, 0.01);
            if (i % 3 == 2) {
                const Vec3 up = quat_to_mat3(base.orientation).c2;
                const Convex convex = convex_of_hull(prism, &pose, vec3(0.0, 0.0, 0.0));
                convex_rest(pose_apply(base, vec3(0.0, 0.0, 0.5)), up, &convex, 0.01, &manifold);
            }
            ck_assert_uint_le(manifold.count, MANIFOLD_POINT_MAX);
            ck_assert_uint_ge(manifold.count, sides == 3 ? 3 : 4);
            ck_assert(i % 3 == 0 || sides > MANIFOLD_POINT_MAX || manifold.count == sides);
            double x[MANIFOLD_POINT_MAX], y[MANIFOLD_POINT_MAX];
            for (uint32_t k = 0; k < manifold.count; k++) {
                const Vec3 at = mat3_tmul_vec(quat_to_mat3(pose.orientation),
                                              vec3_sub(manifold.point[k].position, pose.position));
                x[k] = at.x;
                y[k] = at.y;
                ck_assert_double_eq_tol(manifold.point[k].gap, -1e-4, 2e-9);
                ck_assert_double_eq_tol(at.z, -0.5 + 5e-5, 2e-9);
            }
            double area = 0.0;
            for (uint32_t k = 0; k < manifold.count; k++) {
                const uint32_t next = (k + 1) % manifold.count;
                area += 0.5 * (x[k] * y[next] - x[next] * y[k]);
            }
            const double whole = 0.5 * sides * 0.09 * sin(6.283185307179586 / sides);
            ck_assert_double_ge(fabs(area), (i % 3 == 0 ? 0.35 : 0.6) * whole);
        }
        hull_free(prism);
    }
}
END_TEST

// On a plane tilted against it a hull stands on what is lowest.
START_TEST(over_a_half_space_the_lowest_vertex_is_a_point) {
    make_hulls();
    Dice dice = {2917};
    for (int i = 0, campaign = campaign_count(4000); i < campaign; i++) {
        const Body body = dice_body(&dice, 0, 1.0);
        const Vec3 up = dice_direction(&dice), at = dice_vec(&dice, -1.0, 1.0);
        const Convex convex = convex_of_hull(body.hull, &body.pose, vec3(0.0, 0.0, 0.0));
        ConvexManifold manifold;
        convex_rest(at, up, &convex, 10.0, &manifold);
        ck_assert_uint_ge(manifold.count, 3);
        ck_assert_double_eq_tol(lowest(&manifold), -farthest(&body, vec3_neg(up), at), 1e-14);
        for (uint32_t k = 0; k < manifold.count; k++) {
            const ConvexPoint *point = &manifold.point[k];
            ck_assert_double_eq_tol(vec3_dot(up, vec3_sub(point->position, at)), 0.5 * point->gap,
                                    1e-14);
            ck_assert_uint_eq(point->feature[1] & CONVEX_VERTEX, CONVEX_VERTEX);
            const Vec3 corner = body.hull->point[point->feature[1] & 0xffffu];
            const Vec3 way = vec3_sub(pose_apply(body.pose, corner), point->position);
            ck_assert_double_le(vec3_norm(vec3_add_scaled(way, -0.5 * point->gap, up)), 1e-14);
        }
    }
    free_hulls();
}
END_TEST

// ---- sizes

// One of them up to a million times the other, deep and grazing.
START_TEST(so_does_one_about_the_very_large_and_the_very_small) {
    make_hulls();
    Dice dice = {2918};
    for (int i = 0, campaign = campaign_count(4000); i < campaign; i++) {
        Body body[2] = {dice_body(&dice, 0, 1.0), dice_body(&dice, 0, 1.0)};
        const double scale = pow(10.0, dice_between(&dice, -5.9, 5.0));
        Vec3 point[HULL_VERTICES_MAX];
        const Hull *of = body[1].hull;
        for (uint32_t k = 0; k < of->vertex_count; k++) {
            point[k] = vec3_scale(scale, of->point[k]);
        }
        HullForm form = hull_form(of);
        form.point = point;
        body[1].hull = hull_open(&form, malloc(hull_bytes(&form)));
        const double sizes = size_of(&body[0]) + size_of(&body[1]);
        body[1].pose.position = vec3_add_scaled(
            body[0].pose.position, dice_between(&dice, 0.5, 1.0) * sizes, dice_direction(&dice));
        const ConvexManifold manifold = meet(body, 10.0 * sizes);
        prove(body, &manifold, 1e-9);
        hull_free(body[1].hull);
    }
    free_hulls();
}
END_TEST

// Plates and needles of a thousandth, through each other and through all else. `scale` as the
// other hull.
static const Hull *flattened(const Hull *hull, Vec3 scale) {
    Vec3 point[HULL_VERTICES_MAX];
    for (uint32_t k = 0; k < hull->vertex_count; k++) {
        const Vec3 p = hull->point[k];
        point[k] = vec3(scale.x * p.x, scale.y * p.y, scale.z * p.z);
    }
    HullForm form = hull_form(hull);
    form.point = point;
    return hull_open(&form, malloc(hull_bytes(&form)));
}

START_TEST(so_does_one_about_plates_and_needles) {
    make_hulls();
    Dice dice = {2920};
    for (int i = 0, campaign = campaign_count(20000); i < campaign; i++) {
        Body body[2] = {dice_body(&dice, 0, 0.5), dice_body(&dice, i % KINDS, 0.5)};
        for (int side = 0; side < 2; side++) {
            const Vec3 scale = vec3(pow(10.0, dice_between(&dice, -3.0, 0.0)),
                                    pow(10.0, dice_between(&dice, -3.0, 0.0)), 1.0);
            body[side].hull = body[side].hull == NULL ? NULL : flattened(body[side].hull, scale);
        }
        const ConvexManifold manifold = meet(body, 10.0);
        prove(body, &manifold, 1e-9);
        for (int side = 0; side < 2; side++) {
            if (body[side].hull != NULL) {
                hull_free(body[side].hull);
            }
        }
    }
    free_hulls();
}
END_TEST

static double dice_quarters(Dice *dice, int count) {
    return 0.25 * (1.0 + floor(dice_unit(dice) * count));
}

static Quat dice_cube_turn(Dice *dice) {
    const double h = sqrt(0.5);
    const Quat quarter[4] = {
        {1.0, 0.0, 0.0, 0.0}, {h, h, 0.0, 0.0}, {h, 0.0, h, 0.0}, {h, 0.0, 0.0, h}};
    Quat q = quat_identity();
    for (int i = 0; i < 3; i++) {
        q = quat_mul(q, quarter[(int)(4.0 * dice_unit(dice))]);
    }
    return quat_normalize(q);
}

// Boxes and wedges, sizes and places multiples of one length, all of it turned as anything, and off
// by a hair: faces, edges and corners lie along each other in many ways at once. Gaps are right;
// where that is deep, what is nearest is no place of its own (check_convex.c).
START_TEST(bodies_on_a_grid_have_their_gap) {
    make_hulls();
    const Hull *box = hull_of_box(vec3(1.0, 1.0, 1.0));
    const Vec3 corner[6] = {vec3(-1.0, -1.0, -1.0), vec3(1.0, -1.0, -1.0), vec3(-1.0, 1.0, -1.0),
                            vec3(-1.0, -1.0, 1.0),  vec3(1.0, -1.0, 1.0),  vec3(-1.0, 1.0, 1.0)};
    const Hull *wedge = hull_of_points(corner, 6);
    Dice dice = {2921};
    int off = 0;
    const int campaign = campaign_count(20000);
    for (int i = 0; i < campaign; i++) {
        Body body[2] = {dice_body(&dice, 0, 1.0), dice_body(&dice, i % KINDS, 1.0)};
        const Pose base = dice_pose(&dice, 1.0);
        for (int side = 0; side < 2; side++) {
            const Vec3 size =
                vec3(dice_quarters(&dice, 4), dice_quarters(&dice, 4), dice_quarters(&dice, 4));
            const Vec3 at =
                vec3(dice_quarters(&dice, 7), dice_quarters(&dice, 7), dice_quarters(&dice, 7));
            const double noise = i % 3 == 0 ? 1e-9 : 0.0;
            const Vec3 w = dice_vec(&dice, -noise, noise);
            Pose pose = pose_compose(base, (Pose){at, dice_cube_turn(&dice)});
            pose.position = vec3_add(pose.position, dice_vec(&dice, -noise, noise));
            pose.orientation =
                quat_normalize(quat_mul((Quat){1.0, w.x, w.y, w.z}, pose.orientation));
            body[side].pose = pose;
            body[side].primitive.size = size;
            primitive_forget_sizes(&body[side].primitive);
            body[side].hull =
                body[side].hull == NULL ? NULL : flattened(i % 2 == 0 ? box : wedge, size);
        }
        const ConvexManifold manifold = meet(body, 10.0);
        const double sizes = size_of(&body[0]) + size_of(&body[1]);
        ck_assert_double_eq_tol(lowest(&manifold), separation(body, manifold.normal), 1e-8 * sizes);
        double out = 0.0;
        for (uint32_t k = 0; k < manifold.count; k++) {
            const ConvexPoint *point = &manifold.point[k];
            const Vec3 half = vec3_scale(0.5 * point->gap, manifold.normal);
            out = fmax(out, outside(&body[0], vec3_sub(point->position, half)));
            out = fmax(out, outside(&body[1], vec3_add(point->position, half)));
        }
        const bool is_round = body[1].hull == NULL && body[1].primitive.kind == PRIMITIVE_CYLINDER;
        const double out_max = is_round || lowest(&manifold) < -0.1 ? 1e-2 : 1e-4;
        ck_assert_double_le(out, out_max * sizes);
        off += out > 1e-7 * sizes;
        for (int side = 0; side < 2; side++) {
            if (body[side].hull != NULL) {
                hull_free(body[side].hull);
            }
        }
    }
    ck_assert_int_le(off, 2 + campaign / 200);
    hull_free(box);
    hull_free(wedge);
    free_hulls();
}
END_TEST

static TCase *case_pairs(void) {
    TCase *tcase = tcase_create("pairs");
    tcase_add_test(tcase, an_answer_proves_itself);
    tcase_add_test(tcase, no_face_and_no_two_edges_know_a_smaller_depth);
    tcase_add_test(tcase, swapped_they_are_the_same_to_the_bit);
    tcase_add_test(tcase, a_pose_moved_by_a_nanometre_moves_no_point_by_a_micrometre);
    tcase_add_test(tcase, a_hull_that_is_a_box_answers_as_the_box);
    tcase_add_test(tcase, a_hull_that_is_a_box_stands_as_the_box);
    tcase_add_test(tcase, a_prism_stands_on_corners_that_span_its_end);
    tcase_add_test(tcase, over_a_half_space_the_lowest_vertex_is_a_point);
    tcase_add_test(tcase, so_does_one_about_the_very_large_and_the_very_small);
    tcase_add_test(tcase, so_does_one_about_plates_and_needles);
    tcase_add_test(tcase, bodies_on_a_grid_have_their_gap);
    return tcase;
}

SUITE_MAIN("collide/hull_pairs", case_pairs)
