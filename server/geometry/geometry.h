// SPDX-License-Identifier: MIT
// Geometries: what a primitive wears that three numbers do not tell. Each is called by the SHA-256
// of its bytes, read-only, and held once however many worlds wear it.
//
//   bytes = kind (u32), version (u32: 1), points (u32), faces (u32), points (f64 3 each), first
//           corner of each face and how many corners there are (u32 each), corners (u32 each),
//           padded to 8                                                            kind 1: a hull
//           kind, version (1), two-sided (u32: 0, 1), 0 (u32), points (u32), triangles (u32),
//           points (f64 3 each), corners (u32 3 each), padded to 8                 kind 2: a mesh
//           kind, version (1), columns (u32), rows (u32), spacing (f64 2), heights (f64 each)
//                                                                          kind 3: a height field
//
// Version 2 of a surface has patches: behind all that, of each triangle or cell a byte, padded to
// 8. One at least is not 0: what has no patches is of version 1.
//
// A shelf is where they are looked for by those names. Who holds one keeps it there; whom nobody
// holds any more is gone. A shelf may be asked by several threads: it is locked for as long as a
// look takes. A world of geometries knows its shelf (WorldLimits).
#pragma once

#include "base/bytes.h"
#include "base/sha256.h"
#include "base/status.h"
#include "geometry/hull.h"
#include "geometry/mesh.h"

typedef enum GeometryKind {
    GEOMETRY_HULL = 1,
    GEOMETRY_MESH = 2,
    GEOMETRY_HEIGHT_FIELD = 3,
} GeometryKind;

// Bytes of one, at most: those of the largest mesh.
enum { GEOMETRY_BYTES_MAX = 24 + 24 * MESH_POINTS_MAX + 13 * MESH_TRIANGLES_MAX };

typedef struct GeometryShelf GeometryShelf;

typedef struct Geometry {
    uint8_t digest[SHA256_BYTES];
    GeometryKind kind;
    const uint8_t *bytes;
    size_t byte_count;
    const Hull *hull; // NULL: a surface
    const Mesh *mesh; // NULL: a hull

    // the shelf's
    GeometryShelf *shelf;
    struct Geometry *next;
    size_t holders;
    size_t memory_bytes;
    Mesh *heights; // `mesh` of a height field, a block of its own; else NULL
} Geometry;

GeometryShelf *geometry_shelf_create(void); // NULL: memory ends
// Nobody holds anything of it.
void geometry_shelf_destroy(GeometryShelf *shelf);
// What all geometries take.
size_t geometry_shelf_bytes(GeometryShelf *shelf);

// The geometry of bytes that may come from anywhere, for a holder; errors blame `field`, or the
// columns in it.
Status geometry_open(GeometryShelf *shelf, const uint8_t *bytes, size_t count, const char *field,
                     const Geometry **geometry, Error *error);

// That of a hull whose form may come from anywhere, as hull_check judges it.
Status geometry_of_hull(GeometryShelf *shelf, const HullForm *form, size_t corner_count,
                        const HullNames *names, const Geometry **geometry, Error *error);

// Those of a surface, whose numbers may come from anywhere; what counts name is there.
Status geometry_of_mesh(GeometryShelf *shelf, const MeshForm *form, const MeshNames *names,
                        const Geometry **geometry, Error *error);
Status geometry_of_heights(GeometryShelf *shelf, const HeightForm *form, const MeshNames *names,
                           const Geometry **geometry, Error *error);
// The forms again, of a surface's bytes.
MeshForm geometry_mesh_form(const Geometry *geometry);
HeightForm geometry_height_form(const Geometry *geometry);

// Patches of a form, or NULL where all are 0: then its bytes are of version 1.
const uint8_t *geometry_patches(const uint8_t *patch, size_t count);

// What a form takes as bytes, and those: of a form whose counts are in their limits, and no more.
size_t geometry_hull_bytes(const HullForm *form, size_t corner_count);
void geometry_write_hull(const HullForm *form, size_t corner_count, Sink *sink);
size_t geometry_mesh_bytes(const MeshForm *form);
void geometry_write_mesh(const MeshForm *form, Sink *sink);
size_t geometry_heights_bytes(const HeightForm *form);
void geometry_write_heights(const HeightForm *form, Sink *sink);

// For a holder. NULL: nobody has one of that name.
const Geometry *geometry_find(GeometryShelf *shelf, const uint8_t digest[SHA256_BYTES]);

// One holder more, or less. Dropping NULL is nothing.
const Geometry *geometry_hold(const Geometry *geometry);
void geometry_drop(const Geometry *geometry);
