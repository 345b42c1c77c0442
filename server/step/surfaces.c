// SPDX-License-Identifier: MIT
// Contacts of surfaces: of every face that is near, and of the ridges and peaks between them
// (collide/surface.h), each with a plane and a time of its own. A triangle approaches as the hull
// that it is seen as; what it is to the other part is asked where the two have come to.
#include "step/stages.h"

#include "base/assert.h"
#include "collide/approach.h"
#include "collide/seam.h"
#include "collide/surface.h"

#include <math.h>

// Triangles that are looked at together, and between two looks at the tree, each of which goes over
// all that is within reach.
enum { NEAR_MAX = 256, NEAR_MANY = 8 * NEAR_MAX };

// of the other part's length: a gap that is none, as of what has come to a triangle
static const double touch_part = 2e-5;
// of the sizes: how much larger than the numbers say the box is in which triangles are looked for
static const double box_slack = 1e-9;

typedef struct SurfaceMeeting {
    const StepState *state;
    StepPair *pair;
    const StepPart *part; // both
    int s;                // which of them is the surface
    Surface surface;
    double reach;
    const PairPlace *place;
    bool has_path; // it moves far, and most of what is within reach it comes nowhere near
    SurfacePath path;
} SurfaceMeeting;

static SurfacePose pose_at(const SurfaceMeeting *meeting, double time) {
    const Mover *mesh = &meeting->part[meeting->s].mover;
    const Mover *other = &meeting->part[1 - meeting->s].mover;
    return time > 0.0 ? (SurfacePose){approach_pose(mesh, time), approach_pose(other, time)}
                      : (SurfacePose){*mesh->pose, *other->pose};
}

// From the first part to the second, as manifolds have it; features of the surface, whose kind is
// the larger one, are above.
static void take_manifold(const SurfaceMeeting *meeting, Vec3 normal, const ConvexPoint *point,
                          uint32_t count, Manifold *manifold) {
    ASSERT(count <= MANIFOLD_POINT_MAX);
    manifold->normal = meeting->s == 0 ? normal : vec3_neg(normal);
    manifold->count = 0;
    for (uint32_t i = 0; i < count; i++) {
        manifold->point[manifold->count++] =
            (ManifoldPoint){.position = point[i].position,
                            .gap = point[i].gap,
                            .feature = (uint64_t)point[i].feature[0] << 32 | point[i].feature[1]};
    }
}

// ---- a triangle

// The time at which it and the other part have come to where they meet, and how they then lie; 0:
// now. No points: farther apart than they may come.
static double meet(const SurfaceMeeting *meeting, const MeshTriangle *read, ConvexManifold *met) {
    ASSERT(meeting->reach >= 0.0);
    SurfacePose pose = pose_at(meeting, 0.0);
    surface_meet(&meeting->surface, &pose, read, meeting->reach, met);
    if (met->count == 0 ||
        meeting->state->world->settings.contact_plane != CONTACT_PLANE_APPROACH) {
        return 0.0;
    }
    Manifold manifold;
    take_manifold(meeting, met->normal, met->point, met->count, &manifold);
    const Geometry geometry = {.kind = GEOMETRY_HULL, .hull = &read->hull};
    const Primitive seen = {.kind = PRIMITIVE_HULL, .geometry = &geometry};
    Mover mover[2] = {meeting->part[0].mover, meeting->part[1].mover};
    mover[meeting->s].primitive = &seen;
    const Approach approach = {meeting->state->input->time_step, meeting->reach};
    const double time = approach_find(&mover[0], &mover[1], &approach, &manifold);
    if (time > 0.0) {
        pose = pose_at(meeting, time);
        surface_meet(&meeting->surface, &pose, read, 2.0 * meeting->reach, met);
    }
    return time;
}

// Where neighbours hide what the contact leans on, it is none.
static bool is_hidden(const SurfaceMeeting *meeting, const SeamContact *contact,
                      const Manifold *manifold) {
    const double step =
        seam_step(meeting->part[0].mover.primitive, meeting->part[1].mover.primitive);
    bool is_hidden = false;
    return !(contact->time == 0.0 && seam_is_none(manifold, step)) &&
           (!seams_find_surface(meeting->state, meeting->part, contact, manifold, &is_hidden,
                                meeting->place->asks_partners) ||
            is_hidden);
}

