// SPDX-License-Identifier: MIT
// What came with this program: files and other programs, beside it or where a build and an
// installation put them.
#pragma once

#include <stdbool.h>

enum { SHARED_PATH_BYTES = 4096 };

// A file of share/moreau, as moreau-viewer.html. false: there is none.
bool shared_find(const char *name, char path[SHARED_PATH_BYTES]);

// A program of the same build, as moreau-server: beside this one, above it, or in PATH.
bool shared_find_program(const char *name, char path[SHARED_PATH_BYTES]);
