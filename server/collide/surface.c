// SPDX-License-Identifier: MIT
#include "collide/surface.h"

#include "base/assert.h"
#include "collide/facet_meet.h"
#include "collide/polygon_meet.h"

// of the sizes: how far outside a triangle something may be and count as over it; and how much
// higher than the lowest is as low
static const double slop_part = 1e-9;
static const double tie_part = 1e-6;

static const Hull *hull_of(const Primitive *primitive) {
    return primitive->geometry == NULL ? NULL : primitive->geometry->hull;
}

// Whether a point, in the mesh's frame, is in the box of what is solid: whoever is there is seen by
// the broad phase, too, whatever is near.
static bool may_be_solid(const Mesh *mesh, Vec3 at) {
    return mesh->is_solid_below && at.x >= mesh->low.x && at.x <= mesh->high.x &&
           at.y >= mesh->low.y && at.y <= mesh->high.y && at.z >= mesh->floor &&
           at.z <= mesh->high.z;
}

int surface_side(const Surface *surface, const SurfacePose *pose, uint32_t face, bool *is_below) {
    ASSERT(face < surface->mesh->triangle_count);
    const Vec3 middle = primitive_center(surface->other, pose->other);
    const Vec3 local =
        mat3_tmul_vec(quat_to_mat3(pose->mesh.orientation), vec3_sub(middle, pose->mesh.position));
    const double above = vec3_dot(mesh_normal(surface->mesh, face),
                                  vec3_sub(local, mesh_corner(surface->mesh, face, 0)));
    *is_below = above < 0.0 && may_be_solid(surface->mesh, local);
    if (above >= 0.0 || *is_below) {
        return 1;
    }
    return surface->mesh->is_two_sided ? -1 : 0;
}

static void read_bodies(const Surface *surface, const SurfacePose *pose, const MeshTriangle *read,
                        ConvexBody body[2]) {
    body[0] = (ConvexBody){NULL, &read->hull, &pose->mesh};
    body[1] = (ConvexBody){surface->other, hull_of(surface->other), &pose->other};
}

void surface_meet(const Surface *surface, const SurfacePose *pose, const MeshTriangle *read,
                  double reach, ConvexManifold *manifold) {
    ConvexBody body[2];
    read_bodies(surface, pose, read, body);
    convex_meet(body, reach, manifold);
}

void surface_meet_nearest(const Surface *surface, const SurfacePose *pose, const MeshTriangle *read,
                          ConvexManifold *manifold) {
    ConvexBody body[2];
    read_bodies(surface, pose, read, body);
    convex_meet_nearest(body, manifold);
    ASSERT(manifold->count == 1);
}

Vec3 surface_normal(const Surface *surface, const SurfacePose *pose, uint32_t face, int side) {
    ASSERT(side == 1 || side == -1);
    const Vec3 n =
        mat3_mul_vec(quat_to_mat3(pose->mesh.orientation), mesh_normal(surface->mesh, face));
    return vec3_scale(side / vec3_norm(n), n);
}

// ---- faces

static void add_point(SurfacePoints *points, const ConvexPoint *point, uint8_t patch) {
    for (uint32_t i = 0; i < points->count; i++) {
        ConvexPoint *there = &points->point[i];
        if (there->feature[0] == point->feature[0] && there->feature[1] == point->feature[1]) {
            *there = point->gap < there->gap ? *point : *there;
            points->patch[i] = patch < points->patch[i] ? patch : points->patch[i];
            return;
        }
    }
    if (points->count == SURFACE_POINT_MAX) {
        surface_reduce(points);
    }
    points->patch[points->count] = patch;
    points->point[points->count++] = *point;
}

// What an edge of a triangle is to what lies on its face.
typedef enum EdgeKind {
    EDGE_FALL, // the surface falls away beyond it, or ends
    EDGE_FLAT, // it goes on in one plane
    EDGE_RISE, // it rises: a hollow. The plane goes on below what rises, and holds there too
} EdgeKind;

// A triangle as it bears, and what lies on it.
typedef struct Bearing {
    const Mesh *mesh;
    uint32_t triangle;
    int side;
    Facet facet;    // goes on behind edges that rise, by as much as may come over them in the step
    Vec3 corner[3]; // where the triangle's own are
    EdgeKind edge[3]; // of the facet, from each corner to its next
    SurfaceTaken taken;
    double reach, slop;
    Vec3 origin;
} Bearing;

// Corners and edges of the triangle, as the facet goes around it on that side.
static uint32_t corner_at(int side, uint32_t i) {
    return side > 0 || i == 0 ? i : 3 - i;
}

