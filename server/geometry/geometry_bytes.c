// SPDX-License-Identifier: MIT
// Geometries as bytes: of forms, and back. All that is derived of one, and its bytes, stand in one
// block behind it; of a height field, whose faces are counted first, what is derived has a block of
// its own.
#include "base/assert.h"
#include "geometry/geometry_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    VERSION = 1,         // of each kind
    VERSION_PATCHES = 2, // of surfaces
    HEAD_BYTES = 16,
    MESH_HEAD_BYTES = 24,
    HEIGHTS_HEAD_BYTES = 32,
};

static Status out_of_memory(const char *field, Error *error) {
    return error_set(error, STATUS_RESOURCE_EXHAUSTED, field, "Memory ended for a geometry.");
}

// A block for one: what is derived, then the bytes, whose place it tells.
static Geometry *make_block(GeometryShelf *shelf, GeometryKind kind, size_t derived_bytes,
                            size_t byte_count, void **derived, uint8_t **bytes) {
    const size_t head = (sizeof(Geometry) + 15) & ~(size_t)15;
    const size_t middle = (derived_bytes + 15) & ~(size_t)15;
    unsigned char *block = malloc(head + middle + byte_count);
    if (block == NULL) {
        return NULL;
    }
    *derived = block + head;
    *bytes = block + head + middle;
    Geometry *made = (Geometry *)(void *)block;
    *made = (Geometry){.kind = kind,
                       .bytes = *bytes,
                       .byte_count = byte_count,
                       .shelf = shelf,
                       .holders = 1,
                       .memory_bytes = head + middle + byte_count};
    return made;
}

static Status refuse(const char *field, const char *why, Error *error) {
    return error_set(error, STATUS_INVALID_ARGUMENT, field, "The bytes are no geometry: %s.", why);
}

// The name of a column in a field; empty: there is none.
enum { COLUMN_NAME_BYTES = 160 };
static const char *column_name(const char *field, const char *column,
                               char name[COLUMN_NAME_BYTES]) {
    snprintf(name, COLUMN_NAME_BYTES, "%.128s%s%s", field, field[0] == '\0' ? "" : ".", column);
    return name;
}

// ---- hulls

size_t geometry_hull_bytes(const HullForm *form, size_t corner_count) {
    const size_t bytes = HEAD_BYTES + 3 * sizeof(double) * (size_t)form->point_count +
                         sizeof(uint32_t) * ((size_t)form->face_count + 1 + corner_count);
    return (bytes + 7) & ~(size_t)7;
}

void geometry_write_hull(const HullForm *form, size_t corner_count, Sink *sink) {
    ASSERT(form->point_count <= HULL_VERTICES_MAX && form->face_count <= HULL_FACES_MAX);
    sink_u32(sink, GEOMETRY_HULL);
    sink_u32(sink, VERSION);
    sink_u32(sink, form->point_count);
    sink_u32(sink, form->face_count);
    sink_doubles(sink, &form->point[0].x, 3 * (size_t)form->point_count);
    sink_u32s(sink, form->face_first, (size_t)form->face_count + 1);
    sink_u32s(sink, form->corner, corner_count);
    sink_pad(sink);
}

// Of a form that was judged.
static Status make_hull(GeometryShelf *shelf, const HullForm *form, const char *field,
                        const Geometry **geometry, Error *error) {
    const size_t corners = form->face_first[form->face_count];
    const size_t count = geometry_hull_bytes(form, corners);
    void *derived;
    uint8_t *bytes;
    Geometry *made = make_block(shelf, GEOMETRY_HULL, hull_bytes(form), count, &derived, &bytes);
    if (made == NULL) {
        return out_of_memory(field, error);
    }
    Sink sink = {.bytes = bytes};
    geometry_write_hull(form, corners, &sink);
    ASSERT(sink.count == count);
    made->hull = hull_open(form, derived);
    sha256(bytes, count, made->digest);
    *geometry = geometry_put(shelf, made);
    return STATUS_OK;
}

Status geometry_of_hull(GeometryShelf *shelf, const HullForm *form, size_t corner_count,
                        const HullNames *names, const Geometry **geometry, Error *error) {
    ASSERT(shelf != NULL);
    Status status = hull_check(form, corner_count, names, error);
    return STATUS_THEN(status, make_hull(shelf, form, names->points, geometry, error));
}

// What a hull's bytes hold, in the order of their widths; on the stack.
typedef struct HullRead {
    Vec3 point[HULL_VERTICES_MAX];
    uint32_t face_first[HULL_FACES_MAX + 1];
    uint32_t corner[HULL_CORNERS_MAX];
} HullRead;

