// SPDX-License-Identifier: MIT
// Folders of our own: for what a browser writes, and for what it reads.
#pragma once

#include <stdbool.h>

enum { FOLDER_PATH_BYTES = 4096 };

// One that nobody else has, in TMPDIR or /tmp: PLACE/moreau-NAME-…
bool folder_make(const char *name, char path[FOLDER_PATH_BYTES]);

// With all that is in it; links are not followed.
void folder_remove(const char *path);

// The folder in which pages are kept for browsers, which only this user may write in: in the cache
// of the user's home. What is in it for more than a day goes. false: errno says why.
bool folder_cache(char path[FOLDER_PATH_BYTES]);

// Likewise, of what a browser remembers whose windows are ours alone.
bool folder_profile(char path[FOLDER_PATH_BYTES]);
