// SPDX-License-Identifier: MIT
// Which contacts of a surface are a ridge's or a peak's, and where those have their points.
#include "collide/surface.h"

#include "base/assert.h"
#include "collide/facet_meet.h"

// of a triangle's farthest corner from where it touches: how far below that a corner is no part of
// it
static const double across_part = 1e-7;
// of an edge's length: how far the plane of a contact may run below the far end of a triangle
// beyond, and leave it behind
static const double behind_part = 1e-9;
// Below this sine a contact's normal is a face's: the one that is nearest says it itself
static const double face_sine = 1e-6;
// of the farthest corner of the triangle beyond an edge: how much lower it is where it falls away
static const double fall_part = 1e-8;
// cosine of the angle within which a ridge's contact is nearly a face's: steeper ones would be held
// by their far sides
static const double beside_cosine = 0.9;
// and of the angle by which a surface breaks off at an edge, as hills do not
static const double steep_cosine = 0.5;
// 1 - cosine of the angle below which a side lies flat on a ridge: as bodies do (convex_pair.c)
static const double flat_part = 1e-6;

// What of a triangle lies farthest along a direction in the mesh's frame: its corners, as bits.
static uint32_t corners_along(const Mesh *mesh, uint32_t triangle, Vec3 n) {
    double along[3], most = -HUGE_VAL;
    uint32_t farthest = 0, bits = 0;
    for (uint32_t i = 0; i < 3; i++) {
        along[i] = vec3_dot(n, mesh_corner(mesh, triangle, i));
        farthest = along[i] > most ? i : farthest;
        most = fmax(most, along[i]);
    }
    for (uint32_t i = 0; i < 3; i++) {
        const double length = vec3_norm(
            vec3_sub(mesh_corner(mesh, triangle, i), mesh_corner(mesh, triangle, farthest)));
        bits |= most - along[i] <= across_part * length ? 1u << i : 0u;
    }
    return bits;
}

// Whether a triangle stays behind the plane across n at one of its corners.
static bool is_behind(const Mesh *mesh, uint32_t triangle, Vec3 at, Vec3 n) {
    for (uint32_t i = 0; i < 3; i++) {
        const Vec3 way = vec3_sub(mesh_corner(mesh, triangle, i), at);
        if (vec3_dot(n, way) > behind_part * vec3_norm(way)) {
            return false;
        }
    }
    return true;
}

static bool is_of_face(const Mesh *mesh, uint32_t triangle, Vec3 n) {
    return vec3_norm(vec3_cross(n, mesh_normal(mesh, mesh_face(mesh, triangle)))) <= face_sine;
}

// An edge from a corner: of two faces, both behind, and the contact neither's.
static bool is_ridge(const Mesh *mesh, uint32_t triangle, uint32_t i, Vec3 n) {
    ASSERT(i < 3);
    const uint32_t other = mesh_beyond(mesh, triangle, i);
    return other == MESH_NONE ||
           (!mesh_is_inner(mesh, triangle, i) && !is_of_face(mesh, other, n) &&
            is_behind(mesh, other, mesh_corner(mesh, triangle, i), n));
}

static bool is_peak(const Mesh *mesh, uint32_t triangle, uint32_t i, Vec3 n) {
    ASSERT(i < 3);
    const uint32_t point = mesh_corner_number(mesh, triangle, i);
    const Vec3 at = mesh_corner(mesh, triangle, i);
    uint32_t own[GRID_RING_MAX];
    const uint32_t *ring;
    const uint32_t count = mesh_ring(mesh, point, own, &ring);
    for (uint32_t k = 0; k < count; k++) {
        if (is_of_face(mesh, ring[k], n) || !is_behind(mesh, ring[k], at, n)) {
            return false;
        }
    }
    return true;
}

bool surface_falls(const Mesh *mesh, uint32_t triangle, uint32_t i, int side) {
    ASSERT(i < 3);
    const uint32_t other = mesh_beyond(mesh, triangle, i);
    if (other == MESH_NONE || mesh_is_inner(mesh, triangle, i)) {
        return other == MESH_NONE;
    }
    const Vec3 at = mesh_corner(mesh, triangle, i), n = mesh_normal(mesh, triangle);
    double lowest = 0.0, longest = 0.0;
    for (uint32_t k = 0; k < 3; k++) {
        const Vec3 way = vec3_sub(mesh_corner(mesh, other, k), at);
        lowest = fmin(lowest, side * vec3_dot(n, way));
        longest = fmax(longest, vec3_norm(way));
    }
    return lowest < -fall_part * longest;
}