static uint32_t edge_at(int side, uint32_t i) {
    return side > 0 ? i : 2 - i;
}

static EdgeKind kind_of_edge(const Mesh *mesh, uint32_t triangle, uint32_t i, int side) {
    return surface_falls(mesh, triangle, i, side) ? EDGE_FALL
           : mesh_is_inner(mesh, triangle, i)     ? EDGE_FLAT
                                                  : EDGE_RISE;
}

// Where an edge's line is moved outwards, its corner is where it meets the next one's.
static Vec3 move_corner(Vec3 corner, const Vec3 out[2], const double by[2]) {
    const double turn = vec3_dot(out[0], out[1]), across = 1.0 - turn * turn;
    if (!(across > 0.0)) {
        return corner;
    }
    const double first = (by[0] - turn * by[1]) / across, second = (by[1] - turn * by[0]) / across;
    return vec3_add_scaled(vec3_add_scaled(corner, first, out[0]), second, out[1]);
}

// Sets the facet's corners. `far`: how far it goes on where it does.
static void place_corners(Bearing *on, const Convex *seen, double far) {
    ASSERT(far >= 0.0);
    Vec3 *corner = on->corner, out[3];
    double by[3];
    for (uint32_t i = 0; i < 3; i++) {
        corner[i] = convex_corner(seen, corner_at(on->side, i));
        on->edge[i] = kind_of_edge(on->mesh, on->triangle, edge_at(on->side, i), on->side);
        by[i] = on->edge[i] == EDGE_RISE ? far : 0.0;
    }
    for (uint32_t i = 0; i < 3; i++) {
        const Vec3 away =
            vec3_cross(vec3_sub(corner[i == 2 ? 0 : i + 1], corner[i]), on->facet.normal);
        out[i] = vec3_scale(1.0 / vec3_norm(away), away);
    }
    for (uint32_t i = 0; i < 3; i++) {
        const uint32_t before = i == 0 ? 2 : i - 1;
        const Vec3 outs[2] = {out[before], out[i]};
        const double moved[2] = {by[before], by[i]};
        on->facet.point[i] =
            moved[0] > 0.0 || moved[1] > 0.0 ? move_corner(corner[i], outs, moved) : corner[i];
    }
}

// Whether an edge of the face rises at that corner, be it of this triangle or of another: the face
// goes on there, and the corner is none of its.
static bool rises_at(const Bearing *on, uint32_t corner) {
    const Mesh *mesh = on->mesh;
    const uint32_t point = mesh_corner_number(mesh, on->triangle, corner),
                   face = mesh_face(mesh, on->triangle);
    uint32_t own[GRID_RING_MAX];
    const uint32_t *ring;
    const uint32_t count = mesh_ring(mesh, point, own, &ring);
    for (uint32_t k = 0; k < count; k++) {
        for (uint32_t i = 0; i < 3; i++) {
            const bool is_at = mesh_corner_number(mesh, ring[k], i) == point ||
                               mesh_corner_number(mesh, ring[k], i == 2 ? 0 : i + 1) == point;
            if (is_at && mesh_face(mesh, ring[k]) == face &&
                kind_of_edge(mesh, ring[k], i, on->side) == EDGE_RISE) {
                return true;
            }
        }
    }
    return false;
}

// As the mesh has it; `edge` is of the facet, and a corner is where it begins. 0: nobody's. Where
// nothing falls away nothing is lowest: what is straight is as low at one of its ends. Which of a
// corner's edges falls away is the same: its other triangles may be out of the other part's reach.
static uint32_t feature_at_edge(const Bearing *on, uint32_t edge, bool is_corner) {
    ASSERT(edge < 3);
    const uint32_t begin = corner_at(on->side, edge),
                   end = corner_at(on->side, edge == 2 ? 0 : edge + 1);
    const uint32_t own = 1u << begin | (is_corner ? 0u : 1u << end);
    const uint32_t taken = is_corner ? on->taken.corner : on->taken.edge;
    const bool falls = on->edge[edge] == EDGE_FALL ||
                       (is_corner && on->edge[edge == 0 ? 2 : edge - 1] == EDGE_FALL);
    if ((own & ~taken) == 0 || !falls || (is_corner && rises_at(on, begin))) {
        return 0;
    }
    return is_corner ? CONVEX_VERTEX | mesh_corner_number(on->mesh, on->triangle, begin)
                     : CONVEX_EDGE | mesh_edge(on->mesh, on->triangle, edge_at(on->side, edge));
}

