// SPDX-License-Identifier: MIT
#include "bench/path.h"

#include "bench/bench.h"

#include "os/clock.h"

#include <stdbool.h>
#include <stdlib.h>

enum { CALLS_MAX = 4096, BLOCKS_MAX = 65536, LANES_MAX = 64 };

struct Path {
    Tasks tasks;
    uint32_t block_count[CALLS_MAX]; // of each call
    double before[CALLS_MAX + 1];    // it, and after the last [ns]
    double block[BLOCKS_MAX];        // call by call [ns]
    uint32_t calls, blocks;          // of a step; 0: there was none
    uint32_t call, next;             // of the present one
    uint64_t ended_ns;               // the last block
};

// A time, beside what it was before.
static void note(const Path *path, double *least, uint64_t time_ns) {
    if (path->calls == 0 || (double)time_ns < *least) {
        *least = (double)time_ns;
    }
}

static void run(void *lender, TaskBlock *block, void *work, uint32_t count) {
    Path *path = lender;
    uint64_t begun_ns = clock_now_ns();
    const bool is_first = path->calls == 0;
    if (path->call == CALLS_MAX || count > BLOCKS_MAX - path->next) {
        bench_fail("a step of more than %d calls of tasks or %d blocks", CALLS_MAX, BLOCKS_MAX);
    }
    if (!is_first && path->block_count[path->call] != count) {
        bench_fail("call %u of a step has %u blocks after %u", path->call, count,
                   path->block_count[path->call]);
    }
    note(path, &path->before[path->call], begun_ns - path->ended_ns);
    path->block_count[path->call++] = count;
    for (uint32_t i = 0; i < count; i++) {
        block(work, i);
        const uint64_t now_ns = clock_now_ns();
        note(path, &path->block[path->next++], now_ns - begun_ns);
        begun_ns = now_ns;
    }
    path->ended_ns = begun_ns;
}

Path *path_create(void) {
    Path *path = bench_memory(1, sizeof(*path));
    path->tasks = (Tasks){.run = run, .lender = path};
    return path;
}

void path_destroy(Path *path) {
    free(path);
}

const Tasks *path_tasks(const Path *path) {
    return &path->tasks;
}

void path_begin(Path *path) {
    path->call = path->next = 0;
    path->ended_ns = clock_now_ns();
}

void path_end(Path *path) {
    if (path->calls > 0 && path->call != path->calls) {
        bench_fail("a step of %u calls of tasks after %u", path->call, path->calls);
    }
    note(path, &path->before[path->call], clock_now_ns() - path->ended_ns);
    path->calls = path->call;
    path->blocks = path->next;
}

double path_alone(const Path *path) {
    double sum = 0.0;
    for (uint32_t i = 0; i <= path->calls; i++) {
        sum += path->before[i];
    }
    return sum;
}

uint32_t path_calls(const Path *path) {
    return path->calls;
}

// Until the last block of a call is done.
static double call_time(const double *block, uint32_t count, uint32_t lanes) {
    double busy[LANES_MAX] = {0.0}, end = 0.0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t free = 0;
        for (uint32_t lane = 1; lane < lanes; lane++) {
            free = busy[lane] < busy[free] ? lane : free;
        }
        busy[free] += block[i];
        end = busy[free] > end ? busy[free] : end;
    }
    return end;
}

double path_time(const Path *path, uint32_t lanes) {
    double sum = path_alone(path);
    if (lanes == 0 || lanes > LANES_MAX) {
        bench_fail("1 to %d lanes, not %u", LANES_MAX, lanes);
    }
    for (uint32_t i = 0, first = 0; i < path->calls; first += path->block_count[i++]) {
        sum += call_time(path->block + first, path->block_count[i], lanes);
    }
    return sum;
}
