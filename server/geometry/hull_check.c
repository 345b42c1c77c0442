// SPDX-License-Identifier: MIT
// Judges a form from outside: first what its numbers name, then how its faces hang together, then
// where they lie. Each check may rely on those before it.
#include "base/assert.h"
#include "geometry/hull_parts.h"

#include <stdarg.h>
#include <stdio.h>

// parts of the size, as hull.h has them
static const double on_part = 1e-9;
static const double thick_part = 1e-6;
static const double coplanar_part = 1e-10;

typedef struct Judge {
    const HullForm *form;
    const HullNames *names;
    Error *error; // Nullable
    double size;  // the diagonal of the bounding box [m]
} Judge;

__attribute__((format(printf, 4, 5))) static Status refuse(const Judge *judge, const char *column,
                                                           size_t index, const char *format, ...) {
    char field[128], message[384];
    snprintf(field, sizeof(field), "%s[%zu]", column, index);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof(message), format, arguments);
    va_end(arguments);
    return error_set(judge->error, STATUS_INVALID_ARGUMENT, field, "%s", message);
}

// ---- what it names

static Status check_counts(const Judge *judge, size_t corner_count) {
    const HullForm *form = judge->form;
    if (form->point_count < 4 || form->point_count > HULL_VERTICES_MAX) {
        return error_set(judge->error, STATUS_INVALID_ARGUMENT, judge->names->points,
                         "A hull has 4 to %d points, not %u.", HULL_VERTICES_MAX,
                         form->point_count);
    }
    // as Euler has it, of triangles
    const uint32_t faces_max = 2 * form->point_count - 4;
    if (form->face_count < 4 || form->face_count > faces_max) {
        return error_set(judge->error, STATUS_INVALID_ARGUMENT, judge->names->faces,
                         "A hull of %u points has 4 to %u faces, not %u.", form->point_count,
                         faces_max, form->face_count);
    }
    const uint32_t corners_max = 6 * form->point_count - 12;
    if (corner_count > corners_max || form->face_first[0] != 0 ||
        form->face_first[form->face_count] != corner_count) {
        return error_set(judge->error, STATUS_INVALID_ARGUMENT, judge->names->faces,
                         "The faces of a hull of %u points have at most %u corners together, and "
                         "as many as their lists name; here are %zu.",
                         form->point_count, corners_max, corner_count);
    }
    return STATUS_OK;
}

static Status check_face(const Judge *judge, uint32_t face) {
    const HullForm *form = judge->form;
    const uint32_t first = form->face_first[face], end = form->face_first[face + 1];
    if (end < first || end - first < 3 || end > form->face_first[form->face_count]) {
        return refuse(judge, judge->names->faces, face, "A face has three corners or more.");
    }
    for (uint32_t i = first; i < end; i++) {
        if (form->corner[i] >= form->point_count) {
            return refuse(judge, judge->names->faces, face,
                          "There is no point %u: the hull has %u, from 0 on.", form->corner[i],
                          form->point_count);
        }
        for (uint32_t k = first; k < i; k++) {
            if (form->corner[k] == form->corner[i]) {
                return refuse(judge, judge->names->faces, face,
                              "The face comes to its point %u twice.", form->corner[i]);
            }
        }
    }
    return STATUS_OK;
}

static Status check_points(Judge *judge) {
    const HullForm *form = judge->form;
    for (uint32_t i = 0; i < form->point_count; i++) {
        const Vec3 p = form->point[i];
        if (!(fabs(p.x) <= HULL_COORDINATE_MAX && fabs(p.y) <= HULL_COORDINATE_MAX &&
              fabs(p.z) <= HULL_COORDINATE_MAX)) {
            return refuse(judge, judge->names->points, i,
                          "Coordinates are numbers between -%g and %g m; here are %g, %g and %g.",
                          HULL_COORDINATE_MAX, HULL_COORDINATE_MAX, p.x, p.y, p.z);
        }
    }
    Vec3 low, high;
    hull_draft_bounds(form, &low, &high);
    const Vec3 side = vec3_sub(high, low);
    if (!(fmax(side.x, fmax(side.y, side.z)) >= HULL_SIZE_MIN)) {
        return error_set(judge->error, STATUS_INVALID_ARGUMENT, judge->names->points,
                         "A hull is at least %g m long; this one has sides of %g, %g and %g m.",
                         HULL_SIZE_MIN, side.x, side.y, side.z);
    }
    judge->size = vec3_norm(side);
    return STATUS_OK;
}