static uint32_t face_feature(const Bearing *on) {
    return CONVEX_FACE | mesh_face(on->mesh, on->triangle);
}

// Whether a point is over the triangle, or beyond an edge that rises, between its ends: what is
// beyond a corner is over something else.
static bool is_over(const Bearing *on, Vec3 position) {
    for (uint32_t i = 0; i < 3; i++) {
        const Vec3 along = vec3_sub(on->corner[i == 2 ? 0 : i + 1], on->corner[i]);
        const Vec3 from = vec3_sub(position, on->corner[i]);
        const double length = vec3_norm(along), at = vec3_dot(from, along) / length;
        const bool is_beyond =
            vec3_dot(from, vec3_cross(along, on->facet.normal)) > on->slop * length;
        if (is_beyond && (at < -on->slop || at > length + on->slop)) {
            return false;
        }
    }
    return true;
}

// A point of what lies on it.
static void add_at(const Bearing *on, Vec3 position, double gap, uint32_t of_mesh,
                   uint32_t of_other, SurfacePoints *points) {
    if (of_mesh == 0 || !(gap <= on->reach) || !is_over(on, position)) {
        return;
    }
    const Vec3 middle = vec3_add_scaled(position, -0.5 * gap, points->normal);
    const ConvexPoint point = {vec3_add(middle, on->origin), gap, {of_mesh, of_other}};
    // a corner is found by those triangles alone that have an edge there which falls away
    const bool is_corner = (of_mesh & CONVEX_KINDS) == CONVEX_VERTEX && on->mesh->patch != NULL;
    add_point(points, &point,
              (uint8_t)(is_corner
                            ? surface_patch_around(on->mesh, of_mesh & ~(uint32_t)CONVEX_KINDS)
                            : mesh_patch(on->mesh, on->triangle)));
}

static void add_polygon(const Bearing *on, const Facet *lying, double tie, SurfacePoints *points) {
    const PolygonLimits limits = {.slop = on->slop, .reach = on->reach, .tie = tie};
    PolygonPoints met;
    polygon_meet(&on->facet, lying, points->normal, &limits, &met);
    for (uint32_t i = 0; i < met.count; i++) {
        const PolygonPoint *point = &met.point[i];
        const uint32_t part = point->part[0], number = point->part[0] & 0xffffu;
        const uint32_t of_mesh = (part & (POLYGON_EDGE | POLYGON_CORNER)) == 0
                                     ? face_feature(on)
                                     : feature_at_edge(on, number, (part & POLYGON_CORNER) != 0);
        add_at(on, point->position, point->gap, of_mesh, polygon_feature(lying, point->part[1]),
               points);
    }
}

static void add_disc(const Bearing *on, const Facet *lying, SurfacePoints *points) {
    ASSERT(lying->kind == FACET_DISC);
    MeetPoints met;
    facet_meet(&on->facet, lying, points->normal, on->slop, &met);
    for (uint32_t i = 0; i < met.count; i++) {
        const uint32_t label = met.point[i].label;
        const uint32_t of_mesh = label < MEET_EDGE ? face_feature(on)
                                                   : feature_at_edge(on, (label - MEET_EDGE) / 2,
                                                                     met.point[i].is_corner);
        const uint32_t of_other =
            CONVEX_ROUND | lying->number << 8 | (label < MEET_EDGE ? label : MEET_EDGE + label % 2);
        add_at(on, met.point[i].position, met.point[i].gap, of_mesh, of_other, points);
    }
}

// An end of a line, or where it leaves the triangle by an edge, which is called as a ridge there
// is, whichever end is beyond; `edge` 3: the end itself.
static void add_end(const Bearing *on, const Facet *line, double share, uint32_t end, uint32_t edge,
                    SurfacePoints *points) {
    const Vec3 position =
        vec3_add_scaled(line->point[0], share, vec3_sub(line->point[1], line->point[0]));
    const double gap = vec3_dot(points->normal, vec3_sub(position, on->facet.center));
    const uint32_t of_mesh = edge == 3 ? face_feature(on) : feature_at_edge(on, edge, false);
    add_at(on, position, gap, of_mesh, (uint32_t)CONVEX_ROUND | (edge == 3 ? end : 0), points);
}

