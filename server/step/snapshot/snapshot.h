// SPDX-License-Identifier: MIT
// Snapshots: a world as a portable byte string, and the hash of that string.
//
//   bytes    = "MOREAUSN", dynamics version (u32), format (u32), sections, [attached],
//              checksum (u64)
//   section  = kind (u32), version (u32), length of the body in bytes (u64), body, padded to 8
//   attached = of a world with geometries: kind 1000, version 1, length, then the bytes of each
//              (geometry/geometry.h), their number (u64) before each
//   checksum = base/hash, with seed 0, over all bytes before it
//
// All numbers little-endian, doubles as their IEEE 754 bits, arrays packed without padding.
// Everything that the future depends on is in it: settings, materials, shapes, bodies, ids, poses,
// velocities, the impulses to start from; derived caches are not. What few worlds have (bounds, ids
// that were given and are gone, sleep, what a solver tries in vain) is a section that the others do
// not have. Reading it gives a world with exactly one future. An unknown section kind is refused,
// as is another dynamics version or anything malformed; bytes that have changed since they were
// written do not fit their checksum, and are refused as well. What stands in the sections is one
// table (sections.h).
//
// A world names its geometries, whose bytes are attached. The hash knows names alone.
//
// The state hash is taken over the same sections in the same order, without writing them: those
// that define the world (settings … names, bounds, ids, when it sleeps) once until they change, the
// state sections every time.
#pragma once

#include "base/arena.h"
#include "base/status.h"
#include "step/snapshot/head.h"
#include "world/world.h"

// Rises whenever a golden hash in the tests changes.
enum { DYNAMICS_VERSION = 10 };

// Rises when head or checksum change their form. Format 0 had no checksum.
enum { SNAPSHOT_FORMAT = 1 };

// The snapshot, in memory of the arena, with the bytes of the world's geometries.
Status snapshot_write(const World *world, Arena *arena, uint8_t **bytes, size_t *count,
                      Error *error);

// The same without those bytes: for who reads it while the geometries are on the shelf.
Status snapshot_write_named(const World *world, Arena *arena, uint8_t **bytes, size_t *count,
                            Error *error);

// Whether bytes of geometries are attached: then it says the same in more bytes than the one that
// names them, which this makes of it, or copies. Any bytes that snapshot_check has found well.
bool snapshot_is_whole(const uint8_t *bytes, size_t count);
Status snapshot_detached(const uint8_t *bytes, size_t count, Arena *arena, uint8_t **named,
                         size_t *named_count, Error *error);

// Whole or named as another one (any bytes) is, to be compared with it.
Status snapshot_write_like(const World *world, const uint8_t *like, size_t like_count, Arena *arena,
                           uint8_t **bytes, size_t *count, Error *error);

// A world from a snapshot that may come from anywhere: everything is checked. Owned by the caller.
Status snapshot_read(const uint8_t *bytes, size_t count, const WorldLimits *limits, World **world,
                     Error *error);

// Judges head and checksum, not the content: whether these bytes are as some snapshot_write of this
// dynamics version left them. `checksum` is what base/hash makes of all but the last eight, so that
// who gets them in parts can go along. DATA_LOSS, or FAILED_PRECONDITION for another version.
Status snapshot_check(const uint8_t *bytes, size_t count, uint64_t checksum, Error *error);

// The state hash. Not const: it keeps the hash of the definition.
uint64_t snapshot_hash(World *world);
