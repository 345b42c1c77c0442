// SPDX-License-Identifier: MIT
#include "simulate/system.h"

#include "simulate/dice.h"
#include "simulate/schedule.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>
#include <uv.h>

enum { THREADS_MAX = 64 };

static struct {
    Dice socket_dice, random_dice;
    uint64_t short_percent; // of the calls of a socket that do less than they could
    struct {
        uv_thread_t thread;
        size_t task;
    } started[THREADS_MAX];
    size_t started_count;
} simulated;

void system_begin(uint64_t seed) {
    simulated.socket_dice = dice_make(seed, 2);
    simulated.random_dice = dice_make(seed, 3);
    simulated.short_percent =
        dice_chance(&simulated.socket_dice, 50) ? dice_roll(&simulated.socket_dice, 60) : 0;
}

// ---- libuv: locks

int __real_uv_mutex_trylock(uv_mutex_t *mutex);
void __real_uv_mutex_lock(uv_mutex_t *mutex);
void __real_uv_mutex_unlock(uv_mutex_t *mutex);
void __real_uv_cond_signal(uv_cond_t *cond);
void __real_uv_cond_wait(uv_cond_t *cond, uv_mutex_t *mutex);
int __real_uv_cond_timedwait(uv_cond_t *cond, uv_mutex_t *mutex, uint64_t timeout_ns);
int __real_uv_thread_create(uv_thread_t *thread, uv_thread_cb entry, void *argument);
int __real_uv_thread_join(uv_thread_t *thread);
int __real_uv_async_send(uv_async_t *async);
int __real_uv_random(uv_loop_t *loop, uv_random_t *request, void *bytes, size_t count,
                     unsigned flags, uv_random_cb done);

void __wrap_uv_mutex_lock(uv_mutex_t *mutex);
void __wrap_uv_mutex_unlock(uv_mutex_t *mutex);
void __wrap_uv_cond_signal(uv_cond_t *cond);
void __wrap_uv_cond_wait(uv_cond_t *cond, uv_mutex_t *mutex);
int __wrap_uv_cond_timedwait(uv_cond_t *cond, uv_mutex_t *mutex, uint64_t timeout_ns);
int __wrap_uv_thread_create(uv_thread_t *thread, uv_thread_cb entry, void *argument);
int __wrap_uv_thread_join(uv_thread_t *thread);
int __wrap_uv_async_send(uv_async_t *async);
int __wrap_uv_random(uv_loop_t *loop, uv_random_t *request, void *bytes, size_t count,
                     unsigned flags, uv_random_cb done);

static void take(uv_mutex_t *mutex) {
    while (uv_mutex_trylock(mutex) != 0) {
        schedule_wait(mutex, SCHEDULE_FOREVER);
    }
}

static void give(uv_mutex_t *mutex) {
    __real_uv_mutex_unlock(mutex);
    schedule_wake_all(mutex);
}

void __wrap_uv_mutex_lock(uv_mutex_t *mutex) {
    if (!schedule_is_on()) {
        __real_uv_mutex_lock(mutex);
        return;
    }
    schedule_point();
    take(mutex);
}

void __wrap_uv_mutex_unlock(uv_mutex_t *mutex) {
    if (!schedule_is_on()) {
        __real_uv_mutex_unlock(mutex);
        return;
    }
    give(mutex);
    schedule_point();
}

void __wrap_uv_cond_signal(uv_cond_t *cond) {
    if (!schedule_is_on()) {
        __real_uv_cond_signal(cond);
        return;
    }
    schedule_wake_one(cond);
    schedule_point();
}

void __wrap_uv_cond_wait(uv_cond_t *cond, uv_mutex_t *mutex) {
    if (!schedule_is_on()) {
        __real_uv_cond_wait(cond, mutex);
        return;
    }
    give(mutex);
    schedule_wait(cond, SCHEDULE_FOREVER);
    take(mutex);
}

int __wrap_uv_cond_timedwait(uv_cond_t *cond, uv_mutex_t *mutex, uint64_t timeout_ns) {
    if (!schedule_is_on()) {
        return __real_uv_cond_timedwait(cond, mutex, timeout_ns);
    }
    give(mutex);
    bool woken = schedule_wait(cond, schedule_now_ns() + timeout_ns);
    take(mutex);
    return woken ? 0 : UV_ETIMEDOUT;
}

// ---- libuv: threads, wakes, randomness

int __wrap_uv_thread_create(uv_thread_t *thread, uv_thread_cb entry, void *argument) {
    if (!schedule_is_on()) {
        return __real_uv_thread_create(thread, entry, argument);
    }
    // the handle only has to be the same when it is joined: its address is
    size_t i = simulated.started_count++;
    simulated.started[i].task = schedule_start("thread of the server", entry, argument);
    memset(thread, 0, sizeof(*thread));
    memcpy(thread, &i, sizeof(i));
    return 0;
}