static Status open_hull(GeometryShelf *shelf, Source *source, const char *field,
                        const Geometry **geometry, Error *error) {
    HullRead read;
    const uint32_t points = source_u32(source), faces = source_u32(source);
    if (source->failed || points > HULL_VERTICES_MAX || faces > HULL_FACES_MAX) {
        return refuse(field, "a hull of more points or faces than one may have", error);
    }
    source_doubles(source, &read.point[0].x, 3 * (size_t)points);
    source_u32s(source, read.face_first, (size_t)faces + 1);
    const uint32_t corners = source->failed ? 0 : read.face_first[faces];
    if (source->failed || corners > HULL_CORNERS_MAX) {
        return refuse(field, "it ends early, or has more corners than a hull may have", error);
    }
    source_u32s(source, read.corner, corners);
    if (!source_pad(source) || source->failed || source->used != source->count) {
        return refuse(field, "its length does not fit its content", error);
    }
    const HullForm form = {read.point, points, read.face_first, faces, read.corner};
    char points_name[COLUMN_NAME_BYTES], faces_name[COLUMN_NAME_BYTES];
    const HullNames names = {column_name(field, "points", points_name),
                             column_name(field, "faces", faces_name)};
    return geometry_of_hull(shelf, &form, corners, &names, geometry, error);
}

// ---- surfaces

const uint8_t *geometry_patches(const uint8_t *patch, size_t count) {
    for (size_t i = 0; patch != NULL && i < count; i++) {
        if (patch[i] != 0) {
            return patch;
        }
    }
    return NULL;
}

static size_t patches_bytes(const uint8_t *patch, size_t count) {
    return patch == NULL ? 0 : (count + 7) & ~(size_t)7;
}

size_t geometry_mesh_bytes(const MeshForm *form) {
    const size_t bytes = MESH_HEAD_BYTES + sizeof(Vec3) * (size_t)form->point_count +
                         3 * sizeof(uint32_t) * (size_t)form->triangle_count;
    return ((bytes + 7) & ~(size_t)7) + patches_bytes(form->patch, form->triangle_count);
}

size_t geometry_heights_bytes(const HeightForm *form) {
    return HEIGHTS_HEAD_BYTES + sizeof(double) * (size_t)form->columns * form->rows +
           patches_bytes(form->patch, heights_cells(form));
}

static void write_patches(const uint8_t *patch, size_t count, Sink *sink) {
    if (patch != NULL) {
        sink_bytes(sink, patch, count);
        sink_pad(sink);
    }
}

void geometry_write_mesh(const MeshForm *form, Sink *sink) {
    sink_u32(sink, GEOMETRY_MESH);
    sink_u32(sink, form->patch == NULL ? VERSION : VERSION_PATCHES);
    sink_u32(sink, form->is_two_sided ? 1 : 0);
    sink_u32(sink, 0);
    sink_u32(sink, form->point_count);
    sink_u32(sink, form->triangle_count);
    sink_doubles(sink, &form->point[0].x, 3 * (size_t)form->point_count);
    sink_u32s(sink, form->corner, 3 * (size_t)form->triangle_count);
    sink_pad(sink);
    write_patches(form->patch, form->triangle_count, sink);
}

void geometry_write_heights(const HeightForm *form, Sink *sink) {
    sink_u32(sink, GEOMETRY_HEIGHT_FIELD);
    sink_u32(sink, form->patch == NULL ? VERSION : VERSION_PATCHES);
    sink_u32(sink, form->columns);
    sink_u32(sink, form->rows);
    sink_doubles(sink, form->spacing, 2);
    sink_doubles(sink, form->height, (size_t)form->columns * form->rows);
    write_patches(form->patch, heights_cells(form), sink);
}

static uint32_t number_at(const Geometry *geometry, size_t offset) {
    uint32_t number;
    memcpy(&number, geometry->bytes + offset, sizeof(number));
    return number;
}

// Those that end the bytes.
static const uint8_t *patches_of(const Geometry *geometry, size_t count) {
    return number_at(geometry, 4) == VERSION
               ? NULL
               : geometry->bytes + geometry->byte_count - ((count + 7) & ~(size_t)7);
}

MeshForm geometry_mesh_form(const Geometry *geometry) {
    ASSERT(geometry->kind == GEOMETRY_MESH && geometry->byte_count >= MESH_HEAD_BYTES);
    const uint32_t points = number_at(geometry, 16);
    const uint8_t *first = geometry->bytes + MESH_HEAD_BYTES; // blocks and heads keep it aligned
    return (MeshForm){.point = (const Vec3 *)(const void *)first,
                      .point_count = points,
                      .corner = (const uint32_t *)(const void *)(first + points * sizeof(Vec3)),
                      .triangle_count = number_at(geometry, 20),
                      .is_two_sided = number_at(geometry, 8) != 0,
                      .patch = patches_of(geometry, number_at(geometry, 20))};
}