static Status check_duplicates(const Judge *judge) {
    const double near = on_part * judge->size;
    for (uint32_t i = 0; i < judge->form->point_count; i++) {
        for (uint32_t k = 0; k < i; k++) {
            const double apart = vec3_norm(vec3_sub(judge->form->point[i], judge->form->point[k]));
            if (apart <= near) {
                return refuse(judge, judge->names->points, i,
                              "The point is %g m from point %u: points of this hull are at least "
                              "%g m apart.",
                              apart, k, near);
            }
        }
    }
    return STATUS_OK;
}

// ---- how its faces hang together

static Status check_edges(const Judge *judge, HullDraft *draft) {
    const HullForm *form = judge->form;
    uint32_t corner;
    if (!hull_draft_link_to(draft, form, &corner)) {
        return refuse(judge, judge->names->faces, draft->face_of[corner],
                      "Another face goes from point %u to point %u too: the two faces at an edge "
                      "go along it in opposite ways, and no third does.",
                      form->corner[corner], form->corner[draft->next[corner]]);
    }
    for (uint32_t i = 0; i < draft->corner_count; i++) {
        if (draft->twin[i] == HULL_NONE) {
            return refuse(judge, judge->names->faces, draft->face_of[i],
                          "No other face goes from point %u to point %u: the hull is open at this "
                          "edge.",
                          form->corner[draft->next[i]], form->corner[i]);
        }
    }
    return STATUS_OK;
}

// One round of faces at each point, no more.
static Status check_rounds(const Judge *judge, const HullDraft *draft) {
    for (uint32_t v = 0; v < judge->form->point_count; v++) {
        uint32_t all = 0, round = 0;
        for (uint32_t i = draft->first_of[v]; i != HULL_NONE; i = draft->same[i]) {
            all++;
        }
        if (all == 0) {
            return refuse(judge, judge->names->points, v,
                          "The point is a corner of no face: a built hull has none inside.");
        }
        uint32_t corner = draft->first_of[v];
        do {
            round++;
            corner = hull_draft_turn(draft, corner);
        } while (corner != draft->first_of[v] && round < all);
        if (round != all || corner != draft->first_of[v]) {
            return refuse(judge, judge->names->points, v,
                          "The faces at the point make several rounds; on a hull they make one.");
        }
    }
    return STATUS_OK;
}

static Status check_whole(const Judge *judge, const HullDraft *draft) {
    bool is_seen[HULL_FACES_MAX] = {false};
    uint16_t waiting[HULL_FACES_MAX];
    uint32_t count = 1, seen = 1;
    waiting[0] = 0;
    is_seen[0] = true;
    while (count > 0) {
        const uint32_t face = waiting[--count];
        for (uint32_t i = judge->form->face_first[face]; i < judge->form->face_first[face + 1];
             i++) {
            const uint32_t other = draft->face_of[draft->twin[i]];
            if (!is_seen[other]) {
                ASSERT(count < HULL_FACES_MAX);
                is_seen[other] = true;
                seen++;
                waiting[count++] = (uint16_t)other;
            }
        }
    }
    const uint32_t vertices = judge->form->point_count, faces = judge->form->face_count;
    const uint32_t edges = draft->corner_count / 2;
    if (seen == faces && vertices + faces == edges + 2) {
        return STATUS_OK;
    }
    return error_set(judge->error, STATUS_INVALID_ARGUMENT, judge->names->faces,
                     seen != faces ? "The faces are of several surfaces: %u points, %u edges and "
                                     "%u faces; a hull has one."
                                   : "The faces close around a hole: %u points, %u edges and %u "
                                     "faces; of a hull, points and faces are two more than edges.",
                     vertices, edges, faces);
}

// ---- where they lie

// How high a face is over its longest edge at least, on the mean: of twice its area.
static Status check_sliver(const Judge *judge, uint32_t face) {
    const HullForm *form = judge->form;
    const uint32_t first = form->face_first[face], end = form->face_first[face + 1];
    double longest = 0.0;
    for (uint32_t i = first; i < end; i++) {
        const uint32_t next = i + 1 < end ? i + 1 : first;
        longest = fmax(longest, vec3_norm(vec3_sub(form->point[form->corner[next]],
                                                   form->point[form->corner[i]])));
    }
    const double height = vec3_norm(hull_draft_area(form, face)) / longest;
    if (height >= thick_part * longest) {
        return STATUS_OK;
    }
    return refuse(judge, judge->names->faces, face,
                  "The face is a sliver: %g m high over an edge of %g m; at least %g of it.",
                  height, longest, thick_part);
}

