// SPDX-License-Identifier: MIT
// The key of --seal-key, with which a server signs what it records: an Ed25519 key in PEM, without
// a passphrase, that nobody but its owner and his group may read. It is wiped when it is freed.
#pragma once

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SEAL_PUBLIC_BYTES = 32, SEAL_SIGNATURE_BYTES = 64 };
enum { SEAL_PUBLIC_TEXT_BYTES = 2 * SEAL_PUBLIC_BYTES + 1 };

typedef struct SealKey SealKey;

// INVALID_ARGUMENT says in a sentence what is wrong with the file.
Status seal_key_read(const char *path, SealKey **key, Error *error);
void seal_key_free(SealKey *key); // Nullable

const uint8_t *seal_key_public(const SealKey *key); // [SEAL_PUBLIC_BYTES]

// Any thread. False: memory ended.
bool seal_key_sign(const SealKey *key, const void *message, size_t count,
                   uint8_t signature[SEAL_SIGNATURE_BYTES]);

// The public half alone, in PEM, or as 64 hexadecimal digits in the first line.
Status seal_public_read(const char *path, uint8_t key[SEAL_PUBLIC_BYTES], Error *error);

// Any bytes.
bool seal_public_verifies(const uint8_t key[SEAL_PUBLIC_BYTES], const void *message, size_t count,
                          const uint8_t signature[SEAL_SIGNATURE_BYTES]);
