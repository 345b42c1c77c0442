// SPDX-License-Identifier: MIT
// How much of the machine is left to a test: what ought to take so long takes longer when others
// keep the processors busy. Limits of time are multiplied by machine_slowdown, and waiting for what
// ought to happen has PATIENCE_MS, so that a busy machine fails no test and a stuck server does.
#pragma once

#include <stdint.h>
#include <sys/types.h>

enum { PATIENCE_MS = 120000 }; // for what ought to happen soon

// What the processors have done since the machine started [clock ticks].
typedef struct MachineTicks {
    uint64_t all;    // idle too, on all processors
    uint64_t others; // by other processes than this one and `server`, or not at all for want of one
    pid_t server;
} MachineTicks;

MachineTicks machine_look(pid_t server);

// 1 where nobody else has used the machine since `since`; 2 where others took half of it.
double machine_slowdown(const MachineTicks *since);

// How long a thread was ready to run and had no core, since it began [ms]; 0 where the system does
// not say. May be called from any thread.
double machine_held_up_ms(pid_t process, pid_t thread);
