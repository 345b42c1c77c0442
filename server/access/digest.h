// SPDX-License-Identifier: MIT
// SHA-256 of what clients show: the files hold nothing that could be shown.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { DIGEST_BYTES = 32 };

// false: the library refuses.
bool digest_of(const void *bytes, size_t count, uint8_t digest[DIGEST_BYTES]);

// Compares all of both, so that the time says nothing about where they differ.
bool digest_equals(const uint8_t a[DIGEST_BYTES], const uint8_t b[DIGEST_BYTES]);
