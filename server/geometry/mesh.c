// SPDX-License-Identifier: MIT
#include "geometry/mesh.h"

#include "base/assert.h"
#include "geometry/block.h"
#include "geometry/mesh_parts.h"

#include <stdlib.h>
#include <string.h>

static const double plane_part = 1e-10; // as mesh.h has them
static const double plane_sine = 1e-8;

// ---- memory

static MeshDraft lay_out(Block *block, size_t points, size_t triangles) {
    return (MeshDraft){.mesh = block_take(block, 1, sizeof(Mesh)),
                       .point = block_take(block, points, sizeof(Vec3)),
                       .node = block_take(block, mesh_nodes_max(triangles), sizeof(MeshNode)),
                       .corner = block_take(block, 3 * triangles, sizeof(uint32_t)),
                       .beyond = block_take(block, 3 * triangles, sizeof(uint32_t)),
                       .face = block_take(block, triangles, sizeof(uint32_t)),
                       .ring_first = block_take(block, points + 1, sizeof(uint32_t)),
                       .ring = block_take(block, 3 * triangles, sizeof(uint32_t)),
                       .order = block_take(block, triangles, sizeof(uint32_t))};
}

size_t mesh_bytes(uint32_t point_count, uint32_t triangle_count) {
    Block block = {NULL, 0};
    lay_out(&block, point_count, triangle_count);
    return block.used_bytes;
}

// ---- points at the same place

static double compare(Vec3 a, Vec3 b) {
    return a.x != b.x ? a.x - b.x : a.y != b.y ? a.y - b.y : a.z - b.z;
}

static bool comes_before(const Vec3 *point, uint32_t a, uint32_t b) {
    const double order = compare(point[a], point[b]);
    return order < 0.0 || (order == 0.0 && a < b);
}

static void sift_down(const Vec3 *point, uint32_t *heap, uint32_t at, uint32_t count) {
    ASSERT(at < count);
    for (uint32_t child = 2 * at + 1; child < count; at = child, child = 2 * at + 1) {
        if (child + 1 < count && comes_before(point, heap[child], heap[child + 1])) {
            child++;
        }
        if (!comes_before(point, heap[at], heap[child])) {
            return;
        }
        const uint32_t moved = heap[at];
        heap[at] = heap[child];
        heap[child] = moved;
    }
}

// In bounded time whatever they are.
static void sort_places(const Vec3 *point, uint32_t *place, uint32_t count) {
    for (uint32_t i = count / 2; i-- > 0;) {
        sift_down(point, place, i, count);
    }
    for (uint32_t end = count; end-- > 1;) {
        const uint32_t last = place[0];
        place[0] = place[end];
        place[end] = last;
        sift_down(point, place, 0, end);
    }
}

// `room`: two numbers for each point.
static void join_points(MeshDraft *draft, uint32_t *room) {
    const uint32_t count = draft->mesh->point_count;
    uint32_t *place = room, *first = room + count;
    ASSERT(count >= 3);
    for (uint32_t i = 0; i < count; i++) {
        place[i] = i;
    }
    sort_places(draft->point, place, count);
    for (uint32_t i = 0; i < count; i++) {
        const bool is_same =
            i > 0 && compare(draft->point[place[i - 1]], draft->point[place[i]]) == 0.0;
        first[place[i]] = is_same ? first[place[i - 1]] : place[i];
    }
    for (size_t k = 0; k < 3 * (size_t)draft->mesh->triangle_count; k++) {
        draft->corner[k] = first[draft->corner[k]];
    }
}

// ---- who is whose neighbour

