// SPDX-License-Identifier: MIT
// Threads that take turns as a seed says, in a time of their own.
//
// Between schedule_begin and schedule_end exactly one thread of the process runs. Wherever it could
// meet another one (a lock, a signal, a wake, a socket, the clock) it comes to a *point*: there the
// seed chooses who goes on. system.c leads the server's own calls of libuv and libc to such points,
// so that the threads of the server interleave in ways that a machine would show once in a month,
// and interleave so again for the same seed.
//
// Time is simulated too: it moves a little at every point, and jumps when everybody waits. Nobody
// waits for real, so an hour of waiting costs nothing. When everybody waits for ever a wake was
// lost: schedule.c says who waits for what, and aborts.
//
// A thread of the simulation is a *task*; the one that calls schedule_begin is the first.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SCHEDULE_FOREVER UINT64_MAX

typedef void ScheduleAtPoint(uint64_t point);

void schedule_begin(uint64_t seed, ScheduleAtPoint *at_point); // `at_point` may end the process
void schedule_end(void);                                       // all other tasks must have ended

// False outside of begin and end: then system.c leads to the real calls.
bool schedule_is_on(void);

uint64_t schedule_begin_ns(void); // when every simulation begins
uint64_t schedule_now_ns(void);   // as CLOCK_MONOTONIC, without a point
uint64_t schedule_wall_ns(void);  // since 1970
uint64_t
schedule_read_ns(void); // the same as now, but time passes: whoever asks again sees it move

// What has been decided so far, in one number: equal runs have equal traces.
uint64_t schedule_trace(void);
void schedule_note(uint64_t what); // adds to the trace

// Who calls may lose the turn.
void schedule_point(void);
void schedule_sleep(uint64_t ns);

// Until somebody wakes the key, which is any address. False: the time has come before.
bool schedule_wait(const void *key, uint64_t until_ns);
void schedule_wake_one(const void *key); // some waiter, by the seed; no point
void schedule_wake_all(const void *key);

// Until one of `events` (as for poll) can be had. False: the time has come before.
bool schedule_wait_fd(int fd, short events, uint64_t until_ns);

// A task begins when it is chosen. `name` lives as long as the task.
typedef void TaskMain(void *context);
size_t schedule_start(const char *name, TaskMain *main, void *context);
void schedule_join(size_t task);