// What of the mesh is there, of a feature of the piece as a hull; 0: it is not of these corners.
static uint32_t mesh_feature(const Mesh *mesh, SurfacePiece piece, uint32_t feature,
                             uint32_t bits) {
    const uint32_t kind = feature & CONVEX_KINDS, number = feature & 0xfu;
    const bool is_whole = piece.edge == SURFACE_WHOLE;
    const uint32_t first = is_whole ? number : (piece.edge + number) % 3;
    const uint32_t next = first == 2 ? 0 : first + 1;
    if (kind == CONVEX_VERTEX && (is_whole || number < 2) && (bits & 1u << first) != 0) {
        return CONVEX_VERTEX | mesh_corner_number(mesh, piece.triangle, first);
    }
    if (kind == CONVEX_EDGE && (is_whole || number == 0) && (bits & 1u << first) != 0 &&
        (bits & 1u << next) != 0) {
        return CONVEX_EDGE | mesh_edge(mesh, piece.triangle, first);
    }
    return 0;
}

// The edge between two corners, given as bits.
static uint32_t edge_of(uint32_t bits) {
    ASSERT(bits == 3u || bits == 6u || bits == 5u);
    return bits == 3u ? 0 : bits == 6u ? 1 : 2;
}

// Where all the points are, whatever the hulls' features say of them.
static uint32_t own_feature(const Mesh *mesh, uint32_t triangle, uint32_t bits) {
    ASSERT(bits > 0 && bits < 7);
    for (uint32_t i = 0; i < 3; i++) {
        if (bits == (1u << i)) {
            return CONVEX_VERTEX | mesh_corner_number(mesh, triangle, i);
        }
    }
    return CONVEX_EDGE | mesh_edge(mesh, triangle, edge_of(bits));
}

// Its ends, by number, so that the triangles on both sides of it have the same points.
static uint32_t ridge_ends(const Mesh *mesh, uint32_t triangle, uint32_t bits, uint32_t end[2]) {
    const uint32_t edge = edge_of(bits), next = edge == 2 ? 0 : edge + 1;
    const bool is_turned =
        mesh_corner_number(mesh, triangle, edge) > mesh_corner_number(mesh, triangle, next);
    end[0] = is_turned ? next : edge;
    end[1] = is_turned ? edge : next;
    return edge;
}

// The points of a ridge under a flat side of the other one: of its line, whatever else of the
// triangle the side is sunk in. false: no flat side lies there, or not over the ridge.
static bool lay_ridge(const Surface *surface, const SurfacePose *pose, SurfacePiece piece,
                      uint32_t bits, ConvexManifold *manifold) {
    uint32_t end[2];
    const uint32_t edge = ridge_ends(surface->mesh, piece.triangle, bits, end);
    const Vec3 origin = pose->other.position, down = vec3_neg(manifold->normal);
    const Convex other = convex_read(surface->other, &pose->other, origin);
    const Facet flat = convex_facet(&other, down);
    if (flat.kind == FACET_LINE || vec3_dot(flat.normal, down) < 1.0 - flat_part) {
        return false;
    }
    Facet line = {.kind = FACET_LINE};
    for (uint32_t k = 0; k < 2; k++) {
        const Vec3 corner = mesh_corner(surface->mesh, piece.triangle, end[k]);
        line.point[k] = vec3_sub(pose_apply(pose->mesh, corner), origin);
    }
    MeetPoints met;
    facet_meet(&flat, &line, down, 0.0, &met);
    manifold->count = met.count > 0 ? 0 : manifold->count;
    for (uint32_t k = 0; k < met.count; k++) {
        const MeetPoint *point = &met.point[k];
        const Vec3 middle = vec3_add_scaled(point->position, -0.5 * point->gap, down);
        const uint32_t corner = end[point->label == MEET_END ? 0 : 1];
        ConvexPoint *laid = &manifold->point[manifold->count++];
        *laid = (ConvexPoint){.position = vec3_add(middle, origin), .gap = point->gap};
        if (point->is_corner) { // of other ridges, too, and of a peak
            laid->feature[0] =
                CONVEX_VERTEX | mesh_corner_number(surface->mesh, piece.triangle, corner);
            laid->feature[1] =
                flat.kind == FACET_DISC ? (uint32_t)CONVEX_ROUND : CONVEX_FACE | flat.number;
        } else {
            laid->feature[0] = CONVEX_EDGE | mesh_edge(surface->mesh, piece.triangle, edge);
            laid->feature[1] = (uint32_t)CONVEX_ROUND | flat.number << 8 | point->label;
        }
    }
    return met.count > 0;
}

// Keeps the points at those corners, or the lowest, which is there.
static void keep_points(const Mesh *mesh, SurfacePiece piece, uint32_t bits,
                        ConvexManifold *manifold) {
    ASSERT(manifold->count > 0 && bits != 0);
    uint32_t count = 0, lowest = 0;
    for (uint32_t i = 1; i < manifold->count; i++) {
        lowest = manifold->point[i].gap < manifold->point[lowest].gap ? i : lowest;
    }
    ConvexPoint nearest = manifold->point[lowest];
    for (uint32_t i = 0; i < manifold->count; i++) {
        ConvexPoint point = manifold->point[i];
        point.feature[0] = mesh_feature(mesh, piece, point.feature[0], bits);
        if (point.feature[0] != 0) {
            manifold->point[count++] = point;
        }
    }
    if (count == 0) {
        nearest.feature[0] = own_feature(mesh, piece.triangle, bits);
        manifold->point[count++] = nearest;
    }
    manifold->count = count;
}

