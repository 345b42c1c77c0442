// SPDX-License-Identifier: MIT
// Geometries in messages and scenes, as the bytes that geometry/geometry.h has; and back.
#pragma once

#include "base/status.h"
#include "moreau.pb-c.h"
#include "run/worlds/input.h"
#include "wire/scene/name_list.h"

// A hull of a message. Without faces it is points, to be built before anybody takes it.
typedef struct WireHull {
    size_t point_numbers, face_count;
    const double *points;
    Moreau__V1__HullFace *const *faces;
    uint32_t vertices_max;
} WireHull;

// Its bytes, unjudged but for what would not fit; errors blame `path`, points or faces.
Status wire_hull_bytes(const WireHull *hull, const char *path, Arena *arena, const uint8_t **bytes,
                       size_t *count, Error *error);

// Bytes of points that are to be built: kind 0, how many corners at most, points, 0, the points.
// false: those are not.
typedef struct WirePoints {
    uint32_t vertices_max, count;
    const double *point; // 3 each; aligned as the bytes are, to 8
} WirePoints;
bool wire_points_of(const uint8_t *bytes, size_t count, WirePoints *points);

// Meshes and height fields of messages (surface.c).
typedef struct WireMesh {
    size_t point_numbers, triangle_numbers;
    const double *points;
    const uint32_t *triangles;
    bool is_two_sided;
    size_t patch_count; // 0: none has a number
    const uint32_t *patches;
} WireMesh;
typedef struct WireHeights {
    uint32_t columns, rows;
    size_t spacing_count, height_count;
    const double *spacing, *heights;
    size_t patch_count;
    const uint32_t *patches;
} WireHeights;
Status wire_mesh_bytes(const WireMesh *mesh, const char *path, Arena *arena, const uint8_t **bytes,
                       size_t *count, Error *error);
Status wire_heights_bytes(const WireHeights *field, const char *path, Arena *arena,
                          const uint8_t **bytes, size_t *count, Error *error);

// Of either message.
#define MESH_OF(m)                                                                                 \
    {                                                                                              \
        .point_numbers = (m)->n_points, .triangle_numbers = (m)->n_triangles,                      \
        .points = (m)->points, .triangles = (m)->triangles, .is_two_sided = (m)->two_sided,        \
        .patch_count = (m)->n_patches, .patches = (m)->patches                                     \
    }
#define HEIGHTS_OF(m)                                                                              \
    {                                                                                              \
        .columns = (m)->columns, .rows = (m)->rows, .spacing_count = (m)->n_spacing,               \
        .height_count = (m)->n_heights, .spacing = (m)->spacing, .heights = (m)->heights,          \
        .patch_count = (m)->n_patches, .patches = (m)->patches                                     \
    }

// Geometries of a message, as an input; blamed as hulls[i], meshes[i], height_fields[i].
Status wire_geometries(const Moreau__V1__WorldAddGeometries *message, Arena *arena,
                       GeometryList *list, Error *error);

// What a scene calls one of the kind that geometry_list_kind tells: hull, mesh, height_field.
const char *scene_geometry_key(const char *kind);

// The geometries of a scene: first those of its list, then those of shapes that have their own.
typedef struct SceneGeometries {
    GeometryList list;
    size_t listed;          // how many are of the scene's list
    uint64_t *own;          // of each primitive: 1 + its place in `list`; 0: it wears none
    uint32_t *primitive_of; // of each of `list` behind those: whose own it is
    NameList names;
} SceneGeometries;

bool scene_has_geometries(const Moreau__V1__Scene *scene);

// `primitives`: how many the scene has.
Status scene_geometries(const Moreau__V1__Scene *scene, size_t primitives, Arena *arena,
                        SceneGeometries *geometries, Error *error);

// Geometries as messages have them; lists of surfaces are borrowed. NULL: the arena ends.
Moreau__V1__Hull *wire_hull_message(const Hull *hull, Arena *arena);
Moreau__V1__Mesh *wire_mesh_message(const Geometry *geometry, Arena *arena);
Moreau__V1__HeightField *wire_heights_message(const Geometry *geometry, Arena *arena);
