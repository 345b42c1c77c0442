// SPDX-License-Identifier: MIT
// Meshes and height fields in messages, as the bytes that geometry/geometry.h has; and back.
#include "wire/scene/geometry.h"

#include "base/assert.h"

#include <stdio.h>

static Status out_of_memory(Error *error) {
    return error_set(error, STATUS_RESOURCE_EXHAUSTED, "",
                     "The surfaces need more memory than one request may take, which is some "
                     "frames (option --frame-bytes-max).");
}

static Status refuse_list(const char *path, const char *column, const char *why, size_t count,
                          Error *error) {
    char field[160];
    snprintf(field, sizeof(field), "%.128s.%s", path, column);
    return error_set(error, STATUS_INVALID_ARGUMENT, field, "%s; here are %zu numbers.", why,
                     count);
}

// As bytes; those that do not fit one are judged here, the others where all are.
static Status take_patches(const uint32_t *given, size_t given_count, size_t count,
                           const char *path, Arena *arena, const uint8_t **patches, Error *error) {
    *patches = NULL;
    if (given_count == 0) {
        return STATUS_OK;
    }
    if (given_count != count) {
        char why[128];
        snprintf(why, sizeof(why), "Each of %zu triangles or cells has a patch, or none has",
                 count);
        return refuse_list(path, "patches", why, given_count, error);
    }
    uint8_t *made = arena_take(arena, count);
    if (made == NULL) {
        return out_of_memory(error);
    }
    for (size_t i = 0; i < count; i++) {
        made[i] = (uint8_t)(given[i] < MESH_PATCHES_MAX ? given[i] : MESH_PATCHES_MAX);
    }
    *patches = geometry_patches(made, count);
    return STATUS_OK;
}

Status wire_mesh_bytes(const WireMesh *mesh, const char *path, Arena *arena, const uint8_t **bytes,
                       size_t *count, Error *error) {
    const size_t points = mesh->point_numbers / 3, triangles = mesh->triangle_numbers / 3;
    if (mesh->point_numbers % 3 != 0 || points < 3 || points > MESH_POINTS_MAX) {
        return refuse_list(path, "points",
                           "A mesh has three numbers of each of 3 to 1,048,576 points",
                           mesh->point_numbers, error);
    }
    if (mesh->triangle_numbers % 3 != 0 || triangles < 1 || triangles > MESH_TRIANGLES_MAX) {
        return refuse_list(path, "triangles",
                           "A mesh has three corners of each of 1 to 2,097,152 triangles",
                           mesh->triangle_numbers, error);
    }
    const uint8_t *patches;
    const Status status =
        take_patches(mesh->patches, mesh->patch_count, triangles, path, arena, &patches, error);
    if (status != STATUS_OK) {
        return status;
    }
    const MeshForm form = {.point = (const Vec3 *)(const void *)mesh->points,
                           .point_count = (uint32_t)points,
                           .corner = mesh->triangles,
                           .triangle_count = (uint32_t)triangles,
                           .is_two_sided = mesh->is_two_sided,
                           .patch = patches};
    *count = geometry_mesh_bytes(&form);
    uint8_t *written = arena_take(arena, *count);
    if (written == NULL) {
        return out_of_memory(error);
    }
    Sink sink = {.bytes = written};
    geometry_write_mesh(&form, &sink);
    ASSERT(sink.count == *count);
    *bytes = written;
    return STATUS_OK;
}

Status wire_heights_bytes(const WireHeights *field, const char *path, Arena *arena,
                          const uint8_t **bytes, size_t *count, Error *error) {
    if (field->spacing_count != 2) {
        return refuse_list(path, "spacing", "A height field has two spacings, along x and along y",
                           field->spacing_count, error);
    }
    const uint64_t heights = (uint64_t)field->columns * field->rows;
    if (heights != field->height_count || heights > MESH_POINTS_MAX) {
        char why[128];
        snprintf(why, sizeof(why),
                 "A height field of %u columns and %u rows has %llu heights, and at most 1,048,576",
                 field->columns, field->rows, (unsigned long long)heights);
        return refuse_list(path, "heights", why, field->height_count, error);
    }
    HeightForm form = {.columns = field->columns,
                       .rows = field->rows,
                       .spacing = {field->spacing[0], field->spacing[1]},
                       .height = field->heights};
    const Status status =
        take_patches(field->patches, field->patch_count, heights == 0 ? 0 : heights_cells(&form),
                     path, arena, &form.patch, error);
    if (status != STATUS_OK) {
        return status;
    }
    *count = geometry_heights_bytes(&form);
    uint8_t *written = arena_take(arena, *count);
    if (written == NULL) {
        return out_of_memory(error);
    }
    Sink sink = {.bytes = written};
    geometry_write_heights(&form, &sink);
    ASSERT(sink.count == *count);
    *bytes = written;
    return STATUS_OK;
}

// ---- and back

// Messages have lists that may be written; nobody writes those of an answer.
static double *as_numbers(const double *borrowed) {
    return (double *)(uintptr_t)borrowed;
}

// NULL: there are none, or the arena ends.
static uint32_t *put_patches(const uint8_t *patch, size_t count, Arena *arena, size_t *made_count) {
    uint32_t *made = patch == NULL ? NULL : arena_take_array(arena, count, sizeof(*made));
    *made_count = made == NULL ? 0 : count;
    for (size_t i = 0; i < *made_count; i++) {
        made[i] = patch[i];
    }
    return made;
}

Moreau__V1__Mesh *wire_mesh_message(const Geometry *geometry, Arena *arena) {
    const MeshForm form = geometry_mesh_form(geometry);
    Moreau__V1__Mesh *m = arena_take(arena, sizeof(*m));
    if (m == NULL) {
        return NULL;
    }
    moreau__v1__mesh__init(m);
    m->n_points = 3 * (size_t)form.point_count;
    m->points = as_numbers(&form.point[0].x);
    m->n_triangles = 3 * (size_t)form.triangle_count;
    m->triangles = (uint32_t *)(uintptr_t)form.corner;
    m->has_two_sided = form.is_two_sided;
    m->two_sided = form.is_two_sided;
    m->patches = put_patches(form.patch, form.triangle_count, arena, &m->n_patches);
    return form.patch != NULL && m->patches == NULL ? NULL : m;
}

Moreau__V1__HeightField *wire_heights_message(const Geometry *geometry, Arena *arena) {
    const HeightForm form = geometry_height_form(geometry);
    Moreau__V1__HeightField *m = arena_take(arena, sizeof(*m));
    double *spacing = arena_take_array(arena, 2, sizeof(*spacing));
    if (m == NULL || spacing == NULL) {
        return NULL;
    }
    moreau__v1__height_field__init(m);
    m->has_columns = m->has_rows = 1;
    m->columns = form.columns;
    m->rows = form.rows;
    spacing[0] = form.spacing[0];
    spacing[1] = form.spacing[1];
    m->n_spacing = 2;
    m->spacing = spacing;
    m->n_heights = (size_t)form.columns * form.rows;
    m->heights = as_numbers(form.height);
    m->patches = put_patches(form.patch, heights_cells(&form), arena, &m->n_patches);
    return form.patch != NULL && m->patches == NULL ? NULL : m;
}