static void find_rings(MeshDraft *draft) {
    const Mesh *mesh = draft->mesh;
    const size_t corners = 3 * (size_t)mesh->triangle_count;
    memset(draft->ring_first, 0, ((size_t)mesh->point_count + 1) * sizeof(uint32_t));
    for (size_t k = 0; k < corners; k++) {
        draft->ring_first[draft->corner[k] + 1]++;
    }
    for (uint32_t i = 0; i < mesh->point_count; i++) {
        draft->ring_first[i + 1] += draft->ring_first[i];
    }
    for (size_t k = 0; k < corners; k++) { // each begins where the one before will end
        draft->ring[draft->ring_first[draft->corner[k]]++] = (uint32_t)(k / 3);
    }
    for (uint32_t i = mesh->point_count; i > 0; i--) {
        draft->ring_first[i] = draft->ring_first[i - 1];
    }
    draft->ring_first[0] = 0;
    ASSERT(draft->ring_first[mesh->point_count] == corners);
}

static uint32_t next_corner(size_t k) {
    return (uint32_t)(k % 3 == 2 ? k - 2 : k + 1);
}

// How many triangles besides have the edge of corner k: against its direction, and along it. `last`
// is the last one against it.
static void count_edge(const Mesh *mesh, size_t k, uint32_t *against, uint32_t *along,
                       uint32_t *last) {
    const uint32_t a = mesh->corner[k], b = mesh->corner[next_corner(k)];
    *against = *along = 0;
    *last = MESH_NONE;
    for (uint32_t i = mesh->ring_first[a]; i < mesh->ring_first[a + 1]; i++) {
        const size_t other = 3 * (size_t)mesh->ring[i];
        for (size_t e = other; e < other + 3; e++) {
            const uint32_t from = mesh->corner[e], to = mesh->corner[next_corner(e)];
            *along += e != k && from == a && to == b ? 1 : 0;
            *against += from == b && to == a ? 1 : 0;
            *last = from == b && to == a ? mesh->ring[i] : *last;
        }
    }
}

static void find_neighbours(MeshDraft *draft) {
    for (size_t k = 0; k < 3 * (size_t)draft->mesh->triangle_count; k++) {
        uint32_t against, along, last;
        count_edge(draft->mesh, k, &against, &along, &last);
        draft->beyond[k] = against == 1 && along == 0 ? last : MESH_NONE;
    }
}

// Of what looks to one side each edge is of two triangles at most, which go along it in opposite
// directions.
static Status check_edges(const Mesh *mesh, const MeshNames *names, Error *error) {
    uint32_t count = 0, first = 0;
    for (size_t k = 0; k < 3 * (size_t)mesh->triangle_count && !mesh->is_two_sided; k++) {
        uint32_t against, along, last;
        count_edge(mesh, k, &against, &along, &last);
        if (against > 1 || along > 0) {
            first = count++ == 0 ? (uint32_t)(k / 3) : first;
        }
    }
    return count == 0
               ? STATUS_OK
               : error_set(error, STATUS_INVALID_ARGUMENT, names->triangles,
                           "%u times a triangle has an edge with two others or more, or with "
                           "one that looks to the other side; first triangle %u. Let their "
                           "corners go counter-clockwise seen from one side, or make the mesh "
                           "two-sided.",
                           count, first);
}

static Status check_rings(const Mesh *mesh, const MeshNames *names, Error *error) {
    for (uint32_t i = 0; i < mesh->point_count; i++) {
        const uint32_t count = mesh->ring_first[i + 1] - mesh->ring_first[i];
        if (count > MESH_RING_MAX) {
            return error_set(error, STATUS_INVALID_ARGUMENT, names->triangles,
                             "At most %d triangles meet at a point, not %u as at point %u.",
                             MESH_RING_MAX, count, i);
        }
    }
    return STATUS_OK;
}

uint32_t mesh_edge(const Mesh *mesh, uint32_t triangle, uint32_t i) {
    ASSERT(triangle < mesh->triangle_count && i < 3);
    const uint32_t k = 3 * triangle + i, other = mesh_beyond(mesh, triangle, i);
    if (other == MESH_NONE || other > triangle) {
        return k;
    }
    const uint32_t end = mesh_corner_number(mesh, triangle, i == 2 ? 0 : i + 1);
    for (uint32_t e = 0; e < 3; e++) { // from there it goes back
        if (mesh_corner_number(mesh, other, e) == end && mesh_beyond(mesh, other, e) == triangle) {
            return 3 * other + e;
        }
    }
    return k;
}