HeightForm geometry_height_form(const Geometry *geometry) {
    ASSERT(geometry->kind == GEOMETRY_HEIGHT_FIELD && geometry->byte_count >= HEIGHTS_HEAD_BYTES);
    HeightForm form = {.columns = number_at(geometry, 8), .rows = number_at(geometry, 12)};
    memcpy(form.spacing, geometry->bytes + 16, sizeof(form.spacing));
    form.height = (const double *)(const void *)(geometry->bytes + HEIGHTS_HEAD_BYTES);
    form.patch = patches_of(geometry, heights_cells(&form));
    return form;
}

// Derives one whose bytes stand in its block, and puts it there; or frees it. `derived`: where, of
// a mesh.
static Status derive_surface(GeometryShelf *shelf, Geometry *made, void *derived,
                             const MeshNames *names, const Geometry **geometry, Error *error) {
    Status status;
    if (made->kind == GEOMETRY_MESH) {
        const MeshForm form = geometry_mesh_form(made);
        status = mesh_check(&form, names, error);
        status = STATUS_THEN(status, mesh_open(&form, names, derived, error));
        made->mesh = derived;
    } else {
        const HeightForm form = geometry_height_form(made);
        size_t bytes = 0;
        status = mesh_check_heights(&form, names, error);
        status =
            STATUS_THEN(status, mesh_make_heights(&form, names, &made->heights, &bytes, error));
        made->mesh = made->heights;
        made->memory_bytes += bytes;
    }
    if (status != STATUS_OK) {
        free(made);
        return status;
    }
    sha256(made->bytes, made->byte_count, made->digest);
    *geometry = geometry_put(shelf, made);
    return STATUS_OK;
}

Status geometry_of_mesh(GeometryShelf *shelf, const MeshForm *given, const MeshNames *names,
                        const Geometry **geometry, Error *error) {
    ASSERT(shelf != NULL);
    Status status = mesh_check(given, names, error); // its counts, above all
    if (status != STATUS_OK) {
        return status;
    }
    MeshForm form = *given;
    form.patch = geometry_patches(form.patch, form.triangle_count);
    void *derived;
    uint8_t *bytes;
    Geometry *made =
        make_block(shelf, GEOMETRY_MESH, mesh_bytes(form.point_count, form.triangle_count),
                   geometry_mesh_bytes(&form), &derived, &bytes);
    if (made == NULL) {
        return out_of_memory(names->triangles, error);
    }
    Sink sink = {.bytes = bytes};
    geometry_write_mesh(&form, &sink);
    ASSERT(sink.count == made->byte_count);
    return derive_surface(shelf, made, derived, names, geometry, error);
}

Status geometry_of_heights(GeometryShelf *shelf, const HeightForm *given, const MeshNames *names,
                           const Geometry **geometry, Error *error) {
    ASSERT(shelf != NULL);
    Status status = mesh_check_heights(given, names, error);
    if (status != STATUS_OK) {
        return status;
    }
    HeightForm form = *given;
    form.patch = geometry_patches(form.patch, heights_cells(&form));
    void *derived;
    uint8_t *bytes;
    Geometry *made = make_block(shelf, GEOMETRY_HEIGHT_FIELD, 0, geometry_heights_bytes(&form),
                                &derived, &bytes);
    if (made == NULL) {
        return out_of_memory(names->points, error);
    }
    Sink sink = {.bytes = bytes};
    geometry_write_heights(&form, &sink);
    ASSERT(sink.count == made->byte_count);
    return derive_surface(shelf, made, derived, names, geometry, error);
}

// Of bytes whose counts are believed only as far as their length goes.
static Status open_surface(GeometryShelf *shelf, GeometryKind kind, const uint8_t *bytes,
                           size_t count, size_t derived_bytes, const char *field,
                           const Geometry **geometry, Error *error) {
    void *derived;
    uint8_t *own;
    Geometry *made = make_block(shelf, kind, derived_bytes, count, &derived, &own);
    if (made == NULL) {
        return out_of_memory(field, error);
    }
    memcpy(own, bytes, count);
    const bool is_mesh = kind == GEOMETRY_MESH;
    char points_name[COLUMN_NAME_BYTES], triangles_name[COLUMN_NAME_BYTES],
        patches_name[COLUMN_NAME_BYTES];
    const MeshNames names = {column_name(field, is_mesh ? "points" : "heights", points_name),
                             column_name(field, is_mesh ? "triangles" : "spacing", triangles_name),
                             column_name(field, "patches", patches_name)};
    return derive_surface(shelf, made, derived, &names, geometry, error);
}

