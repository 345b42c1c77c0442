// SPDX-License-Identifier: MIT
// Texts as the wire has them: UTF-8 without surrogates, overlong forms and what is above U+10FFFF.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// How many of the bytes, from the first, are UTF-8; `count`: all.
size_t utf8_count(const uint8_t *bytes, size_t count);

// Puts a question mark for every byte of a text that belongs to no character. true: it has.
bool utf8_mend(char *text);
