// SPDX-License-Identifier: MIT
#include "os/nice.h"

#include <sys/resource.h>

enum { NICENESS_MAX = 19 };

int nice_sum(int niceness, int more) {
    return niceness + more < NICENESS_MAX ? niceness + more : NICENESS_MAX;
}

void nice_thread(int more) {
    // on Linux these are the calling thread's own
    setpriority(PRIO_PROCESS, 0, nice_sum(getpriority(PRIO_PROCESS, 0), more));
}
