// SPDX-License-Identifier: MIT
// What processors move between memory and themselves at once: what two threads write apart from
// each other stands in different ones.
#pragma once

enum { CACHE_LINE_BYTES = 64 };