static uint32_t material_of(const SurfaceMeeting *meeting, uint32_t patch) {
    return primitive_material(meeting->part[meeting->s].mover.primitive, patch);
}

// A plane bears the ball inside a body, not a triangle's middle.
static void take(const SurfaceMeeting *meeting, double time, uint32_t feature, uint32_t material,
                 Manifold *manifold) {
    static const Primitive plane = {.kind = PRIMITIVE_PLANE};
    StepPart part[2] = {meeting->part[0], meeting->part[1]};
    Primitive base = plane;
    base.material = material;
    part[meeting->s].mover.primitive = &base;
    stage_load_pair(meeting->state, meeting->pair, meeting->pair->a, meeting->pair->b, time);
    contacts_take(meeting->state, meeting->pair, part, time, (uint64_t)feature << 32, manifold,
                  meeting->place);
}

// The points of a ridge, which the triangles on both sides of it find alike. false: neighbours hide
// it.
static bool take_ridge(const SurfaceMeeting *meeting, double time, uint32_t triangle, int side,
                       uint32_t taken, const ConvexManifold *met) {
    ASSERT(met->count > 0 && time >= 0.0);
    const uint32_t material =
        material_of(meeting, surface_ridge_patch(meeting->surface.mesh, triangle, taken));
    const SeamContact contact = {
        .side = meeting->s, .of = side, .time = time, .count = 1, .triangle = &triangle};
    Manifold manifold;
    take_manifold(meeting, met->normal, met->point, met->count, &manifold);
    if (is_hidden(meeting, &contact, &manifold)) {
        return false;
    }
    take(meeting, time, met->point[0].feature[0], material, &manifold);
    return true;
}

// ---- a face

// Triangles of one face, by number, and what was found of them.
typedef struct FaceNear {
    uint32_t face;
    int side;
    bool is_below;
    uint32_t count;
    const uint64_t *key;
    bool bears[NEAR_MAX];         // what lies over it is the face's
    SurfaceTaken taken[NEAR_MAX]; // but for what is a ridge's
} FaceNear;

// When the other part comes to a face: with the first of its triangles that it touches; where it
// touches none, with the one to which it comes nearest.
typedef struct FaceTime {
    double time; // HUGE_VAL: no triangle bears
    double gap;  // [m]; 0: it touches
} FaceTime;

static void note_time(const SurfaceMeeting *meeting, double time, const ConvexManifold *met,
                      FaceTime *first) {
    double gap = HUGE_VAL;
    for (uint32_t i = 0; i < met->count; i++) {
        gap = fmin(gap, met->point[i].gap);
    }
    gap = gap <= touch_part * primitive_length(meeting->surface.other) ? 0.0 : gap;
    if (first->time == HUGE_VAL || gap < first->gap || (gap == first->gap && time < first->time)) {
        *first = (FaceTime){time, gap};
    }
}

// Its edges that may be ridges, but for one that was taken: a triangle may be touched at several.
// Both triangles at an edge look at it: either may be out of the other part's reach.
static void meet_edges(const SurfaceMeeting *meeting, uint32_t triangle, int side, uint32_t taken) {
    const Mesh *mesh = meeting->surface.mesh;
    for (uint32_t i = 0; i < 3; i++) {
        const uint32_t ends = 1u << i | 1u << (i == 2 ? 0 : i + 1);
        if ((ends & ~taken) == 0 || !surface_falls(mesh, triangle, i, side)) {
            continue;
        }
        MeshTriangle read;
        ConvexManifold met;
        mesh_read_edge(mesh, triangle, i, &read);
        const double time = meet(meeting, &read, &met);
        if (met.count == 0) {
            continue;
        }
        const SurfacePose pose = pose_at(meeting, time);
        const SurfacePiece sliver = {triangle, i, &read};
        uint32_t of_ridge;
        if (surface_is_ridge(&meeting->surface, &pose, sliver, side, &met, &of_ridge)) {
            take_ridge(meeting, time, triangle, side, of_ridge, &met);
        }
    }
}

// A corner that a ridge has is of none of the triangles around it.
static void take_corners(const Mesh *mesh, FaceNear *near) {
    for (uint32_t i = 0; i < near->count; i++) {
        for (uint32_t c = 0; c < 3; c++) {
            if ((near->taken[i].edge >> c & 1u) == 0) {
                continue;
            }
            const uint32_t corner = mesh_corner_number(mesh, (uint32_t)near->key[i], c);
            for (uint32_t k = 0; k < near->count; k++) {
                for (uint32_t d = 0; d < 3; d++) {
                    const bool is_it =
                        mesh_corner_number(mesh, (uint32_t)near->key[k], d) == corner;
                    near->taken[k].corner |= is_it ? 1u << d : 0u;
                }
            }
        }
    }
}

