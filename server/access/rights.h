// SPDX-License-Identifier: MIT
// What a token allows. No right implies another, but for admin, which implies all of them.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    RIGHT_WATCH = 1,  // to read worlds, groups and episodes
    RIGHT_STEP = 2,   // to make worlds and groups, change them and step them
    RIGHT_RECORD = 4, // to make recordings, end and pin them
    RIGHT_DELETE = 8, // to delete episodes
    RIGHT_ADMIN = 16, // to do all this with everybody's, and what concerns the whole server
    RIGHTS_ALL = 31,
    RIGHTS_NONE = 0
};

enum { RIGHTS_TEXT_BYTES = 64 };

// The index-th right's name and bit, from 0; NULL past the last.
const char *rights_name(size_t index, uint32_t *right);

// "watch,step"; "none" without any.
void rights_print(uint32_t rights, char text[RIGHTS_TEXT_BYTES]);

// Of names with commas between them, or "none", so many bytes. false: one is unknown or there
// twice.
bool rights_parse(const char *text, size_t bytes, uint32_t *rights);
