// SPDX-License-Identifier: MIT
#include "hull/qhull.h"

#include "base/assert.h"
#include "hull/qhull_parts.h"

#include <libqhull_r/qhull_ra.h>
#include <math.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Of the size: what lies that near to one plane is in it. Coordinates that were floats are off by
// 6e-8 of theirs. Where the faces that come of it do not fit, less is tried.
static const double merge_parts[] = {4e-7, 1e-8, 0.0};
// Of the size: where none of that fits, as where points of a real part lie in a zigzag about a
// plane, they are put on a grid: then they are in the plane, in one place, or clearly not.
static const double grid_parts[] = {3e-7, 1e-6, 2.5e-6, 4e-6};
// of the size: as hull.h refuses it
static const double thick_part = 1e-6;
// of the size: how far corners may be moved for that, and points be outside then
static const double way_part = 4e-6;
// of the size: how flat merged faces become, of what hull.h asks a part
static const double flat_part = 1e-10;

typedef struct Cloud {
    const Vec3 *given;
    const Vec3 *point; // those, or on a grid
    size_t count;
    Vec3 center;
    double size; // the diagonal of the bounding box
    uint32_t vertices_max;
    const QhullNames *names;
} Cloud;

// ---- what is judged without Qhull

static Status check_numbers(const Cloud *cloud, Error *error) {
    if (cloud->count < 4 || cloud->count > QHULL_POINTS_MAX) {
        return error_set(error, STATUS_INVALID_ARGUMENT, cloud->names->points,
                         "A hull is built of 4 to %d points, not of %zu.", QHULL_POINTS_MAX,
                         cloud->count);
    }
    if (cloud->vertices_max != 0 &&
        (cloud->vertices_max < 4 || cloud->vertices_max > HULL_VERTICES_MAX)) {
        return error_set(error, STATUS_INVALID_ARGUMENT, cloud->names->vertices_max,
                         "A hull has 4 to %d corners, not %u.", HULL_VERTICES_MAX,
                         cloud->vertices_max);
    }
    for (size_t i = 0; i < cloud->count; i++) {
        const Vec3 p = cloud->point[i];
        if (!(fabs(p.x) <= HULL_COORDINATE_MAX && fabs(p.y) <= HULL_COORDINATE_MAX &&
              fabs(p.z) <= HULL_COORDINATE_MAX)) {
            char field[128];
            snprintf(field, sizeof(field), "%s[%zu]", cloud->names->points, i);
            return error_set(error, STATUS_INVALID_ARGUMENT, field,
                             "Coordinates are numbers between -%g and %g m; here are %g, %g and "
                             "%g.",
                             HULL_COORDINATE_MAX, HULL_COORDINATE_MAX, p.x, p.y, p.z);
        }
    }
    return STATUS_OK;
}

static Status measure(Cloud *cloud, Error *error) {
    Vec3 low = cloud->point[0], high = low;
    for (size_t i = 1; i < cloud->count; i++) {
        const Vec3 p = cloud->point[i];
        low = vec3(fmin(low.x, p.x), fmin(low.y, p.y), fmin(low.z, p.z));
        high = vec3(fmax(high.x, p.x), fmax(high.y, p.y), fmax(high.z, p.z));
    }
    const Vec3 side = vec3_sub(high, low);
    cloud->center = vec3_add_scaled(low, 0.5, side);
    cloud->size = vec3_norm(side);
    if (!(fmax(side.x, fmax(side.y, side.z)) >= HULL_SIZE_MIN)) {
        return error_set(error, STATUS_INVALID_ARGUMENT, cloud->names->points,
                         "A hull is at least %g m long; these points have sides of %g, %g and "
                         "%g m.",
                         HULL_SIZE_MIN, side.x, side.y, side.z);
    }
    return STATUS_OK;
}

// How far a point is from the first, from the line through two, from the plane through three.
static double distance_from(const Vec3 *of, int count, Vec3 point) {
    ASSERT(count >= 1 && count <= 3);
    const Vec3 v = vec3_sub(point, of[0]);
    if (count == 1) {
        return vec3_norm(v);
    }
    const Vec3 u = vec3_sub(of[1], of[0]);
    if (count == 2) {
        return vec3_norm(vec3_cross(u, v)) / vec3_norm(u);
    }
    const Vec3 n = vec3_cross(u, vec3_sub(of[2], of[0]));
    return fabs(vec3_dot(n, v)) / vec3_norm(n);
}