static Status check_flat(const Judge *judge, uint32_t face, Vec3 n) {
    const HullForm *form = judge->form;
    const uint32_t first = form->face_first[face], end = form->face_first[face + 1];
    const Vec3 origin = form->point[form->corner[first]];
    for (uint32_t i = first; i < end; i++) {
        const Vec3 from = form->point[form->corner[i]];
        const Vec3 to = form->point[form->corner[i + 1 < end ? i + 1 : first]];
        const double off = fabs(vec3_dot(n, vec3_sub(from, origin)));
        if (off > on_part * judge->size) {
            return refuse(judge, judge->names->faces, face,
                          "The face is not flat: its point %u is %g m off the others' plane, at "
                          "most %g here. Give the points more digits, or the face in triangles.",
                          form->corner[i], off, on_part * judge->size);
        }
        const Vec3 side = vec3_cross(vec3_sub(to, from), n);
        const double slack = on_part * judge->size * vec3_norm(side);
        for (uint32_t k = first; k < end; k++) {
            if (vec3_dot(side, vec3_sub(form->point[form->corner[k]], from)) > slack) {
                return refuse(judge, judge->names->faces, face,
                              "The face is not convex: its point %u is outside of its edge from "
                              "point %u to point %u.",
                              form->corner[k], form->corner[i],
                              form->corner[i + 1 < end ? i + 1 : first]);
            }
        }
    }
    return STATUS_OK;
}

// All points behind it, and some of them far.
static Status check_behind(const Judge *judge, uint32_t face, Vec3 n) {
    const HullForm *form = judge->form;
    const Vec3 origin = form->point[form->corner[form->face_first[face]]];
    double lowest = 0.0;
    for (uint32_t i = 0; i < form->point_count; i++) {
        const double height = vec3_dot(n, vec3_sub(form->point[i], origin));
        if (height > on_part * judge->size) {
            return refuse(judge, judge->names->faces, face,
                          "Point %u is %g m in front of the face: the hull is not convex there, or "
                          "the face's corners go clockwise seen from outside.",
                          i, height);
        }
        lowest = fmin(lowest, height);
    }
    if (-lowest >= thick_part * judge->size) {
        return STATUS_OK;
    }
    return refuse(judge, judge->names->faces, face,
                  "The hull is flat: %g m thick across the face; at least %g of its size, %g m.",
                  -lowest, thick_part, judge->size);
}

// How far corners of a face are off a plane of another at most.
static double farthest_off(const HullForm *form, uint32_t face, Vec3 n, Vec3 origin) {
    double off = 0.0;
    for (uint32_t i = form->face_first[face]; i < form->face_first[face + 1]; i++) {
        off = fmax(off, fabs(vec3_dot(n, vec3_sub(form->point[form->corner[i]], origin))));
    }
    return off;
}

static Status check_apart(const Judge *judge, const HullDraft *draft) {
    const HullForm *form = judge->form;
    for (uint32_t i = 0; i < draft->corner_count; i++) {
        const uint32_t one = draft->face_of[i], other = draft->face_of[draft->twin[i]];
        const Vec3 origin = form->point[form->corner[i]];
        const double off = fmax(farthest_off(form, one, hull_draft_normal(form, other), origin),
                                farthest_off(form, other, hull_draft_normal(form, one), origin));
        if (off <= coplanar_part * judge->size) {
            return refuse(judge, judge->names->faces, one,
                          "The face lies in one plane with face %u: make one face of the two.",
                          other);
        }
    }
    return STATUS_OK;
}

static Status check_places(const Judge *judge, const HullDraft *draft) {
    Status status = STATUS_OK;
    for (uint32_t f = 0; status == STATUS_OK && f < judge->form->face_count; f++) {
        status = check_sliver(judge, f);
        if (status == STATUS_OK) {
            const Vec3 n = hull_draft_normal(judge->form, f);
            status = check_flat(judge, f, n);
            status = STATUS_THEN(status, check_behind(judge, f, n));
        }
    }
    return STATUS_THEN(status, check_apart(judge, draft));
}

Status hull_check(const HullForm *form, size_t corner_count, const HullNames *names, Error *error) {
    Judge judge = {.form = form, .names = names, .error = error};
    Status status = check_counts(&judge, corner_count);
    for (uint32_t f = 0; status == STATUS_OK && f < form->face_count; f++) {
        status = check_face(&judge, f);
    }
    status = STATUS_THEN(status, check_points(&judge));
    status = STATUS_THEN(status, check_duplicates(&judge));
    HullDraft draft;
    status = STATUS_THEN(status, check_edges(&judge, &draft));
    status = STATUS_THEN(status, check_rounds(&judge, &draft));
    status = STATUS_THEN(status, check_whole(&judge, &draft));
    return STATUS_THEN(status, check_places(&judge, &draft));
}
