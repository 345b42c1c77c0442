// SPDX-License-Identifier: MIT
// Bytes as people, recordings and the protocol write them: two hexadecimal digits each.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// In lower case: 2 count digits, and a zero byte.
void hex_text(const uint8_t *bytes, size_t count, char *text);

// Half a byte, of a digit in either case. -1: it is none.
int hex_digit(char digit);

// What 2 count digits in either case say. false: something else is among them.
bool hex_read(const char *text, size_t count, uint8_t *bytes);
