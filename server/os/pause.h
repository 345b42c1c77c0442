// SPDX-License-Identifier: MIT
// How a thread waits for another that will be done in a moment.
#pragma once

#include <sched.h>

// Between two looks: the core draws less, and a thread that shares it runs faster.
static inline void pause_core(void) {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

// The other may be waiting for this core.
static inline void pause_thread(void) {
    sched_yield();
}
