// SPDX-License-Identifier: MIT
#include "log/writer/sign.h"

#include "access/digest.h"

void sign_hash(const void *bytes, size_t count, uint8_t digest[SHA256_BYTES]) {
    if (!digest_of(bytes, count, digest)) { // without memory ours does it, slower
        sha256(bytes, count, digest);
    }
}

bool sign_chunk(const SealKey *key, uint8_t *bytes, size_t count, const Chunk *chunk,
                uint64_t *checksum) {
    uint8_t message[SIGNATURE_MESSAGE_BYTES];
    chunk_seal(bytes, count, chunk); // its header is signed, but for the checksum
    signature_message(bytes, count, message);
    const bool is_signed =
        seal_key_sign(key, message, sizeof(message), bytes + count - SIGNATURE_VALUE_BYTES);
    *checksum = chunk_seal(bytes, count, chunk);
    return is_signed;
}