static FaceTime meet_triangles(const SurfaceMeeting *meeting, FaceNear *near) {
    FaceTime first = {near->is_below ? 0.0 : HUGE_VAL, 0.0};
    for (uint32_t i = 0; i < near->count; i++) {
        near->bears[i] = near->is_below;
        near->taken[i] = (SurfaceTaken){0, 0};
        if (near->is_below) { // whatever is nearest, it goes up
            continue;
        }
        const uint32_t triangle = (uint32_t)near->key[i];
        MeshTriangle read;
        ConvexManifold met;
        mesh_read_triangle(meeting->surface.mesh, triangle, &read);
        const double time = meet(meeting, &read, &met);
        if (met.count == 0) {
            continue;
        }
        const SurfacePose pose = pose_at(meeting, time);
        if (surface_is_turned_away(meeting->surface.mesh, &pose, triangle, near->side,
                                   met.normal)) {
            continue;
        }
        const SurfacePiece whole = {triangle, SURFACE_WHOLE, &read};
        uint32_t taken = 0;
        near->bears[i] = true;
        if (surface_is_ridge(&meeting->surface, &pose, whole, near->side, &met, &taken) &&
            take_ridge(meeting, time, triangle, near->side, taken, &met)) {
            near->bears[i] =
                surface_is_beside(meeting->surface.mesh, &pose, triangle, near->side, met.normal);
            near->taken[i].edge = taken;
        }
        meet_edges(meeting, triangle, near->side, taken);
        if (near->bears[i]) {
            note_time(meeting, time, &met, &first);
        }
    }
    take_corners(meeting->surface.mesh, near);
    return first;
}

// The points of a face, those of each material as one manifold: where all are of one material it is
// as if there were no patches. From the lowest patch on, whatever their order.
static void take_points(const SurfaceMeeting *meeting, double time, uint32_t feature,
                        const SurfacePoints *points, const Manifold *manifold) {
    ASSERT(manifold->count == points->count);
    uint32_t left = (1u << manifold->count) - 1;
    for (uint32_t patch = 0; left != 0; patch++) {
        ASSERT(patch < MESH_PATCHES_MAX);
        const uint32_t material = material_of(meeting, patch);
        bool is_there = false;
        for (uint32_t i = 0; i < points->count; i++) {
            is_there = is_there || ((left >> i & 1) != 0 && points->patch[i] == patch);
        }
        Manifold own = {.normal = manifold->normal};
        for (uint32_t i = 0; is_there && i < points->count; i++) {
            if ((left >> i & 1) != 0 && material_of(meeting, points->patch[i]) == material) {
                own.point[own.count++] = manifold->point[i];
                left &= ~(1u << i);
            }
        }
        if (own.count > 0) {
            take(meeting, time, feature, material, &own);
        }
    }
}

// What lies on a face at its rim may lean on nothing but the rim's neighbours.
static void take_face(const SurfaceMeeting *meeting, double time, const FaceNear *near,
                      const SurfacePoints *points, Manifold *manifold) {
    ASSERT(manifold->count > 0 && near->count > 0);
    uint32_t bears[NEAR_MAX];
    SeamContact contact = {
        .side = meeting->s, .of = near->side, .time = time, .is_face = true, .triangle = bears};
    for (uint32_t i = 0; i < near->count; i++) {
        if (near->bears[i]) {
            bears[contact.count++] = (uint32_t)near->key[i];
        }
    }
    if (!is_hidden(meeting, &contact, manifold)) {
        take_points(meeting, time, CONVEX_FACE | near->face, points, manifold);
    }
}

// Whether the other part's way comes near any of its triangles. All of them are met, then: which of
// them is met first is the face's to ask.
static bool is_on_path(const SurfaceMeeting *meeting, const FaceNear *near) {
    bool is_near = !meeting->has_path;
    for (uint32_t i = 0; i < near->count && !is_near; i++) {
        is_near = surface_path_nears(meeting->surface.mesh, &meeting->path, (uint32_t)near->key[i],
                                     near->side);
    }
    return is_near;
}

