// SPDX-License-Identifier: MIT
// Bytes as text (RFC 4648, with padding): how JSON carries them.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Owned by the caller.
char *base64_write(const uint8_t *bytes, size_t count);

// *bytes is the caller's; NULL for none. false, and nothing to free: this is no base64.
bool base64_read(const char *text, uint8_t **bytes, size_t *count);
