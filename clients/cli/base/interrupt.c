// SPDX-License-Identifier: MIT
#include "cli/base/interrupt.h"

#include <signal.h>
#include <stddef.h>
#include <unistd.h>

// A handler is handed nothing, so these are the variables of the tool that are global.
static volatile sig_atomic_t wanted;
static const char *volatile doomed; // Nullable: the file

static const int ends[] = {SIGINT, SIGTERM, SIGHUP};
enum { END_COUNT = sizeof(ends) / sizeof(ends[0]) };

static void on_interrupt(int signal_number) {
    (void)signal_number;
    wanted = 1;
}

void interrupt_catch(void) {
    struct sigaction action = {.sa_handler = on_interrupt,
                               .sa_flags = (int)(SA_RESETHAND | SA_RESTART)};
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
}

bool interrupt_wanted(void) {
    return wanted != 0;
}

static void on_end(int signal_number) {
    if (doomed != NULL) {
        unlink(doomed);
    }
    raise(signal_number); // which ends, as this handler has gone when it was called
}

// What is ignored, as behind nohup, stays so.
static void catch_ends(void (*before)(int), void (*handler)(int), int flags) {
    for (size_t i = 0; i < END_COUNT; i++) {
        struct sigaction found, action = {.sa_handler = handler, .sa_flags = flags};
        sigemptyset(&action.sa_mask);
        if (sigaction(ends[i], NULL, &found) == 0 && found.sa_handler == before) {
            sigaction(ends[i], &action, NULL);
        }
    }
}

void interrupt_removes(const char *path) {
    doomed = path;
    catch_ends(SIG_DFL, on_end, (int)SA_RESETHAND);
}

void interrupt_keeps(void) {
    catch_ends(on_end, SIG_DFL, 0);
    doomed = NULL;
}
