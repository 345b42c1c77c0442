// SPDX-License-Identifier: MIT
// Threads beside the one that the process began with.
#pragma once

#include <uv.h>

// As uv_thread_create, but what the system tells the process (to end, to read its files anew) is
// never told to this thread: the loop's own takes it, which waits for it, and it cannot be held up
// by what a lane is at.
int thread_start(uv_thread_t *thread, uv_thread_cb entry, void *argument);
