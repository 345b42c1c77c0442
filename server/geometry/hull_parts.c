// SPDX-License-Identifier: MIT
#include "geometry/hull_parts.h"

#include "base/assert.h"

static uint32_t end_of(const HullDraft *draft, uint32_t corner) {
    return draft->form->corner[draft->next[corner]];
}

static void list_corners(HullDraft *draft) {
    const HullForm *form = draft->form;
    for (uint32_t v = 0; v < form->point_count; v++) {
        draft->first_of[v] = HULL_NONE;
    }
    for (uint32_t f = form->face_count; f-- > 0;) {
        const uint32_t first = form->face_first[f], end = form->face_first[f + 1];
        for (uint32_t i = end; i-- > first;) {
            const uint32_t v = form->corner[i];
            ASSERT(v < form->point_count);
            draft->face_of[i] = (uint16_t)f;
            draft->next[i] = (uint16_t)(i + 1 < end ? i + 1 : first);
            draft->same[i] = draft->first_of[v];
            draft->first_of[v] = (uint16_t)i;
        }
    }
}

bool hull_draft_link_to(HullDraft *draft, const HullForm *form, uint32_t *corner) {
    draft->form = form;
    draft->corner_count = form->face_first[form->face_count];
    ASSERT(draft->corner_count <= HULL_CORNERS_MAX);
    list_corners(draft);
    for (uint32_t i = 0; i < draft->corner_count; i++) {
        const uint32_t from = form->corner[i], to = end_of(draft, i);
        draft->twin[i] = HULL_NONE;
        for (uint32_t k = draft->first_of[to]; k != HULL_NONE; k = draft->same[k]) {
            draft->twin[i] = end_of(draft, k) == from ? (uint16_t)k : draft->twin[i];
        }
        for (uint32_t k = draft->same[i]; k != HULL_NONE; k = draft->same[k]) {
            if (end_of(draft, k) == to) {
                *corner = k;
                return false;
            }
        }
    }
    return true;
}

void hull_draft_link(HullDraft *draft, const HullForm *form) {
    uint32_t corner;
    const bool is_linked = hull_draft_link_to(draft, form, &corner);
    ASSERT(is_linked);
}

// Back along the edge that comes to the corner.
uint32_t hull_draft_turn(const HullDraft *draft, uint32_t corner) {
    const uint32_t face = draft->face_of[corner];
    const uint32_t first = draft->form->face_first[face], end = draft->form->face_first[face + 1];
    const uint32_t before = corner > first ? corner - 1 : end - 1;
    ASSERT(draft->twin[before] != HULL_NONE);
    return draft->twin[before];
}

void hull_draft_edges(const HullDraft *draft, HullEdge *edge, uint16_t *corner_edge) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < draft->corner_count; i++) {
        const uint32_t twin = draft->twin[i];
        ASSERT(twin < draft->corner_count);
        if (twin < i) {
            corner_edge[i] = corner_edge[twin];
            continue;
        }
        edge[count] =
            (HullEdge){.vertex = {(uint16_t)draft->form->corner[i], (uint16_t)end_of(draft, i)},
                       .face = {draft->face_of[i], draft->face_of[twin]}};
        corner_edge[i] = (uint16_t)count++;
    }
    ASSERT(2 * count == draft->corner_count);
}

// Of triangles from the first corner on: differences of points, so that where the frame is does not
// matter.
Vec3 hull_draft_area(const HullForm *form, uint32_t face) {
    const uint32_t first = form->face_first[face], end = form->face_first[face + 1];
    ASSERT(end - first >= 3);
    const Vec3 origin = form->point[form->corner[first]];
    Vec3 sum = vec3(0.0, 0.0, 0.0);
    Vec3 before = vec3_sub(form->point[form->corner[first + 1]], origin);
    for (uint32_t i = first + 2; i < end; i++) {
        const Vec3 here = vec3_sub(form->point[form->corner[i]], origin);
        sum = vec3_add(sum, vec3_cross(before, here));
        before = here;
    }
    return sum;
}

Vec3 hull_draft_normal(const HullForm *form, uint32_t face) {
    const Vec3 area = hull_draft_area(form, face);
    const double length = vec3_norm(area);
    ASSERT(length > 0.0);
    return vec3_scale(1.0 / length, area);
}

void hull_draft_bounds(const HullForm *form, Vec3 *low, Vec3 *high) {
    ASSERT(form->point_count > 0);
    *low = *high = form->point[0];
    for (uint32_t i = 1; i < form->point_count; i++) {
        const Vec3 p = form->point[i];
        *low = vec3(fmin(low->x, p.x), fmin(low->y, p.y), fmin(low->z, p.z));
        *high = vec3(fmax(high->x, p.x), fmax(high->y, p.y), fmax(high->z, p.z));
    }
}