int __wrap_uv_thread_join(uv_thread_t *thread) {
    if (!schedule_is_on()) {
        return __real_uv_thread_join(thread);
    }
    size_t i = 0;
    memcpy(&i, thread, sizeof(i));
    schedule_join(simulated.started[i].task);
    return 0;
}

int __wrap_uv_async_send(uv_async_t *async) {
    int result = __real_uv_async_send(async);
    schedule_point();
    return result;
}

int __wrap_uv_random(uv_loop_t *loop, uv_random_t *request, void *bytes, size_t count,
                     unsigned flags, uv_random_cb done) {
    if (!schedule_is_on()) {
        return __real_uv_random(loop, request, bytes, count, flags, done);
    }
    for (size_t i = 0; i < count; i++) {
        ((uint8_t *)bytes)[i] = (uint8_t)dice_bits(&simulated.random_dice);
    }
    return 0;
}

// ---- libc: clocks

static uint64_t read_clock(clockid_t clock) {
    uint64_t now_ns = schedule_read_ns();
    return clock == CLOCK_REALTIME ? schedule_wall_ns() : now_ns;
}

int clock_gettime(clockid_t clock, struct timespec *time) {
    if (!schedule_is_on()) {
        return (int)syscall(SYS_clock_gettime, clock, time);
    }
    uint64_t now_ns = read_clock(clock);
    *time = (struct timespec){.tv_sec = (time_t)(now_ns / 1000000000u),
                              .tv_nsec = (long)(now_ns % 1000000000u)};
    return 0;
}

int gettimeofday(struct timeval *restrict time, void *restrict zone) {
    if (!schedule_is_on()) {
        return (int)syscall(SYS_gettimeofday, time, zone);
    }
    uint64_t now_ns = schedule_wall_ns();
    *time = (struct timeval){.tv_sec = (time_t)(now_ns / 1000000000u),
                             .tv_usec = (suseconds_t)(now_ns % 1000000000u / 1000u)};
    return 0;
}

int usleep(useconds_t us) {
    if (schedule_is_on()) {
        schedule_sleep((uint64_t)us * 1000u);
        return 0;
    }
    struct timespec pause = {.tv_sec = us / 1000000u, .tv_nsec = (long)(us % 1000000u) * 1000};
    return nanosleep(&pause, NULL);
}

// Who runs is the seed's choice: a thread that the system puts off would only make everybody wait.
int setpriority(__priority_which_t which, id_t who, int priority) {
    return schedule_is_on() ? 0 : (int)syscall(SYS_setpriority, which, who, priority);
}

// ---- libc: waiting

int epoll_pwait(int epoll_fd, struct epoll_event *event, int count, int timeout_ms,
                const sigset_t *mask) {
    if (schedule_is_on()) {
        if (timeout_ms == 0) {
            schedule_point();
        } else {
            uint64_t until_ns = timeout_ms < 0
                                    ? SCHEDULE_FOREVER
                                    : schedule_now_ns() + (uint64_t)timeout_ms * 1000000u;
            schedule_wait_fd(epoll_fd, POLLIN, until_ns);
        }
        timeout_ms = 0;
    }
    return (int)syscall(SYS_epoll_pwait, epoll_fd, event, count, timeout_ms, mask,
                        sizeof(unsigned long));
}

int epoll_wait(int epoll_fd, struct epoll_event *event, int count, int timeout_ms) {
    return epoll_pwait(epoll_fd, event, count, timeout_ms, NULL);
}

// ---- libc: sockets that do less than they could

static bool is_short(void) {
    return schedule_is_on() && dice_chance(&simulated.socket_dice, simulated.short_percent);
}

// A part of `count`, at least one.
static size_t part_of(size_t count) {
    return count < 2 ? count : 1 + (size_t)dice_roll(&simulated.socket_dice, count - 1);
}

ssize_t recv(int fd, void *bytes, size_t count, int flags) {
    if (is_short()) {
        count = part_of(count < 64 ? count : 64);
    }
    return syscall(SYS_recvfrom, fd, bytes, count, flags, NULL, NULL);
}

ssize_t send(int fd, const void *bytes, size_t count, int flags) {
    if (is_short()) {
        if (dice_chance(&simulated.socket_dice, 30)) {
            errno = EAGAIN;
            return -1;
        }
        count = part_of(count);
    }
    return syscall(SYS_sendto, fd, bytes, count, flags, NULL, 0);
}

ssize_t sendmsg(int fd, const struct msghdr *message, int flags) {
    if (is_short() && message->msg_iovlen > 0) {
        const struct iovec *first = message->msg_iov;
        return send(fd, first->iov_base, part_of(first->iov_len), flags);
    }
    return syscall(SYS_sendmsg, fd, message, flags);
}