// Whether the surface ends at an edge, or breaks off there: over it is nothing like a hill.
static bool breaks_off(const Mesh *mesh, uint32_t triangle, uint32_t i) {
    ASSERT(i < 3);
    const uint32_t other = mesh_beyond(mesh, triangle, i);
    return other == MESH_NONE ||
           vec3_dot(mesh_normal(mesh, triangle), mesh_normal(mesh, other)) < steep_cosine;
}

// A sliver at such an edge has an inner side, where nothing is the surface's: what leans on that,
// while another corner of the triangle lies farther along its normal, would be taken for a peak
// that is elsewhere. (On hills it stands for what rises behind the edge.)
static bool is_at_edge(const Mesh *mesh, SurfacePiece piece, uint32_t bits) {
    const uint32_t ends = 1u << piece.edge | 1u << (piece.edge == 2 ? 0 : piece.edge + 1);
    return piece.edge == SURFACE_WHOLE || !breaks_off(mesh, piece.triangle, piece.edge) ||
           (bits & ~ends) == 0;
}

bool surface_is_ridge(const Surface *surface, const SurfacePose *pose, SurfacePiece piece, int side,
                      ConvexManifold *manifold, uint32_t *taken) {
    ASSERT(side == 1 || side == -1);
    const Mesh *mesh = surface->mesh;
    const uint32_t triangle = piece.triangle;
    const Vec3 n = mat3_tmul_vec(quat_to_mat3(pose->mesh.orientation), manifold->normal);
    // what comes against an end of the surface in its own plane is not left to roundings
    if (!(side * vec3_dot(n, mesh_normal(mesh, triangle)) > -face_sine) ||
        is_of_face(mesh, triangle, n)) {
        return false;
    }
    const uint32_t bits = corners_along(mesh, triangle, n);
    bool is_one = bits != 7u && is_at_edge(mesh, piece, bits);
    for (uint32_t i = 0; i < 3; i++) {
        const uint32_t edge = 1u << i | 1u << (i == 2 ? 0 : i + 1);
        is_one = is_one && (bits != edge || is_ridge(mesh, triangle, i, n)) &&
                 (bits != 1u << i || is_peak(mesh, triangle, i, n));
    }
    if (is_one) {
        const bool is_peak_alone = (bits & (bits - 1)) == 0;
        if (is_peak_alone || !lay_ridge(surface, pose, piece, bits, manifold)) {
            if (manifold->is_of_face) { // the triangle's, which is not asked
                surface_meet_nearest(surface, pose, piece.read, manifold);
            }
            keep_points(mesh, piece, bits, manifold);
        }
        *taken = bits;
    }
    return is_one;
}

bool surface_is_beside(const Mesh *mesh, const SurfacePose *pose, uint32_t triangle, int side,
                       Vec3 normal) {
    ASSERT(side == 1 || side == -1);
    const Vec3 n = mat3_tmul_vec(quat_to_mat3(pose->mesh.orientation), normal);
    return side * vec3_dot(n, mesh_normal(mesh, triangle)) >= beside_cosine;
}

bool surface_is_turned_away(const Mesh *mesh, const SurfacePose *pose, uint32_t triangle, int side,
                            Vec3 normal) {
    ASSERT(side == 1 || side == -1);
    if (!mesh->is_two_sided) {
        return false;
    }
    const Vec3 n = mat3_tmul_vec(quat_to_mat3(pose->mesh.orientation), normal);
    return side * vec3_dot(n, mesh_normal(mesh, triangle)) < -face_sine &&
           corners_along(mesh, triangle, n) != 7u;
}

uint32_t surface_patch_around(const Mesh *mesh, uint32_t point) {
    uint32_t own[GRID_RING_MAX], patch = UINT32_MAX;
    const uint32_t *ring;
    const uint32_t count = mesh_ring(mesh, point, own, &ring);
    ASSERT(count > 0);
    for (uint32_t k = 0; k < count; k++) {
        const uint32_t around = mesh_patch(mesh, ring[k]);
        patch = around < patch ? around : patch;
    }
    return patch;
}

uint32_t surface_ridge_patch(const Mesh *mesh, uint32_t triangle, uint32_t taken) {
    uint32_t patch = mesh_patch(mesh, triangle);
    for (uint32_t i = 0; mesh->patch != NULL && i < 3; i++) {
        const uint32_t edge = 1u << i | 1u << (i == 2 ? 0 : i + 1);
        const uint32_t other = mesh_beyond(mesh, triangle, i);
        if (taken == edge && other != MESH_NONE) {
            const uint32_t beyond = mesh_patch(mesh, other);
            patch = beyond < patch ? beyond : patch;
        } else if (taken == 1u << i) {
            patch = surface_patch_around(mesh, mesh_corner_number(mesh, triangle, i));
        }
    }
    return patch;
}
