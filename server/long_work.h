// SPDX-License-Identifier: MIT
// What net has done elsewhere, on the long lanes of the live pool. All of it is one share there: it
// takes turns with the sessions, however much of it comes.
#pragma once

#include <stdbool.h>

// `pool` is a Pool. False: memory ended, and nothing will be called.
bool long_work_run(void *pool, void (*work)(void *argument), void (*done)(void *argument),
                   void *argument);