// Four points far from each other: what Qhull says of points in one plane nobody could read.
static Status check_thick(const Cloud *cloud, Error *error) {
    Vec3 of[4] = {cloud->point[0]};
    for (int count = 1; count < 4; count++) {
        double farthest = 0.0;
        for (size_t i = 0; i < cloud->count; i++) {
            const double distance = distance_from(of, count, cloud->point[i]);
            of[count] = distance > farthest ? cloud->point[i] : of[count];
            farthest = fmax(farthest, distance);
        }
        if (farthest < thick_part * cloud->size) {
            const char *where = count == 1   ? "in one place"
                                : count == 2 ? "in a line"
                                             : "in a plane";
            return error_set(error, STATUS_INVALID_ARGUMENT, cloud->names->points,
                             "The points lie %s, but for %g m of a size of %g m: they have no hull "
                             "with a volume.",
                             where, farthest, cloud->size);
        }
    }
    return STATUS_OK;
}

// ---- what Qhull says, as a form

// Corners in the order of the points: their numbers there, ascending.
typedef struct Corners {
    uint32_t count;
    int point[HULL_VERTICES_MAX];
} Corners;

static int compare_numbers(const void *a, const void *b) {
    const int x = *(const int *)a, y = *(const int *)b;
    return (x > y) - (x < y);
}

static uint32_t place_of(const Corners *corners, int point) {
    const int *found =
        bsearch(&point, corners->point, corners->count, sizeof(corners->point[0]), compare_numbers);
    ASSERT(found != NULL);
    return (uint32_t)(found - corners->point);
}

// false: more than a hull may have.
static bool list_corners(qhT *qh, Corners *corners) {
    vertexT *vertex;
    corners->count = 0;
    FORALLvertices {
        if (corners->count == HULL_VERTICES_MAX) {
            return false;
        }
        corners->point[corners->count++] = qh_pointid(qh, vertex->point);
    }
    qsort(corners->point, corners->count, sizeof(corners->point[0]), compare_numbers);
    return true;
}

// Turns the face's list so that it begins with its first corner, and goes around counter-clockwise.
static void add_face(QhullForm *built, const uint32_t *around, uint32_t count, bool is_clockwise) {
    uint32_t first = 0;
    for (uint32_t i = 1; i < count; i++) {
        first = around[i] < around[first] ? i : first;
    }
    const uint32_t at = built->face_first[built->form.face_count];
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t step = is_clockwise ? count - i : i;
        built->corner[at + i] = around[(first + step) % count];
    }
    built->face_first[++built->form.face_count] = at + count;
}

// Twice its area, along a direction.
static double area_along(const QhullForm *built, const uint32_t *around, uint32_t count, Vec3 n) {
    const Vec3 origin = built->point[around[0]];
    double area = 0.0;
    for (uint32_t i = 1; i + 1 < count; i++) {
        area += vec3_dot(n, vec3_cross(vec3_sub(built->point[around[i]], origin),
                                       vec3_sub(built->point[around[i + 1]], origin)));
    }
    return area;
}

// false: it has more faces or corners than a hull.
static bool read_faces(qhT *qh, const Corners *corners, QhullForm *built) {
    facetT *facet;
    FORALLfacets {
        setT *vertices = qh_facet3vertex(qh, facet);
        uint32_t around[HULL_VERTICES_MAX], count = 0;
        vertexT *vertex, **vertexp;
        FOREACHvertex_(vertices) {
            if (count < HULL_VERTICES_MAX) {
                around[count++] = place_of(corners, qh_pointid(qh, vertex->point));
            }
        }
        qh_settempfree(qh, &vertices);
        if (built->form.face_count == HULL_FACES_MAX ||
            built->face_first[built->form.face_count] + count > HULL_CORNERS_MAX || count < 3) {
            return false;
        }
        const Vec3 n = vec3(facet->normal[0], facet->normal[1], facet->normal[2]);
        add_face(built, around, count, area_along(built, around, count, n) < 0.0);
    }
    return true;
}

typedef struct FaceList {
    uint32_t first, count;
} FaceList;

