// SPDX-License-Identifier: MIT
#include "cli/base/interrupt.h"

#include <signal.h>
#include <stddef.h>

// A handler is handed nothing, so this is the one variable of the tool that is global.
static volatile sig_atomic_t wanted;

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
