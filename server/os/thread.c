// SPDX-License-Identifier: MIT
#include "os/thread.h"

#include <pthread.h>
#include <signal.h>

// Those that a thread brings upon itself stay its own.
static const int own_faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS};

int thread_start(uv_thread_t *thread, uv_thread_cb entry, void *argument) {
    sigset_t told, before;
    sigfillset(&told);
    for (size_t i = 0; i < sizeof(own_faults) / sizeof(own_faults[0]); i++) {
        sigdelset(&told, own_faults[i]);
    }
    pthread_sigmask(SIG_SETMASK, &told, &before); // the new thread inherits it
    const int result = uv_thread_create(thread, entry, argument);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return result;
}