static void add_line(const Bearing *on, const Facet *line, SurfacePoints *points) {
    ASSERT(line->kind == FACET_LINE);
    const Vec3 p = line->point[0], d = vec3_sub(line->point[1], p);
    double low = 0.0, high = 1.0;
    uint32_t in = 3, out = 3;
    for (uint32_t i = 0; i < 3; i++) {
        const Vec3 from = facet_point(&on->facet, i),
                   to = facet_point(&on->facet, i == 2 ? 0 : i + 1);
        const Vec3 away = vec3_cross(vec3_sub(to, from), points->normal);
        const double length = vec3_norm(away);
        const double begin = vec3_dot(away, vec3_sub(p, from)) / length - on->slop;
        const double end = begin + vec3_dot(away, d) / length;
        if (begin > 0.0 && end > 0.0) {
            return;
        }
        if (end > 0.0 && -begin / (end - begin) < high) {
            high = -begin / (end - begin);
            out = i;
        } else if (begin > 0.0 && -begin / (end - begin) > low) {
            low = -begin / (end - begin);
            in = i;
        }
    }
    if (low > high) {
        return;
    }
    add_end(on, line, low, 0, in, points);
    if (vec3_dot(d, d) > 0.0) { // no ball
        add_end(on, line, high, 1, out, points);
    }
}

void surface_add_face(const Surface *surface, const SurfacePose *pose, uint32_t triangle,
                      const MeshTriangle *read, int side, SurfaceTaken taken, double reach,
                      SurfacePoints *points) {
    ASSERT(side == 1 || side == -1);
    Bearing on = {.taken = taken,
                  .mesh = surface->mesh,
                  .triangle = triangle,
                  .side = side,
                  .reach = reach,
                  .origin = pose->other.position};
    const Convex lower = convex_of_hull(&read->hull, &pose->mesh, on.origin);
    const Convex other = convex_read(surface->other, &pose->other, on.origin);
    on.slop = slop_part * (lower.size + other.size);
    on.facet = (Facet){.kind = FACET_POLYGON,
                       .normal = points->normal,
                       .center = convex_corner(&lower, 0),
                       .count = 3};
    place_corners(&on, &lower, fmin(reach, read->hull.inner_radius));
    const Facet lying = convex_facet(&other, vec3_neg(points->normal));
    switch (lying.kind) {
    case FACET_POLYGON:
        add_polygon(&on, &lying, tie_part * other.size, points);
        break;
    case FACET_DISC:
        add_disc(&on, &lying, points);
        break;
    case FACET_LINE:
        add_line(&on, &lying, points);
        break;
    }
}

// Of those that are as low as the lowest the one farthest from the middle of all: where all are as
// low, as of what lies flat, roundings do not choose.
static uint32_t first_of(const SurfacePoints *points) {
    ASSERT(points->count > 0);
    Vec3 sum = vec3(0.0, 0.0, 0.0);
    double lowest = HUGE_VAL, away[SURFACE_POINT_MAX], farthest = 0.0;
    for (uint32_t i = 0; i < points->count; i++) {
        sum = vec3_add(sum, points->point[i].position);
        lowest = fmin(lowest, points->point[i].gap);
    }
    const Vec3 middle = vec3_scale(1.0 / points->count, sum);
    for (uint32_t i = 0; i < points->count; i++) {
        away[i] = vec3_norm(vec3_sub(points->point[i].position, middle));
        farthest = fmax(farthest, away[i]);
    }
    uint32_t first = UINT32_MAX;
    for (uint32_t i = 0; i < points->count; i++) {
        const bool is_low = points->point[i].gap <= lowest + tie_part * farthest;
        first = is_low && (first == UINT32_MAX || away[i] > away[first]) ? i : first;
    }
    return first;
}

void surface_reduce(SurfacePoints *points) {
    ASSERT(points->count <= SURFACE_POINT_MAX);
    if (points->count <= MANIFOLD_POINT_MAX) {
        return;
    }
    double away[SURFACE_POINT_MAX]; // squared, from the nearest that is kept
    uint32_t next = first_of(points), kept = 0;
    for (uint32_t i = 0; i < points->count; i++) {
        away[i] = HUGE_VAL;
    }
    while (kept < MANIFOLD_POINT_MAX) {
        const ConvexPoint taken = points->point[next];
        const double nearest = away[next];
        const uint8_t patch = points->patch[next];
        points->point[next] = points->point[kept];
        points->patch[next] = points->patch[kept];
        points->patch[kept] = patch;
        away[next] = away[kept];
        points->point[kept] = taken;
        away[kept] = nearest;
        kept++;
        next = kept;
        for (uint32_t i = kept; i < points->count; i++) {
            const Vec3 way = vec3_sub(points->point[i].position, taken.position);
            away[i] = fmin(away[i], vec3_dot(way, way));
            next = away[i] > away[next] ? i : next;
        }
    }
    points->count = kept;
}