// Whether what is left of the bytes are patches of so many, of that version.
static bool end_patches(Source *source, uint32_t version, size_t count) {
    if (version == VERSION) {
        return source_pad(source) && source->used == source->count;
    }
    const uint8_t *patch = source_pad(source) ? source_bytes(source, count) : NULL;
    return patch != NULL && source_pad(source) && source->used == source->count &&
           geometry_patches(patch, count) != NULL;
}

// Stands for those that a version says, where only their length is asked.
static const uint8_t *patches_of_version(uint32_t version) {
    static const uint8_t some[1] = {1};
    return version == VERSION ? NULL : some;
}

static Status open_mesh(GeometryShelf *shelf, Source *source, uint32_t version, const char *field,
                        const Geometry **geometry, Error *error) {
    const uint32_t flags = source_u32(source), none = source_u32(source);
    const uint32_t points = source_u32(source), triangles = source_u32(source);
    const MeshForm form = {
        .point_count = points, .triangle_count = triangles, .patch = patches_of_version(version)};
    if (source->failed || flags > 1 || none != 0 || form.point_count < 3 ||
        form.point_count > MESH_POINTS_MAX || form.triangle_count < 1 ||
        form.triangle_count > MESH_TRIANGLES_MAX || geometry_mesh_bytes(&form) != source->count) {
        return refuse(field, "the length of a mesh does not fit its counts", error);
    }
    source->used = MESH_HEAD_BYTES + sizeof(Vec3) * (size_t)form.point_count +
                   3 * sizeof(uint32_t) * (size_t)form.triangle_count;
    if (!end_patches(source, version, form.triangle_count)) {
        return refuse(field, "there is something where a mesh has ended, or no patch has a number",
                      error);
    }
    return open_surface(shelf, GEOMETRY_MESH, source->bytes, source->count,
                        mesh_bytes(form.point_count, form.triangle_count), field, geometry, error);
}

static Status open_heights(GeometryShelf *shelf, Source *source, uint32_t version,
                           const char *field, const Geometry **geometry, Error *error) {
    const uint32_t columns = source_u32(source), rows = source_u32(source);
    const HeightForm form = {
        .columns = columns, .rows = rows, .patch = patches_of_version(version)};
    if (source->failed || form.columns < HEIGHTS_SIDE_MIN || form.rows < HEIGHTS_SIDE_MIN ||
        (uint64_t)form.columns * form.rows > MESH_POINTS_MAX ||
        geometry_heights_bytes(&form) != source->count) {
        return refuse(field, "the length of a height field does not fit its columns and rows",
                      error);
    }
    source->used = HEIGHTS_HEAD_BYTES + sizeof(double) * (size_t)form.columns * form.rows;
    if (!end_patches(source, version, heights_cells(&form))) {
        return refuse(field, "no patch of a height field has a number, or its end is not 0", error);
    }
    return open_surface(shelf, GEOMETRY_HEIGHT_FIELD, source->bytes, source->count, 0, field,
                        geometry, error);
}

// ---- all of them

Status geometry_open(GeometryShelf *shelf, const uint8_t *bytes, size_t count, const char *field,
                     const Geometry **geometry, Error *error) {
    ASSERT(shelf != NULL && (bytes != NULL || count == 0));
    if (count > GEOMETRY_BYTES_MAX) {
        return refuse(field, "they are too many", error);
    }
    uint8_t digest[SHA256_BYTES];
    sha256(bytes, count, digest);
    const Geometry *there = geometry_find(shelf, digest);
    if (there != NULL) {
        *geometry = there;
        return STATUS_OK;
    }
    Source source = {.bytes = bytes, .count = count};
    const uint32_t kind = source_u32(&source), version = source_u32(&source);
    const bool is_known =
        version == VERSION || (version == VERSION_PATCHES && kind != GEOMETRY_HULL);
    if (!source.failed && is_known) {
        switch (kind) {
        case GEOMETRY_HULL:
            return open_hull(shelf, &source, field, geometry, error);
        case GEOMETRY_MESH:
            return open_mesh(shelf, &source, version, field, geometry, error);
        case GEOMETRY_HEIGHT_FIELD:
            return open_heights(shelf, &source, version, field, geometry, error);
        default:
            break;
        }
    }
    return refuse(field, "this server knows none of their kind and version", error);
}
