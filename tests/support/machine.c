// SPDX-License-Identifier: MIT
#include "support/machine.h"

#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void read_line(const char *path, char *line, int capacity) {
    FILE *file = fopen(path, "r");
    if (file == NULL || fgets(line, capacity, file) == NULL) {
        ck_abort_msg("%s cannot be read", path);
    }
    fclose(file);
}

static uint64_t process_ticks(pid_t pid) {
    char path[64], line[1024];
    snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
    read_line(path, line, sizeof(line));
    // behind the program's name in brackets, which may hold anything
    const char *at = strrchr(line, ')');
    uint64_t user, kernel;
    ck_assert_int_eq(sscanf(at,
                            ") %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %" SCNu64 " %" SCNu64,
                            &user, &kernel),
                     2);
    return user + kernel;
}

MachineTicks machine_look(pid_t server) {
    enum { USER, NICE, SYSTEM, IDLE, WAITING, HARD, SOFT, STOLEN, COUNT };
    uint64_t ticks[COUNT];
    char line[1024];
    read_line("/proc/stat", line, sizeof(line));
    char *at = line + strcspn(line, " ");
    for (int i = 0; i < COUNT; i++) {
        ticks[i] = strtoull(at, &at, 10);
    }
    MachineTicks look = {.server = server};
    for (int i = 0; i < COUNT; i++) {
        look.all += ticks[i];
    }
    uint64_t busy = look.all - ticks[IDLE] - ticks[WAITING];
    uint64_t ours = process_ticks(getpid()) + process_ticks(server);
    look.others = busy > ours ? busy - ours : 0;
    return look;
}

double machine_slowdown(const MachineTicks *since) {
    enum { SLOWDOWN_MAX = 100 };
    MachineTicks now = machine_look(since->server);
    double all = (double)(now.all - since->all);
    double left = all - (double)(now.others - since->others);
    return left * SLOWDOWN_MAX > all ? all / left : SLOWDOWN_MAX;
}

double machine_held_up_ms(pid_t process, pid_t thread) {
    char path[64];
    uint64_t ran_ns, waited_ns = 0;
    snprintf(path, sizeof(path), "/proc/%d/task/%d/schedstat", (int)process, (int)thread);
    FILE *file = fopen(path, "r");
    if (file == NULL) {
        return 0;
    }
    int count = fscanf(file, "%" SCNu64 " %" SCNu64, &ran_ns, &waited_ns);
    fclose(file);
    return count == 2 ? (double)waited_ns * 1e-6 : 0;
}