// ---- faces

Vec3 mesh_normal(const Mesh *mesh, uint32_t triangle) {
    ASSERT(triangle < mesh->triangle_count);
    const Vec3 a = mesh_corner(mesh, triangle, 0);
    const Vec3 n = vec3_cross(vec3_sub(mesh_corner(mesh, triangle, 1), a),
                              vec3_sub(mesh_corner(mesh, triangle, 2), a));
    return vec3_scale(1.0 / vec3_norm(n), n);
}

static bool is_in_plane(const Mesh *mesh, uint32_t triangle, Vec3 on, Vec3 normal) {
    const double slack = plane_part * vec3_norm(vec3_sub(mesh->high, mesh->low));
    const Vec3 own = mesh_normal(mesh, triangle);
    bool is_in = vec3_norm(vec3_cross(own, normal)) <= plane_sine && vec3_dot(own, normal) > 0.0;
    for (uint32_t i = 0; i < 3; i++) {
        const Vec3 offset = vec3_sub(mesh_corner(mesh, triangle, i), on);
        is_in = is_in && fabs(vec3_dot(normal, offset)) <= slack;
    }
    return is_in;
}

// From the first triangle of each on, never from one of another on: nothing creeps around a bend.
// `face`, `queue`: a number for each triangle.
static void find_faces(const Mesh *mesh, uint32_t *face, uint32_t *queue) {
    memset(face, 0xff, (size_t)mesh->triangle_count * sizeof(uint32_t));
    for (uint32_t seed = 0; seed < mesh->triangle_count; seed++) {
        if (face[seed] != MESH_NONE) {
            continue;
        }
        const Vec3 on = mesh_corner(mesh, seed, 0), normal = mesh_normal(mesh, seed);
        uint32_t begin = 0, end = 0;
        queue[end++] = seed;
        face[seed] = seed;
        while (begin < end) {
            const uint32_t at = queue[begin++];
            for (uint32_t i = 0; i < 3; i++) {
                const uint32_t other = mesh_beyond(mesh, at, i);
                if (other != MESH_NONE && face[other] == MESH_NONE &&
                    is_in_plane(mesh, other, on, normal)) {
                    face[other] = seed;
                    queue[end++] = other;
                }
            }
        }
    }
}

// ---- both kinds

static void find_bounds(Mesh *mesh) {
    mesh->low = mesh->high = mesh_point(mesh, 0);
    mesh->reach = 0.0;
    for (uint32_t i = 0; i < mesh->point_count; i++) {
        const Vec3 p = mesh_point(mesh, i);
        mesh->low = vec3_min(mesh->low, p);
        mesh->high = vec3_max(mesh->high, p);
        mesh->reach = fmax(mesh->reach, vec3_norm(p));
    }
    mesh->floor = mesh->low.z;
    if (mesh->is_solid_below) { // on all sides of its middle
        mesh->floor -= vec3_norm(vec3_sub(mesh->high, mesh->low));
        mesh->reach = fmax(mesh->reach, vec3_norm(vec3(mesh->low.x, mesh->low.y, mesh->floor)));
    }
}

static MeshDraft begin(void *memory, uint32_t points, uint32_t triangles) {
    memset(memory, 0, mesh_bytes(points, triangles)); // also what is between the pieces
    Block block = {memory, 0};
    const MeshDraft draft = lay_out(&block, points, triangles);
    *draft.mesh = (Mesh){.point_count = points,
                         .triangle_count = triangles,
                         .point = draft.point,
                         .corner = draft.corner,
                         .beyond = draft.beyond,
                         .face = draft.face,
                         .ring_first = draft.ring_first,
                         .ring = draft.ring,
                         .order = draft.order,
                         .node = draft.node};
    return draft;
}

static Status link_up(MeshDraft *draft, const MeshNames *names, Error *error) {
    find_rings(draft);
    const Status status = check_rings(draft->mesh, names, error);
    if (status == STATUS_OK) {
        find_neighbours(draft);
    }
    return STATUS_THEN(status, check_edges(draft->mesh, names, error));
}

