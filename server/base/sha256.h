// SPDX-License-Identifier: MIT
// SHA-256 (FIPS 180-4), by which geometries are called. Ours, as the dynamics link no library: they
// compile to WebAssembly, and a page on a plain address has no WebCrypto.
#pragma once

#include <stddef.h>
#include <stdint.h>

enum { SHA256_BYTES = 32, SHA256_TEXT_BYTES = 2 * SHA256_BYTES + 1 };

void sha256(const void *bytes, size_t count, uint8_t digest[SHA256_BYTES]);

// In hexadecimal.
void sha256_text(const uint8_t digest[SHA256_BYTES], char text[SHA256_TEXT_BYTES]);