static void collide_face(const SurfaceMeeting *meeting, FaceNear *near) {
    ASSERT(near->count > 0 && near->count <= NEAR_MAX);
    const SurfacePose now = pose_at(meeting, 0.0);
    near->side = surface_side(&meeting->surface, &now, near->face, &near->is_below);
    if (near->side == 0 || (!near->is_below && !is_on_path(meeting, near))) {
        return;
    }
    const double time = meet_triangles(meeting, near).time;
    if (time == HUGE_VAL) {
        return;
    }
    const SurfacePose pose = pose_at(meeting, time);
    SurfacePoints points = {.normal =
                                surface_normal(&meeting->surface, &pose, near->face, near->side)};
    for (uint32_t i = 0; i < near->count; i++) {
        if (near->bears[i]) {
            const uint32_t triangle = (uint32_t)near->key[i];
            MeshTriangle read;
            mesh_read_triangle(meeting->surface.mesh, triangle, &read);
            surface_add_face(&meeting->surface, &pose, triangle, &read, near->side, near->taken[i],
                             time > 0.0 ? 2.0 * meeting->reach : meeting->reach, &points);
        }
    }
    surface_reduce(&points);
    if (points.count > 0) {
        Manifold manifold;
        take_manifold(meeting, points.normal, points.point, points.count, &manifold);
        take_face(meeting, time, near, &points, &manifold);
    }
}

// ---- all that is near

// Where the other part may come, in the surface's frame. What is solid goes on below.
static void find_box(const SurfaceMeeting *meeting, Vec3 *low, Vec3 *high) {
    const SurfacePose pose = pose_at(meeting, 0.0);
    const Quat turn = pose.mesh.orientation, back = {turn.w, -turn.x, -turn.y, -turn.z};
    const Pose there = {
        mat3_tmul_vec(quat_to_mat3(turn), vec3_sub(pose.other.position, pose.mesh.position)),
        quat_mul(back, pose.other.orientation)};
    primitive_bounds(meeting->surface.other, there, low, high);
    const double size =
        meeting->surface.mesh->reach + vec3_norm(there.position) + vec3_norm(vec3_sub(*high, *low));
    const double grown = meeting->reach + box_slack * size;
    *low = vec3_sub(*low, vec3(grown, grown, grown));
    *high = vec3_add(*high, vec3(grown, grown, grown));
    high->z = meeting->surface.mesh->is_solid_below ? HUGE_VAL : high->z;
}

static void collide_faces(const SurfaceMeeting *meeting, const uint64_t *key, uint32_t count) {
    ASSERT(count <= NEAR_MAX);
    for (uint32_t i = 0; i < count;) {
        FaceNear near = {.face = (uint32_t)(key[i] >> 32), .key = &key[i]};
        for (; i < count && key[i] >> 32 == near.face; i++) {
            near.count++;
        }
        collide_face(meeting, &near);
    }
}

void surfaces_collide(const StepState *state, StepPair *pair, const StepPart part[2], int s,
                      const PairPlace *place) {
    ASSERT(s == 0 || s == 1);
    const Primitive *other = part[1 - s].mover.primitive;
    if (primitive_rows[other->kind].volume == NULL) {
        return; // another surface, or a plane: neither moves for the other
    }
    SurfaceMeeting meeting = {.state = state,
                              .pair = pair,
                              .part = part,
                              .s = s,
                              .surface = {part[s].mover.primitive->geometry->mesh, other},
                              .reach =
                                  state->margin + state->reach[pair->a] + state->reach[pair->b],
                              .place = place};
    const Approach approach = {state->input->time_step, meeting.reach};
    meeting.has_path =
        surface_path_read(&part[s].mover, &part[1 - s].mover, &approach, &meeting.path);
    Vec3 low, high;
    find_box(&meeting, &low, &high);
    uint64_t key[NEAR_MANY], after = 0;
    bool is_first = true;
    uint32_t count;
    do {
        count = mesh_near(meeting.surface.mesh, low, high, after, is_first, key, NEAR_MANY);
        for (uint32_t from = 0; from < count; from += NEAR_MAX) {
            const uint32_t left = count - from;
            collide_faces(&meeting, key + from, left < NEAR_MAX ? left : NEAR_MAX);
        }
        after = count > 0 ? key[count - 1] : after;
        is_first = false;
    } while (count == NEAR_MANY);
}
