// SPDX-License-Identifier: MIT
// Snapshots: a world as a portable byte string, and the hash of that string.
//
//   bytes    = "MOREAUSN", dynamics version (u64), sections
//   section  = kind (u32), version (u32), length of the body in bytes (u64), body, padded to 8
//
// All numbers little-endian, doubles as their IEEE 754 bits, arrays packed without padding.
// Everything that the future depends on is in it: settings, materials, shapes, bodies, ids, poses,
// velocities, the impulses to start from; derived caches are not. Reading it gives a world with
// exactly one future. An unknown section kind is refused, as is another dynamics version or
// anything malformed.
//
// The state hash is taken over the same bytes in the same order, without writing them: sections
// that define the world (settings … names) once until they change, the state sections every time.
#pragma once

#include "base/arena.h"
#include "base/status.h"
#include "world/world.h"

// Rises whenever a golden hash in the tests changes.
enum { DYNAMICS_VERSION = 3 };

// The snapshot, in memory of the arena.
Status snapshot_write(const World *world, Arena *arena, uint8_t **bytes, size_t *count,
                      Error *error);

// A world from a snapshot that may come from anywhere: everything is checked. Owned by the caller.
Status snapshot_read(const uint8_t *bytes, size_t count, const WorldLimits *limits, World **world,
                     Error *error);

// Whether these bytes begin as a snapshot of this dynamics version does.
Status snapshot_check_head(const uint8_t *bytes, size_t count, Error *error);

// The state hash. Not const: it keeps the hash of the definition.
uint64_t snapshot_hash(World *world);
