// SPDX-License-Identifier: MIT
// Putting a signature under a chunk that is one (format/signature.h).
#pragma once

#include "access/seal_key.h"
#include "log/format/signature.h"

// SHA-256 as fast as the machine has it.
void sign_hash(const void *bytes, size_t count, uint8_t digest[SHA256_BYTES]);

// Of a chunk whose body is written but for the value: that, and its checksum. False: memory ended.
bool sign_chunk(const SealKey *key, uint8_t *bytes, size_t count, const Chunk *chunk,
                uint64_t *checksum);