static int compare_faces(const uint32_t *corner, FaceList a, FaceList b) {
    const uint32_t count = a.count < b.count ? a.count : b.count;
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t x = corner[a.first + i], y = corner[b.first + i];
        if (x != y) {
            return x < y ? -1 : 1;
        }
    }
    return (a.count > b.count) - (a.count < b.count);
}

static void sort_faces(QhullForm *built) {
    FaceList face[HULL_FACES_MAX];
    const uint32_t count = built->form.face_count;
    uint32_t corner[HULL_CORNERS_MAX], at = 0;
    memcpy(corner, built->corner, built->face_first[count] * sizeof(corner[0]));
    for (uint32_t f = 0; f < count; f++) { // by insertion: a few hundred, once
        const FaceList own = {built->face_first[f],
                              built->face_first[f + 1] - built->face_first[f]};
        uint32_t place = f;
        for (; place > 0 && compare_faces(corner, own, face[place - 1]) < 0; place--) {
            face[place] = face[place - 1];
        }
        face[place] = own;
    }
    for (uint32_t f = 0; f < count; f++) {
        built->face_first[f] = at;
        memcpy(&built->corner[at], &corner[face[f].first], face[f].count * sizeof(corner[0]));
        at += face[f].count;
    }
}

// ---- running it

// One run of the library. What it asks of memory is its own, and freed with it.
typedef struct Run {
    qhT qh;
    FILE *said; // what it has to say goes nowhere
    coordT *coordinates;
    Corners corners;
    bool is_fitting; // what it built fits a form
} Run;

// Under a trap: an error of Qhull comes back out of setjmp.
static int read_form(Run *run, const Cloud *cloud, QhullForm *built) {
    qhT *qh = &run->qh;
    const int code = setjmp(qh->errexit);
    if (code == 0) {
        qh->NOerrexit = False;
        run->is_fitting = list_corners(qh, &run->corners);
        for (uint32_t i = 0; run->is_fitting && i < run->corners.count; i++) {
            built->point[i] = cloud->point[run->corners.point[i]];
        }
        run->is_fitting = run->is_fitting && read_faces(qh, &run->corners, built);
    }
    qh->NOerrexit = True;
    return code;
}

// Around the cloud's middle, of size 1: so that parts of the size are lengths.
static void scale_points(const Cloud *cloud, coordT *to) {
    for (size_t i = 0; i < cloud->count; i++) {
        const Vec3 p = vec3_scale(1.0 / cloud->size, vec3_sub(cloud->point[i], cloud->center));
        to[3 * i] = p.x;
        to[3 * i + 1] = p.y;
        to[3 * i + 2] = p.z;
    }
}

// 0, or Qhull's code.
static int run_qhull(Run *run, const Cloud *cloud, double merge_part, QhullForm *built) {
    char command[96] = "qhull C-0";
    size_t length = strlen(command);
    if (merge_part > 0.0) {
        length += (size_t)snprintf(command + length, sizeof(command) - length, " C%g", merge_part);
    }
    if (cloud->vertices_max > 0) { // it counts those after the first four
        snprintf(command + length, sizeof(command) - length, " TA%u", cloud->vertices_max - 4);
    }
    built->form =
        (HullForm){.point = built->point, .face_first = built->face_first, .corner = built->corner};
    built->face_first[0] = 0;
    qh_zero(&run->qh, run->said);
    int code = qh_new_qhull(&run->qh, 3, (int)cloud->count, run->coordinates, False, command, NULL,
                            run->said);
    if (code == 0) {
        code = read_form(run, cloud, built);
    }
    qh_freeqhull(&run->qh, qh_ALL);
    int long_bytes, long_count;
    qh_memfreeshort(&run->qh, &long_bytes, &long_count);
    return code;
}

// As far as it is to: not where it was to have few corners.
static bool holds_all(const QhullForm *built, const Cloud *cloud) {
    void *memory = malloc(hull_bytes(&built->form));
    if (memory == NULL) {
        return false;
    }
    const Hull *hull = hull_open(&built->form, memory);
    double out = -HUGE_VAL;
    for (size_t i = 0; cloud->vertices_max == 0 && i < cloud->count; i++) {
        out = fmax(out, hull_outside(hull, cloud->given[i]));
    }
    free(memory);
    return out <= way_part * cloud->size;
}