static Status derive(MeshDraft *draft, const MeshNames *names, Error *error) {
    const Mesh *mesh = draft->mesh;
    const size_t numbers = 2 * (size_t)mesh->point_count + mesh->triangle_count;
    uint32_t *room = malloc(numbers * sizeof(uint32_t));
    if (room == NULL) {
        return error_set(error, STATUS_RESOURCE_EXHAUSTED, names->triangles,
                         "Memory ended for the neighbours of %u triangles.", mesh->triangle_count);
    }
    find_bounds(draft->mesh);
    join_points(draft, room);
    const Status status = link_up(draft, names, error);
    if (status == STATUS_OK) {
        find_faces(mesh, draft->face, room);
        mesh_build_tree(draft);
    }
    free(room);
    return status;
}

Status mesh_open(const MeshForm *form, const MeshNames *names, void *memory, Error *error) {
    ASSERT(form->point_count <= MESH_POINTS_MAX && form->triangle_count <= MESH_TRIANGLES_MAX);
    MeshDraft draft = begin(memory, form->point_count, form->triangle_count);
    draft.mesh->is_two_sided = form->is_two_sided;
    draft.mesh->patch = form->patch;
    draft.mesh->patch_share = 1;
    memcpy(draft.point, form->point, form->point_count * sizeof(Vec3));
    memcpy(draft.corner, form->corner, 3 * (size_t)form->triangle_count * sizeof(uint32_t));
    return derive(&draft, names, error);
}

// ---- height fields

// The block of one whose grid is begun, of so many triangles that are of another's face. NULL:
// memory ends.
static Mesh *take_grid(const Mesh *begun, size_t joined, GridDraft *draft, size_t *bytes) {
    Block count = {NULL, 0};
    Mesh made = *begun;
    block_take(&count, 1, sizeof(Mesh));
    grid_lay_out(&made.grid, draft, joined, &count);
    Block block = {calloc(1, count.used_bytes), 0}; // also what is between the pieces
    if (block.data == NULL) {
        return NULL;
    }
    *bytes = count.used_bytes;
    Mesh *mesh = block_take(&block, 1, sizeof(Mesh));
    *mesh = *begun;
    grid_lay_out(&mesh->grid, draft, joined, &block);
    return mesh;
}

static Mesh begin_heights(const HeightForm *form) {
    ASSERT(form->height != NULL);
    Mesh mesh = {.point_count = heights_points(form),
                 .triangle_count = heights_triangles(form),
                 .is_solid_below = true,
                 .patch = form->patch,
                 .patch_share = 2,
                 .grid = {.height = form->height,
                          .columns = form->columns,
                          .rows = form->rows,
                          .spacing = {form->spacing[0], form->spacing[1]},
                          .half = {0.5 * (form->columns - 1.0) * form->spacing[0],
                                   0.5 * (form->rows - 1.0) * form->spacing[1]}}};
    find_bounds(&mesh);
    return mesh;
}

Status mesh_make_heights(const HeightForm *form, const MeshNames *names, Mesh **mesh, size_t *bytes,
                         Error *error) {
    ASSERT(form->columns >= HEIGHTS_SIDE_MIN && form->rows >= HEIGHTS_SIDE_MIN);
    const Mesh begun = begin_heights(form);
    const size_t count = begun.triangle_count;
    uint32_t *face = malloc(2 * count * sizeof(*face)); // and the queue
    *mesh = NULL;
    if (face != NULL) {
        size_t joined = 0;
        find_faces(&begun, face, face + count);
        for (size_t i = 0; i < count; i++) {
            joined += face[i] != i;
        }
        GridDraft draft;
        *mesh = take_grid(&begun, joined, &draft, bytes);
        if (*mesh != NULL) {
            grid_fill(&(*mesh)->grid, &draft, face);
        }
    }
    free(face);
    return *mesh != NULL ? STATUS_OK
                         : error_set(error, STATUS_RESOURCE_EXHAUSTED, names->points,
                                     "Memory ended for %u triangles of a height field.",
                                     begun.triangle_count);
}
