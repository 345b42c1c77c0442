// SPDX-License-Identifier: MIT
#include "api/hulls.h"

#include "hull/qhull.h"
#include "wire/scene/geometry.h"

#include <stdio.h>
#include <stdlib.h>

static Status out_of_memory(Error *error) {
    return error_set(error, STATUS_RESOURCE_EXHAUSTED, "hulls",
                     "Memory ended while building hulls of points.");
}

static Status put_built(const HullForm *form, Arena *arena, const uint8_t **bytes, size_t *count,
                        Error *error) {
    const size_t corners = form->face_first[form->face_count];
    *count = geometry_hull_bytes(form, corners);
    uint8_t *written = arena_take(arena, *count);
    if (written == NULL) {
        return out_of_memory(error);
    }
    Sink sink = {.bytes = written};
    geometry_write_hull(form, corners, &sink);
    *bytes = written;
    return STATUS_OK;
}

static Status build(const WirePoints *points, size_t index, Arena *arena, const uint8_t **bytes,
                    size_t *count, Error *error) {
    char points_field[48], most_field[48];
    snprintf(points_field, sizeof(points_field), "hulls[%zu].points", index);
    snprintf(most_field, sizeof(most_field), "hulls[%zu].vertices_max", index);
    const QhullNames names = {points_field, most_field};
    Vec3 *point = calloc((size_t)points->count + 1, sizeof(*point));
    QhullForm *built = malloc(sizeof(*built));
    Status status;
    if (point == NULL || built == NULL) {
        status = out_of_memory(error);
    } else {
        for (uint32_t i = 0; i < points->count; i++) {
            point[i] = vec3_load(points->point + 3 * (size_t)i);
        }
        status = qhull_build(point, points->count, points->vertices_max, &names, built, error);
        status = STATUS_THEN(status, put_built(&built->form, arena, bytes, count, error));
    }
    free(point);
    free(built);
    return status;
}

Status hulls_build(Input *input, Arena *arena, Error *error) {
    if (input->kind != INPUT_GEOMETRIES) {
        return STATUS_OK;
    }
    GeometryList *list = &input->geometries;
    const uint8_t **bytes = arena_take_array(arena, list->count, sizeof(*bytes));
    size_t *byte_count = arena_take_array(arena, list->count, sizeof(*byte_count));
    if (bytes == NULL || byte_count == NULL) {
        return out_of_memory(error);
    }
    for (size_t i = 0; i < list->count; i++) {
        WirePoints points;
        bytes[i] = list->bytes[i];
        byte_count[i] = list->byte_count[i];
        Status status = wire_points_of(bytes[i], byte_count[i], &points)
                            ? build(&points, i, arena, &bytes[i], &byte_count[i], error)
                            : STATUS_OK;
        if (status != STATUS_OK) {
            return status;
        }
    }
    list->bytes = bytes;
    list->byte_count = byte_count;
    return STATUS_OK;
}