// The hull as one way of merging has it. RESOURCE_EXHAUSTED: no memory, or too many corners.
static Status build_once(Run *run, const Cloud *cloud, double merge_part, QhullForm *built,
                         Error *error) {
    run->is_fitting = true;
    scale_points(cloud, run->coordinates);
    const int code = run_qhull(run, cloud, merge_part, built);
    if (code == qh_ERRmem) {
        return error_set(error, STATUS_RESOURCE_EXHAUSTED, NULL,
                         "There is no memory to build a hull in.");
    }
    if (code != 0) {
        return error_set(error, STATUS_INVALID_ARGUMENT, cloud->names->points,
                         "Qhull builds no hull of these points (its error %d): they may lie nearly "
                         "in a plane.",
                         code);
    }
    if (!run->is_fitting) {
        return error_set(error, STATUS_INVALID_ARGUMENT, cloud->names->vertices_max,
                         "The hull of these points has more than %d corners: say how many it may "
                         "have, as 64, and it is built of those that matter most.",
                         HULL_VERTICES_MAX);
    }
    built->form.point_count = run->corners.count;
    sort_faces(built);
    const bool is_flat = qhull_flatten(built, flat_part * cloud->size, way_part * cloud->size);
    const HullNames names = {cloud->names->points, cloud->names->points};
    Status status =
        hull_check(&built->form, built->face_first[built->form.face_count], &names, error);
    if (status == STATUS_OK && (!is_flat || !holds_all(built, cloud))) {
        status = error_set(error, STATUS_INVALID_ARGUMENT, cloud->names->points,
                           "The hull that Qhull builds of these points leaves some outside: they "
                           "lie nearly in a plane, or in several.");
    }
    return status;
}

static Status build_of(Run *run, const Cloud *cloud, QhullForm *built, Error *error) {
    Status status = STATUS_OK;
    for (size_t i = 0; i < sizeof(merge_parts) / sizeof(merge_parts[0]); i++) {
        status = build_once(run, cloud, merge_parts[i], built, error);
        if (status == STATUS_OK || status == STATUS_RESOURCE_EXHAUSTED || !run->is_fitting) {
            break;
        }
    }
    return status;
}

static void put_on_grid(const Cloud *cloud, double step, Vec3 *point) {
    ASSERT(step > 0.0);
    for (size_t i = 0; i < cloud->count; i++) {
        const Vec3 p = vec3_sub(cloud->given[i], cloud->center);
        const Vec3 near =
            vec3(step * round(p.x / step), step * round(p.y / step), step * round(p.z / step));
        point[i] = vec3_add(cloud->center, near);
    }
}

static Status build(Run *run, Cloud *cloud, QhullForm *built, Error *error) {
    Status status = build_of(run, cloud, built, error);
    const size_t grids = sizeof(grid_parts) / sizeof(grid_parts[0]);
    Vec3 *point = status == STATUS_INVALID_ARGUMENT && run->is_fitting
                      ? malloc(cloud->count * sizeof(*point))
                      : NULL;
    for (size_t i = 0; point != NULL && status == STATUS_INVALID_ARGUMENT && i < grids; i++) {
        put_on_grid(cloud, grid_parts[i] * cloud->size, point);
        cloud->point = point;
        status = build_of(run, cloud, built, error);
    }
    free(point);
    return status;
}

Status qhull_build(const Vec3 *point, size_t count, uint32_t vertices_max, const QhullNames *names,
                   QhullForm *built, Error *error) {
    Cloud cloud = {.given = point,
                   .point = point,
                   .count = count,
                   .vertices_max = vertices_max,
                   .names = names};
    Status status = check_numbers(&cloud, error);
    status = STATUS_THEN(status, measure(&cloud, error));
    status = STATUS_THEN(status, check_thick(&cloud, error));
    if (status != STATUS_OK) {
        return status;
    }
    Run *run = malloc(sizeof(Run));
    coordT *coordinates = malloc(count * 3 * sizeof(coordT));
    char *text = NULL;
    size_t text_bytes;
    FILE *said = open_memstream(&text, &text_bytes);
    if (run == NULL || coordinates == NULL || said == NULL) {
        status = error_set(error, STATUS_RESOURCE_EXHAUSTED, NULL,
                           "There is no memory to build a hull in.");
    } else {
        run->said = said;
        run->coordinates = coordinates;
        status = build(run, &cloud, built, error);
    }
    if (said != NULL) {
        fclose(said);
    }
    free(text);
    free(coordinates);
    free(run);
    return status;
}
