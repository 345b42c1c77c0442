// SPDX-License-Identifier: MIT
#include "access/digest.h"

#include <openssl/evp.h>

bool digest_of(const void *bytes, size_t count, uint8_t digest[DIGEST_BYTES]) {
    unsigned length = 0;
    return EVP_Digest(bytes, count, digest, &length, EVP_sha256(), NULL) == 1 &&
           length == DIGEST_BYTES;
}

bool digest_equals(const uint8_t a[DIGEST_BYTES], const uint8_t b[DIGEST_BYTES]) {
    unsigned difference = 0;
    for (int i = 0; i < DIGEST_BYTES; i++) {
        difference |= (unsigned)(a[i] ^ b[i]);
    }
    return difference == 0;
}
