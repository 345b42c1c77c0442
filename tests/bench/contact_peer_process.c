// SPDX-License-Identifier: MIT
#include "bench/contact_peer_process.h"

#include "bench/bench.h"
#include "bench/child.h"

#include <poll.h>
#include <time.h>

// to start, load what it needs and read the problem
enum { START_SECONDS = 3, PATIENCE_MS = 50 };

static const struct {
    const char *program, *method, *name;
    bool is_relaxed;
} peers[] = {
#define X(upper, program, method, is_relaxed) {program, method, program " " method, is_relaxed},
    CONTACT_PEER_MAP(X)
#undef X
};

static bool is_absent[CONTACT_PEER_COUNT]; // and that has been said

const char *contact_peer_name(ContactPeerIndex index) {
    return peers[index].name;
}

bool contact_peer_is_relaxed(ContactPeerIndex index) {
    return peers[index].is_relaxed;
}

static void leave_out(ContactPeerIndex index, const char *why) {
    fprintf(stderr, "  without %s: %s\n", contact_peer_name(index), why);
    is_absent[index] = true;
}

bool contact_peer_is_there(ContactPeerIndex index) {
    char path[CHILD_PATH_BYTES];
    if (!is_absent[index] && !child_find(peers[index].program, path)) {
        leave_out(index, "its program was not built");
    }
    return !is_absent[index];
}

// What a process that has ended no longer reads shows when it does not answer.
static void send(const Child *child, const Delassus *delassus, uint32_t contact_count,
                 const ContactPeerRun *run, bool with_velocities) {
    ContactPeerProblem head = {.magic = CONTACT_PEER_MAGIC,
                               .contact_count = contact_count,
                               .block_count = delassus->block_count,
                               .tolerance = run->tolerance,
                               .seconds = run->seconds};
    if (with_velocities) {
        head.velocity_count = delassus->velocity_count;
        head.mass_count = delassus->mass_count;
        head.jacobian_count = delassus->jacobian_count;
    }
    fwrite(&head, sizeof(head), 1, child->to);
    fwrite(delassus->mu, sizeof(double), contact_count, child->to);
    fwrite(delassus->q, sizeof(double), 3 * (size_t)contact_count, child->to);
    fwrite(delassus->block, sizeof(*delassus->block), delassus->block_count, child->to);
    fwrite(delassus->v_free, sizeof(double), head.velocity_count, child->to);
    fwrite(delassus->mass, sizeof(*delassus->mass), head.mass_count, child->to);
    fwrite(delassus->jacobian, sizeof(*delassus->jacobian), head.jacobian_count, child->to);
    fflush(child->to);
}

// CPU time of all its threads [ns]; once it has ended it needs no more.
static double child_cpu_ns(const Child *child) {
    clockid_t clock;
    struct timespec used = {0};
    if (clock_getcpuclockid(child->pid, &clock) != 0 || clock_gettime(clock, &used) != 0) {
        return 0.0;
    }
    return (double)used.tv_sec * 1e9 + (double)used.tv_nsec;
}

// false: it has used up its time. A limit of the system's would do, but makes its clock coarse.
static bool wait_for_answer(const Child *child, double seconds) {
    struct pollfd waiting = {.fd = fileno(child->from), .events = POLLIN};
    while (poll(&waiting, 1, PATIENCE_MS) == 0) {
        if (child_cpu_ns(child) > (seconds + START_SECONDS) * 1e9) {
            return false;
        }
    }
    return true;
}

static bool receive(const Child *child, uint32_t contact_count, ContactPeerAnswer *answer,
                    double *impulse) {
    if (fread(answer, sizeof(*answer), 1, child->from) != 1) {
        return false;
    }
    answer->name[sizeof(answer->name) - 1] = answer->refusal[sizeof(answer->refusal) - 1] = '\0';
    size_t count = 3 * (size_t)contact_count;
    return answer->refusal[0] != '\0' ||
           fread(impulse, sizeof(*impulse), count, child->from) == count;
}

bool contact_peer_solve(ContactPeerIndex index, const Delassus *delassus, uint32_t contact_count,
                        const ContactPeerRun *run, ContactPeerAnswer *answer, double *impulse) {
    char path[CHILD_PATH_BYTES];
    child_find(peers[index].program, path);
    Child child;
    child_start(&child, path, peers[index].method);
    send(&child, delassus, contact_count, run, peers[index].is_relaxed);
    bool has_answer =
        wait_for_answer(&child, run->seconds) && receive(&child, contact_count, answer, impulse);
    child_kill(&child);
    if (has_answer && answer->refusal[0] != '\0') {
        leave_out(index, answer->refusal);
        return false;
    }
    return has_answer && answer->ns <= run->seconds * 1e9;
}
